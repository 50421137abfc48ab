/* What a failure is known by: messages without what differs from run to run, and when two failures are one. */
#include "base/json.h"
#include "reduce/oracle.h"
#include "../../lib/test.h"

static void check(const char *message, const char *want)
{
	struct buf b = {0};
	struct guard g = {0};
	signature_normalise(slice_of(guard_put(&g, message, strlen(message)), strlen(message)), &b);
	if (!slice_is(buf_slice(&b), want))
		fail_msg("'%s' became\n'%s', not\n'%s'", message, buf_str(&b), want);
	buf_release(&b);
	guard_release(&g);
}

static void what_differs_is_taken_out(void **state)
{
	(void)state;
	check("", "");
	check("unhandled error", "unhandled error");
	check("/tmp/x/ab/cab3.main.cpp:15:33: error: 'compile' was not declared", "PATH: error: 'compile' was not declared");
	check("In \"/usr/lib/a.h\", a/b is 3/4.", "In \"PATH\", a/b is N/N.");
	check("at 0x7f3c00aa: bad", "at N: bad");
	check("expected size 3==4, stride 12==-1", "expected size N==N, stride N==N");
	check("took 1.5e-05 s, 2.25, 1e3", "took N s, N");
	check("shape [3, 4] and (8, 16, 1) and (3,)", "shape [N] and (N) and (N)");
	check("shape [3] and (8, 1) and (3)", "shape [N] and (N) and (N)");
	check("'buf12' and arg0_1, primals_3, relu_3, tmp7, in_ptr0, s77", "'bufN' and argN, primals, relu, tmpN, in_ptrN, sN");
	check("cpp_fused_add_relu_0 in triton_poi_fused_mul_3", "KERNEL in KERNEL");
	check("float32 is no int64, f32 u8 u0 conv2d", "float32 is no int64, f32 u8 uN conv2d");
	check("cab3hwm4tmqo74jqqtjwctp6fs73or6c is missing", "HASH is missing");
	check("\033[01m\033[Kx.cpp:\033[m\033[K two\n\n  lines\t", "x.cpp: two lines");
}

static struct signature kernel_error(const char *text)
{
	struct guard g = {0};
	struct signature s = {.kind = OUTCOME_RAISED, .type = SLICE("RuntimeError"), .message = SLICE("else"), .frames = SLICE("a.py:f")};
	if (!signature_of_kernel_error(slice_of(guard_put(&g, text, strlen(text)), strlen(text)), &s))
		assert_true(slice_is(s.message, "else") && slice_is(s.frames, "a.py:f"));
	guard_release(&g);
	return s;
}

/* It shows at whatever call comes next, so only what it is counts. */
static void kernel_errors_are_known_by_themselves(void **state)
{
	(void)state;
	static const char *const same[] = {"CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be "
					   "asynchronously reported at some other API call",
					   "CUDA driver error: an illegal memory access was encountered",
					   "Triton Error [CUDA]: an illegal memory access was encountered",
					   "CUDA error: invalid argument\nCUDA error: an illegal memory access was encountered",
					   "terminate called after throwing an instance of 'c10::AcceleratorError'\n  what():  CUDA error: "
					   "an illegal memory access was encountered\n"};
	struct signature first = kernel_error(same[0]), s;
	assert_true(slice_is(first.message, "an illegal memory access was encountered"));
	for (size_t i = 1; i < ARRAY_LEN(same); i++) {
		s = kernel_error(same[i]);
		assert_true(signature_same(&first, &s, (struct slice){"", 0}));
	}
	static const char *const others[] = {"CUDA error: device-side assert triggered", "CUDA error: unspecified launch failure",
					     "CUDA error: misaligned address", "CUDA error: the launch timed out and was terminated",
					     "CUDA error: an illegal instruction was encountered"};
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		s = kernel_error(others[i]);
		assert_true(slice_is(s.type, "kernel error"));
		assert_false(signature_same(&first, &s, (struct slice){"", 0}));
	}
	static const char *const none[] = {"",
					   "CUDA error: ",
					   "CUDA error: an illegal memory acces",
					   "CUDA error: invalid argument",
					   "an illegal memory access was encountered",
					   "CUDA out of memory. Tried to allocate 2 GiB",
					   "CUDA error: out of memory",
					   "CUDA error: uncorrectable ECC error encountered"};
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		assert_true(slice_is(kernel_error(none[i]).type, "RuntimeError"));
}

static void what_torch_adds_is_cut(void **state)
{
	(void)state;
	check("NotImplementedError: no\n  target: aten.foo.default\n  args[0]: TensorBox(...)",
	      "NotImplementedError: no target: aten.foo.default");
	check("bad\n\nWhile executing %relu_3 : [num_users=1]", "bad");
	check("bad\n\nfrom user code:\n  File \"m.py\", line 3", "bad");
}

static void it_is_bounded(void **state)
{
	(void)state;
	struct buf in = {0}, out = {0};
	for (int i = 0; i < 2000; i++)
		buf_adds(&in, "\xe2\x80\x98");
	buf_adds(&out, "before");
	signature_normalise(buf_slice(&in), &out);
	assert_in_range(out.len, 6 + 490, 6 + 500);
	assert_int_equal((out.len - 6) % 3, 0);
	assert_true(utf8_valid(slice_of(out.p + 6, out.len - 6)));
	buf_release(&in);
	buf_release(&out);
}

/* Every prefix, against the end of memory. */
static void any_end(void **state)
{
	(void)state;
	static const char text[] = "0x1f -3.5e+10, 7 /a/b.c:1:2 \033[0m buf1_2 x)( [1, 2, 3] cpp_fused_ 12ab";
	struct guard g = {0};
	struct buf b = {0};
	for (size_t n = 0; n < sizeof(text); n++)
		for (size_t from = 0; from <= n; from++) {
			buf_reset(&b);
			signature_normalise(slice_of(guard_put(&g, text + from, n - from), n - from), &b);
		}
	buf_release(&b);
	guard_release(&g);
}

static struct signature raised(const char *type, const char *message, const char *frames)
{
	return (struct signature){OUTCOME_RAISED, slice_str(type), slice_str(message), slice_str(frames)};
}

static void which_are_the_same(void **state)
{
	(void)state;
	struct slice none = {"", 0};
	struct signature a = raised("RuntimeError", "bad N", "x.py:f;y.py:g"), b = a;
	assert_true(signature_same(&a, &b, none));
	b = raised("RuntimeError", "bad N", "x.py:f;z.py:h"); /* reached by another way */
	assert_true(signature_same(&a, &b, none));
	b = raised("RuntimeError", "bad N", "");
	assert_true(signature_same(&a, &b, none));
	b = raised("RuntimeError", "bad N", "w.py:f;y.py:g");
	assert_false(signature_same(&a, &b, none));
	b = raised("ValueError", "bad N", "x.py:f;y.py:g");
	assert_false(signature_same(&a, &b, none));
	b = raised("RuntimeError", "worse N", "x.py:f;y.py:g");
	assert_false(signature_same(&a, &b, none));
	assert_true(signature_same(&a, &b, SLICE("worse")));
	assert_false(signature_same(&a, &b, SLICE("bad")));
	b.kind = OUTCOME_CRASHED;
	assert_false(signature_same(&a, &b, SLICE("worse")));
	struct signature values = {OUTCOME_ACCURACY, SLICE("accuracy"), SLICE("values"), {"", 0}}, nan = values, unknown = values;
	nan.message = SLICE("nan");
	unknown.message = none; /* torch's own check says no more than that */
	assert_false(signature_same(&values, &nan, none));
	assert_true(signature_same(&values, &unknown, none));
}

static struct signature stuck(enum outcome_kind kind, const char *message, const char *frames)
{
	return (struct signature){kind, slice_str(outcome_words[kind]), slice_str(message), slice_str(frames)};
}

/* A crash, a hang, memory that ran out: at the place where it was seen. */
static void which_end_alike(void **state)
{
	(void)state;
	static const struct {
		enum outcome_kind kind;
		const char *message[2], *frames[2];
		bool same;
	} cases[] = {
	    {OUTCOME_CRASHED, {"while in compile", "while in compile"}, {"a.py:f;b.py:g", "a.py:f;c.py:h"}, true},
	    {OUTCOME_CRASHED, {"while in compile", "while in run"}, {"a.py:f", "a.py:f"}, false},
	    {OUTCOME_CRASHED, {"while in compile", ""}, {"a.py:f", ""}, true}, /* it could not say */
	    {OUTCOME_CRASHED, {"while in compile", "while in compile"}, {"a.py:f", "b.py:g;a.py:f"}, false},
	    {OUTCOME_CRASHED, {"while in compile", ""}, {"a.py:f", "b.py:g"}, false},
	    {OUTCOME_TIMEOUT, {"while in run", "while in run"}, {"a.py:f;b.py:g", "c.py:h;a.py:f"}, true}, /* in what it calls */
	    {OUTCOME_TIMEOUT, {"while in run", "while in run"}, {"c.py:h;a.py:f", "a.py:f"}, true},
	    {OUTCOME_TIMEOUT, {"while in run", "while in run"}, {"a.py:f;b.py:g", "a.py:ff;b.py:g"}, false},
	    {OUTCOME_TIMEOUT, {"while in run", "while in compile"}, {"a.py:f", "a.py:f"}, false},
	    {OUTCOME_MEMORY, {"while in run", "while in run"}, {"a.py:f;b.py:g", "d.py:k;c.py:h;a.py:f"}, true},
	    {OUTCOME_MEMORY, {"while in run", "while in run"}, {"a.py:f", ""}, true},
	    {OUTCOME_MEMORY, {"while in run", "while in run"}, {"a.py:f", "d.py:k"}, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct signature a = stuck(cases[i].kind, cases[i].message[0], cases[i].frames[0]);
		struct signature b = stuck(cases[i].kind, cases[i].message[1], cases[i].frames[1]);
		if (signature_same(&a, &b, (struct slice){"", 0}) != cases[i].same ||
		    signature_same(&b, &a, (struct slice){"", 0}) != cases[i].same)
			fail_msg("case %zu", i);
	}
}

static void verdicts(void **state)
{
	(void)state;
	struct slice none = {"", 0};
	struct signature want = raised("RuntimeError", "bad N", "");
	struct outcome o = {.kind = OUTCOME_RAISED, .signature = want, .detail = SLICE("bad 12 at buf3")};
	assert_int_equal(verdict_of(&o, &want, none), VERDICT_SAME);
	assert_int_equal(verdict_of(&o, NULL, none), VERDICT_SAME);
	assert_int_equal(verdict_of(&o, &want, SLICE("at buf3")), VERDICT_SAME); /* of the message as it was */
	assert_int_equal(verdict_of(&o, &want, SLICE("at buf4")), VERDICT_OTHERWISE);
	assert_int_equal(verdict_of(&o, NULL, SLICE("at buf4")), VERDICT_OTHERWISE);
	o.signature.type = SLICE("KeyError");
	assert_int_equal(verdict_of(&o, &want, none), VERDICT_OTHERWISE);
	static const struct {
		enum outcome_kind kind;
		enum verdict verdict;
	} plain[] = {
	    {OUTCOME_PASSES, VERDICT_PASSES},    {OUTCOME_INVALID, VERDICT_INVALID}, {OUTCOME_FAILED, VERDICT_SAME},
	    {OUTCOME_TIMEOUT, VERDICT_TIMEOUT},  {OUTCOME_INFRA, VERDICT_INFRA},     {OUTCOME_CRASHED, VERDICT_OTHERWISE},
	    {OUTCOME_MEMORY, VERDICT_OTHERWISE},
	};
	for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
		struct outcome p = {.kind = plain[i].kind, .signature.kind = plain[i].kind};
		assert_int_equal(verdict_of(&p, &want, none), plain[i].verdict);
	}
	struct signature hang = {.kind = OUTCOME_TIMEOUT, .type = SLICE("timeout"), .message = SLICE("while in run")};
	o = (struct outcome){.kind = OUTCOME_TIMEOUT, .signature = hang};
	assert_int_equal(verdict_of(&o, &hang, none), VERDICT_SAME);
}

static void copies_own_their_text(void **state)
{
	(void)state;
	struct arena a = {0};
	char text[] = "RuntimeError";
	struct signature s = {OUTCOME_RAISED, slice_str(text), slice_str(text), {"", 0}}, c = signature_copy(&a, &s);
	memset(text, 'x', sizeof(text) - 1);
	assert_true(slice_is(c.type, "RuntimeError") && slice_is(c.message, "RuntimeError") && c.frames.n == 0);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_differs_is_taken_out),
	    cmocka_unit_test(kernel_errors_are_known_by_themselves),
	    cmocka_unit_test(what_torch_adds_is_cut),
	    cmocka_unit_test(it_is_bounded),
	    cmocka_unit_test(any_end),
	    cmocka_unit_test(which_are_the_same),
	    cmocka_unit_test(verdicts),
	    cmocka_unit_test(which_end_alike),
	    cmocka_unit_test(copies_own_their_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
