/* Numbers observed at a few values of the symbols -> a formula. No process, no model: plain arithmetic, tested separately. */
#include "model/binprobe/binprobe_child.h"

#define MAX_DEPENDS 6
#define MAX_BASIS 40
#define MAX_COEFFICIENT (1ll << 40)
#define MAX_NUMBER (1ll << 55)
#define PRIME ((1ull << 61) - 1)

typedef unsigned __int128 u128;
typedef __int128 i128;

/* The one symbol in which point p differs from the base: -1 none, -2 several. */
static int only_change(const struct fit_points *p, uint32_t point)
{
	int found = -1;
	for (uint32_t j = 0; j < p->n_symbols; j++)
		if (p->at[point][j] != p->at[0][j]) {
			if (found >= 0)
				return -2;
			found = (int)j;
		}
	return found;
}

static uint32_t depends_on(const struct fit_points *p, const int64_t *v, uint32_t *list)
{
	bool seen[FIT_MAX_SYMBOLS] = {false};
	uint32_t n = 0;
	for (uint32_t i = 1; i < p->n; i++) {
		int j = v[i] != v[0] ? only_change(p, i) : -1;
		if (j >= 0)
			seen[j] = true;
	}
	for (uint32_t j = 0; j < p->n_symbols; j++)
		if (seen[j])
			list[n++] = j;
	return n;
}

/* ---- k * s0^a * s1^b ---- */

static bool power_of(const struct fit_points *p, const int64_t *v, uint32_t j, int *power)
{
	for (*power = 1; *power <= 3; ++*power) {
		bool fits = true;
		for (uint32_t i = 1; i < p->n && fits; i++) {
			if (only_change(p, i) != (int)j)
				continue;
			i128 a = v[i], b = v[0];
			for (int k = 0; k < *power; k++) {
				a *= p->at[0][j];
				b *= p->at[i][j];
				if (a > (i128)1 << 100 || a < -((i128)1 << 100) || b > (i128)1 << 100 || b < -((i128)1 << 100))
					return false;
			}
			fits = a == b;
		}
		if (fits)
			return true;
	}
	return false;
}

static struct symsize times_power(struct symtab *tab, struct symsize s, struct symsize symbol, int power)
{
	for (int k = 0; k < power; k++)
		if (symsize_mul(tab, s, symbol, &s, NULL) < 0)
			return symsize_opaque(tab, SLICE("?"));
	return s;
}

static bool fit_product(struct symtab *tab, const struct fit_points *p, const int64_t *v, const uint32_t *dep, uint32_t n,
			struct symsize *out)
{
	int power[MAX_DEPENDS];
	int64_t k = 0;
	for (uint32_t d = 0; d < n; d++)
		if (!power_of(p, v, dep[d], &power[d]))
			return false;
	for (uint32_t i = 0; i < p->n; i++) {
		int64_t product = 1;
		for (uint32_t d = 0; d < n; d++)
			for (int e = 0; e < power[d]; e++)
				if (__builtin_mul_overflow(product, p->at[i][dep[d]], &product))
					return false;
		if (!product || v[i] % product || (i && v[i] / product != k))
			return false;
		k = v[i] / product;
	}
	*out = symsize_int(k);
	for (uint32_t d = 0; d < n; d++)
		*out = times_power(tab, *out, p->symbol[dep[d]], power[d]);
	return !symsize_has_opaque(tab, *out);
}

/* ---- polynomials: linear equations modulo a large prime, whose solution is small if it is the right one ---- */

struct term {
	uint8_t n; /* factors */
	uint8_t factor[3];
};

static uint64_t mod(int64_t v)
{
	int64_t r = v % (int64_t)PRIME;
	return (uint64_t)(r < 0 ? r + (int64_t)PRIME : r);
}
static uint64_t mul(uint64_t a, uint64_t b) { return (uint64_t)((u128)a * b % PRIME); }
static uint64_t sub(uint64_t a, uint64_t b) { return a >= b ? a - b : a + PRIME - b; }
static uint64_t inverse(uint64_t a)
{
	uint64_t r = 1;
	for (uint64_t e = PRIME - 2; e; e >>= 1, a = mul(a, a))
		if (e & 1)
			r = mul(r, a);
	return r;
}

static i128 term_value(const struct fit_points *p, const uint32_t *dep, const struct term *t, uint32_t point)
{
	i128 v = 1;
	for (int k = 0; k < t->n; k++)
		v *= p->at[point][dep[t->factor[k]]];
	return v;
}

/* Solves for one coefficient per term. False if the points do not determine them. */
static bool solve(const struct fit_points *p, const int64_t *v, const uint32_t *dep, const struct term *t, uint32_t n, int64_t *coefficient)
{
	uint64_t m[MAX_BASIS][MAX_BASIS + 1];
	uint32_t rows = 0, pivot[MAX_BASIS];
	for (uint32_t i = 0; i < p->n && rows < n; i++) {
		uint64_t *row = m[rows];
		for (uint32_t k = 0; k < n; k++)
			row[k] = mod((int64_t)(term_value(p, dep, &t[k], i) % (int64_t)PRIME));
		row[n] = mod(v[i]);
		for (uint32_t r = 0; r < rows; r++)
			if (row[pivot[r]]) {
				uint64_t f = row[pivot[r]];
				for (uint32_t k = 0; k <= n; k++)
					row[k] = sub(row[k], mul(f, m[r][k]));
			}
		uint32_t lead = 0;
		while (lead < n && !row[lead])
			lead++;
		if (lead == n)
			continue; /* adds nothing new; its consistency is checked at the end */
		uint64_t inv = inverse(row[lead]);
		for (uint32_t k = 0; k <= n; k++)
			row[k] = mul(row[k], inv);
		for (uint32_t r = 0; r < rows; r++)
			if (m[r][lead]) {
				uint64_t f = m[r][lead];
				for (uint32_t k = 0; k <= n; k++)
					m[r][k] = sub(m[r][k], mul(f, row[k]));
			}
		pivot[rows++] = lead;
	}
	if (rows < n)
		return false;
	for (uint32_t r = 0; r < n; r++) {
		uint64_t c = m[r][n];
		coefficient[pivot[r]] = c > PRIME / 2 ? -(int64_t)(PRIME - c) : (int64_t)c;
		if (coefficient[pivot[r]] > MAX_COEFFICIENT || coefficient[pivot[r]] < -MAX_COEFFICIENT)
			return false;
	}
	return true;
}

static uint32_t distinct_points(const struct fit_points *p, const uint32_t *dep, uint32_t n)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		bool again = false;
		for (uint32_t k = 0; k < i && !again; k++) {
			again = true;
			for (uint32_t d = 0; d < n; d++)
				again &= p->at[i][dep[d]] == p->at[k][dep[d]];
		}
		count += !again;
	}
	return count;
}

static bool whole(const struct fit_points *p, const uint32_t *dep, uint32_t n) { return n == 1 && p->whole[dep[0]]; }

static bool fit_terms(struct symtab *tab, const struct fit_points *p, const int64_t *v, const uint32_t *dep, uint32_t n_dep,
		      const struct term *t, uint32_t n, struct symsize *out)
{
	int64_t c[MAX_BASIS];
	if (distinct_points(p, dep, n_dep) < n + !whole(p, dep, n_dep) || !solve(p, v, dep, t, n, c))
		return false;
	for (uint32_t i = 0; i < p->n; i++) {
		i128 sum = 0;
		for (uint32_t k = 0; k < n; k++)
			sum += c[k] * term_value(p, dep, &t[k], i);
		if (sum != v[i])
			return false;
	}
	*out = symsize_int(0);
	for (uint32_t k = 0; k < n; k++) {
		struct symsize part = symsize_int(c[k]);
		for (int f = 0; c[k] && f < t[k].n; f++)
			part = times_power(tab, part, p->symbol[dep[t[k].factor[f]]], 1);
		if (symsize_add(tab, *out, part, out, NULL) < 0)
			return false;
	}
	return !symsize_has_opaque(tab, *out);
}

/* More terms step by step: linear, products of two, squares, products of three. */
static bool fit_polynomial(struct symtab *tab, const struct fit_points *p, const int64_t *v, const uint32_t *dep, uint32_t n_dep,
			   struct symsize *out)
{
	struct term t[MAX_BASIS] = {{0, {0}}};
	uint32_t n = 1;
	for (uint8_t a = 0; a < n_dep; a++)
		t[n++] = (struct term){1, {a}};
	if (fit_terms(tab, p, v, dep, n_dep, t, n, out))
		return true;
	for (uint8_t a = 0; a < n_dep; a++)
		for (uint8_t b = (uint8_t)(a + 1); b < n_dep; b++)
			t[n++] = (struct term){2, {a, b}};
	if (n_dep > 1 && fit_terms(tab, p, v, dep, n_dep, t, n, out))
		return true;
	for (uint8_t a = 0; a < n_dep; a++)
		t[n++] = (struct term){2, {a, a}};
	if (fit_terms(tab, p, v, dep, n_dep, t, n, out))
		return true;
	if (n_dep != 3)
		return false;
	t[n++] = (struct term){3, {0, 1, 2}};
	return fit_terms(tab, p, v, dep, n_dep, t, n, out);
}

/* ---- k * ((a*s + b) // d) + c ---- */

/* v = (a*s + b) // d at all points? Then *b; it must be the only one. */
static bool offset_of(const struct fit_points *p, const int64_t *v, uint32_t j, int64_t a, int64_t d, int64_t *b)
{
	i128 lo = -((i128)1 << 100), hi = (i128)1 << 100;
	for (uint32_t i = 0; i < p->n; i++) {
		i128 least = (i128)v[i] * d - (i128)a * p->at[i][j];
		lo = least > lo ? least : lo;
		hi = least + d - 1 < hi ? least + d - 1 : hi;
	}
	*b = (int64_t)lo;
	return lo <= hi && (lo == hi || p->whole[j]) && lo == (i128)*b;
}

static bool fit_floor(struct symtab *tab, const struct fit_points *p, const int64_t *v, uint32_t j, struct symsize *out)
{
	enum { MOST = 1024 };
	if (p->n > MOST)
		return false;
	int64_t w[MOST], k = 0, c;
	uint32_t far = 0;
	for (uint32_t i = 1; i < p->n; i++) {
		k = (int64_t)gcd((uint64_t)llabs(v[i] - v[0]), (uint64_t)k);
		int64_t here = llabs(p->at[i][j] - p->at[0][j]), best = llabs(p->at[far][j] - p->at[0][j]);
		far = here > best ? i : far;
	}
	if (!k || !far)
		return false;
	c = v[0] % k;
	for (uint32_t i = 0; i < p->n; i++)
		w[i] = (v[i] - c) / k;
	int64_t enough = p->whole[j] ? INT64_MAX : distinct_points(p, &j, 1);
	int64_t rise = w[far] - w[0], run = p->at[far][j] - p->at[0][j];
	/* Three unknowns, and a remainder that must be observed in full. */
	for (int64_t d = 2; d <= 256 && d + 4 <= enough; d++)
		for (int64_t near = (int64_t)((i128)rise * d / run), a = near - 1; a <= near + 1; a++) {
			int64_t b;
			struct symsize s = p->symbol[j];
			if (!a || gcd((uint64_t)llabs(a), (uint64_t)d) != 1 || !offset_of(p, w, j, a, d, &b))
				continue;
			return !(symsize_mul(tab, s, symsize_int(a), &s, NULL) < 0 || symsize_add(tab, s, symsize_int(b), &s, NULL) < 0 ||
				 symsize_floordiv(tab, s, symsize_int(d), &s, NULL) < 0 ||
				 symsize_mul(tab, s, symsize_int(k), &s, NULL) < 0 || symsize_add(tab, s, symsize_int(c), out, NULL) < 0);
		}
	return false;
}

bool fit_formula(struct symtab *tab, const struct fit_points *p, const int64_t *v, struct symsize *out)
{
	uint32_t dep[FIT_MAX_SYMBOLS];
	bool constant = true;
	for (uint32_t i = 0; i < p->n; i++) {
		constant &= v[i] == v[0];
		if (v[i] == UNKNOWN)
			return false;
	}
	*out = symsize_int(p->n ? v[0] : 0);
	if (constant)
		return p->n > 0;
	for (uint32_t i = 0; i < p->n; i++)
		if (v[i] > MAX_NUMBER || v[i] < -MAX_NUMBER)
			return false;
	uint32_t n = depends_on(p, v, dep);
	if (!n || n > MAX_DEPENDS)
		return false;
	/* Some product fits any two points of a symbol; it is certain only if there are no other values. */
	if ((distinct_points(p, dep, n) > n + 1 || whole(p, dep, n)) && fit_product(tab, p, v, dep, n, out))
		return true;
	return fit_polynomial(tab, p, v, dep, n, out) || (n == 1 && fit_floor(tab, p, v, dep[0], out));
}
