#include "special.h"

#include <math.h>

/* A first guess (Winitzki's), then Halley's steps. */
double special_erfinv(double x)
{
	if (x != x || fabs(x) > 1)
		return (double)NAN;
	if (fabs(x) == 1)
		return x * (double)INFINITY;
	double l = log1p(-x * x), a = 0.147, t = 2 / (M_PI * a) + l / 2;
	double y = copysign(sqrt(sqrt(t * t - l / a) - t), x);
	for (int i = 0; i < 4; i++) {
		double e = fabs(x) > 0.5 ? (x < 0 ? -1 : 1) * ((1 - fabs(x)) - erfc(fabs(y))) : erf(y) - x;
		double step = e / (M_2_SQRTPI * exp(-y * y));
		y -= step / (1 + y * step);
	}
	return y;
}

/* Recurrence up to 10, then the asymptotic series; reflection below 0 (aten/src/ATen/native/Math.h, calc_digamma, for the poles). */
double special_digamma(double x)
{
	double sum = 0, whole;
	if (x == 0)
		return copysign((double)INFINITY, -x);
	if (x < 0) {
		double part = modf(x, &whole);
		if (part == 0)
			return (double)NAN;
		return special_digamma(1 - x) - M_PI / tan(M_PI * part);
	}
	for (; x < 10; x++)
		sum -= 1 / x;
	double r = 1 / (x * x);
	return sum + log(x) - 0.5 / x -
	       r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * (691.0 / 32760 - r / 12))))));
}

double special_i0(double x)
{
	double a = fabs(x), term = 1, sum = 1;
	if (a > 30) { /* asymptotic */
		for (int k = 1; k < 20; k++) {
			term *= (2 * k - 1) * (2 * k - 1) / (8.0 * k * a);
			sum += term;
		}
		return exp(a / 2) / sqrt(2 * M_PI * a) * sum * exp(a / 2);
	}
	for (int k = 1; k < 200 && term > sum * 0x1p-54; k++) {
		term *= (a / 2 / k) * (a / 2 / k);
		sum += term;
	}
	return x != x ? x : sum;
}
