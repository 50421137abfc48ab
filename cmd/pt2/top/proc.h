/* proc.h - processes as /proc shows them: who traces where, and the compilers that run for a process.
 *
 * Only what this user may read; a process that ends meanwhile is left out. Names and arguments are texts of other programs: print them
 * through screen.h.
 */
#ifndef PT2_PROC_H
#define PT2_PROC_H
#include "base/buf.h"

#include <sys/types.h>

struct proc_job {
	pid_t pid;
	char *what; /* "cc1plus c6mslwej.main.cpp" */
	double seconds;
};
struct proc_list {
	struct proc_job *v;
	size_t n, cap;
};

bool proc_alive(pid_t pid);
/* May its environment be read? Not another user's. */
bool proc_readable(pid_t pid);
/* Has it a file mapped whose path contains this text? */
bool proc_maps(pid_t pid, const char *text);
/* Its command line, blanks between the words; how long it has run. */
void proc_command(pid_t pid, struct buf *b);
double proc_seconds(pid_t pid);
/* Has it this file open? True also where that may not be read: another user's process. */
bool proc_holds(pid_t pid, const char *path);
/* The value of an environment variable of a process as it was started; NULL: not set, or it may not be read. free() it. */
char *proc_environ(pid_t pid, const char *name);
/* The newest process of this user with this variable, besides this process; 0: none. */
pid_t proc_newest_with(const char *name);
/* The oldest of its descendants with this variable; 0: none. */
pid_t proc_child_with(pid_t pid, const char *name);
bool proc_descends(pid_t pid, pid_t from);
/* The compilers among the descendants of a process, longest first. */
void proc_compilers(pid_t pid, struct proc_list *list);
void proc_list_release(struct proc_list *list);

#endif
