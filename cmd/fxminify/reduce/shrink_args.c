/* shrink_args.c - arguments and constants of the operations, in the root and in subgraphs. */
#include "reduce/shrink.h"

/* ---- arguments: kind 0 the last positional one of node a, 1 its b-th keyword ---- */

static void list_arguments(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	const struct graph *g = &best->graph;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct gnode *n = &g->node[i];
		if (!graph_computes(n) || graph_is_getitem(g, i))
			continue;
		for (uint32_t k = 0; k < n->n_kwargs; k++)
			edits_add(e, (struct edit){.kind = 1, .a = i, .b = k});
		/* A node as an operand is what the operation works on; a list, a number or None may be a default. */
		if (n->n_args > 1 && g->value[n->args + n->n_args - 1].kind != GV_NODE)
			edits_add(e, (struct edit){.kind = 0, .a = i});
	}
}

static bool apply_arguments(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	struct graph *g = &c->graph;
	struct gnode *n = &g->node[e->a];
	if (e->kind == 0) {
		n->n_args--;
	} else {
		struct gvalue *v = &g->value[n->kwargs + 2 * e->b];
		memmove(v, v + 2, (n->n_kwargs - e->b - 1) * 2 * sizeof(*v));
		n->n_kwargs--;
	}
	struct err err;
	return graph_finish(g, &err) == 0;
}

const struct shrinker shrink_arguments = {"arguments", "Drop arguments", list_arguments, apply_arguments, "dropped", NULL};

/* ---- constants: value a becomes `to` ---- */

static bool is_smaller(struct gvalue v, int64_t to)
{
	if (v.kind == GV_FLOAT)
		return v.f != 0 && v.f != (double)to; /* 0 is the end; 1 may become 0 */
	return v.kind == GV_INT && v.i != 0 && v.i != to && (to == 0 || v.i > 1 || v.i < -1);
}

/* Marks the values of value[] that are operands of nodes: the table may have others that are no longer used. */
static void mark_operands(const struct graph *g, uint32_t first, uint32_t n, uint8_t *used)
{
	for (uint32_t i = first; i < first + n; i++) {
		used[i] = 1;
		if (gvalue_has_children(g->value[i]))
			mark_operands(g, g->value[i].first, g->value[i].n, used);
	}
}

static void list_constants(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	const struct graph *g = &best->graph;
	FREED uint8_t *used = xcalloc(g->n_values ? g->n_values : 1, 1);
	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (graph_computes(&g->node[i]) && !graph_is_getitem(g, i)) {
			mark_operands(g, g->node[i].args, g->node[i].n_args, used);
			for (uint32_t k = 0; k < g->node[i].n_kwargs; k++)
				mark_operands(g, g->node[i].kwargs + 2 * k + 1, 1, used);
		}
	for (uint32_t i = 0; i < g->n_values; i++)
		for (int64_t to = 0; to <= 1; to++)
			if (used[i] && is_smaller(g->value[i], to))
				edits_add(e, (struct edit){.a = i, .to = to});
}

static bool apply_constants(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	struct gvalue *v = &c->graph.value[e->a];
	if (v->kind == GV_FLOAT)
		v->f = (double)e->to;
	else
		v->i = e->to;
	candidate_forget_meta(c);
	return true;
}

const struct shrinker shrink_constants = {"constants", "Simplify constants", list_constants, apply_constants, "made 0 or 1", NULL};
