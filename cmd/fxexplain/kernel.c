/* kernel.c - `fxexplain kernel`. */
#include "fxexplain.h"

#include "base/diag.h"

int kernel_main(const struct explain_options *opt, const struct operands *in)
{
	(void)opt;
	(void)in;
	die(EXIT_ENVIRON, "kernel is not there yet");
}
