/* Matrix multiplication: OpenBLAS where it is installed (Debian: libopenblas0-serial or another variant), else plain C.
 *
 * It is loaded when it is first needed, for loading it takes longer than a small model runs. One thread, unless the
 * environment says otherwise: the kernels of the model have a pool of their own, and two pools on few cores fight.
 * PT2_SHIM_BLAS=none does without (for tests); another value is the library to load. */
#include "mat.h"

#include <dlfcn.h>
#include <pthread.h>

/* cblas.h of OpenBLAS 0.3; its enums are ints, its blasint is an int (libopenblas64_ is another library). */
enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };
#define GEMM(T) void (*)(int, int, int, int, int, int, T, const T *, int, const T *, int, T, T *, int)
#define GEMV(T) void (*)(int, int, int, int, T, const T *, int, const T *, int, T, T *, int)
static struct {
	void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
	void (*dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
	void (*sgemv)(int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
	void (*dgemv)(int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
} blas;

static void load(void)
{
	const char *want = getenv("PT2_SHIM_BLAS");
	if (want && !strcmp(want, "none"))
		return;
	void *lib = dlopen(want && *want ? want : "libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return;
	void (*threads)(int) = (void (*)(int))dlsym(lib, "openblas_set_num_threads");
	if (threads && !getenv("OPENBLAS_NUM_THREADS") && !getenv("OMP_NUM_THREADS"))
		threads(1);
	blas.sgemv = (GEMV(float))dlsym(lib, "cblas_sgemv");
	blas.dgemv = (GEMV(double))dlsym(lib, "cblas_dgemv");
	blas.dgemm = (GEMM(double))dlsym(lib, "cblas_dgemm");
	blas.sgemm = (GEMM(float))dlsym(lib, "cblas_sgemm");
}

static void need(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, load);
}

enum { MR = 6, KC = 32, MC = 96 }; /* KC: short sums lose less; MC: a multiple of MR */

#define T float
#define NAME(x) x##_f32
#include "gemm_plain.h"
#define T double
#define NAME(x) x##_f64
#include "gemm_plain.h"

static bool fits_int(int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb, int64_t ldc)
{
	return m <= INT32_MAX && n <= INT32_MAX && k <= INT32_MAX && lda <= INT32_MAX && ldb <= INT32_MAX && ldc <= INT32_MAX;
}

/* One row or one column: gemv reads the matrix once, where gemm would pack it first. Sums of floats are added up in parts of
 * `most`: OpenBLAS adds in one go what MKL and oneDNN do not, and lost up to three times as much by it; it costs little. */
#define SHIM_GEMM(T, name, gemm, gemv, plain, most)                                                                         \
	void name(bool ta, bool tb, int64_t m, int64_t n, int64_t k, T alpha, const T *a, int64_t lda, const T *b,      \
		  int64_t ldb, T beta, T *c, int64_t ldc)                                                              \
	{                                                                                                              \
		if (m <= 0 || n <= 0)                                                                                  \
			return;                                                                                        \
		need();                                                                                                \
		if (!blas.gemm || !blas.gemv || k <= 0 || !fits_int(m, n, k, lda, ldb, ldc)) {                         \
			plain(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                   \
			return;                                                                                        \
		}                                                                                                      \
		if (beta == 0 && (m == 1 || n == 1)) /* not every gemv ignores what is there */                        \
			for (int64_t i = 0; i < (m == 1 ? n : m); i++)                                                 \
				c[i * (m == 1 ? 1 : ldc)] = 0;                                                         \
		if (m == 1)                                                                                            \
			blas.gemv(ROW_MAJOR, tb ? NO_TRANS : TRANS, (int)(tb ? n : k), (int)(tb ? k : n), alpha, b, (int)ldb, a, \
				  ta ? (int)lda : 1, beta, c, 1);                                                      \
		else if (n == 1)                                                                                       \
			blas.gemv(ROW_MAJOR, ta ? TRANS : NO_TRANS, (int)(ta ? k : m), (int)(ta ? m : k), alpha, a, (int)lda, b, \
				  tb ? 1 : (int)ldb, beta, c, (int)ldc);                                               \
		else                                                                                                   \
			for (int64_t p = 0, part; p < k; p += part, beta = 1) {                                        \
				part = k - p < most + most / 2 ? k - p : most;                                         \
				blas.gemm(ROW_MAJOR, ta ? TRANS : NO_TRANS, tb ? TRANS : NO_TRANS, (int)m, (int)n, (int)part, alpha, \
					  a + p * (ta ? lda : 1), (int)lda, b + p * (tb ? 1 : ldb), (int)ldb, beta, c, (int)ldc); \
			}                                                                                              \
	}
SHIM_GEMM(float, shim_gemm_f32, sgemm, sgemv, gemm_plain_f32, 48)
SHIM_GEMM(double, shim_gemm_f64, dgemm, dgemv, gemm_plain_f64, INT32_MAX / 2)
