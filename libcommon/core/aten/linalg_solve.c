/* linalg_solve.c - solutions where A is triangular, or symmetric. */
#include "linalg_part.h"
#include "ops.h"

/* ---- triangular systems ---- */

static void solve_triangle(int dtype, const char *side, const char *uplo, const char *trans, const char *diag, int64_t m, int64_t n,
			   const void *a, void *b)
{
	static const float one_f32[2] = {1, 0};
	static const double one_f64[2] = {1, 0};
	const void *one = aten_real_of(dtype) == DTYPE_F32 ? (const void *)one_f32 : (const void *)one_f64;
	int64_t lda = max_of(*side == 'L' ? m : n, 1), ldb = max_of(m, 1);
	if (m && n)
		LAPACK("trsm", dtype, side, uplo, trans, diag, &m, &n, one, a, &lda, b, &ldb);
}

struct two aten_triangular_solve(struct aten_tensor *self, struct aten_tensor *A, bool upper, bool transpose, bool unitriangular)
{
	struct batch b = batch_of(self, A);
	matrices_need_rows(self, rows(A), A);
	struct aten_tensor *x = matrices_copied(self, &b, true), *m = matrices_copied(A, &b, true);
	for (int64_t i = 0; i < b.n; i++)
		solve_triangle(x->dtype, "L", upper ? "U" : "L", transpose ? "T" : "N", unitriangular ? "U" : "N", rows(x), cols(x),
			       matrix_at(m, &b, i), matrix_at(x, &b, i));
	return (struct two){x, m};
}

/* A X = B, or X A = B */
void run_linalg_solve_triangular(struct aten_call *c)
{
	struct aten_tensor *a = named_tensor(c, "self"), *rhs = named_tensor(c, "B");
	bool left = named_bool(c, "left", true), upper = named_bool(c, "upper", false);
	struct batch b = batch_of(a, rhs);
	matrices_need_square(a);
	if ((left ? rows(rhs) : cols(rhs)) != rows(a))
		aten_fail("incompatible shapes of A and B");
	struct aten_tensor *m = matrices_copied(a, &b, true), *x = matrices_copied(rhs, &b, true);
	for (int64_t i = 0; i < b.n; i++)
		solve_triangle(x->dtype, left ? "L" : "R", upper ? "U" : "L", "N", named_bool(c, "unitriangular", false) ? "U" : "N",
			       rows(x), cols(x), matrix_at(m, &b, i), matrix_at(x, &b, i));
	call_give(c, 0, x);
}

/* ---- Cholesky: A = L L^H, or U^H U ---- */

struct aten_tensor *aten_cholesky_solve(struct aten_tensor *self, struct aten_tensor *input2, int32_t upper)
{
	struct batch b = batch_of(self, input2);
	matrices_need_rows(self, rows(input2), input2);
	struct aten_tensor *x = matrices_copied(self, &b, true), *l = matrices_copied(input2, &b, true);
	int64_t n = rows(x), k = cols(x), ld = max_of(n, 1);
	for (int64_t i = 0; i < b.n && n && k; i++) {
		int64_t info = 0;
		LAPACK("potrs", x->dtype, upper ? "U" : "L", &n, &k, matrix_at(l, &b, i), &ld, matrix_at(x, &b, i), &ld, &info);
		lapack_check_one(info, "cholesky_solve_cpu", &b, i);
	}
	return x;
}

struct aten_tensor *aten_cholesky_inverse(struct aten_tensor *self, int32_t upper)
{
	matrices_need_square(self);
	struct batch b = batch_of(self, NULL);
	struct aten_tensor *x = matrices_copied(self, &b, true);
	int64_t n = rows(x), bytes = elem_bytes(x->dtype);
	for (int64_t i = 0; i < b.n && n; i++) {
		int64_t info = 0;
		char *p = matrix_at(x, &b, i);
		LAPACK("potri", x->dtype, upper ? "U" : "L", &n, p, &n, &info);
		lapack_check_one(info, "cholesky_inverse", &b, i);
		for (int64_t r = 0; r < n; r++)
			for (int64_t k = 0; k < r; k++) { /* the triangle that it did not write */
				char *low = p + (k * n + r) * bytes, *high = p + (r * n + k) * bytes;
				memcpy(upper ? low : high, upper ? high : low, (size_t)bytes);
				numbers_conjugate(x->dtype, upper ? low : high, 1);
			}
	}
	return x;
}

static struct aten_tensor *cholesky(struct aten_tensor *a, bool upper, struct aten_tensor *info, bool check, const char *api)
{
	matrices_need_square(a);
	struct batch b = batch_of(a, NULL);
	struct aten_tensor *out = matrices_copied(a, &b, true);
	int64_t n = rows(a), ld = max_of(n, 1);
	matrices_keep_triangle(out, &b, upper);
	for (int64_t i = 0; i < b.n; i++) {
		int64_t bad = 0;
		if (n)
			LAPACK("potrf", a->dtype, upper ? "U" : "L", &n, matrix_at(out, &b, i), &ld, &bad);
		lapack_set_info(info, &b, i, bad, check, api);
	}
	return out;
}

void run_linalg_cholesky_ex(struct aten_call *c)
{
	struct aten_tensor *a = named_tensor(c, "self");
	struct batch b = batch_of(a, NULL);
	struct aten_tensor *info = numbers_new(DTYPE_I32, &b);
	call_give(c, 0, cholesky(a, named_bool(c, "upper", false), info, named_bool(c, "check_errors", false), "linalg.cholesky"));
	call_give(c, 1, info);
}

void run_cholesky(struct aten_call *c)
{
	struct aten_tensor *a = named_tensor(c, "self");
	struct batch b = batch_of(a, NULL);
	call_give(c, 0, cholesky(a, named_bool(c, "upper", false), numbers_new(DTYPE_I32, &b), true, "cholesky"));
}

/* ---- Bunch and Kaufman: A = L D L^T of symmetric, or L D L^H of Hermitian matrices ---- */

void run_linalg_ldl_factor_ex(struct aten_call *c)
{
	struct aten_tensor *a = named_tensor(c, "self");
	const char *name = named_bool(c, "hermitian", false) && elem_complex(a->dtype) ? "hetrf" : "sytrf";
	matrices_need_square(a);
	struct batch b = batch_of(a, NULL);
	int64_t n = rows(a), ld = max_of(n, 1), *pivot = work_ints(n);
	struct aten_tensor *out = matrices_copied(a, &b, true), *pivots = vectors_new(DTYPE_I32, &b, n),
			   *infos = numbers_new(DTYPE_I32, &b);
	struct work w;
	work_ask(&w);
	matrices_keep_triangle(out, &b, false);
	for (int64_t i = 0; i < b.n; i += !n || work_ready(&w, a->dtype, n)) {
		int64_t info = 0;
		if (n)
			LAPACK(name, a->dtype, "L", &n, matrix_at(out, &b, i), &ld, pivot, w.p, &w.n, &info);
		lapack_set_info(infos, &b, i, info, named_bool(c, "check_errors", false), "torch.linalg.ldl_factor_ex");
		for (int64_t k = 0; k < n; k++)
			((int32_t *)matrix_at(pivots, &b, i))[k] = (int32_t)lapack_int(pivot, k);
	}
	call_give(c, 0, out);
	call_give(c, 1, pivots);
	call_give(c, 2, infos);
}

void run_linalg_ldl_solve(struct aten_call *c)
{
	struct aten_tensor *ld = named_tensor(c, "LD"), *pivots = named_tensor(c, "pivots"), *rhs = named_tensor(c, "B");
	const char *name = named_bool(c, "hermitian", false) && elem_complex(ld->dtype) ? "hetrs" : "sytrs";
	struct batch b = batch_of(ld, rhs);
	matrices_need_rows(rhs, rows(ld), ld);
	int64_t n = rows(ld), k = cols(rhs), lead = max_of(n, 1), *pivot = work_ints(n);
	pivots_need_of(pivots, ld, n);
	struct aten_tensor *x = matrices_copied(rhs, &b, true), *m = matrices_copied(ld, &b, true), *p = vectors_new(DTYPE_I32, &b, n);
	aten_copy(p, pivots);
	for (int64_t i = 0; i < b.n && n && k; i++) {
		int64_t info = 0;
		for (int64_t j = 0; j < n; j++) {
			int32_t v = ((int32_t *)matrix_at(p, &b, i))[j];
			if (!v || v > n || v < -n)
				aten_fail("invalid pivot %d for a matrix of %lld rows", v, (long long)n);
			lapack_set_int(pivot, j, v);
		}
		LAPACK(name, x->dtype, "L", &n, &k, matrix_at(m, &b, i), &lead, pivot, matrix_at(x, &b, i), &lead, &info);
	}
	call_give(c, 0, x);
}
