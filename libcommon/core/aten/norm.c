/* Normalizations and softmax: computed in double line by line, rounded once (torch 2.13, aten/src/ATen/native/layer_norm.cpp,
 * group_norm.cpp, Normalization.cpp, SoftMax.cpp). */
#include "call.h"
#include "elem.h"
#include "named.h"
#include "ops.h"

#include <math.h>

static int acc_dtype(int dtype) { return dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32; }

/* t's values as a row-major array of double, broadcast to the sizes of shape. */
static double *doubles(const struct aten_tensor *t, const struct aten_tensor *shape)
{
	struct aten_tensor *w = aten_new(DTYPE_F64, shape->n_dim, shape->size, NULL);
	aten_copy(w, t);
	return (double *)aten_data(w);
}

static void need_float(const struct aten_tensor *t, const char *what)
{
	if (!elem_floating(t->dtype))
		aten_fail("\"%s\" not implemented for %s", what, dtype_name(t->dtype));
}

/* ---- softmax ---- */

/* entry.data of these: with a logarithm */
static const int with_log = 1;

static void softmax_line(double *v, int64_t n, bool logarithm)
{
	double most = -(double)INFINITY, sum = 0;
	for (int64_t i = 0; i < n; i++)
		most = v[i] > most || v[i] != v[i] ? v[i] : most;
	for (int64_t i = 0; i < n; i++)
		sum += exp(v[i] - most);
	for (int64_t i = 0; i < n; i++)
		v[i] = logarithm ? v[i] - most - log(sum) : exp(v[i] - most) / sum;
}

struct aten_tensor *aten_softmax(struct aten_tensor *self, int64_t dim_, bool logarithm)
{
	int dim = aten_dim(self, dim_);
	need_float(self, logarithm ? "log_softmax" : "softmax");
	struct aten_tensor *out = aten_new(self->dtype, self->n_dim, self->size, NULL);
	if (!aten_computes())
		return out;
	int64_t n = line_size(self, dim);
	double *line = aten_scratch((uint64_t)n, sizeof(*line));
	struct walk w = WALK_LINES(dim, self, out);
	for (bool more = n && walk_first(&w); more; more = walk_next(&w)) {
		aten_convert(DTYPE_F64, line, sizeof(*line), self->dtype, w.p[0], line_step(self, dim), n);
		softmax_line(line, n, logarithm);
		aten_convert(out->dtype, w.p[1], line_step(out, dim), DTYPE_F64, line, sizeof(*line), n);
	}
	return out;
}
static void run_softmax(struct aten_call *c) /* self, dim, dtype */
{
	struct aten_tensor *self = call_tensor(c, 0);
	int dtype = call_dtype_or(c, 2, self->dtype);
	if (dtype != self->dtype)
		self = aten_to_copy(self, dtype, ATEN_PRESERVE);
	call_give(c, 0, aten_softmax(self, call_int(c, 1), c->entry->data));
}
static void run_softmax_half(struct aten_call *c) /* self, dim, half_to_float */
{
	if (call_bool(c, 2))
		aten_fail("softmax with dtype conversion is supported only on CUDA");
	call_give(c, 0, aten_softmax(call_tensor(c, 0), call_int(c, 1), c->entry->data));
}

/* The variance without correction, around the mean or (not centered) around 0; *center becomes that point. */
static double variance(const double *v, int64_t n, bool centered, double *center)
{
	double sum = 0, squares = 0;
	for (int64_t i = 0; i < n; i++)
		sum += v[i];
	const double around = *center = centered ? sum / (double)n : 0;
	for (int64_t i = 0; i < n; i++)
		squares += (v[i] - around) * (v[i] - around);
	return squares / (double)n;
}

/* ---- over the last dims ---- */

/* rms: no mean is subtracted. saved: mean and rstd */
static struct aten_tensor *last_dims_norm(const struct aten_tensor *input, int64_t n_shape, const struct aten_tensor *weight,
					  const struct aten_tensor *bias, double eps, bool rms, struct two *saved)
{
	need_float(input, rms ? "rms_norm" : "LayerNormKernelImpl");
	if (n_shape < 1 || n_shape > input->n_dim)
		aten_fail("%lld normalized dimensions, but the input has %d", (long long)n_shape, input->n_dim);
	int outer = input->n_dim - (int)n_shape, acc = acc_dtype(input->dtype);
	int64_t size[ATEN_DIMS], rows = 1, n = 1;
	for (int i = 0; i < input->n_dim; i++) {
		size[i] = i < outer ? input->size[i] : 1;
		*(i < outer ? &rows : &n) *= input->size[i];
	}
	struct aten_tensor *out = aten_new(input->dtype, input->n_dim, input->size, NULL), row = {.n_dim = (int)n_shape};
	memcpy(row.size, input->size + outer, (size_t)n_shape * sizeof(int64_t));
	struct aten_tensor *m = aten_new(acc, input->n_dim, size, NULL), *r = aten_new(acc, input->n_dim, size, NULL);
	*saved = (struct two){m, r};
	if (!aten_computes())
		return out;
	double *w = weight ? doubles(weight, &row) : NULL, *b = bias ? doubles(bias, &row) : NULL,
	       *line = aten_scratch((uint64_t)n, sizeof(*line));
	struct aten_tensor *x = aten_contiguous((struct aten_tensor *)(uintptr_t)input);
	for (int64_t k = 0; k < rows; k++) {
		int64_t at = k * n * elem_bytes(x->dtype);
		double center;
		if (n)
			aten_convert(DTYPE_F64, line, sizeof(*line), x->dtype, aten_data(x) + at, elem_bytes(x->dtype), n);
		double scale = 1 / sqrt(variance(line, n, !rms, &center) + eps);
		for (int64_t i = 0; i < n; i++)
			line[i] = (line[i] - center) * scale * (w ? w[i] : 1) + (b ? b[i] : 0);
		if (n)
			aten_convert(out->dtype, aten_data(out) + at, elem_bytes(out->dtype), DTYPE_F64, line, sizeof(*line), n);
		elem_set_f64(acc, aten_data(m) + k * elem_bytes(acc), center);
		elem_set_f64(acc, aten_data(r) + k * elem_bytes(acc), scale);
	}
	return out;
}

struct two aten_fused_rms_norm(const struct aten_tensor *input, int64_t n_shape, const struct aten_tensor *weight, const double *eps)
{
	double e = eps ? *eps : acc_dtype(input->dtype) == DTYPE_F64 ? 0x1p-52 : 0x1p-23;
	struct two r, saved;
	r.first = last_dims_norm(input, n_shape, weight, NULL, e, true, &saved);
	r.second = saved.second;
	return r;
}

static bool ends_with(const struct aten_tensor *t, struct ints shape)
{
	return shape.n <= t->n_dim && (!shape.n || !memcmp(t->size + t->n_dim - shape.n, shape.v, (size_t)shape.n * sizeof(*shape.v)));
}
static void need_shape(const struct aten_tensor *t, struct ints shape, const char *what)
{
	if (t && (t->n_dim != shape.n || !ends_with(t, shape)))
		aten_fail("expected %s to have the normalized shape", what);
}
/* Statistics, computed in float, are returned in the parameters' dtype. */
static void give_saved(const struct aten_call *c, struct two saved, const struct aten_tensor *weight)
{
	int dtype = weight ? weight->dtype : call_tensor(c, 0)->dtype;
	bool same = dtype == saved.first->dtype || dtype == DTYPE_F32;
	call_give(c, 1, same ? saved.first : aten_to_copy(saved.first, dtype, ATEN_PRESERVE));
	call_give(c, 2, same ? saved.second : aten_to_copy(saved.second, dtype, ATEN_PRESERVE));
}
/* input, normalized_shape, weight, bias, eps */
static void run_layer_norm(struct aten_call *c)
{
	struct ints shape = call_ints(c, 1);
	struct aten_tensor *self = call_tensor(c, 0), *weight = call_tensor_or_none(c, 2), *bias = call_tensor_or_none(c, 3);
	struct two saved;
	if (!ends_with(self, shape))
		aten_fail("given normalized_shape does not match the input's last dimensions");
	need_shape(weight, shape, "weight");
	need_shape(bias, shape, "bias");
	call_give(c, 0, last_dims_norm(self, shape.n, weight, bias, call_float(c, 4), false, &saved));
	if (!strcmp(c->entry->name, "native_layer_norm"))
		give_saved(c, saved, weight);
}
static void run_rms_norm(struct aten_call *c) /* input, normalized_shape, weight, eps */
{
	struct ints shape = call_ints(c, 1);
	struct aten_tensor *self = call_tensor(c, 0), *weight = call_tensor_or_none(c, 2);
	double eps = call_float_or(c, 3, 0);
	need_shape(weight, shape, "weight");
	struct two r = aten_fused_rms_norm(self, shape.n, weight, call_is_none(c, 3) ? NULL : &eps);
	call_give(c, 0, r.first);
	if (!strcmp(c->entry->name, "_fused_rms_norm"))
		call_give(c, 1, r.second);
}

/* ---- over channels ---- */

/* A value for each of dim 1, as a tensor of that many dims. */
static struct aten_tensor *per_channel(struct aten_tensor *t, const struct aten_tensor *of)
{
	int64_t shape[ATEN_DIMS];
	for (int i = 0; i < of->n_dim; i++)
		shape[i] = i == 1 ? of->size[1] : 1;
	return aten_reshape(t, shape, of->n_dim);
}

/* Per channel: mean and variance (without correction) over all dims but dim 1. */
static void channel_moments(const struct aten_tensor *x, double *mean, double *var)
{
	int64_t channels = x->size[1], n = aten_numel(x) / (channels ? channels : 1);
	for (int64_t c = 0; c < channels; c++) {
		struct aten_tensor *part = aten_select(x, 1, c);
		var[c] = variance(doubles(part, part), n, true, &mean[c]);
	}
}

static struct aten_tensor *format_like(const struct aten_tensor *x)
{
	return aten_new_format(x->dtype, x->n_dim, x->size, aten_channels_last(x));
}

/* out = (x - mean) * scale + bias, each for a channel */
static void affine(struct aten_tensor *out, const struct aten_tensor *x, const double *mean, const double *scale, const double *bias)
{
	for (int64_t c = 0; c < x->size[1]; c++) {
		struct aten_tensor *part = aten_select(x, 1, c), *to = aten_select(out, 1, c),
				   *wide = aten_new(DTYPE_F64, part->n_dim, part->size, NULL);
		double *v = (double *)aten_data(wide);
		aten_copy(wide, part);
		for (int64_t i = 0; i < aten_numel(wide); i++)
			v[i] = (v[i] - mean[c]) * scale[c] + bias[c];
		aten_copy(to, wide);
	}
}

static double *channel_values(const struct aten_tensor *t, int64_t channels, double otherwise)
{
	double *v = aten_scratch((uint64_t)channels, sizeof(*v));
	if (t && (t->n_dim != 1 || t->size[0] != channels))
		aten_fail("a tensor with %d dimensions and %lld values does not match %lld channels", t->n_dim, (long long)aten_numel(t),
			  (long long)channels);
	for (int64_t i = 0; i < channels; i++)
		v[i] = otherwise;
	if (t)
		aten_convert(DTYPE_F64, v, sizeof(*v), t->dtype, aten_data(t), t->n_dim ? t->stride[0] * elem_bytes(t->dtype) : 0,
			     channels);
	return v;
}

static void put_channels(struct aten_tensor *t, const double *v, int64_t n)
{
	if (t)
		aten_convert(t->dtype, aten_data(t), t->stride[0] * elem_bytes(t->dtype), DTYPE_F64, v, sizeof(*v), n);
}

struct batch_norm {
	struct aten_tensor *weight, *bias, *running_mean, *running_var;
	bool training;
	double momentum, eps;
	struct two saved; /* created: mean and rstd */
};

static struct aten_tensor *batch_norm(struct batch_norm *b, struct aten_tensor *x)
{
	need_float(x, "batch_norm");
	if (x->n_dim < 2)
		aten_fail("expected at least 2 dimensions");
	struct aten_tensor *out = format_like(x);
	int64_t channels = x->size[1], none = b->training ? channels : 0;
	int acc = acc_dtype(x->dtype);
	b->saved = (struct two){aten_new(acc, 1, &none, NULL), aten_new(acc, 1, &none, NULL)};
	if (!b->training && (!b->running_mean || !b->running_var))
		aten_fail("expected running_mean and running_var to be defined when not training");
	if (!aten_computes())
		return out;
	double *mean = channel_values(b->running_mean, channels, 0), *var = channel_values(b->running_var, channels, 1);
	double *scale = channel_values(b->weight, channels, 1), *shift = channel_values(b->bias, channels, 0);
	if (b->training) {
		double *m = aten_scratch((uint64_t)channels, sizeof(*m)), *v = aten_scratch((uint64_t)channels, sizeof(*v));
		double n = (double)(aten_numel(x) / (channels ? channels : 1)), keep = 1 - b->momentum;
		channel_moments(x, m, v);
		for (int64_t c = 0; c < channels; c++) {
			mean[c] = keep * mean[c] + b->momentum * m[c];
			var[c] = keep * var[c] + b->momentum * v[c] * n / (n - 1);
		}
		put_channels(b->running_mean, mean, channels);
		put_channels(b->running_var, var, channels);
		mean = m;
		var = v;
	}
	for (int64_t c = 0; c < channels; c++)
		var[c] = 1 / sqrt(var[c] + b->eps);
	if (b->training) {
		put_channels(b->saved.first, mean, channels);
		put_channels(b->saved.second, var, channels);
	}
	for (int64_t c = 0; c < channels; c++)
		scale[c] *= var[c];
	affine(out, x, mean, scale, shift);
	return out;
}

static void run_batch_norm(struct aten_call *c) /* input, weight, bias, running_mean, running_var, training, momentum, eps */
{
	bool no_training = strstr(c->entry->name, "no_training") != NULL, no_stats = strstr(c->entry->name, "no_stats") != NULL;
	uint32_t at = no_stats ? 3 : 5; /* of training */
	struct batch_norm b = {.weight = call_tensor_or_none(c, 1),
			       .bias = call_tensor_or_none(c, 2),
			       .running_mean = no_stats ? NULL : call_tensor_or_none(c, 3),
			       .running_var = no_stats ? NULL : call_tensor_or_none(c, 4),
			       .training = !no_training && call_bool(c, at),
			       .momentum = call_float(c, at + !no_training),
			       .eps = call_float(c, at + !no_training + 1)};
	call_give(c, 0, batch_norm(&b, call_tensor(c, 0)));
	if (strcmp(c->entry->name, "batch_norm") != 0)
		give_saved(c, b.saved, b.weight);
}

/* A batch norm of N * C channels (aten/src/ATen/native/Normalization.cpp, instance_norm). */
static void run_instance_norm(struct aten_call *c) /* input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps */
{
	struct aten_tensor *x = call_tensor(c, 0), *weight = call_tensor_or_none(c, 1), *bias = call_tensor_or_none(c, 2);
	int64_t shape[ATEN_DIMS];
	if (call_tensor_or_none(c, 3) || !call_bool(c, 5))
		aten_fail("running statistics are not supported");
	if (x->n_dim < 2)
		aten_fail("expected at least 2 dimensions (batch and channels)");
	memcpy(shape, x->size, sizeof(shape));
	shape[0] = 1;
	shape[1] = x->size[0] * x->size[1];
	struct batch_norm b = {.training = true, .eps = call_float(c, 7)};
	struct aten_tensor *out = aten_reshape(batch_norm(&b, aten_reshape(aten_contiguous(x), shape, x->n_dim)), x->size, x->n_dim);
	if (weight)
		out = aten_mul(out, per_channel(weight, x));
	if (bias)
		out = aten_add(out, per_channel(bias, x), 1);
	call_give(c, 0, out);
}

static struct aten_tensor *group_norm(struct aten_tensor *x, int64_t groups, const struct aten_tensor *weight,
				      const struct aten_tensor *bias, double eps, struct two *saved)
{
	need_float(x, "GroupNormKernelImpl");
	if (x->n_dim < 2 || groups < 1 || x->size[1] % groups)
		aten_fail("expected number of channels in input to be divisible by num_groups");
	int64_t channels = x->size[1], each = channels / groups, size[2] = {x->size[0], groups};
	struct aten_tensor *out = format_like(x);
	const int acc = acc_dtype(x->dtype);
	*saved = (struct two){aten_new(acc, 2, size, NULL), aten_new(acc, 2, size, NULL)};
	if (!aten_computes())
		return out;
	double *w = channel_values(weight, channels, 1), *b = channel_values(bias, channels, 0);
	for (int64_t k = 0; k < size[0] * groups; k++) {
		struct aten_tensor *part = aten_narrow(aten_select(x, 0, k / groups), 0, k % groups * each, each);
		struct aten_tensor *to = aten_narrow(aten_select(out, 0, k / groups), 0, k % groups * each, each);
		struct aten_tensor *wide = aten_new(DTYPE_F64, part->n_dim, part->size, NULL);
		double *v = (double *)aten_data(wide), m;
		int64_t n = aten_numel(wide), inner = each ? n / each : 0;
		aten_copy(wide, part);
		double scale = 1 / sqrt(variance(v, n, true, &m) + eps);
		for (int64_t i = 0; i < n; i++)
			v[i] = (v[i] - m) * scale * w[k % groups * each + i / inner] + b[k % groups * each + i / inner];
		aten_copy(to, wide);
		elem_set_f64(acc, aten_data(saved->first) + k * elem_bytes(acc), m);
		elem_set_f64(acc, aten_data(saved->second) + k * elem_bytes(acc), scale);
	}
	return out;
}
static void run_group_norm(struct aten_call *c) /* input, num_groups, weight, bias, eps */
{
	struct two saved;
	call_give(
	    c, 0,
	    group_norm(call_tensor(c, 0), call_int(c, 1), call_tensor_or_none(c, 2), call_tensor_or_none(c, 3), call_float(c, 4), &saved));
}
static void run_native_group_norm(struct aten_call *c) /* input, weight, bias, N, C, HxW, group, eps */
{
	struct aten_tensor *weight = call_tensor_or_none(c, 1);
	struct two saved;
	call_give(c, 0, group_norm(call_tensor(c, 0), call_int(c, 6), weight, call_tensor_or_none(c, 2), call_float(c, 7), &saved));
	give_saved(c, saved, weight);
}

/* ---- a loss ---- */

/* aten/src/ATen/native/Loss.cpp */
struct aten_tensor *aten_soft_margin_loss_backward(const struct aten_tensor *grad, const struct aten_tensor *self,
						   const struct aten_tensor *target, int64_t reduction)
{
	enum { MEAN = 1 };
	struct aten_tensor *out = aten_elementwise(self->dtype, (const struct aten_tensor *const[]){self, target}, 2);
	struct aten_tensor *r = aten_new(DTYPE_F64, out->n_dim, out->size, NULL);
	int64_t n = aten_computes() ? aten_numel(out) : 0;
	double norm = reduction == MEAN && n ? 1.0 / (double)n : 1, *to = (double *)aten_data(r);
	double *g = doubles(grad, out), *x = doubles(self, out), *y = doubles(target, out);
	for (int64_t i = 0; i < n; i++) {
		double z = exp(-y[i] * x[i]);
		to[i] = -norm * y[i] * g[i] * z / (1 + z);
	}
	aten_copy(out, r);
	return out;
}
static void run_soft_margin_loss_backward(struct aten_call *c)
{
	call_give(c, 0, aten_soft_margin_loss_backward(call_tensor(c, 0), call_tensor(c, 1), call_tensor(c, 2), call_int(c, 3)));
}

/* ---- gradients (aten/src/ATen/native/cpu/layer_norm_kernel.cpp, group_norm_kernel.cpp) ---- */

struct norm_gradient {
	int64_t n, inner; /* elements that were normalized together; this many of them in a row share a weight */
	const double *w;  /* NULL: 1 */
	double *dw, *db;  /* added to */
};

/* dx = rstd * (g - mean(g) - y * mean(g y)) where g = dy w, and y is the normalized value; dy becomes dx. */
static void norm_back(const struct norm_gradient *k, double *dy, const double *x, double mean, double rstd)
{
	double sum = 0, product = 0;
	for (int64_t i = 0; i < k->n; i++) {
		double y = (x[i] - mean) * rstd, g = dy[i] * (k->w ? k->w[i / k->inner] : 1);
		k->dw[i / k->inner] += dy[i] * y;
		k->db[i / k->inner] += dy[i];
		sum += g;
		product += g * y;
		dy[i] = g;
	}
	for (int64_t i = 0; i < k->n; i++)
		dy[i] = rstd * (dy[i] - sum / (double)k->n - (x[i] - mean) * rstd * product / (double)k->n);
}

static struct aten_tensor *numbers(const double *v, const struct aten_tensor *like)
{
	struct aten_tensor *t = aten_new(like->dtype, like->n_dim, like->size, NULL);
	if (aten_computes() && aten_numel(t))
		aten_convert(t->dtype, aten_data(t), elem_bytes(t->dtype), DTYPE_F64, v, sizeof(*v), aten_numel(t));
	return t;
}

static const int64_t *mask_of(const struct aten_call *c, uint32_t i)
{
	struct ints mask = call_ints(c, i);
	if (mask.n != 3)
		aten_fail("expected an output mask of 3 values, got %lld", (long long)mask.n);
	return mask.v;
}

/* dy and x in rows of k->n; which weights a row uses, repeating every w_rows rows; the call's results. */
static void give_gradients(struct aten_call *c, struct norm_gradient k, int64_t rows, int64_t weights, const int64_t *mask,
			   const struct aten_tensor *dx_like, const struct aten_tensor *weight, const struct aten_tensor *bias)
{
	struct aten_tensor *grad = call_tensor(c, 0), *x = call_tensor(c, 1), *mean = named_tensor(c, "mean"),
			   *rstd = named_tensor(c, "rstd");
	double *dw = aten_scratch_values((uint64_t)weights, 2 * sizeof(*dw)), *db = NULL, *dy = NULL;
	if (!aten_same_sizes(grad, x) || aten_numel(mean) != rows || aten_numel(rstd) != rows ||
	    (weight && aten_numel(weight) != weights) || (bias && aten_numel(bias) != weights))
		aten_fail("the gradient, mean, rstd or weight does not match the input");
	if (aten_computes() && weights) {
		memset(dw, 0, (size_t)weights * 2 * sizeof(*dw));
		db = dw + weights;
	}
	if (aten_computes() && rows && k.n) {
		const double *m = doubles(mean, mean), *r = doubles(rstd, rstd), *v = doubles(x, x),
			     *w = weight ? doubles(weight, weight) : NULL;
		dy = doubles(grad, grad);
		for (int64_t i = 0; i < rows; i++) {
			int64_t first = i * (k.n / k.inner) % weights;
			k.w = w ? w + first : NULL;
			k.dw = dw + first;
			k.db = db + first;
			norm_back(&k, dy + i * k.n, v + i * k.n, m[i], r[i]);
		}
	}
	struct aten_tensor *dx = aten_new(x->dtype, x->n_dim, x->size, dx_like->stride);
	if (dy)
		aten_copy(dx, aten_of_blob(dy, DTYPE_F64, x->n_dim, x->size, aten_new(DTYPE_F64, x->n_dim, x->size, NULL)->stride, 0));
	call_give(c, 0, mask[0] ? dx : NULL);
	call_give(c, 1, mask[1] && weight ? numbers(dw, weight) : NULL);
	call_give(c, 2, mask[2] && bias ? numbers(db, bias) : NULL);
}

/* grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask */
static void run_layer_norm_backward(struct aten_call *c)
{
	struct aten_tensor *x = call_tensor(c, 1);
	int64_t rows = 1, n = 1;
	struct ints shape = call_ints(c, 2);
	need_float(x, "LayerNormBackwardKernelImpl");
	if (shape.n < 1 || !ends_with(x, shape))
		aten_fail("the normalized shape does not match the input");
	for (int i = 0; i < x->n_dim; i++)
		*(i < x->n_dim - shape.n ? &rows : &n) *= x->size[i];
	give_gradients(c, (struct norm_gradient){.n = n, .inner = 1}, rows, n, mask_of(c, 7), aten_new(x->dtype, x->n_dim, x->size, NULL),
		       call_tensor_or_none(c, 5), call_tensor_or_none(c, 6));
}

/* grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask */
static void run_group_norm_backward(struct aten_call *c)
{
	struct aten_tensor *x = call_tensor(c, 1), *weight = call_tensor_or_none(c, 4);
	int64_t groups = call_int(c, 8);
	need_float(x, "GroupNormBackwardKernelImpl");
	if (x->n_dim < 2 || groups < 1 || x->size[1] % groups || call_int(c, 5) != x->size[0] || call_int(c, 6) != x->size[1])
		aten_fail("expected N, C, and a number of groups that divides C");
	int64_t each = x->size[1] / groups, n = aten_numel(x) / (x->size[0] && groups ? x->size[0] * groups : 1);
	struct norm_gradient k = {.n = n, .inner = each && n / each ? n / each : 1};
	struct aten_tensor *of_channels = weight ? weight : aten_new(x->dtype, 1, &x->size[1], NULL);
	const int64_t *mask = mask_of(c, 9);
	if (mask[1] && !weight)
		aten_fail("the gradient of a weight was requested, but there is no weight");
	give_gradients(c, k, x->size[0] * groups, x->size[1], mask, format_like(x), weight, of_channels);
}

const struct aten_entry aten_norm_entries[] = {
    {"_fused_rms_norm", run_rms_norm},
    {"_log_softmax", run_softmax_half, &with_log},
    {"_native_batch_norm_legit", run_batch_norm},
    {"_native_batch_norm_legit.no_stats", run_batch_norm},
    {"_native_batch_norm_legit_no_training", run_batch_norm},
    {"_softmax", run_softmax_half},
    {"batch_norm", run_batch_norm},
    {"group_norm", run_group_norm},
    {"instance_norm", run_instance_norm},
    {"layer_norm", run_layer_norm},
    {"log_softmax.int", run_softmax, &with_log},
    {"native_batch_norm", run_batch_norm},
    {"native_group_norm", run_native_group_norm},
    {"native_group_norm_backward", run_group_norm_backward},
    {"native_layer_norm_backward", run_layer_norm_backward},
    {"native_layer_norm", run_layer_norm},
    {"rms_norm", run_rms_norm},
    {"soft_margin_loss_backward", run_soft_margin_loss_backward},
    {"softmax.int", run_softmax},
    {"special_log_softmax", run_softmax, &with_log},
    {"special_softmax", run_softmax},
    {0},
};
