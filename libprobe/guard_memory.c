/* guard_memory.c - guarded memory: pages between unmapped ones, kept for the next call, and the handler of faults in them. */
#include "guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	REGIONS = 8192,
	GUARD_LEAST = 64 << 10, /* unmapped on each side */
	GUARD_MOST = 1 << 20,
	LEAST_ZONE = 64,
	CLASSES = 40, /* free regions, by the power of two of their pages */
};

void (*guard_wild)(uintptr_t address, uintptr_t ip, bool writes);
bool (*guard_heap_caught)(uintptr_t address, bool writes, const void *context);

/* All that were ever made: the handler reads them without a lock. */
static struct guard_region *_Atomic region[REGIONS];
static _Atomic uint32_t n_regions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct guard_region *free_one[CLASSES];

static size_t page_size(void)
{
	static size_t size;
	return size ? size : (size = (size_t)sysconf(_SC_PAGESIZE));
}

static size_t pages_for(size_t bytes, unsigned *class)
{
	const size_t page = page_size();
	size_t pages = 1;
	for (*class = 0; pages * page < bytes && *class + 1 < CLASSES; pages *= 2)
		++*class;
	return pages * page;
}

static bool map_region(struct guard_region *r, size_t room)
{
	const size_t guard = room < GUARD_LEAST ? GUARD_LEAST : room > GUARD_MOST ? GUARD_MOST : room;
	if (room > SIZE_MAX - 2 * guard)
		return false;
	r->size = room + 2 * guard;
	r->map = mmap(NULL, r->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->map == MAP_FAILED)
		return false;
	r->start = r->map + guard;
	r->end = r->start + room;
	if (mprotect(r->start, room, PROT_READ | PROT_WRITE) == 0)
		return true;
	munmap(r->map, r->size);
	return false;
}

static struct guard_region *new_region(size_t room)
{
	struct guard_region *r = calloc(1, sizeof(*r));
	if (r && map_region(r, room)) {
		const uint32_t i = atomic_fetch_add(&n_regions, 1);
		if (i < REGIONS) {
			atomic_store(&region[i], r);
			return r;
		}
		atomic_fetch_sub(&n_regions, 1);
		munmap(r->map, r->size);
	}
	free(r);
	return NULL;
}

static void forget_faults(struct guard_region *r)
{
	for (int w = 0; w < 2; w++) {
		r->before[w] = r->after[w] = (struct guard_fault){0};
	}
	atomic_store_explicit(&r->inside.state, 0, memory_order_relaxed);
}

struct guard_region *guard_take(size_t bytes, uintptr_t address, size_t unit, enum guard_side side)
{
	unsigned class;
	const size_t room = pages_for(bytes + LEAST_ZONE, &class); /* behind what lies left */
	pthread_mutex_lock(&lock);
	struct guard_region *r = free_one[class];
	if (r)
		free_one[class] = r->next;
	pthread_mutex_unlock(&lock);
	if (!r && (room < bytes || !(r = new_region(room))))
		return NULL;
	r->next = NULL;
	r->bytes = bytes;
	if (side == GUARD_LEFT) {
		r->data = r->start + (address & (unit - 1));
	} else {
		r->data = r->end - bytes;
		r->data -= ((uintptr_t)r->data - address) & (unit - 1);
	}
	r->read_only = false;
	forget_faults(r);
	atomic_store(&r->used, true);
	return r;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

void guard_arm(struct guard_region *r)
{
	char *end = r->data + r->bytes;
	const size_t before = least((size_t)(r->data - r->start), GUARD_ZONE), after = least((size_t)(r->end - end), GUARD_ZONE);
	memset(r->data - before, GUARD_FILL_ZONE, before);
	memset(end, GUARD_FILL_ZONE, after);
	forget_faults(r);
}

void guard_protect(struct guard_region *r) { r->read_only = mprotect(r->start, (size_t)(r->end - r->start), PROT_READ) == 0; }

void guard_renew(struct guard_region *r)
{
	if (!atomic_load(&r->spoilt) && !r->read_only)
		return;
	mprotect(r->map, (size_t)(r->start - r->map), PROT_NONE);
	mprotect(r->end, (size_t)(r->map + r->size - r->end), PROT_NONE);
	mprotect(r->start, (size_t)(r->end - r->start), PROT_READ | PROT_WRITE);
	for (int i = 0; i < GUARD_OPENED; i++)
		atomic_store(&r->opened[i], NULL);
	atomic_store(&r->spoilt, false);
	r->read_only = false;
}

void guard_give(struct guard_region *r)
{
	unsigned class;
	pages_for((size_t)(r->end - r->start), &class);
	guard_renew(r);
	atomic_store(&r->used, false);
	pthread_mutex_lock(&lock);
	r->next = free_one[class];
	free_one[class] = r;
	pthread_mutex_unlock(&lock);
}

/* ---- what was written ---- */

static void look_at(const struct guard_region *r, const char *from, const char *to, int64_t *first, int64_t *last)
{
	/* All bytes are the fill if the first is, and each is like the next. */
	if (from >= to || (*from == GUARD_FILL_ZONE && !memcmp(from, from + 1, (size_t)(to - from) - 1)))
		return;
	for (const char *p = from; p < to; p++)
		if (*p != GUARD_FILL_ZONE) {
			const int64_t at = p - r->data;
			*first = at < *first ? at : *first;
			*last = at > *last ? at : *last;
		}
}

bool guard_changed(const struct guard_region *r, bool before, int64_t *first, int64_t *last)
{
	const char *end = r->data + r->bytes;
	*first = INT64_MAX;
	*last = INT64_MIN;
	if (before)
		look_at(r, r->data - least((size_t)(r->data - r->start), GUARD_ZONE), r->data, first, last);
	else
		look_at(r, end, end + least((size_t)(r->end - end), GUARD_ZONE), first, last);
	for (int i = 0; i < GUARD_OPENED; i++) {
		char *page = atomic_load(&r->opened[i]);
		if (page && before == (page < r->start) && (page < r->start || page >= r->end) &&
		    !mprotect(page, page_size(), PROT_READ | PROT_WRITE)) /* on_step() may have closed it */
			look_at(r, page, page + page_size(), first, last);
	}
	return *first != INT64_MAX;
}

bool guard_faulted(const struct guard_fault *f) { return atomic_load_explicit(&f->state, memory_order_acquire) == 2; }

/* ---- faults ---- */

static struct sigaction was[2], was_trap;

void guard_note_fault(struct guard_fault *f, uintptr_t address, const void *context)
{
	int none = 0;
	bool writes;
	if (!atomic_compare_exchange_strong(&f->state, &none, 1))
		return;
	f->address = address;
	f->tid = (uint32_t)syscall(SYS_gettid);
	guard_context(context, &f->ip, &writes, f);
	atomic_store_explicit(&f->state, 2, memory_order_release);
}

/* Is it open already, for another thread, or another part of the same access? */
static bool is_opened(struct guard_region *r, char *page, bool now)
{
	for (int i = 0; i < GUARD_OPENED; i++) {
		char *there = atomic_load(&r->opened[i]);
		if (there == page)
			return true;
		if (!there) {
			if (now)
				atomic_store(&r->opened[i], page);
			return false;
		}
	}
	return false;
}

/* The access works when it is made again. */
static bool open_page(struct guard_region *r, char *page)
{
	const bool inside = page >= r->start && page < r->end;
	while (atomic_exchange(&r->opening, true))
		;
	const bool known = !inside && is_opened(r, page, false);
	const bool open = mprotect(page, page_size(), PROT_READ | PROT_WRITE) == 0;
	if (open) {
		atomic_store(&r->spoilt, true);
		if (!inside && !known) {
			memset(page, GUARD_FILL_ZONE, page_size());
			is_opened(r, page, true);
		}
	}
	atomic_store(&r->opening, false);
	return open;
}

/* ---- reads, one by one ---- */

enum { STEPPED = 4 };
static _Thread_local char *stepped[STEPPED]; /* pages that are open for one instruction of this thread */

/* Past GUARD_STEPS of them the page stays open. */
static void step_over(struct guard_fault *f, char *page, uintptr_t address, void *context)
{
	struct guard_fault now = {0};
	int i = 0;
	while (i < STEPPED && stepped[i])
		i++;
	if (i == STEPPED || f->times >= GUARD_STEPS || !guard_step(context, true))
		return;
	guard_note_fault(&now, address, context);
	const struct insn *in = &now.insn;
	const bool known = now.decoded && in->width && in->address <= address && address < in->address + in->width;
	const uintptr_t high = known ? (uintptr_t)in->address + in->width : address + 1;
	f->high = high > f->high ? high : f->high;
	f->times++;
	stepped[i] = page;
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	const int saved = errno;
	if (!stepped[0]) {
		if (was_trap.sa_flags & SA_SIGINFO && was_trap.sa_sigaction)
			was_trap.sa_sigaction(sig, info, context);
		else if (was_trap.sa_handler != SIG_DFL && was_trap.sa_handler != SIG_IGN)
			was_trap.sa_handler(sig);
		else
			signal(sig, SIG_DFL);
		return;
	}
	guard_step(context, false);
	for (int i = 0; i < STEPPED && stepped[i]; i++) {
		mprotect(stepped[i], page_size(), PROT_NONE);
		stepped[i] = NULL;
	}
	errno = saved;
}

/* ---- freed memory ---- */

enum { FREED_MOST = 16 };
static bool (*freed_at)(uintptr_t address, uintptr_t *low, uint64_t *bytes);
static void (*settle)(bool watched);
static struct guard_freed freed[FREED_MOST];
static _Atomic uint32_t n_freed;

/* What it holds now is generated; the kernel goes on. */
static bool caught_freed(uintptr_t address, bool writes, const void *context)
{
	uintptr_t low;
	uint64_t bytes;
	if (!freed_at || !freed_at(address, &low, &bytes))
		return false;
	const uint32_t i = atomic_fetch_add(&n_freed, 1);
	if (i < FREED_MOST) {
		freed[i] = (struct guard_freed){.address = address, .low = low, .bytes = bytes, .writes = writes};
		guard_note_fault(&freed[i].fault, address, context);
	}
	return mprotect((void *)(address & ~(page_size() - 1)), page_size(), PROT_READ | PROT_WRITE) == 0;
}

void guard_close_freed(bool watched)
{
	if (settle)
		settle(watched);
}

size_t guard_take_freed(struct guard_freed *v, size_t n)
{
	size_t taken = 0;
	if (!atomic_load(&n_freed))
		return 0;
	for (; taken < n && taken < atomic_load(&n_freed) && taken < FREED_MOST; taken++)
		v[taken] = freed[taken];
	memset(freed, 0, sizeof(freed));
	atomic_store(&n_freed, 0);
	return taken;
}

static bool caught(uintptr_t address, void *context)
{
	const uint32_t n = atomic_load(&n_regions);
	uintptr_t ip;
	bool writes;
	guard_context(context, &ip, &writes, NULL);
	for (uint32_t i = 0; i < n && i < REGIONS; i++) {
		struct guard_region *r = atomic_load(&region[i]);
		if (!r || !atomic_load(&r->used) || address < (uintptr_t)r->map || address >= (uintptr_t)(r->map + r->size))
			continue;
		char *page = (char *)(address & ~(page_size() - 1));
		struct guard_fault *f = address < (uintptr_t)r->start ? r->before : address >= (uintptr_t)r->end ? r->after : &r->inside;
		f = f == &r->inside ? f : f + writes;
		guard_note_fault(f, address, context);
		if (!writes && f != &r->inside)
			step_over(f, page, address, context);
		return open_page(r, page);
	}
	return caught_freed(address, writes, context) || (guard_heap_caught && guard_heap_caught(address, writes, context));
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	const int saved = errno;
	const bool mapped = sig == SIGSEGV && (info->si_code == SEGV_MAPERR || info->si_code == SEGV_ACCERR);
	if (mapped && caught((uintptr_t)info->si_addr, context)) {
		errno = saved;
		return;
	}
	const struct sigaction *before = &was[sig == SIGBUS];
	uintptr_t ip;
	bool writes;
	guard_context(context, &ip, &writes, NULL);
	if (guard_wild)
		guard_wild((uintptr_t)info->si_addr, ip, writes);
	errno = saved;
	if (before->sa_flags & SA_SIGINFO && before->sa_sigaction) {
		before->sa_sigaction(sig, info, context);
	} else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
		before->sa_handler(sig);
	} else {
		signal(sig, SIG_DFL); /* and again, without us */
	}
}

static void set_handlers(void)
{
	*(void **)&freed_at = dlsym(RTLD_DEFAULT, "shim_freed_at");
	*(void **)&settle = dlsym(RTLD_DEFAULT, "shim_guard_settle");
	struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	sigaction(SIGSEGV, &ours, &was[0]);
	sigaction(SIGBUS, &ours, &was[1]);
	ours.sa_sigaction = on_step;
	sigaction(SIGTRAP, &ours, &was_trap);
}

void guard_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, set_handlers);
}
