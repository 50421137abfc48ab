/* operand.h - how the instruction that crashed made its address: "r12 + 4*rbx", and what the registers held.
 *
 *     struct slice s;
 *     crash_operand(&c, &map, &s);      // in c's arena; empty: not known
 *
 * Of x86-64, with registers and a fault address (a core file), and the bytes of the instruction in a package's library. Only the
 * operand in memory is decoded (ModRM, SIB, displacement; legacy, VEX and EVEX encodings: Intel SDM volume 2, chapter 2), and it is
 * told only when it gives the address at which the access failed, within the 64 bytes that one access can have.
 */
#ifndef PT2_CRASH_OPERAND_H
#define PT2_CRASH_OPERAND_H
#include "crash/crashmap.h"

void crash_operand(struct crash *c, const struct crashmap *map, struct slice *text);

/* ---- for tests ---- */
struct operand {
	int base, index; /* numbers as encoded: 0 rax, 1 rcx, ... 15 r15; -1 none */
	unsigned scale;
	int64_t disp;
	bool disp8_scaled; /* EVEX: disp counts in units that the opcode gives */
};
/* False: no operand in memory, one relative to the instruction or a segment, or not understood. */
FOR_TESTS bool operand_decode(struct slice bytes, struct operand *o);

#endif
