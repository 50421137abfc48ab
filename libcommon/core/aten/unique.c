/* unique.c - _unique2, unique_dim, unique_consecutive, unique_dim_consecutive, bincount: through the proxy executor only.
 *
 * torch 2.13, aten/src/ATen/native/Unique.cpp and SummaryOps.cpp: NaN equals nothing. Results are contiguous, except unique_dim's, whose
 * dim is the outermost in memory. Inverse and counts that are not requested are empty, except with unique_dim, which always computes them.
 */
#include "elem.h"
#include "ops.h"
#include "named.h"

static bool same_element(int dtype, const char *a, const char *b)
{
	uint64_t key = elem_key(dtype, a);
	return key == elem_key(dtype, b) && !elem_nan(dtype, a);
}

/* Consecutive rows of m elements, in processing order. */
struct rows {
	const struct aten_tensor *t;
	int64_t n, m;
	const int64_t *order; /* NULL: in place */
};

static const char *row(const struct rows *r, int64_t i)
{
	return aten_data(r->t) + (r->order ? r->order[i] : i) * r->m * elem_bytes(r->t->dtype);
}

static bool same_row(const struct rows *r, int64_t i, int64_t j)
{
	const char *a = row(r, i), *b = row(r, j);
	int bytes = elem_bytes(r->t->dtype);

	for (int64_t k = 0; k < r->m; k++)
		if (!same_element(r->t->dtype, a + k * bytes, b + k * bytes))
			return false;
	return true;
}

static int compare_rows(int dtype, int64_t m, const char *a, const char *b)
{
	int bytes = elem_bytes(dtype);

	for (int64_t k = 0; k < m; k++) {
		uint64_t x = elem_key(dtype, a + k * bytes), y = elem_key(dtype, b + k * bytes);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

/* Merging from below: stable, and no recursion. */
static const int64_t *sort_rows(const struct rows *r)
{
	int64_t *v = aten_scratch((uint64_t)r->n, sizeof(*v)), *tmp = aten_scratch((uint64_t)r->n, sizeof(*tmp));
	int dtype = r->t->dtype, bytes = elem_bytes(dtype);
	const char *p = aten_data(r->t);

	for (int64_t i = 0; i < r->n; i++)
		v[i] = i;
	for (int64_t width = 1; width < r->n; width *= 2) {
		for (int64_t i = 0; i < r->n; i += 2 * width) {
			int64_t mid = i + width < r->n ? i + width : r->n, end = mid + width < r->n ? mid + width : r->n;
			int64_t a = i, b = mid;
			for (int64_t k = i; k < end; k++) {
				bool right = a == mid ||
					     (b < end && compare_rows(dtype, r->m, p + v[b] * r->m * bytes, p + v[a] * r->m * bytes) < 0);
				tmp[k] = right ? v[b++] : v[a++];
			}
		}
		int64_t *t = v;
		v = tmp;
		tmp = t;
	}
	return v;
}

struct found {
	int64_t n;        /* rows that differ from the one before */
	int64_t *first;   /* of each: its first position in processing order */
	int64_t *inverse; /* of each row: its index among the unique ones */
};

static struct found find_distinct(const struct rows *r)
{
	struct found f = {.first = aten_scratch((uint64_t)r->n + 1, sizeof(*f.first)),
			  .inverse = aten_scratch((uint64_t)r->n, sizeof(*f.inverse))};

	for (int64_t i = 0; i < r->n; i++) {
		if (!i || !same_row(r, i - 1, i))
			f.first[f.n++] = i;
		f.inverse[r->order ? r->order[i] : i] = f.n - 1;
	}
	f.first[f.n] = r->n;
	return f;
}

static struct aten_tensor *int_line(int64_t n) { return aten_new(DTYPE_I64, 1, &n, NULL); }

static struct aten_tensor *inverse_of(const struct found *f, int64_t n, int n_dim, const int64_t *size)
{
	struct aten_tensor *t = aten_new(DTYPE_I64, n_dim, size, NULL);
	if (n)
		memcpy(aten_data(t), f->inverse, (size_t)n * sizeof(*f->inverse));
	return t;
}

static struct aten_tensor *counts_of(const struct found *f)
{
	struct aten_tensor *t = int_line(f->n);
	for (int64_t i = 0; i < f->n; i++) {
		int64_t count = f->first[i + 1] - f->first[i];
		memcpy(aten_data(t) + i * 8, &count, sizeof(count));
	}
	return t;
}

static void copy_rows(struct aten_tensor *out, const struct rows *r, const struct found *f)
{
	size_t bytes = (size_t)r->m * (size_t)elem_bytes(r->t->dtype);
	for (int64_t i = 0; i < f->n && bytes; i++)
		memcpy(aten_data(out) + (size_t)i * bytes, row(r, f->first[i]), bytes);
}

/* ---- of all elements ---- */

static void unique_elements(struct aten_call *c, bool sorted)
{
	struct aten_tensor *self = named_tensor(c, "self"), *flat = aten_clone_contiguous(self);
	int64_t n = aten_numel(self), one = 1;
	bool inverse = named_bool(c, "return_inverse", false), counts = named_bool(c, "return_counts", false);

	elem_need_real(self);
	if (!aten_computes()) { /* their number is unknown */
		call_give(c, 0, NULL);
		call_give(c, 1, inverse ? aten_new(DTYPE_I64, self->n_dim, self->size, NULL) : int_line(0));
		call_give(c, 2, counts ? NULL : int_line(0));
		return;
	}
	flat = aten_view(flat, 1, &n, &one, flat->offset);
	struct rows r = {.t = flat, .n = n, .m = 1, .order = sorted ? aten_argsort(flat) : NULL};
	struct found f = find_distinct(&r);
	struct aten_tensor *out = aten_new(self->dtype, 1, &f.n, NULL);
	copy_rows(out, &r, &f);
	call_give(c, 0, out);
	call_give(c, 1, inverse ? inverse_of(&f, n, self->n_dim, self->size) : int_line(0));
	call_give(c, 2, counts ? counts_of(&f) : int_line(0));
}

void run_unique2(struct aten_call *c) { unique_elements(c, true); }

/* ---- of slices along a dim ---- */

static void check_sizes(const struct aten_tensor *self, int dim)
{
	int zeros = 0;

	for (int i = 0; i < self->n_dim; i++)
		zeros += !self->size[i];
	if (self->n_dim && !self->size[dim] && zeros > 1)
		aten_fail("Number of zero sized dimensions is more than one, so unique cannot be applied");
	if (zeros && self->size[dim])
		aten_fail("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
}

/* Sizes of self, dim the outermost in memory. */
static struct aten_tensor *dim_outermost(const struct aten_tensor *self, int dim, int64_t n)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS], step = 1;

	memcpy(size, self->size, sizeof(size));
	size[dim] = n;
	for (int i = self->n_dim - 1; i >= 0; i--)
		if (i != dim) {
			stride[i] = step;
			step *= size[i] ? size[i] : 1;
		}
	stride[dim] = step;
	return aten_new(self->dtype, self->n_dim, size, stride);
}

static void unique_slices(struct aten_call *c, int64_t dim_, bool sorted)
{
	struct aten_tensor *self = named_tensor(c, "self");
	int dim = aten_dim(self, dim_);

	elem_need_real(self);
	if (!self->n_dim)
		aten_fail("Dimension specified as 0 but tensor has no dimensions");
	check_sizes(self, dim);
	aten_needs_values();
	if (!self->size[dim]) {
		call_give(c, 0, aten_new(self->dtype, self->n_dim, self->size, NULL));
		call_give(c, 1, int_line(0));
		call_give(c, 2, int_line(0));
		return;
	}
	struct rows r = {
	    .t = aten_clone_contiguous(aten_movedim(self, dim, 0)), .n = self->size[dim], .m = aten_numel(self) / self->size[dim]};
	if (sorted)
		r.order = sort_rows(&r);
	struct found f = find_distinct(&r);
	struct aten_tensor *out = dim_outermost(self, dim, f.n);
	copy_rows(out, &r, &f);
	call_give(c, 0, out);
	call_give(c, 1, inverse_of(&f, r.n, 1, &r.n));
	call_give(c, 2, counts_of(&f));
}

void run_unique_dim(struct aten_call *c) { unique_slices(c, named_int(c, "dim", 0), true); }
void run_unique_dim_consecutive(struct aten_call *c) { unique_slices(c, named_int(c, "dim", 0), false); }

void run_unique_consecutive(struct aten_call *c)
{
	struct aten_tensor *self = named_tensor(c, "self");
	int64_t dim = named_int(c, "dim", 0);

	if (named_is_none(c, "dim") || (!dim && self->n_dim == 1))
		unique_elements(c, false);
	else
		unique_slices(c, dim, false);
}

/* ---- bincount ---- */

static int64_t bins_of(const struct aten_tensor *self, int64_t minlength)
{
	int64_t bins = minlength, n = aten_numel(self);

	for (int64_t i = 0; i < n; i++) {
		int64_t v = elem_i64(self->dtype, aten_data(self) + i * elem_bytes(self->dtype));
		if (v < 0 || v == INT64_MAX)
			aten_fail("bincount only supports 1-d non-negative integral inputs.");
		bins = v + 1 > bins ? v + 1 : bins;
	}
	return bins;
}

void run_bincount(struct aten_call *c)
{
	struct aten_tensor *self = named_tensor(c, "self"), *weights = named_tensor_or_none(c, "weights");
	int64_t minlength = named_int(c, "minlength", 0), n = aten_numel(self);

	if (self->n_dim != 1 || !elem_integral(self->dtype) || self->dtype == DTYPE_BOOL)
		aten_fail("bincount only supports 1-d non-negative integral inputs.");
	if (minlength < 0)
		aten_fail("minlength should be >= 0");
	if (weights && (weights->n_dim != 1 || weights->size[0] != n))
		aten_fail("weights should be 1-d and have the same length as input");
	aten_needs_values();
	self = aten_clone_contiguous(self);
	int64_t bins = bins_of(self, minlength);
	int dtype = !weights || !n ? DTYPE_I64 : weights->dtype == DTYPE_F32 ? DTYPE_F32 : DTYPE_F64;
	struct aten_tensor *out = aten_new(dtype, 1, &bins, NULL);
	aten_fill_zero(out);
	double *w = dtype == DTYPE_I64 ? NULL : aten_scratch((uint64_t)n, sizeof(*w));
	for (int64_t i = 0; w && i < n; i++)
		w[i] = elem_f64(weights->dtype, aten_data(weights) + i * line_step(weights, 0));
	for (int64_t i = 0; i < n; i++) {
		int64_t at = elem_i64(self->dtype, aten_data(self) + i * elem_bytes(self->dtype)), *count;
		char *p = aten_data(out) + at * elem_bytes(dtype);
		if (w) {
			elem_set_f64(dtype, p, elem_f64(dtype, p) + w[i]);
		} else {
			count = (int64_t *)p;
			++*count;
		}
	}
	call_give(c, 0, out);
}
