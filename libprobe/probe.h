/* probe.h - libpt2probe.so: watches the AOTInductor models of a process that knows nothing of it.
 *
 * Preloaded (LD_PRELOAD) by a tool, see watch/live.h. In a process that uses no model it does nothing: no thread, no
 * descriptor, no signal handler, no constructor.
 *
 * How a model is recognised: as it is loaded, before dlopen() has returned, so that nobody holds a pointer into it yet.
 * DT_INIT of every object that was linked with glibc's crti.o calls __gmon_start__, a weak symbol that is nobody's in a program
 * that was not built for gprof (sysdeps/x86_64/crti.S; in all releases). We define it (recognise.c), and look at the object that
 * called: if it exports AOTInductorModelContainerRun or AOTInductorModelRun, it is a model; so it is with
 * inductor_entry_impl (torch.compile with cpp_wrapper). One that was linked without
 * crti.o is known by the torch functions that it calls: aoti_torch_dtype_float32() and the like, in its initialisers where it has
 * buffers or dtypes to check (torch 2.13, torch/csrc/inductor/aoti_runtime/utils.h, CACHE_TORCH_DTYPE), or
 * aoti_torch_device_type_cpu(), when a container is made (model_base.h, parse_device_str). By then its Run may have been
 * fetched; a Run that is entered past our functions is known by aoti_torch_grad_mode_is_enabled(), and counted.
 *
 * How it is watched. Callers get the entry points by dlsym(). So the values of these symbols in the model's own symbol
 * table in memory are changed to our functions (object.c): no code is patched, nothing is hooked in libtorch or in
 * the dynamic loader, and an unloaded model takes the change with it. A program linked against the model had its slots
 * filled before any initialiser ran: those slots are changed as well. Our functions (entry.c) must know for which model
 * they are called: there are PROBE_MODELS of each, one per model that is loaded at a time.
 *
 * Kernels and ops of the model are watched as well when the tool asks for it: ops.h.
 *
 * A guest's rules: nothing exported but the functions above and, for pt2-runner, pt2_probe_settle (exports.map); errno is saved; a thread
 * that is in our code is never taken in again (probe_enter); a call that fits its contract takes no lock and no memory; whatever is
 * not understood is left alone, with a "stepped-aside" event; results are never changed, but for --fail.
 *
 * Not seen: models in another namespace (dlmopen), and models that were stripped of their exports.
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

#define PROBE_MODELS 256 /* loaded in one process at a time */

/* ---- object.c: loaded ELF objects ---- */

struct object {
	uintptr_t base;       /* what is added to the file's addresses */
	uintptr_t start, end; /* of its mapping */
	const char *name;     /* the loader's own, "" for the program; valid while it is loaded */
	const ElfW(Dyn) * dynamic;
	ElfW(Sym) * sym;
	const char *str;
	size_t str_size;
	const uint32_t *gnu_hash, *hash;
};

/* The object that this address lies in. */
bool object_at(const void *address, struct object *o);
/* A symbol that the object defines, by the object's own hash table; NULL. */
ElfW(Sym) * object_export(const struct object *o, const char *name);
static inline void *object_address(const struct object *o, const ElfW(Sym) * s) { return (void *)(o->base + s->st_value); }
/* Make dlsym() give `to` for this symbol. -1 and errno. */
int object_redirect(const struct object *o, ElfW(Sym) * s, const void *to);
/* A word of the loader's (a slot), whatever protects its page. -1 and errno. */
int object_write(uintptr_t *at, uintptr_t value);
/* Slots of the object's that hold a function's address, each with the symbol it is of. */
void object_slots(const struct object *o, void (*slot)(void *user, uintptr_t *at, const ElfW(Sym) * s, const char *name), void *user);
/* Slots of objects that were linked against o and already hold `from` get `to`. */
void object_rebind(const struct object *o, const char *symbol, const void *from, const void *to);

/* All that are loaded, the program first. The loader's lock is held: fn must not load or look up anything. */
void object_each(void (*fn)(void *user, const struct object *o), void *user);
/* How many have been loaded so far, ever. */
uint64_t object_loaded(void);

/* ---- model.c: a model is seen ---- */

enum entry {
	ENTRY_RUN,
	ENTRY_RUN_SINGLE,
	ENTRY_MODEL_RUN,
	ENTRY_INDUCTOR, /* of torch.compile with cpp_wrapper: void inductor_entry_impl(AtenTensorHandle *in, AtenTensorHandle *out) */
	ENTRY_LAST_ERROR,
	ENTRIES
};
extern const char *const entry_name[ENTRIES];

/* libtorch's own; those of the model's own dependencies (torch/csrc/inductor/aoti_torch/c/shim.h). 0 is success. */
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

#define PROBE_SEEN 32
struct seen {
	uint64_t what;
	uint32_t times;
};

struct model {
	_Atomic bool used;
	struct object object;
	char *path;  /* as the process knows it */
	uint32_t id; /* LIVE_NO_MODEL when there was no slot left */
	struct live_count *count, own_count;
	void *real[ENTRIES];
	struct torch_functions torch;
	bool has_contract; /* set once, before the first call */
	struct contract contract;
	struct precheck check;
	_Atomic bool advised; /* what is no mismatch is told once */
	_Atomic bool opaque;  /* inputs were given that cannot be looked at: told once */
	pthread_mutex_t lock; /* of seen */
	struct seen seen[PROBE_SEEN];
	uint32_t n_seen;
	struct ops *ops;  /* its kernels and ops (ops.h); NULL: not watched */
	const char *text; /* the generated Python of a graph of torch.compile (jit.c); NULL: a compiled library, whose is wrapper.cpp */
	char *program;    /* of a graph, with CALLS_RECORD: torch's program that runs its FX graph, without values; NULL: not known */
};

extern struct model models[PROBE_MODELS];

/* Does it export a Run? */
bool model_like(const struct object *o);
/* A model: take it on, if it is not known yet. */
void model_look(const struct object *o);
/* A Run that is not through our functions was entered by this code of a model: count it. */
void model_entered(const void *caller);

/* ---- call.c: a model is called ---- */

/* Before a call: true when it may run. n is SIZE_MAX when the caller did not say. *number: how many calls of this model were
 * before it. */
bool model_admit(struct model *m, enum entry entry, void **inputs, size_t n, uint64_t *number);
/* libtorch's functions, where this object would find them. False when there is no libtorch. */
bool model_find_torch(const struct object *o, struct torch_functions *t);
/* Where the model itself would find this function. */
void *model_import(const struct object *o, const char *name);
/* The text that AOTInductorGetLastError shall give in this thread, NULL when the last call was not refused by us. */
const char *model_refusal(const struct model *m);
/* Let it say this. */
void model_refuse(const struct model *m, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- entry.c ---- */

/* Our function for this entry point of models[i]. */
void *entry_address(size_t i, enum entry entry);

/* ---- talk.c: the tool ---- */

/* Is a tool watching? Reads the environment once. */
bool talk_on(void);
bool talk_fail(void);
/* Are inputs to be checked? */
bool talk_check(void);
/* The path of a file in the folder. */
bool talk_path(char *path, size_t room, const char *name);
/* Write, also under a limit of file sizes. -1 and errno. */
int talk_write(int fd, const void *p, size_t n);
/* A slot of the counters, or NULL when there is none to be had. */
struct live_count *talk_slot(uint32_t *id);
/* Ask for the contract of the model. -1 and err. */
int talk_contract(const char *path, uint64_t dev, uint64_t ino, struct buf *json, struct err *err);
/* Begin an event in b; add members, then end it. model: LIVE_NO_MODEL for none. */
void event_begin(struct json_out *o, struct buf *b, enum live_kind kind, uint32_t model);
void event_end(struct json_out *o, struct buf *b);
void event_aside(uint32_t model, const char *text);

/* ---- recognise.c ---- */

/* Is this thread in our code already? If not, it is from now on. */
extern _Thread_local bool probe_inside;
static inline bool probe_enter(void)
{
	if (probe_inside)
		return false;
	return probe_inside = true;
}
/* Our function for a Run has been called, and the Run has not begun. */
extern _Thread_local bool probe_expects_run;
static inline void probe_leave(void) { probe_inside = false; }

#endif
