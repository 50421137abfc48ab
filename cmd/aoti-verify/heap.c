/* heap.c - values of nodes come and go by the thousand: memory that was used once is used again, and comes in pages of 2 MB where the
 * kernel has some. Otherwise half of the processor time goes into filling fresh pages with zeros. */
#include "aten/aten.h"
#include "verifier.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef __SANITIZE_ADDRESS__ /* it knows where each tensor ends */

/* Most runs need no more than LARGE. Beyond it pages are small: a virtual machine may have to get free large ones from its host, which
 * takes longer than small ones that were free for a moment only (one of 600 MB: 1.2 s in the kernel instead of 0.5). */
enum { HEAP = 1 << 29, KEPT = 2 * HEAP - 1, LARGE = 192 << 20, ALIGNED = 64 };

/* Memory of aligned_alloc() that was freed is too small for the next tensor of the same size: glibc asks for more before it aligns. */
static void *take(uint64_t bytes)
{
	if (bytes > SIZE_MAX - 2 * ALIGNED)
		return NULL;
	char *p = malloc(((size_t)bytes + 2 * ALIGNED - 1) & ~(size_t)(ALIGNED - 1));
	if (!p)
		return NULL;
	char *at = p + ALIGNED - (uintptr_t)p % ALIGNED; /* at least 16 bytes later */
	memcpy(at - sizeof(p), &p, sizeof(p));
	return at;
}

static void give(void *at, uint64_t bytes)
{
	char *p;
	(void)bytes;
	memcpy(&p, (char *)at - sizeof(p), sizeof(p));
	free(p);
}

void heap_prepare(void)
{
	static const struct aten_memory memory = {take, give};
	const uintptr_t page = (uintptr_t)2 << 20;
	aten_set_memory(&memory);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, KEPT);
	mallopt(M_ARENA_MAX, 1);
	/* The heap is made once, and not touched: what would be added to it later would be in small pages. */
	mallopt(M_TOP_PAD, HEAP);
	char *first = malloc((size_t)256 << 10); /* more than there can be without that */
	mallopt(M_TOP_PAD, 128 << 10);
	const uintptr_t from = ((uintptr_t)first + page - 1) & ~(page - 1), to = from + LARGE;
	if (first && from < (uintptr_t)sbrk(0) && to <= (uintptr_t)sbrk(0))
		madvise((void *)from, LARGE, MADV_HUGEPAGE); /* or not */
	free(first);
}

#else
void heap_prepare(void) {}
#endif
