/* unified.h - two versions of a file as a unified diff: what patch(1) and git apply read.
 *
 *     unified_diff(&b, "app/m.py", before, after);     // "--- a/app/m.py\n+++ b/app/m.py\n@@ -1,3 +1,4 @@\n..."
 *
 * Three lines of context. A last line without newline is followed by "\ No newline at end of file" (GNU diffutils, "Detailed Description of
 * Unified Format"). The name has no control characters, quotes and backslashes; if it contains a space, a tab follows it, as git does.
 */
#ifndef PT2_UNIFIED_H
#define PT2_UNIFIED_H
#include "base/buf.h"

/* A diff for people to read: only its hunks. */
void unified_hunks(struct buf *b, struct slice before, struct slice after);
void unified_diff(struct buf *b, const char *name, struct slice before, struct slice after);
#endif
