/* base/json: the tokenizer against the grammar and against jansson. */
#include "../../lib/test.h"

/* Both headers name types so. */
#define JSON_NULL JANSSON_NULL
#define JSON_FALSE JANSSON_FALSE
#define JSON_TRUE JANSSON_TRUE
#define JSON_STRING JANSSON_STRING
#define JSON_ARRAY JANSSON_ARRAY
#define JSON_OBJECT JANSSON_OBJECT
#include <jansson.h>
#undef JSON_NULL
#undef JSON_FALSE
#undef JSON_TRUE
#undef JSON_STRING
#undef JSON_ARRAY
#undef JSON_OBJECT
#include <math.h>

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

static void no(const char *text, size_t n)
{
	uint32_t root;
	if (!parse(text, n, &root))
		fail_msg("accepted: %.*s", (int)n, text);
	assert_non_null(tape.error);
	assert_true(tape.error_at <= n);
	assert_int_equal(tape.n, 0);
}

static void scalars(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum json_type type;
	} v[] = {
	    {"null", JSON_NULL},          {"true", JSON_TRUE},       {"false", JSON_FALSE},   {"0", JSON_NUMBER},    {"-0", JSON_NUMBER},
	    {"12", JSON_NUMBER},          {"-1.5e+10", JSON_NUMBER}, {"0.0E-7", JSON_NUMBER}, {"\"\"", JSON_STRING}, {"\"a\"", JSON_STRING},
	    {" \t\r\n1 \n", JSON_NUMBER}, {"[]", JSON_ARRAY},        {"{ }", JSON_OBJECT},    {"[\n]", JSON_ARRAY},
	};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		uint32_t k = yes(v[i].text);
		assert_int_equal(tape.tok[k].type, v[i].type);
		assert_int_equal(json_end(&tape, k), k + 1);
		assert_int_equal(tape.loose, 0);
	}
}

static void refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
	    "",
	    " ",
	    "nul",
	    "nulL",
	    "truefalse",
	    "true false",
	    "True",
	    "none",
	    "+1",
	    "-",
	    "--1",
	    "01",
	    "-01",
	    "1.",
	    ".5",
	    "1.e1",
	    "1e",
	    "1e+",
	    "1E-",
	    "0x10",
	    "1_000",
	    "-I",
	    "-Inf",
	    "Inf",
	    "nan",
	    "-NaN",
	    "\"",
	    "\"\\\"",
	    "'a'",
	    "\"\\x\"",
	    "\"\\u12\"",
	    "\"\\u12g4\"",
	    "\"\\U1234\"",
	    "\"\t\"",
	    "\"\n\"",
	    "[",
	    "]",
	    "[1",
	    "[1,",
	    "[1,]",
	    "[,1]",
	    "[1 2]",
	    "[1}",
	    "{",
	    "}",
	    "{\"a\"",
	    "{\"a\":",
	    "{\"a\":1",
	    "{\"a\":1,",
	    "{\"a\":1,}",
	    "{,}",
	    "{\"a\" 1}",
	    "{a:1}",
	    "{1:2}",
	    "{\"a\":1]",
	    "{\"a\":1:2}",
	    "{\"a\"}",
	    "[\"a\":1]",
	    "1,2",
	    "[]]",
	    "{}}",
	    "/*c*/1",
	    "1//c",
	    "\xef\xbb\xbf[]",
	    "[1,,2]",
	    "{\"a\":,\"b\":1}",
	    "\v1",
	    "1\f",
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		no(bad[i], strlen(bad[i]));
	no("1\0", 2);
	no("\"\0\"", 3);
	no("[\0]", 3);
}

/* A string's control bytes are found wherever they stand in a 16-byte stride. */
static void control_bytes(void **state)
{
	(void)state;
	char text[72];
	for (size_t n = 1; n < 70; n++)
		for (int c = 0; c < 0x20; c += 31) {
			memset(text, 'a', sizeof(text));
			text[0] = '"';
			text[n] = (char)c;
			text[71] = '"';
			no(text, 72);
			assert_int_equal(tape.error_at, n);
		}
}

static void string_lengths(void **state)
{
	(void)state;
	char text[200];
	memset(text, 0xc3, sizeof(text)); /* high bytes are no control bytes */
	text[0] = '"';
	for (size_t n = 1; n < sizeof(text); n++) {
		uint32_t k;
		text[n] = '"';
		assert_int_equal(parse(text, n + 1, &k), 0);
		assert_int_equal(tape.tok[k].len, n - 1);
		assert_int_equal(tape.tok[k].escaped, 0);
		no(text, n);
		text[n] = (char)0xc3;
	}
}

static void unescaped(const char *text, const char *want, size_t n, unsigned loose)
{
	struct buf b = {0};
	uint32_t k = yes(text);
	assert_int_equal(tape.loose, loose);
	json_unescape(&tape, k, &b);
	if (b.len != n || (n && memcmp(b.p, want, n)))
		fail_msg("%s became '%.*s'", text, (int)b.len, b.p);
	buf_release(&b);
}

static void escapes(void **state)
{
	(void)state;
	unescaped("\"\"", "", 0, 0);
	unescaped("\"plain\"", "plain", 5, 0);
	unescaped("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8, 0);
	unescaped("\"a\\u0000b\"", "a\0b", 3, 0);
	unescaped("\"\\u0041\\u00e9\\u00E9\\u20ac\\uffff\"", "A\xc3\xa9\xc3\xa9\xe2\x82\xac\xef\xbf\xbf", 11, 0);
	unescaped("\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80", 4, 0);
	unescaped("\"\\uD800\\uDC00\\udbff\\udfff\"", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8, 0);
	unescaped("\"\\\\u0041\"", "\\u0041", 6, 0);
}

static void lone_surrogates(void **state)
{
	(void)state;
	unescaped("\"\\ud83d\"", "\xef\xbf\xbd", 3, JSON_LOOSE_SURROGATE);
	unescaped("\"\\ude00\"", "\xef\xbf\xbd", 3, JSON_LOOSE_SURROGATE);
	unescaped("\"\\ud83dx\"", "\xef\xbf\xbdx", 4, JSON_LOOSE_SURROGATE);
	unescaped("\"\\ud83d\\u0041\"",
		  "\xef\xbf\xbd"
		  "A",
		  4, JSON_LOOSE_SURROGATE);
	unescaped("\"\\ud83d\\n\"", "\xef\xbf\xbd\n", 4, JSON_LOOSE_SURROGATE);
	unescaped("\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80", 7, JSON_LOOSE_SURROGATE);
	unescaped("\"\\ude00\\ud83d\"", "\xef\xbf\xbd\xef\xbf\xbd", 6, JSON_LOOSE_SURROGATE);
}

static void loose(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		unsigned loose;
	} v[] = {
	    {"NaN", JSON_LOOSE_NAN},
	    {"[Infinity]", JSON_LOOSE_NAN},
	    {"{\"a\":-Infinity}", JSON_LOOSE_NAN},
	    {"1e999", JSON_LOOSE_RANGE},
	    {"-1e999", JSON_LOOSE_RANGE},
	    {"[1E+400,NaN]", JSON_LOOSE_RANGE | JSON_LOOSE_NAN},
	    {"1e-999", 0},
	    {"1e308", 0},
	    {"0e999", 0},
	    {"{\"\\ud800\":1}", JSON_LOOSE_SURROGATE},
	};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		yes(v[i].text);
		assert_int_equal(tape.loose, v[i].loose);
	}
	yes("1"); /* set afresh */
	assert_int_equal(tape.loose, 0);
}

static void long_numbers(void **state)
{
	(void)state;
	/* 10^308 has 309 digits and is a double; 10^309 is none. */
	char text[420];
	memset(text, '0', sizeof(text));
	text[0] = '1';
	text[309] = 0;
	yes(text);
	assert_int_equal(tape.loose, 0);
	text[309] = '0';
	text[310] = 0;
	yes(text);
	assert_int_equal(tape.loose, JSON_LOOSE_RANGE);
}

static void number_text(void **state)
{
	(void)state;
	static const char *const v[] = {"9007199254740993", "0.1", "123456789012345678901234567890", "-0.0", "1E5", "18446744073709551616"};
	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		assert_text(json_slice(&tape, yes(v[i])), v[i]);
}

static void number_types(void **state)
{
	(void)state;
	uint64_t u;
	int64_t i;
	double d;
	assert_true(json_u64(&tape, yes("18446744073709551615"), &u) && u == UINT64_MAX);
	assert_false(json_u64(&tape, yes("18446744073709551616"), &u));
	assert_false(json_u64(&tape, yes("-1"), &u));
	assert_false(json_u64(&tape, yes("1.0"), &u));
	assert_false(json_u64(&tape, yes("1e2"), &u));
	assert_false(json_u64(&tape, yes("\"1\""), &u));
	assert_false(json_u64(&tape, NONE, &u));
	assert_true(json_i64(&tape, yes("-9223372036854775808"), &i) && i == INT64_MIN);
	assert_true(json_i64(&tape, yes("9223372036854775807"), &i) && i == INT64_MAX);
	assert_true(json_i64(&tape, yes("-0"), &i) && i == 0);
	assert_false(json_i64(&tape, yes("9223372036854775808"), &i));
	assert_false(json_i64(&tape, yes("-9223372036854775809"), &i));
	assert_false(json_i64(&tape, yes("-Infinity"), &i));
	assert_true(json_double(&tape, yes("0.1"), &d) && d == 0.1);
	assert_true(json_double(&tape, yes("-Infinity"), &d) && isinf(d) && d < 0);
	assert_true(json_double(&tape, yes("NaN"), &d) && isnan(d));
	assert_true(json_double(&tape, yes("0.1000000000000000055511151231257827021181583404541015625000000000000000"), &d) && d == 0.1);
	assert_false(json_double(&tape, yes("null"), &d));
	assert_false(json_double(&tape, NONE, &d));
}

static void nested(int depth, char open, int more, unsigned want_loose, bool ok)
{
	size_t unit = open == '[' ? 1 : 5, n = 0, len = (size_t)depth * (unit + 1) + 1;
	char *text = xmalloc(len);
	uint32_t root;
	for (int i = 0; i < depth; i++, n += unit)
		memcpy(text + n, open == '[' ? "[" : "{\"a\":", unit);
	if (open != '[')
		text[n++] = '1';
	for (int i = 0; i < depth - more; i++)
		text[n++] = open == '[' ? ']' : '}';
	int r = parse(text, n, &root);
	assert_int_equal(r, ok ? 0 : -1);
	if (ok) {
		assert_int_equal(tape.loose, want_loose);
		assert_int_equal(tape.tok[root].len, n);
		assert_int_equal(json_end(&tape, root), tape.n);
	}
	free(text);
}

static void depth_limits(void **state)
{
	(void)state;
	for (const char *c = "[{"; *c; c++) {
		nested(127, *c, 0, 0, true);
		nested(128, *c, 0, JSON_LOOSE_DEPTH, true);
		nested(4096, *c, 0, JSON_LOOSE_DEPTH, true);
		nested(4096, *c, 1, 0, false);
		nested(4097, *c, 0, 0, false);
		assert_string_equal(tape.error, "nested too deep");
		nested(1000000, *c, 0, 0, false);
	}
}

static void depth_is_not_length(void **state)
{
	(void)state;
	struct buf b = {0};
	buf_addc(&b, '[');
	for (int i = 0; i < 10000; i++)
		buf_adds(&b, "[[]],");
	buf_adds(&b, "0]");
	uint32_t root;
	assert_int_equal(parse(b.p, b.len, &root), 0);
	assert_int_equal(tape.loose, 0);
	buf_release(&b);
}

static const char sample[] =
    "{\"a\": [1, -2.5e3, true, false, null, \"x\\n\\u00e9\\ud83d\\ude00\"], \"b\\\"\": {}, \"c\": [],\n\"d\":{\"e\":[{}]}}";

static void truncated(void **state)
{
	(void)state;
	yes(sample);
	for (size_t n = 0; n < sizeof(sample) - 1; n++)
		no(sample, n);
}

static void one_byte_more(void **state)
{
	(void)state;
	char text[sizeof(sample)];
	memcpy(text, sample, sizeof(sample) - 1);
	for (int c = 0; c < 256; c++) {
		text[sizeof(sample) - 1] = (char)c;
		uint32_t root;
		bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
		assert_int_equal(parse(text, sizeof(sample), &root), space ? 0 : -1);
	}
}

static void error_offsets(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t at;
	} v[] = {
	    {"", 0},           {"  x", 2},          {"[1, x]", 4},       {"[1 2]", 3},  {"{\"a\" 1}", 5}, {"{\"a\":1 \"b\"}", 7},
	    {"{x}", 1},        {"1 2", 2},          {"[01]", 2},         {"[1.]", 1},   {"\"ab\\x\"", 3}, {"\"ab", 3},
	    {"[\"a\tb\"]", 3}, {"{\"k\\x\":1}", 3}, {"{\"k\tx\":1}", 3}, {"{\"abc", 5}, {"[1,2", 4},      {"{\"a\":1,}", 7},
	};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		no(v[i].text, strlen(v[i].text));
		if (tape.error_at != v[i].at)
			fail_msg("%s: error at %zu (%s), not at %zu", v[i].text, tape.error_at, tape.error, v[i].at);
	}
}

static void no_text_at_all(void **state)
{
	(void)state;
	struct buf empty = {0};
	struct json_tape t = {0};
	uint32_t root;
	json_tape_text(&t, empty.p, empty.len);
	assert_int_equal(json_parse(&t, 0, 0, &root), -1);
	assert_int_equal(t.error_at, 0);
	json_tape_release(&t);
}

static void several_documents(void **state)
{
	(void)state;
	static const char text[] = "x[1,{\"a\":2}]y\"s\"{bad}7";
	struct json_tape t = {0};
	uint32_t a, b, c, d = 99;
	json_tape_text(&t, text, sizeof(text) - 1);
	assert_int_equal(json_parse(&t, 1, 11, &a), 0);
	assert_int_equal(json_parse(&t, 13, 3, &b), 0);
	uint32_t before = t.n;
	assert_int_equal(json_parse(&t, 16, 5, &d), -1);
	assert_int_equal(t.n, before);
	assert_int_equal(d, 99);
	assert_int_equal(t.error_at, 17); /* in the text, not in the document */
	assert_int_equal(json_parse(&t, 21, 1, &c), 0);
	assert_null(t.error);
	assert_text(json_raw(&t, a), "[1,{\"a\":2}]");
	assert_text(json_raw(&t, b), "\"s\"");
	assert_text(json_slice(&t, b), "s");
	assert_text(json_raw(&t, c), "7");
	uint32_t obj = json_next(&t, json_first(&t, a));
	assert_text(json_raw(&t, json_get(&t, obj, "a")), "2");
	assert_int_equal(json_end(&t, a), b);
	json_tape_text(&t, "0", 1);
	assert_int_equal(t.n, 0);
	json_tape_release(&t);
}

static void members(void **state)
{
	(void)state;
	uint32_t k = yes("{\"a\":1,\"b\":{\"a\":2},\"a\":[3,4],\"\":5,\"ab\":6}");
	assert_text(json_raw(&tape, json_get(&tape, k, "a")), "[3,4]"); /* the last one */
	assert_text(json_raw(&tape, json_get(&tape, k, "")), "5");
	assert_int_equal(json_get(&tape, k, "c"), NONE);
	assert_int_equal(json_get(&tape, NONE, "a"), NONE);
	assert_int_equal(json_get(&tape, yes("[\"a\",1]"), "a"), NONE);
	assert_int_equal(json_get(&tape, yes("{}"), "a"), NONE);
	int n = 0;
	k = yes("{\"x\":[1,2],\"y\":{\"z\":{}},\"w\":0}");
	for (uint32_t i = json_first(&tape, k); i < json_end(&tape, k); i = json_next_pair(&tape, i))
		assert_int_equal(json_slice(&tape, i).p[0], "xyw"[n++]);
	assert_int_equal(n, 3);
}

/* ---- against jansson ---- */

static char *text_of(uint32_t k, size_t *n)
{
	struct buf b = {0};
	json_unescape(&tape, k, &b);
	*n = b.len;
	buf_room(&b, 0); /* of "" as well there is something to free */
	return b.p;
}

static void same(uint32_t k, const json_t *j)
{
	switch ((enum json_type)tape.tok[k].type) {
	case JSON_NULL: assert_true(json_typeof(j) == JANSSON_NULL); break;
	case JSON_FALSE: assert_true(json_typeof(j) == JANSSON_FALSE); break;
	case JSON_TRUE: assert_true(json_typeof(j) == JANSSON_TRUE); break;
	case JSON_NUMBER: {
		double d;
		int64_t i;
		if (json_is_integer(j)) {
			assert_true(json_i64(&tape, k, &i));
			assert_true(i == json_integer_value(j));
		} else {
			assert_true(json_is_real(j));
			assert_true(json_double(&tape, k, &d));
			assert_true(d == json_real_value(j));
		}
		break;
	}
	case JSON_STRING: {
		size_t n;
		char *s = text_of(k, &n);
		assert_true(json_typeof(j) == JANSSON_STRING);
		assert_int_equal(json_string_length(j), n);
		assert_memory_equal(json_string_value(j), s, n);
		free(s);
		break;
	}
	case JSON_ARRAY: {
		size_t n = 0;
		assert_true(json_typeof(j) == JANSSON_ARRAY);
		for (uint32_t i = json_first(&tape, k); i < json_end(&tape, k); i = json_next(&tape, i))
			same(i, json_array_get(j, n++));
		assert_int_equal(json_array_size(j), n);
		break;
	}
	case JSON_OBJECT: {
		size_t n = 0, len;
		assert_true(json_typeof(j) == JANSSON_OBJECT);
		for (uint32_t i = json_first(&tape, k); i < json_end(&tape, k); i = json_next_pair(&tape, i)) {
			char *key = text_of(i, &len);
			bool last = true; /* of two members of one name, jansson keeps the last */
			for (uint32_t o = json_next_pair(&tape, i); o < json_end(&tape, k); o = json_next_pair(&tape, o)) {
				size_t olen;
				char *other = text_of(o, &olen);
				last &= olen != len || memcmp(other, key, len);
				free(other);
			}
			if (last) {
				same(i + 1, json_object_get(j, key));
				n++;
			}
			free(key);
		}
		assert_int_equal(json_object_size(j), n);
		break;
	}
	}
}

/* jansson refuses integers beyond 64 bits, and NUL in member names. */
static bool jansson_cannot(void)
{
	for (uint32_t k = 0; k < tape.n; k++) {
		struct slice s = json_slice(&tape, k);
		int64_t i;
		if (tape.tok[k].type == JSON_NUMBER && !json_i64(&tape, k, &i) && !slice_chr(s, '.') && !slice_chr(s, 'e') &&
		    !slice_chr(s, 'E'))
			return true;
		if (tape.tok[k].type == JSON_STRING && slice_find(s, "\\u0000"))
			return true;
	}
	return false;
}

static bool cross_check(struct slice text)
{
	uint32_t root;
	json_error_t e;
	int r = parse(text.p, text.n, &root);
	bool ours = !r && !tape.loose && utf8_valid(text) && !jansson_cannot();
	json_t *j = json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
	if (j && !ours && !r && (tape.loose & JSON_LOOSE_DEPTH || jansson_cannot())) {
		json_decref(j);
		return true;
	}
	if (ours != (j != NULL))
		fail_msg("%.*s: ours %s, jansson %s: %s", SLN(text, 300), r ? tape.error : "accepts", j ? "accepts" : "refuses",
			 j ? "" : e.text);
	if (j)
		same(root, j);
	json_decref(j);
	return ours;
}

static void generate(struct buf *b, uint64_t *seed, int depth)
{
	static const char *const space[] = {"", "", "", " ", "\n", "\t\r "};
	static const char *const scalar[] = {
	    "null",
	    "true",
	    "false",
	    "0",
	    "-0",
	    "1",
	    "-17",
	    "9223372036854775807",
	    "-9223372036854775808",
	    "0.1",
	    "-1.5e-7",
	    "1715885247.9018195",
	    "2.5E+3",
	    "1e-400",
	    "\"\"",
	    "\"x\"",
	    "\"\\n\\\\\\\"\\/\"",
	    "\"\\u00e9\\ud83d\\ude00\"",
	    "\"\xc3\xa9 \xe2\x82\xac\"",
	    "\"a string that is longer than sixteen bytes, so that strides are crossed\\t\"",
	    "\"0123456789abcdef\"",
	};
	static const char *const key[] = {"a", "b", "name", "\\u0061", "", "a longer name of a member", "\xc3\xa9", "\\\"q\\\""};
	buf_adds(b, space[pick(seed, 6)]);
	uint32_t what = depth > 6 ? 2 : pick(seed, 4);
	if (what >= 2) {
		buf_adds(b, scalar[pick(seed, ARRAY_LEN(scalar))]);
	} else {
		uint32_t n = pick(seed, 5);
		buf_addc(b, what ? '{' : '[');
		for (uint32_t i = 0; i < n; i++) {
			if (i)
				buf_addc(b, ',');
			if (what)
				buf_addf(b, "%s\"%s\"%s:", space[pick(seed, 6)], key[pick(seed, ARRAY_LEN(key))], space[pick(seed, 6)]);
			generate(b, seed, depth + 1);
		}
		buf_adds(b, space[pick(seed, 6)]);
		buf_addc(b, what ? '}' : ']');
	}
	buf_adds(b, space[pick(seed, 6)]);
}

static void jansson_generated(void **state)
{
	(void)state;
	struct buf b = {0};
	uint64_t seed = 1;
	for (int i = 0; i < 3000; i++) {
		buf_reset(&b);
		generate(&b, &seed, 0);
		assert_true(cross_check(buf_slice(&b)));
	}
	buf_release(&b);
}

static void jansson_mutated(void **state)
{
	(void)state;
	static const char bytes[] = "{}[]:,\"\\\"0129eE+-.untrfals /u\n\t\xc3\xa9\xff";
	struct buf b = {0};
	uint64_t seed = 2;
	for (int i = 0; i < 3000; i++) {
		buf_reset(&b);
		generate(&b, &seed, 2);
		if (b.len > 400)
			continue;
		for (int m = 0; m < 8 && b.len; m++) {
			uint32_t at = pick(&seed, (uint32_t)b.len);
			char c = bytes[pick(&seed, sizeof(bytes) - 1)], was = b.p[at];
			b.p[at] = c;
			cross_check(buf_slice(&b));
			if (m & 1)
				b.p[at] = was;
		}
	}
	buf_release(&b);
}

/* Every envelope and every JSON payload of a recorded log. */
static void jansson_recorded(void **state)
{
	(void)state;
	static const char *const logs[] = {"traces/simple.log",     "traces/draft_export.log", "traces/recompiles.log.xz",
					   "traces/dynamic.log.xz", "broken/nonfinite.log",    "broken/surrogates.log",
					   "broken/deep.log",       "broken/numbers.log"};
	struct buf log = {0};
	unsigned seen = 0, accepted = 0;
	for (size_t i = 0; i < ARRAY_LEN(logs); i++) {
		if (!data_load(logs[i], &log))
			continue;
		struct slice rest = buf_slice(&log), line;
		while (slice_line(&rest, &line)) {
			const char *p = line.n && line.p[0] == '\t' ? line.p + 1 : slice_find(line, "] {");
			if (!p || p >= line.p + line.n)
				continue;
			p += line.p[0] == '\t' ? 0 : 2;
			seen++;
			accepted += cross_check(slice_of(p, (size_t)(line.p + line.n - p)));
		}
	}
	buf_release(&log);
	if (!seen) {
		print_message("# tests/data is not here\n");
		skip();
	}
	assert_true(accepted > 300);
}

/* ---- what is read is written, and read again ---- */

static void emit(struct json_out *o, uint32_t k)
{
	struct buf s = {0};
	switch ((enum json_type)tape.tok[k].type) {
	case JSON_NULL: json_out_null(o); break;
	case JSON_TRUE: json_out_bool(o, true); break;
	case JSON_FALSE: json_out_bool(o, false); break;
	case JSON_NUMBER: json_out_raw(o, json_slice(&tape, k)); break;
	case JSON_STRING:
		json_unescape(&tape, k, &s);
		json_out_str(o, buf_slice(&s));
		break;
	case JSON_ARRAY:
		json_arr(o);
		for (uint32_t i = json_first(&tape, k); i < json_end(&tape, k); i = json_next(&tape, i))
			emit(o, i);
		json_close(o);
		break;
	case JSON_OBJECT:
		json_obj(o);
		for (uint32_t i = json_first(&tape, k); i < json_end(&tape, k); i = json_next_pair(&tape, i)) {
			buf_reset(&s);
			json_unescape(&tape, i, &s);
			json_key(o, buf_str(&s));
			emit(o, i + 1);
		}
		json_close(o);
		break;
	}
	buf_release(&s);
}

static void round_trip(void **state)
{
	(void)state;
	struct buf b = {0}, out = {0}, again = {0};
	uint64_t seed = 3;
	for (int i = 0; i < 2000; i++) {
		uint32_t root;
		struct json_out o = {.b = &out, .html = i & 1}, o2 = {.b = &again, .html = i & 1};
		buf_reset(&b);
		buf_reset(&out);
		buf_reset(&again);
		generate(&b, &seed, 0);
		assert_int_equal(parse(b.p, b.len, &root), 0);
		emit(&o, root);
		json_t *j = json_loadb(b.p, b.len, JSON_DECODE_ANY, NULL);
		assert_non_null(j);
		assert_int_equal(parse(out.p, out.len, &root), 0);
		same(root, j);
		emit(&o2, root);
		assert_true(slice_eq(buf_slice(&out), buf_slice(&again)));
		json_decref(j);
	}
	buf_release(&b);
	buf_release(&out);
	buf_release(&again);
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
	    cmocka_unit_test(scalars),         cmocka_unit_test(refused),
	    cmocka_unit_test(control_bytes),   cmocka_unit_test(string_lengths),
	    cmocka_unit_test(escapes),         cmocka_unit_test(lone_surrogates),
	    cmocka_unit_test(loose),           cmocka_unit_test(long_numbers),
	    cmocka_unit_test(number_text),     cmocka_unit_test(number_types),
	    cmocka_unit_test(depth_limits),    cmocka_unit_test(depth_is_not_length),
	    cmocka_unit_test(truncated),       cmocka_unit_test(one_byte_more),
	    cmocka_unit_test(error_offsets),   cmocka_unit_test(several_documents),
	    cmocka_unit_test(members),         cmocka_unit_test(jansson_generated),
	    cmocka_unit_test(jansson_mutated), cmocka_unit_test(jansson_recorded),
	    cmocka_unit_test(no_text_at_all),  cmocka_unit_test_teardown(round_trip, clean),
	};
	return RUN(tests);
}
