/* grid.c - wrappers for aten/grid.c. */
#include "aten/ops.h"
#include "shim.h"

SHIM_OP(aoti_torch_cpu_grid_sampler_3d(AtenTensorHandle input, AtenTensorHandle grid, int64_t interpolation_mode, int64_t padding_mode,
				       int32_t align_corners, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_grid_sampler(input, grid, 3, interpolation_mode, padding_mode, align_corners)))
