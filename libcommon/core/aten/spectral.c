/* Fourier transform operators, composed from those of fft.c (torch 2.13 and 2.15, aten/src/ATen/native/SpectralOps.cpp). */
#include "call.h"
#include "elem.h"
#include "ops.h"

/* The transform of an overload: entry.data. */
struct fft_form {
	bool inverse;
	enum { FFT_C2C, FFT_R2C, FFT_C2R } kind;
};
static const struct fft_form fft = {false, FFT_C2C}, ifft = {true, FFT_C2C}, rfft = {false, FFT_R2C}, irfft = {true, FFT_C2R},
			     hfft = {false, FFT_C2R}, ihfft = {true, FFT_R2C};

enum { NORM_NONE, NORM_BY_ROOT_N, NORM_BY_N };

/* norm_from_string */
static int64_t norm_of(const struct aten_call *c, uint32_t i, bool forward)
{
	const char *mode = call_string_or(c, i, "backward");
	if (!strcmp(mode, "backward"))
		return forward ? NORM_NONE : NORM_BY_N;
	if (!strcmp(mode, "forward"))
		return forward ? NORM_BY_N : NORM_NONE;
	if (!strcmp(mode, "ortho"))
		return NORM_BY_ROOT_N;
	aten_fail("Invalid normalization mode: \"%s\"", mode);
}

static struct aten_tensor *promoted(struct aten_tensor *t, bool to_complex)
{
	int dtype = elem_integral(t->dtype) ? aten_default_dtype() : t->dtype;
	if (aten_real_of(dtype) != DTYPE_F32 && aten_real_of(dtype) != DTYPE_F64)
		aten_fail("Unsupported dtype %s", dtype_name(dtype));
	dtype = to_complex ? aten_complex_of(aten_real_of(dtype)) : dtype;
	return dtype == t->dtype ? t : aten_to_copy(t, dtype, ATEN_PRESERVE);
}

/* resize_fft_input: truncated, or padded with zeros at the end; -1 leaves a dim unchanged. */
static struct aten_tensor *resized(struct aten_tensor *t, const int64_t *dim, const int64_t *size, int64_t n)
{
	int64_t pad[2 * ATEN_DIMS] = {0};
	bool pads = false;
	for (int64_t i = 0; i < n; i++) {
		int d = aten_dim(t, dim[i]);
		if (size[i] < 1 && size[i] != -1)
			aten_fail("Invalid number of data points (%lld) specified", (long long)size[i]);
		if (size[i] != -1 && size[i] > t->size[d]) {
			pad[2 * (t->n_dim - 1 - d) + 1] = size[i] - t->size[d];
			pads = true;
		} else if (size[i] != -1 && size[i] < t->size[d]) {
			t = aten_narrow(t, d, 0, size[i]);
		}
	}
	return pads ? aten_pad(t, (struct ints){pad, 2 * (int64_t)t->n_dim}, "constant", aten_number(0)) : t;
}

struct fft_dims {
	int64_t n, dim[ATEN_DIMS], size[ATEN_DIMS];
};

static struct aten_tensor *c2c(struct aten_tensor *x, const struct fft_dims *d, int64_t n, int64_t norm, bool forward)
{
	return APPLIED("_fft_c2c", aten_of(x), aten_ints(d->dim, n), aten_int(norm), aten_bool(forward));
}
static struct aten_tensor *r2c(struct aten_tensor *x, const int64_t *dim, int64_t n, int64_t norm, bool onesided)
{
	return APPLIED("_fft_r2c", aten_of(x), aten_ints(dim, n), aten_int(norm), aten_bool(onesided));
}
static struct aten_tensor *c2r(struct aten_tensor *x, const int64_t *dim, int64_t n, int64_t norm, int64_t last)
{
	return APPLIED("_fft_c2r", aten_of(x), aten_ints(dim, n), aten_int(norm), aten_int(last));
}

/* self, n, dim, norm */
static void run_fft(struct aten_call *c)
{
	const struct fft_form *form = c->entry->data;
	struct aten_tensor *self = call_tensor(c, 0), *out;
	int64_t norm = norm_of(c, 3, !form->inverse), dim = call_int(c, 2), n = call_int_or(c, 1, -1);
	bool both = form->kind == FFT_C2C, from_complex = elem_complex(self->dtype);
	if (!self->n_dim)
		aten_fail("Dimension specified as %lld but tensor has no dimensions", (long long)dim);
	if (form->kind == FFT_R2C && from_complex)
		aten_fail("expects a real input tensor, but got %s", dtype_name(self->dtype));
	if (form->kind == FFT_C2R) {
		self = promoted(self, true);
		n = n == -1 && call_is_none(c, 1) ? 2 * (self->size[aten_dim(self, dim)] - 1) : n;
		if (n < 1)
			aten_fail("Invalid number of data points (%lld) specified", (long long)n);
		self = resized(self, &dim, &(int64_t){n / 2 + 1}, 1);
		out = c2r(form->inverse ? self : aten_conj(self), &dim, 1, norm, n);
	} else {
		self = promoted(self, false);
		if (!call_is_none(c, 1) && n < 1)
			aten_fail("Invalid number of data points (%lld) specified", (long long)n);
		self = resized(self, &dim, &n, 1);
		if (both && from_complex)
			out = c2c(self, &(struct fft_dims){1, {dim}, {n}}, 1, norm, !form->inverse);
		else
			out = r2c(self, &dim, 1, norm, !both);
		out = form->inverse && !(both && from_complex) ? aten_conj(out) : out;
	}
	call_give(c, 0, out);
}

/* canonicalize_fft_shape_and_dim_args: the last dims if only sizes are given, all if nothing is. */
static struct fft_dims dims_of(const struct aten_call *c, const struct aten_tensor *self)
{
	struct fft_dims d = {0};
	struct ints size = call_ints(c, 1), dim = call_ints(c, 2);
	d.n = dim.v ? dim.n : size.v ? size.n : self->n_dim;
	if (d.n > self->n_dim || (size.v && size.n != d.n))
		aten_fail("got %lld sizes and %lld dims for a %dD tensor", (long long)size.n, (long long)d.n, self->n_dim);
	for (int64_t i = 0; i < d.n; i++) {
		d.dim[i] = dim.v ? aten_dim(self, dim.v[i]) : self->n_dim - d.n + i;
		d.size[i] = size.v && size.v[i] != -1 ? size.v[i] : self->size[d.dim[i]];
		for (int64_t k = 0; k < i; k++)
			if (d.dim[k] == d.dim[i])
				aten_fail("FFT dims must be unique");
		if (d.size[i] < 1)
			aten_fail("Invalid number of data points (%lld) specified", (long long)d.size[i]);
	}
	return d;
}

static struct aten_tensor *fftn_to_real(const struct fft_form *form, struct aten_tensor *self, struct fft_dims *d, bool given, int64_t norm)
{
	int64_t *last = &d->size[d->n - 1], out = given ? *last : size_times(2, *last - 1);
	if (out < 1)
		aten_fail("Invalid number of data points (%lld) specified", (long long)out);
	*last = out / 2 + 1;
	self = resized(promoted(self, true), d->dim, d->size, d->n);
	if (form->inverse)
		return c2r(self, d->dim, d->n, norm, out);
	if (d->n > 1)
		self = c2c(self, d, d->n - 1, norm, true);
	return c2r(aten_conj(self), d->dim + d->n - 1, 1, norm, out);
}

/* self, s, dim, norm; fft2 has two dims as a default */
static void run_fftn(struct aten_call *c)
{
	const struct fft_form *form = c->entry->data;
	struct aten_tensor *self = call_tensor(c, 0);
	struct fft_dims d = dims_of(c, self);
	int64_t norm = norm_of(c, 3, !form->inverse);
	struct ints given = call_ints(c, 1);
	if (form->kind == FFT_C2C) {
		self = resized(promoted(self, true), d.dim, d.size, d.n);
		call_give(c, 0, c2c(self, &d, d.n, norm, !form->inverse));
		return;
	}
	if (!d.n)
		aten_fail("must transform at least one axis");
	if (form->kind == FFT_C2R) {
		call_give(c, 0, fftn_to_real(form, self, &d, given.v && given.v[given.n - 1] != -1, norm));
		return;
	}
	if (elem_complex(self->dtype))
		aten_fail("expects a real-valued input tensor, but got %s", dtype_name(self->dtype));
	self = resized(promoted(self, false), d.dim, d.size, d.n);
	if (!form->inverse) {
		call_give(c, 0, r2c(self, d.dim, d.n, norm, true));
		return;
	}
	struct aten_tensor *out = aten_conj(r2c(self, d.dim + d.n - 1, 1, norm, true));
	call_give(c, 0, d.n > 1 ? c2c(out, &d, d.n - 1, norm, false) : out);
}

/* ---- short-time transforms ---- */

/* In the middle of n zeros, or unchanged. */
static struct aten_tensor *centered(struct aten_tensor *window, int64_t n)
{
	int64_t left = (n - window->size[0]) / 2;
	return window->size[0] == n ? window : aten_pad(window, INT_LIST(left, n - window->size[0] - left), "constant", aten_number(0));
}

struct pieces {
	int64_t n_fft, hop, win;
	struct aten_tensor *window; /* NULL: ones */
};

static struct pieces pieces_of(const struct aten_call *c)
{
	struct pieces p = {.n_fft = call_int(c, 1), .window = call_tensor_or_none(c, 4)};
	p.hop = call_int_or(c, 2, p.n_fft / 4);
	p.win = call_int_or(c, 3, p.n_fft);
	if (p.n_fft < 1 || p.hop < 1 || p.win < 1 || p.win > p.n_fft)
		aten_fail("expected 0 < win_length <= n_fft and hop_length > 0, but got n_fft=%lld, hop_length=%lld, win_length=%lld",
			  (long long)p.n_fft, (long long)p.hop, (long long)p.win);
	if (p.window && (p.window->n_dim != 1 || p.window->size[0] != p.win))
		aten_fail("expected a 1D window tensor of size equal to win_length=%lld", (long long)p.win);
	return p;
}

static struct aten_tensor *padded_signal(struct aten_tensor *x, int64_t n, const char *mode)
{
	int64_t size[2] = {x->size[0], size_plus(x->size[1], size_times(2, n))};
	return aten_reshape(aten_pad(aten_unsqueeze(x, 0), INT_LIST(n, n), mode, aten_number(0)), size, 2);
}

/* self, n_fft, hop_length, win_length, window[, center, pad_mode], normalized, onesided, return_complex, align_to_window */
static void run_stft(struct aten_call *c)
{
	uint32_t more = strcmp(c->entry->name, "stft") ? 2 : 0;
	struct aten_tensor *x = call_tensor(c, 0), *window, *out;
	struct pieces p = pieces_of(c);
	bool single = x->n_dim == 1, of_complex = elem_complex(x->dtype);
	bool onesided = call_int_or(c, 6 + more, !of_complex && !(p.window && elem_complex(p.window->dtype)));
	int64_t norm = call_bool(c, 5 + more) ? NORM_BY_ROOT_N : NORM_NONE, middle = 2;
	x = single ? aten_unsqueeze(x, 0) : x;
	if (x->n_dim != 2 || elem_integral(x->dtype))
		aten_fail("expected a 1D or 2D tensor of floating point or complex values");
	if (more && call_bool(c, 5))
		x = padded_signal(x, p.n_fft / 2, call_string_or(c, 6, "reflect"));
	if (x->size[1] < p.n_fft)
		aten_fail("expected 0 < n_fft <= %lld, but got n_fft=%lld", (long long)x->size[1], (long long)p.n_fft);
	int64_t size[3] = {x->size[0], 1 + (x->size[1] - p.n_fft) / p.hop, p.n_fft};
	int64_t stride[3] = {x->stride[0], size_times(p.hop, x->stride[1]), x->stride[1]};
	x = aten_view(x, 3, size, stride, x->offset);
	window = p.window ? p.window : p.win < p.n_fft ? aten_full(&p.win, 1, 1, x->dtype) : NULL;
	if (window)
		x = aten_mul(x, centered(window, p.n_fft));
	if (elem_complex(x->dtype) && onesided)
		aten_fail("Cannot have onesided output if window or input is complex");
	out = elem_complex(x->dtype) ? c2c(x, &(struct fft_dims){.n = 1, .dim = {2}}, 1, norm, true) : r2c(x, &middle, 1, norm, onesided);
	out = aten_transpose(out, 1, 2);
	out = single ? aten_squeeze_dim(out, 0) : out;
	call_give(c, 0, call_int_or(c, 7 + more, of_complex || (p.window && elem_complex(p.window->dtype))) ? out : aten_view_as_real(out));
}

/* unfold_backward: [batch, frames, n] summed at the frames' positions, hop apart. */
static struct aten_tensor *overlapped(struct aten_tensor *frames, int64_t hop)
{
	int64_t n = frames->size[2], size[2] = {frames->size[0], size_plus(n, size_times(hop, frames->size[1] - 1))};
	struct aten_tensor *out = aten_fill(aten_empty(size, 2, frames->dtype), aten_number(0));
	frames = aten_contiguous(frames);
	int bytes = elem_bytes(out->dtype);
	for (int64_t b = 0; b < size[0] && aten_computes(); b++)
		for (int64_t f = 0; f < frames->size[1]; f++)
			for (int64_t i = 0; i < n; i++)
				elem_add(out->dtype, aten_data(out) + (b * size[1] + f * hop + i) * bytes,
					 aten_data(frames) + ((b * frames->size[1] + f) * n + i) * bytes);
	return out;
}

static void need_nonzero(const struct aten_tensor *envelope)
{
	struct walk w = WALK(envelope);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		if (!(cabs(elem_c128(envelope->dtype, w.p[0])) > 1e-11))
			aten_fail("window overlap add min: 1");
}

/* The frames of a spectrum [batch, frequencies, frames], of which one side may be omitted. */
static struct aten_tensor *frames_of(struct aten_tensor *spectrum, int64_t n_fft, int64_t norm, bool onesided, bool to_complex)
{
	int64_t last = 2, size[2] = {0, n_fft / 2 + 1};
	struct aten_tensor *x = aten_transpose(spectrum, 1, 2);
	if (to_complex)
		return c2c(x, &(struct fft_dims){.n = 1, .dim = {2}}, 1, norm, false);
	if (!onesided)
		x = aten_narrow(x, 2, size[0], size[1]);
	return c2r(x, &last, 1, norm, n_fft);
}

/* self, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex */
static void run_istft(struct aten_call *c)
{
	struct aten_tensor *x = call_tensor(c, 0), *y, *envelope;
	struct pieces p = pieces_of(c);
	bool single = x->n_dim == 2, to_complex = call_bool(c, 9);
	if (!elem_complex(x->dtype) || (x->n_dim != 2 && x->n_dim != 3))
		aten_fail("istft requires a complex-valued input tensor of 2 or 3 dimensions");
	x = single ? aten_unsqueeze(x, 0) : x;
	if (!aten_numel(x) || (call_int_or(c, 7, x->size[1] != p.n_fft) ? x->size[1] != p.n_fft / 2 + 1 : x->size[1] != p.n_fft))
		aten_fail("expected the frequency dimension to fit n_fft=%lld, but got %lld", (long long)p.n_fft, (long long)x->size[1]);
	bool onesided = call_int_or(c, 7, x->size[1] != p.n_fft);
	struct aten_tensor *window = centered(p.window ? p.window : aten_full(&p.win, 1, 1, aten_real_of(x->dtype)), p.n_fft);
	y = frames_of(x, p.n_fft, call_bool(c, 6) ? NORM_BY_ROOT_N : NORM_BY_N, onesided, to_complex);
	int64_t frames[3] = {1, x->size[2], p.n_fft}, all = size_plus(p.n_fft, size_times(p.hop, x->size[2] - 1));
	int64_t start = call_bool(c, 5) ? p.n_fft / 2 : 0;
	int64_t end = !call_is_none(c, 8) ? size_plus(start, call_int(c, 8)) : all - start, stop = end < all ? end : all;
	y = overlapped(aten_mul(y, window), p.hop);
	envelope = overlapped(aten_expand(aten_mul(window, window), frames, 3), p.hop);
	y = aten_slice(y, 1, &start, &stop, 1);
	envelope = aten_slice(envelope, 1, &start, &stop, 1);
	need_nonzero(envelope);
	y = APPLIED("div.Tensor", aten_of(y), aten_of(envelope));
	y = single ? aten_squeeze_dim(y, 0) : y;
	if (end > all)
		y = aten_pad(y, INT_LIST(0, end - all), "constant", aten_number(0));
	call_give(c, 0, y);
}

const struct aten_entry aten_spectral_entries[] = {
    {"fft_fft", run_fft, &fft},
    {"fft_fft2", run_fftn, &fft},
    {"fft_fftn", run_fftn, &fft},
    {"fft_hfft", run_fft, &hfft},
    {"fft_hfft2", run_fftn, &hfft},
    {"fft_hfftn", run_fftn, &hfft},
    {"fft_ifft", run_fft, &ifft},
    {"fft_ifft2", run_fftn, &ifft},
    {"fft_ifftn", run_fftn, &ifft},
    {"fft_ihfft", run_fft, &ihfft},
    {"fft_ihfft2", run_fftn, &ihfft},
    {"fft_ihfftn", run_fftn, &ihfft},
    {"fft_irfft", run_fft, &irfft},
    {"fft_irfft2", run_fftn, &irfft},
    {"fft_irfftn", run_fftn, &irfft},
    {"fft_rfft", run_fft, &rfft},
    {"fft_rfft2", run_fftn, &rfft},
    {"fft_rfftn", run_fftn, &rfft},
    {"istft", run_istft},
    {"stft", run_stft},
    {"stft.center", run_stft},
    {0},
};
