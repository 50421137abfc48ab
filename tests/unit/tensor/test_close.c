/* tensor/close: tolerances by dtype as torch.testing.assert_close has them, and what is exact. */
#include "../../lib/test.h"

#include "tensor/close.h"

#include <math.h>

static struct guard ga, gb;

static struct tensor_meta meta(const char *spec)
{
	struct tensor_meta m;
	struct err err;
	if (tensor_spec_parse(slice_str(spec), &m, &err) < 0)
		fail_msg("%s: %s", spec, err.text);
	return m;
}

/* Both sides against an unmapped page. */
static struct tensor_close compare(const char *sa, const void *a, size_t na, const char *sb, const void *b, size_t nb,
				   struct close_options o)
{
	struct tensor_meta ma = meta(sa), mb = meta(sb);
	struct tensor_close c;
	tensor_close(&ma, guard_put(&ga, a, na), &mb, guard_put(&gb, b, nb), o, &c);
	return c;
}
#define COMPARE(sa, a, sb, b, ...) compare(sa, a, sizeof(a), sb, b, sizeof(b), (struct close_options){__VA_ARGS__})

static void test_tolerance(void **state)
{
	(void)state;
	double r, t;
	close_tolerance(DTYPE_F32, DTYPE_F32, &r, &t);
	assert_true(r == 1.3e-6 && t == 1e-5);
	close_tolerance(DTYPE_BF16, DTYPE_F32, &r, &t);
	assert_true(r == 1.6e-2 && t == 1e-5);
	close_tolerance(DTYPE_I64, DTYPE_BOOL, &r, &t);
	assert_true(r == 0 && t == 0);
}

static void test_floats(void **state)
{
	(void)state;
	float a[] = {1, 100, 0, -4}, b[] = {1, 100.00013f, 9e-6f, -4}, far[] = {1, 100.0003f, 2e-5f, -4};
	struct tensor_close c = COMPARE("f32[2,2]", a, "f32[2,2]", b);
	assert_true(c.same && c.n == 4 && !c.bad && c.first_bad < 0);
	assert_true(c.worst > 0.8 && c.worst < 1 && c.worst_at == 1); /* within, and how near */
	c = COMPARE("f32[2,2]", a, "f32[2,2]", far);
	assert_true(!c.same && c.bad == 2 && c.first_bad == 1 && isinf(c.max_rel));
	assert_true(fabs(c.max_abs - 3.0e-4) < 1e-5 && c.worst_at == 1 && c.a == 100);
	assert_true(c.rms > 2e-6 && c.rms < 4e-6);
	assert_true(fabs(c.scale - sqrt(10017 / 4.0)) < 1e-4 && fabs(c.spread - sqrt(10017 / 4.0 - 24.25 * 24.25)) < 1e-4);
	c = COMPARE("f32[2,2]", a, "f32[2,2]", far, .given = true, .rtol = 1e-4, .atol = 1e-4);
	assert_true(c.same);
	c = COMPARE("f32[2,2]", a, "f32[2,2]", b, .given = true);
	assert_true(c.bad == 2 && isinf(c.worst));
}

static void test_nan(void **state)
{
	(void)state;
	float a[] = {NAN, INFINITY, -INFINITY, 1}, b[] = {NAN, INFINITY, -INFINITY, 1}, c1[] = {NAN, INFINITY, INFINITY, NAN};
	assert_true(COMPARE("f32[4]", a, "f32[4]", b).same);
	assert_int_equal(COMPARE("f32[4]", a, "f32[4]", b).not_finite, 0);
	struct tensor_close c = COMPARE("f32[4]", a, "f32[4]", b, .nan_differs = true);
	assert_true(c.bad == 1 && c.first_bad == 0);
	c = COMPARE("f32[4]", a, "f32[4]", c1);
	assert_int_equal(c.not_finite, c.bad);
	assert_true(c.bad == 2 && c.first_bad == 2 && isinf(c.worst) && c.max_abs == 0);
}

static void test_exact(void **state)
{
	(void)state;
	int64_t a[] = {INT64_MAX, 5, INT64_MIN}, b[] = {INT64_MAX - 1, 5, INT64_MAX};
	struct tensor_close c = COMPARE("i64[3]", a, "i64[3]", b);
	assert_true(c.bad == 2 && c.first_bad == 0 && c.max_abs > 1.8e19);
	uint64_t u[] = {UINT64_MAX}, v[] = {UINT64_MAX - 1};
	c = COMPARE("u64[]", u, "u64[]", v);
	assert_true(c.bad == 1 && c.max_abs == 1);
	int64_t minus[] = {-1};
	assert_int_equal(COMPARE("u64[1]", u, "i64[1]", minus, .any_dtype = true).bad, 1); /* the same bits, not the same number */
	uint8_t t[] = {1, 0}, f[] = {1, 1};
	assert_int_equal(COMPARE("b8[2]", t, "b8[2]", f).bad, 1);
}

static void test_halves(void **state)
{
	(void)state;
	uint16_t a[] = {0x3f80, 0x4000}, b[] = {0x3f81, 0x4002}; /* 1, 2; 1.0078, 2.0156 */
	assert_true(COMPARE("bf16[2]", a, "bf16[2]", b).same);
	uint16_t h[] = {0x3c00, 0x7c00}, k[] = {0x3c02, 0x7c00}; /* 1, inf; 1.00195, inf */
	assert_int_equal(COMPARE("f16[2]", h, "f16[2]", k).bad, 1);
	float one[] = {1, 2};
	struct tensor_close c = COMPARE("bf16[2]", a, "f32[2]", one);
	assert_true(c.dtype_differs && !c.same && !c.bad);
	assert_true(COMPARE("bf16[2]", a, "f32[2]", one, .any_dtype = true).same);
}

static void test_complex(void **state)
{
	(void)state;
	float a[] = {3, 4, 0, NAN}, b[] = {3, 4.5f, 0, NAN};
	struct tensor_close c = COMPARE("c64[2]", a, "c64[2]", b);
	assert_true(c.bad == 1 && c.first_bad == 0 && c.max_abs == 0.5 && c.max_rel == 0.1);
}

static void test_layout(void **state)
{
	(void)state;
	float a[] = {1, 2, 3, 4, 5, 6}, t[] = {1, 4, 2, 5, 3, 6}, one[] = {7}, seven[] = {7, 7, 7};
	assert_true(COMPARE("f32[2,3]", a, "f32[2,3]/(1,2)", t).same);
	assert_int_equal(COMPARE("f32[2,3]", a, "f32[2,3]", t).bad, 4);
	assert_true(COMPARE("f32[3]", seven, "f32[3]/(0)", one).same);
	struct tensor_close c = COMPARE("f32[2,3]", a, "f32[3,2]", a);
	assert_true(c.sizes_differ && !c.same && c.n == 0);
	assert_true(compare("f32[0,4]", "", 0, "f32[0,4]", "", 0, (struct close_options){0}).same);
	assert_true(compare("f32[]", one, 4, "f32[]", one, 4, (struct close_options){0}).same);
}

/* Types without numbers are compared byte by byte. */
static void test_bytes(void **state)
{
	(void)state;
	uint8_t a[] = {1, 2}, b[] = {1, 3};
	struct tensor_meta m = meta("u8[2]");
	struct tensor_close c;
	m.dtype = DTYPE_QU8;
	tensor_close(&m, a, &m, b, (struct close_options){0}, &c);
	assert_true(!c.known && !c.same && c.bad == 1);
	tensor_close(&m, a, &m, a, (struct close_options){0}, &c);
	assert_true(c.same);
	m.dtype = 99;
	tensor_close(&m, a, &m, a, (struct close_options){0}, &c);
	assert_false(c.same);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tolerance), cmocka_unit_test(test_floats),  cmocka_unit_test(test_nan),    cmocka_unit_test(test_exact),
	    cmocka_unit_test(test_halves),    cmocka_unit_test(test_complex), cmocka_unit_test(test_layout), cmocka_unit_test(test_bytes),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	guard_release(&ga);
	guard_release(&gb);
	return failed;
}
