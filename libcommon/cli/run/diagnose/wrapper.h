/* wrapper.h - torch's own code around a model: users cannot fix its graph breaks. */
#ifndef PT2_WRAPPER_H
#define PT2_WRAPPER_H
#include "run/diagnose/finding.h"

struct wrapper {
	const char *part; /* part of the path of torch's file */
	const char *id, *name, *why, *fix;
};
/* The wrapper that breaks, by the frames below the user's innermost one (frames: outermost first); NULL: not a wrapper's break. */
const struct wrapper *wrapper_of(struct slice frames, struct slice file, struct slice explanation);

#endif
