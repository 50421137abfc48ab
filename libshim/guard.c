/* guard.c - with --bounds: memory of tensors that were freed stays unmapped, so that whoever still uses it faults (libprobe/guard.h).
 *
 * A part of the address space is reserved, and storages get pages of it one after the other; none are used again. After MOST storages, or
 * when it is full, memory comes from malloc() as usual: what there is to see has been seen, and mappings are slow and few (vm.max_map_count
 * is 65530). The handler of faults asks shim_freed_at(), which takes no lock. */
#include "shim.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST = 4096 };

static struct piece {
	uintptr_t low;
	uint64_t bytes, room;
	_Atomic bool freed;
} piece[MOST];
static _Atomic uint32_t n_pieces;
static char *reserved;
static uint64_t size = 1ull << 32, used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *take(uint64_t bytes)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
	char *p = NULL;
	pthread_mutex_lock(&lock);
	if (n_pieces < MOST && bytes < size && room <= size - used && mprotect(reserved + used, room, PROT_READ | PROT_WRITE) == 0) {
		p = reserved + used;
		piece[n_pieces] = (struct piece){.low = (uintptr_t)p, .bytes = bytes, .room = room};
		used += room;
		n_pieces++;
	}
	pthread_mutex_unlock(&lock);
	return p ? p : aligned_alloc(64, (bytes + 63) & ~63ull);
}

static void give(void *p, uint64_t bytes)
{
	const uintptr_t at = (uintptr_t)p;
	(void)bytes;
	if (at < (uintptr_t)reserved || at - (uintptr_t)reserved >= size) {
		free(p);
		return;
	}
	/* New pages in its place: the contents are gone, and nothing else gets the address. */
	for (uint32_t i = n_pieces; i-- > 0;)
		if (piece[i].low == at) {
			mmap(p, piece[i].room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
			piece[i].freed = true;
			return;
		}
}

void shim_guard_freed(void)
{
	static const struct aten_memory guarded = {take, give};
	struct rlimit as;
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
