/* tlparse.h - what the files of this tool share. The order of the house: options -> trace_read with an emitter -> output.
 *
 *     main.c       options, mode, the exit status
 *     document.c   struct trace -> the JSON document (docs/REPORT.md), for --json and the single file
 *     page.c       the single HTML file: blocks while reading, then the document
 *     outdir.c     the directory: a file per artifact while reading, then the lists
 *     dirpages.c   the directory's HTML pages
 *     diff.c       two runs compared; diffpage.c: as a page
 *     limits.c     --max
 *     export.c     the pages of -e
 *     provenance.c the pages of -i
 *     ranks.c      many ranks: all logs into directories, what is compared into files of its own
 *     rankspage*.c the landing page over them (rankspage_part.h)
 */
#ifndef TLPARSE_H
#define TLPARSE_H
#include "ranks/ranks.h"
#include "tool/opt.h"
#include "trace/trace.h"

struct tlparse_options {
	const char *out;      /* -o */
	const char *html;     /* --html=FILE; "-" is standard output */
	const char *header;   /* --custom-header-html */
	bool all_ranks;       /* --all-ranks-html */
	struct opt_pairs max; /* --max */
	bool diff;
	bool export, provenance; /* -e, -i */
	bool json, overwrite, strict, strict_compile_id, no_browser, plain_text, verbose, quiet, latest;
};

/* ---- document.c ---- */
struct report {
	struct trace *log;
	struct rank_facts *facts; /* per log, for --json; NULL: none */
	unsigned n;
	unsigned lost; /* operands and logs in which nothing could be read */
	bool unread;   /* the system failed to read one of them, or one to its end */
	struct {
		uint32_t p, m, e, r;
	} blocks; /* of the single file */
};
/* The numbers of the summary: a log's are added to what is there. */
struct report_sums {
	uint64_t bytes, lines, records, graphs, events, artifacts, breaks, failures, restarts, skips, unknown, damaged;
	uint64_t frames, compiles, recompiles;
	uint64_t cache[CACHE_COUNT][3];
	double seconds;
};
void report_add(const struct trace *t, struct report_sums *s);
/* page: with the arrays that only the single file needs. */
void report_document(struct json_out *o, const struct report *r, bool page);

/* "summary": {...} of some logs, as a member of the object that is open. */
void report_summary(struct json_out *o, const struct trace *log, unsigned n);

/* ---- diff.c: --diff; the exit status. Operands, and the logs that each stands for ---- */
int diff_main(const struct tlparse_options *opt, const char *const name[2], char **const path[2], const size_t n[2]);

/* ---- limits.c ---- */
/* Names and numbers of --max: ends with the usage status when one is wrong. */
void limits_check(const struct opt_pairs *max);
/* One line on stderr for each limit that the logs are over. */
bool limits_exceeded(const struct opt_pairs *max, const struct report *r);

/* ---- page.c ---- */
/* what: the name that an error calls fd. */
int page_write(struct report *r, const struct tlparse_options *opt, int fd, const char *what, struct err *err);

/* ---- outdir.c ---- */
int outdir_write(struct report *r, const struct tlparse_options *opt, struct err *err);
struct output;
/* The folder that opt->out names, opened for writing; refused where it holds an input or is no report. */
struct output *outdir_open(const struct report *r, const struct tlparse_options *opt, struct err *err);
/* One log's directory, for a report over many: its facts, and its chromium events once more. */
struct outdir_extra {
	struct rank_facts *facts;
	int events;              /* file: ",\n" and an event, a NUL byte where its pid goes, and so on */
	unsigned threads, share; /* of trace_hooks */
};
int outdir_log(struct trace *t, const struct tlparse_options *opt, int dir, const char *folder, const struct outdir_extra *extra,
	       struct err *err);

/* ---- ranks.c ---- */
struct ranks_result {
	unsigned processes, lost, damaged, bad_ids;
	bool agree;
};
/* --all-ranks-html: the logs, or documents of --json, that r names. */
int ranks_write(struct report *r, const struct tlparse_options *opt, struct ranks_result *res, struct err *err);
/* Was this file written by tlparse --json? */
bool ranks_is_document(const char *path);

/* ---- rankspage.c ---- */
struct ranks_page {
	const struct ranks *all;
	const struct tlparse_options *opt;
	const bool *folder; /* per process: has it a directory of its own? NULL: in the single file, where the tag is the log */
	bool events, estimates, schedules; /* the files beside the page */
};
void ranks_page(struct buf *b, const struct ranks_page *p);
/* The same for the single file: its style, head and sections, without the files that would lie beside it. */
void ranks_fragment(struct buf *b, const struct ranks *all);

/* ---- main.c ---- */
/* Progress of the log being read, on a terminal, at most ten times a second. */
void show_progress(void *ctx, uint64_t consumed, uint64_t size);

#endif
