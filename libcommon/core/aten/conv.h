/* conv.h - convolution, for at::convolution and the fused forms with oneDNN's packed weights. */
#ifndef PT2_ATEN_CONV_H
#define PT2_ATEN_CONV_H
#include "elem.h"

enum { CONV_DIMS = 3 };

/* A list of one number applies to all dims, as in at::convolution. */
struct conv_params {
	struct ints stride, padding, dilation, output_padding;
	int64_t groups;
	bool transposed;
	int channels_last; /* of the output: 1, 0, or -1: chosen as by at::convolution */
};

/* x [N, C, ...], w [out, in / groups, ...] (transposed: [in, out / groups, ...]), bias [out] or NULL. */
struct aten_tensor *aten_convolution(struct aten_tensor *x, struct aten_tensor *w, struct aten_tensor *bias, const struct conv_params *p);

#endif
