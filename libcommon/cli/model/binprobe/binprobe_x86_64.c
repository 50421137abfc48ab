/* The prober's machine code. A stub of a function that the model calls:
 *
 *	mov $number, %r11d; movabs $binprobe_stub_entry, %r10; jmp *%r10
 *
 * The entry saves the registers that arguments may be in (System V ABI, AMD64 supplement, 3.2.3) and calls binprobe_stub_called(). */
#include "model/binprobe/binprobe_child.h"

#include <elf.h>

const bool binprobe_can_run = true;
const uint16_t binprobe_machine = EM_X86_64;

enum relocation binprobe_relocation(uint32_t type)
{
	switch (type) {
	case R_X86_64_NONE: return RELOCATION_NONE;
	case R_X86_64_RELATIVE: return RELOCATION_RELATIVE;
	case R_X86_64_64: return RELOCATION_ADDEND;
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT: return RELOCATION_SLOT;
	case R_X86_64_IRELATIVE: return RELOCATION_INDIRECT;
	case R_X86_64_DTPMOD64: return RELOCATION_TLS_MODULE;
	case R_X86_64_DTPOFF64: return RELOCATION_TLS_OFFSET;
	case R_X86_64_TPOFF64: return RELOCATION_TLS_FROM_THREAD;
	case R_X86_64_TLSDESC: return RELOCATION_TLS_DESCRIPTOR;
	default: return RELOCATION_UNKNOWN;
	}
}

/* The function of a TLS descriptor: %rax points to the descriptor, whose second word is the offset. */
__asm__(".pushsection .text\n"
	".globl binprobe_tls_descriptor\n"
	".hidden binprobe_tls_descriptor\n"
	".type binprobe_tls_descriptor, @function\n"
	"binprobe_tls_descriptor:\n"
	"	movq 8(%rax), %rax\n"
	"	ret\n"
	".size binprobe_tls_descriptor, . - binprobe_tls_descriptor\n"
	".popsection\n");

uint64_t binprobe_thread_pointer(void)
{
	uint64_t tp;
	__asm__("movq %%fs:0, %0" : "=r"(tp));
	return tp;
}

/* clang-format off */
__asm__(".pushsection .text\n"
	".globl binprobe_stub_entry\n"
	".hidden binprobe_stub_entry\n"
	".type binprobe_stub_entry, @function\n"
	"binprobe_stub_entry:\n"
	"	.cfi_startproc\n"
	"	pushq %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 6, -16\n"
	"	movq %rsp, %rbp\n"
	"	.cfi_def_cfa_register 6\n"
	"	subq $176, %rsp\n"
	"	movq %rdi, 0(%rsp)\n"
	"	movq %rsi, 8(%rsp)\n"
	"	movq %rdx, 16(%rsp)\n"
	"	movq %rcx, 24(%rsp)\n"
	"	movq %r8, 32(%rsp)\n"
	"	movq %r9, 40(%rsp)\n"
	"	movups %xmm0, 48(%rsp)\n"
	"	movups %xmm1, 64(%rsp)\n"
	"	movups %xmm2, 80(%rsp)\n"
	"	movups %xmm3, 96(%rsp)\n"
	"	movups %xmm4, 112(%rsp)\n"
	"	movups %xmm5, 128(%rsp)\n"
	"	movups %xmm6, 144(%rsp)\n"
	"	movups %xmm7, 160(%rsp)\n"
	"	movl %r11d, %edi\n"
	"	movq %rsp, %rsi\n"
	"	leaq 16(%rbp), %rdx\n"
	"	call binprobe_stub_called\n"
	"	leave\n"
	"	.cfi_def_cfa 7, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size binprobe_stub_entry, . - binprobe_stub_entry\n"
	".popsection\n");
/* clang-format on */
void binprobe_stub_entry(void);

void binprobe_write_stub(uint8_t *code, uint32_t number)
{
	uint64_t entry = (uint64_t)(uintptr_t)binprobe_stub_entry;
	memcpy(code, "\x41\xbb", 2);
	memcpy(code + 2, &number, 4);
	memcpy(code + 6, "\x49\xba", 2);
	memcpy(code + 8, &entry, 8);
	memcpy(code + 16, "\x41\xff\xe2", 3);
}

bool binprobe_patch(uint8_t *entry, const void *stub)
{
	int64_t distance = (const uint8_t *)stub - (entry + 5);
	int32_t near = (int32_t)distance;
	if (!stub || near != distance)
		return false;
	entry[0] = 0xe9;
	memcpy(entry + 1, &near, 4);
	return true;
}
