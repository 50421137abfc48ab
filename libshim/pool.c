/* pool.c - pooling. Each op has a 2-d and a 3-d version. */
#include "aten/ops.h"
#include "shim.h"

#define LIST(name) const int64_t *name, int64_t n_##name
#define GIVEN(name) \
	{ \
		name, n_##name \
	}
#define MAX_POOLS(n) \
	SHIM_OP(aoti_torch_cpu_max_pool##n##d_with_indices(AtenTensorHandle self, LIST(kernel), LIST(stride), LIST(pad), LIST(dilation), \
							   int32_t ceil_mode, AtenTensorHandle *ret0, AtenTensorHandle *ret1), \
		const struct window_args a = {GIVEN(kernel), GIVEN(stride), GIVEN(pad), GIVEN(dilation)}; \
		SHIM_GIVE_TWO(ret0, ret1, aten_max_pool(self, n, &a, ceil_mode))) \
	SHIM_OP(aoti_torch_cpu_adaptive_max_pool##n##d(AtenTensorHandle self, LIST(size), AtenTensorHandle *ret0, AtenTensorHandle *ret1), \
		SHIM_GIVE_TWO(ret0, ret1, aten_adaptive_max_pool(self, n, (struct ints)GIVEN(size)))) \
	SHIM_OP( \
	    aoti_torch_cpu_fractional_max_pool##n##d(AtenTensorHandle self, LIST(kernel), LIST(size), AtenTensorHandle samples, \
						     AtenTensorHandle *ret0, AtenTensorHandle *ret1), \
	    SHIM_GIVE_TWO(ret0, ret1, aten_fractional_max_pool(self, n, (struct ints)GIVEN(kernel), (struct ints)GIVEN(size), samples)))
MAX_POOLS(2)
MAX_POOLS(3)

#define AVERAGE_POOLS(n) \
	SHIM_OP(aoti_torch_cpu_avg_pool##n##d(AtenTensorHandle self, LIST(kernel), LIST(stride), LIST(pad), int32_t ceil_mode, \
					      int32_t count_include_pad, int64_t *divisor_override, AtenTensorHandle *ret0), \
		const struct window_args a = {GIVEN(kernel), GIVEN(stride), GIVEN(pad), {NULL, 0}}; \
		SHIM_GIVE(ret0, aten_avg_pool(self, n, &a, ceil_mode, count_include_pad, divisor_override))) \
	SHIM_OP(aoti_torch_cpu__adaptive_avg_pool##n##d(AtenTensorHandle self, LIST(size), AtenTensorHandle *ret0), \
		SHIM_GIVE(ret0, aten_adaptive_avg_pool(self, n, (struct ints)GIVEN(size))))
AVERAGE_POOLS(2)
AVERAGE_POOLS(3)

SHIM_OP(aoti_torch_cpu_max_unpool2d(AtenTensorHandle self, AtenTensorHandle indices, LIST(size), AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_max_unpool(self, 2, indices, (struct ints)GIVEN(size))))

SHIM_OP(aoti_torch_cpu_max_unpool3d(AtenTensorHandle self, AtenTensorHandle indices, LIST(size), LIST(stride), LIST(padding),
				    AtenTensorHandle *ret0),
	(void)stride, (void)n_stride, (void)padding, (void)n_padding; /* size is enough */
	SHIM_GIVE(ret0, aten_max_unpool(self, 3, indices, (struct ints)GIVEN(size))))
