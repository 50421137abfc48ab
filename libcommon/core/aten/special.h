/* special.h - special functions missing in the C library, in double. */
#ifndef PT2_ATEN_SPECIAL_H
#define PT2_ATEN_SPECIAL_H

double special_erfinv(double x);
double special_digamma(double x);
double special_i0(double x); /* modified Bessel function of the first kind */

#endif
