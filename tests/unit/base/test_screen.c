/* screen: lines that are too wide for the terminal. */
#include "../../lib/test.h"

#include "base/tool/screen.h"

static const char *wrapped(const char *before, const char *text, int width, int indent)
{
	static struct screen s;
	buf_reset(&s.b);
	s.width = width;
	buf_adds(&s.b, before);
	buf_adds(&s.b, text);
	put_wraps(&s, strlen(before), indent);
	return buf_str(&s.b);
}

static void long_lines_go_on_below(void **state)
{
	(void)state;
	assert_string_equal(wrapped("", "one two three four\nfive\n", 9, 3), "one two\n   three\n   four\nfive\n");
	assert_string_equal(wrapped("", "one two three four\n", 0, 3), "one two three four\n"); /* no terminal */
	assert_string_equal(wrapped("", "one two\n", 7, 3), "one two\n");
	assert_string_equal(wrapped("", "", 7, 3), "");
	assert_string_equal(wrapped("", "\n\n", 7, 3), "\n\n");
}

static void what_stands_before_counts(void **state)
{
	(void)state;
	assert_string_equal(wrapped("tool: ", "one two\n", 9, 3), "tool: one\n   two\n");
	assert_string_equal(wrapped("a long line before\n", "one two\n", 9, 3), "a long line before\none two\n");
}

static void words_are_left_alone(void **state)
{
	(void)state;
	assert_string_equal(wrapped("", "aaa verylongword b\n", 6, 2), "aaa\n  verylongword\n  b\n");
	assert_string_equal(wrapped("", "verylongword b\n", 6, 2), "verylongword\n  b\n");
	/* What gives colour takes no room; nor do the bytes behind the first of a character. */
	assert_string_equal(wrapped("", "\033[31mred\033[m blue\n", 8, 2), "\033[31mred\033[m blue\n");
	assert_string_equal(wrapped("", "\303\244\303\244\303\244 \303\266\303\266\303\266\n", 7, 2),
			    "\303\244\303\244\303\244 \303\266\303\266\303\266\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(long_lines_go_on_below),
	    cmocka_unit_test(what_stands_before_counts),
	    cmocka_unit_test(words_are_left_alone),
	};
	return RUN(tests);
}
