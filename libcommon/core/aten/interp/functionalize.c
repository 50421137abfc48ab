#include "aten/interp/functionalize.h"

#include "aten/interp/interp_part.h"

/* ---- what operators do to memory ---- */

/* "aten.add_.Tensor" -> "add_" */
static struct slice bare_op(const struct graph *g, uint32_t node)
{
	struct slice op = graph_op_text(g, node);
	if (!slice_starts(op, "aten."))
		return (struct slice){0};
	op = slice_of(op.p + 5, op.n - 5);
	const char *dot = slice_chr(op, '.');
	return dot ? slice_of(op.p, (size_t)(dot - op.p)) : op;
}

static bool one_of(struct slice name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(name, list[i]))
			return true;
	return false;
}

/* In training these change their running statistics: as operators of their own (torch 2.15, native_functions.yaml has no (a!) for them). */
static bool keeps_statistics(const struct graph *g, uint32_t node, struct slice op)
{
	static const char *const ops[] = {"batch_norm", "native_batch_norm", "_native_batch_norm_legit"};
	const struct gnode *n = &g->node[node];
	return one_of(op, ops, ARRAY_LEN(ops)) && n->n_args > 5 && g->value[n->args + 5].kind == GV_BOOL && g->value[n->args + 5].i;
}

uint32_t functional_written(const struct graph *g, uint32_t node, uint32_t *operand)
{
	const struct gnode *n = &g->node[node];
	const struct slice op = n->op == GRAPH_CALL_FUNCTION ? bare_op(g, node) : (struct slice){0};
	uint32_t count = 0;
	if (op.n > 1 && op.p[op.n - 1] == '_' && op.p[op.n - 2] != '_' && !slice_is(op, "detach_")) /* and not __and__ */
		operand[count++] = 0;
	if (keeps_statistics(g, node, op))
		for (uint32_t i = 3; i < 5; i++)
			if (g->value[n->args + i].kind == GV_NODE)
				operand[count++] = i;
	return count && (operand[0] >= n->n_args || g->value[n->args + operand[0]].kind != GV_NODE) ? 0 : count;
}

/* Operators that may return an operand or a view of it, without saying so in their schema. */
static bool aliases_silently(struct slice op)
{
	static const char *const ops[] = {"_unsafe_view",    "alpha_dropout", "broadcast_tensors", "dropout",      "einsum",
					  "feature_dropout", "meshgrid",      "type_as",           "unsafe_chunk", "unsafe_split"};
	return one_of(op, ops, ARRAY_LEN(ops));
}

enum sharing { SHARES_NOTHING, SHARES_AS_VIEW, SHARES_SOMEHOW };

/* Does a node's value share memory with its operands? A view can be recreated over other ones. */
static enum sharing sharing(const struct graph *g, uint32_t node)
{
	const struct gnode *n = &g->node[node];
	struct aten_op op;
	struct err ignored;
	if (n->op != GRAPH_CALL_FUNCTION)
		return SHARES_NOTHING;
	if (graph_is_getitem(g, node) || aliases_silently(bare_op(g, node)) || interp_vmap_has(graph_text(g, n->target)))
		return SHARES_AS_VIEW;
	if (slice_starts(graph_text(g, n->target), "torch.ops.higher_order."))
		return SHARES_SOMEHOW;
	if (!slice_starts(graph_text(g, n->target), "torch.ops.") || aten_find(&op, graph_text(g, n->target), &ignored) < 0)
		return SHARES_NOTHING;
	bool view = false;
	for (uint32_t i = 0; i < op.parsed.n_result; i++)
		view |= op.parsed.result[i].aliased;
	aten_op_release(&op);
	return view ? SHARES_AS_VIEW : SHARES_NOTHING;
}

/* ---- the pass ---- */

struct pass {
	const struct graph *from;
	struct graph *to;
	struct functionalized *f;
	size_t cap;
	/* For each node of `from`, the node of `to` with its current value, and the one with its memory layout. */
	uint32_t *now, *where;
	uint32_t *group;      /* of values that may share memory: union-find */
	uint32_t *last_write; /* of a group, by its root: the last node that writes to it; 0: none */
	uint8_t *sharing;
};

static uint32_t group_of(struct pass *p, uint32_t node)
{
	while (p->group[node] != node)
		node = p->group[node] = p->group[p->group[node]];
	return node;
}

struct joined {
	struct pass *p;
	uint32_t node;
};

static bool join(void *user, uint32_t operand)
{
	struct joined *j = user;
	j->p->group[group_of(j->p, operand)] = group_of(j->p, j->node);
	return true;
}

static uint32_t operand_node(const struct graph *g, uint32_t node, uint32_t at) { return g->value[g->node[node].args + at].node; }

static void find_groups(struct pass *p, const struct gmodule *m)
{
	uint32_t written[FUNCTIONAL_WRITTEN];
	for (uint32_t i = m->first; i < m->first + m->n; i++) {
		struct joined j = {p, i};
		p->group[i] = i;
		p->sharing[i] = (uint8_t)sharing(p->from, i);
		if (p->sharing[i] != SHARES_NOTHING)
			graph_operands(p->from, i, join, &j);
		if (functional_written(p->from, i, written) && written[0] == 0) /* in place: it returns self */
			join(&j, operand_node(p->from, i, 0));
	}
	for (uint32_t i = m->first; i < m->first + m->n; i++)
		for (uint32_t n = functional_written(p->from, i, written); n-- > 0;)
			p->last_write[group_of(p, operand_node(p->from, i, written[n]))] = i;
}

/* ---- nodes ---- */

static void note(struct pass *p, uint32_t id, uint32_t of, enum functional_kind kind)
{
	struct functionalized *f = p->f;
	if (id >= p->cap)
		f->node = xreallocarray(f->node, p->cap = 2 * p->cap + id + 64, sizeof(*f->node));
	f->node[id] = (struct functional_node){of, kind};
}

/* "cache_after_copy_", unused by any node of the module. */
static void name_node(struct pass *p, uint32_t id, uint32_t of, const char *tail, struct slice more)
{
	LOCAL_BUF b = {0};
	buf_addf(&b, "%.*s_%s%.*s", SL(graph_name(p->from, of)), tail, SL(more));
	while (graph_find(p->from, p->from->node[of].module, buf_slice(&b)) != NONE)
		buf_addf(&b, "_");
	p->to->node[id].name = graph_intern(p->to, buf_slice(&b));
}

/* A new node: its value is that of `of` after `at`. */
static uint32_t add_node(struct pass *p, uint32_t m, uint32_t of, uint32_t at, const char *target, const struct gvalue *args, size_t n)
{
	const uint32_t id = graph_add_node(p->to, m, GRAPH_CALL_FUNCTION, SLICE(""), slice_str(target));
	graph_set_args(p->to, id, args, n);
	p->to->node[id].stack = graph_copy_text(p->to, p->from, p->from->node[at].stack);
	name_node(p, id, of, "after_", graph_name(p->from, at));
	return id;
}

static uint32_t add_item(struct pass *p, uint32_t m, uint32_t of, uint32_t at, uint32_t list, uint32_t i)
{
	const struct gvalue args[] = {graph_node_value(list), graph_int_value(i)};
	const uint32_t id = add_node(p, m, of, at, "_operator.getitem", args, 2);
	p->to->node[id].meta = graph_copy_meta(p->to, p->from, p->from->node[of].meta);
	return id;
}

/* ---- a write ---- */

/* Values other than x that may share its memory, and must be known after `at`. */
struct others {
	struct gvalue *alive, *held; /* their positions; held: inputs of a subgraph */
	uint32_t *node;              /* of alive */
	size_t n, n_held;
};

static bool used_later(const struct pass *p, uint32_t node, uint32_t at)
{
	const struct graph *g = p->from;
	const uint32_t end = g->user_of[node + 1];
	return (end > g->user_of[node] && g->user[end - 1] > at) || (g->node[node].op == GRAPH_PLACEHOLDER && g->node[node].module == 0);
}

static void find_others(struct pass *p, uint32_t x, uint32_t at, struct others *o)
{
	const struct graph *g = p->from;
	const uint32_t first = g->module[g->node[at].module].first, group = group_of(p, x);
	*o = (struct others){.alive = xcalloc(at - first + 1, sizeof(*o->alive)),
			     .held = xcalloc(at - first + 1, sizeof(*o->held)),
			     .node = xcalloc(at - first + 1, sizeof(*o->node))};
	for (uint32_t i = first; i < at; i++) {
		if (group_of(p, i) != group)
			continue;
		if (g->node[i].op == GRAPH_PLACEHOLDER && g->node[i].module != 0)
			o->held[o->n_held++] = graph_node_value(p->where[i]);
		if (i != x && used_later(p, i, at)) {
			o->node[o->n] = i;
			o->alive[o->n++] = graph_node_value(p->where[i]);
		}
	}
}

/* From `at` on, x has the value of `id`, and values that share its memory change, too. */
static void write_to(struct pass *p, uint32_t m, uint32_t x, uint32_t at, uint32_t id)
{
	struct others o;
	find_others(p, x, at, &o);
	uint32_t place = id;
	if (o.n || o.n_held) {
		const struct gvalue args[] = {graph_node_value(p->where[x]), graph_node_value(id),
					      graph_sequence(p->to, GV_LIST, o.alive, o.n),
					      graph_sequence(p->to, GV_LIST, o.held, o.n_held)};
		const uint32_t list = add_node(p, m, at, at, "pt2.after", args, 4);
		name_node(p, list, at, "writes", (struct slice){0});
		note(p, list, at, FUNCTIONAL_PART);
		place = add_item(p, m, x, at, list, 0);
		name_node(p, place, x, "layout_after_", graph_name(p->from, at));
		note(p, place, x, FUNCTIONAL_PART);
		for (size_t i = 0; i < o.n; i++) {
			const uint32_t item = add_item(p, m, o.node[i], at, list, (uint32_t)i + 1);
			note(p, item, o.node[i], FUNCTIONAL_AFTER);
			p->now[o.node[i]] = p->where[o.node[i]] = item;
		}
	}
	p->now[x] = id;
	p->where[x] = place;
	free(o.alive);
	free(o.held);
	free(o.node);
}

/* Operand k, which a node writes to besides returning something else, as a value. */
static uint32_t written_operand(struct pass *p, uint32_t m, uint32_t at, uint32_t k)
{
	const struct gnode *n = &p->from->node[at];
	FREED struct gvalue *args = xcalloc(n->n_args + 2, sizeof(*args));
	args[0] = graph_text_value(p->to, GV_STR, graph_text(p->from, n->target));
	args[1] = graph_int_value(k);
	for (uint32_t i = 0; i < n->n_args; i++)
		args[2 + i] = graph_copy_value(p->to, p->from, p->from->value[n->args + i], p->now);
	const uint32_t x = operand_node(p->from, at, k), id = add_node(p, m, x, at, "pt2.operand", args, n->n_args + 2);
	p->to->node[id].meta = graph_copy_meta(p->to, p->from, p->from->node[x].meta);
	note(p, id, x, FUNCTIONAL_AFTER);
	return id;
}

static void copy_node(struct pass *p, uint32_t m, uint32_t i)
{
	uint32_t written[FUNCTIONAL_WRITTEN], value[FUNCTIONAL_WRITTEN];
	const uint32_t n = functional_written(p->from, i, written), id = graph_copy_node(p->to, m, p->from, i, p->now);
	note(p, id, i, FUNCTIONAL_NODE);
	p->now[i] = p->where[i] = id;
	if (!n && p->sharing[i] == SHARES_AS_VIEW && p->last_write[group_of(p, i)] > i) {
		p->where[i] = graph_copy_node(p->to, m, p->from, i, p->where);
		name_node(p, p->where[i], i, "layout", (struct slice){0});
		note(p, p->where[i], i, FUNCTIONAL_PART);
	}
	for (uint32_t k = 0; k < n; k++) /* before the first write: they are computed from the same values */
		value[k] = written[0] == 0 ? id : written_operand(p, m, i, written[k]);
	for (uint32_t k = 0; k < n; k++)
		write_to(p, m, operand_node(p->from, i, written[k]), i, value[k]);
	if (n && written[0] == 0)
		p->where[i] = p->where[operand_node(p->from, i, 0)];
}

static void copy_module(struct pass *p, uint32_t module)
{
	const struct gmodule *o = &p->from->module[module];
	const uint32_t m = graph_add_module(p->to, o->parent, graph_text(p->from, o->name), graph_text(p->from, o->class_name));
	graph_copy_attrs(p->to, m, p->from, module);
	find_groups(p, o);
	for (uint32_t i = o->first; i < o->first + o->n; i++)
		copy_node(p, m, i);
}

static void find_after(struct pass *p)
{
	const struct gmodule *root = &p->from->module[0];
	struct functionalized *f = p->f;
	f->after = xcalloc(root->n + 1, sizeof(*f->after));
	for (uint32_t i = root->first; i < root->first + root->n && p->from->node[i].op == GRAPH_PLACEHOLDER; i++)
		f->after[f->n_placeholders++] = p->now[i];
}

int functionalize(const struct graph *g, struct functionalized *f, struct err *err)
{
	*f = (struct functionalized){0};
	if (!interp_writes(g))
		return 0;
	struct pass p = {.from = g, .to = &f->graph, .f = f};
	uint32_t **of_nodes[] = {&p.now, &p.where, &p.group, &p.last_write};
	for (size_t i = 0; i < ARRAY_LEN(of_nodes); i++)
		*of_nodes[i] = xcalloc(g->n_nodes + 1, sizeof(uint32_t));
	p.sharing = xcalloc(g->n_nodes + 1, sizeof(*p.sharing));
	for (uint32_t m = 0; m < g->n_modules; m++)
		copy_module(&p, m);
	find_after(&p);
	for (size_t i = 0; i < ARRAY_LEN(of_nodes); i++)
		free(*of_nodes[i]);
	free(p.sharing);
	f->graph.functional = true;
	if (graph_finish(&f->graph, err) == 0)
		return 0;
	functionalized_release(f);
	return -1;
}

void functionalized_release(struct functionalized *f)
{
	graph_release(&f->graph);
	free(f->node);
	free(f->after);
	*f = (struct functionalized){0};
}

bool interp_writes(const struct graph *g)
{
	uint32_t ignored[FUNCTIONAL_WRITTEN];
	bool writes = false;
	for (uint32_t i = 0; i < g->n_nodes && !writes && !g->functional; i++)
		writes = functional_written(g, i, ignored) != 0;
	return writes;
}
