/* Sorting, scans, indexing, pooling, bags, transforms and random numbers of libpt2shim.so: small results that are
 * known, and torch's strides. The library is loaded as a model's process loads it. tests/live/cases_index.py has them
 * against torch. */
#include "../../lib/shim.h"

#include <complex.h>
#include <math.h>

#ifndef CMPLX /* clang with glibc's header */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

#define OPS(X) \
	X(aoti_torch_create_tensor_from_blob, \
	  (void *, int64_t, const int64_t *, const int64_t *, int64_t, int32_t, int32_t, int32_t, handle *)) \
	X(aoti_torch_delete_tensor_object, (handle)) \
	X(aoti_torch_get_dim, (handle, int64_t *)) \
	X(aoti_torch_get_dtype, (handle, int32_t *)) \
	X(aoti_torch_get_sizes, (handle, int64_t **)) \
	X(aoti_torch_get_strides, (handle, int64_t **)) \
	X(aoti_torch_get_data_ptr, (handle, void **)) \
	X(aoti_torch_cpu_sort_stable, (handle, int32_t *, int64_t, int32_t, handle *, handle *)) \
	X(aoti_torch_cpu_topk, (handle, int64_t, int64_t, int32_t, int32_t, handle *, handle *)) \
	X(aoti_torch_cpu_median, (handle, handle *)) \
	X(aoti_torch_cpu_cumsum, (handle, int64_t, int32_t *, handle *)) \
	X(aoti_torch_cpu_cummax, (handle, int64_t, handle *, handle *)) \
	X(aoti_torch_cpu_nonzero, (handle, handle *)) \
	X(aoti_torch_cpu_searchsorted_Tensor, (handle, handle, int32_t, int32_t, const char **, handle *, handle *)) \
	X(aoti_torch_cpu_index_Tensor, (handle, const handle **, int64_t, handle *)) \
	X(aoti_torch_cpu_index_put, (handle, const handle **, int64_t, handle, int32_t, handle *)) \
	X(aoti_torch_cpu_scatter_reduce_two_out, (handle, handle, int64_t, handle, handle, const char *, int32_t)) \
	X(aoti_torch_cpu_masked_select, (handle, handle, handle *)) \
	X(aoti_torch_cpu_max_pool2d_with_indices, (handle, const int64_t *, int64_t, const int64_t *, int64_t, const int64_t *, int64_t, \
						   const int64_t *, int64_t, int32_t, handle *, handle *)) \
	X(aoti_torch_cpu__adaptive_avg_pool2d, (handle, const int64_t *, int64_t, handle *)) \
	X(aoti_torch_cpu__embedding_bag_forward_only, \
	  (handle, handle, handle, int32_t, int64_t, int32_t, handle *, int32_t, int64_t, handle *, handle *, handle *, handle *)) \
	X(aoti_torch_cpu__cdist_forward, (handle, handle, double, int64_t *, handle *)) \
	X(aoti_torch_cpu__fft_c2c, (handle, const int64_t *, int64_t, int64_t, int32_t, handle *)) \
	X(aoti_torch_cpu__fft_r2c, (handle, const int64_t *, int64_t, int64_t, int32_t, handle *)) \
	X(aoti_torch_cpu_rand, (const int64_t *, int64_t, int32_t *, int32_t *, int32_t *, int32_t, int32_t *, handle *)) \
	X(aoti_torch_cpu_randn, (const int64_t *, int64_t, int32_t *, int32_t *, int32_t *, int32_t, int32_t *, handle *)) \
	X(aoti_torch_cpu_randperm, (int64_t, int32_t *, int32_t *, int32_t *, int32_t, int32_t *, handle *)) \
	X(aoti_torch_cpu_randint_low_out, (handle, int64_t, int64_t, const int64_t *, int64_t))

OPS(SHIM_POINTER)
static void (*shim_seed)(uint64_t);

static int load(void **state)
{
	void *lib = shim_open();

	(void)state;
#define OP_LOAD(name, params) shim_take(lib, #name, &name);
	OPS(OP_LOAD)
	shim_take(lib, "shim_seed", &shim_seed);
	return 0;
}

/* ---- tensors ---- */

#define SIZE(...) \
	(const int64_t[]) { __VA_ARGS__, -1 }

static int count(const int64_t *size)
{
	int n = 0;

	while (size[n] >= 0)
		n++;
	return n;
}

static handle strided(void *data, int dtype, const int64_t *size, const int64_t *stride)
{
	handle h = NULL;

	assert_int_equal(aoti_torch_create_tensor_from_blob(data, count(size), size, stride, 0, dtype, 0, 0, &h), 0);
	return h;
}

static handle tensor(void *data, int dtype, const int64_t *size)
{
	int64_t stride[8], step = 1;

	for (int i = count(size) - 1; i >= 0; i--) {
		stride[i] = step;
		step *= size[i];
	}
	return strided(data, dtype, size, stride);
}

static void drop(handle h) { aoti_torch_delete_tensor_object(h); }

static void *data_of(handle h)
{
	void *p = NULL;

	assert_int_equal(aoti_torch_get_data_ptr(h, &p), 0);
	return p;
}

static void assert_layout(handle h, int dtype, const int64_t *size, const int64_t *stride)
{
	int64_t n = -1, *have = NULL;
	int32_t type = -1;

	aoti_torch_get_dim(h, &n);
	aoti_torch_get_dtype(h, &type);
	assert_int_equal(type, dtype);
	assert_int_equal(n, count(size));
	aoti_torch_get_sizes(h, &have);
	assert_memory_equal(have, size, (size_t)n * sizeof(*size));
	aoti_torch_get_strides(h, &have);
	assert_memory_equal(have, stride, (size_t)n * sizeof(*stride));
}

/* Compares in the order of memory, releases the tensor. NaN equals NaN. */
static void assert_floats(handle h, int n, const float *want)
{
	const float *have = data_of(h);

	for (int i = 0; i < n; i++)
		if (!(have[i] == want[i] || (isnan(have[i]) && isnan(want[i]))))
			fail_msg("element %d: %.9g instead of %.9g", i, (double)have[i], (double)want[i]);
	drop(h);
}

static void assert_longs(handle h, int n, const int64_t *want)
{
	const int64_t *have = data_of(h);

	for (int i = 0; i < n; i++)
		if (have[i] != want[i])
			fail_msg("element %d: %lld instead of %lld", i, (long long)have[i], (long long)want[i]);
	drop(h);
}

#define FLOATS(h, ...) assert_floats(h, (int)ARRAY_LEN(((float[]){__VA_ARGS__})), (float[]){__VA_ARGS__})
#define LONGS(h, ...) assert_longs(h, (int)ARRAY_LEN(((int64_t[]){__VA_ARGS__})), (int64_t[]){__VA_ARGS__})
static const float nan_f = NAN;

/* ---- sorting and scans ---- */

static void sorts_with_nan_largest_and_keeps_ties(void **state)
{
	float v[] = {2, nan_f, -1, 2, 0, -0.0f};
	handle x = tensor(v, DTYPE_F32, SIZE(6)), values, indices;

	(void)state;
	assert_int_equal(aoti_torch_cpu_sort_stable(x, NULL, 0, 0, &values, &indices), 0);
	FLOATS(values, -1, 0, -0.0f, 2, 2, nan_f);
	LONGS(indices, 2, 4, 5, 0, 3, 1);
	assert_int_equal(aoti_torch_cpu_sort_stable(x, NULL, -1, 1, &values, &indices), 0);
	FLOATS(values, nan_f, 2, 2, 0, -0.0f, -1);
	LONGS(indices, 1, 0, 3, 4, 5, 2);
	drop(x);
}

static void sort_keeps_strides_and_topk_does_not(void **state)
{
	float v[] = {3, 1, 2, 6, 5, 4};
	handle x = strided(v, DTYPE_F32, SIZE(3, 2), SIZE(1, 3)), values, indices;

	(void)state;
	assert_int_equal(aoti_torch_cpu_sort_stable(x, NULL, 0, 0, &values, &indices), 0);
	assert_layout(values, DTYPE_F32, SIZE(3, 2), SIZE(1, 3));
	assert_layout(indices, DTYPE_I64, SIZE(3, 2), SIZE(1, 3));
	FLOATS(values, 1, 2, 3, 4, 5, 6);
	LONGS(indices, 1, 2, 0, 2, 1, 0);
	assert_int_equal(aoti_torch_cpu_topk(x, 1, 0, 1, 1, &values, &indices), 0);
	assert_layout(values, DTYPE_F32, SIZE(1, 2), SIZE(2, 1));
	FLOATS(values, 3, 6);
	LONGS(indices, 0, 0);
	assert_int_equal(aoti_torch_cpu_topk(x, 4, 0, 1, 1, &values, &indices), 1);
	assert_non_null(strstr(shim_last_error(), "out of range"));
	assert_int_equal(aoti_torch_cpu_median(x, &values), 0);
	FLOATS(values, 3);
	drop(x);
}

static void scans(void **state)
{
	uint8_t b[] = {1, 0, 1, 1};
	float v[] = {1, 3, 3, nan_f, 9};
	handle x = tensor(b, DTYPE_BOOL, SIZE(4)), y = tensor(v, DTYPE_F32, SIZE(5)), r, at;

	(void)state;
	assert_int_equal(aoti_torch_cpu_cumsum(x, 0, NULL, &r), 0);
	assert_layout(r, DTYPE_I64, SIZE(4), SIZE(1));
	LONGS(r, 1, 1, 2, 3);
	assert_int_equal(aoti_torch_cpu_cummax(y, 0, &r, &at), 0);
	FLOATS(r, 1, 3, 3, nan_f, nan_f);
	LONGS(at, 0, 1, 2, 3, 3);
	drop(x);
	drop(y);
}

static void nonzero_is_column_major(void **state)
{
	float v[] = {0, 1, nan_f, 0, 0, 2};
	handle x = tensor(v, DTYPE_F32, SIZE(2, 3)), r;

	(void)state;
	assert_int_equal(aoti_torch_cpu_nonzero(x, &r), 0);
	assert_layout(r, DTYPE_I64, SIZE(3, 2), SIZE(1, 3));
	LONGS(r, 0, 0, 1, 1, 2, 2);
	drop(x);
}

static void searches(void **state)
{
	float seq[] = {1, 2, 2, 4}, v[] = {2, nan_f, 0};
	handle s = tensor(seq, DTYPE_F32, SIZE(4)), x = tensor(v, DTYPE_F32, SIZE(3)), r;
	const char *side = "right", *wrong = "left";

	(void)state;
	assert_int_equal(aoti_torch_cpu_searchsorted_Tensor(s, x, 0, 0, NULL, NULL, &r), 0);
	LONGS(r, 1, 4, 0);
	assert_int_equal(aoti_torch_cpu_searchsorted_Tensor(s, x, 0, 0, &side, NULL, &r), 0);
	LONGS(r, 3, 4, 0);
	assert_int_equal(aoti_torch_cpu_searchsorted_Tensor(s, x, 0, 1, &wrong, NULL, &r), 1);
	drop(s);
	drop(x);
}

/* ---- indexing ---- */

static void indices_apart_come_first(void **state)
{
	int64_t a[] = {0, -1}, b[] = {1, 0}, beyond[] = {0, 2};
	float v[12];
	handle x = tensor(v, DTYPE_F32, SIZE(2, 3, 2)), i = tensor(a, DTYPE_I64, SIZE(2)), k = tensor(b, DTYPE_I64, SIZE(2)), r;
	handle bad = tensor(beyond, DTYPE_I64, SIZE(2));
	const handle *apart[] = {&i, NULL, &k}, *wrong[] = {&bad};

	(void)state;
	for (int n = 0; n < 12; n++)
		v[n] = (float)n;
	assert_int_equal(aoti_torch_cpu_index_Tensor(x, apart, 3, &r), 0);
	assert_layout(r, DTYPE_F32, SIZE(2, 3), SIZE(3, 1));
	FLOATS(r, 1, 3, 5, 6, 8, 10);
	assert_int_equal(aoti_torch_cpu_index_Tensor(x, wrong, 1, &r), 1);
	assert_non_null(strstr(shim_last_error(), "index 2 is out of bounds for dimension 0 with size 2"));
	drop(x), drop(i), drop(k), drop(bad);
}

static void index_put_accumulates(void **state)
{
	float v[] = {1, 2, 3}, one[] = {10};
	int64_t at[] = {0, -1, 0};
	uint8_t m[] = {0, 1, 1};
	handle x = tensor(v, DTYPE_F32, SIZE(3)), i = tensor(at, DTYPE_I64, SIZE(3)), mask = tensor(m, DTYPE_BOOL, SIZE(3)), r;
	handle ten = tensor(one, DTYPE_F32, SIZE(1));
	const handle *by_index[] = {&i}, *by_mask[] = {&mask};

	(void)state;
	assert_int_equal(aoti_torch_cpu_index_put(x, by_index, 1, ten, 1, &r), 0);
	FLOATS(r, 21, 2, 13);
	assert_int_equal(aoti_torch_cpu_index_put(x, by_mask, 1, ten, 0, &r), 0);
	FLOATS(r, 1, 10, 10);
	assert_int_equal(aoti_torch_cpu_masked_select(x, mask, &r), 0);
	FLOATS(r, 2, 3);
	drop(x), drop(i), drop(mask), drop(ten);
}

static void scatter_reduce_means(void **state)
{
	int64_t v[] = {1, 5, -7}, src[] = {2, 4, -2, 9}, at[] = {0, 0, 2, 1}, out[3];
	handle x = tensor(v, DTYPE_I64, SIZE(3)), s = tensor(src, DTYPE_I64, SIZE(4)), i = tensor(at, DTYPE_I64, SIZE(4));
	handle o = tensor(out, DTYPE_I64, SIZE(3));

	(void)state;
	assert_int_equal(aoti_torch_cpu_scatter_reduce_two_out(o, x, 0, i, s, "mean", 1), 0);
	assert_int_equal(out[0], 2); /* 7 / 3 */
	assert_int_equal(out[1], 7);
	assert_int_equal(out[2], -5); /* -9 / 2, rounded down */
	assert_int_equal(aoti_torch_cpu_scatter_reduce_two_out(o, x, 0, i, s, "amin", 0), 0);
	assert_int_equal(out[0], 2);
	assert_int_equal(out[1], 9);
	assert_int_equal(aoti_torch_cpu_scatter_reduce_two_out(o, x, 0, i, s, "avg", 1), 1);
	drop(x), drop(s), drop(i), drop(o);
}

/* ---- pooling, bags, distances ---- */

static void pooling_keeps_channels_last(void **state)
{
	/* [1, 2, 2, 2], the channels next to each other: 1 2 3 4 and 5 NaN 7 8 */
	float v[] = {1, 5, 2, nan_f, 3, 7, 4, 8};
	handle x = strided(v, DTYPE_F32, SIZE(1, 2, 2, 2), SIZE(8, 1, 4, 2)), r, at;

	(void)state;
	assert_int_equal(aoti_torch_cpu_max_pool2d_with_indices(x, SIZE(1, 2), 2, SIZE(1), 1, SIZE(0), 1, SIZE(1), 1, 0, &r, &at), 0);
	assert_layout(r, DTYPE_F32, SIZE(1, 2, 2, 1), SIZE(4, 1, 2, 2));
	FLOATS(r, 2, nan_f, 4, 8);
	LONGS(at, 1, 1, 3, 3);
	assert_int_equal(aoti_torch_cpu__adaptive_avg_pool2d(x, SIZE(2, 1), 2, &r), 0);
	assert_layout(r, DTYPE_F32, SIZE(1, 2, 2, 1), SIZE(4, 1, 2, 2));
	FLOATS(r, 1.5f, nan_f, 3.5f, 7.5f);
	assert_int_equal(aoti_torch_cpu_max_pool2d_with_indices(x, SIZE(3), 1, SIZE(1), 1, SIZE(0), 1, SIZE(1), 1, 0, &r, &at), 1);
	drop(x);
}

static void bags_leave_padding_out(void **state)
{
	float v[] = {1, 2, 3, 4, 50, 60};
	int64_t at[] = {0, 2, 1, 2}, begin[] = {0, 3, 3};
	handle w = tensor(v, DTYPE_F32, SIZE(3, 2)), i = tensor(at, DTYPE_I64, SIZE(4)), o = tensor(begin, DTYPE_I64, SIZE(3)), r[4];

	(void)state;
	assert_int_equal(aoti_torch_cpu__embedding_bag_forward_only(w, i, o, 0, 1, 0, NULL, 0, 2, &r[0], &r[1], &r[2], &r[3]), 0);
	FLOATS(r[0], 2, 3, 0, 0, 0, 0);
	LONGS(r[1], 0, 0, 0, 2);
	LONGS(r[2], 2, 0, 0);
	LONGS(r[3], 2, 0, 0);
	at[3] = 3;
	assert_int_equal(aoti_torch_cpu__embedding_bag_forward_only(w, i, o, 0, 0, 0, NULL, 0, -1, &r[0], &r[1], &r[2], &r[3]), 1);
	drop(w), drop(i), drop(o);
}

static void distances(void **state)
{
	float a[] = {0, 0, 3, 4}, b[] = {3, 4};
	handle x = tensor(a, DTYPE_F32, SIZE(2, 2)), y = tensor(b, DTYPE_F32, SIZE(1, 2)), r;

	(void)state;
	assert_int_equal(aoti_torch_cpu__cdist_forward(x, y, 2, NULL, &r), 0);
	FLOATS(r, 5, 0);
	assert_int_equal(aoti_torch_cpu__cdist_forward(x, y, 0, NULL, &r), 0);
	FLOATS(r, 2, 0);
	drop(x);
	drop(y);
}

/* ---- transforms ---- */

/* Against the sum that defines it. */
static void transform_of(int n)
{
	double complex *v = xcalloc((size_t)n, sizeof(*v));
	uint64_t seed = (uint64_t)n;
	handle x, r;

	for (int i = 0; i < n; i++)
		v[i] = CMPLX((double)pick(&seed, 1000) / 500 - 1, (double)pick(&seed, 1000) / 500 - 1);
	x = tensor(v, DTYPE_C128, SIZE(n));
	assert_int_equal(aoti_torch_cpu__fft_c2c(x, SIZE(0), 1, 0, 1, &r), 0);
	const double complex *have = data_of(r);
	for (int k = 0; k < n; k++) {
		double complex want = 0;
		for (int i = 0; i < n; i++)
			want += v[i] * cexp(CMPLX(0, -2 * M_PI * (double)((int64_t)i * k % n) / n));
		if (cabs(have[k] - want) > 1e-11 * n)
			fail_msg("length %d, element %d: off by %g", n, k, cabs(have[k] - want));
	}
	drop(r);
	drop(x);
	free(v);
}

static void transforms(void **state)
{
	static const int lengths[] = {1, 2, 3, 4, 5, 7, 12, 31, 37, 74, 96, 101, 128, 210, 961};
	float v[] = {1, 2, 3, 4};
	handle x = tensor(v, DTYPE_F32, SIZE(4)), r;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
		transform_of(lengths[i]);
	assert_int_equal(aoti_torch_cpu__fft_r2c(x, SIZE(0), 1, 2, 1, &r), 0);
	assert_layout(r, DTYPE_C64, SIZE(3), SIZE(1));
	FLOATS(r, 2.5f, 0, -0.5f, 0.5f, -0.5f, 0);
	drop(x);
}

/* The batch dims come first in memory, in the order of self's strides. */
static void transforms_have_the_strides_of_mkl(void **state)
{
	float v[24] = {1};
	handle x = tensor(v, DTYPE_F32, SIZE(2, 3, 4)), r;

	(void)state;
	assert_int_equal(aoti_torch_cpu__fft_r2c(x, SIZE(0), 1, 0, 1, &r), 0);
	assert_layout(r, DTYPE_C64, SIZE(2, 3, 4), SIZE(1, 8, 2));
	drop(r);
	drop(x);
}

/* ---- random numbers: what torch 2.13 gives after torch.manual_seed(0) ---- */

static void random_numbers_are_torchs(void **state)
{
	int64_t seeds[2];
	handle r, out = tensor(seeds, DTYPE_I64, SIZE(2));

	(void)state;
	shim_seed(0);
	assert_int_equal(aoti_torch_cpu_rand(SIZE(3), 1, NULL, NULL, NULL, 0, NULL, &r), 0);
	FLOATS(r, 0x1.fc2ab0p-2f, 0x1.89545ep-1f, 0x1.6a675p-4f);
	shim_seed(0);
	assert_int_equal(aoti_torch_cpu_randint_low_out(out, INT64_MIN, INT64_MAX, SIZE(2), 1), 0);
	assert_true(seeds[0] == 900450186894289455 && seeds[1] == 3969543146641149120);
	shim_seed(0);
	assert_int_equal(aoti_torch_cpu_randn(SIZE(3), 1, NULL, NULL, NULL, 0, NULL, &r), 0);
	FLOATS(r, 0x1.8a7eb8p+0f, -0x1.2c78ap-2f, -0x1.16e292p+1f);
	shim_seed(0);
	assert_int_equal(aoti_torch_cpu_randperm(6, NULL, NULL, NULL, 0, NULL, &r), 0);
	LONGS(r, 2, 5, 3, 0, 1, 4);
	drop(out);
}

/* Of 16 numbers and more, the last 16 are drawn anew; their logarithm and sine are those of AVX2's code. */
static void normals_in_blocks_are_torchs(void **state)
{
	handle r;

	(void)state;
#ifdef __x86_64__
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
#endif
		skip();
	shim_seed(0);
	assert_int_equal(aoti_torch_cpu_randn(SIZE(17), 1, NULL, NULL, NULL, 0, NULL, &r), 0);
	const float *v = data_of(r);
	assert_true(v[14] == 0x1.e48138p-1f && v[15] == -0x1.aff666p-1f && v[16] == 0x1.dd186p-1f);
	drop(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sorts_with_nan_largest_and_keeps_ties),
	    cmocka_unit_test(sort_keeps_strides_and_topk_does_not),
	    cmocka_unit_test(scans),
	    cmocka_unit_test(nonzero_is_column_major),
	    cmocka_unit_test(searches),
	    cmocka_unit_test(indices_apart_come_first),
	    cmocka_unit_test(index_put_accumulates),
	    cmocka_unit_test(scatter_reduce_means),
	    cmocka_unit_test(pooling_keeps_channels_last),
	    cmocka_unit_test(bags_leave_padding_out),
	    cmocka_unit_test(distances),
	    cmocka_unit_test(transforms),
	    cmocka_unit_test(transforms_have_the_strides_of_mkl),
	    cmocka_unit_test(random_numbers_are_torchs),
	    cmocka_unit_test(normals_in_blocks_are_torchs),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, load, NULL);
}
