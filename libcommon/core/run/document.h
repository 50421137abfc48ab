/* document.h - the JSON document of a run: the rows of run/facts.h, each described once.
 *
 *     struct json_out o = {.b = &b};
 *     json_obj(&o);
 *     document_head(&o, "fxexplain", f);            // tool, version, schema, inputs, summary
 *     document_rows(&o, f);                         // compiles, attempts, frames, graph_breaks, ... one list per table
 *     ... what only this tool has: findings, artifacts
 *     json_close(&o);
 *
 * tlparse and fxexplain write it, so a list has the same rows and names in both. A member's name and meaning are in the row's list in
 * facts.h, from which docs/formats/COMPILATION.md is generated, too (document_manual).
 *
 * document_open() reads it back for --baseline, --diff and merging ranks from saved documents.
 */
#ifndef PT2_DOCUMENT_H
#define PT2_DOCUMENT_H
#include "base/json.h"
#include "run/sums.h"

enum { DOCUMENT_SCHEMA = 2 };

void document_head(struct json_out *o, const char *tool, const struct facts *f);
void document_rows(struct json_out *o, const struct facts *f);
/* The same for a page, as columns.h has it. */
struct columns;
void document_columns(struct json_out *o, const struct facts *f, struct columns *c);
/* steps, spans, lists, parities: what tlparse compares ranks by. */
void document_ranks(struct json_out *o, const struct facts *f);
/* "summary" of one input, or (NONE) of all: an object that stays open for a tool's own counts. */
void document_summary(struct json_out *o, const struct facts *f, uint32_t input);
/* Its counts, written into the open object. */
void document_sums(struct json_out *o, const struct facts_sums *s);
void document_loc(struct json_out *o, const char *key, const struct facts *f, const struct fact_loc *loc);
void document_src(struct json_out *o, const struct fact_src *src, uint32_t compile);
/* The tables of docs/formats/COMPILATION.md. */
FOR_TESTS void document_manual(struct buf *b);

/* Opens a --json document of this version by the given tool (NULL: any). -1 and err: not such a document. */
/* Reads its rows into an empty model. -1 and err if a row refers to a missing one; the model must then be released. */
FOR_TESTS int document_read(struct facts *f, const struct json_tape *t, uint32_t root, const char *name, struct err *err);
int document_open(struct json_tape *t, struct slice text, const char *name, const char *tool, uint32_t *root, struct err *err);

/* Both, for a file of strict JSON in UTF-8. list: one that it must have, or NULL. Releases f on failure. */
int document_load(struct facts *f, const char *path, const char *tool, const char *list, struct err *err);
/* Does a file look like such a document? */
bool document_is_there(const char *path);

#endif
