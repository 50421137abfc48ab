/* failcall.c - runs a program in which one system call fails, for tests/cli/fail-all.t:
 *
 *     failcall [-n N] [-i] [-o FILE] COMMAND...
 *
 *     -n N     the Nth system call fails; without, none does
 *     -i       only calls that a signal can interrupt count; the Nth is interrupted (EINTR)
 *     -o FILE  gets a line: "calls TOTAL", or which call failed in which process; and one for each process that crashed
 *
 * Counted are the calls of the tool, of the processes that it forks, and of pt2-runner, from the first instruction of the program itself (what the
 * dynamic linker does before is not the tool's) until another program is run. A call that fails is not made (but for close, which releases its
 * descriptor whatever it returns), and has an error that Linux gives for it; calls that cannot fail are not counted. Ends like COMMAND, with 128 and more
 * for a signal, when all these processes have ended.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

struct traced {
	pid_t tid;
	bool known;     /* its first stop was seen */
	bool counts;    /* runs code of ours */
	uint64_t entry; /* where it will start to */
	long saved;     /* what is there */
	long nr;        /* the call that it is in */
	int fails;      /* which will return this errno */
	uint64_t brk;   /* the end of its data, as it was told last */
};
static struct traced traced[256];
static size_t n_traced;

static pid_t first;
static unsigned long wanted, calls;
static bool interrupts, done;
static FILE *report;

static struct traced *find(pid_t tid)
{
	for (size_t i = 0; i < n_traced; i++)
		if (traced[i].tid == tid)
			return &traced[i];
	/* A fork or thread of one that counts: until then none is made. */
	if (n_traced == sizeof(traced) / sizeof(traced[0]))
		abort();
	traced[n_traced] = (struct traced){.tid = tid, .counts = true};
	return &traced[n_traced++];
}

static void forget(pid_t tid)
{
	struct traced *t = find(tid);
	*t = traced[--n_traced];
}

/* ---- which calls, and how they fail ---- */

/* 0: it cannot fail, or glibc relies on that it does not. */
static int error_of(long nr)
{
	switch (nr) {
	case SYS_exit:
	case SYS_exit_group:
	case SYS_rt_sigreturn:
	case SYS_rt_sigprocmask:
	case SYS_rt_sigaction:
	case SYS_futex:
	case SYS_getpid:
	case SYS_getppid:
	case SYS_gettid:
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_getgid:
	case SYS_getegid:
	case SYS_umask:
	case SYS_set_tid_address:
	case SYS_set_robust_list:
	case SYS_rseq:
	case SYS_arch_prctl:
	case SYS_sched_yield:
	case SYS_clock_gettime:
	case SYS_restart_syscall: return 0;
	case SYS_brk:
	case SYS_mmap:
	case SYS_mremap:
	case SYS_mprotect:
	case SYS_munmap:
	case SYS_madvise: return ENOMEM;
	case SYS_fork:
	case SYS_vfork:
	case SYS_clone:
	case SYS_clone3: return EAGAIN;
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64:
	case SYS_ftruncate:
	case SYS_fallocate:
	case SYS_mkdir:
	case SYS_mkdirat:
	case SYS_symlink:
	case SYS_link:
	case SYS_linkat:
	case SYS_copy_file_range:
	case SYS_rename:
	case SYS_renameat:
	case SYS_renameat2: return ENOSPC;
	case SYS_open:
	case SYS_openat:
	case SYS_socket:
	case SYS_socketpair:
	case SYS_pipe2:
	case SYS_dup:
	case SYS_epoll_create1:
	case SYS_memfd_create: return EMFILE;
	case SYS_kill:
	case SYS_tgkill:
	case SYS_unlink:
	case SYS_unlinkat:
	case SYS_rmdir:
	case SYS_prctl:
	case SYS_seccomp:
	case SYS_setrlimit:
	case SYS_prlimit64: return EPERM;
	case SYS_wait4:
	case SYS_waitid:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_poll:
	case SYS_ppoll:
	case SYS_epoll_wait:
	case SYS_epoll_pwait: return EINTR;
	case SYS_sendmsg:
	case SYS_recvmsg: return ENOMEM;
	default: return EIO;
	}
}

/* Regular files are read and written without a break, and glibc's dlopen() counts on that. */
static bool is_regular(pid_t tid, uint64_t fd)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, (int)fd);
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool can_be_interrupted(pid_t tid, long nr, uint64_t fd)
{
	const bool of_file =
	    nr == SYS_read || nr == SYS_pread64 || nr == SYS_write || nr == SYS_pwrite64 || nr == SYS_readv || nr == SYS_writev;
	if (of_file && is_regular(tid, fd))
		return false;
	static const long some[] = {SYS_read,    SYS_pread64, SYS_write,           SYS_pwrite64,   SYS_readv,      SYS_writev,
				    SYS_recvmsg, SYS_sendmsg, SYS_recvfrom,        SYS_sendto,     SYS_poll,       SYS_ppoll,
				    SYS_wait4,   SYS_waitid,  SYS_clock_nanosleep, SYS_epoll_wait, SYS_epoll_pwait};
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		if (some[i] == nr)
			return true;
	return false;
}

/* The path that a call names, else nothing. */
static void put_path(pid_t tid, uint64_t at)
{
	char text[200] = "";
	struct iovec to = {text, sizeof(text) - 1}, from = {(void *)(uintptr_t)at, sizeof(text) - 1};
	if (at < 65536 || process_vm_readv(tid, &to, 1, &from, 1, 0) <= 0)
		return;
	if (*text == '/' || *text == '.')
		fprintf(report, " %s", text);
}

static void put_call(pid_t tid, const struct __ptrace_syscall_info *info, int error)
{
	char path[64], text[4096];
	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	close(fd);
	const char *group = strstr(text, "Tgid:");
	const char *who = group && atoi(group + 5) == first ? "tool" : strstr(text, "pt2-runner") ? "runner" : "fork";
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)info->entry.nr);
	fprintf(report, "%s %s(%ld) %s", who, name ? name : "?", (long)(int)info->entry.args[0], strerrorname_np(error));
	free(name);
	put_path(tid, info->entry.args[0]);
	put_path(tid, info->entry.args[1]);
	fputc('\n', report);
	fflush(report);
}

static void begin_call(struct traced *t, const struct __ptrace_syscall_info *info)
{
	struct user_regs_struct regs;
	const long nr = t->nr = (long)info->entry.nr;
	const int error = interrupts ? can_be_interrupted(t->tid, nr, info->entry.args[0]) ? EINTR : 0 : error_of(nr);
	if (!error || (nr == SYS_brk && !info->entry.args[0]) || ++calls != wanted)
		return;
	done = true;
	t->fails = error;
	if (report)
		put_call(t->tid, info, error);
	if (nr != SYS_close && ptrace(PTRACE_GETREGS, t->tid, NULL, &regs) == 0) {
		regs.orig_rax = SYS_getpid; /* every filter of ours permits it */
		ptrace(PTRACE_SETREGS, t->tid, NULL, &regs);
	}
}

static void end_call(struct traced *t)
{
	struct user_regs_struct regs;
	if ((t->fails || t->nr == SYS_brk) && ptrace(PTRACE_GETREGS, t->tid, NULL, &regs) == 0) {
		/* brk() fails by giving the end that there is. */
		if (t->fails)
			regs.rax = t->nr == SYS_brk ? t->brk : (unsigned long long)-t->fails;
		else
			t->brk = regs.rax;
		if (t->fails)
			ptrace(PTRACE_SETREGS, t->tid, NULL, &regs);
	}
	t->fails = 0;
}

/* ---- where the program begins ---- */

static uint64_t entry_of(pid_t pid)
{
	char path[64];
	Elf64_auxv_t v;
	uint64_t at = 0;
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, &v, sizeof(v)) == sizeof(v) && v.a_type != AT_NULL)
		if (v.a_type == AT_ENTRY)
			at = v.a_un.a_val;
	close(fd);
	return at;
}

static void wait_for_entry(struct traced *t)
{
	t->counts = false;
	t->entry = entry_of(t->tid);
	t->saved = ptrace(PTRACE_PEEKTEXT, t->tid, (void *)(uintptr_t)t->entry, NULL);
	ptrace(PTRACE_POKETEXT, t->tid, (void *)(uintptr_t)t->entry, (void *)((t->saved & ~0xffl) | 0xcc));
}

static bool is_at_entry(struct traced *t)
{
	struct user_regs_struct regs;
	if (!t->entry || ptrace(PTRACE_GETREGS, t->tid, NULL, &regs) < 0 || regs.rip != t->entry + 1)
		return false;
	ptrace(PTRACE_POKETEXT, t->tid, (void *)(uintptr_t)t->entry, (void *)t->saved);
	regs.rip = t->entry;
	ptrace(PTRACE_SETREGS, t->tid, NULL, &regs);
	t->entry = 0;
	return t->counts = true;
}

/* Another program, which is not ours to try. */
static bool is_foreign(pid_t pid)
{
	char link[64], path[4096];
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	return pid != first && !strstr(path, "pt2-runner");
}

/* ---- the loop ---- */

/* A stop: what to go on with; -1: it was released. */
static int stopped(struct traced *t, int status)
{
	struct __ptrace_syscall_info info;
	const int sig = WSTOPSIG(status), event = status >> 16;
	if (sig == (SIGTRAP | 0x80)) {
		if (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, (void *)sizeof(info), &info) <= 0)
			return 0;
		if (info.op == PTRACE_SYSCALL_INFO_EXIT)
			end_call(t);
		else if (info.op == PTRACE_SYSCALL_INFO_ENTRY && t->counts && !done)
			begin_call(t, &info);
		return 0;
	}
	if (event == PTRACE_EVENT_EXEC) {
		if (is_foreign(t->tid)) {
			ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
			return -1;
		}
		wait_for_entry(t);
		return 0;
	}
	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
		unsigned long child = 0;
		const uint64_t brk = t->brk;
		if (ptrace(PTRACE_GETEVENTMSG, t->tid, NULL, &child) == 0 && child)
			find((pid_t)child)->brk = brk;
		return 0;
	}
	if (event || (sig == SIGTRAP && is_at_entry(t)))
		return 0;
	if (!t->known && sig == SIGSTOP) {
		t->known = true;
		return 0;
	}
	return sig;
}

static int end_of(pid_t tid, int status)
{
	static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	for (size_t i = 0; report && i < sizeof(crashes) / sizeof(crashes[0]); i++)
		if (WTERMSIG(status) == crashes[i])
			fprintf(report, "crash of the %s: SIG%s\n", tid == first ? "tool" : "process beside it",
				sigabbrev_np(WTERMSIG(status)));
	return 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	int status, opt, result = 4;
	pid_t tid;
	while ((opt = getopt(argc, argv, "+n:o:i")) != -1) {
		if (opt == 'n')
			wanted = strtoul(optarg, NULL, 10);
		else if (opt == 'i')
			interrupts = true;
		else if (opt != 'o' || !(report = fopen(optarg, "we")))
			return 2;
	}
	first = optind < argc ? fork() : -1;
	if (!first) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(argv[optind], argv + optind);
		_exit(127);
	}
	if (first < 0 || waitpid(first, &status, 0) < 0 ||
	    ptrace(PTRACE_SETOPTIONS, first, NULL,
		   (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
			    PTRACE_O_EXITKILL)) < 0) {
		fprintf(stderr, "failcall: cannot trace: %s\n", strerror(errno));
		return 2;
	}
	*find(first) = (struct traced){.tid = first, .known = true};
	ptrace(PTRACE_CONT, first, NULL, NULL);
	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (tid <= 0)
			continue;
		if (!WIFSTOPPED(status)) {
			const int how = end_of(tid, status);
			if (tid == first)
				result = how;
			forget(tid);
			continue;
		}
		struct traced *t = find(tid);
		const int sig = stopped(t, status);
		if (sig < 0)
			forget(tid);
		else
			ptrace(t->counts && (!done || t->fails) ? PTRACE_SYSCALL : PTRACE_CONT, tid, NULL, (void *)(intptr_t)sig);
	}
	if (report && !done)
		fprintf(report, "calls %lu\n", calls);
	return result;
}
