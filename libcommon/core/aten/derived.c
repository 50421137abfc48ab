/* Operators that torch composes of others, or that are short loops (torch 2.13 and 2.15, aten/src/ATen/native: ReduceOps.cpp,
 * TensorAdvancedIndexing.cpp, TensorShape.cpp, TensorTransformations.cpp, Normalization.cpp (renorm), Correlation.cpp, Integration.cpp,
 * Dropout.cpp, Linear.cpp, LinearAlgebra.cpp, PackedSequence.cpp, SpectralOps.cpp, UnaryOps.cpp). */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

static struct aten_value T(struct aten_tensor *t) {
	return aten_of(t);
} static struct aten_value whole(int64_t i) { return aten_int(i); }
static struct aten_tensor *over(struct aten_tensor *a, struct aten_tensor *b) { return APPLIED("div.Tensor", T(a), T(b)); }
static struct aten_tensor *sum_over(struct aten_tensor *t, int64_t dim) { return APPLIED("sum.dim_IntList", T(t), aten_ints(&dim, 1)); }
static struct aten_tensor *flat(struct aten_tensor *t) { return aten_reshape(t, (const int64_t[]){-1}, 1); }

/* entry.data: the operator with the same arguments that computes it */
static void run_same_as(struct aten_call *c) { call_give_all(c, aten_apply(c->entry->data, c->arg, c->n), c->schema->n_result); }

/* The one number of a tensor; a number. */
static double number_at(const struct aten_call *c, uint32_t i)
{
	if (GIVEN(c, i).kind != ATEN_TENSOR)
		return call_float(c, i);
	struct aten_tensor *t = call_tensor(c, i);
	if (aten_numel(t) != 1)
		aten_fail("expected a tensor of one element, but got %lld", (long long)aten_numel(t));
	if (!aten_computes())
		aten_needs_values();
	return elem_f64(t->dtype, aten_data(t));
}

/* ---- reductions ---- */

static void run_trace(struct aten_call *c)
{
	struct aten_tensor *t = call_tensor(c, 0);
	if (t->n_dim != 2)
		aten_fail("trace: expected a matrix, but got tensor with dim %d", t->n_dim);
	call_give(c, 0, APPLIED("sum", T(aten_diagonal(t, 0, 0, 1))));
}

static void run_renorm(struct aten_call *c) /* self, p, dim, maxnorm */
{
	struct aten_tensor *self = call_tensor(c, 0);
	const int dim = aten_dim(self, call_int(c, 2));
	int64_t others[ATEN_DIMS], n = 0;
	if (call_float(c, 1) <= 0)
		aten_fail("renorm: non-positive-norm not supported");
	if (self->n_dim < 2)
		aten_fail("renorm: input needs at least 2 dimensions, got %d dimensions", self->n_dim);
	for (int d = 0; d < self->n_dim; d++)
		if (d != dim)
			others[n++] = d;
	const bool half = self->dtype == DTYPE_F16 || self->dtype == DTYPE_BF16;
	struct aten_value norm = T(APPLIED("linalg_vector_norm", T(self), GIVEN(c, 1), aten_ints(others, n), aten_bool(true),
					   half ? aten_dtype(DTYPE_F32) : ATEN_NOTHING));
	struct aten_tensor *factor = over(aten_number(call_float(c, 3)), aten_add(norm.tensor, aten_number(1e-7), 1));
	factor = aten_where(APPLIED("gt.Scalar", norm, GIVEN(c, 3)), factor, aten_number(1));
	factor = half ? aten_to_copy(factor, self->dtype, ATEN_PRESERVE) : factor;
	call_give(c, 0, aten_contiguous(aten_mul(self, factor)));
}

static void run_dist(struct aten_call *c) /* self, other, p */
{
	call_give(c, 0, APPLIED("norm.Scalar", T(aten_sub(call_tensor(c, 0), call_tensor(c, 1), 1)), GIVEN(c, 2)));
}

static void give_bool(const struct aten_call *c, bool b) { c->ret[0] = aten_bool(b); }

static void run_equal(struct aten_call *c)
{
	struct aten_tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
	if (!aten_computes())
		aten_needs_values();
	give_bool(c, aten_same_sizes(a, b) &&
			 (!aten_numel(a) || elem_true(DTYPE_BOOL, aten_data(APPLIED("all", T(APPLIED("eq.Tensor", T(a), T(b))))))));
}

static void run_allclose(struct aten_call *c) /* self, other, rtol, atol, equal_nan */
{
	if (!aten_computes())
		aten_needs_values();
	give_bool(c, elem_true(DTYPE_BOOL, aten_data(APPLIED("all", T(aten_apply("isclose", c->arg, c->n)[0].tensor)))));
}

/* self, other, assume_unique, invert: of tensors or one number */
static void run_isin(struct aten_call *c)
{
	struct aten_tensor *x = call_operand(c, 0), *set = flat(call_operand(c, 1));
	struct aten_tensor *found = APPLIED("any.dim", T(APPLIED("eq.Tensor", T(aten_unsqueeze(x, -1)), T(set))), whole(-1));
	call_give(c, 0, call_bool(c, 3) ? APPLIED("logical_not", T(found)) : found);
}

static struct aten_tensor *cov(struct aten_tensor *x, double correction, struct aten_tensor *times, struct aten_tensor *weights)
{
	if (x->n_dim > 2)
		aten_fail("cov(): expected input to have two or fewer dimensions but got an input with %d dimensions", x->n_dim);
	x = x->n_dim < 2 ? aten_reshape(x, (const int64_t[]){1, -1}, 2) : x;
	if (elem_integral(x->dtype))
		x = aten_to_copy(x, aten_default_dtype(), ATEN_PRESERVE);
	struct aten_tensor *w = times && weights ? aten_mul(times, weights) : times ? times : weights, *total, *mean, *room;
	if (w) {
		total = APPLIED("sum", T(w));
		mean = over(sum_over(aten_mul(x, w), 1), total);
	} else {
		total = aten_number((double)x->size[1]);
		mean = over(sum_over(x, 1), total);
	}
	if (weights && correction != 0)
		room = aten_sub(total, over(aten_mul(aten_number(correction), APPLIED("sum", T(aten_mul(w, weights)))), total), 1);
	else
		room = aten_sub(total, aten_number(correction), 1);
	room = APPLIED("clamp_min", T(room), whole(0));
	x = aten_sub(x, aten_unsqueeze(mean, 1), 1);
	struct aten_tensor *other = aten_transpose(w ? aten_mul(x, w) : x, 0, 1);
	other = elem_complex(other->dtype) ? aten_conj(other) : other;
	struct aten_tensor *r = over(APPLIED("mm", T(x), T(aten_to_copy(other, x->dtype, ATEN_PRESERVE))), room);
	return APPLIED("squeeze", T(r));
}

static void run_cov(struct aten_call *c) /* self, correction, fweights, aweights */
{
	call_give(c, 0, cov(call_tensor(c, 0), (double)call_int(c, 1), call_tensor_or_none(c, 2), call_tensor_or_none(c, 3)));
}

static void run_corrcoef(struct aten_call *c)
{
	struct aten_tensor *r = cov(call_tensor(c, 0), 1, NULL, NULL);
	if (!r->n_dim) {
		call_give(c, 0, over(r, r));
		return;
	}
	struct aten_tensor *d = aten_diagonal(r, 0, 0, 1), *std;
	std = APPLIED("sqrt", T(elem_complex(d->dtype) ? aten_select(aten_view_as_real(d), -1, 0) : d));
	r = over(over(r, aten_unsqueeze(std, 1)), aten_unsqueeze(std, 0));
	call_give(c, 0, elem_complex(r->dtype) ? r : APPLIED("clamp", T(r), whole(-1), whole(1)));
}

/* y, x or dx, dim */
static void run_trapezoid(struct aten_call *c) /* entry.data: the running sum */
{
	struct aten_tensor *y = call_tensor(c, 0), *step = NULL, *sum;
	const bool given = GIVEN(c, 1).kind == ATEN_TENSOR, cumulative = c->entry->data != NULL;
	const int dim = aten_dim(y, call_int(c, 2));
	if (y->size[dim] == 0) {
		call_give(c, 0, cumulative ? y : sum_over(y, dim));
		return;
	}
	if (given) {
		struct aten_tensor *x = call_tensor(c, 1);
		for (int d = x->n_dim == 1 ? dim + 1 : y->n_dim; d < y->n_dim; d++)
			x = aten_unsqueeze(x, -1);
		const int at = x->n_dim - (y->n_dim - dim);
		if (at < 0)
			aten_fail("trapezoid: x has too few dimensions");
		step = aten_sub(aten_narrow(x, at, 1, x->size[at] - 1), aten_narrow(x, at, 0, x->size[at] - 1), 1);
	}
	sum = aten_add(aten_narrow(y, dim, 0, y->size[dim] - 1), aten_narrow(y, dim, 1, y->size[dim] - 1), 1);
	sum = step ? aten_mul(step, sum) : sum;
	const int last = dim - y->n_dim + sum->n_dim;
	sum = cumulative ? aten_cumulate(sum, last, DTYPE_NONE, false) : sum_over(sum, last);
	sum = step ? over(sum, aten_number(2)) : aten_mul(sum, aten_number(call_float(c, 1) / 2));
	call_give(c, 0, sum);
}

/* ---- indexing ---- */

static void run_put(struct aten_call *c) /* self, index, source, accumulate */
{
	struct aten_tensor *self = call_tensor(c, 0), *index = flat(call_tensor(c, 1)), *source = flat(call_tensor(c, 2));
	if (aten_numel(index) != aten_numel(source))
		aten_fail("put_(): Expected source and index to have the same number of elements");
	if (self->dtype != source->dtype)
		aten_fail("put_(): self and source expected to have the same dtype");
	struct aten_tensor *made = aten_index_put(flat(aten_clone_contiguous(self)), (struct tensors){&index, 1}, source, call_bool(c, 3));
	struct aten_tensor *out = aten_like(self, self->dtype);
	aten_copy(out, aten_reshape(made, self->size, self->n_dim));
	call_give(c, 0, out);
}

static void run_scatter_value_reduce(struct aten_call *c) /* self, dim, index, value, reduce */
{
	struct aten_tensor *self = call_tensor(c, 0), *index = call_tensor(c, 2),
			   *src = aten_new(self->dtype, index->n_dim, index->size, NULL);
	const char *how = call_string_or(c, 4, "");
	aten_fill(src, call_operand(c, 3));
	call_give(c, 0,
		  APPLIED("scatter_reduce.two", T(self), GIVEN(c, 1), T(index), T(src), aten_text(*how == 'a' ? "sum" : "prod"),
			  aten_bool(true)));
}

static void run_nonzero_static(struct aten_call *c) /* self, size, fill_value */
{
	call_give(c, 0, aten_nonzero_static(call_tensor(c, 0), call_int(c, 1), call_int(c, 2)));
}

static void run_unsafe_masked_index(struct aten_call *c) /* self, mask, indices, fill */
{
	struct aten_tensor *self = call_tensor(c, 0), *mask = call_tensor(c, 1);
	struct tensors indices = call_tensors_or_none(c, 2);
	for (int64_t i = 0; i < indices.n && i < self->n_dim; i++)
		if (indices.v[i])
			indices.v[i] = APPLIED("clamp", T(indices.v[i]), whole(0), whole(self->size[i] - 1));
	call_give(c, 0, aten_masked_fill(aten_index(self, indices), APPLIED("logical_not", T(mask)), call_operand(c, 3)));
}

static void run_as_strided_scatter(struct aten_call *c) /* self, src, size, stride, storage_offset */
{
	struct aten_tensor *self = call_tensor(c, 0), *src = call_tensor(c, 1);
	const int64_t all = (int64_t)(self->storage->bytes / (uint64_t)elem_bytes(self->dtype));
	struct aten_tensor *memory = aten_new(self->dtype, 1, &all, NULL); /* a clone that keeps the strides */
	if (aten_computes() && all)
		memcpy(aten_data(memory), self->storage->data, (size_t)all * (size_t)elem_bytes(self->dtype));
	struct aten_tensor *out = aten_view(memory, self->n_dim, self->size, self->stride, self->offset);
	struct aten_tensor *part = APPLIED("as_strided", T(out), GIVEN(c, 2), GIVEN(c, 3), GIVEN(c, 4));
	if (!aten_same_sizes(part, src))
		aten_fail("expected src to have a size equal to the slice of self.");
	aten_copy(part, src);
	call_give(c, 0, out);
}

static void run_narrow_tensor(struct aten_call *c) /* self, dim, start, length */
{
	if (!aten_computes())
		aten_needs_values();
	call_give(c, 0, aten_narrow(call_tensor(c, 0), call_int(c, 1), (int64_t)number_at(c, 2), call_int(c, 3)));
}

static void run_tensor_split_tensor(struct aten_call *c) /* self, indices or the number of sections, dim */
{
	struct aten_tensor *t = call_tensor(c, 1);
	if (!aten_computes())
		aten_needs_values();
	if (!t->n_dim) {
		call_give_all(c, APPLY("tensor_split.sections", GIVEN(c, 0), whole(elem_i64(t->dtype, aten_data(t))), GIVEN(c, 2)), 1);
		return;
	}
	const int64_t n = aten_numel(t);
	int64_t *at = aten_scratch((uint64_t)n + 1, sizeof(*at));
	for (int64_t i = 0; i < n; i++)
		at[i] = elem_i64(t->dtype, (const char *)aten_data(t) + i * line_step(t, 0));
	call_give_all(c, APPLY("tensor_split.indices", GIVEN(c, 0), aten_ints(at, n), GIVEN(c, 2)), 1);
}

/* ---- joining, turning ---- */

static void run_block_diag(struct aten_call *c)
{
	struct tensors list = call_tensors(c, 0);
	int dtype = DTYPE_NONE;
	int64_t size[2] = {0}, at[2] = {0};
	for (int64_t i = 0; i < list.n; i++) {
		struct aten_tensor *t = list.v[i];
		if (t->n_dim > 2)
			aten_fail("torch.block_diag: Input tensors must have 2 or fewer dimensions. Input %lld has %d dimensions",
				  (long long)i, t->n_dim);
		while (t->n_dim < 2)
			t = aten_unsqueeze(t, 0);
		list.v[i] = t;
		dtype = dtype == DTYPE_NONE ? t->dtype : aten_promote(dtype, t->dtype);
		size[0] = size_plus(size[0], t->size[0]);
		size[1] = size_plus(size[1], t->size[1]);
	}
	if (!list.n)
		size[0] = 1, dtype = aten_default_dtype();
	struct aten_tensor *out = aten_new(dtype, 2, size, NULL);
	aten_fill_zero(out);
	for (int64_t i = 0; i < list.n; i++) {
		const struct aten_tensor *t = list.v[i];
		aten_copy(aten_narrow(aten_narrow(out, 0, at[0], t->size[0]), 1, at[1], t->size[1]), t);
		at[0] += t->size[0];
		at[1] += t->size[1];
	}
	call_give(c, 0, out);
}

static void run_rot90(struct aten_call *c) /* self, k, dims */
{
	struct aten_tensor *self = call_tensor(c, 0);
	const struct ints dims = call_ints(c, 2);
	const int64_t k = ((call_int(c, 1) % 4) + 4) % 4;
	if (dims.n != 2 || aten_dim(self, dims.v[0]) == aten_dim(self, dims.v[1]))
		aten_fail("expected rotation dims to be different");
	if (k == 0)
		call_give(c, 0, aten_clone_contiguous(self));
	else if (k == 2)
		call_give(c, 0, APPLIED("flip", T(self), GIVEN(c, 2)));
	else
		call_give(c, 0, aten_transpose(APPLIED("flip", T(self), aten_ints(&dims.v[k == 1], 1)), dims.v[0], dims.v[1]));
}

static void run_fftshift(struct aten_call *c) /* self, dim; entry.data: back */
{
	const struct aten_tensor *self = call_tensor(c, 0);
	struct ints dims = call_ints(c, 1);
	int64_t all[ATEN_DIMS], by[ATEN_DIMS];
	for (int d = 0; d < self->n_dim; d++)
		all[d] = d;
	if (!dims.v)
		dims = (struct ints){all, self->n_dim};
	if (dims.n > ATEN_DIMS)
		aten_fail("too many dimensions");
	for (int64_t i = 0; i < dims.n; i++) {
		const int64_t n = self->size[aten_dim(self, dims.v[i])];
		by[i] = c->entry->data ? (n + 1) / 2 : n / 2;
	}
	call_give(c, 0, APPLIED("roll", GIVEN(c, 0), aten_ints(by, dims.n), aten_ints(dims.v, dims.n)));
}

static void run_channel_shuffle(struct aten_call *c) /* self, groups */
{
	struct aten_tensor *self = call_tensor(c, 0);
	const int64_t groups = call_int(c, 1);
	if (self->n_dim < 3 || groups < 1 || self->size[1] % groups)
		aten_fail("channel_shuffle: the number of channels must be divisible by groups");
	const int64_t size[4] = {self->size[0], groups, self->size[1] / groups, -1};
	struct aten_tensor *t = aten_transpose(aten_reshape(self, size, 4), 1, 2);
	call_give(c, 0, aten_reshape(aten_clone_contiguous(t), self->size, self->n_dim));
}

static void run_pad_sequence(struct aten_call *c) /* sequences, batch_first, padding_value, padding_side */
{
	struct tensors list = call_tensors(c, 0);
	const bool first = call_bool(c, 1), left = !strcmp(call_string_or(c, 3, "right"), "left");
	int64_t size[ATEN_DIMS], longest = 0;
	if (!list.n)
		aten_fail("received an empty list of sequences");
	for (int64_t i = 0; i < list.n; i++)
		longest = list.v[i]->n_dim && list.v[i]->size[0] > longest ? list.v[i]->size[0] : longest;
	const struct aten_tensor *one = list.v[0];
	if (!one->n_dim || one->n_dim + 1 > ATEN_DIMS)
		aten_fail("pad_sequence: sequences need a dimension");
	size[!first] = list.n;
	size[first] = longest;
	memcpy(size + 2, one->size + 1, sizeof(*size) * (size_t)(one->n_dim - 1));
	struct aten_tensor *out = aten_new(one->dtype, one->n_dim + 1, size, NULL);
	aten_fill(out, aten_number(call_float(c, 2)));
	for (int64_t i = 0; i < list.n; i++) {
		const int64_t n = list.v[i]->size[0];
		aten_copy(aten_narrow(aten_select(out, !first, i), 0, left ? longest - n : 0, n), list.v[i]);
	}
	call_give(c, 0, out);
}

static void run_vander(struct aten_call *c) /* x, N, increasing; or x, N: linalg_vander */
{
	struct aten_tensor *x = call_tensor(c, 0);
	const bool old = c->n == 3, backwards = old && !call_bool(c, 2);
	if ((!x->n_dim && call_is_none(c, 1)) || (old && x->n_dim != 1))
		aten_fail("x must be a one-dimensional tensor.");
	x = x->n_dim ? x : aten_unsqueeze(x, 0);
	const int64_t n = call_is_none(c, 1) ? x->size[x->n_dim - 1] : call_int(c, 1);
	int64_t size[ATEN_DIMS], last = -1;
	if (n < (old ? 0 : 2) || x->n_dim + 1 > ATEN_DIMS)
		aten_fail("N must be greater than %d.", old ? -1 : 1);
	if (elem_integral(x->dtype))
		x = aten_to_copy(x, DTYPE_I64, ATEN_PRESERVE);
	memcpy(size, x->size, sizeof(*size) * (size_t)x->n_dim);
	size[x->n_dim] = n;
	struct aten_tensor *out = aten_new(x->dtype, x->n_dim + 1, size, NULL);
	aten_copy(out, aten_unsqueeze(x, -1));
	if (n)
		aten_fill(aten_select(out, -1, 0), aten_number(1));
	out = aten_cumulate(out, -1, DTYPE_NONE, true);
	call_give(c, 0, backwards ? APPLIED("flip", T(out), aten_ints(&last, 1)) : out);
}

static void run_combinations(struct aten_call *c) /* self, r, with_replacement */
{
	struct aten_tensor *self = call_tensor(c, 0);
	const int64_t r = call_int(c, 1), n = self->n_dim == 1 ? self->size[0] : 0;
	const bool again = call_bool(c, 2);
	if (self->n_dim != 1 || r < 0 || r > 64)
		aten_fail("Expect a 1D vector, and a non-negative number");
	int64_t at[64], count = 0;
	struct aten_tensor *index = NULL;
	for (int fill = 0; fill < 2; fill++) {
		bool more = r > 0 && (again ? n > 0 : n >= r);
		for (int64_t k = 0; k < r; k++)
			at[k] = again ? 0 : k;
		count = 0;
		while (more) {
			for (int64_t k = 0; fill && aten_computes() && k < r; k++)
				((int64_t *)aten_data(index))[count * r + k] = at[k];
			count++;
			int64_t k = r - 1;
			while (k >= 0 && at[k] == (again ? n - 1 : n - r + k))
				k--;
			more = k >= 0;
			if (more) {
				at[k]++;
				for (int64_t j = k + 1; j < r; j++)
					at[j] = again ? at[k] : at[j - 1] + 1;
			}
			if (count > 1 << 26)
				aten_fail("too many combinations");
		}
		if (!fill)
			index = aten_new(DTYPE_I64, 2, (const int64_t[]){count, r}, NULL);
	}
	struct aten_tensor *all = flat(index);
	if (!r)
		call_give(c, 0, aten_new(self->dtype, 1, (const int64_t[]){0}, NULL));
	else
		call_give(c, 0, aten_reshape(aten_index_select(self, 0, all), index->size, 2));
}

/* ---- numbers ---- */

static void run_ldexp(struct aten_call *c) /* self, other */
{
	call_give(c, 0, aten_mul(call_tensor(c, 0), aten_pow(aten_number(2), call_tensor(c, 1))));
}

static void run_frexp(struct aten_call *c)
{
	struct aten_tensor *x = call_tensor(c, 0);
	if (!aten_is_float(x->dtype))
		aten_fail("torch.frexp() only supports floating-point dtypes");
	struct aten_tensor *m = aten_like(x, x->dtype), *e = aten_like(x, DTYPE_I32);
	struct walk w = WALK(m, e, x);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int exponent = 0;
		const double v = elem_f64(x->dtype, w.p[2]), part = frexp(v, &exponent);
		elem_set_f64(x->dtype, w.p[0], part);
		elem_set_i64(DTYPE_I32, w.p[1], isfinite(v) ? exponent : 0);
	}
	call_give(c, 0, m);
	call_give(c, 1, e);
}

static void run_safe_softmax(struct aten_call *c) /* self, dim, dtype: rows that are -inf from end to end are 0 */
{
	struct aten_value x = GIVEN(c, 0);
	struct aten_tensor *out = APPLIED("softmax.int", x, GIVEN(c, 1), GIVEN(c, 2));
	struct aten_value masked = T(APPLIED("eq.Scalar", x, aten_float(-(double)INFINITY)));
	struct aten_tensor *rows = APPLIED("all.dim", masked, GIVEN(c, 1), aten_bool(true));
	call_give(c, 0, aten_masked_fill(out, rows, aten_number(0)));
}

/* linspace and logspace with tensors for their ends: start, end, steps, (base,) dtype ... */
static void run_space(struct aten_call *c) /* entry.data: the operator */
{
	struct aten_value arg[16];
	if (c->n > ARRAY_LEN(arg))
		aten_fail("too many arguments");
	memcpy(arg, c->arg, c->n * sizeof(*arg));
	for (uint32_t i = 0; i < 2; i++)
		if (arg[i].kind == ATEN_TENSOR)
			arg[i] = aten_float(aten_computes() ? number_at(c, i) : 0);
	call_give(c, 0, aten_apply(c->entry->data, arg, c->n)[0].tensor);
}

static void run_new_empty_strided(struct aten_call *c) /* self, size, stride, dtype */
{
	const struct ints size = call_ints(c, 1), stride = call_ints(c, 2);
	if (size.n != stride.n || size.n > ATEN_DIMS)
		aten_fail("mismatch in length of strides and shape");
	struct aten_tensor *out = aten_new(call_dtype_or(c, 3, call_tensor(c, 0)->dtype), (int)size.n, size.v, stride.v);
	aten_fill_zero(out);
	call_give(c, 0, out);
}

/* ---- products ---- */

static void run_addr(struct aten_call *c) /* self, vec1, vec2, beta, alpha */
{
	struct aten_tensor *self = call_tensor(c, 0);
	struct aten_tensor *outer = aten_mul(aten_unsqueeze(call_tensor(c, 1), 1), aten_unsqueeze(call_tensor(c, 2), 0));
	struct aten_tensor *b = call_operand(c, 3), *a = call_operand(c, 4);
	const bool none = GIVEN(c, 3).kind != ATEN_COMPLEX && call_float(c, 3) == 0;
	if (outer->dtype == DTYPE_BOOL && self->dtype == DTYPE_BOOL) { /* there or, of which both may be left out */
		outer = call_float(c, 4) == 0 ? APPLIED("zeros_like", T(outer)) : outer;
		call_give(c, 0, none ? outer : APPLIED("logical_or", T(outer), T(self)));
		return;
	}
	outer = aten_mul(a, outer);
	call_give(c, 0, none ? outer : aten_add(aten_mul(b, self), outer, 1));
}

static void run_addbmm(struct aten_call *c) /* self, batch1, batch2, beta, alpha */
{
	if (GIVEN(c, 3).kind == ATEN_COMPLEX || GIVEN(c, 4).kind == ATEN_COMPLEX) {
		struct aten_tensor *sum = sum_over(APPLIED("bmm", GIVEN(c, 1), GIVEN(c, 2)), 0);
		call_give(c, 0, aten_add(aten_mul(call_tensor(c, 0), call_operand(c, 3)), aten_mul(sum, call_operand(c, 4)), 1));
		return;
	}
	call_give(c, 0, aten_addbmm(call_tensor(c, 0), call_tensor(c, 1), call_tensor(c, 2), call_float(c, 3), call_float(c, 4)));
}

static void run_addmm_activation(struct aten_call *c) /* self, mat1, mat2, beta, alpha, use_gelu */
{
	call_give(c, 0,
		  aten_addmm_activation(call_tensor(c, 0), call_tensor(c, 1), call_tensor(c, 2), call_float(c, 3), call_float(c, 4),
					call_bool(c, 5)));
}

static void run_weight_int8pack_mm(struct aten_call *c)
{
	call_give(c, 0, aten_weight_int8pack_mm(call_tensor(c, 0), call_tensor(c, 1), call_tensor(c, 2)));
}

static void run_trilinear(struct aten_call *c) /* i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim */
{
	call_give(c, 0,
		  aten_trilinear(call_tensor(c, 0), call_tensor(c, 1), call_tensor(c, 2), call_ints(c, 3), call_ints(c, 4), call_ints(c, 5),
				 call_ints(c, 6)));
}

static void run_bilinear(struct aten_call *c) /* input1, input2, weight, bias */
{
	struct aten_tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1), *weight = call_tensor(c, 2), *bias = call_tensor_or_none(c, 3);
	int64_t size[ATEN_DIMS];
	if (!a->n_dim || a->n_dim != b->n_dim || weight->n_dim != 3)
		aten_fail("bilinear(): input dimensions do not match");
	memcpy(size, a->size, sizeof(size));
	size[a->n_dim - 1] = weight->size[0];
	struct aten_tensor *flat1 = aten_reshape(a, (const int64_t[]){-1, a->size[a->n_dim - 1]}, 2),
			   *flat2 = aten_reshape(b, (const int64_t[]){-1, b->size[b->n_dim - 1]}, 2);
	struct aten_tensor *out = aten_trilinear(flat1, weight, flat2, INT_LIST(1, 3), INT_LIST(0), INT_LIST(1, 2), INT_LIST(2, 3));
	out = aten_reshape(out, size, a->n_dim);
	call_give(c, 0, bias ? aten_add(out, bias, 1) : out);
}

/* input, weight, bias, stride, padding, dilation, transposed, output_padding, groups and settings of backends */
static void run_convolution_with_settings(struct aten_call *c) { call_give(c, 0, aten_apply("convolution", c->arg, 9)[0].tensor); }

/* ---- linear algebra ---- */

/* In double: a quotient of two of them. */
static struct aten_tensor *singular(struct aten_tensor *a)
{
	const int wide = elem_complex(a->dtype) ? DTYPE_C128 : DTYPE_F64;
	return aten_to_copy(APPLIED("linalg_svdvals", T(aten_to_copy(a, wide, ATEN_PRESERVE))), aten_real_of(a->dtype), ATEN_PRESERVE);
}

static void run_cond(struct aten_call *c) /* self, p (a number, a name or None) */
{
	struct aten_value a = GIVEN(c, 0), p = GIVEN(c, 1);
	const bool named = p.kind == ATEN_STRING;
	const char *name = named ? call_string_or(c, 1, "") : "";
	if (p.kind == ATEN_NONE || (!named && fabs(call_float(c, 1)) == 2)) {
		struct aten_tensor *s = singular(a.tensor), *low = aten_select(s, -1, -1), *high = aten_select(s, -1, 0);
		call_give(c, 0, !named && p.kind != ATEN_NONE && call_float(c, 1) < 0 ? over(low, high) : over(high, low));
		return;
	}
	if (named && !strcmp(name, "nuc")) {
		struct aten_tensor *s = singular(a.tensor);
		call_give(c, 0, aten_mul(sum_over(s, -1), sum_over(APPLIED("reciprocal", T(s)), -1)));
		return;
	}
	const char *norm = named ? "linalg_matrix_norm.str_ord" : "linalg_matrix_norm";
	const struct aten_value *inverse = APPLY("linalg_inv_ex", a);
	struct aten_tensor *out = aten_mul(APPLIED(norm, a, p), APPLIED(norm, inverse[0], p));
	struct aten_tensor *failed = APPLIED("gt.Scalar", inverse[1], whole(0));
	call_give(c, 0, aten_masked_fill(out, failed, aten_number((double)INFINITY)));
}

/* A tolerance as a tensor; none: NULL. */
static struct aten_tensor *tolerance(const struct aten_call *c, uint32_t i) { return call_is_none(c, i) ? NULL : call_operand(c, i); }

/* self, tol, hermitian; self, atol, rtol, hermitian */
static void run_matrix_rank(struct aten_call *c)
{
	struct aten_tensor *a = call_tensor(c, 0);
	const bool old = c->n == 3, hermitian = call_bool(c, c->n - 1);
	struct aten_tensor *atol = tolerance(c, 1), *rtol = old ? NULL : tolerance(c, 2);
	if (a->n_dim < 2)
		aten_fail("linalg.matrix_rank: The input tensor A must have at least 2 dimensions.");
	if (!aten_numel(a)) {
		struct aten_tensor *none = aten_new(DTYPE_I64, a->n_dim - 2, a->size, NULL);
		aten_fill_zero(none);
		call_give(c, 0, none);
		return;
	}
	struct aten_tensor *s = hermitian ? aten_abs(APPLIED("linalg_eigvalsh", T(a))) : singular(a);
	const int64_t rows = a->size[a->n_dim - 2], cols = a->size[a->n_dim - 1];
	const double eps = elem_bytes(aten_real_of(a->dtype)) == 8 ? 0x1p-52 : 0x1p-23;
	struct aten_tensor *relative = rtol ? rtol : atol ? aten_number(0) : aten_number(eps * (double)(rows > cols ? rows : cols));
	if (!rtol && atol && !old) { /* only where the absolute one is not positive */
		struct aten_tensor *usual = aten_number(eps * (double)(rows > cols ? rows : cols));
		relative = aten_where(APPLIED("gt.Scalar", T(atol), whole(0)), aten_number(0), usual);
	}
	struct aten_tensor *greatest = APPLIED("amax", T(s), whole(-1), aten_bool(false));
	struct aten_tensor *room = aten_mul(relative, greatest);
	room = atol ? APPLIED("maximum", T(aten_mul(atol, APPLIED("ones_like", T(greatest)))), T(room)) : room;
	call_give(c, 0, sum_over(APPLIED("gt.Tensor", T(s), T(aten_unsqueeze(room, -1))), -1));
}

static void run_tensorinv(struct aten_call *c) /* self, ind */
{
	struct aten_tensor *a = call_tensor(c, 0);
	const int64_t ind = call_int(c, 1);
	int64_t rows = 1, size[ATEN_DIMS];
	if (ind <= 0 || ind > a->n_dim)
		aten_fail("Expected a strictly positive integer for 'ind'");
	for (int64_t i = 0; i < a->n_dim; i++) {
		rows = i < ind ? size_times(rows, a->size[i]) : rows;
		size[(i + a->n_dim - ind) % a->n_dim] = a->size[i];
	}
	call_give(c, 0, aten_reshape(APPLIED("linalg_inv", T(aten_reshape(a, (const int64_t[]){rows, -1}, 2))), size, a->n_dim));
}

static void run_tensorsolve(struct aten_call *c) /* self, other, dims */
{
	struct aten_tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
	const struct ints dims = call_ints(c, 2);
	for (int64_t i = 0; i < dims.n; i++)
		a = aten_movedim(a, aten_dim(a, dims.v[i]) - i, -1);
	if (a->n_dim < b->n_dim)
		aten_fail("linalg.tensorsolve: the dimensions do not match");
	const int n = a->n_dim - b->n_dim;
	const int64_t cols = size_of_all(n, a->size + b->n_dim);
	struct aten_tensor *x = APPLIED("linalg_solve", T(aten_reshape(a, (const int64_t[]){-1, cols}, 2)), T(flat(b)));
	call_give(c, 0, aten_reshape(x, a->size + b->n_dim, n));
}

static void run_lu_solve(struct aten_call *c) /* self, LU_data, LU_pivots */
{
	call_give(c, 0, APPLIED("linalg_lu_solve", GIVEN(c, 1), GIVEN(c, 2), GIVEN(c, 0)));
}

static void run_nuclear_norm(struct aten_call *c) /* self, (dim,) keepdim */
{
	call_give(c, 0,
		  c->n == 2 ? APPLIED("linalg_matrix_norm.str_ord", GIVEN(c, 0), aten_text("nuc"), aten_ints((const int64_t[]){-2, -1}, 2),
				      GIVEN(c, 1))
			    : APPLIED("linalg_matrix_norm.str_ord", GIVEN(c, 0), aten_text("nuc"), GIVEN(c, 1), GIVEN(c, 2)));
}

static void run_frobenius_norm(struct aten_call *c) /* self, dim, keepdim */
{
	call_give(c, 0, APPLIED("linalg_vector_norm", GIVEN(c, 0), aten_float(2), GIVEN(c, 1), GIVEN(c, 2)));
}

static void run_old_qr(struct aten_call *c) /* self, some */
{
	call_give_all(c, APPLY("linalg_qr", GIVEN(c, 0), aten_text(call_bool(c, 1) ? "reduced" : "complete")), 2);
}

/* ---- pools ---- */

static void run_max_unpool(struct aten_call *c) /* self, indices, output_size, (stride, padding) */
{
	call_give(c, 0, aten_max_unpool(call_tensor(c, 0), c->n == 3 ? 2 : 3, call_tensor(c, 1), call_ints(c, 2)));
}

static void run_fractional_max_pool(struct aten_call *c) /* self, kernel_size, output_size, random_samples; entry.data: dims */
{
	call_give_two(c, aten_fractional_max_pool(call_tensor(c, 0), *(const int *)c->entry->data, call_ints(c, 1), call_ints(c, 2),
						  call_tensor(c, 3)));
}

static void run_adaptive_max_pool1d(struct aten_call *c) /* self, output_size */
{
	const struct ints size = call_ints(c, 1);
	if (size.n != 1)
		aten_fail("adaptive_max_pool1d() argument 'output_size' should contain one int");
	struct two r = aten_adaptive_max_pool(aten_unsqueeze(call_tensor(c, 0), -2), 2, INT_LIST(1, size.v[0]));
	call_give(c, 0, aten_squeeze_dim(r.first, -2));
	call_give(c, 1, aten_squeeze_dim(r.second, -2));
}

/* ---- random (Dropout.cpp, on the CPU; Distributions.cpp) ---- */

enum { FEATURES = 1, ALPHA = 2 };
static const int plain = 0, features = FEATURES, alpha = ALPHA, alpha_features = FEATURES | ALPHA;

static void run_dropout(struct aten_call *c) /* input, p, train; entry.data: its kind */
{
	struct aten_tensor *x = call_tensor(c, 0), *noise, *shift = NULL;
	const double p = call_float(c, 1);
	const int kind = *(const int *)c->entry->data;
	int64_t size[ATEN_DIMS];
	if (p < 0 || p > 1)
		aten_fail("dropout probability has to be between 0 and 1, but got %g", p);
	if (p == 0 || !call_bool(c, 2) || !aten_numel(x)) {
		call_give(c, 0, x);
		return;
	}
	if (p == 1) {
		call_give(c, 0, aten_mul(x, APPLIED("zeros_like", T(x))));
		return;
	}
	for (int d = 0; d < x->n_dim; d++)
		size[d] = d < 2 ? x->size[d] : 1;
	if (kind & FEATURES && x->n_dim < 2)
		aten_fail("Feature dropout requires at least 2 dimensions in the input");
	noise = kind & FEATURES ? aten_new(x->dtype, x->n_dim, size, NULL) : aten_like(x, x->dtype);
	aten_fill_bernoulli(noise, 1 - p);
	if (kind & ALPHA) {
		const double slope = 1.7580993408473766, a = 1 / sqrt((slope * slope * p + 1) * (1 - p));
		shift = aten_mul(aten_add(noise, aten_number(-1), 1), aten_number(slope * a));
		shift = aten_add(shift, aten_number(slope * a * p), 1);
		noise = aten_mul(noise, aten_number(a));
	} else {
		noise = over(noise, aten_number(1 - p));
	}
	x = aten_mul(x, noise);
	call_give(c, 0, shift ? aten_add(x, shift, 1) : x);
}

static void run_normal_of(struct aten_call *c) /* mean, std: tensors, or one a number */
{
	struct aten_tensor *mean = call_operand(c, 0), *std = call_operand(c, 1);
	int64_t size[ATEN_DIMS];
	const int n = aten_broadcast(mean, std, size), dtype = mean->wrapped ? std->dtype : mean->dtype;
	struct aten_tensor *out = aten_new(dtype, n, size, NULL);
	aten_fill_normal(out, 0, 1);
	call_give(c, 0, aten_add(aten_mul(out, std), mean, 1));
}

static const bool running = true;
static const int two_dims = 2, three_dims = 3;

const struct aten_entry aten_derived_entries[] = {
    {"_addmm_activation", run_addmm_activation},
    {"_convolution", run_convolution_with_settings},
    {"_convolution.deprecated", run_convolution_with_settings},
    {"_is_all_true", run_same_as, "all"},
    {"_is_any_true", run_same_as, "any"},
    {"_safe_softmax", run_safe_softmax},
    {"_stack", run_same_as, "stack"},
    {"_trilinear", run_trilinear},
    {"_unsafe_index_put", run_same_as, "index_put"},
    {"_unsafe_masked_index", run_unsafe_masked_index},
    {"_weight_int8pack_mm", run_weight_int8pack_mm},
    {"adaptive_max_pool1d", run_adaptive_max_pool1d},
    {"addbmm", run_addbmm},
    {"addr", run_addr},
    {"allclose", run_allclose},
    {"alpha_dropout", run_dropout, &alpha},
    {"as_strided_scatter", run_as_strided_scatter},
    {"bilinear", run_bilinear},
    {"block_diag", run_block_diag},
    {"chain_matmul", run_same_as, "linalg_multi_dot"},
    {"channel_shuffle", run_channel_shuffle},
    {"combinations", run_combinations},
    {"corrcoef", run_corrcoef},
    {"cov", run_cov},
    {"cumulative_trapezoid.dx", run_trapezoid, &running},
    {"cumulative_trapezoid.x", run_trapezoid, &running},
    {"dist", run_dist},
    {"dropout", run_dropout, &plain},
    {"equal", run_equal},
    {"feature_alpha_dropout", run_dropout, &alpha_features},
    {"feature_dropout", run_dropout, &features},
    {"fft_fftshift", run_fftshift},
    {"fft_ifftshift", run_fftshift, &running},
    {"fractional_max_pool2d", run_fractional_max_pool, &two_dims},
    {"fractional_max_pool3d", run_fractional_max_pool, &three_dims},
    {"frexp.Tensor", run_frexp},
    {"frobenius_norm.dim", run_frobenius_norm},
    {"isin.Scalar_Tensor", run_isin},
    {"isin.Tensor_Scalar", run_isin},
    {"isin.Tensor_Tensor", run_isin},
    {"ldexp.Tensor", run_ldexp},
    {"linalg_cond", run_cond},
    {"linalg_cond.p_str", run_cond},
    {"linalg_matrix_rank", run_matrix_rank},
    {"linalg_matrix_rank.atol_rtol_float", run_matrix_rank},
    {"linalg_matrix_rank.atol_rtol_tensor", run_matrix_rank},
    {"linalg_matrix_rank.tol_tensor", run_matrix_rank},
    {"linalg_tensorinv", run_tensorinv},
    {"linalg_tensorsolve", run_tensorsolve},
    {"linalg_vander", run_vander},
    {"linspace.Scalar_Tensor", run_space, "linspace"},
    {"linspace.Tensor_Scalar", run_space, "linspace"},
    {"linspace.Tensor_Tensor", run_space, "linspace"},
    {"logspace.Scalar_Tensor", run_space, "logspace"},
    {"logspace.Tensor_Scalar", run_space, "logspace"},
    {"logspace.Tensor_Tensor", run_space, "logspace"},
    {"lu_solve", run_lu_solve},
    {"max_unpool2d", run_max_unpool},
    {"max_unpool3d", run_max_unpool},
    {"narrow.Tensor", run_narrow_tensor},
    {"native_channel_shuffle", run_channel_shuffle},
    {"new_empty_strided", run_new_empty_strided},
    {"nonzero_static", run_nonzero_static},
    {"normal.Tensor_Tensor", run_normal_of},
    {"normal.Tensor_float", run_normal_of},
    {"normal.float_Tensor", run_normal_of},
    {"nuclear_norm", run_nuclear_norm},
    {"nuclear_norm.dim", run_nuclear_norm},
    {"pad_sequence", run_pad_sequence},
    {"put", run_put},
    {"qr", run_old_qr},
    {"renorm", run_renorm},
    {"rot90", run_rot90},
    {"scatter.value_reduce", run_scatter_value_reduce},
    {"tensor_split.tensor_indices_or_sections", run_tensor_split_tensor},
    {"trace", run_trace},
    {"trapezoid.dx", run_trapezoid},
    {"trapezoid.x", run_trapezoid},
    {"trapz.dx", run_trapezoid},
    {"trapz.x", run_trapezoid},
    {"vander", run_vander},
    {0},
};
