/* base/json: the emitter, and how texts are escaped. */
#include "../../lib/test.h"

#include <math.h>

#include "base/json.h"

static void emitter(void **state)
{
	(void)state;
	struct buf b = {0};
	struct json_out o = {.b = &b};
	json_obj(&o);
	json_key(&o, "s");
	json_out_str(&o, SLICE("ends in :"));
	json_key(&o, "colon:");
	json_arr(&o);
	json_out_str(&o, SLICE(":"));
	json_out_u64(&o, UINT64_MAX);
	json_out_i64(&o, INT64_MIN);
	json_out_i64(&o, 5);
	json_out_bool(&o, true);
	json_out_null(&o);
	json_out_raw(&o, SLICE("{\"raw\":1.50}"));
	json_arr(&o);
	json_close(&o);
	json_obj(&o);
	json_close(&o);
	json_close(&o);
	json_key(&o, "last");
	json_out_bool(&o, false);
	json_close(&o);
	assert_string_equal(buf_str(&b), "{\"s\":\"ends in :\",\"colon:\":[\":\",18446744073709551615,-9223372036854775808,5,true,null,"
					 "{\"raw\":1.50},[],{}],\"last\":false}");
	assert_int_equal(o.depth, 0);
	buf_release(&b);
}

static void emitter_rows(void **state)
{
	(void)state;
	struct buf b = {0};
	struct json_out o = {.b = &b};
	json_obj(&o);
	json_rows(&o, "none", i, 0)
		json_member_u64(&o, "i", i);
	json_rows(&o, "rows", i, 3) {
		if (i == 1)
			continue;
		json_rows(&o, "inner", k, i)
			json_member_u64(&o, "k", k);
	}
	json_close(&o);
	assert_string_equal(buf_str(&b), "{\"none\":[],\"rows\":[{\"inner\":[]},{},{\"inner\":[{\"k\":0},{\"k\":1}]}]}");
	assert_int_equal(o.depth, 0);
	buf_release(&b);
}

/* Members by the names of a struct's: the type decides the form. */
static void emitter_fields(void **state)
{
	(void)state;
	const struct {
		uint64_t count;
		int64_t below;
		bool good;
		const char *name;
		struct slice text, none;
		uint8_t a, b, c, d, e, last;
	} row = {UINT64_MAX, -5, true, "n", SLICE("t"), SLICE(""), 1, 2, 3, 4, 5, 6};
	struct buf b = {0};
	struct json_out o = {.b = &b};
	json_obj(&o);
	json_fields(&o, row, count, below, good, name, text, none, a, b, c, d, e, last);
	json_fields(&o, row, a);
	assert_false(json_member_obj_if(&o, "no", false));
	assert_true(json_member_obj_if(&o, "yes", true));
	json_close(&o);
	json_close(&o);
	assert_string_equal(buf_str(&b),
			    "{\"count\":18446744073709551615,\"below\":-5,\"good\":true,\"name\":\"n\",\"text\":\"t\",\"none\":null,"
			    "\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"last\":6,\"a\":1,\"no\":null,\"yes\":{}}");
	buf_release(&b);
}

/* A key with its value, of each type, and of what may be missing. */
static void emitter_members(void **state)
{
	struct buf b = {0};
	struct json_out o = {.b = &b};
	struct intern names = {0};
	const int64_t sizes[] = {2, -1};
	const struct slice texts[] = {SLICE("x"), SLICE("")};
	(void)state;
	json_obj(&o);
	json_member_obj(&o, "obj");
	json_close(&o);
	json_member_arr(&o, "arr");
	json_out_u64(&o, 1);
	json_close(&o);
	json_member_str(&o, "str", SLICE("a\"b"));
	json_member_str(&o, "empty", SLICE(""));
	json_member_u64(&o, "u64", UINT64_MAX);
	json_member_i64(&o, "i64", INT64_MIN);
	json_member_double(&o, "double", 1.25, 1);
	json_member_bool(&o, "yes", true);
	json_member_bool(&o, "no", false);
	json_member_null(&o, "null");
	json_member_raw(&o, "raw", SLICE("[1.50]"));
	json_member(&o, "text", SLICE("t"));
	json_member(&o, "no text", SLICE(""));
	json_member_some(&o, "some", SLICE("t"));
	json_member_some(&o, "none", SLICE(""));
	json_member_name(&o, "name", &names, intern_add(&names, SLICE("")));
	json_member_name(&o, "no name", &names, NONE);
	json_member_count(&o, "count", 0);
	json_member_count(&o, "no count", -1);
	json_member_seconds(&o, "seconds", 0.5);
	json_member_seconds(&o, "no seconds", -1);
	json_member_index(&o, "index", 3);
	json_member_index(&o, "no index", UINT32_MAX);
	json_member_i64s(&o, "i64s", sizes, 2);
	json_member_texts(&o, "texts", texts, 2);
	json_member_lines(&o, "lines", SLICE("a\nb\n"));
	json_close(&o);
	assert_string_equal(buf_str(&b),
			    "{\"obj\":{},\"arr\":[1],\"str\":\"a\\\"b\",\"empty\":\"\",\"u64\":18446744073709551615,"
			    "\"i64\":-9223372036854775808,\"double\":1.2,\"yes\":true,\"no\":false,\"null\":null,\"raw\":[1.50],"
			    "\"text\":\"t\",\"no text\":null,\"some\":\"t\",\"name\":\"\",\"no name\":null,\"count\":0,"
			    "\"no count\":null,\"seconds\":0.5,\"no seconds\":null,\"index\":3,\"no index\":null,"
			    "\"i64s\":[2,-1],\"texts\":[\"x\",\"\"],\"lines\":[\"a\",\"b\"]}");
	intern_release(&names);
	buf_release(&b);
}

/* Written in pieces: the buffer may be emptied at any point. */
static void emitter_in_pieces(void **state)
{
	(void)state;
	struct buf b = {0}, all = {0};
	struct json_out o = {.b = &b};
#define STEP(x) ((x), buf_add_slice(&all, buf_slice(&b)), buf_reset(&b))
	STEP(json_obj(&o));
	STEP(json_key(&o, "a"));
	STEP(json_arr(&o));
	STEP(json_out_u64(&o, 1));
	STEP(json_out_u64(&o, 2));
	STEP(json_obj(&o));
	STEP(json_close(&o));
	STEP(json_close(&o));
	STEP(json_key(&o, "b"));
	STEP(json_out_null(&o));
	STEP(json_close(&o));
	assert_string_equal(buf_str(&all), "{\"a\":[1,2,{}],\"b\":null}");
	buf_release(&b);
	buf_release(&all);
}

/* Numbers of all sizes, and many that lie in the middle of two, as printf() rounds them. */
static void emitter_doubles_rounded(void **state)
{
	(void)state;
	struct buf b = {0};
	uint64_t seed = 1;
	for (int i = 0; i < 100000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		double v = i % 2 ? (double)(seed >> 34) * 0.5e-6 : (double)(int64_t)seed / (double)(UINT64_C(1) << (seed >> 10) % 64);
		int decimals = (int)((seed >> 20) % 10);
		char want[64];
		int n = snprintf(want, sizeof(want), "%.*f", decimals, i % 3 ? v : -v);
		while (decimals && want[n - 1] == '0')
			n--;
		want[n - (decimals && want[n - 1] == '.')] = 0;
		struct json_out o = {.b = &b};
		buf_reset(&b);
		json_out_double(&o, i % 3 ? v : -v, decimals);
		assert_string_equal(buf_str(&b), want);
	}
	buf_release(&b);
}

static void emitter_doubles(void **state)
{
	(void)state;
	struct buf b = {0};
	struct json_out o = {.b = &b};
	json_arr(&o);
	json_out_double(&o, 1.5, 3);
	json_out_double(&o, 100, 0);
	json_out_double(&o, 100, 2);
	json_out_double(&o, -0.25, 6);
	json_out_double(&o, 1e20, 1);
	json_out_double(&o, NAN, 3);
	json_out_double(&o, INFINITY, 3);
	json_close(&o);
	assert_string_equal(buf_str(&b), "[1.5,100,100,-0.25,100000000000000000000,null,null]");
	buf_release(&b);
}

static void emitter_nests(void **state)
{
	(void)state;
	struct buf b = {0};
	struct json_out o = {.b = &b};
	enum { DEPTH = 63 };
	for (int i = 0; i < DEPTH; i++) {
		if (i & 1) {
			json_obj(&o);
			json_key(&o, "k");
		} else {
			json_arr(&o);
			json_out_u64(&o, 0);
		}
	}
	json_out_null(&o);
	for (int i = DEPTH; i-- > 0;) {
		json_close(&o);
		if (i && i & 1)
			json_out_u64(&o, 1);
	}
	struct json_tape tape = {0};
	uint32_t root;
	json_tape_text(&tape, b.p, b.len);
	assert_int_equal(json_parse(&tape, 0, b.len, &root), 0);
	json_tape_release(&tape);
	buf_release(&b);
}

static void escaped(struct slice in, bool html, const char *want)
{
	struct buf b = {0};
	struct guard g = {0};
	json_escape(&b, slice_of(guard_put(&g, in.p, in.n), in.n), html);
	assert_string_equal(buf_str(&b), want);
	guard_release(&g);
	buf_release(&b);
}

static void raw_text_is_escaped(void **state)
{
	struct buf b = {0};
	(void)state;
	json_add_raw(&b, SLICE("{\"\xe2\x80\xae\x7f\\u202e\": \"\xc2\x9b\xc3\x9b\xd8\x9c\"}"));
	assert_string_equal(buf_str(&b), "{\"\\u202e\\u007f\\u202e\": \"\\u009b\xc3\x9b\\u061c\"}");
	buf_release(&b);
}

static void escape(void **state)
{
	(void)state;
	escaped(SLICE("\"\\/\b\f\n\r\t"), false, "\\\"\\\\/\\b\\f\\n\\r\\t");
	escaped(slice_of("\0\x01\x0b\x0e\x1f\x7f", 6), false, "\\u0000\\u0001\\u000b\\u000e\\u001f\\u007f");
	/* What would drive a terminal or turn text around; not what only looks like it. */
	escaped(SLICE("\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xd8\x9c"), false, "\\u009b\\u202e\\u2066\\u061c");
	escaped(SLICE("\xc2\xa0\xe2\x80\x93\x9b"), false, "\xc2\xa0\xe2\x80\x93\xef\xbf\xbd");
	escaped(SLICE("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), false, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	escaped(SLICE("</script><!--"), false, "</script><!--");
	escaped(SLICE("</script><!--"), true, "\\u003c/script>\\u003c!--");
	escaped(slice_of(NULL, 0), false, "");
}

static void escape_repairs(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} v[] = {
	    {"a\xff"
	     "b",
	     "a?b"},
	    {"\x80", "?"},
	    {"\xc3", "?"},
	    {"\xc3(", "?("},
	    {"\xe2\x82", "??"},
	    {"\xc0\xaf", "??"},
	    {"\xed\xa0\x80", "???"},
	    {"\xf5\x80\x80\x80", "????"},
	    {"\xf4\x90\x80\x80", "????"},
	    {"\xe0\x80\x80", "???"},
	    {"\xf0\x80\x80\x80", "????"},
	    {"\xc3\xa9\x80", "\xc3\xa9?"},
	    {"\xf0\x9f\x98", "???"},
	};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		struct buf want = {0};
		for (const char *p = v[i].out; *p; p++)
			if (*p == '?')
				buf_adds(&want, "\xef\xbf\xbd");
			else
				buf_addc(&want, *p);
		escaped(slice_str(v[i].in), false, buf_str(&want));
		assert_false(utf8_valid(slice_str(v[i].in)));
		buf_release(&want);
	}
}

static void utf8(void **state)
{
	(void)state;
	assert_true(utf8_valid(slice_of(NULL, 0)));
	assert_true(utf8_valid(SLICE("plain text of some length, all of it ASCII")));
	assert_true(utf8_valid(SLICE("\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf")));
	/* A bad byte is found at every place of an 8-byte stride, and a cut sequence at the end of memory. */
	struct guard g = {0};
	char text[40];
	for (size_t n = 1; n <= sizeof(text); n++) {
		memset(text, 'a', n);
		assert_true(utf8_valid(slice_of(guard_put(&g, text, n), n)));
		for (size_t i = 0; i < n; i++) {
			text[i] = (char)0xf0;
			assert_false(utf8_valid(slice_of(guard_put(&g, text, n), n)));
			text[i] = 'a';
		}
	}
	guard_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(emitter),
	    cmocka_unit_test(emitter_members),
	    cmocka_unit_test(emitter_in_pieces),
	    cmocka_unit_test(emitter_doubles),
	    cmocka_unit_test(emitter_doubles_rounded),
	    cmocka_unit_test(emitter_nests),
	    cmocka_unit_test(raw_text_is_escaped),
	    cmocka_unit_test(escape),
	    cmocka_unit_test(escape_repairs),
	    cmocka_unit_test(utf8),
	    cmocka_unit_test(emitter_rows),
	    cmocka_unit_test(emitter_fields),
	};
	return RUN(tests);
}
