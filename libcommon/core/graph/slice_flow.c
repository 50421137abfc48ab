#include "graph/slice.h"

/* Backwards from some nodes to everything their values depend on: operands, and earlier writes to them. */
struct flow {
	const struct graph *g;
	const struct units *u;
	uint64_t *seen; /* nodes */
	uint32_t *todo;
	size_t n, n_todo;
	uint32_t user;
};

static void flow_add(struct flow *f, uint32_t node)
{
	if (!bit_in(f->seen, node)) {
		bit_add(f->seen, node);
		f->todo[f->n_todo++] = node;
	}
}

/* The last one before f->user that writes to the memory of `node`; it uses that memory itself, so those before it follow. */
static uint32_t last_writer(const struct flow *f, uint32_t node)
{
	const struct units *u = f->u;
	uint32_t alias = u->alias[node];
	size_t lo = 0, hi = u->n_writers;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (u->written[mid] < alias || (u->written[mid] == alias && u->writer[mid] < f->user))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && u->written[lo - 1] == alias ? u->writer[lo - 1] : NONE;
}

static bool flow_operand(void *user, uint32_t operand)
{
	struct flow *f = user;
	flow_add(f, operand);
	if (f->u->n_writers) {
		uint32_t w = last_writer(f, operand);
		if (w != NONE)
			flow_add(f, w);
	}
	return true;
}

static void flow_start(struct flow *f, const struct graph *g, const struct units *u)
{
	*f = (struct flow){.g = g, .u = u, .seen = xcalloc(g->n_nodes / 64 + 1, sizeof(uint64_t))};
	f->todo = xreallocarray(NULL, g->n_nodes + 1, sizeof(*f->todo));
}

/* A unit is indivisible: one of its nodes brings the others. */
static void flow_run(struct flow *f)
{
	const struct units *u = f->u;
	while (f->n_todo) {
		uint32_t unit;
		f->user = f->todo[--f->n_todo];
		graph_operands(f->g, f->user, flow_operand, f);
		if ((unit = u->of[f->user]) != NONE && u->first[unit + 1] - u->first[unit] > 1)
			for (uint32_t k = u->first[unit]; k < u->first[unit + 1]; k++)
				flow_add(f, u->node[k]);
	}
}

static void flow_release(struct flow *f)
{
	free(f->seen);
	free(f->todo);
}

size_t slice_dead(const struct graph *g, const struct units *u, uint64_t *dead)
{
	struct flow f;
	size_t n = 0;
	flow_start(&f, g, u);
	flow_add(&f, g->module[0].output);
	for (size_t i = 0; i < u->n_nodes; i++)
		if (u->is[u->node[i]] & NODE_EFFECT)
			flow_add(&f, u->node[i]);
	flow_run(&f);
	for (size_t i = 0; i < u->n; i++)
		if (!bit_in(f.seen, u->node[u->first[i]])) {
			bit_add(dead, i);
			n++;
		}
	flow_release(&f);
	return n;
}
