/* pytext.h: logical lines, calls, arguments, string literals; inputs against an unmapped page. */
#include "graph/pytext.h"
#include "../../lib/test.h"

static void test_lines(void **state)
{
	(void)state;
	static const char text[] =
	    "import os  # one\r\n\n\n\tx = [1,  # two\n  'a]\\'#', \"\"\"b\n]\"\"\"]  # three\n# four\nif a: \\\n  b\n";
	static const struct {
		const char *code, *comment;
		uint32_t line, indent;
	} want[] = {{"import os", "one", 1, 0},
		    {"x = [1,  # two\n  'a]\\'#', \"\"\"b\n]\"\"\"]", "three", 4, 1},
		    {"", "four", 7, 0},
		    {"if a: \\\n  b", "", 8, 0}};
	struct pytext t = {.text = slice_str(text), .name = "t"};
	struct pyline l;
	struct err err;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(pytext_next(&t, &l, &err), 1);
		assert_text(l.code, want[i].code);
		assert_text(l.comment, want[i].comment);
		assert_int_equal(l.line, want[i].line);
		assert_int_equal(l.indent, want[i].indent);
	}
	assert_int_equal(pytext_next(&t, &l, &err), 0);
}

static void test_bad_lines(void **state)
{
	(void)state;
	static const struct {
		const char *text, *why;
	} bad[] = {{"a = 1\nb = (1,\n2\n", "'t' line 2: unclosed bracket"},
		   {"a)", "'t' line 1: closing bracket without an opening one"},
		   {"\n(]", "'t' line 2: mismatched brackets"},
		   {"x = 'a\nb'", "'t' line 1: unterminated string"},
		   {"x = (\n1,\n\"\"\"a\n", "'t' line 3: unterminated string"}};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct pytext t = {.text = slice_str(bad[i].text), .name = "t"};
		struct pyline l;
		struct err err;
		int r;
		while ((r = pytext_next(&t, &l, &err)) == 1)
			;
		assert_int_equal(r, -1);
		if (!slice_starts(slice_str(err.text), bad[i].why))
			fail_msg("%s", err.text);
	}
	struct buf deep = {0};
	for (int i = 0; i < 1000; i++)
		buf_addc(&deep, '(');
	struct pytext t = {.text = buf_slice(&deep)};
	struct pyline l;
	assert_int_equal(pytext_next(&t, &l, NULL), -1);
	buf_release(&deep);
}

static void test_calls(void **state)
{
	(void)state;
	struct slice callee, inside;
	struct pyarg a[8];
	assert_true(pytext_call(SLICE("reader.tensor(buf0, (8, 's,)'), (1,), dtype=torch.f, k = [a == b],)"), &callee, &inside));
	assert_text(callee, "reader.tensor");
	assert_int_equal(pytext_args(inside, a, 8), 5);
	assert_text(a[1].value, "(8, 's,)')");
	assert_text(a[3].name, "dtype");
	assert_text(a[3].value, "torch.f");
	assert_text(a[4].name, "k");
	assert_text(a[4].value, "[a == b]");
	assert_int_equal(pytext_args(SLICE(" "), a, 8), 0);
	assert_int_equal(pytext_args(SLICE("1, 2, 3"), a, 1), 3);
	assert_int_equal(pytext_args(SLICE("1,,2"), a, 8), -1);
	assert_int_equal(pytext_args(SLICE("1), (2"), a, 8), -1);
	assert_int_equal(pytext_args(SLICE("a == b"), a, 8), 1);
	assert_text(a[0].name, "");
	assert_false(pytext_call(SLICE("f(1)(2)"), &callee, &inside));
	assert_false(pytext_call(SLICE("f(1) + 1"), &callee, &inside));
	assert_false(pytext_call(SLICE("f + (1)"), &callee, &inside));
	assert_false(pytext_call(SLICE("f(1"), &callee, &inside));
}

static void test_assign(void **state)
{
	(void)state;
	struct slice name, value;
	assert_true(pytext_assign(SLICE("os.environ['A=B'] = 'C'"), &name, &value));
	assert_text(name, "os.environ['A=B']");
	assert_text(value, "'C'");
	assert_true(pytext_assign(SLICE("x = f(a=1)"), &name, &value));
	assert_text(value, "f(a=1)");
	assert_false(pytext_assign(SLICE("f(a=1)"), &name, &value));
	assert_false(pytext_assign(SLICE("a == b"), &name, &value));
	assert_false(pytext_assign(SLICE("a += b"), &name, &value));
	assert_false(pytext_assign(SLICE("x ="), &name, &value));
}

static void test_strings(void **state)
{
	(void)state;
	static const struct {
		const char *literal, *text;
	} good[] = {{"'a'", "a"},         {"\"it's\"", "it's"},
		    {"r'\\n'", "\\n"},    {"'\\x41\\u00e9\\n'", "A\xc3\xa9\n"},
		    {"'''a'b'''", "a'b"}, {"''", ""},
		    {"'\\q'", "\\q"},     {"'\\101'", "A"},
		    {"u'a'", "a"},        {"'\\U0001F600'", "\xf0\x9f\x98\x80"}};
	static const char *const bad[] = {"a", "'a", "'a' 'b'", "b'a'", "'\\x4'", "'\\uzzzz'", "", "'", "'\\U00110000'"};
	struct buf b = {0};
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		buf_reset(&b);
		assert_true(pytext_string(slice_str(good[i].literal), &b));
		assert_text(buf_slice(&b), good[i].text);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (pytext_string(slice_str(bad[i]), &b))
			fail_msg("%s", bad[i]);
	buf_release(&b);
}

/* What is quoted is read back, whatever it is. */
static void test_quote(void **state)
{
	(void)state;
	uint64_t seed = 5;
	struct buf q = {0}, back = {0};
	for (int i = 0; i < 2000; i++) {
		char text[16];
		const size_t n = pick(&seed, sizeof(text));
		for (size_t k = 0; k < n; k++)
			text[k] = "\\'\"\n\r\tab\x01\x7f n"[pick(&seed, 12)];
		buf_reset(&q);
		buf_reset(&back);
		pytext_quote(&q, slice_of(text, n));
		assert_true(pytext_string(buf_slice(&q), &back));
		assert_true(slice_eq(buf_slice(&back), slice_of(text, n)));
	}
	/* What would drive a terminal or turn text around does not stand in a program as it is. */
	buf_reset(&q);
	buf_reset(&back);
	pytext_quote(&q, SLICE("\x1b[m\xc2\x9b\xe2\x80\xae\xe2\x80\x93"));
	assert_string_equal(buf_str(&q), "'\\x1b[m\\u009b\\u202e\xe2\x80\x93'");
	assert_true(pytext_string(buf_slice(&q), &back));
	assert_string_equal(buf_str(&back), "\x1b[m\xc2\x9b\xe2\x80\xae\xe2\x80\x93");
	buf_release(&q);
	buf_release(&back);
}

/* Any bytes end, and are read no further than they go. */
static void test_any(void **state)
{
	(void)state;
	static const char alphabet[] = "()[]{}'\"\\\n#=, ab:@.\"\"\"r";
	uint64_t seed = 7;
	struct guard g = {0};
	struct buf b = {0};
	for (int i = 0; i < 20000; i++) {
		char text[40];
		const size_t n = pick(&seed, sizeof(text));
		for (size_t k = 0; k < n; k++)
			text[k] = alphabet[pick(&seed, sizeof(alphabet) - 1)];
		struct slice s = slice_of(guard_put(&g, text, n), n), x, y;
		struct pytext t = {.text = s};
		struct pyline l;
		struct pyarg a[4];
		int r, lines = 0;
		while ((r = pytext_next(&t, &l, NULL)) == 1)
			lines++;
		assert_in_range(lines, 0, n);
		pytext_call(s, &x, &y);
		pytext_assign(s, &x, &y);
		pytext_args(s, a, 4);
		pytext_inside(s, '(', &x);
		pytext_dotted(s);
		buf_reset(&b);
		pytext_string(s, &b);
		pytext_quote(&b, s);
	}
	guard_release(&g);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines),   cmocka_unit_test(test_bad_lines), cmocka_unit_test(test_calls), cmocka_unit_test(test_assign),
	    cmocka_unit_test(test_strings), cmocka_unit_test(test_quote),     cmocka_unit_test(test_any),
	};
	return RUN(tests);
}
