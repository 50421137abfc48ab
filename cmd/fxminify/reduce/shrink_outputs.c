/* shrink_outputs.c - outputs of the original that are not needed: values that are used elsewhere, inputs, a value returned twice, None. A
 * value that is not used elsewhere stays: without it its operations would be dead code. */
#include "reduce/shrink.h"

/* The returned values as a flat list: slice_build writes it so, and torch does after AOT. {0}: a different form. */
static struct gvalue returned(const struct graph *g)
{
	const struct gmodule *root = &g->module[0];
	if (root->output == NONE || g->node[root->output].n_args != 1)
		return (struct gvalue){0};
	struct gvalue v = g->value[g->node[root->output].args];
	for (uint32_t k = 0; gvalue_has_children(v) && k < v.n; k++)
		if (gvalue_has_children(g->value[v.first + k]))
			return (struct gvalue){0};
	return v.kind == GV_TUPLE || v.kind == GV_LIST ? v : (struct gvalue){0};
}

static bool is_earlier(const struct graph *g, struct gvalue list, uint32_t k)
{
	for (uint32_t i = 0; i < k; i++)
		if (g->value[list.first + i].kind == GV_NODE && g->value[list.first + i].node == g->value[list.first + k].node)
			return true;
	return false;
}

static bool may_go(const struct graph *g, struct gvalue list, uint32_t k)
{
	struct gvalue v = g->value[list.first + k];
	if (v.kind != GV_NODE)
		return true;
	/* The output is one of its users. */
	return !graph_computes(&g->node[v.node]) || g->user_of[v.node + 1] - g->user_of[v.node] > 1 || is_earlier(g, list, k);
}

/* All, halves, quarters, ... single ones. */
static void list_outputs(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	struct gvalue list = returned(&best->graph);
	uint32_t n = 0;
	for (uint32_t k = 0; k < list.n; k++)
		n += may_go(&best->graph, list, k);
	edits_add_blocks(e, 0, n);
}

/* Inputs that were only returned. */
static bool drop_unused_inputs(struct candidate *c, const bool *was_returned)
{
	FREED uint32_t *replace = xreallocarray(NULL, c->graph.n_nodes, sizeof(*replace));
	bool any = false;
	for (uint32_t i = 0; i < c->graph.n_nodes; i++) {
		bool goes = was_returned[i] && !graph_computes(&c->graph.node[i]) && c->graph.user_of[i + 1] == c->graph.user_of[i];
		replace[i] = goes ? REWIRE_DROP : NONE;
		any |= goes;
	}
	return !any || candidate_rewire(c, replace);
}

/* The a-th to (b - 1)-th of those that can be dropped: which[k] for the k-th of the list. */
static bool *chosen(const struct graph *g, struct gvalue list, const struct edit *e)
{
	bool *which = xcalloc(list.n + 1, sizeof(*which));
	for (uint32_t k = 0, nth = 0; k < list.n; k++)
		which[k] = may_go(g, list, k) && nth++ >= e->a && nth <= e->b;
	return which;
}

static bool apply_outputs(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	struct graph *g = &c->graph;
	struct gvalue list = returned(g);
	bool *goes = chosen(g, list, e), *gone = xcalloc(g->n_nodes + 1, sizeof(*gone));
	uint32_t left = 0;
	for (uint32_t k = 0; k < list.n; k++) {
		struct gvalue v = g->value[list.first + k];
		if (!goes[k])
			g->value[list.first + left++] = v;
		else if (v.kind == GV_NODE)
			gone[v.node] = true;
	}
	g->value[g->node[g->module[0].output].args].n = left;
	struct err err;
	bool ok = graph_finish(g, &err) == 0 && drop_unused_inputs(c, gone);
	free(goes);
	free(gone);
	return ok;
}

static size_t count_outputs(const struct candidate *c) { return returned(&c->graph).n; }

const struct shrinker shrink_outputs = {"outputs", "Drop outputs", list_outputs, apply_outputs, "dropped", count_outputs};
