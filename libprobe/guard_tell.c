/* guard_tell.c - what the guard has found, as events: each once. */
#include "guard_call.h"

enum { TOLD = 256 };

struct told {
	const struct ops_site *site;
	uint32_t call, param;
	const char *what;
};
static struct told told[TOLD];
static uint32_t n_told;
static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;

/* Once for each place. */
bool guard_tell_once(const struct ops_open *o, uint32_t param, const char *what)
{
	const struct told now = {o->site, o->contract_call, param, what};
	bool new = true;
	pthread_mutex_lock(&told_lock);
	for (uint32_t i = 0; i < n_told && new; i++)
		new = told[i].site != now.site || told[i].call != now.call || told[i].param != now.param || strcmp(told[i].what, what) != 0;
	if (new && (new = n_told < TOLD))
		told[n_told++] = now;
	pthread_mutex_unlock(&told_lock);
	return new;
}

void guard_out_call(struct json_out *o, const struct ops_run *run, const struct ops_open *open, const char *what)
{
	json_member_str(o, "what", !strncmp(what, "race", 4) ? SLICE("race") : slice_str(what));
	if (!strncmp(what, "race-", 5))
		json_member_str(o, "when", slice_str(what + 5));
	if (run->run != CALLS_NO_RUN)
		json_member_u64(o, "run", run->run);
	json_member_u64(o, "call", open->call);
	if (open->contract_call != CALLS_NO_CALL)
		json_member_u64(o, "contract_call", open->contract_call);
	json_member_str(o, "kernel", slice_str(open->name ? ops_text(open->name) : open->site->name));
}

static void out_part(struct json_out *o, const struct ops_value *x, const struct part *p)
{
	json_member_u64(o, "arg", x->arg);
	if (x->name)
		json_member_str(o, "buffer", slice_str(ops_text(x->name)));
	json_member_str(o, "role", slice_str(call_role_name(x->role)));
	json_member_str(o, "dtype", slice_str(dtype_name(p->view->dtype)));
	json_member_u64(o, "item", (uint64_t)p->item);
	json_member_i64s(o, "sizes", p->view->size, (int)p->view->n_dim);
	json_member_i64s(o, "strides", p->view->stride, (int)p->view->n_dim);
	json_member_u64(o, "extent", p->high - p->low);
	json_member_u64(o, "aligned", p->low & 63);
}

void guard_out_fault(struct json_out *o, const struct model *m, const struct guard_fault *f, bool writes)
{
	const struct object *so = m ? &m->object : NULL;
	json_member_bool(o, "writes", writes);
	if (!f)
		return;
	if (so && f->ip >= so->start && f->ip < so->end)
		json_member_u64(o, "ip", f->ip - so->base);
	json_member_u64(o, "thread", f->tid);
	json_member_u64(o, "times", f->times);
	if (f->decoded) {
		char text[64];
		json_member_u64(o, "width", f->insn.width);
		json_member_u64(o, "bits", f->insn.bits);
		insn_operand(&f->insn, text, sizeof(text));
		json_member_str(o, "operand", slice_str(text));
	}
}

void guard_tell(const struct ops_thread *t, const struct ops_run *run, const struct guard_call *c, const struct part *p, const char *what,
		int64_t first, int64_t last, const struct guard_fault *f, bool writes)
{
	struct buf b = {0};
	struct json_out o;
	if (!guard_tell_once(c->open, p->param, what))
		return;
	event_begin(&o, &b, LIVE_BOUNDS, run->model->id);
	guard_out_call(&o, run, c->open, what);
	out_part(&o, &t->value[p->value], p);
	json_member_i64(&o, "first", first);
	json_member_i64(&o, "last", last);
	guard_out_fault(&o, run->model, f, writes);
	event_end(&o, &b);
}

void guard_tell_difference(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, const char *what, uint32_t cluster,
			   size_t at)
{
	const struct cluster *k = &c->cluster[cluster];
	const struct part *p = guard_part_at(c, k, k->low + at);
	const int64_t byte = (int64_t)(k->low + at - p->low) / p->item * p->item;
	guard_tell(t, run, c, p, what, byte, byte + p->item - 1, NULL, false);
}

/* ---- a fault that no guard explains ---- */

/* The thread whose kernel was called last: a fault may be in one that OpenMP started. */
static struct ops_thread *_Atomic running;

static int64_t place_in(const struct guard_call *c, const struct part *p, uintptr_t address)
{
	const struct cluster *k = &c->cluster[p->cluster];
	const struct guard_region *r = k->copy[guard_copy_of(c)];
	return (int64_t)(address - (r ? (uintptr_t)r->data + (p->low - k->low) : p->low));
}

/* The argument that the address is least far from. */
static const struct part *nearest(const struct guard_call *c, uintptr_t address)
{
	const struct part *best = NULL;
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < c->n; i++) {
		const int64_t at = place_in(c, &c->part[i], address);
		const uint64_t away = at < 0 ? (uint64_t)-at : (uint64_t)at;
		if (away < least) {
			least = away;
			best = &c->part[i];
		}
	}
	return best;
}

/* A fault that no guard explains: the process is about to die. Only in the model's own code, which holds no lock of malloc()'s. */
static void tell_wild(uintptr_t address, uintptr_t ip, bool writes)
{
	const struct ops_thread *t = atomic_load(&running);
	const struct guard_call *c = t ? t->guard : NULL;
	const struct ops_run *run = t ? &t->run[t->depth] : NULL;
	struct object of;
	if (!c || !c->active || !run->model)
		return;
	if (c->by_object ? !object_at((const void *)ip, &of) || strstr(of.name, "libc.so")
			 : ip < run->model->object.start || ip >= run->model->object.end)
		return;
	const struct guard_fault f = {.ip = ip};
	const struct part *p = nearest(c, address);
	struct buf b = {0};
	struct json_out o;
	event_begin(&o, &b, LIVE_BOUNDS, run->model->id);
	guard_out_call(&o, run, c->open, "wild");
	if (p) {
		out_part(&o, &t->value[p->value], p);
		json_member_i64(&o, "first", place_in(c, p, address));
		json_member_i64(&o, "last", place_in(c, p, address));
	}
	guard_out_fault(&o, run->model, &f, writes);
	event_end(&o, &b);
}

void guard_tell_wild_of(struct ops_thread *t)
{
	guard_wild = tell_wild;
	atomic_store(&running, t);
}

/* ---- freed memory, and the end of a run ---- */

static const struct past *past_at(const struct guard_call *c, uintptr_t low, uint64_t bytes)
{
	for (uint32_t i = c->n_past; i-- > 0 && c->n_past - i <= PAST;)
		if (c->past[i % PAST].low >= low && c->past[i % PAST].low - low < bytes)
			return &c->past[i % PAST];
	return NULL;
}

/* The argument of the call that lies in this memory. */
static uint32_t word_in(const struct guard_call *c, uintptr_t low, uint64_t bytes)
{
	for (uint32_t k = 0; k < c->n_words; k++)
		if (c->word[k] >= low && c->word[k] - low < bytes)
			return k;
	return NONE;
}

bool guard_tell_use(const struct ops_run *run, const struct guard_call *c, const struct ops_open *open, const struct guard_freed *v,
		    bool known)
{
	const struct past *p = past_at(c, v->low, v->bytes);
	const struct dtype_info *d = p ? dtype_info(p->dtype) : NULL;
	const uint32_t arg = word_in(c, v->low, v->bytes);
	const uint64_t first = v->address - v->low, width = v->fault.decoded ? v->fault.insn.width : d ? (uint64_t)d->bytes : 1;
	struct buf b = {0};
	struct json_out o;
	if (known && !p && arg == NONE)
		return false;
	if (!guard_tell_once(open, p ? p->name : UINT32_MAX, "freed"))
		return true;
	event_begin(&o, &b, LIVE_BOUNDS, run->model->id);
	guard_out_call(&o, run, open, "freed");
	if (arg != NONE)
		json_member_u64(&o, "arg", arg);
	if (p && p->name)
		json_member_str(&o, "buffer", slice_str(ops_text(p->name)));
	if (d) {
		json_member_str(&o, "dtype", slice_str(d->name));
		json_member_u64(&o, "item", (uint64_t)d->bytes);
	}
	json_member_u64(&o, "extent", v->bytes);
	json_member_u64(&o, "first", first);
	json_member_u64(&o, "last", first + width - 1);
	guard_out_fault(&o, run->model, &v->fault, v->writes);
	event_end(&o, &b);
	return true;
}

void guard_tell_freed(const struct ops_run *run, const struct guard_call *c, const struct ops_open *open)
{
	struct guard_freed v[TRIES];
	const size_t n = guard_take_freed(v, TRIES);
	for (size_t i = 0; i < n; i++)
		guard_tell_use(run, c, open, &v[i], false);
}

void guard_tell_summary(const struct ops_run *run, const struct guard_call *c)
{
	struct buf b = {0};
	struct json_out o;
	event_begin(&o, &b, LIVE_BOUNDS_SUMMARY, run->model->id);
	json_member_u64(&o, "run", run->run);
	json_member_u64(&o, "guarded", c->guarded);
	json_member_u64(&o, "unguarded", c->unguarded);
	json_member_u64(&o, "unguarded_bytes", c->unguarded_bytes);
	if (guard_runs_twice(run) && run->model->ops->other_omp)
		json_member_str(&o, "unordered", slice_str(run->model->ops->other_omp));
	event_end(&o, &b);
}
