/* Known bugs of torch: entries of the table, texts that match, releases. */
#include "run/diagnose/bugs.h"

#include <setjmp.h>
#include <cmocka.h>

static const char table[] = "# a comment\n\nbug: 12345\nmatch: isin*AssertionError\nmatch: ir.py\nnot: eager\nfirst: 2.6\nlast: 2.7\n"
			    "fixed: 2.9.1\nwhat: It fails.\nuntil: do not\n\n\nbug: 23456\nwhat: Wrong.\n";

static void test_entries(void **state)
{
	(void)state;
	struct slice rest = slice_str(table);
	struct bug b;
	assert_true(bug_next(&rest, &b));
	assert_true(slice_is(b.number, "12345") && b.matches == 2 && b.withouts == 1);
	assert_true(slice_is(b.last, "2.7") && slice_is(b.until, "do not"));
	assert_true(bug_next(&rest, &b));
	assert_true(slice_is(b.number, "23456") && !b.matches && !b.until.n);
	assert_false(bug_next(&rest, &b));
}

static void test_texts(void **state)
{
	(void)state;
	static const struct {
		const char *what, *text;
		bool found;
	} rows[] = {
	    {"ab*cd", "x ab--cd", true}, {"ab*cd", "ab\ncd", false},   {"ab*cd", "ab\nab cd", true}, {"ab*cd*e", "abcde", true},
	    {"ab*cd*e", "abecd", false}, {"ab", "a", false},           {"ab*", "ab", true},          {"aab", "aaab", true},
	    {"a*b*", "a b", true},       {"abab*c", "ababab c", true},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(bug_occurs(slice_str(rows[i].text), slice_str(rows[i].what)), rows[i].found);
	struct slice rest = slice_str(table);
	struct bug b;
	assert_true(bug_next(&rest, &b));
	assert_true(bug_matches(&b, SLICE("File ir.py\nisin: AssertionError")));
	assert_false(bug_matches(&b, SLICE("isin: AssertionError")));
	assert_false(bug_matches(&b, SLICE("File ir.py, eager\nisin: AssertionError")));
	assert_true(bug_next(&rest, &b));
	assert_false(bug_matches(&b, SLICE("aten.isin")));
}

static void test_releases(void **state)
{
	(void)state;
	static const struct {
		const char *last, *fixed, *run;
		enum bug_state state;
		const char *text;
	} rows[] = {
	    {"2.7", "2.8", "2.7.1+cu128", BUG_HERE, "fixed in 2.8 (pytorch#1): It fails. Until then: wait"},
	    {"2.7", "2.8", "2.8.0", BUG_FIXED,
	     "looks like pytorch#1, fixed in 2.8: It fails. In this release it has another cause, or is back. Workaround: wait"},
	    {"2.7", "2.11", "2.9.1", BUG_UNKNOWN, "fixed by 2.11 (pytorch#1): It fails. Until then: wait"},
	    {"", "2.9.1", "2.9.0", BUG_HERE, "fixed in 2.9.1 (pytorch#1): It fails. Until then: wait"},
	    {"", "2.9.1", "2.9.1", BUG_FIXED,
	     "looks like pytorch#1, fixed in 2.9.1: It fails. In this release it has another cause, or is back. Workaround: wait"},
	    {"2.15", "", "2.15.0", BUG_HERE, "not fixed in 2.15 (pytorch#1): It fails. Workaround: wait"},
	    {"2.15", "", "2.16.0", BUG_UNKNOWN, "not fixed in 2.15 (pytorch#1): It fails. Workaround: wait"},
	    {"", "", "2.9", BUG_UNKNOWN, "pytorch#1: It fails. Workaround: wait"},
	    {"2.7", "2.8", "", BUG_UNKNOWN, "fixed in 2.8 (pytorch#1): It fails. Until then: wait"},
	    {"", "2.8", "2.6", BUG_HERE, "fixed in 2.8 (pytorch#1): It fails. Until then: wait"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct bug b = {.number = SLICE("1"), .what = SLICE("It fails."), .until = SLICE("wait")};
		LOCAL_BUF out = {0};
		b.last = slice_str(rows[i].last);
		b.fixed = slice_str(rows[i].fixed);
		assert_int_equal(bug_state(&b, slice_str(rows[i].run)), rows[i].state);
		bug_put(&out, &b, rows[i].state);
		assert_string_equal(buf_str(&out), rows[i].text);
	}
}

/* Many failures and findings: the bugs of each are its own. */
static void test_findings(void **state)
{
	(void)state;
	struct facts f;
	struct explanation x;
	facts_init(&f);
	uint32_t in = facts_input(&f, FACT_TEXTLOG, "stderr.txt");
	for (unsigned i = 0; i < 200; i++) {
		struct fact_failure *r = facts_new_failure(&f, fact_src(in, i + 1));
		r->type = facts_intern(&f, SLICE("torch._dynamo.exc.Unsupported"));
		char reason[100];
		snprintf(reason, sizeof(reason), i % 2 ? "%u: missing: MATCH_CLASS" : "%u: missing: OTHER", i);
		r->reason = facts_intern(&f, slice_str(reason));
	}
	explain(&x, &f);
	for (uint32_t i = 0; i < x.n_finding; i++) {
		const struct finding *g = &x.finding[i];
		assert_true(g->n_bug <= 1);
		if (g->n_bug)
			assert_true(slice_is(x.bug[g->first_bug].bug.number, "171274") && slice_find(g->title, "MATCH_CLASS"));
	}
	assert_true(x.n_bug > 1);
	explanation_release(&x);
	facts_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_entries),
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_releases),
	    cmocka_unit_test(test_findings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
