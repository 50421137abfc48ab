#include "base/arena.h"
#include "base/buf.h"

struct arena_block {
	struct arena_block *next;
	_Alignas(16) char data[];
};

enum { BLOCK_MIN = 4096, BLOCK_MAX = 1 << 18 };

void *arena_alloc(struct arena *a, size_t size)
{
	size = (size + 7) & ~(size_t)7;
	if (UNLIKELY(!a->at || (size_t)(a->end - a->at) < size)) {
		size_t want = a->total < BLOCK_MIN ? BLOCK_MIN : a->total > BLOCK_MAX ? BLOCK_MAX : a->total;
		if (want < size)
			want = size;
		struct arena_block *b = xmalloc(sizeof(*b) + want);
		b->next = a->blocks;
		a->blocks = b;
		a->at = b->data;
		a->end = b->data + want;
		a->total += want;
	}
	void *p = a->at;
	a->at += size;
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);
	if (n)
		memcpy(p, s, n);
	p[n] = 0;
	return p;
}

struct slice arena_slice(struct arena *a, struct slice s) { return slice_of(arena_strndup(a, s.p, s.n), s.n); }

struct slice arena_take(struct arena *a, struct buf *b)
{
	struct slice s = arena_slice(a, buf_slice(b));
	buf_release(b);
	return s;
}

struct slice arena_textf(struct arena *a, const char *fmt, ...)
{
	LOCAL_BUF b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_addvf(&b, fmt, ap);
	va_end(ap);
	return arena_slice(a, buf_slice(&b));
}

void arena_release(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;
		free(a->blocks);
		a->blocks = next;
	}
	*a = (struct arena){0};
}
