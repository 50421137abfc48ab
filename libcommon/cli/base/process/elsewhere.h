/* elsewhere.h - what a sealed process has another process do for it (base/broker/broker.h).
 *
 *     if (elsewhere)                                      // NULL: this process does everything itself
 *         fd = elsewhere->make_file(path, O_WRONLY, 0600);
 *
 * The rooms that start processes and make private folders and outputs (child.h, base/tool/tempfolder.h, base/tool/output.h) check this
 * first, so that tools need not. Functions that return -1 set errno, unless they have an err.
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
	/* Starts .argv as a child of this process, with these standard streams (-1: those of this process) and the pipe that it reports to. */
	pid_t (*start)(const struct child_spec *spec, const int stream[3], int report);
	/* Sends a signal to a child of this process, or to the group that it leads. done: wait until it was sent; false: may be called from a
	 * signal handler. */
	void (*signal)(pid_t child, bool group, int sig, bool done);
	/* In a private folder, or a folder of outputs: make a file and open it for writing; make a folder; remove either, with everything
	 * in it. */
	int (*make_file)(const char *path, int flags, mode_t mode);
	int (*make_folder)(const char *path, mode_t mode);
	int (*remove)(const char *path);
	/* kind: enum temp_kind. The caller frees the path; NULL and err. */
	char *(*temp_folder)(int kind, struct err *err);
	void (*temp_folder_remove)(const char *path);
	/* Starts an output under a temporary name: its descriptor, and its number for the functions below; -1 and err. is_ours as for
	 * output_dir(); a folder only before this process is sealed. */
	int (*output_file)(const char *path, uint32_t *number, struct err *err);
	int (*output_dir)(const char *path, bool replace, bool (*is_ours)(int fd), uint32_t *number, struct err *err);
	int (*output_commit)(uint32_t number, struct err *err);
	void (*output_abort)(uint32_t number);
	void (*output_discard)(uint32_t number, const char *name);
	/* A path of libpt2probe.so that LD_PRELOAD can name; path has PATH_MAX bytes; -1 and err. */
	int (*probe)(char *path, struct err *err);
	int null;    /* /dev/null, for reading and writing */
	bool sealed; /* this process itself can start no program and signal no other process */
};
/* Set once, by broker_start(). */
extern const struct elsewhere *elsewhere;

/* Make and remove files and folders in private folders (base/tool/tempfolder.h) and folders of outputs, by whichever process may. */
static inline int make_file(const char *path, int flags, mode_t mode)
{
	return elsewhere ? elsewhere->make_file(path, flags, mode) : open(path, flags | O_CREAT | O_CLOEXEC, mode);
}
static inline int make_folder(const char *path, mode_t mode) { return elsewhere ? elsewhere->make_folder(path, mode) : mkdir(path, mode); }
static inline int remove_file(const char *path) { return elsewhere ? elsewhere->remove(path) : unlink(path); }

#endif
