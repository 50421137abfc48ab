/* base: slices, err, buf, arena, intern, base64. */
#include "../../lib/test.h"

#include <errno.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/hash.h"
#include "base/text.h"

static void slice_u64_limits(void **state)
{
	(void)state;
	uint64_t v = 7;
	assert_true(slice_u64(SLICE("0"), &v) && v == 0);
	assert_true(slice_u64(SLICE("18446744073709551615"), &v) && v == UINT64_MAX);
	assert_true(slice_u64(SLICE("00000000000000000000000000012"), &v) && v == 12);
	static const char *const no[] = {"",   "18446744073709551616", "99999999999999999999999", "-1", "+1", " 1", "1 ", "1.0", "0x1",
					 "1e3"};
	for (size_t i = 0; i < ARRAY_LEN(no); i++) {
		v = 7;
		if (slice_u64(slice_str(no[i]), &v))
			fail_msg("'%s' read as a number", no[i]);
		assert_int_equal(v, 7);
	}
}

static void slice_u64_is_bounded(void **state)
{
	(void)state;
	struct guard g = {0};
	uint64_t v;
	assert_true(slice_u64(slice_of(guard_put(&g, "123", 3), 3), &v) && v == 123);
	guard_release(&g);
}

static void text_for_a_terminal(void **state)
{
	static const char *const pairs[][2] = {
	    {"caf\xc3\xa9 \xe2\x80\x93 \xe6\x97\xa5", "caf\xc3\xa9 \xe2\x80\x93 \xe6\x97\xa5"}, /* U+2013, of the same block */
	    {"a\tb\nc\rd\x1b[31m\x7f", "a b c?d?[31m?"},
	    {"\xc2\x9b"
	     "31m \xc2\xa0",
	     "??31m \xc2\xa0"},
	    {"x\xe2\x80\xae"
	     "txt.exe\xe2\x81\xa9",
	     "x???txt.exe???"},
	    {"x\xd8\x9c\xe2\x80\x8f", "x?????"},
	    {"\x9b"
	     "31m\xe9 \xc3\x9b",
	     "?31m\xe9 \xc3\x9b"}, /* C1 of eight bits; within a character it is none */
	    {"\xe2\x80", "\xe2?"}, /* cut off, so that what comes next is no character together with it */
	    {"\xc2", "\xc2"},
	    {"", ""},
	};
	struct guard g = {0};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		size_t n = strlen(pairs[i][0]);
		char *p = guard_put(&g, pairs[i][0], n);
		clean_text(p, n);
		assert_memory_equal(p, pairs[i][1], n);
	}
	char lines[] = "a\tb\r\nc\rd\n\r";
	clean_lines(lines, strlen(lines));
	assert_string_equal(lines, "a\tb\r\nc?d\n?");
	guard_release(&g);
}

static void slice_lines(void **state)
{
	(void)state;
	struct slice rest = SLICE("a\n\nb\r\nlast"), line;
	assert_true(slice_line(&rest, &line));
	assert_text(line, "a");
	assert_true(slice_line(&rest, &line));
	assert_text(line, "");
	assert_true(slice_line(&rest, &line));
	assert_text(line, "b\r");
	assert_true(slice_line(&rest, &line));
	assert_text(line, "last");
	assert_false(slice_line(&rest, &line));
	rest = SLICE("x\n");
	assert_true(slice_line(&rest, &line));
	assert_false(slice_line(&rest, &line));
}

static void slice_questions(void **state)
{
	(void)state;
	assert_true(slice_eq(slice_of(NULL, 0), SLICE("")));
	assert_false(slice_eq(SLICE("a"), SLICE("b")));
	assert_true(slice_starts(SLICE("abc"), "ab") && slice_starts(SLICE("abc"), "") && !slice_starts(SLICE("a"), "ab"));
	assert_true(slice_ends(SLICE("abc"), "bc") && !slice_ends(SLICE("c"), "bc"));
	struct slice s = SLICE("one two");
	assert_ptr_equal(slice_find(s, "two"), s.p + 4);
	assert_null(slice_find(s, "three"));
	assert_null(slice_find(slice_of(NULL, 0), "x"));
	assert_text(slice_trim(SLICE(" \t\r\n a b \n")), "a b");
	assert_int_equal(slice_trim(SLICE(" \n ")).n, 0);
	assert_int_equal(slice_trim(slice_of(NULL, 0)).n, 0);
}

static void slice_find_with_nul(void **state)
{
	(void)state;
	struct slice s = slice_of("a\0b", 3);
	assert_ptr_equal(slice_find(s, "b"), s.p + 2);
	assert_false(slice_is(s, "a"));
}

static void err_text(void **state)
{
	(void)state;
	struct err e;
	assert_int_equal(err_set(&e, EXIT_INPUT, "cannot read '%s'", "x"), -1);
	assert_int_equal(e.status, EXIT_INPUT);
	assert_string_equal(e.text, "cannot read 'x'");
	errno = ENOENT;
	err_errno(&e, EXIT_ENVIRON, "cannot open '%s'", "y");
	assert_string_equal(e.text, "cannot open 'y': No such file or directory");
	assert_int_equal(err_set(NULL, EXIT_INPUT, "nobody listens"), -1);
}

static void err_text_is_cut(void **state)
{
	(void)state;
	struct err e;
	char *longer = xmalloc(3000);
	memset(longer, 'x', 2999);
	longer[2999] = 0;
	errno = EIO;
	err_errno(&e, EXIT_INPUT, "%s", longer);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	free(longer);
}

static void grow_cap_holds(void **state)
{
	(void)state;
	assert_true(grow_cap(0, 1) >= 1);
	assert_true(grow_cap(16, 17) >= 17);
	assert_int_equal(grow_cap(16, 1000), 1000);
	assert_true(grow_cap(1000, 1001) >= 1500); /* in proportion, or appending is quadratic */
}

static void buf_grows(void **state)
{
	(void)state;
	struct buf b = {0};
	assert_string_equal(buf_str(&b), "");
	for (int i = 0; i < 10000; i++)
		buf_addc(&b, (char)('a' + i % 26));
	assert_int_equal(b.len, 10000);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(b.p[i], 'a' + i % 26);
	buf_reset(&b);
	buf_adds(&b, "xyz");
	assert_string_equal(buf_str(&b), "xyz");
	assert_int_equal(b.len, 3);
	buf_release(&b);
	assert_null(b.p);
}

static void buf_nothing(void **state)
{
	(void)state;
	struct buf b = {0};
	buf_add(&b, NULL, 0);
	buf_add_slice(&b, slice_of(NULL, 0));
	assert_null(b.p);
	assert_int_equal(buf_slice(&b).n, 0);
}

static void buf_format(void **state)
{
	(void)state;
	struct buf b = {0};
	/* Around the room that the first try has, and far beyond. */
	for (int n = 0; n < 300; n++) {
		buf_release(&b);
		buf_addf(&b, "%*d", n, 7);
		assert_int_equal(b.len, n > 1 ? n : 1);
		assert_int_equal(b.p[b.len - 1], '7');
	}
	buf_addf(&b, "%s", "");
	buf_reset(&b);
	buf_add_u64(&b, 0);
	buf_addc(&b, ' ');
	buf_add_u64(&b, UINT64_MAX);
	assert_string_equal(buf_str(&b), "0 18446744073709551615");
	buf_release(&b);
}

static void buf_word(void **state)
{
	(void)state;
	static const char *const words[][2] = {{"a-b_c.d/e:1,f=g+h@i%j", "a-b_c.d/e:1,f=g+h@i%j"},
					       {"", "''"},
					       {"a b", "'a b'"},
					       {"it's", "'it'\\''s'"},
					       {"~", "'~'"},
					       {"$x\n", "'$x\n'"}};
	struct buf b = {0};
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		buf_reset(&b);
		buf_add_word(&b, words[i][0]);
		assert_string_equal(buf_str(&b), words[i][1]);
	}
	buf_release(&b);
}

static void slice_searched(void **state)
{
	(void)state;
	struct guard g = {0};
	const char *p = guard_put(&g, "a/b/c", 5);
	const struct slice s = slice_of(p, 5), none = slice_of(NULL, 0);
	assert_ptr_equal(slice_chr(s, '/'), p + 1);
	assert_ptr_equal(slice_rchr(s, '/'), p + 3);
	assert_null(slice_chr(s, 'x'));
	assert_null(slice_chr(none, 0));
	assert_null(slice_rchr(none, 0));
	assert_true(slice_cmp(s, SLICE("a/b")) > 0 && slice_cmp(SLICE("a/b"), s) < 0 && slice_cmp(s, SLICE("b")) < 0);
	assert_true(!slice_cmp(none, SLICE("")) && slice_cmp(none, s) < 0 && slice_cmp(SLICE("\xff"), s) > 0);
	guard_release(&g);
}

static void slice_printed(void **state)
{
	(void)state;
	struct buf b = {0};
	struct guard g = {0};
	struct slice s = slice_of(guard_put(&g, "abcd", 4), 4);
	buf_addf(&b, "%.*s|%.*s|%.*s|%.*s|%.*s|", SL(s), SLN(s, 3), SLN(s, 9), SLN(s, 0), SL(slice_of(NULL, 0)));
	assert_string_equal(buf_str(&b), "abcd|abc|abcd|||");
	assert_int_equal(slice_prec(SIZE_MAX, INT_MAX), INT_MAX); /* a precision that is negative is none */
	guard_release(&g);
	buf_release(&b);
}

static void text_seconds(double s, struct buf *b) { put_seconds(b, s); }
static void text_duration(double ns, struct buf *b) { put_duration(b, (uint64_t)ns); }
static void text_us(double ns, struct buf *b) { put_us(b, (uint64_t)ns); }
static void text_bytes(double n, struct buf *b) { put_bytes(b, (uint64_t)n); }
static void text_count(double n, struct buf *b) { put_count(b, (uint64_t)n, "call"); }

static void numbers_for_people(void **state)
{
	(void)state;
	static const struct {
		void (*put)(double, struct buf *);
		double v;
		const char *want;
	} row[] = {
	    {text_seconds, 0.000085, "85 us"},
	    {text_seconds, 0.203, "203 ms"},
	    {text_seconds, 5.2, "5.20 s"},
	    {text_seconds, 119.99, "119.99 s"},
	    {text_seconds, 125, "2 min 5 s"},
	    {text_seconds, 0, "0 us"},
	    {text_duration, 1249999999, "1.25 s"},
	    {text_duration, 999990000, "999.99 ms"},
	    {text_seconds, 179.7, "3 min 0 s"},
	    {text_seconds, 2e12, "2000000000000.00 s"},
	    {text_duration, 9870, "9.87 us"},
	    {text_duration, 12340, "12.3 us"},
	    {text_duration, 999999, "1000.0 us"},
	    {text_duration, 4560000, "4.56 ms"},
	    {text_us, 9870, "9.87"},
	    {text_us, 4560000, "4560.0"},
	    {text_bytes, 512, "512 bytes"},
	    {text_bytes, 1000, "1.00 KB"},
	    {text_bytes, 66300, "66.3 KB"},
	    {text_bytes, 123000000, "123 MB"},
	    {text_bytes, 1.8e19, "18.0 EB"},
	    {text_count, 1, "1 call"},
	    {text_count, 0, "0 calls"},
	    {text_count, 1e15, "1000000000000000 calls"},
	};
	struct buf b = {0};
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		buf_reset(&b);
		row[i].put(row[i].v, &b);
		assert_string_equal(buf_str(&b), row[i].want);
	}
	buf_release(&b);
}

static void paths(void **state)
{
	(void)state;
	static const char *const row[][3] = {
	    {"a/b/c.so", "c.so", "a/b"}, {"c.so", "c.so", "."}, {"/c.so", "c.so", "/"}, {"a/", "", "a"}, {"", "", "."}, {"//x", "x", "/"},
	};
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		assert_string_equal(path_base(row[i][0]), row[i][1]);
		assert_text(slice_base(slice_str(row[i][0])), row[i][1]);
		assert_text(path_folder(row[i][0]), row[i][2]);
	}
	assert_int_equal(slice_base(slice_of(NULL, 0)).n, 0);
}

static void arena_keeps(void **state)
{
	(void)state;
	struct arena a = {0};
	enum { N = 3000 };
	static char *p[N];
	for (size_t i = 0; i < N; i++) {
		p[i] = arena_alloc(&a, i % 97);
		assert_int_equal((uintptr_t)p[i] % 8, 0);
		memset(p[i], (int)(i & 255), i % 97);
	}
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < i % 97; k++)
			assert_int_equal((unsigned char)p[i][k], i & 255);
	arena_release(&a);
	assert_null(a.blocks);
	assert_int_equal(a.total, 0);
}

static void arena_large(void **state)
{
	(void)state;
	struct arena a = {0};
	char *small = arena_strndup(&a, "small", 5), *big = arena_alloc(&a, 10 << 20);
	memset(big, 1, 10 << 20);
	assert_string_equal(small, "small");
	struct slice s = arena_slice(&a, slice_of("a\0b", 3));
	assert_memory_equal(s.p, "a\0b", 4);
	assert_int_equal(arena_slice(&a, slice_of(NULL, 0)).n, 0);
	arena_release(&a);
}

static void intern_indices(void **state)
{
	(void)state;
	struct intern t = {0};
	assert_int_equal(intern_find(&t, SLICE("x")), NONE);
	assert_int_equal(intern_add(&t, SLICE("x")), 0);
	assert_int_equal(intern_add(&t, SLICE("")), 1);
	assert_int_equal(intern_add(&t, slice_of("x\0", 2)), 2);
	assert_int_equal(intern_add(&t, SLICE("x")), 0);
	assert_int_equal(intern_add(&t, slice_of(NULL, 0)), 1);
	assert_int_equal(intern_find(&t, SLICE("x")), 0);
	assert_int_equal(intern_find(&t, SLICE("y")), NONE);
	assert_text(intern_get(&t, 0), "x");
	assert_int_equal(intern_get(&t, NONE).n, 0);
	assert_int_equal(intern_get(&t, 3).n, 0);
	intern_release(&t);
}

static void intern_many(void **state)
{
	(void)state;
	struct intern t = {0};
	char name[32];
	enum { N = 20000 };
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < N; i++) {
			int n = snprintf(name, sizeof(name), "name_%u", i * 7919u);
			assert_int_equal(intern_add(&t, slice_of(name, (size_t)n)), i);
		}
	assert_int_equal(t.n, N);
	for (uint32_t i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "name_%u", i * 7919u);
		assert_text(intern_get(&t, i), name);
	}
	intern_release(&t);
}

static void intern_copies(void **state)
{
	(void)state;
	struct intern t = {0};
	char key[] = "abc";
	uint32_t i = intern_add(&t, slice_str(key));
	key[0] = 'X';
	assert_text(intern_get(&t, i), "abc");
	/* A text of the table itself may be added again while the table grows. */
	for (uint32_t k = 0; k < 1000; k++) {
		uint32_t last = intern_add(&t, slice_of((const char *)&k, sizeof(k)));
		assert_int_equal(intern_add(&t, intern_get(&t, last)), last);
	}
	intern_release(&t);
}

static void hash_tail(void **state)
{
	(void)state;
	/* Every byte counts, the last ones of a length that is no multiple of 8 too, and so does the length. */
	struct guard g = {0};
	for (size_t n = 0; n < 40; n++) {
		char text[40] = {0};
		uint64_t h = hash_bytes(guard_put(&g, text, n), n);
		assert_int_not_equal(h, hash_bytes(text, n == 39 ? 0 : n + 1));
		for (size_t i = 0; i < n; i++) {
			text[i] = 1;
			assert_int_not_equal(h, hash_bytes(guard_put(&g, text, n), n));
			text[i] = 0;
		}
	}
	guard_release(&g);
}

static void base64_rfc(void **state)
{
	(void)state;
	static const char *const v[][2] = {
	    {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
	struct guard g = {0};
	struct buf b = {0};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		size_t n = strlen(v[i][0]);
		buf_reset(&b);
		base64_add(&b, guard_put(&g, v[i][0], n), n);
		assert_text(buf_slice(&b), v[i][1]);
	}
	guard_release(&g);
	buf_release(&b);
}

static void base64_bytes(void **state)
{
	(void)state;
	struct buf b = {0};
	buf_adds(&b, ">");
	base64_add(&b, "\x00\x10\x83\x10\x51\x87\x20\x92\x8b\xff\xfb\xff", 12);
	assert_string_equal(buf_str(&b), ">ABCDEFGHIJKL//v/");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(slice_u64_limits),
	    cmocka_unit_test(slice_u64_is_bounded),
	    cmocka_unit_test(text_for_a_terminal),
	    cmocka_unit_test(slice_lines),
	    cmocka_unit_test(slice_questions),
	    cmocka_unit_test(slice_find_with_nul),
	    cmocka_unit_test(err_text),
	    cmocka_unit_test(err_text_is_cut),
	    cmocka_unit_test(grow_cap_holds),
	    cmocka_unit_test(buf_grows),
	    cmocka_unit_test(buf_nothing),
	    cmocka_unit_test(buf_format),
	    cmocka_unit_test(buf_word),
	    cmocka_unit_test(arena_keeps),
	    cmocka_unit_test(arena_large),
	    cmocka_unit_test(intern_indices),
	    cmocka_unit_test(intern_many),
	    cmocka_unit_test(intern_copies),
	    cmocka_unit_test(hash_tail),
	    cmocka_unit_test(base64_rfc),
	    cmocka_unit_test(base64_bytes),
	    cmocka_unit_test(slice_printed),
	    cmocka_unit_test(slice_searched),
	    cmocka_unit_test(numbers_for_people),
	    cmocka_unit_test(paths),
	};
	return RUN(tests);
}
