/* scan.c - cumsum etc., nonzero, repeat_interleave.
 *
 * Strides (torch 2.13): scans are contiguous whatever the input (aten/src/ATen/native/ReduceOps.cpp,
 * meta_func_cum_ops). nonzero is [n, dims] with strides (1, n): torch collects it dim by dim
 * (aten/src/ATen/native/TensorAdvancedIndexing.cpp, nonzero_out_cpu). float32 is summed in double, float16 and bfloat16
 * in float, integers wrap: as in torch, so that results are bitwise equal.
 */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

struct line {
	int dtype;
	int64_t n, in, out; /* steps in bytes */
};

static void cum_int(const struct line *l, const char *in, char *out, bool product)
{
	uint64_t acc = product;

	for (int64_t i = 0; i < l->n; i++) {
		uint64_t v = (uint64_t)elem_i64(l->dtype, in + i * l->in);
		acc = product ? acc * v : acc + v;
		elem_set_i64(l->dtype, out + i * l->out, (int64_t)acc);
	}
}

static void cum_double(const struct line *l, const char *in, char *out, bool product)
{
	double acc = product;

	for (int64_t i = 0; i < l->n; i++) {
		double v = elem_f64(l->dtype, in + i * l->in);
		acc = product ? acc * v : acc + v;
		elem_set_f64(l->dtype, out + i * l->out, acc);
	}
}

static void cum_half(const struct line *l, const char *in, char *out, bool product)
{
	float acc = product;

	for (int64_t i = 0; i < l->n; i++) {
		float v = (float)elem_f64(l->dtype, in + i * l->in);
		acc = product ? acc * v : acc + v;
		elem_set_f64(l->dtype, out + i * l->out, (double)acc);
	}
}

static void cum_complex(const struct line *l, const char *in, char *out, bool product)
{
	double complex acc = product;

	for (int64_t i = 0; i < l->n; i++) {
		double complex v = elem_c128(l->dtype, in + i * l->in);
		acc = product ? acc * v : acc + v;
		elem_set_c128(l->dtype, out + i * l->out, acc);
	}
}

struct aten_tensor *aten_cumulate(struct aten_tensor *self, int64_t dim_, int dtype, bool product)
{
	int dim = aten_dim(self, dim_);
	int to = dtype != DTYPE_NONE ? dtype : elem_integral(self->dtype) ? DTYPE_I64 : self->dtype;
	struct aten_tensor *in = self->dtype == to ? self : aten_to_copy(self, to, ATEN_CONTIGUOUS),
			   *out = aten_new(to, self->n_dim, self->size, NULL);
	struct line l = {to, line_size(in, dim), line_step(in, dim), line_step(out, dim)};

	struct walk w = WALK_LINES(dim, in, out);
	if (!l.n)
		return out;
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		if (elem_complex(to))
			cum_complex(&l, w.p[0], w.p[1], product);
		else if (elem_integral(to))
			cum_int(&l, w.p[0], w.p[1], product);
		else if (to == DTYPE_F32 || to == DTYPE_F64)
			cum_double(&l, w.p[0], w.p[1], product);
		else
			cum_half(&l, w.p[0], w.p[1], product);
	}
	return out;
}

/* ---- cummax, cummin ---- */

static void extreme_line(const struct line *l, const char *in, char *out, char *at, int64_t at_step, uint64_t flip)
{
	int bytes = elem_bytes(l->dtype);
	uint64_t best = 0;
	bool nan = false;
	int64_t best_at = 0;

	for (int64_t i = 0; i < l->n; i++) {
		const char *p = in + i * l->in;
		uint64_t key = elem_key(l->dtype, p) ^ flip;
		bool is_nan = elem_nan(l->dtype, p);
		if (!i || is_nan || (!nan && key >= best)) { /* the last of equal ones */
			best = key;
			best_at = i;
			nan |= is_nan;
		}
		elem_copy(out + i * l->out, in + best_at * l->in, bytes);
		elem_copy(at + i * at_step, &best_at, 8);
	}
}

struct two aten_cum_extreme(struct aten_tensor *self, int64_t dim_, bool max)
{
	int dim = aten_dim(self, dim_);
	struct aten_tensor *out = aten_new(self->dtype, self->n_dim, self->size, NULL);
	struct aten_tensor *at = aten_new(DTYPE_I64, self->n_dim, self->size, NULL);
	struct line l = {self->dtype, line_size(self, dim), line_step(self, dim), line_step(out, dim)};

	elem_need_real(self);
	struct walk w = WALK_LINES(dim, self, out, at);
	if (l.n)
		for (bool more = walk_first(&w); more; more = walk_next(&w))
			extreme_line(&l, w.p[0], w.p[1], w.p[2], line_step(at, dim), max ? 0 : UINT64_MAX);
	return (struct two){out, at};
}

/* ---- logcumsumexp ---- */

static double log_add_exp(double a, double b)
{
	double min = isnan(a) || a < b ? a : b, max = isnan(b) || b > a ? b : a;

	if (isnan(a) || isnan(b))
		return (double)NAN;
	return min != max || isfinite(min) ? log1p(exp(min - max)) + max : a;
}

struct aten_tensor *aten_logcumsumexp(struct aten_tensor *self, int64_t dim_)
{
	int dim = aten_dim(self, dim_);
	struct aten_tensor *out = aten_new(self->dtype, self->n_dim, self->size, NULL);

	if (!elem_floating(self->dtype))
		aten_fail("logcumsumexp is not implemented for %s", dtype_name(self->dtype));
	struct walk w = WALK_LINES(dim, self, out);
	if (!line_size(self, dim))
		return out;
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		double acc = -(double)INFINITY;
		for (int64_t i = 0; i < line_size(self, dim); i++) {
			acc = log_add_exp(elem_f64(self->dtype, w.p[0] + i * line_step(self, dim)), acc);
			elem_set_f64(out->dtype, w.p[1] + i * line_step(out, dim), acc);
		}
	}
	return out;
}

/* ---- nonzero ---- */

static int64_t count_nonzero(const struct aten_tensor *t)
{
	int64_t n = 0;

	aten_needs_values();
	struct walk w = WALK(t);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		n += elem_true(t->dtype, w.p[0]);
	return n;
}

/* Write the positions of at most n elements that are not zero. */
static int64_t put_nonzero(const struct aten_tensor *t, struct aten_tensor *out, int64_t n)
{
	int64_t *v = (int64_t *)(void *)aten_data(out), at = 0;

	struct walk w = WALK(t);
	for (bool more = walk_first(&w); more && at < n; more = walk_next(&w)) {
		if (!elem_true(t->dtype, w.p[0]))
			continue;
		for (int i = 0; i < t->n_dim; i++)
			v[at * out->stride[0] + i * out->stride[1]] = w.pos[i];
		at++;
	}
	return at;
}

struct aten_tensor *aten_nonzero(struct aten_tensor *self)
{
	int64_t n = count_nonzero(self), size[2] = {n, self->n_dim}, stride[2] = {1, n > 1 ? n : 1};
	struct aten_tensor *out = aten_new(DTYPE_I64, 2, size, stride);

	put_nonzero(self, out, n);
	return out;
}

struct aten_tensor *aten_nonzero_static(struct aten_tensor *self, int64_t size, int64_t fill_value)
{
	if (size < 0)
		aten_fail("nonzero_static: 'size' must be an non-negative integer");
	int64_t sizes[2] = {size, self->n_dim};
	struct aten_tensor *out = aten_new(DTYPE_I64, 2, sizes, NULL);
	int64_t *v = (int64_t *)(void *)aten_data(out);
	int64_t n = put_nonzero(self, out, size);
	for (int64_t i = n * self->n_dim; i < size * self->n_dim && aten_computes(); i++)
		v[i] = fill_value;
	return out;
}

/* ---- repeat_interleave ---- */

struct aten_tensor *aten_repeat_interleave(struct aten_tensor *repeats, const int64_t *output_size)
{
	int64_t total = 0, n = aten_numel(repeats), at = 0;
	int dtype = repeats->dtype;

	if (repeats->n_dim != 1)
		aten_fail("repeat_interleave only accept 1D vector as repeat");
	if (dtype != DTYPE_I64 && dtype != DTYPE_I32)
		aten_fail("repeats has to be Long or Int tensor");
	if (output_size && !aten_computes())
		return aten_new(dtype, 1, output_size, NULL);
	aten_needs_values();
	const char *p = aten_data(repeats);
	for (int64_t i = 0; i < n; i++) {
		int64_t r = elem_i64(dtype, p + i * line_step(repeats, 0));
		if (r < 0 || __builtin_add_overflow(total, r, &total))
			aten_fail("repeats can not be negative");
	}
	if (output_size && *output_size != total)
		aten_fail("allocated size does not match required size");
	struct aten_tensor *out = aten_new(dtype, 1, &total, NULL);
	for (int64_t i = 0; i < n; i++)
		for (int64_t r = elem_i64(dtype, p + i * line_step(repeats, 0)); r > 0; r--)
			elem_set_i64(dtype, aten_data(out) + at++ * elem_bytes(dtype), i);
	return out;
}

/* ---- by name ---- */

static void run_cum(struct aten_call *c) /* self, dim, dtype; entry.data: of products */
{
	call_give(c, 0, aten_cumulate(call_tensor(c, 0), call_int(c, 1), call_dtype_or(c, 2, DTYPE_NONE), c->entry->data != NULL));
}
static void run_cum_extreme(struct aten_call *c) { call_give_two(c, aten_cum_extreme(call_tensor(c, 0), call_int(c, 1), !c->entry->data)); }
static void run_logcumsumexp(struct aten_call *c) { call_give(c, 0, aten_logcumsumexp(call_tensor(c, 0), call_int(c, 1))); }
static void run_nonzero(struct aten_call *c) { call_give(c, 0, aten_nonzero(call_tensor(c, 0))); }

/* Repeats each slice of a dim; a view and a copy of it if all are repeated the same number of times. */
struct aten_tensor *aten_repeat_each(struct aten_tensor *self, int64_t dim, int64_t times)
{
	int64_t size[ATEN_DIMS];
	int d = aten_dim(self, dim);
	struct aten_tensor *wide = aten_unsqueeze(self, d + 1);
	memcpy(size, wide->size, sizeof(size));
	size[d + 1] = times;
	wide = aten_clone_contiguous(aten_expand(wide, size, wide->n_dim));
	memcpy(size, self->size, sizeof(size));
	size[d] = size_times(size[d], times);
	return aten_reshape(wide, size, self->n_dim);
}
static void run_repeat_interleave(struct aten_call *c) /* repeats, output_size */
{
	int64_t size = call_int_or(c, 1, 0);
	call_give(c, 0, aten_repeat_interleave(call_tensor(c, 0), call_is_none(c, 1) ? NULL : &size));
}
static void run_repeat_interleave_self(struct aten_call *c) /* self, repeats, dim, output_size */
{
	struct aten_tensor *self = call_tensor(c, 0);
	int64_t all = aten_numel(self), dim = call_int_or(c, 2, 0), size = call_int_or(c, 3, 0);
	if (call_is_none(c, 2))
		self = aten_reshape(self, &all, 1);
	if (c->arg[1].kind == ATEN_INT) {
		if (call_int(c, 1) < 0)
			aten_fail("Repeats must be non-negative");
		call_give(c, 0,
			  self->n_dim ? aten_repeat_each(self, dim, call_int(c, 1))
				      : aten_repeat_each(aten_unsqueeze(self, 0), 0, call_int(c, 1)));
		return;
	}
	struct aten_tensor *repeats = call_tensor(c, 1);
	int64_t n = line_size(self, aten_dim(self, dim));
	if (repeats->n_dim == 0 || aten_numel(repeats) == 1)
		repeats = aten_expand(aten_reshape(repeats, (const int64_t[]){1}, 1), &n, 1);
	if (aten_numel(repeats) != n)
		aten_fail("repeats must have the same size as input along dim");
	call_give(c, 0, aten_index_select(self, dim, aten_repeat_interleave(repeats, call_is_none(c, 3) ? NULL : &size)));
}

const struct aten_entry aten_scan_entries[] = {
    {"cummax", run_cum_extreme},
    {"cummin", run_cum_extreme, "least"},
    {"cumprod", run_cum, "product"},
    {"cumsum", run_cum},
    {"logcumsumexp", run_logcumsumexp},
    {"nonzero", run_nonzero},
    {"repeat_interleave.Tensor", run_repeat_interleave},
    {"repeat_interleave.self_Tensor", run_repeat_interleave_self},
    {"repeat_interleave.self_int", run_repeat_interleave_self},
    {0},
};
