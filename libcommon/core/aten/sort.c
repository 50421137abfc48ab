/* sort.c - sort, topk, kthvalue, median, mode.
 *
 * Strides (torch 2.13, aten/src/ATen/native/Sorting.cpp): sort keeps those of a dense input and infers dense ones for
 * others, as empty_like does; everything else is contiguous. NaN is the largest value. For ties, sort is stable; topk and kthvalue return
 * the same ones as torch (select.h); median may return a different one.
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

/* aten/src/ATen/native/TopKImpl.h: few of many with a heap; else those up to the k-th, which is already in its place. */
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

/* Put the first n of the sorted line into values and indices. */
static void put_sorted(const struct sorter *s, const struct walk *w, int64_t n, int64_t value_step, int64_t index_step)
{
	int bytes = elem_bytes(s->dtype);

	for (int64_t i = 0; i < n; i++) {
		elem_copy(w->p[1] + i * value_step, w->p[0] + s->sorted[i].at * s->step, bytes);
		elem_copy(w->p[2] + i * index_step, &s->sorted[i].at, 8);
	}
}

struct two aten_sort(struct aten_tensor *self, int64_t dim_, bool descending)
{
	struct aten_tensor *values = aten_like(self, self->dtype), *indices = aten_like(self, DTYPE_I64);
	int dim = aten_dim(self, dim_);
	struct sorter s = sorter_of(self, dim, descending);
	struct walk w = WALK_LINES(dim, self, values, indices);

	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		sorter_run(&s, w.p[0]);
		put_sorted(&s, &w, s.n, line_step(values, dim), line_step(indices, dim));
	}
	return (struct two){values, indices};
}

struct two aten_topk(struct aten_tensor *self, int64_t k, int64_t dim_, bool largest, bool sorted)
{
	int dim = aten_dim(self, dim_);
	int64_t size[ATEN_DIMS];
	struct sorter s = sorter_of(self, dim, largest);

	if (k < 0 || k > line_size(self, dim))
		aten_fail("selected index k out of range");
	memcpy(size, self->size, sizeof(size));
	if (self->n_dim)
		size[dim] = k;
	struct aten_tensor *values = aten_new(self->dtype, self->n_dim, size, NULL);
	struct aten_tensor *indices = aten_new(DTYPE_I64, self->n_dim, size, NULL);
	k = self->n_dim ? k : 1;
	struct walk w = WALK_LINES(dim, self, values, indices);
	for (bool more = k && walk_first(&w); more; more = walk_next(&w)) {
		sorter_first(&s, w.p[0], k, sorted);
		put_sorted(&s, &w, k, line_step(values, dim), line_step(indices, dim));
	}
	return (struct two){values, indices};
}

/* Chooses an element of the line at p; returns its position. */
typedef int64_t line_choice(struct sorter *s, const char *p, int64_t how);

/* The chosen element of each line along dim, and its position. */
static struct two choose_of_lines(struct aten_tensor *self, int dim, bool keep, line_choice *choose, int64_t how)
{
	int64_t size[ATEN_DIMS];
	struct sorter s = sorter_of(self, dim, false);

	memcpy(size, self->size, sizeof(size));
	if (self->n_dim)
		size[dim] = 1;
	struct aten_tensor *values = aten_new(self->dtype, self->n_dim, size, NULL);
	struct aten_tensor *indices = aten_new(DTYPE_I64, self->n_dim, size, NULL);
	struct walk w = WALK_LINES(dim, self, values, indices);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int64_t at = choose(&s, w.p[0], how);
		elem_copy(w.p[1], w.p[0] + at * s.step, elem_bytes(s.dtype));
		elem_copy(w.p[2], &at, 8);
	}
	return keep ? (struct two){values, indices} : (struct two){aten_squeeze_dim(values, dim), aten_squeeze_dim(indices, dim)};
}

static int64_t kth_of_line(struct sorter *s, const char *p, int64_t k)
{
	sorter_load(s, p);
	pairs_quick(s->a, k - 1, s->n);
	return s->a[k - 1].at;
}

struct two aten_kthvalue(struct aten_tensor *self, int64_t k, int64_t dim_, bool keepdim)
{
	int dim = aten_dim(self, dim_);
	elem_need_real(self);
	if (k < 1 || k > line_size(self, dim))
		aten_fail("kthvalue(): selected number k out of range for dimension %d", dim);
	return choose_of_lines(self, dim, keepdim, kth_of_line, k);
}

/* The lower of the two middle values, over all elements. With NaN among them: NaN, or (ignore_nan) the median of the
 * rest. */
struct aten_tensor *aten_median(struct aten_tensor *self, bool ignore_nan)
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

/* The first NaN if there is one, unless they are ignored. */
static int64_t median_of_line(struct sorter *s, const char *p, int64_t ignore_nan)
{
	int64_t n_nan = 0;

	sorter_run(s, p);
	while (elem_floating(s->dtype) && n_nan < s->n && s->sorted[s->n - 1 - n_nan].key == UINT64_MAX)
		n_nan++;
	if (n_nan && !ignore_nan)
		return s->sorted[s->n - n_nan].at;
	return s->sorted[n_nan < s->n ? (s->n - n_nan - 1) / 2 : 0].at;
}

static void run_median_dim(struct aten_call *c) /* self, dim, keepdim; entry.data: NaN is ignored */
{
	struct aten_tensor *self = call_tensor(c, 0);
	int dim = aten_dim(self, call_int(c, 1));
	bool keep = call_bool(c, 2);

	elem_need_real(self);
	if (self->dtype == DTYPE_BOOL)
		aten_fail("\"median_out\" not implemented for 'Bool'");
	if (!line_size(self, dim))
		aten_fail("median(): Expected reduction dim %d to have non-zero size.", dim);
	call_give_two(c, choose_of_lines(self, dim, keep, median_of_line, c->entry->data != NULL));
}

/* The smallest of the most frequent values, and its last position. torch compares only with <, so with NaN its result depends on
 * std::sort's moves; here NaN is the largest, and each one a distinct value. */
static int64_t mode_of_line(struct sorter *s, const char *p, int64_t how)
{
	int64_t best = 0, best_count = 0, count = 0;
	bool floating = elem_floating(s->dtype);

	(void)how;
	sorter_load(s, p);
	pairs_sort(s->a, s->n);
	for (int64_t i = 0; i < s->n; i++) {
		uint64_t key = s->a[i].key;
		count++;
		if (i + 1 < s->n && s->a[i + 1].key == key && !(floating && key == UINT64_MAX))
			continue;
		if (count > best_count) {
			best = s->a[i].at;
			best_count = count;
		}
		count = 0;
	}
	return best;
}

struct two aten_mode(struct aten_tensor *self, int64_t dim_, bool keepdim)
{
	int dim = aten_dim(self, dim_);
	bool empty = !line_size(self, dim);

	elem_need_real(self);
	for (int i = 0; i < self->n_dim && empty; i++)
		empty = i == dim || self->size[i];
	if (empty)
		aten_fail("mode(): Expected reduction dim %d to have non-zero size.", dim);
	return choose_of_lines(self, dim, keepdim, mode_of_line, 0);
}

/* ---- by name ---- */

static struct two sorted_of_call(const struct aten_call *c) /* self, [stable,] dim, descending */
{
	return aten_sort(call_tensor(c, 0), call_int(c, c->n - 2), call_bool(c, c->n - 1));
}
static void run_sort(struct aten_call *c) { call_give_two(c, sorted_of_call(c)); }
static void run_argsort(struct aten_call *c) { call_give(c, 0, sorted_of_call(c).second); }
static void run_msort(struct aten_call *c) { call_give(c, 0, aten_sort(call_tensor(c, 0), 0, false).first); }
static void run_topk(struct aten_call *c) /* self, k, dim, largest, sorted */
{
	call_give_two(c, aten_topk(call_tensor(c, 0), call_int(c, 1), call_int(c, 2), call_bool(c, 3), call_bool(c, 4)));
}
static void run_kthvalue(struct aten_call *c) /* self, k, dim, keepdim */
{
	call_give_two(c, aten_kthvalue(call_tensor(c, 0), call_int(c, 1), call_int(c, 2), call_bool(c, 3)));
}
static void run_mode(struct aten_call *c) /* self, dim, keepdim */
{
	call_give_two(c, aten_mode(call_tensor(c, 0), call_int(c, 1), call_bool(c, 2)));
}
static void run_median(struct aten_call *c) { call_give(c, 0, aten_median(call_tensor(c, 0), c->entry->data)); }

const struct aten_entry aten_sort_entries[] = {
    {"argsort", run_argsort},
    {"argsort.stable", run_argsort},
    {"kthvalue", run_kthvalue},
    {"median", run_median},
    {"median.dim", run_median_dim},
    {"mode", run_mode},
    {"msort", run_msort},
    {"nanmedian", run_median, "nan"},
    {"nanmedian.dim", run_median_dim, "nan"},
    {"sort", run_sort},
    {"sort.stable", run_sort},
    {"topk", run_topk},
    {0},
};
