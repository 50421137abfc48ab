/* fxexplain.h - what the files of this tool share. The order of the house: operands -> facts -> explanation -> emitter.
 *
 *     main.c       options, subcommands, the exit status
 *     load.c       operands -> struct facts: what each is (a trace, a text, a debug folder, a folder of them)
 *     terminal.c   the explanation for a person, at most a screen
 *     json.c       --json; docs/formats/EXPLAIN.md is its schema
 *     sarif.c      --sarif; github.c: --github
 *     html.c       --html: one page, with plots
 *     baseline.c   --baseline
 *     emit.c       what these share: counts, fingerprints, places (emit.h)
 *     report.c     `report`: text for an issue (report.h); markdown.c, and redact.c for --redact
 *     kernel.c     `kernel`: one kernel, its text, IR, nodes, lines
 *     profile.c    `profile`: torch.profiler traces
 *     crash.c      `crash`: backtraces and core files
 *     fix.c        `fix`: fixes as a diff; fix_files.c the user's files, fix/ the changes
 *     cache.c      `cache`: a folder of compile caches; cache/ what is in it
 *     serve.c      `serve`: a server for editors; lsp.c its messages
 *     pack.c       `report --bundle`: all of it in one file to hand over (bundle.h)
 *     replay.c     `replay`: such a file, and what can be run of it
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

/* What --show names: parts of the answer that are short or missing otherwise. */
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
	const char *patterns;  /* --patterns DIR: more of the knowledge base */
	const char *model;     /* --model: one of several of a package */
	const char *repro;     /* report --repro FILE */
	uint64_t show;         /* bit per enum explain_part */
	struct opt_pairs max;  /* --max */
	const char *keep;      /* run --keep DIR */
	const char *folder;    /* run: the private folder of the inputs */
	bool apply;            /* fix --apply */
	const char *root;      /* fix, serve --root DIR */
	const char *only;      /* fix --only TEXT */
	int timeout;           /* run --timeout, seconds; 0: none */
	struct opt_list trace; /* cache --trace LOG */
	bool prune;            /* cache --prune */
	int older;             /* cache --older-than DAYS; 0: no age */
	const char *bundle;    /* report, run --bundle FILE */
	struct opt_list with;  /* report --with FILE */
	bool run;              /* replay --run */
	int tool;              /* replay --tool; -1: the first that there is something for */
	const char *python;    /* replay --python */
	/* run --bundle: what was run, and its exit status or minus its signal */
	const char *const *command;
	bool has_status;
	int status;
};

/* ---- load.c ---- */
/* All operands into facts, and traces into the page of --html (NULL: none); a warning for those in which nothing can be read, *lost
 * counts them. -1: in none. */
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
/* Pipes among them ("<(zcat log)") into files without a name, so that they can be read twice. */
void operands_keep_pipes(struct operands *in);

/* ---- emitters: of an explanation, to buffers or the screen ---- */
void emit_terminal(struct screen *s, const struct explanation *x, const struct explain_options *opt);
void emit_json(struct buf *b, const struct explanation *x, const struct explain_options *opt);
void emit_sarif(struct buf *b, const struct explanation *x, const struct explain_options *opt);
void emit_github(struct buf *b, const struct explanation *x, const struct explain_options *opt);
void emit_report(struct buf *b, const struct explanation *x, const struct explain_options *opt);

/* ---- baseline.c ---- */
/* A line on standard error for each finding and count that the document of an earlier --json does not have; how many more. Each
 * finding's `change` is set. -1: it cannot be read, or is none. */
int baseline_compare(struct explanation *x, const struct explain_options *opt, unsigned *worse, struct err *err);

/* ---- main.c: facts to whatever the options ask for; also the end of `run` ---- */
int explain_paths(const struct explain_options *opt, const char *const *path, int n);
/* What goes to this file, which appears when it is whole; NULL, "" and "-": to standard output. Writing ends the tool when it cannot,
 * else s is empty. */
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
/* An input's path as it is shown: without the private folder, "(standard error)" for what the command wrote there. */
uint32_t run_input_name(struct facts *f, uint32_t path, const char *folder);

#endif
