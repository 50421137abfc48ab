/* guard.h - --bounds: does a kernel touch memory that it was not given? (CALLS_BOUNDS)
 *
 * A call of a compiled CPU kernel gets copies of its tensors (guard.c, guard_call.h), each against an unmapped page (guard_memory.c):
 *
 *     | unmapped |  red zone ... data | unmapped |        right: what reads or writes past the end faults
 *     | unmapped | data ... red zone  | unmapped |        left: what comes before the start faults
 *
 * Afterwards what it has written is copied back. So each argument is as large as its own sizes and strides say, whatever storage it is a
 * part of; arguments that overlap stay one piece of memory, and the elements of others between their own are compared. Weights are
 * copied once, to pages that cannot be written. Extern kernels (BLAS, oneDNN) get their tensors as they are.
 *
 * CALLS_BOUNDS_TWICE: the kernel runs twice for one call, right and left, and what is not its own, or was never written, is filled
 * differently: results that differ come from it (or from a race: a third run, like the first, tells). So it is in the first two runs of a
 * model. Without it, the first run is right, and all later ones are left.
 *
 * A fault of such an access is caught: it is noted, the page is opened and filled, and the kernel goes on, in whichever thread it was. What
 * has changed in the page afterwards is what was written. For a read it is opened for one instruction
 * (x86-64), the first GUARD_STEPS times: only so is it known how far all of them reach. A fault elsewhere is not caught: it is reported,
 * and the process dies as it would have.
 *
 * CALLS_BOUNDS_ALLOC: no copies, no second call: the memory of tensors itself is guarded (guard_heap.c).
 *
 * Found: event LIVE_BOUNDS, once for each place; LIVE_BOUNDS_SUMMARY when a run ends.
 */
#ifndef PT2_PROBE_GUARD_H
#define PT2_PROBE_GUARD_H
#include "ops.h"
#include "heap/heap.h"
#include "watch/insn.h"

enum guard_side { GUARD_RIGHT, GUARD_LEFT };
enum { GUARD_ZONE = 512 };       /* bytes of red zone that are compared */
enum { GUARD_STEPS = 64 };       /* reads that are followed one by one */
enum { GUARD_OPENED = 8 };       /* pages beyond a region whose contents are compared */
enum { GUARD_FILL_ZONE = 0x6b }; /* what red zones and opened pages hold */

/* ---- guard_memory.c: guarded memory, and faults in it ---- */

struct guard_fault {
	_Atomic int state; /* 0: none; 1: being filled in; 2: there */
	uintptr_t address; /* the first byte that faulted */
	uintptr_t high;    /* reads: the end of all that faulted; 0: unknown */
	uint32_t times;    /* reads: accesses that faulted; GUARD_STEPS: and maybe more */
	uintptr_t ip;
	uint32_t tid;
	bool decoded;
	struct insn insn;
};

struct guard_region {
	_Atomic bool used; /* the handler may look at it */
	char *map;
	size_t size;         /* of the mapping */
	char *start, *end;   /* of its pages */
	char *data;          /* the copy */
	size_t bytes;        /* of it */
	bool read_only;      /* its pages are */
	_Atomic bool spoilt; /* a page was opened */
	_Atomic bool opening;
	struct guard_fault before[2], after[2], inside; /* [writes]; inside: of read-only pages */
	char *_Atomic opened[GUARD_OPENED];
	struct guard_region *next; /* in a list of its owner's */
};

/* Room for bytes, to lie at that side, aligned to unit (a power of two up to 16) as address is. NULL: no memory. */
struct guard_region *guard_take(size_t bytes, uintptr_t address, size_t unit, enum guard_side side);
/* Fills its red zones, forgets its faults. */
void guard_arm(struct guard_region *r);
void guard_protect(struct guard_region *r); /* makes it read-only */
void guard_give(struct guard_region *r);
/* Closes its opened pages, and makes its own writable. */
void guard_renew(struct guard_region *r);
/* Changed bytes of its red zones and opened pages: offsets from .data; false: none. before: those that lie before the data. */
bool guard_changed(const struct guard_region *r, bool before, int64_t *first, int64_t *last);
bool guard_faulted(const struct guard_fault *f);
/* Catches faults from now on. */
void guard_watch(void);
void guard_note_fault(struct guard_fault *f, uintptr_t address, const void *context);
/* A fault in memory that libpt2alloc.so guards: true if the program may go on. In the handler. */
extern bool (*guard_heap_caught)(uintptr_t address, bool writes, const void *context);
/* In a fault elsewhere: tells what was running. In the handler. */
extern void (*guard_wild)(uintptr_t address, uintptr_t ip, bool writes);
/* Uses of freed memory (libshim/guard.c) since the last call of this: up to n. */
struct guard_freed {
	uintptr_t address, low;
	uint64_t bytes;
	bool writes;
	struct guard_fault fault;
};
size_t guard_take_freed(struct guard_freed *v, size_t n);
/* Freed memory is unmapped, at the latest now; watched: also that of tensors that are made from now on. */
void guard_close_freed(bool watched);

/* ---- guard_x86_64.c, guard_aarch64.c, guard_portable.c ---- */

/* What the processor said of a fault; context: of a signal handler. */
void guard_context(const void *context, uintptr_t *ip, bool *writes, struct guard_fault *f);
/* Has the instruction that is about to be made again raise SIGTRAP after it; false: not here. Ends that. */
bool guard_step(void *context, bool on);
/* Can a kernel be called again with the same arguments (tramp_*.c)? */
extern const bool guard_again_works;

/* ---- guard_omp.c: the order of a parallel loop's chunks ---- */

enum guard_order { GUARD_AS_IT_IS, GUARD_ONE_THREAD, GUARD_FORWARD, GUARD_BACKWARD };
/* Does this function belong to OpenMP's runtime? Then its slot is to be taken. */
bool guard_omp_is(const char *name);
void guard_omp_take(struct model *m, uintptr_t *at, const char *name, void *target);
/* How this thread's kernel runs its parallel regions from now on. */
void guard_omp_order(enum guard_order order);
/* Has it entered one since it was last forgotten? */
bool guard_omp_entered(bool forget);
/* Can the order of its chunks be changed? */
bool guard_omp_orders(const struct model *m);

/* ---- guard.c, guard_made.c ---- */

static inline bool guard_on(void) { return ops_want() & CALLS_BOUNDS; }
/* libpt2alloc.so guards memory itself (guard_heap.c). */
bool guard_heap_on(void);
/* Is guard_before() to be called for this one? Without copies for operators, too. */
static inline bool guard_wants(bool kernel) { return guard_on() && (kernel || guard_heap_on()); }
/* A kernel is about to be called: changes its arguments. r NULL: it gets objects, and asks for their addresses (guard_address). */
void guard_before(struct ops_thread *t, struct ops_run *run, const struct ops_open *o, struct ops_regs *r, const uint64_t *stack);
/* It returned. True: it is to be called again, with the arguments that it then has. */
bool guard_after(struct ops_thread *t, struct ops_run *run, const struct ops_open *o, struct ops_regs *r);
/* The address that the kernel gets for a tensor of its call, which is at `address`. */
void *guard_address(struct ops_thread *t, const void *handle, void *address);
/* An op returned: all that it got is written. */
void guard_op(struct ops_thread *t, const struct ops_run *run);
/* The model made, views or drops a tensor. */
void guard_made(const struct model *m, void *tensor);
void guard_viewed(const struct model *m, void *tensor);
void guard_dropped(const struct model *m, void *tensor);
void guard_run(struct ops_thread *t, const struct ops_run *run, bool begins);

#endif
