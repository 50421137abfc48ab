/* nanassert.h - shared by the files of aoti-nanassert. Calls come from watch/watch.h (live.c) or from a folder of saved tensors (offline.c)
 * and are converted (gather.c) for watch/nan.h; its findings are examined once more with all their numbers (closer.c) before they are
 * shown (show.c) or written as JSON (document.c: docs/formats/CALLS.md). */
#ifndef NANASSERT_H
#define NANASSERT_H
#include "base/arena.h"
#include "base/tool/opt.h"
#include "base/tool/screen.h"
#include "watch/nan.h"
#include "watch/watch.h"

struct nanassert_options {
	bool all, inf, no_inf, constants, json, fail, no_exec, quiet, range, exact, stops, explode, skipped;
	double lo, hi;
	struct run_how how;
	uint32_t stop_run, stop_call; /* .stops: --stop-at */
	struct opt_list ignore;
	const char *graph, *step;
	const char *trace, *log, *against;
	const struct watch_recorded *recorded; /* the command runs a bundle's graph again; NULL */
	int error_exitcode;
};

/* --against: what the exported program's graph does with the same inputs. */
struct against {
	bool asked; /* a call produced the finding, and the option is given */
	enum against_whose { AGAINST_UNKNOWN, AGAINST_MODEL, AGAINST_COMPILER } whose;
	struct slice node, op, python; /* MODEL: the first node that produces one, none of whose operands has one */
	bool same;                     /* MODEL: a node's value has as many elements and bad ones as the buffer of the finding */
	struct buf why;                /* UNKNOWN: why the program did not run */
	struct arena arena;
};

struct session {
	const struct nanassert_options *o;
	const char *subject;  /* the model, the folder, or the command */
	char *const *command; /* NULL: a model or a folder */
	bool scans;           /* on a GPU, calls are scanned and not waited for (CALLS_SCAN) */
	struct nan nan;
	struct nan_sources trace;  /* of --trace */
	char *folder;              /* of what the first calls that produced a NaN had read and written (CALLS_KEEP); NULL: not kept */
	struct arena evaluated;    /* of causes */
	struct against against;    /* of the first finding */
	struct exploded *exploded; /* --explode; NULL */
	bool live;                 /* findings are shown immediately */
	size_t shown;
	struct screen screen;
	int log; /* -1: standard output, or standard error if a command is watched */
	bool log_failed;
	struct slice failed_in; /* the last call that returned an error or threw an exception */
	uint32_t failed_call;
	/* for the JSON form */
	const struct watch *watch;
	const struct dump *dump;
	uint64_t captured;  /* launches captured into a CUDA graph: not checked */
	struct buf stopped; /* the call in progress when the user stopped it: "cpp_fused_log_1 (call 3 of run 0)" */
	struct buf failure; /* why the model did not finish */
};

/* 0; -1 and err. */
int session_open(struct session *s, const struct nanassert_options *o, const char *subject, bool live, struct err *err);
/* Writes out the pending screen. */
void session_flush(struct session *s);
/* Shows all findings; returns the exit status (also of a failed write). */
void session_end(struct session *s);
void session_close(struct session *s);
size_t session_findings(const struct session *s);
/* Statements of the models' code that were not understood: a call among them is checked without its tensors, or mistaken for another, so
 * "nothing found" then only holds as far as known. Checks of inputs do not count. */
uint32_t session_unread(const struct session *s);
/* The exit status for the models that ran: watch_status(), but EXIT_PARTIAL if nothing was found and session_unread() is not 0. */
int session_status(const struct session *s, int status);

/* ---- gather.c ---- */

/* The values are valid until the next call. */
struct gathered {
	struct nan_call call;
	struct nan_value *v;
	uint32_t cap;
};
/* ended: for a crashed call, how its process ended, or ""; NULL: it did not crash. */
void gather_watched(struct gathered *g, const struct watch_call *c, const char *ended);
void gather_saved(struct gathered *g, const struct dump_call *c);
void gathered_release(struct gathered *g);

/* ---- closer.c ---- */

/* Runs the model again, saves the call's tensors, and fills in the elements. Silent if that fails. */
void closer_by_running(struct session *s, const struct watch_options *as_before, struct nan_finding *f);
void closer_in_dump(const struct session *s, const struct dump *d, struct nan_finding *f);

/* ---- evaluate.c ---- */

struct firstnan;
/* Evaluates a finding in a torch.compile graph, once: f->why. Nothing for other findings. */
void evaluate_graph(struct session *s, const struct watch *w, struct nan_finding *f);
struct nan_cause *evaluate_new(struct session *s);
/* What firstnan_find gave, as a cause. */
void evaluate_result(struct session *s, struct firstnan *f, int found, uint32_t node, struct nan_cause *c);

/* ---- explode.c ---- */

struct exploded *exploded_new(void);
void exploded_free(struct exploded *e);
void exploded_take(struct exploded *e, const struct watch_call *c);
size_t exploded_n(const struct exploded *e);
void exploded_show(struct screen *s, struct exploded *e, bool all);
void exploded_document(struct json_out *o, struct exploded *e);

/* ---- show.c, document.c ---- */

void show_finding(struct screen *s, const struct session *x, const struct nan_finding *f);
/* " as far as known: ...", after "nothing found". */
void add_unread(struct buf *b, const struct session *s);
void show_summary(struct screen *s, const struct session *x);
void document_write(struct buf *b, const struct session *s);

/* ---- against.c ---- */

void against_run(struct session *s, const struct operands *in);
void against_dump(struct session *s, const struct dump *d);
const char *against_name(enum against_whose w);
void against_release(struct against *a);

/* ---- modes: return the exit status ---- */

int run_model_file(const struct nanassert_options *o, const struct operands *in);
int run_command(const struct nanassert_options *o, char **command);
int run_dump(const struct nanassert_options *o, const char *folder);

#endif
