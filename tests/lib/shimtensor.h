/* shimtensor.h - tensors of libpt2shim.so in a test (shim.h), over memory of the test.
 *
 *     handle x = tensor(DTYPE_F32, numbers, 2, INTS(2, 3));
 *     want_layout(out, 2, INTS(2, 2), INTS(2, 1));
 *     drop(x);
 */
#ifndef PT2_TEST_SHIMTENSOR_H
#define PT2_TEST_SHIMTENSOR_H
#include "shim.h"

/* clang-format off */
#define SHIM_TENSOR_OPS(X) \
	X(aoti_torch_create_tensor_from_blob_v2, (void *, int64_t, const int64_t *, const int64_t *, int64_t, int32_t, int32_t, int32_t, \
		handle *, int32_t, const uint8_t *, int64_t)) \
	X(aoti_torch_delete_tensor_object, (handle)) \
	X(aoti_torch_get_sizes, (handle, int64_t **)) \
	X(aoti_torch_get_strides, (handle, int64_t **)) \
	X(aoti_torch_get_dim, (handle, int64_t *)) \
	X(aoti_torch_get_data_ptr, (handle, void **))
/* clang-format on */

SHIM_TENSOR_OPS(SHIM_POINTER)

static inline void *shim_tensor_open(void)
{
	void *lib = shim_open();
#define SHIM_TENSOR_LOAD(name, params) shim_take(lib, #name, &name);
	SHIM_TENSOR_OPS(SHIM_TENSOR_LOAD)
	return lib;
}

#define INTS(...) ((const int64_t[]){__VA_ARGS__})

static inline handle strided(int dtype, void *data, int n_dim, const int64_t *size, const int64_t *stride)
{
	handle h = NULL;
	assert_int_equal(aoti_torch_create_tensor_from_blob_v2(data, n_dim, size, stride, 0, dtype, 0, -1, &h, 0, NULL, 0), 0);
	return h;
}

static inline handle tensor(int dtype, void *data, int n_dim, const int64_t *size)
{
	int64_t stride[8], step = 1;
	for (int i = n_dim - 1; i >= 0; i--) {
		stride[i] = step;
		step *= size[i];
	}
	return strided(dtype, data, n_dim, size, stride);
}

static inline void drop(handle h) { aoti_torch_delete_tensor_object(h); }

static inline void want_layout(handle h, int n_dim, const int64_t *size, const int64_t *stride)
{
	int64_t n, *v;
	aoti_torch_get_dim(h, &n);
	assert_int_equal(n, n_dim);
	aoti_torch_get_sizes(h, &v);
	assert_memory_equal(v, size, (size_t)n_dim * sizeof(*v));
	aoti_torch_get_strides(h, &v);
	assert_memory_equal(v, stride, (size_t)n_dim * sizeof(*v));
}

#endif
