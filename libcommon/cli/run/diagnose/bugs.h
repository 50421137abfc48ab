/* bugs.h - known bugs of torch: a table of public threads, compared with what a failure says and with the run's release.
 *
 *     share/known/inductor.txt:
 *
 *     bug: 149307                         pytorch#149307. An entry ends at a blank line; lines that start with # are comments
 *     match: in isin                      occurs in the failure's message or traceback; * stands for any text within the line
 *     match: AssertionError               all of them must occur
 *     not: aten.isin.default              must not occur
 *     first: 2.6                          the oldest release known to have it; omitted: not known
 *     last: 2.7                           the newest release known to have it; omitted: not known
 *     fixed: 2.8                          the oldest release known to be without it (2.9.1: a patch release); omitted: not known
 *     what: isin of a number fails ...    one sentence
 *     until: ...                          the workaround
 *
 * A match is never a verdict: it is added to the finding of the failure, as "likely", and changes nothing that was seen. A release that
 * is older than `first` counts as having the bug: `first` is only the oldest that was tried or reported. Between `last` and `fixed` it is
 * not known.
 */
#ifndef PT2_BUGS_H
#define PT2_BUGS_H
#include "run/diagnose/finding.h"

enum { BUG_LINES = 6, BUGS_SHOWN = 3 }; /* BUGS_SHOWN: of a finding */

struct bug {
	struct slice number, what, until, first, last, fixed;
	struct slice match[BUG_LINES], without[BUG_LINES];
	uint32_t matches, withouts;
};

/* Where the run's release is. */
enum bug_state {
	BUG_UNKNOWN, /* the run's release is not known, or newer than the last one known to have it */
	BUG_HERE,    /* this release has it */
	BUG_FIXED,   /* this release has the fix: another cause, or it is back */
};
extern const char *const bug_state_name[3]; /* "unknown", "here", "fixed" */

/* The next entry of a table; false at the end. */
bool bug_next(struct slice *table, struct bug *b);
/* Do all match lines, and no `not` line, occur in the text? False if it has no match lines. */
bool bug_matches(const struct bug *b, struct slice text);
/* Release "2.9.1+cu128"; empty: unknown. */
enum bug_state bug_state(const struct bug *b, struct slice release);
/* "fixed in 2.8 (pytorch#149307): isin of a number ... until then: ..."; "fixed by 2.11" if it is not known which of several releases. */
void bug_put(struct buf *out, const struct bug *b, enum bug_state state);

/* A bug that a finding looks like: a row of x->bug; finding.first_bug, .n_bug. */
struct bug_hit {
	struct bug bug;
	enum bug_state state;
};
/* The lines for people, appended to b: one per bug, "known: " is before them. */
void explain_bug_lines(const struct explanation *x, const struct finding *g, struct buf *b);
FOR_TESTS bool bug_occurs(struct slice text, struct slice what);

#endif
