/* childage.h - the age of a child process in consumed time, not wall time: on a busy machine a slow test is not a hang.
 *
 *     struct child_age a = {0};                      // when it starts
 *     ...
 *     if (child_age_look(&a, pid) > limit) ...       // regularly, for example every 100 ms
 *
 * Between two looks the age of its process group grows by
 *     the CPU time that it used, while one of its threads runs or is runnable (at most the elapsed time);
 *     nothing, while it is stopped (SIGSTOP);
 *     the elapsed time, while all of it sleeps or waits for a disk.
 *
 * Linux: /proc/PID/stat (proc(5): state, pgrp, utime, stime, cutime, cstime) and the states in /proc/PID/task. Without /proc, wall
 * time is used. Never fails.
 */
#ifndef PT2_CHILDAGE_H
#define PT2_CHILDAGE_H
#include <sys/types.h>

struct child_age {
	double age;  /* seconds */
	double cpu;  /* of the group at the last look; including children that exited and were waited for */
	double last; /* clock of the last look; 0: never looked */
};
/* Its age now. The leader is child_pid of a child that has a group of its own. */
double child_age_look(struct child_age *a, pid_t leader);

#endif
