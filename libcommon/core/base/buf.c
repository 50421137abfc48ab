#include "base/buf.h"

void buf_grow(struct buf *b, size_t more)
{
	size_t need;
	if (__builtin_add_overflow(b->len, more, &need) || __builtin_add_overflow(need, 1, &need)) /* the NUL */
		need = SIZE_MAX; /* xreallocarray reports it as out of memory */
	b->cap = grow_cap(b->cap < 48 ? 48 : b->cap, need);
	b->p = xreallocarray(b->p, b->cap, 1);
	b->p[b->len] = 0;
}

void buf_release(struct buf *b)
{
	free(b->p);
	*b = (struct buf){0};
}

void buf_addvf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	char *at = buf_room(b, 64);
	int n = vsnprintf(at, b->cap - b->len, fmt, ap);
	if (n >= 0 && (size_t)n >= b->cap - b->len) {
		at = buf_room(b, (size_t)n);
		n = vsnprintf(at, b->cap - b->len, fmt, again);
	}
	va_end(again);
	if (n > 0)
		buf_wrote(b, (size_t)n);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_addvf(b, fmt, ap);
	va_end(ap);
}

void buf_addf_clean(struct buf *b, const char *fmt, ...)
{
	const size_t from = b->len, n = strlen(fmt), end = n && (fmt[n - 1] == '\n' || fmt[n - 1] == '\t');
	va_list ap;
	va_start(ap, fmt);
	buf_addvf(b, fmt, ap);
	va_end(ap);
	clean_text(b->p + from, b->len - from - end);
}

size_t decimal(char *out, uint64_t v)
{
	char tmp[20];
	size_t i = sizeof(tmp);
	do
		tmp[--i] = (char)('0' + v % 10);
	while (v /= 10);
	memcpy(out, tmp + i, sizeof(tmp) - i);
	return sizeof(tmp) - i;
}

void buf_add_u64(struct buf *b, uint64_t v)
{
	char text[20];
	buf_add(b, text, decimal(text, v));
}

void buf_add_u(struct buf *b, const char *p, size_t n)
{
	unsigned v = n == 1 ? (unsigned char)*p : *p & (n == 2 ? 0x1f : 0x0f);
	for (size_t i = 1; i < n; i++)
		v = v << 6 | (p[i] & 0x3f);
	buf_addf(b, "\\u%04x", v);
}

void buf_add_word(struct buf *b, const char *word)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%")]) {
		buf_adds(b, word);
		return;
	}
	buf_addc(b, '\'');
	for (; *word; word++)
		*word == '\'' ? buf_adds(b, "'\\''") : buf_addc(b, *word);
	buf_addc(b, '\'');
}

void buf_add_command(struct buf *b, const char *const *argv)
{
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			buf_addc(b, ' ');
		buf_add_word(b, argv[i]);
	}
}

void buf_add_utf8(struct buf *b, uint32_t c)
{
	if (c < 0x80) {
		buf_addc(b, (char)c);
	} else if (c < 0x800) {
		buf_addc(b, (char)(0xc0 | c >> 6));
		buf_addc(b, (char)(0x80 | (c & 63)));
	} else {
		if (c < 0x10000) {
			buf_addc(b, (char)(0xe0 | c >> 12));
		} else {
			buf_addc(b, (char)(0xf0 | c >> 18));
			buf_addc(b, (char)(0x80 | (c >> 12 & 63)));
		}
		buf_addc(b, (char)(0x80 | (c >> 6 & 63)));
		buf_addc(b, (char)(0x80 | (c & 63)));
	}
}
