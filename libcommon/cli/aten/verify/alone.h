/* alone.h - kernels called one by one with generated numbers: ties, zeros, extremes, the ends of integer types.
 *
 * A dropped clamp, a wrong tail or an overflow may never show with what a model computes.
 *
 *     struct alone a;
 *     struct buf file = {0}, taken = {0};
 *     alone_plan(&a, &held, (struct alone_options){...});  // which kernels can be called so; held: a Run in which nothing was wrong
 *     alone_give(&a, &dump, &file, &err);                  // the numbers (watch/given.h)
 *     given_run(..., &taken, &err);                        // the package, ALONE_SETS times
 *     alone_judge(&a, &tried, buf_slice(&file), buf_slice(&taken), set, deadline);
 *     if (a.n_doubts)                                      // as many as findings
 *         alone_doubts(&a, &dump, set, &file, &err);       // once more, a.n_doubts times, with only what the nodes do not use
 *     alone_settle(&a, &tried, buf_slice(&file), buf_slice(&taken));
 *     tried.verify.finding[0] ...                          // as for a Run; only the calls that were tried
 *     held_close(&tried);                                  // then `held`
 *     alone_release(&a);
 *
 * Each kernel is tried at its first call whose tensors are all nodes. The model runs once more for each set: before such a call its
 * tensors get generated numbers, afterwards what they held in the given run, so that the next call finds what it found then. Weights stay.
 * Integers that a node uses as an index, a divisor or a shift stay, too.
 *
 * Which of several equal nodes a tensor is (x, and relu(x) of an x without negative numbers) shows when its kernel is called with others;
 * until then each possibility is allowed. A kernel whose result is one that its reader does not expect (it left out the relu) is found at
 * the reader, and reported.
 *
 * Before a kernel is accused, it is called once more with generated numbers only in those of its tensors that its node is not computed
 * from. If the result changes, the kernel uses what the graph computes otherwise (the sorted values inside quantile, the mean of a batch
 * norm); such tensors belong together, numbers for each of them prove nothing, and the finding is dropped.
 *
 * Only gross errors count, at elements where eager is finite both in the node's type and in float64: beyond 16 times what rounding on the
 * way explains. Generated numbers cannot tell more about precision.
 */
#ifndef PT2_VERIFY_ALONE_H
#define PT2_VERIFY_ALONE_H
#include "aten/verify/pair.h"

enum { ALONE_SETS = 3 };
struct alone_options {
	uint64_t seed;
	uint64_t most_bytes; /* for one set; 0: no limit. Calls beyond it are left out */
};
struct alone_doubt {
	uint32_t call, write; /* in .call, and of the call */
	uint64_t used;        /* reads that its node is computed from, as bits */
};
struct alone {
	struct verify *v; /* of the given run */
	struct alone_options o;
	uint32_t *call; /* those tried, in order */
	uint32_t n_calls;
	uint32_t n_kernels, n_too_large; /* distinct kernels; those left out because of .most_bytes */
	struct {
		bool *out;         /* not this of its nodes */
		bool tested;       /* its kernel was called alone */
	} * write;                 /* of .v */
	struct alone_doubt *doubt; /* of the last alone_judge(): one for each finding */
	uint32_t n_doubts, cap_doubts;
};

void alone_plan(struct alone *a, struct held *h, struct alone_options o);
/* -1: a tensor of the given run cannot be read. */
int alone_give(const struct alone *a, const struct dump *d, struct buf *file, struct err *err);
/* deadline: CLOCK_MONOTONIC in ns, after which calls are left out; 0: none. Their verdict is OPEN without a reason. */
void alone_judge(struct alone *a, struct held *out, struct slice given, struct slice taken, uint32_t set, int64_t deadline);
int alone_doubts(const struct alone *a, const struct dump *d, uint32_t set, struct buf *file, struct err *err);
/* Drops findings. */
void alone_settle(struct alone *a, struct held *h, struct slice given, struct slice taken);
void alone_release(struct alone *a);

#endif
