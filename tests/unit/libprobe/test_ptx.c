/* The PTX interpreter of the fake CUDA driver (tests/lib/ptx.h): instructions against C, exchanges, barriers, faults, text that is no PTX, and the
 * kernels that the probe ships against tensor_stats(). */
#include <fenv.h>
#include <math.h>

#include "../../../libprobe/cuda_layout.c"
#include "../../lib/fakecuda.h"
#include "../../lib/probeptx.h"
#include "../../lib/ptx.h"
#include "../../lib/test.h"
#include "tensor/dtype.h"
#include "tensor/stats.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define BASE 0x700000000000ull

/* One allocation at BASE. */
struct heap {
	char *data;
	size_t n;
};

static bool find(void *user, uint64_t address, struct ptx_range *r)
{
	struct heap *h = user;
	*r = (struct ptx_range){BASE, h->n, h->data};
	return address - BASE < h->n;
}

static struct ptx_module *must_read(const char *text)
{
	struct ptx_error e;
	struct ptx_module *m = ptx_read(text, strlen(text), &e);
	if (!m)
		fail_msg("%s in:\n%s", e.text, text);
	return m;
}

/* Runs the first kernel of the text; its parameters are all 8 bytes. */
static int run(const char *text, struct heap *h, uint32_t grid, uint32_t block, uint32_t shared, const uint64_t *params,
	       struct ptx_launch *out)
{
	struct ptx_module *m = must_read(text);
	struct ptx_launch l = {
	    .grid = {grid, 1, 1}, .block = {block, 1, 1}, .shared = shared, .params = params, .find = find, .user = h, .budget = 50000000};
	int rc = ptx_run(ptx_kernel_at(m, 0), &l);
	if (out)
		*out = l;
	ptx_free(m);
	return rc;
}

/* ---- one instruction, many operands ---- */

static float f32(uint64_t bits)
{
	uint32_t b = (uint32_t)bits;
	float v;
	memcpy(&v, &b, 4);
	return v;
}

static double f64(uint64_t bits)
{
	double v;
	memcpy(&v, &bits, 8);
	return v;
}

static uint64_t of32(float v)
{
	uint32_t b;
	memcpy(&b, &v, 4);
	return v != v ? 0x7fffffff : b;
}

static uint64_t of64(double v)
{
	uint64_t b;
	memcpy(&b, &v, 8);
	return b;
}

static float flush(float v) { return fabsf(v) < 0x1p-126f ? copysignf(0, v) : v; }

/* All finite numbers of 16 bits lie between two neighbours of this table; the nearest one, the even one of two. */
static double small_value(unsigned bits, bool bf16)
{
	unsigned e = bf16 ? bits >> 7 & 255 : bits >> 10 & 31, f = bf16 ? bits & 127 : bits & 1023;
	return bf16 ? (e ? ldexp(128 + f, (int)e - 134) : ldexp(f, -133)) : e ? ldexp(1024 + f, (int)e - 25) : ldexp(f, -24);
}

static uint64_t to_small(double v, bool bf16)
{
	unsigned inf = bf16 ? 0x7f80 : 0x7c00, lo = 0, hi = inf;
	uint64_t sign = signbit(v) ? 0x8000 : 0;
	double a = fabs(v);
	if (v != v)
		return 0x7fff;
	while (hi - lo > 1) { /* lo <= a < hi; infinity stands where the next number would */
		unsigned mid = (lo + hi) / 2;
		if (small_value(mid, bf16) <= a)
			lo = mid;
		else
			hi = mid;
	}
	if (a >= small_value(inf, bf16))
		return sign | inf;
	double below = a - small_value(lo, bf16), above = small_value(hi, bf16) - a;
	return sign | (below < above || (below == above && !(lo & 1)) ? lo : hi);
}

static double from_small(uint64_t bits, bool bf16)
{
	unsigned b = bits & 0x7fff, inf = bf16 ? 0x7f80 : 0x7c00;
	double v = b > inf ? (double)NAN : b == inf ? (double)INFINITY : small_value(b, bf16);
	return bits & 0x8000 ? -v : v;
}

/* Of two numbers; one that is none loses. */
static uint64_t maximum(uint64_t a, uint64_t b)
{
	double x = from_small(a, true), y = from_small(b, true);
	return x != x ? to_small(y, true) : y != y ? a : x == y ? a & b : x > y ? a : b;
}

#ifdef __SIZEOF_FLOAT128__
typedef __float128 wide_float; /* 113 bits */
#else
typedef long double wide_float;
#endif

/* Rounded once: where the double next to the sum would round otherwise, the exact one decides. */
static uint64_t fma_small(uint64_t a, uint64_t b, uint64_t c, bool bf16)
{
	double x = from_small(a, bf16), y = from_small(b, bf16), z = from_small(c, bf16);
	double s = fma(x, y, z), up = nextafter(s, (double)INFINITY), down = nextafter(s, -(double)INFINITY);
	uint64_t below = to_small(down, bf16), at = to_small(s, bf16), above = to_small(up, bf16);
	if (s != s || isinf(s) || (below == at && at == above))
		return at;
	wide_float exact = (wide_float)x * y + z;
	return exact > s ? above : exact < s ? below : at;
}

static float rounded(int mode, float a, float b, float c, int what)
{
	volatile float x = a, y = b, z = c, v;
	fesetround(mode);
	v = what == '+' ? x + y : what == '*' ? x * y : what == '/' ? x / y : what == 'f' ? fmaf(x, y, z) : sqrtf(x);
	fesetround(FE_TONEAREST);
	return v;
}

static uint64_t saturated(double v, double low, double high, uint64_t lowest, uint64_t highest)
{
	return v != v ? 0 : v <= low ? lowest : v >= high ? highest : v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
}

static uint64_t field(uint64_t a, uint64_t pos, uint64_t len, bool is_signed)
{
	uint64_t out = 0;
	pos &= 255;
	len &= 255;
	for (uint64_t i = 0; i < 32; i++) {
		uint64_t from = i < len && pos + i < 32 ? pos + i : len ? (pos + len - 1 < 31 ? pos + len - 1 : 31) : 32;
		if (i < len && pos + i < 32 ? 1 : is_signed && len)
			out |= (from < 32 ? a >> from & 1 : 0) << i;
	}
	return out;
}

#define I32(x) ((int32_t)(x))
#define U32(x) ((uint32_t)(x))
#define I64(x) ((int64_t)(x))

/* name, instruction, bits of operands, bits of the result, and what it is; A, B, C are 64 bits, of which an operand is the lowest */
#define OPS(X) \
	X(add_s32, "add.s32 %d, %a, %b;", 32, 32, U32(A + B)) \
	X(add_sat, "add.sat.s32 %d, %a, %b;", 32, 32, \
	  U32(I64(I32(A)) + I32(B) > INT32_MAX   ? INT32_MAX \
	      : I64(I32(A)) + I32(B) < INT32_MIN ? INT32_MIN \
						 : I32(A) + I32(B))) \
	X(sub_sat, "sub.sat.s32 %d, %a, %b;", 32, 32, \
	  U32(I64(I32(A)) - I32(B) > INT32_MAX   ? INT32_MAX \
	      : I64(I32(A)) - I32(B) < INT32_MIN ? INT32_MIN \
						 : I32(A) - I32(B))) \
	X(add_u16, "add.u16 %d, %a, %b;", 16, 16, (uint16_t)(A + B)) \
	X(sub_s64, "sub.s64 %d, %a, %b;", 64, 64, A - B) \
	X(neg_s32, "neg.s32 %d, %a;", 32, 32, U32(0 - A)) \
	X(abs_s32, "abs.s32 %d, %a;", 32, 32, I32(A) < 0 ? U32(0 - A) : U32(A)) \
	X(mul_lo_s32, "mul.lo.s32 %d, %a, %b;", 32, 32, U32(A) * U32(B)) \
	X(mul_hi_s32, "mul.hi.s32 %d, %a, %b;", 32, 32, U32((I64(I32(A)) * I32(B)) >> 32)) \
	X(mul_hi_u32, "mul.hi.u32 %d, %a, %b;", 32, 32, ((uint64_t)U32(A) * U32(B)) >> 32) \
	X(mul_wide_s32, "mul.wide.s32 %d, %a, %b;", 32, 64, (uint64_t)(I64(I32(A)) * I32(B))) \
	X(mul_wide_u32, "mul.wide.u32 %d, %a, %b;", 32, 64, (uint64_t)U32(A) * U32(B)) \
	X(mul_hi_u64, "mul.hi.u64 %d, %a, %b;", 64, 64, (uint64_t)(((unsigned __int128)A * B) >> 64)) \
	X(mul_hi_s64, "mul.hi.s64 %d, %a, %b;", 64, 64, (uint64_t)(((__int128)I64(A) * I64(B)) >> 64)) \
	X(mad_lo_u32, "mad.lo.u32 %d, %a, %b, %c;", 32, 32, U32(A) * U32(B) + U32(C)) \
	X(mad_hi_u32, "mad.hi.u32 %d, %a, %b, %c;", 32, 32, U32((((uint64_t)U32(A) * U32(B)) >> 32) + C)) \
	X(carry, "{ .reg .b32 %l, %h; add.cc.u32 %l, %a, %b; addc.u32 %h, %a, %c; mov.b64 %d, {%l, %h}; }", 32, 64, \
	  U32(A + B) | (uint64_t)U32(A + C + (((uint64_t)U32(A) + U32(B)) >> 32)) << 32) \
	X(borrow, "{ .reg .b32 %l, %h; sub.cc.u32 %l, %a, %b; subc.u32 %h, %a, %c; mov.b64 %d, {%l, %h}; }", 32, 64, \
	  U32(A - B) | (uint64_t)U32(A - C - (U32(A) < U32(B))) << 32) \
	X(mad_cc, "{ .reg .b32 %l, %h; mad.lo.cc.u32 %l, %a, %b, %c; madc.hi.u32 %h, %a, %b, 0; mov.b64 %d, {%l, %h}; }", 32, 64, \
	  (uint64_t)U32(A) * U32(B) + U32(C)) \
	X(div_s32, "div.s32 %d, %a, %b;", 32, 32, !U32(B) ? UINT32_MAX : I32(B) == -1 ? U32(0 - A) : U32(I32(A) / I32(B))) \
	X(rem_s32, "rem.s32 %d, %a, %b;", 32, 32, !U32(B) ? U32(A) : I32(B) == -1 ? 0 : U32(I32(A) % I32(B))) \
	X(div_s64, "div.s64 %d, %a, %b;", 64, 64, !B ? UINT64_MAX : I64(B) == -1 ? 0 - A : (uint64_t)(I64(A) / I64(B))) \
	X(div_u16, "div.u16 %d, %a, %b;", 16, 16, !(uint16_t)B ? 0xffff : (uint16_t)A / (uint16_t)B) \
	X(min_s16, "min.s16 %d, %a, %b;", 16, 16, (uint16_t)((int16_t)A < (int16_t)B ? A : B)) \
	X(max_u64, "max.u64 %d, %a, %b;", 64, 64, A > B ? A : B) \
	X(shl_b32, "shl.b32 %d, %a, %s;", 32, 32, U32(B) > 31 ? 0 : U32(U32(A) << U32(B))) \
	X(shl_b16, "shl.b16 %d, %a, %s;", 16, 16, U32(B) > 15 ? 0 : (uint16_t)(A << U32(B))) \
	X(shr_s32, "shr.s32 %d, %a, %s;", 32, 32, U32(I32(A) >> (U32(B) > 31 ? 31 : U32(B)))) \
	X(shr_u64, "shr.u64 %d, %a, %s;", 64, 64, U32(B) > 63 ? 0 : A >> U32(B)) \
	X(shf_l, "shf.l.wrap.b32 %d, %a, %b, %c;", 32, 32, U32(C) & 31 ? U32(B << (C & 31)) | U32(A) >> (32 - (C & 31)) : U32(B)) \
	X(shf_r, "shf.r.clamp.b32 %d, %a, %b, %c;", 32, 32, U32(C) >= 32 ? U32(B) : U32((B << 32 | U32(A)) >> U32(C))) \
	X(prmt, "prmt.b32 %d, %a, %b, 0x9630;", 32, 32, \
	  (A & 255) | (A >> 24 & 255) << 8 | (B >> 16 & 255) << 16 | (A & 0x8000 ? 0xff000000 : 0)) \
	X(bfe_u32, "bfe.u32 %d, %a, %b, %c;", 32, 32, field(U32(A), B, C, false)) \
	X(bfe_s32, "bfe.s32 %d, %a, %b, %c;", 32, 32, field(U32(A), B, C, true)) \
	X(bfi, "bfi.b32 %d, %a, %b, 8, 5;", 32, 32, U32((B & ~0x1f00ull) | (A & 31) << 8)) \
	X(lop3, "lop3.b32 %d, %a, %b, %c, 0x1e;", 32, 32, U32(A ^ (B | C))) \
	X(popc, "popc.b64 %r, %a; cvt.u64.u32 %d, %r;", 64, 64, (uint64_t)__builtin_popcountll(A)) \
	X(clz, "clz.b32 %d, %a;", 32, 32, U32(A) ? (uint64_t)__builtin_clz(U32(A)) : 32) \
	X(brev, "brev.b32 %r, %a; brev.b32 %d, %r;", 32, 32, U32(A)) \
	X(setp_lt, "setp.lt.s32 %p, %a, %b; selp.b32 %d, 1, 2, %p;", 32, 32, I32(A) < I32(B) ? 1 : 2) \
	X(setp_hi, "setp.hi.u32 %p, %a, %b; selp.b32 %d, 1, 2, %p;", 32, 32, U32(A) > U32(B) ? 1 : 2) \
	X(setp_and, "setp.ne.s32 %q, %c, 0; setp.ge.and.s32 %p|%t, %a, %b, !%q; selp.b32 %d, 1, 2, %p; @%t add.u32 %d, %d, 8;", 32, 32, \
	  (I32(A) >= I32(B) && !U32(C) ? 1u : 2u) + (I32(A) < I32(B) && !U32(C) ? 8u : 0u)) \
	X(set_u32, "set.lt.u32.s32 %d, %a, %b;", 32, 32, I32(A) < I32(B) ? UINT32_MAX : 0) \
	X(cvt_s8, "cvt.s32.s8 %d, %a;", 32, 32, U32((int8_t)A)) \
	X(cvt_to_s8, "cvt.s8.s32 %d, %a;", 32, 32, U32((int8_t)A)) \
	X(cvt_sat_u8, "cvt.sat.u8.s32 %d, %a;", 32, 32, I32(A) < 0 ? 0 : I32(A) > 255 ? 255 : U32(A)) \
	X(cvt_s64, "cvt.s64.s32 %d, %a;", 32, 64, (uint64_t)I64(I32(A))) \
	X(cvt_u32, "cvt.u32.u64 %d, %a;", 64, 32, U32(A)) \
	X(pack, "{ .reg .b16 %x<4>; mov.b64 {%x0, %x1, %x2, %x3}, %a; mov.b64 %d, {%x3, %x2, %x1, %x0}; }", 64, 64, \
	  A >> 48 | (A >> 32 & 0xffff) << 16 | (A >> 16 & 0xffff) << 32 | A << 48) \
	X(sink, "{ .reg .b32 %y; mov.b64 {_, %y}, %a; mov.b32 %d, %y; }", 64, 32, A >> 32) \
	X(add_f32, "add.f32 %d, %a, %b;", 32, 32, of32(f32(A) + f32(B))) \
	X(add_ftz, "add.ftz.f32 %d, %a, %b;", 32, 32, of32(flush(flush(f32(A)) + flush(f32(B))))) \
	X(add_rz, "add.rz.f32 %d, %a, %b;", 32, 32, of32(rounded(FE_TOWARDZERO, f32(A), f32(B), 0, '+'))) \
	X(mul_rp, "mul.rp.f32 %d, %a, %b;", 32, 32, of32(rounded(FE_UPWARD, f32(A), f32(B), 0, '*'))) \
	X(mul_sat, "mul.sat.f32 %d, %a, %b;", 32, 32, of32(f32(A) * f32(B) >= 1 ? 1 : f32(A) * f32(B) > 0 ? f32(A) * f32(B) : 0)) \
	X(div_rm, "div.rm.f32 %d, %a, %b;", 32, 32, of32(rounded(FE_DOWNWARD, f32(A), f32(B), 0, '/'))) \
	X(fma_rn, "fma.rn.f32 %d, %a, %b, %c;", 32, 32, of32(fmaf(f32(A), f32(B), f32(C)))) \
	X(fma_rz, "fma.rz.f32 %d, %a, %b, %c;", 32, 32, of32(rounded(FE_TOWARDZERO, f32(A), f32(B), f32(C), 'f'))) \
	X(sqrt_rn, "sqrt.rn.f32 %d, %a;", 32, 32, of32(sqrtf(f32(A)))) \
	X(min_f32, "min.f32 %d, %a, %b;", 32, 32, \
	  f32(A) != f32(A)   ? of32(f32(B)) \
	  : f32(B) != f32(B) ? of32(f32(A)) \
			     : of32(f32(A) == f32(B)  ? f32(A | B) \
				    : f32(A) < f32(B) ? f32(A) \
						      : f32(B))) \
	X(max_nan, "max.NaN.f32 %d, %a, %b;", 32, 32, \
	  of32(f32(A) != f32(A) || f32(B) != f32(B) ? NAN \
	       : f32(A) == f32(B)                   ? f32(A & B) \
	       : f32(A) > f32(B)                    ? f32(A) \
						    : f32(B))) \
	X(neg_f32, "neg.f32 %d, %a;", 32, 32, U32(A) ^ 0x80000000) \
	X(abs_ftz, "abs.ftz.f32 %d, %a;", 32, 32, (A & 0x7f800000) ? A & 0x7fffffff : 0) \
	X(copysign, "copysign.f32 %d, %a, %b;", 32, 32, (A & 0x80000000) | (B & 0x7fffffff)) \
	X(setp_ltu, "setp.ltu.f32 %p, %a, %b; selp.b32 %d, 1, 2, %p;", 32, 32, !(f32(A) >= f32(B)) ? 1 : 2) \
	X(setp_ne, "setp.ne.f32 %p, %a, %b; selp.b32 %d, 1, 2, %p;", 32, 32, f32(A) < f32(B) || f32(A) > f32(B) ? 1 : 2) \
	X(setp_nan, "setp.nan.f32 %p, %a, %b; selp.b32 %d, 1, 2, %p;", 32, 32, f32(A) != f32(A) || f32(B) != f32(B) ? 1 : 2) \
	X(testp, "testp.subnormal.f32 %p, %a; selp.b32 %d, 1, 2, %p;", 32, 32, !(A & 0x7f800000) && A & 0x7fffff ? 1 : 2) \
	X(rcp, "rcp.approx.f32 %d, %a;", 32, 32, of32((float)(1 / (double)f32(A)))) \
	X(ex2, "ex2.approx.ftz.f32 %d, %a;", 32, 32, of32(flush((float)exp2((double)flush(f32(A)))))) \
	X(ex2_bf16, "ex2.approx.ftz.bf16 %d, %a;", 16, 16, from_small(A, true) < -126 ? 0 : to_small(exp2(from_small(A, true)), true)) \
	X(tanh_f16, "tanh.approx.f16 %d, %a;", 16, 16, to_small(tanh(from_small(A, false)), false)) \
	X(setp_bf16, "setp.ge.bf16 %p, %a, %b; selp.b16 %d, 1, 2, %p;", 16, 16, from_small(A, true) >= from_small(B, true) ? 1 : 2) \
	X(max_bf16x2, "max.bf16x2 %d, %a, %b;", 32, 32, \
	  maximum(A & 0xffff, B & 0xffff) | maximum(A >> 16 & 0xffff, B >> 16 & 0xffff) << 16) \
	X(fma_f16, "fma.rn.f16 %d, %a, %b, %c;", 16, 16, fma_small(A, B, C, false)) \
	X(fma_bf16, "fma.rn.bf16 %d, %a, %b, %c;", 16, 16, fma_small(A, B, C, true)) \
	X(add_f64, "add.f64 %d, %a, %b;", 64, 64, of64(f64(A) + f64(B))) \
	X(fma_f64, "fma.rn.f64 %d, %a, %b, %c;", 64, 64, of64(fma(f64(A), f64(B), f64(C)))) \
	X(f32x2, "add.rn.f32x2 %d, %a, %b;", 64, 64, of32(f32(A) + f32(B)) | of32(f32(A >> 32) + f32(B >> 32)) << 32) \
	X(add_f16, "add.f16 %d, %a, %b;", 16, 16, to_small(from_small(A, false) + from_small(B, false), false)) \
	X(mul_bf16, "mul.rn.bf16 %d, %a, %b;", 16, 16, to_small(from_small(A, true) * from_small(B, true), true)) \
	X(cvt_f16, "cvt.rn.f16.f32 %d, %a;", 32, 16, to_small((double)f32(A), false)) \
	X(cvt_bf16, "cvt.rn.bf16.f32 %d, %a;", 32, 16, f32(A) != f32(A) ? 0x7fff : (uint16_t)((U32(A) + 0x7fff + (A >> 16 & 1)) >> 16)) \
	X(cvt_pair, "cvt.rn.bf16x2.f32 %d, %a, %b;", 32, 32, to_small((double)f32(A), true) << 16 | to_small((double)f32(B), true)) \
	X(of_f16, "cvt.f32.f16 %d, %a;", 16, 32, of32((float)from_small(A, false))) \
	X(of_bf16, "cvt.f32.bf16 %d, %a;", 16, 32, of32((float)from_small(A, true))) \
	X(cvt_s32, "cvt.rzi.s32.f32 %d, %a;", 32, 32, U32(saturated(truncf(f32(A)), -0x1p31, 0x1p31, (uint64_t)INT32_MIN, INT32_MAX))) \
	X(cvt_rni, "cvt.rni.s32.f32 %d, %a;", 32, 32, U32(saturated(rintf(f32(A)), -0x1p31, 0x1p31, (uint64_t)INT32_MIN, INT32_MAX))) \
	X(cvt_rpi_u32, "cvt.rpi.u32.f32 %d, %a;", 32, 32, U32(saturated(ceilf(f32(A)), 0, 0x1p32, 0, UINT32_MAX))) \
	X(cvt_s64_f64, "cvt.rmi.s64.f64 %d, %a;", 64, 64, saturated(floor(f64(A)), -0x1p63, 0x1p63, (uint64_t)INT64_MIN, INT64_MAX)) \
	X(cvt_u8_f32, "cvt.rzi.u8.f32 %d, %a;", 32, 32, saturated(truncf(f32(A)), 0, 255, 0, 255)) \
	X(cvt_rni_f32, "cvt.rni.f32.f32 %d, %a;", 32, 32, of32(rintf(f32(A)))) \
	X(f32_of_s32, "cvt.rn.f32.s32 %d, %a;", 32, 32, of32((float)I32(A))) \
	X(f32_of_u64, "cvt.rn.f32.u64 %d, %a;", 64, 32, of32((float)A)) \
	X(f32_of_f64, "cvt.rn.f32.f64 %d, %a;", 64, 32, of32((float)f64(A))) \
	X(f64_of_s64, "cvt.rn.f64.s64 %d, %a;", 64, 64, of64((double)I64(A))) \
	X(slct, "slct.b32.s32 %d, %a, %b, %c;", 32, 32, I32(C) >= 0 ? U32(A) : U32(B)) \
	X(decimal, "add.f32 %d, %a, 1.5;", 32, 32, of32(f32(A) + 1.5f)) \
	X(hexadecimal, "mul.f32 %d, %a, 0f40000000;", 32, 32, of32(f32(A) * 2))

#define X(name, text, src, dst, expr) \
	static uint64_t want_##name(uint64_t A, uint64_t B, uint64_t C) \
	{ \
		(void)A, (void)B, (void)C; \
		return expr; \
	}
OPS(X)
#undef X

static const struct {
	const char *name, *text;
	int src, dst;
	uint64_t (*want)(uint64_t, uint64_t, uint64_t);
} ops[] = {
#define X(name, text, src, dst, expr) {#name, text, src, dst, want_##name},
    OPS(X)
#undef X
};

static const uint64_t edges[] = {0, 1, 2, 5, 31, 32, 33, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
				 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
				 /* as f32: 1, 1.5, -2.5, 1/3, smallest and largest subnormal and normal numbers, infinities, NaN */
				 0x3f800000, 0x3fc00000, 0xc0200000, 0x3eaaaaab, 0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000,
				 0x7fc00000, 0xffc00001,
				 /* 2^31, 65504, 65520 (the first that is no f16), halfway between two bf16 */
				 0x4f000000, 0x477fe000, 0x477ff000, 0x3f808000, 0x3f818000,
				 /* f64 */
				 0x3ff8000000000000, 0x7ff0000000000000, 0xfff8000000000000, 0x43e0000000000000, 0x3ff0000010000000,
				 /* f16: 1, the largest, infinity, NaN, subnormal */
				 0x3c00, 0x7bff, 0x7c00, 0xfe00, 0x03ff, 0x123456789abcdef0};
enum { EDGES = ARRAY_LEN(edges), TRIPLES = EDGES * EDGES + 800 };

static void program(struct buf *b, size_t i)
{
	buf_reset(b);
	buf_addf(
	    b,
	    HEAD
	    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 n)\n{\n.reg .pred %%p, %%q, %%t;\n.reg .b%d %%a, %%b, %%c;\n"
	    ".reg .b%d %%d;\n.reg .b32 %%s, %%r, %%i<4>;\n.reg .b64 %%at<8>;\n"
	    "mov.u32 %%i0, %%tid.x; mov.u32 %%i1, %%ctaid.x; mov.u32 %%i2, %%ntid.x; mad.lo.u32 %%i3, %%i1, %%i2, %%i0;\n"
	    "ld.param.u64 %%at0, [in]; ld.param.u64 %%at1, [out]; ld.param.u64 %%at2, [n]; cvt.u64.u32 %%at3, %%i3;\n"
	    "setp.ge.u64 %%p, %%at3, %%at2; @%%p bra END;\n"
	    "mad.lo.u64 %%at4, %%at3, 24, %%at0; mad.lo.u64 %%at5, %%at3, 8, %%at1;\n"
	    "ld.global.b%d %%a, [%%at4]; ld.global.b%d %%b, [%%at4+8]; ld.global.b%d %%c, [%%at4+16]; ld.global.b32 %%s, [%%at4+8];\n"
	    "%s\nst.global.b%d [%%at5], %%d;\nEND: ret;\n}\n",
	    ops[i].src, ops[i].dst, ops[i].src, ops[i].src, ops[i].src, ops[i].text, ops[i].dst);
}

static void test_instructions(void **state)
{
	(void)state;
	uint64_t *in = xcalloc(TRIPLES * 4, 8), *out = in + 3 * TRIPLES, seed = 3;
	struct heap h = {(char *)in, TRIPLES * 4 * 8};
	struct buf b = {0};
	for (size_t i = 0; i < TRIPLES; i++) {
		bool edge = i < EDGES * EDGES;
		in[3 * i] = edge ? edges[i / EDGES] : (uint64_t)random_u32(&seed) << 32 | random_u32(&seed);
		in[3 * i + 1] = edge ? edges[i % EDGES] : (uint64_t)random_u32(&seed) << 32 | random_u32(&seed);
		in[3 * i + 2] = edge ? edges[pick(&seed, EDGES)] : random_u32(&seed);
	}
	for (size_t k = 0; k < ARRAY_LEN(ops); k++) {
		uint64_t params[] = {BASE, BASE + 3 * TRIPLES * 8, TRIPLES},
			 mask = ops[k].dst == 64 ? UINT64_MAX : (1ull << ops[k].dst) - 1;
		memset(out, 0, TRIPLES * 8);
		program(&b, k);
		assert_int_equal(run(buf_str(&b), &h, (TRIPLES + 255) / 256, 256, 0, params, NULL), 0);
		for (size_t i = 0; i < TRIPLES; i++) {
			uint64_t want = ops[k].want(in[3 * i], in[3 * i + 1], in[3 * i + 2]) & mask, got = out[i];
			bool both_nan = ops[k].dst == 64 && strstr(ops[k].text, "f64 %d") && f64(got) != f64(got) && f64(want) != f64(want);
			if (got != want && !both_nan)
				fail_msg("%s of %llx, %llx, %llx: %llx, not %llx", ops[k].name, (unsigned long long)in[3 * i],
					 (unsigned long long)in[3 * i + 1], (unsigned long long)in[3 * i + 2], (unsigned long long)got,
					 (unsigned long long)want);
		}
	}
	buf_release(&b);
	free(in);
}

/* ---- several threads ---- */

#define KERNEL(body) \
	HEAD ".extern .shared .align 16 .b8 dyn[];\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 " \
	     "%d<8>;\n" \
	     ".shared .align 4 .b8 sh[4096];\nld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, " \
	     "%d1;\n" body "\nst.global.u32 [%d1], %r1;\nEND: ret;\n}\n"

static uint32_t out32[1024];

static int threads(const char *text, uint32_t n, uint32_t shared, struct ptx_launch *l)
{
	struct heap h = {(char *)out32, sizeof(out32)};
	uint64_t param = BASE;
	memset(out32, 0, sizeof(out32));
	return run(text, &h, 1, n, shared, &param, l);
}

static void test_exchanges(void **state)
{
	(void)state;
	assert_int_equal(
	    threads(KERNEL("mov.u32 %r1, %r0; mov.u32 %r3, 16;\nL: shfl.sync.bfly.b32 %r2, %r1, %r3, 31, -1; add.u32 %r1, %r1, %r2;\n"
			   "shr.u32 %r3, %r3, 1; setp.ne.u32 %p0, %r3, 0; @%p0 bra L;"),
		    64, 0, NULL),
	    0);
	assert_int_equal(out32[0], 496);
	assert_int_equal(out32[63], 496 + 32 * 32);
	assert_int_equal(threads(KERNEL("shfl.sync.up.b32 %r1|%p0, %r0, 3, 0, -1; @!%p0 mov.u32 %r1, 99;"), 32, 0, NULL), 0);
	assert_int_equal(out32[2], 99);
	assert_int_equal(out32[3], 0);
	assert_int_equal(out32[31], 28);
	/* Segments of 8, from lane 1 of each. */
	assert_int_equal(threads(KERNEL("shfl.sync.idx.b32 %r1, %r0, 1, 0x181f, -1;"), 32, 0, NULL), 0);
	assert_int_equal(out32[7], 1);
	assert_int_equal(out32[31], 25);
	assert_int_equal(threads(KERNEL("shfl.sync.down.b32 %r1, %r0, 1, 0x1c07, -1;"), 32, 0, NULL), 0);
	assert_int_equal(out32[2], 3);
	assert_int_equal(out32[7], 7); /* nothing comes from outside of the segment */
	/* Halves of a warp on ways of their own, with masks of their own. */
	assert_int_equal(
	    threads(
		KERNEL("and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 0; @%p0 bra EVEN;\n"
		       "shfl.sync.bfly.b32 %r1, %r0, 2, 31, 0xaaaaaaaa; bra ON;\nEVEN: shfl.sync.bfly.b32 %r1, %r0, 4, 31, 0x55555555;\n"
		       "ON: bar.warp.sync -1; add.u32 %r1, %r1, 100;"),
		32, 0, NULL),
	    0);
	assert_int_equal(out32[1], 103);
	assert_int_equal(out32[0], 104);
	/* Some have ended before: the others do not wait for them. */
	assert_int_equal(
	    threads(
		KERNEL(
		    "setp.gt.u32 %p0, %r0, 7; @%p0 bra END; vote.sync.ballot.b32 %r1, %p0, -1; activemask.b32 %r2; add.u32 %r1, %r1, %r2;"),
		32, 0, NULL),
	    0);
	assert_int_equal(out32[0], 255);
	assert_int_equal(out32[8], 0);
	assert_int_equal(
	    threads(KERNEL("setp.eq.u32 %p0, %r0, 5; vote.sync.any.pred %p1, %p0, -1; vote.sync.all.pred %p2, %p0, -1;\n"
			   "selp.u32 %r1, 1, 0, %p1; @%p2 add.u32 %r1, %r1, 2; shr.u32 %r2, %r0, 3; match.any.sync.b32 %r3, %r2, -1; "
			   "add.u32 %r1, %r1, %r3;\n"
			   "redux.sync.add.s32 %r4, %r0, -1; add.u32 %r1, %r1, %r4; elect.sync %r5|%p3, -1; @%p3 add.u32 %r1, %r1, 7;"),
		    32, 0, NULL),
	    0);
	assert_int_equal(out32[0], 1 + 255 + 496 + 7);
	assert_int_equal(out32[31], U32(1 + 0xff000000 + 496));
}

static void test_barriers(void **state)
{
	(void)state;
	struct ptx_launch l;
	/* Turned round through shared memory, by 8 warps. */
	assert_int_equal(threads(KERNEL("mov.u32 %r2, sh; mad.lo.u32 %r3, %r0, 4, %r2; st.shared.u32 [%r3], %r0; bar.sync 0;\n"
					"sub.u32 %r4, 255, %r0; mad.lo.u32 %r3, %r4, 4, %r2; ld.shared.u32 %r1, [%r3];"),
				 256, 0, NULL),
			 0);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(out32[i], 255 - i);
	/* The same through dynamic memory behind the static one, by generic addresses. */
	assert_int_equal(
	    threads(
		KERNEL("mov.u64 %d2, dyn; cvta.shared.u64 %d2, %d2; mul.wide.u32 %d3, %r0, 4; add.u64 %d3, %d2, %d3; st.u32 [%d3], %r0;\n"
		       "barrier.sync 1; xor.b32 %r4, %r0, 64; mul.wide.u32 %d3, %r4, 4; add.u64 %d3, %d2, %d3; ld.u32 %r1, [%d3];\n"
		       "mov.u32 %r5, sh; mov.u32 %r6, 9; st.shared.u32 [%r5+4092], %r6;"),
		128, 512, NULL),
	    0);
	assert_int_equal(out32[0], 64);
	assert_int_equal(out32[127], 63);
	/* A barrier of two of four warps, the others go on. */
	assert_int_equal(
	    threads(KERNEL("mov.u32 %r1, 5; setp.ge.u32 %p0, %r0, 64; @%p0 bra ON; bar.sync 3, 64; mov.u32 %r1, 6;\nON: bar.sync 0;"), 128,
		    0, NULL),
	    0);
	assert_int_equal(out32[63], 6);
	assert_int_equal(out32[64], 5);
	/* Threads that have ended are not waited for; those at two barriers are stuck. */
	assert_int_equal(threads(KERNEL("setp.gt.u32 %p0, %r0, 40; @%p0 exit; bar.sync 0; mov.u32 %r1, 1;"), 128, 0, NULL), 0);
	assert_int_equal(out32[40], 1);
	assert_int_equal(
	    threads(KERNEL("setp.gt.u32 %p0, %r0, 31; @%p0 bra A; bar.sync 1; bra B;\nA: bar.sync 2;\nB: mov.u32 %r1, 1;"), 64, 0, &l),
	    702);
	assert_string_equal(l.fault.text, "threads wait for each other");
	assert_int_equal(
	    threads(KERNEL("setp.gt.u32 %p0, %r0, 3; @%p0 bra A; shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;\nA: bar.sync 0;"), 32, 0, &l), 702);
	assert_int_equal(threads(KERNEL("L: bra L;"), 32, 0, &l), 702);
}

static void test_memory(void **state)
{
	(void)state;
	/* Vectors, bytes with their signs, pairs that are loaded and stored at once. */
	assert_int_equal(threads(KERNEL("setp.ne.u32 %p0, %r0, 0; @%p0 bra END; mov.u32 %r2, 0x80; mov.u32 %r3, 0x8001; st.global.v4.u32 "
					"[%d0+16], {%r2, %r3, 7, -1};\n"
					"ld.global.s8 %r4, [%d0+16]; ld.global.u16 %r5, [%d0+20]; ld.global.s16 %r6, [%d0+20]; "
					"ld.global.v2.b32 {%r7, %r8}, [%d0+24];\n"
					"st.global.v2.u32 [%d0+32], {%r4, %r5}; st.global.v2.u32 [%d0+40], {%r6, %r7}; mov.u32 %r1, %r8;"),
				 32, 0, NULL),
			 0);
	assert_int_equal(out32[0], UINT32_MAX);
	assert_int_equal(out32[8], 0xffffff80);
	assert_int_equal(out32[9], 0x8001);
	assert_int_equal(out32[10], 0xffff8001);
	assert_int_equal(out32[11], 7);
	/* All threads at one address. */
	assert_int_equal(
	    threads(
		KERNEL(
		    ".reg .b16 %h; mov.b16 %h, 0x3c00; atom.global.add.u32 %r1, [%d0+512], 2; red.global.max.s32 [%d0+516], %r0;\n"
		    "red.global.add.f32 [%d0+520], 0f3F000000; atom.global.gpu.relaxed.cas.b32 %r2, [%d0+524], 0, 77;\n"
		    "atom.global.exch.b32 %r3, [%d0+528], %r0; red.global.or.b32 [%d0+532], %r0; red.global.add.noftz.f16 [%d0+536], %h;\n"
		    "atom.global.inc.u32 %r4, [%d0+540], 9; red.global.min.u32 [%d0+544], %r0;"),
		64, 0, NULL),
	    0);
	static const uint32_t want[] = {128, 63, 0x42000000, 77, 63, 63, 0x5400, 4, 0};
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_int_equal(out32[128 + i], want[i]);
	/* cp.async: 16 bytes, of which 4 are read. */
	assert_int_equal(threads(KERNEL("mov.u32 %r2, sh; st.global.u32 [%d1], 3; setp.ne.u32 %p0, %r0, 0; @%p0 bra END;\n"
					"cp.async.cg.shared.global [%r2+16], [%d0], 16, 4; cp.async.commit_group; cp.async.wait_group 0;\n"
					"ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2+16]; or.b32 %r1, %r4, %r5; or.b32 %r1, %r1, %r6; "
					"shl.b32 %r1, %r1, 8; or.b32 %r1, %r1, %r3;"),
				 32, 0, NULL),
			 0);
	assert_int_equal(out32[0], 3);
	/* A matrix and its transposed: rows are 16 bytes, thread l has row l / 4, elements 2 * (l % 4) and the next. */
	assert_int_equal(
	    threads(
		KERNEL(
		    "mov.u32 %r2, sh; mad.lo.u32 %r3, %r0, 4, %r2; mul.lo.u32 %r4, %r0, 2; add.u32 %r5, %r4, 1; shl.b32 %r5, %r5, 16;\n"
		    "or.b32 %r4, %r4, %r5; st.shared.u32 [%r3], %r4; bar.sync 0; and.b32 %r6, %r0, 7; mad.lo.u32 %r6, %r6, 16, %r2;\n"
		    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r6]; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r8}, [%r6];\n"
		    "sub.u32 %r7, %r7, %r4; add.u32 %r1, %r7, %r8; stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r6], {%r8}; bar.sync "
		    "0;\n"
		    "ld.shared.u32 %r9, [%r3]; sub.u32 %r9, %r9, %r4; add.u32 %r1, %r1, %r9;"),
		32, 0, NULL),
	    0);
	for (uint32_t l = 0; l < 32; l++)
		assert_int_equal(out32[l], (l / 4 + 8 * (2 * (l % 4))) | (l / 4 + 8 * (2 * (l % 4) + 1)) << 16);
}

/* ---- faults ---- */

static void test_faults(void **state)
{
	(void)state;
	struct ptx_launch l;
	static const struct {
		const char *body, *text;
		int rc;
		uint32_t thread;
		uint64_t address;
	} cases[] = {
	    {"setp.eq.u32 %p0, %r0, 9; @%p0 add.u64 %d1, %d1, 4096; mov.u32 %r1, 1;", "store of 4 bytes outside of every allocation", 700,
	     9, BASE + 36 + 4096},
	    {"sub.u64 %d1, %d1, 4;", "store of 4 bytes outside of every allocation", 700, 0, BASE - 4},
	    {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d0+4088];", "load of 16 bytes at an address that is no multiple of them", 716, 0,
	     BASE + 4088},
	    {"add.u64 %d1, %d1, 2;", "store of 4 bytes at an address that is no multiple of them", 716, 0, BASE + 2},
	    {"ld.global.u32 %r1, [%d0+0xffc]; ld.global.u32 %r1, [%d0+0x1000];", "load of 4 bytes outside of every allocation", 700, 0,
	     BASE + 4096},
	    {"mov.u32 %r2, sh; ld.shared.u32 %r1, [%r2+4096];", "load of 4 bytes outside of the shared memory", 700, 0, 4096},
	    {"ld.param.u32 %r1, [out+8];", "load of 4 bytes outside of the parameters", 700, 0, 8},
	    {"mov.u64 %d2, 0; ld.u32 %r1, [%d2];", "load of 4 bytes outside of every allocation", 700, 0, 0},
	    {"atom.global.add.u32 %r1, [%d0+4096], 1;", "atom of 4 bytes outside of every allocation", 700, 0, BASE + 4096},
	    {"mov.u32 %r2, sh; cp.async.ca.shared.global [%r2], [%d0+4096], 16;", "load of 16 bytes outside of every allocation", 700, 0,
	     BASE + 4096},
	    {"setp.eq.u32 %p0, %r0, 30; @%p0 trap;", "trap", 719, 30, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text = xasprintf("%s", KERNEL("@@"));
		char *at = strstr(text, "@@"), *whole = xasprintf("%.*s%s%s", (int)(at - text), text, cases[i].body, at + 2);
		assert_int_equal(threads(whole, 32, 0, &l), cases[i].rc);
		assert_string_equal(l.fault.text, cases[i].text);
		assert_int_equal(l.fault.thread[0], cases[i].thread);
		assert_int_equal(l.fault.address, cases[i].address);
		assert_int_equal(l.fault.line, strncmp(cases[i].text, "store", 5) ? 10 : 11); /* the body, or what is behind it */
		free(text);
		free(whole);
	}
}

static const char assertion[] =
    HEAD ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e) .noreturn;\n"
	 ".global .align 1 .b8 what[6] = {105, 32, 60, 32, 52, 0};\n.global .align 1 .b8 file[5] = {97, 46, 112, 121};\n.global .align 1 "
	 ".b8 fn[2] = {103};\n"
	 ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %d<4>; .reg .b32 %t; .reg .pred %p;\nmov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 4; "
	 "@%p bra END;\n"
	 "{ .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;\n"
	 "mov.b64 %d0, what; cvta.global.u64 %d0, %d0; st.param.b64 [p0], %d0; mov.b64 %d0, file; cvta.global.u64 %d0, %d0; st.param.b64 "
	 "[p1], %d0;\n"
	 "st.param.b32 [p2], 71; mov.b64 %d0, fn; st.param.b64 [p3], %d0; st.param.b64 [p4], 1;\ncall.uni __assertfail, (p0, p1, p2, p3, "
	 "p4);\n}\ntrap;\nEND: ret;\n}\n";

/* The words are variables of the module, which somebody has put into global memory. */
static void test_assertion(void **state)
{
	(void)state;
	struct ptx_module *m = must_read(assertion);
	struct ptx_launch l = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .data_at = BASE, .find = find};
	size_t n;
	const void *data = ptx_data(m, &n);
	struct heap h = {(char *)out32, sizeof(out32)};
	uint64_t param = BASE;
	assert_int_equal(n, 13);
	memcpy(out32, data, n);
	l.user = &h;
	l.params = &param;
	assert_int_equal(ptx_run(ptx_kernel(m, "k"), &l), 710);
	assert_string_equal(l.said, "a.py:71: g: block: [0,0,0], thread: [4,0,0] Assertion `i < 4` failed.");
	ptx_free(m);
}

/* ---- what is refused ---- */

static void test_refused(void **state)
{
	(void)state;
	static const struct {
		const char *body, *text;
	} cases[] = {
	    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r2}, {%r3}, {%r4};",
	     "line 10: 'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32': two vectors"},
	    {"wgmma.fence.sync.aligned;", "line 10: 'wgmma.fence.sync.aligned': is not interpreted"},
	    {"add.foo.u32 %r1, %r2, %r3;", "line 10: 'add.foo.u32': is not interpreted"},
	    {"add.sat.u32 %r1, %r2, %r3;", "line 10: 'add.sat.u32': is not interpreted"},
	    {"add.u32 %r1, %r2;", "line 10: 'add.u32': is not interpreted"},
	    {"add.u32 5, %r2, %r3;", "line 10: 'add.u32': writes to what is no register"},
	    {"mov.u32 %tid.x, %r3;", "line 10: 'mov.u32': writes to what is no register"},
	    {"add.u32 %r1, %r2, %r99;", "line 10: 'add.u32': '%r99' is not declared"},
	    {"add.u32 %r1, %r2, %r01;", "line 10: 'add.u32': '%r01' is not declared"},
	    {"bra NOWHERE;", "line 13: there is no label 'NOWHERE'"},
	    {"{ IN: mov.u32 %r1, 1; } bra IN;", "line 13: there is no label 'IN'"},
	    {"call.uni (%r1), f, (%r2);", "line 10: a call of '': only __assertfail is known"},
	    {"ld.global.v4.u32 {%r1, %r2}, [%d1];", "line 10: 'ld.global.v4.u32': has operands that are not understood"},
	    {"neg.ftz.f16 %r1, %r2;", "line 10: 'neg.ftz.f16': is not interpreted"},
	    {"setp.lt.ftz.f16 %p0, %r1, %r2;", "line 10: 'setp.lt.ftz.f16': is not interpreted"},
	    {"cvt.rn.satfinite.e4m3x2.f32 %r1, %r2, %r3;", "line 10: 'cvt.rn.satfinite.e4m3x2.f32': is not interpreted"},
	    {"cp.async.bulk.shared.global [%r1], [%d1], 16, [%r2];", "line 10: 'cp.async.bulk.shared.global': is not interpreted"},
	    {"setp.lo.s32 %p0, %r1, %r2;", "line 10: 'setp.lo.s32': is not interpreted"},
	    {"cvt.s32.f32 %r1, %r2;", "line 10: 'cvt.s32.f32': is not interpreted"},
	    {"mov.u32 %r1, 0x10000000000000000;", "line 10: 'mov.u32': a number has more than 64 bits"},
	    {"mov.u32 %r1, 0f1;", "line 10: 'mov.u32': a floating-point number in hexadecimal has 8 or 16 digits"},
	    {".reg .b32 %r0;", "line 10: '%r0' is declared twice"},
	    {"END: ret;", "line 12: 'END' is declared twice"},
	    {".local .align 4 .b8 big[70000];", "line 10: more than 65536 bytes of local memory"},
	    {".shared .align 4 .b8 big[2000000]; mov.u32 %r1, big;", "line 10: 'mov.u32': more than 1048576 bytes of shared memory"},
	    {"@7", "line 10: a guard that is no register"},
	    {".frobnicate 1;", "line 10: '.frobnicate' is not known"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text = xasprintf("%s", KERNEL("@@")), *at = strstr(text, "@@");
		char *whole = xasprintf("%.*s%s%s", (int)(at - text), text, cases[i].body, at + 2);
		struct ptx_error e;
		struct ptx_module *m = ptx_read(whole, strlen(whole), &e);
		if (m || strcmp(e.text, cases[i].text))
			fail_msg("'%s': %s, not %s", cases[i].body, m ? "read" : e.text, cases[i].text);
		ptx_free(m);
		free(text);
		free(whole);
	}
	static const char *const whole[] = {"",
					    "x",
					    ".version 8.0\n",
					    HEAD "{",
					    HEAD ".visible .entry k() {",
					    HEAD ".func f() { ret; }",
					    HEAD ".visible .entry k(.param .u64 a"};
	for (size_t i = 0; i < ARRAY_LEN(whole); i++) {
		struct ptx_error e;
		assert_null(ptx_read(whole[i], strlen(whole[i]), &e));
		assert_true(e.text[0]);
	}
}

/* What the kernel asks for is what it must be launched with. */
static void test_launches(void **state)
{
	(void)state;
	struct ptx_module *m = must_read(
	    HEAD
	    ".visible .entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20]) .reqntid 64 { .shared .b8 s[100]; .reg .b32 %r;\n"
	    "mov.u32 %r, s; ret; }\n.visible .entry j().maxntid 32, 2, 1 { ret; }");
	const struct ptx_kernel *k = ptx_kernel(m, "k");
	static const uint32_t offset[] = {0, 8, 16}, size[] = {1, 8, 20};
	assert_int_equal(k->n_params, 3);
	assert_memory_equal(k->offset, offset, sizeof(offset));
	assert_memory_equal(k->size, size, sizeof(size));
	assert_int_equal(k->shared, 100);
	assert_int_equal(k->reqntid[0], 64);
	assert_int_equal(ptx_kernel(m, "j")->maxntid, 64);
	assert_null(ptx_kernel(m, "i"));
	assert_null(ptx_kernel_at(m, 2));
	assert_int_equal(ptx_target(m), 80);
	char params[36] = "";
	struct ptx_launch l = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .params = params};
	assert_int_equal(ptx_run(k, &l), 1);
	l.block[0] = 64;
	assert_int_equal(ptx_run(k, &l), 0);
	assert_int_equal(ptx_run(ptx_kernel(m, "j"), &l), 0);
	l.block[1] = 2;
	assert_int_equal(ptx_run(ptx_kernel(m, "j"), &l), 1);
	ptx_free(m);
}

/* ---- bytes that are no PTX ---- */

static struct buf shipped; /* the probe */

static const char *probe_text(void)
{
	char *build = live_build_folder();
	buf_reset(&shipped);
	const char *text = probe_ptx(build, "sm_50", &shipped);
	free(build);
	return text;
}

static void try_text(const char *text, size_t n)
{
	struct ptx_error e;
	static char memory[4096];
	struct heap h = {memory, sizeof(memory)};
	uint64_t params[512];
	struct ptx_module *m = ptx_read(text, n, &e);
	for (size_t i = 0; i < ARRAY_LEN(params); i++)
		params[i] = BASE + 8 * i;
	for (size_t i = 0; m && ptx_kernel_at(m, i); i++) {
		struct ptx_launch l = {.grid = {2, 1, 1}, .block = {64, 1, 1}, .find = find, .user = &h, .budget = 20000, .data_at = BASE};
		const struct ptx_kernel *k = ptx_kernel_at(m, i);
		l.params = params;
		if (k->param_bytes <= sizeof(params))
			ptx_run(k, &l);
	}
	ptx_free(m);
}

static void test_hostile(void **state)
{
	(void)state;
	struct guard g = {0};
	uint64_t seed = 11;
	const char *text = probe_text();
	size_t n = strlen(text);
	for (size_t cut = 0; cut < n; cut += 1 + cut / 40)
		try_text(guard_put(&g, text, cut), cut);
	static const char bytes[] = "%@{}[]();,.<>|!:+-0x1f _rdp\n\0\377";
	for (int round = 0; round < 1500; round++) {
		const char *source = round % 2 ? text : assertion;
		size_t len = strlen(source);
		char *p = guard_put(&g, source, len);
		for (unsigned k = 1 + pick(&seed, 3); k; k--)
			p[pick(&seed, (uint32_t)len)] = bytes[pick(&seed, sizeof(bytes))];
		try_text(p, len);
	}
	guard_release(&g);
	buf_release(&shipped);
}

/* ---- the kernels that the probe ships ---- */

struct data {
	int dtype;
	size_t bytes;
	const char *kernel;
};

static bool is_float8(const struct data *d) { return d->bytes == 1; }

static void put_real(const struct data *d, char *p, double v)
{
	float f = (float)v;
	uint16_t h = (uint16_t)to_small(v, d->dtype == DTYPE_BF16);
	const bool wide = d->dtype == DTYPE_F64 || d->dtype == DTYPE_C128, single = d->dtype == DTYPE_F32 || d->dtype == DTYPE_C64;
	memcpy(p, wide ? (void *)&v : single ? (void *)&f : &h, wide ? 8 : single ? 4 : 2);
}

/* A number, NaN or infinity; of float8, whatever its byte stands for. */
static void put(const struct data *d, char *p, size_t i, double v)
{
	const bool complex = d->dtype == DTYPE_C64 || d->dtype == DTYPE_C128;
	p += i * d->bytes;
	if (is_float8(d))
		*p = isnan(v)                    ? d->dtype == DTYPE_F8E4M3FN || d->dtype == DTYPE_F8E5M2 ? 0x7f : (char)0x80
		     : isinf(v)                  ? v > 0 ? 0x7c : (char)0xfc
		     : (int)fabs(v * 64) % 8 < 2 ? (char)((int)(v * 64) & 0xff)
						 : (char)((int)(v * 64) & 0xbf);
	else
		put_real(d, p, complex && i % 3 == 0 ? v / 7 + 1 : v);
	if (complex)
		put_real(d, p + d->bytes / 2, i % 3 == 0 ? v : i % 3 == 1 ? 0 : -1 - v / 3);
}

static void hold(struct pt2_stats_part *part, uint32_t grid, uint64_t n, const struct tensor_stats *want)
{
	struct pt2_stats_part all = {.first_bad = UINT64_MAX, .min = INFINITY, .max = -INFINITY};
	for (uint32_t i = 0; i < grid; i++) {
		all.nan += part[i].nan;
		all.pos_inf += part[i].pos_inf;
		all.neg_inf += part[i].neg_inf;
		all.zero += part[i].zero;
		all.first_bad = part[i].first_bad < all.first_bad ? part[i].first_bad : all.first_bad;
		all.min = fmin(all.min, part[i].min);
		all.max = fmax(all.max, part[i].max);
		all.sum += part[i].sum;
	}
	assert_int_equal(all.nan, want->nan);
	assert_int_equal(all.pos_inf, want->pos_inf);
	assert_int_equal(all.neg_inf, want->neg_inf);
	assert_int_equal(all.zero, want->zero);
	assert_int_equal((int64_t)all.first_bad, want->first_bad);
	if (all.nan == n) {
		assert_true(all.min == (double)INFINITY && all.max == -(double)INFINITY && all.sum == 0);
		return;
	}
	assert_true(all.min == want->min && all.max == want->max);
	double mean = all.sum / (double)(n - all.nan);
	assert_true(isfinite(want->mean) ? fabs(mean - want->mean) <= 1e-9 * (1 + fabs(want->mean))
					 : of64(mean) == of64(want->mean) || isnan(mean) == isnan(want->mean));
}

/* Numbers, and from `plant` on some that are none. */
static void one_size(const struct ptx_kernel *k, const struct data *d, uint64_t n, uint32_t grid, uint32_t block, int plant, uint64_t *seed)
{
	size_t room = n * d->bytes, at = (room + 63) / 64 * 64;
	struct heap h = {xcalloc(1, at + grid * sizeof(struct pt2_stats_part)), at + grid * sizeof(struct pt2_stats_part)};
	struct tensor_stats want;
	for (size_t i = 0; i < n; i++)
		put(d, h.data, i, pick(seed, 50) ? (pick(seed, 20001) - 10000.0) / 64 : 0);
	for (int i = 0; i < plant && n; i++)
		put(d, h.data, plant == 9 ? (size_t)i % n : pick(seed, (uint32_t)n),
		    i % 3 == 0 || plant == 9 ? (double)NAN
		    : i % 3 == 1             ? (double)INFINITY
					     : -(double)INFINITY);
	memset(h.data + at, 0xff, grid * sizeof(struct pt2_stats_part));
	tensor_stats_dense(d->dtype, n, h.data, STATS_ALL, &want);
	uint64_t params[15] = {BASE, n, BASE + at};
	struct ptx_launch l = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .params = params, .find = find, .user = &h};
	assert_int_equal(ptx_run(k, &l), 0);
	hold((struct pt2_stats_part *)(void *)(h.data + at), grid, n, &want);
	/* One element less than it is told of is an access outside. */
	if (n) {
		struct heap less = {h.data, room - d->bytes};
		l.user = &less;
		assert_int_equal(ptx_run(k, &l), 700);
	}
	free(h.data);
}

static void test_shipped(void **state)
{
	(void)state;
	static const struct data types[] = {{DTYPE_F32, 4, "pt2_stats_f32"},
					    {DTYPE_F64, 8, "pt2_stats_f64"},
					    {DTYPE_F16, 2, "pt2_stats_f16"},
					    {DTYPE_BF16, 2, "pt2_stats_bf16"},
					    {DTYPE_F8E5M2, 1, "pt2_stats_f8e5m2"},
					    {DTYPE_F8E4M3FN, 1, "pt2_stats_f8e4m3fn"},
					    {DTYPE_F8E5M2FNUZ, 1, "pt2_stats_f8e5m2fnuz"},
					    {DTYPE_F8E4M3FNUZ, 1, "pt2_stats_f8e4m3fnuz"},
					    {DTYPE_C64, 8, "pt2_stats_c64"},
					    {DTYPE_C128, 16, "pt2_stats_c128"}};
	static const uint64_t sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 2049, 65537};
	static const uint32_t launches[][2] = {{1, 256}, {1, 32}, {3, 64}, {33, 256}, {7, 128}, {2, 1}};
	uint64_t seed = 5;
	struct ptx_module *m = must_read(probe_text());
	for (size_t t = 0; t < ARRAY_LEN(types); t++) {
		const struct ptx_kernel *k = ptx_kernel(m, types[t].kernel);
		assert_non_null(k);
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
			for (size_t j = 0; j < ARRAY_LEN(launches); j++)
				for (int plant = 0; plant<10; plant += sizes[i]> 3000 ? 9 : 3)
					one_size(k, &types[t], sizes[i], launches[j][0], launches[j][1], plant, &seed);
	}
	ptx_free(m);
	buf_release(&shipped);
}

/* Every byte of each float8, alone. */
static void test_bytes(void **state)
{
	(void)state;
	static const struct data types[] = {{DTYPE_F8E5M2, 1, "pt2_stats_f8e5m2"},
					    {DTYPE_F8E4M3FN, 1, "pt2_stats_f8e4m3fn"},
					    {DTYPE_F8E5M2FNUZ, 1, "pt2_stats_f8e5m2fnuz"},
					    {DTYPE_F8E4M3FNUZ, 1, "pt2_stats_f8e4m3fnuz"}};
	struct ptx_module *m = must_read(probe_text());
	for (size_t t = 0; t < ARRAY_LEN(types); t++)
		for (int byte = 0; byte < 256; byte++) {
			struct {
				char data[64];
				struct pt2_stats_part part;
			} room = {.data = {(char)byte}};
			struct heap h = {(char *)&room, sizeof(room)};
			struct tensor_stats want;
			uint64_t params[15] = {BASE, 1, BASE + sizeof(room.data)};
			struct ptx_launch l = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .params = params, .find = find, .user = &h};
			tensor_stats_dense(types[t].dtype, 1, room.data, STATS_ALL, &want);
			assert_int_equal(ptx_run(ptx_kernel(m, types[t].kernel), &l), 0);
			hold(&room.part, 1, 1, &want);
		}
	ptx_free(m);
	buf_release(&shipped);
}

/* ---- tensors whose elements are not in index order ---- */

static void one_layout(const struct ptx_module *module, const struct data *d, int n_dim, const int64_t *size, const int64_t *stride,
		       int how, uint64_t *seed)
{
	struct tensor_meta m = {.dtype = d->dtype, .n_dim = n_dim};
	struct cuda_layout layout;
	struct tensor_stats want, dense;
	uint64_t elements, times;
	int64_t bytes, n;
	memcpy(m.size, size, sizeof(*size) * (size_t)n_dim);
	memcpy(m.stride, stride, sizeof(*stride) * (size_t)n_dim);
	assert_true(tensor_extent(&m, &bytes) && tensor_numel(&m, &n));
	size_t at = ((size_t)bytes + 63) / 64 * 64;
	enum { GRID = 3 };
	struct heap h = {xcalloc(1, at + GRID * sizeof(struct pt2_stats_part)), at + GRID * sizeof(struct pt2_stats_part)};
	for (size_t i = 0; i < (size_t)bytes / d->bytes; i++)
		put(d, h.data, i, (pick(seed, 20001) - 10000.0) / 64);
	for (int i = 0; i < 3; i++)
		put(d, h.data, pick(seed, (uint32_t)((size_t)bytes / d->bytes)), i ? (double)NAN : (double)INFINITY);
	tensor_stats(&m, h.data, STATS_ALL, &want);
	assert_true(cuda_layout_of(&m, &layout, &elements, &times));
	assert_int_equal(layout.how, how);
	assert_int_equal(elements * times, n);
	uint64_t params[15] = {BASE, elements, BASE + at};
	memcpy(params + 3, &layout, sizeof(layout));
	struct ptx_launch l = {.grid = {GRID, 1, 1}, .block = {32, 1, 1}, .params = params, .find = find, .user = &h};
	assert_int_equal(ptx_run(ptx_kernel(module, d->kernel), &l), 0);
	dense = want;
	dense.nan /= times;
	dense.pos_inf /= times;
	dense.neg_inf /= times;
	dense.zero /= times;
	hold((struct pt2_stats_part *)(void *)(h.data + at), GRID, elements, &dense);
	free(h.data);
}

static void test_layouts(void **state)
{
	(void)state;
	static const struct data types[] = {
	    {DTYPE_F32, 4, "pt2_stats_f32"}, {DTYPE_BF16, 2, "pt2_stats_bf16"}, {DTYPE_C128, 16, "pt2_stats_c128"}};
	static const struct {
		int n_dim;
		int64_t size[6], stride[6];
		int how;
	} layout[] = {
	    {4, {2, 5, 7, 6}, {210, 42, 6, 1}, CUDA_IN_ORDER},
	    {4, {2, 5, 7, 6}, {210, 1, 30, 5}, CUDA_DENSE}, /* channels_last */
	    {5, {2, 3, 4, 5, 6}, {360, 1, 90, 18, 3}, CUDA_DENSE},
	    {2, {9, 11}, {1, 9}, CUDA_DENSE}, /* transposed */
	    {3, {4, 5, 6}, {1, 24, 4}, CUDA_DENSE},
	    {4, {3, 4, 5, 6}, {1, 3, 12, 60}, CUDA_DENSE}, /* all dims reversed: four groups */
	    {3, {4, 1000, 6}, {6, 0, 1}, CUDA_DENSE},      /* expanded: its elements are in order, but not in the tensor */
	    {2, {1000, 6}, {0, 1}, CUDA_IN_ORDER},
	    {2, {9, 11}, {20, 1}, CUDA_STRIDED},        /* a slice */
	    {3, {4, 5, 6}, {100, 1, 10}, CUDA_STRIDED}, /* one of something permuted */
	    {1, {50}, {3}, CUDA_STRIDED},
	    {2, {20, 4}, {1, 1}, CUDA_STRIDED}, /* windows that overlap */
	    {0, {0}, {0}, CUDA_IN_ORDER},
	    {3, {1, 30, 1}, {7, 1, 99}, CUDA_IN_ORDER},
	    {6, {2, 3, 1, 2, 2, 2}, {24, 8, 5, 4, 2, 1}, CUDA_IN_ORDER},
	};
	uint64_t seed = 12;
	struct ptx_module *m = must_read(probe_text());
	for (size_t t = 0; t < ARRAY_LEN(types); t++)
		for (size_t i = 0; i < ARRAY_LEN(layout); i++)
			for (int round = 0; round < 3; round++)
				one_layout(m, &types[t], layout[i].n_dim, layout[i].size, layout[i].stride, layout[i].how, &seed);
	ptx_free(m);
	buf_release(&shipped);
	/* Five dims that cannot be joined. */
	struct tensor_meta five = {.dtype = DTYPE_F32, .n_dim = 5, .size = {2, 2, 2, 2, 2}, .stride = {1, 2, 4, 8, 16}};
	struct cuda_layout l;
	uint64_t elements, times;
	assert_false(cuda_layout_of(&five, &l, &elements, &times));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bytes),     cmocka_unit_test(test_layouts),   cmocka_unit_test(test_instructions),
	    cmocka_unit_test(test_exchanges), cmocka_unit_test(test_barriers),  cmocka_unit_test(test_memory),
	    cmocka_unit_test(test_faults),    cmocka_unit_test(test_assertion), cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_launches),  cmocka_unit_test(test_hostile),   cmocka_unit_test(test_shipped),
	};
	return RUN(tests);
}
