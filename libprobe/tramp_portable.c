/* tramp_portable.c - for processors without a trampoline: kernels and ops are not watched (sites.c reports it), but runs are. */
#include "ops.h"

void *ops_stub(uint32_t site)
{
	(void)site;
	return NULL;
}
