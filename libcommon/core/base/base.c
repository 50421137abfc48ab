#include "base/base.h"
#include "base/bytes16.h"
#include "base/oom.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

static void verr(struct err *e, enum exit_status status, int errnum, const char *fmt, va_list ap)
{
	if (!e)
		return;
	e->status = status;
	int n = vsnprintf(e->text, sizeof(e->text), fmt, ap);
	if (n < 0)
		e->text[n = 0] = 0;
	if (errnum && (size_t)n < sizeof(e->text))
		snprintf(e->text + n, sizeof(e->text) - (size_t)n, ": %s", strerror(errnum));
}

int err_set(struct err *e, enum exit_status status, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	verr(e, status, 0, fmt, ap);
	va_end(ap);
	return -1;
}

int err_errno(struct err *e, enum exit_status status, const char *fmt, ...)
{
	int errnum = errno;
	va_list ap;
	va_start(ap, fmt);
	verr(e, status, errnum, fmt, ap);
	va_end(ap);
	return -1;
}

void (*out_of_memory)(void);

void end_without_memory(void)
{
	static atomic_int first; /* the thread that cleans up */
	int none = 0;
	if (atomic_compare_exchange_strong(&first, &none, gettid())) {
		/* No allocation, no stdio buffer: this must work with nothing left. */
		static const char msg[] = "out of memory\n";
		const ssize_t told = write(2, msg, sizeof(msg) - 1);
		(void)told;
		if (out_of_memory)
			out_of_memory();
	} else if (none != gettid()) {
		for (;;)
			pause();
	}
	_exit(EXIT_ENVIRON);
}

void end_if_without_memory(void)
{
	if (errno == ENOMEM)
		end_without_memory();
}

static void *checked(void *p)
{
	if (!p)
		end_without_memory();
	return p;
}

void *xmalloc(size_t size) { return checked(malloc(size ? size : 1)); }

void *xcalloc(size_t n, size_t size) { return checked(calloc(n ? n : 1, size ? size : 1)); }

void *xreallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes))
		return checked(NULL);
	return checked(realloc(p, bytes ? bytes : 1));
}

char *xstrdup(const char *s) { return xstrndup(s, strlen(s)); }

char *xstrndup(const char *s, size_t n)
{
	char *p = xmalloc(n + 1);
	if (n)
		memcpy(p, s, n);
	p[n] = 0;
	return p;
}

char *xasprintf(const char *fmt, ...)
{
	char *p = NULL;
	va_list ap;
	va_start(ap, fmt);
	int n = vasprintf(&p, fmt, ap);
	va_end(ap);
	return checked(n < 0 ? NULL : p);
}

size_t grow_cap(size_t cap, size_t need)
{
	size_t next = cap < 8 ? 16 : cap + cap / 2;
	return next < need ? need : next;
}

const char *slice_find(struct slice a, const char *s) { return a.n ? memmem(a.p, a.n, s, strlen(s)) : NULL; }

struct slice slice_until(struct slice a, const char *s)
{
	const char *p = slice_find(a, s);
	return p ? slice_of(a.p, (size_t)(p - a.p)) : a;
}

struct slice slice_behind(struct slice a, const char *s)
{
	const char *p = slice_find(a, s);
	return p ? slice_of(p + strlen(s), (size_t)(a.p + a.n - p) - strlen(s)) : slice_of(NULL, 0);
}

size_t utf8_len(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	size_t need = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (n < need)
		return 0;
	for (size_t i = 1; i < need; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return need;
}

size_t text_drives(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	if (p[0] < ' ' || p[0] == 0x7f)
		return 1;
	if (p[0] >= 0x80 && p[0] <= 0x9f) /* invalid UTF-8: C1 as on 8-bit terminals */
		return 1;
	if (n >= 2 && ((p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f) || (p[0] == 0xd8 && p[1] == 0x9c)))
		return 2;
	if (p[0] != 0xe2 || n < 3)
		return 0;
	if (p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xaa && p[2] <= 0xae)))
		return 3;
	return p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9 ? 3 : 0;
}

/* A lower bound on the printable ASCII bytes at the start of text, which need no individual check. */
static size_t text_printable(const char *text, size_t n)
{
	const char *p = text, *end = text + n;
	BYTES16_SKIP(p, end, c, c - 0x20 > 0x5e)
	return (size_t)(p - text);
}

static void clean(char *p, size_t n, bool lines)
{
	for (size_t i = 0, len; (i += text_printable(p + i, n - i)) < n; i += len ? len : 1) {
		bool blank = p[i] == '\t' || p[i] == '\n' || (lines && p[i] == '\r' && i + 1 < n && p[i + 1] == '\n');
		len = blank && lines ? 0 : text_drives(p + i, n - i);
		if (len)
			memset(p + i, blank ? ' ' : '?', len);
		else
			len = utf8_len(p + i, n - i);
	}
}

void clean_text(char *p, size_t n) { clean(p, n, false); }

void clean_lines(char *p, size_t n) { clean(p, n, true); }

bool slice_line(struct slice *rest, struct slice *line)
{
	if (!rest->n)
		return false;
	const char *nl = slice_chr(*rest, '\n');
	size_t n = nl ? (size_t)(nl - rest->p) : rest->n;
	*line = slice_of(rest->p, n);
	size_t used = nl ? n + 1 : n;
	*rest = slice_of(rest->p + used, rest->n - used);
	return true;
}

struct slice slice_trim(struct slice a)
{
	while (a.n && (a.p[0] == ' ' || a.p[0] == '\t' || a.p[0] == '\n' || a.p[0] == '\r'))
		a = slice_of(a.p + 1, a.n - 1);
	while (a.n && (a.p[a.n - 1] == ' ' || a.p[a.n - 1] == '\t' || a.p[a.n - 1] == '\n' || a.p[a.n - 1] == '\r'))
		a.n--;
	return a;
}

bool slice_u64(struct slice a, uint64_t *out)
{
	uint64_t v = 0;
	if (!a.n)
		return false;
	for (size_t i = 0; i < a.n; i++) {
		if (a.p[i] < '0' || a.p[i] > '9' || __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(a.p[i] - '0'), &v))
			return false;
	}
	*out = v;
	return true;
}
