/* document.h - the JSON document of a run: the rows of run/facts.h, each described once.
 *
 *     struct json_out o = {.b = &b};
 *     json_obj(&o);
 *     document_head(&o, "fxexplain", f);            // tool, version, schema, inputs, summary
 *     document_rows(&o, f);                         // compiles, attempts, frames, graph_breaks, ... one list a table
 *     ... what this tool alone knows: findings, artifacts
 *     json_close(&o);
 *
 * tlparse and fxexplain write it, so that a list has the same rows under the same names in both. What a member is
 * called and means stands in the row's list in facts.h, of which docs/formats/COMPILATION.md is made, too (document_manual).
 *
 * Read back by document_open(): what --baseline, --diff and the merging of ranks take out of a document that was kept.
 */
#ifndef PT2_DOCUMENT_H
#define PT2_DOCUMENT_H
#include "base/json.h"
#include "run/sums.h"

enum { DOCUMENT_SCHEMA = 2 };

void document_head(struct json_out *o, const char *tool, const struct facts *f);
void document_rows(struct json_out *o, const struct facts *f);
/* steps, spans, lists, parities: by what tlparse compares ranks. */
void document_ranks(struct json_out *o, const struct facts *f);
/* "summary" of one input, or (NONE) of all: an object that stays open for a tool's own counts. */
void document_summary(struct json_out *o, const struct facts *f, uint32_t input);
/* Its counts, into the object that is open. */
void document_sums(struct json_out *o, const struct facts_sums *s);
void document_loc(struct json_out *o, const char *key, const struct facts *f, const struct fact_loc *loc);
void document_src(struct json_out *o, const struct fact_src *src, uint32_t compile);
/* The tables in words, as docs/formats/COMPILATION.md has them. */
FOR_TESTS void document_manual(struct buf *b);

/* A document of --json, of this version, by one of the tools (NULL: by any). -1 and err: it is none. */
/* Its rows into a model that is empty. -1 and err: a row names one that is not there; the model is then to be released. */
FOR_TESTS int document_read(struct facts *f, const struct json_tape *t, uint32_t root, const char *name, struct err *err);
int document_open(struct json_tape *t, struct slice text, const char *name, const char *tool, uint32_t *root, struct err *err);

/* Both, of a file that is strict JSON in UTF-8. list: one that it must have, NULL. f is released where it fails. */
int document_load(struct facts *f, const char *path, const char *tool, const char *list, struct err *err);
/* Does a file look like one? */
bool document_is_there(const char *path);

#endif
