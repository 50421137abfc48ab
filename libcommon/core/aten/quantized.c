/* Quantization in exported graphs, by its component operators (torch 2.13 and 2.15, torch/ao/quantization/fx/_decomposed.py;
 * determine_qparams of torch/ao/quantization/utils.py): quantized_decomposed.*, a namespace of torch.ao, not ATen. If scale or zero point
 * are tensors of one number, shapes do not need its value. A float without a given dtype is float32, or float64 where a
 * graph is computed in it. */
#include "call.h"
#include "elem.h"
#include "ops.h"

/* The one number of a tensor; a number. */
static double number_at(const struct aten_call *c, uint32_t i)
{
	if (GIVEN(c, i).kind != ATEN_TENSOR)
		return call_float(c, i);
	struct aten_tensor *t = call_tensor(c, i);
	if (aten_numel(t) != 1)
		aten_fail("expected a tensor of one element, but got %lld", (long long)aten_numel(t));
	return aten_computes() ? elem_f64(t->dtype, aten_data(t)) : 1;
}

static struct aten_tensor *float_input(const struct aten_call *c)
{
	struct aten_tensor *t = call_tensor(c, 0);
	if (t->dtype == DTYPE_F16 || t->dtype == DTYPE_BF16)
		t = aten_to_copy(t, DTYPE_F32, ATEN_PRESERVE);
	if (t->dtype != DTYPE_F32 && t->dtype != DTYPE_F64) /* torch refuses float64; a graph that is computed in it has it here */
		aten_fail("Expecting input to have dtype torch.float32, but got dtype: %s", dtype_name(t->dtype));
	return t;
}

static struct aten_tensor *within(struct aten_tensor *t, struct aten_value low, struct aten_value high, int dtype)
{
	return APPLIED("to.dtype", aten_of(APPLIED("clamp", aten_of(t), low, high)), aten_dtype(dtype));
}

static struct aten_tensor *rounded(struct aten_tensor *scaled, struct aten_tensor *zero, double low, double high, int dtype)
{
	return within(aten_add(APPLIED("round", aten_of(scaled)), zero, 1), aten_int(elem_to_i64(low)), aten_int(elem_to_i64(high)), dtype);
}

static struct aten_tensor *whole_number(double v)
{
	struct aten_tensor *t = aten_new_anyway(DTYPE_I64, 0, NULL);
	elem_set_f64(DTYPE_I64, aten_data(t), v);
	t->wrapped = true;
	return t;
}

/* input, scale, zero_point, quant_min, quant_max, dtype */
static void run_quantize(struct aten_call *c)
{
	struct aten_tensor *scaled = aten_mul(float_input(c), aten_number(1 / number_at(c, 1)));
	call_give(c, 0, rounded(scaled, whole_number(number_at(c, 2)), number_at(c, 3), number_at(c, 4), call_dtype_or(c, 5, DTYPE_U8)));
}

static struct aten_tensor *quantized_input(const struct aten_call *c, uint32_t dtype_at)
{
	struct aten_tensor *t = call_tensor(c, 0);
	int dtype = call_dtype_or(c, dtype_at, t->dtype);
	if (t->dtype != dtype)
		aten_fail("Expecting input to have dtype: %s, but got %s", dtype_name(dtype), dtype_name(t->dtype));
	return t;
}

/* input, scale, zero_point, quant_min, quant_max, dtype, out_dtype */
static void run_dequantize(struct aten_call *c)
{
	struct aten_tensor *t = quantized_input(c, 5);
	t = APPLIED("to.dtype", aten_of(t), aten_dtype(call_dtype_or(c, 6, aten_default_dtype())));
	call_give(c, 0, aten_mul(aten_sub(t, whole_number(number_at(c, 2)), 1), aten_number(number_at(c, 1))));
}

/* A number for each index of the first dim of t. */
static struct aten_tensor *along_first(const struct aten_call *c, uint32_t i, const struct aten_tensor *t)
{
	struct aten_tensor *v = call_tensor(c, i);
	int64_t shape[ATEN_DIMS];
	for (int k = 0; k < t->n_dim; k++)
		shape[k] = k ? 1 : aten_numel(v);
	return aten_reshape(v, shape, t->n_dim);
}

/* input, scales, zero_points, axis, quant_min, quant_max, dtype */
static void run_quantize_channels(struct aten_call *c)
{
	struct aten_tensor *t = float_input(c);
	int axis = aten_dim(t, call_int(c, 3));
	t = aten_transpose(t, 0, axis);
	struct aten_tensor *scaled = aten_mul(t, APPLIED("reciprocal", aten_of(along_first(c, 1, t))));
	struct aten_tensor *q = aten_add(APPLIED("round", aten_of(scaled)), along_first(c, 2, t), 1);
	q = APPLIED("clamp", aten_of(q), GIVEN(c, 4), GIVEN(c, 5));
	call_give(c, 0, APPLIED("to.dtype", aten_of(aten_transpose(q, 0, axis)), aten_dtype(call_dtype_or(c, 6, DTYPE_U8))));
}

/* input, scales, zero_points, axis, quant_min, quant_max, dtype, out_dtype */
static void run_dequantize_channels(struct aten_call *c)
{
	struct aten_tensor *t = quantized_input(c, 6);
	int axis = aten_dim(t, call_int(c, 3));
	t = aten_transpose(t, 0, axis);
	if (!call_is_none(c, 2))
		t = aten_sub(t, along_first(c, 2, t), 1);
	t = aten_mul(t, along_first(c, 1, t));
	t = APPLIED("to.dtype", aten_of(t), aten_dtype(call_dtype_or(c, 7, aten_default_dtype())));
	call_give(c, 0, aten_transpose(t, 0, axis));
}

/* input, quant_min, quant_max, eps, dtype; entry.data: symmetric */
static void run_choose(struct aten_call *c)
{
	struct aten_tensor *t = call_tensor(c, 0);
	const struct aten_value *ends = APPLY("aminmax", aten_of(t));
	int64_t low = call_int(c, 1), high = call_int(c, 2), one = 1;
	if (t->dtype != DTYPE_F32 && t->dtype != DTYPE_F16 && t->dtype != DTYPE_BF16 && t->dtype != DTYPE_F64)
		aten_fail("Expecting input to have dtype torch.float32/16/b16, but got dtype: %s", dtype_name(t->dtype));
	if (low >= high)
		aten_fail("qmin must be less than qmax.");
	struct aten_value none = aten_of(APPLIED("zeros_like", ends[0])), least = aten_of(APPLIED("minimum", ends[0], none)),
			  most = aten_of(APPLIED("maximum", ends[1], none)), scale;
	struct aten_tensor *zero, *eps = aten_full(&one, 1, call_float(c, 3), DTYPE_F32);
	const double range = (double)high - (double)low;
	if (c->entry->data) {
		most = aten_of(APPLIED("maximum", aten_of(APPLIED("neg", least)), most));
		scale = aten_of(APPLIED("div.Tensor", most, aten_of(aten_number(range / 2))));
		scale = aten_of(APPLIED("maximum", scale, aten_of(eps)));
		zero = aten_full(&one, 1, call_dtype_or(c, 4, DTYPE_I8) == DTYPE_U8 ? 128 : 0, DTYPE_I64);
	} else {
		scale = aten_of(APPLIED("div.Tensor", aten_of(aten_sub(most.tensor, least.tensor, 1)), aten_of(aten_number(range))));
		scale = aten_of(APPLIED("maximum", scale, aten_of(eps)));
		zero = APPLIED("round", aten_of(APPLIED("div.Tensor", least, scale)));
		zero = aten_sub(whole_number((double)low), aten_to_copy(zero, DTYPE_I32, ATEN_PRESERVE), 1);
		zero = APPLIED("clamp", aten_of(zero), aten_int(low), aten_int(high));
	}
	call_give(c, 0, aten_to_copy(scale.tensor, DTYPE_F64, ATEN_PRESERVE));
	call_give(c, 1, aten_to_copy(zero, DTYPE_I64, ATEN_PRESERVE));
}

/* ---- one number for each token: for each row of the last dim ---- */

/* input, dtype */
static void run_choose_token(struct aten_call *c)
{
	struct aten_value x = aten_of(call_tensor(c, 0)), none = ATEN_NOTHING;
	if (call_dtype_or(c, 1, DTYPE_NONE) != DTYPE_I8)
		aten_fail("unsupported dtype in choose_qparams_per_token: %s", dtype_name(call_dtype_or(c, 1, DTYPE_NONE)));
	struct aten_tensor *scale = APPLIED("amax", aten_of(aten_abs(x.tensor)), aten_int(-1), aten_bool(true));
	if (scale->dtype == DTYPE_F16)
		scale = aten_to_copy(scale, DTYPE_F32, ATEN_PRESERVE);
	scale = APPLIED("clamp", aten_of(scale), aten_float(1e-5), none);
	scale = APPLIED("div.Tensor", aten_of(scale), aten_of(aten_number(127)));
	call_give(c, 0, scale);
	call_give(c, 1, APPLIED("zeros_like", aten_of(scale)));
}

static struct aten_value plus(double number, struct aten_value t, double sign)
{
	return aten_of(APPLIED("add.Tensor", aten_of(aten_number(number)), t, aten_float(sign)));
}

/* input, dtype: as in XNNPACK, to int8 whatever dtype is */
static void run_choose_token_asymmetric(struct aten_call *c)
{
	const double low = -128, high = 127;
	struct aten_value x = GIVEN(c, 0), last = aten_int(-1), keep = aten_bool(true);
	struct aten_value least = aten_of(APPLIED("amin", x, last, keep)), most = aten_of(APPLIED("amax", x, last, keep));
	least = aten_of(APPLIED("minimum", least, aten_of(APPLIED("zeros_like", least))));
	most = aten_of(APPLIED("maximum", most, aten_of(APPLIED("zeros_like", most))));
	struct aten_value scale = aten_of(aten_sub(most.tensor, least.tensor, 1));
	scale = aten_of(APPLIED("div.Tensor", scale, aten_of(aten_number(high - low))));
	scale = aten_of(APPLIED("clamp", scale, aten_float(1.1920928955078125e-07)));
	least = aten_of(APPLIED("div.Tensor", least, scale));
	most = aten_of(APPLIED("div.Tensor", most, scale));
	struct aten_value errors = aten_of(aten_add(plus(low, least, 1).tensor, plus(high, most, 1).tensor, 1));
	struct aten_tensor *zero =
	    aten_where(APPLIED("gt.Scalar", errors, aten_int(0)), plus(low, least, -1).tensor, plus(high, most, -1).tensor);
	zero = APPLIED("round", aten_of(APPLIED("clamp", aten_of(zero), aten_float(low), aten_float(high))));
	call_give(c, 0, aten_to_copy(scale.tensor, DTYPE_F64, ATEN_PRESERVE));
	call_give(c, 1, aten_to_copy(zero, DTYPE_I64, ATEN_PRESERVE));
}

/* round(t / scales + zeros) clamped to its range */
static struct aten_tensor *quantize_within(struct aten_tensor *t, struct aten_tensor *scales, struct aten_tensor *zeros,
					   struct aten_value low, struct aten_value high, int dtype)
{
	t = aten_add(aten_mul(t, APPLIED("reciprocal", aten_of(scales))), zeros, 1);
	return within(APPLIED("round", aten_of(t)), low, high, dtype);
}

static void need_tokens(const struct aten_call *c, const struct aten_tensor *t)
{
	int64_t n = size_of_all(t->n_dim - 1, t->size);
	for (uint32_t i = 1; i < 3; i++)
		if (aten_numel(call_tensor(c, i)) != n)
			aten_fail("for %lld tokens, %s has %lld elements", (long long)n, i == 1 ? "scales" : "zero points",
				  (long long)aten_numel(call_tensor(c, i)));
}

/* input, scales, zero_points, quant_min, quant_max, dtype */
static void run_quantize_tokens(struct aten_call *c)
{
	struct aten_tensor *t = call_tensor(c, 0);
	need_tokens(c, t);
	call_give(c, 0, quantize_within(t, call_tensor(c, 1), call_tensor(c, 2), GIVEN(c, 3), GIVEN(c, 4), call_dtype_or(c, 5, DTYPE_I8)));
}

/* input, scales, zero_points, quant_min, quant_max, dtype, output_dtype */
static void run_dequantize_tokens(struct aten_call *c)
{
	struct aten_tensor *t = aten_mul(aten_sub(call_tensor(c, 0), call_tensor(c, 2), 1), call_tensor(c, 1));
	call_give(c, 0, APPLIED("to.dtype", aten_of(t), aten_dtype(call_dtype_or(c, 6, aten_default_dtype()))));
}

/* ---- one for each group_size elements of a row ---- */

static struct aten_tensor *grouped(struct aten_tensor *t, int64_t size) { return aten_reshape(t, (const int64_t[]){-1, size}, 2); }

static int64_t group_size(const struct aten_call *c, uint32_t at)
{
	const struct aten_tensor *t = call_tensor(c, 0), *scales = call_tensor(c, 1);
	int64_t size = call_int(c, at);
	if (t->n_dim != 2 || size <= 1)
		aten_fail("groups of %lld in %d dimensions: expected 2 dimensions and groups of more than one", (long long)size, t->n_dim);
	if (size > t->size[1] && scales->n_dim && scales->size[scales->n_dim - 1] == 1) /* GPTQ, a single column */
		size = t->size[1];
	if (!size || t->size[1] % size)
		aten_fail("rows of %lld are not divisible into groups of %lld", (long long)t->size[1], (long long)size);
	return size;
}

/* input, scales, zero_points, quant_min, quant_max, dtype, group_size */
static void run_quantize_groups(struct aten_call *c)
{
	struct aten_tensor *t = call_tensor(c, 0), *of = grouped(t, group_size(c, 6));
	if (aten_computes() && elem_true(DTYPE_BOOL, aten_data(APPLIED("any", aten_of(aten_isnan(of))))))
		aten_fail("to_quant must not contain NaNs");
	of = quantize_within(of, grouped(call_tensor(c, 1), 1), grouped(call_tensor(c, 2), 1), GIVEN(c, 3), GIVEN(c, 4),
			     call_dtype_or(c, 5, DTYPE_I8));
	call_give(c, 0, aten_reshape(of, t->size, t->n_dim));
}

/* input, scales, zero_points, quant_min, quant_max, dtype, group_size, output_dtype */
static void run_dequantize_groups(struct aten_call *c)
{
	struct aten_tensor *t = call_tensor(c, 0), *of = grouped(t, group_size(c, 6));
	of = aten_sub(of, call_is_none(c, 2) ? whole_number(0) : grouped(call_tensor(c, 2), 1), 1);
	of = aten_reshape(aten_mul(of, grouped(call_tensor(c, 1), 1)), t->size, t->n_dim);
	call_give(c, 0, APPLIED("to.dtype", aten_of(of), aten_dtype(call_dtype_or(c, 7, aten_default_dtype()))));
}

const struct aten_entry aten_quantized_entries[] = {
    {"quantized_decomposed::_choose_qparams_per_token_asymmetric_impl", run_choose_token_asymmetric},
    {"quantized_decomposed::choose_qparams_per_token", run_choose_token},
    {"quantized_decomposed::choose_qparams_per_token_asymmetric", run_choose_token_asymmetric},
    {"quantized_decomposed::dequantize_per_channel_group", run_dequantize_groups},
    {"quantized_decomposed::dequantize_per_token", run_dequantize_tokens},
    {"quantized_decomposed::quantize_per_channel_group", run_quantize_groups},
    {"quantized_decomposed::quantize_per_token", run_quantize_tokens},
    {"quantized_decomposed::choose_qparams.tensor", run_choose},
    {"quantized_decomposed::choose_qparams_symmetric.tensor", run_choose, "symmetric"},
    {"quantized_decomposed::dequantize_per_channel", run_dequantize_channels},
    {"quantized_decomposed::dequantize_per_tensor", run_dequantize},
    {"quantized_decomposed::dequantize_per_tensor.tensor", run_dequantize},
    {"quantized_decomposed::dequantize_per_tensor.tensor2", run_dequantize},
    {"quantized_decomposed::quantize_per_channel", run_quantize_channels},
    {"quantized_decomposed::quantize_per_tensor", run_quantize},
    {"quantized_decomposed::quantize_per_tensor.tensor", run_quantize},
    {"quantized_decomposed::quantize_per_tensor.tensor2", run_quantize},
    {0},
};
