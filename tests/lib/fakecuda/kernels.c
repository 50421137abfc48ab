/* The twins of the probe's PTX: statistics of a tensor (../fakecuda.h). */
#include <math.h>
#include <string.h>

#include "../fakecuda.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum type { F32, F64, F16, BF16 };
static const uint8_t bytes_of[] = {4, 8, 2, 2};

static float from_bits(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, 4);
	return f;
}

static double half(uint16_t h)
{
	int exponent = h >> 10 & 31, fraction = h & 1023;
	double v = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
		   : exponent	  ? ldexp(1024 + fraction, exponent - 25)
				  : ldexp(fraction, -24);
	return h & 0x8000 ? -v : v;
}

static double element(const void *p, enum type t)
{
	uint16_t h;
	double d;
	float f;
	if (t == F64)
		return memcpy(&d, p, 8), d;
	if (t == F32)
		return memcpy(&f, p, 4), f;
	memcpy(&h, p, 2);
	return t == F16 ? half(h) : from_bits((uint32_t)h << 16);
}

static void add(struct pt2_stats_part *s, double v, uint64_t i)
{
	s->nan += isnan(v) != 0;
	s->pos_inf += isinf(v) && v > 0;
	s->neg_inf += isinf(v) && v < 0;
	s->zero += v == 0;
	if (!isfinite(v) && i < s->first_bad)
		s->first_bad = i;
	if (isnan(v))
		return;
	s->min = v < s->min ? v : s->min;
	s->max = v > s->max ? v : s->max;
	s->sum += v;
}

static void stats(const struct fakecuda_kernel *k, enum type t)
{
	uint64_t data = FAKECUDA_ARG(k, 0, uint64_t), n = FAKECUDA_ARG(k, 1, uint64_t), step = (uint64_t)k->grid[0] * k->block[0];
	for (uint32_t b = 0; b < k->grid[0]; b++) {
		struct pt2_stats_part s = {.first_bad = UINT64_MAX, .min = INFINITY, .max = -INFINITY};
		for (uint64_t row = (uint64_t)b * k->block[0]; row < n; row += step)
			for (uint64_t i = row; i < row + k->block[0] && i < n; i++)
				add(&s, element(fakecuda_at(k, data + i * bytes_of[t], bytes_of[t]), t), i);
		FAKECUDA_EL(k, 2, struct pt2_stats_part, b) = s;
	}
}

void fake_pt2_stats_f32(const struct fakecuda_kernel *k) { stats(k, F32); }
void fake_pt2_stats_f64(const struct fakecuda_kernel *k) { stats(k, F64); }
void fake_pt2_stats_f16(const struct fakecuda_kernel *k) { stats(k, F16); }
void fake_pt2_stats_bf16(const struct fakecuda_kernel *k) { stats(k, BF16); }
