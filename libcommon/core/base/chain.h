/* chain.h - rows of a table by key: finding the rows with one key costs the same however many rows there are.
 *
 *     struct chain c = {0};
 *     for (uint32_t i = 0; i < n; i++)
 *         chain_add(&c, i, CHAIN_KEY(row[i].input, row[i].function));
 *     for (uint32_t i = chain_first(&c, CHAIN_KEY(input, function)); i != NONE; i = c.next[i])
 *         ... the rows with that key, in the order in which they were added
 *     chain_release(&c);
 *
 * A row is added once. Keys are a few numbers; all keys of one chain have the same number.
 */
#ifndef PT2_CHAIN_H
#define PT2_CHAIN_H
#include "base/hash.h"

#define CHAIN_KEY(...) slice_of((const char *)(const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}))

struct chain {
	struct intern keys;
	uint32_t *first, *last; /* by key */
	size_t cap_first, cap_last;
	uint32_t *next; /* by row */
	size_t cap_next;
};

static inline void chain_add(struct chain *c, uint32_t row, struct slice key)
{
	uint32_t n = c->keys.n, k = intern_add(&c->keys, key);
	GROW(c->next, 0, c->cap_next, (size_t)row + 1);
	c->next[row] = NONE;
	if (k < n) {
		c->next[c->last[k]] = row;
		c->last[k] = row;
		return;
	}
	GROW(c->first, k, c->cap_first, 1);
	GROW(c->last, k, c->cap_last, 1);
	c->first[k] = c->last[k] = row;
}

static inline uint32_t chain_first(const struct chain *c, struct slice key)
{
	uint32_t k = intern_find(&c->keys, key);
	return k == NONE ? NONE : c->first[k];
}

static inline void chain_release(struct chain *c)
{
	intern_release(&c->keys);
	free(c->first);
	free(c->last);
	free(c->next);
	*c = (struct chain){0};
}

#endif
