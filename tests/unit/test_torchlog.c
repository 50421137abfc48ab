/* torchlog: text logs. The forms of 2.13 are those of tests/data/logs, where the counts are stated in tests/data/README.md; older
 * forms stand here as PyTorch's guides and issues show them. */
#include "../lib/test.h"

#include <signal.h>

#include "torchlog/torchlog.h"

static struct textlog t;
static struct guard guard;

static void reads(struct slice text)
{
	textlog_release(&t);
	textlog_init(&t);
	textlog_feed(&t, guard_put(&guard, text.p, text.n), text.n);
	textlog_finish(&t);
}

static void read_text(const char *text) { reads(slice_str(text)); }

#define TEXT(i) textlog_text(&t, i)

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
	for (uint32_t i = 0; i < t.brk.n; i++)
		n += (t.brk.row[i].said & what) != 0;
	return n;
}

static void recorded_logs(void **state)
{
	(void)state;
	load("logs/logs.log.xz");
	assert_int_equal(t.brk.n, 4);
	assert_int_equal(said(SAID_LOG), 4);
	assert_int_equal(said(SAID_COMPILING), 4); /* the same four */
	assert_int_equal(t.brk.row[0].gb, 59);
	assert_int_equal(t.brk.row[0].kind, TEXTLOG_BREAK_CALL);
	assert_text(TEXT(t.brk.row[0].loc.function), "shout");
	assert_int_equal(t.brk.row[3].kind, TEXTLOG_BREAK_JUMP);
	assert_true(t.brk.row[3].again);
	assert_text(TEXT(t.brk.row[3].at.compile), "4/0");
	assert_text(TEXT(t.brk.row[3].loc.function), "sign");
	assert_int_equal(t.recompile.n, 3);
	assert_text(TEXT(t.recompile.row[0].old), "3");
	assert_text(TEXT(t.recompile.row[0].new), "5");
	assert_text(TEXT(t.recompile.row[1].guard), "n == 2");
	assert_int_equal(t.recompile.row[1].guard_loc.line, 38);
	assert_int_equal(t.recompile.row[2].reasons, 3);
	assert_int_equal(t.symbol.n, 9);
	assert_true(t.symbol.row[8].unbacked);
	assert_text(TEXT(t.symbol.row[7].loc.code), "return x.view(6)  # s77 is 6");
	unsigned guards[5] = {0};
	for (uint32_t i = 0; i < t.guard.n; i++)
		guards[t.guard.row[i].kind]++;
	assert_int_equal(guards[GUARD_EVAL], 3);
	assert_int_equal(guards[GUARD_RUNTIME_ASSERT], 2);
	assert_int_equal(guards[GUARD_REPLACEMENT], 1);
	assert_int_equal(guards[GUARD_RANGE], 5);
	unsigned begun = 0, done = 0;
	for (uint32_t i = 0; i < t.phase.n; i++) {
		begun += t.phase.row[i].step == STEP_BEGIN;
		done += t.phase.row[i].step == STEP_END;
	}
	assert_int_equal(begun, 32);
	assert_int_equal(done, 25);
	assert_int_equal(textlog_open_phase(&t, 0), UINT32_MAX);
	assert_int_equal(t.cache.n, 1);
	assert_int_equal(t.path.n, 2);
	assert_int_equal(t.traceback.n, 0);
}

static void recorded_rank(void **state)
{
	(void)state;
	load("logs/ranks.log");
	assert_int_equal(t.brk.n, 4);
	assert_int_equal(t.recompile.n, 2);
	assert_int_equal(t.symbol.n, 3);
	assert_int_equal(t.brk.row[2].at.rank, 0);
	assert_text(TEXT(t.recompile.row[1].rejected_by), "7/1");
	assert_int_equal(t.recompile.row[1].reasons, 2);
}

static void recorded_failures(void **state)
{
	(void)state;
	load("logs/quiet.log.xz");
	assert_int_equal(t.traceback.n, 21);
	unsigned last = 0, direct = 0, during = 0, members = 0, logged = 0;
	for (uint32_t i = 0; i < t.traceback.n; i++) {
		const struct textlog_traceback *r = &t.traceback.row[i];
		last += r->last;
		direct += r->cause != UINT32_MAX && r->direct;
		during += r->cause != UINT32_MAX && !r->direct;
		members += r->member;
		logged += r->logged;
	}
	assert_int_equal(last, 16);
	assert_int_equal(direct, 2);
	assert_int_equal(during, 3);
	assert_int_equal(members, 2);
	assert_int_equal(logged, 2);
	assert_text(TEXT(t.traceback.row[0].type), "torch._dynamo.exc.Unsupported");
	assert_int_equal(t.traceback.row[0].user.line, 104);
	assert_int_equal(t.brk.n, 2);
	assert_int_equal(said(SAID_ERROR), 2);
	assert_int_equal(t.violation.n, 6);
	assert_text(TEXT(t.violation.row[0].dim), "other");
	assert_text(TEXT(t.violation.row[0].fixes), "other = batch");
	assert_int_equal(t.limit.n, 1);
	assert_int_equal(t.limit.row[0].limit, 8);
	assert_int_equal(t.compiler.n, 1);
	assert_int_equal(t.compiler.row[0].loc.line, 15);
	assert_int_equal(t.compiler.row[0].col, 33);
	assert_text(TEXT(t.compiler.row[0].quoted), "auto tmp1 = compile error!;");
	assert_true(slice_ends(TEXT(t.compiler.row[0].source), ".main.cpp"));
	assert_int_equal(t.path.n, 1);
	assert_int_equal(t.path.row[0].kind, PATH_REPRO);
	assert_int_equal(t.record.n, 6);
	assert_int_equal(t.phase.n, 1);
	assert_int_equal(t.phase.row[0].step, STEP_FAIL);
	assert_text(TEXT(t.traceback.row[t.traceback.n - 1].type), "KeyError");
}

static void recorded_explain(void **state)
{
	(void)state;
	load("logs/explain.log");
	assert_int_equal(t.explain.n, 1);
	assert_int_equal(t.explain.row[0].graphs, 5);
	assert_int_equal(t.explain.row[0].breaks, 4);
	assert_int_equal(t.explain.row[0].ops, 5);
	assert_int_equal(t.explain.row[0].listed, 2);
	assert_int_equal(t.brk.n, 2);
	assert_int_equal(t.brk.row[0].loc.line, 21);
	assert_text(TEXT(t.brk.row[1].reason), "generic_jump TensorVariable()");
	assert_int_equal(t.brk.row[1].explain, 0);
	unsigned compile = 0, counters = 0;
	double total = -1;
	uint64_t files = 0;
	for (uint32_t i = 0; i < t.time.n; i++) {
		const struct textlog_time *r = &t.time.row[i];
		compile += r->kind == TIME_COMPILE;
		counters += r->kind == TIME_COUNTER;
		if (r->kind == TIME_COUNTER && slice_is(TEXT(r->group), "frames") && slice_is(TEXT(r->name), "total"))
			total = r->seconds;
		if (r->kind == TIME_COMPILE && slice_is(TEXT(r->name), "compile_file"))
			files = r->calls;
	}
	assert_int_equal(compile, 124); /* 12 by explain, 56 as a table and again as CSV */
	assert_int_equal(counters, 16);
	assert_true(total == 8);
	assert_int_equal(files, 2);
	assert_int_equal(t.version.n, 7);
	assert_text(TEXT(t.version.row[0].version), "2.13.0+cpu");
}

static void recorded_debug(void **state)
{
	(void)state;
	load("logs/debug.log");
	assert_int_equal(t.records, 0); /* it has no prefixes */
	assert_int_equal(t.phase.n, 35);
	assert_int_equal(t.brk.n, 4);
	assert_int_equal(said(SAID_COMPILING), 4);
	assert_int_equal(textlog_open_phase(&t, 0), UINT32_MAX);
}

static void recorded_rest(void **state)
{
	(void)state;
	load("logs/autotune.log");
	assert_int_equal(t.time.n, 3);
	assert_true(t.time.row[0].best);
	assert_true(t.time.row[0].seconds > 0 && t.time.row[0].seconds < 1e-3);
	assert_text(TEXT(t.time.row[1].name), "_mkl_linear");
	load("logs/crash.log");
	assert_int_equal(t.signal.n, 2);
	assert_true(t.signal.row[0].faulthandler);
	assert_int_equal(t.signal.row[0].number, SIGSEGV);
	assert_text(TEXT(t.signal.row[0].inner.function), "string_at");
	assert_int_equal(t.signal.row[0].user.line, 212);
	assert_true(slice_ends(TEXT(t.signal.row[0].frames), "/ctypes/__init__.py:519 in string_at"));
	assert_false(t.signal.row[1].faulthandler);
}

/* ---- the same rows, however it comes ---- */

static uint64_t digest(void)
{
	uint64_t h = t.lines * 31 + t.records;
#define X(name, type) \
	h = h * 1000003 + t.name.n; \
	for (uint32_t i = 0; i < t.name.n; i++) \
		h = h * 1000003 + t.name.row[i].at.line + t.name.row[i].at.compile;
	TEXTLOG_TABLES(X)
#undef X
	for (uint32_t i = 0; i < t.names.n; i++) {
		struct slice s = intern_get(&t.names, i);
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
			textlog_release(&t);
			textlog_init(&t);
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
	for (unsigned f = 0; f < 2; f++)
		for (unsigned k = 0; k < ARRAY_LEN(label) - f; k++) { /* what is unknown is found before records only */
			load(files[f]);
			uint32_t breaks = t.brk.n, tracebacks = t.traceback.n, phases = t.phase.n, symbols = t.symbol.n,
				 recompiles = t.recompile.n;
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
			assert_int_equal(t.brk.n, breaks);
			assert_int_equal(t.traceback.n, tracebacks);
			assert_int_equal(t.phase.n, phases);
			assert_int_equal(t.symbol.n, symbols);
			assert_int_equal(t.recompile.n, recompiles);
			if (k < 4)
				assert_int_equal(t.brk.row[0].at.rank, 3);
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
	assert_int_equal(t.traceback.n, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(t.traceback.row[i].at.rank, i);
		assert_int_equal(t.traceback.row[i].at.line, i + 1);
		assert_int_equal(t.traceback.row[i].user.line, i + 1);
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
	assert_int_equal(t.phase.n, 1);
	assert_text(TEXT(t.phase.row[0].name), "f");
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
	assert_int_equal(t.phase.n, 4);
	assert_int_equal(t.records, 4);
	assert_int_equal(t.level[1], 4);
	uint32_t open = textlog_open_phase(&t, 0);
	assert_int_equal(open, 3);
	assert_int_equal(t.phase.row[open].component, TEXTLOG_INDUCTOR);
	assert_text(TEXT(t.phase.row[open].name), "FORWARDS graph 8");
	read_text("torch._inductor.debug: [WARNING] model___20 debug trace: /tmp/torchinductor_root/rx/crx.debug\n");
	assert_int_equal(t.path.n, 1);
	assert_int_equal(t.path.row[0].kind, PATH_DEBUG_TRACE);
	assert_text(TEXT(t.path.row[0].path), "/tmp/torchinductor_root/rx/crx.debug");
	assert_text(TEXT(t.path.row[0].name), "model___20");
	assert_int_equal(t.record.n, 1);
	assert_text(TEXT(t.record.row[0].source), "torch._inductor.debug");
	read_text("WARNING:torchdynamo.convert_frame:torchdynamo hit recompilation cache limit (64) for function 'forward' "
		  "(/home/j/m.py:381), due to "
		  "the following guard failures: [['len(a) == 0'], ['len(a) == 0']]\n");
	assert_int_equal(t.limit.n, 1);
	assert_int_equal(t.limit.row[0].limit, 64);
	assert_text(TEXT(t.limit.row[0].function), "forward");
	assert_int_equal(t.limit.row[0].loc.line, 381);
	read_text("(VllmWorker rank=2 pid=295) ERROR 06-18 08:08:25 [multiproc_executor.py:522] Traceback (most recent call last):\n"
		  "(VllmWorker rank=2 pid=295) ERROR 06-18 08:08:25 [multiproc_executor.py:522]   File \"/home/u/w.py\", line 7, in run\n"
		  "(VllmWorker rank=2 pid=295) ERROR 06-18 08:08:25 [multiproc_executor.py:522] ValueError: x\n");
	assert_int_equal(t.traceback.n, 1);
	assert_int_equal(t.traceback.row[0].at.rank, 2);
	assert_true(t.traceback.row[0].logged);
	assert_text(TEXT(t.traceback.row[0].message), "x");
	read_text(
	    "V0410 16:18:11.049000 139689102684672 torch/_dynamo/guards.py:2199] [__recompiles] Recompiling function fn in /home/u/r.py:3\n"
	    "V0410 16:18:11.049000 139689102684672 torch/_dynamo/guards.py:2199] [__recompiles]     triggered by the following guard "
	    "failure(s):\n"
	    "V0410 16:18:11.049000 139689102684672 torch/_dynamo/guards.py:2199] [__recompiles]     - ___check_global_state()\n");
	assert_int_equal(t.recompile.n, 1);
	assert_text(TEXT(t.recompile.row[0].guard), "___check_global_state()");
	assert_int_equal(t.recompile.row[0].loc.line, 3);
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
	assert_int_equal(t.phase.n, 1);
	assert_int_equal(t.phase.row[0].step, STEP_FAIL);
	assert_text(TEXT(t.phase.row[0].name), "test_assertion_error");
	assert_text(TEXT(t.phase.row[0].loc.file), "/scratch/t/../test/errors.py");
	assert_int_equal(t.phase.row[0].loc.line, 26);
	assert_int_equal(t.traceback.n, 1);
	assert_text(TEXT(t.traceback.row[0].type), "AssertionError");
	assert_int_equal(t.traceback.row[0].user.line, 34);
	assert_true(t.traceback.row[0].logged);
}

static void old_recompiles(void **state)
{
	(void)state;
	read_text(
	    "[2023-04-13 21:42:57,808] torch._dynamo.convert_frame.__recompiles: [DEBUG] ('Recompiling function step in /home/u/kf.py', "
	    "\"triggered by the following guard failure: L['t'] == 0\")\n");
	assert_int_equal(t.recompile.n, 1);
	assert_text(TEXT(t.recompile.row[0].function), "step");
	assert_text(TEXT(t.recompile.row[0].loc.file), "/home/u/kf.py");
	assert_text(TEXT(t.recompile.row[0].guard), "L['t'] == 0");
	assert_text(TEXT(t.recompile.row[0].old), "0");
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
	assert_int_equal(t.recompile.n, 2);
	assert_text(TEXT(t.recompile.row[0].old), "20");
	assert_text(TEXT(t.recompile.row[0].new), "21");
	assert_int_equal(t.recompile.row[0].reasons, 2);
	assert_text(TEXT(t.recompile.row[1].function), "<graph break in forward>");
	assert_int_equal(t.recompile.row[1].loc.line, 6);
	assert_text(TEXT(t.recompile.row[1].guard_loc.function), "accumulate");
	/* 2.1, and debug.log, without prefixes */
	read_text("Recompiling function f in b.py:2\ntriggered by the following guard failure: L['n'] == 3\nbye\n");
	assert_int_equal(t.recompile.n, 1);
	assert_text(TEXT(t.recompile.row[0].guard), "L['n'] == 3");
}

static void old_limits(void **state)
{
	(void)state;
	read_text("[2023-03-01 08:20:52,143] torch._dynamo.convert_frame: [WARNING] torch._dynamo hit config.cache_size_limit (64)\n"
		  "   function: 'toy_example' (example.py:5)\n"
		  "   reasons:  ['___guarded_code.valid']\n"
		  "to diagnose recompilation issues, see https://pytorch.org/docs/master/dynamo/troubleshooting.html.\n");
	assert_int_equal(t.limit.n, 1);
	assert_text(TEXT(t.limit.row[0].config), "cache_size_limit");
	assert_int_equal(t.limit.row[0].limit, 64);
	assert_text(TEXT(t.limit.row[0].reason), "['___guarded_code.valid']");
	assert_int_equal(t.limit.row[0].loc.line, 5);
	read_text("W1121 07:59:23.043000 12 torch/_dynamo/convert_frame.py:906] [9/64] torch._dynamo hit "
		  "config.accumulated_cache_size_limit (64)\n"
		  "W1121 07:59:23.043000 12 torch/_dynamo/convert_frame.py:906] [9/64]    function: 'f' (/home/u/a b.py:5)\n"
		  "W1121 07:59:23.043000 12 torch/_dynamo/convert_frame.py:906] [9/64]    last reason: 9/0: L['n'] == 1\n");
	assert_text(TEXT(t.limit.row[0].config), "accumulated_cache_size_limit");
	assert_text(TEXT(t.limit.row[0].at.compile), "9/64");
	assert_text(TEXT(t.limit.row[0].loc.file), "/home/u/a b.py");
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
	assert_int_equal(t.explain.n, 1);
	assert_int_equal(t.explain.row[0].graphs, 3);
	assert_int_equal(t.explain.row[0].breaks, 2);
	assert_int_equal(t.explain.row[0].ops, 6);
	assert_int_equal(t.explain.row[0].listed, 2);
	assert_int_equal(t.brk.n, 2);
	assert_text(TEXT(t.brk.row[0].reason), "call_function BuiltinVariable(print) [ConstantVariable(str)] {}");
	assert_int_equal(t.brk.row[0].kind, TEXTLOG_BREAK_CALL);
	assert_int_equal(t.brk.row[1].loc.line, 17);
	assert_text(TEXT(t.brk.row[1].loc.code), "if b.sum() < 0:");
	assert_int_equal(t.brk.row[1].kind, TEXTLOG_BREAK_JUMP);
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
	assert_int_equal(t.brk.n, 1);
	assert_text(TEXT(t.brk.row[0].reason), "builtin: print [<class 'x'>] False");
	assert_int_equal(t.brk.row[0].loc.line, 5);
	assert_text(TEXT(t.brk.row[0].loc.function), "f");
	/* 2.1 to 2.4 */
	read_text("[rank0]:[2023-08-23 20:16:32,833] [12/21] torch._dynamo.symbolic_convert.__graph_breaks: [DEBUG] Graph break: "
		  "call_function partial in "
		  "skip_files functools.py from user code at:\n"
		  "[rank0]:[2023-08-23 20:16:32,833] [12/21] torch._dynamo.symbolic_convert.__graph_breaks: [DEBUG]   File "
		  "\"/home/u/core.py\", line 77, in call\n"
		  "[rank0]:[2023-08-23 20:16:32,833] [12/21] torch._dynamo.symbolic_convert.__graph_breaks: [DEBUG]     return f(x)\n");
	assert_int_equal(t.brk.n, 1);
	assert_text(TEXT(t.brk.row[0].reason), "call_function partial in skip_files functools.py");
	assert_int_equal(t.brk.row[0].loc.line, 77);
	assert_int_equal(t.brk.row[0].at.rank, 0);
	assert_text(TEXT(t.brk.row[0].at.compile), "12/21");
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
	assert_int_equal(t.brk.n, 1);
	assert_true(slice_starts(TEXT(t.brk.row[0].reason), "'skip function graph_break"));
	assert_int_equal(t.brk.row[0].loc.line, 9);
	assert_text(TEXT(t.brk.row[0].loc.file), "/home/u/app.py");
	/* 2.0: a jump is in one line only */
	read_text(
	    "[2023-03-01 08:20:52,143] torch._dynamo.output_graph: [DEBUG] COMPILING GRAPH due to GraphCompileReason(reason='generic_jump "
	    "TensorVariable()', user_stack=[<FrameSummary file t2.py, line 17 in toy_example>], graph_break=True)\n"
	    "[2023-03-01 08:20:52,144] torch._dynamo.output_graph: [DEBUG] COMPILING GRAPH due to "
	    "GraphCompileReason(reason='return_value', "
	    "user_stack=[<FrameSummary file t2.py, line 19 in <resume in toy_example>>], graph_break=False)\n");
	assert_int_equal(t.brk.n, 1);
	assert_int_equal(t.brk.row[0].kind, TEXTLOG_BREAK_JUMP);
	assert_text(TEXT(t.brk.row[0].loc.function), "toy_example");
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
	assert_int_equal(t.brk.n, 1);
	assert_int_equal(t.brk.row[0].said, SAID_LOG | SAID_EXPLAIN);
	assert_int_equal(t.brk.row[0].explain, 0);
	assert_int_equal(t.explain.row[0].listed, 1);
	assert_text(TEXT(t.brk.row[0].explanation), "y");
	read_text("V0130 10:00:00.000000 5 torch/x.py:4] [0/0] [__graph_breaks] Graph break in user code at a.py:5\n"
		  "V0130 10:00:00.000001 5 torch/x.py:4] [1/0] [__graph_breaks] Graph break (user stack suppressed due to duplicate graph "
		  "break) in user code at a.py:5\n"
		  "V0130 10:00:00.000001 5 torch/x.py:4] [1/0] [__graph_breaks] Graph Break Reason: r\n");
	assert_int_equal(t.brk.n, 2);
	assert_false(t.brk.row[0].again);
	assert_true(t.brk.row[1].again);
}

static void skipped_frames(void **state)
{
	(void)state;
	read_text("[2024-04-30 17:13:04,169] torch._dynamo.convert_frame: [DEBUG] skipping because no torch.* normcase             <frozen "
		  "posixpath> 52\n"
		  "V1121 07:59:23.043000 12 torch/_dynamo/eval_frame.py:1] skipping: __init__ (reason: in skipfiles, file: "
		  "/usr/lib/python3.11/x.py)\n"
		  "V1121 07:59:23.043000 12 torch/_dynamo/eval_frame.py:2] torch.compile intentionally decided to skip the frame f "
		  "(/home/u/a.py line 5) and "
		  "fall back to eager.\n"
		  "V1121 07:59:23.043000 12 torch/_dynamo/eval_frame.py:2] Reason: because\n");
	assert_int_equal(t.phase.n, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(t.phase.row[i].step, STEP_SKIP);
	assert_text(TEXT(t.phase.row[0].name), "normcase");
	assert_int_equal(t.phase.row[0].loc.line, 52);
	assert_text(TEXT(t.phase.row[1].reason), "in skipfiles");
	assert_text(TEXT(t.phase.row[1].loc.file), "/usr/lib/python3.11/x.py");
	assert_text(TEXT(t.phase.row[2].name), "f");
	assert_text(TEXT(t.phase.row[2].loc.file), "/home/u/a.py");
	assert_text(TEXT(t.phase.row[2].reason), "because");
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
	assert_int_equal(t.symbol.n, 3);
	assert_text(TEXT(t.symbol.row[0].source), "L['x'].size()[0]");
	assert_int_equal(t.symbol.row[0].range, NONE);
	assert_text(TEXT(t.symbol.row[1].source), "L['d']['k v'].size()[0]");
	assert_text(TEXT(t.symbol.row[1].range), "[2, 9223372036854775806]");
	assert_text(TEXT(t.symbol.row[1].loc.function), "f");
	assert_true(t.symbol.row[2].unbacked);
	assert_int_equal(t.guard.n, 3);
	assert_text(TEXT(t.guard.row[0].expr), "Eq(s0, 3)");
	assert_int_equal(t.guard.row[0].loc.line, 4);
	assert_int_equal(t.guard.row[1].kind, GUARD_SPECIALIZED);
	assert_text(TEXT(t.guard.row[1].value), "3");
	assert_text(TEXT(t.guard.row[2].value), "[2, 63]");
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
	assert_int_equal(t.violation.n, 3);
	assert_true(t.violation.row[0].specialized);
	assert_text(TEXT(t.violation.row[0].source), "L['x'].size()[0]");
	assert_false(t.violation.row[1].specialized);
	assert_text(TEXT(t.violation.row[1].dim), "dx");
	assert_true(t.violation.row[2].specialized);
	assert_text(TEXT(t.violation.row[2].dim), "dx");
	assert_text(TEXT(t.violation.row[2].fixes), "dx = 4");
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
		  "(['_compile', 'compile_fx.<locals>.x'], ['1.500000, 0.500000', '0.250000'])\n"
		  "stats [('calls_captured', 2), ('unique_graphs', 1)]\n"
		  "AUTOTUNE mm(128x128, 128x64)\n"
		  "  triton_mm_4 0.0123 ms 100.0% ACC_TYPE='tl.float32', BLOCK_K=32\n"
		  "  mm 0.0246 ms 50.0% \n"
		  "  triton_mm_5 inf ms 0.0% \n"
		  "SingleProcess AUTOTUNE takes 2.5000 seconds\n");
	assert_int_equal(t.time.n, 10);
	assert_text(TEXT(t.time.row[0].name), "_compile");
	assert_true(t.time.row[0].seconds > 1.73 && t.time.row[0].seconds < 1.74);
	assert_int_equal(t.time.row[0].calls, 2);
	assert_true(t.time.row[2].seconds == 2);
	assert_text(TEXT(t.time.row[3].name), "compile_fx.<locals>.x");
	assert_int_equal(t.time.row[4].kind, TIME_COUNTER);
	assert_text(TEXT(t.time.row[5].name), "unique_graphs");
	assert_true(t.time.row[6].best);
	assert_text(TEXT(t.time.row[6].group), "mm(128x128, 128x64)");
	assert_false(t.time.row[7].best);
	assert_true(t.time.row[8].seconds < 0);
	assert_true(t.time.row[9].seconds == 2.5);
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
	assert_int_equal(t.skip.n, 1);
	assert_text(TEXT(t.skip.row[0].reason), "mutated inputs (1 instances)");
	assert_int_equal(t.skip.row[0].loc.line, 5);
	assert_int_equal(t.cache.n, 4);
	assert_int_equal(t.cache.row[0].kind, TEXTLOG_CACHE_MISS);
	assert_text(TEXT(t.cache.row[1].reason), "cpp wrapper");
	assert_text(TEXT(t.cache.row[2].cache), "AOTAutograd");
	assert_int_equal(t.cache.row[3].kind, TEXTLOG_CACHE_BYPASS);
	assert_int_equal(t.version.n, 2);
	assert_text(TEXT(t.version.row[1].version), "11.6");
	assert_int_equal(t.signal.n, 3);
	assert_int_equal(t.signal.row[0].number, SIGKILL);
	assert_true(t.signal.row[1].core_dumped);
	assert_int_equal(t.signal.row[2].number, SIGILL);
	assert_int_equal(t.compiler.n, 1);
	assert_int_equal(t.compiler.row[0].col, 57);
}

/* ---- limits and rubbish ---- */

static void nothing(void **state)
{
	(void)state;
	static const char *const v[] = {"",    "\n",         "hello\nworld\n", "\r\n\r\n", "[",          "V",
					"0: ", "Step 1: \n", "Graph break",    "eval \n",  "AUTOTUNE \n"};
	for (unsigned i = 0; i < ARRAY_LEN(v); i++) {
		read_text(v[i]);
		assert_true(textlog_is_empty(&t));
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
	assert_int_equal(t.phase.n, 1);
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
	assert_int_equal(t.traceback.n, 1);
	assert_int_equal(t.long_blocks, 1);
	assert_int_equal(t.texts_cut, 2);
	assert_int_equal(t.phase.n, 1);
	assert_text(TEXT(t.phase.row[0].at.compile), "0/0");
	buf_release(&b);
}

static void many_rows(void **state)
{
	(void)state;
	textlog_release(&t);
	textlog_init(&t);
	static const char line[] = "Step 2: calling compiler function inductor\n";
	for (int i = 0; i < TEXTLOG_ROWS_MAX + 10; i++)
		textlog_feed(&t, line, sizeof(line) - 1);
	textlog_finish(&t);
	assert_int_equal(t.phase.n, TEXTLOG_ROWS_MAX);
	assert_int_equal(t.phase.left, 10);
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
			for (uint32_t i = 0; i < t.traceback.n; i++)
				assert_true(t.traceback.row[i].cause == UINT32_MAX || t.traceback.row[i].cause < i);
		}
	}
	buf_release(&b);
}

static void a_file(void **state)
{
	(void)state;
	struct err err;
	char *path = data_path("logs/ranks.log");
	textlog_release(&t);
	textlog_init(&t);
	assert_int_equal(textlog_read(&t, path, &err), 0);
	assert_int_equal(t.brk.n, 4);
	free(path);
	textlog_release(&t);
	textlog_init(&t);
	assert_int_equal(textlog_read(&t, "/nonexistent/x", &err), -1);
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
	    cmocka_unit_test(recorded_rest),
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
	    cmocka_unit_test(skipped_frames),
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
	buf_release(&data);
	guard_release(&guard);
	return failed;
}
