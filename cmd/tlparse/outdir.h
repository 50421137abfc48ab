/* outdir.h - the directory report: shared by outdir.c and dirpages.c. */
#ifndef TLPARSE_OUTDIR_H
#define TLPARSE_OUTDIR_H
#include "base/html/html.h"
#include "tlparse.h"
#include "base/tool/json_stream.h"

/* Specializations and guards with their stacks wait here for the compilation_metrics record of their compile id. */
struct pending {
	struct buf rows; /* HTML rows of the two tables, rendered when the records are read */
	struct buf guards;
};

static inline struct slice name(const struct trace *t, uint32_t n) { return facts_text(t->f, n); }

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
/* Building blocks of the pages in export.c. */
void page_head(struct buf *b, struct slice title, unsigned depth);
void page_frame(struct buf *b, struct slice file, int64_t line, struct slice function, struct slice code, unsigned depth);
void page_damage(struct buf *b, const struct trace *t);
/* A folded stack: from the outermost to this node, which may be NONE, limited to 512 frames. */
void page_stack(struct buf *b, const struct trace *t, const struct trace_trie *trie, uint32_t node, const char *caption, bool open);
/* export.c: -e */
void page_guard(struct buf *b, const struct trace *t, const struct trace_export *x);
void page_export(struct buf *b, const struct trace *t, const struct tlparse_options *opt);
/* provenance.c: -i. take while reading, page and page_name per compile id at the end. */
struct prov_pages *prov_pages_new(struct err *err);
int prov_pages_take(struct prov_pages *p, const struct trace *t, uint32_t artifact, struct slice payload, struct err *err);
int prov_page(struct prov_pages *p, struct buf *b, const struct trace *t, uint32_t compile, struct err *err);
void prov_page_name(const struct trace *t, uint32_t compile, struct buf *out);
void prov_pages_free(struct prov_pages *p);
void page_index(struct json_stream *out, const struct trace *t, const struct tlparse_options *opt); /* written while it is generated */
void page_failures(struct buf *b, const struct trace *t);
/* vllm.c: for a trace with page_has_vllm(). */
void page_vllm(struct buf *b, const struct trace *t);
bool page_has_vllm(const struct trace *t);
void page_logs(struct buf *b, const struct report *r, char *const *folder, const struct tlparse_options *opt);

#endif
