/* calls.h - what kernels and ops of a watched model did: the call log that libpt2probe.so writes and the tools read.
 *
 *     struct calls_reader r;
 *     if (calls_open(&r, folder, &err) < 0) ...
 *     struct call_record rec;
 *     while (calls_next(&r, &rec)) ...                  // in order of time; also while the process still runs
 *     calls_name(&r, rec.name)                          // "cpp_fused_relu_0"
 *     calls_close(&r);
 *
 * A file `calls` in the private folder of event.h, mapped shared by all processes of the command: a record is in it as
 * soon as its last store is done, whatever then happens to the process. So the last CALL_BEGIN without a CALL_END names the
 * kernel that was running when it crashed. The tool makes the file with the configuration in its head, and takes its room
 * from the disk at once (a full disk must not end the target process with SIGBUS); the library only appends. When it is full, the
 * oldest records are overwritten (`lost` counts them), but never configuration or names.
 *
 *     struct calls_log *log = mmap(... "calls" ...);            // the library's side; calls_log_fits(log, size) first
 *     struct call_record rec = {.what = CALL_BEGIN, .pid = pid, ...};
 *     uint64_t seq = calls_begin(log, &rec);                    // a claim, a copy, a store; never waits
 *     rec = (struct call_record){.what = CALL_END, .seq = seq, ...};
 *     calls_append(log, &rec);
 *
 * Nothing is locked. A writer takes a ticket, whose record goes into slot `ticket % records`, marks the slot busy with its
 * ticket, copies, and marks it done. One that finds its slot busy by a living writer (it was overtaken by a whole round of the
 * log) or already used by a later ticket drops its record; the slot of a dead one it takes. The reader waits for a record that
 * is claimed and not done; once a later one is done, it skips it if its writer's process is gone, after CALLS_PATIENCE_MS, or at
 * once when `final` is set (the command has ended).
 *
 * Most calls are a begin and an end and nothing else, and what they cost is memory that is not in the cache. So a slot is one
 * cache line; what a CALL_VALUE, CALL_LAUNCH or CALL_REPLAY has besides lies in a room of its own behind the slots, by the same
 * rules and with tickets of its own: written first, and lost for the reader when it was overwritten. Writers fetch the lines of the
 * next tickets ahead.
 *
 * Time is read twice a call. Where the processor's counter can stand for a clock, its ticks are written down (CALLS_TICKS), and the
 * head says what both clocks showed when the log was made; readers convert, and see nanoseconds of CLOCK_MONOTONIC only.
 *
 * Names and texts are interned in a second file, `names`: appended bytes; an id is the offset of a NUL-terminated text, 0 is
 * none. A table of hashes in its head makes calls_intern give the same text the same id, in all processes. When it is full,
 * the answer is 0.
 */
#ifndef PT2_LIVE_CALLS_H
#define PT2_LIVE_CALLS_H
#include "watch/ticks.h"
#include "base/buf.h"
#include "watch/event.h"
#include "base/io/shared.h"
#include "tensor/stats.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

#define CALLS_FILE "calls"
#define CALLS_FILE_NAMES "names"
#define CALLS_MAGIC "PT2CALL3"
#define CALLS_NAMES_MAGIC "PT2NAME1"
/* Room by default. A tool looks every 50 ms, in which a small model may call 200000 kernels. */
#define CALLS_RECORDS (1u << 18)  /* 16 MB */
#define CALLS_VALUES (1u << 16)   /* 20 MB; with CALLS_STATS and CALLS_SAVE nearly all are values, and so many records are enough */
#define CALLS_LAUNCHES (1u << 14) /* 5 MB; with CALLS_NAMES alone, for launches on a GPU */
#define CALLS_MAX_RECORDS (1u << 26)
#define CALLS_NAMES_BYTES (8u << 20)
#define CALLS_MAX_NAME 1023 /* bytes of a text; longer ones are cut */
#define CALLS_PATIENCE_MS 1000

/* The head of a log says what the library is to do for each call. Numbers as PyTorch's debug printer levels where they have one
 * (torch/_inductor/config.py, aot_inductor.debug_intermediate_value_printer). */
enum calls_want {
	CALLS_NAMES = 1,       /* begin and end of every call */
	CALLS_BAD = 2,         /* NaN and infinities of what a call wrote (and of its inputs when it wrote any) */
	CALLS_STATS = 4,       /* all statistics of inputs (before) and outputs (after) */
	CALLS_SAVE = 8,        /* outputs (and inputs before) as .npy files into the folder */
	CALLS_INPUTS = 16,     /* the model's inputs and outputs, too */
	CALLS_FAIL = 32,       /* a call that made a NaN, or a number out of lo..hi, makes the model's Run return an error */
	CALLS_RECORD = 64,     /* keep the inputs of a Run that was found bad, as a bundle */
	CALLS_INF = 128,       /* with CALLS_FAIL: infinities do, too */
	CALLS_CONSTANTS = 512, /* and constants, once */
	CALLS_SCAN = 1024,     /* with CALLS_BAD, on a GPU: look for the first NaN without waiting (libprobe/cuda_scan.c). It is one call
				* more in the log: its CALL_BEGIN has the result CALLS_SCANNED, and .took: 0, or graph << 32 | replay */
	CALLS_TIMES = 2048,    /* on a GPU: how long each call takes there (libprobe/cuda_time.c). It is one call more in the log: its
				* CALL_BEGIN has the result CALLS_TIMED and .took, with CALLS_TIMED_WAITED where the GPU was idle before */
	CALLS_GIVE = 4096,     /* puts numbers of the tool into tensors before and after calls of kernels (given.h) */
	CALLS_KEEP = 8192,     /* with CALLS_BAD: save what the first calls that produced a NaN had read and written. What a call overwrites
				* is copied before it, up to 64 MiB a call; the copy of more is missing */
	CALLS_BOUNDS = 1 << 20,       /* CPU kernels get guarded copies of their tensors: what they touch besides is an event (event.h) */
	CALLS_BOUNDS_TWICE = 1 << 21, /* ... and run twice, on differently filled ones */
	CALLS_ARENA = 1 << 22,        /* with CALLS_SAVE: all tensors of a process are in one file, one after the other */
	CALLS_BOUNDS_ALLOC = 1 << 23, /* ... or instead of copies the memory of tensors itself is guarded (libprobe/heap/heap.h) */
	CALLS_ANY_RUN = 1 << 24,      /* with CALLS_RECORD: of every watched Run, whatever it computes */
	CALLS_SYNC = 256,             /* on a GPU: wait for each launch and op; which of them failed is an event (event.h) */
};

#define CALLS_FILTERS 64
struct calls_config {
	char magic[8]; /* CALLS_MAGIC; this to `tick_ns` are filled in by calls_create, `records` if it is 0 */
	uint32_t size; /* of struct calls_log up to its slots */
	uint32_t slot_size, room_size;
	uint64_t records;       /* room */
	uint64_t values;        /* room for what values have besides: set by calls_create */
	uint64_t tick, tick_ns; /* what calls_ticks() and CLOCK_MONOTONIC were at the same time; 0: no ticks are to be used */
	uint32_t want;
	uint32_t first_run, last_run; /* of a model, counting from 0; 0..UINT32_MAX for all */
	uint32_t one_call;            /* only this call (its number in the run, plus 1) is examined, of runs by number; 0: all */
	double lo, hi;                /* values outside are bad, too; -inf..inf */
	uint32_t n_filters;           /* globs on kernel and buffer names; none: everything */
	uint32_t save_format;         /* enum tensor_format */
	uint64_t save_max;            /* bytes of saved tensors in all; then it stops and says so */
	char graph[64];               /* a glob: of graphs of torch.compile only those ("3_backward"); empty: all */
	char save_dir[512];
	char filter[CALLS_FILTERS][128];
};

/* In a record these stand for what there is none of. */
#define CALLS_NO_RUN UINT32_MAX     /* `run` of what is called outside of any: constants are folded */
#define CALLS_NO_CALL UINT32_MAX    /* `contract_call` that could not be matched */
#define CALLS_SCANNED INT32_MAX     /* `result` of a CALL_BEGIN that a scan found (CALLS_SCAN) */
#define CALLS_TIMED (INT32_MAX - 1) /* `result` of a CALL_BEGIN with a time (CALLS_TIMES) */
#define CALLS_TIMED_WAITED (UINT64_C(1) << 63)
#define CALLS_NOT_RETURNED INT32_MIN /* `result` of a call or Run that was left by a C++ exception */

enum call_what {
	CALL_NONE,      /* not written yet */
	CALL_RUN_BEGIN, /* the model's Run was entered */
	CALL_RUN_END,   /* result: what it returned */
	CALL_BEGIN,     /* a kernel or op is about to run */
	CALL_END,       /* it returned; result of an op; took: nanoseconds */
	CALL_VALUE,     /* one of its tensors; follows CALL_BEGIN (before) or CALL_END (after) of the same `seq` */
	CALL_LAUNCH,    /* how a kernel is launched on a GPU; follows CALL_BEGIN. Its CALL_END has the driver's result. `name`: the
			  * kernel's, which is another one where a function of the model launches it, maybe several */
	CALL_REPLAY,    /* this call is a replay of a CUDA graph by whoever did it; follows CALL_BEGIN, outside of any Run */
};
enum call_role {
	CALL_ROLE_IN,
	CALL_ROLE_OUT,
	CALL_ROLE_INOUT,
	CALL_ROLE_CONSTANT,
	CALL_ROLE_MODEL_INPUT,
	CALL_ROLE_MODEL_OUTPUT,
	CALL_ROLES
};
extern const char *const call_role_word[CALL_ROLES];
static inline const char *call_role_name(unsigned r) { return r < CALL_ROLES ? call_role_word[r] : "?"; }

/* Its file in save_dir. */
enum call_saved {
	CALL_UNSAVED,
	CALL_SAVED_NPY,
	CALL_SAVED_SAFETENSORS,
	CALL_SAVED_ARENA, /* from call_value.place of its process's file on (CALLS_ARENA): its memory, if tensor_is_compact(), else its
			   * elements, row-major */
	CALL_SAVEDS
};
extern const char *const call_saved_ending[CALL_SAVEDS]; /* "", ".npy", ".safetensors", ".arena" */
#define CALLS_FILE_NAME 256                              /* room for its name */

#define CALL_DIMS 8
/* A tensor, as it was. */
struct call_value {
	uint8_t arg, role, before, n_dim;
	int8_t device, device_index;
	int16_t dtype;
	uint64_t address;
	int64_t size[CALL_DIMS], stride[CALL_DIMS]; /* of more dims the first */
	struct tensor_stats stats;                  /* known false: not computed */
	uint32_t saved;                             /* enum call_saved: calls_file_name() says where */
	double bad_value;                           /* the first bad element */
	/* Where a call has made NaN or the like: the output's first such element, and of inputs that were not written
	 * over the one at the same place (tensor_same_place). */
	double element;
	uint64_t at;    /* linear index plus 1; 0: unknown */
	uint64_t place; /* CALL_SAVED_ARENA: in bytes */
};

#define CALL_LAUNCH_ARGS 20
/* A launch. */
struct call_launch {
	uint32_t grid[3], block[3], shared; /* blocks, threads, bytes of dynamic shared memory */
	uint8_t captured;                   /* into a graph: nothing has run yet */
	uint8_t n_args;                     /* parameters of the kernel; of more the first CALL_LAUNCH_ARGS follow */
	uint8_t zero[2];
	uint32_t graph; /* which, of this process, from 1; 0: not known */
	uint64_t stream;
	uint64_t arg[CALL_LAUNCH_ARGS]; /* the first eight bytes of each */
	uint8_t size[CALL_LAUNCH_ARGS]; /* how many it has; 0: not known */
};
_Static_assert(sizeof(struct call_launch) <= sizeof(struct call_value), "they use the same room");

/* A replay. */
struct call_replay {
	uint32_t graph, captured; /* which, of this process, from 1; calls of a model in it */
	uint64_t times;           /* how many replays with this one */
	uint64_t stream;
};

/* A record as it is given and read. */
struct call_record {
	uint32_t what;          /* enum call_what */
	uint32_t model;         /* as in event.h */
	uint64_t seq;           /* number of the call (or Run) among all of this command: joins BEGIN, END and VALUEs. Grows */
	uint64_t time;          /* nanoseconds, CLOCK_MONOTONIC; given with .ticks: calls_ticks() */
	uint32_t run;           /* which Run of this model, from 0 */
	uint32_t call;          /* which call of that Run, from 0 */
	uint32_t contract_call; /* index into the contract's calls, NONE when it could not be matched */
	uint32_t pid, tid;
	uint32_t name; /* of the kernel or op; of VALUE: the buffer's ("buf3"), from the contract or 0; of RUN_BEGIN: torch's settings of
			  precision ("NAME=VALUE ..."), or 0 */
	int32_t result;
	bool ticks; /* time and took are; never in what is read */
	union {
		uint64_t took;
		struct call_value v;
		struct call_launch launch;
		struct call_replay replay;
	};
};

/* As it lies in the file. */
#define CALLS_TICKS 0x80
struct calls_slot {
	_Atomic uint64_t state; /* 2 * ticket + 1 while it is written, 2 * ticket + 2 when it is done */
	uint32_t pid;
	uint32_t what;            /* enum call_what, with CALLS_TICKS; model + 1 from bit 8 on, so that LIVE_NO_MODEL is 0 */
	uint64_t seq, time, more; /* more: .took; of a CALL_VALUE or CALL_LAUNCH the ticket of its room */
	uint32_t run, call, contract_call, tid, name;
	int32_t result;
};
_Static_assert(sizeof(struct calls_slot) == 64, "a cache line");
struct calls_room {
	_Atomic uint64_t state; /* the same */
	uint32_t pid;
	union {
		struct call_value v;
		struct call_launch launch;
		struct call_replay replay;
	};
	uint64_t zero[5];
};
_Static_assert(sizeof(struct calls_room) == 320, "five cache lines");

/* The file `calls`: a head that all write, then config.records slots, then config.values rooms. */
struct calls_log {
	struct calls_config config;
	_Alignas(64) _Atomic uint64_t ticket; /* the next record's */
	_Alignas(64) _Atomic uint64_t value_ticket;
	_Alignas(64) _Atomic uint64_t unlogged; /* calls that the filters left out, of Runs that have ended */
	_Atomic uint64_t dropped;               /* records that found no slot */
	_Atomic uint64_t saved;                 /* bytes of saved tensors so far, against save_max */
	_Atomic uint64_t unsaved;               /* a tensor's file could not be written: errno of the first. 0 */
	_Alignas(64) struct calls_slot slot[];
};

/* The file `names`. */
#define CALLS_HASHES 16384
struct calls_names {
	char magic[8];
	uint32_t size;         /* of the file */
	_Atomic uint32_t used; /* offset of the next text; may run beyond the end */
	_Atomic uint32_t hash[CALLS_HASHES];
	char text[];
};

/* ---- what both sides share ---- */

/* Bytes of a log. */
static inline uint64_t calls_log_size(const struct calls_config *c)
{
	return sizeof(struct calls_log) + c->records * sizeof(struct calls_slot) + c->values * sizeof(struct calls_room);
}

/* Is this the head of a log of `size` bytes that this version can use? */
static inline bool calls_config_fits(const struct calls_config *c, uint64_t size)
{
	return !memcmp(c->magic, CALLS_MAGIC, 8) && c->size == sizeof(struct calls_log) && c->slot_size == sizeof(struct calls_slot) &&
	       c->room_size == sizeof(struct calls_room) && c->records && c->records <= CALLS_MAX_RECORDS && c->values &&
	       c->values <= CALLS_MAX_RECORDS && size >= calls_log_size(c) && c->n_filters <= CALLS_FILTERS;
}
static inline bool calls_log_fits(const struct calls_log *l, uint64_t size)
{
	return size >= sizeof(*l) && calls_config_fits(&l->config, size);
}

static inline bool calls_names_fit(const struct calls_names *n, uint64_t size)
{
	return size > sizeof(*n) && !memcmp(n->magic, CALLS_NAMES_MAGIC, 8) && n->size == size;
}

/* Is the process gone? errno is kept. */
static inline bool calls_gone(uint32_t pid)
{
	int was = errno;
	bool gone = pid && pid <= INT32_MAX && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
	errno = was;
	return gone;
}

static inline uint64_t calls_place(uint64_t ticket, uint64_t n)
{
	return (n & (n - 1)) == 0 ? ticket & (n - 1) : ticket % n; /* a division takes as long as all the rest */
}
static inline struct calls_slot *calls_slot_of(struct calls_log *l, uint64_t records, uint64_t ticket)
{
	return &l->slot[calls_place(ticket, records)];
}
static inline struct calls_room *calls_room_of(struct calls_log *l, uint64_t records, uint64_t values, uint64_t ticket)
{
	return (struct calls_room *)(void *)(l->slot + records) + calls_place(ticket, values);
}

/* Mark a slot or room busy. False when another writer has it. */
static inline bool calls_mark(_Atomic uint64_t *state, uint32_t *owner, uint64_t ticket, uint32_t pid)
{
	uint64_t was = atomic_load_explicit(state, memory_order_relaxed);
	do {
		if (was > 2 * ticket || ((was & 1) && !calls_gone(__atomic_load_n(owner, __ATOMIC_RELAXED))))
			return false;
	} while (!atomic_compare_exchange_weak_explicit(state, &was, 2 * ticket + 1, memory_order_acquire, memory_order_relaxed));
	__atomic_store_n(owner, pid, __ATOMIC_RELAXED);
	/* A reader that sees any of the new record also sees that the slot is busy. */
	atomic_thread_fence(memory_order_release);
	return true;
}

#define CALLS_AHEAD 8 /* slots that are fetched ahead */

/* The slot of a ticket, marked busy; NULL when another writer has it. */
static inline struct calls_slot *calls_claim(struct calls_log *l, uint64_t ticket, uint32_t pid)
{
	const uint64_t records = l->config.records;
	struct calls_slot *slot = calls_slot_of(l, records, ticket);
	__builtin_prefetch(calls_slot_of(l, records, ticket + CALLS_AHEAD), 1);
	if (!calls_mark(&slot->state, &slot->pid, ticket, pid)) {
		atomic_fetch_add_explicit(&l->dropped, 1, memory_order_relaxed);
		return NULL;
	}
	return slot;
}

static inline bool calls_put(struct calls_log *l, uint64_t ticket, const struct call_record *rec, uint64_t more)
{
	struct calls_slot *slot = calls_claim(l, ticket, rec->pid);
	if (!slot)
		return false;
		/* (Relaxed: the reader may copy it at the same time, and drops its copy if the state has changed.) */
#define PUT(member, value) __atomic_store_n(&slot->member, (value), __ATOMIC_RELAXED)
	PUT(what, rec->what | (rec->ticks ? CALLS_TICKS : 0) | (rec->model + 1) << 8);
	PUT(seq, rec->seq);
	PUT(time, rec->time);
	PUT(more, more);
	PUT(run, rec->run);
	PUT(call, rec->call);
	PUT(contract_call, rec->contract_call);
	PUT(tid, rec->tid);
	PUT(name, rec->name);
	PUT(result, rec->result);
#undef PUT
	atomic_store_explicit(&slot->state, 2 * ticket + 2, memory_order_release);
	return true;
}

/* Append the CALL_BEGIN or CALL_RUN_BEGIN of a new call: its seq, also when it was dropped. */
static inline uint64_t calls_begin(struct calls_log *l, struct call_record *rec)
{
	uint64_t ticket = atomic_fetch_add_explicit(&l->ticket, 1, memory_order_relaxed);
	rec->seq = ticket + 1;
	calls_put(l, ticket, rec, rec->took);
	return rec->seq;
}

/* Append rec. Returns false when it was dropped. */
static inline bool calls_append(struct calls_log *l, const struct call_record *rec)
{
	uint64_t more = 0;
	if (rec->what >= CALL_VALUE) {
		more = atomic_fetch_add_explicit(&l->value_ticket, 1, memory_order_relaxed);
		struct calls_room *room = calls_room_of(l, l->config.records, l->config.values, more);
		if (!calls_mark(&room->state, &room->pid, more, rec->pid)) {
			atomic_fetch_add_explicit(&l->dropped, 1, memory_order_relaxed);
			return false;
		}
		shared_put(&room->v, &rec->v, sizeof(room->v));
		atomic_store_explicit(&room->state, 2 * more + 2, memory_order_release);
	} else {
		more = rec->took;
	}
	return calls_put(l, atomic_fetch_add_explicit(&l->ticket, 1, memory_order_relaxed), rec, more);
}

/* A text of its own (the name of a saved file): its id, 0 when there is no room. */
static inline uint32_t calls_text(struct calls_names *n, const char *text, size_t len)
{
	const uint32_t room = n->size - (uint32_t)sizeof(*n);
	len = len > CALLS_MAX_NAME ? CALLS_MAX_NAME : len;
	/* Checked first, so that a full file is not counted beyond what 32 bits hold. */
	if (atomic_load_explicit(&n->used, memory_order_relaxed) >= room)
		return 0;
	uint32_t at = atomic_fetch_add_explicit(&n->used, (uint32_t)len + 1, memory_order_relaxed);
	if (at >= room || room - at < len + 1)
		return 0;
	shared_put(n->text + at, text, len);
	__atomic_store_n(&n->text[at + len], '\0', __ATOMIC_RELAXED);
	return (uint32_t)sizeof(*n) + at;
}

/* The id of a text that comes again (a kernel, a buffer). */
static inline uint32_t calls_intern(struct calls_names *n, const char *text, size_t len)
{
	uint32_t h = 2166136261u, id, mine = 0;
	len = len > CALLS_MAX_NAME ? CALLS_MAX_NAME : len;
	if (!len)
		return 0;
	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)text[i]) * 16777619u;
	for (uint32_t probe = 0; probe < 32; probe++) {
		_Atomic uint32_t *slot = &n->hash[(h + probe) % CALLS_HASHES];
		id = atomic_load_explicit(slot, memory_order_acquire);
		if (!id) {
			if (!mine && !(mine = calls_text(n, text, len)))
				return 0;
			if (atomic_compare_exchange_strong_explicit(slot, &id, mine, memory_order_acq_rel, memory_order_acquire))
				return mine;
		}
		if (id < n->size && n->size - id > len && !memcmp((const char *)n + id, text, len) && !((const char *)n)[id + len])
			return id;
	}
	return mine ? mine : calls_text(n, text, len);
}

/* ---- the tool's side ---- */

/* Processes that run a model write to both files while we read them: only copies are used (base/io/shared.h). */
struct calls_reader {
	struct shared log, names;   /* a test may have no names */
	struct calls_config config; /* a copy of the log's, checked when it was opened */
	uint64_t at;                /* the next ticket to be read */
	double tick;                /* nanoseconds; 0: not known yet */
	uint64_t lost;              /* records that were overwritten before they were read */
	uint64_t torn;              /* records that were never completed */
	uint64_t waiting;           /* nanoseconds since when `at` is waited for, 0: not */
	uint64_t upto;              /* no ticket from this one on is read yet; calls_open: UINT64_MAX */
	bool final;                 /* set it when the command has ended */
	bool mapped;
	/* names read so far, by their ids; no more bytes than honest writers can have written */
	struct calls_text {
		uint32_t id;
		const char *text;
	} * text;
	size_t n_text, cap_text;
	uint64_t text_bytes;
	struct arena texts;
};

/* Make both files in the folder. lo and hi of 0 become -inf and inf. EXIT_ENVIRON: cannot be made, no room. make: the function that opens a
 * new file for a tool that may make none itself (flags: O_RDWR and O_EXCL); NULL: open(2). */
int calls_create(const char *folder, const struct calls_config *config, int (*make)(const char *path, int flags, mode_t mode),
		 struct err *err);
/* EXIT_INPUT: they are missing, incomplete, or of another version. */
int calls_open(struct calls_reader *r, const char *folder, struct err *err);
/* The same on memory that must outlive it and is aligned to 64 bytes; names may be empty. Members of a record are not checked: only its
 * .what and .v.n_dim are forced into their limits. */
FOR_TESTS int calls_open_bytes(struct calls_reader *r, struct slice log, struct slice names, const char *what, struct err *err);
/* False: nothing more, for now. */
bool calls_next(struct calls_reader *r, struct call_record *rec);
/* How many records have been started. */
static inline uint64_t calls_begun(const struct calls_reader *r) { return shared_u64(r->log, offsetof(struct calls_log, ticket)); }
/* Calls that no filter let through, which are only counted. Of Runs that have ended. */
static inline uint64_t calls_unlogged(const struct calls_reader *r) { return shared_u64(r->log, offsetof(struct calls_log, unlogged)); }
/* 0, or why (errno) the first tensor that failed to be saved did. */
static inline int calls_unsaved(const struct calls_reader *r)
{
	return (int)(shared_u64(r->log, offsetof(struct calls_log, unsaved)) & 0xfff);
}
/* A copy, at most CALLS_MAX_NAME bytes; "" when there is none. It is valid, and does not change, until calls_close(). */
const char *calls_name(struct calls_reader *r, uint32_t name);
void calls_close(struct calls_reader *r);

/* ---- files of tensors ---- */

/* The name of the file that a CALL_VALUE is saved to, in save_dir; "" when it is not saved. Both sides make it from the record's numbers
 * and, letter by letter, from the names of the call (but not of a Run) and the buffer: m0.r000003.c0012.after.cpp_fused_relu_0.a2.buf3.npy.
 * Never a path. An arena is its process's: p1234.arena. */
void calls_file_name(const struct call_record *value, const char *call, const char *buffer, char name[CALLS_FILE_NAME]);
/* Has it this form? */
bool calls_is_file_name(const char *name);

#endif
