/* untab: the lines of payloads, in place, by whatever this processor has, and line by line. */
#include "base/base.h"
#include "base/untab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void check(const char *text, size_t n)
{
	char *a = memcpy(xmalloc(n), text, n),
	     *b = memcpy(xmalloc(n), text, n); /* of its size: a sanitizer sees what is touched behind it */
	struct untab x = {.from = a, .to = a}, y = {.from = b, .to = b};
	untab(&x, a + n);
	untab_plain(&y, b + n);
	assert_int_equal(x.from - a, y.from - b);
	assert_int_equal(x.lines, y.lines);
	assert_int_equal(x.to - a, y.to - b);
	assert_memory_equal(a, b, (size_t)(x.to - a));
	assert_memory_equal(a + (x.from - a), text + (x.from - a), n - (size_t)(x.from - a)); /* what follows is as it was */
	bool high = false;
	for (char *p = a; p < x.to; p++)
		high |= *p & 0x80;
	assert_true(x.high || !high);
	free(a);
	free(b);
}

static void test_lines(void **state)
{
	(void)state;
	char text[] = "\tone\n\t\n\t\ttwo\r\n\tthree\rfour\nV1121";
	struct untab u = {.from = text, .to = text};
	untab(&u, text + sizeof(text) - 1);
	assert_int_equal(u.lines, 4);
	assert_int_equal(u.to - text, 20);
	assert_memory_equal(text, "one\n\n\ttwo\nthree\rfour", 20);
	assert_string_equal(u.from, "V1121");
}

/* Texts of few kinds of bytes, so that every constellation at the border of a block comes. */
static void test_random(void **state)
{
	(void)state;
	static const char bytes[] = "\t\t\t\n\n\n\r\rab\xc3\xa9";
	uint64_t seed = 1;
	char text[300];
	for (int round = 0; round < 40000; round++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		size_t n = 1 + (seed >> 40) % (sizeof(text) - 1), kinds = 4 + (seed >> 33) % 8;
		text[0] = '\t';
		for (size_t i = 1; i < n; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			text[i] = text[i - 1] == '\n' && seed >> 60 ? '\t' : (seed >> 50) % 8 ? 'x' : bytes[(seed >> 33) % kinds];
		}
		check(text, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
