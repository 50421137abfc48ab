/* Reductions: each gathers the inputs of one result, in double (int64_t, complex double), and rounds once. torch accumulates float in
 * float by a cascade of sums (aten/src/ATen/native/cpu/SumKernel.cpp, ReduceOpsKernel.cpp): this is more accurate. Results are contiguous
 * (ReduceOps.cpp, resize_reduction). */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

static const struct ints all_dims = {NULL, 0};

/* Sizes of t with the chosen dims 1, and without them. No dims: all. */
struct reduced {
	bool chosen[ATEN_DIMS];
	int n_dim;
	int64_t with[ATEN_DIMS], without[ATEN_DIMS];
};

static void choose(struct reduced *r, const struct aten_tensor *t, struct ints dims)
{
	memset(r, 0, sizeof(*r));
	for (int i = 0; i < t->n_dim; i++)
		r->chosen[i] = !dims.n;
	for (int64_t k = 0; k < dims.n; k++) {
		int d = aten_dim(t, dims.v[k]);
		if (r->chosen[d])
			aten_fail("duplicate dimension %d", d);
		r->chosen[d] = true;
	}
	for (int i = 0; i < t->n_dim; i++) {
		r->with[i] = r->chosen[i] ? 1 : t->size[i];
		if (!r->chosen[i])
			r->without[r->n_dim++] = t->size[i];
	}
}

/* ---- lines ---- */

/* self with the kept dims first and the others last, and how many of each. */
static struct aten_tensor *kept_first(const struct aten_tensor *self, const struct reduced *r, int *n_kept)
{
	int64_t order[ATEN_DIMS];
	int n = 0;
	for (int i = 0; i < self->n_dim; i++)
		if (!r->chosen[i])
			order[n++] = i;
	*n_kept = n;
	for (int i = 0; i < self->n_dim; i++)
		if (r->chosen[i])
			order[n++] = i;
	return aten_permute(self, order, n);
}

struct lines {
	struct reduced r;
	const struct aten_tensor *view; /* kept_first */
	int n_kept, dtype;              /* of what is gathered: I64, F64, C128 */
	int64_t n;                      /* elements of a line */
	char *line;
	struct walk outer;
	int64_t at; /* which result */
};

static void lines_begin(struct lines *l, const struct aten_tensor *self, struct ints dims)
{
	choose(&l->r, self, dims);
	l->view = kept_first(self, &l->r, &l->n_kept);
	l->dtype = elem_integral(self->dtype) ? DTYPE_I64 : aten_is_complex(self->dtype) ? DTYPE_C128 : DTYPE_F64;
	l->n = 1;
	for (int i = l->n_kept; i < self->n_dim; i++)
		l->n *= l->view->size[i];
	l->at = -1;
	if (!aten_computes())
		return;
	l->line = aten_scratch((uint64_t)l->n, (uint64_t)elem_bytes(l->dtype));
	struct aten_tensor outer = *l->view;
	outer.n_dim = l->n_kept;
	l->outer = WALK(&outer);
}

/* The next line, in the results' order; false after the last. */
static bool lines_next(struct lines *l)
{
	bool more = l->at < 0 ? walk_first(&l->outer) : walk_next(&l->outer);
	if (!more)
		return false;
	l->at++;
	struct aten_storage of_line = {.data = l->line}, of_self = {.data = l->outer.p[0]};
	struct aten_tensor from = {.storage = &of_self, .dtype = l->view->dtype, .n_dim = l->view->n_dim - l->n_kept}, to = from;
	memcpy(from.size, l->view->size + l->n_kept, (size_t)from.n_dim * sizeof(int64_t));
	memcpy(from.stride, l->view->stride + l->n_kept, (size_t)from.n_dim * sizeof(int64_t));
	to.storage = &of_line;
	to.dtype = l->dtype;
	aten_contiguous_strides(from.n_dim, from.size, to.stride);
	memcpy(to.size, from.size, sizeof(to.size));
	aten_copy(&to, &from);
	return true;
}

static struct aten_tensor *result_of(const struct lines *l, bool keepdim, int dtype)
{
	return keepdim ? aten_new(dtype, l->view->n_dim, l->r.with, NULL) : aten_new(dtype, l->r.n_dim, l->r.without, NULL);
}

static char *element(const struct aten_tensor *t, int64_t i) { return aten_data(t) + i * elem_bytes(t->dtype); }

/* ---- sums and products ---- */

/* In pairs of halves: the error stays small. */
static double sum_of(const double *v, int64_t n)
{
	double s = 0;
	if (n > 256)
		return sum_of(v, n / 2) + sum_of(v + n / 2, n - n / 2);
	for (int64_t i = 0; i < n; i++)
		s += v[i];
	return s;
}

enum fold { SUM, NANSUM, MEAN, PROD };

static void fold_line(const struct lines *l, enum fold how, struct aten_tensor *out)
{
	char *to = element(out, l->at);
	if (l->dtype == DTYPE_I64) {
		const int64_t *v = (const int64_t *)l->line;
		uint64_t acc = how == PROD;
		for (int64_t i = 0; i < l->n; i++)
			acc = how == PROD ? acc * (uint64_t)v[i] : acc + (uint64_t)v[i];
		if (how == MEAN)
			elem_set_f64(out->dtype, to, (double)(int64_t)acc / (double)l->n);
		else
			elem_set_i64(out->dtype, to, (int64_t)acc);
	} else if (l->dtype == DTYPE_F64) {
		double *v = (double *)l->line, acc = 1;
		for (int64_t i = 0; i < l->n && how == NANSUM; i++)
			v[i] = v[i] != v[i] ? 0 : v[i];
		for (int64_t i = 0; i < l->n && how == PROD; i++)
			acc *= v[i];
		acc = how == PROD ? acc : sum_of(v, l->n);
		elem_set_f64(out->dtype, to, how == MEAN ? acc / (double)l->n : acc);
	} else {
		const double complex *v = (const double complex *)l->line;
		double complex acc = how == PROD;
		for (int64_t i = 0; i < l->n; i++)
			acc = how == PROD ? complex_times(acc, v[i]) : acc + v[i];
		elem_set_c128(out->dtype, to, how == MEAN ? acc / (double)l->n : acc);
	}
}

static struct aten_tensor *fold(struct aten_tensor *self, struct ints dims, bool keepdim, int dtype, enum fold how)
{
	struct lines l;
	if (self->dtype != dtype && !(elem_integral(self->dtype) && elem_integral(dtype)) && how != MEAN)
		self = aten_to_copy(self, dtype, ATEN_PRESERVE);
	lines_begin(&l, self, dims);
	struct aten_tensor *out = result_of(&l, keepdim, dtype);
	while (lines_next(&l))
		fold_line(&l, how, out);
	return out;
}

static const enum fold of_sum = SUM, of_nansum = NANSUM, of_mean = MEAN, of_prod = PROD;

static int fold_dtype(const struct aten_call *c, const struct aten_tensor *self, uint32_t at, enum fold how)
{
	bool asked = !call_is_none(c, at);
	int dtype = call_dtype_or(c, at, elem_integral(self->dtype) && how != MEAN ? DTYPE_I64 : self->dtype);
	if (how == MEAN && elem_integral(dtype))
		aten_fail("mean(): could not infer output dtype. %s dtype must be either a floating point or complex dtype. Got: %s",
			  asked ? "Optional" : "Input", dtype_name(dtype));
	if (how == NANSUM && aten_is_complex(self->dtype))
		aten_fail("nansum does not support complex inputs");
	return dtype;
}
static void run_fold(struct aten_call *c) /* self, [dim, keepdim,] dtype */
{
	bool all = c->n == 2;
	enum fold how = *(const enum fold *)c->entry->data;
	struct aten_tensor *self = call_tensor(c, 0);
	call_give(c, 0, fold(self, all ? all_dims : call_ints(c, 1), !all && call_bool(c, 2), fold_dtype(c, self, c->n - 1, how), how));
}

/* ---- extremes ---- */

/* The first of the largest (least) of a line; NaN is more than all of them. */
static int64_t extreme_at(const struct lines *l, bool least)
{
	const int64_t *whole = (const int64_t *)l->line, n = l->n;
	const double *v = (const double *)l->line;
	int64_t best = 0;
	if (l->dtype == DTYPE_I64) {
		for (int64_t i = 1; i < n; i++)
			best = (least ? whole[i] < whole[best] : whole[i] > whole[best]) ? i : best;
		return best;
	}
	for (int64_t i = 1; i < n && v[best] == v[best]; i++)
		best = v[i] != v[i] || (least ? v[i] < v[best] : v[i] > v[best]) ? i : best;
	return best;
}

static void need_elements(const struct aten_tensor *self, const struct aten_tensor *out, const char *what)
{
	if (aten_numel(out) && !aten_numel(self))
		aten_fail("%s(): Expected reduction dim to be specified for input.numel() == 0, or to have elements", what);
}

enum { VALUES = 1, PLACES = 2 };
/* Which to compute: values, or their positions within lines; the other is NULL. */
static struct two extremes(struct aten_tensor *self, struct ints dims, bool keepdim, bool least, int wanted)
{
	struct lines l;
	lines_begin(&l, self, dims);
	struct two r = {wanted & VALUES ? result_of(&l, keepdim, self->dtype) : NULL,
			wanted & PLACES ? result_of(&l, keepdim, DTYPE_I64) : NULL};
	elem_need_real(self);
	need_elements(self, r.first ? r.first : r.second, least ? "min" : "max");
	while (lines_next(&l)) {
		int64_t at = extreme_at(&l, least);
		if (r.first && l.dtype == DTYPE_I64)
			elem_set_i64(self->dtype, element(r.first, l.at), ((int64_t *)l.line)[at]);
		else if (r.first)
			elem_set_f64(self->dtype, element(r.first, l.at), ((double *)l.line)[at]);
		if (r.second)
			elem_set_i64(DTYPE_I64, element(r.second, l.at), at);
	}
	return r;
}

struct aten_tensor *aten_amax(struct aten_tensor *self, struct ints dims, bool keepdim)
{
	return extremes(self, dims, keepdim, false, VALUES).first;
}

static const bool of_least = true, of_most = false;

static void run_extreme(struct aten_call *c) /* amax: self, dim, keepdim; max: self */
{
	struct ints dims = c->n > 1 ? call_ints(c, 1) : all_dims;
	call_give(c, 0, extremes(call_tensor(c, 0), dims, c->n > 2 && call_bool(c, 2), *(const bool *)c->entry->data, VALUES).first);
}
static void run_aminmax(struct aten_call *c) /* self, dim, keepdim */
{
	for (uint32_t k = 0; k < 2; k++)
		call_give(c, k, extremes(call_tensor(c, 0), call_ints(c, 1), call_bool(c, 2), k == 0, VALUES).first);
}
static void run_extreme_dim(struct aten_call *c) /* self, dim, keepdim: values and indices */
{
	int64_t dim = call_int(c, 1);
	call_give_two(c,
		      extremes(call_tensor(c, 0), (struct ints){&dim, 1}, call_bool(c, 2), *(const bool *)c->entry->data, VALUES | PLACES));
}
static void run_arg(struct aten_call *c) /* self, dim, keepdim */
{
	struct aten_tensor *self = call_tensor(c, 0);
	if (self->dtype == DTYPE_BOOL)
		aten_fail("\"argmax_cpu\" not implemented for 'Bool'");
	int64_t dim = call_int_or(c, 1, 0);
	struct ints dims = {&dim, !call_is_none(c, 1)};
	call_give(c, 0, extremes(self, dims, call_bool(c, 2), *(const bool *)c->entry->data, PLACES).second);
}

/* ---- bools ---- */

static bool true_at(const struct lines *l, int64_t i) { return elem_true(l->dtype, l->line + i * elem_bytes(l->dtype)); }

/* any: entry.data is of_least, all: of_most; bool, but of uint8 uint8 */
static void run_tests(struct aten_call *c) /* self[, dim, keepdim] */
{
	struct aten_tensor *self = call_tensor(c, 0);
	struct ints dims = c->n > 1 ? call_ints(c, 1) : all_dims;
	bool any = *(const bool *)c->entry->data;
	struct lines l;
	if (c->n > 1 && c->arg[1].kind == ATEN_LIST && !dims.n) { /* no dims here: none */
		struct aten_tensor *bools = aten_to_copy(self, DTYPE_BOOL, ATEN_CONTIGUOUS);
		call_give(c, 0, self->dtype == DTYPE_U8 ? aten_to_copy(bools, DTYPE_U8, ATEN_CONTIGUOUS) : bools);
		return;
	}
	lines_begin(&l, self, dims);
	struct aten_tensor *out = result_of(&l, c->n > 1 && call_bool(c, 2), self->dtype == DTYPE_U8 ? DTYPE_U8 : DTYPE_BOOL);
	while (lines_next(&l)) {
		int64_t i = 0;
		while (i < l.n && true_at(&l, i) != any)
			i++;
		elem_set_i64(out->dtype, element(out, l.at), any ? i < l.n : i == l.n);
	}
	call_give(c, 0, out);
}
static void run_count_nonzero(struct aten_call *c)
{
	struct lines l;
	lines_begin(&l, call_tensor(c, 0), call_ints(c, 1));
	struct aten_tensor *out = result_of(&l, false, DTYPE_I64);
	while (lines_next(&l)) {
		int64_t count = 0;
		for (int64_t i = 0; i < l.n; i++)
			count += true_at(&l, i);
		elem_set_i64(DTYPE_I64, element(out, l.at), count);
	}
	call_give(c, 0, out);
}

/* ---- of the second order ---- */

/* Two passes; complex numbers' parts add up. */
static double variance(const struct lines *l, double correction, double complex *mean)
{
	int64_t parts = l->dtype == DTYPE_C128 ? 2 : 1;
	const double *v = (const double *)l->line;
	double m[2] = {0}, s = 0, n = (double)l->n - correction;
	for (int64_t i = 0; i < l->n * parts; i++)
		m[i % parts] += v[i];
	m[0] /= (double)l->n;
	m[1] /= (double)l->n;
	for (int64_t i = 0; i < l->n * parts; i++)
		s += (v[i] - m[i % parts]) * (v[i] - m[i % parts]);
	*mean = CMPLX(m[0], m[1]);
	return s / (n > 0 ? n : 0);
}
enum spread { VAR, STD };
static const enum spread of_var = VAR, of_std = STD;
static void spread_of(struct aten_call *c, struct ints dims, double correction, bool keepdim)
{
	struct aten_tensor *self = call_tensor(c, 0), *mean = NULL;
	bool root = *(const enum spread *)c->entry->data == STD;
	struct lines l;
	if (elem_integral(self->dtype))
		aten_fail("std and var only support floating point and complex dtypes");
	lines_begin(&l, self, dims);
	struct aten_tensor *out = result_of(&l, keepdim, aten_real_of(self->dtype));
	if (strstr(c->entry->name, "_mean"))
		mean = result_of(&l, keepdim, self->dtype);
	while (lines_next(&l)) {
		double complex m;
		double v = variance(&l, correction, &m);
		elem_set_f64(out->dtype, element(out, l.at), root ? sqrt(v) : v);
		if (mean)
			elem_set_c128(mean->dtype, element(mean, l.at), m);
	}
	call_give(c, 0, out);
	if (mean)
		call_give(c, 1, mean);
}
static void run_spread(struct aten_call *c) { spread_of(c, all_dims, call_bool(c, 1), false); } /* self, unbiased */
static void run_spread_dim(struct aten_call *c)                                                 /* self, dim, unbiased, keepdim */
{
	spread_of(c, call_ints(c, 1), call_bool(c, 2), call_bool(c, 3));
}
static void run_spread_correction(struct aten_call *c) /* self, dim, correction, keepdim */
{
	spread_of(c, call_ints(c, 1), call_float_or(c, 2, 1), call_bool(c, 3));
}

static void run_logsumexp(struct aten_call *c) /* self, dim, keepdim */
{
	struct aten_tensor *self = call_tensor(c, 0);
	struct lines l;
	if (elem_integral(self->dtype))
		self = aten_to_copy(self, aten_default_dtype(), ATEN_PRESERVE);
	elem_need_real(self);
	lines_begin(&l, self, call_ints(c, 1));
	struct aten_tensor *out = result_of(&l, call_bool(c, 2), self->dtype);
	while (lines_next(&l)) {
		const double *v = (const double *)l.line;
		double most = -(double)INFINITY, sum = 0;
		for (int64_t i = 0; i < l.n; i++)
			most = v[i] > most || v[i] != v[i] ? v[i] : most;
		double shift = isfinite(most) ? most : 0;
		for (int64_t i = 0; i < l.n; i++)
			sum += exp(v[i] - shift);
		elem_set_f64(out->dtype, element(out, l.at), log(sum) + shift);
	}
	call_give(c, 0, out);
}

static double norm_of(const struct lines *l, double p)
{
	double s = p == (double)-INFINITY ? (double)INFINITY : 0;
	for (int64_t i = 0; i < l->n; i++) {
		double a = l->dtype == DTYPE_C128 ? cabs(((double complex *)l->line)[i]) : fabs(((double *)l->line)[i]);
		if (p == (double)INFINITY)
			s = a > s || a != a ? a : s;
		else if (p == (double)-INFINITY)
			s = a < s || a != a ? a : s;
		else
			s += p == 0 ? a != 0 : p == 1 ? a : p == 2 ? a * a : pow(a, p);
	}
	return p == 0 || p == 1 || isinf(p) ? s : p == 2 ? sqrt(s) : pow(s, 1 / p);
}
static void norms(struct aten_call *c, double p, struct ints dims, bool keepdim, int dtype)
{
	struct aten_tensor *self = call_tensor(c, 0);
	struct lines l;
	if (elem_integral(self->dtype))
		aten_fail("norm(): the desired output dtype should be either floating point or complex. Got %s instead.",
			  dtype_name(self->dtype));
	lines_begin(&l, self, dims);
	struct aten_tensor *out = result_of(&l, keepdim, aten_real_of(dtype == DTYPE_NONE ? self->dtype : dtype));
	if (aten_numel(out) && !aten_numel(self) && (p < 0 || isinf(p)))
		aten_fail("norm(): the reduction has no identity for this order over no elements");
	while (lines_next(&l))
		elem_set_f64(out->dtype, element(out, l.at), norm_of(&l, p));
	call_give(c, 0, out);
}
static void run_vector_norm(struct aten_call *c) /* self, ord, dim, keepdim, dtype */
{
	norms(c, call_float(c, 1), call_ints(c, 2), call_bool(c, 3), call_dtype_or(c, 4, DTYPE_NONE));
}
static void run_norm_dim(struct aten_call *c) /* self, p, dim, keepdim */
{
	norms(c, call_float_or(c, 1, 2), call_ints(c, 2), call_bool(c, 3), DTYPE_NONE);
}
static void run_norm(struct aten_call *c) { norms(c, call_float_or(c, 1, 2), all_dims, false, DTYPE_NONE); }

/* ---- a sum of products ---- */

/* A tensor of the reduced sizes seen with t's: the position of every element's result. */
static struct aten_tensor *spread(struct aten_tensor *out, const struct aten_tensor *t, const struct reduced *r)
{
	int64_t stride[ATEN_DIMS];
	aten_contiguous_strides(t->n_dim, r->with, stride);
	for (int i = 0; i < t->n_dim; i++)
		stride[i] = r->chosen[i] ? 0 : stride[i];
	return aten_view(out, t->n_dim, t->size, stride, 0);
}

/* i with dims of 1 inserted at these positions of the result. */
static struct aten_tensor *unsqueezed(struct aten_tensor *t, struct ints at)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	int total = t->n_dim + (int)at.n, k = 0;
	if (at.n < 0 || total > ATEN_DIMS)
		aten_fail("too many dimensions: %lld", (long long)at.n);
	for (int i = 0; i < total; i++) {
		bool new = false;
		for (int64_t j = 0; j < at.n; j++)
			new = new || (at.v[j] < 0 ? at.v[j] + total : at.v[j]) == i;
		if (!new &&k == t->n_dim)
			aten_fail("dimensions to insert do not match");
		size[i] = new ? 1 : t->size[k];
		stride[i] = new ? 0 : t->stride[k];
		k += !new;
	}
	return aten_view(t, total, size, stride, t->offset);
}

/* The sum of i1 * i2 * i3 over sumdim (aten/src/ATen/native/Linear.cpp, _trilinear). */
struct aten_tensor *aten_trilinear(struct aten_tensor *i1, struct aten_tensor *i2, struct aten_tensor *i3, struct ints expand1,
				   struct ints expand2, struct ints expand3, struct ints sumdim)
{
	struct aten_tensor *v[3] = {unsqueezed(i1, expand1), unsqueezed(i2, expand2), unsqueezed(i3, expand3)};
	struct aten_tensor all = {.n_dim = 0, .dtype = i1->dtype};
	struct reduced r;
	for (int k = 0; k < 3; k++) {
		int64_t size[ATEN_DIMS];
		all.n_dim = aten_broadcast(&all, v[k], size);
		memcpy(all.size, size, (size_t)all.n_dim * sizeof(*size));
	}
	choose(&r, &all, sumdim);
	for (int i = 0; !sumdim.n && i < all.n_dim; i++) { /* none here means none */
		r.chosen[i] = false;
		r.with[i] = r.without[i] = all.size[i];
		r.n_dim = all.n_dim;
	}
	struct aten_tensor *sum = aten_new(DTYPE_F64, r.n_dim, r.without, NULL), *out = aten_new(i1->dtype, r.n_dim, r.without, NULL);
	struct aten_tensor *to = spread(sum, &all, &r);
	aten_fill_zero(sum);
	struct walk w = WALK(to, v[0], v[1], v[2]);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		double s;
		memcpy(&s, w.p[0], sizeof(s));
		s += elem_f64(v[0]->dtype, w.p[1]) * elem_f64(v[1]->dtype, w.p[2]) * elem_f64(v[2]->dtype, w.p[3]);
		memcpy(w.p[0], &s, sizeof(s));
	}
	aten_copy(out, sum);
	return out;
}

const struct aten_entry aten_reduce_entries[] = {
    {"all", run_tests, &of_most},
    {"all.dim", run_tests, &of_most},
    {"all.dims", run_tests, &of_most},
    {"amax", run_extreme, &of_most},
    {"amin", run_extreme, &of_least},
    {"aminmax", run_aminmax},
    {"any", run_tests, &of_least},
    {"any.dim", run_tests, &of_least},
    {"any.dims", run_tests, &of_least},
    {"argmax", run_arg, &of_most},
    {"argmin", run_arg, &of_least},
    {"count_nonzero", run_count_nonzero},
    {"count_nonzero.dim_IntList", run_count_nonzero},
    {"linalg_vector_norm", run_vector_norm},
    {"logsumexp", run_logsumexp},
    {"max", run_extreme, &of_most},
    {"max.dim", run_extreme_dim, &of_most},
    {"mean", run_fold, &of_mean},
    {"mean.dim", run_fold, &of_mean},
    {"min", run_extreme, &of_least},
    {"min.dim", run_extreme_dim, &of_least},
    {"nansum", run_fold, &of_nansum},
    {"norm.Scalar", run_norm},
    {"norm.ScalarOpt_dim", run_norm_dim},
    {"prod", run_fold, &of_prod},
    {"prod.dim_int", run_fold, &of_prod},
    {"std", run_spread, &of_std},
    {"std.correction", run_spread_correction, &of_std},
    {"std.dim", run_spread_dim, &of_std},
    {"std_mean", run_spread, &of_std},
    {"std_mean.correction", run_spread_correction, &of_std},
    {"std_mean.dim", run_spread_dim, &of_std},
    {"sum", run_fold, &of_sum},
    {"sum.dim_IntList", run_fold, &of_sum},
    {"var", run_spread, &of_var},
    {"var.correction", run_spread_correction, &of_var},
    {"var.dim", run_spread_dim, &of_var},
    {"var_mean", run_spread, &of_var},
    {"var_mean.correction", run_spread_correction, &of_var},
    {"var_mean.dim", run_spread_dim, &of_var},
    {0},
};
