/* run.c - the runs that a thread is in, and what ends with them. */
#include "guard.h"

#include <errno.h>

void ops_tell_run(const struct ops_thread *t, struct ops_run *run)
{
	struct call_record r;
	run->told = true;
	if (run->run == CALLS_NO_RUN)
		return;
	r.what = CALL_RUN_BEGIN;
	r.time = run->begun;
	r.call = 0;
	r.name = run->precision;
	r.contract_call = CALLS_NO_CALL;
	r.result = 0;
	r.took = 0;
	ops_fill_record(t, run, &r);
	run->seq = calls_begin(ops_log(), &r);
}

/* A call that neither returned nor crashed: an exception passed through it. */
void ops_left(struct ops_thread *t, struct ops_run *run)
{
	struct ops_open *o = &run->open;
	if (!o->used)
		return;
	o->used = false;
	ops_append_end(t, run, o, ops_now(), CALLS_NOT_RETURNED);
}

static void end_run(struct ops_thread *t, struct ops_run *run, int32_t result, uint64_t now)
{
	ops_left(t, run);
	if (run->told) {
		struct call_record r;
		r.what = CALL_RUN_END;
		r.time = now;
		r.seq = run->seq;
		r.call = r.name = 0;
		r.contract_call = CALLS_NO_CALL;
		r.result = result;
		r.took = 0;
		ops_append(t, run, &r);
	}
	if (run->unlogged)
		atomic_fetch_add_explicit(&ops_log()->unlogged, run->unlogged, memory_order_relaxed);
}

static void drop_run(struct ops_thread *t) { ops_drop(t->run[t->depth--].kept); }

struct ops_run *ops_run_at(struct ops_thread *t, uintptr_t sp)
{
	/* The stack grows down: a run below this position was left. */
	while (UNLIKELY(t->depth && t->run[t->depth].sp < sp)) {
		end_run(t, &t->run[t->depth], CALLS_NOT_RETURNED, ops_now());
		drop_run(t);
	}
	return &t->run[t->depth];
}

static void begin_run(struct ops_thread *t, struct model *m, uint32_t number, uint32_t step, void **in, size_t n_in, uintptr_t sp,
		      void *stream)
{
	const struct calls_config *c = ops_config();
	ops_run_at(t, sp + 1);
	if (t->depth >= OPS_NESTED)
		return;
	if (c->want & CALLS_SCAN && !t->depth)
		cuda_scan_poll();
	struct ops_run *run = &t->run[++t->depth];
	ops_clear(run, offsetof(struct ops_run, open));
	run->open.used = false;
	run->model = m;
	run->sp = sp;
	run->run = number;
	run->precision = t->precision;
	const uint32_t counted = c->one_call ? number : step;
	run->watched = counted >= c->first_run && counted <= c->last_run;
	t->n_fetched = 0;
	if (!run->watched)
		return;
	if (m->ops->cuda)
		cuda_look_on(t, m, stream);
	if (c->want & CALLS_RECORD)
		run->kept = ops_keep(t, m, in, n_in);
	if (UNLIKELY(guard_on()))
		guard_run(t, run, true);
	run->begun = ops_now();
	if (!c->n_filters || c->want & CALLS_INPUTS)
		ops_tell_run(t, run);
	if (c->want & CALLS_INPUTS)
		ops_model_values(t, run, in, n_in, false);
	cuda_look_away(t);
}

void ops_run_begin(struct model *m, uintptr_t sp, uint32_t number, uint32_t step, void **in, size_t n_in, void *stream)
{
	int saved = errno;
	struct ops_thread *t = ops_thread();
	if (t && probe_enter()) {
		begin_run(t, m, number, step, in, n_in == SIZE_MAX ? m->contract.n_inputs : n_in, sp, stream);
		probe_leave();
	}
	errno = saved;
}

/* Nobody owns the results of a failed run. */
static int32_t drop_results(struct model *m, void **out, size_t n_out)
{
	for (size_t i = 0; i < n_out && out; i++) {
		m->torch.delete_tensor(out[i]);
		out[i] = NULL;
	}
	atomic_fetch_add_explicit(&m->count->failed, 1, memory_order_relaxed);
	return 1; /* AOTI_RUNTIME_FAILURE */
}

static int32_t close_run(struct ops_thread *t, struct model *m, int32_t result, void **out, size_t n_out, uintptr_t sp, void *stream)
{
	struct ops_run *run = ops_run_at(t, sp);
	if (!t->depth || run->sp != sp || run->model != m)
		return result;
	uint64_t now = ops_now();
	if (UNLIKELY(guard_on()) && run->watched)
		guard_run(t, run, false);
	if (run->failed)
		result = drop_results(m, out, result ? 0 : n_out);
	/* Outputs before the end: a reader of the log then has the complete run. */
	if (m->ops->cuda)
		cuda_look_on(t, m, stream);
	if (run->watched && !result && ops_config()->want & CALLS_INPUTS)
		run->bad |= ops_model_values(t, run, out, n_out, true);
	cuda_look_away(t);
	end_run(t, run, result, now);
	if (run->kept && (run->bad || ops_want() & CALLS_ANY_RUN))
		ops_write_bundle(t, run);
	if (run->scanner)
		cuda_scan_end_run(run);
	drop_run(t);
	if (ops_want() & CALLS_SCAN && !t->depth)
		cuda_scan_poll();
	return result;
}

int32_t ops_run_end(struct model *m, uintptr_t sp, int32_t result, void **out, size_t n_out, void *stream)
{
	int saved = errno;
	struct ops_thread *t = ops_thread_if_any();
	if (t && probe_enter()) {
		result = close_run(t, m, result, out, n_out == SIZE_MAX ? m->contract.n_outputs : n_out, sp, stream);
		probe_leave();
	}
	errno = saved;
	return result;
}
