/* lapack.h - routines of LAPACK, from the library that multiplies matrices (blas.c) or liblapack.so.3.
 *
 *     int64_t n = 5, info = 0;
 *     LAPACK("potrf", DTYPE_F64, "L", &n, a, &n, &info);       // dpotrf_
 *
 * As Fortran has it, every argument is an address. Integers are int64_t here whatever the library's own are: where those have
 * 32 bits it reads and writes the lower half, which on little-endian machines lies first. So what it writes must be 0 before;
 * lapack_int() reads one of an array. A library without the routine leaves the operator, with what is to be installed.
 */
#ifndef PT2_ATEN_LAPACK_H
#define PT2_ATEN_LAPACK_H
#include "aten.h"

#define LAPACK(name, dtype, ...) \
	aten_lapack(name, dtype, (const void *const[]){__VA_ARGS__}, sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *))
enum { LAPACK_ARGS = 20 }; /* with the hidden lengths of texts */

/* name without the letter that says the dtype: float32, float64, complex64, complex128. */
void aten_lapack(const char *name, int dtype, const void *const *arg, size_t n);
int64_t lapack_int(const int64_t *array, int64_t i);
void lapack_set_int(int64_t *array, int64_t i, int64_t v);

#endif
