/* tlparse.h - what the files of this tool share. The order of the house: options -> trace_read with an emitter -> output.
 *
 *     main.c       options, mode, the exit status
 *     document.c   struct trace -> the JSON document (docs/REPORT.md), for --json and the single file
 *     page.c       the single HTML file: blocks while reading, then the document
 *     outdir.c     the directory: a file per artifact while reading, then the lists
 *     dirpages.c   the directory's HTML pages
 */
#ifndef TLPARSE_H
#define TLPARSE_H
#include "trace/trace.h"

struct tlparse_options {
	const char *out;          /* -o */
	const char *html;         /* --html=FILE; "-" is standard output */
	const char *header;       /* --custom-header-html */
	bool json, overwrite, strict, strict_compile_id, no_browser, plain_text, verbose, quiet, latest;
};

/* ---- document.c ---- */
struct report {
	struct trace *log;
	unsigned n;
	unsigned lost; /* operands and logs in which nothing could be read */
	struct { uint32_t p, m, e, r; } blocks; /* of the single file */
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

/* ---- page.c ---- */
int page_write(struct report *r, const struct tlparse_options *opt, int fd, struct err *err);

/* ---- outdir.c ---- */
int outdir_write(struct report *r, const struct tlparse_options *opt, struct err *err);

/* ---- main.c ---- */
/* Progress of the log being read, on a terminal, at most ten times a second. */
void show_progress(void *ctx, uint64_t consumed, uint64_t size);

#endif
