/* ignore.h - findings that the user has seen and does not want to see again: silenced at their line, or by the settings.
 *
 *     y = x.sum().item()       # pt2: ignore GB0124
 *     # pt2: ignore GB0124, recompile -- warm-up only
 *     y = step(x)
 *     z = f(x)                 # pt2: ignore
 *
 * A comment silences what is found at its own line, at a line of the same statement (brackets), at the function whose head it is in,
 * and, on a line of its own, at the line below. Ids are those of findings (GB0124, recompile, a pattern's) and kinds (graph-break); none
 * means all. The line is what the log quotes; where it quotes none, or no comment, that of the file on this machine, if it still has the
 * line that the log quotes.
 *
 * Such findings are in x->ignored, not in x->finding, and count in nothing that fails a run (limits.h, baselines); every emitter says how
 * many they are. An error that is a failure, and damage of the input, cannot be ignored.
 */
#ifndef PT2_IGNORE_H
#define PT2_IGNORE_H
#include "run/diagnose/finding.h"

/* Rules of the settings: they must outlive all explanations. */
struct ignore_rule {
	const char *id;   /* "GB0124", "graph-break" */
	const char *file; /* a glob over the path or its end: "legacy.py"; NULL: any file */
	const char *from; /* "pyproject.toml:12": what is said of it */
};
void ignore_by(const struct ignore_rule *rule, size_t n);

/* Marks findings (.ignored) and counts their breaks and recompiles; explain() calls it before it orders them. */
void explain_ignore(struct explanation *x);
/* Is this a comment that silences `id` or `kind`? */
FOR_TESTS bool ignore_line(struct slice line, struct slice id, struct slice kind);
/* "2 findings ignored: GB0124 at m.py:5 (# pt2: ignore), recompile at m.py:9 (pyproject.toml:3)", at most `most` of them; nothing if none
 * is. */
void ignore_text(struct buf *b, const struct explanation *x, uint32_t most);

#endif
