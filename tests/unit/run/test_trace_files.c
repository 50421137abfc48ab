/* libcommon/core/run/trace: names that no file should have, windows that end anywhere, whole files. */
#include "../../lib/traced.h"

#include <unistd.h>

/* ---- names that no file should have ---- */

static void safe_is(struct slice name, const char *want, bool changed)
{
	struct buf b = {0};
	buf_adds(&b, "x/"); /* what stands before is no matter */
	bool c = trace_safe_path(name, &b);
	assert_string_equal(buf_str(&b) + 2, want);
	assert_int_equal(c, changed);
	buf_release(&b);
}

static void safe_paths(void **state)
{
	(void)state;
	safe_is(SLICE("plain.name"), "plain.name", false);
	safe_is(SLICE("sub/dir/x"), "sub/dir/x", false);
	safe_is(SLICE("<lambda>#?% \"'\\"), "<lambda>#?% \"'\\", false);
	safe_is(SLICE("..."), "...", false);
	safe_is(SLICE("a..b"), "a..b", false);
	safe_is(SLICE(""), "_", true);
	safe_is(SLICE("."), "_", true);
	safe_is(SLICE(".."), "_", true);
	safe_is(SLICE("/"), "_", true);
	safe_is(SLICE("../../etc/passwd"), "_/_/etc/passwd", true);
	safe_is(SLICE("/etc/passwd"), "etc/passwd", true);
	safe_is(SLICE("a/../../b"), "a/_/_/b", true);
	safe_is(SLICE("./a"), "a", true);
	safe_is(SLICE("a/./b"), "a/b", true);
	safe_is(slice_of("a\0b\n\x1f\x7f", 6), "a_b___", true);
	safe_is(SLICE("\xc3\xa9\xff"), "\xc3\xa9\xff", false);
}

/* A path that a file can have: no component over 255 bytes with all that is added to it, not too long as a whole. */
static void usable(struct slice path)
{
	assert_true(path.n > 0 && path.n < 2000);
	assert_true(path.p[0] != '/');
	while (path.n) {
		const char *slash = slice_chr(path, '/');
		size_t n = slash ? (size_t)(slash - path.p) : path.n;
		assert_true(n > 0 && n <= 255);
		assert_false(slice_is(slice_of(path.p, n), "..") || slice_is(slice_of(path.p, n), "."));
		assert_null(memchr(path.p, 0, n));
		path = slice_of(path.p + n + (slash != NULL), path.n - n - (slash != NULL));
	}
}

static void long_names(void **state)
{
	(void)state;
	struct buf a = {0}, b = {0};
	for (size_t n = 190; n < 400; n++) {
		buf_reset(&a);
		buf_reset(&b);
		for (size_t i = 0; i < n; i++)
			buf_adds(&a, n & 1 ? "\xe2\x82\xac" : "x");
		assert_int_equal(trace_safe_path(buf_slice(&a), &b), a.len > 200);
		usable(buf_slice(&b));
		assert_true(b.len <= 200);
	}
	/* Two long names that differ at their ends stay two. */
	buf_reset(&a);
	buf_reset(&b);
	for (int i = 0; i < 300; i++)
		buf_addc(&a, 'x');
	trace_safe_path(buf_slice(&a), &b);
	size_t half = b.len;
	a.p[299] = 'y';
	trace_safe_path(buf_slice(&a), &b);
	assert_int_not_equal(b.len, half);
	assert_memory_not_equal(b.p, b.p + half, half);
	buf_release(&a);
	buf_release(&b);
}

static void deep_names(void **state)
{
	(void)state;
	struct buf a = {0}, b = {0};
	for (int i = 0; i < 3000; i++)
		buf_adds(&a, "d/");
	buf_addc(&a, 'x');
	assert_true(trace_safe_path(buf_slice(&a), &b));
	usable(buf_slice(&b));
	buf_release(&a);
	buf_release(&b);
}

static void random_names(void **state)
{
	(void)state;
	static const char bytes[] = "//..a\0\n\xc3\xa9~\\-";
	struct buf b = {0};
	uint64_t seed = 11;
	for (int i = 0; i < 20000; i++) {
		char name[24];
		size_t n = pick(&seed, sizeof(name));
		for (size_t k = 0; k < n; k++)
			name[k] = bytes[pick(&seed, sizeof(bytes) - 1)];
		buf_reset(&b);
		trace_safe_path(slice_of(name, n), &b);
		usable(buf_slice(&b));
	}
	buf_release(&b);
}

static void hostile_artifacts(void **state)
{
	(void)state;
	add(ARTIFACT("../../x") AT, NULL);
	add(ARTIFACT("/etc/cron.d/x") AT, NULL);
	add("\"dump_file\": {\"name\": \"..\"}" AT, "x");
	add("\"optimize_ddp_split_child\": {\"name\": \"/../x\"}" AT, "x");
	add("\"graph_dump\": {\"name\": \"a\\u0000b\\u002f..\"}" AT, "x");
	add("\"inductor_output_code\": {\"filename\": \"/tmp/\\n.py\"}" AT, "x");
	add(ARTIFACT("") AT, NULL);
	read_it();
	damage_is(DAMAGE_NAME, 7, 1);
	path_is(0, "-_0_0_0/_/_/x_0.txt");
	path_is(1, "-_0_0_0/etc/cron.d/x_1.txt");
	path_is(2, "dump_file/_.html");
	path_is(3, "-_0_0_0/optimize_ddp_split_child_/_/x_3.txt");
	path_is(4, "-_0_0_0/a_b/__4.txt");
	path_is(5, "-_0_0_0/inductor_output_code___5.html");
	path_is(6, "-_0_0_0/__6.txt");
}

/* ---- windows ---- */

/* The same model in one window and in two, wherever trace_cut cuts; and in many small ones. */
static void split(struct slice text, size_t step)
{
	struct reader one, many;
	struct buf want = {0}, got = {0};
	reader_init(&one);
	reader_window(&one, text, true);
	model_text(&one.t, &want);
	size_t before = 0, cuts = 0;
	for (size_t n = 1; n <= text.n; n += step) {
		size_t cut = trace_cut(text.p, n);
		assert_true(cut < n);
		if (!cut || cut == before)
			continue;
		assert_int_equal(text.p[cut - 1], '\n');
		before = cut;
		cuts++;
		reader_init(&many);
		reader_window(&many, slice_of(text.p, cut), false);
		reader_window(&many, slice_of(text.p + cut, text.n - cut), true);
		buf_reset(&got);
		model_text(&many.t, &got);
		if (!slice_eq(buf_slice(&got), buf_slice(&want)))
			fail_msg("cut at %zu: %s\ninstead of\n%s", cut, buf_str(&got), buf_str(&want));
		reader_release(&many);
	}
	assert_true(cuts > 1);
	reader_init(&many);
	for (size_t at = 0; at < text.n;) {
		size_t n = 100, cut;
		while (!(cut = at + n < text.n ? trace_cut(text.p + at, n) : text.n - at))
			n *= 2;
		reader_window(&many, slice_of(text.p + at, cut), at + cut == text.n);
		at += cut;
	}
	buf_reset(&got);
	model_text(&many.t, &got);
	assert_string_equal(buf_str(&got), buf_str(&want));
	reader_release(&many);
	reader_release(&one);
	buf_release(&want);
	buf_release(&got);
}

static void small_log(const char *before, const char *end)
{
	buf_adds(&in, "srun: job starts\n\n");
	add_record(&in, before, "\"str\": [\"m.py\", 0]", NULL);
	add_record(&in, before, "\"dynamo_start\": {\"stack\": [" FRAME(1) "," FRAME(2) "]}" AT, NULL);
	add_record(&in, before, ARTIFACT("a") AT, "one\n\ntwo\n\tthree");
	buf_adds(&in, "\n\nnoise\nmore noise\n\torphan\n\torphan\nV1121 07:\n");
	add_record(&in, before, ARTIFACT("dynamo_graph_break_reason") AT, "Graph break in user code at m.py:5\nReason: x\n  Hint: y");
	add_record(&in, before, "\"aot_forward_graph\": {}" AT, "class M:\n    a = b\n    c = d");
	buf_adds(&in, PREFIX "{\"broken\": \n\n\tpayload\n");
	add_record(&in, before, "\"compilation_metrics\": {\"graph_op_count\": 1, \"duration_us\": 5, \"x_us\": 7}" AT, NULL);
	add_record(&in, before, "\"new_key\": 1" AT, "{\"a\": 1}");
	add_record(&in, before, ARTIFACT("b") AT, "last");
	buf_adds(&in, end);
}

static void split_small(void **state)
{
	(void)state;
	static const char *const before[] = {"", "[rank0]: "}, *const end[] = {"",       "x\ny\nz", "\tmore\n", "\n\n", PREFIX "{\"a",
									       "n\no\n", "\tt\n\tu"};
	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		for (size_t k = 0; k < ARRAY_LEN(end); k++) {
			buf_reset(&in);
			small_log(before[i], end[k]);
			split(buf_slice(&in), 1);
		}
}

static void split_crlf(void **state)
{
	(void)state;
	struct buf b = {0};
	small_log("", "");
	for (size_t i = 0; i < in.len; i++) {
		if (in.p[i] == '\n')
			buf_addc(&b, '\r');
		buf_addc(&b, in.p[i]);
	}
	split(buf_slice(&b), 1);
	buf_release(&b);
}

/* A long payload behind labels is not cut, though no prefix is in sight. */
static void split_long_labelled(void **state)
{
	(void)state;
	struct buf payload = {0};
	for (int i = 0; i < 2500; i++)
		buf_addf(&payload, "%sline %d", i ? "\n" : "", i);
	for (int i = 0; i < 5; i++)
		add_record(&in, "node: ", ARTIFACT("a") AT, i & 1 ? "x" : buf_str(&payload));
	split(buf_slice(&in), 701);
	buf_release(&payload);
}

static void split_recorded(void **state)
{
	(void)state;
	static const char *const logs[] = {
	    "traces/draft_export.log",      "traces/graph_breaks.log.xz", "broken/noise.log",       "broken/scheduler_prefix.log",
	    "broken/two_writers.log",       "broken/out_of_order.log",    "broken/mixed_ranks.log", "broken/truncated_line.log",
	    "broken/truncated_payload.log", "broken/blank_lines.log",     "broken/crlf.log"};
	unsigned seen = 0;
	for (size_t i = 0; i < ARRAY_LEN(logs); i++)
		if (data_load(logs[i], &in)) {
			split(buf_slice(&in), in.len / 60 + 1);
			seen++;
		}
	if (!seen) {
		print_message("# tests/data is not here\n");
		skip();
	}
}

static void cut_of_no_log(void **state)
{
	(void)state;
	assert_int_equal(trace_cut("", 0), 0);
	assert_int_equal(trace_cut("x", 1), 0);
	assert_int_equal(trace_cut("x\n", 2), 0);
	assert_int_equal(trace_cut("x\ny", 3), 2);
	assert_int_equal(trace_cut("x\n\ty\n\tz\n", 8), 0);
	for (int i = 0; i < 5000; i++)
		buf_addf(&in, "line %d of a file that is no log\n", i);
	assert_true(trace_cut(in.p, in.len) > in.len - 100);
}

/* The rest of a line that was too long for its window. */
static void continued_line(void **state)
{
	(void)state;
	struct buf log = {0};
	add_record(&log, "", ARTIFACT("a") AT, "one\ntwo");
	add_record(&log, "", ARTIFACT("b") AT, NULL);
	size_t at = (size_t)((char *)memmem(log.p, log.len, "two", 3) - log.p) + 1;
	reader_window(&rd, slice_of(log.p, at), false);
	rd.s.window =
	    (struct window){.data = guard_put(&rd.g, log.p + at, log.len - at), .len = log.len - at, .last = true, .continued = true};
	trace_scan_window(&rd.s);
	trace_reduce_window(&rd.t, &rd.s, NULL);
	assert_int_equal(rd.t.lines, 4);
	assert_int_equal(rd.t.n_artifact, 2);
	assert_int_equal(rd.t.artifact[1].line, 4);
	damage_is(DAMAGE_MD5, 1, 1);
	damage_is(DAMAGE_PREFIX, 1, 3);
	buf_release(&log);
}

/* ---- whole files ---- */

static int stop(void *ctx, struct trace_scan *s, struct trace_record *r)
{
	(void)s, (void)r;
	return --*(int *)ctx ? 0 : -1;
}

static void reading_files(void **state)
{
	(void)state;
	char path[] = "/tmp/test_trace.XXXXXX";
	struct err err;
	struct trace t;
	int fd = mkstemp(path), left = 3;
	trace_init(&t, path, NULL);
	assert_int_equal(trace_read(&t, NULL, &err), -1);
	assert_non_null(strstr(err.text, "is empty"));
	trace_release(&t);
	assert_false(trace_is_log(path));
	assert_int_equal(write(fd, "no log\n", 7), 7);
	trace_init(&t, path, NULL);
	assert_int_equal(trace_read(&t, NULL, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_non_null(strstr(err.text, "1 lines"));
	trace_release(&t);
	assert_false(trace_is_log(path));
	small_log("", "");
	assert_int_equal(write(fd, in.p, in.len), in.len);
	assert_true(trace_is_log(path));
	trace_init(&t, path, NULL);
	assert_int_equal(trace_read(&t, NULL, &err), 0);
	assert_int_equal(t.n_artifact, 5);
	trace_release(&t);
	const struct trace_hooks hooks = {.ctx = &left, .record = stop};
	trace_init(&t, path, NULL);
	assert_int_equal(trace_read(&t, &hooks, &err), -1);
	assert_int_equal(left, 0);
	trace_release(&t);
	close(fd);
	unlink(path);
	trace_init(&t, path, NULL);
	assert_int_equal(trace_read(&t, NULL, &err), -1);
	assert_false(trace_is_log(path));
	trace_release(&t);
}

/* The number of threads is no matter. */
static void threads(void **state)
{
	(void)state;
	char path[] = "/tmp/test_trace.XXXXXX";
	struct buf want = {0}, got = {0};
	int fd = mkstemp(path);
	for (int i = 0; i < 400; i++) {
		buf_reset(&in);
		small_log("", "");
		struct buf big = {0};
		for (int k = 0; k < 500; k++)
			buf_addf(&big, "    a%d = b  # a line of a graph\n", k);
		add(ARTIFACT("big") AT, buf_str(&big));
		buf_release(&big);
		assert_int_equal(write(fd, in.p, in.len), in.len);
	}
	close(fd);
	for (unsigned n = 1; n <= 5; n += 2) {
		struct trace t;
		const struct trace_hooks hooks = {.threads = n};
		trace_init(&t, path, NULL);
		assert_int_equal(trace_read(&t, &hooks, NULL), 0);
		buf_reset(&got);
		model_text(&t, n == 1 ? &want : &got);
		if (n > 1)
			assert_true(slice_eq(buf_slice(&got), buf_slice(&want)));
		trace_release(&t);
	}
	unlink(path);
	buf_release(&want);
	buf_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(safe_paths),        TEST(long_names),    TEST(deep_names),     TEST(random_names),
	    TEST(hostile_artifacts), TEST(split_small),   TEST(split_crlf),     TEST(split_long_labelled),
	    TEST(split_recorded),    TEST(cut_of_no_log), TEST(continued_line), TEST(reading_files),
	    TEST(threads),
	};
	return RUN(tests);
}
