/* advice.h - what to look at first in a profile: findings with numbers, most expensive first.
 *
 *     struct profile_advices x;
 *     profile_advise(&x, &p);
 *     for (uint32_t i = 0; i < x.n; i++) ... x.v[i].title, .evidence, .next (one per line), .ns per step
 *     profile_advices_release(&x);
 *
 * Each finding has its own threshold (advice.c); minor ones are not reported. The texts are in x->arena.
 */
#ifndef PT2_PROFILE_ADVICE_H
#define PT2_PROFILE_ADVICE_H
#include "profile/profile.h"

#define PROFILE_ADVICE(X) \
	X(COLD, "warm-up") \
	X(RECOMPILES, "recompiles") \
	X(BREAKS, "graph-breaks") \
	X(GUARDS, "guards") \
	X(HIDDEN, "kernel-times") \
	X(SMALL, "small-ops") \
	X(DEVICE_IDLE, "device-idle") \
	X(EXTERN, "extern") \
	X(KERNEL, "kernel") \
	X(PYTHON, "python") \
	X(DYNAMO, "around-graphs") \
	X(WRAPPER, "wrapper") \
	X(COPIES, "copies") \
	X(EAGER, "eager-ops") \
	X(NOT_COMPILED, "not-compiled") \
	X(NO_STEPS, "no-steps")
enum profile_advice_kind {
#define X(id, name) ADVICE_##id,
	PROFILE_ADVICE(X)
#undef X
	    PROFILE_ADVICES,
};
extern const char *const profile_advice_name[PROFILE_ADVICES];

struct profile_advice {
	enum profile_advice_kind kind;
	double ns;    /* per step (of the whole profile if it has no steps); the most that could be gained */
	double share; /* of the wall time */
	const char *title, *evidence, *next;
	uint32_t row; /* the op or kernel concerned; NONE */
};
struct profile_advices {
	struct arena arena;
	struct profile_advice v[PROFILE_ADVICES];
	uint32_t n;
};

void profile_advise(struct profile_advices *x, const struct profile *p);
void profile_advices_release(struct profile_advices *x);

#endif
