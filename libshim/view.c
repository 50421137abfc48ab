/* Ops that only look at a tensor in another way, and those that copy parts of tensors: cat, pad. */
#include "elem.h"

AOTITorchError aoti_torch_cpu_permute(AtenTensorHandle self, const int64_t *dims, int64_t n, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		int64_t size[SHIM_DIMS], stride[SHIM_DIMS];
		bool seen[SHIM_DIMS] = {0};
		if (n != self->n_dim)
			shim_fail("%lld dimensions in the order of %d", (long long)n, self->n_dim);
		for (int i = 0; i < n; i++) {
			int d = shim_dim(self, dims[i]);
			if (seen[d])
				shim_fail("dimension %d twice", d);
			seen[d] = true;
			size[i] = self->size[d];
			stride[i] = self->stride[d];
		}
		SHIM_GIVE(ret0, shim_view(self, (int)n, size, stride, self->offset));
	}
	SHIM_END
}

/* Elements start, start + step ... before end, of one dimension. */
static struct shim_tensor *cut(struct shim_tensor *t, int d, int64_t start, int64_t end, int64_t step)
{
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS];
	if (!t->n_dim)
		shim_fail("a tensor of no dimensions cannot be cut");
	memcpy(size, t->size, sizeof(size));
	memcpy(stride, t->stride, sizeof(stride));
	size[d] = end > start ? (end - start - 1) / step + 1 : 0;
	if (__builtin_mul_overflow(stride[d], step, &stride[d]))
		shim_fail("a step of %lld", (long long)step);
	return shim_view(t, t->n_dim, size, stride, t->offset + start * t->stride[d]);
}

AOTITorchError aoti_torch_cpu_narrow(AtenTensorHandle self, int64_t dim, int64_t start, int64_t length, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		int d = shim_dim(self, dim);
		int64_t n = line_size(self, d), from = start < 0 ? start + n : start;
		if (from < 0 || length < 0 || from > n || length > n - from)
			shim_fail("%lld elements from %lld on, of %lld", (long long)length, (long long)start, (long long)n);
		SHIM_GIVE(ret0, cut(self, d, from, from + length, 1));
	}
	SHIM_END
}

AOTITorchError aoti_torch_aten_narrow(AtenTensorHandle self, int64_t dim, int64_t start, int64_t length, AtenTensorHandle *ret0)
{
	return aoti_torch_cpu_narrow(self, dim, start, length, ret0);
}

static int64_t clamp(int64_t v, int64_t n)
{
	v = v < 0 ? v + n : v;
	return v < 0 ? 0 : v > n ? n : v;
}

AOTITorchError aoti_torch_cpu_slice_Tensor(AtenTensorHandle self, int64_t dim, int64_t *start, int64_t *end, int64_t step,
					   AtenTensorHandle *ret0)
{
	SHIM_TRY {
		int d = shim_dim(self, dim);
		int64_t n = line_size(self, d);
		if (step < 1)
			shim_fail("a step of %lld", (long long)step);
		SHIM_GIVE(ret0, cut(self, d, start ? clamp(*start, n) : 0, end ? clamp(*end, n) : n, step));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_squeeze_dim(AtenTensorHandle self, int64_t dim, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		int64_t size[SHIM_DIMS], stride[SHIM_DIMS];
		int d = shim_dim(self, dim), n = 0;
		for (int i = 0; i < self->n_dim; i++) {
			if (i == d && self->size[i] == 1)
				continue;
			size[n] = self->size[i];
			stride[n++] = self->stride[i];
		}
		SHIM_GIVE(ret0, shim_view(self, n, size, stride, self->offset));
	}
	SHIM_END
}

/* ---- reshape ---- */

/* Strides with which the same memory has the new sizes; false when it takes a copy (aten/src/ATen/TensorUtils.cpp,
 * computeStride). Dimensions are taken together while they are one run of memory, and cut anew. */
static bool view_strides(const struct shim_tensor *t, int n_dim, const int64_t *size, int64_t *stride)
{
	if (!shim_numel(t)) {
		bool same = n_dim == t->n_dim && !memcmp(size, t->size, (size_t)n_dim * sizeof(*size));
		if (same)
			memcpy(stride, t->stride, (size_t)n_dim * sizeof(*stride));
		else
			shim_contiguous_strides(n_dim, size, stride);
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

AOTITorchError aoti_torch_cpu_reshape(AtenTensorHandle self, const int64_t *shape, int64_t n, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		int64_t size[SHIM_DIMS], stride[SHIM_DIMS], known = 1, all = shim_numel(self);
		int open = -1;
		if (n < 0 || n > SHIM_DIMS)
			shim_fail("%lld dimensions", (long long)n);
		for (int i = 0; i < n; i++) {
			size[i] = shape[i];
			if (shape[i] < -1 || (shape[i] == -1 && open >= 0))
				shim_fail("a size of %lld", (long long)shape[i]);
			if (shape[i] == -1)
				open = i;
			else if (__builtin_mul_overflow(known, shape[i], &known))
				shim_fail("more elements than any memory can hold");
		}
		if (open >= 0) {
			size[open] = known ? all / known : 0;
			known *= size[open];
		}
		if (known != all)
			shim_fail("%lld elements in sizes for %lld", (long long)all, (long long)known);
		if (view_strides(self, (int)n, size, stride)) {
			SHIM_GIVE(ret0, shim_view(self, (int)n, size, stride, self->offset));
		} else {
			struct shim_tensor *c = shim_clone_contiguous(self);
			shim_contiguous_strides((int)n, size, stride);
			SHIM_GIVE(ret0, shim_view(c, (int)n, size, stride, 0));
		}
	}
	SHIM_END
}

/* ---- the same bytes as something else ---- */

/* aten/src/ATen/native/TensorConversions.cpp, view_dtype */
AOTITorchError aoti_torch_cpu_view_dtype(AtenTensorHandle self, int32_t dtype, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		const struct dtype_info *to = dtype_info(dtype);
		int64_t size[SHIM_DIMS], stride[SHIM_DIMS], offset = self->offset;
		int from = dtype_info(self->dtype)->bytes, last = self->n_dim - 1;
		if (!to)
			shim_fail("dtype %d is not known here", dtype);
		memcpy(size, self->size, sizeof(size));
		memcpy(stride, self->stride, sizeof(stride));
		if (to->bytes != from && (last < 0 || stride[last] != 1))
			shim_fail("the last dimension must be one run of memory to become %s", to->name);
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
				shim_fail("sizes, strides or offset are not divisible by %d, to become %s", k, to->name);
			size[last] /= k;
			offset /= k;
		}
		SHIM_GIVE(ret0, shim_view_dtype(self, dtype, self->n_dim, size, stride, offset));
	}
	SHIM_END
}

AOTITorchError aoti_torch_view_dtype(AtenTensorHandle self, int32_t dtype, AtenTensorHandle *ret)
{
	return aoti_torch_cpu_view_dtype(self, dtype, ret);
}

AOTITorchError aoti_torch_cpu_view_as_real(AtenTensorHandle self, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		int64_t size[SHIM_DIMS], stride[SHIM_DIMS];
		int n = self->n_dim, to = shim_real_of(self->dtype);
		if (!shim_is_complex(self->dtype) || n == SHIM_DIMS)
			shim_fail("view_as_real of %s", dtype_name(self->dtype));
		for (int i = 0; i < n; i++) {
			size[i] = self->size[i];
			stride[i] = self->stride[i] * 2;
		}
		size[n] = 2;
		stride[n] = 1;
		SHIM_GIVE(ret0, shim_view_dtype(self, to, n + 1, size, stride, self->offset * 2));
	}
	SHIM_END
}

AOTITorchError aoti_torch_view_as_real(AtenTensorHandle self, AtenTensorHandle *ret) { return aoti_torch_cpu_view_as_real(self, ret); }

AOTITorchError aoti_torch_cpu_view_as_complex(AtenTensorHandle self, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		int64_t stride[SHIM_DIMS];
		int n = self->n_dim - 1, to = shim_complex_of(self->dtype);
		if (n < 0 || self->size[n] != 2 || self->stride[n] != 1 || self->offset % 2 ||
		    (self->dtype != DTYPE_F64 && self->dtype != DTYPE_F32 && self->dtype != DTYPE_F16))
			shim_fail("only pairs of floats that lie together can be complex numbers");
		for (int i = 0; i < n; i++) {
			if (self->stride[i] % 2)
				shim_fail("stride %lld of dimension %d is odd", (long long)self->stride[i], i);
			stride[i] = self->stride[i] / 2;
		}
		SHIM_GIVE(ret0, shim_view_dtype(self, to, n, self->size, stride, self->offset / 2));
	}
	SHIM_END
}

/* ---- in place ---- */

/* c10/core/MemoryFormat.h */
enum { CONTIGUOUS, PRESERVE, CHANNELS_LAST, CHANNELS_LAST_3D };

static void resize(struct shim_tensor *t, const int64_t *size, int64_t n, const int32_t *format)
{
	int64_t old[SHIM_DIMS];
	bool last = format && (*format == CHANNELS_LAST || *format == CHANNELS_LAST_3D);
	if (n < 0 || n > SHIM_DIMS || (last && n != (*format == CHANNELS_LAST ? 4 : 5)))
		shim_fail("%lld dimensions", (long long)n);
	memcpy(old, size, (size_t)n * sizeof(*old));
	struct shim_tensor *shape = shim_new_format(t->dtype, (int)n, old, last);
	shim_grow(t, shape->storage->bytes + (uint64_t)t->offset * (uint64_t)dtype_info(t->dtype)->bytes);
	t->n_dim = (int)n;
	memcpy(t->size, shape->size, (size_t)n * sizeof(*old));
	memcpy(t->stride, shape->stride, (size_t)n * sizeof(*old));
}

AOTITorchError aoti_torch_cpu_resize_(AtenTensorHandle self, const int64_t *size, int64_t n, int32_t *memory_format)
{
	SHIM_TRY {
		resize(self, size, n, memory_format);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_resize_as_(AtenTensorHandle self, AtenTensorHandle like, int32_t *memory_format)
{
	SHIM_TRY {
		int32_t last = like->n_dim == 4 ? CHANNELS_LAST : CHANNELS_LAST_3D;
		bool keep = memory_format && *memory_format == PRESERVE;
		resize(self, like->size, like->n_dim, !keep ? memory_format : shim_channels_last(like) ? &last : NULL);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_set__source_Tensor(AtenTensorHandle self, AtenTensorHandle source)
{
	SHIM_TRY {
		if (self != source)
			shim_assign(self, source);
	}
	SHIM_END
}

/* ---- cat ---- */

/* Left out by cat: what is empty and has one dimension, whatever the others have. */
static bool skipped(const struct shim_tensor *t) { return t->n_dim == 1 && !t->size[0]; }

AOTITorchError aoti_torch_cpu_cat(const AtenTensorHandle *tensors, int64_t n, int64_t dim, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		const struct shim_tensor *first = NULL;
		int64_t size[SHIM_DIMS], total = 0;
		if (n < 1)
			shim_fail("an empty list");
		int dtype = tensors[0]->dtype, d = 0;
		bool last = true;
		for (int64_t i = 0; i < n; i++) {
			dtype = shim_promote(dtype, tensors[i]->dtype);
			last = last && shim_channels_last(tensors[i]);
			if (skipped(tensors[i]))
				continue;
			first = first ? first : tensors[i];
			d = shim_dim(first, dim);
			if (tensors[i]->n_dim != first->n_dim || !first->n_dim)
				shim_fail("tensors with %d and %d dimensions", first->n_dim, tensors[i]->n_dim);
			for (int k = 0; k < first->n_dim; k++)
				if (k != d && tensors[i]->size[k] != first->size[k])
					shim_fail("sizes %lld and %lld at dimension %d", (long long)first->size[k],
						  (long long)tensors[i]->size[k], k);
			total += tensors[i]->size[d];
		}
		if (!first)
			first = tensors[0];
		memcpy(size, first->size, sizeof(size));
		size[d] = total;
		struct shim_tensor *out = shim_new_format(dtype, first->n_dim, size, last && total);
		int64_t at = 0;
		for (int64_t i = 0; i < n; i++) {
			if (skipped(tensors[i]))
				continue;
			shim_copy(cut(out, d, at, at + tensors[i]->size[d], 1), tensors[i]);
			at += tensors[i]->size[d];
		}
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}

/* ---- pad ---- */

enum mode { PAD_CONSTANT, PAD_REFLECT, PAD_REPLICATE, PAD_CIRCULAR };

static enum mode pad_mode(const char *name)
{
	static const char *const names[] = {"constant", "reflect", "replicate", "circular"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(name, names[i]))
			return (enum mode)i;
	shim_fail("padding mode %s", name);
}

/* Which element of n stands at position i of a padded dimension. */
static int64_t pad_source(enum mode mode, int64_t i, int64_t n)
{
	if (mode == PAD_REPLICATE)
		return i < 0 ? 0 : i >= n ? n - 1 : i;
	if (mode == PAD_CIRCULAR)
		return i < 0 ? i + n : i >= n ? i - n : i;
	return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
}

/* One dimension after the other: slice by slice, from what is there already. */
static void pad_dim(struct shim_tensor *out, int d, int64_t before, int64_t n, enum mode mode)
{
	for (int64_t i = 0; i < out->size[d]; i++) {
		int64_t from = pad_source(mode, i - before, n);
		if (i >= before && i < before + n)
			continue;
		if (from < 0 || from >= n)
			shim_fail("a padding wider than the dimension, %lld", (long long)n);
		shim_copy(cut(out, d, i, i + 1, 1), cut(out, d, before + from, before + from + 1, 1));
	}
}

static struct shim_tensor *padded(struct shim_tensor *self, const int64_t *pad, int64_t n_pad, enum mode mode, double value)
{
	int64_t size[SHIM_DIMS], before[SHIM_DIMS] = {0};
	if (n_pad < 0 || n_pad % 2 || n_pad / 2 > self->n_dim)
		shim_fail("%lld paddings for %d dimensions", (long long)n_pad, self->n_dim);
	memcpy(size, self->size, sizeof(size));
	for (int k = 0; k < n_pad / 2; k++) {
		int d = self->n_dim - 1 - k;
		before[d] = pad[2 * k];
		if (__builtin_add_overflow(size[d], pad[2 * k] + pad[2 * k + 1], &size[d]) || size[d] < 0)
			shim_fail("padding makes dimension %d negative", d);
	}
	/* Only taken away: a copy of that part, in its order of memory (aten/src/ATen/native/PadNd.cpp). */
	bool part = mode == PAD_CONSTANT;
	for (int64_t k = 0; k < n_pad; k++)
		part = part && pad[k] <= 0;
	if (part) {
		for (int d = 0; d < self->n_dim; d++)
			if (size[d] != self->size[d])
				self = cut(self, d, -before[d], size[d] - before[d], 1);
		return shim_clone(self);
	}
	struct shim_tensor *out = shim_new_format(self->dtype, self->n_dim, size, mode != PAD_CIRCULAR && shim_channels_last(self));
	struct shim_tensor *to = out, *from = self;
	if (mode == PAD_CONSTANT) {
		struct shim_tensor *v = shim_new(DTYPE_F64, 0, NULL, NULL);
		memcpy(shim_data(v), &value, sizeof(value));
		shim_copy(out, v);
	}
	for (int d = 0; d < self->n_dim; d++) { /* the part that is kept; a negative padding takes away */
		int64_t skip = before[d] < 0 ? -before[d] : 0, start = before[d] > 0 ? before[d] : 0;
		int64_t n = self->size[d] - skip < size[d] - start ? self->size[d] - skip : size[d] - start;
		if (n <= 0)
			return out;
		to = cut(to, d, start, start + n, 1);
		from = cut(from, d, skip, skip + n, 1);
	}
	shim_copy(to, from);
	for (int d = 0; mode != PAD_CONSTANT && d < self->n_dim; d++)
		pad_dim(out, d, before[d] > 0 ? before[d] : 0, to->size[d], mode);
	return out;
}

AOTITorchError aoti_torch_cpu_pad(AtenTensorHandle self, const int64_t *pad, int64_t n_pad, const char *mode, double *value,
				  AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, padded(self, pad, n_pad, pad_mode(mode), value ? *value : 0));
	}
	SHIM_END
}

AOTITorchError aoti_torch_aten_pad(AtenTensorHandle self, const int64_t *pad, int64_t n_pad, const char *mode, double *value,
				   AtenTensorHandle *ret0)
{
	return aoti_torch_cpu_pad(self, pad, n_pad, mode, value, ret0);
}
