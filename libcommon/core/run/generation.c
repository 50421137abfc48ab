#include "run/generation.h"

/* The last compilation of a frame in this generation, -1. */
static int64_t *last_of(struct generations *all, uint32_t process, const struct generation *now, int64_t frame)
{
	const int64_t key[3] = {process, now->number, frame};
	uint32_t before = all->keys.n, k = intern_add(&all->keys, slice_of((const char *)key, sizeof(key)));
	if (k == before) {
		GROW(all->last, k, all->cap, 1);
		all->last[k] = -1;
	}
	return &all->last[k];
}

bool generation_has(struct generations *all, uint32_t process, const struct generation *now, int64_t frame, int64_t compile)
{
	return compile == 0 ? frame <= now->frames : compile <= *last_of(all, process, now, frame);
}

void generation_add(struct generations *all, uint32_t process, struct generation *now, int64_t frame, int64_t compile)
{
	int64_t *last = last_of(all, process, now, frame);
	now->frames = frame > now->frames ? frame : now->frames;
	*last = compile > *last ? compile : *last;
}

void generations_release(struct generations *all)
{
	intern_release(&all->keys);
	free(all->last);
	*all = (struct generations){0};
}
