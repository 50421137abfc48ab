/* graphfile.h - a graph without a package, as a program to run: from a trace log, a launcher or repro, graph.json, FX code.
 *
 *     struct graph_file f;
 *     struct program p;
 *     if (graph_file_is(path) && graph_file_open(&f, &p, path, "0/0", &err) == 0) ...   // NULL: that of the only compilation
 *     program_lacks_weights(&p) ...                                                     // they were not kept: call program_take_weights()
 *     program_close(&p);
 *     graph_file_close(&f);                                                             // afterwards: f owns p's texts
 */
#ifndef PT2_GRAPHFILE_H
#define PT2_GRAPHFILE_H
#include "aten/interp/program.h"
#include "graph/repro/repro.h"
#include "watch/inputs.h"

struct graph_file {
	struct repro repro; /* except its graph, which p owns; stored inputs */
	struct symbind env; /* symbols with values */
	struct buf text;
	char *shown; /* "trace.log (0/0)"; NULL: the path */
};

/* True for a text, not an archive or a library. */
bool graph_file_is(const char *path);
int graph_file_open(struct graph_file *f, struct program *p, const char *path, const char *which, struct err *err);
/* The stored values of a launcher's inputs. EXIT_USAGE: they were not kept. */
int graph_kept_inputs(const struct graph_file *f, const struct program *p, struct inputs *in, struct err *err);
void graph_file_close(struct graph_file *f);

#endif
