#include "base/tool/diag.h"
#include "base/io/mapfile.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

static pid_t owner;

/* The file mapped at an address, from /proc/self/maps: "from-to perms offset device inode   path". */
static bool file_at(uintptr_t address, char *path, size_t room)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096 + 128];
	bool found = false;
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		uintptr_t from, to;
		const char *at = strchr(line, '/');
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) != 2 || address < from || address >= to || !at)
			continue;
		snprintf(path, room, "%.*s", (int)strcspn(at, "\n"), at);
		found = true;
	}
	if (maps)
		fclose(maps);
	return found;
}

/* Synchronous, from code that reads a mapping: unlike in other handlers, anything may be called. */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	char path[4096];
	(void)context;
	signal(sig, SIG_DFL); /* in a forked child, or not our file: the instruction faults again, which ends the process */
	if (getpid() == owner && info->si_code == BUS_ADRERR && file_at((uintptr_t)info->si_addr, path, sizeof(path)))
		die(EXIT_INPUT, "'%s' was truncated, or could not be read, while it was in use: run again when it is complete", path);
}

void mapfile_watch(void)
{
	struct sigaction sa = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
	owner = getpid();
	sigaction(SIGBUS, &sa, NULL);
}
