/* printer.h - shared by the files of aoti-printer. Calls come from watch/watch.h (session.c), pass the filters (filter.c), and go to one
 * consumer: the terminal (print.c), a JSON document or a folder (save.c), a table of times (profile.c), of buffers at the peak (memory.c),
 * a GPU fault (ima.c, fault.h).
 * --diff compares two folders (compare.c), and shows the result as text or JSON (diffshow.c) or as a page (diffpage.c). */
#ifndef PRINTER_H
#define PRINTER_H
#include "base/tool/opt.h"
#include "base/tool/screen.h"
#include "base/tool/output.h"
#include "watch/dump.h"
#include "watch/watch.h"

/* Numbered as in PyTorch: torch/_inductor/codegen/debug_utils.py, IntermediateValueDebuggingLevel. */
enum { LEVEL_OFF, LEVEL_SAVE, LEVEL_PRINT, LEVEL_NAMES, LEVELS };

struct printer_options {
	const struct watch_recorded *recorded; /* the command runs a bundle's graph again; NULL */
	int level;                             /* -1: not given */
	int format;                            /* index into main.c's list: enum tensor_format by format_of() */
	int error_exitcode, last;
	const char *output, *diff, *html, *record, *ima, *chrome_trace, *calls, *runs, *graph, *step, *log;
	struct run_how how;
	struct opt_list kernels, buffers;
	double rtol, atol; /* -1: not given */
	uint64_t save_max;
	bool overwrite, profile, memory, json, full, sanitizer, inputs, constants, all, quiet, no_exec;
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
/* The same for a value of a watched call. */
bool filter_value(const struct filter *f, const struct watch_call *c, uint32_t i);

/* ---- session.c: run a model or watch a command, and pass on each call ---- */

struct session;
/* A call that passed the filters; c->begin.what CALL_RUN_BEGIN: a run with the model's inputs and outputs. */
typedef void session_take(struct session *s, const struct watch_call *c);
typedef void session_end_fn(struct session *s, struct watch *w);
struct session {
	const struct printer_options *o;
	struct filter filter;
	session_take *take;
	session_end_fn *end; /* may be NULL */
	void *user;
	struct screen screen;        /* pending output */
	int log_fd;                  /* -1: standard output */
	const char *folder;          /* where tensors are saved; NULL */
	const char *called;          /* the folder's name in error messages */
	bool keep;                   /* the folder is a result; else each file is removed once shown */
	bool stay;                   /* a command killed by a signal does not end the tool */
	uint64_t seen, shown, found; /* calls; those that passed the filters; findings */
	struct output *commit;       /* a folder that appears when complete; NULL */
	char *cleanup;               /* owned by the session: a folder to remove at the end; NULL */
	struct err err;              /* set if something failed meanwhile: its text is not empty */
};
void session_begin(struct session *s, const struct printer_options *o, session_take *take, session_end_fn *end, void *user);
/* Operand `first` is the model, unless there is a command. want: enum calls_want. Returns the exit status; s->err may be set. */
int session_run(struct session *s, const struct operands *in, int first, uint32_t want);
void session_flush(struct session *s);
void session_release(struct session *s);
/* The same; exits if something went wrong. */
void session_end(struct session *s);

/* Removes the file of a tensor. */
void session_forget(const struct session *s, const char *saved);

/* The temporary path of a folder that is being made (base/tool/output.h): another process needs a name. */
int output_path(const struct output *o, char *path, size_t room, struct err *err);

/* ---- print.c ---- */

void print_call(struct session *s, const struct watch_call *c);
void print_names(struct session *s, const struct watch_call *c);
/* "cpp_fused_relu_0 (wrapper.cpp:977; from linear, relu)", without control bytes */
void add_call_name(struct buf *b, struct slice name, struct slice text, uint32_t line, struct slice nodes);
/* The same for a watched call, and for a saved one. */
void add_watched_name(struct buf *b, const struct watch_call *c);
static inline void add_saved_name(struct buf *b, const struct dump_call *c) { add_call_name(b, c->name, c->text, c->line, c->nodes); }

/* ---- save.c: save a run in a folder ---- */

/* Writes a dump into an existing folder; also shows it if `shows`. Returns the exit status. */
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
