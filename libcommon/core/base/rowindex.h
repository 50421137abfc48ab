/* rowindex.h - finds rows of a table by a key that the rows themselves hold.
 *
 * Where a row has its key as members, an interning table (hash.h) would keep a second copy of each: 80 bytes for one of 40. This keeps a
 * hash and a row's number, 11 to 21 bytes in all.
 *
 *     struct row_index ix = {0};
 *     static bool same(const void *ctx, uint32_t row) { ... is it the row with the key in ctx? ... }
 *     uint32_t hash = row_hash(&key, sizeof(key)), row = row_index_find(&ix, hash, same, &ctx);
 *     if (row == NONE)
 *             row_index_add(&ix, hash, row = new_row(...));
 *     row_index_release(&ix);
 *
 * Rows are never removed, and their keys do not change. Keys may hold any bytes (structs without padding, too).
 */
#ifndef PT2_ROWINDEX_H
#define PT2_ROWINDEX_H
#include "base/hash.h"

struct row_index {
	struct row_slot {
		uint32_t hash, used; /* used: row + 1, 0 when empty */
	} * slot;
	uint32_t n, mask; /* mask + 1 is a power of two */
};

static inline uint32_t row_hash(const void *key, size_t n) { return (uint32_t)hash_bytes(key, n); }

/* NONE: no row with that key. */
static inline uint32_t row_index_find(const struct row_index *x, uint32_t hash, bool (*same)(const void *ctx, uint32_t row),
				      const void *ctx)
{
	if (!x->slot)
		return NONE;
	for (uint32_t i = hash & x->mask; x->slot[i].used; i = (i + 1) & x->mask)
		if (x->slot[i].hash == hash && same(ctx, x->slot[i].used - 1))
			return x->slot[i].used - 1;
	return NONE;
}

static inline void row_index_put(struct row_index *x, struct row_slot s)
{
	uint32_t i = s.hash & x->mask;
	while (x->slot[i].used)
		i = (i + 1) & x->mask;
	x->slot[i] = s;
}

/* A row whose key is not in it yet. */
static inline void row_index_add(struct row_index *x, uint32_t hash, uint32_t row)
{
	if (!x->slot || x->n >= x->mask - x->mask / 4) {
		const struct row_index old = *x;
		const uint32_t size = old.slot ? (old.mask + 1) * 2 : 64;
		x->slot = xcalloc(size, sizeof(*x->slot));
		x->mask = size - 1;
		for (uint32_t i = 0; old.slot && i <= old.mask; i++)
			if (old.slot[i].used)
				row_index_put(x, old.slot[i]);
		free(old.slot);
	}
	row_index_put(x, (struct row_slot){hash, row + 1});
	x->n++;
}

static inline void row_index_release(struct row_index *x)
{
	free(x->slot);
	*x = (struct row_index){0};
}

#endif
