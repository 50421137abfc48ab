/* base/jsonskim: where members lie, and texts that do not close. */
#include "base/jsonskim.h"
#include "../../lib/test.h"

/* "key=value;..." of a text, or "error@offset". */
static void skimmed(struct slice text, struct buf *b)
{
	struct json_skim s;
	struct slice key, value;
	buf_reset(b);
	int rc = json_skim_open(&s, text);
	while (rc >= 0 && (rc = json_skim_next(&s, &key, &value)) > 0)
		buf_addf(b, "%.*s=%.*s;", SL(key), SL(value));
	if (rc < 0)
		buf_addf(b, "%s@%zu", s.error, s.at);
}

static void test_members(void **state)
{
	(void)state;
	static const char *const of[][2] = {
	    {"{}", ""},
	    {" [ ] ", ""},
	    {"{\"a\": 1, \"b\":{\"c\":[1,{}]} , \"d\":\"x\\\"}\"}", "a=1;b={\"c\":[1,{}]};d=\"x\\\"}\";"},
	    {"[null,-1e5,\"\\\\\",[\"]\"]]", "=null;=-1e5;=\"\\\\\";=[\"]\"];"},
	    {"{\"a\\\"b\":true}", "a\\\"b=true;"},
	    {"", "neither an object nor an array@0"},
	    {"12", "neither an object nor an array@0"},
	    {"{\"a\":1", "a=1;missing comma@6"},
	    {"{\"a\":1}}", "a=1;extra text after the end@7"},
	    {"{\"a\":[1}", "a=[1};missing comma@8"},
	    {"{\"a\":[[1}", "unclosed bracket@9"},
	    {"{\"a\"1}", "missing colon@4"},
	    {"{a:1}", "missing key@1"},
	    {"{\"a\":}", "missing value@5"},
	    {"[1,]", "=1;missing value@3"},
	    {"[1 2]", "=1;missing comma@3"},
	    {"[\"a]", "unterminated string@4"},
	    {"[\"a\\\"]", "unterminated string@6"},
	};
	struct buf b = {0};
	struct guard g = {0};
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		size_t n = strlen(of[i][0]);
		skimmed(slice_of(guard_put(&g, of[i][0], n), n), &b);
		assert_string_equal(buf_str(&b), of[i][1]);
	}
	guard_release(&g);
	buf_release(&b);
}

static void test_last_one_wins(void **state)
{
	(void)state;
	static const char *const keys[] = {"b", "none", "a"};
	struct slice v[3];
	struct json_skim s;
	assert_int_equal(json_skim_members(&s, SLICE("{\"a\":1,\"b\":2,\"a\":3}"), keys, v, 3), 0);
	assert_text(v[0], "2");
	assert_null(v[1].p);
	assert_text(v[2], "3");
	assert_int_equal(json_skim_members(&s, SLICE("{\"a\":1,"), keys, v, 3), -1);
}

/* A million open brackets, closed and not; nothing but a counter grows. */
static void test_deep(void **state)
{
	(void)state;
	size_t n = 1000000;
	char *text = xmalloc(2 * n + 2);
	text[0] = '[';
	memset(text + 1, '{', n);
	memset(text + 1 + n, ']', n + 1);
	struct json_skim s;
	struct slice key, value;
	assert_int_equal(json_skim_open(&s, slice_of(text, 2 * n + 2)), 0);
	assert_int_equal(json_skim_next(&s, &key, &value), 1);
	assert_int_equal(value.n, 2 * n);
	assert_int_equal(json_skim_next(&s, &key, &value), 0);
	assert_int_equal(json_skim_open(&s, slice_of(text, 2 * n)), 0);
	assert_int_equal(json_skim_next(&s, &key, &value), -1);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_members),
	    cmocka_unit_test(test_last_one_wins),
	    cmocka_unit_test(test_deep),
	};
	return RUN(tests);
}
