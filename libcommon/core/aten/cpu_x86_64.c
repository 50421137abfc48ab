#include "cpu.h"

#include <cpuid.h>

bool cpu_has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

bool cpu_has_avx512_core(void)
{
	return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

/* clang 14 has no name for it. */
bool cpu_has_avx512_fp16(void)
{
	unsigned a, b, c, d;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 23 & 1);
}
