#include "tensor/stats_part.h"

int stats_best(void) { return 0; }

const struct stats_kernels *stats_kernels_of(int level)
{
	(void)level;
	return &stats_plain;
}

/* FPCR: no traps, subnormals are kept (torch.set_flush_denormal sets FZ). */
unsigned stats_enter_float(void)
{
	uint64_t was;
	__asm__ volatile("mrs %0, fpcr" : "=r"(was));
	if (was)
		__asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(0)));
	return (unsigned)was;
}

void stats_leave_float(unsigned was)
{
	if (was)
		__asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)was));
}

double stats_root(double v)
{
	double r;
	__asm__("fsqrt %d0, %d1" : "=w"(r) : "w"(v));
	return r;
}
