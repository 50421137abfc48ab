/* onednn.h - fused layers, as Inductor generates them from a frozen model: mkldnn::, mkl:: and onednn:: of torch
 * (2.13 and 2.15, aten/src/ATen/native/mkldnn; torch/_meta_registrations.py), for their overloads and for libshim. Weights are plain
 * tensors here: oneDNN's packed weights have been unpacked (libshim/packed.h), and reordering one changes nothing. */
#ifndef PT2_ATEN_ONEDNN_H
#define PT2_ATEN_ONEDNN_H
#include "conv.h"

/* The operation after a layer: "none" (or NULL), "relu", "gelu" with algorithm "tanh", "hardtanh" with its two ends ... */
struct post_op {
	const char *name, *algorithm;
	double scalar[2];
	int64_t n_scalars;
};
/* y, in place or new, with its strides and dtype (float32 or float64) */
struct aten_tensor *aten_post_op(const struct post_op *op, struct aten_tensor *y);

/* A second operand, combined with the layer's output before the operation: "add", "sum", "sub", "mul". */
struct post_operand {
	struct aten_tensor *other; /* NULL: none */
	const char *how;
	double alpha;
	bool into; /* for a float layer: the result is written there and returned */
};

/* Outputs have x's dtype; that of a convolution of two or three dims is channels_last if the weight is packed, or it or x is channels_last
 * (torch 2.13, aten/src/ATen/native/ConvUtils.h, mkldnn_conv_use_channels_last); that of a linear layer is contiguous. Computed in float32
 * (float64 if x is) and rounded once. */
struct aten_tensor *aten_conv_pointwise(struct aten_tensor *x, struct aten_tensor *w, struct aten_tensor *bias, const struct conv_params *p,
					const struct post_operand *with, const struct post_op *op);
struct aten_tensor *aten_linear_pointwise(struct aten_tensor *x, struct aten_tensor *w, struct aten_tensor *bias,
					  const struct post_operand *with, const struct post_op *op);

/* onednn_int8.c */
struct int8_layer {
	struct aten_tensor *x, *act_scale, *act_zero, *w, *w_scales, *w_zeros, *bias; /* the last may be NULL */
	double out_scale;
	int64_t out_zero;
	int out_dtype;
	struct post_op op;
	/* for the forms with a second operand: "sum" writes to it */
	struct post_operand with;
	double other_scale;
	int64_t other_zero;
};
struct aten_tensor *aten_int8_linear(const struct int8_layer *l);
struct aten_tensor *aten_int8_conv(const struct int8_layer *l, const struct conv_params *p);

/* rnn_layer.c: aten::mkldnn_rnn_layer; ret: output, hy, cy (the fourth result, its workspace, is for training) */
struct rnn_layer {
	struct aten_tensor *input, *w_ih, *w_hh, *b_ih, *b_hh, *hx, *cx;
	int64_t n_batch_sizes, mode, hidden, layers;
	bool reverse, biases, bidirectional, batch_first, train;
};
void aten_rnn_layer(const struct rnn_layer *l, struct aten_tensor **ret);

#endif
