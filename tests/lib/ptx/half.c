/* Arithmetic on f16, bf16 and pairs of them (PTX ISA 8.x, 9.7.4). It is done in double and rounded once: products of
 * two are exact there, and of a sum it is kept whether something was lost. */
#include <math.h>

#include "in.h"

static int of(const struct ptx_op *op) { return op->type == F16 || op->type == F16X2 ? F16 : BF16; }
static bool pair(const struct ptx_op *op) { return op->type == F16X2 || op->type == BF16X2; }

/* a + b to odd: when it is not exact the lowest bit is 1, so that rounding it again is rounding once. */
static double sum_to_odd(double a, double b)
{
	double s = a + b, back = s - a, lost = (a - (s - back)) + (b - back);
	uint64_t bits = ptx_f64_bits(s);
	if (lost == 0 || !isfinite(s) || bits & 1)
		return s;
	return ptx_f64((lost > 0) == (s > 0) ? bits + 1 : bits - 1);
}

static double flushed(const struct ptx_op *op, double v) { return op->ftz && of(op) == F16 && fabs(v) < 0x1p-14 ? copysign(0, v) : v; }

static double in(const struct ptx_op *op, uint64_t bits) { return flushed(op, ptx_number(bits & 0xffff, of(op))); }

static uint64_t done(const struct ptx_op *op, double v)
{
	uint64_t bits;
	if (op->sat)
		v = v > 0 ? (v < 1 ? v : 1) : 0;
	if (op->relu && v < 0)
		v = 0;
	bits = ptx_bits(v, of(op));
	return op->ftz && of(op) == F16 && !(bits & 0x7c00) ? bits & 0x8000 : bits;
}

#define SMALL(name, n, expr) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		EACH(l) \
		{ \
			uint64_t out = 0; \
			for (unsigned i = 0; i < (pair(op) ? 32 : 16); i += 16) { \
				double a = in(op, COL(1)[l] >> i), b = (n) > 1 ? in(op, COL(2)[l] >> i) : 0; \
				double c = (n) > 2 ? in(op, COL(3)[l] >> i) : 0; \
				(void)b, (void)c; \
				out |= done(op, expr) << i; \
			} \
			COL(0)[l] = out; \
		} \
	}
static double lower(double a, double b) { return a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? a : b; }
static double upper(double a, double b) { return a != a ? b : b != b ? a : a > b || (a == b && !signbit(a)) ? a : b; }
SMALL(add, 2, sum_to_odd(a, b))
SMALL(sub, 2, sum_to_odd(a, -b))
SMALL(mul, 2, a *b)
SMALL(fma_, 3, sum_to_odd(a *b, c))
SMALL(min, 2, lower(a, b))
SMALL(max, 2, upper(a, b))
SMALL(min_nan, 2, a != a || b != b ? NAN : lower(a, b))
SMALL(max_nan, 2, a != a || b != b ? NAN : upper(a, b))

static void neg(struct ptx_warp *w, const struct ptx_op *op)
{
	EACH(l)
	COL(0)[l] = COL(1)[l] ^ (pair(op) ? 0x80008000 : 0x8000);
}

static void abs_(struct ptx_warp *w, const struct ptx_op *op)
{
	EACH(l)
	COL(0)[l] = COL(1)[l] & (pair(op) ? 0x7fff7fff : 0x7fff);
}

/* add.rn.f32.f16 d, a, c: one of another kind and an f32 */
#define MIXED(name, type, expr) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		EACH(l) \
		{ \
			float a = (float)ptx_number(COL(1)[l] & 0xffff, type), b = ptx_f32(COL(2)[l]); \
			COL(0)[l] = ptx_f32_bits(expr); \
		} \
	}
MIXED(add_f32_f16, F16, a + b)
MIXED(sub_f32_f16, F16, a - b)
MIXED(add_f32_bf16, BF16, a + b)
MIXED(sub_f32_bf16, BF16, a - b)

#define FN_H(name) [F16] = name, [F16X2] = name
#define FN_B(name) [BF16] = name, [BF16X2] = name

/* Rounding is to the nearest here, the only one that these have; "rz" does not decode. */
const struct ptx_form ptx_half_forms[] = {
    {"add", 3, M_ROUND | M_FTZ | M_SAT, {FN_H(add)}},
    {"sub", 3, M_ROUND | M_FTZ | M_SAT, {FN_H(sub)}},
    {"mul", 3, M_ROUND | M_FTZ | M_SAT, {FN_H(mul)}},
    {"fma", 4, M_ROUND | M_FTZ | M_SAT | M_RELU, {FN_H(fma_)}},
    {"add", 3, M_ROUND, {[BF16] = add, [BF16X2] = add}},
    {"sub", 3, M_ROUND, {[BF16] = sub, [BF16X2] = sub}},
    {"mul", 3, M_ROUND, {[BF16] = mul, [BF16X2] = mul}},
    {"fma", 4, M_ROUND | M_RELU, {[BF16] = fma_, [BF16X2] = fma_}},
    {"min", 3, M_FTZ, {FN_H(min)}},
    {"max", 3, M_FTZ, {FN_H(max)}},
    {"min.NaN", 3, M_FTZ, {FN_H(min_nan)}},
    {"max.NaN", 3, M_FTZ, {FN_H(max_nan)}},
    {"min", 3, 0, {FN_B(min)}},
    {"max", 3, 0, {FN_B(max)}},
    {"min.NaN", 3, 0, {FN_B(min_nan)}},
    {"max.NaN", 3, 0, {FN_B(max_nan)}},
    {"neg", 2, 0, {FN_H(neg), FN_B(neg)}},
    {"abs", 2, 0, {FN_H(abs_), FN_B(abs_)}},
    {"add", 3, M_ROUND | M_TWO_TYPES, {[F16] = add_f32_f16, [BF16] = add_f32_bf16}},
    {"sub", 3, M_ROUND | M_TWO_TYPES, {[F16] = sub_f32_f16, [BF16] = sub_f32_bf16}},
    {0},
};
