/* recompiles.h - a failed guard in words: what changed, its kind, and what to do.
 *
 *     struct guard_words w = guard_words(&x, &f->recompile[i]);
 *     w.change     "size of x at dim 0: 3 -> 5"
 *     w.fix        lines, best first; tried in tests/live/fixes; empty if there is no general advice
 *     w.hint       what may help
 */
#ifndef PT2_RECOMPILES_H
#define PT2_RECOMPILES_H
#include "base/chain.h"
#include "run/diagnose/finding.h"

enum guard_kind {
	GUARD_OTHER,
	GUARD_SIZE, /* a tensor's size */
	GUARD_STRIDE,
	GUARD_DTYPE,
	GUARD_RANK,
	GUARD_GRAD,      /* requires_grad */
	GUARD_TENSOR,    /* device, dispatch keys, ... */
	GUARD_STATE,     /* grad mode, autocast, default dtype, ... */
	GUARD_TYPE,      /* the type of an object */
	GUARD_OBJECT,    /* its identity */
	GUARD_SHAPE,     /* an expression of symbolic sizes */
	GUARD_CONTAINER, /* length, keys */
	GUARD_VALUE,     /* a constant */
};
struct guard_words {
	enum guard_kind kind;
	struct slice change, fix, hint;
	bool zero_one; /* a size or an int that was, or is, 0 or 1: no line of the program made the guard */
};
FOR_TESTS struct guard_words guard_words(struct explanation *x, const struct fact_recompile *r);
/* "torch._dynamo.exc.FailOnRecompileLimitHit: ...", which torch raises with fullgraph=True; FailOnCacheLimitHit before 2.7 */
bool limit_raises(struct slice text);
/* L['x'] and G['x'] are x in the program, L['self']._modules['norm'].steps is self.norm.steps. */
struct slice plain_names(struct explanation *x, struct slice s);

/* changes.c: "STEP" of "STEP is no longer 1", "size of x at dim 0" of "size of x at dim 0: 4 -> 6". */
struct slice what_changed(struct slice change);
/* What changed at the steps of a frame: "size of x at dim 0: 4 -> 6 -> 8, type of mode: A -> B, ..."; empty: unknown. */
struct slice frame_cause(struct explanation *x, const struct frame_view *v);
/* The rows of a frame's steps that have a change: what changed most often first, and the steps of one thing in their order.
 * The caller frees the list. */
uint32_t frame_by_often(const struct explanation *x, const struct frame_view *v, uint32_t **step);
/* Only things changed that torch makes dynamic after their first change. symbols: rows of facts.symbol by compilation. */
bool frame_first_dynamic(struct explanation *x, const struct frame_view *v, const struct chain *symbols);

#endif
