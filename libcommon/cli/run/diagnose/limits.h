/* limits.h - --max NAME=N of tlparse and fxexplain: counts of a run checked against their limits. */
#ifndef PT2_LIMITS_H
#define PT2_LIMITS_H
#include "base/tool/opt.h"
#include "run/diagnose/finding.h"

/* Names and numbers of --max: ends with the usage status when one is wrong. */
void limits_check(const struct opt_pairs *max);
/* -1 and err instead. */
int limits_valid(const struct opt_pairs *max, struct err *err);
/* One line on stderr for each limit exceeded, with the first places; returns how many. */
unsigned limits_exceeded(const struct explanation *x, const struct opt_pairs *max);
/* Nothing was compiled in what was read, so no limit can be checked: no verdict, and a line on stderr says so. */
bool limits_blind(const struct explanation *x, const struct opt_pairs *max);

#endif
