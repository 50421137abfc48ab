/* run/traceback: tracebacks taken out of a text. */
#include "../../lib/test.h"

#include "run/traceback.h"

static struct guard guard;
static struct traceback tb;

static size_t parse(const char *text, enum traceback_end end)
{
	size_t n = strlen(text);
	return traceback_parse(slice_of(guard_put(&guard, text, n), n), end, &tb);
}

static void plain(void **state)
{
	(void)state;
	static const char text[] = "Traceback (most recent call last):\n"
				   "  File \"app.py\", line 9, in <module>\n"
				   "    f(1)\n"
				   "    ~^^^\n"
				   "  File \"/usr/lib/python3/site-packages/torch/nn/x.py\", line 7, in g\n"
				   "    raise ValueError(x)\n"
				   "ValueError: bad value\n"
				   "\n"
				   "the program goes on\n";
	size_t used = parse(text, TRACEBACK_BARE);
	assert_int_equal(used, strstr(text, "the program") - text);
	assert_text(tb.type, "ValueError");
	assert_text(tb.message, "bad value");
	assert_int_equal(tb.frames, 2);
	assert_text(tb.user.file, "app.py");
	assert_int_equal(tb.user.line, 9);
	assert_text(tb.user.code, "f(1)");
	assert_text(tb.torch.func, "g");
	assert_int_equal(tb.inner.line, 7);
	assert_true(tb.ended);
	assert_int_equal(tb.next, TRACEBACK_LAST);
	/* In a record nothing but the record's end ends it. */
	assert_int_equal(parse(text, TRACEBACK_ALL), sizeof(text) - 1);
	assert_text(tb.message, "bad value\n\nthe program goes on");
	assert_false(tb.ended);
}

static void without_a_message(void **state)
{
	(void)state;
	parse("Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyboardInterrupt\n", TRACEBACK_BARE);
	assert_text(tb.type, "KeyboardInterrupt");
	assert_int_equal(tb.message.n, 0);
	parse("Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n", TRACEBACK_BARE);
	assert_int_equal(tb.type.n, 0);
	assert_int_equal(tb.frames, 1);
	assert_int_equal(parse("File \"a.py\", line 1, in <module>\n", TRACEBACK_BARE), 0);
	assert_int_equal(parse("", TRACEBACK_BARE), 0);
}

static void syntax_error(void **state)
{
	(void)state;
	parse("Traceback (most recent call last):\n  File \"a.py\", line 3\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n",
	      TRACEBACK_BARE);
	assert_text(tb.type, "SyntaxError");
	assert_int_equal(tb.inner.line, 3);
	assert_text(tb.inner.code, "x = = 1");
}

static const char chain[] = "Traceback (most recent call last):\n"
			    "  File \"a.py\", line 2, in f\n"
			    "    g()\n"
			    "KeyError: 'x'\n"
			    "\n"
			    "The above exception was the direct cause of the following exception:\n"
			    "\n"
			    "Traceback (most recent call last):\n"
			    "  File \"a.py\", line 4, in f\n"
			    "RuntimeError: one\n"
			    "\n"
			    "During handling of the above exception, another exception occurred:\n"
			    "\n"
			    "Traceback (most recent call last):\n"
			    "  File \"a.py\", line 6, in f\n"
			    "IndexError: two\n";

static void chained(void **state)
{
	(void)state;
	static const enum traceback_next next[] = {TRACEBACK_CAUSE, TRACEBACK_CONTEXT, TRACEBACK_LAST};
	static const char *const type[] = {"KeyError", "RuntimeError", "IndexError"};
	for (int end = 0; end < 2; end++) {
		const char *p = chain;
		for (unsigned i = 0; i < 3; i++) {
			size_t used = parse(p, end ? TRACEBACK_ALL : TRACEBACK_BARE);
			assert_text(tb.type, type[i]);
			assert_int_equal(tb.next, next[i]);
			p += used;
		}
		assert_int_equal(*p, 0);
	}
	size_t n = sizeof(chain) - 1;
	assert_true(traceback_last(slice_of(guard_put(&guard, chain, n), n), &tb));
	assert_text(tb.message, "two");
	assert_false(traceback_last(SLICE("nothing of the kind"), &tb));
}

static void from_user_code(void **state)
{
	(void)state;
	parse("Traceback (most recent call last):\n"
	      "  File \"run.py\", line 1, in <module>\n"
	      "torch._dynamo.exc.Unsupported: Call to `torch._dynamo.graph_break()`\n"
	      "  Explanation: User-inserted graph break. Message: None\n"
	      "\n"
	      "  Developer debug context: Called\n"
	      "\n"
	      "from user code:\n"
	      "   File \"app.py\", line 100, in outer\n"
	      "    inner(x)\n"
	      "  File \"app.py\", line 104, in asked\n"
	      "    torch._dynamo.graph_break()\n"
	      "\n"
	      "Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace\n"
	      "\n"
	      "\n"
	      "output of the program\n",
	      TRACEBACK_BARE);
	assert_text(tb.type, "torch._dynamo.exc.Unsupported");
	assert_int_equal(tb.from_user.line, 104);
	assert_text(tb.from_user.func, "asked");
	assert_text(tb.from_user.code, "torch._dynamo.graph_break()");
	assert_true(slice_ends(tb.message, "internal stack trace"));
	assert_int_equal(tb.frames, 1);
}

static void cpp_stack(void **state)
{
	(void)state;
	parse("Traceback (most recent call last):\n"
	      "  File \"a.py\", line 1, in f\n"
	      "RuntimeError: mat1 and mat2 shapes cannot be multiplied\n"
	      "Exception raised from meta at /w/aten/src/LinearAlgebra.cpp:204 (most recent call first):\n"
	      "frame #0: c10::Error::Error(c10::SourceLocation) + 0x6c (0x7f0 in /usr/lib/libc10.so)\n"
	      "frame #1: <unknown function> + 0x1 (0x7f1 in /usr/lib/libc10.so)\n"
	      "\n"
	      "bye\n",
	      TRACEBACK_BARE);
	assert_text(tb.cpp_at.file, "/w/aten/src/LinearAlgebra.cpp");
	assert_int_equal(tb.cpp_at.line, 204);
	assert_true(slice_starts(tb.cpp, "Exception raised from meta"));
	assert_true(slice_ends(tb.cpp, "(0x7f1 in /usr/lib/libc10.so)"));
}

static const char group[] = "  + Exception Group Traceback (most recent call last):\n"
			    "  |   File \"a.py\", line 1, in f\n"
			    "  |     raise g\n"
			    "  | ExceptionGroup: several (2 sub-exceptions)\n"
			    "  +-+---------------- 1 ----------------\n"
			    "    | Traceback (most recent call last):\n"
			    "    |   File \"a.py\", line 2, in f\n"
			    "    | ValueError: two\n"
			    "    | lines\n"
			    "    +---------------- 2 ----------------\n"
			    "    | Traceback (most recent call last):\n"
			    "    |   File \"a.py\", line 3, in f\n"
			    "    | TypeError: other\n"
			    "    +------------------------------------\n"
			    "after\n";

static void groups(void **state)
{
	(void)state;
	const char *p = group;
	p += parse(p, TRACEBACK_BARE);
	assert_true(tb.group);
	assert_text(tb.message, "several (2 sub-exceptions)");
	assert_int_equal(tb.next, TRACEBACK_MEMBER);
	uint32_t depth = tb.depth;
	p += parse(p, TRACEBACK_BARE);
	assert_text(tb.type, "ValueError");
	assert_true(slice_starts(tb.message, "two\n"));
	assert_true(tb.depth > depth);
	assert_int_equal(tb.next, TRACEBACK_MEMBER);
	p += parse(p, TRACEBACK_BARE);
	assert_text(tb.type, "TypeError");
	assert_int_equal(tb.next, TRACEBACK_LAST);
	assert_string_equal(p, "after\n");
}

static void indented(void **state)
{
	(void)state;
	parse("    Traceback (most recent call last):\n      File \"a.py\", line 1, in f\n        g()\n    ValueError: x\nnot it\n",
	      TRACEBACK_BARE);
	assert_text(tb.type, "ValueError");
	assert_text(tb.inner.code, "g()");
	assert_text(tb.message, "x");
}

/* The compiler's output is the message of a CppCompileError, its blank lines too. */
static void compile_error(void **state)
{
	(void)state;
	parse("Traceback (most recent call last):\n"
	      "  File \"a.py\", line 1, in f\n"
	      "torch._inductor.exc.CppCompileError: C++ compile error\n"
	      "\n"
	      "Command:\n"
	      "g++ x.cpp\n"
	      "\n"
	      "Output:\n"
	      "x.cpp:1:2: error: no\n"
	      "    1 | x\n"
	      "      | ^\n"
	      "\n"
	      "other\n",
	      TRACEBACK_BARE);
	assert_true(slice_ends(tb.message, "      | ^"));
}

static void inside(struct slice s, struct slice text)
{
	if (s.n)
		assert_true(s.p >= text.p && s.p + s.n <= text.p + text.n);
}

static void check(const char *p, size_t n)
{
	struct slice text = slice_of(p, n);
	for (int end = 0; end < 2; end++) {
		size_t used = traceback_parse(text, end ? TRACEBACK_ALL : TRACEBACK_BARE, &tb);
		assert_true(used <= n);
		inside(tb.whole, text);
		inside(tb.type, text);
		inside(tb.message, text);
		inside(tb.cpp, text);
		inside(tb.user.code, text);
		inside(tb.from_user.func, text);
		inside(tb.cpp_at.file, text);
	}
}

static void cut_short(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(chain); n++)
		check(guard_put(&guard, chain, n), n);
	for (size_t n = 0; n < sizeof(group); n++)
		check(guard_put(&guard, group, n), n);
}

static void any_bytes(void **state)
{
	(void)state;
	static const char *const parts[] = {"Traceback (most recent call last):\n",
					    "  File \"a\", line 1, in f\n",
					    "  ",
					    "| ",
					    "+ ",
					    "\n",
					    "E: x",
					    "\n\n",
					    "The above exception was the direct cause of the following exception:\n",
					    "+-+--- 1 ---\n",
					    "from user code:\n",
					    "Exception raised from a at b:1 (most",
					    "\xff",
					    "frame #0"};
	uint64_t seed = 1;
	struct buf b = {0};
	for (int round = 0; round < 20000; round++) {
		buf_reset(&b);
		if (pick(&seed, 4))
			buf_adds(&b, parts[0]);
		for (uint32_t k = pick(&seed, 12); k > 0; k--)
			buf_adds(&b, parts[pick(&seed, ARRAY_LEN(parts))]);
		check(guard_put(&guard, b.p, b.len), b.len);
	}
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plain),     cmocka_unit_test(without_a_message), cmocka_unit_test(syntax_error),
	    cmocka_unit_test(chained),   cmocka_unit_test(from_user_code),    cmocka_unit_test(cpp_stack),
	    cmocka_unit_test(groups),    cmocka_unit_test(indented),          cmocka_unit_test(compile_error),
	    cmocka_unit_test(cut_short), cmocka_unit_test(any_bytes),
	};
	int failed = RUN(tests);
	guard_release(&guard);
	return failed;
}
