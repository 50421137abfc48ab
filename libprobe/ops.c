/* ops.c - a call of a kernel or op: before it and after it. */
#include "guard.h"

#include <errno.h>

#define UNKNOWN_WORDS 1024 /* of arguments on the stack, if their number is unknown */

static void append_begin(const struct ops_thread *t, const struct ops_run *run, struct ops_open *o)
{
	struct call_record r;
	ops_fill_call(o, &r, CALL_BEGIN, 0, 0);
	ops_fill_record(t, run, &r);
	o->begun = r.time = ops_now();
	o->seq = calls_begin(ops_log(), &r);
}

/* Which call of the contract is it? Branches skip calls, and loops repeat them. */
static uint32_t match_call(struct ops_run *run, const struct ops_site *s)
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

/* The run that this call belongs to. */
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

static uint32_t proxy_name(const struct ops_site *s, uint64_t node)
{
	char text[48];
	int n = snprintf(text, sizeof(text), "proxy_executor[%d]", (int)node);
	return n > 0 ? ops_name(slice_of(text, (size_t)n)) : s->name_id;
}

void ops_device_before(struct ops_thread *t, struct ops_run *run, struct ops_open *o)
{
	/* A launch's graph was noted when it was reported (cuda_tell_launch). */
	if (o->launch.captured && !o->launch.kernel)
		o->launch.graph = cuda_graph_take(run->model->id, o->name, o->launch.stream);
	cuda_before(t, run, o);
	const bool scans = o->looked && ops_want() & CALLS_SCAN && cuda_scan_before(t, run, o);
	if (o->looked && ops_wants_contents() && !scans) {
		cuda_look_on(t, run->model, o->launch.stream);
		ops_values_before(t, run, o);
		cuda_unread(t, run, o);
		cuda_look_away(t);
	}
	if (ops_want() & CALLS_TIMES)
		cuda_time_begin(run, o);
	o->begun = ops_now();
}

void ops_device_after(struct ops_thread *t, struct ops_run *run, struct ops_open *o, int32_t result)
{
	if (UNLIKELY(o->timed))
		cuda_time_end(o, !result);
	if (!cuda_after(t, run, o, result) || !o->looked || result || !ops_wants_contents())
		return;
	if (ops_want() & CALLS_SCAN && cuda_scan_after(t, run, o))
		return;
	cuda_look_on(t, run->model, o->launch.stream);
	ops_values_after(t, run, o);
	cuda_unread(t, run, o);
	cuda_look_away(t);
}

static void begin_on_device(struct ops_thread *t, struct ops_run *run, struct ops_open *o, const struct cuda_launch *l,
			    const uint64_t *ints, const uint64_t *stack)
{
	o->launch = *l;
	if (l->kernel)
		cuda_tell_launch(t, run, o);
	if (o->looked) {
		ops_read_arguments(t, run, o, ints, stack);
		cuda_check(t, run, o);
	}
	ops_device_before(t, run, o);
}

/* Are this call's values requested? */
static inline bool is_looked_at(uint32_t call)
{
	return ops_wants_values() && (!ops_config()->one_call || ops_config()->one_call == call + 1);
}

static inline void open_call(struct ops_open *o, const struct ops_site *s, uintptr_t sp, uint32_t call, uint32_t k)
{
	o->used = true;
	o->site = s;
	o->sp = sp;
	o->call = call;
	o->contract_call = k;
	o->name = s->name_id;
	o->launch.gpu = o->launch.kernel = false;
	o->timed = 0;
	o->given = NULL;
}

/* l: how it is launched on a GPU; NULL: not on a GPU. */
static struct ops_open *begin_call(struct ops_thread *t, struct ops_run *run, const struct ops_site *s, struct ops_regs *r,
				   const uint64_t *stack, const struct cuda_launch *l)
{
	struct ops_open *o = &run->open;
	const struct ops *ops = s->model->ops;
	const uint32_t call = run->calls++, k = match_call(run, s);
	const bool passes = k == CALLS_NO_CALL ? s->passes : ops->call_passes[k] != 0;
	if (UNLIKELY(o->used))
		ops_left(t, run);
	/* It will not be requested. Only the call tells which custom op it is. */
	if (!passes && (k != CALLS_NO_CALL || s->kind != SITE_PROXY)) {
		if (run->run != CALLS_NO_RUN)
			run->unlogged++;
		else
			atomic_fetch_add_explicit(&ops_log()->unlogged, 1, memory_order_relaxed);
		return NULL;
	}
	open_call(o, s, (uintptr_t)stack, call, k);
	o->looked = passes && is_looked_at(call) && (!(l && l->captured) || ops_want() & CALLS_SCAN);
	if (k != CALLS_NO_CALL)
		o->name = ops->call_name[k];
	else if (s->kind == SITE_PROXY)
		o->name = proxy_name(s, r->ints[1]);
	else if (l && l->function)
		o->name = l->function->name_id;
	if (UNLIKELY(!run->told))
		ops_tell_run(t, run);
	append_begin(t, run, o);
	if (UNLIKELY(l != NULL)) {
		begin_on_device(t, run, o, l, r->ints, stack);
		return o;
	}
	if (o->looked) {
		ops_read_arguments(t, run, o, r->ints, stack);
		if (UNLIKELY(ops_want() & CALLS_GIVE))
			ops_give(t, run, o, false);
		ops_values_before(t, run, o);
		if (UNLIKELY(guard_wants(s->kind == SITE_KERNEL)))
			guard_before(t, run, o, r, stack);
		o->begun = ops_now();
	}
	return o;
}

struct ops_open *ops_enter(struct ops_thread *t, struct ops_run *run, const struct ops_site *s, uint32_t k, uintptr_t sp)
{
	struct ops_open *o = &run->open;
	const uint8_t passes = run->model->ops->call_passes[k];
	const uint32_t call = run->calls++;
	if (UNLIKELY(o->used))
		ops_left(t, run);
	if (!passes) {
		run->unlogged++;
		return NULL;
	}
	open_call(o, s, sp, call, k);
	o->looked = is_looked_at(call);
	if (UNLIKELY(!run->told))
		ops_tell_run(t, run);
	append_begin(t, run, o);
	return o;
}

void ops_leave(struct ops_thread *t, struct ops_run *run, struct ops_open *o, bool returned)
{
	o->used = false;
	o->ended = ops_now();
	ops_append_end(t, run, o, o->ended, returned ? 0 : CALLS_NOT_RETURNED);
}

static uint64_t words_of(struct ops_thread *t, const struct ops_site *s, const uint64_t *stack)
{
	if (LIKELY(s->stack_words != NONE))
		return s->stack_words;
	/* At most up to the end of the stack; there are frames of the model above. */
	uintptr_t top = t ? ops_stack_top(t) : 0, at = (uintptr_t)stack;
	uint64_t left = top > at ? (top - at) / 8 : 16;
	return left < UNKNOWN_WORDS ? left : UNKNOWN_WORDS;
}

static struct ops_open *on_device(struct ops_thread *t, struct ops_run *run, const struct ops_site *s, struct ops_regs *r,
				  const uint64_t *stack)
{
	struct cuda_launch l;
	switch (s->kind) {
	case SITE_GATE: return NULL;
	case SITE_LAUNCH:
		if (cuda_inside(t, run, s, r, stack))
			return NULL;
		s = cuda_launch(run, s, r, stack, &l);
		break;
	case SITE_KERNEL:
		if (ops_on_cpu(s))
			return begin_call(t, run, s, r, stack, NULL); /* fall through */
	default: cuda_op(s->model, &l);
	}
	return begin_call(t, run, s, r, stack, &l);
}

/* The next call of the contract, which will not be requested: only counted. These are most calls when looking for one kernel. No system
 * call, no function call. False: needs a closer look. */
static inline bool passed_over(const struct ops_site *s, uintptr_t sp)
{
	struct ops_thread *t = ops_self;
	const struct ops *ops = s->model->ops;
	if (!ops->skips || !t || t->pid != ops_process || !t->depth || probe_inside)
		return false;
	struct ops_run *run = &t->run[t->depth];
	const uint32_t k = run->next;
	if (run->sp < sp || run->model != s->model || !run->watched || run->failed || run->open.used ||
	    ops->call_site[k] != (uint32_t)(s - ops_site) || ops->call_passes[k])
		return false;
	run->next = k + 1 < s->model->contract.n_calls ? k + 1 : 0;
	run->calls++;
	run->unlogged++;
	t->n_fetched = 0;
	return true;
}

struct ops_go probe_before(struct ops_regs *r, const uint64_t *stack)
{
	const struct ops_site *s = &ops_site[r->site];
	r->open = NULL;
	if (passed_over(s, (uintptr_t)stack))
		return (struct ops_go){s->target, 0};
	int saved = errno;
	struct ops_thread *t = ops_thread();
	struct ops_go go = {s->target, words_of(t, s, stack)};
	if (LIKELY(t && probe_enter())) {
		struct ops_run *run = run_of(t, s, (uintptr_t)stack);
		const bool kernel = s->kind == SITE_KERNEL || s->kind == SITE_LAUNCH;
		if (UNLIKELY(run->failed))
			go = (struct ops_go){NULL, !kernel}; /* AOTI_TORCH_FAILURE */
		else if (run->watched && UNLIKELY(s->model->ops->cuda))
			r->open = on_device(t, run, s, r, stack);
		else if (run->watched && s->kind != SITE_GATE)
			r->open = begin_call(t, run, s, r, stack, NULL);
		/* Between the addresses of a launch's arguments, a number or scratch memory may be requested. */
		if (s->kind != SITE_GATE)
			t->n_fetched = 0;
		probe_leave();
	}
	errno = saved;
	return go;
}

static void finish_on_device(struct ops_thread *t, struct ops_run *run, const struct ops_regs *r, int32_t result)
{
	struct ops_open *o = r->open;
	/* A run inside this op used the same buffers. */
	if (o->looked && UNLIKELY(t->values_of != o->seq))
		ops_read_arguments(t, run, o, r->ints, (const uint64_t *)o->sp);
	ops_device_after(t, run, o, result);
}

static void finish_call(struct ops_thread *t, struct ops_run *run, const struct ops_regs *r, uint64_t now)
{
	struct ops_open *o = r->open;
	int32_t result = o->site->kind == SITE_KERNEL ? 0 : (int32_t)r->result;
	o->used = false;
	o->ended = now;
	ops_append_end(t, run, o, now, result);
	if (UNLIKELY(o->launch.gpu)) {
		finish_on_device(t, run, r, result);
		return;
	}
	if (!o->looked || result)
		return;
	/* A run inside this op used the same buffers. */
	if (UNLIKELY(t->values_of != o->seq))
		ops_read_arguments(t, run, o, r->ints, (const uint64_t *)o->sp);
	if (UNLIKELY(guard_on()) && o->site->kind != SITE_KERNEL)
		guard_op(t, run);
	ops_values_after(t, run, o);
	if (UNLIKELY(ops_want() & CALLS_GIVE))
		ops_give(t, run, o, true);
}

struct ops_go probe_after(struct ops_regs *r)
{
	int saved = errno;
	uint64_t now = ops_now();
	struct ops_open *o = r->open;
	struct ops_thread *t = ops_thread_if_any();
	struct ops_go go = {NULL, 0};
	if (LIKELY(t && probe_enter())) {
		struct ops_run *run = (struct ops_run *)((char *)o - offsetof(struct ops_run, open));
		/* A run inside an op may have ended this one, if stacks are not as assumed. */
		if (LIKELY(o->used)) {
			if (UNLIKELY(guard_on()) && o->looked && guard_after(t, run, o, r))
				go = (struct ops_go){o->site->target, words_of(t, o->site, (const uint64_t *)o->sp)};
			else
				finish_call(t, run, r, now);
		}
		t->n_fetched = 0;
		probe_leave();
	}
	errno = saved;
	return go;
}

void ops_fetched(void *handle, void *address)
{
	struct ops_thread *t = ops_thread();
	if (t && t->n_fetched < OPS_FETCHED) {
		t->fetched[t->n_fetched].handle = handle;
		t->fetched[t->n_fetched++].address = (uintptr_t)address;
	}
}
