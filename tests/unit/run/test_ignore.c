/* libcommon/cli/run/diagnose/ignore.h: which comments silence a finding. */
#include "../../lib/test.h"

#include "run/diagnose/ignore.h"

static void comments(void **state)
{
	static const struct {
		const char *line;
		bool want; /* for GB0124, a graph-break */
	} v[] = {
	    {"y = x.item()  # pt2: ignore", true},
	    {"y = x.item()  # pt2: ignore GB0124", true},
	    {"y = x.item()  # pt2: ignore gb0124", true},
	    {"y = x.item()  # pt2: ignore graph-break", true},
	    {"y = x.item()  #pt2:ignore GB0025,GB0124", true},
	    {"y = x.item()  # pt2: ignore GB0025, GB0124 -- warm-up", true},
	    {"y = x.item()  # pt2: ignore[GB0124]", true},
	    {"y = x.item()  # pt2: ignore -- warm-up only", true},
	    {"y = x.item()  # noqa: E501  # pt2: ignore GB0124", true},
	    {"y = x.item()  # pt2: ignore GB0025  # pt2: ignore GB0124", true},
	    {"    # pt2: ignore", true},
	    {"y = f('#')  # pt2: ignore", true},
	    {"y = f('\\'#')  # pt2: ignore", true},
	    {"y = x.item()", false},
	    {"", false},
	    {"# pt2: ignored", false},
	    {"# pt2: ignore-all", false},
	    {"# pt2: ignore GB0025", false},
	    {"# pt2: ignore GB01240", false},
	    {"# pt2: ignore GB0025 GB0124", false}, /* a reason, not a list */
	    {"# pt2: ignore recompile", false},
	    {"# type: ignore", false},
	    {"# pt2 ignore", false},
	    {"y = 'x  # pt2: ignore'", false},
	    {"y = \"# pt2: ignore\"", false},
	    {"y = f(\"a\\\"# pt2: ignore\")", false},
	};
	struct guard g = {0};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		const size_t n = strlen(v[i].line);
		const struct slice line = slice_of(guard_put(&g, v[i].line, n), n);
		if (ignore_line(line, SLICE("GB0124"), SLICE("graph-break")) != v[i].want)
			fail_msg("%s: %d", v[i].line, !v[i].want);
	}
	guard_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(comments)};
	return RUN(tests);
}
