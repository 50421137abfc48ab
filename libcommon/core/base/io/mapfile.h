/* mapfile.h - a whole file as bytes, mapped read-only: for formats with an index (zip, ELF, npy), of any size.
 *
 *     struct mapfile f;
 *     if (mapfile_open(&f, path, &err) < 0) ...
 *     use(f.bytes);                       // pages are read when touched
 *     mapfile_close(&f);
 *
 * What cannot be mapped (a pipe, "-") is read into memory, up to MAPFILE_MAX_PIPE. A mapped file that another process truncates raises
 * SIGBUS: mapfile_watch().
 */
#ifndef PT2_MAPFILE_H
#define PT2_MAPFILE_H
#include "base/buf.h"

#define MAPFILE_MAX_PIPE (4ull << 30)

struct mapfile {
	struct slice bytes;
	int fd; /* kept open, -1 for what was read from a pipe */
	bool mapped;
	char *path; /* for messages; "-" is shown as (standard input) */
};

int mapfile_open(struct mapfile *f, const char *path, struct err *err);
int mapfile_openat(struct mapfile *f, int dir, const char *name, const char *shown, struct err *err);
/* A private copy of a regular file that may still be written to: what was checked does not change afterwards. At most MAPFILE_MAX_PIPE. */
int mapfile_copy(struct mapfile *f, const char *path, struct err *err);
void mapfile_close(struct mapfile *f);

/* For programs, once, before anything is mapped: a truncated file then ends the process like die(), with a message that names it
 * (EXIT_INPUT). A forked child dies of the signal. */
void mapfile_watch(void);

#endif
