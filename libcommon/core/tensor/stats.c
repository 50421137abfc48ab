#include "tensor/stats_part.h"

#include <stdatomic.h>

/* ---- which kernels ---- */

static _Atomic int forced = -1, best = -1;

static int best_level(void)
{
	int l = atomic_load_explicit(&best, memory_order_relaxed);
	if (UNLIKELY(l < 0))
		atomic_store_explicit(&best, l = stats_best(), memory_order_relaxed); /* the same in every thread */
	return l;
}

bool stats_use(int level)
{
	if (level > best_level())
		return false;
	atomic_store_explicit(&forced, level, memory_order_relaxed);
	return true;
}

static const struct stats_kernels *kernels(void)
{
	int l = atomic_load_explicit(&forced, memory_order_relaxed);
	return stats_kernels_of(l < 0 ? best_level() : l);
}

/* ---- runs of contiguous elements ---- */

struct scan {
	const struct stats_kernels *k;
	enum stats_kind kind, part; /* part: for a complex number, the kind of its two parts */
	int dtype, bytes;
	bool all;
	struct tensor_stats *out;
	struct stats_sums sums; /* of numbers */
	uint64_t seen;          /* elements so far */
	int64_t first;          /* the first bad one, in the order of scanning */
};

static enum stats_kind stats_kind_of(int dtype, enum stats_kind *part)
{
	*part = STATS_NOTHING;
	switch (dtype) {
	case DTYPE_F16: return STATS_F16;
	case DTYPE_BF16: return STATS_BF16;
	case DTYPE_F32: return STATS_F32;
	case DTYPE_F64: return STATS_F64;
	case DTYPE_I16: return STATS_I16;
	case DTYPE_U16: return STATS_U16;
	case DTYPE_I32: return STATS_I32;
	case DTYPE_U32: return STATS_U32;
	case DTYPE_I64: return STATS_I64;
	case DTYPE_U64: return STATS_U64;
	case DTYPE_U8:
	case DTYPE_I8:
	case DTYPE_BOOL:
	case DTYPE_F8E5M2:
	case DTYPE_F8E4M3FN:
	case DTYPE_F8E5M2FNUZ:
	case DTYPE_F8E4M3FNUZ:
	case DTYPE_F8E8M0FNU: return STATS_BYTE;
	case DTYPE_C32: *part = STATS_F16; return STATS_COMPLEX;
	case DTYPE_BC32: *part = STATS_BF16; return STATS_COMPLEX;
	case DTYPE_C64: *part = STATS_F32; return STATS_COMPLEX;
	case DTYPE_C128: *part = STATS_F64; return STATS_COMPLEX;
	default: return STATS_NOTHING;
	}
}

static bool is_nan(double v) { return v != v; }
static bool is_bad(double v) { return !(v - v == 0); }

/* |re + i im|; infinite if a part is, even if the other is NaN, as in hypot, but here NaN takes priority. */
static double magnitude(double re, double im)
{
	double a = __builtin_fabs(re), b = __builtin_fabs(im);
	if (is_nan(a) || is_nan(b))
		return __builtin_nan("");
	double high = a > b ? a : b, low = a > b ? b : a;
	if (is_bad(high) || high == 0)
		return high;
	double r = low / high, s = 1 + r * r;
	return high * stats_root(s);
}

/* The value of an element as a double; the sign of an infinity is that of the infinite part. */
static double element(const struct scan *s, const char *p)
{
	if (s->kind == STATS_BYTE)
		return stats_byte(s->dtype, (uint8_t)*p);
	if (s->kind != STATS_COMPLEX)
		return stats_load(s->kind, p);
	double re = stats_load(s->part, p), im = stats_load(s->part, p + s->bytes / 2), m = magnitude(re, im);
	return is_bad(m) && !is_nan(m) ? is_bad(re) ? re : im : m;
}

static void add_value(struct scan *s, double v, uint64_t times)
{
	s->out->nan += is_nan(v) ? times : 0;
	s->out->pos_inf += v == __builtin_inf() ? times : 0;
	s->out->neg_inf += v == -__builtin_inf() ? times : 0;
	if (is_nan(v))
		return;
	if (s->kind == STATS_COMPLEX && v < 0) /* infinite */
		v = -v;
	s->sums.zero += v == 0 ? times : 0;
	s->sums.min = v < s->sums.min ? v : s->sums.min;
	s->sums.max = v > s->sums.max ? v : s->sums.max;
	s->sums.sum += v * (double)times;
}

static void find_first(struct scan *s, const char *p, size_t n)
{
	for (size_t i = 0; i < n && s->first < 0; i++)
		if (is_bad(element(s, p + i * (size_t)s->bytes)))
			s->first = (int64_t)(s->seen + i);
}

static void block_vector(struct scan *s, const char *p, size_t n)
{
	struct stats_sums before = s->sums;
	struct stats_bad b = {0};
	bool floats = s->kind <= STATS_F64;
	if (!(s->all ? s->k->all[s->kind](p, n, false, &s->sums) : floats && s->k->bad[s->kind](p, n)))
		return;
	s->k->count[s->kind](p, n, &b);
	s->out->nan += b.nan;
	s->out->pos_inf += b.pos;
	s->out->neg_inf += b.neg;
	if (s->first < 0)
		find_first(s, p, n);
	if (s->all && b.nan) {
		s->sums = before;
		s->k->all[s->kind](p, n, true, &s->sums);
	}
}

/* NaN and infinity of a complex number are those of its parts: most blocks have none. */
static void block_complex(struct scan *s, const char *p, size_t n)
{
	bool bad = s->k->bad[s->part](p, 2 * n);
	if (bad && s->first < 0)
		find_first(s, p, n);
	for (size_t i = 0; i < n && (bad || s->all); i++)
		add_value(s, element(s, p + i * (size_t)s->bytes), 1);
}

/* There are 256 values: count each. Four tables, since one with few values would wait for its own last store. */
static void run_bytes(struct scan *s, const uint8_t *p, size_t n)
{
	uint32_t t[4][256] = {0};
	bool floats = s->dtype != DTYPE_U8 && s->dtype != DTYPE_I8 && s->dtype != DTYPE_BOOL;
	if (!floats && !s->all)
		return;
	size_t i = 0;
	for (; i + 4 <= n; i += 4)
		for (int k = 0; k < 4; k++)
			t[k][p[i + (size_t)k]]++;
	for (; i < n; i++)
		t[0][p[i]]++;
	uint64_t bad = 0;
	for (int v = 0; v < 256; v++) {
		uint64_t times = (uint64_t)t[0][v] + t[1][v] + t[2][v] + t[3][v];
		double d = times ? stats_byte(s->dtype, (uint8_t)v) : 0;
		if (times)
			add_value(s, d, times);
		bad += is_bad(d) ? times : 0;
	}
	if (bad && s->first < 0)
		find_first(s, (const char *)p, n);
}

static void scan_elements(struct scan *s, const char *p, uint64_t n)
{
	const size_t most = s->kind == STATS_BYTE ? 1u << 30 : s->kind == STATS_COMPLEX ? STATS_BLOCK / 2 : STATS_BLOCK;
	while (n) {
		size_t part = n > most ? most : (size_t)n;
		if (s->kind == STATS_BYTE)
			run_bytes(s, (const uint8_t *)p, part);
		else if (s->kind == STATS_COMPLEX)
			block_complex(s, p, part);
		else
			block_vector(s, p, part);
		s->seen += part;
		p += part * (size_t)s->bytes;
		n -= part;
	}
}

/* ---- dims ---- */

/* The relevant sizes and strides: without dims of one element or repeated memory (stride 0: `times`). */
struct dims {
	int n;
	int64_t size[TENSOR_MAX_DIMS], stride[TENSOR_MAX_DIMS];
	int64_t index_step[TENSOR_MAX_DIMS]; /* what one step adds to the linear index of the whole tensor */
	uint64_t times;
};

/* The dims of m, and in `sorted` the same by descending stride. Returns whether the order is the same. */
static bool make_dims(const struct tensor_meta *m, struct dims *d, struct dims *sorted)
{
	int64_t step = 1;
	bool same = true;
	d->n = 0;
	d->times = 1;
	int64_t steps[TENSOR_MAX_DIMS];
	for (int i = m->n_dim; i-- > 0;) {
		steps[i] = step;
		step *= m->size[i];
	}
	for (int i = 0; i < m->n_dim; i++) {
		if (m->size[i] != 1 && !m->stride[i])
			d->times *= (uint64_t)m->size[i];
		if (m->size[i] == 1 || !m->stride[i])
			continue;
		d->size[d->n] = m->size[i];
		d->stride[d->n] = m->stride[i];
		d->index_step[d->n++] = steps[i];
	}
	*sorted = *d;
	for (int i = 1; i < d->n; i++)
		for (int k = i; k > 0 && sorted->stride[k - 1] < sorted->stride[k]; k--) {
			int64_t z = sorted->size[k], t = sorted->stride[k];
			sorted->size[k] = sorted->size[k - 1];
			sorted->stride[k] = sorted->stride[k - 1];
			sorted->size[k - 1] = z;
			sorted->stride[k - 1] = t;
			same = false;
		}
	return same;
}

/* Two dims that a single stride covers are merged. */
static void collapse(struct dims *d)
{
	int n = 0;
	for (int i = 0; i < d->n; i++) {
		int64_t span;
		if (n && !__builtin_mul_overflow(d->size[i], d->stride[i], &span) && d->stride[n - 1] == span) {
			d->size[n - 1] *= d->size[i];
			d->stride[n - 1] = d->stride[i];
			continue;
		}
		d->size[n] = d->size[i];
		d->stride[n++] = d->stride[i];
	}
	d->n = n;
}

/* The next index of all but the last `inner` dims; *at is the offset in elements. */
static bool advance(const struct dims *d, int inner, int64_t *index, int64_t *at)
{
	for (int i = d->n - inner; i-- > 0;) {
		*at += d->stride[i];
		if (++index[i] < d->size[i])
			return true;
		*at -= d->size[i] * d->stride[i];
		index[i] = 0;
	}
	return false;
}

#define GATHER(type) \
	for (size_t i = 0; i < n; i++) { \
		type v; \
		memcpy(&v, p + (int64_t)i * step, sizeof(v)); \
		memcpy(to + i * sizeof(v), &v, sizeof(v)); \
	}
static void gather(char *to, const char *p, size_t n, int64_t step, int bytes)
{
	switch (bytes) {
	case 1: GATHER(uint8_t) break;
	case 2: GATHER(uint16_t) break;
	case 4: GATHER(uint32_t) break;
	case 8: GATHER(uint64_t) break;
	default:
		for (size_t i = 0; i < n; i++)
			memcpy(to + i * (size_t)bytes, p + (int64_t)i * step, (size_t)bytes);
	}
}

enum { GATHER_BYTES = 8192, ROW_MIN = 256 };

/* Long dense rows are processed in place, everything else is collected first. */
static void scan_dims(struct scan *s, const struct dims *d, const char *data)
{
	_Alignas(64) char room[GATHER_BYTES];
	const size_t most = GATHER_BYTES / (size_t)s->bytes;
	int64_t index[TENSOR_MAX_DIMS] = {0}, at = 0;
	if (!d->n) {
		scan_elements(s, data, 1);
		return;
	}
	const int64_t size = d->size[d->n - 1], step = d->stride[d->n - 1] * s->bytes;
	const bool in_place = d->stride[d->n - 1] == 1 && (d->n == 1 || size >= ROW_MIN);
	size_t have = 0;
	do {
		const char *row = data + at * s->bytes;
		if (in_place) {
			scan_elements(s, row, (uint64_t)size);
			continue;
		}
		for (int64_t done = 0; done < size;) {
			size_t part = most - have < (uint64_t)(size - done) ? most - have : (size_t)(size - done);
			if (step == s->bytes)
				memcpy(room + have * (size_t)s->bytes, row + done * step, part * (size_t)s->bytes);
			else
				gather(room + have * (size_t)s->bytes, row + done * step, part, step, s->bytes);
			done += (int64_t)part;
			have += part;
			if (have == most) {
				scan_elements(s, room, have);
				have = 0;
			}
		}
	} while (advance(d, 1, index, &at));
	scan_elements(s, room, have);
}

/* The linear index of element i of these dims in the whole tensor. */
static int64_t whole_index(const struct dims *d, int64_t i)
{
	int64_t linear = 0;
	for (int k = d->n; k-- > 0; i /= d->size[k])
		linear += i % d->size[k] * d->index_step[k];
	return linear;
}

/* The first bad element in index order, if the memory order differs; there is one. */
static int64_t first_in_order(const struct scan *s, const struct dims *d, const char *data)
{
	int64_t index[TENSOR_MAX_DIMS] = {0}, at = 0, i = 0;
	do {
		if (is_bad(element(s, data + at * s->bytes)))
			return whole_index(d, i);
		i++;
	} while (advance(d, 0, index, &at));
	return -1;
}

/* ---- the interface ---- */

static void finish_stats(struct scan *s, uint64_t times)
{
	struct tensor_stats *o = s->out;
	uint64_t numbers = s->seen - o->nan;
	bool some = s->all && numbers;
	o->min = some ? s->sums.min : __builtin_nan("");
	o->max = some ? s->sums.max : __builtin_nan("");
	o->mean = some ? s->sums.sum / (double)numbers : __builtin_nan("");
	o->nan *= times;
	o->pos_inf *= times;
	o->neg_inf *= times;
	o->zero = s->all ? s->sums.zero * times : 0;
}

/* False: nothing to examine. */
static bool start(struct scan *s, int dtype, uint64_t n, int want, struct tensor_stats *out)
{
	*out =
	    (struct tensor_stats){.n = n, .first_bad = -1, .min = __builtin_nan(""), .max = __builtin_nan(""), .mean = __builtin_nan("")};
	*s = (struct scan){.k = kernels(), .dtype = dtype, .all = want & STATS_ALL, .out = out, .first = -1};
	s->kind = stats_kind_of(dtype, &s->part);
	out->known = s->kind != STATS_NOTHING;
	/* Integers are never bad. */
	if (!n || !out->known || (!s->all && s->kind >= STATS_I16 && s->kind <= STATS_U64))
		return false;
	s->bytes = dtype_info(dtype)->bytes;
	s->sums.min = __builtin_inf();
	s->sums.max = -__builtin_inf();
	return true;
}

/* Are all elements finite? In most buffers they are, and then nothing else is needed; it tests bits, so floating-point modes do not
 * matter. */
static bool all_well(int dtype, uint64_t n, const char *data)
{
	enum stats_kind part, kind = stats_kind_of(dtype, &part);
	const struct stats_kernels *k = kernels();
	if (kind > STATS_F64)
		return false;
	const size_t bytes = kind == STATS_F64 ? 8 : kind == STATS_F32 ? 4 : 2;
	for (uint64_t done = 0; done < n; done += STATS_BLOCK)
		if (k->bad[kind](data + done * bytes, n - done < STATS_BLOCK ? (size_t)(n - done) : STATS_BLOCK))
			return false;
	return true;
}

void tensor_stats_dense(int dtype, uint64_t n, const void *data, int want, struct tensor_stats *out)
{
	struct scan s;
	if (!(want & STATS_ALL) && all_well(dtype, n, data)) {
		*out = (struct tensor_stats){
		    .n = n, .first_bad = -1, .known = true, .min = __builtin_nan(""), .max = __builtin_nan(""), .mean = __builtin_nan("")};
		return;
	}
	if (!start(&s, dtype, n, want, out))
		return;
	unsigned was = stats_enter_float();
	scan_elements(&s, data, n);
	out->first_bad = s.first;
	finish_stats(&s, 1);
	stats_leave_float(was);
}

void tensor_stats(const struct tensor_meta *m, const void *data, int want, struct tensor_stats *out)
{
	struct scan s;
	struct dims d, sorted;
	int64_t n;
	if (!tensor_numel(m, &n)) {
		start(&s, DTYPE_F32, 0, want, out);
		out->known = false;
		return;
	}
	if (!start(&s, m->dtype, (uint64_t)n, want, out))
		return;
	unsigned was = stats_enter_float();
	bool in_order = make_dims(m, &d, &sorted);
	collapse(&sorted);
	scan_dims(&s, &sorted, data);
	if (s.first >= 0)
		out->first_bad = in_order ? whole_index(&d, s.first) : first_in_order(&s, &d, data);
	finish_stats(&s, d.times);
	stats_leave_float(was);
}

void tensor_index(const struct tensor_meta *m, int64_t i, int64_t *index)
{
	for (int k = m->n_dim; k-- > 0;) {
		int64_t size = m->size[k] > 0 ? m->size[k] : 1;
		index[k] = i % size;
		i /= size;
	}
}

int64_t tensor_same_place(const struct tensor_meta *in, const struct tensor_meta *out, int64_t at)
{
	int64_t index[TENSOR_MAX_DIMS], n_in, n_out, place = 0;
	if (!tensor_numel(in, &n_in) || !tensor_numel(out, &n_out) || !n_in || at < 0 || at >= n_out)
		return -1;
	bool fits = in->n_dim <= out->n_dim;
	tensor_index(out, at, index);
	for (int d = 0; d < in->n_dim && fits; d++) {
		int64_t size = in->size[d], k = out->n_dim - in->n_dim + d;
		fits = size == out->size[k] || size == 1;
		place = place * size + (size == 1 ? 0 : index[k]);
	}
	return fits ? place : n_in == n_out ? at : -1;
}

double tensor_at(const struct tensor_meta *m, const void *data, int64_t i)
{
	struct scan s = {.dtype = m->dtype};
	int64_t at = 0;
	s.kind = stats_kind_of(m->dtype, &s.part);
	if (s.kind == STATS_NOTHING)
		return __builtin_nan("");
	s.bytes = dtype_info(m->dtype)->bytes;
	for (int k = m->n_dim; k-- > 0;) {
		int64_t size = m->size[k] > 0 ? m->size[k] : 1;
		at += i % size * m->stride[k];
		i /= size;
	}
	unsigned was = stats_enter_float();
	double v = element(&s, (const char *)data + at * s.bytes);
	stats_leave_float(was);
	return v;
}
