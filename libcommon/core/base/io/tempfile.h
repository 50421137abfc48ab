/* tempfile.h - unlinked files for data that does not fit in memory.
 *
 *     int fd = temp_file(&err);
 *     char name[TEMP_NAME];
 *     if (fd < 0 || write_all(fd, p, n, temp_file_name(name), &err) < 0) return temp_failed(&err);
 *
 * They are in $TMPDIR, which may be relative, else in /tmp.
 */
#ifndef PT2_TEMPFILE_H
#define PT2_TEMPFILE_H
#include <limits.h>

#include "base/base.h"

#define TEMP_LONGEST 480 /* longest path in it, in bytes */
#define TEMP_NAME (TEMP_LONGEST + 32)
#define TEMP_RANDOM "XXXXXX"

/* -1: EXIT_ENVIRON, the text names the directory and the variable. */
int temp_file(struct err *err);
/* For a process that must not open files for writing: creates the file in its place (broker.h of the programs). NULL: temp_file() does
 * it itself. */
extern int (*temp_file_elsewhere)(struct err *err);
/* The name of such a file in messages: "/tmp/(temporary file)". Returns name. */
const char *temp_file_name(char name[TEMP_NAME]);
/* After a failure in such a file or directory (no space left, mounted noexec), adds to err's text, once, how to use another directory.
 * Returns -1. */
int temp_failed(struct err *err);
/* The absolute path of the directory for temporary files; /tmp if it is longer than `longest` bytes (0: no limit). */
int temp_place(size_t longest, char path[PATH_MAX], struct err *err);

#endif
