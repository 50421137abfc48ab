/* object_x86_64.c - which relocations fill a slot with a function's address. */
#include "probe.h"

bool object_fills_slot(uint32_t type, int64_t addend)
{
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || (type == R_X86_64_64 && !addend);
}
