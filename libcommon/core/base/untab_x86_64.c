#include "base/untab.h"

#include <immintrin.h>

/* 64 bytes a step: tabs at line starts and carriage returns before newlines are dropped from the register, the rest is stored at once. If
 * the text is moved in place, a step writes nothing beyond what it has read; the last one nothing beyond its text, where the next record
 * begins. */
__attribute__((target("avx512bw,avx512vbmi2,popcnt,bmi"))) static void untab_avx512(struct untab *u, char *end)
{
	char *from = u->from, *to = u->to;
	const __m512i tab = _mm512_set1_epi8('\t'), newline = _mm512_set1_epi8('\n'), back = _mm512_set1_epi8('\r');
	uint64_t start = 1, stop = 0, high = 0; /* start: the first byte begins a line */
	while (from < end && !stop) {
		size_t left = (size_t)(end - from);
		uint64_t here = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
		__m512i v = _mm512_maskz_loadu_epi8(here, from);
		uint64_t nl = _mm512_cmpeq_epi8_mask(v, newline), cr = _mm512_cmpeq_epi8_mask(v, back);
		uint64_t starts = nl << 1 | start, tabs = starts & _mm512_cmpeq_epi8_mask(v, tab);
		if (cr)
			cr &= nl >> 1 | (uint64_t)(left > 64 && from[64] == '\n') << 63;
		stop = starts & ~tabs & here;
		if (stop)
			here &= (stop & -stop) - 1;
		uint64_t keep = here & ~(tabs | cr);
		size_t n = (size_t)__builtin_popcountll(keep);
		v = _mm512_maskz_compress_epi8(keep, v);
		if (left > 64 && !stop)
			_mm512_storeu_si512(to, v);
		else
			_mm512_mask_storeu_epi8(to, n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1, v);
		high |= here & _mm512_movepi8_mask(v);
		u->lines += (uint32_t)__builtin_popcountll(tabs & here);
		to += n;
		from += __builtin_popcountll(here);
		start = here ? nl >> (__builtin_popcountll(here) - 1) & 1 : start;
	}
	u->high = high;
	u->from = from;
	u->to = to - start;
}

void untab(struct untab *u, char *end)
{
	if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2"))
		untab_avx512(u, end);
	else
		untab_plain(u, end);
}
