/* memory.c - --memory: which buffers are alive at the peak of a graph or model, and how much was planned.
 *
 * The generated code shows when memory is allocated and freed (`buf3 = empty_strided(...)`, `del buf3`): a storage of the contract lives
 * from before call `born` until after call `dies`. Its size comes from the calls that touch it, as they ran: the range from the first to
 * the last byte of all tensors seen in it. A tensor that lies elsewhere is in another allocation,
 * as in the next turn of a loop: they are not added. The planned size is what the code itself says, where its sizes are numbers.
 * Not counted: inputs, weights, and memory that an operator allocates and frees internally. */
#include "base/html/html.h"
#include "base/text.h"
#include "watch/nan.h"
#include "printer.h"
#include "base/tool/diag.h"

#include <inttypes.h>

#define SHOWN_NAMES 3 /* of one buffer */

struct block {
	uint64_t from, to; /* addresses */
	uint64_t most;     /* bytes of an earlier allocation: in a loop each turn makes its own */
};

/* A run in progress: what was touched of each storage. */
struct current {
	uint32_t tid, run;
	bool open;
	struct block *block;
	size_t n;
};

struct graph_memory {
	const struct watch_model *model; /* valid while calls are read */
	uint32_t id, run, peak_at;       /* of the run with the highest peak, the first one if several */
	uint64_t runs, peak, planned;
	bool is_planned;
	uint64_t *bytes; /* of each storage; 0: not seen */
	size_t n;
	struct current *now;
	size_t n_now, cap_now;
};

struct memory {
	struct session s;
	struct graph_memory *graph;
	size_t n, cap;
};

static uint64_t block_bytes(const struct block *b)
{
	const uint64_t now = b->to - b->from;
	return now > b->most ? now : b->most;
}

static void close_run(struct graph_memory *g, struct current *r)
{
	const struct contract *c = &g->model->contract;
	uint64_t *bytes = xcalloc(r->n + 1, sizeof(*bytes)), most = 0;
	uint32_t at = 0;
	for (uint32_t i = 0; r->open && i < r->n; i++)
		bytes[i] = block_bytes(&r->block[i]);
	uint64_t *alive = contract_alive_bytes(c, bytes);
	for (uint32_t k = 0; k < c->n_calls; k++)
		if (alive[k] > most) {
			most = alive[k];
			at = k;
		}
	free(alive);
	g->runs += r->open;
	if (r->open && (most > g->peak || !g->bytes)) {
		uint64_t *old = g->bytes;
		g->bytes = bytes;
		g->n = r->n;
		g->peak = most;
		g->peak_at = at;
		g->run = r->run;
		bytes = old;
	}
	r->open = false;
	free(bytes);
}

static struct graph_memory *find_graph(struct memory *m, const struct watch_call *c)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->graph[i].id == c->begin.model) {
			m->graph[i].model = c->model;
			return &m->graph[i];
		}
	struct graph_memory *g = &PUSH_TO(m->graph, m->n, m->cap);
	*g = (struct graph_memory){.model = c->model, .id = c->begin.model};
	g->is_planned = contract_peak(&c->model->contract, &(struct symbind){0}, &g->planned, NULL);
	return g;
}

static struct current *current_of(struct graph_memory *g, const struct call_record *r)
{
	struct current *now = NULL;
	for (size_t i = 0; i < g->n_now && !now; i++)
		now = g->now[i].tid == r->tid ? &g->now[i] : NULL;
	if (!now) {
		now = &PUSH_TO(g->now, g->n_now, g->cap_now);
		*now = (struct current){.tid = r->tid, .n = g->model->contract.n_storages};
		now->block = xcalloc(now->n + 1, sizeof(*now->block));
	}
	if (now->open && now->run == r->run)
		return now;
	close_run(g, now);
	memset(now->block, 0, (now->n + 1) * sizeof(*now->block));
	now->run = r->run;
	now->open = true;
	return now;
}

static void memory_call(struct session *s, const struct watch_call *c)
{
	struct memory *m = s->user;
	if (c->begin.what == CALL_RUN_BEGIN || !c->contract || c->begin.run == CALLS_NO_RUN)
		return;
	struct current *now = current_of(find_graph(m, c), &c->begin);
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct watch_value *v = &c->value[i];
		const uint32_t storage = v->value ? v->value->storage : NONE;
		struct tensor_meta meta;
		int64_t bytes;
		if (storage == NONE || storage >= now->n)
			continue;
		dump_meta(&v->rec, &meta);
		if (meta.n_dim < 0 || !tensor_extent(&meta, &bytes) || bytes <= 0)
			continue;
		const uint64_t from = v->rec.v.address, to = from + (uint64_t)bytes;
		struct block *b = &now->block[storage];
		if (b->to && (from > b->to || to < b->from))
			*b = (struct block){.most = block_bytes(b)};
		if (!b->to)
			b->from = from, b->to = to;
		b->from = from < b->from ? from : b->from;
		b->to = to > b->to ? to : b->to;
	}
}

/* ---- output ---- */

/* The first call that writes into this storage; NONE. */
static uint32_t maker_of(const struct contract *c, uint32_t storage)
{
	for (uint32_t k = c->storage[storage].born; k < c->n_calls; k++)
		for (uint32_t a = 0; a < c->call[k].n_args; a++) {
			const struct contract_arg *arg = &c->arg[c->call[k].arg + a];
			if (arg->value != NONE && arg->role != ARG_SCALAR && arg->role != ARG_IN && c->value[arg->value].storage == storage)
				return k;
		}
	return NONE;
}

/* Its names, the first `most` of them: several buffers reuse the same memory. */
static void add_names(struct buf *b, const struct contract *c, uint32_t storage, uint32_t most)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->n_values; i++)
		if (c->value[i].storage == storage && n++ < most) {
			buf_adds(b, n > 1 ? ", " : "");
			buf_add_clean(b, c->value[i].name);
		}
	if (n > most)
		buf_addf(b, " and %u more", n - most);
}

struct alive {
	uint64_t bytes;
	uint32_t storage;
};

static int by_size(const void *a, const void *b)
{
	const struct alive *x = a, *y = b;
	return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : x->storage < y->storage ? -1 : x->storage > y->storage;
}

static size_t find_alive(const struct graph_memory *g, struct alive *v)
{
	const struct contract *c = &g->model->contract;
	size_t n = 0;
	for (uint32_t i = 0; i < g->n; i++)
		if (g->bytes[i] && contract_is_alive(&c->storage[i], g->peak_at))
			v[n++] = (struct alive){g->bytes[i], i};
	qsort(v, n, sizeof(*v), by_size);
	return n;
}

static void add_call_at(struct buf *b, const struct watch_model *m, uint32_t call)
{
	const struct contract_call *k = &m->contract.call[call];
	add_call_name(b, k->name, slice_str(m->text ? m->text : ""), k->line, k->nodes);
}

static void show_graph(struct screen *s, const struct graph_memory *g)
{
	const struct contract *c = &g->model->contract;
	struct alive *v = xcalloc(g->n + 1, sizeof(*v));
	const size_t n = find_alive(g, v);
	const struct nan_sources *sources = watch_sources(g->model);
	struct buf t = {0};
	put_bold(s, path_base(g->model->path));
	buf_adds(&s->b, ": ");
	put_bytes(&s->b, g->peak);
	buf_adds(&s->b, " of buffers at peak, ");
	if (g->is_planned) {
		buf_adds(&s->b, "planned: ");
		put_bytes(&s->b, g->planned);
	} else {
		buf_adds(&s->b, "not all sizes are known from the code");
	}
	buf_addf(&s->b, " (run %u of %" PRIu64 ")\n", g->run, g->runs);
	if (n) {
		buf_addf(&s->b, "  at call %u: ", g->peak_at);
		add_call_at(&s->b, g->model, g->peak_at);
		buf_adds(&s->b, "\n");
		buf_adds(&t, "bytes\tshare\tbuffer\tcalls\tallocated by\n");
	}
	for (size_t i = 0; i < n; i++) {
		const uint32_t maker = maker_of(c, v[i].storage);
		const struct contract_storage *x = &c->storage[v[i].storage];
		buf_addf(&t, "%" PRIu64 "\t%.1f%%\t", v[i].bytes, 100.0 * (double)v[i].bytes / (double)g->peak);
		add_names(&t, c, v[i].storage, SHOWN_NAMES);
		buf_addf(&t, "\t%u..%u\t", x->born, x->dies < c->n_calls ? x->dies : c->n_calls - 1);
		const struct nan_kernel *source = maker == NONE ? NULL : nan_sources_of(sources, c, maker);
		if (maker != NONE)
			add_call_at(&t, g->model, maker);
		if (source && source->n_lines) {
			buf_adds(&t, " ");
			buf_add_clean(&t, source->line[0]);
		}
		buf_addc(&t, '\n');
	}
	if (n)
		put_table(s, buf_slice(&t));
	buf_addc(&s->b, '\n');
	buf_release(&t);
	free(v);
}

static void out_call(struct json_out *o, const struct watch_model *m, uint32_t k)
{
	const struct contract *c = &m->contract;
	const struct nan_kernel *source = nan_sources_of(watch_sources(m), c, k);
	json_member_u64(o, "call", k);
	json_member(o, "kernel", c->call[k].name);
	json_fields(o, c->call[k], line, nodes);
	json_member_arr(o, "python");
	for (uint32_t i = 0; source && i < source->n_lines; i++)
		json_out_str(o, source->line[i]);
	json_close(o);
}

static void out_graph(struct json_out *o, const struct graph_memory *g)
{
	const struct contract *c = &g->model->contract;
	struct alive *v = xcalloc(g->n + 1, sizeof(*v));
	const size_t n = find_alive(g, v);
	struct buf names = {0};
	json_obj(o);
	json_member_str(o, "model", slice_str(path_base(g->model->path)));
	json_member_u64(o, "model_id", g->id);
	json_fields(o, *g, runs, run);
	g->is_planned ? json_member_u64(o, "planned", g->planned) : json_member_null(o, "planned");
	json_member_u64(o, "reached", g->peak);
	json_member_u64(o, "peak_at", g->peak_at);
	json_rows(o, "buffers", i, n) {
		const uint32_t maker = maker_of(c, v[i].storage);
		buf_reset(&names);
		add_names(&names, c, v[i].storage, UINT32_MAX);
		json_member(o, "names", buf_slice(&names));
		json_member_u64(o, "bytes", v[i].bytes);
		json_fields(o, c->storage[v[i].storage], born, dies);
		if (maker != NONE)
			out_call(o, g->model, maker);
	}
	uint64_t *alive = contract_alive_bytes(c, g->bytes);
	json_rows(o, "curve", k, c->n_calls) {
		json_member_u64(o, "bytes", alive[k]);
		out_call(o, g->model, k);
	}
	json_close(o);
	free(alive);
	buf_release(&names);
	free(v);
}

static void memory_document(struct json_out *o, const void *of)
{
	const struct memory *m = of;
	json_obj(o);
	json_member(o, "schema", SLICE("pt2utils.printer.memory/1"));
	json_member_arr(o, "graphs");
	for (size_t i = 0; i < m->n; i++)
		out_graph(o, &m->graph[i]);
	json_close(o);
	json_close(o);
}

/* The frame and style of the --diff page, with the document and its own script. */
static int save_page(const struct memory *m, const char *path, struct err *err)
{
	static const char *const css[] = {"page/common.css", "printer/diff.css", NULL};
	static const char *const js[] = {"page/common.js", "printer/memory.js", NULL};
	static const struct html_page frame = {
	    .title = "Compiled model: two runs compared", .body = "printer/diff.html", .css = css, .js = js, .themed = true};
	return html_save_document(path, &frame, memory_document, m, err);
}

static int by_peak(const void *a, const void *b)
{
	const struct graph_memory *x = a, *y = b;
	return x->peak != y->peak ? (x->peak < y->peak ? 1 : -1) : x->id < y->id ? -1 : x->id > y->id;
}

static void end_memory(struct session *s, struct watch *w)
{
	struct memory *m = s->user;
	for (size_t i = 0; i < m->n; i++) {
		m->graph[i].model = watch_find_model(w, m->graph[i].id); /* it may have moved */
		for (size_t k = 0; k < m->graph[i].n_now; k++)
			close_run(&m->graph[i], &m->graph[i].now[k]);
	}
	if (m->n)
		qsort(m->graph, m->n, sizeof(*m->graph), by_peak);
	if (s->o->json) {
		struct json_out o = {.b = &s->screen.b};
		memory_document(&o, m);
		buf_addc(&s->screen.b, '\n');
	} else {
		for (size_t i = 0; i < m->n && !s->o->quiet; i++)
			show_graph(&s->screen, &m->graph[i]);
	}
	if (s->o->html && !s->err.text[0])
		(void)save_page(m, s->o->html, &s->err);
}

int run_memory(const struct printer_options *given, const struct operands *in)
{
	struct printer_options o = *given;
	struct memory m = {0};
	o.inputs = o.constants = false;
	o.level = LEVEL_NAMES;
	session_begin(&m.s, &o, memory_call, end_memory, &m);
	const int status = session_run(&m.s, in, 0, CALLS_NAMES | CALLS_STATS);
	for (size_t i = 0; i < m.n; i++) {
		for (size_t k = 0; k < m.graph[i].n_now; k++)
			free(m.graph[i].now[k].block);
		free(m.graph[i].now);
		free(m.graph[i].bytes);
	}
	free(m.graph);
	session_end(&m.s);
	return status;
}
