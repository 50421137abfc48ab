/* page.h - logs as one JSON document and as one HTML file (docs/formats/REPORT.md), for tlparse and fxexplain --html.
 *
 *     struct report r = {0};
 *     facts_init(&r.facts);
 *     struct page *p = page_new(&r, "report.html", several, &err);
 *     page_add(p, path, &options, progress, &err);       // for each log: reads it and keeps what the page shows, packed
 *     facts_add_textlog(&r.facts, path, &options, &err); // other inputs have rows but no artifacts
 *     report_finish(&r);
 *     explain(&x, &r.facts);
 *     page_write(p, &x, &err);
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
	struct facts facts;             /* of all inputs, for what follows from their rows */
	struct trace *log;              /* in the order of their inputs */
	const struct ranks *ranks;      /* to compare, for the collectives of their Flight Recorders; NULL: none */
	const struct explanation *told; /* for the page: causes and fixes; NULL: none */
	unsigned n;
	unsigned lost; /* operands and logs of which nothing could be read */
	bool unread;   /* a system error while reading one of them */
	struct {
		uint32_t p, m, e, r;
	} blocks; /* of the single file */
};
/* After the last log: derives what depends on the rows of all. */
static inline void report_finish(struct report *r)
{
	facts_finish(&r->facts);
	facts_frames(&r->facts);
}
void report_release(struct report *r);
/* page: include the arrays that only the single file needs. */
void report_document(struct json_out *o, const struct report *r, bool page);

struct page;
/* Starts the page of r, whose facts and logs are still empty. path: a file, which appears when complete (base/tool/output.h); NULL or "-":
 * standard output. compare: logs are compared as ranks of one program. NULL and err: it cannot be written. */
struct page *page_new(struct report *r, const char *path, bool compare, struct err *err);
typedef void page_progress_fn(void *ctx, uint64_t done, uint64_t size);
/* Reads a log into r->facts and r->log, and packs its payloads. path: as long as r. -1 and err: nothing could be read and nothing was
 * added. */
int page_add(struct page *p, const char *path, const struct facts_options *o, page_progress_fn *progress, struct err *err);
/* Its comparison of ranks, to which Flight Recorder dumps can be added; NULL: it compares nothing. */
struct ranks *page_ranks(struct page *p);
int page_write(struct page *p, const struct explanation *told, struct err *err);
void page_free(struct page *p);

#endif
