/* cuda_scan.c - finds the first call that wrote NaN on a GPU while nobody waits (CALLS_SCAN): cuda_scan.h says how. What is found becomes a
 * call in the log, with the values that the GPU noted: a CALL_BEGIN with the result CALLS_SCANNED, its values, its CALL_END. */
#include "cuda_scan.h"

#include "ops.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONTEXTS 16    /* usually one per GPU; others are examined as without CALLS_SCAN */
#define COUNTERS 16384 /* runs that were captured; of more, replays have no number */
#define MARKS 4096
#define BLOCKS 1024
#define BLOCK_BYTES (16u << 10) /* of what was written, for each block of threads */
#define PATIENCE_MS 10000       /* at the end of the process, for what the GPU still has to do */

enum { NON_BLOCKING = 1, DISABLE_TIMING = 2, PORTABLE_MAPPED = 1 | 2, NOT_READY = 600 };

asm(".section .rodata\n.balign 16\npt2_scan_ptx: .incbin \"libprobe/scan.ptx\"\n.byte 0\n.previous\n");
extern const char pt2_scan_ptx[] __attribute__((visibility("hidden")));

/* In device memory. */
struct on_device {
	uint64_t word, mark[MARKS];
	uint32_t counter[COUNTERS]; /* [0]: of none */
};

/* One per driver context; it stays until the end. */
struct cuda_scanner {
	void *_Atomic handle; /* NULL: free */
	_Atomic int state;    /* 0: being made, 1: ready, -1: failed */
	void *few, *many, *tick, *stream;
	void *event; /* after the last work that may write mail */
	_Atomic bool recorded;
	int device;
	uint64_t memory, mail_at;
	struct scan_mail *mail;
	_Atomic uint32_t counters;
	_Atomic bool told;
};
static struct cuda_scanner scanners[CONTEXTS];

/* ---- a context ---- */

static bool make(struct cuda_scanner *c)
{
	void *module;
	struct scan_head head = {0};
	struct scan_tensor none[SCAN_MANY] = {{0}};
	void *params[] = {&head, none};
	const size_t room = (sizeof(*c->mail) + 4095) & ~(size_t)4095;
	if (cuda.ctx_get_device(&c->device) || cuda.load_text(&module, pt2_scan_ptx) ||
	    cuda.get_function(&c->few, module, "pt2_scan_few") || cuda.get_function(&c->many, module, "pt2_scan_many") ||
	    cuda.get_function(&c->tick, module, "pt2_scan_tick") || cuda.mem_alloc(&c->memory, sizeof(struct on_device)) ||
	    cuda.stream_create(&c->stream, NON_BLOCKING) || cuda.event_create(&c->event, DISABLE_TIMING))
		return false;
	/* Our own pages: they stay readable whatever happens to the context. */
	void *mail = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mail == MAP_FAILED)
		return false;
	if (cuda.host_register(mail, room, PORTABLE_MAPPED) || cuda.host_pointer(&c->mail_at, mail, 0)) {
		munmap(mail, room);
		return false;
	}
	c->mail = mail;
	/* Each kernel once: the driver loads it now, not while a graph is captured. */
	uint64_t counter = c->memory + offsetof(struct on_device, counter);
	void *tick[] = {&counter};
	head.word = c->memory;
	return !cuda.memset_async(c->memory, 0, sizeof(struct on_device), c->stream) &&
	       !cuda.memset_async(c->memory, 0xff, sizeof(uint64_t), c->stream) &&
	       !cuda.launch(c->few, 1, 1, 1, SCAN_THREADS, 1, 1, 0, c->stream, params, NULL) &&
	       !cuda.launch(c->many, 1, 1, 1, SCAN_THREADS, 1, 1, 0, c->stream, params, NULL) &&
	       !cuda.launch(c->tick, 1, 1, 1, 1, 1, 1, 0, c->stream, tick, NULL) && !cuda.stream_synchronize(c->stream);
}

static bool has_driver(void)
{
	return cuda.ctx_get_current && cuda.ctx_get_device && cuda.load_text && cuda.get_function && cuda.launch && cuda.mem_alloc &&
	       cuda.stream_create && cuda.event_create && cuda.event_record && cuda.event_query && cuda.host_register &&
	       cuda.host_pointer && cuda.memset_async && cuda.stream_synchronize;
}

static void make_ready(struct cuda_scanner *c)
{
	static _Atomic bool registered;
	/* Another thread may be capturing a graph. */
	int mode = cuda_relax_capture();
	const bool made = make(c);
	cuda_restore_capture(mode);
	if (!made)
		event_aside(LIVE_NO_MODEL, "the driver does not run the kernel that looks for NaN: each call on the GPU is waited for, and "
					   "what is captured into CUDA graphs is not examined");
	if (made && !atomic_exchange(&registered, true))
		atexit(cuda_scan_end);
	c->state = made ? 1 : -1;
}

/* NULL: none can be used. */
static struct cuda_scanner *current(void)
{
	void *handle = NULL;
	if (!has_driver() || cuda_broken || cuda.ctx_get_current(&handle) || !handle)
		return NULL;
	for (size_t i = 0; i < CONTEXTS; i++) {
		struct cuda_scanner *c = &scanners[i];
		void *there = NULL;
		if (atomic_compare_exchange_strong(&c->handle, &there, handle)) {
			make_ready(c);
			there = handle;
		}
		if (there == handle)
			return c->state == 1 ? c : NULL;
	}
	return NULL;
}

/* A child has neither the contexts nor the registered pages. */
void cuda_scan_after_fork(void) { memset(scanners, 0, sizeof(scanners)); }

/* ---- a tensor ---- */

static const struct {
	int dtype;
	enum scan_kind kind;
	uint8_t parts;
} types[] = {
    {DTYPE_F32, SCAN_F32, 1}, {DTYPE_BF16, SCAN_BF16, 1},     {DTYPE_F16, SCAN_F16, 1},
    {DTYPE_F64, SCAN_F64, 1}, {DTYPE_F8E4M3FN, SCAN_E4M3, 1}, {DTYPE_F8E5M2, SCAN_E5M2, 1},
    {DTYPE_C32, SCAN_F16, 2}, {DTYPE_C64, SCAN_F32, 2},       {DTYPE_C128, SCAN_F64, 2},
};

static const struct {
	uint8_t shift;
	uint64_t high, nan, inf; /* in place of add */
} kinds[SCAN_KINDS] = {
    [SCAN_E4M3] = {0, 0x8080808080808080, 0x0101010101010101, 0x0101010101010101},
    [SCAN_E5M2] = {0, 0x8080808080808080, 0x0303030303030303, 0x0404040404040404},
    [SCAN_F16] = {1, 0x8000800080008000, 0x03ff03ff03ff03ff, 0x0400040004000400},
    [SCAN_BF16] = {1, 0x8000800080008000, 0x007f007f007f007f, 0x0080008000800080},
    [SCAN_F32] = {2, 0x8000000080000000, 0x007fffff007fffff, 0x0080000000800000},
    [SCAN_F64] = {3, 0x8000000000000000, 0x000fffffffffffff, 0x0010000000000000},
};

/* Do its elements fill their memory without gaps, in some order? */
static bool fills_memory(const struct scan_tensor *s)
{
	uint64_t filled = 1;
	for (int found = 1; found;) {
		found = 0;
		for (int d = 0; d < SCAN_DIMS && !found; d++)
			if (s->size[d] > 1 && s->stride[d] == filled) {
				filled *= s->size[d];
				found = 1;
			}
	}
	return filled == s->n;
}

/* Its dimensions, from the last; neighbours that are one in memory are joined if there are too many. */
static bool take_dims(const struct ops_view *v, struct scan_tensor *to)
{
	int at = SCAN_DIMS;
	const bool join = v->n_dim + (to->parts > 1) > SCAN_DIMS;
	if (to->parts > 1) {
		to->size[--at] = to->parts;
		to->stride[at] = 1;
	}
	const int first = at;
	for (int64_t d = v->n_dim; d-- > 0;) {
		const uint64_t size = (uint64_t)v->size[d], stride = (uint64_t)v->stride[d] * to->parts;
		if (join && (size == 1 || (at < first && stride == to->stride[at] * to->size[at]))) {
			to->size[at < first ? at : first - 1] *= size;
			continue;
		}
		if (!at)
			return false;
		to->size[--at] = size;
		to->stride[at] = stride;
	}
	to->first_dim = (uint8_t)at;
	return true;
}

static bool inside_storage(const struct model *m, const struct ops_view *v, const struct scan_tensor *s)
{
	uint64_t last = 0;
	int64_t bytes, offset;
	if (!v->handle || !m->ops->get_storage_size || !m->ops->get_storage_offset || m->ops->get_storage_size(v->handle, &bytes) ||
	    m->ops->get_storage_offset(v->handle, &offset))
		return true;
	for (int d = 0; d < SCAN_DIMS; d++)
		last += (s->size[d] - 1) * s->stride[d];
	return offset >= 0 && bytes >= 0 && (((uint64_t)offset * s->parts + last + 1) << s->shift) <= (uint64_t)bytes;
}

/* False: it cannot hold NaN, or this context cannot read it. */
static bool take_tensor(const struct cuda_scanner *c, const struct model *m, const struct ops_value *x, bool inf, struct scan_tensor *to)
{
	const struct ops_view *v = &x->view;
	size_t k = 0;
	while (k < ARRAY_LEN(types) && types[k].dtype != v->dtype)
		k++;
	if (k == ARRAY_LEN(types) || v->device != DEVICE_CUDA || !v->data || (v->device_index >= 0 && v->device_index != c->device))
		return false;
	*to = (struct scan_tensor){
	    .at = (uintptr_t)v->data,
	    .kind = types[k].kind,
	    .parts = types[k].parts,
	    .shift = kinds[types[k].kind].shift,
	    .high = kinds[types[k].kind].high,
	    .add = inf ? kinds[types[k].kind].inf : kinds[types[k].kind].nan,
	    .role = x->role,
	    .arg = x->arg,
	    .name = x->name,
	    .dtype = (int16_t)v->dtype,
	    .device = (int8_t)v->device,
	    .device_index = (int8_t)v->device_index,
	    .size = {1, 1, 1, 1, 1},
	    .n = types[k].parts,
	};
	for (int64_t d = 0; d < v->n_dim; d++)
		if (v->size[d] <= 0 || v->stride[d] < 0 || __builtin_mul_overflow(to->n, (uint64_t)v->size[d], &to->n))
			return false;
	if (to->at & ((UINT64_C(1) << to->shift) - 1) || !take_dims(v, to) || !inside_storage(m, v, to))
		return false;
	to->dense = fills_memory(to);
	return true;
}

/* ---- which tensors ---- */

static bool writes(const struct ops_value *x) { return x->role == CALL_ROLE_OUT || x->role == CALL_ROLE_INOUT; }

#define MANY (NONE - 1) /* calls */

/* Memory: buffers that share a storage are one. */
static uint32_t memory_of(const struct contract *c, uint32_t value)
{
	return c->value[value].storage < c->n_storages ? c->n_values + c->value[value].storage : value;
}

/* Of each argument that is only written: does no other call read that memory, nor is it an output? Kernels leave the padding of such
 * memory as they found it (nan.h). */
static uint8_t *find_unread(const struct contract *c)
{
	uint8_t *unread = calloc(c->n_args + 1, 1);
	uint32_t *reader = malloc(((size_t)c->n_values + c->n_storages + 1) * sizeof(*reader));
	bool known = !c->n_notes && unread && reader;
	for (uint32_t i = 0; known && i < c->n_values + c->n_storages; i++)
		reader[i] = NONE;
	for (uint32_t i = 0; known && i < c->n_outputs; i++) {
		known = c->output[i].value < c->n_values;
		if (known)
			reader[memory_of(c, c->output[i].value)] = MANY;
	}
	for (uint32_t k = 0; known && k < c->n_calls; k++)
		for (uint32_t a = c->call[k].arg; a < c->call[k].arg + c->call[k].n_args; a++) {
			const struct contract_arg *arg = &c->arg[a];
			if (arg->value >= c->n_values || arg->role == ARG_OUT || arg->role == ARG_SCALAR)
				continue;
			uint32_t *r = &reader[memory_of(c, arg->value)];
			*r = *r == NONE || *r == k ? k : MANY;
		}
	for (uint32_t k = 0; known && k < c->n_calls; k++)
		for (uint32_t a = c->call[k].arg; a < c->call[k].arg + c->call[k].n_args; a++) {
			const struct contract_arg *arg = &c->arg[a];
			if (arg->role != ARG_OUT || arg->value >= c->n_values || c->value[arg->value].kind != VALUE_BUFFER)
				continue;
			const uint32_t r = reader[memory_of(c, arg->value)];
			unread[a] = r == NONE || r == k;
		}
	free(reader);
	return unread;
}

/* Found when first needed; two threads may both find it. */
static const uint8_t *unread_of(struct model *m)
{
	uint8_t *there = atomic_load_explicit(&m->ops->unread, memory_order_acquire), *mine;
	if (there || !m->has_contract || !(mine = find_unread(&m->contract)))
		return there;
	if (atomic_compare_exchange_strong(&m->ops->unread, &there, mine))
		return mine;
	free(mine);
	return there;
}

static bool is_unread(const uint8_t *unread, const struct model *m, const struct ops_open *o, const struct ops_value *x)
{
	const struct contract *c = &m->contract;
	return unread && x->role == CALL_ROLE_OUT && o->contract_call < c->n_calls && x->arg < 255 &&
	       x->arg < c->call[o->contract_call].n_args && unread[c->call[o->contract_call].arg + x->arg];
}

/* No scan of this graph has seen what is in it, and the call changes it. */
static bool only_known_before(const struct model *m, const struct ops_value *x)
{
	return x->role == CALL_ROLE_INOUT && !x->fresh && x->passes &&
	       (x->value >= m->contract.n_values || m->contract.value[x->value].kind != VALUE_BUFFER);
}

/* ---- launches ---- */

struct launch {
	struct scan_head head;
	struct scan_tensor tensor[SCAN_MANY];
	uint64_t bytes;
};

static void add_tensor(struct launch *l, const struct scan_tensor *s, bool written)
{
	l->tensor[l->head.n_all++] = *s;
	l->head.n_written += written;
	l->bytes += written ? s->n << s->shift : 0;
}

static void launch(struct cuda_scanner *c, struct launch *l, void *stream)
{
	void *params[] = {&l->head, l->tensor};
	const uint64_t want = (l->bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
	const unsigned blocks = want < 1 ? 1 : want < BLOCKS ? (unsigned)want : BLOCKS;
	cuda.launch(l->head.n_all <= SCAN_FEW ? c->few : c->many, blocks, 1, 1, SCAN_THREADS, 1, 1, 0, stream, params, NULL);
}

/* A captured run's counter, which each replay increments first. */
static uint64_t counter_of(struct cuda_scanner *c, struct ops_run *run, void *stream)
{
	if (!run->counter) {
		uint32_t k = atomic_fetch_add(&c->counters, 1) + 1;
		run->counter = k < COUNTERS ? k : NONE;
		uint64_t at = c->memory + offsetof(struct on_device, counter) + 4 * (uint64_t)k;
		void *params[] = {&at};
		if (k < COUNTERS)
			cuda.launch(c->tick, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
	}
	return run->counter == NONE ? 0 : c->memory + offsetof(struct on_device, counter) + 4 * (uint64_t)run->counter;
}

static void fill_head(struct cuda_scanner *c, const struct ops_thread *t, struct ops_run *run, const struct ops_open *o,
		      struct scan_head *h)
{
	const uint64_t mark = (run->model->id * UINT64_C(0x9e3779b97f4a7c15) + o->call * UINT64_C(0xc2b2ae3d27d4eb4f)) >> 40;
	*h = (struct scan_head){
	    .word = c->memory,
	    .mail = c->mail_at,
	    .mark = c->memory + offsetof(struct on_device, mark) + 8 * (mark % MARKS),
	    .counter = o->launch.captured ? counter_of(c, run, o->launch.stream) : 0,
	    .run = run->run,
	    .call = o->call,
	    .contract_call = o->contract_call,
	    .model = run->model->id,
	    .name = o->name,
	    .tid = t->tid,
	    .graph = o->launch.captured ? o->launch.graph : 0,
	    .inf = (ops_want() & CALLS_INF) != 0,
	};
	run->scanner = c;
	if (!o->launch.captured)
		run->scan_stream = o->launch.stream;
	run->scanned = !o->launch.captured;
}

bool cuda_scan_before(struct ops_thread *t, struct ops_run *run, const struct ops_open *o)
{
	struct cuda_scanner *c = current();
	struct launch l;
	struct scan_tensor s;
	bool any = false;
	for (uint32_t i = 0; c && !c->told && i < t->n_values; i++) {
		struct ops_value *x = &t->value[i];
		if (!only_known_before(run->model, x) || !ops_look(run->model, x, false) ||
		    !take_tensor(c, run->model, x, ops_want() & CALLS_INF, &s))
			continue;
		if (!any)
			fill_head(c, t, run, o, &l.head), l.bytes = 0, l.head.before = 1;
		any = true;
		if (l.head.n_all < SCAN_MANY)
			add_tensor(&l, &s, true);
	}
	if (any)
		launch(c, &l, o->launch.stream);
	t->marked_of = any ? o->seq : 0;
	return c != NULL;
}

/* Adds what the call read, as far as there is room. */
static void add_read(const struct cuda_scanner *c, struct ops_thread *t, const struct ops_run *run, struct launch *l)
{
	struct scan_tensor s;
	for (uint32_t i = 0; i < t->n_values && l->head.n_all < SCAN_MANY; i++) {
		struct ops_value *x = &t->value[i];
		if (!writes(x) && ops_look(run->model, x, false) && take_tensor(c, run->model, x, l->head.inf, &s))
			add_tensor(l, &s, false);
	}
}

bool cuda_scan_after(struct ops_thread *t, struct ops_run *run, const struct ops_open *o)
{
	struct cuda_scanner *c = current();
	if (!c || c->told)
		return c != NULL;
	const uint8_t *unread = unread_of(run->model);
	struct launch l;
	struct scan_tensor s;
	fill_head(c, t, run, o, &l.head);
	l.bytes = 0;
	if (t->marked_of != o->seq)
		l.head.mark = 0;
	for (uint32_t i = 0; i < t->n_values; i++) {
		struct ops_value *x = &t->value[i];
		if (!writes(x) || !x->passes || is_unread(unread, run->model, o, x) || !ops_look(run->model, x, true) ||
		    !take_tensor(c, run->model, x, l.head.inf, &s))
			continue;
		add_tensor(&l, &s, true);
		if (l.head.n_all < SCAN_MANY)
			continue;
		launch(c, &l, o->launch.stream);
		l.head.n_all = l.head.n_written = 0;
		l.bytes = 0;
	}
	if (l.head.n_all) {
		add_read(c, t, run, &l);
		launch(c, &l, o->launch.stream);
	}
	return true;
}

/* ---- what was found ---- */

static void fill_value(const struct scan_mail *mail, uint32_t i, bool before, struct call_record *r)
{
	const struct scan_tensor *s = &mail->tensor[i];
	const struct scan_part *p = &mail->part[i];
	struct call_value *v = &r->v;
	uint32_t dims = SCAN_DIMS - (s->parts > 1);
	memset(v, 0, sizeof(*v));
	r->name = s->name;
	v->arg = s->arg;
	v->role = s->role;
	v->before = before;
	v->device = s->device;
	v->device_index = s->device_index;
	v->dtype = s->dtype;
	v->address = s->at;
	for (uint32_t d = s->first_dim; d < dims; d++) {
		v->size[v->n_dim] = (int64_t)s->size[d];
		v->stride[v->n_dim++] = (int64_t)(s->stride[d] / s->parts);
	}
	const uint64_t n = s->n / s->parts, numbers = s->n - p->nan;
	v->stats = (struct tensor_stats){
	    .known = true,
	    .n = n,
	    .nan = p->nan < n ? p->nan : n,
	    .pos_inf = p->pos_inf,
	    .neg_inf = p->neg_inf,
	    .zero = p->zero,
	    .first_bad = p->first_bad < s->n ? (int64_t)(p->first_bad / s->parts) : -1,
	    .min = numbers ? p->min : __builtin_nan(""),
	    .max = numbers ? p->max : __builtin_nan(""),
	    .mean = numbers ? p->sum / (double)numbers : __builtin_nan(""),
	};
	v->bad_value = p->bad_value;
	v->at = p->at ? (p->at - 1) / s->parts + 1 : 0;
	v->element = p->element;
	if (!before || s->role != CALL_ROLE_INOUT)
		return;
	/* Only their number is known. */
	const uint64_t bad = mail->marked < n ? mail->marked : n;
	v->stats =
	    (struct tensor_stats){.known = true, .n = n, .nan = bad, .first_bad = -1, .min = __builtin_nan(""), .max = __builtin_nan("")};
	v->at = 0;
	v->bad_value = 0;
}

static void tell(const struct scan_mail *mail)
{
	const struct scan_head *h = &mail->head;
	struct call_record r;
	struct timespec now;
	memset(&r, 0, sizeof(r));
	r.what = CALL_BEGIN;
	/* Not in ticks, which .took would be, too. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	r.time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	r.model = h->model;
	r.run = h->run;
	r.call = h->call;
	r.contract_call = h->contract_call;
	r.name = h->name;
	r.pid = (uint32_t)getpid();
	r.tid = h->tid;
	r.result = CALLS_SCANNED;
	r.took = h->graph || h->replay ? (uint64_t)h->graph << 32 | h->replay : 0;
	calls_begin(ops_log(), &r);
	r.what = CALL_VALUE;
	for (uint32_t i = 0; i < h->n_all && i < SCAN_MANY; i++) {
		const bool written = i < h->n_written;
		if (!written || (mail->tensor[i].role == CALL_ROLE_INOUT && mail->marked)) {
			fill_value(mail, i, true, &r);
			calls_append(ops_log(), &r);
		}
		if (written) {
			fill_value(mail, i, false, &r);
			calls_append(ops_log(), &r);
		}
	}
	r.what = CALL_END;
	r.name = h->name;
	r.result = 0;
	r.took = 0;
	calls_append(ops_log(), &r);
}

/* Only between runs: a reader would take the additional call for one of the run that is open in this thread. */
void cuda_scan_poll(void)
{
	for (size_t i = 0; i < CONTEXTS && scanners[i].handle; i++) {
		struct cuda_scanner *c = &scanners[i];
		if (c->state != 1 || c->told || !__atomic_load_n(&c->mail->done, __ATOMIC_ACQUIRE) || atomic_exchange(&c->told, true))
			continue;
		tell(c->mail);
	}
}

/* From CUDA_ERROR_ILLEGAL_ADDRESS on they are errors of kernels, but for one that a destroyed context has. */
static void look_at_error(int error)
{
	enum { FIRST = 700, CONTEXT_IS_DESTROYED = 709, LAST = 719 };
	if (error >= FIRST && error <= LAST && error != CONTEXT_IS_DESTROYED && !cuda_broken)
		cuda_tell_later(error);
}

static void record(struct cuda_scanner *c, void *stream)
{
	if (cuda_broken)
		return;
	const int error = cuda.event_record(c->event, stream);
	c->recorded |= !error;
	look_at_error(error);
}

void cuda_scan_end_run(struct ops_run *run)
{
	if (run->scanner && run->scanned && !cuda_capturing(run->scan_stream))
		record(run->scanner, run->scan_stream);
}

void cuda_scan_replayed(void *stream)
{
	void *handle = NULL;
	if (!has_driver() || cuda.ctx_get_current(&handle))
		return;
	for (size_t i = 0; i < CONTEXTS && scanners[i].handle; i++)
		if (scanners[i].handle == handle && scanners[i].state == 1)
			record(&scanners[i], stream);
	cuda_scan_poll();
}

/* What the GPU still has to do when the program ends. */
void cuda_scan_end(void)
{
	if (!probe_enter())
		return;
	for (size_t i = 0; i < CONTEXTS && scanners[i].handle; i++) {
		struct cuda_scanner *c = &scanners[i];
		int error = NOT_READY;
		if (c->state != 1 || !c->recorded || cuda_broken || (cuda.ctx_set_current && cuda.ctx_set_current(c->handle)))
			continue;
		for (int ms = 0; ms < PATIENCE_MS && (error = cuda.event_query(c->event)) == NOT_READY && !c->told; ms++)
			usleep(1000);
		look_at_error(error);
	}
	cuda_scan_poll();
	probe_leave();
}

void cuda_scan_again(void)
{
	if (!probe_enter())
		return;
	for (size_t i = 0; i < CONTEXTS && scanners[i].handle; i++) {
		struct cuda_scanner *c = &scanners[i];
		if (c->state != 1 || !c->told || cuda_broken || (cuda.ctx_set_current && cuda.ctx_set_current(c->handle)))
			continue;
		__atomic_store_n(&c->mail->done, 0, __ATOMIC_RELEASE);
		c->told = false;
		if (cuda.memset_async(c->memory + offsetof(struct on_device, word), 0xff, sizeof(uint64_t), c->stream) ||
		    cuda.stream_synchronize(c->stream))
			c->told = true;
	}
	probe_leave();
}
