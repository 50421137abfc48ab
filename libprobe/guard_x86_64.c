/* guard_x86_64.c - a fault, as the signal's context has it. */
#include "guard.h"

#include <cpuid.h>
#include <ucontext.h>

const bool guard_again_works = true;

/* How many bytes an instruction with a mask reaches over: k registers are component 5 of what XSAVE wrote (Intel SDM volume 1, 13.4 and
 * 13.5.6; struct _fpx_sw_bytes of asm/sigcontext.h says whether it did). */
static void apply_mask(const ucontext_t *u, struct insn *i)
{
	enum { COMPONENT = 5, SW_MAGIC = 464, MAGIC = 0x46505853, XFEATURES = 512 };
	const char *area = (const char *)u->uc_mcontext.fpregs;
	unsigned size = 0, offset = 0, c = 0, d = 0;
	uint32_t magic = 0;
	uint64_t has = 0, mask = 0;
	if (!i->mask || !i->lane || !area)
		return;
	memcpy(&magic, area + SW_MAGIC, sizeof(magic));
	if (magic != MAGIC || !__get_cpuid_count(0xd, COMPONENT, &size, &offset, &c, &d) || !size)
		return;
	memcpy(&has, area + XFEATURES, sizeof(has));
	if (!(has >> COMPONENT & 1))
		return;
	memcpy(&mask, area + offset + 8u * i->mask, sizeof(mask));
	if (i->width / i->lane < 64)
		mask &= (UINT64_C(1) << i->width / i->lane) - 1;
	if (mask)
		i->width = (uint16_t)((64 - __builtin_clzll(mask)) * i->lane);
}

bool guard_step(void *context, bool on)
{
	enum { TRAP = 0x100 }; /* EFLAGS.TF */
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
	*flags = on ? *flags | TRAP : *flags & ~(greg_t)TRAP;
	return true;
}

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
	if (!f)
		return;
	f->decoded = insn_decode((const uint8_t *)*ip, 15, *ip, reg, &f->insn) && f->insn.memory;
	if (f->decoded)
		apply_mask(context, &f->insn);
}
