/* limit.h - --max NAME=N: counts of a summary held against what is wanted, a line for each that is passed. For tools.
 *
 *     static const struct limit table[] = {{"graph-breaks", "graph breaks"}, {"compile-seconds", "seconds compiling"}};
 *     if (limits_wrong(table, ARRAY_LEN(table), &max, &err) < 0) die_err(&err);     // before anything is read
 *
 *     int k = limit_find(table, ARRAY_LEN(table), max.v[i].name);
 *     if (limit_passed(&table[k], count, max.v[i].value)) {
 *         struct limit_places p = {0};
 *         buf_adds(&p.tmp, "app/m.py:5 in f"); limit_place(&p);                      // once per thing that was counted
 *         limit_text(&b, &table[k], count, max.v[i].value, &p);  // graph breaks: 8, at most 0 wanted: app/m.py:5 in f (3 times) and 5 more
 *         limit_places_release(&p);
 *     }
 *
 * Numbers are whole, but for names that end in "-seconds", which may have a fraction.
 */
#ifndef PT2_LIMIT_H
#define PT2_LIMIT_H
#include "base/hash.h"
#include "base/opt.h"

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

/* The row, or -1. */
int limit_find(const struct limit *table, size_t n, struct slice name);
/* -1 and the usage status for a name that is not in the table (the text lists all) or a value that is no number. */
int limits_wrong(const struct limit *table, size_t n, const struct opt_pairs *max, struct err *err);
bool limit_passed(const struct limit *l, double got, const char *want);
bool limit_is_seconds(const struct limit *l);
/* What stands in p->tmp is one more place; tmp is emptied. */
void limit_place(struct limit_places *p);
void limit_text(struct buf *b, const struct limit *l, double got, const char *want, const struct limit_places *p);
void limit_places_release(struct limit_places *p);

#endif
