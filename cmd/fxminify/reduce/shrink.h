/* shrink.h - shrinks what remains once the operations are few: passes over the best candidate.
 *
 *     reduce_rest(&red, SHRINK_ALL, &err);       // all passes in turn, until a whole round makes no progress
 *
 *     outputs     outputs that the failure does not need: values used elsewhere, inputs, None
 *     memory      inputs that share memory, or are views, get memory of their own
 *     leaves      inputs with an autograd history become leaves
 *     strides     inputs become contiguous
 *     values      inputs become random where the failure does not need the recorded values (so that repro.py needs no files)
 *     inputs      inputs with the same dtype and shape become one
 *     subgraphs   operations in the subgraphs of higher-order operators are bypassed, unused ones removed
 *     symbols     symbolic sizes become numbers
 *     sizes       tensor sizes, the same number everywhere at once, with the arguments that equal it or its multiples
 *     dtypes      to float32 and int64
 *     arguments   keyword and trailing arguments are dropped (so defaults apply)
 *     constants   numbers become 0, 1; strings and flags stay
 *     head        configuration and environment lines, user Triton kernels' lines (runs first)
 *
 * Those of inputs are first tried at once. Each pass lists edits of the best candidate; each edit is a candidate; the first that still
 * fails is adopted and the pass lists edits again. The oracle decides whether a changed graph is a valid program (eager runs first).
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
/* The passes whose edits run whenever the best does: the others may produce an invalid call (permute.default(x)), which only an oracle that
 * runs eager first can tell from a failure. */
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
	/* Changes c, a copy of the best. False: the edit does not apply. */
	bool (*apply)(struct candidate *c, const struct repro *original, const struct edit *e);
	/* For the report, "arguments: 74 dropped": what is done, and how many there are (NULL: an edit counts as one). */
	const char *did;
	size_t (*count)(const struct candidate *c);
};
extern const struct shrinker shrink_outputs, shrink_memory, shrink_leaves, shrink_strides, shrink_values, shrink_inputs, shrink_subgraphs,
    shrink_symbols, shrink_sizes, shrink_dtypes, shrink_arguments, shrink_constants, shrink_head;

/* A copy without the nodes that have a replacement (replace[node], NONE: it stays); users take that instead, chains are followed.
 * Only operands that come before the node may replace it; an unused node may be dropped without one (REWIRE_DROP). Feeds of removed
 * placeholders are removed. False: the result is not a valid graph. */
#define REWIRE_DROP (NONE - 1)
bool candidate_rewire(struct candidate *c, const uint32_t *replace);
/* Drops the metadata of all values except inputs: an edit changes them. */
void candidate_forget_meta(struct candidate *c);

#endif
