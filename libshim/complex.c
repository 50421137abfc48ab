/* Operators on complex numbers: Inductor makes no kernels of them and calls ATen's through the proxy executor, for all but a
 * few have no C function (torch 2.15, torch/_inductor/lowering.py, unsupported_input_tensor). Computed in double and rounded once;
 * real operands among them count as complex ones. */
#include "elem.h"
#include "mat.h"
#include "proxy.h"

#include <math.h>

/* ---- parameters ---- */

/* A tensor, or a number as a tensor without dims that does not take part in promotion. */
static struct shim_tensor *operand(const struct proxy_call *c, const char *name, struct shim_tensor *beside, bool *is_number)
{
	const struct extern_value *v = extern_input(c->nodes, c->node, name);
	*is_number = !v || v->kind != EXTERN_TENSOR;
	if (!*is_number)
		return proxy_tensor(c, name);
	double complex z = proxy_number(c, name, 1);
	struct shim_tensor *t = shim_new(cimag(z) != 0 ? shim_complex_of(beside->dtype) : beside->dtype, 0, NULL, NULL);
	elem_set_c128(t->dtype, shim_data(t), z);
	return t;
}

static int dtype_or(const struct proxy_call *c, const char *name, int otherwise)
{
	const struct extern_value *v = extern_input(c->nodes, c->node, name);
	return v && v->kind == EXTERN_DTYPE ? (int)c->nodes->item[v->item].i : otherwise;
}

static bool named(const struct proxy_call *c, const char *op) { return !strcmp(c->node->op, op); }

/* ---- element by element ---- */

static double complex negate(double complex z) { return -z; }
static double complex inverse(double complex z) { return 1 / z; }
static double complex inverse_root(double complex z) { return 1 / csqrt(z); }
static double complex squared(double complex z) { return z * z; }
static double complex exp_2(double complex z) { return cexp(z * M_LN2); }
static double complex log_2(double complex z) { return clog(z) / M_LN2; }
static double complex log_10(double complex z) { return clog(z) / M_LN10; }
static double complex log_1p(double complex z)
{
	double x = creal(z), y = cimag(z); /* |1 + z|^2 - 1 without cancelling where z is small */
	return CMPLX(0.5 * log1p(x * (2 + x) + y * y), atan2(y, 1 + x));
}
static double complex exp_m1(double complex z)
{
	double s = sin(cimag(z) / 2), e = exp(creal(z));
	return CMPLX(expm1(creal(z)) * cos(cimag(z)) - 2 * s * s, e * sin(cimag(z)));
}
static double complex sigmoid(double complex z) { return 1 / (1 + cexp(-z)); }
static double complex silu(double complex z) { return z * sigmoid(z); }
static double complex sign(double complex z) { return z == 0 ? 0 : z / cabs(z); }
static double complex absolute(double complex z) { return cabs(z); }
static double complex argument(double complex z) { return carg(z); }
static double complex is_nan(double complex z) { return isnan(creal(z)) || isnan(cimag(z)); }
static double complex is_inf(double complex z) { return isinf(creal(z)) || isinf(cimag(z)); }
static double complex is_finite(double complex z) { return isfinite(creal(z)) && isfinite(cimag(z)); }
static double complex is_real(double complex z) { return cimag(z) == 0; }
static double complex is_zero(double complex z) { return z == 0; }
static double complex conjugate(double complex z) { return conj(z); }

static double complex subtract(double complex a, double complex b) { return a - b; }
static double complex reverse(double complex a, double complex b) { return b - a; }
static double complex divide(double complex a, double complex b) { return a / b; }
static double complex times(double complex a, double complex b)
{
	return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}
static double complex plus(double complex a, double complex b) { return a + b; }
static double complex power(double complex a, double complex b)
{
	return b == 2 ? times(a, a) : b == 0.5 ? csqrt(a) : b == -1 ? 1 / a : a == 0 && b == 0 ? 1 : cpow(a, b);
}
static double complex equal(double complex a, double complex b) { return a == b; }
static double complex differs(double complex a, double complex b) { return a != b; }
static double complex both_true(double complex a, double complex b) { return a != 0 && b != 0; }
static double complex any_true(double complex a, double complex b) { return a != 0 || b != 0; }
static double complex parts(double complex a, double complex b) { return CMPLX(creal(a), creal(b)); }
static double complex of_polar(double complex a, double complex b) { return CMPLX(creal(a) * cos(creal(b)), creal(a) * sin(creal(b))); }

enum result { SAME, REAL, BOOL, COMPLEX };

static int result_dtype(enum result kind, int dtype)
{
	return kind == SAME ? dtype : kind == BOOL ? DTYPE_BOOL : kind == REAL ? shim_real_of(dtype) : shim_complex_of(dtype);
}

static const struct element {
	const char *op;
	double complex (*one)(double complex);
	double complex (*two)(double complex, double complex);
	enum result result;
	const char *names[2]; /* of two: what the schema calls them, if not self and other */
} elements[] = {
    {"aten::_conj", conjugate, .result = SAME},
    {"aten::conj_physical", conjugate, .result = SAME},
    {"aten::_neg_view", negate, .result = SAME},
    {"aten::abs", absolute, .result = REAL},
    {"aten::acos", cacos, .result = SAME},
    {"aten::acosh", cacosh, .result = SAME},
    {"aten::angle", argument, .result = REAL},
    {"aten::asin", casin, .result = SAME},
    {"aten::asinh", casinh, .result = SAME},
    {"aten::atan", catan, .result = SAME},
    {"aten::atanh", catanh, .result = SAME},
    {"aten::cos", ccos, .result = SAME},
    {"aten::cosh", ccosh, .result = SAME},
    {"aten::exp", cexp, .result = SAME},
    {"aten::exp2", exp_2, .result = SAME},
    {"aten::expm1", exp_m1, .result = SAME},
    {"aten::isfinite", is_finite, .result = BOOL},
    {"aten::isinf", is_inf, .result = BOOL},
    {"aten::isnan", is_nan, .result = BOOL},
    {"aten::isreal", is_real, .result = BOOL},
    {"aten::log", clog, .result = SAME},
    {"aten::log10", log_10, .result = SAME},
    {"aten::log1p", log_1p, .result = SAME},
    {"aten::log2", log_2, .result = SAME},
    {"aten::logical_not", is_zero, .result = BOOL},
    {"aten::neg", negate, .result = SAME},
    {"aten::reciprocal", inverse, .result = SAME},
    {"aten::rsqrt", inverse_root, .result = SAME},
    {"aten::sgn", sign, .result = SAME},
    {"aten::sigmoid", sigmoid, .result = SAME},
    {"aten::silu", silu, .result = SAME},
    {"aten::sin", csin, .result = SAME},
    {"aten::sinh", csinh, .result = SAME},
    {"aten::sqrt", csqrt, .result = SAME},
    {"aten::square", squared, .result = SAME},
    {"aten::tan", ctan, .result = SAME},
    {"aten::tanh", ctanh, .result = SAME},
    {"aten::add", .two = plus, .result = SAME},
    {"aten::complex", .two = parts, .result = COMPLEX, .names = {"real", "imag"}},
    {"aten::div", .two = divide, .result = SAME},
    {"aten::eq", .two = equal, .result = BOOL},
    {"aten::logical_and", .two = both_true, .result = BOOL},
    {"aten::logical_or", .two = any_true, .result = BOOL},
    {"aten::mul", .two = times, .result = SAME},
    {"aten::ne", .two = differs, .result = BOOL},
    {"aten::polar", .two = of_polar, .result = COMPLEX, .names = {"abs", "angle"}},
    {"aten::pow", .two = power, .result = SAME, .names = {"self", "exponent"}},
    {"aten::rsub", .two = reverse, .result = SAME},
    {"aten::sub", .two = subtract, .result = SAME},
};

static const struct element *element_of(const struct proxy_call *c)
{
	for (size_t i = 0; i < ARRAY_LEN(elements); i++)
		if (named(c, elements[i].op))
			return &elements[i];
	shim_fail("it is not there");
}

/* Real numbers have operators of their own, which Inductor's kernels compute: what comes here is complex, or becomes it. */
static void need_complex(const struct shim_tensor *t, enum result result)
{
	if (!elem_complex(t->dtype) && result != COMPLEX)
		shim_fail("%s: only complex numbers are computed here; use libtorch", dtype_name(t->dtype));
}

static void proxy_unary(struct proxy_call *c)
{
	const struct element *e = element_of(c);
	struct shim_tensor *x = proxy_tensor(c, "self"), *out;
	struct walk w;
	int dtype = result_dtype(e->result, x->dtype);
	need_complex(x, e->result);
	/* A view with a bit set, in torch: strides as they are. */
	bool view = named(c, "aten::_conj") || named(c, "aten::_neg_view");
	out = view ? shim_new(dtype, x->n_dim, x->size, x->stride) : shim_like(x, dtype);
	walk_begin(&w, out->n_dim, out->size);
	walk_add(&w, shim_data(out), out);
	walk_add(&w, shim_data(x), x);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		elem_set_c128(dtype, w.p[0], e->one(elem_c128(x->dtype, w.p[1])));
	proxy_give(c, 0, out);
}

static void proxy_binary(struct proxy_call *c)
{
	const struct element *e = element_of(c);
	const char *first = e->names[0] ? e->names[0] : "self", *second = e->names[1] ? e->names[1] : "other";
	const struct extern_value *v = extern_input(c->nodes, c->node, first);
	bool a_number, b_number, swapped = v && v->kind != EXTERN_TENSOR; /* pow of a number: the exponent says what it becomes */
	struct shim_tensor *b = swapped ? proxy_tensor(c, second) : NULL, *a = operand(c, first, b, &a_number);
	struct walk w;
	if (!swapped)
		b = operand(c, second, a, &b_number);
	double complex alpha = proxy_number(c, "alpha", 1);
	if (!slice_is(proxy_string(c, "rounding_mode", ""), ""))
		shim_fail("complex numbers are not rounded");
	int common = shim_result_type(a, b), dtype = result_dtype(e->result, common);
	if (!elem_complex(common))
		need_complex(a, e->result);
	struct shim_tensor *out = shim_elementwise(dtype, (const struct shim_tensor *const[]){a, b}, 2);
	walk_begin(&w, out->n_dim, out->size);
	walk_add(&w, shim_data(out), out);
	walk_add(&w, shim_data(a), a);
	walk_add(&w, shim_data(b), b);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		double complex x = elem_c128(a->dtype, w.p[1]), y = elem_c128(b->dtype, w.p[2]);
		if (alpha != 1) /* rsub scales the first */
			*(e->two == reverse ? &x : &y) *= alpha;
		elem_set_c128(dtype, w.p[0], e->two(x, y));
	}
	proxy_give(c, 0, out);
}

static void proxy_where(struct proxy_call *c)
{
	struct shim_tensor *condition = proxy_tensor(c, "condition"), *a = proxy_tensor(c, "self"), *b = proxy_tensor(c, "other");
	int dtype = shim_result_type(a, b);
	struct shim_tensor *out = shim_elementwise(dtype, (const struct shim_tensor *const[]){condition, a, b}, 3);
	struct walk w;
	walk_begin(&w, out->n_dim, out->size);
	walk_add(&w, shim_data(out), out);
	walk_add(&w, shim_data(condition), condition);
	walk_add(&w, shim_data(a), a);
	walk_add(&w, shim_data(b), b);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		bool first = elem_true(condition->dtype, w.p[1]);
		shim_convert(dtype, w.p[0], 0, first ? a->dtype : b->dtype, w.p[first ? 2 : 3], 0, 1);
	}
	proxy_give(c, 0, out);
}

/* self + value * (t1 * t2), or t1 / t2 */
static void proxy_addc(struct proxy_call *c)
{
	struct shim_tensor *self = proxy_tensor(c, "self"), *a = proxy_tensor(c, "tensor1"), *b = proxy_tensor(c, "tensor2");
	double complex value = proxy_number(c, "value", 1);
	struct shim_tensor *out =
	    shim_elementwise(shim_promote(shim_result_type(self, a), b->dtype), (const struct shim_tensor *const[]){self, a, b}, 3);
	struct walk w;
	need_complex(out, SAME);
	walk_begin(&w, out->n_dim, out->size);
	walk_add(&w, shim_data(out), out);
	walk_add(&w, shim_data(self), self);
	walk_add(&w, shim_data(a), a);
	walk_add(&w, shim_data(b), b);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		double complex x = elem_c128(a->dtype, w.p[2]), y = elem_c128(b->dtype, w.p[3]);
		elem_set_c128(out->dtype, w.p[0],
			      elem_c128(self->dtype, w.p[1]) + value * (named(c, "aten::addcmul") ? times(x, y) : x / y));
	}
	proxy_give(c, 0, out);
}

/* ---- reductions ---- */

/* What is left of t when these dims have size 1: dense, in the order of t's dims. */
static struct shim_tensor *reduced(const struct shim_tensor *t, const bool *gone, int dtype)
{
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS], step = 1;
	bool placed[SHIM_DIMS] = {0};
	for (int i = 0; i < t->n_dim; i++)
		size[i] = gone[i] ? 1 : t->size[i];
	for (int n = 0; n < t->n_dim; n++) {
		int best = -1;
		for (int i = t->n_dim - 1; i >= 0; i--)
			if (!placed[i] && (best < 0 || t->stride[i] < t->stride[best]))
				best = i;
		placed[best] = true;
		stride[best] = step;
		step *= size[best] > 1 ? size[best] : 1;
	}
	return shim_new(dtype, t->n_dim, size, stride);
}

/* prod along a dim makes its result itself. */
static struct shim_tensor *contiguous_reduced(const struct shim_tensor *t, const bool *gone, int dtype)
{
	struct shim_tensor *like = reduced(t, gone, dtype);
	return shim_new(dtype, like->n_dim, like->size, NULL);
}

static struct shim_tensor *without(struct shim_tensor *t, const bool *gone)
{
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS];
	int n = 0;
	for (int i = 0; i < t->n_dim; i++)
		if (!gone[i]) {
			size[n] = t->size[i];
			stride[n++] = t->stride[i];
		}
	return shim_view(t, n, size, stride, t->offset);
}

/* sum, mean, prod: of all, or along dims */
static void proxy_reduce(struct proxy_call *c)
{
	struct shim_tensor *x = proxy_tensor(c, "self");
	bool gone[SHIM_DIMS] = {0}, product = named(c, "aten::prod"), one_dim = product && *c->node->overload;
	int64_t n = 0, each = 1, one = one_dim ? proxy_int(c, "dim", 0) : 0;
	const int64_t *dims = one_dim ? &one : *c->node->overload ? proxy_ints(c, "dim", &n) : NULL;
	int dtype = dtype_or(c, "dtype", x->dtype);
	struct walk w;
	n = one_dim ? 1 : n;
	need_complex(x, dtype != x->dtype && elem_complex(dtype) ? COMPLEX : SAME);
	for (int64_t i = 0; i < n && x->n_dim; i++)
		gone[shim_dim(x, dims[i])] = true;
	for (int i = 0; i < x->n_dim; i++) {
		gone[i] = gone[i] || !n;
		each *= gone[i] ? x->size[i] : 1;
	}
	struct shim_tensor *out = one_dim ? contiguous_reduced(x, gone, dtype) : reduced(x, gone, dtype),
			   *sum = shim_new(DTYPE_C128, out->n_dim, out->size, out->stride);
	double complex *v = (double complex *)shim_data(sum);
	for (int64_t i = 0; i < shim_numel(sum); i++)
		v[i] = product;
	walk_begin(&w, x->n_dim, x->size);
	walk_add(&w, shim_data(x), x);
	walk_add(&w, v, sum);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		double complex *to = (double complex *)w.p[1], y = elem_c128(x->dtype, w.p[0]);
		*to = product ? times(*to, y) : *to + y;
	}
	for (int64_t i = 0; i < shim_numel(sum) && named(c, "aten::mean"); i++)
		v[i] /= (double)each;
	shim_copy(out, sum);
	proxy_give(c, 0, proxy_bool(c, "keepdim", false) ? out : without(out, gone));
}

/* ---- products ---- */

static struct shim_tensor *product(struct shim_tensor *a, struct shim_tensor *b, struct shim_tensor *bias, double complex beta,
				   double complex alpha)
{
	int64_t size[SHIM_DIMS], batch = 1;
	int n = a->n_dim;
	if (n < 2 || b->n_dim != n || (n == 3 && a->size[0] != b->size[0]) || n > 3 || a->dtype != b->dtype)
		shim_fail("matrices of %d and %d dimensions, %s and %s", n, b->n_dim, dtype_name(a->dtype), dtype_name(b->dtype));
	memcpy(size, a->size, sizeof(size));
	size[n - 1] = b->size[n - 1];
	batch = n == 3 ? size[0] : 1;
	struct shim_tensor *out = shim_new(a->dtype, n, size, NULL), *add = NULL;
	if (bias && beta != 0) {
		add = shim_new(a->dtype, n, size, NULL);
		shim_copy(add, bias);
	}
	if (a->size[n - 1] == 0)
		shim_fill_zero(out);
	for (int64_t i = 0; i < batch && a->size[n - 1] && shim_numel(out); i++)
		mat_mul(mat_of(out, n == 3 ? i : -1), (struct mat){0}, mat_of(a, n == 3 ? i : -1), mat_of(b, n == 3 ? i : -1), 0, 1);
	char *p = shim_data(out), *q = add ? shim_data(add) : NULL;
	int64_t bytes = elem_bytes(out->dtype);
	for (int64_t i = 0; i < shim_numel(out) && (add || alpha != 1); i++)
		elem_set_c128(out->dtype, p + i * bytes,
			      times(alpha, elem_c128(out->dtype, p + i * bytes)) +
				  (add ? times(beta, elem_c128(out->dtype, q + i * bytes)) : 0));
	return out;
}

static void proxy_product(struct proxy_call *c)
{
	const char *second = named(c, "aten::baddbmm") ? "batch2" : "mat2", *first = named(c, "aten::baddbmm") ? "batch1" : "mat1";
	bool adds = named(c, "aten::addmm") || named(c, "aten::baddbmm");
	struct shim_tensor *self = proxy_tensor(c, "self");
	proxy_give(c, 0,
		   product(adds ? proxy_tensor(c, first) : self, proxy_tensor(c, second), adds ? self : NULL, proxy_number(c, "beta", 1),
			   proxy_number(c, "alpha", 1)));
}

/* Vectors: dot, vdot, mv */
static void proxy_dot(struct proxy_call *c)
{
	bool mv = named(c, "aten::mv"), first = named(c, "aten::vdot");
	struct shim_tensor *a = proxy_tensor(c, "self"), *b = proxy_tensor(c, mv ? "vec" : named(c, "aten::dot") ? "tensor" : "other");
	if (a->n_dim != 1 + mv || b->n_dim != 1 || a->size[mv] != b->size[0])
		shim_fail("vectors of other sizes");
	struct shim_tensor *out = shim_new(shim_result_type(a, b), mv, a->size, NULL);
	int64_t step = a->stride[mv] * elem_bytes(a->dtype), other = b->stride[0] * elem_bytes(b->dtype);
	for (int64_t i = 0; i < shim_numel(out); i++) {
		const char *row = shim_data(a) + (mv ? i * a->stride[0] * elem_bytes(a->dtype) : 0);
		double complex sum = 0;
		for (int64_t k = 0; k < b->size[0]; k++) {
			double complex x = elem_c128(a->dtype, row + k * step);
			sum += times(first ? conj(x) : x, elem_c128(b->dtype, shim_data(b) + k * other));
		}
		elem_set_c128(out->dtype, shim_data(out) + i * elem_bytes(out->dtype), sum);
	}
	proxy_give(c, 0, out);
}

/* ---- copies, fills and views; of any dtype ---- */

enum { CONTIGUOUS, PRESERVE }; /* c10::MemoryFormat; behind them channels_last of four and of five dims */

static struct shim_tensor *empty_like(struct shim_tensor *t, int dtype, const struct proxy_call *c)
{
	const struct extern_value *v = extern_input(c->nodes, c->node, "memory_format");
	int64_t format = v && v->kind == EXTERN_FORMAT ? c->nodes->item[v->item].i : PRESERVE;
	return format == PRESERVE ? shim_like(t, dtype) : shim_new_format(dtype, t->n_dim, t->size, format != CONTIGUOUS);
}

static void proxy_clone(struct proxy_call *c)
{
	struct shim_tensor *x = proxy_tensor(c, "self"), *out = empty_like(x, dtype_or(c, "dtype", x->dtype), c);
	shim_copy(out, x);
	proxy_give(c, 0, out);
}

/* self's place with src's values: nothing of self is read. */
static void proxy_copy(struct proxy_call *c)
{
	struct shim_tensor *out = shim_like(proxy_tensor(c, "self"), proxy_tensor(c, "self")->dtype);
	shim_copy(out, proxy_tensor(c, "src"));
	proxy_give(c, 0, out);
}

static struct shim_tensor *filled(struct shim_tensor *t, double complex v)
{
	char *p = shim_data(t);
	for (int64_t i = shim_numel(t); i > 0; i--, p += elem_bytes(t->dtype))
		elem_set_c128(t->dtype, p, v);
	return t;
}

static void proxy_full(struct proxy_call *c)
{
	int64_t n;
	const int64_t *size = proxy_ints(c, "size", &n);
	const struct extern_value *v = extern_input(c->nodes, c->node, "fill_value");
	double complex z = proxy_number(c, "fill_value", 0);
	int otherwise = v && v->kind == EXTERN_INT    ? DTYPE_I64
			: v && v->kind == EXTERN_BOOL ? DTYPE_BOOL
			: cimag(z) != 0               ? DTYPE_C64
						      : DTYPE_F32;
	if (n > SHIM_DIMS)
		shim_fail("%lld dimensions", (long long)n);
	proxy_give(c, 0, filled(shim_new(dtype_or(c, "dtype", otherwise), (int)n, size, NULL), z));
}

static void proxy_full_like(struct proxy_call *c)
{
	struct shim_tensor *x = proxy_tensor(c, "self");
	double complex v = named(c, "aten::ones_like") ? 1 : named(c, "aten::zeros_like") ? 0 : proxy_number(c, "fill_value", 0);
	proxy_give(c, 0, filled(empty_like(x, dtype_or(c, "dtype", x->dtype), c), v));
}

static void proxy_scalar_tensor(struct proxy_call *c)
{
	double complex v = proxy_number(c, "s", 0);
	proxy_give(c, 0, filled(shim_new(dtype_or(c, "dtype", cimag(v) != 0 ? DTYPE_C64 : DTYPE_F32), 0, NULL, NULL), v));
}

/* The part of t that slice, select and unsqueeze are about. */
static struct shim_tensor *part_of(const struct proxy_call *c, struct shim_tensor *t)
{
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS], offset = t->offset;
	memcpy(size, t->size, sizeof(size));
	memcpy(stride, t->stride, sizeof(stride));
	int n = t->n_dim, dim = shim_dim(t, proxy_int(c, "dim", 0));
	int64_t length = n ? size[dim] : 0;
	if (named(c, "aten::select_scatter") || named(c, "aten::select")) {
		int64_t i = proxy_int(c, "index", 0);
		if (!n || i < -length || i >= length)
			shim_fail("index %lld is out of bounds for a dimension of size %lld", (long long)i, (long long)length);
		offset += (i < 0 ? i + length : i) * stride[dim];
		memmove(size + dim, size + dim + 1, (size_t)(n - dim - 1) * sizeof(*size));
		memmove(stride + dim, stride + dim + 1, (size_t)(n - dim - 1) * sizeof(*stride));
		return shim_view(t, n - 1, size, stride, offset);
	}
	int64_t start = proxy_int(c, "start", 0), end = proxy_int(c, "end", INT64_MAX), step = proxy_int(c, "step", 1);
	if (!n || step < 1)
		shim_fail("a slice with step %lld of %d dimensions", (long long)step, n);
	start = start < 0 ? start + length : start;
	end = end < 0 ? end + length : end;
	start = start < 0 ? 0 : start > length ? length : start;
	end = end < start ? start : end > length ? length : end;
	size[dim] = (end - start + step - 1) / step;
	offset += start * stride[dim];
	stride[dim] *= step;
	return shim_view(t, n, size, stride, offset);
}

static void proxy_part(struct proxy_call *c) { proxy_give(c, 0, part_of(c, proxy_tensor(c, "self"))); }

/* Tensor clone_preserve_strides (aten/src/ATen/FunctionalInverses.cpp): gaps and all, unless elements lie upon each other. */
static struct shim_tensor *strides_kept(struct shim_tensor *t)
{
	for (int i = 0; i < t->n_dim; i++)
		if (!t->stride[i] && t->size[i] > 1)
			return shim_like(t, t->dtype);
	return shim_new(t->dtype, t->n_dim, t->size, t->stride);
}

static void proxy_scatter_part(struct proxy_call *c)
{
	struct shim_tensor *self = proxy_tensor(c, "self"), *out = strides_kept(self);
	shim_copy(out, self);
	shim_copy(part_of(c, out), proxy_tensor(c, "src"));
	proxy_give(c, 0, out);
}

static void proxy_unsqueeze(struct proxy_call *c)
{
	struct shim_tensor *t = proxy_tensor(c, "self");
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS], dim = proxy_int(c, "dim", 0);
	int n = t->n_dim;
	dim = dim < 0 ? dim + n + 1 : dim;
	if (dim < 0 || dim > n || n + 1 >= SHIM_DIMS)
		shim_fail("dimension %lld of a tensor with %d", (long long)dim, n);
	for (int i = 0, k = 0; i <= n; i++) {
		size[i] = i == dim ? 1 : t->size[k];
		stride[i] = i < dim ? t->stride[k] : i == dim ? (i < n ? t->size[k] * t->stride[k] : 1) : t->stride[k];
		k += i != dim;
	}
	proxy_give(c, 0, shim_view(t, n + 1, size, stride, t->offset));
}

static void proxy_expand(struct proxy_call *c)
{
	struct shim_tensor *t = proxy_tensor(c, "self");
	int64_t n, size[SHIM_DIMS], stride[SHIM_DIMS];
	const int64_t *want = proxy_ints(c, "size", &n);
	if (n < t->n_dim || n > SHIM_DIMS)
		shim_fail("%d dimensions expanded to %lld", t->n_dim, (long long)n);
	for (int64_t i = 0; i < n; i++) {
		int64_t k = i - (n - t->n_dim), had = k < 0 ? 1 : t->size[k];
		size[i] = want[i] == -1 ? had : want[i];
		if (size[i] != had && had != 1)
			shim_fail("size %lld expanded to %lld", (long long)had, (long long)size[i]);
		stride[i] = size[i] != had || k < 0 ? 0 : t->stride[k];
	}
	proxy_give(c, 0, shim_view(t, (int)n, size, stride, t->offset));
}

static void proxy_alias(struct proxy_call *c)
{
	struct shim_tensor *t = proxy_tensor(c, "self");
	proxy_give(c, 0, shim_view(t, t->n_dim, t->size, t->stride, t->offset));
}

AOTITorchError aoti_torch_cpu_reshape(AtenTensorHandle self, const int64_t *shape, int64_t n, AtenTensorHandle *ret0); /* view.c */

/* view, reshape, _unsafe_view: it copies only where it must. */
static void proxy_view(struct proxy_call *c)
{
	int64_t n;
	const int64_t *size = proxy_ints(c, named(c, "aten::reshape") ? "shape" : "size", &n);
	AtenTensorHandle out;
	if (aoti_torch_cpu_reshape(proxy_tensor(c, "self"), size, n, &out))
		shim_fail("%s", shim_last_error());
	proxy_give(c, 0, out);
	shim_release(out);
}

static void proxy_permute(struct proxy_call *c)
{
	struct shim_tensor *t = proxy_tensor(c, "self");
	int64_t n = 2, size[SHIM_DIMS], stride[SHIM_DIMS], swap[SHIM_DIMS];
	const int64_t *dims = swap;
	bool seen[SHIM_DIMS] = {0};
	if (named(c, "aten::permute"))
		dims = proxy_ints(c, "dims", &n);
	else {
		bool t_only = named(c, "aten::t");
		n = t->n_dim;
		for (int i = 0; i < n; i++)
			swap[i] = i;
		int a = n ? shim_dim(t, t_only ? 0 : proxy_int(c, "dim0", 0)) : 0,
		    b = n ? shim_dim(t, t_only ? n - 1 : proxy_int(c, "dim1", 0)) : 0;
		swap[a] = b;
		swap[b] = a;
	}
	if (n != t->n_dim)
		shim_fail("%lld dimensions for %d", (long long)n, t->n_dim);
	for (int i = 0; i < n; i++) {
		int d = shim_dim(t, dims[i]);
		if (seen[d])
			shim_fail("repeated dim in permute");
		seen[d] = true;
		size[i] = t->size[d];
		stride[i] = t->stride[d];
	}
	proxy_give(c, 0, shim_view(t, (int)n, size, stride, t->offset));
}

static void proxy_diagonal(struct proxy_call *c)
{
	struct shim_tensor *t = proxy_tensor(c, "self");
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS], off = proxy_int(c, "offset", 0);
	int a = shim_dim(t, proxy_int(c, "dim1", 0)), b = shim_dim(t, proxy_int(c, "dim2", 1)), n = 0;
	if (t->n_dim < 2 || a == b)
		shim_fail("a diagonal of %d dimensions", t->n_dim);
	int64_t rows = t->size[a] + (off < 0 ? off : 0), cols = t->size[b] - (off > 0 ? off : 0), k = rows < cols ? rows : cols;
	for (int i = 0; i < t->n_dim; i++)
		if (i != a && i != b) {
			size[n] = t->size[i];
			stride[n++] = t->stride[i];
		}
	size[n] = k > 0 ? k : 0;
	stride[n++] = t->stride[a] + t->stride[b];
	int64_t at = k > 0 ? (off < 0 ? -off * t->stride[a] : off * t->stride[b]) : 0;
	proxy_give(c, 0, shim_view(t, n, size, stride, t->offset + at));
}

/* flip, roll: element by element from elsewhere */
static void proxy_turned(struct proxy_call *c)
{
	struct shim_tensor *t = proxy_tensor(c, "self");
	int64_t n, n_shift = 0, from[SHIM_DIMS], turn[SHIM_DIMS] = {0};
	const int64_t *dims = proxy_ints(c, "dims", &n), *shifts = named(c, "aten::roll") ? proxy_ints(c, "shifts", &n_shift) : NULL;
	struct shim_tensor *x = t;
	if (shifts && n != n_shift) {
		int64_t all = shim_numel(t), one = 1;
		if (n || n_shift != 1)
			shim_fail("%lld shifts for %lld dimensions", (long long)n_shift, (long long)n);
		struct shim_tensor *flat = shim_contiguous(t);
		x = shim_view(flat, 1, &all, &one, flat->offset);
	}
	struct shim_tensor *out = named(c, "aten::flip") ? shim_like(t, t->dtype) : shim_new(t->dtype, t->n_dim, t->size, NULL);
	struct shim_tensor *to = x == t ? out : shim_new(t->dtype, 1, x->size, NULL);
	for (int64_t i = 0; i < (x == t ? n : 1); i++)
		turn[x == t ? shim_dim(t, dims[i]) : 0] += shifts ? shifts[i] : 1;
	struct walk w;
	walk_begin(&w, to->n_dim, to->size);
	walk_add(&w, shim_data(to), to);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int64_t at = 0;
		for (int i = 0; i < x->n_dim; i++) {
			int64_t k = x->size[i];
			from[i] = !turn[i] ? w.pos[i] : shifts ? ((w.pos[i] - turn[i]) % k + k) % k : k - 1 - w.pos[i];
			at += from[i] * x->stride[i];
		}
		elem_copy(w.p[0], shim_data(x) + at * elem_bytes(x->dtype), elem_bytes(x->dtype));
	}
	if (to != out) {
		int64_t stride[SHIM_DIMS];
		shim_contiguous_strides(t->n_dim, t->size, stride);
		shim_copy(out, shim_view(to, t->n_dim, t->size, stride, to->offset));
	}
	proxy_give(c, 0, out);
}

static void proxy_repeat(struct proxy_call *c)
{
	struct shim_tensor *t = proxy_tensor(c, "self");
	int64_t n, size[SHIM_DIMS], block[SHIM_DIMS], step[SHIM_DIMS];
	const int64_t *times_ = proxy_ints(c, "repeats", &n);
	if (n < t->n_dim || 2 * n > SHIM_DIMS)
		shim_fail("%lld repeats of %d dimensions", (long long)n, t->n_dim);
	for (int64_t i = 0; i < n; i++)
		size[i] = times_[i] * (i < n - t->n_dim ? 1 : t->size[i - (n - t->n_dim)]);
	struct shim_tensor *out = shim_new(t->dtype, (int)n, size, NULL);
	for (int64_t i = 0; i < n; i++) { /* each dim as repeats of what was there */
		int64_t had = i < n - t->n_dim ? 1 : t->size[i - (n - t->n_dim)];
		block[2 * i] = times_[i], step[2 * i] = had * out->stride[i];
		block[2 * i + 1] = had, step[2 * i + 1] = out->stride[i];
	}
	if (shim_numel(out)) {
		int64_t from[SHIM_DIMS], from_step[SHIM_DIMS];
		for (int64_t i = 0; i < n; i++) {
			int64_t k = i - (n - t->n_dim);
			from[2 * i] = 1, from_step[2 * i] = 0;
			from[2 * i + 1] = k < 0 ? 1 : t->size[k], from_step[2 * i + 1] = k < 0 ? 0 : t->stride[k];
		}
		shim_copy(shim_view(out, (int)(2 * n), block, step, out->offset), shim_view(t, (int)(2 * n), from, from_step, t->offset));
	}
	proxy_give(c, 0, out);
}

/* tril, triu */
static void proxy_triangle(struct proxy_call *c)
{
	struct shim_tensor *t = proxy_tensor(c, "self"), *out = shim_new(t->dtype, t->n_dim, t->size, NULL);
	int64_t k = proxy_int(c, "diagonal", 0), n = t->n_dim;
	bool upper = named(c, "aten::triu");
	struct walk w;
	if (n < 2)
		shim_fail("a triangle of %lld dimensions", (long long)n);
	shim_copy(out, t);
	walk_begin(&w, out->n_dim, out->size);
	walk_add(&w, shim_data(out), out);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int64_t above = w.pos[n - 1] - w.pos[n - 2];
		if (upper ? above < k : above > k)
			memset(w.p[0], 0, (size_t)elem_bytes(out->dtype));
	}
	proxy_give(c, 0, out);
}

static void proxy_masked_fill(struct proxy_call *c)
{
	struct shim_tensor *t = proxy_tensor(c, "self"), *mask = proxy_tensor(c, "mask"), *value;
	bool is_number;
	value = operand(c, "value", t, &is_number);
	struct shim_tensor *out = shim_elementwise(t->dtype, (const struct shim_tensor *const[]){t, mask}, 2);
	struct walk w;
	shim_copy(out, t);
	walk_begin(&w, out->n_dim, out->size);
	walk_add(&w, shim_data(out), out);
	walk_add(&w, shim_data(mask), mask);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		if (elem_true(mask->dtype, w.p[1]))
			shim_convert(out->dtype, w.p[0], 0, value->dtype, shim_data(value), 0, 1);
	proxy_give(c, 0, out);
}

/* gather, index_select */
static void proxy_gather(struct proxy_call *c)
{
	struct shim_tensor *t = proxy_tensor(c, "self"), *index = proxy_tensor(c, "index");
	bool select = named(c, "aten::index_select");
	int dim = shim_dim(t, proxy_int(c, "dim", 0)), bytes = elem_bytes(t->dtype);
	int64_t size[SHIM_DIMS];
	memcpy(size, select ? t->size : index->size, sizeof(size));
	if (select ? index->n_dim > 1 : index->n_dim != t->n_dim)
		shim_fail("an index of %d dimensions for %d", index->n_dim, t->n_dim);
	if (select && t->n_dim)
		size[dim] = shim_numel(index);
	struct shim_tensor *out = shim_new(t->dtype, t->n_dim, size, NULL);
	struct walk w;
	walk_begin(&w, out->n_dim, out->size);
	walk_add(&w, shim_data(out), out);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int64_t at = 0, from = 0;
		for (int i = 0; i < (select ? 0 : out->n_dim); i++)
			at += w.pos[i] * index->stride[i];
		if (select && index->n_dim)
			at = w.pos[dim] * index->stride[0];
		int64_t k = elem_i64(index->dtype, shim_data(index) + at * elem_bytes(index->dtype));
		if (k < 0 || k >= line_size(t, dim))
			shim_fail("index %lld is out of bounds for dimension %d with size %lld", (long long)k, dim,
				  (long long)line_size(t, dim));
		for (int i = 0; i < out->n_dim; i++) {
			if (i != dim && w.pos[i] >= t->size[i])
				shim_fail("an index larger than what is gathered");
			from += (i == dim ? k : w.pos[i]) * t->stride[i];
		}
		elem_copy(w.p[0], shim_data(t) + from * bytes, bytes);
	}
	proxy_give(c, 0, out);
}

/* fft_fftfreq, fft_rfftfreq */
static void proxy_fftfreq(struct proxy_call *c)
{
	int64_t n = proxy_int(c, "n", 0), half = (n + 1) / 2;
	bool real = named(c, "aten::fft_rfftfreq");
	double d = proxy_float(c, "d", 1);
	if (n < 1)
		shim_fail("a signal of %lld samples", (long long)n);
	int64_t count = real ? n / 2 + 1 : n;
	struct shim_tensor *out = shim_new(dtype_or(c, "dtype", DTYPE_F32), 1, &count, NULL);
	for (int64_t i = 0; i < count; i++)
		elem_set_c128(out->dtype, shim_data(out) + i * elem_bytes(out->dtype),
			      (double)(real || i < half ? i : i - n) / ((double)n * d));
	proxy_give(c, 0, out);
}

static const struct proxy_op others[] = {
    {"aten::_to_copy", 1, proxy_clone},
    {"aten::_unsafe_view", 1, proxy_view},
    {"aten::addcdiv", 1, proxy_addc},
    {"aten::addcmul", 1, proxy_addc},
    {"aten::addmm", 1, proxy_product},
    {"aten::alias", 1, proxy_alias},
    {"aten::baddbmm", 1, proxy_product},
    {"aten::bmm", 1, proxy_product},
    {"aten::clone", 1, proxy_clone},
    {"aten::copy", 1, proxy_copy},
    {"aten::detach", 1, proxy_alias},
    {"aten::diagonal", 1, proxy_diagonal},
    {"aten::dot", 1, proxy_dot},
    {"aten::expand", 1, proxy_expand},
    {"aten::fft_fftfreq", 1, proxy_fftfreq},
    {"aten::fft_rfftfreq", 1, proxy_fftfreq},
    {"aten::flip", 1, proxy_turned},
    {"aten::full", 1, proxy_full},
    {"aten::full_like", 1, proxy_full_like},
    {"aten::gather", 1, proxy_gather},
    {"aten::index_select", 1, proxy_gather},
    {"aten::masked_fill", 1, proxy_masked_fill},
    {"aten::mean", 1, proxy_reduce},
    {"aten::mm", 1, proxy_product},
    {"aten::mv", 1, proxy_dot},
    {"aten::ones_like", 1, proxy_full_like},
    {"aten::permute", 1, proxy_permute},
    {"aten::positive", 1, proxy_alias},
    {"aten::prod", 1, proxy_reduce},
    {"aten::repeat", 1, proxy_repeat},
    {"aten::reshape", 1, proxy_view},
    {"aten::resolve_conj", 1, proxy_alias},
    {"aten::resolve_neg", 1, proxy_alias},
    {"aten::roll", 1, proxy_turned},
    {"aten::scalar_tensor", 1, proxy_scalar_tensor},
    {"aten::select", 1, proxy_part},
    {"aten::select_scatter", 1, proxy_scatter_part},
    {"aten::slice", 1, proxy_part},
    {"aten::slice_scatter", 1, proxy_scatter_part},
    {"aten::sum", 1, proxy_reduce},
    {"aten::t", 1, proxy_permute},
    {"aten::transpose", 1, proxy_permute},
    {"aten::tril", 1, proxy_triangle},
    {"aten::triu", 1, proxy_triangle},
    {"aten::unsqueeze", 1, proxy_unsqueeze},
    {"aten::vdot", 1, proxy_dot},
    {"aten::view", 1, proxy_view},
    {"aten::where", 1, proxy_where},
    {"aten::zeros_like", 1, proxy_full_like},
};

const struct proxy_op *proxy_complex_op(const char *op, const char *overload)
{
	static const char *const overloads[] = {"",    "Tensor", "Scalar",        "dim",           "dim_IntList", "dim_int",
						"int", "self",   "Tensor_Tensor", "Tensor_Scalar", "Tensor_mode"};
	static const struct proxy_op one = {"", 1, proxy_unary}, two = {"", 1, proxy_binary};
	bool known = false;
	for (size_t i = 0; i < ARRAY_LEN(overloads); i++)
		known = known || !strcmp(overload, overloads[i]);
	for (size_t i = 0; i < ARRAY_LEN(elements) && known; i++)
		if (!strcmp(elements[i].op, op))
			return elements[i].one ? &one : &two;
	for (size_t i = 0; i < ARRAY_LEN(others) && known; i++)
		if (!strcmp(others[i].target, op))
			return &others[i];
	return NULL;
}
