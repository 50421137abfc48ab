/* Operators that return copies: joined, padded, in another dtype or layout. */
#include "call.h"
#include "elem.h"
#include "ops.h"

/* ---- cat ---- */

/* Skipped by cat: empty 1D tensors, whatever the dims of the others. */
static bool skipped(const struct aten_tensor *t) { return t->n_dim == 1 && !t->size[0]; }

struct aten_tensor *aten_cat(struct tensors list, int64_t dim)
{
	struct aten_tensor *const *tensors = list.v;
	const int64_t n = list.n;
	const struct aten_tensor *first = NULL;
	int64_t size[ATEN_DIMS], total = 0;
	if (n < 1)
		aten_fail("expected a non-empty list of tensors");
	int dtype = tensors[0]->dtype, d = 0;
	bool last = true;
	for (int64_t i = 0; i < n; i++) {
		dtype = aten_promote(dtype, tensors[i]->dtype);
		last = last && aten_channels_last(tensors[i]);
		if (skipped(tensors[i]))
			continue;
		first = first ? first : tensors[i];
		d = aten_dim(first, dim);
		if (tensors[i]->n_dim != first->n_dim || !first->n_dim)
			aten_fail("tensors with %d and %d dimensions cannot be concatenated", first->n_dim, tensors[i]->n_dim);
		for (int k = 0; k < first->n_dim; k++)
			if (k != d && tensors[i]->size[k] != first->size[k])
				aten_fail("sizes %lld and %lld do not match at dimension %d", (long long)first->size[k],
					  (long long)tensors[i]->size[k], k);
		total += tensors[i]->size[d];
	}
	if (!first)
		first = tensors[0];
	memcpy(size, first->size, sizeof(size));
	size[d] = total;
	struct aten_tensor *out = aten_new_format(dtype, first->n_dim, size, last && total);
	int64_t at = 0;
	for (int64_t i = 0; i < n; i++) {
		if (skipped(tensors[i]))
			continue;
		aten_copy(aten_slice_dim(out, d, at, at + tensors[i]->size[d], 1), tensors[i]);
		at += tensors[i]->size[d];
	}
	return out;
}

/* ---- pad ---- */

enum mode { PAD_CONSTANT, PAD_REFLECT, PAD_REPLICATE, PAD_CIRCULAR };

static enum mode pad_mode(const char *name)
{
	static const char *const names[] = {"constant", "reflect", "replicate", "circular"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(name, names[i]))
			return (enum mode)i;
	aten_fail("invalid padding mode %s", name);
}

/* The index of the element at position i of a padded dimension of n elements. */
static int64_t pad_source(enum mode mode, int64_t i, int64_t n)
{
	if (mode == PAD_REPLICATE)
		return i < 0 ? 0 : i >= n ? n - 1 : i;
	if (mode == PAD_CIRCULAR)
		return i < 0 ? i + n : i >= n ? i - n : i;
	return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
}

/* Works dimension by dimension, slice by slice, from existing data. Without values the ends, which are the furthest, are checked. */
static void pad_dim(struct aten_tensor *out, int d, int64_t before, int64_t n, enum mode mode)
{
	const int64_t each = aten_computes() || out->size[d] < 2 ? 1 : out->size[d] - 1;
	for (int64_t i = 0; i < out->size[d]; i += each) {
		int64_t from = pad_source(mode, i - before, n);
		if (i >= before && i < before + n)
			continue;
		if (from < 0 || from >= n)
			aten_fail("the padding is wider than the dimension, %lld", (long long)n);
		aten_copy(aten_slice_dim(out, d, i, i + 1, 1), aten_slice_dim(out, d, before + from, before + from + 1, 1));
	}
}

/* If more is cropped on one side than there is, only the element at the other end remains. */
static struct aten_tensor *only_edge(struct aten_tensor *t, int d, bool last, int64_t size)
{
	int64_t sizes[ATEN_DIMS], strides[ATEN_DIMS];
	memcpy(sizes, t->size, sizeof(sizes));
	memcpy(strides, t->stride, sizeof(strides));
	sizes[d] = size;
	strides[d] = 0;
	return aten_view(t, t->n_dim, sizes, strides, t->offset + (last ? (t->size[d] - 1) * t->stride[d] : 0));
}

struct aten_tensor *aten_pad(struct aten_tensor *self, struct ints padding, const char *mode_name, struct aten_tensor *value)
{
	const int64_t *pad = padding.v, n_pad = padding.n;
	int64_t size[ATEN_DIMS], before[ATEN_DIMS] = {0};
	enum mode mode = pad_mode(mode_name);
	if (n_pad < 0 || n_pad % 2 || n_pad / 2 > self->n_dim)
		aten_fail("%lld padding values do not match %d dimensions", (long long)n_pad, self->n_dim);
	memcpy(size, self->size, sizeof(size));
	for (int k = 0; k < n_pad / 2; k++) {
		int d = self->n_dim - 1 - k;
		before[d] = pad[2 * k];
		if (pad[2 * k] > INT64_MAX / 4 || pad[2 * k] < -INT64_MAX / 4 || pad[2 * k + 1] > INT64_MAX / 4 ||
		    pad[2 * k + 1] < -INT64_MAX / 4)
			aten_fail("invalid padding of %lld and %lld", (long long)pad[2 * k], (long long)pad[2 * k + 1]);
		if (__builtin_add_overflow(size[d], pad[2 * k] + pad[2 * k + 1], &size[d]) || size[d] < 0)
			aten_fail("padding makes dimension %d negative", d);
		bool left = -pad[2 * k] >= self->size[d], right = -pad[2 * k + 1] >= self->size[d];
		if (mode == PAD_REPLICATE && self->size[d] && (left || right)) {
			self = only_edge(self, d, left, size[d]);
			before[d] = 0;
		}
	}
	/* Only cropping: a copy of that part, in its memory order (aten/src/ATen/native/PadNd.cpp). */
	bool part = mode == PAD_CONSTANT;
	for (int64_t k = 0; k < n_pad; k++)
		part = part && pad[k] <= 0;
	if (part) {
		for (int d = 0; d < self->n_dim; d++)
			if (size[d] != self->size[d])
				self = aten_slice_dim(self, d, -before[d], size[d] - before[d], 1);
		return aten_clone(self);
	}
	struct aten_tensor *out = aten_new_format(self->dtype, self->n_dim, size, mode != PAD_CIRCULAR && aten_channels_last(self));
	struct aten_tensor *to = out, *from = self;
	if (mode == PAD_CONSTANT)
		aten_fill(out, value);
	for (int d = 0; d < self->n_dim; d++) { /* the part that is kept; negative padding crops */
		int64_t skip = before[d] < 0 ? -before[d] : 0, start = before[d] > 0 ? before[d] : 0;
		int64_t n = self->size[d] - skip < size[d] - start ? self->size[d] - skip : size[d] - start;
		if (n <= 0 && mode != PAD_CONSTANT && aten_numel(out))
			aten_fail("padding leaves no elements in dimension %d", d);
		if (n <= 0)
			return out;
		to = aten_slice_dim(to, d, start, start + n, 1);
		from = aten_slice_dim(from, d, skip, skip + n, 1);
	}
	aten_copy(to, from);
	for (int d = 0; mode != PAD_CONSTANT && d < self->n_dim; d++)
		pad_dim(out, d, before[d] > 0 ? before[d] : 0, to->size[d], mode);
	return out;
}

/* ---- in place ---- */

void aten_resize(struct aten_tensor *t, struct ints size, const int32_t *format)
{
	const int64_t n = size.n;
	int64_t old[ATEN_DIMS];
	bool last = format && (*format == ATEN_CHANNELS_LAST || *format == ATEN_CHANNELS_LAST_3D);
	if (n < 0 || n > ATEN_DIMS || (last && n != (*format == ATEN_CHANNELS_LAST ? 4 : 5)))
		aten_fail("too many dimensions: %lld", (long long)n);
	memcpy(old, size.v, (size_t)n * sizeof(*old));
	struct aten_tensor *shape = aten_new_format(t->dtype, (int)n, old, last);
	aten_grow(t, shape->storage->bytes + (uint64_t)t->offset * (uint64_t)dtype_info(t->dtype)->bytes);
	t->n_dim = (int)n;
	memcpy(t->size, shape->size, (size_t)n * sizeof(*old));
	memcpy(t->stride, shape->stride, (size_t)n * sizeof(*old));
}

void aten_resize_as(struct aten_tensor *self, const struct aten_tensor *like, const int32_t *memory_format)
{
	int32_t last = like->n_dim == 4 ? ATEN_CHANNELS_LAST : ATEN_CHANNELS_LAST_3D;
	bool keep = memory_format && *memory_format == ATEN_PRESERVE;
	aten_resize(self, (struct ints){like->size, like->n_dim}, !keep ? memory_format : aten_channels_last(like) ? &last : NULL);
}

/* ---- copies ---- */

/* aten/src/ATen/native/TensorFactories.cpp, clone; TensorConversions.cpp, _to_copy: preserve keeps the strides of dense tensors. */
struct aten_tensor *aten_to_copy(const struct aten_tensor *self, int dtype, int format)
{
	struct aten_tensor *out = aten_empty_like(self, dtype, format);
	aten_copy(out, self);
	return out;
}

static bool has_format(const struct aten_tensor *t, int format)
{
	struct aten_tensor want = {.n_dim = t->n_dim};
	if (format == ATEN_PRESERVE)
		return true;
	if (format == ATEN_CONTIGUOUS)
		return aten_is_contiguous(t);
	aten_format_strides(t->n_dim, t->size, want.stride, true);
	for (int i = 0; i < t->n_dim; i++)
		if (t->size[i] != 1 && t->stride[i] != want.stride[i])
			return false;
	return true;
}

static int format_or(const struct aten_call *c, uint32_t i, int otherwise)
{
	const struct aten_value *v = &c->arg[i];
	if (v->kind == ATEN_NONE)
		return otherwise;
	if ((v->kind != ATEN_FORMAT && v->kind != ATEN_INT) || v->i < 0 || v->i > ATEN_CHANNELS_LAST_3D)
		aten_fail("unknown memory format");
	return (int)v->i;
}

static void need_format_dims(const struct aten_tensor *t, int format)
{
	if ((format == ATEN_CHANNELS_LAST && t->n_dim != 4) || (format == ATEN_CHANNELS_LAST_3D && t->n_dim != 5))
		aten_fail("required rank %d tensor to use %s format", format == ATEN_CHANNELS_LAST ? 4 : 5,
			  format == ATEN_CHANNELS_LAST ? "channels_last" : "channels_last_3d");
}

static void run_clone(struct aten_call *c) /* lift_fresh_copy has no format */
{
	const struct aten_tensor *self = call_tensor(c, 0);
	int format = c->n > 1 ? format_or(c, 1, ATEN_PRESERVE) : ATEN_PRESERVE;
	need_format_dims(self, format);
	call_give(c, 0, aten_to_copy(self, self->dtype, format));
}

static void run_contiguous(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	int format = format_or(c, 1, ATEN_CONTIGUOUS);
	need_format_dims(self, format);
	call_give(c, 0, has_format(self, format) ? self : aten_to_copy(self, self->dtype, format));
}

/* to.*: returns self if nothing changes, judging the format by its strides (TensorConversions.cpp, to_will_alias). */
static bool looks_like(const struct aten_tensor *t, int format)
{
	bool last = aten_channels_last(t);
	return format == ATEN_PRESERVE || (format == ATEN_CONTIGUOUS ? !last : last && t->n_dim == (format == ATEN_CHANNELS_LAST ? 4 : 5));
}

static struct aten_tensor *to(struct aten_tensor *self, int dtype, bool copy, int format)
{
	need_format_dims(self, format);
	return !copy && dtype == self->dtype && looks_like(self, format) ? self : aten_to_copy(self, dtype, format);
}

/* A number in place of a tensor: torch takes one for these (torch/csrc/utils/python_arg_parser.cpp, should_allow_numbers_as_tensors). */
static void run_to_copy(struct aten_call *c) /* self, dtype, layout, device, pin_memory, non_blocking, memory_format */
{
	struct aten_tensor *self = call_operand(c, 0);
	call_give(c, 0, to(self, call_dtype_or(c, 1, self->dtype), true, format_or(c, 6, ATEN_PRESERVE)));
}
static void run_to_dtype_layout(struct aten_call *c) /* the same with copy before memory_format */
{
	struct aten_tensor *self = call_operand(c, 0);
	call_give(c, 0, to(self, call_dtype_or(c, 1, self->dtype), call_bool(c, 6), format_or(c, 7, ATEN_PRESERVE)));
}
static void run_to_dtype(struct aten_call *c) /* self, dtype, non_blocking, copy, memory_format */
{
	struct aten_tensor *self = call_operand(c, 0);
	call_give(c, 0, to(self, call_dtype_or(c, 1, self->dtype), call_bool(c, 3), format_or(c, 4, ATEN_PRESERVE)));
}
static void run_to_device(struct aten_call *c) /* self, device, dtype, ... */
{
	struct aten_tensor *self = call_operand(c, 0);
	call_give(c, 0, to(self, call_dtype_or(c, 2, self->dtype), call_bool(c, 4), format_or(c, 5, ATEN_PRESERVE)));
}
static void run_to_other(struct aten_call *c)
{
	struct aten_tensor *self = call_operand(c, 0);
	call_give(c, 0, to(self, call_tensor(c, 1)->dtype, call_bool(c, 3), format_or(c, 4, ATEN_PRESERVE)));
}
static void run_type_as(struct aten_call *c) { call_give(c, 0, to(call_tensor(c, 0), call_tensor(c, 1)->dtype, false, ATEN_PRESERVE)); }

/* copy: a new tensor with self's sizes and dtype; copy_: into self */
static void run_copy(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0), *out = aten_like(self, self->dtype);
	aten_copy(out, call_operand(c, 1));
	call_give(c, 0, out);
}
static void run_copy_(struct aten_call *c)
{
	aten_copy(call_tensor(c, 0), call_operand(c, 1));
	call_give(c, 0, call_tensor(c, 0));
}

static void run_cat(struct aten_call *c) { call_give(c, 0, aten_cat(call_tensors(c, 0), call_int(c, 1))); }

static void run_stack(struct aten_call *c)
{
	struct tensors t = call_tensors(c, 0);
	for (int64_t i = 0; i < t.n; i++)
		if (!aten_same_sizes(t.v[i], t.v[0]))
			aten_fail("stack expects each tensor to be equal size");
	for (int64_t i = 0; i < t.n; i++)
		t.v[i] = aten_unsqueeze(t.v[i], call_int(c, 1));
	call_give(c, 0, aten_cat(t, call_int(c, 1)));
}

static void run_pad(struct aten_call *c)
{
	struct aten_tensor *value = call_is_none(c, 3) ? aten_number(0) : call_operand(c, 3);
	call_give(c, 0, aten_pad(call_tensor(c, 0), call_ints(c, 1), call_string_or(c, 2, "constant"), value));
}
static void run_constant_pad(struct aten_call *c)
{
	call_give(c, 0, aten_pad(call_tensor(c, 0), call_ints(c, 1), "constant", call_operand(c, 2)));
}

/* entry.data: the mode; the name has how many dims */
static void run_pad_dims(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	struct ints pad = call_ints(c, 1);
	int dims = c->entry->name[strlen(c->entry->name) - 2] - '0';
	if (pad.n != 2 * dims || (self->n_dim != dims + 1 && self->n_dim != dims + 2))
		aten_fail("expected %d padding values and a %dD or %dD tensor", 2 * dims, dims + 1, dims + 2);
	call_give(c, 0, aten_pad(self, pad, c->entry->data, aten_number(0)));
}

static void run_resize(struct aten_call *c) /* self, size, memory_format */
{
	int32_t format = (int32_t)format_or(c, 2, ATEN_CONTIGUOUS);
	aten_resize(call_tensor(c, 0), call_ints(c, 1), call_is_none(c, 2) ? NULL : &format);
	call_give(c, 0, call_tensor(c, 0));
}

/* aten/src/ATen/native/TensorShape.cpp, repeat */
static void run_repeat(struct aten_call *c)
{
	const struct aten_tensor *self = call_tensor(c, 0);
	struct ints given = call_ints(c, 1);
	int64_t n = given.n, size[ATEN_DIMS], shape[2 * ATEN_DIMS], from[2 * ATEN_DIMS];
	const int64_t *times = given.v;
	int skip = (int)n - self->n_dim;
	if (skip < 0 || 2 * n > ATEN_DIMS)
		aten_fail("number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
	for (int i = 0; i < n; i++) {
		if (times[i] < 0)
			aten_fail("trying to create tensor with negative dimension %lld", (long long)times[i]);
		from[2 * i] = 1;
		shape[2 * i] = times[i];
		from[2 * i + 1] = shape[2 * i + 1] = i < skip ? 1 : self->size[i - skip];
		size[i] = size_times(times[i], shape[2 * i + 1]);
	}
	struct aten_tensor *out = aten_new(self->dtype, (int)n, size, NULL);
	aten_copy(aten_reshape(out, shape, 2 * n), aten_reshape(self, from, 2 * n));
	call_give(c, 0, out);
}

const struct aten_entry aten_copy_entries[] = {
    {"_to_copy", run_to_copy},
    {"cat", run_cat},
    {"clone", run_clone},
    {"constant_pad_nd", run_constant_pad},
    {"contiguous", run_contiguous},
    {"copy", run_copy},
    {"copy_", run_copy_},
    {"lift_fresh_copy", run_clone},
    {"pad", run_pad},
    {"reflection_pad1d", run_pad_dims, "reflect"},
    {"reflection_pad2d", run_pad_dims, "reflect"},
    {"reflection_pad3d", run_pad_dims, "reflect"},
    {"repeat", run_repeat},
    {"replication_pad1d", run_pad_dims, "replicate"},
    {"replication_pad2d", run_pad_dims, "replicate"},
    {"replication_pad3d", run_pad_dims, "replicate"},
    {"resize_", run_resize},
    {"stack", run_stack},
    {"to.device", run_to_device},
    {"to.dtype", run_to_dtype},
    {"to.dtype_layout", run_to_dtype_layout},
    {"to.other", run_to_other},
    {"type_as", run_type_as},
    {0},
};
