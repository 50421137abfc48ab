/* bag.c - embedding_bag, segment_reduce, cdist, pdist: reductions over rows.
 *
 * embedding_bag returns three more tensors, whose sizes and values depend on the path that torch takes
 * (torch 2.13, aten/src/ATen/native/EmbeddingBag.cpp; measured):
 *   offset2bag    which bag each index is in; empty for a sum on the fast path (no padding, rows without gaps, not
 * float64) bag_size      for mean and max how many indices without padding; zeros for a sum max_indices   for max the
 * row each number came from, [bags, columns]; bag_size again for mean, zeros for a sum For the sum,
 * _embedding_bag_forward_only sizes the last two by offsets, even if its last one does not begin a bag.
 */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

enum { BAG_SUM, BAG_MEAN, BAG_MAX };

struct bags {
	struct bag_args in;
	int64_t n, bags, columns;
	int index_dtype;
};

static void check_bags(struct bags *b)
{
	if (b->in.indices->n_dim != 1 || b->in.offsets->n_dim != 1 || b->in.weight->n_dim != 2)
		aten_fail("input has to be a 1D or 2D Tensor, but got Tensor of dimension %d", b->in.indices->n_dim);
	if (!elem_floating(b->in.weight->dtype))
		aten_fail("expected weight to have a floating dtype, got %s", dtype_name(b->in.weight->dtype));
	if (b->in.per_sample_weights && (b->in.mode != BAG_SUM || b->in.per_sample_weights->n_dim != 1 ||
					 aten_numel(b->in.per_sample_weights) != aten_numel(b->in.indices)))
		aten_fail("embedding_bag: per_sample_weights require mode='sum', one for each index");
	if (b->in.mode < BAG_SUM || b->in.mode > BAG_MAX)
		aten_fail("embedding_bag: invalid mode %d", (int)b->in.mode);
	b->n = b->in.indices->size[0];
	b->bags = b->in.offsets->size[0] - b->in.include_last_offset;
	b->columns = b->in.weight->size[1];
	if (b->bags < 0)
		aten_fail("include_last_offset: number of offsets should be at least 1");
	b->index_dtype = b->in.indices->dtype == DTYPE_I64 || b->in.offsets->dtype == DTYPE_I64 ? DTYPE_I64 : DTYPE_I32;
	if (b->in.padding_idx < -1 - b->in.weight->size[0] || b->in.padding_idx >= b->in.weight->size[0])
		aten_fail("padding_idx must be within the number of embeddings");
}

static bool fast_sum(const struct bags *b)
{
	return b->in.mode == BAG_SUM && b->in.padding_idx < 0 && b->in.weight->stride[1] == 1 && b->in.weight->dtype != DTYPE_F64 &&
	       (!b->in.per_sample_weights || b->in.per_sample_weights->stride[0] == 1);
}

static int64_t vector_at(const struct aten_tensor *t, int64_t i) { return elem_i64(t->dtype, aten_data(t) + i * line_step(t, 0)); }

static int64_t offset_of(const struct bags *b, int64_t bag)
{
	int64_t at = bag < b->in.offsets->size[0] && bag < b->bags ? vector_at(b->in.offsets, bag) : b->n;

	if (at < 0 || at > b->n || (!bag && at))
		aten_fail("offsets must begin at 0 and not exceed the input's length, %lld", (long long)b->n);
	return at;
}

static const char *row_of(const struct bags *b, int64_t i)
{
	int64_t row = vector_at(b->in.indices, i);

	if (row < 0 || row >= b->in.weight->size[0])
		aten_fail("embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be %lld", (long long)row);
	return aten_data(b->in.weight) + row * line_step(b->in.weight, 0);
}

struct bag_out {
	struct aten_tensor *sum, *where, *size, *max;
};

static void set_int(struct aten_tensor *t, int64_t i, int64_t v) { elem_set_i64(t->dtype, aten_data(t) + i * elem_bytes(t->dtype), v); }

/* Adds a row of the bag to acc; at: the rows of the maxima. */
static void add_row(const struct bags *b, int64_t i, bool first, double *row, double *acc, int64_t *at)
{
	double scale = b->in.per_sample_weights ? elem_f64(b->in.per_sample_weights->dtype,
							   aten_data(b->in.per_sample_weights) + i * line_step(b->in.per_sample_weights, 0))
						: 1;

	aten_convert(DTYPE_F64, row, sizeof(*row), b->in.weight->dtype, row_of(b, i), line_step(b->in.weight, 1), b->columns);
	for (int64_t c = 0; c < b->columns; c++) {
		if (b->in.mode != BAG_MAX) {
			acc[c] += scale * row[c];
		} else if (first || row[c] > acc[c] || isnan(row[c])) {
			acc[c] = row[c];
			at[c] = vector_at(b->in.indices, i);
		}
	}
}

static void fill_bags(const struct bags *b, struct bag_out *o)
{
	double *acc = aten_scratch((uint64_t)b->columns, 2 * sizeof(*acc)), *row = acc + b->columns;
	int64_t *at = aten_scratch((uint64_t)b->columns, sizeof(*at)), width = elem_bytes(o->sum->dtype);

	for (int64_t bag = 0; bag < b->bags; bag++) {
		int64_t end = offset_of(b, bag + 1), count = 0;
		memset(acc, 0, (size_t)b->columns * sizeof(*acc));
		memset(at, 0, (size_t)b->columns * sizeof(*at));
		for (int64_t i = offset_of(b, bag); i < end; i++) {
			if (aten_numel(o->where))
				set_int(o->where, i, bag);
			if (vector_at(b->in.indices, i) != b->in.padding_idx || b->in.padding_idx < 0)
				add_row(b, i, !count++, row, acc, at);
		}
		for (int64_t c = 0; c < b->columns; c++) {
			double v = b->in.mode == BAG_MEAN && count ? acc[c] / (double)count : acc[c];
			elem_set_f64(o->sum->dtype, aten_data(o->sum) + (bag * b->columns + c) * width, v);
			if (b->in.mode == BAG_MAX)
				set_int(o->max, bag * b->columns + c, at[c]);
		}
		if (b->in.mode != BAG_SUM)
			set_int(o->size, bag, count);
		if (b->in.mode == BAG_MEAN)
			set_int(o->max, bag, count);
	}
}

void aten_embedding_bag(const struct bag_args *a, struct aten_tensor **ret)
{
	struct bags bags = {.in = *a}, *b = &bags;
	check_bags(b);
	int64_t size[2] = {b->bags, b->columns}, n = fast_sum(b) ? 0 : b->n;
	int64_t counts = b->in.mode == BAG_SUM && b->in.forward_only ? b->in.offsets->size[0] : b->bags;
	struct bag_out o = {.sum = aten_new(b->in.weight->dtype, 2, size, NULL),
			    .where = aten_new(b->index_dtype, 1, &n, NULL),
			    .size = aten_new(b->index_dtype, 1, &counts, NULL)};
	o.max = b->in.mode == BAG_MAX ? aten_new(b->index_dtype, 2, size, NULL) : aten_new(b->index_dtype, 1, &counts, NULL);
	aten_fill_zero(o.where);
	aten_fill_zero(o.size);
	aten_fill_zero(o.max);
	if (aten_computes())
		fill_bags(b, &o);
	ret[0] = o.sum;
	ret[1] = o.where;
	ret[2] = o.size;
	ret[3] = o.max;
}

/* ---- segment_reduce: aten/src/ATen/native/SegmentReduce.cpp ---- */

struct segments {
	char kind; /* 's'um, 'm'ean, 'p'rod, '>' max, '<' min */
	const double *initial;
};

static char segment_kind(const char *reduce)
{
	static const struct {
		const char *name;
		char kind;
	} names[] = {{"sum", 's'}, {"mean", 'm'}, {"prod", 'p'}, {"max", '>'}, {"amax", '>'}, {"min", '<'}, {"amin", '<'}};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(reduce, names[i].name))
			return names[i].kind;
	aten_fail("reduce argument must be either sum, prod, mean, amax or amin, got %s", reduce);
}

static double segment_value(const struct segments *s, const struct aten_tensor *data, const char *p, int64_t step, int64_t n)
{
	double acc = s->kind == 'p' ? 1 : s->kind == '>' ? -(double)INFINITY : s->kind == '<' ? (double)INFINITY : 0;

	if (s->initial)
		acc = *s->initial;
	for (int64_t i = 0; i < n; i++) {
		double v = elem_f64(data->dtype, p + i * step);
		switch (s->kind) {
		case 's':
		case 'm': acc += v; break;
		case 'p': acc *= v; break;
		case '>': acc = isnan(v) || v > acc ? v : acc; break;
		default: acc = isnan(v) || v < acc ? v : acc;
		}
	}
	if (s->kind == 'm')
		return n ? acc / (double)n : s->initial ? acc : (double)NAN;
	return acc;
}

static struct aten_tensor *segment_reduce(const struct segments *s, struct aten_tensor *data, struct aten_tensor *lengths,
					  struct aten_tensor *offsets, int64_t axis_)
{
	struct aten_tensor *parts = lengths ? lengths : offsets;
	int axis = aten_dim(data, axis_);
	int64_t size[ATEN_DIMS], cum_step = line_step(parts, parts->n_dim - 1);

	if (!elem_floating(data->dtype) || !data->n_dim)
		aten_fail("segment_reduce(): Expected data of a floating dtype with at least one dimension");
	if (parts->n_dim != axis + 1 || (parts->dtype != DTYPE_I64 && parts->dtype != DTYPE_I32))
		aten_fail("segment_reduce(): Expected lengths or offsets with %d dimensions, int64 or int32", axis + 1);
	memcpy(size, data->size, sizeof(size));
	size[axis] = parts->size[axis] - !lengths;
	if (size[axis] < 0 || memcmp(parts->size, data->size, (size_t)axis * sizeof(*size)))
		aten_fail("segment_reduce(): lengths or offsets do not match the data");
	struct aten_tensor *out = aten_new(data->dtype, data->n_dim, size, NULL);
	int64_t part_step[ATEN_DIMS] = {0};
	for (int i = 0; i < axis; i++)
		part_step[i] = line_step(parts, i);
	struct walk w = WALK_LINES(axis, data, out);
	walk_add_steps(&w, aten_data(parts), part_step);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int64_t from = lengths ? 0 : elem_i64(parts->dtype, w.p[2]);
		for (int64_t i = 0; i < size[axis]; i++) {
			int64_t next = elem_i64(parts->dtype, w.p[2] + (i + !lengths) * cum_step), to = next;
			if (from < 0 || (lengths && __builtin_add_overflow(from, next, &to)) || to < from || to > data->size[axis])
				aten_fail("segment_reduce(): segment %lld is outside the data", (long long)i);
			double v = segment_value(s, data, w.p[0] + from * line_step(data, axis), line_step(data, axis), to - from);
			elem_set_f64(out->dtype, w.p[1] + i * line_step(out, axis), v);
			from = to;
		}
	}
	return out;
}

struct aten_tensor *aten_segment_reduce(struct aten_tensor *data, const char *reduce, struct aten_tensor *lengths,
					struct aten_tensor *indices, struct aten_tensor *offsets, int64_t axis, const double *initial)
{
	struct segments s = {segment_kind(reduce), initial};
	if (indices)
		aten_fail("segment_reduce(): indices based reduction is not supported yet.");
	if (!lengths && !offsets)
		aten_fail("segment_reduce(): Either lengths or offsets must be defined.");
	return segment_reduce(&s, data, lengths, offsets, axis);
}

/* ---- distances: aten/src/ATen/native/Distance.cpp ---- */

static double distance(const double *a, const double *b, int64_t n, double p)
{
	double acc = 0;

	if (p == 2) {
		for (int64_t i = 0; i < n; i++)
			acc += (a[i] - b[i]) * (a[i] - b[i]);
		return sqrt(acc);
	}
	for (int64_t i = 0; i < n; i++) {
		double d = fabs(a[i] - b[i]);
		if (p == 0)
			acc += d != 0;
		else if (p == 1)
			acc += d;
		else if (isinf(p))
			acc = isnan(d) || d > acc ? d : acc;
		else
			acc += pow(d, p);
	}
	return p == 0 || p == 1 || isinf(p) ? acc : pow(acc, 1 / p);
}

static void need_rows(const struct aten_tensor *t, double p)
{
	if (!elem_floating(t->dtype))
		aten_fail("only floating dtypes are supported, got %s", dtype_name(t->dtype));
	if (!(p >= 0))
		aten_fail("only non-negative p values are supported");
}

struct aten_tensor *aten_cdist(struct aten_tensor *x1, struct aten_tensor *x2, double p)
{
	int64_t size[ATEN_DIMS];

	need_rows(x1, p);
	need_rows(x2, p);
	if (x1->n_dim < 2 || x2->n_dim < 2 || x1->dtype != x2->dtype || x1->size[x1->n_dim - 1] != x2->size[x2->n_dim - 1])
		aten_fail("X1 and X2 must have the same dtype, number of columns, and at least two dimensions");
	int64_t columns = x1->size[x1->n_dim - 1];
	int dtype = x1->dtype;
	x1 = aten_to_copy(x1, DTYPE_F64, ATEN_CONTIGUOUS);
	x2 = aten_to_copy(x2, DTYPE_F64, ATEN_CONTIGUOUS);
	/* Like [batch, rows 1, 1] and [batch, 1, rows 2]. */
	struct aten_tensor a = *x1, b = *x2;
	a.size[a.n_dim - 1] = 1;
	b.size[b.n_dim - 1] = b.size[b.n_dim - 2];
	b.stride[b.n_dim - 1] = b.stride[b.n_dim - 2];
	b.size[b.n_dim - 2] = 1;
	int n = aten_broadcast(&a, &b, size);
	struct aten_tensor *out = aten_new(dtype, n, size, NULL);
	struct walk w = WALK(out, &a, &b);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		elem_set_f64(dtype, w.p[0], distance((double *)(void *)w.p[1], (double *)(void *)w.p[2], columns, p));
	return out;
}

struct aten_tensor *aten_pdist(struct aten_tensor *self, double p)
{
	need_rows(self, p);
	if (self->n_dim != 2)
		aten_fail("_pdist_forward requires a 2D tensor");
	int64_t n = self->size[0], columns = self->size[1], pairs = n > 1 ? size_times(n, n - 1) / 2 : 0;
	struct aten_tensor *out = aten_new(self->dtype, 1, &pairs, NULL);
	if (!pairs || !columns || !aten_computes())
		return aten_fill(out, aten_number(0));
	const double *row = (double *)(void *)aten_data(aten_to_copy(self, DTYPE_F64, ATEN_CONTIGUOUS));
	char *to = aten_data(out);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = i + 1; j < n; j++, to += elem_bytes(out->dtype))
			elem_set_f64(out->dtype, to, distance(row + i * columns, row + j * columns, columns, p));
	return out;
}

/* ---- the gradient of a table: rows of grad are summed at their source rows (aten/src/ATen/native/Embedding.cpp) ---- */

static void add_rows(struct aten_tensor *out, const struct aten_tensor *grad, const struct aten_tensor *indices, int64_t padding,
		     bool by_count)
{
	int64_t n = aten_numel(indices), columns = out->size[1], *count = aten_scratch((uint64_t)out->size[0], sizeof(*count));
	int bytes = elem_bytes(out->dtype);
	const int64_t *row = (const int64_t *)(void *)aten_data(aten_to_copy(indices, DTYPE_I64, ATEN_CONTIGUOUS));
	memset(count, 0, (size_t)out->size[0] * sizeof(*count));
	for (int64_t i = 0; i < n; i++) {
		if (row[i] != padding && (row[i] < 0 || row[i] >= out->size[0]))
			aten_fail("index %lld is out of bounds of %lld embeddings", (long long)row[i], (long long)out->size[0]);
		if (row[i] != padding)
			count[row[i]]++;
	}
	for (int64_t i = 0; i < n * columns; i++) {
		int64_t to = row[i / columns];
		char v[16];
		if (to == padding)
			continue;
		elem_copy(v, aten_data(grad) + i * bytes, bytes);
		if (by_count)
			elem_set_f64(out->dtype, v, elem_f64(out->dtype, v) / (double)count[to]);
		elem_add(out->dtype, aten_data(out) + (to * columns + i % columns) * bytes, v);
	}
}

/* grad_output, indices, num_weights, padding_idx, scale_grad_by_freq */
static void run_embedding_backward(struct aten_call *c)
{
	struct aten_tensor *grad = aten_contiguous(call_tensor(c, 0)), *indices = call_tensor(c, 1);
	int64_t size[2] = {call_int(c, 2), grad->n_dim ? grad->size[grad->n_dim - 1] : 0};
	if (!elem_floating(grad->dtype) || (indices->dtype != DTYPE_I64 && indices->dtype != DTYPE_I32) || !grad->n_dim ||
	    aten_numel(grad) != size_times(aten_numel(indices), size[1]))
		aten_fail("the gradient (%s) does not match the indices", dtype_name(grad->dtype));
	struct aten_tensor *out = aten_fill(aten_empty(size, 2, grad->dtype), aten_number(0));
	if (aten_computes())
		add_rows(out, grad, indices, call_int(c, 3), call_bool(c, 4));
	call_give(c, 0, out);
}

/* ---- by name ---- */

/* weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset[, padding_idx] */
static void run_embedding_bag(struct aten_call *c)
{
	struct aten_tensor *out[4];
	struct bag_args a = {.weight = call_tensor(c, 0),
			     .indices = call_tensor(c, 1),
			     .offsets = call_tensor(c, 2),
			     .per_sample_weights = call_tensor_or_none(c, 6),
			     .mode = call_int(c, 4),
			     .include_last_offset = call_bool(c, 7),
			     .forward_only = strstr(c->entry->name, "forward_only") != NULL};
	a.padding_idx = c->n > 8 ? call_int_or(c, 8, -1) : -1;
	aten_embedding_bag(&a, out);
	for (uint32_t i = 0; i < 4; i++)
		call_give(c, i, out[i]);
}
static void run_segment_reduce(struct aten_call *c) /* data, reduce, lengths, indices, offsets, axis, unsafe, initial */
{
	double initial = call_float_or(c, 7, 0);
	call_give(c, 0,
		  aten_segment_reduce(call_tensor(c, 0), call_string_or(c, 1, ""), call_tensor_or_none(c, 2), call_tensor_or_none(c, 3),
				      call_tensor_or_none(c, 4), call_int(c, 5), call_is_none(c, 7) ? NULL : &initial));
}
static void run_cdist(struct aten_call *c) /* x1, x2, p, compute_mode: whether to use a matrix product; not here */
{
	call_give(c, 0, aten_cdist(call_tensor(c, 0), call_tensor(c, 1), call_float(c, 2)));
}
static void run_pdist(struct aten_call *c) { call_give(c, 0, aten_pdist(call_tensor(c, 0), call_float(c, 1))); }

const struct aten_entry aten_bag_entries[] = {
    {"_cdist_forward", run_cdist},
    {"_embedding_bag", run_embedding_bag},
    {"_embedding_bag_forward_only", run_embedding_bag},
    {"_pdist_forward", run_pdist},
    {"cdist", run_cdist},
    {"embedding_bag", run_embedding_bag},
    {"embedding_bag.padding_idx", run_embedding_bag},
    {"embedding_dense_backward", run_embedding_backward},
    {"pdist", run_pdist},
    {"segment_reduce", run_segment_reduce},
    {0},
};
