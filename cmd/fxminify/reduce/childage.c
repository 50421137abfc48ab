/* childage.c - see childage.h. */
#include "reduce/childage.h"

#include "base/buf.h"
#include "base/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum state { STATE_SLEEPS, STATE_STOPPED, STATE_DISK, STATE_RUNS }; /* the largest of its threads' counts */

struct group {
	unsigned long long ticks;
	enum state state;
	bool found;
};

/* The fields after the name in a stat file; the name may contain anything: "S 1 77 ..." of "78 (a) b) S 1 77 ...". */
static const char *read_stat(const char *path, char text[static 1024])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	ssize_t n = read(fd, text, 1023);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	const char *p = strrchr(text, ')');
	return p && p[1] == ' ' && p[2] ? p + 2 : NULL;
}

static enum state state_of(char c)
{
	switch (c) {
	case 'R': return STATE_RUNS;
	case 'D': return STATE_DISK;
	case 'T':
	case 't': return STATE_STOPPED;
	default: return STATE_SLEEPS;
	}
}

static void add_threads(const char *pid, struct group *g)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%.16s/task", pid);
	DIR *d = opendir(path);
	struct dirent *e;
	while (d && (e = readdir(d))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/task/%.16s/stat", pid, e->d_name);
		const char *p = read_stat(path, text);
		if (p && state_of(*p) > g->state)
			g->state = state_of(*p);
	}
	if (d)
		closedir(d);
}

static void add_process(const char *pid, pid_t leader, struct group *g)
{
	char path[64], text[1024];
	int group;
	unsigned long long t[4];
	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	const char *p = read_stat(path, text);
	if (!p || sscanf(p, "%*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu", &group, &t[0], &t[1], &t[2], &t[3]) != 5 ||
	    group != leader)
		return;
	g->found = true;
	g->ticks += t[0] + t[1] + t[2] + t[3];
	add_threads(pid, g);
}

double child_age_look(struct child_age *a, pid_t leader)
{
	struct group g = {0};
	DIR *d = opendir("/proc");
	struct dirent *e;
	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			add_process(e->d_name, leader, &g);
	if (d)
		closedir(d);
	double now = 1e-9 * (double)clock_ns(), wall = a->last > 0 ? now - a->last : 0;
	double cpu = (double)g.ticks / (double)sysconf(_SC_CLK_TCK), used = cpu > a->cpu ? cpu - a->cpu : 0;
	a->last = now;
	a->cpu = cpu > a->cpu ? cpu : a->cpu;
	if (g.found && g.state == STATE_RUNS)
		a->age += used < wall ? used : wall;
	else if (!g.found || g.state != STATE_STOPPED)
		a->age += wall;
	return a->age;
}
