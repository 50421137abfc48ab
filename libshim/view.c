/* view.c - views, cat and pad, resizing. */
#include "aten/ops.h"
#include "shim.h"

SHIM_OP(aoti_torch_cpu_permute(AtenTensorHandle self, const int64_t *dims, int64_t n, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_permute(self, dims, n)))

SHIM_OP(aoti_torch_cpu_narrow(AtenTensorHandle self, int64_t dim, int64_t start, int64_t length, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_narrow(self, dim, start, length)))

AOTITorchError aoti_torch_aten_narrow(AtenTensorHandle self, int64_t dim, int64_t start, int64_t length, AtenTensorHandle *ret0)
{
	return aoti_torch_cpu_narrow(self, dim, start, length, ret0);
}

SHIM_OP(aoti_torch_cpu_slice_Tensor(AtenTensorHandle self, int64_t dim, int64_t *start, int64_t *end, int64_t step, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_slice(self, dim, start, end, step)))

SHIM_OP(aoti_torch_cpu_squeeze_dim(AtenTensorHandle self, int64_t dim, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_squeeze_dim(self, dim)))

SHIM_OP(aoti_torch_cpu_reshape(AtenTensorHandle self, const int64_t *shape, int64_t n, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_reshape(self, shape, n)))

SHIM_OP(aoti_torch_cpu_view_dtype(AtenTensorHandle self, int32_t dtype, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_as_dtype(self, dtype)))

AOTITorchError aoti_torch_view_dtype(AtenTensorHandle self, int32_t dtype, AtenTensorHandle *ret)
{
	return aoti_torch_cpu_view_dtype(self, dtype, ret);
}

SHIM_OP(aoti_torch_cpu_view_as_real(AtenTensorHandle self, AtenTensorHandle *ret0), SHIM_GIVE(ret0, aten_view_as_real(self)))

AOTITorchError aoti_torch_view_as_real(AtenTensorHandle self, AtenTensorHandle *ret) { return aoti_torch_cpu_view_as_real(self, ret); }

SHIM_OP(aoti_torch_cpu_view_as_complex(AtenTensorHandle self, AtenTensorHandle *ret0), SHIM_GIVE(ret0, aten_view_as_complex(self)))

SHIM_OP(aoti_torch_cpu_resize_(AtenTensorHandle self, const int64_t *size, int64_t n, int32_t *memory_format),
	aten_resize(self, (struct ints){size, n}, memory_format))

SHIM_OP(aoti_torch_cpu_resize_as_(AtenTensorHandle self, AtenTensorHandle like, int32_t *memory_format),
	aten_resize_as(self, like, memory_format))

SHIM_OP(aoti_torch_cpu_set__source_Tensor(AtenTensorHandle self, AtenTensorHandle source), if (self != source) aten_assign(self, source))

SHIM_OP(aoti_torch_cpu_cat(const AtenTensorHandle *tensors, int64_t n, int64_t dim, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_cat((struct tensors){(AtenTensorHandle *)(uintptr_t)tensors, n}, dim)))

SHIM_OP(aoti_torch_cpu_pad(AtenTensorHandle self, const int64_t *pad, int64_t n_pad, const char *mode, double *value,
			   AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_pad(self, (struct ints){pad, n_pad}, mode, aten_number(value ? *value : 0))))

AOTITorchError aoti_torch_aten_pad(AtenTensorHandle self, const int64_t *pad, int64_t n_pad, const char *mode, double *value,
				   AtenTensorHandle *ret0)
{
	return aoti_torch_cpu_pad(self, pad, n_pad, mode, value, ret0);
}
