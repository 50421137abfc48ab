/* base.h - what every file includes first: errors, memory policy, banned functions.
 *
 * Memory policy (the whole of it):
 *  - x*alloc never return NULL: running out of memory ends the process with one line and status 4. It is the only
 *    case in which the library ends a process.
 *  - growth is overflow-checked (xreallocarray); arrays that grow are referred to by index, not by pointer.
 *  - what lives as long as a document lives in its `struct arena` and is freed in one call.
 *
 * Errors: a library function that can fail returns 0/-1 (or a pointer/NULL) and fills a `struct err`, whose text says
 * what failed, where (file and offset or line) and why. It never prints. The tool decides what to do with it:
 *
 *     struct err err;
 *     if (trace_open(&t, path, &err) < 0)
 *         die_err(&err);                // prints err.text, exits with err.status
 */
#ifndef PT2_BASE_H
#define PT2_BASE_H

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* Marks a declaration that only the tests and fuzzers call from another file (lint checks). */
#define FOR_TESTS
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Exit statuses of all tools (CONVENTIONS, rule 6). */
enum exit_status {
	EXIT_FINE = 0,    /* done, nothing found */
	EXIT_FOUND = 1,   /* the tool found what it was looking for: a mismatch, a NaN, a divergence */
	EXIT_USAGE = 2,   /* invalid command line */
	EXIT_INPUT = 3,   /* an input cannot be read or is malformed */
	EXIT_ENVIRON = 4, /* the environment: no permission, disk full, missing program */
	EXIT_PARTIAL = 5, /* inconclusive or only partly checked: something is unsupported or could not be examined */
};

struct err {
	enum exit_status status;
	char text[1024];
};

/* Fill *e (which may be NULL) and return -1, so that callers can `return err_set(...)`. */
int err_set(struct err *e, enum exit_status status, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The same with ": strerror(errno)" appended. */
int err_errno(struct err *e, enum exit_status status, const char *fmt, ...) PRINTF_LIKE(3, 4);

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Before a local variable: releases it at the end of its block, however the block is left. FREED: a pointer. LOCAL_BUF: base/buf.h.
 *
 *     OWNED(intern_release) struct intern seen = {0};
 *     FREED char *name = xstrndup(path.p, path.n);
 */
#define OWNED(release) __attribute__((cleanup(release)))
#define FREED OWNED(free_local)
static inline void free_local(void *pointer)
{
	void *p;
	memcpy(&p, pointer, sizeof(p));
	free(p);
}

/* Grow array `a` (with its count n and capacity cap) so that it holds at least n + more elements. */
#define GROW(a, n, cap, more) \
	do { \
		if ((size_t)(cap) < (size_t)(n) + (size_t)(more)) { \
			(cap) = grow_cap((cap), (size_t)(n) + (size_t)(more)); \
			(a) = xreallocarray((a), (cap), sizeof(*(a))); \
		} \
	} while (0)
size_t grow_cap(size_t cap, size_t need);
/* Appends an element to such an array and counts it: PUSH_TO(l->row, l->n, l->cap) = row. Valid until the next push. The assigned
 * expression must neither read this array nor push to it: C does not specify which side is evaluated first. Rows of a struct:
 * base/rows.h. */
#define PUSH_TO(a, n, cap) \
	(*({ \
		GROW(a, n, cap, 1); \
		&(a)[(n)++]; \
	}))

#define NONE UINT32_MAX /* no index, row or id (base/hash.h) */

/* A slice of text, owned elsewhere. Not NUL-terminated. */
struct slice {
	const char *p;
	size_t n;
};
#define SLICE(lit) ((struct slice){(lit), sizeof(lit) - 1})
/* For "%.*s": the whole slice, and at most its first `max` bytes:
 *
 *     buf_addf(&b, "%.*s: %.*s", SL(name), SLN(line, 200));
 *
 * s is evaluated twice: pass a variable or a lookup (graph_text(g, id)), never a call with side effects. p of an empty slice may be NULL:
 * it prints as "" (glibc does so too, but gcc warns when it sees the NULL). SL is bounded because a precision is an int. */
#define SL(s) SLN(s, INT_MAX)
#define SLN(s, max) slice_prec((s).n, (max)), slice_text((s).p)
static inline const char *slice_text(const char *p) { return p ? p : ""; }
static inline int slice_prec(size_t n, size_t max) { return (int)(n < max ? n : max); }
static inline struct slice slice_of(const char *p, size_t n) { return (struct slice){p, n}; }
static inline struct slice slice_str(const char *s) { return (struct slice){s, strlen(s)}; }
static inline bool slice_eq(struct slice a, struct slice b) { return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n)); }
static inline bool slice_is(struct slice a, const char *s) { return a.n == strlen(s) && (!a.n || !memcmp(a.p, s, a.n)); }
static inline bool slice_starts(struct slice a, const char *s)
{
	size_t n = strlen(s);
	return a.n >= n && (!n || !memcmp(a.p, s, n));
}
static inline bool slice_ends(struct slice a, const char *s)
{
	size_t n = strlen(s);
	return a.n >= n && (!n || !memcmp(a.p + a.n - n, s, n));
}
/* Like memcmp() over the common length, then the shorter one first. */
static inline int slice_cmp(struct slice a, struct slice b)
{
	const size_t n = a.n < b.n ? a.n : b.n;
	const int r = n ? memcmp(a.p, b.p, n) : 0;
	return r ? r : (a.n > b.n) - (a.n < b.n);
}
/* The first and the last c, or NULL. */
static inline const char *slice_chr(struct slice s, char c) { return s.n ? memchr(s.p, c, s.n) : NULL; }
static inline const char *slice_rchr(struct slice s, char c) { return s.n ? memrchr(s.p, c, s.n) : NULL; }
/* First occurrence of s in a, or NULL. */
const char *slice_find(struct slice a, const char *s);
static inline bool slice_has(struct slice a, const char *s) { return slice_find(a, s) != NULL; }
/* Does the test hold for any of an array of words? slice_any(name, words, slice_is); likewise slice_starts, slice_ends, slice_has. */
#define slice_any(a, words, how) slice_any_of((a), (words), ARRAY_LEN(words), how)
static inline bool slice_any_of(struct slice a, const char *const *word, size_t n, bool (*how)(struct slice a, const char *s))
{
	for (size_t i = 0; i < n; i++)
		if (how(a, word[i]))
			return true;
	return false;
}
/* The part of a before the first s (all of a if there is none), and the part after it (empty, with p NULL, if there is none). */
struct slice slice_until(struct slice a, const char *s);
struct slice slice_behind(struct slice a, const char *s);
/* Cut the next line (without its newline) off *rest; false when nothing is left. */
bool slice_line(struct slice *rest, struct slice *line);
/* Length in bytes of the UTF-8 character at p; 0 if none starts there. n >= 1. */
size_t utf8_len(const char *p, size_t n);
/* Length in bytes of the character at p if it could control a terminal or reorder text, else 0: control bytes, C1 (U+0080 to U+009F, and
 * bytes 80 to 9f outside valid UTF-8), and characters that change the writing direction (Bidi_Control of Unicode: U+061C, U+200E, U+200F,
 * U+202A to U+202E, U+2066 to U+2069), so that no name can pose as another. n >= 1. */
size_t text_drives(const char *p, size_t n);
/* Makes text from a file safe for a terminal: characters of text_drives() become '?', tabs and line ends ' '. */
void clean_text(char *p, size_t n);
/* The same for a whole text before it goes to a terminal or a text file (screen_write()): line ends (also CR LF) and tabs
 * stay. */
void clean_lines(char *p, size_t n);
/* Up to the first newline. */
static inline struct slice slice_first_line(struct slice a)
{
	struct slice line = a;
	return a.n && slice_line(&a, &line) ? line : a;
}
struct slice slice_trim(struct slice a);
/* ASCII only, whatever the locale. A name is a letter or '_' followed by letters, digits and '_'. */
/* -1: none */
static inline int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
static inline bool is_digit(int c) { return c >= '0' && c <= '9'; }
static inline bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static inline bool is_name_start(int c) { return is_letter(c) || c == '_'; }
static inline bool is_name_char(int c) { return is_name_start(c) || is_digit(c); }
/* Decimal digits only, no sign; false on overflow or anything else. */
bool slice_u64(struct slice a, uint64_t *out);

/* The greatest common divisor; gcd(0, n) is n. */
static inline uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t r = a % b;
		a = b;
		b = r;
	}
	return a;
}

/* Functions that have caused bugs in other projects; use buf_addf, slices, slice_u64 instead. Using one does not compile. */
#define PT2_BANNED(f) pt2_##f##_is_banned
#undef strcpy
#undef strcat
#undef strtok
#define strcpy(a, b) PT2_BANNED(strcpy)
#define strcat(a, b) PT2_BANNED(strcat)
#define strtok(a, b) PT2_BANNED(strtok)
#define sprintf(...) PT2_BANNED(sprintf)
#define vsprintf(...) PT2_BANNED(vsprintf)
#define atoi(a) PT2_BANNED(atoi)
#define atol(a) PT2_BANNED(atol)
#define atof(a) PT2_BANNED(atof)

#endif
