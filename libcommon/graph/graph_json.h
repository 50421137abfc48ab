/* graph_json.h - graphs in JSON, ours and torch.export's; graphs compared, and drawn.
 *
 *     struct repro r = {0};
 *     if (graph_json_read(&r, text, "graph.json", &err) < 0) ...   // repro_read calls it when a file begins with '{'
 *     graph_json_write(&r, &b);                                    // what is read again is the same, all of struct repro
 *
 *     struct graph g = {0};
 *     if (graph_exported_read(&g, model_json, "model.pt2", &err) < 0) ...
 *     if (!graph_same(&g, &r.graph, &why)) ...                     // why: "node 12 'add': operand 1 is 'mul', not 'sub'"
 *
 * graph.json is one JSON document: a graph, its inputs, seed and settings; docs/GRAPH.md has the format, and examples that a
 * person can write. Texts are kept in the repro (the document may go). Inputs that are left out are made of the metadata.
 *
 * An exported program is models/NAME.json of a torch.export.save archive (torch 2.13, torch/_export/serde/schema.py, ExportedProgram,
 * schema 8.20; 5 to 8 are taken). The graph is the one that torch's GraphModuleDeserializer makes, with the same names:
 *  - an input is a placeholder, in the order of signature.input_specs, weights included (meta.is_param tells parameters);
 *  - several results have getitem nodes, which the file does not have; a node's tuple has the metadata of its parts;
 *  - a subgraph (as_graph) is a child module and a get_attr; one that is named twice is there once;
 *  - arguments are passed as the file says (kind). Files before 2.7 do not: an operator's are then passed by name, but the first;
 *  - sizes are symbolic expressions; what is not understood stays as opaque text; stack_trace's innermost frame is node.stack.
 * Values (weights, sample inputs) are other members of the archive: repro.h.
 *
 * Failure: -1 and err (EXIT_INPUT) with the line (graph.json) or byte (exported programs) and the node; *r may hold what was read
 * so far (repro_release), *g is empty. Untrusted: operands are nested at most GRAPH_MAX_DEPTH deep, texts are bounded by the input.
 */
#ifndef PT2_GRAPH_JSON_H
#define PT2_GRAPH_JSON_H
#include "graph/repro.h"

int graph_json_read(struct repro *r, struct slice text, const char *name, struct err *err);
void graph_json_write(const struct repro *r, struct buf *b);
int graph_exported_read(struct graph *g, struct slice model_json, const char *name, struct err *err);

/* Are two finished graphs the same: modules by name, their attributes in any order, nodes in order with op, target and operands
 * (keywords in any order)? Names of nodes and placeholders do not count, nor does metadata. *why (may be NULL) gets where they
 * differ: what a has, then what b has. */
bool graph_same(const struct graph *a, const struct graph *b, struct buf *why);
/* A hash of exactly that. */
uint64_t graph_hash(const struct graph *g);

/* DOT (graphviz): a box per node with operator and shape, subgraphs as clusters. */
void graph_dot(const struct graph *g, struct buf *b);

#endif
