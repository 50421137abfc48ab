/* release.h - what applies to some releases of torch only: tables of share/, selected by the torch that a log names.
 *
 *     # Settings of torch 2.9, 2.13, 2.14, 2.15 ...           first line: the releases examined (scripts/gen-config-defaults)
 *     torch._dynamo.config.x = 1                              in all of them
 *     2.9 2.14:2.15 torch._dynamo.config.y = 2                in 2.9, and from 2.14 to 2.15
 *
 * share/explain/defaults.txt holds settings, share/breaks/names.txt the names that fixes and hints use (scripts/gen-fix-names): a line with
 * a name that the log's torch does not have is not shown (explain_release, one of the analyses of finding.h).
 */
#ifndef PT2_RELEASE_H
#define PT2_RELEASE_H
#include "run/diagnose/finding.h"

extern const char *const release_module[CONFIG_TEXTS]; /* "torch._dynamo.config", ... */

/* 15 for a log of torch 2.15. A log that names no release (before 2.10) counts as the one whose defaults its settings match; 0: unknown. */
unsigned release_of(const struct facts *f);
/* The newest release in the table's first line that is not newer than this one; else the first. */
unsigned release_known(struct slice head, unsigned minor);
/* Does the line apply to this release? *line is advanced past the releases. */
bool release_has(struct slice *line, unsigned release);
/* Adds the names of a table that torch 2.MINOR does not have to out, one per line. Between two releases that the table covers: those that
 * neither has. */
FOR_TESTS void release_missing(struct slice table, unsigned minor, struct buf *out);
/* The lines of a text that contain none of these names. In tmp if some were dropped. */
FOR_TESTS struct slice release_lines(struct slice text, struct slice missing, struct buf *tmp);

#endif
