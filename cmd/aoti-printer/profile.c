/* profile.c - time per kernel over many runs, with its source nodes; every call as a Chrome trace. */
#include "base/tool/diag.h"
#include "watch/nan.h"
#include "base/tool/output.h"
#include "printer.h"
#include "base/text.h"

#include <inttypes.h>
#include <unistd.h>

enum {
	REPEAT = 20,
	SAMPLES = 4096,
	OUTLIER = 10, /* times the median: for example, the call was interrupted */
};

struct times {
	uint64_t calls, total, min, max; /* ns */
	uint64_t *sample;                /* of at most SAMPLES calls, for the median */
	uint32_t n_sample, cap_sample;
	uint64_t median, typical; /* typical: the calls' total by their median, so that a preempted one does not count as hundreds */
	uint32_t outliers;        /* of the sample */
};

/* The times of a kernel at one place of a model. */
struct profile_row {
	uint32_t model_id, line, call; /* its first call in a run */
	char *name, *nodes, *text;     /* text: the file of the line; NULL: wrapper.cpp */
	struct times first, later;     /* the first run of a model is warm-up: it only counts if there is no other */
	struct times gpu_first, gpu_later;
	uint64_t waited; /* of the GPU's times: it was idle before, and waited for the launch */
	bool use_later;
};

struct profile {
	struct session s;
	struct profile_row *row;
	size_t n, cap;
	bool first_counts, gpu;
	struct output *trace;
	struct buf out; /* of the trace */
	bool any;
	uint64_t start;
	struct err err;
};

/* All of a graph are one row. */
static bool is_replay(const struct watch_call *c) { return c->replay || !strncmp(c->name, "cuda_graph[", 11); }

static struct profile_row *profile_row_of(struct profile *p, const struct watch_call *c)
{
	uint32_t line = c->contract ? c->contract->line : 0, model = c->begin.model;
	for (size_t i = 0; i < p->n; i++)
		if (p->row[i].model_id == model && p->row[i].line == line && (line || is_replay(c) || p->row[i].call == c->begin.call) &&
		    !strcmp(p->row[i].name, c->name))
			return &p->row[i];
	struct profile_row *r = &PUSH_TO(p->row, p->n, p->cap);
	*r = (struct profile_row){.model_id = model, .line = line, .call = c->begin.call, .name = xstrdup(c->name)};
	r->text = c->model && c->model->text ? xstrdup(c->model->text) : NULL;
	r->nodes = c->contract ? xstrndup(c->contract->nodes.p ? c->contract->nodes.p : "", c->contract->nodes.n) : xstrdup("");
	return r;
}

/* A uniform sample: each call so far is in it with the same probability. */
static void add_time(struct times *t, uint64_t took)
{
	t->min = !t->calls || took < t->min ? took : t->min;
	t->max = took > t->max ? took : t->max;
	t->total += took;
	t->calls++;
	if (t->n_sample < SAMPLES) {
		PUSH_TO(t->sample, t->n_sample, t->cap_sample) = took;
		return;
	}
	uint64_t x = t->calls * 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 29) % t->calls;
	if (x < SAMPLES)
		t->sample[x] = took;
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

/* The Python source of a call; NULL. */
static const struct nan_kernel *source_of(const struct watch_call *c)
{
	if (!c->contract)
		return NULL;
	return nan_sources_of(watch_sources(c->model), &c->model->contract, (uint32_t)(c->contract - c->model->contract.call));
}

static void trace_call(struct profile *p, const struct watch_call *c)
{
	struct json_out o = {.b = &p->out};
	if (!p->any)
		p->start = c->begin.time;
	buf_adds(&p->out, p->any ? ",\n" : "");
	p->any = true;
	json_obj(&o);
	json_member_str(&o, "name", slice_str(c->name));
	json_member_str(&o, "cat", SLICE("cpu_op")); /* on its host thread, as torch.profiler has calls; TensorBoard reads no other name */
	json_member_str(&o, "ph", slice_str("X"));
	json_key(&o, "ts"); /* microseconds */
	json_out_double(&o, (double)(int64_t)(c->begin.time - p->start) / 1e3, 3);
	json_member_double(&o, "dur", (double)c->end.took / 1e3, 3);
	json_fields(&o, c->begin, pid, tid);
	json_member_obj(&o, "args");
	json_fields(&o, c->begin, run, call);
	if (c->model && c->model->contract.model.n)
		json_member_str(&o, "model", c->model->contract.model);
	if (c->contract && c->contract->line)
		json_member_u64(&o, "line", c->contract->line);
	if (c->contract && c->contract->nodes.n)
		json_member_str(&o, "nodes", c->contract->nodes);
	const struct nan_kernel *source = source_of(c);
	if (source && source->n_lines) {
		json_member_texts(&o, "python", source->line, source->n_lines);
	}
	json_close(&o);
	json_close(&o);
	trace_flush(p, 1u << 16);
}

/* With --runs, every requested run counts. */
static bool is_first(const struct session *s, const struct watch_call *c) { return c->begin.run == 0 && !s->o->runs && !s->o->step; }

static void take_gpu_time(struct profile *p, const struct watch_call *c)
{
	struct profile_row *r = profile_row_of(p, c);
	const bool first = is_first(&p->s, c);
	add_time(first ? &r->gpu_first : &r->gpu_later, c->begin.took & ~CALLS_TIMED_WAITED);
	r->waited += !first && c->begin.took & CALLS_TIMED_WAITED;
	p->gpu = true;
}

static void profile_call(struct session *s, const struct watch_call *c)
{
	struct profile *p = s->user;
	if (c->begin.what == CALL_RUN_BEGIN || c->end.what == CALL_NONE)
		return;
	if (c->begin.result == CALLS_TIMED) {
		take_gpu_time(p, c);
		return;
	}
	if (p->trace)
		trace_call(p, c);
	struct profile_row *r = profile_row_of(p, c);
	add_time(is_first(s, c) ? &r->first : &r->later, c->end.took);
}

/* ---- the table ---- */

static struct times *times_of(struct profile_row *r) { return r->use_later ? &r->later : &r->first; }

static struct times *gpu_times_of(struct profile_row *r) { return r->use_later ? &r->gpu_later : &r->gpu_first; }

/* Where the time goes: on the GPU, if the call has a time there. */
static uint64_t typical_of(struct profile_row *r) { return gpu_times_of(r)->calls ? gpu_times_of(r)->typical : times_of(r)->typical; }

static int by_time(const void *a, const void *b)
{
	struct profile_row x_ = *(const struct profile_row *)a, y_ = *(const struct profile_row *)b;
	const struct profile_row *x = &x_, *y = &y_;
	uint64_t a_took = typical_of(&x_), b_took = typical_of(&y_);
	return a_took != b_took ? (a_took < b_took ? 1 : -1) : x->call < y->call ? -1 : x->call > y->call;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* The lower median: of two calls, the one that was not interrupted. */
static void sum_up(struct times *t)
{
	if (!t->n_sample)
		return;
	qsort(t->sample, t->n_sample, sizeof(*t->sample), by_value);
	t->median = t->sample[(t->n_sample - 1) / 2];
	t->typical = t->median * t->calls;
	for (uint32_t i = t->n_sample; i-- > 0 && t->sample[i] > OUTLIER * t->median;)
		t->outliers++;
}

static void add_us(struct buf *b, uint64_t ns)
{
	put_us(b, ns);
	buf_addc(b, '\t');
}

static void show_outliers(struct profile *p)
{
	struct buf *b = &p->s.screen.b;
	for (size_t i = 0; i < p->n; i++) {
		const struct times *t = times_of(&p->row[i]);
		if (!t->outliers)
			continue;
		buf_addf(b, "\n%u of %u calls of ", t->outliers, t->n_sample);
		buf_add_clean(b, slice_str(p->row[i].name));
		if (p->row[i].line)
			buf_addf(b, " in line %u", p->row[i].line);
		buf_addf(b, " took more than %d times the median, up to %.1f us: interrupted? The share uses the median.\n", OUTLIER,
			 (double)t->max / 1e3);
	}
}

static void show_waits(struct profile *p)
{
	struct buf *b = &p->s.screen.b;
	uint64_t calls = 0, waited = 0;
	for (size_t i = 0; i < p->n; i++) {
		calls += p->row[i].gpu_later.calls;
		waited += p->row[i].waited;
	}
	buf_adds(b,
		 "\nGPU us to total us: the GPU's time, between CUDA events before and after each call on its stream; launch us: the CPU's "
		 "time.\nCalls with - have no time of their own there: they run on the CPU or are captured into a CUDA graph, whose "
		 "replays have.\n");
	if (waited)
		buf_addf(b,
			 "Before %.0f%% of these calls the GPU was idle: it waited for the CPU to launch them, and their times include "
			 "that wait.\n",
			 100.0 * (double)waited / (double)calls);
}

/* gpu: by its clock, for the calls that have times of it, and the CPU's beside it. */
static void show_table(struct profile *p, uint64_t all, bool gpu)
{
	struct buf b = {0};
	buf_adds(&b, gpu ? "share\tcalls\tGPU us\tmin us\tmax us\ttotal us\tlaunch us\tkernel or op\n"
			 : "share\tcalls\tmedian us\tmin us\tmax us\ttotal us\tkernel or op\n");
	for (size_t i = 0; i < p->n; i++) {
		struct profile_row *r = &p->row[i];
		struct times *t = times_of(r), *g = gpu ? gpu_times_of(r) : t;
		const struct times *of = g->calls ? g : t;
		buf_addf(&b, "%.1f%%\t%" PRIu64 "\t", all ? 100.0 * (double)of->typical / (double)all : 0.0, t->calls);
		if (gpu && !g->calls)
			buf_adds(&b, "-\t");
		else
			add_us(&b, of->median);
		add_us(&b, of->min);
		add_us(&b, of->max);
		add_us(&b, of->total);
		if (gpu)
			add_us(&b, t->median);
		add_call_name(&b, slice_str(r->name), slice_str(r->text ? r->text : ""), r->line, slice_str(r->nodes));
		buf_addc(&b, '\n');
	}
	put_table(&p->s.screen, buf_slice(&b));
	if (gpu)
		show_waits(p);
	else
		show_outliers(p);
	if (!p->first_counts)
		buf_adds(&p->s.screen.b, "\nThe first run is left out as warm-up (--runs 0- includes it).\n");
	buf_release(&b);
}

static void out_gpu(struct json_out *o, const struct profile_row *r, const struct times *g)
{
	if (!g->calls)
		return;
	json_member_u64(o, "gpu_calls", g->calls);
	json_member_u64(o, "gpu_typical_ns", g->typical);
	json_member_u64(o, "gpu_total_ns", g->total);
	json_member_u64(o, "gpu_median_ns", g->median);
	json_member_u64(o, "gpu_min_ns", g->min);
	json_member_u64(o, "gpu_max_ns", g->max);
	json_member_u64(o, "gpu_waited", r->waited);
}

static void show_json(struct profile *p, uint64_t all)
{
	struct json_out o = {.b = &p->s.screen.b};
	uint64_t total = 0, gpu = 0;
	for (size_t i = 0; i < p->n; i++) {
		total += times_of(&p->row[i])->total;
		gpu += gpu_times_of(&p->row[i])->typical;
	}
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.printer.profile/1"));
	json_member_u64(&o, "total_ns", total);
	json_member_u64(&o, "typical_ns", all);
	if (p->gpu)
		json_member_u64(&o, "gpu_typical_ns", gpu);
	json_member_bool(&o, "first_run_left_out", !p->first_counts);
	json_member_arr(&o, "kernels");
	for (size_t i = 0; i < p->n; i++) {
		struct profile_row *r = &p->row[i];
		struct times *t = times_of(r);
		const uint64_t number[] = {r->model_id, r->call,   r->line, t->calls, t->typical,
					   t->total,    t->median, t->min,  t->max,   t->outliers};
		static const char *const key[] = {"model_id", "call",      "line",   "calls",  "typical_ns",
						  "total_ns", "median_ns", "min_ns", "max_ns", "outliers"};
		json_obj(&o);
		json_member_str(&o, "kernel", slice_str(r->name));
		json_member_str(&o, "nodes", slice_str(r->nodes));
		for (size_t k = 0; k < ARRAY_LEN(key); k++)
			json_member_u64(&o, key[k], number[k]);
		out_gpu(&o, r, gpu_times_of(r));
		json_close(&o);
	}
	json_close(&o);
	json_close(&o);
	buf_addc(&p->s.screen.b, '\n');
}

static void count_runs(struct profile *p)
{
	p->first_counts = true;
	for (size_t i = 0; i < p->n; i++)
		p->first_counts &= !p->row[i].later.calls;
	for (size_t i = 0; i < p->n; i++)
		p->row[i].use_later = !p->first_counts;
	p->first_counts |= p->s.o->runs || p->s.o->step;
}

static void end_profile(struct session *s, struct watch *w)
{
	struct profile *p = s->user;
	uint64_t all = 0, shared = 0;
	(void)w;
	count_runs(p);
	for (size_t i = 0; i < p->n; i++) {
		sum_up(times_of(&p->row[i]));
		sum_up(gpu_times_of(&p->row[i]));
		all += times_of(&p->row[i])->typical;
		shared += typical_of(&p->row[i]);
	}
	if (p->n)
		qsort(p->row, p->n, sizeof(*p->row), by_time);
	if (p->s.o->json)
		show_json(p, all);
	else if (p->gpu)
		show_table(p, shared, true);
	else if (p->n)
		show_table(p, all, false);
	if (!p->trace)
		return;
	buf_adds(&p->out, "\n], \"displayTimeUnit\": \"ns\"}\n");
	trace_flush(p, 0);
	if (s->err.text[0])
		return;
	output_commit(p->trace, &s->err);
	p->trace = NULL;
}

int run_profile(const struct printer_options *given, const struct operands *in)
{
	struct printer_options o = *given;
	struct profile p = {0};
	struct err err = {0};
	if (!o.how.runs && !in->command)
		o.how.runs = REPEAT;
	o.inputs = o.constants = false;
	o.level = LEVEL_NAMES;
	session_begin(&p.s, &o, profile_call, end_profile, &p);
	if (o.chrome_trace) {
		if (!(p.trace = output_file(o.chrome_trace, &err)))
			die_err(&err);
		buf_adds(&p.out, "{\"traceEvents\": [\n");
	}
	int status = session_run(&p.s, in, 0, CALLS_NAMES | CALLS_TIMES);
	if (p.trace)
		output_abort(p.trace);
	for (size_t i = 0; i < p.n; i++) {
		free(p.row[i].name);
		free(p.row[i].text);
		free(p.row[i].nodes);
		free(p.row[i].first.sample);
		free(p.row[i].later.sample);
		free(p.row[i].gpu_first.sample);
		free(p.row[i].gpu_later.sample);
	}
	free(p.row);
	buf_release(&p.out);
	session_end(&p.s);
	return status;
}
