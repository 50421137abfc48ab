/* prune.h - finds what can be removed from a cache folder without losing anything a run could use; and removes it on request.
 *
 *     struct prune p = {0};
 *     prune_plan(&p, &d, older_than_days);       // rows of d.file, and why
 *     if (apply && prune_apply(&p, &d) ...)      // only files that did not change since
 *     prune_release(&p);
 *
 * Only recognised files: entries that cannot be read, built code that is empty or truncated, temporary files of writes that ended long
 * ago; with an age also older entries, code and Triton kernels, which are recompiled when needed. Never: symlinks, unrecognised files,
 * locks, vLLM's files, files younger than PRUNE_QUIET seconds (a run may be writing them), files of another user.
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
	uint32_t young, foreign; /* candidates that are kept: too young, another user's */
	uint32_t removed, changed, failed;
	struct err err; /* of the first failure */
};
/* days: 0 for any age. */
void prune_plan(struct prune *p, const struct cachedir *d, int days);
void prune_apply(struct prune *p, const struct cachedir *d);
void prune_release(struct prune *p);
#endif
