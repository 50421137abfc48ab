/* live.h - recorded models and the processes that load them in C (livehost.c), in a folder of the test's own.
 *
 *     static int set_up(void **state) { (void)state; char *build = live_begin(); live_unpack("mixed", "/", so_path); free(build); ... }
 *
 * The models are code for one processor: tests that run them begin with NEED_MODELS().
 */
#ifndef PT2_TEST_LIVE_H
#define PT2_TEST_LIVE_H
#include <limits.h>
#include <unistd.h>

#include "base/io/zip.h"
#include "test.h"

static char host[PATH_MAX], faketorch[PATH_MAX], folder[] = "/tmp/pt2test.XXXXXX";
static const char *missing; /* why the tests that run recorded models cannot run */

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NEED_MODELS() \
	do { \
		if (missing) { \
			print_message("# skip: %s\n", missing); \
			skip(); \
		} \
	} while (0)

static inline void read_file(const char *path, struct buf *b)
{
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	size_t n;
	while ((n = fread(buf_room(b, 4096), 1, 4096, f)) > 0)
		buf_wrote(b, n);
	fclose(f);
}

static inline void write_file(const char *path, struct slice s)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(s.p, 1, s.n, f), s.n);
	fclose(f);
}

static inline void has(struct buf *b, const char *word)
{
	if (!strstr(buf_str(b), word))
		fail_msg("no '%s' in:\n%s", word, buf_str(b));
}

/* The library below `member` of a recorded package, as a file; the package itself too, unless package_path is NULL. */
static inline void live_unpack(const char *package, const char *member, const char *so_path, const char *package_path)
{
	struct buf b = {0};
	struct zip z;
	struct err err;
	struct slice so;
	char *name = xasprintf("aoti/%s.pt2.xz", package);
	if (!data_load(name, &b))
		fail_msg("no tests/data/%s", name);
	if (package_path)
		write_file(package_path, buf_slice(&b));
	if (zip_open(&z, buf_slice(&b), name, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < z.n; i++) {
		if (!slice_ends(z.v[i].name, ".so") || !slice_find(z.v[i].name, member))
			continue;
		if (zip_data(&z, &z.v[i], &so, &err) < 0)
			fail_msg("%s", err.text);
		write_file(so_path, so);
	}
	zip_close(&z);
	buf_release(&b);
	free(name);
}

/* The folder, and where the programs are. Returns the build folder (malloc). */
static inline char *live_begin(void)
{
	char *build = live_build_folder();
	assert_non_null(mkdtemp(folder));
	snprintf(host, sizeof(host), "%.4000s/tests-lib/livehost", build);
	snprintf(faketorch, sizeof(faketorch), "%.4000s/tests-lib/faketorch.so", build);
#ifdef __x86_64__
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		missing = "the recorded models are x86-64-v3 code";
#else
	missing = "the recorded models are x86-64 code";
#endif
	if (!missing && access(host, X_OK) < 0)
		fail_msg("no '%s': make tests builds it", host);
	return build;
}

static inline int live_end(void)
{
	char *cmd = xasprintf("rm -rf '%s'", folder);
	int r = system(cmd);
	free(cmd);
	return r;
}

#endif
