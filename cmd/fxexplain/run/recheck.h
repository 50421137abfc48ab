/* recheck.h - does the command fail the same way without torch.compile?
 *
 *     if (recheck_may(&r, &traces) && recheck_wanted(o, path, n)) ...            // worth it, and no harm
 *     recheck_run(&again, command, "FOLDER/eager.txt", timeout_ms, view);        // TORCH_COMPILE_DISABLE=1; its output is not shown
 *     recheck_tell(&again, &first, &facts);                                      // facts.eager: before explain()
 *
 * `fxexplain run --recheck` asks for it. Without it, on a terminal the user is asked; elsewhere it is done only on a copy-on-write view of
 * the files, without network (base/process/cowview.h), where that can be had. In both cases only if the log leaves open which part failed,
 * the run took less than a minute and is not a rank of a distributed job, and the machine has no GPU, which a second process might disturb;
 * and, where nobody is asked, if the command took nothing from standard input.
 *
 * Only the same failure counts as "eager fails too": the same exception, with the same message (apart from numbers and paths that vary), at
 * the same line of the program; what Dynamo raises for an exception of the traced code is compared by that exception, and what an
 * operator raises of fake tensors by type, place and numbers. Without an exception, the same signal. Anything else is another failure:
 * with fullgraph=True, torch itself fails when nothing is compiled.
 */
#ifndef RECHECK_H
#define RECHECK_H
#include "base/process/child.h"
#include "base/process/cowview.h"
#include "run/facts.h"
#include "run/run_part.h"

enum { RECHECK_ALONE_MS = 120 * 1000 }; /* a run that nobody asked for is given up then */

struct recheck {
	const char *text; /* its standard error */
	struct child_result r;
	bool ran;
};

bool recheck_may(const struct child_result *first, const struct run_names *traces);
/* Does the log leave open whether eager fails, too? */
bool recheck_wanted(const struct explain_options *o, const char *const *path, int n);
/* Is there someone to ask? Then: the answer. */
bool recheck_asks(const struct explain_options *o);
bool recheck_ask(const char *command, const struct child_result *first);
/* Nothing was taken from standard input since it was at this offset: a second run would get the same. */
bool recheck_unread(off_t before);
/* Exits if it cannot be started. view: NULL: the files themselves. */
void recheck_run(struct recheck *c, char *const *command, const char *text, int timeout_ms, const struct cowview *view);
/* first: how the command ended at first. */
void recheck_tell(const struct recheck *c, const struct child_result *first, struct facts *f);

#endif
