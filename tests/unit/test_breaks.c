/* Fixes of graph breaks: the table's rules, and that the table itself is in order. */
#include "diagnose/breaks.h"
#include "html/html.h"

#include <setjmp.h>
#include <cmocka.h>

static const char table[] =
    "# a remark\n\ntext: print\nfix: no print\n\ngb: 7 8\nwith: zlib\nfix: wrap zlib\nfix: or not\n\ngb: 7\ntext: skipped\n"
    "fix: call it outside\n\ngb: 12\ntext: item\nfix: keep it\n";

static const char *find(int gb, const char *text)
{
	static struct buf b;
	struct slice s = break_fix_find(slice_of(table, sizeof(table) - 1), gb, slice_str(text), &b);
	b.len = s.n;
	return s.n ? buf_str(&b) : "";
}

static void test_rules(void **state)
{
	(void)state;
	assert_string_equal(find(99, "builtin print"), "no print"); /* no numbers: text for all */
	assert_string_equal(find(8, "zlib.crc32"), "wrap zlib\nor not");
	assert_string_equal(find(7, "other"), "call it outside"); /* `with` does not stand there */
	assert_string_equal(find(8, "other"), "");
	assert_string_equal(find(99, "item"), "");        /* a number that is another's */
	assert_string_equal(find(-1, "item"), "keep it"); /* older torch has none */
	assert_string_equal(find(-1, ""), "");
}

/* Every entry can be reached by what it names, has a fix, and knows no other keys. */
static void test_table(void **state)
{
	(void)state;
	struct slice all = share_file("breaks/fixes.txt"), rest = all, line;
	unsigned fixes = 0, keys = 0;
	assert_true(all.n > 1000);
	while (slice_line(&rest, &line)) {
		if (!line.n) {
			assert_true(!keys || fixes);
			fixes = keys = 0;
			continue;
		}
		if (line.p[0] == '#')
			continue;
		assert_true(slice_starts(line, "gb: ") || slice_starts(line, "text: ") || slice_starts(line, "with: ") ||
			    slice_starts(line, "fix: "));
		fixes += slice_starts(line, "fix: ");
		keys += !slice_starts(line, "fix: ");
	}
	struct buf b = {0};
	assert_non_null(slice_find(break_fix_find(all, 124, SLICE(""), &b), "capture_scalar_outputs"));
	assert_non_null(slice_find(break_fix_find(all, 170, SLICE("attempted to jump with TensorVariable()"), &b), "torch.where"));
	assert_non_null(slice_find(break_fix_find(all, 59, SLICE("builtin print [<class"), &b), "reorderable_logging_functions"));
	assert_non_null(slice_find(break_fix_find(all, -1, SLICE("generic_jump TensorVariable()"), &b), "torch.cond"));
	assert_non_null(slice_find(
	    break_fix_find(all, 7, SLICE("cannot determine source file for zlib (likely a C extension or builtin)"), &b), "custom_op"));
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules), cmocka_unit_test(test_table)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
