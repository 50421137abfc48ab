/* Floating-point arithmetic on f32, f64, f32x2, and what is approximate on a GPU (PTX ISA 8.x, 9.7.3, 9.7.5). */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "in.h"

uint32_t ptx_f32_bits(float v)
{
	uint32_t bits;
	memcpy(&bits, &v, 4);
	return v != v ? 0x7fffffff : bits;
}

float ptx_f32(uint64_t bits)
{
	uint32_t b = (uint32_t)bits;
	float v;
	memcpy(&v, &b, 4);
	return v;
}

double ptx_f64(uint64_t bits)
{
	double v;
	memcpy(&v, &bits, 8);
	return v;
}

uint64_t ptx_f64_bits(double v)
{
	uint64_t bits;
	memcpy(&bits, &v, 8);
	return bits;
}

/* A subnormal number is a zero of its sign. */
float ptx_flush(float v)
{
	uint32_t bits;
	memcpy(&bits, &v, 4);
	return bits & 0x7f800000 ? v : ptx_f32(bits & 0x80000000);
}

/* A result: .ftz, .sat (NaN becomes 0), and one NaN for all. */
static uint64_t done(const struct ptx_op *op, float v)
{
	if (op->ftz)
		v = ptx_flush(v);
	if (op->sat)
		v = v > 0 ? (v < 1 ? v : 1) : 0;
	return ptx_f32_bits(v);
}

static float in(const struct ptx_op *op, uint64_t bits) { return op->ftz ? ptx_flush(ptx_f32(bits)) : ptx_f32(bits); }

/* Other roundings are those of the host; volatile, since compilers take it to be to the nearest. */
static int enter(const struct ptx_op *op)
{
	static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
	if (op->rounding != RN)
		fesetround(modes[op->rounding]);
	return op->rounding;
}

static void leave(const struct ptx_op *op)
{
	if (op->rounding != RN)
		fesetround(FE_TONEAREST);
}

#define F32_OP(name, n, expr) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		uint64_t *d = COL(0); \
		const uint64_t *ra = COL(1), *rb = (n) > 1 ? COL(2) : ra, *rc = (n) > 2 ? COL(3) : ra; \
		enter(op); \
		EACH(l) \
		{ \
			volatile float a = in(op, ra[l]), b = in(op, rb[l]), c = in(op, rc[l]); \
			volatile float v = (expr); \
			(void)b, (void)c; \
			d[l] = done(op, v); \
		} \
		leave(op); \
	}
#define F64_OP(name, n, expr) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		uint64_t *d = COL(0); \
		const uint64_t *ra = COL(1), *rb = (n) > 1 ? COL(2) : ra, *rc = (n) > 2 ? COL(3) : ra; \
		enter(op); \
		EACH(l) \
		{ \
			volatile double a = ptx_f64(ra[l]), b = ptx_f64(rb[l]), c = ptx_f64(rc[l]); \
			volatile double v = (expr); \
			(void)b, (void)c; \
			d[l] = ptx_f64_bits(v); \
		} \
		leave(op); \
	}

F32_OP(add_f32, 2, a + b)
F32_OP(sub_f32, 2, a - b)
F32_OP(mul_f32, 2, a *b)
F32_OP(div_f32, 2, a / b)
F32_OP(fma_f32, 3, fmaf(a, b, c))
F32_OP(rcp_f32, 1, 1 / a)
F32_OP(sqrt_f32, 1, sqrtf(a))
F64_OP(add_f64, 2, a + b)
F64_OP(sub_f64, 2, a - b)
F64_OP(mul_f64, 2, a *b)
F64_OP(div_f64, 2, a / b)
F64_OP(fma_f64, 3, fma(a, b, c))
F64_OP(rcp_f64, 1, 1 / a)
F64_OP(sqrt_f64, 1, sqrt(a))

/* A number wins over NaN, +0 is more than -0. */
static double lower(double a, double b) { return a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? a : b; }
static double upper(double a, double b) { return a != a ? b : b != b ? a : a > b || (a == b && !signbit(a)) ? a : b; }
F32_OP(min_f32, 2, (float)lower((double)a, (double)b))
F32_OP(max_f32, 2, (float)upper((double)a, (double)b))
F32_OP(min_nan_f32, 2, a != a || b != b ? NAN : (float)lower((double)a, (double)b))
F32_OP(max_nan_f32, 2, a != a || b != b ? NAN : (float)upper((double)a, (double)b))
/* of three: sm_100 */
F32_OP(min3_f32, 3, (float)lower(lower((double)a, (double)b), (double)c))
F32_OP(max3_f32, 3, (float)upper(upper((double)a, (double)b), (double)c))
F32_OP(min3_nan_f32, 3, a != a || b != b || c != c ? NAN : (float)lower(lower((double)a, (double)b), (double)c))
F32_OP(max3_nan_f32, 3, a != a || b != b || c != c ? NAN : (float)upper(upper((double)a, (double)b), (double)c))
F64_OP(min_f64, 2, lower(a, b))
F64_OP(max_f64, 2, upper(a, b))

/* Only the sign changes; .ftz as everywhere. */
#define F32_SIGN(name, expr) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		EACH(l) \
		{ \
			uint32_t a = (uint32_t)COL(1)[l]; \
			if (op->ftz && !(a & 0x7f800000)) \
				a &= 0x80000000; \
			COL(0)[l] = (uint32_t)(expr); \
		} \
	}
F32_SIGN(neg_f32, a ^ 0x80000000)
F32_SIGN(abs_f32, a & 0x7fffffff)
#define SIGN_BIT (1ull << 63)

static void neg_f64(struct ptx_warp *w, const struct ptx_op *op)
{
	EACH(l)
	COL(0)[l] = COL(1)[l] ^ SIGN_BIT;
}

static void abs_f64(struct ptx_warp *w, const struct ptx_op *op)
{
	EACH(l)
	COL(0)[l] = COL(1)[l] & ~SIGN_BIT;
}

/* The sign of a, the rest of b. */
static void copysign_f32(struct ptx_warp *w, const struct ptx_op *op)
{
	EACH(l)
	COL(0)[l] = (COL(1)[l] & 0x80000000) | (COL(2)[l] & 0x7fffffff);
}

static void copysign_f64(struct ptx_warp *w, const struct ptx_op *op)
{
	EACH(l)
	COL(0)[l] = (COL(1)[l] & SIGN_BIT) | (COL(2)[l] & ~SIGN_BIT);
}

/* ---- testp ---- */

enum { FINITE, INFINITE, NUMBER, NOTANUMBER, NORMAL, SUBNORMAL };

static bool tested(int class, int what)
{
	return what == FINITE       ? class != FP_NAN && class != FP_INFINITE
	       : what == INFINITE   ? class == FP_INFINITE
	       : what == NUMBER     ? class != FP_NAN
	       : what == NOTANUMBER ? class == FP_NAN
	       : what == NORMAL     ? class == FP_NORMAL
				    : class == FP_SUBNORMAL;
}
#define TESTP(name, what) \
	static void name##_f32(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		EACH(l) \
		COL(0)[l] = tested(fpclassify(ptx_f32(COL(1)[l])), what); \
	} \
	static void name##_f64(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		EACH(l) \
		COL(0)[l] = tested(fpclassify(ptx_f64(COL(1)[l])), what); \
	}
TESTP(finite, FINITE)
TESTP(infinite, INFINITE)
TESTP(number, NUMBER)
TESTP(notanumber, NOTANUMBER)
TESTP(normal, NORMAL)
TESTP(subnormal, SUBNORMAL)

/* ---- two of them ---- */

#define F32X2_OP(name, n, expr) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		enter(op); \
		EACH(l) \
		{ \
			uint64_t ra = COL(1)[l], rb = COL(2)[l], rc = (n) > 2 ? COL(3)[l] : 0, out = 0; \
			for (unsigned i = 0; i < 64; i += 32) { \
				volatile float a = in(op, ra >> i), b = in(op, rb >> i), c = in(op, rc >> i); \
				volatile float v = (expr); \
				(void)c; \
				out |= done(op, v) << i; \
			} \
			COL(0)[l] = out; \
		} \
		leave(op); \
	}
F32X2_OP(add_f32x2, 2, a + b)
F32X2_OP(sub_f32x2, 2, a - b)
F32X2_OP(mul_f32x2, 2, a *b)
F32X2_OP(fma_f32x2, 3, fmaf(a, b, c))

const struct ptx_form ptx_float_forms[] = {
    {"add", 3, M_ROUND | M_FTZ | M_SAT, {[F32] = add_f32}},
    {"sub", 3, M_ROUND | M_FTZ | M_SAT, {[F32] = sub_f32}},
    {"mul", 3, M_ROUND | M_FTZ | M_SAT, {[F32] = mul_f32}},
    {"fma", 4, M_ROUND | M_FTZ | M_SAT, {[F32] = fma_f32}},
    {"mad", 4, M_ROUND | M_FTZ | M_SAT, {[F32] = fma_f32}},
    {"div", 3, M_ROUND | M_FTZ, {[F32] = div_f32}},
    {"rcp", 2, M_ROUND | M_FTZ, {[F32] = rcp_f32}},
    {"sqrt", 2, M_ROUND | M_FTZ, {[F32] = sqrt_f32}},
    {"add", 3, M_ROUND, {[F64] = add_f64}},
    {"sub", 3, M_ROUND, {[F64] = sub_f64}},
    {"mul", 3, M_ROUND, {[F64] = mul_f64}},
    {"fma", 4, M_ROUND, {[F64] = fma_f64}},
    {"mad", 4, M_ROUND, {[F64] = fma_f64}},
    {"div", 3, M_ROUND, {[F64] = div_f64}},
    {"rcp", 2, M_ROUND, {[F64] = rcp_f64}},
    {"sqrt", 2, M_ROUND, {[F64] = sqrt_f64}},
    {"min", 3, M_FTZ, {[F32] = min_f32}},
    {"max", 3, M_FTZ, {[F32] = max_f32}},
    {"min.NaN", 3, M_FTZ, {[F32] = min_nan_f32}},
    {"max.NaN", 3, M_FTZ, {[F32] = max_nan_f32}},
    {"min", 4, M_FTZ, {[F32] = min3_f32}},
    {"max", 4, M_FTZ, {[F32] = max3_f32}},
    {"min.NaN", 4, M_FTZ, {[F32] = min3_nan_f32}},
    {"max.NaN", 4, M_FTZ, {[F32] = max3_nan_f32}},
    {"min", 3, 0, {[F64] = min_f64}},
    {"max", 3, 0, {[F64] = max_f64}},
    {"neg", 2, M_FTZ, {[F32] = neg_f32}},
    {"abs", 2, M_FTZ, {[F32] = abs_f32}},
    {"neg", 2, 0, {[F64] = neg_f64}},
    {"abs", 2, 0, {[F64] = abs_f64}},
    {"copysign", 3, 0, {[F32] = copysign_f32, [F64] = copysign_f64}},
    {"testp.finite", 2, 0, {[F32] = finite_f32, [F64] = finite_f64}},
    {"testp.infinite", 2, 0, {[F32] = infinite_f32, [F64] = infinite_f64}},
    {"testp.number", 2, 0, {[F32] = number_f32, [F64] = number_f64}},
    {"testp.notanumber", 2, 0, {[F32] = notanumber_f32, [F64] = notanumber_f64}},
    {"testp.normal", 2, 0, {[F32] = normal_f32, [F64] = normal_f64}},
    {"testp.subnormal", 2, 0, {[F32] = subnormal_f32, [F64] = subnormal_f64}},
    {"add", 3, M_ROUND | M_FTZ, {[F32X2] = add_f32x2}},
    {"sub", 3, M_ROUND | M_FTZ, {[F32X2] = sub_f32x2}},
    {"mul", 3, M_ROUND | M_FTZ, {[F32X2] = mul_f32x2}},
    {"fma", 4, M_ROUND | M_FTZ, {[F32X2] = fma_f32x2}},
    {0},
};

/* ---- approximations: made in double ---- */

F32_OP(div_approx, 2, (float)((double)a / (double)b))
F32_OP(rcp_approx, 1, (float)(1 / (double)a))
F32_OP(sqrt_approx, 1, (float)sqrt((double)a))
F32_OP(rsqrt_approx, 1, (float)(1 / sqrt((double)a)))
F32_OP(sin_approx, 1, (float)sin((double)a))
F32_OP(cos_approx, 1, (float)cos((double)a))
F32_OP(lg2_approx, 1, (float)log2((double)a))
F32_OP(ex2_approx, 1, (float)exp2((double)a))
F32_OP(tanh_approx, 1, (float)tanh((double)a))
F64_OP(rcp_approx_f64, 1, 1 / a)
F64_OP(rsqrt_approx_f64, 1, 1 / sqrt(a))

/* Of one half; .ftz is there for bf16 alone. */
static uint64_t small_approx(const struct ptx_op *op, double (*fn)(double), uint64_t a, int type)
{
	double v = ptx_number(a & 0xffff, type);
	uint64_t out = ptx_bits(fn(op->ftz && fabs(v) < 0x1p-126 ? 0 : v), type);
	return op->ftz && !(out & 0x7f80) ? out & 0x8000 : out;
}

#define SMALL_APPROX(name, fn) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		bool pair = op->type == F16X2 || op->type == BF16X2; \
		int type = op->type == F16 || op->type == F16X2 ? F16 : BF16; \
		EACH(l) \
		{ \
			uint64_t a = COL(1)[l], out = small_approx(op, fn, a, type); \
			if (pair) \
				out |= small_approx(op, fn, a >> 16, type) << 16; \
			COL(0)[l] = out; \
		} \
	}
SMALL_APPROX(ex2_small, exp2)
SMALL_APPROX(tanh_small, tanh)

const struct ptx_form ptx_approx_forms[] = {
    {"div.approx", 3, M_FTZ, {[F32] = div_approx}},
    {"div.full", 3, M_FTZ, {[F32] = div_approx}},
    {"rcp.approx", 2, M_FTZ, {[F32] = rcp_approx, [F64] = rcp_approx_f64}},
    {"sqrt.approx", 2, M_FTZ, {[F32] = sqrt_approx}},
    {"rsqrt.approx", 2, M_FTZ, {[F32] = rsqrt_approx, [F64] = rsqrt_approx_f64}},
    {"sin.approx", 2, M_FTZ, {[F32] = sin_approx}},
    {"cos.approx", 2, M_FTZ, {[F32] = cos_approx}},
    {"lg2.approx", 2, M_FTZ, {[F32] = lg2_approx}},
    {"ex2.approx", 2, M_FTZ, {[F32] = ex2_approx, [BF16] = ex2_small, [BF16X2] = ex2_small}},
    {"ex2.approx", 2, 0, {[F16] = ex2_small, [F16X2] = ex2_small}},
    {"tanh.approx", 2, 0, {[F32] = tanh_approx, [F16] = tanh_small, [F16X2] = tanh_small, [BF16] = tanh_small, [BF16X2] = tanh_small}},
    {0},
};
