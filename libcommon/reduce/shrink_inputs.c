/* Inputs: values that need not be the recorded ones, several that may be one. */
#include "reduce/shrink.h"

/* ---- values ---- */

static bool can_be_random(const struct candidate *c, size_t feed)
{
	const struct feed *f = &c->feed[feed];
	return f->kind == FEED_RECORDED && f->meta != GRAPH_NONE && c->graph.meta[f->meta].kind == GMETA_TENSOR;
}

/* All at once, then one by one. Integers are indices more often than not, and masks matter: they come last. */
static void list_values(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	size_t n = 0;
	for (size_t i = 0; i < best->n_feeds; i++)
		n += can_be_random(best, i);
	if (n > 1)
		edits_add(e, (struct edit){.kind = 1});
	for (size_t i = 0; i < best->n_feeds; i++)
		if (can_be_random(best, i))
			edits_add(e, (struct edit){.kind = 0, .a = (uint32_t)i});
}

static bool apply_values(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	for (size_t i = 0; i < c->n_feeds; i++)
		if ((e->kind == 1 || i == e->a) && can_be_random(c, i)) {
			c->feed[i].kind = FEED_RANDOM;
			c->feed[i].name = SLICE("");
		}
	return true;
}

const struct shrinker shrink_values = {"values", "Forget values", list_values, apply_values, NULL};

/* ---- inputs ---- */

static bool alike(const struct graph *g, const struct feed *a, const struct feed *b)
{
	if (a->meta == GRAPH_NONE || b->meta == GRAPH_NONE)
		return false;
	const struct gmeta *x = &g->meta[a->meta], *y = &g->meta[b->meta];
	return x->kind == GMETA_TENSOR && graph_same_meta(g, x, y) && x->requires_grad == y->requires_grad;
}

static void list_inputs(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	for (size_t b = 1; b < best->n_feeds; b++)
		for (size_t a = 0; a < b; a++)
			if (alike(&best->graph, &best->feed[a], &best->feed[b])) {
				edits_add(e, (struct edit){.a = (uint32_t)a, .b = (uint32_t)b});
				break;
			}
}

static uint32_t placeholder(const struct graph *g, size_t k)
{
	const struct gmodule *root = &g->module[0];
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if (g->node[i].op == GRAPH_PLACEHOLDER && k-- == 0)
			return i;
	return GRAPH_NONE;
}

static bool apply_inputs(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	uint32_t a = placeholder(&c->graph, e->a), b = placeholder(&c->graph, e->b);
	if (a == GRAPH_NONE || b == GRAPH_NONE)
		return false;
	uint32_t *replace = xreallocarray(NULL, c->graph.n_nodes, sizeof(*replace));
	memset(replace, 0xff, c->graph.n_nodes * sizeof(*replace));
	replace[b] = a;
	bool ok = candidate_rewire(c, replace);
	free(replace);
	return ok;
}

const struct shrinker shrink_inputs = {"inputs", "Consolidate inputs", list_inputs, apply_inputs, NULL};
