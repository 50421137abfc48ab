/* lookups.h - why a compile cache missed: matches the lookups of two runs or ranks and says how they differ.
 *
 *     struct lookup a = lookup_of(&f.names, &f.cache[i]), b = ...;
 *     lookups_compare(&a, 1, &b, 1, &arena, told, ctx);
 *
 * Needs facts_options.keys. A difference is a component of the key (cachekey.h) with both values, or one of LOOKUP_* if no component
 * explains it.
 */
#ifndef PT2_LOOKUPS_H
#define PT2_LOOKUPS_H
#include "run/facts.h"

#define LOOKUP_GONE "entry"    /* a hit before, and a miss with the same key after */
#define LOOKUP_GUARDS "guards" /* the key was found, but the guards of its entry do not hold */
#define LOOKUP_BYPASS "bypass" /* the cache was bypassed */
#define LOOKUP_KEY "key"       /* the keys differ, but their components are unknown */

struct lookup {
	enum fact_cache_kind kind;
	enum fact_cache_what what;
	struct slice key, guards, reason, text[KEY_TEXTS]; /* n == 0: unknown */
};
struct lookup lookup_of(const struct intern *names, const struct fact_cache *c);
/* Why b's lookups went differently from a's, for one compilation: told() is called for each difference; not if b's are hits, or both are
 * the same. Lookups of one kind are matched by key, then by order. AOTAutograd's keys have no components in most logs: Inductor's of the
 * same compilation explain them, too. Between releases, settings that only one of them has are not reported. */
typedef void lookup_told(void *ctx, enum fact_cache_kind kind, const struct key_change *change);
void lookups_compare(const struct lookup *a, uint32_t na, const struct lookup *b, uint32_t nb, struct arena *arena, lookup_told *told,
		     void *ctx);
#endif
