/* shrink_subgraphs.c - subgraphs of higher-order operators: an operation in one is replaced by one of its operands; the root graph has
 * other passes. */
#include "reduce/shrink.h"

struct ways {
	const struct graph *g;
	struct edits *e;
	uint32_t node;
};

/* Not if both are known and differ; if unknown, the oracle decides. */
static bool unlike(const struct graph *g, uint32_t a, uint32_t b)
{
	if (g->node[a].meta == NONE || g->node[b].meta == NONE)
		return false;
	return !graph_same_meta(g, &g->meta[g->node[a].meta], &g->meta[g->node[b].meta]);
}

static bool add_way(void *user, uint32_t operand)
{
	struct ways *w = user;
	if (w->g->node[operand].op != GRAPH_GET_ATTR && !unlike(w->g, w->node, operand))
		edits_add(w->e, (struct edit){.a = w->node, .b = operand});
	return true;
}

static void list_subgraphs(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	struct ways w = {.g = &best->graph, .e = e};
	for (uint32_t i = 0; i < w.g->n_nodes; i++)
		if (w.g->node[i].module != 0 && graph_computes(&w.g->node[i])) {
			w.node = i;
			graph_operands(w.g, i, add_way, &w);
		}
}

/* Nodes of a subgraph that become unused are removed, too: last first, so that one sweep is enough. */
static void drop_unused(const struct graph *g, uint32_t *replace)
{
	FREED uint32_t *uses = xcalloc(g->n_nodes ? g->n_nodes : 1, sizeof(*uses));
	for (uint32_t i = 0; i < g->n_nodes; i++)
		uses[i] = g->user_of[i + 1] - g->user_of[i];
	for (uint32_t i = (uint32_t)g->n_nodes; i-- > 0;) {
		uint32_t mutates;
		const struct gnode *n = &g->node[i];
		if (n->module != 0 && graph_computes(n) && !uses[i] && replace[i] == NONE && !node_has_effect(g, i, &mutates))
			replace[i] = REWIRE_DROP;
	}
}

static bool apply_subgraphs(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	FREED uint32_t *replace = xreallocarray(NULL, c->graph.n_nodes, sizeof(*replace));
	memset(replace, 0xff, c->graph.n_nodes * sizeof(*replace));
	replace[e->a] = e->b;
	bool ok = candidate_rewire(c, replace);
	if (ok) {
		replace = xreallocarray(replace, c->graph.n_nodes, sizeof(*replace));
		memset(replace, 0xff, c->graph.n_nodes * sizeof(*replace));
		drop_unused(&c->graph, replace);
		ok = candidate_rewire(c, replace);
	}
	return ok;
}

const struct shrinker shrink_subgraphs = {"subgraphs", "Simplify subgraphs", list_subgraphs, apply_subgraphs, "operations bypassed", NULL};
