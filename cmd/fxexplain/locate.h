/* locate.h - compilers' errors led back to the program, as lines of evidence of the failures that they made.
 *
 *     struct kernelmaps maps = {0};
 *     locate_load(&maps, &facts);        // after load_operands; reads traces and debug folders again, only if there is such an error
 *     explain(&x, &facts);
 *     locate_errors(&x, &maps);
 *     kernelmaps_release(&maps);
 */
#ifndef FXEXPLAIN_LOCATE_H
#define FXEXPLAIN_LOCATE_H
#include "kernel_part.h"

void locate_load(struct kernelmaps *k, const struct facts *f);
void locate_errors(struct explanation *x, const struct kernelmaps *k);

#endif
