/* guard_aarch64.c - a fault, as the signal's context has it. */
#include "guard.h"

#include <asm/sigcontext.h>
#include <ucontext.h>

const bool guard_again_works = false;

/* Is it a store? Where the context does not tell (qemu-user 7.2). Arm ARM (DDI 0487), C4.1, "Loads and Stores" and "SVE encodings": bit 22
 * is set in a load, except for signed loads of general registers. */
static bool is_store(uint32_t code)
{
	const bool vector = code >> 26 & 1;
	if ((code >> 25 & 0xf) == 2) /* SVE: bits 31 to 29 */
		return code >> 29 == 7;
	if ((code >> 27 & 1) == 0 || code >> 25 & 1)
		return false;
	if ((code >> 27 & 7) == 7 && !vector)
		return !(code >> 22 & 3);
	return !(code >> 22 & 1);
}

bool guard_step(void *context, bool on)
{
	(void)context;
	(void)on;
	return false;
}

/* The syndrome (ESR_EL1) is among the records behind the registers. Bit 6 of a data abort: it was a write. */
void guard_context(const void *context, uintptr_t *ip, bool *writes, struct guard_fault *f)
{
	const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;
	bool told = false;
	*ip = (uintptr_t)m->pc;
	*writes = false;
	for (size_t at = 0; at + sizeof(struct esr_context) <= sizeof(m->__reserved);) {
		const struct _aarch64_ctx *c = (const struct _aarch64_ctx *)(const void *)(m->__reserved + at);
		if (c->magic == ESR_MAGIC) {
			told = true;
			*writes = ((const struct esr_context *)(const void *)c)->esr & 1u << 6;
		}
		if (!c->magic || !c->size)
			break;
		at += c->size;
	}
	if (!told && !(*ip & 3) && (uintptr_t)m->fault_address != *ip)
		*writes = is_store(*(const uint32_t *)*ip);
	if (f)
		f->decoded = false;
}
