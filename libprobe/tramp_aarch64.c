/* tramp_aarch64.c - intercepts a call of a kernel or op: the model's slot points to a stub, which passes its number to a trampoline.
 *
 * The trampoline is a frame of its own (with unwind tables, so that a C++ exception of the callee passes through it): it saves the
 * argument registers (AAPCS64, 6.8.2: x0 to x7, x8 for a result in memory, q0 to q7), asks probe_before() what to call, copies the
 * arguments on the stack, makes the call, and passes the result to probe_after(); a call that is not requested is only counted. x16 and x17
 * are free between a call and the function that it reaches (6.1.1). Vector registers are saved as far as C functions of numbers and
 * pointers use them: functions that take wider or more of them (Sleef_*) must not be intercepted. */
#include "ops.h"

_Static_assert(offsetof(struct ops_regs, result) == 64 && offsetof(struct ops_regs, site) == 72 && offsetof(struct ops_regs, reals) == 80 &&
		   offsetof(struct ops_regs, second) == 208 && sizeof(struct ops_regs) == 224,
	       "the trampoline depends on this layout");

/* clang-format off */
#define RESTORE \
	"	ldp x0, x1, [x29, #-224]\n" \
	"	ldp x2, x3, [x29, #-208]\n" \
	"	ldp x4, x5, [x29, #-192]\n" \
	"	ldp x6, x7, [x29, #-176]\n" \
	"	ldur x8, [x29, #-160]\n" \
	"	ldp q0, q1, [x29, #-144]\n" \
	"	ldp q2, q3, [x29, #-112]\n" \
	"	ldp q4, q5, [x29, #-80]\n" \
	"	ldp q6, q7, [x29, #-48]\n"
__asm__(".pushsection .text\n"
	".p2align 4\n"
	".globl probe_stubs\n"
	".hidden probe_stubs\n"
	".type probe_stubs, @function\n"
	"probe_stubs:\n"
	"	.cfi_startproc\n"
	"	.set number, 0\n"
	"	.rept " OPS_STRING(OPS_SITES) "\n"
	"	hint #34\n" /* bti c */
	"	movz w16, #number\n"
	"	b probe_trampoline\n"
	"	nop\n" /* each stub has 16 bytes */
	"	.set number, number + 1\n"
	"	.endr\n"
	"	.cfi_endproc\n"
	".size probe_stubs, . - probe_stubs\n"
	".p2align 4\n"
	".type probe_trampoline, @function\n"
	"probe_trampoline:\n"
	"	.cfi_startproc\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 29, -16\n"
	"	.cfi_offset 30, -8\n"
	"	mov x29, sp\n"
	"	.cfi_def_cfa_register 29\n"
	"	sub sp, sp, #224\n"
	"	stp x0, x1, [sp, #0]\n"
	"	stp x2, x3, [sp, #16]\n"
	"	stp x4, x5, [sp, #32]\n"
	"	stp x6, x7, [sp, #48]\n"
	"	str x8, [sp, #64]\n"
	"	str x16, [sp, #72]\n"
	"	stp q0, q1, [sp, #80]\n"
	"	stp q2, q3, [sp, #112]\n"
	"	stp q4, q5, [sp, #144]\n"
	"	stp q6, q7, [sp, #176]\n"
	"	mov x0, sp\n"
	"	add x1, x29, #16\n"
	"	bl probe_before\n"
	"	cbz x0, 3f\n"
	"	mov x16, x0\n"
	"	ldr x9, [sp, #72]\n" /* regs.open: the call is to be examined */
	"	cbz x9, 5f\n"
	"	add x10, x1, #1\n" /* an even number of words keeps the stack aligned */
	"	and x10, x10, #-2\n"
	"	sub sp, sp, x10, lsl #3\n"
	"	add x11, x29, #16\n"
	"1:	subs x1, x1, #1\n"
	"	b.lo 2f\n"
	"	ldr x9, [x11, x1, lsl #3]\n"
	"	str x9, [sp, x1, lsl #3]\n"
	"	b 1b\n"
	"2:\n" RESTORE
	"	blr x16\n"
	"	sub sp, x29, #224\n"
	"	str x0, [sp, #64]\n"
	"	str x1, [sp, #208]\n"
	"	stp q0, q1, [sp, #80]\n"
	"	stp q2, q3, [sp, #112]\n"
	"	mov x0, sp\n"
	"	bl probe_after\n"
	"	ldr x0, [sp, #64]\n"
	"	ldr x1, [sp, #208]\n"
	"	ldp q0, q1, [sp, #80]\n"
	"	ldp q2, q3, [sp, #112]\n"
	"	b 4f\n"
	"3:	mov x0, x1\n" /* not to be called: what it returns */
	"4:	mov sp, x29\n"
	"	.cfi_remember_state\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	.cfi_def_cfa 31, 0\n"
	"	ret\n"
	"	.cfi_restore_state\n"
	"5:\n" RESTORE /* nothing to do: the function returns directly to the model */
	"	mov sp, x29\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	.cfi_def_cfa 31, 0\n"
	"	br x16\n"
	"	.cfi_endproc\n"
	".size probe_trampoline, . - probe_trampoline\n"
	".popsection\n");
/* clang-format on */
extern const char probe_stubs[];

void *ops_stub(uint32_t site) { return (void *)(uintptr_t)(probe_stubs + (size_t)site * 16); }
