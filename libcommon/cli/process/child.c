#include "process/child.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000
#define NEVER INT64_MAX
#define DEFAULT_KEEP (64u << 10)
#define DEFAULT_GRACE_MS 2000

struct child {
	pid_t pid;
	int pidfd; /* -1: this kernel (or valgrind) has none, so its end is polled for */
	int fd[3]; /* our ends of pipes, -1 when there is none */
	enum child_io how[3];
	struct buf input;
	size_t input_at;
	bool input_end;
	bool own_group, leave_running;
	bool reaped, reported;
	bool termed, killed; /* signals sent so far */
	int64_t started, deadline, kill_at, grace;
	int guard; /* slot in guarded[], -1 */
	void *user;
	struct child_result r;
};

/* Process ids (negative: groups) that a signal handler must reach. */
static atomic_int guarded[CHILD_GUARDED];

/* Learnt once: valgrind says a line for each try. */
static atomic_bool no_pidfd;

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Output that is kept: head, then a ring of the last bytes. */

static void output_add(struct child_output *o, const char *p, size_t n)
{
	o->total += n;
	size_t room = o->keep_head - o->head.len;
	size_t head = n < room ? n : room;
	buf_add(&o->head, p, head);
	p += head;
	n -= head;
	if (!n || !o->keep_tail)
		return;
	if (!o->ring)
		o->ring = xmalloc(o->ring_cap = o->keep_tail);
	if (n > o->ring_cap) {
		p += n - o->ring_cap;
		n = o->ring_cap;
	}
	size_t first = o->ring_cap - o->ring_at;
	if (first > n)
		first = n;
	memcpy(o->ring + o->ring_at, p, first);
	if (n > first)
		memcpy(o->ring, p + first, n - first);
	o->ring_at = (o->ring_at + n) % o->ring_cap;
}

void child_output_text(const struct child_output *o, struct buf *b)
{
	buf_add(b, o->head.p, o->head.len);
	uint64_t after = o->total - o->head.len;
	if (after > o->ring_cap) {
		uint64_t lost = after - o->ring_cap;
		buf_addf(b, "\n[... %llu bytes left out ...]\n", (unsigned long long)lost);
		if (o->ring_cap) {
			buf_add(b, o->ring + o->ring_at, o->ring_cap - o->ring_at);
			buf_add(b, o->ring, o->ring_at);
		}
	} else if (after) {
		/* Not wrapped: the ring holds exactly what followed the head. */
		buf_add(b, o->ring, (size_t)after);
	}
}

static void output_release(struct child_output *o)
{
	buf_release(&o->head);
	free(o->ring);
	*o = (struct child_output){0};
}

void child_result_release(struct child_result *r)
{
	output_release(&r->out);
	output_release(&r->err);
}

void child_describe(const struct child_result *r, struct buf *b)
{
	if (r->how == CHILD_RUNNING) {
		buf_adds(b, "still running");
		return;
	}
	if (r->how == CHILD_NOT_STARTED) {
		buf_addf(b, "could not start: %s", strerror(r->start_errno));
		return;
	}
	if (r->how == CHILD_TIMED_OUT)
		buf_adds(b, "timed out (");
	else if (r->how == CHILD_STOPPED)
		buf_adds(b, "stopped (");
	if (r->sig) {
		const char *name = sigabbrev_np(r->sig), *text = sigdescr_np(r->sig);
		if (name && text && r->how == CHILD_SIGNALED)
			buf_addf(b, "killed by SIG%s (%s)", name, text);
		else if (name)
			buf_addf(b, "killed by SIG%s", name);
		else
			buf_addf(b, "killed by signal %d", r->sig);
	} else {
		buf_addf(b, "exited with status %d", r->status);
	}
	if (r->how == CHILD_TIMED_OUT || r->how == CHILD_STOPPED)
		buf_addc(b, ')');
}

/* Environment and program lookup: all memory is taken before the fork. */

static bool name_matches(const char *pattern, const char *name, size_t n)
{
	size_t len = strlen(pattern);
	if (len && pattern[len - 1] == '*')
		return n >= len - 1 && !memcmp(pattern, name, len - 1);
	return n == len && !memcmp(pattern, name, n);
}

static bool listed(const char *const *list, const char *name, size_t n)
{
	for (; list && *list; list++)
		if (name_matches(*list, name, n))
			return true;
	return false;
}

static bool is_set(const char *const *set, const char *name, size_t n)
{
	for (; set && *set; set++)
		if (!strncmp(*set, name, n) && (*set)[n] == '=')
			return true;
	return false;
}

static const char **make_env(const struct child_spec *spec)
{
	size_t n = 0, cap = 0;
	const char **env = NULL;
	for (char **e = environ; e && *e; e++) {
		size_t len = strcspn(*e, "=");
		if ((spec->env_allow && !listed(spec->env_allow, *e, len)) || listed(spec->env_unset, *e, len) ||
		    is_set(spec->env_set, *e, len))
			continue;
		GROW(env, n, cap, 1);
		env[n++] = *e;
	}
	for (const char *const *s = spec->env_set; s && *s; s++) {
		GROW(env, n, cap, 1);
		env[n++] = *s;
	}
	GROW(env, n, cap, 1);
	env[n] = NULL;
	return env;
}

/* The files that may be meant by `name`, in order; NULL-terminated. */
static char **candidates(const char *name)
{
	size_t n = 0, cap = 0;
	char **list = NULL;
	if (strchr(name, '/')) {
		GROW(list, n, cap, 1);
		list[n++] = xstrdup(name);
	} else if (*name) {
		const char *path = getenv("PATH");
		if (!path)
			path = "/usr/local/bin:/usr/bin:/bin";
		for (const char *p = path;; p++) {
			size_t len = strcspn(p, ":");
			GROW(list, n, cap, 1);
			list[n++] = len ? xasprintf("%.*s/%s", (int)(len > INT_MAX ? INT_MAX : len), p, name) : xasprintf("./%s", name);
			p += len;
			if (!*p)
				break;
		}
	}
	GROW(list, n, cap, 1);
	list[n] = NULL;
	return list;
}

static void free_list(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}

char *child_which(const char *name)
{
	char **list = candidates(name), *found = NULL;
	for (char **p = list; *p && !found; p++)
		if (!faccessat(AT_FDCWD, *p, X_OK, AT_EACCESS)) {
			int fd = open(*p, O_PATH | O_DIRECTORY | O_CLOEXEC);
			if (fd < 0)
				found = xstrdup(*p);
			else
				close(fd); /* a directory is "executable" too */
		}
	free_list(list);
	return found;
}

/* In the child, between fork and exec. Nothing here allocates or takes a lock. */

enum step { STEP_GROUP, STEP_PARENT, STEP_FDS, STEP_CWD, STEP_LIMIT, STEP_HOOK, STEP_EXEC };
static const char *const step_name[] = {
    [STEP_GROUP] = "set the process group",
    [STEP_PARENT] = "bind to the parent",
    [STEP_FDS] = "pass file descriptors",
    [STEP_CWD] = "enter the directory",
    [STEP_LIMIT] = "set resource limits",
    [STEP_HOOK] = "prepare the process",
    [STEP_EXEC] = "run",
};
struct report {
	int step, errnum;
};

struct plan {
	const struct child_spec *spec;
	char **files;
	const char **env;
	int stream[3]; /* descriptors to become 0, 1, 2; -1 keeps the tool's */
	int *high;     /* room for n_fds descriptors */
	int report;    /* pipe to the parent */
	pid_t parent;
	sigset_t mask;
};

static _Noreturn void give_up(int fd, enum step step)
{
	struct report r = {step, errno};
	/* A lost report still ends in an end of file and status 127. */
	while (write(fd, &r, sizeof(r)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* Close what lies between the descriptors that stay: a call per gap instead of one per possible descriptor. */
static bool close_gaps(unsigned first, const struct plan *p, int keep)
{
	for (;;) {
		unsigned next = keep >= 0 && (unsigned)keep >= first ? (unsigned)keep : ~0u;
		for (size_t i = 0; i < p->spec->n_fds; i++)
			if ((unsigned)p->spec->fds[i].to >= first && (unsigned)p->spec->fds[i].to < next)
				next = (unsigned)p->spec->fds[i].to;
		if (next > first && syscall(SYS_close_range, first, next - (next != ~0u), 0u) < 0)
			return false;
		if (next == ~0u)
			return true;
		first = next + 1;
	}
}

static void each_fd_from(int first, bool close_it, const struct plan *p, int keep)
{
	if (close_it ? close_gaps((unsigned)first, p, keep) : !syscall(SYS_close_range, (unsigned)first, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */))
		return;
	struct rlimit lim;
	int max = 65536;
	if (!getrlimit(RLIMIT_NOFILE, &lim) && lim.rlim_cur < (rlim_t)max)
		max = (int)lim.rlim_cur;
	for (int fd = first; fd < max; fd++) {
		bool wanted = fd == keep;
		for (size_t i = 0; close_it && i < p->spec->n_fds; i++)
			wanted |= p->spec->fds[i].to == fd;
		if (!close_it) {
			int flags = fcntl(fd, F_GETFD);
			if (flags >= 0)
				fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
		} else if (!wanted) {
			close(fd);
		}
	}
}

static void limit(int what, uint64_t value, uint64_t hard_more, int report)
{
	struct rlimit old, lim;
	if (getrlimit((__rlimit_resource_t)what, &old) < 0)
		give_up(report, STEP_LIMIT);
	lim.rlim_cur = value < old.rlim_max ? value : old.rlim_max;
	lim.rlim_max = value + hard_more < old.rlim_max ? value + hard_more : old.rlim_max;
	if (setrlimit((__rlimit_resource_t)what, &lim) < 0)
		give_up(report, STEP_LIMIT);
}

static int dup_high(int fd, int base, int report)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, base);
	if (high < 0)
		give_up(report, STEP_FDS);
	return high;
}

static _Noreturn void child_side(struct plan *p)
{
	const struct child_spec *spec = p->spec;
	/* The tool's handlers must not run here: they would kill the siblings. Ignored signals stay ignored (nohup),
	 * but a SIGPIPE the tool ignores for itself is not the command's business. */
	for (int s = 1; s < NSIG; s++) {
		struct sigaction sa;
		if (!sigaction(s, NULL, &sa) && (s == SIGPIPE || (sa.sa_handler != SIG_DFL && sa.sa_handler != SIG_IGN))) {
			sa.sa_handler = SIG_DFL;
			sa.sa_flags = 0;
			sigaction(s, &sa, NULL);
		}
	}
	if (!spec->same_group && setpgid(0, 0) < 0)
		give_up(p->report, STEP_GROUP);
	if (spec->die_with_parent) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
			give_up(p->report, STEP_PARENT);
		if (getppid() != p->parent) /* it died before prctl */
			_exit(127);
	}

	/* Everything that is to be passed moves above every target first, so that no dup2 overwrites a source. */
	int base = 3;
	for (size_t i = 0; i < spec->n_fds; i++)
		if (spec->fds[i].to >= base)
			base = spec->fds[i].to + 1;
	p->report = dup_high(p->report, base, p->report);
	for (int i = 0; i < 3; i++)
		if (p->stream[i] >= 0)
			p->stream[i] = dup_high(p->stream[i], base, p->report);
	for (size_t i = 0; i < spec->n_fds; i++)
		p->high[i] = dup_high(spec->fds[i].from, base, p->report);
	each_fd_from(3, false, p, -1);
	for (int i = 0; i < 3; i++)
		if (p->stream[i] >= 0 && dup2(p->stream[i], i) < 0)
			give_up(p->report, STEP_FDS);
	if (spec->err.how == CHILD_MERGE && dup2(1, 2) < 0)
		give_up(p->report, STEP_FDS);
	for (size_t i = 0; i < spec->n_fds; i++)
		if (dup2(p->high[i], spec->fds[i].to) < 0)
			give_up(p->report, STEP_FDS);

	if (spec->cwd && chdir(spec->cwd) < 0)
		give_up(p->report, STEP_CWD);
	if (!spec->allow_core)
		limit(RLIMIT_CORE, 0, 0, p->report);
	if (spec->max_cpu_s)
		limit(RLIMIT_CPU, spec->max_cpu_s, 1, p->report);
	if (spec->max_file)
		limit(RLIMIT_FSIZE, spec->max_file, 0, p->report);
	if (spec->max_procs)
		limit(RLIMIT_NPROC, spec->max_procs, 0, p->report);
	if (spec->max_memory)
		limit(RLIMIT_AS, spec->max_memory, 0, p->report);
	if (spec->before_exec && (errno = spec->before_exec(spec->arg)))
		give_up(p->report, STEP_HOOK);
	if (spec->function) {
		each_fd_from(3, true, p, p->report);
		close(p->report);
		sigprocmask(SIG_SETMASK, &p->mask, NULL);
		_exit(spec->function(spec->arg));
	}
	sigprocmask(SIG_SETMASK, &p->mask, NULL);
	int worst = ENOENT;
	for (char **f = p->files; *f; f++) {
		execve(*f, (char *const *)spec->argv, (char *const *)p->env);
		if (errno == EACCES)
			worst = EACCES; /* remembered, as the shell does; a later directory may hold a good one */
		else if (errno != ENOENT && errno != ENOTDIR)
			give_up(p->report, STEP_EXEC);
	}
	errno = worst;
	give_up(p->report, STEP_EXEC);
}

/* In the parent. */

static void guard_add(struct child *c)
{
	int id = c->own_group ? -c->pid : c->pid;
	for (int i = 0; i < CHILD_GUARDED; i++) {
		int empty = 0;
		if (atomic_compare_exchange_strong(&guarded[i], &empty, id)) {
			c->guard = i;
			return;
		}
	}
}

static void guard_remove(struct child *c)
{
	if (c->guard >= 0)
		atomic_store(&guarded[c->guard], 0);
	c->guard = -1;
}

static int make_pipe(int ours_is_write, int *ours, int *theirs)
{
	int p[2];
	if (pipe2(p, O_CLOEXEC) < 0)
		return -1;
	*ours = p[ours_is_write];
	*theirs = p[!ours_is_write];
	/* Only our end: a program that finds its stdout non-blocking loses output. */
	int flags = fcntl(*ours, F_GETFL);
	return fcntl(*ours, F_SETFL, flags | O_NONBLOCK);
}

static int open_streams(const struct child_spec *spec, struct child *c, struct plan *p, int theirs[3])
{
	const struct child_stream s[3] = {spec->in, spec->out, spec->err};
	for (int i = 0; i < 3; i++) {
		c->how[i] = s[i].how;
		switch (s[i].how) {
		case CHILD_INHERIT: break;
		case CHILD_MERGE:
			if (i != 2) {
				errno = EINVAL;
				return -1;
			}
			break;
		case CHILD_NULL:
			theirs[i] = p->stream[i] = open("/dev/null", (i ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
			if (theirs[i] < 0)
				return -1;
			break;
		case CHILD_RAW:
			if (i == 0) {
				errno = EINVAL;
				return -1;
			}
			/* fall through */
		case CHILD_PIPE:
			if (make_pipe(i == 0, &c->fd[i], &theirs[i]) < 0)
				return -1;
			p->stream[i] = theirs[i];
			break;
		case CHILD_FD: p->stream[i] = s[i].fd; break;
		}
	}
	return 0;
}

static void dispose(struct child *c)
{
	for (int i = 0; i < 3; i++)
		close_fd(&c->fd[i]);
	close_fd(&c->pidfd);
	guard_remove(c);
	buf_release(&c->input);
	child_result_release(&c->r);
	free(c);
}

struct child *child_start(struct childset *set, const struct child_spec *spec, struct err *err)
{
	const char *what = spec->argv && spec->argv[0] ? spec->argv[0] : "";
	if (!spec->function && !*what) {
		errno = ENOENT;
		err_set(err, EXIT_ENVIRON, "cannot run '': no program given");
		return NULL;
	}
	struct child *c = xcalloc(1, sizeof(*c));
	struct plan plan = {.spec = spec, .stream = {-1, -1, -1}, .report = -1, .parent = getpid()};
	int theirs[3] = {-1, -1, -1}, report[2] = {-1, -1};
	*c = (struct child){.pid = -1, .pidfd = -1, .fd = {-1, -1, -1}, .guard = -1, .user = spec->user};
	c->own_group = !spec->same_group;
	c->leave_running = spec->leave_running;
	c->grace = (int64_t)(spec->grace_ms > 0 ? spec->grace_ms : DEFAULT_GRACE_MS) * MS;
	bool defaults = !spec->keep_head && !spec->keep_tail;
	c->r.out.keep_head = c->r.err.keep_head = defaults ? DEFAULT_KEEP : spec->keep_head;
	c->r.out.keep_tail = c->r.err.keep_tail = defaults ? DEFAULT_KEEP : spec->keep_tail;
	buf_add_slice(&c->input, spec->input);
	c->input_end = !spec->keep_stdin;
	plan.files = spec->function ? NULL : candidates(what);
	plan.env = make_env(spec);
	plan.high = xcalloc(spec->n_fds, sizeof(int));

	bool ok = !open_streams(spec, c, &plan, theirs) && !pipe2(report, O_CLOEXEC);
	if (ok) {
		sigset_t all;
		sigfillset(&all);
		plan.report = report[1];
		pthread_sigmask(SIG_SETMASK, &all, &plan.mask);
		c->started = clock_ns();
		c->pid = fork();
		if (!c->pid)
			child_side(&plan);
		int saved = errno;
		/* The child does this too; whoever is later finds it done. In the handler's list before any signal can
		 * arrive: a child never escapes it. */
		if (c->pid > 0 && !spec->same_group)
			setpgid(c->pid, c->pid);
		if (c->pid > 0 && !spec->leave_running)
			guard_add(c);
		pthread_sigmask(SIG_SETMASK, &plan.mask, NULL);
		errno = saved;
		ok = c->pid > 0;
	}
	int why = errno;
	struct report said = {STEP_EXEC, 0};
	for (int i = 0; i < 3; i++)
		close_fd(&theirs[i]);
	close_fd(&report[1]);
	if (!ok) {
		errno = why;
		err_errno(err, EXIT_ENVIRON, "cannot start a process for '%s'", what);
	} else {
		ssize_t n;
		while ((n = read(report[0], &said, sizeof(said))) < 0 && errno == EINTR)
			;
		if (n == (ssize_t)sizeof(said)) {
			ok = false;
			while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
				;
			errno = why = said.errnum;
			if (said.step == STEP_CWD)
				err_errno(err, EXIT_ENVIRON, "cannot run '%s': cannot enter '%s'", what, spec->cwd);
			else if (said.step == STEP_EXEC)
				err_errno(err, EXIT_ENVIRON, "cannot run '%s'", what);
			else
				err_errno(err, EXIT_ENVIRON, "cannot run '%s': cannot %s", what, step_name[said.step]);
		}
	}
	close_fd(&report[0]);
	free_list(plan.files);
	free(plan.env);
	free(plan.high);
	if (!ok) {
		dispose(c);
		errno = why;
		return NULL;
	}
	c->pidfd = atomic_load(&no_pidfd) ? -1 : (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd < 0 && errno == ENOSYS)
		atomic_store(&no_pidfd, true);
	c->deadline = spec->timeout_ms > 0 ? c->started + (int64_t)spec->timeout_ms * MS : NEVER;
	c->kill_at = NEVER;
	if (c->pidfd >= 0)
		fcntl(c->pidfd, F_SETFD, FD_CLOEXEC);
	GROW(set->v, set->n, set->cap, 1);
	set->v[set->n++] = c;
	return c;
}

static void signal_child(struct child *c, int sig)
{
	if (c->reaped)
		return;
	kill(c->own_group ? -c->pid : c->pid, sig);
	if (sig == SIGTERM)
		kill(c->own_group ? -c->pid : c->pid, SIGCONT); /* a stopped one would not see it */
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

/* Read what is there, at most `most` bytes; the stream is closed at its end. */
static void collect(struct child *c, int i, size_t most)
{
	char chunk[16384];
	while (c->fd[i] >= 0 && most) {
		ssize_t n = read(c->fd[i], chunk, sizeof(chunk));
		if (n > 0) {
			output_add(i == 1 ? &c->r.out : &c->r.err, chunk, (size_t)n);
			most -= (size_t)n < most ? (size_t)n : most;
		} else if (n < 0 && errno == EINTR) {
			continue;
		} else if (n < 0 && errno == EAGAIN) {
			return;
		} else {
			close_fd(&c->fd[i]);
		}
	}
}

/* A write whose SIGPIPE, if it makes one, is swallowed: the reader's end is no reason for the tool to die. */
static ssize_t quiet_write(int fd, const void *p, size_t n)
{
	sigset_t pipe_set, old, pending;
	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
	ssize_t r = write(fd, p, n);
	int saved = errno;
	if (r < 0 && saved == EPIPE && !sigismember(&pending, SIGPIPE)) {
		struct timespec zero = {0, 0};
		while (sigtimedwait(&pipe_set, NULL, &zero) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return r;
}

static void feed(struct child *c)
{
	while (c->fd[0] >= 0 && c->input_at < c->input.len) {
		ssize_t n = quiet_write(c->fd[0], c->input.p + c->input_at, c->input.len - c->input_at);
		if (n >= 0) {
			c->input_at += (size_t)n;
		} else if (errno == EAGAIN) {
			return;
		} else if (errno != EINTR) {
			close_fd(&c->fd[0]);
		}
	}
	buf_reset(&c->input);
	c->input_at = 0;
	if (c->input_end)
		close_fd(&c->fd[0]);
}

void child_send(struct child *c, struct slice bytes)
{
	if (c->fd[0] < 0)
		return;
	buf_add_slice(&c->input, bytes);
	feed(c);
}

void child_send_end(struct child *c)
{
	c->input_end = true;
	feed(c);
}

int child_fd(const struct child *c, int stream) { return stream >= 1 && stream <= 2 && c->how[stream] == CHILD_RAW ? c->fd[stream] : -1; }

void child_close_stream(struct child *c, int stream)
{
	if (stream >= 0 && stream <= 2)
		close_fd(&c->fd[stream]);
}

pid_t child_pid(const struct child *c) { return c->pid; }
void *child_user(const struct child *c) { return c->user; }
const struct child_result *child_result(const struct child *c) { return &c->r; }

/* Has it ended? Then end its group, reap it and fill the result. */
static bool finish(struct child *c, bool block)
{
	siginfo_t info = {0};
	int w;
	/* Left unreaped until its group is dead: its id cannot be anyone else's before that. */
	while ((w = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT | (block ? 0 : WNOHANG))) < 0 && errno == EINTR)
		;
	if (!w && !info.si_pid)
		return false;
	if (c->own_group && !c->leave_running)
		kill(-c->pid, SIGKILL);
	guard_remove(c);
	int status = 0;
	pid_t got;
	while ((got = wait4(c->pid, &status, 0, &c->r.usage)) < 0 && errno == EINTR)
		;
	c->r.wall_ns = (uint64_t)(clock_ns() - c->started);
	c->reaped = true;
	close_fd(&c->pidfd);
	close_fd(&c->fd[0]);
	for (int i = 1; i < 3; i++)
		if (c->how[i] == CHILD_PIPE) {
			collect(c, i, 1u << 20); /* a pipe holds less; somebody else's endless output must not hold us */
			close_fd(&c->fd[i]);
		}
	if (got == c->pid && WIFSIGNALED(status)) {
		c->r.sig = WTERMSIG(status);
		c->r.core_dumped = WCOREDUMP(status);
	} else if (got == c->pid) {
		c->r.status = WEXITSTATUS(status);
	} else {
		c->r.status = 127; /* reaped behind our back (SIGCHLD ignored): unknown, so no success */
	}
	if (c->r.how == CHILD_RUNNING)
		c->r.how = c->r.sig ? CHILD_SIGNALED : CHILD_EXITED;
	return true;
}

struct seat {
	struct child *c;
	int stream; /* 0 to 2, or -1 for its pidfd */
};

int childset_wait(struct childset *set, int watch_fd, int timeout_ms, struct child_event *ev)
{
	int64_t end = timeout_ms < 0 ? NEVER : clock_ns() + (int64_t)timeout_ms * MS;
	struct pollfd *pf = NULL;
	struct seat *seat = NULL;
	size_t cap = 0, cap_seat = 0;
	int rc = 0;
	*ev = (struct child_event){0};
	for (;;) {
		int64_t now = clock_ns(), wake = end;
		size_t n = 0;
		bool waiting = watch_fd >= 0, blind = false;
		GROW(pf, 0, cap, set->n * 4 + 1);
		GROW(seat, 0, cap_seat, set->n * 4 + 1);
		for (size_t k = 0; k < set->n; k++) {
			struct child *c = set->v[(k + set->turn) % set->n];
			if (!c->reaped) {
				if (now >= c->deadline)
					terminate(c, CHILD_TIMED_OUT);
				if (now >= c->kill_at) {
					c->killed = true;
					c->kill_at = NEVER;
					signal_child(c, SIGKILL);
				}
				if (c->deadline < wake)
					wake = c->deadline;
				if (c->kill_at < wake)
					wake = c->kill_at;
				blind |= c->pidfd < 0;
				waiting = true;
				if (c->pidfd >= 0) {
					pf[n] = (struct pollfd){.fd = c->pidfd, .events = POLLIN};
					seat[n++] = (struct seat){c, -1};
				}
			}
			/* It was reaped while a stream had something left, and who reads that has come to its end. */
			if (c->reaped && !c->reported && c->fd[1] < 0 && c->fd[2] < 0) {
				waiting = true;
				wake = now;
			}
			if (c->fd[0] >= 0 && c->input_end && c->input_at == c->input.len)
				close_fd(&c->fd[0]);
			if (c->fd[0] >= 0) {
				/* With nothing to write, poll only tells that the reader went away. */
				short want = c->input_at < c->input.len ? POLLOUT : 0;
				pf[n] = (struct pollfd){.fd = c->fd[0], .events = want};
				seat[n++] = (struct seat){c, 0};
			}
			for (int i = 1; i < 3; i++)
				if (c->fd[i] >= 0) {
					pf[n] = (struct pollfd){.fd = c->fd[i], .events = POLLIN};
					seat[n++] = (struct seat){c, i};
					waiting = true;
				}
		}
		size_t n_child = n;
		if (watch_fd >= 0)
			pf[n++] = (struct pollfd){.fd = watch_fd, .events = POLLIN};
		if (!waiting)
			break;
		int64_t left = wake == NEVER ? -1 : wake - clock_ns();
		int ms = wake == NEVER ? -1 : left <= 0 ? 0 : left / MS >= INT_MAX ? INT_MAX : (int)((left + MS - 1) / MS);
		if (blind && (ms < 0 || ms > 5))
			ms = 5;
		int ready = poll(pf, n, ms);
		if (ready < 0 && errno == EINTR) {
			ev->what = CHILD_INTERRUPTED;
			break;
		}
		if (ready < 0) {
			rc = -1;
			break;
		}
		struct child *readable = NULL;
		for (size_t i = 0; i < n_child; i++) {
			struct child *c = seat[i].c;
			if (!pf[i].revents || seat[i].stream < 0)
				continue;
			if (seat[i].stream == 0) {
				if (pf[i].events)
					feed(c);
				else
					close_fd(&c->fd[0]);
			} else if (c->how[seat[i].stream] == CHILD_PIPE) {
				collect(c, seat[i].stream, 1u << 18);
			} else if (!readable) {
				readable = c;
				ev->stream = seat[i].stream;
			}
		}
		/* Output before the end: who reads a stream himself has read it when he hears of the end. */
		if (readable) {
			ev->what = CHILD_READABLE;
			ev->child = readable;
			break;
		}
		for (size_t k = 0; k < set->n && !ev->what; k++) {
			struct child *c = set->v[(k + set->turn) % set->n];
			if (!c->reaped)
				finish(c, false);
			if (c->reaped && !c->reported) {
				bool raw_left = false;
				for (int i = 1; i < 3; i++) {
					struct pollfd one = {.fd = c->fd[i], .events = POLLIN};
					raw_left |= c->fd[i] >= 0 && poll(&one, 1, 0) > 0;
				}
				if (raw_left)
					continue;
				c->reported = true;
				ev->what = CHILD_ENDED;
				ev->child = c;
			}
		}
		if (!ev->what && watch_fd >= 0 && pf[n - 1].revents)
			ev->what = CHILD_WATCHED;
		if (ev->what || clock_ns() >= end)
			break;
	}
	set->turn++;
	free(pf);
	free(seat);
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
		finish(c, true);
	}
	dispose(c);
}

void childset_release(struct childset *set)
{
	/* All at once first, so that n children take as long as one. */
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
		return err_set(err, EXIT_ENVIRON, "cannot run a child to its end with a stream only its caller can serve");
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

void child_exit_like(const struct child_result *r)
{
	fflush(NULL);
	if (r->how == CHILD_NOT_STARTED || r->how == CHILD_RUNNING)
		exit(EXIT_ENVIRON);
	if (!r->sig)
		exit(r->status);
	/* The command has left its core file, if any; the tool's own would hide it. */
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
	signal(r->sig, SIG_DFL);
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, r->sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(r->sig);
	exit(128 + r->sig); /* a signal whose default is not to end the process */
}

static void kill_all(int sig)
{
	int saved = errno;
	for (int i = 0; i < CHILD_GUARDED; i++) {
		int id = atomic_load(&guarded[i]);
		if (id)
			kill(id, SIGKILL);
	}
	errno = saved;
	raise(sig); /* SA_RESETHAND has restored the default */
}

static volatile sig_atomic_t signalled, signal_count;

int child_signalled(void) { return signalled; }
unsigned child_signal_count(void) { return (unsigned)signal_count; }

static void forward(int sig, siginfo_t *info, void *context)
{
	(void)context;
	int saved = errno;
	signalled = sig;
	signal_count = signal_count + 1;
	/* From the terminal (no sender) it has reached everyone in our group; groups of their own have not seen it. */
	bool from_terminal = info->si_code > 0;
	for (int i = 0; i < CHILD_GUARDED; i++) {
		int id = atomic_load(&guarded[i]);
		if (id && (!from_terminal || id < 0))
			kill(id, sig);
	}
	errno = saved;
}

static const int sigs[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

bool child_asks_to_end(int sig)
{
	for (size_t i = 0; i < ARRAY_LEN(sigs); i++)
		if (sigs[i] == sig)
			return true;
	return false;
}

void child_signals(enum child_signal_mode mode)
{
	for (size_t i = 0; i < ARRAY_LEN(sigs); i++) {
		struct sigaction sa = {0}, old;
		if (sigaction(sigs[i], NULL, &old) < 0 || old.sa_handler == SIG_IGN)
			continue;
		sigfillset(&sa.sa_mask);
		if (mode == CHILD_SIGNALS_KILL) {
			sa.sa_handler = kill_all;
			sigemptyset(&sa.sa_mask);
			sa.sa_flags = SA_RESETHAND | SA_NODEFER;
		} else {
			sa.sa_sigaction = forward;
			sa.sa_flags = SA_SIGINFO | SA_RESTART;
		}
		sigaction(sigs[i], &sa, NULL);
	}
}
