/* special.h - special functions missing in the C library, in double. */
#ifndef PT2_ATEN_SPECIAL_H
#define PT2_ATEN_SPECIAL_H
#include <stdint.h>

double special_erfinv(double x);
double special_digamma(double x);
double special_i0(double x); /* modified Bessel functions of the first kind; e: times exp(-|x|) */
double special_i0e(double x);
double special_i1(double x);
double special_i1e(double x);
double special_erfcx(double x); /* exp(x^2) erfc(x) */
double special_ndtri(double p); /* the inverse of the normal distribution */
double special_log_ndtr(double x);
double special_entr(double x);
double special_zeta(double x, double q);       /* Hurwitz's: the sum of (q + k)^-x */
double special_polygamma(int64_t n, double x); /* the n-th derivative of digamma */
double special_igamma(double a, double x);     /* regularized incomplete gamma functions, lower and upper */
double special_igammac(double a, double x);
double special_mvlgamma(double a, int64_t p);

/* special_more.c. An order is a number: its fraction is cut off, and a negative one gives 0. */
enum chebyshev { CHEBYSHEV_T, CHEBYSHEV_U, CHEBYSHEV_V, CHEBYSHEV_W };
double special_chebyshev(enum chebyshev kind, double x, double order);
double special_hermite_h(double x, double order, int64_t most); /* NaN beyond the greatest order */
double special_hermite_he(double x, double order, int64_t most);
double special_laguerre(double x, double order);
double special_legendre(double x, double order);
double special_bessel_k(int n, double x); /* modified, of the second kind, n 0 or 1; ke: times exp(x) */
double special_bessel_ke(int n, double x);
double special_spherical_bessel_j0(double x);
double special_airy_ai(double x);

#endif
