/* explain.h - shared by the rooms of this tool. Data flow: operands -> facts -> explanation -> emitter.
 *
 *     options.c    the options that all subcommands share, and how each of them begins
 *     explain.c    from operands to the requested output
 *     load.c       operands -> struct facts: recognises each (a trace, a text, a debug folder, a folder of them)
 *     terminal.c   the explanation in the terminal, at most one screen
 *     json.c       --json; docs/formats/EXPLAIN.md is its schema
 *     sarif.c      --sarif; github.c: --github
 *     baseline.c   --baseline
 *     emit.c       shared by these: counts, fingerprints, places (emit.h)
 *
 * Each subcommand is a room beside this one; its main.c has its options and what it does (struct opt_command):
 *
 *     kernel/      one kernel: its code, IR, nodes and Python lines
 *     profile/     torch.profiler traces
 *     crash/       backtraces and core files, mapped to the model
 *     fix/         fixes as a diff
 *     report/      text for an issue (report.h); everything in one file to share (bundle.h)
 *     cache/       a compile cache directory
 *     serve/       a server for editors
 *     run/         a command under TORCH_TRACE, then explained; --bisect, --recheck
 *     replay/      shows what `report --bundle` wrote and runs what is in it
 *     slow/        where compile time goes, and what would save it
 *     mend/        edits of the user's program, each proven by running it
 */
#ifndef FXEXPLAIN_EXPLAIN_H
#define FXEXPLAIN_EXPLAIN_H
#include "base/tool/opt.h"
#include "base/tool/screen.h"
#include "run/diagnose/finding.h"
#include "run/page/page.h"

/* The values of --show: sections that are shortened or left out by default. */
#define EXPLAIN_PARTS(X) \
	X(BREAKS, "breaks") \
	X(RECOMPILES, "recompiles") \
	X(SHAPES, "shapes") \
	X(TIMES, "times") \
	X(CACHES, "caches") \
	X(ERRORS, "errors") \
	X(GRAPHS, "graphs") \
	X(GUARDS, "guards") \
	X(METRICS, "metrics") \
	X(CUDAGRAPHS, "cudagraphs")
enum explain_part {
#define X(id, name) PART_##id,
	EXPLAIN_PARTS(X)
#undef X
	    PARTS,
};

struct explain_options {
	bool all, json, sarif, github, quiet;
	const char *html;     /* --html[=FILE]: "" is standard output */
	const char *output;   /* -o */
	const char *baseline; /* --baseline */
	const char *function; /* --function */
	const char *patterns; /* --patterns DIR: extra error patterns */
	const char *model;    /* --model: which model of a package */
	uint64_t show;        /* bit per enum explain_part */
	struct opt_pairs max; /* --max */
	/* Set by subcommands. */
	bool keep_graphs, keys; /* of the logs, though nothing shows them: for a bundle, for a cache */
	const char *folder;     /* the folder that holds the inputs */
	bool folder_kept;       /* it stays: names in it can be used */
	/* Adds to the facts what the inputs do not say. NULL: nothing does. */
	void (*add)(struct facts *f, const void *arg);
	const void *add_arg;
	/* Writes the explanation, before all else; true: that was all. NULL: nothing does. */
	bool (*emit)(const struct explanation *x, const struct explain_options *opt);
	/* Of `run`: the command, and its exit status or minus its signal. */
	const char *const *command;
	bool has_status;
	int status;
};

/* ---- options.c ---- */
extern struct explain_options explain_opt;
extern const struct opt explain_table[];
/* Exits if the options contradict each other. */
void explain_check(void);
/* The same; then signals are watched. reads: what only reads and answers gives up all else (broker.h). only: what to say of --html, --sarif
 * and --github, which are not for this subcommand; or NULL. */
void explain_begin(bool reads, const char *only);
void explain_only(const char *only);

/* ---- load.c ---- */
/* Reads all operands into facts, and traces also into the page of --html (NULL: none). Warns about each that cannot be read; *lost counts
 * them. -1: none could be read. */
int load_operands(struct facts *f, struct page *page, const struct explain_options *opt, const char *const *path, int n, unsigned *lost,
		  struct err *err);
/* What an operand is. */
enum operand_kind {
	OPERAND_TRACE,
	OPERAND_TEXT,
	OPERAND_DEBUGDIR,
	OPERAND_DIR,
	OPERAND_PROFILE,
	OPERAND_PACKAGE,
	OPERAND_JSON,
	OPERAND_CORE
};
enum operand_kind operand_kind(const char *path);
/* Copies pipes among them ("<(zcat log)") to unnamed files, so that they can be read twice. */
void operands_keep_pipes(struct operands *in);

/* ---- emitters: write an explanation to buffers or the screen ---- */
void emit_terminal(struct screen *s, const struct explanation *x, const struct explain_options *opt);
void emit_json(struct buf *b, const struct explanation *x, const struct explain_options *opt);
void emit_sarif(struct buf *b, const struct explanation *x, const struct explain_options *opt);
void emit_markdown(struct buf *b, const struct explanation *x, const struct explain_options *opt); /* github.c */
void emit_github(struct buf *b, const struct explanation *x, const struct explain_options *opt);

/* ---- baseline.c ---- */
/* Prints a line on standard error for each finding and count that the document of an earlier --json does not have;
 * returns how many got worse. Sets each finding's `change`. -1: the document cannot be read, or fxexplain did not write it. */
int baseline_compare(struct explanation *x, const struct explain_options *opt, unsigned *worse, struct err *err);

/* ---- explain.c ---- */
/* From operands to the requested output: the exit status. */
int explain_paths(const struct explain_options *opt, const char *const *path, int n);
/* Where output goes: this file, which appears once it is complete; NULL, "" and "-": standard output. Exits if it cannot
 * be written, else empties s. */
struct screen explain_screen(const char *path);
void explain_write(struct screen *s, const char *path);

#endif
