/* ticks.h - the processor's counter, which is read in a fraction of the time that clock_gettime() takes: calls of small kernels are
 * timed by it.
 *
 *     if (calls_ticking())
 *         start = calls_ticks();       // how long a tick is, is measured when the log is read (calls.c)
 */
#ifndef PT2_CALLS_TICKS_H
#define PT2_CALLS_TICKS_H
#include <stdbool.h>
#include <stdint.h>

/* Is the counter a clock: does it run at one speed, and the same on all cores? */
bool calls_ticking(void);

static inline uint64_t calls_ticks(void)
{
#ifdef PT2_ARCH_x86_64
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

#endif
