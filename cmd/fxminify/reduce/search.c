/* search.c - minimising a failing subset (search.h). */
#include "reduce/search.h"

static uint64_t *new_set(const struct search *s) { return xcalloc(bits_words(s->n), sizeof(uint64_t)); }

static void copy_set(const struct search *s, uint64_t *to, const uint64_t *from) { memcpy(to, from, bits_words(s->n) * sizeof(uint64_t)); }

void search_start(struct search *s)
{
	s->keep = new_set(s);
	for (size_t i = 0; i < s->n; i++)
		bit_add(s->keep, i);
	s->left = s->n;
}

void search_release(struct search *s)
{
	free(s->keep);
	s->keep = NULL;
}

static void adopt(struct search *s, const uint64_t *set)
{
	copy_set(s, s->keep, set);
	s->left = bits_count(set, s->n);
}

/* ---- questions ---- */

/* The sets actually asked about: closed, and empty if more than `most` elements remain. */
struct question {
	const struct search *s;
	search_set_fn *set;
	void *ctx;
	size_t most;
};

static void closed_set(void *ctx, size_t i, uint64_t *set)
{
	const struct question *q = ctx;
	q->set(q->ctx, i, set);
	if (q->s->close)
		q->s->close(q->s->user, set);
	if (bits_count(set, q->s->n) > q->most)
		memset(set, 0, bits_words(q->s->n) * sizeof(*set));
}

static int ask_closed_sets(struct question *q, size_t n, size_t *winner) { return q->s->ask(q->s->user, n, closed_set, q, winner); }

/* The requested set may have been smaller than the tested one. */
static void adopt_winner(struct search *s, struct question *q, size_t winner)
{
	FREED uint64_t *set = new_set(s);
	closed_set(q, winner, set);
	adopt(s, set);
}

/* n sets that drop something; stops at the first winner. */
static int ask_and_adopt(struct search *s, struct question *q, size_t n, size_t *winner)
{
	*winner = SEARCH_NONE;
	int status = ask_closed_sets(q, n, winner);
	if (status == 0 && *winner != SEARCH_NONE)
		adopt_winner(s, q, *winner);
	return status;
}

static void show_phase(const struct search *s, const char *name, size_t granularity)
{
	if (s->phase)
		s->phase(s->user, name, granularity, s->left);
}

/* The remaining elements, in order. The caller frees. */
static uint32_t *elements(const struct search *s)
{
	uint32_t *e = xreallocarray(NULL, s->left ? s->left : 1, sizeof(*e));
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		if (bit_in(s->keep, i))
			e[n++] = (uint32_t)i;
	return e;
}

/* ---- suspects ---- */

int search_suspects(struct search *s, search_set_fn *set, void *ctx, size_t n)
{
	struct question q = {s, set, ctx, s->left - 1};
	size_t winner;
	if (!n)
		return 0;
	show_phase(s, "Suspects", n);
	return ask_and_adopt(s, &q, n, &winner);
}

/* ---- halving ---- */

struct halves {
	const uint32_t *e;
	size_t n, cut;
};

/* The later half first: a failure comes after what feeds it, as torch's "truncate" found, too. */
static void half(void *ctx, size_t i, uint64_t *set)
{
	const struct halves *h = ctx;
	for (size_t k = i ? 0 : h->cut; k < (i ? h->cut : h->n); k++)
		bit_add(set, h->e[k]);
}

/* Continues while one half alone fails. A half that pulls in most of the other half does not count. */
int search_halve(struct search *s)
{
	while (s->left > 1 && (!s->max_block || s->left / 2 <= s->max_block)) {
		FREED uint32_t *e = elements(s);
		struct halves h = {e, s->left, s->left / 2};
		struct question q = {s, half, &h, s->left * 3 / 4};
		size_t winner;
		show_phase(s, "Truncate suffix", s->left - h.cut);
		int status = ask_and_adopt(s, &q, 2, &winner);
		if (status < 0)
			return -1;
		if (winner == SEARCH_NONE)
			return 0;
	}
	return 0;
}

/* ---- ProbDD ---- */

/* Each element has a probability p of being needed. Ask without those that together promise the largest gain; if that passes, one of them
 * is needed, and their probabilities rise. */
struct probdd {
	const struct search *s;
	double *p;       /* of each of the n elements */
	uint32_t *order; /* the remaining ones, least probable first */
	size_t n_order;
};

static int by_p(const void *a, const void *b, void *user)
{
	const double *p = user;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double d = p[x] - p[y];
	return d < 0 ? -1 : d > 0 ? 1 : x < y ? -1 : x > y;
}

/* How many of order[0 ..] to drop: the k with the largest k * product(1 - p). */
static size_t best_gain(const struct probdd *d, const double *p)
{
	double product = 1, best = 0;
	size_t k_best = 0;
	for (size_t k = 0; k < d->n_order && (!d->s->max_block || k < d->s->max_block); k++) {
		product *= 1 - p[d->order[k]];
		if ((double)(k + 1) * product > best) {
			best = (double)(k + 1) * product;
			k_best = k + 1;
		}
		if (product <= 0)
			break;
	}
	return k_best;
}

static void sort_order(struct probdd *d, double *p)
{
	d->n_order = 0;
	for (size_t i = 0; i < d->s->n; i++)
		if (bit_in(d->s->keep, i))
			d->order[d->n_order++] = (uint32_t)i;
	qsort_r(d->order, d->n_order, sizeof(*d->order), by_p, p);
}

static void raise_p(const struct probdd *d, double *p, size_t k)
{
	double product = 1;
	for (size_t i = 0; i < k; i++)
		product *= 1 - p[d->order[i]];
	for (size_t i = 0; i < k; i++) {
		double *q = &p[d->order[i]];
		*q = k == 1 ? 1 : *q / (1 - product);
		*q = *q > 1 - 1e-9 ? 1 : *q;
	}
}

/* Sets that would be asked one after another if each passed: asked together if there is room. */
struct lookahead {
	const struct search *s;
	uint64_t **set;
	size_t n;
};

static void ahead_set(void *ctx, size_t i, uint64_t *set)
{
	const struct lookahead *a = ctx;
	copy_set(a->s, set, a->set[i]);
}

static void ahead_release(struct lookahead *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->set[i]);
	free(a->set);
}

/* Up to `jobs` questions; p is a copy, in which each is assumed to pass. */
static void plan(struct probdd *d, double *p, struct lookahead *a)
{
	while (a->n < d->s->jobs || !a->n) {
		sort_order(d, p);
		size_t k = best_gain(d, p);
		if (!k)
			return;
		uint64_t *set = new_set(d->s);
		copy_set(d->s, set, d->s->keep);
		for (size_t i = 0; i < k; i++)
			bit_del(set, d->order[i]);
		a->set[a->n++] = set;
		raise_p(d, p, k);
	}
}

static int probdd_step(struct search *s, struct probdd *d, bool *over)
{
	OWNED(ahead_release) struct lookahead a = {.s = s, .set = xcalloc(s->jobs ? s->jobs : 1, sizeof(*a.set))};
	double *p = xreallocarray(NULL, s->n, sizeof(*p));
	memcpy(p, d->p, s->n * sizeof(*p));
	plan(d, p, &a);
	free(p);
	struct question q = {s, ahead_set, &a, s->left - 1};
	size_t winner = SEARCH_NONE;
	int status = a.n ? ask_closed_sets(&q, a.n, &winner) : 0;
	*over = !a.n;
	if (status == 0) {
		size_t passed = winner == SEARCH_NONE ? a.n : winner;
		for (size_t i = 0; i < passed; i++) {
			sort_order(d, d->p);
			raise_p(d, d->p, best_gain(d, d->p));
		}
		if (winner != SEARCH_NONE)
			adopt_winner(s, &q, winner);
	}
	return status;
}

int search_probdd(struct search *s, size_t until)
{
	if (s->left <= until || s->left < 2)
		return 0;
	struct probdd d = {.s = s, .p = xreallocarray(NULL, s->n, sizeof(double)), .order = xreallocarray(NULL, s->n, sizeof(uint32_t))};
	double p0 = 4.0 / (double)s->left;
	for (size_t i = 0; i < s->n; i++)
		d.p[i] = p0 < 0.5 ? p0 : 0.5;
	bool over = false;
	int status = 0;
	while (status == 0 && !over && s->left > until && s->left > 1) {
		show_phase(s, "Delta debugging", s->left);
		status = probdd_step(s, &d, &over);
	}
	free(d.p);
	free(d.order);
	return status;
}

/* ---- QuickXplain ---- */

struct qx {
	struct search *s;
	const uint32_t *e;
	uint64_t *ground; /* the elements assumed to be present */
};

/* Does the set's closure contain everything left? That is known to fail. */
static bool is_all(const struct search *s, const uint64_t *set)
{
	FREED uint64_t *closed = new_set(s);
	copy_set(s, closed, set);
	if (s->close)
		s->close(s->user, closed);
	return bits_count(closed, s->n) >= s->left;
}

/* The questions on the path where every answer is "passes": ground, ground + C1, ground + C1 + C21, ... */
static int qx_ask(struct qx *q, size_t at, size_t n, bool *fails)
{
	if ((*fails = is_all(q->s, q->ground)))
		return 0;
	struct search *s = q->s;
	OWNED(ahead_release) struct lookahead a = {.s = s, .set = xcalloc(s->jobs ? s->jobs : 1, sizeof(*a.set))};
	FREED uint64_t *set = new_set(s);
	copy_set(s, set, q->ground);
	for (;;) {
		a.set[a.n] = new_set(s);
		copy_set(s, a.set[a.n++], set);
		if (a.n >= s->jobs || n < 2)
			break;
		size_t half_n = n / 2;
		for (size_t i = 0; i < half_n; i++)
			bit_add(set, q->e[at + i]);
		at += half_n;
		n -= half_n;
	}
	struct question question = {s, ahead_set, &a, s->left - 1};
	size_t winner;
	int status = ask_closed_sets(&question, a.n, &winner);
	*fails = status == 0 && winner == 0;
	return status;
}

/* Which of e[at .. at + n) are needed in addition to the ground: they are added to it. changed: the ground was enlarged since the last
 * question. Depth is log2 of n. */
static int qx(struct qx *q, bool changed, size_t at, size_t n)
{
	bool fails = false;
	if (changed && qx_ask(q, at, n, &fails) < 0)
		return -1;
	if (fails || !n)
		return 0;
	if (n == 1) {
		bit_add(q->ground, q->e[at]);
		return 0;
	}
	size_t first = n / 2;
	FREED uint64_t *saved = new_set(q->s);
	copy_set(q->s, saved, q->ground);
	for (size_t i = 0; i < first; i++)
		bit_add(q->ground, q->e[at + i]);
	if (qx(q, true, at + first, n - first) < 0)
		return -1;
	/* Keep the result of the second half; the first half was only assumed. */
	bool found = false;
	for (size_t i = first; i < n; i++)
		if (bit_in(q->ground, q->e[at + i])) {
			bit_add(saved, q->e[at + i]);
			found = true;
		}
	copy_set(q->s, q->ground, saved);
	return qx(q, found, at, first);
}

static void the_set(void *ctx, size_t i, uint64_t *set)
{
	(void)i;
	const struct lookahead *a = ctx;
	copy_set(a->s, set, a->set[0]);
}

int search_quickxplain(struct search *s)
{
	if (s->left < 2)
		return 0;
	show_phase(s, "Delta debugging", s->left);
	uint32_t *e = elements(s);
	struct qx q = {.s = s, .e = e, .ground = new_set(s)};
	int status = qx(&q, false, 0, s->left);
	if (status == 0 && !is_all(s, q.ground)) {
		/* This follows from the answers only if they are monotone: ask. */
		struct lookahead a = {.s = s, .set = &q.ground, .n = 1};
		struct question question = {s, the_set, &a, s->left - 1};
		size_t winner;
		status = ask_and_adopt(s, &question, 1, &winner);
	}
	free(q.ground);
	free(e);
	return status;
}

/* ---- 1-minimality ---- */

struct without {
	const struct search *s;
	const uint32_t *e;
	size_t n, start;
};

static void without_one(void *ctx, size_t i, uint64_t *set)
{
	const struct without *w = ctx;
	copy_set(w->s, set, w->s->keep);
	bit_del(set, w->e[(w->start + i) % w->n]);
}

int search_one_minimal(struct search *s)
{
	size_t start = 0;
	while (s->left > 1) {
		FREED uint32_t *e = elements(s);
		/* After a success, continue after it: what was needed before most likely still is. */
		struct without w = {s, e, s->left, start % s->left};
		struct question q = {s, without_one, &w, s->left - 1};
		size_t winner;
		show_phase(s, "Eliminate one", s->left);
		int status = ask_and_adopt(s, &q, s->left, &winner);
		if (status == 0 && winner != SEARCH_NONE)
			start = (w.start + winner) % w.n;
		if (status < 0)
			return -1;
		if (winner == SEARCH_NONE)
			return 0;
	}
	return 0;
}

size_t search_until(const struct search *s) { return s->max_block && s->max_block < s->qx_limit ? s->max_block : s->qx_limit; }
