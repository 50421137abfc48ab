/* order.h - what findings cost, and so which is first (docs/formats/EXPLAIN.md has it for users).
 *
 * A finding costs `seconds` of compiling, by the log's own times, and `call_us` on each call of the compiled function. No log says how
 * often a function is called: ORDER_CALLS calls are taken, so that 10 us a call weigh as much as a second of compiling.
 *
 * Of a call are known: the guards of a graph, as guard_latency_us of compilation_metrics has them (torch/_dynamo/metrics_context.py,
 * measured when they are built); and what it takes to leave a graph, run a line and enter the next one, BREAK_US. That is of torch, not
 * of the program: measured with 0, 1, 2 and 4 breaks in a function of one thread, 8 to 11 us a break (torch 2.13.0 and 2.15.0, backends
 * eager and inductor, the least of 40 times 300 calls).
 *
 * The order: what ended the program; failures; by level; functions that run in Python for ever, of which every call pays, nobody can say
 * how much; by seconds + ORDER_CALLS calls; by kind; by count; as the log has them. It is total, so that two runs of it agree.
 */
#ifndef PT2_ORDER_H
#define PT2_ORDER_H
#include "run/diagnose/finding.h"

#define BREAK_US 10.0
#define ORDER_CALLS 100000

/* What one guard takes: the least of all compilations of the run, as each was measured once with whatever else the machine did in it. */
double guards_one_us(const struct facts *f);
/* The guards of a compilation, on one call; < 0: the log does not say. */
double guards_call_us(const struct explanation *x, uint32_t compile);
/* Sorts the findings, leaves out those that another one tells, and numbers the views' by it. */
void explain_order(struct explanation *x);

#endif
