/* cache_view.h - the result of `fxexplain cache`, for its two emitters. */
#ifndef FXEXPLAIN_CACHE_VIEW_H
#define FXEXPLAIN_CACHE_VIEW_H
#include "explain/explain.h"
#include "cache/asked.h"
#include "cache/prune.h"

struct cache_view {
	struct cachedir dir[2]; /* the first is compared with the second */
	unsigned n;
	struct facts facts; /* of --trace */
	bool has_facts;
	struct asked asked; /* of the trace, else of the second folder */
	struct prune prune;
	bool pruned, applied;
};
void cache_terminal(struct screen *s, const struct cache_view *v, const struct explain_options *opt);
void cache_json(struct buf *b, const struct cache_view *v);

#endif
