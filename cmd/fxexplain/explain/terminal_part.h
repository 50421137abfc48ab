/* terminal_part.h - shared by terminal.c (one screen) and terminal_parts.c (sections in full). */
#ifndef TERMINAL_PART_H
#define TERMINAL_PART_H
#include "explain/explain.h"

enum { LABEL = 12 }; /* columns of "  cost      " */

struct page {
	struct screen *s;
	const struct explanation *x;
	const struct explain_options *opt;
	struct arena arena;
	bool small; /* the terminal has few rows */
	int bar;    /* columns of a bar */
};

/* "  fix       one line" and further lines below, each wrapped. At most max lines of the text, and one more if it would only make room for
 * the note that lines are left out. */
void terminal_lines(struct page *p, const char *label, struct slice text, unsigned max);
/* "app/m.py:5 in f"; valid as long as the page. */
struct slice terminal_place(struct page *p, const struct fact_loc *loc);
/* Is it in --show, or in --all if that includes it? */
bool terminal_wants(const struct page *p, enum explain_part part, bool in_all);
void terminal_parts(struct page *p);

#endif
