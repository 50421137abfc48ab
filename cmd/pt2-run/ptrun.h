/* ptrun.h - the parts of pt2-run: main.c runs, exported.c what has a graph and no code; save.c writes OUT, show.c the screen. */
#ifndef PTRUN_H
#define PTRUN_H
#include "base/tool/opt.h"
#include "watch/inputs.h"
#include "watch/run.h"

struct ptrun_options {
	const char *output, *model, *weights, *torch, *graph;
	struct opt_list load;
	int format; /* index into main.c's list, in the order of enum tensor_format; -1: by the name of .output */
	int repeat, threads, timeout;
	uint64_t max_memory, max_bytes;
	bool profile, json, full, quiet, unconfined, verbose, as_double;
};

/* Is it what torch.export.save wrote, without a compiled model? */
bool is_exported(const char *path);
/* Its graph, or one alone (graph/repro/graphfile.h), run by the operators here (aten/interp/program.h). */
int run_graph(const struct ptrun_options *o, const struct operands *in, struct run_result *r, struct err *err);

/* Which format OUT has, told before anything is run. */
int save_format(const struct ptrun_options *o, enum tensor_format *format, struct err *err);
/* Writes the outputs that are tensors to fd. */
int save_outputs(int fd, enum tensor_format format, const struct runfile *out, const char *path, struct err *err);

/* The outputs or the times, as text or JSON, onto standard output. */
int show_result(const struct ptrun_options *o, const char *model, const struct runfile *out, struct err *err);

#endif
