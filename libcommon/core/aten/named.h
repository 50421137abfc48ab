/* named.h - arguments by their names in torch's schema: for operators whose overloads share one function.
 *
 *     void run_linalg_qr(struct aten_call *c)
 *     {
 *         struct aten_tensor *a = named_tensor(c, "A");
 *         struct slice mode = named_string(c, "mode", "reduced");
 *         ...
 *         call_give(c, 0, q);
 *         call_give(c, 1, r);
 *     }
 *
 * If an overload lacks the argument, or it is None, the result is the given default.
 */
#ifndef PT2_ATEN_NAMED_H
#define PT2_ATEN_NAMED_H
#include "call.h"

struct aten_tensor *named_tensor(const struct aten_call *c, const char *name); /* fails if it is None */
struct aten_tensor *named_tensor_or_none(const struct aten_call *c, const char *name);
bool named_is_none(const struct aten_call *c, const char *name);
int64_t named_int(const struct aten_call *c, const char *name, int64_t otherwise);
bool named_bool(const struct aten_call *c, const char *name, bool otherwise);
double named_float(const struct aten_call *c, const char *name, double otherwise);
struct slice named_string(const struct aten_call *c, const char *name, const char *otherwise);

/* unique.c, fft.c, resample.c, linalg*.c: their table is in named.c */
void run_bincount(struct aten_call *c);
void run_cholesky(struct aten_call *c);
void run_linalg_check_errors(struct aten_call *c);
void run_linalg_cholesky_ex(struct aten_call *c);
void run_linalg_det(struct aten_call *c);
void run_linalg_eig(struct aten_call *c);
void run_linalg_eigh(struct aten_call *c);
void run_linalg_eigvals(struct aten_call *c);
void run_linalg_householder_product(struct aten_call *c);
void run_linalg_inv_ex(struct aten_call *c);
void run_linalg_ldl_factor_ex(struct aten_call *c);
void run_linalg_ldl_solve(struct aten_call *c);
void run_linalg_lstsq(struct aten_call *c);
void run_linalg_lu(struct aten_call *c);
void run_linalg_lu_factor_ex(struct aten_call *c);
void run_linalg_lu_solve(struct aten_call *c);
void run_linalg_matrix_exp(struct aten_call *c);
void run_linalg_pinv(struct aten_call *c);
void run_linalg_qr(struct aten_call *c);
void run_linalg_slogdet(struct aten_call *c);
void run_linalg_solve_ex(struct aten_call *c);
void run_linalg_solve_triangular(struct aten_call *c);
void run_linalg_svd(struct aten_call *c);
void run_lu_unpack(struct aten_call *c);
void run_unique2(struct aten_call *c);
void run_unique_consecutive(struct aten_call *c);
void run_unique_dim(struct aten_call *c);
void run_unique_dim_consecutive(struct aten_call *c);

#endif
