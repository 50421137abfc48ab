/* Limits and filters of the prober's child. If any of it cannot be set up, the probe ends: nothing runs unconfined.
 *
 * A refused system call raises SIGSYS instead of killing at once, so that its number can be reported; the handler ends the
 * process, and if it cannot run (SIGSYS blocked, no stack) the kernel does. Calls of other architectures kill at once. */
#include "base/process/confine.h"
#include "model/binprobe/binprobe_child.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct binprobe_shared *shared;

static void refused(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	shared->refused = (uint32_t)info->si_syscall + 1;
	_exit(EXIT_INPUT);
}

static int catch_refusals(struct err *err)
{
	/* A separate stack: the one in use may be broken. */
	static char stack[16384] __attribute__((aligned(16)));
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_sigaction = refused, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigfillset(&sa.sa_mask);
	if (sigaltstack(&ss, NULL) < 0 || sigaction(SIGSYS, &sa, NULL) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot catch refused system calls");
	return 0;
}

int sandbox_limits(const struct binprobe_job *j, struct err *err)
{
	uint64_t seconds = (uint64_t)j->o->timeout_ms / 1000 + 2;
	/* If it may print, standard error may be a file; the filters allow no other writes. */
	if (!j->o->verbose && confine_limit(RLIMIT_FSIZE, 0, "the size of files", err) < 0)
		return -1;
	if (confine_limit(RLIMIT_CORE, 0, "core files", err) < 0 || confine_limit(RLIMIT_NPROC, 0, "processes", err) < 0 ||
	    confine_limit(RLIMIT_CPU, seconds, "processor time", err) < 0)
		return -1;
	/* The sanitizer's shadow takes terabytes of address space; there only the time limit and the filters apply. */
	if (WITH_ASAN)
		return 0;
	/* Memory mapped by the parent counts, too; weights are never copied, but the model reserves room for them. */
	uint64_t room = j->o->max_memory + 2 * (uint64_t)j->so.n + 2 * j->o->blob_size;
	return confine_limit(RLIMIT_AS, j->address_space + room, "memory", err);
}

/* Additional system calls for libseccomp and the dynamic linker. */
static const int while_loading[] = {SCMP_SYS(seccomp), SCMP_SYS(prctl)};

/* The sanitizer's runtime queries its own stack when a function does not return (exceptions, exit). */
static const int for_asan[] = {SCMP_SYS(sigaltstack)};

/* Common to both. */
static void begin_filter(struct confine_filter *f, const struct binprobe_job *j)
{
	confine_begin(f, SCMP_ACT_TRAP);
	confine_calculate(f);
	if (WITH_ASAN)
		confine_allow(f, for_asan, ARRAY_LEN(for_asan));
	/* abort(): so that it is reported as such. */
	if (!f->rc)
		f->rc =
		    seccomp_rule_add(f->ctx, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 2, CONFINE_EQUAL(0, getpid()), CONFINE_EQUAL(2, SIGABRT));
	confine_allow_if(f, SCMP_SYS(write), CONFINE_EQUAL(0, j->answer_fd));
	/* Standard output is /dev/null, and so is standard error unless the user asked to see it. */
	for (int fd = 1; fd <= 2; fd++) {
		confine_allow_if(f, SCMP_SYS(write), CONFINE_EQUAL(0, fd));
		confine_allow_if(f, SCMP_SYS(writev), CONFINE_EQUAL(0, fd));
	}
	/* isatty(), before stdio's first write to /dev/null, and before a sanitizer's message: no. */
	if (!f->rc)
		f->rc = seccomp_rule_add(f->ctx, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 1, CONFINE_EQUAL(1, TCGETS));
}

int sandbox_loading(const struct binprobe_job *j, struct err *err)
{
	struct confine_filter f;
	shared = j->shared;
	if (confine_no_new_privs(err) < 0 || confine_drop_powers(false, err) < 0)
		return -1;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (catch_refusals(err) < 0)
		return -1;
	begin_filter(&f, j);
	confine_allow(&f, while_loading, ARRAY_LEN(while_loading));
	confine_read_only(&f);
	return confine_load(&f, "the first filter of system calls", err);
}

int sandbox_running(const struct binprobe_job *j, struct err *err)
{
	struct confine_filter f;
	begin_filter(&f, j);
	confine_allow_if(&f, SCMP_SYS(mmap), CONFINE_BITS(3, MAP_ANONYMOUS, MAP_ANONYMOUS));
	return confine_load(&f, "the second filter of system calls", err);
}

void sandbox_syscall_name(uint32_t number, struct buf *b)
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)number);
	buf_addf(b, "system call %u (%s)", number, name ? name : "unknown");
	free(name);
}
