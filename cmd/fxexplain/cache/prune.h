/* prune.h - what can be removed from a cache folder without a run losing what it could use; and removing it, when asked.
 *
 *     struct prune p = {0};
 *     prune_plan(&p, &d, older_than_days);       // rows of d.file, and why
 *     if (apply && prune_apply(&p, &d) ...)      // files that are still what was seen
 *     prune_release(&p);
 *
 * Only what is recognised: entries that cannot be read, built code that is empty or cut, temporary files of writes that ended long ago;
 * with an age also entries, code and Triton's kernels older than that, which are compiled again where they are asked for. Never: links,
 * what is not recognised, locks, vLLM's files, what is younger than PRUNE_QUIET seconds (a run may be writing), another user's.
 */
#ifndef FXEXPLAIN_PRUNE_H
#define FXEXPLAIN_PRUNE_H
#include "cache/cachedir.h"

enum { PRUNE_QUIET = 600 };
struct prune_row {
	uint32_t file;
	const char *why;
	bool gone; /* removed by prune_apply */
};
struct prune {
	struct prune_row *row;
	uint32_t n_row, cap_row;
	uint64_t bytes;
	uint32_t young, foreign; /* that would be rows: too young, another user's */
	uint32_t removed, changed, failed;
	struct err err; /* of the first that failed */
};
/* days: 0: no age. */
void prune_plan(struct prune *p, const struct cachedir *d, int days);
void prune_apply(struct prune *p, const struct cachedir *d);
void prune_release(struct prune *p);
#endif
