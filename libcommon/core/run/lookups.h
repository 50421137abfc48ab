/* lookups.h - why a compile cache was missed: lookups of two runs or ranks that stand for each other, and in what they differ.
 *
 *     struct lookup a = lookup_of(&f.names, &f.cache[i]), b = ...;
 *     lookups_compare(&a, 1, &b, 1, &arena, told, ctx);
 *
 * Needs facts_options.keys. A difference is a component of the key (cachekey.h) with both values, or one of LOOKUP_*: where no component
 * says it.
 */
#ifndef PT2_LOOKUPS_H
#define PT2_LOOKUPS_H
#include "run/facts.h"

#define LOOKUP_GONE "entry"    /* the same key was hit before, and missed after */
#define LOOKUP_GUARDS "guards" /* the key was there, what its entry was compiled for does not hold */
#define LOOKUP_BYPASS "bypass" /* the cache was not asked */
#define LOOKUP_KEY "key"       /* the keys differ and no component of theirs is told */

struct lookup {
	enum fact_cache_kind kind;
	enum fact_cache_what what;
	struct slice key, guards, reason, text[KEY_TEXTS]; /* n == 0: not told */
};
struct lookup lookup_of(const struct intern *names, const struct fact_cache *c);
/* Why those of b were not served as those of a, of one compilation: told() is called for each difference; nothing where b's are hits, or
 * where both are the same. Lookups of one kind stand for each other that have the same key, then by order. AOTAutograd's keys have no
 * components in most logs: what Inductor's say of the same compilation is why theirs differ, too. Of another release the settings that only
 * one of them knows are not told. */
typedef void lookup_told(void *ctx, enum fact_cache_kind kind, const struct key_change *change);
void lookups_compare(const struct lookup *a, uint32_t na, const struct lookup *b, uint32_t nb, struct arena *arena, lookup_told *told,
		     void *ctx);
#endif
