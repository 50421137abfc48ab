/* inject.c - a preload that makes calls fail on purpose, for tests/cli/inject.t. What the environment asks for:
 *
 *     INJECT_FILE=TEXT      reads: only of files whose path contains TEXT
 *     INJECT_READ=EIO:N     reading the file fails after N bytes
 *     INJECT_READ=SHORT     a read gives 1 to 7 bytes; after the first thousands up to 4 KiB, so that it ends
 *     INJECT_READ=EINTR     two of three reads, and writes, are interrupted
 *     INJECT_WRITE=N        writes to regular files and pipes fail with ENOSPC after N bytes in all
 *     INJECT_WRITE=#N       the Nth write of a process into a regular file fails with ENOSPC, those after it do not
 *     INJECT_WRITE=SHORT    a write takes 1 to 7 bytes, or half
 *     INJECT_MALLOC=N       the Nth allocation of 64 bytes and more, and all after it, fail
 *     INJECT_MALLOC=#N      the Nth allocation of a process, of any size, fails, those after it do not
 *     INJECT_STACKS=FILE    FILE gets a line N for each allocation that comes from callers (the nearest six) that none came from before
 *     INJECT_WHO=TEXT       both: only in processes of the program whose name begins with TEXT; with a + behind it, only in its forks
 *     INJECT_CLOSE=N        the Nth close of a file that was written fails with ENOSPC
 *     INJECT_SIGNAL=CALL    a SIGTERM arrives in the middle of CALL (rename: also renameat2; mkdir: of a name with ".tmp."), and has
 *                           a tenth of a second to do what it does before the call goes on
 *     INJECT_LINK=EPERM     the file system has no hard links
 *     INJECT_CUT=N          the file is made N bytes short as soon as it is mapped
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FDS = 1024 };
static atomic_long read_bytes, written, calls, allocations, closes, writes;
static atomic_bool was_written[FDS];

/* A fork that runs no program (the prober's child) may be confined to less than what is asked for here. */
static pid_t started;
__attribute__((constructor)) static void start(void) { started = getpid(); }

static const char *want(const char *name) { return getenv(name); }

#define REAL(name) \
	static typeof(name) *real; \
	if (!real) \
	real = (typeof(name) *)dlsym(RTLD_NEXT, #name)

static int chosen(int fd)
{
	char link[64], path[PATH_MAX];
	const char *file = want("INJECT_FILE");
	if (!file)
		return fd == 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return 0;
	path[n] = 0;
	return strstr(path, file) != NULL;
}

static int interrupted(const char *how)
{
	if (!how || strcmp(how, "EINTR") || calls++ % 3 == 2)
		return 0;
	errno = EINTR;
	return 1;
}

/* How much of a read of n bytes may be done: n, less, or -1 with errno set. */
static ssize_t permit(int fd, size_t n)
{
	const char *how = want("INJECT_READ");
	if (!how || !n || !chosen(fd))
		return (ssize_t)n;
	if (interrupted(how))
		return -1;
	if (!strcmp(how, "SHORT") && n > 7) {
		size_t few = (size_t)(calls < 4000 ? 1 + calls % 7 : 1 + calls % 4093);
		calls++;
		n = few < n ? few : n;
	}
	if (!strncmp(how, "EIO:", 4)) {
		long left = atol(how + 4) - read_bytes;
		if (left <= 0) {
			errno = EIO;
			return -1;
		}
		if (n > (size_t)left)
			n = (size_t)left;
	}
	return (ssize_t)n;
}

static ssize_t was_read(int fd, ssize_t n)
{
	read_bytes += n > 0 && want("INJECT_READ") && chosen(fd) ? n : 0;
	return n;
}

ssize_t read(int fd, void *p, size_t n)
{
	REAL(read);
	ssize_t m = permit(fd, n);
	return m < 0 ? -1 : was_read(fd, real(fd, p, (size_t)m));
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
	REAL(pread);
	ssize_t m = permit(fd, n);
	return m < 0 ? -1 : was_read(fd, real(fd, p, (size_t)m, at));
}

/* How much of a write of n bytes may be done: n, less, or -1 with errno set. */
static ssize_t allow(int fd, size_t n)
{
	const char *how = want("INJECT_WRITE");
	struct stat st;
	if (fd >= 0 && fd < FDS && fd != STDERR_FILENO)
		was_written[fd] = 1;
	if (interrupted(want("INJECT_READ")))
		return -1;
	if (!how || fd == STDERR_FILENO || getpid() != started || fstat(fd, &st) < 0 ||
	    !(S_ISREG(st.st_mode) || (S_ISFIFO(st.st_mode) && *how != '#')))
		return (ssize_t)n;
	if (!strcmp(how, "SHORT"))
		return n < 8 ? 1 : calls++ % 3 ? (ssize_t)(n / 2) : (ssize_t)(1 + calls % 7);
	if (*how == '#') {
		errno = ENOSPC;
		return ++writes == atol(how + 1) ? -1 : (ssize_t)n;
	}
	long left = atol(how) - written;
	if (left <= 0) {
		errno = ENOSPC;
		return -1;
	}
	if (n > (size_t)left)
		n = (size_t)left;
	written += (long)n;
	return (ssize_t)n;
}

ssize_t write(int fd, const void *p, size_t n)
{
	REAL(write);
	ssize_t m = allow(fd, n);
	return m < 0 ? -1 : real(fd, p, (size_t)m);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	REAL(pwrite);
	ssize_t m = allow(fd, n);
	return m < 0 ? -1 : real(fd, p, (size_t)m, at);
}

ssize_t sendfile(int to, int from, off_t *at, size_t n)
{
	REAL(sendfile);
	struct stat st;
	if (fstat(from, &st) == 0 && at && (off_t)n > st.st_size - *at)
		n = (size_t)(st.st_size - *at);
	ssize_t m = n ? allow(to, n) : 0;
	return m < 0 ? -1 : m == 0 ? 0 : real(to, from, at, (size_t)m);
}

int close(int fd)
{
	REAL(close);
	const char *how = want("INJECT_CLOSE");
	if (fd >= 0 && fd < FDS && was_written[fd]) {
		was_written[fd] = 0;
		if (how && ++closes == atol(how)) {
			real(fd);
			errno = ENOSPC;
			return -1;
		}
	}
	return real(fd);
}

static void interrupt(const char *call)
{
	const char *how = want("INJECT_SIGNAL");
	if (!how || strcmp(how, call))
		return;
	kill(getpid(), SIGTERM);
	usleep(100000);
}

int link(const char *from, const char *to)
{
	REAL(link);
	if (want("INJECT_LINK")) {
		errno = EPERM;
		return -1;
	}
	return real(from, to);
}

int rename(const char *from, const char *to)
{
	REAL(rename);
	interrupt("rename");
	return real(from, to);
}

int renameat2(int at, const char *from, int to_at, const char *to, unsigned flags)
{
	REAL(renameat2);
	interrupt("rename");
	return real(at, from, to_at, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
	REAL(mkdir);
	if (strstr(path, ".tmp."))
		interrupt("mkdir");
	return real(path, mode);
}

/* Cuts files for a process that may not (broker.h): a fork from before it was sealed, which ends with it. */
static int cutter = -1;

__attribute__((constructor)) static void start_cutter(void)
{
	int pair[2];
	char path[PATH_MAX];
	const char *how = want("INJECT_CUT");
	if (!how || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	if (!fork()) {
		close(pair[1]);
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		for (ssize_t n; (n = read(pair[0], path, sizeof(path) - 1)) > 0;) {
			path[n] = 0;
			char failed = truncate(path, atol(how)) < 0;
			if (write(pair[0], &failed, 1) < 0)
				break;
		}
		_exit(0);
	}
	close(pair[0]);
	cutter = pair[1];
}

static void cut(int fd)
{
	char link[64], path[PATH_MAX], failed = 1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof(path));
	if (n <= 0 || write(cutter, path, (size_t)n) < 0 || read(cutter, &failed, 1) != 1 || failed)
		abort();
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t from)
{
	REAL(mmap);
	void *p = real(at, n, protection, flags, fd, from);
	if (cutter >= 0 && fd >= 0 && p != MAP_FAILED && chosen(fd))
		cut(fd);
	return p;
}

/* Which processes allocations are counted in: decided once for each, for getenv() at each would cost more than they do. */
static pid_t counted = -1;
static bool counts_here;
static long refused_one;
static int stacks = -1;
static uint64_t seen[1 << 16];
static _Thread_local bool inside;

static void look_who(void)
{
	const char *who = want("INJECT_WHO"), *how = want("INJECT_MALLOC"), *file = want("INJECT_STACKS");
	counted = getpid();
	allocations = 0;
	refused_one = how && *how == '#' ? atol(how + 1) : 0;
	const size_t n = who ? strcspn(who, "+") : 0;
	counts_here = !who || (!strncmp(program_invocation_short_name, who, n) && (who[n] == '+') == (counted != started));
	if (file && counts_here && stacks < 0) {
		void *frame[2];
		inside = true;
		stacks = fcntl(open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666), F_DUPFD_CLOEXEC, 900);
		backtrace(frame, 2); /* the first one loads libgcc */
		inside = false;
	}
}

/* Not ours to try: libseccomp 2.5.4 frees twice what rules were built in when it gets no memory for the next; libgfortran (of OpenBLAS) ends
 * the process with status 1; what dlopen() does not get makes a library that is optional one that is not there. */
static bool is_not_ours(const void *caller)
{
	static const char *const names[] = {"libseccomp", "libgfortran", "libopenblas", "ld-linux"};
	Dl_info info;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, names[i]))
			return true;
	return false;
}

/* Is it the first from these callers? The nearest six tell: who called those holds no more than they do. */
static bool is_new_stack(void)
{
	void *frame[8];
	uint64_t hash = 14695981039346656037u;
	inside = true;
	const int n = backtrace(frame, 8);
	inside = false;
	for (int i = 2; i < n; i++)
		hash = (hash ^ (uint64_t)(uintptr_t)frame[i]) * 1099511628211u;
	for (size_t at = hash >> 48;; at = (at + 1) % (1 << 16)) {
		if (seen[at] == hash)
			return false;
		if (!seen[at]) {
			seen[at] = hash;
			return true;
		}
	}
}

static int refused(size_t n, const void *caller)
{
	const char *how;
	if (inside || !started)
		return 0;
	if (counted != getpid())
		look_who();
	if (counts_here && (refused_one || stacks >= 0)) {
		const long number = ++allocations;
		if (stacks >= 0 && is_new_stack() && !is_not_ours(caller))
			dprintf(stacks, "%ld\n", number);
		if (number != refused_one || is_not_ours(caller))
			return 0;
		errno = ENOMEM;
		return 1;
	}
	how = n >= 64 ? want("INJECT_MALLOC") : NULL;
	if (!how || *how == '#' || ++allocations < atol(how))
		return 0;
	errno = ENOMEM;
	return 1;
}

/* glibc's own names: dlsym allocates, and must not come back here. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *malloc(size_t n) { return refused(n, __builtin_return_address(0)) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return refused(n * size, __builtin_return_address(0)) ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return refused(n, __builtin_return_address(0)) ? NULL : __libc_realloc(p, n); }
extern void *__libc_memalign(size_t, size_t);
void *aligned_alloc(size_t align, size_t n) { return refused(n, __builtin_return_address(0)) ? NULL : __libc_memalign(align, n); }
