/* Loads, stores, atomics (PTX ISA 8.x, 9.7.9, 9.7.13): every access is looked up, in one allocation, in shared or in
 * local memory. */
#include <math.h>
#include <string.h>

#include "in.h"

static char *global(struct ptx_warp *w, uint64_t address, uint32_t bytes)
{
	struct ptx_cta *c = w->cta;
	for (unsigned i = 0; i < 4; i++) {
		struct ptx_range *r = &c->cache[i];
		uint64_t at = address - r->at;
		if (r->data && address >= r->at && at < r->bytes && bytes <= r->bytes - at)
			return r->data + at;
	}
	struct ptx_range r = {0};
	if (!c->l->find || !c->l->find(c->l->user, address, &r) || address < r.at || address - r.at >= r.bytes ||
	    bytes > r.bytes - (address - r.at))
		return NULL;
	c->cache[c->next_cached++ % 4] = r;
	return r.data + (address - r.at);
}

static const char *name_of(int space)
{
	return space == SHARED  ? "of the shared memory"
	       : space == LOCAL ? "of local memory"
	       : space == PARAM ? "of the parameters"
				: "of every allocation";
}

/* NULL: the launch is over. */
static char *memory(struct ptx_warp *w, const struct ptx_op *op, uint32_t lane, int space, uint64_t address, uint32_t bytes,
		    const char *what)
{
	struct ptx_cta *c = w->cta;
	uint64_t at = address, room = 0;
	char *data = NULL;
	if (space == GENERIC) {
		space = address - SHARED_WINDOW < WINDOW_BYTES ? SHARED : address - LOCAL_WINDOW < WINDOW_BYTES ? LOCAL : GLOBAL;
		at = space == SHARED ? address - SHARED_WINDOW : space == LOCAL ? address - LOCAL_WINDOW : address;
	}
	if (at & (bytes - 1)) {
		ptx_stop(w, op, lane, 716, address, "%s of %u bytes at an address that is no multiple of them", what, bytes);
		return NULL;
	}
	if (space == SHARED) {
		data = c->shared;
		room = c->shared_bytes;
	} else if (space == LOCAL) {
		data = w->local + (size_t)lane * c->k->code->local;
		room = c->k->code->local;
	} else if (space == PARAM) {
		data = (char *)(uintptr_t)c->l->params;
		room = c->k->param_bytes;
	}
	if (space == GLOBAL)
		data = global(w, at, bytes);
	else
		data = at < room && bytes <= room - at ? data + at : NULL;
	if (!data)
		ptx_stop(w, op, lane, 700, address, "%s of %u bytes outside %s", what, bytes, name_of(space));
	return data;
}

static uint64_t address_in(const struct ptx_op *op, uint64_t reg, int64_t offset)
{
	uint64_t at = reg + (uint64_t)offset;
	return op->space == SHARED || op->space == LOCAL || op->space == PARAM ? (uint32_t)at : at;
}

static uint64_t fetched(const struct ptx_op *op, const char *p, unsigned bytes)
{
	uint64_t v = 0;
	memcpy(&v, p, bytes);
	if (ptx_is_signed(op->type))
		v = (uint64_t)((int64_t)(v << (64 - 8 * bytes)) >> (64 - 8 * bytes)) & op->mask;
	return v;
}

void ptx_load(struct ptx_warp *w, const struct ptx_op *op)
{
	unsigned n = op->n_dst, bytes = ptx_type_bytes(op->type);
	EACH(l)
	{
		const char *p = memory(w, op, l, op->space, address_in(op, COL(n)[l], op->offset), n * bytes, "load");
		if (!p)
			return;
		for (unsigned i = 0; i < n; i++)
			COL(i)[l] = fetched(op, p + i * bytes, bytes);
	}
}

void ptx_store(struct ptx_warp *w, const struct ptx_op *op)
{
	unsigned n = op->n_dst, bytes = ptx_type_bytes(op->type);
	EACH(l)
	{
		char *p = memory(w, op, l, op->space, address_in(op, COL(0)[l], op->offset), n * bytes, "store");
		if (!p)
			return;
		for (unsigned i = 0; i < n; i++)
			memcpy(p + i * bytes, &COL(1 + i)[l], bytes);
	}
}

/* ---- atomics ---- */

static uint64_t sum(int type, uint64_t a, uint64_t b)
{
	switch (type) {
	case F32: return ptx_f32_bits(ptx_f32(a) + ptx_f32(b));
	case F64: return ptx_f64_bits(ptx_f64(a) + ptx_f64(b));
	case F16:
	case BF16: /* a sum of two is exact in double for f16; of bf16 what is lost is far below the last bit */
		return ptx_bits(ptx_number(a & 0xffff, type) + ptx_number(b & 0xffff, type), type);
	case F16X2:
	case BF16X2: return sum(type == F16X2 ? F16 : BF16, a, b) | sum(type == F16X2 ? F16 : BF16, a >> 16, b >> 16) << 16;
	default: return a + b;
	}
}

static bool less(int type, uint64_t a, uint64_t b)
{
	return type == S32                 ? (int32_t)a < (int32_t)b
	       : type == S64               ? (int64_t)a < (int64_t)b
	       : ptx_type_bytes(type) == 4 ? (uint32_t)a < (uint32_t)b
					   : a < b;
}

uint64_t ptx_combine(int what, int type, uint64_t old, uint64_t b, uint64_t c)
{
	switch (what) {
	case DO_ADD: return sum(type, old, b);
	case DO_MIN: return less(type, b, old) ? b : old;
	case DO_MAX: return less(type, old, b) ? b : old;
	case DO_AND: return old & b;
	case DO_OR: return old | b;
	case DO_XOR: return old ^ b;
	case DO_EXCH: return b;
	case DO_CAS: return old == b ? c : old;
	case DO_INC: return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
	default: /* DO_DEC */ return !(uint32_t)old || (uint32_t)old > (uint32_t)b ? b : old - 1;
	}
}

/* atom d, [a], b{, c}; red [a], b */
void ptx_atom(struct ptx_warp *w, const struct ptx_op *op)
{
	unsigned at = op->n_dst, bytes = ptx_type_bytes(op->type);
	uint64_t mask = bytes == 8 ? ~0ull : (1ull << 8 * bytes) - 1;
	EACH(l)
	{
		char *p = memory(w, op, l, op->space, address_in(op, COL(at)[l], op->offset), bytes, op->n_dst ? "atom" : "red");
		if (!p)
			return;
		uint64_t old = 0, b = COL(at + 1)[l] & mask, c = op->what == DO_CAS ? COL(at + 2)[l] & mask : 0;
		memcpy(&old, p, bytes);
		uint64_t v = ptx_combine(op->what, op->type, old, b, c);
		memcpy(p, &v, bytes);
		if (op->n_dst)
			COL(0)[l] = old;
	}
}

/* cp.async [shared], [global], bytes{, bytes that are read; the others become 0} */
void ptx_copy_async(struct ptx_warp *w, const struct ptx_op *op)
{
	unsigned bytes = op->what;
	EACH(l)
	{
		uint64_t from = COL(1)[l] + (uint64_t)op->offset2, n = op->n > 3 ? (uint32_t)COL(3)[l] : bytes;
		char *to = memory(w, op, l, SHARED, (uint32_t)(COL(0)[l] + (uint64_t)op->offset), bytes, "store");
		if (!to)
			return;
		if (n > bytes)
			n = bytes;
		if (n && from & (bytes - 1)) {
			ptx_stop(w, op, l, 716, from, "copy of %u bytes at an address that is no multiple of them", bytes);
			return;
		}
		const char *p = n ? global(w, from, (uint32_t)n) : NULL;
		if (n && !p) {
			ptx_stop(w, op, l, 700, from, "load of %u bytes outside %s", (unsigned)n, name_of(GLOBAL));
			return;
		}
		memset(to, 0, bytes);
		if (n)
			memcpy(to, p, n);
	}
}

/* ---- matrices of 8 rows of 8 b16: threads 8*i .. 8*i+7 have the rows' addresses of the i-th ---- */

/* Where the two elements of a thread are: of row lane / 4, or, transposed, of column lane / 4. */
static bool matrices(struct ptx_warp *w, const struct ptx_op *op, unsigned at, char *row[LANES], const char *what)
{
	if (w->active != UINT32_MAX) {
		ptx_stop(w, op, (uint32_t)__builtin_ctz(w->active), 719, 0, "a matrix, and not all threads of the warp are here");
		return false;
	}
	for (uint32_t l = 0; l < 8u * op->n_dst; l++) {
		row[l] = memory(w, op, l, SHARED, (uint32_t)(COL(at)[l] + (uint64_t)op->offset), 16, what);
		if (!row[l])
			return false;
	}
	return true;
}

static char *element(char *const row[LANES], const struct ptx_op *op, unsigned i, uint32_t lane, unsigned half)
{
	uint32_t a = lane / 4, b = 2 * (lane % 4) + half;
	return op->hi ? row[8 * i + b] + 2 * a : row[8 * i + a] + 2 * b;
}

void ptx_load_matrix(struct ptx_warp *w, const struct ptx_op *op)
{
	char *row[LANES];
	uint16_t v[4][LANES][2];
	if (!matrices(w, op, op->n_dst, row, "ldmatrix"))
		return;
	for (unsigned i = 0; i < op->n_dst; i++)
		for (uint32_t l = 0; l < LANES; l++)
			for (unsigned half = 0; half < 2; half++)
				memcpy(&v[i][l][half], element(row, op, i, l, half), 2);
	for (unsigned i = 0; i < op->n_dst; i++)
		for (uint32_t l = 0; l < LANES; l++)
			COL(i)[l] = v[i][l][0] | (uint32_t)v[i][l][1] << 16;
}

void ptx_store_matrix(struct ptx_warp *w, const struct ptx_op *op)
{
	char *row[LANES];
	if (!matrices(w, op, 0, row, "stmatrix"))
		return;
	for (unsigned i = 0; i < op->n_dst; i++)
		for (uint32_t l = 0; l < LANES; l++)
			for (unsigned half = 0; half < 2; half++) {
				uint16_t v = (uint16_t)(COL(1 + i)[l] >> (16 * half));
				memcpy(element(row, op, i, l, half), &v, 2);
			}
}
