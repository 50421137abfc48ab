/* index.c - wrappers for aten/index.c. */
#include "aten/elem.h"
#include "aten/ops.h"
#include "shim.h"

/* A list whose items may be None. */
static struct tensors indices_of(const AtenTensorHandle **indices, int64_t n)
{
	struct tensors list = {aten_scratch((uint64_t)n, sizeof(*list.v)), n};
	for (int64_t i = 0; i < n; i++)
		list.v[i] = shim_optional(indices[i]);
	return list;
}

SHIM_OP(aoti_torch_cpu_index_Tensor(AtenTensorHandle self, const AtenTensorHandle **indices, int64_t indices_len_, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_index(self, indices_of(indices, indices_len_))))

SHIM_OP(aoti_torch_cpu_index_put(AtenTensorHandle self, const AtenTensorHandle **indices, int64_t indices_len_, AtenTensorHandle values,
				 int32_t accumulate, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_index_put(self, indices_of(indices, indices_len_), values, accumulate)))

SHIM_OP(aoti_torch_index_put_out(AtenTensorHandle out, AtenTensorHandle self, const AtenTensorHandle *indices, const uint32_t num_indices,
				 const AtenTensorHandle values, bool accumulate),
	aten_index_put_out(out, self, (struct tensors){(AtenTensorHandle *)(uintptr_t)indices, num_indices}, values, accumulate))

SHIM_OP(aoti_torch_cpu_masked_select(AtenTensorHandle self, AtenTensorHandle mask, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_masked_select(self, mask)))

SHIM_OP(aoti_torch_cpu_masked_scatter(AtenTensorHandle self, AtenTensorHandle mask, AtenTensorHandle source, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_masked_scatter(self, mask, source)))

SHIM_OP(aoti_torch_cpu_masked_scatter_backward(AtenTensorHandle grad_output, AtenTensorHandle mask, const int64_t *sizes,
					       int64_t sizes_len_, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_masked_scatter_backward(grad_output, mask, (struct ints){sizes, sizes_len_})))
