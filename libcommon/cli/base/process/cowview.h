/* cowview.h - runs a command on a copy-on-write view of the files: what it writes is gone when it ends; its network is loopback only.
 *
 *     struct cowview *v = cowview_new(folder, &err);       // an empty private one; NULL: it cannot be had here, and err says why
 *     struct child_spec spec = {.argv = command, .before_exec = enter, .arg = v, ...};      // enter() calls cowview_enter(v)
 *     child_run(&spec, &r, &err);                          // any number of times, each with a fresh view
 *     cowview_free(v);
 *
 * The child gets namespaces of its own (user, mount, network, IPC). Files are shown through overlays whose upper layers are in a tmpfs of
 * at most COWVIEW_BYTES (or on disk: on_disk), /proc, /sys and /dev (but for /dev/shm) are as they are,
 * what cannot be overlaid (some network and FUSE file systems) is read-only. A full upper layer is a full disk for the command, a file that
 * it cannot write a read-only one: neither touches the user's files. Paths, the working directory, user and group are as before. Files that
 * are already open stay what they are: standard output and error reach the caller.
 *
 * An overlay shows no mount below its lower layer, and its upper layer may not be in it: a folder with mounts below, or with the stage, is
 * made again, with an overlay for each of its folders. Of one with more than 200 entries only those are shown that the command needs.
 *
 * What it does not keep from a command: signals to other processes of the same user, devices, and sockets that it inherits.
 *
 * It needs overlays in user namespaces (Linux 5.11), and a system that permits user namespaces: many containers and some distributions do
 * not. cowview_new tries it in a child.
 *
 * A process with threads can enter no user namespace, but its forks can enter a mount namespace that another process made: `fxexplain mend`
 * has cowview_keeper() make one for each try (cmd/fxexplain/mend/confine.c).
 */
#ifndef PT2_COWVIEW_H
#define PT2_COWVIEW_H
#include "base/buf.h"

#define COWVIEW_BYTES (2ull << 30)

struct cowview_spec {
	const char *folder;        /* empty and private: the stage */
	bool on_disk;              /* upper layers are u0, u1, ... in it, and stay there: the caller removes them between two views;
				    * /dev/shm is a new one, with overlays of its folders */
	const char *shown;         /* a folder that is not a copy; with on_disk one that has the stage in it; else NULL */
	const char *const *needed; /* NULL-terminated paths that have to be visible, beside the working directory; NULL */
};
struct cowview;
struct cowview *cowview_new(const char *folder, struct err *err);
/* The same without trying it. */
struct cowview *cowview_plan(const struct cowview_spec *spec, struct err *err);
/* The folders that are overlaid, as rows of JSON: [[path, upper layer], ...]. */
void cowview_overlays(const struct cowview *v, struct buf *b);
/* In the child, which has one thread: 0, or an errno. The parent's death still ends the child (child.h, .die_with_parent). */
int cowview_enter(const struct cowview *v);
/* Between fork and exec: a process that makes a view for each message on the socket, and answers it with a descriptor of its mount
 * namespace (SCM_RIGHTS), or with the text of an error. It ends with the last descriptor of the other end. 0, or an errno. */
int cowview_keeper(const struct cowview *v, int sock);
void cowview_free(struct cowview *v);

#endif
