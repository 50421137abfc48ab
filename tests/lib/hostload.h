/* hostload.h - what the programs that run models in tests (livehost.c, cudahost.c, cudarun.c) load libraries with. What is missing
 * ends the program with 99 and a line.
 */
#ifndef PT2_TEST_HOSTLOAD_H
#define PT2_TEST_HOSTLOAD_H
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline _Noreturn void die(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why ? why : "?");
	exit(99);
}

static inline void *must_load(const char *path, int mode)
{
	void *so = dlopen(path, mode);
	if (!so)
		die(path, dlerror());
	return so;
}

static inline void *must_sym(void *so, const char *name)
{
	void *p = dlsym(so, name);
	if (!p)
		die(name, dlerror());
	return p;
}

/* The path of a file that lies beside the program. */
static inline const char *beside_program(const char *name)
{
	static char path[4200];
	ssize_t n = readlink("/proc/self/exe", path, 4096);
	if (n <= 0)
		die("/proc/self/exe", "unreadable");
	path[n] = 0;
	char *slash = strrchr(path, '/');
	snprintf(slash, sizeof(path) - (size_t)(slash - path), "/%s", name);
	return path;
}

#endif
