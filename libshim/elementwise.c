/* Element-wise ops that Inductor leaves to ATen: mostly those of complex numbers, which its own kernels do not compute.
 *
 * Computed in int64, double or complex double and rounded once; strides are TensorIterator's (shim_elementwise). */
#include "elem.h"

#include <math.h>

/* What a double makes of a tensor (torch.result_type(tensor, 1.0)): integers become torch's default dtype. */
static int with_double(int dtype) { return elem_integral(dtype) ? DTYPE_F32 : dtype; }

static int wide(int dtype) { return shim_is_complex(dtype) ? DTYPE_C128 : shim_is_float(dtype) ? DTYPE_F64 : DTYPE_I64; }

/* t in the dtype of the result: what TensorIterator makes of operands first (compute_types). The strides of what it makes
 * count for the result's, and integers are cut: gcd(uint8, -12) is that of 244. Floats without dims keep their precision. */
static struct shim_tensor *common(struct shim_tensor *t, int dtype)
{
	if (t->dtype == dtype || (!t->n_dim && !elem_integral(dtype)))
		return t;
	struct shim_tensor *c = shim_like(t, dtype);
	shim_copy(c, t);
	return c;
}

/* t's values, broadcast to out's sizes, row-major, in a wide dtype. */
static void *widened(const struct shim_tensor *t, const struct shim_tensor *out, int dtype)
{
	struct shim_tensor *w = shim_new(dtype, out->n_dim, out->size, NULL);
	shim_copy(w, t);
	return shim_data(w);
}

/* A wide tensor of out's sizes, to be filled and then copied into out. */
static struct shim_tensor *wide_like(const struct shim_tensor *out, int dtype) { return shim_new(dtype, out->n_dim, out->size, NULL); }

enum op { ADD, MUL, POW };

static int64_t power(int64_t b, int64_t e)
{
	uint64_t r = 1, x = (uint64_t)b;
	if (e < 0)
		return b == 1 ? 1 : b == -1 ? (e % 2 ? -1 : 1) : 0;
	for (; e; e >>= 1, x *= x)
		if (e & 1)
			r *= x;
	return (int64_t)r;
}

static double complex multiply(double complex a, double complex b)
{
	/* Not C's own, which searches for infinities: torch's c10::complex does not. */
	return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}

static void compute(enum op op, int dtype, void *r, const void *a, const void *b, double alpha, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (dtype == DTYPE_I64) {
			int64_t x = ((const int64_t *)a)[i], y = ((const int64_t *)b)[i], *to = &((int64_t *)r)[i];
			*to = op == ADD   ? (int64_t)((uint64_t)x + (uint64_t)(int64_t)alpha * (uint64_t)y)
			      : op == MUL ? (int64_t)((uint64_t)x * (uint64_t)y)
					  : power(x, y);
		} else if (dtype == DTYPE_F64) {
			double x = ((const double *)a)[i], y = ((const double *)b)[i];
			((double *)r)[i] = op == ADD ? x + alpha * y : op == MUL ? x * y : pow(x, y);
		} else {
			double complex x = ((const double complex *)a)[i], y = ((const double complex *)b)[i];
			((double complex *)r)[i] = op == ADD ? x + alpha * y : op == MUL ? multiply(x, y) : cpow(x, y);
		}
}

static struct shim_tensor *binary_into(struct shim_tensor *out, enum op op, struct shim_tensor *a, struct shim_tensor *b, double alpha)
{
	int dtype = wide(out->dtype);
	struct shim_tensor *r = wide_like(out, dtype);
	void *x = widened(a, out, dtype), *y = widened(b, out, dtype);
	compute(op, dtype, shim_data(r), x, y, alpha, shim_numel(out));
	/* 2 + 3 as bool is true, as it is by or */
	shim_copy(out, r);
	return out;
}

static struct shim_tensor *binary(enum op op, int dtype, struct shim_tensor *a, struct shim_tensor *b, double alpha)
{
	a = common(a, dtype);
	b = common(b, dtype);
	return binary_into(shim_elementwise(dtype, (const struct shim_tensor *const[]){a, b}, 2), op, a, b, alpha);
}

/* A number as a tensor that does not take part in promotion. */
static struct shim_tensor *number(double v)
{
	struct shim_tensor *t = shim_new(DTYPE_F64, 0, NULL, NULL);
	memcpy(shim_data(t), &v, sizeof(v));
	return t;
}

AOTITorchError aoti_torch_cpu_add_Tensor(AtenTensorHandle self, AtenTensorHandle other, double alpha, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, binary(ADD, shim_result_type(self, other), self, other, alpha));
	}
	SHIM_END
}

AOTITorchError aoti_torch_aten_subtract_Tensor(AtenTensorHandle self, AtenTensorHandle other, double alpha, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, binary(ADD, shim_result_type(self, other), self, other, -alpha));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_add_Scalar(AtenTensorHandle self, double other, double alpha, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, binary(ADD, with_double(self->dtype), self, number(other), alpha));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_mul_Tensor(AtenTensorHandle self, AtenTensorHandle other, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, binary(MUL, shim_result_type(self, other), self, other, 1));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_mul_Scalar(AtenTensorHandle self, double other, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, binary(MUL, with_double(self->dtype), self, number(other), 1));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_pow_Tensor_Tensor(AtenTensorHandle self, AtenTensorHandle exponent, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, binary(POW, shim_result_type(self, exponent), self, exponent, 1));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_pow_Tensor_Scalar(AtenTensorHandle self, double exponent, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, binary(POW, with_double(self->dtype), self, number(exponent), 1));
	}
	SHIM_END
}

/* The only one of these whose result is contiguous whatever its operand (aten/src/ATen/native/Pow.cpp, pow_Scalar). */
AOTITorchError aoti_torch_cpu_pow_Scalar(double self, AtenTensorHandle exponent, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct shim_tensor *out = shim_new(with_double(exponent->dtype), exponent->n_dim, exponent->size, NULL);
		SHIM_GIVE(ret0, binary_into(out, POW, number(self), exponent, 1));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_gcd(AtenTensorHandle self, AtenTensorHandle other, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		int dtype = shim_result_type(self, other);
		if (!elem_integral(dtype))
			shim_fail("gcd of %s", dtype_name(dtype));
		struct shim_tensor *a = common(self, dtype), *b = common(other, dtype);
		struct shim_tensor *out = shim_elementwise(dtype, (const struct shim_tensor *const[]){a, b}, 2);
		struct shim_tensor *r = wide_like(out, DTYPE_I64);
		int64_t *x = widened(a, out, DTYPE_I64), *y = widened(b, out, DTYPE_I64), *to = (int64_t *)shim_data(r);
		bool sign = dtype != DTYPE_U64;
		for (int64_t i = 0, n = shim_numel(out); i < n; i++)
			to[i] = (int64_t)gcd(sign && x[i] < 0 ? -(uint64_t)x[i] : (uint64_t)x[i],
					     sign && y[i] < 0 ? -(uint64_t)y[i] : (uint64_t)y[i]);
		shim_copy(out, r);
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}

/* ---- of one tensor ---- */

AOTITorchError aoti_torch_cpu_abs(AtenTensorHandle self, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		int w = wide(self->dtype);
		const struct shim_tensor *one[] = {self};
		struct shim_tensor *out = shim_elementwise(shim_real_of(self->dtype), one, 1);
		struct shim_tensor *r = wide_like(out, w == DTYPE_C128 ? DTYPE_F64 : w);
		void *x = widened(self, out, w), *to = shim_data(r);
		for (int64_t i = 0, n = shim_numel(out); i < n; i++)
			if (w == DTYPE_I64)
				((int64_t *)to)[i] = self->dtype != DTYPE_U64 && ((int64_t *)x)[i] < 0
							 ? (int64_t) - (uint64_t)((int64_t *)x)[i]
							 : ((int64_t *)x)[i];
			else
				((double *)to)[i] = w == DTYPE_F64 ? fabs(((double *)x)[i]) : cabs(((double complex *)x)[i]);
		shim_copy(out, r);
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}

/* Contiguous for complex numbers (aten/src/ATen/native/UnaryOps.cpp, angle). */
AOTITorchError aoti_torch_cpu_angle(AtenTensorHandle self, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		bool complex_in = shim_is_complex(self->dtype);
		const struct shim_tensor *one[] = {self};
		int dtype = with_double(shim_real_of(self->dtype));
		struct shim_tensor *out = complex_in ? shim_new(dtype, self->n_dim, self->size, NULL) : shim_elementwise(dtype, one, 1);
		struct shim_tensor *r = wide_like(out, DTYPE_F64);
		void *x = widened(self, out, complex_in ? DTYPE_C128 : DTYPE_F64);
		double *to = (double *)shim_data(r);
		for (int64_t i = 0, n = shim_numel(out); i < n; i++) {
			double v = ((double *)x)[complex_in ? 2 * i : i];
			to[i] = complex_in ? carg(((double complex *)x)[i]) : v != v ? v : v < 0 ? M_PI : 0;
		}
		shim_copy(out, r);
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_polar(AtenTensorHandle abs, AtenTensorHandle angle, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		const struct shim_tensor *both[] = {abs, angle};
		struct shim_tensor *out = shim_elementwise(shim_complex_of(abs->dtype), both, 2), *r = wide_like(out, DTYPE_C128);
		double *x = widened(abs, out, DTYPE_F64), *y = widened(angle, out, DTYPE_F64);
		double complex *to = (double complex *)shim_data(r);
		for (int64_t i = 0, n = shim_numel(out); i < n; i++)
			to[i] = CMPLX(x[i] * cos(y[i]), x[i] * sin(y[i]));
		shim_copy(out, r);
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}

/* aten/src/ATen/native/Loss.cpp */
AOTITorchError aoti_torch_cpu_soft_margin_loss_backward(AtenTensorHandle grad, AtenTensorHandle self, AtenTensorHandle target,
							int64_t reduction, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		enum { MEAN = 1 };
		const struct shim_tensor *both[] = {self, target};
		struct shim_tensor *out = shim_elementwise(self->dtype, both, 2), *r = wide_like(out, DTYPE_F64);
		int64_t n = shim_numel(out);
		double norm = reduction == MEAN && n ? 1.0 / (double)n : 1, *to = (double *)shim_data(r);
		double *g = widened(grad, out, DTYPE_F64), *x = widened(self, out, DTYPE_F64), *y = widened(target, out, DTYPE_F64);
		for (int64_t i = 0; i < n; i++) {
			double z = exp(-y[i] * x[i]);
			to[i] = -norm * y[i] * g[i] * z / (1 + z);
		}
		shim_copy(out, r);
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}

/* ---- filling ---- */

static void fill(struct shim_tensor *t, double v) { shim_copy(t, number(v)); }

AOTITorchError aoti_torch_cpu_fill__Scalar(AtenTensorHandle self, double value)
{
	SHIM_TRY {
		fill(self, value);
	}
	SHIM_END
}

AOTITorchError aoti_torch_aten_fill__Scalar(AtenTensorHandle self, double value) { return aoti_torch_cpu_fill__Scalar(self, value); }

static struct shim_tensor *sized(int dtype, const int64_t *size, int64_t n)
{
	if (n < 0 || n > SHIM_DIMS)
		shim_fail("%lld dimensions", (long long)n);
	return shim_new(dtype, (int)n, size, NULL);
}

AOTITorchError aoti_torch_aten_full(const int64_t *size, int64_t n, double value, int32_t *dtype, int32_t *layout, int32_t *device,
				    int32_t device_index, int32_t *pin_memory, AtenTensorHandle *ret0)
{
	(void)layout, (void)device, (void)device_index, (void)pin_memory;
	SHIM_TRY {
		struct shim_tensor *t = sized(dtype ? *dtype : DTYPE_F32, size, n);
		fill(t, value);
		SHIM_GIVE(ret0, t);
	}
	SHIM_END
}

AOTITorchError aoti_torch_aten_new_empty(AtenTensorHandle self, const int64_t *size, int64_t n, int32_t *dtype, int32_t *layout,
					 int32_t *device, int32_t device_index, int32_t *pin_memory, AtenTensorHandle *ret0)
{
	(void)layout, (void)device, (void)device_index, (void)pin_memory;
	SHIM_TRY {
		SHIM_GIVE(ret0, sized(dtype ? *dtype : self->dtype, size, n));
	}
	SHIM_END
}

AOTITorchError aoti_torch_aten_new_zeros(AtenTensorHandle self, const int64_t *size, int64_t n, int32_t *dtype, int32_t *layout,
					 int32_t *device, int32_t device_index, int32_t *pin_memory, AtenTensorHandle *ret0)
{
	(void)layout, (void)device, (void)device_index, (void)pin_memory;
	SHIM_TRY {
		struct shim_tensor *t = sized(dtype ? *dtype : self->dtype, size, n);
		shim_fill_zero(t);
		SHIM_GIVE(ret0, t);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu__efficientzerotensor(const int64_t *size, int64_t n, int32_t *dtype, int32_t *layout, int32_t *device,
						   int32_t device_index, int32_t *pin_memory, AtenTensorHandle *ret0)
{
	(void)layout, (void)device, (void)device_index, (void)pin_memory;
	SHIM_TRY {
		struct shim_tensor *t = sized(dtype ? *dtype : DTYPE_F32, size, n);
		shim_fill_zero(t);
		SHIM_GIVE(ret0, t);
	}
	SHIM_END
}

/* Periodic: one more is made and the last left out (aten/src/ATen/native/TensorFactories.cpp). */
AOTITorchError aoti_torch_cpu_hann_window(int64_t length, int32_t *dtype, int32_t *layout, int32_t *device, int32_t device_index,
					  int32_t *pin_memory, AtenTensorHandle *ret0)
{
	(void)layout, (void)device, (void)device_index, (void)pin_memory;
	SHIM_TRY {
		struct shim_tensor *t = sized(dtype ? *dtype : DTYPE_F32, &length, 1);
		struct shim_tensor *r = wide_like(t, DTYPE_F64);
		double *v = (double *)shim_data(r);
		for (int64_t i = 0; i < length; i++)
			v[i] = length == 1 ? 1 : 0.5 - 0.5 * cos(2 * M_PI * (double)i / (double)length);
		shim_copy(t, r);
		SHIM_GIVE(ret0, t);
	}
	SHIM_END
}

/* ---- a norm ---- */

/* aten/src/ATen/native/layer_norm.cpp, rms_norm_composite: computed in float (double for double). */
AOTITorchError aoti_torch_cpu__fused_rms_norm(AtenTensorHandle input, const int64_t *shape, int64_t n_shape, AtenTensorHandle *weight,
					      double *eps, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	(void)shape;
	SHIM_TRY {
		if (n_shape < 1 || n_shape > input->n_dim)
			shim_fail("%lld normalized dimensions of %d", (long long)n_shape, input->n_dim);
		int acc = input->dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32, outer = input->n_dim - (int)n_shape;
		int64_t size[SHIM_DIMS], rows = 1, n = 1;
		for (int i = 0; i < input->n_dim; i++) {
			size[i] = i < outer ? input->size[i] : 1;
			*(i < outer ? &rows : &n) *= input->size[i];
		}
		double e = eps ? *eps : acc == DTYPE_F64 ? 0x1p-52 : 0x1p-23;
		struct shim_tensor *out = shim_new(input->dtype, input->n_dim, input->size, NULL),
				   *rstd = shim_new(acc, input->n_dim, size, NULL);
		struct shim_tensor *r = wide_like(out, DTYPE_F64), *s = wide_like(rstd, DTYPE_F64);
		double *x = widened(input, out, DTYPE_F64), *to = (double *)shim_data(r), *scale = (double *)shim_data(s);
		double *w = weight && *weight ? widened(*weight, out, DTYPE_F64) : NULL;
		for (int64_t k = 0; k < rows; k++, x += n, to += n, w = w ? w + n : w) {
			double sum = 0;
			for (int64_t i = 0; i < n; i++)
				sum += x[i] * x[i];
			scale[k] = 1 / sqrt(sum / (double)n + e);
			for (int64_t i = 0; i < n; i++)
				to[i] = x[i] * scale[k] * (w ? w[i] : 1);
		}
		shim_copy(out, r);
		shim_copy(rstd, s);
		SHIM_GIVE(ret0, out);
		SHIM_GIVE(ret1, rstd);
	}
	SHIM_END
}
