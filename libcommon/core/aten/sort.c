/* sort.c - sort, topk, kthvalue, median, mode.
 *
 * Strides (torch 2.13, aten/src/ATen/native/Sorting.cpp): sort keeps those of a dense input and infers dense ones for
 * others, as empty_like does; everything else is contiguous. NaN is the largest value. Of tied values, sort gives the
 * first ones first; topk and kthvalue name those that torch does (select.h); median may name another one.
 */
#include "call.h"
#include "elem.h"
#include "ops.h"
#include "select.h"

#include <math.h>

static void merge(const struct pair *a, const struct pair *mid, const struct pair *end, struct pair *out)
{
	const struct pair *b = mid;

	while (a < mid && b < end)
		*out++ = b->key < a->key ? *b++ : *a++;
	while (a < mid)
		*out++ = *a++;
	while (b < end)
		*out++ = *b++;
}

static void sort_run(struct pair *v, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		struct pair x = v[i];
		int64_t j = i;
		for (; j && x.key < v[j - 1].key; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

/* Stable. */
static struct pair *sort_pairs(struct pair *v, struct pair *tmp, int64_t n)
{
	enum { RUN = 12 };

	for (int64_t i = 0; i < n; i += RUN)
		sort_run(v + i, n - i < RUN ? n - i : RUN);
	for (int64_t width = RUN; width < n; width *= 2) {
		for (int64_t i = 0; i < n; i += 2 * width) {
			int64_t mid = i + width < n ? i + width : n, end = i + 2 * width < n ? i + 2 * width : n;
			merge(v + i, v + mid, v + end, tmp + i);
		}
		struct pair *t = v;
		v = tmp;
		tmp = t;
	}
	return v;
}

/* The line at p in order; the memory is the sorter's. */
struct sorter {
	struct pair *a, *b, *sorted;
	int dtype;
	int64_t n, step;
	uint64_t flip; /* all ones: descending */
};

static struct sorter sorter_of(const struct aten_tensor *t, int dim, bool descending)
{
	elem_need_real(t);
	int64_t n = line_size(t, dim);
	struct pair *a = aten_scratch_values((uint64_t)n, sizeof(*a)), *b = aten_scratch_values((uint64_t)n, sizeof(*b));
	return (struct sorter){a, b, a, t->dtype, n, line_step(t, dim), descending ? UINT64_MAX : 0};
}

static void sorter_load(struct sorter *s, const char *p)
{
	for (int64_t i = 0; i < s->n; i++)
		s->a[i] = (struct pair){elem_key(s->dtype, p + i * s->step) ^ s->flip, i};
}

static void sorter_run(struct sorter *s, const char *p)
{
	sorter_load(s, p);
	s->sorted = sort_pairs(s->a, s->b, s->n);
	if (s->sorted != s->a) {
		s->b = s->a;
		s->a = s->sorted;
	}
}

const int64_t *aten_argsort(const struct aten_tensor *line)
{
	struct sorter s = sorter_of(line, 0, false);
	int64_t *at = aten_scratch((uint64_t)s.n, sizeof(*at));

	sorter_run(&s, aten_data(line));
	for (int64_t i = 0; i < s.n; i++)
		at[i] = s.sorted[i].at;
	return at;
}

/* aten/src/ATen/native/TopKImpl.h: few of many by a heap; else those up to the k-th, of which that one stands where it belongs already. */
static void sorter_first(struct sorter *s, const char *p, int64_t k, bool in_order)
{
	sorter_load(s, p);
	s->sorted = s->a;
	if (k <= s->n / 64) {
		pairs_first(s->a, k, s->n);
		return;
	}
	pairs_nth(s->a, k - 1, s->n);
	if (in_order)
		pairs_sort(s->a, k - 1);
}

static void walk_three(struct walk *w, const struct aten_tensor *self, struct aten_tensor *values, struct aten_tensor *indices, int dim)
{
	walk_begin(w, self->n_dim, self->size);
	walk_lines(w, dim);
	walk_add(w, aten_data(self), self);
	walk_add(w, aten_data(values), values);
	walk_add(w, aten_data(indices), indices);
}

/* Put the first n of the sorted line into values and indices. */
static void put_sorted(const struct sorter *s, const struct walk *w, int64_t n, int64_t value_step, int64_t index_step)
{
	int bytes = elem_bytes(s->dtype);

	for (int64_t i = 0; i < n; i++) {
		elem_copy(w->p[1] + i * value_step, w->p[0] + s->sorted[i].at * s->step, bytes);
		elem_copy(w->p[2] + i * index_step, &s->sorted[i].at, 8);
	}
}

static void sort_op(struct aten_tensor *self, int64_t dim_, bool descending, struct aten_tensor **ret0, struct aten_tensor **ret1)
{
	struct aten_tensor *values = aten_like(self, self->dtype), *indices = aten_like(self, DTYPE_I64);
	int dim = aten_dim(self, dim_);
	struct sorter s = sorter_of(self, dim, descending);
	struct walk w;

	walk_three(&w, self, values, indices, dim);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		sorter_run(&s, w.p[0]);
		put_sorted(&s, &w, s.n, line_step(values, dim), line_step(indices, dim));
	}
	GIVE(ret0, values);
	GIVE(ret1, indices);
}

void aten_sort(struct aten_tensor *self, int64_t dim, int32_t descending, struct aten_tensor **ret0, struct aten_tensor **ret1)
{
	sort_op(self, dim, descending, ret0, ret1);
}

void aten_sort_stable(struct aten_tensor *self, int32_t *stable, int64_t dim, int32_t descending, struct aten_tensor **ret0,
		      struct aten_tensor **ret1)
{
	(void)stable; /* always */
	sort_op(self, dim, descending, ret0, ret1);
}

static void topk(struct aten_tensor *self, int64_t k, int64_t dim_, bool largest, bool sorted, struct aten_tensor **ret0,
		 struct aten_tensor **ret1)
{
	int dim = aten_dim(self, dim_);
	int64_t size[ATEN_DIMS];
	struct sorter s = sorter_of(self, dim, largest);
	struct walk w;

	if (k < 0 || k > line_size(self, dim))
		aten_fail("selected index k out of range");
	memcpy(size, self->size, sizeof(size));
	if (self->n_dim)
		size[dim] = k;
	struct aten_tensor *values = aten_new(self->dtype, self->n_dim, size, NULL);
	struct aten_tensor *indices = aten_new(DTYPE_I64, self->n_dim, size, NULL);
	k = self->n_dim ? k : 1;
	walk_three(&w, self, values, indices, dim);
	for (bool more = k && walk_first(&w); more; more = walk_next(&w)) {
		sorter_first(&s, w.p[0], k, sorted);
		put_sorted(&s, &w, k, line_step(values, dim), line_step(indices, dim));
	}
	GIVE(ret0, values);
	GIVE(ret1, indices);
}

void aten_topk(struct aten_tensor *self, int64_t k, int64_t dim, int32_t largest, int32_t sorted, struct aten_tensor **ret0,
	       struct aten_tensor **ret1)
{
	topk(self, k, dim, largest, sorted, ret0, ret1);
}

/* The result of a reduction along dim; its walk sees it with dim as 1. */
static struct aten_tensor *reduced(const struct aten_tensor *self, int dtype, int dim, bool keep, struct aten_tensor **ret)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	int n = 0;

	memcpy(size, self->size, sizeof(size));
	if (self->n_dim)
		size[dim] = 1;
	struct aten_tensor *kept = aten_new(dtype, self->n_dim, size, NULL);
	if (keep || !self->n_dim)
		return *ret = kept;
	for (int i = 0; i < self->n_dim; i++)
		if (i != dim) {
			size[n] = kept->size[i];
			stride[n++] = kept->stride[i];
		}
	*ret = aten_view(kept, n, size, stride, kept->offset);
	return kept;
}

static void kthvalue(struct aten_tensor *self, int64_t k, int64_t dim_, bool keep, struct aten_tensor **ret0, struct aten_tensor **ret1)
{
	int dim = aten_dim(self, dim_);
	struct aten_tensor *v, *x, *values = reduced(self, self->dtype, dim, keep, &v);
	struct aten_tensor *indices = reduced(self, DTYPE_I64, dim, keep, &x);
	struct sorter s = sorter_of(self, dim, false);
	struct walk w;

	if (k < 1 || k > s.n)
		aten_fail("kthvalue(): selected number k out of range for dimension %d", dim);
	walk_three(&w, self, values, indices, dim);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		sorter_load(&s, w.p[0]);
		pairs_quick(s.a, k - 1, s.n);
		elem_copy(w.p[1], w.p[0] + s.a[k - 1].at * s.step, elem_bytes(s.dtype));
		elem_copy(w.p[2], &s.a[k - 1].at, 8);
	}
	GIVE(ret0, v);
	GIVE(ret1, x);
}

void aten_kthvalue(struct aten_tensor *self, int64_t k, int64_t dim, int32_t keepdim, struct aten_tensor **ret0, struct aten_tensor **ret1)
{
	kthvalue(self, k, dim, keepdim, ret0, ret1);
}

/* The lower of the two middle values, over all elements. With NaN among them: NaN, or (ignore_nan) the median of the
 * rest. */
static struct aten_tensor *median(struct aten_tensor *self, bool ignore_nan)
{
	int64_t n = aten_numel(self), zero_stride = 1, n_nan = 0;
	struct aten_tensor *flat = aten_clone_contiguous(self), *out = aten_new(self->dtype, 0, NULL, NULL);

	flat = aten_view(flat, 1, &n, &zero_stride, flat->offset);
	if (!aten_computes())
		return out;
	if (!n) {
		elem_set_f64(out->dtype, aten_data(out), (double)NAN);
		return out;
	}
	struct sorter s = sorter_of(flat, 0, false);
	sorter_run(&s, aten_data(flat));
	if (elem_floating(self->dtype))
		while (n_nan < n && s.sorted[n - 1 - n_nan].key == UINT64_MAX)
			n_nan++;
	int64_t k = !n_nan || (ignore_nan && n_nan < n) ? (n - n_nan - 1) / 2 : n - 1;
	elem_copy(aten_data(out), aten_data(flat) + s.sorted[k].at * s.step, elem_bytes(s.dtype));
	return out;
}

struct aten_tensor *aten_median(struct aten_tensor *self) { return median(self, false); }

struct aten_tensor *aten_nanmedian(struct aten_tensor *self) { return median(self, true); }

/* Where the median of a line is: the first NaN if there is one, unless they are ignored. */
static int64_t median_of_line(const struct sorter *s, bool ignore_nan)
{
	int64_t n_nan = 0;

	while (elem_floating(s->dtype) && n_nan < s->n && s->sorted[s->n - 1 - n_nan].key == UINT64_MAX)
		n_nan++;
	if (n_nan && !ignore_nan)
		return s->sorted[s->n - n_nan].at;
	return s->sorted[n_nan < s->n ? (s->n - n_nan - 1) / 2 : 0].at;
}

static void median_dim(struct aten_call *c, bool ignore_nan)
{
	struct aten_tensor *self = call_tensor(c, 0);
	bool keep = call_bool(c, 2);
	int dim = aten_dim(self, call_int(c, 1));
	struct aten_tensor *v, *x, *values = reduced(self, self->dtype, dim, keep, &v);
	struct aten_tensor *indices = reduced(self, DTYPE_I64, dim, keep, &x);
	struct sorter s = sorter_of(self, dim, false);
	struct walk w;

	if (self->dtype == DTYPE_BOOL)
		aten_fail("\"median_out\" not implemented for 'Bool'");
	if (!s.n)
		aten_fail("median(): Expected reduction dim %d to have non-zero size.", dim);
	walk_three(&w, self, values, indices, dim);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		sorter_run(&s, w.p[0]);
		int64_t at = median_of_line(&s, ignore_nan);
		elem_copy(w.p[1], w.p[0] + at * s.step, elem_bytes(s.dtype));
		elem_copy(w.p[2], &at, 8);
	}
	call_give_two(c, v, x);
}

static void run_median_dim(struct aten_call *c) { median_dim(c, false); }
static void run_nanmedian_dim(struct aten_call *c) { median_dim(c, true); }

/* The smallest of the most frequent values, and where it stands last. torch compares with < alone, so that with NaN its
 * result is that of std::sort's moves; here NaN is the largest, and each one a value of its own. */
static int64_t mode_of_line(const struct sorter *s)
{
	int64_t best = 0, best_count = 0, count = 0;
	bool floating = elem_floating(s->dtype);

	for (int64_t i = 0; i < s->n; i++) {
		uint64_t key = s->sorted[i].key;
		count++;
		if (i + 1 < s->n && s->sorted[i + 1].key == key && !(floating && key == UINT64_MAX))
			continue;
		if (count > best_count) {
			best = s->sorted[i].at;
			best_count = count;
		}
		count = 0;
	}
	return best;
}

static void mode(struct aten_tensor *self, int64_t dim_, bool keep, struct aten_tensor **ret0, struct aten_tensor **ret1)
{
	int dim = aten_dim(self, dim_);
	struct aten_tensor *v, *x, *values = reduced(self, self->dtype, dim, keep, &v);
	struct aten_tensor *indices = reduced(self, DTYPE_I64, dim, keep, &x);
	struct sorter s = sorter_of(self, dim, false);
	struct walk w;

	if (!s.n && aten_numel(values))
		aten_fail("mode(): Expected reduction dim %d to have non-zero size.", dim);
	walk_three(&w, self, values, indices, dim);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		sorter_load(&s, w.p[0]);
		pairs_sort(s.a, s.n);
		int64_t at = mode_of_line(&s);
		elem_copy(w.p[1], w.p[0] + at * s.step, elem_bytes(s.dtype));
		elem_copy(w.p[2], &at, 8);
	}
	GIVE(ret0, v);
	GIVE(ret1, x);
}

void aten_mode(struct aten_tensor *self, int64_t dim, int32_t keepdim, struct aten_tensor **ret0, struct aten_tensor **ret1)
{
	mode(self, dim, keepdim, ret0, ret1);
}

/* ---- by name ---- */

static void run_sort(struct aten_call *c) /* self, [stable,] dim, descending */
{
	struct aten_tensor *v, *x;
	aten_sort(call_tensor(c, 0), call_int(c, c->n - 2), call_bool(c, c->n - 1), &v, &x);
	call_give_two(c, v, x);
}
static void run_argsort(struct aten_call *c)
{
	struct aten_tensor *v, *x;
	aten_sort(call_tensor(c, 0), call_int(c, c->n - 2), call_bool(c, c->n - 1), &v, &x);
	call_give(c, 0, x);
}
static void run_msort(struct aten_call *c)
{
	struct aten_tensor *v, *x;
	aten_sort(call_tensor(c, 0), 0, false, &v, &x);
	call_give(c, 0, v);
}
static void run_topk(struct aten_call *c) /* self, k, dim, largest, sorted */
{
	struct aten_tensor *v, *x;
	aten_topk(call_tensor(c, 0), call_int(c, 1), call_int(c, 2), call_bool(c, 3), call_bool(c, 4), &v, &x);
	call_give_two(c, v, x);
}
static void run_kthvalue(struct aten_call *c) /* self, k, dim, keepdim */
{
	struct aten_tensor *v, *x;
	aten_kthvalue(call_tensor(c, 0), call_int(c, 1), call_int(c, 2), call_bool(c, 3), &v, &x);
	call_give_two(c, v, x);
}
static void run_mode(struct aten_call *c) /* self, dim, keepdim */
{
	struct aten_tensor *v, *x;
	aten_mode(call_tensor(c, 0), call_int(c, 1), call_bool(c, 2), &v, &x);
	call_give_two(c, v, x);
}
static void run_median(struct aten_call *c) { call_give(c, 0, median(call_tensor(c, 0), c->entry->data)); }

const struct aten_entry aten_sort_entries[] = {
    {"argsort", run_argsort},
    {"argsort.stable", run_argsort},
    {"kthvalue", run_kthvalue},
    {"median", run_median},
    {"median.dim", run_median_dim},
    {"mode", run_mode},
    {"msort", run_msort},
    {"nanmedian", run_median, "nan"},
    {"nanmedian.dim", run_nanmedian_dim},
    {"sort", run_sort},
    {"sort.stable", run_sort},
    {"topk", run_topk},
    {0},
};
