/* Linear algebra on small matrices, in double: triangular systems, Cholesky's, Householder's. Results lie by columns, as
 * those of torch's calls of LAPACK do (aten/src/ATen/native/BatchLinearAlgebra.cpp of torch 2.13). */
#include "elem.h"
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
	if (t->n_dim < 2 || (t->dtype != DTYPE_F32 && t->dtype != DTYPE_F64))
		shim_fail("a matrix of %d dimensions of %s: only float32 and float64 are here; use libtorch", t->n_dim, dtype_name(t->dtype));
}

static int64_t rows(const struct shim_tensor *t) { return t->size[t->n_dim - 2]; }
static int64_t cols(const struct shim_tensor *t) { return t->size[t->n_dim - 1]; }

/* What is before the last two dims of both, broadcast; b may be NULL. */
static struct batch batch_of(const struct shim_tensor *a, const struct shim_tensor *b)
{
	struct batch r = {.n = 1};
	struct shim_tensor x = *a, y = b ? *b : *a;

	need_matrix(a);
	need_matrix(b ? b : a);
	if (a->dtype != (b ? b : a)->dtype)
		shim_fail("matrices of %s and %s", dtype_name(a->dtype), dtype_name(b->dtype));
	x.n_dim -= 2;
	y.n_dim -= 2;
	r.n_dim = shim_broadcast(&x, &y, r.size);
	for (int i = 0; i < r.n_dim; i++)
		r.n *= r.size[i];
	return r;
}

/* t must have, before its last dim, the dims that matrices has before its last two. */
static void need_batch_of(const struct shim_tensor *t, const struct shim_tensor *matrices, const char *what)
{
	if (t->n_dim != matrices->n_dim - 1 || memcmp(t->size, matrices->size, (size_t)(matrices->n_dim - 2) * sizeof(*t->size)))
		shim_fail("%s are not one for each matrix", what);
}

/* The last `tail` dims of t at the i-th position of the batch. */
static struct mat matrix_at(const struct shim_tensor *t, const struct batch *b, int64_t i, int tail)
{
	struct mat m = {.data = shim_data(t), .dtype = t->dtype, .rows = 1, .cols = t->size[t->n_dim - 1], .col_stride = t->stride[t->n_dim - 1]};
	if (tail == 2) {
		m.rows = rows(t);
		m.row_stride = t->stride[t->n_dim - 2];
	}
	for (int d = t->n_dim - tail - 1, k = b->n_dim - 1; d >= 0; d--, k--) {
		m.data += (t->size[d] == 1 ? 0 : i % b->size[k] * t->stride[d]) * elem_bytes(t->dtype);
		i /= b->size[k];
	}
	return m;
}

static double *scratch(int64_t n) { return shim_scratch((uint64_t)n, sizeof(double)); }

static void fetch(double *to, const struct shim_tensor *t, const struct batch *b, int64_t i, int tail)
{
	struct mat m = matrix_at(t, b, i, tail);
	mat_copy((struct mat){(char *)to, DTYPE_F64, m.rows, m.cols, m.cols, 1}, m);
}

static void put(struct shim_tensor *t, const struct batch *b, int64_t i, int tail, const double *from)
{
	struct mat m = matrix_at(t, b, i, tail);
	mat_copy(m, (struct mat){(char *)(uintptr_t)from, DTYPE_F64, m.rows, m.cols, m.cols, 1});
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

/* ---- triangular systems, in place of b [n, k] ---- */

static double element(const double *a, int64_t n, int64_t i, int64_t j, bool transposed)
{
	return transposed ? a[j * n + i] : a[i * n + j];
}

/* The triangle that is read is `upper` as it lies; op(A) x = b */
static void solve(const double *a, int64_t n, double *b, int64_t k, bool upper, bool transposed, bool unit)
{
	bool up = upper != transposed;
	for (int64_t s = 0; s < n; s++) {
		int64_t i = up ? n - 1 - s : s;
		for (int64_t j = up ? i + 1 : 0; j < (up ? n : i); j++) {
			double v = element(a, n, i, j, transposed);
			for (int64_t c = 0; c < k; c++)
				b[i * k + c] -= v * b[j * k + c];
		}
		if (!unit)
			for (int64_t c = 0; c < k; c++)
				b[i * k + c] /= a[i * n + i];
	}
}

AOTITorchError aoti_torch_cpu_triangular_solve(AtenTensorHandle self, AtenTensorHandle A, int32_t upper, int32_t transpose,
					       int32_t unitriangular, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	SHIM_TRY {
		struct batch b = batch_of(self, A);
		int64_t n = rows(A), k = cols(self);
		if (cols(A) != n || rows(self) != n)
			shim_fail("incompatible matrix sizes: %lld x %lld with %lld rows", (long long)n, (long long)cols(A), (long long)rows(self));
		struct shim_tensor *x = new_matrices(self->dtype, &b, n, k, true), *m = new_matrices(self->dtype, &b, n, n, true);
		double *a = scratch(n * n), *r = scratch(n * k);
		for (int64_t i = 0; i < b.n; i++) {
			fetch(a, A, &b, i, 2);
			fetch(r, self, &b, i, 2);
			put(m, &b, i, 2, a);
			solve(a, n, r, k, upper, transpose, unitriangular);
			put(x, &b, i, 2, r);
		}
		SHIM_GIVE(ret1, m);
		SHIM_GIVE(ret0, x);
	}
	SHIM_END
}

/* ---- Cholesky: A = L L^T, or U^T U ---- */

static void solve_factored(const double *l, int64_t n, double *b, int64_t k, bool upper)
{
	solve(l, n, b, k, upper, upper, false);
	solve(l, n, b, k, upper, !upper, false);
}

AOTITorchError aoti_torch_cpu_cholesky_solve(AtenTensorHandle self, AtenTensorHandle input2, int32_t upper, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct batch b = batch_of(self, input2);
		int64_t n = rows(input2), k = cols(self);
		if (cols(input2) != n || rows(self) != n)
			shim_fail("incompatible matrix sizes: %lld x %lld with %lld rows", (long long)n, (long long)cols(input2), (long long)rows(self));
		struct shim_tensor *x = new_matrices(self->dtype, &b, n, k, true);
		double *l = scratch(n * n), *r = scratch(n * k);
		for (int64_t i = 0; i < b.n; i++) {
			fetch(l, input2, &b, i, 2);
			fetch(r, self, &b, i, 2);
			solve_factored(l, n, r, k, upper);
			put(x, &b, i, 2, r);
		}
		SHIM_GIVE(ret0, x);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_cholesky_inverse(AtenTensorHandle self, int32_t upper, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct batch b = batch_of(self, NULL);
		int64_t n = rows(self);
		if (cols(self) != n)
			shim_fail("a matrix of %lld x %lld is not square", (long long)n, (long long)cols(self));
		struct shim_tensor *x = new_matrices(self->dtype, &b, n, n, true);
		double *l = scratch(n * n), *r = scratch(n * n);
		for (int64_t i = 0; i < b.n; i++) {
			fetch(l, self, &b, i, 2);
			for (int64_t j = 0; j < n * n; j++)
				r[j] = j % (n + 1) == 0;
			solve_factored(l, n, r, n, upper);
			put(x, &b, i, 2, r);
		}
		SHIM_GIVE(ret0, x);
	}
	SHIM_END
}

/* ---- LU ---- */

static struct shim_tensor *nothing(int dtype)
{
	int64_t none = 0;
	return shim_new(dtype, 1, &none, NULL);
}

/* LAPACK's pivots: row i was swapped with row pivot[i] (from 1), one after the other. */
static void permutation(const double *pivot, int64_t k, int64_t m, double *order, double *p)
{
	for (int64_t i = 0; i < m; i++)
		order[i] = (double)i;
	for (int64_t i = 0; i < k; i++) {
		if (!(pivot[i] >= 1 && pivot[i] <= (double)m))
			shim_fail("a pivot of %g in a matrix of %lld rows", pivot[i], (long long)m);
		int64_t j = (int64_t)pivot[i] - 1;
		double t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
	memset(p, 0, (size_t)(m * m) * sizeof(*p));
	for (int64_t i = 0; i < m; i++)
		p[(int64_t)order[i] * m + i] = 1;
}

AOTITorchError aoti_torch_cpu_lu_unpack(AtenTensorHandle LU_data, AtenTensorHandle LU_pivots, int32_t unpack_data,
					int32_t unpack_pivots, AtenTensorHandle *ret0, AtenTensorHandle *ret1, AtenTensorHandle *ret2)
{
	SHIM_TRY {
		struct batch b = batch_of(LU_data, NULL);
		int64_t m = rows(LU_data), n = cols(LU_data), k = m < n ? m : n;
		need_batch_of(LU_pivots, LU_data, "pivots");
		if (LU_pivots->dtype != DTYPE_I32 || LU_pivots->size[b.n_dim] != k)
			shim_fail("pivots must be int32, %lld for each matrix", (long long)k);
		struct shim_tensor *p = nothing(LU_data->dtype), *l = nothing(LU_data->dtype), *u = nothing(LU_data->dtype);
		if (unpack_pivots)
			p = new_matrices(LU_data->dtype, &b, m, m, false);
		if (unpack_data) {
			l = new_matrices(LU_data->dtype, &b, m, k, false);
			u = new_matrices(LU_data->dtype, &b, k, n, false);
		}
		double *a = scratch(m * n), *part = scratch(m * (m > n ? m : n)), *pivot = scratch(k), *order = scratch(m);
		for (int64_t i = 0; i < b.n; i++) {
			if (unpack_pivots) {
				fetch(pivot, LU_pivots, &b, i, 1);
				permutation(pivot, k, m, order, part);
				put(p, &b, i, 2, part);
			}
			if (!unpack_data)
				continue;
			fetch(a, LU_data, &b, i, 2);
			for (int64_t r = 0; r < m; r++)
				for (int64_t c = 0; c < k; c++)
					part[r * k + c] = r > c ? a[r * n + c] : r == c;
			put(l, &b, i, 2, part);
			for (int64_t r = 0; r < k; r++)
				for (int64_t c = 0; c < n; c++)
					part[r * n + c] = r <= c ? a[r * n + c] : 0;
			put(u, &b, i, 2, part);
		}
		SHIM_GIVE(ret2, u);
		SHIM_GIVE(ret1, l);
		SHIM_GIVE(ret0, p);
	}
	SHIM_END
}

/* ---- Householder ---- */

/* a [m, n]: R above, below the reflectors' vectors, whose first element is 1; tau their factors (LAPACK's geqr2, larfg). */
static void factor_qr(double *a, int64_t m, int64_t n, double *tau)
{
	for (int64_t i = 0; i < (m < n ? m : n); i++) {
		double norm = 0, alpha = a[i * n + i];
		for (int64_t r = i + 1; r < m; r++)
			norm = hypot(norm, a[r * n + i]);
		tau[i] = 0;
		if (norm == 0)
			continue;
		double beta = -copysign(hypot(alpha, norm), alpha);
		tau[i] = (beta - alpha) / beta;
		for (int64_t r = i + 1; r < m; r++)
			a[r * n + i] /= alpha - beta;
		a[i * n + i] = beta;
		for (int64_t c = i + 1; c < n; c++) {
			double sum = a[i * n + c];
			for (int64_t r = i + 1; r < m; r++)
				sum += a[r * n + i] * a[r * n + c];
			a[i * n + c] -= tau[i] * sum;
			for (int64_t r = i + 1; r < m; r++)
				a[r * n + c] -= tau[i] * sum * a[r * n + i];
		}
	}
}

AOTITorchError aoti_torch_cpu_geqrf(AtenTensorHandle self, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	SHIM_TRY {
		struct batch b = batch_of(self, NULL);
		int64_t m = rows(self), n = cols(self), k = m < n ? m : n, size[SHIM_DIMS];
		struct shim_tensor *qr = new_matrices(self->dtype, &b, m, n, true);
		memcpy(size, b.size, sizeof(size));
		size[b.n_dim] = k;
		struct shim_tensor *t = shim_new(self->dtype, b.n_dim + 1, size, NULL);
		double *a = scratch(m * n), *tau = scratch(k);
		for (int64_t i = 0; i < b.n; i++) {
			fetch(a, self, &b, i, 2);
			factor_qr(a, m, n, tau);
			put(qr, &b, i, 2, a);
			put(t, &b, i, 1, tau);
		}
		SHIM_GIVE(ret1, t);
		SHIM_GIVE(ret0, qr);
	}
	SHIM_END
}

/* c [n, k] -> H c for the reflector in column j of a [n, wide] */
static void reflect(const double *a, int64_t wide, int64_t j, double tau, double *c, int64_t n, int64_t k)
{
	for (int64_t x = 0; x < k; x++) {
		double sum = c[j * k + x];
		for (int64_t r = j + 1; r < n; r++)
			sum += a[r * wide + j] * c[r * k + x];
		c[j * k + x] -= tau * sum;
		for (int64_t r = j + 1; r < n; r++)
			c[r * k + x] -= tau * sum * a[r * wide + j];
	}
}

/* Q c, Q^T c, c Q or c Q^T, with Q = H(1) H(2) ... From the right: transposed, from the left, transposed. */
AOTITorchError aoti_torch_cpu_ormqr(AtenTensorHandle self, AtenTensorHandle input2, AtenTensorHandle input3, int32_t left,
				    int32_t transpose, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct batch b = batch_of(self, input3);
		int64_t m = rows(input3), n = cols(input3), wide = cols(self), side = left ? m : n, other = left ? n : m;
		need_batch_of(input2, self, "factors of reflectors");
		if (rows(self) != side || input2->size[input2->n_dim - 1] > wide || wide > side)
			shim_fail("reflectors of %lld rows for %lld", (long long)rows(self), (long long)side);
		int64_t k = input2->size[input2->n_dim - 1];
		struct shim_tensor *out = new_matrices(input3->dtype, &b, m, n, true);
		double *a = scratch(side * wide), *tau = scratch(k), *c = scratch(m * n);
		struct mat work = {(char *)c, DTYPE_F64, side, other, other, 1};
		bool forward = left ? transpose : !transpose;
		for (int64_t i = 0; i < b.n; i++) {
			struct mat from = matrix_at(input3, &b, i, 2), to = matrix_at(out, &b, i, 2);
			fetch(a, self, &b, i, 2);
			fetch(tau, input2, &b, i, 1);
			mat_copy(work, left ? from : mat_t(from));
			for (int64_t j = 0; j < k; j++) {
				int64_t which = forward ? j : k - 1 - j;
				reflect(a, wide, which, tau[which], c, side, other);
			}
			mat_copy(left ? to : mat_t(to), work);
		}
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}

/* ---- through the proxy executor: determinants, inverses, systems (BatchLinearAlgebra.cpp, LinearAlgebra.cpp) ---- */

/* Like LAPACK's getrf: rows change places, pivot[i] (from 1) is the one that came to i. The first column without a pivot, from 1,
 * or 0. In double, where a matrix may be regular that is singular in float. */
static int32_t factor_lu(double *a, int64_t n, int32_t *pivot)
{
	int32_t info = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t best = i;
		for (int64_t r = i + 1; r < n; r++)
			if (fabs(a[r * n + i]) > fabs(a[best * n + i]))
				best = r;
		pivot[i] = (int32_t)best + 1;
		if (a[best * n + i] == 0) {
			info = info ? info : (int32_t)i + 1;
			continue;
		}
		for (int64_t c = 0; c < n && best != i; c++) {
			double t = a[i * n + c];
			a[i * n + c] = a[best * n + c];
			a[best * n + c] = t;
		}
		for (int64_t r = i + 1; r < n; r++) {
			double f = a[r * n + i] /= a[i * n + i];
			for (int64_t c = i + 1; c < n; c++)
				a[r * n + c] -= f * a[i * n + c];
		}
	}
	return info;
}

static void swap_rows(double *b, int64_t k, int64_t i, int64_t j)
{
	for (int64_t c = 0; c < k && i != j; c++) {
		double t = b[i * k + c];
		b[i * k + c] = b[j * k + c];
		b[j * k + c] = t;
	}
}

/* F x = b, or transposed, in place of b [n, k] */
static void solve_lu(const double *lu, const int32_t *pivot, int64_t n, double *b, int64_t k, bool transposed)
{
	for (int64_t i = 0; i < n && !transposed; i++)
		swap_rows(b, k, i, pivot[i] - 1);
	solve(lu, n, b, k, transposed, transposed, !transposed);
	solve(lu, n, b, k, !transposed, transposed, transposed);
	for (int64_t i = n - 1; i >= 0 && transposed; i--)
		swap_rows(b, k, i, pivot[i] - 1);
}

static void transpose(double *a, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = i + 1; j < n; j++) {
			double t = a[i * n + j];
			a[i * n + j] = a[j * n + i];
			a[j * n + i] = t;
		}
}

static void need_square(const struct shim_tensor *a)
{
	need_matrix(a);
	if (rows(a) != cols(a))
		shim_fail("A must be batches of square matrices, but they are %lld by %lld matrices", (long long)rows(a),
			  (long long)cols(a));
}

struct lu {
	struct batch b;
	int64_t n;
	bool transposed;
	double *a;
	int32_t *pivot;
	struct shim_tensor *lu, *pivots;
};

static struct lu lu_of(struct shim_tensor *a, bool transposed)
{
	int64_t size[SHIM_DIMS];
	need_square(a);
	struct lu x = {.b = batch_of(a, NULL), .n = rows(a), .transposed = transposed};
	x.a = scratch(x.n * x.n);
	x.pivot = shim_scratch((uint64_t)x.n, sizeof(*x.pivot));
	x.lu = new_matrices(a->dtype, &x.b, x.n, x.n, true);
	memcpy(size, x.b.size, sizeof(size));
	size[x.b.n_dim] = x.n;
	x.pivots = shim_new(DTYPE_I32, x.b.n_dim + 1, size, NULL);
	return x;
}

static int32_t lu_next(struct lu *x, struct shim_tensor *a, int64_t i)
{
	fetch(x->a, a, &x->b, i, 2);
	if (x->transposed)
		transpose(x->a, x->n);
	int32_t info = factor_lu(x->a, x->n, x->pivot);
	put(x->lu, &x->b, i, 2, x->a);
	if (x->n)
		memcpy(shim_data(x->pivots) + i * x->n * 4, x->pivot, (size_t)x->n * 4);
	return info;
}

/* Sign and logarithm of the determinant's absolute value, or both in one. */
static void determinant(struct proxy_call *c, bool logarithm)
{
	struct shim_tensor *a = proxy_tensor(c, "A");
	/* A matrix by rows is factored transposed: so it lies by columns already. */
	struct lu x = lu_of(a, shim_is_contiguous(a));
	struct shim_tensor *sign = shim_new(a->dtype, x.b.n_dim, x.b.size, NULL), *rest = shim_new(a->dtype, x.b.n_dim, x.b.size, NULL);
	int bytes = elem_bytes(a->dtype);
	for (int64_t i = 0; i < x.b.n; i++) {
		double s = 1, product = 1, sum = 0;
		lu_next(&x, a, i);
		for (int64_t k = 0; k < x.n; k++) {
			double d = x.a[k * (x.n + 1)];
			s *= x.pivot[k] != k + 1 ? -1 : 1;
			product *= d;
			sum += log(fabs(d));
			s *= logarithm ? (d > 0) - (d < 0) : 1;
		}
		elem_set_f64(a->dtype, shim_data(sign) + i * bytes, logarithm ? s : s * product);
		elem_set_f64(a->dtype, shim_data(rest) + i * bytes, sum);
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

static void check_info(int32_t info, struct slice api, int64_t at, bool is_matrix)
{
	char which[64] = "";
	if (!info)
		return;
	if (!is_matrix)
		snprintf(which, sizeof(which), "(Batch element %lld): ", (long long)at);
	if (slice_find(api, "cholesky"))
		shim_fail("%.*s: %sThe factorization could not be completed because the input is not positive-definite (the leading minor "
			  "of order %d is not positive-definite).", (int)api.n, api.p, which, info);
	shim_fail("%.*s: %sThe solver failed because the input matrix is singular.", (int)api.n, api.p, which);
}

/* Info of each matrix. */
static struct shim_tensor *info_of(const struct batch *b) { return shim_new(DTYPE_I32, b->n_dim, b->size, NULL); }

static void set_info(struct shim_tensor *info, int64_t i, int32_t v, const struct proxy_call *c, const char *api)
{
	memcpy(shim_data(info) + i * 4, &v, sizeof(v));
	if (proxy_bool(c, "check_errors", false))
		check_info(v, slice_str(api), i, !info->n_dim);
}

void proxy_linalg_check_errors(struct proxy_call *c)
{
	struct shim_tensor *info = shim_clone_contiguous(proxy_tensor(c, "info"));
	for (int64_t i = 0; i < shim_numel(info); i++)
		check_info((int32_t)elem_i64(info->dtype, shim_data(info) + i * elem_bytes(info->dtype)), proxy_string(c, "api_name", ""), i,
			   proxy_bool(c, "is_matrix", false));
}

void proxy_linalg_inv_ex(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "A");
	struct lu x = lu_of(a, false);
	struct shim_tensor *out = new_matrices(a->dtype, &x.b, x.n, x.n, true), *info = info_of(&x.b);
	double *r = scratch(x.n * x.n);
	for (int64_t i = 0; i < x.b.n; i++) {
		set_info(info, i, lu_next(&x, a, i), c, "linalg.inv");
		for (int64_t j = 0; j < x.n * x.n; j++)
			r[j] = j % (x.n + 1) == 0;
		solve_lu(x.a, x.pivot, x.n, r, x.n, x.transposed);
		put(out, &x.b, i, 2, r);
	}
	proxy_give(c, 0, out);
	proxy_give(c, 1, info);
}

void proxy_linalg_cholesky_ex(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "self");
	bool upper = proxy_bool(c, "upper", false);
	need_square(a);
	struct batch b = batch_of(a, NULL);
	int64_t n = rows(a);
	struct shim_tensor *out = new_matrices(a->dtype, &b, n, n, true), *info = info_of(&b);
	double *m = scratch(n * n), *l = scratch(n * n);
	for (int64_t i = 0; i < b.n; i++) {
		int32_t bad = 0;
		fetch(m, a, &b, i, 2);
		if (upper)
			transpose(m, n);
		memset(l, 0, (size_t)(n * n) * sizeof(*l));
		for (int64_t j = 0; j < n && !bad; j++)
			for (int64_t r = j; r < n && !bad; r++) {
				double sum = m[r * n + j];
				for (int64_t k = 0; k < j; k++)
					sum -= l[r * n + k] * l[j * n + k];
				if (r == j && !(sum > 0))
					bad = (int32_t)j + 1;
				l[r * n + j] = r == j ? sqrt(sum) : sum / l[j * n + j];
			}
		if (upper)
			transpose(l, n);
		set_info(info, i, bad, c, "linalg.cholesky");
		put(out, &b, i, 2, l);
	}
	proxy_give(c, 0, out);
	proxy_give(c, 1, info);
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

/* A x = b for matrices b, or a vector for each matrix. */
void proxy_linalg_solve_ex(struct proxy_call *c)
{
	struct shim_tensor *a = proxy_tensor(c, "A"), *rhs = proxy_tensor(c, "B");
	struct lu x = lu_of(a, false);
	bool vector = rhs->n_dim == 1 || (rhs->n_dim == a->n_dim - 1 && !memcmp(rhs->size, a->size, (size_t)rhs->n_dim * sizeof(*a->size)));
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS];
	if (!proxy_bool(c, "left", true))
		shim_fail("only A X = B is here, not X A = B; use libtorch");
	memcpy(size, rhs->size, sizeof(size));
	memcpy(stride, rhs->stride, sizeof(stride));
	size[rhs->n_dim] = 1;
	stride[rhs->n_dim] = 1;
	if (vector)
		rhs = shim_view(rhs, rhs->n_dim + 1, size, stride, rhs->offset);
	struct batch b = batch_of(a, rhs);
	int64_t n = x.n, k = cols(rhs);
	if (rows(rhs) != n)
		shim_fail("%lld by %lld matrices and %lld rows", (long long)n, (long long)n, (long long)rows(rhs));
	struct shim_tensor *out = new_matrices(a->dtype, &b, n, k, true), *info = info_of(&x.b);
	double *m = scratch(n * n), *r = scratch(n * k);
	for (int64_t i = 0; i < x.b.n; i++)
		set_info(info, i, lu_next(&x, a, i), c, "torch.linalg.solve");
	for (int64_t i = 0; i < b.n; i++) {
		fetch(m, a, &b, i, 2);
		fetch(r, rhs, &b, i, 2);
		factor_lu(m, n, x.pivot);
		solve_lu(m, x.pivot, n, r, k, false);
		put(out, &b, i, 2, r);
	}
	proxy_give(c, 0, vector ? vectors_of(out) : out);
	proxy_give(c, 1, x.lu);
	proxy_give(c, 2, x.pivots);
	proxy_give(c, 3, info);
}
