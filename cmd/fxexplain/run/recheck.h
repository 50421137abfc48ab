/* recheck.h - `fxexplain run --recheck`: does the command fail the same way without torch.compile?
 *
 *     recheck_run(&again, command, "FOLDER/eager.txt", timeout_ms);    // TORCH_COMPILE_DISABLE=1; its output is not shown
 *     recheck_tell(&again, &first, &facts);                            // facts.eager: before explain()
 *
 * Only the same failure counts as "eager fails too": the same exception, with the same message (apart from numbers and paths that vary), at
 * the same line of the program; what Dynamo raises for an exception of the traced code is compared by that exception. Without an exception,
 * the same signal. Anything else is another failure: with fullgraph=True, torch itself fails when nothing is compiled.
 */
#ifndef RECHECK_H
#define RECHECK_H
#include "base/process/child.h"
#include "run/facts.h"

struct recheck {
	const char *text; /* its standard error */
	struct child_result r;
	bool ran;
};

/* Exits if it cannot be started. */
void recheck_run(struct recheck *c, char *const *command, const char *text, int timeout_ms);
/* first: how the command ended at first. */
void recheck_tell(const struct recheck *c, const struct child_result *first, struct facts *f);

#endif
