/* The kernels of stats_simd.h with AVX-512 (F, BW, DQ, VL). */
#include "tensor/stats_part.h"

#include <immintrin.h>

#define KERNELS stats_avx512
#define TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,popcnt"
#define VBYTES 64
#define VI __m512i
#define VF __m512
#define VD __m512d

#define ZEROI _mm512_setzero_si512()
#define ZEROD _mm512_setzero_pd()
#define LOADI(p) _mm512_loadu_si512((const void *)(p))
#define LOADF(p) _mm512_loadu_ps((const void *)(p))
#define LOADD(p) _mm512_loadu_pd((const void *)(p))
#define LOADF_F16(p) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(p)))
#define LOADF_BF16(p) \
	_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(p))), 16))
#define STOREF(p, v) _mm512_storeu_ps(p, v)
#define STORED(p, v) _mm512_storeu_pd(p, v)
#define SET16(v) _mm512_set1_epi16(v)
#define SET32(v) _mm512_set1_epi32(v)
#define SET64(v) _mm512_set1_epi64(v)
#define SETF(v) _mm512_set1_ps(v)
#define SETD(v) _mm512_set1_pd(v)
#define AND _mm512_and_si512
#define MAX16 _mm512_max_epi16
#define MAX32 _mm512_max_epi32
#define MINF _mm512_min_ps
#define MAXF _mm512_max_ps
#define MIND _mm512_min_pd
#define MAXD _mm512_max_pd
#define ADDD _mm512_add_pd
#define BITSF _mm512_castps_si512
#define BITSD _mm512_castpd_si512
#define LOWD(v) _mm512_cvtps_pd(_mm512_castps512_ps256(v))
#define HIGHD(v) _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1))
#define ORDEREDF(v) _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), v)
#define ORDEREDD(v) _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(v, v, _CMP_ORD_Q), v)
#define POPCOUNT(m) ((uint32_t)__builtin_popcount((unsigned)(m)))
#define COUNT_ZEROF(v) POPCOUNT(_mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_EQ_OQ))
#define COUNT_ZEROD(v) POPCOUNT(_mm512_cmp_pd_mask(v, ZEROD, _CMP_EQ_OQ))
#define COUNT_GT(w, a, b) POPCOUNT(_mm512_cmpgt_epi##w##_mask(a, b))
#define COUNT_EQ(w, a, b) POPCOUNT(_mm512_cmpeq_epi##w##_mask(a, b))

#define KIND_f16 STATS_F16
#define KIND_bf16 STATS_BF16
#define KIND_f32 STATS_F32
#define KIND_f64 STATS_F64

static inline __attribute__((target(TARGET), always_inline)) int HIGHEST16(VI v)
{
	int16_t e[32];
	_mm512_storeu_si512(e, v);
	int high = e[0];
	for (int i = 1; i < 32; i++)
		high = e[i] > high ? e[i] : high;
	return high;
}

static inline __attribute__((target(TARGET), always_inline)) int HIGHEST32(VI v) { return _mm512_reduce_max_epi32(v); }

#include "tensor/stats_simd.h"
