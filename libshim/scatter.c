/* scatter.c - wrappers for aten/scatter.c. */
#include "aten/ops.h"
#include "shim.h"

SHIM_OP(aoti_torch_cpu_scatter_src_out(AtenTensorHandle out, AtenTensorHandle self, int64_t dim, AtenTensorHandle index,
				       AtenTensorHandle src),
	aten_scatter_out(out, self, dim, index, src))

SHIM_OP(aoti_torch_scatter_out(AtenTensorHandle out, AtenTensorHandle self, int64_t dim, AtenTensorHandle index, AtenTensorHandle src),
	aten_scatter_out(out, self, dim, index, src))

SHIM_OP(aoti_torch_cpu_scatter_value_out(AtenTensorHandle out, AtenTensorHandle self, int64_t dim, AtenTensorHandle index, double value),
	aten_scatter_value_out(out, self, dim, index, value))

SHIM_OP(aoti_torch_cpu_scatter_reduce_two_out(AtenTensorHandle out, AtenTensorHandle self, int64_t dim, AtenTensorHandle index,
					      AtenTensorHandle src, const char *reduce, int32_t include_self),
	aten_scatter_reduce_out(out, self, dim, index, src, reduce, include_self))

SHIM_OP(aoti_torch_scatter_reduce_out(AtenTensorHandle out, AtenTensorHandle self, int64_t dim, AtenTensorHandle index,
				      AtenTensorHandle src, const char *reduce, int32_t include_self),
	aten_scatter_reduce_out(out, self, dim, index, src, reduce, include_self))

SHIM_OP(aoti_torch_cpu_index_reduce(AtenTensorHandle self, int64_t dim, AtenTensorHandle index, AtenTensorHandle source, const char *reduce,
				    int32_t include_self, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_index_reduce(self, dim, index, source, reduce, include_self)))
