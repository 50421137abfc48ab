/* sourcefile.h - the user's source file that a log names, on this machine.
 *
 *     FREED char *path = source_here("/home/ann/app/m.py");  // "m.py", "app/m.py", the path itself; NULL: it is not here
 *
 * A log may come from elsewhere: a file below the working directory is found by the longest end of its path that exists there.
 */
#ifndef PT2_SOURCEFILE_H
#define PT2_SOURCEFILE_H
#include "base/base.h"

/* Does a path have a ".." that could lead out of the folder? */
bool source_leads_out(const char *path);
/* Relative to the working directory, if it lies below it or its end does; part of `path`, or NULL. For absolute paths. */
const char *source_relative(const char *path);
/* The above, or an absolute path that exists; free() it. */
char *source_here(const char *path);

#endif
