/* Positions in an image or volume given by numbers from -1 to 1: grid_sampler, affine_grid_generator.
 *
 * torch 2.13 and 2.15, aten/src/ATen/native/GridSampler.{h,cpp}, AffineGridGenerator.cpp. input is [N, C, (D,) H, W], grid
 * [N, (Do,) Ho, Wo, 2 or 3] of x, y, z. Positions are computed in grid's dtype, so that those between two elements round as in torch.
 * The result is contiguous.
 */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

enum { GRID_BILINEAR, GRID_NEAREST, GRID_BICUBIC };
enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION };
enum { MOST_TAPS = 64 };

struct sampler {
	int mode, padding, spatial;
	int dtype; /* of the grid: places are computed in it */
	bool align;
	int64_t size[3]; /* (D,) H, W */
};

#define ROUND(s, v) elem_rounded((s)->dtype, v)

static double reflect(const struct sampler *s, double x, double twice_low, double twice_high)
{
	if (twice_low == twice_high)
		return 0;
	double low = twice_low / 2, span = (twice_high - twice_low) / 2;
	x = fabs(ROUND(s, x - low));
	double extra = fmod(x, span), flips = floor(ROUND(s, x / span));
	return ROUND(s, fmod(flips, 2) == 0 ? extra + low : ROUND(s, span - extra) + low);
}

/* NaN ends up at the upper border, as with std::min and std::max. */
static double clip(double x, int64_t size)
{
	double top = (double)(size - 1);

	x = x < 0 ? 0 : x;
	return x < top ? x : top;
}

/* Moves a position into the image, according to the padding. */
static double padded(const struct sampler *s, double x, int64_t size)
{
	double n = (double)size;
	if (s->padding == PAD_REFLECTION)
		x = s->align ? reflect(s, x, 0, 2 * (n - 1)) : reflect(s, x, -1, 2 * n - 1);
	return s->padding == PAD_ZEROS ? x : clip(x, size);
}

static double source_place(const struct sampler *s, double x, int64_t size)
{
	double n = (double)size;

	if (s->align)
		x = ROUND(s, ROUND(s, ROUND(s, x + 1) / 2) * (n - 1));
	else
		x = ROUND(s, ROUND(s, ROUND(s, ROUND(s, x + 1) * n) - 1) / 2);
	return s->mode == GRID_BICUBIC ? x : padded(s, x, size); /* bicubic: each of the elements around it */
}

/* The elements around a position and their weights; those outside are skipped. */
struct taps {
	int n;
	int64_t offset[MOST_TAPS]; /* bytes */
	double weight[MOST_TAPS];
};

static double cubic(double x)
{
	const double a = -0.75;
	x = fabs(x);
	return x < 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((x - 5) * x + 8) * x * a - 4 * a;
}

/* How many there are along a dim, and the k-th: its position, and its weight. */
static int taps_along(const struct sampler *s) { return s->mode == GRID_NEAREST ? 1 : s->mode == GRID_BILINEAR ? 2 : 4; }
static double tap(const struct sampler *s, double at, int64_t size, int k, double *weight)
{
	double base = floor(at);
	switch (s->mode) {
	case GRID_NEAREST: return nearbyint(at);
	case GRID_BILINEAR: *weight *= k ? at - base : base + 1 - at; return base + k;
	default: *weight *= cubic(at - base - (k - 1)); return padded(s, base + k - 1, size);
	}
}

static void find_taps(const struct sampler *s, const struct aten_tensor *input, const double *at, struct taps *t)
{
	int each = taps_along(s), all = 1;
	for (int i = 0; i < s->spatial; i++)
		all *= each;
	t->n = 0;
	for (int k = 0; k < all; k++) {
		int64_t offset = 0;
		double weight = 1;
		bool inside = true;
		for (int i = 0, left = k; i < s->spatial; i++, left /= each) {
			double pos = tap(s, at[i], s->size[i], left % each, &weight);
			inside = inside && pos >= 0 && pos < (double)s->size[i];
			if (inside)
				offset += (int64_t)pos * line_step(input, 2 + i);
		}
		if (inside) {
			t->offset[t->n] = offset;
			t->weight[t->n++] = weight;
		}
	}
}

static void check_grid(const struct aten_tensor *input, const struct aten_tensor *grid, int spatial, int64_t mode, int64_t padding)
{
	int n = spatial + 2;
	if (n < 3 || input->n_dim != n || grid->n_dim != n || input->size[0] != grid->size[0] || grid->size[n - 1] != spatial)
		aten_fail("grid_sampler(): expected %dD input and a grid with the same batch size and last dimension %d", n, spatial);
	if (!elem_floating(input->dtype) || input->dtype != grid->dtype)
		aten_fail("grid_sampler(): expected input and grid with the same floating dtype");
	if (mode < GRID_BILINEAR || mode > GRID_BICUBIC)
		aten_fail("grid_sampler(): invalid interpolation mode %lld", (long long)mode);
	if (padding < PAD_ZEROS || padding > PAD_REFLECTION)
		aten_fail("grid_sampler(): invalid padding mode %lld", (long long)padding);
	for (int i = 2; i < n; i++)
		if (!input->size[i])
			aten_fail("grid_sampler(): expected input to have non-empty spatial dimensions");
}

static void sample(struct aten_tensor *out, struct aten_tensor *input, struct aten_tensor *grid, const struct sampler *s)
{
	struct aten_tensor places = *grid, first = *out, batch = *input;
	struct taps t;
	int n = s->spatial;

	/* Walks over positions: grid without its last dim, out and input without their channels. */
	places.n_dim = first.n_dim = batch.n_dim = n + 1;
	for (int i = 1; i <= n; i++) {
		first.size[i] = out->size[i + 1];
		first.stride[i] = out->stride[i + 1];
		batch.size[i] = 1;
	}
	struct walk w = WALK(&places, &first, &batch);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		double at[3];
		for (int i = 0; i < n; i++)
			at[i] = source_place(s, elem_f64(grid->dtype, w.p[0] + (n - 1 - i) * line_step(grid, n + 1)), s->size[i]);
		find_taps(s, input, at, &t);
		for (int64_t ch = 0; ch < out->size[1]; ch++) {
			const char *plane = w.p[2] + ch * line_step(input, 1);
			double v = 0;
			for (int k = 0; k < t.n; k++)
				v += elem_f64(input->dtype, plane + t.offset[k]) * t.weight[k];
			elem_set_f64(out->dtype, w.p[1] + ch * line_step(out, 1), v);
		}
	}
}

struct aten_tensor *aten_grid_sampler(struct aten_tensor *input, struct aten_tensor *grid, int spatial, int64_t mode, int64_t padding,
				      bool align)
{
	int64_t size[5];
	check_grid(input, grid, spatial, mode, padding);
	struct sampler s = {(int)mode, (int)padding, spatial, grid->dtype, align, {0}};
	memcpy(s.size, input->size + 2, (size_t)spatial * sizeof(*size));
	memcpy(size, input->size, 2 * sizeof(*size));
	memcpy(size + 2, grid->size + 1, (size_t)spatial * sizeof(*size));
	struct aten_tensor *out = aten_new(input->dtype, spatial + 2, size, NULL);
	sample(out, input, grid, &s);
	return out;
}

static void run_grid_sampler(struct aten_call *c) /* input, grid, interpolation_mode, padding_mode, align_corners */
{
	const char *dims = c->entry->data;
	call_give(c, 0,
		  aten_grid_sampler(call_tensor(c, 0), call_tensor(c, 1), dims ? *dims - '0' : call_tensor(c, 0)->n_dim - 2, call_int(c, 2),
				    call_int(c, 3), call_bool(c, 4)));
}

/* ---- grids ---- */

/* From -1 to 1: positions of the first and last element, or of their outer edges. */
static struct aten_tensor *line_of_grid(int64_t n, bool align, int dtype)
{
	if (n <= 1)
		return aten_full(&n, 1, 0, dtype);
	struct aten_tensor *line = APPLIED("linspace", aten_int(-1), aten_int(1), aten_int(n), aten_dtype(dtype));
	return align ? line : APPLIED("div.Tensor", aten_of(aten_mul(line, aten_number((double)(n - 1)))), aten_of(aten_number((double)n)));
}

static void run_affine_grid(struct aten_call *c) /* theta, size, align_corners */
{
	struct aten_tensor *theta = call_tensor(c, 0);
	struct ints sizes = call_ints(c, 1);
	int64_t n = sizes.n, all = 1, shape[ATEN_DIMS];
	const int64_t *size = sizes.v;
	int spatial = (int)n - 2;
	if (n != 4 && n != 5)
		aten_fail("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.");
	if (theta->n_dim != 3 || theta->size[0] != size[0] || theta->size[1] != spatial || theta->size[2] != spatial + 1 ||
	    !elem_floating(theta->dtype))
		aten_fail("Expected a batch of affine matrices of shape Nx%dx%d", spatial, spatial + 1);
	memcpy(shape, size + 1, sizeof(*shape) * (size_t)(n - 1));
	shape[0] = size[0];
	shape[n - 1] = spatial + 1;
	struct aten_tensor *base = aten_fill(aten_empty(shape, n, theta->dtype), aten_number(1));
	for (int i = 0; i < spatial; i++) { /* x, of the last dim, comes first */
		int64_t view[3] = {1, 1, 1};
		int dim = spatial - 1 - i;
		view[dim] = size[2 + dim];
		aten_copy(aten_select(base, -1, i),
			  aten_reshape(line_of_grid(size[2 + dim], call_bool(c, 2), theta->dtype), view, spatial));
		all *= size[2 + dim];
	}
	struct aten_tensor *flat = aten_reshape(base, (const int64_t[]){size[0], all, spatial + 1}, 3);
	shape[n - 1] = spatial;
	call_give(c, 0, aten_reshape(APPLIED("bmm", aten_of(flat), aten_of(aten_transpose(theta, 1, 2))), shape, n));
}

const struct aten_entry aten_grid_entries[] = {
    {"affine_grid_generator", run_affine_grid},
    {"grid_sampler", run_grid_sampler},
    {"grid_sampler_2d", run_grid_sampler, "2"},
    {"grid_sampler_3d", run_grid_sampler, "3"},
    {0},
};
