/* aten: calls by name, promotion as torch has it, shapes without values, views, errors. No torch; what was recorded from it is said. */
#include "aten/aten.h"

#include "../lib/test.h"

#define SIZES(...) ((const int64_t[]){__VA_ARGS__})

static struct aten_tensor *made(int dtype, int n_dim, const int64_t *size, const int64_t *stride, void *data)
{
	struct aten_tensor *t = NULL;
	ATEN_TRY("made")
	{
		int64_t contiguous[ATEN_DIMS];
		aten_contiguous_strides(n_dim, size, contiguous);
		t = aten_keep(data ? aten_of_blob(data, dtype, n_dim, size, stride ? stride : contiguous, 0)
				   : aten_fake(dtype, n_dim, size, stride));
	}
	assert_false(ATEN_END);
	return t;
}

/* The first result, or NULL and the error's text. */
static struct err err;
static struct aten_tensor *call(const char *name, bool shapes, const struct aten_value *args, size_t n, const struct aten_named *named,
				size_t n_named)
{
	struct aten_op op;
	struct aten_mode mode = {.shapes = shapes};
	struct aten_value out[ATEN_RESULTS];
	if (aten_find(&op, slice_str(name), &err) < 0)
		return NULL;
	int failed = aten_call(&op, &mode, args, n, named, n_named, out, &err);
	uint32_t n_results = op.n_results;
	aten_op_release(&op);
	for (uint32_t i = 1; !failed && i < n_results; i++)
		aten_value_release(&out[i]);
	return failed ? NULL : out[0].tensor;
}

static void want(struct aten_tensor *t, int dtype, int n_dim, const int64_t *size, const int64_t *stride)
{
	assert_non_null(t);
	assert_int_equal(t->dtype, dtype);
	assert_int_equal(t->n_dim, n_dim);
	assert_memory_equal(t->size, size, (size_t)n_dim * sizeof(*size));
	assert_memory_equal(t->stride, stride, (size_t)n_dim * sizeof(*stride));
	aten_release(t);
}

/* Every pair of dtypes: add says what they become. */
static void test_promotion(void **state)
{
	static const int8_t pairs[][4] = {
#include "../lib/aten_promote.h"
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		int kind = pairs[i][1];
		struct aten_tensor *a = made(pairs[i][0], 1, SIZES(1), NULL, NULL), *b = made(kind, pairs[i][3] > 0, SIZES(1), NULL, NULL);
		struct aten_value number = kind == DTYPE_BOOL  ? aten_bool(true)
					   : kind == DTYPE_I64 ? aten_int(1)
					   : kind == DTYPE_F64 ? aten_float(1)
							       : (struct aten_value){.kind = ATEN_COMPLEX, .z = 1};
		struct aten_value args[] = {aten_of(a), pairs[i][3] < 0 ? number : aten_of(b)};
		struct aten_tensor *out = call("aten.add.Tensor", true, args, 2, NULL, 0);
		assert_non_null(out);
		assert_int_equal(out->dtype, pairs[i][2]);
		aten_release(out);
		aten_release(a);
		aten_release(b);
	}
}

static void test_call(void **state)
{
	float x[] = {1, 2, 3, 4, 5, 6}, y[] = {10, 20, 30};
	struct aten_tensor *a = made(DTYPE_F32, 2, SIZES(2, 3), NULL, x), *b = made(DTYPE_F32, 1, SIZES(3), NULL, y);
	struct aten_value args[] = {aten_of(a), aten_of(b)};
	struct aten_named two[] = {{SLICE("alpha"), aten_int(2)}};
	(void)state;
	struct aten_tensor *out = call("torch.ops.aten.add.Tensor", false, args, 2, two, 1);
	assert_non_null(out);
	for (int i = 0; i < 6; i++)
		assert_true(((float *)aten_data(out))[i] == x[i] + 2 * y[i % 3]);
	aten_release(out);
	/* in place by way of the functional form: self's own memory */
	out = call("add_.Tensor", false, args, 2, NULL, 0);
	assert_non_null(out);
	assert_ptr_equal(out->storage, a->storage);
	assert_true(x[5] == 36);
	aten_release(out);
	/* a view shares it, too */
	struct aten_value turn[] = {aten_of(a), aten_int(0), aten_int(1)};
	out = call("aten.transpose.int", false, turn, 3, NULL, 0);
	assert_ptr_equal(out->storage, a->storage);
	want(out, DTYPE_F32, 2, SIZES(3, 2), SIZES(1, 3));
	aten_release(a);
	aten_release(b);
}

/* Recorded from torch 2.13: x = torch.empty(2, 3, 4).permute(2, 0, 1), (4, 2, 3) with strides (1, 12, 4). */
static void test_shapes(void **state)
{
	struct aten_tensor *x = made(DTYPE_BF16, 3, SIZES(4, 2, 3), SIZES(1, 12, 4), NULL);
	struct aten_value self[] = {aten_of(x), aten_int(1)}, dims[] = {aten_int(1)};
	struct aten_value over[] = {aten_of(x), {.kind = ATEN_LIST, .n = 1, .item = dims}};
	(void)state;
	want(call("relu", true, self, 1, NULL, 0), DTYPE_BF16, 3, SIZES(4, 2, 3), SIZES(1, 12, 4));
	want(call("isnan", true, self, 1, NULL, 0), DTYPE_BOOL, 3, SIZES(4, 2, 3), SIZES(1, 12, 4));
	want(call("sum.dim_IntList", true, over, 2, NULL, 0), DTYPE_BF16, 2, SIZES(4, 3), SIZES(3, 1));
	want(call("softmax.int", true, self, 2, NULL, 0), DTYPE_BF16, 3, SIZES(4, 2, 3), SIZES(6, 3, 1));
	want(call("unsqueeze", true, self, 2, NULL, 0), DTYPE_BF16, 4, SIZES(4, 1, 2, 3), SIZES(1, 24, 12, 4));
	want(call("max.dim", true, self, 2, NULL, 0), DTYPE_BF16, 2, SIZES(4, 3), SIZES(3, 1));
	aten_release(x);
}

static void test_refused(void **state)
{
	struct aten_tensor *x = made(DTYPE_F32, 1, SIZES(3), NULL, NULL), *y = made(DTYPE_I64, 1, SIZES(4), NULL, NULL);
	struct aten_value args[] = {aten_of(x), aten_of(y)}, back[] = {aten_of(y), aten_float(0.5)};
	struct aten_named other[] = {{SLICE("beta"), aten_int(2)}};
	(void)state;
	assert_null(call("aten.nothing.default", true, args, 1, NULL, 0));
	assert_string_equal(err.text, "the operator aten.nothing.default is not here");
	assert_null(call("add.Tensor", true, args, 2, NULL, 0));
	assert_string_equal(err.text, "add.Tensor: sizes 3 and 4 do not fit at dimension 0");
	assert_null(call("add.Tensor", true, args, 1, NULL, 0));
	assert_string_equal(err.text, "add.Tensor: no argument for other");
	assert_null(call("add.Tensor", true, args, 2, other, 1));
	assert_string_equal(err.text, "add.Tensor: there is no parameter beta");
	assert_null(call("add_.Tensor", true, back, 2, NULL, 0));
	assert_string_equal(err.text, "add.Tensor: result type float32 can't be cast to the desired output type int64");
	assert_null(call("nonzero", true, args, 1, NULL, 0));
	assert_string_equal(err.text, "nonzero: its shape depends on values");
	aten_release(x);
	aten_release(y);
}

/* Every overload has torch's schema. */
static void test_schemas(void **state)
{
	(void)state;
	for (size_t i = 0; aten_overload(i); i++) {
		struct aten_op op;
		if (aten_find(&op, slice_str(aten_overload(i)), &err) < 0)
			fail_msg("%s: %s (scripts/gen-aten-schemas)", aten_overload(i), err.text);
		aten_op_release(&op);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_promotion), cmocka_unit_test(test_call),    cmocka_unit_test(test_shapes),
	    cmocka_unit_test(test_refused),   cmocka_unit_test(test_schemas),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
