/* outdir.h - the directory report: what outdir.c and dirpages.c share. */
#ifndef TLPARSE_OUTDIR_H
#define TLPARSE_OUTDIR_H
#include "html/html.h"
#include "tlparse.h"

/* What waits for the compilation_metrics record of its compile id: specializations and guards with their stacks. */
struct pending {
	struct buf rows; /* HTML rows of the two tables, rendered when the records came by */
	struct buf guards;
};

/* Pages. All append to b; up is "../" once per folder between the page and the report's top. */
void page_metrics(struct buf *b, const struct trace *t, const struct trace_scan *s, const struct trace_record *r,
		  const struct trace_artifact *a, const struct pending *p);
void page_bwd_metrics(struct buf *b, const struct trace *t, const struct trace_scan *s, const struct trace_record *r,
		      const struct trace_artifact *a);
void page_pending_row(struct buf *b, const struct trace *t, const struct trace_scan *s, const struct trace_record *r, bool guard);
void page_guards(struct buf *b, const char *id, struct slice payload, struct json_tape *tape);
void page_code(struct buf *b, struct slice title, struct slice payload);
void page_dump_file(struct buf *b, struct slice title, struct slice payload);
void page_stack_traces(struct buf *b, struct slice payload, struct json_tape *tape);
void page_index(struct buf *b, const struct trace *t, const struct tlparse_options *opt);
void page_failures(struct buf *b, const struct trace *t);
void page_logs(struct buf *b, const struct report *r, char *const *folder, const struct tlparse_options *opt);

#endif
