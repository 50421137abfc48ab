/* cowview.h - runs a command on a copy-on-write view of the files: what it writes is gone when it ends; its network is loopback only.
 *
 *     struct cowview *v = cowview_new(folder, &err);       // an empty private one; NULL: it cannot be had here, and err says why
 *     struct child_spec spec = {.argv = command, .before_exec = enter, .arg = v, ...};      // enter() calls cowview_enter(v)
 *     child_run(&spec, &r, &err);                          // any number of times, each with a fresh view
 *     cowview_free(v);
 *
 * The child gets namespaces of its own (user, mount, network, IPC). Files are shown through overlays whose upper layers are in a tmpfs of
 * at most COWVIEW_BYTES, /proc, /sys and /dev (but for /dev/shm) are as they are, what cannot be overlaid (some network and FUSE file
 * systems) is read-only. A full upper layer is a full disk for the command, a file that it cannot write a read-only one: neither touches
 * the user's files. Paths, the working directory, user and group are as before. Files that are already open stay what they are: standard
 * output and error reach the caller.
 *
 * What it does not keep from a command: signals to other processes of the same user, devices, and sockets that it inherits.
 *
 * It needs overlays in user namespaces (Linux 5.11), and a system that permits user namespaces: many containers and some distributions do
 * not. cowview_new tries it in a child.
 */
#ifndef PT2_COWVIEW_H
#define PT2_COWVIEW_H
#include "base/base.h"

#define COWVIEW_BYTES (2ull << 30)

struct cowview;
struct cowview *cowview_new(const char *folder, struct err *err);
/* In the child, which has one thread: 0, or an errno. The parent's death still ends the child (child.h, .die_with_parent). */
int cowview_enter(const struct cowview *v);
void cowview_free(struct cowview *v);

#endif
