/* top.h - what compiles now: traces as they grow, and the compilers that run for them.
 *
 *     struct top t = {.dir = "traces"};
 *     top_read(&t, &err);                   // again and again; true where something is new
 *     top_draw(&t, &b, 80, 24, 0);          // lines of at most 80 columns
 *     top_release(&t);
 *
 * A trace is read again when it has grown: 1 GB takes about a second, and the next look waits ten times as long as the last one took.
 * A phase is open if its beginning is in the log and its end is not (facts.h, struct fact_marker); how long is counted from there to now
 * while the process lives, else to the last record.
 *
 * Which compilers run is in /proc: descendants of the process that are g++, cc1plus, ptxas and the like (proc.h).
 */
#ifndef PT2_TOP_H
#define PT2_TOP_H
#include "base/buf.h"
#include "run/facts.h"
#include "top/proc.h"

struct top_log {
	char *path;
	off_t size;
	int64_t pid, rank;
	bool alive, unread;
	struct facts facts;
	double quiet; /* seconds since the file last grew */
	struct proc_list compilers;
};

struct top {
	const char *dir;   /* a folder of traces */
	char *environ_dir; /* that, out of a process's environment; or NULL */
	int64_t only_pid;  /* of these the traces of this process and its descendants; 0: all */
	struct top_log *log;
	size_t n, cap;
	double cost; /* seconds that the last reading took */
};

/* 1: something is new, 0: nothing, -1 and err: the folder cannot be read. */
int top_read(struct top *t, struct err *err);
/* Leaves only the traces of only_pid and of its descendants that still run. */
void top_only(struct top *t);
/* Is any of the processes still there? */
bool top_alive(const struct top *t);
/* The screen: a block for each process, then what happened last, `from` lines further back. height 0: everything. */
void top_draw(const struct top *t, struct buf *b, int width, int height, int from);
/* One line for each process: what it does. For a pipe. */
void top_line(const struct top *t, struct buf *b);
void top_release(struct top *t);

#endif
