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

static struct intern_slot *find_slot(const struct intern *t, struct slice s, uint32_t hash)
{
	uint32_t i = hash & t->mask;
	while (t->slot[i].used && (t->slot[i].hash != hash || !slice_eq(t->item[t->slot[i].used - 1], s)))
		i = (i + 1) & t->mask;
	return &t->slot[i];
}

static void rehash(struct intern *t)
{
	struct intern_slot *old = t->slot;
	uint32_t n = old ? t->mask + 1 : 0, size = old ? n * 2 : 64;
	t->slot = xcalloc(size, sizeof(*t->slot));
	t->mask = size - 1;
	for (uint32_t k = 0, i; k < n; k++) {
		if (!old[k].used)
			continue;
		for (i = old[k].hash & t->mask; t->slot[i].used; i = (i + 1) & t->mask)
			;
		t->slot[i] = old[k];
	}
	free(old);
}

uint32_t intern_find(const struct intern *t, struct slice s)
{
	return t->slot ? find_slot(t, s, (uint32_t)hash_bytes(s.p, s.n))->used - 1 : NONE;
}

uint32_t intern_add(struct intern *t, struct slice s)
{
	if (!t->slot || t->n >= t->mask - t->mask / 4)
		rehash(t);
	const uint32_t hash = (uint32_t)hash_bytes(s.p, s.n);
	struct intern_slot *slot = find_slot(t, s, hash);
	if (!slot->used) {
		PUSH_TO(t->item, t->n, t->cap) = arena_slice(&t->arena, s);
		*slot = (struct intern_slot){hash, t->n};
	}
	return slot->used - 1;
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
