/* write.h - writes tensors to files (.npy, .safetensors, .pt) and prints them, as numpy and torch do.
 *
 *     tensor_write(fd, TENSOR_NPY, &one, 1, "dump/x.npy", &err);
 *     tensor_print(&b, &meta, data, (struct tensor_print){.width = 80});   // tensor([[ 0.1000, ...
 *
 * .npy holds one tensor and only dtypes that numpy has; bfloat16, complex32 and the float8 types are refused with advice to use
 * .safetensors or .pt (np.save of ml_dtypes' arrays stores "two raw bytes" without the dtype). It is row-major, or Fortran-ordered if the
 * memory is: byte for byte what np.save writes (numpy 2.x, format 1.0). .safetensors holds tensors of different names, contiguous; larger
 * elements first, so that all are aligned. .pt can be read by torch.load(weights_only=True) of torch 2.13, with unchanged strides: one
 * tensor without a name is saved as itself, several without names as a list, with names (all different) as a dict. Everything is marked as
 * on the cpu. Only .pt can hold a None (tensor_is_none) in place of a tensor. .npz is an archive of such .npy members, NAME.npy, not
 * compressed; tensors without a name are arr_0, arr_1 by position (np.savez).
 *
 * Data is copied only through a buffer of a few KB; the output may be a pipe. Names and headers are built in memory.
 *
 * Failure: -1 and err: EXIT_INPUT if the format cannot hold the tensors, EXIT_ENVIRON for a system error (a full disk); the file is then
 * incomplete.
 */
#ifndef PT2_TENSOR_WRITE_H
#define PT2_TENSOR_WRITE_H
#include "tensor/tensor.h"

struct tensor_view {
	struct slice name;
	struct tensor_meta meta;
	const void *data; /* first element; in host memory, whatever meta.device is */
};

/* A None among tensors, as a model may return one: dtype DTYPE_NONE, no dimensions, no data; a str of an exported program is one with
 * data, its text, which ends in a zero byte. No format has it: it is written as a None. */
static inline bool tensor_is_none(const struct tensor_view *v) { return v->meta.dtype == DTYPE_NONE; }
static inline const char *tensor_text(const struct tensor_view *v) { return tensor_is_none(v) ? (const char *)v->data : NULL; }

/* Writes to fd at its current position; what: for messages. */
int tensor_write(int fd, enum tensor_format format, const struct tensor_view *v, size_t n, const char *what, struct err *err);
/* A single storage as torch.save writes one: the format of the minifier's SAVE_DIR/storages/HASH (torch 2.13,
 * torch/utils/_content_store.py; graph/repro/repro.h reads them). device: where torch.load() puts it, "cuda:0"; "": the CPU. torch's
 * InputReader takes it from the file, not from the program that names the file. */
int tensor_write_storage(int fd, struct slice bytes, struct slice device, const char *what, struct err *err);
/* Can this format hold this dtype? */
bool tensor_writable(enum tensor_format format, int dtype);

struct tensor_print {
	int width;     /* columns; 0: 80 */
	bool full;     /* every element; else like torch.set_printoptions(threshold=1000, edgeitems=3) */
	int precision; /* 0: 4 */
	size_t most;   /* bytes of text: behind them it ends, anywhere; 0: no limit */
};
/* Like Python's print(tensor) in torch 2.13 (torch/_tensor_str.py), with device and dtype only if they are not the defaults. A non-numeric
 * dtype prints its bytes as unsigned integers. data is in host memory, whatever m->device is. */
void tensor_print(struct buf *b, const struct tensor_meta *m, const void *data, struct tensor_print how);

#endif
