/* Linear algebra operators composed from LAPACK's operators (named.c) and others (torch 2.13 and 2.15,
 * aten/src/ATen/native/LinearAlgebra.cpp, BatchLinearAlgebra.cpp). */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

static struct aten_value T(struct aten_tensor *t) {
	return aten_of(t);
}

/* entry.data: the operator that computes it, whose first results are returned. */
static void
run_first_of(struct aten_call *c)
{
	call_give_all(c, aten_apply(c->entry->data, c->arg, c->n), c->schema->n_result);
}

static void run_svd(struct aten_call *c) /* A, full_matrices */ { call_give_all(c, APPLY("_linalg_svd", GIVEN(c, 0), GIVEN(c, 1)), 3); }
static struct aten_tensor *singular_values(struct aten_tensor *a)
{
	return APPLY("_linalg_svd", T(a), aten_bool(false), aten_bool(false))[1].tensor;
}
static void run_svdvals(struct aten_call *c) { call_give(c, 0, singular_values(call_tensor(c, 0))); }
static void run_svd_old(struct aten_call *c) /* self, some, compute_uv; V is not transposed */
{
	struct aten_tensor *self = call_tensor(c, 0);
	bool vectors = call_bool(c, 2);
	const struct aten_value *r = APPLY("_linalg_svd", T(self), aten_bool(!call_bool(c, 1)), aten_bool(vectors));
	if (!vectors)
		aten_fail("not supported without vectors (torch returns zeros); use linalg_svdvals");
	call_give(c, 0, r[0].tensor);
	call_give(c, 1, r[1].tensor);
	struct aten_tensor *v = aten_transpose(r[2].tensor, -2, -1);
	call_give(c, 2, elem_complex(v->dtype) ? aten_conj(v) : v);
}

static void run_eigh(struct aten_call *c) /* self, UPLO */ { call_give_all(c, APPLY("_linalg_eigh", GIVEN(c, 0), GIVEN(c, 1)), 2); }
static void run_eigvalsh(struct aten_call *c) { call_give(c, 0, APPLIED("_linalg_eigh", GIVEN(c, 0), GIVEN(c, 1), aten_bool(false))); }

static struct aten_tensor *inverse(struct aten_tensor *a) { return APPLIED("linalg_inv_ex", T(a), aten_bool(true)); }
static void run_inv(struct aten_call *c) { call_give(c, 0, inverse(call_tensor(c, 0))); }
static void run_cholesky(struct aten_call *c) /* self, upper */
{
	call_give(c, 0, APPLIED("linalg_cholesky_ex", GIVEN(c, 0), GIVEN(c, 1), aten_bool(true)));
}
static void run_ldl_factor(struct aten_call *c) /* self, hermitian */
{
	call_give_all(c, APPLY("linalg_ldl_factor_ex", GIVEN(c, 0), GIVEN(c, 1), aten_bool(true)), 2);
}
static void run_solve(struct aten_call *c) /* A, B, left */
{
	call_give(c, 0, APPLIED("_linalg_solve_ex", GIVEN(c, 0), GIVEN(c, 1), GIVEN(c, 2), aten_bool(true)));
}
static void run_solve_ex(struct aten_call *c) /* A, B, left, check_errors */
{
	const struct aten_value *r = aten_apply("_linalg_solve_ex", c->arg, c->n);
	call_give(c, 0, r[0].tensor);
	call_give(c, 1, r[3].tensor);
}
static void run_logdet(struct aten_call *c)
{
	const struct aten_value *r = APPLY("_linalg_slogdet", GIVEN(c, 0));
	if (elem_complex(call_tensor(c, 0)->dtype)) {
		call_give(c, 0, aten_add(APPLIED("log", r[0]), r[1].tensor, 1));
		return;
	}
	struct aten_tensor *negative = APPLIED("eq.Scalar", r[0], aten_int(-1));
	call_give(c, 0, aten_where(negative, aten_number((double)NAN), r[1].tensor));
}

/* ---- norms ---- */

static struct aten_tensor *vector_norm(struct aten_tensor *a, double ord, struct aten_value dims, bool keepdim, struct aten_value dtype)
{
	return APPLIED("linalg_vector_norm", T(a), aten_float(ord), dims, aten_bool(keepdim), dtype);
}
static struct aten_tensor *extreme(struct aten_tensor *a, bool largest, int64_t dim, bool keepdim)
{
	return APPLIED(largest ? "amax" : "amin", T(a), aten_ints(&dim, 1), aten_bool(keepdim));
}

/* Moves the two dims last; inverse: how to move them back. */
static struct aten_tensor *dims_last(const struct aten_tensor *a, const int *dim, int64_t *back)
{
	int64_t order[ATEN_DIMS];
	int n = 0;
	for (int i = 0; i < a->n_dim; i++)
		if (i != dim[0] && i != dim[1])
			order[n++] = i;
	order[n++] = dim[0];
	order[n++] = dim[1];
	for (int i = 0; i < n; i++)
		back[order[i]] = i;
	return aten_permute(a, order, n);
}

struct matrix_norm {
	double ord;
	bool nuclear, keepdim;
	int dim[2];
	struct aten_value dtype;
};

static struct aten_tensor *norm_by_singular_values(const struct matrix_norm *m, struct aten_tensor *a)
{
	int64_t back[ATEN_DIMS], last = -1;
	struct aten_tensor *s = singular_values(dims_last(a, m->dim, back));
	struct aten_tensor *r = m->nuclear ? APPLIED("sum.dim_IntList", T(s), aten_ints(&last, 1), aten_bool(m->keepdim))
					   : extreme(s, m->ord > 0, -1, m->keepdim);
	return m->keepdim ? aten_permute(aten_unsqueeze(r, -1), back, a->n_dim) : r;
}

static struct aten_tensor *matrix_norm(struct matrix_norm *m, struct aten_tensor *a)
{
	double size = fabs(m->ord);
	int64_t along = m->dim[isinf(m->ord) != 0], over = m->dim[isinf(m->ord) == 0];
	if (m->dtype.kind != ATEN_NONE)
		a = aten_to_copy(a, (int)m->dtype.i, ATEN_PRESERVE);
	if (!aten_numel(a) && m->ord > 0 && !m->nuclear) { /* the maximum of nothing is 0 */
		return vector_norm(a, 1, aten_ints((const int64_t[]){m->dim[0], m->dim[1]}, 2), m->keepdim, ATEN_NOTHING);
	}
	if (m->nuclear || size == 2)
		return norm_by_singular_values(m, a);
	if (size != 1 && !isinf(size))
		aten_fail("linalg.matrix_norm: Order %g not supported.", m->ord);
	struct aten_tensor *sums = vector_norm(a, 1, aten_ints(&along, 1), m->keepdim, ATEN_NOTHING);
	return extreme(sums, m->ord > 0, over > along && !m->keepdim ? over - 1 : over, m->keepdim);
}

static void two_dims(const struct aten_tensor *a, struct ints dims, int *two)
{
	if (a->n_dim < 2 || dims.n != 2)
		aten_fail("linalg.matrix_norm: The input tensor A must have at least 2 dimensions, and dim must have 2");
	for (int i = 0; i < 2; i++)
		two[i] = aten_dim(a, dims.v[i]);
	if (two[0] == two[1])
		aten_fail("linalg.matrix_norm: dims must be different.");
}

/* self, ord (a number or a name), dim, keepdim, dtype */
static void run_matrix_norm(struct aten_call *c)
{
	struct aten_tensor *a = call_tensor(c, 0);
	struct matrix_norm m = {.keepdim = call_bool(c, 3), .dtype = GIVEN(c, 4)};
	two_dims(a, call_is_none(c, 2) ? INT_LIST(-2, -1) : call_ints(c, 2), m.dim);
	if (GIVEN(c, 1).kind != ATEN_STRING) {
		m.ord = call_float(c, 1);
	} else if (!strcmp(call_string_or(c, 1, "fro"), "fro")) {
		call_give(c, 0, vector_norm(a, 2, aten_ints((const int64_t[]){m.dim[0], m.dim[1]}, 2), m.keepdim, m.dtype));
		return;
	} else {
		m.nuclear = !strcmp(call_string_or(c, 1, ""), "nuc");
		if (!m.nuclear)
			aten_fail("linalg.matrix_norm: Order %s not supported.", call_string_or(c, 1, ""));
	}
	call_give(c, 0, matrix_norm(&m, a));
}

static void run_norm(struct aten_call *c) /* self, ord or None, dim or None, keepdim, dtype */
{
	struct aten_tensor *a = call_tensor(c, 0);
	struct ints dims = call_ints(c, 2);
	bool of_vector = dims.v ? dims.n == 1 : a->n_dim == 1;
	if (GIVEN(c, 1).kind == ATEN_NONE)
		call_give(c, 0, vector_norm(a, 2, GIVEN(c, 2), call_bool(c, 3), GIVEN(c, 4)));
	else if (GIVEN(c, 1).kind != ATEN_STRING && of_vector)
		call_give(c, 0, vector_norm(a, call_float(c, 1), GIVEN(c, 2), call_bool(c, 3), GIVEN(c, 4)));
	else if (!dims.v && a->n_dim != 2)
		aten_fail("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got %dD.", a->n_dim);
	else
		run_matrix_norm(c);
}

/* ---- composed from products and inverses ---- */

static struct aten_tensor *product(struct aten_tensor *a, struct aten_tensor *b) { return APPLIED("matmul", T(a), T(b)); }

static void run_matrix_power(struct aten_call *c) /* self, n */
{
	struct aten_tensor *a = call_tensor(c, 0), *all = NULL;
	int64_t n = call_int(c, 1);
	if (a->n_dim < 2 || a->size[a->n_dim - 2] != a->size[a->n_dim - 1])
		aten_fail("linalg.matrix_power: A must be batches of square matrices");
	if (!n) {
		struct aten_tensor *one = APPLIED("eye", aten_int(a->size[a->n_dim - 1]), aten_dtype(a->dtype));
		call_give(c, 0, aten_clone_contiguous(aten_expand(one, a->size, a->n_dim)));
		return;
	}
	a = n < 0 ? inverse(a) : a;
	for (uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n; left; left >>= 1) {
		if (left & 1)
			all = all ? product(all, a) : a;
		a = left > 1 ? product(a, a) : a;
	}
	call_give(c, 0, n == 1 ? aten_clone(all) : all);
}

/* The cheapest order of products of matrices first..last (Cormen et al., 15.2). */
static struct aten_tensor *chain(struct aten_tensor *const *m, int64_t n)
{
	double *cost = aten_scratch((uint64_t)(n * n), sizeof(*cost));
	int64_t *cut = aten_scratch((uint64_t)(n * n), sizeof(*cut));
	struct aten_tensor **made = aten_scratch((uint64_t)(n * n), sizeof(struct aten_tensor *));
	for (int64_t i = 0; i < n; i++)
		cost[i * n + i] = 0;
	for (int64_t len = 1; len < n; len++)
		for (int64_t i = 0; i + len < n; i++) {
			int64_t j = i + len;
			cost[i * n + j] = (double)INFINITY;
			for (int64_t k = i; k < j; k++) {
				double v = cost[i * n + k] + cost[(k + 1) * n + j] +
					   (double)m[i]->size[0] * (double)m[k]->size[1] * (double)m[j]->size[1];
				if (v < cost[i * n + j]) {
					cost[i * n + j] = v;
					cut[i * n + j] = k;
				}
			}
		}
	for (int64_t len = 0; len < n; len++)
		for (int64_t i = 0; i + len < n; i++) {
			int64_t j = i + len, k = len ? cut[i * n + j] : i;
			made[i * n + j] = NULL;
			if (!len)
				made[i * n + j] = m[i];
			else if (len == n - 1 || n <= 16) /* including unneeded ones: the table is small */
				made[i * n + j] = product(made[i * n + k], made[(k + 1) * n + j]);
			else
				aten_fail("%lld matrices", (long long)n);
		}
	return made[n - 1];
}

static void run_multi_dot(struct aten_call *c)
{
	struct tensors list = call_tensors(c, 0);
	struct aten_tensor **m = list.v, *out;
	const int64_t n = list.n;
	if (n < 2)
		aten_fail("multi_dot(): expected at least 2 tensors but got %lld", (long long)n);
	for (int64_t i = 0; i < n; i++)
		if (!m[i] || (m[i]->n_dim != 2 && ((i && i != n - 1) || m[i]->n_dim != 1)))
			aten_fail("multi_dot(): tensor %lld must be 2D", (long long)i);
	bool row = m[0]->n_dim == 1, column = m[n - 1]->n_dim == 1;
	m[0] = row ? aten_unsqueeze(m[0], 0) : m[0];
	m[n - 1] = column ? aten_unsqueeze(m[n - 1], 1) : m[n - 1];
	out = chain(m, n);
	out = column ? aten_squeeze_dim(out, 1) : out;
	call_give(c, 0, row ? aten_squeeze_dim(out, 0) : out);
}

static struct aten_tensor *rolled(struct aten_tensor *t, int64_t by, int64_t dim)
{
	return APPLIED("roll", T(t), aten_ints(&by, 1), aten_ints(&dim, 1));
}
static void run_cross(struct aten_call *c) /* self, other, dim: a b' - a' b of the following elements */
{
	struct aten_tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
	int64_t size[ATEN_DIMS], dim = -1;
	int n = aten_broadcast(a, b, size);
	if (c->arg[2].kind != ATEN_NONE)
		dim = call_int(c, 2);
	else
		for (int i = n - 1; i >= 0; i--)
			dim = size[i] == 3 ? i : dim;
	a = aten_expand(a, size, n);
	b = aten_expand(b, size, n);
	if (!n || size[aten_dim(a, dim)] != 3)
		aten_fail("linalg.cross: inputs dimension %lld must have length 3.", (long long)dim);
	call_give(c, 0, aten_sub(aten_mul(rolled(a, -1, dim), rolled(b, -2, dim)), aten_mul(rolled(a, -2, dim), rolled(b, -1, dim)), 1));
}
static void run_vecdot(struct aten_call *c) /* x, y, dim */
{
	struct aten_tensor *x = call_tensor(c, 0), *y = call_tensor(c, 1);
	int64_t dim = call_int(c, 2);
	x = elem_complex(x->dtype) ? aten_conj(x) : x;
	call_give(c, 0, APPLIED("sum.dim_IntList", T(aten_mul(x, y)), aten_ints(&dim, 1)));
}
static void run_diagonal(struct aten_call *c) /* A, offset, dim1, dim2 */
{
	call_give(c, 0, aten_diagonal(call_tensor(c, 0), call_int(c, 1), call_int(c, 2), call_int(c, 3)));
}

/* A tolerance as a tensor of double, or None. */
static struct aten_value tolerance(const struct aten_call *c, uint32_t i)
{
	return call_is_none(c, i) || GIVEN(c, i).kind == ATEN_TENSOR ? GIVEN(c, i) : T(aten_number(call_float(c, i)));
}
static void run_pinv(struct aten_call *c) /* self, atol, rtol, hermitian; or self, rcond, hermitian */
{
	bool old = c->n == 3, plain = c->n == 2;
	struct aten_value atol = old || plain ? ATEN_NOTHING : tolerance(c, 1), rtol = tolerance(c, old || plain ? 1 : 2);
	call_give(c, 0, APPLIED("linalg_pinv.atol_rtol_tensor", GIVEN(c, 0), atol, rtol, plain ? aten_bool(false) : GIVEN(c, c->n - 1)));
}

/* ---- old names of existing operators ---- */

static void run_geqrf(struct aten_call *c) { call_give_two(c, aten_geqrf(call_tensor(c, 0))); }
static void run_ormqr(struct aten_call *c) /* self, input2, input3, left, transpose */
{
	call_give(c, 0, aten_ormqr(call_tensor(c, 0), call_tensor(c, 1), call_tensor(c, 2), call_bool(c, 3), call_bool(c, 4)));
}
static void run_triangular_solve(struct aten_call *c) /* self, A, upper, transpose, unitriangular */
{
	call_give_two(c, aten_triangular_solve(call_tensor(c, 0), call_tensor(c, 1), call_bool(c, 2), call_bool(c, 3), call_bool(c, 4)));
}
static void run_cholesky_solve(struct aten_call *c) /* self, input2, upper */
{
	call_give(c, 0, aten_cholesky_solve(call_tensor(c, 0), call_tensor(c, 1), call_bool(c, 2)));
}
static void run_cholesky_inverse(struct aten_call *c) /* self, upper */
{
	call_give(c, 0, aten_cholesky_inverse(call_tensor(c, 0), call_bool(c, 1)));
}

const struct aten_entry aten_linalg_entries[] = {
    {"cholesky_inverse", run_cholesky_inverse},
    {"cholesky_solve", run_cholesky_solve},
    {"cross", run_cross},
    {"det", run_first_of, "_linalg_det"},
    {"geqrf", run_geqrf},
    {"inverse", run_inv},
    {"linalg_cholesky", run_cholesky},
    {"linalg_cross", run_cross},
    {"linalg_det", run_first_of, "_linalg_det"},
    {"linalg_diagonal", run_diagonal},
    {"linalg_eigh", run_eigh},
    {"linalg_eigvalsh", run_eigvalsh},
    {"linalg_inv", run_inv},
    {"linalg_ldl_factor", run_ldl_factor},
    {"linalg_matrix_norm", run_matrix_norm},
    {"linalg_matrix_norm.str_ord", run_matrix_norm},
    {"linalg_matrix_power", run_matrix_power},
    {"linalg_multi_dot", run_multi_dot},
    {"linalg_norm", run_norm},
    {"linalg_norm.ord_str", run_norm},
    {"linalg_pinv", run_pinv},
    {"linalg_pinv.atol_rtol_float", run_pinv},
    {"linalg_pinv.rcond_tensor", run_pinv},
    {"linalg_slogdet", run_first_of, "_linalg_slogdet"},
    {"linalg_solve", run_solve},
    {"linalg_solve_ex", run_solve_ex},
    {"linalg_svd", run_svd},
    {"linalg_svdvals", run_svdvals},
    {"linalg_vecdot", run_vecdot},
    {"logdet", run_logdet},
    {"matrix_exp", run_first_of, "linalg_matrix_exp"},
    {"ormqr", run_ormqr},
    {"pinverse", run_pinv},
    {"slogdet", run_first_of, "_linalg_slogdet"},
    {"svd", run_svd_old},
    {"triangular_solve", run_triangular_solve},
    {0},
};
