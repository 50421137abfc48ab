/* ptrun.h - the files of pt2-run: main.c runs compiled code, exported.c graphs; save.c writes OUT, show.c the screen. */
#ifndef PTRUN_H
#define PTRUN_H
#include "aten/ops/customops.h"
#include "base/tool/opt.h"
#include "watch/guard.h"
#include "watch/inputs.h"
#include "watch/run.h"

struct ptrun_options {
	struct run_how how;
	struct custom_ops_spec ops;
	const char *output, *graph;
	int format; /* index into main.c's list, in the order of enum tensor_format; -1: by the name of .output */
	int threads;
	uint64_t max_memory, max_bytes;
	bool profile, json, full, quiet, unconfined, verbose, as_double;
};

/* Is it a torch.export.save file, without a compiled model? */
bool is_exported(const char *path);
/* Runs its graph, or a graph alone (graph/repro/graphfile.h), with our own operators (aten/interp/program.h); ops (may be NULL) computes
 * others. */
int run_graph(const struct ptrun_options *o, const struct operands *in, struct custom_ops *ops, struct run_result *r, struct err *err);

/* The format of OUT, decided before anything is run. */
int save_format(const struct ptrun_options *o, enum tensor_format *format, struct err *err);
/* Writes the tensor outputs to fd. */
int save_outputs(int fd, enum tensor_format format, const struct runfile *out, const char *path, struct err *err);

/* Prints the outputs or the times, as text or JSON, to standard output. b: of --bounds, NULL without it. */
int show_result(const struct ptrun_options *o, const char *model, const struct runfile *out, const struct guard *b, struct err *err);

#endif
