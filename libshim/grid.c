/* grid.c - grid_sampler_3d: input [N, C, D, H, W] at the places that grid [N, Do, Ho, Wo, 3] names as x, y, z in -1
 * ... 1.
 *
 * torch 2.13, aten/src/ATen/native/GridSampler.{h,cpp}. Places are computed in grid's dtype, so that those between two
 * elements round as torch's do. The result is contiguous.
 */
#include "elem.h"

#include <math.h>

enum { GRID_BILINEAR, GRID_NEAREST };
enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION };

struct sampler {
	int mode, padding;
	bool align, single;
	int64_t size[3]; /* D, H, W */
};

/* float arithmetic where torch's is */
#define ROUND(s, v) ((s)->single ? (double)(float)(v) : (v))

static double reflect(const struct sampler *s, double x, double twice_low, double twice_high)
{
	if (twice_low == twice_high)
		return 0;
	double low = twice_low / 2, span = (twice_high - twice_low) / 2;
	x = fabs(ROUND(s, x - low));
	double extra = fmod(x, span), flips = floor(ROUND(s, x / span));
	return ROUND(s, fmod(flips, 2) == 0 ? extra + low : ROUND(s, span - extra) + low);
}

/* NaN ends up at the upper border, as std::min and std::max have it. */
static double clip(double x, int64_t size)
{
	double top = (double)(size - 1);

	x = x < 0 ? 0 : x;
	return x < top ? x : top;
}

static double place(const struct sampler *s, double x, int64_t size)
{
	double n = (double)size;

	if (s->align)
		x = ROUND(s, ROUND(s, ROUND(s, x + 1) / 2) * (n - 1));
	else
		x = ROUND(s, ROUND(s, ROUND(s, ROUND(s, x + 1) * n) - 1) / 2);
	if (s->padding == PAD_REFLECTION)
		x = s->align ? reflect(s, x, 0, 2 * (n - 1)) : reflect(s, x, -1, 2 * n - 1);
	return s->padding == PAD_ZEROS ? x : clip(x, size);
}

/* The elements around a place and their weights; those outside are left out. */
struct corners {
	int n;
	int64_t offset[8]; /* bytes */
	double weight[8];
};

static void find_corners(const struct sampler *s, const struct shim_tensor *input, const double *at, struct corners *c)
{
	c->n = 0;
	for (int k = 0; k < (s->mode == GRID_NEAREST ? 1 : 8); k++) {
		int64_t offset = 0;
		double weight = 1;
		bool inside = true;
		for (int i = 0; i < 3; i++) {
			double base = s->mode == GRID_NEAREST ? nearbyint(at[i]) : floor(at[i]);
			bool upper = s->mode == GRID_BILINEAR && k >> i & 1;
			double pos = base + upper;
			inside = inside && pos >= 0 && pos < (double)s->size[i];
			if (s->mode == GRID_BILINEAR)
				weight *= upper ? at[i] - base : base + 1 - at[i];
			if (inside)
				offset += (int64_t)pos * line_step(input, 2 + i);
		}
		if (inside) {
			c->offset[c->n] = offset;
			c->weight[c->n++] = weight;
		}
	}
}

static void check_grid(const struct shim_tensor *input, const struct shim_tensor *grid, int64_t mode, int64_t padding)
{
	if (input->n_dim != 5 || grid->n_dim != 5 || input->size[0] != grid->size[0] || grid->size[4] != 3)
		shim_fail("grid_sampler(): expected 5D input and grid of one batch size, the grid's last dimension being 3");
	if (!elem_floating(input->dtype) || input->dtype != grid->dtype || elem_bytes(input->dtype) < 4)
		shim_fail("grid_sampler(): expected input and grid of one dtype, float32 or float64");
	if (mode != GRID_BILINEAR && mode != GRID_NEAREST)
		shim_fail("grid_sampler(): bicubic interpolation only supports 4D input");
	if (padding < PAD_ZEROS || padding > PAD_REFLECTION)
		shim_fail("grid_sampler(): no padding mode %lld", (long long)padding);
	for (int i = 2; i < 5; i++)
		if (!input->size[i])
			shim_fail("grid_sampler(): expected input to have non-empty spatial dimensions");
}

static struct shim_tensor *sample(struct shim_tensor *input, struct shim_tensor *grid, const struct sampler *s)
{
	int64_t size[5] = {input->size[0], input->size[1], grid->size[1], grid->size[2], grid->size[3]};
	struct shim_tensor *out = shim_new(input->dtype, 5, size, NULL), places = *grid, first = *out, batch = *input;
	struct corners c;
	struct walk w;

	/* Over places: grid without its last dim, out and input without their channels. */
	places.n_dim = 4;
	for (int i = 1; i < 4; i++) {
		first.size[i] = out->size[i + 1];
		first.stride[i] = out->stride[i + 1];
		batch.size[i] = 1;
	}
	first.n_dim = batch.n_dim = 4;
	walk_begin(&w, 4, places.size);
	walk_add(&w, shim_data(grid), &places);
	walk_add(&w, shim_data(out), &first);
	walk_add(&w, shim_data(input), &batch);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		double at[3];
		for (int i = 0; i < 3; i++)
			at[i] = place(s, elem_f64(grid->dtype, w.p[0] + (2 - i) * line_step(grid, 4)), s->size[i]);
		find_corners(s, input, at, &c);
		for (int64_t ch = 0; ch < size[1]; ch++) {
			const char *plane = w.p[2] + ch * line_step(input, 1);
			double v = 0;
			for (int k = 0; k < c.n; k++)
				v += elem_f64(input->dtype, plane + c.offset[k]) * c.weight[k];
			elem_set_f64(out->dtype, w.p[1] + ch * line_step(out, 1), v);
		}
	}
	return out;
}

AOTITorchError aoti_torch_cpu_grid_sampler_3d(AtenTensorHandle input, AtenTensorHandle grid, int64_t interpolation_mode,
					      int64_t padding_mode, int32_t align_corners, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		check_grid(input, grid, interpolation_mode, padding_mode);
		struct sampler s = {(int)interpolation_mode,
				    (int)padding_mode,
				    align_corners,
				    grid->dtype == DTYPE_F32,
				    {input->size[2], input->size[3], input->size[4]}};
		SHIM_GIVE(ret0, sample(input, grid, &s));
	}
	SHIM_END
}
