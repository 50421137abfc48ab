/* words.h - names and rests of slices, for the readers of generated code and IR. */
#ifndef PT2_INDUCTOR_WORDS_H
#define PT2_INDUCTOR_WORDS_H
#include "base/base.h"

static inline bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static inline bool name_char(char c) { return name_start(c) || (c >= '0' && c <= '9'); }
static inline struct slice after(struct slice s, size_t n) { return slice_of(s.p + n, s.n - n); }

/* What stands behind the first mark; p NULL where there is none. */
static inline struct slice behind(struct slice s, const char *mark)
{
	const char *at = slice_find(s, mark);
	return at ? slice_of(at + strlen(mark), (size_t)(s.p + s.n - at) - strlen(mark)) : (struct slice){NULL, 0};
}

/* Cut letters, digits and _ off; empty when there are none. */
static inline struct slice take_word(struct slice *s)
{
	size_t n = 0;
	while (n < s->n && name_char(s->p[n]))
		n++;
	struct slice w = slice_of(s->p, n);
	*s = after(*s, n);
	return w;
}

/* The same for what begins with no digit. */
static inline struct slice take_name(struct slice *s) { return s->n && name_start(*s->p) ? take_word(s) : slice_of(s->p, 0); }

#endif
