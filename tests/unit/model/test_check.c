/* aoti/contract, aoti/check: symbols and their sources, peaks, JSON both ways, and every way an input is wrong. */
#include "model/check/check.h"
#include "../../lib/test.h"

/* x [s77, 8], y [2*s77, 3] with channels last strides unknown to check_input, mask bool [s77] unused. */
static const char *const text =
    "{\"schema\":\"pt2utils.contract/1\",\"source\":\"text\",\"model\":\"m\",\"device\":\"cpu\",\"weight_bytes\":0,\"inputs\":["
    "{\"index\":0,\"name\":\"x\",\"path\":\"args[0]\",\"dtype\":\"float32\",\"device\":\"cpu\",\"rank\":2,\"dims\":["
    "{\"size\":\"s77\",\"min\":2,\"max\":64,\"stride\":8,\"size_checked\":false,\"stride_checked\":true},"
    "{\"size\":8,\"min\":null,\"max\":null,\"stride\":1,\"size_checked\":true,\"stride_checked\":true}],"
    "\"asserted\":2,\"alignment\":16,\"used\":true},"
    "{\"index\":1,\"name\":\"y\",\"path\":null,\"dtype\":\"int64\",\"device\":\"cpu\",\"rank\":2,\"dims\":["
    "{\"size\":\"2*s77\",\"min\":4,\"max\":128,\"stride\":1,\"size_checked\":false,\"stride_checked\":true},"
    "{\"size\":3,\"min\":null,\"max\":null,\"stride\":\"2*s77\",\"size_checked\":true,\"stride_checked\":false}],"
    "\"asserted\":1,\"alignment\":null,\"used\":true},"
    "{\"index\":2,\"name\":\"mask\",\"path\":null,\"dtype\":\"bool\",\"device\":null,\"rank\":null,\"dims\":["
    "{\"size\":null,\"min\":2,\"max\":64,\"stride\":null,\"size_checked\":false,\"stride_checked\":false}],"
    "\"asserted\":null,\"alignment\":null,\"used\":false}],"
    "\"symbols\":[{\"name\":\"s77\",\"min\":2,\"max\":64,\"input\":0,\"dim\":0}],\"outputs\":[],\"constants\":[],"
    "\"values\":[{\"name\":\"buf0\",\"kind\":\"buffer\",\"index\":null,\"storage\":0,\"dtype\":null,\"device\":null,"
    "\"sizes\":null,\"strides\":null}],"
    "\"storages\":[{\"bytes\":\"64*s77\",\"born\":0,\"dies\":1},{\"bytes\":100,\"born\":1,\"dies\":2},{\"bytes\":1000,\"born\":2,\"dies\":"
    "2}],"
    "\"calls\":[{\"kind\":\"kernel\",\"name\":\"k0\",\"line\":7,\"source_nodes\":null,\"original_aten\":null,\"args\":["
    "{\"role\":\"out\",\"value\":0,\"text\":null}]},"
    "{\"kind\":\"op\",\"name\":\"k1\",\"line\":null,\"source_nodes\":\"linear\",\"original_aten\":null,\"args\":[]},"
    "{\"kind\":\"proxy\",\"name\":\"k2\",\"line\":null,\"source_nodes\":null,\"original_aten\":null,\"args\":[]}],"
    "\"in_spec\":null,\"out_spec\":null,\"notes\":[\"a note\"]}";

static struct contract c;
static struct err err;

static int setup(void **state)
{
	(void)state;
	if (contract_from_json(&c, slice_str(text), &err) < 0)
		fail_msg("%s", err.text);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	contract_release(&c);
	return 0;
}

static struct tensor_meta meta(const char *spec)
{
	struct tensor_meta m;
	if (tensor_spec_parse(slice_str(spec), &m, &err) < 0)
		fail_msg("%s", err.text);
	return m;
}

/* "what input dim; ..." of all findings; the first AOTI text is kept. */
static char summary[2000], first_aoti[500];

static void check(const char *x, const char *y, const char *mask)
{
	struct tensor_meta in[3] = {{.n_dim = -1}, {.n_dim = -1}, {.n_dim = -1}};
	const char *spec[] = {x, y, mask};
	struct check k = {0};
	struct buf b = {0};
	for (int i = 0; i < 3; i++)
		if (spec[i])
			in[i] = meta(spec[i]);
	check_inputs(&k, &c, in, 3);
	first_aoti[0] = 0;
	for (size_t i = 0; i < k.n; i++) {
		buf_addf(&b, "%s%s %d %d", i ? "; " : "", check_what_name(k.v[i].what), (int)k.v[i].input, k.v[i].dim);
		if (k.v[i].aoti.n && !first_aoti[0])
			snprintf(first_aoti, sizeof first_aoti, "%.*s", SL(k.v[i].aoti));
		assert_true(k.v[i].fix.n && k.v[i].expected.n && k.v[i].given.n);
	}
	snprintf(summary, sizeof summary, "%s", buf_str(&b));
	buf_release(&b);
	check_release(&k);
}

#define GOOD_X "f32[5,8]"
#define GOOD_Y "i64[10,3]/(1,10)"
#define GOOD_MASK "b8[5]"

static void test_fits(void **state)
{
	(void)state;
	check(GOOD_X, GOOD_Y, GOOD_MASK);
	assert_string_equal(summary, "");
	check("f32[2,8]", "i64[4,3]/(1,4)", "b8[64,3]"); /* an unused input may have more dims than are mentioned */
	assert_string_equal(summary, "");
	check("f32[64,8]", "i64[128,3]/(1,128)", "b8[2]@cuda:0"); /* its device is not checked */
	assert_string_equal(summary, "");
}

static void test_each_way(void **state)
{
	(void)state;
	check("f64[5,8]", GOOD_Y, GOOD_MASK);
	assert_string_equal(summary, "dtype 0 -1");
	assert_string_equal(first_aoti, "input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7");
	check("f32[5,9]", GOOD_Y, GOOD_MASK); /* the strides of a contiguous tensor follow from its sizes */
	assert_string_equal(summary, "size 0 1");
	assert_string_equal(first_aoti, "input_handles[0]: unmatched dim value at 1, expected: 8, but got: 9");
	check("f32[1,8]", "i64[2,3]/(1,2)", GOOD_MASK);
	assert_string_equal(summary, "too-small 0 0; too-small 1 0");
	assert_string_equal(first_aoti, "input_handles[0]: dim value is too small at 0, expected it to be >= 2, but got: 1");
	check("f32[65,8]", "i64[130,3]/(1,130)", GOOD_MASK);
	assert_string_equal(summary, "too-large 0 0; too-large 1 0");
	assert_string_equal(first_aoti, "input_handles[0]: dim value is too large at 0, expected to be <= 64, but got: 65");
	check("f32[5,8]/(1,5)", GOOD_Y, GOOD_MASK);
	assert_string_equal(summary, "stride 0 0; stride 0 1");
	assert_string_equal(first_aoti, "input_handles[0]: unmatched stride value at 0, expected: 8, but got: 1");
	check("f32[5,8]@cuda:1", GOOD_Y, GOOD_MASK);
	assert_string_equal(summary, "device 0 -1");
	assert_string_equal(first_aoti, "input_handles[0]: unmatched device type, expected: 00(cpu), but got: 1");
	check(GOOD_X, "i64[12,3]/(1,12)", GOOD_MASK); /* 2*s77 is 10 */
	assert_string_equal(summary, "equal 1 0; stride 1 1");
	assert_string_equal(first_aoti,
			    "expected size 12==10, stride 1==1 at dim=0; expected size 3==3, stride 12==10 at dim=1\nError in op: input");
	check(GOOD_X, "i64[10,3]", GOOD_MASK);
	assert_string_equal(summary, "stride 1 0; stride 1 1");
}

static void test_rank(void **state)
{
	(void)state;
	check("f32[5]", GOOD_Y, GOOD_MASK); /* torch reads sizes that are not there */
	assert_string_equal(summary, "rank 0 -1");
	check("f32[5,8,1]/(8,1,1)", GOOD_Y, GOOD_MASK); /* check_input does not count dims */
	assert_string_equal(summary, "rank 0 -1");
	assert_string_equal(first_aoti, "expected ndim 2 but got 3\nError in op: input");
	check("f32[3,5,8]", GOOD_Y, GOOD_MASK);
	assert_string_equal(summary, "rank 0 -1");
	assert_string_equal(first_aoti, "input_handles[0]: unmatched dim value at 1, expected: 8, but got: 5");
	/* What assert_size_stride sees comes after all of check_input. */
	check("f32[5,8,1]/(8,1,1)", "i32[10,3]/(1,10)", GOOD_MASK);
	assert_string_equal(summary, "dtype 1 -1; rank 0 -1");
	check(GOOD_X, GOOD_Y, "b8[]");
	assert_string_equal(summary, "rank 2 -1");
}

static void test_odd_shapes(void **state)
{
	(void)state;
	/* No elements: sizes and strides are not asserted, but check_input looks. */
	check(GOOD_X, "i64[10,0]/(1,10)", GOOD_MASK);
	assert_string_equal(summary, "size 1 1");
	/* A dim of one element: check_input compares its stride all the same. */
	check("f32[5,8]/(9,1)", GOOD_Y, GOOD_MASK);
	assert_string_equal(summary, "stride 0 0");
	/* Everything at once. */
	check("f64[1,9]@cuda:0", "i32[3,3]", "i8[1]");
	assert_string_equal(summary, "dtype 0 -1; too-small 0 0; size 0 1; device 0 -1; dtype 1 -1; too-small 1 0; stride 1 0; dtype 2 -1; "
				     "too-small 2 0; stride 1 1");
}

static void test_missing(void **state)
{
	(void)state;
	check(GOOD_X, NULL, GOOD_MASK);
	assert_string_equal(summary, "count -1 -1");
	assert_string_equal(first_aoti, "expected inputs vector size to be 3, but got 2");
	struct tensor_meta in[5] = {meta(GOOD_X), meta(GOOD_Y), meta(GOOD_MASK), meta("f32[]"), meta("f32[]")};
	struct check k = {0};
	check_inputs(&k, &c, in, 5);
	assert_int_equal(k.n_bad, 1);
	assert_int_equal(k.v[0].what, CHECK_COUNT);
	check_release(&k);
	check_inputs(&k, &c, NULL, 0);
	assert_int_equal(k.n_bad, 1);
	check_release(&k);
}

static void test_fixes(void **state)
{
	(void)state;
	static const struct {
		const char *x, *fix;
	} cases[] = {
	    {"f16[5,8]", ".to(torch.float32)"},
	    {"f32[5,8]@cuda:0", ".to(\"cpu\")"},
	    {"f32[5,8]/(1,5)", ".contiguous()"},
	    {"f32[5,8,1]/(8,1,1)", ".squeeze(2)"},
	    {"f32[8]", ".unsqueeze(0), and dim 0 must be at least 2"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct tensor_meta in[3] = {meta(cases[i].x), meta(GOOD_Y), meta(GOOD_MASK)};
		struct check k = {0};
		check_inputs(&k, &c, in, 3);
		assert_true(k.n >= 1);
		assert_text(k.v[0].fix, cases[i].fix);
		check_release(&k);
	}
	struct tensor_meta in[3] = {meta(GOOD_X), meta("i64[10,3]"), meta(GOOD_MASK)};
	struct check k = {0};
	check_inputs(&k, &c, in, 3);
	assert_text(k.v[0].fix, ".permute(1, 0).contiguous().permute(1, 0)");
	check_release(&k);
}

static void test_alignment(void **state)
{
	(void)state;
	struct tensor_meta in[3] = {meta(GOOD_X), meta(GOOD_Y), meta(GOOD_MASK)};
	struct check k = {0};
	in[0].has_address = in[1].has_address = true;
	in[0].address = in[1].address = 0x1004;
	check_inputs(&k, &c, in, 3);
	assert_int_equal(k.n, 1);
	assert_int_equal(k.n_bad, 0);
	assert_true(k.v[0].advice);
	check_release(&k);
}

static void test_peak(void **state)
{
	(void)state;
	struct symbind env = {0};
	uint64_t peak;
	uint32_t lost;
	assert_false(contract_peak(&c, &env, &peak, &lost));
	assert_int_equal(lost, 1);
	assert_true(contract_bind_max(&c, &env));
	assert_true(contract_peak(&c, &env, &peak, &lost));
	assert_int_equal(peak, 64 * 64 + 100);
	symbind_set(&env, c.symbol[0].symbol, 2);
	assert_true(contract_peak(&c, &env, &peak, NULL));
	assert_int_equal(peak, 1100);
	symbind_release(&env);
}

static void test_json_again(void **state)
{
	(void)state;
	struct contract again;
	struct buf a = {0}, b = {0};
	struct json_out o = {.b = &a}, p = {.b = &b};
	contract_to_json(&c, &o);
	if (contract_from_json(&again, buf_slice(&a), &err) < 0)
		fail_msg("%s", err.text);
	contract_to_json(&again, &p);
	assert_string_equal(buf_str(&a), buf_str(&b));
	struct comparison same;
	contract_compare(&c, &again, &same);
	assert_string_equal(buf_str(&same.differs), "");
	assert_string_equal(buf_str(&same.open), "");
	assert_int_equal(same.n_calls, c.n_calls);
	comparison_release(&same);
	contract_release(&again);
	buf_release(&a);
	buf_release(&b);
}

/* What was followed of a probed program. */
static void test_json_followed(void **state)
{
	(void)state;
	static const char more[] = "{\"followed\":{\"stopped\":\"why\",\"rigid\":true,\"lost_ways\":2,\"ways\":[[\"k0\",\"k3\"],[]]},";
	struct buf probed = {0}, out = {0};
	struct contract d;
	struct comparison k;
	struct json_out o = {.b = &out};
	uint64_t peak;
	struct symbind env = {0};
	buf_addf(&probed, "%s%s", more, text + 1);
	if (contract_from_json(&d, buf_slice(&probed), &err) < 0)
		fail_msg("%s", err.text);
	assert_text(d.stopped, "why");
	assert_true(d.rigid);
	assert_int_equal(d.n_lost_ways, 2);
	assert_int_equal(d.n_ways, 2);
	assert_int_equal(d.way[0].n, 2);
	assert_text(d.way[0].call[1], "k3");
	assert_int_equal(d.way[1].n, 0);
	contract_bind_max(&c, &env);
	assert_true(contract_peak(&c, &env, &peak, NULL));
	assert_false(contract_peak(&d, &env, &peak, NULL));
	symbind_release(&env);
	/* A call that the text does not know is a difference; what was not followed is none. */
	contract_compare(&c, &d, &k);
	assert_string_equal(buf_str(&k.differs), "call 1: k3 in the binary, nowhere in the text\n");
	assert_int_equal(k.n_open, 3);
	assert_true(k.branches);
	comparison_release(&k);
	d.source = CONTRACT_FROM_PROBE;
	contract_to_json(&d, &o);
	assert_non_null(slice_find(buf_slice(&out), more + 1));
	contract_release(&d);
	buf_release(&out);
	buf_release(&probed);
}

/* Every prefix, and every byte changed: an error or a contract, never a crash. */
static void test_json_damaged(void **state)
{
	(void)state;
	struct guard g = {0};
	struct contract d;
	size_t n = strlen(text);
	char *copy = xstrdup(text);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(contract_from_json(&d, slice_of(guard_put(&g, text, i), i), &err), -1);
		static const char with[] = "0\"x[}-";
		copy[i] = with[i % (sizeof(with) - 1)];
		if (contract_from_json(&d, slice_of(guard_put(&g, copy, n), n), &err) == 0)
			contract_release(&d);
		copy[i] = text[i];
	}
	free(copy);
	guard_release(&g);
}

static void test_diff(void **state)
{
	(void)state;
	static const struct {
		const char *from, *to, *line;
	} cases[] = {
	    {"\"size\":8,", "\"size\":9,", "input 0 (x), dim 1: size 8 in the text, 9 in the binary\n"},
	    {"\"2*s77\",\"min\":4", "\"3*s77\",\"min\":4", "input 1 (y), dim 0: size 2*s77 in the text, 3*s77 in the binary\n"},
	    {"\"min\":2,\"max\":64,\"stride\":8", "\"min\":2,\"max\":15,\"stride\":8",
	     "input 0 (x), dim 0: bounds [2, 64] in the text, [2, 15] in the binary\n"},
	    {"\"int64\"", "\"int32\"", "input 1 (y): int64 in the text, int32 in the binary\n"},
	    {"\"k1\"", "\"k9\"", "call 1: k1 in the text, k9 in the binary\n"},
	    {"\"s77\"", "\"s0\"", ""}, /* names of symbols mean nothing */
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct contract d;
		struct buf other = {0};
		struct comparison k;
		struct slice rest = slice_str(text);
		const char *at;
		bool all = !cases[i].line[0];
		while ((at = slice_find(rest, cases[i].from))) {
			size_t before = (size_t)(at - rest.p), n = strlen(cases[i].from);
			buf_add(&other, rest.p, before);
			buf_adds(&other, cases[i].to);
			rest = slice_of(at + n, rest.n - before - n);
			if (!all)
				break;
		}
		buf_add_slice(&other, rest);
		if (all) { /* in expressions, too */
			char *p = xstrdup(buf_str(&other));
			buf_reset(&other);
			for (char *q = p; *q; q++)
				if (!strncmp(q, "*s77", 4)) {
					buf_adds(&other, "*s0");
					q += 3;
				} else {
					buf_addc(&other, *q);
				}
			free(p);
		}
		if (contract_from_json(&d, buf_slice(&other), &err) < 0)
			fail_msg("%s", err.text);
		contract_compare(&c, &d, &k);
		assert_string_equal(buf_str(&k.differs), cases[i].line);
		assert_int_equal(k.n_differs, cases[i].line[0] != 0);
		assert_int_equal(k.n_open, 0);
		comparison_release(&k);
		contract_release(&d);
		buf_release(&other);
	}
}

/* x [n] becomes what `out` says, by a call of this kind and name; a second value is between the two. */
static const char *cuts(const char *kind, const char *name, const char *in_sizes, const char *out, const char *given)
{
	static struct buf b;
	struct contract m;
	struct check k = {0};
	struct tensor_meta in = meta(given);
	buf_reset(&b);
	buf_addf(
	    &b,
	    "{\"schema\":\"pt2utils.contract/1\",\"source\":\"text\",\"model\":\"m\",\"device\":\"cpu\",\"weight_bytes\":0,\"inputs\":["
	    "{\"index\":0,\"name\":\"x\",\"path\":\"args[0]\",\"dtype\":\"float32\",\"device\":\"cpu\",\"rank\":%d,\"dims\":[%s],"
	    "\"asserted\":1,\"alignment\":null,\"used\":true}],"
	    "\"symbols\":[{\"name\":\"s0\",\"min\":2,\"max\":null,\"input\":0,\"dim\":0}],\"outputs\":["
	    "{\"index\":0,\"name\":\"o\",\"path\":null,\"dtype\":null,\"device\":null,\"sizes\":null,\"strides\":null,\"value\":2}],"
	    "\"constants\":[],\"values\":["
	    "{\"name\":\"x\",\"kind\":\"input\",\"index\":0,\"storage\":null,\"dtype\":null,\"device\":null,\"sizes\":null,\"strides\":"
	    "null},"
	    "{\"name\":\"buf0\",\"kind\":\"buffer\",\"index\":null,\"storage\":0,\"dtype\":null,\"device\":null,\"sizes\":[%s],"
	    "\"strides\":[%s]},"
	    "{\"name\":\"buf1\",\"kind\":\"buffer\",\"index\":null,\"storage\":1,\"dtype\":null,\"device\":null,\"sizes\":[%s],"
	    "\"strides\":[null,null]}],"
	    "\"storages\":[{\"bytes\":null,\"born\":0,\"dies\":1},{\"bytes\":null,\"born\":1,\"dies\":1}],\"calls\":["
	    "{\"kind\":\"kernel\",\"name\":\"cpp_fused_sin_0\",\"line\":7,\"source_nodes\":null,\"original_aten\":null,\"args\":["
	    "{\"role\":\"in\",\"value\":0,\"text\":null},{\"role\":\"out\",\"value\":1,\"text\":null}]},"
	    "{\"kind\":\"%s\",\"name\":\"%s\",\"line\":8,\"source_nodes\":null,\"original_aten\":null,\"args\":["
	    "{\"role\":\"in\",\"value\":1,\"text\":null},{\"role\":\"out\",\"value\":2,\"text\":null}]}],"
	    "\"in_spec\":null,\"out_spec\":null,\"notes\":[]}",
	    in.n_dim, in_sizes, in.n_dim == 1 ? "\"s0\"" : "\"s0\",8", in.n_dim == 1 ? "1" : "8,1", out, kind, name);
	if (contract_from_json(&m, buf_slice(&b), &err) < 0)
		fail_msg("%s", err.text);
	check_cuts(&k, &m, &in, 1);
	buf_reset(&b);
	assert_int_equal(k.n_bad, 0);
	for (size_t i = 0; i < k.n; i++) {
		const struct check_finding *f = &k.v[i];
		assert_true(f->advice && !f->aoti.n);
		buf_addf(&b, "%s %u %d: %.*s; %.*s; %.*s", check_what_name(f->what), f->input, f->dim, SL(f->expected), SL(f->given),
			 SL(f->fix));
	}
	check_release(&k);
	contract_release(&m);
	return buf_str(&b);
}

#define DIM(size, stride) \
	"{\"size\":" size ",\"min\":null,\"max\":null,\"stride\":" stride ",\"size_checked\":false,\"stride_checked\":false}"

static void test_cuts(void **state)
{
	(void)state;
	static const char one[] = DIM("\"s0\"", "1"), two[] = DIM("\"s0\"", "8") "," DIM("8", "1");
	/* as_strided(x, (100, n//100)).relu() (pytorch#151925): every hundredth size has all elements. */
	static const char cut[] =
	    "cut 0 0: s0 = 2000 or 2100, so that no element is dropped; 2099; output 0 is [100, s0//100 = 20]: 99 of 2099 "
	    "elements are silently dropped; correct only if the model drops the remainder on purpose";
	assert_string_equal(cuts("kernel", "cpp_fused_as_strided_relu_1", one, "100,\"s0//100\"", "f32[2099]"), cut);
	assert_string_equal(cuts("kernel", "cpp_fused_as_strided_relu_1", one, "100,\"s0//100\"", "f32[2100]"), "");
	assert_string_equal(cuts("kernel", "cpp_fused_as_strided_relu_1", one, "100,\"s0//100\"", "f32[99]"), "");
	/* 8*n elements in rows of 25 */
	assert_non_null(strstr(cuts("kernel", "cpp_fused_view_1", two, "25,\"(8*s0)//25\"", "f32[26,8]"), "s0 = 25 or 50"));
	/* Pooling and strides: fewer elements at every size. Chunks: every element is in one. */
	assert_string_equal(cuts("kernel", "cpp_fused_mean_1", one, "1,\"s0//2\"", "f32[2099]"), "");
	assert_string_equal(cuts("kernel", "cpp_fused_mean_1", one, "2,\"(s0 - 3)//2 + 1\"", "f32[2099]"), "");
	assert_string_equal(cuts("kernel", "cpp_fused_add_1", one, "1,\"(s0 + 1)//2\"", "f32[2099]"), "");
	/* Of an operator, and of a kernel that drops a rest on purpose, it is right. */
	assert_string_equal(cuts("op", "aoti_torch_cpu_convolution", one, "2,\"s0//2\"", "f32[2099]"), "");
	assert_string_equal(cuts("kernel", "cpp_fused_mul_unfold_1", one, "\"s0//10\",10", "f32[2099]"), "");
	assert_string_equal(cuts("kernel", "cpp_fused_avg_pool2d_max_pool2d_1", one, "2,\"s0//2\"", "f32[2099]"), "");
	/* Not divided, or by nothing known. */
	assert_string_equal(cuts("kernel", "cpp_fused_add_1", one, "\"s0\",1", "f32[2099]"), "");
	assert_string_equal(cuts("kernel", "cpp_fused_add_1", one, "null,\"s0//100\"", "f32[2099]"), "");
	assert_string_equal(cuts("kernel", "cpp_fused_add_1", one, "100,\"s1//100\"", "f32[2099]"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	    T(test_fits),         T(test_each_way),  T(test_rank), T(test_odd_shapes), T(test_missing),
	    T(test_fixes),        T(test_alignment), T(test_peak), T(test_json_again), T(test_json_followed),
	    T(test_json_damaged), T(test_diff),      T(test_cuts),
	};
	return RUN(tests);
}
