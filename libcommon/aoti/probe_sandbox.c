/* Limits and filters of the prober's child. Whatever cannot be set up ends the probe: nothing runs unconfined.
 *
 * A refused system call raises SIGSYS instead of killing at once, so that its number can be told; the handler ends the
 * process, and where it cannot run (SIGSYS blocked, no stack) the kernel does. Calls of other architectures kill at once. */
#include "aoti/probe_child.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifndef WITH_ASAN
#define WITH_ASAN 0
#endif

static struct probe_shared *shared;

static void refused(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	shared->refused = (uint32_t)info->si_syscall + 1;
	_exit(EXIT_INPUT);
}

static int catch_refusals(struct err *err)
{
	/* An own stack: the one in use may be what is broken. */
	static char stack[16384] __attribute__((aligned(16)));
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_sigaction = refused, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigfillset(&sa.sa_mask);
	if (sigaltstack(&ss, NULL) < 0 || sigaction(SIGSYS, &sa, NULL) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot catch refused system calls");
	return 0;
}

static int limit(__rlimit_resource_t what, uint64_t value, const char *name, struct err *err)
{
	struct rlimit old, lim;
	if (getrlimit(what, &old) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot read the limit of %s", name);
	lim.rlim_cur = lim.rlim_max = value < old.rlim_max ? value : old.rlim_max;
	if (setrlimit(what, &lim) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot limit %s", name);
	return 0;
}

int sandbox_limits(const struct probe_job *j, struct err *err)
{
	uint64_t seconds = (uint64_t)j->o->timeout_ms / 1000 + 2;
	/* When it may speak, standard error may be a file; the filters let nothing else be written. */
	if (!j->o->verbose && limit(RLIMIT_FSIZE, 0, "the size of files", err) < 0)
		return -1;
	if (limit(RLIMIT_CORE, 0, "core files", err) < 0 || limit(RLIMIT_NPROC, 0, "processes", err) < 0 ||
	    limit(RLIMIT_CPU, seconds, "processor time", err) < 0)
		return -1;
	/* The sanitizer's shadow takes terabytes of address space; there only time and the filters limit. */
	if (WITH_ASAN)
		return 0;
	/* What the parent has mapped counts too; weights are never copied, but the model reserves room for them. */
	uint64_t room = j->o->max_memory + 2 * (uint64_t)j->so.n + 2 * j->o->blob_size;
	return limit(RLIMIT_AS, j->address_space + room, "memory", err);
}

static const int always[] = {
    SCMP_SYS(munmap),	SCMP_SYS(mprotect),	 SCMP_SYS(mremap),	  SCMP_SYS(madvise),	   SCMP_SYS(brk),
    SCMP_SYS(futex),	SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(getrandom),
    SCMP_SYS(exit),	SCMP_SYS(exit_group),	 SCMP_SYS(rt_sigreturn), SCMP_SYS(sched_yield),  SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(getpid),	SCMP_SYS(gettid),	 SCMP_SYS(restart_syscall),
};

static const int while_loading[] = {
    SCMP_SYS(read),   SCMP_SYS(pread64), SCMP_SYS(close),	 SCMP_SYS(fstat),   SCMP_SYS(newfstatat), SCMP_SYS(stat),
    SCMP_SYS(lstat),  SCMP_SYS(statx),	 SCMP_SYS(lseek),	 SCMP_SYS(access),  SCMP_SYS(faccessat),  SCMP_SYS(readlink),
    SCMP_SYS(mmap),   SCMP_SYS(uname),	 SCMP_SYS(rt_sigaction), SCMP_SYS(seccomp), SCMP_SYS(prctl),	  SCMP_SYS(set_robust_list),
};

/* What the sanitizer's runtime asks for when a function does not return (exceptions, exit): its own stack. */
static const int for_asan[] = {SCMP_SYS(sigaltstack)};

/* (The header's SCMP_A0 leaves a field out, which compilers warn of.) */
static struct scmp_arg_cmp argument(unsigned n, scmp_datum_t is)
{
	return (struct scmp_arg_cmp){n, SCMP_CMP_EQ, is, 0};
}

static struct scmp_arg_cmp argument_bits(unsigned n, scmp_datum_t mask, scmp_datum_t are)
{
	return (struct scmp_arg_cmp){n, SCMP_CMP_MASKED_EQ, mask, are};
}

/* Common to both. 0, or a negative errno. */
static int common_rules(scmp_filter_ctx f, const struct probe_job *j)
{
	int rc = 0;
	for (size_t i = 0; i < ARRAY_LEN(always) && !rc; i++)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, always[i], 0);
	for (size_t i = 0; WITH_ASAN && i < ARRAY_LEN(for_asan) && !rc; i++)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, for_asan[i], 0);
	/* abort(): so that it is seen as what it is. */
	if (!rc)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 2, argument(0, (scmp_datum_t)getpid()),
				      argument(2, SIGABRT));
	if (!rc)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, argument(0, (scmp_datum_t)j->answer_fd));
	/* Standard output is /dev/null, and so is standard error unless the user wants to see it. */
	for (scmp_datum_t fd = 1; fd <= 2 && !rc; fd++) {
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, argument(0, fd));
		if (!rc)
			rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(writev), 1, argument(0, fd));
	}
	return rc;
}

static int loading_rules(scmp_filter_ctx f)
{
	/* The values and what else a flag word may ask for: O_TMPFILE holds O_DIRECTORY, so only its own bit. */
	const scmp_datum_t mask = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
	int rc = 0;
	for (size_t i = 0; i < ARRAY_LEN(while_loading) && !rc; i++)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, while_loading[i], 0);
	if (!rc)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, argument_bits(2, mask, O_RDONLY));
	if (!rc)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(open), 1, argument_bits(1, mask, O_RDONLY));
	return rc;
}

static int running_rules(scmp_filter_ctx f)
{
	return seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, argument_bits(3, MAP_ANONYMOUS, MAP_ANONYMOUS));
}

static int install(const struct probe_job *j, int (*rules)(scmp_filter_ctx f), const char *which, struct err *err)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_TRAP);
	if (!f)
		return err_set(err, EXIT_ENVIRON, "cannot make the %s filter of system calls", which);
	/* no_new_privs was set and checked before; libseccomp must not be the one to decide about it. */
	int rc = seccomp_attr_set(f, SCMP_FLTATR_CTL_NNP, 0);
	if (!rc)
		rc = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!rc)
		rc = common_rules(f, j);
	if (!rc)
		rc = rules(f);
	if (!rc)
		rc = seccomp_load(f);
	seccomp_release(f);
	if (!rc)
		return 0;
	errno = -rc;
	return err_errno(err, EXIT_ENVIRON, "cannot install the %s filter of system calls", which);
}

int sandbox_loading(const struct probe_job *j, struct err *err)
{
	shared = j->shared;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return err_errno(err, EXIT_ENVIRON, "cannot give up new privileges");
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (catch_refusals(err) < 0)
		return -1;
	return install(j, loading_rules, "first", err);
}

int sandbox_running(const struct probe_job *j, struct err *err) { return install(j, running_rules, "second", err); }

void sandbox_syscall_name(uint32_t number, struct buf *b)
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)number);
	buf_addf(b, "system call %u (%s)", number, name ? name : "unknown");
	free(name);
}
