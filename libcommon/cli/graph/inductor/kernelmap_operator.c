/* kernelmap_operator.c - calls of torch's operators, inputs and results: matched with nodes of the graph. */
#include "graph/inductor/kernelmap_part.h"

struct operand_set {
	const struct fxindex *x;
	uint32_t rep[32], n;
};

static bool add_operand(void *user, uint32_t node)
{
	struct operand_set *s = user;
	if (s->n < ARRAY_LEN(s->rep))
		s->rep[s->n++] = s->x->rep[node];
	return true;
}

/* "extern_kernels.addmm", "aoti_torch_cpu_addmm_out" -> does it name "addmm"? */
static bool names_op(struct slice call, struct slice op)
{
	for (size_t i = 0; op.n && i + op.n <= call.n; i++) {
		const char *at = call.p + i;
		size_t left = call.n - i;
		bool begins = !i || at[-1] == '.' || at[-1] == '_' || at[-1] == ':';
		if (begins && !memcmp(at, op.p, op.n) &&
		    (left == op.n || at[op.n] == '.' || (left >= op.n + 4 && !memcmp(at + op.n, "_out", 4))))
			return true;
	}
	return false;
}

/* The node whose values a name holds, or NONE. */
static uint32_t bound_as(const struct kernelmap *m, const struct fxindex *x, struct slice name)
{
	uint32_t bound = name.n ? fxindex_bound(x, name) : NONE;
	return bound == NONE && name.n ? fxindex_bound(x, outcode_storage(&m->code, name)) : bound;
}

/* Could node i be the call? The call's known arguments must be among the node's operands, and vice versa unless
 * some are unknown. */
static bool given_to(const struct kernelmap *m, const struct outcall *c, const struct fxindex *x, uint32_t i)
{
	struct operand_set s = {.x = x};
	uint32_t hits = 0, unknown = 0, met = 0;
	graph_operands(&m->graph, i, add_operand, &s);
	FREED bool *seen = xcalloc(s.n + 1, sizeof(*seen));
	for (uint32_t a = 0; a < c->arg.n; a++) {
		struct slice name = m->code.name[c->arg.first + a];
		uint32_t bound = bound_as(m, x, name), k = 0;
		if (bound == NONE) {
			unknown += name.n > 0;
			continue;
		}
		while (k < s.n && s.rep[k] != bound)
			k++;
		if (k == s.n) {
			hits = 0;
			unknown = 0;
			break;
		}
		hits++;
		for (k = 0; k < s.n; k++)
			seen[k] |= s.rep[k] == bound;
	}
	for (uint32_t k = 0; k < s.n; k++)
		met += seen[k];
	return hits && (met == s.n || unknown);
}

/* buf8 = buf7[0]: the node's results. */
static void bind_items(const struct kernelmap *m, struct fxindex *x, struct slice buffer, uint32_t node)
{
	const struct graph *g = &m->graph;
	fxindex_bind(x, buffer, node);
	const struct km_rows *items = &m->index->items;
	for (uint32_t e = km_rows_first(items, buffer); e != NONE; e = items->entry[e].next) {
		const struct outalias *al = &m->code.alias[items->entry[e].row];
		for (uint32_t u = x->use_of[node]; u < x->use_of[node + 1]; u++) {
			const struct gnode *n = &g->node[x->use[u]];
			if (graph_is_getitem(g, x->use[u]) && n->n_args == 2 && g->value[n->args + 1].kind == GV_INT &&
			    g->value[n->args + 1].i == al->index)
				fxindex_bind(x, al->name, x->use[u]);
		}
	}
}

static bool is_operator(const struct kernelmap *m, const struct outcall *c, uint32_t i)
{
	return m->graph.node[i].op == GRAPH_CALL_FUNCTION && !fx_is_view(&m->graph, i) && !graph_is_getitem(&m->graph, i) &&
	       names_op(c->name, fx_op_name(&m->graph, i));
}

/* The users of one of the call's arguments: the one with the fewest. n 0: no argument is known. */
static const uint32_t *users_of_given(const struct kernelmap *m, const struct outcall *c, const struct fxindex *x, uint32_t *n)
{
	const uint32_t *users = NULL;
	*n = 0;
	for (uint32_t a = 0; a < c->arg.n; a++) {
		uint32_t bound = bound_as(m, x, m->code.name[c->arg.first + a]);
		uint32_t count = bound == NONE ? 0 : x->use_of[bound + 1] - x->use_of[bound];
		if (bound == NONE || (users && count >= *n))
			continue;
		users = &x->use[x->use_of[bound]];
		*n = count;
	}
	return users;
}

/* The node of this name with the call's arguments; NONE if there is none or several. */
static uint32_t find_by_operands(const struct kernelmap *m, const struct outcall *c, const struct fxindex *x)
{
	uint32_t n, found = NONE;
	const uint32_t *users = users_of_given(m, c, x, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (users[i] == found || !is_operator(m, c, users[i]) || !given_to(m, c, x, users[i]))
			continue;
		if (found != NONE)
			return NONE;
		found = users[i];
	}
	return found;
}

/* The node of this name among the nodes that the call is known to come from. */
static uint32_t find_among(const struct kernelmap *m, const struct outcall *c, const struct kmlist *l)
{
	uint32_t found = NONE;
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t fx = m->node[m->item[l->first + i]].fx;
		if (fx == NONE || !is_operator(m, c, fx))
			continue;
		if (found != NONE)
			return NONE;
		found = fx;
	}
	return found;
}

/* An operator of torch: its node among those that it is known to come from, or among all. */
void km_operator(struct kernelmap *m, struct kmuse *u, struct fxindex *x)
{
	const struct outcall *c = &m->code.call[u->call];
	const uint32_t found = u->from ? find_among(m, c, &u->fx) : find_by_operands(m, c, x), had = u->fx.n;
	if (found == NONE)
		return;
	km_list_add(m, &u->fx, km_row(m, found));
	u->from |= u->fx.n > had ? KM_FROM_FLOW : 0;
	for (uint32_t i = 0; i < c->made.n; i++)
		bind_items(m, x, m->code.name[c->made.first + i], found);
}

/* The wrapper's results are those of the graph, in order. */
void km_bind_results(struct kernelmap *m, struct fxindex *x)
{
	const struct graph *g = &m->graph;
	uint32_t out = g->module[0].output;
	if (m->fragment || out == NONE || !g->node[out].n_args)
		return;
	struct gvalue v = g->value[g->node[out].args];
	if ((v.kind != GV_TUPLE && v.kind != GV_LIST) || v.n != m->code.result.n)
		return;
	for (uint32_t i = 0; i < v.n; i++) {
		struct gvalue r = g->value[v.first + i];
		struct slice name = m->code.name[m->code.result.first + i];
		if (r.kind == GV_NODE && name.n && fxindex_bound(x, name) == NONE)
			fxindex_bind(x, name, r.node);
	}
}

void km_bind_inputs(struct kernelmap *m, struct fxindex *x)
{
	if (m->fragment) /* only some of them, in another order, but with their names */
		return;
	const struct graph *g = &m->graph;
	uint32_t k = 0;
	for (uint32_t i = g->module[0].first, end = i + g->module[0].n; i < end; i++)
		if (g->node[i].op == GRAPH_PLACEHOLDER && k < m->code.input.n) {
			struct slice name = m->code.name[m->code.input.first + k++];
			if (graph_find(g, 0, name) == NONE)
				fxindex_bind(x, name, i);
		}
}
