/* Conversions (PTX ISA 8.x, 9.7.9, cvt), and numbers of 16 bits. */
#include <math.h>

#include "in.h"

/* ---- small formats: sign, exponent, fraction ---- */

double ptx_from_small(uint16_t bits, int e_bits, int f_bits)
{
	int e = bits >> f_bits & ((1 << e_bits) - 1), f = bits & ((1 << f_bits) - 1), bias = (1 << (e_bits - 1)) - 1;
	double v = e == (1 << e_bits) - 1 ? (f ? (double)NAN : (double)INFINITY)
		   : e                    ? ldexp((1 << f_bits) + f, e - bias - f_bits)
					  : ldexp(f, 1 - bias - f_bits);
	return bits >> (e_bits + f_bits) & 1 ? -v : v;
}

/* v as a whole number of the format's units, rounded. */
static double rounded(double v, int rounding)
{
	return rounding == RN ? nearbyint(v) : rounding == RZ ? trunc(v) : rounding == RM ? floor(v) : ceil(v);
}

uint16_t ptx_to_small(double v, int e_bits, int f_bits, int rounding, bool saturate)
{
	int bias = (1 << (e_bits - 1)) - 1, e;
	uint16_t sign = (uint16_t)(signbit(v) ? 1u << (e_bits + f_bits) : 0), inf = (uint16_t)(((1u << e_bits) - 1) << f_bits);
	if (v != v)
		return 0x7fff;
	if (isinf(v))
		return saturate ? (uint16_t)(sign | (inf - 1)) : (uint16_t)(sign | inf);
	frexp(v, &e); /* v = f * 2^e, f from 1/2 on */
	int unit = (e - 1 < 1 - bias ? 1 - bias : e - 1) - f_bits;
	double units = fabs(rounded(ldexp(v, -unit), rounding));
	/* Units are exact, and one more than fit is the next exponent's first. */
	uint64_t n = (uint64_t)units;
	uint64_t bits = n < 1ull << f_bits ? n : ((uint64_t)(unit + f_bits + bias) << f_bits) + (n - (1ull << f_bits));
	if (bits >= inf) {
		bool down = saturate || rounding == RZ || (rounding == RM && !sign) || (rounding == RP && sign);
		bits = down ? inf - 1u : inf;
	}
	return (uint16_t)(sign | bits);
}

double ptx_number(uint64_t bits, int type)
{
	return type == F32   ? (double)ptx_f32(bits)
	       : type == F64 ? ptx_f64(bits)
	       : type == F16 ? ptx_from_small((uint16_t)bits, 5, 10)
			     : ptx_from_small((uint16_t)bits, 8, 7);
}

uint64_t ptx_bits(double v, int type)
{
	return type == F32   ? ptx_f32_bits((float)v)
	       : type == F64 ? ptx_f64_bits(v)
	       : type == F16 ? ptx_to_small(v, 5, 10, RN, false)
			     : ptx_to_small(v, 8, 7, RN, false);
}

/* ---- to f32 ---- */

/* The neighbours of what rounding to the nearest gives say what the other directions do. */
static float directed(float near, int above, int rounding)
{
	/* above: the exact value against near */
	bool negative = near < 0 || (near == 0 && above < 0);
	int up = rounding == RP ? 1 : rounding == RM ? 0 : rounding == RZ ? negative : -1;
	if (up < 0 || !above)
		return near;
	if (up && above > 0)
		return nextafterf(near, INFINITY);
	if (!up && above < 0)
		return nextafterf(near, -INFINITY);
	return near;
}

static float f32_of(double v, int rounding)
{
	float near = (float)v;
	return v != v ? near : directed(near, v > (double)near ? 1 : v < (double)near ? -1 : 0, rounding);
}

static float f32_of_int(__int128 v, int rounding)
{
	float near = (float)v;
	__int128 back = (__int128)near;
	return directed(near, v > back ? 1 : v < back ? -1 : 0, rounding);
}

static double f64_of_int(__int128 v, int rounding)
{
	double near = (double)v;
	__int128 back = (__int128)near;
	if (back == v || rounding == RN)
		return near;
	bool up = rounding == RP || (rounding == RZ && v < 0);
	return up && v > back ? nextafter(near, INFINITY) : !up && v < back ? nextafter(near, -INFINITY) : near;
}

/* ---- cvt ---- */

struct range {
	__int128 low, high;
};

static struct range range_of(int type)
{
	unsigned bits = 8 * ptx_type_bytes(type);
	__int128 one = 1;
	return ptx_is_signed(type) ? (struct range){-(one << (bits - 1)), (one << (bits - 1)) - 1} : (struct range){0, (one << bits) - 1};
}

static __int128 clamped(__int128 v, int type)
{
	struct range r = range_of(type);
	return v < r.low ? r.low : v > r.high ? r.high : v;
}

/* Integers fill the register that they go into with their sign. */
static __int128 whole(uint64_t bits, int type)
{
	unsigned shift = 64 - 8 * ptx_type_bytes(type);
	return ptx_is_signed(type) ? (__int128)((int64_t)(bits << shift) >> shift) : (__int128)(bits << shift >> shift);
}

static uint64_t int_to_int(const struct ptx_op *op, uint64_t a)
{
	__int128 v = whole(a, op->type2);
	return op->sat ? (uint64_t)clamped(v, op->type) : (uint64_t)whole((uint64_t)v, op->type);
}

static uint64_t float_to_int(const struct ptx_op *op, double v)
{
	if (v != v)
		return 0;
	v = rounded(v, op->rounding);
	struct range r = range_of(op->type);
	return (uint64_t)(v <= (double)r.low ? r.low : v >= (double)r.high ? r.high : clamped((__int128)v, op->type));
}

static uint64_t small_of(const struct ptx_op *op, double v)
{
	if (op->sat)
		v = v > 0 ? (v < 1 ? v : 1) : 0;
	if (op->relu && v < 0)
		v = 0;
	return op->type == F16 ? ptx_to_small(v, 5, 10, op->rounding, false) : ptx_to_small(v, 8, 7, op->rounding, false);
}

static uint64_t int_to_float(const struct ptx_op *op, uint64_t a)
{
	__int128 v = whole(a, op->type2);
	if (op->type == F64)
		return ptx_f64_bits(f64_of_int(v, op->rounding));
	if (op->type == F32)
		return ptx_f32_bits(f32_of_int(v, op->rounding));
	/* 53 bits and one that says that more are there: rounded once */
	double d = f64_of_int(v, RZ);
	if ((__int128)d != v)
		d = ptx_f64(ptx_f64_bits(d) | 1);
	return small_of(op, d);
}

static uint64_t float_to_float(const struct ptx_op *op, uint64_t a)
{
	double v = ptx_number(a, op->type2);
	if (op->ftz && op->type2 == F32)
		v = (double)ptx_flush((float)v);
	if (op->integral)
		v = rounded(v, op->rounding);
	if (op->type == F16 || op->type == BF16)
		return small_of(op, v);
	if (op->sat)
		v = v > 0 ? (v < 1 ? v : 1) : 0;
	if (op->type == F64)
		return ptx_f64_bits(v);
	float f = op->integral ? (float)v : f32_of(v, op->rounding);
	return ptx_f32_bits(op->ftz ? ptx_flush(f) : f);
}

void ptx_cvt(struct ptx_warp *w, const struct ptx_op *op)
{
	bool to_float = ptx_is_float(op->type), from_float = ptx_is_float(op->type2);
	EACH(l)
	{
		uint64_t a = COL(1)[l];
		COL(0)
		[l] = from_float && to_float ? float_to_float(op, a)
		      : from_float
			  ? float_to_int(op, op->ftz && op->type2 == F32 ? (double)ptx_flush(ptx_f32(a)) : ptx_number(a, op->type2))
		      : to_float ? int_to_float(op, a)
				 : int_to_int(op, a);
		COL(0)[l] &= op->mask;
	}
}

/* cvt.rn.f16x2.f32 d, a, b: a goes into the upper half */
void ptx_cvt_pair(struct ptx_warp *w, const struct ptx_op *op)
{
	struct ptx_op one = *op;
	one.type = op->type == F16X2 ? F16 : BF16;
	EACH(l)
	{
		uint64_t high = small_of(&one, (double)ptx_f32(COL(1)[l])), low = small_of(&one, (double)ptx_f32(COL(2)[l]));
		COL(0)[l] = high << 16 | low;
	}
}
