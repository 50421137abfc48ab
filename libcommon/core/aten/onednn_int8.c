/* Layers of int8 models (PT2E): activations and weights are integers, sums are exact, and the result is scaled, or rounded to integers
 * again. aten/src/ATen/native/quantized/cpu/qlinear.cpp and qconv.cpp of torch 2.13.
 *
 *     y = act_scale * weight_scale[channel] * sum of (x - act_zero_point) * w + bias
 *     y += alpha * other_scale * (other - other_zero_point)              for "sum" (which writes to other) and "add"
 *     y = fused operation (relu ...);  integer outputs: round(y / output_scale + output_zero_point), clamped to the dtype
 *
 * Weights are symmetric: zero points other than 0 are refused. A linear layer's weight is [in, out], its output contiguous; that of
 * a convolution is channels_last.
 */
#include "mat.h"
#include "onednn.h"
#include "ops.h"

#include <math.h>

static double only_number(const struct aten_tensor *t, const char *what)
{
	if (aten_numel(t) != 1)
		aten_fail("%s has %lld elements; expected one", what, (long long)aten_numel(t));
	return elem_f64(t->dtype, aten_data(t));
}

/* One for all channels, or one each, according to *step. */
static const double *numbers_of(const struct aten_tensor *t, int64_t n, int64_t *step, const char *what)
{
	if (aten_numel(t) != 1 && aten_numel(t) != n)
		aten_fail("%lld %s do not match %lld channels", (long long)aten_numel(t), what, (long long)n);
	*step = aten_numel(t) != 1;
	return (double *)aten_data(aten_to_copy(t, DTYPE_F64, ATEN_CONTIGUOUS));
}

/* In double, which holds every sum of products of bytes. */
static struct aten_tensor *activations(const struct int8_layer *l)
{
	struct aten_tensor *x = aten_to_copy(l->x, DTYPE_F64, ATEN_PRESERVE);
	if (!aten_computes())
		return x;
	double zero = only_number(l->act_zero, "the zero point"), *v = (double *)aten_data(x);
	for (int64_t i = 0, n = aten_numel(x); i < n; i++)
		v[i] -= zero;
	if (l->w_zeros && l->w_zeros->storage) {
		const struct aten_tensor *z = aten_to_copy(l->w_zeros, DTYPE_F64, ATEN_PRESERVE);
		for (int64_t i = 0; i < aten_numel(z); i++)
			if (((double *)aten_data(z))[i] != 0)
				aten_fail("a weight with a nonzero zero point is not supported here; use libtorch");
	}
	return x;
}

/* sum: float64, dense. A float32 tensor of its layout. */
static struct aten_tensor *scaled(const struct int8_layer *l, const struct aten_tensor *sum, int channel_dim)
{
	int64_t n = sum->size[channel_dim], w_step, b_step = 0;
	const double *w = numbers_of(l->w_scales, n, &w_step, "weight scales");
	const double *bias = l->bias ? numbers_of(l->bias, n, &b_step, "biases") : NULL;
	float act = (float)only_number(l->act_scale, "a scale");
	struct aten_tensor *y = aten_new(DTYPE_F32, sum->n_dim, sum->size, sum->stride);

	struct walk at = WALK(sum, y);
	for (bool more = walk_first(&at); more; more = walk_next(&at)) {
		int64_t c = at.pos[channel_dim];
		float v = (float)elem_f64(DTYPE_F64, at.p[0]) * (act * (float)w[c * w_step]);
		elem_set_f64(DTYPE_F32, at.p[1], (double)(bias ? v + (float)bias[c * b_step] : v));
	}
	return y;
}

static void add_other(const struct int8_layer *l, struct aten_tensor *y)
{
	struct aten_tensor *o = aten_new(DTYPE_F32, y->n_dim, y->size, y->stride);
	float *v = (float *)aten_data(y), *add = (float *)aten_data(o), by = (float)(l->with.alpha * l->other_scale);

	aten_copy(o, l->with.other);
	for (int64_t i = 0, n = aten_numel(y); i < n; i++)
		v[i] += by * (add[i] - (float)l->other_zero);
}

static void limits(int dtype, float *low, float *high)
{
	*low = dtype == DTYPE_I8 ? -128 : 0;
	*high = dtype == DTYPE_I8 ? 127 : 255;
	if (dtype != DTYPE_I8 && dtype != DTYPE_U8)
		aten_fail("a quantized output of %s is not supported", dtype_name(dtype));
}

/* The layer's sums as its output. */
static struct aten_tensor *quantized_output(const struct int8_layer *l, const struct aten_tensor *sum, int channel_dim)
{
	const char *how = l->with.how ? l->with.how : "none";
	const bool in_place = !strcmp(how, "sum");
	float by = (float)(1 / l->out_scale), low, high;

	if (!in_place && strcmp(how, "add") && strcmp(how, "none"))
		aten_fail("fused '%s' is not supported here; use libtorch", how);
	if (strcmp(how, "none") && !l->with.other)
		aten_fail("fused '%s' requires a second operand", how);
	struct aten_tensor *out = in_place ? l->with.other : aten_new(l->out_dtype, sum->n_dim, sum->size, sum->stride);
	if (out->dtype != l->out_dtype)
		aten_fail("cannot write a sum of %s into %s", dtype_name(l->out_dtype), dtype_name(out->dtype));
	if (!aten_computes())
		return out;
	struct aten_tensor *y = scaled(l, sum, channel_dim);
	if (strcmp(how, "none"))
		add_other(l, y);
	y = aten_post_op(&l->op, y);
	float *v = (float *)aten_data(y);
	for (int64_t i = 0, n = aten_numel(y); l->out_scale != 1 && i < n; i++)
		v[i] *= by;
	if (elem_integral(l->out_dtype)) {
		limits(l->out_dtype, &low, &high);
		for (int64_t i = 0, n = aten_numel(y); i < n; i++) {
			float q = rintf(v[i] + (float)l->out_zero);
			v[i] = q > low ? q < high ? q : high : low; /* NaN: the lowest */
		}
	}
	aten_copy(out, y);
	return out;
}

struct aten_tensor *aten_int8_linear(const struct int8_layer *l)
{
	struct aten_tensor *x = aten_contiguous(activations(l)), *w = aten_to_copy(l->w, DTYPE_F64, ATEN_PRESERVE);
	int64_t size[ATEN_DIMS];
	int last = x->n_dim - 1;

	if (last < 0 || w->n_dim != 2 || w->size[0] != x->size[last])
		aten_fail("a linear layer with %lld input features does not match an input with %lld",
			  w->n_dim == 2 ? (long long)w->size[0] : -1, last < 0 ? -1 : (long long)x->size[last]);
	memcpy(size, x->size, sizeof(size));
	size[last] = w->size[1];
	int64_t rows = size_of_all(last, size);
	struct aten_tensor *sum = aten_new(DTYPE_F64, x->n_dim, size, NULL);
	if (aten_computes()) {
		struct mat a = {aten_data(x), DTYPE_F64, rows, w->size[0], w->size[0], 1};
		struct mat c = {aten_data(sum), DTYPE_F64, rows, w->size[1], w->size[1], 1};
		mat_mul(c, (struct mat){0}, a, mat_of(w, -1), 0, 1);
	}
	return quantized_output(l, sum, last);
}

struct aten_tensor *aten_int8_conv(const struct int8_layer *l, const struct conv_params *p)
{
	struct conv_params last = *p;
	last.channels_last = 1;
	return quantized_output(l, aten_convolution(activations(l), aten_to_copy(l->w, DTYPE_F64, ATEN_PRESERVE), NULL, &last), 1);
}
