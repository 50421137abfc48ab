/* What is a name, what is noise, what is neither; line diffs without numbers. */
#include "compare/normal.h"
#include "../../lib/test.h"

static bool same(const char *a, const char *b)
{
	struct normal n = {0};
	uint64_t x = normal_hash(&n, slice_str(a)), y = normal_hash(&n, slice_str(b));
	normal_release(&n);
	return x == y;
}

static void test_names(void **state)
{
	(void)state;
	assert_true(same("buf7 = f(buf3, buf3)", "buf1 = f(buf0, buf0)"));
	assert_false(same("buf7 = f(buf3, buf3)", "buf1 = f(buf0, buf1)"));
	assert_true(same("mul_3 = add_1 + primals_2", "mul_9 = add_4 + primals_7"));
	assert_false(same("x = torch.float32", "x = torch.float64"));
	assert_false(same("aten.add.Tensor(a)", "aten.sub.Tensor(a)"));
	assert_true(same("    add: \"f32[8]\" = g(x)\n    return add", "    add_2: \"f32[8]\" = g(x)\n    return add_2"));
	assert_false(same("    add: \"f32[8]\" = g(x)", "    sub: \"f32[8]\" = g(x)"));
	assert_true(same("arg0_1 + arg1_1", "arg5_1 + arg6_1"));
	assert_true(same("\"f32[s77, 4]\" s77", "\"f32[s2, 4]\" s2"));
	assert_false(same("L['layer_1']", "L['layer_2']")); /* the user's own */
	assert_false(same("self.layer_1", "self.layer_2"));
	assert_true(same("G['__builtins_dict___2']", "G['__builtins_dict___4']"));
	assert_false(same("x0 + 1", "x0 + 2"));
}

static void test_noise(void **state)
{
	(void)state;
	assert_true(same("<f at 0x7f12345678>", "<f at 0x7fabcdef00>"));
	assert_false(same("0x10", "0x20"));
	assert_true(same("id: 140315533750032", "id: 139769074292832"));
	assert_false(same("9223372036854775807", "9223372036854775806"));
	assert_true(
	    same("c3l4xk4zhxvkf7bk65zw3vqvar3d6nr76wyhv2h6tymjj5mzmxdr.py", "cor4zxqjyoyj4uroykpbjbkvt37f4bbqw2sdymmzuew3qoxzf7ok.py"));
	assert_true(same("__compiled_fn_5_6f52fbd7_edd2_47f7_bd83_9ccdb17b25c5", "__compiled_fn_9_00000000_edd2_47f7_bd83_9ccdb17b25c6"));
	assert_true(same("open('/tmp/torchinductor_user/ab/x.py')", "open('/tmp/torchinductor_user/cd/y.py')"));
	assert_false(same("open('/home/a')", "open('/home/b')"));
	assert_true(same("# File: /home/a/m.py:7 in f", "# File: /home/b/m.py:9 in f"));
	assert_true(same("# File: /home/a/m.py:7 in f", "# File: /home/a/n.py:7 in f")); /* renamed */
	assert_false(same("open('/home/a/m.py')", "open('/home/a/n.py')"));
	assert_true(same("AOT ID: ['0_inference']", "AOT ID: ['12_inference']"));
	assert_true(same("{\"time_taken_ns\": 12, \"n\": 1}", "{\"time_taken_ns\": 99, \"n\": 1}"));
	assert_false(same("{\"time_taken_ns\": 12, \"n\": 1}", "{\"time_taken_ns\": 12, \"n\": 2}"));
	assert_true(same("\nos.environ['TORCH_TRACE'] = '/data/1'\n", "\nos.environ['TORCH_TRACE'] = '/data/2'\n"));
	assert_true(same("\ntorch._inductor.config.a = 1\ntorch._inductor.config.b = 2\nx",
			 "\ntorch._inductor.config.b = 2\ntorch._inductor.config.a = 1\nx"));
	assert_false(same("\ntorch._inductor.config.a = 1\nx", "\ntorch._inductor.config.a = 2\nx"));
}

static void counts(const char *a, const char *b, unsigned removed, unsigned added)
{
	struct normal n = {0};
	unsigned r = 0, p = 0;
	bool differs = normal_diff(&n, slice_str(a), slice_str(b));
	for (uint32_t i = 0; i < n.diff.n; i++)
		if (!n.diff.row[i].same) {
			r += n.diff.row[i].a != NONE;
			p += n.diff.row[i].b != NONE;
		}
	assert_int_equal(differs, removed || added);
	assert_int_equal(r, removed);
	assert_int_equal(p, added);
	normal_release(&n);
}

static void test_diff(void **state)
{
	(void)state;
	counts("", "", 0, 0);
	counts("a\nb\n", "a\nb", 0, 0);
	/* One line more, and all numbers behind it shift. */
	counts("buf0 = a()\nbuf1 = b(buf0)\nbuf2 = c(buf1)\nreturn buf2\n",
	       "buf0 = a()\nbuf1 = x(buf0)\nbuf2 = b(buf0)\nbuf3 = c(buf2)\nreturn buf3\n", 0, 1);
	/* Another operand. */
	counts("buf0 = a()\nbuf1 = b()\nbuf2 = c(buf0)\nd(buf0, buf1, buf2)\n",
	       "buf0 = a()\nbuf1 = b()\nbuf2 = c(buf1)\nd(buf0, buf1, buf2)\n", 1, 1);
	counts("torch._inductor.config.b = 2\ntorch._inductor.config.a = 1\n",
	       "torch._inductor.config.a = 1\ntorch._inductor.config.c = 2\n", 1, 1);
}

static void test_guards(void **state)
{
	(void)state;
	struct slice guard, note;
	assert_true(normal_guard(SLICE("| | +- ID_MATCH: ___check_obj_id(G['f'], 7654321)  # f(x)  # m.py:7 in f"), &guard, &note));
	assert_text(guard, "ID_MATCH: ___check_obj_id(G['f'], 7654321)");
	assert_text(note, "# f(x)  # m.py:7 in f");
	assert_false(normal_guard(SLICE("| +- GuardManager: source=L['x']"), &guard, &note));
	assert_false(normal_guard(SLICE("TREE_GUARD_MANAGER:"), &guard, &note));
	assert_true(normal_guard_hash(SLICE("ID_MATCH: ___check_obj_id(G['f'], 7654321)")) ==
		    normal_guard_hash(SLICE("ID_MATCH: ___check_obj_id(G['f'], 1234567)")));
	assert_true(normal_guard_hash(SLICE("EQUALS_MATCH: L['n'] == 7654321")) !=
		    normal_guard_hash(SLICE("EQUALS_MATCH: L['n'] == 1234567")));
	assert_true(normal_guards(SLICE("+- A: x\n+- B: y\n")) == normal_guards(SLICE("| +- B: y\n+- A: x  # note\n")));
	assert_true(normal_guards(SLICE("+- A: x\n+- A: x\n")) != normal_guards(SLICE("+- A: x\n")));
}

static void test_unfold(void **state)
{
	(void)state;
	struct buf b = {0};
	assert_true(normal_unfold(SLICE("{\"a\": [1, \"x\\ny\"], \"b\": {}}"), &b));
	assert_text(buf_slice(&b), "{\n  \"a\": [\n    1\n    \"x\n      y\"\n  ]\n  \"b\": {\n  }\n}\n");
	buf_reset(&b);
	assert_false(normal_unfold(SLICE("{\"a\""), &b));
	assert_false(normal_unfold(SLICE("{\n}"), &b));
	assert_false(normal_unfold(SLICE("text"), &b));
	assert_int_equal(b.len, 0);
	buf_release(&b);
}

/* Any bytes, against an unmapped page: a text is the same as itself, and as itself with other numbers. */
static void test_any(void **state)
{
	(void)state;
	static const char letters[] = "ab_09 ./'\"[]:=\n#x{},_id(";
	struct guard g = {0};
	struct normal n = {0};
	uint64_t seed = 11;
	char text[300];
	for (unsigned round = 0; round < 20000; round++) {
		size_t len = pick(&seed, sizeof(text));
		for (size_t i = 0; i < len; i++)
			text[i] = round % 4 ? letters[pick(&seed, sizeof(letters) - 1)] : (char)random_u32(&seed);
		struct slice s = slice_of(guard_put(&g, text, len), len);
		uint64_t h = normal_hash(&n, s);
		assert_true(h == normal_hash(&n, s));
		assert_false(normal_diff(&n, s, s));
		normal_guards(s);
		normal_plain(s);
	}
	normal_release(&n);
	guard_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names),  cmocka_unit_test(test_noise),  cmocka_unit_test(test_diff),
	    cmocka_unit_test(test_guards), cmocka_unit_test(test_unfold), cmocka_unit_test(test_any),
	};
	return RUN(tests);
}
