/* The filter of a sealed tool, and the second wall. System calls that are not listed here fail with EPERM.
 *
 * Permitted: reading files, memory, threads, waiting, the tool's own descriptors, forks (for the prober, model/binprobe/binprobe.h,
 * which confines itself further). Refused: opening for writing, making, renaming or removing files, starting programs, new sockets,
 * signals to others, other processes' memory, namespaces, typing into terminals. An open descriptor can be written to: standard output,
 * outputs, what the broker sent. */
#include "base/process/confine.h"
#include "base/process/linux.h"
#include "base/broker/broker.h"
#include "base/broker/broker_part.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const int allowed[] = {
    /* open descriptors */
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(pwrite64),
    SCMP_SYS(pwritev),
    SCMP_SYS(readv),
    SCMP_SYS(preadv),
    SCMP_SYS(sendfile),
    SCMP_SYS(copy_file_range),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(flock),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    SYS_close_range,
    SCMP_SYS(memfd_create),
    SCMP_SYS(eventfd2),
    /* reading files by name */
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(getcwd),
    SCMP_SYS(fadvise64),
    SCMP_SYS(readahead),
    /* waiting */
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(inotify_init1),
    SCMP_SYS(inotify_add_watch),
    SCMP_SYS(inotify_rm_watch),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    /* talking to the broker, and to watched processes (by a socket that listens already) */
    SCMP_SYS(accept4),
    SCMP_SYS(sendmsg),
    SCMP_SYS(recvmsg),
    SCMP_SYS(recvfrom),
    SCMP_SYS(getsockopt),
    SCMP_SYS(shutdown),
    /* its own processes and threads */
    SCMP_SYS(set_tid_address),
    SCMP_SYS(rseq),
    SCMP_SYS(wait4),
    SCMP_SYS(waitid),
    SCMP_SYS(pidfd_open),
    SCMP_SYS(setpgid),
    SCMP_SYS(getpgid),
    SCMP_SYS(getpgrp),
    SCMP_SYS(getsid),
    SCMP_SYS(getppid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getresuid),
    SCMP_SYS(getresgid),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(getcpu),
    SCMP_SYS(time),
    SCMP_SYS(times),
    SCMP_SYS(sysinfo),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrlimit),
    SCMP_SYS(setrlimit),
    SCMP_SYS(umask),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(rt_sigpending),
    SCMP_SYS(rt_sigsuspend),
    SCMP_SYS(rt_sigtimedwait),
    /* memory */
    SCMP_SYS(mincore),
    SCMP_SYS(msync),
    SCMP_SYS(get_mempolicy),
    SCMP_SYS(mbind),
    SCMP_SYS(set_mempolicy),
    SCMP_SYS(membarrier),
    SCMP_SYS(pkey_alloc),
    /* confining a fork further */
    SCMP_SYS(seccomp),
    SCMP_SYS(prctl),
    SCMP_SYS(capget),
    SCMP_SYS(capset),
    SYS_landlock_create_ruleset,
    SYS_landlock_add_rule,
    SYS_landlock_restrict_self,
};

/* LeakSanitizer traces the process that it inspects. */
static const int for_asan[] = {SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(tgkill), SCMP_SYS(socketpair), SCMP_SYS(getdents)};

/* fcntl() without F_SETOWN and F_SETSIG, which send signals to others; ioctl() without typing into a terminal (TIOCSTI). */
static const int fcntls[] = {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD, F_DUPFD_CLOEXEC, F_GETLK, F_SETLK, F_SETLKW};
static const unsigned long ioctls[] = {TIOCGWINSZ, TIOCGPGRP, 0x5401 /* TCGETS */, FIONREAD, FIOCLEX, 0xc040ff0b /* PIDFD_GET_INFO */};

static void rules(struct confine_filter *f)
{
	const scmp_datum_t spaces =
	    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
	const pid_t own = getpid();
	confine_calculate(f);
	confine_read_only(f);
	confine_allow(f, allowed, ARRAY_LEN(allowed));
	if (WITH_ASAN)
		confine_allow(f, for_asan, ARRAY_LEN(for_asan));
	confine_allow_if(f, SCMP_SYS(clone), CONFINE_BITS(0, spaces | CLONE_PARENT, 0));
	if (!f->rc) /* its flags are in memory, which no filter sees; without it libc uses clone() */
		f->rc = seccomp_rule_add(f->ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	confine_allow_if(f, SCMP_SYS(kill), CONFINE_EQUAL(1, 0)); /* does it exist? */
	confine_allow_if(f, SCMP_SYS(kill), CONFINE_EQUAL(0, own));
	if (!WITH_ASAN)
		confine_allow_if(f, SCMP_SYS(tgkill), CONFINE_EQUAL(0, own));
	confine_allow_if(f, SCMP_SYS(prlimit64), CONFINE_EQUAL(0, 0));
	confine_allow_if(f, SCMP_SYS(sched_setaffinity), CONFINE_EQUAL(0, 0));
	confine_allow_if(f, SCMP_SYS(sendto), CONFINE_EQUAL(4, 0)); /* only to the other end */
	for (size_t i = 0; i < ARRAY_LEN(fcntls); i++)
		confine_allow_if(f, SCMP_SYS(fcntl), CONFINE_EQUAL(1, fcntls[i]));
	for (size_t i = 0; i < ARRAY_LEN(ioctls); i++)
		confine_allow_if(f, SCMP_SYS(ioctl), CONFINE_EQUAL(1, ioctls[i]));
}

int seal_process(unsigned flags, struct err *err)
{
	struct confine_filter f;
	if (confine_no_new_privs(err) < 0)
		return -1;
	confine_begin(&f, SCMP_ACT_ERRNO(EPERM));
	rules(&f);
	if (confine_load(&f, "the tool's filter of system calls", err) < 0)
		return -1;
	/* If what follows fails, the filter still holds. A library that a watched process has loaded is reached through /proc/PID/cwd and
	 * /proc/PID/root, which Landlock would close. */
	confine_drop_powers(flags & BROKER_SEES_PROCESSES, err);
	if (!(flags & BROKER_SEES_PROCESSES))
		confine_paths();
	return 0;
}
