/* elementwise.c - element-wise ops that Inductor leaves to ATen: mostly on complex numbers, which its own kernels do not support. */
#include "aten/elem.h"
#include "aten/ops.h"
#include "shim.h"

#include <math.h>

SHIM_OP(aoti_torch_cpu_add_Tensor(AtenTensorHandle self, AtenTensorHandle other, double alpha, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_add(self, other, alpha)))

SHIM_OP(aoti_torch_aten_subtract_Tensor(AtenTensorHandle self, AtenTensorHandle other, double alpha, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_sub(self, other, alpha)))

SHIM_OP(aoti_torch_cpu_add_Scalar(AtenTensorHandle self, double other, double alpha, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_add(self, aten_number(other), alpha)))

SHIM_OP(aoti_torch_cpu_mul_Tensor(AtenTensorHandle self, AtenTensorHandle other, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_mul(self, other)))

SHIM_OP(aoti_torch_cpu_mul_Scalar(AtenTensorHandle self, double other, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_mul(self, aten_number(other))))

SHIM_OP(aoti_torch_cpu_pow_Tensor_Tensor(AtenTensorHandle self, AtenTensorHandle exponent, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_pow(self, exponent)))

SHIM_OP(aoti_torch_cpu_pow_Tensor_Scalar(AtenTensorHandle self, double exponent, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_pow(self, aten_number(exponent))))

SHIM_OP(aoti_torch_cpu_pow_Scalar(double self, AtenTensorHandle exponent, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_pow(aten_number(self), exponent)))

SHIM_OP(aoti_torch_cpu_gcd(AtenTensorHandle self, AtenTensorHandle other, AtenTensorHandle *ret0), SHIM_GIVE(ret0, aten_gcd(self, other)))

SHIM_OP(aoti_torch_cpu_abs(AtenTensorHandle self, AtenTensorHandle *ret0), SHIM_GIVE(ret0, aten_abs(self)))

SHIM_OP(aoti_torch_cpu_angle(AtenTensorHandle self, AtenTensorHandle *ret0), SHIM_GIVE(ret0, aten_angle(self)))

SHIM_OP(aoti_torch_cpu_polar(AtenTensorHandle abs, AtenTensorHandle angle, AtenTensorHandle *ret0), SHIM_GIVE(ret0, aten_polar(abs, angle)))

/* ---- filling ---- */

SHIM_OP(aoti_torch_cpu_fill__Scalar(AtenTensorHandle self, double value), aten_fill(self, aten_number(value)))

AOTITorchError aoti_torch_aten_fill__Scalar(AtenTensorHandle self, double value) { return aoti_torch_cpu_fill__Scalar(self, value); }

#define WHERE int32_t *layout, int32_t *device, int32_t device_index, int32_t *pin_memory
#define ONLY_HERE (void)layout, (void)device, (void)device_index, (void)pin_memory

SHIM_OP(aoti_torch_aten_full(const int64_t *size, int64_t n, double value, int32_t *dtype, WHERE, AtenTensorHandle *ret0), ONLY_HERE;
	SHIM_GIVE(ret0, aten_full(size, n, value, dtype ? *dtype : DTYPE_F32)))

SHIM_OP(aoti_torch_aten_new_empty(AtenTensorHandle self, const int64_t *size, int64_t n, int32_t *dtype, WHERE, AtenTensorHandle *ret0),
	ONLY_HERE;
	SHIM_GIVE(ret0, aten_empty(size, n, dtype ? *dtype : self->dtype)))

SHIM_OP(aoti_torch_aten_new_zeros(AtenTensorHandle self, const int64_t *size, int64_t n, int32_t *dtype, WHERE, AtenTensorHandle *ret0),
	ONLY_HERE;
	SHIM_GIVE(ret0, aten_full(size, n, 0, dtype ? *dtype : self->dtype)))

SHIM_OP(aoti_torch_cpu__efficientzerotensor(const int64_t *size, int64_t n, int32_t *dtype, WHERE, AtenTensorHandle *ret0), ONLY_HERE;
	SHIM_GIVE(ret0, aten_full(size, n, 0, dtype ? *dtype : DTYPE_F32)))

SHIM_OP(aoti_torch_cpu_hann_window(int64_t length, int32_t *dtype, WHERE, AtenTensorHandle *ret0), ONLY_HERE;
	SHIM_GIVE(ret0, aten_hann_window(length, true, dtype ? *dtype : DTYPE_F32)))

/* ---- losses and norms ---- */

SHIM_OP(aoti_torch_cpu_soft_margin_loss_backward(AtenTensorHandle grad, AtenTensorHandle self, AtenTensorHandle target, int64_t reduction,
						 AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_soft_margin_loss_backward(grad, self, target, reduction)))

SHIM_OP(aoti_torch_cpu__fused_rms_norm(AtenTensorHandle input, const int64_t *shape, int64_t n_shape, AtenTensorHandle *weight, double *eps,
				       AtenTensorHandle *ret0, AtenTensorHandle *ret1),
	(void)shape;
	SHIM_GIVE_TWO(ret0, ret1, aten_fused_rms_norm(input, n_shape, shim_optional(weight), eps)))
