#include "packed.h"
#include "aten/elem.h"

enum { MD_DIMS = 12, MD_BYTES = 772, MD_BLOCKED = 2 };

struct packed {
	int32_t n_dim, n_blocks;
	int64_t size[MD_DIMS], stride[MD_DIMS], block[MD_DIMS], block_dim[MD_DIMS], offset;
};

static void read_packed(const uint8_t *o, int64_t n, struct packed *p)
{
	int32_t kind;

	if (n != MD_BYTES)
		aten_fail("a packed weight with a descriptor of %lld bytes; only that of torch 2.13 (%d bytes) is supported; use libtorch",
			  (long long)n, MD_BYTES);
	memcpy(&p->n_dim, o + 4, 4);
	memcpy(p->size, o + 8, sizeof(p->size));
	memcpy(&p->offset, o + 304, 8);
	memcpy(&kind, o + 312, 4);
	memcpy(p->stride, o + 320, sizeof(p->stride));
	memcpy(&p->n_blocks, o + 416, 4);
	memcpy(p->block, o + 424, sizeof(p->block));
	memcpy(p->block_dim, o + 520, sizeof(p->block_dim));
	if (kind != MD_BLOCKED || p->n_dim < 1 || p->n_dim > MD_DIMS || p->n_blocks < 0 || p->n_blocks > MD_DIMS)
		aten_fail("a weight in an unsupported packed format (kind %d); use libtorch", kind);
	for (int i = 0; i < p->n_blocks; i++)
		if (p->block[i] < 1 || p->block_dim[i] < 0 || p->block_dim[i] >= p->n_dim)
			aten_fail("the descriptor of a packed weight is damaged");
}

/* dnnl_memory_desc: blocks from the innermost one out, then the strides of whole blocks. */
static int64_t packed_at(const struct packed *p, const int64_t *index)
{
	int64_t left[MD_DIMS], at = p->offset, step = 1;

	memcpy(left, index, sizeof(left));
	for (int i = p->n_blocks - 1; i >= 0; i--) {
		int64_t *d = &left[p->block_dim[i]];
		at += *d % p->block[i] * step;
		*d /= p->block[i];
		step *= p->block[i];
	}
	for (int i = 0; i < p->n_dim; i++)
		at += left[i] * p->stride[i];
	return at;
}

/* Position in torch's tensor -> index in oneDNN's, which has a separate dim for the groups. */
static void packed_index(const struct packed *p, int n_dim, const int64_t *pos, int64_t *index)
{
	int first = p->n_dim - n_dim;

	for (int i = 0; i < n_dim; i++)
		index[first + i] = pos[i];
	if (first) {
		index[0] = pos[0] / p->size[1];
		index[1] = pos[0] % p->size[1];
	}
}

static bool same_sizes(const struct packed *p, int n_dim, const int64_t *size)
{
	int first = p->n_dim - n_dim;

	if (first < 0 || first > 1 || size[0] != p->size[first] * (first ? p->size[0] : 1) || (first && p->size[1] < 1))
		return false;
	return !memcmp(size + 1, p->size + first + 1, (size_t)(n_dim - 1) * sizeof(*size));
}

struct aten_tensor *aten_onednn_unpack(const void *data, int dtype, int n_dim, const int64_t *size, const uint8_t *opaque,
				       int64_t opaque_size)
{
	struct packed p;
	int64_t pos[MD_DIMS] = {0}, index[MD_DIMS] = {0};

	read_packed(opaque, opaque_size, &p);
	if (n_dim < 1 || n_dim > MD_DIMS - 1 || !same_sizes(&p, n_dim, size))
		aten_fail("a packed weight whose descriptor has different sizes");
	struct aten_tensor *t = aten_new(dtype, n_dim, size, NULL);
	t->storage->packed = true;
	char *to = aten_data(t);
	int bytes = elem_bytes(dtype);
	for (int64_t left = aten_numel(t); left > 0; left--, to += bytes) {
		packed_index(&p, n_dim, pos, index);
		elem_copy(to, (const char *)data + packed_at(&p, index) * bytes, bytes);
		for (int i = n_dim - 1; i >= 0 && ++pos[i] == size[i]; i--)
			pos[i] = 0;
	}
	return t;
}
