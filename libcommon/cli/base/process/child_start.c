/* child_start.c - a child's way from a child_spec to its program. */
#include "base/process/child_part.h"
#include "base/process/elsewhere.h"
#include "base/process/linux.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define DEFAULT_KEEP (64u << 10)
#define DEFAULT_GRACE_MS 2000

/* Learnt once: valgrind says a line for each try. */
static atomic_bool no_pidfd;

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
		PUSH_TO(env, n, cap) = *e;
	}
	for (const char *const *s = spec->env_set; s && *s; s++) {
		PUSH_TO(env, n, cap) = *s;
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
		PUSH_TO(list, n, cap) = xstrdup(name);
	} else if (*name) {
		const char *path = getenv("PATH");
		if (!path)
			path = "/usr/local/bin:/usr/bin:/bin";
		for (const char *p = path;; p++) {
			size_t len = strcspn(p, ":");
			PUSH_TO(list, n, cap) =
			    len ? xasprintf("%.*s/%s", (int)(len > INT_MAX ? INT_MAX : len), p, name) : xasprintf("./%s", name);
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

/* The tool's handlers must not run here: they would kill the siblings. Ignored signals stay ignored (nohup),
 * but a SIGPIPE the tool ignores for itself is not the command's business. */
static void drop_handlers(void)
{
	for (int s = 1; s < NSIG; s++) {
		struct sigaction sa;
		if (!sigaction(s, NULL, &sa) && (s == SIGPIPE || (sa.sa_handler != SIG_DFL && sa.sa_handler != SIG_IGN))) {
			sa.sa_handler = SIG_DFL;
			sa.sa_flags = 0;
			sigaction(s, &sa, NULL);
		}
	}
}

static void pass_fds(struct plan *p)
{
	const struct child_spec *spec = p->spec;
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
}

static void set_limits(const struct child_spec *spec, int report)
{
	if (!spec->allow_core)
		limit(RLIMIT_CORE, 0, 0, report);
	if (spec->max_cpu_s)
		limit(RLIMIT_CPU, spec->max_cpu_s, 1, report);
	if (spec->max_file)
		limit(RLIMIT_FSIZE, spec->max_file, 0, report);
	if (spec->max_procs)
		limit(RLIMIT_NPROC, spec->max_procs, 0, report);
	if (spec->max_memory)
		limit(RLIMIT_AS, spec->max_memory, 0, report);
}

static _Noreturn void run_program(const struct plan *p)
{
	int worst = ENOENT;
	for (char **f = p->files; *f; f++) {
		execve(*f, (char *const *)p->spec->argv, (char *const *)p->env);
		if (errno == EACCES)
			worst = EACCES; /* remembered, as the shell does; a later directory may hold a good one */
		else if (errno != ENOENT && errno != ENOTDIR)
			give_up(p->report, STEP_EXEC);
	}
	errno = worst;
	give_up(p->report, STEP_EXEC);
}

static _Noreturn void child_side(struct plan *p)
{
	const struct child_spec *spec = p->spec;
	drop_handlers();
	if (!spec->same_group && setpgid(0, 0) < 0)
		give_up(p->report, STEP_GROUP);
	if (spec->die_with_parent) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
			give_up(p->report, STEP_PARENT);
		if (getppid() != p->parent) /* it died before prctl */
			_exit(127);
	}
	pass_fds(p);
	if (spec->cwd && chdir(spec->cwd) < 0)
		give_up(p->report, STEP_CWD);
	set_limits(spec, p->report);
	if (spec->before_exec && (errno = spec->before_exec(spec->arg)))
		give_up(p->report, STEP_HOOK);
	if (spec->function) {
		each_fd_from(3, true, p, p->report);
		close(p->report);
		sigprocmask(SIG_SETMASK, &p->mask, NULL);
		_exit(spec->function(spec->arg));
	}
	sigprocmask(SIG_SETMASK, &p->mask, NULL);
	run_program(p);
}

/* ---- in the parent ---- */

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
			theirs[i] = p->stream[i] = elsewhere ? fcntl(elsewhere->null, F_DUPFD_CLOEXEC, 3)
							     : open("/dev/null", O_RDWR | O_CLOEXEC);
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

void child_dispose(struct child *c)
{
	for (int i = 0; i < 3; i++)
		child_close_fd(&c->fd[i]);
	child_close_fd(&c->pidfd);
	child_guard_remove(c);
	buf_release(&c->input);
	child_result_release(&c->r);
	free(c);
}

static struct child *new_child(const struct child_spec *spec)
{
	struct child *c = xcalloc(1, sizeof(*c));
	*c = (struct child){.pid = -1, .pidfd = -1, .fd = {-1, -1, -1}, .guard = -1};
	c->own_group = !spec->same_group;
	c->leave_running = spec->leave_running;
	c->grace = (int64_t)(spec->grace_ms > 0 ? spec->grace_ms : DEFAULT_GRACE_MS) * MS;
	bool defaults = !spec->keep_head && !spec->keep_tail;
	c->r.out.keep_head = c->r.err.keep_head = defaults ? DEFAULT_KEEP : spec->keep_head;
	c->r.out.keep_tail = c->r.err.keep_tail = defaults ? DEFAULT_KEEP : spec->keep_tail;
	buf_add_slice(&c->input, spec->input);
	c->input_end = !spec->keep_stdin;
	return c;
}

/* errno says why not. */
static bool fork_child(struct child *c, struct plan *p)
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &p->mask);
	c->started = clock_ns();
	c->pid = elsewhere && elsewhere->sealed && !p->spec->function ? elsewhere->start(p->spec, p->stream, p->report) : fork();
	if (!c->pid)
		child_side(p);
	int saved = errno;
	/* The child does this too; whoever is later finds it done. In the handler's list before any signal can
	 * arrive: a child never escapes it. */
	if (c->pid > 0 && c->own_group)
		setpgid(c->pid, c->pid);
	if (c->pid > 0 && !c->leave_running)
		child_guard_add(c);
	pthread_sigmask(SIG_SETMASK, &p->mask, NULL);
	errno = saved;
	return c->pid > 0;
}

sigset_t child_start_mask;

pid_t child_clone(const struct child_spec *spec, const int stream[3], int report, pid_t parent)
{
	struct plan plan = {.spec = spec, .report = report, .parent = parent, .mask = child_start_mask};
	memcpy(plan.stream, stream, sizeof(plan.stream));
	plan.files = candidates(spec->argv[0]);
	plan.env = make_env(spec);
	plan.high = xcalloc(spec->n_fds, sizeof(int));
	const pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		child_side(&plan);
	const int why = errno;
	free_list(plan.files);
	free(plan.env);
	free(plan.high);
	errno = why;
	return pid;
}

/* Waits until the child runs its program, or has said why it cannot: false, with err and errno. */
static bool await_program(struct child *c, int fd, const struct child_spec *spec, const char *what, struct err *err)
{
	struct report said = {STEP_EXEC, 0};
	ssize_t n;
	while ((n = read(fd, &said, sizeof(said))) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)sizeof(said))
		return true;
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	errno = said.errnum;
	if (said.step == STEP_CWD)
		err_errno(err, EXIT_ENVIRON, "cannot run '%s': cannot enter '%s'", what, spec->cwd);
	else if (said.step == STEP_EXEC)
		err_errno(err, EXIT_ENVIRON, "cannot run '%s'", what);
	else
		err_errno(err, EXIT_ENVIRON, "cannot run '%s': cannot %s", what, step_name[said.step]);
	errno = said.errnum;
	return false;
}

struct child *child_start(struct childset *set, const struct child_spec *spec, struct err *err)
{
	const char *what = spec->argv && spec->argv[0] ? spec->argv[0] : "";
	if (!spec->function && !*what) {
		errno = ENOENT;
		err_set(err, EXIT_ENVIRON, "cannot run '': no program given");
		return NULL;
	}
	struct child *c = new_child(spec);
	struct plan plan = {.spec = spec, .stream = {-1, -1, -1}, .report = -1, .parent = getpid()};
	int theirs[3] = {-1, -1, -1}, report[2] = {-1, -1};
	plan.files = spec->function ? NULL : candidates(what);
	plan.env = make_env(spec);
	plan.high = xcalloc(spec->n_fds, sizeof(int));
	bool ok = !open_streams(spec, c, &plan, theirs) && !pipe2(report, O_CLOEXEC);
	plan.report = report[1];
	ok = ok && fork_child(c, &plan);
	int why = errno;
	for (int i = 0; i < 3; i++)
		child_close_fd(&theirs[i]);
	child_close_fd(&report[1]);
	if (!ok) {
		errno = why;
		err_errno(err, EXIT_ENVIRON, "cannot start a process for '%s'", what);
	} else {
		ok = await_program(c, report[0], spec, what, err);
		why = errno;
	}
	child_close_fd(&report[0]);
	free_list(plan.files);
	free(plan.env);
	free(plan.high);
	if (!ok) {
		child_dispose(c);
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
	PUSH_TO(set->v, set->n, set->cap) = c;
	return c;
}
