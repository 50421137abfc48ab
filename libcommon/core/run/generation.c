#include "run/generation.h"

struct wanted {
	const struct generations *all;
	const int64_t *key; /* process, generation, frame */
};
static bool is_frame(const void *ctx, uint32_t row)
{
	const struct wanted *w = ctx;
	const struct generation_frame *f = &w->all->frame[row];
	return f->process == w->key[0] && f->number == w->key[1] && f->frame == w->key[2];
}

/* The last compilation of a frame in this generation, -1. */
static int64_t *last_of(struct generations *all, uint32_t process, const struct generation *now, int64_t frame)
{
	const int64_t key[3] = {process, now->number, frame};
	const uint32_t hash = row_hash(key, sizeof(key));
	uint32_t k = row_index_find(&all->index, hash, is_frame, &(struct wanted){all, key});
	if (k == NONE) {
		k = all->n_frame;
		PUSH(all, frame) = (struct generation_frame){process, now->number, frame, -1};
		row_index_add(&all->index, hash, k);
	}
	return &all->frame[k].last;
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
	row_index_release(&all->index);
	free(all->frame);
	*all = (struct generations){0};
}
