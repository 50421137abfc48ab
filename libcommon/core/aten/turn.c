/* Operators that move elements: flip, roll, a part of a tensor replaced, elements chosen by an index along a dim. */
#include "call.h"
#include "elem.h"
#include "ops.h"

static void run_flip(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0), *out = aten_like(self, self->dtype);
	struct ints dims = call_ints(c, 1);
	bool turned[ATEN_DIMS] = {0};
	for (int64_t i = 0; i < dims.n; i++) {
		int d = aten_dim(self, dims.v[i]);
		if (turned[d])
			aten_fail("dim %d appears multiple times in the list of dims", d);
		turned[d] = true;
	}
	int64_t step[ATEN_DIMS], skip = 0;
	int bytes = elem_bytes(self->dtype);
	for (int i = 0; i < self->n_dim; i++) {
		step[i] = (turned[i] ? -1 : 1) * self->stride[i] * bytes;
		skip += turned[i] && aten_numel(self) && aten_computes() ? (self->size[i] - 1) * self->stride[i] * bytes : 0;
	}
	struct walk w = WALK(out);
	walk_add_steps(&w, skip ? aten_data(self) + skip : aten_data(self), step);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		elem_copy(w.p[0], w.p[1], bytes);
	call_give(c, 0, out);
}

/* Dim by dim: swaps two slices. */
static struct aten_tensor *roll(struct aten_tensor *self, int d, int64_t shift)
{
	struct aten_tensor *out = aten_new(self->dtype, self->n_dim, self->size, NULL);
	int64_t n = self->size[d], by = n ? ((shift % n) + n) % n : 0;
	aten_copy(aten_slice_dim(out, d, by, n, 1), aten_slice_dim(self, d, 0, n - by, 1));
	aten_copy(aten_slice_dim(out, d, 0, by, 1), aten_slice_dim(self, d, n - by, n, 1));
	return out;
}
static void run_roll(struct aten_call *c) /* self, shifts, dims */
{
	struct aten_tensor *self = call_tensor(c, 0);
	int64_t all = aten_numel(self);
	struct ints shifts = call_ints(c, 1), dims = call_ints(c, 2);
	if (!shifts.n)
		aten_fail("`shifts` required");
	if (!dims.n && shifts.n == 1) { /* of the elements in a row */
		struct aten_tensor *out = roll(aten_reshape(self, &all, 1), 0, shifts.v[0]);
		call_give(c, 0, aten_reshape(out, self->size, self->n_dim));
		return;
	}
	if (dims.n != shifts.n)
		aten_fail("shifts and dimensions must align. shifts: %lld, dims:%lld", (long long)shifts.n, (long long)dims.n);
	struct aten_tensor *out = aten_clone_contiguous(self);
	for (int64_t i = 0; i < dims.n && all; i++)
		out = roll(out, aten_dim(self, dims.v[i]), shifts.v[i]);
	call_give(c, 0, out);
}

/* clone_preserve_strides (aten/src/ATen/FunctionalInverses.cpp): including gaps, unless elements overlap. */
static struct aten_tensor *strides_kept(const struct aten_tensor *t)
{
	struct aten_tensor *out = NULL;
	for (int i = 0; i < t->n_dim && !out; i++)
		if (!t->stride[i] && t->size[i] > 1)
			out = aten_like(t, t->dtype);
	if (!out)
		out = aten_new(t->dtype, t->n_dim, t->size, t->stride);
	aten_copy(out, t);
	return out;
}
static void run_slice_scatter(struct aten_call *c) /* self, src, dim, start, end, step */
{
	struct aten_tensor *out = strides_kept(call_tensor(c, 0));
	int64_t start = call_int_or(c, 3, 0), end = call_int_or(c, 4, INT64_MAX);
	aten_copy(aten_slice(out, call_int(c, 2), &start, &end, call_int(c, 5)), call_tensor(c, 1));
	call_give(c, 0, out);
}
static void run_select_scatter(struct aten_call *c) /* self, src, dim, index */
{
	struct aten_tensor *out = strides_kept(call_tensor(c, 0));
	aten_copy(aten_select(out, call_int(c, 2), call_int(c, 3)), call_tensor(c, 1));
	call_give(c, 0, out);
}
static void run_diagonal_scatter(struct aten_call *c) /* self, src, offset, dim1, dim2 */
{
	struct aten_tensor *out = strides_kept(call_tensor(c, 0));
	aten_copy(aten_diagonal(out, call_int(c, 2), call_int(c, 3), call_int(c, 4)), call_tensor(c, 1));
	call_give(c, 0, out);
}

/* ---- by an index ---- */

static int64_t index_at(const struct aten_tensor *index, const char *p, int64_t n, int dim)
{
	int64_t k = elem_i64(index->dtype, p);
	if (k < 0 || k >= n)
		aten_fail("index %lld is out of bounds for dimension %d with size %lld", (long long)k, dim, (long long)n);
	return k;
}
static void need_index(const struct aten_tensor *index)
{
	if (aten_numel(index) && index->dtype != DTYPE_I64 && index->dtype != DTYPE_I32)
		aten_fail("expected an index of int32 or int64, got %s", dtype_name(index->dtype));
}

static struct aten_tensor *gather(struct aten_tensor *self, int64_t dim_, struct aten_tensor *index)
{
	int dim = aten_dim(self, dim_), bytes = elem_bytes(self->dtype);
	need_index(index);
	if (aten_numel(index) && index->n_dim != self->n_dim && (index->n_dim > 1 || self->n_dim > 1))
		aten_fail("Index tensor must have the same number of dimensions as input tensor");
	struct aten_tensor *out = aten_new(self->dtype, index->n_dim, index->size, NULL);
	for (int i = 0; i < self->n_dim && index->n_dim == self->n_dim && aten_numel(index); i++)
		if (i != dim && index->size[i] > self->size[i])
			aten_fail("size %lld of the index at dimension %d is larger than the input's", (long long)index->size[i], i);
	int64_t n = line_size(self, dim), line = line_step(self, dim), step[ATEN_DIMS];
	for (int i = 0; i < index->n_dim; i++)
		step[i] = i == dim ? 0 : i < self->n_dim ? self->stride[i] * bytes : 0;
	struct walk w = WALK(out, index);
	walk_add_steps(&w, aten_data(self), step);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		elem_copy(w.p[0], w.p[2] + index_at(index, w.p[1], n, dim) * line, bytes);
	return out;
}
static void run_gather(struct aten_call *c) { call_give(c, 0, gather(call_tensor(c, 0), call_int(c, 1), call_tensor(c, 2))); }

struct aten_tensor *aten_index_select(struct aten_tensor *self, int64_t dim_, struct aten_tensor *index)
{
	int dim = aten_dim(self, dim_);
	int64_t size[ATEN_DIMS], n = aten_numel(index), have = line_size(self, dim);
	need_index(index);
	if (index->n_dim > 1)
		aten_fail("index_select(): Index is supposed to be a vector");
	if (!self->n_dim && n != 1)
		aten_fail("index_select(): Index to scalar can have only 1 value, got %lld value(s)", (long long)n);
	memcpy(size, self->size, sizeof(size));
	size[dim] = n;
	struct aten_tensor *out = aten_new(self->dtype, self->n_dim, size, NULL);
	int64_t step = index->n_dim ? index->stride[0] * elem_bytes(index->dtype) : 0;
	for (int64_t i = 0; i < n && aten_computes(); i++) {
		int64_t k = index_at(index, aten_data(index) + i * step, have, dim);
		if (!self->n_dim)
			aten_copy(out, self);
		else
			aten_copy(aten_slice_dim(out, dim, i, i + 1, 1), aten_slice_dim(self, dim, k, k + 1, 1));
	}
	return out;
}
static void run_index_select(struct aten_call *c)
{
	call_give(c, 0, aten_index_select(call_tensor(c, 0), call_int(c, 1), call_tensor(c, 2)));
}

/* By positions in a flat view of all elements (aten/src/ATen/native/TensorAdvancedIndexing.cpp, take). */
static void run_take(struct aten_call *c) /* self, index */
{
	struct aten_tensor *self = call_tensor(c, 0), *index = call_tensor(c, 1), *out;
	int64_t all = aten_numel(self), steps[ATEN_DIMS];
	int bytes = elem_bytes(self->dtype);
	if (index->dtype != DTYPE_I64)
		aten_fail("take(): Expected a long tensor for index, but got %s", dtype_name(index->dtype));
	if (!all && aten_numel(index))
		aten_fail("take(): tried to take from an empty tensor");
	out = aten_new(self->dtype, index->n_dim, index->size, NULL);
	for (int i = 0; i < self->n_dim; i++)
		steps[i] = self->stride[i] * bytes;
	struct walk w = WALK(out, index);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int64_t at = elem_i64(DTYPE_I64, w.p[1]);
		if (at < -all || at >= all)
			aten_fail("out of range: tried to access index %lld on a tensor of %lld elements.", (long long)at, (long long)all);
		const char *from = aten_data(self);
		at += at < 0 ? all : 0;
		for (int i = self->n_dim - 1; i >= 0; at /= self->size[i--])
			from += at % self->size[i] * steps[i];
		elem_copy(w.p[0], from, bytes);
	}
	call_give(c, 0, out);
}

/* Rows of weight: the indices' sizes and one more (aten/src/ATen/native/Embedding.cpp). */
static void run_embedding(struct aten_call *c) /* weight, indices, ... */
{
	struct aten_tensor *weight = call_tensor(c, 0), *index = call_tensor(c, 1);
	int64_t size[ATEN_DIMS], all = aten_numel(index);
	if (weight->n_dim != 2)
		aten_fail("'weight' must be 2-D");
	struct aten_tensor *rows = aten_index_select(weight, 0, aten_reshape(index, &all, 1));
	if (index->n_dim == ATEN_DIMS)
		aten_fail("indices with %d dimensions are not supported", ATEN_DIMS);
	memcpy(size, index->size, sizeof(size));
	size[index->n_dim] = weight->size[1];
	call_give(c, 0, aten_reshape(rows, size, index->n_dim + 1));
}

/* ---- composites ---- */

/* aten/src/ATen/native/ReduceOps.cpp, diff */
static void run_diff(struct aten_call *c) /* self, n, dim, prepend, append */
{
	struct aten_tensor *self = call_tensor(c, 0), *list[3], *before = call_tensor_or_none(c, 3), *after = call_tensor_or_none(c, 4);
	int64_t n = 0, dim = call_int(c, 2);
	if (!self->n_dim)
		aten_fail("diff expects input to be at least one-dimensional");
	if (!call_int(c, 1)) {
		call_give(c, 0, aten_to_copy(self, self->dtype, ATEN_PRESERVE));
		return;
	}
	if (before)
		list[n++] = before;
	list[n++] = self;
	if (after)
		list[n++] = after;
	int d = aten_dim(self, dim);
	if (n > 1)
		self = aten_cat((struct tensors){list, n}, d);
	int64_t order = call_int(c, 1), have = self->size[d];
	if (order < 0)
		aten_fail("order must be non-negative but got %lld", (long long)order);
	if (order >= have) {
		call_give(c, 0, aten_narrow(self, d, 0, 0));
		return;
	}
	for (; order > 0; order--, have--) {
		if (!aten_computes() && order > 2) { /* as far as sizes are concerned, those between the first and the last are the same */
			self = aten_narrow(self, d, 0, have -= order - 2);
			order = 2;
		}
		struct aten_tensor *a = aten_narrow(self, d, 1, have - 1), *b = aten_narrow(self, d, 0, have - 1);
		self = self->dtype == DTYPE_BOOL ? aten_logical_xor(a, b) : aten_sub(a, b, 1);
	}
	call_give(c, 0, self);
}

/* aten/src/ATen/native/PixelShuffle.cpp; entry.data: inverse */
static void run_pixel_shuffle(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	int64_t r = call_int(c, 1), shape[ATEN_DIMS], order[ATEN_DIMS], n = self->n_dim, b = n - 3;
	bool back = c->entry->data != NULL;
	if (n < 3 || n > ATEN_DIMS - 2 || r <= 0 || r > INT32_MAX ||
	    (back ? self->size[n - 1] % r || self->size[n - 2] % r : self->size[n - 3] % (r * r)))
		aten_fail("sizes do not match pixel shuffling by %lld", (long long)r);
	memcpy(shape, self->size, sizeof(shape));
	for (int i = 0; i < b; i++)
		order[i] = i;
	int64_t channels = self->size[b], high = self->size[b + 1], wide = self->size[b + 2];
	const int64_t apart[5] = {channels / (r * r), r, r, high, wide}, cells[5] = {channels, high / r, r, wide / r, r};
	const int64_t to[5] = {0, 3, 1, 4, 2}, from[5] = {0, 2, 4, 1, 3};
	for (int i = 0; i < 5; i++) {
		shape[b + i] = (back ? cells : apart)[i];
		order[b + i] = b + (back ? from : to)[i];
	}
	self = aten_clone_contiguous(aten_permute(aten_reshape(self, shape, n + 2), order, n + 2));
	shape[b] = back ? size_times(channels, r * r) : channels / (r * r);
	shape[b + 1] = back ? high / r : size_times(high, r);
	shape[b + 2] = back ? wide / r : size_times(wide, r);
	call_give(c, 0, aten_reshape(self, shape, n));
}

/* ---- queries and assertions in graphs ---- */

static void run_sym_is_contiguous(struct aten_call *c) /* self, memory_format */
{
	struct aten_tensor *self = call_tensor(c, 0);
	bool plain = GIVEN(c, 1).kind == ATEN_NONE || GIVEN(c, 1).i == ATEN_CONTIGUOUS;
	c->ret[0] = aten_bool(plain ? aten_is_contiguous(self) : aten_channels_last(self));
}

static void run_item(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	if (aten_numel(self) != 1)
		aten_fail("a Tensor with %lld elements cannot be converted to Scalar", (long long)aten_numel(self));
	if (!aten_computes())
		aten_fail("the result depends on values");
	const char *p = aten_data(self);
	double complex z;
	if (elem_integral(self->dtype)) {
		c->ret[0] = self->dtype == DTYPE_BOOL ? aten_bool(elem_true(self->dtype, p)) : aten_int(elem_i64(self->dtype, p));
		return;
	}
	aten_convert(DTYPE_C128, &z, sizeof(z), self->dtype, p, 0, 1); /* of any kind, including 8-bit ones and complex32 */
	c->ret[0] = aten_is_complex(self->dtype) ? (struct aten_value){.kind = ATEN_COMPLEX, .z = z} : aten_float(creal(z));
}

static void run_sym(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	char what = *(const char *)c->entry->data;
	if (what == 'n')
		call_give_int(c, 0, aten_numel(self));
	else if (what == 'o')
		call_give_int(c, 0, self->offset);
	else
		call_give_int(c, 0, (what == 's' ? self->size : self->stride)[aten_dim(self, call_int(c, 1))]);
}
static void run_assert_metadata(struct aten_call *c) /* a, size, stride, dtype, device, layout */
{
	const struct aten_tensor *self = call_tensor(c, 0);
	for (uint32_t i = 1; i < 3; i++) {
		struct ints want = call_ints(c, i);
		if (want.v &&
		    (want.n != self->n_dim || memcmp(want.v, i == 1 ? self->size : self->stride, (size_t)want.n * sizeof(*want.v))))
			aten_fail("Tensor %s mismatch!", i == 1 ? "sizes" : "strides");
	}
	if (call_dtype_or(c, 3, self->dtype) != self->dtype)
		aten_fail("Tensor dtype mismatch! Expected: %s Got: %s", dtype_name(call_dtype_or(c, 3, 0)), dtype_name(self->dtype));
}
static void run_assert_scalar(struct aten_call *c) /* self, assert_msg */
{
	if (call_float(c, 0) == 0)
		aten_fail("%s", call_string_or(c, 1, "assertion of the graph failed"));
}

const struct aten_entry aten_turn_entries[] = {
    {"_local_scalar_dense", run_item},
    {"item", run_item},
    {"sym_is_contiguous", run_sym_is_contiguous},
    {"_assert_scalar", run_assert_scalar},
    {"_assert_tensor_metadata", run_assert_metadata},
    {"diff", run_diff},
    {"pixel_shuffle", run_pixel_shuffle},
    {"pixel_unshuffle", run_pixel_shuffle, "back"},
    {"sym_numel", run_sym, "numel"},
    {"sym_size.int", run_sym, "size"},
    {"sym_storage_offset", run_sym, "offset"},
    {"sym_stride.int", run_sym, "t"},
    {"diagonal_scatter", run_diagonal_scatter},
    {"embedding", run_embedding},
    {"flip", run_flip},
    {"gather", run_gather},
    {"index_select", run_index_select},
    {"roll", run_roll},
    {"select_scatter", run_select_scatter},
    {"slice_scatter", run_slice_scatter},
    {"take", run_take},
    {0},
};
