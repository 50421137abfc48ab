/* textlog: text logs. The forms of 2.13 are those of tests/data/logs, where the counts are stated in tests/data/README.md; older
 * forms stand here as PyTorch's guides and issues show them. */
#include "../../lib/test.h"
#include "../../lib/missing.h"

#include <signal.h>

#include "run/textlog/textlog.h"

static struct textlog t;
static struct facts f;
static struct guard guard;

static void begin(void)
{
	textlog_release(&t);
	facts_release(&f);
	facts_init(&f);
	textlog_init(&t, &f, facts_input(&f, FACT_TEXTLOG, "text"));
}

static void reads(struct slice text)
{
	begin();
	textlog_feed(&t, guard_put(&guard, text.p, text.n), text.n);
	textlog_finish(&t);
}

static void read_text(const char *text) { reads(slice_str(text)); }

#define TEXT(i) facts_text(&f, i)

static uint32_t rows(void)
{
	uint32_t n = 0;
#define X(name, type) n += f.n_##name;
	FACT_TABLES(X)
#undef X
	return n;
}

static unsigned lines_of(uint32_t text)
{
	struct slice rest = TEXT(text), line;
	unsigned n = 0;
	while (slice_line(&rest, &line))
		n++;
	return n;
}

/* ---- recorded logs ---- */

static struct buf data;

static void load(const char *name)
{
	if (!data_load(name, &data))
		fail_msg("cannot read tests/data/%s", name);
	reads(buf_slice(&data));
	assert_int_equal(t.long_blocks + t.long_lines + t.texts_left, 0);
}

static unsigned said(unsigned what)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < t.n_said; i++)
		n += (t.said[i].said & what) != 0;
	return n;
}

static void recorded_logs(void **state)
{
	(void)state;
	load("logs/logs.log.xz");
	assert_int_equal(f.n_brk, 4);
	assert_int_equal(said(SAID_LOG), 4);
	assert_int_equal(said(SAID_COMPILING), 4); /* the same four */
	assert_int_equal(f.brk[0].gb, 59);
	assert_int_equal(f.brk[0].kind, BREAK_CALL);
	assert_text(TEXT(f.brk[0].loc.function), "shout");
	assert_int_equal(f.brk[3].kind, BREAK_JUMP);
	assert_text(facts_label(&f, f.brk[3].compile), "4/0");
	assert_text(TEXT(f.brk[3].loc.function), "sign");
	assert_int_equal(f.n_recompile, 3);
	assert_text(TEXT(f.recompile[0].old), "3");
	assert_text(TEXT(f.recompile[0].new), "5");
	assert_text(TEXT(f.recompile[1].guard), "n == 2");
	assert_int_equal(f.recompile[1].loc.line, 38);
	assert_int_equal(lines_of(f.recompile[2].all), 3);
	assert_int_equal(f.n_symbol, 9);
	assert_true(f.symbol[8].unbacked);
	assert_text(TEXT(f.symbol[7].loc.code), "return x.view(6)  # s77 is 6");
	unsigned bounds[BOUND_CONSTRAINT + 1] = {0};
	for (uint32_t i = 0; i < f.n_bound; i++)
		bounds[f.bound[i].kind]++;
	assert_int_equal(bounds[BOUND_GUARD], 3);
	assert_int_equal(bounds[BOUND_ASSERT], 2);
	assert_int_equal(bounds[BOUND_SPECIALIZED], 1); /* what specialized it and the replacement are one row */
	assert_int_equal(f.n_bound, 6);
	unsigned begun = 0, done = 0;
	for (uint32_t i = 0; i < t.n_phase; i++) {
		begun += t.phase[i].step == STEP_BEGIN;
		done += t.phase[i].step == STEP_END;
	}
	assert_int_equal(begun, 32);
	assert_int_equal(done, 25);
	assert_int_equal(textlog_open_phase(&t), NONE);
	assert_int_equal(f.n_cache, 1);
	assert_int_equal(f.n_path, 2);
	assert_int_equal(f.n_failure, 0);
}

static void recorded_rank(void **state)
{
	(void)state;
	load("logs/ranks.log");
	assert_int_equal(f.n_brk, 4);
	assert_int_equal(f.n_recompile, 2);
	assert_int_equal(f.n_symbol, 3);
	assert_int_equal(f.input[0].rank, 0);
	assert_text(TEXT(f.recompile[1].against), "7/1");
	assert_int_equal(lines_of(f.recompile[1].all), 2);
}

static void recorded_failures(void **state)
{
	(void)state;
	load("logs/quiet.log.xz");
	assert_int_equal(f.n_failure, 21);
	unsigned causes = 0, caught = 0;
	for (uint32_t i = 0; i < f.n_failure; i++) {
		causes += f.failure[i].cause != NONE;
		caught += f.failure[i].caught;
	}
	assert_int_equal(causes, 5);
	assert_int_equal(caught, 2);
	assert_text(TEXT(f.failure[0].type), "torch._dynamo.exc.Unsupported");
	assert_int_equal(f.failure[0].user.line, 104);
	assert_int_equal(f.n_brk, 0);
	assert_int_equal(said(SAID_ERROR), 2); /* they are failures */
	assert_int_equal(f.n_bound, 6);
	assert_text(TEXT(f.bound[0].symbol), "other");
	assert_text(TEXT(f.bound[0].reason), "other = batch");
	assert_int_equal(f.n_limit, 1);
	assert_int_equal(f.limit[0].limit, 8);
	assert_int_equal(f.n_compiler_error, 1);
	assert_int_equal(f.compiler_error[0].at.line, 15);
	assert_int_equal(f.compiler_error[0].column, 33);
	assert_text(TEXT(f.compiler_error[0].at.code), "auto tmp1 = compile error!;");
	assert_non_null(slice_find(TEXT(f.compiler_error[0].command), ".main.cpp"));
	assert_int_equal(f.n_path, 1);
	assert_text(TEXT(f.path[0].what), "minifier launcher");
	assert_int_equal(t.n_phase, 1);
	assert_int_equal(t.phase[0].step, STEP_FAIL);
	assert_text(TEXT(f.failure[f.n_failure - 1].type), "KeyError");
}

static void recorded_explain(void **state)
{
	(void)state;
	load("logs/explain.log");
	assert_int_equal(f.n_brk, 2);
	assert_true(f.brk[0].explained);
	assert_int_equal(f.brk[0].loc.line, 21);
	assert_text(TEXT(f.brk[1].reason), "generic_jump TensorVariable()");
	uint64_t files = 0;
	for (uint32_t i = 0; i < f.n_phase; i++)
		if (slice_is(TEXT(f.phase[i].name), "compile_file"))
			files = f.phase[i].calls;
	assert_int_equal(f.n_phase, 57); /* 12 by explain, 56 as a table and again as CSV: of one name is one row */
	assert_int_equal(files, 2);
	assert_text(TEXT(f.input[0].torch_version), "2.13.0+cpu");
}

static void recorded_debug(void **state)
{
	(void)state;
	load("logs/debug.log");
	assert_int_equal(t.records, 0); /* it has no prefixes */
	assert_int_equal(t.n_phase, 35);
	assert_int_equal(f.n_brk, 4);
	assert_int_equal(said(SAID_COMPILING), 4);
	assert_int_equal(textlog_open_phase(&t), UINT32_MAX);
}

static void recorded_crash(void **state)
{
	(void)state;
	load("logs/crash.log");
	assert_int_equal(f.n_failure, 1); /* faulthandler's word and the shell's are of one death */
	assert_int_equal(f.failure[0].signal, SIGSEGV);
	assert_non_null(slice_find(TEXT(f.failure[0].reason), "string_at"));
	assert_int_equal(f.failure[0].user.line, 212);
	assert_true(slice_ends(TEXT(f.failure[0].frames), "/ctypes/__init__.py:519 in string_at"));
}

/* ---- the same rows, however it comes ---- */

static uint64_t digest(void)
{
	uint64_t h = t.lines * 31 + t.records;
#define X(name, type) \
	h = h * 1000003 + f.n_##name; \
	for (uint32_t i = 0; i < f.n_##name; i++) \
		h = h * 1000003 + f.name[i].src.line + f.name[i].compile;
	FACT_TABLES(X)
#undef X
	for (uint32_t i = 0; i < f.names.n; i++) {
		struct slice s = intern_get(&f.names, i);
		h = h * 1000003 + hash_bytes(s.p, s.n);
	}
	return h;
}

static void windows_of_any_size(void **state)
{
	(void)state;
	static const char *const names[] = {"logs/logs.log.xz", "logs/ranks.log",    "logs/quiet.log.xz", "logs/explain.log",
					    "logs/debug.log",   "logs/autotune.log", "logs/crash.log"};
	static const size_t sizes[] = {1, 7, 100, 4096, 65536};
	for (unsigned k = 0; k < ARRAY_LEN(names); k++) {
		load(names[k]);
		uint64_t want = digest();
		for (unsigned s = 0; s < ARRAY_LEN(sizes); s++) {
			begin();
			for (size_t i = 0; i < data.len; i += sizes[s]) {
				size_t n = data.len - i < sizes[s] ? data.len - i : sizes[s];
				textlog_feed(&t, guard_put(&guard, data.p + i, n), n);
			}
			textlog_finish(&t);
			assert_true(digest() == want);
		}
	}
}

/* Behind every label, with CRs and colours, nothing is lost. */
static void labels(void **state)
{
	(void)state;
	static const char *const label[] = {"[rank3]: ",
					    "3: ",
					    "[default3]:",
					    "(Worker rank=3 pid=77) ",
					    "2024-01-01T12:34:56.123456789Z ",
					    "web-1  | ",
					    "Nov 21 12:34:56 host prog[123]: ",
					    "2024-01-01T12:34:56.1Z [rank3]: ",
					    "<unknown> "};
	static const char *const files[] = {"logs/logs.log.xz", "logs/quiet.log.xz"};
	for (unsigned n = 0; n < 2; n++)
		for (unsigned k = 0; k < ARRAY_LEN(label) - n; k++) { /* what is unknown is found before records only */
			load(files[n]);
			uint32_t breaks = f.n_brk, failures = f.n_failure, phases = t.n_phase, symbols = f.n_symbol,
				 recompiles = f.n_recompile;
			struct buf b = {0};
			struct slice rest = buf_slice(&data), line;
			while (slice_line(&rest, &line)) {
				buf_adds(&b, k % 2 ? "\x1b[0m" : "");
				buf_adds(&b, label[k]);
				buf_add_slice(&b, line);
				buf_adds(&b, k % 3 ? "\n" : "\r\n");
			}
			reads(buf_slice(&b));
			buf_release(&b);
			assert_int_equal(f.n_brk, breaks);
			assert_int_equal(f.n_failure, failures);
			assert_int_equal(t.n_phase, phases);
			assert_int_equal(f.n_symbol, symbols);
			assert_int_equal(f.n_recompile, recompiles);
			if (k < 4)
				assert_int_equal(f.input[0].rank, 3);
		}
}

static void two_ranks_by_turns(void **state)
{
	(void)state;
	read_text("[rank0]: Traceback (most recent call last):\n"
		  "[rank1]: Traceback (most recent call last):\n"
		  "[rank0]:   File \"a.py\", line 1, in f\n"
		  "[rank1]:   File \"b.py\", line 2, in g\n"
		  "[rank0]: ValueError: one\n"
		  "[rank1]: TypeError: two\n");
	assert_int_equal(f.n_failure, 2);
	assert_int_equal(f.input[0].rank, -1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(f.failure[i].src.line, i + 1);
		assert_int_equal(f.failure[i].user.line, i + 1);
	}
}

static void utf16(void **state)
{
	(void)state;
	static const char text[] = "x\r\nValueError\r\nStep 1: torchdynamo start tracing f a.py:1\r\n";
	struct buf b = {0};
	buf_add(&b, "\xff\xfe", 2);
	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		buf_addc(&b, text[i]);
		buf_addc(&b, 0);
	}
	reads(buf_slice(&b));
	buf_release(&b);
	assert_int_equal(t.n_phase, 1);
	assert_text(TEXT(t.phase[0].name), "f");
}

/* ---- older forms ---- */

static void old_prefixes(void **state)
{
	(void)state;
	read_text(
	    "[2023-02-28 08:11:31,485] torch._dynamo.symbolic_convert: [INFO] Step 1: torchdynamo start tracing forward\n"
	    "[2023-02-28 08:11:31,514] torch._dynamo.symbolic_convert: [INFO] Step 1: torchdynamo done tracing forward (RETURN_VALUE)\n"
	    "[2023-02-28 08:11:31,515] torch._dynamo.output_graph: [INFO] Step 2: calling compiler function inductor\n"
	    "[2023-02-28 08:11:31,710] torch._inductor.compile_fx: [INFO] Step 3: torchinductor compiling FORWARDS graph 8\n");
	assert_int_equal(t.n_phase, 4);
	assert_int_equal(t.records, 4);
	uint32_t open = textlog_open_phase(&t);
	assert_int_equal(open, 3);
	assert_int_equal(t.phase[open].component, TEXTLOG_INDUCTOR);
	assert_text(TEXT(t.phase[open].name), "FORWARDS graph 8");
	read_text("torch._inductor.debug: [WARNING] model___20 debug trace: /tmp/torchinductor_root/rx/crx.debug\n");
	assert_int_equal(f.n_path, 1);
	assert_text(TEXT(f.path[0].what), "debug trace");
	assert_text(TEXT(f.path[0].path), "/tmp/torchinductor_root/rx/crx.debug");
	read_text("WARNING:torchdynamo.convert_frame:torchdynamo hit recompilation cache limit (64) for function 'forward' "
		  "(/home/j/m.py:381), due to "
		  "the following guard failures: [['len(a) == 0'], ['len(a) == 0']]\n");
	assert_int_equal(f.n_limit, 1);
	assert_int_equal(f.limit[0].limit, 64);
	assert_text(TEXT(f.limit[0].loc.function), "forward");
	assert_int_equal(f.limit[0].loc.line, 381);
	read_text("(VllmWorker rank=2 pid=295) ERROR 06-18 08:08:25 [multiproc_executor.py:522] Traceback (most recent call last):\n"
		  "(VllmWorker rank=2 pid=295) ERROR 06-18 08:08:25 [multiproc_executor.py:522]   File \"/home/u/w.py\", line 7, in run\n"
		  "(VllmWorker rank=2 pid=295) ERROR 06-18 08:08:25 [multiproc_executor.py:522] ValueError: x\n");
	assert_int_equal(f.n_failure, 1);
	assert_int_equal(f.input[0].rank, 2);
	assert_false(f.failure[0].caught); /* vLLM's own error: not one that torch went on from */
	assert_text(TEXT(f.failure[0].reason), "x");
	read_text(
	    "V0410 16:18:11.049000 139689102684672 torch/_dynamo/guards.py:2199] [__recompiles] Recompiling function fn in /home/u/r.py:3\n"
	    "V0410 16:18:11.049000 139689102684672 torch/_dynamo/guards.py:2199] [__recompiles]     triggered by the following guard "
	    "failure(s):\n"
	    "V0410 16:18:11.049000 139689102684672 torch/_dynamo/guards.py:2199] [__recompiles]     - ___check_global_state()\n");
	assert_int_equal(f.n_recompile, 1);
	assert_text(TEXT(f.recompile[0].guard), "___check_global_state()");
	assert_int_equal(f.recompile[0].loc.line, 3);
}

static void wont_convert(void **state)
{
	(void)state;
	read_text("torch._dynamo.convert_frame: [ERROR] WON'T CONVERT test_assertion_error /scratch/t/../test/errors.py line 26\n"
		  "due to:\n"
		  "Traceback (most recent call last):\n"
		  "  File \"/scratch/t/torchdynamo/symbolic_convert.py\", line 837, in BUILD_MAP\n"
		  "    assert isinstance(k, ConstantVariable) or (\n"
		  "AssertionError\n"
		  "\n"
		  "from user code:\n"
		  "   File \"/scratch/t/../test/errors.py\", line 34, in test_assertion_error\n"
		  "    z = {y: 5}\n"
		  "\n"
		  "Set torch._dynamo.config.verbose=True for more information\n"
		  "==========\n");
	assert_int_equal(t.n_phase, 1);
	assert_int_equal(t.phase[0].step, STEP_FAIL);
	assert_text(TEXT(t.phase[0].name), "test_assertion_error");
	assert_int_equal(f.n_failure, 1);
	assert_text(TEXT(f.failure[0].type), "AssertionError");
	assert_int_equal(f.failure[0].user.line, 34);
	assert_true(f.failure[0].caught);
}

static void old_recompiles(void **state)
{
	(void)state;
	read_text(
	    "[2023-04-13 21:42:57,808] torch._dynamo.convert_frame.__recompiles: [DEBUG] ('Recompiling function step in /home/u/kf.py', "
	    "\"triggered by the following guard failure: L['t'] == 0\")\n");
	assert_int_equal(f.n_recompile, 1);
	assert_text(TEXT(f.recompile[0].loc.function), "step");
	assert_text(TEXT(f.recompile[0].loc.file), "/home/u/kf.py");
	assert_text(TEXT(f.recompile[0].guard), "L['t'] == 0");
	assert_text(TEXT(f.recompile[0].old), "0");
	read_text(
	    "[2023-11-06 14:54:08,549] torch._dynamo.guards.__recompiles: [DEBUG] Recompiling function forward in /data/resnet.py:284\n"
	    "[2023-11-06 14:54:08,549] torch._dynamo.guards.__recompiles: [DEBUG]     triggered by the following guard failure(s):\n"
	    "[2023-11-06 14:54:08,549] torch._dynamo.guards.__recompiles: [DEBUG]     - tensor 'L['x']' size mismatch at index 0. expected "
	    "20, actual 21\n"
	    "[2023-11-06 14:54:08,549] torch._dynamo.guards.__recompiles: [DEBUG]     - tensor 'L['x']' size mismatch at index 0. expected "
	    "19, actual 21\n"
	    "[2023-11-06 14:54:17,795] torch._dynamo.guards.__recompiles: [DEBUG] Recompiling function <graph break in forward> in a.py:6\n"
	    "[2023-11-06 14:54:17,795] torch._dynamo.guards.__recompiles: [DEBUG]     triggered by the following guard failure(s):\n"
	    "[2023-11-06 14:54:17,795] torch._dynamo.guards.__recompiles: [DEBUG]     - L['end'] == 10            # for i in e:  # a.py:9 "
	    "in accumulate\n");
	assert_int_equal(f.n_recompile, 2);
	assert_text(TEXT(f.recompile[0].old), "20");
	assert_text(TEXT(f.recompile[0].new), "21");
	assert_int_equal(lines_of(f.recompile[0].all), 2);
	assert_text(TEXT(f.recompile[1].loc.function), "accumulate");
	assert_int_equal(f.recompile[1].loc.line, 9);
	/* 2.1, and debug.log, without prefixes */
	read_text("Recompiling function f in b.py:2\ntriggered by the following guard failure: L['n'] == 3\nbye\n");
	assert_int_equal(f.n_recompile, 1);
	assert_text(TEXT(f.recompile[0].guard), "L['n'] == 3");
}

static void old_limits(void **state)
{
	(void)state;
	read_text("[2023-03-01 08:20:52,143] torch._dynamo.convert_frame: [WARNING] torch._dynamo hit config.cache_size_limit (64)\n"
		  "   function: 'toy_example' (example.py:5)\n"
		  "   reasons:  ['___guarded_code.valid']\n"
		  "to diagnose recompilation issues, see https://pytorch.org/docs/master/dynamo/troubleshooting.html.\n");
	assert_int_equal(f.n_limit, 1);
	assert_false(f.limit[0].accumulated);
	assert_int_equal(f.limit[0].limit, 64);
	assert_text(TEXT(f.limit[0].reason), "['___guarded_code.valid']");
	assert_int_equal(f.limit[0].loc.line, 5);
	read_text("W1121 07:59:23.043000 12 torch/_dynamo/convert_frame.py:906] [9/64] torch._dynamo hit "
		  "config.accumulated_cache_size_limit (64)\n"
		  "W1121 07:59:23.043000 12 torch/_dynamo/convert_frame.py:906] [9/64]    function: 'f' (/home/u/a b.py:5)\n"
		  "W1121 07:59:23.043000 12 torch/_dynamo/convert_frame.py:906] [9/64]    last reason: 9/0: L['n'] == 1\n");
	assert_true(f.limit[0].accumulated);
	assert_text(facts_label(&f, f.limit[0].compile), "9/64");
	assert_text(TEXT(f.limit[0].loc.file), "/home/u/a b.py");
}

static void old_explain(void **state)
{
	(void)state;
	read_text("Dynamo produced 3 graphs, with 2 graph breaks and 6 ops.\n"
		  " Break reasons:\n"
		  "1. call_function BuiltinVariable(print) [ConstantVariable(str)] {}\n"
		  "   File \"t2.py\", line 16, in toy_example\n"
		  "    print(\"woo\")\n"
		  "\n"
		  "2. generic_jump\n"
		  "   File \"t2.py\", line 17, in toy_example\n"
		  "    if b.sum() < 0:\n"
		  " \n");
	assert_int_equal(f.n_brk, 2);
	assert_text(TEXT(f.brk[0].reason), "call_function BuiltinVariable(print) [ConstantVariable(str)] {}");
	assert_int_equal(f.brk[0].kind, BREAK_CALL);
	assert_int_equal(f.brk[1].loc.line, 17);
	assert_text(TEXT(f.brk[1].loc.code), "if b.sum() < 0:");
	assert_int_equal(f.brk[1].kind, BREAK_JUMP);
}

static void old_breaks(void **state)
{
	(void)state;
	/* 2.5, 2.6 */
	read_text(
	    "V0130 10:00:00.000000 5 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks] Graph break in user code at "
	    "/home/u/app.py:5\n"
	    "V0130 10:00:00.000000 5 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks] Reason: Unsupported: builtin: print "
	    "[<class 'x'>] False\n"
	    "V0130 10:00:00.000000 5 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks] User code traceback:\n"
	    "V0130 10:00:00.000000 5 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks]   File \"/home/u/app.py\", line 5, in "
	    "f\n"
	    "V0130 10:00:00.000000 5 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks]     print(1)\n"
	    "V0130 10:00:00.000000 5 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks] \n"
	    "V0130 10:00:00.000000 5 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks] Traceback (most recent call last):\n"
	    "V0130 10:00:00.000000 5 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks]   File \"/p/torch/_dynamo/exc.py\", "
	    "line 9, in g\n"
	    "V0130 10:00:00.000000 5 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks] torch._dynamo.exc.Unsupported: builtin: "
	    "print\n");
	assert_int_equal(f.n_brk, 1);
	assert_text(TEXT(f.brk[0].reason), "builtin: print [<class 'x'>] False");
	assert_int_equal(f.brk[0].loc.line, 5);
	assert_text(TEXT(f.brk[0].loc.function), "f");
	/* 2.1 to 2.4 */
	read_text("[rank0]:[2023-08-23 20:16:32,833] [12/21] torch._dynamo.symbolic_convert.__graph_breaks: [DEBUG] Graph break: "
		  "call_function partial in "
		  "skip_files functools.py from user code at:\n"
		  "[rank0]:[2023-08-23 20:16:32,833] [12/21] torch._dynamo.symbolic_convert.__graph_breaks: [DEBUG]   File "
		  "\"/home/u/core.py\", line 77, in call\n"
		  "[rank0]:[2023-08-23 20:16:32,833] [12/21] torch._dynamo.symbolic_convert.__graph_breaks: [DEBUG]     return f(x)\n");
	assert_int_equal(f.n_brk, 1);
	assert_text(TEXT(f.brk[0].reason), "call_function partial in skip_files functools.py");
	assert_int_equal(f.brk[0].loc.line, 77);
	assert_int_equal(f.input[0].rank, 0);
	assert_text(facts_label(&f, f.brk[0].compile), "12/21");
	/* 2.4: the exception below it says why */
	read_text(
	    "V0729 20:00:00.000000 5 torch/_dynamo/symbolic_convert.py:353] [0/0] [__graph_breaks] Graph break: from user code at:\n"
	    "V0729 20:00:00.000000 5 torch/_dynamo/symbolic_convert.py:353] [0/0] [__graph_breaks]   File \"/home/u/app.py\", line 9, in "
	    "f\n"
	    "V0729 20:00:00.000000 5 torch/_dynamo/symbolic_convert.py:353] [0/0] [__graph_breaks]     torch._dynamo.graph_break()\n"
	    "V0729 20:00:00.000000 5 torch/_dynamo/symbolic_convert.py:353] [0/0] [__graph_breaks] Traceback (most recent call last):\n"
	    "V0729 20:00:00.000000 5 torch/_dynamo/symbolic_convert.py:353] [0/0] [__graph_breaks]   File \"/p/torch/_dynamo/exc.py\", "
	    "line 9, in g\n"
	    "V0729 20:00:00.000000 5 torch/_dynamo/symbolic_convert.py:353] [0/0] [__graph_breaks] torch._dynamo.exc.Unsupported: 'skip "
	    "function "
	    "graph_break in file x.py'\n");
	assert_int_equal(f.n_brk, 1);
	assert_true(slice_starts(TEXT(f.brk[0].reason), "'skip function graph_break"));
	assert_int_equal(f.brk[0].loc.line, 9);
	assert_text(TEXT(f.brk[0].loc.file), "/home/u/app.py");
	/* 2.0: a jump is in one line only */
	read_text(
	    "[2023-03-01 08:20:52,143] torch._dynamo.output_graph: [DEBUG] COMPILING GRAPH due to GraphCompileReason(reason='generic_jump "
	    "TensorVariable()', user_stack=[<FrameSummary file t2.py, line 17 in toy_example>], graph_break=True)\n"
	    "[2023-03-01 08:20:52,144] torch._dynamo.output_graph: [DEBUG] COMPILING GRAPH due to "
	    "GraphCompileReason(reason='return_value', "
	    "user_stack=[<FrameSummary file t2.py, line 19 in <resume in toy_example>>], graph_break=False)\n");
	assert_int_equal(f.n_brk, 1);
	assert_int_equal(f.brk[0].kind, BREAK_JUMP);
	assert_text(TEXT(f.brk[0].loc.function), "toy_example");
}

/* The break of the log, of explain and of the graph's compilation is one row; of two compilations, two. */
static void one_break(void **state)
{
	(void)state;
	read_text("V1 Graph break in user code at a.py:5\n"
		  "Graph break in user code at a.py:5\n"
		  "Graph Break Reason: Call to x\n"
		  "  Explanation: y\n"
		  "\n"
		  "User code traceback:\n"
		  "  File \"a.py\", line 5, in f\n"
		  "    x()\n"
		  "\n"
		  "Graph Count: 2\n"
		  "Graph Break Count: 1\n"
		  "Op Count: 2\n"
		  "Break Reasons:\n"
		  "  Break Reason 1:\n"
		  "    Reason: Call to x\n"
		  "    User Stack:\n"
		  "      <FrameSummary file a.py, line 5 in f>\n"
		  "Ops per Graph:\n");
	assert_int_equal(f.n_brk, 1);
	assert_int_equal(t.said[0].said, SAID_LOG | SAID_EXPLAIN);
	assert_text(TEXT(f.brk[0].explanation), "y");
	read_text("V0130 10:00:00.000000 5 torch/x.py:4] [0/0] [__graph_breaks] Graph break in user code at a.py:5\n"
		  "V0130 10:00:00.000001 5 torch/x.py:4] [1/0] [__graph_breaks] Graph break (user stack suppressed due to duplicate graph "
		  "break) in user code at a.py:5\n"
		  "V0130 10:00:00.000001 5 torch/x.py:4] [1/0] [__graph_breaks] Graph Break Reason: r\n");
	assert_int_equal(f.n_brk, 2);
}

static void old_shapes(void **state)
{
	(void)state;
	read_text(
	    "[2023-08-01 10:00:00,000] [0/0] torch.fx.experimental.symbolic_shapes: [INFO] create_symbol s0 = 3 for L['x'].size()[0]\n"
	    "I0401 10:00:00.000000 12 torch/fx/experimental/symbolic_shapes.py:2] [0/0] create_symbol s0 = 4 for L['d']['k v'].size()[0] "
	    "[2, "
	    "9223372036854775806] at app.py:3 in f (_dynamo/variables/builder.py:2170 in <lambda>)\n"
	    "I0401 10:00:00.000000 12 torch/fx/experimental/symbolic_shapes.py:3] [0/0] eval Eq(s0, 3) [guard added] at app.py:4 in g "
	    "(_x.py:1 in h)\n"
	    "I0401 10:00:00.000000 12 torch/fx/experimental/symbolic_shapes.py:4] [0/0] create_unbacked_symbol u0 [-9223372036854775808, "
	    "9223372036854775807]\n"
	    "W0401 10:00:00.000000 12 torch/fx/experimental/symbolic_shapes.py:5] [0/0] Specializing L['x'].size()[0] to 3\n"
	    "I0401 10:00:00.000000 12 torch/fx/experimental/symbolic_shapes.py:6] [0/0] constrain_symbol_range u0 [2, 63]\n");
	assert_int_equal(f.n_symbol, 3);
	assert_text(TEXT(f.symbol[0].source), "L['x'].size()[0]");
	assert_int_equal(f.symbol[0].range, NONE);
	assert_text(TEXT(f.symbol[1].source), "L['d']['k v'].size()[0]");
	assert_text(TEXT(f.symbol[1].range), "[2, 9223372036854775806]");
	assert_text(TEXT(f.symbol[1].loc.function), "f");
	assert_true(f.symbol[2].unbacked);
	assert_int_equal(f.n_bound, 2);
	assert_text(TEXT(f.bound[0].expr), "Eq(s0, 3)");
	assert_int_equal(f.bound[0].loc.line, 4);
	assert_int_equal(f.bound[1].kind, BOUND_SPECIALIZED);
	assert_text(TEXT(f.bound[1].value), "3");
}

static void old_violations(void **state)
{
	(void)state;
	read_text("torch._dynamo.exc.UserError: Constraints violated (L['x'].size()[0])! For more information, run with "
		  "TORCH_LOGS=\"+dynamic\".\n");
	read_text("Traceback (most recent call last):\n"
		  "  File \"a.py\", line 1, in f\n"
		  "torch._dynamo.exc.UserError: Constraints violated (dx)! For more information, run with TORCH_LOGS=\"+dynamic\".\n"
		  "  - Not all values of RelaxedUnspecConstraint(L['x'].size()[0]) are valid because L['x'].size()[0] was inferred to be a "
		  "constant (2048).\n"
		  "  1. Not all values of dx = L['x'].size()[0] in the specified range dx <= 6 satisfy the generated guard.\n"
		  "Specializations unexpectedly required (dx)! For more information, run with TORCH_LOGS=\"+dynamic\".\n"
		  "  - solving the guards generated for dx = L['x'].size()[0] resulted in a specialized value of 4.\n"
		  "\n"
		  "Suggested fixes:\n"
		  "  dx = 4\n");
	assert_int_equal(f.n_bound, 3);
	assert_text(TEXT(f.bound[0].sources), "L['x'].size()[0]");
	assert_text(TEXT(f.bound[1].symbol), "dx");
	assert_text(TEXT(f.bound[2].symbol), "dx");
	assert_text(TEXT(f.bound[2].reason), "dx = 4");
}

static void tables(void **state)
{
	(void)state;
	read_text("TorchDynamo compilation metrics:\n"
		  "Function                          Runtimes (s)\n"
		  "--------------------------------  --------------\n"
		  "_compile                          1.2345, 0.5\n"
		  "OutputGraph.call_user_compiler    0.9\n"
		  "after\n"
		  "(['compile_fx.<locals>.x'], ['1.500000, 0.500000'])\n");
	assert_int_equal(f.n_phase, 3);
	assert_text(TEXT(f.phase[0].name), "_compile");
	assert_true(f.phase[0].seconds > 1.73 && f.phase[0].seconds < 1.74);
	assert_int_equal(f.phase[0].calls, 2);
	assert_text(TEXT(f.phase[2].name), "compile_fx.<locals>.x");
	assert_true(f.phase[2].seconds == 2);
	/* The last word counts. */
	read_text("(['_compile', 'gc'], ['1.500000, 0.500000', '0.250000'])\n(['gc'], ['0.5'])\n");
	assert_int_equal(f.n_phase, 2);
	assert_true(f.phase[1].seconds == 0.5);
}

static void single_lines(void **state)
{
	(void)state;
	read_text(
	    "W0419 11:12:04.474000 14 torch/_inductor/cudagraph_trees.py:360] [0/0] [__cudagraphs] skipping cudagraphs due to mutated "
	    "inputs (1 "
	    "instances). Found from : \n"
	    "W0419 11:12:04.474000 14 torch/_inductor/cudagraph_trees.py:360] [0/0] [__cudagraphs]    File \"/home/u/a.py\", line 5, in f\n"
	    "W0419 11:12:04.474000 14 torch/_inductor/cudagraph_trees.py:360] [0/0] [__cudagraphs]     x.add_(1)\n"
	    "I0419 11:12:04.475000 14 torch/_inductor/codecache.py:1] [0/0] fx graph cache miss for key fabc\n"
	    "V0419 11:12:04.476000 14 torch/_inductor/compile_fx.py:1] [0/0] FX cache bypass reason: cpp wrapper\n"
	    "I0419 11:12:04.477000 14 torch/_functorch/x.py:1] [0/0] AOTAutograd cache hit for key aabc\n"
	    "I0419 11:12:04.478000 14 torch/_functorch/x.py:1] [0/0] Bypassing autograd cache due to: Unsupported node op\n"
	    "# torch version: 1.13.0a0+gitfddfc44\n"
	    "# torch cuda version: 11.6\n"
	    "run.sh: line 3:  4711 Killed                  python app.py\n"
	    "Segmentation fault (core dumped)\n"
	    "Aborted the mission\n"
	    "Illegal instruction\n"
	    "/tmp/x/k.cpp:17:57: error: no matching function\n");
	assert_int_equal(f.n_cudagraph, 1);
	assert_text(TEXT(f.cudagraph[0].reason), "mutated inputs (1 instances)");
	assert_int_equal(f.cudagraph[0].loc.line, 5);
	assert_int_equal(f.n_cache, 4);
	assert_int_equal(f.cache[0].what, FACT_MISS);
	assert_text(TEXT(f.cache[1].reason), "cpp wrapper");
	assert_int_equal(f.cache[2].kind, FACT_CACHE_AOT);
	assert_int_equal(f.cache[3].what, FACT_BYPASS);
	assert_text(TEXT(f.input[0].torch_version), "1.13.0a0+gitfddfc44");
	assert_text(TEXT(f.input[0].cuda_version), "11.6");
	assert_int_equal(f.n_failure, 3);
	assert_int_equal(f.failure[0].signal, SIGKILL);
	assert_text(TEXT(f.failure[1].reason), "core dumped");
	assert_int_equal(f.failure[2].signal, SIGILL);
	assert_true(f.failure[2].ended);
	assert_int_equal(f.n_compiler_error, 1);
	assert_int_equal(f.compiler_error[0].column, 57);
}

/* ---- limits and rubbish ---- */

static void nothing(void **state)
{
	(void)state;
	static const char *const v[] = {"",    "\n",         "hello\nworld\n", "\r\n\r\n", "[",          "V",
					"0: ", "Step 1: \n", "Graph break",    "eval \n",  "AUTOTUNE \n"};
	for (unsigned i = 0; i < ARRAY_LEN(v); i++) {
		read_text(v[i]);
		assert_true(!rows() && !t.n_phase);
	}
}

static void long_lines(void **state)
{
	(void)state;
	struct buf b = {0};
	for (int i = 0; i < 300000; i++)
		buf_adds(&b, "x");
	buf_adds(&b, "\nStep 1: torchdynamo start tracing f a.py:1\n");
	reads(buf_slice(&b));
	assert_int_equal(t.long_lines, 1);
	assert_int_equal(t.lines, 2);
	assert_int_equal(t.n_phase, 1);
	buf_release(&b);
}

/* A traceback whose message never ends is taken as far as a block goes, and the text behind it is read. */
static void long_block(void **state)
{
	(void)state;
	struct buf b = {0};
	buf_adds(&b, "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: x\n");
	for (int i = 0; i < 40000; i++)
		buf_adds(&b, "a line of the message\n");
	buf_adds(&b, "V1121 07:59:23.043000 1 torch/x.py:1] [0/0] Step 1: torchdynamo start tracing f a.py:1\n");
	reads(buf_slice(&b));
	assert_int_equal(f.n_failure, 1);
	assert_int_equal(t.long_blocks, 1);
	assert_int_equal(t.texts_cut, 2);
	assert_int_equal(t.n_phase, 1);
	assert_text(facts_label(&f, t.phase[0].compile), "0/0");
	buf_release(&b);
}

static void many_rows(void **state)
{
	(void)state;
	begin();
	static const char line[] = "Step 2: calling compiler function inductor\n";
	for (int i = 0; i < TEXTLOG_ROWS_MAX + 10; i++)
		textlog_feed(&t, line, sizeof(line) - 1);
	textlog_finish(&t);
	assert_int_equal(t.n_phase, TEXTLOG_ROWS_MAX);
	assert_int_equal(t.rows_left, 10);
}

/* Recorded logs with bytes changed, lines cut and swapped. */
static void damaged(void **state)
{
	(void)state;
	static const char *const names[] = {"logs/ranks.log", "logs/quiet.log.xz", "logs/explain.log", "logs/debug.log",
					    "logs/logs.log.xz"};
	uint64_t seed = 7;
	struct buf b = {0};
	for (unsigned k = 0; k < ARRAY_LEN(names); k++) {
		load(names[k]);
		for (int round = 0; round < 30; round++) {
			size_t from = pick(&seed, (uint32_t)data.len), n = pick(&seed, 20000);
			if (n > data.len - from)
				n = data.len - from;
			buf_reset(&b);
			buf_add(&b, data.p + from, n);
			for (uint32_t i = pick(&seed, 60); n && i > 0; i--)
				b.p[pick(&seed, (uint32_t)n)] = "\n\0\xff :[]\"'(-#"[pick(&seed, 13)];
			reads(buf_slice(&b));
			for (uint32_t i = 0; i < f.n_failure; i++)
				assert_true(f.failure[i].cause == NONE || f.failure[i].cause < i);
		}
	}
	buf_release(&b);
}

static void a_file(void **state)
{
	(void)state;
	struct err err;
	char *path = data_path("logs/ranks.log");
	facts_release(&f);
	assert_int_equal(facts_add_textlog(&f, path, NULL, &err), 0);
	assert_int_equal(f.n_brk, 4);
	free(path);
	assert_int_equal(facts_add_textlog(&f, missing_path("log"), NULL, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(recorded_logs),
	    cmocka_unit_test(recorded_rank),
	    cmocka_unit_test(recorded_failures),
	    cmocka_unit_test(recorded_explain),
	    cmocka_unit_test(recorded_debug),
	    cmocka_unit_test(recorded_crash),
	    cmocka_unit_test(windows_of_any_size),
	    cmocka_unit_test(labels),
	    cmocka_unit_test(two_ranks_by_turns),
	    cmocka_unit_test(utf16),
	    cmocka_unit_test(old_prefixes),
	    cmocka_unit_test(wont_convert),
	    cmocka_unit_test(old_recompiles),
	    cmocka_unit_test(old_limits),
	    cmocka_unit_test(old_explain),
	    cmocka_unit_test(old_breaks),
	    cmocka_unit_test(one_break),
	    cmocka_unit_test(old_shapes),
	    cmocka_unit_test(old_violations),
	    cmocka_unit_test(tables),
	    cmocka_unit_test(single_lines),
	    cmocka_unit_test(nothing),
	    cmocka_unit_test(long_lines),
	    cmocka_unit_test(long_block),
	    cmocka_unit_test(many_rows),
	    cmocka_unit_test(damaged),
	    cmocka_unit_test(a_file),
	};
	int failed = RUN(tests);
	textlog_release(&t);
	facts_release(&f);
	buf_release(&data);
	guard_release(&guard);
	return failed;
}
