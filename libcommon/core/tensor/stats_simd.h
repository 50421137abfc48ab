/* stats_simd.h - the vector kernels of stats_part.h, compiled once per instruction set: included by stats_avx2_x86_64.c and
 * stats_avx512_x86_64.c, which define the vectors. The remainder of a block goes to the plain kernels.
 *
 * VI, VF, VD: vectors of bits, floats, doubles; VBYTES their size. LOADI, AND, MAXs: loads need no alignment.
 * COUNT_GT(w, a, b), COUNT_EQ(w, a, b): how many elements of w bits. HIGHEST16, HIGHEST32: the highest signed element.
 */
#define VN16 (VBYTES / 2)
#define VN32 (VBYTES / 4)
#define VN64 (VBYTES / 8)
#define FN static __attribute__((target(TARGET)))
#define INLINE static inline __attribute__((target(TARGET), always_inline))
#ifdef __clang__
#define FN_LOOPS FN
#else
#define FN_LOOPS static __attribute__((target(TARGET), optimize("O3"))) /* its loops are vectorized */
#endif

/* ---- NaN and infinities: tested on their bits as integers; no arithmetic, no flags ---- */

/* The bits without the sign are at or above infinity's. For doubles, the upper half suffices. */
#define VECTOR_BAD(name, size, w, mask, inf) \
	FN bool bad_##name(const void *p, size_t n) \
	{ \
		const char *at = p; \
		const size_t step = VBYTES / (size); \
		const VI m = mask; \
		VI a = ZEROI, b = a, c = a, d = a; \
		size_t i = 0; \
		for (; i + 4 * step <= n; i += 4 * step, at += 4 * VBYTES) { \
			a = MAX##w(a, AND(LOADI(at), m)); \
			b = MAX##w(b, AND(LOADI(at + VBYTES), m)); \
			c = MAX##w(c, AND(LOADI(at + 2 * VBYTES), m)); \
			d = MAX##w(d, AND(LOADI(at + 3 * VBYTES), m)); \
		} \
		for (; i + step <= n; i += step, at += VBYTES) \
			a = MAX##w(a, AND(LOADI(at), m)); \
		a = MAX##w(MAX##w(a, b), MAX##w(c, d)); \
		return HIGHEST##w(a) >= (inf) || (i < n && stats_plain.bad[KIND_##name](at, n - i)); \
	}
VECTOR_BAD(f16, 2, 16, SET16(0x7fff), 0x7c00)
VECTOR_BAD(bf16, 2, 16, SET16(0x7fff), 0x7f80)
VECTOR_BAD(f32, 4, 32, SET32(0x7fffffff), 0x7f800000)
VECTOR_BAD(f64, 8, 32, SET64(0x7fffffffll << 32), 0x7ff00000)

#define VECTOR_COUNT(name, size, w, abs, inf, neg_inf) \
	FN void count_##name(const void *p, size_t n, struct stats_bad *b) \
	{ \
		const char *at = p; \
		const size_t step = VBYTES / (size); \
		const VI m = SET##w(abs), pos = SET##w(inf), neg = SET##w(neg_inf); \
		size_t i = 0; \
		for (; i + step <= n; i += step, at += VBYTES) { \
			VI v = LOADI(at); \
			b->nan += COUNT_GT(w, AND(v, m), pos); \
			b->pos += COUNT_EQ(w, v, pos); \
			b->neg += COUNT_EQ(w, v, neg); \
		} \
		if (i < n) \
			stats_plain.count[KIND_##name](at, n - i, b); \
	}
VECTOR_COUNT(f16, 2, 16, 0x7fff, 0x7c00, (short)0xfc00)
VECTOR_COUNT(bf16, 2, 16, 0x7fff, 0x7f80, (short)0xff80)
VECTOR_COUNT(f32, 4, 32, 0x7fffffff, 0x7f800000, (int)0xff800000)
VECTOR_COUNT(f64, 8, 64, INT64_MAX, 0x7ffll << 52, (long long)(0xfffull << 52))

/* ---- everything ---- */

/* Two vectors of floats per step: the values read, and four sums of doubles. */
struct vector_sums {
	VF min[2], max[2];
	VI bits[2];
	VD sum[4];
	uint64_t zero;
};

INLINE void step_float(struct vector_sums *s, VF v, int k, bool nan)
{
	/* MIN and MAX return the second of two numbers if one of them is NaN. */
	s->min[k] = MINF(v, s->min[k]);
	s->max[k] = MAXF(v, s->max[k]);
	s->bits[k] = MAX32(s->bits[k], AND(BITSF(v), SET32(0x7fffffff)));
	s->zero += COUNT_ZEROF(v);
	if (nan)
		v = ORDEREDF(v);
	s->sum[2 * k] = ADDD(s->sum[2 * k], LOWD(v));
	s->sum[2 * k + 1] = ADDD(s->sum[2 * k + 1], HIGHD(v));
}

INLINE bool end_float(struct vector_sums *s, struct stats_sums *o)
{
	float lo[VN32], hi[VN32];
	double sum[VN64], total = 0;
	STOREF(lo, MINF(s->min[0], s->min[1]));
	STOREF(hi, MAXF(s->max[0], s->max[1]));
	STORED(sum, ADDD(ADDD(s->sum[0], s->sum[1]), ADDD(s->sum[2], s->sum[3])));
	for (int i = 0; i < VN32; i++) {
		o->min = (double)lo[i] < o->min ? (double)lo[i] : o->min;
		o->max = (double)hi[i] > o->max ? (double)hi[i] : o->max;
	}
	for (int i = 0; i < VN64; i++)
		total += sum[i];
	o->sum += total;
	o->zero += s->zero;
	return HIGHEST32(MAX32(s->bits[0], s->bits[1])) >= 0x7f800000;
}

#define VECTOR_ALL_FLOAT(name, size, load) \
	INLINE bool loop_##name(const void *p, size_t n, bool nan, struct stats_sums *o) \
	{ \
		const char *at = p; \
		const VF inf = SETF(__builtin_inff()), neg = SETF(-__builtin_inff()); \
		struct vector_sums s = {{inf, inf}, {neg, neg}, {ZEROI, ZEROI}, {ZEROD, ZEROD, ZEROD, ZEROD}, 0}; \
		size_t i = 0; \
		for (; i + 2 * VN32 <= n; i += 2 * VN32, at += 2 * VN32 * (size)) { \
			step_float(&s, load(at), 0, nan); \
			step_float(&s, load(at + VN32 * (size)), 1, nan); \
		} \
		bool bad = i && end_float(&s, o); \
		return i < n ? stats_plain.all[KIND_##name](at, n - i, nan, o) || bad : bad; \
	} \
	FN bool all_##name(const void *p, size_t n, bool nan, struct stats_sums *o) \
	{ \
		return nan ? loop_##name(p, n, true, o) : loop_##name(p, n, false, o); \
	}
VECTOR_ALL_FLOAT(f16, 2, LOADF_F16)
VECTOR_ALL_FLOAT(bf16, 2, LOADF_BF16)
VECTOR_ALL_FLOAT(f32, 4, LOADF)

INLINE bool loop_f64(const void *p, size_t n, bool nan, struct stats_sums *o)
{
	const char *at = p;
	VD lo = SETD(__builtin_inf()), hi = SETD(-__builtin_inf()), sum[2] = {ZEROD, ZEROD};
	VD lo2 = lo, hi2 = hi;
	VI bits = ZEROI;
	uint64_t zero = 0;
	size_t i = 0;
	for (; i + 2 * VN64 <= n; i += 2 * VN64, at += 2 * VBYTES) {
		VD v = LOADD(at), w = LOADD(at + VBYTES);
		lo = MIND(v, lo);
		hi = MAXD(v, hi);
		lo2 = MIND(w, lo2);
		hi2 = MAXD(w, hi2);
		bits = MAX32(bits, MAX32(AND(BITSD(v), SET64(0x7fffffffll << 32)), AND(BITSD(w), SET64(0x7fffffffll << 32))));
		zero += COUNT_ZEROD(v) + COUNT_ZEROD(w);
		if (nan) {
			v = ORDEREDD(v);
			w = ORDEREDD(w);
		}
		sum[0] = ADDD(sum[0], v);
		sum[1] = ADDD(sum[1], w);
	}
	double l[VN64], h[VN64], s[VN64];
	STORED(l, MIND(lo, lo2));
	STORED(h, MAXD(hi, hi2));
	STORED(s, ADDD(sum[0], sum[1]));
	for (int k = 0; k < VN64 && i; k++) {
		o->min = l[k] < o->min ? l[k] : o->min;
		o->max = h[k] > o->max ? h[k] : o->max;
		o->sum += s[k];
	}
	o->zero += zero;
	bool bad = HIGHEST32(bits) >= 0x7ff00000;
	return i < n ? stats_plain.all[STATS_F64](at, n - i, nan, o) || bad : bad;
}

FN bool all_f64(const void *p, size_t n, bool nan, struct stats_sums *o)
{
	return nan ? loop_f64(p, n, true, o) : loop_f64(p, n, false, o);
}

/* Integers: simple loops that the compiler vectorizes. A block's sum fits 64 bits except for 64-bit integers. */
#define VECTOR_ALL_INT(name, type, wide, lowest, highest) \
	FN_LOOPS bool all_##name(const void *p, size_t n, bool nan, struct stats_sums *o) \
	{ \
		typedef type unaligned __attribute__((aligned(1), may_alias)); \
		const unaligned *v = p; \
		(void)nan; \
		type lo = highest, hi = lowest; \
		wide sum = 0; \
		type zero = 0; /* as wide as an element, for speed; STATS_BLOCK fits */ \
		for (size_t i = 0; i < n; i++) { \
			lo = v[i] < lo ? v[i] : lo; \
			hi = v[i] > hi ? v[i] : hi; \
			zero = (type)(zero + (v[i] == 0)); \
			sum += (wide)v[i]; \
		} \
		o->min = n && (double)lo < o->min ? (double)lo : o->min; \
		o->max = n && (double)hi > o->max ? (double)hi : o->max; \
		o->sum += (double)sum; \
		o->zero += (uint64_t)zero; \
		return false; \
	}
VECTOR_ALL_INT(i16, int16_t, int32_t, INT16_MIN, INT16_MAX)
VECTOR_ALL_INT(u16, uint16_t, uint32_t, 0, UINT16_MAX)
VECTOR_ALL_INT(i32, int32_t, int64_t, INT32_MIN, INT32_MAX)
VECTOR_ALL_INT(u32, uint32_t, uint64_t, 0, UINT32_MAX)

/* Sums of 64-bit integers: of their upper and lower halves, each of which fits. */
#define VECTOR_ALL_INT64(name, type, lowest, highest) \
	FN_LOOPS bool all_##name(const void *p, size_t n, bool nan, struct stats_sums *o) \
	{ \
		typedef type unaligned __attribute__((aligned(1), may_alias)); \
		const unaligned *v = p; \
		(void)nan; \
		type lo = highest, hi = lowest, upper = 0; \
		uint64_t lower = 0, zero = 0; \
		for (size_t i = 0; i < n; i++) { \
			lo = v[i] < lo ? v[i] : lo; \
			hi = v[i] > hi ? v[i] : hi; \
			zero += v[i] == 0; \
			upper += v[i] >> 32; \
			lower += (uint64_t)v[i] & 0xffffffff; \
		} \
		o->min = n && (double)lo < o->min ? (double)lo : o->min; \
		o->max = n && (double)hi > o->max ? (double)hi : o->max; \
		o->sum += (double)upper * 0x1p32 + (double)lower; \
		o->zero += zero; \
		return false; \
	}
VECTOR_ALL_INT64(i64, int64_t, INT64_MIN, INT64_MAX)
VECTOR_ALL_INT64(u64, uint64_t, 0, UINT64_MAX)

const struct stats_kernels KERNELS = {
    .bad = {bad_f16, bad_bf16, bad_f32, bad_f64},
    .count = {count_f16, count_bf16, count_f32, count_f64},
    .all = {all_f16, all_bf16, all_f32, all_f64, all_i16, all_u16, all_i32, all_u32, all_i64, all_u64},
};
