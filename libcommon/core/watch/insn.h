/* insn.h - the memory operand of an x86-64 instruction: where it reads or writes, and how many bytes.
 *
 *     struct insn i;
 *     if (insn_decode(bytes, n, ip, reg, &i) && i.memory)
 *         ... i.address, i.width, i.writes, i.text            // "vmovups": 32 bytes to rdi + rax*4
 *
 * For the instruction that faulted: registers as they were before it. reg is in the order of the encoding: rax, rcx, rdx, rbx, rsp,
 * rbp, rsi, rdi, r8 to r15. From the bytes alone, so that a core can be read on any machine. It covers loops over arrays: moves,
 * arithmetic, SSE, AVX, AVX2 and AVX-512 (Intel SDM volume 2: 2.1 instruction format, 2.3 VEX, 2.7 EVEX, disp8*N in table 2-34). False:
 * unknown. What is relative to fs or gs, and lanes of a gather or scatter, have no single address: .memory is false.
 */
#ifndef PT2_WATCH_INSN_H
#define PT2_WATCH_INSN_H
#include "base/base.h"

struct insn {
	bool memory;    /* .address and .width are known */
	bool writes;    /* else it reads */
	bool vector;    /* xmm, ymm, zmm */
	bool lanes;     /* a gather or scatter */
	bool masked;    /* only some of the width: a mask decides */
	uint16_t width; /* bytes */
	uint16_t bits;  /* of the vector register: 128, 256, 512; 0 */
	uint8_t mask;   /* EVEX: the register k1 to k7 that decides; 0: none */
	uint8_t lane;   /* ... over parts of this many bytes; 0: unknown */
	uint64_t address;
	int8_t base, index; /* registers; -1: none */
	uint8_t scale;
	int32_t displacement;
};

bool insn_decode(const uint8_t *p, size_t n, uint64_t ip, const uint64_t reg[16], struct insn *i);
/* "rdi + rax*4 + 32" */
void insn_operand(const struct insn *i, char *text, size_t room);

#endif
