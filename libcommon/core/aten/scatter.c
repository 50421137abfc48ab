/* scatter.c - scatter, scatter_reduce, index_reduce.
 *
 * torch 2.13, aten/src/ATen/native/TensorAdvancedIndexing.cpp: the caller decides out's layout; index_reduce is
 * contiguous. mean divides integers rounding down; amax and amin keep a NaN.
 */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

enum reduce { REDUCE_NONE, REDUCE_SUM, REDUCE_PROD, REDUCE_MEAN, REDUCE_MAX, REDUCE_MIN };

static enum reduce reduce_by_name(const char *s)
{
	static const struct {
		const char *name;
		enum reduce how;
	} names[] = {{"sum", REDUCE_SUM},   {"add", REDUCE_SUM},  {"prod", REDUCE_PROD}, {"multiply", REDUCE_PROD},
		     {"mean", REDUCE_MEAN}, {"amax", REDUCE_MAX}, {"amin", REDUCE_MIN}};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(s, names[i].name))
			return names[i].how;
	aten_fail("reduce argument must be either sum, prod, mean, amax or amin, got %s", s);
}

static void multiply(int dtype, void *p, const void *q)
{
	if (elem_complex(dtype))
		elem_set_c128(dtype, p, elem_c128(dtype, p) * elem_c128(dtype, q));
	else if (elem_integral(dtype))
		elem_set_i64(dtype, p, (int64_t)((uint64_t)elem_i64(dtype, p) * (uint64_t)elem_i64(dtype, q)));
	else
		elem_set_f64(dtype, p, elem_f64(dtype, p) * elem_f64(dtype, q));
}

static void extreme(int dtype, void *p, const void *q, bool max)
{
	if (elem_nan(dtype, p))
		return;
	uint64_t a = elem_key(dtype, p), b = elem_key(dtype, q);
	if (elem_nan(dtype, q) || (max ? b > a : b < a))
		elem_copy(p, q, elem_bytes(dtype));
}

static void combine(enum reduce how, int dtype, void *p, const void *q)
{
	switch (how) {
	case REDUCE_NONE: elem_copy(p, q, elem_bytes(dtype)); break;
	case REDUCE_SUM:
	case REDUCE_MEAN: elem_add(dtype, p, q); break;
	case REDUCE_PROD: multiply(dtype, p, q); break;
	case REDUCE_MAX:
	case REDUCE_MIN: extreme(dtype, p, q, how == REDUCE_MAX); break;
	}
}

static void divide(int dtype, void *p, int64_t n)
{
	if (elem_integral(dtype)) {
		int64_t v = elem_i64(dtype, p), q = v / n;
		elem_set_i64(dtype, p, v % n && v < 0 ? q - 1 : q);
	} else if (elem_complex(dtype)) {
		elem_set_c128(dtype, p, elem_c128(dtype, p) / (double)n);
	} else {
		elem_set_f64(dtype, p, elem_f64(dtype, p) / (double)n);
	}
}

/* How many values each element of out has received; the first one replaces an element that should not be included. */
struct counts {
	enum reduce how;
	bool include_self;
	struct aten_tensor *seen; /* int64, as out; NULL if not needed */
};

static struct counts counts_of(const struct aten_tensor *out, enum reduce how, bool include_self)
{
	struct counts c = {how, include_self, NULL};

	if (how != REDUCE_NONE && (how == REDUCE_MEAN || !include_self)) {
		c.seen = aten_new(DTYPE_I64, out->n_dim, out->size, NULL);
		aten_fill_zero(c.seen);
	}
	return c;
}

static void put_value(const struct counts *c, int dtype, char *to, char *seen, const char *value)
{
	int64_t n = 0;

	if (c->seen) {
		memcpy(&n, seen, sizeof(n));
		n++;
		memcpy(seen, &n, sizeof(n));
	}
	if (c->seen && n == 1 && !c->include_self)
		elem_copy(to, value, elem_bytes(dtype));
	else
		combine(c->how, dtype, to, value);
}

static void divide_by_counts(const struct counts *c, struct aten_tensor *out)
{

	if (c->how != REDUCE_MEAN)
		return;
	struct walk w = WALK(out);
	walk_add(&w, aten_data(c->seen), c->seen);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int64_t n;
		memcpy(&n, w.p[1], sizeof(n));
		n += c->include_self;
		if (n > 1)
			divide(out->dtype, w.p[0], n);
	}
}

/* ---- scatter ---- */

static void check_index(const struct aten_tensor *out, const struct aten_tensor *index, const struct aten_tensor *src, int dim)
{
	int n = out->n_dim ? out->n_dim : 1;

	if (index->dtype != DTYPE_I64 && index->dtype != DTYPE_I32)
		aten_fail("scatter(): Expected dtype int64 for index");
	if ((index->n_dim ? index->n_dim : 1) != n || (src && (src->n_dim ? src->n_dim : 1) != n))
		aten_fail("Index tensor must have the same number of dimensions as self and src tensor");
	for (int i = 0; i < n; i++) {
		int64_t want = line_size(index, i);
		if ((i != dim && want > line_size(out, i)) || (src && want > line_size(src, i)))
			aten_fail("Expected index to be no larger than self apart from dimension %d and no larger than src", dim);
	}
}

/* Steps of a tensor by the dims of the index, where one of the two may have no dims. */
static void steps_of(const struct aten_tensor *t, int n_dim, int skip, int64_t *step)
{
	for (int i = 0; i < n_dim; i++)
		step[i] = i == skip || !t->n_dim ? 0 : line_step(t, i);
}

/* src NULL: value stands for all. */
static void scatter(struct aten_tensor *out, int64_t dim_, struct aten_tensor *index, struct aten_tensor *src, const char *value,
		    enum reduce how, bool include_self)
{
	int dim = aten_dim(out, dim_), dtype = out->dtype;
	int64_t step[ATEN_DIMS], n = line_size(out, dim);

	if (!aten_numel(index))
		return;
	if (src && src->dtype != dtype)
		aten_fail("scatter(): Expected self.dtype to be equal to src.dtype");
	check_index(out, index, src, dim);
	struct counts c = counts_of(out, how, include_self);
	struct aten_tensor *seen = c.seen ? c.seen : out;
	int64_t to_step = line_step(out, dim), seen_step = line_step(seen, dim);
	struct walk w = WALK(index);
	steps_of(out, index->n_dim, dim, step);
	walk_add_steps(&w, aten_data(out), step);
	steps_of(seen, index->n_dim, dim, step);
	walk_add_steps(&w, aten_data(seen), step);
	if (src)
		steps_of(src, index->n_dim, -1, step);
	else
		memset(step, 0, sizeof(step));
	walk_add_steps(&w, src ? aten_data(src) : value, step);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int64_t i = elem_i64(index->dtype, w.p[0]);
		if (i < 0 || i >= n)
			aten_fail("index %lld is out of bounds for dimension %d with size %lld", (long long)i, dim, (long long)n);
		put_value(&c, dtype, w.p[1] + i * to_step, w.p[2] + i * seen_step, w.p[3]);
	}
	divide_by_counts(&c, out);
}

/* float16 and bfloat16 are summed in higher precision, and rounded once, as in torch. */
static void scatter_wide(struct aten_tensor *out, int64_t dim, struct aten_tensor *index, struct aten_tensor *src, enum reduce how,
			 bool include_self)
{
	bool half = (out->dtype == DTYPE_F16 || out->dtype == DTYPE_BF16) && src->dtype == out->dtype;

	if (!half || how == REDUCE_MAX || how == REDUCE_MIN) {
		scatter(out, dim, index, src, NULL, how, include_self);
		return;
	}
	struct aten_tensor *sum = aten_new(DTYPE_F64, out->n_dim, out->size, NULL);
	struct aten_tensor *values = aten_new(DTYPE_F64, src->n_dim, src->size, NULL);
	aten_copy(sum, out);
	aten_copy(values, src);
	scatter(sum, dim, index, values, NULL, how, include_self);
	aten_copy(out, sum);
}

/* In place if both are the same. */
static void begin_out(struct aten_tensor *out, struct aten_tensor *self)
{
	if (!aten_same_sizes(out, self))
		aten_fail("out and self differ in size");
	if (out->dtype != self->dtype)
		aten_fail("out and self differ in dtype");
	if (out != self && (out->storage != self->storage || out->offset != self->offset))
		aten_copy(out, self);
}

void aten_scatter_out(struct aten_tensor *out, struct aten_tensor *self, int64_t dim, struct aten_tensor *index, struct aten_tensor *src)
{
	begin_out(out, self);
	scatter(out, dim, index, src, NULL, REDUCE_NONE, true);
}

void aten_scatter_value_out(struct aten_tensor *out, struct aten_tensor *self, int64_t dim, struct aten_tensor *index, double value)
{
	char v[16];
	elem_set_f64(self->dtype, v, value);
	begin_out(out, self);
	scatter(out, dim, index, NULL, v, REDUCE_NONE, true);
}

void aten_scatter_reduce_out(struct aten_tensor *out, struct aten_tensor *self, int64_t dim, struct aten_tensor *index,
			     struct aten_tensor *src, const char *reduce, bool include_self)
{
	enum reduce how = reduce_by_name(reduce);
	if (how == REDUCE_MAX || how == REDUCE_MIN)
		elem_need_real(self);
	begin_out(out, self);
	scatter_wide(out, dim, index, src, how, include_self);
}

/* ---- index_reduce ---- */

static void check_source(const struct aten_tensor *self, const struct aten_tensor *index, const struct aten_tensor *source, int dim)
{
	if (index->n_dim > 1 || (index->dtype != DTYPE_I64 && index->dtype != DTYPE_I32))
		aten_fail("index_reduce(): Index is supposed to be a vector of int32 or int64");
	if (source->dtype != self->dtype || source->n_dim != self->n_dim)
		aten_fail("index_reduce(): self and source are expected to have the same dtype and dimensions");
	if (aten_numel(index) != line_size(source, dim))
		aten_fail("index_reduce(): Number of indices should be equal to source.size(dim)");
	for (int i = 0; i < self->n_dim; i++)
		if (i != dim && self->size[i] != source->size[i])
			aten_fail("index_reduce(): self and source differ in size at dimension %d", i);
}

struct aten_tensor *aten_index_reduce(struct aten_tensor *self, int64_t dim_, struct aten_tensor *index, struct aten_tensor *source,
				      const char *reduce, bool include_self)
{
	enum reduce how = reduce_by_name(reduce);
	int dim = aten_dim(self, dim_);
	struct aten_tensor *out = aten_clone_contiguous(self);
	struct counts c = counts_of(out, how, include_self);
	struct aten_tensor *seen = c.seen ? c.seen : out;
	int64_t n = line_size(out, dim), index_step = index->n_dim ? line_step(index, 0) : 0;

	elem_need_real(self);
	check_source(self, index, source, dim);
	struct walk w = WALK_LINES(dim, source, out, seen);
	for (int64_t k = 0; k < line_size(source, dim) && aten_computes(); k++) {
		int64_t i = elem_i64(index->dtype, aten_data(index) + k * index_step);
		if (i < 0 || i >= n)
			aten_fail("index out of range in self");
		for (bool more = walk_first(&w); more; more = walk_next(&w))
			put_value(&c, out->dtype, w.p[1] + i * line_step(out, dim), w.p[2] + i * line_step(seen, dim),
				  w.p[0] + k * line_step(source, dim));
	}
	divide_by_counts(&c, out);
	return out;
}

/* ---- by name ---- */

static void run_scatter(struct aten_call *c) /* self, dim, index, src; entry.data: how they are combined */
{
	struct aten_tensor *self = call_tensor(c, 0), *out = aten_clone_contiguous(self);
	if (c->entry->data)
		aten_scatter_reduce_out(out, out, call_int(c, 1), call_tensor(c, 2), call_tensor(c, 3), c->entry->data, true);
	else
		aten_scatter_out(out, out, call_int(c, 1), call_tensor(c, 2), call_tensor(c, 3));
	call_give(c, 0, out);
}
static void run_scatter_value(struct aten_call *c)
{
	struct aten_tensor *out = aten_clone_contiguous(call_tensor(c, 0));
	aten_scatter_value_out(out, out, call_int(c, 1), call_tensor(c, 2), call_float(c, 3));
	call_give(c, 0, out);
}
static void run_scatter_reduce(struct aten_call *c) /* self, dim, index, src, reduce[, include_self] */
{
	struct aten_tensor *out = aten_clone_contiguous(call_tensor(c, 0));
	const char *how = call_string_or(c, 4, "");
	aten_scatter_reduce_out(out, out, call_int(c, 1), call_tensor(c, 2), call_tensor(c, 3), how, c->n < 6 || call_bool(c, 5));
	call_give(c, 0, out);
}
static void run_index_reduce(struct aten_call *c) /* self, dim, index, source, reduce, include_self */
{
	call_give(c, 0,
		  aten_index_reduce(call_tensor(c, 0), call_int(c, 1), call_tensor(c, 2), call_tensor(c, 3), call_string_or(c, 4, ""),
				    call_bool(c, 5)));
}

/* Slice by slice: added (scaled by alpha), copied, filled. */
enum along { ADDED, COPIED, FILLED };
static const enum along of_added = ADDED, of_copied = COPIED, of_filled = FILLED;
static void run_along(struct aten_call *c) /* self, dim, index, source or value[, alpha] */
{
	struct aten_tensor *self = call_tensor(c, 0), *index = call_tensor(c, 2), *out = aten_clone(self);
	struct aten_tensor *source = call_operand(c, 3);
	enum along how = *(const enum along *)c->entry->data;
	int d = aten_dim(self, call_int(c, 1));
	int64_t n = aten_numel(index), step = index->n_dim ? line_step(index, 0) : 0, have = line_size(self, d);
	if (index->n_dim > 1 || (index->dtype != DTYPE_I64 && index->dtype != DTYPE_I32))
		aten_fail("Index is supposed to be a vector of int32 or int64");
	if (how != FILLED && (source->dtype != self->dtype || line_size(source, source->n_dim ? d : 0) != n))
		aten_fail("self and source expected to have the same dtype, and as many slices as the index");
	for (int64_t k = 0; k < n && aten_computes(); k++) {
		int64_t i = elem_i64(index->dtype, aten_data(index) + k * step);
		i = i < 0 && how != ADDED ? i + have : i;
		if (i < 0 || i >= have)
			aten_fail("index %lld is out of bounds for dimension %d with size %lld", (long long)i, d, (long long)have);
		struct aten_tensor *to = self->n_dim ? aten_slice_dim(out, d, i, i + 1, 1) : out;
		struct aten_tensor *from = how == FILLED || !source->n_dim ? source : aten_slice_dim(source, d, k, k + 1, 1);
		aten_copy(to, how == ADDED ? aten_add(to, from, call_float(c, 4)) : from);
	}
	call_give(c, 0, out);
}

const struct aten_entry aten_scatter_entries[] = {
    {"index_add", run_along, &of_added},
    {"index_copy", run_along, &of_copied},
    {"index_fill.int_Scalar", run_along, &of_filled},
    {"index_fill.int_Tensor", run_along, &of_filled},
    {"index_reduce", run_index_reduce},
    {"scatter.reduce", run_scatter_reduce},
    {"scatter.src", run_scatter},
    {"scatter.value", run_scatter_value},
    {"scatter_add", run_scatter, "sum"},
    {"scatter_reduce.two", run_scatter_reduce},
    {0},
};
