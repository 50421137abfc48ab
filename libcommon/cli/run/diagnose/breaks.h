/* breaks.h - what to change at a graph break: share/breaks/fixes.txt (its header documents the format).
 *
 *     struct slice fix, hint;
 *     break_fix(&x, b->gb, text, n, file, &fix, &hint);   // lines, best first; empty when no fix is known
 */
#ifndef PT2_BREAKS_H
#define PT2_BREAKS_H
#include "run/diagnose/finding.h"
#include "run/text.h"

/* A file of torch, of an installed package or of Python: the user cannot change its lines. */
bool break_is_foreign(struct slice file);
/* file: where it breaks. The user cannot change a line of torch or of a package: then only settings are offered, and a hint says so. */
void break_fix(struct explanation *x, int gb, const struct slice *text, unsigned n, struct slice file, struct slice *fix,
	       struct slice *hint);
/* The first matching entry of `table`: by number (-1: none), else by words found in the text; without changes of the line where the file
 * is foreign. False: none matches. */
FOR_TESTS bool break_fix_find(struct slice table, int gb, struct slice text, bool foreign, struct buf *fix, struct buf *hint);
/* torch's own hints, those that say what to change come first. */
struct slice break_hints(struct explanation *x, const struct break_text *text);

#endif
