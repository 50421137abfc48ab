#include "conv_part.h"
#include "cpu.h"
#include "elem.h"
#include "elem.h"
#include "parallel.h"

ATEN_LOOPS

enum { SUM_TERMS = 64 };
#define V 8
#define ROWS 6
#define TARGET "avx2,fma"
#define NAME(x) x##_avx2
#include "conv_direct_x86_64.h"
#define V 16
#define ROWS 12
#define TARGET "avx512f"
#define NAME(x) x##_avx512
#include "conv_direct_x86_64.h"

enum { MOST_POINTERS = 4096, MOST_TILE = 12 * 32 };

static const struct kernel {
	void (*tiles)(const float *const *x, const float *w, int64_t taps, int64_t in, const float *bias, float *to, int n);
	int rows, wide; /* pixels, channels */
} kernel_avx2 = {tiles_avx2, 6, 16}, kernel_avx512 = {tiles_avx512, 12, 32};

static const struct kernel *choose_kernel(void)
{
	return __builtin_cpu_supports("avx512f") ? &kernel_avx512 : cpu_has_avx2() ? &kernel_avx2 : NULL;
}

struct direct {
	const struct conv *c;
	const struct kernel *k;
	const float *x, *w, *bias, *zeros; /* w: [groups][blocks][taps][in][wide], bias: [groups][blocks][wide] */
	float *y;
	int64_t in, out, blocks, tiles, panel, panels, parts; /* tiles of an image, of a panel; panels of an image; parts of the blocks */
};

/* The locations of the channels for pixels p ... of an image, tap by tap. */
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

/* A panel of an image, and a part of the blocks of output channels: so that a block's weights are reused for many pixels. */
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

/* w [out, in of a group, ...] with any strides, in the kernel's layout; missing channels are 0. */
static void arrange_weight(const struct direct *d, const struct aten_tensor *w, float *to)
{
	const struct conv *c = d->c;
	const float *from = (const float *)aten_data(w);
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

/* The weights of a frozen model do not change: they are rearranged once. */
static const float *arranged_weight(const struct direct *d, struct aten_tensor *w)
{
	uint64_t n = (uint64_t)(d->c->groups * d->blocks * d->k->wide * d->c->taps * d->in);
	struct aten_storage *s = w->storage;
	bool keep = s->packed && s->bytes == (uint64_t)aten_numel(w) * sizeof(float);
	void *had = keep ? atomic_load(&s->arranged) : NULL;
	if (had)
		return had;
	float *made = keep ? malloc(n * sizeof(*made)) : NULL;
	if (!made)
		made = aten_scratch(n, sizeof(*made));
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

bool conv_direct(const struct conv *c, struct aten_tensor *x, struct aten_tensor *w, struct aten_tensor *bias, struct aten_tensor *y)
{
	struct direct d = {.c = c, .k = choose_kernel(), .in = c->ci / c->groups, .out = c->co / c->groups};
	bool kept = w->storage->packed;
	if (!d.k || !c->last || c->transposed || c->depthwise || d.out < 8 || c->taps * d.k->rows > MOST_POINTERS ||
	    (!kept && c->n * c->small_n < 128)) /* rearranging the weights would take as long */
		return false;
	d.blocks = ceil_div(d.out, d.k->wide);
	d.tiles = ceil_div(c->small_n, d.k->rows);
	d.panel = MOST_POINTERS / (c->taps * d.k->rows);
	d.panels = ceil_div(d.tiles, d.panel);
	int64_t tasks = c->n * c->groups * d.panels, want = 4 * aten_threads();
	d.parts = want == 4 || tasks >= want ? 1 : ceil_div(want, tasks) < d.blocks ? ceil_div(want, tasks) : d.blocks;
	float *zeros = aten_scratch((uint64_t)d.in, sizeof(float));
	float *full = aten_scratch((uint64_t)(c->groups * d.blocks * d.k->wide), sizeof(float));
	memset(zeros, 0, (size_t)d.in * sizeof(float));
	memset(full, 0, (size_t)(c->groups * d.blocks * d.k->wide) * sizeof(float));
	for (int64_t o = 0; bias && o < c->co; o++)
		full[o / d.out * d.blocks * d.k->wide + o % d.out] = ((const float *)aten_data(bias))[o];
	d.zeros = zeros;
	d.bias = full;
	d.x = (const float *)aten_data(x);
	d.y = (float *)aten_data(y);
	d.w = arranged_weight(&d, w);
	aten_parallel(direct_task, &d, tasks * d.parts);
	return true;
}
