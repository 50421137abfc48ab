/* Time per kernel over many runs, with what each was made from; every call as a Chrome trace. */
#include "base/diag.h"
#include "io/output.h"
#include "printer.h"

#include <inttypes.h>
#include <unistd.h>

enum { REPEAT = 20, SAMPLES = 4096 };

/* One kernel at one place of one model. */
struct profile_row {
	uint32_t model_id, line, call; /* the first call of a run that it was */
	char *name, *nodes;
	uint64_t calls, total, min, max, seen; /* ns */
	uint64_t *sample;                      /* of at most SAMPLES calls, for the median */
	uint32_t n_sample, cap_sample;
};

struct profile {
	struct session s;
	struct profile_row *row;
	size_t n, cap;
	bool warm; /* the first run of a model does not count */
	uint64_t left_out;
	struct output *trace;
	struct buf out; /* of the trace */
	bool any;
	uint64_t start;
	struct err err;
};

static struct profile_row *find(struct profile *p, const struct watch_call *c)
{
	uint32_t line = c->contract ? c->contract->line : 0, model = c->begin.model;
	for (size_t i = 0; i < p->n; i++)
		if (p->row[i].model_id == model && p->row[i].line == line && (line || p->row[i].call == c->begin.call) &&
		    !strcmp(p->row[i].name, c->name))
			return &p->row[i];
	GROW(p->row, p->n, p->cap, 1);
	struct profile_row *r = &p->row[p->n++];
	*r = (struct profile_row){.model_id = model, .line = line, .call = c->begin.call, .name = xstrdup(c->name), .min = UINT64_MAX};
	r->nodes = c->contract ? xstrndup(c->contract->nodes.p ? c->contract->nodes.p : "", c->contract->nodes.n) : xstrdup("");
	return r;
}

/* Evenly spread over what has come so far: each of the first `seen` calls is in with the same chance. */
static void add_sample(struct profile_row *r, uint64_t took)
{
	r->seen++;
	if (r->n_sample < SAMPLES) {
		GROW(r->sample, r->n_sample, r->cap_sample, 1);
		r->sample[r->n_sample++] = took;
		return;
	}
	uint64_t x = r->seen * 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 29) % r->seen;
	if (x < SAMPLES)
		r->sample[x] = took;
}

/* ---- the Chrome trace: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU ---- */

static void trace_flush(struct profile *p, size_t above)
{
	if (p->out.len <= above)
		return;
	if (write_all(output_fd(p->trace), p->out.p, p->out.len, p->s.o->chrome_trace, &p->err) < 0 && !p->s.err.text[0])
		p->s.err = p->err;
	buf_reset(&p->out);
}

static void trace_text(struct json_out *o, const char *key, const char *text)
{
	json_key(o, key);
	json_out_str(o, slice_str(text));
}

static void trace_call(struct profile *p, const struct watch_call *c)
{
	struct json_out o = {.b = &p->out};
	if (!p->any)
		p->start = c->begin.time;
	buf_adds(&p->out, p->any ? ",\n" : "");
	p->any = true;
	json_obj(&o);
	trace_text(&o, "name", c->name);
	trace_text(&o, "cat", c->contract && c->contract->kind == CALL_KERNEL ? "kernel" : "op");
	trace_text(&o, "ph", "X");
	json_key(&o, "ts"); /* microseconds */
	json_out_double(&o, (double)(int64_t)(c->begin.time - p->start) / 1e3, 3);
	json_key(&o, "dur");
	json_out_double(&o, (double)c->end.took / 1e3, 3);
	json_key(&o, "pid");
	json_out_u64(&o, c->begin.pid);
	json_key(&o, "tid");
	json_out_u64(&o, c->begin.tid);
	json_key(&o, "args");
	json_obj(&o);
	json_key(&o, "run");
	json_out_u64(&o, c->begin.run);
	json_key(&o, "call");
	json_out_u64(&o, c->begin.call);
	if (c->model && c->model->contract.model.n) {
		json_key(&o, "model");
		json_out_str(&o, c->model->contract.model);
	}
	if (c->contract && c->contract->line) {
		json_key(&o, "line");
		json_out_u64(&o, c->contract->line);
	}
	if (c->contract && c->contract->nodes.n) {
		json_key(&o, "nodes");
		json_out_str(&o, c->contract->nodes);
	}
	json_close(&o);
	json_close(&o);
	trace_flush(p, 1u << 16);
}

static void take(struct session *s, const struct watch_call *c)
{
	struct profile *p = s->user;
	if (c->begin.what == CALL_RUN_BEGIN || c->end.what == CALL_NONE)
		return;
	if (p->trace)
		trace_call(p, c);
	if (p->warm && c->begin.run == 0) {
		p->left_out++;
		return;
	}
	struct profile_row *r = find(p, c);
	r->calls++;
	r->total += c->end.took;
	r->min = c->end.took < r->min ? c->end.took : r->min;
	r->max = c->end.took > r->max ? c->end.took : r->max;
	add_sample(r, c->end.took);
}

/* ---- the table ---- */

static int by_time(const void *a, const void *b)
{
	const struct profile_row *x = a, *y = b;
	return x->total != y->total ? (x->total < y->total ? 1 : -1) : x->call < y->call ? -1 : x->call > y->call;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static uint64_t median(struct profile_row *r)
{
	if (!r->n_sample)
		return 0;
	qsort(r->sample, r->n_sample, sizeof(*r->sample), by_value);
	return r->sample[r->n_sample / 2];
}

static void add_us(struct buf *b, uint64_t ns)
{
	buf_addf(b, "%.*f\t", ns < 10000 ? 2 : 1, (double)ns / 1e3);
}

static void show_table(struct profile *p, uint64_t total)
{
	struct buf b = {0}, name = {0};
	buf_adds(&b, "share\tcalls\tmedian us\tmin us\tmax us\ttotal us\tkernel or op\n");
	for (size_t i = 0; i < p->n; i++) {
		struct profile_row *r = &p->row[i];
		buf_addf(&b, "%.1f%%\t%" PRIu64 "\t", total ? 100.0 * (double)r->total / (double)total : 0.0, r->calls);
		add_us(&b, median(r));
		add_us(&b, r->min);
		add_us(&b, r->max);
		add_us(&b, r->total);
		buf_reset(&name);
		add_call_name(&name, r->name, r->line, slice_str(r->nodes));
		buf_add_slice(&b, buf_slice(&name));
		buf_addc(&b, '\n');
	}
	put_table(&p->s.screen, buf_slice(&b));
	if (p->warm && p->left_out)
		buf_addf(&p->s.screen.b, "\nThe first run is left out (%" PRIu64 " calls): it warms caches and threads.\n", p->left_out);
	buf_release(&b);
	buf_release(&name);
}

static void show_json(struct profile *p, uint64_t total)
{
	struct json_out o = {.b = &p->s.screen.b};
	json_obj(&o);
	json_key(&o, "total_ns");
	json_out_u64(&o, total);
	json_key(&o, "first_run_left_out");
	json_out_bool(&o, p->warm && p->left_out);
	json_key(&o, "kernels");
	json_arr(&o);
	for (size_t i = 0; i < p->n; i++) {
		struct profile_row *r = &p->row[i];
		const uint64_t number[] = {r->model_id, r->call, r->line, r->calls, r->total, median(r), r->min, r->max};
		static const char *const key[] = {"model_id", "call", "line", "calls", "total_ns", "median_ns", "min_ns", "max_ns"};
		json_obj(&o);
		trace_text(&o, "kernel", r->name);
		trace_text(&o, "nodes", r->nodes);
		for (size_t k = 0; k < ARRAY_LEN(key); k++) {
			json_key(&o, key[k]);
			json_out_u64(&o, number[k]);
		}
		json_close(&o);
	}
	json_close(&o);
	json_close(&o);
	buf_addc(&p->s.screen.b, '\n');
}

static void end(struct session *s, struct watch *w)
{
	struct profile *p = s->user;
	uint64_t total = 0;
	(void)w;
	if (p->n)
		qsort(p->row, p->n, sizeof(*p->row), by_time);
	for (size_t i = 0; i < p->n; i++)
		total += p->row[i].total;
	if (p->s.o->json)
		show_json(p, total);
	else if (p->n)
		show_table(p, total);
	if (!p->trace)
		return;
	buf_adds(&p->out, "\n], \"displayTimeUnit\": \"ns\"}\n");
	trace_flush(p, 0);
	if (!s->err.text[0] && output_commit(p->trace, &s->err) == 0)
		p->trace = NULL;
}

int run_profile(const struct printer_options *given, const struct operands *in)
{
	struct printer_options o = *given;
	struct profile p = {0};
	struct err err = {0};
	if (!o.repeat && !in->command)
		o.repeat = REPEAT;
	o.inputs = o.constants = false;
	o.level = LEVEL_NAMES;
	session_begin(&p.s, &o);
	p.s.take = take;
	p.s.end = end;
	p.s.user = &p;
	p.warm = o.repeat > 1 && !o.runs;
	if (o.chrome_trace) {
		if (!(p.trace = output_file(o.chrome_trace, &err)))
			die_err(&err);
		buf_adds(&p.out, "{\"traceEvents\": [\n");
	}
	int status = session_run(&p.s, in, 0, CALLS_NAMES);
	err = p.s.err;
	if (p.trace)
		output_abort(p.trace);
	for (size_t i = 0; i < p.n; i++) {
		free(p.row[i].name);
		free(p.row[i].nodes);
		free(p.row[i].sample);
	}
	free(p.row);
	buf_release(&p.out);
	session_release(&p.s);
	if (err.text[0])
		die_err(&err);
	return status;
}
