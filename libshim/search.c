/* search.c - searchsorted, bucketize, histc and histograms.
 *
 * Results are contiguous (torch 2.13, aten/src/ATen/native/Bucketization.cpp, Histogram.cpp, cpu/HistogramKernel.cpp).
 * Edges are torch.linspace's but for the last bit, which depends on the width of the CPU's vectors there: a value that
 * is on an inner edge may be counted on its other side.
 */
#include "elem.h"

#include <math.h>

/* ---- searchsorted ---- */

/* a >= b (or a > b): false with a NaN, which so comes behind everything, as in torch. Integers of one kind keep all
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
		shim_fail("sorter index out of range");
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

static void check_search(const struct shim_tensor *seq, const struct shim_tensor *values, const struct shim_tensor *sorter)
{
	elem_need_real(seq);
	elem_need_real(values);
	if (!seq->n_dim)
		shim_fail("input value can be a scalar only when boundaries tensor dimension is 1");
	if (sorter && (sorter->dtype != DTYPE_I64 || sorter->n_dim != seq->n_dim ||
		       memcmp(sorter->size, seq->size, (size_t)seq->n_dim * sizeof(*seq->size))))
		shim_fail("boundary and sorter must have the same size, sorter being int64");
	if (seq->n_dim == 1)
		return;
	if (values->n_dim != seq->n_dim || memcmp(values->size, seq->size, (size_t)(seq->n_dim - 1) * sizeof(*seq->size)))
		shim_fail("boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor "
			  "and input value "
			  "tensor must match");
}

static struct shim_tensor *search(struct shim_tensor *seq, struct shim_tensor *values, bool int32, bool right, struct shim_tensor *sorter)
{
	check_search(seq, values, sorter);
	int last = seq->n_dim - 1, n_dim = values->n_dim;
	struct shim_tensor *out = shim_new(int32 ? DTYPE_I32 : DTYPE_I64, n_dim, values->size, NULL);
	struct sequence s = {.dtype = seq->dtype, .n = seq->size[last], .step = line_step(seq, last)};
	int64_t steps[2][SHIM_DIMS] = {{0}};
	struct walk w;

	for (int i = 0; i < last; i++) {
		steps[0][i] = line_step(seq, i);
		steps[1][i] = sorter ? line_step(sorter, i) : 0;
	}
	s.order_step = sorter ? line_step(sorter, last) : 0;
	walk_begin(&w, n_dim, values->size);
	walk_add(&w, shim_data(values), values);
	walk_add(&w, shim_data(out), out);
	walk_add_steps(&w, shim_data(seq), steps[0]);
	walk_add_steps(&w, sorter ? shim_data(sorter) : shim_data(seq), steps[1]);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		s.p = w.p[2];
		s.order = sorter ? w.p[3] : NULL;
		elem_set_i64(out->dtype, w.p[1], bound(&s, values->dtype, w.p[0], right));
	}
	return out;
}

/* Both say the same; left with right=True contradicts. */
static bool side_right(bool right, const char *const *side)
{
	if (!side || !*side)
		return right;
	if (!strcmp(*side, "left") && right)
		shim_fail("side and right can't be set to opposites, got side of left while right was True");
	if (strcmp(*side, "left") && strcmp(*side, "right"))
		shim_fail("side can only be 'left' or 'right' but got %s", *side);
	return right || !strcmp(*side, "right");
}

AOTITorchError aoti_torch_cpu_searchsorted_Tensor(AtenTensorHandle sorted_sequence, AtenTensorHandle self, int32_t out_int32, int32_t right,
						  const char **side, AtenTensorHandle *sorter, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, search(sorted_sequence, self, out_int32, side_right(right, side), sorter ? *sorter : NULL));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_searchsorted_Scalar(AtenTensorHandle sorted_sequence, double self, int32_t out_int32, int32_t right,
						  const char **side, AtenTensorHandle *sorter, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		int64_t none = 0;
		struct shim_tensor *value = shim_new(DTYPE_F64, 0, &none, NULL);
		elem_set_f64(DTYPE_F64, shim_data(value), self);
		if (sorted_sequence->n_dim != 1)
			shim_fail("input value can be a scalar only when boundaries tensor dimension is 1");
		SHIM_GIVE(ret0, search(sorted_sequence, value, out_int32, side_right(right, side), sorter ? *sorter : NULL));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_bucketize_Tensor(AtenTensorHandle self, AtenTensorHandle boundaries, int32_t out_int32, int32_t right,
					       AtenTensorHandle *ret0)
{
	SHIM_TRY {
		if (boundaries->n_dim != 1)
			shim_fail("boundaries tensor must be 1 dimension, but got dim(%d)", boundaries->n_dim);
		SHIM_GIVE(ret0, search(boundaries, self, out_int32, right, NULL));
	}
	SHIM_END
}

/* ---- histograms ---- */

/* Edges of one dim, rounded to the input's dtype at each step as torch's arithmetic in that dtype is. */
struct edges {
	int dtype;
	int64_t bins;
	double lo, hi;
};

static double rounded(int dtype, double v)
{
	char p[8];

	elem_set_f64(dtype, p, v);
	return elem_f64(dtype, p);
}

/* torch.linspace: from both ends towards the middle. */
static double edge(const struct edges *e, int64_t i)
{
	double step = rounded(e->dtype, rounded(e->dtype, e->hi - e->lo) / (double)e->bins);

	if (i < (e->bins + 1) / 2)
		return rounded(e->dtype, e->lo + rounded(e->dtype, step * (double)i));
	return rounded(e->dtype, e->hi - rounded(e->dtype, step * (double)(e->bins - i)));
}

/* The bin of v, or -1. `local`: torch's histogram looks at the neighbouring edges too, histc does not. */
static int64_t bin_of(const struct edges *e, double v, bool local)
{
	if (!(v >= e->lo && v <= e->hi))
		return -1;
	double at = rounded(e->dtype, rounded(e->dtype, v - e->lo) * (double)e->bins);
	int64_t pos = (int64_t)rounded(e->dtype, at / rounded(e->dtype, e->hi - e->lo));
	if (local) {
		int64_t from = pos > 0 ? pos - 1 : 0, to = pos + 2 < e->bins + 1 ? pos + 2 : e->bins + 1;
		while (from < to && edge(e, from) <= v)
			from++;
		pos = from - 1;
	}
	return pos >= e->bins ? e->bins - 1 : pos;
}

/* Where no range is given: that of the values, widened when it is none. */
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
		e->lo = rounded(e->dtype, e->lo - widen);
		e->hi = rounded(e->dtype, e->hi + widen);
	}
	if (!isfinite(e->lo) || !isfinite(e->hi))
		shim_fail("%s: range of [%g, %g] is not finite", op, e->lo, e->hi);
	if (e->lo > e->hi)
		shim_fail("%s: max must be larger than min", op);
}

static double *values_of(const struct shim_tensor *t)
{
	int64_t n = shim_numel(t), at = 0;
	double *v = shim_scratch((uint64_t)n, sizeof(*v));
	struct walk w;

	walk_begin(&w, t->n_dim, t->size);
	walk_add(&w, shim_data(t), t);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		v[at++] = elem_f64(t->dtype, w.p[0]);
	return v;
}

static void need_float(const struct shim_tensor *t, const char *op)
{
	if (!elem_floating(t->dtype))
		shim_fail("\"%s\" not implemented for '%s'", op, dtype_name(t->dtype));
}

/* `n` points of `dims` numbers each into bins of all dims; weight NULL: 1. */
static struct shim_tensor *count_bins(int dtype, const struct edges *e, int dims, const double *v, int64_t n, const double *weight,
				      bool local, bool density)
{
	int64_t size[SHIM_DIMS], total = 1;

	for (int d = 0; d < dims; d++) {
		size[d] = e[d].bins;
		if (__builtin_mul_overflow(total, size[d], &total) || size[d] < 1)
			shim_fail("bins must be > 0");
	}
	struct shim_tensor *out = shim_new(dtype, dims, size, NULL);
	double *count = shim_scratch((uint64_t)total, sizeof(*count)), sum = 0;
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
		elem_set_f64(dtype, shim_data(out) + i * elem_bytes(dtype), density ? c / sum : c);
	}
	return out;
}

AOTITorchError aoti_torch_cpu_histc(AtenTensorHandle self, int64_t bins, double min, double max, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		need_float(self, "histogram_cpu");
		if (bins < 1)
			shim_fail("torch.histc(): bins must be > 0, but got %lld", (long long)bins);
		struct edges e = {self->dtype, bins, rounded(self->dtype, min), rounded(self->dtype, max)};
		double *v = values_of(self);
		if (e.lo == e.hi && shim_numel(self))
			range_of_values(&e, v, shim_numel(self), 1);
		check_range(&e, 1, "torch.histc()");
		SHIM_GIVE(ret0, count_bins(self->dtype, &e, 1, v, shim_numel(self), NULL, false, false));
	}
	SHIM_END
}

static void histogram_dims(const struct shim_tensor *self, const int64_t *bins, int dims, const double *const *range, int64_t range_len,
			   const double *v, struct edges *e)
{
	if (range && range_len != 2 * dims)
		shim_fail("histogramdd: for a %d-dimensional histogram range should have %d elements, but got %lld", dims, 2 * dims,
			  (long long)range_len);
	for (int d = 0; d < dims; d++) {
		e[d] = (struct edges){.dtype = self->dtype, .bins = bins[d]};
		if (range) {
			e[d].lo = rounded(self->dtype, (*range)[2 * d]);
			e[d].hi = rounded(self->dtype, (*range)[2 * d + 1]);
		} else if (shim_numel(self)) {
			range_of_values(&e[d], v + d, shim_numel(self) / dims, dims);
		} else {
			e[d].hi = 1;
		}
		check_range(&e[d], 0.5, "histogramdd");
	}
}

static const double *weights_of(AtenTensorHandle *weight, int64_t n)
{
	if (!weight || !*weight)
		return NULL;
	if (shim_numel(*weight) != n)
		shim_fail("histogramdd: if weight tensor is provided it should have as many elements as there are points");
	return values_of(*weight);
}

static struct shim_tensor *edge_tensor(const struct edges *e)
{
	int64_t n = e->bins + 1;
	struct shim_tensor *out = shim_new(e->dtype, 1, &n, NULL);

	for (int64_t i = 0; i < n; i++)
		elem_set_f64(e->dtype, shim_data(out) + i * elem_bytes(e->dtype), edge(e, i));
	return out;
}

AOTITorchError aoti_torch_cpu_histogram_bin_ct(AtenTensorHandle self, int64_t bins, const double **range, int64_t range_len_,
					       AtenTensorHandle *weight, int32_t density, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	SHIM_TRY {
		need_float(self, "histogram_cpu");
		int64_t n = shim_numel(self);
		const double *v = values_of(self);
		struct edges e;
		histogram_dims(self, &bins, 1, range, range_len_, v, &e);
		struct shim_tensor *out = count_bins(self->dtype, &e, 1, v, n, weights_of(weight, n), true, density);
		struct shim_tensor *at = edge_tensor(&e);
		SHIM_GIVE(ret0, out);
		SHIM_GIVE(ret1, at);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu__histogramdd_from_bin_cts(AtenTensorHandle self, const int64_t *bins, int64_t bins_len_, const double **range,
							int64_t range_len_, AtenTensorHandle *weight, int32_t density,
							AtenTensorHandle *ret0)
{
	SHIM_TRY {
		need_float(self, "histogram_cpu");
		if (self->n_dim < 2 || self->size[self->n_dim - 1] != bins_len_ || bins_len_ < 1 || bins_len_ > SHIM_DIMS)
			shim_fail("histogramdd: expected as many bins as the size of the last dimension");
		int dims = (int)bins_len_;
		int64_t n = shim_numel(self) / dims;
		const double *v = values_of(self);
		struct edges *e = shim_scratch((uint64_t)dims, sizeof(*e));
		histogram_dims(self, bins, dims, range, range_len_, v, e);
		SHIM_GIVE(ret0, count_bins(self->dtype, e, dims, v, n, weights_of(weight, n), true, density));
	}
	SHIM_END
}
