/* Integer arithmetic (PTX ISA 8.x, 9.7.1 and 9.7.2). */
#include "in.h"

typedef unsigned __int128 u128;
typedef __int128 s128;

/* d = expr of a and b as T; U is T without a sign: what is stored has no bits above its type. */
#define ONE(name, T, U, expr) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		uint64_t *d = COL(0); \
		const uint64_t *ra = COL(1); \
		EACH(l) \
		{ \
			T a = (T)ra[l]; \
			d[l] = (U)(expr); \
		} \
	}
#define TWO(name, T, U, expr) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		uint64_t *d = COL(0); \
		const uint64_t *ra = COL(1), *rb = COL(2); \
		EACH(l) \
		{ \
			T a = (T)ra[l], b = (T)rb[l]; \
			d[l] = (U)(expr); \
		} \
	}
/* c as it is in its register */
#define THREE(name, T, U, expr) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		uint64_t *d = COL(0); \
		const uint64_t *ra = COL(1), *rb = COL(2), *rc = COL(3); \
		EACH(l) \
		{ \
			T a = (T)ra[l], b = (T)rb[l]; \
			uint64_t c = rc[l]; \
			d[l] = (U)(expr); \
		} \
	}
#define UNSIGNED(F, name, expr) \
	F(name##_u16, uint16_t, uint16_t, expr) \
	F(name##_u32, uint32_t, uint32_t, expr) F(name##_u64, uint64_t, uint64_t, expr)
#define SIGNED(F, name, expr) \
	F(name##_s16, int16_t, uint16_t, expr) \
	F(name##_s32, int32_t, uint32_t, expr) F(name##_s64, int64_t, uint64_t, expr)
#define BOTH(F, name, expr) UNSIGNED(F, name, expr) SIGNED(F, name, expr)

#define FN_U(name) [U16] = name##_u16, [U32] = name##_u32, [U64] = name##_u64
#define FN_S(name) [S16] = name##_s16, [S32] = name##_s32, [S64] = name##_s64
#define FN_US(name) FN_U(name), FN_S(name)
/* The same bits whatever the sign. */
#define FN_EITHER(name) FN_U(name), [S16] = name##_u16, [S32] = name##_u32, [S64] = name##_u64

UNSIGNED(TWO, add, (uint64_t)a + b)
UNSIGNED(TWO, sub, (uint64_t)a - b)
UNSIGNED(TWO, mul, (uint64_t)a *b)
UNSIGNED(THREE, mad, (uint64_t)a *b + c)
UNSIGNED(ONE, neg, -(uint64_t)a)
BOTH(TWO, min, a < b ? a : b)
BOTH(TWO, max, a > b ? a : b)
SIGNED(ONE, abs, a < 0 ? -(uint64_t)a : (uint64_t)a)

#define MUL_HI(a, b, bits) (((s128)(a) * (s128)(b)) >> (bits))
TWO(mulhi_u16, uint16_t, uint16_t, MUL_HI(a, b, 16))
TWO(mulhi_u32, uint32_t, uint32_t, MUL_HI(a, b, 32))
TWO(mulhi_u64, uint64_t, uint64_t, ((u128)a * b) >> 64)
TWO(mulhi_s16, int16_t, uint16_t, MUL_HI(a, b, 16))
TWO(mulhi_s32, int32_t, uint32_t, MUL_HI(a, b, 32))
TWO(mulhi_s64, int64_t, uint64_t, MUL_HI(a, b, 64))
THREE(madhi_u16, uint16_t, uint16_t, (uint64_t)MUL_HI(a, b, 16) + c)
THREE(madhi_u32, uint32_t, uint32_t, (uint64_t)MUL_HI(a, b, 32) + c)
THREE(madhi_u64, uint64_t, uint64_t, (uint64_t)(((u128)a * b) >> 64) + c)
THREE(madhi_s16, int16_t, uint16_t, (uint64_t)MUL_HI(a, b, 16) + c)
THREE(madhi_s32, int32_t, uint32_t, (uint64_t)MUL_HI(a, b, 32) + c)
THREE(madhi_s64, int64_t, uint64_t, (uint64_t)MUL_HI(a, b, 64) + c)
TWO(mulwide_u16, uint16_t, uint32_t, (uint32_t)a *b)
TWO(mulwide_u32, uint32_t, uint64_t, (uint64_t)a *b)
TWO(mulwide_s16, int16_t, uint32_t, (int32_t)a *b)
TWO(mulwide_s32, int32_t, uint64_t, (int64_t)a *b)
THREE(madwide_u16, uint16_t, uint32_t, (uint64_t)((uint32_t)a *b) + c)
THREE(madwide_u32, uint32_t, uint64_t, (uint64_t)a *b + c)
THREE(madwide_s16, int16_t, uint32_t, (uint64_t)((int64_t)a *b) + c)
THREE(madwide_s32, int32_t, uint64_t, (uint64_t)((int64_t)a *b) + c)

UNSIGNED(TWO, div, b ? a / b : ~(uint64_t)0)
UNSIGNED(TWO, rem, b ? a % b : a)
/* The lowest number has no counterpart. */
SIGNED(TWO, div, !b ? ~(uint64_t)0 : b == -1 ? -(uint64_t)a : (uint64_t)(a / b))
SIGNED(TWO, rem, !b ? (uint64_t)a : b == -1 ? 0 : (uint64_t)(a % b))

/* add.sat.s32, sub.sat.s32, mad.hi.sat.s32 */
static uint32_t clamp32(int64_t v) { return (uint32_t)(int32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v); }
TWO(add_s32, int32_t, uint32_t, op->sat ? clamp32((int64_t)a + b) : (uint32_t)a + (uint32_t)b)
TWO(sub_s32, int32_t, uint32_t, op->sat ? clamp32((int64_t)a - b) : (uint32_t)a - (uint32_t)b)

TWO(mul24_u32, uint32_t, uint32_t, (uint64_t)(a & 0xffffff) * (b & 0xffffff))
TWO(mul24_s32, int32_t, uint32_t, (int64_t)((int32_t)((uint32_t)a << 8) >> 8) * ((int32_t)((uint32_t)b << 8) >> 8))
THREE(sad_u32, uint32_t, uint32_t, (a < b ? b - a : a - b) + c)
THREE(sad_s32, int32_t, uint32_t, (uint64_t)(a < b ? (int64_t)b - a : (int64_t)a - b) + c)

/* ---- shifts: amounts are unsigned 32 bits, what is too far is clamped ---- */

#define SHIFT(name, T, U, bits, expr, far) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		uint64_t *d = COL(0); \
		const uint64_t *ra = COL(1), *rb = COL(2); \
		EACH(l) \
		{ \
			T a = (T)ra[l]; \
			uint32_t b = (uint32_t)rb[l]; \
			d[l] = b >= (bits) ? (U)(far) : (U)(expr); \
		} \
	}
SHIFT(shl_16, uint16_t, uint16_t, 16, (uint32_t)a << b, 0)
SHIFT(shl_32, uint32_t, uint32_t, 32, a << b, 0)
SHIFT(shl_64, uint64_t, uint64_t, 64, a << b, 0)
SHIFT(shr_u16, uint16_t, uint16_t, 16, a >> b, 0)
SHIFT(shr_u32, uint32_t, uint32_t, 32, a >> b, 0)
SHIFT(shr_u64, uint64_t, uint64_t, 64, a >> b, 0)
SHIFT(shr_s16, int16_t, uint16_t, 16, a >> b, a < 0 ? -1 : 0)
SHIFT(shr_s32, int32_t, uint32_t, 32, a >> b, a < 0 ? -1 : 0)
SHIFT(shr_s64, int64_t, uint64_t, 64, a >> b, a < 0 ? -1 : 0)

/* ---- carries ---- */

/* d = a + b + carry, or a - b - carry, with the carry out of it: that of a subtraction is what was borrowed. */
static void carried(struct ptx_warp *w, const struct ptx_op *op, uint32_t l, u128 sum, unsigned bits, bool out)
{
	COL(0)[l] = bits == 64 ? (uint64_t)sum : (uint32_t)sum;
	if (out)
		w->carry = (w->carry & ~(1u << l)) | (uint32_t)(sum >> bits & 1) << l;
}

#define CARRY(name, U, bits, in, out, expr) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		EACH(l) \
		{ \
			u128 a = (U)COL(1)[l], b = (U)COL(2)[l], cin = in ? w->carry >> l & 1 : 0; \
			(void)a, (void)b, (void)cin; \
			carried(w, op, l, expr, bits, out); \
		} \
	}
#define CARRIES(name, expr) \
	CARRY(name##_cc_32, uint32_t, 32, 0, true, expr) \
	CARRY(name##_cc_64, uint64_t, 64, 0, true, expr) \
	CARRY(name##c_32, uint32_t, 32, 1, false, expr) \
	CARRY(name##c_64, uint64_t, 64, 1, false, expr) \
	CARRY(name##c_cc_32, uint32_t, 32, 1, true, expr) \
	CARRY(name##c_cc_64, uint64_t, 64, 1, true, expr)
CARRIES(add, a + b + cin)
CARRIES(sub, a - b - cin)

#define PRODUCT(U, T, shift) (u128)(U)(((s128)(T)COL(1)[l] * (s128)(T)COL(2)[l]) >> (shift))
#define PRODUCT64(hi) (u128)((hi) ? (uint64_t)(((u128)COL(1)[l] * COL(2)[l]) >> 64) : COL(1)[l] * COL(2)[l])
#define MAD_CARRIES(name, product32, product64) \
	CARRY(name##_cc_32, uint32_t, 32, 0, true, product32 + (uint32_t)COL(3)[l]) \
	CARRY(name##_cc_64, uint64_t, 64, 0, true, product64 + COL(3)[l]) \
	CARRY(name##c_32, uint32_t, 32, 1, false, product32 + (uint32_t)COL(3)[l] + cin) \
	CARRY(name##c_64, uint64_t, 64, 1, false, product64 + COL(3)[l] + cin) \
	CARRY(name##c_cc_32, uint32_t, 32, 1, true, product32 + (uint32_t)COL(3)[l] + cin) \
	CARRY(name##c_cc_64, uint64_t, 64, 1, true, product64 + COL(3)[l] + cin)
MAD_CARRIES(madlo, PRODUCT(uint32_t, uint32_t, 0), PRODUCT64(false))
MAD_CARRIES(madhi, PRODUCT(uint32_t, uint32_t, 32), PRODUCT64(true))

#define FN_CARRY(name) [U32] = name##_32, [S32] = name##_32, [B32] = name##_32, [U64] = name##_64, [S64] = name##_64, [B64] = name##_64
#define FN_CARRY_U(name) [U32] = name##_32, [U64] = name##_64

const struct ptx_form ptx_int_forms[] = {
    {"add", 3, 0, {[U16] = add_u16, [U32] = add_u32, [U64] = add_u64, [S16] = add_u16, [S64] = add_u64}},
    {"add", 3, M_SAT, {[S32] = add_s32}},
    {"sub", 3, 0, {[U16] = sub_u16, [U32] = sub_u32, [U64] = sub_u64, [S16] = sub_u16, [S64] = sub_u64}},
    {"sub", 3, M_SAT, {[S32] = sub_s32}},
    {"mul.lo", 3, 0, {FN_EITHER(mul)}},
    {"mul.hi", 3, 0, {FN_US(mulhi)}},
    {"mul.wide", 3, 0, {[U16] = mulwide_u16, [U32] = mulwide_u32, [S16] = mulwide_s16, [S32] = mulwide_s32}},
    {"mad.lo", 4, 0, {FN_EITHER(mad)}},
    {"mad.hi", 4, 0, {FN_US(madhi)}},
    {"mad.wide", 4, 0, {[U16] = madwide_u16, [U32] = madwide_u32, [S16] = madwide_s16, [S32] = madwide_s32}},
    {"mul24.lo", 3, 0, {[U32] = mul24_u32, [S32] = mul24_s32}},
    {"sad", 4, 0, {[U32] = sad_u32, [S32] = sad_s32}},
    {"div", 3, 0, {FN_US(div)}},
    {"rem", 3, 0, {FN_US(rem)}},
    {"neg", 2, 0, {[S16] = neg_u16, [S32] = neg_u32, [S64] = neg_u64}},
    {"abs", 2, 0, {FN_S(abs)}},
    {"min", 3, 0, {FN_US(min)}},
    {"max", 3, 0, {FN_US(max)}},
    {"shl", 3, 0, {[B16] = shl_16, [B32] = shl_32, [B64] = shl_64}},
    {"shr", 3, 0, {FN_US(shr), [B16] = shr_u16, [B32] = shr_u32, [B64] = shr_u64}},
    {"add.cc", 3, 0, {FN_CARRY(add_cc)}},
    {"addc", 3, 0, {FN_CARRY(addc)}},
    {"addc.cc", 3, 0, {FN_CARRY(addc_cc)}},
    {"sub.cc", 3, 0, {FN_CARRY(sub_cc)}},
    {"subc", 3, 0, {FN_CARRY(subc)}},
    {"subc.cc", 3, 0, {FN_CARRY(subc_cc)}},
    {"mad.lo.cc", 4, 0, {FN_CARRY(madlo_cc)}},
    {"madc.lo", 4, 0, {FN_CARRY(madloc)}},
    {"madc.lo.cc", 4, 0, {FN_CARRY(madloc_cc)}},
    {"mad.hi.cc", 4, 0, {FN_CARRY_U(madhi_cc)}},
    {"madc.hi", 4, 0, {FN_CARRY_U(madhic)}},
    {"madc.hi.cc", 4, 0, {FN_CARRY_U(madhic_cc)}},
    {0},
};
