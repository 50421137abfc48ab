/* fairtime.h - time as far as a loaded machine had it for one busy program: for limits that other programs' work must not use up.
 *
 *     struct fair_time t;
 *     fair_time_start(&t);
 *     ... now and then: if (fair_time(&t) > limit) ...
 *
 * Where n processors have 3n to do, a second counts a third; on an idle machine it is a second, whether the program works or sleeps. By the
 * load average of the last minute, as it is at each look: look at least every minute. The load is the whole machine's, so all of its
 * processors count, not only those that this process may use.
 */
#ifndef PT2_FAIRTIME_H
#define PT2_FAIRTIME_H
#include "base/base.h"

struct fair_time {
	int64_t looked; /* clock_ns() */
	double spent;   /* seconds, until then */
};
void fair_time_start(struct fair_time *t);
/* Seconds since the start. */
double fair_time(struct fair_time *t);

#endif
