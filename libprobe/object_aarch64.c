/* object_aarch64.c - which relocations fill a slot with a function's address. */
#include "probe.h"

bool object_fills_slot(uint32_t type, int64_t addend)
{
	return (type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64) && !addend;
}
