/* inlined.h - where the code at an address was inlined into: by DWARF, from the inside out.
 *
 *     struct inlined_place v[INLINED_MAX];
 *     size_t n = inlined_at(so_bytes, 0x3ceb0, v, &arena);     // v[0]: the line in the function that was inlined innermost's caller
 *
 * A vector load of a generated kernel lies in avxintrin.h by its line; what one looks for is the kernel's own line that it came
 * from, which is the place of a call in the chain of DW_TAG_inlined_subroutine around the address (DW_AT_call_file,
 * DW_AT_call_line: there with -g1, too). The rows themselves are modelso_line()'s.
 *
 * Untrusted: entries are walked without recursion, and at most INLINED_VISITS of them. Nothing fails: 0 is "not known".
 */
#ifndef PT2_CRASH_INLINED_H
#define PT2_CRASH_INLINED_H
#include "base/arena.h"

#define INLINED_MAX 64
#define INLINED_VISITS 2000000

struct inlined_place {
	struct slice file; /* its last component */
	uint32_t line;
};
size_t inlined_at(struct slice elf, uint64_t address, struct inlined_place v[INLINED_MAX], struct arena *a);

#endif
