/* settled.h - what the project's settings (base/tool/settings.h) say about explanations: limits, ignored findings, patterns.
 *
 *     settled(&opt.max, &opt.patterns);       // after the options and the seal; ends with EXIT_USAGE and the line where they are wrong
 *
 * An option comes first: a limit of --max keeps its number, --patterns its directory.
 */
#ifndef PT2_SETTLED_H
#define PT2_SETTLED_H
#include "base/tool/opt.h"

/* patterns: NULL where the tool has no such option. */
void settled(struct opt_pairs *max, const char **patterns);

#endif
