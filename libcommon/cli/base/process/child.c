/* child.c - running children: signals to them, waiting for events, their end. */
#include "base/process/child_part.h"

#include <limits.h>
#include <poll.h>
#include <sys/wait.h>

static void signal_child(struct child *c, int sig)
{
	if (c->reaped)
		return;
	child_send_signal(c->pid, c->own_group, sig, true);
	if (sig == SIGTERM)
		child_send_signal(c->pid, c->own_group, SIGCONT, true); /* a stopped one would not see it */
}

static void terminate(struct child *c, enum child_how why)
{
	if (c->reaped || c->termed || c->killed)
		return;
	c->r.how = why;
	c->termed = true;
	c->deadline = NEVER;
	c->kill_at = clock_ns() + c->grace;
	signal_child(c, SIGTERM);
}

void child_signal(struct child *c, int sig) { signal_child(c, sig); }
void child_stop(struct child *c) { terminate(c, CHILD_STOPPED); }

void child_kill(struct child *c)
{
	if (c->reaped || c->killed)
		return;
	if (!c->termed)
		c->r.how = CHILD_STOPPED;
	c->killed = true;
	c->deadline = c->kill_at = NEVER;
	signal_child(c, SIGKILL);
}

pid_t child_pid(const struct child *c) { return c->pid; }
const struct child_result *child_result(const struct child *c) { return &c->r; }

/* If it has ended: ends its group, reaps it and fills the result. */
static bool reap_child(struct child *c, bool block)
{
	siginfo_t info = {0};
	int w;
	/* Not reaped until its group is dead: until then its id cannot be reused. */
	while ((w = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT | (block ? 0 : WNOHANG))) < 0 && errno == EINTR)
		;
	if (!w && !info.si_pid)
		return false;
	if (c->own_group && !c->leave_running)
		child_send_signal(c->pid, true, SIGKILL, true);
	child_guard_remove(c);
	int status = 0;
	pid_t got;
	while ((got = wait4(c->pid, &status, 0, &c->r.usage)) < 0 && errno == EINTR)
		;
	c->r.wall_ns = (uint64_t)(clock_ns() - c->started);
	c->reaped = true;
	child_close_fd(&c->pidfd);
	child_close_fd(&c->fd[0]);
	for (int i = 1; i < 3; i++)
		if (c->how[i] == CHILD_PIPE) {
			child_collect(c, i, 1u << 20); /* a pipe holds less; endless output of another process must not block us */
			child_close_fd(&c->fd[i]);
		}
	if (got == c->pid && WIFSIGNALED(status)) {
		c->r.sig = WTERMSIG(status);
		c->r.core_dumped = WCOREDUMP(status);
	} else if (got == c->pid) {
		c->r.status = WEXITSTATUS(status);
	} else {
		c->r.status = 127; /* reaped behind our back (SIGCHLD ignored): unknown, so not a success */
	}
	if (c->r.how == CHILD_RUNNING)
		c->r.how = c->r.sig ? CHILD_SIGNALED : CHILD_EXITED;
	return true;
}

struct seat {
	struct child *c;
	int stream; /* 0 to 2, or -1 for its pidfd */
};
/* A round of waiting for the next event of any child. */
struct round {
	struct pollfd *pf;
	struct seat *seat; /* one per pf, except the last, which is watch_fd's */
	size_t n, cap, cap_seat;
	int64_t now, wake;
	bool waiting; /* is there anything to wait for? */
	bool blind;   /* some child's end has to be polled for */
};

static void add_seat(struct round *w, struct child *c, int stream, int fd, short events)
{
	w->pf[w->n] = (struct pollfd){.fd = fd, .events = events};
	w->seat[w->n++] = (struct seat){c, stream};
}

/* Sends SIGTERM or SIGKILL where due; the round wakes up for the next one. */
static void keep_time(struct round *w, struct child *c)
{
	if (w->now >= c->deadline)
		terminate(c, CHILD_TIMED_OUT);
	if (w->now >= c->kill_at) {
		c->killed = true;
		c->kill_at = NEVER;
		signal_child(c, SIGKILL);
	}
	if (c->deadline < w->wake)
		w->wake = c->deadline;
	if (c->kill_at < w->wake)
		w->wake = c->kill_at;
}

static void seat_child(struct round *w, struct child *c)
{
	if (!c->reaped) {
		keep_time(w, c);
		w->blind |= c->pidfd < 0;
		w->waiting = true;
		if (c->pidfd >= 0)
			add_seat(w, c, -1, c->pidfd, POLLIN);
	}
	/* It was reaped while a stream had data left, and the reader of that has now reached its end. */
	if (c->reaped && !c->reported && c->fd[1] < 0 && c->fd[2] < 0) {
		w->waiting = true;
		w->wake = w->now;
	}
	if (c->fd[0] >= 0 && c->input_end && c->input_at == c->input.len)
		child_close_fd(&c->fd[0]);
	if (c->fd[0] >= 0) /* with nothing to write, poll only reports that the reader is gone */
		add_seat(w, c, 0, c->fd[0], c->input_at < c->input.len ? POLLOUT : 0);
	for (int i = 1; i < 3; i++)
		if (c->fd[i] >= 0) {
			add_seat(w, c, i, c->fd[i], POLLIN);
			w->waiting = true;
		}
}

static void seat_all(struct round *w, const struct childset *set, int watch_fd, int64_t end)
{
	w->n = 0;
	w->now = clock_ns();
	w->wake = end;
	w->waiting = watch_fd >= 0;
	w->blind = false;
	GROW(w->pf, 0, w->cap, set->n * 4 + 1);
	GROW(w->seat, 0, w->cap_seat, set->n * 4 + 1);
	for (size_t k = 0; k < set->n; k++)
		seat_child(w, set->v[(k + set->turn) % set->n]);
	if (watch_fd >= 0)
		w->pf[w->n] = (struct pollfd){.fd = watch_fd, .events = POLLIN};
}

static int poll_ms(const struct round *w)
{
	int64_t left = w->wake == NEVER ? -1 : w->wake - clock_ns();
	int ms = w->wake == NEVER ? -1 : left <= 0 ? 0 : left / MS >= INT_MAX ? INT_MAX : (int)((left + MS - 1) / MS);
	return w->blind && (ms < 0 || ms > 5) ? 5 : ms;
}

/* Writes and collects what it can; returns the first child with data in a stream that its owner reads, or NULL. */
static struct child *serve_streams(struct round *w, int *stream)
{
	struct child *readable = NULL;
	for (size_t i = 0; i < w->n; i++) {
		struct child *c = w->seat[i].c;
		if (!w->pf[i].revents || w->seat[i].stream < 0)
			continue;
		if (w->seat[i].stream == 0) {
			if (w->pf[i].events)
				child_feed(c);
			else
				child_close_fd(&c->fd[0]);
		} else if (c->how[w->seat[i].stream] == CHILD_PIPE) {
			child_collect(c, w->seat[i].stream, 1u << 18);
		} else if (!readable) {
			readable = c;
			*stream = w->seat[i].stream;
		}
	}
	return readable;
}

static bool has_unread(const struct child *c)
{
	bool left = false;
	for (int i = 1; i < 3; i++) {
		struct pollfd one = {.fd = c->fd[i], .events = POLLIN};
		left |= c->fd[i] >= 0 && poll(&one, 1, 0) > 0;
	}
	return left;
}

/* The first child whose end is still to be reported, or NULL. */
static struct child *next_ended(struct childset *set)
{
	for (size_t k = 0; k < set->n; k++) {
		struct child *c = set->v[(k + set->turn) % set->n];
		if (!c->reaped)
			reap_child(c, false);
		if (c->reaped && !c->reported && !has_unread(c)) {
			c->reported = true;
			return c;
		}
	}
	return NULL;
}

int childset_wait(struct childset *set, int watch_fd, int timeout_ms, struct child_event *ev)
{
	int64_t end = timeout_ms < 0 ? NEVER : clock_ns() + (int64_t)timeout_ms * MS;
	struct round w = {0};
	int rc = 0;
	*ev = (struct child_event){0};
	do {
		seat_all(&w, set, watch_fd, end);
		if (!w.waiting)
			break;
		int ready = poll(w.pf, w.n + (watch_fd >= 0), poll_ms(&w));
		if (ready < 0) {
			rc = errno == EINTR ? 0 : -1;
			ev->what = rc ? CHILD_NOTHING : CHILD_INTERRUPTED;
			break;
		}
		/* Output before the end: whoever reads a stream has read everything before the end is reported. */
		if ((ev->child = serve_streams(&w, &ev->stream)))
			ev->what = CHILD_READABLE;
		else if ((ev->child = next_ended(set)))
			ev->what = CHILD_ENDED;
		else if (watch_fd >= 0 && w.pf[w.n].revents)
			ev->what = CHILD_WATCHED;
	} while (!ev->what && clock_ns() < end);
	set->turn++;
	free(w.pf);
	free(w.seat);
	return rc;
}

void child_free(struct childset *set, struct child *c)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->v[i] == c) {
			memmove(set->v + i, set->v + i + 1, (set->n - i - 1) * sizeof(*set->v));
			set->n--;
			break;
		}
	if (!c->reaped && !c->leave_running) {
		child_kill(c);
		signal_child(c, SIGKILL);
		reap_child(c, true);
	}
	child_dispose(c);
}

void childset_release(struct childset *set)
{
	/* Signal all first, so that n children take as long as one. */
	for (size_t i = 0; i < set->n; i++)
		if (!set->v[i]->leave_running)
			child_kill(set->v[i]);
	while (set->n)
		child_free(set, set->v[set->n - 1]);
	free(set->v);
	*set = (struct childset){0};
}

int child_run(const struct child_spec *spec, struct child_result *r, struct err *err)
{
	*r = (struct child_result){.how = CHILD_NOT_STARTED};
	if (spec->out.how == CHILD_RAW || spec->err.how == CHILD_RAW || (spec->in.how == CHILD_PIPE && spec->keep_stdin)) {
		r->start_errno = EINVAL; /* nobody would read or close it */
		return err_set(err, EXIT_ENVIRON, "cannot wait for a child with a stream that only the caller can read");
	}
	struct childset set = {0};
	struct child *c = child_start(&set, spec, err);
	if (!c) {
		r->start_errno = errno;
		childset_release(&set);
		return -1;
	}
	struct child_event ev;
	do {
		if (childset_wait(&set, -1, -1, &ev) < 0) {
			r->start_errno = errno;
			err_errno(err, EXIT_ENVIRON, "cannot wait for '%s'", spec->argv ? spec->argv[0] : "a child");
			childset_release(&set);
			return -1;
		}
	} while (ev.what != CHILD_ENDED);
	*r = c->r;
	c->r = (struct child_result){0};
	childset_release(&set);
	return 0;
}
