/* libcommon/core/run/trace: lines into records: prefixes, payloads, envelopes, compile ids. */
#include "../../lib/traced.h"

#include <unistd.h>

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
	buf_cut(&in, in.len - 1);
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
	buf_cut(&in, in.len - strlen("\tthree\n"));
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
		if (!rd.t.damage[DAMAGE_MALFORMED].count || rd.t.n_artifact || rd.t.f->n_attempt || trace_strings(&rd.t))
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
		if (trace_damaged(&rd.t) || rd.t.f->n_attempt != 1 || rd.t.n_unknown)
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
	assert_string_equal(compile_id_text(&rd.t.f->attempt[0].id, out), text);
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
	assert_int_equal(rd.t.f->n_attempt, 1);
	path_is(1, "unknown_2/b_1.txt");
}

static void missing_attempt_is_the_first(void **state)
{
	(void)state;
	add(ARTIFACT("a") AT, NULL);
	add(ARTIFACT("b") ", \"frame_id\": 0, \"frame_compile_id\": 0", NULL);
	read_it();
	assert_int_equal(rd.t.f->n_attempt, 1);
	assert_int_equal(rd.t.f->attempt[0].artifacts, 2);
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
	trace_init(&t, path, NULL);
	assert_int_equal(trace_read(&t, NULL, NULL), 0);
	static const char *const v[][2] = {
	    {"0/1", "0/1_1"}, {"[0/1]", "0/1_1"},   {"0/1_2", "0/1_2"},    {"[0/1_1]", "0/1_1"}, {"-_0_1_0", "0/1"},
	    {"5/0", "5/0_1"}, {"!1/2/0", "!1/2/0"}, {"1_2_0_0", "!1/2/0"}, {"-/-", "-/-"},
	};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		const struct fact_attempt *c = trace_find_compile(&t, v[i][0]);
		if (!c)
			fail_msg("%s not found", v[i][0]);
		assert_string_equal(compile_id_text(&c->id, id), v[i][1]);
	}
	static const char *const no[] = {"", "0", "0/2", "0/1_3", "2/0", "[", "[]", "0/1/", "unknown"};
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		assert_null(trace_find_compile(&t, no[i]));
	/* The attempts without metrics of their own: restarted, unless nothing came after. */
	assert_int_equal(trace_find_compile(&t, "-_0_1_0")->status, COMPILE_BREAK);
	assert_int_equal(trace_find_compile(&t, "0/1_2")->status, COMPILE_UNKNOWN);
	trace_release(&t);
	unlink(path);
}

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
	};
	return RUN(tests);
}
