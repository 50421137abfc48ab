/* write.h - tensors into files (.npy, .safetensors, .pt) and onto a screen, as numpy and torch write and print them.
 *
 *     tensor_write(fd, TENSOR_NPY, &one, 1, "dump/x.npy", &err);
 *     tensor_print(&b, &meta, data, (struct tensor_print){.width = 80});   // tensor([[ 0.1000, ...
 *
 * .npy holds one tensor, row-major, and no dtype that numpy lacks: bfloat16 and the float8 types are written as the
 * unsigned integers of their bits under ml_dtypes' names where numpy has such a descr, else refused: use .safetensors.
 * .pt is what torch.load(weights_only=True) reads: a list, or a dict by name. Strides are kept in .pt only.
 */
#ifndef PT2_TENSOR_WRITE_H
#define PT2_TENSOR_WRITE_H
#include "tensor/tensor.h"

struct tensor_view {
	struct slice name;
	struct tensor_meta meta;
	const void *data; /* first element */
};

/* Onto fd, from its present position on; what: for messages. */
int tensor_write(int fd, enum tensor_format format, const struct tensor_view *v, size_t n, const char *what, struct err *err);

struct tensor_print {
	int width;      /* columns; 0: 80 */
	bool full;      /* every element; else as torch.set_printoptions(threshold=1000, edgeitems=3) */
	int precision;  /* 0: 4 */
};
/* As Python's print(tensor), without device and dtype suffix unless they are not the defaults. */
void tensor_print(struct buf *b, const struct tensor_meta *m, const void *data, struct tensor_print how);

#endif
