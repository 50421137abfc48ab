/* check.h - do these inputs fit this contract? Finds all mismatches of all inputs in one pass, each with AOTI's message and ours.
 *
 *     struct check k = {0};
 *     check_inputs(&k, &contract, metas, n);
 *     for (size_t i = 0; i < k.n; i++)
 *         k.v[i].aoti, k.v[i].text, k.v[i].fix ...
 *     check_release(&k);
 *
 * Findings are in the order in which AOTI checks: input by input (dtype, sizes, strides, device), then assert_size_stride (rank, equality
 * of sizes, symbolic strides). So if any has an AOTI text, torch under AOTI_RUNTIME_CHECK_INPUTS=1 stops with the first such text; if none
 * has, it runs. If torch's own text depends on the memory after the tensor's sizes (too few dims), it is not compared exactly
 * (`aoti_loose`). Inputs on several devices of one type (cuda:0, cuda:1) are a mismatch that torch has no text for. A missing input has
 * n_dim -1: it is part of CHECK_COUNT and has no other findings. `advice` marks a finding that no check in torch catches but that is worth
 * knowing (an unaligned input is copied); it does not count as a mismatch.
 */
#ifndef PT2_CHECK_H
#define PT2_CHECK_H
#include "model/contract/contract.h"

enum check_what {
	CHECK_COUNT, /* too few or too many inputs */
	CHECK_DTYPE,
	CHECK_RANK,
	CHECK_SIZE,  /* differs from the exact size */
	CHECK_SMALL, /* below the lower bound */
	CHECK_LARGE, /* above the upper bound */
	CHECK_EQUAL, /* sizes that must agree, or a derived size (2*s0), across inputs */
	CHECK_STRIDE,
	CHECK_DEVICE,
	CHECK_ALIGN,
	CHECK_CUT,   /* a floor division drops elements */
	CHECK_VALUE, /* an index is out of range; not by check_inputs(), which has no values */
};
const char *check_what_name(enum check_what w); /* "dtype", ...: for JSON */

struct check_finding {
	enum check_what what;
	uint32_t input; /* NONE for CHECK_COUNT */
	int dim;        /* -1: the whole input */
	bool advice, aoti_loose;
	struct slice aoti;     /* torch's message, without its newline; empty if torch has none */
	struct slice expected; /* "float32", "2..64", "s77 = 3 (dim 0 of x)" */
	struct slice given;
	struct slice fix; /* ".to(torch.float32)" */
};

struct check {
	struct check_finding *v;
	size_t n, cap;
	size_t n_bad; /* mismatches: findings that are not advice */
	struct arena arena;
};

void check_inputs(struct check *k, const struct contract *c, const struct tensor_meta *in, size_t n);
/* For inputs that fit: finds inputs whose elements are dropped because a size does not divide evenly. If n elements become 100*(n//100),
 * the generated code is correct only for multiples of 100 (pytorch#151925: the exported program asserts this, the compiled one does not).
 * It is deduced from the sizes: a view of the input, or the output of a generated kernel, has as many elements as the input when the
 * division is exact, and fewer here. So strided convolutions and chunks do not count, nor do kernels whose name says that they drop
 * elements (unfold, slice, pooling). One CHECK_CUT per input, `advice`. It does not see inside operators, or views created within a
 * call. */
void check_cuts(struct check *k, const struct contract *c, const struct tensor_meta *in, size_t n);
void check_release(struct check *k);

#endif
