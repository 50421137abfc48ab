#include "aten/verify/numbers.h"
#include "aten/cpu.h"

#include <math.h>

ATEN_LOOPS

/* ---- of a tensor ---- */

static enum numbers_class class_of(int dtype)
{
	return aten_is_complex(dtype) ? NUMBERS_COMPLEX : aten_is_float(dtype) ? NUMBERS_FLOAT : NUMBERS_INT;
}

static int64_t parts(const struct numbers *x) { return x->n * (x->class == NUMBERS_COMPLEX ? 2 : 1); }

/* ---- the signature: in lanes, which a compiler can vectorize, and in blocks, which stay in the cache that their conversion filled ---- */

enum { LANES = 8, BLOCK = 1024 };
struct lanes {
	double sum[LANES], squares[LANES], lo[LANES], hi[LANES];
};

/* False: not all are finite, and l is as it was. n: a multiple of LANES. */
ATEN_WIDE static bool add_block(struct lanes *l, const double *v, int64_t n)
{
	struct lanes t = *l;
	double odd[LANES] = {0}, odd_ones = 0;
	for (int64_t i = 0; i < n; i += LANES)
		for (int k = 0; k < LANES; k++) {
			const double x = v[i + k];
			odd[k] += x - x; /* NaN */
			t.sum[k] += x;
			t.squares[k] += x * x;
			t.lo[k] = x < t.lo[k] ? x : t.lo[k];
			t.hi[k] = x > t.hi[k] ? x : t.hi[k];
		}
	for (int k = 0; k < LANES; k++)
		odd_ones += odd[k];
	if (odd_ones != 0)
		return false;
	*l = t;
	return true;
}

static void add_one(struct numbers *x, struct lanes *l, double v)
{
	if (!isfinite(v)) {
		isnan(v) ? x->nan++ : x->inf++;
		return;
	}
	l->sum[0] += v;
	l->squares[0] += v * v;
	l->lo[0] = v < l->lo[0] ? v : l->lo[0];
	l->hi[0] = v > l->hi[0] ? v : l->hi[0];
}

static void add_numbers(struct numbers *x, struct lanes *l, const double *v, int64_t n)
{
	const int64_t whole = n - n % LANES;
	for (int64_t i = whole && add_block(l, v, whole) ? whole : 0; i < n; i++)
		add_one(x, l, v[i]);
}

static void sign(struct numbers *x, const struct lanes *l)
{
	double lo = INFINITY, hi = -INFINITY;
	for (int k = 0; k < LANES; k++) {
		x->sum += l->sum[k];
		x->squares += l->squares[k];
		lo = fmin(lo, l->lo[k]);
		hi = fmax(hi, l->hi[k]);
	}
	if (lo <= hi) {
		x->lo = lo;
		x->hi = hi;
		x->max = fmax(fabs(lo), fabs(hi));
	}
	x->known = true;
}

/* v, signature: NULL if not needed. */
static void take_elements(struct numbers *x, const struct aten_tensor *t, double *v, struct lanes *signature)
{
	const bool pairs = x->class == NUMBERS_COMPLEX, in_place = aten_is_contiguous(t);
	const int wide = pairs ? DTYPE_C128 : DTYPE_F64, per = pairs ? 2 : 1;
	const int64_t bytes = dtype_info(t->dtype)->bytes, step = BLOCK / per;
	double block[BLOCK];
	if (!in_place) {
		int64_t stride[ATEN_DIMS];
		aten_contiguous_strides(t->n_dim, t->size, stride);
		struct aten_tensor *all = v ? aten_of_blob(v, wide, t->n_dim, t->size, stride, 0) : aten_new(wide, t->n_dim, t->size, NULL);
		aten_copy(all, t);
		v = (double *)(void *)aten_data(all);
	}
	for (int64_t i = 0; i < x->n; i += step) {
		const int64_t n = x->n - i < step ? x->n - i : step;
		double *to = v ? v + i * per : block;
		if (in_place)
			aten_convert(wide, to, per * (int64_t)sizeof(double), t->dtype, (const char *)aten_data(t) + i * bytes, bytes, n);
		if (signature)
			add_numbers(x, signature, to, n * per);
	}
}

static int take(struct numbers *x, const struct aten_tensor *t, struct lanes *signature, struct err *err)
{
	ATEN_TRY("numbers") { take_elements(x, t, x->v, signature); }
	if (ATEN_END) {
		numbers_release(x);
		return err_set(err, EXIT_INPUT, "%s", aten_last_error());
	}
	return 0;
}

static int take_signed(struct numbers *x, const struct aten_tensor *t, bool all, struct err *err)
{
	struct lanes l = {0};
	*x = (struct numbers){.class = class_of(t->dtype), .dtype = t->dtype, .n_dim = t->n_dim, .n = aten_numel(t), .scale = -1};
	memcpy(x->size, t->size, (size_t)t->n_dim * sizeof(*x->size));
	x->v = all ? xmalloc(((size_t)parts(x) + 1) * sizeof(*x->v)) : NULL;
	for (int k = 0; k < LANES; k++) {
		l.lo[k] = INFINITY;
		l.hi[k] = -INFINITY;
	}
	if (take(x, t, &l, err) < 0)
		return -1;
	sign(x, &l);
	return 0;
}

int numbers_of(struct numbers *x, const struct aten_tensor *t, struct err *err) { return take_signed(x, t, true, err); }
int numbers_sign(struct numbers *x, const struct aten_tensor *t, struct err *err) { return take_signed(x, t, false, err); }

int numbers_fill(struct numbers *x, const struct aten_tensor *t, struct err *err)
{
	x->v = xmalloc(((size_t)parts(x) + 1) * sizeof(*x->v));
	return take(x, t, NULL, err);
}

void numbers_share(struct numbers *x, struct numbers *of, const struct aten_tensor *t)
{
	if (of->v && !of->owners) {
		of->owners = xmalloc(sizeof(*of->owners));
		*of->owners = 1;
	}
	if (of->v)
		++*of->owners;
	*x = *of;
	x->n_dim = t->n_dim;
	memcpy(x->size, t->size, (size_t)t->n_dim * sizeof(*x->size));
}

void numbers_release(struct numbers *x)
{
	if (!x->owners || --*x->owners == 0) {
		free(x->owners);
		free(x->v);
	}
	*x = (struct numbers){0};
}

double numbers_eps(int dtype)
{
	switch (aten_is_complex(dtype) ? aten_real_of(dtype) : dtype) {
	case DTYPE_F64: return 0x1p-52;
	case DTYPE_F32: return 0x1p-23;
	case DTYPE_F16: return 0x1p-10;
	case DTYPE_BF16: return 0x1p-7;
	case DTYPE_F8E4M3FN:
	case DTYPE_F8E4M3FNUZ: return 0x1p-3;
	case DTYPE_F8E5M2:
	case DTYPE_F8E5M2FNUZ: return 0x1p-2;
	default: return 0;
	}
}

/* ---- tolerance ---- */

/* The element that would be at `at` if they were sorted: of two parts only the one that has it is divided further. */
static double nth(double *v, size_t n, size_t at)
{
	size_t lo = 0, hi = n - 1;
	while (lo < hi) {
		const double middle = v[lo + (hi - lo) / 2];
		size_t i = lo, k = hi;
		for (;;) {
			while (v[i] < middle)
				i++;
			while (v[k] > middle)
				k--;
			if (i >= k)
				break;
			const double was = v[i];
			v[i++] = v[k], v[k--] = was;
		}
		if (at <= k)
			hi = k;
		else
			lo = k + 1;
	}
	return v[at];
}

/* This many evenly chosen elements are enough for a median that is multiplied by 10,000. */
enum { MEDIAN_OF = 4096 };

static double scale(struct numbers *x)
{
	if (x->scale >= 0)
		return x->scale;
	const int64_t n = parts(x), step = n / MEDIAN_OF + 1;
	double *v = xmalloc(((size_t)(n / step) + 1) * sizeof(*v));
	size_t k = 0;
	for (int64_t i = 0; i < n; i += step)
		if (isfinite(x->v[i]) && x->v[i] != 0)
			v[k++] = fabs(x->v[i]);
	const double median = k ? nth(v, k, k / 2) : 0;
	x->scale = k && 1e4 * median < x->max ? 1e4 * median : x->max;
	free(v);
	return x->scale;
}

struct numbers_slack numbers_slack(struct numbers *n, double relative, double error)
{
	if (n->class == NUMBERS_INT)
		return (struct numbers_slack){0, 0};
	const double s = scale(n);
	struct numbers_slack t = {relative, relative * s};
	if (n->max <= 1e6 * s && 8 * error > t.absolute) /* the error of masks means nothing */
		t.absolute = 8 * error;
	return t;
}

static double relative(double eb, double en)
{
	const double eps = eb > en ? eb : en;
	return (eps < 1e-4 ? 200 : 4) * eps;
}

static struct numbers_slack tolerance(const struct numbers *b, struct numbers *n, double error)
{
	return numbers_slack(n, relative(numbers_eps(b->dtype), numbers_eps(n->dtype)), error);
}

/* |b - n| <= absolute + relative n, and absolute <= relative n or 8 error; a little more, for the rounding here. */
struct numbers_range numbers_may_match(const struct numbers *b, double error, double eps)
{
	const double t = 2.001 * relative(numbers_eps(b->dtype), eps), room = 8.001 * error;
	return (struct numbers_range){(b->max - room) / (1 + t), t < 1 ? (b->max + room) / (1 - t) : INFINITY};
}

static bool near(double b, double n, const struct numbers_slack *t)
{
	if (!isfinite(n) || !isfinite(b))
		return isnan(n) ? isnan(b) : b == n;
	return fabs(b - n) - t->relative * fabs(n) <= t->absolute;
}

/* Can they be the same? */
static bool numbers_alike(const struct numbers *b, const struct numbers *n, const struct numbers_slack *t)
{
	const double all = t->absolute + t->relative * n->max, count = (double)parts(n);
	if (b->n != n->n || b->class != n->class || b->nan != n->nan || b->inf != n->inf || fabs(b->max - n->max) > all)
		return false;
	const double rms = count ? sqrt(n->squares / count) : 0, rounding = count * 1e-15 * n->max;
	return fabs(b->sum - n->sum) <= count * all + rounding &&
	       fabs(b->squares - n->squares) <= 2 * rms * count * all + count * all * all + rounding * n->max;
}

/* ---- in the same order ---- */

/* As near(), of all: with an infinity or NaN the first comparison is false. */
ATEN_WIDE static bool all_near(const double *b, const double *n, int64_t count, struct numbers_slack t)
{
	int far = 0;
	for (int64_t i = 0; i < count; i++) {
		const bool close = fabs(b[i] - n[i]) - t.relative * fabs(n[i]) <= t.absolute;
		far |= !(close | (b[i] == n[i]) | ((b[i] != b[i]) & (n[i] != n[i])));
	}
	return !far;
}

static bool same_order(const struct numbers *b, const struct numbers *n, const struct numbers_slack *t)
{
	const int64_t all = parts(n);
	for (int64_t at = 0, count = 16; at < all; at += count, count = BLOCK) { /* most that differ differ at once */
		count = all - at < count ? all - at : count;
		if (!all_near(b->v + at, n->v + at, count, *t))
			return false;
	}
	return true;
}

/* ---- with permuted dims ---- */

bool numbers_dims(const struct numbers *x, struct numbers_dims *w)
{
	int64_t step = 1;
	int n = 0;
	for (int d = 0; d < x->n_dim; d++)
		n += x->size[d] != 1;
	w->n_dim = n <= NUMBERS_DIMS ? n : 0;
	for (int d = x->n_dim; d-- > 0 && w->n_dim; step *= x->size[d])
		if (x->size[d] != 1)
			w->size[--n] = x->size[d], w->step[n] = step;
	return w->n_dim > 0;
}

/* Fewer than two have no order. */
static bool real_dims(const struct numbers *x, struct numbers_dims *w) { return numbers_dims(x, w) && w->n_dim > 1; }

/* The elements of x in row-major order with its dims permuted this way. */
struct turn {
	const struct numbers_dims *w;
	int order[NUMBERS_DIMS];
	int64_t pos[NUMBERS_DIMS], at;
};

static void turn_next(struct turn *t)
{
	for (int i = t->w->n_dim; i-- > 0;) {
		const int d = t->order[i];
		t->at += t->w->step[d];
		if (++t->pos[i] < t->w->size[d])
			return;
		t->at -= t->pos[i] * t->w->step[d];
		t->pos[i] = 0;
	}
}

/* The next permutation; false: that was the last one. */
static bool next_order(int *order, int n)
{
	int i = n - 2, k = n - 1;
	while (i >= 0 && order[i] > order[i + 1])
		i--;
	if (i < 0)
		return false;
	while (order[k] < order[i])
		k--;
	const int was = order[i];
	order[i] = order[k], order[k] = was;
	for (int a = i + 1, z = n - 1; a < z; a++, z--) {
		const int left = order[a];
		order[a] = order[z], order[z] = left;
	}
	return true;
}

/* turned: the one whose dims are permuted; the other stays. first: number of elements to compare. */
static bool same_turned(const struct numbers *turned, const struct numbers_dims *w, const int *order, const struct numbers *other,
			bool of_buffer, const struct numbers_slack *t, int64_t first)
{
	const int per = turned->class == NUMBERS_COMPLEX ? 2 : 1;
	struct turn at = {.w = w};
	memcpy(at.order, order, sizeof(at.order));
	for (int64_t i = 0; i < other->n && i < first; i++, turn_next(&at))
		for (int k = 0; k < per; k++) {
			const double x = turned->v[at.at * per + k], y = other->v[i * per + k];
			if (of_buffer ? !near(x, y, t) : !near(y, x, t))
				return false;
		}
	return true;
}

static bool find_order(const struct numbers *turned, const struct numbers *other, bool of_buffer, const struct numbers_slack *t,
		       struct layout *l)
{
	struct numbers_dims w;
	int order[NUMBERS_DIMS] = {0, 1, 2, 3, 4, 5};
	if (!real_dims(turned, &w))
		return false;
	while (next_order(order, w.n_dim))
		if (same_turned(turned, &w, order, other, of_buffer, t, 4) &&
		    same_turned(turned, &w, order, other, of_buffer, t, other->n)) {
			*l = (struct layout){.of_buffer = of_buffer, .n_dim = w.n_dim};
			memcpy(l->order, order, sizeof(order));
			return true;
		}
	return false;
}

bool numbers_match(const struct numbers *b, struct numbers *n, double error, struct layout *l)
{
	if (b->n != n->n || b->class != n->class || b->nan != n->nan || b->inf != n->inf)
		return false;
	const struct numbers_slack t = tolerance(b, n, error);
	*l = (struct layout){.identity = true};
	return numbers_alike(b, n, &t) && (same_order(b, n, &t) || find_order(n, b, false, &t, l) || find_order(b, n, true, &t, l));
}

void numbers_lay(const struct numbers *b, const struct numbers *n, const struct layout *l, double *out)
{
	const int per = b->class == NUMBERS_COMPLEX ? 2 : 1;
	struct numbers_dims w;
	if (l->identity || !real_dims(l->of_buffer ? b : n, &w)) {
		memcpy(out, b->v, (size_t)parts(b) * sizeof(*out));
		return;
	}
	struct turn at = {.w = &w};
	memcpy(at.order, l->order, sizeof(at.order));
	for (int64_t i = 0; i < b->n; i++, turn_next(&at))
		for (int k = 0; k < per; k++)
			out[(l->of_buffer ? i : at.at) * per + k] = b->v[(l->of_buffer ? at.at : i) * per + k];
}

/* The maximum difference, but for NaN. */
ATEN_WIDE static double furthest(const double *a, const double *b, int64_t n)
{
	double lane[LANES] = {0}, off = 0;
	const int64_t whole = n - n % LANES;
	for (int64_t i = 0; i < whole; i += LANES)
		for (int k = 0; k < LANES; k++) {
			const double d = fabs(a[i + k] - b[i + k]);
			lane[k] = d > lane[k] ? d : lane[k]; /* false for NaN */
		}
	for (int64_t i = whole; i < n; i++) {
		const double d = fabs(a[i] - b[i]);
		lane[0] = d > lane[0] ? d : lane[0];
	}
	for (int k = 0; k < LANES; k++)
		off = fmax(off, lane[k]);
	return off;
}

double numbers_off(const struct numbers *b, const struct numbers *n, const struct layout *l)
{
	if (l->identity)
		return furthest(b->v, n->v, parts(n));
	FREED double *v = xmalloc(((size_t)parts(b) + 1) * sizeof(*v));
	numbers_lay(b, n, l, v);
	return furthest(v, n->v, parts(n));
}

/* ---- the closest order ---- */

static bool same_sizes(const struct numbers *b, const struct numbers *n)
{
	struct numbers_dims x, y;
	real_dims(b, &x);
	real_dims(n, &y);
	return x.n_dim == y.n_dim && !memcmp(x.size, y.size, (size_t)x.n_dim * sizeof(*x.size));
}

static double distance(const struct numbers *b, const struct numbers *n, const struct layout *l, double *room)
{
	double d = 0;
	numbers_lay(b, n, l, room);
	for (int64_t i = 0; i < parts(n); i++) {
		const double x = room[i] - n->v[i];
		d += isfinite(x) ? x * x : isfinite(n->v[i]) != isfinite(room[i]) ? 1e30 : 0;
	}
	return d;
}

void numbers_nearest(const struct numbers *b, const struct numbers *n, struct layout *l)
{
	struct numbers_dims w;
	int order[NUMBERS_DIMS] = {0, 1, 2, 3, 4, 5};
	*l = (struct layout){.identity = true};
	if (same_sizes(b, n) || !real_dims(n, &w))
		return;
	double *room = xcalloc((size_t)parts(b) + 1, sizeof(*room));
	double least = distance(b, n, l, room);
	while (next_order(order, w.n_dim)) {
		struct layout this = {.n_dim = w.n_dim};
		memcpy(this.order, order, sizeof(order));
		const double d = distance(b, n, &this, room);
		if (d < least)
			least = d, *l = this;
	}
	free(room);
}

/* Adds to *e, if all are finite: .rms is the sum of squares. */
ATEN_WIDE static bool add_errors(struct numbers_errors *e, const double *x, const double *exact, int64_t n)
{
	double max[LANES] = {0}, sum[LANES] = {0}, most = e->max, all = 0;
	for (int64_t i = 0; i < n; i += LANES)
		for (int k = 0; k < LANES; k++) {
			const double d = fabs(x[i + k] - exact[i + k]); /* finite only if both are */
			max[k] = d > max[k] ? d : max[k];
			sum[k] += d * d;
		}
	for (int k = 0; k < LANES; k++) {
		most = fmax(most, max[k]);
		all += sum[k];
	}
	if (!(all < INFINITY))
		return false;
	e->max = most;
	e->rms += all;
	return true;
}

static void add_error(struct numbers_errors *e, double x, double exact)
{
	if (!isfinite(x) || !isfinite(exact)) {
		e->other |= isnan(exact) ? !isnan(x) : isfinite(exact) || x != exact;
		return;
	}
	const double d = fabs(x - exact);
	e->max = d > e->max ? d : e->max;
	e->rms += d * d;
}

struct numbers_errors numbers_errors(const double *x, const struct numbers *exact, double eps)
{
	struct numbers_errors e = {0};
	const int64_t all = parts(exact);
	for (int64_t at = 0; at < all; at += BLOCK) {
		const int64_t n = all - at < BLOCK ? all - at : BLOCK, whole = n - n % LANES;
		for (int64_t i = add_errors(&e, x + at, exact->v + at, whole) ? whole : 0; i < n; i++)
			add_error(&e, x[at + i], exact->v[at + i]);
	}
	if (all && exact->max > 0) {
		e.max /= exact->max * eps;
		e.rms = sqrt(e.rms / (double)all) / (sqrt(exact->squares / (double)all) * eps);
	} else if (e.max > 0) {
		e.max = e.rms = 1 / eps;
	} else {
		e.rms = 0;
	}
	return e;
}
