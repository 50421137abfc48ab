/* linalg_part.h - batches of matrices for LAPACK: what the files of linalg share; nobody else includes it.
 *
 *     linalg.c         batches, their copies, work memory, what is said when LAPACK fails
 *     linalg_solve.c   triangular systems, Cholesky, A = L D L^T
 *     linalg_lu.c      LU: solutions, inverses, determinants
 *     linalg_qr.c      Householder's reflectors, QR
 *     linalg_svd.c     singular values, eigenvalues, pseudo-inverses
 *     linalg_lstsq.c   least squares, the exponential
 *
 * As torch does it (torch 2.13 and 2.15, aten/src/ATen/native/BatchLinearAlgebra.cpp and BatchLinearAlgebraKernel.cpp): operands are
 * copied by columns, factored in place and given back as they lie. All memory is the call's (shim_scratch) or the tensors', which the
 * call's end frees; nothing here is released by hand. What is wrong ends the call by shim_fail().
 *
 *     struct batch b = batch_of(a, NULL);                      // checks that there are matrices of numbers that LAPACK takes
 *     struct shim_tensor *x = matrices_copied(a, &b, true);    // by columns
 *     for (int64_t i = 0; i < b.n; i++)
 *         LAPACK("potrf", x->dtype, "L", &n, matrix_at(x, &b, i), &ld, &info);
 */
#ifndef PT2_SHIM_LINALG_PART_H
#define PT2_SHIM_LINALG_PART_H
#include "elem.h"
#include "lapack.h"
#include "mat.h"
#include "proxy.h"

#include <math.h>

/* The dims before the last two of one tensor, or of two that are broadcast; n: how many matrices that makes. */
struct batch {
	int n_dim;
	int64_t n, size[SHIM_DIMS];
};
static inline int64_t rows(const struct shim_tensor *t) { return t->size[t->n_dim - 2]; }
static inline int64_t cols(const struct shim_tensor *t) { return t->size[t->n_dim - 1]; }
static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }

void matrices_need(const struct shim_tensor *t);
void matrices_need_square(const struct shim_tensor *a);
/* For A X = B: a is square, and b has n rows. */
void matrices_need_rows(const struct shim_tensor *b, int64_t n, const struct shim_tensor *a);
/* t must have, before its last dim, the dims that matrices has before its last two. */
void vectors_need_of(const struct shim_tensor *t, const struct shim_tensor *matrices, const char *what);
/* b may be NULL. */
struct batch batch_of(const struct shim_tensor *a, const struct shim_tensor *b);

struct shim_tensor *matrices_new(int dtype, const struct batch *b, int64_t m, int64_t n, bool by_columns);
struct shim_tensor *vectors_new(int dtype, const struct batch *b, int64_t n);
/* One number for each matrix. */
struct shim_tensor *numbers_new(int dtype, const struct batch *b);
/* A tensor of no element. */
struct shim_tensor *numbers_none(int dtype);
/* A copy of t, broadcast to the batch. */
struct shim_tensor *matrices_copied(struct shim_tensor *t, const struct batch *b, bool by_columns);
struct shim_tensor *matrices_transposed(struct shim_tensor *t, bool conjugated);
/* Of one that was made here: batches lie one behind the other. */
static inline void *matrix_at(const struct shim_tensor *t, const struct batch *b, int64_t i)
{
	return shim_data(t) + (b->n ? i * (shim_numel(t) / b->n) * elem_bytes(t->dtype) : 0);
}
void numbers_conjugate(int dtype, char *p, int64_t n);
/* Zeroes on the other side of the diagonal; upper: nothing below it is kept. By columns. */
void matrices_keep_triangle(struct shim_tensor *t, const struct batch *b, bool upper);
void matrices_set_identity(struct shim_tensor *t);
/* t is dense. Some LAPACKs loop on what is not. */
bool matrices_finite(const struct shim_tensor *t);
/* A vector as a matrix of one column. */
struct shim_tensor *matrix_of_vector(struct shim_tensor *v);

/* Memory for a routine: the first call, with n = -1, says how much. */
struct work {
	int64_t n;
	void *p;
	double first[2];
};
static inline void work_ask(struct work *w) { *w = (struct work){.n = -1, .p = w->first}; }
void work_get(struct work *w, int dtype, int64_t least);
int64_t *work_ints(int64_t n);
void *work_reals(int dtype, int64_t n);

/* The failure that LAPACK's info is of this function, for the i-th matrix; 0 is none. */
void lapack_check(int64_t info, struct slice api, int64_t batch_at, bool is_matrix);
static inline void lapack_check_one(int64_t info, const char *api, const struct batch *b, int64_t i)
{
	lapack_check((int32_t)info, slice_str(api), i, !b->n_dim);
}
/* Into a tensor of numbers_new(); check: a failure is one at once. */
void lapack_set_info(struct shim_tensor *info, const struct batch *b, int64_t i, int64_t v, bool check, const char *api);

#endif
