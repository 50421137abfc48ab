/* Any bytes as a graph.json: bounded, no crash; what is read writes itself, comes back the same, and every part of it is a graph. */
#include "graph/graph_forms.h"
#include "graph/repro/graph_json.h"
#include "graph/slice.h"
#include "../lib/graph_same.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* Any subset of the units is a graph, unless a tuple would have to be given. */
static void cut_up(const struct graph *g, uint64_t seed)
{
	struct units u;
	struct graph out = {0};
	struct cut cut = {0};
	struct err err;
	units_find(g, &u);
	uint64_t *set = xcalloc(u.n / 64 + 1, sizeof(*set));
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < u.n / 64 + 1; i++)
			set[i] = round ? seed * (0x9e3779b97f4a7c15ull + i) : ~0ull;
		if (slice_build(g, &u, set, NULL, &out, &cut, &err) == 0)
			require(out.module[0].n == cut.n_nodes && cut.n_inputs + cut.n_outputs < 2 * cut.n_nodes);
		else
			require(err.text[0] && !out.n_nodes && !cut.input);
		seed = seed * 6364136223846793005ull + 1;
	}
	memset(set, 0, (u.n / 64 + 1) * sizeof(*set));
	require(slice_dead(g, &u, set) == bits_count(set, u.n));
	graph_release(&out);
	cut_release(&cut);
	units_release(&u);
	free(set);
}

static void whole(const struct repro *r, uint64_t seed)
{
	struct repro again = {0};
	struct buf a = {0}, b = {0}, why = {0};
	struct err err;
	graph_json_write(r, &a);
	if (graph_json_read(&again, buf_slice(&a), "again", &err) < 0)
		fprintf(stderr, "%s\n", err.text), abort();
	require(graph_same(&r->graph, &again.graph, &why) && !why.len);
	require(graph_hash(&r->graph) == graph_hash(&again.graph));
	graph_json_write(&again, &b);
	require(slice_eq(buf_slice(&a), buf_slice(&b)));
	buf_reset(&b);
	graph_dot(&r->graph, &b);
	if (r->graph.n_modules)
		cut_up(&r->graph, seed);
	repro_release(&again);
	buf_release(&a);
	buf_release(&b);
	buf_release(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct repro r = {0};
	struct err err = {0};
	if (graph_json_read(&r, slice_of((const char *)data, size), "fuzz", &err) == 0)
		whole(&r, size ? data[size / 2] * 31u + size : 0);
	else
		require(err.text[0] && err.status == EXIT_INPUT);
	repro_release(&r);
	return 0;
}
