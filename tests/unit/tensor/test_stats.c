/* stats: every instruction set against an obvious reference, over dtypes, strides, addresses and planted NaN and infinities.
 * PT2_BENCH=1 in the environment: how fast it is. */
#include "../../lib/test.h"

#include <math.h>
#include <time.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "tensor/stats_part.h"

/* ---- the reference ---- */

static double small(unsigned bits, int exp, int man, int bias)
{
	unsigned e = bits >> man & ((1u << exp) - 1), m = bits & ((1u << man) - 1);
	double v = e ? ldexp(1 + ldexp(m, -man), (int)e - bias) : ldexp(m, 1 - bias - man);
	return bits >> (exp + man) & 1 ? -v : v;
}

static double special(double v, bool inf, bool nan, bool negative) { return nan ? NAN : inf ? negative ? -INFINITY : INFINITY : v; }

static double ref_part(int dtype, const char *p)
{
	union {
		uint8_t b;
		int8_t i8;
		uint16_t h;
		int16_t i16;
		uint32_t w;
		int32_t i32;
		uint64_t q;
		int64_t i64;
		float f;
		double d;
	} u = {0};
	memcpy(&u, p, (size_t)dtype_info(dtype)->bytes);
	unsigned b = u.b;
	switch (dtype) {
	case DTYPE_U8: return u.b;
	case DTYPE_I8: return u.i8;
	case DTYPE_BOOL: return u.b ? 1 : 0;
	case DTYPE_I16: return u.i16;
	case DTYPE_U16: return u.h;
	case DTYPE_I32: return u.i32;
	case DTYPE_U32: return u.w;
	case DTYPE_I64: return (double)u.i64;
	case DTYPE_U64: return (double)u.q;
	case DTYPE_F32: return u.f;
	case DTYPE_F64: return u.d;
	case DTYPE_BF16: u.w = (uint32_t)u.h << 16; return u.f;
	case DTYPE_F16: return special(small(u.h, 5, 10, 15), (u.h & 0x7fff) == 0x7c00, (u.h & 0x7fff) > 0x7c00, u.h >> 15);
	case DTYPE_F8E5M2: return special(small(b, 5, 2, 15), (b & 127) == 0x7c, (b & 127) > 0x7c, b >> 7);
	case DTYPE_F8E4M3FN: return special(small(b, 4, 3, 7), false, (b & 127) == 127, false);
	case DTYPE_F8E5M2FNUZ: return special(small(b, 5, 2, 16), false, b == 128, false);
	case DTYPE_F8E4M3FNUZ: return special(small(b, 4, 3, 8), false, b == 128, false);
	case DTYPE_F8E8M0FNU: return b == 255 ? NAN : ldexp(1, (int)b - 127);
	default: abort();
	}
}

static int part_of(int dtype)
{
	return dtype == DTYPE_C32 ? DTYPE_F16 : dtype == DTYPE_C64 ? DTYPE_F32 : dtype == DTYPE_C128 ? DTYPE_F64 : DTYPE_NONE;
}

static void ref_stats(const struct tensor_meta *m, const char *data, int64_t n, struct tensor_stats *o)
{
	int bytes = dtype_info(m->dtype)->bytes, part = part_of(m->dtype);
	long double sum = 0;
	*o = (struct tensor_stats){.first_bad = -1, .min = NAN, .max = NAN, .mean = NAN, .known = true, .n = (uint64_t)n};
	for (int64_t i = 0; i < n; i++) {
		int64_t at = 0, rest = i;
		for (int k = m->n_dim; k-- > 0; rest /= m->size[k])
			at += rest % m->size[k] * m->stride[k];
		const char *p = data + at * bytes;
		double v;
		bool negative = false;
		if (part == DTYPE_NONE) {
			v = ref_part(m->dtype, p);
			negative = v < 0;
		} else {
			double re = ref_part(part, p), im = ref_part(part, p + bytes / 2);
			v = isnan(re) || isnan(im) ? NAN : hypot(re, im);
			negative = isinf(re) ? re < 0 : im < 0;
		}
		o->nan += isnan(v);
		o->pos_inf += isinf(v) && !negative;
		o->neg_inf += isinf(v) && negative;
		if (!isfinite(v) && o->first_bad < 0)
			o->first_bad = i;
		if (isnan(v))
			continue;
		o->zero += v == 0;
		o->min = isnan(o->min) || v < o->min ? v : o->min;
		o->max = isnan(o->max) || v > o->max ? v : o->max;
		sum += v;
	}
	if (o->n > o->nan)
		o->mean = (double)(sum / (long double)(o->n - o->nan));
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }
static bool near(double a, double b, double scale) { return same(a, b) || fabs(a - b) <= 1e-12 * scale; }

static void compare(const struct tensor_meta *m, const char *data, int level)
{
	struct tensor_stats want, bad, all;
	struct buf b = {0};
	int64_t n;
	assert_true(tensor_numel(m, &n));
	ref_stats(m, data, n, &want);
	tensor_stats(m, data, STATS_BAD, &bad);
	tensor_stats(m, data, STATS_ALL, &all);
	tensor_spec_print(m, &b);
	double scale = fmax(fabs(want.min), fabs(want.max));
	bool exact = part_of(m->dtype) == DTYPE_NONE;
	if (bad.n != want.n || bad.nan != want.nan || bad.pos_inf != want.pos_inf || bad.neg_inf != want.neg_inf ||
	    bad.first_bad != want.first_bad || !bad.known || !isnan(bad.min) || !isnan(bad.mean))
		fail_msg("level %d %s: bad: %llu %llu %llu first %lld instead of %llu %llu %llu %lld", level, buf_str(&b),
			 (unsigned long long)bad.nan, (unsigned long long)bad.pos_inf, (unsigned long long)bad.neg_inf,
			 (long long)bad.first_bad, (unsigned long long)want.nan, (unsigned long long)want.pos_inf,
			 (unsigned long long)want.neg_inf, (long long)want.first_bad);
	if (all.n != want.n || all.nan != want.nan || all.pos_inf != want.pos_inf || all.neg_inf != want.neg_inf ||
	    all.first_bad != want.first_bad || all.zero != want.zero || !all.known)
		fail_msg("level %d %s: all: first %lld zero %llu instead of %lld %llu", level, buf_str(&b), (long long)all.first_bad,
			 (unsigned long long)all.zero, (long long)want.first_bad, (unsigned long long)want.zero);
	if (!(exact ? same(all.min, want.min) && same(all.max, want.max)
		    : near(all.min, want.min, scale) && near(all.max, want.max, scale)) ||
	    !near(all.mean, want.mean, scale))
		fail_msg("level %d %s: %.17g %.17g %.17g instead of %.17g %.17g %.17g", level, buf_str(&b), all.min, all.max, all.mean,
			 want.min, want.max, want.mean);
	if (want.first_bad >= 0 && isfinite(tensor_at(m, data, want.first_bad)))
		fail_msg("tensor_at");
	buf_release(&b);
}

/* ---- random tensors ---- */

static const int dtypes[] = {DTYPE_U8,       DTYPE_I8,         DTYPE_I16,        DTYPE_I32,  DTYPE_I64,  DTYPE_F16,  DTYPE_F32,
			     DTYPE_F64,      DTYPE_C32,        DTYPE_C64,        DTYPE_C128, DTYPE_BOOL, DTYPE_BF16, DTYPE_F8E5M2,
			     DTYPE_F8E4M3FN, DTYPE_F8E5M2FNUZ, DTYPE_F8E4M3FNUZ, DTYPE_U16,  DTYPE_U32,  DTYPE_U64,  DTYPE_F8E8M0FNU};

static void put_number(int dtype, char *p, uint64_t *seed)
{
	union {
		uint16_t h;
		uint32_t w;
		uint64_t q;
		float f;
		double d;
	} u;
	u.q = (uint64_t)random_u32(seed) << 32 | random_u32(seed);
	int bytes = dtype_info(dtype)->bytes;
	if (pick(seed, 8) == 0) {
		u.q = 0;
	} else if (dtype == DTYPE_F16) {
		u.h = (uint16_t)(u.h & 0xbfff); /* subnormals too, nothing bad */
	} else if (dtype == DTYPE_BF16) {
		u.f = (float)((int)pick(seed, 20001) - 10000) / 64;
		u.w >>= 16;
	} else if (dtype == DTYPE_F32) {
		u.f = (float)((int)pick(seed, 2000001) - 1000000) / 1024;
	} else if (dtype == DTYPE_F64) {
		u.d = ((int)pick(seed, 2000001) - 1000000) / 1024.0;
	} else if (dtype_info(dtype)->name[0] == 'f' && bytes == 1) {
		u.w = pick(seed, 120);
	}
	memcpy(p, &u, (size_t)bytes);
}

static void put_bad(int dtype, char *p, uint64_t *seed)
{
	static const double values[] = {NAN, INFINITY, -INFINITY};
	double d = values[pick(seed, 3)];
	float f = (float)d;
	uint16_t h = isnan(d) ? (uint16_t)(0x7c01 + pick(seed, 0x3ff) + (pick(seed, 2) << 15)) : d > 0 ? 0x7c00 : 0xfc00;
	uint32_t w;
	memcpy(&w, &f, 4);
	w >>= 16;
	switch (dtype) {
	case DTYPE_F64: memcpy(p, &d, 8); break;
	case DTYPE_F32: memcpy(p, &f, 4); break;
	case DTYPE_BF16: memcpy(p, &w, 2); break;
	case DTYPE_F16: memcpy(p, &h, 2); break;
	case DTYPE_F8E5M2: *p = (char)(0x7c + pick(seed, 4) + (pick(seed, 2) << 7)); break;
	case DTYPE_F8E4M3FN: *p = pick(seed, 2) ? 0x7f : (char)0xff; break;
	case DTYPE_F8E5M2FNUZ:
	case DTYPE_F8E4M3FNUZ: *p = (char)0x80; break;
	case DTYPE_F8E8M0FNU: *p = (char)0xff; break;
	default: break;
	}
}

static void fill(int dtype, char *p, size_t n, unsigned bads, uint64_t *seed)
{
	int part = part_of(dtype);
	size_t parts = part == DTYPE_NONE ? n : 2 * n, step = (size_t)dtype_info(part == DTYPE_NONE ? dtype : part)->bytes;
	if (part != DTYPE_NONE)
		dtype = part;
	for (size_t i = 0; i < parts; i++)
		put_number(dtype, p + i * step, seed);
	for (unsigned i = 0; i < bads && parts; i++)
		put_bad(dtype, p + pick(seed, (uint32_t)parts) * step, seed);
}

/* Sizes, and strides of one of several sorts: contiguous, permuted, with gaps, expanded, overlapping. */
static void random_meta(struct tensor_meta *m, int dtype, uint64_t *seed)
{
	*m = (struct tensor_meta){.dtype = dtype, .device_index = -1, .n_dim = (int)pick(seed, 5)};
	int order[4] = {0, 1, 2, 3};
	for (int i = 0; i < m->n_dim; i++) {
		m->size[i] = 1 + pick(seed, pick(seed, 4) ? 9 : 40);
		if (!pick(seed, 40))
			m->size[i] = 0;
	}
	if (m->n_dim && !pick(seed, 3))
		m->size[pick(seed, (uint32_t)m->n_dim)] = 100 + pick(seed, 700);
	while (m->n_dim > 1) {
		int64_t n = 1;
		for (int i = 0; i < m->n_dim; i++)
			n *= m->size[i];
		if (n <= 20000)
			break;
		m->n_dim--;
	}
	unsigned sort = pick(seed, 5);
	for (int i = m->n_dim; i-- > 1 && sort;) {
		int k = (int)pick(seed, (uint32_t)i + 1), t = order[i];
		order[i] = order[k];
		order[k] = t;
	}
	int64_t stride = sort == 2 ? 1 + pick(seed, 3) : 1;
	for (int i = m->n_dim; i-- > 0;) {
		int k = order[i];
		m->stride[k] = stride;
		stride *= m->size[k] ? m->size[k] : 1;
		if (sort == 2)
			stride += pick(seed, 3);
		if (sort == 3 && !pick(seed, 2))
			m->stride[k] = 0;
		if (sort == 4 && !pick(seed, 2))
			m->stride[k] = 1;
	}
}

static void each_level(const struct tensor_meta *m, const char *data)
{
	for (int level = 0; level <= 2; level++)
		if (stats_use(level))
			compare(m, data, level);
	stats_use(-1);
}

/* The last element ends where memory ends; the first is at any address. */
static void test_random(void **state)
{
	(void)state;
	struct guard g = {0};
	uint64_t seed = 1;
	char *data = xmalloc(1 << 20);
	for (int round = 0; round < 4000; round++) {
		struct tensor_meta m;
		int64_t bytes;
		int dtype = dtypes[(unsigned)round % ARRAY_LEN(dtypes)];
		random_meta(&m, dtype, &seed);
		assert_true(tensor_extent(&m, &bytes) && bytes < 1 << 20);
		fill(dtype, data, (size_t)bytes / (size_t)dtype_info(dtype)->bytes, pick(&seed, 3) ? 0 : 1 + pick(&seed, 3), &seed);
		each_level(&m, guard_put(&g, data, (size_t)bytes));
	}
	free(data);
	guard_release(&g);
}

/* One bad element at each place of several blocks, and at odd addresses. */
static void test_places(void **state)
{
	(void)state;
	static const int floats[] = {DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_F64};
	uint64_t seed = 2;
	char *room = xmalloc(STATS_BLOCK * 8 * 3 + 64);
	for (size_t t = 0; t < ARRAY_LEN(floats); t++)
		for (int64_t n = 1; n < 3 * STATS_BLOCK; n += n < 70 ? 1 : n < 300 ? 37 : 4001) {
			struct tensor_meta m = {.dtype = floats[t], .n_dim = 1, .size = {n}, .stride = {1}};
			size_t bytes = (size_t)dtype_info(floats[t])->bytes;
			char *data = room + pick(&seed, 64);
			for (int64_t at = 0; at < n; at += n < 300 ? 1 + n / 40 : 1 + pick(&seed, 2000)) {
				struct tensor_stats s;
				memset(data, 0, (size_t)n * bytes);
				put_bad(floats[t], data + (size_t)at * bytes, &seed);
				for (int level = 0; level <= 2; level++)
					for (int want = STATS_BAD; want <= STATS_ALL && stats_use(level); want++) {
						tensor_stats(&m, data, want, &s);
						if (s.first_bad != at || s.nan + s.pos_inf + s.neg_inf != 1)
							fail_msg("level %d %s[%lld]: %lld instead of %lld", level, dtype_name(floats[t]),
								 (long long)n, (long long)s.first_bad, (long long)at);
						if (want == STATS_ALL && s.zero != (uint64_t)n - 1)
							fail_msg("zeros");
					}
			}
		}
	stats_use(-1);
	free(room);
}

/* Blocks of nothing but NaN, or but -inf as attention masks have them; both infinities have no mean. */
static void test_many(void **state)
{
	(void)state;
	enum { N = 10000 };
	float *v = xmalloc(N * sizeof(*v));
	struct tensor_meta m = {.dtype = DTYPE_F32, .n_dim = 1, .size = {N}, .stride = {1}};
	struct tensor_stats s;
	for (int i = 0; i < N; i++)
		v[i] = NAN;
	each_level(&m, (char *)v);
	for (int i = 0; i < N; i++)
		v[i] = -INFINITY;
	each_level(&m, (char *)v);
	tensor_stats(&m, v, STATS_ALL, &s);
	assert_true(s.neg_inf == N && s.min == -INFINITY && s.max == -INFINITY && s.mean == -INFINITY);
	v[9999] = INFINITY;
	each_level(&m, (char *)v);
	tensor_stats(&m, v, STATS_ALL, &s);
	assert_true(isnan(s.mean) && s.nan == 0 && s.max == INFINITY);
	for (int i = 0; i < N; i++)
		v[i] = i % 3 ? NAN : (float)i;
	each_level(&m, (char *)v);
	/* A constant that is expanded: looked at once, counted often. */
	struct tensor_meta wide = {.dtype = DTYPE_F32, .n_dim = 2, .size = {INT64_C(1) << 40, 2}, .stride = {0, 1}};
	v[0] = 3;
	tensor_stats(&wide, v, STATS_ALL, &s);
	assert_true(s.n == UINT64_C(1) << 41 && s.nan == UINT64_C(1) << 40 && s.first_bad == 1 && s.mean == 3);
	free(v);
}

static void test_bytes(void **state)
{
	(void)state;
	static const int types[] = {DTYPE_U8,       DTYPE_I8,         DTYPE_BOOL,       DTYPE_F8E5M2,
				    DTYPE_F8E4M3FN, DTYPE_F8E5M2FNUZ, DTYPE_F8E4M3FNUZ, DTYPE_F8E8M0FNU};
	for (size_t t = 0; t < ARRAY_LEN(types); t++)
		for (unsigned b = 0; b < 256; b++) {
			char c = (char)b;
			struct tensor_meta m = {.dtype = types[t]};
			if (!same(tensor_at(&m, &c, 0), ref_part(types[t], &c)))
				fail_msg("%s %02x: %g instead of %g", dtype_name(types[t]), b, tensor_at(&m, &c, 0),
					 ref_part(types[t], &c));
		}
	for (unsigned h = 0; h < 0x10000; h++) {
		uint16_t v = (uint16_t)h;
		assert_true(same(stats_f16(v), ref_part(DTYPE_F16, (char *)&v)));
		assert_true(same(stats_bf16(v), ref_part(DTYPE_BF16, (char *)&v)));
	}
	/* As torch has them: the largest numbers. */
	assert_true(stats_byte(DTYPE_F8E5M2, 0x7b) == 57344 && stats_byte(DTYPE_F8E4M3FN, 0x7e) == 448);
	assert_true(stats_byte(DTYPE_F8E5M2FNUZ, 0x7f) == 57344 && stats_byte(DTYPE_F8E4M3FNUZ, 0x7f) == 240);
}

static void test_none(void **state)
{
	(void)state;
	struct tensor_stats s;
	struct tensor_meta m = {.dtype = DTYPE_F32, .n_dim = 2, .size = {3, 0}, .stride = {1, 1}};
	tensor_stats(&m, NULL, STATS_ALL, &s);
	assert_true(s.known && s.n == 0 && s.first_bad == -1 && isnan(s.min) && isnan(s.max) && isnan(s.mean));
	m = (struct tensor_meta){.dtype = DTYPE_QI8, .n_dim = 1, .size = {4}, .stride = {1}};
	tensor_stats(&m, "abcd", STATS_ALL, &s);
	assert_true(!s.known && s.n == 4 && isnan(tensor_at(&m, "abcd", 1)));
	m.dtype = 99;
	tensor_stats(&m, NULL, STATS_ALL, &s);
	assert_true(!s.known && s.n == 4);
	int64_t index[3];
	m = (struct tensor_meta){.dtype = DTYPE_F32, .n_dim = 3, .size = {2, 3, 4}};
	tensor_index(&m, 23, index);
	assert_true(index[0] == 1 && index[1] == 2 && index[2] == 3);
	/* What broadcasts, what is as large, what is neither. */
	struct tensor_meta row = {.n_dim = 1, .size = {4}}, column = {.n_dim = 2, .size = {3, 1}}, flat = {.n_dim = 1, .size = {24}},
			   other = {.n_dim = 1, .size = {5}}, none = {.n_dim = 1}, one = {0};
	assert_true(tensor_same_place(&m, &m, 23) == 23 && tensor_same_place(&row, &m, 22) == 2 && tensor_same_place(&column, &m, 23) == 2);
	assert_true(tensor_same_place(&flat, &m, 22) == 22 && tensor_same_place(&one, &m, 22) == 0);
	assert_true(tensor_same_place(&other, &m, 22) == -1 && tensor_same_place(&none, &m, 22) == -1 &&
		    tensor_same_place(&m, &m, 24) == -1);
}

/* What the host set for its own arithmetic changes nothing and is left as it was. */
static void test_host_mode(void **state)
{
	(void)state;
#if defined(__x86_64__)
	float v[40];
	struct tensor_stats s;
	struct tensor_meta m = {.dtype = DTYPE_F32, .n_dim = 1, .size = {40}, .stride = {1}};
	for (int i = 0; i < 40; i++)
		v[i] = 1e-40f;
	v[7] = NAN;
	v[8] = INFINITY;
	v[9] = -INFINITY;
	unsigned was = _mm_getcsr(), mine = (was & ~0x1f80u & ~0x3fu) | 0x8040; /* small is zero; traps on everything */
	for (int level = 0; level <= 2; level++)
		if (stats_use(level)) {
			_mm_setcsr(mine);
			tensor_stats(&m, v, STATS_ALL, &s);
			unsigned now = _mm_getcsr();
			_mm_setcsr(was);
			assert_int_equal(now, mine);
			assert_true(s.zero == 0 && s.nan == 1 && s.pos_inf == 1 && s.neg_inf == 1);
		}
	stats_use(-1);
#endif
}

/* ---- speed, by hand ---- */

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double speed(const struct tensor_meta *m, const char *data, int want, size_t bytes)
{
	double best = 1e9;
	for (int i = 0; i < 7; i++) {
		struct tensor_stats s;
		int times = bytes > 1 << 24 ? 1 : (int)((1u << 25) / bytes);
		double t = now();
		for (int k = 0; k < times; k++)
			tensor_stats(m, data, want, &s);
		t = (now() - t) / times;
		best = t < best ? t : best;
	}
	return (double)bytes / best * 1e-9;
}

static void bench(void)
{
	static const size_t sizes[] = {64 << 10, 512 << 10, 64 << 20};
	char *data = xmalloc(sizes[2]);
	uint64_t seed = 3;
	for (size_t t = 0; t < ARRAY_LEN(dtypes); t++) {
		size_t bytes = (size_t)dtype_info(dtypes[t])->bytes;
		fill(dtypes[t], data, sizes[0] / bytes, 0, &seed);
		for (size_t i = sizes[0]; i < sizes[2]; i += sizes[0])
			memcpy(data + i, data, sizes[0]);
		for (int level = 0; level <= 2; level++)
			for (size_t k = 0; k < ARRAY_LEN(sizes) && stats_use(level); k++) {
				struct tensor_meta m = {
				    .dtype = dtypes[t], .n_dim = 1, .size = {(int64_t)(sizes[k] / bytes)}, .stride = {1}};
				printf("# %-16s level %d %6zu KiB: bad %6.1f all %6.1f GB/s\n", dtype_name(dtypes[t]), level,
				       sizes[k] >> 10, speed(&m, data, STATS_BAD, sizes[k]), speed(&m, data, STATS_ALL, sizes[k]));
			}
	}
	stats_use(-1);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random), cmocka_unit_test(test_places), cmocka_unit_test(test_many),
	    cmocka_unit_test(test_bytes),  cmocka_unit_test(test_none),   cmocka_unit_test(test_host_mode),
	};
	if (getenv("PT2_BENCH"))
		bench();
	return RUN(tests);
}
