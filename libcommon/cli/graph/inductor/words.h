/* words.h - names and remainders of slices, for the readers of generated code and IR. */
#ifndef PT2_INDUCTOR_WORDS_H
#define PT2_INDUCTOR_WORDS_H
#include "base/base.h"

static inline struct slice after(struct slice s, size_t n) { return slice_of(s.p + n, s.n - n); }

/* The text after the first mark; p is NULL if there is none. */
static inline struct slice behind(struct slice s, const char *mark)
{
	const char *at = slice_find(s, mark);
	return at ? slice_of(at + strlen(mark), (size_t)(s.p + s.n - at) - strlen(mark)) : (struct slice){NULL, 0};
}

/* Cuts letters, digits and _ off the front; empty if there are none. */
static inline struct slice take_word(struct slice *s)
{
	size_t n = 0;
	while (n < s->n && is_name_char(s->p[n]))
		n++;
	struct slice w = slice_of(s->p, n);
	*s = after(*s, n);
	return w;
}

/* The same, but it must not start with a digit. */
static inline struct slice take_name(struct slice *s) { return s->n && is_name_start(*s->p) ? take_word(s) : slice_of(s->p, 0); }

#endif
