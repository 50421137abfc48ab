#include "onednn.h"
#include "call.h"
#include "cpu.h"
#include "mat.h"
#include "ops.h"

ATEN_LOOPS

/* ---- fused operations ---- */

ATEN_WIDE static void rectify(float *v, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		v[i] = v[i] < 0 ? 0 : v[i];
}

ATEN_WIDE static void add_scaled(float *v, const float *other, float by, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		v[i] += by * other[i];
}

/* In place: the operations after nearly every layer, without another tensor. */
static bool in_place(const struct aten_tensor *y) { return y->dtype == DTYPE_F32 && aten_computes(); }

struct aten_tensor *aten_post_op(const struct post_op *op, struct aten_tensor *y)
{
	static const struct {
		const char *name, *operator;
		int64_t n_scalars;
	} known[] = {
	    {"relu", "relu", 0},
	    {"sigmoid", "sigmoid", 0},
	    {"tanh", "tanh", 0},
	    {"swish", "silu", 0},
	    {"hardswish", "hardswish", 0},
	    {"hardsigmoid", "hardsigmoid", 0},
	    {"leaky_relu", "leaky_relu", 1},
	    {"hardtanh", "hardtanh", 2},
	};
	if (!op->name || !*op->name || !strcmp(op->name, "none"))
		return y;
	if (!strcmp(op->name, "relu") && in_place(y)) {
		rectify((float *)aten_data(y), aten_numel(y));
		return y;
	}
	if (!strcmp(op->name, "gelu"))
		return APPLIED("gelu", aten_of(y), aten_text(op->algorithm && !strcmp(op->algorithm, "tanh") ? "tanh" : "none"));
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		struct aten_value arg[] = {aten_of(y), aten_float(op->scalar[0]), aten_float(op->scalar[1])};
		if (strcmp(op->name, known[i].name))
			continue;
		if (op->n_scalars < known[i].n_scalars)
			aten_fail("fused '%s': got %lld of its %lld parameters", op->name, (long long)op->n_scalars,
				  (long long)known[i].n_scalars);
		return aten_apply(known[i].operator, arg, 1 + (size_t)known[i].n_scalars)[0].tensor;
	}
	aten_fail("fused '%s' is not supported here; use libtorch", op->name);
}

static struct aten_tensor *with_operand(const struct post_operand *with, struct aten_tensor *y)
{
	struct aten_tensor *o = with->other;
	const bool add = !strcmp(with->how, "add") || !strcmp(with->how, "sum");
	if (o->dtype != y->dtype || !aten_same_sizes(o, y) || memcmp(o->stride, y->stride, (size_t)y->n_dim * sizeof(*o->stride))) {
		o = aten_new(y->dtype, y->n_dim, y->size, y->stride);
		aten_copy(o, with->other);
	}
	if (add && in_place(y)) {
		add_scaled((float *)aten_data(y), (const float *)aten_data(o), (float)with->alpha, aten_numel(y));
		return y;
	}
	if (add || !strcmp(with->how, "sub"))
		return (add ? aten_add : aten_sub)(y, o, with->alpha);
	if (!strcmp(with->how, "mul"))
		return aten_mul(y, o);
	aten_fail("fused '%s' is not supported here; use libtorch", with->how);
}

/* y (dense): applies the fused operation, then converts to that dtype. */
static struct aten_tensor *finished(struct aten_tensor *y, const struct post_operand *with, const struct post_op *op, int dtype)
{
	if (with && with->other)
		y = with_operand(with, y);
	y = aten_post_op(op, y);
	struct aten_tensor *out = dtype == y->dtype ? y : aten_new(dtype, y->n_dim, y->size, y->stride);
	if (out != y)
		aten_copy(out, y);
	if (!with || !with->into)
		return out;
	aten_copy(with->other, out);
	return with->other;
}

/* ---- layers ---- */

static struct aten_tensor *wide(struct aten_tensor *t)
{
	if (!t || t->dtype == DTYPE_F32 || t->dtype == DTYPE_F64)
		return t;
	if (t->dtype != DTYPE_BF16 && t->dtype != DTYPE_F16)
		aten_fail("oneDNN layers are not supported for %s", dtype_name(t->dtype));
	return aten_to_copy(t, DTYPE_F32, ATEN_PRESERVE);
}

struct aten_tensor *aten_conv_pointwise(struct aten_tensor *x, struct aten_tensor *w, struct aten_tensor *bias, const struct conv_params *p,
					const struct post_operand *with, const struct post_op *op)
{
	struct conv_params of = *p;
	if (x->n_dim > 3)
		of.channels_last = w->storage->packed || aten_channels_last(x) || aten_channels_last(w);
	else
		of.channels_last = w->storage->packed ? 0 : -1;
	return finished(aten_convolution(wide(x), wide(w), wide(bias), &of), with, op, x->dtype);
}

/* [..., K] with [N, K] -> [..., N] */
static struct aten_tensor *linear(struct aten_tensor *x, struct aten_tensor *w, struct aten_tensor *bias)
{
	int64_t size[ATEN_DIMS], k = x->n_dim ? x->size[x->n_dim - 1] : 1;
	const int dtype = x->dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;

	if (!x->n_dim || w->n_dim != 2 || w->size[1] != k)
		aten_fail("a linear layer with %lld input features does not match an input with %lld",
			  w->n_dim == 2 ? (long long)w->size[1] : -1, (long long)k);
	memcpy(size, x->size, sizeof(size));
	size[x->n_dim - 1] = w->size[0];
	struct aten_tensor *y = aten_new(dtype, x->n_dim, size, NULL);
	if (!aten_computes())
		return y;
	int64_t rows = size_of_all(x->n_dim - 1, x->size);
	struct mat a = mat_of(x, -1), c = {aten_data(y), dtype, rows, w->size[0], w->size[0], 1};
	if (x->n_dim != 2)
		a = (struct mat){aten_data(aten_contiguous(x)), x->dtype, rows, k, k, 1};
	mat_mul(c, bias ? mat_broadcast(bias, rows, w->size[0]) : (struct mat){0}, a, mat_t(mat_of(w, -1)), 1, 1);
	return y;
}

struct aten_tensor *aten_linear_pointwise(struct aten_tensor *x, struct aten_tensor *w, struct aten_tensor *bias,
					  const struct post_operand *with, const struct post_op *op)
{
	return finished(linear(x, w, bias), with, op, x->dtype);
}

/* ---- overloads ---- */

/* From parameter i on: attr, scalars, algorithm. */
static struct post_op op_at(const struct aten_call *c, uint32_t i)
{
	struct post_op op = {.name = call_string_or(c, i, NULL), .algorithm = call_string_or(c, i + 2, NULL)};
	struct doubles scalars = call_floats(c, i + 1);
	op.n_scalars = scalars.n;
	for (int64_t k = 0; k < scalars.n && k < 2; k++)
		op.scalar[k] = scalars.v[k];
	return op;
}

static struct post_operand operand_at(const struct aten_call *c, uint32_t other, uint32_t how)
{
	return (struct post_operand){call_tensor(c, other), call_string_or(c, how, "none"), 1};
}

static struct conv_params lists_at(const struct aten_call *c, uint32_t stride, uint32_t padding)
{
	uint32_t next = (stride > padding ? stride : padding) + 1;
	return (struct conv_params){.stride = call_ints(c, stride),
				    .padding = call_ints(c, padding),
				    .dilation = call_ints(c, next),
				    .groups = call_int(c, next + 1)};
}

/* X, W, B, padding, stride, dilation, groups, attr, scalars, algorithm */
static void run_conv(struct aten_call *c)
{
	struct conv_params p = lists_at(c, 4, 3);
	struct post_op op = op_at(c, 7);
	call_give(c, 0, aten_conv_pointwise(call_tensor(c, 0), call_tensor(c, 1), call_tensor_or_none(c, 2), &p, NULL, &op));
}

/* X, W, B, padding, output_padding, stride, dilation, groups, attr, scalars, algorithm */
static void run_conv_transpose(struct aten_call *c)
{
	struct conv_params p = lists_at(c, 5, 3);
	struct post_op op = op_at(c, 8);
	p.output_padding = call_ints(c, 4);
	p.transposed = true;
	call_give(c, 0, aten_conv_pointwise(call_tensor(c, 0), call_tensor(c, 1), call_tensor_or_none(c, 2), &p, NULL, &op));
}

/* X, other (entry.data: other, X, which the result is put into), W, B, padding, stride, dilation, groups, binary_attr, alpha, unary_attr,
 * unary_scalars, unary_algorithm */
static void run_conv_binary(struct aten_call *c)
{
	const bool into = c->entry->data;
	struct conv_params p = lists_at(c, 5, 4);
	struct post_operand with = operand_at(c, !into, 8);
	struct post_op op = op_at(c, 10);
	with.alpha = call_float_or(c, 9, 1);
	with.into = into;
	call_give(c, 0, aten_conv_pointwise(call_tensor(c, into), call_tensor(c, 2), call_tensor_or_none(c, 3), &p, &with, &op));
}

/* X, W, B, attr, scalars, algorithm */
static void run_linear(struct aten_call *c)
{
	struct post_op op = op_at(c, 3);
	call_give(c, 0, aten_linear_pointwise(call_tensor(c, 0), call_tensor(c, 1), call_tensor_or_none(c, 2), NULL, &op));
}

/* X, other, W, B, attr */
static void run_linear_binary(struct aten_call *c)
{
	const struct post_operand with = operand_at(c, 1, 4);
	const struct post_op none = {0};
	call_give(c, 0, aten_linear_pointwise(call_tensor(c, 0), call_tensor(c, 2), call_tensor_or_none(c, 3), &with, &none));
}

/* X, MKL_W, ORI_W, B, batch_size: the weight as MKL packed it, and as it was */
static void run_mkl_linear(struct aten_call *c)
{
	const struct post_op none = {0};
	call_give(c, 0, aten_linear_pointwise(call_tensor(c, 0), call_tensor(c, 2), call_tensor_or_none(c, 3), NULL, &none));
}

/* Reorders a weight for the layer: its values stay the same. */
static void run_reorder(struct aten_call *c)
{
	struct aten_tensor *t = aten_clone(call_tensor(c, 0));
	t->storage->packed = true;
	call_give(c, 0, t);
}

/* input, weight0 to weight3, hx_, cx_, reverse, batch_sizes, mode, hidden_size, num_layers, has_biases, bidirectional, batch_first,
 * train */
static void run_rnn_layer(struct aten_call *c)
{
	struct rnn_layer l = {.input = call_tensor(c, 0),
			      .w_ih = call_tensor(c, 1),
			      .w_hh = call_tensor(c, 2),
			      .b_ih = call_tensor(c, 3),
			      .b_hh = call_tensor(c, 4),
			      .hx = call_tensor(c, 5),
			      .cx = call_tensor(c, 6),
			      .n_batch_sizes = call_ints(c, 8).n,
			      .mode = call_int(c, 9),
			      .hidden = call_int(c, 10),
			      .layers = call_int(c, 11),
			      .reverse = call_bool(c, 7),
			      .biases = call_bool(c, 12),
			      .bidirectional = call_bool(c, 13),
			      .batch_first = call_bool(c, 14),
			      .train = call_bool(c, 15)};
	struct aten_tensor *ret[3];
	aten_rnn_layer(&l, ret);
	for (uint32_t i = 0; i < 3; i++)
		call_give(c, i, ret[i]);
	c->ret[3] = ATEN_NOTHING;
}

/* qx, x_scale, x_zero_point, qw, w_scale, w_zero_point: numbers, or tensors of one (the .tensor forms) */
static struct int8_layer int8_at(const struct aten_call *c, uint32_t bias, uint32_t output)
{
	struct int8_layer l = {.x = call_tensor(c, 0),
			       .act_scale = call_operand(c, 1),
			       .act_zero = call_operand(c, 2),
			       .w = call_tensor(c, 3),
			       .w_scales = call_tensor(c, 4),
			       .w_zeros = call_tensor(c, 5),
			       .bias = call_tensor_or_none(c, bias),
			       .out_scale = call_float(c, output),
			       .out_zero = call_int(c, output + 1)};
	l.out_dtype = call_dtype_or(c, output + 2, l.x->dtype);
	return l;
}

/* ..., bias, output_scale, output_zero_point, output_dtype, post_op_name, post_op_args, post_op_algorithm */
static void run_int8_linear(struct aten_call *c)
{
	struct int8_layer l = int8_at(c, 6, 7);
	l.op = op_at(c, 10);
	call_give(c, 0, aten_int8_linear(&l));
}

/* ..., other, bias, output_scale, output_zero_point, output_dtype, other_scale, other_zp, binary_post_op, binary_alpha, unary_post_op,
 * unary_post_op_args, unary_post_op_algorithm */
static void run_int8_linear_binary(struct aten_call *c)
{
	struct int8_layer l = int8_at(c, 7, 8);
	l.with = (struct post_operand){call_tensor_or_none(c, 6), call_string_or(c, 13, "none"), call_float(c, 14)};
	l.other_scale = call_float(c, 11);
	l.other_zero = call_int(c, 12);
	l.op = op_at(c, 15);
	call_give(c, 0, aten_int8_linear(&l));
}

/* ..., bias, stride, padding, dilation, groups, output_scale, output_zero_point, output_dtype, attr, scalars, algorithm */
static void run_int8_conv(struct aten_call *c)
{
	struct int8_layer l = int8_at(c, 6, 11);
	struct conv_params p = lists_at(c, 7, 8);
	l.op = op_at(c, 14);
	call_give(c, 0, aten_int8_conv(&l, &p));
}

/* ..., qaccum, bias, stride, padding, dilation, groups, output_scale, output_zero_point, output_dtype, accum_scale, accum_zero_point,
 * binary_attr, alpha, unary_attr, unary_scalars, unary_algorithm */
static void run_int8_conv_binary(struct aten_call *c)
{
	struct int8_layer l = int8_at(c, 7, 12);
	struct conv_params p = lists_at(c, 8, 9);
	l.with = (struct post_operand){call_tensor(c, 6), call_string_or(c, 17, "none"), call_float_or(c, 18, 1)};
	l.other_scale = call_float(c, 15);
	l.other_zero = call_int(c, 16);
	l.op = op_at(c, 19);
	call_give(c, 0, aten_int8_conv(&l, &p));
}

const struct aten_entry aten_onednn_entries[] = {
    {"mkl::_mkl_linear", run_mkl_linear},
    {"mkl::_mkl_reorder_linear_weight", run_reorder},
    {"mkldnn::_convolution_pointwise", run_conv},
    {"mkldnn::_convolution_pointwise.binary", run_conv_binary},
    {"mkldnn::_convolution_pointwise_.binary", run_conv_binary, "into other"},
    {"mkldnn::_convolution_transpose_pointwise", run_conv_transpose},
    {"mkldnn::_linear_pointwise", run_linear},
    {"mkldnn::_linear_pointwise.binary", run_linear_binary},
    {"mkldnn::_reorder_convolution_weight", run_reorder},
    {"mkldnn::_reorder_convolution_transpose_weight", run_reorder},
    {"mkldnn::_reorder_linear_weight", run_reorder},
    {"mkldnn_rnn_layer", run_rnn_layer},
    {"onednn::qconv2d_pointwise", run_int8_conv},
    {"onednn::qconv2d_pointwise.binary", run_int8_conv_binary},
    {"onednn::qconv2d_pointwise.binary_tensor", run_int8_conv_binary},
    {"onednn::qconv2d_pointwise.tensor", run_int8_conv},
    {"onednn::qconv_pointwise", run_int8_conv},
    {"onednn::qconv_pointwise.tensor", run_int8_conv},
    {"onednn::qlinear_pointwise", run_int8_linear},
    {"onednn::qlinear_pointwise.binary", run_int8_linear_binary},
    {"onednn::qlinear_pointwise.binary_tensor", run_int8_linear_binary},
    {"onednn::qlinear_pointwise.tensor", run_int8_linear},
    {0},
};
