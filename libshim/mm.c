/* mm.c - wrappers for aten/mm.c. */
#include "aten/ops.h"
#include "shim.h"

SHIM_OP(aoti_torch_cpu_mm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2),
	aten_addmm_out(out, NULL, self, mat2, 0, 1))

SHIM_OP(aoti_torch_cpu_addmm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat1, AtenTensorHandle mat2, double beta,
				 double alpha),
	aten_addmm_out(out, self, mat1, mat2, beta, alpha))

SHIM_OP(aoti_torch_cpu__addmm_activation(AtenTensorHandle self, AtenTensorHandle mat1, AtenTensorHandle mat2, double beta, double alpha,
					 int32_t use_gelu, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_addmm_activation(self, mat1, mat2, beta, alpha, use_gelu)))

SHIM_OP(aoti_torch_cpu_addmv(AtenTensorHandle self, AtenTensorHandle mat, AtenTensorHandle vec, double beta, double alpha,
			     AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_addmv(self, mat, vec, beta, alpha)))

SHIM_OP(aoti_torch_cpu_bmm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2),
	aten_baddbmm_out(out, NULL, self, mat2, 0, 1))

SHIM_OP(aoti_torch_cpu_baddbmm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle batch1, AtenTensorHandle batch2,
				   double beta, double alpha),
	aten_baddbmm_out(out, self, batch1, batch2, beta, alpha))

SHIM_OP(aoti_torch_cpu_addbmm(AtenTensorHandle self, AtenTensorHandle batch1, AtenTensorHandle batch2, double beta, double alpha,
			      AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_addbmm(self, batch1, batch2, beta, alpha)))

SHIM_OP(aoti_torch_cpu__grouped_mm(AtenTensorHandle self, AtenTensorHandle mat2, AtenTensorHandle *offs, AtenTensorHandle *bias,
				   int32_t *out_dtype, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_grouped_mm(self, mat2, shim_optional(offs), shim_optional(bias), out_dtype ? *out_dtype : self->dtype)))

AOTITorchError aoti_torch_mm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2)
{
	return aoti_torch_cpu_mm_out(out, self, mat2);
}

AOTITorchError aoti_torch_bmm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2)
{
	return aoti_torch_cpu_bmm_out(out, self, mat2);
}

AOTITorchError aoti_torch_addmm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat1, AtenTensorHandle mat2, float beta,
				    float alpha)
{
	return aoti_torch_cpu_addmm_out(out, self, mat1, mat2, (double)beta, (double)alpha);
}

SHIM_OP(aoti_torch__mm_plus_mm_out(AtenTensorHandle out, AtenTensorHandle a, AtenTensorHandle b, AtenTensorHandle c, AtenTensorHandle d),
	aten_mm_plus_mm_out(out, a, b, c, d))

SHIM_OP(aoti_torch_cpu__int_mm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2), aten_int_mm_out(out, self, mat2))

SHIM_OP(aoti_torch_cpu__weight_int8pack_mm(AtenTensorHandle self, AtenTensorHandle mat2, AtenTensorHandle scales, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_weight_int8pack_mm(self, mat2, scales)))

SHIM_OP(aoti_torch_cpu__scaled_mm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2, AtenTensorHandle scale_a,
				      AtenTensorHandle scale_b, AtenTensorHandle *bias, AtenTensorHandle *scale_result, int32_t *out_dtype,
				      int32_t use_fast_accum),
	(void)out_dtype, (void)use_fast_accum;
	aten_scaled_mm(out, DTYPE_NONE, self, mat2, scale_a, scale_b, shim_optional(bias), shim_optional(scale_result)))

SHIM_OP(aoti_torch_cpu__scaled_mm(AtenTensorHandle self, AtenTensorHandle mat2, AtenTensorHandle scale_a, AtenTensorHandle scale_b,
				  AtenTensorHandle *bias, AtenTensorHandle *scale_result, int32_t *out_dtype, int32_t use_fast_accum,
				  AtenTensorHandle *ret0),
	(void)use_fast_accum;
	SHIM_GIVE(ret0, aten_scaled_mm(NULL, out_dtype ? *out_dtype : self->dtype, self, mat2, scale_a, scale_b, shim_optional(bias),
				       shim_optional(scale_result))))
