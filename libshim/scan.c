/* scan.c - cumsum and its like, nonzero, repeat_interleave.
 *
 * Strides (torch 2.13): scans are contiguous whatever the input (aten/src/ATen/native/ReduceOps.cpp,
 * meta_func_cum_ops). nonzero is [n, dims] with strides (1, n): torch collects it dim by dim
 * (aten/src/ATen/native/TensorAdvancedIndexing.cpp, nonzero_out_cpu). float32 is summed in double, float16 and bfloat16
 * in float, integers wrap: as torch does, so that results are equal bit by bit.
 */
#include "elem.h"

#include <math.h>

static struct shim_tensor *as_dtype(struct shim_tensor *t, int dtype)
{
	if (t->dtype == dtype)
		return t;
	struct shim_tensor *c = shim_new(dtype, t->n_dim, t->size, NULL);
	shim_copy(c, t);
	return c;
}

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

static struct shim_tensor *cumulate(struct shim_tensor *self, int64_t dim_, const int32_t *dtype, bool product)
{
	int dim = shim_dim(self, dim_);
	int to = dtype ? *dtype : elem_integral(self->dtype) ? DTYPE_I64 : self->dtype;
	struct shim_tensor *in = as_dtype(self, to), *out = shim_new(to, self->n_dim, self->size, NULL);
	struct line l = {to, line_size(in, dim), line_step(in, dim), line_step(out, dim)};
	struct walk w;

	walk_begin(&w, in->n_dim, in->size);
	walk_lines(&w, dim);
	walk_add(&w, shim_data(in), in);
	walk_add(&w, shim_data(out), out);
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

AOTITorchError aoti_torch_cpu_cumsum(AtenTensorHandle self, int64_t dim, int32_t *dtype, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, cumulate(self, dim, dtype, false));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_cumprod(AtenTensorHandle self, int64_t dim, int32_t *dtype, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, cumulate(self, dim, dtype, true));
	}
	SHIM_END
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

static void extreme(struct shim_tensor *self, int64_t dim_, bool max, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	int dim = shim_dim(self, dim_);
	struct shim_tensor *out = shim_new(self->dtype, self->n_dim, self->size, NULL);
	struct shim_tensor *at = shim_new(DTYPE_I64, self->n_dim, self->size, NULL);
	struct line l = {self->dtype, line_size(self, dim), line_step(self, dim), line_step(out, dim)};
	struct walk w;

	elem_need_real(self);
	walk_begin(&w, self->n_dim, self->size);
	walk_lines(&w, dim);
	walk_add(&w, shim_data(self), self);
	walk_add(&w, shim_data(out), out);
	walk_add(&w, shim_data(at), at);
	if (l.n)
		for (bool more = walk_first(&w); more; more = walk_next(&w))
			extreme_line(&l, w.p[0], w.p[1], w.p[2], line_step(at, dim), max ? 0 : UINT64_MAX);
	SHIM_GIVE(ret0, out);
	SHIM_GIVE(ret1, at);
}

AOTITorchError aoti_torch_cpu_cummax(AtenTensorHandle self, int64_t dim, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	SHIM_TRY {
		extreme(self, dim, true, ret0, ret1);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_cummin(AtenTensorHandle self, int64_t dim, AtenTensorHandle *ret0, AtenTensorHandle *ret1)
{
	SHIM_TRY {
		extreme(self, dim, false, ret0, ret1);
	}
	SHIM_END
}

/* ---- logcumsumexp ---- */

static double log_add_exp(double a, double b)
{
	double min = isnan(a) || a < b ? a : b, max = isnan(b) || b > a ? b : a;

	if (isnan(a) || isnan(b))
		return (double)NAN;
	return min != max || isfinite(min) ? log1p(exp(min - max)) + max : a;
}

static struct shim_tensor *logcumsumexp(struct shim_tensor *self, int64_t dim_)
{
	int dim = shim_dim(self, dim_);
	struct shim_tensor *out = shim_new(self->dtype, self->n_dim, self->size, NULL);
	struct walk w;

	if (!elem_floating(self->dtype))
		shim_fail("logcumsumexp is not implemented for %s", dtype_name(self->dtype));
	walk_begin(&w, self->n_dim, self->size);
	walk_lines(&w, dim);
	walk_add(&w, shim_data(self), self);
	walk_add(&w, shim_data(out), out);
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

AOTITorchError aoti_torch_cpu_logcumsumexp(AtenTensorHandle self, int64_t dim, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		SHIM_GIVE(ret0, logcumsumexp(self, dim));
	}
	SHIM_END
}

/* ---- nonzero ---- */

static int64_t count_nonzero(const struct shim_tensor *t)
{
	struct walk w;
	int64_t n = 0;

	walk_begin(&w, t->n_dim, t->size);
	walk_add(&w, shim_data(t), t);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		n += elem_true(t->dtype, w.p[0]);
	return n;
}

/* Write the positions of at most n elements that are not zero. */
static int64_t put_nonzero(const struct shim_tensor *t, struct shim_tensor *out, int64_t n)
{
	int64_t *v = (int64_t *)(void *)shim_data(out), at = 0;
	struct walk w;

	walk_begin(&w, t->n_dim, t->size);
	walk_add(&w, shim_data(t), t);
	for (bool more = walk_first(&w); more && at < n; more = walk_next(&w)) {
		if (!elem_true(t->dtype, w.p[0]))
			continue;
		for (int i = 0; i < t->n_dim; i++)
			v[at * out->stride[0] + i * out->stride[1]] = w.pos[i];
		at++;
	}
	return at;
}

struct shim_tensor *shim_nonzero(struct shim_tensor *self)
{
	int64_t n = count_nonzero(self), size[2] = {n, self->n_dim}, stride[2] = {1, n > 1 ? n : 1};
	struct shim_tensor *out = shim_new(DTYPE_I64, 2, size, stride);

	put_nonzero(self, out, n);
	return out;
}

static AOTITorchError nonzero_op(const char *op, struct shim_tensor *self, AtenTensorHandle *ret)
{
	SHIM_TRY_AS(op) {
		SHIM_GIVE(ret, shim_nonzero(self));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_nonzero(AtenTensorHandle self, AtenTensorHandle *ret0) { return nonzero_op(__func__, self, ret0); }

/* Its name until torch 2.6. */
AOTITorchError aoti_torch_nonzero(AtenTensorHandle self, AtenTensorHandle *out) { return nonzero_op(__func__, self, out); }

AOTITorchError aoti_torch_cpu_nonzero_static(AtenTensorHandle self, int64_t size, int64_t fill_value, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		if (size < 0)
			shim_fail("nonzero_static: 'size' must be an non-negative integer");
		int64_t sizes[2] = {size, self->n_dim};
		struct shim_tensor *out = shim_new(DTYPE_I64, 2, sizes, NULL);
		int64_t *v = (int64_t *)(void *)shim_data(out);
		int64_t n = put_nonzero(self, out, size);
		for (int64_t i = n * self->n_dim; i < size * self->n_dim; i++)
			v[i] = fill_value;
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}

/* ---- repeat_interleave ---- */

static struct shim_tensor *repeat_interleave(struct shim_tensor *repeats, const int64_t *output_size)
{
	int64_t total = 0, n = shim_numel(repeats), at = 0;
	int dtype = repeats->dtype;

	if (repeats->n_dim != 1)
		shim_fail("repeat_interleave only accept 1D vector as repeat");
	if (dtype != DTYPE_I64 && dtype != DTYPE_I32)
		shim_fail("repeats has to be Long or Int tensor");
	const char *p = shim_data(repeats);
	for (int64_t i = 0; i < n; i++) {
		int64_t r = elem_i64(dtype, p + i * line_step(repeats, 0));
		if (r < 0 || __builtin_add_overflow(total, r, &total))
			shim_fail("repeats can not be negative");
	}
	if (output_size && *output_size != total)
		shim_fail("allocated size does not match required size");
	struct shim_tensor *out = shim_new(dtype, 1, &total, NULL);
	for (int64_t i = 0; i < n; i++)
		for (int64_t r = elem_i64(dtype, p + i * line_step(repeats, 0)); r > 0; r--)
			elem_set_i64(dtype, shim_data(out) + at++ * elem_bytes(dtype), i);
	return out;
}

static AOTITorchError repeat_interleave_op(const char *op, struct shim_tensor *repeats, const int64_t *output_size, AtenTensorHandle *ret)
{
	SHIM_TRY_AS(op) {
		SHIM_GIVE(ret, repeat_interleave(repeats, output_size));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_repeat_interleave_Tensor(AtenTensorHandle repeats, int64_t *output_size, AtenTensorHandle *ret0)
{
	return repeat_interleave_op(__func__, repeats, output_size, ret0);
}

/* Its name until torch 2.6. */
AOTITorchError aoti_torch_repeat_interleave_Tensor(AtenTensorHandle repeats, int64_t *output_size, AtenTensorHandle *out)
{
	return repeat_interleave_op(__func__, repeats, output_size, out);
}
