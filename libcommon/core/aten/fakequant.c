/* Fake quantization: values rounded to those that a quantized tensor can have, in float (torch 2.13 and 2.15,
 * aten/src/ATen/native/quantized/FakeQuantPerTensorAffine.cpp, FakeQuantPerChannelAffine.cpp, cpu/kernels/QuantizedOpKernels.cpp;
 * quantized/cpu/fused_obs_fake_quant.cpp). (clamp(round(x * (1 / scale)) + zero) - zero) * scale, in the element's own type. */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

/* Of one element: its value, and whether it was within the range. */
struct fake {
	float scale, zero;
	int64_t low, high;
};

/* A float64 in double, with the scale as it is in float. */
static double fake_value(const struct fake *f, double x, bool in_double, bool *within)
{
	const float by = 1.0f / f->scale, step = nearbyintf((float)x * by);
	const double q = (in_double ? nearbyint(x * (double)by) : (double)step) + (double)f->zero;
	const double low = (double)f->low, high = (double)f->high;
	*within = low <= q && q <= high;
	/* fmin(fmax()): NaN becomes the lower end, as there */
	return (fmin(fmax(q, low), high) - (double)f->zero) * (double)f->scale;
}

/* The one number of a tensor; a number. */
static double one_number(const struct aten_call *c, uint32_t i, double unknown)
{
	if (GIVEN(c, i).kind != ATEN_TENSOR)
		return call_float(c, i);
	struct aten_tensor *t = call_tensor(c, i);
	if (aten_numel(t) < 1)
		aten_fail("expected a tensor of one element, but got none");
	return aten_computes() ? elem_f64(t->dtype, aten_data(t)) : unknown;
}

static void need_range(int64_t low, int64_t high)
{
	if (low > high)
		aten_fail("`quant_min` should be less than or equal to `quant_max`.");
}

static void fill_fake(struct aten_tensor *out, struct aten_tensor *mask, const struct aten_tensor *self, const struct fake *f)
{
	struct walk w = WALK(out, self, mask);
	bool within;
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		elem_set_f64(out->dtype, w.p[0], fake_value(f, elem_f64(self->dtype, w.p[1]), self->dtype == DTYPE_F64, &within));
		elem_set_i64(DTYPE_BOOL, w.p[2], within);
	}
}

static void run_per_tensor(struct aten_call *c) /* self, scale, zero_point, (fake_quant_enabled,) quant_min, quant_max */
{
	struct aten_tensor *self = call_tensor(c, 0);
	const bool switched = c->n == 6, enabled = !switched || one_number(c, 3, 1) != 0;
	struct fake f = {(float)one_number(c, 1, 1), (float)one_number(c, 2, 0), call_int(c, c->n - 2), call_int(c, c->n - 1)};
	need_range(f.low, f.high);
	struct aten_tensor *out = aten_like(self, self->dtype), *mask = aten_like(self, DTYPE_BOOL);
	if (enabled) {
		fill_fake(out, mask, self, &f);
	} else {
		aten_copy(out, self);
		aten_copy(mask, APPLIED("ones_like", aten_of(mask)));
	}
	call_give(c, 0, out);
	if (c->schema->n_result > 1)
		call_give(c, 1, mask);
}

static void run_per_channel(struct aten_call *c) /* self, scale, zero_point, axis, quant_min, quant_max */
{
	struct aten_tensor *self = call_tensor(c, 0), *scale = call_tensor(c, 1), *zero = call_tensor(c, 2);
	const int axis = aten_dim(self, call_int(c, 3));
	const int64_t low = call_int(c, 4), high = call_int(c, 5), n = self->n_dim ? self->size[axis] : 1;
	need_range(low, high);
	if (scale->n_dim != 1 || zero->n_dim != 1 || scale->size[0] != n || zero->size[0] != n)
		aten_fail("dimensions of scale and zero-point are not consistent with input tensor");
	struct aten_tensor *out = aten_like(self, self->dtype), *mask = aten_like(self, DTYPE_BOOL);
	for (int64_t i = 0; aten_computes() && i < n; i++) {
		const struct fake f = {(float)elem_f64(scale->dtype, (char *)aten_data(scale) + i * line_step(scale, 0)),
				       (float)elem_f64(zero->dtype, (char *)aten_data(zero) + i * line_step(zero, 0)), low, high};
		fill_fake(aten_select(out, axis, i), aten_select(mask, axis, i), aten_select(self, axis, i), &f);
	}
	call_give(c, 0, out);
	if (c->schema->n_result > 1)
		call_give(c, 1, mask);
}

/* A scale that is learned: the zero point is rounded and clamped to the range. */
static void run_learnable(struct aten_call *c) /* self, scale, zero_point, (axis,) quant_min, quant_max, grad_factor */
{
	const bool channels = c->n == 7;
	struct aten_value zero = aten_of(APPLIED("round", GIVEN(c, 2)));
	zero = aten_of(APPLIED("clamp", zero, GIVEN(c, c->n - 3), GIVEN(c, c->n - 2)));
	if (channels)
		call_give(
		    c, 0,
		    APPLIED("fake_quantize_per_channel_affine", GIVEN(c, 0), GIVEN(c, 1), zero, GIVEN(c, 3), GIVEN(c, 4), GIVEN(c, 5)));
	else
		call_give(
		    c, 0,
		    APPLIED("fake_quantize_per_tensor_affine.tensor_qparams", GIVEN(c, 0), GIVEN(c, 1), zero, GIVEN(c, 3), GIVEN(c, 4)));
}

/* ---- with an observer (it changes its operands) ---- */

struct observed {
	struct aten_tensor *low, *high, *scale, *zero; /* running minimum and maximum; what they give */
	double average;
	int64_t least, most;
	bool symmetric;
};

static double number_of(const struct aten_tensor *t, int64_t i)
{
	return elem_f64(t->dtype, (const char *)aten_data(t) + i * line_step(t, 0));
}

static void set_number(const struct aten_tensor *t, int64_t i, double v)
{
	elem_set_f64(t->dtype, (char *)aten_data(t) + i * line_step(t, 0), v);
}

static void observe(const struct observed *o, const struct aten_tensor *rows, int64_t i)
{
	double low = INFINITY, high = -INFINITY;
	struct walk w = WALK(rows);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		const double x = elem_f64(rows->dtype, w.p[0]);
		low = x < low ? x : low;
		high = x > high ? x : high;
	}
	const double was_low = number_of(o->low, i), was_high = number_of(o->high, i);
	set_number(o->low, i, isinf(was_low) ? low : (double)((float)was_low + (float)o->average * ((float)low - (float)was_low)));
	set_number(o->high, i, isinf(was_high) ? high : (double)((float)was_high + (float)o->average * ((float)high - (float)was_high)));
}

/* ChooseQuantizationParams (quantized/cpu/QuantUtils.h): zero has to be exact. */
static void choose(const struct observed *o, int64_t i)
{
	float low = fminf((float)number_of(o->low, i), 0), high = fmaxf((float)number_of(o->high, i), 0);
	const int64_t least = o->least, most = o->most;
	if (o->symmetric) {
		const int64_t below = -((most - least) / 2 + 1), above = (most - least) / 2;
		const double scale = fmax(fabs((double)low / (double)below), fabs((double)high / (double)above));
		low = (float)(scale * (double)below);
		high = (float)(scale * (double)above);
	}
	double scale = ((double)high - (double)low) / (double)(most - least);
	if ((float)scale == 0 || isinf(1.0f / (float)scale))
		scale = 0.1;
	if (scale < 6.1e-5) {
		const float before = (float)scale;
		scale = 6.1e-5;
		if (low == 0) {
			high = (float)scale * (float)(most - least);
		} else if (high == 0) {
			low = -(float)scale * (float)(most - least);
		} else {
			low *= (float)scale / before;
			high *= (float)scale / before;
		}
	}
	const double from_low = (double)least - (double)low / scale, from_high = (double)most - (double)high / scale;
	const double low_error = fabs((double)least) + fabs((double)low / scale),
		     high_error = fabs((double)most) + fabs((double)high / scale);
	double zero = low_error < high_error ? from_low : from_high;
	if (o->symmetric)
		zero = (double)(least + most) / 2;
	zero = zero < (double)least ? (double)least : zero > (double)most ? (double)most : nearbyint(zero);
	set_number(o->scale, i, scale);
	set_number(o->zero, i, zero);
}

/* self, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, averaging_const, quant_min, quant_max, ch_axis,
 * per_row_fake_quant, symmetric_quant */
static void run_observed(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0);
	const struct observed o = {call_tensor(c, 3), call_tensor(c, 4), call_tensor(c, 5), call_tensor(c, 6),
				   call_float(c, 7),  call_int(c, 8),    call_int(c, 9),    call_bool(c, 12)};
	const bool rows = call_bool(c, 11);
	const int axis = rows ? aten_dim(self, call_int(c, 10)) : 0;
	const int64_t n = rows ? self->size[axis] : 1;
	if (o.least >= o.most)
		aten_fail("`quant_min` should be less than `quant_max`.");
	if (rows) {
		const struct aten_tensor *each[] = {o.low, o.high, o.scale, o.zero};
		for (size_t k = 0; k < ARRAY_LEN(each); k++)
			if (aten_numel(each[k]) != n)
				aten_needs_values(); /* torch resizes it */
	}
	if (aten_computes() && one_number(c, 1, 0) != 0)
		for (int64_t i = 0; i < n; i++) {
			observe(&o, rows ? aten_select(self, axis, i) : self, i);
			choose(&o, i);
		}
	const bool on = !aten_computes() || one_number(c, 2, 1) != 0;
	if (!on)
		call_give(c, 0, self);
	else if (rows)
		call_give(c, 0,
			  APPLIED("fake_quantize_per_channel_affine", aten_of(self), aten_of(o.scale), aten_of(o.zero), aten_int(axis),
				  aten_int(o.least), aten_int(o.most)));
	else
		call_give(c, 0,
			  APPLIED("fake_quantize_per_tensor_affine.tensor_qparams", aten_of(self), aten_of(o.scale), aten_of(o.zero),
				  aten_int(o.least), aten_int(o.most)));
}

const struct aten_entry aten_fakequant_entries[] = {
    {"_fake_quantize_learnable_per_channel_affine", run_learnable},
    {"_fake_quantize_learnable_per_tensor_affine", run_learnable},
    {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", run_per_tensor},
    {"fake_quantize_per_channel_affine", run_per_channel},
    {"fake_quantize_per_channel_affine_cachemask", run_per_channel},
    {"fake_quantize_per_tensor_affine", run_per_tensor},
    {"fake_quantize_per_tensor_affine.tensor_qparams", run_per_tensor},
    {"fake_quantize_per_tensor_affine_cachemask", run_per_tensor},
    {"fused_moving_avg_obs_fake_quant", run_observed},
    {0},
};
