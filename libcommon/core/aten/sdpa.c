/* Attention: softmax(scale * q k^T + mask) v, some rows of one head at a time; in float32 for 16-bit operands.
 *
 * Shapes and strides are those of torch 2.13's _scaled_dot_product_flash_attention_for_cpu: the output is empty_like(query), logsumexp [B,
 * H, L] is stored as [B, L, H] (aten/src/ATen/native/transformers/attention.cpp). Causal means key <= query from the top left. A fully
 * masked row gives zeros. Unlike torch's kernel, which gives zeros for some rows with a NaN, the result is NaN. */
#include "cpu.h"
#include "blas.h"
#include "call.h"
#include "elem.h"
#include "ops.h"
#include "mat.h"

#include <math.h>

enum { ROWS = 32, LANES = 8 };

struct head {
	int64_t from, rows, keys, padded, d;
	bool causal;
	double scale, *sums;
	struct mat mask; /* of these rows */
	char *mask_row;  /* scratch */
};

/* ---- exp ---- */

typedef float vec __attribute__((vector_size(4 * LANES)));
typedef int32_t ivec __attribute__((vector_size(4 * LANES)));

/* exp(x) for x <= 0, to about one unit in the last place: 2^n times the series of e^r, |r| <= ln(2)/2. */
#define EXP_ROW_F32(name, attributes) \
	attributes static float name(float *s, int64_t n, float max) \
	{ \
		vec sum = {0}; \
		for (int64_t i = 0; i < n; i += LANES) { \
			vec x, t, r, p; \
			memcpy(&x, s + i, sizeof(x)); \
			x -= max; \
			ivec tiny = x < -87.0f; \
			x = (vec)(((ivec)x & ~tiny) | ((ivec)(x * 0 - 87.0f) & tiny)); \
			t = x * 1.44269504f + 12582912.0f; /* to the nearest integer */ \
			ivec e = (ivec)t << 23; \
			t -= 12582912.0f; \
			r = x - t * 0.693145752f - t * 1.42860677e-6f; \
			p = r * (1.0f / 5040) + 1.0f / 720; \
			p = p * r + 1.0f / 120; \
			p = p * r + 1.0f / 24; \
			p = p * r + 1.0f / 6; \
			p = p * r + 0.5f; \
			p = p * r * r + r + 1.0f; \
			p = (vec)(((ivec)p + e) & ~tiny); \
			sum += p; \
			memcpy(s + i, &p, sizeof(p)); \
		} \
		double all = 0; \
		for (int k = 0; k < LANES; k++) \
			all += (double)sum[k]; \
		return (float)all; \
	}
EXP_ROW_F32(exp_row_any, )
EXP_ROW_F32(exp_row_avx2, CPU_AVX2)

static float exp_row_f32(float *s, int64_t n, float max)
{
	if (cpu_has_avx2())
		return exp_row_avx2(s, n, max);
	return exp_row_any(s, n, max);
}

static double exp_row_f64(double *s, int64_t n, double max)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += s[i] = exp(s[i] - max);
	return sum;
}

/* ---- one head ---- */

static void add_mask(const struct head *h, int64_t keys, char *scores, int dtype)
{
	int64_t each = elem_bytes(h->mask.dtype), out = elem_bytes(dtype);
	for (int64_t i = 0; i < h->rows; i++) {
		aten_convert(dtype, h->mask_row, out, h->mask.dtype, h->mask.data + i * h->mask.row_stride * each,
			     h->mask.col_stride * each, keys);
		char *row = scores + i * h->padded * out;
		for (int64_t j = 0; j < keys; j++)
			if (dtype == DTYPE_F64) {
				double m = ((double *)h->mask_row)[j];
				((double *)row)[j] = h->mask.dtype != DTYPE_BOOL ? ((double *)row)[j] + m
						     : m != 0                    ? ((double *)row)[j]
										 : -INFINITY;
			} else {
				float m = ((float *)h->mask_row)[j];
				((float *)row)[j] = h->mask.dtype != DTYPE_BOOL ? ((float *)row)[j] + m
						    : m != 0                    ? ((float *)row)[j]
										: -INFINITY;
			}
	}
}

#define T float
#define NAME(x) x##_f32
#define GEMM aten_gemm_f32
#define EXP_ROW exp_row_f32
#include "sdpa_loops.h"
#define T double
#define NAME(x) x##_f64
#define GEMM aten_gemm_f64
#define EXP_ROW exp_row_f64
#include "sdpa_loops.h"

/* ---- the op ---- */

struct attention {
	struct aten_tensor *q, *k, *v, *mask, *out, *lse;
	int work;
	char *kbuf, *vbuf, *qbuf, *obuf, *scores, *lsebuf;
};

static void need_fit(bool ok, const char *what)
{
	if (!ok)
		aten_fail("scaled_dot_product_attention_flash_attention: %s", what);
}

static void check_operands(const struct aten_tensor *q, const struct aten_tensor *k, const struct aten_tensor *v,
			   const struct aten_tensor *mask, double dropout_p)
{
	need_fit(q->n_dim == 4 && k->n_dim == 4 && v->n_dim == 4, "Accept only 4 dims inputs shape of {B, H, T, K}");
	need_fit(elem_floating(q->dtype) && q->dtype == k->dtype && q->dtype == v->dtype,
		 "Expected data type in FP32, FP64, BF16, FP16, but got others or different ones");
	need_fit(q->size[3] == k->size[3] && q->size[3] == v->size[3], "Q/K/V should have the same head size");
	need_fit(k->size[0] == q->size[0] && v->size[0] == q->size[0] && v->size[1] == k->size[1] && v->size[2] == k->size[2] &&
		     (q->size[1] == k->size[1] || (k->size[1] && q->size[1] % k->size[1] == 0)),
		 "batches, heads or keys do not match");
	need_fit(dropout_p == 0, "Currently do not support dropout > 0");
	if (!mask)
		return;
	need_fit(mask->n_dim == 2 || mask->n_dim == 4, "Attention mask dim in {2, 4}");
	int64_t want[4] = {q->size[0], q->size[1], q->size[2], k->size[2]};
	for (int i = 0; i < mask->n_dim; i++)
		need_fit(mask->size[i] == 1 || mask->size[i] == want[4 - mask->n_dim + i], "the mask cannot be expanded");
}

/* [L, D] of one batch and head; b < 0: the tensor has two dims. Dims of 1 are broadcast. */
static struct mat head_of(const struct aten_tensor *t, int64_t b, int64_t h, int64_t from)
{
	int n = t->n_dim;
	struct mat m = {aten_data(t), t->dtype, t->size[n - 2], t->size[n - 1], t->stride[n - 2], t->stride[n - 1]};
	int64_t at = (m.rows > 1 ? from : 0) * m.row_stride;
	if (n == 4)
		at += (t->size[0] > 1 ? b : 0) * t->stride[0] + (t->size[1] > 1 ? h : 0) * t->stride[1];
	m.data += at * elem_bytes(t->dtype);
	return m;
}

/* As rows of the working dtype: in place, or copied to buf. */
static struct mat rows_of(struct mat m, int work, char *buf)
{
	if (m.dtype == work && (m.col_stride == 1 || m.cols == 1) && (m.row_stride >= m.cols || m.rows == 1)) {
		if (m.rows == 1)
			m.row_stride = m.cols;
		return m;
	}
	struct mat c = {buf, work, m.rows, m.cols, m.cols, 1};
	mat_copy(c, m);
	return c;
}

static void one_head(const struct attention *a, struct head *h, int64_t b, int64_t n)
{
	int64_t len = a->q->size[2], kv = n / (a->q->size[1] / a->k->size[1]);
	struct mat k = rows_of(head_of(a->k, b, kv, 0), a->work, a->kbuf), v = rows_of(head_of(a->v, b, kv, 0), a->work, a->vbuf);

	for (h->from = 0; h->from < len; h->from += ROWS) {
		h->rows = len - h->from < ROWS ? len - h->from : ROWS;
		struct mat q = head_of(a->q, b, n, h->from), out = head_of(a->out, b, n, h->from), o;
		q.rows = out.rows = h->rows;
		q = rows_of(q, a->work, a->qbuf);
		o = (struct mat){a->obuf, a->work, h->rows, h->d, h->d, 1};
		if (a->mask) {
			h->mask = head_of(a->mask, b, n, h->from);
			if (h->mask.rows == 1)
				h->mask.row_stride = 0;
			if (h->mask.cols == 1)
				h->mask.col_stride = 0;
		}
		if (a->work == DTYPE_F64)
			attend_f64(h, (double *)q.data, q.row_stride, (double *)k.data, k.row_stride, (double *)v.data, v.row_stride,
				   (double *)a->scores, (double *)o.data, h->d, (double *)a->lsebuf);
		else
			attend_f32(h, (float *)q.data, q.row_stride, (float *)k.data, k.row_stride, (float *)v.data, v.row_stride,
				   (float *)a->scores, (float *)o.data, h->d, (float *)a->lsebuf);
		mat_copy(out, o);
		struct aten_tensor *l = a->lse;
		int64_t at = b * l->stride[0] + n * l->stride[1] + h->from * l->stride[2], each = elem_bytes(a->work);
		aten_convert(a->work, aten_data(l) + at * each, l->stride[2] * each, a->work, a->lsebuf, each, h->rows);
	}
}

static void attention(struct attention *a, bool causal, const double *scale)
{
	int64_t batch = a->q->size[0], heads = a->q->size[1], len = a->q->size[2], keys = a->k->size[2], d = a->q->size[3];
	int64_t lse_size[3] = {batch, heads, len}, lse_stride[3] = {len * heads, 1, heads};
	uint64_t each;

	a->work = a->q->dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
	each = (uint64_t)elem_bytes(a->work);
	a->out = aten_like(a->q, a->q->dtype);
	a->lse = aten_new(a->work, 3, lse_size, lse_stride);
	if (!aten_computes())
		return;
	if (!aten_numel(a->out) || !keys) {
		aten_fill_zero(a->out);
		aten_fill_zero(a->lse);
		return;
	}
	struct head h = {.keys = keys,
			 .padded = (keys + LANES - 1) / LANES * LANES,
			 .d = d,
			 .causal = causal,
			 .scale = scale ? *scale : 1 / sqrt((double)d)};
	a->kbuf = aten_scratch((uint64_t)(keys * d), each);
	a->vbuf = aten_scratch((uint64_t)(keys * d), each);
	a->qbuf = aten_scratch((uint64_t)(ROWS * d), each);
	a->obuf = aten_scratch((uint64_t)(ROWS * d), each);
	a->scores = aten_scratch((uint64_t)(ROWS * h.padded), each);
	a->lsebuf = aten_scratch(ROWS, each);
	h.mask_row = aten_scratch((uint64_t)h.padded, each);
	h.sums = aten_scratch(ROWS, sizeof(double));
	for (int64_t b = 0; b < batch; b++)
		for (int64_t n = 0; n < heads; n++)
			one_head(a, &h, b, n);
}

struct two aten_flash_attention(struct aten_tensor *query, struct aten_tensor *key, struct aten_tensor *value, double dropout_p,
				bool is_causal, struct aten_tensor *attn_mask, const double *scale)
{
	struct attention a = {.q = query, .k = key, .v = value, .mask = attn_mask};
	check_operands(query, key, value, a.mask, dropout_p);
	attention(&a, is_causal, scale);
	return (struct two){a.out, a.lse};
}
