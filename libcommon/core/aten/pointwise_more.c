/* Element-wise operators of three tensors, or with bounds that may be missing (torch 2.13, aten/src/ATen/native/cpu/PointwiseOpsKernel.cpp,
 * TensorCompareKernel.cpp, LerpKernel.cpp). */
#include "elem.h"
#include "ops.h"
#include "pointwise.h"

#include <tgmath.h>

#define OF_ALL(id) \
	{ \
		[PW_I64] = id##_i64, [PW_F32] = id##_f32, [PW_F64] = id##_f64, [PW_C128] = id##_c128 \
	}
#define OF_REAL(id) \
	{ \
		[PW_I64] = id##_i64, [PW_F32] = id##_f32, [PW_F64] = id##_f64 \
	}
#define OF_FLOAT(id) \
	{ \
		[PW_F32] = id##_f32, [PW_F64] = id##_f64, [PW_C128] = id##_c128 \
	}

/* ---- where ---- */

#define WHERE(id, T) \
	static void id(int64_t n, void *out, const void *const *in, const struct pointwise_numbers *k) \
	{ \
		const bool *condition = in[0]; \
		const T *a = in[1], *b = in[2]; \
		(void)k; \
		for (int64_t i = 0; i < n; i++) \
			((T *)out)[i] = condition[i] ? a[i] : b[i]; \
	}
WHERE(where_i64, int64_t)
WHERE(where_f32, float)
WHERE(where_f64, double)
WHERE(where_c128, double complex)
static const struct pointwise op_where = {"where", OF_ALL(where), .skip = 1};

struct aten_tensor *aten_where(struct aten_tensor *condition, struct aten_tensor *a, struct aten_tensor *b)
{
	if (condition->dtype != DTYPE_BOOL && condition->dtype != DTYPE_U8)
		aten_fail("where expected condition to be a boolean tensor, but got a tensor with dtype %s", dtype_name(condition->dtype));
	return aten_pointwise(&op_where, (struct aten_tensor *[]){condition, a, b}, 3, NULL);
}
static void run_where(struct aten_call *c) { call_give(c, 0, aten_where(call_tensor(c, 0), call_operand(c, 1), call_operand(c, 2))); }

/* self's dtype, whatever the value's */
struct aten_tensor *aten_masked_fill(struct aten_tensor *self, struct aten_tensor *mask, struct aten_tensor *value)
{
	if (mask->dtype != DTYPE_BOOL)
		aten_fail("masked_fill only supports boolean masks, but got mask with dtype %s", dtype_name(mask->dtype));
	if (value->n_dim)
		aten_fail("masked_fill only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).", value->n_dim);
	if (aten_is_complex(value->dtype) && !aten_is_complex(self->dtype))
		aten_fail("value cannot be converted to type %s without overflow", dtype_name(self->dtype));
	/* A contiguous copy of self is filled (TensorAdvancedIndexing.cpp). */
	struct aten_tensor *out = aten_pointwise_as(&op_where, self->dtype, (struct aten_tensor *[]){mask, value, self}, 3, NULL);
	return aten_is_contiguous(out) ? out : aten_clone_contiguous(out);
}
static void run_masked_fill(struct aten_call *c)
{
	call_give(c, 0, aten_masked_fill(call_tensor(c, 0), call_tensor(c, 1), call_operand(c, 2)));
}

/* ---- clamp ---- */

#define CLAMP3 (x != x || y != y || w != w ? x + y + w : x < y ? (y > w ? w : y) : x > w ? w : x)
#define LEAST (x != x || y != y ? x + y : x < y ? y : x)
#define MOST (x != x || y != y ? x + y : x > y ? y : x)
PW_LOOP3(clamp_i64, int64_t, int64_t, x<y ? (y > w ? w : y) : x> w ? w : x)
PW_LOOP3(clamp_f32, float, float, CLAMP3)
PW_LOOP3(clamp_f64, double, double, CLAMP3)
PW_LOOP2(clamp_min_i64, int64_t, int64_t, x < y ? y : x)
PW_LOOP2(clamp_min_f32, float, float, LEAST)
PW_LOOP2(clamp_min_f64, double, double, LEAST)
PW_LOOP2(clamp_max_i64, int64_t, int64_t, x > y ? y : x)
PW_LOOP2(clamp_max_f32, float, float, MOST)
PW_LOOP2(clamp_max_f64, double, double, MOST)
static const struct pointwise op_clamp = {"clamp", OF_REAL(clamp), .no_bool = true, .orders = true},
			      op_clamp_min = {"clamp_min", OF_REAL(clamp_min), .orders = true},
			      op_clamp_max = {"clamp_max", OF_REAL(clamp_max), .orders = true};

static void run_clamp(struct aten_call *c)
{
	bool low = !call_is_none(c, 1), high = !call_is_none(c, 2);
	struct aten_tensor *in[3] = {call_tensor(c, 0)};
	if (!low && !high)
		aten_fail("torch.clamp: At least one of 'min' or 'max' must not be None");
	if (low)
		in[1] = call_operand(c, 1);
	if (high)
		in[low ? 2 : 1] = call_operand(c, 2);
	call_give(c, 0, aten_pointwise(low && high ? &op_clamp : low ? &op_clamp_min : &op_clamp_max, in, 1 + low + high, NULL));
}

/* ---- three tensors ---- */

PW_LOOP3(addcmul_i64, int64_t, int64_t, (uint64_t)x + (uint64_t)K_I64(0) * (uint64_t)y * (uint64_t)w)
PW_LOOP3(addcmul_f32, float, float, x + K_F32(0) * y * w)
PW_LOOP3(addcmul_f64, double, double, x + K_F64(0) * y * w)
PW_LOOP3(addcmul_c128, double complex, double complex, x + complex_times(complex_times(K_C128(0), y), w))
PW_LOOP3(addcdiv_f32, float, float, x + K_F32(0) * y / w)
PW_LOOP3(addcdiv_f64, double, double, x + K_F64(0) * y / w)
PW_LOOP3(addcdiv_c128, double complex, double complex, x + complex_times(K_C128(0), y) / w)
static const struct pointwise op_addcmul = {"addcmul", OF_ALL(addcmul)}, op_addcdiv = {"addcdiv", OF_FLOAT(addcdiv)};
static void run_addc(struct aten_call *c)
{
	struct pointwise_numbers k;
	pointwise_number(&k, 0, &c->arg[3]);
	call_give(c, 0,
		  aten_pointwise(c->entry->data, (struct aten_tensor *[]){call_tensor(c, 0), call_tensor(c, 1), call_tensor(c, 2)}, 3, &k));
}

/* It starts from the closer end (aten/src/ATen/native/Lerp.h). */
#define LERP (fabs(w) < (typeof(w))0.5 ? x + w * (y - x) : y - (y - x) * (1 - w))
PW_LOOP3(lerp_f32, float, float, LERP)
PW_LOOP3(lerp_f64, double, double, LERP)
PW_LOOP3(lerp_c128, double complex, double complex, (cabs(w) < 0.5 ? x + complex_times(w, y - x) : y - complex_times(y - x, 1 - w)))
static const struct pointwise op_lerp = {"lerp", OF_FLOAT(lerp), .exact_numbers = true};
static void run_lerp(struct aten_call *c)
{
	struct aten_tensor *in[] = {call_tensor(c, 0), call_tensor(c, 1), call_operand(c, 2)};
	if (in[0]->dtype != in[1]->dtype)
		aten_fail("expected dtype %s for `end` but got dtype %s", dtype_name(in[0]->dtype), dtype_name(in[1]->dtype));
	call_give(c, 0, aten_pointwise(&op_lerp, in, 3, NULL));
}

/* There is a slope for each of dim 1, or one for all (aten/src/ATen/native/Activation.cpp). */
PW_LOOP2(prelu_f32, float, float, x > 0 ? x : x * y)
PW_LOOP2(prelu_f64, double, double, x > 0 ? x : x * y)
static const struct pointwise op_prelu = {"prelu", {[PW_F32] = prelu_f32, [PW_F64] = prelu_f64}};
static void run_prelu(struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0), *weight = call_tensor(c, 1);
	int64_t shape[ATEN_DIMS], n = aten_numel(weight);
	if (n != 1 && (self->n_dim < 2 || self->size[1] != n))
		aten_fail("%lld slopes do not match the channels", (long long)n);
	for (int i = 0; i < self->n_dim; i++)
		shape[i] = i == 1 ? n : 1;
	if (n == 1)
		weight = aten_reshape(weight, shape, 0);
	else
		weight = aten_reshape(weight, shape, self->n_dim);
	call_give(c, 0, aten_pointwise_as(&op_prelu, self->dtype, (struct aten_tensor *[]){self, weight}, 2, NULL));
}

/* aten/src/ATen/native/GatedLinearUnit.cpp: one half by the other's sigmoid, rounded once */
PW_LOOP2(glu_f32, float, float, x *(1 / (1 + exp(-y))))
PW_LOOP2(glu_f64, double, double, x *(1 / (1 + exp(-y))))
static const struct pointwise op_glu = {"glu", {[PW_F32] = glu_f32, [PW_F64] = glu_f64}};
static void run_glu(struct aten_call *c) /* self, dim */
{
	struct aten_tensor *self = call_tensor(c, 0);
	if (!self->n_dim)
		aten_fail("glu does not support 0-dimensional tensors");
	int dim = aten_dim(self, call_int(c, 1));
	int64_t half = self->size[dim] / 2;
	if (self->size[dim] % 2)
		aten_fail("Halving dimension must be even, but dimension %d is size %lld", dim, (long long)self->size[dim]);
	struct aten_tensor *in[2] = {aten_narrow(self, dim, 0, half), aten_narrow(self, dim, half, half)};
	call_give(c, 0, aten_pointwise(&op_glu, in, 2, NULL));
}

/* aten/src/ATen/native/Activation.cpp: self decides whether the gradient passes */
PW_LOOP2(threshold_backward_i64, int64_t, int64_t, x <= K_I64(0) ? 0 : y)
PW_LOOP2(threshold_backward_f32, float, float, x <= K_F32(0) ? 0 : y)
PW_LOOP2(threshold_backward_f64, double, double, x <= K_F64(0) ? 0 : y)
static const struct pointwise op_threshold_backward = {"threshold_backward", OF_REAL(threshold_backward), .no_bool = true};
static void run_threshold_backward(struct aten_call *c) /* grad_output, self, threshold */
{
	struct pointwise_numbers k;
	pointwise_number(&k, 0, &c->arg[2]);
	call_give(c, 0, aten_pointwise(&op_threshold_backward, (struct aten_tensor *[]){call_tensor(c, 1), call_tensor(c, 0)}, 2, &k));
}

const struct aten_entry aten_pointwise_entries[] = {
    {"addcdiv", run_addc, &op_addcdiv},
    {"addcmul", run_addc, &op_addcmul},
    {"clamp", run_clamp},
    {"clamp.Tensor", run_clamp},
    {"clamp_max", run_pointwise2, &op_clamp_max},
    {"clamp_max.Tensor", run_pointwise2, &op_clamp_max},
    {"clamp_min", run_pointwise2, &op_clamp_min},
    {"clamp_min.Tensor", run_pointwise2, &op_clamp_min},
    {"clip", run_clamp},
    {"clip.Tensor", run_clamp},
    {"glu", run_glu},
    {"lerp.Scalar", run_lerp},
    {"lerp.Tensor", run_lerp},
    {"masked_fill.Scalar", run_masked_fill},
    {"masked_fill.Tensor", run_masked_fill},
    {"prelu", run_prelu},
    {"threshold_backward", run_threshold_backward},
    {"where.Scalar", run_where},
    {"where.ScalarOther", run_where},
    {"where.ScalarSelf", run_where},
    {"where.self", run_where},
    {0},
};
