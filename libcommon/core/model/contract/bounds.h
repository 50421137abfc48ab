/* bounds.h - the ranges of symbols, and of sums of them.
 *
 *     struct bounds b = {0};
 *     bounds_set(&b, s77, (struct symrange){2, 64, false, false});
 *     bounds_size(&b, &tab, size);             // of 2*s77 + 1: 5..129
 *     bounds_release(&b);
 *
 * Sums of multiples of symbols get their bounds from each symbol alone; every other expression (s0//2, s0*s1) is unbounded here,
 * SYMRANGE_ALL, as are a symbol that was not set and ends beyond int64.
 */
#ifndef PT2_BOUNDS_H
#define PT2_BOUNDS_H
#include "base/sym/symsize.h"

#define BOUNDS_MAX_SYMBOLS 64 /* in one size; one with more has no bounds */

struct bounds {
	struct symbind at; /* symbol -> index into v */
	struct symrange *v;
	uint32_t n, cap;
	struct symbind env; /* empty between calls; kept for its memory */
};

void bounds_set(struct bounds *b, uint32_t symbol, struct symrange range);
void bounds_release(struct bounds *b);
struct symrange bounds_symbol(const struct bounds *b, uint32_t symbol);
/* An integer has no bounds either: it is its own value. */
struct symrange bounds_size(struct bounds *b, struct symtab *tab, struct symsize s);

#endif
