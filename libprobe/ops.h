/* ops.h - kernels and ops of a watched model: how their calls are intercepted, and what is recorded (watch/calls.h).
 *
 * Only if a tool made a call log. Then a newly added model (model.c) gets its slots of kernels (cpp_fused_relu_0: in all recorded models
 * the linker left a slot for each, although the model defines them itself) and of torch's ops changed to stubs, before anyone can call
 * them (sites.c). A stub is static code that passes its number to a single trampoline (tramp_*.c),
 * which calls probe_before(), the function itself, probe_after() (ops.c).
 *
 * Arguments (values.c): an op's are handles, by its signature (model/contract/opsig.h). A kernel's are addresses. Generated code gets each
 * address right before the call, so aoti_torch_get_data_ptr is watched as well if values are recorded. Constants are fetched once, when the
 * model is created, so aoti_torch_create_tensor_from_blob is watched, too. The contract, whose calls are followed by name within a run
 * (branches and loops may skip some), says which buffer it is, and whether it is written.
 *
 * A thread remembers the runs it is in (run.c) by their position on the stack, so that one that was left by a C++ exception is noticed
 * by the next, and the unwinder needs to run nothing.
 *
 * With CALLS_FAIL a kernel that wrote NaN (CALLS_INF: or infinities) although it read none ends the model's run: later kernels are skipped,
 * the next op or allocation returns an error (generated code throws), and the run returns an error with our text.
 *
 * Kernels that are launched on a GPU: cuda.h.
 *
 * x86-64 and AArch64, and CPU or CUDA models; elsewhere, and for functions bound without a slot, a "stepped-aside" event reports it.
 */
#ifndef PT2_PROBE_OPS_H
#define PT2_PROBE_OPS_H
#include "cuda.h"
#include "model/contract/callwords.h"
#include "watch/calls.h"
#include "probe.h"

#include <time.h>

#define OPS_SITES 4096 /* kernels and ops of all models loaded at a time */
#define OPS_STRING_(x) #x
#define OPS_STRING(x) OPS_STRING_(x)

/* ---- tramp_x86_64.c, tramp_aarch64.c, tramp_portable.c ---- */

/* The registers saved by the trampoline; its assembly depends on this layout. */
struct ops_regs {
	uint64_t ints[CALL_INTS]; /* rdi rsi rdx rcx r8 r9; x0 to x7 */
	uint64_t result;          /* rax, x0; before the call rax, x8 */
	union {
		uint64_t site;         /* before */
		struct ops_open *open; /* set by probe_before, finished by probe_after; NULL: nothing */
	};
	uint64_t reals[2 * CALL_REALS]; /* xmm0 to xmm7, q0 to q7 */
	uint64_t second, zero;          /* rdx, x1 after it returned; unused */
};

/* NULL for a machine without a trampoline. */
void *ops_stub(uint32_t site);

/* ---- tables.c ---- */

enum site_kind {
	SITE_KERNEL,
	SITE_OP,
	SITE_PROXY,    /* aoti_torch_proxy_executor_call_function */
	SITE_GATE,     /* not recorded; returns an error in a failed run */
	SITE_LAUNCH,   /* cuLaunchKernel etc.: calls of SITE_LAUNCHED (cuda.h) */
	SITE_LAUNCHED, /* a kernel on a GPU; no slot leads to it */
};

struct ops_site {
	void *target; /* the original value of the slot; NULL: free */
	struct model *model;
	const char *name; /* in the model's own string table */
	const char *sig;
	const struct cuda_form *form; /* of SITE_LAUNCH */
	enum site_kind kind;
	uint32_t name_id;
	uint32_t stack_words; /* of arguments, at most; NONE: unknown */
	bool passes;          /* passes the filters, by name */
};
extern struct ops_site ops_site[OPS_SITES];

/* A C++ kernel, which a GPU model may have, too. */
static inline bool ops_on_cpu(const struct ops_site *s) { return s->kind == SITE_KERNEL && !strncmp(s->name, "cpp_", 4); }

#define OPS_FRESH 0x80 /* for an in_out_ptr: nothing wrote it yet, so its earlier contents mean nothing */
#define OPS_PART 0x40  /* for an out_ptr: it may write a part of memory that has contents, which are not the call's */
#define OPS_TWIN 0x20  /* an input whose memory the same call also writes, through another argument */
#define OPS_ROLE 0x0f

typedef int32_t ops_from_blob_fn(void *data, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset, int32_t dtype,
				 int32_t device, int32_t index, void **out);
typedef int32_t ops_from_blob_v2_fn(void *data, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset, int32_t dtype,
				    int32_t device, int32_t index, void **out, int32_t layout, const uint8_t *opaque, int64_t opaque_bytes);

typedef int32_t ops_empty_fn(int64_t n_dim, const int64_t *size, const int64_t *stride, int32_t dtype, int32_t device, int32_t index,
			     void **out);
typedef int32_t ops_reinterpret_fn(void *tensor, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset, void **out);

/* A constant, by its address. Only the leading members change; otherwise it is replaced. */
struct ops_constant {
	_Atomic bool told;   /* CALLS_CONSTANTS: once */
	_Atomic int scanned; /* 0; 1: in progress; 2: stats are valid */
	struct tensor_stats stats;
	struct ops_constant *next; /* of all constants, for cleanup */
	uintptr_t address;
	int32_t dtype, device, device_index, n_dim;
	int64_t size[]; /* followed by the strides */
};
struct ops_constants {
	struct ops_constants *older;
	size_t cap, n;
	_Atomic(struct ops_constant *) slot[];
};

/* The part of a model about its calls; model.c has the rest. */
struct ops {
	/* The original functions of the slots. */
	int32_t (*get_data_ptr)(void *tensor, void **data);
	ops_from_blob_fn *from_blob;
	ops_from_blob_v2_fn *from_blob_v2;
	ops_empty_fn *empty;
	ops_reinterpret_fn *reinterpret;
	bool omp;              /* its parallel regions are ours (guard_omp.c) */
	const char *other_omp; /* what it uses of OpenMP that is unknown there; NULL */
	int32_t (*delete)(void *tensor);
	int32_t (*is_defined)(void *tensor, bool *defined); /* may be NULL */
	/* of contract.call[k] and contract.value[v] */
	uint32_t *call_site;  /* OPS_SITES: none */
	uint32_t *call_name;  /* names of the log */
	uint8_t *call_passes; /* passes the filters: bit 0 by name, bit 1 by one of its buffers */
	bool skips;           /* they exclude calls of a CPU model */
	uint32_t *value_name;
	bool *value_passes;
	uint8_t *arg_role; /* of contract.arg[a]: enum call_role, with OPS_FRESH */
	_Atomic(struct ops_constants *) constants;
	struct ops_constant *all_constants;
	pthread_mutex_t lock; /* for adding to them */
	_Atomic uint32_t bundles;
	/* for a GPU model (cuda.h) */
	bool cuda;
	uint32_t launched; /* the site of launches not in the contract; OPS_SITES: nothing is launched */
	int32_t (*current_stream)(int32_t device, void **stream); /* may be NULL, like the following */
	int32_t (*current_device)(int32_t *device);
	int32_t (*get_storage_size)(void *tensor, int64_t *bytes);
	int32_t (*get_storage_offset)(void *tensor, int64_t *elements);
	_Atomic(uint8_t *) unread; /* of contract.arg[a] (cuda_scan.c); NULL: not found yet */
};

struct ops_constant *ops_find_constant(const struct ops *ops, uintptr_t address);
void ops_learn_constant(struct ops *ops, void *data, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset,
			int32_t dtype, int32_t device, int32_t device_index);
void ops_forget_constants(struct ops *ops);

/* ---- sites.c ---- */

/* Sets up the calls of a model (model.c holds the lock). Does nothing if no calls are requested. imports: our functions for what
 * it imports. */
void ops_take_on(struct model *m, void *const imports[OPS_IMPORTS]);
void ops_forget(struct model *m);
/* The driver and libtorch CUDA functions needed for a GPU model. */
void ops_open_device(struct model *m);
/* The part that only needs the contract: names, filters, roles. False: out of memory. */
bool ops_take_contract(struct model *m);
void ops_after_fork(struct ops *ops);

/* ---- log.c ---- */

/* Maps the log if the folder has one; model.c's lock is held. NULL: no calls are requested. It stays mapped forever. */
struct calls_log *ops_log_open(void);
extern struct calls_log *ops_the_log;
extern struct given_file *ops_given; /* with CALLS_GIVE (watch/given.h); NULL */
static inline struct calls_log *ops_log(void) { return ops_the_log; }
static inline const struct calls_config *ops_config(void) { return &ops_log()->config; }
static inline uint32_t ops_want(void) { return ops_config()->want; }
/* Are tensors needed? */
static inline bool ops_wants_values(void) { return ops_want() & ~(uint32_t)(CALLS_NAMES | CALLS_TIMES); }
/* ... and their contents, or those of the model's constants? */
static inline bool ops_wants_contents(void)
{
	return !(ops_want() & CALLS_SYNC) || ops_want() & ~(uint32_t)(CALLS_NAMES | CALLS_SYNC | CALLS_INPUTS | CALLS_CONSTANTS);
}
/* A timestamp in the unit of records: ticks or nanoseconds. */
extern bool ops_ticks;
static inline uint64_t ops_now(void)
{
	if (LIKELY(ops_ticks))
		return calls_ticks();
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
uint32_t ops_name(struct slice text); /* of a kernel or buffer */
const char *ops_text(uint32_t name);  /* of an id that one of these gave, not 0 */
bool ops_filtered(struct slice name); /* passes the filters; true without any */

/* ---- files.c ---- */

int files_make(const char *path);                /* creates a new one for writing; -1 and errno */
void files_unmake(const char *path);             /* removes that one */
void files_keep(int keeper, const char *folder); /* from now on through the keeper */

/* ---- thread.c ---- */

#define OPS_NESTED 8    /* nested runs */
#define OPS_FETCHED 512 /* addresses requested between two kernels */
#define OPS_VALUES 512  /* tensors of a call; more are not examined */
#define OPS_SCRATCH (64u << 10)
#define OPS_NO_NUMBER INT64_MIN

struct ops_view {
	void *handle; /* NULL: known only by address */
	const void *data;
	const int64_t *size, *stride;
	int64_t n_dim;
	int32_t dtype, device, device_index;
};

struct ops_value {
	struct ops_view view;
	void **result; /* where an op stores the handle; NULL: view.handle, or view.data of a constant */
	struct ops_constant *constant;
	uint8_t role;   /* enum call_role */
	uint8_t arg;    /* which argument; beyond 255: 255 */
	uint8_t param;  /* of a launch: which parameter; of a kernel: which argument */
	bool seen;      /* view is filled in */
	bool addressed; /* the model itself requested .view.data: a strided CPU tensor */
	bool launched;  /* ... for a launch, or a launching function: on any device */
	bool buffer;    /* a contract buffer created by the model itself: a strided tensor */
	bool number;    /* a tensor of one element on the host whose number is what a Triton kernel is given: its launcher reads it */
	bool passes;    /* passes the filters */
	bool fresh;     /* OPS_FRESH */
	bool partly;    /* OPS_PART, where values are judged */
	bool twin;      /* OPS_TWIN, with CALLS_KEEP */
	bool keep;      /* with CALLS_KEEP: to be saved */
	bool weight;    /* a constant, or a view of one that an operator reads: with CALLS_ARENA, not to be saved */
	bool told;      /* reported as it was before */
	bool has_before, has_after;
	uint32_t value; /* of the contract, NONE */
	uint32_t name;
	int64_t at;       /* the reported element (call_record.v.at); 0: none */
	const void *copy; /* its bytes as they were before the call, in t->copies; NULL: none */
	struct tensor_stats before, after;
};

/* n bytes of zeros, n known and a multiple of 8. A compiler would emit `rep stos`, which takes longer than all the rest of a
 * small call. */
static inline __attribute__((always_inline)) void ops_clear(void *p, size_t n)
{
	typedef long long two __attribute__((vector_size(16), aligned(8), may_alias));
	size_t i = 0;
#pragma GCC unroll 32
	for (; i + 16 <= n; i += 16)
		*(two *)((char *)p + i) = (two){0};
	if (i < n)
		*(uint64_t *)((char *)p + i) = 0;
}

struct ops_kept; /* bundle.c */
struct jit_given;

struct ops_run {
	struct model *model;
	uintptr_t sp;
	uint64_t seq;
	uint32_t run, calls, next; /* next: expected index into the contract's calls */
	uint64_t begun, unlogged;  /* unlogged: its calls excluded by the filters */
	bool watched, failed, bad; /* bad: a NaN was produced in it */
	uint32_t precision;        /* a name: torch's settings; 0: unknown */
	bool told;                 /* its CALL_RUN_BEGIN is in the log */
	/* with CALLS_SCAN (cuda_scan.c) */
	bool scanned; /* on scan_stream, last */
	uint32_t counter;
	void *scan_stream;
	struct cuda_scanner *scanner;
	struct ops_kept *kept;
	struct ops_open {
		bool used; /* if false, nothing else is set */
		const struct ops_site *site;
		uintptr_t sp;
		uint64_t seq, begun, ended;
		uint32_t call, contract_call, name;
		bool looked;                   /* values are valid */
		uint64_t timed;                /* cuda_time.c; 0: no */
		const struct jit_given *given; /* of a call in Python (jit.h); else NULL */
		struct cuda_launch launch;
	} open;
};

struct ops_thread {
	uint32_t pid, tid;
	uint32_t depth;
	struct ops_run run[OPS_NESTED + 1]; /* [0]: outside any run */
	char *copies;                       /* of what the call overwrites */
	size_t cap_copies;
	uint32_t n_fetched;
	struct {
		void *handle;
		uintptr_t address;
	} fetched[OPS_FETCHED];
	uint32_t n_values;
	uint64_t values_of;    /* seq of the call they belong to */
	const int64_t *number; /* while a graph's run starts: its non-tensor inputs, by position; NULL */
	struct ops_value value[OPS_VALUES];
	uint32_t precision; /* of the run that starts: a name; 0: unknown */
	uintptr_t stack_top;
	void *stream;       /* device memory is read on it */
	bool readable;      /* if allowed */
	int read_error;     /* driver error */
	uint32_t slot;      /* cuda_reduce.c */
	uint64_t marked_of; /* cuda_scan.c: seq of the call */
	void *stage;        /* CUDA_STAGE bytes, mapped; NULL */
	/* With CALLS_SYNC: what the driver knew about parameters before the launch, or about an op's tensors before the call. After a fault
	 * it does not answer. */
	struct cuda_known {
		uint64_t base;
		size_t size; /* 0: unknown */
	} known[CUDA_PARAMS];
	uint64_t known_of;        /* seq of the call */
	int device;               /* -1: unknown */
	struct guard_call *guard; /* guard.c; NULL */
	_Alignas(16) char scratch[OPS_SCRATCH];
};

extern _Thread_local struct ops_thread *ops_self;
extern uint32_t ops_process; /* changes in a forked child */
struct ops_thread *ops_new_thread(void);
/* NULL: out of memory. */
static inline struct ops_thread *ops_thread(void)
{
	struct ops_thread *t = ops_self;
	return LIKELY(t && t->pid == ops_process) ? t : ops_new_thread();
}
static inline struct ops_thread *ops_thread_if_any(void) { return ops_self; }
void ops_threads_init(void);
/* Top of this thread's stack; 0 if unknown. */
uintptr_t ops_stack_top(struct ops_thread *t);

/* A record of this thread and run. */
static inline void ops_fill_record(const struct ops_thread *t, const struct ops_run *run, struct call_record *rec)
{
	rec->model = run->model->id;
	rec->run = run->run;
	rec->pid = t->pid;
	rec->tid = t->tid;
	rec->ticks = ops_ticks;
}
/* The start and end of a call. Members that such a record does not use are not set: that would take longer than the rest. */
static inline void ops_fill_call(const struct ops_open *o, struct call_record *r, enum call_what what, int32_t result, uint64_t took)
{
	r->what = what;
	r->call = o->call;
	r->contract_call = o->contract_call;
	r->name = o->name;
	r->result = result;
	r->took = took;
}
static inline void ops_append_end(const struct ops_thread *t, const struct ops_run *run, const struct ops_open *o, uint64_t now,
				  int32_t result)
{
	struct call_record r;
	ops_fill_call(o, &r, CALL_END, result, now - o->begun);
	ops_fill_record(t, run, &r);
	r.time = now;
	r.seq = o->seq;
	calls_append(ops_log(), &r);
}
/* Appends a record of this thread and run; rec's own members and what, time, seq are already set, time by ops_now(). */
void ops_append(const struct ops_thread *t, const struct ops_run *run, struct call_record *rec); /* log.c */

/* ---- run.c ---- */

/* The run that contains this stack position; ends those that were left. */
struct ops_run *ops_run_at(struct ops_thread *t, uintptr_t sp);
/* Around a run (entry.c); sp: a position on the stack, the same for both. step: what --step goes by, usually the run's number. n_in, n_out
 * SIZE_MAX: as many as in the contract. */
void ops_run_begin(struct model *m, uintptr_t sp, uint32_t number, uint32_t step, void **in, size_t n_in, void *stream);
int32_t ops_run_end(struct model *m, uintptr_t sp, int32_t result, void **out, size_t n_out, void *stream);
/* Finishes a call that never returned. */
void ops_left(struct ops_thread *t, struct ops_run *run);
/* Records the start of a run that is not in the log yet; if only some kernels are logged, it waits for the first of them. */
void ops_tell_run(const struct ops_thread *t, struct ops_run *run);

/* ---- ops.c ---- */

struct ops_go {
	void *target; /* NULL: do not call; return the words below */
	uint64_t words;
};
struct ops_go probe_before(struct ops_regs *r, const uint64_t *stack);
/* What to call again, with the arguments that r then has; else target NULL. */
struct ops_go probe_after(struct ops_regs *r);
void ops_fetched(void *handle, void *address);
/* The same for a call known to be call k of the contract (jit.c): its start, NULL if it is not requested. o->looked then says whether its
 * values are requested: they are read (ops_begin_values, ops_add_handle), and o->begun is set again. */
struct ops_open *ops_enter(struct ops_thread *t, struct ops_run *run, const struct ops_site *s, uint32_t k, uintptr_t sp);
void ops_leave(struct ops_thread *t, struct ops_run *run, struct ops_open *o, bool returned);
/* For a GPU call (o->launch is filled in), after its values were read: waits for it with CALLS_SYNC, and checks it. */
void ops_device_before(struct ops_thread *t, struct ops_run *run, struct ops_open *o);
void ops_device_after(struct ops_thread *t, struct ops_run *run, struct ops_open *o, int32_t result);

/* ---- values.c ---- */

/* Reads the arguments of a call into t->value. */
void ops_read_arguments(struct ops_thread *t, struct ops_run *run, const struct ops_open *o, const uint64_t *ints, const uint64_t *stack);
/* The same one by one, by handle: argument a of the contract's call, NONE if unknown. */
void ops_begin_values(struct ops_thread *t, const struct ops_open *o);
void ops_add_handle(struct ops_thread *t, const struct ops_run *run, const struct ops_open *o, uint32_t a, enum call_role role,
		    void *handle);
/* Fills in x->view, if possible. */
bool ops_look(const struct model *m, struct ops_value *x, bool again);
/* Examines them: reports before and after the call. */
void ops_values_before(struct ops_thread *t, struct ops_run *run, const struct ops_open *o);
void ops_values_after(struct ops_thread *t, struct ops_run *run, const struct ops_open *o);
/* A step of GradScaler ended. What was kept in a skipped one does not count (CALLS_KEEP). */
void ops_keep_step(bool skipped);
/* Examines the model's inputs or outputs. Returns whether any of them is bad. */
bool ops_model_values(struct ops_thread *t, struct ops_run *run, void **handle, size_t n, bool output);

/* ---- look.c: one tensor ---- */

/* False if it is not a plain tensor. .data on the CPU and CUDA. */
bool ops_view_of(const struct model *m, void *handle, struct ops_view *v);
/* The same for one with a known CPU address: half as many queries. */
bool ops_view_at(const struct model *m, void *handle, const void *data, struct ops_view *v);
/* The tensor as it was before the call, on the host, if it was copied (.copy). */
struct ops_view ops_view_before(const struct ops_value *x);
/* The element at linear index at. */
double ops_element(const struct ops_view *v, int64_t at);
/* False if it has no readable data. On a GPU (cuda_readable) only through cuda_copy(). */
bool ops_meta_of(const struct ops_view *v, struct tensor_meta *m, int64_t *bytes);
/* what: STATS_BAD, STATS_ALL. .known is false if there is nothing to count. */
void ops_stats(const struct ops_view *v, int what, struct tensor_stats *s);
bool ops_is_bad(const struct tensor_stats *s, int dtype);
bool ops_out_of_range(const struct tensor_stats *s, int dtype); /* as configured */
/* Reports one: a CALL_VALUE record, and the file if requested. `like` only has seq, call, contract_call and time. */
void ops_tell(struct ops_thread *t, const struct ops_run *run, const struct call_record *like, const char *call_name,
	      const struct ops_value *x, bool before, const struct tensor_stats *s);

/* ---- save.c ---- */

/* How a tensor is saved: .npy, or .safetensors (for dtypes that numpy lacks). CALL_UNSAVED: neither supports it. */
enum call_saved ops_saved_as(enum tensor_format format, const struct tensor_meta *m);
/* Writes it as a file, whose ending is call_saved_ending[as]. False on failure. scratch: OPS_SCRATCH bytes. */
bool ops_save(const char *path, enum call_saved as, const struct tensor_meta *m, const void *data, char *scratch);
/* Appends its elements to this process's file in the folder (CALLS_ARENA); *place: where. False on failure. */
bool ops_put(const char *path, uint32_t pid, const struct tensor_meta *m, const void *data, char *scratch, uint64_t *place);
/* May this much still be saved? Reports once if not. */
bool ops_may_save(uint32_t model, uint64_t bytes);

/* ---- give.c ---- */

/* Puts what the tool gave for this call into its tensors, before it or after it; takes from them what it asked for. */
void ops_give(struct ops_thread *t, const struct ops_run *run, const struct ops_open *o, bool after);

/* ---- bundle.c ---- */

/* Copies the inputs of a run, in case it turns out bad. NULL: not kept. */
struct ops_kept *ops_keep(const struct ops_thread *t, struct model *m, void **in, size_t n);
/* Records what went wrong in it; the first one is kept. */
void ops_keep_reason(struct ops_kept *k, const char *why);
void ops_write_bundle(struct ops_thread *t, const struct ops_run *run);
void ops_drop(struct ops_kept *k);

#endif
