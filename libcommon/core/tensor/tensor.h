/* tensor.h - a tensor's metadata, and the files that hold tensors.
 *
 *     struct tensor_file *f = tensor_file_open("batch.npz", &err);     // .npy .npz .safetensors .pt/.pth, by content
 *     for (size_t i = 0; i < f->n; i++)
 *         f->v[i].name, f->v[i].meta, f->v[i].data ...
 *     tensor_file_close(f);
 *
 *     struct tensor_meta m;
 *     tensor_spec_parse(SLICE("bf16[2,3]/(1,2)@cuda:0"), &m, &err);    // no file: metadata only
 *
 * Sizes and strides are in elements, as in torch. A 0-d tensor has n_dim 0 and one element.
 *
 * Files are mapped: only headers are read, so a file of many GB opens at once and .data costs only the pages touched. .data.p is NULL for a
 * compressed member (npz written by savez_compressed): tensor_data() then inflates it.
 *
 * Failure: NULL or -1 and err (EXIT_INPUT) with the file, the member or offset, what is wrong and what to do.
 * Nothing in a file is executed: pickles are read with a closed set of opcodes and globals (pickle.h).
 */
#ifndef PT2_TENSOR_H
#define PT2_TENSOR_H
#include "base/arena.h"
#include "base/buf.h"
#include "tensor/dtype.h"

#define TENSOR_MAX_DIMS 64 /* torch's own limit for most of its operators */

struct tensor_meta {
	int dtype;        /* enum dtype; kept as a number, since a process may pass an unknown one */
	int device;       /* torch's DeviceType */
	int device_index; /* -1: none, e.g. for cpu */
	int n_dim;
	int64_t size[TENSOR_MAX_DIMS];
	int64_t stride[TENSOR_MAX_DIMS];
	bool has_address; /* `address` is known (a live tensor, not a file) */
	uint64_t address; /* of the first element */
};

/* Strides of a contiguous tensor with these sizes, as torch computes them (a size of 0 counts as 1). */
void tensor_contiguous(struct tensor_meta *m);
bool tensor_is_contiguous(const struct tensor_meta *m);
/* The value of an element, its parts as doubles (im is 0 except for complex dtypes; 64-bit integers are rounded). For dtypes that
 * dtype_info knows. */
struct tensor_number {
	double re, im;
};
struct tensor_number tensor_load(int dtype, const char *p);
/* The same number of dims with the same sizes, which are known. */
static inline bool tensor_same_sizes(const struct tensor_meta *a, const struct tensor_meta *b)
{
	return a->n_dim == b->n_dim && a->n_dim >= 0 && !memcmp(a->size, b->size, (size_t)a->n_dim * sizeof(*a->size));
}
/* Product of the sizes; false on overflow or a negative size. */
bool tensor_numel(const struct tensor_meta *m, int64_t *numel);
/* Bytes from the first element to the end of the last one that the strides reach; false on overflow. */
bool tensor_extent(const struct tensor_meta *m, int64_t *bytes);
/* Does its memory hold no more than its elements: is it contiguous but for the order of dims, or expanded? */
bool tensor_is_compact(const struct tensor_meta *m);

/* DTYPE[sizes] with optional /(strides) and @device: f32[8,10], i64[] or i64, bf16[2,3]/(1,2)@cuda:0. Spaces are allowed
 * after commas. Contiguous on the cpu by default. Failure: EXIT_USAGE, and a text that describes the form of a spec. */
int tensor_spec_parse(struct slice text, struct tensor_meta *m, struct err *err);
/* Does this operand look like a spec (DTYPE[...), whatever its faults? */
bool tensor_spec_like(struct slice text);
/* The spec that gives m; strides only if not contiguous, device only if not the cpu. */
void tensor_spec_print(const struct tensor_meta *m, struct buf *b);

/* A tensor in a file. */
struct tensor {
	/* Its key in .npz and .safetensors; its path in .pt: "inputs[0]", "x.mask", "state[0].exp_avg"; "" for the only one. Two of a
	 * .pt may have one name: {"a.b": t, "a": {"b": u}}. */
	struct slice name;
	struct tensor_meta meta;
	struct slice data; /* from the first element on, little-endian, tensor_extent() bytes; p NULL: see tensor_data() */
	uint32_t member;   /* for the reader */
};

enum tensor_format { TENSOR_NPY, TENSOR_NPZ, TENSOR_SAFETENSORS, TENSOR_PT };

struct tensor_file {
	const char *path;
	enum tensor_format format;
	struct tensor *v;
	size_t n;
	/* .pt: the top object was a list or tuple (order is what counts), a dict (names count), or one tensor. */
	enum { TENSOR_TOP_ONE, TENSOR_TOP_SEQUENCE, TENSOR_TOP_MAPPING } top;
	struct arena arena;
	void *state; /* the mapping, the zip */
};

struct tensor_file *tensor_file_open(const char *path, struct err *err);
/* The same for a copy in memory, of a file that may still be written to. */
struct tensor_file *tensor_file_copy(const char *path, struct err *err);
/* The same for bytes in memory, which must outlive it (tests, fuzzing, members of packages). */
struct tensor_file *tensor_file_bytes(struct slice bytes, const char *path, struct err *err);
/* The same; it may have no tensors: a state dict of a module without parameters. */
struct tensor_file *tensor_file_some(struct slice bytes, const char *path, struct err *err);
void tensor_file_close(struct tensor_file *f);
/* Bytes of tensor i, inflated if need be (kept until close). For an archive's member, the checksum is verified here (base/io/zip.h); .data
 * alone does not do that. Fails for a tensor on the meta device, which has no data. */
int tensor_data(struct tensor_file *f, size_t i, struct slice *data, struct err *err);

#endif
