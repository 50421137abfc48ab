/* release.h - what is of some releases of torch and not of others: tables of share/, chosen by the torch that a log names.
 *
 *     # Settings of torch 2.9, 2.13, 2.14, 2.15 ...           first line: the releases that were asked (scripts/gen-config-defaults)
 *     torch._dynamo.config.x = 1                              of all of them
 *     2.9 2.14:2.15 torch._dynamo.config.y = 2                of 2.9, and of those from 2.14 to 2.15
 *
 * share/explain/defaults.txt holds settings, share/breaks/names.txt what fixes and hints name (scripts/gen-fix-names): a line of these that
 * names what the log's torch does not have is not shown (explain_release, one of the analyses of finding.h).
 */
#ifndef PT2_RELEASE_H
#define PT2_RELEASE_H
#include "run/diagnose/finding.h"

extern const char *const release_module[CONFIG_TEXTS]; /* "torch._dynamo.config", ... */

/* 15 of a log of torch 2.15. One that names none (before 2.10) is of the release whose defaults its settings are; 0: not known. */
unsigned release_of(const struct facts *f);
/* Of the releases that the table's first line names, the newest that is not newer than this one; else the first. */
unsigned release_known(struct slice head, unsigned minor);
/* Is the line of this release? What stands behind the releases is left in *line. */
bool release_has(struct slice *line, unsigned release);
/* The names of a table that torch 2.MINOR does not have, a line each, are added to out. Between two releases that the table knows: that
 * neither has. */
FOR_TESTS void release_missing(struct slice table, unsigned minor, struct buf *out);
/* The lines of a text that name none of these. In tmp where that is less. */
FOR_TESTS struct slice release_lines(struct slice text, struct slice missing, struct buf *tmp);

#endif
