/* order.h - what findings cost, which decides their order (for users: docs/formats/EXPLAIN.md).
 *
 * A finding costs `seconds` of compile time, by the log's own times, and `call_us` on each call of the compiled function. No log says how
 * often a function is called: ORDER_CALLS calls are assumed, so that 10 us per call weigh the same as a second of compile time.
 *
 * Known costs of a call: the guards of a graph, from guard_latency_us of compilation_metrics (torch/_dynamo/metrics_context.py, measured
 * when they are built); and leaving a graph, running a line and entering the next graph, BREAK_US. The latter is torch's cost, not the
 * program's: measured with 0, 1, 2 and 4 breaks in a single-threaded function, 8 to 11 us per break (torch 2.13.0 and 2.15.0, backends
 * eager and inductor, the minimum of 40 times 300 calls).
 *
 * The order: what ended the program; failures; by level; functions that permanently fall back to eager, which costs every call an unknown
 * amount; by seconds + ORDER_CALLS calls; by kind; by count; in log order. It is total, so two runs of a tool agree.
 */
#ifndef PT2_ORDER_H
#define PT2_ORDER_H
#include "run/diagnose/finding.h"

#define BREAK_US 10.0
#define ORDER_CALLS 100000

/* Time of one guard: the minimum over all compilations of the run, since each was measured once, with whatever else the machine did. */
double guards_one_us(const struct facts *f);
/* Time of a compilation's guards on one call; < 0: unknown. */
double guards_call_us(const struct explanation *x, uint32_t compile);
/* Sorts the findings, drops those that another one covers, and renumbers those in the views. */
void explain_order(struct explanation *x);

#endif
