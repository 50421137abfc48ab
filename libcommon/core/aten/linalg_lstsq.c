/* linalg_lstsq.c - least squares, the exponential. */
#include "linalg_part.h"
#include "ops.h"

struct least {
	int dtype;
	int64_t m, n, k, ld; /* A [m, n], B [ld, k] */
	double rcond;
	const char *driver;
};

/* Solves a system; *rank is determined by the driver. */
static int64_t least_squares(const struct least *q, void *a, void *x, void *s, int64_t *rank, struct work *w, void *rwork, int64_t *iwork)
{
	int64_t info = 0, lda = max_of(q->m, 1);
	float r32 = (float)q->rcond;
	const void *rcond = aten_real_of(q->dtype) == DTYPE_F32 ? (const void *)&r32 : (const void *)&q->rcond;
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
	aten_fail("parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
}

/* Squared residuals, below the solution: only of systems that have more rows than columns and full rank. */
static struct aten_tensor *residuals_of(const struct least *q, struct aten_tensor *x, const struct batch *b, bool full_rank)
{
	if (q->m <= q->n || !full_rank || !strcmp(q->driver, "gelsy"))
		return numbers_none(aten_real_of(q->dtype));
	struct aten_tensor *r = vectors_new(aten_real_of(q->dtype), b, q->k);
	for (int64_t i = 0; i < b->n * q->k; i++) {
		double sum = 0;
		for (int64_t row = q->n; row < q->m; row++) {
			double complex v = elem_c128(q->dtype, aten_data(x) + (i * q->ld + row) * elem_bytes(q->dtype));
			sum += creal(v) * creal(v) + cimag(v) * cimag(v);
		}
		elem_set_f64(r->dtype, aten_data(r) + i * elem_bytes(r->dtype), sum);
	}
	return r;
}

void run_linalg_lstsq(struct aten_call *c)
{
	struct aten_tensor *a = named_tensor(c, "self"), *rhs = named_tensor(c, "b");
	matrices_need(a);
	bool vector = rhs->n_dim == a->n_dim - 1;
	if (vector)
		rhs = matrix_of_vector(rhs);
	struct batch b = batch_of(a, rhs);
	struct least q = {
	    .dtype = a->dtype, .m = rows(a), .n = cols(a), .k = cols(rhs), .driver = driver_of(named_string(c, "driver", ""))};
	if (rows(rhs) != q.m)
		aten_fail("input.size(-2) should match other.size(-2)");
	q.ld = max_of(max_of(q.m, q.n), 1);
	q.rcond = named_float(c, "rcond", (aten_real_of(a->dtype) == DTYPE_F32 ? 0x1p-23 : 0x1p-52) * (double)max_of(q.m, q.n));
	bool ranked = strcmp(q.driver, "gels") != 0, valued = !strcmp(q.driver, "gelsd") || !strcmp(q.driver, "gelss"), full = true;
	int64_t least = min_of(q.m, q.n), *iwork = NULL;
	struct aten_tensor *m = matrices_copied(a, &b, true), *x = matrices_new(a->dtype, &b, q.ld, q.k, true);
	struct aten_tensor *ranks = ranked ? numbers_new(DTYPE_I64, &b) : numbers_none(DTYPE_I64);
	struct aten_tensor *s = vectors_new(aten_real_of(a->dtype), &b, least);
	int64_t size[ATEN_DIMS];
	memcpy(size, x->size, sizeof(size));
	size[x->n_dim - 2] = q.m;
	aten_fill_zero(x);
	aten_copy(aten_view(x, x->n_dim, size, x->stride, x->offset), rhs);
	if (!matrices_finite(m))
		aten_fail("torch.linalg.lstsq: A contains infs or NaNs");
	void *rwork = work_reals(a->dtype, 64 * (least + 1) * (least + q.k + 26) + 2 * q.n + 5 * least);
	struct work w;
	work_ask(&w);
	iwork = work_ints(64 * (least + 1) + q.n + 11 * least);
	for (int64_t i = 0; i < b.n && q.m && q.n && q.k; i += work_ready(&w, a->dtype, 1)) {
		int64_t rank,
		    info = least_squares(&q, matrix_at(m, &b, i), matrix_at(x, &b, i), matrix_at(s, &b, i), &rank, &w, rwork, iwork);
		lapack_check_one(info, "torch.linalg.lstsq", &b, i);
		if (!ranked || w.n < 0)
			continue;
		full = full && rank == q.n;
		*(int64_t *)matrix_at(ranks, &b, i) = rank;
	}
	if (!q.m || !q.n || !q.k)
		aten_fill_zero(ranks);
	size[x->n_dim - 2] = q.n;
	call_give(c, 1, residuals_of(&q, x, &b, full));
	call_give(c, 0, aten_view(x, x->n_dim - vector, size, x->stride, x->offset));
	call_give(c, 2, ranks);
	call_give(c, 3, valued ? s : numbers_none(s->dtype));
}

static struct mat scratch_matrix(int dtype, int64_t n)
{
	struct mat m = {aten_scratch((uint64_t)(n * n), (uint64_t)elem_bytes(dtype)), dtype, n, n, n, 1};
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

void run_linalg_matrix_exp(struct aten_call *c)
{
	struct aten_tensor *a = named_tensor(c, "self");
	if (a->dtype == DTYPE_F16 || a->dtype == DTYPE_BF16) {
		struct aten_tensor *r = APPLIED("linalg_matrix_exp", aten_of(aten_to_copy(a, DTYPE_F32, ATEN_PRESERVE)));
		call_give(c, 0, aten_to_copy(r, a->dtype, ATEN_PRESERVE));
		return;
	}
	matrices_need_square(a);
	struct batch b = batch_of(a, NULL);
	struct aten_tensor *out = matrices_new(a->dtype, &b, rows(a), rows(a), false);
	int wide = elem_complex(a->dtype) ? DTYPE_C128 : DTYPE_F64;
	for (int64_t i = 0; i < b.n && rows(a); i++) {
		struct mat m = scratch_matrix(wide, rows(a));
		mat_copy(m, mat_of(a, i));
		mat_copy(mat_of(out, i), exponential(m, scratch_matrix(wide, m.rows), scratch_matrix(wide, m.rows)));
	}
	call_give(c, 0, out);
}
