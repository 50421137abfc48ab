/* launch.c - what lies under the name of each tool where all of them are one program (one.c): it becomes that program, which lies
 * beside it; a wheel can hold no links. By its own file's name, not by what it is called, so that links to it from anywhere are that
 * tool. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char self[PATH_MAX + sizeof("pt2utils")], name[NAME_MAX + 1];
	char *alone[] = {name, NULL};
	const ssize_t n = readlink("/proc/self/exe", self, PATH_MAX);
	char *slash = n > 0 ? strrchr(self, '/') : NULL;
	if (!slash) {
		fprintf(stderr, "pt2utils: cannot find the program's own folder: is /proc mounted?\n");
		return 4;
	}
	snprintf(name, sizeof(name), "%s", slash + 1);
	strcpy(slash + 1, "pt2utils");
	if (argc > 0)
		argv[0] = name;
	execv(self, argc > 0 ? argv : alone);
	fprintf(stderr, "%s: cannot run '%s', which holds all tools: %s (install the whole package again)\n", name, self, strerror(errno));
	return 4;
}
