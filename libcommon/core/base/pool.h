/* pool.h - an ordered pipeline: items are read one after another, processed in parallel, and put back in order.
 *
 *     read    one at a time, in order        take the next item into a slot
 *     scan    in parallel                    work that is independent of other items
 *     reduce  one at a time, in order        work that depends on all earlier items
 *     emit    in parallel
 *     commit  one at a time, in order        append to a shared output
 *
 * A slot is the caller's memory for one item, from its read to its commit, so memory is bounded. No thread waits for its turn: it works on
 * another item meanwhile, so that one thread per CPU, with one more slot than threads, keeps them all busy. Every stage but read may be
 * NULL. A stage returns 0, or -1 to stop everything; read returns 1, 0 at the end, -1 on failure. With one thread, everything runs in the
 * caller's thread. No global state.
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

/* Runs slots[0..n) on that many threads. 0, or -1 if a stage failed (the caller keeps its message). */
int pipeline_run(const struct pipeline *p, void **slots, unsigned n, unsigned threads);
/* CPUs this process may use. */
unsigned cpu_count(void);

#endif
