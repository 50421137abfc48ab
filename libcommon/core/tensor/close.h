/* close.h - compares two tensors: are they close, and if not, how far apart?
 *
 *     struct tensor_close c;
 *     tensor_close(&expected, a, &given, b, (struct close_options){0}, &c);     // tolerances of the dtype
 *     if (!c.same) ... c.bad of c.n elements differ; at c.worst_at, c.a and c.b
 *
 * The rule is that of torch.testing.assert_close (torch 2.13, torch/testing/_comparison.py): an element is close when
 * |given - expected| <= atol + rtol * |expected|, and the default tolerances are those of its table by dtype; for two dtypes, the larger
 * ones. Infinities must be equal. Unlike there, NaN in the same place counts as equal unless .nan_differs: two runs that both end in NaN do
 * not differ. Sizes must be the same (c.sizes_differ); tensors of different dtypes are compared by value, and the dtype counts as a
 * difference of its own (c.dtype_differs). Strides and devices do not count.
 *
 * Numbers are compared as doubles, integers of 64 bits exactly, complex numbers by the magnitude of the difference.
 */
#ifndef PT2_TENSOR_CLOSE_H
#define PT2_TENSOR_CLOSE_H
#include "tensor/tensor.h"

struct close_options {
	bool given; /* use rtol and atol instead of the table */
	double rtol, atol;
	bool nan_differs;
	bool any_dtype; /* a different dtype does not count */
};

struct tensor_close {
	bool same, sizes_differ, dtype_differs;
	bool known; /* false: a non-numeric dtype; only the bytes were compared */
	double rtol, atol;
	uint64_t n, bad;             /* elements, and those that are not close */
	uint64_t not_finite;         /* of those: infinite or NaN on one side, and different on the other */
	double max_abs, max_rel;     /* over elements that are finite on both sides; relative to the expected one */
	double rms;                  /* root of the sum of squared differences over that of the expected values; finite elements only */
	double scale, spread;        /* of expected elements, where both are finite: root mean square, standard deviation */
	double worst;                /* greatest |a - b| / (atol + rtol * |a|): 1 is the limit; infinity if no tolerance would suffice */
	int64_t worst_at, first_bad; /* linear index, -1 for none */
	double a, b;                 /* at worst_at; for complex numbers, the magnitude */
};

void close_tolerance(int dtype_a, int dtype_b, double *rtol, double *atol);
void tensor_close(const struct tensor_meta *ma, const void *a, const struct tensor_meta *mb, const void *b, struct close_options o,
		  struct tensor_close *out);

#endif
