/* graphfile.h - a graph that came without a package, as a program that runs: of a trace log, a launcher or repro, graph.json, FX code.
 *
 *     struct graph_file f;
 *     struct program p;
 *     if (graph_file_is(path) && graph_file_open(&f, &p, path, "0/0", &err) == 0) ...   // NULL: the only compilation's
 *     program_lacks_weights(&p) ...                                                     // they were not kept: program_take_weights()
 *     program_close(&p);
 *     graph_file_close(&f);                                                             // after it: p's texts are f's
 */
#ifndef PT2_GRAPHFILE_H
#define PT2_GRAPHFILE_H
#include "aten/interp/program.h"
#include "graph/repro/repro.h"
#include "watch/inputs.h"

struct graph_file {
	struct repro repro; /* but its graph, which is p's; inputs that were kept */
	struct symbind env; /* symbols that it has values for */
	struct buf text;
	char *shown; /* "trace.log (0/0)"; NULL: it is the path */
};

/* A text, neither an archive nor a library. */
bool graph_file_is(const char *path);
int graph_file_open(struct graph_file *f, struct program *p, const char *path, const char *which, struct err *err);
/* The values that a launcher's inputs had. EXIT_USAGE: they were not kept. */
int graph_kept_inputs(const struct graph_file *f, const struct program *p, struct inputs *in, struct err *err);
void graph_file_close(struct graph_file *f);

#endif
