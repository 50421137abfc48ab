/* fairtime.c - see fairtime.h. */
#include "base/process/fairtime.h"

#include "base/clock.h"

#include <stdlib.h>
#include <unistd.h>

/* How much of a processor a busy program gets: where three share each, a third. */
static double share_of_processor(void)
{
	double load;
	const long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 && getloadavg(&load, 1) == 1 && load > (double)n ? (double)n / load : 1;
}

void fair_time_start(struct fair_time *t) { *t = (struct fair_time){.looked = clock_ns()}; }

double fair_time(struct fair_time *t)
{
	const int64_t now = clock_ns();
	t->spent += (double)(now - t->looked) / 1e9 * share_of_processor();
	t->looked = now;
	return t->spent;
}
