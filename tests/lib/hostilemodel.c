/* hostilemodel.c - a model that, from its initialiser and from its call, tries what no model may: it says what it could do.
 * HOSTILE_ONLY: the one attempt that is made (in a sandbox that ends at the first). HOSTILE_PRINT: a text that it prints.
 * HOSTILE_INPUTS: how many it takes, a digit.
 * HOSTILE_CRASH: 1 writes to address 0, 2 never returns.
 * HOSTILE_SECRET: a file of the user's that it has nothing to do with.
 * `read` in its answer shows that the attempts were made at all: its own files may be read. docs/user/RUN.md has the list as a table.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "modelentry.h"

#ifndef SYS_creat
#define SYS_creat -1 /* AArch64 has openat() alone */
#endif

extern int32_t aoti_torch_device_type_cpu(void);
extern int32_t aoti_torch_delete_tensor_object(void *);

static char could[512];
static const char *victim;
static char fresh[512];

static int child(long pid)
{
	if (pid == 0)
		_exit(0);
	return pid > 0;
}

/* Files that are open: what there is but pipes, sockets and /dev/null is the user's, or the log of events. */
static int writes_nowhere(int fd)
{
	struct stat st, null;
	if (fstat(fd, &st) < 0 || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return 1;
	return S_ISCHR(st.st_mode) && !stat("/dev/null", &null) && st.st_rdev == null.st_rdev;
}

static int cut_open_files(void)
{
	int cut = 0;
	for (int fd = 0; fd < 64; fd++)
		cut |= !ftruncate(fd, 0);
	return cut;
}

static int own_terminal(void)
{
	int own = 0;
	for (int fd = 0; fd < 3; fd++)
		own |= !writes_nowhere(fd);
	return own;
}

/* A file of this process: of the folder that the watching tool has made, or of the user's. */
static int of_tool(const char *name)
{
	char path[64], byte;
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)getppid(), name);
	int fd = open(path, O_RDONLY);
	int r = fd >= 0 && (*name != 'm' || name[1] != 'e' ? read(fd, &byte, 1) >= 0 : 1);
	if (fd >= 0)
		close(fd);
	return r;
}

static int may_open(int flags)
{
	int fd = open(victim, flags, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int reads(const char *path)
{
	char byte;
	int fd = open(path ? path : "/nowhere", O_RDONLY);
	int r = fd >= 0 && read(fd, &byte, 1) == 1;
	if (fd >= 0)
		close(fd);
	return r;
}

static int lists(const char *path)
{
	char entries[1024];
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	int r = fd >= 0 && syscall(SYS_getdents64, fd, entries, sizeof(entries)) > 0;
	if (fd >= 0)
		close(fd);
	return r;
}

static int in_probe_folder(void)
{
	char path[600];
	const char *folder = getenv("PT2_PROBE_DIR");
	snprintf(path, sizeof(path), "%s/x", folder ? folder : "/nowhere");
	return mkdir(path, 0700) == 0 || open(path, O_WRONLY | O_CREAT, 0600) >= 0;
}

static int spoil_log(void)
{
	char path[600];
	const char *folder = getenv("PT2_PROBE_DIR");
	snprintf(path, sizeof(path), "%s/calls", folder ? folder : "/nowhere");
	int fd = open(path, O_RDWR);
	return truncate(path, 0) == 0 || (fd >= 0 && ftruncate(fd, 0) == 0) || unlink(path) == 0;
}

static int pin(void)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	return sched_setaffinity(getppid(), sizeof(set), &set) == 0;
}

static const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};

/* clang-format off */
#define ATTEMPTS(X) \
	X(read, open("/proc/self/maps", O_RDONLY) >= 0) \
	X(user_file, reads(getenv("HOSTILE_SECRET"))) \
	X(accounts, reads("/etc/passwd")) \
	X(homes, lists("/home")) \
	X(processes, of_tool("stat") || of_tool("cmdline")) \
	X(write, may_open(O_WRONLY)) \
	X(readwrite, may_open(O_RDWR)) \
	X(append, may_open(O_WRONLY | O_APPEND)) \
	X(cut_open, may_open(O_RDONLY | O_TRUNC)) \
	X(cut_openat, syscall(SYS_openat, AT_FDCWD, victim, O_RDONLY | O_TRUNC) >= 0) \
	X(cut_creat, syscall(SYS_creat, victim, 0600) >= 0) \
	X(openat2, syscall(SYS_openat2, AT_FDCWD, victim, (uint64_t[3]){O_WRONLY | O_TRUNC}, 24) >= 0) \
	X(create, open(fresh, O_RDONLY | O_CREAT, 0600) >= 0) \
	X(unnamed, open("/tmp", O_TMPFILE | O_RDWR, 0600) >= 0) \
	X(truncate, truncate(victim, 0) == 0) \
	X(ftruncate, cut_open_files()) \
	X(unlink, unlink(victim) == 0) \
	X(rename, rename(victim, fresh) == 0) \
	X(link, link(victim, fresh) == 0 || symlink(victim, fresh) == 0) \
	X(mkdir, mkdir(fresh, 0700) == 0) \
	X(chmod, chmod(victim, 0777) == 0) \
	X(times, utimensat(AT_FDCWD, victim, NULL, 0) == 0) \
	X(probe_folder, in_probe_folder()) \
	X(call_log, spoil_log()) \
	X(terminal, own_terminal()) \
	X(tool_memory, of_tool("mem")) \
	X(tool_environ, of_tool("environ")) \
	X(tool_files, of_tool("fd/0") || of_tool("fd/1") || of_tool("fd/2")) \
	X(network, socket(AF_INET, SOCK_STREAM, 0) >= 0) \
	X(local, socket(AF_UNIX, SOCK_STREAM, 0) >= 0) \
	X(fork, child(fork())) \
	X(vfork, child(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0))) \
	X(clone3, child(syscall(SYS_clone3, (uint64_t[8]){[4] = SIGCHLD}, 64))) \
	X(kill, kill(getppid(), 0) == 0) \
	X(queue, syscall(SYS_rt_sigqueueinfo, getppid(), 0, (char[128]){0}) == 0) \
	X(pin, pin()) \
	X(priority, setpriority(PRIO_PROCESS, (id_t)getppid(), 5) == 0) \
	X(ptrace, ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0) \
	X(pidfd, syscall(SYS_pidfd_open, getppid(), 0) >= 0) \
	X(memory_of, syscall(SYS_process_vm_readv, getppid(), NULL, 0UL, NULL, 0UL, 0UL) >= 0) \
	X(memfd, syscall(SYS_memfd_create, "x", 0) >= 0) \
	X(limits, setrlimit(RLIMIT_CORE, &none) == 0 || syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, &none, NULL) == 0) \
	X(session, setsid() >= 0) \
	X(namespace, unshare(CLONE_NEWUSER) == 0) \
	X(powers, prctl(PR_SET_DUMPABLE, 0) == 0 || setuid(0) == 0) \
	X(exec, execl("/bin/true", "true", NULL) == 0)
/* clang-format on */

static void try_all(void)
{
	const char *only = getenv("HOSTILE_ONLY"), *print = getenv("HOSTILE_PRINT");
	victim = getenv("HOSTILE_VICTIM");
	victim = victim ? victim : "/nowhere";
	snprintf(fresh, sizeof(fresh), "%s.new", victim);
#define TRY(name, tried) \
	if ((!only || !strcmp(only, #name)) && (tried)) { \
		strcat(could, " "); \
		strcat(could, #name); \
	}
	ATTEMPTS(TRY)
	if (print && write(1, print, strlen(print)) < 0)
		strcat(could, " (silent)");
}

static char first[512];
__attribute__((constructor)) static void initialise(void)
{
	if (aoti_torch_device_type_cpu() == 0)
		try_all();
	snprintf(first, sizeof(first), "%s", could);
}

int32_t AOTInductorModelContainerGetNumInputs(void *c, size_t *n)
{
	const char *inputs = getenv("HOSTILE_INPUTS");
	return (void)c, *n = inputs ? (size_t)(*inputs - '0') : 0, 0;
}
static char answer[1100];
int32_t AOTInductorGetLastError(const char **text) { return *text = answer, 0; }

int32_t AOTInductorModelContainerRun(void *c, void **in, size_t n_in, void **out, size_t n_out, void *stream, void *proxy)
{
	(void)c, (void)out, (void)n_out, (void)stream, (void)proxy;
	for (size_t i = 0; i < n_in; i++)
		aoti_torch_delete_tensor_object(in[i]);
	const char *crash = getenv("HOSTILE_CRASH");
	if (crash && *crash == '1')
		*(volatile int *)(uintptr_t)n_in = 1;
	while (crash && *crash == '2')
		usleep(1000);
	could[0] = 0;
	try_all();
	snprintf(answer, sizeof(answer), "could:%s; and:%s.", first, could);
	return 1;
}
