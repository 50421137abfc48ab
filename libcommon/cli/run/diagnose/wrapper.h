/* wrapper.h - torch's own code around a model: its graph breaks are nobody's to mend. */
#ifndef PT2_WRAPPER_H
#define PT2_WRAPPER_H
#include "run/diagnose/finding.h"

struct wrapper {
	const char *part; /* of the path of torch's file */
	const char *id, *name, *why, *fix;
};
/* Whose break this is: of the frames that lead to it (outermost first) those below the user's innermost; NULL: not a wrapper's. */
const struct wrapper *wrapper_of(struct slice frames, struct slice file, struct slice explanation);

#endif
