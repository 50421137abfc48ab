/* lookups.c - see lookups.h. */
#include "compilation/lookups.h"

void lookups_match(struct lookup_pairs *p, const struct facts *fa, const struct lookups *a, const struct facts *fb, const struct lookups *b)
{
	bool *taken_a = xcalloc(a->n + 1u, sizeof(*taken_a)), *taken_b = xcalloc(b->n + 1u, sizeof(*taken_b));
	for (unsigned by_key = 2; by_key-- > 0;)
		for (uint32_t i = 0, from = 0; i < a->n; i++) {
			const struct fact_cache *x = &fa->cache[a->row[i]];
			struct slice key = facts_text(fa, x->key);
			if (taken_a[i] || (by_key && !key.n))
				continue;
			/* In order: of many lookups of one compilation the next is near. */
			for (uint32_t step = 0; step < b->n; step++) {
				uint32_t k = (from + step) % b->n;
				const struct fact_cache *y = &fb->cache[b->row[k]];
				if (taken_b[k] || x->kind != y->kind || (by_key && !slice_eq(key, facts_text(fb, y->key))))
					continue;
				taken_a[i] = taken_b[k] = true;
				from = k + 1;
				GROW(p->v, p->n, p->cap, 1);
				p->v[p->n++] = (struct lookup_pair){a->row[i], b->row[k]};
				break;
			}
		}
	free(taken_a);
	free(taken_b);
}

static uint32_t one(struct key_change *out, uint32_t most, const char *name, struct slice before, struct slice after)
{
	if (most)
		out[0] = (struct key_change){slice_str(name), before, after, 0};
	return 1;
}

static struct slice what_of(const struct facts *f, const struct fact_cache *c)
{
	struct slice reason = facts_text(f, c->reason);
	return c->what == FACT_BYPASS && reason.n ? reason : slice_str(cache_what_name[c->what]);
}

/* Settings that came or went with a release say nothing that the release does not. */
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

uint32_t lookup_compare(const struct facts *fa, const struct fact_cache *a, const struct facts *fb, const struct fact_cache *b,
			struct key_change *out, uint32_t most, struct arena *arena)
{
	struct slice text[2][KEY_TEXTS], key[2] = {facts_text(fa, a->key), facts_text(fb, b->key)};
	if (b->what == FACT_HIT)
		return 0;
	if (b->what == FACT_BYPASS || a->what == FACT_BYPASS)
		return slice_eq(what_of(fa, a), what_of(fb, b)) ? 0 : one(out, most, LOOKUP_BYPASS, what_of(fa, a), what_of(fb, b));
	if (!key[0].n || !key[1].n)
		return 0;
	if (slice_eq(key[0], key[1])) {
		if (b->guards != NONE && a->what == FACT_HIT)
			return one(out, most, LOOKUP_GUARDS, slice_str(cache_what_name[a->what]), facts_text(fb, b->guards));
		return a->what == FACT_HIT ? one(out, most, LOOKUP_GONE, slice_str(cache_what_name[a->what]),
						 SLICE("miss: no readable entry of the same key"))
					   : 0;
	}
	lookup_texts(fa, a, text[0]);
	lookup_texts(fb, b, text[1]);
	if (!text[0][KEY_GRAPH].n || !text[1][KEY_GRAPH].n)
		return one(out, most, LOOKUP_KEY, key[0], key[1]);
	uint32_t n = key_compare(text[0], text[1], out, most, arena);
	if (n > most) /* those that are written are the most telling ones */
		return n;
	return n ? without_new_settings(out, n) : one(out, most, LOOKUP_KEY, key[0], key[1]);
}
