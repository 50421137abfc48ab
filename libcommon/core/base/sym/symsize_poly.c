/* symsize_poly.c - sums of products: their order, arithmetic on them, and common divisors. */
#include "base/sym/symsize_part.h"

void poly_release(struct poly *p)
{
	free(p->t);
	*p = (struct poly){0};
}

struct term *poly_push(struct poly *p)
{
	if (p->n == p->cap) {
		p->cap = p->cap ? p->cap * 2 : 2; /* most have one or two; a term is big */
		p->t = xreallocarray(p->t, p->cap, sizeof(*p->t));
	}
	return &p->t[p->n++];
}

void poly_load(const struct symtab *t, struct symsize s, struct poly *p)
{
	p->n = 0;
	if (!s.expr) {
		if (s.k)
			*poly_push(p) = (struct term){.c = s.k};
		return;
	}
	const uint32_t *w = sym_node(t, s.expr);
	if (w[W_KIND] != POLY) {
		*poly_push(p) = (struct term){.c = 1, .n = 1, .f = {{s.expr, 1}}};
		return;
	}
	const uint32_t *at = w + W_BODY + 1;
	for (uint32_t i = 0; i < w[W_BODY]; i++) {
		struct term *m = poly_push(p);
		*m = (struct term){.c = node_i64(at[0], at[1]), .n = at[2]};
		at += 3;
		for (uint32_t k = 0; k < m->n; k++, at += 2)
			m->f[k] = (struct factor){at[0], at[1]};
	}
}

bool poly_is_int(const struct poly *p, int64_t *k)
{
	if (p->n > 1 || (p->n && p->t[0].n))
		return false;
	*k = p->n ? p->t[0].c : 0;
	return true;
}

int poly_store(struct symtab *t, const struct poly *p, struct symsize *out, struct err *err)
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
			return sym_overflow(err);
		for (uint32_t f = 0; f < p->t[m].n; f++) {
			const uint32_t *a = sym_node(t, p->t[m].f[f].atom);
			weight += a[W_WEIGHT];
			depth = a[W_DEPTH] > depth ? a[W_DEPTH] : depth;
		}
	}
	if (weight > SYMSIZE_MAX_WEIGHT)
		return sym_too_large(err);
	FREED uint32_t *w = xreallocarray(NULL, n, sizeof(*w));
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
	*out = (struct symsize){0, sym_node_add(t, w, n), 0};
	return 0;
}

static int cmp_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int atom_cmp(const struct symtab *t, uint32_t a, uint32_t b)
{
	if (a == b)
		return 0;
	const uint32_t *x = sym_node(t, a), *y = sym_node(t, b);
	int d = cmp_u64(x[W_KIND], y[W_KIND]);
	if (d)
		return d;
	if (x[W_KIND] != FN)
		return slice_cmp(intern_get(&t->names, x[W_BODY]), intern_get(&t->names, y[W_BODY]));
	d = cmp_u64(fn_op(x), fn_op(y));
	for (uint32_t i = 0; !d && i < fn_n(x) && i < fn_n(y); i++)
		d = symsize_cmp(t, fn_arg(x, i), fn_arg(y, i));
	return d ? d : cmp_u64(fn_n(x), fn_n(y));
}

/* Orders products. As sympy prints: the first symbol's highest power first, the constant last. */
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
	const uint32_t *x = sym_node(t, a.expr), *y = sym_node(t, b.expr);
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

int poly_add(const struct symtab *t, struct poly *a, const struct poly *b, bool minus, struct err *err)
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
			return bad ? sym_overflow(err) : sym_too_large(err);
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
		return sym_overflow(err);
	uint32_t i = 0, k = 0;
	while (i < a->n || k < b->n) {
		int d = i == a->n ? 1 : k == b->n ? -1 : atom_cmp(t, a->f[i].atom, b->f[k].atom);
		if (r->n == SYMSIZE_MAX_FACTORS)
			return sym_too_large(err);
		struct factor f = d <= 0 ? a->f[i] : b->f[k];
		if (!d)
			f.power += b->f[k].power;
		if (f.power > SYMSIZE_MAX_POWER)
			return sym_too_large(err);
		r->f[r->n++] = f;
		i += d <= 0;
		k += d >= 0;
	}
	return 0;
}

static int by_term(const void *a, const void *b, void *t) { return term_cmp(t, a, b); }

int poly_mul(const struct symtab *t, struct poly *a, const struct poly *b, struct err *err)
{
	if (a->n * b->n > 16 * SYMSIZE_MAX_TERMS)
		return sym_too_large(err);
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
				return sym_overflow(err);
			}
		} else {
			n += n && !r.t[n - 1].c ? 0 : 1; /* a sum that became 0 is removed */
			r.t[n - 1] = r.t[i];
		}
	}
	r.n = n && !r.t[n - 1].c ? n - 1 : n;
	poly_release(a);
	*a = r;
	if (a->n > SYMSIZE_MAX_TERMS)
		return sym_too_large(err);
	return 0;
}

int poly_negate(struct poly *p, struct err *err)
{
	for (size_t i = 0; i < p->n; i++)
		if (__builtin_sub_overflow((int64_t)0, p->t[i].c, &p->t[i].c))
			return sym_overflow(err);
	return 0;
}

static bool divides(int64_t d, int64_t c) { return d == -1 || c % d == 0; }

/* Reduces g to its common part with m. */
static void term_common(struct term *g, const struct term *m)
{
	uint32_t kept = 0;
	for (uint32_t k = 0; k < g->n; k++)
		for (uint32_t f = 0; f < m->n; f++)
			if (m->f[f].atom == g->f[k].atom) {
				struct factor both = {g->f[k].atom, m->f[f].power < g->f[k].power ? m->f[f].power : g->f[k].power};
				g->f[kept++] = both;
				break;
			}
	g->n = kept;
}

/* Divides m by c and the factors of g, which it has. */
static void term_divide(struct term *m, uint64_t c, const struct term *g)
{
	uint32_t kept = 0;
	if (c > 1 && c <= INT64_MAX)
		m->c /= (int64_t)c;
	for (uint32_t f = 0; f < m->n; f++) {
		for (uint32_t k = 0; k < g->n; k++)
			if (g->f[k].atom == m->f[f].atom)
				m->f[f].power -= g->f[k].power;
		if (m->f[f].power)
			m->f[kept++] = m->f[f];
	}
	m->n = kept;
}

void poly_cancel(struct poly *a, struct poly *b)
{
	if (!a->n || !b->n)
		return;
	struct poly *side[2] = {b, a};
	struct term g = b->t[0];
	uint64_t c = sym_magnitude(g.c);
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < side[s]->n; i++) {
			c = gcd(c, sym_magnitude(side[s]->t[i].c));
			term_common(&g, &side[s]->t[i]);
		}
	/* The same is divided out of every term, so their order is unchanged except for ties, which cannot occur. */
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < side[s]->n; i++)
			term_divide(&side[s]->t[i], c, &g);
}

void poly_split_off(struct poly *p, int64_t d, struct poly *whole)
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
