/* cpu.h - what the processor can, and copies of a loop for it. x86-64; elsewhere there is the plain copy alone, and nothing is there.
 *
 *     KERNEL(loop_any, )
 *     KERNEL(loop_avx2, CPU_AVX2)                      // elsewhere the same code once more, which nobody calls
 *     (cpu_has_avx2() ? loop_avx2 : loop_any)(...)
 */
#ifndef PT2_ATEN_CPU_H
#define PT2_ATEN_CPU_H
#include <stdbool.h>

/* ---- cpu_x86_64.c, cpu_portable.c ---- */

bool cpu_has_avx2(void);        /* and FMA */
bool cpu_has_avx512_core(void); /* what oneDNN wants for bfloat16, */
bool cpu_has_avx512_fp16(void); /* for float16 */

/* ---- attributes of functions ---- */

#ifdef PT2_ARCH_x86_64
#define CPU_AVX2 __attribute__((target("avx2,fma")))
#else
#define CPU_AVX2
#endif

/* Loops worth a second copy for wide registers. The file that uses it should have ATEN_LOOPS first: -O2 of gcc 12 leaves loops of
 * unknown length as they are. */
#if defined(PT2_ARCH_x86_64) && !defined(__clang__)
#define ATEN_WIDE __attribute__((target_clones("avx2", "default")))
#define ATEN_LOOPS _Pragma("GCC optimize(\"O3\")")
#else
#define ATEN_WIDE
#define ATEN_LOOPS
#endif

#endif
