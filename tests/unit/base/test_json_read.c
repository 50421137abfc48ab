/* base/json: typed reads of members, texts, numbers and lists. */
#include "../../lib/test.h"

#include "base/json.h"

static struct json_tape tape;
static struct guard guard;

static int parse(const char *p, size_t n, uint32_t *root)
{
	json_tape_text(&tape, guard_put(&guard, p, n), n);
	return json_parse(&tape, 0, n, root);
}

static uint32_t yes(const char *text)
{
	uint32_t root;
	if (parse(text, strlen(text), &root) < 0)
		fail_msg("refused: %s: %s at %zu", text, tape.error, tape.error_at);
	return root;
}

static const char reads[] = "{\"plain\":\"abc\",\"esc\":\"a\\n\\u00e9\\\"\",\"empty\":\"\",\"n\":7,\"neg\":-3,\"big\":18446744073709551615,"
			    "\"real\":1.5,\"yes\":true,\"no\":false,\"null\":null,\"sizes\":[4,-1,9],\"mixed\":[\"x\",7,\"y\\tz\",[1,2]],"
			    "\"none\":[],\"o\":{\"a\":1,\"b\":[{\"a\":2}],\"c\":{}},\"n\":8}";

/* Each member as each kind of text; NULL: there is none. */
static void reads_text(void **state)
{
	static const struct {
		const char *key, *text, *word;
	} v[] = {
	    {"plain", "abc", "abc"}, {"esc", "a\n\xc3\xa9\"", "a\\n\\u00e9\\\""},
	    {"empty", "", ""},       {"n", NULL, NULL},
	    {"null", NULL, NULL},    {"sizes", NULL, NULL},
	    {"o", NULL, NULL},       {"absent", NULL, NULL},
	};
	uint32_t root = yes(reads);
	struct arena arena = {0};
	struct buf tmp = {0}, added = {0};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		struct slice text = json_text(&tape, root, v[i].key, &tmp), word = json_word(&tape, root, v[i].key);
		struct slice copy = json_dup(&tape, root, v[i].key, &arena);
		assert_true(v[i].text ? text.p && slice_is(text, v[i].text) : !text.p && !text.n);
		assert_true(v[i].word ? word.p && slice_is(word, v[i].word) : !word.p && !word.n);
		assert_string_equal(copy.p, v[i].text ? v[i].text : "");
		assert_int_equal(copy.n, strlen(copy.p));
		buf_reset(&added);
		buf_addc(&added, '.');
		json_add_text(&tape, root, v[i].key, &added);
		assert_string_equal(buf_str(&added) + 1, copy.p);
		char *own = json_strdup(&tape, root, v[i].key);
		assert_string_equal(own, copy.p);
		free(own);
	}
	/* A text without escapes is not copied; one of a member's member, of no member and of no object is none. */
	assert_ptr_equal(json_text(&tape, root, "plain", &tmp).p, json_slice(&tape, json_get(&tape, root, "plain")).p);
	assert_null(json_text(&tape, json_get(&tape, root, "absent"), "x", &tmp).p);
	assert_null(json_word(&tape, json_get(&tape, root, "n"), "x").p);
	assert_string_equal(json_dup_at(&tape, NONE, &arena).p, "");
	buf_release(&added);
	buf_release(&tmp);
	arena_release(&arena);
}

static void reads_numbers(void **state)
{
	static const struct {
		const char *key;
		uint64_t count;
		int64_t integer;
		double number;
		bool flag;
	} v[] = {
	    {"n", 8, 8, 8, false},
	    {"neg", 99, -3, -3, false},
	    {"big", UINT64_MAX, -99, 18446744073709551615.0, false},
	    {"real", 99, -99, 1.5, false},
	    {"yes", 99, -99, 0.25, true},
	    {"no", 99, -99, 0.25, false},
	    {"null", 99, -99, 0.25, false},
	    {"plain", 99, -99, 0.25, false},
	    {"o", 99, -99, 0.25, false},
	    {"absent", 99, -99, 0.25, false},
	};
	uint32_t root = yes(reads);
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		assert_int_equal(json_count(&tape, root, v[i].key, 99), v[i].count);
		assert_int_equal(json_int(&tape, root, v[i].key, -99), v[i].integer);
		assert_true(json_number(&tape, root, v[i].key, 0.25) == v[i].number);
		assert_int_equal(json_flag(&tape, root, v[i].key), v[i].flag);
		assert_int_equal(json_index(&tape, root, v[i].key, 99), v[i].count == UINT64_MAX ? 99 : v[i].count);
		assert_int_equal(json_count(&tape, NONE, v[i].key, 5), 5);
	}
	assert_int_equal(json_get_as(&tape, root, "o", JSON_OBJECT), json_get(&tape, root, "o"));
	assert_int_equal(json_get_as(&tape, root, "o", JSON_ARRAY), NONE);
	assert_int_equal(json_find(&tape, root, slice_of("nullify", 4)), json_get(&tape, root, "null"));
	assert_false(json_is(&tape, NONE, JSON_NULL));
}

static void reads_lists(void **state)
{
	uint32_t root = yes(reads), n;
	uint32_t mixed = json_get(&tape, root, "mixed"), none = json_get(&tape, root, "none");
	int64_t v[4];
	struct arena arena = {0};
	(void)state;
	assert_int_equal(json_ints(&tape, root, "sizes", v, 3), 3);
	assert_true(v[0] == 4 && v[1] == -1 && v[2] == 9);
	assert_int_equal(json_ints(&tape, root, "sizes", v, 2), -1);
	assert_int_equal(json_ints(&tape, root, "none", NULL, 0), 0);
	assert_int_equal(json_ints(&tape, root, "mixed", v, 4), -1);
	assert_int_equal(json_ints(&tape, root, "o", v, 4), -1);
	assert_int_equal(json_ints(&tape, NONE, "sizes", v, 4), -1);
	assert_int_equal(json_length(&tape, mixed), 4);
	assert_int_equal(json_length(&tape, root), 0);
	const struct slice *s = json_dup_list(&tape, mixed, 3, &n, &arena);
	assert_int_equal(n, 3);
	assert_true(slice_is(s[0], "x") && slice_is(s[1], "") && slice_is(s[2], "y\tz"));
	assert_null(json_dup_list(&tape, root, 3, &n, &arena));
	assert_int_equal(n, 0);
	assert_non_null(json_dup_list(&tape, none, 3, &n, &arena));
	assert_int_equal(n, 0);
	arena_release(&arena);
}

/* A walk over each member adds up the numbers in it: of the pairs and of the elements, not of what lies in those. */
static void reads_walks(void **state)
{
	static const struct {
		const char *key;
		unsigned pairs, elements;
	} v[] = {{"o", 3, 0}, {"sizes", 0, 3}, {"mixed", 0, 4}, {"none", 0, 0}, {"plain", 0, 0}, {"n", 0, 0}, {"absent", 0, 0}};
	uint32_t root = yes(reads);
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		uint32_t at = json_get(&tape, root, v[i].key);
		unsigned pairs = 0, elements = 0;
		json_each_pair(&tape, at, k) {
			assert_true(json_is(&tape, k, JSON_STRING));
			pairs++;
		}
		json_each(&tape, at, k)
			elements++;
		assert_int_equal(pairs, v[i].pairs);
		assert_int_equal(elements, v[i].elements);
	}
	/* The whole document, and a walk inside a walk. */
	unsigned inner = 0;
	json_each_pair(&tape, root, k)
		json_each_pair(&tape, k + 1, j)
			inner += json_is(&tape, j + 1, JSON_NUMBER) ? 1 : 10;
	assert_int_equal(inner, 21);
}

static int clean(void **state)
{
	(void)state;
	json_tape_release(&tape);
	guard_release(&guard);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_text),
	    cmocka_unit_test(reads_numbers),
	    cmocka_unit_test(reads_lists),
	    cmocka_unit_test_teardown(reads_walks, clean),
	};
	return RUN(tests);
}
