/* guard_aarch64.c - a fault, as the signal's context has it. */
#include "guard.h"

#include <asm/sigcontext.h>
#include <ucontext.h>

const bool guard_again_works = false;

/* The syndrome (ESR_EL1) is among the records behind the registers. Bit 6 of a data abort: it was a write. */
void guard_context(const void *context, uintptr_t *ip, bool *writes, struct guard_fault *f)
{
	const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;
	*ip = (uintptr_t)m->pc;
	*writes = false;
	for (size_t at = 0; at + sizeof(struct esr_context) <= sizeof(m->__reserved);) {
		const struct _aarch64_ctx *c = (const struct _aarch64_ctx *)(const void *)(m->__reserved + at);
		if (c->magic == ESR_MAGIC)
			*writes = ((const struct esr_context *)(const void *)c)->esr & 1u << 6;
		if (!c->magic || !c->size)
			break;
		at += c->size;
	}
	if (f)
		f->decoded = false;
}
