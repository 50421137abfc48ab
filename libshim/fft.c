/* fft.c - wrappers for aten/fft.c. */
#include "aten/ops.h"
#include "shim.h"

SHIM_OP(aoti_torch_cpu__fft_c2c(AtenTensorHandle self, const int64_t *dim, int64_t dim_len_, int64_t normalization, int32_t forward,
				AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_fft_c2c(self, (struct ints){dim, dim_len_}, normalization, forward)))

SHIM_OP(aoti_torch__fft_c2c(AtenTensorHandle self, const int64_t *dim_ptr, int64_t dim_size, int64_t normalization, int32_t forward,
			    AtenTensorHandle *ret),
	SHIM_GIVE(ret, aten_fft_c2c(self, (struct ints){dim_ptr, dim_size}, normalization, forward)))

SHIM_OP(aoti_torch_cpu__fft_r2c(AtenTensorHandle self, const int64_t *dim, int64_t dim_len_, int64_t normalization, int32_t onesided,
				AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_fft_r2c(self, (struct ints){dim, dim_len_}, normalization, onesided)))
