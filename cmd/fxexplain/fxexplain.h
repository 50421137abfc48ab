/* fxexplain.h - shared by the files of this tool. Data flow: operands -> facts -> explanation -> emitter.
 *
 *     main.c       options, subcommands, the exit status
 *     load.c       operands -> struct facts: recognises each (a trace, a text, a debug folder, a folder of them)
 *     terminal.c   the explanation in the terminal, at most one screen
 *     json.c       --json; docs/formats/EXPLAIN.md is its schema
 *     sarif.c      --sarif; github.c: --github
 *     html.c       --html: one page, with plots
 *     baseline.c   --baseline
 *     emit.c       shared by these: counts, fingerprints, places (emit.h)
 *     report.c     `report`: text for an issue (report.h); markdown.c, and redact.c for --redact
 *     kernel.c     `kernel`: one kernel: its code, IR, nodes and Python lines
 *     profile.c    `profile`: torch.profiler traces
 *     crash.c      `crash`: backtraces and core files, mapped to the model
 *     fix.c        `fix`: fixes as a diff; fix_files.c has the user's files, fix/ the edits
 *     cache.c      `cache`: a compile cache directory; cache/ reads it
 *     serve.c      `serve`: a server for editors; lsp.c its messages
 *     pack.c       `report --bundle`: everything in one file to share (bundle.h)
 *     replay.c     `replay`: shows such a file and runs what is in it
 *     run.c        `run`: a command under TORCH_TRACE, then explained; --bisect
 *
 * Each *_main returns the exit status.
 */
#ifndef FXEXPLAIN_H
#define FXEXPLAIN_H
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
	bool all, json, sarif, github, report, quiet, bisect, redact;
	const char *html;      /* --html[=FILE]: "" is standard output */
	const char *output;    /* -o */
	const char *baseline;  /* --baseline */
	const char *function;  /* --function */
	const char *patterns;  /* --patterns DIR: extra error patterns */
	const char *model;     /* --model: which model of a package */
	const char *repro;     /* report --repro FILE */
	uint64_t show;         /* bit per enum explain_part */
	struct opt_pairs max;  /* --max */
	const char *keep;      /* run --keep DIR */
	const char *folder;    /* run: the private folder that holds the inputs */
	bool apply;            /* fix --apply */
	const char *root;      /* fix, serve --root DIR */
	const char *only;      /* fix --only TEXT */
	int timeout;           /* run --timeout, seconds; 0: none */
	struct opt_list trace; /* cache --trace LOG */
	bool prune;            /* cache --prune */
	int older;             /* cache --older-than DAYS; 0: any age */
	const char *bundle;    /* report, run --bundle FILE */
	struct opt_list with;  /* report --with FILE */
	bool run;              /* replay --run */
	int tool;              /* replay --tool; -1: the first that the bundle has input for */
	const char *python;    /* replay --python */
	/* run --bundle: the command, and its exit status or minus its signal */
	const char *const *command;
	bool has_status;
	int status;
};

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
void emit_github(struct buf *b, const struct explanation *x, const struct explain_options *opt);
void emit_report(struct buf *b, const struct explanation *x, const struct explain_options *opt);

/* ---- baseline.c ---- */
/* Prints a line on standard error for each finding and count that the document of an earlier --json does not have;
		   * returns how many got worse. Sets each finding's `change`. -1: the document cannot be read, or fxexplain did not write it. */
int baseline_compare(struct explanation *x, const struct explain_options *opt, unsigned *worse, struct err *err);

/* ---- main.c: from facts to the requested output; also the end of `run` ---- */
int explain_paths(const struct explain_options *opt, const char *const *path, int n);
/* Where output goes: this file, which appears once it is complete; NULL, "" and "-": standard output. Exits if it cannot
		   * be written, else empties s. */
struct screen explain_screen(const char *path);
void explain_write(struct screen *s, const char *path);

/* ---- subcommands ---- */
int kernel_main(const struct explain_options *opt, const struct operands *in);
int profile_main(const struct explain_options *opt, const struct operands *in);
int crash_main(const struct explain_options *opt, const struct operands *in);
int fix_main(const struct explain_options *opt, const struct operands *in);
int cache_main(const struct explain_options *opt, const struct operands *in);
int serve_main(const struct explain_options *opt, const struct operands *in);
int run_main(const struct explain_options *opt, const struct operands *in);
int replay_main(const struct explain_options *opt, const struct operands *in);
/* An input's path as shown: without the private folder; "(standard error)" for what the command wrote there. */
uint32_t run_input_name(struct facts *f, uint32_t path, const char *folder);

#endif
