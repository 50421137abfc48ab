/* Patches of images as columns, and the reverse: im2col, col2im (torch 2.13 and 2.15, aten/src/ATen/native/Im2Col.cpp, Col2Im.cpp). */
#include "call.h"
#include "elem.h"
#include "ops.h"

struct patches {
	int64_t kernel[2], dilation[2], padding[2], stride[2], in[2], out[2];
};

static void read_two(const struct aten_call *c, uint32_t i, int64_t *two, int64_t least)
{
	struct ints list = call_ints(c, i);
	if (list.n != 1 && list.n != 2)
		aten_fail("expected argument %u to have 2 numbers", i + 1);
	for (int k = 0; k < 2; k++) {
		two[k] = list.v[list.n == 2 ? k : 0];
		if (two[k] < least || two[k] > INT32_MAX)
			aten_fail("invalid argument %u: %lld", i + 1, (long long)two[k]);
	}
}

/* kernel_size, dilation, padding, stride from that argument on. */
static struct patches patches_of(const struct aten_call *c, uint32_t first, const int64_t *in)
{
	struct patches p = {.in = {in[0], in[1]}};
	read_two(c, first, p.kernel, 1);
	read_two(c, first + 1, p.dilation, 1);
	read_two(c, first + 2, p.padding, 0);
	read_two(c, first + 3, p.stride, 1);
	for (int k = 0; k < 2; k++) {
		int64_t room = in[k] + 2 * p.padding[k] - p.dilation[k] * (p.kernel[k] - 1) - 1;
		if (in[k] < 0 || in[k] > INT32_MAX || room < 0)
			aten_fail("the array of sliding blocks is empty: kernel %lld, input %lld", (long long)p.kernel[k],
				  (long long)in[k]);
		p.out[k] = room / p.stride[k] + 1;
	}
	return p;
}

/* All patches of a padded image [N, C, H, W]: [N, C, kh, kw, h, w]. */
static struct aten_tensor *windows(const struct patches *p, const struct aten_tensor *image)
{
	const int64_t *s = image->stride;
	int64_t size[6] = {image->size[0], image->size[1], p->kernel[0], p->kernel[1], p->out[0], p->out[1]};
	int64_t stride[6] = {s[0],
			     s[1],
			     size_times(p->dilation[0], s[2]),
			     size_times(p->dilation[1], s[3]),
			     size_times(p->stride[0], s[2]),
			     size_times(p->stride[1], s[3])};
	return aten_view(image, 6, size, stride, image->offset);
}

static void run_im2col(struct aten_call *c) /* self, kernel_size, dilation, padding, stride */
{
	struct aten_tensor *self = call_tensor(c, 0);
	bool single = self->n_dim == 3;
	self = single ? aten_unsqueeze(self, 0) : self;
	if (self->n_dim != 4)
		aten_fail("Expected 3D or 4D (batch mode) tensor, but got %dD", self->n_dim);
	struct patches p = patches_of(c, 1, self->size + 2);
	struct ints pad = INT_LIST(p.padding[1], p.padding[1], p.padding[0], p.padding[0]);
	int64_t size[3] = {self->size[0], size_times(self->size[1], p.kernel[0] * p.kernel[1]), p.out[0] * p.out[1]};
	struct aten_tensor *from = windows(&p, aten_pad(self, pad, "constant", aten_number(0)));
	struct aten_tensor *out = aten_reshape(aten_clone_contiguous(from), size, 3);
	call_give(c, 0, single ? aten_squeeze_dim(out, 0) : out);
}

static void run_col2im(struct aten_call *c) /* self, output_size, kernel_size, dilation, padding, stride */
{
	struct aten_tensor *self = call_tensor(c, 0);
	int64_t image[2];
	bool single = self->n_dim == 2;
	self = single ? aten_unsqueeze(self, 0) : self;
	read_two(c, 1, image, 1);
	struct patches p = patches_of(c, 2, image);
	int64_t each = p.kernel[0] * p.kernel[1];
	if (self->n_dim != 3 || self->size[1] % each || self->size[2] != p.out[0] * p.out[1])
		aten_fail("expected %lld x n columns and %lld blocks", (long long)each, (long long)(p.out[0] * p.out[1]));
	int64_t whole[4] = {self->size[0], self->size[1] / each, image[0] + 2 * p.padding[0], image[1] + 2 * p.padding[1]};
	int64_t parts[6] = {whole[0], whole[1], p.kernel[0], p.kernel[1], p.out[0], p.out[1]};
	struct aten_tensor *padded = aten_fill(aten_empty(whole, 4, self->dtype), aten_number(0));
	struct aten_tensor *from = aten_reshape(self, parts, 6), *to = windows(&p, padded);
	for (int64_t i = 0; i < each; i++) {
		struct aten_tensor *place = aten_select(aten_select(to, 2, i / p.kernel[1]), 2, i % p.kernel[1]);
		struct aten_tensor *more = aten_select(aten_select(from, 2, i / p.kernel[1]), 2, i % p.kernel[1]);
		aten_copy(place, aten_add(place, more, 1));
	}
	struct aten_tensor *out = aten_narrow(aten_narrow(padded, 2, p.padding[0], image[0]), 3, p.padding[1], image[1]);
	out = aten_clone_contiguous(out);
	call_give(c, 0, single ? aten_squeeze_dim(out, 0) : out);
}

const struct aten_entry aten_patches_entries[] = {{"col2im", run_col2im}, {"im2col", run_im2col}, {0}};
