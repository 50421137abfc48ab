/* values.c - of an exported program: are the values of an index within what it chooses from? */
#include "checkinputs.h"
#include "graph/graph_forms.h"
#include "graph/indices.h"
#include "model/check/check_part.h"
#include "tensor/stats.h"

#include <inttypes.h>

static bool may_index(const struct given *g, size_t i)
{
	return g->source[i].file && (g->meta[i].dtype == DTYPE_I64 || g->meta[i].dtype == DTYPE_I32);
}

static int check_input(struct check *k, const struct graph *graph, const struct contract *c, struct given *g, uint32_t i, struct err *err)
{
	const uint32_t node = graph_find(graph, 0, c->input[i].name);
	struct tensor_stats s;
	struct slice data;
	if (node == NONE || graph->node[node].op != GRAPH_PLACEHOLDER)
		return 0;
	const struct index_bound b = graph_index_bound(graph, node);
	if (!b.all)
		return 0;
	if (given_data(g, i, &data, err) < 0)
		return -1;
	const int64_t least = b.wraps ? -b.all : 0;
	tensor_stats(&g->meta[i], data.p, STATS_ALL, &s);
	if (!s.n || (s.min >= (double)least && s.max < (double)b.all))
		return 0;
	struct check_finding *f = check_found(k, CHECK_VALUE, i, -1);
	f->expected = check_keep(k, "indices of %" PRId64 "..%" PRId64, least, b.all - 1);
	f->fix = SLICE("pass values within that range, or export the model with a larger dim");
	f->given = check_keep(k, "%.0f", s.max < (double)b.all ? s.min : s.max);
	return 0;
}

int check_values(struct check *k, struct loaded *l, struct given *g, struct err *err)
{
	struct graph graph = {0};
	struct slice json;
	bool any = false;
	for (size_t i = 0; i < g->n; i++)
		any |= may_index(g, i);
	if (!any)
		return 0;
	if (package_data(&l->pkg, l->pkg.exported[0], &json, err) < 0 || graph_exported_read(&graph, json, l->pkg.path, err) < 0)
		return -1;
	int r = 0;
	for (uint32_t i = 0; i < g->n && i < l->contract.n_inputs && !r; i++)
		if (may_index(g, i))
			r = check_input(k, &graph, &l->contract, g, i, err);
	graph_release(&graph);
	return r;
}
