/* graph_forms.h - other forms of a graph: read from torch.export's JSON, hashed, drawn.
 *
 *     struct graph g = {0};
 *     if (graph_exported_read(&g, model_json, "model.pt2", &err) < 0) ...
 *
 * An exported program is models/NAME.json of a torch.export.save archive (torch 2.13, torch/_export/serde/schema.py, ExportedProgram,
 * schema 8.20; 5 to 8 are accepted). The graph is the one that torch's GraphModuleDeserializer makes, with the same names:
 *  - an input is a placeholder, in the order of signature.input_specs, including weights (meta.is_param marks parameters);
 *  - several results get getitem nodes, which are not in the file; a node's tuple has the metadata of its elements;
 *  - a subgraph (as_graph) is a child module and a get_attr; one referenced twice exists once;
 *  - arguments are passed as the file specifies (kind). Files before 2.7 do not: an operator's are then passed by name, except the first;
 *  - sizes are symbolic expressions; unsupported ones stay opaque text; stack_trace's innermost frame is node.stack.
 * Values (weights, sample inputs) are other members of the archive: graph/repro/repro.h.
 *
 * Failure: -1 and err (EXIT_INPUT) with the byte and the node; *g is empty. Untrusted: operands are nested at most GRAPH_MAX_DEPTH deep.
 */
#ifndef PT2_GRAPH_FORMS_H
#define PT2_GRAPH_FORMS_H
#include "graph/graph.h"

int graph_exported_read(struct graph *g, struct slice model_json, const char *name, struct err *err);

/* A hash of the content of a finished graph: modules by name, their attributes in any order, nodes in order with op, target and operands
 * (keywords in any order). Names of nodes and placeholders do not count, nor does metadata. */
uint64_t graph_hash(const struct graph *g);

/* DOT (graphviz): a box per node with operator and shape, subgraphs as clusters. */
void graph_dot(const struct graph *g, struct buf *b);

#endif
