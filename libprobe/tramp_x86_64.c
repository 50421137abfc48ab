/* tramp_x86_64.c - intercepts a call of a kernel or op: the model's slot points to a stub, which passes its number to a trampoline.
 *
 * The trampoline is a frame of its own (with unwind tables, so that a C++ exception of the callee passes through it): it saves the
 * argument registers, asks probe_before() what to call, copies the arguments on the stack, makes the call, and passes the result to
 * probe_after(); a call that is not requested is only counted. Vector registers are saved as far as C functions of numbers and pointers
 * use them: functions that take wider ones (Sleef_*) must not be intercepted. */
#include "ops.h"

_Static_assert(offsetof(struct ops_regs, result) == 48 && offsetof(struct ops_regs, site) == 56 && offsetof(struct ops_regs, reals) == 64 &&
		   offsetof(struct ops_regs, second) == 192 && sizeof(struct ops_regs) == 208,
	       "the trampoline depends on this layout");

/* clang-format off */
#define RESTORE \
	"	movq -208(%rbp), %rdi\n" \
	"	movq -200(%rbp), %rsi\n" \
	"	movq -192(%rbp), %rdx\n" \
	"	movq -184(%rbp), %rcx\n" \
	"	movq -176(%rbp), %r8\n" \
	"	movq -168(%rbp), %r9\n" \
	"	movq -160(%rbp), %rax\n" \
	"	movups -144(%rbp), %xmm0\n" \
	"	movups -128(%rbp), %xmm1\n" \
	"	movups -112(%rbp), %xmm2\n" \
	"	movups -96(%rbp), %xmm3\n" \
	"	movups -80(%rbp), %xmm4\n" \
	"	movups -64(%rbp), %xmm5\n" \
	"	movups -48(%rbp), %xmm6\n" \
	"	movups -32(%rbp), %xmm7\n"
__asm__(".pushsection .text\n"
	".p2align 4\n"
	".globl probe_stubs\n"
	".hidden probe_stubs\n"
	".type probe_stubs, @function\n"
	"probe_stubs:\n"
	"	.cfi_startproc\n"
	"	.set number, 0\n"
	"	.rept " OPS_STRING(OPS_SITES) "\n"
	"	endbr64\n"
	"	movl $number, %r11d\n"
	"	.byte 0xe9\n" /* jmp, always with four bytes: each stub has 15 */
	"	.long probe_trampoline - . - 4\n"
	"	nop\n"
	"	.set number, number + 1\n"
	"	.endr\n"
	"	.cfi_endproc\n"
	".size probe_stubs, . - probe_stubs\n"
	".p2align 4\n"
	".type probe_trampoline, @function\n"
	"probe_trampoline:\n"
	"	.cfi_startproc\n"
	"	pushq %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 6, -16\n"
	"	movq %rsp, %rbp\n"
	"	.cfi_def_cfa_register 6\n"
	"	subq $208, %rsp\n"
	"	movq %rdi, 0(%rsp)\n"
	"	movq %rsi, 8(%rsp)\n"
	"	movq %rdx, 16(%rsp)\n"
	"	movq %rcx, 24(%rsp)\n"
	"	movq %r8, 32(%rsp)\n"
	"	movq %r9, 40(%rsp)\n"
	"	movq %rax, 48(%rsp)\n"
	"	movq %r11, 56(%rsp)\n"
	"	movups %xmm0, 64(%rsp)\n"
	"	movups %xmm1, 80(%rsp)\n"
	"	movups %xmm2, 96(%rsp)\n"
	"	movups %xmm3, 112(%rsp)\n"
	"	movups %xmm4, 128(%rsp)\n"
	"	movups %xmm5, 144(%rsp)\n"
	"	movups %xmm6, 160(%rsp)\n"
	"	movups %xmm7, 176(%rsp)\n"
	"	movq %rsp, %rdi\n"
	"	leaq 16(%rbp), %rsi\n"
	"	call probe_before\n"
	"	testq %rax, %rax\n"
	"	jz 3f\n"
	"	movq %rax, %r11\n"
	"	cmpq $0, 56(%rsp)\n" /* regs.open: the call is to be examined */
	"	je 5f\n"
	"6:	leaq 1(%rdx), %rcx\n" /* an even number of words keeps the stack aligned */
	"	andq $-2, %rcx\n"
	"	shlq $3, %rcx\n"
	"	subq %rcx, %rsp\n"
	"1:	subq $1, %rdx\n"
	"	jc 2f\n"
	"	movq 16(%rbp,%rdx,8), %rax\n"
	"	movq %rax, (%rsp,%rdx,8)\n"
	"	jmp 1b\n"
	"2:\n" RESTORE
	"	call *%r11\n"
	"	leaq -208(%rbp), %rsp\n"
	"	movq %rax, 48(%rsp)\n"
	"	movq %rdx, 192(%rsp)\n"
	"	movups %xmm0, 64(%rsp)\n"
	"	movups %xmm1, 80(%rsp)\n"
	"	movq %rsp, %rdi\n"
	"	call probe_after\n"
	"	movq %rax, %r11\n"
	"	testq %rax, %rax\n" /* once more, with other arguments (guard.h) */
	"	jnz 6b\n"
	"	movq 48(%rsp), %rax\n"
	"	movq 192(%rsp), %rdx\n"
	"	movups 64(%rsp), %xmm0\n"
	"	movups 80(%rsp), %xmm1\n"
	"	jmp 4f\n"
	"3:	movq %rdx, %rax\n" /* not to be called: what it returns */
	"4:	leave\n"
	"	.cfi_remember_state\n"
	"	.cfi_def_cfa 7, 8\n"
	"	ret\n"
	"	.cfi_restore_state\n"
	"5:\n" RESTORE /* nothing to do: the function returns directly to the model */
	"	leave\n"
	"	.cfi_def_cfa 7, 8\n"
	"	jmp *%r11\n"
	"	.cfi_endproc\n"
	".size probe_trampoline, . - probe_trampoline\n"
	".popsection\n");
/* clang-format on */
extern const char probe_stubs[];

void *ops_stub(uint32_t site) { return (void *)(uintptr_t)(probe_stubs + (size_t)site * 16); }
