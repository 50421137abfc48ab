/* pieces.c - guarded pieces of memory: where they lie, and how long freed ones stay unmapped. */
#include "pieces.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <unwind.h>

enum {
	INDEX_BITS = 16, /* of a piece's number; the rest counts the pieces that had the record */
	PIECES = 1 << INDEX_BITS,
	HEAD = 0,           /* of the ring: no piece */
	GAP = 64 << 10,     /* unmapped between two pieces */
	ZONE = 512,         /* bytes of slack on each side that are compared */
	AT_ONCE = 4 << 20,  /* of a piece up to this size all pages are made at once */
	OUR_FRAMES = 2,     /* at least: pieces_make() and malloc.c */
	MAPPINGS = 65530,   /* vm.max_map_count, where it cannot be read */
	PIECE_MAPPINGS = 2, /* its pages, and the unmapped ones behind it */
};

struct record {
	struct heap_piece p;
	uint32_t before, behind; /* in a ring in the order of addresses */
	uint32_t same;           /* the next of the free records */
	uint32_t times;          /* pieces that had this record */
	bool spoilt;             /* a page was opened that has to be closed */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct record *record;
static uint32_t *owner; /* of each page that was ever a piece's: its last record */
static uint32_t n_records, n_living, most_living, free_record, hand;
static _Atomic uintptr_t base; /* of what is reserved; 0: not yet; 1: it failed */
static uintptr_t end, at;      /* at: where the next piece is looked for */
static uint32_t next;          /* the first piece there or behind */
static size_t page;
static bool alternates, on_the_left;

/* ---- setting up ---- */

/* When the library is loaded: later a process may be without the right to open files. */
__attribute__((constructor)) static void read_limits(void)
{
	char text[32];
	const int fd = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	const long most = n > 0 ? atol(text) : 0;
	most_living = (uint32_t)((most > 0 ? most : MAPPINGS) / 2 / PIECE_MAPPINGS);
	most_living = most_living < PIECES / 2 ? most_living : PIECES / 2;
	page = (size_t)sysconf(_SC_PAGESIZE);
}

static void *reserve(size_t bytes, int protection)
{
	void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

/* The lock is held. */
static bool set_up(void)
{
	if (base)
		return base > 1;
	struct rlimit as;
	uint64_t size = 4 * (uint64_t)sysconf(_SC_PHYS_PAGES) * page;
	size = size < 16ull << 30 ? 16ull << 30 : size;
	if (getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur / 4 < size)
		size = as.rlim_cur / 4 / page * page;
	char *all = reserve(size, PROT_NONE);
	record = reserve(PIECES * sizeof(*record), PROT_READ | PROT_WRITE);
	owner = reserve(size / page * sizeof(*owner), PROT_READ | PROT_WRITE);
	if (!all || !record || !owner) {
		base = 1;
		return false;
	}
	at = (uintptr_t)all + GAP;
	end = (uintptr_t)all + size;
	n_records = 1; /* HEAD */
	atomic_store(&base, (uintptr_t)all);
	return true;
}

bool pieces_have(const void *p)
{
	const uintptr_t from = atomic_load_explicit(&base, memory_order_relaxed);
	return from > 1 && (uintptr_t)p >= from && (uintptr_t)p < end;
}

/* ---- records ---- */

/* The piece that it lies in, also a freed one. */
static struct record *piece_at(uintptr_t address)
{
	const uint32_t i = pieces_have((const void *)address) ? owner[(address - base) / page] : HEAD;
	return i != HEAD && address >= record[i].p.start && address < record[i].p.end ? &record[i] : NULL;
}

static struct record *living_at(const void *p)
{
	struct record *r = piece_at((uintptr_t)p);
	return r && r->p.low == (uintptr_t)p && !r->p.freed ? r : NULL;
}

static struct record *numbered(uint32_t number)
{
	struct record *r = &record[number & (PIECES - 1)];
	return number && r->p.number == number ? r : NULL;
}

static void close_pages(uintptr_t from, uintptr_t to)
{
	mmap((void *)from, to - from, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* A freed piece leaves the quarantine: its addresses may be used again. */
static void forget(uint32_t i)
{
	struct record *r = &record[i];
	if (r->spoilt)
		close_pages(r->p.start, r->p.end);
	if (next == i)
		next = r->behind;
	record[r->before].behind = r->behind;
	record[r->behind].before = r->before;
	*r = (struct record){.same = free_record, .times = r->times};
	free_record = i;
}

/* A new record, else that of a piece that was freed. HEAD: none. */
static uint32_t take_record(void)
{
	if (!free_record && n_records < PIECES)
		return n_records++;
	for (uint32_t k = 0; !free_record && k < PIECES; k++) {
		hand = hand + 1 < PIECES ? hand + 1 : 1;
		if (record[hand].p.freed)
			forget(hand);
	}
	const uint32_t i = free_record;
	if (i)
		free_record = record[i].same;
	return i;
}

/* A place of that many bytes, before the piece `next`. 0: none. */
static uintptr_t find_place(uintptr_t bytes)
{
	for (int round = 0; round < 2;) {
		const uintptr_t limit = next == HEAD ? end : record[next].p.start;
		if (limit > at && limit - at >= bytes + GAP) {
			const uintptr_t place = at;
			at += bytes + GAP;
			return place;
		}
		if (next == HEAD) {
			at = (base + GAP + page - 1) / page * page;
			next = record[HEAD].behind;
			round++;
		} else if (record[next].p.freed) {
			forget(next);
		} else {
			at = record[next].p.end + GAP;
			next = record[next].behind;
		}
	}
	return 0;
}

/* ---- who asked for it ---- */

struct frames {
	struct heap_piece *p;
	uint32_t skip;
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *c, void *user)
{
	struct frames *f = user;
	const uintptr_t ip = _Unwind_GetIP(c);
	if (f->skip && f->skip--)
		return _URC_NO_REASON;
	if (!ip || f->p->n_frames == HEAP_FRAMES)
		return _URC_END_OF_STACK;
	f->p->frame[f->p->n_frames++] = ip;
	return _URC_NO_REASON;
}

/* ---- slack ---- */

static char *zone_start(const struct heap_piece *p) { return (char *)(p->low - p->start > ZONE ? p->low - ZONE : p->start); }
static char *zone_end(const struct heap_piece *p)
{
	const uintptr_t high = p->low + p->bytes;
	return (char *)(p->end - high > ZONE ? high + ZONE : p->end);
}

static void fill(const struct heap_piece *p)
{
	char *low = (char *)p->low, *high = low + p->bytes;
	memset(zone_start(p), HEAP_FILL, (size_t)(low - zone_start(p)));
	memset(high, HEAP_FILL, (size_t)(zone_end(p) - high));
}

static void compare(const struct heap_piece *p, const char *from, const char *to, struct heap_written *w)
{
	if (from >= to || (*from == HEAP_FILL && !memcmp(from, from + 1, (size_t)(to - from) - 1)))
		return;
	for (const char *c = from; c < to; c++)
		if (*c != HEAP_FILL) {
			const int64_t where = (int64_t)((uintptr_t)c - p->low);
			const int behind = where >= 0;
			w->first[behind] = where < w->first[behind] ? where : w->first[behind];
			w->last[behind] = where > w->last[behind] ? where : w->last[behind];
		}
}

/* opened: also pages that were opened for a fault, of which the probe knows. */
static void look(const struct heap_piece *p, bool opened, struct heap_written *w)
{
	*w = (struct heap_written){{INT64_MAX, INT64_MAX}, {INT64_MIN, INT64_MIN}};
	compare(p, zone_start(p), (char *)p->low, w);
	compare(p, (char *)p->low + p->bytes, zone_end(p), w);
	for (int i = 0; i < HEAP_OPENED && opened; i++)
		if (p->opened[i])
			compare(p, (char *)p->opened[i], (char *)p->opened[i] + page, w);
}

/* ---- making and freeing ---- */

/* Pages are zeros. The lock is held while `r` is not known to be anybody's. */
static bool open_piece(struct record *r)
{
	const uintptr_t size = r->p.end - r->p.start;
	if (mprotect((void *)r->p.start, size, PROT_READ | PROT_WRITE))
		return false;
	if (size <= AT_ONCE)
		(void)madvise((void *)r->p.start, size, 23 /* MADV_POPULATE_WRITE: else they come one by one */);
	return true;
}

static struct record *place(const struct heap_piece *asked, size_t alignment)
{
	const size_t bytes = asked->bytes;
	const uintptr_t more = alignment > page ? alignment : 0, size = (bytes + page - 1) / page * page + more;
	const uint32_t i = n_living < most_living ? take_record() : HEAD;
	const uintptr_t start = i == HEAD ? 0 : find_place(size);
	if (!start) {
		record[i].same = free_record;
		free_record = i == HEAD ? free_record : i;
		return NULL;
	}
	struct record *r = &record[i];
	*r = (struct record){.p = *asked, .times = r->times + 1};
	r->p.number = r->times << INDEX_BITS | i;
	on_the_left = alternates && !on_the_left;
	r->p.low = on_the_left ? (start + alignment - 1) & ~(alignment - 1) : (start + size - bytes) & ~(alignment - 1);
	r->p.start = r->p.low / page * page;
	r->p.end = (r->p.low + bytes + page - 1) / page * page;
	r->behind = next;
	r->before = record[next].before;
	record[r->before].behind = record[next].before = i;
	for (uintptr_t p = r->p.start; p < r->p.end; p += page)
		owner[(p - base) / page] = i;
	n_living++;
	return r;
}

void *pieces_make(size_t bytes, size_t alignment)
{
	static _Atomic bool forks;
	if (!bytes || bytes > (size_t)1 << 46 || alignment > (size_t)1 << 30)
		return NULL;
	struct heap_piece asked = {.bytes = bytes};
	_Unwind_Backtrace(take_frame, &(struct frames){&asked, OUR_FRAMES}); /* without the lock: it may take the loader's */
	pthread_mutex_lock(&lock);
	struct record *r = set_up() ? place(&asked, alignment) : NULL;
	if (r && !open_piece(r)) {
		r->p.freed = true;
		n_living--;
		r = NULL;
	}
	if (!r) {
		pthread_mutex_unlock(&lock);
		return NULL;
	}
	fill(&r->p);
	void *p = (void *)r->p.low;
	pthread_mutex_unlock(&lock);
	if (!atomic_exchange(&forks, true))
		pthread_atfork(before_fork, after_fork, after_fork);
	return p;
}

bool pieces_size(const void *p, size_t *bytes)
{
	pthread_mutex_lock(&lock);
	const struct record *r = living_at(p);
	*bytes = r ? r->p.bytes : 0;
	pthread_mutex_unlock(&lock);
	return r;
}

/* From the first opened page before it to the last one behind it. */
static void close_opened(struct record *r, bool all)
{
	for (int i = 0; i < HEAP_OPENED; i++) {
		if (r->p.opened[i])
			close_pages(r->p.opened[i], r->p.opened[i] + page);
		r->p.opened[i] = 0;
	}
	if (all)
		close_pages(r->p.start, r->p.end);
}

bool pieces_free(const void *address, struct heap_piece *p, struct heap_written *w)
{
	pthread_mutex_lock(&lock);
	struct record *r = living_at(address);
	if (r) {
		look(&r->p, false, w);
		*p = r->p;
		close_opened(r, true);
		r->p.freed = true;
		n_living--;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

/* ---- for the probe ---- */

static size_t pieces_at(uintptr_t address, struct heap_piece v[2])
{
	size_t n = 0;
	if (!pieces_have((void *)address))
		return 0;
	pthread_mutex_lock(&lock);
	const struct record *r = piece_at(address);
	if (r)
		v[n++] = r->p;
	for (uint32_t i = 1; !r && i < n_records && n < 2; i++) {
		const struct heap_piece *p = &record[i].p;
		if (p->number && (address < p->start ? p->start - address : address - p->end) < GAP)
			v[n++] = *p;
	}
	pthread_mutex_unlock(&lock);
	return n;
}

/* In the handler of faults: whoever holds the lock touches no unmapped page. */
static bool pieces_open(uint32_t number, uintptr_t address)
{
	char *const from = (char *)(address / page * page);
	pthread_mutex_lock(&lock);
	struct record *r = numbered(number);
	const bool inside = r && address >= r->p.start && address < r->p.end;
	bool open = r && mprotect(from, page, PROT_READ | PROT_WRITE) == 0;
	if (open && inside)
		r->spoilt = true;
	for (int i = 0; open && !inside && i < HEAP_OPENED && r->p.opened[i] != (uintptr_t)from; i++)
		if (!r->p.opened[i] || i + 1 == HEAP_OPENED) {
			if (r->p.opened[i])
				close_pages(r->p.opened[i], r->p.opened[i] + page);
			r->p.opened[i] = (uintptr_t)from;
			memset(from, HEAP_FILL, page);
			break;
		}
	pthread_mutex_unlock(&lock);
	return open;
}

static bool pieces_written(uint32_t number, struct heap_written *w)
{
	pthread_mutex_lock(&lock);
	struct record *r = numbered(number);
	if (r && !r->p.freed) {
		look(&r->p, true, w);
		if (w->first[0] <= w->last[0] || w->first[1] <= w->last[1])
			fill(&r->p);
		close_opened(r, false);
	}
	const bool known = r && !r->p.freed;
	pthread_mutex_unlock(&lock);
	return known;
}

_Thread_local bool pieces_in_run;

static void pieces_run(bool now, bool ran)
{
	pieces_in_run = now;
	if (ran)
		alternates = true;
}

const struct heap pieces_heap = {pieces_at, pieces_open, pieces_written, pieces_run};
