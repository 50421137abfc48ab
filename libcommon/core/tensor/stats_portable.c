#include "tensor/stats_part.h"

int stats_best(void) { return 0; }

const struct stats_kernels *stats_kernels_of(int level)
{
	(void)level;
	return &stats_plain;
}

unsigned stats_enter_float(void) { return 0; }
void stats_leave_float(unsigned was) { (void)was; }

/* Newton's method from an estimate by the exponent. For 1 <= v <= 2, as in stats.c; correct to the last bit or the one before. */
double stats_root(double v)
{
	double r = 0.5 + v / 2;
	for (int i = 0; i < 5; i++)
		r = 0.5 * (r + v / r);
	return r;
}
