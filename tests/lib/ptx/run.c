/* A grid: CTAs, warps, branches, barriers. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in.h"

#define BUDGET 20000000000ull

static void thread_id(const struct ptx_cta *c, uint32_t index, uint32_t id[3])
{
	const uint32_t *n = c->l->block;
	id[0] = index % n[0];
	id[1] = index / n[0] % n[1];
	id[2] = index / n[0] / n[1];
}

void ptx_stop(struct ptx_warp *w, const struct ptx_op *op, uint32_t lane, int rc, uint64_t address, const char *fmt, ...)
{
	struct ptx_cta *c = w->cta;
	struct ptx_fault *f = &c->l->fault;
	va_list args;
	if (c->rc)
		return;
	c->rc = rc;
	f->line = op->line;
	f->address = address;
	memcpy(f->block, c->id, sizeof(f->block));
	thread_id(c, LANES * w->index + lane, f->thread);
	va_start(args, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, args);
	va_end(args);
}

/* ---- the end by __assertfail ---- */

static void copy_text(struct ptx_warp *w, uint64_t at, char *to, size_t room)
{
	struct ptx_range r = {0};
	size_t n = 0;
	if (w->cta->l->find && w->cta->l->find(w->cta->l->user, at, &r) && at >= r.at && at - r.at < r.bytes)
		for (const char *p = r.data + (at - r.at); n + 1 < room && n < r.bytes - (at - r.at) && p[n]; n++)
			to[n] = p[n] >= ' ' && p[n] <= '~' ? p[n] : '?';
	to[n] = 0;
}

/* Parameters: message, file, line, function, size of a character. Each is where st.param has put it. */
static void assertion(struct ptx_warp *w, const struct ptx_op *op)
{
	char text[3][256];
	uint32_t line = 0, id[3], lane = (uint32_t)__builtin_ctz(w->active);
	const char *local = w->local + (size_t)lane * w->cta->k->code->local;
	static const uint8_t which[] = {0, 1, 3};
	for (int i = 0; i < 3; i++) {
		uint64_t at = 0, from = COL(which[i])[lane];
		if (from + 8 <= w->cta->k->code->local)
			memcpy(&at, local + from, 8);
		copy_text(w, at, text[i], sizeof(text[i]));
	}
	if (COL(2)[lane] + 4 <= w->cta->k->code->local)
		memcpy(&line, local + COL(2)[lane], 4);
	thread_id(w->cta, LANES * w->index + lane, id);
	snprintf(w->cta->l->said, sizeof(w->cta->l->said), "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.",
		 text[1], line, text[2], w->cta->id[0], w->cta->id[1], w->cta->id[2], id[0], id[1], id[2], text[0]);
	ptx_stop(w, op, lane, 710, 0, "assertion: %.80s", text[0]);
}

/* ---- a warp ---- */

static uint32_t lowest_pc(const struct ptx_warp *w, uint32_t among, uint32_t *others)
{
	uint32_t pc = UINT32_MAX, at = 0;
	*others = UINT32_MAX;
	for (uint32_t m = among; m; m &= m - 1)
		pc = w->pc[__builtin_ctz(m)] < pc ? w->pc[__builtin_ctz(m)] : pc;
	for (uint32_t m = among; m; m &= m - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(m);
		if (w->pc[l] == pc)
			at |= 1u << l;
		else
			*others = w->pc[l] < *others ? w->pc[l] : *others;
	}
	return at;
}

static void set_pc(struct ptx_warp *w, uint32_t lanes, uint32_t pc)
{
	for (uint32_t m = lanes; m; m &= m - 1)
		w->pc[__builtin_ctz(m)] = pc;
}

/* Which threads an exchange wants: all operands of these forms end with the mask. */
static uint32_t members(const struct ptx_warp *w, const struct ptx_op *op, uint32_t lane) { return (uint32_t)COL(op->n - 1)[lane]; }

/* Those of lanes whose partners are all here, at the same instruction with the same mask, or have ended. */
static uint32_t complete(const struct ptx_warp *w, const struct ptx_op *op, uint32_t lanes)
{
	for (uint32_t m = lanes; m; m &= m - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(m), mask = members(w, op, l), want = mask & w->live, same = 0;
		for (uint32_t k = lanes; k; k &= k - 1)
			if (members(w, op, (uint32_t)__builtin_ctz(k)) == mask)
				same |= k & -k;
		if (want >> l & 1 && !(want & ~same))
			return want;
	}
	return 0;
}

/* Some threads have waited for others of their warp: do what can be done. */
static bool resolve(struct ptx_warp *w)
{
	bool any = false;
	for (uint32_t m = w->waiting, done = 0; m && !w->cta->rc; m &= ~done) {
		uint32_t first = (uint32_t)__builtin_ctz(m), pc = w->pc[first], here = 0;
		for (uint32_t k = w->waiting; k; k &= k - 1)
			if (!w->barrier[__builtin_ctz(k)] && w->pc[__builtin_ctz(k)] == pc)
				here |= k & -k;
		done = 1u << first | here;
		if (w->barrier[first])
			continue;
		const struct ptx_op *op = &w->cta->k->code->op[pc];
		for (uint32_t set; (set = complete(w, op, here)); here &= ~set) {
			w->active = set;
			op->fn(w, op);
			w->waiting &= ~set;
			set_pc(w, set, pc + 1);
			any = true;
		}
	}
	return any;
}

static void at_barrier(struct ptx_warp *w, const struct ptx_op *op, uint32_t lanes, uint32_t pc)
{
	EACH(l)
	{
		uint32_t id = (uint32_t)COL(0)[l], n = op->n > 1 ? (uint32_t)COL(1)[l] : 0;
		if (id > 15 || n % LANES) {
			ptx_stop(w, op, l, 719, 0, "a barrier %u for %u threads", id, n);
			return;
		}
		if (op->flow == FLOW_ARRIVE) {
			w->cta->arrived[id]++;
			continue;
		}
		w->barrier[l] = (uint8_t)(id + 1);
		w->expected[l] = n;
	}
	if (op->flow == FLOW_BARRIER)
		w->waiting |= lanes;
	set_pc(w, lanes, pc + 1);
}

/* What changes the order. True: go on with the same threads at *pc. */
static bool flow(struct ptx_warp *w, const struct ptx_op *op, uint32_t all, uint32_t m, uint32_t *pc)
{
	uint32_t rest = all & ~m;
	w->active = m;
	switch (op->flow) {
	case FLOW_BRANCH:
		if (!rest) {
			*pc = op->target;
			return true;
		}
		set_pc(w, m, op->target);
		break;
	case FLOW_EXIT: w->live &= ~m; break;
	case FLOW_TRAP: ptx_stop(w, op, (uint32_t)__builtin_ctz(m), 719, 0, "trap"); break;
	case FLOW_ASSERT: assertion(w, op); break;
	case FLOW_WARP:
		if (complete(w, op, m) == m) {
			op->fn(w, op);
			set_pc(w, m, *pc + 1);
			if (!rest) {
				++*pc;
				return true;
			}
		} else {
			w->waiting |= m;
			for (uint32_t k = m; k; k &= k - 1)
				w->barrier[__builtin_ctz(k)] = 0;
			set_pc(w, m, *pc);
		}
		break;
	default: at_barrier(w, op, m, *pc);
	}
	set_pc(w, rest, *pc + 1);
	return false;
}

/* The threads of `all` from pc on, until they part, wait, end, or others are behind them. */
static void run_set(struct ptx_warp *w, uint32_t all, uint32_t pc, uint32_t others)
{
	const struct ptx_op *ops = w->cta->k->code->op;
	unsigned n = (unsigned)__builtin_popcount(all);
	uint64_t begin = w->clock;
	for (; pc < others && !w->cta->rc; w->clock++) {
		const struct ptx_op *op = &ops[pc];
		uint32_t m = all;
		if (op->guard != NO_REG) {
			const uint64_t *g = w->reg + (size_t)LANES * op->guard;
			uint32_t yes = 0;
			for (uint32_t k = all; k; k &= k - 1)
				yes |= (uint32_t)(g[__builtin_ctz(k)] & 1) << __builtin_ctz(k);
			m = op->guard_not ? all & ~yes : yes;
		}
		if (!m) {
			pc++;
		} else if (op->flow == FLOW_ON) {
			w->active = m;
			op->fn(w, op);
			pc++;
		} else if (!flow(w, op, all, m, &pc)) {
			w->cta->l->executed += n * (w->clock + 1 - begin);
			w->clock++;
			return;
		}
		if ((w->clock & 0xfff) == 0xfff && w->cta->l->executed + n * (w->clock - begin) > w->cta->l->budget)
			ptx_stop(w, op, (uint32_t)__builtin_ctz(all), 702, 0, "more than %llu instructions",
				 (unsigned long long)w->cta->l->budget);
	}
	w->cta->l->executed += n * (w->clock - begin);
	set_pc(w, all, pc);
}

/* Until all of its threads wait for other warps, or have ended. */
static void run_warp(struct ptx_warp *w)
{
	while (!w->cta->rc) {
		uint32_t ready = w->live & ~w->waiting, others;
		if (!ready) {
			if (!resolve(w))
				return;
			continue;
		}
		uint32_t all = lowest_pc(w, ready, &others);
		run_set(w, all, w->pc[__builtin_ctz(all)], others);
	}
}

/* ---- a CTA ---- */

static bool release(struct ptx_cta *c, uint32_t id)
{
	uint32_t here = c->arrived[id], live = 0, expected = 0;
	for (uint32_t i = 0; i < c->n_warps; i++) {
		struct ptx_warp *w = &c->warp[i];
		live += (uint32_t)__builtin_popcount(w->live);
		for (uint32_t m = w->waiting; m; m &= m - 1)
			if (w->barrier[__builtin_ctz(m)] == id + 1) {
				here++;
				expected = w->expected[__builtin_ctz(m)];
			}
	}
	if (!here || here < (expected ? expected : live))
		return false;
	c->arrived[id] = 0;
	for (uint32_t i = 0; i < c->n_warps; i++)
		for (uint32_t m = c->warp[i].waiting; m; m &= m - 1)
			if (c->warp[i].barrier[__builtin_ctz(m)] == id + 1) {
				c->warp[i].waiting &= ~(m & -m);
				c->warp[i].barrier[__builtin_ctz(m)] = 0;
			}
	return true;
}

static void stuck(struct ptx_cta *c)
{
	for (uint32_t i = 0; i < c->n_warps; i++)
		if (c->warp[i].live) {
			struct ptx_warp *w = &c->warp[i];
			uint32_t lane = (uint32_t)__builtin_ctz(w->live), pc = w->pc[lane];
			ptx_stop(w, &c->k->code->op[pc && w->barrier[lane] ? pc - 1 : pc], lane, 702, 0, "threads wait for each other");
			return;
		}
}

static bool alive(const struct ptx_cta *c)
{
	for (uint32_t i = 0; i < c->n_warps; i++)
		if (c->warp[i].live)
			return true;
	return false;
}

static void run_cta(struct ptx_cta *c)
{
	while (!c->rc) {
		for (uint32_t i = 0; i < c->n_warps && !c->rc; i++)
			run_warp(&c->warp[i]);
		if (c->rc || !alive(c))
			return;
		bool any = false;
		for (uint32_t id = 0; id < 16; id++)
			any |= release(c, id);
		if (!any)
			stuck(c);
	}
}

/* ---- a grid ---- */

static void fill(struct ptx_warp *w, uint32_t reg, uint64_t value)
{
	for (uint32_t l = 0; l < LANES; l++)
		w->reg[(size_t)LANES * reg + l] = value;
}

/* What stays the same in all CTAs. */
static void prepare_warp(struct ptx_warp *w)
{
	struct ptx_cta *c = w->cta;
	const struct ptx_code *code = c->k->code;
	for (int i = 0; i < 3; i++) {
		fill(w, SR_NTID + (uint32_t)i, c->l->block[i]);
		fill(w, SR_NCTAID + (uint32_t)i, c->l->grid[i]);
	}
	for (uint32_t l = 0; l < LANES; l++) {
		uint32_t id[3], bit = 1u << l;
		thread_id(c, LANES * w->index + l, id);
		for (uint32_t i = 0; i < 3; i++)
			w->reg[LANES * (SR_TID + i) + l] = id[i];
		w->reg[LANES * SR_LANEID + l] = l;
		w->reg[LANES * SR_MASK_EQ + l] = bit;
		w->reg[LANES * SR_MASK_LT + l] = bit - 1;
		w->reg[LANES * SR_MASK_LE + l] = bit | (bit - 1);
		w->reg[LANES * SR_MASK_GT + l] = (uint32_t) ~(bit | (bit - 1));
		w->reg[LANES * SR_MASK_GE + l] = (uint32_t) ~(bit - 1);
	}
	fill(w, SR_WARPID, w->index);
	fill(w, SR_NWARPID, c->n_warps);
	fill(w, SR_NSMID, 1);
	fill(w, SR_DYNAMIC_SMEM, c->l->shared);
	for (size_t i = 0; i < code->n_constants; i++)
		fill(w, code->constant[i].reg, code->constant[i].value);
	for (size_t i = 0; i < code->n_relocs; i++)
		fill(w, code->reloc[i].reg, code->reloc[i].offset + (code->reloc[i].what == RELOC_DATA ? c->l->data_at : code->dynamic_at));
}

static void begin_cta(struct ptx_cta *c)
{
	uint32_t threads = c->l->block[0] * c->l->block[1] * c->l->block[2];
	memset(c->arrived, 0, sizeof(c->arrived));
	memset(c->shared, 0xff, c->shared_bytes); /* as nobody has written it */
	for (uint32_t i = 0; i < c->n_warps; i++) {
		struct ptx_warp *w = &c->warp[i];
		uint32_t n = threads - LANES * i;
		w->live = n >= LANES ? UINT32_MAX : (1u << n) - 1;
		w->waiting = w->carry = 0;
		memset(w->pc, 0, sizeof(w->pc));
		memset(w->barrier, 0, sizeof(w->barrier));
		for (uint32_t k = 0; k < 3; k++)
			fill(w, SR_CTAID + k, c->id[k]);
	}
}

static int prepare(struct ptx_cta *c)
{
	const struct ptx_kernel *k = c->k;
	uint64_t threads = (uint64_t)c->l->block[0] * c->l->block[1] * c->l->block[2];
	c->n_warps = (uint32_t)((threads + LANES - 1) / LANES);
	c->shared_bytes = c->l->shared ? k->code->dynamic_at + c->l->shared : k->shared;
	c->shared = malloc(c->shared_bytes ? c->shared_bytes : 1);
	c->warp = calloc(c->n_warps, sizeof(*c->warp));
	if (!c->shared || !c->warp)
		return 2;
	for (uint32_t i = 0; i < c->n_warps; i++) {
		struct ptx_warp *w = &c->warp[i];
		w->index = i;
		w->cta = c;
		w->reg = calloc((size_t)k->code->n_regs * LANES, sizeof(*w->reg));
		w->local = calloc((size_t)k->code->local * LANES + 1, 1);
		if (!w->reg || !w->local)
			return 2;
		prepare_warp(w);
	}
	return 0;
}

static void finish(struct ptx_cta *c)
{
	for (uint32_t i = 0; c->warp && i < c->n_warps; i++) {
		free(c->warp[i].reg);
		free(c->warp[i].local);
	}
	free(c->warp);
	free(c->shared);
}

/* The launch is one that the kernel takes: else CUDA_ERROR_INVALID_VALUE. */
static bool fits(const struct ptx_kernel *k, const struct ptx_launch *l)
{
	uint64_t threads = 1;
	for (int i = 0; i < 3; i++) {
		if (!l->grid[i] || !l->block[i] || l->block[i] > 1024 || (k->reqntid[0] && l->block[i] != k->reqntid[i]))
			return false;
		threads *= l->block[i];
	}
	return threads <= 1024 && (!k->maxntid || threads <= k->maxntid) && l->shared <= 1 << 20;
}

int ptx_run(const struct ptx_kernel *k, struct ptx_launch *l)
{
	struct ptx_cta c = {.k = k, .l = l};
	l->budget = l->budget ? l->budget : BUDGET;
	l->executed = 0;
	memset(&l->fault, 0, sizeof(l->fault));
	l->said[0] = 0;
	if (!fits(k, l))
		return 1;
	c.rc = prepare(&c);
	for (c.id[2] = 0; c.id[2] < l->grid[2] && !c.rc; c.id[2]++)
		for (c.id[1] = 0; c.id[1] < l->grid[1] && !c.rc; c.id[1]++)
			for (c.id[0] = 0; c.id[0] < l->grid[0] && !c.rc; c.id[0]++) {
				begin_cta(&c);
				run_cta(&c);
			}
	finish(&c);
	return c.rc;
}
