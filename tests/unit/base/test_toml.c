/* libcommon/core/base/toml.h. Each text ends where memory does. */
#include "../../lib/test.h"

#include "base/buf.h"
#include "base/toml.h"

static const char *const type_name[] = {"string", "integer", "float", "bool", "date", "empty"};

/* "a.b string x" for each value, with its line where it is not on the first. */
static int put(void *ctx, const struct toml_value *v, struct err *err)
{
	struct buf *b = ctx;
	(void)err;
	if (b->len)
		buf_adds(b, "; ");
	for (unsigned i = 0; i < v->n_key; i++)
		buf_addf(b, "%s%.*s", i ? "." : "", SL(v->key[i]));
	buf_addf(b, "%s %s %.*s", v->in_array ? "[]" : "", type_name[v->type], SL(v->text));
	if (v->line != 1)
		buf_addf(b, " @%u", v->line);
	return 0;
}

static void read_text(const char *text, struct buf *b)
{
	struct guard g = {0};
	struct err err = {0};
	uint32_t line = 0;
	const size_t n = strlen(text);
	buf_reset(b);
	if (toml_read(slice_of(guard_put(&g, text, n), n), put, b, &line, &err) < 0) {
		buf_reset(b);
		buf_addf(b, "%u: %s", line, err.text);
	}
	guard_release(&g);
}

static const struct {
	const char *text, *want;
} values[] = {
    {"", ""},
    {"# only a comment", ""},
    {"\xef\xbb\xbf"
     "a = 1",
     "a integer 1"},
    {"a = 1\r\nb = 2\r\n", "a integer 1; b integer 2 @2"},
    {"a.\"b.c\".'d' = true", "a.b.c.d bool true"},
    {" a . b = false # why", "a.b bool false"},
    {"[t]\nx = -1_000\n[t.u]\ny = 0xFf\nz = 0b1_0", "t.x integer -1_000 @2; t.u.y integer 0xFf @4; t.u.z integer 0b1_0 @5"},
    {"[[t]]\nx = 1\n[[t]]\nx = 2", "t.x integer 1 @2; t.x integer 2 @4"},
    {"a = {b = 1, c.d = {e = 'x'}}", "a.b integer 1; a.c.d.e string x"},
    {"a = {}\nb = []", "b empty  @2"},
    {"a = [1, [2, 'x'], {b = 3}]", "a[] integer 1; a[] integer 2; a[] string x; a.b integer 3"},
    {"a = [ # first\n 1,\n\n # then\n 2,\n]\nb = 3", "a[] integer 1 @2; a[] integer 2 @5; b integer 3 @7"},
    {"a = 1.5e-3\nb = inf\nc = -nan", "a float 1.5e-3; b float inf @2; c float -nan @3"},
    {"a = 1979-05-27 07:32:00Z\nb = 07:32:00\nc = 1979-05-27", "a date 1979-05-27 07:32:00Z; b date 07:32:00 @2; c date 1979-05-27 @3"},
    {"a = \"t\\tn\\u00e9\\U0001F600\\\"\\\\\"", "a string t\tn\xc3\xa9\xf0\x9f\x98\x80\"\\"},
    {"a = 'C:\\n'", "a string C:\\n"},
    {"a = \"\"\"\none\ntwo \\\n   \n  three\"\"\"\nb = 1", "a string one\ntwo three; b integer 1 @6"},
    {"a = \"\"\"x\"\"\"\"\"", "a string x\"\""},
    {"a = ''''''\nb = ''", "a string ; b string  @2"},
    {"a", "1: expected '=' after a key"},
    {"= 1", "1: expected a key"},
    {"a = ", "1: expected a value"},
    {"a = 1 b = 2", "1: expected the end of the line"},
    {"\n\na = x", "3: expected a value"},
    {"a = 'x", "1: unfinished string"},
    {"a = \"x\ny\"", "1: unfinished string"},
    {"a = \"\\q\"", "1: unknown escape in a string"},
    {"a = \"\\ud800\"", "1: not a Unicode character"},
    {"a = \"\\u00\"", "1: expected hexadecimal digits after \\u"},
    {"a = '\xff'", "1: invalid UTF-8 in a string"},
    {"a = '\x01'", "1: control character in a string"},
    {"a = [1, 2", "1: expected ',' or ']' in an array"},
    {"a = [1 2]", "1: expected ',' or ']' in an array"},
    {"a = {b = 1", "1: expected ',' or '}' in an inline table"},
    {"[a", "1: expected ']' after the name of a table"},
    {"[[a]", "1: expected ']' after the name of a table"},
    {"[a] b = 1", "1: expected the end of the line"},
    {"a = __1", "1: expected a value"},
};

static void texts(void **state)
{
	LOCAL_BUF b = {0};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		read_text(values[i].text, &b);
		if (strcmp(buf_str(&b), values[i].want) != 0)
			fail_msg("%s\n got: %s\nwant: %s", values[i].text, buf_str(&b), values[i].want);
	}
}

/* Every beginning of a text is read or refused, never read beyond. */
static void cut_texts(void **state)
{
	LOCAL_BUF b = {0};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		for (size_t n = strlen(values[i].text); n-- > 0;) {
			FREED char *text = xstrndup(values[i].text, n);
			read_text(text, &b);
		}
}

static void depth(void **state)
{
	LOCAL_BUF text = {0};
	LOCAL_BUF b = {0};
	(void)state;
	buf_adds(&text, "a = ");
	for (int i = 0; i < 100000; i++)
		buf_addc(&text, '[');
	read_text(buf_str(&text), &b);
	assert_string_equal(buf_str(&b), "1: nested too deeply");
	buf_reset(&text);
	for (int i = 0; i < 1000; i++)
		buf_adds(&text, "a.");
	read_text(buf_str(&text), &b);
	assert_string_equal(buf_str(&b), "1: key of too many parts");
}

static int stop(void *ctx, const struct toml_value *v, struct err *err)
{
	(void)ctx;
	return v->line < 2 ? 0 : err_set(err, EXIT_USAGE, "no %.*s", SL(v->key[0]));
}

static void stopped(void **state)
{
	struct err err = {0};
	uint32_t line = 0;
	(void)state;
	assert_int_equal(toml_read(SLICE("a = 1\nb = 2\nc = 3"), stop, NULL, &line, &err), -1);
	assert_int_equal(line, 2);
	assert_string_equal(err.text, "no b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(cut_texts), cmocka_unit_test(depth),
					   cmocka_unit_test(stopped)};
	return RUN(tests);
}
