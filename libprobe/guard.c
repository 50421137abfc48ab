/* guard.c - the copies of a kernel's tensors: what they hold before, and what is compared after. */
#include "guard.h"

enum { PARTS = 256, MADE = 1024, TOLD = 256, KEPT = 1024, TRIES = 64, PAST = 1024 };

/* A tensor among the arguments. */
struct part {
	uint32_t value; /* of the thread's */
	uint32_t param; /* its word */
	uintptr_t low, high;
	const struct ops_view *view;
	uint32_t cluster;
	int item; /* bytes of an element */
	bool writes, constant, dense;
};

enum { OTHERS, READ, WRITTEN }; /* whose a byte is: between the elements; of a tensor that is only read; of one that is written */

/* Tensors that overlap: one piece of memory. */
struct cluster {
	uintptr_t low, high;
	uint32_t first, n;            /* in the order of addresses */
	bool writes, constant, fresh; /* fresh: some of it was never written */
	size_t unit;
	uint8_t *whose; /* of each byte; NULL: all are `plain` */
	uint8_t plain;
	struct guard_region *copy[3]; /* of the first call, the second, a later one */
	bool kept;                    /* copy is a weight's, which stays */
};

enum try_kind { TRY_FIRST, TRY_OTHER, TRY_SAME, TRY_ONE_THREAD, TRY_FILLS };

struct guard_call {
	int threads;            /* OpenMP's, while a kernel runs with one; else 0 */
	bool active, explained; /* explained: a finding tells why its results differ */
	uint64_t seq;
	const struct ops_open *open; /* of the run that it is in */
	enum guard_side side;        /* of the first */
	uint32_t try, candidate, n_candidates;
	uint32_t candidate_of[TRIES];
	struct part part[PARTS];
	struct cluster cluster[PARTS];
	uint32_t n, n_clusters;
	uint32_t different; /* a cluster, and a byte of it */
	size_t different_at;
	uint64_t reals[2 * CALL_REALS], word[PARTS];
	uint32_t n_words; /* as they were */
	const uint64_t *stack;
	/* what the model made in this run */
	struct made {
		uintptr_t low, high;
		uint8_t *unwritten; /* of each byte; NULL: all are */
		uint32_t handles;
	} made[MADE];
	uint32_t n_made;
	/* what earlier calls of it got, by address: the name of memory that was freed */
	struct past {
		uintptr_t low;
		uint32_t name;
		int32_t dtype;
	} past[PAST];
	uint32_t n_past;
	uint64_t guarded, unguarded, unguarded_bytes; /* arguments of this run */
};

/* Whoever repeats a run has seen in the first ones what there is to see: later ones are guarded as in a live process. */
static bool runs_twice(const struct ops_run *run) { return ops_want() & CALLS_BOUNDS_TWICE && (run->run < 2 || run->run == CALLS_NO_RUN); }

/* ---- what was never written ---- */

static struct made *made_at(struct guard_call *c, uintptr_t address)
{
	for (uint32_t i = c->n_made; i-- > 0;)
		if (address >= c->made[i].low && address < c->made[i].high)
			return &c->made[i];
	return NULL;
}

static void forget_made(struct guard_call *c, struct made *m)
{
	free(m->unwritten);
	*m = c->made[--c->n_made];
}

static bool is_unwritten(const struct made *m, uintptr_t at)
{
	return m && at >= m->low && at < m->high && (!m->unwritten || m->unwritten[at - m->low]);
}

/* Memory for the states of bytes; a tensor that gets none counts as written. */
static bool keep_bytes(struct guard_call *c, struct made *m)
{
	if (m->unwritten)
		return true;
	m->unwritten = malloc(m->high - m->low);
	if (m->unwritten)
		memset(m->unwritten, 1, m->high - m->low);
	else
		forget_made(c, m);
	return m->unwritten != NULL;
}

static void wrote(struct guard_call *c, uintptr_t low, uintptr_t high)
{
	struct made *m = made_at(c, low);
	if (!m)
		return;
	high = high < m->high ? high : m->high;
	if (low <= m->low && high >= m->high)
		forget_made(c, m);
	else if (keep_bytes(c, m))
		memset(m->unwritten + (low - m->low), 0, high - low);
}

static bool has_unwritten(const struct made *m, uintptr_t low, uintptr_t high)
{
	if (!m)
		return false;
	low = low > m->low ? low : m->low;
	high = high < m->high ? high : m->high;
	return low < high && (!m->unwritten || memchr(m->unwritten + (low - m->low), 1, high - low));
}

static pthread_key_t key;
static bool key_made;

static void end_thread(void *p)
{
	struct guard_call *c = p;
	while (c->n_made)
		forget_made(c, &c->made[c->n_made - 1]);
	free(c);
}

static void make_key(void) { key_made = pthread_key_create(&key, end_thread) == 0; }

static struct guard_call *state_of(struct ops_thread *t)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_key);
	if (!t->guard && key_made && (t->guard = calloc(1, sizeof(*t->guard))) && pthread_setspecific(key, t->guard)) {
		free(t->guard);
		t->guard = NULL;
	}
	return t->guard;
}

/* The thread whose kernel was called last: a fault may be in one that OpenMP started. */
static struct ops_thread *_Atomic running;

static bool view_here(const struct model *m, void *tensor, struct ops_view *v, int64_t *bytes)
{
	struct tensor_meta meta;
	return tensor && ops_view_of(m, tensor, v) && v->device == DEVICE_CPU && v->data && ops_meta_of(v, &meta, bytes) && *bytes > 0;
}

void guard_made(const struct model *m, void *tensor)
{
	struct ops_thread *t = ops_thread_if_any();
	struct guard_call *c = t && t->depth ? state_of(t) : NULL;
	struct ops_view v;
	int64_t bytes;
	if (!c || !runs_twice(&t->run[t->depth]) || !view_here(m, tensor, &v, &bytes))
		return;
	const uintptr_t low = (uintptr_t)v.data, high = low + (uintptr_t)bytes;
	for (uint32_t i = c->n_made; i-- > 0;) /* memory that was freed without our knowing */
		if (c->made[i].low < high && low < c->made[i].high)
			forget_made(c, &c->made[i]);
	if (c->n_made < MADE)
		c->made[c->n_made++] = (struct made){.low = low, .high = high, .handles = 1};
}

void guard_viewed(const struct model *m, void *tensor)
{
	struct ops_thread *t = ops_thread_if_any();
	struct ops_view v;
	int64_t bytes;
	struct made *at =
	    t && t->guard && t->guard->n_made && view_here(m, tensor, &v, &bytes) ? made_at(t->guard, (uintptr_t)v.data) : NULL;
	if (at)
		at->handles++;
}

void guard_dropped(const struct model *m, void *tensor)
{
	struct ops_thread *t = ops_thread_if_any();
	for (uint32_t i = 0; t && i < t->n_fetched; i++) /* whoever passes its address nevertheless passes no tensor */
		if (t->fetched[i].handle == tensor)
			t->fetched[i].handle = NULL;
	struct ops_view v;
	int64_t bytes;
	struct made *at =
	    t && t->guard && t->guard->n_made && view_here(m, tensor, &v, &bytes) ? made_at(t->guard, (uintptr_t)v.data) : NULL;
	if (at && !--at->handles)
		forget_made(t->guard, at);
}

/* ---- what copies hold ---- */

/* The byte that stands for what a kernel may not look at: small numbers for integers, which may be indices. */
static uint8_t filler(const struct part *p, uintptr_t at, enum guard_side side)
{
	if (dtype_is_integer(p->view->dtype))
		return side == GUARD_RIGHT && (at - p->low) % (uintptr_t)p->item == 0;
	return side == GUARD_RIGHT ? 0x7f : 0xff; /* a large number, NaN */
}

static const struct part *part_at(const struct guard_call *c, const struct cluster *k, uintptr_t at)
{
	const struct part *p = &c->part[k->first];
	for (uint32_t i = 0; i < k->n; i++, p++)
		if (at >= p->low && at < p->high)
			return p;
	return &c->part[k->first];
}

/* All of it: most outputs are that. */
static void fill_copy(const struct part *p, struct guard_region *r, enum guard_side fill)
{
	const size_t bytes = p->high - p->low, item = (size_t)p->item;
	if (!dtype_is_integer(p->view->dtype)) {
		memset(r->data, filler(p, p->low, fill), bytes);
		return;
	}
	memset(r->data, 0, bytes);
	for (size_t i = 0; i < bytes && fill == GUARD_RIGHT; i += item)
		r->data[i] = 1;
}

static void put_copy(struct guard_call *c, struct cluster *k, struct guard_region *r, enum guard_side fill)
{
	const size_t bytes = k->high - k->low;
	const struct made *m = k->fresh ? made_at(c, k->low) : NULL;
	if (k->n == 1 && !k->whose && m && !m->unwritten && m->low <= k->low && m->high >= k->high) {
		fill_copy(&c->part[k->first], r, fill);
		return;
	}
	if (bytes)
		memcpy(r->data, (const void *)k->low, bytes);
	if (!k->whose && !k->fresh)
		return;
	const struct part *p = &c->part[k->first];
	for (size_t i = 0; i < bytes; i++) {
		const uintptr_t at = k->low + i;
		if (is_unwritten(m, at) || (k->whose && k->whose[i] == OTHERS)) {
			if (k->n > 1)
				p = part_at(c, k, at);
			r->data[i] = (char)filler(p, at, fill);
		}
	}
}

/* Marks the bytes of a tensor's elements. */
static void mark_elements(const struct part *p, uint8_t *whose, uint8_t as)
{
	int64_t index[TENSOR_MAX_DIMS] = {0};
	const struct ops_view *v = p->view;
	for (;;) {
		int64_t at = 0;
		for (int64_t d = 0; d < v->n_dim; d++)
			at += index[d] * v->stride[d];
		uint8_t *to = whose + at * p->item;
		for (int b = 0; b < p->item; b++)
			to[b] = to[b] > as ? to[b] : as;
		int64_t d = v->n_dim - 1;
		while (d >= 0 && ++index[d] == v->size[d])
			index[d--] = 0;
		if (d < 0)
			return;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	return x->low != y->low ? (x->low > y->low) - (x->low < y->low) : (x->high < y->high) - (x->high > y->high);
}

/* Parts of one tensor that lie between each other (the halves of a concatenation) share no element: each gets a copy of its own. */
static bool is_apart(const struct guard_call *c, const struct cluster *k)
{
	const size_t bytes = k->high - k->low;
	uint8_t *all = calloc(2, bytes), *one = all + bytes;
	bool apart = all != NULL;
	for (uint32_t i = k->first; i < k->first + k->n && apart; i++) {
		const struct part *p = &c->part[i];
		const size_t from = p->low - k->low, n = p->high - p->low;
		memset(one, 0, bytes);
		mark_elements(p, one + from, 1);
		for (size_t b = from; b < from + n && apart; b++) {
			apart = !(all[b] & one[b]);
			all[b] |= one[b];
		}
	}
	free(all);
	return apart;
}

static struct cluster *add_cluster(struct guard_call *c, uint32_t first)
{
	struct part *p = &c->part[first];
	struct cluster *k = &c->cluster[c->n_clusters++];
	*k = (struct cluster){.low = p->low, .high = p->high, .first = first, .constant = true, .unit = 1};
	return k;
}

static void add_to_cluster(struct guard_call *c, struct cluster *k, struct part *p)
{
	p->cluster = (uint32_t)(k - c->cluster);
	k->n++;
	k->high = p->high > k->high ? p->high : k->high;
	k->writes |= p->writes;
	k->constant &= p->constant;
	while (k->unit < (size_t)p->item && k->unit < 16)
		k->unit *= 2;
}

static void split_last(struct guard_call *c)
{
	const struct cluster whole = c->cluster[c->n_clusters - 1];
	bool dense = false;
	for (uint32_t i = whole.first; i < whole.first + whole.n; i++)
		dense |= c->part[i].dense;
	if (whole.n < 2 || dense || !is_apart(c, &whole))
		return;
	c->n_clusters--;
	for (uint32_t i = whole.first; i < whole.first + whole.n; i++)
		add_to_cluster(c, add_cluster(c, i), &c->part[i]);
}

static void find_clusters(struct guard_call *c)
{
	c->n_clusters = 0;
	qsort(c->part, c->n, sizeof(*c->part), by_address);
	for (uint32_t i = 0; i < c->n; i++) {
		struct part *p = &c->part[i];
		struct cluster *k = c->n_clusters ? &c->cluster[c->n_clusters - 1] : NULL;
		if (!k || (p->low >= k->high && !(p->low == p->high && p->low == k->low))) {
			if (k)
				split_last(c);
			k = add_cluster(c, i);
		}
		add_to_cluster(c, k, p);
	}
	if (c->n)
		split_last(c);
}

static bool find_whose(struct guard_call *c, struct cluster *k)
{
	bool all = false;
	k->plain = k->writes ? WRITTEN : READ;
	for (uint32_t i = k->first; i < k->first + k->n; i++)
		all |= c->part[i].dense && c->part[i].low == k->low && c->part[i].high == k->high && c->part[i].writes == k->writes;
	if (all || k->high == k->low)
		return true;
	k->whose = calloc(1, k->high - k->low);
	for (uint32_t i = k->first; k->whose && i < k->first + k->n; i++)
		mark_elements(&c->part[i], k->whose + (c->part[i].low - k->low), c->part[i].writes ? WRITTEN : READ);
	return k->whose != NULL;
}

/* ---- weights: copied once ---- */

static struct kept {
	uintptr_t low, high;
	struct guard_region *copy[2];
} kept[KEPT];
static uint32_t n_kept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static bool keep_weight(struct guard_call *c, struct cluster *k)
{
	const size_t bytes = k->high - k->low;
	struct kept *at = NULL;
	pthread_mutex_lock(&kept_lock);
	for (uint32_t i = 0; i < n_kept && !at; i++)
		at = kept[i].low == k->low && kept[i].high == k->high ? &kept[i] : NULL;
	/* Another thread may be using the copies of one that has changed: then this call gets its own. */
	const bool same = at && !memcmp(at->copy[0]->data, (const void *)k->low, bytes);
	if (!at && n_kept < KEPT) {
		struct kept made = {k->low, k->high, {NULL}};
		for (int side = 0; side < 2; side++)
			if ((made.copy[side] = guard_take(bytes, k->low, k->unit, (enum guard_side)side))) {
				put_copy(c, k, made.copy[side], (enum guard_side)side);
				guard_arm(made.copy[side]);
				guard_protect(made.copy[side]);
			}
		if (made.copy[0] && made.copy[1])
			*(at = &kept[n_kept++]) = made;
		for (int side = 0; side < 2 && !at; side++)
			if (made.copy[side])
				guard_give(made.copy[side]);
	} else if (!same) {
		at = NULL;
	}
	pthread_mutex_unlock(&kept_lock);
	if (!at)
		return false;
	k->kept = true;
	k->copy[0] = at->copy[c->side];
	k->copy[1] = at->copy[!c->side];
	k->copy[2] = k->copy[0];
	return true;
}

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

static void gather(struct ops_thread *t, const struct ops_run *run, struct guard_call *c)
{
	c->n = 0;
	for (uint32_t i = 0; i < t->n_values; i++) {
		struct part p = {.value = i};
		if (!take_part(run, &t->value[i], &p) || c->n == PARTS) {
			c->unguarded += t->value[i].view.data != NULL; /* no bytes, no address */
			continue;
		}
		c->part[c->n++] = p;
	}
	find_clusters(c);
}

static void set_word(struct ops_regs *r, const uint64_t *stack, uint32_t i, uint64_t word)
{
	if (i < CALL_INTS)
		r->ints[i] = word;
	else
		((uint64_t *)(uintptr_t)stack)[i - CALL_INTS] = word; /* a callee owns the arguments that it gets on the stack */
}

/* Which copy is passed in a try, and where it lies. */
static uint32_t copy_of(const struct guard_call *c)
{
	return c->try < 2 ? c->
	try:
		2;
}

static enum guard_side side_of(const struct guard_call *c) { return c->try == 1 ? !c->side : c->side; }

static bool make_copy(struct guard_call *c, struct cluster *k)
{
	struct guard_region **r = &k->copy[copy_of(c)];
	enum guard_side fill = side_of(c);
	if (k->kept)
		return true;
	if (c->try >= TRY_FILLS && (uint32_t)(k - c->cluster) == c->candidate_of[c->candidate])
		fill = !fill;
	if (*r)
		guard_give(*r);
	if (!(*r = guard_take(k->high - k->low, k->low, k->unit, side_of(c))))
		return false;
	put_copy(c, k, *r, fill);
	guard_arm(*r);
	return true;
}

static void drop_cluster(struct cluster *k)
{
	for (int i = 0; i < 3 && !k->kept; i++)
		if (k->copy[i])
			guard_give(k->copy[i]);
	free(k->whose);
	*k = (struct cluster){.low = k->low, .high = k->high};
}

/* ---- one thread ---- */

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
}

static void drop_call(struct guard_call *c)
{
	restore_threads(c);
	for (uint32_t i = 0; i < c->n_clusters; i++)
		drop_cluster(&c->cluster[i]);
	c->n = c->n_clusters = 0;
	c->active = false;
}

static void pass_copies(struct guard_call *c, struct ops_regs *r)
{
	memcpy(r->reals, c->reals, sizeof(c->reals));
	for (uint32_t i = 0; i < c->n; i++) {
		const struct part *p = &c->part[i];
		const struct guard_region *copy = c->cluster[p->cluster].copy[copy_of(c)];
		set_word(r, c->stack, p->param, copy ? (uintptr_t)copy->data + (p->low - c->cluster[p->cluster].low) : p->low);
	}
}

static bool make_copies(struct guard_call *c)
{
	bool all = true;
	for (uint32_t i = 0; i < c->n_clusters && all; i++)
		all = make_copy(c, &c->cluster[i]);
	return all;
}

static void tell_wild(uintptr_t address, uintptr_t ip, bool writes);

static void remember(struct guard_call *c, const struct ops_thread *t)
{
	for (uint32_t i = 0; i < c->n; i++)
		c->past[c->n_past++ % PAST] = (struct past){c->part[i].low, t->value[c->part[i].value].name, c->part[i].view->dtype};
}

void guard_before(struct ops_thread *t, struct ops_run *run, const struct ops_open *o, struct ops_regs *r, const uint64_t *stack)
{
	struct guard_call *c = state_of(t);
	if (!c)
		return;
	guard_watch();
	guard_wild = tell_wild;
	if (c->active) /* an exception left it */
		drop_call(c);
	c->seq = o->seq;
	c->open = o;
	c->stack = stack;
	c->explained = false;
	c->try = c->candidate = c->n_candidates = 0;
	/* A masked load whose unused lanes reach an unmapped page takes a hundred times as long (AVX-512): in a live process only once. */
	c->side = runs_twice(run) || !run->run ? GUARD_RIGHT : GUARD_LEFT;
	memcpy(c->reals, r->reals, sizeof(c->reals));
	c->n_words = o->contract_call == CALLS_NO_CALL ? 0 : run->model->contract.call[o->contract_call].n_args;
	c->n_words = c->n_words < PARTS ? c->n_words : PARTS;
	for (uint32_t i = 0; i < c->n_words; i++)
		c->word[i] = call_word(r->ints, stack, i);
	gather(t, run, c);
	bool all = true;
	for (uint32_t i = 0; i < c->n_clusters && all; i++) {
		struct cluster *k = &c->cluster[i];
		all = find_whose(c, k);
		k->fresh = !k->constant && has_unwritten(made_at(c, k->low), k->low, k->high);
		if (all && k->constant && !k->writes)
			keep_weight(c, k);
	}
	if (!all || !make_copies(c)) { /* no memory: it runs as it is */
		for (uint32_t i = 0; i < c->n_clusters; i++)
			c->unguarded_bytes += c->cluster[i].high - c->cluster[i].low;
		c->unguarded += c->n;
		drop_call(c);
		return;
	}
	c->guarded += c->n;
	remember(c, t);
	c->active = true;
	atomic_store(&running, t);
	pass_copies(c, r);
}

/* ---- findings ---- */

struct told {
	const struct ops_site *site;
	uint32_t call, param;
	const char *what;
};
static struct told told[TOLD];
static uint32_t n_told;
static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;

/* Once for each place. */
static bool tell_it(const struct ops_open *o, uint32_t param, const char *what)
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

static void out_call(struct json_out *o, const struct ops_run *run, const struct ops_open *open, const char *what)
{
	json_member_str(o, "what", slice_str(what));
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

static void out_fault(struct json_out *o, const struct model *m, const struct guard_fault *f, bool writes)
{
	const struct object *so = &m->object;
	json_member_bool(o, "writes", writes);
	if (!f)
		return;
	if (f->ip >= so->start && f->ip < so->end) {
		json_member_u64(o, "ip", f->ip - so->base);
	}
	json_member_u64(o, "thread", f->tid);
	if (f->decoded) {
		char text[64];
		json_member_u64(o, "width", f->insn.width);
		json_member_u64(o, "bits", f->insn.bits);
		insn_operand(&f->insn, text, sizeof(text));
		json_member_str(o, "operand", slice_str(text));
	}
}

/* first, last: bytes from the tensor's first element. */
static void tell(const struct ops_thread *t, const struct ops_run *run, const struct guard_call *c, const struct part *p, const char *what,
		 int64_t first, int64_t last, const struct guard_fault *f, bool writes)
{
	struct buf b = {0};
	struct json_out o;
	if (!tell_it(c->open, p->param, what))
		return;
	event_begin(&o, &b, LIVE_BOUNDS, run->model->id);
	out_call(&o, run, c->open, what);
	out_part(&o, &t->value[p->value], p);
	json_member_i64(&o, "first", first);
	json_member_i64(&o, "last", last);
	out_fault(&o, run->model, f, writes);
	event_end(&o, &b);
}

/* A fault that no guard explains: the process is about to die. Only in the model's own code, which holds no lock of malloc()'s. */
static int64_t place_in(const struct guard_call *c, const struct part *p, uintptr_t address)
{
	const struct cluster *k = &c->cluster[p->cluster];
	const struct guard_region *r = k->copy[copy_of(c)];
	return r ? (int64_t)(address - ((uintptr_t)r->data + (p->low - k->low))) : INT64_MAX;
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
	if (!c || !c->active || !run->model || ip < run->model->object.start || ip >= run->model->object.end)
		return;
	const struct guard_fault f = {.ip = ip};
	const struct part *p = nearest(c, address);
	struct buf b = {0};
	struct json_out o;
	event_begin(&o, &b, LIVE_BOUNDS, run->model->id);
	out_call(&o, run, c->open, "wild");
	if (p) {
		out_part(&o, &t->value[p->value], p);
		json_member_i64(&o, "first", place_in(c, p, address));
		json_member_i64(&o, "last", place_in(c, p, address));
	}
	out_fault(&o, run->model, &f, writes);
	event_end(&o, &b);
}

/* ---- after a call ---- */

/* The tensor at that end of the cluster. */
static const struct part *part_at_end(const struct guard_call *c, const struct cluster *k, bool before)
{
	const struct part *best = &c->part[k->first];
	for (uint32_t i = k->first + 1; i < k->first + k->n; i++)
		if (before ? c->part[i].low < best->low : c->part[i].high > best->high)
			best = &c->part[i];
	return best;
}

static void look_beyond(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, const struct cluster *k, bool before)
{
	const struct guard_region *r = k->copy[copy_of(c)];
	const struct guard_fault *fault = before ? r->before : r->after;
	const struct part *p = part_at_end(c, k, before);
	const int64_t shift = (int64_t)(p->low - k->low), edge = before ? 0 : (int64_t)(p->high - p->low);
	int64_t first, last;
	if (guard_changed(r, before, &first, &last)) {
		tell(t, run, c, p, before ? "write-before" : "write-after", first - shift, last - shift,
		     guard_faulted(&fault[1]) ? &fault[1] : NULL, true);
		c->explained = true;
	} else if (guard_faulted(&fault[1])) { /* it wrote what was there */
		const int64_t at = (int64_t)(fault[1].address - (uintptr_t)r->data) - shift;
		tell(t, run, c, p, before ? "write-before" : "write-after", at, at + p->item - 1, &fault[1], true);
		c->explained = true;
	}
	if (guard_faulted(&fault[0])) {
		const struct insn *i = &fault[0].insn;
		first = (int64_t)(fault[0].address - (uintptr_t)r->data) - shift;
		last = first + p->item - 1;
		if (fault[0].decoded && i->width && i->address <= fault[0].address && fault[0].address < i->address + i->width) {
			first = (int64_t)(i->address - (uintptr_t)r->data) - shift;
			last = first + i->width - 1;
			first = !before && first < edge ? edge : first;
			last = before && last >= 0 ? -1 : last;
		}
		tell(t, run, c, p, before ? "read-before" : "read-after", first, last, &fault[0], false);
		c->explained = true;
	}
}

struct span {
	int64_t first, last; /* bytes of the cluster */
};

static void extend(struct span *s, size_t at)
{
	s->first = s->last < 0 ? (int64_t)at : s->first;
	s->last = (int64_t)at;
}

/* What was written where it may not be: between a tensor's elements, or to one that is only read. */
static void look_inside(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, const struct cluster *k)
{
	const struct guard_region *r = k->copy[copy_of(c)];
	const size_t bytes = k->high - k->low;
	const struct made *m = k->fresh ? made_at(c, k->low) : NULL;
	struct span others = {0, -1}, read = {0, -1};
	if (!bytes || (k->writes && !k->whose))
		return;
	if (!k->whose && !k->fresh && !memcmp(r->data, (const void *)k->low, bytes))
		return;
	for (size_t i = 0; i < bytes; i++) {
		const uint8_t whose = k->whose ? k->whose[i] : k->plain;
		const uintptr_t at = k->low + i;
		if (whose == WRITTEN)
			continue;
		const bool filled = whose == OTHERS || is_unwritten(m, at);
		const uint8_t was =
		    filled ? filler(k->n > 1 ? part_at(c, k, at) : &c->part[k->first], at, side_of(c)) : *(const uint8_t *)at;
		if ((uint8_t)r->data[i] != was)
			extend(whose == OTHERS ? &others : &read, i);
	}
	const struct guard_fault *f = guard_faulted(&r->inside) ? &r->inside : NULL;
	if (others.last >= 0) {
		const struct part *p = part_at(c, k, k->low + (uintptr_t)others.first);
		const int64_t shift = (int64_t)(p->low - k->low);
		tell(t, run, c, p, "write-neighbour", others.first - shift, others.last - shift, f, true);
		c->explained = true;
	}
	if (read.last >= 0) {
		const struct part *p = part_at(c, k, k->low + (uintptr_t)read.first);
		const int64_t shift = (int64_t)(p->low - k->low);
		tell(t, run, c, p, k->constant ? "write-weight" : "write-input", read.first - shift, read.last - shift, f, true);
		c->explained = true;
	}
}

/* A weight's pages were written: they are made as they were. */
static void mend_weight(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, struct cluster *k)
{
	struct guard_region *r = k->copy[copy_of(c)];
	if (!atomic_load(&r->spoilt))
		return;
	if (guard_faulted(&r->inside)) {
		const struct part *p = part_at(c, k, k->low + (r->inside.address - (uintptr_t)r->data));
		const int64_t at = (int64_t)(r->inside.address - (uintptr_t)r->data) - (int64_t)(p->low - k->low);
		const int64_t width = r->inside.decoded ? r->inside.insn.width : p->item;
		tell(t, run, c, p, "write-weight", at, at + width - 1, &r->inside, true);
		c->explained = true;
	}
	guard_renew(r);
	memcpy(r->data, (const void *)k->low, k->high - k->low);
	guard_arm(r);
	guard_protect(r);
}

static void look_after(struct ops_thread *t, const struct ops_run *run, struct guard_call *c)
{
	for (uint32_t i = 0; i < c->n_clusters; i++) {
		struct cluster *k = &c->cluster[i];
		look_beyond(t, run, c, k, true);
		look_beyond(t, run, c, k, false);
		if (k->kept)
			mend_weight(t, run, c, k);
		else
			look_inside(t, run, c, k);
	}
}

/* Do the results of this try differ from those of the first? What neither has written does not count. *at: the first byte. */
static bool differs(struct guard_call *c, const struct cluster *k, size_t *at)
{
	const uint8_t *a = (const uint8_t *)k->copy[0]->data, *b = (const uint8_t *)k->copy[copy_of(c)]->data;
	const size_t bytes = k->high - k->low;
	const struct made *m = k->fresh ? made_at(c, k->low) : NULL;
	if (!k->writes || !memcmp(a, b, bytes))
		return false;
	for (size_t i = 0; i < bytes; i++) {
		const uintptr_t address = k->low + i;
		if (a[i] == b[i] || (k->whose ? k->whose[i] : k->plain) != WRITTEN)
			continue;
		if (is_unwritten(m, address)) {
			const struct part *p = k->n > 1 ? part_at(c, k, address) : &c->part[k->first];
			enum guard_side fill = side_of(c);
			if (c->try >= TRY_FILLS && (uint32_t)(k - c->cluster) == c->candidate_of[c->candidate])
				fill = !fill;
			if (a[i] == filler(p, address, c->side) && b[i] == filler(p, address, fill))
				continue;
		}
		*at = i;
		return true;
	}
	return false;
}

static bool any_differs(struct guard_call *c, uint32_t *cluster, size_t *at)
{
	for (uint32_t i = 0; i < c->n_clusters; i++)
		if (differs(c, &c->cluster[i], at)) {
			*cluster = i;
			return true;
		}
	return false;
}

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

static void tell_difference(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, const char *what, uint32_t cluster,
			    size_t at)
{
	const struct cluster *k = &c->cluster[cluster];
	const struct part *p = part_at(c, k, k->low + at);
	const int64_t byte = (int64_t)(k->low + at - p->low) / p->item * p->item;
	tell(t, run, c, p, what, byte, byte + p->item - 1, NULL, false);
}

/* Bytes of a cluster that the kernel may not look at: where its reading of them is reported. */
static void tell_candidate(struct ops_thread *t, const struct ops_run *run, struct guard_call *c)
{
	const uint32_t i = c->candidate_of[c->candidate];
	const struct cluster *k = &c->cluster[i];
	const struct made *m = k->fresh ? made_at(c, k->low) : NULL;
	size_t at = 0;
	const size_t bytes = k->high - k->low;
	while (at < bytes && !is_unwritten(m, k->low + at) && !(k->whose && k->whose[at] == OTHERS))
		at++;
	tell_difference(t, run, c, is_unwritten(m, k->low + at) ? "uninitialised" : "read-neighbour", i, at);
}

static void copy_back(struct guard_call *c, const struct cluster *k, bool twice)
{
	const size_t bytes = k->high - k->low;
	const char *from = k->copy[0]->data, *other = twice && k->copy[1] ? k->copy[1]->data : NULL;
	if (!k->writes || !bytes)
		return;
	if (!k->whose && (!k->fresh || (other && !memcmp(from, other, bytes)))) {
		memcpy((void *)k->low, from, bytes);
		wrote(c, k->low, k->high);
		return;
	}
	struct made *m = k->fresh ? made_at(c, k->low) : NULL;
	if (m && !keep_bytes(c, m))
		m = NULL;
	for (size_t i = 0; i < bytes; i++) {
		const uintptr_t at = k->low + i;
		if ((k->whose ? k->whose[i] : k->plain) != WRITTEN)
			continue;
		if (is_unwritten(m, at)) {
			const struct part *p = k->n > 1 ? part_at(c, k, at) : &c->part[k->first];
			if (other && (uint8_t)from[i] == filler(p, at, c->side) && (uint8_t)other[i] == filler(p, at, !c->side))
				continue;
			m->unwritten[at - m->low] = 0;
		}
		*(char *)at = from[i];
	}
	if (m && !memchr(m->unwritten, 1, m->high - m->low))
		forget_made(c, m);
}

static const struct past *past_at(const struct guard_call *c, uintptr_t low, uint64_t bytes)
{
	for (uint32_t i = c->n_past; i-- > 0 && c->n_past - i <= PAST;)
		if (c->past[i % PAST].low >= low && c->past[i % PAST].low - low < bytes)
			return &c->past[i % PAST];
	return NULL;
}

static void tell_freed(const struct ops_run *run, const struct guard_call *c, const struct ops_open *open)
{
	struct guard_freed v[TRIES];
	const size_t n = guard_take_freed(v, TRIES);
	for (size_t i = 0; i < n; i++) {
		const struct past *p = past_at(c, v[i].low, v[i].bytes);
		const struct dtype_info *d = p ? dtype_info(p->dtype) : NULL;
		struct buf b = {0};
		struct json_out o;
		if (!tell_it(open, p ? p->name : UINT32_MAX, "freed"))
			continue;
		event_begin(&o, &b, LIVE_BOUNDS, run->model->id);
		out_call(&o, run, open, "freed");
		for (uint32_t k = 0; k < c->n_words; k++)
			if (c->word[k] >= v[i].low && c->word[k] - v[i].low < v[i].bytes) {
				json_member_u64(&o, "arg", k);
				break;
			}
		if (p && p->name)
			json_member_str(&o, "buffer", slice_str(ops_text(p->name)));
		if (d) {
			json_member_str(&o, "dtype", slice_str(d->name));
			json_member_u64(&o, "item", (uint64_t)d->bytes);
		}
		json_member_u64(&o, "extent", v[i].bytes);
		json_member_u64(&o, "first", v[i].address - v[i].low);
		json_member_u64(&o, "last",
				v[i].address - v[i].low +
				    (v[i].fault.decoded ? v[i].fault.insn.width
				     : d                ? (uint64_t)d->bytes
							: 1) -
				    1);
		out_fault(&o, run->model, &v[i].fault, v[i].writes);
		event_end(&o, &b);
	}
}

/* Sums of another order differ by rounding; a race by more. */
static bool differs_much(const struct part *p, const char *a, const char *b, size_t *at)
{
	const struct tensor_meta one = {.dtype = p->view->dtype};
	const size_t n = (p->high - p->low) / (size_t)p->item;
	const double room = p->item > 2 ? 1e-3 : 5e-2;
	double most = 0;
	if (p->item > 8 || !dtype_info(p->view->dtype))
		return false;
	for (size_t i = 0; i < n; i++) {
		const double v = tensor_at(&one, a + i * (size_t)p->item, 0);
		most = __builtin_isfinite(v) && __builtin_fabs(v) > most ? __builtin_fabs(v) : most;
	}
	const double allowed = dtype_is_integer(p->view->dtype) ? 0 : room * most;
	for (*at = 0; *at < n * (size_t)p->item; *at += (size_t)p->item) {
		const double x = tensor_at(&one, a + *at, 0), y = tensor_at(&one, b + *at, 0);
		if (__builtin_fabs(x - y) > allowed || __builtin_isnan(x) != __builtin_isnan(y))
			return true;
	}
	return false;
}

static bool thread_differs(const struct guard_call *c, uint32_t *cluster, size_t *at)
{
	for (uint32_t i = 0; i < c->n_clusters; i++) {
		const struct cluster *k = &c->cluster[i];
		const struct part *p = &c->part[k->first];
		if (!k->writes || k->whose || k->n != 1 || !p->dense || !memcmp(k->copy[0]->data, k->copy[2]->data, k->high - k->low))
			continue;
		*cluster = i;
		if (differs_much(p, k->copy[0]->data, k->copy[2]->data, at))
			return true;
	}
	return false;
}

static bool again(struct guard_call *c, struct ops_regs *r, uint32_t try)
{
	c->try = try;
	if (!guard_again_works || !make_copies(c))
		return false;
	pass_copies(c, r);
	return true;
}

/* After the second and later calls of a kernel: is another needed? */
/* Its results with all threads are those with one, but for rounding, or its threads race. */
static bool again_with_one(const struct ops_run *run, struct guard_call *c, struct ops_regs *r)
{
	find_openmp(run->model);
	const int n = omp_get_max_threads ? omp_get_max_threads() : 1;
	if (n < 2 || !again(c, r, TRY_ONE_THREAD))
		return false;
	c->threads = n;
	omp_set_num_threads(1);
	return true;
}

static bool decide(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, struct ops_regs *r)
{
	uint32_t cluster;
	size_t at;
	const bool now = c->try && c->try != TRY_ONE_THREAD && any_differs(c, &cluster, &at);
	if (!c->try)
		return again(c, r, TRY_OTHER);
	if (c->try == TRY_OTHER) {
		if (!now)
			return again_with_one(run, c, r);
		c->different = cluster;
		c->different_at = at;
		return again(c, r, TRY_SAME);
	}
	if (c->try == TRY_ONE_THREAD) {
		restore_threads(c);
		if (thread_differs(c, &cluster, &at))
			tell_difference(t, run, c, "race", cluster, at);
		return false;
	}
	if (c->try == TRY_SAME) {
		if (now) {
			tell_difference(t, run, c, "race", cluster, at);
			return false;
		}
		list_candidates(c);
		c->candidate = 0;
		if (c->n_candidates && again(c, r, TRY_FILLS))
			return true;
	} else if (now) {
		tell_candidate(t, run, c);
		return false;
	} else if (++c->candidate < c->n_candidates && again(c, r, TRY_FILLS)) {
		return true;
	}
	if (!c->explained)
		tell_difference(t, run, c, "unsteady", c->different, c->different_at);
	return false;
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
	const bool twice = runs_twice(run);
	tell_freed(run, c, o);
	if (c->try < 2)
		look_after(t, run, c);
	if (twice && decide(t, run, c, r))
		return true;
	for (uint32_t i = 0; i < c->n_clusters; i++)
		copy_back(c, &c->cluster[i], twice);
	drop_call(c);
	return false;
}

void guard_op(struct ops_thread *t, const struct ops_run *run)
{
	struct guard_call *c = t->guard;
	struct tensor_meta meta;
	int64_t bytes;
	for (uint32_t i = 0; c && c->n_made && i < t->n_values; i++) {
		struct ops_value *x = &t->value[i];
		if (ops_look(run->model, x, true) && ops_meta_of(&x->view, &meta, &bytes) && x->view.data)
			wrote(c, (uintptr_t)x->view.data, (uintptr_t)x->view.data + (uintptr_t)bytes);
	}
}

/* ---- runs ---- */

static void tell_summary(const struct ops_run *run, const struct guard_call *c)
{
	struct buf b = {0};
	struct json_out o;
	event_begin(&o, &b, LIVE_BOUNDS_SUMMARY, run->model->id);
	json_member_u64(&o, "run", run->run);
	json_member_u64(&o, "guarded", c->guarded);
	json_member_u64(&o, "unguarded", c->unguarded);
	json_member_u64(&o, "unguarded_bytes", c->unguarded_bytes);
	event_end(&o, &b);
}

void guard_run(struct ops_thread *t, const struct ops_run *run, bool begins)
{
	struct guard_call *c = state_of(t);
	if (!c || t->depth > 1)
		return;
	if (c->active)
		drop_call(c);
	while (c->n_made) /* its outputs now belong to whoever called it */
		forget_made(c, &c->made[c->n_made - 1]);
	if (!begins && (!run->run || c->unguarded))
		tell_summary(run, c);
	if (begins)
		c->guarded = c->unguarded = c->unguarded_bytes = 0;
}
