/* Pooling. Each is there for two dims and for three. */
#include "aten/ops.h"
#include "shim.h"

#define MAX_POOL(n) \
	AOTITorchError aoti_torch_cpu_max_pool##n##d_with_indices( \
	    AtenTensorHandle self, const int64_t *kernel, int64_t n_kernel, const int64_t *stride, int64_t n_stride, const int64_t *pad, \
	    int64_t n_pad, const int64_t *dilation, int64_t n_dilation, int32_t ceil_mode, AtenTensorHandle *ret0, AtenTensorHandle *ret1) \
	{ \
		struct window_args a = {kernel, stride, pad, dilation, n_kernel, n_stride, n_pad, n_dilation}; \
		SHIM_TRY { \
			aten_max_pool(self, n, &a, ceil_mode, ret0, ret1); \
			SHIM_KEEP(ret0); \
			SHIM_KEEP(ret1); \
		} \
		SHIM_END \
	}
MAX_POOL(2)
MAX_POOL(3)

#define ADAPTIVE_MAX_POOL(n) \
	AOTITorchError aoti_torch_cpu_adaptive_max_pool##n##d(AtenTensorHandle self, const int64_t *size, int64_t n_size, \
							      AtenTensorHandle *ret0, AtenTensorHandle *ret1) \
	{ \
		SHIM_TRY { \
			aten_adaptive_max_pool(self, n, size, n_size, ret0, ret1); \
			SHIM_KEEP(ret0); \
			SHIM_KEEP(ret1); \
		} \
		SHIM_END \
	}
ADAPTIVE_MAX_POOL(2)
ADAPTIVE_MAX_POOL(3)

#define FRACTIONAL_MAX_POOL(n) \
	AOTITorchError aoti_torch_cpu_fractional_max_pool##n##d(AtenTensorHandle self, const int64_t *kernel, int64_t n_kernel, \
								const int64_t *size, int64_t n_size, AtenTensorHandle samples, \
								AtenTensorHandle *ret0, AtenTensorHandle *ret1) \
	{ \
		SHIM_TRY { \
			aten_fractional_max_pool(self, n, kernel, n_kernel, size, n_size, samples, ret0, ret1); \
			SHIM_KEEP(ret0); \
			SHIM_KEEP(ret1); \
		} \
		SHIM_END \
	}
FRACTIONAL_MAX_POOL(2)
FRACTIONAL_MAX_POOL(3)

#define AVG_POOL(n) \
	AOTITorchError aoti_torch_cpu_avg_pool##n##d( \
	    AtenTensorHandle self, const int64_t *kernel, int64_t n_kernel, const int64_t *stride, int64_t n_stride, const int64_t *pad, \
	    int64_t n_pad, int32_t ceil_mode, int32_t count_include_pad, int64_t *divisor_override, AtenTensorHandle *ret0) \
	{ \
		struct window_args a = {kernel, stride, pad, NULL, n_kernel, n_stride, n_pad, 0}; \
		SHIM_TRY { \
			SHIM_GIVE(ret0, aten_avg_pool(self, n, &a, ceil_mode, count_include_pad, divisor_override)); \
		} \
		SHIM_END \
	}
AVG_POOL(2)
AVG_POOL(3)

#define ADAPTIVE_AVG_POOL(n) \
	AOTITorchError aoti_torch_cpu__adaptive_avg_pool##n##d(AtenTensorHandle self, const int64_t *size, int64_t n_size, \
							       AtenTensorHandle *ret0) \
	{ \
		SHIM_TRY { \
			SHIM_GIVE(ret0, aten_adaptive_avg_pool(self, n, size, n_size)); \
		} \
		SHIM_END \
	}
ADAPTIVE_AVG_POOL(2)
ADAPTIVE_AVG_POOL(3)

SHIM_OP(aoti_torch_cpu_max_unpool2d(AtenTensorHandle self, AtenTensorHandle indices, const int64_t *output_size, int64_t output_size_len_,
				    AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_max_unpool(self, 2, indices, output_size, output_size_len_)))

AOTITorchError aoti_torch_cpu_max_unpool3d(AtenTensorHandle self, AtenTensorHandle indices, const int64_t *output_size,
					   int64_t output_size_len_, const int64_t *stride, int64_t stride_len_, const int64_t *padding,
					   int64_t padding_len_, AtenTensorHandle *ret0)
{
	(void)stride, (void)stride_len_, (void)padding, (void)padding_len_; /* output_size says it all */
	SHIM_TRY {
		SHIM_GIVE(ret0, aten_max_unpool(self, 3, indices, output_size, output_size_len_));
	}
	SHIM_END
}
