/* values.c - the tensors of a call: which they are, and what is reported about them. */
#include "ops.h"

#include "model/contract/opsig.h"

#define EVERYTHING (CALLS_STATS | CALLS_SAVE)
#define MAX_FETCH 64       /* ... if each is copied from a GPU */
#define MAX_LOOK (1 << 16) /* elements examined one by one for a NaN after infinities */
#define MAX_COPIES (64u << 20)
#define MAX_COMPARED (INT64_C(1) << 24) /* elements compared with their copy */
#define MAX_KEPT 8                      /* calls of a process */
#define MAX_IN_VAIN 64                  /* and in steps that GradScaler skipped */

/* ---- which they are ---- */

static struct ops_value *add_value(struct ops_thread *t, enum call_role role, size_t arg)
{
	if (t->n_values >= OPS_VALUES)
		return NULL;
	struct ops_value *x = &t->value[t->n_values++];
	ops_clear(x, offsetof(struct ops_value, before));
	x->role = (uint8_t)role;
	x->arg = arg < 255 ? (uint8_t)arg : 255;
	x->value = NONE;
	x->passes = true;
	return x;
}

/* Fills in what the contract knows about it. */
static void name_value(const struct model *m, const struct ops_open *o, struct ops_value *x, const struct contract_arg *a)
{
	const struct ops *ops = m->ops;
	const uint8_t role = ops->arg_role[a - m->contract.arg];
	/* An op's signature says what it writes. */
	if (x->role == CALL_ROLE_IN || o->site->kind != SITE_OP)
		x->role = role & OPS_ROLE;
	x->fresh = role & OPS_FRESH;
	x->partly = role & OPS_PART && ops_want() & (CALLS_BAD | CALLS_FAIL);
	x->twin = role & OPS_TWIN && ops_want() & CALLS_KEEP;
	x->value = a->value;
	x->passes = ops->call_passes[o->contract_call] & 1;
	if (a->value >= m->contract.n_values)
		return;
	x->name = ops->value_name[a->value];
	const struct contract_value *v = &m->contract.value[a->value];
	x->buffer = v->kind == VALUE_BUFFER && !x->result;
	x->passes |= ops->value_passes[a->value];
}

static bool take_address(struct ops_thread *t, const struct ops *ops, struct ops_value *x, uint64_t word)
{
	for (uint32_t i = t->n_fetched; i-- > 0;)
		if (t->fetched[i].address == word && t->fetched[i].handle) {
			x->view.handle = t->fetched[i].handle;
			x->view.data = (const void *)(uintptr_t)word;
			x->addressed = !x->launched;
			t->fetched[i].handle = NULL; /* the same buffer twice: each has its own handle */
			return true;
		}
	x->constant = ops_find_constant(ops, word);
	return x->constant != NULL;
}

/* Numbers follow pointers in a kernel's parameters, so that the N-th argument is the N-th word. */
static void kernel_by_contract(struct ops_thread *t, const struct model *m, const struct ops_open *o, const uint64_t *ints,
			       const uint64_t *stack)
{
	const struct contract_call *c = &m->contract.call[o->contract_call];
	for (uint32_t i = 0; i < c->n_args; i++) {
		const struct contract_arg *a = &m->contract.arg[c->arg + i];
		struct ops_value *x = a->role == ARG_SCALAR ? NULL : add_value(t, CALL_ROLE_IN, i);
		if (!x)
			continue;
		name_value(m, o, x, a);
		x->param = (uint8_t)i;
		x->launched = o->launch.gpu;
		if (!take_address(t, m->ops, x, call_word(ints, stack, i)))
			t->n_values--;
	}
}

/* Without a contract a kernel may write anything except constants. */
static void kernel_by_words(struct ops_thread *t, const struct model *m, const struct ops_open *o, const uint64_t *ints,
			    const uint64_t *stack)
{
	uintptr_t top = ops_stack_top(t);
	for (size_t i = 0, missed = 0; i < 256 && missed < 6; i++) {
		if (i >= CALL_INTS && (uintptr_t)(stack + i - CALL_INTS + 1) > top)
			break;
		struct ops_value *x = add_value(t, CALL_ROLE_INOUT, i);
		if (!x)
			break;
		x->param = (uint8_t)i;
		x->launched = o->launch.gpu;
		bool found = take_address(t, m->ops, x, call_word(ints, stack, i));
		missed = found ? 0 : missed + 1;
		t->n_values -= !found;
		if (found && x->constant)
			x->role = CALL_ROLE_CONSTANT;
	}
}

/* For a launch, the contract's tensors are in the order of the parameters, with numbers between them; a number that Triton specialised (1)
 * is left out. */
static void launch_by_contract(struct ops_thread *t, const struct model *m, const struct ops_open *o, const struct cuda_words *w)
{
	const struct contract_call *c = &m->contract.call[o->contract_call];
	uint32_t next = 0;
	for (uint32_t i = 0; i < c->n_args; i++) {
		const struct contract_arg *a = &m->contract.arg[c->arg + i];
		struct ops_value *x = a->role == ARG_SCALAR ? NULL : add_value(t, CALL_ROLE_IN, i);
		if (!x)
			continue;
		name_value(m, o, x, a);
		x->launched = true;
		uint32_t p = next;
		while (p < w->n && ((w->size[p] && w->size[p] != 8) || !take_address(t, m->ops, x, w->word[p])))
			p++;
		if (p < w->n) {
			x->param = (uint8_t)p;
			next = p + 1;
		} else {
			t->n_values--;
		}
	}
}

static void launch_by_words(struct ops_thread *t, const struct model *m, const struct cuda_words *w)
{
	for (uint32_t p = 0; p < w->n; p++) {
		struct ops_value *x = w->size[p] && w->size[p] != 8 ? NULL : add_value(t, CALL_ROLE_INOUT, p);
		if (!x)
			continue;
		x->param = (uint8_t)p;
		x->launched = true;
		if (!take_address(t, m->ops, x, w->word[p]))
			t->n_values--;
		else if (x->constant)
			x->role = CALL_ROLE_CONSTANT;
	}
}

struct reader {
	const uint64_t *ints, *stack;
	int n_ints, n_reals, n_stack;
};

static uint64_t next_int(struct reader *r) { return r->n_ints < CALL_INTS ? r->ints[r->n_ints++] : r->stack[r->n_stack++]; }
static void next_real(struct reader *r) { *(r->n_reals < CALL_REALS ? &r->n_reals : &r->n_stack) += 1; }
static void *next_pointer(struct reader *r) { return (void *)(uintptr_t)next_int(r); }

/* For an op that is not in the contract, .arg counts its tensors. */
static void add_handle(struct ops_thread *t, enum call_role role, void *handle)
{
	struct ops_value *x = handle ? add_value(t, role, t->n_values) : NULL;
	if (x)
		x->view.handle = handle;
}

static void add_list(struct ops_thread *t, char letter, void **list, uint64_t n)
{
	for (uint64_t i = 0; list && i < n && i < OPS_VALUES; i++)
		add_handle(t, CALL_ROLE_IN, letter == 'L' ? list[i] : list[i] ? *(void **)list[i] : NULL);
}

static void op_by_signature(struct ops_thread *t, const char *sig, struct reader r)
{
	for (const char *p = sig; *p; p++) {
		switch (*p) {
		case 'T': add_handle(t, CALL_ROLE_IN, next_pointer(&r)); break;
		case 'O': add_handle(t, CALL_ROLE_OUT, next_pointer(&r)); break;
		case 'M': add_handle(t, CALL_ROLE_INOUT, next_pointer(&r)); break;
		case 'P': {
			void **h = next_pointer(&r);
			add_handle(t, CALL_ROLE_IN, h ? *h : NULL);
			break;
		}
		case 'L':
		case 'Q': {
			void **list = next_pointer(&r);
			add_list(t, *p, list, next_int(&r));
			p++; /* the length */
			break;
		}
		case 'R': {
			void **to = next_pointer(&r);
			struct ops_value *x = to ? add_value(t, CALL_ROLE_OUT, t->n_values) : NULL;
			if (x)
				x->result = to;
			break;
		}
		case 'c':
			for (int i = 1; i < CALL_COMPLEX_REALS; i++)
				next_real(&r);
			next_real(&r);
			break;
		case 'z': next_real(&r); /* fall through */
		case 'd':
		case 'f': next_real(&r); break;
		default: next_int(&r);
		}
	}
}

/* Tensors of a custom op: the contract knows which of them it creates or changes. */
static void proxy_tensors(struct ops_thread *t, const uint64_t *ints)
{
	int32_t n = (int32_t)ints[4];
	void **tensor = (void **)(uintptr_t)ints[5];
	for (int32_t i = 0; tensor && i < n; i++)
		add_handle(t, CALL_ROLE_INOUT, tensor[i]);
}

/* The contract's tensors match those of the call in order, if there are as many. */
static void name_values(struct ops_thread *t, const struct model *m, const struct ops_open *o)
{
	const struct contract_call *c = &m->contract.call[o->contract_call];
	const struct contract_arg *a = &m->contract.arg[c->arg];
	uint32_t n = 0, k = 0;
	for (uint32_t i = 0; i < c->n_args; i++)
		n += a[i].role != ARG_SCALAR;
	for (uint32_t i = 0; i < c->n_args && n == t->n_values; i++) {
		if (a[i].role == ARG_SCALAR)
			continue;
		struct ops_value *x = &t->value[k++];
		x->arg = i < 255 ? (uint8_t)i : 255;
		name_value(m, o, x, &a[i]);
	}
	if (n != t->n_values)
		for (uint32_t i = 0; i < t->n_values; i++)
			t->value[i].passes = m->ops->call_passes[o->contract_call] & 1;
}

void ops_read_arguments(struct ops_thread *t, struct ops_run *run, const struct ops_open *o, const uint64_t *ints, const uint64_t *stack)
{
	const struct model *m = run->model;
	bool matched = o->contract_call != CALLS_NO_CALL;
	t->n_values = 0;
	t->values_of = o->seq;
	if (o->launch.kernel) {
		struct cuda_words w;
		cuda_words(t, o, &w);
		if (matched)
			launch_by_contract(t, m, o, &w);
		else
			launch_by_words(t, m, &w);
		return;
	}
	if (o->site->kind == SITE_KERNEL) {
		if (matched)
			kernel_by_contract(t, m, o, ints, stack);
		else
			kernel_by_words(t, m, o, ints, stack);
		return;
	}
	if (o->site->kind == SITE_PROXY)
		proxy_tensors(t, ints);
	else if (o->site->sig)
		op_by_signature(t, o->site->sig, (struct reader){.ints = ints, .stack = stack});
	if (matched)
		name_values(t, m, o);
}

void ops_begin_values(struct ops_thread *t, const struct ops_open *o)
{
	t->n_values = 0;
	t->values_of = o->seq;
}

void ops_add_handle(struct ops_thread *t, const struct ops_run *run, const struct ops_open *o, uint32_t a, enum call_role role,
		    void *handle)
{
	const struct model *m = run->model;
	const struct contract_call *c = &m->contract.call[o->contract_call];
	struct ops_value *x = add_value(t, role, a == NONE ? t->n_values : a);
	if (!x)
		return;
	x->view.handle = handle;
	x->passes = m->ops->call_passes[o->contract_call] & 1;
	const struct contract_arg *arg = a < c->n_args ? &m->contract.arg[c->arg + a] : NULL;
	if (arg && arg->role != ARG_SCALAR) {
		name_value(m, o, x, arg);
	} else if (arg && arg->value < m->contract.n_values) {
		x->number = c->kind == CALL_KERNEL;
		x->value = arg->value;
		x->name = m->ops->value_name[arg->value];
	}
	/* A tensor returned by a call may be anything, even an opaque one. */
	if (x->value < m->contract.n_values && m->contract.value[x->value].storage == NONE)
		x->buffer = false;
}

/* ---- reporting ---- */

/* Sizes may change and results are created: `again` for written tensors. */
bool ops_look(const struct model *m, struct ops_value *x, bool again)
{
	if (x->constant && !x->view.handle) {
		const struct ops_constant *c = x->constant;
		x->view = (struct ops_view){.data = (const void *)c->address,
					    .size = c->size,
					    .stride = c->size + c->n_dim,
					    .n_dim = c->n_dim,
					    .dtype = c->dtype,
					    .device = c->device,
					    .device_index = c->device_index};
		return x->seen = true;
	}
	/* A kernel only changes memory. */
	if (x->seen && (!again || x->addressed || x->launched))
		return true;
	void *handle = x->result ? *x->result : x->view.handle;
	void *data = NULL;
	int32_t device;
	if (x->addressed)
		x->seen = ops_view_at(m, handle, x->view.data, &x->view);
	else if (x->buffer && handle && !m->torch.get_device_type(handle, &device) && device == DEVICE_CPU)
		x->seen = !m->torch.get_data_ptr(handle, &data) && ops_view_at(m, handle, data, &x->view);
	else
		x->seen = handle && ops_view_of(m, handle, &x->view);
	if (x->seen && !x->constant && x->role == CALL_ROLE_CONSTANT)
		x->constant = ops_find_constant(m->ops, (uintptr_t)x->view.data);
	return x->seen;
}

/* A clean constant is counted once. */
static void stats_of(struct ops_value *x, int what, struct tensor_stats *s)
{
	struct ops_constant *c = x->role == CALL_ROLE_CONSTANT ? x->constant : NULL;
	if (!c) {
		ops_stats(&x->view, what, s);
		return;
	}
	uint64_t n = 1;
	for (int64_t d = 0; d < x->view.n_dim; d++)
		n *= (uint64_t)x->view.size[d];
	if (atomic_load_explicit(&c->scanned, memory_order_acquire) == 2 && c->stats.n == n) {
		*s = c->stats;
		return;
	}
	ops_stats(&x->view, STATS_ALL, s);
	int none = 0;
	if (s->known && !ops_is_bad(s, x->view.dtype) && atomic_compare_exchange_strong(&c->scanned, &none, 1)) {
		c->stats = *s;
		atomic_store_explicit(&c->scanned, 2, memory_order_release);
	}
}

static int level(void)
{
	const struct calls_config *c = ops_config();
	bool range = c->lo > -__builtin_inf() || c->hi < __builtin_inf();
	return c->want & CALLS_STATS || range ? STATS_ALL : STATS_BAD;
}

static bool counted(void) { return ops_config()->want & (CALLS_BAD | CALLS_STATS | CALLS_FAIL | CALLS_RECORD); }

static bool writes(const struct ops_value *x) { return x->role == CALL_ROLE_OUT || x->role == CALL_ROLE_INOUT; }

/* A constant; or a view of one that an operator reads, for example a transposed weight: the package has its numbers, no copy is needed. */
static bool is_weight(const struct ops *ops, const struct ops_open *o, const struct ops_value *x)
{
	const bool op = o->site->kind == SITE_OP || o->site->kind == SITE_PROXY;
	const struct ops_constant *c = op && x->role == CALL_ROLE_IN && x->seen ? ops_find_constant(ops, (uintptr_t)x->view.data) : NULL;
	struct tensor_meta m;
	int64_t bytes, all;
	if (!c || !ops_meta_of(&x->view, &m, &bytes))
		return x->role == CALL_ROLE_CONSTANT;
	const struct ops_view of = {
	    .data = x->view.data, .size = c->size, .stride = c->size + c->n_dim, .n_dim = c->n_dim, .dtype = c->dtype, .device = c->device};
	return ops_meta_of(&of, &m, &all) && bytes <= all;
}

static void tell_value(struct ops_thread *t, const struct ops_run *run, const struct ops_open *o, struct ops_value *x, bool before)
{
	struct call_record r; /* only what ops_tell() reads is set */
	r.time = before ? o->begun : o->ended;
	r.seq = o->seq;
	r.call = o->call;
	r.contract_call = o->contract_call;
	x->told |= before;
	x->weight = before && ops_config()->want & CALLS_ARENA && is_weight(run->model->ops, o, x);
	/* by the record's name, which the file is found by */
	ops_tell(t, run, &r, o->name ? ops_text(o->name) : "", x, before, before ? &x->before : &x->after);
}

static void count_special(struct ops_value *x, int what, bool before)
{
	if (counted())
		stats_of(x, what, before ? &x->before : &x->after);
	else
		*(before ? &x->before : &x->after) = (struct tensor_stats){.first_bad = -1};
	*(before ? &x->has_before : &x->has_after) = true;
}

static bool bad(const struct ops_value *x, const struct tensor_stats *s) { return ops_is_bad(s, x->view.dtype); }

/* ---- copies of what a call overwrites ---- */

/* Its bytes, if it can be copied; and rounded up to a cache line. */
static size_t copy_bytes(const struct ops_value *x, size_t *room)
{
	struct tensor_meta m;
	int64_t bytes;
	if (x->view.device != DEVICE_CPU && !cuda_readable())
		return 0;
	if (!ops_meta_of(&x->view, &m, &bytes) || bytes <= 0 || (uint64_t)bytes > MAX_COPIES)
		return 0;
	*room = ((size_t)bytes + 63) & ~(size_t)63;
	return (size_t)bytes;
}

/* Those whose .copy is set get one, in order, as long as there is room. */
static void make_copies(struct ops_thread *t)
{
	size_t total = 0, room, at = 0;
	for (uint32_t i = 0; i < t->n_values; i++)
		if (t->value[i].copy && copy_bytes(&t->value[i], &room) && total + room <= MAX_COPIES)
			total += room;
	if (total > t->cap_copies) {
		free(t->copies);
		t->copies = malloc(total);
		t->cap_copies = t->copies ? total : 0;
	}
	for (uint32_t i = 0; i < t->n_values; i++) {
		struct ops_value *x = &t->value[i];
		if (!x->copy)
			continue;
		const size_t bytes = copy_bytes(x, &room);
		x->copy = NULL;
		if (!bytes || room > t->cap_copies - at)
			continue;
		char *to = t->copies + at;
		if (x->view.device == DEVICE_CPU)
			memcpy(to, x->view.data, bytes);
		else if (!cuda_copy(to, x->view.data, bytes))
			continue;
		x->copy = to;
		at += room;
	}
}

/* What was bad before a call that writes a part of this memory, and is the same now, is not the call's: rows of a loop's result that are
 * not written yet, other slots of a ring buffer. */
static void leave_out_unchanged(struct ops_value *x)
{
	const struct ops_view old = ops_view_before(x);
	struct tensor_stats *s = &x->after;
	struct tensor_meta m;
	int64_t bytes, n;
	if (!x->copy || !ops_meta_of(&x->view, &m, &bytes) || !tensor_numel(&m, &n) || n > MAX_COMPARED)
		return;
	const struct calls_config *c = ops_config();
	s->nan = s->pos_inf = s->neg_inf = 0;
	s->first_bad = -1;
	s->min = s->max = c->lo > 0 ? c->lo : c->hi < 0 ? c->hi : 0; /* in the range, if it writes no number */
	for (int64_t i = 0, numbers = 0; i < n; i++) {
		const double now = tensor_at(&m, x->view.data, i), was = tensor_at(&m, old.data, i);
		const bool finite = __builtin_isfinite(now);
		if (!memcmp(&now, &was, sizeof(now)))
			continue;
		s->nan += __builtin_isnan(now);
		s->pos_inf += !finite && now > 0;
		s->neg_inf += !finite && now < 0;
		if (finite && numbers++) {
			s->min = now < s->min ? now : s->min;
			s->max = now > s->max ? now : s->max;
		} else if (finite) {
			s->min = s->max = now;
		}
		if (s->first_bad < 0 && (!finite || now < c->lo || now > c->hi))
			s->first_bad = i;
	}
}

void ops_values_before(struct ops_thread *t, struct ops_run *run, const struct ops_open *o)
{
	const uint32_t want = ops_config()->want;
	bool copies = false;
	for (uint32_t i = 0; i < t->n_values; i++) {
		struct ops_value *x = &t->value[i];
		bool first = want & CALLS_CONSTANTS && x->role == CALL_ROLE_CONSTANT && x->passes;
		const bool all = want & EVERYTHING && x->passes && x->role != CALL_ROLE_OUT;
		const bool changes = x->role == CALL_ROLE_INOUT || x->partly;
		if ((x->role == CALL_ROLE_OUT && !x->partly) || x->fresh || x->result || /* it is only made by the call */
		    (!all && !first && !changes && !x->twin) || !ops_look(run->model, x, false))
			continue;
		first = first && x->constant && !atomic_exchange(&x->constant->told, true);
		if (all || first || changes)
			count_special(x, first ? STATS_ALL : level(), true);
		if (all || first)
			tell_value(t, run, o, x, true);
		/* What it writes a part of is compared with its copy, on the host. */
		const bool copied = x->twin || (x->role == CALL_ROLE_INOUT && want & CALLS_KEEP) || (x->partly && bad(x, &x->before));
		if (copied && !(x->partly && x->view.device != DEVICE_CPU)) {
			x->copy = x->view.data;
			copies = true;
		}
	}
	if (copies)
		make_copies(t);
}

/* Where is the first NaN in x, which is bad, else the first infinity, else the first number out of range? Linear index; -1: not found
 * within the limit. */
static int64_t worst_place(const struct ops_value *x, const struct tensor_meta *m)
{
	const struct calls_config *c = ops_config();
	int64_t n, at = x->after.first_bad;
	if (!tensor_numel(m, &n) || (at >= 0 && !x->after.nan))
		return at;
	at = at < 0 ? 0 : at;
	const int64_t most = x->view.device == DEVICE_CPU ? MAX_LOOK : MAX_FETCH;
	for (int64_t end = n - at > most ? at + most : n; at < end; at++) {
		double v = ops_element(&x->view, at);
		if (x->after.nan ? __builtin_isnan(v) : v < c->lo || v > c->hi)
			return at;
	}
	return -1;
}

/* Reports the values of the first bad element that was written, and of those read at the same position. Overwritten values are lost. */
static void choose_elements(struct ops_thread *t, const struct ops_run *run, struct ops_value *worst)
{
	struct tensor_meta out, in;
	int64_t bytes, at = ops_meta_of(&worst->view, &out, &bytes) ? worst_place(worst, &out) : -1;
	for (uint32_t i = 0; i < t->n_values && at >= 0; i++) {
		struct ops_value *x = &t->value[i];
		if (!writes(x) && !x->told && ops_look(run->model, x, false) && ops_meta_of(&x->view, &in, &bytes))
			x->at = tensor_same_place(&in, &out, at) + 1;
	}
	worst->at = at + 1;
}

enum { WERE_BAD = 1, WERE_NAN = 2 };

/* The same memory as another argument that the call wrote: its earlier contents are lost. */
static const struct ops_value *written_twin(const struct ops_thread *t, const struct ops_value *x)
{
	for (uint32_t i = 0; i < t->n_values && x->view.data; i++) {
		const struct ops_value *y = &t->value[i];
		if (y != x && writes(y) && y->seen && y->view.data == x->view.data)
			return y;
	}
	return NULL;
}

/* Something written is bad: what was read? Returns what was already bad; .has_before is set for what can be reported. */
static int count_inputs(struct ops_thread *t, const struct ops_run *run)
{
	int were = 0;
	for (uint32_t i = 0; i < t->n_values; i++) {
		struct ops_value *x = &t->value[i];
		if (x->role == CALL_ROLE_OUT || (!x->has_before && x->role == CALL_ROLE_INOUT) || !ops_look(run->model, x, false))
			continue;
		/* Memory that it writes a part of is not read; only what is new in it counts. */
		if (x->partly && x->copy) {
			x->has_before = false;
			continue;
		}
		/* A written buffer only has the counts taken before the call, unless it was copied. */
		const struct ops_value *twin = !x->told && !writes(x) && !x->copy ? written_twin(t, x) : NULL;
		if (twin && !twin->has_before)
			continue;
		if (twin) {
			x->before = twin->before;
			x->has_before = true;
		} else if (!x->told && x->copy) {
			const struct ops_view old = ops_view_before(x);
			ops_stats(&old, STATS_ALL, &x->before);
			x->has_before = true;
		} else if (!x->told && !writes(x)) {
			count_special(x, STATS_ALL, true);
		}
		/* Counted here, or before the call. */
		were |= (bad(x, &x->before) ? WERE_BAD : 0) | (x->before.known && x->before.nan ? WERE_NAN : 0);
	}
	return were;
}

static void tell_inputs(struct ops_thread *t, const struct ops_run *run, const struct ops_open *o, bool keep)
{
	for (uint32_t i = 0; i < t->n_values; i++) {
		struct ops_value *x = &t->value[i];
		if (x->role == CALL_ROLE_OUT || !x->has_before || x->told)
			continue;
		x->keep = keep && (x->copy || (!writes(x) && !written_twin(t, x)));
		tell_value(t, run, o, x, true);
	}
}

static _Atomic int kept, kept_in_vain;

/* With CALLS_KEEP: are this call's tensors saved? */
static bool is_kept(bool produced)
{
	const int most = MAX_KEPT + atomic_load_explicit(&kept_in_vain, memory_order_relaxed);
	return produced && ops_want() & CALLS_KEEP && atomic_load_explicit(&kept, memory_order_relaxed) < most &&
	       atomic_fetch_add(&kept, 1) < most;
}

void ops_keep_step(bool skipped)
{
	static _Atomic int before;
	const int now = atomic_load(&kept), were = atomic_exchange(&before, now);
	if (skipped && now > were && atomic_load(&kept_in_vain) < MAX_IN_VAIN)
		atomic_fetch_add(&kept_in_vain, now - were);
}

/* "cpp_fused_log_0 (call 3, wrapper.cpp:120) wrote 4 NaN and 0 infinities into buf0: min -1, max 2" */
static void describe_bad(const struct ops_run *run, const struct ops_open *o, const struct ops_value *x, char *text, size_t room)
{
	const struct contract *c = &run->model->contract;
	bool matched = o->contract_call != CALLS_NO_CALL;
	struct slice name = matched ? c->call[o->contract_call].name : slice_str(o->site->name);
	struct slice buffer = x->value < c->n_values ? c->value[x->value].name : SLICE("a buffer");
	char line[128] = "";
	if (matched && c->call[o->contract_call].line)
		snprintf(line, sizeof(line), ", %s:%u", run->model->text ? run->model->text : "wrapper.cpp",
			 c->call[o->contract_call].line);
	snprintf(text, room, "%.*s (call %u%s) wrote %llu NaN and %llu infinities into %.*s: min %g, max %g", SL(name), o->call, line,
		 (unsigned long long)x->after.nan, (unsigned long long)(x->after.pos_inf + x->after.neg_inf), SL(buffer), x->after.min,
		 x->after.max);
}

static void fail_run(struct ops_run *run, const char *text)
{
	run->failed = true;
	model_refuse(run->model, "%s", text);
}

/* A constant that the model changes is no longer known. */
static void changed(const struct model *m, const struct ops_value *x)
{
	bool constant = x->value < m->contract.n_values && m->contract.value[x->value].kind == VALUE_CONSTANT;
	struct ops_constant *c = x->constant ? x->constant : constant ? ops_find_constant(m->ops, (uintptr_t)x->view.data) : NULL;
	int done = 2;
	if (c)
		atomic_compare_exchange_strong(&c->scanned, &done, 0);
}

void ops_values_after(struct ops_thread *t, struct ops_run *run, const struct ops_open *o)
{
	const uint32_t want = ops_config()->want;
	struct ops_value *first = NULL, *nan = NULL;
	for (uint32_t i = 0; i < t->n_values; i++) {
		struct ops_value *x = &t->value[i];
		if (!writes(x) || !x->passes || !ops_look(run->model, x, true))
			continue;
		changed(run->model, x);
		count_special(x, level(), false);
		if (x->partly && x->has_before && bad(x, &x->before) && bad(x, &x->after))
			leave_out_unchanged(x);
		if (!first && bad(x, &x->after))
			first = x;
		if (!nan && x->after.known && x->after.nan)
			nan = x;
	}
	if (first)
		choose_elements(t, run, nan ? nan : first);
	/* A NaN that results from infinities is a new one. */
	int were = first ? count_inputs(t, run) : 0;
	bool produced = first && !(were & WERE_BAD), produced_nan = nan && !(were & WERE_NAN);
	const bool keep = is_kept(produced_nan || (produced && want & CALLS_INF));
	if (first)
		tell_inputs(t, run, o, keep);
	for (uint32_t i = 0; i < t->n_values; i++) {
		struct ops_value *x = &t->value[i];
		if (!x->has_after || !(want & EVERYTHING || first))
			continue;
		if (first && level() != STATS_ALL && !(x->partly && x->copy))
			count_special(x, STATS_ALL, false);
		x->keep = keep;
		tell_value(t, run, o, x, false);
	}
	run->bad |= produced || produced_nan;
	if (!(want & (CALLS_FAIL | CALLS_RECORD)) || !(produced || produced_nan))
		return;
	char text[400];
	describe_bad(run, o, produced_nan ? nan : first, text, sizeof(text));
	ops_keep_reason(run->kept, text);
	if (!(want & CALLS_FAIL))
		return;
	/* Infinities that fill a mask are not a failure, unless requested. */
	if (produced_nan)
		fail_run(run, text);
	else if (produced && (want & CALLS_INF || ops_out_of_range(&first->after, first->view.dtype)))
		fail_run(run, text);
}

bool ops_model_values(struct ops_thread *t, struct ops_run *run, void **handle, size_t n, bool output)
{
	const struct model *m = run->model;
	const struct contract *c = &m->contract;
	bool any = false;
	for (size_t i = 0; handle && i < n; i++) {
		struct ops_value x = {.role = output ? CALL_ROLE_MODEL_OUTPUT : CALL_ROLE_MODEL_INPUT,
				      .arg = i < 255 ? (uint8_t)i : 255,
				      .value = NONE,
				      .passes = true};
		struct tensor_stats s = {.first_bad = -1};
		if (!handle[i] || !ops_view_of(m, handle[i], &x.view))
			continue;
		if (m->has_contract && i < (output ? c->n_outputs : c->n_inputs))
			x.name = ops_name(output ? c->output[i].name : c->input[i].name);
		if (counted())
			ops_stats(&x.view, level(), &s);
		any |= ops_is_bad(&s, x.view.dtype);
		struct call_record r = {.time = ops_now(), .seq = run->seq, .contract_call = CALLS_NO_CALL};
		ops_tell(t, run, &r, output ? "output" : "input", &x, !output, &s);
	}
	return any;
}
