/* core.c - the core of torch's C interface (torch/csrc/inductor/aoti_torch/c/shim.h): constants, tensor properties, creating
 * tensors. */
#include "aten/blas.h"
#include "aten/elem.h"
#include "shim.h"
#include "packed.h"

#include <errno.h>
#include <unistd.h>

/* ---- errors ---- */

bool shim_starved(void) { return aten_starved(); }

const char *shim_last_error(void) { return aten_last_error(); }

/* "Exception in aoti_torch: ...", written at once. */
AOTITorchError shim_leave(struct aten_frame *f, bool failed)
{
	char line[1200];
	if (failed) {
		int n = snprintf(line, sizeof(line), "Exception in aoti_torch: %s\n", aten_last_error());
		if (write(2, line, (size_t)n) < 0)
			errno = 0;
	}
	return aten_leave(f, failed);
}

/* ---- constants ---- */

#define DEVICE(name, number) \
	int32_t aoti_torch_device_type_##name(void) { return number; }
DEVICE(cpu, 0)
DEVICE(cuda, 1)
DEVICE(meta, 14)
DEVICE(xpu, 12)
DEVICE(mps, 13)
DEVICE(privateuse1, 20)

#define DTYPE(name, id) \
	int32_t aoti_torch_dtype_##name(void) { return DTYPE_##id; }
DTYPE(float8_e5m2, F8E5M2)
DTYPE(float8_e4m3fn, F8E4M3FN)
DTYPE(float8_e5m2fnuz, F8E5M2FNUZ)
DTYPE(float8_e4m3fnuz, F8E4M3FNUZ)
DTYPE(float8_e8m0fnu, F8E8M0FNU)
DTYPE(float4_e2m1fn_x2, F4E2M1FN_X2)
DTYPE(bfloat16, BF16)
DTYPE(float16, F16)
DTYPE(float32, F32)
DTYPE(float64, F64)
DTYPE(uint8, U8)
DTYPE(uint16, U16)
DTYPE(uint32, U32)
DTYPE(uint64, U64)
DTYPE(int8, I8)
DTYPE(int16, I16)
DTYPE(int32, I32)
DTYPE(int64, I64)
DTYPE(bool, BOOL)
DTYPE(complex32, C32)
DTYPE(complex64, C64)
DTYPE(complex128, C128)

size_t aoti_torch_dtype_element_size(int32_t dtype)
{
	const struct dtype_info *d = dtype_info(dtype);
	return d ? (size_t)d->bytes : 0;
}

/* c10/core/Layout.h */
#define LAYOUT(name, number) \
	int32_t aoti_torch_layout_##name(void) { return number; }
LAYOUT(strided, 0)
LAYOUT(sparse_coo, 1)
LAYOUT(sparse_csr, 2)
LAYOUT(_mkldnn, 3)
LAYOUT(sparse_csc, 4)
LAYOUT(sparse_bsr, 5)
LAYOUT(sparse_bsc, 6)
LAYOUT(jagged, 7)

/* c10/core/MemoryFormat.h */
#define FORMAT(name, number) \
	int32_t aoti_torch_memory_format_##name(void) { return number; }
FORMAT(contiguous_format, 0)
FORMAT(preserve_format, 1)
FORMAT(channels_last, 2)
FORMAT(channels_last_3d, 3)

/* torch/csrc/stable/version.h: a byte each for major, minor, patch, from the top. The newest version whose functions are all
 * implemented here. */
uint64_t aoti_torch_abi_version(void) { return 2ull << 56 | 13ull << 48; }

static __thread bool grad_mode = true;
bool aoti_torch_grad_mode_is_enabled(void) { return grad_mode; }
void aoti_torch_grad_mode_set_enabled(bool enabled) { grad_mode = enabled; }

/* ---- tensor properties ---- */

static void defined(const struct aten_tensor *t)
{
	if (!t->storage)
		aten_fail("the tensor is not defined");
}

static AOTITorchError undefined(const struct aten_tensor *t, const char *op)
{
	SHIM_TRY_AS(op) {
		defined(t);
	}
	SHIM_END
}

/* Models call these all the time, and so does the probe: without a frame, which would take 12 ns. */
#define GET(name, type, value) \
	AOTITorchError aoti_torch_get_##name(AtenTensorHandle t, type *ret) \
	{ \
		if (UNLIKELY(!t->storage)) \
			return undefined(t, __func__); \
		*ret = value; \
		return 0; \
	}
GET(data_ptr, void *, aten_data(t))
GET(storage_size, int64_t, (int64_t)t->storage->bytes)
GET(storage_numel, int64_t, (int64_t)t->storage->bytes / dtype_info(t->dtype)->bytes)
GET(storage_offset, int64_t, t->offset)
GET(dim, int64_t, t->n_dim)
GET(numel, int64_t, aten_numel(t))
GET(sizes, int64_t *, t->size)
GET(strides, int64_t *, t->stride)
GET(dtype, int32_t, t->dtype)
GET(device_type, int32_t, DEVICE_CPU)
GET(device_index, int32_t, -1)
GET(layout, int32_t, 0)

static int own_dim(const struct aten_tensor *t, int64_t d)
{
	defined(t);
	if (!t->n_dim)
		aten_fail("dimension %lld of a tensor without dimensions", (long long)d);
	return aten_dim(t, d);
}

SHIM_OP(aoti_torch_get_size(AtenTensorHandle t, int64_t d, int64_t *ret), *ret = t->size[own_dim(t, d)])

SHIM_OP(aoti_torch_get_stride(AtenTensorHandle t, int64_t d, int64_t *ret), *ret = t->stride[own_dim(t, d)])

SHIM_OP(aoti_torch_is_contiguous(AtenTensorHandle t, bool *ret), defined(t); *ret = aten_is_contiguous(t))

AOTITorchError aoti_torch_is_defined(AtenTensorHandle t, bool *ret)
{
	*ret = t->storage != NULL;
	return 0;
}

AOTITorchError aoti_torch_get_current_device_index(int32_t *ret)
{
	*ret = 0;
	return 0;
}

/* ---- creating and deleting ---- */

static void here(int32_t device_type)
{
	if (device_type != DEVICE_CPU)
		aten_fail("a tensor on %s: only the CPU is supported", device_name(device_type));
}

AOTITorchError aoti_torch_empty_strided(int64_t ndim, const int64_t *sizes, const int64_t *strides, int32_t dtype, int32_t device_type,
					int32_t device_index, AtenTensorHandle *ret)
{
	(void)device_index;
	SHIM_TRY {
		here(device_type);
		if (ndim < 0 || ndim > ATEN_DIMS)
			aten_fail("%lld dimensions", (long long)ndim);
		SHIM_GIVE(ret, aten_new(dtype, (int)ndim, sizes, strides));
	}
	SHIM_END
}

AOTITorchError aoti_torch_empty_strided_pinned(int64_t ndim, const int64_t *sizes, const int64_t *strides, int32_t dtype,
					       int32_t device_type, int32_t device_index, AtenTensorHandle *ret)
{
	return aoti_torch_empty_strided(ndim, sizes, strides, dtype, device_type, device_index, ret);
}

AOTITorchError aoti_torch_create_tensor_from_blob_v2(void *data, int64_t ndim, const int64_t *sizes, const int64_t *strides,
						     int64_t storage_offset, int32_t dtype, int32_t device_type, int32_t device_index,
						     AtenTensorHandle *ret, int32_t layout, const uint8_t *opaque, int64_t opaque_size)
{
	(void)device_index;
	SHIM_TRY {
		here(device_type);
		if (layout && layout != LAYOUT_MKLDNN)
			aten_fail("a tensor of layout %d: only strided ones and those packed by oneDNN are supported; use "
				  "libtorch",
				  layout);
		if (ndim < 0 || ndim > ATEN_DIMS || storage_offset < 0)
			aten_fail("%lld dimensions, offset %lld", (long long)ndim, (long long)storage_offset);
		if (layout == LAYOUT_MKLDNN)
			SHIM_GIVE(ret, aten_onednn_unpack(data, dtype, (int)ndim, sizes, opaque, opaque_size));
		else
			SHIM_GIVE(ret, aten_of_blob(data, dtype, (int)ndim, sizes, strides, storage_offset));
	}
	SHIM_END
}

AOTITorchError aoti_torch_create_tensor_from_blob(void *data, int64_t ndim, const int64_t *sizes, const int64_t *strides,
						  int64_t storage_offset, int32_t dtype, int32_t device_type, int32_t device_index,
						  AtenTensorHandle *ret)
{
	return aoti_torch_create_tensor_from_blob_v2(data, ndim, sizes, strides, storage_offset, dtype, device_type, device_index, ret, 0,
						     NULL, 0);
}

AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle t)
{
	aten_release(t);
	return 0;
}

SHIM_OP(aoti_torch_new_uninitialized_tensor(AtenTensorHandle *ret), SHIM_GIVE(ret, aten_none()))

AOTITorchError aoti_torch_assign_tensors(AtenTensorHandle src, AtenTensorHandle dst)
{
	if (src != dst)
		aten_assign(dst, src);
	return 0;
}

AOTITorchError aoti_torch_assign_tensors_out(AtenTensorHandle src, AtenTensorHandle *ret)
{
	SHIM_TRY {
		struct aten_tensor *t = aten_none();
		aten_assign(t, src);
		SHIM_GIVE(ret, t);
	}
	SHIM_END
}

AOTITorchError aoti_torch_new_tensor_handle(AtenTensorHandle orig, AtenTensorHandle *ret)
{
	return aoti_torch_assign_tensors_out(orig, ret);
}

/* ---- views ---- */

/* torch/csrc/inductor/inductor_ops.cpp: the offset is added to the tensor's own. */
AOTITorchError aoti_torch__reinterpret_tensor(AtenTensorHandle self, int64_t ndim, const int64_t *sizes, const int64_t *strides,
					      int64_t offset, AtenTensorHandle *ret)
{
	SHIM_TRY {
		if (ndim < 0 || ndim > ATEN_DIMS || __builtin_add_overflow(offset, self->offset, &offset))
			aten_fail("%lld dimensions, offset %lld", (long long)ndim, (long long)offset);
		SHIM_GIVE(ret, aten_view(self, (int)ndim, sizes, strides, offset));
	}
	SHIM_END
}

AOTITorchError aoti_torch__alloc_from_pool(AtenTensorHandle self, int64_t offset_bytes, int32_t dtype, int64_t ndim, const int64_t *sizes,
					   const int64_t *strides, AtenTensorHandle *ret)
{
	SHIM_TRY {
		const struct dtype_info *d = dtype_info(dtype);
		if (!d || ndim < 0 || ndim > ATEN_DIMS || self->offset || offset_bytes % d->bytes)
			aten_fail("no room for %s in a pool at byte %lld", dtype_name(dtype), (long long)offset_bytes);
		SHIM_GIVE(ret, aten_view_dtype(self, dtype, (int)ndim, sizes, strides, offset_bytes / d->bytes));
	}
	SHIM_END
}

SHIM_OP(aoti_torch_as_strided(AtenTensorHandle self, const int64_t *sizes, const int64_t *strides, AtenTensorHandle *ret),
	SHIM_GIVE(ret, aten_view(self, self->n_dim, sizes, strides, self->offset)))

/* ---- copies ---- */

AOTITorchError aoti_torch_copy_(AtenTensorHandle self, AtenTensorHandle src, int32_t non_blocking)
{
	(void)non_blocking;
	SHIM_TRY {
		defined(self);
		defined(src);
		aten_copy(self, src);
	}
	SHIM_END
}

AOTITorchError aoti_torch_tensor_copy_(AtenTensorHandle src, AtenTensorHandle dst) { return aoti_torch_copy_(dst, src, 0); }

SHIM_OP(aoti_torch_clone(AtenTensorHandle self, AtenTensorHandle *ret), defined(self); SHIM_GIVE(ret, aten_clone(self)))

/* All memory spanned by the strides, with the same strides (torch/_inductor/compile_fx.py,
 * clone_preserve_strides). */
AOTITorchError aoti_torch_clone_preserve_strides(AtenTensorHandle self, AtenTensorHandle *ret)
{
	SHIM_TRY {
		defined(self);
		struct aten_tensor *t = aten_new(self->dtype, self->n_dim, self->size, self->stride);
		if (t->storage->bytes)
			memcpy(t->storage->data, aten_data(self), t->storage->bytes);
		SHIM_GIVE(ret, t);
	}
	SHIM_END
}

AOTITorchError aoti_torch_zero_(AtenTensorHandle self)
{
	SHIM_TRY {
		defined(self);
		static const uint8_t zero;
		struct aten_storage s = {.data = (void *)(uintptr_t)&zero};
		struct aten_tensor none = {.storage = &s, .dtype = DTYPE_U8};
		aten_copy(self, &none);
	}
	SHIM_END
}
