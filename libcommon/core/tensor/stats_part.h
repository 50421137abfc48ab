/* stats_part.h - what stats.c and its kernels share: one run of elements that lie one behind the other. For stats*.c only.
 *
 * A kernel looks at one block of at most STATS_BLOCK elements, so that its counters may be narrow and a second look at a
 * block that has a NaN finds it in the first-level cache. There is one set of kernels per instruction set (stats_simd.h,
 * stats_plain.c); they give the same counts, and sums that differ only in the order of additions.
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
	STATS_NOTHING, /* no numbers */
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
	/* How many are. */
	void (*count[4])(const void *p, size_t n, struct stats_bad *b);
	/* Adds to s. Returns whether one is NaN or infinite; then s->sum has NaN in it unless `nan` (leave NaN out) was
	 * asked for. min and max leave out NaN in any case. Of integers `nan` is without meaning. */
	bool (*all[STATS_VECTOR_KINDS])(const void *p, size_t n, bool nan, struct stats_sums *s);
};

extern const struct stats_kernels stats_plain;
extern const struct stats_kernels stats_avx2, stats_avx512; /* only with stats_x86_64.c */

/* ---- stats_x86_64.c, stats_portable.c: what depends on the processor ---- */

/* The highest level that it has, and the kernels of a level that it has. */
int stats_best(void);
const struct stats_kernels *stats_kernels_of(int level);
/* The host may treat small numbers as zero, or trap on NaN: neither must reach our arithmetic, nor our flags the host. Between
 * these two, sums are made. */
unsigned stats_enter_float(void);
void stats_leave_float(unsigned was);
/* sqrt(), without libm, which would set errno. Of numbers from 1 to 2. */
double stats_root(double v);

/* ---- */

/* Which are used: 0 plain, 1 AVX2, 2 AVX-512, -1 the best that this machine has (the default). For tests and measurements;
 * false when the machine has not got them. */
FOR_TESTS bool stats_use(int level);

/* The value of an element of these kinds. */
double stats_f16(uint16_t bits);
double stats_bf16(uint16_t bits);
/* The value of an element of a dtype of one byte: integers, bool and the float8 ones. */
double stats_byte(int dtype, uint8_t bits);
double stats_load(enum stats_kind kind, const void *p);

#endif
