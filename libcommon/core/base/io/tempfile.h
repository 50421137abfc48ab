/* tempfile.h - unlinked files for what does not go into memory.
 *
 *     int fd = temp_file(&err);
 *     char name[TEMP_NAME];
 *     if (fd < 0 || write_all(fd, p, n, temp_file_name(name), &err) < 0) return temp_failed(&err);
 *
 * They lie in $TMPDIR, which may be relative, else in /tmp.
 */
#ifndef PT2_TEMPFILE_H
#define PT2_TEMPFILE_H
#include <limits.h>

#include "base/base.h"

#define TEMP_LONGEST 480 /* bytes of a path in it */
#define TEMP_NAME (TEMP_LONGEST + 32)
#define TEMP_RANDOM "XXXXXX"

/* -1: EXIT_ENVIRON, the text names the folder and the variable. */
int temp_file(struct err *err);
/* Of a process that may open nothing for writing: who makes the file for it (broker.h of the programs). NULL: temp_file() does. */
extern int (*temp_file_elsewhere)(struct err *err);
/* The name that messages give such a file: "/tmp/(temporary file)". Returns name. */
const char *temp_file_name(char name[TEMP_NAME]);
/* After a failure in such a file or folder (no room, nothing may be executed), adds to err's text, once, how to have another. Returns
 * -1. */
int temp_failed(struct err *err);
/* The folder in which they are made, absolute; longest: where it has more bytes (0: any number), /tmp. */
int temp_place(size_t longest, char path[PATH_MAX], struct err *err);

#endif
