/* nanassert.h - the parts of aoti-nanassert. Calls come from live/watch.h (live.c) or from a folder of saved tensors (offline.c),
 * become what live/nan.h looks at (gather.c), and its findings are looked at once more with all their numbers (closer.c) before
 * they are shown (show.c) or written as JSON (document.c: docs/CALLS.md). */
#ifndef NANASSERT_H
#define NANASSERT_H
#include "base/arena.h"
#include "tool/opt.h"
#include "tool/screen.h"
#include "live/nan.h"
#include "live/watch.h"

struct nanassert_options {
	bool all, inf, no_inf, constants, json, fail, no_exec, quiet, range;
	double lo, hi;
	struct opt_list ignore, load;
	const char *graph, *step;
	const char *trace, *model, *weights, *torch, *log, *against;
	int repeat, timeout, error_exitcode;
};

/* --against: what the exported program's own graph does with the same inputs. */
struct against {
	bool asked; /* a call made what was found, and the option is given */
	enum against_whose { AGAINST_UNKNOWN, AGAINST_MODEL, AGAINST_COMPILER } whose;
	struct slice node, op, python; /* MODEL: the first node that gives one, none of whose operands has one */
	bool same;                     /* MODEL: a node's value has as many elements and as many bad ones as the buffer that was found */
	struct buf why;                /* UNKNOWN: why the program did not run */
	struct arena arena;
};

struct session {
	const struct nanassert_options *o;
	const char *subject; /* the model, the folder, or the command */
	struct nan nan;
	struct nan_sources trace; /* of --trace */
	struct against against;   /* of the first finding */
	bool live;                /* findings are shown as they come */
	size_t shown;
	struct screen screen;
	int log; /* -1: standard output, or error when a command is watched */
	bool log_failed;
	struct slice failed_in; /* the last call that returned a failure or was left by an exception */
	uint32_t failed_call;
	/* for the JSON form */
	const struct watch *watch;
	const struct dump *dump;
	uint64_t captured;  /* launches that went into a CUDA graph: nothing of theirs was looked at */
	struct buf stopped; /* the call that was left when the user ended it: "cpp_fused_log_1 (call 3 of Run 0)" */
	struct buf failure; /* why the model did not run to its end */
};

/* 0; -1 and err. */
int session_open(struct session *s, const struct nanassert_options *o, const char *subject, bool live, struct err *err);
/* Write out what is on the screen. */
void session_flush(struct session *s);
/* Everything that was found; the exit status when that is all (a failed write among it). */
void session_end(struct session *s);
void session_close(struct session *s);
size_t session_findings(const struct session *s);
/* Statements of the models' texts that were not understood: a call among them is looked at without its tensors, or is taken for
 * another, so that to have found nothing is to have found nothing as far as understood. Checks of inputs do not count. */
uint32_t session_unread(const struct session *s);
/* The exit status for the models that ran: watch_status(), but EXIT_PARTIAL where nothing was found and session_unread() is not 0. */
int session_status(const struct session *s, int status);

/* ---- gather.c ---- */

/* The values live until the next call. */
struct gathered {
	struct nan_call call;
	struct nan_value *v;
	uint32_t cap;
};
/* ended: of a call that has crashed, how its process ended, or ""; NULL: it has not. */
void gather_watched(struct gathered *g, const struct watch_call *c, const char *ended);
void gather_saved(struct gathered *g, const struct dump_call *c);
void gathered_release(struct gathered *g);

/* ---- closer.c ---- */

/* Run it again, save the call's tensors, and fill in the elements. Silent where that does not succeed. */
void closer_by_running(struct session *s, const struct watch_options *as_before, struct nan_finding *f);
void closer_in_dump(const struct session *s, const struct dump *d, struct nan_finding *f);

/* ---- show.c, document.c ---- */

void show_finding(struct screen *s, const struct session *x, const struct nan_finding *f);
/* " as far as understood: ..." behind what says that nothing was found. */
void add_unread(struct buf *b, const struct session *s);
void show_summary(struct screen *s, const struct session *x);
void document_write(struct buf *b, const struct session *s);

/* ---- against.c ---- */

void against_run(struct session *s, const struct operands *in);
const char *against_name(enum against_whose w);
void against_release(struct against *a);

/* ---- modes: return the exit status ---- */

int run_model_file(const struct nanassert_options *o, const struct operands *in);
int run_command(const struct nanassert_options *o, char **command);
int run_dump(const struct nanassert_options *o, const char *folder);

#endif
