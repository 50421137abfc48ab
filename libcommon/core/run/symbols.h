/* symbols.h - names of symbols in the expressions that torch writes: s77, u0, zf3 (torch/utils/_sympy/symbol.py).
 *
 *     struct slice rest = SLICE("Eq(s77, Max(1, u0))"), symbol;
 *     while (symbol_next(&rest, &symbol))          // s77, then u0
 *         ...
 */
#ifndef PT2_SYMBOLS_H
#define PT2_SYMBOLS_H
#include "base/base.h"

/* Cut the next one off *rest; false: no more. */
bool symbol_next(struct slice *rest, struct slice *symbol);
static inline bool symbol_unbacked(struct slice symbol) { return symbol.n && (symbol.p[0] == 'u' || (symbol.n > 1 && symbol.p[1] == 'u')); }

#endif
