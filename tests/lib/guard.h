/* guard.h - inputs that end where memory ends: reading one byte too far is a crash, with or without a sanitizer.
 *
 *     struct guard g = {0};
 *     const char *p = guard_put(&g, text, len);      // valid until the next guard_put
 *     parse(p, len);
 *     guard_release(&g);
 */
#ifndef PT2_TEST_GUARD_H
#define PT2_TEST_GUARD_H
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct guard {
	char *map, *end; /* *end is the first byte that cannot be touched */
	size_t size;
};

static inline void guard_release(struct guard *g)
{
	if (g->map)
		munmap(g->map, g->size);
	*g = (struct guard){0};
}

static inline char *guard_put(struct guard *g, const void *p, size_t n)
{
	if (!g->map || (size_t)(g->end - g->map) < n) {
		guard_release(g);
		size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (n / page + 1) * page;
		g->size = room + page;
		g->map = mmap(NULL, g->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (g->map == MAP_FAILED)
			abort();
		g->end = g->map + room;
		if (mprotect(g->end, page, PROT_NONE))
			abort();
	}
	char *at = g->end - n;
	if (n)
		memcpy(at, p, n);
	return at;
}

#endif
