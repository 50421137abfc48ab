/* breaks.h - what to change where a graph breaks: share/breaks/fixes.txt (its head says how entries are written).
 *
 *     struct slice fix, hint;
 *     break_fix(&x, b->gb, text, n, file, &fix, &hint);   // lines, best first; empty when nothing is known
 */
#ifndef PT2_BREAKS_H
#define PT2_BREAKS_H
#include "run/diagnose/finding.h"
#include "run/text.h"

/* A file of torch, of an installed package or of Python: nobody changes its lines. */
bool break_is_foreign(struct slice file);
/* file: where it breaks. In one of torch's or of a package nobody changes the line: settings are left, and a hint that says so. */
void break_fix(struct explanation *x, int gb, const struct slice *text, unsigned n, struct slice file, struct slice *fix,
	       struct slice *hint);
/* The first entry of `table` that fits: by number (-1: none), else by what stands in the text; without changes of the line where it is
 * foreign. False: there is none. */
FOR_TESTS bool break_fix_find(struct slice table, int gb, struct slice text, bool foreign, struct buf *fix, struct buf *hint);
/* torch's own hints, those that say what to change first. */
struct slice break_hints(struct explanation *x, const struct break_text *text);

#endif
