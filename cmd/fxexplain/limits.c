/* limits.c - --max and --baseline. */
#include "fxexplain.h"

void limits_check(const struct opt_pairs *max) { (void)max; }
unsigned limits_exceeded(const struct explanation *x, const struct explain_options *opt)
{
	(void)x, (void)opt;
	return 0;
}
int baseline_compare(const struct explanation *x, const struct explain_options *opt, unsigned *worse, struct err *err)
{
	(void)x, (void)opt, (void)worse, (void)err;
	return 0;
}
