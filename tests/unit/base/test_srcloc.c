/* base/srcloc: locations as Python, torch and compilers write them, and what only looks like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/srcloc.h"

static struct srcloc at;

static bool eq(struct slice a, const char *b) { return slice_eq(a, slice_str(b)); }

static void is(const char *text, enum srcloc_form form, const char *file, unsigned line, unsigned col, const char *func)
{
	/* Against the end of an allocation, so that a read past the end is seen by the sanitizer and valgrind. */
	size_t n = strlen(text);
	char *tight = malloc(n ? n : 1);
	memcpy(tight, text, n);
	if (!srcloc_parse(slice_of(tight, n), &at))
		fail_msg("not seen: %s", text);
	if (at.form != form || !eq(at.file, file) || at.line != line || at.col != col || !eq(at.func, func))
		fail_msg("%s: form %d file '%.*s' line %u col %u func '%.*s'", text, at.form, SL(at.file), at.line, at.col, SL(at.func));
	/* Leave slices that outlive this function: into the caller's text. */
	assert_true(srcloc_parse(slice_str(text), &at));
	free(tight);
}

static void no(const char *text)
{
	if (srcloc_parse(slice_str(text), &at))
		fail_msg("seen in '%s': '%.*s' %u", text, SL(at.file), at.line);
}

static void python(void **state)
{
	(void)state;
	is("  File \"app/m.py\", line 5, in f", SRCLOC_PYTHON, "app/m.py", 5, 0, "f");
	is("File \"/a b/it's, line 3.py\", line 12, in <module>\r\n", SRCLOC_PYTHON, "/a b/it's, line 3.py", 12, 0, "<module>");
	is("  File \"<frozen importlib._bootstrap>\", line 241, in _call_with_frames_removed", SRCLOC_PYTHON,
	   "<frozen importlib._bootstrap>", 241, 0, "_call_with_frames_removed");
	is("  File \"<eval_with_key>.7\", line 5, in forward", SRCLOC_PYTHON, "<eval_with_key>.7", 5, 0, "forward");
	is("File \"m.py\", line 5", SRCLOC_PYTHON, "m.py", 5, 0, "");
	is("File \"File \"m.py\", line x File \"n.py\", line 6, in Mod.__init__.<locals>.<lambda>", SRCLOC_PYTHON, "n.py", 6, 0,
	   "Mod.__init__.<locals>.<lambda>");
	no("File \"m.py\", line x");
	no("File \"\", line 5");
	no("File \"m.py\", line 99999999999");
	no("File \"m.py");
}

static void fx(void **state)
{
	(void)state;
	is("        # File: /home/user/app/dynamic.py:15 in automatic, code: return x + y", SRCLOC_FX, "/home/user/app/dynamic.py", 15, 0,
	   "automatic");
	assert_true(eq(at.code, "return x + y"));
	is(" # File: /a b/m.py:5, code: y = d[1:3 in x]", SRCLOC_FX, "/a b/m.py", 5, 0, "");
	assert_true(eq(at.code, "y = d[1:3 in x]"));
	is("# File: m.py:5 in <lambda>", SRCLOC_FX, "m.py", 5, 0, "<lambda>");
	is("# File: m.py:5", SRCLOC_FX, "m.py", 5, 0, "");
	is("# File: C:\\a\\m.py:5 in f, code: ", SRCLOC_FX, "C:\\a\\m.py", 5, 0, "f");
	assert_int_equal(at.code.n, 0);
	is("# File: <eval_with_key>.3:11 in forward, code: add = x + 1;  x = None", SRCLOC_FX, "<eval_with_key>.3", 11, 0, "forward");
	is("# File: a:1x:2 in f, code: , code: z", SRCLOC_FX, "a:1x", 2, 0, "f");
	no("# File: ");
	no("# File: :5 in f");
}

static void compiler(void **state)
{
	(void)state;
	is("/tmp/torchinductor_root/xg/cx.cpp:17:57: error: no matching function for call to \342\200\230f\342\200\231", SRCLOC_COMPILER,
	   "/tmp/torchinductor_root/xg/cx.cpp", 17, 57, "");
	assert_true(eq(at.severity, "error"));
	assert_true(slice_starts(at.message, "no matching"));
	is("/tmp/x.cpp:29:10: fatal error: Python.h: No such file or directory", SRCLOC_COMPILER, "/tmp/x.cpp", 29, 10, "");
	assert_true(eq(at.severity, "fatal error"));
	is("/tmp/my dir/x.cpp:4: warning: unused:5", SRCLOC_COMPILER, "/tmp/my dir/x.cpp", 4, 0, "");
	is("x.py:3:4: note: see current operation", SRCLOC_COMPILER, "x.py", 3, 4, "");
	is("<stdin>:3:4: error: ", SRCLOC_COMPILER, "<stdin>", 3, 4, "");
	assert_int_equal(at.message.n, 0);
	is("CppCompileError: C++ compile error: x.cpp:3:4: error: m", SRCLOC_COMPILER, "x.cpp", 3, 4, "");
	is("loc(\"/tmp/k dir/k.py\":18:24): error: 'tt.load'", SRCLOC_PLAIN, "/tmp/k dir/k.py", 18, 24, "");
	is("In file included from /tmp/x.cpp:5:", SRCLOC_PLAIN, "/tmp/x.cpp", 5, 0, "");
	is("                 from k.h:12,", SRCLOC_PLAIN, "k.h", 12, 0, "");
	no("12:30:45: error: it broke");
	no("cc1plus: error: bad option");
}

static void plain(void **state)
{
	(void)state;
	is("app/m.py:19 in g", SRCLOC_AT, "app/m.py", 19, 0, "g");
	is("create_symbol s77 = 3 for L['x'].size()[0] [2, int_oo] return x (m.py:4 in f), for more info", SRCLOC_AT, "m.py", 4, 0, "f");
	is("see app/m.py:19 in Mod.forward.", SRCLOC_AT, "app/m.py", 19, 0, "Mod.forward");
	is("(app/m.py:19 in f.<locals>.g)", SRCLOC_AT, "app/m.py", 19, 0, "f.<locals>.g");
	is("app/m.py:19 in the loop", SRCLOC_AT, "app/m.py", 19, 0, "the");
	is("app/m.py:5", SRCLOC_PLAIN, "app/m.py", 5, 0, "");
	is("app/m.py:5:7", SRCLOC_PLAIN, "app/m.py", 5, 7, "");
	is("#3 0x00005 in foo () at /tmp/x.cpp:55", SRCLOC_PLAIN, "/tmp/x.cpp", 55, 0, "");
	is("C:\\app\\m.py:5", SRCLOC_PLAIN, "C:\\app\\m.py", 5, 0, "");
	is("<ipython-input-1, cell 2>:5 in f", SRCLOC_AT, "<ipython-input-1, cell 2>", 5, 0, "f");
	is("at 12:30:45 in m.py:3", SRCLOC_PLAIN, "m.py", 3, 0, "");
	is("\350\267\257/\345\276\204.py:3", SRCLOC_PLAIN, "\350\267\257/\345\276\204.py", 3, 0, "");
	no("12:30:45.123 started");
	no("listening on localhost:8080");
	no("http://example.com/x:80/");
	no("https://h/a.py:80");
	no("example.com:80");
	no("{1:2}, x[1:3], a.b:5");
	no("m.py:5x");
	no("m.py:");
	no(":5");
	no("");
	no("a/:5");
	assert_false(srcloc_parse((struct slice){0}, &at));
	assert_int_equal(srcloc_origin((struct slice){0}), SRCLOC_USER);
	assert_int_equal(srcloc_short_file((struct slice){0}).n, 0);
	no("m.py:4294967296");
	is("m.py:4294967295", SRCLOC_PLAIN, "m.py", 4294967295u, 0, "");
}

static void a_text(void **state)
{
	(void)state;
	static const char text[] = "Traceback (most recent call last):\n"
				   "  File \"/u/run.py\", line 9, in <module>\n"
				   "    main(\"a.py:3\")\n"
				   "    ~~~~^^^^^^^^^^\n"
				   "  File \"<frozen runpy>\", line 88, in _run_code\n"
				   "  File \"/u/app.py\", line 4, in g\n"
				   "    return h(x)\n"
				   "\n"
				   "from user code:\n"
				   "   File \"/u/last.py\", line 6, in k\n"
				   "RuntimeError: at m.py:7\n"
				   "File \"no.py\", line 1";
	struct slice rest = slice_str(text);
	assert_true(srcloc_next(&rest, &at));
	assert_true(eq(at.file, "/u/run.py") && eq(at.code, "main(\"a.py:3\")"));
	assert_true(srcloc_next(&rest, &at));
	assert_true(at.line == 88 && !at.code.n);
	assert_true(srcloc_next(&rest, &at));
	assert_true(eq(at.code, "return h(x)"));
	assert_true(srcloc_next(&rest, &at));
	assert_true(eq(at.file, "/u/last.py") && !at.code.n);
	assert_true(srcloc_next(&rest, &at));
	assert_true(eq(at.file, "m.py") && at.form == SRCLOC_PLAIN);
	assert_true(srcloc_next(&rest, &at));
	assert_true(eq(at.file, "no.py") && !at.code.n);
	assert_false(srcloc_next(&rest, &at));
	rest = SLICE("a\0b\nx.py:\0:3\n/y\0/z.py:5");
	assert_true(srcloc_next(&rest, &at));
	assert_int_equal(at.file.n, 8);
	assert_false(srcloc_next(&rest, &at));
}

static void what_is_written_reads_back(void **state)
{
	(void)state;
	static const enum srcloc_form forms[] = {SRCLOC_PLAIN, SRCLOC_AT, SRCLOC_PYTHON, SRCLOC_FX, SRCLOC_COMPILER};
	struct srcloc want = {.file = SLICE("app/m.py"),
			      .func = SLICE("A.f"),
			      .code = SLICE("return x"),
			      .severity = SLICE("error"),
			      .message = SLICE("bad"),
			      .line = 5,
			      .col = 9};
	static const char *const text[] = {"app/m.py:5:9", "app/m.py:5 in A.f", "File \"app/m.py\", line 5, in A.f\n  return x",
					   "# File: app/m.py:5 in A.f, code: return x", "app/m.py:5:9: error: bad"};
	struct buf b = {0};
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		buf_reset(&b);
		srcloc_format(&b, &want, forms[i], false);
		assert_string_equal(buf_str(&b), text[i]);
		struct slice rest = buf_slice(&b);
		assert_true(srcloc_next(&rest, &at));
		assert_int_equal(at.form, forms[i]);
		assert_true(slice_eq(at.file, want.file));
		assert_int_equal(at.line, 5);
	}
	buf_reset(&b);
	want.file = SLICE("/usr/lib/python3/site-packages/torch/_dynamo/utils.py");
	want.func.n = 0;
	want.col = 0;
	srcloc_format(&b, &want, SRCLOC_AT, true);
	assert_string_equal(buf_str(&b), "torch/_dynamo/utils.py:5");
	buf_release(&b);
}

static void copies_and_order(void **state)
{
	(void)state;
	char text[] = "# File: m.py:5 in f, code: x";
	struct arena a = {0};
	assert_true(srcloc_parse(slice_str(text), &at));
	struct srcloc c = srcloc_copy(&a, &at), d = c;
	memset(text, '?', sizeof(text) - 1);
	assert_true(eq(c.file, "m.py") && eq(c.func, "f") && eq(c.code, "x"));
	assert_int_equal(srcloc_cmp(&c, &d), 0);
	d.line = 10;
	assert_true(srcloc_cmp(&c, &d) < 0 && srcloc_cmp(&d, &c) > 0);
	d.file = SLICE("m.p");
	assert_true(srcloc_cmp(&c, &d) > 0);
	arena_release(&a);
}

static void short_is(const char *file, const char *want, enum srcloc_origin origin)
{
	struct slice s = srcloc_short_file(slice_str(file));
	if (!eq(s, want))
		fail_msg("%s: %.*s", file, SL(s));
	if (srcloc_origin(slice_str(file)) != origin)
		fail_msg("%s: origin %d", file, srcloc_origin(slice_str(file)));
}

static void names(void **state)
{
	(void)state;
	short_is("/usr/lib/python3/site-packages/torch/_dynamo/utils.py", "torch/_dynamo/utils.py", SRCLOC_TORCH);
	short_is("/v/lib/python3.12/site-packages/torch/whatever/new.py", "torch/whatever/new.py", SRCLOC_TORCH);
	short_is("/usr/local/lib/python3.10/dist-packages/torch/__init__.py", "torch/__init__.py", SRCLOC_TORCH);
	short_is("/home/me/pytorch/torch/_inductor/graph.py", "torch/_inductor/graph.py", SRCLOC_TORCH);
	short_is("/home/me/torch/train.py", "/home/me/torch/train.py", SRCLOC_USER);
	short_is("/home/me/torch/pytorch/torch/fx/graph.py", "torch/fx/graph.py", SRCLOC_TORCH);
	short_is("torch/_dynamo/utils.py", "torch/_dynamo/utils.py", SRCLOC_TORCH);
	short_is("_dynamo/utils.py", "_dynamo/utils.py", SRCLOC_TORCH);
	short_is("optim/sgd.py", "optim/sgd.py", SRCLOC_USER);
	short_is("torchvision/x.py", "torchvision/x.py", SRCLOC_USER);
	short_is("/v/site-packages/torchvision/x.py", "torchvision/x.py", SRCLOC_PACKAGE);
	short_is("/v/site-packages/triton/compiler/x.py", "triton/compiler/x.py", SRCLOC_TORCH);
	short_is("triton/my_kernels.py", "triton/my_kernels.py", SRCLOC_USER);
	short_is("/v/site-packages/a/site-packages/b.py", "b.py", SRCLOC_PACKAGE);
	short_is("/dev/shm/u/a#link-tree/app/m.py", "app/m.py", SRCLOC_USER);
	short_is("/dev/shm/u/a#link-tree/torch/fx/x.py", "torch/fx/x.py", SRCLOC_TORCH);
	short_is("/mnt/xar/1-seed-nspid4026531836_cgpid1/app/m.py", "app/m.py", SRCLOC_USER);
	short_is("/usr/lib/python3.11/contextlib.py", "/usr/lib/python3.11/contextlib.py", SRCLOC_STDLIB);
	short_is("/home/me/python3/app.py", "/home/me/python3/app.py", SRCLOC_USER);
	short_is("<eval_with_key>.3", "<eval_with_key>.3", SRCLOC_GENERATED);
	short_is("<frozen runpy>", "<frozen runpy>", SRCLOC_GENERATED);
	short_is("/tmp/torchinductor_me/ab/cab.py", "/tmp/torchinductor_me/ab/cab.py", SRCLOC_GENERATED);
	short_is("torch_compile_debug/run_1/x.py", "torch_compile_debug/run_1/x.py", SRCLOC_GENERATED);
	short_is("/v/site-packages/", "/v/site-packages/", SRCLOC_PACKAGE);
	short_is("", "", SRCLOC_USER);
	assert_true(srcloc_is_user(SLICE("app/m.py")));
	assert_false(srcloc_is_user(SLICE("<string>")));
	assert_true(srcloc_is_framework(SLICE("torch/fx/x.py")));
}

static void long_lines_stay_linear(void **state)
{
	(void)state;
	static const char *const parts[] = {"File \"",    "\", line x",        ":1",           "   ",
					    ":1: error:", "# File: ",          "a:1: error: ", "\":1",
					    ">:1",        "File \"\", line 1", "/torch/",      "-1:1: error: "};
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
			struct buf b = {0};
			while (b.len < 200000)
				buf_adds(&b, parts[i]);
			while (b.len < 400000)
				buf_adds(&b, parts[k]);
			struct slice rest = buf_slice(&b);
			while (srcloc_next(&rest, &at))
				srcloc_origin(at.file);
			buf_release(&b);
		}
}

int main(void)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(python),
	    cmocka_unit_test(fx),
	    cmocka_unit_test(compiler),
	    cmocka_unit_test(plain),
	    cmocka_unit_test(a_text),
	    cmocka_unit_test(what_is_written_reads_back),
	    cmocka_unit_test(copies_and_order),
	    cmocka_unit_test(names),
	    cmocka_unit_test(long_lines_stay_linear),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
