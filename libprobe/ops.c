/* One call of a kernel or op: before and after. */
#include "ops.h"

#include <errno.h>

#define UNKNOWN_WORDS 1024 /* of arguments on the stack, where their number is not known */

static inline void fill(const struct ops_thread *t, const struct ops_run *run, struct call_record *rec)
{
	rec->model = run->model->id;
	rec->run = run->run;
	rec->pid = t->pid;
	rec->tid = t->tid;
	rec->ticks = ops_ticks;
}

void ops_append(const struct ops_thread *t, const struct ops_run *run, struct call_record *rec)
{
	fill(t, run, rec);
	calls_append(ops_log(), rec);
}

void ops_tell_run(const struct ops_thread *t, struct ops_run *run)
{
	struct call_record r;
	if (LIKELY(run->told))
		return;
	run->told = true;
	if (run->run == CALLS_NO_RUN)
		return;
	r.what = CALL_RUN_BEGIN;
	r.time = run->begun;
	r.call = r.name = 0;
	r.contract_call = CALLS_NO_CALL;
	r.result = 0;
	r.took = 0;
	fill(t, run, &r);
	run->seq = calls_begin(ops_log(), &r);
}

/* The begin and end of a call. What such a record does not have is not set: that would take longer than the rest. */
static inline void fill_call(const struct ops_open *o, struct call_record *r, enum call_what what, int32_t result, uint64_t took)
{
	r->what = what;
	r->call = o->call;
	r->contract_call = o->contract_call;
	r->name = o->name;
	r->result = result;
	r->took = took;
}

static void append_begin(const struct ops_thread *t, const struct ops_run *run, struct ops_open *o)
{
	struct call_record r;
	fill_call(o, &r, CALL_BEGIN, 0, 0);
	fill(t, run, &r);
	o->begun = r.time = ops_now();
	o->seq = calls_begin(ops_log(), &r);
}

static void append_end(const struct ops_thread *t, const struct ops_run *run, const struct ops_open *o, uint64_t now, int32_t result)
{
	struct call_record r;
	fill_call(o, &r, CALL_END, result, now - o->begun);
	fill(t, run, &r);
	r.time = now;
	r.seq = o->seq;
	calls_append(ops_log(), &r);
}

/* Which call of the contract is it? Branches and loops leave calls out and come back to them. */
static uint32_t match(struct ops_run *run, const struct ops_site *s)
{
	const struct model *m = run->model;
	const struct ops *ops = m->ops;
	const uint32_t n = m->has_contract ? m->contract.n_calls : 0, site = (uint32_t)(s - ops_site);
	if (run->run == CALLS_NO_RUN)
		return CALLS_NO_CALL;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = run->next + i < n ? run->next + i : run->next + i - n;
		if (ops->call_site[k] == site) {
			run->next = k + 1 < n ? k + 1 : 0;
			return k;
		}
	}
	return CALLS_NO_CALL;
}

/* The Run that this call belongs to. */
static struct ops_run *run_of(struct ops_thread *t, const struct ops_site *s, uintptr_t sp)
{
	struct ops_run *run = ops_run_at(t, sp);
	if (LIKELY(t->depth && run->model == s->model))
		return run;
	run = &t->run[0];
	run->model = s->model;
	run->run = CALLS_NO_RUN;
	run->watched = ops_config()->first_run == 0;
	return run;
}

/* A call that neither returned nor crashed: an exception went through it. */
void ops_left(struct ops_thread *t, struct ops_run *run)
{
	struct ops_open *o = &run->open;
	if (!o->used)
		return;
	o->used = false;
	append_end(t, run, o, ops_now(), CALLS_NOT_RETURNED);
}

static uint32_t proxy_name(const struct ops_site *s, uint64_t node)
{
	char text[48];
	int n = snprintf(text, sizeof(text), "proxy_executor[%d]", (int)node);
	return n > 0 ? ops_name(slice_of(text, (size_t)n)) : s->name_id;
}

static struct ops_open *begin(struct ops_thread *t, struct ops_run *run, const struct ops_site *s, const struct ops_regs *r,
			      const uint64_t *stack)
{
	struct ops_open *o = &run->open;
	const struct ops *ops = s->model->ops;
	const uint32_t call = run->calls++, k = match(run, s);
	const bool passes = k == CALLS_NO_CALL ? s->passes : ops->call_passes[k] != 0;
	if (UNLIKELY(o->used))
		ops_left(t, run);
	/* Nobody will ask for it. The name of a custom op says only the call which it is. */
	if (!passes && (k != CALLS_NO_CALL || s->kind != SITE_PROXY)) {
		if (run->run != CALLS_NO_RUN)
			run->unlogged++;
		else
			atomic_fetch_add_explicit(&ops_log()->unlogged, 1, memory_order_relaxed);
		return NULL;
	}
	o->used = true;
	o->site = s;
	o->sp = (uintptr_t)stack;
	o->call = call;
	o->contract_call = k;
	o->name = s->name_id;
	o->looked = passes && ops_wants_values();
	if (k != CALLS_NO_CALL)
		o->name = ops->call_name[k];
	else if (s->kind == SITE_PROXY)
		o->name = proxy_name(s, r->ints[1]);
	ops_tell_run(t, run);
	append_begin(t, run, o);
	if (o->looked) {
		ops_read_arguments(t, run, o, r->ints, stack);
		ops_values_before(t, run, o);
		o->begun = ops_now();
	}
	return o;
}

static uint64_t words_of(struct ops_thread *t, const struct ops_site *s, const uint64_t *stack)
{
	if (LIKELY(s->stack_words != UINT32_MAX))
		return s->stack_words;
	/* Up to the end of the stack, at most; there are frames of the model above. */
	uintptr_t top = t ? ops_stack_top(t) : 0, at = (uintptr_t)stack;
	uint64_t left = top > at ? (top - at) / 8 : 16;
	return left < UNKNOWN_WORDS ? left : UNKNOWN_WORDS;
}

struct ops_go probe_before(struct ops_regs *r, const uint64_t *stack)
{
	const struct ops_site *s = &ops_site[r->site];
	int saved = errno;
	r->open = NULL;
	struct ops_thread *t = ops_thread();
	struct ops_go go = {s->target, words_of(t, s, stack)};
	if (LIKELY(t && probe_enter())) {
		struct ops_run *run = run_of(t, s, (uintptr_t)stack);
		if (UNLIKELY(run->failed))
			go = (struct ops_go){NULL, s->kind != SITE_KERNEL}; /* AOTI_TORCH_FAILURE */
		else if (run->watched && s->kind != SITE_GATE)
			r->open = begin(t, run, s, r, stack);
		t->n_fetched = 0;
		probe_leave();
	}
	errno = saved;
	return go;
}

static void finish(struct ops_thread *t, struct ops_run *run, const struct ops_regs *r, uint64_t now)
{
	struct ops_open *o = r->open;
	int32_t result = o->site->kind == SITE_KERNEL ? 0 : (int32_t)r->rax;
	o->used = false;
	o->ended = now;
	append_end(t, run, o, now, result);
	if (!o->looked || result)
		return;
	/* A Run inside of this op has used the same room. */
	if (UNLIKELY(t->values_of != o->seq))
		ops_read_arguments(t, run, o, r->ints, (const uint64_t *)o->sp);
	ops_values_after(t, run, o);
}

void probe_after(struct ops_regs *r)
{
	int saved = errno;
	uint64_t now = ops_now();
	struct ops_open *o = r->open;
	struct ops_thread *t = ops_thread_if_any();
	if (LIKELY(t && probe_enter())) {
		struct ops_run *run = (struct ops_run *)((char *)o - offsetof(struct ops_run, open));
		/* A Run inside of an op may have ended this one, if stacks are not what we think. */
		if (LIKELY(o->used))
			finish(t, run, r, now);
		t->n_fetched = 0;
		probe_leave();
	}
	errno = saved;
}

void ops_fetched(void *handle, void *address)
{
	struct ops_thread *t = ops_thread();
	if (t && t->n_fetched < OPS_FETCHED) {
		t->fetched[t->n_fetched].handle = handle;
		t->fetched[t->n_fetched++].address = (uintptr_t)address;
	}
}
