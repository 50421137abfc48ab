/* libcommon/core/run/trace: records into the model: numbers of artifacts, strings, stacks, times, rows. */
#include "../../lib/traced.h"

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
	assert_int_equal(trace_strings(&rd.t), 4);
	assert_int_equal(trace_string(&rd.t, 1), NONE);
	assert_text(name_at(rd.t.frame[0].file), "zero.py");
	assert_int_equal(rd.t.frame[1].file, NONE);
	assert_text(name_at(rd.t.frame[2].file), "three.py");
	assert_int_equal(rd.t.frame[3].file, NONE);
	assert_text(name_at(rd.t.frame[4].file), "un.py");
	assert_text(name_at(trace_string(&rd.t, 3)), "three again.py");
	only_damage(DAMAGE_STRINGS, 1, 5);
}

static void tries(void **state)
{
	(void)state;
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
	assert_int_equal(rd.t.f->attempt[3].stack, UINT32_MAX);
	assert_int_equal(rd.t.f->attempt[4].stack, 1);
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
	assert_int_equal(trace_strings(&rd.t), 3);
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
	const struct fact_attempt *c = rd.t.f->attempt;
	assert_int_equal(c[0].status, COMPILE_OK);
	assert_int_equal(c[1].status, COMPILE_EMPTY);
	assert_int_equal(c[2].status, COMPILE_FAILED);
	assert_int_equal(c[3].status, COMPILE_BREAK);
	assert_int_equal(c[0].guards, 9);
	assert_int_equal(c[0].nodes, -1);
	assert_true(c[0].seconds == 1.5 && c[1].seconds < 0);
	assert_text(name_at(c[0].loc.function), "f");
	assert_int_equal(c[0].loc.line, 3);
	assert_int_equal(rd.t.f->n_failure, 3);
	assert_text(name_at(rd.t.f->failure[0].reason), "why");
	assert_int_equal(rd.t.f->failure[0].user.line, 12);
	assert_int_equal(rd.t.f->failure[0].src.artifact, 2);
	assert_int_equal(rd.t.f->failure[1].type, NONE);
	assert_int_equal(rd.t.n_phase, 1);
	assert_true(rd.t.phase[0].seconds == 0.5);
	assert_int_equal(rd.t.f->n_cudagraph, 1);
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
	static const unsigned want[] = {ART_HIT, ART_MISS, ART_MISS, ART_BYPASS, ART_HIT, ART_HIT};
	for (unsigned i = 0; i < ARRAY_LEN(want); i++)
		assert_int_equal(rd.t.artifact[i].flags & (ART_HIT | ART_MISS | ART_BYPASS), want[i]);
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
	assert_int_equal(rd.t.f->n_symbol, 3);
	assert_text(name_at(rd.t.f->symbol[0].value), "3");
	assert_int_equal(rd.t.f->symbol[0].loc.line, 4);
	assert_text(name_at(rd.t.f->symbol[0].loc.file), "m.py");
	assert_text(name_at(rd.t.f->symbol[0].loc.code), "return x");
	assert_text(name_at(rd.t.f->symbol[1].value), "2.50");
	assert_true(rd.t.f->symbol[2].unbacked && !rd.t.f->symbol[0].unbacked);
	assert_int_equal(rd.t.f->n_bound, 1);
	assert_text(name_at(rd.t.f->bound[0].sources), "a\nb");
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
	assert_int_equal(rd.t.f->n_brk, 2);
	assert_text(name_at(rd.t.f->brk[0].reason), "Call to x");
	assert_text(name_at(rd.t.f->brk[0].hints), "do this");
	assert_int_equal(rd.t.f->brk[0].loc.line, 5);
	assert_text(name_at(rd.t.f->brk[1].reason), "Call to y");
	assert_int_equal(rd.t.f->brk[1].src.artifact, UINT32_MAX);
	assert_int_equal(rd.t.f->n_recompile, 2);
	assert_text(name_at(rd.t.f->recompile[0].guard), "a == 2");
	assert_text(name_at(rd.t.f->recompile[0].all), "0/1: a == 2  # y  # m.py:3 in f\n0/0: b == 1");
	assert_text(name_at(rd.t.f->recompile[1].old), "7");
}

static void kinds(void **state)
{
	(void)state;
	for (unsigned i = 0; i < KIND_COUNT; i++)
		assert_int_equal(trace_kind_of(slice_of(trace_kind[i].name, trace_kind[i].name_len)), i);
	assert_int_equal(trace_kind_of(SLICE("artifac")), KIND_COUNT);
	assert_int_equal(trace_kind_of(SLICE("")), KIND_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(several_kinds_in_one_envelope),
	    TEST(kernel_stack_traces_take_two_numbers),
	    TEST(what_takes_no_number),
	    TEST(file_names),
	    TEST(plain_text_code),
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
	};
	return RUN(tests);
}
