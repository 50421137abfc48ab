/* mat.c - see mat.h. */
#include "mat.h"
#include "cpu.h"
#include "blas.h"
#include "elem.h"
#include "elem.h"

ATEN_LOOPS

struct mat mat_of(const struct aten_tensor *t, int64_t batch)
{
	struct mat m = {.dtype = t->dtype, .rows = 1, .cols = 1};
	int64_t offset = 0;
	int n = t->n_dim;

	if (n > 0) {
		m.cols = t->size[n - 1];
		m.col_stride = t->stride[n - 1];
	}
	if (n > 1) {
		m.rows = t->size[n - 2];
		m.row_stride = t->stride[n - 2];
	}
	for (int i = n - 3; i >= 0 && batch > 0; i--) {
		offset += batch % t->size[i] * t->stride[i];
		batch /= t->size[i];
	}
	m.data = aten_data(t);
	if (m.data) /* no memory: no elements */
		m.data += offset * elem_bytes(t->dtype);
	return m;
}

struct mat mat_broadcast(const struct aten_tensor *t, int64_t rows, int64_t cols)
{
	struct mat m = mat_of(t, -1);

	if (t->n_dim > 2 || (m.rows != rows && m.rows != 1) || (m.cols != cols && m.cols != 1))
		aten_fail("a %lld x %lld tensor cannot be expanded to %lld x %lld", (long long)m.rows, (long long)m.cols, (long long)rows,
			  (long long)cols);
	if (m.rows != rows)
		m.row_stride = 0;
	if (m.cols != cols)
		m.col_stride = 0;
	m.rows = rows;
	m.cols = cols;
	return m;
}

void mat_copy(struct mat to, struct mat from)
{
	int64_t tb = elem_bytes(to.dtype), fb = elem_bytes(from.dtype);

	/* Along the dim in which the target is written contiguously. */
	if (to.row_stride < to.col_stride && to.rows > 1) {
		to = mat_t(to);
		from = mat_t(from);
	}
	for (int64_t i = 0; i < to.rows; i++)
		aten_convert(to.dtype, to.data + i * to.row_stride * tb, to.col_stride * tb, from.dtype,
			     from.data + i * from.row_stride * fb, from.col_stride * fb, to.cols);
}

static struct mat new_mat(int dtype, int64_t rows, int64_t cols)
{
	uint64_t n;

	if (__builtin_mul_overflow((uint64_t)rows, (uint64_t)cols, &n))
		aten_fail("the matrix is too large for memory");
	return (struct mat){aten_scratch(n, (uint64_t)elem_bytes(dtype)), dtype, rows, cols, cols, 1};
}

/* Row-major with some distance between rows, as BLAS accepts. Strides of dims with one element are irrelevant. */
static bool row_major(struct mat *m)
{
	if (m->cols == 1 && m->rows == 1)
		m->row_stride = m->col_stride = 1;
	if (m->cols == 1)
		m->col_stride = 1;
	if (m->rows == 1 && m->col_stride == 1)
		m->row_stride = m->cols;
	return m->col_stride == 1 && m->row_stride >= m->cols;
}

/* In BLAS's form: in place, transposed or not, or a copy. */
static struct mat operand(struct mat m, int dtype, bool *transposed)
{
	struct mat t = mat_t(m), c;

	*transposed = false;
	if (m.dtype == dtype && row_major(&m))
		return m;
	*transposed = true;
	if (m.dtype == dtype && row_major(&t))
		return t;
	*transposed = m.row_stride < m.col_stride; /* in memory order */
	c = *transposed ? new_mat(dtype, m.cols, m.rows) : new_mat(dtype, m.rows, m.cols);
	mat_copy(c, *transposed ? t : m);
	return c;
}

static void multiply_float(struct mat c, struct mat a, struct mat b, double beta, double alpha)
{
	bool ta, tb;
	int64_t k = a.cols;

	a = operand(a, c.dtype, &ta);
	b = operand(b, c.dtype, &tb);
	if (c.dtype == DTYPE_F64)
		aten_gemm_f64(ta, tb, c.rows, c.cols, k, alpha, (double *)a.data, a.row_stride, (double *)b.data, b.row_stride, beta,
			      (double *)c.data, c.row_stride);
	else
		aten_gemm_f32(ta, tb, c.rows, c.cols, k, (float)alpha, (float *)a.data, a.row_stride, (float *)b.data, b.row_stride,
			      (float)beta, (float *)c.data, c.row_stride);
}

/* In float32 or float64; c's own memory if BLAS can write there. */
static void mul_float(struct mat c, struct mat bias, struct mat a, struct mat b, double beta, double alpha)
{
	int work = c.dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
	struct mat w = c, t = mat_t(c);

	if (c.dtype != work || !row_major(&w)) {
		if (c.dtype == work && row_major(&t)) { /* c^T = b^T a^T */
			mul_float(t, bias.data ? mat_t(bias) : bias, mat_t(b), mat_t(a), beta, alpha);
			return;
		}
		w = new_mat(work, c.rows, c.cols);
	}
	if (!bias.data)
		beta = 0;
	if (beta != 0 && bias.data != w.data)
		mat_copy(w, bias);
	multiply_float(w, a, b, beta, alpha);
	if (w.data != c.data)
		mat_copy(c, w);
}

/* Modulo 2^32 or 2^64: truncated to c's width, it is torch's wrapped result. */
#define MUL_INTEGERS(T, name, dt) \
	ATEN_WIDE static void name(struct mat c, struct mat bias, struct mat a, struct mat b, int64_t beta, int64_t alpha) \
	{ \
		struct mat wa = new_mat(dt, a.rows, a.cols), wb = new_mat(dt, b.rows, b.cols); \
		struct mat wc = new_mat(dt, c.rows, c.cols); \
		mat_copy(wa, a); \
		mat_copy(wb, b); \
		if (bias.data && beta) \
			mat_copy(wc, bias); \
		else \
			memset(wc.data, 0, (size_t)(c.rows * c.cols) * sizeof(T)); \
		for (int64_t i = 0; i < c.rows; i++) { \
			T *to = (T *)wc.data + i * c.cols; \
			for (int64_t j = 0; j < c.cols; j++) \
				to[j] *= (T)beta; \
			for (int64_t k = 0; k < a.cols; k++) { \
				T v = (T)alpha * ((T *)wa.data)[i * a.cols + k]; \
				const T *from = (T *)wb.data + k * c.cols; \
				for (int64_t j = 0; j < c.cols; j++) \
					to[j] += v * from[j]; \
			} \
		} \
		mat_copy(c, wc); \
	}
MUL_INTEGERS(uint32_t, mul_u32, DTYPE_I32)
MUL_INTEGERS(uint64_t, mul_u64, DTYPE_I64)

/* The real or imaginary part of a complex matrix. */
static struct mat part_of_complex(struct mat m, int which)
{
	int dtype = aten_real_of(m.dtype);

	if (!m.data)
		return m;
	return (struct mat){m.data + which * elem_bytes(dtype), dtype, m.rows, m.cols, 2 * m.row_stride, 2 * m.col_stride};
}

static void mul_complex(struct mat c, struct mat bias, struct mat a, struct mat b, double beta, double alpha)
{
	struct mat re = new_mat(part_of_complex(c, 0).dtype, c.rows, c.cols), im = new_mat(re.dtype, c.rows, c.cols);
	struct mat ar = new_mat(re.dtype, a.rows, a.cols), ai = new_mat(re.dtype, a.rows, a.cols);
	struct mat br = new_mat(re.dtype, b.rows, b.cols), bi = new_mat(re.dtype, b.rows, b.cols);

	mat_copy(ar, part_of_complex(a, 0));
	mat_copy(ai, part_of_complex(a, 1));
	mat_copy(br, part_of_complex(b, 0));
	mat_copy(bi, part_of_complex(b, 1));
	mul_float(re, part_of_complex(bias, 0), ar, br, beta, alpha);
	mul_float(re, re, ai, bi, 1, -alpha);
	mul_float(im, part_of_complex(bias, 1), ar, bi, beta, alpha);
	mul_float(im, im, ai, br, 1, alpha);
	mat_copy(part_of_complex(c, 0), re);
	mat_copy(part_of_complex(c, 1), im);
}

void mat_mul(struct mat c, struct mat bias, struct mat a, struct mat b, double beta, double alpha)
{
	if (!aten_computes())
		return;
	if (a.cols != b.rows || c.rows != a.rows || c.cols != b.cols)
		aten_fail("mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld into %lldx%lld)", (long long)a.rows,
			  (long long)a.cols, (long long)b.rows, (long long)b.cols, (long long)c.rows, (long long)c.cols);
	if (!c.rows || !c.cols)
		return;
	if (beta == 0)
		bias.data = NULL;
	if (elem_complex(c.dtype) && (!elem_complex(a.dtype) || !elem_complex(b.dtype) || (bias.data && !elem_complex(bias.dtype))))
		aten_fail("real matrices (%s, %s) cannot have a complex output", dtype_name(a.dtype), dtype_name(b.dtype));
	if (aten_is_float(c.dtype))
		mul_float(c, bias, a, b, beta, alpha);
	else if (elem_complex(c.dtype))
		mul_complex(c, bias, a, b, beta, alpha);
	else if (!elem_integral(c.dtype) || c.dtype == DTYPE_BOOL)
		aten_fail("matrix multiplication is not supported for %s", dtype_name(c.dtype));
	else if (elem_bytes(c.dtype) <= 4)
		mul_u32(c, bias, a, b, elem_to_i64(beta), elem_to_i64(alpha));
	else
		mul_u64(c, bias, a, b, elem_to_i64(beta), elem_to_i64(alpha));
}

const float *mat_f32(struct mat m, int64_t *ld)
{
	if (m.dtype != DTYPE_F32 || !row_major(&m)) {
		struct mat c = new_mat(DTYPE_F32, m.rows, m.cols);
		mat_copy(c, m);
		m = c;
	}
	*ld = m.row_stride;
	return (float *)m.data;
}

void mat_from_f32(struct mat m, const float *v, int64_t ld)
{
	mat_copy(m, (struct mat){(char *)(uintptr_t)v, DTYPE_F32, m.rows, m.cols, ld, 1});
}
