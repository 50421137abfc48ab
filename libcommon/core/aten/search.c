/* search.c - searchsorted, bucketize, histc and histograms.
 *
 * Results are contiguous (torch 2.13, aten/src/ATen/native/Bucketization.cpp, Histogram.cpp, cpu/HistogramKernel.cpp).
 * Edges equal torch.linspace's except for the last bit, which there depends on the CPU's vector width: a value on an inner edge may be
 * counted on the other side.
 */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

/* ---- searchsorted ---- */

/* a >= b (or a > b): false with a NaN, which thus sorts last, as in torch. Integers of one kind keep all
 * their bits. */
static bool beyond(int ta, const void *a, int tb, const void *b, bool strictly)
{
	if (ta == tb && !elem_floating(ta)) {
		uint64_t x = elem_key(ta, a), y = elem_key(tb, b);
		return strictly ? x > y : x >= y;
	}
	double x = elem_f64(ta, a), y = elem_f64(tb, b);
	return strictly ? x > y : x >= y;
}

struct sequence {
	int dtype;
	const char *p;
	int64_t n, step;
	const char *order; /* sorter's line or NULL */
	int64_t order_step;
};

static const char *sequence_at(const struct sequence *s, int64_t i)
{
	if (s->order)
		i = elem_i64(DTYPE_I64, s->order + i * s->order_step);
	if (i < 0 || i >= s->n)
		aten_fail("sorter index out of range");
	return s->p + i * s->step;
}

static int64_t bound(const struct sequence *s, int dtype, const void *value, bool right)
{
	int64_t lo = 0, hi = s->n;

	while (lo < hi) {
		int64_t mid = lo + (hi - lo) / 2;
		if (beyond(s->dtype, sequence_at(s, mid), dtype, value, right))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static void check_search(const struct aten_tensor *seq, const struct aten_tensor *values, const struct aten_tensor *sorter)
{
	elem_need_real(seq);
	elem_need_real(values);
	if (!seq->n_dim)
		aten_fail("input value can be a scalar only when boundaries tensor dimension is 1");
	if (sorter && (sorter->dtype != DTYPE_I64 || sorter->n_dim != seq->n_dim ||
		       memcmp(sorter->size, seq->size, (size_t)seq->n_dim * sizeof(*seq->size))))
		aten_fail("boundary and sorter must have the same size, sorter being int64");
	if (seq->n_dim == 1)
		return;
	if (values->n_dim != seq->n_dim || memcmp(values->size, seq->size, (size_t)(seq->n_dim - 1) * sizeof(*seq->size)))
		aten_fail("boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor "
			  "and input value "
			  "tensor must match");
}

static struct aten_tensor *search(struct aten_tensor *seq, struct aten_tensor *values, bool int32, bool right, struct aten_tensor *sorter)
{
	check_search(seq, values, sorter);
	int last = seq->n_dim - 1, n_dim = values->n_dim;
	struct aten_tensor *out = aten_new(int32 ? DTYPE_I32 : DTYPE_I64, n_dim, values->size, NULL);
	struct sequence s = {.dtype = seq->dtype, .n = seq->size[last], .step = line_step(seq, last)};
	int64_t steps[2][ATEN_DIMS] = {{0}};

	for (int i = 0; i < last; i++) {
		steps[0][i] = line_step(seq, i);
		steps[1][i] = sorter ? line_step(sorter, i) : 0;
	}
	s.order_step = sorter ? line_step(sorter, last) : 0;
	struct walk w = WALK(values, out);
	walk_add_steps(&w, aten_data(seq), steps[0]);
	walk_add_steps(&w, sorter ? aten_data(sorter) : aten_data(seq), steps[1]);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		s.p = w.p[2];
		s.order = sorter ? w.p[3] : NULL;
		elem_set_i64(out->dtype, w.p[1], bound(&s, values->dtype, w.p[0], right));
	}
	return out;
}

/* Both mean the same; left with right=True is a contradiction. */
static bool side_right(bool right, const char *side)
{
	if (!side)
		return right;
	if (!strcmp(side, "left") && right)
		aten_fail("side and right can't be set to opposites, got side of left while right was True");
	if (strcmp(side, "left") && strcmp(side, "right"))
		aten_fail("side can only be 'left' or 'right' but got %s", side);
	return right || !strcmp(side, "right");
}

struct aten_tensor *aten_searchsorted(struct aten_tensor *sequence, struct aten_tensor *values, bool int32, bool right, const char *side,
				      struct aten_tensor *sorter)
{
	if (!values->n_dim && values->wrapped && sequence->n_dim != 1)
		aten_fail("input value can be a scalar only when boundaries tensor dimension is 1");
	return search(sequence, values, int32, side_right(right, side), sorter);
}

struct aten_tensor *aten_bucketize(struct aten_tensor *values, struct aten_tensor *boundaries, bool int32, bool right)
{
	if (boundaries->n_dim != 1)
		aten_fail("boundaries tensor must be 1 dimension, but got dim(%d)", boundaries->n_dim);
	return search(boundaries, values, int32, right, NULL);
}

/* ---- histograms ---- */

/* Edges of one dim, rounded to the input's dtype at each step, like torch's arithmetic in that dtype. */
struct edges {
	int dtype;
	int64_t bins;
	double lo, hi;
};

/* torch.linspace: from both ends towards the middle. */
static double edge(const struct edges *e, int64_t i)
{
	double step = elem_rounded(e->dtype, elem_rounded(e->dtype, e->hi - e->lo) / (double)e->bins);

	if (i < (e->bins + 1) / 2)
		return elem_rounded(e->dtype, e->lo + elem_rounded(e->dtype, step * (double)i));
	return elem_rounded(e->dtype, e->hi - elem_rounded(e->dtype, step * (double)(e->bins - i)));
}

/* The bin of v, or -1. `local`: torch's histogram also checks the neighbouring edges, histc does not. */
static int64_t bin_of(const struct edges *e, double v, bool local)
{
	if (!(v >= e->lo && v <= e->hi))
		return -1;
	double at = elem_rounded(e->dtype, elem_rounded(e->dtype, v - e->lo) * (double)e->bins);
	int64_t pos = elem_to_i64(elem_rounded(e->dtype, at / elem_rounded(e->dtype, e->hi - e->lo)));
	if (local) {
		int64_t from = pos > 0 ? pos - 1 : 0, to = pos + 2 < e->bins + 1 ? pos + 2 : e->bins + 1;
		while (from < to && edge(e, from) <= v)
			from++;
		pos = from - 1;
	}
	return pos >= e->bins ? e->bins - 1 : pos;
}

/* Without a range, that of the values counts. */
static void range_of_values(struct edges *e, const double *v, int64_t n, int64_t step)
{
	bool any = false;

	e->lo = e->hi = 0;
	for (int64_t i = 0; i < n; i++) {
		double x = v[i * step];
		if (!any || x < e->lo || isnan(x))
			e->lo = x;
		if (!any || x > e->hi || isnan(x))
			e->hi = x;
		any = true;
	}
}

static void check_range(struct edges *e, double widen, const char *op)
{
	if (e->lo == e->hi) {
		e->lo = elem_rounded(e->dtype, e->lo - widen);
		e->hi = elem_rounded(e->dtype, e->hi + widen);
	}
	if (!isfinite(e->lo) || !isfinite(e->hi))
		aten_fail("%s: range of [%g, %g] is not finite", op, e->lo, e->hi);
	if (e->lo > e->hi)
		aten_fail("%s: max must be larger than min", op);
}

static double *values_of(const struct aten_tensor *t)
{
	int64_t at = 0;
	double *v = aten_scratch_values((uint64_t)aten_numel(t), sizeof(*v));

	struct walk w = WALK(t);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		v[at++] = elem_f64(t->dtype, w.p[0]);
	return v;
}

static void need_float(const struct aten_tensor *t, const char *op)
{
	if (!elem_floating(t->dtype))
		aten_fail("\"%s\" not implemented for '%s'", op, dtype_name(t->dtype));
}

/* `n` points of `dims` numbers each into bins of all dims; weight NULL: 1. */
static struct aten_tensor *count_bins(int dtype, const struct edges *e, int dims, const double *v, int64_t n, const double *weight,
				      bool local, bool density)
{
	int64_t size[ATEN_DIMS] = {0}, total = 1; /* gcc 11 does not see that dims are written */

	for (int d = 0; d < dims; d++) {
		size[d] = e[d].bins;
		if (size[d] < 1)
			aten_fail("bins must be > 0");
		total = size_times(total, size[d]);
	}
	struct aten_tensor *out = aten_new(dtype, dims, size, NULL);
	if (!aten_computes())
		return out;
	double *count = aten_scratch((uint64_t)total, sizeof(*count)), sum = 0;
	memset(count, 0, (size_t)total * sizeof(*count));
	for (int64_t i = 0; i < n; i++) {
		int64_t at = 0;
		for (int d = 0; d < dims && at >= 0; d++) {
			int64_t bin = bin_of(&e[d], v[i * dims + d], local);
			at = bin < 0 ? -1 : at * e[d].bins + bin;
		}
		if (at < 0)
			continue;
		count[at] += weight ? weight[i] : 1;
		sum += weight ? weight[i] : 1;
	}
	for (int64_t i = 0; i < total; i++) {
		double c = count[i];
		int64_t rest = i;
		for (int d = dims - 1; density && d >= 0; d--) {
			c /= edge(&e[d], rest % e[d].bins + 1) - edge(&e[d], rest % e[d].bins);
			rest /= e[d].bins;
		}
		elem_set_f64(dtype, aten_data(out) + i * elem_bytes(dtype), density ? c / sum : c);
	}
	return out;
}

struct aten_tensor *aten_histc(struct aten_tensor *self, int64_t bins, double min, double max)
{
	need_float(self, "histogram_cpu");
	if (bins < 1)
		aten_fail("torch.histc(): bins must be > 0, but got %lld", (long long)bins);
	struct edges e = {self->dtype, bins, elem_rounded(self->dtype, min), elem_rounded(self->dtype, max)};
	if (!aten_computes())
		return aten_empty(&bins, 1, self->dtype);
	double *v = values_of(self);
	if (e.lo == e.hi && aten_numel(self))
		range_of_values(&e, v, aten_numel(self), 1);
	check_range(&e, 1, "torch.histc()");
	return count_bins(self->dtype, &e, 1, v, aten_numel(self), NULL, false, false);
}

static void histogram_dims(const struct aten_tensor *self, const int64_t *bins, int dims, struct doubles range, const double *v,
			   struct edges *e)
{
	if (range.v && range.n != 2 * dims)
		aten_fail("histogramdd: for a %d-dimensional histogram range should have %d elements, but got %lld", dims, 2 * dims,
			  (long long)range.n);
	for (int d = 0; d < dims; d++) {
		e[d] = (struct edges){.dtype = self->dtype, .bins = bins[d]};
		if (range.v) {
			e[d].lo = elem_rounded(self->dtype, range.v[2 * d]);
			e[d].hi = elem_rounded(self->dtype, range.v[2 * d + 1]);
		} else if (aten_numel(self) && aten_computes()) {
			range_of_values(&e[d], v + d, aten_numel(self) / dims, dims);
		} else {
			e[d].hi = 1;
		}
		check_range(&e[d], 0.5, "histogramdd");
	}
}

static const double *weights_of(const struct aten_tensor *weight, int64_t n)
{
	if (!weight)
		return NULL;
	if (aten_numel(weight) != n)
		aten_fail("histogramdd: if weight tensor is provided it should have as many elements as there are points");
	return values_of(weight);
}

static struct aten_tensor *edge_tensor(const struct edges *e)
{
	int64_t n = e->bins + 1;
	struct aten_tensor *out = aten_new(e->dtype, 1, &n, NULL);

	for (int64_t i = 0; i < n && aten_computes(); i++)
		elem_set_f64(e->dtype, aten_data(out) + i * elem_bytes(e->dtype), edge(e, i));
	return out;
}

struct two aten_histogram(struct aten_tensor *self, int64_t bins, struct doubles range, const struct aten_tensor *weight, bool density)
{
	need_float(self, "histogram_cpu");
	int64_t n = aten_numel(self);
	const double *v = values_of(self);
	struct edges e;
	histogram_dims(self, &bins, 1, range, v, &e);
	return (struct two){count_bins(self->dtype, &e, 1, v, n, weights_of(weight, n), true, density), edge_tensor(&e)};
}

struct aten_tensor *aten_histogramdd(struct aten_tensor *self, struct ints bins, struct doubles range, const struct aten_tensor *weight,
				     bool density)
{
	need_float(self, "histogram_cpu");
	if (self->n_dim < 2 || self->size[self->n_dim - 1] != bins.n || bins.n < 1 || bins.n > ATEN_DIMS)
		aten_fail("histogramdd: expected as many bins as the size of the last dimension");
	int dims = (int)bins.n;
	int64_t n = aten_numel(self) / dims;
	const double *v = values_of(self);
	struct edges *e = aten_scratch((uint64_t)dims, sizeof(*e));
	histogram_dims(self, bins.v, dims, range, v, e);
	return count_bins(self->dtype, e, dims, v, n, weights_of(weight, n), true, density);
}

/* ---- by name ---- */

static void run_searchsorted(struct aten_call *c) /* sorted_sequence, self, out_int32, right, side, sorter */
{
	struct aten_tensor *sequence = call_tensor(c, 0), *value = call_operand(c, 1);
	call_give(
	    c, 0,
	    aten_searchsorted(sequence, value, call_bool(c, 2), call_bool(c, 3), call_string_or(c, 4, NULL), call_tensor_or_none(c, 5)));
}
static void run_bucketize(struct aten_call *c) /* self, boundaries, out_int32, right */
{
	call_give(c, 0, aten_bucketize(call_operand(c, 0), call_tensor(c, 1), call_bool(c, 2), call_bool(c, 3)));
}
static void run_histc(struct aten_call *c)
{
	call_give(c, 0, aten_histc(call_tensor(c, 0), call_int(c, 1), call_float(c, 2), call_float(c, 3)));
}
static void run_histogram(struct aten_call *c) /* self, bins, range, weight, density */
{
	call_give_two(c, aten_histogram(call_tensor(c, 0), call_int(c, 1), call_floats(c, 2), call_tensor_or_none(c, 3), call_bool(c, 4)));
}
static void run_histogramdd(struct aten_call *c)
{
	call_give(c, 0,
		  aten_histogramdd(call_tensor(c, 0), call_ints(c, 1), call_floats(c, 2), call_tensor_or_none(c, 3), call_bool(c, 4)));
}

const struct aten_entry aten_search_entries[] = {
    {"_histogramdd_from_bin_cts", run_histogramdd},
    {"bucketize.Scalar", run_bucketize},
    {"bucketize.Tensor", run_bucketize},
    {"histc", run_histc},
    {"histogram.bin_ct", run_histogram},
    {"searchsorted.Scalar", run_searchsorted},
    {"searchsorted.Tensor", run_searchsorted},
    {0},
};
