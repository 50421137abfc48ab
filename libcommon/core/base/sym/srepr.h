/* srepr.h - sympy's srepr, in which torch.export writes sizes, as the infix text that symsize_parse reads.
 *
 *     srepr_to_infix(SLICE("Mul(Integer(2), Symbol('s77', integer=True))"), &b, &err)         // (2*s77)
 *     srepr_to_infix(SLICE("FloorDiv(Symbol('s0', integer=True), Integer(2))"), &b, &err)     // FloorDiv(s0, 2)
 *
 * It reads Symbol, Integer, Rational, Float, Add, Mul, Pow, the relations (StrictLessThan(a, b) becomes Lt(a, b)) and
 * calls of any other name, with or without a module in front; symsize decides whether such a call has a value.
 * Source: torch/_export/serde/serialize.py, _print_sympy (2.5 to 2.13); sympy/printing/repr.py. Until 2.4 torch wrote
 * str(expr), which needs no translation: srepr_like detects that.
 *
 * Untrusted: no recursion; at most SYMSIZE_MAX_DEPTH levels and SYMSIZE_MAX_TEXT bytes of result. Failure: -1 and err
 * (EXIT_INPUT) with the offset; *out is then unchanged.
 */
#ifndef PT2_SREPR_H
#define PT2_SREPR_H
#include "base/sym/symsize.h"

bool srepr_like(struct slice text);
int srepr_to_infix(struct slice text, struct buf *out, struct err *err);

#endif
