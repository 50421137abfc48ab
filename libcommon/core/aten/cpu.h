/* cpu.h - the processor's features, and copies of a loop for them. x86-64 only; elsewhere only the plain copy is used, and no feature is
 * present.
 *
 *     KERNEL(loop_any, )
 *     KERNEL(loop_avx2, CPU_AVX2)                      // elsewhere a second copy of the same code, never called
 *     (cpu_has_avx2() ? loop_avx2 : loop_any)(...)
 */
#ifndef PT2_ATEN_CPU_H
#define PT2_ATEN_CPU_H
#include <stdbool.h>

/* ---- cpu_x86_64.c, cpu_portable.c ---- */

bool cpu_has_avx2(void);        /* and FMA */
bool cpu_has_avx512_core(void); /* required by oneDNN for bfloat16, */
bool cpu_has_avx512_fp16(void); /* for float16 */

/* ---- attributes of functions ---- */

#ifdef PT2_ARCH_x86_64
#define CPU_AVX2 __attribute__((target("avx2,fma")))
#else
#define CPU_AVX2
#endif

/* Loops worth a second copy for wide registers. The file that uses it should have ATEN_LOOPS first: -O2 of gcc 12 does not vectorize loops
 * of unknown length. The thread sanitizer is not ready yet when a copy is chosen. */
#if defined(PT2_ARCH_x86_64) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define ATEN_WIDE __attribute__((target_clones("avx2", "default")))
#define ATEN_LOOPS _Pragma("GCC optimize(\"O3\")")
#else
#define ATEN_WIDE
#define ATEN_LOOPS
#endif

#endif
