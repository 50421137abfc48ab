/* Tensors of libpt2shim.so that no sound model has: sizes and strides that reach out of their memory or overflow, operands that do
 * not fit each other. They are refused, by name. tests/live/cases_core.py has the sound ones against torch. */
#include "../../lib/shim.h"

/* clang-format off */
#define OPS(X)                                                                                                         \
	X(aoti_torch_create_tensor_from_blob, (void *, int64_t, const int64_t *, const int64_t *, int64_t, int32_t, int32_t, int32_t, handle *)) \
	X(aoti_torch_empty_strided, (int64_t, const int64_t *, const int64_t *, int32_t, int32_t, int32_t, handle *))   \
	X(aoti_torch_delete_tensor_object, (handle))                                                                   \
	X(aoti_torch__reinterpret_tensor, (handle, int64_t, const int64_t *, const int64_t *, int64_t, handle *))      \
	X(aoti_torch_get_numel, (handle, int64_t *))                                                                   \
	X(aoti_torch_get_data_ptr, (handle, void **))                                                                  \
	X(aoti_torch_copy_, (handle, handle, int32_t))                                                                 \
	X(aoti_torch_cpu_mm_out, (handle, handle, handle))                                                             \
	X(aoti_torch_cpu_gcd, (handle, handle, handle *))                                                              \
	X(aoti_torch_cpu_bernoulli__Tensor, (handle, handle, void *))                                                  \
	X(aoti_torch_cpu_slice_Tensor, (handle, int64_t, int64_t *, int64_t *, int64_t, handle *))                     \
	X(aoti_torch_cpu_reshape, (handle, const int64_t *, int64_t, handle *))                                        \
	X(aoti_torch_cpu_lu_unpack, (handle, handle, int32_t, int32_t, handle *, handle *, handle *))                  \
	X(aoti_torch_cpu_randint, (int64_t, const int64_t *, int64_t, int32_t *, int32_t *, int32_t *, int32_t, int32_t *, handle *))
/* clang-format on */
OPS(SHIM_POINTER)
static void (*aoti_torch_print_tensor_handle)(handle, const char *);

static int load(void **state)
{
	void *lib = shim_open();

	(void)state;
#define LOAD(name, params) shim_take(lib, #name, &name);
	OPS(LOAD)
	shim_take(lib, "aoti_torch_print_tensor_handle", &aoti_torch_print_tensor_handle);
	return 0;
}

#define INTS(...) ((const int64_t[]){__VA_ARGS__})

static handle blob(void *data, int dtype, int n_dim, const int64_t *size, const int64_t *stride)
{
	handle h = NULL;
	if (aoti_torch_create_tensor_from_blob(data, n_dim, size, stride, 0, dtype, 0, 0, &h))
		fail_msg("%s", shim_last_error());
	return h;
}

static void drop(handle h) { aoti_torch_delete_tensor_object(h); }

static void refused(int32_t status, const char *word)
{
	assert_int_equal(status, 1);
	if (!strstr(shim_last_error(), word))
		fail_msg("'%s' instead of '%s'", shim_last_error(), word);
}

static void sizes_and_strides_are_checked(void **state)
{
	const int64_t wide = INT64_C(1) << 40;
	float v[6] = {0};
	handle x = blob(v, DTYPE_F32, 1, INTS(6), INTS(1)), h;
	int64_t n;

	(void)state;
	refused(aoti_torch_empty_strided(2, INTS(-1, 2), INTS(1, 1), DTYPE_F32, 0, 0, &h), "negative size");
	refused(aoti_torch_empty_strided(2, INTS(0, -1), INTS(1, 1), DTYPE_F32, 0, 0, &h), "negative size");
	refused(aoti_torch_empty_strided(2, INTS(wide, wide), INTS(wide, 1), DTYPE_F32, 0, 0, &h), "too large for memory");
	/* one element, seen more often than can be counted */
	refused(aoti_torch_empty_strided(2, INTS(wide, wide), INTS(0, 0), DTYPE_F32, 0, 0, &h), "too large for memory");
	refused(aoti_torch__reinterpret_tensor(x, 2, INTS(wide, wide), INTS(0, 0), 0, &h), "too large for memory");
	refused(aoti_torch__reinterpret_tensor(x, 1, INTS(7), INTS(1), 0, &h), "exceeds a storage");
	refused(aoti_torch__reinterpret_tensor(x, 1, INTS(2), INTS(1), INT64_MAX, &h), "too large for memory");
	/* reaches as far in front as it does behind */
	refused(aoti_torch__reinterpret_tensor(x, 2, INTS(2, 2), INTS(-5, 5), 0, &h), "negative size or stride");
	refused(aoti_torch_create_tensor_from_blob(v, 1, INTS(INT64_MAX), INTS(1), 1, DTYPE_F32, 0, 0, &h), "too large for memory");
	refused(aoti_torch__reinterpret_tensor(x, 2, INTS(wide, 0), INTS(wide, 1), 3, &h),
		"too large for memory"); /* also of no elements */
	assert_int_equal(aoti_torch__reinterpret_tensor(x, 2, INTS(wide, 0), INTS(1, 1), 3, &h), 0);
	aoti_torch_get_numel(h, &n);
	assert_int_equal(n, 0);
	drop(h);
	drop(x);
}

static void views_do_not_overflow(void **state)
{
	float v[6] = {0};
	handle x = blob(v, DTYPE_F32, 2, INTS(2, 3), INTS(3, 1)), h;

	(void)state;
	refused(aoti_torch_cpu_slice_Tensor(x, 0, NULL, NULL, INT64_MAX, &h), "too large for memory");
	refused(aoti_torch_cpu_reshape(x, INTS(INT64_MAX, INT64_MAX), 2, &h), "too large for memory");
	drop(x);
}

static void copies_of_overlapping_views(void **state)
{
	handle m, t;
	float *v;

	(void)state;
	assert_int_equal(aoti_torch_empty_strided(2, INTS(3, 3), INTS(3, 1), DTYPE_F32, 0, 0, &m), 0);
	assert_int_equal(aoti_torch__reinterpret_tensor(m, 2, INTS(3, 3), INTS(1, 3), 0, &t), 0);
	aoti_torch_get_data_ptr(m, (void **)&v);
	for (int i = 0; i < 9; i++)
		v[i] = (float)i;
	assert_int_equal(aoti_torch_copy_(m, t, 0), 0);
	for (int i = 0; i < 9; i++)
		assert_true(v[i] == (float)(i % 3 * 3 + i / 3));
	drop(t);
	drop(m);
}

static void operands_have_to_fit(void **state)
{
	float v[8] = {0}, c[8];
	int32_t pivots[2] = {1, 2};
	handle real = blob(v, DTYPE_F32, 2, INTS(2, 2), INTS(2, 1)), complex_out = blob(c, DTYPE_C64, 2, INTS(2, 2), INTS(2, 1));
	handle four = blob(v, DTYPE_F32, 1, INTS(4), INTS(1)), two = blob(c, DTYPE_F32, 1, INTS(2), INTS(1));
	handle lu = blob(v, DTYPE_F32, 3, INTS(2, 2, 2), INTS(4, 2, 1)), few = blob(pivots, DTYPE_I32, 2, INTS(1, 2), INTS(2, 1)), h[3];

	(void)state;
	memset(c, 0, sizeof(c));
	refused(aoti_torch_cpu_mm_out(complex_out, real, real), "complex output");
	refused(aoti_torch_cpu_bernoulli__Tensor(four, two, NULL), "size 2");
	refused(aoti_torch_cpu_lu_unpack(lu, few, 1, 1, &h[0], &h[1], &h[2]), "one for each matrix");
	handle all[] = {real, complex_out, four, two, lu, few};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		drop(all[i]);
}

/* The dtype of the result is uint8: -12 becomes 244 before anything is computed. */
static void integers_are_cut_first(void **state)
{
	uint8_t x[2] = {252, 10}, *v;
	int32_t y = -12;
	handle a = blob(x, DTYPE_U8, 1, INTS(2), INTS(1)), b = blob(&y, DTYPE_I32, 0, NULL, NULL), r;

	(void)state;
	assert_int_equal(aoti_torch_cpu_gcd(a, b, &r), 0);
	aoti_torch_get_data_ptr(r, (void **)&v);
	assert_int_equal(v[0], 4);
	assert_int_equal(v[1], 2);
	drop(a);
	drop(b);
	drop(r);
}

/* A failure in the middle of a fill would keep the generator's lock: the second call would wait for ever. */
static void random_numbers_of_no_dtype(void **state)
{
	int32_t dtype = DTYPE_F8E5M2;
	handle h;

	(void)state;
	for (int i = 0; i < 2; i++)
		refused(aoti_torch_cpu_randint(5, INTS(3), 1, &dtype, NULL, NULL, 0, NULL, &h), "not implemented for float8_e5m2");
}

/* A function that returns nothing, called outside of any op: no reason to abort. */
static void printing_what_has_no_numbers(void **state)
{
	uint8_t v[4] = {0};
	handle h = blob(v, DTYPE_F4E2M1FN_X2, 1, INTS(4), INTS(1));

	(void)state;
	aoti_torch_print_tensor_handle(h, "x");
	drop(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sizes_and_strides_are_checked), cmocka_unit_test(views_do_not_overflow),
	    cmocka_unit_test(copies_of_overlapping_views),   cmocka_unit_test(operands_have_to_fit),
	    cmocka_unit_test(integers_are_cut_first),        cmocka_unit_test(random_numbers_of_no_dtype),
	    cmocka_unit_test(printing_what_has_no_numbers),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, load, NULL);
}
