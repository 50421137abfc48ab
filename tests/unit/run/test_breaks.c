/* Fixes of graph breaks: the table's rules, and that the table itself is in order. */
#include "base/html/html.h"
#include "run/diagnose/breaks.h"

#include <setjmp.h>
#include <cmocka.h>

static const char table[] =
    "# a remark\n\ntext: print\nfix: no print\n\ngb: 7 8\nwith: zlib\nfix: wrap zlib\nfix: or not\n\ngb: 7\ntext: skipped\n"
    "fix: call it outside\n\ngb: 12\ntext: item\nnot: numpy\nfix: keep it\nhint: perhaps\n\n"
    "gb: 35\nhere: where(c, a, b)\nfix: a setting\nhint: perhaps\n\ngb: 36\nhere: another line\n";

static const char *find_in(int gb, const char *text, bool foreign)
{
	static struct buf fix, hint;
	bool found = break_fix_find(slice_of(table, sizeof(table) - 1), gb, slice_str(text), foreign, &fix, &hint);
	assert_true(found || !(fix.len + hint.len));
	if (hint.len) { /* "fix|hint" */
		buf_addc(&fix, '|');
		buf_add_slice(&fix, buf_slice(&hint));
	}
	return fix.len ? buf_str(&fix) : "";
}

static const char *find(int gb, const char *text) { return find_in(gb, text, false); }

static void test_rules(void **state)
{
	(void)state;
	assert_string_equal(find(35, ""), "where(c, a, b)\na setting|perhaps");
	assert_string_equal(find_in(35, "", true), "a setting|perhaps"); /* the line is torch's or a package's */
	assert_string_equal(find_in(36, "", true), "");
	assert_string_equal(find(99, "builtin print"), "no print"); /* no numbers: text for all */
	assert_string_equal(find(8, "zlib.crc32"), "wrap zlib\nor not");
	assert_string_equal(find(7, "other"), "call it outside"); /* `with` does not stand there */
	assert_string_equal(find(8, "other"), "");
	assert_string_equal(find(99, "item"), "");                /* a number that is another's */
	assert_string_equal(find(-1, "item"), "keep it|perhaps"); /* older torch has none */
	assert_string_equal(find(12, "numpy"), "");
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
		bool fix = slice_starts(line, "fix: ") || slice_starts(line, "here: ") || slice_starts(line, "hint: ");
		assert_true(fix || slice_starts(line, "gb: ") || slice_starts(line, "text: ") || slice_starts(line, "with: ") ||
			    slice_starts(line, "not: "));
		fixes += fix;
		keys += !fix;
	}
	static const struct {
		int gb;
		const char *text, *fix;
	} known[] = {
	    {124, "", "capture_scalar_outputs"},
	    {170, "attempted to jump with TensorVariable()", "torch.where"},
	    {59, "builtin print [<class", "reorderable_logging_functions"},
	    {-1, "generic_jump TensorVariable()", "torch.cond"},
	    {294, "", "before or after"},
	    {207, "", "torch.sort"},
	    {59, "builtin open [<class", "file outside"},
	    {7, "cannot determine source file for zlib (likely a C extension or builtin)", "custom_op"},
	    {55, "call_function args: TensorVariable()\nreturn x + torch.rand(3, generator=g)", "default generator"},
	};
	struct buf fix = {0}, hint = {0};
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		assert_true(break_fix_find(all, known[i].gb, slice_str(known[i].text), false, &fix, &hint));
		buf_add_slice(&fix, buf_slice(&hint));
		assert_non_null(slice_find(buf_slice(&fix), known[i].fix));
	}
	/* any argument without as_proxy() has that number */
	assert_false(break_fix_find(all, 55, SLICE("call_function args: UserDefinedObjectVariable(Shape)\nreturn op(x, shape)"), false,
				    &fix, &hint));
	buf_release(&fix);
	buf_release(&hint);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules), cmocka_unit_test(test_table)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
