/* html: nothing gets out of the text it stands in. */
#include "../../lib/test.h"

#include "base/html/html.h"
#include "base/json.h"

static struct buf b;

static void text(struct slice in, const char *want)
{
	struct guard g = {0};
	buf_reset(&b);
	html_text(&b, slice_of(guard_put(&g, in.p, in.n), in.n));
	assert_string_equal(buf_str(&b), want);
	assert_true(utf8_valid(buf_slice(&b)));
	guard_release(&g);
}

static void escapes(void **state)
{
	(void)state;
	text(SLICE("<script>&\"'"), "&lt;script&gt;&amp;&quot;&#39;");
	text(SLICE("&amp;"), "&amp;amp;");
	text(SLICE("plain; \xc3\xa9\n\t`"), "plain; \xc3\xa9\n\t`");
	text(slice_of("a\0b", 3), "a\xef\xbf\xbd"
				  "b");
	text(SLICE("a\x1b[1m\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\x93\r\n"),
	     "a\xef\xbf\xbd[1m\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xe2\x80\x93&#13;\n");
	buf_reset(&b);
	html_text(&b, slice_of(NULL, 0));
	assert_int_equal(b.len, 0);
}

static void holes(void **state)
{
	(void)state;
	buf_reset(&b);
	html_put(&b, "<b title=\"{}\">{}</b>{}", SLICE("\"{}\""), SLICE("<i>"), slice_of(NULL, 0));
	assert_string_equal(buf_str(&b), "<b title=\"&quot;{}&quot;\">&lt;i&gt;</b>");
	buf_reset(&b);
	html_put(&b, "{} {} {", SLICE("one"));
	assert_string_equal(buf_str(&b), "one {} {");
}

static void bad_utf8(void **state)
{
	(void)state;
#define R "\xef\xbf\xbd"
	text(SLICE("a\xff"
		   "b"),
	     "a" R "b");
	text(SLICE("\xc3"), R);
	text(SLICE("<\x80>"), "&lt;" R "&gt;"); /* only the bad byte is lost */
	text(SLICE("\xc3\xa9\x80x"), "\xc3\xa9" R "x");
	text(SLICE("\xe2\x82<"), R R "&lt;");
	text(SLICE("\xf0\x9f\x98\x80\xf8"), "\xf0\x9f\x98\x80" R);
	text(SLICE("\xed\xa0\x80"), R R R);
	text(slice_of("\xff\0<", 3), R R "&lt;");
}

static void text_and_json_repair_alike(void **state)
{
	(void)state;
	struct buf j = {0};
	uint64_t seed = 5;
	for (int i = 0; i < 3000; i++) {
		static const char bytes[] = "a\x84\xbf\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\xff";
		char in[12];
		size_t n = pick(&seed, sizeof(in));
		for (size_t k = 0; k < n; k++)
			in[k] = bytes[pick(&seed, sizeof(bytes) - 1)];
		buf_reset(&b);
		buf_reset(&j);
		html_text(&b, slice_of(in, n));
		json_escape(&j, slice_of(in, n), false);
		assert_true(slice_eq(buf_slice(&b), buf_slice(&j)));
	}
	buf_release(&j);
}

static void hrefs(void **state)
{
	(void)state;
	static const char *const v[][2] = {
	    {"-_0_0_0/aot_forward_graph_12.txt", "-_0_0_0/aot_forward_graph_12.txt"},
	    {"a b#c?d%e", "a%20b%23c%3Fd%25e"},
	    {"<lambda>\"'&", "%3Clambda%3E%22%27%26"},
	    {"javascript:alert(1)", "javascript%3Aalert%281%29"},
	    {"\xc3\xa9\x01\x7f\xff\\", "%C3%A9%01%7F%FF%5C"},
	};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		buf_reset(&b);
		html_href(&b, slice_str(v[i][0]));
		assert_string_equal(buf_str(&b), v[i][1]);
	}
	buf_reset(&b);
	html_href(&b, slice_of("\0", 1));
	assert_string_equal(buf_str(&b), "%00");
}

static void links(void **state)
{
	(void)state;
	buf_reset(&b);
	html_link(&b, SLICE("x<\">.txt"), SLICE("<b>"));
	assert_string_equal(buf_str(&b), "<a href=\"x%3C%22%3E.txt\">&lt;b&gt;</a>");
}

static void urls(void **state)
{
	(void)state;
	buf_reset(&b);
	html_url(&b, SLICE("https://x.org/?a=1&b=\"'<"), SLICE("t<"));
	assert_string_equal(buf_str(&b), "<a rel=\"noopener noreferrer\" href=\"https://x.org/?a=1&amp;b=&quot;&#39;&lt;\">t&lt;</a>");
	static const char *const no[] = {"javascript:alert(1)", "data:text/html,x", "",     "//x.org", "ftp://x",
					 " https://x",          "HTTPS:",           "https"};
	for (size_t i = 0; i < ARRAY_LEN(no); i++) {
		buf_reset(&b);
		html_url(&b, slice_str(no[i]), SLICE("text"));
		assert_string_equal(buf_str(&b), "text");
	}
}

static void shared_files(void **state)
{
	(void)state;
	assert_int_equal(share_file("no/such").n, 0);
	assert_int_equal(share_file("").n, 0);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(escapes),      cmocka_unit_test(bad_utf8), cmocka_unit_test(text_and_json_repair_alike),
	    cmocka_unit_test(hrefs),        cmocka_unit_test(links),    cmocka_unit_test(urls),
	    cmocka_unit_test(shared_files), cmocka_unit_test(holes),
	};
	return RUN(tests);
}
