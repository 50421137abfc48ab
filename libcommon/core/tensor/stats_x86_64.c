#include "tensor/stats_part.h"

#include <cpuid.h>
#include <emmintrin.h>

enum { DEFAULT_FLAGS = 0x1f80 }; /* of MXCSR: no traps, subnormals are kept */

int stats_best(void)
{
	unsigned a, b, c = 0, d;
	__builtin_cpu_init();
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_F16C) || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return 0;
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vl")
		   ? 2
		   : 1;
}

const struct stats_kernels *stats_kernels_of(int level)
{
	static const struct stats_kernels *const table[] = {&stats_plain, &stats_avx2, &stats_avx512};
	return table[level];
}

unsigned stats_enter_float(void)
{
	unsigned was = _mm_getcsr();
	if (was != DEFAULT_FLAGS)
		_mm_setcsr(DEFAULT_FLAGS);
	return was;
}

void stats_leave_float(unsigned was)
{
	if (_mm_getcsr() != was)
		_mm_setcsr(was);
}

double stats_root(double v) { return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_set_sd(v), _mm_set_sd(v))); }
