/* scatter.c - scatter, scatter_reduce, index_reduce.
 *
 * torch 2.13, aten/src/ATen/native/TensorAdvancedIndexing.cpp: out's layout is the caller's; index_reduce is
 * contiguous. mean divides integers rounding down; amax and amin keep a NaN.
 */
#include "elem.h"

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
	shim_fail("reduce argument must be either sum, prod, mean, amax or amin, got %s", s);
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

/* How many values each element of out has seen; the first of one that is not to be included replaces it. */
struct counts {
	enum reduce how;
	bool include_self;
	struct shim_tensor *seen; /* int64, as out; NULL when nobody asks */
};

static struct counts counts_of(const struct shim_tensor *out, enum reduce how, bool include_self)
{
	struct counts c = {how, include_self, NULL};

	if (how != REDUCE_NONE && (how == REDUCE_MEAN || !include_self)) {
		c.seen = shim_new(DTYPE_I64, out->n_dim, out->size, NULL);
		shim_fill_zero(c.seen);
	}
	return c;
}

static void take_value(const struct counts *c, int dtype, char *to, char *seen, const char *value)
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

static void finish_mean(const struct counts *c, struct shim_tensor *out)
{
	struct walk w;

	if (c->how != REDUCE_MEAN)
		return;
	walk_begin(&w, out->n_dim, out->size);
	walk_add(&w, shim_data(out), out);
	walk_add(&w, shim_data(c->seen), c->seen);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int64_t n;
		memcpy(&n, w.p[1], sizeof(n));
		n += c->include_self;
		if (n > 1)
			divide(out->dtype, w.p[0], n);
	}
}

/* ---- scatter ---- */

static void check_index(const struct shim_tensor *out, const struct shim_tensor *index, const struct shim_tensor *src, int dim)
{
	int n = out->n_dim ? out->n_dim : 1;

	if (index->dtype != DTYPE_I64 && index->dtype != DTYPE_I32)
		shim_fail("scatter(): Expected dtype int64 for index");
	if ((index->n_dim ? index->n_dim : 1) != n || (src && (src->n_dim ? src->n_dim : 1) != n))
		shim_fail("Index tensor must have the same number of dimensions as self and src tensor");
	for (int i = 0; i < n; i++) {
		int64_t want = line_size(index, i);
		if ((i != dim && want > line_size(out, i)) || (src && want > line_size(src, i)))
			shim_fail("Expected index to be no larger than self apart from dimension %d and no larger than src", dim);
	}
}

/* Steps of a tensor by the dims of the index, where one of the two may have no dims. */
static void steps_of(const struct shim_tensor *t, int n_dim, int skip, int64_t *step)
{
	for (int i = 0; i < n_dim; i++)
		step[i] = i == skip || !t->n_dim ? 0 : line_step(t, i);
}

/* src NULL: value stands for all. */
static void scatter(struct shim_tensor *out, int64_t dim_, struct shim_tensor *index, struct shim_tensor *src, const char *value,
		    enum reduce how, bool include_self)
{
	int dim = shim_dim(out, dim_), dtype = out->dtype;
	int64_t step[SHIM_DIMS], n = line_size(out, dim);

	if (!shim_numel(index))
		return;
	if (src && src->dtype != dtype)
		shim_fail("scatter(): Expected self.dtype to be equal to src.dtype");
	check_index(out, index, src, dim);
	struct counts c = counts_of(out, how, include_self);
	struct shim_tensor *seen = c.seen ? c.seen : out;
	int64_t to_step = line_step(out, dim), seen_step = line_step(seen, dim);
	struct walk w;
	walk_begin(&w, index->n_dim, index->size);
	walk_add(&w, shim_data(index), index);
	steps_of(out, index->n_dim, dim, step);
	walk_add_steps(&w, shim_data(out), step);
	steps_of(seen, index->n_dim, dim, step);
	walk_add_steps(&w, shim_data(seen), step);
	if (src)
		steps_of(src, index->n_dim, -1, step);
	else
		memset(step, 0, sizeof(step));
	walk_add_steps(&w, src ? shim_data(src) : value, step);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int64_t i = elem_i64(index->dtype, w.p[0]);
		if (i < 0 || i >= n)
			shim_fail("index %lld is out of bounds for dimension %d with size %lld", (long long)i, dim, (long long)n);
		take_value(&c, dtype, w.p[1] + i * to_step, w.p[2] + i * seen_step, w.p[3]);
	}
	finish_mean(&c, out);
}

/* float16 and bfloat16 are summed in more, and rounded once, as torch does. */
static void scatter_wide(struct shim_tensor *out, int64_t dim, struct shim_tensor *index, struct shim_tensor *src, enum reduce how,
			 bool include_self)
{
	bool half = (out->dtype == DTYPE_F16 || out->dtype == DTYPE_BF16) && src->dtype == out->dtype;

	if (!half || how == REDUCE_MAX || how == REDUCE_MIN) {
		scatter(out, dim, index, src, NULL, how, include_self);
		return;
	}
	struct shim_tensor *sum = shim_new(DTYPE_F64, out->n_dim, out->size, NULL);
	struct shim_tensor *values = shim_new(DTYPE_F64, src->n_dim, src->size, NULL);
	shim_copy(sum, out);
	shim_copy(values, src);
	scatter(sum, dim, index, values, NULL, how, include_self);
	shim_copy(out, sum);
}

/* In place where both are one. */
static void begin_out(struct shim_tensor *out, struct shim_tensor *self)
{
	if (out->n_dim != self->n_dim || memcmp(out->size, self->size, (size_t)out->n_dim * sizeof(*out->size)))
		shim_fail("out and self differ in size");
	if (out->dtype != self->dtype)
		shim_fail("out and self differ in dtype");
	if (out != self && (out->storage != self->storage || out->offset != self->offset))
		shim_copy(out, self);
}

static AOTITorchError scatter_src(const char *op, AtenTensorHandle out, AtenTensorHandle self, int64_t dim, AtenTensorHandle index,
				  AtenTensorHandle src)
{
	SHIM_TRY_AS(op) {
		begin_out(out, self);
		scatter(out, dim, index, src, NULL, REDUCE_NONE, true);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_scatter_src_out(AtenTensorHandle out, AtenTensorHandle self, int64_t dim, AtenTensorHandle index,
					      AtenTensorHandle src)
{
	return scatter_src(__func__, out, self, dim, index, src);
}

AOTITorchError aoti_torch_scatter_out(AtenTensorHandle out, AtenTensorHandle self, int64_t dim, AtenTensorHandle index,
				      AtenTensorHandle src)
{
	return scatter_src(__func__, out, self, dim, index, src);
}

AOTITorchError aoti_torch_cpu_scatter_value_out(AtenTensorHandle out, AtenTensorHandle self, int64_t dim, AtenTensorHandle index,
						double value)
{
	SHIM_TRY {
		char v[16];
		elem_set_f64(self->dtype, v, value);
		begin_out(out, self);
		scatter(out, dim, index, NULL, v, REDUCE_NONE, true);
	}
	SHIM_END
}

static AOTITorchError scatter_reduce(const char *op, AtenTensorHandle out, AtenTensorHandle self, int64_t dim, AtenTensorHandle index,
				     AtenTensorHandle src, const char *reduce, bool include_self)
{
	SHIM_TRY_AS(op) {
		enum reduce how = reduce_by_name(reduce);
		if (how == REDUCE_MAX || how == REDUCE_MIN)
			elem_need_real(self);
		begin_out(out, self);
		scatter_wide(out, dim, index, src, how, include_self);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_scatter_reduce_two_out(AtenTensorHandle out, AtenTensorHandle self, int64_t dim, AtenTensorHandle index,
						     AtenTensorHandle src, const char *reduce, int32_t include_self)
{
	return scatter_reduce(__func__, out, self, dim, index, src, reduce, include_self);
}

AOTITorchError aoti_torch_scatter_reduce_out(AtenTensorHandle out, AtenTensorHandle self, int64_t dim, AtenTensorHandle index,
					     AtenTensorHandle src, const char *reduce, int32_t include_self)
{
	return scatter_reduce(__func__, out, self, dim, index, src, reduce, include_self);
}

/* ---- index_reduce ---- */

static void check_source(const struct shim_tensor *self, const struct shim_tensor *index, const struct shim_tensor *source, int dim)
{
	if (index->n_dim > 1 || (index->dtype != DTYPE_I64 && index->dtype != DTYPE_I32))
		shim_fail("index_reduce(): Index is supposed to be a vector of int32 or int64");
	if (source->dtype != self->dtype || source->n_dim != self->n_dim)
		shim_fail("index_reduce(): self and source are expected to have the same dtype and dimensions");
	if (shim_numel(index) != line_size(source, dim))
		shim_fail("index_reduce(): Number of indices should be equal to source.size(dim)");
	for (int i = 0; i < self->n_dim; i++)
		if (i != dim && self->size[i] != source->size[i])
			shim_fail("index_reduce(): self and source differ in size at dimension %d", i);
}

static struct shim_tensor *index_reduce(struct shim_tensor *self, int64_t dim_, struct shim_tensor *index, struct shim_tensor *source,
					enum reduce how, bool include_self)
{
	int dim = shim_dim(self, dim_);
	struct shim_tensor *out = shim_clone_contiguous(self);
	struct counts c = counts_of(out, how, include_self);
	struct shim_tensor *seen = c.seen ? c.seen : out;
	int64_t n = line_size(out, dim), index_step = index->n_dim ? line_step(index, 0) : 0;
	struct walk w;

	elem_need_real(self);
	check_source(self, index, source, dim);
	walk_begin(&w, source->n_dim, source->size);
	walk_lines(&w, dim);
	walk_add(&w, shim_data(source), source);
	walk_add(&w, shim_data(out), out);
	walk_add(&w, shim_data(seen), seen);
	for (int64_t k = 0; k < line_size(source, dim); k++) {
		int64_t i = elem_i64(index->dtype, shim_data(index) + k * index_step);
		if (i < 0 || i >= n)
			shim_fail("index out of range in self");
		for (bool more = walk_first(&w); more; more = walk_next(&w))
			take_value(&c, out->dtype, w.p[1] + i * line_step(out, dim), w.p[2] + i * line_step(seen, dim),
				   w.p[0] + k * line_step(source, dim));
	}
	finish_mean(&c, out);
	return out;
}

AOTITorchError aoti_torch_cpu_index_reduce(AtenTensorHandle self, int64_t dim, AtenTensorHandle index, AtenTensorHandle source,
					   const char *reduce, int32_t include_self, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, index_reduce(self, dim, index, source, reduce_by_name(reduce), include_self));
	}
	SHIM_END
}
