#include "base/process/confine.h"
#include "base/process/linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

int confine_limit(__rlimit_resource_t what, uint64_t value, const char *name, struct err *err)
{
	struct rlimit old, lim;
	if (getrlimit(what, &old) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot read the limit of %s", name);
	lim.rlim_cur = lim.rlim_max = value < old.rlim_max ? value : old.rlim_max;
	return setrlimit(what, &lim) < 0 ? err_errno(err, EXIT_ENVIRON, "cannot limit %s", name) : 0;
}

int confine_no_new_privs(struct err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return err_errno(err, EXIT_ENVIRON, "cannot give up new privileges");
	return 0;
}

int confine_drop_powers(bool processes, struct err *err)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	if (syscall(SYS_capget, &head, data) == 0) {
		const uint32_t keep = data[0].effective & (1u << CAP_DAC_READ_SEARCH | (processes ? 1u << CAP_SYS_PTRACE : 0));
		data[0] = (struct __user_cap_data_struct){.effective = keep, .permitted = keep};
		data[1] = (struct __user_cap_data_struct){0};
		if (syscall(SYS_capset, &head, data) == 0)
			return 0;
	}
	return err_errno(err, EXIT_ENVIRON, "cannot give up root's powers");
}

int confine_close_others(const int *keep, size_t n, struct err *err)
{
	for (unsigned first = 3;;) {
		unsigned next = ~0u;
		for (size_t i = 0; i < n; i++)
			if (keep[i] >= 0 && (unsigned)keep[i] >= first && (unsigned)keep[i] < next)
				next = (unsigned)keep[i];
		if (next > first && syscall(SYS_close_range, first, next - (next != ~0u), 0u) < 0) {
			if (errno != ENOSYS) /* before Linux 5.9 */
				return err_errno(err, EXIT_ENVIRON, "cannot close the tool's files");
			for (int fd = (int)first; fd < (int)(next < 65536 ? next : 65536); fd++)
				close(fd);
		}
		if (next == ~0u)
			return 0;
		first = next + 1;
	}
}

static pthread_mutex_t hide_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned hidden; /* by so many threads */

bool confine_hide(void)
{
	pthread_mutex_lock(&hide_lock);
	const bool hides = hidden || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;
	if (hides && !hidden++)
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	pthread_mutex_unlock(&hide_lock);
	return hides;
}

void confine_unhide(bool was)
{
	pthread_mutex_lock(&hide_lock);
	if (was && !--hidden)
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	pthread_mutex_unlock(&hide_lock);
}

void confine_begin(struct confine_filter *f, uint32_t others)
{
	f->ctx = seccomp_init(others);
	f->rc = f->ctx ? 0 : -ENOMEM;
	/* no_new_privs is set and checked before; libseccomp must not be the one to decide about it. */
	if (!f->rc)
		f->rc = seccomp_attr_set(f->ctx, SCMP_FLTATR_CTL_NNP, 0);
	if (!f->rc)
		f->rc = seccomp_attr_set(f->ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!f->rc) /* a library may have started some */
		f->rc = seccomp_attr_set(f->ctx, SCMP_FLTATR_CTL_TSYNC, 1);
}

void confine_allow(struct confine_filter *f, const int *calls, size_t n)
{
	for (size_t i = 0; i < n && !f->rc; i++)
		f->rc = seccomp_rule_add(f->ctx, SCMP_ACT_ALLOW, calls[i], 0);
}

void confine_allow_if(struct confine_filter *f, int call, struct scmp_arg_cmp argument)
{
	if (!f->rc)
		f->rc = seccomp_rule_add(f->ctx, SCMP_ACT_ALLOW, call, 1, argument);
}

static const int calculating[] = {
    SCMP_SYS(munmap), SCMP_SYS(mprotect),      SCMP_SYS(mremap),       SCMP_SYS(brk),          SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(futex),  SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),   SCMP_SYS(exit_group),    SCMP_SYS(rt_sigreturn), SCMP_SYS(sched_yield),  SCMP_SYS(getrandom),
    SCMP_SYS(getpid), SCMP_SYS(gettid),
};

/* The advice that madvise() may give: not MADV_REMOVE, which takes the blocks of a file away that is mapped, the call log's too. */
static const int advice[] = {
    MADV_NORMAL,
    MADV_RANDOM,
    MADV_SEQUENTIAL,
    MADV_WILLNEED,
    MADV_DONTNEED,
    MADV_FREE,
    MADV_DONTFORK,
    MADV_DOFORK,
    MADV_MERGEABLE,
    MADV_HUGEPAGE,
    MADV_NOHUGEPAGE,
    MADV_DONTDUMP,
    MADV_UNMERGEABLE,
    MADV_DODUMP,
    22 /* MADV_POPULATE_READ */,
    23 /* MADV_POPULATE_WRITE */,
};

void confine_calculate(struct confine_filter *f)
{
	confine_allow(f, calculating, ARRAY_LEN(calculating));
	for (size_t i = 0; i < ARRAY_LEN(advice); i++)
		confine_allow_if(f, SCMP_SYS(madvise), CONFINE_EQUAL(2, advice[i]));
}

static const int reading[] = {
    SCMP_SYS(read),       SCMP_SYS(pread64), SCMP_SYS(close),        SCMP_SYS(fstat),
    SCMP_SYS(newfstatat), SCMP_SYS(stat),    SCMP_SYS(lstat),        SCMP_SYS(statx),
    SCMP_SYS(lseek),      SCMP_SYS(mmap),    SCMP_SYS(access),       SCMP_SYS(faccessat),
    SCMP_SYS(readlink),   SCMP_SYS(uname),   SCMP_SYS(rt_sigaction), SCMP_SYS(set_robust_list),
};

void confine_read_only(struct confine_filter *f)
{
	confine_allow(f, reading, ARRAY_LEN(reading));
	/* The values and what else a flag word may ask for: O_TMPFILE holds O_DIRECTORY, so only its own bit. */
	const scmp_datum_t mask = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
	confine_allow_if(f, SCMP_SYS(openat), CONFINE_BITS(2, mask, O_RDONLY));
	confine_allow_if(f, SCMP_SYS(open), CONFINE_BITS(1, mask, O_RDONLY));
}

int confine_load(struct confine_filter *f, const char *which, struct err *err)
{
	if (!f->rc)
		f->rc = seccomp_load(f->ctx);
	if (f->ctx)
		seccomp_release(f->ctx);
	f->ctx = NULL;
	if (!f->rc)
		return 0;
	errno = -f->rc;
	return err_errno(err, EXIT_ENVIRON, "cannot install %s", which);
}

/* ---- Landlock: nowhere may be written, and what may be read ---- */

/* Documentation/userspace-api/landlock.rst of Linux 6.10: what the kernel's version of it can refuse, bit by bit from
 * LANDLOCK_ACCESS_FS_EXECUTE on; REFER is of the second, TRUNCATE of the third, IOCTL_DEV of the fifth. */
static uint64_t handled(int version)
{
	const int bits = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
	return ((UINT64_C(1) << bits) - 1) & ~(uint64_t)(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_DIR);
}

static void permit(int rules_fd, int at, const char *name, uint64_t access)
{
	struct landlock_path_beneath_attr a = {.allowed_access = access};
	a.parent_fd = openat(at, name, O_PATH | O_CLOEXEC);
	if (a.parent_fd < 0)
		return;
	syscall(SYS_landlock_add_rule, rules_fd, LANDLOCK_RULE_PATH_BENEATH, &a, 0);
	close(a.parent_fd);
}

/* Of /proc only what is not a process, and itself; of /dev only what is not a terminal and not a disk. */
static bool may_be_read(const char *folder, const char *name)
{
	static const char *const devices[] = {"null", "zero", "full", "random", "urandom", "shm"};
	char own[16];
	snprintf(own, sizeof(own), "%d", getpid());
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return false;
	if (!strcmp(folder, "/proc"))
		return strcmp(name, "self") && strcmp(name, "thread-self") && (*name < '0' || *name > '9' || !strcmp(name, own));
	bool one = strcmp(folder, "/dev") && strcmp(name, "dev") && strcmp(name, "proc");
	for (size_t i = 0; i < ARRAY_LEN(devices) && !one; i++)
		one = !strcmp(folder, "/dev") && !strcmp(name, devices[i]);
	return one;
}

static void permit_all(int rules_fd, const char *folder)
{
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d));)
		if (may_be_read(folder, e->d_name))
			permit(rules_fd, dirfd(d), e->d_name, LANDLOCK_ACCESS_FS_READ_FILE);
	if (d)
		closedir(d);
}

static int landlock_version(void) { return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION); }

/* -1: none. */
static int begin_rules(uint64_t access)
{
	struct landlock_ruleset_attr a = {.handled_access_fs = access};
	return access ? (int)syscall(SYS_landlock_create_ruleset, &a, sizeof(a.handled_access_fs), 0) : -1;
}

static bool end_rules(int fd)
{
	bool stands = syscall(SYS_landlock_restrict_self, fd, 0) == 0;
	close(fd);
	return stands;
}

bool confine_paths(void)
{
	int version = landlock_version();
	int fd = begin_rules(version > 0 ? handled(version) : 0);
	if (fd < 0)
		return false;
	permit_all(fd, "/");
	permit_all(fd, "/proc");
	permit_all(fd, "/dev");
	return end_rules(fd);
}

bool confine_has_landlock(void) { return landlock_version() > 0; }

/* Rights of folders cannot be given to a file. */
static void permit_below(int rules_fd, const char *const *path, uint64_t access)
{
	const uint64_t of_files = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | (access & LANDLOCK_ACCESS_FS_TRUNCATE);
	struct stat st;
	for (; *path; path++)
		if (stat(*path, &st) == 0)
			permit(rules_fd, AT_FDCWD, *path, S_ISDIR(st.st_mode) ? access : access & of_files);
}

bool confine_below(const char *const *read, const char *const *write)
{
	int version = landlock_version();
	const uint64_t all = version > 0 ? handled(version) : 0;
	int fd = begin_rules(all);
	if (fd < 0)
		return false;
	permit_below(fd, read, LANDLOCK_ACCESS_FS_READ_FILE);
	permit_below(fd, write, all);
	return end_rules(fd);
}
