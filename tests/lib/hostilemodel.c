/* hostilemodel.c - a model that, from its initialiser and from its call, tries what no model may: it says what it could do.
 * HOSTILE_CRASH: 1 writes to address 0, 2 never returns.
 * `read` in its answer shows that the attempts were made at all: files may be read.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

extern int32_t aoti_torch_device_type_cpu(void);
extern int32_t aoti_torch_delete_tensor_object(void *);

static char could[256];

static void done(const char *what, int ok)
{
	size_t n = 0;
	while (could[n])
		n++;
	if (ok)
		snprintf(could + n, sizeof(could) - n, " %s", what);
}

static int child(long pid)
{
	if (pid == 0)
		_exit(0);
	return pid > 0;
}

static void try_all(void)
{
	const char *victim = getenv("HOSTILE_VICTIM");
	char path[512];
	struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	snprintf(path, sizeof(path), "%s.new", victim ? victim : "/nowhere");
	done("read", open("/proc/self/maps", O_RDONLY) >= 0);
	done("write", open(victim ? victim : "/dev/null", O_WRONLY) >= 0);
	done("readwrite", open(victim ? victim : "/dev/null", O_RDWR) >= 0);
	done("create", open(path, O_RDONLY | O_CREAT, 0600) >= 0);
	done("truncate", truncate(victim ? victim : "/nowhere", 0) == 0);
	done("unlink", unlink(victim ? victim : "/nowhere") == 0);
	done("mkdir", mkdir(path, 0700) == 0);
	done("chmod", chmod(victim ? victim : "/nowhere", 0777) == 0);
	done("network", socket(AF_INET, SOCK_STREAM, 0) >= 0);
	done("local", socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
	done("fork", child(fork()));
	done("vfork", child(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0)));
	done("kill", kill(getppid(), 0) == 0);
	done("ptrace", ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	done("memfd", syscall(SYS_memfd_create, "x", 0) >= 0);
	done("limits", setrlimit(RLIMIT_CORE, &none) == 0);
	done("exec", execl("/bin/true", "true", NULL) == 0);
}

static char first[256];
__attribute__((constructor)) static void initialise(void)
{
	if (aoti_torch_device_type_cpu() == 0)
		try_all();
	snprintf(first, sizeof(first), "%s", could);
}

int32_t AOTInductorModelContainerCreateWithDevice(void **c, size_t n, const char *device, const char *dir)
{
	(void)n, (void)device, (void)dir;
	return *c = could, 0;
}
int32_t AOTInductorModelContainerGetNumInputs(void *c, size_t *n) { return (void)c, *n = 0, 0; }
int32_t AOTInductorModelContainerGetNumOutputs(void *c, size_t *n) { return (void)c, *n = 0, 0; }
int32_t AOTInductorModelContainerDelete(void *c) { return (void)c, 0; }
int32_t AOTInductorModelContainerCreate(void **c, size_t n, int cpu, const char *dir) { return (void)n, (void)cpu, (void)dir, *c = could, 0; }
int32_t AOTInductorModelUpdateConstantsFromBlob(void *c, const uint8_t *p) { return (void)c, (void)p, 0; }

static char answer[600];
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
