/* profile_view.h - the result of `fxexplain profile`, for its two emitters. */
#ifndef FXEXPLAIN_PROFILE_VIEW_H
#define FXEXPLAIN_PROFILE_VIEW_H
#include "explain/explain.h"
#include "graph/inductor/kernelmaps.h"
#include "profile/advice.h"
#include "profile/compare.h"

struct profile_view {
	const char *path[2]; /* as the user gave them */
	struct profile profile[2];
	unsigned n;
	struct profile_compare c;
	const struct profile *shown; /* the compiled one of two: the one that advice is about */
	const char *side_path[2];    /* eager's, compiled's */
	struct profile_advices advice;
	struct facts facts; /* of the trace log, if given */
	bool has_facts;
	struct kernelmaps maps; /* of the given logs, folders and packages */
};

/* "app/m.py:5 in f" of a compile id, according to the log; empty if unknown. Valid until the next call. */
struct slice view_function(struct profile_view *v, struct slice id, struct buf *tmp);

/* kernels.c: the nodes and Python lines that a kernel was made from, comma-separated, each once; lines alone, where the
 * profile has them and no map does. False: not known. */
bool view_kernel(const struct profile_view *v, const struct profile_op *o, struct buf *nodes, struct buf *lines);

void profile_terminal(struct screen *s, struct profile_view *v, const struct explain_options *opt);
void profile_json(struct buf *b, struct profile_view *v);

#endif
