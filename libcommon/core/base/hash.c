#include "base/hash.h"

/* wyhash-like mixing of 8-byte words: quality is ample for tables, and names are short. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t r = (__uint128_t)a * b;
	return (uint64_t)r ^ (uint64_t)(r >> 64);
}

uint64_t hash_bytes(const void *p, size_t n)
{
	const unsigned char *c = p;
	uint64_t h = 0x9e3779b97f4a7c15ull ^ n, w;
	for (; n >= 8; c += 8, n -= 8) {
		memcpy(&w, c, 8);
		h = mix(h ^ w, 0xa0761d6478bd642full);
	}
	w = 0;
	if (n)
		memcpy(&w, c, n);
	return mix(h ^ w, 0xe7037ed1a0b428dbull);
}

static uint32_t find_slot(const struct intern *t, struct slice s)
{
	uint32_t i = (uint32_t)hash_bytes(s.p, s.n) & t->mask;
	while (t->slot[i] && !slice_eq(t->item[t->slot[i] - 1], s))
		i = (i + 1) & t->mask;
	return i;
}

static void rehash(struct intern *t)
{
	uint32_t size = t->slot ? (t->mask + 1) * 2 : 64;
	free(t->slot);
	t->slot = xcalloc(size, sizeof(*t->slot));
	t->mask = size - 1;
	for (uint32_t k = 0; k < t->n; k++)
		t->slot[find_slot(t, t->item[k])] = k + 1;
}

uint32_t intern_find(const struct intern *t, struct slice s) { return t->slot ? t->slot[find_slot(t, s)] - 1 : NONE; }

uint32_t intern_add(struct intern *t, struct slice s)
{
	if (!t->slot || t->n >= t->mask - t->mask / 4)
		rehash(t);
	uint32_t i = find_slot(t, s);
	if (!t->slot[i]) {
		PUSH_TO(t->item, t->n, t->cap) = arena_slice(&t->arena, s);
		t->slot[i] = t->n;
	}
	return t->slot[i] - 1;
}

void intern_release(struct intern *t)
{
	arena_release(&t->arena);
	free(t->item);
	free(t->slot);
	*t = (struct intern){0};
}

void intern_copy(struct intern *t, const struct intern *from)
{
	arena_release(&t->arena);
	if (!from->slot) {
		intern_release(t);
		return;
	}
	if (!t->slot || t->mask != from->mask)
		t->slot = xreallocarray(t->slot, (size_t)from->mask + 1, sizeof(*t->slot));
	t->n = 0;
	GROW(t->item, t->n, t->cap, from->n);
	memcpy(t->item, from->item, from->n * sizeof(*t->item));
	memcpy(t->slot, from->slot, ((size_t)from->mask + 1) * sizeof(*t->slot));
	t->n = from->n;
	t->mask = from->mask;
}
