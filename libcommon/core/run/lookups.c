/* lookups.c - see lookups.h. */
#include "run/lookups.h"

struct lookup lookup_of(const struct intern *names, const struct fact_cache *c)
{
	struct lookup l = {c->kind, c->what, intern_get(names, c->key), intern_get(names, c->guards), intern_get(names, c->reason), {{0}}};
	for (unsigned i = 0; i < KEY_TEXTS; i++)
		l.text[i] = intern_get(names, c->parts[i]);
	return l;
}

static uint32_t one(struct key_change *out, uint32_t most, const char *name, struct slice before, struct slice after)
{
	if (most)
		out[0] = (struct key_change){slice_str(name), before, after, 0};
	return 1;
}

static struct slice what_of(const struct lookup *l)
{
	return l->what == FACT_BYPASS && l->reason.n ? l->reason : slice_str(cache_what_name[l->what]);
}

/* Settings added or removed by a release add nothing to the release itself. */
static uint32_t without_new_settings(struct key_change *out, uint32_t n)
{
	uint32_t k = 0;
	if (!n || !slice_is(out[0].name, "torch_version"))
		return n;
	for (uint32_t i = 0; i < n; i++)
		if ((out[i].before.n && out[i].after.n) || !slice_starts(out[i].name, "inductor_config"))
			out[k++] = out[i];
	return k;
}

/* Like key_compare(). */
static uint32_t lookup_compare(const struct lookup *a, const struct lookup *b, struct key_change *out, uint32_t most, struct arena *arena)
{
	if (b->what == FACT_HIT)
		return 0;
	if (b->what == FACT_BYPASS || a->what == FACT_BYPASS)
		return slice_eq(what_of(a), what_of(b)) ? 0 : one(out, most, LOOKUP_BYPASS, what_of(a), what_of(b));
	if (!a->key.n || !b->key.n)
		return 0;
	if (slice_eq(a->key, b->key)) {
		if (a->what != FACT_HIT)
			return 0;
		return b->guards.n ? one(out, most, LOOKUP_GUARDS, what_of(a), b->guards)
				   : one(out, most, LOOKUP_GONE, what_of(a), SLICE("miss: no readable entry of the same key"));
	}
	if (!a->text[KEY_GRAPH].n || !b->text[KEY_GRAPH].n)
		return one(out, most, LOOKUP_KEY, a->key, b->key);
	uint32_t n = key_compare(a->text, b->text, out, most, arena);
	if (n > most) /* those that are written are the most telling ones */
		return n;
	return n ? without_new_settings(out, n) : one(out, most, LOOKUP_KEY, a->key, b->key);
}

struct pair {
	uint32_t a, b;
};

/* The same key first, then the next in order. */
static uint32_t match(const struct lookup *a, uint32_t na, const struct lookup *b, uint32_t nb, struct pair *out)
{
	bool *taken_a = xcalloc(na + 1u, sizeof(*taken_a)), *taken_b = xcalloc(nb + 1u, sizeof(*taken_b));
	uint32_t n = 0;
	for (unsigned by_key = 2; by_key-- > 0;)
		for (uint32_t i = 0, from = 0; i < na; i++) {
			if (taken_a[i] || (by_key && !a[i].key.n))
				continue;
			for (uint32_t step = 0; step < nb; step++) {
				uint32_t k = (from + step) % nb; /* among many lookups of one compilation the next is close */
				if (taken_b[k] || a[i].kind != b[k].kind || (by_key && !slice_eq(a[i].key, b[k].key)))
					continue;
				taken_a[i] = taken_b[k] = true;
				from = k + 1;
				out[n++] = (struct pair){i, k};
				break;
			}
		}
	free(taken_a);
	free(taken_b);
	return n;
}

void lookups_compare(const struct lookup *a, uint32_t na, const struct lookup *b, uint32_t nb, struct arena *arena, lookup_told *told,
		     void *ctx)
{
	struct key_change change[KEY_CHANGES];
	FREED struct pair *pair = xcalloc((na < nb ? na : nb) + 1u, sizeof(*pair));
	uint32_t pairs = match(a, na, b, nb, pair);
	bool any = false;
	for (unsigned untold = 0; untold < 2; untold++)
		for (uint32_t i = 0; i < pairs; i++) {
			uint32_t n = lookup_compare(&a[pair[i].a], &b[pair[i].b], change, KEY_CHANGES, arena);
			if (!n || slice_is(change[0].name, LOOKUP_KEY) != untold || (untold && any))
				continue;
			any = true;
			for (uint32_t k = 0; k < n && k < KEY_CHANGES; k++)
				told(ctx, b[pair[i].b].kind, &change[k]);
		}
}
