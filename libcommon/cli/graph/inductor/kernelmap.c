/* kernelmap.c - the join. */
#include "graph/inductor/words.h"
#include "base/rows.h"
#include "graph/inductor/kernelmap_part.h"

#include "graph/fxcode.h"
#include "graph/inductor/fragment.h"

enum { MAX_TYPES = 64 }; /* of one call */

/* ---- rows ---- */

static uint32_t km_add_source(struct kernelmap *m, const struct srcloc *at)
{
	LOCAL_BUF key = {0};
	buf_addf(&key, "%.*s:%u:%.*s", SL(at->file), at->line, SL(at->func));
	uint32_t row = intern_add(&m->source_names, buf_slice(&key));
	if (row < m->n_source)
		return row;
	PUSH(m, source) = srcloc_copy(&m->arena, at);
	return row;
}

/* ---- the graph ---- */

static void node_text(struct kernelmap *m, uint32_t fx, struct kmnode *to)
{
	const struct graph *g = &m->graph;
	const struct gnode *n = &g->node[fx];
	struct buf b = {0};
	if (n->op == GRAPH_PLACEHOLDER) {
		buf_adds(&b, "placeholder");
	} else if (graph_is_getitem(g, fx) && n->n_args == 2) {
		fxcode_value(g, g->value[n->args], &b);
		buf_addc(&b, '[');
		fxcode_value(g, g->value[n->args + 1], &b);
		buf_addc(&b, ']');
	} else {
		buf_add_slice(&b, graph_text(g, n->target));
		buf_addc(&b, '(');
		for (uint32_t i = 0; i < n->n_args; i++) {
			buf_adds(&b, i ? ", " : "");
			fxcode_value(g, g->value[n->args + i], &b);
		}
		for (uint32_t i = 0; i < n->n_kwargs; i++) {
			buf_addf(&b, "%s%.*s = ", n->n_args || i ? ", " : "", SL(graph_text(g, g->value[n->kwargs + 2 * i].text)));
			fxcode_value(g, g->value[n->kwargs + 2 * i + 1], &b);
		}
		buf_addc(&b, ')');
	}
	to->text = arena_slice(&m->arena, buf_slice(&b));
	buf_reset(&b);
	if (n->meta != NONE)
		fxcode_meta(g, n->meta, &b);
	to->shape = arena_take(&m->arena, &b);
}

static void read_graph(struct kernelmap *m)
{
	struct err err;
	struct graph *g = &m->graph;
	LOCAL_BUF b = {0};
	struct slice text = m->in.graph, code = m->in.code.n ? m->in.code : m->in.wrapper;
	if (!text.n && fragment_graph(code, &b)) {
		text = buf_slice(&b);
		m->fragment = true;
	}
	if (!text.n)
		return;
	if (fxcode_read(g, text, m->fragment ? "the graph in the comments" : "the graph", &err) < 0) {
		snprintf(m->note, sizeof(m->note), "%.250s", err.text);
		m->fragment = false;
		return;
	}
	m->has_graph = true;
	for (uint32_t i = g->module[0].first, end = i + g->module[0].n; i < end; i++) {
		const struct gnode *n = &g->node[i];
		if (n->op == GRAPH_OUTPUT)
			continue;
		uint32_t row = km_add_node(m, graph_name(g, i));
		struct kmnode *to = &m->node[row];
		struct srcloc at;
		to->fx = i;
		to->compute = n->op != GRAPH_PLACEHOLDER && n->op != GRAPH_GET_ATTR;
		node_text(m, i, to);
		if (n->stack == NONE)
			continue;
		buf_reset(&b);
		struct slice stack = graph_text(g, n->stack);
		const char *file = slice_find(stack, "File: "), *line = slice_find(stack, ", code:");
		if (file && (!line || file < line)) /* "Annotation: {...} File: m.py:5 in f, code: ..." */
			stack = slice_of(file + 6, (size_t)(stack.p + stack.n - file) - 6);
		buf_addf(&b, "# File: %.*s", SL(stack));
		if (srcloc_parse(buf_slice(&b), &at))
			to->source = km_add_source(m, &at);
	}
}

/* ---- torch's own information ---- */

struct said {
	struct json_tape map, stacks;
	struct km_rows codes, stack; /* their members: of cppCodeToPost, of the stacks */
};

/* Counts how many times each name was used before. */
struct uses {
	struct intern name;
	uint32_t *count;
	uint32_t n, cap;
};

static uint32_t used_before(struct uses *uses, struct slice name)
{
	uint32_t row = intern_add(&uses->name, name);
	if (row == uses->n)
		PUSH_TO(uses->count, uses->n, uses->cap) = 0;
	return uses->count[row]++;
}

static void uses_release(struct uses *uses)
{
	intern_release(&uses->name);
	free(uses->count);
}

static struct slice nth_key(struct buf *b, struct slice name, uint32_t nth)
{
	buf_reset(b);
	buf_add_slice(b, name);
	buf_addc(b, 0); /* no key contains one */
	buf_add_u64(b, nth);
	return buf_slice(b);
}

static uint32_t parse(struct json_tape *t, struct slice text)
{
	uint32_t root;
	if (!text.n || text.n > UINT32_MAX / 2)
		return NONE;
	json_tape_text(t, text.p, text.n);
	if (json_parse(t, 0, text.n, &root) < 0 || !json_is(t, root, JSON_OBJECT))
		return NONE;
	return root;
}

/* Members by key; "NAME:HANDLE" also by NAME and ordinal. */
static void index_keys(struct km_rows *keys, const struct json_tape *t, uint32_t root)
{
	OWNED(uses_release) struct uses uses = {0};
	LOCAL_BUF b = {0};
	if (root == NONE)
		return;
	json_each_pair(t, root, k) {
		const struct slice key = json_slice(t, k);
		const char *colon = slice_rchr(key, ':');
		const struct slice name = slice_of(key.p, colon ? (size_t)(colon - key.p) : 0);
		km_rows_add(keys, key, k + 1);
		if (colon)
			km_rows_add(keys, nth_key(&b, name, used_before(&uses, name)), k + 1);
	}
}

/* The member for "NAME:HANDLE"; without a handle in the text, the one of NAME or the nth "NAME:...". */
static uint32_t member(const struct km_rows *keys, struct slice key, struct slice name, uint32_t nth)
{
	LOCAL_BUF b = {0};
	uint32_t at = km_rows_first(keys, key.n ? key : name);
	if (at == NONE && !key.n)
		at = km_rows_first(keys, nth_key(&b, name, nth));
	return at == NONE ? NONE : keys->entry[at].row;
}

static void take_names(struct kernelmap *m, struct kmlist *l, const struct json_tape *t, uint32_t list)
{
	json_each(t, list, k)
		if (json_is(t, k, JSON_STRING))
			km_list_add(m, l, km_add_node(m, json_slice(t, k)));
}

static void take_stacks(struct kernelmap *m, struct kmlist *l, const struct json_tape *t, uint32_t list)
{
	LOCAL_BUF text = {0};
	json_each(t, list, k) {
		struct srcloc at, last = {0};
		struct slice rest = json_text_at(t, k, &text);
		while (srcloc_next(&rest, &at)) /* the user's innermost frame */
			if (srcloc_is_user(at.file))
				last = at;
		if (last.line)
			km_list_add(m, l, km_add_source(m, &last));
	}
}

/* "float32[s77, 8]" of [["s77", 8], ...] and ["torch.float32", ...]. */
static void add_type(struct buf *b, const struct json_tape *t, uint32_t shape, uint32_t dtype)
{
	struct slice type = json_slice(t, dtype);
	size_t cut = slice_starts(type, "torch.") ? strlen("torch.") : 0;
	bool first = true;
	buf_add_slice(b, slice_of(type.p + cut, type.n - cut));
	json_each(t, shape, d) {
		buf_adds(b, first ? "[" : ", ");
		first = false;
		buf_add_slice(b, json_is(t, d, JSON_STRING) ? json_slice(t, d) : json_raw(t, d));
	}
	buf_adds(b, first ? "[]" : "]");
}

/* torch 2.15, torch/_inductor/debug.py, set_kernel_post_grad_provenance_tracing: for operators, not for kernels. */
static struct slice take_types(struct kernelmap *m, const struct json_tape *t, uint32_t about)
{
	uint32_t shapes = json_get(t, about, "input_shapes"), dtypes = json_get(t, about, "input_dtypes");
	uint32_t shape = json_get(t, about, "output_shape"), dtype = json_get(t, about, "output_dtype"), n = 0;
	struct buf b = {0};
	if (json_is(t, shapes, JSON_ARRAY) && json_is(t, dtypes, JSON_ARRAY))
		for (uint32_t s = json_first(t, shapes), d = json_first(t, dtypes);
		     s < json_end(t, shapes) && d < json_end(t, dtypes) && n < MAX_TYPES; s = json_next(t, s), d = json_next(t, d)) {
			buf_adds(&b, n++ ? ", " : "");
			add_type(&b, t, s, d);
		}
	if (json_is(t, shape, JSON_ARRAY) && dtype != NONE) {
		buf_adds(&b, n ? " -> " : "-> ");
		add_type(&b, t, shape, dtype);
	}
	return arena_take(&m->arena, &b);
}

/* ---- uses ---- */

static void list_names(struct kernelmap *m, struct kmlist *l, struct outlist names)
{
	for (uint32_t i = 0; i < names.n; i++)
		km_list_add(m, l, km_add_node(m, m->code.name[names.first + i]));
}

static void add_use(struct kernelmap *m, const struct said *said, struct uses *uses, uint32_t call)
{
	const struct outcall *c = &m->code.call[call];
	struct kmuse *u = &PUSH(m, use);
	*u = (struct kmuse){.name = c->name, .call = call, .kernel = c->kernel, .nth = used_before(uses, c->name)};
	km_list_begin(m, &u->fx);
	take_names(m, &u->fx, &said->map, member(&said->codes, c->notes.handle, c->name, u->nth));
	uint32_t stacks = member(&said->stack, c->notes.handle, c->name, u->nth);
	if (json_is(&said->stacks, stacks, JSON_OBJECT)) { /* kernel_information.json */
		take_names(m, &u->fx, &said->stacks, json_get(&said->stacks, stacks, "post_grad_nodes"));
		u->types = take_types(m, &said->stacks, stacks);
		stacks = json_get(&said->stacks, stacks, "stack_traces");
	}
	u->from |= u->fx.n ? KM_FROM_MAP : 0;
	uint32_t before = u->fx.n;
	list_names(m, &u->fx, c->notes.node);
	if (c->kernel != NONE)
		list_names(m, &u->fx, m->code.kernel[c->kernel].notes.node);
	u->from |= u->fx.n > before ? KM_FROM_COMMENT : 0;
	if (!u->fx.n && !m->has_graph) {
		list_names(m, &u->fx, c->notes.source);
		u->from |= u->fx.n ? KM_FROM_SOURCE : 0;
	}
	km_list_begin(m, &u->source);
	take_stacks(m, &u->source, &said->stacks, stacks);
}

/* ---- data flow ---- */

static const uint8_t *km_allowed(struct kernelmap *m, const struct kmuse *u)
{
	if (!u->from)
		return NULL;
	for (uint32_t i = 0; i < u->fx.n; i++) {
		uint32_t fx = m->node[m->item[u->fx.first + i]].fx;
		if (fx != NONE)
			m->index->allowed[fx / 8] |= (uint8_t)(1u << (fx % 8));
	}
	return m->index->allowed;
}

/* One bit per node of the graph that the use is known to come from, until km_allowed_end; NULL: unknown. */
static void km_allowed_end(struct kernelmap *m, const struct kmuse *u)
{
	for (uint32_t i = 0; i < u->fx.n; i++) {
		uint32_t fx = m->node[m->item[u->fx.first + i]].fx;
		if (fx != NONE)
			m->index->allowed[fx / 8] = 0;
	}
}

/* The buffers held by the parameters of a kernel at this call. */
static struct opseq_param *params_of(const struct kernelmap *m, const struct kmuse *u, const struct fxindex *x, uint32_t *n)
{
	const struct outkernel *k = &m->code.kernel[u->kernel];
	const struct outcall *c = &m->code.call[u->call];
	struct opseq_param *p = xcalloc(k->param.n + 1, sizeof(*p));
	*n = k->param.n;
	for (uint32_t i = 0; i < k->param.n; i++) {
		p[i].name = m->code.name[k->param.first + i];
		if (i >= c->arg.n)
			continue;
		p[i].stored = p[i].loaded = m->code.name[c->arg.first + i];
		/* In place: its content was written under another name, possibly through several. */
		bool found = !slice_starts(p[i].name, "in_out_ptr");
		for (uint32_t a = m->code.n_alias; !found && (a = outcode_alias(&m->code, p[i].loaded, a)) != NONE;) {
			p[i].loaded = m->code.alias[a].of;
			found = m->has_graph && fxindex_bound(x, p[i].loaded) != NONE;
		}
	}
	return p;
}

static void take_ir(struct kernelmap *m, const struct kmuse *u, const struct opseq *s, const struct opmatch *match)
{
	for (uint32_t i = 0; i < u->ir.n; i++) {
		uint32_t node = m->item[u->ir.first + i];
		struct kmlist *l = &m->ir_fx[node];
		for (uint32_t k = 0; k < s->n_op; k++)
			if (s->op[k].node == node && match[k].how != MATCH_NONE && s->op[k].kind != OP_LOAD && s->op[k].kind != OP_NOTE &&
			    s->op[k].kind != OP_ALIAS) {
				uint32_t row = km_row(m, match[k].fx);
				if (row != NONE && m->node[row].compute)
					km_list_add(m, l, row);
			}
	}
}

/* A line of code has at most one answer: that of its last matched operation; a store names its value. */
static void take_lines(struct kernelmap *m, struct kmuse *u, const struct opseq *s, const struct opmatch *match, const struct opseq *ir)
{
	struct slice text = m->code.kernel[u->kernel].text, line;
	uint32_t n = 0;
	while (slice_line(&text, &line))
		n++;
	GROW(m->line, m->n_line, m->cap_line, n);
	u->line = m->n_line;
	u->n_lines = n;
	for (uint32_t i = 0; i < n; i++)
		m->line[m->n_line++] = (struct kmline){.node = NONE, .ir_node = NONE, .kind = OP_NOTE};
	for (uint32_t i = 0; i < s->n_op; i++) {
		const struct seqop *o = &s->op[i];
		if (!o->line || o->line > n)
			continue;
		struct kmline *l = &m->line[u->line + o->line - 1];
		if (o->kind == OP_CONST && !o->result.n)
			continue;                                              /* a literal within the line */
		l->kind = o->kind == OP_LOAD && o->n_args ? OP_CALC : o->kind; /* a gather computes */
		l->value = o->result;
		l->node = km_row(m, match[i].fx);
		l->how = match[i].how;
		if (match[i].ir != NONE) {
			l->ir_node = ir->op[match[i].ir].node;
			l->ir_line = ir->op[match[i].ir].line;
		}
	}
}

/* Without a graph there are only names: an operation may be the one node of the kernel named after it ("sub_1" for a sub). */
static uint32_t find_by_name(const struct kernelmap *m, const struct kmuse *u, const struct seqop *o)
{
	uint32_t found = NONE;
	if ((o->kind != OP_CALC && o->kind != OP_REDUCE) || slice_is(o->name, "?"))
		return NONE;
	for (uint32_t i = 0; i < u->fx.n; i++) {
		struct slice name = m->node[m->item[u->fx.first + i]].name;
		while (name.n && is_digit(name.p[name.n - 1]))
			name.n--;
		if (name.n > 1 && name.p[name.n - 1] == '_')
			name.n--;
		if (!slice_eq(op_canonical(name), o->name))
			continue;
		if (found != NONE)
			return NONE;
		found = m->item[u->fx.first + i];
	}
	return found;
}

static void guess_lines(struct kernelmap *m, const struct kmuse *u, const struct opseq *s)
{
	for (uint32_t i = 0; i < s->n_op; i++) {
		uint32_t row = find_by_name(m, u, &s->op[i]);
		struct kmline *l = s->op[i].line && s->op[i].line <= u->n_lines ? &m->line[u->line + s->op[i].line - 1] : NULL;
		if (!l || row == NONE || !s->op[i].result.n)
			continue;
		l->node = row;
		l->how = MATCH_GUESS;
	}
}

/* "relu" of torch.ops.aten.relu.default. */
static struct slice op_of(const struct kernelmap *m, uint32_t fx)
{
	struct slice target = graph_text(&m->graph, m->graph.node[fx].target);
	for (int parts = 0; parts < 3; parts++) { /* torch.ops.aten. */
		const char *dot = slice_chr(target, '.');
		if (!dot)
			return slice_of(NULL, 0);
		target = after(target, (size_t)(dot + 1 - target.p));
	}
	const char *dot = slice_chr(target, '.');
	return dot ? slice_of(target.p, (size_t)(dot - target.p)) : target;
}

/* Does "cpp_fused_add_relu_0" name this operation, between underscores? */
static bool names(struct slice kernel, struct slice op)
{
	struct slice rest = kernel;
	for (const char *at; op.n && (at = memmem(rest.p, rest.n, op.p, op.n)); rest = after(rest, (size_t)(at + 1 - rest.p)))
		if (at > kernel.p && at[-1] == '_' && at + op.n < kernel.p + kernel.n && at[op.n] == '_')
			return true;
	return false;
}

static void index_operations(struct kernelmap *m)
{
	const struct gmodule *root = &m->graph.module[0];
	m->index->has_operations = true;
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if (graph_computes(&m->graph.node[i]) && op_of(m, i).n)
			km_rows_add(&m->index->operations, op_of(m, i), i);
}

/* Nodes whose operation is in the kernel's name; not if another node has the same operation. */
static void from_name(struct kernelmap *m, struct kmuse *u)
{
	struct km_rows *ops = &m->index->operations;
	if (!m->index->has_operations)
		index_operations(m);
	for (uint32_t i = 0; i < ops->name.n; i++) {
		const struct slice op = intern_get(&ops->name, i);
		const uint32_t at = km_rows_first(ops, op);
		if (ops->entry[at].next == NONE && names(u->name, op))
			km_list_add(m, &u->fx, km_row(m, ops->entry[at].row));
	}
	u->from |= u->fx.n ? KM_FROM_NAME : 0;
}

/* The only statement of unknown form may be the one node that no other line matches. */
static void guess_rest(struct kernelmap *m, const struct kmuse *u, const struct opseq *s)
{
	uint32_t row = NONE, line = 0;
	for (uint32_t i = 0; i < u->fx.n; i++) {
		bool taken = false;
		for (uint32_t k = 0; k < u->n_lines; k++)
			taken |= m->line[u->line + k].node == m->item[u->fx.first + i];
		if (!taken && row != NONE)
			return;
		row = taken ? row : m->item[u->fx.first + i];
	}
	for (uint32_t i = 0; i < s->n_op; i++) {
		const struct seqop *o = &s->op[i];
		if (o->kind != OP_CALC || !slice_is(o->name, "?") || !o->line || o->line > u->n_lines)
			continue;
		if (line && line != o->line)
			return;
		line = o->line;
	}
	if (row == NONE || !line || m->line[u->line + line - 1].node != NONE)
		return;
	m->line[u->line + line - 1].node = row;
	m->line[u->line + line - 1].how = MATCH_GUESS;
}

static void flow(struct kernelmap *m, struct kmuse *u, struct fxindex *x)
{
	OWNED(opseq_release) struct opseq ir = {0}, body = {0};
	uint32_t n_params, before = u->fx.n;
	if (m->n_line > KERNELMAP_LINES) /* a kernel may be called any number of times */
		return;
	const uint8_t *allowed = m->has_graph ? km_allowed(m, u) : NULL;
	FREED struct opseq_param *p = params_of(m, u, x, &n_params);
	struct outkernel *k = &m->code.kernel[u->kernel];
	for (uint32_t i = 0; i < u->ir.n; i++)
		opseq_add_ir(&ir, m->ir, m->item[u->ir.first + i]);
	opseq_add_kernel(&body, k->text, k->lang, p, n_params);
	FREED struct opmatch *im = xcalloc(ir.n_op + 1, sizeof(*im)), *bm = xcalloc(body.n_op + 1, sizeof(*bm));
	for (uint32_t i = 0; i < body.n_op; i++)
		bm[i] = (struct opmatch){NONE, MATCH_NONE, NONE};
	if (m->has_graph) {
		opmatch_fx(im, &ir, x, allowed);
		opmatch_fx(bm, &body, x, allowed);
	}
	if (allowed)
		km_allowed_end(m, u);
	opmatch_ir(bm, &body, &ir, &m->code);
	for (uint32_t i = 0; i < body.n_op && m->has_graph; i++) { /* the IR knows better which node a step belongs to */
		const struct opmatch *of = bm[i].ir == NONE ? NULL : &im[bm[i].ir];
		if (of && of->how != MATCH_NONE && bm[i].how != MATCH_SAME && body.op[i].kind != OP_CONST) {
			bm[i].fx = of->fx;
			bm[i].how = of->how;
		}
	}
	if (m->has_graph) {
		take_ir(m, u, &ir, im);
		for (uint32_t i = 0; i < body.n_op && !u->from; i++)
			if (bm[i].how != MATCH_NONE && body.op[i].kind != OP_LOAD && body.op[i].kind != OP_ALIAS &&
			    body.op[i].kind != OP_NOTE) {
				uint32_t row = km_row(m, bm[i].fx);
				if (m->node[row].compute)
					km_list_add(m, &u->fx, row);
			}
		for (uint32_t i = 0; i < u->ir.n && !u->from; i++) {
			struct kmlist l = m->ir_fx[m->item[u->ir.first + i]];
			for (uint32_t j = 0; j < l.n; j++)
				km_list_add(m, &u->fx, m->item[l.first + j]);
		}
	}
	u->from |= u->fx.n > before ? KM_FROM_FLOW : 0;
	take_lines(m, u, &body, bm, &ir);
	if (m->has_graph && !u->from)
		from_name(m, u);
	if (!m->has_graph || u->from == KM_FROM_NAME)
		guess_lines(m, u, &body);
	if (u->from == KM_FROM_NAME)
		guess_rest(m, u, &body);
}

/* ---- the whole map ---- */

static void sources_of_nodes(struct kernelmap *m, struct kmuse *u)
{
	bool user = false;
	for (uint32_t i = 0; i < u->source.n; i++)
		user |= srcloc_is_user(m->source[m->item[u->source.first + i]].file);
	for (uint32_t i = 0; i < u->fx.n; i++) {
		uint32_t at = m->node[m->item[u->fx.first + i]].source;
		user |= at != NONE && srcloc_is_user(m->source[at].file);
	}
	/* Lines of torch's own modules only if there are none of the user's. */
	for (uint32_t i = 0; i < u->fx.n; i++) {
		const struct kmnode *n = &m->node[m->item[u->fx.first + i]];
		if (n->source != NONE && n->compute && (!user || srcloc_is_user(m->source[n->source].file)))
			km_list_add(m, &u->source, n->source);
	}
}

static int by_graph(const void *a, const void *b, void *user)
{
	const struct kernelmap *m = user;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b, i = m->node[x].fx, j = m->node[y].fx;
	return i != j ? (i > j) - (i < j) : (x > y) - (x < y);
}

static int by_place(const void *a, const void *b, void *user)
{
	const struct kernelmap *m = user;
	return srcloc_cmp(&m->source[*(const uint32_t *)a], &m->source[*(const uint32_t *)b]);
}

static void sort_list(struct kernelmap *m, struct kmlist l, int (*order)(const void *, const void *, void *))
{
	if (l.n)
		qsort_r(&m->item[l.first], l.n, sizeof(*m->item), order, m);
}

void kernelmap_build(struct kernelmap *m, const struct kernelmap_input *in)
{
	struct said said = {0};
	OWNED(fxindex_release) struct fxindex x = {0};
	struct err err;
	struct km_index index = {0};
	*m = (struct kernelmap){.in = *in, .index = &index};
	read_graph(m);
	if (in->wrapper.n) {
		if (outcode_read_cpp(&m->code, in->wrapper, in->kernels, &err) < 0)
			snprintf(m->note, sizeof(m->note), "%.250s", err.text);
	} else {
		outcode_read(&m->code, in->code);
	}
	irtext_read(&m->pre, in->ir_pre);
	irtext_read(&m->post, in->ir_post);
	m->ir = m->post.n_node ? &m->post : m->pre.n_node ? &m->pre : NULL;
	m->ir_fx = xcalloc((m->ir ? m->ir->n_node : 0) + 1, sizeof(*m->ir_fx));
	m->taken = xcalloc((m->ir ? m->ir->n_node : 0) + 1, sizeof(*m->taken));
	uint32_t codes = json_get_as(&said.map, parse(&said.map, in->mappings), "cppCodeToPost", JSON_OBJECT);
	if (codes != NONE)
		index_keys(&said.codes, &said.map, codes);
	index_keys(&said.stack, &said.stacks, parse(&said.stacks, in->stacks));
	index.allowed = xcalloc((m->has_graph ? m->graph.n_nodes : 0) / 8 + 1, 1);
	km_index_ir(m);
	if (m->has_graph) {
		fxindex_init(&x, &m->graph);
		km_bind_inputs(m, &x);
		km_bind_results(m, &x);
	}
	OWNED(uses_release) struct uses uses = {0};
	for (uint32_t i = 0; i < m->code.n_call; i++)
		add_use(m, &said, &uses, i);
	for (uint32_t i = 0; i < m->n_use; i++) {
		struct kmuse *u = &m->use[i];
		km_join_ir(m, u);
		km_from_log(m, u);
		if (u->kernel != NONE)
			flow(m, u, &x);
		else if (m->has_graph)
			km_operator(m, u, &x);
		sources_of_nodes(m, u);
		sort_list(m, u->fx, by_graph);
		sort_list(m, u->source, by_place);
	}
	for (uint32_t i = 0; m->ir && i < m->ir->n_node; i++)
		sort_list(m, m->ir_fx[i], by_graph);
	json_tape_release(&said.map);
	json_tape_release(&said.stacks);
	km_rows_release(&said.codes);
	km_rows_release(&said.stack);
	km_index_release(&index);
	m->index = NULL;
}

struct slice kernelmap_text(const struct kernelmap *m, const struct kmuse *u)
{
	return u->kernel == NONE ? SLICE("") : m->code.kernel[u->kernel].text;
}

void kernelmap_release(struct kernelmap *m)
{
	outcode_release(&m->code);
	irtext_release(&m->pre);
	irtext_release(&m->post);
	if (m->has_graph)
		graph_release(&m->graph);
	free(m->node);
	free(m->source);
	free(m->use);
	free(m->line);
	free(m->ir_fx);
	free(m->taken);
	free(m->item);
	intern_release(&m->node_names);
	intern_release(&m->source_names);
	arena_release(&m->arena);
	*m = (struct kernelmap){0};
}
