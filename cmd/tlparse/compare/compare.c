/* compare.c - compares two traces of one program: runs all steps in order, and records findings. See compare_part.h. */
#include "compare/compare_part.h"

const char *const compare_kind_name[COMPARE_KIND_COUNT] = {
#define X(id, name, title) name,
    COMPARE_KINDS(X)
#undef X
};
const char *const compare_kind_title[COMPARE_KIND_COUNT] = {
#define X(id, name, title) title,
    COMPARE_KINDS(X)
#undef X
};
const char *const compare_how_name[5] = {"new", "gone", "changed", "slower", "faster"};

/* ---- findings ---- */

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

/* ---- two bags of things, two lists ---- */

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

enum { VALUE_MAX = 500 };
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

/* ---- the whole comparison ---- */

void compare_run(struct compare *c, struct compare_log *a, struct compare_log *b)
{
	*c = (struct compare){.a = a ? a : &c->none, .b = b ? b : &c->none, .none = {.fd = -1, .t.f = &c->no_facts}};
	compare_match_frames(c);
	compare_match_units(c);
	bool rows = c->a->document || c->b->document; /* what only a log has is not compared */
	compare_versions(c);
	if (!rows)
		compare_configs(c);
	compare_failures(c);
	compare_breaks(c);
	compare_compiles(c, true);
	compare_compiles(c, false);
	compare_times(c);
	if (!rows) {
		compare_caches(c);
		compare_keys_of_caches(c);
		compare_guards(c);
	}
	compare_symbols(c);
	compare_skips(c);
	if (!rows) {
		compare_metrics(c);
		compare_artifacts(c);
		compare_texts(c);
	}
}

void compare_release(struct compare *c)
{
	arena_release(&c->arena);
	free(c->pair);
	free(c->change);
	free(c->text);
	normal_release(&c->normal);
	*c = (struct compare){0};
}
