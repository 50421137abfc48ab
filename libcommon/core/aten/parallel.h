/* parallel.h - runs tasks on the model's own threads: those of the OpenMP it is linked with, since a second pool would compete with them.
 *
 *     aten_parallel(one_panel, &job, n_panels);        // one_panel(&job, i) for each i, in any order, by any thread
 *
 * Without OpenMP in the model, or with one thread, it is a loop. A task cannot fail: aten_fail() would jump to another thread's frame.
 */
#ifndef PT2_ATEN_PARALLEL_H
#define PT2_ATEN_PARALLEL_H
#include "elem.h"

int aten_threads(void);
void aten_parallel(void (*run)(void *arg, int64_t i), void *arg, int64_t n);

#endif
