/* shrink.h - what can be made smaller once the operations are few: passes over the best candidate.
 *
 *     reduce_rest(&red, SHRINK_ALL, &err);       // all passes in turn, until a whole round brings nothing
 *
 *     outputs     what the original returns and the failure does not need: values that others use, inputs, None
 *     memory      inputs that share memory, or are a part of it, get memory of their own
 *     leaves      inputs that have a history become leaves
 *     strides     inputs become contiguous
 *     values      inputs that need not be the recorded ones become random (so that repro.py needs no files)
 *     inputs      inputs of one dtype and shape become one
 *     subgraphs   operations in the subgraphs of higher-order operators are bypassed, what is unused goes
 *     symbols     symbolic sizes become numbers
 *     sizes       tensor sizes, the same number everywhere at once, with the arguments that spell it and its multiples
 *     dtypes      to float32 and int64
 *     arguments   keyword and trailing arguments go (their defaults stay)
 *     constants   numbers become 0, 1; strings and flags stay
 *     head        configuration and environment lines, user Triton kernels' lines (this comes first)
 *
 * Each pass lists edits of the best candidate; each edit is a candidate; the first that still fails is taken and the pass lists anew.
 * Whether a changed graph is a valid program is for the oracle to say (eager runs first).
 */
#ifndef PT2_REDUCE_SHRINK_H
#define PT2_REDUCE_SHRINK_H
#include "reduce/nodes.h"

enum shrink_pass {
	SHRINK_OUTPUTS,
	SHRINK_MEMORY,
	SHRINK_LEAVES,
	SHRINK_STRIDES,
	SHRINK_VALUES,
	SHRINK_INPUTS,
	SHRINK_SUBGRAPHS,
	SHRINK_SYMBOLS,
	SHRINK_SIZES,
	SHRINK_DTYPES,
	SHRINK_ARGUMENTS,
	SHRINK_CONSTANTS,
	SHRINK_HEAD,
	SHRINK_N,
};
#define SHRINK_ALL ((1u << SHRINK_N) - 1)
/* Those whose edits run whenever the best does: the others may make a call that cannot (permute.default(x)), which only an oracle that
 * runs eager first tells from a failure. */
#define SHRINK_SAFE \
	(1u << SHRINK_OUTPUTS | 1u << SHRINK_MEMORY | 1u << SHRINK_LEAVES | 1u << SHRINK_STRIDES | 1u << SHRINK_VALUES | \
	 1u << SHRINK_INPUTS | 1u << SHRINK_SYMBOLS | 1u << SHRINK_HEAD)
const char *shrink_name(enum shrink_pass p); /* "values" */

int reduce_rest(struct reduction *red, unsigned passes, struct err *err);

/* ---- for shrink_*.c ---- */

/* A change of the graph; each pass decides what the fields mean. */
struct edit {
	uint32_t kind, a, b;
	int64_t from, to;
};
struct edits {
	struct edit *v;
	size_t n, cap;
};
void edits_add(struct edits *e, struct edit edit);
/* Lists edits that drop things a .. b - 1 of n: all, halves, quarters, ... single ones. */
void edits_add_blocks(struct edits *e, uint32_t kind, uint32_t n);

struct shrinker {
	const char *name;     /* of the pass */
	const char *strategy; /* as a line for people: "Shrink sizes" */
	void (*list)(const struct candidate *best, const struct repro *original, struct edits *e);
	/* Change c, a copy of the best. False: it makes no sense after all. */
	bool (*apply)(struct candidate *c, const struct repro *original, const struct edit *e);
	/* For people, "arguments: 74 dropped": what is done to one, and how many there are (NULL: an edit is one). */
	const char *did;
	size_t (*count)(const struct candidate *c);
};
extern const struct shrinker shrink_outputs, shrink_memory, shrink_leaves, shrink_strides, shrink_values, shrink_inputs, shrink_subgraphs,
    shrink_symbols, shrink_sizes, shrink_dtypes, shrink_arguments, shrink_constants, shrink_head;

/* A copy without the nodes that have a replacement (replace[node], NONE: it stays); users take that instead, chains are followed.
 * Only operands that come before the node may replace it; one that nobody uses may go without (REWIRE_DROP). Feeds of placeholders
 * that go are taken out. False: the result is no graph. */
#define REWIRE_DROP (NONE - 1)
bool candidate_rewire(struct candidate *c, const uint32_t *replace);
/* Drops the metadata of values between the inputs: after an edit they are others. */
void candidate_forget_meta(struct candidate *c);

#endif
