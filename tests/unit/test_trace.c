/* libcommon/trace: lines into records, records into the model. */
#include "../lib/log.h"

#include <unistd.h>

static struct reader rd;
static struct buf in;

static int setup(void **state)
{
	(void)state;
	reader_init(&rd);
	buf_reset(&in);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	reader_release(&rd);
	buf_release(&in);
	return 0;
}

/* The whole of `in` as one window. */
static void read_it(void) { reader_window(&rd, buf_slice(&in), true); }

static void read_text(const char *text)
{
	buf_adds(&in, text);
	read_it();
}

static void add(const char *members, const char *payload) { add_record(&in, "", members, payload); }

/* Members of an artifact's envelope at 0/0. */
#define AT ", \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0"
#define ARTIFACT(name) "\"artifact\": {\"name\": \"" name "\", \"encoding\": \"string\"}"

static void path_is(uint32_t i, const char *want)
{
	struct buf b = {0};
	assert_true(i < rd.t.n_artifact);
	trace_artifact_path(&rd.t, &rd.t.artifact[i], false, &b);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void damage_is(enum trace_damage_kind kind, uint64_t count, uint64_t line)
{
	if (rd.t.damage[kind].count != count || rd.t.damage[kind].line != line)
		fail_msg("%s: %llu at line %llu, not %llu at %llu", trace_damage_name[kind], (unsigned long long)rd.t.damage[kind].count,
			 (unsigned long long)rd.t.damage[kind].line, (unsigned long long)count, (unsigned long long)line);
}

static void only_damage(enum trace_damage_kind kind, uint64_t count, uint64_t line)
{
	for (unsigned i = 0; i < DAMAGE_COUNT; i++)
		damage_is(i, i == kind ? count : 0, i == kind ? line : 0);
}

static void no_damage(void)
{
	only_damage(DAMAGE_COUNT, 0, 0);
	assert_false(trace_damaged(&rd.t));
}

static struct slice name_at(uint32_t i) { return intern_get(&rd.t.names, i); }

/* ---- the prefix ---- */

static void prefixes(void **state)
{
	(void)state;
	static const char *const good[] = {
	    "V1121 07:59:23.043000 1234 torch/x.py:915] ",
	    "I1121 07:59:23.043000 1 a:1] ",
	    "C0101 00:00:00.000000 99999999 torch/x.py:1] ",
	    "V20261121 07:59:23.043000 1234 torch/x.py:915] ",
	    "[rank0]:V1121 07:59:23.043000 1234 torch/x.py:915] ",
	    "0: W1121 07:59:23.043000 1234 torch/x.py:915] ",
	    "2026-11-21T07:59:23Z pod-7 E1121 07:59:23.043000 1234 torch/x.py:915] ",
	    "V1121 V1121 07:59:23.043000 1234 torch/x.py:915] ",
	    "VVVVVV1121 07:59:23.043000 1234 /a b/x.py:915] ",
	};
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		reader_release(&rd);
		setup(NULL);
		buf_addf(&in, "%s{}\n", good[i]);
		read_it();
		if (rd.t.records != 1)
			fail_msg("no record: %s", in.p);
		no_damage();
	}
	static const char *const bad[] = {
	    "V1121 07:59:23.04300 1234 torch/x.py:915] ",
	    "V1121 07:59:23.0430000 1234 torch/x.py:915] ",
	    "D1121 07:59:23.043000 1234 torch/x.py:915] ",
	    "V112 07:59:23.043000 1234 torch/x.py:915] ",
	    "V1121 7:59:23.043000 1234 torch/x.py:915] ",
	    "V1121 07:59:23.043000 torch/x.py:915] ",
	    "V1121 07:59:23.043000 1234 torch/x.py] ",
	    "V1121 07:59:23.043000 1234 torch/x.py:915]",
	    "V1121 07:59:23.043000 1234 torch/x.py:915 ",
	    "V1121  07:59:23.043000 1234 torch/x.py:915] ",
	    "",
	    "V1121 07:59:23.043000 1234 torch/x.py:] ",
	    "V202611211 07:59:23.043000 1234 torch/x.py:915] ",
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		reader_release(&rd);
		setup(NULL);
		buf_addf(&in, "%s{}\n", bad[i]);
		read_it();
		if (rd.t.records)
			fail_msg("a record: %s", in.p);
		only_damage(DAMAGE_PREFIX, 1, 1);
	}
}

static void prefix_fields(void **state)
{
	(void)state;
	read_text("V20251231 23:59:58.000001 77 torch/a b.py:12] {}\nV0102 00:00:00.5 \n");
	const struct trace_record *r = &rd.s.rec[0];
	assert_int_equal(r->year, 2025);
	assert_int_equal(r->month_day, 1231);
	assert_true(r->usec == 86398000001ull);
	assert_int_equal(r->thread, 77);
	assert_int_equal(r->source_line, 12);
	assert_text(slice_of(rd.s.window.data + r->source, r->source_len), " torch/a b.py");
	assert_true(r->flags & REC_YEAR);
	assert_int_equal(rd.t.pid, 77);
}

/* Cut short at any byte, at the end of memory: no prefix, or no JSON, but never more. */
static void truncated_anywhere(void **state)
{
	(void)state;
	add("\"dynamo_output_graph\": {\"sizes\": {\"x\": [1]}}" AT, "class M:\n    def f(self):\n        x: \"f32[2]\" = a + b");
	for (size_t n = 1; n < in.len; n++) {
		struct buf all = in;
		reader_release(&rd);
		reader_init(&rd);
		reader_window(&rd, slice_of(all.p, n), true);
		assert_true(rd.t.records <= 1);
		assert_int_equal(trace_damaged(&rd.t), n < in.len - 1); /* only the last newline may be missing */
	}
}

static void no_last_newline(void **state)
{
	(void)state;
	add(ARTIFACT("a") AT, "x");
	in.len--;
	read_it();
	assert_int_equal(rd.t.n_artifact, 1);
	no_damage();
}

/* ---- lines ---- */

static void line_ends(void **state)
{
	(void)state;
	add(ARTIFACT("a") AT, "one\n\ntwo");
	add(ARTIFACT("b") AT, NULL);
	struct buf crlf = {0};
	for (size_t i = 0; i < in.len; i++) {
		if (in.p[i] == '\n')
			buf_addc(&crlf, '\r');
		buf_addc(&crlf, in.p[i]);
	}
	buf_release(&in);
	in = crlf;
	read_it();
	no_damage();
	assert_int_equal(rd.t.records, 2);
	assert_text(trace_payload(&rd.s, &rd.s.rec[0]), "one\n\ntwo");
	assert_int_equal(rd.t.lines, 5);
}

static void blank_lines(void **state)
{
	(void)state;
	buf_adds(&in, "\n\r\n");
	add(ARTIFACT("a") AT, "one\ntwo");
	/* Between the lines of a payload, too. */
	char *second = memmem(in.p, in.len, "\ttwo", 4);
	size_t at = (size_t)(second - in.p);
	struct buf b = {0};
	buf_add(&b, in.p, at);
	buf_adds(&b, "\n\r\n");
	buf_add(&b, in.p + at, in.len - at);
	buf_release(&in);
	in = b;
	add(ARTIFACT("b") AT, NULL);
	read_it();
	no_damage();
	assert_text(trace_payload(&rd.s, &rd.s.rec[0]), "one\ntwo");
	assert_int_equal(rd.t.artifact[0].line, 3);
	assert_int_equal(rd.t.artifact[1].line, 8);
	assert_int_equal(rd.t.lines, 8);
}

static void noise(void **state)
{
	(void)state;
	buf_adds(&in, "srun: starting\nsrun: started\n");
	add(ARTIFACT("a") AT, "x");
	buf_adds(&in, "a warning\n\ttab without a record\n\tanother\n");
	add(ARTIFACT("b") AT, NULL);
	buf_adds(&in, "\tpayload of a record that has none\nnoise\n");
	read_it();
	assert_int_equal(rd.t.records, 2);
	damage_is(DAMAGE_PREFIX, 4, 1);
	damage_is(DAMAGE_ORPHAN, 3, 6);
	damage_is(DAMAGE_MD5, 0, 0);
	assert_text(trace_payload(&rd.s, &rd.s.rec[1]), "x");
}

/* Only the last of several lines that are no records is cut short. */
static void noise_at_the_end(void **state)
{
	(void)state;
	add(ARTIFACT("a") AT, NULL);
	read_text("one\ntwo\nV1121 07:5");
	damage_is(DAMAGE_PREFIX, 2, 2);
	damage_is(DAMAGE_TRUNCATED, 1, 4);
}

/* A scheduler's label stands before payload lines, too; another's does not belong to the record. */
static void labels(void **state)
{
	(void)state;
	add_record(&in, "[node3] 7: ", ARTIFACT("a") AT, "one\n\tindented\n\ntwo");
	add_record(&in, "", ARTIFACT("b") AT, "x");
	add_record(&in, "l ", ARTIFACT("c") AT, NULL);
	buf_adds(&in, "m \tother\n");
	read_it();
	assert_text(trace_payload(&rd.s, &rd.s.rec[0]), "one\n\tindented\n\ntwo");
	assert_int_equal(rd.t.n_artifact, 3);
	only_damage(DAMAGE_PREFIX, 1, 9);
}

static void bytes_that_are_no_text(void **state)
{
	(void)state;
	add("\"artifact\": {\"name\": \"a\xff\", \"encoding\": \"string\"}" AT, "x");
	buf_add(&in, PREFIX "{\"artifact\":{\"name\":\"b\",\"encoding\":\"string\"},\"has_payload\":\"\"}\n\ta\0b\n",
		sizeof(PREFIX "{\"artifact\":{\"name\":\"b\",\"encoding\":\"string\"},\"has_payload\":\"\"}\n\ta\0b\n") - 1);
	add(ARTIFACT("c") AT, "\xc3(");
	read_it();
	assert_int_equal(rd.t.n_artifact, 3);
	damage_is(DAMAGE_UTF8, 2, 1);
	assert_int_equal(trace_payload(&rd.s, &rd.s.rec[1]).n, 3);
}

/* ---- payloads ---- */

static void payload_of(const char *md5, const char *lines, bool good)
{
	reader_release(&rd);
	setup(NULL);
	buf_addf(&in, PREFIX "{" ARTIFACT("a") ", \"has_payload\": %s}\n%s" PREFIX "{}\n", md5, lines);
	read_it();
	if (good)
		no_damage();
	else
		only_damage(DAMAGE_MD5, 1, 1);
	assert_int_equal(rd.t.n_artifact, 1);
}

static void md5(void **state)
{
	(void)state;
	payload_of("\"900150983cd24fb0d6963f7d28e17f72\"", "\tabc\n", true);
	payload_of("\"d41d8cd98f00b204e9800998ecf8427e\"", "", true);
	payload_of("\"d41d8cd98f00b204e9800998ecf8427e\"", "\t\n", true);
	payload_of("\"900150983CD24FB0D6963F7D28E17F72\"", "\tabc\n", false);
	payload_of("\"900150983cd24fb0d6963f7d28e17f73\"", "\tabc\n", false);
	payload_of("\"900150983cd24fb0d6963f7d28e17f72\"", "\tabc \n", false);
	payload_of("\"900150983cd24fb0d6963f7d28e17f72\"", "", false);
	payload_of("\"\"", "\tabc\n", false);
	payload_of("\"900150983cd24fb0d6963f7d28e17f720\"", "\tabc\n", false);
	payload_of("null", "", true);
}

static void payload_lost_at_the_end(void **state)
{
	(void)state;
	add(ARTIFACT("a") AT, "one\ntwo\nthree");
	in.len -= strlen("\tthree\n");
	read_it();
	only_damage(DAMAGE_TRUNCATED, 1, 1);
	assert_int_equal(rd.t.artifact[0].size, 7);
}

static void has_payload_of_another_type(void **state)
{
	(void)state;
	read_text(PREFIX "{" ARTIFACT("a") ", \"has_payload\": 1}\n\tx\n");
	damage_is(DAMAGE_MALFORMED, 1, 1);
	damage_is(DAMAGE_ORPHAN, 1, 2);
	assert_int_equal(rd.t.n_artifact, 0);
}

/* ---- envelopes ---- */

static void malformed(void **state)
{
	(void)state;
	static const char *const bad[] = {
	    "\"artifact\": {\"name\": null, \"encoding\": \"string\"}",
	    "\"artifact\": {\"name\": \"a\"}",
	    "\"artifact\": \"a\"",
	    "\"artifact\": []",
	    "\"artifact\": {\"name\": \"a\", \"name\": \"a\", \"encoding\": \"string\"}",
	    "\"graph_dump\": {}",
	    "\"link\": {\"name\": \"a\", \"url\": 1}",
	    "\"compilation_metrics\": {\"graph_op_count\": 3.0}",
	    "\"compilation_metrics\": {\"graph_op_count\": -1}",
	    "\"compilation_metrics\": {\"restart_reasons\": [1]}",
	    "\"compilation_metrics\": {\"start_time\": \"x\"}",
	    "\"compilation_metrics\": {\"co_firstlineno\": 2147483648}",
	    "\"compilation_metrics\": {\"fail_user_frame_lineno\": -1}",
	    "\"compilation_metrics\": 1",
	    "\"dynamo_start\": {\"stack\": {}}",
	    "\"dynamo_start\": {\"stack\": [{\"line\": 1, \"name\": \"f\"}]}",
	    "\"dynamo_start\": {\"stack\": [{\"line\": \"1\", \"name\": \"f\", \"filename\": 0}]}",
	    "\"aot_forward_graph\": 0",
	    "\"aot_forward_graph\": [1]",
	    "\"inductor_output_code\": {\"filename\": 1}",
	    "\"dynamo_output_graph\": {\"_sizes\": {\"x\": [1.5]}}",
	    "\"str\": [\"a\"]",
	    "\"str\": [\"a\", 1, 2]",
	    "\"str\": [1, \"a\"]",
	    "\"str\": {\"a\": 1}",
	    "\"stack\": 1",
	    "\"stack\": [1]",
	    "\"rank\": \"0\"",
	    "\"rank\": -1",
	    "\"rank\": 4294967296",
	    "\"rank\": 0, \"rank\": 0",
	    "\"stack\": null, \"stack\": []",
	    ARTIFACT("a") ", " ARTIFACT("a"),
	    ARTIFACT("a") ", \"artifact\": null",
	    "\"artifact\": null, " ARTIFACT("a"),
	    ARTIFACT("a") ", \"artifact\": null, \"link\": {\"name\": \"a\", \"url\": \"b\"}",
	    "\"str\": [\"a\", 1], \"str\": null, \"link\": {\"name\": \"a\", \"url\": \"b\"}",
	    "\"describe_tensor\": {\"id\": 1}",
	    "\"describe_storage\": {\"id\": 1, \"describer_id\": 0, \"size\": null}",
	    "\"expression_created\": {\"argument_ids\": [-1]}",
	    "\"symbolic_shape_specialization\": {\"sources\": \"x\"}",
	    "\"propagate_real_tensors_provenance\": {\"frame_locals\": {\"locals\": [1]}}",
	    ARTIFACT("a") ", \"x\": NaN",
	    ARTIFACT("a") ", \"x\": \"\\ud800\"",
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		reader_release(&rd);
		setup(NULL);
		add(bad[i], NULL);
		read_it();
		if (!rd.t.damage[DAMAGE_MALFORMED].count || rd.t.n_artifact || rd.t.n_compile || rd.t.n_string)
			fail_msg("accepted: %s", bad[i]);
		assert_int_equal(rd.t.records, 1);
	}
}

static void well_formed(void **state)
{
	(void)state;
	static const char *const good[] = {
	    "\"compilation_metrics\": {\"graph_op_count\": null, \"new_in_some_version\": [{}], \"start_time\": 1, \"restart_reasons\": "
	    "[]}",
	    "\"aot_forward_graph\": {}",
	    "\"aot_forward_graph\": []",
	    "\"aot_forward_graph\": {\"x\": 1}",
	    "\"dynamo_start\": {}",
	    "\"dynamo_start\": {\"stack\": [{\"line\": -1, \"name\": \"f\", \"filename\": 4294967295, \"loc\": null}]}",
	    "\"inductor_output_code\": {}",
	    "\"inductor_output_code\": {\"filename\": null, \"file_path\": 7}",
	    "\"artifact\": null",
	    "\"rank\": null",
	    "\"stack\": null",
	    "\"stack\": []",
	    "\"subgraph_name\": \"x\"",
	    "\"subgraph_name\": 1",
	    "\"dynamo_output_graph\": {\"_sizes\": {\"x\": [1, \"s0\", -1]}}",
	    "\"create_symbol\": 1",
	    "\"create_symbol\": null",
	    "\"describe_storage\": {\"id\": 1, \"describer_id\": 0, \"size\": 2}",
	    "\"frame_id\": null",
	};
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		reader_release(&rd);
		setup(NULL);
		add(good[i], NULL);
		read_it();
		if (trace_damaged(&rd.t) || rd.t.n_compile != 1 || rd.t.n_unknown)
			fail_msg("refused: %s", good[i]);
	}
}

static void not_json(void **state)
{
	(void)state;
	read_text(PREFIX "{\"a\": }\n" PREFIX "[1]\n" PREFIX "\"artifact\"\n" PREFIX "{} x\n" PREFIX "{}\n");
	only_damage(DAMAGE_JSON, 4, 1);
	assert_int_equal(rd.t.records, 1);
}

static void unknown_keys(void **state)
{
	(void)state;
	add("\"brand_new\": 1", NULL);
	add(ARTIFACT("a") AT ", \"brand_new\": {}, \"brand_new\": [], \"other\": null", NULL);
	add("\"create_symbol\": {}, \"subgraph_name\": \"g\"", NULL);
	read_it();
	assert_int_equal(rd.t.n_unknown, 2);
	assert_text(name_at(rd.t.unknown[0].key), "brand_new");
	assert_int_equal(rd.t.unknown[0].count, 3);
	assert_int_equal(rd.t.unknown[0].line, 1);
	assert_int_equal(rd.t.unknown[1].line, 2);
	assert_int_equal(rd.t.n_artifact, 1);
	no_damage();
}

static void reserved_keys(void **state)
{
	(void)state;
	add(ARTIFACT("a") ", \"timestamp\": 1", NULL);
	add(ARTIFACT("b") ", \"lineno\": 1", NULL);
	read_it();
	only_damage(DAMAGE_RESERVED, 2, 1);
	assert_int_equal(rd.t.n_artifact, 2);
}

/* ---- compile ids ---- */

static void id_is(const char *members, const char *path, const char *text)
{
	char out[COMPILE_ID_TEXT];
	reader_release(&rd);
	setup(NULL);
	buf_addf(&in, PREFIX "{" ARTIFACT("a") "%s%s}\n", *members ? ", " : "", members);
	read_it();
	path_is(0, path);
	assert_string_equal(compile_id_text(&rd.t.compile[0].id, out), text);
	no_damage();
}

static void compile_ids(void **state)
{
	(void)state;
	id_is("", "-_-_-_-/a_0.txt", "-/-");
	id_is("\"frame_id\": 0, \"frame_compile_id\": 1, \"attempt\": 0", "-_0_1_0/a_0.txt", "0/1");
	id_is("\"frame_id\": 0, \"frame_compile_id\": 1, \"attempt\": 2", "-_0_1_2/a_0.txt", "0/1_2");
	id_is("\"frame_id\": 3, \"frame_compile_id\": 1, \"attempt\": 2, \"compiled_autograd_id\": 7", "7_3_1_2/a_0.txt", "!7/3/1_2");
	id_is("\"frame_id\": 0, \"frame_compile_id\": 1", "-_0_1_-/a_0.txt", "0/1"); /* its folder has no attempt, its id has */
	id_is("\"frame_id\": null, \"frame_compile_id\": null, \"attempt\": null", "-_-_-_-/a_0.txt", "-/-");
	id_is("\"compiled_autograd_id\": 2", "2_-_-_-/a_0.txt", "!2/-/-");
	id_is("\"frame_id\": 4294967295, \"frame_compile_id\": 4294967295, \"attempt\": 4294967295",
	      "-_4294967295_4294967295_4294967295/a_0.txt", "4294967295/4294967295_4294967295");
}

static void ids_of_wrong_type(void **state)
{
	(void)state;
	static const char *const bad[] = {"\"frame_id\": \"0\"",
					  "\"frame_id\": -1",
					  "\"frame_id\": 1.0",
					  "\"frame_id\": 4294967296",
					  "\"attempt\": []",
					  "\"compiled_autograd_id\": true",
					  "\"frame_id\": 0, \"frame_compile_id\": {}",
					  "\"frame_id\": 0, \"frame_id\": 1",
					  "\"frame_id\": 0, \"frame_id\": null"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		id_is(bad[i], "unknown_1/a_0.txt", "unknown");
	/* All of them are one id; each has a folder of its own. */
	reader_release(&rd);
	setup(NULL);
	add(ARTIFACT("a") ", \"frame_id\": \"x\"", NULL);
	add(ARTIFACT("b") ", \"frame_id\": \"y\"", NULL);
	read_it();
	assert_int_equal(rd.t.n_compile, 1);
	path_is(1, "unknown_2/b_1.txt");
}

static void missing_attempt_is_the_first(void **state)
{
	(void)state;
	add(ARTIFACT("a") AT, NULL);
	add(ARTIFACT("b") ", \"frame_id\": 0, \"frame_compile_id\": 0", NULL);
	read_it();
	assert_int_equal(rd.t.n_compile, 1);
	assert_int_equal(rd.t.compile[0].artifacts, 2);
	path_is(0, "-_0_0_0/a_0.txt");
	path_is(1, "-_0_0_-/b_1.txt");
}

static void find_compile(void **state)
{
	(void)state;
	static const char metrics[] = "\"compilation_metrics\": {\"graph_op_count\": 1, \"restart_reasons\": []}";
#define ID(f, c, a) ", \"frame_id\": " #f ", \"frame_compile_id\": " #c ", \"attempt\": " #a
	char path[] = "/tmp/test_trace.XXXXXX", id[COMPILE_ID_TEXT];
	struct buf m = {0};
	add(ARTIFACT("a") ID(0, 1, 0), NULL);
	buf_addf(&m, "%s" ID(0, 1, 1), metrics);
	add(buf_str(&m), NULL);
	add(ARTIFACT("late") ID(0, 1, 2), NULL);
	add(ARTIFACT("a") ID(5, 0, 0), NULL); /* restarted, then the process died */
	add(ARTIFACT("a") ID(5, 0, 1), NULL);
	add(ARTIFACT("a") ", \"frame_id\": 2, \"frame_compile_id\": 0, \"attempt\": 0, \"compiled_autograd_id\": 1", NULL);
	add(ARTIFACT("a"), NULL);
	buf_release(&m);
	int fd = mkstemp(path);
	assert_int_equal(write(fd, in.p, in.len), in.len);
	close(fd);
	struct trace t;
	trace_init(&t, path);
	assert_int_equal(trace_read(&t, NULL, NULL), 0);
	static const char *const v[][2] = {
	    {"0/1", "0/1_1"}, {"[0/1]", "0/1_1"},   {"0/1_2", "0/1_2"},    {"[0/1_1]", "0/1_1"}, {"-_0_1_0", "0/1"},
	    {"5/0", "5/0_1"}, {"!1/2/0", "!1/2/0"}, {"1_2_0_0", "!1/2/0"}, {"-/-", "-/-"},
	};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		const struct trace_compile *c = trace_find_compile(&t, v[i][0]);
		if (!c)
			fail_msg("%s not found", v[i][0]);
		assert_string_equal(compile_id_text(&c->id, id), v[i][1]);
	}
	static const char *const no[] = {"", "0", "0/2", "0/1_3", "2/0", "[", "[]", "0/1/", "unknown"};
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		assert_null(trace_find_compile(&t, no[i]));
	/* The attempts without metrics of their own: restarted, unless nothing came after. */
	assert_int_equal(trace_find_compile(&t, "-_0_1_0")->status, STATUS_BREAK);
	assert_int_equal(trace_find_compile(&t, "0/1_2")->status, STATUS_MISSING);
	trace_release(&t);
	unlink(path);
}

/* ---- numbering ---- */

static void several_kinds_in_one_envelope(void **state)
{
	(void)state;
	/* In the order of kinds.h, whatever the order in the envelope. */
	add(ARTIFACT("last") ", \"link\": {\"name\": \"middle\", \"url\": \"http://x\"}, \"dynamo_cpp_guards_str\": {}" AT, "x");
	add(ARTIFACT("next") AT, NULL);
	read_it();
	assert_int_equal(rd.t.n_artifact, 4);
	path_is(0, "-_0_0_0/dynamo_cpp_guards_str_0.txt");
	path_is(1, "-_0_0_0/middle_1.txt");
	path_is(2, "-_0_0_0/last_2.txt");
	path_is(3, "-_0_0_0/next_3.txt");
	assert_int_equal(rd.s.rec[0].artifacts, 3);
	assert_int_equal(rd.s.rec[1].first_artifact, 3);
	assert_true(rd.t.artifact[1].flags & ART_LINK);
	assert_text(name_at(rd.t.artifact[1].extra), "http://x");
}

static void kernel_stack_traces_take_two_numbers(void **state)
{
	(void)state;
	static const char name[] =
	    "\"artifact\": {\"name\": \"inductor_provenance_tracking_kernel_stack_traces\", \"encoding\": \"json\"}" AT;
	add(name, "{\"k\": [\"a\"]}");
	add(name, "not json"); /* no second page, no second number */
	add(name, "[NaN]");
	add(ARTIFACT("a") AT, NULL);
	read_it();
	path_is(0, "-_0_0_0/inductor_provenance_tracking_kernel_stack_traces_0.json");
	path_is(1, "-_0_0_0/inductor_provenance_tracking_kernel_stack_traces_2.json");
	path_is(3, "-_0_0_0/a_4.txt");
	struct buf b = {0};
	trace_artifact_path(&rd.t, &rd.t.artifact[0], true, &b);
	assert_string_equal(buf_str(&b), "-_0_0_0/inductor_provenance_tracking_kernel_stack_traces_0_readable.html");
	buf_release(&b);
}

static void what_takes_no_number(void **state)
{
	(void)state;
	add("\"artifact\": {\"name\": \"a\", \"encoding\": \"base64\"}" AT, "x");
	add("\"dynamo_guards\": {}" AT, "[{\"nocode\": 1}]");
	add("\"chromium_event\": {}" AT, "{}");
	add("\"dynamo_start\": {}" AT, NULL);
	add("\"str\": [\"f.py\", 0]" AT, NULL);
	add("\"dynamo_guards\": {}" AT, "[{\"code\": \"x\"}]");
	read_it();
	assert_int_equal(rd.t.n_artifact, 1);
	path_is(0, "-_0_0_0/dynamo_guards_0.html");
	damage_is(DAMAGE_ENCODING, 1, 1);
	damage_is(DAMAGE_GUARDS, 1, 3);
	assert_int_equal(rd.t.events, 1);
}

static void file_names(void **state)
{
	(void)state;
	add("\"inductor_output_code\": {\"filename\": \"/tmp/x/cab.c.py\"}" AT, "x");
	add("\"inductor_output_code\": {\"filename\": \"/tmp/..\"}" AT, "x");
	add("\"inductor_output_code\": {}" AT, "x");
	add("\"graph_dump\": {\"name\": \"inductor_aot_wrapper_code\"}" AT, "x");
	add("\"optimize_ddp_split_child\": {\"name\": \"submod_0\"}" AT, "x");
	add("\"dump_file\": {\"name\": \"<eval_with_key>.12\"}" AT, "x");
	add("\"dump_file\": {\"name\": \"other <name>\"}" AT, "x");
	add("\"compilation_metrics\": {}" AT, NULL);
	add("\"bwd_compilation_metrics\": {}" AT, NULL);
	add("\"artifact\": {\"name\": \"torch._functorch.config\", \"encoding\": \"json\"}" AT, "{}");
	read_it();
	static const char *const want[] = {"-_0_0_0/inductor_output_code_cab.c_0.html",
					   "-_0_0_0/inductor_output_code_1.html",
					   "-_0_0_0/inductor_output_code_2.html",
					   "-_0_0_0/inductor_aot_wrapper_code_3.txt",
					   "-_0_0_0/optimize_ddp_split_child_submod_0_4.txt",
					   "dump_file/eval_with_key_12.html",
					   "dump_file/other <name>.html",
					   "-_0_0_0/compilation_metrics_7.html",
					   "-_0_0_0/bwd_compilation_metrics_8.html",
					   "-_0_0_0/torch._functorch.config_9.json"};
	for (uint32_t i = 0; i < ARRAY_LEN(want); i++)
		path_is(i, want[i]);
	no_damage();
}

static void plain_text_code(void **state)
{
	(void)state;
	rd.t.plain_text = true;
	add("\"inductor_output_code\": {\"filename\": \"c.py\"}" AT, "x");
	read_it();
	path_is(0, "-_0_0_0/inductor_output_code_c_0.txt");
}

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

/* ---- strings and stacks ---- */

static void strings(void **state)
{
	(void)state;
	add("\"str\": [\"zero.py\", 0]", NULL);
	add("\"str\": [\"three.py\", 3]", NULL);
	add("\"dynamo_start\": {\"stack\": [{\"line\": 7, \"name\": \"f\", \"filename\": 0}, {\"line\": 8, \"name\": \"g\", \"filename\": "
	    "1},"
	    "{\"line\": 9, \"name\": \"h\", \"filename\": 3}, {\"line\": 10, \"name\": \"i\", \"filename\": 99}]}" AT,
	    NULL);
	add("\"str\": [\"three again.py\", 3]", NULL);
	add("\"str\": [\"x\", 4294967295]", NULL);
	add("\"dynamo_start\": {\"stack\": [{\"line\": 1, \"name\": \"k\", \"filename\": 3, \"uninterned_filename\": \"un.py\"}]}" AT,
	    NULL);
	read_it();
	assert_int_equal(rd.t.n_string, 4);
	assert_int_equal(rd.t.string[1], NONE);
	assert_text(name_at(rd.t.frame[0].file), "zero.py");
	assert_int_equal(rd.t.frame[1].file, NONE);
	assert_text(name_at(rd.t.frame[2].file), "three.py");
	assert_int_equal(rd.t.frame[3].file, NONE);
	assert_text(name_at(rd.t.frame[4].file), "un.py");
	assert_text(name_at(rd.t.string[3]), "three again.py");
	only_damage(DAMAGE_STRINGS, 1, 5);
}

static void tries(void **state)
{
	(void)state;
#define FRAME(n) "{\"line\": " #n ", \"name\": \"f" #n "\", \"filename\": 0}"
	add("\"dynamo_start\": {\"stack\": [" FRAME(1) "," FRAME(2) "]}" AT, NULL);
	add("\"dynamo_start\": {\"stack\": [" FRAME(1) "," FRAME(3) "]}, \"frame_id\": 1, \"frame_compile_id\": 0, \"attempt\": 0", NULL);
	add("\"dynamo_start\": {\"stack\": [" FRAME(1) "]}, \"frame_id\": 2, \"frame_compile_id\": 0, \"attempt\": 0", NULL);
	add("\"dynamo_start\": {\"stack\": []}, \"frame_id\": 3, \"frame_compile_id\": 0, \"attempt\": 0", NULL);
	add("\"dynamo_start\": {\"stack\": [" FRAME(1) "," FRAME(2) "]}, \"frame_id\": 4, \"frame_compile_id\": 0, \"attempt\": 0", NULL);
	add(ARTIFACT("a") AT ", \"stack\": [" FRAME(5) "]", NULL);
	read_it();
	struct buf b = {0};
	model_trie(&b, &rd.t, &rd.t.starts);
	assert_string_equal(buf_str(&b), "  node 0 parent -1 child 1 sibling -1 - 'f1' 1 start 2\n"
					 "  node 1 parent 0 child -1 sibling 2 - 'f2' 2 start 0 start 4\n"
					 "  node 2 parent 0 child -1 sibling -1 - 'f3' 3 start 1\n");
	assert_int_equal(rd.t.compile[3].stack, UINT32_MAX);
	assert_int_equal(rd.t.compile[4].stack, 1);
	assert_int_equal(rd.t.stacks.n, 1);
	buf_release(&b);
}

/* ---- ranks ---- */

static void ranks(void **state)
{
	(void)state;
	add(ARTIFACT("none"), NULL);
	add(ARTIFACT("one") AT ", \"rank\": 1", NULL);
	add(ARTIFACT("zero") AT ", \"rank\": 0", NULL);
	add(ARTIFACT("later") AT, NULL); /* of none: not numbered, but no damage */
	add("\"str\": [\"f.py\", 2]", NULL);
	add(ARTIFACT("two") AT ", \"rank\": 1", NULL);
	read_it();
	assert_int_equal(rd.t.rank, 1);
	assert_int_equal(rd.t.n_artifact, 3);
	path_is(2, "-_0_0_0/two_2.txt");
	assert_true(rd.s.rec[2].flags & REC_OTHER_RANK && rd.s.rec[3].flags & REC_OTHER_RANK);
	assert_int_equal(rd.t.n_string, 3);
	only_damage(DAMAGE_RANK, 1, 3);
}

/* ---- time ---- */

static void add_at(const char *when, const char *members) { buf_addf(&in, "V%s 1234 torch/x.py:915] {%s}\n", when, members); }

static void times(void **state)
{
	(void)state;
	static const struct {
		const char *first, *then;
		double seconds;
	} v[] = {
	    {"1121 07:00:00.000000", "1121 07:00:01.500000", 1.5},   {"1121 23:59:59.000000", "1122 00:00:01.000000", 2},
	    {"1121 10:00:00.000000", "1122 09:00:00.000000", 82800}, {"1121 10:00:00.000000", "1123 11:00:00.000000", 176400},
	    {"1130 23:00:00.000000", "1201 00:00:00.000000", 3600},  {"1231 23:59:59.000000", "0101 00:00:00.000000", 1},
	    {"1121 07:00:01.000000", "1121 07:00:00.000000", 0},     {"1122 00:00:00.000000", "1121 23:59:59.000000", 0},
	    {"1121 07:00:00.000000", "9999 07:00:02.000000", 2},     {"0000 07:00:00.000000", "0000 07:00:02.000000", 2},
	};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		reader_release(&rd);
		setup(NULL);
		add_at(v[i].first, "");
		add_at(v[i].then, ARTIFACT("a"));
		read_it();
		if (rd.t.artifact[0].seconds != (float)v[i].seconds)
			fail_msg("%s to %s: %g", v[i].first, v[i].then, rd.t.artifact[0].seconds);
		assert_true((double)(rd.t.last_usec - rd.t.first_usec) == v[i].seconds * 1e6);
	}
}

/* What a record says of its own time is kept, whatever came before it. */
static void own_times(void **state)
{
	(void)state;
	add_at("1121 23:59:59.000002", "");
	add_at("1121 23:59:59.000001", "");
	add_at("1122 00:00:00.000003", "");
	read_it();
	assert_true(rd.s.rec[1].usec == 86399000001ull);
	assert_true(rd.s.rec[2].usec == 3);
}

/* ---- rows ---- */

static void graph_nodes(void **state)
{
	(void)state;
	add("\"aot_forward_graph\": {}" AT, "class <lambda>(torch.nn.Module):\n"
					    "    def forward(self, arg0_1: \"f32[4]\"):\n"
					    "        l_x_ = L_x_\n"
					    "        # File: a.py:1 in f, code: x = y\n"
					    "        sin: \"f32[4]\" = torch.ops.aten.sin.default(arg0_1);  arg0_1 = None\n"
					    "        add = sin + 1\n"
					    "        getitem: \"f32[a = b]\" = x[0]\n"
					    "        return (add,)");
	add("\"dynamo_cpp_guards_str\": {}" AT, "    x = 1");
	read_it();
	assert_int_equal(rd.t.artifact[0].nodes, 3);
	assert_int_equal(rd.t.artifact[1].nodes, -1);
}

static void metrics(void **state)
{
	(void)state;
	add("\"compilation_metrics\": {\"co_name\": \"f\", \"co_filename\": \"m.py\", \"co_firstlineno\": 3, \"graph_op_count\": 2, "
	    "\"guard_count\": 9,"
	    "\"entire_frame_compile_time_s\": 1.5, \"duration_us\": 7, \"inductor_cumulative_compile_time_us\": 500000, "
	    "\"restart_reasons\": [],"
	    "\"start_time_us\": 1, \"pytorch_version\": \"2.13.0\", \"cudagraph_skip_reason\": \"cpu\"}" AT,
	    NULL);
	add("\"compilation_metrics\": {\"graph_op_count\": 0}, \"frame_id\": 1, \"frame_compile_id\": 0, \"attempt\": 0", NULL);
	add("\"compilation_metrics\": {\"fail_type\": \"E\", \"fail_reason\": \"why\", \"fail_user_frame_filename\": \"m.py\","
	    "\"fail_user_frame_lineno\": 12}, \"frame_id\": 2, \"frame_compile_id\": 0, \"attempt\": 0",
	    NULL);
	add("\"compilation_metrics\": {\"graph_op_count\": 1, \"restart_reasons\": [\"one\", \"two\"]}, \"frame_id\": 3, "
	    "\"frame_compile_id\": 0, \"attempt\": 1",
	    NULL);
	read_it();
	const struct trace_compile *c = rd.t.compile;
	assert_int_equal(c[0].status, STATUS_OK);
	assert_int_equal(c[1].status, STATUS_EMPTY);
	assert_int_equal(c[2].status, STATUS_ERROR);
	assert_int_equal(c[3].status, STATUS_BREAK);
	assert_int_equal(c[0].guards, 9);
	assert_int_equal(c[0].nodes, -1);
	assert_true(c[0].seconds == 1.5 && c[1].seconds < 0);
	assert_text(name_at(c[0].loc.function), "f");
	assert_int_equal(c[0].loc.line, 3);
	assert_int_equal(rd.t.n_failure, 3);
	assert_text(name_at(rd.t.failure[0].reason), "why");
	assert_int_equal(rd.t.failure[0].loc.line, 12);
	assert_int_equal(rd.t.failure[0].metrics, 2);
	assert_int_equal(rd.t.failure[1].type, NONE);
	assert_int_equal(rd.t.n_phase, 1);
	assert_true(rd.t.phase[0].seconds == 0.5);
	assert_int_equal(rd.t.n_skip, 1);
	assert_text(name_at(rd.t.torch_version), "2.13.0");
}

static void caches(void **state)
{
	(void)state;
	add(ARTIFACT("fx_graph_cache_hit_0") AT, NULL);
	add(ARTIFACT("fx_graph_cache_miss_0") AT, NULL);
	add(ARTIFACT("fx_graph_cache_miss_1") AT, NULL);
	add(ARTIFACT("aotautograd_cache_bypass") AT, NULL);
	add(ARTIFACT("fx_graph_bundled_cache_hit") AT, NULL);
	add(ARTIFACT("my_cache_hit") AT, NULL);
	read_it();
	static const uint64_t want[CACHE_COUNT][3] = {{1, 2, 0}, {0, 0, 1}, {1, 0, 0}, {1, 0, 0}};
	assert_memory_equal(rd.t.cache, want, sizeof(want));
}

static void symbols(void **state)
{
	(void)state;
	add("\"str\": [\"m.py\", 1]", NULL);
	add("\"create_symbol\": {\"symbol\": \"s77\", \"val\": \"3\", \"vr\": \"[2, int_oo]\", \"source\": \"L['x'].size()[0]\", "
	    "\"user_stack\":"
	    "[{\"line\": 1, \"name\": \"main\", \"filename\": 1}, {\"line\": 4, \"name\": \"f\", \"filename\": 1, \"loc\": \"return x\"}], "
	    "\"stack\": []}" AT,
	    NULL);
	add("\"create_symbol\": {\"symbol\": \"zf1\", \"val\": 2.50, \"user_stack\": [1]}" AT, NULL);
	add("\"create_unbacked_symbol\": {\"symbol\": \"u0\", \"node_id\": 1, \"vr\": null}" AT, NULL);
	add("\"symbolic_shape_specialization\": {\"symbol\": \"s0\", \"sources\": [\"a\", \"b\"], \"value\": \"6\", \"reason\": "
	    "\"why\"}" AT,
	    NULL);
	add("\"create_symbol\": [1]" AT, NULL);
	read_it();
	assert_int_equal(rd.t.n_symbol, 3);
	assert_text(name_at(rd.t.symbol[0].value), "3");
	assert_int_equal(rd.t.symbol[0].loc.line, 4);
	assert_text(name_at(rd.t.symbol[0].loc.file), "m.py");
	assert_text(name_at(rd.t.symbol[0].loc.code), "return x");
	assert_text(name_at(rd.t.symbol[1].value), "2.50");
	assert_true(rd.t.symbol[2].unbacked && !rd.t.symbol[0].unbacked);
	assert_int_equal(rd.t.n_special, 1);
	assert_text(name_at(rd.t.special[0].sources), "a\nb");
}

static void breaks_and_recompiles(void **state)
{
	(void)state;
	static const char text[] =
	    "Graph break in user code at m.py:5\nGraph Break Reason: Call to x\n  Explanation: why\n  Hint: do this\n";
	add(ARTIFACT("dynamo_graph_break_reason") AT, text);
	add(ARTIFACT("recompile_reasons") AT, "[\"0/1: a == 2  # y  # m.py:3 in f\", \"0/0: b == 1\"]");
	add("\"artifact\": {\"name\": \"recompile_reasons\", \"encoding\": \"json\"}" AT, "0/0: n == 7");
	add("\"compilation_metrics\": {\"graph_op_count\": 1, \"restart_reasons\": [\"Call to x\\n  Explanation: why\", \"Call to y\\n  "
	    "Explanation: z\","
	    "\"a size became dynamic\"]}, \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 1",
	    NULL);
	read_it();
	/* The first restart is the break told already; the second is one; the third is none. */
	assert_int_equal(rd.t.n_brk, 2);
	assert_text(name_at(rd.t.brk[0].reason), "Call to x");
	assert_text(name_at(rd.t.brk[0].hints), "do this");
	assert_int_equal(rd.t.brk[0].loc.line, 5);
	assert_text(name_at(rd.t.brk[1].reason), "Call to y");
	assert_int_equal(rd.t.brk[1].artifact, UINT32_MAX);
	assert_int_equal(rd.t.n_recompile, 2);
	assert_text(name_at(rd.t.recompile[0].guard), "a == 2");
	assert_text(name_at(rd.t.recompile[0].all), "0/1: a == 2  # y  # m.py:3 in f\n0/0: b == 1");
	assert_text(name_at(rd.t.recompile[1].old), "7");
}

static void kinds(void **state)
{
	(void)state;
	for (unsigned i = 0; i < KIND_COUNT; i++)
		assert_int_equal(trace_kind_of(slice_of(trace_kind[i].name, trace_kind[i].name_len)), i);
	assert_int_equal(trace_kind_of(SLICE("artifac")), KIND_COUNT);
	assert_int_equal(trace_kind_of(SLICE("")), KIND_COUNT);
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
	trace_init(&t, path);
	assert_int_equal(trace_read(&t, NULL, &err), -1);
	assert_non_null(strstr(err.text, "is empty"));
	trace_release(&t);
	assert_false(trace_is_log(path));
	assert_int_equal(write(fd, "no log\n", 7), 7);
	trace_init(&t, path);
	assert_int_equal(trace_read(&t, NULL, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_non_null(strstr(err.text, "1 lines"));
	trace_release(&t);
	assert_false(trace_is_log(path));
	small_log("", "");
	assert_int_equal(write(fd, in.p, in.len), in.len);
	assert_true(trace_is_log(path));
	trace_init(&t, path);
	assert_int_equal(trace_read(&t, NULL, &err), 0);
	assert_int_equal(t.n_artifact, 5);
	trace_release(&t);
	const struct trace_hooks hooks = {.ctx = &left, .record = stop};
	trace_init(&t, path);
	assert_int_equal(trace_read(&t, &hooks, &err), -1);
	assert_int_equal(left, 0);
	trace_release(&t);
	close(fd);
	unlink(path);
	trace_init(&t, path);
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
		trace_init(&t, path);
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(prefixes),
	    TEST(prefix_fields),
	    TEST(truncated_anywhere),
	    TEST(no_last_newline),
	    TEST(line_ends),
	    TEST(blank_lines),
	    TEST(noise),
	    TEST(noise_at_the_end),
	    TEST(labels),
	    TEST(bytes_that_are_no_text),
	    TEST(md5),
	    TEST(payload_lost_at_the_end),
	    TEST(has_payload_of_another_type),
	    TEST(malformed),
	    TEST(well_formed),
	    TEST(not_json),
	    TEST(unknown_keys),
	    TEST(reserved_keys),
	    TEST(compile_ids),
	    TEST(ids_of_wrong_type),
	    TEST(missing_attempt_is_the_first),
	    TEST(find_compile),
	    TEST(several_kinds_in_one_envelope),
	    TEST(kernel_stack_traces_take_two_numbers),
	    TEST(what_takes_no_number),
	    TEST(file_names),
	    TEST(plain_text_code),
	    TEST(safe_paths),
	    TEST(long_names),
	    TEST(deep_names),
	    TEST(random_names),
	    TEST(hostile_artifacts),
	    TEST(strings),
	    TEST(tries),
	    TEST(ranks),
	    TEST(times),
	    TEST(own_times),
	    TEST(graph_nodes),
	    TEST(metrics),
	    TEST(caches),
	    TEST(symbols),
	    TEST(breaks_and_recompiles),
	    TEST(kinds),
	    TEST(split_small),
	    TEST(split_crlf),
	    TEST(split_long_labelled),
	    TEST(split_recorded),
	    TEST(cut_of_no_log),
	    TEST(continued_line),
	    TEST(reading_files),
	    TEST(threads),
	};
	return RUN(tests);
}
