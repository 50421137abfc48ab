/* emit.h - what the emitters but the terminal's share: counts, the identity of a finding, places as a repository has them.
 *
 *     char id[FINGERPRINT_TEXT];
 *     finding_fingerprint(x, &x->finding[i], id);         // "5f0c..": the same finding in another run has the same
 *     if (emit_source(x, x->finding[i].loc.file, &path))  // "app/m.py", below the working directory
 *         ...
 */
#ifndef FXEXPLAIN_EMIT_H
#define FXEXPLAIN_EMIT_H
#include "base/json.h"
#include "fxexplain.h"

/* The numbers of "summary" (docs/EXPLAIN.md), of all inputs together. Names are those of tlparse --json where it counts the same. */
struct explain_sums {
	uint64_t bytes, lines, records, frames, compiles, specializations, damaged;
	uint64_t cache[4][3]; /* enum fact_cache_kind, enum fact_cache_what */
	uint64_t level[3];    /* findings: note, warning, error */
};
extern const char *const cache_kind_name[4];
extern const char *const cache_what_name[3];
void explain_add_up(const struct explanation *x, struct explain_sums *s);

/* Of kind, id, file and function, not of lines, numbers and times: what stays the same while a program is worked on. */
enum { FINGERPRINT_TEXT = 17 };
void finding_fingerprint(const struct explanation *x, const struct finding *g, char id[FINGERPRINT_TEXT]);

/* A file of the program as a repository names it, appended to b: what lies below the working directory relative to it (also when
 * the log was made elsewhere: the longest end of its path that is there), else as the log has it. True when it is relative. False and
 * nothing for what is no file (<eval_with_key>.3) or leads out of here (../m.py). */
bool emit_source(const struct explanation *x, uint32_t file, struct buf *b);

/* "0/1" of a row of facts.compile; empty for NONE. */
struct slice emit_compile_id(const struct explanation *x, uint32_t compile);
/* Cost, cause and fix of a finding, a line each: the body of an annotation. */
void emit_details(const struct finding *g, struct buf *b);
/* The torch that the inputs name first, NONE. */
uint32_t emit_torch_version(const struct explanation *x);
/* The document of --json. html: to stand in a page. */
void explain_document(struct buf *b, const struct explanation *x, const struct explain_options *opt, bool html);

#endif
