#include "special.h"

#include <math.h>
#include <stdbool.h>

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

/* exp(-a) I_n(a), n 0 or 1, a >= 0: the power series, which has no cancellation, or the asymptotic one. */
static double scaled_bessel(int n, double a)
{
	const double mu = n ? 4 : 0;
	double term = 1, sum = 1;
	if (a > 30) {
		for (int k = 1; k < 20; k++) {
			term *= ((2 * k - 1) * (2 * k - 1) - mu) / (8.0 * k * a);
			sum += term;
		}
		return sum / sqrt(2 * M_PI * a);
	}
	for (int k = 1; k < 200 && term > sum * 0x1p-54; k++) {
		term *= (a / 2 / k) * (a / 2 / (k + n));
		sum += term;
	}
	return exp(-a) * sum * (n ? a / 2 : 1);
}

double special_i0e(double x) { return x != x ? x : scaled_bessel(0, fabs(x)); }
double special_i1e(double x) { return x != x ? x : copysign(scaled_bessel(1, fabs(x)), x); }
/* In two steps: the first exponential alone would overflow. */
double special_i0(double x) { return x != x ? x : exp(fabs(x) / 2) * special_i0e(x) * exp(fabs(x) / 2); }
double special_i1(double x) { return x != x ? x : exp(fabs(x) / 2) * special_i1e(x) * exp(fabs(x) / 2); }

double special_erfcx(double x)
{
	const double r = 1 / (2 * x * x);
	if (x > 50)
		return (1 - r * (1 - 3 * r * (1 - 5 * r))) / (x * sqrt(M_PI));
	const long double v = x;
	return (double)(expl(v * v) * erfcl(v));
}

double special_log_ndtr(double x)
{
	const double t = x * M_SQRT1_2;
	return x < -1 ? log(special_erfcx(-t) / 2) - t * t : log1p(-erfc(t) / 2);
}

static double ratio(const double *p, const double *q, double r)
{
	double above = p[0], below = q[0];
	for (int i = 1; i < 8; i++) {
		above = above * r + p[i];
		below = below * r + q[i];
	}
	return above / below;
}

/* Wichura, Algorithm AS 241 (PPND16), 1988. */
double special_ndtri(double p)
{
	static const double p0[] = {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
				    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608},
			    q0[] = {5226.495278852545925,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
				    5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1},
			    p1[] = {7.7454501427834140764e-4, .0227238449892691845833, .24178072517745061177, 1.27045825245236838258,
				    3.64784832476320460504,   5.7694972214606914055,   4.6303378461565452959, 1.42343711074968357734},
			    q1[] = {1.05075007164441684324e-9, 5.475938084995344946e-4, .0151986665636164571966, .14810397642748007459,
				    .68976733498510000455,     1.6763848301838038494,   2.05319162663775882187,  1},
			    p2[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5, .0012426609473880784386, .026532189526576123093,
				    .29656057182850489123,     1.7848265399172913358,     5.4637849111641143699,   6.6579046435011037772},
			    q2[] = {2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
				    .0148753612908506148525,    .13692988092273580531,    .59983220655588793769,    1};
	const double q = p - 0.5;
	if (p == 0 || p == 1)
		return p ? (double)INFINITY : -(double)INFINITY;
	if (!(p > 0 && p < 1))
		return (double)NAN;
	if (fabs(q) <= 0.425)
		return q * ratio(p0, q0, 0.180625 - q * q);
	const double r = sqrt(-log(q < 0 ? p : 1 - p)), v = r <= 5 ? ratio(p1, q1, r - 1.6) : ratio(p2, q2, r - 5);
	return q < 0 ? -v : v;
}

double special_entr(double x) { return x != x ? x : x > 0 ? -x * log(x) : x == 0 ? 0 : -(double)INFINITY; }

/* Euler and Maclaurin's sum, with (2k)! / B2k (aten/src/ATen/native/Math.h, zeta, has the same). */
double special_zeta(double x, double q)
{
	static const double a[] = {12.0,
				   -720.0,
				   30240.0,
				   -1209600.0,
				   47900160.0,
				   -1.8924375803183791606e9,
				   7.47242496e10,
				   -2.950130727918164224e12,
				   1.1646782814350067249e14,
				   -4.5979787224074726105e15,
				   1.8152105401943546773e17,
				   -7.1661652561756670113e18};
	if (x != x || q != q)
		return (double)NAN;
	if (x == 1)
		return (double)INFINITY;
	if (x < 1 || (q <= 0 && q != floor(q) && x != floor(x)))
		return (double)NAN;
	if (q <= 0 && q == floor(q))
		return (double)INFINITY;
	double s = pow(q, -x), b = 0, w = q, f = 1;
	for (int i = 0; i < 9 || w <= 9; i++) {
		w += 1;
		b = pow(w, -x);
		s += b;
		if (fabs(b / s) < 0x1p-53)
			return s;
	}
	s += b * w / (x - 1) - 0.5 * b;
	for (int i = 0; i < 12; i++) {
		f *= x + 2 * i;
		b /= w;
		const double t = f * b / a[i];
		s += t;
		if (fabs(t / s) < 0x1p-53)
			return s;
		f *= x + 2 * i + 1;
		b /= w;
	}
	return s;
}

/* Reflected below 1/2, as torch has it only for this derivative. */
static double trigamma(double x)
{
	double sign = 1, sum = 0;
	if (x < 0.5) {
		const double s = sin(M_PI * x);
		sign = -1;
		sum -= M_PI * M_PI / (s * s);
		x = 1 - x;
	}
	for (int i = 0; i < 15; i++, x++)
		sum += 1 / (x * x);
	const double r = 1 / (x * x);
	return sign * (sum + (1 + 1 / (2 * x) + r * (1.0 / 6 - r * (1.0 / 30 - r * (1.0 / 42 - r / 30)))) / x);
}

double special_polygamma(int64_t n, double x)
{
	if (n < 2)
		return n ? trigamma(x) : special_digamma(x);
	return (n % 2 ? 1 : -1) * tgamma((double)n + 1) * special_zeta((double)n + 1, x);
}

/* The series for the lower function, the continued fraction (Lentz) for the upper one: each where it converges fast. */
static long double gamma_part(double a, double x, bool *lower)
{
	const long double factor = expl(-(long double)x + a * logl(x) - lgammal(a));
	*lower = x < a + 1;
	if (*lower) {
		long double term = 1 / (long double)a, sum = term, at = a;
		for (int i = 0; i < 100000 && fabsl(term) > fabsl(sum) * 1e-19L; i++)
			sum += term *= x / ++at;
		return sum * factor;
	}
	long double b = x + 1 - (long double)a, c = 1e300L, d = 1 / b, h = d;
	for (int i = 1; i < 100000; i++) {
		const long double an = -i * (i - (long double)a);
		b += 2;
		d = an * d + b;
		c = b + an / c;
		d = 1 / (d == 0 ? 1e-300L : d);
		h *= d * c;
		if (fabsl(d * c - 1) < 1e-19L)
			break;
	}
	return h * factor;
}

static double incomplete_gamma(double a, double x, bool want_lower)
{
	bool lower;
	if (a != a || x != x || a < 0 || x < 0 || (a == 0 && x == 0) || (isinf(a) && isinf(x)))
		return (double)NAN;
	if (a == 0 || isinf(x))
		return want_lower;
	if (x == 0 || isinf(a))
		return !want_lower;
	const long double part = gamma_part(a, x, &lower);
	return (double)(lower == want_lower ? part : 1 - part);
}

double special_igamma(double a, double x) { return incomplete_gamma(a, x, true); }
double special_igammac(double a, double x) { return incomplete_gamma(a, x, false); }

double special_mvlgamma(double a, int64_t p)
{
	double sum = (double)p * (double)(p - 1) / 4 * log(M_PI);
	for (int64_t j = 0; j < p; j++)
		sum += lgamma(a - (double)j / 2);
	return sum;
}
