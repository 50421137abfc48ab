/* scan.c - wrappers for aten/scan.c. */
#include "aten/elem.h"
#include "aten/ops.h"
#include "shim.h"

SHIM_OP(aoti_torch_cpu_cumsum(AtenTensorHandle self, int64_t dim, int32_t *dtype, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_cumulate(self, dim, dtype ? *dtype : DTYPE_NONE, false)))

SHIM_OP(aoti_torch_cpu_cumprod(AtenTensorHandle self, int64_t dim, int32_t *dtype, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_cumulate(self, dim, dtype ? *dtype : DTYPE_NONE, true)))

SHIM_OP(aoti_torch_cpu_cummax(AtenTensorHandle self, int64_t dim, AtenTensorHandle *ret0, AtenTensorHandle *ret1),
	SHIM_GIVE_TWO(ret0, ret1, aten_cum_extreme(self, dim, true)))

SHIM_OP(aoti_torch_cpu_cummin(AtenTensorHandle self, int64_t dim, AtenTensorHandle *ret0, AtenTensorHandle *ret1),
	SHIM_GIVE_TWO(ret0, ret1, aten_cum_extreme(self, dim, false)))

SHIM_OP(aoti_torch_cpu_logcumsumexp(AtenTensorHandle self, int64_t dim, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_logcumsumexp(self, dim)))

SHIM_OP(aoti_torch_cpu_nonzero(AtenTensorHandle self, AtenTensorHandle *ret0), SHIM_GIVE(ret0, aten_nonzero(self)))

SHIM_OP(aoti_torch_nonzero(AtenTensorHandle self, AtenTensorHandle *out), SHIM_GIVE(out, aten_nonzero(self)))

SHIM_OP(aoti_torch_cpu_nonzero_static(AtenTensorHandle self, int64_t size, int64_t fill_value, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_nonzero_static(self, size, fill_value)))

SHIM_OP(aoti_torch_cpu_repeat_interleave_Tensor(AtenTensorHandle repeats, int64_t *output_size, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_repeat_interleave(repeats, output_size)))

SHIM_OP(aoti_torch_repeat_interleave_Tensor(AtenTensorHandle repeats, int64_t *output_size, AtenTensorHandle *out),
	SHIM_GIVE(out, aten_repeat_interleave(repeats, output_size)))
