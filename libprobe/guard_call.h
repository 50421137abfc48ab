/* guard_call.h - a call of a kernel under --bounds, as the parts of the guard share it: its tensors, their copies, what the model has made.
 *
 * guard.c decides what is called, guard_made.c knows what was never written, guard_copy.c makes copies and takes back what was written,
 * guard_look.c compares, guard_tell.c tells; guard_heap.c does without copies.
 */
#ifndef PT2_PROBE_GUARD_CALL_H
#define PT2_PROBE_GUARD_CALL_H
#include "guard.h"

enum { PARTS = 256, MADE = 1024, TRIES = 64, PAST = 1024 };

/* A tensor among the arguments. */
struct part {
	uint32_t value; /* of the thread's */
	uint32_t param; /* its word */
	uintptr_t low, high;
	const struct ops_view *view;
	uint32_t cluster;
	int item; /* bytes of an element */
	bool writes, constant, dense, raced;
	bool passed; /* its copy was asked for: by_object */
};

enum { OTHERS, READ, WRITTEN }; /* whose a byte is: between the elements; of a tensor that is only read; of one that is written */

/* Tensors that overlap: one piece of memory. */
struct cluster {
	uintptr_t low, high;
	uint32_t first, n;            /* in the order of addresses */
	bool writes, constant, fresh; /* fresh: some of it was never written */
	bool unused;                  /* the kernel did not get the copy */
	size_t unit;
	uint8_t *whose; /* of each byte; NULL: all are `plain` */
	uint8_t plain;
	struct guard_region *copy[3]; /* of the first call, the second, a later one */
	bool kept;                    /* copy is a weight's, which stays */
};

/* The second to the last: other orders of a parallel loop's chunks, threads as the kernel has them, one thread. TRY_FILLS: one for each
 * candidate. */
enum try_kind { TRY_FIRST, TRY_OTHER, TRY_SAME, TRY_BACKWARD, TRY_THREADS, TRY_ONE_THREAD, TRY_FILLS };

struct guard_call {
	int threads;            /* OpenMP's, while a kernel runs with one; else 0 */
	bool by_object;         /* Python calls the kernel with objects, whose addresses it asks for (jit.h) */
	bool active, explained; /* explained: a finding tells why its results differ */
	bool unsteady;          /* they do, and nothing that was tried tells why */
	bool accused;           /* what one candidate holds changes them */
	bool raced;             /* they depend on the order of its threads */
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
static inline bool guard_runs_twice(const struct ops_run *run)
{
	return ops_want() & CALLS_BOUNDS_TWICE && (run->run < 2 || run->run == CALLS_NO_RUN);
}

/* Which copy is passed in a try, and where it lies. */
static inline uint32_t guard_copy_of(const struct guard_call *c) { return c->try > 1 ? 2 : c->try; }
static inline enum guard_side guard_side_of(const struct guard_call *c) { return c->try == 1 ? !c->side : c->side; }

/* ---- guard_made.c: what was never written ---- */

struct guard_call *guard_state_of(struct ops_thread *t); /* NULL: no memory */
struct made *guard_made_at(struct guard_call *c, uintptr_t address);
void guard_forget_made(struct guard_call *c, struct made *m);
/* Memory for the states of bytes; a tensor that gets none counts as written. */
bool guard_keep_bytes(struct guard_call *c, struct made *m);
void guard_wrote(struct guard_call *c, uintptr_t low, uintptr_t high);
static inline bool guard_is_unwritten(const struct made *m, uintptr_t at)
{
	return m && at >= m->low && at < m->high && (!m->unwritten || m->unwritten[at - m->low]);
}
bool guard_has_unwritten(const struct made *m, uintptr_t low, uintptr_t high);

/* ---- guard_copy.c: what copies hold ---- */

/* The byte that stands for what a kernel may not look at: small numbers for integers, which may be indices. */
uint8_t guard_filler(const struct part *p, uintptr_t at, enum guard_side side);
const struct part *guard_part_at(const struct guard_call *c, const struct cluster *k, uintptr_t at);
/* Of the parts, which it sorts. */
void guard_find_clusters(struct guard_call *c);
bool guard_find_whose(struct guard_call *c, struct cluster *k);
bool guard_keep_weight(struct guard_call *c, struct cluster *k);
bool guard_make_copies(struct guard_call *c);
void guard_drop_cluster(struct cluster *k);
/* twice: the second call's copies say, too, what was written. */
void guard_copy_back(struct guard_call *c, const struct cluster *k, bool twice);

/* ---- guard_tell.c: findings ---- */

/* From now on a fault elsewhere is reported as one of this thread's kernel. */
void guard_tell_wild_of(struct ops_thread *t);
/* first, last: bytes from the tensor's first element. */
void guard_tell(const struct ops_thread *t, const struct ops_run *run, const struct guard_call *c, const struct part *p, const char *what,
		int64_t first, int64_t last, const struct guard_fault *f, bool writes);
void guard_tell_difference(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, const char *what, uint32_t cluster,
			   size_t at);
void guard_tell_freed(const struct ops_run *run, const struct guard_call *c, const struct ops_open *open);
void guard_tell_summary(const struct ops_run *run, const struct guard_call *c);

/* First time for this argument of this call? */
bool guard_tell_once(const struct ops_open *o, uint32_t param, const char *what);
/* A use of freed memory. known: only if it was a tensor of the call's or of an earlier one's; false: it was none. */
bool guard_tell_use(const struct ops_run *run, const struct guard_call *c, const struct ops_open *open, const struct guard_freed *v,
		    bool known);
/* Members of an event: the call, the fault (f may be NULL; m NULL: in no model's code). */
void guard_out_call(struct json_out *o, const struct ops_run *run, const struct ops_open *open, const char *what);
void guard_out_fault(struct json_out *o, const struct model *m, const struct guard_fault *f, bool writes);

/* ---- guard_heap.c: with CALLS_BOUNDS_ALLOC ---- */

void guard_heap_before(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, bool kernel);
/* Tells what was found, also beside the tensors that c has (NULL: none). open: the call of these that has ended; NULL: it was none. */
void guard_heap_after(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, const struct ops_open *open);
void guard_heap_run(struct ops_thread *t, const struct ops_run *run, bool begins);

/* ---- guard_look.c: after a call ---- */

/* Tells of what it did where it may not. */
void guard_look_after(struct ops_thread *t, const struct ops_run *run, struct guard_call *c);
/* Do the results of this try differ from those of the first? Where: the cluster, and its first byte that does. */
bool guard_any_differs(struct guard_call *c, uint32_t *cluster, size_t *at);
/* Do those of this tensor, by more than rounding? *at: the first byte of its cluster that does. */
bool guard_part_differs(const struct guard_call *c, const struct part *p, size_t *at);

#endif
