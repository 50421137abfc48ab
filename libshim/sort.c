/* sort.c - wrappers for aten/sort.c. */
#include "aten/ops.h"
#include "shim.h"

SHIM_OP(aoti_torch_cpu_sort(AtenTensorHandle self, int64_t dim, int32_t descending, AtenTensorHandle *ret0, AtenTensorHandle *ret1),
	SHIM_GIVE_TWO(ret0, ret1, aten_sort(self, dim, descending)))

SHIM_OP(aoti_torch_cpu_sort_stable(AtenTensorHandle self, int32_t *stable, int64_t dim, int32_t descending, AtenTensorHandle *ret0,
				   AtenTensorHandle *ret1),
	(void)stable;
	SHIM_GIVE_TWO(ret0, ret1, aten_sort(self, dim, descending)))

SHIM_OP(aoti_torch_cpu_topk(AtenTensorHandle self, int64_t k, int64_t dim, int32_t largest, int32_t sorted, AtenTensorHandle *ret0,
			    AtenTensorHandle *ret1),
	SHIM_GIVE_TWO(ret0, ret1, aten_topk(self, k, dim, largest, sorted)))

SHIM_OP(aoti_torch_cpu_kthvalue(AtenTensorHandle self, int64_t k, int64_t dim, int32_t keepdim, AtenTensorHandle *ret0,
				AtenTensorHandle *ret1),
	SHIM_GIVE_TWO(ret0, ret1, aten_kthvalue(self, k, dim, keepdim)))

SHIM_OP(aoti_torch_cpu_median(AtenTensorHandle self, AtenTensorHandle *ret0), SHIM_GIVE(ret0, aten_median(self, false)))

SHIM_OP(aoti_torch_cpu_nanmedian(AtenTensorHandle self, AtenTensorHandle *ret0), SHIM_GIVE(ret0, aten_median(self, true)))

SHIM_OP(aoti_torch_cpu_mode(AtenTensorHandle self, int64_t dim, int32_t keepdim, AtenTensorHandle *ret0, AtenTensorHandle *ret1),
	SHIM_GIVE_TWO(ret0, ret1, aten_mode(self, dim, keepdim)))
