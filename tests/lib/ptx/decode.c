/* One instruction: its opcode's words and its operands into what a warp does (PTX ISA 8.x, chapter 9). */
#include <stdio.h>
#include <string.h>

#include "in.h"

static const struct {
	const char *name;
	uint8_t bytes;
} types[N_TYPES] = {
    [NONE] = {"", 0},         [U8] = {"u8", 1},       [U16] = {"u16", 2},   [U32] = {"u32", 4}, [U64] = {"u64", 8}, [S8] = {"s8", 1},
    [S16] = {"s16", 2},       [S32] = {"s32", 4},     [S64] = {"s64", 8},   [B8] = {"b8", 1},   [B16] = {"b16", 2}, [B32] = {"b32", 4},
    [B64] = {"b64", 8},       [F16] = {"f16", 2},     [BF16] = {"bf16", 2}, [F32] = {"f32", 4}, [F64] = {"f64", 8}, [F16X2] = {"f16x2", 4},
    [BF16X2] = {"bf16x2", 4}, [F32X2] = {"f32x2", 8}, [PRED] = {"pred", 1}};

int ptx_type_of(const char *word)
{
	for (int i = 1; i < N_TYPES; i++)
		if (!strcmp(types[i].name, word))
			return i;
	return NONE;
}

uint32_t ptx_type_bytes(int type) { return types[type].bytes; }
bool ptx_is_float(int type) { return type >= F16 && type <= F64; }
bool ptx_is_signed(int type) { return type >= S8 && type <= S64; }

static const char unknown[] = "is not interpreted", operands[] = "has operands that are not understood",
		  no_register[] = "writes to what is no register";

static bool is(const char *a, const char *b) { return !strcmp(a, b); }
static bool begins(const char *a, const char *b) { return !strncmp(a, b, strlen(b)); }

/* The index of w in a list of words with spaces between them; -1. */
static int which(const char *list, const char *w)
{
	size_t n = strlen(w);
	for (int i = 0; *list; i++) {
		size_t k = strcspn(list, " ");
		if (k == n && !memcmp(list, w, n))
			return i;
		list += k + (list[k] == ' ');
	}
	return -1;
}

/* The first n operands are registers that can be written. */
static bool writes(const struct ptx_operands *o, unsigned n)
{
	for (unsigned i = 0; i < n && i < o->n; i++)
		if (o->literal >> i & 1 || (o->r[i] < N_SPECIAL && o->r[i] != SR_SINK))
			return false;
	return true;
}

static const char *take(struct ptx_op *op, const struct ptx_operands *o, unsigned least, unsigned most, unsigned n_dst)
{
	if (o->n < least || o->n > most)
		return operands;
	if (!writes(o, n_dst))
		return no_register;
	op->n = o->n;
	op->not_last = o->not_last;
	op->offset = o->offset;
	op->offset2 = 0;
	op->mask = o->bytes[0] < 8 ? (1ull << 8 * o->bytes[0]) - 1 : ~0ull;
	for (unsigned i = 0; i < MAX_OPERANDS; i++)
		op->r[i] = i < o->n ? o->r[i] : NO_REG;
	return NULL;
}

static const char *plain(const struct ptx_operands *o)
{
	return o->n_vector || o->at_address || o->second || o->not_last ? operands : NULL;
}

/* ---- arithmetic ---- */

struct opcode {
	char rest[64]; /* without types and modifiers */
	uint8_t type[3], n_types, modifiers;
};

static bool modifier(struct ptx_op *op, struct opcode *c, const char *w)
{
	int round = which("rn rz rm rp", w), integral = which("rni rzi rmi rpi", w);
	if (round >= 0 || integral >= 0) {
		op->rounding = (uint8_t)(round >= 0 ? round : integral);
		op->integral = integral >= 0;
		c->modifiers |= M_ROUND;
	} else if (is(w, "ftz")) {
		op->ftz = true;
		c->modifiers |= M_FTZ;
	} else if (is(w, "sat")) {
		op->sat = true;
		c->modifiers |= M_SAT;
	} else if (is(w, "relu")) {
		op->relu = true;
		c->modifiers |= M_RELU;
	} else {
		return false;
	}
	return true;
}

static bool sort_words(struct ptx_op *op, struct opcode *c, char *const *word, size_t n)
{
	size_t len = 0;
	for (size_t i = 0; i < n; i++) {
		int type = i ? ptx_type_of(word[i]) : NONE;
		if (type != NONE && c->n_types < 3)
			c->type[c->n_types++] = (uint8_t)type;
		else if (type != NONE)
			return false;
		else if (!i || !modifier(op, c, word[i])) {
			size_t k = strlen(word[i]);
			if (len + k + 2 > sizeof(c->rest))
				return false;
			if (i)
				c->rest[len++] = '.';
			memcpy(c->rest + len, word[i], k);
			len += k;
		}
	}
	c->rest[len] = 0;
	return true;
}

static const char *compute(struct ptx_op *op, const struct opcode *c, const struct ptx_operands *o)
{
	static const struct ptx_form *const tables[] = {ptx_int_forms, ptx_bits_forms, ptx_float_forms, ptx_half_forms, ptx_approx_forms};
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct ptx_form *f = tables[i]; f->name; f++) {
			bool two = f->allowed & M_TWO_TYPES;
			int type = c->n_types ? c->type[two ? c->n_types - 1 : 0] : NONE;
			if (!is(f->name, c->rest) || f->operands != o->n || !f->fn[type] || c->modifiers & ~f->allowed ||
			    c->n_types > 1u + two || op->integral || (op->rounding != RN && type != F32 && type != F64 && type != F32X2))
				continue;
			op->fn = f->fn[type];
			op->type = (uint8_t)type;
			const char *why = plain(o);
			return why ? why : take(op, o, o->n, o->n, 1);
		}
	return unknown;
}

/* ---- comparisons ---- */

static const char *relation(struct ptx_op *op, const char *w, int type)
{
	static const uint8_t set[] = {REL_EQ,
				      REL_LT | REL_GT,
				      REL_LT,
				      REL_LT | REL_EQ,
				      REL_GT,
				      REL_GT | REL_EQ,
				      REL_LT,
				      REL_LT | REL_EQ,
				      REL_GT,
				      REL_GT | REL_EQ,
				      REL_EQ | REL_UN,
				      REL_LT | REL_GT | REL_UN,
				      REL_LT | REL_UN,
				      REL_LT | REL_EQ | REL_UN,
				      REL_GT | REL_UN,
				      REL_GT | REL_EQ | REL_UN,
				      REL_LT | REL_EQ | REL_GT,
				      REL_UN};
	int i = which("eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan", w);
	bool is_unsigned = type >= U8 && type <= U64, bits = type >= B8 && type <= B64;
	if (i < 0 || (i >= 10 && !ptx_is_float(type)) || (i >= 6 && i < 10 && !is_unsigned) || (bits && i >= 2))
		return unknown;
	op->relation = set[i];
	return NULL;
}

/* setp.lt.and.ftz.f32 p|q, a, b, c;  set.lt.u32.f32 d, a, b */
static const char *compare(struct ptx_op *op, char *const *word, size_t n, const struct ptx_operands *o)
{
	bool setp = is(word[0], "setp");
	int type = ptx_type_of(word[n - 1]);
	const char *why = n < 3 ? unknown : relation(op, word[1], type);
	if (why || (!ptx_is_float(type) && !(type >= U16 && type <= U64) && !(type >= S16 && type <= S64) && !(type >= B16 && type <= B64)))
		return unknown;
	op->type2 = (uint8_t)type;
	for (size_t i = 2; i + 1 < n; i++) {
		int b = which("and or xor", word[i]);
		if (b >= 0 && !op->boolean)
			op->boolean = (uint8_t)(BOOL_AND + b);
		else if (is(word[i], "ftz") && type == F32)
			op->ftz = true;
		else if (!setp && i + 2 == n && which("u32 s32 f32", word[i]) >= 0)
			op->type = (uint8_t)ptx_type_of(word[i]);
		else
			return unknown;
	}
	if ((!setp && op->type == NONE) || (o->not_last && !op->boolean) || o->n_vector || o->at_address || (o->second && !setp))
		return operands;
	op->fn = !setp ? ptx_set : ptx_is_float(type) ? ptx_setp_float : ptx_setp_int;
	unsigned want = 3u + (op->boolean != 0) + o->second;
	why = take(op, o, want, want, 1u + o->second);
	op->n_dst = (uint8_t)(1 + o->second);
	return why;
}

/* ---- moves ---- */

static const char *move(struct ptx_op *op, char *const *word, size_t n, const struct ptx_operands *o)
{
	int type = n == 2 ? ptx_type_of(word[1]) : NONE;
	if (type == NONE)
		return unknown;
	if (o->at_address || o->second || o->not_last)
		return operands;
	op->type = (uint8_t)type;
	op->n_dst = o->n_vector && !o->vector_at ? o->n_vector : 1;
	const char *why = take(op, o, o->n_vector ? 1u + o->n_vector : 2, o->n_vector ? 1u + o->n_vector : 2, op->n_dst);
	unsigned parts = o->n_vector, bytes = ptx_type_bytes(type);
	if (why || (parts && parts != 2 && parts != 4) || (parts && (bytes / parts * parts != bytes || type == PRED)))
		return why ? why : operands;
	op->fn = !parts ? (o->r[1] == SR_CLOCK ? ptx_clock : ptx_mov) : o->vector_at ? ptx_pack : ptx_unpack;
	return NULL;
}

/* cvta.to.global.u64, cvta.shared.u64 */
static const char *cvta(struct ptx_op *op, char *const *word, size_t n, const struct ptx_operands *o)
{
	size_t i = 1;
	op->hi = n > 1 && is(word[1], "to"); /* to a space, from a generic address */
	i += op->hi;
	int space = i < n ? which("global const shared shared::cta local", word[i]) : -1;
	if (space < 0 || i + 2 != n || !is(word[i + 1], "u64"))
		return unknown;
	op->space = space < 2 ? GLOBAL : space < 4 ? SHARED : LOCAL;
	op->fn = ptx_cvta;
	const char *why = plain(o);
	return why ? why : take(op, o, 2, 2, 1);
}

static const char *cvt(struct ptx_op *op, const struct opcode *c, const struct ptx_operands *o)
{
	const char *why = plain(o);
	if (why || !is(c->rest, "cvt") || c->n_types != 2)
		return why ? why : unknown;
	int to = c->type[0], from = c->type[1];
	op->type = (uint8_t)to;
	op->type2 = (uint8_t)from;
	if ((to == F16X2 || to == BF16X2) && from == F32 && !op->integral && !op->sat) {
		op->fn = ptx_cvt_pair;
		return take(op, o, 3, 3, 1);
	}
	if (to == PRED || from == PRED || to >= F16X2 || from >= F16X2 || (to >= B8 && to <= B64) || (from >= B8 && from <= B64))
		return unknown;
	bool whole = !ptx_is_float(to), was_whole = !ptx_is_float(from);
	if ((whole && !was_whole && (!op->integral || op->relu)) || (was_whole && op->integral) || (op->relu && to != F16 && to != BF16))
		return unknown;
	if (!whole && !was_whole && op->integral && to != from)
		return unknown;
	op->fn = ptx_cvt;
	return take(op, o, 2, 2, 1);
}

/* ---- memory ---- */

struct access {
	int space, vector, type, what;
	bool volatile_, hint;
};

/* What does not matter here: order, scope, caching. */
static bool ignored(const char *w)
{
	return which("relaxed acquire release acq_rel volatile weak sys gpu cta cluster nc ca cg cs cv wb wt lu mmio "
		     "L1::evict_normal "
		     "L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::64B L2::128B L2::256B "
		     "L2::evict_first L2::evict_last "
		     "L2::evict_normal noftz unified",
		     w) >= 0;
}

static bool access_words(struct access *a, char *const *word, size_t n)
{
	static const uint8_t spaces[] = {GLOBAL, SHARED, SHARED, LOCAL, PARAM, PARAM, GLOBAL};
	for (size_t i = 1; i < n; i++) {
		int space = which("global shared shared::cta local param param::entry const", word[i]), v = which("v2 v4 v8", word[i]);
		int what = which("add min max and or xor exch cas inc dec", word[i]), type = ptx_type_of(word[i]);
		if (space >= 0 && a->space == GENERIC)
			a->space = spaces[space];
		else if (v >= 0 && !a->vector)
			a->vector = 2 << v;
		else if (what >= 0 && a->what < 0)
			a->what = what;
		else if (type != NONE && a->type == NONE && i + 1 == n)
			a->type = type;
		else if (is(word[i], "L2::cache_hint") && !a->hint)
			a->hint = true;
		else if (!ignored(word[i]))
			return false;
	}
	return a->type != NONE;
}

static const char *load_store(struct ptx_op *op, char *const *word, size_t n, const struct ptx_operands *o)
{
	bool load = *word[0] == 'l';
	struct access a = {.what = -1};
	if (!access_words(&a, word, n) || a.what >= 0 || a.type == PRED || ptx_type_bytes(a.type) > 8)
		return unknown;
	unsigned values = a.vector ? (unsigned)a.vector : 1, want = values + 1 + a.hint;
	if (o->n_vector ? o->n_vector != values : values != 1)
		return operands;
	if (o->second || o->not_last || o->at_address != (load ? values + 1 : 1) || values * ptx_type_bytes(a.type) > 32)
		return operands;
	/* .param is the kernel's when it is loaded from, and this thread's in calls (body.c) */
	op->space = a.space == PARAM && o->address_symbol && o->symbol_space == LOCAL ? LOCAL : (uint8_t)a.space;
	if (!load && op->space == PARAM)
		return "writes to a parameter";
	if (a.space == GENERIC && o->address_symbol)
		return "a variable's name as a generic address";
	op->type = (uint8_t)a.type;
	op->n_dst = (uint8_t)values;
	op->fn = load ? ptx_load : ptx_store;
	return take(op, o, want, want, load ? values : 0);
}

static bool can_combine(int what, int type)
{
	bool bits = type == B32 || type == B64, u = type == U32 || type == U64, s = type == S32 || type == S64;
	switch (what) {
	case DO_ADD:
		return u || type == S32 || type == F32 || type == F64 || type == F16 || type == BF16 || type == F16X2 || type == BF16X2;
	case DO_MIN:
	case DO_MAX: return u || s;
	case DO_AND:
	case DO_OR:
	case DO_XOR: return bits;
	case DO_EXCH: return bits;
	case DO_CAS: return bits || type == B16;
	default: return type == U32;
	}
}

static const char *atomic(struct ptx_op *op, char *const *word, size_t n, const struct ptx_operands *o)
{
	bool atom = is(word[0], "atom");
	struct access a = {.what = -1};
	if (!access_words(&a, word, n) || a.what < 0 || a.space > SHARED || !can_combine(a.what, a.type))
		return unknown;
	if (a.vector || (!atom && (a.what == DO_EXCH || a.what == DO_CAS)))
		return unknown;
	unsigned want = (a.what == DO_CAS ? 3u : 2u) + atom + a.hint;
	if (o->at_address != 1 + atom || o->second || o->not_last)
		return operands;
	/* Triton writes { %r1 } around one value. */
	if (o->n_vector > 1 || (op->space == GENERIC && o->address_symbol))
		return operands;
	op->space = (uint8_t)a.space;
	op->type = (uint8_t)a.type;
	op->what = (uint8_t)a.what;
	op->n_dst = atom;
	op->fn = ptx_atom;
	return take(op, o, want, want, atom);
}

/* cp.async.ca.shared.global [to], [from], bytes{, bytes_read}{, policy} */
static const char *copy_async(struct ptx_op *op, char *const *word, size_t n, const struct ptx_operands *o)
{
	bool hint = false;
	op->fn = ptx_nothing;
	if (n >= 3 && (is(word[2], "commit_group") || is(word[2], "wait_group") || is(word[2], "wait_all")))
		return n == 3 ? NULL : unknown;
	if (n < 5 || which("ca cg", word[2]) < 0 || which("shared shared::cta", word[3]) < 0 || !is(word[4], "global"))
		return unknown;
	for (size_t i = 5; i < n; i++)
		if (is(word[i], "L2::cache_hint"))
			hint = true;
		else if (which("L2::64B L2::128B L2::256B", word[i]) < 0)
			return unknown;
	if (o->at_address != 2 || o->n < 3 || !(o->literal >> 2 & 1) || (o->value[2] != 4 && o->value[2] != 8 && o->value[2] != 16))
		return operands;
	op->fn = ptx_copy_async;
	const char *why = take(op, o, 3u + hint, 4u + hint, 0);
	op->n = (uint8_t)(o->n - hint);
	op->offset = o->first_offset;
	op->offset2 = o->offset;
	op->what = (uint8_t)o->value[2];
	return why;
}

/* ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {d...}, [a];  stmatrix the other way */
static const char *matrix(struct ptx_op *op, char *const *word, size_t n, const struct ptx_operands *o)
{
	bool load = *word[0] == 'l', trans = n == 8;
	int x = n < 7 ? -1 : which("x1 x2 x4", word[4]);
	if (x < 0 || n > 8 || !is(word[1], "sync") || !is(word[2], "aligned") || !is(word[3], "m8n8") || (trans && !is(word[5], "trans")) ||
	    which("shared shared::cta", word[n - 2]) < 0 || !is(word[n - 1], "b16"))
		return unknown;
	op->n_dst = (uint8_t)(1 << x);
	if (o->n_vector != op->n_dst || o->at_address != (load ? op->n_dst + 1 : 1) || o->second || o->not_last)
		return operands;
	op->hi = trans;
	op->fn = load ? ptx_load_matrix : ptx_store_matrix;
	return take(op, o, op->n_dst + 1u, op->n_dst + 1u, load ? op->n_dst : 0);
}

/* ---- between threads ---- */

static const char *barrier(struct ptx_op *op, char *const *word, size_t n, const struct ptx_operands *o)
{
	size_t i = 1;
	if (n > 1 && is(word[1], "warp"))
		return n == 3 && is(word[2], "sync") ? (op->flow = FLOW_WARP, op->fn = ptx_nothing, take(op, o, 1, 1, 0)) : unknown;
	i += i < n && is(word[i], "cta");
	bool arrive = i < n && is(word[i], "arrive");
	if (i == n || (!arrive && !is(word[i], "sync")) || n > i + 2 || (n == i + 2 && !is(word[i + 1], "aligned")))
		return unknown;
	if (plain(o) || (arrive && o->n != 2))
		return operands;
	op->flow = arrive ? FLOW_ARRIVE : FLOW_BARRIER;
	return take(op, o, 1, 2, 0);
}

static const char *exchange(struct ptx_op *op, const char *rest, const struct opcode *c, const struct ptx_operands *o)
{
	static const struct {
		const char *name;
		uint8_t operands, mask, what; /* mask: which operand */
		ptx_fn *fn;
	} forms[] = {{"shfl.sync.up", 5, 4, SHFL_UP, ptx_shfl},
		     {"shfl.sync.down", 5, 4, SHFL_DOWN, ptx_shfl},
		     {"shfl.sync.bfly", 5, 4, SHFL_BFLY, ptx_shfl},
		     {"shfl.sync.idx", 5, 4, SHFL_IDX, ptx_shfl},
		     {"vote.sync.ballot", 3, 2, VOTE_BALLOT, ptx_vote},
		     {"vote.sync.any", 3, 2, VOTE_ANY, ptx_vote},
		     {"vote.sync.all", 3, 2, VOTE_ALL, ptx_vote},
		     {"vote.sync.uni", 3, 2, VOTE_UNI, ptx_vote},
		     {"match.any.sync", 3, 2, 0, ptx_match},
		     {"match.all.sync", 3, 2, 1, ptx_match},
		     {"redux.sync.add", 3, 2, DO_ADD, ptx_redux},
		     {"redux.sync.min", 3, 2, DO_MIN, ptx_redux},
		     {"redux.sync.max", 3, 2, DO_MAX, ptx_redux},
		     {"redux.sync.and", 3, 2, DO_AND, ptx_redux},
		     {"redux.sync.or", 3, 2, DO_OR, ptx_redux},
		     {"redux.sync.xor", 3, 2, DO_XOR, ptx_redux},
		     {"redux.sync.min.NaN", 3, 2, DO_MIN, ptx_redux},
		     {"redux.sync.max.NaN", 3, 2, DO_MAX, ptx_redux},
		     {"elect.sync", 2, 1, 0, ptx_elect}};
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (!is(forms[i].name, rest))
			continue;
		bool f32 = c->n_types == 1 && c->type[0] == F32, elect = forms[i].fn == ptx_elect;
		if (c->modifiers || c->n_types != !elect ||
		    (f32 && (forms[i].fn != ptx_redux || (forms[i].what != DO_MIN && forms[i].what != DO_MAX))))
			return unknown;
		if (o->n_vector || o->at_address || (elect && !o->second))
			return operands;
		op->fn = forms[i].fn;
		op->what = forms[i].what;
		op->type = c->n_types ? c->type[0] : NONE;
		op->nan = strstr(rest, ".NaN") != NULL;
		op->flow = FLOW_WARP;
		op->n_dst = (uint8_t)(1 + o->second);
		return take(op, o, forms[i].operands + o->second, forms[i].operands + o->second, 1u + o->second);
	}
	return unknown;
}

/* ---- the rest ---- */

static bool nothing(char *const *word, size_t n)
{
	static const char *const names[] = {"fence",     "membar",        "prefetch", "createpolicy", "griddepcontrol",
					    "nanosleep", "applypriority", "discard",  "prefetchu",    "setmaxnreg"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is(word[0], names[i]))
			return !(n > 1 && is(word[0], "fence") && is(word[1], "mbarrier_init"));
	return false;
}

static const char *finish(struct ptx_op *op, const char *name, size_t n, const struct ptx_operands *o)
{
	op->flow = is(name, "trap") ? FLOW_TRAP : FLOW_EXIT;
	return n == 1 && !o->n ? NULL : unknown;
}

const char *ptx_decode(struct ptx_op *op, char *const *word, size_t n, const struct ptx_operands *o)
{
	const char *name = word[0];
	struct opcode c = {0};
	if (is(name, "setp") || is(name, "set"))
		return compare(op, word, n, o);
	if (is(name, "mov"))
		return move(op, word, n, o);
	if (is(name, "cvta"))
		return cvta(op, word, n, o);
	if (is(name, "ld") || is(name, "st"))
		return load_store(op, word, n, o);
	if (is(name, "atom") || is(name, "red"))
		return atomic(op, word, n, o);
	if (is(name, "ldmatrix") || is(name, "stmatrix"))
		return matrix(op, word, n, o);
	if (is(name, "cp") && n > 2 && is(word[1], "async"))
		return copy_async(op, word, n, o);
	if (is(name, "bar") || is(name, "barrier"))
		return barrier(op, word, n, o);
	if (is(name, "ret") || is(name, "exit") || is(name, "trap"))
		return finish(op, name, is(word[n - 1], "uni") ? n - 1 : n, o);
	if (nothing(word, n)) {
		op->fn = ptx_nothing;
		return NULL;
	}
	if (is(name, "activemask") && n == 2 && is(word[1], "b32")) {
		op->fn = ptx_activemask;
		return take(op, o, 1, 1, 1);
	}
	if (!sort_words(op, &c, word, n))
		return unknown;
	if (is(name, "cvt"))
		return cvt(op, &c, o);
	if (begins(c.rest, "shfl.") || begins(c.rest, "vote.") || begins(c.rest, "match.") || begins(c.rest, "redux.") ||
	    begins(c.rest, "elect."))
		return exchange(op, c.rest, &c, o);
	return compute(op, &c, o);
}
