/* Python's and torch's functions over numbers, as used in graphs with symbolic sizes (torch 2.15, torch/_export/serde/serialize.py,
 * _SYM_OPS: _operator.*, math.*, torch.sym_*). Integers stay integers; overflow of 64 bits is refused. */
#include "aten/interp/interp_part.h"

#include <math.h>

enum scalar_op {
	S_ADD,
	S_SUB,
	S_MUL,
	S_FLOORDIV,
	S_TRUEDIV,
	S_MOD,
	S_POW,
	S_NEG,
	S_POS,
	S_ABS,
	S_LSHIFT,
	S_RSHIFT,
	S_EQ,
	S_NE,
	S_LT,
	S_LE,
	S_GT,
	S_GE,
	S_AND,
	S_OR,
	S_XOR,
	S_NOT,
	S_MAX,
	S_MIN,
	S_ITE,
	S_SUM,
	S_TRUNC,
	S_ROUND, /* to an integer */
	S_FLOAT,
	S_REAL, /* a function of a real number */
};

static const struct scalar_row {
	const char *name;
	uint8_t op, min, max; /* operands; max 0: a list of them, too */
	double (*of)(double);
} rows[] = {
    {"_operator.add", S_ADD, 2, 2},
    {"_operator.sub", S_SUB, 2, 2},
    {"_operator.mul", S_MUL, 2, 2},
    {"_operator.floordiv", S_FLOORDIV, 2, 2},
    {"_operator.truediv", S_TRUEDIV, 2, 2},
    {"_operator.mod", S_MOD, 2, 2},
    {"_operator.pow", S_POW, 2, 2},
    {"torch.sym_pow", S_POW, 2, 2},
    {"_operator.neg", S_NEG, 1, 1},
    {"_operator.pos", S_POS, 1, 1},
    {"_operator.abs", S_ABS, 1, 1},
    {"_operator.lshift", S_LSHIFT, 2, 2},
    {"_operator.rshift", S_RSHIFT, 2, 2},
    {"_operator.eq", S_EQ, 2, 2},
    {"_operator.ne", S_NE, 2, 2},
    {"_operator.lt", S_LT, 2, 2},
    {"_operator.le", S_LE, 2, 2},
    {"_operator.gt", S_GT, 2, 2},
    {"_operator.ge", S_GE, 2, 2},
    {"_operator.and_", S_AND, 2, 2},
    {"_operator.or_", S_OR, 2, 2},
    {"_operator.xor", S_XOR, 2, 2},
    {"_operator.not_", S_NOT, 1, 1},
    {"torch.sym_not", S_NOT, 1, 1},
    {"torch.sym_max", S_MAX, 1, 0},
    {"torch.sym_min", S_MIN, 1, 0},
    {"builtins.max", S_MAX, 1, 0},
    {"builtins.min", S_MIN, 1, 0},
    {"torch.sym_ite", S_ITE, 3, 3},
    {"torch.sym_sum", S_SUM, 1, 0},
    {"math.trunc", S_TRUNC, 1, 1, trunc},
    {"math.ceil", S_ROUND, 1, 1, ceil},
    {"math.floor", S_ROUND, 1, 1, floor},
    {"builtins.round", S_ROUND, 1, 1, nearbyint},
    {"torch.sym_float", S_FLOAT, 1, 1},
    {"torch.sym_int", S_TRUNC, 1, 1, trunc},
    {"math.sqrt", S_REAL, 1, 1, sqrt},
    {"torch._sym_sqrt", S_REAL, 1, 1, sqrt},
    {"torch._sym_cos", S_REAL, 1, 1, cos},
    {"torch._sym_sin", S_REAL, 1, 1, sin},
    {"torch._sym_tan", S_REAL, 1, 1, tan},
    {"torch._sym_cosh", S_REAL, 1, 1, cosh},
    {"torch._sym_sinh", S_REAL, 1, 1, sinh},
    {"torch._sym_tanh", S_REAL, 1, 1, tanh},
    {"torch._sym_acos", S_REAL, 1, 1, acos},
    {"torch._sym_asin", S_REAL, 1, 1, asin},
    {"torch._sym_atan", S_REAL, 1, 1, atan},
    {"torch._sym_exp", S_REAL, 1, 1, exp},
    {"torch._sym_log", S_REAL, 1, 1, log},
    {"torch._sym_log2", S_REAL, 1, 1, log2},
};

static const struct scalar_row *find_scalar_op(struct slice target)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (slice_is(target, rows[i].name))
			return &rows[i];
	return NULL;
}

bool interp_scalar_has(struct slice target) { return find_scalar_op(target) != NULL; }

static double real(const struct aten_value *v) { return v->kind == ATEN_FLOAT ? v->f : (double)v->i; }
bool interp_truth(const struct aten_value *v) { return v->kind == ATEN_FLOAT ? v->f != 0 : v->i != 0; }

int interp_number(struct interp *run, const struct aten_value *v, struct aten_value *out)
{
	*out = *v;
	if (v->kind == ATEN_INT || v->kind == ATEN_FLOAT || v->kind == ATEN_BOOL)
		return 0;
	if (v->kind != ATEN_TENSOR || aten_numel(v->tensor) != 1 || !v->tensor->storage || !v->tensor->storage->data)
		return interp_bad(run, "expected a number, or a tensor with one element");
	const int dtype = v->tensor->dtype;
	int64_t i = 0;
	double f[2] = {0};
	const bool whole = !aten_is_float(dtype) && !aten_is_complex(dtype);
	if (aten_is_complex(dtype)) {
		aten_convert(DTYPE_C128, f, 16, dtype, aten_data(v->tensor), 0, 1);
		*out = (struct aten_value){.kind = ATEN_COMPLEX, .z = CMPLX(f[0], f[1])};
		return 0;
	}
	aten_convert(whole ? DTYPE_I64 : DTYPE_F64, whole ? (void *)&i : f, 8, dtype, aten_data(v->tensor), 0, 1);
	*out = dtype == DTYPE_BOOL ? aten_bool(i != 0) : whole ? aten_int(i) : aten_float(f[0]);
	return 0;
}

/* Python's integer operations; false: overflow of 64 bits, or division by zero. */
static bool floor_div(int64_t a, int64_t b, int64_t *v)
{
	if (!b || (a == INT64_MIN && b == -1))
		return false;
	*v = a / b - (a % b != 0 && (a < 0) != (b < 0));
	return true;
}

static bool power(int64_t a, int64_t b, int64_t *v)
{
	*v = 1;
	for (; b > 0; b >>= 1) {
		if (b & 1 && __builtin_mul_overflow(*v, a, v))
			return false;
		if (b > 1 && __builtin_mul_overflow(a, a, &a))
			return false;
	}
	return true;
}

static bool integers(enum scalar_op op, int64_t a, int64_t b, int64_t *v)
{
	switch (op) {
	case S_ADD: return !__builtin_add_overflow(a, b, v);
	case S_SUB: return !__builtin_sub_overflow(a, b, v);
	case S_MUL: return !__builtin_mul_overflow(a, b, v);
	case S_FLOORDIV: return floor_div(a, b, v);
	case S_MOD:
		if (!floor_div(a, b, v))
			return false;
		*v = a - *v * b;
		return true;
	case S_POW: return power(a, b, v);
	case S_LSHIFT: return b >= 0 && b < 63 && !__builtin_mul_overflow(a, INT64_C(1) << b, v);
	case S_RSHIFT: return b >= 0 && (*v = a >> (b < 63 ? b : 63), true);
	case S_AND: return *v = a & b, true;
	case S_OR: return *v = a | b, true;
	case S_XOR: return *v = a ^ b, true;
	default: return false;
	}
}

static double reals(enum scalar_op op, double a, double b)
{
	switch (op) {
	case S_ADD: return a + b;
	case S_SUB: return a - b;
	case S_MUL: return a * b;
	case S_TRUEDIV: return a / b;
	case S_FLOORDIV: return floor(a / b);
	case S_MOD: return a - floor(a / b) * b;
	case S_POW: return pow(a, b);
	default: return NAN;
	}
}

static bool compare(enum scalar_op op, const struct aten_value *x, const struct aten_value *y)
{
	const bool whole = x->kind != ATEN_FLOAT && y->kind != ATEN_FLOAT;
	const double a = real(x), b = real(y);
	const int order = whole ? (x->i > y->i) - (x->i < y->i) : (a > b) - (a < b);
	const bool ordered = whole || (!isnan(a) && !isnan(b));
	switch (op) {
	case S_EQ: return ordered && order == 0;
	case S_NE: return !ordered || order != 0;
	case S_LT: return ordered && order < 0;
	case S_LE: return ordered && order <= 0;
	case S_GT: return ordered && order > 0;
	default: return ordered && order >= 0;
	}
}

static int compute_two(struct interp *run, enum scalar_op op, const struct aten_value *x, const struct aten_value *y,
		       struct aten_value *out)
{
	int64_t v;
	if (op >= S_EQ && op <= S_GE)
		return *out = aten_bool(compare(op, x, y)), 0;
	if (x->kind == ATEN_FLOAT || y->kind == ATEN_FLOAT || op == S_TRUEDIV || (op == S_POW && y->i < 0)) {
		if ((op == S_TRUEDIV || op == S_FLOORDIV || op == S_MOD) && real(y) == 0)
			return interp_bad(run, "division by zero");
		return *out = aten_float(reals(op, real(x), real(y))), 0;
	}
	if (!integers(op, x->i, y->i, &v))
		return interp_bad(run, "%lld and %lld: division by zero, or overflow of 64 bits", (long long)x->i, (long long)y->i);
	*out = x->kind == ATEN_BOOL && y->kind == ATEN_BOOL && op >= S_AND && op <= S_XOR ? aten_bool(v != 0) : aten_int(v);
	return 0;
}

static int compute_one(struct interp *run, const struct scalar_row *row, const struct aten_value *x, struct aten_value *out)
{
	const enum scalar_op op = row->op;
	const bool whole = x->kind != ATEN_FLOAT, to_integer = op == S_TRUNC || op == S_ROUND;
	if (op == S_NOT)
		return *out = aten_bool(!interp_truth(x)), 0;
	if (op == S_NEG || op == S_ABS) {
		if (whole && x->i == INT64_MIN)
			return interp_bad(run, "overflow of 64 bits");
		*out = !whole ? aten_float(op == S_NEG ? -x->f : fabs(x->f)) : aten_int(op == S_NEG || x->i < 0 ? -x->i : x->i);
		return 0;
	}
	if (op == S_POS || (whole && to_integer))
		return *out = whole ? aten_int(x->i) : *x, 0;
	const double v = row->of ? row->of(real(x)) : real(x);
	if (to_integer && !(fabs(v) < 0x1p63))
		return interp_bad(run, "%g is not a 64-bit integer", v);
	*out = to_integer ? aten_int((int64_t)v) : aten_float(v);
	return 0;
}

/* max, min, sum of several. */
static int fold_many(struct interp *run, enum scalar_op op, const struct aten_value *x, size_t n, struct aten_value *out)
{
	if (!n)
		return interp_bad(run, "expected at least one number");
	*out = x[0];
	for (size_t i = 1; i < n; i++)
		if (op == S_SUM) {
			if (compute_two(run, S_ADD, &(struct aten_value){.kind = out->kind, .i = out->i}, &x[i], out) < 0)
				return -1;
		} else if (compare(op == S_MAX ? S_GT : S_LT, &x[i], out)) {
			*out = x[i];
		}
	return 0;
}

int interp_scalar(struct interp *run, struct slice target, const struct aten_value *arg, size_t n, struct aten_value *out)
{
	const struct scalar_row *row = find_scalar_op(target);
	if (!row)
		return 1;
	if (!row->max && n == 1 && arg[0].kind == ATEN_LIST)
		n = arg[0].n, arg = arg[0].item;
	if (n < row->min || (row->max && n > row->max) || n > 4096)
		return interp_bad(run, "wrong number of operands: %zu", n);
	struct aten_value *x = xcalloc(n + 1, sizeof(*x));
	int r = 0;
	for (size_t i = 0; i < n && !r; i++) {
		if (arg[i].kind == ATEN_TENSOR && row->op != S_TRUNC && row->op != S_FLOAT)
			r = interp_bad(run, "supported only for numbers here; for tensors, a graph after AOTAutograd has aten operators");
		else
			r = interp_number(run, &arg[i], &x[i]);
	}
	if (!r && row->op == S_ITE)
		*out = interp_truth(&x[0]) ? x[1] : x[2];
	else if (!r && !row->max)
		r = fold_many(run, row->op, x, n, out);
	else if (!r)
		r = n == 2 ? compute_two(run, row->op, &x[0], &x[1], out) : compute_one(run, row, &x[0], out);
	free(x);
	return r;
}
