/* Exchanges between the threads of a warp (PTX ISA 8.x, 9.7.9.6 shfl.sync, 9.7.13 vote, match, redux, activemask,
 * elect). They are called when all threads of the mask have come (run.c), with these as the active ones. */
#include "in.h"

/* shfl.sync d|p, a, b, c, mask: c has the highest or lowest lane in bits 0..4, the mask of segments in 8..12. A lane
 * from which nothing comes keeps its own. */
void ptx_shfl(struct ptx_warp *w, const struct ptx_op *op)
{
	const uint64_t *ra = COL(op->n_dst), *rb = COL(op->n_dst + 1), *rc = COL(op->n_dst + 2);
	uint64_t before[LANES];
	for (unsigned i = 0; i < LANES; i++)
		before[i] = (uint32_t)ra[i];
	EACH(l)
	{
		uint32_t b = (uint32_t)rb[l] & 31, clamp = (uint32_t)rc[l] & 31, segment = (uint32_t)rc[l] >> 8 & 31;
		uint32_t most = (l & segment) | (clamp & ~segment), least = l & segment;
		int from = 0;
		bool ok = false;
		switch (op->what) {
		case SHFL_UP:
			from = (int)l - (int)b;
			ok = from >= (int)most;
			break;
		case SHFL_DOWN:
			from = (int)(l + b);
			ok = from <= (int)most;
			break;
		case SHFL_BFLY:
			from = (int)(l ^ b);
			ok = from <= (int)most;
			break;
		default: from = (int)(least | (b & ~segment)); ok = from <= (int)most;
		}
		if (!ok)
			from = (int)l;
		if (op->n_dst == 2)
			COL(1)[l] = ok;
		COL(0)[l] = before[from & 31];
	}
}

void ptx_vote(struct ptx_warp *w, const struct ptx_op *op)
{
	uint32_t yes = 0;
	EACH(l)
	yes |= ((uint32_t)COL(1)[l] & 1) << l;
	EACH(l)
	COL(0)
	[l] = op->what == VOTE_BALLOT ? yes
	      : op->what == VOTE_ANY  ? yes != 0
	      : op->what == VOTE_ALL  ? yes == w->active
				      : yes == w->active || !yes;
}

void ptx_match(struct ptx_warp *w, const struct ptx_op *op)
{
	unsigned at = op->n_dst, first = (unsigned)__builtin_ctz(w->active);
	uint64_t wide = ptx_type_bytes(op->type) == 8 ? ~0ull : UINT32_MAX, value[LANES];
	uint32_t all = 0;
	EACH(l)
	value[l] = COL(at)[l] & wide;
	EACH(l)
	all |= (uint32_t)(value[l] == value[first]) << l;
	EACH(l)
	{
		uint32_t same = 0;
		for (uint32_t i = 0; i < LANES; i++)
			same |= (uint32_t)(w->active >> i & 1 && value[i] == value[l]) << i;
		if (at == 2)
			COL(1)[l] = all == w->active;
		COL(0)[l] = !op->what ? same : all == w->active ? w->active : 0;
	}
}

static uint64_t reduced_f32(const struct ptx_op *op, float a, float b)
{
	if (a != a || b != b)
		return ptx_f32_bits(op->nan || (a != a && b != b) ? __builtin_nanf("") : a != a ? b : a);
	bool a_first = op->what == DO_MIN ? a < b || (a == b && __builtin_signbit(a)) : a > b || (a == b && !__builtin_signbit(a));
	return ptx_f32_bits(a_first ? a : b);
}

void ptx_redux(struct ptx_warp *w, const struct ptx_op *op)
{
	uint64_t v = (uint32_t)COL(1)[__builtin_ctz(w->active)];
	uint32_t first = (uint32_t)__builtin_ctz(w->active);
	EACH(l)
	if (l != first)
		v = op->type == F32 ? reduced_f32(op, ptx_f32(v), ptx_f32(COL(1)[l]))
				    : (uint32_t)ptx_combine(op->what, op->type, v, COL(1)[l], 0);
	EACH(l)
	COL(0)[l] = v;
}

/* elect.sync d|p, mask: the lowest thread is the one. */
void ptx_elect(struct ptx_warp *w, const struct ptx_op *op)
{
	uint32_t first = (uint32_t)__builtin_ctz(w->active);
	EACH(l)
	{
		COL(0)[l] = first;
		COL(1)[l] = l == first;
	}
}

void ptx_activemask(struct ptx_warp *w, const struct ptx_op *op)
{
	EACH(l)
	COL(0)[l] = w->active;
}
