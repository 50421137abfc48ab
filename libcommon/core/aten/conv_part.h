/* conv_part.h - shared by conv.c and conv_direct*.c. */
#ifndef PT2_ATEN_CONV_PART_H
#define PT2_ATEN_CONV_PART_H
#include "conv.h"

/* Position p of the small grid and a tap map to position p * stride - pad + tap * dilation of the large one. The input is the
 * large grid; that of a transposed convolution is the small one. */
struct conv {
	int64_t n, ci, co, groups, taps;
	int64_t small[CONV_DIMS], large[CONV_DIMS], k[CONV_DIMS], stride[CONV_DIMS], pad[CONV_DIMS], dilation[CONV_DIMS];
	int64_t small_n, large_n, chunk; /* numbers of positions; chunk: those of one product */
	bool transposed, last, plain, depthwise;
};

static inline int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

/* channels_last, float32: sums stay in registers, nothing is gathered. False: unsupported processor or sizes, and nothing is done.
 * conv_direct_x86_64.c, conv_direct_portable.c. */
bool conv_direct(const struct conv *c, struct aten_tensor *x, struct aten_tensor *w, struct aten_tensor *bias, struct aten_tensor *y);

#endif
