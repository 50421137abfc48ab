/* parallel.h - tasks for the threads that the model has: those of the OpenMP it is linked with, for a second pool would fight with
 * its own.
 *
 *     aten_parallel(one_panel, &job, n_panels);        // one_panel(&job, i) for each i, in any order, by any thread
 *
 * A model without OpenMP, or one thread: it is a loop. A task cannot fail: aten_fail() would leave it for another thread's frame.
 */
#ifndef PT2_ATEN_PARALLEL_H
#define PT2_ATEN_PARALLEL_H
#include "elem.h"

int aten_threads(void);
void aten_parallel(void (*run)(void *arg, int64_t i), void *arg, int64_t n);

#endif
