/* The names that the probe looks up in libtorch are where it looks, and the calls that make CUDA graphs are those that it watches: checked against
 * the symbol tables of torch's default wheel (tests/data/torch-symbols.txt). */
#include "../../lib/live.h"

#include "../../../libprobe/probe.h"

static const char *const libraries[] = {
#define LIBRARY(id, name) name,
    PROBE_TORCH_LIBRARIES(LIBRARY)
#undef LIBRARY
};
enum {
#define ID(id, name) IN_##id,
	PROBE_TORCH_LIBRARIES(ID)
#undef ID
};

static void read_whole(const char *path, struct buf *b)
{
	FILE *f = fopen(path, "r");
	size_t n;
	if (!f)
		fail_msg("no %s", path);
	while ((n = fread(buf_room(b, 65536), 1, 65536, f)) > 0)
		buf_wrote(b, n);
	fclose(f);
}

static void symbols(struct buf *b)
{
	const char *root = getenv("PT2_SOURCE");
	char *path = xasprintf("%s%stests/data/torch-symbols.txt", root ? root : "", root ? "/" : "");
	read_whole(path, b);
	free(path);
}

static bool has_line(const struct buf *b, const char *library, const char *verb, const char *name)
{
	char *line = xasprintf("\n%s %s %s\n", library, verb, name);
	const bool found = memmem(b->p, b->len, line, strlen(line)) != NULL;
	free(line);
	return found;
}

static void test_places(void **state)
{
	(void)state;
	struct buf b = {0};
	symbols(&b);
	static const struct {
		const char *name;
		size_t in;
	} function[] = {
#define FUNCTION(name, library) {"aoti_torch_" #name, IN_##library},
	    PROBE_TORCH_FUNCTIONS(FUNCTION)
#undef FUNCTION
	};
	for (size_t i = 0; i < ARRAY_LEN(function); i++)
		for (size_t k = 0; k < ARRAY_LEN(libraries); k++)
			if (has_line(&b, libraries[k], "defines", function[i].name) != (k == function[i].in))
				fail_msg("%s: %s is %sexpected there", libraries[k], function[i].name, k == function[i].in ? "" : "not ");
	/* Whoever has found the first has not found the second. */
	assert_false(has_line(&b, libraries[IN_CPU], "needs", libraries[IN_CUDA]));
	assert_true(has_line(&b, libraries[IN_CUDA], "needs", libraries[IN_CPU]));
	buf_release(&b);
}

/* Those that make no graph, nor launch one. */
static bool is_no_matter(struct slice name)
{
	static const char *const names[] = {"cudaGraphAddNode",
					    "cudaGraphConditionalHandleCreate",
					    "cudaGraphGetNodes",
					    "cudaGraphRetainUserObject",
					    "cudaStreamUpdateCaptureDependencies",
					    "cudaStreamGetCaptureInfo",
					    "cudaStreamIsCapturing",
					    "cudaGraphDebugDotPrint"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (slice_is(name, names[i]))
			return true;
	return false;
}

static void test_graphs(void **state)
{
	(void)state;
	struct buf b = {0}, probe = {0};
	char *build = live_build_folder(), *path = xasprintf("%s/lib/pt2utils/libpt2probe.so", build);
	symbols(&b);
	read_whole(path, &probe);
	struct slice rest = buf_slice(&b), line;
	static const char imports[] = "libtorch_cuda.so imports ";
	int n = 0;
	while (slice_line(&rest, &line)) {
		if (line.n < sizeof(imports) || memcmp(line.p, imports, sizeof(imports) - 1))
			continue;
		struct slice name = slice_of(line.p + sizeof(imports) - 1, line.n - (sizeof(imports) - 1));
		char whole[128] = ""; /* with its zero, and that of the text before */
		n++;
		memcpy(whole + 1, name.p, name.n < sizeof(whole) - 2 ? name.n : sizeof(whole) - 2);
		if (!is_no_matter(name) && !memmem(probe.p, probe.len, whole, name.n + 2))
			fail_msg("libtorch_cuda.so calls %.*s, which the probe does not watch", SL(name));
	}
	assert_true(n > 5);
	free(path);
	free(build);
	buf_release(&b);
	buf_release(&probe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_graphs)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
