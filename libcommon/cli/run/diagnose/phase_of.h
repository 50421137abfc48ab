/* phase_of.h - what torch.compile was doing, for a user who pressed Ctrl-C during a slow compilation. Its frames tell the phase.
 *
 *     const struct compile_phase *p = phase_of(stack);   // lines of a traceback, outermost first; NULL: not inside a compilation
 *
 * Functions of torch 2.4 to 2.15. */
#ifndef PT2_PHASE_OF_H
#define PT2_PHASE_OF_H
#include "run/patterns/component.h"
#include "base/base.h"

struct compile_phase {
	const char *file, *function; /* how a frame of it looks; function NULL: any */
	enum component component;
	const char *doing; /* "fusing kernels" */
	const char *why, *hint;
};
const struct compile_phase *phase_of(struct slice stack);

#endif
