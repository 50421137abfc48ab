/* page.h - logs as one JSON document and as one HTML file (docs/formats/REPORT.md), for tlparse and fxexplain --html.
 *
 *     struct report r = {0};
 *     facts_init(&r.facts);
 *     struct page *p = page_new(&r, "report.html", several, &err);
 *     page_add(p, path, &options, progress, &err);       // each log: read, and kept packed what the page shows of it
 *     facts_add_textlog(&r.facts, path, &options, &err); // what is no log has rows, and no artifacts
 *     report_finish(&r);
 *     explain(&told, &r.facts);
 *     page_write(p, &told, &err);
 *     page_free(p);
 *     report_release(&r);
 */
#ifndef PAGE_H
#define PAGE_H
#include "run/diagnose/finding.h"
#include "run/ranks/ranks.h"
#include "run/sums.h"
#include "run/trace/trace.h"

struct report {
	struct facts facts;             /* of all inputs, for whatever follows from their rows */
	struct trace *log;              /* in the order of their inputs */
	const struct ranks *ranks;      /* compared, for the collectives of their Flight Recorders; NULL: none */
	const struct explanation *told; /* for the page: causes and fixes; NULL: none */
	unsigned n;
	unsigned lost; /* operands and logs in which nothing could be read */
	bool unread;   /* the system failed to read one of them, or one to its end */
	struct {
		uint32_t p, m, e, r;
	} blocks; /* of the single file */
};
/* After the last log: what follows from the rows of all. */
static inline void report_finish(struct report *r)
{
	facts_finish(&r->facts);
	facts_frames(&r->facts);
}
void report_release(struct report *r);
/* page: with the arrays that only the single file needs. */
void report_document(struct json_out *o, const struct report *r, bool page);

struct page;
/* The page of r, of which neither facts nor logs are there yet. path: a file, which appears when it is whole (base/tool/output.h); NULL or
 * "-": standard output. compare: logs are compared as ranks of one program are. NULL and err: it cannot be written. */
struct page *page_new(struct report *r, const char *path, bool compare, struct err *err);
typedef void page_progress_fn(void *ctx, uint64_t done, uint64_t size);
/* Reads a log into r->facts and r->log, and packs its payloads. path: as long as r. -1 and err: nothing could be read, nothing is added. */
int page_add(struct page *p, const char *path, const struct facts_options *o, page_progress_fn *progress, struct err *err);
/* What compares its logs, for the dumps of their Flight Recorders; NULL: nothing does. */
struct ranks *page_ranks(struct page *p);
int page_write(struct page *p, const struct explanation *told, struct err *err);
void page_free(struct page *p);

#endif
