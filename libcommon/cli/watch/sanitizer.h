/* sanitizer.h - reads what NVIDIA's compute-sanitizer (memcheck) wrote of a run: which thread of which kernel accessed which address.
 *
 *     struct sanitizer s = {0};
 *     sanitizer_read(&s, text);                   // may be called for several files
 *     s.v[i].kernel, .address, .thread, .times ...
 *     sanitizer_release(&s);
 *
 * The forms of a report (its manual, and reports in public issues of 2022 to 2026), each line behind "========= ":
 *
 *     Invalid __global__ write of size 4 bytes
 *         at KERNEL+0xec0 in FILE:LINE               also: at 0xec0 in FILE:LINE:KERNEL, at 0xec0 in KERNEL(ARGUMENTS)
 *         by thread (18,0,0) in block (0,0,0)
 *         Access to 0x74505bcccca0 is out of bounds  also: Access at, Address; is misaligned
 *         and is 161 bytes after the nearest allocation at 0x74505bccc800 of size 1,024 bytes      also: before, inside
 *
 * The same access of other threads is one error. What is not understood is left out. Text is untrusted.
 */
#ifndef PT2_LIVE_SANITIZER_H
#define PT2_LIVE_SANITIZER_H
#include "base/arena.h"
#include "base/base.h"

enum { SANITIZER_MOST = 256 }; /* errors kept */

struct sanitizer_error {
	struct slice what;     /* "Invalid __global__ write" */
	struct slice kernel;   /* without arguments; empty: unknown */
	struct slice file;     /* of its source; empty */
	struct slice relation; /* to the nearest allocation: "after", "before", "inside"; empty */
	bool writes, has_address, misaligned;
	uint32_t line;
	uint64_t bytes, address, offset; /* offset: of the instruction */
	uint64_t thread[3], block[3];
	uint64_t distance, base, allocation; /* allocation 0: unknown */
	uint64_t times;
};

struct sanitizer {
	struct sanitizer_error *v;
	size_t n, cap;
	uint64_t left_out; /* more than SANITIZER_MOST */
	struct arena arena;
};

void sanitizer_read(struct sanitizer *s, struct slice text);
void sanitizer_release(struct sanitizer *s);
/* Is this the kernel of that name? Triton of 2022 and 2023 appended what it was specialised for ("_0d1d2d3"). */
bool sanitizer_is_kernel(struct slice symbol, struct slice kernel);

#endif
