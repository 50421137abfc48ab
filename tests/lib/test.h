/* test.h - what the unit tests share: cmocka with what it needs, recorded logs, random numbers that repeat. */
#ifndef PT2_TEST_H
#define PT2_TEST_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>

#include "base/buf.h"
#include "guard.h"

/* Where this test was built (malloc): its programs are in tests-lib below. */
static inline char *live_build_folder(void)
{
	char *build = xcalloc(1, PATH_MAX);
	ssize_t n = readlink("/proc/self/exe", build, PATH_MAX - 64);
	assert_true(n > 0);
	for (int up = 0; up < 2; up++)
		*strrchr(build, '/') = 0;
	return build;
}

/* The tests run in the repository's root, or are told where it is. */
static inline char *data_path(const char *name)
{
	const char *root = getenv("PT2_SOURCE");
	return xasprintf("%s%stests/data/%s", root ? root : "", root ? "/" : "", name);
}

/* A file of tests/data, unpacked when its name ends in .xz. False when it is not there (or xz is not). */
static inline bool data_load(const char *name, struct buf *b)
{
	char *path = data_path(name), *cmd = NULL;
	bool xz = slice_ends(slice_str(path), ".xz");
	if (xz)
		cmd = xasprintf("xz -dc '%s' 2>/dev/null", path);
	FILE *f = xz ? popen(cmd, "r") : fopen(path, "r");
	free(path);
	free(cmd);
	buf_reset(b);
	if (!f)
		return false;
	size_t n;
	while ((n = fread(buf_room(b, 1 << 16), 1, 1 << 16, f)) > 0)
		buf_wrote(b, n);
	bool ok = (xz ? pclose(f) : fclose(f)) == 0;
	return ok && (b->len || !xz);
}

static inline uint32_t random_u32(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	uint32_t x = (uint32_t)(*seed >> 32);
	return x ^ x >> 15;
}

/* Below n. */
static inline uint32_t pick(uint64_t *seed, uint32_t n) { return random_u32(seed) % n; }

static inline void assert_text(struct slice got, const char *want)
{
	if (!slice_is(got, want))
		fail_msg("'%.*s' instead of '%s'", SL(got), want);
}

#define RUN(tests) (cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL))

#endif
