/* fft.c of aten. */
#include "aten/ops.h"
#include "shim.h"

SHIM_OP(aoti_torch_cpu__fft_c2c(AtenTensorHandle self, const int64_t *dim, int64_t dim_len_, int64_t normalization, int32_t forward,
				AtenTensorHandle *ret0),
	aten_fft_c2c(self, dim, dim_len_, normalization, forward, ret0);
	SHIM_KEEP(ret0))

SHIM_OP(aoti_torch__fft_c2c(AtenTensorHandle self, const int64_t *dim_ptr, int64_t dim_size, int64_t normalization, int32_t forward,
			    AtenTensorHandle *ret),
	aten_fft_c2c_old(self, dim_ptr, dim_size, normalization, forward, ret);
	SHIM_KEEP(ret))

SHIM_OP(aoti_torch_cpu__fft_r2c(AtenTensorHandle self, const int64_t *dim, int64_t dim_len_, int64_t normalization, int32_t onesided,
				AtenTensorHandle *ret0),
	aten_fft_r2c(self, dim, dim_len_, normalization, onesided, ret0);
	SHIM_KEEP(ret0))
