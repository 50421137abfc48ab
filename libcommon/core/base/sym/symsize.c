/* symsize.c - the table of symbolic sizes: its nodes, the contents of an expression, and printing it. See symsize_part.h. */
#include "base/sym/symsize_part.h"

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

void symtab_release(struct symtab *t)
{
	intern_release(&t->names);
	intern_release(&t->nodes);
}

uint32_t symtab_symbol(struct symtab *t, struct slice name) { return intern_add(&t->names, name); }
struct slice symtab_name(const struct symtab *t, uint32_t symbol) { return intern_get(&t->names, symbol); }

static struct symsize named(struct symtab *t, enum node_kind kind, struct slice name)
{
	uint32_t w[] = {kind, 0, 1, intern_add(&t->names, name)};
	return (struct symsize){0, sym_node_add(t, w, ARRAY_LEN(w)), 0};
}

struct symsize symsize_symbol(struct symtab *t, struct slice name) { return named(t, SYM, name); }
struct symsize symsize_opaque(struct symtab *t, struct slice text) { return named(t, OPAQUE, text); }

static void print_atom(const struct symtab *t, uint32_t atom, bool alone, struct buf *b);

static void print_product(const struct symtab *t, const struct term *m, struct buf *b)
{
	uint64_t c = sym_magnitude(m->c);
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

/* alone: it has no neighbours, so it needs no brackets. */
static void print_size(const struct symtab *t, struct symsize s, bool alone, struct buf *b)
{
	if (!s.expr) {
		if (!alone && s.k < 0)
			buf_addc(b, '(');
		sym_print_i64(s.k, b);
		if (!alone && s.k < 0)
			buf_addc(b, ')');
		return;
	}
	if (sym_node(t, s.expr)[W_KIND] != POLY) {
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
	const uint32_t *w = sym_node(t, atom);
	if (w[W_KIND] != FN) {
		struct slice name = intern_get(&t->names, w[W_BODY]);
		buf_add_slice(b, name);
		return;
	}
	uint32_t op = fn_op(w), n = fn_n(w);
	const char *name = op_text[op].name;
	/* Divisions always have brackets, as in torch: (s0//2). */
	bool brackets = !name && (!alone || op == OP_FLOORDIV || op == OP_TRUEDIV);
	if (name)
		buf_adds(b, name);
	if (name || brackets)
		buf_addc(b, '(');
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			buf_adds(b, name ? ", " : op_text[op].infix);
		/* Operands of a comparison need no brackets. */
		struct symsize a = fn_arg(w, i);
		bool sum = a.expr && sym_node(t, a.expr)[W_KIND] == POLY;
		bool compare = op >= OP_LT && op <= OP_GE;
		print_size(t, a, name || (compare && (sum || !a.expr)), b);
	}
	if (name || brackets)
		buf_addc(b, ')');
}

void symsize_print(const struct symtab *t, struct symsize s, struct buf *b) { print_size(t, s, true, b); }

struct found {
	uint32_t *id;
	size_t n, cap;
	bool opaque;
};

static void walk(const struct symtab *t, uint32_t expr, struct found *out)
{
	if (!expr)
		return;
	const uint32_t *w = sym_node(t, expr);
	if (w[W_KIND] == SYM) {
		PUSH_TO(out->id, out->n, out->cap) = w[W_BODY];
	} else if (w[W_KIND] == OPAQUE) {
		out->opaque = true;
	} else if (w[W_KIND] == FN) {
		for (uint32_t i = 0; i < fn_n(w); i++)
			walk(t, fn_arg(w, i).expr, out);
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

static int compare_symbols(const void *a, const void *b, void *t)
{
	const struct symtab *tab = t;
	return slice_cmp(symtab_name(tab, *(const uint32_t *)a), symtab_name(tab, *(const uint32_t *)b));
}

size_t symsize_symbols(const struct symtab *t, struct symsize s, uint32_t *ids, size_t cap)
{
	struct found f = {0};
	walk(t, s.expr, &f);
	size_t n = 0;
	if (f.n)
		qsort_r(f.id, f.n, sizeof(*f.id), compare_symbols, (void *)t);
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
	const uint32_t *w = p.n && p.n <= 2 && p.t[0].n == 1 ? sym_node(t, p.t[0].f[0].atom) : NULL;
	bool ok = w && w[W_KIND] == SYM && p.t[0].f[0].power == 1 && (p.n == 1 || !p.t[1].n);
	if (ok) {
		*symbol = w[W_BODY];
		*mul = p.t[0].c;
		*add = p.n == 2 ? p.t[1].c : 0;
	}
	poly_release(&p);
	return ok;
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
