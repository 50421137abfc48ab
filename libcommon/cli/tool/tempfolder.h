/* tempfolder.h - private folders for the time that a tool runs.
 *
 *     char *folder = temp_folder(TEMP_RUN, &err);      // "/tmp/pt2run.k3Xz9q", mode 0700
 *     if (!folder) die_err(&err);
 *     ...
 *     temp_folder_remove(folder);                      // with all that is in it; die() does it, too
 *
 * They lie where temporary files do (io/tempfile.h). The path is absolute: commands that are started elsewhere find it.
 *
 * kill -9 leaves them. So each holds a file (TEMP_MARK) that its owner keeps locked, and the next that makes one removes those of the
 * same user in the same folder whose lock is free. It is the lock that tells, never the age; what has no such file, or a name that is not
 * ours, is not touched. A folder gets its name after its mark, so that a kill in between leaves none that nobody removes; until then it
 * is called ".pt2utils-new.*", and so is one that is being removed, once its mark alone is left. The mark holds the kernel's boot id:
 * where machines share a TMPDIR (NFS, Lustre), locks need not be seen from one to the other, and only folders that this running kernel
 * knows of are judged.
 *
 * Belongs to the tools: it keeps a list of folders for the end. Not for several threads.
 */
#ifndef PT2_TEMPFOLDER_H
#define PT2_TEMPFOLDER_H
#include "io/tempfile.h"

#define TEMP_MARK ".pt2utils" /* no name of a model's file begins with a dot (live/run.c) */

enum temp_kind { TEMP_PRINTER, TEMP_NANASSERT, TEMP_EXPLAIN, TEMP_MINIFY, TEMP_VERIFY, TEMP_RUN, TEMP_LIVE };

/* NULL: EXIT_ENVIRON, the text names the folder and the variable. */
char *temp_folder(enum temp_kind kind, struct err *err);
/* NULL is none. Frees the path. */
void temp_folder_remove(char *path);

#endif
