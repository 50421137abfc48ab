/* How processes of the command ended. Only their parents are notified, and we are not the parent of most. A pidfd becomes readable when its
 * process has ended, and on Linux 6.15 and later also says how; before that, the zombie's status can be read until its parent reaps it,
 * if we are quick enough. */
#include "watch/watch_part.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PROCESSES 256

struct watch_process {
	uint32_t pid;
	int fd; /* -1: it was gone before we saw it, or its status is already known */
	bool ended, known, finished;
	int status; /* as wait() has it, if known */
};

/* linux/pidfd.h of Linux 6.15 */
struct pidfd_answer {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
_Static_assert(sizeof(struct pidfd_answer) == 64, "PIDFD_INFO_SIZE_VER0");
#define PIDFD_ASK _IOWR(0xFF, 11, struct pidfd_answer)
#define PIDFD_EXIT (UINT64_C(1) << 3)

static struct watch_process *find_process(const struct watch *w, uint32_t pid)
{
	for (size_t i = w->n_process; i-- > 0;)
		if (w->process[i].pid == pid)
			return &w->process[i];
	return NULL;
}

void watch_meet(struct watch *w, uint32_t pid)
{
	if ((w->n_process && w->process[w->n_process - 1].pid == pid) || find_process(w, pid) || w->n_process == MAX_PROCESSES)
		return;
	int fd = pid && pid <= INT32_MAX ? (int)syscall(SYS_pidfd_open, (pid_t)pid, 0) : -1;
	PUSH_TO(w->process, w->n_process, w->cap_process) = (struct watch_process){.pid = pid, .fd = fd};
}

/* The last number of /proc/PID/stat, as long as the process is not reaped. */
static bool read_zombie(struct watch_process *p)
{
	char path[64], text[2048];
	snprintf(path, sizeof(path), "/proc/%u/stat", p->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	const char *state = strrchr(text, ')'), *last = strrchr(text, ' ');
	if (!state || state[1] != ' ' || state[2] != 'Z' || !last)
		return false;
	p->status = (int)strtol(last, NULL, 10);
	return true;
}

static void ask_exit_status(struct watch_process *p)
{
	struct pidfd_answer a = {.mask = PIDFD_EXIT};
	p->ended = true;
	if (ioctl(p->fd, PIDFD_ASK, &a) == 0 && a.mask & PIDFD_EXIT) {
		p->known = true;
		p->status = a.exit_code;
	} else {
		p->known = read_zombie(p);
	}
	close(p->fd);
	p->fd = -1;
}

/* All calls of an ended process are in the log by now, and will have been read by the next time. */
void watch_look_around(struct watch *w, void (*finish)(struct watch *w, uint32_t pid))
{
	for (size_t i = 0; i < w->n_process; i++) {
		struct watch_process *p = &w->process[i];
		struct pollfd f = {.fd = p->fd, .events = POLLIN};
		if (p->pid == (uint32_t)w->live.pid) /* our own child: live_run() reports it */
			continue;
		if (p->ended && !p->finished) {
			p->finished = true;
			finish(w, p->pid);
		}
		if (p->fd >= 0 && poll(&f, 1, 0) > 0 && f.revents)
			ask_exit_status(p);
	}
}

enum watch_fate watch_fate(const struct watch *w, uint32_t pid, struct child_result *how)
{
	struct watch_process *p = find_process(w, pid);
	*how = (struct child_result){0};
	if (w->ended && pid == (uint32_t)w->live.pid) {
		const struct child_result *c = &w->live.command;
		*how = (struct child_result){.how = c->how, .sig = c->sig, .status = c->status, .core_dumped = c->core_dumped};
		return c->sig ? WATCH_KILLED : WATCH_EXITED;
	}
	if (!p || !p->known)
		return p && !p->ended && !calls_gone(pid) ? WATCH_RUNS : WATCH_GONE;
	bool killed = WIFSIGNALED(p->status);
	how->how = killed ? CHILD_SIGNALED : CHILD_EXITED;
	how->sig = killed ? WTERMSIG(p->status) : 0;
	how->core_dumped = killed && WCOREDUMP(p->status);
	how->status = killed ? 0 : WEXITSTATUS(p->status);
	return killed ? WATCH_KILLED : WATCH_EXITED;
}

void watch_forget_processes(struct watch *w)
{
	for (size_t i = 0; i < w->n_process; i++)
		if (w->process[i].fd >= 0)
			close(w->process[i].fd);
	free(w->process);
	w->process = NULL;
	w->n_process = w->cap_process = 0;
}
