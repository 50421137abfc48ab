/* wrong.h - `fxexplain run --wrong`: the program's own check of its numbers fails; which part of torch.compile makes them wrong?
 *
 *     wrong.c          the driver: bisects (bisect.h), then asks one of the other two, then prints
 *     wrong_graphs.c   runs the program once more and keeps its graphs with what every kernel reads and writes (aoti-printer -i -o); then
 *                      each kernel is compared with its graph (aoti-verify --graph)
 *     wrong_lost.c     runs it eager, twice, and compiled without Inductor, and compares what each call of a compiled function left behind
 *                      (share/explain/state.py)
 *     wrong_show.c     text and --json (docs/formats/EXPLAIN.md: fxminify reads it)
 *
 * All files are in a kept run (run/kept/kept.h), so that the next commands work as printed. */
#ifndef RUN_WRONG_H
#define RUN_WRONG_H
#include "run/bisect.h"

struct wrong_graph {
	const char *id, *name, *trace, *model; /* "0/0", "aot_forward_graph", the log, "0_forward" */
	enum { GRAPH_OPEN, GRAPH_RIGHT, GRAPH_PARTLY, GRAPH_WRONG } verdict;
	unsigned kernels, verified;
	const char *why; /* not verified: why; NULL */
	/* of the first kernel that is wrong */
	unsigned run;
	const char *kernel, *node, *python; /* "app.py:12 in f, code: ..." */
	const char *what;                   /* "buf1: 7 of 8 elements differ; at [2] got 4.9, expected 3.9" */
};
extern const char *const wrong_verdict_name[4];

struct wrong_lost {
	const char *what, *eager, *compiled, *file, *function;
	uint32_t line, call;
};

enum { WRONG_GRAPHS = 64, WRONG_LOST = 12 };
struct wrong {
	struct bisect b;
	const char *dump; /* NULL: not recorded */
	struct wrong_graph graph[WRONG_GRAPHS];
	unsigned n_graph, more_graphs;
	int fault; /* index of graph; -1: none */
	struct wrong_lost lost[WRONG_LOST];
	unsigned n_lost;
	bool compared;    /* the state of calls was */
	const char *note; /* why a step could not be done; NULL */
};

/* The exit status. */
int wrong_run(char *const *command, const char *keep, int timeout_ms);

void wrong_find_graphs(struct wrong *w);
void wrong_find_lost(struct wrong *w);
void wrong_show(struct screen *s, const struct wrong *w);
void wrong_document(struct buf *out, const struct wrong *w);

#endif
