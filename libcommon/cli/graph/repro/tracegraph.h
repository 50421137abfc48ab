/* tracegraph.h - one of the graphs of a TORCH_TRACE log, as the text that it is there.
 *
 *     struct buf text = {0};
 *     if (tracegraph_read("trace.log", "0/0:aot_forward_graph", TRACEGRAPH_VALUES, &text, &err) < 0) ...  // EXIT_USAGE: none
 *
 * which: ID[:NAME]; NULL: the only compilation's. ID 0/0 is also its last attempt, 0/0_1. Without NAME it is the graph that serves best:
 * to make a program of it (fx_graph_runnable, which has the inputs' storages, else what AOTAutograd gave), or to compute its values (of an
 * AOTInductor compile before_joint_graph, whose parameters are attributes with their names; else what AOTAutograd gave:
 * aot_inference_graph, aot_forward_graph; the program next to it).
 * When there is none, or several and which does not say, those that there are are shown as notes.
 */
#ifndef PT2_TRACEGRAPH_H
#define PT2_TRACEGRAPH_H
#include "base/buf.h"

enum tracegraph_use { TRACEGRAPH_PROGRAM, TRACEGRAPH_VALUES };
int tracegraph_read(const char *path, const char *which, enum tracegraph_use use, struct buf *text, struct err *err);

#endif
