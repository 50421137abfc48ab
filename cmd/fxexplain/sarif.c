/* sarif.c - --sarif. */
#include "fxexplain.h"

void emit_sarif(struct buf *b, const struct explanation *x, const struct explain_options *opt)
{
	(void)b, (void)x, (void)opt;
}
