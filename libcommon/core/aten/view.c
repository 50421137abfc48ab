/* Operators that return views: a new handle to the same storage. */
#include "call.h"
#include "elem.h"
#include "ops.h"

struct aten_tensor *aten_permute(const struct aten_tensor *self, const int64_t *dims, int64_t n)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	bool seen[ATEN_DIMS] = {0};
	if (n != self->n_dim)
		aten_fail("%lld dimensions given to permute %d", (long long)n, self->n_dim);
	for (int i = 0; i < n; i++) {
		int d = aten_dim(self, dims[i]);
		if (seen[d])
			aten_fail("duplicate dimension %d", d);
		seen[d] = true;
		size[i] = self->size[d];
		stride[i] = self->stride[d];
	}
	return aten_view(self, (int)n, size, stride, self->offset);
}

/* Elements start, start + step ... before end, of one dimension. */
struct aten_tensor *aten_slice_dim(const struct aten_tensor *t, int d, int64_t start, int64_t end, int64_t step)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	if (!t->n_dim)
		aten_fail("a 0-d tensor cannot be sliced");
	memcpy(size, t->size, sizeof(size));
	memcpy(stride, t->stride, sizeof(stride));
	size[d] = end > start ? (end - start - 1) / step + 1 : 0;
	stride[d] = size_times(stride[d], step);
	return aten_view(t, t->n_dim, size, stride, t->offset + start * t->stride[d]);
}

struct aten_tensor *aten_narrow(const struct aten_tensor *self, int64_t dim, int64_t start, int64_t length)
{
	int d = aten_dim(self, dim);
	int64_t n = line_size(self, d), from = start < 0 ? start + n : start;
	if (from < 0 || length < 0 || from > n || length > n - from)
		aten_fail("%lld elements starting at %lld are out of range for size %lld", (long long)length, (long long)start,
			  (long long)n);
	return aten_slice_dim(self, d, from, from + length, 1);
}

static int64_t clamp(int64_t v, int64_t n)
{
	v = v < 0 ? v + n : v;
	return v < 0 ? 0 : v > n ? n : v;
}

struct aten_tensor *aten_slice(const struct aten_tensor *self, int64_t dim, const int64_t *start, const int64_t *end, int64_t step)
{
	int d = aten_dim(self, dim);
	int64_t n = line_size(self, d);
	if (step < 1)
		aten_fail("invalid step %lld", (long long)step);
	return aten_slice_dim(self, d, start ? clamp(*start, n) : 0, end ? clamp(*end, n) : n, step);
}

/* ---- reshape ---- */

/* Strides with which the same memory has the new sizes; false if a copy is needed (aten/src/ATen/TensorUtils.cpp,
 * computeStride). Dimensions are merged while contiguous, and split again. */
static bool view_strides(const struct aten_tensor *t, int n_dim, const int64_t *size, int64_t *stride)
{
	if (!aten_numel(t)) {
		bool same = n_dim == t->n_dim && !memcmp(size, t->size, (size_t)n_dim * sizeof(*size));
		if (same)
			memcpy(stride, t->stride, (size_t)n_dim * sizeof(*stride));
		else
			aten_contiguous_strides(n_dim, size, stride);
		return true;
	}
	int at = n_dim - 1;
	int64_t base = t->n_dim ? t->stride[t->n_dim - 1] : 1, run = 1, made = 1;
	for (int i = t->n_dim - 1; i >= 0; i--) {
		run *= t->size[i];
		if (i && (t->size[i - 1] == 1 || t->stride[i - 1] == run * base))
			continue;
		while (at >= 0 && (made < run || size[at] == 1)) {
			stride[at] = made * base;
			made *= size[at--];
		}
		if (made != run)
			return false;
		if (i) {
			base = t->stride[i - 1];
			run = made = 1;
		}
	}
	if (!t->n_dim)
		for (; at >= 0; at--)
			stride[at] = 1;
	return at < 0;
}

/* must: without a copy */
static struct aten_tensor *reshaped(const struct aten_tensor *self, const int64_t *shape, int64_t n, bool must)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS], known = 1, all = aten_numel(self);
	int open = -1;
	if (n < 0 || n > ATEN_DIMS)
		aten_fail("too many dimensions: %lld", (long long)n);
	for (int i = 0; i < n; i++) {
		size[i] = shape[i];
		if (shape[i] < -1 || (shape[i] == -1 && open >= 0))
			aten_fail("invalid size %lld", (long long)shape[i]);
		if (shape[i] == -1)
			open = i;
		else
			known = size_times(known, shape[i]);
	}
	if (open >= 0) {
		size[open] = known ? all / known : 0;
		known *= size[open];
	}
	if (known != all)
		aten_fail("the shape has %lld elements, but the tensor has %lld", (long long)all, (long long)known);
	if (view_strides(self, (int)n, size, stride))
		return aten_view(self, (int)n, size, stride, self->offset);
	if (must)
		aten_fail("view size is not compatible with input tensor's size and stride; use reshape");
	aten_contiguous_strides((int)n, size, stride);
	return aten_view(aten_clone_contiguous(self), (int)n, size, stride, 0);
}

struct aten_tensor *aten_reshape(const struct aten_tensor *self, const int64_t *shape, int64_t n)
{
	return reshaped(self, shape, n, false);
}

/* ---- the same bytes as something else ---- */

/* aten/src/ATen/native/TensorConversions.cpp, view_dtype */
struct aten_tensor *aten_as_dtype(const struct aten_tensor *self, int dtype)
{
	const struct dtype_info *to = dtype_info(dtype);
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS], offset = self->offset;
	int from = dtype_info(self->dtype)->bytes, last = self->n_dim - 1;
	if (!to)
		aten_fail("unknown dtype %d", dtype);
	memcpy(size, self->size, sizeof(size));
	memcpy(stride, self->stride, sizeof(stride));
	if (to->bytes != from && (last < 0 || stride[last] != 1))
		aten_fail("the last dimension must be contiguous to view it as %s", to->name);
	if (to->bytes < from) {
		int k = from / to->bytes;
		for (int i = 0; i < last; i++)
			stride[i] *= k;
		size[last] *= k;
		offset *= k;
	} else if (to->bytes > from) {
		int k = to->bytes / from;
		bool fits = size[last] % k == 0 && offset % k == 0;
		for (int i = 0; i < last; i++) {
			fits = fits && stride[i] % k == 0;
			stride[i] /= k;
		}
		if (!fits)
			aten_fail("sizes, strides or offset are not divisible by %d to view it as %s", k, to->name);
		size[last] /= k;
		offset /= k;
	}
	return aten_view_dtype(self, dtype, self->n_dim, size, stride, offset);
}

struct aten_tensor *aten_view_as_real(const struct aten_tensor *self)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	int n = self->n_dim, to = aten_real_of(self->dtype);
	if (!aten_is_complex(self->dtype) || n == ATEN_DIMS)
		aten_fail("view_as_real is not supported for %s", dtype_name(self->dtype));
	for (int i = 0; i < n; i++) {
		size[i] = self->size[i];
		stride[i] = self->stride[i] * 2;
	}
	size[n] = 2;
	stride[n] = 1;
	return aten_view_dtype(self, to, n + 1, size, stride, self->offset * 2);
}

struct aten_tensor *aten_view_as_complex(const struct aten_tensor *self)
{
	int64_t stride[ATEN_DIMS];
	int n = self->n_dim - 1, to = aten_complex_of(self->dtype);
	if (n < 0 || self->size[n] != 2 || self->stride[n] != 1 || self->offset % 2 ||
	    (self->dtype != DTYPE_F64 && self->dtype != DTYPE_F32 && self->dtype != DTYPE_F16))
		aten_fail("only contiguous pairs of floats can be viewed as complex numbers");
	for (int i = 0; i < n; i++) {
		if (self->stride[i] % 2)
			aten_fail("odd stride %lld of dimension %d", (long long)self->stride[i], i);
		stride[i] = self->stride[i] / 2;
	}
	return aten_view_dtype(self, to, n, self->size, stride, self->offset / 2);
}

/* ---- dimensions inserted, removed, expanded ---- */

/* torch/_prims_common: an inserted dim of size 1 has the stride of everything after it. */
struct aten_tensor *aten_unsqueeze(const struct aten_tensor *self, int64_t dim)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	int n = self->n_dim + 1, d = (int)(dim < 0 ? dim + n : dim);
	if (d < 0 || d >= n || n > ATEN_DIMS)
		aten_fail("dimension %lld is out of range for a %dD tensor", (long long)dim, n);
	for (int i = 0, k = 0; i < n; i++) {
		size[i] = i == d ? 1 : self->size[k];
		stride[i] = i == d ? k < self->n_dim ? self->size[k] * self->stride[k] : 1 : self->stride[k];
		k += i != d;
	}
	return aten_view(self, n, size, stride, self->offset);
}

static struct aten_tensor *squeeze_where(const struct aten_tensor *self, const bool *gone)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	int n = 0;
	for (int i = 0; i < self->n_dim; i++)
		if (!gone[i] || self->size[i] != 1) {
			size[n] = self->size[i];
			stride[n++] = self->stride[i];
		}
	return aten_view(self, n, size, stride, self->offset);
}

static struct aten_tensor *squeeze_dims(const struct aten_tensor *t, struct ints dims)
{
	bool gone[ATEN_DIMS] = {0};
	for (int64_t k = 0; k < dims.n; k++)
		gone[aten_dim(t, dims.v[k])] = true;
	return squeeze_where(t, gone);
}

struct aten_tensor *aten_squeeze_dim(const struct aten_tensor *self, int64_t dim) { return squeeze_dims(self, (struct ints){&dim, 1}); }

/* aten/src/ATen/ExpandUtils.cpp, inferExpandGeometry. */
struct aten_tensor *aten_expand(const struct aten_tensor *self, const int64_t *want, int64_t n)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	int skip = (int)n - self->n_dim;
	if (skip < 0 || n > ATEN_DIMS)
		aten_fail("a %dD tensor cannot be expanded to %lld dimensions", self->n_dim, (long long)n);
	for (int i = (int)n - 1; i >= 0; i--) {
		int64_t have = i < skip ? 1 : self->size[i - skip];
		size[i] = want[i] == -1 && i >= skip ? have : want[i];
		if (size[i] < 0 || (size[i] != have && have != 1))
			aten_fail("size %lld cannot be expanded to %lld at dimension %d", (long long)have, (long long)want[i], i);
		stride[i] = i < skip ? (i + 1 < n ? size_times(size[i + 1], stride[i + 1]) : 1) : self->stride[i - skip];
		if (size[i] != have)
			stride[i] = 0;
		else if (i < skip && size[i] != 1)
			stride[i] = 0;
	}
	return aten_view(self, (int)n, size, stride, self->offset);
}

struct aten_tensor *aten_transpose(const struct aten_tensor *self, int64_t a, int64_t b)
{
	int64_t order[ATEN_DIMS];
	int x = aten_dim(self, a), y = aten_dim(self, b);
	for (int i = 0; i < self->n_dim; i++)
		order[i] = i == x ? y : i == y ? x : i;
	return aten_permute(self, order, self->n_dim);
}

struct aten_tensor *aten_select(const struct aten_tensor *self, int64_t dim, int64_t index)
{
	if (!self->n_dim)
		aten_fail("select() cannot be applied to a 0-dim tensor");
	int d = aten_dim(self, dim);
	int64_t at = index < 0 ? index + self->size[d] : index;
	if (at < 0 || at >= self->size[d])
		aten_fail("index %lld is out of range for size %lld", (long long)index, (long long)self->size[d]);
	return aten_squeeze_dim(aten_slice_dim(self, d, at, at + 1, 1), d);
}

/* The dims in a list move to these positions, the others stay in order (aten/src/ATen/native/TensorShape.cpp, movedim). */
static struct aten_tensor *movedims(const struct aten_tensor *self, struct ints from, struct ints to)
{
	int64_t order[ATEN_DIMS];
	bool used[ATEN_DIMS] = {0}, placed[ATEN_DIMS] = {0};
	if (from.n != to.n)
		aten_fail("%lld source dimensions for %lld destinations", (long long)from.n, (long long)to.n);
	for (int64_t k = 0; k < from.n; k++) {
		int d = aten_dim(self, from.v[k]), p = aten_dim(self, to.v[k]);
		if (used[d] || placed[p])
			aten_fail("duplicate dimension %d", used[d] ? d : p);
		used[d] = placed[p] = true;
		order[p] = d;
	}
	for (int i = 0, d = 0; i < self->n_dim; i++) {
		if (placed[i])
			continue;
		while (used[d])
			d++;
		order[i] = d++;
	}
	return aten_permute(self, order, self->n_dim);
}

struct aten_tensor *aten_movedim(const struct aten_tensor *self, int64_t from, int64_t to)
{
	return movedims(self, (struct ints){&from, 1}, (struct ints){&to, 1});
}

/* aten/src/ATen/native/TensorShape.cpp, diagonal */
struct aten_tensor *aten_diagonal(const struct aten_tensor *self, int64_t offset, int64_t dim1, int64_t dim2)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	int a = aten_dim(self, dim1), b = aten_dim(self, dim2), n = 0;
	if (a == b)
		aten_fail("diagonal dimensions cannot be identical %d", a);
	int64_t rows = self->size[a] + (offset < 0 ? offset : 0), cols = self->size[b] - (offset > 0 ? offset : 0);
	for (int i = 0; i < self->n_dim; i++)
		if (i != a && i != b) {
			size[n] = self->size[i];
			stride[n++] = self->stride[i];
		}
	size[n] = rows < cols ? rows : cols;
	size[n] = size[n] > 0 ? size[n] : 0;
	stride[n++] = self->stride[a] + self->stride[b];
	int64_t skip = !size[n - 1] ? 0 : offset < 0 ? -offset * self->stride[a] : offset * self->stride[b];
	return aten_view(self, n, size, stride, self->offset + skip);
}

/* aten/src/ATen/native/TensorShape.cpp, unfold */
static struct aten_tensor *unfold(const struct aten_tensor *self, int64_t dim, int64_t length, int64_t step)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	int d = aten_dim(self, dim), n = self->n_dim;
	int64_t have = n ? self->size[d] : 1;
	if (length < 0 || length > have || step <= 0 || n == ATEN_DIMS)
		aten_fail("windows of %lld with step %lld do not fit size %lld", (long long)length, (long long)step, (long long)have);
	for (int i = 0; i < n; i++) {
		size[i] = i == d ? (have - length) / step + 1 : self->size[i];
		stride[i] = i == d ? size_times(step, self->stride[i]) : self->stride[i];
	}
	size[n] = length;
	stride[n] = n ? self->stride[d] : 1;
	return aten_view(self, n + 1, size, stride, self->offset);
}

static struct aten_tensor *flatten(const struct aten_tensor *self, int64_t start, int64_t end)
{
	int64_t shape[ATEN_DIMS], all = 1;
	int a = aten_dim(self, start), b = aten_dim(self, end), n = 0;
	if (a > b)
		aten_fail("flatten() has invalid args: start_dim cannot come after end_dim");
	if (self->n_dim && a == b)
		return aten_alias(self);
	for (int i = a; i <= b && i < self->n_dim; i++)
		all *= self->size[i];
	for (int i = 0; i < self->n_dim; i++)
		if (i == a)
			shape[n++] = all;
		else if (i < a || i > b)
			shape[n++] = self->size[i];
	if (!self->n_dim)
		shape[n++] = 1;
	return aten_reshape(self, shape, n);
}

static struct aten_tensor *unflatten(const struct aten_tensor *self, int64_t dim, struct ints sizes)
{
	int64_t shape[ATEN_DIMS], all = 1;
	int d = aten_dim(self, dim), k = 0, open = -1;
	if (self->n_dim + sizes.n - 1 > ATEN_DIMS)
		aten_fail("too many dimensions: %lld", (long long)sizes.n);
	for (int i = 0; i < self->n_dim; i++)
		for (int64_t j = 0; j < (i == d ? sizes.n : 1); j++) {
			shape[k] = i == d ? sizes.v[j] : self->size[i];
			if (i == d && sizes.v[j] == -1)
				open = k;
			else if (i == d && (sizes.v[j] < 0 || __builtin_mul_overflow(all, sizes.v[j], &all)))
				aten_fail("unflatten: invalid size %lld", (long long)sizes.v[j]);
			k++;
		}
	if (open >= 0)
		shape[open] = all ? self->size[d] / all : 0;
	return reshaped(self, shape, k, true);
}

/* ---- several ---- */

/* Room for n items, one per part. */
static void *for_parts(int64_t n, uint64_t bytes_each)
{
	enum { MOST = 1 << 20 }; /* a handle is a kilobyte */
	if (n > MOST)
		aten_fail("%lld pieces are too many; at most %d are supported", (long long)n, MOST);
	return aten_scratch((uint64_t)n, bytes_each);
}

static void give_parts(struct aten_call *c, struct ints sizes, int64_t dim)
{
	const struct aten_tensor *self = call_tensor(c, 0);
	struct aten_tensor **part = for_parts(sizes.n, sizeof(*part));
	int d = aten_dim(self, dim);
	int64_t at = 0;
	for (int64_t k = 0; k < sizes.n; k++, at += sizes.v[k - 1]) {
		if (sizes.v[k] < 0 || sizes.v[k] > line_size(self, d) - at)
			aten_fail("split sizes do not sum to %lld", (long long)line_size(self, d));
		part[k] = aten_slice_dim(self, d, at, at + sizes.v[k], 1);
	}
	if (at != line_size(self, d))
		aten_fail("split sizes sum to %lld, not %lld", (long long)at, (long long)line_size(self, d));
	call_give_list(c, 0, (struct tensors){part, sizes.n});
}

static void give_split(struct aten_call *c, int64_t each, int64_t n, int64_t dim)
{
	const struct aten_tensor *self = call_tensor(c, 0);
	int64_t have = line_size(self, aten_dim(self, dim)), *sizes = for_parts(n, sizeof(*sizes));
	for (int64_t k = 0; k < n; k++)
		sizes[k] = have - k * each < each ? have - k * each : each;
	give_parts(c, (struct ints){sizes, n}, dim);
}

static void run_split(struct aten_call *c)
{
	const struct aten_tensor *self = call_tensor(c, 0);
	int64_t each = call_int(c, 1), have = line_size(self, aten_dim(self, call_int(c, 2)));
	if (each < 0 || (!each && have))
		aten_fail("split expects split_size be non-negative, but got split_size=%lld", (long long)each);
	give_split(c, each, each && have ? have / each + (have % each != 0) : 1, call_int(c, 2));
}

static void run_chunk(struct aten_call *c)
{
	const struct aten_tensor *self = call_tensor(c, 0);
	int64_t n = call_int(c, 1), have = line_size(self, aten_dim(self, call_int(c, 2)));
	if (n <= 0)
		aten_fail("chunk expects `chunks` to be greater than 0, got: %lld", (long long)n);
	int64_t each = have / n + (have % n != 0);
	give_split(c, each, each ? have / each + (have % each != 0) : n, call_int(c, 2)); /* no elements: as many as requested */
}

static void run_split_with_sizes(struct aten_call *c) { give_parts(c, call_ints(c, 1), call_int(c, 2)); }

static void run_unbind(struct aten_call *c)
{
	const struct aten_tensor *self = call_tensor(c, 0);
	int64_t n = self->n_dim ? self->size[aten_dim(self, call_int(c, 1))] : 0;
	struct aten_tensor **part = for_parts(n, sizeof(*part));
	if (!self->n_dim)
		aten_fail("dimension specified as %lld but tensor has no dimensions", (long long)call_int(c, 1));
	for (int64_t k = 0; k < n; k++)
		part[k] = aten_select(self, call_int(c, 1), k);
	call_give_list(c, 0, (struct tensors){part, n});
}

/* ---- by name ---- */

/* Overloads of self alone, and of self and a list of integers. */
#define RUN(name, value) \
	static void run_##name(struct aten_call *c) \
	{ \
		struct aten_tensor *self = call_tensor(c, 0); \
		call_give(c, 0, value); \
	}
#define RUN_INTS(name, value) \
	static void run_##name(struct aten_call *c) \
	{ \
		struct ints list = call_ints(c, 1); \
		const struct aten_tensor *self = call_tensor(c, 0); \
		call_give(c, 0, value); \
	}
static struct aten_tensor *squeeze_all(const struct aten_tensor *t)
{
	bool gone[ATEN_DIMS];
	memset(gone, true, sizeof(gone));
	return squeeze_where(t, gone);
}
static struct aten_tensor *slice_of_call(const struct aten_call *c)
{
	int64_t start = call_int_or(c, 2, 0), end = call_int_or(c, 3, INT64_MAX);
	return aten_slice(call_tensor(c, 0), call_int(c, 1), &start, &end, call_int(c, 4));
}
static struct aten_tensor *strided_of_call(const struct aten_call *c)
{
	const struct aten_tensor *self = call_tensor(c, 0);
	struct ints size = call_ints(c, 1), stride = call_ints(c, 2);
	if (size.n != stride.n)
		aten_fail("mismatch in length of strides and shape");
	return aten_view(self, (int)size.n, size.v, stride.v, call_int_or(c, 3, self->offset));
}
static struct aten_tensor *transposed_or_self(const struct aten_tensor *t)
{
	if (t->n_dim > 2)
		aten_fail("t() expects a tensor with <= 2 dimensions, but self is %dD", t->n_dim);
	return t->n_dim < 2 ? aten_alias(t) : aten_transpose(t, 0, 1);
}
static struct aten_tensor *like_sizes(const struct aten_call *c)
{
	const struct aten_tensor *other = call_tensor(c, 1);
	return reshaped(call_tensor(c, 0), other->size, other->n_dim, true);
}

RUN(alias, aten_alias(self))
RUN_INTS(view, reshaped(self, list.v, list.n, true))
RUN_INTS(reshape, aten_reshape(self, list.v, list.n))
RUN_INTS(permute, aten_permute(self, list.v, list.n))
RUN_INTS(movedim, movedims(self, list, call_ints(c, 2)))
RUN(transpose, aten_transpose(self, call_int(c, 1), call_int(c, 2)))
RUN(t, transposed_or_self(self))
RUN(mt, aten_transpose(self, -2, -1))
RUN(slice, ((void)self, slice_of_call(c)))
RUN(select, aten_select(self, call_int(c, 1), call_int(c, 2)))
RUN(squeeze, squeeze_all(self))
RUN(squeeze_dim, aten_squeeze_dim(self, call_int(c, 1)))
RUN_INTS(squeeze_dims, squeeze_dims(self, list))
RUN(unsqueeze, aten_unsqueeze(self, call_int(c, 1)))
RUN_INTS(expand, aten_expand(self, list.v, list.n))
RUN(expand_as, aten_expand(self, call_tensor(c, 1)->size, call_tensor(c, 1)->n_dim))
RUN(view_as, ((void)self, like_sizes(c)))
RUN(reshape_as, aten_reshape(self, call_tensor(c, 1)->size, call_tensor(c, 1)->n_dim))
RUN(narrow, aten_narrow(self, call_int(c, 1), call_int(c, 2), call_int(c, 3)))
RUN(as_strided, ((void)self, strided_of_call(c)))
RUN(unflatten, unflatten(self, call_int(c, 1), call_ints(c, 2)))
RUN(flatten, flatten(self, call_int(c, 1), call_int(c, 2)))
RUN(diagonal, aten_diagonal(self, call_int(c, 1), call_int(c, 2), call_int(c, 3)))
RUN(unfold, unfold(self, call_int(c, 1), call_int(c, 2), call_int(c, 3)))
RUN(as_dtype, aten_as_dtype(self, call_dtype_or(c, 1, self->dtype)))
RUN(view_as_real, aten_view_as_real(self))
RUN(view_as_complex, aten_view_as_complex(self))
RUN(real, aten_is_complex(self->dtype) ? aten_select(aten_view_as_real(self), -1, 0) : aten_alias(self))
RUN(imag, aten_select(aten_view_as_real(self), -1, 1))

const struct aten_entry aten_view_entries[] = {
    {"alias", run_alias},
    {"as_strided", run_as_strided},
    {"broadcast_to", run_expand},
    {"chunk", run_chunk},
    {"detach", run_alias},
    {"detach_", run_alias},
    {"diagonal", run_diagonal},
    {"expand", run_expand},
    {"expand_as", run_expand_as},
    {"flatten.using_ints", run_flatten},
    {"imag", run_imag},
    {"lift_fresh", run_alias},
    {"mT", run_mt},
    {"moveaxis.int", run_movedim},
    {"moveaxis.intlist", run_movedim},
    {"movedim.int", run_movedim},
    {"movedim.intlist", run_movedim},
    {"narrow", run_narrow},
    {"permute", run_permute},
    {"real", run_real},
    {"reshape", run_reshape},
    {"reshape_as", run_reshape_as},
    {"select.int", run_select},
    {"slice.Tensor", run_slice},
    {"split.Tensor", run_split},
    {"split.sizes", run_split_with_sizes},
    {"split_with_sizes", run_split_with_sizes},
    {"squeeze", run_squeeze},
    {"squeeze.dim", run_squeeze_dim},
    {"squeeze.dims", run_squeeze_dims},
    {"swapaxes", run_transpose},
    {"swapdims", run_transpose},
    {"t", run_t},
    {"transpose.int", run_transpose},
    {"unbind.int", run_unbind},
    {"unflatten.int", run_unflatten},
    {"unfold", run_unfold},
    {"unsafe_chunk", run_chunk},
    {"unsafe_split.Tensor", run_split},
    {"unsafe_split_with_sizes", run_split_with_sizes},
    {"unsqueeze", run_unsqueeze},
    {"view", run_view},
    {"view.dtype", run_as_dtype},
    {"view_as", run_view_as},
    {"view_as_complex", run_view_as_complex},
    {"view_as_real", run_view_as_real},
    {"_unsafe_view", run_reshape},
    {0},
};
