/* linalg_svd.c - singular values and eigenvalues. */
#include "linalg_part.h"

struct svd {
	struct aten_tensor *u, *s, *vh; /* u and vh by columns, or empty */
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

static struct svd svd_of(struct aten_tensor *a, bool full, bool vectors, const char *api)
{
	struct batch b = batch_of(a, NULL);
	int64_t m = rows(a), n = cols(a), k = min_of(m, n), most = max_of(m, n);
	struct svd r = {numbers_none(a->dtype), vectors_new(aten_real_of(a->dtype), &b, k), numbers_none(a->dtype)};
	if (vectors) {
		r.u = matrices_new(a->dtype, &b, m, full ? m : k, true);
		r.vh = matrices_new(a->dtype, &b, full ? n : k, n, true);
	}
	if (!aten_numel(a)) {
		if (vectors) {
			matrices_set_identity(r.u);
			matrices_set_identity(r.vh);
		}
		return r;
	}
	struct aten_tensor *x = matrices_copied(a, &b, true);
	if (!matrices_finite(x)) /* some LAPACKs loop */
		lapack_check(-4, slice_str(api), 0, true);
	void *rwork = work_reals(a->dtype, max_of(7 * k, max_of(5 * k * k + 5 * k, 2 * most * k + 2 * k * k + k)));
	int64_t *iwork = work_ints(8 * k);
	struct work w;
	work_ask(&w);
	for (int64_t i = 0; i < b.n; i += work_ready(&w, a->dtype, 1)) {
		int64_t info = svd_one(a->dtype, vectors ? full ? "A" : "S" : "N", m, n, matrix_at(x, &b, i), matrix_at(r.s, &b, i),
				       vectors ? matrix_at(r.u, &b, i) : w.first, vectors ? matrix_at(r.vh, &b, i) : w.first, full ? n : k,
				       &w, rwork, iwork);
		lapack_check_one(info, api, &b, i);
	}
	return r;
}

void run_linalg_svd(struct aten_call *c)
{
	struct svd r = svd_of(named_tensor(c, "A"), named_bool(c, "full_matrices", false), named_bool(c, "compute_uv", true), "linalg.svd");
	call_give(c, 0, r.u);
	call_give(c, 1, r.s);
	call_give(c, 2, r.vh);
}

struct eigh {
	struct aten_tensor *values, *vectors; /* ascending; column-major */
};

static struct eigh eigh_of(struct aten_tensor *a, const char *uplo, bool vectors)
{
	matrices_need_square(a);
	struct batch b = batch_of(a, NULL);
	bool is_complex = elem_complex(a->dtype);
	int64_t n = rows(a), ld = max_of(n, 1), n_int = -1, n_real = -1, *iwork = work_ints(1);
	struct aten_tensor *x = matrices_copied(a, &b, true), *values = vectors_new(aten_real_of(a->dtype), &b, n);
	void *rwork = work_reals(a->dtype, 1);
	struct work w;
	if (!matrices_finite(x)) /* some LAPACKs loop */
		lapack_check(-4, slice_str("linalg.eigh"), 0, true);
	work_ask(&w);
	for (int64_t i = 0; i < b.n && n; i += work_ready(&w, a->dtype, 1)) {
		int64_t info = 0;
		if (is_complex)
			LAPACK("heevd", a->dtype, vectors ? "V" : "N", uplo, &n, matrix_at(x, &b, i), &ld, matrix_at(values, &b, i), w.p,
			       &w.n, rwork, &n_real, iwork, &n_int, &info);
		else
			LAPACK("syevd", a->dtype, vectors ? "V" : "N", uplo, &n, matrix_at(x, &b, i), &ld, matrix_at(values, &b, i), w.p,
			       &w.n, iwork, &n_int, &info);
		lapack_check_one(info, "linalg.eigh", &b, i);
		if (w.n >= 0)
			continue;
		n_int = max_of(lapack_int(iwork, 0), 1);
		iwork = work_ints(n_int);
		n_real = is_complex ? max_of((int64_t)elem_f64(values->dtype, rwork), 1) : 1;
		rwork = work_reals(a->dtype, n_real);
	}
	return (struct eigh){values, vectors ? x : numbers_none(a->dtype)};
}

void run_linalg_eigh(struct aten_call *c)
{
	struct slice uplo = named_string(c, "UPLO", "L");
	struct eigh r =
	    eigh_of(named_tensor(c, "A"), uplo.n && (*uplo.p == 'U' || *uplo.p == 'u') ? "U" : "L", named_bool(c, "compute_v", true));
	call_give(c, 0, r.values);
	call_give(c, 1, r.vectors);
}

/* A real matrix has pairs of conjugate eigenvalues; of their vectors LAPACK returns one, as two columns of real numbers. */
static void join_parts(const struct aten_tensor *part, int64_t n, const void *re, const void *im, const void *v, struct aten_tensor *values,
		       int64_t first, struct aten_tensor *vectors)
{
	int dtype = values->dtype, bytes = elem_bytes(dtype), half = bytes / 2, real = part->dtype;
	for (int64_t j = 0; j < n; j++) {
		double i = elem_f64(real, (const char *)im + j * half), sign = i < 0 ? -1 : 1;
		elem_set_c128(dtype, aten_data(values) + (first * n + j) * bytes, CMPLX(elem_f64(real, (const char *)re + j * half), i));
		int64_t pair = i < 0 ? j - 1 : j; /* the first of a pair has the positive imaginary part */
		for (int64_t r = 0; vectors && r < n; r++) {
			const char *x = (const char *)v + (pair * n + r) * half;
			elem_set_c128(dtype, aten_data(vectors) + (first * n * n + j * n + r) * bytes,
				      CMPLX(elem_f64(real, x), i == 0 ? 0 : sign * elem_f64(real, x + n * half)));
		}
	}
}

/* Eigenvalues, and their vectors or NULL. */
static struct two eig(struct aten_tensor *a, bool vectors)
{
	matrices_need_square(a);
	struct batch b = batch_of(a, NULL);
	int dtype = aten_complex_of(a->dtype);
	bool is_complex = elem_complex(a->dtype);
	int64_t n = rows(a), ld = max_of(n, 1);
	struct aten_tensor *x = matrices_copied(a, &b, true), *v = matrices_copied(a, &b, true), *re = vectors_new(a->dtype, &b, n);
	struct aten_tensor *im = vectors_new(aten_real_of(a->dtype), &b, 2 * n); /* the imaginary parts, or work */
	if (!matrices_finite(x))
		aten_fail("torch.linalg.eig: input tensor should not contain infs or NaNs.");
	struct two r = {.first = is_complex ? re : vectors_new(dtype, &b, n)};
	if (vectors)
		r.second = is_complex ? v : matrices_new(dtype, &b, n, n, true);
	const char *job = vectors ? "V" : "N";
	struct work w;
	work_ask(&w);
	for (int64_t i = 0; i < b.n && n; i += work_ready(&w, a->dtype, 1)) {
		int64_t info = 0;
		if (is_complex)
			LAPACK("geev", a->dtype, "N", job, &n, matrix_at(x, &b, i), &ld, matrix_at(re, &b, i), w.first, &ld,
			       matrix_at(v, &b, i), &ld, w.p, &w.n, matrix_at(im, &b, i), &info);
		else
			LAPACK("geev", a->dtype, "N", job, &n, matrix_at(x, &b, i), &ld, matrix_at(re, &b, i), matrix_at(im, &b, i),
			       w.first, &ld, matrix_at(v, &b, i), &ld, w.p, &w.n, &info);
		lapack_check_one(info, "torch.linalg.eig", &b, i);
		if (!is_complex && w.n >= 0)
			join_parts(x, n, matrix_at(re, &b, i), matrix_at(im, &b, i), matrix_at(v, &b, i), r.first, i, r.second);
	}
	return r;
}

void run_linalg_eig(struct aten_call *c) { call_give_two(c, eig(named_tensor(c, "self"), true)); }
void run_linalg_eigvals(struct aten_call *c) { call_give(c, 0, eig(named_tensor(c, "self"), false).first); }

/* A number for each matrix, or one for all. */
static double number_at(struct aten_tensor *t, const struct batch *b, int64_t i)
{
	struct aten_tensor *all = numbers_new(DTYPE_F64, b);
	aten_copy(all, t);
	return *(double *)matrix_at(all, b, i);
}

/* V S^-1 U^H ignoring values smaller than max(atol, rtol * the largest). */
void run_linalg_pinv(struct aten_call *c)
{
	struct aten_tensor *a = named_tensor(c, "self"), *atol = named_tensor_or_none(c, "atol"), *rtol = named_tensor_or_none(c, "rtol");
	struct batch b = batch_of(a, NULL);
	int64_t m = rows(a), n = cols(a), k = min_of(m, n);
	double eps = (aten_real_of(a->dtype) == DTYPE_F32 ? 0x1p-23 : 0x1p-52) * (double)max_of(m, n);
	struct aten_tensor *out = matrices_new(a->dtype, &b, n, m, false);
	aten_fill_zero(out);
	if (!aten_numel(a)) {
		call_give(c, 0, out);
		return;
	}
	bool hermitian = named_bool(c, "hermitian", false);
	struct svd r = {0};
	struct eigh e = {0};
	if (hermitian)
		e = eigh_of(a, "L", true);
	else
		r = svd_of(a, false, true, "linalg.svd");
	struct aten_tensor *s = hermitian ? e.values : r.s, *left = hermitian ? e.vectors : matrices_transposed(r.vh, true);
	struct aten_tensor *right = matrices_transposed(hermitian ? e.vectors : r.u, true), *scaled = aten_clone(left);
	for (int64_t i = 0; i < b.n; i++) {
		double largest = 0;
		for (int64_t j = 0; j < k; j++)
			largest = fmax(largest, fabs(elem_f64(s->dtype, (char *)matrix_at(s, &b, i) + j * elem_bytes(s->dtype))));
		double absolute = atol ? number_at(atol, &b, i) : 0;
		double limit = fmax(absolute, (rtol ? number_at(rtol, &b, i) : absolute > 0 ? 0 : eps) * largest);
		struct mat v = mat_of(scaled, i);
		for (int64_t j = 0; j < k; j++) {
			double x = elem_f64(s->dtype, (char *)matrix_at(s, &b, i) + j * elem_bytes(s->dtype));
			for (int64_t row = 0; row < n; row++) {
				char *p = v.data + (row * v.row_stride + j * v.col_stride) * elem_bytes(a->dtype);
				elem_set_c128(a->dtype, p, fabs(x) > limit ? elem_c128(a->dtype, p) / x : 0);
			}
		}
		mat_mul(mat_of(out, i), (struct mat){0}, v, mat_of(right, i), 0, 1);
	}
	call_give(c, 0, out);
}
