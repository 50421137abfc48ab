#include "tensor/close.h"

#include "tensor/stats_part.h"

#include <math.h>

void close_tolerance(int dtype_a, int dtype_b, double *rtol, double *atol)
{
	static const struct {
		int dtype;
		double rtol, atol;
	} table[] = {
	    {DTYPE_F16, 1e-3, 1e-5},   {DTYPE_BF16, 1.6e-2, 1e-5}, {DTYPE_F32, 1.3e-6, 1e-5}, {DTYPE_F64, 1e-7, 1e-7},
	    {DTYPE_C32, 1e-3, 1e-5},   {DTYPE_C64, 1.3e-6, 1e-5},  {DTYPE_C128, 1e-7, 1e-7},  {DTYPE_QU8, 1.3e-6, 1e-5},
	    {DTYPE_QI8, 1.3e-6, 1e-5}, {DTYPE_QI32, 1.3e-6, 1e-5},
	};
	*rtol = *atol = 0;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].dtype == dtype_a || table[i].dtype == dtype_b) {
			*rtol = fmax(*rtol, table[i].rtol);
			*atol = fmax(*atol, table[i].atol);
		}
}

/* ---- elements ---- */

struct tensor_number tensor_load(int dtype, const char *p)
{
	union {
		uint16_t h[2];
		uint32_t w;
		uint64_t q;
		float f[2];
		double d[2];
	} u;
	const struct dtype_info *info = dtype_info(dtype);
	if (info->bytes > 1)
		memcpy(&u, p, (size_t)info->bytes);
	switch (dtype) {
	case DTYPE_F16: return (struct tensor_number){stats_f16(u.h[0]), 0};
	case DTYPE_BF16: return (struct tensor_number){stats_bf16(u.h[0]), 0};
	case DTYPE_F32: return (struct tensor_number){(double)u.f[0], 0};
	case DTYPE_F64: return (struct tensor_number){u.d[0], 0};
	case DTYPE_I16: return (struct tensor_number){(int16_t)u.h[0], 0};
	case DTYPE_U16: return (struct tensor_number){u.h[0], 0};
	case DTYPE_I32: return (struct tensor_number){(int32_t)u.w, 0};
	case DTYPE_U32: return (struct tensor_number){u.w, 0};
	case DTYPE_I64: return (struct tensor_number){(double)(int64_t)u.q, 0};
	case DTYPE_U64: return (struct tensor_number){(double)u.q, 0};
	case DTYPE_C32: return (struct tensor_number){stats_f16(u.h[0]), stats_f16(u.h[1])};
	case DTYPE_BC32: return (struct tensor_number){stats_bf16(u.h[0]), stats_bf16(u.h[1])};
	case DTYPE_C64: return (struct tensor_number){(double)u.f[0], (double)u.f[1]};
	case DTYPE_C128: return (struct tensor_number){u.d[0], u.d[1]};
	default: return (struct tensor_number){stats_byte(dtype, (uint8_t)*p), 0};
	}
}

static bool has_numbers(int dtype)
{
	switch (dtype) {
	case DTYPE_QI8:
	case DTYPE_QU8:
	case DTYPE_QI32:
	case DTYPE_F4E2M1FN_X2: return false;
	default: return dtype_info(dtype) != NULL;
	}
}

static bool is_complex(int dtype) { return dtype == DTYPE_C32 || dtype == DTYPE_BC32 || dtype == DTYPE_C64 || dtype == DTYPE_C128; }
static bool is_wide(int dtype) { return dtype == DTYPE_I64 || dtype == DTYPE_U64; }

struct pairing {
	const struct tensor_meta *ma, *mb;
	struct close_options o;
	struct tensor_close *out;
	bool complex, wide; /* wide: both are integers of 64 bits */
	double square_diff, square, sum;
	uint64_t finite;
};

/* The difference of two 64-bit integers as a double: 0 only when they are equal. */
static double wide_difference(const struct pairing *p, const char *a, const char *b)
{
	__extension__ typedef __int128 wide;
	uint64_t x, y;
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	wide left = p->ma->dtype == DTYPE_U64 ? (wide)x : (wide)(int64_t)x;
	wide right = p->mb->dtype == DTYPE_U64 ? (wide)y : (wide)(int64_t)y;
	return fabs((double)(left - right));
}

static void differs(struct tensor_close *c, int64_t i, double ratio, double a, double b)
{
	if (ratio > 1) {
		c->bad++;
		if (c->first_bad < 0)
			c->first_bad = i;
	}
	if (ratio > c->worst || c->worst_at < 0) {
		c->worst = ratio;
		c->worst_at = i;
		c->a = a;
		c->b = b;
	}
}

static void element(struct pairing *p, int64_t i, const char *pa, const char *pb)
{
	struct tensor_close *c = p->out;
	struct tensor_number x = tensor_load(p->ma->dtype, pa), y = tensor_load(p->mb->dtype, pb);
	double a = x.re, b = y.re, d;
	bool same = x.re == y.re && x.im == y.im;
	if (p->complex) {
		a = hypot(x.re, x.im);
		b = hypot(y.re, y.im);
		d = hypot(x.re - y.re, x.im - y.im);
		if (isnan(x.re) || isnan(x.im)) /* hypot(inf, nan) is inf */
			a = NAN;
		if (isnan(y.re) || isnan(y.im))
			b = NAN;
	} else if (p->wide) {
		d = wide_difference(p, pa, pb);
		same = d == 0;
	} else {
		d = fabs(a - b);
	}
	if (!isfinite(a) || !isfinite(b)) {
		if (!same && !(isnan(a) && isnan(b) && !p->o.nan_differs)) {
			differs(c, i, INFINITY, a, b);
			c->not_finite++;
		}
		return;
	}
	p->square += a * a;
	p->sum += a;
	p->finite++;
	if (same)
		return;
	p->square_diff += d * d;
	double limit = c->atol + c->rtol * fabs(a);
	c->max_abs = fmax(c->max_abs, d);
	c->max_rel = fmax(c->max_rel, a == 0 ? INFINITY : d / fabs(a));
	differs(c, i, limit > 0 ? d / limit : INFINITY, a, b);
}

/* ---- the walk: row-major over the sizes, each side by its own strides ---- */

static void walk(struct pairing *p, const char *a, const char *b, int64_t n)
{
	const struct tensor_meta *ma = p->ma, *mb = p->mb;
	int64_t wa = dtype_info(ma->dtype)->bytes, wb = dtype_info(mb->dtype)->bytes, index[TENSOR_MAX_DIMS] = {0}, oa = 0, ob = 0;
	for (int64_t i = 0; i < n; i++) {
		element(p, i, a + oa * wa, b + ob * wb);
		for (int d = ma->n_dim - 1; d >= 0; d--) {
			oa += ma->stride[d];
			ob += mb->stride[d];
			if (++index[d] < ma->size[d])
				break;
			oa -= ma->stride[d] * ma->size[d];
			ob -= mb->stride[d] * mb->size[d];
			index[d] = 0;
		}
	}
}

/* Packed or quantized types are non-numeric here: the bytes must be the same. */
static void bytes_only(const struct tensor_meta *ma, const void *a, const struct tensor_meta *mb, const void *b, struct tensor_close *out)
{
	int64_t na = 0, nb = 0;
	out->bad = !tensor_extent(ma, &na) || !tensor_extent(mb, &nb) || na != nb || !dtype_info(ma->dtype) || !dtype_info(mb->dtype) ||
		   (na && memcmp(a, b, (size_t)na));
	out->worst = out->bad ? INFINITY : 0;
}

void tensor_close(const struct tensor_meta *ma, const void *a, const struct tensor_meta *mb, const void *b, struct close_options o,
		  struct tensor_close *out)
{
	int64_t n = 0;
	*out = (struct tensor_close){.worst_at = -1, .first_bad = -1};
	out->dtype_differs = ma->dtype != mb->dtype && !o.any_dtype;
	out->sizes_differ = !tensor_same_sizes(ma, mb) || !tensor_numel(ma, &n);
	out->known = has_numbers(ma->dtype) && has_numbers(mb->dtype);
	if (o.given) {
		out->rtol = o.rtol;
		out->atol = o.atol;
	} else {
		close_tolerance(ma->dtype, mb->dtype, &out->rtol, &out->atol);
	}
	if (out->sizes_differ)
		return;
	out->n = (uint64_t)n;
	struct pairing p = {.ma = ma, .mb = mb, .o = o, .out = out};
	p.complex = is_complex(ma->dtype) || is_complex(mb->dtype);
	p.wide = is_wide(ma->dtype) && is_wide(mb->dtype);
	if (!out->known)
		bytes_only(ma, a, mb, b, out);
	else
		walk(&p, a, b, n);
	out->rms = p.square > 0 ? sqrt(p.square_diff / p.square) : p.square_diff > 0 ? INFINITY : 0;
	if (p.finite) {
		double mean = p.sum / (double)p.finite;
		out->scale = sqrt(p.square / (double)p.finite);
		out->spread = sqrt(fmax(p.square / (double)p.finite - mean * mean, 0));
	}
	out->same = !out->bad && !out->dtype_differs;
}
