/* symsize_calls.c - the normal form of calls: divisions, remainders, powers, Max and Min, comparisons, rounding. */
#include "base/sym/symsize_part.h"

static int call_node(struct symtab *t, enum sym_op op, const struct symsize *args, uint32_t n, struct symsize *out, struct err *err)
{
	uint32_t w[W_BODY + 2 + 3 * SYMSIZE_MAX_ARGS], depth = 0;
	uint64_t weight = 1;
	for (uint32_t i = 0; i < n; i++) {
		w[W_BODY + 2 + 3 * i] = (uint32_t)(uint64_t)args[i].k;
		w[W_BODY + 3 + 3 * i] = (uint32_t)((uint64_t)args[i].k >> 32);
		w[W_BODY + 4 + 3 * i] = args[i].expr;
		const uint32_t *a = args[i].expr ? sym_node(t, args[i].expr) : NULL;
		weight += a ? a[W_WEIGHT] : 1;
		depth = a && a[W_DEPTH] > depth ? a[W_DEPTH] : depth;
	}
	if (depth + 1 > SYMSIZE_MAX_DEPTH || weight > SYMSIZE_MAX_WEIGHT)
		return sym_too_large(err);
	w[W_KIND] = FN;
	w[W_DEPTH] = depth + 1;
	w[W_WEIGHT] = (uint32_t)weight;
	w[W_BODY] = op;
	w[W_BODY + 1] = n;
	*out = (struct symsize){0, sym_node_add(t, w, W_BODY + 2 + 3 * (size_t)n), 0};
	return 0;
}

/* The call of op on sums, as a sum again: in *a. */
static int call2(struct symtab *t, enum sym_op op, struct poly *a, const struct poly *b, struct err *err)
{
	struct symsize args[2], r;
	if (poly_store(t, a, &args[0], err) < 0 || poly_store(t, b, &args[1], err) < 0 || call_node(t, op, args, 2, &r, err) < 0)
		return -1;
	poly_load(t, r, a);
	return 0;
}

/* If p is one call of op and nothing else, its node. */
static const uint32_t *lone_call(const struct symtab *t, const struct poly *p, enum sym_op op)
{
	if (p->n != 1 || p->t[0].c != 1 || p->t[0].n != 1 || p->t[0].f[0].power != 1)
		return NULL;
	const uint32_t *w = sym_node(t, p->t[0].f[0].atom);
	return w[W_KIND] == FN && fn_op(w) == op ? w : NULL;
}

/* Is its value an integer, whatever its symbols are? Not for floats (zf0), quotients, and opaque parts. */
static bool is_whole(const struct symtab *t, uint32_t expr)
{
	if (!expr)
		return true;
	const uint32_t *w = sym_node(t, expr);
	switch (w[W_KIND]) {
	case SYM: {
		enum sym_kind k = sym_kind(intern_get(&t->names, w[W_BODY]));
		return k != SYM_FLOAT && k != SYM_UNBACKED_FLOAT;
	}
	case OPAQUE: return false;
	case FN:
		if (fn_op(w) == OP_FLOOR || fn_op(w) == OP_CEIL || fn_op(w) == OP_TRUNC || fn_op(w) >= OP_EQ)
			return true;
		for (uint32_t i = 0; i < fn_n(w); i++)
			if (!is_whole(t, fn_arg(w, i).expr))
				return false;
		return fn_op(w) != OP_TRUEDIV && fn_op(w) != OP_POW; /* 2**-1 */
	default: {
		const uint32_t *at = w + W_BODY + 1;
		for (uint32_t m = 0; m < w[W_BODY]; m++) {
			uint32_t factors = at[2];
			at += 3;
			for (uint32_t k = 0; k < factors; k++, at += 2)
				if (!is_whole(t, at[0]))
					return false;
		}
		return true;
	}
	}
}

static bool poly_is_whole(const struct symtab *t, const struct poly *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (uint32_t f = 0; f < p->t[i].n; f++)
			if (!is_whole(t, p->t[i].f[f].atom))
				return false;
	return true;
}

/* Moves the terms of a that y divides to `whole`, divided. */
static int move_whole(struct symtab *t, struct poly *a, int64_t y, struct poly *whole, struct err *err)
{
	struct poly part = {0};
	poly_split_off(a, y, &part);
	for (size_t i = 0; i < part.n; i++)
		part.t[i].c /= y;
	int rc = poly_add(t, whole, &part, false, err);
	poly_release(&part);
	return rc;
}

static int add_int(struct symtab *t, struct poly *p, int64_t k, struct err *err)
{
	struct poly x = {0};
	poly_load(t, symsize_int(k), &x);
	int rc = poly_add(t, p, &x, false, err);
	poly_release(&x);
	return rc;
}

/* Is a = x//den, den an integer above 0, and den*y one too? Then a = x and b = den*y: (x//den)//y. */
static bool unnest(struct symtab *t, struct poly *a, struct poly *b, int64_t y)
{
	const uint32_t *inner = lone_call(t, a, OP_FLOORDIV);
	struct symsize den;
	int64_t both;
	if (!inner || (den = fn_arg(inner, 1)).expr || den.k <= 0 || __builtin_mul_overflow(den.k, y, &both))
		return false;
	poly_load(t, fn_arg(inner, 0), a);
	poly_load(t, symsize_int(both), b);
	return true;
}

/* Splits a//b: moves its integral part to `whole`; the remainder stays in a and b, and a is empty if there is none. */
static int floordiv_whole(struct symtab *t, struct poly *a, struct poly *b, struct poly *whole, struct err *err)
{
	int64_t x, y;
	/* Each round removes one level of nested division. */
	for (;;) {
		if (poly_is_int(b, &y) && !y)
			return 0; /* an error when it is evaluated */
		poly_cancel(a, b);
		if (poly_is_int(b, &y) && y < 0) {
			if (poly_negate(a, err) < 0 || poly_negate(b, err) < 0)
				return -1;
			y = -y;
		}
		if (!poly_is_int(b, &y))
			return 0;
		if (move_whole(t, a, y, whole, err) < 0)
			return -1;
		if (poly_is_int(a, &x)) {
			a->n = 0;
			return add_int(t, whole, sym_floor_div(x, y), err);
		}
		if (unnest(t, a, b, y))
			continue;
		/* The rest may have a common factor: (4*s0 + 2*s1)//4. */
		int64_t before = b->t[0].c;
		poly_cancel(a, b);
		if (before == b->t[0].c)
			return 0;
	}
}

static int floordiv(struct symtab *t, struct poly *a, struct poly *b, struct err *err)
{
	int64_t y;
	struct poly whole = {0};
	if (!poly_is_whole(t, a) || !poly_is_whole(t, b))
		return call2(t, OP_FLOORDIV, a, b, err);
	int rc = floordiv_whole(t, a, b, &whole, err);
	bool by_one = poly_is_int(b, &y) && y == 1; /* a itself */
	if (!rc && !by_one && (a->n || !b->n))
		rc = call2(t, OP_FLOORDIV, a, b, err);
	rc = rc < 0 ? rc : poly_add(t, a, &whole, false, err);
	poly_release(&whole);
	return rc;
}

static int mod(struct symtab *t, struct poly *a, struct poly *b, struct err *err)
{
	int64_t x, y;
	if (!b->n || !poly_is_whole(t, a) || !poly_is_whole(t, b))
		return call2(t, OP_MOD, a, b, err);
	if (poly_is_int(b, &y)) {
		struct poly whole = {0};
		poly_split_off(a, y, &whole);
		poly_release(&whole);
		if (poly_is_int(a, &x)) {
			int64_t r = y == -1 ? 0 : x % y;
			poly_load(t, symsize_int(r && (r < 0) != (y < 0) ? r + y : r), a);
			return 0;
		}
	} else if (b->n == 1 && b->t[0].n) {
		/* A multiple of a product: Mod(s0*s1, s0). */
		struct poly num = {0}, den = {0};
		for (size_t i = 0; i < a->n; i++)
			*poly_push(&num) = a->t[i];
		*poly_push(&den) = b->t[0];
		poly_cancel(&num, &den);
		bool multiple = poly_is_int(&den, &y) && (y == 1 || y == -1);
		poly_release(&num);
		poly_release(&den);
		if (multiple)
			a->n = 0;
	}
	if (!a->n)
		return 0;
	/* a - b and 0 are congruent modulo b; other multiples are left unchanged. */
	struct symsize p, q;
	if (poly_store(t, a, &p, err) < 0 || poly_store(t, b, &q, err) < 0)
		return -1;
	if (symsize_eq(p, q)) {
		a->n = 0;
		return 0;
	}
	return call2(t, OP_MOD, a, b, err);
}

static int truediv(struct symtab *t, struct poly *a, struct poly *b, struct err *err)
{
	int64_t y;
	if (!b->n)
		return call2(t, OP_TRUEDIV, a, b, err);
	poly_cancel(a, b);
	if (poly_is_int(b, &y) && y < 0) {
		if (poly_negate(a, err) < 0 || poly_negate(b, err) < 0)
			return -1;
		y = -y;
	}
	if (!a->n || (poly_is_int(b, &y) && y == 1))
		return 0;
	return call2(t, OP_TRUEDIV, a, b, err);
}

static int power(struct symtab *t, struct poly *a, const struct poly *b, struct err *err)
{
	int64_t n, x;
	if (!poly_is_int(b, &n) || n < 0)
		return call2(t, OP_POW, a, b, err);
	bool base_int = poly_is_int(a, &x);
	if (base_int && x >= -1 && x <= 1) {
		poly_load(t, symsize_int(n == 0 || x == 1 ? 1 : x == 0 ? 0 : n % 2 ? -1 : 1), a);
		return 0;
	}
	if (n > SYMSIZE_MAX_POWER)
		return base_int ? sym_overflow(err) : sym_too_large(err);
	struct poly r = {0};
	poly_load(t, symsize_int(1), &r);
	for (int64_t i = 0; i < n; i++)
		if (poly_mul(t, &r, a, err) < 0) {
			poly_release(&r);
			return -1;
		}
	poly_release(a);
	*a = r;
	return 0;
}

static int by_size(const void *a, const void *b, void *t) { return symsize_cmp(t, *(const struct symsize *)a, *(const struct symsize *)b); }

/* Max, Min, And, Or: nested ones flattened, numbers folded, the rest sorted and each once. */
static int lattice(struct symtab *t, enum sym_op op, const struct symsize *args, uint32_t n, struct symsize *out, struct err *err)
{
	struct symsize v[SYMSIZE_MAX_ARGS + 1];
	uint32_t count = 0;
	bool has_int = false, logic = op == OP_AND || op == OP_OR;
	int64_t k = 0;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *w = args[i].expr ? sym_node(t, args[i].expr) : NULL;
		bool nested = w && w[W_KIND] == FN && fn_op(w) == op;
		uint32_t m = nested ? fn_n(w) : 1;
		for (uint32_t j = 0; j < m; j++) {
			struct symsize a = nested ? fn_arg(w, j) : args[i];
			if (!a.expr) {
				int64_t x = logic ? a.k != 0 : a.k;
				bool lower = x < k;
				if (!has_int || (op == OP_MAX || op == OP_OR ? !lower : lower))
					k = x;
				has_int = true;
			} else if (count == SYMSIZE_MAX_ARGS) {
				return sym_too_large(err);
			} else {
				v[count++] = a;
			}
		}
	}
	/* The number that decides the result, or has no effect. */
	if (logic && has_int) {
		if ((op == OP_OR) == (k != 0) || !count) {
			*out = symsize_int(k);
			return 0;
		}
		has_int = false;
	}
	if (has_int)
		v[count++] = symsize_int(k);
	qsort_r(v, count, sizeof(*v), by_size, t);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count; i++)
		if (!kept || !symsize_eq(v[kept - 1], v[i]))
			v[kept++] = v[i];
	if (kept == 1) {
		*out = v[0];
		return 0;
	}
	if (kept > SYMSIZE_MAX_ARGS)
		return sym_too_large(err);
	return call_node(t, op, v, kept, out, err);
}

bool sym_relation_holds(enum sym_op op, int d)
{
	switch (op) {
	case OP_EQ: return d == 0;
	case OP_NE: return d != 0;
	case OP_LT: return d < 0;
	case OP_LE: return d <= 0;
	case OP_GT: return d > 0;
	default: return d >= 0;
	}
}

static int relation(struct symtab *t, enum sym_op op, struct symsize a, struct symsize b, struct symsize *out, struct err *err)
{
	struct poly p = {0}, q = {0};
	int64_t d;
	poly_load(t, a, &p);
	poly_load(t, b, &q);
	bool known = (!a.expr && !b.expr) || (poly_add(t, &p, &q, true, NULL) == 0 && poly_is_int(&p, &d));
	poly_release(&p);
	poly_release(&q);
	if (known) {
		int sign = !a.expr && !b.expr ? (a.k > b.k) - (a.k < b.k) : (d > 0) - (d < 0);
		*out = symsize_int(sym_relation_holds(op, sign));
		return 0;
	}
	if ((op == OP_EQ || op == OP_NE) && (!a.expr || (b.expr && symsize_cmp(t, a, b) > 0))) {
		struct symsize swap = a;
		a = b;
		b = swap;
	}
	return call_node(t, op, (struct symsize[]){a, b}, 2, out, err);
}

/* A float-valued argument rounded to an integer. */
static int rounding(struct symtab *t, enum sym_op op, struct symsize x, struct symsize *out, struct err *err)
{
	struct poly p = {0}, q = {0};
	int rc = 0;
	poly_load(t, x, &p);
	const uint32_t *w = lone_call(t, &p, OP_TRUEDIV);
	if (is_whole(t, x.expr)) {
		*out = x;
	} else if (w && op != OP_TRUNC) {
		struct symsize num = fn_arg(w, 0), den = fn_arg(w, 1);
		poly_load(t, num, &p);
		poly_load(t, den, &q);
		/* ceil(a/b) = -floor(-a/b) */
		rc = op == OP_CEIL ? poly_negate(&p, err) : 0;
		rc = rc < 0 ? rc : floordiv(t, &p, &q, err);
		rc = rc < 0 || op != OP_CEIL ? rc : poly_negate(&p, err);
		rc = rc < 0 ? rc : poly_store(t, &p, out, err);
	} else {
		rc = call_node(t, op, &x, 1, out, err);
	}
	poly_release(&p);
	poly_release(&q);
	return rc;
}

int sym_binary(struct symtab *t, enum sym_op op, struct poly *a, struct poly *b, struct err *err)
{
	struct symsize x, y, r;
	switch (op) {
	case OP_ADD:
	case OP_SUB: return poly_add(t, a, b, op == OP_SUB, err);
	case OP_MUL: return poly_mul(t, a, b, err);
	case OP_FLOORDIV: return floordiv(t, a, b, err);
	case OP_MOD: return mod(t, a, b, err);
	case OP_TRUEDIV: return truediv(t, a, b, err);
	case OP_POW: return power(t, a, b, err);
	default: break;
	}
	if (poly_store(t, a, &x, err) < 0 || poly_store(t, b, &y, err) < 0)
		return -1;
	if (op == OP_MAX || op == OP_MIN || op == OP_AND || op == OP_OR) {
		if (lattice(t, op, (struct symsize[]){x, y}, 2, &r, err) < 0)
			return -1;
	} else if (op >= OP_EQ && op <= OP_GE) {
		if (relation(t, op, x, y, &r, err) < 0)
			return -1;
	} else if (call_node(t, op, (struct symsize[]){x, y}, 2, &r, err) < 0) {
		return -1;
	}
	poly_load(t, r, a);
	return 0;
}

static int binary_size(struct symtab *t, enum sym_op op, struct symsize a, struct symsize b, struct symsize *out, struct err *err)
{
	struct poly p = {0}, q = {0};
	poly_load(t, a, &p);
	poly_load(t, b, &q);
	int rc = sym_binary(t, op, &p, &q, err);
	if (!rc)
		rc = poly_store(t, &p, out, err);
	poly_release(&p);
	poly_release(&q);
	return rc;
}

int symsize_add(struct symtab *t, struct symsize a, struct symsize b, struct symsize *out, struct err *err)
{
	return binary_size(t, OP_ADD, a, b, out, err);
}
int symsize_sub(struct symtab *t, struct symsize a, struct symsize b, struct symsize *out, struct err *err)
{
	return binary_size(t, OP_SUB, a, b, out, err);
}
int symsize_mul(struct symtab *t, struct symsize a, struct symsize b, struct symsize *out, struct err *err)
{
	return binary_size(t, OP_MUL, a, b, out, err);
}
int symsize_floordiv(struct symtab *t, struct symsize a, struct symsize b, struct symsize *out, struct err *err)
{
	return binary_size(t, OP_FLOORDIV, a, b, out, err);
}

int sym_call(struct symtab *t, enum sym_op op, const struct symsize *v, uint32_t n, struct symsize *out, struct err *err)
{
	struct symsize x;
	switch (op) {
	case OP_IDENTITY: *out = v[0]; return 0;
	case OP_CEILDIV: /* floor((a + b - 1) / b), as torch defines it */
		return symsize_add(t, v[0], v[1], &x, err) < 0 || symsize_sub(t, x, symsize_int(1), &x, err) < 0
			   ? -1
			   : symsize_floordiv(t, x, v[1], out, err);
	case OP_MODULAR: return symsize_floordiv(t, v[0], v[1], &x, err) < 0 ? -1 : binary_size(t, OP_MOD, x, v[2], out, err);
	case OP_MAX:
	case OP_MIN:
	case OP_AND:
	case OP_OR: return lattice(t, op, v, n, out, err);
	case OP_FLOOR:
	case OP_CEIL:
	case OP_TRUNC: return rounding(t, op, v[0], out, err);
	case OP_ABS:
		if (v[0].expr)
			break;
		if (v[0].k == INT64_MIN)
			return sym_overflow(err);
		*out = symsize_int(v[0].k < 0 ? -v[0].k : v[0].k);
		return 0;
	case OP_NOT:
		if (v[0].expr)
			break;
		*out = symsize_int(!v[0].k);
		return 0;
	case OP_LSHIFT:
	case OP_RSHIFT:
		if (v[1].expr || v[1].k < 0 || v[1].k > 62)
			break;
		x = symsize_int((int64_t)1 << v[1].k);
		return op == OP_LSHIFT ? symsize_mul(t, v[0], x, out, err) : symsize_floordiv(t, v[0], x, out, err);
	default:
		if (n == 2)
			return binary_size(t, op, v[0], v[1], out, err);
	}
	return call_node(t, op, v, n, out, err);
}
