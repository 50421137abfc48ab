/* evaluate.c - the cause of a finding, by evaluation: what the call had read, and the nodes of its graph (aten/firstnan/firstnan.h). */
#include "nanassert.h"

#include "aten/firstnan/firstnan.h"
#include "base/text.h"
#include "graph/fxcode.h"
#include "tensor/tensor.h"

enum { MOST_LINES = 64 };

/* The graph of a torch.compile graph, and which of its nodes a buffer holds: the JSON of share/jit/rewrite.py, _fx_of. */
struct fx {
	struct json_tape t;
	uint32_t whole, root; /* the document; the graph that the bad buffer is in: this, or a subgraph */
	struct graph g;
	struct slice *stack; /* by node of the root */
	struct arena arena;
	bool has_graph;
};

static void fx_close(struct fx *x)
{
	free(x->stack);
	graph_release(&x->g);
	json_tape_release(&x->t);
	arena_release(&x->arena);
}

/* "while_loop_body_graph_0_buf1" is of the subgraph "while_loop_body_graph_0"; of nested ones, the inner has the longer name. */
static uint32_t subgraph_of(const struct fx *x, struct slice buffer)
{
	const uint32_t all = json_get(&x->t, x->whole, "subgraphs");
	uint32_t found = x->whole;
	size_t longest = 0;
	if (json_is(&x->t, all, JSON_OBJECT))
		json_each_pair(&x->t, all, k) {
			const struct slice name = json_slice(&x->t, k);
			if (name.n > longest && buffer.n > name.n && buffer.p[name.n] == '_' && !memcmp(buffer.p, name.p, name.n)) {
				found = k + 1;
				longest = name.n;
			}
		}
	return found;
}

static int fx_open(struct fx *x, const char *json, struct slice buffer, struct err *err)
{
	*x = (struct fx){0};
	json_tape_text(&x->t, json, strlen(json));
	if (json_parse(&x->t, 0, strlen(json), &x->whole) < 0)
		return err_set(err, EXIT_INPUT, "its graph cannot be read");
	x->root = subgraph_of(x, buffer);
	struct buf text = {0};
	json_add_text(&x->t, x->root, "graph", &text);
	const int r = fxcode_read(&x->g, buf_slice(&text), "its graph", err);
	buf_release(&text);
	if (r < 0)
		return r;
	const uint32_t first = x->g.module[0].first, n = x->g.module[0].n;
	uint32_t count;
	const struct slice *stacks = json_dup_list(&x->t, json_get(&x->t, x->root, "stacks"), UINT32_MAX, &count, &x->arena);
	x->stack = xcalloc(n + 1, sizeof(*x->stack));
	const uint32_t of = json_get(&x->t, x->root, "stack");
	if (json_is(&x->t, of, JSON_OBJECT))
		json_each_pair(&x->t, of, k) {
			const uint32_t node = graph_find(&x->g, 0, json_slice(&x->t, k));
			uint64_t i;
			if (node != NONE && node - first < n && slice_u64(json_slice(&x->t, k + 1), &i) && i < count)
				x->stack[node - first] = stacks[i];
		}
	return 0;
}

/* The node that a table names for a buffer; NONE. */
static uint32_t node_in(const struct fx *x, const char *table, struct slice name)
{
	struct buf text = {0};
	const uint32_t of = json_get(&x->t, x->root, table), at = json_is(&x->t, of, JSON_OBJECT) ? json_find(&x->t, of, name) : NONE;
	const uint32_t node = at == NONE ? NONE : graph_find(&x->g, 0, json_text_at(&x->t, at, &text));
	buf_release(&text);
	return node;
}

static struct slice was(const struct fx *x, struct slice name)
{
	const uint32_t of = json_get(&x->t, x->whole, "was"), at = json_is(&x->t, of, JSON_OBJECT) ? json_find(&x->t, of, name) : NONE;
	return json_is(&x->t, at, JSON_STRING) ? json_slice(&x->t, at) : SLICE("");
}

/* The node whose value a buffer holds: an input has its own name. before: a buffer that the call overwrites, whose memory was another
 * buffer's. */
static uint32_t node_of(const struct fx *x, struct slice name, bool before)
{
	for (int i = 0; i < 64 && name.n; i++) {
		const struct slice older = was(x, name);
		const uint32_t own = graph_find(&x->g, 0, name);
		uint32_t node = before && !i && older.n ? NONE : node_in(x, "nodes", name);
		if (node == NONE && own != NONE && (x->g.node[own].op == GRAPH_PLACEHOLDER || x->g.node[own].op == GRAPH_GET_ATTR))
			node = own;
		if (node != NONE)
			return node;
		name = older;
	}
	return NONE;
}

/* What is written to an input, by copy_ at the graph's end. */
static uint32_t copied_to(const struct graph *g, uint32_t input)
{
	for (uint32_t u = g->user_of[input]; u < g->user_of[input + 1]; u++) {
		const struct gnode *n = &g->node[g->user[u]];
		const struct gvalue *a = &g->value[n->args];
		if (slice_starts(graph_op_text(g, g->user[u]), "aten.copy_") && n->n_args >= 2 && a[0].kind == GV_NODE &&
		    a[0].node == input && a[1].kind == GV_NODE)
			return a[1].node;
	}
	return NONE;
}

/* The nodes whose values the bad buffer holds. Returns how many. */
static uint32_t targets_of(const struct fx *x, struct slice name, uint32_t *target, uint32_t max)
{
	const uint32_t own = graph_find(&x->g, 0, name);
	uint32_t n = 0, node = node_in(x, "nodes", name);
	if (node == NONE && own != NONE && x->g.node[own].op == GRAPH_PLACEHOLDER)
		node = copied_to(&x->g, own);
	node = node != NONE ? node : node_in(x, "written", name);
	if (node != NONE) {
		target[0] = node;
		return 1;
	}
	const uint32_t of = json_get(&x->t, x->root, "origins"), list = json_is(&x->t, of, JSON_OBJECT) ? json_find(&x->t, of, name) : NONE;
	struct buf text = {0};
	if (json_is(&x->t, list, JSON_ARRAY))
		json_each(&x->t, list, i) {
			node = graph_find(&x->g, 0, json_text_at(&x->t, i, &text));
			if (node != NONE && n < max)
				target[n++] = node;
		}
	buf_release(&text);
	return n;
}

/* ---- what the call read ---- */

static void know_value(struct firstnan *f, const struct fx *x, const struct nan_value *v, const char *folder)
{
	const uint32_t node = node_of(x, v->v.buffer, v->v.role == CALL_ROLE_INOUT);
	struct err ignored;
	struct slice data;
	if (node == NONE || !v->v.file.n)
		return;
	char *path = xasprintf("%s/%.*s", folder, SL(v->v.file));
	struct tensor_file *file = tensor_file_open(path, &ignored);
	if (file && file->n == 1 && tensor_data(file, 0, &data, NULL) == 0) {
		struct tensor_meta m = v->v.meta;
		if (m.n_dim == file->v[0].meta.n_dim && !memcmp(m.size, file->v[0].meta.size, (size_t)m.n_dim * sizeof(*m.size)))
			firstnan_know(f, node, &m, data.p);
	}
	if (file)
		tensor_file_close(file);
	free(path);
}

/* Did the memory of what is read hold its node's value before the call? Not if this call writes it, as the parts of a cat, whole or in
 * part. */
static bool held_before(const struct nan_call *c, const struct nan_value *v)
{
	if (v->unwritten)
		return false;
	for (uint32_t i = 0; i < c->n_values && v->storage != NONE && v->v.role == CALL_ROLE_IN; i++)
		if (dump_written(&c->value[i].v) && c->value[i].storage == v->storage)
			return false;
	return true;
}

/* The values of the nodes that the call's buffers hold. written: also what it wrote, if that is clean: where a node cannot be computed, as
 * a random one, but was kept. */
static void know_values(struct firstnan *run, const struct fx *x, const struct nan_finding *f, bool written, const char *folder)
{
	for (uint32_t i = 0; i < f->call.n_values; i++) {
		const struct nan_value *v = &f->call.value[i];
		if (v->v.before ? held_before(&f->call, v) : written && dump_written(&v->v) && v->v.stats.known && !v->v.stats.nan)
			know_value(run, x, v, folder);
	}
	for (uint32_t i = 0; i < f->call.n_values; i++) {
		const uint32_t of = f->call.value[i].v.before ? NONE : node_of(x, f->call.value[i].v.buffer, false);
		if (of != NONE)
			firstnan_sizes(run, of, &f->call.value[i].v.meta);
	}
}

/* ---- results ---- */

static struct slice keep(struct session *s, struct buf *b)
{
	const struct slice text = arena_slice(&s->evaluated, buf_slice(b));
	buf_release(b);
	return text;
}

static void add_line(struct buf *b, const struct srcloc *at)
{
	srcloc_format(b, at, SRCLOC_AT, true);
	if (at->code.n)
		buf_addf(b, ": %.*s", SLN(at->code, 400));
}

void evaluate_result(struct session *s, struct firstnan *f, int found, uint32_t node, struct nan_cause *c)
{
	struct buf text = {0}, reason = {0}, line = {0}, place = {0}, more = {0};
	struct srcloc at, other;
	*c = (struct nan_cause){.found = found > 0, .clean = !found};
	if (found < 0) {
		c->unknown = arena_slice(&s->evaluated, f->why.len ? buf_slice(&f->why) : SLICE("a value that it needs is missing"));
		return;
	}
	if (!found)
		return;
	firstnan_explain(f, node, &text, &reason);
	c->node = arena_slice(&s->evaluated, graph_name(f->g, node));
	c->op = arena_slice(&s->evaluated, graph_op_text(f->g, node));
	if (firstnan_line(f, node, &at)) {
		add_line(&line, &at);
		if (firstnan_other_line(f, node, &at, &other))
			add_line(&more, &other);
		const struct slice file = slice_base(at.file);
		buf_addf(&place, "%.*s:%llu", SL(file), (unsigned long long)at.line);
	}
	const uint32_t inf = firstnan_infinity(f, node);
	c->finite = inf == NONE || firstnan_pole(f, inf);
	if (inf != NONE) {
		struct buf from = {0}, where = {0};
		firstnan_explain_infinity(f, inf, &from);
		if (firstnan_line(f, inf, &at))
			buf_addf(&where, "%.*s:%llu", SL(slice_base(at.file)), (unsigned long long)at.line);
		buf_addf(&from, "%s%s", where.len ? ", " : "", buf_str(&where));
		if (slice_eq(buf_slice(&where), buf_slice(&place))) /* the line that is shown anyway */
			buf_release(&from);
		c->infinity = keep(s, &from);
		buf_release(&where);
	}
	c->text = keep(s, &text);
	c->reason = keep(s, &reason);
	c->line = keep(s, &line);
	c->other = keep(s, &more);
	c->place = keep(s, &place);
}

/* All lines of the user's program that the call computes something of, instead of those that the compiler recorded: of a fused kernel,
 * only one origin's. */
static void take_lines(struct session *s, const struct fx *x, const struct firstnan *run, struct nan_finding *f)
{
	const uint32_t of = json_get(&x->t, x->root, "origins");
	struct slice *line = NULL;
	uint32_t n = 0, cap = 0;
	struct buf text = {0}, b = {0};
	struct srcloc at;
	for (uint32_t i = 0; i < f->call.n_values && json_is(&x->t, of, JSON_OBJECT); i++) {
		const struct nan_value *v = &f->call.value[i];
		const uint32_t list = dump_written(&v->v) ? json_find(&x->t, of, v->v.buffer) : NONE;
		if (!json_is(&x->t, list, JSON_ARRAY))
			continue;
		json_each(&x->t, list, k) {
			const uint32_t node = graph_find(&x->g, 0, json_text_at(&x->t, k, &text));
			if (node == NONE || n == MOST_LINES || !firstnan_line(run, node, &at))
				continue;
			buf_reset(&b);
			add_line(&b, &at);
			bool had = false;
			for (uint32_t j = 0; j < n; j++)
				had |= slice_eq(line[j], buf_slice(&b));
			if (!had)
				PUSH_TO(line, n, cap) = arena_slice(&s->evaluated, buf_slice(&b));
		}
	}
	if (n) {
		struct slice *kept = arena_alloc(&s->evaluated, n * sizeof(*kept));
		memcpy(kept, line, n * sizeof(*kept));
		f->line = kept;
		f->n_lines = n;
	}
	free(line);
	buf_release(&text);
	buf_release(&b);
}

struct nan_cause *evaluate_new(struct session *s) { return arena_alloc(&s->evaluated, sizeof(struct nan_cause)); }

void evaluate_graph(struct session *s, const struct watch *w, struct nan_finding *f)
{
	const struct watch_model *m = watch_find_model(w, f->call.c.model_id);
	struct fx x;
	struct err err;
	uint32_t target[64], n = 0, node = NONE;
	if (f->kind != NAN_PRODUCED || f->bad == NONE || f->what == NAN_RANGE || !m || !m->fx || !s->folder || f->why ||
	    f->call.scanned) /* its values stayed on the GPU: --exact */
		return;
	struct nan_cause *c = evaluate_new(s);
	f->why = c;
	if (fx_open(&x, m->fx, f->call.value[f->bad].v.buffer, &err) < 0) {
		*c = (struct nan_cause){.unknown = arena_slice(&s->evaluated, slice_str(err.text))};
		fx_close(&x);
		return;
	}
	struct firstnan run;
	n = targets_of(&x, f->call.value[f->bad].v.buffer, target, ARRAY_LEN(target));
	int found = -1;
	for (int written = 0; written < 2 && found < 0; written++) {
		if (written)
			firstnan_close(&run);
		firstnan_open(&run, &x.g, f->what == NAN_INF);
		run.stack = x.stack;
		know_values(&run, &x, f, written, s->folder);
		if (!n)
			buf_adds(&run.why, "which node it computes is not recorded");
		else
			found = firstnan_find(&run, target, n, &node);
	}
	evaluate_result(s, &run, found, node, c);
	for (uint32_t i = 0; i < f->call.n_values; i++) {
		const struct tensor_stats *t = &f->call.value[i].v.stats;
		c->finite &= !f->call.value[i].v.before || !t->known || !(t->pos_inf || t->neg_inf);
	}
	take_lines(s, &x, &run, f);
	firstnan_close(&run);
	fx_close(&x);
}
