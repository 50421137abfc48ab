/* report.c - `fxexplain report`. */
#include "fxexplain.h"

#include "base/diag.h"

int report_main(const struct explain_options *opt, const struct operands *in)
{
	(void)opt;
	(void)in;
	die(EXIT_ENVIRON, "report is not there yet");
}

void emit_report(struct buf *b, const struct explanation *x, const struct explain_options *opt)
{
	(void)b, (void)x, (void)opt;
}
