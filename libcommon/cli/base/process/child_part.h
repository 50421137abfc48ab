/* child_part.h - shared by the files of child.h; nobody else includes it.
 *
 *     child_start.c    environment, program lookup, pipes, fork; what the child does before it runs the program
 *     child.c          waiting: time-outs, events, the end of one child and of a set; child_run()
 *     child_stream.c   what goes through the pipes: feeding stdin, collecting output, and what is kept of it
 *     child_signal.c   the list that a signal handler needs, and the effect of signals to the tool
 *
 * Only child_start() creates a struct child, and its set owns it from then on; child_dispose() frees it. It owns the pipes and the pidfd,
 * which are -1 if there are none. reaped: it was waited for, so its id may be reused and no signal is sent to it any more; reported: its
 * end was reported to the caller, once. It takes its slot in the list of child_signal.c before any signal can arrive, and gives it back
 * before it is reaped.
 */
#ifndef PT2_CHILD_PART_H
#define PT2_CHILD_PART_H
#include "base/process/child.h"
#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define MS 1000000
#define NEVER INT64_MAX

struct child {
	pid_t pid;
	int pidfd; /* -1: this kernel (or valgrind) has none, so its end is polled for */
	int fd[3]; /* our ends of pipes, -1 if there is none */
	enum child_io how[3];
	struct buf input;
	size_t input_at;
	bool input_end;
	bool own_group, leave_running;
	bool reaped, reported;
	bool termed, killed; /* signals sent so far */
	int64_t started, deadline, kill_at, grace;
	int guard; /* slot in the list of child_signal.c, -1 */
	void *user;
	struct child_result r;
};

static inline void child_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- child_start.c ---- */
/* For a broker: starts .argv as a child of its own parent, which has its streams and its report (base/broker/broker.h). -1: errno. */
pid_t child_clone(const struct child_spec *spec, const int stream[3], int report, pid_t parent);
extern sigset_t child_start_mask; /* of signals, that such children start with */
void child_dispose(struct child *c);

/* ---- child_stream.c ---- */
/* Reads available data, at most `most` bytes; closes the stream at its end. */
void child_collect(struct child *c, int i, size_t most);
/* Writes as much of the queued data as possible now. */
void child_feed(struct child *c);

/* ---- child_signal.c ---- */
/* To a child, or the group that it leads; done: it was sent when this returns. */
void child_send_signal(pid_t pid, bool group, int sig, bool done);
void child_guard_add(struct child *c);
void child_guard_remove(struct child *c);

#endif
