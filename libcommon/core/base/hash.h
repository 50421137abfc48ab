/* hash.h - an interning table: bytes -> small index, each distinct text stored once.
 *
 *     struct intern names = {0};
 *     uint32_t i = intern_add(&names, SLICE("dynamo_guards"));     // the same text gives the same index
 *     struct slice s = intern_get(&names, i);
 *     intern_release(&names);
 *
 * Indices count from 0 in order of first appearance. Keys may hold any bytes (structs without padding, too).
 */
#ifndef PT2_HASH_H
#define PT2_HASH_H
#include "base/arena.h"

struct intern_slot {
	uint32_t hash, used; /* used: index + 1, 0 when empty. most texts differ in their hash, so others are not compared */
};
struct intern {
	struct arena arena;
	struct slice *item;
	uint32_t n, cap;
	struct intern_slot *slot; /* their number is a power of two */
	uint32_t mask;
};

uint64_t hash_bytes(const void *p, size_t n);
uint32_t intern_add(struct intern *t, struct slice s);
/* Like intern_add, but NONE if the text is missing. */
uint32_t intern_find(const struct intern *t, struct slice s);
void intern_release(struct intern *t);
/* Replaces *t (empty, or no longer needed) by a table of from's texts under the same indices; both may grow. The bytes of those texts stay
 * in `from`, so it must outlive t. Costs two memcpy and no hashing. */
void intern_copy(struct intern *t, const struct intern *from);
static inline struct slice intern_get(const struct intern *t, uint32_t i) { return i < t->n ? t->item[i] : (struct slice){"", 0}; }

#endif
