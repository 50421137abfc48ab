#include "graph/indices.h"
#include "tensor/tensor.h"

enum { MOST_STEPS = 1000 }; /* a hostile graph has any number of ways */

static bool starts_any(struct slice op, const char *const *with, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_starts(op, with[i]))
			return true;
	return false;
}

static const struct gmeta *tensor_meta_of(const struct graph *g, uint32_t node)
{
	const uint32_t meta = g->node[node].meta;
	return meta != NONE && g->meta[meta].kind == GMETA_TENSOR ? &g->meta[meta] : NULL;
}

/* Not a mask, which selects by its position. */
static bool is_index(const struct graph *g, uint32_t node)
{
	const struct gmeta *m = tensor_meta_of(g, node);
	return m && (m->dtype == DTYPE_I64 || m->dtype == DTYPE_I32);
}

static bool is_node(const struct gvalue *v, uint32_t node) { return v->kind == GV_NODE && v->node == node; }

/* Of this operand along dim; -1: not a number. */
static int64_t size_of(const struct graph *g, const struct gvalue *v, int64_t dim)
{
	const struct gmeta *m = v->kind == GV_NODE ? tensor_meta_of(g, v->node) : NULL;
	if (!m)
		return -1;
	dim += dim < 0 ? m->n_dim : 0;
	if (dim < 0 || dim >= m->n_dim)
		return -1;
	const struct symsize s = g->dim[m->dim + (uint32_t)dim];
	return symsize_is_int(s) && s.k > 0 ? s.k : -1;
}

/* x[i, j]: the first of the list that is node. A mask before it would take several dims. */
static int64_t place_in_list(const struct graph *g, const struct gvalue *x, const struct gvalue *list, uint32_t node)
{
	for (uint32_t i = 0; list->kind == GV_LIST && i < list->n; i++) {
		const struct gvalue *v = &g->value[list->first + i];
		if (is_node(v, node))
			return size_of(g, x, i);
		if (v->kind == GV_NODE && !is_index(g, v->node))
			return -1;
	}
	return -1;
}

/* How many places `user`, one of these operators, chooses from by the values of node; -1: unknown. */
static int64_t places(const struct graph *g, uint32_t user, uint32_t node, bool *wraps)
{
	const struct slice op = graph_op_text(g, user);
	const struct gnode *n = &g->node[user];
	const struct gvalue *v = &g->value[n->args];
	*wraps = slice_starts(op, "aten.index.Tensor");
	if (!is_index(g, node) || n->n_args < 2)
		return -1;
	if (*wraps)
		return place_in_list(g, v, &v[1], node);
	if (slice_starts(op, "aten.embedding."))
		return is_node(&v[1], node) ? size_of(g, v, 0) : -1;
	return n->n_args > 2 && v[1].kind == GV_INT && is_node(&v[2], node) ? size_of(g, v, v[1].i) : -1;
}

static struct index_bound follow(const struct graph *g, uint32_t node, uint32_t *steps);

static struct index_bound of_user(const struct graph *g, uint32_t user, uint32_t node, uint32_t *steps)
{
	static const char *const takes[] = {"aten.embedding.", "aten.index_select.", "aten.gather.", "aten.index.Tensor"};
	static const char *const parts[] = {"aten.slice.", "aten.select."};
	static const char *const moves[] = {"aten.view.",     "aten.reshape.", "aten.unsqueeze.",  "aten.expand.",  "aten.to.",
					    "aten._to_copy.", "aten.clone.",   "aten.contiguous.", "aten.permute.", "aten.transpose.",
					    "aten.flatten.",  "aten.squeeze.", "aten.alias.",      "aten.detach"};
	static const char *const safe[] = {"aten.eq.",  "aten.ne.",       "aten.gt.",          "aten.lt.",         "aten.ge.",
					   "aten.le.",  "aten.sym_size.", "aten.cumsum.",      "aten._assert",     "aten.add.",
					   "aten.mul.", "aten.sub.",      "aten.bitwise_and.", "aten.logical_not."};
	const struct slice op = graph_op_text(g, user);
	const struct gnode *n = &g->node[user];
	struct index_bound b = {.n = -1};
	if (n->op == GRAPH_OUTPUT || starts_any(op, safe, ARRAY_LEN(safe)))
		return (struct index_bound){0};
	const bool first = n->n_args && is_node(&g->value[n->args], node), take = starts_any(op, takes, ARRAY_LEN(takes));
	if (first && starts_any(op, moves, ARRAY_LEN(moves)))
		return follow(g, user, steps);
	if (first && (take || starts_any(op, parts, ARRAY_LEN(parts)))) { /* some of its values move on */
		b.n = follow(g, user, steps).n;
	} else if (take) {
		b.n = places(g, user, node, &b.wraps);
		b.all = b.n > 0 ? b.n : 0;
	}
	return b;
}

static int64_t lesser(int64_t a, int64_t b) { return a && (!b || a < b) ? a : b; }

static struct index_bound follow(const struct graph *g, uint32_t node, uint32_t *steps)
{
	struct index_bound all = {.wraps = true};
	for (uint32_t u = g->user_of[node]; u < g->user_of[node + 1]; u++) {
		if (++*steps > MOST_STEPS) {
			all.n = -1;
			break;
		}
		const struct index_bound b = of_user(g, g->user[u], node, steps);
		all.n = all.n < 0 || b.n < 0 ? -1 : lesser(b.n, all.n);
		all.all = lesser(b.all, all.all);
		all.wraps &= !b.all || b.wraps;
	}
	return all;
}

struct index_bound graph_index_bound(const struct graph *g, uint32_t node)
{
	uint32_t steps = 0;
	return follow(g, node, &steps);
}
