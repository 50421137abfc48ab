/* onednn.c - wrappers for aten/onednn.c and onednn_int8.c: mkldnn, mkl, onednn. */
#include "aten/onednn.h"
#include "aten/ops.h"
#include "shim.h"

/* [groups * out, in, ...] -> [groups * in, out, ...] */
static struct aten_tensor *input_first(struct aten_tensor *w, int64_t groups)
{
	int n = w->n_dim;
	int64_t size[ATEN_DIMS];

	if (n < 3 || groups < 1 || w->size[0] % groups)
		aten_fail("a packed weight of %d dimensions for %lld groups", n, (long long)groups);
	memcpy(size + 1, w->size, (size_t)n * sizeof(*size));
	size[0] = groups;
	size[1] /= groups;
	struct aten_tensor *grouped = aten_transpose(aten_reshape(w, size, n + 1), 1, 2);
	memcpy(size, w->size, (size_t)n * sizeof(*size));
	size[0] = size_times(groups, w->size[1]);
	size[1] = w->size[0] / groups;
	return aten_reshape(aten_clone_contiguous(grouped), size, n);
}

static struct post_op post_op(const char *name, const double **scalars, int64_t n_scalars, const char *algorithm)
{
	struct post_op op = {name, algorithm, {0}, 0};
	for (; op.n_scalars < n_scalars && op.n_scalars < 2 && scalars && scalars[op.n_scalars]; op.n_scalars++)
		op.scalar[op.n_scalars] = *scalars[op.n_scalars];
	return op;
}

/* ---- convolutions ---- */

#define CONV_LISTS \
	const int64_t *padding, int64_t n_padding, const int64_t *stride, int64_t n_stride, const int64_t *dilation, int64_t n_dilation, \
	    int64_t groups
#define CONV_PARAMS .stride = {stride, n_stride}, .padding = {padding, n_padding}, .dilation = {dilation, n_dilation}, .groups = groups
#define UNARY const char *attr, const double **scalars, int64_t n_scalars, const char **algorithm
#define OP post_op(attr, scalars, n_scalars, algorithm ? *algorithm : NULL)

SHIM_OP(aoti_torch_cpu_mkldnn__convolution_pointwise(AtenTensorHandle X, AtenTensorHandle W, AtenTensorHandle *B, CONV_LISTS, UNARY,
						     AtenTensorHandle *ret0),
	struct post_op op = OP;
	SHIM_GIVE(ret0, aten_conv_pointwise(X, W, shim_optional(B), &(struct conv_params){CONV_PARAMS}, NULL, &op)))

SHIM_OP(aoti_torch_cpu_mkldnn__convolution_transpose_pointwise(AtenTensorHandle X, AtenTensorHandle W, AtenTensorHandle *B,
							       const int64_t *padding, int64_t n_padding, const int64_t *output_padding,
							       int64_t n_output_padding, const int64_t *stride, int64_t n_stride,
							       const int64_t *dilation, int64_t n_dilation, int64_t groups, UNARY,
							       AtenTensorHandle *ret0),
	const struct conv_params p = {CONV_PARAMS, .output_padding = {output_padding, n_output_padding}, .transposed = true};
	struct post_op op = OP;
	SHIM_GIVE(ret0, aten_conv_pointwise(X, W->storage->packed ? input_first(W, groups) : W, shim_optional(B), &p, NULL, &op)))

#define BINARY_CONV \
	AtenTensorHandle W, AtenTensorHandle *B, CONV_LISTS, const char *binary_attr, double *alpha, const char **attr, \
	    const double **scalars, int64_t n_scalars, const char **algorithm, AtenTensorHandle *ret0

static AOTITorchError conv_binary(const char *name, bool in_place, AtenTensorHandle X, AtenTensorHandle other, BINARY_CONV)
{
	SHIM_TRY_AS(name) {
		struct conv_params p = {CONV_PARAMS};
		struct post_operand with = {other, binary_attr, alpha ? *alpha : 1, in_place};
		struct post_op op = post_op(attr ? *attr : NULL, scalars, n_scalars, algorithm ? *algorithm : NULL);
		SHIM_GIVE(ret0, aten_conv_pointwise(X, W, shim_optional(B), &p, &with, &op));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_mkldnn__convolution_pointwise_binary(AtenTensorHandle X, AtenTensorHandle other, BINARY_CONV)
{
	return conv_binary(__func__, false, X, other, W, B, padding, n_padding, stride, n_stride, dilation, n_dilation, groups, binary_attr,
			   alpha, attr, scalars, n_scalars, algorithm, ret0);
}

AOTITorchError aoti_torch_cpu_mkldnn__convolution_pointwise_binary_(AtenTensorHandle other, AtenTensorHandle X, BINARY_CONV)
{
	return conv_binary(__func__, true, X, other, W, B, padding, n_padding, stride, n_stride, dilation, n_dilation, groups, binary_attr,
			   alpha, attr, scalars, n_scalars, algorithm, ret0);
}

/* ---- linear layers ---- */

SHIM_OP(aoti_torch_cpu__linear_pointwise(AtenTensorHandle X, AtenTensorHandle W, AtenTensorHandle *B, UNARY, AtenTensorHandle *ret0),
	struct post_op op = OP;
	SHIM_GIVE(ret0, aten_linear_pointwise(X, W, shim_optional(B), NULL, &op)))

SHIM_OP(aoti_torch_cpu__linear_pointwise_binary(AtenTensorHandle X, AtenTensorHandle other, AtenTensorHandle W, AtenTensorHandle *B,
						const char *attr, AtenTensorHandle *ret0),
	struct post_operand with = {other, attr, 1};
	SHIM_GIVE(ret0, aten_linear_pointwise(X, W, shim_optional(B), &with, &(struct post_op){0})))

/* W is packed for MKL; origin_W is the original. */
SHIM_OP(aoti_torch_cpu__mkl_linear(AtenTensorHandle X, AtenTensorHandle W, AtenTensorHandle origin_W, AtenTensorHandle *B,
				   int64_t prepack_batch_size, AtenTensorHandle *ret0),
	(void)W, (void)prepack_batch_size;
	SHIM_GIVE(ret0, aten_linear_pointwise(X, origin_W, shim_optional(B), NULL, &(struct post_op){0})))

/* ---- recurrent ---- */

AOTITorchError aoti_torch_cpu_mkldnn_rnn_layer(AtenTensorHandle input, AtenTensorHandle weight0, AtenTensorHandle weight1,
					       AtenTensorHandle weight2, AtenTensorHandle weight3, AtenTensorHandle hx_,
					       AtenTensorHandle cx_, int32_t reverse, const int64_t *batch_sizes, int64_t n_batch_sizes,
					       int64_t mode, int64_t hidden_size, int64_t num_layers, int32_t has_biases,
					       int32_t bidirectional, int32_t batch_first, int32_t train, AtenTensorHandle *ret0,
					       AtenTensorHandle *ret1, AtenTensorHandle *ret2, AtenTensorHandle *ret3)
{
	SHIM_TRY {
		(void)batch_sizes;
		struct rnn_layer l = {input,
				      weight0,
				      weight1,
				      weight2,
				      weight3,
				      hx_,
				      cx_,
				      n_batch_sizes,
				      mode,
				      hidden_size,
				      num_layers,
				      reverse != 0,
				      has_biases != 0,
				      bidirectional != 0,
				      batch_first != 0,
				      train != 0};
		struct aten_tensor *ret[3];
		int64_t none = 0;
		aten_rnn_layer(&l, ret);
		SHIM_GIVE(ret0, ret[0]);
		SHIM_GIVE(ret1, ret[1]);
		SHIM_GIVE(ret2, ret[2]);
		SHIM_GIVE(ret3, aten_new(DTYPE_U8, 1, &none, NULL));
	}
	SHIM_END
}

/* ---- int8 ---- */

#define OPERANDS \
	AtenTensorHandle X \
	, AtenTensorHandle act_scale, AtenTensorHandle act_zero_point, AtenTensorHandle weight, AtenTensorHandle weight_scales, \
	    AtenTensorHandle weight_zero_points
#define INT8_LISTS \
	const int64_t *stride, int64_t n_stride, const int64_t *padding, int64_t n_padding, const int64_t *dilation, int64_t n_dilation, \
	    int64_t groups
#define OUTPUT double output_scale, int64_t output_zero_point, const int32_t *output_dtype
#define LAYER(...) \
	{ \
		.x = X \
		, .act_scale = act_scale, .act_zero = act_zero_point, .w = weight, .w_scales = weight_scales, \
		  .w_zeros = weight_zero_points, .bias = shim_optional(B), .out_scale = output_scale, .out_zero = output_zero_point, \
		  .out_dtype = output_dtype ? *output_dtype : (X)->dtype, .op = __VA_ARGS__ \
	}

SHIM_OP(aoti_torch_cpu__qlinear_pointwise_tensor(OPERANDS, AtenTensorHandle *B, OUTPUT, const char *attr, const double **scalars,
						 int64_t n_scalars, const char *algorithm, AtenTensorHandle *ret0),
	struct int8_layer l = LAYER(post_op(attr, scalars, n_scalars, algorithm));
	SHIM_GIVE(ret0, aten_int8_linear(&l)))

SHIM_OP(aoti_torch_cpu__qlinear_pointwise_binary_tensor(OPERANDS, AtenTensorHandle *other, AtenTensorHandle *B, OUTPUT, double other_scale,
							int64_t other_zero_point, const char *binary_attr, double binary_alpha,
							const char *attr, const double **scalars, int64_t n_scalars, const char *algorithm,
							AtenTensorHandle *ret0),
	struct int8_layer l = LAYER(post_op(attr, scalars, n_scalars, algorithm), .with = {shim_optional(other), binary_attr, binary_alpha},
				    .other_scale = other_scale, .other_zero = other_zero_point);
	SHIM_GIVE(ret0, aten_int8_linear(&l)))

SHIM_OP(aoti_torch_cpu__qconv_pointwise_tensor(OPERANDS, AtenTensorHandle *B, INT8_LISTS, OUTPUT, UNARY, AtenTensorHandle *ret0),
	struct int8_layer l = LAYER(OP);
	SHIM_GIVE(ret0, aten_int8_conv(&l, &(struct conv_params){CONV_PARAMS})))

SHIM_OP(aoti_torch_cpu__qconv2d_pointwise_binary_tensor(OPERANDS, AtenTensorHandle accum, AtenTensorHandle *B, INT8_LISTS, OUTPUT,
							double accum_scale, int64_t accum_zero_point, const char *binary_attr,
							double *alpha, const char **attr, const double **scalars, int64_t n_scalars,
							const char **algorithm, AtenTensorHandle *ret0),
	struct int8_layer l = LAYER(post_op(attr ? *attr : NULL, scalars, n_scalars, algorithm ? *algorithm : NULL),
				    .with = {accum, binary_attr, alpha ? *alpha : 1}, .other_scale = accum_scale,
				    .other_zero = accum_zero_point);
	SHIM_GIVE(ret0, aten_int8_conv(&l, &(struct conv_params){CONV_PARAMS})))
