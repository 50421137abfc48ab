/* graph_json.h - graph.json: a graph, its inputs and its settings as one JSON document of ours; docs/GRAPH.md has the format.
 *
 *     repro_read finds out by content ('{' first) and calls graph_json_read.
 */
#ifndef PT2_GRAPH_JSON_H
#define PT2_GRAPH_JSON_H
#include "graph/repro.h"

int graph_json_read(struct repro *r, struct slice text, const char *name, struct err *err);
void graph_json_write(const struct repro *r, struct buf *b);
/* DOT (graphviz): a box per node with operator and shape, subgraphs as clusters. */
void graph_dot(const struct graph *g, struct buf *b);
/* models/NAME.json of a torch.export .pt2 (schema 8.x). */
int graph_exported_read(struct graph *g, struct slice model_json, const char *name, struct err *err);
/* Are two graphs the same: modules, ops, targets, operands by position (names of nodes and attribute order do not count)? If not,
 * *why says where: "node 12 'add': operand 1 is 'mul', not 'sub'". */
bool graph_same(const struct graph *a, const struct graph *b, struct buf *why);
/* A hash of exactly that. */
uint64_t graph_hash(const struct graph *g);

#endif
