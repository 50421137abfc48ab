/* scan.cu - the kernels of cuda_scan.c; cuda_scan.h says what they do. Not part of the build: scripts/gen-scan compiles this to scan.ptx, which
 * is part of the library, and which the driver compiles for the GPU at hand. */
#include "cuda_scan.h"

#define KERNEL extern "C" __attribute__((global))
#define FN static __attribute__((device)) inline __attribute__((always_inline))
#define SHARED __attribute__((shared))
#define GLOBAL __attribute__((address_space(1)))

typedef uint64_t pair __attribute__((ext_vector_type(2)));

template <int N> struct list {
	struct scan_tensor v[N];
};

FN uint32_t tid() { return __nvvm_read_ptx_sreg_tid_x(); }
FN void barrier() { __syncthreads(); }

/* The compiler may not know that this is memory of the block: it would move accesses across barriers, which it takes for functions that cannot
 * know of it either. */
template <class T> FN T *shared(T *p)
{
	asm volatile("" : "+l"(p) : : "memory");
	return p;
}

FN uint64_t load(uint64_t at, uint32_t shift)
{
	if (shift == 3)
		return *(const GLOBAL uint64_t *)at;
	if (shift == 2)
		return *(const GLOBAL uint32_t *)at;
	return shift == 1 ? *(const GLOBAL uint16_t *)at : *(const GLOBAL uint8_t *)at;
}

/* The element at linear index i, in elements from the first. 32 bits where they do: a division of 64 takes five times as long. */
FN uint64_t place(const struct scan_tensor &t, uint64_t i)
{
	uint64_t at = 0;
	if (t.n >> 32) {
#pragma clang loop unroll(disable)
		for (uint32_t d = SCAN_DIMS; d-- > t.first_dim;) {
			at += i % t.size[d] * t.stride[d];
			i /= t.size[d];
		}
		return at;
	}
	uint32_t k = (uint32_t)i;
#pragma clang loop unroll(disable)
	for (uint32_t d = SCAN_DIMS; d-- > t.first_dim;) {
		uint32_t size = (uint32_t)t.size[d];
		at += k % size * t.stride[d];
		k /= size;
	}
	return at;
}

/* Bits that are set where a lane of x is bad: its bits without the sign are more than the limit. A sum of two lanes never reaches the
 * next one. */
FN uint64_t bad_lanes(const struct scan_tensor &t, uint64_t x) { return ((x & ~t.high) + t.add) & t.high; }

/* ---- the scan ---- */

FN uint64_t scan_dense(const struct scan_tensor &t, uint64_t first, uint64_t step)
{
	uint64_t count = 0, bytes = t.n << t.shift, before = -t.at & 15;
	if (before > bytes)
		before = bytes;
	const uint64_t pairs = (bytes - before) >> 4, from = t.at + before;
	for (uint64_t i = first; i < pairs; i += step) {
		const pair v = ((const GLOBAL pair *)from)[i];
		const uint64_t a = bad_lanes(t, v[0]), b = bad_lanes(t, v[1]);
		if (a | b)
			count += __builtin_popcountll(a) + __builtin_popcountll(b);
	}
	/* Elements before the first multiple of 16 bytes, and behind the last. */
	const uint64_t n_before = before >> t.shift, rest = n_before + ((bytes - before & 15) >> t.shift);
	for (uint64_t i = first; i < rest; i += step)
		count += bad_lanes(t, load(i < n_before ? t.at + (i << t.shift)
							: from + (pairs << 4) + ((i - n_before) << t.shift), t.shift)) != 0;
	return count;
}

FN uint64_t scan_strided(const struct scan_tensor &t, uint64_t first, uint64_t step)
{
	uint64_t count = 0;
	for (uint64_t i = first; i < t.n; i += step)
		count += bad_lanes(t, load(t.at + (place(t, i) << t.shift), t.shift)) != 0;
	return count;
}

/* ---- numbers ---- */

FN float as_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }

enum what { NUMBER, NAN_, INF };

/* Small formats as a float: their exponent and mantissa at its place, times what the exponents differ by; also right for subnormals. */
FN what number(const struct scan_tensor &t, uint64_t x, double &v)
{
	if (t.kind == SCAN_F64) {
		const uint64_t m = x & ~t.high;
		v = __builtin_bit_cast(double, x);
		return m > 0x7ff0000000000000 ? NAN_ : m == 0x7ff0000000000000 ? INF : NUMBER;
	}
	uint32_t sign, m, inf, up;
	float scale = 1;
	const uint32_t w = (uint32_t)x;
	switch (t.kind) {
	case SCAN_F32: sign = w & 0x80000000; m = w & 0x7fffffff; inf = 0x7f800000; up = 0; break;
	case SCAN_BF16: sign = (w & 0x8000) << 16; m = w & 0x7fff; inf = 0x7f80; up = 16; break;
	case SCAN_F16: sign = (w & 0x8000) << 16; m = w & 0x7fff; inf = 0x7c00; up = 13; scale = 0x1p112f; break;
	case SCAN_E5M2: sign = (w & 0x80) << 24; m = w & 0x7f; inf = 0x7c; up = 21; scale = 0x1p112f; break;
	default: sign = (w & 0x80) << 24; m = w & 0x7f; inf = 0x7f; up = 20; scale = 0x1p120f; break;
	}
	const bool is_inf = m == inf && t.kind != SCAN_E4M3;
	const bool is_nan = m > inf || (m == inf && t.kind == SCAN_E4M3);
	v = is_nan ? (double)as_float(0x7fc00000) : is_inf ? (double)as_float(sign | 0x7f800000) : (double)(as_float(sign | m << up) * scale);
	return is_nan ? NAN_ : is_inf ? INF : NUMBER;
}

/* ---- what is noted ---- */

FN void take(struct scan_part &to, const struct scan_part &p)
{
	to.nan += p.nan;
	to.pos_inf += p.pos_inf;
	to.neg_inf += p.neg_inf;
	to.zero += p.zero;
	to.first_bad = p.first_bad < to.first_bad ? p.first_bad : to.first_bad;
	to.first_nan = p.first_nan < to.first_nan ? p.first_nan : to.first_nan;
	to.min = p.min < to.min ? p.min : to.min;
	to.max = p.max > to.max ? p.max : to.max;
	to.sum += p.sum;
}

FN double element(const struct scan_tensor &t, uint64_t i)
{
	double v;
	number(t, load(t.at + (place(t, i) << t.shift), t.shift), v);
	return v;
}

/* Statistics of one tensor by this block, as tensor/stats.h defines them. */
FN void count(const struct scan_tensor &t, struct scan_part *half, struct scan_part &p)
{
	const uint32_t me = tid();
	p.nan = p.pos_inf = p.neg_inf = p.zero = 0;
	p.first_bad = p.first_nan = ~UINT64_C(0);
	p.min = __builtin_inf();
	p.max = -__builtin_inf();
	p.sum = 0;
	for (uint64_t i = me; i < t.n; i += SCAN_THREADS) {
		double v;
		const what w = number(t, load(t.at + (place(t, i) << t.shift), t.shift), v);
		if (w != NUMBER && i < p.first_bad)
			p.first_bad = i;
		if (w == NAN_) {
			p.nan++;
			p.first_nan = i < p.first_nan ? i : p.first_nan;
			continue;
		}
		p.pos_inf += w == INF && v > 0;
		p.neg_inf += w == INF && v < 0;
		p.zero += v == 0;
		p.min = v < p.min ? v : p.min;
		p.max = v > p.max ? v : p.max;
		p.sum += v;
	}
#pragma clang loop unroll(disable)
	for (uint32_t n = SCAN_THREADS / 2; n; n /= 2) {
		barrier();
		if (me >= n && me < 2 * n)
			half[me - n] = p;
		barrier();
		if (me < n)
			take(p, half[me]);
	}
}

/* tensor_same_place() of tensor/stats.h: the element of t at the place of element `at` of `out`. */
FN bool same_place(const struct scan_tensor &t, const struct scan_tensor &out, uint64_t at, uint64_t &to)
{
	uint64_t i = at, by = 1;
	bool fits = true;
	to = 0;
#pragma clang loop unroll(disable)
	for (uint32_t d = SCAN_DIMS; d-- > 0;) {
		const uint64_t size = t.size[d], index = i % out.size[d];
		i /= out.size[d];
		fits &= size == out.size[d] || size == 1;
		to += (size == 1 ? 0 : index) * by;
		by *= size;
	}
	if (!fits)
		to = at;
	return t.n && (fits || t.n == out.n);
}

/* Not by assignment: then the compiler keeps a copy of all parameters. */
template <int bytes> FN void copy_words(void *to, const void *from)
{
#pragma clang loop unroll(disable)
	for (int i = 0; i < bytes / 8; i++)
		((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

template <int N> FN void note(const struct scan_head &h, uint32_t run, uint64_t marked, const struct list<N> &l)
{
	SHARED struct scan_part parts[SCAN_THREADS / 2];
	struct scan_part *half = shared(parts);
	struct scan_mail *mail = (struct scan_mail *)h.mail;
	uint32_t bad = 0;
	uint64_t at = 0;
	bool has = false, has_nan = false;
	for (uint32_t t = 0; t < h.n_all; t++) {
		struct scan_part p;
		count(l.v[t], half, p);
		if (tid())
			continue;
		p.bad_value = p.first_bad < l.v[t].n ? element(l.v[t], p.first_bad) : 0;
		p.element = 0;
		p.at = 0;
		mail->part[t] = p;
		copy_words<sizeof(struct scan_tensor)>(&mail->tensor[t], &l.v[t]);
		const bool is = t < h.n_written && (p.nan || (h.inf && p.pos_inf + p.neg_inf));
		if (is && (!has || (p.nan && !has_nan))) {
			bad = t;
			at = p.nan ? p.first_nan : p.first_bad;
			has = true;
			has_nan = p.nan != 0;
		}
	}
	if (tid())
		return;
	for (uint32_t t = 0; t < h.n_all && has; t++) {
		uint64_t to;
		/* What else was written was not read. */
		if ((t < h.n_written && t != bad) || !same_place(l.v[t], l.v[bad], at, to))
			continue;
		mail->part[t].element = element(l.v[t], to);
		mail->part[t].at = to + 1;
	}
	copy_words<sizeof(struct scan_head)>(&mail->head, &h);
	mail->head.replay = h.counter ? run : 0;
	mail->marked = marked;
	__nvvm_membar_sys();
	*(volatile uint64_t *)&mail->done = 1;
}

/* Of one call and run. */
FN uint64_t mark_of(const struct scan_head &h, uint32_t run)
{
	return ((run * 0x9e3779b1u ^ h.call * 0x85ebca6bu ^ h.model * 0xc2b2ae35u) >> 8) | 1; /* SCAN_TAG bits */
}

FN void add_to_mark(const struct scan_head &h, uint32_t run, uint64_t count)
{
	long long *mark = (long long *)h.mark, was = *(volatile long long *)mark, seen;
	const uint64_t tag = mark_of(h, run);
	do {
		seen = was;
		const uint64_t next = (((uint64_t)was & ((1 << SCAN_TAG) - 1)) == tag ? (uint64_t)was : tag) + (count << SCAN_TAG);
		was = __nvvm_atom_cas_gen_ll(mark, was, (long long)next);
	} while (was != seen);
}

template <int N> FN void scan(const struct scan_head &h, const struct list<N> &l)
{
	SHARED struct {
		uint32_t go;
		uint64_t marked;
	} of_block;
	auto *b = shared(&of_block);
	long long *word = (long long *)h.word;
	const uint32_t block = __nvvm_read_ptx_sreg_ctaid_x(), blocks = __nvvm_read_ptx_sreg_nctaid_x();
	const uint64_t first = (uint64_t)block * SCAN_THREADS + tid(), step = (uint64_t)blocks * SCAN_THREADS;
	uint64_t count = 0;
	if (!tid())
		b->go = *(volatile long long *)word == -1;
	barrier();
	if (!b->go)
		return;
	for (uint32_t t = 0; t < h.n_written; t++)
		count += l.v[t].dense ? scan_dense(l.v[t], first, step) : scan_strided(l.v[t], first, step);
	const uint32_t run = h.counter ? *(volatile uint32_t *)h.counter : h.run;
	barrier();
	if (!tid())
		b->go = 0;
	barrier();
	if (count)
		b->go = 1;
	barrier();
	if (!b->go)
		return;
	if (h.before) {
		if (count)
			add_to_mark(h, run, count);
		return;
	}
	barrier();
	if (!tid()) {
		b->go = __nvvm_atom_cas_gen_ll(word, -1, (long long)((uint64_t)run << 32 | h.call)) == -1;
		const uint64_t m = h.mark ? *(volatile uint64_t *)h.mark : 0;
		b->marked = (m & ((1 << SCAN_TAG) - 1)) == mark_of(h, run) ? m >> SCAN_TAG : 0;
	}
	barrier();
	if (b->go)
		note<N>(h, run, b->marked, l);
}

KERNEL void pt2_scan_few(struct scan_head h, struct list<SCAN_FEW> l) { scan<SCAN_FEW>(h, l); }
KERNEL void pt2_scan_many(struct scan_head h, struct list<SCAN_MANY> l) { scan<SCAN_MANY>(h, l); }
KERNEL void pt2_scan_tick(uint32_t *counter) { (*counter)++; }
