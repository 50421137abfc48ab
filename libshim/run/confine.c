/* What a model's process may do: calculate, start threads, read files, write its outputs. Installed before the model's
 * library is loaded, whose initialisers are the first foreign code to run.
 *
 * Refused calls fail with EPERM: libraries that only ask (a NUMA policy, a socket to a log daemon) go on without. Where
 * the probe watches (LD_PRELOAD), it needs files in its folder (no socket: its contract lies there); then Landlock keeps writing to that
 * folder, on kernels that have it (5.13). A model for a GPU cannot be confined: its driver opens devices, maps more address space
 * than there is memory, and talks to daemons. */
#include "run.h"

#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/prctl.h>
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

static void rules(struct confine_filter *f, const struct job *j)
{
	const int output[] = {1, 2, j->out_fd, j->own_err};
	const scmp_datum_t thread = CLONE_THREAD | CLONE_VM;
	confine_allow(f, allowed, ARRAY_LEN(allowed));
	if (j->watched) {
		confine_allow(f, for_probe, ARRAY_LEN(for_probe));
	} else {
		for (size_t i = 0; i < ARRAY_LEN(output); i++) {
			confine_allow_if(f, SCMP_SYS(write), CONFINE_EQUAL(0, output[i]));
			confine_allow_if(f, SCMP_SYS(writev), CONFINE_EQUAL(0, output[i]));
		}
		confine_read_only(f);
	}
	/* Threads only. What clone3() wants lies in memory, where no filter sees it; without it libc takes clone(). */
	confine_allow_if(f, SCMP_SYS(clone), CONFINE_BITS(0, thread, thread));
	if (!f->rc)
		f->rc = seccomp_rule_add(f->ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	confine_allow_if(f, SCMP_SYS(tgkill), CONFINE_EQUAL(0, getpid())); /* abort() */
	/* Limits may be asked for, not set; of prctl() only a thread's name. */
	confine_allow_if(f, SCMP_SYS(prlimit64), CONFINE_EQUAL(2, 0));
	confine_allow_if(f, SCMP_SYS(prctl), CONFINE_EQUAL(0, PR_SET_NAME));
	confine_allow_if(f, SCMP_SYS(prctl), CONFINE_EQUAL(0, PR_GET_NAME));
	confine_allow_if(f, SCMP_SYS(fcntl), CONFINE_EQUAL(1, F_GETFD));
	confine_allow_if(f, SCMP_SYS(fcntl), CONFINE_EQUAL(1, F_SETFD));
	confine_allow_if(f, SCMP_SYS(fcntl), CONFINE_EQUAL(1, F_GETFL));
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

int confine(const struct job *j, struct err *err)
{
	struct confine_filter f;
	if (confine_limit(RLIMIT_CORE, 0, "core files", err) < 0)
		return -1;
	if (j->gpu)
		return 0;
	if (j->max_memory && confine_limit(RLIMIT_AS, j->max_memory, "memory", err) < 0)
		return -1;
	if (j->unconfined)
		return 0;
	if (confine_no_new_privs(err) < 0 || keep_writing(j, err) < 0)
		return -1;
	confine_begin(&f, SCMP_ACT_ERRNO(EPERM));
	rules(&f, j);
	return confine_load(&f, "the filter of system calls", err);
}
