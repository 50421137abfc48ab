/* proxy.h - operators that a model calls through the proxy executor, for they have no C function in torch.
 *
 *     void proxy_median_dim(struct proxy_call *c)
 *     {
 *         struct shim_tensor *self = proxy_tensor(c, "self");
 *         int64_t dim = proxy_int(c, "dim", 0);
 *         ...
 *         proxy_give(c, 0, values);
 *         proxy_give(c, 1, indices);
 *     }
 *
 * Parameters are asked for by the names they have in torch's schema (package/externnodes.h); those that the package leaves out
 * have the value that is given here. Within it, shim_fail() leaves the operator. The table is in proxy.c.
 *
 * The runner opens the executor from the package's list, which tells what is missing before anything runs, and gives it
 * to the model:
 *
 *     void *executor = shim_proxy_open(json, n, why, sizeof(why));   // NULL: why names what is not there
 *     AOTInductorModelContainerRun(..., executor);
 *     shim_proxy_close(executor);
 */
#ifndef PT2_SHIM_PROXY_H
#define PT2_SHIM_PROXY_H
#include "package/externnodes.h"
#include "shim.h"

#include <complex.h>

struct proxy_call {
	const struct extern_nodes *nodes;
	const struct extern_node *node;
	const int64_t *ints;
	AtenTensorHandle *tensors, *out;
};

struct shim_tensor *proxy_tensor(const struct proxy_call *c, const char *name); /* fails when it is None */
struct shim_tensor *proxy_tensor_or_none(const struct proxy_call *c, const char *name);
bool proxy_is_none(const struct proxy_call *c, const char *name); /* or left out */
int64_t proxy_int(const struct proxy_call *c, const char *name, int64_t otherwise);
bool proxy_bool(const struct proxy_call *c, const char *name, bool otherwise);
double complex proxy_number(const struct proxy_call *c, const char *name, double otherwise); /* a Scalar of any kind */
double proxy_float(const struct proxy_call *c, const char *name, double otherwise);          /* also of an integer */
struct slice proxy_string(const struct proxy_call *c, const char *name, const char *otherwise);
const int64_t *proxy_ints(const struct proxy_call *c, const char *name, int64_t *n);
void proxy_give(const struct proxy_call *c, int i, struct shim_tensor *result);

struct proxy_op {
	const char *target;
	uint32_t results;
	void (*run)(struct proxy_call *c);
};
/* complex.c: of any of its usual overloads; NULL: not there. */
const struct proxy_op *proxy_complex_op(const char *op, const char *overload);

void *shim_proxy_open(const char *json, size_t n, char *why, size_t room);
void shim_proxy_close(void *executor);

void proxy_unique2(struct proxy_call *c); /* unique.c */
void proxy_unique_consecutive(struct proxy_call *c);
void proxy_unique_dim(struct proxy_call *c);
void proxy_unique_dim_consecutive(struct proxy_call *c);
void proxy_bincount(struct proxy_call *c);
void proxy_median_dim(struct proxy_call *c); /* sort.c */
void proxy_nanmedian_dim(struct proxy_call *c);
void proxy_fft_c2r(struct proxy_call *c);              /* fft.c */
void proxy_multinomial(struct proxy_call *c);          /* random.c */
void proxy_upsample_bilinear_aa(struct proxy_call *c); /* resample.c */
void proxy_upsample_bicubic_aa(struct proxy_call *c);
/* linalg_*.c */
void proxy_cholesky(struct proxy_call *c);
void proxy_linalg_check_errors(struct proxy_call *c);
void proxy_linalg_cholesky_ex(struct proxy_call *c);
void proxy_linalg_det(struct proxy_call *c);
void proxy_linalg_eig(struct proxy_call *c);
void proxy_linalg_eigh(struct proxy_call *c);
void proxy_linalg_eigvals(struct proxy_call *c);
void proxy_linalg_householder_product(struct proxy_call *c);
void proxy_linalg_inv_ex(struct proxy_call *c);
void proxy_linalg_ldl_factor_ex(struct proxy_call *c);
void proxy_linalg_ldl_solve(struct proxy_call *c);
void proxy_linalg_lstsq(struct proxy_call *c);
void proxy_linalg_lu(struct proxy_call *c);
void proxy_linalg_lu_factor_ex(struct proxy_call *c);
void proxy_linalg_lu_solve(struct proxy_call *c);
void proxy_linalg_matrix_exp(struct proxy_call *c);
void proxy_linalg_pinv(struct proxy_call *c);
void proxy_linalg_qr(struct proxy_call *c);
void proxy_linalg_slogdet(struct proxy_call *c);
void proxy_linalg_solve_ex(struct proxy_call *c);
void proxy_linalg_solve_triangular(struct proxy_call *c);
void proxy_linalg_svd(struct proxy_call *c);

#endif
