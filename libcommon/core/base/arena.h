/* arena.h - memory that is freed all at once.
 *
 *     struct arena a = {0};
 *     char *s = arena_strndup(&a, p, n);      // lives until arena_release
 *     arena_release(&a);
 *
 * Allocations are 8-byte aligned and never move. Not thread-safe: one owner.
 */
#ifndef PT2_ARENA_H
#define PT2_ARENA_H
#include "base/base.h"

struct arena_block;
struct arena {
	struct arena_block *blocks;
	char *at, *end;
	size_t total; /* bytes taken from malloc */
};

void *arena_alloc(struct arena *a, size_t size);
char *arena_strndup(struct arena *a, const char *s, size_t n);
struct slice arena_slice(struct arena *a, struct slice s);
/* Formats it. */
struct slice arena_textf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Moves b's text into the arena and releases b. */
struct buf;
struct slice arena_take(struct arena *a, struct buf *b);
void arena_release(struct arena *a);

#endif
