/* buf.h - a growing byte buffer.
 *
 *     struct buf b = {0};
 *     buf_addf(&b, "%d nodes", n);
 *     buf_add(&b, p, len);
 *     puts(buf_str(&b));          // NUL-terminated view, valid until the next change
 *     buf_release(&b);            // or buf_reset to use the memory again
 *
 * `p` may be NULL while `len` is 0. Not NUL-terminated unless buf_str is called.
 */
#ifndef PT2_BUF_H
#define PT2_BUF_H
#include "base/base.h"

struct buf {
	char *p;
	size_t len, cap;
};

void buf_grow(struct buf *b, size_t more);
void buf_release(struct buf *b);
void buf_addf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_addvf(struct buf *b, const char *fmt, va_list ap);
void buf_add_u64(struct buf *b, uint64_t v);
/* One word for a shell: in single quotes where it needs any. */
void buf_add_word(struct buf *b, const char *word);
const char *buf_str(struct buf *b);

static inline void buf_reset(struct buf *b) { b->len = 0; }
/* Room for `more` bytes at the end; write there, then add to len. */
static inline char *buf_room(struct buf *b, size_t more)
{
	if (UNLIKELY(b->cap - b->len < more))
		buf_grow(b, more);
	return b->p + b->len;
}
static inline void buf_add(struct buf *b, const void *p, size_t n)
{
	if (n) {
		memcpy(buf_room(b, n), p, n);
		b->len += n;
	}
}
static inline void buf_addc(struct buf *b, char c)
{
	*buf_room(b, 1) = c;
	b->len++;
}
static inline void buf_adds(struct buf *b, const char *s) { buf_add(b, s, strlen(s)); }
static inline void buf_add_slice(struct buf *b, struct slice s) { buf_add(b, s.p, s.n); }
/* The character of n (1 to 3) bytes at p as JSON and Python escape it: \u202e. */
void buf_add_u(struct buf *b, const char *p, size_t n);
/* With clean_text(). */
static inline void buf_add_clean(struct buf *b, struct slice s)
{
	buf_add(b, s.p, s.n);
	if (s.n)
		clean_text(b->p + b->len - s.n, s.n);
}
/* buf_addf() of a line or of a cell, with clean_text() but for a '\n' or '\t' that fmt ends in: no name in it forges a line or a cell. */
void buf_addf_clean(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static inline struct slice buf_slice(const struct buf *b) { return slice_of(b->p, b->len); }

#endif
