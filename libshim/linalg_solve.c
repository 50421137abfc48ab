/* linalg_solve.c - wrappers for aten/linalg_solve.c. */
#include "aten/ops.h"
#include "shim.h"

SHIM_OP(aoti_torch_cpu_triangular_solve(AtenTensorHandle self, AtenTensorHandle A, int32_t upper, int32_t transpose, int32_t unitriangular,
					AtenTensorHandle *ret0, AtenTensorHandle *ret1),
	SHIM_GIVE_TWO(ret0, ret1, aten_triangular_solve(self, A, upper, transpose, unitriangular)))

SHIM_OP(aoti_torch_cpu_cholesky_solve(AtenTensorHandle self, AtenTensorHandle input2, int32_t upper, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_cholesky_solve(self, input2, upper)))

SHIM_OP(aoti_torch_cpu_cholesky_inverse(AtenTensorHandle self, int32_t upper, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_cholesky_inverse(self, upper)))
