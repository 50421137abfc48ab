/* ops.h - kernels and ops of a watched model: how their calls come to us, and what is written down of them (watch/calls.h).
 *
 * Only when a tool has made a call log. Then a model that is taken on (model.c) gets its slots of kernels (cpp_fused_relu_0: in
 * all recorded models the linker left a slot for each, though the model defines them itself) and of torch's ops changed to
 * stubs, before anybody can call them (sites.c). A stub is static code that carries its number to one trampoline (tramp_*.c),
 * which calls probe_before(), the function itself, probe_after() (ops.c).
 *
 * Arguments (values.c): an op's are handles, by its signature (model/contract/opsig.h). A kernel's are addresses. Generated
 * code asks for each address right before the call: aoti_torch_get_data_ptr is watched as well, when values are wanted. Constants are
 * asked for once, when the model is made: aoti_torch_create_tensor_from_blob is watched, too. Which buffer it is, and
 * whether it is written, says the contract, whose calls are followed by name within a Run (branches and loops may leave some out).
 *
 * A thread keeps what it is in (thread.c): the Runs it is in, by their place on the stack, so that one that was left by a
 * C++ exception is noticed by the next and nothing needs to be run by the unwinder.
 *
 * With CALLS_FAIL a kernel that wrote NaN (CALLS_INF: or infinities) though it read none ends the model's Run: kernels are left out
 * from then on, the next op or allocation returns a failure (generated code throws), and the Run returns a failure with our text.
 *
 * Kernels that are launched on a GPU: cuda.h.
 *
 * x86-64 and AArch64, and models for the CPU or CUDA; elsewhere, and for what was bound without a slot, a "stepped-aside" event says so.
 */
#ifndef PT2_PROBE_OPS_H
#define PT2_PROBE_OPS_H
#include "cuda.h"
#include "model/contract/callwords.h"
#include "watch/calls.h"
#include "probe.h"

#include <time.h>

#define OPS_SITES 4096 /* kernels and ops of all models that are loaded at a time */
#define OPS_STRING_(x) #x
#define OPS_STRING(x) OPS_STRING_(x)

/* ---- tramp_x86_64.c, tramp_aarch64.c, tramp_portable.c ---- */

/* The registers that the trampoline saved; its assembly knows this layout. */
struct ops_regs {
	uint64_t ints[CALL_INTS]; /* rdi rsi rdx rcx r8 r9; x0 to x7 */
	uint64_t result;          /* rax, x0; before the call rax, x8 */
	union {
		uint64_t site;         /* before */
		struct ops_open *open; /* set by probe_before: what probe_after finishes; NULL: nothing */
	};
	uint64_t reals[2 * CALL_REALS]; /* xmm0 to xmm7, q0 to q7 */
	uint64_t second, zero;          /* rdx, x1 when it returned; nothing */
};

/* NULL for a machine that has no trampoline. */
void *ops_stub(uint32_t site);
/* Does a relocation of this type fill a slot with a function's address, and no more? Only such a slot can hold a stub instead. */
bool ops_slot_relocation(uint32_t type, int64_t addend);

/* ---- sites.c ---- */

enum site_kind {
	SITE_KERNEL,
	SITE_OP,
	SITE_PROXY,    /* aoti_torch_proxy_executor_call_function */
	SITE_GATE,     /* not written down; returns a failure in a Run that has failed */
	SITE_LAUNCH,   /* cuLaunchKernel and the like: calls of SITE_LAUNCHED (cuda.h) */
	SITE_LAUNCHED, /* a kernel on a GPU; no slot leads to it */
};

struct ops_site {
	void *target; /* what the slot would have held; NULL: a free place */
	struct model *model;
	const char *name; /* in the model's own string table */
	const char *sig;
	const struct cuda_form *form; /* of SITE_LAUNCH */
	enum site_kind kind;
	uint32_t name_id;
	uint32_t stack_words; /* of arguments, at most; NONE: not known */
	bool passes;          /* the filters, by its name */
};
extern struct ops_site ops_site[OPS_SITES];

#define OPS_FRESH 0x80 /* of an in_out_ptr: nothing has written it yet, its contents before mean nothing */

typedef int32_t ops_from_blob_fn(void *data, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset, int32_t dtype,
				 int32_t device, int32_t index, void **out);
typedef int32_t ops_from_blob_v2_fn(void *data, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset, int32_t dtype,
				    int32_t device, int32_t index, void **out, int32_t layout, const uint8_t *opaque, int64_t opaque_bytes);

/* A constant, by its address. Never changed but for what is in front; replaced by another. */
struct ops_constant {
	_Atomic bool told;   /* CALLS_CONSTANTS: once */
	_Atomic int scanned; /* 0; 1: somebody is at it; 2: stats are valid */
	struct tensor_stats stats;
	struct ops_constant *next; /* of all, for the end */
	uintptr_t address;
	int32_t dtype, device, device_index, n_dim;
	int64_t size[]; /* and strides behind */
};
struct ops_constants {
	struct ops_constants *older;
	size_t cap, n;
	_Atomic(struct ops_constant *) slot[];
};

/* The part of a model that is about its calls; the rest is model.c's. */
struct ops {
	/* The functions that the slots held. */
	int32_t (*get_data_ptr)(void *tensor, void **data);
	ops_from_blob_fn *from_blob;
	ops_from_blob_v2_fn *from_blob_v2;
	int32_t (*is_defined)(void *tensor, bool *defined); /* may be NULL */
	/* of contract.call[k] and contract.value[v] */
	uint32_t *call_site;  /* OPS_SITES: none */
	uint32_t *call_name;  /* names of the log */
	uint8_t *call_passes; /* the filters: bit 0 by its name, bit 1 by one of its buffers */
	bool skips;           /* they leave calls of a model for the CPU out */
	uint32_t *value_name;
	bool *value_passes;
	uint8_t *arg_role; /* of contract.arg[a]: enum call_role, with OPS_FRESH */
	_Atomic(struct ops_constants *) constants;
	struct ops_constant *all_constants;
	pthread_mutex_t lock; /* for adding to them */
	_Atomic uint32_t bundles;
	/* of a model for a GPU (cuda.h) */
	bool cuda;
	uint32_t launched; /* the site of launches that the contract does not tell of; OPS_SITES: nothing is launched */
	int32_t (*current_stream)(int32_t device, void **stream); /* may be NULL, like the following */
	int32_t (*get_storage_size)(void *tensor, int64_t *bytes);
	int32_t (*get_storage_offset)(void *tensor, int64_t *elements);
};

/* Take on the calls of a model (model.c holds the lock). Does nothing when no calls are asked for. */
void ops_take_on(struct model *m);
void ops_forget(struct model *m);
/* The functions of the driver, and of libtorch for CUDA, that a model for a GPU is looked at with. */
void ops_open_device(struct model *m);
/* The part of that which is the contract's alone: names, filters, roles. False when there is no memory. */
bool ops_take_contract(struct model *m);
struct ops_constant *ops_find_constant(const struct ops *ops, uintptr_t address);
void ops_after_fork(struct ops *ops);
void ops_learn_constant(struct ops *ops, void *data, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset,
			int32_t dtype, int32_t device, int32_t device_index);

/* ---- log.c ---- */

/* Map the log if the folder has one; model.c's lock is held. NULL: no calls are asked for. It stays mapped for good. */
struct calls_log *ops_log_open(void);
extern struct calls_log *ops_the_log;
static inline struct calls_log *ops_log(void) { return ops_the_log; }
static inline const struct calls_config *ops_config(void) { return &ops_log()->config; }
static inline uint32_t ops_want(void) { return ops_config()->want; }
/* Does anything want tensors? */
static inline bool ops_wants_values(void) { return ops_want() & ~(uint32_t)CALLS_NAMES; }
/* ... and what is in them, or in the model's constants? */
static inline bool ops_wants_contents(void)
{
	return !(ops_want() & CALLS_SYNC) || ops_want() & ~(uint32_t)(CALLS_NAMES | CALLS_SYNC | CALLS_INPUTS | CALLS_CONSTANTS);
}
/* A moment, as records are given it: ticks or nanoseconds. */
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

int files_make(const char *path);                /* a new one, for writing; -1 and errno */
void files_unmake(const char *path);             /* that one again */
void files_keep(int keeper, const char *folder); /* from now on by the keeper */

/* ---- thread.c ---- */

#define OPS_NESTED 8    /* Runs inside of another */
#define OPS_FETCHED 512 /* addresses asked for between two kernels */
#define OPS_VALUES 512  /* tensors of a call; more are not looked at */
#define OPS_SCRATCH (64u << 10)
#define OPS_NO_NUMBER INT64_MIN

struct ops_view {
	void *handle; /* NULL: known by address only */
	const void *data;
	const int64_t *size, *stride;
	int64_t n_dim;
	int32_t dtype, device, device_index;
};

struct ops_value {
	struct ops_view view;
	void **result; /* where an op puts the handle; NULL: view.handle, or view.data of a constant */
	struct ops_constant *constant;
	uint8_t role;   /* enum call_role */
	uint8_t arg;    /* which argument; beyond 255: 255 */
	uint8_t param;  /* of a launch: which parameter; of a kernel: which argument */
	bool seen;      /* view is filled in */
	bool addressed; /* the model itself asked for .view.data: a strided tensor on the CPU */
	bool launched;  /* ... of a launch, or a function that launches: on whatever device */
	bool buffer;    /* of the contract, which the model has made itself: a strided tensor */
	bool passes;    /* the filters */
	bool fresh;     /* OPS_FRESH */
	bool told;      /* as it was before */
	bool has_before, has_after;
	uint32_t value; /* of the contract, NONE */
	uint32_t name;
	int64_t at; /* the element that is told (call_record.v.at); 0: none */
	struct tensor_stats before, after;
};

/* n bytes of zeros, n known and a multiple of 8. A compiler would write `rep stos`, which takes longer than all the rest of a
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

struct ops_run {
	struct model *model;
	uintptr_t sp;
	uint64_t seq;
	uint32_t run, calls, next; /* next: index into the contract's calls that is expected */
	uint64_t begun, unlogged;  /* unlogged: its calls that the filters left out */
	bool watched, failed, bad; /* bad: a NaN was made in it */
	bool told;                 /* its CALL_RUN_BEGIN is in the log */
	struct ops_kept *kept;
	struct ops_open {
		bool used; /* false: nothing else is set */
		const struct ops_site *site;
		uintptr_t sp;
		uint64_t seq, begun, ended;
		uint32_t call, contract_call, name;
		bool looked; /* values are valid */
		struct cuda_launch launch;
	} open;
};

struct ops_thread {
	uint32_t pid, tid;
	uint32_t depth;
	struct ops_run run[OPS_NESTED + 1]; /* [0]: outside of any */
	uint32_t n_fetched;
	struct {
		void *handle;
		uintptr_t address;
	} fetched[OPS_FETCHED];
	uint32_t n_values;
	uint64_t values_of;    /* seq of the call whose they are */
	const int64_t *number; /* while a Run of a graph begins: its inputs that are no tensors, by place; NULL */
	struct ops_value value[OPS_VALUES];
	uintptr_t stack_top;
	void *stream;   /* device memory is read on it, */
	bool readable;  /* if it may be */
	int read_error; /* of the driver */
	uint32_t slot;  /* cuda_reduce.c */
	void *stage;    /* CUDA_STAGE bytes; NULL */
	/* With CALLS_SYNC: what the driver knew of parameters before the launch, of an op's tensors before the call. After a fault
	 * it answers nothing. */
	struct cuda_known {
		uint64_t base;
		size_t size; /* 0: not known */
	} known[CUDA_PARAMS];
	uint64_t known_of; /* seq of the call */
	int device;        /* -1: not known */
	_Alignas(16) char scratch[OPS_SCRATCH];
};

extern _Thread_local struct ops_thread *ops_self;
extern uint32_t ops_process; /* changes in a forked child */
struct ops_thread *ops_new_thread(void);
/* NULL when there is no memory. */
static inline struct ops_thread *ops_thread(void)
{
	struct ops_thread *t = ops_self;
	return LIKELY(t && t->pid == ops_process) ? t : ops_new_thread();
}
static inline struct ops_thread *ops_thread_if_any(void) { return ops_self; }
void ops_threads_init(void);
/* The Run that this place of the stack is in; those that were left are ended. */
struct ops_run *ops_run_at(struct ops_thread *t, uintptr_t sp);
/* Top of this thread's stack; 0 when it is not known. */
uintptr_t ops_stack_top(struct ops_thread *t);

/* Around a Run (entry.c); sp: a place on the stack, the same for both. step: what --step goes by, mostly the Run's number. n_in, n_out
 * SIZE_MAX: as many as the contract says. */
void ops_run_begin(struct model *m, uintptr_t sp, uint32_t number, uint32_t step, void **in, size_t n_in, void *stream);
int32_t ops_run_end(struct model *m, uintptr_t sp, int32_t result, void **out, size_t n_out, void *stream);

/* Our functions for what models of index i import (entry.c). */
enum ops_import { OPS_GET_DATA_PTR, OPS_FROM_BLOB, OPS_FROM_BLOB_V2, OPS_IMPORTS };
void *ops_import_address(size_t i, enum ops_import which);

/* ---- ops.c ---- */

struct ops_go {
	void *target; /* NULL: do not call, return words */
	uint64_t words;
};
struct ops_go probe_before(struct ops_regs *r, const uint64_t *stack);
void probe_after(struct ops_regs *r);
void ops_fetched(void *handle, void *address);
/* The same of a call that is known to be call k of the contract (jit.c): its begin, NULL when nobody asks for it. Then o->looked says
 * whether its values are wanted: they are read (ops_begin_values, ops_add_handle), and o->begun is set once more. */
struct ops_open *ops_enter(struct ops_thread *t, struct ops_run *run, const struct ops_site *s, uint32_t k, uintptr_t sp);
void ops_leave(struct ops_thread *t, struct ops_run *run, struct ops_open *o, bool returned);
/* For a call that goes to a GPU (o->launch is filled in), when its values have been read: waits for it with CALLS_SYNC, and looks at it. */
void ops_device_before(struct ops_thread *t, struct ops_run *run, struct ops_open *o);
void ops_device_after(struct ops_thread *t, struct ops_run *run, struct ops_open *o, int32_t result);
/* Finish a call that never returned. */
void ops_left(struct ops_thread *t, struct ops_run *run);
/* The same for the begin of a Run; those in a log that wants only some kernels wait for the first of them. */
void ops_tell_run(const struct ops_thread *t, struct ops_run *run);
/* Append a record of this thread and Run; rec's own members and what, time, seq are filled in, time by ops_now(). */
void ops_append(const struct ops_thread *t, const struct ops_run *run, struct call_record *rec);

/* ---- values.c ---- */

/* The arguments of a call into t->value. */
void ops_read_arguments(struct ops_thread *t, struct ops_run *run, const struct ops_open *o, const uint64_t *ints, const uint64_t *stack);
/* The same one by one, by their handles: argument a of the contract's call, NONE where that is not known. */
void ops_begin_values(struct ops_thread *t, const struct ops_open *o);
void ops_add_handle(struct ops_thread *t, const struct ops_run *run, const struct ops_open *o, uint32_t a, enum call_role role,
		    void *handle);
/* Fill in x->view, if that can be done. */
bool ops_look(const struct model *m, struct ops_value *x, bool again);
/* Look at them: what there is to tell before, after. */
void ops_values_before(struct ops_thread *t, struct ops_run *run, const struct ops_open *o);
void ops_values_after(struct ops_thread *t, struct ops_run *run, const struct ops_open *o);
/* The model's inputs or outputs. Returns whether any of them is bad. */
bool ops_model_values(struct ops_thread *t, struct ops_run *run, void **handle, size_t n, bool output);

/* ---- look.c: one tensor ---- */

/* False when it is no plain tensor. .data on the CPU and CUDA. */
bool ops_view_of(const struct model *m, void *handle, struct ops_view *v);
/* The same of one whose address on the CPU is known: half of the questions. */
bool ops_view_at(const struct model *m, void *handle, const void *data, struct ops_view *v);
/* The element at linear index at. */
double ops_element(const struct ops_view *v, int64_t at);
/* False when it has no data that can be read. On a GPU (cuda_readable) that is by cuda_copy() only. */
bool ops_meta_of(const struct ops_view *v, struct tensor_meta *m, int64_t *bytes);
/* what: STATS_BAD, STATS_ALL. .known false when there is nothing to count. */
void ops_stats(const struct ops_view *v, int what, struct tensor_stats *s);
bool ops_is_bad(const struct tensor_stats *s, int dtype);
bool ops_out_of_range(const struct tensor_stats *s, int dtype); /* of the configuration */
/* Tell of one: a CALL_VALUE record, and the file if that is asked for. `like` has seq, call, contract_call and time, and no more. */
void ops_tell(struct ops_thread *t, const struct ops_run *run, const struct call_record *like, const char *call_name,
	      const struct ops_value *x, bool before, const struct tensor_stats *s);

/* ---- save.c ---- */

/* How a tensor is saved: .npy, or .safetensors (what numpy has no type for). CALL_UNSAVED: neither has it. */
enum call_saved ops_saved_as(enum tensor_format format, const struct tensor_meta *m);
/* Writes it as a file, whose ending is call_saved_ending[as]. False on failure. scratch: OPS_SCRATCH bytes. */
bool ops_save(const char *path, enum call_saved as, const struct tensor_meta *m, const void *data, char *scratch);
/* May this much still be saved? Said once when not. */
bool ops_may_save(uint32_t model, uint64_t bytes);

/* ---- bundle.c ---- */

/* Copies of the inputs of a Run, in case it turns out bad. NULL: none kept. */
struct ops_kept *ops_keep(const struct ops_thread *t, struct model *m, void **in, size_t n);
/* Remembers what went wrong in it; the first is kept. */
void ops_keep_reason(struct ops_kept *k, const char *why);
void ops_write_bundle(struct ops_thread *t, const struct ops_run *run);
void ops_drop(struct ops_kept *k);

#endif
