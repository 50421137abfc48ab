/* object_portable.c - for processors without a trampoline: no slot can hold a stub. */
#include "probe.h"

bool object_fills_slot(uint32_t type, int64_t addend)
{
	(void)type, (void)addend;
	return false;
}
