/* elsewhere.h - what a process that has sealed itself has done by another one (base/broker/broker.h).
 *
 *     if (elsewhere)                                      // NULL: this process does everything itself
 *         fd = elsewhere->make_file(path, O_WRONLY, 0600);
 *
 * The rooms that start processes, make private folders and outputs (child.h, base/tool/tempfolder.h, base/tool/output.h) ask here first, so
 * that tools need not know. Functions that give -1 set errno, unless they take an err.
 */
#ifndef PT2_ELSEWHERE_H
#define PT2_ELSEWHERE_H
#include "base/buf.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

struct child_spec;
struct elsewhere {
	/* Starts .argv as a child of this process, with these standard streams (-1: this one's own) and the pipe that it reports to. */
	pid_t (*start)(const struct child_spec *spec, const int stream[3], int report);
	/* A signal to a child of this process, or to the group that it leads. done: wait until it was sent; without, it may be asked for in a
	 * signal handler. */
	void (*signal)(pid_t child, bool group, int sig, bool done);
	/* In a private folder, or a folder of outputs: a new file for writing; a folder; away with either, and all that is in it; another name
	 * in the same folder. */
	int (*make_file)(const char *path, int flags, mode_t mode);
	int (*make_folder)(const char *path, mode_t mode);
	int (*remove)(const char *path);
	/* kind: enum temp_kind. The path is to be freed; NULL and err. */
	char *(*temp_folder)(int kind, struct err *err);
	void (*temp_folder_remove)(const char *path);
	/* An output under its temporary name: its descriptor, and its number for the other two; -1 and err. is_ours as for output_dir(), only
	 * before this process is sealed. */
	int (*output_file)(const char *path, uint32_t *number, struct err *err);
	int (*output_dir)(const char *path, bool replace, bool (*is_ours)(int fd), uint32_t *number, struct err *err);
	int (*output_commit)(uint32_t number, struct err *err);
	void (*output_abort)(uint32_t number);
	void (*output_discard)(uint32_t number, const char *name);
	/* libpt2probe.so, by a path that LD_PRELOAD can name, in room for PATH_MAX bytes; -1 and err. */
	int (*probe)(char *path, struct err *err);
	int null;    /* /dev/null, for reading and writing */
	bool sealed; /* this process can start nothing and signal nobody by itself */
};
/* Set once, by broker_start(). */
extern const struct elsewhere *elsewhere;

/* New files and folders in private folders (base/tool/tempfolder.h) and folders of outputs, and away with them: whoever may do it does. */
static inline int make_file(const char *path, int flags, mode_t mode)
{
	return elsewhere ? elsewhere->make_file(path, flags, mode) : open(path, flags | O_CREAT | O_CLOEXEC, mode);
}
static inline int make_folder(const char *path, mode_t mode) { return elsewhere ? elsewhere->make_folder(path, mode) : mkdir(path, mode); }
static inline int remove_file(const char *path) { return elsewhere ? elsewhere->remove(path) : unlink(path); }

#endif
