/* tempfolder.h - private folders for the lifetime of a tool.
 *
 *     char *folder = temp_folder(TEMP_RUN, &err);      // "/tmp/pt2run.k3Xz9q", mode 0700
 *     if (!folder) die_err(&err);
 *     ...
 *     temp_folder_remove(folder);                      // with its contents; die() does it, too
 *
 * They are where temporary files are (base/io/tempfile.h). The path is absolute: commands started in another directory find it.
 *
 * kill -9 leaves them behind. So each holds a file (TEMP_MARK) that its owner keeps locked, and the next tool that creates its first one
 * removes those of the same user in the same folder whose lock is free. Only the lock decides, never the age; folders without such a file,
 * or with a name that is not ours, are not touched. A folder gets its name after its mark, so that a kill in between leaves none that is
 * never removed; until then it is called ".pt2utils-new.*", as is one being removed once only its mark is left. The mark holds the kernel's
 * boot id: if machines share a TMPDIR (NFS, Lustre), locks may not be visible to each other, and only folders of this running kernel are
 * considered.
 *
 * For tools only: it keeps a list of folders to remove at exit. Not thread-safe.
 */
#ifndef PT2_TEMPFOLDER_H
#define PT2_TEMPFOLDER_H
#include "base/io/tempfile.h"

#define TEMP_MARK ".pt2utils" /* names of a model's files never begin with a dot (watch/run.c) */

enum temp_kind { TEMP_PRINTER, TEMP_NANASSERT, TEMP_EXPLAIN, TEMP_MINIFY, TEMP_VERIFY, TEMP_RUN, TEMP_FRONT, TEMP_LIVE, TEMP_KINDS };

/* Before broker_start(): folders of that kind are in /dev/shm, if TMPDIR names no other place and that is in memory and has room for so
 * many bytes; TEMP_RUN, if programs may be executed there. For thousands of small files: a disk's file system takes 6 times as long for a
 * run of aoti-verify (ext4, 2026-11-27). */
void temp_folder_in_memory(enum temp_kind kind, uint64_t bytes);
/* NULL: EXIT_ENVIRON, the text names the folder and the variable. */
char *temp_folder(enum temp_kind kind, struct err *err);
/* NULL is allowed. Frees the path. */
void temp_folder_remove(char *path);
/* All that this process has; paths stay valid. */
void temp_folder_remove_all(void);

#endif
