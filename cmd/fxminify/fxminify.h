/* fxminify.h - the parts of the tool: input -> oracle -> baseline -> locate -> reduce -> verify -> result.
 *
 *     main.c     options, and which of reduce, --locate, --stats, --resume is meant
 *     load.c     what the operand is: launcher, repro, graph.json, readable graph, graph of a trace, .pt2
 *     session.c  one reduction from its oracle to its end
 *     result.c   the best so far as a file, and as text for a candidate
 *     report.c   what people see: a row for each step, the line that moves, the summary
 *     stats.c    --stats
 *     extract.c  fxminify extract: a part of the graph as a program, nothing is searched
 */
#ifndef FXMINIFY_H
#define FXMINIFY_H
#include "base/tool/opt.h"
#include "base/tool/screen.h"
#include "graph/repro/repro.h"
#include "reduce/shrink.h"

struct fxminify_options {
	/* What fails */
	int after, level; /* -1: as the input says; after: 0 aot, 1 dynamo */
	const char *backend, *test, *check_str, *graph, *tracing_mode, *python;
	struct opt_list launcher;
	bool only_fwd, locate, no_locate, no_verify, quiet, verbose;
	bool want_accuracy, strict_accuracy, no_accuracy;
	/* How to search */
	int jobs, repeat, timeout, max_granularity;
	uint64_t max_memory, max_tests, seed;
	double max_time, stall; /* stall -1: by the number of operations */
	unsigned passes;
	bool nodes;
	/* Where to */
	int form;                     /* enum form; -1: plain where that was verified */
	const char *node, *from, *to; /* extract */
	int radius;
	bool no_values;
	const char *output, *journal, *resume, *stats, *save_dir, *verified;
	bool no_journal;
};

enum subject_kind { SUBJECT_PROGRAM, SUBJECT_JSON, SUBJECT_READABLE, SUBJECT_OTHER };
struct subject {
	struct repro repro;
	enum subject_kind kind;
	const char *path;
	char *file_name;   /* what a candidate is called: the input's own name */
	uint64_t hash;     /* of its bytes */
	struct arena text; /* of a graph out of a trace */
};
/* load.c */
int subject_load(struct subject *in, const char *path, const struct fxminify_options *o, struct err *err);
void subject_release(struct subject *in);

/* result.c */
enum form { FORM_PLAIN, FORM_LAUNCHER }; /* repro.h: REPRO_PLAIN, REPRO_ALONE */
struct result {
	const struct fxminify_options *o;
	const struct subject *in;
	const char *path;   /* "" standard output at the end */
	struct buf command; /* the command line, for the note */
	struct buf signature, verified, versions;
	struct buf error;  /* of the run that verified it, as it was */
	struct buf origin; /* where in the original the difference begins, and leaves it */
	struct buf more;   /* why it is no plain program */
	enum form form;    /* of a program */
	enum repro_check check;
	bool dynamic; /* FORM_PLAIN: torch.compile is told that sizes change */
};
/* The candidate as a file of the input's own kind: what --test is given. */
int result_candidate_text(const struct subject *in, const struct candidate *c, struct buf *b, struct err *err);
/* Can it be run in a process of its own? Not JSON, DOT, text, or standard output. */
bool result_is_program(const char *path);
int result_write(const struct result *r, const struct candidate *c, const struct repro_given *given, struct err *err);
/* The check that a plain program has to make of the values to fail in this way. */
enum repro_check result_check(const struct signature *want);

/* report.c: standard error.
 *
 *     original   159 operations, 27 inputs
 *     nodes      158 dropped, 1 left; 2 tests, 0.9 s
 *     arguments  74 dropped; 12 tests, 3.1 s
 *
 * A row stands when its step ended; on a terminal the step that runs is shown below them. --verbose adds torch's lines.
 */
struct report {
	bool quiet, verbose, tty, colour, shown;
	const struct runner *runner;
	const char *file;  /* the best so far */
	double last;       /* when the moving line was drawn */
	const char *label; /* of the step that runs */
	uint64_t tests;    /* when it began: tests, seconds, operations */
	double since;
	size_t ops;
	const char *told[32]; /* passes that have a row */
	size_t n_told;
};
void report_init(struct report *r, const struct fxminify_options *o, const struct runner *runner);
void report_line(struct report *r, const char *fmt, ...) PRINTF_LIKE(2, 3); /* what has no row of its own */
void report_step(struct report *r, const char *label);                      /* it begins */
void report_row(struct report *r, const char *label, const char *fmt, ...) PRINTF_LIKE(3, 4);
void report_progress(struct report *r);
void report_clear(struct report *r);
void report_pass(void *report, const struct pass_note *note);
void report_strategy(void *report, const char *name, size_t granularity, const struct candidate *best);
void report_success(void *report, const char *name, size_t before, size_t after);
void report_summary(struct report *r, const struct candidate *best, size_t original_ops);

/* session.c: an exit status */
int session_run(const struct fxminify_options *o, const char *path, const char *const *argv, const char *resume);
/* extract.c: an exit status */
int extract_run(const struct fxminify_options *o, const char *path, const char *const *argv);
/* stats.c */
int stats_run(const char *path);

#endif
