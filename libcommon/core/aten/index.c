/* index.c - x[i, :, j], index_put, masked_select, masked_scatter.
 *
 * If the indexed dims are adjacent, their broadcast shape replaces them; else it comes first. Strides of an
 * indexed result are those that TensorIterator gives the operands: self with 0 at the indexed dims, the indices with 0
 * at the others (torch 2.13, aten/src/ATen/native/TensorAdvancedIndexing.cpp, AdvancedIndex). index_put keeps the order
 * of dims of its input.
 */
#include "call.h"
#include "elem.h"
#include "ops.h"

struct plan {
	int n_dim;                                     /* of the result */
	int64_t size[ATEN_DIMS], self_step[ATEN_DIMS]; /* steps of self in bytes, 0 in the block of indices */
	int block_at, block_dims;
	struct aten_tensor *index[ATEN_DIMS]; /* by dim of self, NULL if not indexed */
	int64_t *offset;                      /* bytes into self, over the block in row-major order */
};

/* A mask counts as as many indices as it has dims. */
static int spread_mask(const struct aten_tensor *self, struct aten_tensor *mask, int dim, struct plan *p)
{
	if (dim + mask->n_dim > self->n_dim)
		aten_fail("too many indices for tensor of dimension %d", self->n_dim);
	for (int i = 0; i < mask->n_dim; i++)
		if (mask->size[i] != self->size[dim + i])
			aten_fail("The shape of the mask at index %d does not match the shape of the indexed tensor at "
				  "index %d",
				  i, dim + i);
	struct aten_tensor *at = aten_nonzero(mask);
	for (int i = 0; i < mask->n_dim; i++)
		p->index[dim + i] = aten_view(at, 1, &at->size[0], &at->stride[0], at->offset + i * at->stride[1]);
	return dim + mask->n_dim;
}

static void set_indices(const struct aten_tensor *self, struct tensors indices, struct plan *p)
{
	int dim = 0;

	for (int64_t i = 0; i < indices.n; i++) {
		struct aten_tensor *x = indices.v[i];
		if (x && (x->dtype == DTYPE_BOOL || x->dtype == DTYPE_U8)) {
			if (!x->n_dim)
				aten_fail("indexing with a 0-d mask is not supported");
			dim = spread_mask(self, x, dim, p);
			continue;
		}
		if (dim >= self->n_dim)
			aten_fail("too many indices for tensor of dimension %d (got %lld)", self->n_dim, (long long)indices.n);
		if (x && x->dtype != DTYPE_I64 && x->dtype != DTYPE_I32)
			aten_fail("tensors used as indices must be long, int, byte or bool tensors");
		p->index[dim++] = x;
	}
}

static struct aten_tensor *as_int64(struct aten_tensor *x, int n_dim, const int64_t *size)
{
	int64_t stride[ATEN_DIMS];
	int skip = n_dim - x->n_dim;

	for (int i = 0; i < n_dim; i++)
		stride[i] = i < skip || (x->size[i - skip] == 1 && size[i] != 1) ? 0 : x->stride[i - skip];
	struct aten_tensor *wide = aten_view(x, n_dim, size, stride, x->offset), *c = aten_like(wide, DTYPE_I64);
	aten_copy(c, wide);
	return c;
}

static void broadcast_indices(struct plan *p, int dims, int64_t *block)
{
	struct aten_tensor shape = {.n_dim = 0};

	for (int i = 0; i < dims; i++)
		if (p->index[i]) {
			shape.n_dim = aten_broadcast(&shape, p->index[i], block);
			memcpy(shape.size, block, sizeof(shape.size));
		}
	p->block_dims = shape.n_dim;
	/* torch converts others to int64 after broadcasting: a copy without strides of 0. */
	for (int i = 0; i < dims; i++)
		if (p->index[i] && p->index[i]->dtype != DTYPE_I64)
			p->index[i] = as_int64(p->index[i], shape.n_dim, block);
}

/* Bytes into self of each element of the block. */
static void compute_offsets(const struct aten_tensor *self, const int64_t *block, struct plan *p)
{
	struct walk w;
	int64_t n = 1;

	for (int i = 0; i < p->block_dims; i++)
		n = size_times(n, block[i]);
	if (!aten_computes())
		return;
	p->offset = aten_scratch((uint64_t)n, sizeof(*p->offset));
	memset(p->offset, 0, (size_t)n * sizeof(*p->offset));
	for (int d = 0; d < self->n_dim; d++) {
		struct aten_tensor *x = p->index[d];
		int64_t *out = p->offset, size = self->size[d], step = line_step(self, d);
		if (!x)
			continue;
		walk_begin(&w, p->block_dims, block);
		walk_add(&w, aten_data(x), x);
		for (bool more = walk_first(&w); more; more = walk_next(&w)) {
			int64_t i = elem_i64(x->dtype, w.p[0]);
			if (i < -size || i >= size)
				aten_fail("index %lld is out of bounds for dimension %d with size %lld", (long long)i, d, (long long)size);
			*out++ += (i < 0 ? i + size : i) * step;
		}
	}
}

static void add_dim(struct plan *p, int64_t size, int64_t step)
{
	if (p->n_dim >= ATEN_DIMS)
		aten_fail("the result has more than %d dimensions", ATEN_DIMS);
	p->size[p->n_dim] = size;
	p->self_step[p->n_dim++] = step;
}

static void make_plan(const struct aten_tensor *self, struct tensors indices, struct plan *p)
{
	int64_t block[ATEN_DIMS] = {0};
	int first = -1, last = -1, count = 0;

	memset(p, 0, sizeof(*p));
	set_indices(self, indices, p);
	for (int i = 0; i < self->n_dim; i++)
		if (p->index[i]) {
			first = first < 0 ? i : first;
			last = i;
			count++;
		}
	broadcast_indices(p, self->n_dim, block);
	bool together = count && last - first + 1 == count;
	for (int i = 0; i <= self->n_dim; i++) {
		if (count && i == (together ? first : 0)) {
			p->block_at = p->n_dim;
			for (int k = 0; k < p->block_dims; k++)
				add_dim(p, block[k], 0);
		}
		if (i < self->n_dim && !p->index[i])
			add_dim(p, self->size[i], line_step(self, i));
	}
	compute_offsets(self, block, p);
}

/* Walk operands: other, self, the offset to add to self. */
static void plan_walk(const struct plan *p, const struct aten_tensor *other, const struct aten_tensor *self, struct walk *w)
{
	int64_t step[ATEN_DIMS] = {0}, at = sizeof(*p->offset);

	for (int i = p->block_at + p->block_dims - 1; i >= p->block_at; i--) {
		step[i] = at;
		at *= p->size[i];
	}
	walk_begin(w, p->n_dim, p->size);
	walk_add(w, aten_data(other), other);
	walk_add_steps(w, aten_data(self), p->self_step);
	walk_add_steps(w, p->offset, step);
}

static int64_t offset_at(const struct walk *w)
{
	int64_t o;

	memcpy(&o, w->p[2], sizeof(o));
	return o;
}

/* The index, expanded to its block, reshaped to the number of dims of the result: at::detail::computeStride (torch 2.13,
 * aten/src/ATen/TensorUtils.cpp). The strides it gives to dims of 1 count when the result's order of dims is chosen. */
static void reshape_index(const struct plan *p, const struct aten_tensor *x, struct aten_tensor *v)
{
	const int64_t *size = p->size + p->block_at;
	int64_t stride[ATEN_DIMS], have = 1, want = 1, base;
	int to = p->n_dim - 1, skip = p->block_dims - x->n_dim;

	for (int i = 0; i < p->n_dim; i++) {
		v->size[i] = i >= p->block_at && i < p->block_at + p->block_dims ? p->size[i] : 1;
		v->stride[i] = 1;
	}
	for (int i = 0; i < p->block_dims; i++)
		stride[i] = i < skip || (x->size[i - skip] == 1 && size[i] != 1) ? 0 : x->stride[i - skip];
	base = p->block_dims ? stride[p->block_dims - 1] : 1;
	for (int i = p->block_dims - 1; i >= 0; i--) {
		want *= size[i];
		if (i && (size[i - 1] == 1 || stride[i - 1] == want * base))
			continue;
		for (; to >= 0 && (have < want || v->size[to] == 1); to--) {
			v->stride[to] = have * base;
			have *= v->size[to];
		}
		base = i ? stride[i - 1] : base;
		have = want = 1;
	}
}

/* An empty tensor with the layout of the result. */
static struct aten_tensor *plan_result(const struct plan *p, const struct aten_tensor *self)
{
	const struct aten_tensor *operand[ATEN_DIMS + 1];
	struct aten_tensor *shaped = aten_new(DTYPE_U8, 0, p->size, NULL);
	int n = 0, bytes = elem_bytes(self->dtype);
	struct aten_tensor *src = aten_view(shaped, 0, p->size, p->size, 0);

	/* Only their sizes and strides are used. */
	src->n_dim = p->n_dim;
	for (int i = 0; i < p->n_dim; i++) {
		src->size[i] = p->size[i];
		src->stride[i] = p->self_step[i] / bytes;
	}
	operand[n++] = src;
	for (int d = 0; d < self->n_dim && n < 8; d++) {
		const struct aten_tensor *x = p->index[d];
		if (!x)
			continue;
		struct aten_tensor *v = aten_view(shaped, 0, p->size, p->size, 0);
		v->n_dim = p->n_dim;
		reshape_index(p, x, v);
		operand[n++] = v;
	}
	return aten_elementwise(self->dtype, operand, n);
}

static void need_few(struct tensors indices)
{
	if (indices.n > ATEN_DIMS)
		aten_fail("more than %d indices", ATEN_DIMS);
}

struct aten_tensor *aten_index(struct aten_tensor *self, struct tensors indices)
{
	struct plan *p = aten_scratch(1, sizeof(*p));
	int bytes = elem_bytes(self->dtype);
	struct walk w;

	need_few(indices);
	make_plan(self, indices, p);
	struct aten_tensor *out = plan_result(p, self);
	plan_walk(p, out, self, &w);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		elem_copy(w.p[0], w.p[1] + offset_at(&w), bytes);
	return out;
}

/* ---- index_put ---- */

/* *p += *q */
void elem_add(int dtype, void *p, const void *q)
{
	if (elem_complex(dtype))
		elem_set_c128(dtype, p, elem_c128(dtype, p) + elem_c128(dtype, q));
	else if (elem_integral(dtype))
		elem_set_i64(dtype, p, (int64_t)((uint64_t)elem_i64(dtype, p) + (uint64_t)elem_i64(dtype, q)));
	else
		elem_set_f64(dtype, p, elem_f64(dtype, p) + elem_f64(dtype, q));
}

static void put_indexed(struct aten_tensor *self, struct tensors indices, struct aten_tensor *values, bool accumulate)
{
	struct plan *p = aten_scratch(1, sizeof(*p));
	int bytes = elem_bytes(self->dtype);
	int64_t size[ATEN_DIMS];
	struct walk w;

	if (values->dtype != self->dtype)
		aten_fail("Index put requires the source and destination dtypes match, got %s for the destination and "
			  "%s for the source.",
			  dtype_info(self->dtype)->name, dtype_info(values->dtype)->name);
	if (!aten_computes()) /* a mask's values would be needed */
		return;
	make_plan(self, indices, p);
	struct aten_tensor *shape = aten_new(DTYPE_U8, 0, p->size, NULL);
	shape->n_dim = p->n_dim;
	memcpy(shape->size, p->size, sizeof(p->size));
	int dims = aten_broadcast(shape, values, size);
	if (dims != p->n_dim || memcmp(size, p->size, (size_t)dims * sizeof(*size)))
		aten_fail("shape mismatch: value tensor cannot be broadcast to indexing result");
	plan_walk(p, values, self, &w);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		char *to = w.p[1] + offset_at(&w);
		if (accumulate)
			elem_add(self->dtype, to, w.p[0]);
		else
			elem_copy(to, w.p[0], bytes);
	}
}

struct aten_tensor *aten_index_put(struct aten_tensor *self, struct tensors indices, struct aten_tensor *values, bool accumulate)
{
	struct aten_tensor *out = aten_clone(self);
	need_few(indices);
	put_indexed(out, indices, values, accumulate);
	return out;
}

/* Also in place: out is self, then. */
void aten_index_put_out(struct aten_tensor *out, struct aten_tensor *self, struct tensors indices, struct aten_tensor *values,
			bool accumulate)
{
	if (out != self && (out->storage != self->storage || out->offset != self->offset))
		aten_copy(out, self);
	put_indexed(out, indices, values, accumulate);
}

/* ---- masks ---- */

static void need_mask(const struct aten_tensor *mask)
{
	if (mask->dtype != DTYPE_BOOL && mask->dtype != DTYPE_U8)
		aten_fail("expected BoolTensor for mask");
}

struct aten_tensor *aten_masked_select(struct aten_tensor *self, struct aten_tensor *mask)
{
	int64_t size[ATEN_DIMS], n = 0;
	int dims = aten_broadcast(self, mask, size), bytes = elem_bytes(self->dtype);
	struct walk w;

	need_mask(mask);
	aten_needs_values();
	walk_begin(&w, dims, size);
	walk_add(&w, aten_data(self), self);
	walk_add(&w, aten_data(mask), mask);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		n += *w.p[1] != 0;
	struct aten_tensor *out = aten_new(self->dtype, 1, &n, NULL);
	char *to = n ? aten_data(out) : NULL;
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		if (*w.p[1]) {
			elem_copy(to, w.p[0], bytes);
			to += bytes;
		}
	return out;
}

struct aten_tensor *aten_masked_scatter(struct aten_tensor *self, struct aten_tensor *mask, struct aten_tensor *source)
{
	int64_t size[ATEN_DIMS], left = aten_numel(source);
	int dims = aten_broadcast(self, mask, size), bytes = elem_bytes(self->dtype);
	struct aten_tensor *out = aten_new(self->dtype, dims, size, NULL), *src = aten_contiguous(source);
	const char *from = aten_data(src);

	need_mask(mask);
	if (source->dtype != self->dtype)
		aten_fail("masked_scatter: expected self and source to have same dtypes");
	aten_copy(out, self);
	struct walk w = WALK(out, mask);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		if (!*w.p[1])
			continue;
		if (!left--)
			aten_fail("Number of elements of source < number of ones in mask");
		elem_copy(w.p[0], from, bytes);
		from += bytes;
	}
	return out;
}

struct aten_tensor *aten_masked_scatter_backward(struct aten_tensor *grad_output, struct aten_tensor *mask, struct ints sizes)
{
	struct aten_tensor *out = aten_new(grad_output->dtype, (int)sizes.n, sizes.v, NULL);
	if (!aten_computes())
		return out;
	struct aten_tensor *v = aten_masked_select(grad_output, mask);
	uint64_t bytes = (uint64_t)aten_numel(v) * (uint64_t)elem_bytes(v->dtype);
	if (bytes > out->storage->bytes)
		aten_fail("the mask selects %lld elements, but the output has %lld", (long long)aten_numel(v), (long long)aten_numel(out));
	aten_fill_zero(out);
	if (bytes)
		memcpy(aten_data(out), aten_data(v), bytes);
	return out;
}

/* ---- by name ---- */

static void run_index(struct aten_call *c) { call_give(c, 0, aten_index(call_tensor(c, 0), call_tensors_or_none(c, 1))); }
static void run_index_put(struct aten_call *c) /* self, indices, values, accumulate */
{
	call_give(c, 0, aten_index_put(call_tensor(c, 0), call_tensors_or_none(c, 1), call_tensor(c, 2), call_bool(c, 3)));
}
static void run_index_put_(struct aten_call *c)
{
	put_indexed(call_tensor(c, 0), call_tensors_or_none(c, 1), call_tensor(c, 2), call_bool(c, 3));
	call_give(c, 0, call_tensor(c, 0));
}
static void run_masked_select(struct aten_call *c) { call_give(c, 0, aten_masked_select(call_tensor(c, 0), call_tensor(c, 1))); }
static void run_masked_scatter(struct aten_call *c)
{
	call_give(c, 0, aten_masked_scatter(call_tensor(c, 0), call_tensor(c, 1), call_tensor(c, 2)));
}

const struct aten_entry aten_index_entries[] = {
    {"_unsafe_index.Tensor", run_index},
    {"index.Tensor", run_index},
    {"index_put", run_index_put},
    {"index_put_", run_index_put_},
    {"masked_scatter", run_masked_scatter},
    {"masked_select", run_masked_select},
    {0},
};
