/* github.c - --github. */
#include "fxexplain.h"

void emit_github(struct buf *b, const struct explanation *x, const struct explain_options *opt)
{
	(void)b, (void)x, (void)opt;
}
