/* Convolution of 1, 2 or 3 dims as matrix products of gathered patches, in parts that stay in the cache; depthwise ones as sums
 * of shifted planes. Everything is done in three dims, missing ones have size 1.
 *
 * The strides of the output are decided by aten/src/ATen/native/Convolution.cpp (torch 2.13), determine_backend_memory_format:
 * channels_last if the input or the weight is; one dim: if the weight is, since the input is made contiguous first; three dims: only if
 * oneDNN would be used (use_mkldnn). */
#include "conv_part.h"
#include "cpu.h"
#include "blas.h"
#include "call.h"
#include "elem.h"
#include "ops.h"
#include "mat.h"
#include "parallel.h"

#include <unistd.h>

ATEN_LOOPS

/* Positions of one line of the small grid: `skip` outside the large grid, then `n` at positions at, at + step, ... of it, then outside
 * again. */
struct segment {
	int64_t skip, n, at, step;
};

/* How many of the positions p..p1 are on p's line. */
static int64_t segment(const struct conv *c, int64_t tap, int64_t p, int64_t p1, struct segment *s)
{
	int64_t w = c->small[2], x = p % w, y = p / w % c->small[1], z = p / w / c->small[1];
	int64_t n = p1 - p < w - x ? p1 - p : w - x;
	int64_t tx = tap % c->k[2], ty = tap / c->k[2] % c->k[1], tz = tap / c->k[2] / c->k[1];
	int64_t lz = z * c->stride[0] - c->pad[0] + tz * c->dilation[0], ly = y * c->stride[1] - c->pad[1] + ty * c->dilation[1];
	int64_t shift = tx * c->dilation[2] - c->pad[2];

	*s = (struct segment){.skip = n, .step = c->stride[2]};
	if (lz < 0 || lz >= c->large[0] || ly < 0 || ly >= c->large[1])
		return n;
	int64_t first = ceil_div(-shift, s->step), end = ceil_div(c->large[2] - shift, s->step); /* x with 0 <= lx < large */
	if (first < x)
		first = x;
	if (end > x + n)
		end = x + n;
	if (first >= end)
		return n;
	s->skip = first - x;
	s->n = end - first;
	s->at = (lz * c->large[1] + ly) * c->large[2] + first * s->step + shift;
	return n;
}

#define T float
#define NAME(x) x##_f32
#define GEMM aten_gemm_f32
#include "conv_loops.h"
#define T double
#define NAME(x) x##_f64
#define GEMM aten_gemm_f64
#include "conv_loops.h"

/* ---- parameters ---- */

static int64_t param(struct ints list, int dim, int dims, int64_t otherwise, const char *what)
{
	if (list.n != dims && list.n != 1 && list.n != 0)
		aten_fail("got %lld values of %s for %d dimensions", (long long)list.n, what, dims);
	return list.n == dims ? list.v[dim] : list.n == 1 ? list.v[0] : otherwise;
}

static void fill_conv(struct conv *c, const struct aten_tensor *x, const struct aten_tensor *w, const struct conv_params *p, int64_t *size)
{
	int dims = x->n_dim - 2, skip = CONV_DIMS - dims;
	int64_t bound = 0;

	if (dims < 1 || dims > CONV_DIMS || w->n_dim != x->n_dim)
		aten_fail("expected input and weight with the same number of dimensions, got %dD and %dD", x->n_dim, w->n_dim);
	*c = (struct conv){
	    .n = x->size[0], .ci = x->size[1], .groups = p->groups, .transposed = p->transposed, .taps = 1, .small_n = 1, .large_n = 1};
	if (c->groups < 1 || c->ci % c->groups || (p->transposed ? w->size[0] != c->ci : w->size[0] % c->groups))
		aten_fail("%lld channels do not match a weight of %lld with %lld groups", (long long)c->ci, (long long)w->size[0],
			  (long long)c->groups);
	if (!p->transposed && size_times(w->size[1], c->groups) != c->ci)
		aten_fail("expected input to have %lld channels, but got %lld channels instead", (long long)(w->size[1] * c->groups),
			  (long long)c->ci);
	c->co = p->transposed ? size_times(w->size[1], c->groups) : w->size[0];
	size[0] = c->n;
	size[1] = c->co;
	for (int i = 0; i < CONV_DIMS; i++) {
		int d = i - skip;
		bool is = d >= 0;
		c->k[i] = is ? w->size[d + 2] : 1;
		c->stride[i] = is ? param(p->stride, d, dims, 1, "stride") : 1;
		c->pad[i] = is ? param(p->padding, d, dims, 0, "padding") : 0;
		c->dilation[i] = is ? param(p->dilation, d, dims, 1, "dilation") : 1;
		int64_t in = is ? x->size[d + 2] : 1, extra = is ? param(p->output_padding, d, dims, 0, "output_padding") : 0;
		if (c->k[i] < 1 || c->stride[i] < 1 || c->pad[i] < 0 || c->dilation[i] < 1 || extra < 0 || c->k[i] > INT32_MAX ||
		    c->stride[i] > INT32_MAX || c->pad[i] > INT32_MAX || c->dilation[i] > INT32_MAX || extra > INT32_MAX)
			aten_fail("invalid kernel %lld, stride %lld, padding %lld, dilation %lld", (long long)c->k[i],
				  (long long)c->stride[i], (long long)c->pad[i], (long long)c->dilation[i]);
		int64_t reach = c->dilation[i] * (c->k[i] - 1) + 1;
		int64_t out =
		    p->transposed ? size_plus(size_times(in - 1, c->stride[i]), reach + extra - 2 * c->pad[i]) : in + 2 * c->pad[i] - reach;
		if (!p->transposed)
			out = out < 0 ? -1 : out / c->stride[i] + 1;
		if (out < (p->transposed ? 0 : 1))
			aten_fail("the kernel is larger than the padded input (%lld, %lld)", (long long)reach, (long long)in);
		if (is)
			size[d + 2] = out;
		c->small[i] = p->transposed ? in : out;
		c->large[i] = p->transposed ? out : in;
		c->taps = size_times(c->taps, c->k[i]);
		c->small_n = size_times(c->small_n, c->small[i]);
		c->large_n = size_times(c->large_n, c->large[i]);
		bound = c->k[i] != 1 || c->stride[i] != 1 || c->pad[i] != 0 ? 1 : bound;
	}
	c->plain = !bound && !p->transposed;
}

/* ---- the output's strides ---- */

static bool several_threads(void)
{
	const char *n = getenv("OMP_NUM_THREADS");
	return n && *n ? atoll(n) != 1 : sysconf(_SC_NPROCESSORS_ONLN) > 1;
}

/* ConvParams::use_mkldnn: float32 where it should be faster, 16 bits if the processor supports it. */
static bool onednn(const struct conv *c, const struct aten_tensor *x, const struct aten_tensor *w, const struct conv_params *p)
{
	int n = w->n_dim;
	int64_t k1 = w->size[n - 1], k2 = w->size[n - 2];
	bool spread = false;

	for (int i = 0; i < CONV_DIMS; i++) {
		int64_t extra = p->output_padding.n ? p->output_padding.v[i < p->output_padding.n ? i : 0] : 0;
		spread = spread || c->stride[i] != 1 || c->dilation[i] != 1;
		if (p->transposed && i < n - 2 && extra >= c->stride[i + CONV_DIMS - (n - 2)])
			return false; /* is_output_padding_big */
	}
	if (x->dtype == DTYPE_BF16)
		return cpu_has_avx512_core();
	if (x->dtype == DTYPE_F16)
		return cpu_has_avx512_fp16();
	return x->dtype == DTYPE_F32 && (spread || c->n >= 16 || k1 != 1 || k2 != 1 || several_threads()) &&
	       (c->groups > 1 || (k1 > 3 && k2 > 3) || c->n > 1 || c->n * c->ci * x->size[2] * x->size[3] > 20480);
}

/* Three dims become four as by view4d(), with one of size 1 before the last. */
static bool channels_last_3(const int64_t *size, const int64_t *stride)
{
	struct aten_tensor t = {
	    .n_dim = 4, .size = {size[0], size[1], 1, size[2]}, .stride = {stride[0], stride[1], size[2] * stride[2], stride[2]}};
	return aten_channels_last(&t);
}

static bool choose_last(const struct conv *c, struct aten_tensor *x, struct aten_tensor *w, const struct conv_params *p)
{
	if (x->n_dim == 3) {
		int64_t stride[3] = {x->size[1] * x->size[2], x->size[2], 1};
		return channels_last_3(w->size, w->stride) || channels_last_3(x->size, stride);
	}
	if (x->n_dim == 5 && (x->dtype == DTYPE_F64 || !onednn(c, x, w, p)))
		return false;
	return aten_channels_last(x) || aten_channels_last(w);
}

/* ---- operands ---- */

/* Contiguous, with dim 1 last (and inner) or in place; returned unchanged if it already is. */
static struct aten_tensor *arranged(struct aten_tensor *t, int dtype, bool last)
{
	struct aten_tensor *v = last ? aten_movedim(t, 1, -1) : t;
	return v->dtype == dtype ? aten_contiguous(v) : aten_to_copy(v, dtype, ATEN_CONTIGUOUS);
}

/* Depthwise, channels_last: [taps, channels]. */
static struct aten_tensor *taps_first(struct aten_tensor *w, int dtype, int64_t taps)
{
	struct aten_tensor *flat = arranged(w, dtype, false);
	int64_t size[2] = {taps, w->size[0]}, stride[2] = {1, taps};
	return aten_contiguous(aten_view(flat, 2, size, stride, 0));
}

static struct aten_tensor *output(int dtype, int n_dim, const int64_t *size, bool last)
{
	if (!last || n_dim > 3)
		return aten_new_format(dtype, n_dim, size, last);
	int64_t stride[3] = {size[1] * size[2], 1, size[1]};
	return aten_new(dtype, 3, size, stride);
}

enum { CHUNK_BYTES = 1 << 20 }; /* for gathered patches: about the size of a core's cache */

struct aten_tensor *aten_convolution(struct aten_tensor *x, struct aten_tensor *w, struct aten_tensor *bias, const struct conv_params *p)
{
	struct conv c;
	int64_t size[ATEN_DIMS];

	if (x->dtype != w->dtype || (bias && bias->dtype != x->dtype && bias->dtype != DTYPE_F32))
		aten_fail("input type (%s) and weight or bias type (%s) should be the same", dtype_name(x->dtype), dtype_name(w->dtype));
	if (!elem_floating(x->dtype))
		aten_fail("convolution is not supported for %s", dtype_name(x->dtype));
	fill_conv(&c, x, w, p, size);
	if (bias && (bias->n_dim != 1 || bias->size[0] != c.co))
		aten_fail("a bias of %lld elements does not match %lld channels", (long long)aten_numel(bias), (long long)c.co);
	c.last = p->channels_last < 0 ? choose_last(&c, x, w, p) : p->channels_last;
	c.depthwise = !c.transposed && c.groups == c.ci && c.groups > 1 && (!c.last || c.co == c.ci);

	int dtype = x->dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
	struct aten_tensor *out = output(x->dtype, x->n_dim, size, c.last), *y = out;
	if (!aten_numel(out) || !aten_computes())
		return out;
	if (out->dtype != dtype)
		y = output(dtype, x->n_dim, size, c.last);
	int64_t row = c.taps * (c.transposed ? c.co : c.ci) / c.groups * elem_bytes(dtype);
	c.chunk = row && CHUNK_BYTES / row < c.small_n ? CHUNK_BYTES / row : c.small_n;
	if (c.chunk < 64)
		c.chunk = c.small_n < 64 ? c.small_n : 64;
	if (c.plain)
		c.chunk = c.small_n;
	x = arranged(x, dtype, c.last);
	if (bias)
		bias = arranged(bias, dtype, false);
	if (dtype == DTYPE_F32 && w->dtype == dtype && conv_direct(&c, x, w, bias, y)) {
		if (y != out)
			aten_copy(out, y);
		return out;
	}
	w = c.depthwise && c.last ? taps_first(w, dtype, c.taps) : arranged(w, dtype, c.last);
	if (dtype == DTYPE_F64)
		run_f64(&c, (double *)aten_data(x), (double *)aten_data(w), bias ? (double *)aten_data(bias) : NULL,
			(double *)aten_data(y));
	else
		run_f32(&c, (float *)aten_data(x), (float *)aten_data(w), bias ? (float *)aten_data(bias) : NULL, (float *)aten_data(y));
	if (y != out)
		aten_copy(out, y);
	return out;
}
