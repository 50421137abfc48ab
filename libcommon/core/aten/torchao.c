/* torchao's affine quantization (torchao/quantization/quant_primitives.py): one scale and zero point for each block of a tensor. */
#include "call.h"
#include "elem.h"
#include "ops.h"

static struct aten_value T(struct aten_tensor *t) {
	return aten_of(t);
}

/* A tensor's sizes by blocks: [3, 3, 10, 10] by (3, 3, 2, 10) is [3, 3, 5, 2, 10], reduced over dims 0, 1, 3 and 4
 * (_get_reduction_params). */
struct blocks {
	int64_t size[ATEN_DIMS], reduced[ATEN_DIMS], dim[ATEN_DIMS];
	int n, n_dim;
};

static void take_blocks(struct blocks *b, const struct aten_tensor *t, struct ints block)
{
	*b = (struct blocks){.n = 0};
	if (block.n != t->n_dim || 2 * t->n_dim > ATEN_DIMS)
		aten_fail("Got input dim:%d, block_size of %lld", t->n_dim, (long long)block.n);
	for (int i = 0; i < t->n_dim; i++) {
		const int64_t size = t->size[i], by = block.v[i];
		if (by < 1 || (by != size && size % by))
			aten_fail("Expecting input size at %d dimension: %lld to be divisible by block_size: %lld", i, (long long)size,
				  (long long)by);
		const bool split = by != size && by > 1;
		if (split)
			b->reduced[b->n] = b->size[b->n] = size / by, b->n++;
		if (by != 1)
			b->dim[b->n_dim++] = b->n;
		b->size[b->n] = split ? by : size;
		b->reduced[b->n] = by != 1 ? 1 : size;
		b->n++;
	}
}

static struct aten_tensor *by_blocks(const struct blocks *b, struct aten_tensor *t) { return aten_reshape(t, b->size, b->n); }
static struct aten_tensor *for_blocks(const struct blocks *b, struct aten_tensor *t) { return aten_reshape(t, b->reduced, b->n); }

/* The range of a quantized dtype where none is given. */
static void take_range(const struct aten_call *c, uint32_t at, int dtype, double *low, double *high)
{
	const int bits = 8 * dtype_info(dtype)->bytes;
	if (!elem_integral(dtype) || bits > 32)
		aten_fail("unsupported dtype of quantized values: %s", dtype_name(dtype));
	const bool is_signed = dtype == DTYPE_I8 || dtype == DTYPE_I16 || dtype == DTYPE_I32;
	const double span = (double)(INT64_C(1) << bits);
	*low = call_float_or(c, at, is_signed ? -span / 2 : 0);
	*high = call_float_or(c, at + 1, is_signed ? span / 2 - 1 : span - 1);
}

static void run_quantize(struct aten_call *c) /* input, block_size, scale, zero_point, output_dtype, quant_min, quant_max */
{
	struct aten_tensor *t = call_tensor(c, 0), *zero = call_tensor_or_none(c, 3);
	const int dtype = call_dtype_or(c, 4, DTYPE_I8);
	struct blocks b;
	double low, high;
	take_blocks(&b, t, call_ints(c, 1));
	take_range(c, 5, dtype, &low, &high);
	struct aten_tensor *q = aten_mul(by_blocks(&b, t), APPLIED("reciprocal", T(for_blocks(&b, call_tensor(c, 2)))));
	q = APPLIED("round", T(q));
	q = zero && aten_numel(zero) ? aten_add(q, for_blocks(&b, zero), 1) : q;
	q = APPLIED("clamp", T(q), aten_float(low), aten_float(high));
	call_give(c, 0, APPLIED("to.dtype", T(aten_reshape(q, t->size, t->n_dim)), aten_dtype(dtype)));
}

static void run_dequantize(struct aten_call *c) /* input, block_size, scale, zero_point, input_dtype, quant_min, quant_max, output_dtype */
{
	struct aten_tensor *t = call_tensor(c, 0), *zero = call_tensor_or_none(c, 3);
	const int asked = call_dtype_or(c, 7, DTYPE_F32);
	const struct aten_value dtype =
	    aten_dtype(asked == DTYPE_F32 ? aten_default_dtype() : asked); /* float64 where a graph is computed in it */
	struct blocks b;
	take_blocks(&b, t, call_ints(c, 1));
	struct aten_tensor *v = APPLIED("to.dtype", T(by_blocks(&b, t)), dtype);
	if (zero && aten_numel(zero))
		v = aten_sub(v, APPLIED("to.dtype", T(for_blocks(&b, zero)), dtype), 1);
	v = aten_reshape(aten_mul(v, for_blocks(&b, call_tensor(c, 2))), t->size, t->n_dim);
	call_give(c, 0, APPLIED("to.dtype", T(v), dtype));
}

static struct aten_tensor *over(struct aten_tensor *t, double by) { return APPLIED("div.Tensor", T(t), T(aten_number(by))); }

/* input, mapping_type, block_size, target_dtype, quant_min, quant_max, eps, scale_dtype, zero_point_dtype, keepdim */
static void run_choose(struct aten_call *c)
{
	struct aten_tensor *t = call_tensor(c, 0), *scale, *zero;
	const struct ints block = call_ints(c, 2);
	const char *how = call_string_or(c, 1, "");
	const bool keep = call_bool(c, 9), symmetric = !strcmp(how, "SYMMETRIC"), unclipped = !strcmp(how, "SYMMETRIC_NO_CLIPPING_ERR");
	struct blocks b;
	double low, high;
	take_blocks(&b, t, block);
	take_range(c, 4, call_dtype_or(c, 3, DTYPE_I8), &low, &high);
	if (!symmetric && !unclipped && strcmp(how, "ASYMMETRIC") != 0)
		aten_fail("Unsupported mapping type: %s", how);
	const double tiny = t->dtype == DTYPE_F16 ? 0x1p-14 : t->dtype == DTYPE_F64 ? 0x1p-1022 : 0x1p-126;
	const struct aten_value dims = aten_ints(b.dim, b.n_dim), eps = aten_float(call_float_or(c, 6, tiny));
	struct aten_value x = T(by_blocks(&b, t)), least = T(APPLIED("amin", x, dims, aten_bool(keep))),
			  most = T(APPLIED("amax", x, dims, aten_bool(keep))), none = T(APPLIED("zeros_like", least));
	least = T(APPLIED("minimum", least, none));
	most = T(APPLIED("maximum", most, none));
	if (symmetric) {
		scale = over(APPLIED("maximum", T(APPLIED("neg", least)), most), (high - low) / 2);
	} else if (unclipped) {
		struct aten_value below = T(over(least.tensor, low)), above = T(over(most.tensor, high));
		scale = aten_where(APPLIED("gt.Tensor", below, above), below.tensor, above.tensor);
	} else {
		scale = over(aten_sub(most.tensor, least.tensor, 1), high - low);
	}
	scale = APPLIED("clamp", T(scale), eps);
	if (symmetric || unclipped) {
		zero = APPLIED("full_like", T(scale), aten_int((int64_t)((high + low + 1) / 2)));
	} else {
		zero = APPLIED("round", T(APPLIED("div.Tensor", least, T(scale))));
		zero = APPLIED("clamp", T(aten_sub(aten_number(low), zero, 1)), aten_float(low), aten_float(high));
	}
	int64_t size[ATEN_DIMS];
	for (int i = 0; i < t->n_dim; i++)
		size[i] = t->size[i] / block.v[i];
	scale = keep ? aten_reshape(scale, size, t->n_dim) : scale;
	zero = keep ? aten_reshape(zero, size, t->n_dim) : zero;
	call_give(c, 0, APPLIED("to.dtype", T(scale), aten_dtype(call_dtype_or(c, 7, t->dtype))));
	call_give(c, 1, APPLIED("to.dtype", T(zero), aten_dtype(call_dtype_or(c, 8, symmetric || unclipped ? zero->dtype : DTYPE_I32))));
}

const struct aten_entry aten_torchao_entries[] = {
    {"torchao::choose_qparams_affine", run_choose},
    {"torchao::dequantize_affine", run_dequantize},
    {"torchao::quantize_affine", run_quantize},
    {0},
};
