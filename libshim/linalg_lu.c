/* linalg_lu.c - wrappers for aten/linalg_lu.c. */
#include "aten/ops.h"
#include "shim.h"

SHIM_OP(aoti_torch_cpu_lu_unpack(AtenTensorHandle LU_data, AtenTensorHandle LU_pivots, int32_t unpack_data, int32_t unpack_pivots,
				 AtenTensorHandle *ret0, AtenTensorHandle *ret1, AtenTensorHandle *ret2),
	struct unpacked_lu r = aten_lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots);
	SHIM_GIVE(ret0, r.p); SHIM_GIVE(ret1, r.l); SHIM_GIVE(ret2, r.u))
