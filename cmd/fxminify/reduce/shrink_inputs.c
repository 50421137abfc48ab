/* shrink_inputs.c - inputs: their storage, whether they are leaves, their strides; values that can be random, inputs that can be merged. */
#include "reduce/shrink.h"

/* ---- properties of inputs: all at once (kind 1), then one by one ---- */

static void list_feeds(const struct candidate *best, bool (*may)(const struct candidate *c, size_t feed), struct edits *e)
{
	size_t n = 0;
	for (size_t i = 0; i < best->n_feeds; i++)
		n += may(best, i);
	if (n > 1)
		edits_add(e, (struct edit){.kind = 1});
	for (size_t i = 0; i < best->n_feeds; i++)
		if (may(best, i))
			edits_add(e, (struct edit){.kind = 0, .a = (uint32_t)i});
}

static bool has_memory(const struct candidate *c, size_t feed) { return c->feed[feed].memory != NULL; }

static void list_memory(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	list_feeds(best, has_memory, e);
}

static bool apply_memory(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	for (size_t i = 0; i < c->n_feeds; i++)
		if (e->kind == 1 || i == e->a)
			c->feed[i].memory = NULL;
	return true;
}

const struct shrinker shrink_memory = {"memory", "Separate inputs", list_memory, apply_memory, "given memory of their own", NULL};

static bool has_history(const struct candidate *c, size_t feed) { return c->feed[feed].non_leaf; }

static void list_leaves(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	list_feeds(best, has_history, e);
}

static bool apply_leaves(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	for (size_t i = 0; i < c->n_feeds; i++)
		if (e->kind == 1 || i == e->a)
			c->feed[i].non_leaf = false;
	return true;
}

const struct shrinker shrink_leaves = {"leaves", "Make inputs leaves", list_leaves, apply_leaves, "made leaves", NULL};

/* Strides that are numbers, and not those of a dense tensor. */
static bool has_strides(const struct candidate *c, size_t feed)
{
	const struct graph *g = &c->graph;
	const struct gmeta *m = c->feed[feed].meta == NONE ? NULL : &g->meta[c->feed[feed].meta];
	int64_t at = 1;
	bool other = false;
	if (!m || m->kind != GMETA_TENSOR || !m->has_stride)
		return false;
	for (uint32_t i = m->n_dim; i-- > 0;) {
		const struct symsize size = g->dim[m->dim + i], stride = g->dim[m->dim + m->n_dim + i];
		if (!symsize_is_int(size) || !symsize_is_int(stride) || size.k == 0)
			return false;
		other |= size.k != 1 && stride.k != at;
		if (__builtin_mul_overflow(at, size.k, &at))
			return false;
	}
	return other;
}

static void list_strides(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	list_feeds(best, has_strides, e);
}

static bool apply_strides(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	for (size_t i = 0; i < c->n_feeds; i++) {
		if ((e->kind != 1 && i != e->a) || !has_strides(c, i))
			continue;
		const struct gmeta *m = &c->graph.meta[c->feed[i].meta];
		int64_t at = 1;
		for (uint32_t d = m->n_dim; d-- > 0; at *= c->graph.dim[m->dim + d].k)
			c->graph.dim[m->dim + m->n_dim + d] = symsize_int(at);
		c->feed[i].kind = FEED_RANDOM; /* the recorded values in another layout, while it has a name */
	}
	candidate_forget_meta(c);
	return true;
}

const struct shrinker shrink_strides = {"strides", "Make inputs contiguous", list_strides, apply_strides, "made contiguous", NULL};

/* ---- values ---- */

static bool can_be_random(const struct candidate *c, size_t feed)
{
	const struct feed *f = &c->feed[feed];
	return (f->kind == FEED_RECORDED || (f->kind == FEED_RANDOM && f->name.n)) && f->meta != NONE &&
	       c->graph.meta[f->meta].kind == GMETA_TENSOR;
}

static void list_values(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	list_feeds(best, can_be_random, e);
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

const struct shrinker shrink_values = {"values", "Forget values", list_values, apply_values, "made random", NULL};

/* ---- inputs ---- */

static bool alike(const struct graph *g, const struct feed *a, const struct feed *b)
{
	if (a->meta == NONE || b->meta == NONE)
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
	return NONE;
}

static bool apply_inputs(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	uint32_t a = placeholder(&c->graph, e->a), b = placeholder(&c->graph, e->b);
	if (a == NONE || b == NONE)
		return false;
	FREED uint32_t *replace = xreallocarray(NULL, c->graph.n_nodes, sizeof(*replace));
	memset(replace, 0xff, c->graph.n_nodes * sizeof(*replace));
	replace[b] = a;
	return candidate_rewire(c, replace);
}

const struct shrinker shrink_inputs = {"inputs", "Consolidate inputs", list_inputs, apply_inputs, "merged", NULL};
