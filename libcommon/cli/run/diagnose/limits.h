/* limits.h - --max NAME=N of tlparse and fxexplain: counts of a run held against what is wanted. */
#ifndef PT2_LIMITS_H
#define PT2_LIMITS_H
#include "base/tool/opt.h"
#include "run/diagnose/finding.h"

/* Names and numbers of --max: ends with the usage status when one is wrong. */
void limits_check(const struct opt_pairs *max);
/* One line on stderr for each that is passed, with the first places; how many. */
unsigned limits_exceeded(const struct explanation *x, const struct opt_pairs *max);
/* Nothing was compiled in what was read, so that no count is held against a limit: no verdict, and a line on stderr says so. */
bool limits_blind(const struct explanation *x, const struct opt_pairs *max);

#endif
