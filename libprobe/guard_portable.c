/* guard_portable.c - for other processors, whose kernels are not watched anyway (tramp_portable.c). */
#include "guard.h"

const bool guard_again_works = false;

bool guard_step(void *context, bool on)
{
	(void)context;
	(void)on;
	return false;
}

void guard_context(const void *context, uintptr_t *ip, bool *writes, struct guard_fault *f)
{
	(void)context;
	*ip = 0;
	*writes = false;
	if (f)
		f->decoded = false;
}
