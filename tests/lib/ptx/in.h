/* in.h - what the parts of the PTX interpreter share (../ptx.h says what it is).
 *
 *     read.c      text -> modules, kernels, symbols          decode.c   one instruction -> struct ptx_op
 *     forms.c     which instructions there are               int.c, float.c, cvt.c, mem.c   what they do, for a warp
 *     run.c       grids, warps, branches, barriers           warp.c     exchanges between threads of a warp
 *
 * Every operand is a register: constants and special registers are, too, with values of their own. A register has 64 bits for each of
 * the 32 threads of a warp; those above its type are 0.
 */
#ifndef PT2_PTX_IN_H
#define PT2_PTX_IN_H
#include "../ptx.h"

enum { LANES = 32, MAX_OPERANDS = 12, NO_REG = UINT32_MAX };

enum ptx_type { NONE, U8, U16, U32, U64, S8, S16, S32, S64, B8, B16, B32, B64, F16, BF16, F32, F64, F16X2, BF16X2, F32X2, PRED, N_TYPES };

enum ptx_space { GENERIC, GLOBAL, SHARED, LOCAL, PARAM };

/* Generic addresses of shared and local memory. No device has memory there. */
#define SHARED_WINDOW 0x100000000ull
#define LOCAL_WINDOW 0x200000000ull
#define WINDOW_BYTES 0x1000000ull

enum ptx_rounding { RN, RZ, RM, RP };
/* What setp asks for, as a set. */
enum { REL_LT = 1, REL_EQ = 2, REL_GT = 4, REL_UN = 8 };
enum { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };
/* Operations of atom, red and redux, of shfl, vote, match. */
enum { DO_ADD, DO_MIN, DO_MAX, DO_AND, DO_OR, DO_XOR, DO_EXCH, DO_CAS, DO_INC, DO_DEC };
enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
enum { VOTE_BALLOT, VOTE_ANY, VOTE_ALL, VOTE_UNI };

/* Instructions that say where to go on. */
enum ptx_flow { FLOW_ON, FLOW_BRANCH, FLOW_EXIT, FLOW_TRAP, FLOW_ASSERT, FLOW_BARRIER, FLOW_ARRIVE, FLOW_WARP };

struct ptx_warp;
struct ptx_op;
typedef void ptx_fn(struct ptx_warp *w, const struct ptx_op *op);

struct ptx_op {
	ptx_fn *fn;
	uint32_t r[MAX_OPERANDS]; /* as written, vectors flattened; NO_REG: not given */
	uint32_t guard;           /* NO_REG: none */
	uint32_t target, line;
	uint64_t mask;           /* of the register that is written: signs go as far */
	int64_t offset, offset2; /* of the address; cp.async: of where it comes from */
	uint8_t n, n_dst;        /* operands; those of a vector that is loaded, stored, packed */
	uint8_t type, type2;     /* d and a; type2: NONE when there is but one */
	uint8_t flow, space, rounding, what, relation, boolean;
	bool guard_not, not_last; /* @!p, and !c of setp */
	bool ftz, sat, integral, nan, carry_in, carry_out, hi, wide, clamp, relu;
};

enum { RELOC_DATA, RELOC_DYNAMIC };
struct ptx_reloc { /* a constant that the launch knows: base + offset */
	uint32_t reg;
	uint8_t what;
	uint64_t offset;
};

/* Special registers are the first ones. */
enum ptx_special {
	SR_TID,
	SR_NTID = SR_TID + 3,
	SR_CTAID = SR_NTID + 3,
	SR_NCTAID = SR_CTAID + 3,
	SR_LANEID = SR_NCTAID + 3,
	SR_WARPID,
	SR_NWARPID,
	SR_SMID,
	SR_NSMID,
	SR_GRIDID,
	SR_MASK_EQ,
	SR_MASK_LT,
	SR_MASK_LE,
	SR_MASK_GT,
	SR_MASK_GE,
	SR_DYNAMIC_SMEM,
	SR_CLOCK,
	SR_SINK,
	N_SPECIAL
};

struct ptx_const {
	uint32_t reg;
	uint64_t value;
};

struct ptx_code {
	struct ptx_op *op; /* the last one is an exit */
	size_t n_ops, cap_ops;
	uint32_t n_regs;
	uint8_t *bytes; /* of each register */
	size_t cap_bytes;
	struct ptx_const *constant;
	size_t n_constants, cap_constants;
	struct ptx_reloc *reloc;
	size_t n_relocs, cap_relocs;
	uint32_t local, dynamic_at; /* bytes of local memory; where dynamic shared memory begins */
};

/* ---- a run ---- */

struct ptx_cta;
struct ptx_warp {
	uint64_t *reg;   /* reg[LANES * r + lane] */
	uint32_t active; /* threads that do the instruction now */
	uint32_t live, waiting, carry;
	uint32_t pc[LANES];
	uint8_t barrier[LANES];   /* + 1; 0: waits for its warp */
	uint32_t expected[LANES]; /* threads at the barrier; 0: all */
	uint64_t clock;
	char *local;
	uint32_t index;
	struct ptx_cta *cta;
};

struct ptx_cta {
	const struct ptx_kernel *k;
	struct ptx_launch *l;
	struct ptx_warp *warp;
	uint32_t n_warps, id[3];
	char *shared;
	uint32_t shared_bytes;
	uint32_t arrived[16]; /* without waiting */
	struct ptx_range cache[4];
	unsigned next_cached;
	int rc; /* 0: goes on */
};

#define COL(i) (w->reg + (size_t)LANES * op->r[i])
#define EACH(l) for (uint32_t m_ = w->active, l; m_ && ((l = (uint32_t)__builtin_ctz(m_)), true); m_ &= m_ - 1)

void ptx_stop(struct ptx_warp *w, const struct ptx_op *op, uint32_t lane, int rc, uint64_t address, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* ---- decode.c, forms.c ---- */

struct ptx_reader;
/* Operands as the reader hands them over. */
struct ptx_operands {
	uint32_t r[MAX_OPERANDS];
	uint8_t n, n_vector, vector_at; /* a vector's length, and where it is; 0: none */
	uint8_t at_address;             /* which one is [an address] + 1; 0: none */
	uint8_t second;                 /* 1: r[1] is p of d|p */
	bool not_last, address_symbol;
	int64_t offset, first_offset; /* of the address; of the first of two */
	uint8_t symbol_space;         /* .address_symbol: where the variable is */
	uint32_t literal;             /* bit i: operand i is a constant */
	uint64_t value[MAX_OPERANDS];
	uint8_t bytes[MAX_OPERANDS]; /* of the register; constants: 8 */
};

/* op.r etc. from the words of the opcode and the operands; NULL or what is wrong. */
const char *ptx_decode(struct ptx_op *op, char *const *word, size_t n_words, const struct ptx_operands *o);
int ptx_type_of(const char *word); /* NONE: it is none */
uint32_t ptx_type_bytes(int type);
bool ptx_is_float(int type);
bool ptx_is_signed(int type);

/* Instructions that compute one register from others: what is left of the opcode without types and the modifiers below, which modifiers
 * may be there, how many operands, and what does it for each type. Tables end with a name of NULL. */
enum { M_ROUND = 1, M_FTZ = 2, M_SAT = 4, M_RELU = 8, M_TWO_TYPES = 16 };
struct ptx_form {
	const char *name;
	uint8_t operands, allowed;
	ptx_fn *fn[N_TYPES];
};
extern const struct ptx_form ptx_int_forms[], ptx_bits_forms[], ptx_float_forms[], ptx_half_forms[], ptx_approx_forms[];

ptx_fn ptx_setp_int, ptx_setp_float, ptx_set, ptx_mov, ptx_pack, ptx_unpack, ptx_cvt, ptx_cvt_pair, ptx_cvta, ptx_clock, ptx_nothing;
ptx_fn ptx_load, ptx_store, ptx_atom, ptx_copy_async, ptx_load_matrix, ptx_store_matrix;
ptx_fn ptx_shfl, ptx_vote, ptx_match, ptx_redux, ptx_elect, ptx_activemask;

/* mem.c, warp.c */
uint64_t ptx_combine(int what, int type, uint64_t old, uint64_t b, uint64_t c);

/* ---- numbers (float.c, cvt.c) ---- */

double ptx_from_small(uint16_t bits, int exponent_bits, int fraction_bits);
uint16_t ptx_to_small(double v, int exponent_bits, int fraction_bits, int rounding, bool saturate);
float ptx_flush(float v);
double ptx_number(uint64_t bits, int type); /* of F16, BF16, F32, F64 */
uint64_t ptx_bits(double v, int type);      /* to the nearest; NaN canonical, but F64's */
uint32_t ptx_f32_bits(float v);             /* NaN canonical */
float ptx_f32(uint64_t bits);
double ptx_f64(uint64_t bits);
uint64_t ptx_f64_bits(double v);

#endif
