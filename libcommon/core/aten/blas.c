/* Matrix multiplication: OpenBLAS if installed, else plain C; LAPACK (lapack.h) from the same library.
 *
 * It is loaded on first use, since loading it takes longer than a small model runs. It looks for Debian's
 * (libopenblas0-serial or another variant), whose integers have 32 bits, and the one in NumPy's wheels, whose names and
 * integers differ (scipy_dgesdd_64_): next to the python in PATH, in a virtual environment and in ~/.local. One thread, unless the
 * environment says otherwise: the kernels of the model have a pool of their own, and two pools on few cores compete. PT2_SHIM_BLAS=none
 * disables it (for tests); any other value is the library to load. */
#include "cpu.h"
#include "blas.h"
#include "lapack.h"
#include "mat.h"

#include "base/buf.h"

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <sys/mman.h>

/* cblas.h of OpenBLAS 0.3; its enums are ints. Its blasint is an int or, in NumPy's, an int64_t, which serves both: a callee that takes an
 * int reads the lower half of the register or stack slot. */
enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };
typedef int64_t blasint;
#define GEMM(T) void (*)(int, int, int, blasint, blasint, blasint, T, const T *, blasint, const T *, blasint, T, T *, blasint)
#define GEMV(T) void (*)(int, int, blasint, blasint, T, const T *, blasint, const T *, blasint, T, T *, blasint)

/* Names in builds of OpenBLAS for %s of cblas.h and Fortran. */
static const struct naming {
	const char *c, *fortran;
	bool wide; /* integers of 64 bits */
} namings[] = {
    {"%s", "%s_", false},
    {"scipy_%s64_", "scipy_%s_64_", true}, /* numpy 2: libscipy_openblas64_ */
    {"scipy_%s", "scipy_%s_", false},      /* scipy: libscipy_openblas */
    {"%s64_", "%s_64_", true},             /* numpy 1: libopenblas64_p; Debian's libopenblas64 */
};

static struct {
	void (*sgemm)(int, int, int, blasint, blasint, blasint, float, const float *, blasint, const float *, blasint, float, float *,
		      blasint);
	void (*dgemm)(int, int, int, blasint, blasint, blasint, double, const double *, blasint, const double *, blasint, double, double *,
		      blasint);
	void (*sgemv)(int, int, blasint, blasint, float, const float *, blasint, const float *, blasint, float, float *, blasint);
	void (*dgemv)(int, int, blasint, blasint, double, const double *, blasint, const double *, blasint, double, double *, blasint);
	void *lib, *lapack; /* lapack: the library with LAPACK, if different */
	const struct naming *naming;
} blas;

static void *named(void *lib, const char *form, const char *name)
{
	char full[64];
	snprintf(full, sizeof(full), form, name);
	return dlsym(lib, full);
}

/* True ends the search. */
typedef bool file_fn(void *arg, const char *path);

static bool each_matching(const char *folder, const char *pattern, file_fn *take, void *arg)
{
	char path[4200];
	glob_t found;
	bool taken = false;
	if (snprintf(path, sizeof(path), "%s/%s", folder, pattern) >= (int)sizeof(path) || glob(path, 0, NULL, &found))
		return false;
	for (size_t i = 0; i < found.gl_pathc && !taken; i++)
		taken = take(arg, found.gl_pathv[i]);
	globfree(&found);
	return taken;
}

/* The OpenBLAS of NumPy's wheels, for the python that would be run. */
static void each_of_numpys(file_fn *take, void *arg)
{
	static const char libs[] = "lib/python3*/site-packages/numpy.libs/lib*openblas*.so*";
	const char *venv = getenv("VIRTUAL_ENV"), *home = getenv("HOME"), *path = getenv("PATH");
	char folder[4096];
	if (venv && *venv && each_matching(venv, libs, take, arg))
		return;
	for (const char *end; path && *path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		const char *bin =
		    memrchr(path, '/', (size_t)(end - path)); /* beside bin/, without "..": bin need not be there to be seen */
		if (*path == '/' && bin && snprintf(folder, sizeof(folder), "%.*s", (int)(bin - path), path) < (int)sizeof(folder) &&
		    each_matching(folder, libs, take, arg))
			return;
	}
	if (home && *home == '/' && snprintf(folder, sizeof(folder), "%s/.local", home) < (int)sizeof(folder))
		each_matching(folder, libs, take, arg);
}

static bool open_one(void *arg, const char *path)
{
	void **lib = arg;
	*lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return *lib != NULL;
}

struct taking {
	void (*take)(void *arg, const char *path);
	void *arg;
};

static bool take_one(void *arg, const char *path)
{
	const struct taking *t = arg;
	t->take(t->arg, path);
	return false;
}

void aten_blas_files(void (*take)(void *arg, const char *path), void *arg)
{
	const char *want = getenv("PT2_SHIM_BLAS");
	if (want && *want == '/')
		take(arg, want);
	else if (!(want && *want))
		each_of_numpys(take_one, &(struct taking){take, arg});
}

/* OpenBLAS packs matrices in a buffer that it maps at the first product, 128 MiB in Debian's; if there is no room for it (ulimit -v), it
 * retries forever (driver/others/memory.c, blas_memory_alloc). */
#define BLAS_BUFFER (128u << 20)
static bool starved;

bool aten_starved(void) { return starved; }

static bool has_room(void)
{
	void *p = mmap(NULL, BLAS_BUFFER, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return false;
	munmap(p, BLAS_BUFFER);
	return true;
}

static void load_blas(void)
{
	const char *want = getenv("PT2_SHIM_BLAS");
	void (*threads)(int) = NULL;
	if (want && !strcmp(want, "none"))
		return;
	void *lib = dlopen(want && *want ? want : "libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!lib && !(want && *want))
		each_of_numpys(open_one, &lib);
	for (size_t i = 0; lib && i < ARRAY_LEN(namings) && !blas.naming; i++)
		if (named(lib, namings[i].c, "cblas_sgemm"))
			blas.naming = &namings[i];
	if (!blas.naming)
		return;
	const char *c = blas.naming->c;
	threads = (void (*)(int))named(lib, c, "openblas_set_num_threads");
	if (threads && !getenv("OPENBLAS_NUM_THREADS") && !getenv("OMP_NUM_THREADS"))
		threads(1);
	starved = named(lib, c, "openblas_get_config") && !has_room();
	blas.lib = lib;
	blas.sgemv = (GEMV(float))named(lib, c, "cblas_sgemv");
	blas.dgemv = (GEMV(double))named(lib, c, "cblas_dgemv");
	blas.dgemm = (GEMM(double))named(lib, c, "cblas_dgemm");
	blas.sgemm = (GEMM(float))named(lib, c, "cblas_sgemm");
	if (!named(lib, blas.naming->fortran, "dgetrf") && !blas.naming->wide) /* some systems build OpenBLAS without LAPACK */
		blas.lapack = dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL);
}

static void need_blas(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, load_blas);
	if (UNLIKELY(starved))
		aten_fail("not enough address space for OpenBLAS, which needs %u MB more: raise the limit (ulimit -v)", BLAS_BUFFER >> 20);
}

/* ---- LAPACK ---- */

void aten_lapack(const char *name, int dtype, const void *const *arg, size_t n)
{
	typedef const void *p;
	typedef void routine(p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p);
	char full[32];
	const void *a[LAPACK_ARGS];
	need_blas();
	snprintf(full, sizeof(full), "%c%s", dtype == DTYPE_F32 ? 's' : dtype == DTYPE_F64 ? 'd' : dtype == DTYPE_C64 ? 'c' : 'z', name);
	routine *call = blas.lib ? (routine *)named(blas.lib, blas.naming->fortran, full) : NULL;
	if (!call && blas.lapack)
		call = (routine *)named(blas.lapack, "%s_", full);
	if (!call)
		aten_fail(
		    "requires LAPACK's %s: install OpenBLAS (Debian: libopenblas0-serial) or set PT2_SHIM_BLAS to a library that has it",
		    full);
	for (size_t i = 0; i < LAPACK_ARGS; i++) /* after the arguments: lengths of strings, one character each */
		a[i] = i < n ? arg[i] : (p)(uintptr_t)1;
	call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16], a[17], a[18],
	     a[19]);
}

int64_t lapack_int(const int64_t *array, int64_t i) { return blas.naming && blas.naming->wide ? array[i] : ((const int32_t *)array)[i]; }

void lapack_set_int(int64_t *array, int64_t i, int64_t v)
{
	need_blas();
	if (blas.naming && blas.naming->wide)
		array[i] = v;
	else
		((int32_t *)array)[i] = (int32_t)v;
}

/* ---- products ---- */

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

/* A program with small products only is done before OpenBLAS would be loaded: 5 ms of processor time, in each process (its tables of
 * kernels are 13,000 relocations). */
static bool is_small(int64_t m, int64_t n, int64_t k)
{
	enum { MOST = 1 << 16 };
	return k > 0 && k <= MOST && m <= MOST / k && n <= MOST / k / m;
}

/* For a row or a column, gemv reads the matrix once, where gemm would pack it first. Sums of floats are split into parts of `most`:
 * OpenBLAS adds everything in one pass, unlike MKL and oneDNN, and lost up to three times as much precision; splitting costs little. */
#define BLAS_GEMM(T, name, gemm, gemv, plain, most) \
	void name(bool ta, bool tb, int64_t m, int64_t n, int64_t k, T alpha, const T *a, int64_t lda, const T *b, int64_t ldb, T beta, \
		  T *c, int64_t ldc) \
	{ \
		if (m <= 0 || n <= 0) \
			return; \
		const bool small = is_small(m, n, k); \
		if (!small) \
			need_blas(); \
		if (small || !blas.gemm || !blas.gemv || k <= 0 || (!blas.naming->wide && !fits_int(m, n, k, lda, ldb, ldc))) { \
			plain(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); \
			return; \
		} \
		if (beta == 0 && (m == 1 || n == 1)) /* not every gemv ignores the existing contents */ \
			for (int64_t i = 0; i < (m == 1 ? n : m); i++) \
				c[i * (m == 1 ? 1 : ldc)] = 0; \
		if (m == 1) \
			blas.gemv(ROW_MAJOR, tb ? NO_TRANS : TRANS, tb ? n : k, tb ? k : n, alpha, b, ldb, a, ta ? lda : 1, beta, c, 1); \
		else if (n == 1) \
			blas.gemv(ROW_MAJOR, ta ? TRANS : NO_TRANS, ta ? k : m, ta ? m : k, alpha, a, lda, b, tb ? 1 : ldb, beta, c, ldc); \
		else \
			for (int64_t p = 0, part; p < k; p += part, beta = 1) { \
				part = k - p < most + most / 2 ? k - p : most; \
				blas.gemm(ROW_MAJOR, ta ? TRANS : NO_TRANS, tb ? TRANS : NO_TRANS, m, n, part, alpha, \
					  a + p * (ta ? lda : 1), lda, b + p * (tb ? 1 : ldb), ldb, beta, c, ldc); \
			} \
	}
BLAS_GEMM(float, aten_gemm_f32, sgemm, sgemv, gemm_plain_f32, 48)
BLAS_GEMM(double, aten_gemm_f64, dgemm, dgemv, gemm_plain_f64, INT32_MAX / 2)
