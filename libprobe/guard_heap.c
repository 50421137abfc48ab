/* guard_heap.c - --bounds=alloc: kernels get their tensors as they are, whose memory is guarded itself (heap/heap.h, libpt2alloc.so).
 *
 * A fault in unmapped pages beside a piece of memory, or in one that was freed, is noted, the page is opened, and the program goes on.
 * When the call of a kernel or operator returns, its faults are reported, and so is what was written to the slack of its tensors' memory.
 * Other faults are reported at once: the code that faulted holds no lock of malloc()'s, which touches no memory of tensors. */
#include "guard_call.h"

#include <dlfcn.h>
#include <unistd.h>

enum { FAULTS = 32, FOUND = 32, ASKERS = 4 };

/* A fault: the handler fills it in. */
static struct heap_fault {
	_Atomic bool there;
	bool writes;
	size_t n; /* pieces beside it */
	struct heap_piece v[2];
	struct guard_fault fault;
} fault[FAULTS];
static _Atomic uint32_t n_faults;

static const struct heap *heap;
/* The thread that entered a model's run last: a fault may be in one that OpenMP started. */
static struct ops_thread *_Atomic running;

/* ---- what has been found beside a piece of memory ---- */

enum { BEFORE, BEHIND };
static struct found {
	struct heap_piece p;
	bool freed;
	int64_t first[2][2], last[2][2]; /* [BEHIND][writes] bytes from its first */
	const struct guard_fault *fault[2][2];
} nothing = {.first = {{INT64_MAX, INT64_MAX}, {INT64_MAX, INT64_MAX}}, .last = {{INT64_MIN, INT64_MIN}, {INT64_MIN, INT64_MIN}}};

static void add(struct found *f, int side, bool writes, int64_t first, int64_t last, const struct guard_fault *of)
{
	if (first > last)
		return;
	f->first[side][writes] = first < f->first[side][writes] ? first : f->first[side][writes];
	f->last[side][writes] = last > f->last[side][writes] ? last : f->last[side][writes];
	if (of && !f->fault[side][writes])
		f->fault[side][writes] = of;
}

static struct found *found_of(struct found *v, uint32_t *n, const struct heap_piece *p)
{
	for (uint32_t i = 0; i < *n; i++)
		if (v[i].p.number == p->number)
			return &v[i];
	if (*n == FOUND)
		return NULL;
	v[*n] = nothing;
	v[*n].p = *p;
	return &v[(*n)++];
}

/* Of two pieces beside a fault: one of the call's, else the closer one. */
static const struct heap_piece *piece_of(const struct heap_fault *f, const struct found *v, uint32_t n)
{
	for (size_t k = 0; k < f->n; k++)
		for (uint32_t i = 0; i < n; i++)
			if (v[i].p.number == f->v[k].number)
				return &f->v[k];
	const uintptr_t at = f->fault.address;
	uintptr_t away[2];
	for (size_t k = 0; k < f->n; k++)
		away[k] = at < f->v[k].start ? f->v[k].start - at : at < f->v[k].end ? 0 : at - f->v[k].end;
	return &f->v[f->n == 2 && away[1] < away[0]];
}

static void add_fault(struct found *f, const struct heap_fault *h)
{
	const struct insn *i = &h->fault.insn;
	const bool known = h->fault.decoded && i->width && i->address <= h->fault.address && h->fault.address < i->address + i->width;
	const bool before = h->fault.address < f->p.low;
	int64_t first = (int64_t)(h->fault.address - f->p.low), last = known ? (int64_t)(i->address + i->width - f->p.low) - 1 : first;
	const int64_t edge = f->p.freed ? 0 : (int64_t)f->p.bytes;
	if (known && before)
		first = (int64_t)(i->address - f->p.low);
	else if (known)
		first = (int64_t)(i->address - f->p.low) > edge ? (int64_t)(i->address - f->p.low) : edge;
	last = before && last >= 0 ? -1 : last;
	f->freed |= f->p.freed;
	add(f, h->fault.address >= f->p.low + f->p.bytes || f->p.freed, h->writes, first, last, &h->fault);
}

/* ---- telling ---- */

/* "libtorch_cpu.so", "libtorch_cpu.so _ZN2at6nativeL9empty_cpuE": where this code is. named: only with a name. */
static void put_code(struct buf *b, uintptr_t ip, bool named)
{
	Dl_info at;
	if (!dladdr((void *)ip, &at) || !at.dli_fname || (named && (!at.dli_sname || strstr(at.dli_fname, "/libpt2alloc.so"))))
		return;
	const char *slash = strrchr(at.dli_fname, '/');
	buf_adds(b, slash ? slash + 1 : at.dli_fname);
	if (at.dli_sname)
		buf_addf(b, " %s", at.dli_sname);
	else
		buf_addf(b, "+0x%lx", ip - (uintptr_t)at.dli_fbase);
}

static void out_memory(struct json_out *o, const struct found *f, int side, bool writes)
{
	struct buf b = {0};
	const struct guard_fault *of = f->fault[side][writes];
	json_member_u64(o, "memory", f->p.bytes);
	json_member_u64(o, "extent", f->p.bytes);
	json_member_i64(o, "first", f->first[side][writes]);
	json_member_i64(o, "last", f->last[side][writes]);
	if (of) {
		put_code(&b, of->ip, false);
		json_member_str(o, "code", buf_slice(&b));
	}
	json_member_arr(o, "asked");
	for (uint32_t i = 0, n = 0; i < f->p.n_frames && n < ASKERS; i++) {
		buf_reset(&b);
		put_code(&b, f->p.frame[i], true);
		if (b.len) {
			json_out_str(o, buf_slice(&b));
			n++;
		}
	}
	json_close(o);
	buf_release(&b);
}

static const char *const words[2][2] = {{"read-before", "write-before"}, {"read-after", "write-after"}};

/* Of memory other than the call's tensors; open NULL: outside of any call. */
static void tell_memory(const struct ops_run *run, const struct ops_open *open, const struct found *f, int side, bool writes)
{
	struct buf b = {0};
	struct json_out o;
	const char *what = f->freed ? "freed" : words[side][writes];
	static _Atomic uint32_t told;
	if (open ? !guard_tell_once(open, UINT32_MAX - (uint32_t)f->p.bytes, what) : atomic_fetch_add(&told, 1) >= FOUND)
		return;
	event_begin(&o, &b, LIVE_BOUNDS, open ? run->model->id : LIVE_NO_MODEL);
	if (open)
		guard_out_call(&o, run, open, what);
	else
		json_member_str(&o, "what", slice_str(what));
	out_memory(&o, f, side, writes);
	guard_out_fault(&o, open ? run->model : NULL, f->fault[side][writes], writes);
	event_end(&o, &b);
}

static bool tell_use(const struct ops_run *run, const struct guard_call *c, const struct ops_open *open, const struct found *f, bool writes)
{
	const struct guard_fault *of = f->fault[BEHIND][writes];
	struct guard_freed v = {.address = of->address, .low = f->p.low, .bytes = f->p.bytes, .writes = writes};
	v.fault = *of;
	return guard_tell_use(run, c, open, &v, true);
}

/* The tensor of the call that ends (or starts) last (or first) in this memory. */
static const struct part *part_of(const struct guard_call *c, const struct found *f, int side)
{
	const struct part *best = NULL;
	for (uint32_t i = 0; c && i < c->n; i++) {
		const struct part *p = &c->part[i];
		if (p->low >= f->p.low && p->low < f->p.end && (!best || (side == BEHIND ? p->high > best->high : p->low < best->low)))
			best = p;
	}
	return best;
}

static void tell(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, const struct ops_open *open, const struct found *f)
{
	for (int side = 0; side < 2; side++)
		for (int writes = 0; writes < 2; writes++) {
			const int64_t first = f->first[side][writes], last = f->last[side][writes];
			const struct part *p = open && !f->freed ? part_of(c, f, side) : NULL;
			if (first > last)
				continue;
			const int64_t skip = p ? (int64_t)(p->low - f->p.low) : 0;
			if (p)
				guard_tell(t, run, c, p, words[side][writes], first - skip, last - skip, f->fault[side][writes], writes);
			else if (!open || !f->freed || !tell_use(run, c, open, f, writes))
				tell_memory(run, open, f, side, writes);
		}
}

/* ---- calls ---- */

bool guard_heap_on(void) { return heap && ops_want() & CALLS_BOUNDS_ALLOC; }

static void count(struct guard_call *c)
{
	struct heap_piece v[2];
	for (uint32_t i = 0; i < c->n; i++) {
		const struct part *p = &c->part[i];
		const bool ours = heap->at(p->low, v) == 1 && !v[0].freed && p->low >= v[0].low && p->high <= v[0].low + v[0].bytes;
		c->guarded += ours;
		c->unguarded += !ours;
		c->unguarded_bytes += ours ? 0 : p->high - p->low;
	}
}

/* What was written beside its tensors before the call is not its fault. */
void guard_heap_before(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, bool kernel)
{
	guard_heap_after(t, run, c, NULL);
	if (kernel)
		count(c);
	atomic_store(&running, t);
}

/* Memory of the call's tensors that something was written beside. */
static uint32_t find_written(const struct guard_call *c, struct found v[FOUND])
{
	uint32_t n = 0;
	struct heap_piece p[2];
	struct heap_written w;
	for (uint32_t i = 0; c && i < c->n; i++) {
		const uint32_t before = n;
		struct found *f = heap->at(c->part[i].low, p) == 1 && !p[0].freed ? found_of(v, &n, &p[0]) : NULL;
		if (!f || n == before || !heap->written(p[0].number, &w))
			continue;
		for (int side = 0; side < 2; side++)
			add(f, side, true, w.first[side], w.last[side], NULL);
	}
	return n;
}

void guard_heap_after(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, const struct ops_open *open)
{
	struct found v[FOUND];
	uint32_t n = find_written(c, v);
	const uint32_t faults = atomic_load(&n_faults);
	for (uint32_t i = 0; i < faults && i < FAULTS; i++) {
		struct found *f = atomic_load(&fault[i].there) ? found_of(v, &n, piece_of(&fault[i], v, n)) : NULL;
		if (f)
			add_fault(f, &fault[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		tell(t, run, c, open, &v[i]);
	if (faults) {
		memset(fault, 0, sizeof(fault));
		atomic_store(&n_faults, 0);
	}
}

void guard_heap_run(struct ops_thread *t, const struct ops_run *run, bool begins)
{
	atomic_store(&running, t);
	heap->run(begins, !begins);
	if (!begins)
		guard_heap_after(t, run, NULL, NULL);
}

/* ---- libpt2alloc.so calls, or a fault ---- */

static bool is_in_a_call(void)
{
	const struct ops_thread *own = ops_thread_if_any(), *other = atomic_load(&running);
	return (own && own->run[own->depth].open.used) || (other && other->run[other->depth].open.used);
}

static bool caught(uintptr_t address, bool writes, const void *context)
{
	struct heap_fault now = {.writes = writes, .n = heap->at(address, now.v)};
	if (!now.n)
		return false;
	guard_note_fault(&now.fault, address, context);
	const struct heap_piece *closer = piece_of(&now, NULL, 0);
	if (!heap->open(closer->number, address))
		return false;
	if (is_in_a_call()) {
		const uint32_t i = atomic_fetch_add(&n_faults, 1);
		if (i < FAULTS) {
			fault[i].writes = now.writes;
			fault[i].n = now.n;
			memcpy(fault[i].v, now.v, sizeof(now.v));
			fault[i].fault = now.fault;
			atomic_store(&fault[i].there, true);
		}
		return true;
	}
	struct found f = nothing;
	f.p = *closer;
	add_fault(&f, &now);
	tell(NULL, NULL, NULL, NULL, &f);
	return true;
}

__attribute__((visibility("default"))) void pt2_probe_heap(const struct heap_piece *p, const struct heap_written *w)
{
	if (!talk_on())
		return;
	if (!p) {
		const struct heap *(*get)(void) = NULL;
		void *found = dlsym(RTLD_DEFAULT, "pt2_heap");
		memcpy(&get, &found, sizeof(get));
		heap = get ? get() : NULL;
		if (heap) {
			guard_heap_caught = caught;
			guard_watch();
		}
		return;
	}
	struct found f = nothing;
	f.p = *p;
	for (int side = 0; side < 2; side++)
		add(&f, side, true, w->first[side], w->last[side], NULL);
	tell(NULL, NULL, NULL, NULL, &f);
}
