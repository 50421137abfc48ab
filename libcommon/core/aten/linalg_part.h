/* linalg_part.h - batches of matrices for LAPACK: shared by the files of linalg; nothing else includes it.
 *
 *     linalg.c         batches, their copies, work memory, the messages when LAPACK fails
 *     linalg_solve.c   triangular systems, Cholesky, A = L D L^T
 *     linalg_lu.c      LU: solutions, inverses, determinants
 *     linalg_qr.c      Householder's reflectors, QR
 *     linalg_svd.c     singular values, eigenvalues, pseudo-inverses
 *     linalg_lstsq.c   least squares, the exponential
 *
 * As in torch (torch 2.13 and 2.15, aten/src/ATen/native/BatchLinearAlgebra.cpp and BatchLinearAlgebraKernel.cpp): operands are copied in
 * column-major order, factored in place and returned in that layout. All memory belongs to the call (aten_scratch) or to tensors, and is
 * freed at the end of the call; nothing is released by hand. Errors end the call with aten_fail().
 *
 *     struct batch b = batch_of(a, NULL);                      // checks for matrices of a dtype that LAPACK accepts
 *     struct aten_tensor *x = matrices_copied(a, &b, true);    // column-major
 *     for (int64_t i = 0; i < b.n; i++)
 *         LAPACK("potrf", x->dtype, "L", &n, matrix_at(x, &b, i), &ld, &info);
 */
#ifndef PT2_ATEN_LINALG_PART_H
#define PT2_ATEN_LINALG_PART_H
#include "elem.h"
#include "elem.h"
#include "lapack.h"
#include "mat.h"
#include "named.h"

#include <math.h>

/* The dims before the last two of one tensor, or of two that are broadcast; n: the number of matrices. 0 if only shapes are needed: there
 * is nothing to compute. */
struct batch {
	int n_dim;
	int64_t n, size[ATEN_DIMS];
};
static inline int64_t rows(const struct aten_tensor *t) { return t->size[t->n_dim - 2]; }
static inline int64_t cols(const struct aten_tensor *t) { return t->size[t->n_dim - 1]; }
static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }

void matrices_need(const struct aten_tensor *t);
void matrices_need_square(const struct aten_tensor *a);
/* For A X = B: a is square, and b has n rows. */
void matrices_need_rows(const struct aten_tensor *b, int64_t n, const struct aten_tensor *a);
/* t must have the dims before its last one that matrices has before its last two. */
void vectors_need_of(const struct aten_tensor *t, const struct aten_tensor *matrices, const char *what);
/* t must be n pivots for each matrix. */
void pivots_need_of(const struct aten_tensor *t, const struct aten_tensor *matrices, int64_t n);
/* b may be NULL. */
struct batch batch_of(const struct aten_tensor *a, const struct aten_tensor *b);

struct aten_tensor *matrices_new(int dtype, const struct batch *b, int64_t m, int64_t n, bool by_columns);
struct aten_tensor *vectors_new(int dtype, const struct batch *b, int64_t n);
/* A tensor of one number for each matrix. */
struct aten_tensor *numbers_new(int dtype, const struct batch *b);
/* A tensor without elements. */
struct aten_tensor *numbers_none(int dtype);
/* A copy of t, broadcast to the batch. */
struct aten_tensor *matrices_copied(struct aten_tensor *t, const struct batch *b, bool by_columns);
struct aten_tensor *matrices_transposed(struct aten_tensor *t, bool conjugated);
/* The n-th matrix of a tensor created here: batches are contiguous. */
static inline void *matrix_at(const struct aten_tensor *t, const struct batch *b, int64_t i)
{
	const int64_t step = b->n ? i * (aten_numel(t) / b->n) * elem_bytes(t->dtype) : 0;
	return step ? aten_data(t) + step : aten_data(t);
}
void numbers_conjugate(int dtype, char *p, int64_t n);
/* Sets the other side of the diagonal to zero; upper: zeroes everything below it. Column-major. */
void matrices_keep_triangle(struct aten_tensor *t, const struct batch *b, bool upper);
void matrices_set_identity(struct aten_tensor *t);
/* t must be dense. Some LAPACKs loop forever on non-finite values. */
bool matrices_finite(const struct aten_tensor *t);
/* A vector as a matrix of one column. */
struct aten_tensor *matrix_of_vector(struct aten_tensor *v);

/* Memory for a routine: the first call, with n = -1, says how much. */
struct work {
	int64_t n;
	void *p;
	double first[2];
};
static inline void work_ask(struct work *w) { *w = (struct work){.n = -1, .p = w->first}; }
/* Returns whether the memory was already allocated; the first time it allocates it, and the caller repeats its LAPACK call. */
bool work_ready(struct work *w, int dtype, int64_t least);
int64_t *work_ints(int64_t n);
void *work_reals(int dtype, int64_t n);

/* Fails as torch does for LAPACK's info from this function, for the i-th matrix; 0 is success. */
void lapack_check(int64_t info, struct slice api, int64_t batch_at, bool is_matrix);
static inline void lapack_check_one(int64_t info, const char *api, const struct batch *b, int64_t i)
{
	lapack_check((int32_t)info, slice_str(api), i, !b->n_dim);
}
/* Stores info in a tensor from numbers_new(); check: fail at once. */
void lapack_set_info(struct aten_tensor *info, const struct batch *b, int64_t i, int64_t v, bool check, const char *api);

#endif
