/* Resampling of images with a filter as wide as what is left out (antialias=True), one dim after the other, as torch does it (torch
 * 2.13 and 2.15, aten/src/ATen/native/cpu/UpSampleKernel.cpp, compute_indices_min_size_weights_aa). */
#include "elem.h"
#include "proxy.h"

#include <math.h>

static double triangle(double x)
{
	x = fabs(x);
	return x < 1 ? 1 - x : 0;
}

static double cubic(double x)
{
	const double a = -0.5;
	x = fabs(x);
	return x < 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

struct filter {
	double (*weight)(double x);
	double reach;
};

/* How far apart in the input neighbours of the output lie. */
static double scale_of(int64_t in, int64_t out, bool align_corners, double given)
{
	if (align_corners)
		return out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
	return given > 0 ? 1 / given : (double)in / (double)out;
}

/* from [outer, in, inner] to [outer, out, inner] */
static double *along(const double *from, int64_t outer, int64_t in, int64_t inner, int64_t out, double scale, const struct filter *f)
{
	double *to = shim_scratch((uint64_t)(outer * out * inner), sizeof(*to)), *w = shim_scratch((uint64_t)in, sizeof(*w));
	double support = f->reach * fmax(scale, 1), inverse = scale >= 1 ? 1 / scale : 1;
	memset(to, 0, (size_t)(outer * out * inner) * sizeof(*to));
	for (int64_t i = 0; i < out; i++) {
		double center = scale * ((double)i + 0.5), sum = 0;
		int64_t first = (int64_t)(center - support + 0.5), end = (int64_t)fmin(center + support + 0.5, (double)in);
		first = first < 0 ? 0 : first;
		for (int64_t k = first; k < end; k++)
			sum += w[k] = f->weight(((double)k - center + 0.5) * inverse);
		for (int64_t k = first; k < end && sum != 0; k++)
			for (int64_t o = 0; o < outer; o++)
				for (int64_t x = 0; x < inner; x++)
					to[(o * out + i) * inner + x] += w[k] / sum * from[(o * in + k) * inner + x];
	}
	return to;
}

static void upsample(struct proxy_call *c, const struct filter *f)
{
	struct shim_tensor *x = proxy_tensor(c, "self");
	bool corners = proxy_bool(c, "align_corners", false);
	int64_t n;
	const int64_t *want = proxy_ints(c, "output_size", &n);
	if (x->n_dim != 4 || n != 2 || want[0] < 1 || want[1] < 1 || x->size[2] < 1 || x->size[3] < 1 || !elem_floating(x->dtype))
		shim_fail("images of %d dimensions of %s, %lld sizes", x->n_dim, dtype_name(x->dtype), (long long)n);
	int64_t images = x->size[0] * x->size[1], size[4] = {x->size[0], x->size[1], want[0], want[1]};
	struct shim_tensor *out = shim_new_format(x->dtype, 4, size, shim_channels_last(x)), *from = shim_new(DTYPE_F64, 4, x->size, NULL);
	struct shim_tensor *to = shim_new(DTYPE_F64, 4, size, NULL);
	shim_copy(from, x);
	double *lines = along((double *)shim_data(from), images * x->size[2], x->size[3], 1, want[1],
			      scale_of(x->size[3], want[1], corners, proxy_float(c, "scales_w", 0)), f);
	double *all =
	    along(lines, images, x->size[2], want[1], want[0], scale_of(x->size[2], want[0], corners, proxy_float(c, "scales_h", 0)), f);
	if (shim_numel(to))
		memcpy(shim_data(to), all, (size_t)shim_numel(to) * sizeof(*all));
	shim_copy(out, to);
	proxy_give(c, 0, out);
}

void proxy_upsample_bilinear_aa(struct proxy_call *c) { upsample(c, &(struct filter){triangle, 1}); }
void proxy_upsample_bicubic_aa(struct proxy_call *c) { upsample(c, &(struct filter){cubic, 2}); }
