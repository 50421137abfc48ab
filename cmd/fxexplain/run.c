/* run.c - `fxexplain run`. */
#include "fxexplain.h"

#include "base/diag.h"

int run_main(const struct explain_options *opt, const struct operands *in)
{
	(void)opt;
	(void)in;
	die(EXIT_ENVIRON, "run is not there yet");
}
