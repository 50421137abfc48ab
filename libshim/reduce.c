/* reduce.c - reductions of the generated interface. */
#include "aten/ops.h"
#include "shim.h"

SHIM_OP(aoti_torch_aten_amax(AtenTensorHandle self, const int64_t *dim, int64_t n_dim, int32_t keepdim, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_amax(self, (struct ints){dim, n_dim}, keepdim)))

SHIM_OP(aoti_torch_cpu__trilinear(AtenTensorHandle i1, AtenTensorHandle i2, AtenTensorHandle i3, const int64_t *expand1, int64_t n1,
				  const int64_t *expand2, int64_t n2, const int64_t *expand3, int64_t n3, const int64_t *sumdim,
				  int64_t n_sum, int64_t unroll_dim, AtenTensorHandle *ret0),
	(void)unroll_dim;
	SHIM_GIVE(ret0, aten_trilinear(i1, i2, i3, (struct ints){expand1, n1}, (struct ints){expand2, n2}, (struct ints){expand3, n3},
				       (struct ints){sumdim, n_sum})))
