/* data_guard.h - a decision on a number read from a tensor (GuardOnDataDependentSymNode): the fix, made of the expression itself.
 *
 *     struct data_guard d;
 *     if (data_guard_find(x, reason, code, &d)) ...   // reason: the exception's message; code: the user's line, may be empty
 *
 * The forms of torch 2.1 to 2.15 (torch/fx/experimental/symbolic_shapes.py):
 *
 *     Could not guard on data-dependent expression Eq(u0, 4) (unhinted: Eq(u0, s27)).  (Size-like symbols: none)
 *     Could not extract specialized integer from data-dependent expression u0 (unhinted: u0).  (Size-like symbols: none)
 *     Caused by: (app/m.py:6 in forward) */
#ifndef PT2_DATA_GUARD_H
#define PT2_DATA_GUARD_H
#include "run/diagnose/finding.h"

struct data_guard {
	struct slice why, fix, hint; /* lines; fix is empty where no assertion helps: the line needs a plain number */
};
bool data_guard_find(struct explanation *x, struct slice reason, struct slice code, struct data_guard *out);

#endif
