/* buf.h - a growing byte buffer.
 *
 *     struct buf b = {0};
 *     buf_addf(&b, "%d nodes", n);
 *     buf_add(&b, p, len);
 *     puts(buf_str(&b));          // valid until the next change
 *     buf_release(&b);            // or buf_reset to use the memory again
 *
 * A NUL always follows the last byte and is not counted in len: p is a string. Only a buf that never held anything has no p; buf_str() and
 * buf_slice() return "" for it. Only the functions below change len: they keep the NUL.
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
/* A buf that is released at the end of its block, however the block is left:
 *
 *     LOCAL_BUF b = {0};
 *     buf_addf(&b, "%s.journal", path);
 *     return journal_read(&r, buf_str(&b), err);
 */
#define LOCAL_BUF OWNED(buf_release) struct buf
void buf_addf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_addvf(struct buf *b, const char *fmt, va_list ap);
void buf_add_u64(struct buf *b, uint64_t v);
/* Writes v's digits (at most 20, no NUL) and returns how many. A report of many files writes four numbers for each: with printf() they
 * would take a thirtieth of its time. */
size_t decimal(char *out, uint64_t v);
/* Adds a word for a shell, in single quotes where it needs any. */
void buf_add_word(struct buf *b, const char *word);
void buf_add_command(struct buf *b, const char *const *argv); /* argv's words, up to the NULL, separated by spaces */
static inline const char *buf_str(const struct buf *b) { return b->p ? b->p : ""; }
static inline struct slice buf_slice(const struct buf *b) { return slice_of(buf_str(b), b->len); }

/* Keeps the first len bytes. */
static inline void buf_cut(struct buf *b, size_t len)
{
	b->len = len;
	if (b->p)
		b->p[len] = 0;
}
static inline void buf_reset(struct buf *b) { buf_cut(b, 0); }
/* Makes room for `more` bytes and a NUL at the end: write there, then call buf_wrote() with the number of bytes written. */
static inline char *buf_room(struct buf *b, size_t more)
{
	if (UNLIKELY(b->cap - b->len <= more))
		buf_grow(b, more);
	return b->p + b->len;
}
static inline void buf_wrote(struct buf *b, size_t n) { b->p[b->len += n] = 0; }
static inline void buf_add(struct buf *b, const void *p, size_t n)
{
	if (n) {
		memcpy(buf_room(b, n), p, n);
		buf_wrote(b, n);
	}
}
static inline void buf_addc(struct buf *b, char c)
{
	*buf_room(b, 1) = c;
	buf_wrote(b, 1);
}
void buf_add_utf8(struct buf *b, uint32_t c); /* at most 0x10ffff */
static inline void buf_adds(struct buf *b, const char *s) { buf_add(b, s, strlen(s)); }
static inline void buf_add_slice(struct buf *b, struct slice s) { buf_add(b, s.p, s.n); }
/* The character of n (1 to 3) bytes at p as JSON and Python escape it: \u202e. */
void buf_add_u(struct buf *b, const char *p, size_t n);
/* Adds s after clean_text(). */
static inline void buf_add_clean(struct buf *b, struct slice s)
{
	buf_add(b, s.p, s.n);
	if (s.n)
		clean_text(b->p + b->len - s.n, s.n);
}
/* buf_addf() for a line or a cell, with clean_text() applied except to a '\n' or '\t' that fmt ends in: a name cannot forge a line or a
 * cell. */
void buf_addf_clean(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
