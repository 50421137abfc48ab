/* run/debugdir: the recorded folders; phases of folders that lack files; links; what is none. */
#include <sys/stat.h>

#include "run/debugdir/debugdir.h"
#include "../../lib/inductor.h"
#include "../../lib/missing.h"

static struct err err;

static void test_recorded(void **state)
{
	(void)state;
	char *dir = unpacked("debug/torch_compile_debug");
	struct debugdir d;
	struct mapfile f;
	if (!dir)
		skip();
	assert_int_equal(debugdir_open(&d, dir, &err), 0); /* the folder above it */
	assert_int_equal(d.n_run, 1);
	assert_text(d.run[0].time, "2026-11-21 10:26:22");
	assert_int_equal(d.run[0].pid, 16333);
	assert_int_equal(d.n_comp, 2);
	assert_text(d.comp[0].name, "model__0_forward_1.0");
	assert_int_equal(d.comp[0].kind, DEBUG_FORWARD);
	assert_int_equal(d.comp[0].graph, 0);
	assert_int_equal(d.comp[1].kind, DEBUG_BACKWARD);
	assert_int_equal(d.comp[1].nth, 1);
	assert_int_equal(debugdir_phase(&d.comp[0]), DEBUG_HAS_CODE);
	assert_true(d.comp[0].has[DEBUG_MAPPINGS]);
	assert_false(d.comp[1].has[DEBUG_MAPPINGS]);
	assert_int_equal(d.n_log, 2);
	assert_int_equal(d.n_trace, 1);
	assert_int_equal(debugdir_file(&d, 0, DEBUG_IR_POST, &f, &err), 0);
	assert_true(slice_starts(f.bytes, "op0: SchedulerNode"));
	mapfile_close(&f);
	assert_int_equal(debugdir_file(&d, 1, DEBUG_MAPPINGS, &f, &err), -1);
	debugdir_close(&d);
	remove_folder(dir);
}

static void touch(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	free(path);
}

static void test_phases(void **state)
{
	(void)state;
	static const struct {
		const char *file;
		enum debug_phase phase;
	} table[] = {
	    {"fx_graph_runnable.py", DEBUG_IN_LOWERING},
	    {"ir_pre_fusion.txt", DEBUG_IN_SCHEDULER},
	    {"ir_post_fusion.txt", DEBUG_IN_CODEGEN},
	    {"output_code.py", DEBUG_HAS_CODE},
	};
	char dir[] = "/tmp/pt2test.XXXXXX";
	assert_non_null(mkdtemp(dir));
	char *one = xasprintf("%s/crxfi2ybd7.debug", dir);
	assert_int_equal(mkdir(one, 0700), 0);
	struct debugdir d;
	assert_int_equal(debugdir_open(&d, dir, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_false(debugdir_probe(dir));
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		touch(one, table[i].file);
		assert_int_equal(debugdir_open(&d, dir, &err), 0);
		assert_int_equal(d.n_comp, 1);
		assert_int_equal(d.comp[0].kind, DEBUG_UNKNOWN);
		assert_int_equal(d.comp[0].run, UINT32_MAX);
		assert_int_equal(debugdir_phase(&d.comp[0]), table[i].phase);
		debugdir_close(&d);
	}
	/* A link is not followed: a folder that is one, a file that is one. */
	char *link = xasprintf("%s/b", dir);
	assert_int_equal(symlink(one, link), 0);
	assert_int_equal(debugdir_open(&d, dir, &err), 0);
	assert_int_equal(d.n_comp, 1);
	debugdir_close(&d);
	free(link);
	assert_int_equal(debugdir_open(&d, one, &err), 0); /* by itself, with a slash too */
	debugdir_close(&d);
	char *slash = xasprintf("%s//", one);
	assert_int_equal(debugdir_open(&d, slash, &err), 0);
	assert_text(d.comp[0].name, "crxfi2ybd7.debug");
	debugdir_close(&d);
	assert_int_equal(debugdir_open(&d, missing_path("at/all"), &err), -1);
	assert_int_equal(debugdir_open(&d, "/dev/null", &err), -1);
	free(slash);
	free(one);
	remove_folder(xstrdup(dir));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_recorded), cmocka_unit_test(test_phases)};
	return RUN(tests);
}
