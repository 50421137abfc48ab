/* profile.c - `fxexplain profile`. */
#include "fxexplain.h"

#include "base/diag.h"

int profile_main(const struct explain_options *opt, const struct operands *in)
{
	(void)opt;
	(void)in;
	die(EXIT_ENVIRON, "profile is not there yet");
}
