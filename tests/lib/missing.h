/* missing.h - a path that names nothing. A fixed one such as /nonexistent may well exist on somebody's machine.
 *
 *     assert_int_equal(calls_open(&r, missing_path("log"), &err), -1);        // included after cmocka.h
 */
#ifndef PT2_TEST_MISSING_H
#define PT2_TEST_MISSING_H
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* NAME below a temporary folder that this test made and removed again. The next call overwrites it. */
static inline const char *missing_path(const char *name)
{
	static char gone[PATH_MAX / 2], path[PATH_MAX];
	if (!gone[0]) {
		snprintf(gone, sizeof(gone), "/tmp/pt2test.XXXXXX");
		if (!mkdtemp(gone) || rmdir(gone))
			fail_msg("cannot make a temporary folder: %s", gone);
	}
	snprintf(path, sizeof(path), "%s/%s", gone, name);
	return path;
}

#endif
