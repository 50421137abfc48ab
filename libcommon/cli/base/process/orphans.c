/* orphans.c - see orphans.h. */
#include "base/process/orphans.h"

#include "base/base.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void orphans_adopt(void) { prctl(PR_SET_CHILD_SUBREAPER, 1); }

static size_t orphans(enum orphans_which which, pid_t *pid, size_t room)
{
	char path[64], text[8192];
	size_t n = 0;
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	struct slice rest = slice_of(text, got > 0 ? (size_t)got : 0);
	while (rest.n && n < room) {
		const char *blank = slice_chr(rest, ' ');
		uint64_t id;
		size_t len = blank ? (size_t)(blank - rest.p) : rest.n;
		if (slice_u64(slice_of(rest.p, len), &id) && id > 1 && id < INT_MAX &&
		    (which == ORPHANS_ALL || getsid((pid_t)id) == getsid(0)))
			pid[n++] = (pid_t)id;
		rest = blank ? slice_of(blank + 1, rest.n - len - 1) : slice_of(NULL, 0);
	}
	return n;
}

void orphans_end(enum orphans_which which)
{
	pid_t pid[256];
	for (int round = 0; round < 60; round++) {
		size_t n = orphans(which, pid, ARRAY_LEN(pid));
		if (!n)
			return;
		for (size_t i = 0; i < n; i++)
			if (waitpid(pid[i], NULL, WNOHANG) == 0 && (which == ORPHANS_ALL || round == 0 || round >= 40))
				kill(pid[i], which == ORPHANS_ALL || round ? SIGKILL : SIGTERM);
		nanosleep(&(struct timespec){.tv_nsec = (which == ORPHANS_ALL ? 5 : 50) * 1000 * 1000}, NULL);
	}
}
