/* base/io/window: files, pipes and gzip through windows that end where the cut function says. */
#include "../../lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/io/window.h"

static char dir[64], file[96];

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_window.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(file, sizeof(file), "%s/input", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(file);
	return rmdir(dir);
}

static void put(const void *p, size_t n)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, p, n), n);
	close(fd);
}

/* One gzip member. */
static void gz_add(struct buf *b, const char *p, size_t n)
{
	z_stream z = {0};
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	size_t room = deflateBound(&z, n) + 64;
	z.next_in = (Bytef *)(uintptr_t)p;
	z.avail_in = (uInt)n;
	z.next_out = (Bytef *)buf_room(b, room);
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	buf_wrote(b, room - z.avail_out);
	deflateEnd(&z);
}

static size_t whole_lines(const char *data, size_t len)
{
	const char *nl = memrchr(data, '\n', len);
	return nl ? (size_t)(nl + 1 - data) : 0;
}

static size_t nothing(const char *data, size_t len)
{
	(void)data, (void)len;
	return 0;
}

struct seen {
	struct buf all;
	unsigned windows, continued;
	size_t largest;
	const char *lost;
	uint64_t consumed, size;
};

/* Read it to its end; every window but the last ends with a line. */
static void read_path(const char *path, size_t want, struct seen *s)
{
	struct input in;
	struct window w = {0};
	struct err err;
	bool last = false;
	*s = (struct seen){0};
	if (input_open(&in, path, &err) < 0)
		fail_msg("%s", err.text);
	while (input_next(&in, &w, want, whole_lines) > 0) {
		assert_false(last);
		assert_int_equal(w.offset, s->all.len);
		assert_true(w.len > 0);
		last = w.last;
		if (!last && !in.continued)
			assert_int_equal(w.data[w.len - 1], '\n');
		s->windows++;
		s->continued += w.continued;
		if (w.len > s->largest)
			s->largest = w.len;
		buf_add(&s->all, w.data, w.len);
		memset(w.data, 'x', w.len); /* the bytes may be changed */
	}
	s->lost = in.lost;
	s->consumed = in.consumed;
	s->size = in.size;
	window_release(&w);
	input_close(&in);
	input_close(&in); /* twice is fine */
}

static void lines(struct buf *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		buf_addf(b, "line %u %*s\n", i, (int)(i * 7 % 50), "");
}

static void plain(void **state)
{
	(void)state;
	struct buf b = {0};
	struct seen s;
	lines(&b, 500);
	for (unsigned end = 0; end < 2; end++) { /* with and without the last newline */
		put(b.p, b.len - end);
		for (size_t want = 1; want < 2 * b.len; want = want * 3 / 2 + 1) {
			read_path(file, want, &s);
			assert_true(slice_eq(buf_slice(&s.all), slice_of(b.p, b.len - end)));
			assert_null(s.lost);
			assert_int_equal(s.consumed, b.len - end);
			assert_int_equal(s.size, b.len - end);
			buf_release(&s.all);
		}
	}
	buf_release(&b);
}

static void windows_are_bounded(void **state)
{
	(void)state;
	struct buf b = {0};
	struct seen s;
	lines(&b, 3000);
	put(b.p, b.len);
	read_path(file, 4096, &s);
	assert_true(s.largest <= 4096);
	assert_true(s.windows >= b.len / 4096);
	buf_release(&s.all);
	buf_release(&b);
}

static void large_record(void **state)
{
	(void)state;
	struct buf b = {0};
	struct seen s;
	buf_adds(&b, "a\n");
	memset(buf_room(&b, 100000), 'b', 100000);
	buf_wrote(&b, 100000);
	buf_adds(&b, "\nc\nd");
	put(b.p, b.len);
	read_path(file, 64, &s);
	assert_true(slice_eq(buf_slice(&s.all), buf_slice(&b)));
	assert_true(s.largest >= 100000);
	assert_int_equal(s.continued, 0);
	buf_release(&s.all);
	buf_release(&b);
}

static void small_files(void **state)
{
	(void)state;
	static const char *const v[] = {"", "a", "\n", "ab", "\x1f", "\x1fx", "\n\n\n"};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		struct seen s;
		put(v[i], strlen(v[i]));
		read_path(file, 1 << 16, &s);
		assert_true(slice_eq(buf_slice(&s.all), slice_str(v[i])));
		assert_int_equal(s.windows, v[i][0] != 0);
		assert_null(s.lost);
		buf_release(&s.all);
	}
}

static void no_file(void **state)
{
	(void)state;
	struct input in;
	struct err err;
	assert_int_equal(input_open(&in, file, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_non_null(strstr(err.text, file));
	assert_non_null(strstr(err.text, strerror(ENOENT)));
}

static void directory(void **state)
{
	(void)state;
	struct input in;
	struct err err;
	assert_int_equal(input_open(&in, dir, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_non_null(strstr(err.text, "is a directory"));
}

static void files_are_closed(void **state)
{
	(void)state;
	struct input in;
	struct err err;
	put("\x1f\x8b", 2);
	for (int i = 0; i < 2000; i++) {
		if (input_open(&in, i & 1 ? dir : file, &err) == 0)
			input_close(&in);
		else if (!(i & 1))
			fail_msg("%s", err.text);
	}
}

static void gzip(void **state)
{
	(void)state;
	struct buf b = {0}, z = {0};
	struct seen s;
	lines(&b, 5000);
	gz_add(&z, b.p, b.len);
	put(z.p, z.len);
	for (size_t want = 100; want < 3 * b.len; want *= 7) {
		read_path(file, want, &s);
		assert_true(slice_eq(buf_slice(&s.all), buf_slice(&b)));
		assert_null(s.lost);
		assert_int_equal(s.consumed, z.len);
		buf_release(&s.all);
	}
	buf_release(&b);
	buf_release(&z);
}

/* Members follow one another, empty ones too, and zeros may pad the end. */
static void gzip_members(void **state)
{
	(void)state;
	struct buf b = {0}, z = {0};
	struct seen s;
	lines(&b, 100);
	for (size_t at = 0; at < b.len; at += 333)
		gz_add(&z, b.p + at, b.len - at < 333 ? b.len - at : 333);
	gz_add(&z, "", 0);
	memset(buf_room(&z, 700), 0, 700);
	buf_wrote(&z, 700);
	put(z.p, z.len);
	read_path(file, 100, &s);
	assert_true(slice_eq(buf_slice(&s.all), buf_slice(&b)));
	assert_null(s.lost);
	buf_release(&s.all);
	buf_release(&b);
	buf_release(&z);
}

static void gzip_empty(void **state)
{
	(void)state;
	struct buf z = {0};
	struct seen s;
	gz_add(&z, "", 0);
	put(z.p, z.len);
	read_path(file, 100, &s);
	assert_int_equal(s.all.len, 0);
	assert_null(s.lost);
	buf_release(&s.all);
	buf_release(&z);
}

/* Cut anywhere: what comes out is a beginning of the text, and it is said that something is missing. */
static void gzip_truncated(void **state)
{
	(void)state;
	struct buf b = {0}, z = {0};
	struct seen s;
	lines(&b, 40);
	gz_add(&z, b.p, b.len);
	size_t most = 0;
	for (size_t n = 2; n < z.len; n++) {
		put(z.p, n);
		read_path(file, 200, &s);
		assert_string_equal(s.lost, "the gzip data ends early");
		assert_true(s.all.len <= b.len);
		assert_true(!s.all.len || !memcmp(s.all.p, b.p, s.all.len));
		if (s.all.len > most)
			most = s.all.len;
		buf_release(&s.all);
	}
	assert_true(most > b.len / 2);
	buf_release(&b);
	buf_release(&z);
}

static void gzip_corrupt(void **state)
{
	(void)state;
	struct buf b = {0}, z = {0}, two = {0};
	struct seen s;
	lines(&b, 40);
	gz_add(&z, b.p, b.len);
	unsigned seen = 0;
	for (size_t n = 0; n < z.len; n++) {
		if (n < 2 || (n >= 4 && n < 10)) /* what is plain text then; the time, and others that mean nothing */
			continue;
		z.p[n] ^= 0x41;
		put(z.p, z.len);
		read_path(file, 200, &s);
		seen += s.lost != NULL;
		if (n >= z.len - 8)
			assert_string_equal(s.lost, "the gzip data is corrupt");
		buf_release(&s.all);
		z.p[n] ^= 0x41;
	}
	assert_true(seen >= z.len - 10);
	/* The first member is good, the second is none. */
	buf_add_slice(&two, buf_slice(&z));
	buf_adds(&two, "garbage after the end");
	put(two.p, two.len);
	read_path(file, 200, &s);
	assert_true(slice_eq(buf_slice(&s.all), buf_slice(&b)));
	assert_string_equal(s.lost, "the gzip data is corrupt");
	buf_release(&s.all);
	buf_release(&b);
	buf_release(&z);
	buf_release(&two);
}

struct feed {
	int fd;
	struct slice text;
};

static void *byte_by_byte(void *arg)
{
	struct feed *f = arg;
	for (size_t i = 0; i < f->text.n; i++)
		if (write(f->fd, f->text.p + i, 1) != 1)
			break;
	close(f->fd);
	return NULL;
}

static void through_pipe(struct slice text, struct seen *s, bool as_stdin)
{
	int p[2], old = -1;
	char path[32];
	pthread_t t;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	struct feed f = {p[1], text};
	snprintf(path, sizeof(path), "/dev/fd/%d", p[0]);
	if (as_stdin) {
		old = dup(0);
		dup2(p[0], 0);
	}
	assert_int_equal(pthread_create(&t, NULL, byte_by_byte, &f), 0);
	read_path(as_stdin ? "-" : path, 300, s);
	pthread_join(t, NULL);
	if (as_stdin) {
		assert_int_equal(fcntl(0, F_GETFD) >= 0, 1); /* standard input is not ours to close */
		dup2(old, 0);
		close(old);
	}
	close(p[0]);
}

static void pipes(void **state)
{
	(void)state;
	struct buf b = {0}, z = {0};
	struct seen s;
	lines(&b, 60);
	gz_add(&z, b.p, b.len / 2);
	gz_add(&z, b.p + b.len / 2, b.len - b.len / 2);
	for (int i = 0; i < 4; i++) {
		through_pipe(i & 1 ? buf_slice(&z) : buf_slice(&b), &s, i & 2);
		assert_true(slice_eq(buf_slice(&s.all), buf_slice(&b)));
		assert_null(s.lost);
		assert_int_equal(s.size, 0);
		buf_release(&s.all);
	}
	through_pipe(SLICE("\x1f"), &s, false);
	assert_int_equal(s.all.len, 1);
	buf_release(&s.all);
	through_pipe(SLICE(""), &s, false);
	assert_int_equal(s.all.len, 0);
	buf_release(&s.all);
	buf_release(&b);
	buf_release(&z);
}

/* A record beyond RECORD_MAX is handed out in pieces. */
static void endless_record(void **state)
{
	(void)state;
	put("x", 1);
	if (truncate(file, (off_t)RECORD_MAX + 1000)) {
		print_message("# no sparse files here\n");
		skip();
	}
	struct input in;
	struct window w = {0};
	assert_int_equal(input_open(&in, file, NULL), 0);
	assert_int_equal(input_next(&in, &w, 64 << 20, nothing), 1);
	assert_int_equal(w.len, RECORD_MAX);
	assert_false(w.last);
	assert_false(w.continued);
	assert_int_equal(input_next(&in, &w, 4096, nothing), 1);
	assert_int_equal(w.len, 1000);
	assert_int_equal(w.offset, RECORD_MAX);
	assert_true(w.last);
	assert_true(w.continued);
	assert_true(w.cap < 1 << 20); /* the large window's memory is given back */
	assert_int_equal(input_next(&in, &w, 4096, nothing), 0);
	window_release(&w);
	input_close(&in);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(plain),          TEST(windows_are_bounded), TEST(large_record), TEST(small_files),    TEST(no_file),
	    TEST(directory),      TEST(files_are_closed),    TEST(gzip),         TEST(gzip_members),   TEST(gzip_empty),
	    TEST(gzip_truncated), TEST(gzip_corrupt),        TEST(pipes),        TEST(endless_record),
	};
	return RUN(tests);
}
