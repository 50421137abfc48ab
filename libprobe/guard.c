/* guard.c - a kernel's call with copies of its tensors: which are passed, and how often it is called. */
#include "guard_call.h"

/* ---- before a call ---- */

static bool take_part(const struct ops_run *run, struct ops_value *x, struct part *p)
{
	struct tensor_meta meta;
	int64_t bytes, n;
	const struct dtype_info *d = ops_look(run->model, x, false) ? dtype_info(x->view.dtype) : NULL;
	if (!d || x->view.device != DEVICE_CPU || !x->view.data || !ops_meta_of(&x->view, &meta, &bytes) || !tensor_numel(&meta, &n))
		return false;
	p->low = (uintptr_t)x->view.data;
	p->high = p->low + (uintptr_t)bytes;
	p->view = &x->view;
	p->param = x->param;
	p->item = d->bytes;
	p->writes = x->role == CALL_ROLE_OUT || x->role == CALL_ROLE_INOUT;
	p->constant = x->role == CALL_ROLE_CONSTANT;
	p->dense = bytes == n * d->bytes;
	return d->bytes > 0;
}

/* results: an operator has returned, so they are there. */
static void gather(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, bool results)
{
	c->n = 0;
	for (uint32_t i = 0; i < t->n_values; i++) {
		struct part p = {.value = i};
		if (c->by_object)
			t->value[i].param = t->value[i].arg;
		if (t->value[i].result && !results)
			continue;
		if (!take_part(run, &t->value[i], &p) || c->n == PARTS) {
			c->unguarded += t->value[i].view.data != NULL; /* no bytes, no address */
			continue;
		}
		c->part[c->n++] = p;
	}
	guard_find_clusters(c);
}

static void set_word(struct ops_regs *r, const uint64_t *stack, uint32_t i, uint64_t word)
{
	if (i < CALL_INTS)
		r->ints[i] = word;
	else
		((uint64_t *)(uintptr_t)stack)[i - CALL_INTS] = word; /* a callee owns the arguments that it gets on the stack */
}

/* ---- one thread, for models whose parallel regions are not ours (guard_omp.c) ---- */

static int (*omp_get_max_threads)(void);
static void (*omp_set_num_threads)(int n);

static void find_openmp(const struct model *m)
{
	static _Atomic bool tried;
	if (atomic_exchange(&tried, true))
		return;
	void *get = torch_import(&m->object, "omp_get_max_threads"), *set = torch_import(&m->object, "omp_set_num_threads");
	if (get && set) {
		memcpy(&omp_get_max_threads, &get, sizeof(get));
		memcpy(&omp_set_num_threads, &set, sizeof(set));
	}
}

static void restore_threads(struct guard_call *c)
{
	if (c->threads && omp_set_num_threads)
		omp_set_num_threads(c->threads);
	c->threads = 0;
	guard_omp_order(GUARD_AS_IT_IS);
}

/* In the first calls of a kernel chunks run forward, so that results differ for no reason but what it reads. */
static void set_order(const struct ops_run *run, const struct guard_call *c)
{
	const bool orders = guard_omp_orders(run->model) && guard_runs_twice(run);
	guard_omp_order(c->try == TRY_ONE_THREAD           ? GUARD_ONE_THREAD
			: !orders || c->try == TRY_THREADS ? GUARD_AS_IT_IS
			: c->try == TRY_BACKWARD           ? GUARD_BACKWARD
							   : GUARD_FORWARD);
}

static void drop_call(struct guard_call *c)
{
	restore_threads(c);
	for (uint32_t i = 0; i < c->n_clusters; i++)
		guard_drop_cluster(&c->cluster[i]);
	c->n = c->n_clusters = 0;
	c->active = false;
}

static void pass_copies(struct guard_call *c, struct ops_regs *r)
{
	if (c->by_object)
		return;
	memcpy(r->reals, c->reals, sizeof(c->reals));
	for (uint32_t i = 0; i < c->n; i++) {
		const struct part *p = &c->part[i];
		const struct guard_region *copy = c->cluster[p->cluster].copy[guard_copy_of(c)];
		set_word(r, c->stack, p->param, copy ? (uintptr_t)copy->data + (p->low - c->cluster[p->cluster].low) : p->low);
	}
}

static void remember(struct guard_call *c, const struct ops_thread *t)
{
	for (uint32_t i = 0; i < c->n; i++)
		c->past[c->n_past++ % PAST] = (struct past){c->part[i].low, t->value[c->part[i].value].name, c->part[i].view->dtype};
}

void guard_before(struct ops_thread *t, struct ops_run *run, const struct ops_open *o, struct ops_regs *r, const uint64_t *stack)
{
	struct guard_call *c = guard_state_of(t);
	if (!c)
		return;
	guard_watch();
	guard_close_freed(guard_runs_twice(run));
	if (c->active) /* an exception left it */
		drop_call(c);
	c->seq = o->seq;
	c->open = o;
	c->stack = stack;
	c->explained = c->unsteady = c->accused = c->raced = false;
	guard_omp_entered(true);
	c->try = c->candidate = c->n_candidates = 0;
	/* A masked load whose unused lanes reach an unmapped page takes a hundred times as long (AVX-512): in a live process only once. */
	c->side = guard_runs_twice(run) || !run->run ? GUARD_RIGHT : GUARD_LEFT;
	const bool kernel = o->site->kind == SITE_KERNEL || ops_on_cpu(o->site), alloc = ops_want() & CALLS_BOUNDS_ALLOC;
	c->by_object = !r || !kernel;
	if (r)
		memcpy(c->reals, r->reals, sizeof(c->reals));
	c->n_words = o->contract_call == CALLS_NO_CALL || !r ? 0 : run->model->contract.call[o->contract_call].n_args;
	c->n_words = c->n_words < PARTS ? c->n_words : PARTS;
	for (uint32_t i = 0; i < c->n_words; i++)
		c->word[i] = call_word(r->ints, stack, i);
	gather(t, run, c, false);
	if (alloc && guard_heap_on()) {
		if (kernel)
			remember(c, t);
		guard_tell_wild_of(t);
		guard_heap_before(t, run, c, kernel);
		c->active = kernel;
	} else if (alloc) {
		c->unguarded += c->n;
	}
	if (alloc)
		return;
	bool all = true;
	for (uint32_t i = 0; i < c->n_clusters && all; i++) {
		struct cluster *k = &c->cluster[i];
		all = guard_find_whose(c, k);
		k->fresh = !k->constant && guard_has_unwritten(guard_made_at(c, k->low), k->low, k->high);
		if (all && k->constant && !k->writes)
			guard_keep_weight(c, k);
	}
	if (!all || !guard_make_copies(c)) { /* no memory: it runs as it is */
		for (uint32_t i = 0; i < c->n_clusters; i++)
			c->unguarded_bytes += c->cluster[i].high - c->cluster[i].low;
		c->unguarded += c->n;
		drop_call(c);
		return;
	}
	c->guarded += c->n;
	remember(c, t);
	c->active = true;
	guard_tell_wild_of(t);
	pass_copies(c, r);
	set_order(run, c);
}

/* ---- after a call ---- */

/* What could have been seen that the kernel may not look at. */
static void list_candidates(struct guard_call *c)
{
	c->n_candidates = 0;
	for (uint32_t i = 0; i < c->n_clusters && c->n_candidates < TRIES; i++) {
		const struct cluster *k = &c->cluster[i];
		if (!k->kept && (k->fresh || (k->whose && memchr(k->whose, OTHERS, k->high - k->low))))
			c->candidate_of[c->n_candidates++] = i;
	}
}

/* Bytes of a cluster that the kernel may not look at: where its reading of them is reported. */
static void tell_candidate(struct ops_thread *t, const struct ops_run *run, struct guard_call *c)
{
	const uint32_t i = c->candidate_of[c->candidate];
	const struct cluster *k = &c->cluster[i];
	const struct made *m = k->fresh ? guard_made_at(c, k->low) : NULL;
	size_t at = 0;
	const size_t bytes = k->high - k->low;
	while (at < bytes && !guard_is_unwritten(m, k->low + at) && !(k->whose && k->whose[at] == OTHERS))
		at++;
	guard_tell_difference(t, run, c, guard_is_unwritten(m, k->low + at) ? "uninitialised" : "read-neighbour", i, at);
}

static bool again(const struct ops_run *run, struct guard_call *c, struct ops_regs *r, uint32_t try)
{
	c->try = try;
	if (!guard_again_works || !guard_make_copies(c))
		return false;
	pass_copies(c, r);
	set_order(run, c);
	return true;
}

/* Its results are those of its chunks in any order, those of all threads and those of one, but for rounding, or its threads race. */
static bool again_in_order(const struct ops_run *run, struct guard_call *c, struct ops_regs *r, uint32_t try)
{
	if (run->model->ops->omp) {
		if (!guard_omp_orders(run->model))
			try = TRY_ONE_THREAD;
		return guard_omp_entered(false) && try < TRY_FILLS && again(run, c, r, try);
	}
	find_openmp(run->model);
	const int n = omp_get_max_threads ? omp_get_max_threads() : 1;
	if (c->try == TRY_ONE_THREAD || n < 2 || !again(run, c, r, TRY_ONE_THREAD))
		return false;
	c->threads = n;
	omp_set_num_threads(1);
	return true;
}

/* All calls of a kernel have been made, and none showed a race. */
static void tell_rest(struct ops_thread *t, const struct ops_run *run, struct guard_call *c)
{
	if (c->raced)
		return;
	if (c->accused)
		tell_candidate(t, run, c);
	else if (c->unsteady && !c->explained)
		guard_tell_difference(t, run, c, "unsteady", c->different, c->different_at);
}

static bool decide_orders(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, struct ops_regs *r)
{
	static const char *const race[] = {"race-order", "race", "race-one-thread"};
	size_t at;
	for (uint32_t i = 0; i < c->n; i++)
		if (!c->part[i].raced && guard_part_differs(c, &c->part[i], &at)) {
			guard_tell_difference(t, run, c, race[c->try - TRY_BACKWARD], c->part[i].cluster, at);
			c->part[i].raced = c->raced = true;
		}
	if (c->try != TRY_ONE_THREAD && again_in_order(run, c, r, c->try + 1))
		return true;
	tell_rest(t, run, c);
	return false;
}

/* After the second and later calls of a kernel: is another needed? */
static bool decide(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, struct ops_regs *r)
{
	uint32_t cluster;
	size_t at;
	if (!c->try)
		return again(run, c, r, TRY_OTHER);
	if (c->try >= TRY_BACKWARD && c->try <= TRY_ONE_THREAD)
		return decide_orders(t, run, c, r);
	bool now = guard_any_differs(c, &cluster, &at);
	/* Threads of their own time: sums differ by rounding. */
	if (now && guard_omp_entered(false) && !guard_omp_orders(run->model))
		for (uint32_t i = now = 0; i < c->n && !now; i++)
			now = guard_part_differs(c, &c->part[i], &at) && (cluster = c->part[i].cluster, true);
	if (c->try == TRY_OTHER) {
		if (!now)
			return again_in_order(run, c, r, TRY_BACKWARD);
		c->different = cluster;
		c->different_at = at;
		return again(run, c, r, TRY_SAME);
	}
	if (c->try == TRY_SAME) {
		if (now) {
			guard_tell_difference(t, run, c, "race", cluster, at);
			return false;
		}
		list_candidates(c);
		c->candidate = 0;
		if (c->n_candidates && again(run, c, r, TRY_FILLS))
			return true;
	} else if (now) {
		c->accused = true; /* if no other of its threads would have written it */
	} else if (++c->candidate < c->n_candidates && again(run, c, r, TRY_FILLS)) {
		return true;
	}
	c->unsteady = true;
	if (again_in_order(run, c, r, TRY_BACKWARD))
		return true;
	tell_rest(t, run, c);
	return false;
}

/* Of a kernel that is called with objects: those whose copies it did not ask for are as they are. */
static void forget_unpassed(struct guard_call *c)
{
	bool passed[PARTS] = {false};
	for (uint32_t i = 0; i < c->n; i++)
		passed[c->part[i].cluster] |= c->part[i].passed;
	for (uint32_t i = 0; i < c->n; i++) {
		if (passed[c->part[i].cluster])
			continue;
		c->guarded--;
		c->unguarded++;
		c->unguarded_bytes += c->part[i].high - c->part[i].low;
	}
	for (uint32_t i = 0; i < c->n_clusters; i++)
		c->cluster[i].unused = !passed[i];
}

void *guard_address(struct ops_thread *t, const void *handle, void *address)
{
	struct guard_call *c = t ? t->guard : NULL;
	for (uint32_t i = 0; c && c->active && c->by_object && i < c->n; i++) {
		struct part *p = &c->part[i];
		const struct cluster *k = &c->cluster[p->cluster];
		if (t->value[p->value].view.handle != handle || p->low != (uintptr_t)address || !k->copy[0])
			continue;
		p->passed = true;
		return k->copy[0]->data + (p->low - k->low);
	}
	return address;
}

bool guard_after(struct ops_thread *t, struct ops_run *run, const struct ops_open *o, struct ops_regs *r)
{
	struct guard_call *c = t->guard;
	if (!c || !c->active || c->seq != o->seq)
		return false;
	if (t->values_of != o->seq) { /* a run inside the kernel: its tensors are no longer known */
		drop_call(c);
		return false;
	}
	if (guard_heap_on()) {
		guard_heap_after(t, run, c, o);
		c->active = false;
		return false;
	}
	const bool twice = guard_runs_twice(run) && !c->by_object;
	guard_tell_freed(run, c, o);
	if (c->by_object)
		forget_unpassed(c);
	if (c->try < 2)
		guard_look_after(t, run, c);
	if (twice && decide(t, run, c, r))
		return true;
	for (uint32_t i = 0; i < c->n_clusters; i++)
		if (!c->cluster[i].unused)
			guard_copy_back(c, &c->cluster[i], twice);
	drop_call(c);
	return false;
}

void guard_op(struct ops_thread *t, const struct ops_run *run)
{
	struct guard_call *c = t->guard;
	struct tensor_meta meta;
	int64_t bytes;
	if (c && guard_heap_on()) {
		c->by_object = true; /* its arguments, not words */
		c->open = &run->open;
		gather(t, run, c, true);
		guard_heap_after(t, run, c, c->open);
	}
	for (uint32_t i = 0; c && c->n_made && i < t->n_values; i++) {
		struct ops_value *x = &t->value[i];
		if (ops_look(run->model, x, true) && ops_meta_of(&x->view, &meta, &bytes) && x->view.data)
			guard_wrote(c, (uintptr_t)x->view.data, (uintptr_t)x->view.data + (uintptr_t)bytes);
	}
}

/* ---- runs ---- */

void guard_run(struct ops_thread *t, const struct ops_run *run, bool begins)
{
	struct guard_call *c = guard_state_of(t);
	if (!c || t->depth > 1)
		return;
	if (c->active)
		drop_call(c);
	if (guard_heap_on())
		guard_heap_run(t, run, begins);
	while (c->n_made) /* its outputs now belong to whoever called it */
		guard_forget_made(c, &c->made[c->n_made - 1]);
	if (!begins && (!run->run || c->unguarded))
		guard_tell_summary(run, c);
	if (begins)
		c->guarded = c->unguarded = c->unguarded_bytes = 0;
}
