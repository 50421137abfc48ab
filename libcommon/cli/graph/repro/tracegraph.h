/* tracegraph.h - one of the graphs of a TORCH_TRACE log, as its text in the log.
 *
 *     struct buf text = {0};
 *     if (tracegraph_read("trace.log", "0/0:aot_forward_graph", TRACEGRAPH_VALUES, &text, &err) < 0) ...  // EXIT_USAGE: none
 *
 * which: ID[:NAME]; NULL: the only compilation's. ID 0/0 is also its last attempt, 0/0_1. Without NAME it is the best graph for the
 * purpose: to make a program (fx_graph_runnable, which has the inputs' storages, else AOTAutograd's), or to compute values (for an
 * AOTInductor compile before_joint_graph, whose parameters are attributes with their names; else AOTAutograd's: aot_inference_graph,
 * aot_forward_graph; then the program). If there is none, or several and `which` does not choose, the available ones are listed as notes.
 */
#ifndef PT2_TRACEGRAPH_H
#define PT2_TRACEGRAPH_H
#include "base/buf.h"

enum tracegraph_use { TRACEGRAPH_PROGRAM, TRACEGRAPH_VALUES };
int tracegraph_read(const char *path, const char *which, enum tracegraph_use use, struct buf *text, struct err *err);

#endif
