/* Products of matrices and vectors. Outputs created by an op are contiguous, as in aten/src/ATen/native/LinearAlgebra.cpp
 * and Blas.cpp (torch 2.13); those given to it keep their strides. */
#include "blas.h"
#include "call.h"
#include "elem.h"
#include "ops.h"
#include "mat.h"

#include <math.h>

/* ---- shapes ---- */

static void need_dims(const struct aten_tensor *t, int n, const char *what)
{
	if (t->n_dim != n)
		aten_fail("%s must have %d dimensions, got %d", what, n, t->n_dim);
}

static void need_size(const struct aten_tensor *t, int dim, int64_t size, const char *what)
{
	if (t->size[dim] != size)
		aten_fail("%s has size %lld at dimension %d, expected %lld", what, (long long)t->size[dim], dim, (long long)size);
}

static void need_same_dtype(const struct aten_tensor *a, const struct aten_tensor *b)
{
	if (a->dtype != b->dtype)
		aten_fail("expected both matrices to have the same dtype, but got %s and %s", dtype_name(a->dtype), dtype_name(b->dtype));
}

static void need_matrices(const struct aten_tensor *out, const struct aten_tensor *a, const struct aten_tensor *b)
{
	need_dims(a, 2, "mat1");
	need_dims(b, 2, "mat2");
	need_dims(out, 2, "the output");
}

/* ---- two dims ---- */

void aten_addmm_out(struct aten_tensor *out, struct aten_tensor *self, struct aten_tensor *a, struct aten_tensor *b, double beta,
		    double alpha)
{
	need_matrices(out, a, b);
	need_same_dtype(a, b);
	mat_mul(mat_of(out, -1), self ? mat_broadcast(self, out->size[0], out->size[1]) : (struct mat){0}, mat_of(a, -1), mat_of(b, -1),
		beta, alpha);
}

struct aten_tensor *aten_addmm_activation(struct aten_tensor *self, struct aten_tensor *mat1, struct aten_tensor *mat2, double beta,
					  double alpha, bool use_gelu)
{
	need_dims(mat1, 2, "mat1");
	need_dims(mat2, 2, "mat2");
	int64_t size[2] = {mat1->size[0], mat2->size[1]};
	struct aten_tensor *out = aten_new(mat1->dtype, 2, size, NULL);
	aten_addmm_out(out, self, mat1, mat2, beta, alpha);
	return use_gelu ? APPLIED("gelu", aten_of(out)) : aten_relu(out);
}

struct aten_tensor *aten_addmv(struct aten_tensor *self, struct aten_tensor *mat, struct aten_tensor *vec, double beta, double alpha)
{
	need_dims(mat, 2, "mat");
	need_dims(vec, 1, "vec");
	need_same_dtype(mat, vec);
	struct aten_tensor *out = aten_new(self->dtype, 1, mat->size, NULL);
	if (self->n_dim > 1)
		aten_fail("a bias with %d dimensions is not supported", self->n_dim);
	mat_mul(mat_t(mat_of(out, -1)), mat_t(mat_broadcast(self, 1, mat->size[0])), mat_of(mat, -1), mat_t(mat_of(vec, -1)), beta, alpha);
	return out;
}

/* ---- batches ---- */

static void need_batches(const struct aten_tensor *a, const struct aten_tensor *b)
{
	need_dims(a, 3, "batch1");
	need_dims(b, 3, "batch2");
	need_size(b, 0, a->size[0], "batch2");
	need_size(b, 1, a->size[2], "batch2");
	need_same_dtype(a, b);
}

void aten_baddbmm_out(struct aten_tensor *out, struct aten_tensor *self, struct aten_tensor *a, struct aten_tensor *b, double beta,
		      double alpha)
{
	int64_t stride[3] = {0};

	need_batches(a, b);
	need_dims(out, 3, "the output");
	need_size(out, 0, a->size[0], "the output");
	if (self) {
		int64_t size[ATEN_DIMS];
		if (aten_broadcast(out, self, size) != 3 || memcmp(size, out->size, sizeof(stride)))
			aten_fail("the bias cannot be expanded to the output");
		for (int i = 3 - self->n_dim; i < 3; i++)
			stride[i] = self->size[i - 3 + self->n_dim] == 1 ? 0 : self->stride[i - 3 + self->n_dim];
		self = aten_view(self, 3, out->size, stride, self->offset);
	}
	for (int64_t i = 0; i < out->size[0] && aten_computes(); i++)
		mat_mul(mat_of(out, i), self ? mat_of(self, i) : (struct mat){0}, mat_of(a, i), mat_of(b, i), beta, alpha);
}

/* beta*self plus the sum over the batch of its products; 16-bit types are rounded once. */
struct aten_tensor *aten_addbmm(struct aten_tensor *self, struct aten_tensor *batch1, struct aten_tensor *batch2, double beta, double alpha)
{
	need_batches(batch1, batch2);
	int64_t size[2] = {batch1->size[1], batch2->size[2]};
	bool narrow = aten_is_float(self->dtype) && self->dtype != DTYPE_F64;
	struct aten_tensor *out = aten_new(batch1->dtype, 2, size, NULL), *sum = out;
	if (narrow && out->dtype != DTYPE_F32)
		sum = aten_new(DTYPE_F32, 2, size, NULL);
	struct mat bias = mat_broadcast(self, size[0], size[1]), c = mat_of(sum, -1);
	if (!batch1->size[0]) {
		struct mat none = {aten_data(self), self->dtype, size[0], 0, 0, 0};
		mat_mul(c, bias, none, (struct mat){none.data, none.dtype, 0, size[1], 0, 0}, beta, alpha);
	}
	for (int64_t i = 0; i < batch1->size[0]; i++)
		mat_mul(c, i ? c : bias, mat_of(batch1, i), mat_of(batch2, i), i ? 1 : beta, alpha);
	if (sum != out)
		aten_copy(out, sum);
	return out;
}

/* ---- groups of rows, columns or both (mixtures of experts): aten/src/ATen/native/GroupedMMUtils.h ---- */

static struct mat some_rows(struct mat m, int64_t from, int64_t to)
{
	if (m.data)
		m.data += from * m.row_stride * elem_bytes(m.dtype);
	m.rows = to - from;
	return m;
}

static struct mat some_cols(struct mat m, int64_t from, int64_t to) { return mat_t(some_rows(mat_t(m), from, to)); }

/* Rows are padded to 16 bytes. */
static struct aten_tensor *new_grouped(int dtype, int n_dim, const int64_t *size)
{
	int64_t each = 16 / elem_bytes(dtype), row = (size[n_dim - 1] + each - 1) / each * each;
	int64_t three[3] = {size[n_dim - 2] * row, row, 1};
	return aten_new(dtype, n_dim, size, n_dim == 3 ? three : three + 1);
}

/* A 2D operand is split at the offsets: a's rows, b's columns, or (both) the dim that is summed over. padded: rows as in _grouped_mm. */
static struct aten_tensor *grouped_mm(const struct aten_tensor *a, const struct aten_tensor *b, const struct aten_tensor *offs, int dtype,
				      bool padded)
{
	bool a2 = a->n_dim == 2, b2 = b->n_dim == 2;
	need_same_dtype(a, b);
	if ((!a2 && a->n_dim != 3) || (!b2 && b->n_dim != 3) || (offs != NULL) != (a2 || b2))
		aten_fail("operands of %dD and %dD with%s offsets are not supported", a->n_dim, b->n_dim, offs ? "" : "out");
	if (offs && (offs->n_dim != 1 || (offs->dtype != DTYPE_I32 && (padded || offs->dtype != DTYPE_I64))))
		aten_fail("offsets must be a 1D int32 tensor");
	int64_t groups = !a2 ? a->size[0] : !b2 ? b->size[0] : offs->size[0], from = 0;
	if ((offs && offs->size[0] != groups) || (!b2 && b->size[0] != groups))
		aten_fail("invalid number of groups: %lld", (long long)groups);
	struct mat ma = mat_of(a, -1), mb = mat_of(b, -1);
	int64_t size[3] = {groups, ma.rows, mb.cols}, all = a2 ? b2 ? ma.cols : ma.rows : mb.cols;
	int n_dim = a2 == b2 ? 3 : 2;
	struct aten_tensor *out = padded ? new_grouped(dtype, n_dim, size + 3 - n_dim) : aten_new(dtype, n_dim, size + 3 - n_dim, NULL);
	if (a2 != b2)
		aten_fill_zero(out); /* rows outside all groups */
	for (int64_t g = 0; aten_computes() && g < groups; g++) {
		int64_t to = offs ? elem_i64(offs->dtype, aten_data(offs) + g * line_step(offs, 0)) : 0;
		struct mat x = mat_of(a, a2 ? -1 : g), y = mat_of(b, b2 ? -1 : g), c = mat_of(out, a2 == b2 ? g : -1);
		if (offs && (to < from || to > all))
			aten_fail("invalid offset %lld after %lld, for size %lld", (long long)to, (long long)from, (long long)all);
		if (a2 && b2) {
			x = some_cols(x, from, to);
			y = some_rows(y, from, to);
		} else if (a2) {
			x = some_rows(x, from, to);
			c = some_rows(c, from, to);
		} else if (b2) {
			y = some_cols(y, from, to);
			c = some_cols(c, from, to);
		}
		mat_mul(c, (struct mat){0}, x, y, 0, 1);
		from = to;
	}
	return out;
}

struct aten_tensor *aten_grouped_mm(struct aten_tensor *self, struct aten_tensor *mat2, struct aten_tensor *offs, struct aten_tensor *bias,
				    int dtype)
{
	if (bias)
		aten_fail("a bias is not supported yet");
	return grouped_mm(self, mat2, offs, dtype, true);
}

struct aten_tensor *aten_grouped_mm_fallback(struct aten_tensor *input, struct aten_tensor *weight, struct aten_tensor *offs)
{
	if (input->n_dim != 2 || weight->n_dim != 3)
		aten_fail("operands with %d and %d dimensions are not supported", input->n_dim, weight->n_dim);
	return grouped_mm(input, weight, offs, input->dtype, false);
}

/* ---- their names until torch 2.4, and one intended only for GPUs ---- */

void aten_mm_plus_mm_out(struct aten_tensor *out, struct aten_tensor *a, struct aten_tensor *b, struct aten_tensor *c,
			 struct aten_tensor *d)
{
	need_matrices(out, a, b);
	need_matrices(out, c, d);
	need_same_dtype(a, b);
	need_same_dtype(c, d);
	mat_mul(mat_of(out, -1), (struct mat){0}, mat_of(a, -1), mat_of(b, -1), 0, 1);
	mat_mul(mat_of(out, -1), mat_of(out, -1), mat_of(c, -1), mat_of(d, -1), 1, 1);
}

/* ---- quantized ---- */

void aten_int_mm_out(struct aten_tensor *out, struct aten_tensor *self, struct aten_tensor *mat2)
{
	need_matrices(out, self, mat2);
	if ((self->dtype != DTYPE_I8 && self->dtype != DTYPE_U8) || mat2->dtype != DTYPE_I8 || out->dtype != DTYPE_I32)
		aten_fail("expected int8 matrices (the first may be uint8) and an int32 output, got %s and %s", dtype_name(self->dtype),
			  dtype_name(mat2->dtype));
	if (self->dtype == DTYPE_U8) {
		self = aten_to_copy(self, DTYPE_I32, ATEN_PRESERVE);
		mat2 = aten_to_copy(mat2, DTYPE_I32, ATEN_PRESERVE);
	}
	mat_mul(mat_of(out, -1), (struct mat){0}, mat_of(self, -1), mat_of(mat2, -1), 0, 1);
}

/* self times the transposed int8 weight, each column by its scale (aten/src/ATen/native/cpu/int8mm_kernel.cpp). */
struct aten_tensor *aten_weight_int8pack_mm(struct aten_tensor *self, struct aten_tensor *mat2, struct aten_tensor *scales)
{
	need_dims(self, 2, "self");
	need_dims(mat2, 2, "mat2");
	need_dims(scales, 1, "scales");
	need_size(scales, 0, mat2->size[0], "scales");
	int64_t size[2] = {self->size[0], mat2->size[0]}, m = size[0], n = size[1];
	struct aten_tensor *out = aten_new(self->dtype, 2, size, NULL), *sum = aten_new(DTYPE_F32, 2, size, NULL);
	mat_mul(mat_of(sum, -1), (struct mat){0}, mat_of(self, -1), mat_t(mat_of(mat2, -1)), 0, 1);
	int64_t ld;
	const float *scale = mat_f32(mat_of(scales, -1), &ld);
	float *v = (float *)aten_data(sum);
	for (int64_t i = 0; i < m * n; i++)
		v[i] *= scale[i % n];
	aten_copy(out, sum);
	return out;
}

/* There is one scale for all, or one for each row (of a) or column (of b). */
static const float *scales_of(struct aten_tensor *t, int64_t n, int64_t *step)
{
	int64_t ld, count = aten_numel(t);
	if (count != 1 && count != n)
		aten_fail("%lld scales do not match %lld rows or columns", (long long)count, (long long)n);
	*step = count == 1 ? 0 : 1;
	t = aten_contiguous(t);
	return mat_f32((struct mat){aten_data(t), t->dtype, 1, count, count, 1}, &ld);
}

/* aten/src/ATen/native/Blas.cpp, _scaled_mm_out_cpu. */
struct aten_tensor *aten_scaled_mm(struct aten_tensor *out, int dtype, struct aten_tensor *a, struct aten_tensor *b,
				   struct aten_tensor *scale_a, struct aten_tensor *scale_b, struct aten_tensor *bias,
				   struct aten_tensor *scale_result)
{
	if (out) {
		need_matrices(out, a, b);
	} else {
		need_dims(a, 2, "self");
		need_dims(b, 2, "mat2");
		out = aten_new(dtype, 2, (int64_t[]){a->size[0], b->size[1]}, NULL);
	}
	int64_t m = out->size[0], n = out->size[1], step_a, step_b, ld = 0;
	struct aten_tensor *sum = aten_new(DTYPE_F32, 2, out->size, NULL);
	float *v = (float *)aten_data(sum), result = 1;

	mat_mul(mat_of(sum, -1), (struct mat){0}, mat_of(a, -1), mat_of(b, -1), 0, 1);
	const float *sa = scales_of(scale_a, m, &step_a), *sb = scales_of(scale_b, n, &step_b);
	const float *add = bias ? mat_f32(mat_broadcast(bias, m, n), &ld) : NULL;
	bool f8 = elem_bytes(out->dtype) == 1;
	if (f8 && scale_result)
		result = (float)elem_f64(scale_result->dtype, aten_data(scale_result));
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++) {
			float *p = &v[i * n + j];
			*p *= sa[i * step_a] * sb[j * step_b];
			if (add)
				*p += add[i * ld + j];
			*p *= result;
		}
	aten_copy(out, sum);
	return out;
}
