/* parts.h - what is installed with a program: the other tools, and in ../lib/pt2utils pt2-runner, libpt2shim.so, libpt2probe.so,
 * libpt2alloc.so.
 *
 *     char path[PATH_MAX];
 *     if (part_find("PT2_RUNNER", "pt2-runner", path, &err) < 0) ...
 *
 * If the environment variable is set, it names the file (tests, builds that are not installed). path is absolute, without links.
 * Failure: -1, EXIT_ENVIRON; the text names the file and a possible reason. */
#ifndef PT2_PARTS_H
#define PT2_PARTS_H
#include "base/base.h"

#include <limits.h>

int part_find(const char *variable, const char *name, char path[PATH_MAX], struct err *err);
/* libpt2probe.so for LD_PRELOAD, which cannot quote a colon or a space: if its path holds one, links to it and to libpt2alloc.so in
 * that folder (NULL: a temporary one). */
int part_probe(const char *folder, char path[PATH_MAX], struct err *err);
/* libpt2alloc.so, which is beside that: its path. The caller frees it. */
char *part_alloc(const char *probe);

/* Another tool: beside this program, under its name or as pt2-NAME (in a wheel), else in PATH; NULL if there is none. free() it. */
char *tool_find(const char *name);
/* NULL: EXIT_ENVIRON, in err; or the end of this program. */
char *tool_need(const char *name, struct err *err);
char *tool_or_die(const char *name);

#endif
