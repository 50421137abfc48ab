/* random.c - random numbers as torch's CPU generator draws them: after aten_seed(s) the tensors equal those that follow
 * torch.manual_seed(s), bit by bit (measured against torch 2.13, x86-64).
 *
 * Sources: ATen/core/MT19937RNGEngine.h (the engine, that of Matsumoto and Nishimura), DistributionsHelper.h,
 * TransformationHelper.h, native/cpu/DistributionTemplates.h (which numbers are drawn for which dtype, in memory order),
 * native/cpu/avx_mathfun.h (logarithm, sine and cosine of float normals are its polynomials where the CPU has AVX2).
 * Not reproduced, and refused by name: generators passed in. (On Intel's processors releases of torch before its issue 132395, of 2024,
 * draw exponential and bernoulli with a number by MKL; since then they are the same on all.)
 *
 * The generator of a compiled model is seeded only by its process; torch uses the time. Here it starts with torch's default_rng_seed_val,
 * so that runs are reproducible.
 */
#include "call.h"
#include "cpu.h"
#include "elem.h"
#include "ops.h"

#include <math.h>
#include <pthread.h>

#define REFUSED "torch's random numbers are not reproduced here: run with --torch"

enum { MT_N = 624, MT_M = 397 };

static struct {
	pthread_mutex_t lock;
	bool seeded, has_normal;
	int next;
	uint32_t state[MT_N];
	double normal; /* Box-Muller produces two */
} gen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void seed_locked(uint64_t seed)
{
	gen.state[0] = (uint32_t)seed;
	for (uint32_t i = 1; i < MT_N; i++)
		gen.state[i] = 1812433253u * (gen.state[i - 1] ^ gen.state[i - 1] >> 30) + i;
	gen.next = MT_N;
	gen.seeded = true;
	gen.has_normal = false;
}

void aten_seed(uint64_t seed)
{
	pthread_mutex_lock(&gen.lock);
	seed_locked(seed);
	pthread_mutex_unlock(&gen.lock);
}

static uint32_t twist(uint32_t u, uint32_t v) { return ((u & 0x80000000u) | (v & 0x7fffffffu)) >> 1 ^ (v & 1 ? 0x9908b0dfu : 0); }

/* With the lock held, like all the following functions. */
static uint32_t draw32(void)
{
	uint32_t *s = gen.state;

	if (gen.next == MT_N) {
		for (int i = 0; i < MT_N; i++)
			s[i] = s[(i + MT_M) % MT_N] ^ twist(s[i], s[(i + 1) % MT_N]);
		gen.next = 0;
	}
	uint32_t y = s[gen.next++];
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680u;
	y ^= y << 15 & 0xefc60000u;
	return y ^ y >> 18;
}

static uint64_t draw64(void)
{
	uint64_t high = draw32();

	return high << 32 | draw32();
}

static float draw_float(void) { return (float)(draw32() & 0xffffff) * 0x1p-24f; }
static double draw_double(void) { return (double)(draw64() & ((UINT64_C(1) << 53) - 1)) * 0x1p-53; }

static void generator_lock(void)
{
	pthread_mutex_lock(&gen.lock);
	if (!gen.seeded)
		seed_locked(UINT64_C(67280421310721));
}

static void generator_unlock(void) { pthread_mutex_unlock(&gen.lock); }

void aten_need_default_generator(bool is_default)
{
	if (!is_default)
		aten_fail(REFUSED);
}

/* ---- fills: t is dense, its elements are drawn in memory order ---- */

/* The elements that a fill of t writes, as n numbers; complex ones are two each (torch.view_as_real). */
struct run {
	char *p;
	int64_t n;
	int dtype, bytes;
};

static struct run run_of(const struct aten_tensor *t)
{
	int64_t n = aten_computes() ? aten_numel(t) : 0;
	struct run r = {n ? aten_data(t) : NULL, n, t->dtype, 0};

	if (!elem_complex(t->dtype))
		elem_need_real(t); /* nothing may fail while the lock is held */
	if (!aten_is_dense(t))
		aten_fail("random fill of a tensor with gaps or overlaps is not supported");
	if (elem_complex(t->dtype)) {
		r.n *= 2;
		r.dtype = aten_real_of(t->dtype);
	}
	r.bytes = elem_bytes(r.dtype);
	return r;
}

static struct run floats_of(const struct aten_tensor *t)
{
	struct run r = run_of(t);

	if (!elem_floating(r.dtype))
		aten_fail("expects a floating or complex dtype, got %s", dtype_name(t->dtype));
	return r;
}

void aten_fill_uniform(const struct aten_tensor *t, double from, double to)
{
	struct run r = floats_of(t);
	char bound[2][8];

	if (!(from <= to))
		aten_fail("uniform_ expects to return a [from, to) range, but found from=%g > to=%g", from, to);
	elem_set_f64(r.dtype, bound[0], from);
	elem_set_f64(r.dtype, bound[1], to);
	generator_lock();
	for (int64_t i = 0; i < r.n; i++, r.p += r.bytes) {
		if (r.dtype == DTYPE_F64) {
			elem_set_f64(r.dtype, r.p, draw_double() * (to - from) + from);
		} else {
			float low = (float)from, width = (float)to - low;
			elem_set_f64(r.dtype, r.p, (double)(draw_float() * width + low));
		}
		/* Rounding may have reached the excluded bound. */
		if (elem_f64(r.dtype, r.p) == elem_f64(r.dtype, bound[1]))
			elem_copy(r.p, bound[0], r.bytes);
	}
	generator_unlock();
}

void aten_fill_int(const struct aten_tensor *t, int64_t low, int64_t high)
{
	struct run r = run_of(t);
	uint64_t range = (uint64_t)high - (uint64_t)low;

	if (low >= high)
		aten_fail("random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld", (long long)low, (long long)high);
	if (elem_complex(t->dtype) ||
	    (elem_floating(t->dtype) && (low < -256 || high > 256) && t->dtype != DTYPE_F64 && t->dtype != DTYPE_F32))
		aten_fail(REFUSED);
	generator_lock();
	for (int64_t i = 0; i < r.n; i++, r.p += r.bytes) {
		uint64_t v = range >= UINT64_C(1) << 28 ? draw64() : draw32();
		elem_set_i64(r.dtype, r.p, (int64_t)(v % range + (uint64_t)low));
	}
	generator_unlock();
}

/* ---- normals ---- */

static double draw_normal(double mean, double std)
{
	if (gen.has_normal) {
		gen.has_normal = false;
		return gen.normal * std + mean;
	}
	double u1 = draw_double(), u2 = draw_double();
	double radius = sqrt(-2.0 * log1p(-u2)), theta = 2.0 * M_PI * u1;
	gen.normal = radius * sin(theta);
	gen.has_normal = true;
	return radius * cos(theta) * std + mean;
}

static float poly(float x, const float *c, int n)
{
	float y = c[0];

	for (int i = 1; i < n; i++)
		y = fmaf(y, x, c[i]);
	return y;
}

/* Cephes' logf, of a number in (0, 1]. */
static float cephes_log(float v)
{
	static const float c[] = {7.0376836292E-2f,  -1.1514610310E-1f, 1.1676998740E-1f,  -1.2420140846E-1f, 1.4249322787E-1f,
				  -1.6668057665E-1f, 2.0000714765E-1f,  -2.4999993993E-1f, 3.3333331174E-1f};
	int exponent;
	float x = frexpf(v < 0x1p-126f ? 0x1p-126f : v, &exponent), e = (float)exponent;

	if (x < 0.707106781186547524f) {
		e -= 1;
		x = x - 1 + x;
	} else {
		x -= 1;
	}
	float z = x * x, y = poly(x, c, (int)ARRAY_LEN(c)) * x * z;
	y = fmaf(e, -2.12194440e-4f, y) - z * 0.5f;
	return fmaf(e, 0.693359375f, x + y);
}

/* Cephes' sinf and cosf, of a non-negative number. */
static void cephes_sincos(float v, float *sine, float *cosine)
{
	static const float cos_c[] = {2.443315711809948E-005f, -1.388731625493765E-003f, 4.166664568298827E-002f};
	static const float sin_c[] = {-1.9515295891E-4f, 8.3321608736E-3f, -1.6666654611E-1f};
	int octant = ((int)(v * 1.27323954473516f) + 1) & ~1;
	float k = (float)octant, x = fmaf(k, -0.78515625f, v);

	x = fmaf(k, -2.4187564849853515625e-4f, x);
	x = fmaf(k, -3.77489497744594108e-8f, x);
	float z = x * x;
	float c = fmaf(poly(z, cos_c, 3) * z, z, -(z * 0.5f)) + 1;
	float s = fmaf(poly(z, sin_c, 3) * z, x, x);
	bool swap = octant & 2;
	*sine = swap ? c : s;
	*cosine = swap ? s : c;
	if (octant & 4)
		*sine = -*sine;
	if (!((octant - 2) & 4))
		*cosine = -*cosine;
}

/* 16 uniform floats become normal ones. */
static void normal16_f32(float *v, float mean, float std)
{
	bool cephes = cpu_has_avx2();

	for (int i = 0; i < 8; i++) {
		float u1 = 1 - v[i], u2 = v[i + 8], sine, cosine;
		float radius = sqrtf(-2 * (cephes ? cephes_log(u1) : logf(u1)));
		float theta = cephes ? 6.28318548202514648f * u2 : (float)(2.0 * M_PI * (double)u2);
		if (cephes) {
			cephes_sincos(theta, &sine, &cosine);
		} else {
			sine = sinf(theta);
			cosine = cosf(theta);
		}
		v[i] = fmaf(radius * cosine, std, mean);
		v[i + 8] = fmaf(radius * sine, std, mean);
	}
}

static void normal16_f64(double *v, double mean, double std)
{
	for (int i = 0; i < 8; i++) {
		double radius = sqrt(-2 * log(1 - v[i])), theta = 2.0 * M_PI * v[i + 8];
		v[i] = fma(radius * cos(theta), std, mean);
		v[i + 8] = fma(radius * sin(theta), std, mean);
	}
}

static void normal16(int dtype, const double *uniform, double mean, double std, char *to)
{
	int bytes = elem_bytes(dtype);
	double d[16];
	float f[16];

	for (int i = 0; i < 16; i++) {
		d[i] = uniform[i];
		f[i] = (float)uniform[i];
	}
	if (dtype == DTYPE_F64)
		normal16_f64(d, mean, std);
	else
		normal16_f32(f, (float)mean, (float)std);
	for (int i = 0; i < 16; i++)
		elem_set_f64(dtype, to + i * bytes, dtype == DTYPE_F64 ? d[i] : (double)f[i]);
}

static double draw_for(int dtype) { return dtype == DTYPE_F64 ? draw_double() : (double)draw_float(); }

/* Sixteen at a time; an incomplete last 16 is redrawn together with the elements before it. float32 and float64 draw all uniforms first. */
static void normal_blocks(const struct run *r, double mean, double std)
{
	bool first = r->dtype == DTYPE_F32 || r->dtype == DTYPE_F64;
	int64_t blocks = r->n / 16;
	double u[16];

	for (int64_t b = 0; b < blocks; b++) {
		for (int i = 0; i < 16; i++)
			u[i] = draw_for(r->dtype);
		normal16(r->dtype, u, mean, std, r->p + b * 16 * r->bytes);
	}
	if (r->n % 16 == 0)
		return;
	for (int64_t i = 0; first && i < r->n % 16; i++)
		draw_for(r->dtype);
	for (int i = 0; i < 16; i++)
		u[i] = draw_for(r->dtype);
	normal16(r->dtype, u, mean, std, r->p + (r->n - 16) * r->bytes);
}

void aten_fill_normal(const struct aten_tensor *t, double mean, double std)
{
	struct run r = floats_of(t);

	if (!(std >= 0))
		aten_fail("normal expects std >= 0.0, but found std %g", std);
	if (elem_complex(t->dtype))
		std /= sqrt(2.0);
	generator_lock();
	if (r.n >= 16 && aten_is_contiguous(t))
		normal_blocks(&r, mean, std);
	else
		for (int64_t i = 0; i < r.n; i++)
			elem_set_f64(r.dtype, r.p + i * r.bytes, draw_normal(mean, std));
	generator_unlock();
}

/* ---- bernoulli ---- */

static void need_probability(double p)
{
	if (!(p >= 0 && p <= 1))
		aten_fail("bernoulli_ expects p to be in [0, 1], but got p=%g", p);
}

void aten_fill_exponential(const struct aten_tensor *t, double lambda)
{
	struct run r = floats_of(t);

	if (!(lambda > 0))
		aten_fail("exponential_ expects lambda > 0.0, but found lambda=%g", lambda);
	generator_lock();
	for (int64_t i = 0; i < r.n; i++)
		elem_set_f64(r.dtype, r.p + i * r.bytes, -1.0 / lambda * log1p(-draw_double()));
	generator_unlock();
}

void aten_fill_bernoulli(const struct aten_tensor *t, double p)
{
	struct run r = run_of(t);

	need_probability(p);
	generator_lock();
	for (int64_t i = 0; i < r.n; i++)
		elem_set_i64(r.dtype, r.p + i * r.bytes, draw_double() < p);
	generator_unlock();
}

/* Probabilities one by one. The order is that of self's memory; so that p is walked the same way, self must be contiguous.
 */
void aten_fill_bernoulli_tensor(struct aten_tensor *t, struct aten_tensor *p)
{

	if (!aten_is_contiguous(t))
		aten_fail(REFUSED);
	elem_need_real(t);
	struct walk w = WALK(t, p);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		need_probability(elem_f64(p->dtype, w.p[1]));
	generator_lock();
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		double q = elem_f64(p->dtype, w.p[1]);
		elem_set_i64(t->dtype, w.p[0], p->dtype == DTYPE_F64 ? draw_double() < q : draw_float() < (float)q);
	}
	generator_unlock();
}

/* The scale is rounded to the input's dtype first. */
static void drop(struct aten_tensor *out, const struct aten_tensor *mask, double scale)
{
	scale = elem_rounded(out->dtype, scale);
	struct walk w = WALK(out, mask);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		elem_set_f64(out->dtype, w.p[0], elem_f64(out->dtype, w.p[0]) * (*w.p[1] ? scale : 0));
}

struct two aten_native_dropout(struct aten_tensor *input, double p, bool train)
{
	struct aten_tensor *out = aten_clone(input), *mask = aten_like(input, aten_numel(input) ? DTYPE_BOOL : input->dtype);
	if (!elem_floating(input->dtype))
		aten_fail("native_dropout expects a floating dtype, got %s", dtype_name(input->dtype));
	if (!aten_numel(input)) {
		/* torch returns before creating a bool mask */
	} else if (train) {
		aten_fill_bernoulli(mask, 1 - p);
		drop(out, mask, p == 1 ? 0 : 1 / (1 - p));
	} else {
		aten_fill(mask, aten_number(1));
	}
	return (struct two){out, mask};
}

struct aten_tensor *aten_randperm(int64_t n, int dtype)
{
	struct aten_tensor *t = aten_new(dtype, 1, &n, NULL);
	int bytes = elem_bytes(t->dtype);
	char *p = n ? aten_data(t) : NULL, tmp[16];
	elem_need_real(t);
	if (n >= UINT32_MAX / 20) /* torch then draws differently */
		aten_fail(REFUSED);
	if (!aten_computes())
		return t;
	for (int64_t i = 0; i < n; i++)
		elem_set_i64(t->dtype, p + i * bytes, i);
	generator_lock();
	for (int64_t i = 0; i < n - 1; i++) {
		int64_t k = i + (int64_t)(draw32() % (uint64_t)(n - i));
		elem_copy(tmp, p + i * bytes, bytes);
		elem_copy(p + i * bytes, p + k * bytes, bytes);
		elem_copy(p + k * bytes, tmp, bytes);
	}
	generator_unlock();
	return t;
}

/* ---- by weights ---- */

/* The first index at which the cumulative weights, whose last is 1, reach a drawn number. */
static int64_t first_at_least(int dtype, const char *sums, int64_t n, double drawn)
{
	int64_t low = 0, high = n;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (elem_f64(dtype, sums + middle * elem_bytes(dtype)) < drawn)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n ? low : n - 1;
}

/* native/cpu/MultinomialKernel.cpp */
static void draw_with_replacement(int dtype, char *row, int64_t n, int64_t *to, int64_t samples)
{
	char sum[8];
	int bytes = elem_bytes(dtype);
	elem_set_f64(dtype, sum, 0);
	for (int64_t j = 0; j < n; j++) {
		elem_add(dtype, sum, row + j * bytes);
		memcpy(row + j * bytes, sum, (size_t)bytes);
	}
	double all = elem_f64(dtype, sum);
	for (int64_t j = 0; j < n && all > 0; j++)
		elem_set_f64(dtype, row + j * bytes, elem_f64(dtype, row + j * bytes) / all);
	elem_set_f64(dtype, row + (n - 1) * bytes, 1);
	generator_lock();
	for (int64_t k = 0; k < samples; k++)
		to[k] = first_at_least(dtype, row, n, draw_double());
	generator_unlock();
}

/* The largest of weights that were divided by exponential numbers (native/Distributions.cpp, multinomial_out). */
static void choose_largest(int dtype, char *row, int64_t n, int64_t *to, int64_t samples)
{
	int bytes = elem_bytes(dtype);
	for (int64_t k = 0; k < samples; k++) {
		int64_t best = 0;
		for (int64_t j = 1; j < n; j++)
			if (elem_f64(dtype, row + j * bytes) > elem_f64(dtype, row + best * bytes))
				best = j;
		to[k] = best;
		elem_set_f64(dtype, row + best * bytes, -1);
	}
}

static void run_multinomial(struct aten_call *c) /* self, num_samples, replacement */
{
	struct aten_tensor *weights = aten_clone_contiguous(call_tensor(c, 0));
	int64_t samples = call_int(c, 1), n = weights->n_dim ? weights->size[weights->n_dim - 1] : 0;
	bool again = call_bool(c, 2), divide = !again || samples == 1;
	int dtype = weights->dtype, bytes = elem_bytes(dtype);
	if (!elem_floating(dtype) || weights->n_dim < 1 || weights->n_dim > 2 || n < 1)
		aten_fail("expected 1D or 2D floating weights, got %dD %s", weights->n_dim, dtype_name(dtype));
	if (samples < 1 || (!again && samples > n))
		aten_fail("cannot sample %lld of %lld categories", (long long)samples, (long long)n);
	int64_t rows = aten_numel(weights) / n, size[2] = {rows, samples};
	struct aten_tensor *out = aten_new(DTYPE_I64, weights->n_dim, weights->n_dim == 2 ? size : size + 1, NULL);
	if (!aten_computes()) {
		call_give(c, 0, out);
		return;
	}
	for (int64_t i = 0; i < rows; i++) {
		double sum = 0;
		for (int64_t j = 0; j < n; j++) {
			double v = elem_f64(dtype, aten_data(weights) + (i * n + j) * bytes);
			if (!(v >= 0) || isinf(v))
				aten_fail("probability tensor contains either `inf`, `nan` or element < 0");
			sum += v;
		}
		if (!(sum > 0))
			aten_fail("invalid multinomial distribution (sum of probabilities <= 0)");
	}
	if (divide) {
		struct aten_tensor *q = aten_like(weights, dtype);
		aten_fill_exponential(q, 1);
		for (int64_t k = 0; k < rows * n; k++)
			elem_set_f64(dtype, aten_data(weights) + k * bytes,
				     elem_f64(dtype, aten_data(weights) + k * bytes) / elem_f64(dtype, aten_data(q) + k * bytes));
	}
	for (int64_t i = 0; i < rows; i++)
		(divide ? choose_largest : draw_with_replacement)(dtype, aten_data(weights) + i * n * bytes, n,
								  (int64_t *)(void *)aten_data(out) + i * samples, samples);
	call_give(c, 0, out);
}

/* ---- by name ---- */

struct aten_tensor *aten_fill_fresh(struct aten_tensor *t, char how, int64_t low, int64_t high)
{
	if (how == 'u')
		aten_fill_uniform(t, 0, 1);
	else if (how == 'n')
		aten_fill_normal(t, 0, 1);
	else
		aten_fill_int(t, low, high);
	return t;
}

/* entry.data: the distribution - u(niform), n(ormal), i(ntegers below a number), l (from one to another) - and whether l(ike) a tensor, or
 * with a g(enerator), which must be the default one.
 * [self,] [low,] [high,] [size,] [generator,] dtype, layout, device, pin_memory[, memory_format] */
static void run_fresh(struct aten_call *c)
{
	const char *how = c->entry->data;
	bool like = how[1] == 'l';
	uint32_t i = like;
	struct aten_tensor *t;
	int64_t low = *how == 'l' ? call_int(c, i++) : 0, high = *how == 'i' || *how == 'l' ? call_int(c, i++) : 0;
	if (like) {
		struct aten_tensor *self = call_tensor(c, 0);
		int64_t format = GIVEN(c, i + 4).kind == ATEN_NONE ? ATEN_PRESERVE : GIVEN(c, i + 4).i;
		t = aten_empty_like(self, call_dtype_or(c, i, self->dtype), format);
	} else {
		struct ints size = call_ints(c, i++);
		if (how[1] == 'g')
			aten_need_default_generator(call_is_none(c, i++));
		t = aten_empty(size.v, size.n, call_dtype_or(c, i, *how == 'u' || *how == 'n' ? aten_default_dtype() : DTYPE_I64));
	}
	call_give(c, 0, aten_fill_fresh(t, *how, low, high));
}

/* A tensor like self; the generator, the last argument, must be the default one. */
static struct aten_tensor *target_of(const struct aten_call *c)
{
	struct aten_tensor *self = call_tensor(c, 0), *t = aten_like(self, self->dtype);
	aten_need_default_generator(call_is_none(c, c->n - 1));
	call_give(c, 0, t);
	return t;
}
static void run_uniform(struct aten_call *c) { aten_fill_uniform(target_of(c), call_float(c, 1), call_float(c, 2)); } /* self, from, to */
static void run_normal(struct aten_call *c) { aten_fill_normal(target_of(c), call_float(c, 1), call_float(c, 2)); }   /* self, mean, std */
static void run_exponential(struct aten_call *c) { aten_fill_exponential(target_of(c), call_float(c, 1)); }           /* self, lambd */
static void run_bernoulli(struct aten_call *c) /* self, [p,] generator: self or p are the probabilities */
{
	struct aten_tensor *self = call_tensor(c, 0), *t = target_of(c);
	if (c->n == 2)
		aten_fill_bernoulli_tensor(t, self);
	else if (GIVEN(c, 1).kind == ATEN_TENSOR)
		aten_fill_bernoulli_tensor(t, call_tensor(c, 1));
	else
		aten_fill_bernoulli(t, call_float(c, 1));
}
static void run_native_dropout(struct aten_call *c) /* input, p, train */
{
	call_give_two(c, aten_native_dropout(call_tensor(c, 0), call_float(c, 1), call_int_or(c, 2, 1)));
}
static void run_randperm(struct aten_call *c) { call_give(c, 0, aten_randperm(call_int(c, 0), call_dtype_or(c, 1, DTYPE_I64))); }

const struct aten_entry aten_random_entries[] = {
    {"bernoulli", run_bernoulli},
    {"bernoulli.Tensor", run_bernoulli},
    {"bernoulli.p", run_bernoulli},
    {"exponential", run_exponential},
    {"multinomial", run_multinomial},
    {"native_dropout", run_native_dropout},
    {"normal_functional", run_normal},
    {"rand", run_fresh, "u"},
    {"rand.generator", run_fresh, "ug"},
    {"rand_like", run_fresh, "ul"},
    {"randint", run_fresh, "i"},
    {"randint.generator", run_fresh, "ig"},
    {"randint.low", run_fresh, "l"},
    {"randint.low_generator", run_fresh, "lg"},
    {"randint_like", run_fresh, "il"},
    {"randint_like.low_dtype", run_fresh, "ll"},
    {"randn", run_fresh, "n"},
    {"randn.generator", run_fresh, "ng"},
    {"randn_like", run_fresh, "nl"},
    {"randperm", run_randperm},
    {"uniform", run_uniform},
    {0},
};
