/* onednn.h - what a frozen model has instead of plain layers: weights packed by oneDNN, and layers with what follows them. */
#ifndef PT2_SHIM_ONEDNN_H
#define PT2_SHIM_ONEDNN_H
#include "shim.h"

#include <math.h>

enum { LAYOUT_MKLDNN = 3 };

/* A packed weight as a plain contiguous tensor of these sizes. `opaque` is what torch 2.13 writes into the package
 * (ideep::tensor::desc of torch's mkldnn_tensor.cpp): offsets in bytes, little endian,
 *     0 int32 version, 4 memory descriptor of oneDNN 3 (dnnl_memory_desc_t), 768 int32 groups
 * where the descriptor is
 *     0 int32 n_dim, 4 int64 size[12], 100 int32 type, 108 int64 padded_size[12], 204 int64 padded_offset[12], 300 int64 offset,
 *     308 int32 kind (2: blocked), 316 int64 stride[12], 412 int32 n_blocks, 420 int64 block[12], 516 int64 block_dim[12]
 * (the fields behind an int32 are aligned to 8 from the start of the whole). */
struct aten_tensor *aten_onednn_unpack(const void *data, int dtype, int n_dim, const int64_t *size, const uint8_t *opaque,
				       int64_t opaque_size);

/* The operation that is fused behind a layer: "none", "relu", "gelu" with algorithm "tanh" ... */
struct post_op {
	const char *name, *algorithm;
	const double *const *scalars; /* each may be NULL */
	int64_t n_scalars;
};
void aten_post_op(const struct post_op *op, float *v, int64_t n);
static inline float aten_sigmoid(float x) { return 1 / (1 + expf(-x)); }

#endif
