/* Operators of two elements. Each works on tensors, or on a number in place of one, which has the lowest priority in promotion
 * (torch 2.13, aten/src/ATen/native/cpu/BinaryOpsKernel.cpp, BinaryOps.cpp, PowKernel.cpp). */
#include "elem.h"
#include "ops.h"
#include "pointwise.h"
#include "special.h"

#include <tgmath.h>

#define C(v) ((typeof(x))(v))
#define FLOATS(id, e) PW_LOOP2(id##_f32, float, float, e) PW_LOOP2(id##_f64, double, double, e)
#define COMPLEX(id, e) PW_LOOP2(id##_c128, double complex, double complex, e)
#define INTS(id, e) PW_LOOP2(id##_i64, int64_t, int64_t, e)
#define OF_FLOATS(id) [PW_F32] = id##_f32, [PW_F64] = id##_f64
#define OF_COMPLEX(id) [PW_C128] = id##_c128
#define OF_INTS(id) [PW_I64] = id##_i64

/* ---- integers ---- */

static int64_t div_trunc_of(int64_t a, int64_t b)
{
	if (!b)
		aten_fail("ZeroDivisionError");
	return b == -1 ? (int64_t) - (uint64_t)a : a / b;
}
static int64_t remainder_of(int64_t a, int64_t b)
{
	if (!b)
		aten_fail("ZeroDivisionError");
	int64_t r = b == -1 ? 0 : a % b;
	return r && (r < 0) != (b < 0) ? r + b : r;
}
static int64_t div_floor_of(int64_t a, int64_t b)
{
	int64_t q = div_trunc_of(a, b);
	return b != -1 && a % b && (a < 0) != (b < 0) ? q - 1 : q;
}
static int64_t power_of(int64_t b, int64_t e)
{
	uint64_t r = 1, v = (uint64_t)b;
	if (e < 0)
		return b == 1 ? 1 : b == -1 ? (e % 2 ? -1 : 1) : 0;
	for (; e; e >>= 1, v *= v)
		if (e & 1)
			r *= v;
	return (int64_t)r;
}
static uint64_t magnitude(int64_t v) { return v < 0 ? -(uint64_t)v : (uint64_t)v; }
static int64_t lcm_of(int64_t a, int64_t b)
{
	uint64_t d = gcd(magnitude(a), magnitude(b));
	return d ? (int64_t)magnitude((int64_t)((uint64_t)(a / (int64_t)d) * (uint64_t)b)) : 0;
}

/* ---- complex numbers: not C's own product, which handles infinities separately ---- */

static double complex power_of_complex(double complex a, double complex b)
{
	return b == 2 ? complex_times(a, a) : b == 0.5 ? csqrt(a) : b == -1 ? 1 / a : a == 0 && b == 0 ? 1 : cpow(a, b);
}

/* ---- floats ---- */

#define FLOORED(id, T, S) \
	static T id(T a, T b) \
	{ \
		if (b == 0) \
			return a / b; \
		T mod = fmod##S(a, b), div = (a - mod) / b; \
		if (mod != 0 && (b < 0) != (mod < 0)) \
			div -= 1; \
		if (div == 0) \
			return copysign##S(0, a / b); \
		T down = floor##S(div); \
		return div - down > (T)0.5 ? down + 1 : down; \
	} \
	static T id##_rest(T a, T b) \
	{ \
		T mod = fmod##S(a, b); \
		return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod; \
	}
FLOORED(floored_f32, float, f)
FLOORED(floored_f64, double, )
/* Whatever the type: the half types come as float. */
#define FLOORDIV(a, b) _Generic((a), float : floored_f32, default : floored_f64)(a, b)
#define REST(a, b) _Generic((a), float : floored_f32_rest, default : floored_f64_rest)(a, b)

/* ---- operators that keep the dtype ---- */

#define ADD(K) (x + K(0) * y)
#define RSUB(K) (y - K(0) * x)
PW_LOOP2(add_i64, int64_t, int64_t, (uint64_t)x + (uint64_t)K_I64(0) * (uint64_t)y)
PW_LOOP2(add_f32, float, float, ADD(K_F32))
PW_LOOP2(add_f64, double, double, ADD(K_F64))
PW_LOOP2(add_c128, double complex, double complex, x + complex_times(K_C128(0), y))
static const struct pointwise op_add = {"add", {OF_INTS(add), OF_FLOATS(add), OF_COMPLEX(add)}, .exact_numbers = true};
static const struct pointwise op_sub = {"sub", {OF_INTS(add), OF_FLOATS(add), OF_COMPLEX(add)}, .no_bool = true, .exact_numbers = true};
PW_LOOP2(rsub_i64, int64_t, int64_t, (uint64_t)y - (uint64_t)K_I64(0) * (uint64_t)x)
PW_LOOP2(rsub_f32, float, float, RSUB(K_F32))
PW_LOOP2(rsub_f64, double, double, RSUB(K_F64))
PW_LOOP2(rsub_c128, double complex, double complex, y - complex_times(K_C128(0), x))
static const struct pointwise op_rsub = {
    "rsub", {OF_INTS(rsub), OF_FLOATS(rsub), OF_COMPLEX(rsub)}, .no_bool = true, .exact_numbers = true};

INTS(mul, (uint64_t)x *(uint64_t)y)
FLOATS(mul, x *y)
COMPLEX(mul, complex_times(x, y))
static const struct pointwise op_mul = {"mul", {OF_INTS(mul), OF_FLOATS(mul), OF_COMPLEX(mul)}, .exact_numbers = true};
INTS(pow, power_of(x, y))
FLOATS(pow, y == 2 ? x * x : pow(x, y))
COMPLEX(pow, power_of_complex(x, y))
static const struct pointwise op_pow = {"pow", {OF_INTS(pow), OF_FLOATS(pow), OF_COMPLEX(pow)}};

#define ARITHMETIC(X) \
	X(div_floor, div_floor_of(x, y), FLOORDIV(x, y), false) \
	X(div_trunc, div_trunc_of(x, y), trunc(x / y), false) \
	X(floor_divide, div_floor_of(x, y), FLOORDIV(x, y), false) \
	X(fmod, (y == 0 ? div_trunc_of(x, y) : y == -1 ? 0 : x % y), fmod(x, y), false) \
	X(remainder, remainder_of(x, y), REST(x, y), false) \
	X(maximum, x > y ? x : y, x != x || x > y ? x : y, true) \
	X(minimum, x < y ? x : y, x != x || x < y ? x : y, true) \
	X(fmax, x > y ? x : y, fmax(x, y), true) \
	X(fmin, x < y ? x : y, fmin(x, y), true) \
	X(heaviside, x == 0 ? y : x > 0, x == 0 ? y : C(x > 0), false)
#define DEFINE(id, ie, e, in_order) \
	INTS(id, ie) FLOATS(id, e) static const struct pointwise op_##id = {#id, {OF_INTS(id), OF_FLOATS(id)}, .orders = in_order};
ARITHMETIC(DEFINE)
#undef DEFINE
#define INTEGER(X) \
	X(bitwise_and, x &y) \
	X(bitwise_or, x | y) \
	X(bitwise_xor, x ^ y) \
	X(bitwise_left_shift, (y < 0 || y > 63 ? 0 : (int64_t)((uint64_t)x << y))) \
	X(bitwise_right_shift, x >> (y < 0 || y > 63 ? 63 : y)) \
	X(gcd, (int64_t)gcd(magnitude(x), magnitude(y))) \
	X(lcm, lcm_of(x, y))
#define DEFINE(id, ie) INTS(id, ie) static const struct pointwise op_##id = {#id, {OF_INTS(id)}};
INTEGER(DEFINE)
#undef DEFINE

/* ---- floats of integers ---- */

FLOATS(div, x / y)
COMPLEX(div, x / y)
static const struct pointwise op_div = {"div", {OF_FLOATS(div), OF_COMPLEX(div)}, .to_float = true, .exact_numbers = true};
#define TO_FLOAT(X) \
	X(atan2, atan2(x, y)) \
	X(copysign, copysign(x, y)) \
	X(hypot, hypot(x, y)) \
	X(igamma, (typeof(x))special_igamma((double)x, (double)y)) \
	X(igammac, (typeof(x))special_igammac((double)x, (double)y)) \
	X(zeta, (typeof(x))special_zeta((double)x, (double)y)) \
	X(logaddexp, isinf(x) && x == y ? x : fmax(x, y) + log1p(exp(-fabs(x - y)))) \
	X(logaddexp2, isinf(x) && x == y ? x : fmax(x, y) + log1p(exp2(-fabs(x - y))) * C(M_LOG2E)) \
	X(xlogy, y != y ? y : x == 0 ? 0 : x * log(y)) \
	X(xlog1py, y != y ? y : x == 0 ? 0 : x * log1p(y))
#define POLYNOMIALS(X) \
	X(special_chebyshev_polynomial_t, (typeof(x))special_chebyshev(CHEBYSHEV_T, (double)x, (double)y)) \
	X(special_chebyshev_polynomial_u, (typeof(x))special_chebyshev(CHEBYSHEV_U, (double)x, (double)y)) \
	X(special_chebyshev_polynomial_v, (typeof(x))special_chebyshev(CHEBYSHEV_V, (double)x, (double)y)) \
	X(special_chebyshev_polynomial_w, (typeof(x))special_chebyshev(CHEBYSHEV_W, (double)x, (double)y)) \
	X(special_shifted_chebyshev_polynomial_t, (typeof(x))special_chebyshev(CHEBYSHEV_T, 2 * (double)x - 1, (double)y)) \
	X(special_shifted_chebyshev_polynomial_u, (typeof(x))special_chebyshev(CHEBYSHEV_U, 2 * (double)x - 1, (double)y)) \
	X(special_shifted_chebyshev_polynomial_v, (typeof(x))special_chebyshev(CHEBYSHEV_V, 2 * (double)x - 1, (double)y)) \
	X(special_shifted_chebyshev_polynomial_w, (typeof(x))special_chebyshev(CHEBYSHEV_W, 2 * (double)x - 1, (double)y)) \
	X(special_hermite_polynomial_h, (typeof(x))special_hermite_h((double)x, (double)y, sizeof(x) == 4 ? 128 : 512)) \
	X(special_hermite_polynomial_he, (typeof(x))special_hermite_he((double)x, (double)y, sizeof(x) == 4 ? 128 : 512)) \
	X(special_laguerre_polynomial_l, (typeof(x))special_laguerre((double)x, (double)y)) \
	X(special_legendre_polynomial_p, (typeof(x))special_legendre((double)x, (double)y))
#define DEFINE(id, e) FLOATS(id, e) static const struct pointwise op_##id = {#id, {OF_FLOATS(id)}, .to_float = true};
TO_FLOAT(DEFINE)
POLYNOMIALS(DEFINE)
#undef DEFINE

/* ---- bools ---- */

#define COMPARISONS(X) \
	X(ge, x >= y) \
	X(gt, x > y) \
	X(le, x <= y) \
	X(lt, x < y)
#define EQUALITIES(X) \
	X(eq, x == y) \
	X(ne, x != y)
#define LOGICAL(X) \
	X(logical_and, x != 0 && y != 0) \
	X(logical_or, x != 0 || y != 0) \
	X(logical_xor, (x != 0) != (y != 0))
#define BOOLS(id, e) \
	PW_LOOP2(id##_i64, int64_t, bool, e) \
	PW_LOOP2(id##_f32, float, bool, e) \
	PW_LOOP2(id##_f64, double, bool, e)
#define DEFINE(id, e) \
	BOOLS(id, e) static const struct pointwise op_##id = {#id, {OF_INTS(id), OF_FLOATS(id)}, .result = PW_BOOL, .orders = true};
COMPARISONS(DEFINE)
#undef DEFINE
#define DEFINE(id, e) \
	BOOLS(id, e) \
	PW_LOOP2(id##_c128, double complex, bool, e) \
	static const struct pointwise op_##id = {#id, {OF_INTS(id), OF_FLOATS(id), OF_COMPLEX(id)}, .result = PW_BOOL};
EQUALITIES(DEFINE)
LOGICAL(DEFINE)
#undef DEFINE

/* ---- two real numbers make a complex one ---- */

PW_LOOP2(polar_f32, float, double complex, CMPLX(x *cos((double)y), x *sin((double)y)))
PW_LOOP2(polar_f64, double, double complex, CMPLX(x *cos(y), x *sin(y)))
PW_LOOP2(complex_f32, float, double complex, CMPLX(x, y))
PW_LOOP2(complex_f64, double, double complex, CMPLX(x, y))
static const struct pointwise op_polar = {"polar", {OF_FLOATS(polar)}, .result = PW_COMPLEX},
			      op_complex = {"complex", {OF_FLOATS(complex)}, .result = PW_COMPLEX};

/* ---- as functions ---- */

static struct aten_tensor *apply_two(const struct pointwise *op, struct aten_tensor *a, struct aten_tensor *b)
{
	return aten_pointwise(op, (struct aten_tensor *[]){a, b}, 2, NULL);
}
static struct aten_tensor *scaled(const struct pointwise *op, struct aten_tensor *a, struct aten_tensor *b, const struct aten_value *alpha,
				  double sign)
{
	struct pointwise_numbers k;
	pointwise_number(&k, 0, alpha);
	k.i[0] = sign < 0 ? (int64_t) - (uint64_t)k.i[0] : k.i[0];
	k.f[0] *= sign;
	k.z[0] *= sign;
	return aten_pointwise(op, (struct aten_tensor *[]){a, b}, 2, &k);
}
struct aten_tensor *aten_number(double v)
{
	struct aten_tensor *t = aten_new_anyway(DTYPE_F64, 0, NULL);
	t->wrapped = true;
	elem_set_f64(DTYPE_F64, aten_data(t), v);
	return t;
}
static struct aten_value alpha_value(double alpha) { return alpha == floor(alpha) ? aten_int((int64_t)alpha) : aten_float(alpha); }
struct aten_tensor *aten_add(struct aten_tensor *a, struct aten_tensor *b, double alpha)
{
	struct aten_value v = alpha_value(alpha);
	return scaled(&op_add, a, b, &v, 1);
}
struct aten_tensor *aten_sub(struct aten_tensor *a, struct aten_tensor *b, double alpha)
{
	struct aten_value v = alpha_value(alpha);
	return scaled(&op_sub, a, b, &v, -1);
}
struct aten_tensor *aten_mul(struct aten_tensor *a, struct aten_tensor *b) { return apply_two(&op_mul, a, b); }
/* The power of a number is contiguous, whatever the exponent is (aten/src/ATen/native/Pow.cpp, pow_Scalar). */
struct aten_tensor *aten_pow(struct aten_tensor *a, struct aten_tensor *b)
{
	struct aten_tensor *out = apply_two(&op_pow, a, b);
	return a->wrapped ? aten_contiguous(out) : out;
}
struct aten_tensor *aten_gcd(struct aten_tensor *a, struct aten_tensor *b) { return apply_two(&op_gcd, a, b); }
struct aten_tensor *aten_logical_xor(struct aten_tensor *a, struct aten_tensor *b) { return apply_two(&op_logical_xor, a, b); }
struct aten_tensor *aten_polar(struct aten_tensor *abs, struct aten_tensor *angle) { return apply_two(&op_polar, abs, angle); }

/* ---- by name ---- */

static void run_scaled(struct aten_call *c)
{
	const struct pointwise *op = c->entry->data;
	call_give(c, 0, scaled(op, call_operand(c, 0), call_operand(c, 1), &c->arg[2], op == &op_sub ? -1 : 1));
}
static void run_div_mode(struct aten_call *c)
{
	const char *mode = call_string_or(c, 2, "");
	if (*mode && strcmp(mode, "trunc") != 0 && strcmp(mode, "floor") != 0)
		aten_fail("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '%s'", mode);
	call_give(c, 0, apply_two(!*mode ? &op_div : *mode == 't' ? &op_div_trunc : &op_div_floor, call_operand(c, 0), call_operand(c, 1)));
}
static void run_pow_number(struct aten_call *c)
{
	struct aten_tensor *base = call_operand(c, 0), *exponent = call_operand(c, 1);
	if (elem_integral(base->dtype) && exponent->wrapped && elem_integral(exponent->dtype) && c->arg[1].i < 0)
		aten_fail("Integers to negative integer powers are not allowed.");
	call_give(c, 0, aten_pow(base, exponent));
}

/* The neighbour in the operands' own dtype: not of the float that a half is computed in. */
static void run_nextafter(struct aten_call *c)
{
	struct aten_tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
	const int dtype = aten_result_type_of((const struct aten_tensor *[]){a, b}, 2);
	const bool half = dtype == DTYPE_BF16 || dtype == DTYPE_F16;
	if (dtype != DTYPE_F32 && dtype != DTYPE_F64 && !half)
		aten_fail("\"nextafter_cpu\" not implemented for '%s'", dtype_name(dtype));
	a = aten_to_copy(a, dtype, ATEN_PRESERVE);
	b = aten_to_copy(b, dtype, ATEN_PRESERVE);
	struct aten_tensor *out = aten_elementwise(dtype, (const struct aten_tensor *[]){a, b}, 2);
	struct walk w = WALK(out, a, b);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		const double x = elem_f64(dtype, w.p[1]), y = elem_f64(dtype, w.p[2]);
		if (!half) {
			elem_set_f64(dtype, w.p[0], dtype == DTYPE_F64 ? nextafter(x, y) : (double)nextafterf((float)x, (float)y));
			continue;
		}
		uint16_t bits;
		memcpy(&bits, w.p[1], sizeof(bits));
		if (x != x || y != y)
			bits = dtype == DTYPE_F16 ? 0x7e00 : 0x7fc0;
		else if (x == y)
			memcpy(&bits, w.p[2], sizeof(bits));
		else if (x == 0)
			bits = y < 0 ? 0x8001 : 1;
		else
			bits = (uint16_t)(bits + ((x < y) == (x > 0) ? 1 : -1));
		memcpy(w.p[0], &bits, sizeof(bits));
	}
	call_give(c, 0, out);
}

#define BOTH(id, run, op) {#id ".Tensor", run, &op_##op}, {#id ".Scalar", run, &op_##op},
#define ROWS(id, ...) BOTH(id, run_pointwise2, id)
#define ROWS3(id, ...) ROWS(id){#id ".Scalar_Tensor", run_pointwise2, &op_##id},
#define PLAIN(id, ...) {#id, run_pointwise2, &op_##id},
#define DUNDER(id, op) BOTH(__##id##__, run_pointwise2, op)
/* Into a given tensor, which is resized as needed. */
static void run_into(struct aten_call *c) /* self, other, out; entry.data: the operator */
{
	const struct aten_tensor *made =
	    aten_pointwise(c->entry->data, (struct aten_tensor *[]){call_tensor(c, 0), call_tensor(c, 1)}, 2, NULL);
	struct aten_tensor *out = call_tensor(c, 2);
	if (!aten_is_float(out->dtype) && !aten_is_complex(out->dtype))
		aten_fail("result type %s can't be cast to the desired output type %s", dtype_name(made->dtype), dtype_name(out->dtype));
	if (!aten_same_sizes(made, out))
		aten_resize(out, (struct ints){made->size, made->n_dim}, NULL);
	aten_copy(out, made);
	call_give(c, 0, out);
}

#define ORDERS(id, e) \
	{#id, run_pointwise2, &op_##id}, {#id ".x_scalar", run_pointwise2, &op_##id}, {#id ".n_scalar", run_pointwise2, &op_##id},
const struct aten_entry aten_binary_entries[] = {
    /* clang-format off */
    COMPARISONS(ROWS) EQUALITIES(ROWS) LOGICAL(PLAIN)
    DUNDER(and, bitwise_and) DUNDER(or, bitwise_or) DUNDER(xor, bitwise_xor) DUNDER(lshift, bitwise_left_shift)
    DUNDER(rshift, bitwise_right_shift)
    ROWS3(bitwise_and) ROWS3(bitwise_or) ROWS3(bitwise_xor) ROWS3(remainder)
    ROWS(fmod) ROWS(mul) ROWS(div) ROWS(copysign)
    PLAIN(maximum) PLAIN(minimum) PLAIN(fmax) PLAIN(fmin) PLAIN(gcd) PLAIN(lcm) PLAIN(atan2) PLAIN(hypot) PLAIN(logaddexp)
    PLAIN(logaddexp2) PLAIN(polar) PLAIN(complex) PLAIN(heaviside) PLAIN(floor_divide)
    BOTH(add, run_scaled, add) BOTH(sub, run_scaled, sub) BOTH(subtract, run_scaled, sub) BOTH(rsub, run_scaled, rsub)
    POLYNOMIALS(ORDERS)
    BOTH(multiply, run_pointwise2, mul) BOTH(divide, run_pointwise2, div) BOTH(true_divide, run_pointwise2, div)
    /* clang-format on */
    {"atan2.out", run_into, &op_atan2},
    {"div.Tensor_mode", run_div_mode},
    {"div.Scalar_mode", run_div_mode},
    {"divide.Tensor_mode", run_div_mode},
    {"divide.Scalar_mode", run_div_mode},
    {"floor_divide.Scalar", run_pointwise2, &op_floor_divide},
    {"bitwise_left_shift.Tensor", run_pointwise2, &op_bitwise_left_shift},
    {"bitwise_left_shift.Tensor_Scalar", run_pointwise2, &op_bitwise_left_shift},
    {"bitwise_right_shift.Tensor", run_pointwise2, &op_bitwise_right_shift},
    {"bitwise_right_shift.Tensor_Scalar", run_pointwise2, &op_bitwise_right_shift},
    {"max.other", run_pointwise2, &op_maximum},
    {"min.other", run_pointwise2, &op_minimum},
    {"pow.Tensor_Tensor", run_pointwise2, &op_pow},
    {"pow.Tensor_Scalar", run_pow_number},
    {"pow.Scalar", run_pow_number},
    {"xlogy.Tensor", run_pointwise2, &op_xlogy},
    {"xlogy.Scalar_Other", run_pointwise2, &op_xlogy},
    {"xlogy.Scalar_Self", run_pointwise2, &op_xlogy},
    {"special_xlogy", run_pointwise2, &op_xlogy},
    {"special_gammainc", run_pointwise2, &op_igamma},
    {"special_gammaincc", run_pointwise2, &op_igammac},
    {"special_xlog1py", run_pointwise2, &op_xlog1py},
    {"special_xlog1py.other_scalar", run_pointwise2, &op_xlog1py},
    {"special_xlog1py.self_scalar", run_pointwise2, &op_xlog1py},
    {"special_zeta", run_pointwise2, &op_zeta},
    {"special_zeta.other_scalar", run_pointwise2, &op_zeta},
    {"special_zeta.self_scalar", run_pointwise2, &op_zeta},
    {"bitwise_left_shift.Scalar_Tensor", run_pointwise2, &op_bitwise_left_shift},
    {"bitwise_right_shift.Scalar_Tensor", run_pointwise2, &op_bitwise_right_shift},
    {"igamma", run_pointwise2, &op_igamma},
    {"igammac", run_pointwise2, &op_igammac},
    {"nextafter", run_nextafter},
    {0},
};
