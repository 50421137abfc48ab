/* symsize_eval.c - the value of a symbolic size. */
#include "base/sym/symsize_part.h"

void symbind_set(struct symbind *env, uint32_t symbol, int64_t value)
{
	if (symbol >= env->n) {
		size_t n = grow_cap(env->n, (size_t)symbol + 1);
		env->value = xreallocarray(env->value, n, sizeof(*env->value));
		env->bound = xreallocarray(env->bound, n, sizeof(*env->bound));
		memset(env->bound + env->n, 0, (n - env->n) * sizeof(*env->bound));
		env->n = n;
	}
	env->value[symbol] = value;
	env->bound[symbol] = true;
}

bool symbind_get(const struct symbind *env, uint32_t symbol, int64_t *value)
{
	if (symbol >= env->n || !env->bound[symbol])
		return false;
	*value = env->value[symbol];
	return true;
}

void symbind_release(struct symbind *env)
{
	free(env->value);
	free(env->bound);
	*env = (struct symbind){0};
}

static int eval_power(int64_t base, int64_t n, int64_t *out, struct err *err)
{
	if (n < 0)
		return err_set(err, EXIT_INPUT, "symbolic size: negative power");
	int64_t r = 1;
	if (base == 0 || base == 1 || base == -1) {
		*out = n == 0 || base == 1 ? 1 : base == 0 ? 0 : n % 2 ? -1 : 1;
		return 0;
	}
	for (; n; n--) /* at most 63 rounds before it overflows */
		if (__builtin_mul_overflow(r, base, &r))
			return sym_overflow(err);
	*out = r;
	return 0;
}

static int eval_call(const struct symtab *t, const uint32_t *w, const struct symbind *env, int64_t *out, struct err *err)
{
	int64_t a = 0, b = 0, r;
	uint32_t op = fn_op(w), n = fn_n(w);
	if (symsize_eval(t, fn_arg(w, 0), env, &a, err) < 0)
		return -1;
	for (uint32_t i = 1; i < n; i++) {
		if (symsize_eval(t, fn_arg(w, i), env, &b, err) < 0)
			return -1;
		if (op == OP_MAX)
			a = b > a ? b : a;
		else if (op == OP_MIN)
			a = b < a ? b : a;
		else if (op == OP_AND)
			a = a && b;
		else if (op == OP_OR)
			a = a || b;
	}
	switch (op) {
	case OP_MAX:
	case OP_MIN: *out = a; return 0;
	case OP_AND:
	case OP_OR: *out = a != 0; return 0;
	case OP_NOT: *out = !a; return 0;
	case OP_FLOORDIV:
	case OP_MOD:
	case OP_TRUEDIV:
		if (!b)
			return err_set(err, EXIT_INPUT, "symbolic size: division by zero");
		if (b == -1) {
			*out = 0;
			return op != OP_MOD && __builtin_sub_overflow((int64_t)0, a, out) ? sym_overflow(err) : 0;
		}
		if (op == OP_TRUEDIV && a % b)
			return err_set(err, EXIT_INPUT, "symbolic size: %lld/%lld is not an integer", (long long)a, (long long)b);
		r = a % b;
		*out = op == OP_MOD ? (r && (r < 0) != (b < 0) ? r + b : r) : sym_floor_div(a, b);
		return 0;
	case OP_POW: return eval_power(a, b, out, err);
	case OP_ABS:
		if (a == INT64_MIN)
			return sym_overflow(err);
		*out = a < 0 ? -a : a;
		return 0;
	case OP_LSHIFT:
	case OP_RSHIFT:
		if (b < 0)
			return err_set(err, EXIT_INPUT, "symbolic size: invalid shift by %lld", (long long)b);
		if (op == OP_RSHIFT)
			*out = sym_floor_div(a, b > 62 ? INT64_MAX : (int64_t)1 << b);
		else if (a && (b > 62 || __builtin_mul_overflow(a, (int64_t)1 << b, out)))
			return sym_overflow(err);
		else if (!a)
			*out = 0;
		return 0;
	case OP_FLOOR:
	case OP_CEIL:
	case OP_TRUNC:
		*out = a; /* its value was an integer */
		return 0;
	default: *out = sym_relation_holds((enum sym_op)op, (a > b) - (a < b)); return 0;
	}
}

int symsize_eval(const struct symtab *t, struct symsize s, const struct symbind *env, int64_t *out, struct err *err)
{
	if (!s.expr) {
		*out = s.k;
		return 0;
	}
	const uint32_t *w = sym_node(t, s.expr);
	if (w[W_KIND] == SYM || w[W_KIND] == OPAQUE) {
		struct slice name = intern_get(&t->names, w[W_BODY]);
		if (w[W_KIND] == SYM && symbind_get(env, w[W_BODY], out))
			return 0;
		return err_set(err, EXIT_INPUT, "symbolic size: '%.*s' has no value", SLN(name, 200));
	}
	if (w[W_KIND] == FN)
		return eval_call(t, w, env, out, err);
	const uint32_t *at = w + W_BODY + 1;
	int64_t sum = 0;
	for (uint32_t m = 0; m < w[W_BODY]; m++) {
		int64_t product = node_i64(at[0], at[1]);
		uint32_t factors = at[2];
		at += 3;
		for (uint32_t k = 0; k < factors; k++, at += 2) {
			int64_t v, power;
			if (symsize_eval(t, (struct symsize){0, at[0], 0}, env, &v, err) < 0 || eval_power(v, at[1], &power, err) < 0)
				return -1;
			if (__builtin_mul_overflow(product, power, &product))
				return sym_overflow(err);
		}
		if (__builtin_add_overflow(sum, product, &sum))
			return sym_overflow(err);
	}
	*out = sum;
	return 0;
}
