/* pool.h - an ordered pipeline: items are read one after the other, worked on side by side, and put in order again.
 *
 *     read    one at a time, in order        take the next item into a slot
 *     scan    side by side                   what needs nobody else
 *     reduce  one at a time, in order        what depends on all items before
 *     emit    side by side
 *     commit  one at a time, in order        append to a shared output
 *
 * A slot is the caller's memory for one item, from its read to its commit, so memory is bounded. No thread waits for its turn: it does
 * what is to be done of another item meanwhile, so that as many threads as there are CPUs keep them busy, with one slot more than threads.
 * Every stage but read may be NULL. A stage returns 0, or -1 to stop everything; read returns 1, 0 at the end, -1 on failure.
 * With one thread all runs in the caller's thread. No global state.
 */
#ifndef PT2_POOL_H
#define PT2_POOL_H
#include "base/base.h"

struct pipeline {
	void *ctx;
	int (*read)(void *ctx, void *slot);
	int (*scan)(void *ctx, void *slot);
	int (*reduce)(void *ctx, void *slot);
	int (*emit)(void *ctx, void *slot);
	int (*commit)(void *ctx, void *slot);
};

/* slots[0..n), and how many threads. 0, or -1 when a stage failed (its own message is the caller's affair). */
int pipeline_run(const struct pipeline *p, void **slots, unsigned n, unsigned threads);
/* CPUs this process may use. */
unsigned cpu_count(void);

#endif
