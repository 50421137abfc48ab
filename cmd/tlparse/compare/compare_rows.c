/* compare_rows.c - what the steps share: rows of findings, and bags of things to match. */
#include "compare/compare_part.h"

enum { VALUE_MAX = 500 };

struct compare_change *compare_add(struct compare *c, enum compare_kind kind, enum compare_how how, uint32_t pair, struct slice subject)
{
	if (pair != NONE)
		c->pair[pair].changes++;
	if (c->rows[kind] >= COMPARE_ROWS) {
		c->more[kind]++;
		return &c->beyond;
	}
	c->rows[kind]++;
	struct compare_change *x = &PUSH(c, change);
	*x = (struct compare_change){.kind = kind, .how = how, .pair = pair, .count = 1, .subject = subject};
	if (pair != NONE)
		x->at = c->pair[pair].at;
	return x;
}

static struct slice copy_text(struct compare *c, struct slice s) { return s.n ? arena_slice(&c->arena, s) : s; }

struct compare_change *compare_row(struct compare *c, enum compare_kind kind, enum compare_how how, uint32_t pair, struct slice subject,
				   struct slice before, struct slice after)
{
	struct compare_change *x = compare_add(c, kind, how, pair, subject);
	if (x == &c->beyond)
		return x;
	x->subject = copy_text(c, subject);
	x->before = copy_text(c, compare_cut(before));
	x->after = copy_text(c, compare_cut(after));
	return x;
}

struct srcloc compare_loc_text(const struct compare_log *l, const struct fact_loc *loc)
{
	return (struct srcloc){.file = compare_name(l, loc->file),
			       .func = compare_name(l, loc->function),
			       .code = compare_name(l, loc->code),
			       .line = loc->line};
}

void bag_add(struct bag *b, uint64_t key, uint64_t alt, uint32_t row)
{
	PUSH_TO(b->v, b->n, b->cap) = (struct thing){key, alt, row, false};
}

static int by_key(const void *a, const void *b)
{
	const struct thing *x = a, *y = b;
	return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->row < y->row ? -1 : x->row > y->row;
}

static int by_alt(const void *a, const void *b)
{
	const struct thing *x = a, *y = b;
	return x->alt != y->alt ? (x->alt < y->alt ? -1 : 1) : x->row < y->row ? -1 : x->row > y->row;
}

static int by_row(const void *a, const void *b)
{
	const struct thing *x = a, *y = b;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void bag_sort_by(struct bag *b, int (*order)(const void *, const void *))
{
	if (b->n)
		qsort(b->v, b->n, sizeof(*b->v), order);
}

void bag_sort(struct bag *b) { bag_sort_by(b, by_key); }

static void drop_done(struct bag *b)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < b->n; i++)
		if (!b->v[i].done)
			b->v[n++] = b->v[i];
	b->n = n;
}

void bag_match(struct compare *c, struct bag both[2], bag_row *row, void *ctx)
{
	struct bag *a = &both[0], *b = &both[1];
	for (unsigned round = 0; round < 2; round++) {
		int (*order)(const void *, const void *) = round ? by_alt : by_key;
		bag_sort_by(a, order);
		bag_sort_by(b, order);
		for (uint32_t i = 0, j = 0; i < a->n && j < b->n;) {
			uint64_t x = round ? a->v[i].alt : a->v[i].key, y = round ? b->v[j].alt : b->v[j].key;
			if (x != y || (round && !x)) {
				*(x < y ? &i : &j) += 1;
				if (x == y)
					i++;
				continue;
			}
			a->v[i].done = b->v[j].done = true;
			if (round && row)
				row(c, ctx, a->v[i].row, b->v[j].row);
			i++;
			j++;
		}
		drop_done(a);
		drop_done(b);
	}
	bag_sort_by(a, by_row);
	bag_sort_by(b, by_row);
}

void bag_end(struct compare *c, struct bag b[2], bag_row *row, void *ctx)
{
	for (unsigned s = 0; s < 2; s++) {
		for (uint32_t i = 0; row && i < b[s].n; i++)
			row(c, ctx, s ? NONE : b[s].v[i].row, s ? b[s].v[i].row : NONE);
		free(b[s].v);
	}
}

struct slice compare_cut(struct slice s)
{
	if (s.n > VALUE_MAX)
		for (s.n = VALUE_MAX; s.n > 1 && ((unsigned char)s.p[s.n] & 0xc0) == 0x80; s.n--)
			;
	return s;
}

const struct linediff *compare_align(struct compare *c, uint64_t *key[2], uint32_t na, uint32_t nb)
{
	linediff_keys(&c->normal.diff, key[0], na, key[1], nb);
	free(key[0]);
	free(key[1]);
	return &c->normal.diff;
}
