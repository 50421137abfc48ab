/* printer.h - the parts of aoti-printer. Calls come from watch/watch.h (session.c), go through the filters (filter.c) and from
 * there to one taker: the terminal (print.c), a JSON document or a folder (save.c), a table of times (profile.c), of buffers at the peak
 * (memory.c), a GPU's fault (ima.c, fault.h).
 * --diff compares two folders (compare.c), which are shown as text or JSON (diffshow.c) or as a page (diffpage.c). */
#ifndef PRINTER_H
#define PRINTER_H
#include "base/tool/opt.h"
#include "base/tool/screen.h"
#include "base/tool/output.h"
#include "watch/dump.h"
#include "watch/watch.h"

/* As PyTorch numbers them: torch/_inductor/codegen/debug_utils.py, IntermediateValueDebuggingLevel. */
enum { LEVEL_OFF, LEVEL_SAVE, LEVEL_PRINT, LEVEL_NAMES, LEVELS };

struct printer_options {
	int level;  /* -1: not given */
	int format; /* index into main.c's list: enum tensor_format by format_of() */
	int repeat, error_exitcode, last;
	const char *output, *diff, *html, *record, *ima, *chrome_trace, *model, *weights, *torch, *calls, *runs, *graph, *step, *log;
	struct opt_list kernels, buffers, load;
	double rtol, atol; /* -1: not given */
	uint64_t save_max;
	bool overwrite, profile, memory, json, full, inputs, constants, all, quiet, no_exec;
};

/* ---- filter.c: which calls, which buffers ---- */

struct filter_range {
	uint32_t first, last;
};
struct filter {
	struct opt_list kernel, buffer; /* globs */
	struct filter_range *calls, *runs;
	size_t n_calls, n_runs, cap_calls, cap_runs;
	char **owned;
	size_t n_owned, cap_owned;
	bool inputs, constants, fold;
};
int filter_make(struct filter *f, const struct printer_options *o, struct err *err);
void filter_release(struct filter *f);
bool filter_call(const struct filter *f, struct slice kernel, uint32_t run, uint32_t call);
/* path: a constant's module path, or "". */
bool filter_buffer(const struct filter *f, enum call_role role, struct slice name, struct slice path);
/* The same for a value of a call that is watched. */
bool filter_value(const struct filter *f, const struct watch_call *c, uint32_t i);

/* ---- session.c: run a model or watch a command, and hand each call on ---- */

struct session;
/* A call that the filters let pass; c->begin.what CALL_RUN_BEGIN: a Run with the model's inputs and outputs. */
typedef void session_take(struct session *s, const struct watch_call *c);
typedef void session_end_fn(struct session *s, struct watch *w);
struct session {
	const struct printer_options *o;
	struct filter filter;
	session_take *take;
	session_end_fn *end; /* may be NULL */
	void *user;
	struct screen screen;        /* what is to be printed */
	int log_fd;                  /* -1: on standard output */
	const char *folder;          /* where tensors are saved; NULL */
	const char *called;          /* the folder as errors name it */
	bool keep;                   /* the folder is a result; else a file is removed once it has been shown */
	bool stay;                   /* a command that a signal has ended does not end the tool */
	uint64_t seen, shown, found; /* calls; those that passed; what counts as a finding */
	struct output *commit;       /* a folder that becomes whole at the end; NULL */
	char *cleanup;               /* the session's: a folder to remove at the end; NULL */
	struct err err;              /* of what failed meanwhile: its text is not empty */
};
void session_begin(struct session *s, const struct printer_options *o, session_take *take, session_end_fn *end, void *user);
/* Operand `first` is the model, unless there is a command. want: enum calls_want. The exit status; s->err may be set. */
int session_run(struct session *s, const struct operands *in, int first, uint32_t want);
void session_flush(struct session *s);
void session_release(struct session *s);
/* The same; the tool ends where something went wrong. */
void session_end(struct session *s);

/* The file of a tensor goes. */
void session_forget(const struct session *s, const char *saved);

/* Where a folder that is being made (base/tool/output.h) is for now: another process needs a name. */
int output_path(const struct output *o, char *path, size_t room, struct err *err);

/* ---- print.c ---- */

void print_call(struct session *s, const struct watch_call *c);
void print_names(struct session *s, const struct watch_call *c);
/* "cpp_fused_relu_0 (wrapper.cpp:977; from linear, relu)", without control bytes */
void add_call_name(struct buf *b, struct slice name, struct slice text, uint32_t line, struct slice nodes);
/* The same of a call that is watched, and of one that was saved. */
void add_watched_name(struct buf *b, const struct watch_call *c);
static inline void add_saved_name(struct buf *b, const struct dump_call *c) { add_call_name(b, c->name, c->text, c->line, c->nodes); }

/* ---- save.c: a folder of what is run ---- */

/* A dump into a folder that exists; also shown when `shows`. The exit status. */
int save_into(const struct printer_options *o, const struct operands *in, int first, const char *folder, bool shows, struct err *err);

/* ---- modes: return the exit status ---- */

int run_print(const struct printer_options *o, const struct operands *in);
int run_save(const struct printer_options *o, const struct operands *in);
int run_profile(const struct printer_options *o, const struct operands *in);
int run_diff(const struct printer_options *o, const struct operands *in);
int run_memory(const struct printer_options *o, const struct operands *in);
int run_ima(const struct printer_options *o, const struct operands *in);
int run_record(const struct printer_options *o, const struct operands *in);

#endif
