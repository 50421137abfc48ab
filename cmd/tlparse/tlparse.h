/* tlparse.h - shared by the files of this tool. Data flow: options -> trace_read with an emitter -> output.
 *
 *     main.c       options, mode, the exit status
 *     outdir.c     the directory: a file per artifact while reading, then the lists
 *     dirpages.c   the directory's HTML pages
 *     diff.c       compares two runs; diffjson.c writes the document, diffpage.c the page
 *     export.c     the pages of -e
 *     provenance.c the pages of -i
 *     vllm.c       the directory's page about vLLM
 *     serve.c      --serve: the report over HTTP
 *     ranks.c      many ranks: a directory per log, and files with the comparison
 *
 * page/ writes the single file and the JSON document, also for fxexplain --html.
 */
#ifndef TLPARSE_H
#define TLPARSE_H
#include "base/tool/opt.h"
#include "run/page/page.h"
#include "run/ranks/ranks.h"
#include "run/trace/trace.h"

struct tlparse_options {
	const char *out;                      /* -o */
	const char *html;                     /* --html=FILE; "-" is standard output */
	const char *header;                   /* --custom-header-html */
	char **dump;                          /* operands that are dumps of Flight Recorders */
	size_t n_dump, cap_dump, named_dumps; /* named_dumps: those given as operands, not found in one */
	bool all_ranks;                       /* --all-ranks-html */
	struct opt_pairs max;                 /* --max */
	bool diff;
	bool export, provenance; /* -e, -i */
	bool terminal;           /* standard error is one */
	int port;                /* --port */
	bool serve, json, overwrite, strict, strict_compile_id, no_browser, plain_text, verbose, quiet, latest;
};

/* ---- diff.c: --diff; the exit status. Operands, and the logs each one provides ---- */
int diff_main(const struct tlparse_options *opt, const char *const name[2], char **const path[2], const size_t n[2]);

/* ---- outdir.c ---- */
/* A log is never replaced by its report: exits if `out` is one of the inputs. */
void tlparse_refuse_input(const char *out, char *const *path, size_t n);
/* Progress of the log being read, at most ten times a second. */
void show_progress(void *ctx, uint64_t consumed, uint64_t size);
#define PROGRESS(opt) ((opt)->terminal && !(opt)->quiet ? show_progress : NULL)
int outdir_write(struct report *r, const struct tlparse_options *opt, struct err *err);
struct output;
/* Opens opt->out for writing; refuses a folder that contains an input or is not a report. */
struct output *outdir_open(const struct report *r, const struct tlparse_options *opt, struct err *err);
/* A report over many logs needs the facts of each directory, and its chromium events again. */
struct outdir_extra {
	int events;              /* file: ",\n" and an event with a NUL byte instead of its pid, repeated */
	unsigned threads, share; /* of trace_hooks */
};
int outdir_log(struct trace *t, const struct tlparse_options *opt, int dir, const char *folder, const struct outdir_extra *extra,
	       struct err *err);

/* ---- serve.c: makes the report as this command line says, without --serve, and serves it; the exit status ---- */
int serve_report(const struct tlparse_options *opt, int argc, char **argv);

/* ---- ranks.c ---- */
struct ranks_result {
	unsigned processes, lost, damaged, bad_ids;
	bool agree;
};
/* --all-ranks-html: for the logs, or --json documents, in r. */
int ranks_write(struct report *r, const struct tlparse_options *opt, struct ranks_result *res, struct err *err);

#endif
