/* compare_lookups.c - why caches were missed: components of keys that differ, with both values. */
#include "compare/compare_part.h"
#include "compilation/lookups.h"

/* Lookups by unit, in order: rows of cache[]; what is of no attempt is of none. */
static struct lookups *by_unit(const struct compare_log *l)
{
	struct lookups *of = xcalloc(l->n_unit + 1u, sizeof(*of));
	for (uint32_t i = 0; i < l->t.f->n_cache; i++) {
		const struct fact_cache *x = &l->t.f->cache[i];
		if (x->src.attempt < l->t.f->n_attempt)
			lookups_add(&of[l->unit_of[x->src.attempt]], i);
	}
	return of;
}

static void free_lookups(struct lookups *of, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(of[i].row);
	free(of);
}

struct telling {
	struct compare *c;
	struct intern seen; /* subject, before, after -> row of change */
	uint32_t *row;
	uint32_t n, cap;
};

/* "fx_graph inductor_config[max_autotune]": once for all compilations in which it is so. */
static void tell(struct telling *t, uint32_t pair, enum fact_cache_kind kind, const struct key_change *k)
{
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
	struct compare_change *x = compare_add(t->c, COMPARE_KEY,
					       !k->before.n  ? HOW_NEW
					       : !k->after.n ? HOW_GONE
							     : HOW_CHANGED,
					       pair, arena_slice(&t->c->arena, slice_of(b.p, subject)));
	x->before = arena_slice(&t->c->arena, compare_cut(k->before));
	x->after = arena_slice(&t->c->arena, compare_cut(k->after));
	GROW(t->row, t->n, t->cap, 1);
	t->row[t->n++] = x == &t->c->beyond ? NONE : (uint32_t)(x - t->c->change);
	buf_release(&b);
}

/* AOTAutograd's keys have no components in most logs: what Inductor's keys say of the same compilation is why they differ, too. */
static void tell_pairs(struct telling *t, uint32_t pair, const struct lookup_pairs *p)
{
	const struct facts *fa = t->c->a->t.f, *fb = t->c->b->t.f;
	struct key_change change[KEY_CHANGES];
	bool told = false;
	for (unsigned untold = 0; untold < 2; untold++)
		for (uint32_t i = 0; i < p->n; i++) {
			const struct fact_cache *x = &fa->cache[p->v[i].a], *y = &fb->cache[p->v[i].b];
			uint32_t n = lookup_compare(fa, x, fb, y, change, KEY_CHANGES, &t->c->arena);
			if (!n || slice_is(change[0].name, LOOKUP_KEY) != untold || (untold && told))
				continue;
			told = true;
			for (uint32_t k = 0; k < n && k < KEY_CHANGES; k++)
				tell(t, pair, y->kind, &change[k]);
		}
}

void compare_keys_of_caches(struct compare *c)
{
	struct lookups *of[2] = {by_unit(c->a), by_unit(c->b)};
	struct lookup_pairs p = {0};
	struct telling t = {.c = c};
	for (uint32_t i = 0; i < c->n_pair; i++) {
		if (!compare_is_matched(c, i))
			continue;
		p.n = 0;
		lookups_match(&p, c->a->t.f, &of[0][c->pair[i].a], c->b->t.f, &of[1][c->pair[i].b]);
		tell_pairs(&t, i, &p);
	}
	free(p.v);
	free(t.row);
	intern_release(&t.seen);
	free_lookups(of[0], c->a->n_unit);
	free_lookups(of[1], c->b->n_unit);
}
