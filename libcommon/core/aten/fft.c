/* fft.c - _fft_c2c, _fft_r2c, _fft_c2r: complex transforms over any dims, in double.
 *
 * Lengths with small prime factors use mixed radix steps, others through Bluestein's convolution.
 * Normalization (torch 2.13, aten/src/ATen/native/SpectralOpsUtils.h): 0 none, 1 by sqrt(n), 2 by n.
 * Strides are those of torch's MKL build, which computes on a copy whose batch dims are in order of self's strides and
 * come before the transformed ones (aten/src/ATen/native/mkl/SpectralOps.cpp, _exec_fft); x86-64 wheels are such builds; others (pocketfft)
 * return contiguous tensors.
 */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

typedef double complex cplx;

enum { RADIX_MAX = 31 };

struct fft {
	int64_t n;
	cplx *root; /* exp(-2 pi i k / n) */
	cplx *work; /* n */
	/* Bluestein: a power of two of at least 2n - 1, the chirp and the transform of its inverse */
	struct fft *inner;
	cplx *chirp, *kernel, *padded;
};

static cplx unit_root(int64_t k, int64_t n)
{
	double a = -2 * M_PI * (double)k / (double)n;

	/* Exact at the quarter turns. */
	if (4 * k % n == 0) {
		static const double re[] = {1, 0, -1, 0}, im[] = {0, -1, 0, 1};
		return CMPLX(re[4 * k / n % 4], im[4 * k / n % 4]);
	}
	return CMPLX(cos(a), sin(a));
}

static cplx *roots_of(int64_t n)
{
	cplx *r = aten_scratch((uint64_t)n, sizeof(*r));

	for (int64_t k = 0; k < n; k++)
		r[k] = unit_root(k, n);
	return r;
}

static int64_t smallest_factor(int64_t n)
{
	for (int64_t f = 2; f <= RADIX_MAX && f * f <= n; f++)
		if (n % f == 0)
			return f;
	return n;
}

static bool factors_are_small(int64_t n)
{
	while (n > 1) {
		int64_t f = smallest_factor(n);
		if (f > RADIX_MAX)
			return false;
		n /= f;
	}
	return true;
}

/* A step of decimation in time: m transforms of length f, from consecutive ones of length m in x. */
static void butterfly(const struct fft *p, cplx *x, int64_t m, int64_t f)
{
	cplx t[RADIX_MAX];
	int64_t n = m * f, stride = p->n / n;

	for (int64_t k = 0; k < m; k++) {
		for (int64_t j = 0; j < f; j++)
			t[j] = x[j * m + k] * p->root[j * k % n * stride];
		for (int64_t q = 0; q < f; q++) {
			cplx sum = t[0];
			for (int64_t j = 1; j < f; j++)
				sum += t[j] * p->root[j * q % f * (p->n / f)];
			x[q * m + k] = sum;
		}
	}
}

static void butterfly2(const struct fft *p, cplx *x, int64_t m)
{
	int64_t stride = p->n / (2 * m);

	for (int64_t k = 0; k < m; k++) {
		cplx a = x[k], b = x[m + k] * p->root[k * stride];
		x[k] = a + b;
		x[m + k] = a - b;
	}
}

/* out[0..n) = transform of n elements of in, `step` apart. The recursion depth is the number of factors: at most 63. */
static void mixed_radix(const struct fft *p, const cplx *in, int64_t step, cplx *out, int64_t n)
{
	int64_t f = n > 1 ? smallest_factor(n) : 1, m = n / f;

	if (n == 1) {
		*out = *in;
		return;
	}
	for (int64_t j = 0; j < f; j++)
		mixed_radix(p, in + j * step, step * f, out + j * m, m);
	if (f == 2)
		butterfly2(p, out, m);
	else
		butterfly(p, out, m, f);
}

static void fft_forward(const struct fft *p, cplx *x);

static void plan_bluestein(struct fft *p);

static struct fft *plan(int64_t n)
{
	struct fft *p = aten_scratch(1, sizeof(*p));

	*p = (struct fft){.n = n, .work = aten_scratch((uint64_t)n, sizeof(cplx))};
	if (factors_are_small(n))
		p->root = roots_of(n);
	else
		plan_bluestein(p);
	return p;
}

static void plan_bluestein(struct fft *p)
{
	int64_t n = p->n, size = 1;

	while (size < 2 * n - 1)
		size *= 2;
	p->inner = plan(size);
	p->chirp = aten_scratch((uint64_t)n, sizeof(cplx));
	p->kernel = aten_scratch((uint64_t)size, sizeof(cplx));
	p->padded = aten_scratch((uint64_t)size, sizeof(cplx));
	for (int64_t k = 0; k < n; k++)
		p->chirp[k] = unit_root((int64_t)((unsigned __int128)k * (unsigned __int128)k % (unsigned __int128)(2 * n)), 2 * n);
	memset(p->kernel, 0, (size_t)size * sizeof(cplx));
	for (int64_t k = 0; k < n; k++)
		p->kernel[k] = p->kernel[k ? size - k : 0] = conj(p->chirp[k]);
	fft_forward(p->inner, p->kernel);
}

/* x = forward transform of x, in place. */
static void fft_forward(const struct fft *p, cplx *x)
{
	if (!p->inner) {
		mixed_radix(p, x, 1, p->work, p->n);
		memcpy(x, p->work, (size_t)p->n * sizeof(*x));
		return;
	}
	int64_t size = p->inner->n;
	memset(p->padded, 0, (size_t)size * sizeof(cplx));
	for (int64_t k = 0; k < p->n; k++)
		p->padded[k] = x[k] * p->chirp[k];
	fft_forward(p->inner, p->padded);
	/* The inverse is the forward transform between two conjugations. */
	for (int64_t k = 0; k < size; k++)
		p->padded[k] = conj(p->padded[k] * p->kernel[k]);
	fft_forward(p->inner, p->padded);
	for (int64_t k = 0; k < p->n; k++)
		x[k] = conj(p->padded[k]) / (double)size * p->chirp[k];
}

/* ---- dims of a tensor of complex128 ---- */

static void transform_dim(struct aten_tensor *t, int dim, bool forward)
{
	int64_t n = t->size[dim], step = line_step(t, dim);
	if (!aten_computes())
		return;
	struct fft *p = plan(n);
	cplx *line = aten_scratch((uint64_t)n, sizeof(*line));

	struct walk w = WALK_LINES(dim, t);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		for (int64_t i = 0; i < n; i++) {
			cplx v = elem_c128(DTYPE_C128, w.p[0] + i * step);
			line[i] = forward ? v : conj(v);
		}
		fft_forward(p, line);
		for (int64_t i = 0; i < n; i++)
			elem_set_c128(DTYPE_C128, w.p[0] + i * step, forward ? line[i] : conj(line[i]));
	}
}

static double scale_of(int64_t normalization, const struct aten_tensor *t, const int64_t *dim, int64_t n_dim, int64_t last)
{
	double n = 1;

	for (int64_t i = 0; i < n_dim; i++)
		n *= (double)(last && i == n_dim - 1 ? last : t->size[dim[i]]);
	if (normalization < 0 || normalization > 2)
		aten_fail("invalid normalization mode %lld", (long long)normalization);
	return normalization == 2 ? 1 / n : normalization == 1 ? 1 / sqrt(n) : 1;
}

/* out = scale * c, for the part of c that fits in out. */
static void from_c128(struct aten_tensor *out, const struct aten_tensor *c, double scale)
{
	struct aten_tensor part = *c;

	memcpy(part.size, out->size, sizeof(part.size));
	struct walk w = WALK(out, &part);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		elem_set_c128(out->dtype, w.p[0], elem_c128(DTYPE_C128, w.p[1]) * scale);
}

/* ---- strides ---- */

/* By descending strides, like std::sort up to 16 elements: equal ones stay in order. */
static void sort_by_stride(int64_t *dim, int64_t n, const int64_t *stride)
{
	for (int64_t i = 1; i < n; i++) {
		int64_t x = dim[i], j = i;
		for (; j && stride[x] > stride[dim[j - 1]]; j--)
			dim[j] = dim[j - 1];
		dim[j] = x;
	}
}

/* The batch dims to the front, in the order of libstdc++'s std::partition. */
static int64_t batch_first(int64_t *dim, int64_t n, const bool *transformed)
{
	int64_t first = 0, last = n;

	for (;;) {
		while (first != last && !transformed[dim[first]])
			first++;
		if (first == last)
			return first;
		do
			if (first == --last)
				return first;
		while (transformed[dim[last]]);
		int64_t t = dim[first];
		dim[first++] = dim[last];
		dim[last] = t;
	}
}

static struct aten_tensor *mkl_output(int dtype, const struct aten_tensor *self, const int64_t *size, const int64_t *dim, int64_t n)
{
	bool transformed[ATEN_DIMS] = {0};
	int64_t order[ATEN_DIMS], stride[ATEN_DIMS], step = 1;

	for (int i = 0; i < self->n_dim; i++)
		order[i] = i;
	for (int64_t i = 0; i < n; i++)
		transformed[dim[i]] = true;
	int64_t batch = batch_first(order, self->n_dim, transformed);
	sort_by_stride(order, batch, self->stride);
	for (int64_t i = 0; i < n; i++)
		order[batch + i] = dim[i];
	for (int64_t i = self->n_dim - 1; i >= 0; i--) {
		stride[order[i]] = step;
		step *= size[order[i]];
	}
	return aten_new(dtype, self->n_dim, size, stride);
}

static void check_dims(const struct aten_tensor *self, struct ints dims, int64_t *out)
{
	bool seen[ATEN_DIMS] = {0};

	if (dims.n > self->n_dim)
		aten_fail("more dims than the tensor has");
	for (int64_t i = 0; i < dims.n; i++) {
		out[i] = aten_dim(self, dims.v[i]);
		if (seen[out[i]])
			aten_fail("dim %lld appears multiple times in the list of dims", (long long)out[i]);
		seen[out[i]] = true;
		if (self->size[out[i]] < 1)
			aten_fail("Invalid number of data points (%lld) specified", (long long)self->size[out[i]]);
	}
}

/* ---- ops ---- */

struct aten_tensor *aten_fft_c2c(struct aten_tensor *self, struct ints dims, int64_t normalization, bool forward)
{
	int64_t dim[ATEN_DIMS], n = dims.n;

	if (!elem_complex(self->dtype))
		aten_fail("_fft_c2c expects a complex tensor, got %s", dtype_name(self->dtype));
	if (!n)
		return aten_clone(self);
	check_dims(self, dims, dim);
	sort_by_stride(dim, n, self->stride);
	struct aten_tensor *out = mkl_output(self->dtype, self, self->size, dim, n), *c = aten_to_copy(self, DTYPE_C128, ATEN_CONTIGUOUS);
	for (int64_t i = 0; i < n && aten_computes(); i++)
		transform_dim(c, (int)dim[i], forward);
	from_c128(out, c, scale_of(normalization, self, dim, n, 0));
	return out;
}

struct aten_tensor *aten_fft_r2c(struct aten_tensor *self, struct ints dims, int64_t normalization, bool onesided)
{
	int64_t dim[ATEN_DIMS], size[ATEN_DIMS], n = dims.n;

	if (self->dtype != DTYPE_F32 && self->dtype != DTYPE_F64)
		aten_fail("_fft_r2c: unsupported dtype %s", dtype_name(self->dtype));
	if (!n)
		aten_fail("_fft_r2c: no dims");
	check_dims(self, dims, dim);
	memcpy(size, self->size, sizeof(size));
	if (onesided)
		size[dim[n - 1]] = size[dim[n - 1]] / 2 + 1;
	sort_by_stride(dim, n - 1, self->stride);
	struct aten_tensor *out = mkl_output(self->dtype == DTYPE_F32 ? DTYPE_C64 : DTYPE_C128, self, size, dim, n);
	struct aten_tensor *c = aten_to_copy(self, DTYPE_C128, ATEN_CONTIGUOUS);
	for (int64_t i = 0; i < n && aten_computes(); i++)
		transform_dim(c, (int)dim[i], true);
	from_c128(out, c, scale_of(normalization, self, dim, n, 0));
	return out;
}

/* ---- to real numbers, through the proxy executor only ---- */

/* The stored half and, after it, the conjugate of its mirror image. Imaginary parts of self-conjugate elements are ignored. */
static void hermitian_lines(struct aten_tensor *full, const struct aten_tensor *half, int dim)
{
	int64_t n = full->size[dim], step = line_step(full, dim), from = line_step(half, dim);

	struct walk w = WALK_LINES(dim, full, half);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		for (int64_t k = 0; k <= n / 2; k++) {
			cplx v = elem_c128(DTYPE_C128, w.p[1] + k * from);
			if (!k || 2 * k == n)
				v = creal(v);
			elem_set_c128(DTYPE_C128, w.p[0] + k * step, v);
			if (k)
				elem_set_c128(DTYPE_C128, w.p[0] + (n - k) * step, conj(v));
		}
}

static struct aten_tensor *c2r(struct aten_tensor *self, struct ints dims, int64_t normalization, int64_t last)
{
	int64_t dim[ATEN_DIMS], size[ATEN_DIMS], n = dims.n;

	if (self->dtype != DTYPE_C64 && self->dtype != DTYPE_C128)
		aten_fail("_fft_c2r expects a complex tensor, got %s", dtype_name(self->dtype));
	if (!n || last < 1)
		aten_fail("Invalid number of data points (%lld) specified", (long long)last);
	check_dims(self, dims, dim);
	int d = (int)dim[n - 1];
	if (self->size[d] < last / 2 + 1)
		aten_fail("the input has %lld values along dim %d, but %lld are required", (long long)self->size[d], d,
			  (long long)last / 2 + 1);
	struct aten_tensor *c = aten_to_copy(self, DTYPE_C128, ATEN_CONTIGUOUS);
	for (int64_t i = 0; i < n - 1 && aten_computes(); i++)
		transform_dim(c, (int)dim[i], false);
	memcpy(size, self->size, sizeof(size));
	size[d] = last;
	struct aten_tensor *full = aten_new(DTYPE_C128, self->n_dim, size, NULL);
	hermitian_lines(full, c, d);
	if (aten_computes())
		transform_dim(full, d, false);
	/* torch transforms all but the last dim into a tensor of its own, whose strides then count. */
	int64_t first[ATEN_DIMS];
	memcpy(first, dim, sizeof(first));
	sort_by_stride(first, n - 1, self->stride);
	const struct aten_tensor *from = n > 1 ? mkl_output(self->dtype, self, self->size, first, n - 1) : self;
	struct aten_tensor *out = mkl_output(self->dtype == DTYPE_C64 ? DTYPE_F32 : DTYPE_F64, from, size, dim + n - 1, 1);
	double scale = scale_of(normalization, self, dim, n, last);
	struct walk w = WALK(out, full);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		elem_set_f64(out->dtype, w.p[0], creal(elem_c128(DTYPE_C128, w.p[1])) * scale);
	return out;
}

/* self, dim, normalization, and forward, onesided or last_dim_size */
static void run_fft_c2c(struct aten_call *c)
{
	call_give(c, 0, aten_fft_c2c(call_tensor(c, 0), call_ints(c, 1), call_int(c, 2), call_bool(c, 3)));
}
static void run_fft_r2c(struct aten_call *c)
{
	call_give(c, 0, aten_fft_r2c(call_tensor(c, 0), call_ints(c, 1), call_int(c, 2), call_bool(c, 3)));
}
static void run_fft_c2r(struct aten_call *c) { call_give(c, 0, c2r(call_tensor(c, 0), call_ints(c, 1), call_int(c, 2), call_int(c, 3))); }

const struct aten_entry aten_fft_entries[] = {
    {"_fft_c2c", run_fft_c2c},
    {"_fft_c2r", run_fft_c2r},
    {"_fft_r2c", run_fft_r2c},
    {0},
};
