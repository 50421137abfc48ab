/* sort.c - sort, topk, kthvalue, median, mode.
 *
 * Strides (torch 2.13, aten/src/ATen/native/Sorting.cpp): sort keeps those of a dense input and infers dense ones for
 * others, as empty_like does; everything else is contiguous. NaN is the largest value. Of tied values, sort gives the
 * first ones first; topk, kthvalue and median may name another of them than torch, whose choice is that of
 * std::nth_element. topk(sorted=False) comes sorted.
 */
#include "elem.h"
#include "proxy.h"

#include <math.h>

struct pair {
	uint64_t key;
	int64_t at;
};

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

static struct sorter sorter_of(const struct shim_tensor *t, int dim, bool descending)
{
	elem_need_real(t);
	int64_t n = line_size(t, dim);
	struct pair *mem = shim_scratch((uint64_t)n, 2 * sizeof(*mem));
	return (struct sorter){mem, mem + n, mem, t->dtype, n, line_step(t, dim), descending ? UINT64_MAX : 0};
}

static void sorter_run(struct sorter *s, const char *p)
{
	for (int64_t i = 0; i < s->n; i++)
		s->a[i] = (struct pair){elem_key(s->dtype, p + i * s->step) ^ s->flip, i};
	s->sorted = sort_pairs(s->a, s->b, s->n);
	if (s->sorted != s->a) {
		s->b = s->a;
		s->a = s->sorted;
	}
}

/* Whether a comes behind b in a stable order. */
static bool behind(const struct pair *a, const struct pair *b) { return a->key > b->key || (a->key == b->key && a->at > b->at); }

static void sift_down(struct pair *heap, int64_t k, struct pair x)
{
	int64_t i = 0;

	for (int64_t child; (child = 2 * i + 1) < k; i = child) {
		if (child + 1 < k && behind(&heap[child + 1], &heap[child]))
			child++;
		if (!behind(&heap[child], &x))
			break;
		heap[i] = heap[child];
	}
	heap[i] = x;
}

const int64_t *shim_argsort(const struct shim_tensor *line)
{
	struct sorter s = sorter_of(line, 0, false);
	int64_t *at = shim_scratch((uint64_t)s.n, sizeof(*at));

	sorter_run(&s, shim_data(line));
	for (int64_t i = 0; i < s.n; i++)
		at[i] = s.sorted[i].at;
	return at;
}

/* Only the first k of the line, through a heap of those found so far, the last one of them on top. */
static void sorter_first(struct sorter *s, const char *p, int64_t k)
{
	int64_t n = 0;

	for (int64_t i = 0; i < s->n; i++) {
		struct pair x = {elem_key(s->dtype, p + i * s->step) ^ s->flip, i};
		if (n < k) {
			int64_t at = n++;
			for (; at && behind(&x, &s->a[(at - 1) / 2]); at = (at - 1) / 2)
				s->a[at] = s->a[(at - 1) / 2];
			s->a[at] = x;
		} else if (x.key < s->a[0].key) {
			sift_down(s->a, k, x);
		}
	}
	for (; n > 1; n--) {
		struct pair last = s->a[n - 1];
		s->a[n - 1] = s->a[0];
		sift_down(s->a, n - 1, last);
	}
	s->sorted = s->a;
}

static void walk_three(struct walk *w, const struct shim_tensor *self, struct shim_tensor *values, struct shim_tensor *indices, int dim)
{
	walk_begin(w, self->n_dim, self->size);
	walk_lines(w, dim);
	walk_add(w, shim_data(self), self);
	walk_add(w, shim_data(values), values);
	walk_add(w, shim_data(indices), indices);
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

static void sort_into(struct shim_tensor *self, int64_t dim_, bool descending, int64_t n, struct shim_tensor *values,
		      struct shim_tensor *indices)
{
	int dim = shim_dim(self, dim_);
	struct sorter s = sorter_of(self, dim, descending);
	struct walk w;

	walk_three(&w, self, values, indices, dim);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		if (n < s.n / 8)
			sorter_first(&s, w.p[0], n);
		else
			sorter_run(&s, w.p[0]);
		put_sorted(&s, &w, n, line_step(values, dim), line_step(indices, dim));
	}
}

static void sort_op(struct shim_tensor *self, int64_t dim, bool descending, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	struct shim_tensor *values = shim_like(self, self->dtype), *indices = shim_like(self, DTYPE_I64);

	sort_into(self, dim, descending, line_size(self, shim_dim(self, dim)), values, indices);
	SHIM_GIVE(ret0, values);
	SHIM_GIVE(ret1, indices);
}

AOTITorchError aoti_torch_cpu_sort(AtenTensorHandle self, int64_t dim, int32_t descending, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	SHIM_TRY {
		sort_op(self, dim, descending, ret0, ret1);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_sort_stable(AtenTensorHandle self, int32_t *stable, int64_t dim, int32_t descending, AtenTensorHandle *ret0,
					  AtenTensorHandle *ret1)
{
	(void)stable; /* always */
	SHIM_TRY {
		sort_op(self, dim, descending, ret0, ret1);
	}
	SHIM_END
}

static void topk(struct shim_tensor *self, int64_t k, int64_t dim_, bool largest, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	int dim = shim_dim(self, dim_);
	int64_t size[SHIM_DIMS];

	if (k < 0 || k > line_size(self, dim))
		shim_fail("selected index k out of range");
	memcpy(size, self->size, sizeof(size));
	if (self->n_dim)
		size[dim] = k;
	struct shim_tensor *values = shim_new(self->dtype, self->n_dim, size, NULL);
	struct shim_tensor *indices = shim_new(DTYPE_I64, self->n_dim, size, NULL);
	if (k || !self->n_dim)
		sort_into(self, dim_, largest, self->n_dim ? k : 1, values, indices);
	SHIM_GIVE(ret0, values);
	SHIM_GIVE(ret1, indices);
}

AOTITorchError aoti_torch_cpu_topk(AtenTensorHandle self, int64_t k, int64_t dim, int32_t largest, int32_t sorted, AtenTensorHandle *ret0,
				   AtenTensorHandle *ret1)
{
	(void)sorted;
	SHIM_TRY {
		topk(self, k, dim, largest, ret0, ret1);
	}
	SHIM_END
}

/* The result of a reduction along dim; its walk sees it with dim as 1. */
static struct shim_tensor *reduced(const struct shim_tensor *self, int dtype, int dim, bool keep, struct shim_tensor **ret)
{
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS];
	int n = 0;

	memcpy(size, self->size, sizeof(size));
	if (self->n_dim)
		size[dim] = 1;
	struct shim_tensor *kept = shim_new(dtype, self->n_dim, size, NULL);
	if (keep || !self->n_dim)
		return *ret = kept;
	for (int i = 0; i < self->n_dim; i++)
		if (i != dim) {
			size[n] = kept->size[i];
			stride[n++] = kept->stride[i];
		}
	*ret = shim_view(kept, n, size, stride, kept->offset);
	return kept;
}

static void kthvalue(struct shim_tensor *self, int64_t k, int64_t dim_, bool keep, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	int dim = shim_dim(self, dim_);
	struct shim_tensor *v, *x, *values = reduced(self, self->dtype, dim, keep, &v);
	struct shim_tensor *indices = reduced(self, DTYPE_I64, dim, keep, &x);
	struct sorter s = sorter_of(self, dim, false);
	struct walk w;

	if (k < 1 || k > s.n)
		shim_fail("kthvalue(): selected number k out of range for dimension %d", dim);
	walk_three(&w, self, values, indices, dim);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		sorter_run(&s, w.p[0]);
		elem_copy(w.p[1], w.p[0] + s.sorted[k - 1].at * s.step, elem_bytes(s.dtype));
		elem_copy(w.p[2], &s.sorted[k - 1].at, 8);
	}
	SHIM_GIVE(ret0, v);
	SHIM_GIVE(ret1, x);
}

AOTITorchError aoti_torch_cpu_kthvalue(AtenTensorHandle self, int64_t k, int64_t dim, int32_t keepdim, AtenTensorHandle *ret0,
				       AtenTensorHandle *ret1)
{
	SHIM_TRY {
		kthvalue(self, k, dim, keepdim, ret0, ret1);
	}
	SHIM_END
}

/* The lower of the two middle values, over all elements. With NaN among them: NaN, or (ignore_nan) the median of the
 * rest. */
static struct shim_tensor *median(struct shim_tensor *self, bool ignore_nan)
{
	int64_t n = shim_numel(self), zero_stride = 1, n_nan = 0;
	struct shim_tensor *flat = shim_clone_contiguous(self), *out = shim_new(self->dtype, 0, NULL, NULL);

	flat = shim_view(flat, 1, &n, &zero_stride, flat->offset);
	if (!n) {
		elem_set_f64(out->dtype, shim_data(out), (double)NAN);
		return out;
	}
	struct sorter s = sorter_of(flat, 0, false);
	sorter_run(&s, shim_data(flat));
	if (elem_floating(self->dtype))
		while (n_nan < n && s.sorted[n - 1 - n_nan].key == UINT64_MAX)
			n_nan++;
	int64_t k = !n_nan || (ignore_nan && n_nan < n) ? (n - n_nan - 1) / 2 : n - 1;
	elem_copy(shim_data(out), shim_data(flat) + s.sorted[k].at * s.step, elem_bytes(s.dtype));
	return out;
}

AOTITorchError aoti_torch_cpu_median(AtenTensorHandle self, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, median(self, false));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_nanmedian(AtenTensorHandle self, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, median(self, true));
	}
	SHIM_END
}

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

static void median_dim(struct proxy_call *c, bool ignore_nan)
{
	struct shim_tensor *self = proxy_tensor(c, "self");
	bool keep = proxy_bool(c, "keepdim", false);
	int dim = shim_dim(self, proxy_int(c, "dim", 0));
	struct shim_tensor *v, *x, *values = reduced(self, self->dtype, dim, keep, &v);
	struct shim_tensor *indices = reduced(self, DTYPE_I64, dim, keep, &x);
	struct sorter s = sorter_of(self, dim, false);
	struct walk w;

	if (self->dtype == DTYPE_BOOL)
		shim_fail("\"median_out\" not implemented for 'Bool'");
	if (!s.n)
		shim_fail("median(): Expected reduction dim %d to have non-zero size.", dim);
	walk_three(&w, self, values, indices, dim);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		sorter_run(&s, w.p[0]);
		int64_t at = median_of_line(&s, ignore_nan);
		elem_copy(w.p[1], w.p[0] + at * s.step, elem_bytes(s.dtype));
		elem_copy(w.p[2], &at, 8);
	}
	proxy_give(c, 0, v);
	proxy_give(c, 1, x);
}

void proxy_median_dim(struct proxy_call *c) { median_dim(c, false); }
void proxy_nanmedian_dim(struct proxy_call *c) { median_dim(c, true); }

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

static void mode(struct shim_tensor *self, int64_t dim_, bool keep, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	int dim = shim_dim(self, dim_);
	struct shim_tensor *v, *x, *values = reduced(self, self->dtype, dim, keep, &v);
	struct shim_tensor *indices = reduced(self, DTYPE_I64, dim, keep, &x);
	struct sorter s = sorter_of(self, dim, false);
	struct walk w;

	if (!s.n && shim_numel(values))
		shim_fail("mode(): Expected reduction dim %d to have non-zero size.", dim);
	walk_three(&w, self, values, indices, dim);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		sorter_run(&s, w.p[0]);
		int64_t at = mode_of_line(&s);
		elem_copy(w.p[1], w.p[0] + at * s.step, elem_bytes(s.dtype));
		elem_copy(w.p[2], &at, 8);
	}
	SHIM_GIVE(ret0, v);
	SHIM_GIVE(ret1, x);
}

AOTITorchError aoti_torch_cpu_mode(AtenTensorHandle self, int64_t dim, int32_t keepdim, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	SHIM_TRY {
		mode(self, dim, keepdim, ret0, ret1);
	}
	SHIM_END
}
