/* What a model's process may do: calculate, start threads, read files, write its outputs. Installed before the model's
 * library is loaded, whose initialisers are the first foreign code to run.
 *
 * Refused calls fail with EPERM: libraries that only ask (a NUMA policy, a socket to a log daemon) go on without. Where
 * the probe watches (LD_PRELOAD), it needs files in its folder (no socket: its contract lies there); then Landlock keeps writing to that
 * folder, on kernels that have it (5.13). */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int allowed[] = {
    /* memory */
    SCMP_SYS(brk),
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    SCMP_SYS(mincore),
    SCMP_SYS(get_mempolicy),
    SCMP_SYS(mbind),
    SCMP_SYS(set_mempolicy),
    SCMP_SYS(membarrier),
    SCMP_SYS(pkey_alloc),
    /* threads and time */
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(rseq),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_setaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(getcpu),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(times),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    /* signals to itself */
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigpending),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sigaltstack),
    /* who and where it is */
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getppid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrlimit),
    SCMP_SYS(getcwd),
    SCMP_SYS(getrandom),
    /* reading files */
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(fadvise64),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
};

static const int for_probe[] = {
    SCMP_SYS(openat),  SCMP_SYS(open),   SCMP_SYS(ftruncate), SCMP_SYS(pwrite64), SCMP_SYS(flock),  SCMP_SYS(write),
    SCMP_SYS(writev),  SCMP_SYS(mkdir),  SCMP_SYS(mkdirat),   SCMP_SYS(rename),   SCMP_SYS(renameat), SCMP_SYS(unlink),
    SCMP_SYS(fallocate),
};

/* Not SCMP_A0() and its kin, which leave a member out (clang minds). */
#define EQUAL(n, value) ((struct scmp_arg_cmp){.arg = (n), .op = SCMP_CMP_EQ, .datum_a = (scmp_datum_t)(value)})
#define ALLOW(...)                                                                                                     \
	do {                                                                                                           \
		if (!rc)                                                                                               \
			rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, __VA_ARGS__);                                         \
	} while (0)

static int write_rules(scmp_filter_ctx f, const struct job *j)
{
	const int fd[] = {1, 2, j->out_fd, j->own_err};
	int rc = 0;
	for (size_t i = 0; i < ARRAY_LEN(fd); i++) {
		ALLOW(SCMP_SYS(write), 1, EQUAL(0, fd[i]));
		ALLOW(SCMP_SYS(writev), 1, EQUAL(0, fd[i]));
	}
	/* The values and what else a flag word may ask for: O_TMPFILE holds O_DIRECTORY, so only its own bit. */
	const scmp_datum_t mask = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
	ALLOW(SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, mask, O_RDONLY));
	ALLOW(SCMP_SYS(open), 1, SCMP_A1(SCMP_CMP_MASKED_EQ, mask, O_RDONLY));
	return rc;
}

static int rules(scmp_filter_ctx f, const struct job *j)
{
	int rc = 0;
	for (size_t i = 0; i < ARRAY_LEN(allowed); i++)
		ALLOW(allowed[i], 0);
	for (size_t i = 0; j->watched && i < ARRAY_LEN(for_probe); i++)
		ALLOW(for_probe[i], 0);
	if (!j->watched && !rc)
		rc = write_rules(f, j);
	/* Threads only. What clone3() wants lies in memory, where no filter sees it; without it libc takes clone(). */
	ALLOW(SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM));
	if (!rc)
		rc = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	const scmp_datum_t self = (scmp_datum_t)getpid();
	ALLOW(SCMP_SYS(tgkill), 1, EQUAL(0, self)); /* abort() */
	/* Limits may be asked for, not set; of prctl() only a thread's name. */
	ALLOW(SCMP_SYS(prlimit64), 1, EQUAL(2, 0));
	ALLOW(SCMP_SYS(prctl), 1, EQUAL(0, PR_SET_NAME));
	ALLOW(SCMP_SYS(prctl), 1, EQUAL(0, PR_GET_NAME));
	ALLOW(SCMP_SYS(fcntl), 1, EQUAL(1, F_GETFD));
	ALLOW(SCMP_SYS(fcntl), 1, EQUAL(1, F_SETFD));
	ALLOW(SCMP_SYS(fcntl), 1, EQUAL(1, F_GETFL));
	return rc;
}

static int filter(const struct job *j, struct err *err)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!f)
		return err_set(err, EXIT_ENVIRON, "cannot make a filter of system calls");
	int rc = seccomp_attr_set(f, SCMP_FLTATR_CTL_NNP, 0);
	if (!rc)
		rc = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!rc)
		rc = rules(f, j);
	if (!rc)
		rc = seccomp_load(f);
	seccomp_release(f);
	if (!rc)
		return 0;
	errno = -rc;
	return err_errno(err, EXIT_ENVIRON, "cannot install the filter of system calls");
}

/* ---- Landlock: where may be written ---- */

enum {
	WRITES = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
		 LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
		 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		 LANDLOCK_ACCESS_FS_MAKE_SYM,
};

static int permit(int rules_fd, const char *folder, struct err *err)
{
	struct landlock_path_beneath_attr a = {.allowed_access = WRITES};
	if (!folder)
		return 0;
	a.parent_fd = open(folder, O_PATH | O_CLOEXEC | O_DIRECTORY);
	if (a.parent_fd < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot open the folder '%s'", folder);
	long rc = syscall(SYS_landlock_add_rule, rules_fd, LANDLOCK_RULE_PATH_BENEATH, &a, 0);
	close(a.parent_fd);
	return rc < 0 ? err_errno(err, EXIT_ENVIRON, "cannot permit writing in '%s'", folder) : 0;
}

static int keep_writing(const struct job *j, struct err *err)
{
	struct landlock_ruleset_attr a = {.handled_access_fs = WRITES};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &a, sizeof(a), 0);
	if (fd < 0)
		return 0; /* not in this kernel: the filter of calls is what there is */
	int r = 0;
	if (j->watched && (permit(fd, getenv("PT2_PROBE_DIR"), err) < 0 || permit(fd, j->save_dir, err) < 0))
		r = -1;
	if (!r && syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		r = err_errno(err, EXIT_ENVIRON, "cannot confine writing");
	close(fd);
	return r;
}

static int limit(__rlimit_resource_t what, uint64_t value, const char *name, struct err *err)
{
	struct rlimit old, lim;
	if (getrlimit(what, &old) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot read the limit of %s", name);
	lim.rlim_cur = lim.rlim_max = value < old.rlim_max ? value : old.rlim_max;
	return setrlimit(what, &lim) < 0 ? err_errno(err, EXIT_ENVIRON, "cannot limit %s", name) : 0;
}

int confine(const struct job *j, struct err *err)
{
	if (limit(RLIMIT_CORE, 0, "core files", err) < 0)
		return -1;
	if (j->max_memory && limit(RLIMIT_AS, j->max_memory, "memory", err) < 0)
		return -1;
	if (j->unconfined)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return err_errno(err, EXIT_ENVIRON, "cannot give up new privileges");
	return keep_writing(j, err) < 0 || filter(j, err) < 0 ? -1 : 0;
}
