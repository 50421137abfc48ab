/* elem.c - see elem.h. */
#include "elem.h"
#include "ops.h"

#include <math.h>

void walk_begin(struct walk *w, int n_dim, const int64_t *size)
{
	w->n_dim = n_dim;
	w->n_op = 0;
	w->line = -1;
	for (int i = 0; i < n_dim; i++)
		w->size[i] = size[i];
}

void walk_add_steps(struct walk *w, const void *base, const int64_t *step)
{
	w->base[w->n_op] = (char *)(uintptr_t)base;
	for (int i = 0; i < w->n_dim; i++)
		w->step[w->n_op][i] = step[i];
	w->n_op++;
}

void walk_add(struct walk *w, const void *base, const struct aten_tensor *t)
{
	int64_t step[ATEN_DIMS];
	int bytes = elem_bytes(t->dtype), skip = w->n_dim - t->n_dim;

	if (skip < 0)
		aten_fail("got a tensor with %d dimensions, expected %d", t->n_dim, w->n_dim);
	for (int i = skip; i < w->n_dim; i++)
		if (i != w->line && t->size[i - skip] != 1 && t->size[i - skip] != w->size[i])
			aten_fail("got size %lld at dimension %d, expected %lld", (long long)t->size[i - skip], i - skip,
				  (long long)w->size[i]);
	for (int i = 0; i < w->n_dim; i++)
		step[i] = i < skip || t->size[i - skip] == 1 ? 0 : t->stride[i - skip] * bytes;
	walk_add_steps(w, base, step);
}

struct walk walk_over(int line, const struct aten_tensor *const *t, size_t n)
{
	struct walk w;

	walk_begin(&w, t[0]->n_dim, t[0]->size);
	if (line >= 0 && w.n_dim) {
		w.size[line] = 1;
		w.line = line;
	}
	for (size_t i = 0; i < n; i++)
		walk_add(&w, aten_data(t[i]), t[i]);
	return w;
}

bool walk_first(struct walk *w)
{
	if (!aten_computes())
		return false;
	for (int i = 0; i < w->n_dim; i++) {
		w->pos[i] = 0;
		if (!w->size[i])
			return false;
	}
	for (int k = 0; k < w->n_op; k++)
		w->p[k] = w->base[k];
	return true;
}

bool walk_next(struct walk *w)
{
	for (int i = w->n_dim - 1; i >= 0; i--) {
		if (++w->pos[i] < w->size[i]) {
			for (int k = 0; k < w->n_op; k++)
				if (w->p[k]) /* no arithmetic on a NULL pointer */
					w->p[k] += w->step[k][i];
			return true;
		}
		w->pos[i] = 0;
		for (int k = 0; k < w->n_op; k++)
			if (w->p[k])
				w->p[k] -= w->step[k][i] * (w->size[i] - 1);
	}
	return false;
}

bool elem_floating(int dtype) { return dtype == DTYPE_F32 || dtype == DTYPE_F64 || dtype == DTYPE_F16 || dtype == DTYPE_BF16; }

bool elem_complex(int dtype) { return dtype == DTYPE_C64 || dtype == DTYPE_C128; }

bool elem_integral(int dtype)
{
	switch (dtype) {
	case DTYPE_U8:
	case DTYPE_I8:
	case DTYPE_I16:
	case DTYPE_I32:
	case DTYPE_I64:
	case DTYPE_BOOL:
	case DTYPE_U16:
	case DTYPE_U32:
	case DTYPE_U64: return true;
	}
	return false;
}

#define ELEM_LOAD(type) \
	({ \
		type elem_v_; \
		memcpy(&elem_v_, p, sizeof(elem_v_)); \
		elem_v_; \
	})
#define ELEM_STORE(type, v) \
	do { \
		type elem_v_ = (type)(v); \
		memcpy(p, &elem_v_, sizeof(elem_v_)); \
	} while (0)

int64_t elem_i64(int dtype, const void *p)
{
	switch (dtype) {
	case DTYPE_U8:
	case DTYPE_BOOL: return ELEM_LOAD(uint8_t);
	case DTYPE_I8: return ELEM_LOAD(int8_t);
	case DTYPE_I16: return ELEM_LOAD(int16_t);
	case DTYPE_I32: return ELEM_LOAD(int32_t);
	case DTYPE_I64:
	case DTYPE_U64: return ELEM_LOAD(int64_t);
	case DTYPE_U16: return ELEM_LOAD(uint16_t);
	case DTYPE_U32: return ELEM_LOAD(uint32_t);
	}
	return elem_to_i64(elem_f64(dtype, p));
}

double elem_f64(int dtype, const void *p)
{
	switch (dtype) {
	case DTYPE_F32: return (double)ELEM_LOAD(float);
	case DTYPE_F64: return ELEM_LOAD(double);
	case DTYPE_F16: return (double)aten_half_to_float(ELEM_LOAD(uint16_t));
	case DTYPE_BF16: return (double)aten_bf16_to_float(ELEM_LOAD(uint16_t));
	case DTYPE_U64: return (double)ELEM_LOAD(uint64_t);
	case DTYPE_C64: return (double)ELEM_LOAD(float);
	case DTYPE_C128: return ELEM_LOAD(double);
	}
	if (!elem_integral(dtype))
		aten_fail("%s is not supported", dtype_name(dtype));
	return (double)elem_i64(dtype, p);
}

double complex elem_c128(int dtype, const void *p)
{
	if (dtype == DTYPE_C64) {
		float v[2];
		memcpy(v, p, sizeof(v));
		return CMPLX(v[0], v[1]);
	}
	if (dtype == DTYPE_C128) {
		double v[2];
		memcpy(v, p, sizeof(v));
		return CMPLX(v[0], v[1]);
	}
	return elem_f64(dtype, p);
}

void elem_set_i64(int dtype, void *p, int64_t v)
{
	switch (dtype) {
	case DTYPE_BOOL: ELEM_STORE(uint8_t, v != 0); return;
	case DTYPE_U8:
	case DTYPE_I8: ELEM_STORE(uint8_t, v); return;
	case DTYPE_I16:
	case DTYPE_U16: ELEM_STORE(uint16_t, v); return;
	case DTYPE_I32:
	case DTYPE_U32: ELEM_STORE(uint32_t, v); return;
	case DTYPE_I64:
	case DTYPE_U64: ELEM_STORE(int64_t, v); return;
	}
	elem_set_f64(dtype, p, (double)v);
}

/* Out of range and NaN have no integer in C; x86's cvttsd2si gives INT64_MIN, like torch's casts.
 */
int64_t elem_to_i64(double v) { return v >= -0x1p63 && v < 0x1p63 ? (int64_t)v : INT64_MIN; }

void elem_set_f64(int dtype, void *p, double v)
{
	switch (dtype) {
	case DTYPE_F32: ELEM_STORE(float, v); return;
	case DTYPE_F64: ELEM_STORE(double, v); return;
	case DTYPE_F16: ELEM_STORE(uint16_t, aten_float_to_half((float)v)); return;
	case DTYPE_BF16: ELEM_STORE(uint16_t, aten_float_to_bf16((float)v)); return;
	case DTYPE_BOOL: ELEM_STORE(uint8_t, v != 0); return;
	case DTYPE_U64: ELEM_STORE(uint64_t, v >= 0x1p63 && v < 0x1p64 ? (uint64_t)v : (uint64_t)elem_to_i64(v)); return;
	case DTYPE_C64:
	case DTYPE_C128: elem_set_c128(dtype, p, v); return;
	}
	if (!elem_integral(dtype))
		aten_fail("%s is not supported", dtype_name(dtype));
	elem_set_i64(dtype, p, elem_to_i64(v));
}

void elem_set_c128(int dtype, void *p, double complex v)
{
	if (dtype == DTYPE_C64) {
		float c[2] = {(float)creal(v), (float)cimag(v)};
		memcpy(p, c, sizeof(c));
	} else if (dtype == DTYPE_C128) {
		double c[2] = {creal(v), cimag(v)};
		memcpy(p, c, sizeof(c));
	} else {
		elem_set_f64(dtype, p, creal(v));
	}
}

bool elem_nan(int dtype, const void *p)
{
	if (elem_complex(dtype)) {
		double complex v = elem_c128(dtype, p);
		return isnan(creal(v)) || isnan(cimag(v));
	}
	return elem_floating(dtype) && isnan(elem_f64(dtype, p));
}

bool elem_true(int dtype, const void *p)
{
	if (elem_complex(dtype) || dtype == DTYPE_C32) {
		double complex v;
		aten_convert(DTYPE_C128, &v, sizeof(v), dtype, p, 0, 1);
		return v != 0;
	}
	return elem_floating(dtype) ? elem_f64(dtype, p) != 0 : elem_i64(dtype, p) != 0;
}

uint64_t elem_key(int dtype, const void *p)
{
	const uint64_t top = UINT64_C(1) << 63;

	if (elem_floating(dtype))
		return elem_key_f64(elem_f64(dtype, p));
	return dtype == DTYPE_U64 ? (uint64_t)elem_i64(dtype, p) : (uint64_t)elem_i64(dtype, p) ^ top;
}

void elem_need_real(const struct aten_tensor *t)
{
	if (!elem_floating(t->dtype) && !elem_integral(t->dtype))
		aten_fail("not implemented for %s", dtype_name(t->dtype));
}

void *aten_scratch(uint64_t n, uint64_t bytes_each)
{
	uint64_t total;

	if (__builtin_mul_overflow(n, bytes_each, &total) || total > INT64_MAX)
		aten_fail("out of memory: %llu elements", (unsigned long long)n);
	int64_t size = total ? (int64_t)total : 1;
	return aten_data(aten_new_anyway(DTYPE_U8, 1, &size));
}

struct aten_tensor *aten_clone_contiguous(const struct aten_tensor *t) { return aten_to_copy(t, t->dtype, ATEN_CONTIGUOUS); }
struct aten_tensor *aten_clone(const struct aten_tensor *t) { return aten_to_copy(t, t->dtype, ATEN_PRESERVE); }

void aten_fill_zero(struct aten_tensor *t)
{
	int bytes = elem_bytes(t->dtype);

	struct walk w = WALK(t);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		memset(w.p[0], 0, (size_t)bytes);
}

bool aten_channels_last(const struct aten_tensor *t)
{
	static const int order4[] = {1, 3, 2, 0}, order5[] = {1, 4, 3, 2, 0};
	const int *order = t->n_dim == 4 ? order4 : order5;
	int64_t min = 0;

	if ((t->n_dim != 4 && t->n_dim != 5) || !t->stride[1])
		return false;
	for (int i = 0; i < t->n_dim; i++) {
		int d = order[i];
		if (!t->size[d] || t->stride[d] < min || (!d && min == t->stride[1]))
			return false;
		min = t->stride[d] * (t->size[d] > 1 ? t->size[d] : 1);
	}
	return true;
}

void aten_format_strides(int n_dim, const int64_t *size, int64_t *stride, bool channels_last)
{
	if (!channels_last || n_dim < 4) {
		aten_contiguous_strides(n_dim, size, stride);
		return;
	}
	int64_t step = size[1] > 1 ? size[1] : 1;
	stride[1] = 1;
	for (int i = n_dim - 1; i >= 2; i--) {
		stride[i] = step;
		step = size_times(step, size[i] > 1 ? size[i] : 1);
	}
	stride[0] = step;
}

struct aten_tensor *aten_new_format(int dtype, int n_dim, const int64_t *size, bool channels_last)
{
	int64_t stride[ATEN_DIMS];
	aten_format_strides(n_dim, size, stride, channels_last);
	return aten_new(dtype, n_dim, size, stride);
}
