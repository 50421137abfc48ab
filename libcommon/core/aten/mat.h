/* mat.h - matrices with any strides, and their product: shared by mm.c, conv.c, sdpa.c and linear layers.
 *
 *     struct mat a = mat_of(self, -1), b = mat_of(mat2, -1), c = mat_of(out, -1);
 *     mat_mul(c, (struct mat){0}, a, b, 0, 1);           // out = a b
 *     mat_mul(c, mat_t(bias), a, b, beta, alpha);        // out = beta*bias + alpha * a b; bias may have strides of 0
 *
 * float64 and float32 go to BLAS in place if the strides are just a transposition, else through copies. float16, bfloat16 and float8
 * are summed in float32 and rounded once. Integers wrap, as in torch; complex numbers are multiplied by parts. With beta 0 the bias is
 * ignored, whatever it holds.
 */
#ifndef PT2_ATEN_MAT_H
#define PT2_ATEN_MAT_H
#include "elem.h"

struct mat {
	char *data; /* NULL: none */
	int dtype;
	int64_t rows, cols, row_stride, col_stride; /* in elements */
};

/* The last two dims of t; batch selects those before them (in row-major order; -1: none). A vector is a row. */
struct mat mat_of(const struct aten_tensor *t, int64_t batch);
static inline struct mat mat_t(struct mat m) { return (struct mat){m.data, m.dtype, m.cols, m.rows, m.col_stride, m.row_stride}; }
/* A tensor of at most two dims broadcast to rows x cols. */
struct mat mat_broadcast(const struct aten_tensor *t, int64_t rows, int64_t cols);
/* c = beta*bias + alpha * a b, all of c's dtype; bias has c's shape or is absent. c must not be any of the others. */
void mat_mul(struct mat c, struct mat bias, struct mat a, struct mat b, double beta, double alpha);
/* Values as a row-major array in scratch memory (f32 or f64), or in place if they already are one; rows are `*ld` apart. */
const float *mat_f32(struct mat m, int64_t *ld);
/* Writes row-major values to m, rounding them. */
void mat_from_f32(struct mat m, const float *v, int64_t ld);
void mat_copy(struct mat to, struct mat from); /* any dtypes */

#endif
