/* profile_view.h - what `fxexplain profile` has read and made of it, for its two emitters. */
#ifndef FXEXPLAIN_PROFILE_VIEW_H
#define FXEXPLAIN_PROFILE_VIEW_H
#include "fxexplain.h"
#include "graph/inductor/kernelmaps.h"
#include "profile/advice.h"
#include "profile/compare.h"

struct profile_view {
	const char *path[2]; /* as given */
	struct profile profile[2];
	unsigned n;
	struct profile_compare c;
	const struct profile *shown; /* the compiled one of two: advice is about it */
	const char *side_path[2];    /* eager's, compiled's */
	struct profile_advices advice;
	struct facts facts; /* of the trace log, where one is given */
	bool has_facts;
	struct kernelmaps maps; /* of the logs, folders and packages that are given */
};

/* "app/m.py:5 in f" of a compile id, and what the log says of it; empty where it does not know. The text lives until the next call. */
struct slice view_function(struct profile_view *v, struct slice id, struct buf *tmp);

/* profile_kernels.c: what a kernel was made from: nodes, and lines of Python, each once, by commas. False: no map has it. */
bool view_kernel(const struct profile_view *v, struct slice kernel, struct buf *nodes, struct buf *lines);

void profile_terminal(struct screen *s, struct profile_view *v, const struct explain_options *opt);
void profile_json(struct buf *b, struct profile_view *v);

#endif
