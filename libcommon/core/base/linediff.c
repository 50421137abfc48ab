#include "base/linediff.h"
#include "base/hash.h"

static void split(struct linediff *d, unsigned side, struct slice text)
{
	struct slice line;
	d->lines[side] = 0;
	while (slice_line(&text, &line)) {
		PUSH_TO(d->line[side], d->lines[side], d->cap_line[side]) = line;
	}
}

static void put_row(struct linediff *d, uint32_t a, uint32_t b, bool same)
{
	PUSH_TO(d->row, d->n, d->cap) = (struct linediff_row){a, b, same};
	if (!same)
		*(a == NONE ? &d->added : b == NONE ? &d->removed : &d->changed) += 1;
}

/* Lines [a0, a1) were replaced by [b0, b1): paired as far as possible. */
static void put_gap(struct linediff *d, uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1)
{
	while (a0 < a1 || b0 < b1) {
		put_row(d, a0 < a1 ? a0 : NONE, b0 < b1 ? b0 : NONE, false);
		a0 += a0 < a1;
		b0 += b0 < b1;
	}
}

/* The remaining ranges to compare: x[a0, a1) with y[b0, b1). */
struct box {
	int64_t a0, a1, b0, b1;
};

/* x and y: numbers of the keys that both sequences have, in order; at[s][i]: their original positions. */
struct walk {
	const uint32_t *x, *y;
	int64_t *down, *up; /* how far each diagonal (x - y) reaches from the start, from the end */
	int64_t steps;
	bool coarse;
};

/* A point that a shortest script for the box passes through, so that both halves are smaller. Walks from both ends at once;
 * where the two meet is the middle. False if no steps are left. */
static bool middle(struct walk *w, const struct box *o, int64_t *at_x, int64_t *at_y)
{
	const int64_t low = o->a0 - o->b1, high = o->a1 - o->b0; /* diagonals of the box */
	const int64_t start = o->a0 - o->b0, end = o->a1 - o->b1;
	const bool odd = (start - end) & 1;
	int64_t *down = w->down, *up = w->up;
	int64_t dmin = start, dmax = start, umin = end, umax = end;
	down[start] = o->a0;
	up[end] = o->a1;
	for (;;) {
		/* A diagonal beyond the box's corner is not walked; its value never wins at its neighbour. */
		if (dmin > low)
			down[--dmin - 1] = -1;
		else
			dmin++;
		if (dmax < high)
			down[++dmax + 1] = -1;
		else
			dmax--;
		for (int64_t k = dmax; k >= dmin; k -= 2) {
			int64_t x = down[k - 1] < down[k + 1] ? down[k + 1] : down[k - 1] + 1, from = x;
			while (x < o->a1 && x - k < o->b1 && w->x[x] == w->y[x - k])
				x++;
			down[k] = x;
			w->steps -= x - from + 1;
			if (odd && umin <= k && k <= umax && up[k] <= x) {
				*at_x = x;
				*at_y = x - k;
				return true;
			}
		}
		if (umin > low)
			up[--umin - 1] = INT64_MAX;
		else
			umin++;
		if (umax < high)
			up[++umax + 1] = INT64_MAX;
		else
			umax--;
		for (int64_t k = umax; k >= umin; k -= 2) {
			int64_t x = up[k - 1] < up[k + 1] ? up[k - 1] : up[k + 1] - 1, from = x;
			while (x > o->a0 && x - k > o->b0 && w->x[x - 1] == w->y[x - k - 1])
				x--;
			up[k] = x;
			w->steps -= from - x + 1;
			if (!odd && dmin <= k && k <= dmax && x <= down[k]) {
				*at_x = x;
				*at_y = x - k;
				return true;
			}
		}
		if (w->steps < 0)
			return false;
	}
}

/* Marks common elements in keep_x and keep_y. The boxes wait on a list of their own, not on the stack. */
static void compare(struct walk *w, int64_t n, int64_t m, uint8_t *keep_x, uint8_t *keep_y)
{
	struct box *todo = NULL;
	size_t left = 0, cap = 0;
	PUSH_TO(todo, left, cap) = (struct box){0, n, 0, m};
	while (left) {
		struct box o = todo[--left];
		while (o.a0 < o.a1 && o.b0 < o.b1 && w->x[o.a0] == w->y[o.b0])
			keep_x[o.a0++] = keep_y[o.b0++] = 1;
		while (o.a0 < o.a1 && o.b0 < o.b1 && w->x[o.a1 - 1] == w->y[o.b1 - 1])
			keep_x[--o.a1] = keep_y[--o.b1] = 1;
		if (o.a0 == o.a1 || o.b0 == o.b1)
			continue;
		int64_t x, y;
		if (w->steps < 0 || !middle(w, &o, &x, &y)) {
			w->coarse = true;
			continue;
		}
		GROW(todo, left, cap, 2);
		todo[left++] = (struct box){x, o.a1, y, o.b1};
		todo[left++] = (struct box){o.a0, x, o.b0, y};
	}
	free(todo);
}

void linediff_keys(struct linediff *d, const uint64_t *a, uint32_t na, const uint64_t *b, uint32_t nb)
{
	const uint64_t *key[2] = {a, b};
	uint32_t n[2] = {na, nb}, kept[2] = {0, 0}, head = 0, tail = 0;
	d->n = d->removed = d->added = d->changed = 0;
	d->coarse = false;
	while (head < na && head < nb && a[head] == b[head])
		head++;
	while (tail < na - head && tail < nb - head && a[na - 1 - tail] == b[nb - 1 - tail])
		tail++;
	/* A line on only one side cannot be in a common sequence: leaving it out only saves work. */
	uint32_t *id[2], *at[2];
	uint8_t *keep[2];
	OWNED(intern_release) struct intern keys = {0};
	for (unsigned s = 0; s < 2; s++) {
		n[s] -= head + tail;
		id[s] = xcalloc(n[s] + 1u, sizeof(uint32_t));
		at[s] = xcalloc(n[s] + 1u, sizeof(uint32_t));
		keep[s] = xcalloc(n[s] + 1u, 1);
		for (uint32_t i = 0; n[!s] && i < n[s]; i++)
			id[s][i] = intern_add(&keys, slice_of((const char *)&key[s][head + i], sizeof(uint64_t)));
	}
	FREED uint8_t *side = xcalloc(keys.n + 1u, 1);
	for (unsigned s = 0; s < 2; s++)
		for (uint32_t i = 0; n[!s] && i < n[s]; i++)
			side[id[s][i]] |= (uint8_t)(1 + s);
	for (unsigned s = 0; s < 2; s++)
		for (uint32_t i = 0; n[!s] && i < n[s]; i++)
			if (side[id[s][i]] == 3) {
				at[s][kept[s]] = i;
				id[s][kept[s]++] = id[s][i];
			}
	struct walk w = {.x = id[0], .y = id[1], .steps = LINEDIFF_STEPS};
	if (kept[0] && kept[1]) {
		size_t diagonals = (size_t)kept[0] + kept[1] + 3;
		FREED int64_t *v = xcalloc(diagonals, 2 * sizeof(*v));
		w.down = v + kept[1] + 1;
		w.up = w.down + diagonals;
		compare(&w, kept[0], kept[1], keep[0], keep[1]);
	}
	d->coarse = w.coarse;

	for (uint32_t i = 0; i < head; i++)
		put_row(d, i, i, true);
	uint32_t i = 0, j = 0, a0 = head, b0 = head;
	while (i < kept[0] && j < kept[1]) {
		i += !keep[0][i];
		j += j < kept[1] && !keep[1][j];
		if (i < kept[0] && j < kept[1] && keep[0][i] && keep[1][j]) {
			put_gap(d, a0, head + at[0][i], b0, head + at[1][j]);
			a0 = head + at[0][i++];
			b0 = head + at[1][j++];
			put_row(d, a0++, b0++, true);
		}
	}
	put_gap(d, a0, na - tail, b0, nb - tail);
	for (i = tail; i-- > 0;)
		put_row(d, na - 1 - i, nb - 1 - i, true);
	for (unsigned s = 0; s < 2; s++) {
		free(id[s]);
		free(at[s]);
		free(keep[s]);
	}
}

void linediff_run(struct linediff *d, struct slice a, struct slice b, linediff_key *key, void *ctx)
{
	struct slice text[2] = {a, b};
	OWNED(intern_release) struct intern whole = {0};
	uint64_t *k[2];
	for (unsigned s = 0; s < 2; s++) {
		split(d, s, text[s]);
		k[s] = xcalloc(d->lines[s] + 1u, sizeof(uint64_t));
		for (uint32_t i = 0; i < d->lines[s]; i++)
			k[s][i] = key ? key(ctx, d->line[s][i]) : intern_add(&whole, d->line[s][i]);
	}
	linediff_keys(d, k[0], d->lines[0], k[1], d->lines[1]);
	free(k[0]);
	free(k[1]);
}

void linediff_release(struct linediff *d)
{
	free(d->line[0]);
	free(d->line[1]);
	free(d->row);
	*d = (struct linediff){0};
}
