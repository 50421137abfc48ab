/* compare_lookups.c - why caches were missed: components of keys that differ, with both values. */
#include "compare/compare_part.h"
#include "run/lookups.h"

struct lookups {
	struct lookup *v;
	uint32_t n, cap;
};

/* Lookups by unit, in order; those without an attempt belong to no unit. */
static struct lookups *by_unit(const struct compare_log *l)
{
	struct lookups *of = xcalloc(l->n_unit + 1u, sizeof(*of));
	for (uint32_t i = 0; i < l->t.f->n_cache; i++) {
		const struct fact_cache *x = &l->t.f->cache[i];
		if (x->src.attempt >= l->t.f->n_attempt)
			continue;
		struct lookups *u = &of[l->unit_of[x->src.attempt]];
		PUSH_TO(u->v, u->n, u->cap) = lookup_of(&l->t.f->names, x);
	}
	return of;
}

static void free_lookups(struct lookups *of, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(of[i].v);
	free(of);
}

struct telling {
	struct compare *c;
	uint32_t pair;
	struct intern seen; /* subject, before, after -> row of change */
	uint32_t *row;
	uint32_t n, cap;
};

/* "fx_graph inductor_config[max_autotune]": once for all compilations with this difference. */
static void tell_change(void *ctx, enum fact_cache_kind kind, const struct key_change *k)
{
	struct telling *t = ctx;
	struct buf b = {0};
	buf_addf(&b, "%s %.*s", cache_kind_name[kind], SL(k->name));
	size_t subject = b.len;
	buf_addf(&b, "\n%.*s\n%.*s", SL(k->before), SL(k->after));
	uint32_t before = t->seen.n, i = intern_add(&t->seen, buf_slice(&b));
	if (i < before) {
		if (t->row[i] < t->c->n_change)
			t->c->change[t->row[i]].count++;
		buf_release(&b);
		return;
	}
	struct compare_change *x =
	    compare_row(t->c, COMPARE_KEY, compare_values_how(k->before, k->after), t->pair, slice_of(b.p, subject), k->before, k->after);
	PUSH_TO(t->row, t->n, t->cap) = x == &t->c->beyond ? NONE : (uint32_t)(x - t->c->change);
	buf_release(&b);
}

void compare_keys_of_caches(struct compare *c)
{
	struct lookups *of[2] = {by_unit(c->a), by_unit(c->b)};
	struct telling t = {.c = c};
	for (uint32_t i = 0; i < c->n_pair; i++) {
		if (!compare_is_matched(c, i))
			continue;
		const struct lookups *a = &of[0][c->pair[i].a], *b = &of[1][c->pair[i].b];
		t.pair = i;
		lookups_compare(a->v, a->n, b->v, b->n, &c->arena, tell_change, &t);
	}
	free(t.row);
	intern_release(&t.seen);
	free_lookups(of[0], c->a->n_unit);
	free_lookups(of[1], c->b->n_unit);
}
