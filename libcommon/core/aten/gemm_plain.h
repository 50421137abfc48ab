/* gemm_plain.h - matrix multiplication in plain C, for one type: included by blas.c, for small products and for systems without OpenBLAS.
 *
 *     #define T float
 *     #define NAME(x) x##_f32
 *     #include "gemm_plain.h"          // gemm_plain_f32(...), like aten_gemm_f32
 *
 * Panels of A (MR rows) and B (NR columns) are packed and multiplied by one kernel, whose sums stay in registers; KC and MC
 * keep them in the caches. Two copies of the kernel: for AVX2 with FMA, and for any CPU.
 */

enum { NAME(NR) = 64 / (int)sizeof(T) };
typedef T NAME(vec) __attribute__((vector_size(32)));

/* sum[MR][NR] = A panel (k x MR) times B panel (k x NR). Unrolled by hand, so that every sum is a register. */
#define ROW(i) s##i##0 += a[i] * b0, s##i##1 += a[i] * b1
#define PUT(i) memcpy(sum + i * NAME(NR), &s##i##0, sizeof(b0)), memcpy(sum + i * NAME(NR) + NAME(NR) / 2, &s##i##1, sizeof(b1))
#define KERNEL(name, attributes) \
	attributes static void name(int64_t k, const T *a, const T *b, T *sum) \
	{ \
		NAME(vec) b0, b1, s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0}, s20 = {0}, s21 = {0}; \
		NAME(vec) s30 = {0}, s31 = {0}, s40 = {0}, s41 = {0}, s50 = {0}, s51 = {0}; \
		for (; k > 0; k--, a += MR, b += NAME(NR)) { \
			memcpy(&b0, b, sizeof(b0)); \
			memcpy(&b1, b + NAME(NR) / 2, sizeof(b1)); \
			ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5); \
		} \
		PUT(0), PUT(1), PUT(2), PUT(3), PUT(4), PUT(5); \
	}
KERNEL(NAME(kernel_any), )
KERNEL(NAME(kernel_avx2), CPU_AVX2)
#undef KERNEL
#undef ROW
#undef PUT

/* Rows i.. of op(A), columns p.., as k columns of MR, missing rows zero. */
static void NAME(pack_a)(bool ta, const T *a, int64_t lda, int64_t i, int64_t rows, int64_t p, int64_t k, T *to)
{
	for (int64_t at = i; at < i + rows; at += MR)
		for (int64_t q = p; q < p + k; q++)
			for (int r = 0; r < MR; r++)
				*to++ = at + r >= i + rows ? 0 : ta ? a[q * lda + at + r] : a[(at + r) * lda + q];
}

static void NAME(pack_b)(bool tb, const T *b, int64_t ldb, int64_t p, int64_t k, int64_t n, T *to)
{
	for (int64_t j = 0; j < n; j += NAME(NR))
		for (int64_t q = p; q < p + k; q++)
			for (int c = 0; c < NAME(NR); c++)
				*to++ = j + c >= n ? 0 : tb ? b[(j + c) * ldb + q] : b[q * ldb + j + c];
}

static void NAME(scale)(int64_t m, int64_t n, T beta, T *c, int64_t ldc)
{
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++)
			c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
}

static void NAME(gemm_plain)(bool ta, bool tb, int64_t m, int64_t n, int64_t k, T alpha, const T *a, int64_t lda, const T *b, int64_t ldb,
			     T beta, T *c, int64_t ldc)
{
	T sum[MR * NAME(NR)];
	int64_t columns = (n + NAME(NR) - 1) / NAME(NR) * NAME(NR), depth = k < KC ? k : KC;
	T *pa = malloc((size_t)depth * MC * sizeof(T) + 1), *pb = malloc((size_t)(depth * columns) * sizeof(T) + 1);
	bool avx2 = cpu_has_avx2();

	if (!pa || !pb) {
		free(pa);
		free(pb);
		aten_fail("out of memory");
	}
	if (beta != 1)
		NAME(scale)(m, n, beta, c, ldc);
	for (int64_t p = 0; p < k; p += KC) {
		int64_t kc = k - p < KC ? k - p : KC;
		NAME(pack_b)(tb, b, ldb, p, kc, n, pb);
		for (int64_t i = 0; i < m; i += MC) {
			int64_t mc = m - i < MC ? m - i : MC;
			NAME(pack_a)(ta, a, lda, i, mc, p, kc, pa);
			for (int64_t j = 0; j < n; j += NAME(NR))
				for (int64_t r = 0; r < mc; r += MR) {
					(avx2 ? NAME(kernel_avx2) : NAME(kernel_any))(kc, pa + r * kc, pb + j * kc, sum);
					int64_t rows = mc - r < MR ? mc - r : MR, cols = n - j < NAME(NR) ? n - j : NAME(NR);
					for (int64_t y = 0; y < rows; y++)
						for (int64_t x = 0; x < cols; x++)
							c[(i + r + y) * ldc + j + x] += alpha * sum[y * NAME(NR) + x];
				}
		}
	}
	free(pa);
	free(pb);
}

#undef T
#undef NAME
