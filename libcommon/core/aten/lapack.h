/* lapack.h - LAPACK routines, from the BLAS library (blas.c) or liblapack.so.3.
 *
 *     int64_t n = 5, info = 0;
 *     LAPACK("potrf", DTYPE_F64, "L", &n, a, &n, &info);       // dpotrf_
 *
 * As in Fortran, every argument is an address. Integers are int64_t here whatever the library uses: if it uses 32 bits, it reads and writes
 * the lower half, which comes first on little-endian machines. So integers that it writes must be 0 before; lapack_int() reads one from an
 * array. If the library lacks the routine, the operator fails with what to install.
 */
#ifndef PT2_ATEN_LAPACK_H
#define PT2_ATEN_LAPACK_H
#include "aten.h"

#define LAPACK(name, dtype, ...) \
	aten_lapack(name, dtype, (const void *const[]){__VA_ARGS__}, sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *))
enum { LAPACK_ARGS = 20 }; /* including the hidden lengths of strings */

/* name without the letter for the dtype: float32, float64, complex64, complex128. */
void aten_lapack(const char *name, int dtype, const void *const *arg, size_t n);
int64_t lapack_int(const int64_t *array, int64_t i);
void lapack_set_int(int64_t *array, int64_t i, int64_t v);

#endif
