/* write.h - tensors into files (.npy, .safetensors, .pt) and onto a screen, as numpy and torch write and print them.
 *
 *     tensor_write(fd, TENSOR_NPY, &one, 1, "dump/x.npy", &err);
 *     tensor_print(&b, &meta, data, (struct tensor_print){.width = 80});   // tensor([[ 0.1000, ...
 *
 * .npy holds one tensor and only dtypes that numpy has; bfloat16, complex32 and the float8 types are refused with the advice
 * to use .safetensors or .pt (np.save of ml_dtypes' arrays keeps "two raw bytes", from which nothing can tell what they were).
 * It is row-major, or Fortran-ordered when the memory is: byte for byte what np.save writes (numpy 2.x, format 1.0).
 * .safetensors holds tensors of different names, contiguous; larger elements first, so that all are aligned.
 * .pt is what torch.load(weights_only=True) of torch 2.13 reads, with the strides as they are: one tensor without a name is
 * itself, several without names a list, with names (all different) a dict. Everything says it was on the cpu. It is the only one that
 * can hold a None (tensor_is_none): a place among the others where no tensor is.
 * .npz is an archive of such .npy members, NAME.npy, not compressed; what has no name is arr_0, arr_1 by its place (np.savez).
 *
 * Nothing is copied but through a buffer of a few KB; a pipe will do. Names and headers are built in memory.
 *
 * Failure: -1 and err: EXIT_INPUT for what a format cannot hold, EXIT_ENVIRON for what the system refuses (a full disk); the
 * file is then not whole.
 */
#ifndef PT2_TENSOR_WRITE_H
#define PT2_TENSOR_WRITE_H
#include "tensor/tensor.h"

struct tensor_view {
	struct slice name;
	struct tensor_meta meta;
	const void *data; /* first element; in memory, whatever meta.device says */
};

/* A None among tensors, as a model may return one: dtype DTYPE_NONE, no dimensions, no data. */
static inline bool tensor_is_none(const struct tensor_view *v) { return v->meta.dtype == DTYPE_NONE; }

/* Onto fd, from its present position on; what: for messages. */
int tensor_write(int fd, enum tensor_format format, const struct tensor_view *v, size_t n, const char *what, struct err *err);
/* A storage alone, as torch.save writes one: what torch's minifier keeps as SAVE_DIR/storages/HASH (torch 2.13,
 * torch/utils/_content_store.py; repro/repro.h reads them). */
int tensor_write_storage(int fd, struct slice bytes, const char *what, struct err *err);
/* Can this format hold this dtype? */
bool tensor_writable(enum tensor_format format, int dtype);

struct tensor_print {
	int width;     /* columns; 0: 80 */
	bool full;     /* every element; else as torch.set_printoptions(threshold=1000, edgeitems=3) */
	int precision; /* 0: 4 */
	size_t most;   /* bytes of text: behind them it ends, anywhere; 0: no limit */
};
/* As Python's print(tensor) of torch 2.13 (torch/_tensor_str.py), without device and dtype unless they are not the defaults.
 * A dtype without numbers prints its bytes as unsigned integers. data is in memory, whatever m->device says. */
void tensor_print(struct buf *b, const struct tensor_meta *m, const void *data, struct tensor_print how);

#endif
