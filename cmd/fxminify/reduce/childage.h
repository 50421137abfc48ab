/* childage.h - how old a child is: by what it has spent, not by the clock. On a busy machine a slow test is no hang.
 *
 *     struct child_age a = {0};                      // when it starts
 *     ...
 *     if (child_age_look(&a, pid) > limit) ...       // now and then: every 100 ms, say
 *
 * Between two looks its process group grows older by
 *     the CPU time that it used, while a thread of it runs or would if it was let (at most the time that passed);
 *     nothing, while it is stopped (SIGSTOP);
 *     the time that passed, while all of it sleeps or waits for a disk.
 *
 * Linux: /proc/PID/stat (proc(5): state, pgrp, utime, stime, cutime, cstime) and the states in /proc/PID/task. Where /proc is not to
 * be had, it is the clock. Never fails.
 */
#ifndef PT2_CHILDAGE_H
#define PT2_CHILDAGE_H
#include <sys/types.h>

struct child_age {
	double age;  /* seconds */
	double cpu;  /* of the group, as of the last look; with what ended in it and was waited for */
	double last; /* clock of the last look; 0: none was */
};
/* Its age now. The leader is child_pid of a child that has a group of its own. */
double child_age_look(struct child_age *a, pid_t leader);

#endif
