/* Logic, bits, comparisons of integers, moves (PTX ISA 8.x, 9.7.1, 9.7.6, 9.7.8, 9.7.9). */
#include "in.h"

#define ONE(name, expr) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		uint64_t *d = COL(0); \
		const uint64_t *ra = COL(1); \
		EACH(l) \
		{ \
			uint64_t a = ra[l]; \
			d[l] = (expr); \
		} \
	}
#define TWO(name, expr) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		uint64_t *d = COL(0); \
		const uint64_t *ra = COL(1), *rb = COL(2); \
		EACH(l) \
		{ \
			uint64_t a = ra[l], b = rb[l]; \
			d[l] = (expr); \
		} \
	}
#define THREE(name, expr) \
	static void name(struct ptx_warp *w, const struct ptx_op *op) \
	{ \
		uint64_t *d = COL(0); \
		const uint64_t *ra = COL(1), *rb = COL(2), *rc = COL(3); \
		EACH(l) \
		{ \
			uint64_t a = ra[l], b = rb[l], c = rc[l]; \
			d[l] = (expr); \
		} \
	}
#define FN_BITS(name) [B16] = name##_16, [B32] = name##_32, [B64] = name##_64
#define WIDTHS(F, name, expr) F(name##_p, (expr)&1) F(name##_16, (uint16_t)(expr)) F(name##_32, (uint32_t)(expr)) F(name##_64, (expr))
WIDTHS(TWO, and, a &b)
WIDTHS(TWO, or, a | b)
WIDTHS(TWO, xor, a ^ b)
WIDTHS(ONE, not, ~a)
ONE(cnot_16, !(uint16_t)a)
ONE(cnot_32, !(uint32_t)a)
ONE(cnot_64, !a)

ONE(popc_32, (uint64_t)__builtin_popcount((uint32_t)a))
ONE(popc_64, (uint64_t)__builtin_popcountll(a))
ONE(clz_32, (uint32_t)a ? (uint64_t)__builtin_clz((uint32_t)a) : 32)
ONE(clz_64, a ? (uint64_t)__builtin_clzll(a) : 64)

static uint64_t reversed(uint64_t v, unsigned bits)
{
	uint64_t out = 0;
	for (unsigned i = 0; i < bits; i++)
		out |= (v >> i & 1) << (bits - 1 - i);
	return out;
}
ONE(brev_32, reversed(a, 32))
ONE(brev_64, reversed(a, 64))

/* The highest bit that is 1, of a negative number the highest that is 0. */
static uint64_t highest(uint64_t v) { return v ? 63u - (unsigned)__builtin_clzll(v) : UINT32_MAX; }
ONE(bfind_u32, highest((uint32_t)a))
ONE(bfind_u64, highest(a))
ONE(bfind_s32, highest((int32_t)a < 0 ? (uint32_t)~a : (uint32_t)a))
ONE(bfind_s64, highest((int64_t)a < 0 ? ~a : a))
ONE(bfind_amount_u32, (uint32_t)a ? 31 - highest((uint32_t)a) : UINT32_MAX)
ONE(bfind_amount_u64, a ? 63 - highest(a) : UINT32_MAX)

/* bfe: len bits from pos on; what lies behind the number is its sign (of .u 0). */
static uint64_t extracted(uint64_t a, uint32_t pos, uint32_t len, unsigned bits, bool is_signed)
{
	uint64_t out = 0, sign = 0;
	pos &= 0xff;
	len &= 0xff;
	if (is_signed && len)
		sign = a >> (pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1) & 1;
	for (unsigned i = 0; i < bits; i++)
		out |= (i < len && pos + i < bits ? a >> (pos + i) & 1 : sign) << i;
	return out;
}
THREE(bfe_u32, extracted((uint32_t)a, (uint32_t)b, (uint32_t)c, 32, false))
THREE(bfe_u64, extracted(a, (uint32_t)b, (uint32_t)c, 64, false))
THREE(bfe_s32, extracted((uint32_t)a, (uint32_t)b, (uint32_t)c, 32, true))
THREE(bfe_s64, extracted(a, (uint32_t)b, (uint32_t)c, 64, true))

/* bfi f, a, b, c, d: the lowest d bits of a into b at c */
static uint64_t inserted(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, unsigned bits)
{
	pos &= 0xff;
	len &= 0xff;
	for (unsigned i = 0; i < len && pos + i < bits; i++)
		b = (b & ~(1ull << (pos + i))) | (a >> i & 1) << (pos + i);
	return b;
}

static void bfi_32(struct ptx_warp *w, const struct ptx_op *op)
{
	EACH(l)
	COL(0)[l] = inserted((uint32_t)COL(1)[l], (uint32_t)COL(2)[l], (uint32_t)COL(3)[l], (uint32_t)COL(4)[l], 32);
}

static void bfi_64(struct ptx_warp *w, const struct ptx_op *op)
{
	EACH(l)
	COL(0)[l] = inserted(COL(1)[l], COL(2)[l], (uint32_t)COL(3)[l], (uint32_t)COL(4)[l], 64);
}

static void lop3(struct ptx_warp *w, const struct ptx_op *op)
{
	EACH(l)
	{
		uint32_t a = (uint32_t)COL(1)[l], b = (uint32_t)COL(2)[l], c = (uint32_t)COL(3)[l], table = (uint32_t)COL(4)[l], out = 0;
		for (unsigned i = 0; i < 8; i++)
			if (table >> i & 1)
				out |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
		COL(0)[l] = out;
	}
}

/* shf d, a, b, c: a are the lower 32 bits, b the upper ones */
static uint64_t funnel_left(uint64_t a, uint64_t b, uint32_t n) { return (uint32_t)(((b << 32 | (uint32_t)a) << n) >> 32); }
static uint64_t funnel_right(uint64_t a, uint64_t b, uint32_t n) { return (uint32_t)((b << 32 | (uint32_t)a) >> n); }
#define CLAMP(c) ((uint32_t)(c) > 32 ? 32 : (uint32_t)(c))
THREE(shf_l_wrap, funnel_left(a, b, (uint32_t)c & 31))
THREE(shf_l_clamp, funnel_left(a, b, CLAMP(c)))
THREE(shf_r_wrap, funnel_right(a, b, (uint32_t)c & 31))
THREE(shf_r_clamp, funnel_right(a, b, CLAMP(c)))

/* Each of 4 nibbles of c chooses a byte of b:a; its highest bit: the byte's sign in all bits. */
static uint64_t permuted(uint64_t a, uint64_t b, uint32_t c)
{
	uint64_t all = b << 32 | (uint32_t)a, out = 0;
	for (unsigned i = 0; i < 4; i++) {
		uint32_t nibble = c >> (4 * i) & 15;
		uint64_t byte = all >> (8 * (nibble & 7)) & 0xff;
		if (nibble & 8)
			byte = byte & 0x80 ? 0xff : 0;
		out |= byte << (8 * i);
	}
	return out;
}

static uint32_t by_mode(unsigned mode, uint32_t c)
{
	/* f4e, b4e, rc8, ecl, ecr, rc16, in the order of c & 3 */
	static const uint16_t selectors[6][4] = {{0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
						 {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
						 {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
	return selectors[mode][c & 3];
}
THREE(prmt, permuted(a, b, (uint32_t)c))
THREE(prmt_f4e, permuted(a, b, by_mode(0, (uint32_t)c)))
THREE(prmt_b4e, permuted(a, b, by_mode(1, (uint32_t)c)))
THREE(prmt_rc8, permuted(a, b, by_mode(2, (uint32_t)c)))
THREE(prmt_ecl, permuted(a, b, by_mode(3, (uint32_t)c)))
THREE(prmt_ecr, permuted(a, b, by_mode(4, (uint32_t)c)))
THREE(prmt_rc16, permuted(a, b, by_mode(5, (uint32_t)c)))

THREE(selp_16, (uint16_t)(c & 1 ? a : b))
THREE(selp_32, (uint32_t)(c & 1 ? a : b))
THREE(selp_64, c & 1 ? a : b)
THREE(slct_s32, (int32_t)c >= 0 ? a : b)
THREE(slct_f32, ptx_f32(c) >= 0 ? a : b)

const struct ptx_form ptx_bits_forms[] = {
    {"and", 3, 0, {[PRED] = and_p, FN_BITS(and)}},
    {"or", 3, 0, {[PRED] = or_p, FN_BITS(or)}},
    {"xor", 3, 0, {[PRED] = xor_p, FN_BITS(xor)}},
    {"not", 2, 0, {[PRED] = not_p, FN_BITS(not )}},
    {"cnot", 2, 0, {FN_BITS(cnot)}},
    {"popc", 2, 0, {[B32] = popc_32, [B64] = popc_64}},
    {"clz", 2, 0, {[B32] = clz_32, [B64] = clz_64}},
    {"brev", 2, 0, {[B32] = brev_32, [B64] = brev_64}},
    {"bfind", 2, 0, {[U32] = bfind_u32, [U64] = bfind_u64, [S32] = bfind_s32, [S64] = bfind_s64}},
    {"bfind.shiftamt", 2, 0, {[U32] = bfind_amount_u32, [U64] = bfind_amount_u64}},
    {"bfe", 4, 0, {[U32] = bfe_u32, [U64] = bfe_u64, [S32] = bfe_s32, [S64] = bfe_s64}},
    {"bfi", 5, 0, {[B32] = bfi_32, [B64] = bfi_64}},
    {"lop3", 5, 0, {[B32] = lop3}},
    {"shf.l.wrap", 4, 0, {[B32] = shf_l_wrap}},
    {"shf.l.clamp", 4, 0, {[B32] = shf_l_clamp}},
    {"shf.r.wrap", 4, 0, {[B32] = shf_r_wrap}},
    {"shf.r.clamp", 4, 0, {[B32] = shf_r_clamp}},
    {"prmt", 4, 0, {[B32] = prmt}},
    {"prmt.f4e", 4, 0, {[B32] = prmt_f4e}},
    {"prmt.b4e", 4, 0, {[B32] = prmt_b4e}},
    {"prmt.rc8", 4, 0, {[B32] = prmt_rc8}},
    {"prmt.ecl", 4, 0, {[B32] = prmt_ecl}},
    {"prmt.ecr", 4, 0, {[B32] = prmt_ecr}},
    {"prmt.rc16", 4, 0, {[B32] = prmt_rc16}},
    {"selp",
     4,
     0,
     {FN_BITS(selp), [U16] = selp_16, [U32] = selp_32, [U64] = selp_64, [S16] = selp_16, [S32] = selp_32, [S64] = selp_64, [F32] = selp_32,
      [F64] = selp_64}},
    {"slct", 4, M_TWO_TYPES, {[S32] = slct_s32}},
    {"slct", 4, M_TWO_TYPES | M_FTZ, {[F32] = slct_f32}},
    {0},
};

/* ---- comparisons ---- */

static uint64_t extended(uint64_t v, int type)
{
	unsigned shift = 64 - 8 * ptx_type_bytes(type);
	return ptx_is_signed(type) ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

static void result(struct ptx_warp *w, const struct ptx_op *op, uint32_t l, bool yes)
{
	bool no = !yes;
	if (op->boolean) {
		bool c = (COL(op->n - 1)[l] & 1) ^ op->not_last;
		yes = op->boolean == BOOL_AND ? yes && c : op->boolean == BOOL_OR ? yes || c : yes != c;
		no = op->boolean == BOOL_AND ? no && c : op->boolean == BOOL_OR ? no || c : no != c;
	}
	if (op->n_dst == 2)
		COL(1)[l] = no;
	COL(0)[l] = yes;
}

static bool related_ints(const struct ptx_op *op, uint64_t ra, uint64_t rb)
{
	uint64_t a = extended(ra, op->type2), b = extended(rb, op->type2);
	bool less = ptx_is_signed(op->type2) ? (int64_t)a < (int64_t)b : a < b;
	return op->relation & (less ? REL_LT : a == b ? REL_EQ : REL_GT);
}

static bool related_floats(const struct ptx_op *op, uint64_t ra, uint64_t rb)
{
	double a = ptx_number(ra, op->type2), b = ptx_number(rb, op->type2);
	if (op->ftz && op->type2 == F32) {
		a = (double)ptx_flush((float)a);
		b = (double)ptx_flush((float)b);
	}
	return op->relation & (a < b ? REL_LT : a == b ? REL_EQ : a > b ? REL_GT : REL_UN);
}

void ptx_setp_int(struct ptx_warp *w, const struct ptx_op *op)
{
	const uint64_t *a = COL(op->n_dst), *b = COL(op->n_dst + 1);
	EACH(l)
	result(w, op, l, related_ints(op, a[l], b[l]));
}

void ptx_setp_float(struct ptx_warp *w, const struct ptx_op *op)
{
	const uint64_t *a = COL(op->n_dst), *b = COL(op->n_dst + 1);
	EACH(l)
	result(w, op, l, related_floats(op, a[l], b[l]));
}

void ptx_set(struct ptx_warp *w, const struct ptx_op *op)
{
	const uint64_t *a = COL(1), *b = COL(2);
	EACH(l)
	{
		result(w, op, l, ptx_is_float(op->type2) ? related_floats(op, a[l], b[l]) : related_ints(op, a[l], b[l]));
		COL(0)[l] = !COL(0)[l] ? 0 : op->type == F32 ? ptx_f32_bits(1) : UINT32_MAX;
	}
}

/* ---- moves ---- */

void ptx_mov(struct ptx_warp *w, const struct ptx_op *op)
{
	uint64_t *d = COL(0);
	const uint64_t *a = COL(1);
	unsigned bits = 8 * ptx_type_bytes(op->type);
	uint64_t mask = op->type == PRED ? 1 : bits == 64 ? ~0ull : (1ull << bits) - 1;
	EACH(l)
	d[l] = a[l] & mask;
}

/* mov.b32 d, {a, b}: a are the lowest bits */
void ptx_pack(struct ptx_warp *w, const struct ptx_op *op)
{
	unsigned parts = op->n - 1u, bits = 8 * ptx_type_bytes(op->type) / parts;
	EACH(l)
	{
		uint64_t v = 0;
		for (unsigned i = 0; i < parts; i++)
			v |= (COL(1 + i)[l] & ((1ull << bits) - 1)) << (bits * i);
		COL(0)[l] = v;
	}
}

void ptx_unpack(struct ptx_warp *w, const struct ptx_op *op)
{
	unsigned parts = op->n - 1u, bits = 8 * ptx_type_bytes(op->type) / parts;
	EACH(l)
	{
		uint64_t v = COL(parts)[l];
		for (unsigned i = 0; i < parts; i++)
			COL(i)[l] = v >> (bits * i) & ((1ull << bits) - 1);
	}
}

void ptx_cvta(struct ptx_warp *w, const struct ptx_op *op)
{
	uint64_t window = op->space == SHARED ? SHARED_WINDOW : op->space == LOCAL ? LOCAL_WINDOW : 0;
	EACH(l)
	COL(0)[l] = op->hi ? COL(1)[l] - window : COL(1)[l] + window;
}

void ptx_clock(struct ptx_warp *w, const struct ptx_op *op)
{
	EACH(l)
	COL(0)[l] = ptx_type_bytes(op->type) == 4 ? (uint32_t)w->clock : w->clock;
}

void ptx_nothing(struct ptx_warp *w, const struct ptx_op *op) { (void)w, (void)op; }
