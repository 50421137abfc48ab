/* Resampling of signals, images and volumes, one dim after another from the last, as in torch (torch 2.13 and 2.15,
 * aten/src/ATen/native/UpSample.h, cpu/UpSampleKernel.cpp; antialias=True: compute_indices_min_size_weights_aa).
 *
 * An output element is a sum of a few inputs: which ones and their weights are computed in the same dtype as in torch (float unless values
 * are double). Results are channels_last if the input is, judging by its strides.
 */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

struct dim_plan;
/* index[0..n) and weight[0..n) of output i; index has room for all of the input. Returns n. */
typedef int64_t taps_of(const struct dim_plan *d, int64_t i, int64_t *index, double *weight);

struct method {
	taps_of *taps;
	bool corners; /* it has align_corners */
	bool antialias, exact, integers;
	double (*filter)(double x); /* of antialias */
	double reach;
};

struct dim_plan {
	const struct method *m;
	int64_t in, out;
	bool align, single; /* single: float's arithmetic */
	double scale;       /* distance in the input between adjacent output elements */
};

#define ROUND(d, v) ((d)->single ? (double)(float)(v) : (double)(v))

static double triangle(double x)
{
	x = fabs(x);
	return x < 1 ? 1 - x : 0;
}

static double cubic_of(double x, double a)
{
	x = fabs(x);
	return x < 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}
static double cubic(double x) { return cubic_of(x, -0.5); }

/* area_pixel_compute_scale */
static double scale_of(const struct dim_plan *d, double given)
{
	if (d->align)
		return d->out > 1 ? ROUND(d, ROUND(d, d->in - 1) / ROUND(d, d->out - 1)) : 0;
	return given > 0 ? ROUND(d, 1 / given) : ROUND(d, ROUND(d, d->in) / ROUND(d, d->out));
}

/* area_pixel_compute_source_index */
static double source_of(const struct dim_plan *d, int64_t i)
{
	return d->align ? ROUND(d, d->scale * (double)i) : ROUND(d, ROUND(d, d->scale * ROUND(d, (double)i + 0.5)) - 0.5);
}

static int64_t taps_nearest(const struct dim_plan *d, int64_t i, int64_t *index, double *weight)
{
	double at = floor(ROUND(d, (d->m->exact ? ROUND(d, (double)i + 0.5) : (double)i) * d->scale));
	*index = at < (double)(d->in - 1) ? (int64_t)at : d->in - 1;
	*weight = 1;
	return 1;
}

static int64_t taps_linear(const struct dim_plan *d, int64_t i, int64_t *index, double *weight)
{
	double at = source_of(d, i);
	if (d->in == d->out) { /* compute_source_index_and_lambda */
		*index = i;
		*weight = 1;
		return 1;
	}
	at = at < 0 ? 0 : at;
	index[0] = at < (double)(d->in - 1) ? (int64_t)at : d->in - 1;
	index[1] = index[0] + (index[0] < d->in - 1);
	weight[1] = fmin(fmax(ROUND(d, at - (double)index[0]), 0), 1);
	weight[0] = ROUND(d, 1 - weight[1]);
	return 2;
}

static int64_t taps_cubic(const struct dim_plan *d, int64_t i, int64_t *index, double *weight)
{
	double at = source_of(d, i), first = floor(at), part = fmin(fmax(ROUND(d, at - first), 0), 1);
	for (int k = 0; k < 4; k++) {
		double place = first + k - 1;
		index[k] = place < 0 ? 0 : place < (double)(d->in - 1) ? (int64_t)place : d->in - 1;
		weight[k] = ROUND(d, cubic_of(part - (k - 1), -0.75));
	}
	return 4;
}

/* A filter as wide as the skipped range. */
static int64_t taps_filter(const struct dim_plan *d, int64_t i, int64_t *index, double *weight)
{
	double support = d->m->reach * fmax(d->scale, 1), inverse = d->scale >= 1 ? 1 / d->scale : 1, sum = 0;
	double center = d->scale * ((double)i + 0.5);
	int64_t first = (int64_t)fmin(fmax(center - support + 0.5, 0), (double)d->in),
		end = (int64_t)fmin(center + support + 0.5, (double)d->in);
	for (int64_t k = first; k < end; k++) {
		index[k - first] = k;
		sum += weight[k - first] = d->m->filter(((double)k - center + 0.5) * inverse);
	}
	for (int64_t k = first; k < end; k++)
		weight[k - first] = sum != 0 ? weight[k - first] / sum : 0;
	return end > first ? end - first : 0;
}

/* from [outer, in, inner] to [outer, out, inner] */
static double *along(const double *from, int64_t outer, int64_t inner, const struct dim_plan *d)
{
	int64_t n = d->in > 4 ? d->in : 4, *index = aten_scratch((uint64_t)n, sizeof(*index));
	uint64_t made = (uint64_t)size_times(size_times(outer, d->out), inner);
	double *to = aten_scratch(made, sizeof(*to)), *weight = aten_scratch((uint64_t)n, sizeof(*weight));
	memset(to, 0, made * sizeof(*to));
	for (int64_t i = 0; i < d->out; i++) {
		int64_t taps = d->m->taps(d, i, index, weight);
		for (int64_t k = 0; k < taps; k++)
			for (int64_t o = 0; o < outer; o++) {
				const double *x = from + (o * d->in + index[k]) * inner;
				double *y = to + (o * d->out + i) * inner;
				for (int64_t j = 0; j < inner; j++)
					y[j] = (k ? y[j] : 0) + weight[k] * x[j];
			}
	}
	return to;
}

static struct aten_tensor *resample(struct aten_tensor *x, const struct dim_plan *dims, int spatial)
{
	int64_t size[5] = {x->size[0], x->size[1]}, images = x->size[0] * x->size[1], inner = 1, outer = images;
	for (int i = 0; i < spatial; i++)
		size[2 + i] = dims[i].out;
	struct aten_tensor *out = aten_new_format(x->dtype, x->n_dim, size, aten_channels_last(x));
	if (!aten_computes() || !aten_numel(out))
		return out;
	double *all = (double *)(void *)aten_data(aten_to_copy(x, DTYPE_F64, ATEN_CONTIGUOUS));
	int64_t stride[5];
	for (int i = 0; i < spatial; i++)
		outer *= dims[i].in;
	for (int i = spatial - 1; i >= 0; i--) {
		outer /= dims[i].in;
		all = along(all, outer, inner, &dims[i]);
		inner *= dims[i].out;
	}
	aten_contiguous_strides(out->n_dim, size, stride);
	aten_copy(out, aten_of_blob(all, DTYPE_F64, out->n_dim, size, stride, 0));
	return out;
}

static void plan_dim(struct dim_plan *d, double scale)
{
	if (d->in < 1 || d->out < 1)
		aten_fail("input and output sizes should be greater than 0, but got input (%lld) output (%lld)", (long long)d->in,
			  (long long)d->out);
	d->scale = scale_of(d, scale);
}

/* input, output_size or None, [align_corners,] scale_factors or None; or output_size and a scale or None for each dim */
static void run_upsample(struct aten_call *c)
{
	const struct method *m = c->entry->data;
	struct aten_tensor *x = call_tensor(c, 0);
	bool lists = strstr(c->entry->name, ".vec") != NULL;
	int spatial = lists || x->n_dim < 3 ? x->n_dim - 2 : (int)c->n - 2 - m->corners;
	struct dim_plan dims[3];
	const struct aten_value *factors = lists ? &c->arg[2 + m->corners] : NULL;
	struct ints given = call_ints(c, 1);
	const int64_t *size = given.v;
	if (spatial < 1 || spatial > 3 || x->n_dim != spatial + 2 || !strchr(c->entry->name, '0' + spatial))
		aten_fail("an input with %d dimensions is not supported", x->n_dim);
	if (!elem_floating(x->dtype) && !(m->integers && x->dtype == DTYPE_U8))
		aten_fail("\"upsample\" not implemented for '%s'", dtype_name(x->dtype));
	if (lists && (factors->kind == ATEN_NONE) == !size)
		aten_fail("Must specify exactly one of output_size and scale_factors");
	if ((size && given.n != spatial) || (lists && !size && (factors->kind != ATEN_LIST || factors->n != (uint32_t)spatial)))
		aten_fail("expected sizes or factors for %d dimensions", spatial);
	for (int i = 0; i < spatial; i++) {
		struct aten_value f = lists && !size ? factors->item[i] : lists ? ATEN_NOTHING : c->arg[2 + m->corners + (uint32_t)i];
		double scale = f.kind == ATEN_FLOAT ? f.f : f.kind == ATEN_INT ? (double)f.i : 0;
		double wanted = size ? (double)size[i] : floor((double)x->size[2 + i] * scale);
		if (!(wanted >= 0 && wanted < 0x1p40))
			aten_fail("invalid output size %g", wanted);
		dims[i] = (struct dim_plan){.m = m, .in = x->size[2 + i], .out = (int64_t)wanted, .single = x->dtype != DTYPE_F64};
		dims[i].align = m->corners && call_bool(c, 2);
		dims[i].single = dims[i].single && !m->antialias;
		plan_dim(&dims[i], scale);
	}
	call_give(c, 0, resample(x, dims, spatial));
}

static const struct method nearest = {.taps = taps_nearest, .integers = true},
			   nearest_exact = {.taps = taps_nearest, .exact = true, .integers = true},
			   linear = {.taps = taps_linear, .corners = true}, bicubic = {.taps = taps_cubic, .corners = true},
			   linear_aa = {.taps = taps_filter, .corners = true, .antialias = true, .filter = triangle, .reach = 1},
			   cubic_aa = {.taps = taps_filter, .corners = true, .antialias = true, .filter = cubic, .reach = 2};

#define BOTH(name, method) \
	{name, run_upsample, &(method)}, { name ".vec", run_upsample, &(method) }
const struct aten_entry aten_resample_entries[] = {
    BOTH("_upsample_bicubic2d_aa", cubic_aa),
    BOTH("_upsample_bilinear2d_aa", linear_aa),
    BOTH("_upsample_nearest_exact1d", nearest_exact),
    BOTH("_upsample_nearest_exact2d", nearest_exact),
    BOTH("_upsample_nearest_exact3d", nearest_exact),
    BOTH("upsample_bicubic2d", bicubic),
    BOTH("upsample_bilinear2d", linear),
    BOTH("upsample_linear1d", linear),
    BOTH("upsample_nearest1d", nearest),
    BOTH("upsample_nearest2d", nearest),
    BOTH("upsample_nearest3d", nearest),
    BOTH("upsample_trilinear3d", linear),
    {0},
};
