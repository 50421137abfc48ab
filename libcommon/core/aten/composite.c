/* Operators that torch composes from others (CompositeImplicitAutograd; torch 2.13 and 2.15, aten/src/ATen/native), and second names of
 * operators (native_functions.yaml). torch.export leaves them in its graphs; an aot graph has their components. Losses: loss.c. */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

/* entry.data is the first name; its parameters are the same. */
static void run_synonym(struct aten_call *c) { call_give_all(c, aten_apply(c->entry->data, c->arg, c->n), c->schema->n_result); }

/* ---- shapes (TensorShape.cpp, TensorTransformations.cpp) ---- */

static void run_tile(struct aten_call *c)
{
	const struct aten_tensor *self = call_tensor(c, 0);
	int64_t times[ATEN_DIMS];
	struct ints given = call_ints(c, 1);
	int skip = self->n_dim > given.n ? self->n_dim - (int)given.n : 0;
	if (given.n + skip > ATEN_DIMS)
		aten_fail("too many dimensions: %lld", (long long)given.n);
	for (int i = 0; i < given.n + skip; i++)
		times[i] = i < skip ? 1 : given.v[i - skip];
	call_give_all(c, APPLY("repeat", GIVEN(c, 0), aten_ints(times, given.n + skip)), 1);
}

static void run_broadcast_tensors(struct aten_call *c)
{
	int64_t size[ATEN_DIMS];
	struct tensors t = call_tensors(c, 0);
	struct aten_tensor *all = t.n ? t.v[0] : NULL;
	for (int64_t i = 1; i < t.n; i++)
		all = aten_expand(all, size, aten_broadcast(all, t.v[i], size));
	for (int64_t i = 0; i < t.n; i++)
		t.v[i] = aten_expand(t.v[i], all->size, all->n_dim);
	call_give_list(c, 0, t);
}

static void run_meshgrid(struct aten_call *c) /* tensors, indexing */
{
	int64_t size[ATEN_DIMS], one[ATEN_DIMS];
	struct tensors list = call_tensors(c, 0);
	struct aten_tensor **t = list.v;
	const int64_t n = list.n;
	const char *indexing = c->n > 1 ? call_string_or(c, 1, "ij") : "ij";
	bool swap = !strcmp(indexing, "xy") && n >= 2;
	if (!n || n > ATEN_DIMS || (!swap && strcmp(indexing, "ij") != 0 && strcmp(indexing, "xy") != 0))
		aten_fail("got %lld tensors with indexing '%s'", (long long)n, indexing);
	for (int64_t i = 0; i < n; i++) {
		if (t[i]->n_dim > 1 || t[i]->dtype != t[0]->dtype)
			aten_fail("Expected scalars or 1D tensors of one dtype");
		size[i] = aten_numel(t[i]);
		one[i] = 1;
	}
	for (int64_t i = 0; i < n; i++) {
		one[i] = size[i];
		t[i] = aten_expand(aten_reshape(t[i], one, n), size, n);
		one[i] = 1;
	}
	for (int64_t i = 0; swap && i < n; i++)
		t[i] = aten_transpose(t[i], 0, 1);
	call_give_list(c, 0, list);
}

static struct aten_tensor *at_least(struct aten_tensor *t, int n)
{
	if (!t->n_dim && n)
		t = aten_unsqueeze(t, 0);
	if (t->n_dim == 1 && n > 1)
		t = aten_unsqueeze(t, 0);
	return t->n_dim == 2 && n > 2 ? aten_unsqueeze(t, -1) : t;
}

static void run_atleast_one(struct aten_call *c) { call_give(c, 0, at_least(call_tensor(c, 0), *(const int *)c->entry->data)); }

static void run_atleast(struct aten_call *c) /* entry.data: of how many dims */
{
	struct tensors t = call_tensors(c, 0);
	for (int64_t i = 0; i < t.n; i++)
		t.v[i] = at_least(t.v[i], *(const int *)c->entry->data);
	call_give_list(c, 0, t);
}

static struct tensors some_tensors(const struct aten_call *c)
{
	struct tensors t = call_tensors(c, 0);
	if (!t.n)
		aten_fail("expected a non-empty list of tensors");
	return t;
}

/* hstack, vstack, dstack: how many dims they must have, and along which they are joined. */
struct stacking {
	int dims, dim;
};
static const struct stacking hstack = {1, 1}, vstack = {2, 0}, dstack = {3, 2};

static void run_stack_dims(struct aten_call *c)
{
	const struct stacking *how = c->entry->data;
	struct tensors t = some_tensors(c);
	for (int64_t i = 0; i < t.n; i++)
		t.v[i] = at_least(t.v[i], how->dims);
	call_give(c, 0, aten_cat(t, t.v[0]->n_dim == 1 ? 0 : how->dim));
}

static void run_column_stack(struct aten_call *c)
{
	struct tensors t = some_tensors(c);
	for (int64_t i = 0; i < t.n; i++)
		t.v[i] = t.v[i]->n_dim < 2 ? aten_reshape(t.v[i], (int64_t[]){aten_numel(t.v[i]), 1}, 2) : t.v[i];
	call_give(c, 0, aten_cat(t, t.v[0]->n_dim == 1 ? 0 : 1));
}

static void run_numpy_T(struct aten_call *c)
{
	const struct aten_tensor *self = call_tensor(c, 0);
	int64_t reversed[ATEN_DIMS];
	for (int d = 0; d < self->n_dim; d++)
		reversed[d] = self->n_dim - 1 - d;
	call_give(c, 0, aten_permute(self, reversed, self->n_dim));
}

/* mH, matrix_H, adjoint: transposed and conjugated. */
static void run_adjoint(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	if (self->n_dim < 2)
		aten_fail("only supported on matrices or batches of matrices. Got %d-D tensor.", self->n_dim);
	struct aten_tensor *turned = aten_transpose(self, -2, -1);
	call_give(c, 0, aten_is_complex(self->dtype) ? aten_conj(turned) : turned);
}

static void run_ravel(struct aten_call *c)
{
	const int64_t all = -1;
	call_give(c, 0, aten_reshape(APPLIED("contiguous", GIVEN(c, 0)), &all, 1));
}

/* The parts of a dim between these positions. */
static void give_between(const struct aten_call *c, int64_t dim, struct ints at)
{
	const struct aten_tensor *self = call_tensor(c, 0);
	struct aten_tensor **part = aten_scratch((uint64_t)at.n + 1, sizeof(*part));
	for (int64_t i = 0; i <= at.n; i++)
		part[i] = aten_slice(self, dim, i ? &at.v[i - 1] : NULL, i < at.n ? &at.v[i] : NULL, 1);
	call_give_list(c, 0, (struct tensors){part, at.n + 1});
}

/* In n parts, the first ones longer by one if it does not divide evenly. */
static void give_sections(const struct aten_call *c, int64_t dim, int64_t n)
{
	const struct aten_tensor *self = call_tensor(c, 0);
	int64_t size = line_size(self, aten_dim(self, dim));
	if (n < 1 || !self->n_dim)
		aten_fail("number of sections must be larger than 0, got %lld", (long long)n);
	int64_t *at = aten_scratch((uint64_t)n, sizeof(*at));
	for (int64_t i = 1; i < n; i++)
		at[i - 1] = i * (size / n) + (i < size % n ? i : size % n);
	give_between(c, dim, (struct ints){at, n - 1});
}

static void run_tensor_split(struct aten_call *c) /* self, sections or indices, dim */
{
	if (c->arg[1].kind == ATEN_LIST)
		give_between(c, call_int(c, 2), call_ints(c, 1));
	else
		give_sections(c, call_int(c, 2), call_int(c, 1));
}

/* hsplit, vsplit, dsplit: entry.data is the dim; a line is split along its only one by hsplit. */
static void run_split_dim(struct aten_call *c)
{
	const struct aten_tensor *self = call_tensor(c, 0);
	int dim = *(const int *)c->entry->data, least = dim == 1 ? 1 : dim + 1 + (dim == 0);
	if (self->n_dim < least)
		aten_fail("requires a tensor with at least %d dimensions, but got a tensor with %d dimensions!", least, self->n_dim);
	dim = self->n_dim == 1 ? 0 : dim;
	if (c->arg[1].kind == ATEN_LIST) {
		give_between(c, dim, call_ints(c, 1));
		return;
	}
	if (call_int(c, 1) < 1 || self->size[dim] % call_int(c, 1))
		aten_fail("dimension %d, of size %lld, is not divisible by %lld", dim, (long long)self->size[dim],
			  (long long)call_int(c, 1));
	give_sections(c, dim, call_int(c, 1));
}

static void run_cartesian_prod(struct aten_call *c)
{
	int64_t flat = -1;
	struct tensors t = some_tensors(c);
	if (t.n == 1) {
		call_give(c, 0, t.v[0]);
		return;
	}
	const struct aten_value *grid = APPLY("meshgrid", GIVEN(c, 0));
	for (int64_t i = 0; i < t.n; i++)
		t.v[i] = aten_unsqueeze(aten_reshape(grid->item[i].tensor, &flat, 1), 1);
	call_give(c, 0, aten_cat(t, 1));
}

static void run_flip_dim(struct aten_call *c)
{
	const struct aten_tensor *self = call_tensor(c, 0);
	int64_t dim = *(const int *)c->entry->data;
	if (self->n_dim <= dim)
		aten_fail("Input must be >= %lld-d.", (long long)dim + 1);
	call_give_all(c, APPLY("flip", GIVEN(c, 0), aten_ints(&dim, 1)), 1);
}

/* where(condition), nonzero_numpy: a column for each dim. */
static void run_nonzero_columns(struct aten_call *c)
{
	const struct aten_tensor *self = at_least(call_tensor(c, 0), 1);
	struct aten_tensor *found = aten_nonzero((struct aten_tensor *)self), *column[ATEN_DIMS];
	for (int d = 0; d < self->n_dim; d++)
		column[d] = aten_select(found, 1, d);
	call_give_list(c, 0, (struct tensors){column, self->n_dim});
}

static struct aten_tensor *diag_embed(struct aten_tensor *self, int64_t offset, int64_t dim1, int64_t dim2)
{
	int n_dim = self->n_dim + 1, last = self->n_dim - 1;
	int d1 = (int)(dim1 < 0 ? dim1 + n_dim : dim1), d2 = (int)(dim2 < 0 ? dim2 + n_dim : dim2);
	if (!self->n_dim || d1 < 0 || d2 < 0 || d1 >= n_dim || d2 >= n_dim || d1 == d2)
		aten_fail("invalid diagonal dimensions %d and %d of a %dD tensor", d1, d2, n_dim);
	int64_t size[ATEN_DIMS], each;
	if (offset == INT64_MIN || __builtin_add_overflow(self->size[last], offset < 0 ? -offset : offset, &each))
		aten_fail("invalid offset %lld", (long long)offset);
	for (int d = 0, from = 0; d < n_dim; d++)
		size[d] = d == d1 || d == d2 ? each : self->size[from++];
	struct aten_tensor *out = aten_new(self->dtype, n_dim, size, NULL);
	aten_fill_zero(out);
	aten_copy(aten_diagonal(out, offset, d1, d2), self);
	return out;
}

static void run_diag_embed(struct aten_call *c) /* self, offset, dim1, dim2 */
{
	call_give(c, 0, diag_embed(call_tensor(c, 0), call_int(c, 1), call_int(c, 2), call_int(c, 3)));
}

static void run_diag(struct aten_call *c) /* self, diagonal */
{
	const struct aten_tensor *self = call_tensor(c, 0);
	if (self->n_dim == 1)
		call_give(c, 0, diag_embed(call_tensor(c, 0), call_int(c, 1), 0, 1));
	else if (self->n_dim == 2)
		call_give(c, 0, aten_clone_contiguous(aten_diagonal(self, call_int(c, 1), 0, 1)));
	else
		aten_fail("diag(): Supports 1D or 2D tensors. Got %dD", self->n_dim);
}

static void run_diagflat(struct aten_call *c) /* self, offset */
{
	struct aten_tensor *self = call_tensor(c, 0);
	int64_t n = aten_numel(self);
	call_give(c, 0, diag_embed(aten_reshape(self, &n, 1), call_int(c, 1), 0, 1));
}

/* Indices from the end count from there. */
static struct aten_value from_start(struct aten_tensor *index, int64_t n)
{
	struct aten_tensor *negative = APPLIED("lt.Scalar", aten_of(index), aten_int(0));
	return aten_of(aten_where(negative, APPLIED("add.Scalar", aten_of(index), aten_int(n)), index));
}

static void run_take_along_dim(struct aten_call *c) /* self, indices, dim */
{
	struct aten_tensor *t[2] = {call_tensor(c, 0), call_tensor(c, 1)};
	int64_t all[2] = {aten_numel(t[0]), aten_numel(t[1])}, size[2][ATEN_DIMS];
	if (call_is_none(c, 2)) {
		call_give_all(c,
			      APPLY("gather", aten_of(aten_reshape(t[0], &all[0], 1)), aten_int(0),
				    from_start(aten_reshape(t[1], &all[1], 1), all[0])),
			      1);
		return;
	}
	if (t[0]->n_dim != t[1]->n_dim)
		aten_fail("input and indices should have the same number of dimensions, but got %d dimensions for input, and %d dimensions "
			  "for indices",
			  t[0]->n_dim, t[1]->n_dim);
	int dim = aten_dim(t[0], call_int(c, 2)), n_dim = t[0]->n_dim;
	for (int k = 0; k < 2; k++) { /* broadcast, but along dim */
		memcpy(size[k], t[k]->size, sizeof(*size[k]) * (size_t)n_dim);
		for (int d = 0; d < n_dim; d++)
			if (d != dim && size[k][d] == 1)
				size[k][d] = t[1 - k]->size[d];
	}
	call_give_all(c,
		      APPLY("gather", aten_of(aten_expand(t[0], size[0], n_dim)), aten_int(dim),
			    from_start(aten_expand(t[1], size[1], n_dim), line_size(t[0], dim))),
		      1);
}

/* ---- reductions and products (ReduceOps.cpp, Linear.cpp, LinearAlgebra.cpp, Distance.cpp) ---- */

static void run_nanmean(struct aten_call *c) /* self, dim, keepdim, dtype */
{
	struct aten_tensor *nan = aten_isnan(call_tensor(c, 0));
	struct aten_tensor *sum = APPLIED("nansum", GIVEN(c, 0), GIVEN(c, 1), GIVEN(c, 2), GIVEN(c, 3));
	struct aten_tensor *n = APPLIED("sum.dim_IntList", aten_of(APPLIED("logical_not", aten_of(nan))), GIVEN(c, 1), GIVEN(c, 2));
	call_give_all(c, APPLY("div.Tensor", aten_of(sum), aten_of(n)), 1);
}

static void run_inner(struct aten_call *c)
{
	struct aten_tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
	if (!a->n_dim || !b->n_dim) {
		call_give(c, 0, aten_mul(a, b));
		return;
	}
	if (a->size[a->n_dim - 1] != b->size[b->n_dim - 1])
		aten_fail("inner() the last dimension must match on both input tensors");
	const int64_t last = -1;
	call_give_all(c, APPLY("tensordot", aten_of(a), aten_of(b), aten_ints(&last, 1), aten_ints(&last, 1)), 1);
}

static void run_kron(struct aten_call *c)
{
	struct aten_tensor *t[2] = {call_tensor(c, 0), call_tensor(c, 1)};
	int n = t[0]->n_dim > t[1]->n_dim ? t[0]->n_dim : t[1]->n_dim;
	int64_t size[2][2 * ATEN_DIMS], out[ATEN_DIMS];
	if (2 * n > ATEN_DIMS)
		aten_fail("%d dimensions", n);
	for (int d = 0; d < n; d++) {
		int64_t s[2];
		for (int k = 0; k < 2; k++) {
			int at = d - (n - t[k]->n_dim);
			s[k] = at < 0 ? 1 : t[k]->size[at];
			size[k][2 * d + k] = s[k];
			size[k][2 * d + 1 - k] = 1;
		}
		out[d] = size_times(s[0], s[1]);
	}
	call_give(c, 0, aten_reshape(aten_mul(aten_reshape(t[0], size[0], 2 * n), aten_reshape(t[1], size[1], 2 * n)), out, n));
}

static void run_cosine_similarity(struct aten_call *c) /* x1, x2, dim, eps */
{
	struct aten_tensor *x[2] = {call_tensor(c, 0), call_tensor(c, 1)};
	int64_t size[ATEN_DIMS], dim = call_int(c, 2);
	int dtype = aten_promote(x[0]->dtype, x[1]->dtype), n_dim = aten_broadcast(x[0], x[1], size);
	if (!aten_is_float(dtype))
		aten_fail("expected common dtype to be floating point, yet common dtype is %s", dtype_name(dtype));
	for (int k = 0; k < 2; k++) { /* each divided by its norm, at least eps */
		x[k] = aten_expand(x[k]->dtype == dtype ? x[k] : aten_to_copy(x[k], dtype, ATEN_PRESERVE), size, n_dim);
		struct aten_tensor *norm = APPLIED("linalg_vector_norm", aten_of(x[k]), aten_int(2), aten_ints(&dim, 1), aten_bool(true));
		x[k] = APPLIED("div.Tensor", aten_of(x[k]), aten_of(APPLIED("clamp_min", aten_of(norm), GIVEN(c, 3))));
	}
	call_give_all(c, APPLY("sum.dim_IntList", aten_of(aten_mul(x[0], x[1])), aten_ints(&dim, 1)), 1);
}

static void run_pairwise_distance(struct aten_call *c) /* x1, x2, p, eps, keepdim */
{
	struct aten_tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
	const int64_t last = (a->n_dim > b->n_dim ? a->n_dim : b->n_dim) - 1;
	struct aten_tensor *off = aten_add(aten_sub(a, b, 1), aten_number(call_float(c, 3)), 1);
	call_give_all(c, APPLY("norm.ScalarOpt_dim", aten_of(off), GIVEN(c, 2), aten_ints(&last, 1), GIVEN(c, 4)), 1);
}

static void run_isclose(struct aten_call *c) /* self, other, rtol, atol, equal_nan */
{
	struct aten_tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
	if (a->dtype != b->dtype)
		aten_fail("%s did not match %s", dtype_name(a->dtype), dtype_name(b->dtype));
	struct aten_tensor *close = APPLIED("eq.Tensor", aten_of(a), aten_of(b));
	if (call_bool(c, 4) && !elem_integral(a->dtype))
		close = APPLIED("logical_or", aten_of(close),
				aten_of(APPLIED("bitwise_and.Tensor", aten_of(aten_isnan(a)), aten_of(aten_isnan(b)))));
	if (call_float(c, 2) == 0 && call_float(c, 3) == 0) {
		call_give(c, 0, close);
		return;
	}
	if (elem_integral(b->dtype)) {
		a = aten_to_copy(a, aten_default_dtype(), ATEN_PRESERVE);
		b = aten_to_copy(b, aten_default_dtype(), ATEN_PRESERVE);
	}
	struct aten_tensor *most = aten_add(aten_number(call_float(c, 3)), aten_abs(aten_mul(aten_number(call_float(c, 2)), b)), 1);
	struct aten_tensor *error = aten_abs(aten_sub(a, b, 1)), *finite = APPLIED("isfinite", aten_of(error));
	struct aten_tensor *within =
	    APPLIED("bitwise_and.Tensor", aten_of(finite), aten_of(APPLIED("le.Tensor", aten_of(error), aten_of(most))));
	call_give_all(c, APPLY("logical_or", aten_of(close), aten_of(within)), 1);
}

/* WeightNorm.cpp: the norm over all dims but one. */
static struct aten_tensor *norm_except(struct aten_tensor *v, struct aten_value power, int64_t dim)
{
	if (dim == -1)
		return APPLIED("norm.Scalar", aten_of(v), power);
	int d = aten_dim(v, dim);
	int64_t others[ATEN_DIMS], n = 0;
	for (int i = 0; i < v->n_dim; i++)
		if (i != d)
			others[n++] = i;
	return n ? APPLIED("norm.ScalarOpt_dim", aten_of(v), power, aten_ints(others, n), aten_bool(true)) : aten_abs(v);
}

static void run_norm_except_dim(struct aten_call *c) { call_give(c, 0, norm_except(call_tensor(c, 0), GIVEN(c, 1), call_int(c, 2))); }

static void run_weight_norm(struct aten_call *c) /* v, g, dim */
{
	struct aten_tensor *v = call_tensor(c, 0);
	struct aten_tensor *norm = norm_except(v, aten_int(2), call_int(c, 2));
	call_give(c, 0, aten_mul(v, APPLIED("div.Tensor", GIVEN(c, 1), aten_of(norm))));
}

/* Each of two operands in double, or complex128 (float_power). */
static void run_float_power(struct aten_call *c)
{
	struct aten_tensor *t[2] = {call_operand(c, 0), call_operand(c, 1)};
	int dtype = aten_is_complex(t[0]->dtype) || aten_is_complex(t[1]->dtype) ? DTYPE_C128 : DTYPE_F64;
	for (int k = 0; k < 2; k++)
		t[k] = t[k]->dtype == dtype ? t[k] : aten_to_copy(t[k], dtype, ATEN_PRESERVE);
	call_give(c, 0, aten_pow(t[0], t[1]));
}

static void run_rrelu(struct aten_call *c) /* self, lower, upper, training: between them */
{
	if (call_bool(c, 3))
		aten_fail("random slopes (training) are not supported");
	call_give_all(c, APPLY("leaky_relu", GIVEN(c, 0), aten_float((call_float(c, 1) + call_float(c, 2)) / 2)), 1);
}

static void run_ndtr(struct aten_call *c)
{
	struct aten_tensor *x = call_tensor(c, 0);
	if (elem_integral(x->dtype))
		x = aten_to_copy(x, aten_default_dtype(), ATEN_PRESERVE);
	struct aten_tensor *tail = APPLIED("erfc", aten_of(aten_mul(x, aten_number(-M_SQRT1_2))));
	call_give(c, 0, aten_mul(tail, aten_number(0.5)));
}

/* ---- quantiles (Sorting.cpp, quantile_compute): between the two elements of a sorted line that are closest to the rank ---- */

static double quantile_of(const char *line, int64_t n, int dtype, double q, const char *how, bool ignore_nan)
{
	int64_t numbers = n;
	int bytes = elem_bytes(dtype);
	if (!(q >= 0 && q <= 1))
		aten_fail("quantile() q values must be in the range [0, 1]");
	while (numbers && elem_nan(dtype, line + (numbers - 1) * bytes)) /* NaN is the largest */
		numbers--;
	if (!numbers || (!ignore_nan && numbers < n))
		return NAN;
	double rank = dtype == DTYPE_F32 ? (double)((float)q * (float)(numbers - 1)) : q * (double)(numbers - 1);
	if (!strcmp(how, "nearest"))
		rank = nearbyint(rank);
	double below = floor(rank), above = ceil(rank), weight = !strcmp(how, "midpoint") ? 0.5 : rank - below;
	double a = elem_f64(dtype, line + (int64_t)below * bytes), b = elem_f64(dtype, line + (int64_t)above * bytes);
	if (!strcmp(how, "lower") || a == b)
		return a;
	if (!strcmp(how, "higher"))
		return b;
	return weight < 0.5 ? a + weight * (b - a) : b - (b - a) * (1 - weight);
}

static void run_quantile(struct aten_call *c) /* self, q, dim, keepdim, interpolation; entry.data: ignore NaN */
{
	struct aten_tensor *self = call_tensor(c, 0), *q = call_operand(c, 1);
	const char *how = call_string_or(c, 4, "linear");
	bool flat = call_is_none(c, 2), keepdim = call_bool(c, 3), ignore_nan = c->entry->data != NULL;
	int64_t all = aten_numel(self), size[ATEN_DIMS];
	if (self->dtype != DTYPE_F32 && self->dtype != DTYPE_F64)
		aten_fail("quantile() input tensor must be either float or double dtype");
	if ((q->dtype != self->dtype && !q->wrapped) || q->n_dim > 1)
		aten_fail("quantile() q tensor must be same dtype as the input tensor");
	int dim = flat ? 0 : aten_dim(self, call_int(c, 2));
	struct aten_tensor *x = aten_transpose(aten_unsqueeze(flat ? aten_reshape(self, &all, 1) : self, -1), self->n_dim ? dim : 0, -1);
	x = aten_clone_contiguous(APPLIED("sort", aten_of(x)));
	int last = x->n_dim - 1;
	int64_t n = x->size[last], n_q = aten_numel(q);
	if (!all)
		aten_fail("quantile() input tensor must be non-empty");
	memcpy(size, x->size, sizeof(*size) * (size_t)last);
	size[last] = n_q;
	struct aten_tensor *out = aten_new(x->dtype, x->n_dim, size, NULL);
	const struct aten_tensor *each = aten_clone_contiguous(q);
	int bytes = elem_bytes(x->dtype);
	for (int64_t i = 0; aten_computes() && i < aten_numel(out); i++)
		elem_set_f64(out->dtype, (char *)aten_data(out) + i * bytes,
			     quantile_of((const char *)aten_data(x) + i / n_q * n * bytes, n, x->dtype,
					 elem_f64(q->dtype, (const char *)aten_data(each) + i % n_q * elem_bytes(q->dtype)), how,
					 ignore_nan));
	/* The line's dim, now of size 1, is kept or dropped; the quantiles' dim moves to the front. */
	for (int d = 1; flat && keepdim && d < self->n_dim; d++)
		out = aten_unsqueeze(out, 0);
	if (!keepdim || !self->n_dim)
		out = aten_squeeze_dim(out, dim);
	call_give(c, 0, q->n_dim ? aten_movedim(out, -1, 0) : aten_squeeze_dim(out, -1));
}

static const int one_dim = 1, two_dims = 2, three_dims = 3, dim_0 = 0, dim_1 = 1, dim_2 = 2;
static const bool without_nan = true;

#define SYNONYMS(name, first) \
	{name ".Scalar", run_synonym, first ".Scalar"}, { name ".Tensor", run_synonym, first ".Tensor" }
const struct aten_entry aten_composite_entries[] = {
    {"_weight_norm", run_weight_norm},
    {"absolute", run_synonym, "abs"},
    {"adjoint", run_adjoint},
    {"arccos", run_synonym, "acos"},
    {"arccosh", run_synonym, "acosh"},
    {"arcsin", run_synonym, "asin"},
    {"arcsinh", run_synonym, "asinh"},
    {"arctan", run_synonym, "atan"},
    {"arctan2", run_synonym, "atan2"},
    {"arctanh", run_synonym, "atanh"},
    {"argwhere", run_synonym, "nonzero"},
    {"atleast_1d", run_atleast_one, &one_dim},
    {"atleast_1d.Sequence", run_atleast, &one_dim},
    {"atleast_2d", run_atleast_one, &two_dims},
    {"atleast_2d.Sequence", run_atleast, &two_dims},
    {"atleast_3d", run_atleast_one, &three_dims},
    {"atleast_3d.Sequence", run_atleast, &three_dims},
    {"broadcast_tensors", run_broadcast_tensors},
    {"cartesian_prod", run_cartesian_prod},
    {"column_stack", run_column_stack},
    {"concat", run_synonym, "cat"},
    {"concatenate", run_synonym, "cat"},
    {"cosine_similarity", run_cosine_similarity},
    {"diag", run_diag},
    {"diag_embed", run_diag_embed},
    {"diagflat", run_diagflat},
    {"dsplit.array", run_split_dim, &dim_2},
    {"dsplit.int", run_split_dim, &dim_2},
    {"dstack", run_stack_dims, &dstack},
    {"fix", run_synonym, "trunc"},
    {"fliplr", run_flip_dim, &dim_1},
    {"flipud", run_flip_dim, &dim_0},
    {"float_power.Scalar", run_float_power},
    {"float_power.Tensor_Scalar", run_float_power},
    {"float_power.Tensor_Tensor", run_float_power},
    {"ger", run_synonym, "outer"},
    SYNONYMS("greater", "gt"),
    SYNONYMS("greater_equal", "ge"),
    {"hsplit.array", run_split_dim, &dim_1},
    {"hsplit.int", run_split_dim, &dim_1},
    {"hstack", run_stack_dims, &hstack},
    {"inner", run_inner},
    {"isclose", run_isclose},
    {"kron", run_kron},
    SYNONYMS("less", "lt"),
    SYNONYMS("less_equal", "le"),
    {"linalg_matmul", run_synonym, "matmul"},
    {"mH", run_adjoint},
    {"matrix_H", run_adjoint},
    {"matrix_power", run_synonym, "linalg_matrix_power"},
    {"meshgrid", run_meshgrid},
    {"meshgrid.indexing", run_meshgrid},
    {"nanmean", run_nanmean},
    {"nanquantile", run_quantile, &without_nan},
    {"nanquantile.scalar", run_quantile, &without_nan},
    {"negative", run_synonym, "neg"},
    {"nonzero_numpy", run_nonzero_columns},
    {"norm_except_dim", run_norm_except_dim},
    SYNONYMS("not_equal", "ne"),
    {"numpy_T", run_numpy_T},
    {"orgqr", run_synonym, "linalg_householder_product"},
    {"pairwise_distance", run_pairwise_distance},
    {"quantile", run_quantile},
    {"quantile.scalar", run_quantile},
    {"ravel", run_ravel},
    {"row_stack", run_stack_dims, &vstack},
    {"rrelu", run_rrelu},
    {"special_digamma", run_synonym, "digamma"},
    {"special_erfc", run_synonym, "erfc"},
    {"special_erfinv", run_synonym, "erfinv"},
    {"special_i0", run_synonym, "i0"},
    {"special_log1p", run_synonym, "log1p"},
    {"special_logit", run_synonym, "logit"},
    {"special_logsumexp", run_synonym, "logsumexp"},
    {"special_ndtr", run_ndtr},
    {"special_psi", run_synonym, "digamma"},
    {"special_round", run_synonym, "round.decimals"},
    {"special_sinc", run_synonym, "sinc"},
    {"special_xlogy.other_scalar", run_synonym, "xlogy.Scalar_Other"},
    {"special_xlogy.self_scalar", run_synonym, "xlogy.Scalar_Self"},
    {"take_along_dim", run_take_along_dim},
    {"tensor_split.indices", run_tensor_split},
    {"tensor_split.sections", run_tensor_split},
    {"tile", run_tile},
    {"vsplit.array", run_split_dim, &dim_0},
    {"vsplit.int", run_split_dim, &dim_0},
    {"vstack", run_stack_dims, &vstack},
    {"where", run_nonzero_columns},
    {0},
};
