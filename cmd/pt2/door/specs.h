/* specs.h - inputs that a compiled model takes, where the user gave none: specs (f32[8,10]) out of its contract.
 *
 *     struct specs s = {0};
 *     if (specs_make(&s, document))            // what aoti-checkinputs --json printed; false: a size is not known
 *         s.v[0]                               // "f32[8,10]"
 *     specs_release(&s);
 *
 * A symbol is 8, or the number in its range that is nearest. The values are what the tools make of a spec: the same each time.
 */
#ifndef PT2_SPECS_H
#define PT2_SPECS_H
#include "base/base.h"

struct specs {
	char **v;
	size_t n, cap;
};
bool specs_make(struct specs *s, struct slice document);
void specs_release(struct specs *s);

#endif
