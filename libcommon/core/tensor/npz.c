/* NumPy's .npz: a zip archive of NAME.npy members (np.savez stores them, np.savez_compressed deflates). */
#include "tensor/reader.h"

enum { HEAD = 256, HEAD_MAX = 1 << 20 }; /* for a deflated member: first try, and maximum */

static int read_member(struct tensor_file *f, struct zip_member *z, struct buf *head, struct err *err)
{
	struct tensor_state *s = f->state;
	struct slice b;
	struct tensor_meta m;
	size_t at = 0;
	if (zip_head(&s->zip, z, HEAD, head, &b, err) < 0)
		return -1;
	size_t n = npy_header_size(b);
	if (n > b.n && n < z->size && n <= HEAD_MAX && zip_head(&s->zip, z, n, head, &b, err) < 0)
		return -1;
	if (npy_header(b, z->size, f->path, z->name, &m, &at, err) < 0)
		return -1;
	struct tensor *t = tensor_add(f, slice_of(z->name.p, z->name.n - 4), &m);
	t->member = (uint32_t)(z - s->zip.v);
	s->at[f->n - 1] = at;
	if (z->method == 0)
		t->data = slice_of(b.p + at, b.n - at);
	return 0;
}

int npz_read(struct tensor_file *f, struct err *err)
{
	struct zip *z = &tensor_state(f)->zip;
	LOCAL_BUF head = {0};
	int r = 0;
	f->top = TENSOR_TOP_MAPPING;
	/* If a name is repeated, the earlier member does not count. */
	for (size_t i = 0; i < z->n && r == 0; i++)
		if (slice_ends(z->v[i].name, ".npy") && zip_find(z, z->v[i].name) == &z->v[i])
			r = read_member(f, &z->v[i], &head, err);
	return r;
}
