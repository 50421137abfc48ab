/* check.h - do these inputs fit this contract? All mismatches of all inputs in one pass, each in AOTI's words and in ours.
 *
 *     struct check k = {0};
 *     check_inputs(&k, &contract, metas, n);
 *     for (size_t i = 0; i < k.n; i++)
 *         k.v[i].aoti, k.v[i].text, k.v[i].fix ...
 *     check_release(&k);
 *
 * Findings are ordered as AOTI would meet them: input by input (dtype, sizes, strides, device), then what assert_size_stride
 * sees (rank, equality of sizes, symbolic strides). So if there is one with an AOTI text, torch under
 * AOTI_RUNTIME_CHECK_INPUTS=1 stops with the first such text; if there is none, it runs. Where torch's own text depends
 * on what lies behind the tensor's sizes in memory (too few dims), it is left out of the exact comparison (`aoti_loose`).
 * Inputs on several devices of one type (cuda:0, cuda:1) are a mismatch that torch has no text for.
 * An input that was not given has n_dim -1: it is part of CHECK_COUNT and nothing else is said of it.
 * `advice` marks what no check of torch's catches, but which is worth a word (an unaligned input is copied); it does
 * not count as a mismatch.
 */
#ifndef PT2_CHECK_H
#define PT2_CHECK_H
#include "model/contract/contract.h"

enum check_what {
	CHECK_COUNT, /* too few or too many inputs */
	CHECK_DTYPE,
	CHECK_RANK,
	CHECK_SIZE,  /* another exact size */
	CHECK_SMALL, /* below the lower bound */
	CHECK_LARGE, /* above the upper bound */
	CHECK_EQUAL, /* sizes that must agree, or a derived size (2*s0), across inputs */
	CHECK_STRIDE,
	CHECK_DEVICE,
	CHECK_ALIGN,
	CHECK_CUT, /* a floor division leaves elements out */
};
const char *check_what_name(enum check_what w); /* "dtype", ...: for JSON */

struct check_finding {
	enum check_what what;
	uint32_t input; /* NONE for CHECK_COUNT */
	int dim;        /* -1 when it is about the whole */
	bool advice, aoti_loose;
	struct slice aoti;     /* torch's message, without its newline; empty if it has none for this */
	struct slice expected; /* "float32", "2..64", "s77 = 3 (dim 0 of x)" */
	struct slice given;
	struct slice fix; /* ".to(torch.float32)" */
};

struct check {
	struct check_finding *v;
	size_t n, cap;
	size_t n_bad; /* those that are no advice */
	struct arena arena;
};

void check_inputs(struct check *k, const struct contract *c, const struct tensor_meta *in, size_t n);
/* For inputs that fit: of which are elements left out, because a size divides with a rest? Where 100*(n//100) elements are made of n,
 * the generated code is right for multiples of 100 only (pytorch#151925: an assertion of the exported program that the compiled one does
 * not have). Said is what follows from the sizes: a view of the input, or what generated kernels make of it, has as many elements as the
 * input where the division has no rest, and fewer here. So strided convolutions and chunks are not meant, nor is a kernel whose name
 * says that it takes some and leaves others (unfold, slice, pooling). One CHECK_CUT an input, `advice`. Not seen: what goes on in an
 * operator, and views that are written within a call. */
void check_cuts(struct check *k, const struct contract *c, const struct tensor_meta *in, size_t n);
void check_release(struct check *k);

#endif
