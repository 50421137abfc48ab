/* guard.c - with --bounds: memory of tensors that were freed stays unmapped, so that whoever still uses it faults (libprobe/guard.h).
 *
 * A part of the address space is reserved, and storages get pages of it one after the other; none are used again. After MOST storages,
 * or when it is full, memory comes from malloc() as usual: mappings are slow and few (vm.max_map_count is 65530). System calls are
 * what it costs, so pages are opened many at a time, and closed when a kernel is about to be called (shim_guard_settle): neighbours in
 * one call. The handler of faults asks shim_freed_at(), which takes no lock.
 *
 * With --bounds=alloc libpt2alloc.so does this, and more, for all memory; it only has to know where a tensor ends. */
#include "shim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST = 4096, WAITING = 256, AHEAD = 64 << 10 };

static struct piece {
	uintptr_t low;
	uint64_t bytes, room;
	_Atomic bool freed;
} piece[MOST];
static _Atomic uint32_t n_pieces;
static char *reserved;
static uint64_t size = 1ull << 32, used, opened; /* opened: readable and writable up to there */
static uint32_t waiting[WAITING], n_waiting;     /* freed, and not closed yet */
static bool pauses;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool open_up_to(uint64_t end)
{
	if (end <= opened)
		return true;
	const uint64_t to = size - end > AHEAD ? end + AHEAD : size;
	if (mprotect(reserved + opened, to - opened, PROT_READ | PROT_WRITE))
		return false;
	if (to - opened <= 2 * AHEAD) /* all of its pages at once; where that fails they come one by one */
		(void)madvise(reserved + opened, to - opened, MADV_POPULATE_WRITE);
	opened = to;
	return true;
}

static void *take(uint64_t bytes)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
	char *p = NULL;
	pthread_mutex_lock(&lock);
	if (!pauses && n_pieces < MOST && bytes < size && room <= size - used && open_up_to(used + room)) {
		p = reserved + used;
		piece[n_pieces] = (struct piece){.low = (uintptr_t)p, .bytes = bytes, .room = room};
		used += room;
		n_pieces++;
	}
	pthread_mutex_unlock(&lock);
	return p ? p : aligned_alloc(64, (bytes + 63) & ~63ull);
}

/* New pages in their place: the contents are gone, and nothing else gets the addresses. */
static void close_waiting(void)
{
	for (uint32_t i = 0, n; i < n_waiting; i += n) {
		uintptr_t low = piece[waiting[i]].low, high = low + piece[waiting[i]].room;
		for (n = 1; i + n < n_waiting; n++) {
			const struct piece *next = &piece[waiting[i + n]];
			if (next->low == high)
				high += next->room;
			else if (next->low + next->room == low)
				low = next->low;
			else
				break;
		}
		mmap((void *)low, high - low, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	}
	n_waiting = 0;
}

static uint32_t piece_at(uintptr_t low)
{
	uint32_t from = 0, to = n_pieces;
	while (to - from > 1) {
		const uint32_t half = from + (to - from) / 2;
		if (piece[half].low <= low)
			from = half;
		else
			to = half;
	}
	return from;
}

static void give(void *p, uint64_t bytes)
{
	const uintptr_t at = (uintptr_t)p;
	(void)bytes;
	if (at < (uintptr_t)reserved || at - (uintptr_t)reserved >= size) {
		free(p);
		return;
	}
	pthread_mutex_lock(&lock);
	const uint32_t i = piece_at(at);
	piece[i].freed = true;
	waiting[n_waiting++] = i;
	if (n_waiting == WAITING)
		close_waiting();
	pthread_mutex_unlock(&lock);
}

void shim_guard_settle(bool watched)
{
	pthread_mutex_lock(&lock);
	pauses = !watched;
	close_waiting();
	pthread_mutex_unlock(&lock);
}

static void *take_exactly(uint64_t bytes) { return aligned_alloc(64, bytes ? bytes : 1); }
static void give_all(void *p, uint64_t bytes)
{
	(void)bytes;
	free(p);
}

void shim_guard_freed(void)
{
	static const struct aten_memory guarded = {take, give}, exact = {take_exactly, give_all};
	struct rlimit as;
	if (dlsym(RTLD_DEFAULT, "pt2_heap")) {
		aten_set_memory(&exact);
		return;
	}
	if (getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur / 4 < size)
		size = as.rlim_cur / 4;
	reserved = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (reserved != MAP_FAILED)
		aten_set_memory(&guarded);
}

bool shim_freed_at(uintptr_t address, uintptr_t *low, uint64_t *bytes)
{
	for (uint32_t i = 0; i < n_pieces; i++)
		if (piece[i].freed && address >= piece[i].low && address - piece[i].low < piece[i].room) {
			*low = piece[i].low;
			*bytes = piece[i].bytes;
			return true;
		}
	return false;
}
