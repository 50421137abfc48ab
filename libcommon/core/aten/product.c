/* Products by name: computed by mm.c, conv.c and sdpa.c, and composed from them (torch 2.13, aten/src/ATen/native/LinearAlgebra.cpp,
 * Linear.cpp, Convolution.cpp, transformers/attention.cpp). */
#include "call.h"
#include "conv.h"
#include "elem.h"
#include "mat.h"
#include "ops.h"

#include <math.h>

static void need_dims(const struct aten_tensor *t, int n, const char *what)
{
	if (t->n_dim != n)
		aten_fail("%s must be %d-D, not %d-D", what, n, t->n_dim);
}

/* beta or alpha, which may be complex numbers: BLAS does not multiply by those. */
static double complex number_or(const struct aten_call *c, uint32_t i, double otherwise)
{
	const struct aten_value *v = &c->arg[i];
	return v->kind == ATEN_COMPLEX ? v->z : v->kind == ATEN_NONE ? otherwise : call_float(c, i);
}

/* beta * bias + alpha * a b of two or three dims. */
static struct aten_tensor *product(struct aten_tensor *a, struct aten_tensor *b, struct aten_tensor *bias, double complex beta,
				   double complex alpha)
{
	int n = a->n_dim;
	int64_t size[3];
	if (b->n_dim != n || (n != 2 && n != 3))
		aten_fail("matrices with %d and %d dimensions are not supported", n, b->n_dim);
	if (a->dtype != b->dtype || (bias && bias->dtype != a->dtype))
		aten_fail("expected m1 and m2 to have the same dtype, but got: %s != %s", dtype_name(a->dtype),
			  dtype_name(b->dtype != a->dtype ? b->dtype : bias->dtype));
	if (a->dtype == DTYPE_BOOL)
		aten_fail("\"addmm_impl_cpu_\" not implemented for 'Bool'");
	if ((n == 3 && a->size[0] != b->size[0]) || a->size[n - 1] != b->size[n - 2])
		aten_fail("mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)", (long long)a->size[n - 2],
			  (long long)a->size[n - 1], (long long)b->size[n - 2], (long long)b->size[n - 1]);
	memcpy(size, a->size, sizeof(size));
	size[n - 1] = b->size[n - 1];
	struct aten_tensor *out = aten_new(a->dtype, n, size, NULL);
	bool plain = !aten_is_complex(a->dtype) || (!cimag(beta) && !cimag(alpha));
	if (bias && bias->n_dim > n)
		aten_fail("a bias with %d dimensions is not supported", bias->n_dim);
	struct aten_tensor *wide = bias && plain ? aten_expand(bias, size, n) : NULL;
	(n == 2 ? aten_addmm_out : aten_baddbmm_out)(out, wide, a, b, wide ? creal(beta) : 0, wide ? creal(alpha) : 1);
	if (!bias || wide)
		return out;
	struct aten_tensor *both[2] = {aten_new_anyway(DTYPE_C128, 0, NULL), aten_new_anyway(DTYPE_C128, 0, NULL)};
	elem_set_c128(DTYPE_C128, aten_data(both[0]), alpha);
	elem_set_c128(DTYPE_C128, aten_data(both[1]), beta);
	both[0]->wrapped = both[1]->wrapped = true;
	return aten_add(aten_mul(out, both[0]), aten_mul(bias, both[1]), 1);
}

static void run_mm(struct aten_call *c) { call_give(c, 0, product(call_tensor(c, 0), call_tensor(c, 1), NULL, 0, 1)); }
static void run_addmm(struct aten_call *c)
{
	call_give(c, 0, product(call_tensor(c, 1), call_tensor(c, 2), call_tensor(c, 0), number_or(c, 3, 1), number_or(c, 4, 1)));
}
static void run_addmv(struct aten_call *c) /* self, mat, vec, beta, alpha */
{
	struct aten_tensor *bias = call_tensor(c, 0), *vec = call_tensor(c, 2);
	need_dims(vec, 1, "vec");
	if (bias->n_dim)
		bias = aten_unsqueeze(bias, -1);
	struct aten_tensor *out = product(call_tensor(c, 1), aten_unsqueeze(vec, 1), bias, number_or(c, 3, 1), number_or(c, 4, 1));
	call_give(c, 0, aten_squeeze_dim(out, 1));
}

/* ---- of any dims ---- */

static struct aten_tensor *dot(struct aten_tensor *a, struct aten_tensor *b)
{
	need_dims(a, 1, "the first vector");
	need_dims(b, 1, "the second vector");
	if (a->size[0] != b->size[0])
		aten_fail("inconsistent tensor size, expected tensor [%lld] and src [%lld] to have the same number of elements",
			  (long long)a->size[0], (long long)b->size[0]);
	return aten_reshape(product(aten_unsqueeze(a, 0), aten_unsqueeze(b, 1), NULL, 0, 1), a->size, 0);
}

/* [..., m, k] with [k, n]: one product of all rows. bias NULL: none. */
static struct aten_tensor *rows_times(struct aten_tensor *a, struct aten_tensor *b, struct aten_tensor *bias)
{
	int64_t size[ATEN_DIMS], rows = 1;
	for (int i = 0; i < a->n_dim - 1; i++)
		rows *= size[i] = a->size[i];
	size[a->n_dim - 1] = b->size[1];
	struct aten_tensor *flat = aten_reshape(a, (const int64_t[]){rows, a->size[a->n_dim - 1]}, 2);
	return aten_reshape(product(flat, b, bias, 1, 1), size, a->n_dim);
}

/* Both have batches, which are broadcast. */
static struct aten_tensor *batches_times(struct aten_tensor *a, struct aten_tensor *b)
{
	int64_t size[ATEN_DIMS], whole[ATEN_DIMS], batch, m = a->size[a->n_dim - 2], k = a->size[a->n_dim - 1], n = b->size[b->n_dim - 1];
	struct aten_tensor head[2] = {*a, *b};
	for (int i = 0; i < 2; i++)
		head[i].n_dim -= 2;
	int dims = aten_broadcast(&head[0], &head[1], size);
	batch = size_of_all(dims, size);
	memcpy(whole, size, sizeof(whole));
	whole[dims] = m;
	whole[dims + 1] = k;
	struct aten_tensor *x = aten_reshape(aten_expand(a, whole, dims + 2), (const int64_t[]){batch, m, k}, 3);
	whole[dims] = b->size[b->n_dim - 2];
	whole[dims + 1] = n;
	struct aten_tensor *y = aten_reshape(aten_expand(b, whole, dims + 2), (const int64_t[]){batch, b->size[b->n_dim - 2], n}, 3);
	whole[dims] = m;
	return aten_reshape(product(x, y, NULL, 0, 1), whole, dims + 2);
}

static struct aten_tensor *matmul(struct aten_tensor *a, struct aten_tensor *b)
{
	if (!a->n_dim || !b->n_dim)
		aten_fail("both arguments to matmul need to be at least 1D, but they are %dD and %dD", a->n_dim, b->n_dim);
	if (a->n_dim == 1 && b->n_dim == 1)
		return dot(a, b);
	if (b->n_dim == 1)
		return aten_squeeze_dim(matmul(a, aten_unsqueeze(b, 1)), -1);
	if (a->n_dim == 1)
		return aten_squeeze_dim(matmul(aten_unsqueeze(a, 0), b), -2);
	if (b->n_dim == 2)
		return a->n_dim == 2 ? product(a, b, NULL, 0, 1) : rows_times(a, b, NULL);
	return batches_times(a, b);
}

static void run_matmul(struct aten_call *c) { call_give(c, 0, matmul(call_tensor(c, 0), call_tensor(c, 1))); }
static void run_dot(struct aten_call *c) { call_give(c, 0, dot(call_tensor(c, 0), call_tensor(c, 1))); }
static void run_vdot(struct aten_call *c)
{
	struct aten_tensor *a = call_tensor(c, 0);
	call_give(c, 0, dot(aten_is_complex(a->dtype) ? aten_conj(a) : a, call_tensor(c, 1)));
}
static void run_mv(struct aten_call *c)
{
	need_dims(call_tensor(c, 0), 2, "the matrix");
	need_dims(call_tensor(c, 1), 1, "the vector");
	call_give(c, 0, matmul(call_tensor(c, 0), call_tensor(c, 1)));
}
static void run_outer(struct aten_call *c)
{
	need_dims(call_tensor(c, 0), 1, "the first vector");
	need_dims(call_tensor(c, 1), 1, "the second vector");
	call_give(c, 0, aten_mul(aten_unsqueeze(call_tensor(c, 0), 1), call_tensor(c, 1)));
}

struct aten_tensor *aten_linear(struct aten_tensor *input, struct aten_tensor *weight, struct aten_tensor *bias)
{
	if (weight->n_dim == 1) {
		struct aten_tensor *out = matmul(input, weight);
		return bias ? aten_add(out, bias, 1) : out;
	}
	need_dims(weight, 2, "weight");
	struct aten_tensor *t = aten_transpose(weight, 0, 1);
	if (!input->n_dim)
		aten_fail("both arguments to linear need to be at least 1D, but they are 0D and 2D");
	if (input->n_dim == 1) {
		struct aten_tensor *out = product(aten_unsqueeze(input, 0), t, bias, 1, 1);
		return aten_squeeze_dim(out, 0);
	}
	return rows_times(input, t, bias);
}
static void run_linear(struct aten_call *c)
{
	call_give(c, 0, aten_linear(call_tensor(c, 0), call_tensor(c, 1), call_tensor_or_none(c, 2)));
}

/* ---- convolutions ---- */

/* n numbers from a list that may have one for all. */
static struct ints each_of(const struct aten_call *c, uint32_t i, int64_t n)
{
	struct ints list = call_ints(c, i);
	int64_t *all = aten_scratch((uint64_t)n, sizeof(*all));
	if (list.n != 1 && list.n != n)
		aten_fail("got %lld values for %lld dimensions", (long long)list.n, (long long)n);
	for (int64_t k = 0; k < n; k++)
		all[k] = list.v[list.n == 1 ? 0 : k];
	return (struct ints){all, n};
}

struct conv_call {
	uint32_t stride, padding, dilation, output_padding, groups; /* indices in the call; output_padding 0: none */
	bool transposed;
	const int64_t *pads;   /* instead of the given ones */
	struct aten_tensor *x; /* instead of the first */
};
static void convolve(struct aten_call *c, const struct conv_call *at, int spatial)
{
	struct aten_tensor *x = at->x ? at->x : call_tensor(c, 0), *w = call_tensor(c, 1), *bias = call_tensor_or_none(c, 2);
	bool single = x->n_dim == spatial + 1;
	if (w->n_dim != spatial + 2 || (!single && x->n_dim != spatial + 2))
		aten_fail("expected %dD (unbatched) or %dD (batched) input, and a weight of %d dimensions", spatial + 1, spatial + 2,
			  spatial + 2);
	struct conv_params p = {.stride = each_of(c, at->stride, spatial),
				.padding = at->pads ? (struct ints){at->pads, spatial} : each_of(c, at->padding, spatial),
				.dilation = each_of(c, at->dilation, spatial),
				.groups = call_int(c, at->groups),
				.transposed = at->transposed,
				.channels_last = -1};
	if (at->output_padding)
		p.output_padding = each_of(c, at->output_padding, spatial);
	struct aten_tensor *out = aten_convolution(single ? aten_unsqueeze(x, 0) : x, w, bias, &p);
	call_give(c, 0, single ? aten_squeeze_dim(out, 0) : out);
}
/* input, weight, bias, stride, padding, dilation, groups; entry.data: "1", "2", "3" */
static void run_conv(struct aten_call *c)
{
	convolve(c, &(struct conv_call){.stride = 3, .padding = 4, .dilation = 5, .groups = 6}, *(const char *)c->entry->data - '0');
}
/* The same with "valid" or "same" (aten/src/ATen/native/Convolution.cpp, _convolution_same): padding that differs between both sides is
 * applied to the input first. */
static void run_conv_padding(struct aten_call *c)
{
	int spatial = *(const char *)c->entry->data - '0';
	const char *how = call_string_or(c, 4, "valid");
	struct aten_tensor *w = call_tensor(c, 1);
	int64_t pads[3] = {0}, uneven[6] = {0};
	struct conv_call at = {.stride = 3, .dilation = 5, .groups = 6, .pads = pads, .x = call_tensor(c, 0)};
	bool even = true;
	if (strcmp(how, "same") != 0 && strcmp(how, "valid") != 0)
		aten_fail("Invalid padding string: '%s'", how);
	if (w->n_dim != spatial + 2)
		aten_fail("expected a weight of %d dimensions", spatial + 2);
	const int64_t *stride = each_of(c, 3, spatial).v, *dilation = each_of(c, 5, spatial).v;
	for (int i = 0; i < spatial && !strcmp(how, "same"); i++) {
		if (stride[i] != 1)
			aten_fail("padding='same' is not supported for strided convolutions");
		int64_t all = size_times(dilation[i], w->size[i + 2] - 1);
		if (all < 0)
			aten_fail("invalid kernel %lld, dilation %lld", (long long)w->size[i + 2], (long long)dilation[i]);
		pads[i] = all / 2;
		uneven[2 * (spatial - 1 - i) + 1] = all % 2;
		even = even && all % 2 == 0;
	}
	if (!even)
		at.x = aten_pad(at.x, (struct ints){uneven, 2 * (int64_t)spatial}, "constant", aten_number(0));
	convolve(c, &at, spatial);
}
/* input, weight, bias, stride, padding, output_padding, groups, dilation */
static void run_conv_transpose(struct aten_call *c)
{
	convolve(c, &(struct conv_call){3, 4, 7, 5, 6, true}, *(const char *)c->entry->data - '0');
}
/* input, weight, bias, stride, padding, dilation, transposed, output_padding, groups */
static void run_convolution(struct aten_call *c)
{
	convolve(c, &(struct conv_call){3, 4, 5, 7, 8, call_bool(c, 6)}, call_tensor(c, 1)->n_dim - 2);
}

/* ---- their gradients: convolutions themselves ---- */

/* The windows of the small tensor on the large one are `stride` apart, and their elements `dilation`: conversely it is a convolution over
 * the batch, with channels as the batch. One group at a time. */
static struct aten_tensor *weight_gradient(const struct conv_params *p, struct aten_tensor *large, struct aten_tensor *small,
					   const struct aten_tensor *weight)
{
	struct aten_tensor **part = aten_scratch((uint64_t)p->groups, sizeof(struct aten_tensor *));
	struct conv_params around = {.stride = p->dilation, .padding = p->padding, .dilation = p->stride, .groups = 1, .channels_last = -1};
	int64_t wide = large->size[1] / p->groups, each = small->size[1] / p->groups;
	for (int64_t g = 0; g < p->groups; g++) {
		struct aten_tensor *x = aten_transpose(aten_narrow(large, 1, g * wide, wide), 0, 1);
		struct aten_tensor *y = aten_transpose(aten_narrow(small, 1, g * each, each), 0, 1);
		struct aten_tensor *met = aten_convolution(aten_contiguous(x), aten_contiguous(y), NULL, &around);
		for (int i = 0; i < weight->n_dim - 2; i++)
			met = aten_narrow(met, i + 2, 0, weight->size[i + 2]);
		part[g] = aten_transpose(met, 0, 1);
	}
	return aten_cat((struct tensors){part, p->groups}, 0);
}

/* grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask */
static void run_convolution_backward(struct aten_call *c)
{
	struct aten_tensor *grad = call_tensor(c, 0), *x = call_tensor(c, 1), *w = call_tensor(c, 2);
	int64_t extra[3] = {0}, order[ATEN_DIMS];
	struct ints wanted = call_ints(c, 10);
	bool transposed = call_bool(c, 7);
	int spatial = x->n_dim - 2;
	if (wanted.n != 3 || spatial < 1 || spatial > 3 || w->n_dim != x->n_dim || grad->n_dim != x->n_dim)
		aten_fail("expected input, weight and gradient with the same 3 to 5 dimensions");
	struct conv_params p = {.stride = each_of(c, 4, spatial),
				.padding = each_of(c, 5, spatial),
				.dilation = each_of(c, 6, spatial),
				.groups = call_int(c, 9),
				.transposed = !transposed,
				.channels_last = -1};
	const int64_t *stride = p.stride.v, *padding = p.padding.v, *given = each_of(c, 8, spatial).v;
	for (int i = 0; i < spatial; i++) {
		int64_t small = (transposed ? x : grad)->size[i + 2], large = (transposed ? grad : x)->size[i + 2];
		if (stride[i] < 1 || padding[i] < 0)
			aten_fail("invalid stride %lld, padding %lld", (long long)stride[i], (long long)padding[i]);
		/* how many elements the windows reach over */
		int64_t reach = size_plus(size_times(small - 1, stride[i]), size_plus(size_times(p.dilation.v[i], w->size[i + 2] - 1), 1));
		extra[i] = size_minus(size_plus(large, size_times(2, padding[i])), reach);
		if (transposed ? extra[i] != given[i] : extra[i] < 0 || extra[i] >= stride[i])
			aten_fail("the gradient does not have the sizes of the convolution's result");
	}
	if (!transposed)
		p.output_padding = (struct ints){extra, spatial};
	struct aten_tensor *dx = wanted.v[0] ? aten_convolution(grad, w, NULL, &p) : NULL;
	for (int i = 0; dx && i < spatial; i++)
		dx = aten_narrow(dx, i + 2, 0, x->size[i + 2]);
	/* channels_last, if the convolution's result would be */
	int format = spatial == 2 && (aten_channels_last(x) || aten_channels_last(w)) ? ATEN_CHANNELS_LAST : ATEN_CONTIGUOUS;
	struct aten_tensor *dw = !wanted.v[1] ? NULL : transposed ? weight_gradient(&p, grad, x, w) : weight_gradient(&p, x, grad, w);
	call_give(c, 0, dx ? aten_to_copy(dx, dx->dtype, format) : NULL);
	call_give(c, 1, dw ? aten_to_copy(dw, dw->dtype, format) : NULL);
	for (int i = 0, k = 0; i < grad->n_dim; i++)
		if (i != 1)
			order[k++] = i;
	call_give(c, 2, wanted.v[2] ? APPLIED("sum.dim_IntList", aten_of(grad), aten_ints(order, grad->n_dim - 1)) : NULL);
}

/* ---- attention ---- */

/* The operands that sdp_utils_cpp.cpp accepts for flash attention. */
static bool can_flash(const struct aten_tensor *q, const struct aten_tensor *k, const struct aten_tensor *v, const struct aten_tensor *mask)
{
	bool fits = q->n_dim == 4 && k->n_dim == 4 && v->n_dim == 4 && q->size[3] == k->size[3] && q->size[3] == v->size[3];
	for (int i = 0; i < 2 && fits; i++)
		fits = q->size[i] == k->size[i] && q->size[i] == v->size[i];
	const struct aten_tensor *all[] = {q, k, v};
	for (int i = 0; i < 3 && fits; i++)
		fits = aten_numel(all[i]) && all[i]->stride[3] == 1 && elem_floating(all[i]->dtype);
	return fits && (!mask || mask->n_dim == 2 || mask->n_dim == 4);
}

/* aten/src/ATen/native/transformers/attention.cpp, _scaled_dot_product_attention_math: the square root of the scale is applied to both
 * sides */
static struct aten_tensor *attention_math(struct aten_tensor *q, struct aten_tensor *k, struct aten_tensor *v, struct aten_tensor *mask,
					  bool causal, double scale)
{
	struct aten_tensor *root = aten_number(sqrt(scale));
	struct aten_tensor *scores = matmul(aten_mul(q, root), aten_transpose(aten_mul(k, root), -2, -1));
	if (causal) {
		int64_t size[2] = {q->size[q->n_dim - 2], k->size[k->n_dim - 2]};
		mask = aten_full(size, 2, 1, DTYPE_BOOL);
		for (int64_t i = 0; i < size[0] && aten_computes(); i++)
			for (int64_t j = i + 1; j < size[1]; j++)
				aten_data(mask)[i * size[1] + j] = 0;
	}
	if (mask && mask->dtype == DTYPE_BOOL)
		mask = aten_where(mask, aten_number(0), aten_number(-(double)INFINITY));
	if (mask)
		scores = aten_add(scores, mask->dtype == scores->dtype ? mask : aten_to_copy(mask, scores->dtype, ATEN_PRESERVE), 1);
	struct aten_tensor *weights = aten_softmax(scores, -1, false);
	/* a fully masked row: zeros (_safe_softmax) */
	weights = aten_masked_fill(weights, aten_isnan(weights), aten_number(0));
	return matmul(weights, v);
}

/* query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa */
static void run_attention(struct aten_call *c)
{
	struct aten_tensor *q = call_tensor(c, 0), *k = call_tensor(c, 1), *v = call_tensor(c, 2), *mask = call_tensor_or_none(c, 3);
	bool causal = call_bool(c, 5), given = !call_is_none(c, 6);
	if (call_float(c, 4) != 0)
		aten_fail("dropout is random");
	if (causal && mask)
		aten_fail("Explicit attn_mask should not be set when is_causal=True");
	if (q->n_dim < 2 || k->n_dim < 2 || v->n_dim < 2 || q->dtype != k->dtype || q->dtype != v->dtype)
		aten_fail("expected query, key, and value with at least 2 dimensions and the same dtype");
	double scale = given ? call_float(c, 6) : 1 / sqrt((double)q->size[q->n_dim - 1]);
	if (call_bool(c, 7) && q->n_dim > 2 && q->size[q->n_dim - 3] != k->size[k->n_dim - 3]) {
		int64_t times = q->size[q->n_dim - 3] / (k->size[k->n_dim - 3] ? k->size[k->n_dim - 3] : 1);
		k = aten_repeat_each(k, -3, times);
		v = aten_repeat_each(v, -3, times);
	}
	if (!can_flash(q, k, v, mask)) {
		call_give(c, 0, attention_math(q, k, v, mask, causal, scale));
		return;
	}
	if (mask && mask->dtype == DTYPE_BOOL)
		mask = aten_to_copy(aten_where(mask, aten_number(0), aten_number(-(double)INFINITY)), q->dtype, ATEN_PRESERVE);
	if (mask) { /* expanded to all heads, as the kernel requires */
		int64_t whole[4] = {q->size[0], q->size[1], q->size[2], k->size[2]};
		mask = mask->n_dim == 2 ? mask : aten_expand(mask, whole, 4);
	}
	call_give(c, 0, aten_flash_attention(q, k, v, 0, causal, mask, given ? &scale : NULL).first);
}
/* query, key, value, dropout_p, is_causal, attn_mask, scale */
static void run_flash(struct aten_call *c)
{
	double scale = call_float_or(c, 6, 0);
	call_give_two(c, aten_flash_attention(call_tensor(c, 0), call_tensor(c, 1), call_tensor(c, 2), call_float(c, 3), call_bool(c, 4),
					      call_tensor_or_none(c, 5), call_is_none(c, 6) ? NULL : &scale));
}

static void run_int_mm(struct aten_call *c)
{
	struct aten_tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
	need_dims(a, 2, "self");
	need_dims(b, 2, "mat2");
	int64_t size[2] = {a->size[0], b->size[1]};
	struct aten_tensor *out = aten_new(DTYPE_I32, 2, size, NULL);
	aten_int_mm_out(out, a, b);
	call_give(c, 0, out);
}

static void run_grouped_mm(struct aten_call *c) /* self, mat2, offs, bias, out_dtype */
{
	struct aten_tensor *self = call_tensor(c, 0), *offs = call_tensor_or_none(c, 2), *bias = call_tensor_or_none(c, 3);
	call_give(c, 0, aten_grouped_mm(self, call_tensor(c, 1), offs, bias, call_dtype_or(c, 4, self->dtype)));
}

static void run_grouped_mm_fallback(struct aten_call *c)
{
	call_give(c, 0, aten_grouped_mm_fallback(call_tensor(c, 0), call_tensor(c, 1), call_tensor(c, 2)));
}

const struct aten_entry aten_product_entries[] = {
    {"_grouped_mm", run_grouped_mm},
    {"_int_mm", run_int_mm},
    {"_scaled_dot_product_flash_attention_for_cpu", run_flash},
    {"transformers::grouped_mm_fallback", run_grouped_mm_fallback},
    {"addmm", run_addmm},
    {"addmv", run_addmv},
    {"baddbmm", run_addmm},
    {"bmm", run_mm},
    {"conv1d", run_conv, "1"},
    {"conv1d.padding", run_conv_padding, "1"},
    {"conv2d", run_conv, "2"},
    {"conv2d.padding", run_conv_padding, "2"},
    {"conv3d", run_conv, "3"},
    {"conv3d.padding", run_conv_padding, "3"},
    {"conv_transpose1d", run_conv_transpose, "1"},
    {"conv_transpose2d.input", run_conv_transpose, "2"},
    {"conv_transpose3d.input", run_conv_transpose, "3"},
    {"convolution", run_convolution},
    {"convolution_backward", run_convolution_backward},
    {"dot", run_dot},
    {"linear", run_linear},
    {"matmul", run_matmul},
    {"mm", run_mm},
    {"mv", run_mv},
    {"outer", run_outer},
    {"scaled_dot_product_attention", run_attention},
    {"vdot", run_vdot},
    {0},
};
