/* carrier.h - exceptions that only report the failure of another process: the failure itself is elsewhere in the text, or in another log.
 *
 * vLLM's "Engine core initialization failed. See root cause above", Ray's RayActorError, torchrun's ChildFailedError, a BrokenProcessPool.
 * Where the failure is in the text, that is the verdict, and there is no finding for the carrier; else it is not known which part failed,
 * and the next command is the one that makes the other process say it. */
#ifndef PT2_CARRIER_H
#define PT2_CARRIER_H
#include "run/diagnose/finding.h"

struct carrier {
	const char *type, *starts, *has; /* the end of the type, the start of the message, a part of it; NULL: any */
	const char *of;                  /* whose failure it reports */
	const char *hint;                /* how to see that; NULL: it is one only beside that failure */
};
/* NULL: it is a failure of its own. */
const struct carrier *carrier_of(const struct explanation *x, const struct fact_failure *r);
/* torchrun's "Root Cause (first observed failure)", in one line: rank, host, exit code, signal, error file; empty: none */
struct slice carrier_root_cause(struct explanation *x, struct slice reason);

#endif
