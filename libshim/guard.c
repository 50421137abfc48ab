/* guard.c - with --bounds: memory of tensors that were freed stays unmapped, so that whoever still uses it faults (libprobe/guard.h).
 *
 * Each storage has mappings of its own. Freed ones stay, as long as there are few and they take little of the address space: then the
 * oldest are given back. The handler of faults asks shim_freed_at(), which takes no lock. */
#include "shim.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { KEPT = 4096 }; /* well below vm.max_map_count, which is 65530 */

static struct kept {
	_Atomic uintptr_t low;
	_Atomic uint64_t bytes, room;
} kept[KEPT];
static uint64_t next, kept_bytes, most_bytes = 1ull << 32;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t rounded(uint64_t bytes)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	return (bytes + page - 1) / page * page;
}

static void *take(uint64_t bytes)
{
	void *p =
	    bytes > SIZE_MAX / 2 ? MAP_FAILED : mmap(NULL, rounded(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void forget(struct kept *k)
{
	if (!k->low)
		return;
	kept_bytes -= k->room;
	munmap((void *)k->low, k->room);
	k->low = 0;
}

static void give(void *p, uint64_t bytes)
{
	const uint64_t room = rounded(bytes);
	pthread_mutex_lock(&lock);
	for (uint64_t i = next; kept_bytes + room > most_bytes && i < next + KEPT; i++)
		forget(&kept[i % KEPT]);
	struct kept *k = &kept[next++ % KEPT];
	forget(k);
	/* New pages in its place: the contents are gone, and nothing else gets the address. */
	if (room > most_bytes || mmap(p, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
		munmap(p, room);
	} else {
		k->bytes = bytes;
		k->room = room;
		k->low = (uintptr_t)p;
		kept_bytes += room;
	}
	pthread_mutex_unlock(&lock);
}

void shim_guard_freed(void)
{
	static const struct aten_memory guarded = {take, give};
	struct rlimit as;
	if (getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY)
		most_bytes = as.rlim_cur / 4;
	aten_set_memory(&guarded);
}

bool shim_freed_at(uintptr_t address, uintptr_t *low, uint64_t *bytes)
{
	for (size_t i = 0; i < KEPT; i++) {
		const uintptr_t at = kept[i].low;
		if (at && address >= at && address - at < kept[i].room) {
			*low = at;
			*bytes = kept[i].bytes;
			return true;
		}
	}
	return false;
}
