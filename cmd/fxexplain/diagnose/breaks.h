/* breaks.h - what to change where a graph breaks: share/breaks/fixes.txt (its head says how entries are written).
 *
 *     struct slice fix = break_fix(&x, b->gb, text, n);   // lines, best first; empty when nothing is known
 */
#ifndef PT2_BREAKS_H
#define PT2_BREAKS_H
#include "diagnose/finding.h"

struct slice break_fix(struct explanation *x, int gb, const struct slice *text, unsigned n);
/* One fix of a text: by number (-1: none), else by what stands in it. All entries of `table` are looked at in order. */
struct slice break_fix_find(struct slice table, int gb, struct slice text, struct buf *out);

#endif
