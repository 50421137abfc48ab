/* Identifies a kernel's internal results, which are not nodes: the sum, the mean, the squares, the maximum ... of a node over some dims. */
#include "aten/verify/verify.h"

#include <math.h>

/* The dims of a node that are not 1; those in mask are reduced, the others stay. */
struct fold {
	struct numbers_dims d;
	unsigned mask;
	int64_t over, kept; /* elements */
};

static void choose_fold(struct fold *f, unsigned mask)
{
	f->mask = mask;
	f->over = f->kept = 1;
	for (int d = 0; d < f->d.n_dim; d++)
		*(mask >> d & 1 ? &f->over : &f->kept) *= f->d.size[d];
}

/* Where the elements are over the dims in mask, or over those not in it: row-major. Takes room for all of them. */
static void fold_places(const struct fold *f, bool in_mask, int64_t *at)
{
	int64_t n = 1;
	at[0] = 0;
	for (int d = f->d.n_dim; d-- > 0;) {
		if ((f->mask >> d & 1) != in_mask)
			continue;
		for (int64_t i = 1; i < f->d.size[d]; i++)
			for (int64_t k = 0; k < n; k++)
				at[i * n + k] = at[k] + i * f->d.step[d];
		n *= f->d.size[d];
	}
}

enum kind { SUM, MEAN, SQUARES, ABOUT, VARIANCE, UNBIASED, MAX, MIN, NORM, EXP, KINDS };
#define BIT(kind) (1u << (kind))
static const unsigned FIRST = BIT(SUM) | BIT(MEAN) | BIT(SQUARES) | BIT(MAX) | BIT(MIN) | BIT(NORM), /* one pass gives them */
    SECOND = BIT(ABOUT) | BIT(VARIANCE) | BIT(UNBIASED);

/* Computes the kinds in `which`; others may be anything. */
static void fold_elements(const double *x, const struct fold *f, const int64_t *over, unsigned which, double out[KINDS])
{
	const double n = (double)f->over;
	double sum = 0, squares = 0, max = -INFINITY, min = INFINITY, about = 0, e = 0;
	for (int64_t i = 0; i < f->over; i++) {
		const double v = x[over[i]];
		sum += v;
		squares += v * v;
		max = v > max ? v : max;
		min = v < min ? v : min;
	}
	for (int64_t i = 0; i < f->over && which & SECOND; i++) {
		const double d = x[over[i]] - sum / n;
		about += d * d;
	}
	for (int64_t i = 0; i < f->over && which & BIT(EXP); i++)
		e += exp(x[over[i]] - max);
	const double all[KINDS] = {sum, sum / n, squares, about, about / n, about / (n - 1), max, min, sqrt(squares), e};
	memcpy(out, all, sizeof(all));
}

/* The rounding error of a long sum is larger than that of its terms. */
static bool near(double b, double x, double eps, double size) { return isfinite(x) ? fabs(b - x) <= 200 * eps * (fabs(x) + size) : b == x; }

/* Which kinds b can be, by the signatures: most nodes need no closer look. size: no element of that kind is greater. */
static unsigned by_signature(const struct numbers *b, const struct numbers *x, const struct fold *f, double eps, const double size[KINDS])
{
	const double n = (double)f->over, kept = (double)b->n, range = x->hi - x->lo;
	const double most[KINDS] = {
	    [ABOUT] = n * range * range / 4, [VARIANCE] = range * range / 4, [UNBIASED] = range * range / 4 * n / (n - 1)};
	unsigned can = 0;
	if (b->nan || b->inf || x->nan || x->inf)
		return BIT(KINDS) - 1;
	for (int i = 0; i < KINDS; i++) {
		const double one = 202 * eps * size[i], all = one * kept; /* the room of an element, and of their sum */
		const bool is = i == SUM       ? fabs(b->sum - x->sum) <= all
				: i == MEAN    ? fabs(b->sum - x->sum / n) <= all
				: i == SQUARES ? fabs(b->sum - x->squares) <= all
				: i == NORM    ? fabs(b->squares - x->squares) <= all * (2 * size[i] + one)
				: i == MAX     ? fabs(b->hi - x->hi) <= one
				: i == MIN     ? fabs(b->lo - x->lo) <= one
				: i == EXP     ? b->lo >= 1 - 202 * eps * (n + 1) && b->hi <= n + 202 * eps * (n + 1)
					       : b->lo >= -one && b->hi <= most[i] + one;
		can |= is ? BIT(i) : 0;
	}
	return can;
}

/* The first element of each kind, of a node over the dims of a mask: it is asked for once for every tensor, and nearly always enough. */
struct first {
	unsigned have;
	double of[KINDS];
};

/* Keeps the kinds whose first element is b's. What takes longer only if it is still possible. */
static unsigned by_first(const struct numbers *b, const struct numbers *x, const struct fold *f, double eps, const double size[KINDS],
			 unsigned left, struct first *first)
{
	for (int pass = 0; pass < 2 && left; pass++) {
		const unsigned those = left & (pass ? ~FIRST : FIRST), missing = those & ~first->have;
		double all[KINDS];
		if (missing) {
			FREED int64_t *over = xmalloc((size_t)f->over * sizeof(*over));
			fold_places(f, true, over);
			fold_elements(x->v, f, over, missing, all);
		}
		for (int i = 0; i < KINDS; i++)
			if (missing & BIT(i))
				first->of[i] = all[i];
		first->have |= missing;
		for (int i = 0; i < KINDS; i++)
			if (those & BIT(i) && !near(b->v[0], first->of[i], eps, size[i] * 0.01))
				left &= ~BIT(i);
	}
	return left;
}

/* Is b one of these reductions of a node, over the dims in f? Keeps the kinds still possible after each element. */
static bool is_fold(struct verify *v, const struct numbers *b, uint32_t node, const struct fold *f, struct first *first)
{
	const struct numbers *x = reference_signature(v->ref, node);
	const double eps = fmax(numbers_eps(b->dtype), numbers_eps(x->dtype)), n = (double)f->over;
	const double size[KINDS] = {
	    n * x->max,       x->max, n * x->max * x->max, n * x->max * x->max, x->max * x->max, x->max * x->max, x->max, x->max,
	    sqrt(n) * x->max, 1};
	unsigned left = by_signature(b, x, f, eps, size);
	if (!left || !(x = reference_numbers(v->ref, node)) || !(left = by_first(b, x, f, eps, size, left, first)))
		return false;
	int64_t *over = xmalloc((size_t)(f->over + f->kept) * sizeof(*over)), *kept = over + f->over;
	fold_places(f, true, over);
	fold_places(f, false, kept);
	for (int64_t k = 1; k < f->kept && left; k++)
		for (int pass = 0; pass < 2; pass++) {
			const unsigned those = left & (pass ? ~FIRST : FIRST);
			double all[KINDS];
			if (those)
				fold_elements(x->v + kept[k], f, over, those, all);
			for (int i = 0; i < KINDS && those; i++)
				if (those & BIT(i) && !near(b->v[k], all[i], eps, size[i] * 0.01))
					left &= ~BIT(i);
		}
	free(over);
	return left != 0;
}

/* first: NULL or by mask; made here. */
static bool folds(struct verify *v, const struct numbers *b, uint32_t node, struct first **first)
{
	const struct numbers *x = reference_signature(v->ref, node);
	struct fold f;
	if (!x || !numbers_dims(x, &f.d))
		return false;
	for (unsigned mask = 1; mask < 1u << f.d.n_dim; mask++) {
		choose_fold(&f, mask);
		if (f.kept != b->n || f.over < 2)
			continue;
		if (!*first)
			*first = xcalloc((size_t)1 << f.d.n_dim, sizeof(**first));
		if (is_fold(v, b, node, &f, &(*first)[mask]))
			return true;
	}
	return false;
}

/* Nodes related to the call: those that depend on something it reads. */
static bool concerns(const struct verify *v, uint32_t call, uint32_t node)
{
	const struct observed_call *c = &v->o->call[call];
	bool any = false;
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++)
		for (uint32_t i = 0; i < v->read[r].n; i++) {
			const uint32_t from = v->read[r].m[i].node;
			any = true;
			if (node == from || reference_below(v->ref, node, from))
				return true;
		}
	return !any;
}

void verify_derive(struct verify *v)
{
	struct first **first = xcalloc(v->n_by_numel + 1, sizeof(*first));
	for (uint32_t w = v->o->n_inputs; w < v->o->n_writes; w++) {
		struct verify_tensor *t = &v->write[w];
		const struct numbers *b = &v->o->write[w].x;
		t->derived = NONE;
		if (t->empty || t->n || b->class != NUMBERS_FLOAT)
			continue;
		for (uint32_t i = 0; i < v->n_by_numel && t->derived == NONE; i++) {
			const uint32_t node = v->by_numel[i];
			const int64_t n = aten_numel(v->ref->v[node].tensor);
			if (n <= b->n || n % b->n || !aten_is_float(v->ref->v[node].tensor->dtype) ||
			    !concerns(v, v->o->write[w].call, node))
				continue;
			if (folds(v, b, node, &first[i]))
				t->derived = node;
		}
	}
	for (uint32_t i = 0; i < v->n_by_numel; i++)
		free(first[i]);
	free(first);
}
