/* malloc.c - malloc() and its kin, in front of glibc's: which memory is guarded (heap.h). */
#include "pieces.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* glibc's own, under the names that it exports for such as this (malloc/malloc.c). */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);
void __libc_free(void *p);

enum {
	TENSOR_ALIGNMENT = 64,    /* c10::gAlignment */
	LEAST_IN_RUN = 64,        /* bytes of memory without it that are guarded in a run of a model */
	LEAST_OUTSIDE = 16 << 10, /* ... and elsewhere */
	PLAIN_ALIGNMENT = 16,
};

#define EXPORT __attribute__((visibility("default")))

static _Atomic bool tensors; /* one was asked for */
static _Thread_local bool inside;

/* Absent in a process that has this library without the probe. */
extern __typeof__(pt2_probe_heap) pt2_probe_heap __attribute__((weak));

const struct heap *pt2_heap(void);
EXPORT const struct heap *pt2_heap(void) { return &pieces_heap; }

static void *guarded(size_t n, size_t alignment)
{
	if (inside)
		return NULL;
	const int saved = errno;
	inside = true;
	if (!atomic_exchange(&tensors, true) && pt2_probe_heap)
		pt2_probe_heap(NULL, NULL);
	void *p = pieces_make(n, alignment);
	inside = false;
	errno = saved;
	return p;
}

static void *guarded_plain(size_t n)
{
	if (n < LEAST_IN_RUN || (n < LEAST_OUTSIDE && !pieces_in_run) || !atomic_load_explicit(&tensors, memory_order_relaxed))
		return NULL;
	return guarded(n, PLAIN_ALIGNMENT);
}

static void *guarded_aligned(size_t n, size_t alignment)
{
	return alignment >= TENSOR_ALIGNMENT && !(alignment & (alignment - 1)) ? guarded(n, alignment) : guarded_plain(n);
}

static void give_back(void *p)
{
	struct heap_piece of;
	struct heap_written w;
	const int saved = errno;
	if (!pieces_free(p, &of, &w)) {
		__libc_free(p); /* which says so and ends the process, as it would without us */
	} else if (!inside && pt2_probe_heap && (w.first[0] <= w.last[0] || w.first[1] <= w.last[1])) {
		inside = true;
		pt2_probe_heap(&of, &w);
		inside = false;
	}
	errno = saved;
}

EXPORT void *malloc(size_t n)
{
	void *p = guarded_plain(n);
	return p ? p : __libc_malloc(n);
}

EXPORT void free(void *p)
{
	if (pieces_have(p))
		give_back(p);
	else
		__libc_free(p);
}

EXPORT void *calloc(size_t n, size_t size)
{
	size_t bytes;
	void *p = __builtin_mul_overflow(n, size, &bytes) ? NULL : guarded_plain(bytes);
	return p ? p : __libc_calloc(n, size);
}

EXPORT void *realloc(void *p, size_t n)
{
	size_t had;
	if (!p)
		return malloc(n);
	if (!pieces_have(p) || !pieces_size(p, &had)) /* not ours, or not one: glibc says so */
		return __libc_realloc(p, n);
	void *now = n ? malloc(n) : NULL;
	if (now)
		memcpy(now, p, had < n ? had : n);
	if (now || !n)
		free(p);
	return now;
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, bytes);
}

EXPORT void *memalign(size_t alignment, size_t n)
{
	void *p = guarded_aligned(n, alignment);
	return p ? p : __libc_memalign(alignment, n);
}

EXPORT void *aligned_alloc(size_t alignment, size_t n) { return memalign(alignment, n); }

EXPORT int posix_memalign(void **to, size_t alignment, size_t n)
{
	if (alignment % sizeof(void *) || !alignment || alignment & (alignment - 1))
		return EINVAL;
	const int saved = errno;
	void *p = memalign(alignment, n);
	errno = saved;
	if (!p)
		return ENOMEM;
	*to = p;
	return 0;
}

EXPORT void *valloc(size_t n) { return memalign((size_t)sysconf(_SC_PAGESIZE), n); }

EXPORT void *pvalloc(size_t n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return memalign(page, (n + page - 1) / page * page);
}

EXPORT size_t malloc_usable_size(void *p)
{
	static size_t (*_Atomic next)(void *);
	size_t bytes;
	if (pieces_have(p) && pieces_size(p, &bytes))
		return bytes;
	if (!next) {
		void *found = dlsym(RTLD_NEXT, "malloc_usable_size");
		size_t (*f)(void *);
		memcpy(&f, &found, sizeof(f));
		next = f;
	}
	return next ? next(p) : 0;
}
