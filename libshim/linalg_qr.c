/* linalg_qr.c - wrappers for aten/linalg_qr.c. */
#include "aten/ops.h"
#include "shim.h"

SHIM_OP(aoti_torch_cpu_geqrf(AtenTensorHandle self, AtenTensorHandle *ret0, AtenTensorHandle *ret1),
	SHIM_GIVE_TWO(ret0, ret1, aten_geqrf(self)))

SHIM_OP(aoti_torch_cpu_ormqr(AtenTensorHandle self, AtenTensorHandle input2, AtenTensorHandle input3, int32_t left, int32_t transpose,
			     AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_ormqr(self, input2, input3, left, transpose)))
