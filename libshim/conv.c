/* Convolution of 1, 2 or 3 dims as matrix products of gathered patches, in parts that stay in the cache; depthwise ones as sums
 * of shifted planes. Everything is done in three dims, missing ones have size 1.
 *
 * What decides the strides of the output is aten/src/ATen/native/Convolution.cpp (torch 2.13), determine_backend_memory_format:
 * channels_last when the input or the weight is; one dim: when the weight is, for the input is made contiguous first; three dims:
 * only where oneDNN would be used (use_mkldnn). */
#include "conv.h"
#include "elem.h"
#include "mat.h"
#include "parallel.h"

#include <cpuid.h>
#include <unistd.h>

SHIM_LOOPS

/* Position p of the small grid and a tap meet position p * stride - pad + tap * dilation of the large one. The input is the
 * large grid; that of a transposed convolution is the small one. */
struct conv {
	int64_t n, ci, co, groups, taps;
	int64_t small[CONV_DIMS], large[CONV_DIMS], k[CONV_DIMS], stride[CONV_DIMS], pad[CONV_DIMS], dilation[CONV_DIMS];
	int64_t small_n, large_n, chunk; /* positions; those of one product */
	bool transposed, last, plain, depthwise;
};

/* Positions of one line of the small grid: `skip` that meet nothing, then `n` that meet at, at + step, ... of the large grid,
 * then none again. */
struct segment {
	int64_t skip, n, at, step;
};

static int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

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
#define GEMM shim_gemm_f32
#include "conv_loops.h"
#define T double
#define NAME(x) x##_f64
#define GEMM shim_gemm_f64
#include "conv_loops.h"

/* ---- channels_last, float32: sums stay in registers (conv_direct.h), nothing is gathered ---- */

#if defined(__x86_64__)
enum { SUM_TERMS = 64 };
#define V 8
#define ROWS 6
#define TARGET "avx2,fma"
#define NAME(x) x##_avx2
#include "conv_direct.h"
#define V 16
#define ROWS 12
#define TARGET "avx512f"
#define NAME(x) x##_avx512
#include "conv_direct.h"

enum { MOST_POINTERS = 4096, MOST_TILE = 12 * 32 };

static const struct kernel {
	void (*tiles)(const float *const *x, const float *w, int64_t taps, int64_t in, const float *bias, float *to, int n);
	int rows, wide; /* pixels, channels */
} kernel_avx2 = {tiles_avx2, 6, 16}, kernel_avx512 = {tiles_avx512, 12, 32};

static const struct kernel *choose_kernel(void)
{
	return __builtin_cpu_supports("avx512f")                                 ? &kernel_avx512
	       : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kernel_avx2
										 : NULL;
}

struct direct {
	const struct conv *c;
	const struct kernel *k;
	const float *x, *w, *bias, *zeros; /* w: [groups][blocks][taps][in][wide], bias: [groups][blocks][wide] */
	float *y;
	int64_t in, out, blocks, tiles, panel, panels, parts; /* tiles of an image, of a panel; panels of an image; parts of the blocks */
};

/* Where pixels p ... of an image find their channels, tap by tap. */
static void find_pixels(const struct direct *d, const float *x, int64_t p, const float **to)
{
	const struct conv *c = d->c;
	int rows = d->k->rows;
	for (int r = 0; r < rows; r++, p++) {
		int64_t px = p % c->small[2], py = p / c->small[2] % c->small[1], pz = p / c->small[2] / c->small[1];
		const float **at = to + r;
		for (int64_t tz = 0; tz < c->k[0]; tz++)
			for (int64_t ty = 0; ty < c->k[1]; ty++)
				for (int64_t tx = 0; tx < c->k[2]; tx++, at += rows) {
					int64_t z = pz * c->stride[0] - c->pad[0] + tz * c->dilation[0];
					int64_t y = py * c->stride[1] - c->pad[1] + ty * c->dilation[1];
					int64_t q = px * c->stride[2] - c->pad[2] + tx * c->dilation[2];
					bool in = p < c->small_n && z >= 0 && z < c->large[0] && y >= 0 && y < c->large[1] && q >= 0 &&
						  q < c->large[2];
					*at = in ? x + ((z * c->large[1] + y) * c->large[2] + q) * c->ci : d->zeros;
				}
	}
}

/* A panel of an image, and a part of the blocks of output channels: so that weights of a block serve many pixels. */
static void direct_task(void *arg, int64_t i)
{
	const struct direct *d = arg;
	const struct conv *c = d->c;
	int64_t part = i % d->parts, panel = i / d->parts % d->panels, rest = i / d->parts / d->panels;
	int64_t n = rest / c->groups, g = rest % c->groups;
	int64_t first = panel * d->panel, end = first + d->panel < d->tiles ? first + d->panel : d->tiles;
	int rows = d->k->rows, wide = d->k->wide;
	const float *pointers[MOST_POINTERS], *x = d->x + n * c->large_n * c->ci + g * d->in;
	float tile[MOST_TILE], *y = d->y + n * c->small_n * c->co + g * d->out;
	for (int64_t t = first; t < end; t++)
		find_pixels(d, x, t * rows, pointers + (t - first) * rows * c->taps);
	for (int64_t b = d->blocks * part / d->parts; b < d->blocks * (part + 1) / d->parts; b++) {
		const float *w = d->w + (g * d->blocks + b) * wide * c->taps * d->in, *bias = d->bias + (g * d->blocks + b) * wide;
		int64_t channels = d->out - b * wide < wide ? d->out - b * wide : wide;
		for (int64_t t = first; t < end; t++) {
			int64_t left = c->small_n - t * rows, pixels = left < rows ? left : rows;
			d->k->tiles(pointers + (t - first) * rows * c->taps, w, c->taps, d->in, bias, tile, (int)pixels);
			for (int64_t r = 0; r < pixels; r++)
				memcpy(y + (t * rows + r) * c->co + b * wide, tile + r * wide, (size_t)channels * sizeof(*y));
		}
	}
}

/* w [out, in of a group, ...] of any strides as the kernel wants it; missing channels are 0. */
static void arrange_weight(const struct direct *d, const struct shim_tensor *w, float *to)
{
	const struct conv *c = d->c;
	const float *from = (const float *)shim_data(w);
	int wide = d->k->wide;
	for (int64_t b = 0; b < c->groups * d->blocks; b++)
		for (int64_t tap = 0; tap < c->taps; tap++) {
			int64_t at = 0, left = tap;
			for (int k = w->n_dim - 1; k > 1; left /= w->size[k--])
				at += left % w->size[k] * w->stride[k];
			for (int64_t i = 0; i < d->in; i++)
				for (int64_t o = b % d->blocks * wide, n = 0; n < wide; n++, o++)
					*to++ = o < d->out ? from[(b / d->blocks * d->out + o) * w->stride[0] + i * w->stride[1] + at] : 0;
		}
}

/* Those of a frozen model stay as they are: they are arranged once. */
static const float *arranged_weight(const struct direct *d, struct shim_tensor *w)
{
	uint64_t n = (uint64_t)(d->c->groups * d->blocks * d->k->wide * d->c->taps * d->in);
	struct shim_storage *s = w->storage;
	bool keep = s->packed && s->bytes == (uint64_t)shim_numel(w) * sizeof(float);
	void *had = keep ? atomic_load(&s->arranged) : NULL;
	if (had)
		return had;
	float *made = keep ? malloc(n * sizeof(*made)) : NULL;
	if (!made)
		made = shim_scratch(n, sizeof(*made));
	else
		keep = keep && made;
	arrange_weight(d, w, made);
	if (!keep)
		return made;
	if (atomic_compare_exchange_strong(&s->arranged, &had, made))
		return made;
	free(made);
	return had;
}

/* Whether it was done so. */
static bool direct(const struct conv *c, struct shim_tensor *x, struct shim_tensor *w, struct shim_tensor *bias, struct shim_tensor *y)
{
	struct direct d = {.c = c, .k = choose_kernel(), .in = c->ci / c->groups, .out = c->co / c->groups};
	bool kept = w->storage->packed;
	if (!d.k || !c->last || c->transposed || c->depthwise || d.out < 8 || c->taps * d.k->rows > MOST_POINTERS ||
	    (!kept && c->n * c->small_n < 128)) /* to arrange the weights would take as long */
		return false;
	d.blocks = ceil_div(d.out, d.k->wide);
	d.tiles = ceil_div(c->small_n, d.k->rows);
	d.panel = MOST_POINTERS / (c->taps * d.k->rows);
	d.panels = ceil_div(d.tiles, d.panel);
	int64_t tasks = c->n * c->groups * d.panels, want = 4 * shim_threads();
	d.parts = want == 4 || tasks >= want ? 1 : ceil_div(want, tasks) < d.blocks ? ceil_div(want, tasks) : d.blocks;
	float *zeros = shim_scratch((uint64_t)d.in, sizeof(float));
	float *full = shim_scratch((uint64_t)(c->groups * d.blocks * d.k->wide), sizeof(float));
	memset(zeros, 0, (size_t)d.in * sizeof(float));
	memset(full, 0, (size_t)(c->groups * d.blocks * d.k->wide) * sizeof(float));
	for (int64_t o = 0; bias && o < c->co; o++)
		full[o / d.out * d.blocks * d.k->wide + o % d.out] = ((const float *)shim_data(bias))[o];
	d.zeros = zeros;
	d.bias = full;
	d.x = (const float *)shim_data(x);
	d.y = (float *)shim_data(y);
	d.w = arranged_weight(&d, w);
	shim_parallel(direct_task, &d, tasks * d.parts);
	return true;
}
#else
#define direct(c, x, w, bias, y) false
#endif

/* ---- what is asked for ---- */

static int64_t param(const int64_t *v, int64_t n, int dim, int dims, int64_t otherwise, const char *what)
{
	if (n != dims && n != 1 && n != 0)
		shim_fail("%lld numbers of %s for %d dimensions", (long long)n, what, dims);
	return n == dims ? v[dim] : n == 1 ? v[0] : otherwise;
}

static void fill(struct conv *c, const struct shim_tensor *x, const struct shim_tensor *w, const struct conv_params *p, int64_t *size)
{
	int dims = x->n_dim - 2, skip = CONV_DIMS - dims;
	int64_t bound = 0;

	if (dims < 1 || dims > CONV_DIMS || w->n_dim != x->n_dim)
		shim_fail("an input of %d dimensions and a weight of %d", x->n_dim, w->n_dim);
	*c = (struct conv){
	    .n = x->size[0], .ci = x->size[1], .groups = p->groups, .transposed = p->transposed, .taps = 1, .small_n = 1, .large_n = 1};
	if (c->groups < 1 || c->ci % c->groups || (p->transposed ? w->size[0] != c->ci : w->size[0] % c->groups))
		shim_fail("%lld channels, a weight of %lld, %lld groups", (long long)c->ci, (long long)w->size[0], (long long)c->groups);
	if (!p->transposed && w->size[1] * c->groups != c->ci)
		shim_fail("expected input to have %lld channels, but got %lld channels instead", (long long)(w->size[1] * c->groups),
			  (long long)c->ci);
	c->co = p->transposed ? w->size[1] * c->groups : w->size[0];
	size[0] = c->n;
	size[1] = c->co;
	for (int i = 0; i < CONV_DIMS; i++) {
		int d = i - skip;
		bool is = d >= 0;
		c->k[i] = is ? w->size[d + 2] : 1;
		c->stride[i] = is ? param(p->stride, p->n_stride, d, dims, 1, "stride") : 1;
		c->pad[i] = is ? param(p->padding, p->n_padding, d, dims, 0, "padding") : 0;
		c->dilation[i] = is ? param(p->dilation, p->n_dilation, d, dims, 1, "dilation") : 1;
		int64_t in = is ? x->size[d + 2] : 1,
			extra = is ? param(p->output_padding, p->n_output_padding, d, dims, 0, "output_padding") : 0;
		if (c->k[i] < 1 || c->stride[i] < 1 || c->pad[i] < 0 || c->dilation[i] < 1 || extra < 0 || c->k[i] > INT32_MAX ||
		    c->stride[i] > INT32_MAX || c->pad[i] > INT32_MAX || c->dilation[i] > INT32_MAX || extra > INT32_MAX)
			shim_fail("kernel %lld, stride %lld, padding %lld, dilation %lld", (long long)c->k[i], (long long)c->stride[i],
				  (long long)c->pad[i], (long long)c->dilation[i]);
		int64_t reach = c->dilation[i] * (c->k[i] - 1) + 1;
		int64_t out = p->transposed ? (in - 1) * c->stride[i] - 2 * c->pad[i] + reach + extra : in + 2 * c->pad[i] - reach;
		if (!p->transposed)
			out = out < 0 ? -1 : out / c->stride[i] + 1;
		if (out < (p->transposed ? 0 : 1))
			shim_fail("the kernel is larger than the padded input (%lld, %lld)", (long long)reach, (long long)in);
		if (is)
			size[d + 2] = out;
		c->small[i] = p->transposed ? in : out;
		c->large[i] = p->transposed ? out : in;
		if (__builtin_mul_overflow(c->taps, c->k[i], &c->taps) || __builtin_mul_overflow(c->small_n, c->small[i], &c->small_n) ||
		    __builtin_mul_overflow(c->large_n, c->large[i], &c->large_n))
			shim_fail("a convolution that no memory can hold");
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

/* clang 14 has no name for it. */
static bool has_avx512_fp16(void)
{
	unsigned a, b, c, d;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 23 & 1);
}

/* ConvParams::use_mkldnn: float32 where it is thought to be faster, 16 bits where the processor can. */
static bool onednn(const struct conv *c, const struct shim_tensor *x, const struct shim_tensor *w, const struct conv_params *p)
{
	int n = w->n_dim;
	int64_t k1 = w->size[n - 1], k2 = w->size[n - 2];
	bool spread = false;

	for (int i = 0; i < CONV_DIMS; i++) {
		int64_t extra = p->n_output_padding ? p->output_padding[i < p->n_output_padding ? i : 0] : 0;
		spread = spread || c->stride[i] != 1 || c->dilation[i] != 1;
		if (p->transposed && i < n - 2 && extra >= c->stride[i + CONV_DIMS - (n - 2)])
			return false; /* is_output_padding_big */
	}
	if (x->dtype == DTYPE_BF16)
		return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
	if (x->dtype == DTYPE_F16)
		return has_avx512_fp16();
	return x->dtype == DTYPE_F32 && (spread || c->n >= 16 || k1 != 1 || k2 != 1 || several_threads()) &&
	       (c->groups > 1 || (k1 > 3 && k2 > 3) || c->n > 1 || c->n * c->ci * x->size[2] * x->size[3] > 20480);
}

/* Three dims as view4d() makes four of them, with one of size 1 before the last. */
static bool channels_last_3(const int64_t *size, const int64_t *stride)
{
	struct shim_tensor t = {
	    .n_dim = 4, .size = {size[0], size[1], 1, size[2]}, .stride = {stride[0], stride[1], size[2] * stride[2], stride[2]}};
	return shim_channels_last(&t);
}

static bool choose_last(const struct conv *c, struct shim_tensor *x, struct shim_tensor *w, const struct conv_params *p)
{
	if (x->n_dim == 3) {
		int64_t stride[3] = {x->size[1] * x->size[2], x->size[2], 1};
		return channels_last_3(w->size, w->stride) || channels_last_3(x->size, stride);
	}
	if (x->n_dim == 5 && (x->dtype == DTYPE_F64 || !onednn(c, x, w, p)))
		return false;
	return shim_channels_last(x) || shim_channels_last(w);
}

/* ---- operands ---- */

/* Contiguous, with dim 1 last (and inner) or in place; itself where it is that already. */
static struct shim_tensor *arranged(struct shim_tensor *t, int dtype, bool last)
{
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS];
	int n = 0;

	for (int i = 0; i < t->n_dim; i++)
		if (i != 1 || !last) {
			size[n] = t->size[i];
			stride[n++] = t->stride[i];
		}
	if (last) {
		size[n] = t->size[1];
		stride[n++] = t->stride[1];
	}
	struct shim_tensor *v = shim_view(t, n, size, stride, t->offset);
	if (v->dtype == dtype)
		return shim_contiguous(v);
	struct shim_tensor *copy = shim_new(dtype, n, size, NULL);
	shim_copy(copy, v);
	return copy;
}

/* Depthwise, channels_last: [taps, channels]. */
static struct shim_tensor *taps_first(struct shim_tensor *w, int dtype, int64_t taps)
{
	struct shim_tensor *flat = arranged(w, dtype, false);
	int64_t size[2] = {taps, w->size[0]}, stride[2] = {1, taps};
	return shim_contiguous(shim_view(flat, 2, size, stride, 0));
}

static struct shim_tensor *output(int dtype, int n_dim, const int64_t *size, bool last)
{
	if (!last || n_dim > 3)
		return shim_new_format(dtype, n_dim, size, last);
	int64_t stride[3] = {size[1] * size[2], 1, size[1]};
	return shim_new(dtype, 3, size, stride);
}

enum { CHUNK_BYTES = 1 << 20 }; /* of gathered patches: about what a core's cache holds */

struct shim_tensor *shim_conv(struct shim_tensor *x, struct shim_tensor *w, struct shim_tensor *bias, const struct conv_params *p)
{
	struct conv c;
	int64_t size[SHIM_DIMS];

	if (x->dtype != w->dtype || (bias && bias->dtype != x->dtype && bias->dtype != DTYPE_F32))
		shim_fail("input type (%s) and weight or bias type (%s) should be the same", dtype_name(x->dtype), dtype_name(w->dtype));
	if (!elem_floating(x->dtype))
		shim_fail("a convolution of %s", dtype_name(x->dtype));
	fill(&c, x, w, p, size);
	if (bias && (bias->n_dim != 1 || bias->size[0] != c.co))
		shim_fail("a bias of %lld elements for %lld channels", (long long)shim_numel(bias), (long long)c.co);
	c.last = p->channels_last < 0 ? choose_last(&c, x, w, p) : p->channels_last;
	c.depthwise = !c.transposed && c.groups == c.ci && c.groups > 1 && (!c.last || c.co == c.ci);

	int dtype = x->dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
	struct shim_tensor *out = output(x->dtype, x->n_dim, size, c.last), *y = out;
	if (!shim_numel(out))
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
	if (dtype == DTYPE_F32 && w->dtype == dtype && direct(&c, x, w, bias, y)) {
		if (y != out)
			shim_copy(out, y);
		return out;
	}
	w = c.depthwise && c.last ? taps_first(w, dtype, c.taps) : arranged(w, dtype, c.last);
	if (dtype == DTYPE_F64)
		run_f64(&c, (double *)shim_data(x), (double *)shim_data(w), bias ? (double *)shim_data(bias) : NULL,
			(double *)shim_data(y));
	else
		run_f32(&c, (float *)shim_data(x), (float *)shim_data(w), bias ? (float *)shim_data(bias) : NULL, (float *)shim_data(y));
	if (y != out)
		shim_copy(out, y);
	return out;
}

AOTITorchError aoti_torch_cpu_convolution(AtenTensorHandle input, AtenTensorHandle weight, AtenTensorHandle *bias, const int64_t *stride,
					  int64_t n_stride, const int64_t *padding, int64_t n_padding, const int64_t *dilation,
					  int64_t n_dilation, int32_t transposed, const int64_t *output_padding, int64_t n_output_padding,
					  int64_t groups, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct conv_params p = {stride,     padding,          dilation, output_padding,  n_stride, n_padding,
					n_dilation, n_output_padding, groups,   transposed != 0, -1};
		SHIM_GIVE(ret0, shim_conv(input, weight, bias ? *bias : NULL, &p));
	}
	SHIM_END
}

/* Its name until torch 2.4. */
AOTITorchError aoti_torch_convolution(AtenTensorHandle input, AtenTensorHandle weight, AtenTensorHandle bias, const int64_t *stride,
				      int64_t n_stride, const int64_t *padding, int64_t n_padding, const int64_t *dilation,
				      int64_t n_dilation, int transposed, const int64_t *output_padding, int64_t n_output_padding,
				      int64_t groups, AtenTensorHandle *ret)
{
	return aoti_torch_cpu_convolution(input, weight, &bias, stride, n_stride, padding, n_padding, dilation, n_dilation, transposed,
					  output_padding, n_output_padding, groups, ret);
}
