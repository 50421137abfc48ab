/* aoti/pytree: specs as torch 2.13 dumps them (torch.utils._pytree.treespec_dumps, protocol 1), and bad ones. */
#include "../../lib/test.h"

#include "model/contract/pytree.h"

#define LEAF "{\"type\": null, \"context\": null, \"children_spec\": []}"
#define NODE(type, context, children) "{\"type\": \"" type "\", \"context\": " context ", \"children_spec\": [" children "]}"
#define TUPLE(children) NODE("builtins.tuple", "\"null\"", children)
#define LIST(children) NODE("builtins.list", "\"null\"", children)
#define NO_KEYWORDS NODE("builtins.dict", "\"[]\"", "")
#define CALL(args, keywords) "[1, " TUPLE(TUPLE(args) ", " keywords) "]"

static struct err err;

static int paths(const char *spec, bool call, struct buf *out)
{
	struct arena a = {0};
	struct guard g = {0};
	struct slice *v;
	uint32_t n;
	size_t len = strlen(spec);
	int r = pytree_paths(&a, slice_of(guard_put(&g, spec, len), len), call, &v, &n, &err);
	guard_release(&g); /* what is returned does not lie in the spec */
	buf_reset(out);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		buf_add_slice(out, v[i]);
		buf_addc(out, '\n');
	}
	arena_release(&a);
	return r;
}

static const struct {
	const char *spec, *want;
} calls[] = {
    {CALL(LEAF, NO_KEYWORDS), "args[0]\n"},
    {CALL("", NO_KEYWORDS), ""},
    /* None is a leaf, an empty list is not. */
    {CALL(LEAF ", " LEAF ", " LIST(""), NODE("builtins.dict", "\"[\\\"o\\\"]\"", LEAF)), "args[0]\nargs[1]\nkwargs[\"o\"]\n"},
    {CALL(NODE("collections.namedtuple", "\"my.P\"", LEAF ", " TUPLE(LEAF ", " LEAF)), NO_KEYWORDS),
     "args[0][0]\nargs[0][1][0]\nargs[0][1][1]\n"},
    {CALL(NODE("my.D", "\"[[\\\"x\\\", \\\"z\\\"], [\\\"y\\\"]]\"", LEAF ", " LIST(LEAF ", " LEAF)), NO_KEYWORDS),
     "args[0].x\nargs[0].z[0]\nargs[0].z[1]\n"},
    {CALL(NODE("collections.OrderedDict", "\"[\\\"b\\\", \\\"a\\\"]\"", LEAF ", " LEAF), NODE("builtins.dict", "\"[\\\"m\\\"]\"", LEAF)),
     "args[0][\"b\"]\nargs[0][\"a\"]\nkwargs[\"m\"]\n"},
    {CALL(NODE("collections.defaultdict",
	       "{\"default_factory_module\": \"builtins\", \"default_factory_name\": \"list\", \"dict_context\": "
	       "[\"k\", \"l\"]}",
	       LEAF ", " TUPLE(LEAF)),
	  NO_KEYWORDS),
     "args[0][\"k\"]\nargs[0][\"l\"][0]\n"},
    {CALL(NODE("collections.deque", "\"null\"", LEAF ", " LEAF), NO_KEYWORDS), "args[0][0]\nargs[0][1]\n"},
    {CALL(NODE("builtins.dict", "\"[\\\"it's\\\", \\\"q\\\\\\\"uo\\\\\\\\te\\\", \\\"\\\\u00e9\\\", \\\"nl\\\\n\\\"]\"",
	       LEAF ", " LEAF ", " LEAF ", " LEAF) ", " NODE("builtins.dict", "\"[3, true, null]\"", LEAF ", " LEAF ", " LEAF),
	  NODE("builtins.dict", "\"[\\\"if\\\"]\"", LEAF)),
     "args[0][\"it's\"]\nargs[0][\"q\\\"uo\\\\te\"]\nargs[0][\"\\u00e9\"]\nargs[0][\"nl\\n\"]\nargs[1][3]\nargs[1]["
     "True]\n"
     "args[1][None]\nkwargs[\"if\"]\n"},
    /* A type of somebody's own: by position. */
    {CALL(NODE("my.Odd", "\"{\\\"k\\\": 1}\"", LEAF ", " LIST(LEAF)), NO_KEYWORDS), "args[0][0]\nargs[0][1][0]\n"},
    {CALL(NODE("my.Odd", "\"[\\\"k\\\", \\\"l\\\"]\"", LEAF ", " LEAF), NO_KEYWORDS), "args[0][0]\nargs[0][1]\n"},
    {CALL(NODE("my.Odd", "\"{not json\"", LEAF), NO_KEYWORDS), "args[0][0]\n"},
    /* As many names as children, or none. */
    {CALL(NODE("builtins.dict", "\"[\\\"a\\\"]\"", LEAF ", " LEAF), NO_KEYWORDS), "args[0][0]\nargs[0][1]\n"},
    {CALL(NODE("torch.fx.immutable_collections.immutable_dict", "\"[\\\"a\\\"]\"", LEAF), NO_KEYWORDS), "args[0][\"a\"]\n"},
    {CALL(LIST(LIST(LIST(NODE("builtins.dict", "\"[\\\"a\\\"]\"", TUPLE(NODE("builtins.dict", "\"[\\\"b\\\"]\"", LIST(LEAF))))))),
	  NODE("builtins.dict", "\"[\\\"z\\\", \\\"a\\\"]\"", LEAF ", " LEAF)),
     "args[0][0][0][0][\"a\"][0][\"b\"][0]\nkwargs[\"z\"]\nkwargs[\"a\"]\n"},
};

static void test_calls(void **state)
{
	(void)state;
	struct buf b = {0};
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		if (paths(calls[i].spec, true, &b) < 0)
			fail_msg("%s: %s", calls[i].spec, err.text);
		assert_string_equal(buf_str(&b), calls[i].want);
	}
	buf_release(&b);
}

static void test_outputs(void **state)
{
	(void)state;
	struct buf b = {0};
	assert_int_equal(paths("[1, " LEAF "]", false, &b), 0);
	assert_string_equal(buf_str(&b), "\n");
	assert_int_equal(paths("[1, " TUPLE(LEAF ", " LEAF) "]", false, &b), 0);
	assert_string_equal(buf_str(&b), "[0]\n[1]\n");
	assert_int_equal(
	    paths("[1, " NODE("builtins.dict", "\"[\\\"sum\\\", \\\"parts\\\"]\"", LEAF ", " LIST(LEAF ", " LEAF)) "]", false, &b), 0);
	assert_string_equal(buf_str(&b), "[\"sum\"]\n[\"parts\"][0]\n[\"parts\"][1]\n");
	buf_release(&b);
}

static void bad(const char *spec, bool call, const char *why)
{
	struct buf b = {0};
	if (paths(spec, call, &b) == 0)
		fail_msg("read: %s", spec);
	assert_int_equal(err.status, EXIT_INPUT);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	buf_release(&b);
}

static void test_bad(void **state)
{
	(void)state;
	bad("", true, "pytree spec: ");
	bad("[1, ", true, "at offset");
	bad("{}", true, "not a list of a protocol number and a tree");
	bad("[1]", true, "not a list");
	bad("[2, " LEAF "]", false, "unknown protocol 2");
	bad("[1, 3]", false, "lacks its type");
	bad("[1, {\"type\": null, \"children_spec\": [3]}]", false, "a leaf has children");
	bad("[1, {\"type\": 7, \"children_spec\": []}]", false, "a type is not a name");
	bad("[1, " LIST("{\"type\": null}") "]", false, "lacks its type or its children_spec");
	bad("[1, " TUPLE(LEAF) "]", true, "not the spec of a call");
	/* The text may end anywhere. */
	struct buf b = {0};
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		size_t len = strlen(calls[i].spec);
		for (size_t n = 0; n < len; n++) {
			char *cut = xstrndup(calls[i].spec, n);
			assert_int_equal(paths(cut, true, &b), -1);
			free(cut);
		}
	}
	buf_release(&b);
}

/* Depth and length cost nothing but time, and that in proportion. */
static void test_large(void **state)
{
	(void)state;
	struct buf spec = {0}, b = {0};
	buf_adds(&spec, "[1, ");
	for (int i = 0; i < 1500; i++)
		buf_adds(&spec, "{\"type\": \"builtins.list\", \"context\": \"null\", \"children_spec\": [");
	buf_adds(&spec, LEAF);
	for (int i = 0; i < 1500; i++)
		buf_adds(&spec, "]}");
	buf_adds(&spec, "]");
	assert_int_equal(paths(buf_str(&spec), false, &b), 0);
	assert_int_equal(b.len, 1500 * 3 + 1);

	buf_reset(&spec);
	buf_adds(&spec, "[1, {\"type\": \"builtins.list\", \"context\": \"null\", \"children_spec\": [");
	for (int i = 0; i <= PYTREE_MAX_LEAVES; i++)
		buf_adds(&spec, i ? ", " LEAF : LEAF);
	buf_adds(&spec, "]}]");
	bad(buf_str(&spec), false, "too many leaves");

	buf_reset(&spec);
	buf_adds(&spec, "[1, {\"type\": \"builtins.dict\", \"context\": \"[\\\"");
	for (int i = 0; i < 20000; i++)
		buf_addc(&spec, 'k');
	buf_adds(&spec, "\\\"]\", \"children_spec\": [" LEAF "]}]");
	bad(buf_str(&spec), false, "keys are too long");
	buf_release(&spec);
	buf_release(&b);
}

static void test_matches(void **state)
{
	(void)state;
	static const struct {
		const char *path, *asked;
		bool want;
	} v[] = {
	    {"args[0]", "args[0]", true},
	    {"args[0]", "args.0", true},
	    {"args[0]", "args[1]", false},
	    {"args[0]", "args", false},
	    {"args[0]", "[0]", false},
	    {"args[0]", "0", false},
	    {"args[0]", "", false},
	    {"", "", true},
	    {"args[0][\"x\"]", "args[0].x", true},
	    {"args[0][\"x\"]", "args[0]['x']", true},
	    {"args[0][\"x\"]", "x", true},
	    {"args[0][\"x\"]", "y", false},
	    {"args[0][\"x\"][1]", "x[1]", true},
	    {"args[0][\"x\"][1]", "x.1", true},
	    {"args[0][\"x\"][1]", "x", false},
	    {"args[0].x", "x", true},
	    {"args[0].x", "args[0].x", true},
	    {"args[0].x", "args[0][\"x\"]", true},
	    {"kwargs[\"mask\"]", "kwargs.mask", true},
	    {"kwargs[\"mask\"]", "mask", true},
	    {"kwargs[\"mask\"]", "ask", false},
	    {"kwargs[\"a.b\"]", "a.b", true},
	    {"kwargs[\"a.b\"]", "b", false},
	    {"[\"sum\"]", "sum", true},
	    {"kwargs[\"m\"]", "kwargs[\"m", false},
	    {"kwargs[\"m\"]", "kwargs..m", false},
	};
	struct guard g = {0};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		size_t n = strlen(v[i].asked);
		if (pytree_path_matches(slice_str(v[i].path), slice_of(guard_put(&g, v[i].asked, n), n)) != v[i].want)
			fail_msg("%s and %s", v[i].path, v[i].asked);
	}
	guard_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_calls), cmocka_unit_test(test_outputs), cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_large), cmocka_unit_test(test_matches),
	};
	return RUN(tests);
}
