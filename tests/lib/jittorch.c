/* libtorch's tensor functions for the Python of tests/lib/jittorch: a handle is the address of a word in a Python object, as with real
 * torch, and the word the address of a `bytes` object (CPython's: reference count, type, size, hash, then the bytes), which holds what
 * is below. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tensor {
	uint64_t head[4]; /* of the bytes object */
	uint64_t data;
	int64_t n_dim, dtype, size[4], stride[4];
	int64_t bytes; /* of its storage */
	int64_t device;
};

static struct tensor *of(void *handle) { return *(struct tensor **)handle; }

#define GET(name, type, expression) \
	int32_t aoti_torch_get_##name(void *handle, type *to); \
	int32_t aoti_torch_get_##name(void *handle, type *to) \
	{ \
		*to = expression; \
		return 0; \
	}
GET(dtype, int32_t, (int32_t)of(handle)->dtype)
GET(dim, int64_t, of(handle)->n_dim)
GET(sizes, int64_t *, of(handle)->size)
GET(strides, int64_t *, of(handle)->stride)
GET(device_type, int32_t, (int32_t)of(handle)->device)
GET(device_index, int32_t, of(handle)->device ? 0 : -1)
GET(storage_size, int64_t, of(handle)->bytes)
GET(storage_offset, int64_t, ((void)handle, 0))
GET(layout, int32_t, ((void)handle, 0))
GET(data_ptr, void *, (void *)(uintptr_t)of(handle)->data)

int32_t aoti_torch_is_defined(void *handle, bool *to);
int32_t aoti_torch_is_defined(void *handle, bool *to)
{
	*to = of(handle) != NULL;
	return 0;
}

int32_t aoti_torch_get_current_device_index(int32_t *device);
int32_t aoti_torch_get_current_device_index(int32_t *device)
{
	*device = 0;
	return 0;
}

int32_t aoti_torch_delete_tensor_object(void *handle);
int32_t aoti_torch_delete_tensor_object(void *handle)
{
	(void)handle;
	return 1; /* tensors are Python's: nobody may ask for it */
}
