/* Any bytes as a torch.export program: bounded, no crash; what is read is a whole graph, which graph.json gives back. */
#include "graph/graph_forms.h"
#include "graph/repro/graph_json.h"
#include "../lib/graph_same.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct repro r = {.form = REPRO_GRAPH}, again = {0};
	struct err err = {0};
	struct buf b = {0};
	if (graph_exported_read(&r.graph, slice_of((const char *)data, size), "fuzz", &err) < 0) {
		require(err.text[0] && err.status == EXIT_INPUT && !r.graph.n_nodes);
		return 0;
	}
	require(r.graph.by_name && r.graph.user_of && graph_n_ops(&r.graph) < r.graph.n_nodes);
	graph_json_write(&r, &b);
	/* Inputs without metadata are one reason not to take it. */
	if (graph_json_read(&again, buf_slice(&b), "again", &err) == 0)
		require(graph_same(&r.graph, &again.graph, NULL));
	repro_release(&again);
	repro_release(&r);
	buf_release(&b);
	return 0;
}
