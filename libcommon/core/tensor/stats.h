/* stats.h - statistics of a tensor: NaN, infinities, zeros, range, mean - at memory speed.
 *
 *     struct tensor_stats s;
 *     tensor_stats(&meta, data, STATS_ALL, &s);       // any dtype, any strides
 *     if (s.nan) ... s.first_bad is the linear index (row-major over sizes) of the first NaN or infinity
 *
 * STATS_BAD counts NaN and infinities only (about a memory pass); STATS_ALL adds zeros, min, max, mean. Instruction sets
 * are chosen at run time (AVX-512, AVX2, plain C). Nothing is allocated and nothing is locked: it runs inside target processes. Dense
 * tensors (in any order of dims) are scanned as one block; others dim by dim.
 *
 * min, max and mean leave out NaN (and count infinities); they are NaN for a tensor without numbers. Complex numbers
 * count once, as NaN if a part is NaN, else as infinite (with that part's sign) if one is; min, max and mean use magnitudes. bool counts
 * true as 1. The mean is summed in double. Elements that strides repeat (an expanded tensor) are read once and counted as often as they
 * appear. The host's floating-point modes and flags are neither used nor changed.
 */
#ifndef PT2_STATS_H
#define PT2_STATS_H
#include "tensor/tensor.h"

enum { STATS_BAD = 1, STATS_ALL = 2 };

struct tensor_stats {
	uint64_t n;                     /* elements examined */
	uint64_t nan, pos_inf, neg_inf; /* 0 for integers */
	uint64_t zero;                  /* with STATS_ALL, like the following */
	double min, max, mean;
	int64_t first_bad; /* -1: none */
	bool known;        /* false: a non-numeric dtype (quantized, packed) */
};

/* data: address of the first element. The caller guarantees that the strides stay within memory (tensor_extent). */
void tensor_stats(const struct tensor_meta *m, const void *data, int want, struct tensor_stats *out);
/* The same for n contiguous elements in index order: saves the time to detect that. */
void tensor_stats_dense(int dtype, uint64_t n, const void *data, int want, struct tensor_stats *out);
/* The element at linear index i (row-major over sizes) as a double; NaN for anything but a number. */
double tensor_at(const struct tensor_meta *m, const void *data, int64_t i);
/* Indices of linear index i: index[0 .. n_dim-1]. */
void tensor_index(const struct tensor_meta *m, int64_t i, int64_t *index);
/* The element of `in` that corresponds to element `at` of `out`, both linear: for shapes that broadcast to that of out, and shapes with the
 * same number of elements. -1: none. */
int64_t tensor_same_place(const struct tensor_meta *in, const struct tensor_meta *out, int64_t at);

#endif
