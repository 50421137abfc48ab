/* linalg.c - matrices in LAPACK's layout: batches, copies, memory, and its failures with torch's messages. See linalg_part.h. */
#include "linalg_part.h"
#include "ops.h"

void matrices_need(const struct aten_tensor *t)
{
	if (t->n_dim < 2)
		aten_fail("the input tensor must have at least 2 dimensions, but has %d", t->n_dim);
	if (t->dtype != DTYPE_F32 && t->dtype != DTYPE_F64 && !elem_complex(t->dtype))
		aten_fail("expected a floating point or complex tensor as input, got %s", dtype_name(t->dtype));
}

struct batch batch_of(const struct aten_tensor *a, const struct aten_tensor *b)
{
	struct batch r = {.n = 1};
	matrices_need(a);
	matrices_need(b ? b : a);
	if (a->dtype != (b ? b : a)->dtype)
		aten_fail("matrices of different dtypes, %s and %s", dtype_name(a->dtype), dtype_name(b->dtype));
	struct aten_tensor x = *a, y = b ? *b : *a;
	x.n_dim -= 2;
	y.n_dim -= 2;
	r.n_dim = aten_broadcast(&x, &y, r.size);
	for (int i = 0; i < r.n_dim; i++)
		r.n *= r.size[i];
	r.n = aten_computes() ? r.n : 0;
	return r;
}

void matrices_need_square(const struct aten_tensor *a)
{
	matrices_need(a);
	if (rows(a) != cols(a))
		aten_fail("A must be batches of square matrices, but they are %lld by %lld matrices", (long long)rows(a),
			  (long long)cols(a));
}

void vectors_need_of(const struct aten_tensor *t, const struct aten_tensor *matrices, const char *what)
{
	if (t->n_dim != matrices->n_dim - 1 || memcmp(t->size, matrices->size, (size_t)(matrices->n_dim - 2) * sizeof(*t->size)))
		aten_fail("%s: expected one for each matrix", what);
}

void pivots_need_of(const struct aten_tensor *t, const struct aten_tensor *matrices, int64_t n)
{
	vectors_need_of(t, matrices, "pivots");
	if (t->dtype != DTYPE_I32 || t->size[t->n_dim - 1] != n)
		aten_fail("pivots must be int32, with %lld for each matrix", (long long)n);
}

struct aten_tensor *matrices_new(int dtype, const struct batch *b, int64_t m, int64_t n, bool by_columns)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	int d = b->n_dim;

	memcpy(size, b->size, sizeof(size));
	size[d] = m;
	size[d + 1] = n;
	aten_contiguous_strides(d + 2, size, stride);
	if (by_columns) {
		stride[d] = 1;
		stride[d + 1] = m > 1 ? m : 1;
	}
	return aten_new(dtype, d + 2, size, stride);
}

struct aten_tensor *vectors_new(int dtype, const struct batch *b, int64_t n)
{
	int64_t size[ATEN_DIMS];
	memcpy(size, b->size, sizeof(size));
	size[b->n_dim] = n;
	return aten_new(dtype, b->n_dim + 1, size, NULL);
}

struct aten_tensor *numbers_new(int dtype, const struct batch *b) { return aten_new(dtype, b->n_dim, b->size, NULL); }

struct aten_tensor *numbers_none(int dtype)
{
	int64_t none = 0;
	return aten_new(dtype, 1, &none, NULL);
}

struct aten_tensor *matrices_copied(struct aten_tensor *t, const struct batch *b, bool by_columns)
{
	struct aten_tensor *c = matrices_new(t->dtype, b, rows(t), cols(t), by_columns);
	aten_copy(c, t);
	return c;
}

struct aten_tensor *matrices_transposed(struct aten_tensor *t, bool conjugated)
{
	struct aten_tensor *v = aten_transpose(t, -2, -1);
	if (!conjugated || !elem_complex(t->dtype))
		return v;
	v = aten_clone(v);
	numbers_conjugate(v->dtype, aten_data(v), aten_numel(v));
	return v;
}

void numbers_conjugate(int dtype, char *p, int64_t n)
{
	for (int64_t i = 0; i < n && elem_complex(dtype) && aten_computes(); i++, p += elem_bytes(dtype))
		elem_set_c128(dtype, p, conj(elem_c128(dtype, p)));
}

void matrices_keep_triangle(struct aten_tensor *t, const struct batch *b, bool upper)
{
	int64_t m = rows(t), n = cols(t);
	int bytes = elem_bytes(t->dtype);
	for (int64_t i = 0; i < b->n && m; i++)
		for (int64_t c = 0; c < n; c++) {
			char *column = (char *)matrix_at(t, b, i) + c * max_of(m, 1) * bytes;
			int64_t from = upper ? c + 1 : 0, to = upper ? m : min_of(c, m);
			if (from < to)
				memset(column + from * bytes, 0, (size_t)((to - from) * bytes));
		}
}

void matrices_set_identity(struct aten_tensor *t)
{
	struct batch b = batch_of(t, NULL);
	int64_t m = rows(t), n = cols(t);
	aten_fill_zero(t);
	for (int64_t i = 0; i < b.n; i++)
		for (int64_t k = 0; k < min_of(m, n); k++)
			elem_set_f64(t->dtype, (char *)matrix_at(t, &b, i) + k * (m + 1) * elem_bytes(t->dtype), 1);
}

bool matrices_finite(const struct aten_tensor *t)
{
	const char *p = aten_data(t);
	for (int64_t i = aten_numel(t); i > 0 && aten_computes(); i--, p += elem_bytes(t->dtype)) {
		double complex v = elem_c128(t->dtype, p);
		if (!isfinite(creal(v)) || !isfinite(cimag(v)))
			return false;
	}
	return true;
}

bool work_ready(struct work *w, int dtype, int64_t least)
{
	if (w->n >= 0)
		return true;
	w->n = max_of((int64_t)elem_f64(aten_real_of(dtype), w->p), least);
	w->p = aten_scratch((uint64_t)w->n, (uint64_t)elem_bytes(dtype));
	return false;
}

int64_t *work_ints(int64_t n)
{
	n = aten_computes() ? max_of(n, 1) : 1;
	int64_t *p = aten_scratch((uint64_t)n, sizeof(*p));
	memset(p, 0, (size_t)n * sizeof(*p));
	return p;
}

void *work_reals(int dtype, int64_t n)
{
	return aten_scratch(aten_computes() ? (uint64_t)max_of(n, 1) : 1, (uint64_t)elem_bytes(aten_real_of(dtype)));
}

/* ---- errors: batchCheckErrors of LinearAlgebraUtils.h, in its order ---- */

void lapack_check(int64_t info, struct slice api, int64_t batch_at, bool is_matrix)
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
	    {"", "LAPACK error %lld"},
	};
	char which[64] = "", text[256];
	if (!info)
		return;
	if (!is_matrix)
		snprintf(which, sizeof(which), "(Batch element %lld): ", (long long)batch_at);
	if (info < 0)
		aten_fail("%.*s: %s%s", SL(api), which,
			  slice_find(api, "svd") || slice_find(api, "eig")
			      ? "The algorithm failed to converge because the input matrix contained non-finite values."
			      : "LAPACK rejects its arguments.");
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		if (slice_find(api, errors[i].in)) {
			snprintf(text, sizeof(text), errors[i].text, (long long)info, (long long)info);
			aten_fail("%.*s: %s%s", SL(api), which, text);
		}
}

void run_linalg_check_errors(struct aten_call *c)
{
	struct aten_tensor *info = aten_clone_contiguous(named_tensor(c, "info"));
	for (int64_t i = 0; i < aten_numel(info) && aten_computes(); i++)
		lapack_check(elem_i64(info->dtype, aten_data(info) + i * elem_bytes(info->dtype)), named_string(c, "api_name", ""), i,
			     named_bool(c, "is_matrix", false));
}

void lapack_set_info(struct aten_tensor *info, const struct batch *b, int64_t i, int64_t v, bool check, const char *api)
{
	elem_set_i64(DTYPE_I32, (char *)matrix_at(info, b, i), (int32_t)v);
	if (check)
		lapack_check_one(v, api, b, i);
}

void matrices_need_rows(const struct aten_tensor *b, int64_t n, const struct aten_tensor *a)
{
	matrices_need_square(a);
	if (b->n_dim < 2 || rows(b) != n)
		aten_fail("incompatible shapes of A and B for the equation AX = B: %lldx%lld and %lldx%lld", (long long)rows(a),
			  (long long)cols(a), b->n_dim < 2 ? -1LL : (long long)rows(b), b->n_dim < 2 ? -1LL : (long long)cols(b));
}

struct aten_tensor *matrix_of_vector(struct aten_tensor *v)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	memcpy(size, v->size, sizeof(size));
	memcpy(stride, v->stride, sizeof(stride));
	size[v->n_dim] = 1;
	stride[v->n_dim] = 1;
	return aten_view(v, v->n_dim + 1, size, stride, v->offset);
}
