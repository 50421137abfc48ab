/* Orthogonal polynomials, and Bessel functions of the second kind and Airy's. The limits and special cases are those of torch
 * (2.13, aten/src/ATen/native/Math.h). */
#include "special.h"

#include <math.h>

/* As torch converts an order: its fraction is cut off; NaN and numbers that are too large are negative. */
static int64_t order_of(double n) { return n > -1 && n < 0x1p62 ? (int64_t)n : -1; }

/* Angles within -1..1, where the recurrence would lose accuracy. */
static double chebyshev_angle(enum chebyshev kind, double x, double n)
{
	const double a = acos(x);
	switch (kind) {
	case CHEBYSHEV_T: return cos(n * a);
	case CHEBYSHEV_U: return sin((n + 1) * a) / sin(a);
	case CHEBYSHEV_V: return cos((n + 0.5) * a) / cos(a / 2);
	case CHEBYSHEV_W: return sin((n + 0.5) * a) / sin(a / 2);
	}
	return (double)NAN;
}

double special_chebyshev(enum chebyshev kind, double x, double order)
{
	const int64_t n = order_of(order);
	const double sign = n % 2 ? -1 : 1, m = (double)n;
	if (n < 0)
		return 0;
	if (x == 1)
		return kind == CHEBYSHEV_U ? m + 1 : kind == CHEBYSHEV_W ? 2 * m + 1 : 1;
	if (x == -1)
		return sign * (kind == CHEBYSHEV_U ? m + 1 : kind == CHEBYSHEV_V ? 2 * m + 1 : 1);
	if (n > 8 && fabs(x) < 1)
		return chebyshev_angle(kind, x, m);
	if (n == 0)
		return 1;
	const double first[] = {[CHEBYSHEV_T] = x, [CHEBYSHEV_U] = 2 * x, [CHEBYSHEV_V] = 2 * x - 1, [CHEBYSHEV_W] = 2 * x + 1};
	double before = 1, now = first[kind];
	for (int64_t k = 2; k <= n && now == now; k++) {
		const double next = fma(2 * x, now, -before); /* as torch is compiled */
		before = now;
		now = next;
	}
	return now;
}

/* of: 2 of the physicists', 1 of the probabilists'. */
static double hermite(double x, double order, int64_t most, double of)
{
	const int64_t n = order_of(order);
	if (n <= 0 || n > most)
		return n < 0 ? 0 : n ? (double)NAN : 1;
	double before = 1, now = of * x;
	for (int64_t k = 1; k < n; k++) {
		const double next = fma(of * x, now, -of * (double)k * before);
		before = now;
		now = next;
	}
	return now;
}

double special_hermite_h(double x, double order, int64_t most) { return hermite(x, order, most, 2); }

double special_hermite_he(double x, double order, int64_t most) { return hermite(x, order, most, 1); }

double special_laguerre(double x, double order)
{
	const int64_t n = order_of(order);
	if (n <= 0 || x == 0)
		return n < 0 ? 0 : 1;
	double before = 1, now = 1 - x;
	for (int64_t k = 1; k < n && now == now; k++) {
		const double i = (double)k, next = ((2 * i + 1 - x) * now - i * before) / (i + 1);
		before = now;
		now = next;
	}
	return now;
}

double special_legendre(double x, double order)
{
	const int64_t n = order_of(order);
	if (n <= 0 || x == 1)
		return n < 0 ? 0 : 1;
	if (x == -1)
		return n % 2 ? -1 : 1;
	double before = 1, now = x;
	for (int64_t k = 1; k < n && now == now; k++) {
		const double i = (double)k, next = ((2 * i + 1) * x * now - i * before) / (i + 1);
		before = now;
		now = next;
	}
	return now;
}

/* The integral of exp(-x (cosh t - 1)) cosh(n t) by trapezoids, whose error falls exponentially with their width. */
double special_bessel_ke(int n, double x)
{
	if (!(x > 0))
		return x == 0 ? (double)INFINITY : (double)NAN;
	if (isinf(x))
		return 0;
	if (x < 0x1p-1000) /* cosh would overflow */
		return n ? 1 / x : -log(x / 2) - 0.57721566490153286061;
	const double width = fmin(0.25, 0.36 / sqrt(x));
	double sum = 0.5;
	for (int k = 1;; k++) {
		const double t = k * width, s = sinh(t / 2), u = 2 * x * s * s, term = exp(-u) * (n ? cosh(t) : 1);
		sum += term;
		if (u > 2 && term < sum * 0x1p-56)
			return sum * width;
	}
}

double special_bessel_k(int n, double x) { return isinf(x) && x > 0 ? 0 : exp(-x) * special_bessel_ke(n, x); }

double special_spherical_bessel_j0(double x)
{
	const double y = x * x;
	if (isinf(x))
		return 0;
	return fabs(x) < 0.5 ? 1 - y / 6 * (1 - y / 20 * (1 - y / 42 * (1 - y / 72 * (1 - y / 110 * (1 - y / 156))))) : sin(x) / x;
}

static double horner(const double *c, int n, double x)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum = sum * x + c[i];
	return sum;
}

/* The coefficients are Cephes's, as torch has them. */
double special_airy_ai(double x)
{
	static const double an[] = {3.46538101525629032477e-01, 1.20075952739645805542e+01, 7.62796053615234516538e+01,
				    1.68089224934630576269e+02, 1.59756391350164413639e+02, 7.05360906840444183113e+01,
				    1.40264691163389668864e+01, 9.99999999999999995305e-01},
			    ad[] = {5.67594532638770212846e-01, 1.47562562584847203173e+01, 8.45138970141474626562e+01,
				    1.77318088145400459522e+02, 1.64234692871529701831e+02, 7.14778400825575695274e+01,
				    1.40959135607834029598e+01, 1.00000000000000000470e+00},
			    afn[] = {-1.31696323418331795333e-01, -6.26456544431912369773e-01, -6.93158036036933542233e-01,
				     -2.79779981545119124951e-01, -4.91900132609500318020e-02, -4.06265923594885404393e-03,
				     -1.59276496239262096340e-04, -2.77649108155232920844e-06, -1.67787698489114633780e-08},
			    afd[] = {1.33560420706553243746e+01, 3.26825032795224613948e+01, 2.67367040941499554804e+01,
				     9.18707402907259625840e+00, 1.47529146771666414581e+00, 1.15687173795188044134e-01,
				     4.40291641615211203805e-03, 7.54720348287414296618e-05, 4.51850092970580378464e-07},
			    agn[] = {1.97339932091685679179e-02, 3.91103029615688277255e-01, 1.06579897599595591108e+00,
				     9.39169229816650230044e-01, 3.51465656105547619242e-01, 6.33888919628925490927e-02,
				     5.85804113048388458567e-03, 2.82851600836737019778e-04, 6.98793669997260967291e-06,
				     8.11789239554389293311e-08, 3.41551784765923618484e-10},
			    agd[] = {9.30892908077441974853e+00, 1.98352928718312140417e+01, 1.55646628932864612953e+01,
				     5.47686069422975497931e+00, 9.54293611618961883998e-01, 8.64580826352392193095e-02,
				     4.12656523824222607191e-03, 1.01259085116509135510e-04, 1.17166733214413521882e-06,
				     4.91834570062930015649e-09};
	const double by_pi = 5.64189583547756286948e-01; /* 1 / sqrt(pi) */
	if (isinf(x))
		return (double)NAN;
	if (x > 103.892)
		return 0;
	const double zeta = 2 * fabs(x) * sqrt(fabs(x)) / 3, z = 1 / zeta, root = sqrt(sqrt(fabs(x)));
	if (x < -2.09) {
		const double t = zeta + M_PI / 4, f = horner(afn, 9, z * z) / horner(afd, 9, z * z),
			     g = horner(agn, 11, z * z) / horner(agd, 10, z * z);
		return by_pi / root * (sin(t) * (1 + z * z * f) - cos(t) * z * g);
	}
	if (x >= 2.09)
		return by_pi * (horner(an, 8, z) / horner(ad, 8, z)) / (2 * root * exp(zeta));
	double f = 1, g = x, m = 1, n = x, k = 1;
	for (double t = 1; t > 0x1p-52;) {
		m *= x * x * x / ((k + 1) * (k + 2));
		n *= x * x * x / ((k + 2) * (k + 3));
		k += 3;
		f += m;
		g += n;
		t = fabs(m / f);
	}
	return 0.355028053887817239260 * f - 0.258819403792806798405 * g;
}
