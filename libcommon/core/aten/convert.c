/* Conversions between dtypes, copies between layouts. Conversions are those of C, as in torch (c10/util/TypeCast.h): a float becomes an
 * unsigned integer via a signed one, anything but 0 is true. */
#include "aten.h"

#include <math.h>

float aten_half_to_float(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = (h >> 10) & 31, m = h & 1023;
	union {
		uint32_t u;
		float f;
	} x;
	if (e == 31)
		x.u = sign | 0x7f800000 | m << 13;
	else if (e)
		x.u = sign | (e + 112) << 23 | m << 13;
	else {
		x.f = (float)m * 0x1p-24f;
		x.u |= sign;
	}
	return x.f;
}

uint16_t aten_float_to_half(float f)
{
	union {
		float f;
		uint32_t u;
	} x = {.f = f};
	uint16_t sign = (uint16_t)(x.u >> 16 & 0x8000);
	uint32_t a = x.u & 0x7fffffff;
	if (a > 0x7f800000)
		return sign | 0x7e00;
	if (a >= 0x477ff000) /* 65520: rounds to infinity */
		return sign | 0x7c00;
	if (a < 0x38800000) { /* subnormal: adding a half aligns and rounds the bits */
		x.u = a;
		x.f += 0.5f;
		return sign | (uint16_t)(x.u - 0x3f000000);
	}
	a += 0xfff + (a >> 13 & 1);
	return sign | (uint16_t)((a - 0x38000000) >> 13);
}

uint16_t aten_float_to_bf16(float f)
{
	union {
		float f;
		uint32_t u;
	} x = {.f = f};
	if (f != f)
		return 0x7fc0;
	return (uint16_t)((x.u + 0x7fff + (x.u >> 16 & 1)) >> 16);
}

/* ---- eight bits (torch/headeronly/util/Float8_*.h) ---- */

struct mini {
	int dtype, exponent, mantissa, bias;
	bool infinite; /* has infinities, and NaNs beside them */
	bool fnuz;     /* 0x80 is the only NaN, there is no -0 */
};
static const struct mini mini[] = {
    {DTYPE_F8E5M2, 5, 2, 15, true, false},
    {DTYPE_F8E4M3FN, 4, 3, 7, false, false},
    {DTYPE_F8E5M2FNUZ, 5, 2, 16, false, true},
    {DTYPE_F8E4M3FNUZ, 4, 3, 8, false, true},
};

static float mini_to_float(const struct mini *k, uint8_t v)
{
	int e = v >> k->mantissa & ((1 << k->exponent) - 1), m = v & ((1 << k->mantissa) - 1);
	float sign = v & 0x80 ? -1.0f : 1.0f;
	if (k->fnuz ? v == 0x80 : k->infinite ? e == 31 && m : (v & 0x7f) == 0x7f)
		return NAN;
	if (k->infinite && e == 31)
		return sign * INFINITY;
	return sign * ldexpf((float)(e ? m + (1 << k->mantissa) : m), (e ? e : 1) - k->bias - k->mantissa);
}

static uint8_t mini_of_float(const struct mini *k, float f)
{
	uint8_t sign = signbit(f) ? 0x80 : 0;
	uint8_t none = k->fnuz ? 0x80 : sign | (k->infinite ? 0x7e | 1 : 0x7f);
	uint8_t beyond = k->infinite ? sign | 0x7c : k->fnuz ? none : sign | 0x7e; /* e4m3fn saturates (since torch 2.13) */
	if (f != f)
		return none;
	f = fabsf(f);
	if (!f)
		return k->fnuz ? 0 : sign;
	if (isinf(f))
		return beyond;
	int e;
	frexpf(f, &e);
	e = e - 1 + k->bias;
	if (e < 1)
		e = 1;
	/* In units of the last place; a carry moves on into the exponent by itself. */
	uint32_t m = (uint32_t)nearbyintf(ldexpf(f, k->mantissa - (e - k->bias)));
	uint32_t bits = m < 1u << k->mantissa ? m : ((uint32_t)e << k->mantissa) + m - (1u << k->mantissa);
	uint32_t most = k->infinite ? 0x7b : k->fnuz ? 0x7f : 0x7e;
	if (bits > most)
		return beyond;
	return bits || !k->fnuz ? (uint8_t)(sign | bits) : 0;
}

/* ---- any to any, one at a time ---- */

struct value {
	enum { INTEGER, UNSIGNED, REAL } kind;
	int64_t i; /* of UNSIGNED: its bits */
	double re, im;
};

static const struct mini *mini_of(int dtype)
{
	for (size_t i = 0; i < ARRAY_LEN(mini); i++)
		if (mini[i].dtype == dtype)
			return &mini[i];
	return NULL;
}

#define AS(type, p) \
	(__extension__({ \
		type v_; \
		memcpy(&v_, (p), sizeof(v_)); \
		v_; \
	}))

static struct value load_element(int dtype, const void *p)
{
	const struct mini *k;
#define INT(type) \
	(struct value) { INTEGER, (int64_t)AS(type, p), 0, 0 }
#define FLOAT(x, y) \
	(struct value) { REAL, 0, (x), (y) }
	switch (dtype) {
	case DTYPE_U8:
	case DTYPE_QU8: return INT(uint8_t);
	case DTYPE_I8:
	case DTYPE_QI8: return INT(int8_t);
	case DTYPE_I16: return INT(int16_t);
	case DTYPE_U16: return INT(uint16_t);
	case DTYPE_I32:
	case DTYPE_QI32: return INT(int32_t);
	case DTYPE_U32: return INT(uint32_t);
	case DTYPE_I64: return INT(int64_t);
	case DTYPE_U64: return (struct value){UNSIGNED, AS(int64_t, p), 0, 0};
	case DTYPE_BOOL: return (struct value){INTEGER, *(const uint8_t *)p != 0, 0, 0};
	case DTYPE_F16: return FLOAT((double)aten_half_to_float(AS(uint16_t, p)), 0);
	case DTYPE_BF16: return FLOAT((double)aten_bf16_to_float(AS(uint16_t, p)), 0);
	case DTYPE_F32: return FLOAT((double)AS(float, p), 0);
	case DTYPE_F64: return FLOAT(AS(double, p), 0);
	case DTYPE_C32:
		return FLOAT((double)aten_half_to_float(AS(uint16_t, p)), (double)aten_half_to_float(AS(uint16_t, (const char *)p + 2)));
	case DTYPE_C64: return FLOAT((double)AS(float, p), (double)AS(float, (const char *)p + 4));
	case DTYPE_C128: return FLOAT(AS(double, p), AS(double, (const char *)p + 8));
	case DTYPE_F8E8M0FNU: return FLOAT(*(const uint8_t *)p == 255 ? (double)NAN : ldexp(1, *(const uint8_t *)p - 127), 0);
	default: break;
	}
	k = mini_of(dtype);
	if (!k)
		aten_fail("conversion from %s is not supported", dtype_name(dtype));
	return FLOAT((double)mini_to_float(k, *(const uint8_t *)p), 0);
}

static int64_t to_i64(struct value v)
{
	return v.kind != REAL ? v.i : v.re >= -0x1p63 && v.re < 0x1p63 ? (int64_t)v.re : INT64_MIN; /* as x86 converts */
}
static double to_f64(struct value v) { return v.kind == REAL ? v.re : v.kind == UNSIGNED ? (double)(uint64_t)v.i : (double)v.i; }
static float to_f32(struct value v) { return v.kind == REAL ? (float)v.re : v.kind == UNSIGNED ? (float)(uint64_t)v.i : (float)v.i; }

#define PUT(type, x) \
	do { \
		type v_ = (type)(x); \
		memcpy(p, &v_, sizeof(v_)); \
	} while (0)

static void store_element(int dtype, void *p, struct value v)
{
	const struct mini *k;
	switch (dtype) {
	case DTYPE_U8:
	case DTYPE_I8:
	case DTYPE_QU8:
	case DTYPE_QI8: PUT(uint8_t, to_i64(v)); return;
	case DTYPE_I16:
	case DTYPE_U16: PUT(uint16_t, to_i64(v)); return;
	case DTYPE_I32:
	case DTYPE_U32:
	case DTYPE_QI32: PUT(uint32_t, to_i64(v)); return;
	case DTYPE_I64: PUT(int64_t, to_i64(v)); return;
	case DTYPE_U64: PUT(uint64_t, v.kind == REAL && v.re >= 0x1p63 && v.re < 0x1p64 ? (uint64_t)v.re : (uint64_t)to_i64(v)); return;
	case DTYPE_BOOL: PUT(uint8_t, v.kind == REAL ? v.re != 0 || v.im != 0 : v.i != 0); return;
	case DTYPE_F16: PUT(uint16_t, aten_float_to_half(to_f32(v))); return;
	case DTYPE_BF16: PUT(uint16_t, aten_float_to_bf16(to_f32(v))); return;
	case DTYPE_F32: PUT(float, to_f32(v)); return;
	case DTYPE_F64: PUT(double, to_f64(v)); return;
	case DTYPE_C32: {
		uint16_t c[2] = {aten_float_to_half(to_f32(v)), aten_float_to_half((float)v.im)};
		memcpy(p, c, sizeof(c));
		return;
	}
	case DTYPE_C64: {
		float c[2] = {to_f32(v), (float)v.im};
		memcpy(p, c, sizeof(c));
		return;
	}
	case DTYPE_C128: {
		double c[2] = {to_f64(v), v.im};
		memcpy(p, c, sizeof(c));
		return;
	}
	default: break;
	}
	k = mini_of(dtype);
	if (!k)
		aten_fail("conversion to %s is not supported", dtype_name(dtype));
	*(uint8_t *)p = mini_of_float(k, to_f32(v));
}

/* ---- the common pairs, in loops a compiler can vectorize ---- */

typedef void loop(char *d, int64_t ds, const char *s, int64_t ss, int64_t n);

#define MOVE(type) \
	static void move_##type(char *d, int64_t ds, const char *s, int64_t ss, int64_t n) \
	{ \
		if (ds == sizeof(type) && ss == ds) { \
			memmove(d, s, (size_t)n * sizeof(type)); \
			return; \
		} \
		for (int64_t i = 0; i < n; i++) \
			memcpy(d + i * ds, s + i * ss, sizeof(type)); \
	}
struct sixteen {
	uint64_t v[2];
};
typedef struct sixteen u128;
MOVE(uint8_t)
MOVE(uint16_t)
MOVE(uint32_t)
MOVE(uint64_t)
MOVE(u128)

#define SAME(x) (x)
#define LOOP(name, from, to, how) \
	static void name(char *d, int64_t ds, const char *s, int64_t ss, int64_t n) \
	{ \
		if (ds == sizeof(to) && ss == sizeof(from)) { \
			for (int64_t i = 0; i < n; i++) { \
				to v = (to)how(AS(from, s + i * (int64_t)sizeof(from))); \
				memcpy(d + i * (int64_t)sizeof(to), &v, sizeof(v)); \
			} \
			return; \
		} \
		for (int64_t i = 0; i < n; i++) { \
			to v = (to)how(AS(from, s + i * ss)); \
			memcpy(d + i * ds, &v, sizeof(v)); \
		} \
	}
LOOP(bf16_f32, uint16_t, float, aten_bf16_to_float)
LOOP(f32_bf16, float, uint16_t, aten_float_to_bf16)
LOOP(f16_f32, uint16_t, float, aten_half_to_float)
LOOP(f32_f16, float, uint16_t, aten_float_to_half)
LOOP(f32_f64, float, double, SAME)
LOOP(f64_f32, double, float, SAME)
LOOP(bf16_f64, uint16_t, double, (double)aten_bf16_to_float)
LOOP(f16_f64, uint16_t, double, (double)aten_half_to_float)
LOOP(i64_f32, int64_t, float, SAME)
LOOP(i64_f64, int64_t, double, SAME)
LOOP(i32_f32, int32_t, float, SAME)
LOOP(i32_f64, int32_t, double, SAME)
LOOP(i32_i64, int32_t, int64_t, SAME)
LOOP(i64_i32, int64_t, uint32_t, SAME)
LOOP(u8_f32, uint8_t, float, SAME)
LOOP(i8_f32, int8_t, float, SAME)

static const struct {
	int from, to;
	loop *run;
} fast[] = {
    {DTYPE_BF16, DTYPE_F32, bf16_f32}, {DTYPE_F32, DTYPE_BF16, f32_bf16}, {DTYPE_F16, DTYPE_F32, f16_f32},
    {DTYPE_F32, DTYPE_F16, f32_f16},   {DTYPE_F32, DTYPE_F64, f32_f64},   {DTYPE_F64, DTYPE_F32, f64_f32},
    {DTYPE_BF16, DTYPE_F64, bf16_f64}, {DTYPE_F16, DTYPE_F64, f16_f64},   {DTYPE_I64, DTYPE_F32, i64_f32},
    {DTYPE_I64, DTYPE_F64, i64_f64},   {DTYPE_I32, DTYPE_F32, i32_f32},   {DTYPE_I32, DTYPE_F64, i32_f64},
    {DTYPE_I32, DTYPE_I64, i32_i64},   {DTYPE_I64, DTYPE_I32, i64_i32},   {DTYPE_U8, DTYPE_F32, u8_f32},
    {DTYPE_I8, DTYPE_F32, i8_f32},
};

static loop *fast_loop(int to, int from)
{
	if (to == from)
		switch (dtype_info(to)->bytes) {
		case 1: return move_uint8_t;
		case 2: return move_uint16_t;
		case 4: return move_uint32_t;
		case 8: return move_uint64_t;
		default: return move_u128;
		}
	for (size_t i = 0; i < ARRAY_LEN(fast); i++)
		if (fast[i].from == from && fast[i].to == to)
			return fast[i].run;
	return NULL;
}

void aten_convert(int to, void *dst, int64_t ds, int from, const void *src, int64_t ss, int64_t n)
{
	loop *f = n ? fast_loop(to, from) : NULL; /* without elements there may be no memory either */
	if (f) {
		f(dst, ds, src, ss, n);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		store_element(to, (char *)dst + i * ds, load_element(from, (const char *)src + i * ss));
}

/* ---- whole tensors ---- */

/* The loop's dimensions, outermost first, bytes; contiguous memory is one dimension. */
struct runs {
	int n_dim;
	int64_t size[ATEN_DIMS], d[ATEN_DIMS], s[ATEN_DIMS];
};

static void runs_add(struct runs *w, int64_t size, int64_t d, int64_t s)
{
	int i = w->n_dim - 1;
	if (size == 1)
		return;
	if (i >= 0 && w->d[i] == d * size && w->s[i] == s * size) {
		w->size[i] *= size;
		w->d[i] = d;
		w->s[i] = s;
		return;
	}
	w->size[++i] = size;
	w->d[i] = d;
	w->s[i] = s;
	w->n_dim++;
}

/* In the destination's memory order. */
static void runs_make(struct runs *w, const struct aten_tensor *dst, const struct aten_tensor *src)
{
	int perm[ATEN_DIMS], db = dtype_info(dst->dtype)->bytes, sb = dtype_info(src->dtype)->bytes, shift = dst->n_dim - src->n_dim;
	for (int i = 0; i < dst->n_dim; i++) {
		int j = i;
		for (; j && dst->stride[perm[j - 1]] < dst->stride[i]; j--)
			perm[j] = perm[j - 1];
		perm[j] = i;
	}
	w->n_dim = 0;
	for (int k = 0; k < dst->n_dim; k++) {
		int i = perm[k], j = i - shift;
		runs_add(w, dst->size[i], dst->stride[i] * db, j < 0 || src->size[j] == 1 ? 0 : src->stride[j] * sb);
	}
}

static void runs_copy(const struct runs *w, int to, char *d, int from, const char *s)
{
	int64_t at[ATEN_DIMS] = {0}, inner = w->n_dim ? w->size[w->n_dim - 1] : 1;
	int64_t ds = w->n_dim ? w->d[w->n_dim - 1] : 0, ss = w->n_dim ? w->s[w->n_dim - 1] : 0;
	for (;;) {
		aten_convert(to, d, ds, from, s, ss, inner);
		int i = w->n_dim - 2;
		for (; i >= 0; i--) {
			d += w->d[i];
			s += w->s[i];
			if (++at[i] < w->size[i])
				break;
			d -= w->d[i] * w->size[i];
			s -= w->s[i] * w->size[i];
			at[i] = 0;
		}
		if (i < 0)
			return;
	}
}

/* Do they share a storage, with their elements at different positions? x.copy_(x.t()), too, begins at the same address. */
static bool may_overlap(const struct aten_tensor *a, const struct aten_tensor *b)
{
	size_t n = (size_t)a->n_dim * sizeof(*a->size);
	return a->storage == b->storage && (a->offset != b->offset || a->dtype != b->dtype || a->n_dim != b->n_dim ||
					    memcmp(a->size, b->size, n) || memcmp(a->stride, b->stride, n));
}

void aten_copy(struct aten_tensor *dst, const struct aten_tensor *src)
{
	struct runs w;
	int shift = dst->n_dim - src->n_dim;
	for (int i = 0; i < src->n_dim; i++)
		if (i + shift < 0 ? src->size[i] != 1 : src->size[i] != 1 && src->size[i] != dst->size[i + shift])
			aten_fail("size %lld at dimension %d cannot be expanded to %lld", (long long)src->size[i], i,
				  i + shift < 0 ? 1 : (long long)dst->size[i + shift]);
	if (!aten_numel(dst) || !aten_computes())
		return;
	if (may_overlap(dst, src)) { /* via a copy */
		struct aten_tensor *c = aten_new(src->dtype, src->n_dim, src->size, NULL);
		aten_copy(c, src);
		src = c;
	}
	runs_make(&w, dst, src);
	runs_copy(&w, dst->dtype, aten_data(dst), src->dtype, aten_data(src));
}
