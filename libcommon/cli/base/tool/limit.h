/* limit.h - --max NAME=N: counts of a summary checked against limits, with a line for each one exceeded. For tools.
 *
 *     static const struct limit table[] = {{"graph-breaks", "graph breaks"}, {"compile-seconds", "seconds compiling"}};
 *     if (limits_wrong(table, ARRAY_LEN(table), &max, &err) < 0) die_err(&err);     // before anything is read
 *
 *     void places(void *ctx, int k, struct limit_places *p)                        // of row k
 *     {
 *         buf_adds(&p->tmp, "app/m.py:5 in f"); limit_place(p);                    // once per counted item
 *     }
 *     const double count[] = {8, 0.5};                                             // of each row
 *     unsigned over = limits_over(table, ARRAY_LEN(table), &max, count, places, ctx, &lines);
 *     ... lines: "graph breaks: 8, at most 0 allowed: app/m.py:5 in f (3 times) and 5 more\n"
 *
 * Numbers are whole, except for names that end in "-seconds", which may have a fraction.
 */
#ifndef PT2_LIMIT_H
#define PT2_LIMIT_H
#include "base/hash.h"
#include "base/tool/opt.h"

struct limit {
	const char *name, *words;
};
enum { LIMIT_PLACES = 3 }; /* named in a line */
struct limit_places {
	struct intern text;
	uint32_t times[LIMIT_PLACES];
	uint64_t n, shown;
	struct buf tmp; /* the next place is written here */
};

/* -1 and the usage status for a name that is not in the table (the text lists all) or a value that is not a number. */
int limits_wrong(const struct limit *table, size_t n, const struct opt_pairs *max, struct err *err);
/* Adds the text in p->tmp as one more place, and empties tmp. */
void limit_place(struct limit_places *p);
/* Adds a line to `lines` for each entry of max (already checked by limits_wrong()) whose count is larger. Returns how many. */
unsigned limits_over(const struct limit *table, size_t n, const struct opt_pairs *max, const double *count,
		     void (*places)(void *ctx, int k, struct limit_places *p), void *ctx, struct buf *lines);

#endif
