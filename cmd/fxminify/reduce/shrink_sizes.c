/* shrink_sizes.c - symbols, sizes and dtypes of the inputs, with the arguments that refer to them. */
#include "reduce/shrink.h"

/* ---- operands anywhere ---- */

/* Every operand of a node that computes something; not the index of a getitem. */
static void each_value(struct graph *g, uint32_t first, uint32_t n, bool in_list, void (*fn)(struct graph *, struct gvalue *, bool, void *),
		       void *user)
{
	for (uint32_t i = first; i < first + n; i++) {
		struct gvalue *v = &g->value[i];
		if (gvalue_has_children(*v))
			each_value(g, v->first, v->n, v->kind == GV_LIST || v->kind == GV_TUPLE, fn, user);
		else
			fn(g, v, in_list, user);
	}
}

static void each_operand(struct graph *g, void (*fn)(struct graph *, struct gvalue *, bool, void *), void *user)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct gnode *n = &g->node[i];
		if (n->op == GRAPH_PLACEHOLDER || n->op == GRAPH_OUTPUT || graph_is_getitem(g, i))
			continue;
		each_value(g, n->args, n->n_args, false, fn, user);
		for (uint32_t k = 0; k < n->n_kwargs; k++)
			each_value(g, n->kwargs + 2 * k + 1, 1, false, fn, user);
	}
}

/* ---- strides ---- */

/* Dense strides for the new sizes, with the same dimension order in memory. */
static void restride(struct graph *g, const struct gmeta *m, const struct symsize *old_stride)
{
	int64_t step = 1;
	bool done[GRAPH_MAX_DIMS] = {false};
	for (size_t k = 0; k < m->n_dim; k++) {
		/* The innermost remaining one: the smallest stride, the last among equals. */
		size_t best = SIZE_MAX;
		for (size_t d = m->n_dim; d-- > 0;)
			if (!done[d] && (best == SIZE_MAX || old_stride[d].k < old_stride[best].k))
				best = d;
		done[best] = true;
		g->dim[m->dim + m->n_dim + best] = symsize_int(old_stride[best].k ? step : 0);
		if (old_stride[best].k)
			step *= g->dim[m->dim + best].k > 1 ? g->dim[m->dim + best].k : 1;
	}
}

static bool all_numbers(const struct graph *g, const struct gmeta *m)
{
	for (size_t i = 0; i < (size_t)m->n_dim * (m->has_stride ? 2 : 1); i++)
		if (!symsize_is_int(g->dim[m->dim + i]))
			return false;
	return true;
}

static void changed_shape(struct candidate *c, size_t feed)
{
	struct graph *g = &c->graph;
	const struct gmeta *m = &g->meta[c->feed[feed].meta];
	if (m->has_stride && all_numbers(g, m)) {
		struct symsize old[GRAPH_MAX_DIMS];
		memcpy(old, &g->dim[m->dim + m->n_dim], m->n_dim * sizeof(*old));
		restride(g, m, old);
	}
	c->feed[feed].kind = FEED_RANDOM; /* the corner of the recorded value, while it has a name */
}

/* ---- sizes: `from` becomes `to`. kind 0: equal sizes and arguments; 1: also multiples of it; 2: only inputs; 3: all input sizes ---- */

static bool is_tensor_feed(const struct candidate *c, size_t i)
{
	return c->feed[i].meta != NONE && c->graph.meta[c->feed[i].meta].kind == GMETA_TENSOR;
}

static int descending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? 1 : x > y ? -1 : 0;
}

static void list_sizes(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	int64_t *size = NULL;
	size_t n = 0, cap = 0;
	for (size_t i = 0; i < best->n_feeds; i++) {
		if (!is_tensor_feed(best, i))
			continue;
		const struct gmeta *m = &best->graph.meta[best->feed[i].meta];
		for (size_t d = 0; d < m->n_dim; d++) {
			struct symsize s = best->graph.dim[m->dim + d];
			GROW(size, n, cap, 1);
			if (symsize_is_int(s) && s.k > 1)
				size[n++] = s.k;
		}
	}
	if (n)
		qsort(size, n, sizeof(*size), descending);
	if (n && size[0] != size[n - 1])
		edits_add(e, (struct edit){.kind = 3, .to = 1});
	for (size_t i = 0; i < n; i++) {
		if (i && size[i] == size[i - 1])
			continue;
		int64_t to[] = {1, 2, size[i] / 2};
		for (size_t k = 0; k < ARRAY_LEN(to); k++)
			for (uint32_t kind = 0; kind < 3 && to[k] >= 1 && to[k] < size[i]; kind++)
				edits_add(e, (struct edit){.kind = kind, .from = size[i], .to = to[k]});
	}
	free(size);
}

static int64_t resized(const struct edit *e, int64_t v)
{
	if (v == e->from || (e->kind == 3 && v > e->to))
		return e->to;
	return e->kind == 1 && v > e->from && v % e->from == 0 ? v / e->from * e->to : v;
}

static void resize_value(struct graph *g, struct gvalue *v, bool in_list, void *user)
{
	(void)g;
	(void)in_list;
	if (v->kind == GV_INT)
		v->i = resized(user, v->i);
}

static bool apply_sizes(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	struct graph *g = &c->graph;
	for (size_t i = 0; i < c->n_feeds; i++) {
		if (!is_tensor_feed(c, i))
			continue;
		const struct gmeta *m = &g->meta[c->feed[i].meta];
		bool changed = false;
		for (size_t d = 0; d < m->n_dim; d++) {
			struct symsize *s = &g->dim[m->dim + d];
			if (symsize_is_int(*s) && resized(e, s->k) != s->k) {
				s->k = resized(e, s->k);
				changed = true;
			}
		}
		if (changed)
			changed_shape(c, i);
	}
	if (e->kind < 2)
		each_operand(g, resize_value, (void *)(uintptr_t)e);
	candidate_forget_meta(c);
	return true;
}

const struct shrinker shrink_sizes = {"sizes", "Shrink sizes", list_sizes, apply_sizes, "made smaller", NULL};

/* ---- dtypes: a becomes b, everywhere ---- */

static void list_dtypes(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	static const struct {
		enum dtype from, to;
	} simpler[] = {{DTYPE_F64, DTYPE_F32}, {DTYPE_F16, DTYPE_F32}, {DTYPE_BF16, DTYPE_F32},
		       {DTYPE_I32, DTYPE_I64}, {DTYPE_I16, DTYPE_I64}, {DTYPE_C128, DTYPE_C64}};
	for (size_t k = 0; k < ARRAY_LEN(simpler); k++)
		for (size_t i = 0; i < best->n_feeds; i++)
			if (is_tensor_feed(best, i) && best->graph.meta[best->feed[i].meta].dtype == simpler[k].from) {
				edits_add(e, (struct edit){.a = (uint32_t)simpler[k].from, .b = (uint32_t)simpler[k].to});
				break;
			}
}

static void retype_value(struct graph *g, struct gvalue *v, bool in_list, void *user)
{
	const struct edit *e = user;
	(void)in_list;
	if (v->kind != GV_NAME || dtype_by_name(graph_text(g, v->text)) != (enum dtype)e->a)
		return;
	char name[64];
	snprintf(name, sizeof(name), "torch.%s", dtype_name((int)e->b));
	v->text = graph_intern(g, slice_str(name));
}

static bool apply_dtypes(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)original;
	for (size_t i = 0; i < c->n_feeds; i++)
		if (is_tensor_feed(c, i) && c->graph.meta[c->feed[i].meta].dtype == (int)e->a) {
			c->graph.meta[c->feed[i].meta].dtype = (int8_t)e->b;
			c->feed[i].kind = FEED_RANDOM;
		}
	each_operand(&c->graph, retype_value, (void *)(uintptr_t)e);
	candidate_forget_meta(c);
	return true;
}

const struct shrinker shrink_dtypes = {"dtypes", "Simplify dtypes", list_dtypes, apply_dtypes, "made float32 or int64", NULL};

/* ---- symbols ---- */

static bool number(const struct candidate *c, const struct symbind *env, struct symsize *s)
{
	int64_t v;
	struct err err;
	if (symsize_is_int(*s))
		return true;
	if (symsize_eval(&c->graph.tab, *s, env, &v, &err) < 0)
		return false;
	*s = symsize_int(v);
	return true;
}

static bool has_symbols(const struct candidate *c)
{
	for (size_t i = 0; i < c->n_feeds; i++) {
		if (c->feed[i].meta == NONE)
			continue;
		const struct gmeta *m = &c->graph.meta[c->feed[i].meta];
		if (m->kind == GMETA_SYM && !symsize_is_int(m->expr))
			return true;
		if (m->kind == GMETA_TENSOR && !all_numbers(&c->graph, m))
			return true;
	}
	return false;
}

static void list_symbols(const struct candidate *best, const struct repro *original, struct edits *e)
{
	(void)original;
	if (has_symbols(best))
		edits_add(e, (struct edit){.kind = 0});
}

static bool apply_symbols(struct candidate *c, const struct repro *original, const struct edit *e)
{
	(void)e;
	OWNED(symbind_release) struct symbind env = {0};
	bool ok = true;
	candidate_bind(c, original, &env);
	for (size_t i = 0; ok && i < c->n_feeds; i++) {
		if (c->feed[i].meta == NONE)
			continue;
		struct gmeta *m = &c->graph.meta[c->feed[i].meta];
		if (m->kind == GMETA_SYM)
			ok = number(c, &env, &m->expr);
		for (size_t k = 0; ok && m->kind == GMETA_TENSOR && k < (size_t)m->n_dim * (m->has_stride ? 2 : 1); k++)
			ok = number(c, &env, &c->graph.dim[m->dim + k]);
	}
	candidate_forget_meta(c);
	return ok;
}

const struct shrinker shrink_symbols = {"symbols", "Specialise symbols", list_symbols, apply_symbols, "made numbers", NULL};
