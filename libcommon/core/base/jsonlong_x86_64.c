#include "base/jsonlong.h"

#include <immintrin.h>

__attribute__((target("avx512bw"))) static const char *long_avx512(const char *p, const char *end, uint8_t *escaped)
{
	for (uint64_t back, step; end - p > 64; p += step) {
		const __m512i v = _mm512_loadu_si512(p);
		uint64_t stop = _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(0x20)), quote = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('"'));
		back = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\\'));
		stop |= quote & ~(back << 1);
		step = 64;
		if (back) {
			uint64_t known = quote | _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('n')) |
					 _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('t')) |
					 _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('/'));
			stop |= back << 1 & ~known; /* another backslash, too */
			if (back >> 63) {
				stop |= p[64] != '"' && p[64] != 'n';
				step = 65;
			}
		}
		if (stop)
			break;
		*escaped |= back != 0;
	}
	return p;
}

const char *json_string_long(const char *p, const char *end, uint8_t *escaped)
{
	return __builtin_cpu_supports("avx512bw") ? long_avx512(p, end, escaped) : p;
}
