/* pool.c - max, average and adaptive pooling in two and three dims.
 *
 * Shapes and strides of torch 2.13 (aten/src/ATen/native/Pool.h, AveragePool2d.cpp, DilatedMaxPool2d.cpp,
 * Adaptive*.cpp): results of two dims and of max_pool3d are channels_last if the input is, judging by its strides, all others
 * contiguous. A window's NaN is its maximum; of equal maxima the first counts. Two dims are treated as three, the first of size 1. Each
 * operator supports two and three dims; one dim is treated as two.
 */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

struct pool {
	struct aten_tensor *self; /* N? C D? H W */
	int spatial;
	bool channels_last;
	int64_t planes, in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
	int64_t size[5]; /* of the output */
};

/* Parameters come as one number for all dims, or one each. */
static void spread_list(int64_t *dst, int spatial, struct ints list, const char *name)
{
	if (list.n != 1 && list.n != spatial)
		aten_fail("%s must either be a single int, or a tuple of %d ints", name, spatial);
	for (int i = 0; i < spatial; i++)
		dst[3 - spatial + i] = list.v[list.n == 1 ? 0 : i];
}

static void pool_begin(struct pool *p, struct aten_tensor *self, int spatial)
{
	int first = self->n_dim - spatial;

	if (first != 1 && first != 2)
		aten_fail("expected %dD or %dD input", spatial + 1, spatial + 2);
	*p = (struct pool){.self = self,
			   .spatial = spatial,
			   .channels_last = first == 2 && aten_channels_last(self),
			   .planes = 1,
			   .in = {1, 1, 1},
			   .out = {1, 1, 1},
			   .kernel = {1, 1, 1},
			   .stride = {1, 1, 1},
			   .dilation = {1, 1, 1}};
	for (int i = 0; i < first; i++) {
		p->planes *= self->size[i];
		p->size[i] = self->size[i];
	}
	for (int i = 0; i < spatial; i++)
		p->in[3 - spatial + i] = self->size[first + i];
}

static void pool_sized(struct pool *p)
{
	for (int i = 0; i < p->spatial; i++)
		p->size[p->self->n_dim - p->spatial + i] = p->out[3 - p->spatial + i];
}

/* aten/src/ATen/native/Pool.h, pooling_output_shape: rounding up leaves out windows that begin in the right padding. */
static int64_t window_count(int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation, bool ceil_mode)
{
	int64_t span = in + 2 * pad - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
	int64_t n = (span >= 0 ? span / stride : -((-span + stride - 1) / stride)) + 1;

	if (ceil_mode && (n - 1) * stride >= in + pad)
		n--;
	return n;
}

static void pool_windows(struct pool *p, const struct window_args *a, bool ceil_mode)
{
	spread_list(p->kernel, p->spatial, a->kernel, "kernel_size");
	memcpy(p->stride, p->kernel, sizeof(p->stride));
	if (a->stride.n)
		spread_list(p->stride, p->spatial, a->stride, "stride");
	spread_list(p->pad, p->spatial, a->pad, "padding");
	if (a->dilation.n)
		spread_list(p->dilation, p->spatial, a->dilation, "dilation");
	for (int i = 0; i < 3; i++) {
		if (p->kernel[i] < 1 || p->stride[i] < 1 || p->dilation[i] < 1)
			aten_fail("kernel size, stride and dilation should be greater than zero");
		if (p->kernel[i] > INT32_MAX || p->stride[i] > INT32_MAX || p->dilation[i] > INT32_MAX)
			aten_fail("kernel size, stride or dilation are too large");
		if (p->pad[i] < 0 || p->pad[i] > ((p->kernel[i] - 1) * p->dilation[i] + 1) / 2)
			aten_fail("pad should be at most half of effective kernel size");
		if (p->spatial == 2 && !i)
			continue;
		p->out[i] = window_count(p->in[i], p->kernel[i], p->stride[i], p->pad[i], p->dilation[i], ceil_mode);
		if (p->out[i] < 1)
			aten_fail("Output size is too small");
	}
	pool_sized(p);
}

static struct aten_tensor *pool_output(const struct pool *p, int dtype)
{
	return aten_new_format(dtype, p->self->n_dim, p->size, p->channels_last);
}

/* The start of plane k of t, and its steps in bytes by D, H, W. */
struct plane {
	char *p;
	int64_t step[3];
};

static struct plane plane_of(const struct pool *p, const struct aten_tensor *t, int64_t k)
{
	int first = t->n_dim - p->spatial, bytes = elem_bytes(t->dtype);
	struct plane x = {.p = aten_data(t)};
	int64_t c = t->size[first - 1];

	if (!x.p) /* no memory: nothing to read */
		return x;
	x.p += k % c * t->stride[first - 1] * bytes;
	if (first == 2)
		x.p += k / c * t->stride[0] * bytes;
	for (int i = 0; i < p->spatial; i++)
		x.step[3 - p->spatial + i] = t->stride[first + i] * bytes;
	return x;
}

static char *plane_at(const struct plane *x, const int64_t *at)
{
	return x->p + at[0] * x->step[0] + at[1] * x->step[1] + at[2] * x->step[2];
}

/* A window: positions from, from + step, ... below to. */
struct window {
	int64_t from[3], to[3], step[3];
};

#define FOR_WINDOW(w, at) \
	for (at[0] = (w)->from[0]; at[0] < (w)->to[0]; at[0] += (w)->step[0]) \
		for (at[1] = (w)->from[1]; at[1] < (w)->to[1]; at[1] += (w)->step[1]) \
			for (at[2] = (w)->from[2]; at[2] < (w)->to[2]; at[2] += (w)->step[2])
/* An output without elements may be of any size in its other dims. */
#define FOR_OUTPUT(p, at) \
	for (at[0] = (p)->out[1] && (p)->out[2] ? 0 : (p)->out[0]; at[0] < (p)->out[0]; at[0]++) \
		for (at[1] = 0; at[1] < (p)->out[1]; at[1]++) \
			for (at[2] = 0; at[2] < (p)->out[2]; at[2]++)

static int64_t flat(const struct pool *p, const int64_t *at) { return (at[0] * p->in[1] + at[1]) * p->in[2] + at[2]; }

/* ---- maxima ---- */

/* The plane in double, row-major. */
static void load_plane(const struct pool *p, const struct plane *in, double *v)
{
	struct window rows = {.to = {p->in[0], p->in[1], 1}, .step = {1, 1, 1}};
	int64_t at[3];

	FOR_WINDOW(&rows, at)
	aten_convert(DTYPE_F64, v + flat(p, at), sizeof(*v), p->self->dtype, plane_at(in, at), in->step[2], p->in[2]);
}

struct max_plane {
	uint64_t *key; /* of the plane's elements, row-major */
	double *v;     /* room for intermediate floats */
	uint64_t nan;  /* the key that is NaN; 0 if there is none */
};

static void load_keys(const struct pool *p, const struct plane *in, struct max_plane *m)
{
	struct window all = {.to = {p->in[0], p->in[1], p->in[2]}, .step = {1, 1, 1}};
	int64_t at[3], n = 0, total = p->in[0] * p->in[1] * p->in[2];

	if (elem_floating(p->self->dtype)) {
		load_plane(p, in, m->v);
		for (; n < total; n++)
			m->key[n] = elem_key_f64(m->v[n]);
		return;
	}
	FOR_WINDOW(&all, at)
	m->key[n++] = elem_key(p->self->dtype, plane_at(in, at));
}

/* The position of the maximum: the first of equal ones, the last of NaN's. */
static int64_t max_at(const struct pool *p, const struct max_plane *m, const struct window *w)
{
	int64_t best_at = -1;
	uint64_t best = 0;

	for (int64_t d = w->from[0]; d < w->to[0]; d += w->step[0])
		for (int64_t h = w->from[1]; h < w->to[1]; h += w->step[1]) {
			int64_t row = (d * p->in[1] + h) * p->in[2];
			for (int64_t x = row + w->from[2]; x < row + w->to[2]; x += w->step[2])
				if (best_at < 0 || m->key[x] > best || (m->nan && m->key[x] == m->nan)) {
					best = m->key[x];
					best_at = x;
				}
		}
	return best_at;
}

typedef void window_fn(const struct pool *p, int64_t plane, const int64_t *at, struct window *w, void *arg);

static struct two pool_max(const struct pool *p, window_fn *window, void *arg)
{
	struct aten_tensor *out = pool_output(p, p->self->dtype), *indices = pool_output(p, DTYPE_I64);
	int64_t n = p->in[0] * p->in[1] * p->in[2], at[3];
	struct max_plane m = {aten_scratch_values((uint64_t)n, sizeof(uint64_t)), aten_scratch_values((uint64_t)n, sizeof(double)),
			      elem_floating(out->dtype) ? UINT64_MAX : 0};
	struct window w;

	elem_need_real(p->self);
	for (int64_t k = 0; k < (aten_computes() ? p->planes : 0); k++) {
		struct plane from = plane_of(p, p->self, k), to = plane_of(p, out, k), index = plane_of(p, indices, k);
		load_keys(p, &from, &m);
		FOR_OUTPUT(p, at)
		{
			window(p, k, at, &w, arg);
			int64_t best = max_at(p, &m, &w);
			if (best < 0)
				aten_fail("the window is empty");
			int64_t in[3] = {best / p->in[2] / p->in[1], best / p->in[2] % p->in[1], best % p->in[2]};
			elem_copy(plane_at(&to, at), plane_at(&from, in), elem_bytes(out->dtype));
			elem_copy(plane_at(&index, at), &best, 8);
		}
	}
	return (struct two){out, indices};
}

static void strided_window(const struct pool *p, int64_t plane, const int64_t *at, struct window *w, void *arg)
{
	(void)plane;
	(void)arg;
	for (int i = 0; i < 3; i++) {
		int64_t from = at[i] * p->stride[i] - p->pad[i], to = from + (p->kernel[i] - 1) * p->dilation[i] + 1;
		if (from < 0)
			from += (p->dilation[i] - 1 - from) / p->dilation[i] * p->dilation[i];
		w->from[i] = from;
		w->to[i] = to < p->in[i] ? to : p->in[i];
		w->step[i] = p->dilation[i];
	}
}

struct two aten_max_pool(struct aten_tensor *self, int spatial, const struct window_args *a, bool ceil_mode)
{
	struct pool p;
	pool_begin(&p, self, spatial);
	pool_windows(&p, a, ceil_mode);
	return pool_max(&p, strided_window, NULL);
}

static void pool_adaptive(struct pool *p, struct ints size)
{
	if (size.n != p->spatial)
		aten_fail("internal error: output_size.size() must be %d", p->spatial);
	for (int i = 0; i < p->spatial; i++) {
		if (size.v[i] < 0)
			aten_fail("elements of output_size must be greater than or equal to 0");
		p->out[3 - p->spatial + i] = size.v[i];
	}
	p->channels_last = p->channels_last && p->spatial == 2;
	for (int i = 3 - p->spatial; i < 3; i++)
		if (!p->in[i])
			aten_fail("Expected input to have non-zero size for non-batch dimensions");
	pool_sized(p);
}

static void adaptive_window(const struct pool *p, int64_t plane, const int64_t *at, struct window *w, void *arg)
{
	(void)plane;
	(void)arg;
	for (int i = 0; i < 3; i++) {
		w->from[i] = at[i] * p->in[i] / p->out[i];
		w->to[i] = ((at[i] + 1) * p->in[i] + p->out[i] - 1) / p->out[i];
		w->step[i] = 1;
	}
}

struct two aten_adaptive_max_pool(struct aten_tensor *self, int spatial, struct ints size)
{
	struct pool p;
	pool_begin(&p, self, spatial);
	pool_adaptive(&p, size);
	return pool_max(&p, adaptive_window, NULL);
}

/* ---- fractional: windows of one size at positions drawn by the caller ---- */

/* aten/src/ATen/native/FractionalMaxPooling.h, in the samples' dtype. */
static int64_t fractional_start(const struct pool *p, int i, double sample, bool single, int64_t at)
{
	int64_t room = p->in[i] - p->kernel[i];

	if (at == p->out[i] - 1)
		return room;
	if (single) {
		float alpha = (float)room / (float)(p->out[i] - 1), s = (float)sample;
		return size_minus(elem_to_i64((double)(((float)at + s) * alpha)), elem_to_i64((double)(s * alpha)));
	}
	double alpha = (double)room / (double)(p->out[i] - 1);
	return size_minus(elem_to_i64(((double)at + sample) * alpha), elem_to_i64(sample * alpha));
}

static void fractional_window(const struct pool *p, int64_t plane, const int64_t *at, struct window *w, void *arg)
{
	const struct aten_tensor *samples = arg;
	int64_t channels = samples->size[1];
	const char *row = aten_data(samples) + plane / channels * line_step(samples, 0) + plane % channels * line_step(samples, 1);

	for (int i = 0; i < 3; i++) {
		w->from[i] = 0;
		w->to[i] = 1;
		w->step[i] = 1;
		if (i < 3 - p->spatial)
			continue;
		int k = p->spatial == 2 ? 2 - i : i; /* W, H in two dims; T, H, W in three */
		double s = elem_f64(samples->dtype, row + k * line_step(samples, 2));
		w->from[i] = fractional_start(p, i, s, samples->dtype != DTYPE_F64, at[i]);
		w->to[i] = w->from[i] + p->kernel[i];
		if (w->from[i] < 0 || w->to[i] > p->in[i])
			aten_fail("random samples must be between 0 and 1");
	}
}

struct two aten_fractional_max_pool(struct aten_tensor *self, int spatial, struct ints kernel, struct ints size,
				    struct aten_tensor *samples)
{
	struct pool p;
	pool_begin(&p, self, spatial);
	p.channels_last = false;
	spread_list(p.kernel, spatial, kernel, "kernel_size");
	pool_adaptive(&p, size);
	for (int i = 0; i < 3; i++)
		if (i >= 3 - spatial && (p.kernel[i] < 1 || p.out[i] + p.kernel[i] - 1 > p.in[i] - (spatial == 3)))
			aten_fail("pool size %lld too large relative to input size %lld", (long long)p.kernel[i], (long long)p.in[i]);
	int64_t batch = self->n_dim == spatial + 2 ? self->size[0] : 1;
	if (samples->n_dim != 3 || samples->size[0] < batch || samples->size[1] != self->size[self->n_dim - spatial - 1] ||
	    samples->size[2] != spatial || samples->dtype != self->dtype)
		aten_fail("Expect _random_samples of input's dtype and shape [batch, channels, %d]", spatial);
	return pool_max(&p, fractional_window, samples);
}

/* ---- averages ---- */

struct average {
	bool include_pad;
	int64_t divisor; /* 0: the window's size */
};

/* The window within the input (a NULL: an adaptive one); what it is divided by. */
static int64_t average_window(const struct pool *p, const struct average *a, const int64_t *at, struct window *w)
{
	int64_t padded = 1, inside = 1;

	if (!a) {
		adaptive_window(p, 0, at, w, NULL);
		return (w->to[0] - w->from[0]) * (w->to[1] - w->from[1]) * (w->to[2] - w->from[2]);
	}
	for (int i = 0; i < 3; i++) {
		int64_t from = at[i] * p->stride[i] - p->pad[i], to = from + p->kernel[i];
		to = to < p->in[i] + p->pad[i] ? to : p->in[i] + p->pad[i];
		padded *= to - from;
		w->from[i] = from > 0 ? from : 0;
		w->to[i] = to < p->in[i] ? to : p->in[i];
		w->step[i] = 1;
		inside *= w->to[i] > w->from[i] ? w->to[i] - w->from[i] : 0;
	}
	return a->divisor ? a->divisor : a->include_pad ? padded : inside;
}

/* Integers wrap, and divide as integers do. */
static void average_of(const struct pool *p, const struct plane *in, const double *v, const struct window *w, int64_t divisor, char *to)
{
	int dtype = p->self->dtype;
	int64_t at[3];
	uint64_t whole = 0;
	double sum = 0;

	if (elem_integral(dtype)) {
		FOR_WINDOW(w, at)
		whole += (uint64_t)elem_i64(dtype, plane_at(in, at));
		elem_set_i64(dtype, to, divisor == -1 ? (int64_t)-whole : divisor ? (int64_t)whole / divisor : 0);
		return;
	}
	FOR_WINDOW(w, at)
	sum += v[flat(p, at)];
	elem_set_f64(dtype, to, divisor ? sum / (double)divisor : 0);
}

static struct aten_tensor *pool_average(const struct pool *p, const struct average *a)
{
	struct aten_tensor *out = pool_output(p, p->self->dtype);
	double *v = aten_scratch_values((uint64_t)(p->in[0] * p->in[1] * p->in[2]), sizeof(*v));
	struct window w;
	int64_t at[3];

	elem_need_real(p->self);
	for (int64_t k = 0; k < (aten_computes() ? p->planes : 0); k++) {
		struct plane from = plane_of(p, p->self, k), to = plane_of(p, out, k);
		load_plane(p, &from, v);
		FOR_OUTPUT(p, at)
		{
			int64_t divisor = average_window(p, a, at, &w);
			average_of(p, &from, v, &w, divisor, plane_at(&to, at));
		}
	}
	return out;
}

struct aten_tensor *aten_avg_pool(struct aten_tensor *self, int spatial, const struct window_args *args, bool ceil_mode, bool include_pad,
				  const int64_t *divisor)
{
	struct average a = {include_pad, divisor ? *divisor : 0};
	struct pool p;
	if (divisor && !*divisor)
		aten_fail("divisor must be not zero");
	pool_begin(&p, self, spatial);
	if (spatial == 3 && (self->dtype == DTYPE_F16 || self->dtype == DTYPE_BF16))
		aten_fail("\"avg_pool3d_out_frame\" not implemented for '%s'", dtype_name(self->dtype));
	p.channels_last = p.channels_last && spatial == 2;
	pool_windows(&p, args, ceil_mode);
	return pool_average(&p, &a);
}

struct aten_tensor *aten_adaptive_avg_pool(struct aten_tensor *self, int spatial, struct ints size)
{
	struct pool p;
	pool_begin(&p, self, spatial);
	pool_adaptive(&p, size);
	return pool_average(&p, NULL);
}

/* ---- unpooling: values go back to their positions before max pooling ---- */

struct aten_tensor *aten_max_unpool(struct aten_tensor *self, int spatial, struct aten_tensor *indices, struct ints size)
{
	struct pool p;
	int64_t at[3], total;
	pool_begin(&p, self, spatial);
	if (indices->dtype != DTYPE_I64 || !aten_same_sizes(indices, self))
		aten_fail("indices should be int64 with the input's shape");
	pool_adaptive(&p, size);
	struct aten_tensor *out = pool_output(&p, self->dtype);
	aten_fill_zero(out);
	if (!aten_computes())
		return out;
	total = p.out[0] * p.out[1] * p.out[2];
	struct window all = {.to = {p.in[0], p.in[1], p.in[2]}, .step = {1, 1, 1}};
	for (int64_t k = 0; k < p.planes; k++) {
		struct plane from = plane_of(&p, self, k), index = plane_of(&p, indices, k), to = plane_of(&p, out, k);
		FOR_WINDOW(&all, at)
		{
			int64_t i = elem_i64(DTYPE_I64, plane_at(&index, at));
			if (i < 0 || i >= total)
				aten_fail("Found an invalid max index: %lld", (long long)i);
			int64_t o[3] = {i / p.out[2] / p.out[1], i / p.out[2] % p.out[1], i % p.out[2]};
			elem_copy(plane_at(&to, o), plane_at(&from, at), elem_bytes(self->dtype));
		}
	}
	return out;
}

/* ---- gradients: each value goes back to its window ---- */

/* Distributes a window's gradient to its elements; a plane of the input's is summed in double and rounded once. */
typedef void spread_fn(const struct pool *p, const struct average *a, const int64_t *at, double g, int64_t index, double *plane);

static void spread_average(const struct pool *p, const struct average *a, const int64_t *at, double g, int64_t index, double *plane)
{
	struct window w;
	int64_t in[3], divisor = average_window(p, a, at, &w);
	(void)index;
	g = divisor ? g / (double)divisor : 0;
	g = elem_integral(p->self->dtype) ? trunc(g) : g;
	FOR_WINDOW(&w, in)
	plane[flat(p, in)] += g;
}

static void spread_max(const struct pool *p, const struct average *a, const int64_t *at, double g, int64_t index, double *plane)
{
	(void)a;
	(void)at;
	if (index < 0 || index >= p->in[0] * p->in[1] * p->in[2])
		aten_fail("index %lld is outside the input", (long long)index);
	plane[index] += g;
}

/* indices NULL: averages have none. The result has the input's layout (aten/src/ATen/native/AveragePool2d.cpp, DilatedMaxPool2d.cpp,
 * AdaptiveAveragePooling.cpp). */
static struct aten_tensor *pool_gradient(const struct pool *p, struct aten_tensor *grad, struct aten_tensor *indices, spread_fn *spread,
					 const struct average *a)
{
	const struct aten_tensor *self = p->self;
	const size_t sizes = (size_t)self->n_dim * sizeof(*self->size);
	int64_t at[3], n = p->in[0] * p->in[1] * p->in[2];
	if (grad->dtype != self->dtype || grad->n_dim != self->n_dim || memcmp(grad->size, p->size, sizes))
		aten_fail("the gradient does not have the result's shape and dtype");
	if (indices && (indices->dtype != DTYPE_I64 || indices->n_dim != self->n_dim || memcmp(indices->size, p->size, sizes)))
		aten_fail("indices should be int64 with the result's shape");
	struct aten_tensor *out = aten_new_format(self->dtype, self->n_dim, self->size, aten_channels_last(self));
	double *v = aten_scratch_values((uint64_t)n, sizeof(*v));
	elem_need_real(self);
	for (int64_t k = 0; k < (aten_computes() ? p->planes : 0); k++) {
		struct plane from = plane_of(p, grad, k), index = {0}, to = plane_of(p, out, k);
		struct window rows = {.to = {p->in[0], p->in[1], 1}, .step = {1, 1, 1}};
		if (indices)
			index = plane_of(p, indices, k);
		memset(v, 0, (size_t)n * sizeof(*v));
		FOR_OUTPUT(p, at)
		spread(p, a, at, elem_f64(grad->dtype, plane_at(&from, at)), indices ? elem_i64(DTYPE_I64, plane_at(&index, at)) : 0, v);
		FOR_WINDOW(&rows, at)
		aten_convert(out->dtype, plane_at(&to, at), to.step[2], DTYPE_F64, v + flat(p, at), sizeof(*v), p->in[2]);
	}
	return out;
}

/* ---- by name ---- */

/* entry.data of these: how many dims */
static int spatial_of(const struct aten_call *c) { return *(const char *)c->entry->data - '0'; }

/* self, kernel_size, stride, padding[, dilation], ...; one dim is two, the first of 1 */
static struct window_args windows_at(const struct aten_call *c, uint32_t i, bool dilated)
{
	struct window_args a = {call_ints(c, i), call_ints(c, i + 1), call_ints(c, i + 2), {0}};
	if (dilated)
		a.dilation = call_ints(c, i + 3);
	return a;
}
static struct aten_tensor *input_of(const struct aten_call *c, struct window_args *a, bool dilated, int *spatial)
{
	*a = windows_at(c, 1, dilated);
	*spatial = spatial_of(c);
	if (*spatial > 1)
		return call_tensor(c, 0);
	*spatial = 2;
	struct ints *lists[] = {&a->kernel, &a->stride, &a->dilation, &a->pad};
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		int64_t *two = aten_scratch(2, sizeof(*two));
		if (lists[i]->n != 1)
			continue;
		two[0] = lists[i] != &a->pad;
		two[1] = lists[i]->v[0];
		*lists[i] = (struct ints){two, 2};
	}
	return aten_unsqueeze(call_tensor(c, 0), -2);
}
static struct aten_tensor *as_it_came(const struct aten_call *c, struct aten_tensor *t)
{
	return spatial_of(c) == 1 ? aten_squeeze_dim(t, -2) : t;
}

static void run_max_pool(struct aten_call *c) /* self, kernel, stride, padding, dilation, ceil_mode */
{
	struct window_args a;
	int spatial;
	struct aten_tensor *self = input_of(c, &a, true, &spatial);
	struct two r = aten_max_pool(self, spatial, &a, call_bool(c, 5));
	call_give(c, 0, as_it_came(c, r.first));
	if (strstr(c->entry->name, "with_indices"))
		call_give(c, 1, as_it_came(c, r.second));
}
static void run_avg_pool(struct aten_call *c) /* self, kernel, stride, padding, ceil_mode, count_include_pad[, divisor] */
{
	struct window_args a;
	int spatial;
	struct aten_tensor *self = input_of(c, &a, false, &spatial);
	int64_t divisor = c->n > 6 ? call_int_or(c, 6, 0) : 0;
	bool divides = c->n > 6 && !call_is_none(c, 6);
	call_give(c, 0, as_it_came(c, aten_avg_pool(self, spatial, &a, call_bool(c, 4), call_bool(c, 5), divides ? &divisor : NULL)));
}
static void run_adaptive_avg(struct aten_call *c) /* self, output_size */
{
	call_give(c, 0, aten_adaptive_avg_pool(call_tensor(c, 0), spatial_of(c), call_ints(c, 1)));
}
static void run_adaptive_avg1(struct aten_call *c)
{
	struct ints size = call_ints(c, 1);
	if (size.n != 1)
		aten_fail("adaptive_avg_pool1d: output_size must be one number");
	size = (struct ints){(const int64_t[]){1, size.v[0]}, 2};
	call_give(c, 0, aten_squeeze_dim(aten_adaptive_avg_pool(aten_unsqueeze(call_tensor(c, 0), -2), 2, size), -2));
}
static void run_adaptive_max(struct aten_call *c)
{
	call_give_two(c, aten_adaptive_max_pool(call_tensor(c, 0), spatial_of(c), call_ints(c, 1)));
}

/* grad_output, self, kernel_size, stride, padding, ... of two dims */
static struct pool pool_of_gradient(const struct aten_call *c, bool dilated, bool ceil_mode)
{
	struct window_args a = windows_at(c, 2, dilated);
	struct pool p;
	pool_begin(&p, call_tensor(c, 1), 2);
	pool_windows(&p, &a, ceil_mode);
	return p;
}
static void run_avg_pool_backward(struct aten_call *c) /* ..., ceil_mode, count_include_pad, divisor_override */
{
	struct pool p = pool_of_gradient(c, false, call_bool(c, 5));
	struct average a = {call_bool(c, 6), call_int_or(c, 7, 0)};
	if (!call_is_none(c, 7) && !a.divisor)
		aten_fail("divisor must be not zero");
	call_give(c, 0, pool_gradient(&p, call_tensor(c, 0), NULL, spread_average, &a));
}
static void run_max_pool_backward(struct aten_call *c) /* ..., dilation, ceil_mode, indices */
{
	struct pool p = pool_of_gradient(c, true, call_bool(c, 6));
	call_give(c, 0, pool_gradient(&p, call_tensor(c, 0), call_tensor(c, 7), spread_max, NULL));
}
static void run_adaptive_avg_backward(struct aten_call *c) /* grad_output, self */
{
	struct aten_tensor *grad = call_tensor(c, 0);
	struct pool p;
	pool_begin(&p, call_tensor(c, 1), 2);
	if (grad->n_dim != p.self->n_dim)
		aten_fail("the gradient does not have the result's shape");
	pool_adaptive(&p, (struct ints){grad->size + grad->n_dim - 2, 2});
	call_give(c, 0, pool_gradient(&p, grad, NULL, spread_average, NULL));
}

const struct aten_entry aten_pool_entries[] = {
    {"_adaptive_avg_pool2d_backward", run_adaptive_avg_backward},
    {"avg_pool2d_backward", run_avg_pool_backward},
    {"max_pool2d_with_indices_backward", run_max_pool_backward},
    {"_adaptive_avg_pool2d", run_adaptive_avg, "2"},
    {"_adaptive_avg_pool3d", run_adaptive_avg, "3"},
    {"adaptive_avg_pool1d", run_adaptive_avg1},
    {"adaptive_avg_pool2d", run_adaptive_avg, "2"},
    {"adaptive_avg_pool3d", run_adaptive_avg, "3"},
    {"adaptive_max_pool2d", run_adaptive_max, "2"},
    {"adaptive_max_pool3d", run_adaptive_max, "3"},
    {"avg_pool1d", run_avg_pool, "1"},
    {"avg_pool2d", run_avg_pool, "2"},
    {"avg_pool3d", run_avg_pool, "3"},
    {"max_pool1d", run_max_pool, "1"},
    {"max_pool2d", run_max_pool, "2"},
    {"max_pool2d_with_indices", run_max_pool, "2"},
    {"max_pool3d", run_max_pool, "3"},
    {"max_pool3d_with_indices", run_max_pool, "3"},
    {0},
};
