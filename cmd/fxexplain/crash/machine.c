#include "crash/machine.h"

#include <elf.h>
#include <signal.h>

#include "crash/core.h"
#include "run/text.h"

enum { LONGEST = 15 };

/* ---- glibc's last words ---- */

void machine_abort_message(struct crash *c, struct slice core)
{
	const struct slice said = c->signal == SIGABRT && !c->what.n ? core_abort_message(core) : (struct slice){0};
	if (!said.n)
		return;
	c->what = arena_slice(&c->arena, said);
	if (text_heap_message(said).n)
		c->signs |= SIGN_HEAP;
	else if (slice_find(said, "Assertion"))
		c->signs |= SIGN_ASSERT;
}

/* ---- the instruction ---- */

/* Up to LONGEST bytes of an ELF file at an address. */
static struct slice code_at(struct slice so, uint64_t address)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	if (so.n < sizeof(eh))
		return (struct slice){0};
	memcpy(&eh, so.p, sizeof(eh));
	for (unsigned i = 0; i < eh.e_phnum && eh.e_phentsize == sizeof(ph); i++) {
		const uint64_t at = eh.e_phoff + (uint64_t)i * sizeof(ph);
		if (at > so.n || so.n - at < sizeof(ph))
			break;
		memcpy(&ph, so.p + at, sizeof(ph));
		if (ph.p_type != PT_LOAD || address < ph.p_vaddr || address - ph.p_vaddr >= ph.p_filesz)
			continue;
		const uint64_t offset = ph.p_offset + (address - ph.p_vaddr);
		if (offset >= so.n)
			break;
		return slice_of(so.p + offset, so.n - offset < LONGEST ? (size_t)(so.n - offset) : LONGEST);
	}
	return (struct slice){0};
}

bool machine_instruction(const struct crash *c, const struct crashmap *map, struct insn *i)
{
	static const uint8_t order[16] = {10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0}; /* as a core has them */
	const struct crash_stack *s = crash_main_stack(c);
	const struct crash_place *p = s && s->n ? &map->place[s->first] : NULL;
	uint64_t reg[16];
	if (!c->from_core || c->machine != EM_X86_64 || !c->reg.n || !p || !p->library || !p->has_address || !c->frame[s->first].exact)
		return false;
	for (int r = 0; r < 16; r++)
		reg[r] = c->reg.value[order[r]];
	const struct slice code = code_at(p->library->so_bytes, p->address);
	return code.n && insn_decode((const uint8_t *)code.p, code.n, c->ip, reg, i) && i->memory;
}
