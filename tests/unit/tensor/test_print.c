/* print: what torch 2.13 prints for recorded tensors (scripts/fixtures/print.py), and what has no recording. */
#include "../../lib/test.h"

#include "tensor/write.h"

static void unhex(struct slice hex, struct buf *b)
{
	buf_reset(b);
	for (size_t i = 0; i + 1 < hex.n; i += 2) {
		char two[3] = {hex.p[i], hex.p[i + 1], 0};
		buf_addc(b, (char)strtoul(two, NULL, 16));
	}
}

static void test_recorded(void **state)
{
	(void)state;
	struct buf text = {0}, data = {0}, want = {0}, got = {0};
	struct guard g = {0};
	if (!data_load("print.txt.xz", &text))
		skip();
	struct slice rest = buf_slice(&text), line;
	bool more = slice_line(&rest, &line);
	unsigned cases = 0, wrong = 0;
	while (more) {
		struct tensor_meta m;
		struct err err = {0};
		assert_true(slice_starts(line, "== "));
		struct slice spec = slice_of(line.p + 3, line.n - 3), hex;
		const char *space = slice_chr(spec, ' ');
		assert_non_null(space);
		hex = slice_of(space + 1, (size_t)(spec.p + spec.n - space - 1));
		spec.n = (size_t)(space - spec.p);
		if (tensor_spec_parse(spec, &m, &err) < 0)
			fail_msg("%s", err.text);
		unhex(hex, &data);
		buf_reset(&want);
		while ((more = slice_line(&rest, &line)) && !slice_starts(line, "== ")) {
			if (want.len)
				buf_addc(&want, '\n');
			buf_add_slice(&want, line);
		}
		buf_reset(&got);
		tensor_print(&got, &m, guard_put(&g, data.p, data.len), (struct tensor_print){0});
		cases++;
		if (!slice_eq(buf_slice(&got), buf_slice(&want)) && wrong++ < 4)
			print_error("%.*s\n%s\ninstead of\n%s\n", SL(spec), buf_str(&got), buf_str(&want));
	}
	assert_int_equal(wrong, 0);
	assert_true(cases > 300);
	buf_release(&text);
	buf_release(&data);
	buf_release(&want);
	buf_release(&got);
	guard_release(&g);
}

static void prints(const char *spec, const void *data, struct tensor_print how, const char *want)
{
	struct tensor_meta m;
	struct err err = {0};
	struct buf b = {0};
	if (tensor_spec_parse(slice_str(spec), &m, &err) < 0)
		fail_msg("%s", err.text);
	tensor_print(&b, &m, data, how);
	assert_text(buf_slice(&b), want);
	buf_release(&b);
}

static void test_options(void **state)
{
	(void)state;
	static const float v[] = {0.123456789f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
	static const uint8_t bytes[] = {0, 7, 200};
	const struct tensor_print plain = {0};
	prints("f32[2]", v, plain, "tensor([0.1235, 1.0000])");
	prints("f32[2]", v, (struct tensor_print){.precision = 2}, "tensor([0.12, 1.00])");
	prints("f64[2]", (const double[]){5e-5, 6e-5}, plain, "tensor([5.0000e-05, 6.0000e-05], dtype=torch.float64)");
	prints("f32[4]@cuda:1", v, plain, "tensor([0.1235, 1.0000, 2.0000, 3.0000], device='cuda:1')");
	prints("i32[2]@cuda:0", (const int32_t[]){1, -2}, plain, "tensor([ 1, -2], device='cuda:0', dtype=torch.int32)");
	prints("f32[6]", v + 1, (struct tensor_print){.width = 20}, "tensor([1., 2., 3.,\n        4., 5., 6.])");
	prints("f32[6]", v + 1, (struct tensor_print){.width = 1},
	       "tensor([1.,\n        2.,\n        3.,\n        4.,\n        5.,\n        6.])");
	prints("f32[1001]/(0)", v + 1, plain, "tensor([1., 1., 1.,  ..., 1., 1., 1.])");
	prints("qi8[3]", bytes, plain, "tensor([  0,   7, -56], dtype=torch.qint8)");
	/* More than anybody reads. */
	prints("u8[4000000000]/(0)", bytes, (struct tensor_print){.full = true}, "tensor(..., size=(4000000000,), dtype=torch.uint8)");
	prints("u8[6,6,6,6,6,6,6,6,6,6,6,6,6]/(0,0,0,0,0,0,0,0,0,0,0,0,0)", bytes, plain,
	       "tensor(..., size=(6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6), dtype=torch.uint8)");
	struct tensor_meta m = {.dtype = 99, .n_dim = 1, .size = {2}, .device = DEVICE_CPU, .device_index = -1};
	struct buf b = {0};
	tensor_print(&b, &m, NULL, plain);
	assert_text(buf_slice(&b), "tensor(..., size=(2,), dtype=dtype 99)");
	buf_release(&b);
}

/* All elements on demand. */
static void test_full(void **state)
{
	(void)state;
	struct tensor_meta m = {.dtype = DTYPE_I64, .n_dim = 2, .size = {300, 7}, .stride = {7, 1}, .device_index = -1};
	int64_t *v = xmalloc(2100 * sizeof(*v));
	struct buf b = {0};
	for (int i = 0; i < 2100; i++)
		v[i] = i;
	tensor_print(&b, &m, v, (struct tensor_print){.full = true});
	assert_null(slice_find(buf_slice(&b), "..."));
	for (int i = 0; i < 2100; i++) {
		char text[16];
		snprintf(text, sizeof(text), "%4d", i);
		assert_non_null(slice_find(buf_slice(&b), text));
	}
	buf_release(&b);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_recorded), cmocka_unit_test(test_options), cmocka_unit_test(test_full)};
	return RUN(tests);
}
