/* compare.h - compares two profiles of one program, eager and compiled, op by op and per step; or groups one profile by family.
 *
 *     struct profile_compare c;
 *     profile_compare(&c, &first, &second);              // detects which one is compiled; c.swapped if it is the first
 *     printf("%.1f -> %.1f us, %.2fx", c.wall[0] / 1e3, c.wall[1] / 1e3, c.wall[0] / c.wall[1]);
 *     for (uint32_t i = 0; i < c.n_op; i++) ...          // sorted by gain or loss
 *     profile_compare_release(&c);
 *
 * All numbers are per step (ProfilerStep#N, of prof.step()). If a profile has no steps, its numbers cover all of it, and c.per_step is
 * false: such a pair can only be compared if both ran the same number of iterations. What runs during compilation, on fake tensors,
 * is not an op: it is in FAMILY_COMPILE.
 * Names are compared exactly, kernels without graph_N_. Times are self times over all CPU threads; device kernels are in c.device,
 * since they run in parallel with the CPU.
 */
#ifndef PT2_PROFILE_COMPARE_H
#define PT2_PROFILE_COMPARE_H
#include "profile/profile.h"

#define PROFILE_FAMILIES(X) \
	X(KERNEL, "fused kernels") \
	X(MATMUL, "matrix products") \
	X(CONV, "convolutions") \
	X(ATTENTION, "attention") \
	X(NORM, "normalisation, softmax") \
	X(REDUCE, "reductions") \
	X(COPY, "copies, layout") \
	X(INDEX, "indexing, embedding") \
	X(CREATE, "allocation, fill") \
	X(VIEW, "views") \
	X(POINTWISE, "pointwise and other ops") \
	X(COMM, "communication") \
	X(AUTOGRAD, "autograd engine") \
	X(DEVICE, "device calls (launch, copy, wait)") \
	X(GENERATED, "inside graphs, in no event") \
	X(GUARDS, "guards (cache lookup)") \
	X(DYNAMO, "around graphs (Dynamo, AOTAutograd)") \
	X(COMPILE, "compiling") \
	X(PYTHON, "Python, waiting")
enum profile_family {
#define X(id, name) FAMILY_##id,
	PROFILE_FAMILIES(X)
#undef X
	    FAMILIES,
};
extern const char *const profile_family_name[FAMILIES];
enum profile_family profile_family_of(struct slice name, enum profile_class class, enum profile_kind kind);

enum profile_fate {
	FATE_GONE,  /* only in eager: fused away, or replaced */
	FATE_STAYS, /* in both */
	FATE_NEW,   /* only in compiled: a fused kernel, another op */
};
extern const char *const profile_fate_name[3]; /* "gone", "stays", "new" */

struct profile_op {
	struct slice name;
	enum profile_family family;
	enum profile_fate fate;
	double count[2], self[2]; /* per step, ns; [0] eager, [1] compiled */
	double in_graph;          /* of self[1]: called by compiled code; the rest runs in eager */
	uint32_t row[2];          /* the slowest row of this name; NONE */
};

struct profile_compare {
	const struct profile *side[2]; /* eager, compiled; with only one, the same twice */
	bool swapped, one;
	bool same_kind; /* neither or both are compiled: compared in the given order */
	bool per_step;  /* both profiles (or the only one) have steps */
	double unit[2]; /* steps, or 1 */
	double wall[2]; /* ns per step */
	double family[2][FAMILIES];
	double beside[2]; /* ns of other threads while the main thread was busy, too: in family, not in wall */
	double device_busy[2];
	struct profile_op *op, *device;
	uint32_t n_op, cap_op, n_device, cap_device;
	double gone, stays[2], fresh; /* ns of ops by fate; fresh: FATE_NEW */
	uint32_t n_fate[3];
};

/* b NULL: only one profile. The profiles must outlive c. */
void profile_compare(struct profile_compare *c, const struct profile *a, const struct profile *b);
void profile_compare_release(struct profile_compare *c);

#endif
