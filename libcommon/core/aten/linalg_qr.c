/* linalg_qr.c - Householder's reflectors. */
#include "linalg_part.h"
#include "ops.h"

/* a [m, n] by columns and tau [k]: R above the diagonal, below it the reflectors' vectors, whose first element is 1. */
static void factor_qr(struct aten_tensor *a, struct aten_tensor *tau, const struct batch *b)
{
	int64_t m = rows(a), n = cols(a), ld = max_of(m, 1), info = 0;
	struct work w;
	work_ask(&w);
	for (int64_t i = 0; i < b->n && m && n; i += work_ready(&w, a->dtype, n))
		LAPACK("geqrf", a->dtype, &m, &n, matrix_at(a, b, i), &ld, matrix_at(tau, b, i), w.p, &w.n, &info);
}

/* The columns of q [m, n] hold k reflectors; they become those of Q = H(1) H(2) ... */
static void make_q(struct aten_tensor *q, struct aten_tensor *tau, int64_t k, const struct batch *b)
{
	const char *name = elem_complex(q->dtype) ? "ungqr" : "orgqr";
	int64_t m = rows(q), n = cols(q), ld = max_of(m, 1), info = 0;
	struct work w;
	work_ask(&w);
	for (int64_t i = 0; i < b->n && m && n; i += work_ready(&w, q->dtype, n))
		LAPACK(name, q->dtype, &m, &n, &k, matrix_at(q, b, i), &ld, matrix_at(tau, b, i), w.p, &w.n, &info);
}

struct two aten_geqrf(struct aten_tensor *self)
{
	struct batch b = batch_of(self, NULL);
	struct aten_tensor *qr = matrices_copied(self, &b, true), *tau = vectors_new(self->dtype, &b, min_of(rows(self), cols(self)));
	factor_qr(qr, tau, &b);
	return (struct two){qr, tau};
}

void run_linalg_householder_product(struct aten_call *c)
{
	struct aten_tensor *a = named_tensor(c, "input"), *tau = named_tensor(c, "tau");
	struct batch b = batch_of(a, NULL);
	vectors_need_of(tau, a, "reflector factors");
	int64_t k = tau->size[tau->n_dim - 1];
	if (rows(a) < cols(a) || k > cols(a) || tau->dtype != a->dtype)
		aten_fail("%lld reflectors are too many for a %lld x %lld matrix", (long long)k, (long long)rows(a), (long long)cols(a));
	struct aten_tensor *q = matrices_copied(a, &b, true);
	make_q(q, aten_contiguous(tau), k, &b);
	call_give(c, 0, q);
}

/* Q c, Q^H c, c Q or c Q^H, with Q = H(1) H(2) ... */
struct aten_tensor *aten_ormqr(struct aten_tensor *self, struct aten_tensor *input2, struct aten_tensor *input3, int32_t left,
			       int32_t transpose)
{
	struct batch b = batch_of(self, input3);
	const char *name = elem_complex(self->dtype) ? "unmqr" : "ormqr";
	int64_t m = rows(input3), n = cols(input3), side = left ? m : n, k = input2->n_dim ? input2->size[input2->n_dim - 1] : 0;
	vectors_need_of(input2, self, "reflector factors");
	if (rows(self) != side || k > cols(self) || k > side || input2->dtype != self->dtype)
		aten_fail("reflectors of %lld rows do not match %lld rows", (long long)rows(self), (long long)side);
	struct aten_tensor *out = matrices_copied(input3, &b, true), *a = matrices_copied(self, &b, true),
			   *tau = vectors_new(self->dtype, &b, k);
	aten_copy(tau, input2);
	int64_t lda = max_of(side, 1), ldc = max_of(m, 1), info = 0;
	struct work w;
	work_ask(&w);
	const char *trans = !transpose ? "N" : elem_complex(self->dtype) ? "C" : "T";
	for (int64_t i = 0; i < b.n && m && n && k; i += work_ready(&w, out->dtype, max_of(m, n)))
		LAPACK(name, out->dtype, left ? "L" : "R", trans, &m, &n, &k, matrix_at(a, &b, i), &lda, matrix_at(tau, &b, i),
		       matrix_at(out, &b, i), &ldc, w.p, &w.n, &info);
	return out;
}

void run_linalg_qr(struct aten_call *c)
{
	struct aten_tensor *a = named_tensor(c, "A");
	struct slice mode = named_string(c, "mode", "reduced");
	struct batch b = batch_of(a, NULL);
	bool complete = slice_is(mode, "complete"), only_r = slice_is(mode, "r");
	int64_t m = rows(a), n = cols(a), k = min_of(m, n), wide = complete ? m : k;
	if (!complete && !only_r && !slice_is(mode, "reduced"))
		aten_fail("qr received unrecognized mode '%.*s'", SLN(mode, 40));
	struct aten_tensor *qr = matrices_copied(a, &b, true), *tau = vectors_new(a->dtype, &b, k), *q = numbers_none(a->dtype);
	struct aten_tensor *r = matrices_new(a->dtype, &b, wide, n, true);
	int64_t bytes = elem_bytes(a->dtype), column = m * bytes;
	factor_qr(qr, tau, &b);
	for (int64_t i = 0; i < b.n; i++)
		for (int64_t x = 0; x < n && m; x++)
			memcpy((char *)matrix_at(r, &b, i) + x * wide * bytes, (char *)matrix_at(qr, &b, i) + x * column,
			       (size_t)(wide * bytes));
	matrices_keep_triangle(r, &b, true);
	if (!only_r) {
		q = matrices_new(a->dtype, &b, m, wide, true);
		aten_fill_zero(q);
		for (int64_t i = 0; i < b.n && k; i++)
			memcpy(matrix_at(q, &b, i), matrix_at(qr, &b, i), (size_t)(k * column));
		make_q(q, tau, k, &b);
	}
	call_give_two(c, (struct two){q, r});
}
