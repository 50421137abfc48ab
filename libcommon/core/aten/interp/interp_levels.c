/* interp_levels.c - which lanes of torch.vmap each node of a graph has: a bit for each level (interp_vmap.c). */
#include "aten/interp/interp_part.h"

#define PREDISPATCH "torch._functorch.predispatch."

struct levels {
	const struct graph *g;
	uint32_t *of, all;
	unsigned depth;
};

static bool join_levels(void *user, uint32_t operand)
{
	struct levels *l = user;
	l->all |= l->of[operand];
	return true;
}

static uint32_t levels_of(const struct levels *l, const struct gvalue *v) { return v->kind == GV_NODE ? l->of[v->node] : 0; }

/* ---- regions whose body is a module that this one calls, once ---- */

/* Where its body is among the operands, and where the body's operands begin. */
static bool region(struct slice target, uint32_t *body, uint32_t *from)
{
	const struct slice name = interp_without(target, "torch.ops.higher_order.");
	if (slice_is(name, "wrap_with_set_grad_enabled"))
		return *body = 1, *from = 2, true;
	if (slice_is(name, "wrap_with_autocast"))
		return *body = 4, *from = 5, true;
	return false;
}

bool interp_vmap_region(struct slice target)
{
	uint32_t body, from;
	return region(target, &body, &from);
}

static uint32_t body_of(const struct graph *g, const struct gnode *n, uint32_t at)
{
	const struct gvalue v = at < n->n_args ? g->value[n->args + at] : (struct gvalue){0};
	return v.kind == GV_NODE && g->node[v.node].op == GRAPH_GET_ATTR ? graph_child(g, n->module, graph_text(g, g->node[v.node].target))
									 : NONE;
}

static void module_levels(struct levels *l, uint32_t module);

static void enter_region(struct levels *l, const struct gnode *n, uint32_t body, uint32_t from)
{
	const struct graph *g = l->g;
	const uint32_t module = body_of(g, n, body);
	if (module == NONE || l->depth == INTERP_DEPTH)
		return;
	const struct gmodule *m = &g->module[module];
	for (uint32_t i = 0; i < m->n && g->node[m->first + i].op == GRAPH_PLACEHOLDER && from < n->n_args; i++, from++)
		l->of[m->first + i] = levels_of(l, &g->value[n->args + from]);
	l->depth++;
	module_levels(l, module);
	l->depth--;
}

/* The operand of a node's list that a getitem takes; NULL: it has no such list. */
static const struct gvalue *item_of(const struct graph *g, const struct gvalue *list, int64_t i)
{
	const bool is_list = list->kind == GV_LIST || list->kind == GV_TUPLE;
	return is_list && i >= 0 && i < list->n ? &g->value[list->first + i] : !is_list && !i ? list : NULL;
}

/* What a getitem of a region, or of the values after a write, takes: that has its own levels. */
static const struct gvalue *taken(const struct graph *g, const struct gnode *n)
{
	const struct gvalue *from = &g->value[n->args], *at = from + 1;
	if (n->n_args != 2 || from->kind != GV_NODE || at->kind != GV_INT)
		return NULL;
	const struct gnode *list = &g->node[from->node];
	uint32_t body, first, module;
	if (slice_is(graph_text(g, list->target), "pt2.after") && list->n_args == 4)
		return at->i ? item_of(g, &g->value[list->args + 2], at->i - 1) : &g->value[list->args];
	if (!region(graph_text(g, list->target), &body, &first) || (module = body_of(g, list, body)) == NONE)
		return NULL;
	const struct gnode *out = &g->node[g->module[module].first + g->module[module].n - 1];
	return out->n_args ? item_of(g, &g->value[out->args], at->i) : NULL;
}

/* ---- all nodes ---- */

static uint32_t node_levels(struct levels *l, uint32_t node)
{
	const struct graph *g = l->g;
	const struct gnode *n = &g->node[node];
	if (n->op == GRAPH_PLACEHOLDER)
		return l->of[node];
	const enum vmap_call call = n->op == GRAPH_CALL_FUNCTION ? interp_vmap_call(graph_text(g, n->target)) : VMAP_NONE;
	uint32_t body, from;
	const struct gvalue *item = graph_is_getitem(g, node) ? taken(g, n) : NULL;
	if (item)
		return levels_of(l, item);
	l->all = 0;
	if (call != VMAP_NOTHING && n->op != GRAPH_OUTPUT)
		graph_operands(g, node, join_levels, l);
	const uint32_t all = l->all;
	if (all && n->op == GRAPH_CALL_FUNCTION && region(graph_text(g, n->target), &body, &from))
		enter_region(l, n, body, from);
	return call == VMAP_ADD ? all | interp_level_bit(g, n, 2) : call == VMAP_REMOVE ? all & ~interp_level_bit(g, n, 1) : all;
}

static void module_levels(struct levels *l, uint32_t module)
{
	const struct gmodule *m = &l->g->module[module];
	for (uint32_t i = m->first; i < m->first + m->n; i++)
		l->of[i] = node_levels(l, i);
}

uint32_t *interp_levels(const struct graph *g)
{
	if (intern_find(&g->text, SLICE(PREDISPATCH "_add_batch_dim")) == NONE &&
	    intern_find(&g->text, SLICE("torch.ops.higher_order.flex_attention")) == NONE)
		return NULL;
	struct levels l = {.g = g, .of = xcalloc(g->n_nodes + 1, sizeof(*l.of))};
	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (interp_is_flex(g, i))
			interp_flex_levels(g, i, l.of);
	for (uint32_t m = 0; m < g->n_modules; m++) /* a body comes after the module that calls it */
		module_levels(&l, m);
	return l.of;
}
