/* guard_x86_64.c - a fault, as the signal's context has it. */
#include "guard.h"

#include <ucontext.h>

const bool guard_again_works = true;

void guard_context(const void *context, uintptr_t *ip, bool *writes, struct guard_fault *f)
{
	const greg_t *g = ((const ucontext_t *)context)->uc_mcontext.gregs;
	static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
				      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
	uint64_t reg[16];
	for (int i = 0; i < 16; i++)
		reg[i] = (uint64_t)g[order[i]];
	*ip = (uintptr_t)g[REG_RIP];
	*writes = g[REG_ERR] & 2; /* of the page fault's error code */
	if (f)
		f->decoded = insn_decode((const uint8_t *)*ip, 15, *ip, reg, &f->insn) && f->insn.memory;
}
