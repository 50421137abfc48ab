/* compilation/facts_text: what a text log gives to the model. The logs' counts are in tests/data/README.md. */
#include "../../lib/test.h"
#include "../../lib/missing.h"

#include <signal.h>
#include <unistd.h>

#include "run/textlog/textlog.h"

static struct facts f;

static void add_path(const char *path)
{
	struct err err = {0};
	facts_release(&f);
	facts_init(&f);
	if (facts_add_textlog(&f, path, NULL, &err) < 0)
		fail_msg("%s", err.text);
}

static void add_text(const char *text, size_t n)
{
	char path[] = "/tmp/pt2-facts-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n && close(fd) == 0);
	add_path(path);
	unlink(path);
}

static void add_data(const char *name)
{
	struct buf b = {0};
	if (!data_load(name, &b))
		fail_msg("cannot read tests/data/%s", name);
	add_text(b.p, b.len);
	buf_release(&b);
}

static void logs(void **state)
{
	(void)state;
	add_data("logs/logs.log.xz");
	assert_int_equal(f.n_input, 1);
	assert_int_equal(f.input[0].kind, FACT_TEXTLOG);
	assert_int_equal(f.n_brk, 4);
	assert_int_equal(f.brk[0].kind, BREAK_CALL);
	assert_int_equal(f.brk[3].kind, BREAK_JUMP);
	assert_int_equal(f.brk[3].gb, 170);
	assert_false(f.brk[0].inferred || f.brk[0].explained);
	const struct fact_compile *c = &f.compile[f.brk[0].compile];
	assert_text(facts_text(&f, c->id), "0/0");
	assert_text(facts_text(&f, c->loc.function), "chatty"); /* not "positive", to which the id goes after a reset */
	assert_int_equal(f.n_recompile, 3);
	assert_text(facts_text(&f, f.recompile[0].against), "7/0");
	assert_int_equal(f.n_symbol, 9);
	unsigned special = 0, guards = 0, asserts = 0;
	for (uint32_t i = 0; i < f.n_bound; i++) {
		special += f.bound[i].kind == BOUND_SPECIALIZED;
		guards += f.bound[i].kind == BOUND_GUARD;
		asserts += f.bound[i].kind == BOUND_ASSERT;
		if (f.bound[i].kind == BOUND_SPECIALIZED) {
			assert_text(facts_text(&f, f.bound[i].value), "6");
			assert_text(facts_text(&f, f.bound[i].sources), "L['x'].size()[0]");
			assert_int_equal(f.bound[i].loc.line, 62); /* the guard's */
			assert_text(facts_text(&f, f.bound[i].loc.file), "/home/user/app/textlogs.py");
		}
	}
	assert_int_equal(special, 1);
	assert_int_equal(guards, 3);
	assert_int_equal(asserts, 2);
	assert_int_equal(f.n_marker, 0);
	assert_int_equal(f.n_failure, 0);
	assert_int_equal(f.n_damage, 0);
}

static void resume_functions(void **state)
{
	(void)state;
	add_data("logs/logs.log.xz");
	bool found = false;
	for (uint32_t i = 0; i < f.n_compile; i++)
		if (slice_is(facts_text(&f, f.compile[i].id), "3/0")) {
			assert_text(facts_text(&f, f.compile[i].resume_of), "chatty");
			assert_int_equal(f.compile[i].resume_line, 32);
			assert_int_equal(f.compile[i].attempts, 2);
			assert_int_equal(f.compile[i].status, COMPILE_BREAK);
			found = true;
		}
	assert_true(found);
}

static void failures(void **state)
{
	(void)state;
	add_data("logs/quiet.log.xz");
	assert_int_equal(f.n_failure, 21);
	assert_int_equal(f.n_brk, 0); /* those of fullgraph=True are failures */
	assert_text(facts_text(&f, f.failure[0].type), "torch._dynamo.exc.Unsupported");
	assert_int_equal(f.failure[0].user.line, 104);
	unsigned caused = 0, caught = 0;
	for (uint32_t i = 0; i < f.n_failure; i++) {
		caused += f.failure[i].cause != NONE;
		caught += f.failure[i].caught;
		assert_false(f.failure[i].restart);
		assert_true(f.failure[i].cause == NONE || f.failure[i].cause < i);
	}
	assert_int_equal(caused, 5);
	assert_int_equal(caught, 2);
	struct slice frames = facts_text(&f, f.failure[1].frames);
	assert_true(slice_ends(frames, "textlogs.py:99 in bad_backend: raise RuntimeError(\"this backend always fails\")"));
	assert_int_equal(f.n_limit, 1);
	assert_int_equal(f.limit[0].limit, 8);
	assert_int_equal(f.n_compiler_error, 1);
	assert_int_equal(f.compiler_error[0].column, 33);
	assert_int_equal(f.n_bound, 6);
	assert_int_equal(f.bound[0].kind, BOUND_CONSTRAINT);
	assert_int_equal(f.n_path, 1);
}

static void times(void **state)
{
	(void)state;
	add_data("logs/explain.log");
	assert_int_equal(f.n_brk, 2);
	assert_true(f.brk[0].explained);
	assert_text(facts_text(&f, f.input[0].torch_version), "2.13.0+cpu");
	assert_int_equal(f.n_phase, 57); /* of 12, 56 and 56 */
	double whole = 0, sum = 0;
	for (uint32_t i = 0; i < f.n_phase; i++) {
		assert_true(f.phase[i].self >= 0 && f.phase[i].self <= f.phase[i].seconds + 1e-9);
		sum += f.phase[i].self;
		if (slice_is(facts_text(&f, f.phase[i].name), "_compile.compile_inner"))
			whole = f.phase[i].seconds;
	}
	assert_true(whole > 0 && f.input[0].seconds == whole);
	assert_true(sum < whole * 1.01 && sum > whole * 0.95); /* they add up */
}

static void crash(void **state)
{
	(void)state;
	add_data("logs/crash.log");
	assert_int_equal(f.n_failure, 1); /* faulthandler's word and the shell's are one */
	assert_int_equal(f.failure[0].signal, SIGSEGV);
	assert_int_equal(f.failure[0].user.line, 212);
	assert_true(slice_ends(facts_text(&f, f.failure[0].reason), "/ctypes/__init__.py:519 in string_at"));
}

static void unfinished(void **state)
{
	(void)state;
	static const char text[] = "I1121 07:59:23.043000 1 torch/x.py:1] [0/0] Step 1: torchdynamo start tracing f /home/u/a.py:1\n"
				   "I1121 07:59:23.043000 1 torch/x.py:2] [0/0] Step 1: torchdynamo done tracing f (RETURN_VALUE)\n"
				   "I1121 07:59:23.043000 1 torch/x.py:3] [0/0] Step 2: calling compiler function inductor\n"
				   "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n";
	add_text(text, sizeof(text) - 1);
	assert_int_equal(f.n_marker, 1);
	assert_int_equal(f.marker[0].component, COMPONENT_AOTAUTOGRAD);
	assert_text(facts_text(&f, f.marker[0].what), "compiler function inductor");
	assert_text(facts_text(&f, f.compile[f.marker[0].compile].loc.file), "/home/u/a.py");
	assert_int_equal(f.n_failure, 0);
	assert_int_equal(f.n_damage, 1); /* the traceback is cut */
	assert_int_equal(f.damage[0].line, 4);
}

static void no_file(void **state)
{
	(void)state;
	struct err err = {0};
	facts_release(&f);
	facts_init(&f);
	assert_int_equal(facts_add_textlog(&f, missing_path("log"), NULL, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_int_equal(f.n_input, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(logs),  cmocka_unit_test(resume_functions), cmocka_unit_test(failures), cmocka_unit_test(times),
	    cmocka_unit_test(crash), cmocka_unit_test(unfinished),       cmocka_unit_test(no_file),
	};
	int failed = RUN(tests);
	facts_release(&f);
	return failed;
}
