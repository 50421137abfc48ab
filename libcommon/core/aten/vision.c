/* torchvision's operators (torchvision 0.28, torchvision/csrc/ops/cpu: nms_kernel.cpp, roi_align_kernel.cpp, roi_pool_kernel.cpp,
 * ps_roi_align_kernel.cpp, ps_roi_pool_kernel.cpp, deform_conv2d_kernel.cpp): torchvision.nms.default in a graph. */
#include "call.h"
#include "elem.h"
#include "mat.h"
#include "ops.h"

#include <float.h>
#include <math.h>

/* Contiguous float32 or float64 values, in double; none if only shapes are needed. */
static const double *doubles_of(struct aten_tensor *t)
{
	if (!aten_computes())
		return NULL;
	t = aten_clone_contiguous(aten_to_copy(t, DTYPE_F64, ATEN_CONTIGUOUS));
	return (const double *)(const void *)aten_data(t);
}

/* ---- nms ---- */

static double area(const double *b) { return (b[2] - b[0]) * (b[3] - b[1]); }

static void run_nms(struct aten_call *c) /* dets [N, 4], scores, iou_threshold */
{
	struct aten_tensor *boxes = call_tensor(c, 0), *scores = call_tensor(c, 1);
	const double most = call_float(c, 2);
	if (boxes->n_dim != 2 || boxes->size[1] != 4 || scores->n_dim != 1 || scores->size[0] != boxes->size[0])
		aten_fail("boxes should be a 2d tensor of 4 columns, with as many scores");
	if (!aten_computes())
		aten_needs_values();
	const int64_t n = boxes->size[0];
	const double *b = doubles_of(boxes);
	struct aten_tensor *order = APPLY("sort.stable", aten_of(scores), aten_bool(true), aten_int(0), aten_bool(true))[1].tensor;
	int64_t *kept = aten_scratch((uint64_t)n + 1, sizeof(*kept)), count = 0;
	bool *gone = aten_scratch((uint64_t)n + 1, sizeof(*gone));
	const bool in_float = boxes->dtype != DTYPE_F64;
	memset(gone, 0, (size_t)n);
	for (int64_t i = 0; i < n; i++) {
		int64_t at;
		memcpy(&at, aten_data(order) + i * line_step(order, 0), sizeof(at));
		if (gone[at])
			continue;
		kept[count++] = at;
		for (int64_t k = i + 1; k < n; k++) {
			int64_t other;
			memcpy(&other, aten_data(order) + k * line_step(order, 0), sizeof(other));
			const double *p = b + 4 * at, *q = b + 4 * other;
			if (gone[other])
				continue;
			const double w = fmax(0, fmin(p[2], q[2]) - fmax(p[0], q[0])), h = fmax(0, fmin(p[3], q[3]) - fmax(p[1], q[1]));
			double over = w * h / (area(p) + area(q) - w * h);
			if (in_float) { /* as there, so that a box at the threshold falls on the same side */
				const float fw = (float)w, fh = (float)h, both = fw * fh;
				const float pa = (float)(p[2] - p[0]) * (float)(p[3] - p[1]),
					    qa = (float)(q[2] - q[0]) * (float)(q[3] - q[1]);
				over = (double)(both / (pa + qa - both));
			}
			gone[other] = over > most;
		}
	}
	struct aten_tensor *out = aten_new(DTYPE_I64, 1, &count, NULL);
	if (count)
		memcpy(aten_data(out), kept, (size_t)count * sizeof(*kept));
	call_give(c, 0, out);
}

/* ---- regions of interest ---- */

struct regions {
	struct aten_tensor *input;
	const double *x, *roi; /* [N, C, H, W]; rows of 5: the image and a box */
	int64_t n, images, channels, height, width, rows, cols, samples;
	double scale;
};

static void take_regions(const struct aten_call *c, struct regions *r) /* input, rois, spatial_scale, pooled_height, pooled_width, ... */
{
	struct aten_tensor *input = call_tensor(c, 0), *rois = call_tensor(c, 1);
	if (input->n_dim != 4 || rois->n_dim != 2 || rois->size[1] != 5)
		aten_fail("expected an input of 4 dimensions and rois of 5 columns");
	*r = (struct regions){.input = input,
			      .x = doubles_of(input),
			      .roi = doubles_of(rois),
			      .n = rois->size[0],
			      .images = input->size[0],
			      .channels = input->size[1],
			      .height = input->size[2],
			      .width = input->size[3],
			      .rows = call_int(c, 3),
			      .cols = call_int(c, 4),
			      .scale = call_float(c, 2)};
	if (r->rows < 1 || r->cols < 1)
		aten_fail("the pooled size has to be positive");
	for (int64_t i = 0; r->roi && i < r->n; i++)
		if (!(r->roi[5 * i] >= 0 && r->roi[5 * i] < (double)r->images))
			aten_fail("roi %lld is in image %g of %lld", (long long)i, r->roi[5 * i], (long long)r->images);
}

static const double *plane(const struct regions *r, int64_t roi, int64_t channel)
{
	return r->x + ((int64_t)r->roi[5 * roi] * r->channels + channel) * r->height * r->width;
}

/* Between four pixels; 0 outside. */
static double between(const double *p, int64_t height, int64_t width, double y, double x)
{
	if (y < -1 || y > (double)height || x < -1 || x > (double)width)
		return 0;
	y = fmax(y, 0);
	x = fmax(x, 0);
	int64_t y0 = (int64_t)y, x0 = (int64_t)x, y1 = y0 + 1, x1 = x0 + 1;
	if (y0 >= height - 1)
		y0 = y1 = height - 1, y = (double)y0;
	if (x0 >= width - 1)
		x0 = x1 = width - 1, x = (double)x0;
	const double ly = y - (double)y0, lx = x - (double)x0, hy = 1 - ly, hx = 1 - lx;
	return hy * hx * p[y0 * width + x0] + hy * lx * p[y0 * width + x1] + ly * hx * p[y1 * width + x0] + ly * lx * p[y1 * width + x1];
}

/* The mean of samples in a cell. */
static double cell_mean(const struct regions *r, const double *p, double top, double left, double h, double w)
{
	const int64_t ny = r->samples > 0 ? r->samples : (int64_t)ceil(h), nx = r->samples > 0 ? r->samples : (int64_t)ceil(w);
	const int64_t count = ny * nx > 0 ? ny * nx : 1;
	double sum = 0;
	for (int64_t i = 0; i < ny; i++)
		for (int64_t k = 0; k < nx; k++)
			sum += between(p, r->height, r->width, top + ((double)i + 0.5) * h / (double)ny,
				       left + ((double)k + 0.5) * w / (double)nx);
	return sum / (double)count;
}

struct box {
	double y, x, h, w;
};

static void put(struct aten_tensor *out, int64_t i, double v) { elem_set_f64(out->dtype, aten_data(out) + i * elem_bytes(out->dtype), v); }

static void run_roi_align(struct aten_call *c) /* ..., sampling_ratio, aligned */
{
	struct regions r;
	take_regions(c, &r);
	const bool aligned = call_bool(c, 6);
	const double off = aligned ? 0.5 : 0;
	r.samples = call_int(c, 5);
	struct aten_tensor *out = aten_new(r.input->dtype, 4, (const int64_t[]){r.n, r.channels, r.rows, r.cols}, NULL);
	call_give(c, 0, out);
	for (int64_t n = 0, at = 0; aten_computes() && n < r.n; n++) {
		const double *q = r.roi + 5 * n;
		struct box b = {q[2] * r.scale - off, q[1] * r.scale - off, (q[4] - q[2]) * r.scale, (q[3] - q[1]) * r.scale};
		if (!aligned) {
			b.h = fmax(b.h, 1);
			b.w = fmax(b.w, 1);
		}
		const double h = b.h / (double)r.rows, w = b.w / (double)r.cols;
		/* the number of samples is that of the whole box by its cells */
		for (int64_t ch = 0; ch < r.channels; ch++)
			for (int64_t i = 0; i < r.rows; i++)
				for (int64_t k = 0; k < r.cols; k++)
					put(out, at++, cell_mean(&r, plane(&r, n, ch), b.y + (double)i * h, b.x + (double)k * w, h, w));
	}
}

static void run_roi_pool(struct aten_call *c)
{
	struct regions r;
	take_regions(c, &r);
	const int64_t size[] = {r.n, r.channels, r.rows, r.cols};
	struct aten_tensor *out = aten_new(r.input->dtype, 4, size, NULL), *which = aten_new(DTYPE_I32, 4, size, NULL);
	call_give(c, 0, out);
	call_give(c, 1, which);
	for (int64_t n = 0; aten_computes() && n < r.n; n++) {
		const double *q = r.roi + 5 * n;
		const int64_t x0 = (int64_t)round(q[1] * r.scale), y0 = (int64_t)round(q[2] * r.scale), x1 = (int64_t)round(q[3] * r.scale),
			      y1 = (int64_t)round(q[4] * r.scale);
		const double h = (double)(y1 - y0 + 1 > 1 ? y1 - y0 + 1 : 1) / (double)r.rows,
			     w = (double)(x1 - x0 + 1 > 1 ? x1 - x0 + 1 : 1) / (double)r.cols;
		for (int64_t i = 0; i < r.rows; i++)
			for (int64_t k = 0; k < r.cols; k++) {
				const int64_t top = (int64_t)fmin(fmax(floor((double)i * h) + (double)y0, 0), (double)r.height),
					      left = (int64_t)fmin(fmax(floor((double)k * w) + (double)x0, 0), (double)r.width),
					      bottom = (int64_t)fmin(fmax(ceil((double)(i + 1) * h) + (double)y0, 0), (double)r.height),
					      right = (int64_t)fmin(fmax(ceil((double)(k + 1) * w) + (double)x0, 0), (double)r.width);
				for (int64_t ch = 0; ch < r.channels; ch++) {
					const bool empty = bottom <= top || right <= left;
					double most = empty ? 0 : -(double)FLT_MAX;
					int64_t place = -1;
					for (int64_t y = top; y < bottom; y++)
						for (int64_t x = left; x < right; x++)
							if (plane(&r, n, ch)[y * r.width + x] > most)
								most = plane(&r, n, ch)[place = y * r.width + x];
					const int64_t at = ((n * r.channels + ch) * r.rows + i) * r.cols + k;
					put(out, at, most);
					elem_set_i64(DTYPE_I32, aten_data(which) + at * 4, place);
				}
			}
	}
}

/* A channel of the input for each channel and cell of the output; entry.data: whole pixels are summed, not samples. */
static void run_ps_roi(struct aten_call *c)
{
	struct regions r;
	take_regions(c, &r);
	const bool pixels = c->entry->data != NULL;
	const int64_t cells = size_times(r.rows, r.cols), channels = r.channels / cells;
	const int64_t size[] = {r.n, channels, r.rows, r.cols};
	if (r.channels % cells)
		aten_fail("input channels must be a multiple of pooling height * pooling width");
	r.samples = pixels ? 0 : call_int(c, 5);
	struct aten_tensor *out = aten_new(r.input->dtype, 4, size, NULL), *which = aten_new(DTYPE_I32, 4, size, NULL);
	call_give(c, 0, out);
	call_give(c, 1, which);
	for (int64_t n = 0, at = 0; aten_computes() && n < r.n; n++) {
		const double *q = r.roi + 5 * n;
		struct box b = {q[2] * r.scale - 0.5, q[1] * r.scale - 0.5, (q[4] - q[2]) * r.scale, (q[3] - q[1]) * r.scale};
		if (pixels) {
			b = (struct box){round(q[2] * r.scale), round(q[1] * r.scale), 0, 0};
			b.h = fmax(round(q[4] * r.scale) - b.y, 1);
			b.w = fmax(round(q[3] * r.scale) - b.x, 1);
		}
		const double h = b.h / (double)r.rows, w = b.w / (double)r.cols;
		for (int64_t ch = 0; ch < channels; ch++)
			for (int64_t i = 0; i < r.rows; i++)
				for (int64_t k = 0; k < r.cols; k++, at++) {
					const int64_t from = (ch * r.rows + i) * r.cols + k;
					const double *p = plane(&r, n, from);
					elem_set_i64(DTYPE_I32, aten_data(which) + at * 4, from);
					if (!pixels) {
						put(out, at, cell_mean(&r, p, b.y + (double)i * h, b.x + (double)k * w, h, w));
						continue;
					}
					const int64_t top = (int64_t)fmin(fmax(floor((double)i * h + b.y), 0), (double)r.height - 1),
						      left = (int64_t)fmin(fmax(floor((double)k * w + b.x), 0), (double)r.width - 1),
						      bottom =
							  (int64_t)fmin(fmax(ceil((double)(i + 1) * h + b.y), 0), (double)r.height - 1),
						      right = (int64_t)fmin(fmax(ceil((double)(k + 1) * w + b.x), 0), (double)r.width - 1);
					double sum = 0;
					for (int64_t y = top; y < bottom; y++)
						for (int64_t x = left; x < right; x++)
							sum += p[y * r.width + x];
					const bool empty = bottom <= top || right <= left;
					put(out, at, empty ? 0 : sum / (double)((bottom - top) * (right - left)));
				}
	}
}

/* ---- deform_conv2d ---- */

static double pixel(const double *p, int64_t height, int64_t width, double y, double x)
{
	if (y <= -1 || y >= (double)height || x <= -1 || x >= (double)width)
		return 0;
	const int64_t y0 = (int64_t)floor(y), x0 = (int64_t)floor(x);
	const double ly = y - (double)y0, lx = x - (double)x0;
	double sum = 0;
	for (int k = 0; k < 4; k++) {
		const int64_t py = y0 + k / 2, px = x0 + k % 2;
		if (py >= 0 && py < height && px >= 0 && px < width)
			sum += (k / 2 ? ly : 1 - ly) * (k % 2 ? lx : 1 - lx) * p[py * width + px];
	}
	return sum;
}

/* input, weight, offset, mask, bias, stride (2), padding (2), dilation (2), groups, offset_groups, use_mask */
static void run_deform_conv2d(struct aten_call *c)
{
	struct aten_tensor *input = call_tensor(c, 0), *weight = call_tensor(c, 1), *offset = call_tensor(c, 2), *mask = call_tensor(c, 3),
			   *bias = call_tensor(c, 4);
	const int64_t groups = call_int(c, 11), parts = call_int(c, 12);
	const bool masked = call_bool(c, 13);
	int64_t how[6];
	for (uint32_t i = 0; i < 6; i++)
		if ((how[i] = call_int(c, 5 + i)) < (i / 2 == 1 ? 0 : 1))
			aten_fail("stride and dilation have to be positive, padding not negative");
	if (input->n_dim != 4 || weight->n_dim != 4 || offset->n_dim != 4 || groups < 1 || parts < 1 || input->size[1] % parts ||
	    weight->size[1] * groups != input->size[1] || weight->size[0] % groups)
		aten_fail("deform_conv2d: the sizes of input and weight do not match");
	const int64_t n = input->size[0], in = input->size[1], height = input->size[2], width = input->size[3], kh = weight->size[2],
		      kw = weight->size[3], made = weight->size[0], taps = size_times(kh, kw);
	const int64_t rows = (height + 2 * how[2] - (how[4] * (kh - 1) + 1)) / how[0] + 1,
		      cols = (width + 2 * how[3] - (how[5] * (kw - 1) + 1)) / how[1] + 1;
	if (rows < 1 || cols < 1)
		aten_fail("Calculated output size too small");
	const int64_t places = size_times(rows, cols);
	if (offset->size[0] != n || offset->size[1] != 2 * parts * taps || offset->size[2] != rows || offset->size[3] != cols ||
	    (masked && (aten_numel(mask) != n * parts * taps * places)))
		aten_fail("deform_conv2d: the sizes of offset and mask do not match");
	struct aten_tensor *out = aten_new(input->dtype, 4, (const int64_t[]){n, made, rows, cols}, NULL);
	call_give(c, 0, out);
	if (!aten_computes())
		return;
	const double *x = doubles_of(input), *move = doubles_of(offset), *by = masked ? doubles_of(mask) : NULL;
	struct aten_tensor *sampled = aten_new(DTYPE_F64, 2, (const int64_t[]){size_times(in, taps), places}, NULL);
	double *s = (double *)(void *)aten_data(sampled);
	struct aten_tensor *w = aten_reshape(aten_to_copy(weight, DTYPE_F64, ATEN_CONTIGUOUS), (const int64_t[]){made, -1}, 2);
	const int64_t per_in = in / groups * taps, per_out = made / groups;
	for (int64_t b = 0; b < n; b++) {
		for (int64_t ch = 0; ch < in; ch++) {
			const int64_t part = ch / (in / parts);
			const double *p = x + (b * in + ch) * height * width;
			for (int64_t tap = 0; tap < taps; tap++)
				for (int64_t at = 0; at < places; at++) {
					const double *d = move + ((b * parts + part) * 2 * taps + 2 * tap) * places + at;
					const double y = (double)(at / cols * how[0] - how[2] + tap / kw * how[4]) + d[0],
						     z = (double)(at % cols * how[1] - how[3] + tap % kw * how[5]) + d[places];
					s[(ch * taps + tap) * places + at] =
					    pixel(p, height, width, y, z) * (by ? by[((b * parts + part) * taps + tap) * places + at] : 1);
				}
		}
		for (int64_t g = 0; g < groups; g++) {
			struct aten_tensor *r = APPLIED("mm", aten_of(aten_narrow(w, 0, g * per_out, per_out)),
							aten_of(aten_narrow(sampled, 0, g * per_in, per_in)));
			r = aten_add(
			    r, aten_unsqueeze(aten_to_copy(aten_narrow(bias, 0, g * per_out, per_out), DTYPE_F64, ATEN_CONTIGUOUS), 1), 1);
			aten_copy(aten_narrow(aten_select(out, 0, b), 0, g * per_out, per_out),
				  aten_reshape(r, (const int64_t[]){per_out, rows, cols}, 3));
		}
	}
}

const struct aten_entry aten_vision_entries[] = {
    {"torchvision::deform_conv2d", run_deform_conv2d},
    {"torchvision::nms", run_nms},
    {"torchvision::ps_roi_align", run_ps_roi},
    {"torchvision::ps_roi_pool", run_ps_roi, "pixels"},
    {"torchvision::roi_align", run_roi_align},
    {"torchvision::roi_pool", run_roi_pool},
    {0},
};
