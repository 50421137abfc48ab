/* folder.h - a folder of a test's own, and files in it.
 *
 *     cmocka_run_group_tests_name(__FILE__, tests, folder_make, folder_remove);      // `folder_path` holds its path
 *     folder_put("data/aotinductor/model.so", bytes);                                // with the folders that it needs
 */
#ifndef PT2_TEST_FOLDER_H
#define PT2_TEST_FOLDER_H
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char folder_path[64];

static inline int folder_make(void **state)
{
	(void)state;
	snprintf(folder_path, sizeof(folder_path), "/tmp/pt2test.XXXXXX");
	return mkdtemp(folder_path) ? 0 : -1;
}

static inline void folder_wipe(void)
{
	char *cmd = xasprintf("find '%s' -mindepth 1 -delete", folder_path);
	if (system(cmd))
		fail_msg("cannot empty %s", folder_path);
	free(cmd);
}

static inline int folder_remove(void **state)
{
	(void)state;
	folder_wipe();
	return rmdir(folder_path);
}

static inline void folder_put(const char *name, struct slice s)
{
	char *path = xasprintf("%s/%s", folder_path, name);
	for (char *p = path + strlen(folder_path) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(path, 0700);
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(s.p, 1, s.n, f), s.n);
	fclose(f);
	free(path);
}

#endif
