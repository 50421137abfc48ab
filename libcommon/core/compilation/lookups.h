/* lookups.h - why a compile cache was missed: lookups of two runs or ranks that stand for each other, and in what they differ.
 *
 *     struct lookups a = {0}, b = {0};
 *     ... lookups_add(&a, row of the first model's cache[]) in the order of the log, of one compilation; the same for b
 *     struct lookup_pairs p = {0};
 *     lookups_match(&p, fa, &a, fb, &b);                       // of one kind each, the same key first, then by order
 *     n = lookup_compare(fa, x, fb, y, change, KEY_CHANGES, &arena);
 *
 * Needs facts_options.keys. A difference is a component of the key (cachekey.h) with both values, or one of LOOKUP_*: where no component
 * says it.
 */
#ifndef PT2_LOOKUPS_H
#define PT2_LOOKUPS_H
#include "compilation/facts.h"

#define LOOKUP_GONE "entry"    /* the same key was hit before, and missed after */
#define LOOKUP_GUARDS "guards" /* the key was there, what its entry was compiled for does not hold */
#define LOOKUP_BYPASS "bypass" /* the cache was not asked */
#define LOOKUP_KEY "key"       /* the keys differ and no component of theirs is told */

struct lookups {
	uint32_t *row;
	uint32_t n, cap;
};
struct lookup_pair {
	uint32_t a, b; /* rows of cache[] */
};
struct lookup_pairs {
	struct lookup_pair *v;
	uint32_t n, cap;
};
static inline void lookups_add(struct lookups *l, uint32_t row)
{
	GROW(l->row, l->n, l->cap, 1);
	l->row[l->n++] = row;
}
/* Appended to p. */
void lookups_match(struct lookup_pairs *p, const struct facts *fa, const struct lookups *a, const struct facts *fb,
		   const struct lookups *b);
/* Why b was not served as a was: nothing where b is a hit, or where both are the same. As key_compare(). Of another release its settings
 * that only one of them knows are not counted. */
uint32_t lookup_compare(const struct facts *fa, const struct fact_cache *a, const struct facts *fb, const struct fact_cache *b,
			struct key_change *out, uint32_t most, struct arena *arena);
/* The kept texts of a lookup's key. */
static inline void lookup_texts(const struct facts *f, const struct fact_cache *c, struct slice text[KEY_TEXTS])
{
	for (unsigned i = 0; i < KEY_TEXTS; i++)
		text[i] = facts_text(f, c->parts[i]);
}
#endif
