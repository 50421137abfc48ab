/* screen: lines that are too wide for the terminal. */
#include "../../lib/test.h"

#include "base/tool/screen.h"

#include <sys/wait.h>
#include <unistd.h>

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

/* What a screen of these writes come to, with so much text allowed. In a process of its own, for what is shown is counted for good. */
static void limited(const char *const *text, size_t n, uint64_t most, const char *want, const char *said)
{
	int out[2], err[2];
	char got[4096] = "", told[4096] = "";
	assert_int_equal(pipe(out) | pipe(err), 0);
	pid_t pid = fork();
	if (!pid) {
		struct screen s = {0};
		dup2(err[1], 2);
		shown_most = most;
		for (size_t i = 0; i < n; i++) {
			buf_adds(&s.b, text[i]);
			screen_write(&s, out[1], "x", NULL);
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	close(out[1]);
	close(err[1]);
	assert_true(read(out[0], got, sizeof(got) - 1) >= 0 && read(err[0], told, sizeof(told) - 1) >= 0);
	close(out[0]);
	close(err[0]);
	assert_string_equal(got, want);
	assert_string_equal(told, said);
}

#define LIMITED(most, want, said, ...) \
	limited((const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), most, want, said)
#define SAID(n) "pt2utils: more than " n " bytes of text: the rest is cut (--max-text=SIZE shows more)\n"
#define CUT(n) "[cut: more than " n " bytes of text; --max-text=SIZE shows more]\n"

static void text_is_cut(void **state)
{
	(void)state;
	LIMITED(0, "one\ntwo\n", "", "one\n", "two\n");
	LIMITED(8, "one\ntwo\n", "", "one\n", "two\n");
	LIMITED(7, "one\n" CUT("7"), SAID("7"), "one\n", "two\n", "three\n");
	LIMITED(7, "one\n" CUT("7"), SAID("7"), "one\ntwo\nthree\n", "four\n");
	LIMITED(7, "one\n" CUT("7"), SAID("7"), "o", "ne\n", "two\n");
	LIMITED(6, "one\ntw\n" CUT("6"), SAID("6"), "one\n", "tw", "o\n");
	LIMITED(6, "one\n" CUT("6"), SAID("6"), "one\n", "\303\244\303\244\303\244\n");
}

static void documents_stay_json(void **state)
{
	(void)state;
	LIMITED(40, "{\"schema\": \"x\", \"v\": [1, [\"a,]\"]], \"cut\": true}\n", SAID("40"),
		"{\"schema\": \"x\", \"v\": [1, [\"a,]\", {\"b\": 1}], 2], \"w\": 3}\n");
	LIMITED(1, "{\"schema\": \"x\", \"cut\": true}\n", SAID("1"), "{\"schema\": \"x\", \"v\": [1, 2]}\n");
	LIMITED(60, "{\"schema\": \"x\", \"v\": [1, 2]}\n", "", "{\"schema\": \"x\", \"v\": [1, 2]}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(long_lines_go_on_below), cmocka_unit_test(what_stands_before_counts),
	    cmocka_unit_test(words_are_left_alone),   cmocka_unit_test(text_is_cut),
	    cmocka_unit_test(documents_stay_json),
	};
	return RUN(tests);
}
