/* parts.h - the files that are installed beside the programs, in ../lib/pt2utils: pt2-runner, libpt2shim.so, libpt2probe.so.
 *
 *     char path[PATH_MAX];
 *     if (part_find("PT2_RUNNER", "pt2-runner", path, &err) < 0) ...
 *
 * An environment variable that is set names the file (tests, builds that are not installed). path is whole, without links.
 * Failure: -1, EXIT_ENVIRON; it names the file and what has left it out. */
#ifndef PT2_PARTS_H
#define PT2_PARTS_H
#include "base/base.h"

#include <limits.h>

int part_find(const char *variable, const char *name, char path[PATH_MAX], struct err *err);

#endif
