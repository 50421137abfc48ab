/* Operators of one element, and those with extra numbers. The expressions are those of torch's own kernels
 * (torch 2.13, aten/src/ATen/native/cpu/UnaryOpsKernel.cpp, Activation.cpp; complex numbers: c10/util/complex_math.h). */
#include "elem.h"
#include "ops.h"
#include "pointwise.h"
#include "special.h"

#include <tgmath.h>

#define C(v) ((typeof(x))(v)) /* a constant of the loop's type */
#define FLOATS(id, e) PW_LOOP(id##_f32, float, float, e) PW_LOOP(id##_f64, double, double, e)
#define COMPLEX(id, e) PW_LOOP(id##_c128, double complex, double complex, e)
#define INTS(id, e) PW_LOOP(id##_i64, int64_t, int64_t, e)
#define OF_FLOATS(id) [PW_F32] = id##_f32, [PW_F64] = id##_f64
#define OF_COMPLEX(id) [PW_C128] = id##_c128
#define OF_INTS(id) [PW_I64] = id##_i64

static double complex log1p_of(double complex v)
{
	double re = creal(v), im = cimag(v); /* |1 + v|^2 - 1 without cancellation if v is small */
	return CMPLX(0.5 * log1p(re * (2 + re) + im * im), atan2(im, 1 + re));
}
static double complex expm1_of(double complex v)
{
	double s = sin(cimag(v) / 2), e = exp(creal(v));
	return CMPLX(expm1(creal(v)) * cos(cimag(v)) - 2 * s * s, e * sin(cimag(v)));
}

/* Floats, of integers the default dtype; complex numbers. */
#define WITH_COMPLEX(X) \
	X(acos, acos(x), cacos(x)) \
	X(acosh, acosh(x), cacosh(x)) \
	X(asin, asin(x), casin(x)) \
	X(asinh, asinh(x), casinh(x)) \
	X(atan, atan(x), catan(x)) \
	X(atanh, atanh(x), catanh(x)) \
	X(cos, cos(x), ccos(x)) \
	X(cosh, cosh(x), ccosh(x)) \
	X(exp, exp(x), cexp(x)) \
	X(exp2, exp2(x), cexp(x *M_LN2)) \
	X(expm1, expm1(x), expm1_of(x)) \
	X(log, log(x), clog(x)) \
	X(log10, log10(x), clog(x) / M_LN10) \
	X(log1p, log1p(x), log1p_of(x)) \
	X(log2, log2(x), clog(x) / M_LN2) \
	X(reciprocal, 1 / x, 1 / x) \
	X(rsqrt, 1 / sqrt(x), 1 / csqrt(x)) \
	X(sigmoid, 1 / (1 + exp(-x)), 1 / (1 + cexp(-x))) \
	X(sin, sin(x), csin(x)) \
	X(sinh, sinh(x), csinh(x)) \
	X(sqrt, sqrt(x), csqrt(x)) \
	X(tan, tan(x), ctan(x)) \
	X(tanh, tanh(x), ctanh(x))
#define DEFINE(id, e, ze) \
	FLOATS(id, e) COMPLEX(id, ze) static const struct pointwise op_##id = {#id, {OF_FLOATS(id), OF_COMPLEX(id)}, .to_float = true};
WITH_COMPLEX(DEFINE)
#undef DEFINE

/* The same, complex numbers not. */
#define TO_FLOAT(X) \
	X(digamma, (typeof(x))special_digamma((double)x)) \
	X(erf, erf(x)) \
	X(erfc, erfc(x)) \
	X(erfinv, (typeof(x))special_erfinv((double)x)) \
	X(i0, (typeof(x))special_i0((double)x)) \
	X(special_airy_ai, (typeof(x))special_airy_ai((double)x)) \
	X(special_bessel_j0, (typeof(x))j0((double)x)) \
	X(special_bessel_j1, (typeof(x))j1((double)x)) \
	X(special_bessel_y0, (typeof(x))y0((double)x)) \
	X(special_bessel_y1, (typeof(x))y1((double)x)) \
	X(special_entr, (typeof(x))special_entr((double)x)) \
	X(special_erfcx, (typeof(x))special_erfcx((double)x)) \
	X(special_i0e, (typeof(x))special_i0e((double)x)) \
	X(special_i1, (typeof(x))special_i1((double)x)) \
	X(special_i1e, (typeof(x))special_i1e((double)x)) \
	X(special_log_ndtr, (typeof(x))special_log_ndtr((double)x)) \
	X(special_modified_bessel_i0, (typeof(x))special_i0((double)x)) \
	X(special_modified_bessel_i1, (typeof(x))special_i1((double)x)) \
	X(special_modified_bessel_k0, (typeof(x))special_bessel_k(0, (double)x)) \
	X(special_modified_bessel_k1, (typeof(x))special_bessel_k(1, (double)x)) \
	X(special_scaled_modified_bessel_k0, (typeof(x))special_bessel_ke(0, (double)x)) \
	X(special_scaled_modified_bessel_k1, (typeof(x))special_bessel_ke(1, (double)x)) \
	X(special_spherical_bessel_j0, (typeof(x))special_spherical_bessel_j0((double)x)) \
	X(special_ndtri, (typeof(x))special_ndtri((double)x)) \
	X(lgamma, lgamma(x)) \
	X(sinc, x == 0 ? 1 : sin(C(M_PI) * x) / (C(M_PI) * x)) \
	X(deg2rad, x *C(M_PI / 180)) \
	X(rad2deg, x *C(180 / M_PI))
#define DEFINE(id, e) FLOATS(id, e) static const struct pointwise op_##id = {#id, {OF_FLOATS(id)}, .to_float = true};
TO_FLOAT(DEFINE)
#undef DEFINE

/* Of a number besides: the order of a derivative, the dimension. */
#define OF_NUMBER(X) \
	X(polygamma, (typeof(x))special_polygamma(pw_k->i[0], (double)x)) \
	X(mvlgamma, (typeof(x))special_mvlgamma((double)x, pw_k->i[0]))
#define DEFINE(id, e) FLOATS(id, e) static const struct pointwise op_##id = {#id, {OF_FLOATS(id)}, .to_float = true};
OF_NUMBER(DEFINE)
#undef DEFINE

/* Only floats. */
#define FLOAT_ONLY(X) \
	X(frac, x - trunc(x)) \
	X(gelu_erf, x *C(0.5) * (1 + erf(x * C(M_SQRT1_2)))) \
	X(gelu_tanh, C(0.5) * x * (1 + tanh(C(M_SQRT2 * M_2_SQRTPI * 0.5) * (x + C(0.044715) * x * x * x)))) \
	X(hardsigmoid, fmin(fmax(x + 3, C(0)), C(6)) / 6) \
	X(hardswish, x *fmin(fmax(x + 3, C(0)), C(6)) / 6) \
	X(log_sigmoid, fmin(x, C(0)) - log1p(exp(-fabs(x)))) \
	X(mish, x *tanh(log1p(exp(x))))
#define DEFINE(id, e) FLOATS(id, e) static const struct pointwise op_##id = {#id, {OF_FLOATS(id)}};
FLOAT_ONLY(DEFINE)
#undef DEFINE
FLOATS(silu, x / (1 + exp(-x)))
COMPLEX(silu, x / (1 + cexp(-x)))
static const struct pointwise op_silu = {"silu", {OF_FLOATS(silu), OF_COMPLEX(silu)}};

/* These keep the dtype, also for integers. */
#define WITH_INTS(X) \
	X(ceil, x, ceil(x)) \
	X(floor, x, floor(x)) \
	X(relu, x > 0 ? x : 0, x <= 0 ? C(0) : x) \
	X(round, x, nearbyint(x)) \
	X(sign, (x > 0) - (x < 0), C((x > 0) - (x < 0))) \
	X(trunc, x, trunc(x))
#define DEFINE(id, ie, e) INTS(id, ie) FLOATS(id, e) static const struct pointwise op_##id = {#id, {OF_INTS(id), OF_FLOATS(id)}};
WITH_INTS(DEFINE)
#undef DEFINE
#define WITH_ALL(X) \
	X(neg, -(uint64_t)x, -x, -x, .no_bool = true) \
	X(sgn, (x > 0) - (x < 0), C((x > 0) - (x < 0)), x == 0 ? 0 : x / cabs(x)) \
	X(square, (uint64_t)x *(uint64_t)x, x *x, x *x) \
	X(conj_physical, x, x, conj(x))
#define DEFINE(id, ie, e, ze, ...) \
	INTS(id, ie) \
	FLOATS(id, e) \
	COMPLEX(id, ze) static const struct pointwise op_##id = {#id, {OF_INTS(id), OF_FLOATS(id), OF_COMPLEX(id)}, __VA_ARGS__};
WITH_ALL(DEFINE)
#undef DEFINE
/* Views with a bit set, in torch: strides as they are. */
static const struct pointwise op_conj = {
    "_conj", {OF_INTS(conj_physical), OF_FLOATS(conj_physical), OF_COMPLEX(conj_physical)}, .keeps_strides = true};
static const struct pointwise op_neg_view = {"_neg_view", {OF_INTS(neg), OF_FLOATS(neg), OF_COMPLEX(neg)}, .keeps_strides = true};

INTS(bitwise_not, ~x)
static const struct pointwise op_bitwise_not = {"bitwise_not", {OF_INTS(bitwise_not)}};

/* Bools of all. */
#define TESTS(X) \
	X(isfinite, true, isfinite(x), isfinite(creal(x)) && isfinite(cimag(x))) \
	X(isinf, false, isinf(x), isinf(creal(x)) || isinf(cimag(x))) \
	X(isnan, false, x != x, x != x) \
	X(isreal, true, true, cimag(x) == 0) \
	X(logical_not, !x, !x, x == 0)
#define DEFINE(id, ie, e, ze) \
	PW_LOOP(id##_i64, int64_t, bool, ((void)x, ie)) \
	PW_LOOP(id##_f32, float, bool, ((void)x, e)) \
	PW_LOOP(id##_f64, double, bool, ((void)x, e)) \
	PW_LOOP(id##_c128, double complex, bool, ze) \
	static const struct pointwise op_##id = {#id, {OF_INTS(id), OF_FLOATS(id), OF_COMPLEX(id)}, .result = PW_BOOL};
TESTS(DEFINE)
#undef DEFINE
PW_LOOP(signbit_i64, int64_t, bool, x < 0)
PW_LOOP(signbit_f32, float, bool, signbit(x))
PW_LOOP(signbit_f64, double, bool, signbit(x))
static const struct pointwise op_signbit = {"signbit", {OF_INTS(signbit), OF_FLOATS(signbit)}, .result = PW_BOOL};
PW_LOOP(isposinf_i64, int64_t, bool, ((void)x, false))
PW_LOOP(isposinf_f32, float, bool, x == (float)INFINITY)
PW_LOOP(isposinf_f64, double, bool, x == (double)INFINITY)
static const struct pointwise op_isposinf = {"isposinf", {OF_INTS(isposinf), OF_FLOATS(isposinf)}, .result = PW_BOOL};
PW_LOOP(isneginf_f32, float, bool, x == (float)-INFINITY)
PW_LOOP(isneginf_f64, double, bool, x == (double)-INFINITY)
static const struct pointwise op_isneginf = {"isneginf", {OF_INTS(isposinf), OF_FLOATS(isneginf)}, .result = PW_BOOL};

/* The parts' dtype of complex numbers. */
INTS(abs, x < 0 ? -(uint64_t)x : (uint64_t)x)
FLOATS(abs, fabs(x))
PW_LOOP(abs_c128, double complex, double, cabs(x))
static const struct pointwise op_abs = {"abs", {OF_INTS(abs), OF_FLOATS(abs), OF_COMPLEX(abs)}, .result = PW_REAL};
FLOATS(angle, x != x ? x : x < 0 ? C(M_PI) : C(0))
PW_LOOP(angle_c128, double complex, double, carg(x))
static const struct pointwise op_angle = {"angle", {OF_FLOATS(angle), OF_COMPLEX(angle)}, .result = PW_REAL, .to_float = true};

/* ---- with numbers ---- */

#define F32F64(id, e) PW_LOOP(id##_f32, float, float, e(K_F32)) PW_LOOP(id##_f64, double, double, e(K_F64))
#define ELU(K) (x < 0 ? expm1(x * K(2)) * K(0) * K(1) : x * K(1))
#define HARDSHRINK(K) (x >= -K(0) && x <= K(0) ? C(0) : x)
#define HARDTANH(K) (x < K(0) ? K(0) : x > K(1) ? K(1) : x)
#define LEAKY_RELU(K) (x > 0 ? x : x * K(0))
#define SOFTPLUS(K) (x * K(0) > K(1) ? x : log1p(exp(x * K(0))) / K(0))
#define SOFTSHRINK(K) (x > K(0) ? x - K(0) : x < -K(0) ? x + K(0) : x * 0)
#define THRESHOLD(K) (x <= K(0) ? K(1) : x)
#define CUT(K) (K(0) < 0 ? x : x < K(0) ? K(0) : x > 1 - K(0) ? 1 - K(0) : x)
#define LOGIT(K) log(CUT(K) / (1 - CUT(K)))
#define NAN_TO_NUM(K) (x != x ? K(0) : x == (typeof(x))INFINITY ? K(1) : x == (typeof(x))-INFINITY ? K(2) : x)
F32F64(elu, ELU)
F32F64(hardshrink, HARDSHRINK)
F32F64(hardtanh, HARDTANH)
PW_LOOP(hardtanh_i64, int64_t, int64_t, HARDTANH(K_I64))
F32F64(leaky_relu, LEAKY_RELU)
F32F64(softplus, SOFTPLUS)
F32F64(softshrink, SOFTSHRINK)
F32F64(threshold, THRESHOLD)
PW_LOOP(threshold_i64, int64_t, int64_t, THRESHOLD(K_I64))
F32F64(logit, LOGIT)
F32F64(nan_to_num, NAN_TO_NUM)
INTS(nan_to_num, x)
static const struct pointwise op_elu = {"elu", {OF_FLOATS(elu)}}, op_hardshrink = {"hardshrink", {OF_FLOATS(hardshrink)}},
			      op_hardtanh = {"hardtanh", {OF_FLOATS(hardtanh), OF_INTS(hardtanh)}, .no_bool = true},
			      op_leaky_relu = {"leaky_relu", {OF_FLOATS(leaky_relu)}}, op_softplus = {"softplus", {OF_FLOATS(softplus)}},
			      op_softshrink = {"softshrink", {OF_FLOATS(softshrink)}},
			      op_threshold = {"threshold", {OF_FLOATS(threshold), OF_INTS(threshold)}, .no_bool = true},
			      op_logit = {"logit", {OF_FLOATS(logit)}, .to_float = true},
			      op_nan_to_num = {"nan_to_num", {OF_FLOATS(nan_to_num), OF_INTS(nan_to_num)}};

/* The arguments behind self are the numbers 0, 1, 2. */
static void run_numbers(struct aten_call *c)
{
	struct pointwise_numbers k = {0};
	for (uint32_t i = 1; i < c->n && i <= PW_NUMBERS; i++)
		if (!call_is_none(c, i))
			pointwise_number(&k, (int)i - 1, &c->arg[i]);
	call_give(c, 0, aten_pointwise(c->entry->data, (struct aten_tensor *[]){call_tensor(c, 0)}, 1, &k));
}

static struct aten_tensor *elu(struct aten_tensor *self, double alpha, double scale, double input_scale)
{
	struct pointwise_numbers k = {.f = {alpha, scale, input_scale}};
	return aten_pointwise(&op_elu, &self, 1, &k);
}
static void run_celu(struct aten_call *c)
{
	double alpha = call_float(c, 1);
	if (alpha == 0)
		aten_fail("ZeroDivisionError: alpha cannot be 0 for CELU");
	call_give(c, 0, elu(call_tensor(c, 0), alpha, 1, 1 / alpha));
}
static void run_selu(struct aten_call *c)
{
	call_give(c, 0, elu(call_tensor(c, 0), 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1));
}
static void run_relu6(struct aten_call *c)
{
	struct pointwise_numbers k = {.f = {0, 6}, .i = {0, 6}};
	call_give(c, 0, aten_pointwise(&op_hardtanh, (struct aten_tensor *[]){call_tensor(c, 0)}, 1, &k));
}
static void run_logit(struct aten_call *c)
{
	struct pointwise_numbers k = {.f = {call_float_or(c, 1, -1)}};
	call_give(c, 0, aten_pointwise(&op_logit, (struct aten_tensor *[]){call_tensor(c, 0)}, 1, &k));
}
static void run_gelu(struct aten_call *c)
{
	bool tanh_form = !strcmp(call_string_or(c, 1, "none"), "tanh");
	call_give(c, 0, aten_pointwise(tanh_form ? &op_gelu_tanh : &op_gelu_erf, (struct aten_tensor *[]){call_tensor(c, 0)}, 1, NULL));
}
/* The largest number of self's dtype replaces infinity if none is given. */
static void run_nan_to_num(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	double most = self->dtype == DTYPE_F64    ? 0x1.fffffffffffffp1023
		      : self->dtype == DTYPE_F16  ? 65504
		      : self->dtype == DTYPE_BF16 ? 0x1.fep127
						  : 0x1.fffffep127;
	struct pointwise_numbers k = {.f = {call_float_or(c, 1, 0), call_float_or(c, 2, most), call_float_or(c, 3, -most)}};
	call_give(c, 0, aten_pointwise(&op_nan_to_num, &self, 1, &k));
}
#define DECIMALS(K) (K(1) ? nearbyint(x / K(0)) * K(0) : nearbyint(x * K(0)) / K(0))
F32F64(round_decimals, DECIMALS)
INTS(round_decimals, x)
static const struct pointwise op_round_decimals = {"round.decimals", {OF_FLOATS(round_decimals), OF_INTS(round_decimals)}};
static struct aten_tensor *round_decimals(struct aten_tensor *self, int64_t decimals)
{
	struct pointwise_numbers k = {.f = {pow(10.0, fabs((double)decimals)), decimals < 0}};
	return aten_pointwise(&op_round_decimals, &self, 1, &k);
}
/* aten/src/ATen/native/cpu/UnaryOpsKernel.cpp, round_decimals */
static void run_round_decimals(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	call_give(c, 0, call_int(c, 1) ? round_decimals(self, call_int(c, 1)) : aten_pointwise(&op_round, &self, 1, NULL));
}

struct aten_tensor *aten_abs(struct aten_tensor *self) { return aten_pointwise(&op_abs, &self, 1, NULL); }

/* Contiguous for complex numbers (aten/src/ATen/native/UnaryOps.cpp, angle). */
struct aten_tensor *aten_angle(struct aten_tensor *self)
{
	struct aten_tensor *out = aten_pointwise(&op_angle, &self, 1, NULL);
	return aten_is_complex(self->dtype) ? aten_contiguous(out) : out;
}
static void run_angle(struct aten_call *c) { call_give(c, 0, aten_angle(call_tensor(c, 0))); }
/* Real numbers are returned unchanged; likewise for positive, and the operators that resolve a bit that tensors do not have here. */
static void run_same(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	if (self->dtype == DTYPE_BOOL && !strcmp(c->entry->name, "positive"))
		aten_fail("The `+` operator, on a bool tensor is not supported.");
	call_give(c, 0, self);
}
/* pow(self, 2), which turns bools into integers */
static void run_square(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	call_give(c, 0, aten_pointwise_as(&op_square, self->dtype == DTYPE_BOOL ? DTYPE_I64 : self->dtype, &self, 1, NULL));
}
static void run_conj_physical(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	call_give(c, 0, aten_is_complex(self->dtype) ? aten_conj(self) : self);
}
static void run_bitwise_not(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	call_give(c, 0, aten_pointwise(self->dtype == DTYPE_BOOL ? &op_logical_not : &op_bitwise_not, &self, 1, NULL));
}

struct aten_tensor *aten_conj(struct aten_tensor *self) { return aten_pointwise(&op_conj_physical, &self, 1, NULL); }
struct aten_tensor *aten_isnan(struct aten_tensor *self) { return aten_pointwise(&op_isnan, &self, 1, NULL); }
struct aten_tensor *aten_relu(struct aten_tensor *self) { return aten_pointwise(&op_relu, &self, 1, NULL); }
struct aten_tensor *aten_sigmoid(struct aten_tensor *self) { return aten_pointwise(&op_sigmoid, &self, 1, NULL); }
struct aten_tensor *aten_tanh(struct aten_tensor *self) { return aten_pointwise(&op_tanh, &self, 1, NULL); }

/* Without training nothing is dropped. */
static void run_polygamma(struct aten_call *c) /* n, self; special_polygamma too */
{
	struct pointwise_numbers k = {.i = {call_int(c, 0)}};
	if (k.i[0] < 0)
		aten_fail("polygamma(n, x) does not support negative n.");
	call_give(c, 0, aten_pointwise(&op_polygamma, (struct aten_tensor *[]){call_tensor(c, 1)}, 1, &k));
}

static void run_mvlgamma(struct aten_call *c) /* self, p */
{
	struct pointwise_numbers k = {.i = {call_int(c, 1)}};
	if (k.i[0] < 1 || k.i[0] > 1000)
		aten_fail("p has to be greater than or equal to 1");
	call_give(c, 0, aten_pointwise(&op_mvlgamma, (struct aten_tensor *[]){call_tensor(c, 0)}, 1, &k));
}

#define ROW(id, ...) {#id, run_pointwise1, &op_##id},
const struct aten_entry aten_unary_entries[] = {
    /* clang-format off */
    WITH_COMPLEX(ROW) TO_FLOAT(ROW) WITH_INTS(ROW) ROW(neg) ROW(sgn) TESTS(ROW)
    /* clang-format on */
    {"_conj", run_pointwise1, &op_conj},
    {"_neg_view", run_pointwise1, &op_neg_view},
    {"abs", run_pointwise1, &op_abs},
    {"angle", run_angle},
    {"bitwise_not", run_bitwise_not},
    {"square", run_square},
    {"conj_physical", run_conj_physical},
    {"positive", run_same},
    {"resolve_conj", run_same},
    {"resolve_neg", run_same},
    {"celu", run_celu},
    {"elu", run_numbers, &op_elu},
    {"frac", run_pointwise1, &op_frac},
    {"gelu", run_gelu},
    {"hardshrink", run_numbers, &op_hardshrink},
    {"hardsigmoid", run_pointwise1, &op_hardsigmoid},
    {"hardswish", run_pointwise1, &op_hardswish},
    {"hardtanh", run_numbers, &op_hardtanh},
    {"isneginf", run_pointwise1, &op_isneginf},
    {"isposinf", run_pointwise1, &op_isposinf},
    {"leaky_relu", run_numbers, &op_leaky_relu},
    {"log_sigmoid", run_pointwise1, &op_log_sigmoid},
    {"logit", run_logit},
    {"mish", run_pointwise1, &op_mish},
    {"mvlgamma", run_mvlgamma},
    {"nan_to_num", run_nan_to_num},
    {"polygamma", run_polygamma},
    {"relu6", run_relu6},
    {"round.decimals", run_round_decimals},
    {"selu", run_selu},
    {"signbit", run_pointwise1, &op_signbit},
    {"silu", run_pointwise1, &op_silu},
    {"softplus", run_numbers, &op_softplus},
    {"softshrink", run_numbers, &op_softshrink},
    {"special_erf", run_pointwise1, &op_erf},
    {"special_expit", run_pointwise1, &op_sigmoid},
    {"special_exp2", run_pointwise1, &op_exp2},
    {"special_expm1", run_pointwise1, &op_expm1},
    {"special_gammaln", run_pointwise1, &op_lgamma},
    {"special_multigammaln", run_mvlgamma},
    {"special_polygamma", run_polygamma},
    {"threshold", run_numbers, &op_threshold},
    {0},
};
