/* ptrun.h - the parts of pt2-run: main.c runs, save.c writes OUT, show.c the screen. */
#ifndef PTRUN_H
#define PTRUN_H
#include "tool/opt.h"
#include "live/run.h"

struct ptrun_options {
	const char *output, *model, *weights, *torch;
	struct opt_list load;
	int format; /* index into main.c's list, in the order of enum tensor_format; -1: by the name of .output */
	int repeat, threads, timeout;
	uint64_t max_memory;
	bool profile, json, full, quiet, unconfined, verbose;
};

/* Which format OUT has, told before anything is run. */
int save_format(const struct ptrun_options *o, enum tensor_format *format, struct err *err);
/* What is a tensor of the outputs, onto fd. */
int save_outputs(int fd, enum tensor_format format, const struct runfile *out, const char *path, struct err *err);

/* The outputs or the times, as text or JSON, onto standard output. */
int show_result(const struct ptrun_options *o, const char *model, const struct runfile *out, struct err *err);

#endif
