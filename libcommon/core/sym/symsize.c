#include "sym/symsize.h"

/* A node is an interned array of words, so that equal expressions are the same node:
 *   SYM, OPAQUE   kind depth weight name
 *   FN            kind depth weight op n  { k low, k high, expr } * n
 *   POLY          kind depth weight n     { c low, c high, factors, { atom, power } * factors } * n
 * An atom is a SYM, OPAQUE or FN. depth counts nested calls; weight is the size when written out, which sharing would
 * otherwise hide: both are bounded, so that walks over a node may recurse and end soon. */
enum kind { SYM, FN, OPAQUE, POLY };
enum { W_KIND, W_DEPTH, W_WEIGHT, W_BODY };

enum op {
	OP_ADD,
	OP_SUB,
	OP_MUL, /* never in a node: they become a POLY */
	OP_FLOORDIV,
	OP_MOD,
	OP_TRUEDIV,
	OP_POW,
	OP_LSHIFT,
	OP_RSHIFT,
	OP_MAX,
	OP_MIN,
	OP_ABS,
	OP_FLOOR,
	OP_CEIL,
	OP_TRUNC,
	OP_EQ,
	OP_NE,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_AND,
	OP_OR,
	OP_NOT,
	OP_IDENTITY,
	OP_CEILDIV,
	OP_MODULAR, /* written as others */
};

static const struct {
	const char *name; /* how a call is written; NULL: with an operator */
	const char *infix;
} op_text[] = {
    [OP_FLOORDIV] = {NULL, "//"},   [OP_MOD] = {"Mod", NULL},       [OP_TRUEDIV] = {NULL, "/"},    [OP_POW] = {"PowByNatural", NULL},
    [OP_LSHIFT] = {"LShift", NULL}, [OP_RSHIFT] = {"RShift", NULL}, [OP_MAX] = {"Max", NULL},      [OP_MIN] = {"Min", NULL},
    [OP_ABS] = {"Abs", NULL},       [OP_FLOOR] = {"floor", NULL},   [OP_CEIL] = {"ceiling", NULL}, [OP_TRUNC] = {"TruncToInt", NULL},
    [OP_EQ] = {"Eq", NULL},         [OP_NE] = {"Ne", NULL},         [OP_LT] = {NULL, " < "},       [OP_LE] = {NULL, " <= "},
    [OP_GT] = {NULL, " > "},        [OP_GE] = {NULL, " >= "},       [OP_AND] = {NULL, " & "},      [OP_OR] = {NULL, " | "},
    [OP_NOT] = {"Not", NULL},
};

static const struct {
	const char *name;
	enum op op;
	uint32_t min, max;
} functions[] = {
    {"FloorDiv", OP_FLOORDIV, 2, 2},
    {"floordiv", OP_FLOORDIV, 2, 2},
    {"CleanDiv", OP_FLOORDIV, 2, 2},
    {"c10::div_floor_integer", OP_FLOORDIV, 2, 2},
    {"operator.floordiv", OP_FLOORDIV, 2, 2},
    {"CeilDiv", OP_CEILDIV, 2, 2},
    {"Mod", OP_MOD, 2, 2},
    {"PythonMod", OP_MOD, 2, 2},
    {"mod", OP_MOD, 2, 2},
    {"ModularIndexing", OP_MODULAR, 3, 3},
    {"IntTrueDiv", OP_TRUEDIV, 2, 2},
    {"PowByNatural", OP_POW, 2, 2},
    {"pow", OP_POW, 2, 2},
    {"Pow", OP_POW, 2, 2},
    {"LShift", OP_LSHIFT, 2, 2},
    {"RShift", OP_RSHIFT, 2, 2},
    {"Max", OP_MAX, 1, SYMSIZE_MAX_ARGS},
    {"max", OP_MAX, 1, SYMSIZE_MAX_ARGS},
    {"std::max", OP_MAX, 2, 2},
    {"torch.sym_max", OP_MAX, 2, 2},
    {"sym_max", OP_MAX, 2, 2},
    {"Min", OP_MIN, 1, SYMSIZE_MAX_ARGS},
    {"min", OP_MIN, 1, SYMSIZE_MAX_ARGS},
    {"std::min", OP_MIN, 2, 2},
    {"torch.sym_min", OP_MIN, 2, 2},
    {"sym_min", OP_MIN, 2, 2},
    {"Abs", OP_ABS, 1, 1},
    {"abs", OP_ABS, 1, 1},
    {"std::abs", OP_ABS, 1, 1},
    {"floor", OP_FLOOR, 1, 1},
    {"FloorToInt", OP_FLOOR, 1, 1},
    {"math.floor", OP_FLOOR, 1, 1},
    {"ceiling", OP_CEIL, 1, 1},
    {"CeilToInt", OP_CEIL, 1, 1},
    {"math.ceil", OP_CEIL, 1, 1},
    {"TruncToInt", OP_TRUNC, 1, 1},
    {"trunc", OP_TRUNC, 1, 1},
    {"math.trunc", OP_TRUNC, 1, 1},
    {"Eq", OP_EQ, 2, 2},
    {"Ne", OP_NE, 2, 2},
    {"Lt", OP_LT, 2, 2},
    {"Le", OP_LE, 2, 2},
    {"Gt", OP_GT, 2, 2},
    {"Ge", OP_GE, 2, 2},
    {"And", OP_AND, 1, SYMSIZE_MAX_ARGS},
    {"Or", OP_OR, 1, SYMSIZE_MAX_ARGS},
    {"Not", OP_NOT, 1, 1},
    {"Identity", OP_IDENTITY, 1, 1},
    {"Sym", OP_IDENTITY, 1, 1},
    {"static_cast", OP_IDENTITY, 1, 1},
};

static int overflow(struct err *err) { return err_set(err, EXIT_INPUT, "symbolic size: a number does not fit 64 bits"); }
static int too_large(struct err *err) { return err_set(err, EXIT_INPUT, "symbolic size: the expression is too large"); }

/* Nodes */

static const uint32_t *node(const struct symtab *t, uint32_t expr) { return (const void *)intern_get(&t->nodes, expr - 1).p; }

static uint32_t node_add(struct symtab *t, const uint32_t *w, size_t n)
{
	return intern_add(&t->nodes, slice_of((const char *)w, n * sizeof(*w))) + 1;
}

static int64_t int_of(uint32_t low, uint32_t high) { return (int64_t)((uint64_t)high << 32 | low); }

static struct symsize arg(const uint32_t *fn, uint32_t i)
{
	const uint32_t *a = fn + W_BODY + 2 + 3 * i;
	return (struct symsize){int_of(a[0], a[1]), a[2], 0};
}

static uint32_t fn_op(const uint32_t *w) { return w[W_BODY]; }
static uint32_t fn_n(const uint32_t *w) { return w[W_BODY + 1]; }

void symtab_release(struct symtab *t)
{
	intern_release(&t->names);
	intern_release(&t->nodes);
}

uint32_t symtab_symbol(struct symtab *t, struct slice name) { return intern_add(&t->names, name); }
struct slice symtab_name(const struct symtab *t, uint32_t symbol) { return intern_get(&t->names, symbol); }

static struct symsize named(struct symtab *t, enum kind kind, struct slice name)
{
	uint32_t w[] = {kind, 0, 1, intern_add(&t->names, name)};
	return (struct symsize){0, node_add(t, w, ARRAY_LEN(w)), 0};
}

struct symsize symsize_symbol(struct symtab *t, struct slice name) { return named(t, SYM, name); }
struct symsize symsize_opaque(struct symtab *t, struct slice text) { return named(t, OPAQUE, text); }

/* Sums of products in work */

struct term {
	int64_t c;
	uint32_t n;
	struct factor {
		uint32_t atom, power;
	} f[SYMSIZE_MAX_FACTORS];
};
struct poly {
	struct term *t;
	size_t n, cap;
};

static void poly_release(struct poly *p)
{
	free(p->t);
	*p = (struct poly){0};
}

static struct term *poly_push(struct poly *p)
{
	if (p->n == p->cap) {
		p->cap = p->cap ? p->cap * 2 : 2; /* most have one or two; a term is big */
		p->t = xreallocarray(p->t, p->cap, sizeof(*p->t));
	}
	return &p->t[p->n++];
}

static void poly_load(const struct symtab *t, struct symsize s, struct poly *p)
{
	p->n = 0;
	if (!s.expr) {
		if (s.k)
			*poly_push(p) = (struct term){.c = s.k};
		return;
	}
	const uint32_t *w = node(t, s.expr);
	if (w[W_KIND] != POLY) {
		*poly_push(p) = (struct term){.c = 1, .n = 1, .f = {{s.expr, 1}}};
		return;
	}
	const uint32_t *at = w + W_BODY + 1;
	for (uint32_t i = 0; i < w[W_BODY]; i++) {
		struct term *m = poly_push(p);
		*m = (struct term){.c = int_of(at[0], at[1]), .n = at[2]};
		at += 3;
		for (uint32_t k = 0; k < m->n; k++, at += 2)
			m->f[k] = (struct factor){at[0], at[1]};
	}
}

static bool poly_is_int(const struct poly *p, int64_t *k)
{
	if (p->n > 1 || (p->n && p->t[0].n))
		return false;
	*k = p->n ? p->t[0].c : 0;
	return true;
}

/* The node of a sum. */
static int poly_store(struct symtab *t, const struct poly *p, struct symsize *out, struct err *err)
{
	int64_t k;
	if (poly_is_int(p, &k)) {
		*out = symsize_int(k);
		return 0;
	}
	if (p->n == 1 && p->t[0].c == 1 && p->t[0].n == 1 && p->t[0].f[0].power == 1) {
		*out = (struct symsize){0, p->t[0].f[0].atom, 0};
		return 0;
	}
	size_t n = W_BODY + 1, i = 0;
	uint64_t weight = 0;
	uint32_t depth = 0;
	for (size_t m = 0; m < p->n; m++) {
		n += 3 + 2 * p->t[m].n;
		weight++;
		if (p->t[m].c == INT64_MIN) /* could not be written after a minus sign */
			return overflow(err);
		for (uint32_t f = 0; f < p->t[m].n; f++) {
			const uint32_t *a = node(t, p->t[m].f[f].atom);
			weight += a[W_WEIGHT];
			depth = a[W_DEPTH] > depth ? a[W_DEPTH] : depth;
		}
	}
	if (weight > SYMSIZE_MAX_WEIGHT)
		return too_large(err);
	uint32_t *w = xreallocarray(NULL, n, sizeof(*w));
	w[i++] = POLY;
	w[i++] = depth;
	w[i++] = (uint32_t)weight;
	w[i++] = (uint32_t)p->n;
	for (size_t m = 0; m < p->n; m++) {
		w[i++] = (uint32_t)(uint64_t)p->t[m].c;
		w[i++] = (uint32_t)((uint64_t)p->t[m].c >> 32);
		w[i++] = p->t[m].n;
		for (uint32_t f = 0; f < p->t[m].n; f++) {
			w[i++] = p->t[m].f[f].atom;
			w[i++] = p->t[m].f[f].power;
		}
	}
	*out = (struct symsize){0, node_add(t, w, n), 0};
	free(w);
	return 0;
}

/* Order */

static int cmp_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int cmp_slice(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int d = n ? memcmp(a.p, b.p, n) : 0;
	return d ? d : cmp_u64(a.n, b.n);
}

static int atom_cmp(const struct symtab *t, uint32_t a, uint32_t b)
{
	if (a == b)
		return 0;
	const uint32_t *x = node(t, a), *y = node(t, b);
	int d = cmp_u64(x[W_KIND], y[W_KIND]);
	if (d)
		return d;
	if (x[W_KIND] != FN)
		return cmp_slice(intern_get(&t->names, x[W_BODY]), intern_get(&t->names, y[W_BODY]));
	d = cmp_u64(fn_op(x), fn_op(y));
	for (uint32_t i = 0; !d && i < fn_n(x) && i < fn_n(y); i++)
		d = symsize_cmp(t, arg(x, i), arg(y, i));
	return d ? d : cmp_u64(fn_n(x), fn_n(y));
}

/* Of the products alone. As sympy prints: the first symbol's highest power first, the constant last. */
static int term_cmp(const struct symtab *t, const struct term *a, const struct term *b)
{
	for (uint32_t i = 0; i < a->n && i < b->n; i++) {
		int d = atom_cmp(t, a->f[i].atom, b->f[i].atom);
		if (d)
			return d;
		if (a->f[i].power != b->f[i].power)
			return a->f[i].power > b->f[i].power ? -1 : 1;
	}
	return cmp_u64(b->n, a->n);
}

int symsize_cmp(const struct symtab *t, struct symsize a, struct symsize b)
{
	if (symsize_eq(a, b))
		return 0;
	if (!a.expr || !b.expr)
		return !a.expr && !b.expr ? (a.k > b.k) - (a.k < b.k) : a.expr ? 1 : -1;
	const uint32_t *x = node(t, a.expr), *y = node(t, b.expr);
	if (x[W_KIND] != POLY && y[W_KIND] != POLY)
		return atom_cmp(t, a.expr, b.expr);
	struct poly p = {0}, q = {0};
	poly_load(t, a, &p);
	poly_load(t, b, &q);
	int d = 0;
	for (size_t i = 0; !d && i < p.n && i < q.n; i++) {
		d = term_cmp(t, &p.t[i], &q.t[i]);
		if (!d)
			d = (p.t[i].c > q.t[i].c) - (p.t[i].c < q.t[i].c);
	}
	if (!d)
		d = cmp_u64(p.n, q.n);
	poly_release(&p);
	poly_release(&q);
	return d;
}

/* Arithmetic on sums. `a` may be the result; it is untouched only on success paths, so callers drop it on failure. */

static int poly_add(const struct symtab *t, struct poly *a, const struct poly *b, bool minus, struct err *err)
{
	struct poly r = {0};
	size_t i = 0, k = 0;
	while (i < a->n || k < b->n) {
		int d = i == a->n ? 1 : k == b->n ? -1 : term_cmp(t, &a->t[i], &b->t[k]);
		struct term m = d <= 0 ? a->t[i] : b->t[k];
		bool bad = false;
		if (d > 0 && minus)
			bad = __builtin_sub_overflow((int64_t)0, m.c, &m.c);
		else if (!d)
			bad = minus ? __builtin_sub_overflow(m.c, b->t[k].c, &m.c) : __builtin_add_overflow(m.c, b->t[k].c, &m.c);
		i += d <= 0;
		k += d >= 0;
		if (bad || r.n == SYMSIZE_MAX_TERMS) {
			poly_release(&r);
			return bad ? overflow(err) : too_large(err);
		}
		if (m.c)
			*poly_push(&r) = m;
	}
	poly_release(a);
	*a = r;
	return 0;
}

static int term_mul(const struct symtab *t, const struct term *a, const struct term *b, struct term *r, struct err *err)
{
	*r = (struct term){0};
	if (__builtin_mul_overflow(a->c, b->c, &r->c))
		return overflow(err);
	uint32_t i = 0, k = 0;
	while (i < a->n || k < b->n) {
		int d = i == a->n ? 1 : k == b->n ? -1 : atom_cmp(t, a->f[i].atom, b->f[k].atom);
		if (r->n == SYMSIZE_MAX_FACTORS)
			return too_large(err);
		struct factor f = d <= 0 ? a->f[i] : b->f[k];
		if (!d)
			f.power += b->f[k].power;
		if (f.power > SYMSIZE_MAX_POWER)
			return too_large(err);
		r->f[r->n++] = f;
		i += d <= 0;
		k += d >= 0;
	}
	return 0;
}

static int by_term(const void *a, const void *b, void *t) { return term_cmp(t, a, b); }

static int poly_mul(const struct symtab *t, struct poly *a, const struct poly *b, struct err *err)
{
	if (a->n * b->n > 16 * SYMSIZE_MAX_TERMS)
		return too_large(err);
	struct poly r = {0};
	for (size_t i = 0; i < a->n; i++)
		for (size_t k = 0; k < b->n; k++)
			if (term_mul(t, &a->t[i], &b->t[k], poly_push(&r), err) < 0) {
				poly_release(&r);
				return -1;
			}
	if (r.n)
		qsort_r(r.t, r.n, sizeof(*r.t), by_term, (void *)t);
	size_t n = 0;
	for (size_t i = 0; i < r.n; i++) {
		if (n && !term_cmp(t, &r.t[n - 1], &r.t[i])) {
			if (__builtin_add_overflow(r.t[n - 1].c, r.t[i].c, &r.t[n - 1].c)) {
				poly_release(&r);
				return overflow(err);
			}
		} else {
			n += n && !r.t[n - 1].c ? 0 : 1; /* a sum that came to nothing gives up its place */
			r.t[n - 1] = r.t[i];
		}
	}
	r.n = n && !r.t[n - 1].c ? n - 1 : n;
	poly_release(a);
	*a = r;
	if (a->n > SYMSIZE_MAX_TERMS)
		return too_large(err);
	return 0;
}

static int poly_negate(struct poly *p, struct err *err)
{
	for (size_t i = 0; i < p->n; i++)
		if (__builtin_sub_overflow((int64_t)0, p->t[i].c, &p->t[i].c))
			return overflow(err);
	return 0;
}

static uint64_t magnitude(int64_t v) { return v < 0 ? 0 - (uint64_t)v : (uint64_t)v; }

static bool divides(int64_t d, int64_t c) { return d == -1 || c % d == 0; }

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* Divide numerator and denominator by what all their terms share: a number and powers of atoms. */
static void cancel(struct poly *a, struct poly *b)
{
	if (!a->n || !b->n)
		return;
	struct term g = b->t[0];
	uint64_t c = magnitude(g.c);
	for (int side = 0; side < 2; side++) {
		const struct poly *p = side ? a : b;
		for (size_t i = 0; i < p->n; i++) {
			c = gcd(c, magnitude(p->t[i].c));
			uint32_t kept = 0;
			for (uint32_t k = 0; k < g.n; k++)
				for (uint32_t f = 0; f < p->t[i].n; f++)
					if (p->t[i].f[f].atom == g.f[k].atom) {
						uint32_t low = p->t[i].f[f].power;
						g.f[kept] = g.f[k];
						if (low < g.f[kept].power)
							g.f[kept].power = low;
						kept++;
						break;
					}
			g.n = kept;
		}
	}
	for (int side = 0; side < 2; side++) {
		struct poly *p = side ? a : b;
		for (size_t i = 0; i < p->n; i++) {
			struct term *m = &p->t[i];
			if (c > 1 && c <= INT64_MAX)
				m->c /= (int64_t)c;
			uint32_t kept = 0;
			for (uint32_t f = 0; f < m->n; f++) {
				for (uint32_t k = 0; k < g.n; k++)
					if (g.f[k].atom == m->f[f].atom)
						m->f[f].power -= g.f[k].power;
				if (m->f[f].power)
					m->f[kept++] = m->f[f];
			}
			m->n = kept;
		}
	}
	/* The same was taken from every term, so their order stays what it was but for ties that cannot arise. */
}

/* Split off the terms that d divides: *whole gets them, p keeps the others. */
static void split(struct poly *p, int64_t d, struct poly *whole)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n; i++) {
		if (divides(d, p->t[i].c))
			*poly_push(whole) = p->t[i];
		else
			p->t[n++] = p->t[i];
	}
	p->n = n;
}

/* Calls */

static int call_node(struct symtab *t, enum op op, const struct symsize *args, uint32_t n, struct symsize *out, struct err *err)
{
	uint32_t w[W_BODY + 2 + 3 * SYMSIZE_MAX_ARGS], depth = 0;
	uint64_t weight = 1;
	for (uint32_t i = 0; i < n; i++) {
		w[W_BODY + 2 + 3 * i] = (uint32_t)(uint64_t)args[i].k;
		w[W_BODY + 3 + 3 * i] = (uint32_t)((uint64_t)args[i].k >> 32);
		w[W_BODY + 4 + 3 * i] = args[i].expr;
		const uint32_t *a = args[i].expr ? node(t, args[i].expr) : NULL;
		weight += a ? a[W_WEIGHT] : 1;
		depth = a && a[W_DEPTH] > depth ? a[W_DEPTH] : depth;
	}
	if (depth + 1 > SYMSIZE_MAX_DEPTH || weight > SYMSIZE_MAX_WEIGHT)
		return too_large(err);
	w[W_KIND] = FN;
	w[W_DEPTH] = depth + 1;
	w[W_WEIGHT] = (uint32_t)weight;
	w[W_BODY] = op;
	w[W_BODY + 1] = n;
	*out = (struct symsize){0, node_add(t, w, W_BODY + 2 + 3 * (size_t)n), 0};
	return 0;
}

/* The call of op on sums, as a sum again: in *a. */
static int call2(struct symtab *t, enum op op, struct poly *a, const struct poly *b, struct err *err)
{
	struct symsize args[2], r;
	if (poly_store(t, a, &args[0], err) < 0 || poly_store(t, b, &args[1], err) < 0 || call_node(t, op, args, 2, &r, err) < 0)
		return -1;
	poly_load(t, r, a);
	return 0;
}

/* If p is one call of op and nothing else, its node. */
static const uint32_t *lone_call(const struct symtab *t, const struct poly *p, enum op op)
{
	if (p->n != 1 || p->t[0].c != 1 || p->t[0].n != 1 || p->t[0].f[0].power != 1)
		return NULL;
	const uint32_t *w = node(t, p->t[0].f[0].atom);
	return w[W_KIND] == FN && fn_op(w) == op ? w : NULL;
}

/* Has it an integer's value, whatever its symbols are? Not so floats (zf0), quotients, and what is not understood. */
static bool is_whole(const struct symtab *t, uint32_t expr)
{
	if (!expr)
		return true;
	const uint32_t *w = node(t, expr);
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
			if (!is_whole(t, arg(w, i).expr))
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

static int floordiv(struct symtab *t, struct poly *a, struct poly *b, struct err *err)
{
	int64_t x, y;
	struct poly whole = {0};
	if (!poly_is_whole(t, a) || !poly_is_whole(t, b))
		return call2(t, OP_FLOORDIV, a, b, err);
	/* Each round takes one level of a nested division away. */
	for (;;) {
		bool y_int = poly_is_int(b, &y);
		if (y_int && !y)
			goto keep; /* an error when it is evaluated */
		cancel(a, b);
		if (poly_is_int(b, &y) && y < 0) {
			if (poly_negate(a, err) < 0 || poly_negate(b, err) < 0)
				goto fail;
			y = -y;
		}
		if (!poly_is_int(b, &y))
			goto keep;
		struct poly part = {0};
		split(a, y, &part);
		for (size_t i = 0; i < part.n; i++)
			part.t[i].c /= y;
		int rc = poly_add(t, &whole, &part, false, err);
		poly_release(&part);
		if (rc < 0)
			goto fail;
		if (poly_is_int(a, &x)) {
			struct poly k = {0};
			poly_load(t, symsize_int(floor_div(x, y)), &k);
			rc = poly_add(t, &whole, &k, false, err);
			poly_release(&k);
			if (rc < 0)
				goto fail;
			a->n = 0;
			break;
		}
		const uint32_t *inner = lone_call(t, a, OP_FLOORDIV);
		struct symsize num, den;
		int64_t both;
		if (!inner || (den = arg(inner, 1)).expr || den.k <= 0 || __builtin_mul_overflow(den.k, y, &both)) {
			/* What was split off may have left a common factor: (4*s0 + 2*s1)//4. */
			struct poly before = {0};
			*poly_push(&before) = b->t[0];
			cancel(a, b);
			bool same = before.t[0].c == b->t[0].c;
			poly_release(&before);
			if (!same)
				continue;
			goto keep;
		}
		num = arg(inner, 0);
		poly_load(t, num, a);
		poly_load(t, symsize_int(both), b);
	}
	goto done;
keep:
	if (poly_is_int(b, &y) && y == 1)
		; /* a itself */
	else if ((a->n || !b->n) && call2(t, OP_FLOORDIV, a, b, err) < 0)
		goto fail;
done:
	if (poly_add(t, a, &whole, false, err) < 0)
		goto fail;
	poly_release(&whole);
	return 0;
fail:
	poly_release(&whole);
	return -1;
}

static int mod(struct symtab *t, struct poly *a, struct poly *b, struct err *err)
{
	int64_t x, y;
	if (!b->n || !poly_is_whole(t, a) || !poly_is_whole(t, b))
		return call2(t, OP_MOD, a, b, err);
	if (poly_is_int(b, &y)) {
		struct poly whole = {0};
		split(a, y, &whole);
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
		cancel(&num, &den);
		bool multiple = poly_is_int(&den, &y) && (y == 1 || y == -1);
		poly_release(&num);
		poly_release(&den);
		if (multiple)
			a->n = 0;
	}
	if (!a->n)
		return 0;
	/* a - b and 0 are the same to b; other multiples are left as they are written. */
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
	cancel(a, b);
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
		return base_int ? overflow(err) : too_large(err);
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
static int lattice(struct symtab *t, enum op op, const struct symsize *args, uint32_t n, struct symsize *out, struct err *err)
{
	struct symsize v[SYMSIZE_MAX_ARGS + 1];
	uint32_t count = 0;
	bool has_int = false, logic = op == OP_AND || op == OP_OR;
	int64_t k = 0;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *w = args[i].expr ? node(t, args[i].expr) : NULL;
		bool nested = w && w[W_KIND] == FN && fn_op(w) == op;
		uint32_t m = nested ? fn_n(w) : 1;
		for (uint32_t j = 0; j < m; j++) {
			struct symsize a = nested ? arg(w, j) : args[i];
			if (!a.expr) {
				int64_t x = logic ? a.k != 0 : a.k;
				bool lower = x < k;
				if (!has_int || (op == OP_MAX || op == OP_OR ? !lower : lower))
					k = x;
				has_int = true;
			} else if (count == SYMSIZE_MAX_ARGS) {
				return too_large(err);
			} else {
				v[count++] = a;
			}
		}
	}
	/* The number that decides, or that says nothing. */
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
		return too_large(err);
	return call_node(t, op, v, kept, out, err);
}

static bool holds(enum op op, int d)
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

static int relation(struct symtab *t, enum op op, struct symsize a, struct symsize b, struct symsize *out, struct err *err)
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
		*out = symsize_int(holds(op, sign));
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
static int rounding(struct symtab *t, enum op op, struct symsize x, struct symsize *out, struct err *err)
{
	struct poly p = {0}, q = {0};
	int rc = 0;
	poly_load(t, x, &p);
	const uint32_t *w = lone_call(t, &p, OP_TRUEDIV);
	if (is_whole(t, x.expr)) {
		*out = x;
	} else if (w && op != OP_TRUNC) {
		struct symsize num = arg(w, 0), den = arg(w, 1);
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

/* op on two sums, in *a; *b is used up. */
static int binary(struct symtab *t, enum op op, struct poly *a, struct poly *b, struct err *err)
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

static int binary_size(struct symtab *t, enum op op, struct symsize a, struct symsize b, struct symsize *out, struct err *err)
{
	struct poly p = {0}, q = {0};
	poly_load(t, a, &p);
	poly_load(t, b, &q);
	int rc = binary(t, op, &p, &q, err);
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
int symsize_mod(struct symtab *t, struct symsize a, struct symsize b, struct symsize *out, struct err *err)
{
	return binary_size(t, OP_MOD, a, b, out, err);
}
int symsize_max(struct symtab *t, struct symsize a, struct symsize b, struct symsize *out, struct err *err)
{
	return binary_size(t, OP_MAX, a, b, out, err);
}
int symsize_min(struct symtab *t, struct symsize a, struct symsize b, struct symsize *out, struct err *err)
{
	return binary_size(t, OP_MIN, a, b, out, err);
}

static int call(struct symtab *t, enum op op, const struct symsize *v, uint32_t n, struct symsize *out, struct err *err)
{
	struct symsize x;
	switch (op) {
	case OP_IDENTITY: *out = v[0]; return 0;
	case OP_CEILDIV: /* floor((a + b - 1) / b), as torch defines it */
		return symsize_add(t, v[0], v[1], &x, err) < 0 || symsize_sub(t, x, symsize_int(1), &x, err) < 0
			   ? -1
			   : symsize_floordiv(t, x, v[1], out, err);
	case OP_MODULAR: return symsize_floordiv(t, v[0], v[1], &x, err) < 0 ? -1 : symsize_mod(t, x, v[2], out, err);
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
			return overflow(err);
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

/* Parsing: two stacks, no recursion. */

enum what { W_BINARY, W_NEGATE, W_BRACKET, W_CALL };
struct pending {
	enum what what;
	enum op op;
	uint8_t prec;
	uint32_t min, max; /* W_CALL */
	size_t values;     /* W_CALL: values on the stack before its arguments */
};
struct parser {
	struct symtab *t;
	struct slice s;
	size_t i;
	struct err *err;
	struct poly *v;
	size_t n_v, cap_v;
	struct pending *o;
	size_t n_o, cap_o, depth;
};

/* Python's order. */
static const struct {
	const char *text;
	enum op op;
	uint8_t prec;
} operators[] = {
    /* longer ones first */
    {"**", OP_POW, 8}, {"//", OP_FLOORDIV, 6}, {"==", OP_EQ, 1}, {"!=", OP_NE, 1},     {"<=", OP_LE, 1},
    {">=", OP_GE, 1},  {"<", OP_LT, 1},        {">", OP_GT, 1},  {"|", OP_OR, 2},      {"&", OP_AND, 3},
    {"+", OP_ADD, 5},  {"-", OP_SUB, 5},       {"*", OP_MUL, 6}, {"/", OP_TRUEDIV, 6}, {"%", OP_MOD, 6},
};
enum { PREC_COMPARE = 1, PREC_NEGATE = 7, PREC_POWER = 8 };

static int bad(struct parser *p, const char *what)
{
	return err_set(p->err, EXIT_INPUT, "symbolic size: %s at offset %zu of '%.*s'", what, p->i, (int)(p->s.n > 200 ? 200 : p->s.n),
		       p->s.p);
}

static void push_value(struct parser *p, struct symsize s)
{
	GROW(p->v, p->n_v, p->cap_v, 1);
	p->v[p->n_v] = (struct poly){0};
	poly_load(p->t, s, &p->v[p->n_v++]);
}

static int push_op(struct parser *p, struct pending o)
{
	if (o.what == W_BRACKET || o.what == W_CALL)
		if (++p->depth > SYMSIZE_MAX_DEPTH)
			return too_large(p->err);
	GROW(p->o, p->n_o, p->cap_o, 1);
	p->o[p->n_o++] = o;
	return 0;
}

/* Apply what binds at least as strongly as prec. */
static int reduce(struct parser *p, uint8_t prec, bool right)
{
	while (p->n_o) {
		struct pending *o = &p->o[p->n_o - 1];
		if (o->what == W_BRACKET || o->what == W_CALL || o->prec < prec || (right && o->prec == prec))
			break;
		if (o->prec == PREC_COMPARE && prec == PREC_COMPARE)
			return bad(p, "two comparisons in a row");
		p->n_o--;
		if (o->what == W_NEGATE) {
			if (poly_negate(&p->v[p->n_v - 1], p->err) < 0)
				return -1;
			continue;
		}
		struct poly *a = &p->v[p->n_v - 2], *b = &p->v[p->n_v - 1];
		int rc = binary(p->t, o->op, a, b, p->err);
		poly_release(b);
		p->n_v--;
		if (rc < 0)
			return -1;
	}
	return 0;
}

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool digit(char c) { return c >= '0' && c <= '9'; }
static char peek(const struct parser *p, size_t ahead) { return p->s.n - p->i > ahead ? p->s.p[p->i + ahead] : 0; }

static void skip_space(struct parser *p)
{
	while (p->i < p->s.n && (p->s.p[p->i] == ' ' || p->s.p[p->i] == '\t' || p->s.p[p->i] == '\n' || p->s.p[p->i] == '\r'))
		p->i++;
}

static int parse_number(struct parser *p)
{
	size_t start = p->i;
	while (digit(peek(p, 0)))
		p->i++;
	struct slice whole = slice_of(p->s.p + start, p->i - start);
	bool real = peek(p, 0) == '.' ||
		    ((peek(p, 0) | 32) == 'e' && (digit(peek(p, 1)) || ((peek(p, 1) == '-' || peek(p, 1) == '+') && digit(peek(p, 2)))));
	if (real) {
		while (digit(peek(p, 0)) || peek(p, 0) == '.' || (peek(p, 0) | 32) == 'e' ||
		       ((peek(p, 0) == '-' || peek(p, 0) == '+') && (p->s.p[p->i - 1] | 32) == 'e'))
			p->i++;
		push_value(p, symsize_opaque(p->t, slice_of(p->s.p + start, p->i - start)));
		return 0;
	}
	while (peek(p, 0) == 'L' || peek(p, 0) == 'U')
		p->i++; /* C++ */
	if (letter(peek(p, 0)))
		return bad(p, "a letter after a number");
	uint64_t v;
	if (!slice_u64(whole, &v))
		return overflow(p->err);
	if (v <= INT64_MAX) {
		push_value(p, symsize_int((int64_t)v));
		return 0;
	}
	/* The lowest number is written as a negated one that does not fit. */
	bool negated = p->n_o && p->o[p->n_o - 1].what == W_NEGATE;
	if (!negated || v != (uint64_t)INT64_MAX + 1)
		return overflow(p->err);
	p->n_o--;
	push_value(p, symsize_int(INT64_MIN));
	return 0;
}

/* To behind the bracket that closes the one at p->i. */
static int skip_brackets(struct parser *p)
{
	char open[SYMSIZE_MAX_DEPTH];
	size_t n = 0;
	do {
		char c = peek(p, 0);
		if (p->i >= p->s.n)
			return bad(p, "a missing bracket");
		if (c == '(' || c == '[' || c == '{') {
			if (n == sizeof(open))
				return too_large(p->err);
			open[n++] = c == '(' ? ')' : c == '[' ? ']' : '}';
		} else if (c == ')' || c == ']' || c == '}') {
			if (!n || open[--n] != c)
				return bad(p, "a bracket that closes another");
		}
		p->i++;
	} while (n);
	return 0;
}

/* A name: a symbol, or the start of a call. */
static int parse_name(struct parser *p, bool *opened)
{
	size_t start = p->i;
	bool plain = true;
	while (letter(peek(p, 0)) || digit(peek(p, 0)) || (peek(p, 0) == '.' && letter(peek(p, 1))) ||
	       (peek(p, 0) == ':' && peek(p, 1) == ':' && letter(peek(p, 2)))) {
		if (peek(p, 0) == ':')
			p->i++;
		plain &= peek(p, 0) != '.' && peek(p, 0) != ':';
		p->i++;
	}
	struct slice name = slice_of(p->s.p + start, p->i - start);
	if (slice_is(name, "static_cast") && peek(p, 0) == '<') {
		while (p->i < p->s.n && peek(p, 0) != '>')
			p->i++;
		p->i += p->i < p->s.n;
	}
	skip_space(p);
	if (peek(p, 0) != '(') {
		static const char *const infinite[] = {"int_oo", "oo", "inf", "nan", "zoo"};
		for (size_t k = 0; k < ARRAY_LEN(infinite); k++)
			if (slice_is(name, infinite[k])) {
				push_value(p, symsize_opaque(p->t, name));
				return 0;
			}
		if (slice_is(name, "True") || slice_is(name, "False"))
			push_value(p, symsize_int(name.n == 4));
		else if (plain && !slice_is(name, "static_cast"))
			push_value(p, symsize_symbol(p->t, name));
		else
			return bad(p, "a name that is no symbol");
		return 0;
	}
	for (size_t k = 0; k < ARRAY_LEN(functions); k++)
		if (slice_is(name, functions[k].name)) {
			p->i++;
			*opened = true;
			return push_op(p, (struct pending){W_CALL, functions[k].op, 0, functions[k].min, functions[k].max, p->n_v});
		}
	if (skip_brackets(p) < 0)
		return -1;
	push_value(p, symsize_opaque(p->t, slice_of(p->s.p + start, p->i - start)));
	return 0;
}

/* The top value becomes a node. */
static int store_top(struct parser *p, struct symsize *out) { return poly_store(p->t, &p->v[p->n_v - 1], out, p->err); }

static int close_bracket(struct parser *p)
{
	if (reduce(p, 0, false) < 0)
		return -1;
	if (!p->n_o)
		return bad(p, "a bracket that was not opened");
	struct pending o = p->o[--p->n_o];
	p->depth--;
	p->i++;
	if (o.what == W_BRACKET)
		return 0;
	struct symsize args[SYMSIZE_MAX_ARGS], r;
	size_t n = p->n_v - o.values;
	if (n < o.min || n > o.max)
		return bad(p, "a call with too few or too many arguments");
	for (size_t k = n; k--;) {
		if (store_top(p, &args[k]) < 0)
			return -1;
		poly_release(&p->v[--p->n_v]);
	}
	if (call(p->t, o.op, args, (uint32_t)n, &r, p->err) < 0)
		return -1;
	push_value(p, r);
	return 0;
}

static int parse_operator(struct parser *p)
{
	for (size_t k = 0; k < ARRAY_LEN(operators); k++) {
		size_t n = strlen(operators[k].text);
		if (p->s.n - p->i < n || memcmp(p->s.p + p->i, operators[k].text, n))
			continue;
		if (reduce(p, operators[k].prec, operators[k].prec == PREC_POWER) < 0)
			return -1;
		p->i += n;
		return push_op(p, (struct pending){.what = W_BINARY, .op = operators[k].op, .prec = operators[k].prec});
	}
	return bad(p, "no operator");
}

static int parse_all(struct parser *p, struct symsize *out)
{
	bool operand = true; /* what comes next */
	for (;;) {
		skip_space(p);
		if (p->i == p->s.n)
			break;
		char c = p->s.p[p->i];
		int rc = 0;
		if (operand) {
			bool opened = false;
			if (digit(c)) {
				rc = parse_number(p);
			} else if (letter(c)) {
				rc = parse_name(p, &opened);
			} else if (c == '(') {
				p->i++;
				opened = true;
				rc = push_op(p, (struct pending){.what = W_BRACKET});
			} else if (c == '-') {
				p->i++;
				opened = true;
				rc = push_op(p, (struct pending){.what = W_NEGATE, .prec = PREC_NEGATE});
			} else if (c == '+') {
				p->i++;
				opened = true;
			} else {
				return bad(p, "no operand");
			}
			operand = opened;
		} else if (c == ')') {
			rc = close_bracket(p);
		} else if (c == ',') {
			rc = reduce(p, 0, false);
			if (!rc && (!p->n_o || p->o[p->n_o - 1].what != W_CALL))
				return bad(p, "a comma outside a call");
			if (!rc && p->n_v - p->o[p->n_o - 1].values >= p->o[p->n_o - 1].max)
				return bad(p, "a call with too many arguments");
			p->i++;
			operand = true;
		} else {
			rc = parse_operator(p);
			operand = true;
		}
		if (rc < 0)
			return -1;
	}
	if (operand)
		return bad(p, p->s.n ? "no operand" : "nothing");
	if (reduce(p, 0, false) < 0)
		return -1;
	if (p->n_o)
		return bad(p, "a missing bracket");
	return store_top(p, out);
}

int symsize_parse(struct symtab *t, struct slice text, struct symsize *out, struct err *err)
{
	if (text.n > SYMSIZE_MAX_TEXT)
		return too_large(err);
	text = slice_trim(text);
	uint64_t v;
	if (text.n && digit(text.p[0]) && slice_u64(text, &v) && v <= INT64_MAX) {
		*out = symsize_int((int64_t)v); /* nearly all sizes */
		return 0;
	}
	struct parser p = {.t = t, .s = text, .err = err};
	int rc = parse_all(&p, out);
	while (p.n_v)
		poly_release(&p.v[--p.n_v]);
	free(p.v);
	free(p.o);
	return rc;
}

struct symsize symsize_parse_any(struct symtab *t, struct slice text)
{
	struct symsize s;
	return symsize_parse(t, text, &s, NULL) < 0 ? symsize_opaque(t, slice_trim(text)) : s;
}

/* Printing */

static void print_atom(const struct symtab *t, uint32_t atom, bool alone, struct buf *b);

static void print_i64(int64_t v, struct buf *b)
{
	if (v < 0)
		buf_addc(b, '-');
	buf_add_u64(b, magnitude(v));
}

static void print_product(const struct symtab *t, const struct term *m, struct buf *b)
{
	uint64_t c = magnitude(m->c);
	if (c != 1 || !m->n)
		buf_add_u64(b, c);
	for (uint32_t i = 0; i < m->n; i++) {
		if (i || c != 1)
			buf_addc(b, '*');
		print_atom(t, m->f[i].atom, false, b);
		if (m->f[i].power > 1)
			buf_addf(b, "**%u", m->f[i].power);
	}
}

/* alone: nothing stands beside it, so that no brackets are needed. */
static void print_size(const struct symtab *t, struct symsize s, bool alone, struct buf *b)
{
	if (!s.expr) {
		if (!alone && s.k < 0)
			buf_addc(b, '(');
		print_i64(s.k, b);
		if (!alone && s.k < 0)
			buf_addc(b, ')');
		return;
	}
	if (node(t, s.expr)[W_KIND] != POLY) {
		print_atom(t, s.expr, alone, b);
		return;
	}
	struct poly p = {0};
	poly_load(t, s, &p);
	if (!alone)
		buf_addc(b, '(');
	/* sympy writes 1 - s0, but -s0*s1 + 1. */
	if (p.n == 2 && !p.t[1].n && p.t[1].c > 0 && p.t[0].c < 0 && p.t[0].n == 1) {
		struct term first = p.t[1];
		p.t[1] = p.t[0];
		p.t[0] = first;
	}
	for (size_t i = 0; i < p.n; i++) {
		bool minus = p.t[i].c < 0;
		buf_adds(b, i ? minus ? " - " : " + " : minus ? "-" : "");
		print_product(t, &p.t[i], b);
	}
	if (!alone)
		buf_addc(b, ')');
	poly_release(&p);
}

static void print_atom(const struct symtab *t, uint32_t atom, bool alone, struct buf *b)
{
	const uint32_t *w = node(t, atom);
	if (w[W_KIND] != FN) {
		struct slice name = intern_get(&t->names, w[W_BODY]);
		buf_add_slice(b, name);
		return;
	}
	uint32_t op = fn_op(w), n = fn_n(w);
	const char *name = op_text[op].name;
	/* Divisions have brackets always, as torch writes them: (s0//2). */
	bool brackets = !name && (!alone || op == OP_FLOORDIV || op == OP_TRUEDIV);
	if (name)
		buf_adds(b, name);
	if (name || brackets)
		buf_addc(b, '(');
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			buf_adds(b, name ? ", " : op_text[op].infix);
		/* Sums beside a comparison need no brackets of their own. */
		struct symsize a = arg(w, i);
		bool sum = a.expr && node(t, a.expr)[W_KIND] == POLY;
		bool compare = op >= OP_LT && op <= OP_GE;
		print_size(t, a, name || (compare && (sum || !a.expr)), b);
	}
	if (name || brackets)
		buf_addc(b, ')');
}

void symsize_print(const struct symtab *t, struct symsize s, struct buf *b) { print_size(t, s, true, b); }

/* Walks */

struct found {
	uint32_t *id;
	size_t n, cap;
	bool opaque;
};

static void walk(const struct symtab *t, uint32_t expr, struct found *out)
{
	if (!expr)
		return;
	const uint32_t *w = node(t, expr);
	if (w[W_KIND] == SYM) {
		GROW(out->id, out->n, out->cap, 1);
		out->id[out->n++] = w[W_BODY];
	} else if (w[W_KIND] == OPAQUE) {
		out->opaque = true;
	} else if (w[W_KIND] == FN) {
		for (uint32_t i = 0; i < fn_n(w); i++)
			walk(t, arg(w, i).expr, out);
	} else {
		const uint32_t *at = w + W_BODY + 1;
		for (uint32_t m = 0; m < w[W_BODY]; m++) {
			uint32_t factors = at[2];
			at += 3;
			for (uint32_t k = 0; k < factors; k++, at += 2)
				walk(t, at[0], out);
		}
	}
}

static int by_name(const void *a, const void *b, void *t)
{
	const struct symtab *tab = t;
	return cmp_slice(symtab_name(tab, *(const uint32_t *)a), symtab_name(tab, *(const uint32_t *)b));
}

size_t symsize_symbols(const struct symtab *t, struct symsize s, uint32_t *ids, size_t cap)
{
	struct found f = {0};
	walk(t, s.expr, &f);
	size_t n = 0;
	if (f.n)
		qsort_r(f.id, f.n, sizeof(*f.id), by_name, (void *)t);
	for (size_t i = 0; i < f.n; i++) {
		if (i && f.id[i] == f.id[i - 1])
			continue;
		if (n < cap)
			ids[n] = f.id[i];
		n++;
	}
	free(f.id);
	return n;
}

bool symsize_has_opaque(const struct symtab *t, struct symsize s)
{
	struct found f = {0};
	walk(t, s.expr, &f);
	free(f.id);
	return f.opaque;
}

bool symsize_linear(const struct symtab *t, struct symsize s, uint32_t *symbol, int64_t *mul, int64_t *add)
{
	if (!s.expr)
		return false;
	struct poly p = {0};
	poly_load(t, s, &p);
	const uint32_t *w = p.n && p.n <= 2 && p.t[0].n == 1 ? node(t, p.t[0].f[0].atom) : NULL;
	bool ok = w && w[W_KIND] == SYM && p.t[0].f[0].power == 1 && (p.n == 1 || !p.t[1].n);
	if (ok) {
		*symbol = w[W_BODY];
		*mul = p.t[0].c;
		*add = p.n == 2 ? p.t[1].c : 0;
	}
	poly_release(&p);
	return ok;
}

/* Values */

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
		return err_set(err, EXIT_INPUT, "symbolic size: a negative power");
	int64_t r = 1;
	if (base == 0 || base == 1 || base == -1) {
		*out = n == 0 || base == 1 ? 1 : base == 0 ? 0 : n % 2 ? -1 : 1;
		return 0;
	}
	for (; n; n--) /* at most 63 rounds before it overflows */
		if (__builtin_mul_overflow(r, base, &r))
			return overflow(err);
	*out = r;
	return 0;
}

static int eval_call(const struct symtab *t, const uint32_t *w, const struct symbind *env, int64_t *out, struct err *err)
{
	int64_t a = 0, b = 0, r;
	uint32_t op = fn_op(w), n = fn_n(w);
	if (symsize_eval(t, arg(w, 0), env, &a, err) < 0)
		return -1;
	for (uint32_t i = 1; i < n; i++) {
		if (symsize_eval(t, arg(w, i), env, &b, err) < 0)
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
			return err_set(err, EXIT_INPUT, "symbolic size: a division by zero");
		if (b == -1) {
			*out = 0;
			return op != OP_MOD && __builtin_sub_overflow((int64_t)0, a, out) ? overflow(err) : 0;
		}
		if (op == OP_TRUEDIV && a % b)
			return err_set(err, EXIT_INPUT, "symbolic size: %lld/%lld is no integer", (long long)a, (long long)b);
		r = a % b;
		*out = op == OP_MOD ? (r && (r < 0) != (b < 0) ? r + b : r) : floor_div(a, b);
		return 0;
	case OP_POW: return eval_power(a, b, out, err);
	case OP_ABS:
		if (a == INT64_MIN)
			return overflow(err);
		*out = a < 0 ? -a : a;
		return 0;
	case OP_LSHIFT:
	case OP_RSHIFT:
		if (b < 0)
			return err_set(err, EXIT_INPUT, "symbolic size: a shift by %lld", (long long)b);
		if (op == OP_RSHIFT)
			*out = floor_div(a, b > 62 ? INT64_MAX : (int64_t)1 << b);
		else if (a && (b > 62 || __builtin_mul_overflow(a, (int64_t)1 << b, out)))
			return overflow(err);
		else if (!a)
			*out = 0;
		return 0;
	case OP_FLOOR:
	case OP_CEIL:
	case OP_TRUNC:
		*out = a; /* it had an integer's value */
		return 0;
	default: *out = holds((enum op)op, (a > b) - (a < b)); return 0;
	}
}

int symsize_eval(const struct symtab *t, struct symsize s, const struct symbind *env, int64_t *out, struct err *err)
{
	if (!s.expr) {
		*out = s.k;
		return 0;
	}
	const uint32_t *w = node(t, s.expr);
	if (w[W_KIND] == SYM || w[W_KIND] == OPAQUE) {
		struct slice name = intern_get(&t->names, w[W_BODY]);
		if (w[W_KIND] == SYM && symbind_get(env, w[W_BODY], out))
			return 0;
		return err_set(err, EXIT_INPUT, "symbolic size: '%.*s' has no value", (int)(name.n > 200 ? 200 : name.n), name.p);
	}
	if (w[W_KIND] == FN)
		return eval_call(t, w, env, out, err);
	const uint32_t *at = w + W_BODY + 1;
	int64_t sum = 0;
	for (uint32_t m = 0; m < w[W_BODY]; m++) {
		int64_t product = int_of(at[0], at[1]);
		uint32_t factors = at[2];
		at += 3;
		for (uint32_t k = 0; k < factors; k++, at += 2) {
			int64_t v, power;
			if (symsize_eval(t, (struct symsize){0, at[0], 0}, env, &v, err) < 0 || eval_power(v, at[1], &power, err) < 0)
				return -1;
			if (__builtin_mul_overflow(product, power, &product))
				return overflow(err);
		}
		if (__builtin_add_overflow(sum, product, &sum))
			return overflow(err);
	}
	*out = sum;
	return 0;
}

enum sym_kind sym_kind(struct slice name)
{
	static const struct {
		const char *prefix;
		enum sym_kind kind;
	} kinds[] = {{"zuf", SYM_UNBACKED_FLOAT}, {"zf", SYM_FLOAT}, {"s", SYM_BACKED}, {"u", SYM_UNBACKED}};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		size_t n = strlen(kinds[i].prefix);
		uint64_t v;
		if (slice_starts(name, kinds[i].prefix) && slice_u64(slice_of(name.p + n, name.n - n), &v))
			return kinds[i].kind;
	}
	return SYM_OTHER;
}

/* Ranges */

static bool parse_end(struct slice s, bool low, int64_t *v, bool *inf)
{
	s = slice_trim(s);
	bool neg = s.n && s.p[0] == '-';
	struct slice a = neg ? slice_of(s.p + 1, s.n - 1) : s;
	uint64_t u;
	*inf = false;
	*v = 0;
	if (slice_is(a, "int_oo") || slice_is(a, "oo") || slice_is(a, "inf")) {
		*inf = true;
		return neg == low; /* [int_oo, int_oo] holds nothing */
	}
	if (slice_is(s, "True") || slice_is(s, "False")) {
		*v = s.n == 4;
		return true;
	}
	if (!slice_u64(a, &u) || u > (uint64_t)INT64_MAX + neg)
		return false;
	*v = neg ? (int64_t)(0 - u) : (int64_t)u;
	return true;
}

int symrange_parse(struct slice text, struct symrange *out, struct err *err)
{
	struct slice s = slice_trim(text);
	int shown = (int)(s.n > 200 ? 200 : s.n);
	struct slice lo = {0}, hi = {0};
	static const char head[] = "ValueRanges(lower=", middle[] = "upper=";
	bool named_form = slice_starts(s, head) && slice_ends(s, ")");
	if (named_form) {
		s = slice_of(s.p + sizeof(head) - 1, s.n - sizeof(head));
	} else {
		if (slice_starts(s, "VR"))
			s = slice_of(s.p + 2, s.n - 2);
		if (s.n < 2 || s.p[0] != '[' || s.p[s.n - 1] != ']')
			return err_set(err, EXIT_INPUT, "no range: '%.*s'", shown, slice_trim(text).n ? slice_trim(text).p : "");
		s = slice_of(s.p + 1, s.n - 2);
	}
	const char *comma = s.n ? memchr(s.p, ',', s.n) : NULL;
	if (comma) {
		lo = slice_of(s.p, (size_t)(comma - s.p));
		hi = slice_trim(slice_of(comma + 1, s.n - lo.n - 1));
	}
	if (named_form && slice_starts(hi, middle)) {
		hi = slice_of(hi.p + sizeof(middle) - 1, hi.n - (sizeof(middle) - 1));
		const char *more = hi.n ? memchr(hi.p, ',', hi.n) : NULL;
		if (more)
			hi.n = (size_t)(more - hi.p);
	} else if (named_form) {
		comma = NULL;
	}
	struct symrange r;
	if (!comma || !parse_end(lo, true, &r.lo, &r.lo_inf) || !parse_end(hi, false, &r.hi, &r.hi_inf))
		return err_set(err, EXIT_INPUT, "no range of integers: '%.*s'", shown, slice_trim(text).p);
	if (!r.lo_inf && !r.hi_inf && r.lo > r.hi)
		return err_set(err, EXIT_INPUT, "an empty range: '%.*s'", shown, slice_trim(text).p);
	*out = r;
	return 0;
}

void symrange_print(struct symrange r, struct buf *b)
{
	buf_addc(b, '[');
	if (r.lo_inf)
		buf_adds(b, "-int_oo");
	else
		print_i64(r.lo, b);
	buf_adds(b, ", ");
	if (r.hi_inf)
		buf_adds(b, "int_oo");
	else
		print_i64(r.hi, b);
	buf_addc(b, ']');
}

bool symrange_eq(struct symrange a, struct symrange b)
{
	return a.lo_inf == b.lo_inf && a.hi_inf == b.hi_inf && (a.lo_inf || a.lo == b.lo) && (a.hi_inf || a.hi == b.hi);
}

bool symrange_intersect(struct symrange a, struct symrange b, struct symrange *out)
{
	struct symrange r = a;
	if (!b.lo_inf && (a.lo_inf || b.lo > a.lo)) {
		r.lo = b.lo;
		r.lo_inf = false;
	}
	if (!b.hi_inf && (a.hi_inf || b.hi < a.hi)) {
		r.hi = b.hi;
		r.hi_inf = false;
	}
	if (!r.lo_inf && !r.hi_inf && r.lo > r.hi)
		return false;
	*out = r;
	return true;
}
