/* heap.h - libpt2alloc.so: with --bounds=alloc, memory of tensors lies against unmapped pages, and stays unmapped once it is freed.
 *
 * Preloaded beside libpt2probe.so, it replaces malloc() and its kin. Guarded are pieces that are aligned to 64 or more (an allocator of
 * tensors: c10's, libpt2shim.so's), in a model's run all others of 64 bytes or more (scratch memory of a kernel), elsewhere those of 16 KiB
 * or more (arrays of numpy), from the first aligned one on. All other memory comes from glibc.
 *
 *     | unmapped | slack, data | unmapped |      the data end where the last page ends, as closely as their alignment allows;
 *     | unmapped | data, slack | unmapped |      after a model's first run every second piece of memory starts where the first page starts
 *
 * A part of the address space is reserved, and pieces get pages of it one after the other; addresses are used again when its end is
 * reached, so freed memory stays unmapped for as long as possible (the quarantine). The address space is four times the memory of
 * the machine, 16 GiB at least, at most a quarter of RLIMIT_AS; a living piece costs two mappings, so there are at most a quarter of
 * vm.max_map_count. What has no room comes from glibc; tensors there count as not guarded.
 *
 * libpt2probe.so, which has the handler of faults, finds pt2_heap() by name. It tells libpt2probe.so (pt2_probe_heap) when the first piece
 * is made, and of slack that was written to when a piece is freed.
 */
#ifndef PT2_PROBE_HEAP_H
#define PT2_PROBE_HEAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEAP_FRAMES = 16, HEAP_OPENED = 4, HEAP_FILL = 0x6b /* GUARD_FILL_ZONE */ };

struct heap_piece {
	uintptr_t low;        /* the data */
	uint64_t bytes;       /* as asked for */
	uintptr_t start, end; /* of its pages */
	uint32_t number;      /* counted from 1; of one that is gone another */
	bool freed;
	uint32_t n_frames;
	uintptr_t frame[HEAP_FRAMES]; /* who asked for it, the innermost first */
	uintptr_t opened[HEAP_OPENED];
};

/* The pieces beside an address: the one that it lies in (data or slack, freed or not) alone; else the one that ends before it and the one
 * that starts behind it, where it lies in unmapped pages next to them. 0: it is elsewhere. */
typedef size_t heap_at_fn(uintptr_t address, struct heap_piece v[2]);
/* Makes the page of a fault readable and writable, so that the program goes on; of the piece with this number. */
typedef bool heap_open_fn(uint32_t number, uintptr_t address);
/* What was written into the slack and opened pages of a living piece, from its first byte: before it [0], behind it [1]; first > last:
 * nothing. Then fills them again, and unmaps the pages. False: there is none of that number. */
struct heap_written {
	int64_t first[2], last[2];
};
typedef bool heap_written_fn(uint32_t number, struct heap_written *w);
/* Is this thread in a model's run now? ran: a first run has ended. */
typedef void heap_run_fn(bool now, bool ran);

struct heap {
	heap_at_fn *at;
	heap_open_fn *open;
	heap_written_fn *written;
	heap_run_fn *run;
};
const struct heap *pt2_heap(void);

/* In libpt2probe.so: p NULL: the first piece is about to be made; else slack of it was written to, which is found as it is freed. */
void pt2_probe_heap(const struct heap_piece *p, const struct heap_written *w);

#endif
