/* Quantization as exported graphs have it, by the operators that it is made of (torch 2.13 and 2.15,
 * torch/ao/quantization/fx/_decomposed.py; determine_qparams of torch/ao/quantization/utils.py): quantized_decomposed.*, which is no
 * namespace of ATen but of torch.ao. Where scale or zero point are tensors of one number, shapes are told without it. */
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
	if (t->dtype != DTYPE_F32)
		aten_fail("Expecting input to have dtype torch.float32, but got dtype: %s", dtype_name(t->dtype));
	return t;
}

static struct aten_tensor *rounded(struct aten_tensor *scaled, struct aten_tensor *zero, double low, double high, int dtype)
{
	struct aten_tensor *q = aten_add(APPLIED("round", aten_of(scaled)), zero, 1);
	q = APPLIED("clamp", aten_of(q), aten_int(elem_to_i64(low)), aten_int(elem_to_i64(high)));
	return APPLIED("to.dtype", aten_of(q), aten_dtype(dtype));
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
	t = APPLIED("to.dtype", aten_of(t), aten_dtype(call_dtype_or(c, 6, DTYPE_F32)));
	call_give(c, 0, aten_mul(aten_sub(t, whole_number(number_at(c, 2)), 1), aten_number(number_at(c, 1))));
}

/* One number for each place of the first dim of t. */
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
	t = APPLIED("to.dtype", aten_of(t), aten_dtype(call_dtype_or(c, 7, DTYPE_F32)));
	call_give(c, 0, aten_transpose(t, 0, axis));
}

/* input, quant_min, quant_max, eps, dtype; entry.data: symmetric */
static void run_choose(struct aten_call *c)
{
	struct aten_tensor *t = call_tensor(c, 0);
	const struct aten_value *ends = APPLY("aminmax", aten_of(t));
	int64_t low = call_int(c, 1), high = call_int(c, 2), one = 1;
	if (t->dtype != DTYPE_F32 && t->dtype != DTYPE_F16 && t->dtype != DTYPE_BF16)
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

const struct aten_entry aten_quantized_entries[] = {
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
