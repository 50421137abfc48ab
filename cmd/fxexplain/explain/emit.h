/* emit.h - shared by all emitters except the terminal's: counts, the identity of a finding, paths relative to the repository.
 *
 *     char id[FINGERPRINT_TEXT];
 *     finding_fingerprint(x, &x->finding[i], id);         // "5f0c..": the same for the same finding in another run
 *     if (emit_source(x, x->finding[i].loc.file, &path))  // "app/m.py", below the working directory
 *         ...
 */
#ifndef FXEXPLAIN_EMIT_H
#define FXEXPLAIN_EMIT_H
#include "base/json.h"
#include "run/sums.h"
#include "explain/explain.h"

/* A file of the program as a repository names it, appended to b: relative to the working directory if it lies below it (also when the
 * log was made elsewhere: the longest suffix of its path that exists), else as in the log. True if it is relative. False, with nothing
 * appended, if it is not a file (<eval_with_key>.3) or leads out of the directory (../m.py). */
bool emit_source(const struct explanation *x, uint32_t file, struct buf *b);

/* Cost, cause and fix of a finding, one line each: the body of an annotation. */
void emit_details(const struct explanation *x, const struct finding *g, struct buf *b);
/* A message in the form it has in any run of the same program: words with digits (sizes, addresses) become '#', and paths '/'. Written to
 * out, which is emptied first. */
void emit_same(struct slice s, struct buf *out);

#endif
