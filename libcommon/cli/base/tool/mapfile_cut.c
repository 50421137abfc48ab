#include "base/tool/diag.h"
#include "base/io/mapfile.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

static pid_t owner;

/* The file behind an address, from /proc/self/maps: "from-to perms offset device inode   path". */
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

/* Synchronous, out of code that reads a mapping: unlike in other handlers, everything may be called. */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	char path[4096];
	(void)context;
	signal(sig, SIG_DFL); /* of a forked child, or no file of ours: the instruction faults again, and that is the end */
	if (getpid() == owner && info->si_code == BUS_ADRERR && file_at((uintptr_t)info->si_addr, path, sizeof(path)))
		die(EXIT_INPUT, "'%s' became shorter, or could not be read, while it was looked at: start again when it is whole", path);
}

void mapfile_watch(void)
{
	struct sigaction sa = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
	owner = getpid();
	sigaction(SIGBUS, &sa, NULL);
}
