/* Layers of int8 models (PT2E): activations and weights are integers, sums are exact, and what comes out is scaled, or rounded to
 * integers again. aten/src/ATen/native/quantized/cpu/qlinear.cpp and qconv.cpp of torch 2.13.
 *
 *     y = act_scale * weight_scale[channel] * sum of (x - act_zero_point) * w + bias
 *     y += alpha * other_scale * (other - other_zero_point)              for "sum" (which writes to other) and "add"
 *     y = what follows (relu ...);  integer outputs: round(y / output_scale + output_zero_point), cut to the dtype
 *
 * Weights are symmetric: zero points other than 0 are refused. A linear layer's weight is [in, out], its output contiguous; that of
 * a convolution is channels_last.
 */
#include "aten/conv.h"
#include "aten/elem.h"
#include "shim.h"
#include "aten/mat.h"
#include "onednn.h"

struct layer {
	struct aten_tensor *x, *act_scale, *act_zero, *w, *w_scales, *w_zeros, *bias;
	double out_scale;
	int64_t out_zero;
	int out_dtype;
	struct post_op op;
	/* of the forms with a second operand */
	struct aten_tensor *other;
	double other_scale, alpha;
	int64_t other_zero;
	const char *how;
};

static struct aten_tensor *as_f64(const struct aten_tensor *t)
{
	struct aten_tensor *c = aten_like(t, DTYPE_F64);
	aten_copy(c, t);
	return c;
}

static double number_of(const struct aten_tensor *t, const char *what)
{
	if (aten_numel(t) != 1)
		aten_fail("%s of %lld elements; one is expected", what, (long long)aten_numel(t));
	return elem_f64(t->dtype, aten_data(t));
}

/* There is one for all channels, or one each; *step says which. */
static const double *numbers_of(const struct aten_tensor *t, int64_t n, int64_t *step, const char *what)
{
	struct aten_tensor *c = aten_new(DTYPE_F64, t->n_dim, t->size, NULL);
	if (aten_numel(t) != 1 && aten_numel(t) != n)
		aten_fail("%lld %s for %lld channels", (long long)aten_numel(t), what, (long long)n);
	*step = aten_numel(t) != 1;
	aten_copy(c, t);
	return (double *)aten_data(c);
}

/* In double, which holds every sum of products of bytes. */
static struct aten_tensor *activations(const struct layer *l)
{
	struct aten_tensor *x = as_f64(l->x);
	double zero = number_of(l->act_zero, "a zero point"), *v = (double *)aten_data(x);
	for (int64_t i = 0, n = aten_numel(x); i < n; i++)
		v[i] -= zero;
	if (l->w_zeros && l->w_zeros->storage) {
		const struct aten_tensor *z = as_f64(l->w_zeros);
		for (int64_t i = 0; i < aten_numel(z); i++)
			if (((double *)aten_data(z))[i] != 0)
				aten_fail("a weight whose zero point is not 0; use libtorch");
	}
	return x;
}

/* sum: float64, dense. A float32 tensor of its layout. */
static struct aten_tensor *scaled(const struct layer *l, const struct aten_tensor *sum, int channel_dim)
{
	int64_t n = sum->size[channel_dim], w_step, b_step = 0;
	const double *w = numbers_of(l->w_scales, n, &w_step, "weight scales");
	const double *bias = l->bias ? numbers_of(l->bias, n, &b_step, "biases") : NULL;
	float act = (float)number_of(l->act_scale, "a scale");
	struct aten_tensor *y = aten_new(DTYPE_F32, sum->n_dim, sum->size, sum->stride);
	struct walk at;

	walk_begin(&at, sum->n_dim, sum->size);
	walk_add(&at, aten_data(sum), sum);
	walk_add(&at, aten_data(y), y);
	for (bool more = walk_first(&at); more; more = walk_next(&at)) {
		int64_t c = at.pos[channel_dim];
		float v = (float)elem_f64(DTYPE_F64, at.p[0]) * (act * (float)w[c * w_step]);
		elem_set_f64(DTYPE_F32, at.p[1], (double)(bias ? v + (float)bias[c * b_step] : v));
	}
	return y;
}

static void add_other(const struct layer *l, struct aten_tensor *y)
{
	struct aten_tensor *o = aten_new(DTYPE_F32, y->n_dim, y->size, y->stride);
	float *v = (float *)aten_data(y), *add = (float *)aten_data(o), by = (float)(l->alpha * l->other_scale);

	if (!l->other)
		aten_fail("'%s' without a second operand", l->how);
	aten_copy(o, l->other);
	for (int64_t i = 0, n = aten_numel(y); i < n; i++)
		v[i] += by * (add[i] - (float)l->other_zero);
}

static void limits(int dtype, float *low, float *high)
{
	*low = dtype == DTYPE_I8 ? -128 : 0;
	*high = dtype == DTYPE_I8 ? 127 : 255;
	if (dtype != DTYPE_I8 && dtype != DTYPE_U8)
		aten_fail("a quantized output of %s", dtype_name(dtype));
}

/* The layer's sums as its output. */
static struct aten_tensor *quantize_output(const struct layer *l, const struct aten_tensor *sum, int channel_dim)
{
	struct aten_tensor *y = scaled(l, sum, channel_dim), *out;
	float *v = (float *)aten_data(y), by = (float)(1 / l->out_scale), low, high;
	bool in_place = l->how && !strcmp(l->how, "sum");

	if (in_place || (l->how && !strcmp(l->how, "add")))
		add_other(l, y);
	else if (l->how && strcmp(l->how, "none"))
		aten_fail("'%s' behind a layer is not known here; use libtorch", l->how);
	aten_post_op(&l->op, v, aten_numel(y));
	for (int64_t i = 0, n = aten_numel(y); l->out_scale != 1 && i < n; i++)
		v[i] *= by;
	if (elem_integral(l->out_dtype)) {
		limits(l->out_dtype, &low, &high);
		for (int64_t i = 0, n = aten_numel(y); i < n; i++) {
			float q = rintf(v[i] + (float)l->out_zero);
			v[i] = q > low ? q < high ? q : high : low; /* NaN: the lowest */
		}
	}
	out = in_place ? l->other : aten_new(l->out_dtype, y->n_dim, y->size, y->stride);
	if (in_place && out->dtype != l->out_dtype)
		aten_fail("a sum of %s in place of %s", dtype_name(l->out_dtype), dtype_name(out->dtype));
	aten_copy(out, y);
	return out;
}

static struct aten_tensor *linear(const struct layer *l)
{
	struct aten_tensor *x = aten_contiguous(activations(l)), *w = as_f64(l->w);
	int64_t size[ATEN_DIMS], rows = 1;
	int last = x->n_dim - 1;

	if (last < 0 || w->n_dim != 2 || w->size[0] != x->size[last])
		aten_fail("a linear layer of %lld features on %lld", w->n_dim == 2 ? (long long)w->size[0] : -1,
			  last < 0 ? -1 : (long long)x->size[last]);
	memcpy(size, x->size, sizeof(size));
	size[last] = w->size[1];
	for (int i = 0; i < last; i++)
		rows *= size[i];
	struct aten_tensor *sum = aten_new(DTYPE_F64, x->n_dim, size, NULL);
	struct mat a = {aten_data(x), DTYPE_F64, rows, w->size[0], w->size[0], 1};
	struct mat c = {aten_data(sum), DTYPE_F64, rows, w->size[1], w->size[1], 1};
	mat_mul(c, (struct mat){0}, a, mat_of(w, -1), 0, 1);
	return quantize_output(l, sum, last);
}

static struct aten_tensor *conv(const struct layer *l, struct conv_params p)
{
	p.channels_last = 1;
	return quantize_output(l, aten_conv(activations(l), as_f64(l->w), NULL, &p), 1);
}

/* ---- the ops ---- */

#define OPERANDS \
	AtenTensorHandle X \
	, AtenTensorHandle act_scale, AtenTensorHandle act_zero_point, AtenTensorHandle weight, AtenTensorHandle weight_scales, \
	    AtenTensorHandle weight_zero_points
#define CONV_LISTS \
	const int64_t *stride, int64_t n_stride, const int64_t *padding, int64_t n_padding, const int64_t *dilation, int64_t n_dilation, \
	    int64_t groups
#define OUTPUT double output_scale, int64_t output_zero_point, const int32_t *output_dtype

#define LAYER \
	{ \
		.x = X \
		, .act_scale = act_scale, .act_zero = act_zero_point, .w = weight, .w_scales = weight_scales, \
		  .w_zeros = weight_zero_points, .bias = B ? *B : NULL, .out_scale = output_scale, .out_zero = output_zero_point, \
		  .out_dtype = output_dtype ? *output_dtype : X \
		->dtype, .alpha = 1 \
	}

AOTITorchError aoti_torch_cpu__qlinear_pointwise_tensor(OPERANDS, AtenTensorHandle *B, OUTPUT, const char *post_op, const double **args,
							int64_t n_args, const char *algorithm, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct layer l = LAYER;
		l.op = (struct post_op){post_op, algorithm, args, n_args};
		SHIM_GIVE(ret0, linear(&l));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu__qlinear_pointwise_binary_tensor(OPERANDS, AtenTensorHandle *other, AtenTensorHandle *B, OUTPUT,
							       double other_scale, int64_t other_zero_point, const char *binary_post_op,
							       double binary_alpha, const char *post_op, const double **args,
							       int64_t n_args, const char *algorithm, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct layer l = LAYER;
		l.op = (struct post_op){post_op, algorithm, args, n_args};
		l.other = other ? *other : NULL;
		l.other_scale = other_scale;
		l.other_zero = other_zero_point;
		l.how = binary_post_op;
		l.alpha = binary_alpha;
		SHIM_GIVE(ret0, linear(&l));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu__qconv_pointwise_tensor(OPERANDS, AtenTensorHandle *B, CONV_LISTS, OUTPUT, const char *attr,
						      const double **args, int64_t n_args, const char **algorithm, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct layer l = LAYER;
		l.op = (struct post_op){attr, algorithm ? *algorithm : NULL, args, n_args};
		SHIM_GIVE(ret0, conv(&l, (struct conv_params){stride, padding, dilation, NULL, n_stride, n_padding, n_dilation, 0, groups,
							      false, 1}));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu__qconv2d_pointwise_binary_tensor(OPERANDS, AtenTensorHandle accum, AtenTensorHandle *B, CONV_LISTS, OUTPUT,
							       double accum_scale, int64_t accum_zero_point, const char *binary_attr,
							       double *alpha, const char **unary_attr, const double **args, int64_t n_args,
							       const char **algorithm, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct layer l = LAYER;
		l.op = (struct post_op){unary_attr ? *unary_attr : NULL, algorithm ? *algorithm : NULL, args, n_args};
		l.other = accum;
		l.other_scale = accum_scale;
		l.other_zero = accum_zero_point;
		l.how = binary_attr;
		l.alpha = alpha ? *alpha : 1;
		SHIM_GIVE(ret0, conv(&l, (struct conv_params){stride, padding, dilation, NULL, n_stride, n_padding, n_dilation, 0, groups,
							      false, 1}));
	}
	SHIM_END
}
