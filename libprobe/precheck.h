/* precheck.h - a contract in a form against which a call is checked in well under a microsecond.
 *
 *     precheck_build(&p, &contract);
 *     if (!precheck_passes(&p, views, n)) ... check_inputs() says what is wrong, if anything is
 *     precheck_release(&p);
 *
 * If it passes, check_inputs() would find nothing. If not, check_inputs() decides: a tensor without elements, or with an unusual
 * stride of a dimension of size 1, may still fit. It allocates nothing and takes no lock; any number of threads may use one
 * precheck at once. The contract must outlive it.
 */
#ifndef PT2_PRECHECK_H
#define PT2_PRECHECK_H
#include "model/contract/contract.h"

#define PRECHECK_MAX_SYMBOLS 128 /* names in the contract's table; with more, nothing passes */

/* A tensor as seen through libtorch. */
struct input_view {
	const int64_t *size, *stride;
	int64_t n_dim;
	int32_t dtype, device;
	uint64_t address; /* only read if the contract has an alignment */
};

struct precheck_dim {
	int64_t lo, hi, stride;
	uint32_t size_expr, stride_expr;  /* index into expr + 1, 0 for none */
	bool stride_known, stride_of_one; /* stride_of_one: it also counts for dimensions of size 1 */
};
struct precheck_input {
	int32_t dtype, device, n_dim, alignment;
	bool rank_known;
	uint32_t dim;
};
struct precheck_symbol {
	uint32_t symbol, input, dim;
	int64_t mul, add, lo, hi;
};

struct precheck {
	const struct contract *contract;
	bool usable; /* false: nothing passes */
	struct precheck_input *input;
	struct precheck_dim *dim;
	struct precheck_symbol *symbol;
	struct symsize *expr;
	uint32_t n_inputs, n_symbols, n_exprs, cap_exprs;
	bool aligned; /* some input has an alignment */
};

void precheck_build(struct precheck *p, const struct contract *c);
void precheck_release(struct precheck *p);
bool precheck_passes(const struct precheck *p, const struct input_view *in, size_t n, bool check_alignment);

#endif
