/* lag.c - a preload that lets processes start late, for `make check-lag`: what a busy machine does seldom, it does often. One fork in LAG_IN (5), in
 * its parent or in its child, and one program that is started, waits up to LAG milliseconds first. A test that looks at a process which has not
 * become its program yet, or that expects something within a second, fails with it in one of a few runs; without it in one of some hundred.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void lag(uint32_t which)
{
	const char *most = getenv("LAG"), *in = getenv("LAG_IN");
	struct timespec now;
	if (!most || clock_gettime(CLOCK_MONOTONIC, &now))
		return;
	uint32_t r = (uint32_t)now.tv_nsec / 7 ^ (uint32_t)getpid() * 2654435761u ^ which << 28;
	r = (r ^ r >> 13) * 2654435761u;
	r ^= r >> 16;
	uint32_t one = in ? (uint32_t)strtoul(in, NULL, 10) : 5, ms = (uint32_t)strtoul(most, NULL, 10);
	if (!ms || (one && r % one))
		return;
	ms = (r >> 8) % ms;
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

pid_t fork(void)
{
	static pid_t (*real)(void);
	if (!real)
		real = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
	pid_t pid = real();
	if (pid >= 0)
		lag(pid ? 1 : 2);
	return pid;
}

int execve(const char *path, char *const args[], char *const env[])
{
	static int (*real)(const char *, char *const[], char *const[]);
	if (!real)
		real = (int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT, "execve");
	lag(3);
	return real(path, args, env);
}

int execv(const char *path, char *const args[]) { return execve(path, args, environ); }

int execvp(const char *name, char *const args[])
{
	static int (*real)(const char *, char *const[]);
	if (!real)
		real = (int (*)(const char *, char *const[]))dlsym(RTLD_NEXT, "execvp");
	lag(3);
	return real(name, args);
}
