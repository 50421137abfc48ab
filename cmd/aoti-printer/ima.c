/* --ima: which kernel made the illegal memory access? Each launch and op is waited for (CALLS_SYNC, libprobe/cuda.h); the event that the
 * probe then writes is shown with what the contract knows, and the calls before it. */
#include "live/ima.h"

#include "base/diag.h"
#include "printer.h"

#include <inttypes.h>

enum { KEPT = 4096, SHOWN = 16, RUNS = 256 };

/* A call that was seen. */
struct past {
	uint64_t seq;
	uint32_t pid, model, run, call, line;
	char name[128];
	struct call_launch launch;
	bool launched, returned;
};
/* The inputs of a Run: sizes bind symbols. */
struct past_run {
	uint32_t pid, model, run;
	size_t n;
	struct tensor_meta *in;
};
struct hunt {
	struct session s;
	struct past *past; /* a ring of KEPT */
	uint64_t n;
	struct past_run runs[RUNS];
	uint64_t n_runs;
	struct ima ima;
};

/* ---- while it runs ---- */

static void take_run(struct hunt *h, const struct watch_call *c)
{
	struct past_run *r = &h->runs[h->n_runs++ % RUNS];
	free(r->in);
	*r = (struct past_run){.pid = c->begin.pid, .model = c->begin.model, .run = c->begin.run};
	r->in = xcalloc(c->n_values + 1, sizeof(*r->in));
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct call_record *v = &c->value[i].rec;
		if (v->v.role == CALL_ROLE_MODEL_INPUT && v->v.arg == r->n)
			dump_meta(v, &r->in[r->n++]);
	}
}

static void take(struct session *s, const struct watch_call *c)
{
	struct hunt *h = s->user;
	if (c->begin.what == CALL_RUN_BEGIN) {
		take_run(h, c);
		return;
	}
	struct past *p = &h->past[h->n++ % KEPT];
	*p = (struct past){.seq = c->begin.seq, .pid = c->begin.pid, .model = c->begin.model, .run = c->begin.run, .call = c->begin.call};
	p->line = c->contract ? c->contract->line : 0;
	snprintf(p->name, sizeof(p->name), "%s", c->name);
	p->launched = c->launch != NULL;
	p->returned = c->end.what != CALL_NONE && c->end.result != CALLS_NOT_RETURNED;
	if (c->launch)
		p->launch = *c->launch;
}

/* ---- what is shown ---- */

static const struct contract *contract_of(const struct watch *w, uint32_t model)
{
	for (size_t i = 0; i < w->n_models; i++)
		if (w->model[i].id == model && w->model[i].has_contract)
			return &w->model[i].contract;
	return NULL;
}

static void add_three(struct buf *b, uint64_t x, uint64_t y, uint64_t z)
{
	buf_addf(b, "(%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", x, y, z);
}

static void add_shape(struct buf *b, const struct ima_param *p)
{
	buf_add_slice(b, p->dtype);
	if (p->n_dim < 0)
		return;
	buf_addc(b, '[');
	for (int d = 0; d < p->n_dim; d++)
		buf_addf(b, "%s%" PRId64, d ? ", " : "", p->dim[d]);
	buf_adds(b, "] strides (");
	for (int d = 0; d < p->n_dim; d++)
		buf_addf(b, "%s%" PRId64, d ? ", " : "", p->stride[d]);
	buf_addc(b, ')');
}

static void add_param(struct buf *b, const struct ima_event *e, uint32_t i, const struct contract *c)
{
	const struct ima_param *p = &e->p[i];
	uint64_t room = ima_room(p);
	buf_addf(b, "%u\t", e->fault ? i : e->param);
	if (p->tensor || p->text.n)
		ima_param_name(e, i, b);
	if (c && e->contract_call < c->n_calls && p->tensor && p->arg < c->call[e->contract_call].n_args && !p->buffer.n)
		buf_add_slice(b, c->arg[c->call[e->contract_call].arg + p->arg].text);
	buf_addc(b, '\t');
	buf_add_slice(b, p->role);
	buf_addc(b, '\t');
	if (p->tensor)
		add_shape(b, p);
	else if (p->value != IMA_NONE && p->allocation)
		buf_addf(b, "a pointer");
	else if (p->value != IMA_NONE)
		buf_addf(b, "%" PRId64, p->size == 4 ? (int64_t)(int32_t)p->value : (int64_t)p->value);
	buf_addc(b, '\t');
	if ((p->tensor || p->allocation) && p->address != IMA_NONE)
		buf_addf(b, "0x%" PRIx64, p->address);
	buf_addc(b, '\t');
	if (p->extent != IMA_NONE)
		buf_addf(b, "%" PRIu64, p->extent);
	buf_addc(b, '\t');
	if (p->storage != IMA_NONE)
		buf_addf(b, "%" PRIu64, p->storage);
	buf_addc(b, '\t');
	if (p->allocation)
		buf_addf(b, "0x%" PRIx64 " + %" PRIu64, p->base, p->allocation);
	buf_addc(b, '\t');
	if (room != IMA_NONE)
		buf_addf(b, "%" PRIu64, room);
	buf_addc(b, '\n');
}

static void show_params(struct screen *s, const struct ima_event *e, const struct contract *c)
{
	struct buf b = {0};
	if (!e->n)
		return;
	buf_adds(&b, "#\targument\trole\twhat\taddress\textent\tin storage\tallocation\tin allocation\n");
	for (uint32_t i = 0; i < e->n; i++)
		add_param(&b, e, i, c);
	put_table(s, buf_slice(&b));
	buf_release(&b);
}

static void label(struct screen *s, const char *text)
{
	buf_addf(&s->b, "  %-10s", text);
}

static void show_call(struct screen *s, const struct ima_event *e, const struct contract *c)
{
	const struct contract_call *k = c && e->contract_call < c->n_calls ? &c->call[e->contract_call] : NULL;
	label(s, "kernel");
	add_clean(&s->b, e->kernel);
	buf_addf(&s->b, ", call %u", e->call);
	if (e->run != CONTRACT_NONE)
		buf_addf(&s->b, " of run %u", e->run);
	if (c && c->model.n) {
		buf_adds(&s->b, " of ");
		add_clean(&s->b, c->model);
	}
	buf_addf(&s->b, ", process %u\n", e->pid);
	if (k && (k->line || k->nodes.n)) {
		label(s, "from");
		if (k->line)
			buf_addf(&s->b, "wrapper.cpp:%u%s", k->line, k->nodes.n ? ", nodes " : "");
		add_clean(&s->b, k->nodes);
		if (k->aten.n) {
			buf_adds(&s->b, ", ATen ");
			add_clean(&s->b, k->aten);
		}
		buf_addc(&s->b, '\n');
	}
	if (e->launch) {
		label(s, "launch");
		buf_adds(&s->b, "grid ");
		add_three(&s->b, e->grid[0], e->grid[1], e->grid[2]);
		buf_adds(&s->b, ", block ");
		add_three(&s->b, e->block[0], e->block[1], e->block[2]);
		buf_addf(&s->b, ", %" PRIu64 " bytes of shared memory", e->shared);
		if (e->stream != IMA_NONE)
			buf_addf(&s->b, ", stream 0x%" PRIx64, e->stream);
		if (e->device >= 0)
			buf_addf(&s->b, ", cuda:%d", e->device);
		buf_addc(&s->b, '\n');
	}
}

/* "s0 = 8" for all that the inputs of this Run tell. */
static void show_symbols(struct hunt *h, const struct ima_event *e, const struct contract *c)
{
	struct screen *s = &h->s.screen;
	struct symbind env = {0};
	for (uint64_t i = 0; c && c->n_symbols && i < h->n_runs && i < RUNS; i++) {
		const struct past_run *r = &h->runs[i];
		if (r->pid != e->pid || r->model != e->model || r->run != e->run || !contract_bind(c, r->in, r->n, &env))
			continue;
		label(s, "sizes");
		for (uint32_t k = 0, n = 0; k < c->n_symbols; k++) {
			int64_t v;
			if (!symbind_get(&env, c->symbol[k].symbol, &v))
				continue;
			buf_addf(&s->b, "%s", n++ ? ", " : "");
			add_clean(&s->b, symtab_name(&c->tab, c->symbol[k].symbol));
			buf_addf(&s->b, " = %" PRId64, v);
		}
		buf_addc(&s->b, '\n');
		break;
	}
	symbind_release(&env);
}

static void show_suspects(struct screen *s, const struct ima_event *e)
{
	struct buf b = {0};
	struct slice rest, line;
	size_t n = ima_judge(e, &b);
	rest = buf_slice(&b);
	while (slice_line(&rest, &line)) {
		label(s, n ? "suspect" : "perhaps");
		add_clean(&s->b, line);
		buf_addc(&s->b, '\n');
	}
	if (!n && !b.len && e->launch) {
		label(s, "suspect");
		buf_adds(&s->b, "none by sizes: all tensors lie inside of their memory, and no number is larger than what is written. "
				"The kernel's own addresses: a missing mask, a wrong stride, or a grid that is too large for it\n");
	}
	buf_release(&b);
}

static void add_past(struct buf *b, const struct past *p)
{
	if (p->run == CALLS_NO_RUN)
		buf_addf(b, "-\t%u\t%s", p->call, p->name);
	else
		buf_addf(b, "%u\t%u\t%s", p->run, p->call, p->name);
	buf_addc(b, '\t');
	if (p->line)
		buf_addf(b, "%u", p->line);
	buf_addc(b, '\t');
	if (p->launched)
		add_three(b, p->launch.grid[0], p->launch.grid[1], p->launch.grid[2]);
	buf_addc(b, '\t');
	if (p->launched)
		add_three(b, p->launch.block[0], p->launch.block[1], p->launch.block[2]);
	buf_addf(b, "\t%s\n", p->launched && p->launch.captured ? "captured" : p->returned ? "" : "not returned");
}

static int by_seq(const void *a, const void *b)
{
	uint64_t x = (*(const struct past *const *)a)->seq, y = (*(const struct past *const *)b)->seq;
	return x < y ? -1 : x > y;
}

/* The last calls of that process up to this one, all threads. */
static void show_past(struct hunt *h, const struct ima_event *e)
{
	const struct past **v = xcalloc(KEPT, sizeof(*v));
	struct buf b = {0};
	size_t n = 0;
	for (uint64_t i = 0; i < h->n && i < KEPT; i++)
		if (h->past[i].pid == e->pid && h->past[i].seq <= e->seq)
			v[n++] = &h->past[i];
	qsort(v, n, sizeof(*v), by_seq);
	buf_adds(&b, "run\tcall\tthe last calls, up to this one\tline\tgrid\tblock\t\n");
	for (size_t i = n > SHOWN ? n - SHOWN : 0; i < n; i++)
		add_past(&b, v[i]);
	if (n) {
		buf_addc(&h->s.screen.b, '\n');
		put_table(&h->s.screen, buf_slice(&b));
	}
	buf_release(&b);
	free(v);
}

static const char *when_text(struct slice when)
{
	if (slice_is(when, "before"))
		return "it was there before this call: what ran before, and was not a call of a model, made it";
	if (slice_is(when, "launch"))
		return "the driver refused the launch";
	if (slice_is(when, "values"))
		return "while its values were copied";
	return "this call made it: the one before had ended well";
}

static void show_fault(struct hunt *h, const struct watch *w, struct ima_event *e)
{
	struct screen *s = &h->s.screen;
	const struct contract *c = contract_of(w, e->model);
	struct buf head = {0};
	ima_name_numbers(e, c);
	buf_addf(&head, "%s (", e->code == 700 ? "illegal memory access" : "the GPU failed");
	add_clean(&head, e->error.n ? e->error : SLICE("error"));
	buf_addf(&head, ", %" PRIu64 ")", e->code);
	if (e->text.n) {
		buf_adds(&head, ": ");
		add_clean(&head, e->text);
	}
	put_red(s, buf_str(&head));
	buf_addc(&s->b, '\n');
	buf_release(&head);
	show_call(s, e, c);
	label(s, "seen");
	buf_addf(&s->b, "%s\n", when_text(e->when));
	show_symbols(h, e, c);
	show_suspects(s, e);
	buf_addc(&s->b, '\n');
	show_params(s, e, c);
	show_past(h, e);
}

static void show_finding(struct hunt *h, const struct watch *w, struct ima_event *e)
{
	struct screen *s = &h->s.screen;
	const struct contract *c = contract_of(w, e->model);
	struct buf head = {0};
	ima_param_name(e, 0, &head);
	buf_addf(&head, " %s", ima_what(e->what));
	put_red(s, buf_str(&head));
	buf_addc(&s->b, '\n');
	buf_release(&head);
	show_call(s, e, c);
	buf_addc(&s->b, '\n');
	show_params(s, e, c);
	buf_addc(&s->b, '\n');
}

static void end(struct session *s, struct watch *w)
{
	struct hunt *h = s->user;
	bool device = false;
	ima_read(&h->ima, buf_slice(&w->device));
	for (size_t i = 0; i < w->n_models; i++)
		device |= w->model[i].has_contract && w->model[i].contract.device > DEVICE_CPU;
	for (size_t i = 0; i < h->ima.n; i++)
		if (!h->ima.v[i].fault)
			show_finding(h, w, &h->ima.v[i]);
	for (size_t i = 0; i < h->ima.n; i++)
		if (h->ima.v[i].fault)
			show_fault(h, w, &h->ima.v[i]);
	s->found = h->ima.n;
	if (h->ima.n || s->o->quiet || !s->seen)
		return;
	if (device)
		note("%s: %" PRIu64 " calls, each waited for: none failed", diag_tool, s->seen);
	else
		note("%s: %" PRIu64 " calls, none of a model for a GPU", diag_tool, s->seen);
}

int run_ima(const struct printer_options *given, const struct operands *in)
{
	struct printer_options o = *given;
	struct hunt h = {.past = xcalloc(KEPT, sizeof(*h.past))};
	o.inputs = true;
	o.level = LEVEL_NAMES;
	/* c10/cuda/CUDACachingAllocator.cpp: each tensor is then an allocation of the driver's own. */
	if (!strcmp(o.ima, "alloc"))
		setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", 1);
	session_begin(&h.s, &o);
	h.s.take = take;
	h.s.end = end;
	h.s.user = &h;
	int status = session_run(&h.s, in, 0, CALLS_NAMES | CALLS_SYNC);
	struct err err = h.s.err;
	ima_release(&h.ima);
	for (size_t i = 0; i < RUNS; i++)
		free(h.runs[i].in);
	free(h.past);
	session_release(&h.s);
	if (err.text[0])
		die_err(&err);
	return status;
}
