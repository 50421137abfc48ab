/* The prober's machine code. A stub of a function that the model calls:
 *
 *	bti c; movz w17, #number; movk w17, #number >> 16, lsl 16; ldr x16, 1f; br x16; nop; 1: .quad binprobe_stub_entry
 *
 * x16 and x17 are free between a call and the function called (AAPCS64, 6.1.1). The entry saves the registers that arguments
 * may be in (6.8.2) and calls binprobe_stub_called(). */
#include "model/binprobe/binprobe_child.h"

#include <elf.h>

const bool binprobe_can_run = true;
const uint16_t binprobe_machine = EM_AARCH64;

/* ELF for the Arm 64-bit Architecture (AAELF64), 5.7.11: slots have an addend, too. */
enum relocation binprobe_relocation(uint32_t type)
{
	switch (type) {
	case R_AARCH64_NONE:
	case 256: return RELOCATION_NONE; /* the first drafts' R_AARCH64_NONE */
	case R_AARCH64_RELATIVE: return RELOCATION_RELATIVE;
	case R_AARCH64_ABS64:
	case R_AARCH64_GLOB_DAT:
	case R_AARCH64_JUMP_SLOT: return RELOCATION_ADDEND;
	case R_AARCH64_IRELATIVE: return RELOCATION_INDIRECT;
	case R_AARCH64_TLS_DTPMOD: return RELOCATION_TLS_MODULE;
	case R_AARCH64_TLS_DTPREL: return RELOCATION_TLS_OFFSET;
	case R_AARCH64_TLS_TPREL: return RELOCATION_TLS_FROM_THREAD;
	case R_AARCH64_TLSDESC: return RELOCATION_TLS_DESCRIPTOR;
	default: return RELOCATION_UNKNOWN;
	}
}

/* The function of a TLS descriptor: x0 points to the descriptor, whose second word is the offset; it must change no other register. */
__asm__(".pushsection .text\n"
	".p2align 2\n"
	".globl binprobe_tls_descriptor\n"
	".hidden binprobe_tls_descriptor\n"
	".type binprobe_tls_descriptor, @function\n"
	"binprobe_tls_descriptor:\n"
	"	hint #34\n" /* bti c */
	"	ldr x0, [x0, #8]\n"
	"	ret\n"
	".size binprobe_tls_descriptor, . - binprobe_tls_descriptor\n"
	".popsection\n");

uint64_t binprobe_thread_pointer(void) { return (uint64_t)(uintptr_t)__builtin_thread_pointer(); }

/* clang-format off */
__asm__(".pushsection .text\n"
	".p2align 2\n"
	".globl binprobe_stub_entry\n"
	".hidden binprobe_stub_entry\n"
	".type binprobe_stub_entry, @function\n"
	"binprobe_stub_entry:\n"
	"	.cfi_startproc\n"
	"	hint #34\n" /* bti c */
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 29, -16\n"
	"	.cfi_offset 30, -8\n"
	"	mov x29, sp\n"
	"	.cfi_def_cfa_register 29\n"
	"	sub sp, sp, #192\n"
	"	stp x0, x1, [sp, #0]\n"
	"	stp x2, x3, [sp, #16]\n"
	"	stp x4, x5, [sp, #32]\n"
	"	stp x6, x7, [sp, #48]\n"
	"	stp q0, q1, [sp, #64]\n"
	"	stp q2, q3, [sp, #96]\n"
	"	stp q4, q5, [sp, #128]\n"
	"	stp q6, q7, [sp, #160]\n"
	"	mov w0, w17\n"
	"	mov x1, sp\n"
	"	add x2, x29, #16\n" /* the word before it is the return address */
	"	bl binprobe_stub_called\n"
	"	mov sp, x29\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	.cfi_def_cfa 31, 0\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size binprobe_stub_entry, . - binprobe_stub_entry\n"
	".popsection\n");
/* clang-format on */
void binprobe_stub_entry(void);

void binprobe_write_stub(uint8_t *code, uint32_t number)
{
	const uint64_t entry = (uint64_t)(uintptr_t)binprobe_stub_entry;
	const uint32_t word[] = {0xd503245f,                          /* bti c */
				 0x52800011 | (number & 0xffff) << 5, /* movz w17 */
				 0x72a00011 | (number >> 16) << 5,    /* movk w17, lsl 16 */
				 0x58000070,                          /* ldr x16, 12 bytes from here */
				 0xd61f0200,                          /* br x16 */
				 0xd503201f};                         /* nop */
	memcpy(code, word, sizeof(word));
	memcpy(code + sizeof(word), &entry, 8);
	__builtin___clear_cache((char *)code, (char *)code + BINPROBE_STUB_BYTES);
}

bool binprobe_patch(uint8_t *entry, const void *stub)
{
	const int64_t distance = (const uint8_t *)stub - entry, reach = INT64_C(1) << 27;
	if (!stub || distance < -reach || distance >= reach || distance % 4)
		return false;
	const uint32_t b = 0x14000000 | ((uint32_t)(distance / 4) & 0x03ffffff);
	memcpy(entry, &b, 4);
	__builtin___clear_cache((char *)entry, (char *)entry + 4);
	return true;
}
