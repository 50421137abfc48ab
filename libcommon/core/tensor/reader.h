/* reader.h - what the readers of tensor files share. For the .c files of this folder only; tensor.h is the manual.
 *
 * A reader is a row of the table in file.c: does it look like mine, and a function that fills f->v by tensor_add().
 */
#ifndef PT2_TENSOR_READER_H
#define PT2_TENSOR_READER_H
#include "base/io/mapfile.h"
#include "base/io/zip.h"
#include "tensor/tensor.h"

struct tensor_state {
	struct mapfile map; /* path is NULL when the bytes are the caller's */
	struct slice bytes;
	struct zip zip; /* .npz and .pt */
	uint64_t *at;   /* per tensor: where its data begins in its member */
	size_t cap, cap_at;
};

/* A row at the end of f->v, with a copy of the name. Indices stay, pointers do not. */
struct tensor *tensor_add(struct tensor_file *f, struct slice name, const struct tensor_meta *m);
static inline struct tensor_state *tensor_state(const struct tensor_file *f) { return f->state; }

int npy_read(struct tensor_file *f, struct err *err);
int npz_read(struct tensor_file *f, struct err *err);
int safetensors_read(struct tensor_file *f, struct err *err);
int pt_read(struct tensor_file *f, struct err *err);
/* -1 and err: a zip archive, or another file, that only looks like one of torch.save's. */
int pt_refuse(const struct tensor_file *f, struct err *err);

/* The header of an .npy file: its metadata, and where the data begins. `size`: of the whole file, of which bytes may be only
 * the first npy_header_size(). member: in a .npz, or "". */
size_t npy_header_size(struct slice first);
int npy_header(struct slice bytes, uint64_t size, const char *path, struct slice member, struct tensor_meta *m, size_t *at,
	       struct err *err);

#endif
