/* The kernels of stats_simd.h with AVX2, and F16C, which machines with FMA have. */
#include "tensor/stats_part.h"

#include <immintrin.h>

#define KERNELS stats_avx2
#define TARGET "avx2,fma,f16c,popcnt"
#define VBYTES 32
#define VI __m256i
#define VF __m256
#define VD __m256d

#define ZEROI _mm256_setzero_si256()
#define ZEROD _mm256_setzero_pd()
#define LOADI(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define LOADF(p) _mm256_loadu_ps((const float *)(const void *)(p))
#define LOADD(p) _mm256_loadu_pd((const double *)(const void *)(p))
#define LOADF_F16(p) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define LOADF_BF16(p) _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p))), 16))
#define STOREF(p, v) _mm256_storeu_ps(p, v)
#define STORED(p, v) _mm256_storeu_pd(p, v)
#define SET16(v) _mm256_set1_epi16(v)
#define SET32(v) _mm256_set1_epi32(v)
#define SET64(v) _mm256_set1_epi64x(v)
#define SETF(v) _mm256_set1_ps(v)
#define SETD(v) _mm256_set1_pd(v)
#define AND _mm256_and_si256
#define MAX16 _mm256_max_epi16
#define MAX32 _mm256_max_epi32
#define MINF _mm256_min_ps
#define MAXF _mm256_max_ps
#define MIND _mm256_min_pd
#define MAXD _mm256_max_pd
#define ADDD _mm256_add_pd
#define BITSF _mm256_castps_si256
#define BITSD _mm256_castpd_si256
#define LOWD(v) _mm256_cvtps_pd(_mm256_castps256_ps128(v))
#define HIGHD(v) _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))
#define ORDEREDF(v) _mm256_and_ps(v, _mm256_cmp_ps(v, v, _CMP_ORD_Q))
#define ORDEREDD(v) _mm256_and_pd(v, _mm256_cmp_pd(v, v, _CMP_ORD_Q))
#define POPCOUNT(m) ((uint32_t)__builtin_popcount((unsigned)(m)))
#define COUNT_ZEROF(v) POPCOUNT(_mm256_movemask_ps(_mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_EQ_OQ)))
#define COUNT_ZEROD(v) POPCOUNT(_mm256_movemask_pd(_mm256_cmp_pd(v, ZEROD, _CMP_EQ_OQ)))
#define COUNT_GT(w, a, b) COUNT_##w(_mm256_cmpgt_epi##w(a, b))
#define COUNT_EQ(w, a, b) COUNT_##w(_mm256_cmpeq_epi##w(a, b))
#define COUNT_16(m) (POPCOUNT(_mm256_movemask_epi8(m)) / 2)
#define COUNT_32(m) POPCOUNT(_mm256_movemask_ps(_mm256_castsi256_ps(m)))
#define COUNT_64(m) POPCOUNT(_mm256_movemask_pd(_mm256_castsi256_pd(m)))

#define KIND_f16 STATS_F16
#define KIND_bf16 STATS_BF16
#define KIND_f32 STATS_F32
#define KIND_f64 STATS_F64

static inline __attribute__((target(TARGET), always_inline)) int HIGHEST16(VI v)
{
	int16_t e[16];
	_mm256_storeu_si256((__m256i *)(void *)e, v);
	int high = e[0];
	for (int i = 1; i < 16; i++)
		high = e[i] > high ? e[i] : high;
	return high;
}

static inline __attribute__((target(TARGET), always_inline)) int HIGHEST32(VI v)
{
	__m128i h = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
	h = _mm_max_epi32(h, _mm_shuffle_epi32(h, 0x4e));
	h = _mm_max_epi32(h, _mm_shuffle_epi32(h, 0xb1));
	return _mm_cvtsi128_si32(h);
}

#include "tensor/stats_simd.h"
