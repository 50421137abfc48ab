/* Linear algebra by LAPACK (lapack.h), as torch does it (torch 2.13 and 2.15, aten/src/ATen/native/BatchLinearAlgebra.cpp and
 * BatchLinearAlgebraKernel.cpp): operands are copied by columns, factored in place and given back as they lie. */
#include "elem.h"
#include "lapack.h"
#include "mat.h"
#include "proxy.h"

#include <math.h>

/* ---- batches ---- */

struct batch {
	int n_dim;
	int64_t n, size[SHIM_DIMS];
};

static void need_matrix(const struct shim_tensor *t)
{
	if (t->n_dim < 2)
		shim_fail("the input tensor must have at least 2 dimensions, it has %d", t->n_dim);
	if (t->dtype != DTYPE_F32 && t->dtype != DTYPE_F64 && !elem_complex(t->dtype))
		shim_fail("expected a floating point or complex tensor as input, got %s", dtype_name(t->dtype));
}

static int64_t rows(const struct shim_tensor *t) { return t->size[t->n_dim - 2]; }
static int64_t cols(const struct shim_tensor *t) { return t->size[t->n_dim - 1]; }
static int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* What is before the last two dims of both, broadcast; b may be NULL. */
static struct batch batch_of(const struct shim_tensor *a, const struct shim_tensor *b)
{
	struct batch r = {.n = 1};
	need_matrix(a);
	need_matrix(b ? b : a);
	if (a->dtype != (b ? b : a)->dtype)
		shim_fail("matrices of %s and %s", dtype_name(a->dtype), dtype_name(b->dtype));
	struct shim_tensor x = *a, y = b ? *b : *a;
	x.n_dim -= 2;
	y.n_dim -= 2;
	r.n_dim = shim_broadcast(&x, &y, r.size);
	for (int i = 0; i < r.n_dim; i++)
		r.n *= r.size[i];
	return r;
}

static void need_square(const struct shim_tensor *a)
{
	need_matrix(a);
	if (rows(a) != cols(a))
		shim_fail("A must be batches of square matrices, but they are %lld by %lld matrices", (long long)rows(a),
			  (long long)cols(a));
}

/* t must have, before its last dim, the dims that matrices has before its last two. */
static void need_batch_of(const struct shim_tensor *t, const struct shim_tensor *matrices, const char *what)
{
	if (t->n_dim != matrices->n_dim - 1 || memcmp(t->size, matrices->size, (size_t)(matrices->n_dim - 2) * sizeof(*t->size)))
		shim_fail("%s are not one for each matrix", what);
}

static struct shim_tensor *new_matrices(int dtype, const struct batch *b, int64_t m, int64_t n, bool by_columns)
{
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS];
	int d = b->n_dim;

	memcpy(size, b->size, sizeof(size));
	size[d] = m;
	size[d + 1] = n;
	shim_contiguous_strides(d + 2, size, stride);
	if (by_columns) {
		stride[d] = 1;
		stride[d + 1] = m > 1 ? m : 1;
	}
	return shim_new(dtype, d + 2, size, stride);
}

static struct shim_tensor *new_vectors(int dtype, const struct batch *b, int64_t n)
{
	int64_t size[SHIM_DIMS];
	memcpy(size, b->size, sizeof(size));
	size[b->n_dim] = n;
	return shim_new(dtype, b->n_dim + 1, size, NULL);
}

/* One number for each matrix. */
static struct shim_tensor *new_numbers(int dtype, const struct batch *b) { return shim_new(dtype, b->n_dim, b->size, NULL); }

static struct shim_tensor *nothing(int dtype)
{
	int64_t none = 0;
	return shim_new(dtype, 1, &none, NULL);
}

/* A copy of t, broadcast to the batch. */
static struct shim_tensor *copied(struct shim_tensor *t, const struct batch *b, bool by_columns)
{
	struct shim_tensor *c = new_matrices(t->dtype, b, rows(t), cols(t), by_columns);
	shim_copy(c, t);
	return c;
}

/* Of one that was made here: batches lie one behind the other. */
static void *at(const struct shim_tensor *t, const struct batch *b, int64_t i)
{
	return shim_data(t) + (b->n ? i * (shim_numel(t) / b->n) * elem_bytes(t->dtype) : 0);
}

static struct shim_tensor *transposed(struct shim_tensor *t, bool conjugated)
{
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS];
	memcpy(size, t->size, sizeof(size));
	memcpy(stride, t->stride, sizeof(stride));
	int n = t->n_dim;
	size[n - 2] = t->size[n - 1], size[n - 1] = t->size[n - 2];
	stride[n - 2] = t->stride[n - 1], stride[n - 1] = t->stride[n - 2];
	struct shim_tensor *v = shim_view(t, n, size, stride, t->offset);
	if (!conjugated || !elem_complex(t->dtype))
		return v;
	v = shim_clone(v);
	char *p = shim_data(v);
	for (int64_t i = shim_numel(v), bytes = elem_bytes(v->dtype); i > 0; i--, p += bytes)
		elem_set_c128(v->dtype, p, conj(elem_c128(v->dtype, p)));
	return v;
}

static void conjugate(int dtype, char *p, int64_t n)
{
	for (int64_t i = 0; i < n && elem_complex(dtype); i++, p += elem_bytes(dtype))
		elem_set_c128(dtype, p, conj(elem_c128(dtype, p)));
}

/* Zeroes on the other side of the diagonal; upper: nothing below it is kept. */
static void keep_triangle(struct shim_tensor *t, const struct batch *b, bool upper)
{
	int64_t m = rows(t), n = cols(t);
	int bytes = elem_bytes(t->dtype);
	for (int64_t i = 0; i < b->n && m; i++)
		for (int64_t c = 0; c < n; c++) {
			char *column = (char *)at(t, b, i) + c * max_of(m, 1) * bytes;
			int64_t from = upper ? c + 1 : 0, to = upper ? m : min_of(c, m);
			if (from < to)
				memset(column + from * bytes, 0, (size_t)((to - from) * bytes));
		}
}

static void set_identity(struct shim_tensor *t)
{
	struct batch b = batch_of(t, NULL);
	int64_t m = rows(t), n = cols(t);
	shim_fill_zero(t);
	for (int64_t i = 0; i < b.n; i++)
		for (int64_t k = 0; k < min_of(m, n); k++)
			elem_set_f64(t->dtype, (char *)at(t, &b, i) + k * (m + 1) * elem_bytes(t->dtype), 1);
}

static bool all_finite(const struct shim_tensor *t) /* dense */
{
	const char *p = shim_data(t);
	for (int64_t i = shim_numel(t); i > 0; i--, p += elem_bytes(t->dtype)) {
		double complex v = elem_c128(t->dtype, p);
		if (!isfinite(creal(v)) || !isfinite(cimag(v)))
			return false;
	}
	return true;
}

/* Memory for a routine: the first call, with n = -1, says how much. */
struct work {
	int64_t n;
	void *p;
	double first[2];
};

static void work_ask(struct work *w) { *w = (struct work){.n = -1, .p = w->first}; }

static void work_get(struct work *w, int dtype, int64_t least)
{
	w->n = max_of((int64_t)elem_f64(shim_real_of(dtype), w->p), least);
	w->p = shim_scratch((uint64_t)w->n, (uint64_t)elem_bytes(dtype));
}

static int64_t *new_ints(int64_t n)
{
	int64_t *p = shim_scratch((uint64_t)max_of(n, 1), sizeof(*p));
	memset(p, 0, (size_t)max_of(n, 1) * sizeof(*p));
	return p;
}

static void *new_reals(int dtype, int64_t n) { return shim_scratch((uint64_t)max_of(n, 1), (uint64_t)elem_bytes(shim_real_of(dtype))); }

/* ---- what went wrong: batchCheckErrors of LinearAlgebraUtils.h, in its order ---- */

static void check_info(int64_t info, struct slice api, int64_t batch_at, bool is_matrix)
{
	static const struct {
		const char *in, *text;
	} errors[] = {
	    {"inv", "The diagonal element %lld is zero, the inversion could not be completed because the input matrix is singular."},
	    {"solve", "The solver failed because the input matrix is singular."},
	    {"cholesky", "The factorization could not be completed because the input is not positive-definite (the leading minor of order "
			 "%lld is not positive-definite)."},
	    {"svd", "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated singular "
		    "values (error code: %lld)."},
	    {"eig", "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated eigenvalues "
		    "(error code: %lld)."},
	    {"lstsq", "The least squares solution could not be computed because the input matrix does not have full rank (error code: "
		      "%lld)."},
	    {"lu_factor", "U[%lld,%lld] is zero and using it on lu_solve would result in a division by zero."},
	    {"", "error code %lld of LAPACK"},
	};
	char which[64] = "", text[256];
	if (!info)
		return;
	if (!is_matrix)
		snprintf(which, sizeof(which), "(Batch element %lld): ", (long long)batch_at);
	if (info < 0)
		shim_fail("%.*s: %s%s", (int)api.n, api.p, which,
			  slice_find(api, "svd") || slice_find(api, "eig")
			      ? "The algorithm failed to converge because the input matrix contained non-finite values."
			      : "LAPACK does not take its arguments.");
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		if (slice_find(api, errors[i].in)) {
			snprintf(text, sizeof(text), errors[i].text, (long long)info, (long long)info);
			shim_fail("%.*s: %s%s", (int)api.n, api.p, which, text);
		}
}

void proxy_linalg_check_errors(struct proxy_call *c)
{
	struct shim_tensor *info = shim_clone_contiguous(proxy_tensor(c, "info"));
	for (int64_t i = 0; i < shim_numel(info); i++)
		check_info(elem_i64(info->dtype, shim_data(info) + i * elem_bytes(info->dtype)), proxy_string(c, "api_name", ""), i,
			   proxy_bool(c, "is_matrix", false));
}

static void check_one(int64_t info, const char *api, const struct batch *b, int64_t i)
{
	check_info((int32_t)info, slice_str(api), i, !b->n_dim);
}

static void set_info(struct shim_tensor *info, const struct batch *b, int64_t i, int64_t v, bool check, const char *api)
{
	elem_set_i64(DTYPE_I32, (char *)at(info, b, i), (int32_t)v);
	if (check)
		check_one(v, api, b, i);
}

/* ---- triangular systems ---- */

static void solve_triangle(int dtype, const char *side, const char *uplo, const char *trans, const char *diag, int64_t m, int64_t n,
			   const void *a, void *b)
{
	static const float one_f32[2] = {1, 0};
	static const double one_f64[2] = {1, 0};
	const void *one = shim_real_of(dtype) == DTYPE_F32 ? (const void *)one_f32 : (const void *)one_f64;
	int64_t lda = max_of(*side == 'L' ? m : n, 1), ldb = max_of(m, 1);
	if (m && n)
		LAPACK("trsm", dtype, side, uplo, trans, diag, &m, &n, one, a, &lda, b, &ldb);
}

static void need_rows(const struct shim_tensor *b, int64_t n, const struct shim_tensor *a)
{
	need_square(a);
	if (b->n_dim < 2 || rows(b) != n)
		shim_fail("incompatible shapes of A and B for the equation AX = B: %lldx%lld and %lldx%lld", (long long)rows(a),
			  (long long)cols(a), b->n_dim < 2 ? -1LL : (long long)rows(b), b->n_dim < 2 ? -1LL : (long long)cols(b));
}

AOTITorchError aoti_torch_cpu_triangular_solve(AtenTensorHandle self, AtenTensorHandle A, int32_t upper, int32_t transpose,
					       int32_t unitriangular, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	SHIM_TRY {
		struct batch b = batch_of(self, A);
		need_rows(self, rows(A), A);
		struct shim_tensor *x = copied(self, &b, true), *m = copied(A, &b, true);
		for (int64_t i = 0; i < b.n; i++)
			solve_triangle(x->dtype, "L", upper ? "U" : "L", transpose ? "T" : "N", unitriangular ? "U" : "N", rows(x), cols(x),
				       at(m, &b, i), at(x, &b, i));
		SHIM_GIVE(ret1, m);
		SHIM_GIVE(ret0, x);
	}
	SHIM_END
}

/* A X = B, or X A = B */
void proxy_linalg_solve_triangular(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "self"), *rhs = proxy_tensor(c, "B");
	bool left = proxy_bool(c, "left", true), upper = proxy_bool(c, "upper", false);
	struct batch b = batch_of(a, rhs);
	need_square(a);
	if ((left ? rows(rhs) : cols(rhs)) != rows(a))
		shim_fail("incompatible shapes of A and B");
	struct shim_tensor *m = copied(a, &b, true), *x = copied(rhs, &b, true);
	for (int64_t i = 0; i < b.n; i++)
		solve_triangle(x->dtype, left ? "L" : "R", upper ? "U" : "L", "N", proxy_bool(c, "unitriangular", false) ? "U" : "N",
			       rows(x), cols(x), at(m, &b, i), at(x, &b, i));
	proxy_give(c, 0, x);
}

/* ---- Cholesky: A = L L^H, or U^H U ---- */

AOTITorchError aoti_torch_cpu_cholesky_solve(AtenTensorHandle self, AtenTensorHandle input2, int32_t upper, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct batch b = batch_of(self, input2);
		need_rows(self, rows(input2), input2);
		struct shim_tensor *x = copied(self, &b, true), *l = copied(input2, &b, true);
		int64_t n = rows(x), k = cols(x), ld = max_of(n, 1);
		for (int64_t i = 0; i < b.n && n && k; i++) {
			int64_t info = 0;
			LAPACK("potrs", x->dtype, upper ? "U" : "L", &n, &k, at(l, &b, i), &ld, at(x, &b, i), &ld, &info);
			check_one(info, "cholesky_solve_cpu", &b, i);
		}
		SHIM_GIVE(ret0, x);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_cholesky_inverse(AtenTensorHandle self, int32_t upper, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		need_square(self);
		struct batch b = batch_of(self, NULL);
		struct shim_tensor *x = copied(self, &b, true);
		int64_t n = rows(x), bytes = elem_bytes(x->dtype);
		for (int64_t i = 0; i < b.n && n; i++) {
			int64_t info = 0;
			char *p = at(x, &b, i);
			LAPACK("potri", x->dtype, upper ? "U" : "L", &n, p, &n, &info);
			check_one(info, "cholesky_inverse", &b, i);
			for (int64_t r = 0; r < n; r++)
				for (int64_t k = 0; k < r; k++) { /* the triangle that it did not write */
					char *low = p + (k * n + r) * bytes, *high = p + (r * n + k) * bytes;
					memcpy(upper ? low : high, upper ? high : low, (size_t)bytes);
					conjugate(x->dtype, upper ? low : high, 1);
				}
		}
		SHIM_GIVE(ret0, x);
	}
	SHIM_END
}

static struct shim_tensor *cholesky(struct shim_tensor *a, bool upper, struct shim_tensor *info, bool check, const char *api)
{
	need_square(a);
	struct batch b = batch_of(a, NULL);
	struct shim_tensor *out = copied(a, &b, true);
	int64_t n = rows(a), ld = max_of(n, 1);
	keep_triangle(out, &b, upper);
	for (int64_t i = 0; i < b.n; i++) {
		int64_t bad = 0;
		if (n)
			LAPACK("potrf", a->dtype, upper ? "U" : "L", &n, at(out, &b, i), &ld, &bad);
		set_info(info, &b, i, bad, check, api);
	}
	return out;
}

void proxy_linalg_cholesky_ex(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "self");
	struct batch b = batch_of(a, NULL);
	struct shim_tensor *info = new_numbers(DTYPE_I32, &b);
	proxy_give(c, 0, cholesky(a, proxy_bool(c, "upper", false), info, proxy_bool(c, "check_errors", false), "linalg.cholesky"));
	proxy_give(c, 1, info);
}

void proxy_cholesky(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "self");
	struct batch b = batch_of(a, NULL);
	proxy_give(c, 0, cholesky(a, proxy_bool(c, "upper", false), new_numbers(DTYPE_I32, &b), true, "cholesky"));
}

/* ---- LU ---- */

struct lu {
	struct batch b;
	int64_t m, n, k;
	struct shim_tensor *lu, *pivots, *info;
};

/* By columns; info is the first pivot that is 0, from 1. */
static struct lu lu_of(struct shim_tensor *a)
{
	struct lu x = {.b = batch_of(a, NULL), .m = rows(a), .n = cols(a), .k = min_of(rows(a), cols(a))};
	x.lu = copied(a, &x.b, true);
	x.pivots = new_vectors(DTYPE_I32, &x.b, x.k);
	x.info = new_numbers(DTYPE_I32, &x.b);
	int64_t *pivot = new_ints(x.k), ld = max_of(x.m, 1);
	for (int64_t i = 0; i < x.b.n; i++) {
		int64_t info = 0;
		if (x.k)
			LAPACK("getrf", a->dtype, &x.m, &x.n, at(x.lu, &x.b, i), &ld, pivot, &info);
		set_info(x.info, &x.b, i, info, false, "");
		for (int64_t k = 0; k < x.k; k++)
			((int32_t *)at(x.pivots, &x.b, i))[k] = (int32_t)lapack_int(pivot, k);
	}
	return x;
}

/* Into b [n, k] by columns: op(A) x = b */
static void lu_solve(int dtype, const char *trans, int64_t n, int64_t k, const void *lu, const int32_t *pivots, void *b)
{
	int64_t *pivot = new_ints(n), info = 0, ld = max_of(n, 1);
	if (!n || !k)
		return;
	for (int64_t i = 0; i < n; i++) {
		if (pivots[i] < 1 || pivots[i] > n)
			shim_fail("a pivot of %d in a matrix of %lld rows", pivots[i], (long long)n);
		lapack_set_int(pivot, i, pivots[i]);
	}
	LAPACK("getrs", dtype, trans, &n, &k, lu, &ld, pivot, b, &ld, &info);
}

/* A X = B, or X A = B, where X lies by rows: so it is solved transposed in place. */
static struct shim_tensor *solve_lu(const struct lu *x, const struct batch *b, struct shim_tensor *rhs, bool left, bool adjoint)
{
	if ((left ? rows(rhs) : cols(rhs)) != x->n)
		shim_fail("incompatible shapes of A and B: %lldx%lld and %lldx%lld", (long long)x->m, (long long)x->n, (long long)rows(rhs),
			  (long long)cols(rhs));
	struct shim_tensor *out = copied(rhs, b, left), *lu = copied(x->lu, b, true), *pivots = new_vectors(DTYPE_I32, b, x->n);
	shim_copy(pivots, x->pivots);
	int64_t k = left ? cols(rhs) : rows(rhs);
	bool conjugated = !left && adjoint;
	if (conjugated)
		conjugate(out->dtype, shim_data(out), shim_numel(out));
	for (int64_t i = 0; i < b->n; i++)
		lu_solve(out->dtype,
			 left      ? (adjoint ? "C" : "N")
			 : adjoint ? "N"
				   : "T",
			 x->n, k, at(lu, b, i), at(pivots, b, i), at(out, b, i));
	if (conjugated)
		conjugate(out->dtype, shim_data(out), shim_numel(out));
	return out;
}

static void check_infos(const struct lu *x, bool check, const char *api)
{
	for (int64_t i = 0; check && i < x->b.n; i++)
		check_one(((int32_t *)at(x->info, &x->b, i))[0], api, &x->b, i);
}

void proxy_linalg_lu_factor_ex(struct proxy_call *c)
{
	struct lu x = lu_of(proxy_tensor(c, "A"));
	if (!proxy_bool(c, "pivot", true))
		shim_fail("LU without pivoting is not implemented on the CPU");
	check_infos(&x, proxy_bool(c, "check_errors", false), "torch.linalg.lu_factor_ex");
	proxy_give(c, 0, x.lu);
	proxy_give(c, 1, x.pivots);
	if (c->node->n_out > 2)
		proxy_give(c, 2, x.info);
}

void proxy_linalg_lu_solve(struct proxy_call *c)
{
	struct shim_tensor *lu = proxy_tensor(c, "LU"), *pivots = proxy_tensor(c, "pivots"), *rhs = proxy_tensor(c, "B");
	struct batch b = batch_of(lu, rhs);
	need_square(lu);
	need_batch_of(pivots, lu, "pivots");
	if (pivots->dtype != DTYPE_I32 || pivots->size[pivots->n_dim - 1] != rows(lu))
		shim_fail("pivots must be int32, %lld for each matrix", (long long)rows(lu));
	struct lu x = {.m = rows(lu), .n = rows(lu), .k = rows(lu), .lu = lu, .pivots = pivots};
	proxy_give(c, 0, solve_lu(&x, &b, rhs, proxy_bool(c, "left", true), proxy_bool(c, "adjoint", false)));
}

/* LAPACK's pivots: row i was swapped with row pivot[i] (from 1), one after the other. p [m, m] by rows is filled. */
static void permutation(const int32_t *pivot, int64_t k, int64_t m, int dtype, char *p)
{
	int64_t *order = new_ints(m);
	for (int64_t i = 0; i < m; i++)
		order[i] = i;
	for (int64_t i = 0; i < k; i++) {
		if (pivot[i] < 1 || pivot[i] > m)
			shim_fail("a pivot of %d in a matrix of %lld rows", pivot[i], (long long)m);
		int64_t t = order[i];
		order[i] = order[pivot[i] - 1];
		order[pivot[i] - 1] = t;
	}
	for (int64_t i = 0; i < m; i++)
		elem_set_f64(dtype, p + (order[i] * m + i) * elem_bytes(dtype), 1);
}

struct unpacked {
	struct shim_tensor *p, *l, *u;
};

static struct unpacked unpack(struct shim_tensor *lu, struct shim_tensor *pivots, bool data, bool permuted)
{
	struct batch b = batch_of(lu, NULL);
	int64_t m = rows(lu), n = cols(lu), k = min_of(m, n);
	int dtype = lu->dtype, bytes = elem_bytes(dtype);
	need_batch_of(pivots, lu, "pivots");
	if (pivots->dtype != DTYPE_I32 || pivots->size[b.n_dim] != k)
		shim_fail("pivots must be int32, %lld for each matrix", (long long)k);
	struct unpacked r = {nothing(dtype), nothing(dtype), nothing(dtype)};
	pivots = shim_contiguous(pivots);
	lu = shim_contiguous(lu);
	if (permuted) {
		shim_fill_zero(r.p = new_matrices(dtype, &b, m, m, false));
		for (int64_t i = 0; i < b.n; i++)
			permutation(at(pivots, &b, i), k, m, dtype, at(r.p, &b, i));
	}
	if (!data)
		return r;
	shim_fill_zero(r.l = new_matrices(dtype, &b, m, k, false));
	shim_fill_zero(r.u = new_matrices(dtype, &b, k, n, false));
	for (int64_t i = 0; i < b.n; i++)
		for (int64_t row = 0; row < m && k; row++) {
			const char *from = (char *)at(lu, &b, i) + row * n * bytes;
			int64_t low = min_of(row, k);
			char *l = (char *)at(r.l, &b, i) + row * k * bytes;
			memcpy(l, from, (size_t)(low * bytes));
			if (row >= k)
				continue;
			elem_set_f64(dtype, l + row * bytes, 1);
			memcpy((char *)at(r.u, &b, i) + (row * n + row) * bytes, from + row * bytes, (size_t)((n - row) * bytes));
		}
	return r;
}

AOTITorchError aoti_torch_cpu_lu_unpack(AtenTensorHandle LU_data, AtenTensorHandle LU_pivots, int32_t unpack_data, int32_t unpack_pivots,
					AtenTensorHandle *ret0, AtenTensorHandle *ret1, AtenTensorHandle *ret2)
{
	SHIM_TRY {
		struct unpacked r = unpack(LU_data, LU_pivots, unpack_data, unpack_pivots);
		SHIM_GIVE(ret2, r.u);
		SHIM_GIVE(ret1, r.l);
		SHIM_GIVE(ret0, r.p);
	}
	SHIM_END
}

void proxy_linalg_lu(struct proxy_call *c)
{
	struct lu x = lu_of(proxy_tensor(c, "A"));
	if (!proxy_bool(c, "pivot", true))
		shim_fail("LU without pivoting is not implemented on the CPU");
	struct unpacked r = unpack(x.lu, x.pivots, true, true);
	proxy_give(c, 0, r.p);
	proxy_give(c, 1, r.l);
	proxy_give(c, 2, r.u);
}

/* Sign and logarithm of the determinant's absolute value, or both in one. A real matrix by rows is factored transposed: it lies
 * by columns already. */
static void determinant(struct proxy_call *c, bool logarithm)
{
	struct shim_tensor *a = proxy_tensor(c, "A");
	need_square(a);
	struct lu x = lu_of(shim_is_contiguous(a) && !elem_complex(a->dtype) ? transposed(a, false) : a);
	struct shim_tensor *sign = new_numbers(a->dtype, &x.b), *rest = new_numbers(shim_real_of(a->dtype), &x.b);
	int bytes = elem_bytes(a->dtype);
	for (int64_t i = 0; i < x.b.n; i++) {
		double complex s = 1, product = 1;
		double sum = 0;
		for (int64_t k = 0; k < x.n; k++) {
			double complex d = elem_c128(a->dtype, (char *)at(x.lu, &x.b, i) + k * (x.n + 1) * bytes);
			double size = cabs(d);
			if (((int32_t *)at(x.pivots, &x.b, i))[k] != k + 1)
				s = -s;
			product *= d;
			sum += log(size);
			if (logarithm)
				s *= size == 0 ? 0 : d / size;
		}
		elem_set_c128(a->dtype, at(sign, &x.b, i), logarithm ? s : s * product);
		elem_set_f64(rest->dtype, at(rest, &x.b, i), sum);
	}
	int n = 0;
	proxy_give(c, n++, sign);
	if (logarithm)
		proxy_give(c, n++, rest);
	proxy_give(c, n++, x.lu);
	proxy_give(c, n, x.pivots);
}

void proxy_linalg_det(struct proxy_call *c) { determinant(c, false); }
void proxy_linalg_slogdet(struct proxy_call *c) { determinant(c, true); }

void proxy_linalg_inv_ex(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "A");
	need_square(a);
	struct lu x = lu_of(a);
	check_infos(&x, proxy_bool(c, "check_errors", false), "linalg.inv");
	struct shim_tensor *out = new_matrices(a->dtype, &x.b, x.n, x.n, true);
	set_identity(out);
	for (int64_t i = 0; i < x.b.n; i++)
		lu_solve(a->dtype, "N", x.n, x.n, at(x.lu, &x.b, i), at(x.pivots, &x.b, i), at(out, &x.b, i));
	proxy_give(c, 0, out);
	proxy_give(c, 1, x.info);
}

/* torch takes the vectors' dims for those of matrices when it chooses strides. */
static struct shim_tensor *vectors_of(struct shim_tensor *x)
{
	int n = x->n_dim - 1;
	struct batch b = {.n_dim = n - 2};
	memcpy(b.size, x->size, sizeof(b.size));
	struct shim_tensor *v = shim_view(x, n, x->size, x->stride, x->offset), *out = v;
	if (n > 1) {
		out = new_matrices(x->dtype, &b, x->size[n - 2], x->size[n - 1], true);
		shim_copy(out, v);
	}
	return out;
}

static bool is_vector_of(const struct shim_tensor *rhs, const struct shim_tensor *a)
{
	return rhs->n_dim == 1 || (rhs->n_dim == a->n_dim - 1 && !memcmp(rhs->size, a->size, (size_t)rhs->n_dim * sizeof(*a->size)));
}

static struct shim_tensor *as_column(struct shim_tensor *v)
{
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS];
	memcpy(size, v->size, sizeof(size));
	memcpy(stride, v->stride, sizeof(stride));
	size[v->n_dim] = 1;
	stride[v->n_dim] = 1;
	return shim_view(v, v->n_dim + 1, size, stride, v->offset);
}

/* A x = b for matrices b, or a vector for each matrix. */
void proxy_linalg_solve_ex(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "A"), *rhs = proxy_tensor(c, "B");
	bool vector = is_vector_of(rhs, a), left = proxy_bool(c, "left", true);
	need_square(a);
	if (vector && !left)
		shim_fail("linalg.solve: vectors on the right are not supported for left=False");
	if (vector)
		rhs = as_column(rhs);
	struct batch b = batch_of(a, rhs);
	struct lu x = lu_of(a);
	check_infos(&x, proxy_bool(c, "check_errors", false), "torch.linalg.solve");
	struct shim_tensor *out = solve_lu(&x, &b, rhs, left, false);
	proxy_give(c, 0, vector ? vectors_of(out) : out);
	proxy_give(c, 1, x.lu);
	proxy_give(c, 2, x.pivots);
	proxy_give(c, 3, x.info);
}

/* ---- Bunch and Kaufman: A = L D L^T of symmetric, or L D L^H of Hermitian matrices ---- */

void proxy_linalg_ldl_factor_ex(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "self");
	const char *name = proxy_bool(c, "hermitian", false) && elem_complex(a->dtype) ? "hetrf" : "sytrf";
	need_square(a);
	struct batch b = batch_of(a, NULL);
	int64_t n = rows(a), ld = max_of(n, 1), *pivot = new_ints(n);
	struct shim_tensor *out = copied(a, &b, true), *pivots = new_vectors(DTYPE_I32, &b, n), *infos = new_numbers(DTYPE_I32, &b);
	struct work w;
	work_ask(&w);
	keep_triangle(out, &b, false);
	for (int64_t i = 0; i < b.n; i++) {
		int64_t info = 0;
		if (n && w.n < 0) {
			LAPACK(name, a->dtype, "L", &n, at(out, &b, i), &ld, pivot, w.p, &w.n, &info);
			work_get(&w, a->dtype, n);
		}
		if (n)
			LAPACK(name, a->dtype, "L", &n, at(out, &b, i), &ld, pivot, w.p, &w.n, &info);
		set_info(infos, &b, i, info, proxy_bool(c, "check_errors", false), "torch.linalg.ldl_factor_ex");
		for (int64_t k = 0; k < n; k++)
			((int32_t *)at(pivots, &b, i))[k] = (int32_t)lapack_int(pivot, k);
	}
	proxy_give(c, 0, out);
	proxy_give(c, 1, pivots);
	proxy_give(c, 2, infos);
}

void proxy_linalg_ldl_solve(struct proxy_call *c)
{
	struct shim_tensor *ld = proxy_tensor(c, "LD"), *pivots = proxy_tensor(c, "pivots"), *rhs = proxy_tensor(c, "B");
	const char *name = proxy_bool(c, "hermitian", false) && elem_complex(ld->dtype) ? "hetrs" : "sytrs";
	struct batch b = batch_of(ld, rhs);
	need_rows(rhs, rows(ld), ld);
	need_batch_of(pivots, ld, "pivots");
	int64_t n = rows(ld), k = cols(rhs), lead = max_of(n, 1), *pivot = new_ints(n);
	struct shim_tensor *x = copied(rhs, &b, true), *m = copied(ld, &b, true), *p = new_vectors(DTYPE_I32, &b, n);
	if (pivots->dtype != DTYPE_I32 || pivots->size[pivots->n_dim - 1] != n)
		shim_fail("pivots must be int32, %lld for each matrix", (long long)n);
	shim_copy(p, pivots);
	for (int64_t i = 0; i < b.n && n && k; i++) {
		int64_t info = 0;
		for (int64_t j = 0; j < n; j++) {
			int32_t v = ((int32_t *)at(p, &b, i))[j];
			if (!v || v > n || v < -n)
				shim_fail("a pivot of %d in a matrix of %lld rows", v, (long long)n);
			lapack_set_int(pivot, j, v);
		}
		LAPACK(name, x->dtype, "L", &n, &k, at(m, &b, i), &lead, pivot, at(x, &b, i), &lead, &info);
	}
	proxy_give(c, 0, x);
}

/* ---- Householder ---- */

/* a [m, n] by columns and tau [k]: R above the diagonal, below it the reflectors' vectors, whose first element is 1. */
static void factor_qr(struct shim_tensor *a, struct shim_tensor *tau, const struct batch *b)
{
	int64_t m = rows(a), n = cols(a), ld = max_of(m, 1), info = 0;
	struct work w;
	work_ask(&w);
	for (int64_t i = 0; i < b->n && m && n; i++) {
		if (!i) {
			LAPACK("geqrf", a->dtype, &m, &n, at(a, b, i), &ld, at(tau, b, i), w.p, &w.n, &info);
			work_get(&w, a->dtype, n);
		}
		LAPACK("geqrf", a->dtype, &m, &n, at(a, b, i), &ld, at(tau, b, i), w.p, &w.n, &info);
	}
}

/* The columns of q [m, n] hold k reflectors; they become those of Q = H(1) H(2) ... */
static void make_q(struct shim_tensor *q, struct shim_tensor *tau, int64_t k, const struct batch *b)
{
	const char *name = elem_complex(q->dtype) ? "ungqr" : "orgqr";
	int64_t m = rows(q), n = cols(q), ld = max_of(m, 1), info = 0;
	struct work w;
	work_ask(&w);
	for (int64_t i = 0; i < b->n && m && n; i++) {
		if (!i) {
			LAPACK(name, q->dtype, &m, &n, &k, at(q, b, i), &ld, at(tau, b, i), w.p, &w.n, &info);
			work_get(&w, q->dtype, n);
		}
		LAPACK(name, q->dtype, &m, &n, &k, at(q, b, i), &ld, at(tau, b, i), w.p, &w.n, &info);
	}
}

AOTITorchError aoti_torch_cpu_geqrf(AtenTensorHandle self, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	SHIM_TRY {
		struct batch b = batch_of(self, NULL);
		struct shim_tensor *qr = copied(self, &b, true), *tau = new_vectors(self->dtype, &b, min_of(rows(self), cols(self)));
		factor_qr(qr, tau, &b);
		SHIM_GIVE(ret1, tau);
		SHIM_GIVE(ret0, qr);
	}
	SHIM_END
}

void proxy_linalg_householder_product(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "input"), *tau = proxy_tensor(c, "tau");
	struct batch b = batch_of(a, NULL);
	need_batch_of(tau, a, "factors of reflectors");
	int64_t k = tau->size[tau->n_dim - 1];
	if (rows(a) < cols(a) || k > cols(a) || tau->dtype != a->dtype)
		shim_fail("%lld reflectors in a matrix of %lld x %lld", (long long)k, (long long)rows(a), (long long)cols(a));
	struct shim_tensor *q = copied(a, &b, true);
	make_q(q, shim_contiguous(tau), k, &b);
	proxy_give(c, 0, q);
}

/* Q c, Q^H c, c Q or c Q^H, with Q = H(1) H(2) ... */
AOTITorchError aoti_torch_cpu_ormqr(AtenTensorHandle self, AtenTensorHandle input2, AtenTensorHandle input3, int32_t left,
				    int32_t transpose, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct batch b = batch_of(self, input3);
		const char *name = elem_complex(self->dtype) ? "unmqr" : "ormqr";
		int64_t m = rows(input3), n = cols(input3), side = left ? m : n, k = input2->n_dim ? input2->size[input2->n_dim - 1] : 0;
		need_batch_of(input2, self, "factors of reflectors");
		if (rows(self) != side || k > cols(self) || cols(self) > side || input2->dtype != self->dtype)
			shim_fail("reflectors of %lld rows for %lld", (long long)rows(self), (long long)side);
		struct shim_tensor *out = copied(input3, &b, true), *a = copied(self, &b, true), *tau = new_vectors(self->dtype, &b, k);
		shim_copy(tau, input2);
		int64_t lda = max_of(side, 1), ldc = max_of(m, 1), info = 0;
		struct work w;
		work_ask(&w);
		for (int64_t i = 0; i < b.n && m && n && k; i++)
			for (int pass = i ? 1 : 0; pass < 2; pass++) {
				LAPACK(name, out->dtype, left ? "L" : "R",
				       !transpose                  ? "N"
				       : elem_complex(self->dtype) ? "C"
								   : "T",
				       &m, &n, &k, at(a, &b, i), &lda, at(tau, &b, i), at(out, &b, i), &ldc, w.p, &w.n, &info);
				if (!pass)
					work_get(&w, out->dtype, max_of(m, n));
			}
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}

void proxy_linalg_qr(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "A");
	struct slice mode = proxy_string(c, "mode", "reduced");
	struct batch b = batch_of(a, NULL);
	bool complete = slice_is(mode, "complete"), only_r = slice_is(mode, "r");
	int64_t m = rows(a), n = cols(a), k = min_of(m, n), wide = complete ? m : k;
	if (!complete && !only_r && !slice_is(mode, "reduced"))
		shim_fail("qr received unrecognized mode '%.*s'", (int)min_of((int64_t)mode.n, 40), mode.p);
	struct shim_tensor *qr = copied(a, &b, true), *tau = new_vectors(a->dtype, &b, k), *q = nothing(a->dtype);
	struct shim_tensor *r = new_matrices(a->dtype, &b, wide, n, true);
	int64_t bytes = elem_bytes(a->dtype), column = m * bytes;
	factor_qr(qr, tau, &b);
	for (int64_t i = 0; i < b.n; i++)
		for (int64_t x = 0; x < n && m; x++)
			memcpy((char *)at(r, &b, i) + x * wide * bytes, (char *)at(qr, &b, i) + x * column, (size_t)(wide * bytes));
	keep_triangle(r, &b, true);
	if (!only_r) {
		q = new_matrices(a->dtype, &b, m, wide, true);
		shim_fill_zero(q);
		for (int64_t i = 0; i < b.n && k; i++)
			memcpy(at(q, &b, i), at(qr, &b, i), (size_t)(k * column));
		make_q(q, tau, k, &b);
	}
	proxy_give(c, 0, q);
	proxy_give(c, 1, r);
}

/* ---- singular values, eigenvalues ---- */

struct svd {
	struct shim_tensor *u, *s, *vh; /* u and vh by columns, or empty */
};

static int64_t svd_one(int dtype, const char *job, int64_t m, int64_t n, void *a, void *s, void *u, void *vh, int64_t ldvt, struct work *w,
		       void *rwork, int64_t *iwork)
{
	int64_t info = 0, ld = max_of(m, 1);
	if (elem_complex(dtype))
		LAPACK("gesdd", dtype, job, &m, &n, a, &ld, s, u, &ld, vh, &ldvt, w->p, &w->n, rwork, iwork, &info);
	else
		LAPACK("gesdd", dtype, job, &m, &n, a, &ld, s, u, &ld, vh, &ldvt, w->p, &w->n, iwork, &info);
	return info;
}

static struct svd svd_of(struct shim_tensor *a, bool full, bool vectors, const char *api)
{
	struct batch b = batch_of(a, NULL);
	int64_t m = rows(a), n = cols(a), k = min_of(m, n), most = max_of(m, n);
	struct svd r = {nothing(a->dtype), new_vectors(shim_real_of(a->dtype), &b, k), nothing(a->dtype)};
	if (vectors) {
		r.u = new_matrices(a->dtype, &b, m, full ? m : k, true);
		r.vh = new_matrices(a->dtype, &b, full ? n : k, n, true);
	}
	if (!shim_numel(a)) {
		if (vectors) {
			set_identity(r.u);
			set_identity(r.vh);
		}
		return r;
	}
	struct shim_tensor *x = copied(a, &b, true);
	if (!all_finite(x)) /* some LAPACKs loop */
		check_info(-4, slice_str(api), 0, true);
	void *rwork = new_reals(a->dtype, max_of(7 * k, max_of(5 * k * k + 5 * k, 2 * most * k + 2 * k * k + k)));
	int64_t *iwork = new_ints(8 * k);
	struct work w;
	work_ask(&w);
	for (int64_t i = 0; i < b.n; i++)
		for (int pass = i ? 1 : 0; pass < 2; pass++) {
			int64_t info = svd_one(a->dtype, vectors ? full ? "A" : "S" : "N", m, n, at(x, &b, i), at(r.s, &b, i),
					       vectors ? at(r.u, &b, i) : w.first, vectors ? at(r.vh, &b, i) : w.first, full ? n : k, &w,
					       rwork, iwork);
			check_one(info, api, &b, i);
			if (!pass)
				work_get(&w, a->dtype, 1);
		}
	return r;
}

void proxy_linalg_svd(struct proxy_call *c)
{
	struct svd r = svd_of(proxy_tensor(c, "A"), proxy_bool(c, "full_matrices", false), proxy_bool(c, "compute_uv", true), "linalg.svd");
	proxy_give(c, 0, r.u);
	proxy_give(c, 1, r.s);
	proxy_give(c, 2, r.vh);
}

struct eigh {
	struct shim_tensor *values, *vectors; /* rising; by columns */
};

static struct eigh eigh_of(struct shim_tensor *a, const char *uplo, bool vectors)
{
	need_square(a);
	struct batch b = batch_of(a, NULL);
	bool is_complex = elem_complex(a->dtype);
	int64_t n = rows(a), ld = max_of(n, 1), n_int = -1, n_real = -1, *iwork = new_ints(1);
	struct shim_tensor *x = copied(a, &b, true), *values = new_vectors(shim_real_of(a->dtype), &b, n);
	void *rwork = new_reals(a->dtype, 1);
	struct work w;
	if (!all_finite(x)) /* some LAPACKs loop */
		check_info(-4, slice_str("linalg.eigh"), 0, true);
	work_ask(&w);
	for (int64_t i = 0; i < b.n && n; i++)
		for (int pass = i ? 1 : 0; pass < 2; pass++) {
			int64_t info = 0;
			if (is_complex)
				LAPACK("heevd", a->dtype, vectors ? "V" : "N", uplo, &n, at(x, &b, i), &ld, at(values, &b, i), w.p, &w.n,
				       rwork, &n_real, iwork, &n_int, &info);
			else
				LAPACK("syevd", a->dtype, vectors ? "V" : "N", uplo, &n, at(x, &b, i), &ld, at(values, &b, i), w.p, &w.n,
				       iwork, &n_int, &info);
			check_one(info, "linalg.eigh", &b, i);
			if (pass)
				continue;
			work_get(&w, a->dtype, 1);
			n_int = max_of(lapack_int(iwork, 0), 1);
			iwork = new_ints(n_int);
			n_real = is_complex ? max_of((int64_t)elem_f64(values->dtype, rwork), 1) : 1;
			rwork = new_reals(a->dtype, n_real);
		}
	return (struct eigh){values, vectors ? x : nothing(a->dtype)};
}

void proxy_linalg_eigh(struct proxy_call *c)
{
	struct slice uplo = proxy_string(c, "UPLO", "L");
	struct eigh r =
	    eigh_of(proxy_tensor(c, "A"), uplo.n && (*uplo.p == 'U' || *uplo.p == 'u') ? "U" : "L", proxy_bool(c, "compute_v", true));
	proxy_give(c, 0, r.values);
	proxy_give(c, 1, r.vectors);
}

/* A real matrix has pairs of conjugate eigenvalues; of their vectors LAPACK gives one, as two columns of real numbers. */
static void join_parts(const struct shim_tensor *part, int64_t n, const void *re, const void *im, const void *v, struct shim_tensor *values,
		       int64_t first, struct shim_tensor *vectors)
{
	int dtype = values->dtype, bytes = elem_bytes(dtype), half = bytes / 2, real = part->dtype;
	for (int64_t j = 0; j < n; j++) {
		double i = elem_f64(real, (const char *)im + j * half), sign = i < 0 ? -1 : 1;
		elem_set_c128(dtype, shim_data(values) + (first * n + j) * bytes, CMPLX(elem_f64(real, (const char *)re + j * half), i));
		int64_t pair = i < 0 ? j - 1 : j; /* the first of a pair has the positive imaginary part */
		for (int64_t r = 0; vectors && r < n; r++) {
			const char *x = (const char *)v + (pair * n + r) * half;
			elem_set_c128(dtype, shim_data(vectors) + (first * n * n + j * n + r) * bytes,
				      CMPLX(elem_f64(real, x), i == 0 ? 0 : sign * elem_f64(real, x + n * half)));
		}
	}
}

static void eig(struct shim_tensor *a, struct shim_tensor **values, struct shim_tensor **vectors)
{
	need_square(a);
	struct batch b = batch_of(a, NULL);
	int dtype = shim_complex_of(a->dtype);
	bool is_complex = elem_complex(a->dtype);
	int64_t n = rows(a), ld = max_of(n, 1);
	struct shim_tensor *x = copied(a, &b, true), *v = copied(a, &b, true), *re = new_vectors(a->dtype, &b, n);
	struct shim_tensor *im = new_vectors(shim_real_of(a->dtype), &b, 2 * n); /* the imaginary parts, or work */
	if (!all_finite(x))
		shim_fail("torch.linalg.eig: input tensor should not contain infs or NaNs.");
	*values = is_complex ? re : new_vectors(dtype, &b, n);
	if (vectors)
		*vectors = is_complex ? v : new_matrices(dtype, &b, n, n, true);
	const char *job = vectors ? "V" : "N";
	struct work w;
	work_ask(&w);
	for (int64_t i = 0; i < b.n && n; i++) {
		for (int pass = i ? 1 : 0; pass < 2; pass++) {
			int64_t info = 0;
			if (is_complex)
				LAPACK("geev", a->dtype, "N", job, &n, at(x, &b, i), &ld, at(re, &b, i), w.first, &ld, at(v, &b, i), &ld,
				       w.p, &w.n, at(im, &b, i), &info);
			else
				LAPACK("geev", a->dtype, "N", job, &n, at(x, &b, i), &ld, at(re, &b, i), at(im, &b, i), w.first, &ld,
				       at(v, &b, i), &ld, w.p, &w.n, &info);
			check_one(info, "torch.linalg.eig", &b, i);
			if (!pass)
				work_get(&w, a->dtype, 1);
		}
		if (!is_complex)
			join_parts(x, n, at(re, &b, i), at(im, &b, i), at(v, &b, i), *values, i, vectors ? *vectors : NULL);
	}
}

void proxy_linalg_eig(struct proxy_call *c)
{
	struct shim_tensor *values, *vectors;
	eig(proxy_tensor(c, "self"), &values, &vectors);
	proxy_give(c, 0, values);
	proxy_give(c, 1, vectors);
}

void proxy_linalg_eigvals(struct proxy_call *c)
{
	struct shim_tensor *values;
	eig(proxy_tensor(c, "self"), &values, NULL);
	proxy_give(c, 0, values);
}

/* ---- pseudo-inverses, least squares, the exponential ---- */

/* A number for each matrix, or one for all. */
static double number_at(struct shim_tensor *t, const struct batch *b, int64_t i)
{
	struct shim_tensor *all = new_numbers(DTYPE_F64, b);
	shim_copy(all, t);
	return *(double *)at(all, b, i);
}

/* V S^-1 U^H without what is smaller than max(atol, rtol * the largest). */
void proxy_linalg_pinv(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "self"), *atol = proxy_tensor_or_none(c, "atol"), *rtol = proxy_tensor_or_none(c, "rtol");
	struct batch b = batch_of(a, NULL);
	int64_t m = rows(a), n = cols(a), k = min_of(m, n);
	double eps = (shim_real_of(a->dtype) == DTYPE_F32 ? 0x1p-23 : 0x1p-52) * (double)max_of(m, n);
	struct shim_tensor *out = new_matrices(a->dtype, &b, n, m, false);
	shim_fill_zero(out);
	if (!shim_numel(a)) {
		proxy_give(c, 0, out);
		return;
	}
	bool hermitian = proxy_bool(c, "hermitian", false);
	struct svd r = {0};
	struct eigh e = {0};
	if (hermitian)
		e = eigh_of(a, "L", true);
	else
		r = svd_of(a, false, true, "linalg.svd");
	struct shim_tensor *s = hermitian ? e.values : r.s, *left = hermitian ? e.vectors : transposed(r.vh, true);
	struct shim_tensor *right = transposed(hermitian ? e.vectors : r.u, true), *scaled = shim_clone(left);
	for (int64_t i = 0; i < b.n; i++) {
		double largest = 0;
		for (int64_t j = 0; j < k; j++)
			largest = fmax(largest, fabs(elem_f64(s->dtype, (char *)at(s, &b, i) + j * elem_bytes(s->dtype))));
		double absolute = atol ? number_at(atol, &b, i) : 0;
		double limit = fmax(absolute, (rtol ? number_at(rtol, &b, i) : absolute > 0 ? 0 : eps) * largest);
		struct mat v = mat_of(scaled, i);
		for (int64_t j = 0; j < k; j++) {
			double x = elem_f64(s->dtype, (char *)at(s, &b, i) + j * elem_bytes(s->dtype));
			for (int64_t row = 0; row < n; row++) {
				char *p = v.data + (row * v.row_stride + j * v.col_stride) * elem_bytes(a->dtype);
				elem_set_c128(a->dtype, p, fabs(x) > limit ? elem_c128(a->dtype, p) / x : 0);
			}
		}
		mat_mul(mat_of(out, i), (struct mat){0}, v, mat_of(right, i), 0, 1);
	}
	proxy_give(c, 0, out);
}

struct least {
	int dtype;
	int64_t m, n, k, ld; /* A [m, n], B [ld, k] */
	double rcond;
	const char *driver;
};

/* One system; *rank is what the driver finds. */
static int64_t least_squares(const struct least *q, void *a, void *x, void *s, int64_t *rank, struct work *w, void *rwork, int64_t *iwork)
{
	int64_t info = 0, lda = max_of(q->m, 1);
	float r32 = (float)q->rcond;
	const void *rcond = shim_real_of(q->dtype) == DTYPE_F32 ? (const void *)&r32 : (const void *)&q->rcond;
	bool is_complex = elem_complex(q->dtype);
	*rank = 0;
	if (!strcmp(q->driver, "gels"))
		LAPACK("gels", q->dtype, "N", &q->m, &q->n, &q->k, a, &lda, x, &q->ld, w->p, &w->n, &info);
	else if (!strcmp(q->driver, "gelsy")) {
		memset(iwork, 0, (size_t)max_of(q->n, 1) * sizeof(*iwork));
		if (is_complex)
			LAPACK("gelsy", q->dtype, &q->m, &q->n, &q->k, a, &lda, x, &q->ld, iwork, rcond, rank, w->p, &w->n, rwork, &info);
		else
			LAPACK("gelsy", q->dtype, &q->m, &q->n, &q->k, a, &lda, x, &q->ld, iwork, rcond, rank, w->p, &w->n, &info);
	} else if (!strcmp(q->driver, "gelsd")) {
		if (is_complex)
			LAPACK("gelsd", q->dtype, &q->m, &q->n, &q->k, a, &lda, x, &q->ld, s, rcond, rank, w->p, &w->n, rwork, iwork,
			       &info);
		else
			LAPACK("gelsd", q->dtype, &q->m, &q->n, &q->k, a, &lda, x, &q->ld, s, rcond, rank, w->p, &w->n, iwork, &info);
	} else if (is_complex)
		LAPACK("gelss", q->dtype, &q->m, &q->n, &q->k, a, &lda, x, &q->ld, s, rcond, rank, w->p, &w->n, rwork, &info);
	else
		LAPACK("gelss", q->dtype, &q->m, &q->n, &q->k, a, &lda, x, &q->ld, s, rcond, rank, w->p, &w->n, &info);
	return info;
}

static const char *driver_of(struct slice name)
{
	static const char *const drivers[] = {"gelsy", "gels", "gelsd", "gelss"};
	for (size_t i = 0; i < ARRAY_LEN(drivers); i++)
		if (!name.n || slice_is(name, drivers[i]))
			return drivers[i];
	shim_fail("parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
}

/* Squares of what is left over, below the solution: only of systems that have more rows than columns and full rank. */
static struct shim_tensor *residuals_of(const struct least *q, struct shim_tensor *x, const struct batch *b, bool full_rank)
{
	if (q->m <= q->n || !full_rank || !strcmp(q->driver, "gelsy"))
		return nothing(shim_real_of(q->dtype));
	struct shim_tensor *r = new_vectors(shim_real_of(q->dtype), b, q->k);
	for (int64_t i = 0; i < b->n * q->k; i++) {
		double sum = 0;
		for (int64_t row = q->n; row < q->m; row++) {
			double complex v = elem_c128(q->dtype, shim_data(x) + (i * q->ld + row) * elem_bytes(q->dtype));
			sum += creal(v) * creal(v) + cimag(v) * cimag(v);
		}
		elem_set_f64(r->dtype, shim_data(r) + i * elem_bytes(r->dtype), sum);
	}
	return r;
}

void proxy_linalg_lstsq(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "self"), *rhs = proxy_tensor(c, "b");
	need_matrix(a);
	bool vector = rhs->n_dim == a->n_dim - 1;
	if (vector)
		rhs = as_column(rhs);
	struct batch b = batch_of(a, rhs);
	struct least q = {
	    .dtype = a->dtype, .m = rows(a), .n = cols(a), .k = cols(rhs), .driver = driver_of(proxy_string(c, "driver", ""))};
	if (rows(rhs) != q.m)
		shim_fail("input.size(-2) should match other.size(-2)");
	q.ld = max_of(max_of(q.m, q.n), 1);
	q.rcond = proxy_float(c, "rcond", (shim_real_of(a->dtype) == DTYPE_F32 ? 0x1p-23 : 0x1p-52) * (double)max_of(q.m, q.n));
	bool ranked = strcmp(q.driver, "gels") != 0, valued = !strcmp(q.driver, "gelsd") || !strcmp(q.driver, "gelss"), full = true;
	int64_t least = min_of(q.m, q.n), *iwork = NULL;
	struct shim_tensor *m = copied(a, &b, true), *x = new_matrices(a->dtype, &b, q.ld, q.k, true);
	struct shim_tensor *ranks = ranked ? new_numbers(DTYPE_I64, &b) : nothing(DTYPE_I64);
	struct shim_tensor *s = new_vectors(shim_real_of(a->dtype), &b, least);
	int64_t size[SHIM_DIMS];
	memcpy(size, x->size, sizeof(size));
	size[x->n_dim - 2] = q.m;
	shim_fill_zero(x);
	shim_copy(shim_view(x, x->n_dim, size, x->stride, x->offset), rhs);
	if (!all_finite(m))
		shim_fail("torch.linalg.lstsq: A contains infs or NaNs");
	void *rwork = new_reals(a->dtype, 64 * (least + 1) * (least + q.k + 26) + 2 * q.n + 5 * least);
	struct work w;
	work_ask(&w);
	iwork = new_ints(64 * (least + 1) + q.n + 11 * least);
	for (int64_t i = 0; i < b.n && q.m && q.n && q.k; i++)
		for (int pass = i ? 1 : 0; pass < 2; pass++) {
			int64_t rank;
			check_one(least_squares(&q, at(m, &b, i), at(x, &b, i), at(s, &b, i), &rank, &w, rwork, iwork),
				  "torch.linalg.lstsq", &b, i);
			full = full && (!ranked || rank == q.n || !pass);
			if (ranked && pass)
				*(int64_t *)at(ranks, &b, i) = rank;
			if (!pass)
				work_get(&w, a->dtype, 1);
		}
	if (!q.m || !q.n || !q.k)
		shim_fill_zero(ranks);
	size[x->n_dim - 2] = q.n;
	proxy_give(c, 1, residuals_of(&q, x, &b, full));
	proxy_give(c, 0, shim_view(x, x->n_dim - vector, size, x->stride, x->offset));
	proxy_give(c, 2, ranks);
	proxy_give(c, 3, valued ? s : nothing(s->dtype));
}

static struct mat scratch_matrix(int dtype, int64_t n)
{
	struct mat m = {shim_scratch((uint64_t)(n * n), (uint64_t)elem_bytes(dtype)), dtype, n, n, n, 1};
	memset(m.data, 0, (size_t)(n * n * elem_bytes(dtype)));
	return m;
}

/* The sum of A^k / k!, of A halved until its norm is at most a half, squared as often: by Horner's rule, in double. */
enum { EXP_TERMS = 15 };

static struct mat exponential(struct mat a, struct mat r, struct mat t)
{
	int64_t n = a.rows;
	int bytes = elem_bytes(a.dtype), halved = 0;
	double norm = 0;
	for (int64_t i = 0; i < n; i++) {
		double sum = 0;
		for (int64_t j = 0; j < n; j++)
			sum += cabs(elem_c128(a.dtype, a.data + (i * n + j) * bytes));
		norm = isnan(sum) ? sum : fmax(norm, sum);
	}
	for (; norm > 0.5 && norm <= 0x1p1000; norm /= 2)
		halved++;
	for (int64_t i = 0; i < n; i++)
		elem_set_f64(a.dtype, r.data + i * (n + 1) * bytes, 1);
	struct mat one = scratch_matrix(a.dtype, n);
	memcpy(one.data, r.data, (size_t)(n * n * bytes));
	for (int k = EXP_TERMS; k > 0; k--) { /* r = 1 + A r / k */
		mat_mul(t, one, a, r, 1, ldexp(1.0 / k, -halved));
		struct mat swap = r;
		r = t;
		t = swap;
	}
	for (; halved > 0; halved--) {
		mat_mul(t, (struct mat){0}, r, r, 0, 1);
		struct mat swap = r;
		r = t;
		t = swap;
	}
	return r;
}

void proxy_linalg_matrix_exp(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "self");
	need_square(a);
	struct batch b = batch_of(a, NULL);
	struct shim_tensor *out = new_matrices(a->dtype, &b, rows(a), rows(a), false);
	int wide = elem_complex(a->dtype) ? DTYPE_C128 : DTYPE_F64;
	for (int64_t i = 0; i < b.n && rows(a); i++) {
		struct mat m = scratch_matrix(wide, rows(a));
		mat_copy(m, mat_of(a, i));
		mat_copy(mat_of(out, i), exponential(m, scratch_matrix(wide, m.rows), scratch_matrix(wide, m.rows)));
	}
	proxy_give(c, 0, out);
}
