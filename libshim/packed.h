/* packed.h - weights packed by oneDNN, as in a frozen model. */
#ifndef PT2_SHIM_PACKED_H
#define PT2_SHIM_PACKED_H
#include "shim.h"

enum { LAYOUT_MKLDNN = 3 };

/* Unpacks a weight into a plain contiguous tensor of these sizes. `opaque` is what torch 2.13 writes into the package
 * (ideep::tensor::desc of torch's mkldnn_tensor.cpp): offsets in bytes, little endian,
 *     0 int32 version, 4 memory descriptor of oneDNN 3 (dnnl_memory_desc_t), 768 int32 groups
 * where the descriptor is
 *     0 int32 n_dim, 4 int64 size[12], 100 int32 type, 108 int64 padded_size[12], 204 int64 padded_offset[12], 300 int64 offset,
 *     308 int32 kind (2: blocked), 316 int64 stride[12], 412 int32 n_blocks, 420 int64 block[12], 516 int64 block_dim[12]
 * (fields after an int32 are aligned to 8, counted from the start of the whole). */
struct aten_tensor *aten_onednn_unpack(const void *data, int dtype, int n_dim, const int64_t *size, const uint8_t *opaque,
				       int64_t opaque_size);

#endif
