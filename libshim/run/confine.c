/* Confines a model's process, which may calculate, start threads, read files, write its outputs. Installed before the model's
 * library is loaded, whose initialisers are the first foreign code to run.
 *
 * Refused calls fail with EPERM: libraries that only ask (a NUMA policy, a socket to a log daemon) go on without. Nothing can be opened
 * for writing, whoever watches: what the probe (LD_PRELOAD) writes is open before, and files of tensors are made by another process
 * (keeper.c). That holds by the filter alone. Landlock, on kernels that have it (5.13), is a second wall, and keeps other processes'
 * files in /proc out of reach, which no filter can see. A model for a GPU cannot be confined: its driver opens devices, maps more
 * address space than there is memory, and talks to daemons. */
#include "run.h"

#include "base/process/confine.h"
#include "watch/keeper.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

static const int allowed[] = {
    /* memory */
    SCMP_SYS(mincore),
    SCMP_SYS(get_mempolicy),
    SCMP_SYS(mbind),
    SCMP_SYS(set_mempolicy),
    SCMP_SYS(membarrier),
    SCMP_SYS(pkey_alloc),
    /* threads and time */
    SCMP_SYS(set_tid_address),
    SCMP_SYS(rseq),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(getcpu),
    SCMP_SYS(time),
    SCMP_SYS(times),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(arch_prctl),
    /* signals to itself */
    SCMP_SYS(rt_sigpending),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sigaltstack),
    /* who and where it is */
    SCMP_SYS(getppid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(sysinfo),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrlimit),
    SCMP_SYS(getcwd),
    /* reading files */
    SCMP_SYS(readv),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(fadvise64),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
};

static void rules(struct confine_filter *f, const struct job *j)
{
	const int output[] = {1, 2, j->out_fd, j->own_err, j->events};
	const scmp_datum_t thread = CLONE_THREAD | CLONE_VM;
	confine_calculate(f);
	confine_read_only(f);
	confine_allow(f, allowed, ARRAY_LEN(allowed));
	/* With a keeper descriptors come that have no number yet: all that can be written to are then of its making, or in this list. */
	for (size_t i = 0; i < ARRAY_LEN(output) && j->keeper < 0; i++)
		if (output[i] >= 0) {
			confine_allow_if(f, SCMP_SYS(write), CONFINE_EQUAL(0, output[i]));
			confine_allow_if(f, SCMP_SYS(writev), CONFINE_EQUAL(0, output[i]));
		}
	if (j->keeper >= 0) {
		confine_allow(f, (const int[]){SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(pwrite64)}, 3);
		confine_allow_if(f, SCMP_SYS(recvmsg), CONFINE_EQUAL(0, j->keeper));
	}
	/* Threads only. The arguments of clone3() are in memory, where no filter sees it; without it libc takes clone(). */
	confine_allow_if(f, SCMP_SYS(clone), CONFINE_BITS(0, thread, thread));
	if (!f->rc)
		f->rc = seccomp_rule_add(f->ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	confine_allow_if(f, SCMP_SYS(tgkill), CONFINE_EQUAL(0, getpid()));     /* abort() */
	confine_allow_if(f, SCMP_SYS(sched_setaffinity), CONFINE_EQUAL(0, 0)); /* of the thread that asks */
	confine_allow_if(f, SCMP_SYS(sched_setaffinity), CONFINE_EQUAL(0, getpid()));
	/* That of memory follows the filter, which needs some itself; once set it can only be lowered. */
	if (!f->rc)
		f->rc = seccomp_rule_add(f->ctx, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, CONFINE_EQUAL(0, 0), CONFINE_EQUAL(1, RLIMIT_AS));
	/* Others may be asked for, not set; of prctl() only a thread's name. */
	confine_allow_if(f, SCMP_SYS(prlimit64), CONFINE_EQUAL(2, 0));
	confine_allow_if(f, SCMP_SYS(prctl), CONFINE_EQUAL(0, PR_SET_NAME));
	confine_allow_if(f, SCMP_SYS(prctl), CONFINE_EQUAL(0, PR_GET_NAME));
	confine_allow_if(f, SCMP_SYS(fcntl), CONFINE_EQUAL(1, F_GETFD));
	confine_allow_if(f, SCMP_SYS(fcntl), CONFINE_EQUAL(1, F_SETFD));
	confine_allow_if(f, SCMP_SYS(fcntl), CONFINE_EQUAL(1, F_GETFL));
}

/* Opens what the probe needs before the filter is there. */
static int settle_probe(struct job *j, struct err *err)
{
	keeper_settle_fn *settle;
	*(void **)&settle = dlsym(RTLD_DEFAULT, KEEPER_SETTLE);
	if (!j->watched || !settle)
		return 0;
	if (j->save_dir && (j->keeper = keeper_start(j->save_dir, err)) < 0)
		return -1;
	settle(j->keeper, j->save_dir, &j->events);
	if (j->events < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot watch '%s'", j->name);
	return 0;
}

int confine_early(struct job *j, struct err *err)
{
	if (confine_limit(RLIMIT_CORE, 0, "core files", err) < 0)
		return -1;
	if (j->gpu || j->unconfined)
		return 0;
	const char *why;
	if (settle_probe(j, err) < 0)
		return -1;
	const bool apart = view_enter(j, &why);
	if (j->verbose && apart)
		dprintf(j->own_err, "pt2-runner: '%s' sees its own files and libraries, and no others (a mount namespace)\n", j->name);
	else if (j->verbose)
		dprintf(j->own_err, "pt2-runner: no mount namespace for '%s' (%s): it can read all that you can\n", j->name, why);
	if (confine_no_new_privs(err) < 0 || confine_drop_powers(false, err) < 0)
		return -1;
	if (!confine_paths() && j->verbose)
		dprintf(j->own_err, "pt2-runner: this kernel has no Landlock: '%s' is confined by the filter of system calls alone\n",
			j->name);
	return 0;
}

int confine(const struct job *j, struct err *err)
{
	struct confine_filter f;
	if (j->gpu)
		return 0;
	if (j->unconfined)
		return j->max_memory ? confine_limit(RLIMIT_AS, j->max_memory, "memory", err) : 0;
	/* Outputs lie in memory before they lie in a file. */
	if (j->max_memory && confine_limit(RLIMIT_FSIZE, j->max_memory, "the size of files", err) < 0)
		return -1;
	const int stay[] = {j->out_fd, j->own_err, j->model_err, j->keeper, j->events, j->in_memory};
	if (confine_close_others(stay, ARRAY_LEN(stay), err) < 0)
		return -1;
	confine_begin(&f, SCMP_ACT_ERRNO(EPERM));
	rules(&f, j);
	if (confine_load(&f, "the filter of system calls", err) == 0)
		return j->max_memory ? confine_limit(RLIMIT_AS, j->max_memory, "memory", err) : 0;
	struct err why = *err;
	return err_set(err, EXIT_ENVIRON, "%s: a model that you trust runs without it (pt2-run --unconfined)", why.text);
}
