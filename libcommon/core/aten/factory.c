/* Operators that make tensors of numbers (torch 2.13, aten/src/ATen/native/TensorFactories.cpp, RangeFactories.cpp). */
#include "call.h"
#include "elem.h"
#include "ops.h"
#include "special.h"

#include <math.h>

/* Every element; no dims: with the number's dtype. */
struct aten_tensor *aten_fill(struct aten_tensor *t, struct aten_tensor *value)
{
	aten_copy(t, value);
	return t;
}

struct aten_tensor *aten_empty(const int64_t *size, int64_t n, int dtype)
{
	if (n < 0 || n > ATEN_DIMS)
		aten_fail("too many dimensions: %lld", (long long)n);
	for (int64_t i = 0; i < n; i++)
		if (size[i] < 0)
			aten_fail("Trying to create tensor with negative dimension %lld", (long long)size[i]);
	return aten_new(dtype, (int)n, size, NULL);
}

struct aten_tensor *aten_empty_like(const struct aten_tensor *self, int dtype, int64_t format)
{
	if (format == ATEN_PRESERVE)
		return aten_like(self, dtype);
	return aten_new_format(dtype, self->n_dim, self->size, format > ATEN_PRESERVE);
}

struct aten_tensor *aten_full(const int64_t *size, int64_t n, double value, int dtype)
{
	return aten_fill(aten_empty(size, n, dtype), aten_number(value));
}

/* The dtype of a number if none is given. */
static int dtype_of_number(const struct aten_value *v)
{
	return v->kind == ATEN_BOOL      ? DTYPE_BOOL
	       : v->kind == ATEN_INT     ? DTYPE_I64
	       : v->kind == ATEN_COMPLEX ? aten_complex_of(aten_default_dtype())
					 : aten_default_dtype();
}

/* entry.data of these: the fill value */
static const double zero = 0, one = 1;

static struct aten_tensor *filled_by(const struct aten_call *c, struct aten_tensor *t)
{
	const double *v = c->entry->data;
	return v ? aten_fill(t, aten_number(*v)) : t;
}
static struct aten_tensor *empty_of(const struct aten_call *c, uint32_t size_at, uint32_t dtype_at, int dtype)
{
	struct ints size = call_ints(c, size_at);
	return aten_empty(size.v, size.n, call_dtype_or(c, dtype_at, dtype));
}
static void run_sized(struct aten_call *c) /* size, dtype, ... */
{
	call_give(c, 0, filled_by(c, empty_of(c, 0, 1, aten_default_dtype())));
}
static void run_full(struct aten_call *c) /* size, value, dtype, ... */
{
	call_give(c, 0, aten_fill(empty_of(c, 0, 2, dtype_of_number(&c->arg[1])), call_operand(c, 1)));
}
static void run_new_sized(struct aten_call *c) /* self, size, dtype, ... */
{
	call_give(c, 0, filled_by(c, empty_of(c, 1, 2, call_tensor(c, 0)->dtype)));
}
static void run_new_full(struct aten_call *c) /* self, size, value, dtype, ... */
{
	call_give(c, 0, aten_fill(empty_of(c, 1, 3, call_tensor(c, 0)->dtype), call_operand(c, 2)));
}
/* self, [value,] dtype, layout, device, pin_memory, memory_format */
static struct aten_tensor *like_self(const struct aten_call *c, uint32_t dtype_at)
{
	struct aten_tensor *self = call_tensor(c, 0);
	const struct aten_value *format = &c->arg[dtype_at + 4];
	return aten_empty_like(self, call_dtype_or(c, dtype_at, self->dtype), format->kind == ATEN_NONE ? ATEN_PRESERVE : format->i);
}
static void run_like(struct aten_call *c) { call_give(c, 0, filled_by(c, like_self(c, 1))); }
static void run_full_like(struct aten_call *c) { call_give(c, 0, aten_fill(like_self(c, 2), call_operand(c, 1))); }
static void run_scalar_tensor(struct aten_call *c)
{
	int dtype = call_dtype_or(c, 1, aten_default_dtype());
	if (c->arg[0].kind == ATEN_COMPLEX && call_is_none(c, 1))
		dtype = aten_complex_of(dtype);
	call_give(c, 0, aten_fill(aten_new(dtype, 0, NULL, NULL), call_operand(c, 0)));
}
static void run_fill(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0), *value = call_operand(c, 1);
	if (value->n_dim)
		aten_fail("fill_ only supports 0-dimension value tensor but got tensor with %d dimensions.", value->n_dim);
	call_give(c, 0, aten_fill(aten_like(self, self->dtype), value));
}
static void run_zero(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	call_give(c, 0, aten_fill(aten_like(self, self->dtype), aten_number(0)));
}

/* ---- ranges ---- */

static void set_number(struct aten_tensor *t, int64_t i, double v) { elem_set_f64(t->dtype, aten_data(t) + i * elem_bytes(t->dtype), v); }

/* Computed in double; half types in float (accscalar_t). */
static void arange(struct aten_call *c, const struct aten_value *start, const struct aten_value *end, const struct aten_value *step,
		   uint32_t dtype_at)
{
	const struct aten_value *given[] = {start, end, step};
	bool whole = true;
	double v[3];
	for (int i = 0; i < 3; i++) {
		whole = whole && (given[i]->kind == ATEN_INT || given[i]->kind == ATEN_BOOL);
		v[i] = given[i]->kind == ATEN_FLOAT ? given[i]->f : (double)given[i]->i;
	}
	int dtype = call_dtype_or(c, dtype_at, whole ? DTYPE_I64 : aten_default_dtype());
	if (v[2] == 0 || (v[2] > 0 ? v[1] < v[0] : v[1] > v[0]))
		aten_fail("upper bound and lower bound inconsistent with step sign");
	double count = ceil((v[1] - v[0]) / v[2]);
	if (whole && elem_integral(dtype)) {
		__int128 span = (__int128)end->i - start->i, by = step->i;
		count = (double)((span + by - (by > 0 ? 1 : -1)) / by);
	}
	if (!(count < 0x1p62))
		aten_fail("invalid size, possible overflow?");
	int64_t n = (int64_t)count;
	struct aten_tensor *out = aten_new(dtype, 1, &n, NULL);
	for (int64_t i = 0; i < n && aten_computes(); i++)
		if (elem_integral(dtype))
			elem_set_i64(dtype, aten_data(out) + i * elem_bytes(dtype),
				     whole ? (int64_t)((uint64_t)start->i + (uint64_t)i * (uint64_t)step->i)
					   : (int64_t)((uint64_t)elem_to_i64(v[0]) + (uint64_t)i * (uint64_t)elem_to_i64(v[2])));
		else
			set_number(out, i, dtype == DTYPE_F64 ? v[0] + (double)i * v[2] : (double)(float)(v[0] + (double)i * v[2]));
	call_give(c, 0, out);
}
static const struct aten_value int_zero = {.kind = ATEN_INT, .i = 0}, int_one = {.kind = ATEN_INT, .i = 1};
static void run_arange(struct aten_call *c) { arange(c, &int_zero, &c->arg[0], &int_one, 1); }
static void run_arange_start(struct aten_call *c) { arange(c, &c->arg[0], &c->arg[1], &int_one, 2); }
static void run_arange_step(struct aten_call *c) { arange(c, &c->arg[0], &c->arg[1], &c->arg[2], 3); }

/* From both ends to the middle (aten/src/ATen/native/cpu/RangeFactoriesKernel.cpp). For integers, the ends are truncated first, and each
 * number when stored. */
static void run_logspace(struct aten_call *c) /* start, end, steps, base, dtype */
{
	double start = call_float(c, 0), end = call_float(c, 1), base = call_float(c, 3);
	int64_t n = call_int(c, 2);
	if (n < 0)
		aten_fail("number of steps must be non-negative");
	struct aten_tensor *out = aten_new(call_dtype_or(c, 4, aten_default_dtype()), 1, &n, NULL);
	if (elem_integral(out->dtype) && n > 1)
		start = (double)elem_to_i64(start), end = (double)elem_to_i64(end);
	double step = n > 1 ? (end - start) / (double)(n - 1) : 0;
	for (int64_t i = 0; i < n && aten_computes(); i++)
		set_number(out, i, pow(base, i < n / 2 || n == 1 ? start + step * (double)i : end - step * (double)(n - 1 - i)));
	call_give(c, 0, out);
}

static void run_linspace(struct aten_call *c)
{
	double start = call_float(c, 0), end = call_float(c, 1);
	int64_t n = call_int(c, 2);
	if (n < 0)
		aten_fail("number of steps must be non-negative");
	struct aten_tensor *out = aten_new(call_dtype_or(c, 3, aten_default_dtype()), 1, &n, NULL);
	bool whole = elem_integral(out->dtype);
	start = whole ? trunc(start) : start;
	end = whole ? trunc(end) : end;
	double step = n > 1 ? (end - start) / (double)(n - 1) : 0;
	for (int64_t i = 0; i < n && aten_computes(); i++)
		set_number(out, i, i < n / 2 || n == 1 ? start + step * (double)i : end - step * (double)(n - 1 - i));
	call_give(c, 0, out);
}

static void run_eye(struct aten_call *c) /* n, [m,] dtype */
{
	bool square = !strcmp(c->entry->name, "eye");
	int64_t size[2] = {call_int(c, 0), call_int(c, square ? 0 : 1)};
	struct aten_tensor *out = aten_empty(size, 2, call_dtype_or(c, square ? 1 : 2, aten_default_dtype()));
	aten_fill(out, aten_number(0));
	aten_copy(aten_diagonal(out, 0, 0, 1), aten_number(1));
	call_give(c, 0, out);
}

/* Periodic: computes one more and drops the last. */
struct aten_tensor *aten_hann_window(int64_t length, bool periodic, int dtype)
{
	struct aten_tensor *out = aten_empty(&length, 1, dtype);
	double n = (double)(periodic ? length : length - 1);
	for (int64_t i = 0; i < length && aten_computes(); i++)
		set_number(out, i, length == 1 ? 1 : 0.5 - 0.5 * cos(2 * M_PI * (double)i / n));
	return out;
}
static void run_hann_window(struct aten_call *c)
{
	call_give(c, 0,
		  aten_hann_window(call_int(c, 0), c->entry->data || call_bool(c, 1),
				   call_dtype_or(c, c->entry->data ? 1 : 2, aten_default_dtype())));
}

/* Sums of cosines, a triangle, Kaiser's (aten/src/ATen/native/TensorFactories.cpp); periodic as above. */
enum window { WINDOW_BARTLETT, WINDOW_BLACKMAN, WINDOW_HAMMING, WINDOW_KAISER };
static const struct window_form {
	enum window kind;
	bool periodic; /* always */
} bartlett = {WINDOW_BARTLETT, true}, bartlett_periodic = {WINDOW_BARTLETT, false}, blackman = {WINDOW_BLACKMAN, true},
  blackman_periodic = {WINDOW_BLACKMAN, false}, hamming = {WINDOW_HAMMING, true}, hamming_periodic = {WINDOW_HAMMING, false},
  kaiser = {WINDOW_KAISER, true}, kaiser_periodic = {WINDOW_KAISER, false};

static double window_at(enum window kind, double i, double n, double alpha, double beta)
{
	const double turn = 2 * M_PI * i / n, off = 2 * i / n - 1;
	switch (kind) {
	case WINDOW_BARTLETT: return 1 - fabs(off);
	case WINDOW_BLACKMAN: return 0.42 - 0.5 * cos(turn) + 0.08 * cos(2 * turn);
	case WINDOW_HAMMING: return alpha - beta * cos(turn);
	case WINDOW_KAISER: return special_i0(beta * sqrt(fmax(0, 1 - off * off))) / special_i0(beta);
	}
	return 0;
}

static void run_window(struct aten_call *c) /* length, [periodic, [alpha or beta, [beta]]], dtype, ... */
{
	const struct window_form *f = c->entry->data;
	uint32_t k = f->periodic ? 1 : 2, numbers = c->schema->n - 4 - k; /* dtype, layout, device, pin_memory follow */
	const int64_t length = call_int(c, 0);
	const double alpha = f->kind == WINDOW_HAMMING && numbers ? call_float(c, k) : 0.54,
		     beta = f->kind == WINDOW_HAMMING ? (numbers > 1 ? call_float(c, k + 1) : 0.46)
			    : numbers                 ? call_float(c, k)
						      : 12;
	if (length < 0)
		aten_fail("a window needs a length that is not negative, not %lld", (long long)length);
	struct aten_tensor *out = aten_empty(&length, 1, call_dtype_or(c, k + numbers, aten_default_dtype()));
	const double n = (double)(f->periodic || call_bool(c, 1) ? length : length - 1);
	for (int64_t i = 0; i < length && aten_computes(); i++)
		set_number(out, i, length == 1 ? 1 : window_at(f->kind, (double)i, n, alpha, beta));
	call_give(c, 0, out);
}

/* aten/src/ATen/native/SpectralOps.cpp; entry.data: only the non-negative half */
static void run_fftfreq(struct aten_call *c)
{
	bool real = c->entry->data;
	int64_t n = call_int(c, 0), half = n - n / 2, count = real ? n / 2 + 1 : n;
	double d = call_float(c, 1);
	if (n < 1)
		aten_fail("invalid signal length %lld", (long long)n);
	struct aten_tensor *out = aten_new(call_dtype_or(c, 2, aten_default_dtype()), 1, &count, NULL);
	for (int64_t i = 0; i < count && aten_computes(); i++)
		elem_set_c128(out->dtype, aten_data(out) + i * elem_bytes(out->dtype),
			      (double)(real || i < half ? i : i - n) / ((double)n * d));
	call_give(c, 0, out);
}

/* ---- triangles ---- */

/* row, col, offset, dtype; entry.data: the upper triangle. Two rows: where its elements are, row by row. */
static void run_triangle_indices(struct aten_call *c)
{
	const int64_t rows = call_int(c, 0), cols = call_int(c, 1), offset = call_int(c, 2);
	int64_t n = 0;
	if (rows < 0 || cols < 0)
		aten_fail("row and col must be non-negative");
	for (int64_t i = 0; i < rows; i++) {
		const int64_t edge = i + offset, below = edge < -1 ? 0 : edge >= cols ? cols : edge + 1; /* columns up to the edge */
		n += c->entry->data ? cols - (edge < 0 ? 0 : edge > cols ? cols : edge) : below;
	}
	struct aten_tensor *out = aten_empty((int64_t[]){2, n}, 2, call_dtype_or(c, 3, DTYPE_I64));
	for (int64_t i = 0, k = 0; i < rows && aten_computes(); i++)
		for (int64_t j = 0; j < cols; j++)
			if (c->entry->data ? j - i >= offset : j - i <= offset) {
				set_number(out, k, (double)i);
				set_number(out, n + k++, (double)j);
			}
	call_give(c, 0, out);
}

/* entry.data: the upper triangle */
static void run_triangle(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0), *out = aten_clone_contiguous(self);
	int64_t k = call_int(c, 1);
	int n = self->n_dim;
	if (n < 2)
		aten_fail("input tensor must have at least 2 dimensions");
	struct walk w = WALK(out);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int64_t above = w.pos[n - 1] - w.pos[n - 2];
		if (c->entry->data ? above < k : above > k)
			memset(w.p[0], 0, (size_t)elem_bytes(out->dtype));
	}
	call_give(c, 0, out);
}

static void run_empty_strided(struct aten_call *c) /* size, stride, dtype */
{
	struct ints size = call_ints(c, 0), stride = call_ints(c, 1);
	if (size.n != stride.n || size.n > ATEN_DIMS)
		aten_fail("mismatch in length of strides and shape");
	call_give(c, 0, aten_fill(aten_new(call_dtype_or(c, 2, aten_default_dtype()), (int)size.n, size.v, stride.v), aten_number(0)));
}

/* size, physical_layout (its dims, outermost first), dtype; zeros, too */
static void run_empty_permuted(struct aten_call *c)
{
	struct ints size = call_ints(c, 0), layout = call_ints(c, 1);
	int64_t stride[ATEN_DIMS] = {0}, step = 1;
	if (size.n != layout.n || size.n > ATEN_DIMS)
		aten_fail("Number of dimensions in size does not match the length of the physical_layout");
	for (uint32_t i = (uint32_t)layout.n; i-- > 0;) {
		if (layout.v[i] < 0 || layout.v[i] >= (int64_t)size.n || stride[layout.v[i]])
			aten_fail("the physical_layout is not a permutation of dims");
		stride[layout.v[i]] = step;
		step *= size.v[layout.v[i]] > 1 ? size.v[layout.v[i]] : 1;
	}
	call_give(c, 0, aten_fill(aten_new(call_dtype_or(c, 2, aten_default_dtype()), (int)size.n, size.v, stride), aten_number(0)));
}

static void run_one_hot(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	int64_t size[ATEN_DIMS], classes = call_int(c, 1), i = 0, most = -1;
	if (self->dtype != DTYPE_I64)
		aten_fail("one_hot is only applicable to index tensor of type LongTensor.");
	struct walk w = WALK(self);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int64_t v = elem_i64(DTYPE_I64, w.p[0]);
		if (v < 0)
			aten_fail("Class values must be non-negative.");
		most = v > most ? v : most;
	}
	if (classes == -1 && !aten_computes())
		aten_fail("the number of classes depends on values");
	classes = classes == -1 ? most + 1 : classes;
	if (most >= classes)
		aten_fail("Class values must be smaller than num_classes.");
	if (self->n_dim == ATEN_DIMS)
		aten_fail("indices with %d dimensions are not supported", ATEN_DIMS);
	memcpy(size, self->size, sizeof(size));
	size[self->n_dim] = classes;
	struct aten_tensor *out = aten_empty(size, self->n_dim + 1, DTYPE_I64);
	aten_fill(out, aten_number(0));
	for (bool more = walk_first(&w); more; more = walk_next(&w), i += classes)
		((int64_t *)aten_data(out))[i + elem_i64(DTYPE_I64, w.p[0])] = 1;
	call_give(c, 0, out);
}

const struct aten_entry aten_factory_entries[] = {
    {"_efficientzerotensor", run_sized, &zero},
    {"arange", run_arange},
    {"arange.start", run_arange_start},
    {"arange.start_step", run_arange_step},
    {"empty.memory_format", run_sized, &zero}, /* so that runs are reproducible */
    {"empty_like", run_like, &zero},
    {"empty_permuted", run_empty_permuted},
    {"empty_strided", run_empty_strided}, /* zeros, too */
    {"eye", run_eye},
    {"eye.m", run_eye},
    {"fft_fftfreq", run_fftfreq},
    {"fft_rfftfreq", run_fftfreq, &one},
    {"fill.Scalar", run_fill},
    {"fill.Tensor", run_fill},
    {"full", run_full},
    {"full_like", run_full_like},
    {"bartlett_window", run_window, &bartlett},
    {"bartlett_window.periodic", run_window, &bartlett_periodic},
    {"blackman_window", run_window, &blackman},
    {"blackman_window.periodic", run_window, &blackman_periodic},
    {"hamming_window", run_window, &hamming},
    {"hamming_window.periodic", run_window, &hamming_periodic},
    {"hamming_window.periodic_alpha", run_window, &hamming_periodic},
    {"hamming_window.periodic_alpha_beta", run_window, &hamming_periodic},
    {"kaiser_window", run_window, &kaiser},
    {"kaiser_window.periodic", run_window, &kaiser_periodic},
    {"kaiser_window.beta", run_window, &kaiser_periodic},
    {"tril_indices", run_triangle_indices},
    {"triu_indices", run_triangle_indices, &one},
    {"hann_window", run_hann_window, &one},
    {"hann_window.periodic", run_hann_window},
    {"linspace", run_linspace},
    {"logspace", run_logspace},
    {"new_empty", run_new_sized, &zero},
    {"new_full", run_new_full},
    {"new_ones", run_new_sized, &one},
    {"new_zeros", run_new_sized, &zero},
    {"one_hot", run_one_hot},
    {"ones", run_sized, &one},
    {"ones_like", run_like, &one},
    {"scalar_tensor", run_scalar_tensor},
    {"tril", run_triangle},
    {"triu", run_triangle, &one},
    {"zero", run_zero},
    {"zeros", run_sized, &zero},
    {"zeros_like", run_like, &zero},
    {0},
};
