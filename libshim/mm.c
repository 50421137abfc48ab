/* Products of matrices and vectors. Outputs that an op makes itself are contiguous, as in aten/src/ATen/native/LinearAlgebra.cpp
 * and Blas.cpp (torch 2.13); those given to it keep their strides. */
#include "elem.h"
#include "mat.h"

#include <math.h>

/* ---- shapes ---- */

static void need_dims(const struct shim_tensor *t, int n, const char *what)
{
	if (t->n_dim != n)
		shim_fail("%s must have %d dimensions, not %d", what, n, t->n_dim);
}

static void need_size(const struct shim_tensor *t, int dim, int64_t size, const char *what)
{
	if (t->size[dim] != size)
		shim_fail("%s has %lld elements at dimension %d, not %lld", what, (long long)t->size[dim], dim, (long long)size);
}

static void need_same_dtype(const struct shim_tensor *a, const struct shim_tensor *b)
{
	if (a->dtype != b->dtype)
		shim_fail("expected both matrices to have the same dtype, but got %s and %s", dtype_name(a->dtype), dtype_name(b->dtype));
}

static void need_matrices(const struct shim_tensor *out, const struct shim_tensor *a, const struct shim_tensor *b)
{
	need_dims(a, 2, "mat1");
	need_dims(b, 2, "mat2");
	need_dims(out, 2, "the output");
}

/* ---- two dims ---- */

AOTITorchError aoti_torch_cpu_mm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2)
{
	SHIM_TRY {
		need_matrices(out, self, mat2);
		need_same_dtype(self, mat2);
		mat_mul(mat_of(out, -1), (struct mat){0}, mat_of(self, -1), mat_of(mat2, -1), 0, 1);
	}
	SHIM_END
}

static void addmm(struct shim_tensor *out, const struct shim_tensor *self, const struct shim_tensor *a, const struct shim_tensor *b,
		  double beta, double alpha)
{
	need_matrices(out, a, b);
	need_same_dtype(a, b);
	mat_mul(mat_of(out, -1), mat_broadcast(self, out->size[0], out->size[1]), mat_of(a, -1), mat_of(b, -1), beta, alpha);
}

AOTITorchError aoti_torch_cpu_addmm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat1, AtenTensorHandle mat2,
					double beta, double alpha)
{
	SHIM_TRY {
		addmm(out, self, mat1, mat2, beta, alpha);
	}
	SHIM_END
}

static void activate(float *v, int64_t n, bool gelu)
{
	for (int64_t i = 0; i < n; i++)
		v[i] = gelu ? v[i] * 0.5f * (1 + erff(v[i] * (float)M_SQRT1_2)) : v[i] > 0 || v[i] != v[i] ? v[i] : 0;
}

AOTITorchError aoti_torch_cpu__addmm_activation(AtenTensorHandle self, AtenTensorHandle mat1, AtenTensorHandle mat2, double beta,
						double alpha, int32_t use_gelu, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		need_dims(mat1, 2, "mat1");
		need_dims(mat2, 2, "mat2");
		int64_t size[2] = {mat1->size[0], mat2->size[1]}, n = size[0] * size[1];
		struct shim_tensor *out = shim_new(mat1->dtype, 2, size, NULL);
		addmm(out, self, mat1, mat2, beta, alpha);
		if (out->dtype == DTYPE_F64) {
			double *v = (double *)shim_data(out);
			for (int64_t i = 0; i < n; i++)
				v[i] = use_gelu ? v[i] * 0.5 * (1 + erf(v[i] * M_SQRT1_2)) : v[i] > 0 || v[i] != v[i] ? v[i] : 0;
		} else if (n) {
			float *v = shim_scratch((uint64_t)n, sizeof(*v));
			struct mat flat = {shim_data(out), out->dtype, 1, n, n, 1}, wide = {(char *)v, DTYPE_F32, 1, n, n, 1};
			mat_copy(wide, flat);
			activate(v, n, use_gelu);
			mat_copy(flat, wide);
		}
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_addmv(AtenTensorHandle self, AtenTensorHandle mat, AtenTensorHandle vec, double beta, double alpha,
				    AtenTensorHandle *ret0)
{
	SHIM_TRY {
		need_dims(mat, 2, "mat");
		need_dims(vec, 1, "vec");
		need_same_dtype(mat, vec);
		struct shim_tensor *out = shim_new(self->dtype, 1, mat->size, NULL);
		if (self->n_dim > 1)
			shim_fail("a bias of %d dimensions", self->n_dim);
		mat_mul(mat_t(mat_of(out, -1)), mat_t(mat_broadcast(self, 1, mat->size[0])), mat_of(mat, -1), mat_t(mat_of(vec, -1)), beta,
			alpha);
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}

/* ---- batches ---- */

static void need_batches(const struct shim_tensor *a, const struct shim_tensor *b)
{
	need_dims(a, 3, "batch1");
	need_dims(b, 3, "batch2");
	need_size(b, 0, a->size[0], "batch2");
	need_size(b, 1, a->size[2], "batch2");
	need_same_dtype(a, b);
}

/* self, if any, is broadcast to out. */
static void baddbmm(struct shim_tensor *out, struct shim_tensor *self, const struct shim_tensor *a, const struct shim_tensor *b,
		    double beta, double alpha)
{
	int64_t stride[3] = {0};

	need_batches(a, b);
	need_dims(out, 3, "the output");
	need_size(out, 0, a->size[0], "the output");
	if (self) {
		int64_t size[SHIM_DIMS];
		if (shim_broadcast(out, self, size) != 3 || memcmp(size, out->size, sizeof(stride)))
			shim_fail("the bias cannot be expanded to the output");
		for (int i = 3 - self->n_dim; i < 3; i++)
			stride[i] = self->size[i - 3 + self->n_dim] == 1 ? 0 : self->stride[i - 3 + self->n_dim];
		self = shim_view(self, 3, out->size, stride, self->offset);
	}
	for (int64_t i = 0; i < out->size[0]; i++)
		mat_mul(mat_of(out, i), self ? mat_of(self, i) : (struct mat){0}, mat_of(a, i), mat_of(b, i), beta, alpha);
}

AOTITorchError aoti_torch_cpu_bmm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2)
{
	SHIM_TRY {
		baddbmm(out, NULL, self, mat2, 0, 1);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_baddbmm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle batch1, AtenTensorHandle batch2,
					  double beta, double alpha)
{
	SHIM_TRY {
		baddbmm(out, self, batch1, batch2, beta, alpha);
	}
	SHIM_END
}

/* beta*self plus the sum over the batch of its products; what has 16 bits is rounded once. */
AOTITorchError aoti_torch_cpu_addbmm(AtenTensorHandle self, AtenTensorHandle batch1, AtenTensorHandle batch2, double beta, double alpha,
				     AtenTensorHandle *ret0)
{
	SHIM_TRY {
		need_batches(batch1, batch2);
		int64_t size[2] = {batch1->size[1], batch2->size[2]};
		bool narrow = shim_is_float(self->dtype) && self->dtype != DTYPE_F64;
		struct shim_tensor *out = shim_new(batch1->dtype, 2, size, NULL), *sum = out;
		if (narrow && out->dtype != DTYPE_F32)
			sum = shim_new(DTYPE_F32, 2, size, NULL);
		struct mat bias = mat_broadcast(self, size[0], size[1]), c = mat_of(sum, -1);
		if (!batch1->size[0]) {
			struct mat none = {shim_data(self), self->dtype, size[0], 0, 0, 0};
			mat_mul(c, bias, none, (struct mat){none.data, none.dtype, 0, size[1], 0, 0}, beta, alpha);
		}
		for (int64_t i = 0; i < batch1->size[0]; i++)
			mat_mul(c, i ? c : bias, mat_of(batch1, i), mat_of(batch2, i), i ? 1 : beta, alpha);
		if (sum != out)
			shim_copy(out, sum);
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
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
static struct shim_tensor *new_grouped(int dtype, int n_dim, const int64_t *size)
{
	int64_t each = 16 / elem_bytes(dtype), row = (size[n_dim - 1] + each - 1) / each * each;
	int64_t three[3] = {size[n_dim - 2] * row, row, 1};
	return shim_new(dtype, n_dim, size, n_dim == 3 ? three : three + 1);
}

/* What has two dims is cut where the offsets end: a's rows, b's columns, or (both) the dim that is summed over. */
static struct shim_tensor *grouped_mm(const struct shim_tensor *a, const struct shim_tensor *b, const struct shim_tensor *offs, int dtype)
{
	bool a2 = a->n_dim == 2, b2 = b->n_dim == 2;
	need_same_dtype(a, b);
	if ((!a2 && a->n_dim != 3) || (!b2 && b->n_dim != 3) || (offs != NULL) != (a2 || b2))
		shim_fail("operands of %d and %d dimensions, with%s offsets", a->n_dim, b->n_dim, offs ? "" : "out");
	if (offs && (offs->n_dim != 1 || offs->dtype != DTYPE_I32))
		shim_fail("offsets must be one line of int32");
	int64_t groups = !a2 ? a->size[0] : !b2 ? b->size[0] : offs->size[0], from = 0;
	if ((offs && offs->size[0] != groups) || (!b2 && b->size[0] != groups))
		shim_fail("%lld groups", (long long)groups);
	struct mat ma = mat_of(a, -1), mb = mat_of(b, -1);
	int64_t size[3] = {groups, ma.rows, mb.cols}, all = a2 ? b2 ? ma.cols : ma.rows : mb.cols;
	struct shim_tensor *out = new_grouped(dtype, a2 == b2 ? 3 : 2, a2 == b2 ? size : size + 1);
	if (a2 != b2)
		shim_fill_zero(out); /* what no group reaches */
	for (int64_t g = 0; g < groups; g++) {
		int64_t to = offs ? elem_i64(DTYPE_I32, shim_data(offs) + g * line_step(offs, 0)) : 0;
		struct mat x = mat_of(a, a2 ? -1 : g), y = mat_of(b, b2 ? -1 : g), c = mat_of(out, a2 == b2 ? g : -1);
		if (offs && (to < from || to > all))
			shim_fail("offset %lld behind %lld, of %lld", (long long)to, (long long)from, (long long)all);
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

AOTITorchError aoti_torch_cpu__grouped_mm(AtenTensorHandle self, AtenTensorHandle mat2, AtenTensorHandle *offs, AtenTensorHandle *bias,
					  int32_t *out_dtype, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		if (bias && *bias)
			shim_fail("a bias is not supported yet");
		SHIM_GIVE(ret0, grouped_mm(self, mat2, offs ? *offs : NULL, out_dtype ? *out_dtype : self->dtype));
	}
	SHIM_END
}

/* ---- their names until torch 2.4, and one that only GPUs were meant to have ---- */

AOTITorchError aoti_torch_mm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2)
{
	return aoti_torch_cpu_mm_out(out, self, mat2);
}

AOTITorchError aoti_torch_bmm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2)
{
	return aoti_torch_cpu_bmm_out(out, self, mat2);
}

AOTITorchError aoti_torch_addmm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat1, AtenTensorHandle mat2, float beta,
				    float alpha)
{
	return aoti_torch_cpu_addmm_out(out, self, mat1, mat2, (double)beta, (double)alpha);
}

AOTITorchError aoti_torch__mm_plus_mm_out(AtenTensorHandle out, AtenTensorHandle a, AtenTensorHandle b, AtenTensorHandle c,
					  AtenTensorHandle d)
{
	SHIM_TRY {
		need_matrices(out, a, b);
		need_matrices(out, c, d);
		need_same_dtype(a, b);
		need_same_dtype(c, d);
		mat_mul(mat_of(out, -1), (struct mat){0}, mat_of(a, -1), mat_of(b, -1), 0, 1);
		mat_mul(mat_of(out, -1), mat_of(out, -1), mat_of(c, -1), mat_of(d, -1), 1, 1);
	}
	SHIM_END
}

/* ---- quantized ---- */

AOTITorchError aoti_torch_cpu__int_mm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2)
{
	SHIM_TRY {
		need_matrices(out, self, mat2);
		if (self->dtype != DTYPE_I8 || mat2->dtype != DTYPE_I8 || out->dtype != DTYPE_I32)
			shim_fail("expected int8 matrices and an int32 output, got %s", dtype_name(self->dtype));
		mat_mul(mat_of(out, -1), (struct mat){0}, mat_of(self, -1), mat_of(mat2, -1), 0, 1);
	}
	SHIM_END
}

/* self times the transposed int8 weight, each column by its scale (aten/src/ATen/native/cpu/int8mm_kernel.cpp). */
AOTITorchError aoti_torch_cpu__weight_int8pack_mm(AtenTensorHandle self, AtenTensorHandle mat2, AtenTensorHandle scales,
						  AtenTensorHandle *ret0)
{
	SHIM_TRY {
		need_dims(self, 2, "self");
		need_dims(mat2, 2, "mat2");
		need_dims(scales, 1, "scales");
		need_size(scales, 0, mat2->size[0], "scales");
		int64_t size[2] = {self->size[0], mat2->size[0]}, m = size[0], n = size[1];
		struct shim_tensor *out = shim_new(self->dtype, 2, size, NULL), *sum = shim_new(DTYPE_F32, 2, size, NULL);
		mat_mul(mat_of(sum, -1), (struct mat){0}, mat_of(self, -1), mat_t(mat_of(mat2, -1)), 0, 1);
		int64_t ld;
		const float *scale = mat_f32(mat_of(scales, -1), &ld);
		float *v = (float *)shim_data(sum);
		for (int64_t i = 0; i < m * n; i++)
			v[i] *= scale[i % n];
		shim_copy(out, sum);
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}

/* One scale for all, or one for each row (of a) or column (of b). */
static const float *scales_of(struct shim_tensor *t, int64_t n, int64_t *step)
{
	int64_t ld, count = shim_numel(t);
	if (count != 1 && count != n)
		shim_fail("%lld scales for %lld rows or columns", (long long)count, (long long)n);
	*step = count == 1 ? 0 : 1;
	t = shim_contiguous(t);
	return mat_f32((struct mat){shim_data(t), t->dtype, 1, count, count, 1}, &ld);
}

/* aten/src/ATen/native/Blas.cpp, _scaled_mm_out_cpu. */
static void scaled_mm(struct shim_tensor *out, const struct shim_tensor *a, const struct shim_tensor *b, struct shim_tensor *scale_a,
		      struct shim_tensor *scale_b, struct shim_tensor *const *bias, struct shim_tensor *const *scale_result)
{
	int64_t m = out->size[0], n = out->size[1], step_a, step_b, ld = 0;
	struct shim_tensor *sum = shim_new(DTYPE_F32, 2, out->size, NULL);
	float *v = (float *)shim_data(sum), result = 1;

	mat_mul(mat_of(sum, -1), (struct mat){0}, mat_of(a, -1), mat_of(b, -1), 0, 1);
	const float *sa = scales_of(scale_a, m, &step_a), *sb = scales_of(scale_b, n, &step_b);
	const float *add = bias && *bias ? mat_f32(mat_broadcast(*bias, m, n), &ld) : NULL;
	bool f8 = elem_bytes(out->dtype) == 1;
	if (f8 && scale_result && *scale_result)
		result = (float)elem_f64((*scale_result)->dtype, shim_data(*scale_result));
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++) {
			float *p = &v[i * n + j];
			*p *= sa[i * step_a] * sb[j * step_b];
			if (add)
				*p += add[i * ld + j];
			*p *= result;
		}
	shim_copy(out, sum);
}

AOTITorchError aoti_torch_cpu__scaled_mm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2, AtenTensorHandle scale_a,
					     AtenTensorHandle scale_b, AtenTensorHandle *bias, AtenTensorHandle *scale_result,
					     int32_t *out_dtype, int32_t use_fast_accum)
{
	(void)out_dtype, (void)use_fast_accum;
	SHIM_TRY {
		need_matrices(out, self, mat2);
		scaled_mm(out, self, mat2, scale_a, scale_b, bias, scale_result);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu__scaled_mm(AtenTensorHandle self, AtenTensorHandle mat2, AtenTensorHandle scale_a, AtenTensorHandle scale_b,
					 AtenTensorHandle *bias, AtenTensorHandle *scale_result, int32_t *out_dtype, int32_t use_fast_accum,
					 AtenTensorHandle *ret0)
{
	(void)use_fast_accum;
	SHIM_TRY {
		need_dims(self, 2, "self");
		need_dims(mat2, 2, "mat2");
		int64_t size[2] = {self->size[0], mat2->size[1]};
		struct shim_tensor *out = shim_new(out_dtype ? *out_dtype : self->dtype, 2, size, NULL);
		scaled_mm(out, self, mat2, scale_a, scale_b, bias, scale_result);
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}
