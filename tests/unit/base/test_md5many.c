/* MD5 of many texts against libmd, for all lengths around a block, many counts, and long ones. */
#include "base/md5many.h"

#include <md5.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void check(size_t n, size_t step, size_t max)
{
	struct md5_job *job = xcalloc(n + 1, sizeof(*job));
	uint8_t *text = xmalloc(max + n + 1), (*digest)[16] = xcalloc(n + 1, 16);
	for (size_t i = 0; i < max + n + 1; i++)
		text[i] = (uint8_t)(i * 2654435761u >> 13);
	for (size_t i = 0; i < n; i++)
		job[i] = (struct md5_job){.p = text + i, .n = i * step % (max + 1), .digest = digest[i]};
	md5_many(job, n);
	for (size_t i = 0; i < n; i++) {
		uint8_t want[16];
		MD5_CTX ctx;
		MD5Init(&ctx);
		MD5Update(&ctx, text + i, i * step % (max + 1));
		MD5Final(want, &ctx);
		assert_memory_equal(digest[i], want, 16);
	}
	free(job);
	free(text);
	free(digest);
}

static void test_lengths(void **state)
{
	(void)state;
	check(400, 1, 399);
}

static void test_counts(void **state)
{
	(void)state;
	for (size_t n = 0; n < 70; n++)
		check(n, 37, 300);
}

static void test_long(void **state)
{
	(void)state;
	check(40, 7919, 200000);
	check(3, 70001, 200000);
	check(2, 70001, 200000);
	check(19, 65600, 500000); /* some in the lanes, some left alone */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lengths), cmocka_unit_test(test_counts), cmocka_unit_test(test_long)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
