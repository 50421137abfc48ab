/* values.c - are the values of an index within what it chooses from? By the graph: of an exported program, of one that a package carries,
 * or of --against. */
#include "checkinputs.h"
#include "graph/graph_forms.h"
#include "graph/indices.h"
#include "model/check/check_part.h"
#include "model/contract/exported.h"
#include "tensor/stats.h"

#include <inttypes.h>

static bool may_index(const struct given *g, size_t i)
{
	return g->source[i].file && (g->meta[i].dtype == DTYPE_I64 || g->meta[i].dtype == DTYPE_I32);
}

/* name: of the graph's placeholder. */
static int check_input(struct check *k, const struct graph *graph, struct slice name, struct given *g, uint32_t i, struct err *err)
{
	const uint32_t node = graph_find(graph, 0, name);
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

/* Inputs of graph and package are the same ones, in order, if their types and numbers of dims are. */
static bool is_graph_of(const struct contract *of, const struct contract *c)
{
	bool same = of->n_inputs == c->n_inputs;
	for (uint32_t i = 0; same && i < c->n_inputs; i++)
		same = (of->input[i].dtype == c->input[i].dtype || c->input[i].dtype == DTYPE_NONE) &&
		       (of->input[i].n_dim == c->input[i].n_dim || c->input[i].n_dim < 0);
	return same;
}

/* 0: checked; 1: the k-th program in pkg is not the graph of this package. */
static int check_by(struct check *k, const struct loaded *l, struct package *pkg, uint32_t which, struct given *g, struct err *err)
{
	OWNED(graph_release) struct graph graph = {0};
	OWNED(contract_release) struct contract of = {0};
	struct slice json;
	if (package_data(pkg, pkg->exported[which], &json, err) < 0 || exported_read(&of, json, err) < 0)
		return -1;
	if (!is_graph_of(&of, &l->contract))
		return 1;
	if (graph_exported_read(&graph, json, pkg->path, err) < 0)
		return -1;
	int r = 0;
	for (uint32_t i = 0; i < g->n && i < of.n_inputs && !r; i++)
		if (may_index(g, i))
			r = check_input(k, &graph, of.input[i].name, g, i, err);
	return r;
}

int check_values(struct check *k, struct loaded *l, const char *against, struct given *g, struct err *err)
{
	struct package other = {0};
	bool any = false;
	for (size_t i = 0; i < g->n; i++)
		any |= may_index(g, i);
	if (against) {
		int r = package_open_exported(&other, against, err);
		if (!r && (r = check_by(k, l, &other, 0, g, err)) > 0)
			r = err_set(err, EXIT_INPUT, "'%s' has other inputs than '%s': is it the program that was compiled?", against,
				    l->pkg.path);
		package_close(&other);
		return r;
	}
	int r = 1;
	for (uint32_t i = 0; any && r > 0 && i < l->pkg.n_exported; i++)
		r = check_by(k, l, &l->pkg, i, g, err);
	return r < 0 ? -1 : 0;
}
