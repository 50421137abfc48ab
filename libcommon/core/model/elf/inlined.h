/* inlined.h - where the code at an address was inlined: from DWARF, innermost first.
 *
 *     struct inlined_place v[INLINED_MAX];
 *     size_t n = inlined_at(so_bytes, 0x3ceb0, v, &arena);     // v[0]: the line in the caller of the innermost inlined function
 *
 * The line of a vector load in a generated kernel is in avxintrin.h; the interesting line is the one in the kernel that it came from: the
 * call site in the chain of DW_TAG_inlined_subroutine around the address (DW_AT_call_file, DW_AT_call_line: present even with -g1). The
 * line table itself is read by modelso_line().
 *
 * Untrusted: entries are walked without recursion, and at most INLINED_VISITS of them. Never fails: 0 means unknown.
 */
#ifndef PT2_MODELSO_INLINED_H
#define PT2_MODELSO_INLINED_H
#include "base/arena.h"

#define INLINED_MAX 64
#define INLINED_VISITS 2000000

struct inlined_place {
	struct slice file; /* its last component */
	uint32_t line;
};
size_t inlined_at(struct slice elf, uint64_t address, struct inlined_place v[INLINED_MAX], struct arena *a);

#endif
