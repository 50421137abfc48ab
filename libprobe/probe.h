/* probe.h - libpt2probe.so: watches the AOTInductor models of an unsuspecting process.
 *
 * Preloaded (LD_PRELOAD) by a tool, see watch/live.h. In a process without a model it does nothing: no thread, no
 * descriptor, no signal handler, no constructor.
 *
 * How a model is recognised: while it is loaded, before dlopen() returns, so that nobody has a pointer into it yet.
 * DT_INIT of every object linked with glibc's crti.o calls __gmon_start__, a weak symbol that is undefined in a program not
 * built for gprof (sysdeps/x86_64/crti.S; in all releases). We define it (recognise.c), and examine the object that
 * called: if it exports AOTInductorModelContainerRun or AOTInductorModelRun, it is a model; so it is with
 * inductor_entry_impl (torch.compile with cpp_wrapper). One linked without
 * crti.o is recognised by the torch functions that it calls: aoti_torch_dtype_float32() and the like, in its initialisers where it has
 * buffers or dtypes to check (torch 2.13, torch/csrc/inductor/aoti_runtime/utils.h, CACHE_TORCH_DTYPE), or
 * aoti_torch_device_type_cpu(), when a container is created (model_base.h, parse_device_str). By then its Run may have been
 * fetched; a run entered past our functions is recognised by aoti_torch_grad_mode_is_enabled(), and counted.
 *
 * How it is watched. Callers get the entry points by dlsym(). So the values of these symbols in the model's own symbol
 * table in memory are changed to our functions (object.c): no code is patched, nothing is hooked in libtorch or in
 * the dynamic loader, and the change disappears when the model is unloaded. A program linked against the model had its slots
 * filled before any initialiser ran: those slots are changed as well. Our functions (entry.c) must know for which model
 * they are called: there are PROBE_MODELS of each, one per loaded model.
 *
 * Kernels and ops of the model are watched as well if the tool requests it: ops.h.
 *
 * Files, from the bottom: object.c, talk.c, log.c, thread.c, tables.c, torch.c; cuda.c and what reads a GPU's memory; look.c, values.c; the
 * rest of cuda_*.c, run.c; ops.c and tramp_*.c; sites.c; model.c, jit.c; call.c, entry.c; recognise.c. None calls one further up.
 *
 * Rules for code in a target process: nothing is exported but the functions above and, for pt2-runner, pt2_probe_settle (exports.map);
 * errno is saved; a thread that is inside our code is never intercepted again (probe_enter); a call that fits its contract takes no lock
 * and allocates nothing; anything not understood is left alone, with a "stepped-aside" event; results are never changed, except for
 * --fail and, in a process of our own, CALLS_GIVE.
 *
 * Not seen: models in another namespace (dlmopen), and models stripped of their exports.
 */
#ifndef PT2_PROBE_LIB_H
#define PT2_PROBE_LIB_H
#include <elf.h>
#include <link.h>
#include <pthread.h>

#include "model/check/check.h"
#include "model/contract/contract.h"
#include "watch/event.h"
#include "precheck.h"

#define PROBE_MODELS 256 /* loaded at a time in one process */

struct model;

/* ---- object.c: loaded ELF objects ---- */

struct object {
	uintptr_t base;       /* added to the file's addresses */
	uintptr_t start, end; /* of its mapping */
	const char *name;     /* owned by the loader, "" for the program; valid while loaded */
	const ElfW(Dyn) * dynamic;
	ElfW(Sym) * sym;
	const char *str;
	size_t str_size;
	const uint32_t *gnu_hash, *hash;
};

/* The object that contains this address. */
bool object_at(const void *address, struct object *o);
/* A symbol that the object defines, by the object's own hash table; NULL. */
ElfW(Sym) * object_export(const struct object *o, const char *name);
static inline void *object_address(const struct object *o, const ElfW(Sym) * s) { return (void *)(o->base + s->st_value); }
/* Makes dlsym() return `to` for this symbol. -1 and errno. */
int object_redirect(const struct object *o, ElfW(Sym) * s, const void *to);
/* Writes a word of the loader's (a slot), whatever protects its page. -1 and errno. */
int object_write(uintptr_t *at, uintptr_t value);
/* The object's slots with a function's address, each with its symbol. */
void object_slots(const struct object *o, void (*slot)(void *user, uintptr_t *at, const ElfW(Sym) * s, const char *name), void *user);
/* Does a relocation of this type only fill a slot with a function's address? Only such a slot can hold a stub instead. (object_x86_64.c,
 * object_aarch64.c, object_portable.c) */
bool object_fills_slot(uint32_t type, int64_t addend);
/* In objects linked against o, changes slots that contain `from` to `to`. */
void object_rebind(const struct object *o, const char *symbol, const void *from, const void *to);

/* All loaded objects, the program first. The loader's lock is held: fn must not load or look up anything. */
void object_each(void (*fn)(void *user, const struct object *o), void *user);
/* Total number loaded so far. */
uint64_t object_loaded(void);

/* ---- thread.c ---- */

/* Is this thread already inside our code? If not, it now is. */
extern _Thread_local bool probe_inside;
static inline bool probe_enter(void)
{
	if (probe_inside)
		return false;
	return probe_inside = true;
}
static inline void probe_leave(void) { probe_inside = false; }
/* Our function for a run was called, and the run has not started. */
extern _Thread_local bool probe_expects_run;
/* The text for AOTInductorGetLastError in this thread, NULL if we did not reject the last call. */
const char *model_refusal(const struct model *m);
/* The model that rejected it. */
extern _Thread_local const struct model *probe_rejected_by;
/* Sets both. */
void model_refuse(const struct model *m, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- torch.c: libtorch's functions ---- */

/* All of libtorch's functions that the probe looks up by name, with the library that has them. CUDA's are in a library of their own, on
 * which libtorch_cpu.so does not depend; an AOTInductor model for CUDA does, but not a graph of torch.compile, and Python loads all of
 * them with RTLD_LOCAL. tests/data/torch-symbols.txt has the places in a real wheel (test_symbols). */
#define PROBE_TORCH_LIBRARIES(X) \
	X(CPU, "libtorch_cpu.so") \
	X(CUDA, "libtorch_cuda.so")
/* clang-format off */
#define PROBE_TORCH_FUNCTIONS(X) \
	X(get_dtype, CPU) X(get_dim, CPU) X(get_sizes, CPU) X(get_strides, CPU) X(get_device_type, CPU) X(get_device_index, CPU) \
	X(get_layout, CPU) X(get_data_ptr, CPU) X(delete_tensor_object, CPU) X(is_defined, CPU) X(get_storage_size, CPU) \
	X(get_storage_offset, CPU) X(get_current_device_index, CPU) X(get_current_cuda_stream, CUDA)
enum probe_torch {
#define PROBE_TORCH_ID(name, library) TORCH_##name,
	PROBE_TORCH_FUNCTIONS(PROBE_TORCH_ID)
#undef PROBE_TORCH_ID
};
/* clang-format on */
/* "aoti_torch_get_dtype" */
extern const char *const probe_torch_name[];

/* libtorch's functions; those of the model's own dependencies (torch/csrc/inductor/aoti_torch/c/shim.h). 0 is success. */
struct torch_functions {
	int32_t (*get_dtype)(void *tensor, int32_t *dtype);
	int32_t (*get_dim)(void *tensor, int64_t *dim);
	int32_t (*get_sizes)(void *tensor, int64_t **sizes);
	int32_t (*get_strides)(void *tensor, int64_t **strides);
	int32_t (*get_device_type)(void *tensor, int32_t *type);
	int32_t (*get_device_index)(void *tensor, int32_t *index); /* may be NULL */
	int32_t (*get_layout)(void *tensor, int32_t *layout);      /* may be NULL */
	int32_t (*get_data_ptr)(void *tensor, void **data);
	int32_t (*delete_tensor)(void *tensor);
};

/* libtorch's functions, as this object would find them. False if there is no libtorch. */
bool torch_find(const struct object *o, struct torch_functions *t);
/* Where the model itself would find this function; with o, also in libtorch's libraries, else in any object of the process: also one that
 * was loaded with RTLD_LOCAL. */
void *torch_import(const struct object *o, const char *name);

/* ---- model.c: models ---- */

enum entry {
	ENTRY_RUN,
	ENTRY_RUN_SINGLE,
	ENTRY_MODEL_RUN,
	ENTRY_INDUCTOR, /* of torch.compile with cpp_wrapper: void inductor_entry_impl(AtenTensorHandle *in, AtenTensorHandle *out) */
	ENTRY_LAST_ERROR,
	ENTRIES
};
extern const char *const entry_name[ENTRIES];

/* loader.c: "x.pt2", "x.pt2:decoder": the package that torch's loader is just unpacking in this thread; NULL. The caller frees it. */
char *probe_package(void);

#define PROBE_SEEN 32
struct seen {
	uint64_t what;
	uint32_t times;
};

struct model {
	_Atomic bool used;
	struct object object;
	char *path;  /* as known to the process */
	uint32_t id; /* LIVE_NO_MODEL if there was no slot left */
	struct live_count *count, own_count;
	void *real[ENTRIES];
	struct torch_functions torch;
	bool has_contract; /* set once, before the first call */
	struct contract contract;
	struct precheck check;
	_Atomic bool advised; /* advice (not a mismatch) is reported once */
	_Atomic bool opaque;  /* inputs that cannot be examined were given: reported once */
	pthread_mutex_t lock; /* of seen */
	struct seen seen[PROBE_SEEN];
	uint32_t n_seen;
	struct ops *ops;  /* its kernels and ops (ops.h); NULL: not watched */
	const char *text; /* the generated Python of a graph of torch.compile (jit.c); NULL: a compiled library, with wrapper.cpp */
	char *program;    /* of a graph, with CALLS_RECORD: torch's program that runs its FX graph, without values; NULL: unknown */
	char *table;      /* of a graph, with CALLS_RECORD: the file with its contract, in the tool's folder; NULL: unknown */
};

extern struct model models[PROBE_MODELS];

/* Our functions for the entry points of models[i], and for what it imports (entry.c). */
/* The last three only with CALLS_BOUNDS. */
enum ops_import { OPS_GET_DATA_PTR, OPS_FROM_BLOB, OPS_FROM_BLOB_V2, OPS_EMPTY, OPS_REINTERPRET, OPS_DELETE, OPS_IMPORTS };
struct probe_entries {
	void *(*entry)(size_t i, enum entry which);
	void *(*import)(size_t i, enum ops_import which);
};

/* Does it export a Run? */
bool model_like(const struct object *o);
/* Adds a model, if it is new. */
void model_look(const struct object *o, const struct probe_entries *ours);
/* Counts a run that was entered past our functions, by this code of a model. */
void model_entered(const void *caller);

/* ---- call.c: model calls ---- */

/* Before a call: true if it may run. n is SIZE_MAX if the caller did not say. *number: number of earlier calls of this model. */
bool model_admit(struct model *m, enum entry entry, void **inputs, size_t n, uint64_t *number);

/* ---- entry.c ---- */

void *entry_address(size_t i, enum entry which);
void *ops_import_address(size_t i, enum ops_import which);

/* ---- talk.c: the tool ---- */

/* Is a tool watching? Reads the environment once. */
bool talk_on(void);
bool talk_fail(void);
/* Should inputs be checked? */
bool talk_check(void);
/* The path of a file in the folder. */
bool talk_path(char *path, size_t room, const char *name);
/* Writes, even under a file size limit. -1 and errno. */
int talk_write(int fd, const void *p, size_t n);
/* The same at a place in the file, which several threads do at once; at < 0: where the file is. */
int talk_write_at(int fd, const void *p, size_t n, int64_t at);
/* A slot of the counters, or NULL if none is available. */
struct live_count *talk_slot(uint32_t *id);
/* Asks for the contract of the model. -1 and err. */
int talk_contract(const char *path, uint64_t dev, uint64_t ino, struct buf *json, struct err *err);
/* From now on events and counts need no file to be opened. Returns the descriptor of the events; -1: impossible. */
int talk_keep(void);
/* Starts an event in b; add members, then end it. model: LIVE_NO_MODEL for none. */
void event_begin(struct json_out *o, struct buf *b, enum live_kind kind, uint32_t model);
void event_end(struct json_out *o, struct buf *b);
void event_aside(uint32_t model, const char *text);

#endif
