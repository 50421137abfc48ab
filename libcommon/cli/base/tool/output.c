#include "base/tool/diag.h"
#include "base/tool/output.h"
#include "base/process/elsewhere.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
	struct output *next;
	char *path, *tmp; /* tmp: NULL if written in place */
	int fd;
	bool dir, replace;
	bool far; /* another process makes it (base/process/elsewhere.h) */
	uint32_t number;
};

/* Whoever creates, renames or removes an output under its temporary name holds the lock. The signal's thread takes it for good: then a
 * commit is either complete, and the leftover under the temporary name is removed, or it never starts. */
static struct output *open_outputs;
static pid_t owner; /* of the outputs: a forked process that dies leaves them alone */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	remove(path);
	return 0;
}

void remove_tree(const char *path)
{
	/* Workers may still add files while a signal removes the tree. */
	for (int i = 0; i < 50 && access(path, F_OK) == 0; i++)
		nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

/* ---- what a killed process left under a temporary name ---- */

/* The process of NAME.tmp.PID; 0: another name. */
static pid_t left_by(const char *entry, const char *name, size_t n)
{
	uint64_t pid;
	if (strncmp(entry, name, n) || strncmp(entry + n, ".tmp.", 5) || !slice_u64(slice_str(entry + n + 5), &pid) || pid > INT_MAX)
		return 0;
	return (pid_t)pid;
}

/* Is it ours, of a process that is gone? Of one that this system does not see (a container's, another machine's) the lock tells, as far
 * as the file system has locks. */
static bool is_left(int folder, const char *entry, pid_t pid)
{
	struct stat st;
	if (pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH)
		return false;
	int fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool left = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
		    flock(fd, LOCK_EX | LOCK_NB) == 0;
	if (fd >= 0)
		close(fd);
	return left;
}

static void sweep_beside(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder = slash ? xstrndup(path, slash == path ? 1 : (size_t)(slash - path)) : xstrdup(".");
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d));) {
		pid_t pid = left_by(e->d_name, name, strlen(name));
		if (!is_left(dirfd(d), e->d_name, pid))
			continue;
		FREED char *left = xasprintf("%s.tmp.%ld", path, (long)pid);
		remove_tree(left);
	}
	if (d)
		closedir(d);
	free(folder);
}

/* Once for each name: fxminify writes one again and again. */
static void sweep_once(const char *path)
{
	static char *last;
	if (last && !strcmp(last, path))
		return;
	free(last);
	last = xstrdup(path);
	sweep_beside(path);
}

static void hold(int fd)
{
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB); /* where there are locks */
}

static struct output *add_output(const char *path, bool dir)
{
	struct output *o = xcalloc(1, sizeof(*o));
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	o->path = xstrndup(path, n);
	o->tmp = xasprintf("%s.tmp.%ld", o->path, (long)getpid());
	o->dir = dir;
	o->fd = -1;
	pthread_mutex_lock(&lock);
	sweep_once(o->path);
	if (!owner)
		diag_at_die(output_abort_all);
	owner = getpid();
	o->next = open_outputs;
	open_outputs = o;
	pthread_mutex_unlock(&lock);
	return o;
}

static void drop(struct output *o)
{
	pthread_mutex_lock(&lock);
	for (struct output **p = &open_outputs; *p; p = &(*p)->next)
		if (*p == o) {
			*p = o->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	free(o->path);
	free(o->tmp);
	free(o);
}

/* A name of one of our own descriptors, which another process has not; -1. */
static int own_descriptor(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	uint64_t n;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (!strncmp(path, folders[i], strlen(folders[i])) && slice_u64(slice_str(path + strlen(folders[i])), &n) && n <= INT_MAX)
			return (int)n;
	return !strcmp(path, "/dev/stdout") ? 1 : !strcmp(path, "/dev/stderr") ? 2 : -1;
}

static struct output *far_output(const char *path, bool dir, bool replace, bool (*is_ours)(int fd), struct err *err)
{
	struct output *o = add_output(path, dir);
	const int own = dir ? -1 : own_descriptor(path);
	o->far = own < 0;
	if (own >= 0) {
		free(o->tmp);
		o->tmp = NULL;
		if ((o->fd = fcntl(own, F_DUPFD_CLOEXEC, 3)) >= 0)
			return o;
		err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
		drop(o);
		return NULL;
	}
	o->fd = dir ? elsewhere->output_dir(path, replace, is_ours, &o->number, err) : elsewhere->output_file(path, &o->number, err);
	if (o->fd >= 0)
		return o;
	drop(o);
	return NULL;
}

struct output *output_file(const char *path, struct err *err)
{
	struct stat st;
	bool exists = stat(path, &st) == 0;
	if (exists && S_ISDIR(st.st_mode)) {
		err_set(err, EXIT_USAGE, "cannot write '%s': is a directory", path);
		return NULL;
	}
	if (elsewhere && (elsewhere->sealed || !exists || S_ISREG(st.st_mode)))
		return far_output(path, false, false, NULL, err);
	/* A link stays: the file that it names is replaced. */
	bool link = exists && lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
	char *real = link && stat(path, &st) == 0 && S_ISREG(st.st_mode) ? realpath(path, NULL) : NULL;
	/* /dev/stdout, a named pipe: nothing to replace; the same if standard output is a file without a name. */
	bool in_place = exists && (!S_ISREG(st.st_mode) || (link && !real));
	struct output *o = add_output(real ? real : path, false);
	free(real);
	if (in_place) {
		free(o->tmp);
		o->tmp = NULL;
		o->fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
	} else {
		pthread_mutex_lock(&lock);
		o->fd = open(o->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		hold(o->fd);
		pthread_mutex_unlock(&lock);
	}
	if (o->fd < 0) {
		err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
		drop(o);
		return NULL;
	}
	return o;
}

static bool is_empty(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	bool empty = d != NULL;
	for (struct dirent *e; d && (e = readdir(d));)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			empty = false;
	if (d)
		closedir(d);
	return empty;
}

struct output *output_dir(const char *path, bool replace, bool (*is_ours)(int fd), struct err *err)
{
	char here[PATH_MAX], real[PATH_MAX];
	if (elsewhere)
		return far_output(path, true, replace, is_ours, err);
	if (!*path) {
		err_set(err, EXIT_USAGE, "the output directory has no name");
		return NULL;
	}
	bool empty = true;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		empty = is_empty(fd);
		bool ours = empty || is_ours(fd);
		close(fd);
		if (!empty && !replace) {
			err_set(err, EXIT_USAGE, "directory '%s' exists; --overwrite replaces it, -o DIR writes elsewhere", path);
			return NULL;
		}
		if (!empty && !ours) {
			err_set(err, EXIT_USAGE, "will not overwrite '%s': it is not a report of this tool, or holds other files", path);
			return NULL;
		}
		if (!realpath(path, real)) {
			err_errno(err, EXIT_ENVIRON, "cannot write into '%s'", path);
			return NULL;
		}
		if (getcwd(here, sizeof(here))) {
			size_t n = strlen(real);
			if (!strncmp(here, real, n) && (!here[n] || here[n] == '/' || n == 1)) {
				err_set(err, EXIT_USAGE, "will not overwrite '%s': it is or holds the working directory", path);
				return NULL;
			}
		}
	} else if (errno == ENOTDIR) {
		err_set(err, EXIT_USAGE, "cannot write into '%s': it is a file", path);
		return NULL;
	}
	struct output *o = add_output(path, true);
	char link[1];
	if (fd >= 0 && readlink(o->path, link, sizeof(link)) >= 0) { /* a symbolic link stays: its target is replaced */
		drop(o);
		o = add_output(real, true);
	}
	/* rename() replaces an empty folder, and only as long as it is empty. */
	o->replace = !empty;
	/* Parent folders are created, as with mkdir -p. */
	for (char *p = o->tmp + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		int r = mkdir(o->tmp, 0777);
		*p = '/';
		if (r < 0 && errno != EEXIST)
			break;
	}
	pthread_mutex_lock(&lock);
	if (mkdir(o->tmp, 0777) == 0 && (o->fd = open(o->tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		int why = errno;
		rmdir(o->tmp);
		errno = why;
	}
	hold(o->fd);
	pthread_mutex_unlock(&lock);
	if (o->fd < 0) {
		err_errno(err, EXIT_ENVIRON, "cannot create directory '%s'", o->tmp);
		drop(o);
		return NULL;
	}
	return o;
}

int output_fd(const struct output *o) { return o->fd; }

const char *output_inner(const char *folder, const char *name)
{
	static _Thread_local char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s%s%s", folder, slice_ends(slice_str(folder), "/") ? "" : "/", name);
	return path;
}

void output_discard(const struct output *o, const char *name)
{
	if (o->far) {
		elsewhere->output_discard(o->number, name);
		return;
	}
	FREED char *path = xasprintf("%s/%s", o->tmp, name);
	remove_tree(path);
}

/* Moves the new one to its name; the replaced one is then under the temporary name. */
static int put_in_place(const struct output *o)
{
	if (!o->dir || !o->replace)
		return rename(o->tmp, o->path);
	int r = renameat2(AT_FDCWD, o->tmp, AT_FDCWD, o->path, RENAME_EXCHANGE);
	if (r == 0 || (errno != EINVAL && errno != ENOSYS))
		return r;
	/* On a file system without exchange: two renames. */
	FREED char *old = xasprintf("%s.old.%ld", o->path, (long)getpid());
	r = rename(o->path, old);
	if (!r && (r = rename(o->tmp, o->path)) < 0) {
		int why = errno;
		rename(old, o->path);
		errno = why;
	} else if (!r) {
		rename(old, o->tmp);
	}
	return r;
}

int output_commit(struct output *o, struct err *err)
{
	int fd = o->fd;
	o->fd = -1;
	if (close(fd) < 0) {
		err_errno(err, EXIT_ENVIRON, "cannot write '%s'", o->path);
		output_abort(o);
		return -1;
	}
	if (o->far) {
		const uint32_t number = o->number;
		drop(o);
		return elsewhere->output_commit(number, err);
	}
	if (!o->tmp) {
		drop(o);
		return 0;
	}
	pthread_mutex_lock(&lock);
	int r = put_in_place(o);
	pthread_mutex_unlock(&lock);
	if (r < 0) {
		if (o->dir && (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR))
			err_set(err, EXIT_ENVIRON, "cannot write '%s': created by another process in the meantime", o->path);
		else
			err_errno(err, EXIT_ENVIRON, "cannot rename '%s' to '%s'", o->tmp, o->path);
		output_abort(o);
		return -1;
	}
	if (o->dir && o->replace)
		remove_tree(o->tmp);
	drop(o);
	return 0;
}

int output_write(const char *path, const struct slice *part, size_t n, struct err *err)
{
	struct output *o = output_file(path, err);
	int status = o ? 0 : -1;
	for (size_t i = 0; i < n && status == 0; i++)
		status = write_all(output_fd(o), part[i].p, part[i].n, path, err);
	if (status == 0)
		return output_commit(o, err);
	output_abort(o);
	return -1;
}

static void take_away(struct output *o)
{
	if (o->far)
		elsewhere->output_abort(o->number);
	else if (o->dir)
		remove_tree(o->tmp);
	else if (o->tmp)
		unlink(o->tmp);
}

void output_abort(struct output *o)
{
	if (!o)
		return;
	if (o->fd >= 0)
		close(o->fd);
	take_away(o);
	drop(o);
}

void output_abort_all(void)
{
	if (getpid() != owner)
		return;
	pthread_mutex_lock(&lock);
	for (struct output *o = open_outputs; o; o = o->next)
		take_away(o);
	open_outputs = NULL;
	pthread_mutex_unlock(&lock);
}

static sem_t waiting;

static void *wait_for_signal(void *arg)
{
	sigset_t *set = arg;
	int sig;
	sem_post(&waiting);
	if (sigwait(set, &sig))
		return NULL;
	/* The lock is kept: a thread that fails because its files are gone waits silently for the end. */
	pthread_mutex_lock(&lock);
	for (struct output *o = open_outputs; o; o = o->next)
		take_away(o);
	signal(sig, SIG_DFL);
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, sig);
	kill(getpid(), sig);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	return NULL;
}

void output_fail_writes(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* ulimit -f: writing fails with EFBIG */
	/* The number of a closed standard stream must not be reused for a file: uses of it must fail. */
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			break;
}

void output_watch_signals(void)
{
	static sigset_t set;
	pthread_t t;
	static const int sigs[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction sa;
	output_fail_writes();
	sigemptyset(&set);
	for (unsigned i = 0; i < ARRAY_LEN(sigs); i++)
		if (sigaction(sigs[i], NULL, &sa) == 0 && sa.sa_handler != SIG_IGN) /* nohup stays nohup */
			sigaddset(&set, sigs[i]);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sem_init(&waiting, 0, 0);
	if (pthread_create(&t, NULL, wait_for_signal, &set)) {
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		return;
	}
	pthread_detach(t);
	/* A fork while the thread starts would copy the locks that it holds (also a sanitizer's) and wait for them forever. */
	while (sem_wait(&waiting) < 0)
		;
}
