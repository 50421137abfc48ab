/* recompiles.h - a guard that failed, in words: what changed, of what kind, and what to do.
 *
 *     struct guard_words w = guard_words(&x, &f->recompile[i]);
 *     w.change     "size of x at dim 0: 3 -> 5"
 *     w.fix        lines, best first; empty where nothing general can be said
 */
#ifndef PT2_RECOMPILES_H
#define PT2_RECOMPILES_H
#include "diagnose/finding.h"

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
	struct slice change, fix;
};
struct guard_words guard_words(struct explanation *x, const struct fact_recompile *r);

#endif
