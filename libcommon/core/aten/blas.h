/* blas.h - OpenBLAS, loaded when it is first needed; plain loops if it is missing, and for small products. */
#ifndef PT2_ATEN_BLAS_H
#define PT2_ATEN_BLAS_H
#include "aten.h"

/* Calls take() with each candidate file except the system's. Nothing is loaded. */
void aten_blas_files(void (*take)(void *arg, const char *path), void *arg);
bool aten_starved(void); /* there was no memory for it: not the caller's fault */
/* c[m,n] = beta*c + alpha * a[m,k] b[k,n], row-major with leading dims, ta/tb: transposed in memory. */
void aten_gemm_f32(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
		   float beta, float *c, int64_t ldc);
void aten_gemm_f64(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha, const double *a, int64_t lda, const double *b,
		   int64_t ldb, double beta, double *c, int64_t ldc);

#endif
