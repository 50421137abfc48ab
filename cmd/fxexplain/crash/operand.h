/* operand.h - how the crashed instruction computed its address: "r12 + 4*rbx", and what the registers held.
 *
 *     struct slice s;
 *     crash_operand(&c, &map, &s);      // in c's arena; empty if unknown
 *
 * x86-64 only; needs registers and a fault address (a core file), and the instruction's bytes in a package's library. Only the memory
 * operand is decoded (ModRM, SIB, displacement; legacy, VEX and EVEX encodings: Intel SDM volume 2, chapter 2), and it is only
 * reported if it gives the faulting address, within the 64 bytes that one access can span.
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
	bool disp8_scaled; /* EVEX: disp is scaled by the opcode */
};
/* False: no memory operand, one relative to the instruction or a segment, or not understood. */
FOR_TESTS bool operand_decode(struct slice bytes, struct operand *o);

#endif
