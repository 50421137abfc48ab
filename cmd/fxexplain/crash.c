/* crash.c - `fxexplain crash`. */
#include "fxexplain.h"

#include "base/diag.h"

int crash_main(const struct explain_options *opt, const struct operands *in)
{
	(void)opt;
	(void)in;
	die(EXIT_ENVIRON, "crash is not there yet");
}
