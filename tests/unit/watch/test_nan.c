/* nan: who made it, who only handed it on, and what probably happened. */
#include "../../lib/test.h"

#include <math.h>
#include <unistd.h>

#include "watch/nan.h"

/* ---- calls ---- */

static struct nan_value values[16];
static struct nan_call call;
static struct nan n;

static void begin_call(const char *kernel)
{
	uint32_t next = call.c.call;
	call = (struct nan_call){.value = values, .nth = NONE};
	call.c = (struct dump_call){.name = slice_str(kernel), .returned = true, .call = next + 1};
}

/* what: "" clean, "n" NaN, "i" inf, "-" -inf; several together */
static struct nan_value *tensor(const char *buffer, enum call_role role, bool before, const char *what)
{
	struct nan_value *v = &values[call.n_values++];
	*v = (struct nan_value){.storage = NONE};
	v->v = (struct dump_value){.buffer = slice_str(buffer),
				   .role = role,
				   .before = before,
				   .meta = {.dtype = DTYPE_F32, .n_dim = 1, .size = {8}, .stride = {1}}};
	v->v.stats = (struct tensor_stats){.known = true, .n = 8, .min = 1, .max = 2, .mean = 1.5, .first_bad = *what ? 3 : -1};
	v->v.stats.nan = strchr(what, 'n') ? 1 : 0;
	v->v.stats.pos_inf = strchr(what, 'i') ? 1 : 0;
	v->v.stats.neg_inf = strchr(what, '-') ? 1 : 0;
	if (v->v.stats.pos_inf)
		v->v.stats.max = INFINITY;
	if (v->v.stats.neg_inf)
		v->v.stats.min = -INFINITY;
	return v;
}
static struct nan_value *in(const char *buffer, const char *what) { return tensor(buffer, CALL_ROLE_IN, true, what); }
static struct nan_value *out(const char *buffer, const char *what) { return tensor(buffer, CALL_ROLE_OUT, false, what); }
static void take(void) { nan_take(&n, &call); }

/* "kernel kind what xTIMES+PASSED; ..." */
static void found(const char *want)
{
	struct buf b = {0};
	for (size_t i = 0; i < n.n; i++) {
		const struct nan_finding *f = &n.finding[i];
		buf_addf(&b, "%s%.*s %s %s x%d+%d", i ? "; " : "", SL(f->call.c.name), nan_kind_name(f->kind), nan_what_name(f->what),
			 (int)f->times, (int)f->passed_on);
	}
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
	nan_release(&n);
	call = (struct nan_call){0};
}

static void test_produced(void **state)
{
	(void)state;
	begin_call("clean"), in("x", ""), out("a", ""), take();
	begin_call("maker"), in("a", ""), out("b", "n"), take();
	begin_call("next"), in("b", "n"), in("x", ""), out("c", "n"), take();
	begin_call("last"), in("c", "n"), out("d", "n"), take();
	begin_call("other"), in("x", ""), out("e", "n"), take();
	found("maker produced nan x1+2; other produced nan x1+0");
	/* What is only written is not looked at before. */
	begin_call("fresh"), tensor("b", CALL_ROLE_OUT, true, "n"), out("b", ""), take();
	found("");
	/* In place: clean before, bad after; and bad before, which is somebody else's. */
	begin_call("inplace"), tensor("b", CALL_ROLE_INOUT, true, ""), tensor("b", CALL_ROLE_INOUT, false, "n"), take();
	begin_call("again"), tensor("b", CALL_ROLE_INOUT, true, "n"), tensor("b", CALL_ROLE_INOUT, false, "n"), take();
	found("inplace produced nan x1+1");
	/* Only an input was bad: what it wrote is well (where, nan_to_num). */
	begin_call("heals"), in("a", "n"), out("b", ""), take();
	found("");
}

static void test_before(void **state)
{
	(void)state;
	begin_call("k"), in("arg0_1", "n")->is_input = true, out("a", "n"), take();
	begin_call("m"), in("arg0_1", "n")->is_input = true, out("b", "n"), take();
	found("k input nan x2+0");
	begin_call("k"), tensor("w", CALL_ROLE_CONSTANT, true, "n"), in("x", "n")->is_input = true, out("a", "n"), take();
	begin_call("m"), in("a", "n"), out("b", "n"), take();
	found("k constant nan x1+1");
	begin_call("k"), in("buf0", "n")->unwritten = true, out("a", "n"), take();
	found("k unwritten nan x1+0");
	begin_call("k"), in("buf0", "n"), out("a", "n"), take();
	found("k passed nan x1+0");
	/* Constants by themselves, once each, and what the caller gave. */
	n.o.constants = true;
	begin_call("k"), tensor("w", CALL_ROLE_CONSTANT, true, "n"), out("a", ""), take();
	found("k constant nan x1+0");
	begin_call(""), call.c.kind = DUMP_RUN, tensor("x", CALL_ROLE_MODEL_INPUT, true, "n"), take();
	found(" input nan x1+0");
	begin_call("k"), call.crashed = true, in("x", ""), take();
	found("k crashed  x1+0");
}

/* A buffer for the kernel's own use: its border is as it was found. */
static void test_unread(void **state)
{
	(void)state;
	begin_call("pad"), in("x", ""), out("own", "n")->unread = true, out("y", ""), take();
	found("");
	begin_call("pad"), in("x", ""), out("own", "n")->unread = true, out("y", "n"), take();
	assert_int_equal(n.finding[0].bad, 2);
	found("pad produced nan x1+0");
}

/* Buffers of one storage are one place, whatever their names. */
static void test_storage(void **state)
{
	(void)state;
	begin_call("k"), in("x", ""), out("buf0", "n")->storage = 4, take();
	begin_call("m"), in("buf1", "n")->storage = 4, out("buf2", "n"), take();
	found("k produced nan x1+1");
	/* Another Run, another process: other places. */
	begin_call("k"), in("x", ""), out("buf0", "n"), take();
	begin_call("m"), call.c.run = 1, in("buf0", "n"), out("buf2", "n"), take();
	found("k produced nan x1+0; m passed nan x1+0");
}

static void test_inf(void **state)
{
	(void)state;
	struct nan_guess g[NAN_GUESSES];
	begin_call("cpp_fused_exp_0"), in("x", ""), out("a", "i"), take();
	begin_call("cpp_fused_mul_1"), in("a", "i"), out("b", "i"), take();
	begin_call("cpp_fused_sub_2"), in("b", "i"), in("x", ""), out("c", "n"), take();
	assert_int_equal(n.n, 1);
	assert_text(n.finding[0].inf_kernel, "cpp_fused_exp_0");
	assert_text(n.finding[0].inf_buffer, "a");
	assert_int_equal(n.finding[0].inf_call, 1);
	assert_true(nan_guess(&n.finding[0], g, NAN_GUESSES) >= 1 && g[0].seen);
	assert_string_equal(g[0].text, "inf - inf");
	found("cpp_fused_sub_2 produced nan x1+0");
	n.o.inf = true;
	begin_call("e"), in("x", ""), out("a", "i"), take();
	begin_call("m"), in("a", "i"), out("b", "i"), take();
	begin_call("s"), in("b", "i"), out("c", "n"), take();
	found("e produced inf x1+1; s produced nan x1+0");
	/* Those that came in with an input were made by nobody here. */
	begin_call("k"), in("x", "i")->is_input = true, out("a", "i"), take();
	begin_call("m"), in("a", "i"), out("b", "n"), take();
	assert_int_equal(n.finding[0].inf_kernel.n, 0);
	found("m produced nan x1+0");
}

static void test_options(void **state)
{
	(void)state;
	static const char *const ignore[] = {"*mask*", "buf9", "emb.*"};
	n.o = (struct nan_options){.inf = true, .ignore = ignore, .n_ignore = 3};
	begin_call("cpp_fused_masked_fill_0"), in("x", ""), out("m", "-"), take();
	begin_call("add"), in("m", "-"), out("s", "-"), take(); /* what is ignored is ignored further on */
	begin_call("k"), in("x", ""), out("buf9", "n"), take();
	begin_call("w"), tensor("w", CALL_ROLE_CONSTANT, true, "n")->v.path = SLICE("emb.weight"), out("y", "n"), take();
	begin_call("two"), in("x", ""), out("buf9", "n"), out("z", "i"), take(); /* the other buffer counts */
	found("two produced inf x1+0");
	n.o = (struct nan_options){.range = true, .lo = -10, .hi = 10};
	begin_call("k"), in("x", ""), out("a", "")->v.stats.max = 11, take();
	begin_call("i"), in("x", ""), out("i", "")->v.stats.max = 11, values[1].v.meta.dtype = DTYPE_I64, take();
	found("k produced range x1+0");
}

static void test_many(void **state)
{
	(void)state;
	for (int i = 0; i < 100000; i++) {
		char name[32];
		snprintf(name, sizeof(name), "k%d", i % 1000);
		begin_call(name);
		call.c.run = (uint32_t)i / 1000;
		call.c.call = (uint32_t)i % 1000;
		in("x", ""), out("a", "n"), take();
	}
	assert_int_equal(n.n, NAN_FINDINGS);
	assert_int_equal(n.finding[0].times, 100);
	assert_int_equal(n.more, (1000 - NAN_FINDINGS) * 100);
	nan_release(&n);
	call = (struct nan_call){0};
}

/* ---- operators and guesses ---- */

static void ops_are(const char *kernel, const char *want)
{
	struct slice op[16];
	struct buf b = {0};
	size_t k = nan_ops_of_name(slice_str(kernel), op, ARRAY_LEN(op));
	for (size_t i = 0; i < k && i < ARRAY_LEN(op); i++)
		buf_addf(&b, "%s%.*s", i ? " " : "", SL(op[i]));
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void test_ops(void **state)
{
	(void)state;
	ops_are("cpp_fused_relu_0", "relu");
	ops_are("cpp_fused_log_sub_tanh_12", "log sub tanh");
	ops_are("cpp_fused__softmax_1", "_softmax");
	ops_are("cpp_fused__to_copy_add_masked_fill_native_layer_norm_3", "_to_copy add masked_fill native_layer_norm");
	ops_are("cpp_fused__log_softmax_log_0", "_log_softmax log");
	ops_are("cpp_fused_max_pool2d_with_indices_relu_2", "max_pool2d_with_indices relu");
	ops_are("triton_poi_fused_add_div_0", "add div");
	ops_are("aoti_torch_cpu_addmm_out", "addmm");
	ops_are("aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu");
	ops_are("cpp_fused_", "");
	ops_are("cpp_fused_0", "0");
	ops_are("cpp_fused___", "_");
	ops_are("", "");
	ops_are("pt2fix::add_", "");
	assert_int_equal(nan_ops_of_name(SLICE("cpp_fused_a_b_c_0"), NULL, 0), 3);
}

static void guess_is(const char *kernel, int dtype, double min, double max, const char *what, const char *want)
{
	struct nan_guess g[NAN_GUESSES];
	begin_call(kernel);
	struct nan_value *v = in("x", "");
	v->v.stats.min = min;
	v->v.stats.max = max;
	v->v.stats.zero = min <= 0 && max >= 0;
	out("y", what)->v.meta.dtype = dtype;
	n.o.inf = true;
	take();
	assert_int_equal(n.n, 1);
	size_t k = nan_guess(&n.finding[0], g, NAN_GUESSES);
	if (!k || strcmp(g[0].text, want))
		fail_msg("%s: '%s' instead of '%s'", kernel, k ? g[0].text : "", want);
	nan_release(&n);
	call = (struct nan_call){0};
}

static void test_guesses(void **state)
{
	(void)state;
	guess_is("cpp_fused_log_0", DTYPE_F32, -1, 1, "n", "log of a negative number");
	guess_is("cpp_fused_log_0", DTYPE_F32, 0, 1, "-", "log of zero");
	guess_is("cpp_fused_sqrt_0", DTYPE_F32, -1, 1, "n", "square root of a negative number");
	guess_is("cpp_fused_div_0", DTYPE_F32, 0, 1, "n", "0 / 0");
	guess_is("cpp_fused_div_0", DTYPE_F32, 0, 1, "i", "division by zero");
	guess_is("cpp_fused_div_0", DTYPE_F32, 0, INFINITY, "n", "inf / inf");
	guess_is("cpp_fused_div_sqrt_0", DTYPE_F32, 0, INFINITY, "n", "inf / inf");
	guess_is("cpp_fused_exp_0", DTYPE_F32, 0, 100, "i", "exp of a large number: beyond the largest float32 (3.40282e+38)");
	guess_is("cpp_fused_exp_0", DTYPE_F16, 0, 12, "i", "exp of a large number: beyond the largest float16 (65504)");
	guess_is("cpp_fused_asin_0", DTYPE_F32, -2, 2, "n", "acos or asin of a number outside -1..1");
	guess_is("cpp_fused__to_copy_0", DTYPE_F16, 0, 70000, "i", "a number beyond the largest float16 (65504) was converted");
	guess_is("cpp_fused_masked_fill_0", DTYPE_F32, 0, 1, "-", "a mask: -inf is filled in on purpose (use --ignore to skip it)");
	guess_is("aoti_torch_cpu_mm_out", DTYPE_F32, 0, 1e20, "i", "a sum of products beyond the largest float32 (3.40282e+38)");
	guess_is("aoti_torch_cpu_mm_out", DTYPE_F32, 0, INFINITY, "n", "infinities in a product of matrices: 0 * inf, or inf - inf");
	/* The numbers decide between several. */
	guess_is("cpp_fused_div_log_0", DTYPE_F32, -1, -0.5, "n", "log of a negative number");
	guess_is("cpp_fused_div_log_0", DTYPE_F32, 0, 0.5, "n", "0 / 0");
	/* The comment before an op from outside names what was fused away before it, too: not its own. */
	struct nan_guess g[NAN_GUESSES];
	begin_call("aoti_torch_cpu_addmm_out");
	call.c.kind = DUMP_OP;
	call.c.aten = SLICE("aten.log, aten.addmm");
	in("x", "i"), out("y", "n"), take();
	assert_true(nan_guess(&n.finding[0], g, NAN_GUESSES) >= 1);
	assert_string_equal(g[0].text, "infinities in a product of matrices: 0 * inf, or inf - inf");
	nan_release(&n);
	call = (struct nan_call){0};
}

/* The element at the bad place speaks louder than the tensor. */
static void test_element(void **state)
{
	(void)state;
	struct nan_guess g[NAN_GUESSES];
	begin_call("cpp_fused_div_sqrt_0");
	struct nan_value *v = in("x", "");
	v->v.stats.min = -5;
	v->v.stats.zero = 1;
	out("y", "n"), take();
	n.finding[0].call.value[0].has_element = true;
	n.finding[0].call.value[0].element = 0;
	assert_int_equal(nan_guess(&n.finding[0], g, NAN_GUESSES), 2);
	assert_string_equal(g[0].text, "0 / 0");
	n.finding[0].call.value[0].element = -5;
	nan_guess(&n.finding[0], g, NAN_GUESSES);
	assert_string_equal(g[0].text, "square root of a negative number");
	/* The tensor has infinities as well as zeros. */
	n.finding[0].call.value[0].v.stats.max = INFINITY;
	n.finding[0].call.value[0].v.stats.pos_inf = 1;
	n.finding[0].call.value[0].element = INFINITY;
	nan_guess(&n.finding[0], g, NAN_GUESSES);
	assert_string_equal(g[0].text, "inf / inf");
	n.finding[0].call.value[0].element = 0;
	nan_guess(&n.finding[0], g, NAN_GUESSES);
	assert_string_equal(g[0].text, "0 / 0");
	nan_release(&n);
	call = (struct nan_call){0};
}

/* ---- sources ---- */

static const char kernels_json[] =
    "{\"k:3\": {\"stack_traces\": [\"File \\\"app/m.py\\\", line 5, in forward\\n    return torch.log(x)\\n  File "
    "\\\"/usr/lib/python3/dist-packages/torch/nn/f.py\\\", line 9, in g\\n    y\"], \"post_grad_nodes\": [\"log_1\"], "
    "\"pre_grad_nodes\": [\"log\"]}, \"k:7\": {\"post_grad_nodes\": [\"exp\"]}, \"other:1\": {}, \"nohandle\": {\"post_grad_nodes\": [1, "
    "null]}, \"bad:x\": {}, \"k:3\": 5}";

static void test_sources(void **state)
{
	(void)state;
	struct nan_sources s = {0};
	struct err err = {0};
	assert_int_equal(nan_sources_json(&s, SLICE(kernels_json), "x", &err), 0);
	assert_int_equal(s.n, 3);
	struct nan_finding f = {.call = {.c = {.name = SLICE("k")}, .nth = 0}};
	nan_sources_apply(&s, &f);
	assert_int_equal(f.n_nodes, 1);
	assert_text(f.node[0], "log_1");
	assert_text(f.pre[0], "log");
	assert_int_equal(f.n_lines, 1);
	assert_text(f.line[0], "app/m.py:5 in forward: return torch.log(x)");
	f = (struct nan_finding){.call = {.c = {.name = SLICE("k")}, .nth = 1}};
	nan_sources_apply(&s, &f);
	assert_text(f.node[0], "exp");
	/* Which of two it is, is not known; of one it is clear. */
	f = (struct nan_finding){.call = {.c = {.name = SLICE("k")}, .nth = NONE}};
	nan_sources_apply(&s, &f);
	assert_int_equal(f.n_nodes, 0);
	nan_sources_release(&s);
	static const char *const broken[] = {"", "[]", "{", "3", "{\"k:1\": "};
	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		assert_int_equal(nan_sources_json(&s, slice_str(broken[i]), "x.json", &err), -1);
		assert_non_null(strstr(err.text, "x.json"));
		nan_sources_release(&s);
	}
	/* Every cut of it, against an unmapped page. */
	struct guard g = {0};
	for (size_t cut = 0; cut < sizeof(kernels_json); cut++) {
		nan_sources_json(&s, slice_of(guard_put(&g, kernels_json, cut), cut), "x", &err);
		nan_sources_release(&s);
	}
	/* A name that ends where memory does. */
	static const char kernel[] = "cpp_fused__softmax_log_1";
	for (size_t cut = 0; cut < sizeof(kernel); cut++)
		nan_ops_of_name(slice_of(guard_put(&g, kernel, cut), cut), NULL, 0);
	guard_release(&g);
}

static void test_trace(void **state)
{
	(void)state;
	struct buf b = {0};
	struct nan_sources s = {0};
	struct err err = {0};
	if (!data_load("traces/aoti.log.xz", &b)) {
		skip();
		return;
	}
	char path[] = "/tmp/pt2nan.XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, b.p, b.len) == (ssize_t)b.len);
	close(fd);
	if (nan_sources_file(&s, path, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(s.n > 0);
	uint32_t nodes = 0, lines = 0;
	for (uint32_t i = 0; i < s.n; i++) {
		nodes += s.kernel[i].n_nodes;
		lines += s.kernel[i].n_lines;
	}
	assert_true(nodes > 0 && lines > 0);
	nan_sources_release(&s);
	unlink(path);
	buf_release(&b);
}

/* ---- torch.amp.GradScaler ---- */

/* What the process had found up to this call; scaled: the first call after the loss was scaled. */
static void step(uint64_t seq, uint64_t scaled, bool skipped, double scale)
{
	const struct watch_scaler w = {.pid = 7, .made = !seq, .seq = seq, .scaled = scaled, .skipped = skipped, .scale = scale};
	nan_scaler(&n, &w);
	nan_settle(&n, false);
}

static void produce(uint64_t seq, const char *kernel)
{
	call = (struct nan_call){.value = values, .nth = NONE};
	call.c = (struct dump_call){.name = slice_str(kernel), .returned = true, .pid = 7, .seq = seq, .call = 1};
	in("a", "");
	out("b", "n");
	take();
}

static void test_scaler(void **state)
{
	(void)state;
	step(0, 0, false, 0);
	produce(3, "cpp_fused_log_0");
	step(5, 1, true, 8);
	step(15, 11, false, 4);
	assert_int_equal(n.skipped_steps, 1);
	found("");

	/* The second step was not skipped. */
	step(0, 0, false, 0);
	produce(3, "cpp_fused_log_0");
	step(5, 1, true, 8);
	produce(13, "cpp_fused_div_0");
	step(15, 11, false, 4);
	assert_int_equal(n.skipped_steps, 1);
	assert_int_equal(n.finding[0].skipped, 0);
	found("cpp_fused_div_0 produced nan x1+0");

	/* Before the loss is scaled, the second one in a row stays; the first is shown. */
	step(0, 0, false, 0);
	for (uint64_t i = 0; i < 3; i++) {
		produce(10 * i + 3, "cpp_fused_log_0");
		step(10 * i + 5, 10 * i + 4, true, (double)(8 >> i));
	}
	assert_int_equal(n.skipped_steps, 0);
	assert_int_equal(n.finding[0].call.c.seq, 3);
	assert_int_equal(n.finding[0].skipped, 2);
	assert_true(n.finding[0].scale_from == 8 && n.finding[0].scale_to == 4);
	found("cpp_fused_log_0 produced nan x3+0");

	/* After it, a smaller scale may end it: twelve in a row do not end. */
	step(0, 0, false, 0);
	for (uint64_t i = 0; i < 30; i++) {
		if (i != 11)
			produce(10 * i + 3, "cpp_fused_log_0");
		step(10 * i + 5, 10 * i + 2, i != 11, 65536);
		if (i == 22)
			assert_int_equal(n.n, 0);
	}
	assert_int_equal(n.finding[0].call.c.seq, 123);
	assert_int_equal(n.skipped_steps, 11);
	found("cpp_fused_log_0 produced nan x29+0");

	/* Calls may be read before the events of their steps; the last has none. */
	step(0, 0, false, 0);
	produce(3, "cpp_fused_log_0");
	produce(13, "cpp_fused_div_0");
	produce(23, "cpp_fused_log_0");
	step(5, 1, true, 8);
	step(15, 0, true, 4);
	assert_int_equal(n.n, 0);
	nan_settle(&n, true);
	found("cpp_fused_log_0 produced nan x2+0");

	/* Judged by who evaluates it. */
	step(0, 0, false, 0);
	produce(3, "cpp_fused_log_0");
	step(5, 1, true, 8);
	nan_alarm(&n, 0);
	nan_alarm(&n, 0);
	assert_int_equal(n.skipped_steps, 0);
	found("cpp_fused_log_0 produced nan x1+0");

	n.o.skipped = true;
	step(0, 0, false, 0);
	produce(3, "cpp_fused_log_0");
	found("cpp_fused_log_0 produced nan x1+0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_produced), cmocka_unit_test(test_before), cmocka_unit_test(test_storage), cmocka_unit_test(test_inf),
	    cmocka_unit_test(test_options),  cmocka_unit_test(test_many),   cmocka_unit_test(test_ops),     cmocka_unit_test(test_guesses),
	    cmocka_unit_test(test_element),  cmocka_unit_test(test_unread), cmocka_unit_test(test_sources), cmocka_unit_test(test_trace),
	    cmocka_unit_test(test_scaler),
	};
	return RUN(tests);
}
