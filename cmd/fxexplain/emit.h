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
#include "run/sums.h"
#include "fxexplain.h"

/* A file of the program as a repository names it, appended to b: what lies below the working directory relative to it (also when
 * the log was made elsewhere: the longest end of its path that is there), else as the log has it. True when it is relative. False and
 * nothing for what is no file (<eval_with_key>.3) or leads out of here (../m.py). */
bool emit_source(const struct explanation *x, uint32_t file, struct buf *b);

/* Has a path a ".." that could lead out of the folder? */
bool emit_leads_out(const char *path);
/* Cost, cause and fix of a finding, a line each: the body of an annotation. */
void emit_details(const struct finding *g, struct buf *b);
/* A message as it is in another run of the same: words with digits in them (sizes, addresses) are '#', with a path '/'. Into out, which is
 * emptied first. */
void emit_same(struct slice s, struct buf *out);

#endif
