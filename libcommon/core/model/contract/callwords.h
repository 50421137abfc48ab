/* callwords.h - locates the argument words of a call, by the calling convention of the processor this was compiled for.
 *
 * x86-64 (System V ABI, AMD64 supplement, 3.2.3): six registers for integers and pointers, eight for floats, the rest on the stack.
 * AArch64 (AAPCS64, 6.8.2): eight and eight, and a complex<float> takes two float registers. On both, a stack word is 8 bytes.
 */
#ifndef PT2_CALLWORDS_H
#define PT2_CALLWORDS_H
#include <stddef.h>
#include <stdint.h>

#ifdef PT2_ARCH_aarch64
enum { CALL_INTS = 8, CALL_REALS = 8, CALL_COMPLEX_REALS = 2 };
#else
enum { CALL_INTS = 6, CALL_REALS = 8, CALL_COMPLEX_REALS = 1 };
#endif

/* Word i of a call whose arguments are all integers and pointers. */
static inline uint64_t call_word(const uint64_t *ints, const uint64_t *stack, size_t i)
{
	return i < CALL_INTS ? ints[i] : stack[i - CALL_INTS];
}

#endif
