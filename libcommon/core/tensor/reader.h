/* reader.h - shared by the readers of tensor files. For the .c files of this folder only; tensor.h is the manual.
 *
 * A reader is a row of the table in file.c: a test of whether a file is in its format, and a function that fills f->v with tensor_add().
 */
#ifndef PT2_TENSOR_READER_H
#define PT2_TENSOR_READER_H
#include "base/io/mapfile.h"
#include "base/io/zip.h"
#include "tensor/tensor.h"

struct tensor_state {
	struct mapfile map; /* path is NULL if the caller owns the bytes */
	struct slice bytes;
	struct zip zip; /* .npz and .pt */
	uint64_t *at;   /* per tensor: the offset of its data in its member */
	size_t cap, cap_at;
};

/* Appends a row to f->v, with a copy of the name. Indices stay valid, pointers do not. */
static inline struct tensor *tensor_add(struct tensor_file *f, struct slice name, const struct tensor_meta *m)
{
	struct tensor_state *s = f->state;
	GROW(f->v, f->n, s->cap, 1);
	GROW(s->at, f->n, s->cap_at, 1);
	s->at[f->n] = 0;
	f->v[f->n] = (struct tensor){.name = arena_slice(&f->arena, name), .meta = *m, .member = NONE};
	return &f->v[f->n++];
}

static inline struct tensor_state *tensor_state(const struct tensor_file *f) { return f->state; }

int npy_read(struct tensor_file *f, struct err *err);
int npz_read(struct tensor_file *f, struct err *err);
int safetensors_read(struct tensor_file *f, struct err *err);
int pt_read(struct tensor_file *f, struct err *err);
/* -1 and err: a zip archive, or another file, that only looks like one from torch.save. */
int pt_refuse(const struct tensor_file *f, struct err *err);

/* The header of an .npy file: its metadata, and the offset of the data. `size`: of the whole file; bytes may be only the first
 * npy_header_size() of it. member: in a .npz, or "". */
size_t npy_header_size(struct slice first);
int npy_header(struct slice bytes, uint64_t size, const char *path, struct slice member, struct tensor_meta *m, size_t *at,
	       struct err *err);

#endif
