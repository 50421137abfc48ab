/* Lines of tables that are of some releases of torch, and fixes that another torch does not know. */
#include "run/diagnose/release.h"

#include "base/text.h"

#include <setjmp.h>
#include <cmocka.h>

static const char table[] = "# Names that torch 2.6, 2.9, 2.12, 2.15 has.\ntorch.always\n2.9:2.15 torch.since\n2.6 torch.old\n"
			    "2.6 2.12:2.15 torch.mostly = [\"2.9 no\"]\n";

static void test_release_of_a_version(void **state)
{
	(void)state;
	static const unsigned known[][2] = {{15, 15}, {16, 15}, {14, 12}, {9, 9}, {8, 6}, {4, 6}}; /* minor, release */
	struct slice head = slice_first_line(slice_str(table));
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		assert_int_equal(release_known(head, known[i][0]), known[i][1]);
	assert_int_equal(release_known(SLICE("# none"), 15), 0);
}

static void test_lines_of_a_release(void **state)
{
	(void)state;
	struct slice line = SLICE("2.6 2.12:2.15 x = 2.9 y");
	assert_false(release_has(&line, 9));
	assert_true(slice_is(line, "x = 2.9 y"));
	for (unsigned release = 12; release <= 15; release++) {
		line = SLICE("2.6 2.12:2.15 x");
		assert_true(release_has(&line, release));
	}
	line = SLICE("x = 2.9 y");
	assert_true(release_has(&line, 3));
	assert_true(slice_is(line, "x = 2.9 y"));
}

static void test_names_that_are_not_there(void **state)
{
	(void)state;
	static const struct {
		unsigned minor;
		const char *missing;
	} of[] = {{6, "torch.since\n"}, {9, "torch.old\ntorch.mostly = [\"2.9 no\"]\n"}, {15, "torch.old\n"}, {8, ""}, {11, "torch.old\n"},
		  {3, "torch.since\n"}};
	struct buf missing = {0}, tmp = {0};
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		buf_reset(&missing);
		release_missing(slice_str(table), of[i].minor, &missing);
		assert_string_equal(buf_str(&missing), of[i].missing);
	}
	struct slice gone = SLICE("torch.old\ntorch.b.since\n"), same = SLICE("torch.older(x)\nmytorch.old2, torch.b.since_then\n");
	assert_true(slice_eq(release_lines(SLICE("torch.old(x)\nuse torch.always\nor torch.older, or torch.b.since"), gone, &tmp),
			     SLICE("use torch.always")));
	assert_ptr_equal(release_lines(same, gone, &tmp).p, same.p);
	assert_int_equal(release_lines(SLICE("torch.old"), gone, &tmp).n, 0);
	buf_release(&missing);
	buf_release(&tmp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_release_of_a_version),
	    cmocka_unit_test(test_lines_of_a_release),
	    cmocka_unit_test(test_names_that_are_not_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
