/* inductor.h - the recorded debug folders, unpacked for a test. */
#ifndef PT2_TEST_INDUCTOR_H
#define PT2_TEST_INDUCTOR_H
#include "test.h"

#include <unistd.h>

/* A folder with what tests/data/NAME.tar.xz holds; NULL where tar or xz is missing. The caller frees it, and removes it. */
static inline char *unpacked(const char *name)
{
	char dir[] = "/tmp/pt2test.XXXXXX";
	if (!mkdtemp(dir))
		return NULL;
	char *file = xasprintf("%s.tar.xz", name), *path = data_path(file);
	char *cmd = xasprintf("tar -xJf '%s' -C %s 2>/dev/null", path, dir);
	int rc = system(cmd);
	free(cmd);
	free(path);
	free(file);
	return rc == 0 ? xstrdup(dir) : NULL;
}

static inline void remove_folder(char *dir)
{
	char *cmd = xasprintf("rm -rf '%s'", dir);
	if (dir && !strncmp(dir, "/tmp/pt2test.", 13) && system(cmd) != 0)
		fail_msg("%s", cmd);
	free(cmd);
	free(dir);
}

#endif
