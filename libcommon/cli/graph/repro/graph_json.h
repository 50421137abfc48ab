/* graph_json.h - a graph with its inputs in JSON.
 *
 *     struct repro r = {0};
 *     if (graph_json_read(&r, text, "graph.json", &err) < 0) ...   // repro_read calls it if a file starts with '{'
 *     graph_json_write(&r, &b);                                    // reading it again gives the same struct repro
 *
 * graph.json is one JSON document: a graph, its inputs, seed and settings; docs/formats/GRAPH.md has the format and examples that a
 * person can write. Texts are copied into the repro (the document may be freed). Omitted inputs are generated from the metadata.
 *
 * Failure: -1 and err (EXIT_INPUT) with the line and the node; *r may hold what was read so far (repro_release). Untrusted: operands
 * are nested at most GRAPH_MAX_DEPTH deep, texts are bounded by the input.
 */
#ifndef PT2_GRAPH_JSON_H
#define PT2_GRAPH_JSON_H
#include "graph/repro/repro.h"

int graph_json_read(struct repro *r, struct slice text, const char *name, struct err *err);
void graph_json_write(const struct repro *r, struct buf *b);

#endif
