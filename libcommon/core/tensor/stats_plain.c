/* Statistics of a block without vector instructions, and the values of single elements. */
#include "tensor/stats_part.h"

/* Built from bits, so that nothing rounds and no flag is raised. */
static double from_bits(uint64_t bits)
{
	double d;
	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* A small float of `exp` and `man` bits with this bias, no special values; 2^-1074 is far below all of them. */
static double small_float(unsigned bits, int exp, int man, int bias)
{
	int e = (int)(bits >> man & ((1u << exp) - 1));
	unsigned m = bits & ((1u << man) - 1);
	double scale = from_bits((uint64_t)((e ? e : 1) - bias - man + 1023) << 52);
	double v = (double)(e ? m | 1u << man : m) * scale;
	return bits >> (exp + man) & 1 ? -v : v;
}

double stats_f16(uint16_t bits)
{
	if ((bits & 0x7c00) == 0x7c00)
		return from_bits((uint64_t)(bits & 0x8000) << 48 | 0x7ffull << 52 | (uint64_t)(bits & 0x3ff) << 42);
	return small_float(bits, 5, 10, 15);
}

double stats_bf16(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float f;
	memcpy(&f, &wide, sizeof(f));
	return (double)f;
}

/* Special values: torch/headeronly/util/Float8_*.h of torch 2.13. */
double stats_byte(int dtype, uint8_t b)
{
	const double nan = __builtin_nan("");
	switch (dtype) {
	case DTYPE_U8: return b;
	case DTYPE_I8: return (int8_t)b;
	case DTYPE_BOOL: return b != 0;
	case DTYPE_F8E5M2:
		if ((b & 0x7c) == 0x7c)
			return b & 3 ? nan : b & 0x80 ? -__builtin_inf() : __builtin_inf();
		return small_float(b, 5, 2, 15);
	case DTYPE_F8E4M3FN: return (b & 0x7f) == 0x7f ? nan : small_float(b, 4, 3, 7);
	case DTYPE_F8E5M2FNUZ: return b == 0x80 ? nan : small_float(b, 5, 2, 16);
	case DTYPE_F8E4M3FNUZ: return b == 0x80 ? nan : small_float(b, 4, 3, 8);
	case DTYPE_F8E8M0FNU: return b == 0xff ? nan : from_bits((uint64_t)(b - 127 + 1023) << 52);
	default: return nan;
	}
}

#define LOAD_AS(type) \
	do { \
		type v; \
		memcpy(&v, p, sizeof(v)); \
		return (double)v; \
	} while (0)

double stats_load(enum stats_kind kind, const void *p)
{
	uint16_t h;
	switch (kind) {
	case STATS_F16: memcpy(&h, p, 2); return stats_f16(h);
	case STATS_BF16: memcpy(&h, p, 2); return stats_bf16(h);
	case STATS_F32: LOAD_AS(float);
	case STATS_F64: LOAD_AS(double);
	case STATS_I16: LOAD_AS(int16_t);
	case STATS_U16: LOAD_AS(uint16_t);
	case STATS_I32: LOAD_AS(int32_t);
	case STATS_U32: LOAD_AS(uint32_t);
	case STATS_I64: LOAD_AS(int64_t);
	case STATS_U64: LOAD_AS(uint64_t);
	default: return __builtin_nan("");
	}
}

/* Bits of a kind: NaN and infinities are at or above `inf` without the sign. */
#define PLAIN_BAD(name, type, inf) \
	static bool bad_##name(const void *p, size_t n) \
	{ \
		const type abs = (type) ~((type)1 << (sizeof(type) * 8 - 1)); \
		type v; \
		bool any = false; \
		for (size_t i = 0; i < n; i++) { \
			memcpy(&v, (const char *)p + i * sizeof(type), sizeof(type)); \
			any |= (v & abs) >= (inf); \
		} \
		return any; \
	} \
	static void count_##name(const void *p, size_t n, struct stats_bad *b) \
	{ \
		const type abs = (type) ~((type)1 << (sizeof(type) * 8 - 1)); \
		type v; \
		for (size_t i = 0; i < n; i++) { \
			memcpy(&v, (const char *)p + i * sizeof(type), sizeof(type)); \
			b->nan += (v & abs) > (inf); \
			b->pos += v == (inf); \
			b->neg += v == (type)((inf) | ~abs); \
		} \
	}
PLAIN_BAD(f16, uint16_t, 0x7c00)
PLAIN_BAD(bf16, uint16_t, 0x7f80)
PLAIN_BAD(f32, uint32_t, 0x7f800000u)
PLAIN_BAD(f64, uint64_t, 0x7ffull << 52)

#define PLAIN_ALL(name, kind, size) \
	static bool all_##name(const void *p, size_t n, bool nan, struct stats_sums *s) \
	{ \
		bool bad = false; \
		for (size_t i = 0; i < n; i++) { \
			double v = stats_load(kind, (const char *)p + i * (size)); \
			bad |= !(v - v == 0); /* infinity minus itself is NaN */ \
			s->zero += v == 0; \
			s->min = v < s->min ? v : s->min; \
			s->max = v > s->max ? v : s->max; \
			s->sum += nan && v != v ? 0 : v; \
		} \
		return bad; \
	}
PLAIN_ALL(f16, STATS_F16, 2)
PLAIN_ALL(bf16, STATS_BF16, 2)
PLAIN_ALL(f32, STATS_F32, 4)
PLAIN_ALL(f64, STATS_F64, 8)
PLAIN_ALL(i16, STATS_I16, 2)
PLAIN_ALL(u16, STATS_U16, 2)
PLAIN_ALL(i32, STATS_I32, 4)
PLAIN_ALL(u32, STATS_U32, 4)
PLAIN_ALL(i64, STATS_I64, 8)
PLAIN_ALL(u64, STATS_U64, 8)

const struct stats_kernels stats_plain = {
    .bad = {bad_f16, bad_bf16, bad_f32, bad_f64},
    .count = {count_f16, count_bf16, count_f32, count_f64},
    .all = {all_f16, all_bf16, all_f32, all_f64, all_i16, all_u16, all_i32, all_u32, all_i64, all_u64},
};
