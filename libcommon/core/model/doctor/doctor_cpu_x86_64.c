#include "model/doctor/doctor_part.h"

#include <cpuid.h>

/* The operating system must save the wide registers, or using them is an illegal instruction anyway. */
static bool state_saved(unsigned state)
{
	static const uint64_t need[] = {0, 0x6, 0xe6, 0x60000, 0x80000};
	unsigned a, b, c, d, lo, hi;
	if (!state)
		return true;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return false;
	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	return (lo & need[state]) == need[state];
}

uint64_t doctor_cpu_isa(void)
{
	uint64_t isa = 0;
#define ISA_PROBE(id, name, leaf, sub, reg, bit, state) \
	{ \
		unsigned a = 0, b = 0, c = 0, d = 0; \
		if (__get_cpuid_count(leaf, sub, &a, &b, &c, &d) && (reg >> bit & 1) && state_saved(state)) \
			isa |= ISA(id); \
		(void)a, (void)b, (void)c, (void)d; \
	}
	ISAS(ISA_PROBE)
#undef ISA_PROBE
	return isa;
}

const char *doctor_cpu_brand(void)
{
	static _Thread_local char brand[49];
	unsigned *r = (unsigned[12]){0};
	for (unsigned i = 0; i < 3; i++)
		if (!__get_cpuid(0x80000002 + i, &r[4 * i], &r[4 * i + 1], &r[4 * i + 2], &r[4 * i + 3]))
			return NULL;
	memcpy(brand, r, 48);
	for (size_t n = strlen(brand); n && brand[n - 1] == ' ';)
		brand[--n] = 0;
	return brand[0] ? brand : NULL;
}
