/* read.c - runs the three phases on base/pool. */
#include "base/pool.h"
#include "run/trace/facts_part.h"
#include "run/trace/reduce.h"

struct reading {
	struct trace *t;
	const struct trace_hooks *hooks;
	struct input in;
	size_t window;
	bool stopped; /* by a hook, which gave the reason */
};

static int do_read(void *ctx, void *slot)
{
	struct reading *r = ctx;
	struct trace_scan *s = slot;
	return input_next(&r->in, &s->window, r->window, trace_cut);
}

static int do_scan(void *ctx, void *slot)
{
	struct reading *r = ctx;
	if (r->hooks->raw && r->hooks->raw(r->hooks->ctx, slot) < 0)
		return -1;
	trace_scan_window(slot);
	return 0;
}

static int do_reduce(void *ctx, void *slot)
{
	struct reading *r = ctx;
	if (r->hooks->progress)
		r->hooks->progress(r->hooks->ctx, __atomic_load_n(&r->in.consumed, __ATOMIC_RELAXED), r->in.size);
	return trace_reduce_window(r->t, slot, r->hooks);
}

static int do_emit(void *ctx, void *slot)
{
	struct reading *r = ctx;
	if (r->hooks->rows)
		phases_emit(r->hooks->rows, slot);
	return r->hooks->emit ? r->hooks->emit(r->hooks->ctx, slot) : 0;
}

static int do_commit(void *ctx, void *slot)
{
	struct reading *r = ctx;
	if (r->hooks->rows)
		phases_commit(r->hooks->rows, slot);
	return r->hooks->commit ? r->hooks->commit(r->hooks->ctx, slot) : 0;
}

/* After the last record: an attempt without metrics of its own was restarted if a later attempt of its compile id was. */
static void finish_status(struct trace *t)
{
	for (uint32_t i = t->from.attempt; i + 1 < t->f->n_attempt; i++) {
		struct fact_attempt *c = &t->f->attempt[i];
		if (c->status != COMPILE_UNKNOWN || c->id.compile < 0)
			continue;
		struct compile_id later = c->id;
		later.attempt++;
		if (trace_attempt(t, &later, c->process, c->generation))
			c->status = COMPILE_BREAK;
	}
}

static int by_seconds(const void *a, const void *b)
{
	const struct trace_phase *x = a, *y = b;
	return x->seconds < y->seconds ? 1 : x->seconds > y->seconds ? -1 : x->name < y->name ? -1 : 1;
}

int trace_read(struct trace *t, const struct trace_hooks *hooks, struct err *err)
{
	static const struct trace_hooks none;
	struct reading r = {.t = t, .hooks = hooks ? hooks : &none};
	t->from = facts_rows(t->f);
	t->input = facts_input(t->f, FACT_TRACE, t->path);
	if (input_open(&r.in, t->path, err) < 0) {
		t->unread = r.in.unread ? r.in.lost : NULL;
		t->f->n_input--;
		return -1;
	}
	unsigned threads = r.hooks->threads ? r.hooks->threads : cpu_count();
	/* Small logs are not worth a thread. */
	threads = r.in.seekable && !r.in.packed && r.in.size < 1 << 20 ? 1 : threads > 16 ? 16 : threads;
	const unsigned n = threads + (threads > 1);
	/* All windows together take 12 MiB, and their results as much again. */
	r.window = (12u << 20) / n / (r.hooks->share ? r.hooks->share : 1);
	if (r.window > 1 << 20)
		r.window = 1 << 20; /* 2 MiB are no faster, and 4 MB more */
	if (r.window < 256 << 10)
		r.window = 256 << 10;
	void *slots[17];
	for (unsigned i = 0; i < n; i++)
		slots[i] = xcalloc(1, sizeof(struct trace_scan));
	const struct pipeline p = {&r, do_read, do_scan, do_reduce, do_emit, do_commit};
	int status = pipeline_run(&p, slots, n, threads);
	for (unsigned i = 0; i < n; i++) {
		phases_free_slot(slots[i]);
		if (r.hooks->free_slot)
			r.hooks->free_slot(r.hooks->ctx, slots[i]);
		trace_scan_release(slots[i]);
		free(slots[i]);
	}
	if (!status && r.in.lost)
		trace_damage_add(t->damage, DAMAGE_INPUT, t->lines);
	t->unread = r.in.unread ? r.in.lost : NULL;
	if (!status && t->unread && t->records && !r.hooks->in_part)
		status = err_set(err, EXIT_INPUT, "cannot read '%s' to its end: %s", r.in.path, t->unread);
	if (!status && !t->records) {
		if (!t->bytes && !r.in.lost)
			status = err_set(err, EXIT_INPUT, "cannot read '%s': the file is empty", r.in.path);
		else if (r.in.lost)
			status = err_set(err, EXIT_INPUT, "cannot read '%s': %s", r.in.path, r.in.lost);
		else
			status = err_set(err, EXIT_INPUT,
					 "cannot read '%s': not one record of a structured trace in %llu lines; "
					 "a trace is what TORCH_TRACE=DIR makes PyTorch write",
					 r.in.path, (unsigned long long)t->lines);
	}
	input_close(&r.in);
	if (status)
		t->f->n_input--; /* nothing was read: not a single record */
	finish_status(t);
	provset_end(t);
	identity_end(t);
	if (t->n_phase)
		qsort(t->phase, t->n_phase, sizeof(*t->phase), by_seconds);
	return status;
}
