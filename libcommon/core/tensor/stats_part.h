/* stats_part.h - shared by stats.c and its kernels: one run of contiguous elements. For stats*.c only.
 *
 * A kernel processes one block of at most STATS_BLOCK elements, so that its counters may be narrow and a second pass over a block with a
 * NaN hits the first-level cache. There is one set of kernels per instruction set (stats_simd.h, stats_plain.c); they give the same counts,
 * and sums that differ only in the order of additions.
 */
#ifndef PT2_STATS_PART_H
#define PT2_STATS_PART_H
#include "tensor/stats.h"

#define STATS_BLOCK 4096

enum stats_kind {
	STATS_F16,
	STATS_BF16,
	STATS_F32,
	STATS_F64,
	STATS_I16,
	STATS_U16,
	STATS_I32,
	STATS_U32,
	STATS_I64,
	STATS_U64,
	STATS_BYTE,    /* of one byte: counted by value, see stats_byte */
	STATS_COMPLEX, /* pairs */
	STATS_NOTHING, /* non-numeric */
};
#define STATS_VECTOR_KINDS STATS_BYTE

struct stats_bad {
	uint32_t nan, pos, neg;
};
struct stats_sums {
	uint64_t zero;
	double min, max, sum;
};

struct stats_kernels {
	/* Is any of n elements (<= STATS_BLOCK) NaN or infinite? */
	bool (*bad[4])(const void *p, size_t n);
	/* How many are NaN or infinite. */
	void (*count[4])(const void *p, size_t n, struct stats_bad *b);
	/* Adds to s. Returns whether any is NaN or infinite; s->sum is then NaN unless `nan` (leave NaN out) is set. min and max always
	 * leave out NaN. For integers, `nan` has no meaning. */
	bool (*all[STATS_VECTOR_KINDS])(const void *p, size_t n, bool nan, struct stats_sums *s);
};

extern const struct stats_kernels stats_plain;
extern const struct stats_kernels stats_avx2, stats_avx512; /* only with stats_x86_64.c */

/* ---- stats_x86_64.c, stats_portable.c: processor-specific code ---- */

/* The highest supported level, and the kernels of a supported level. */
int stats_best(void);
const struct stats_kernels *stats_kernels_of(int level);
/* The host may treat small numbers as zero, or trap on NaN: this must not affect our arithmetic, nor our flags the host. Compute sums
 * between these two calls. */
unsigned stats_enter_float(void);
void stats_leave_float(unsigned was);
/* sqrt(), without libm, which would set errno. For numbers from 1 to 2. */
double stats_root(double v);

/* ---- */

/* Selects the kernels: 0 plain, 1 AVX2, 2 AVX-512, -1 the best this machine supports (the default). For tests and benchmarks; false if the
 * machine does not support them. */
FOR_TESTS bool stats_use(int level);

/* The value of an element of these kinds. */
double stats_f16(uint16_t bits);
double stats_bf16(uint16_t bits);
/* The value of an element of a one-byte dtype: integers, bool and the float8 ones. */
double stats_byte(int dtype, uint8_t bits);
double stats_load(enum stats_kind kind, const void *p);

#endif
