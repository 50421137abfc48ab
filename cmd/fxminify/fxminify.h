/* fxminify.h - shared by the files of the tool. Data flow: input -> oracle -> baseline -> locate -> reduce -> verify -> result.
 *
 *     main.c     options; selects reduce, --locate, --stats or --resume
 *     load.c     recognises the operand: launcher, repro, graph.json, readable graph, graph of a trace, .pt2
 *     program.h  from a program that fails to the graph that makes it fail
 *     session.c  one reduction from start to end
 *     deliver.c  chooses the form of the result; only what failed in that form, in a fresh process, is delivered
 *     result.c   writes the best result so far, and candidates
 *     evidence.h settings, passes, releases and machine that an issue names; --form issue
 *     report.c   progress: a row for each step, the moving line, the summary
 *     stats.c    --stats
 *     extract.c  fxminify extract: a part of the graph as a program, without a search
 */
#ifndef FXMINIFY_H
#define FXMINIFY_H
#include "base/tool/opt.h"
#include "base/tool/screen.h"
#include "graph/repro/repro.h"
#include "reduce/shrink.h"

/* A program that changes torch, up to its first compile. */
struct prelude {
	char *module, *path; /* "repro_program", and where it is */
	char *file;          /* the program */
	char *const *command;
	size_t at; /* of the program in command */
};

struct fxminify_options {
	/* What fails */
	int after, level; /* -1: as in the input; after: 0 aot, 1 dynamo */
	const char *backend, *test, *check_str, *expect, *seen, *graph, *tracing_mode, *python;
	/* seen: the message of the error that the program showed, in addition to expect; NULL */
	struct opt_list launcher, import, with_torch;
	bool only_fwd, locate, no_locate, no_verify, quiet, verbose;
	bool want_accuracy, strict_accuracy, no_accuracy;
	/* How to search */
	int jobs, repeat, timeout, max_granularity;
	uint64_t max_memory, max_tests, seed;
	double max_time, stall; /* stall -1: by the number of operations */
	unsigned passes;
	bool nodes;
	/* Where to */
	int form;                     /* enum form; -1: plain if that was verified */
	const char *node, *from, *to; /* extract */
	int radius;
	bool no_values;
	const char *output, *journal, *resume, *stats, *save_dir, *verified;
	bool no_journal;
	bool issue;                    /* --form issue */
	double evidence;               /* seconds; 0: none */
	const char *const *shown;      /* the command line of the result, if not the one of the journal; NULL */
	const struct prelude *prelude; /* program.h; NULL */
	const char *beside;            /* the folder of the program that failed; NULL */
};

enum subject_kind { SUBJECT_PROGRAM, SUBJECT_JSON, SUBJECT_READABLE, SUBJECT_OTHER };
struct subject {
	struct repro repro;
	enum subject_kind kind;
	const char *path;
	char *file_name;   /* the name of a candidate: the same as the input's */
	uint64_t hash;     /* of its bytes */
	struct arena text; /* the text of a graph from a trace */
};
/* load.c */
int subject_load(struct subject *in, const char *path, const struct fxminify_options *o, struct err *err);
void subject_release(struct subject *in);

/* result.c */
enum form { FORM_PLAIN, FORM_LAUNCHER, FORM_ISSUE }; /* repro.h: REPRO_PLAIN, REPRO_ALONE */
struct result {
	const struct fxminify_options *o;
	const struct subject *in;
	const char *path;   /* "" standard output at the end */
	struct buf command; /* the command line, for the note */
	struct buf signature, verified, versions;
	struct buf error;  /* the original error of the run that verified it */
	struct buf origin; /* where in the original the difference starts and leaves */
	struct buf more;   /* why it is not a plain program */
	uint64_t seed;     /* of generated values */
	enum form form;    /* of a program */
	enum repro_check check;
	bool dynamic; /* FORM_PLAIN: compile with dynamic=True */
	bool inner;   /* FORM_PLAIN: Inductor alone (repro.h) */
};
/* Writes the candidate as a file of the same kind as the input, for --test. */
int result_candidate_text(const struct subject *in, const struct candidate *c, struct buf *b, struct err *err);
/* Can it be run in a separate process? Not JSON, DOT, text, or standard output. */
bool result_is_program(const char *path);
/* "out/repro.data" of out/repro.py: where the values of large inputs are (repro_plan.h). free() it. */
char *result_data(const char *path);
int result_write(const struct result *r, const struct candidate *c, const struct repro_given *given, struct err *err);
/* The same elsewhere, and the text of the program alone. */
int result_write_to(const struct result *r, const char *path, const struct candidate *c, const struct repro_given *given, struct err *err);
int result_text(const struct result *r, const struct candidate *c, const struct repro_given *given, struct buf *b, struct err *err);
/* The check of the values that a plain program needs to fail this way. */
enum repro_check result_check(const struct signature *want);

/* report.c: standard error.
 *
 *     original   159 operations, 27 inputs
 *     nodes      158 dropped, 1 left; 2 tests, 0.9 s
 *     arguments  74 dropped; 12 tests, 3.1 s
 *
 * A row is final when its step ended; on a terminal the running step is shown below them. --verbose adds torch's lines.
 */
struct report {
	bool quiet, verbose, tty, colour, shown;
	const struct runner *runner;
	const char *file;  /* the best result so far */
	double last;       /* when the moving line was drawn */
	const char *label; /* of the running step */
	uint64_t tests;    /* at its start: tests, seconds, operations */
	double since;
	size_t ops;
	const char *told[32]; /* passes that have a row */
	size_t n_told;
};
void report_init(struct report *r, const struct fxminify_options *o, const struct runner *runner);
void report_line(struct report *r, const char *fmt, ...) PRINTF_LIKE(2, 3); /* for output without a row of its own */
void report_step(struct report *r, const char *label);                      /* starts a step */
void report_row(struct report *r, const char *label, const char *fmt, ...) PRINTF_LIKE(3, 4);
void report_progress(struct report *r);
void report_clear(struct report *r);
void report_pass(void *report, const struct pass_note *note);
void report_strategy(void *report, const char *name, size_t granularity, const struct candidate *best);
void report_success(void *report, const char *name, size_t before, size_t after);
void report_summary(struct report *r, const struct candidate *best, size_t original_ops);

/* session.c: returns an exit status */
int session_run(const struct fxminify_options *o, const char *path, const char *const *argv, const char *resume);
/* extract.c: returns an exit status */
int extract_run(const struct fxminify_options *o, const char *path, const char *const *argv);
/* stats.c */
int stats_run(const char *path);

#endif
