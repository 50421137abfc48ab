/* binprobe_child.h - shared by the parts of the prober that run in its child (binprobe*.c only). docs/user/PROBE.md has the whole picture.
 *
 *     binprobe.c          the parent: starts the child, reads its result
 *     binprobe_sandbox.c  limits and filters
 *     binprobe_load.c     an ELF loader that runs nothing; binprobe_stub.c stubs for imports and kernels
 *     binprobe_x86_64.c   (binprobe_aarch64.c) their code
 *     binprobe_fake.c     the world; torch's C functions on tensors without memory; calls
 *     binprobe_ops.c      what stubs call: torch's operators, kernels, CUDA
 *     binprobe_rule.c     the result of an operator, by its rule in core/aten
 *     binprobe_run.c      one run of the model and its complaint
 *     binprobe_walk.c     runs until there is none; binprobe_ways.c branches, and the steps in their order
 *     binprobe_fit.c      observed numbers -> formulas
 *     binprobe_contract.c everything -> a contract
 *
 * One model per process: the state of the fakes is in one `struct world`, since the model passes them no pointer to it.
 */
#ifndef PT2_BINPROBE_CHILD_H
#define PT2_BINPROBE_CHILD_H
#include "model/contract/callwords.h"
#include "model/contract/contract.h"
#include "model/binprobe/binprobe.h"

/* How far the child got, in memory shared with it. The child's part is written by untrusted code: clamp it. */
enum binprobe_phase {
	PHASE_SANDBOX,
	PHASE_LIBRARIES, /* libstdc++ is loaded */
	PHASE_MAP,
	PHASE_INIT, /* from here on the file's own code runs */
	PHASE_CREATE,
	PHASE_RUN,
	PHASE_ANSWER,
	N_PHASES
};
struct aten_op;
struct binprobe_shared {
	volatile uint32_t phase;
	volatile uint32_t refused; /* refused system call + 1 */
};

struct binprobe_job {
	struct slice so;
	const struct binprobe_options *o;
	struct binprobe_shared *shared;
	int answer_fd;
	uint64_t address_space; /* of the parent before the fork, bytes */
};

/* ---- binprobe_sandbox.c ---- */

int sandbox_limits(const struct binprobe_job *j, struct err *err);
/* First filter: what dlopen of a system library needs; files read-only. */
int sandbox_loading(const struct binprobe_job *j, struct err *err);
/* Second: memory, futexes, clocks, writing to the result pipe and to stderr, and exiting. Set before the file is touched. */
int sandbox_running(const struct binprobe_job *j, struct err *err);
void sandbox_syscall_name(uint32_t number, struct buf *b);

/* ---- binprobe_load.c ---- */

struct image {
	uint8_t *map; /* stubs, then the segments */
	size_t map_size, stub_used, stub_size;
	uint8_t *bias; /* where virtual address 0 would be */
	uint64_t lo, hi;
	const void *sym; /* Elf64_Sym */
	uint32_t n_sym;
	const char *str;
	uint64_t str_size;
	uint64_t init, init_array, init_array_size;
	uint64_t weights_lo, weights_hi; /* virtual addresses of constants left out of the copy */
	uint8_t *tls;
	void *cxx;                    /* libstdc++ */
	bool own_cxx;                 /* it has one of its own inside (g++ -static-libstdc++) and exports it */
	const void *program, *frames; /* Elf64_Phdr; .eh_frame_hdr */
	unsigned n_program;
};

/* Maps, relocates and binds; runs nothing but IFUNC resolvers. */
int image_load(struct image *im, struct slice so, void *cxx, struct err *err);
void image_run_initialisers(struct image *im);
/* A defined function, or NULL. */
void *image_symbol(const struct image *im, const char *name);

/* ---- binprobe_stub.c ---- */

enum stub_kind { STUB_VALUE, STUB_KERNEL, STUB_OP, STUB_UNKNOWN };
struct stub {
	enum stub_kind kind;
	const char *name;
	int64_t value;   /* STUB_VALUE: what it returns */
	const char *sig; /* STUB_OP: model/contract/opsig.h */
	const struct aten_op *op;
	bool looked_up; /* op: binprobe_rule.c */
	uint8_t *code;
};
/* Registers and stack of a call to a stub. */
struct stub_call {
	const uint64_t *ints;  /* CALL_INTS registers of integers and pointers */
	const uint64_t *reals; /* CALL_REALS of floats, two words each */
	const uint64_t *stack; /* [-1]: the return address */
};
void *stub_new(struct image *im, struct stub s);
/* Handles a call of a stub; returns its result. */
/* Called only by the stubs' machine code. saved: the registers of integers, then those of floats. */
__attribute__((used)) uint64_t binprobe_stub_called(uint32_t number, const uint64_t *saved, const uint64_t *stack);
/* Our own address for an undefined name, tried before the system's libraries; NULL: none. */
void *stub_bind(struct image *im, const char *name);
bool stub_is_kernel(const char *name);

/* ---- binprobe_x86_64.c, binprobe_aarch64.c, binprobe_portable.c: what depends on the processor ---- */

enum relocation {
	RELOCATION_NONE,
	RELOCATION_RELATIVE, /* the image's address + addend */
	RELOCATION_ADDEND,   /* a symbol's address + addend */
	RELOCATION_SLOT,     /* a symbol's address, of the GOT or PLT */
	RELOCATION_INDIRECT, /* what the function at image + addend returns */
	RELOCATION_TLS_MODULE,
	RELOCATION_TLS_OFFSET,
	RELOCATION_TLS_FROM_THREAD, /* from the thread pointer */
	RELOCATION_TLS_DESCRIPTOR,
	RELOCATION_UNKNOWN,
};
enum { BINPROBE_STUB_BYTES = 32 };

extern const bool binprobe_can_run;     /* false: nothing else here is called */
extern const uint16_t binprobe_machine; /* e_machine of its libraries */
enum relocation binprobe_relocation(uint32_t type);
uint64_t binprobe_thread_pointer(void);
/* The function of a TLS descriptor whose second word is the offset from the thread pointer. */
void binprobe_tls_descriptor(void);
/* Writes the code of a stub, which calls binprobe_stub_called() with its number. */
void binprobe_write_stub(uint8_t *code, uint32_t number);
/* Makes the function at `entry` jump to the stub; false: too far away. */
bool binprobe_patch(uint8_t *entry, const void *stub);

/* ---- the world as the model sees it ---- */

#define UNKNOWN INT64_MIN /* an unknown number */

enum dim_state {
	DIM_FREE,   /* ours to choose */
	DIM_EXACT,  /* check_input compares it */
	DIM_DERIVED /* assert_size_stride gave it */
};
/* A tensor about which the model asserts something: an input, or an op's result. Outlives runs. */
struct shape {
	int n_dim; /* -1: unknown */
	int64_t size[TENSOR_MAX_DIMS], stride[TENSOR_MAX_DIMS];
	uint8_t size_state[TENSOR_MAX_DIMS], stride_state[TENSOR_MAX_DIMS];
	bool read[TENSOR_MAX_DIMS]; /* the program queries this size: it comes from data */
	bool judged;                /* some assertion was about it */
	bool ruled;                 /* from the operator's rule: set again in each run, before any assertion */
	bool overruled;             /* an assertion disagreed: the rule is no longer used */
	int dtype;                  /* of an op's result: the type that an assertion requires; DTYPE_NONE: none so far */
};

/* The allowed sizes of a dim: those from lo to hi of the form step*k + rest (such as 4*k). A step of 0 means 1. */
struct bounds {
	int64_t lo, hi;
	bool has_lo, has_hi;
	int64_t step, rest;
};

struct model_input {
	struct shape shape;
	struct bounds bounds[TENSOR_MAX_DIMS];
	int n_mentioned; /* by check_input: highest dim + 1 */
	int dtype, device;
	bool dtype_checked, device_checked;
	uint32_t asserted; /* in the order of this run, from 1 */
};

/* The n-th tensor that an op of the program made in a run. */
struct made {
	struct shape shape;
	uint32_t op; /* index of the stub, to check that it is the same one */
	int ret;
	struct bounds bounds[TENSOR_MAX_DIMS];
	char symbol[TENSOR_MAX_DIMS / 4][16]; /* names that complaints use, of the first dims */
};
/* A number that the program reads from a tensor (item). */
struct item {
	int64_t value;
	struct bounds bounds;
	char symbol[16];
	uint64_t place; /* where in the code it is read */
};
/* A value that the program read from data, and our answer, at the first visit of a place in its code in a run. */
struct asked {
	uint64_t place;
	int64_t answer;
	bool boolean;
};
#define MAX_DECISIONS 32

#define FAKE_MAGIC 0x70743266616b6521ull
struct fake {
	uint64_t magic;
	uint32_t value;      /* index into run.value */
	struct shape *shape; /* of inputs and of results of ops, else NULL */
	int n_dim;
	int64_t *size, *stride;
	int dtype, device, device_index, layout;
	int64_t offset; /* in elements */
	uint64_t address;
	uint32_t constant; /* index + 1 of the constant; 0: not a constant */
	bool defined;
};

struct run_value {
	enum value_kind kind;
	uint32_t index, storage;
	uint32_t base; /* the value this is a view of, or NONE */
	const struct fake *fake;
	bool dtype_sure, referenced, written;
};
struct run_storage {
	uint32_t owner; /* the value it was made for, whose shape determines the bytes */
	uint32_t born, dies, refs;
};
struct run_call {
	enum call_kind kind;
	const char *name;
	uint32_t arg, n_args, stream;
};
struct run_arg {
	enum arg_role role;
	uint32_t value;
};
struct fetched {
	uint64_t address;
	uint32_t value;
};

/* A record of one run. Values 0 to n_inputs - 1 are the inputs, then come the constants, then buffers. */
struct run {
	struct arena arena;
	struct run_value *value;
	struct run_storage *storage;
	struct run_call *call;
	struct run_arg *arg;
	struct fetched *fetched; /* data pointers queried since the last call */
	uint32_t n_values, n_storages, n_calls, n_args, n_fetched;
	uint32_t cap_values, cap_storages, cap_calls, cap_args, cap_fetched;
	uint32_t n_made, n_items, n_asserted, n_asked;
	struct asked asked[256];
	struct fake **output;
	bool overflow, in_call;
};

struct constant {
	const char *name, *fqn;
	int dtype, type;
	bool from_folded;
	uint64_t bytes;
	struct fake *fake; /* NULL for those made by folding */
	bool given;        /* ours replaces weights that the library does not have: its sizes are unknown */
};

struct world {
	const struct binprobe_job *job;
	struct image im;
	struct arena arena; /* lives as long as the process */
	struct stub *stub;
	uint32_t n_stubs, cap_stubs;
	int device; /* the model's device, as passed to it */
	struct model_input *input;
	struct constant *constant;
	struct fake **blob; /* tensors made from constants' memory, in order */
	uint32_t n_inputs, n_outputs, n_constants, n_blobs, cap_blobs;
	struct made **made;
	struct item *item;
	uint32_t n_made, cap_made, n_items, cap_items;
	struct asked decision[MAX_DECISIONS]; /* the answers for these places */
	uint32_t n_decisions;
	struct run run;
	struct fake *asked; /* the last tensor whose rank or type was queried */
	struct fake **kept; /* made before the first run */
	uint32_t n_kept, cap_kept;
	uint64_t next_address, kept_address;
	uint32_t n_streams, stream; /* created by the model; torch's current one: 0 is the caller's */
	char thrown[1024];          /* text of the last exception thrown by the file itself */
	void *container;
	bool creating, folding;
	bool weightless;  /* weights are not in the library, and it accepts no others */
	struct buf notes; /* one per line */
	uint8_t *zeros;   /* replaces weights that are not in the image */
	uint64_t zeros_size;
};
extern struct world *world;

void world_note(const char *fmt, ...) PRINTF_LIKE(1, 2);
uint8_t *world_zeros(uint64_t size);

/* ---- binprobe_rule.c ---- */

/* A parameter of a call by its letter in the signature (model/contract/opsig.h); for a floating-point number the bits of the double. */
struct op_word {
	char letter;
	uint64_t bits;
};
struct ruled {
	int dtype, n_dim; /* -1: this one depends on values */
	int64_t size[TENSOR_MAX_DIMS], stride[TENSOR_MAX_DIMS];
	bool sure;    /* the type is certain, as the operands' were */
	bool strided; /* the strides are certain, too */
};
/* Fills r for its n_results results. False: there is no rule, or it cannot tell. */
bool rule_ask(struct stub *s, const struct op_word *word, size_t n, struct ruled *r, size_t n_results);

/* ---- binprobe_fake.c ---- */

/* The function that replaces torch's `name`, or NULL. */
void *fake_function(const char *name);
struct named_function {
	const char *name;
	void *function;
};
/* That function of a table, or NULL. */
void *function_named(const struct named_function *table, size_t n, const char *name);
/* c10/core/Layout.h and MemoryFormat.h; 0 if unknown. */
int layout_number(struct slice name);
int memory_format_number(struct slice name);
struct fake *fake_input(uint32_t i);
/* Replaces the weights of constant i that are not in the library: the same number of elements, in one dim. */
struct fake *fake_constant(uint32_t i);
/* Its sizes and strides, whether it is a view or was created. */
int fake_rank(const struct fake *f); /* -1: unknown */
int64_t *fake_sizes(const struct fake *f);
int64_t *fake_strides(const struct fake *f);
/* Creates the result of an op; sizes come from world->made. */
struct fake *fake_made(uint32_t op, int ret, int dtype, bool sure, int device, int device_index);
/* Gives it the shape from the operator's rule. */
void fake_take_rule(struct fake *f, const struct ruled *r);
/* The same for a tensor that a custom op will fill. */
void fake_become_made(struct fake *f, uint32_t op, int ret, bool sure);
/* After creation and folding: tensors made so far can only be constants. */
void fake_settle_kept(void);
struct fake *fake_of(const void *handle); /* NULL if it is not our handle */
/* The shape learned from assertions about an op's result, or about the base of a view. NULL for every other tensor. */
struct shape *fake_made_shape(const struct fake *f);
/* The value of a tensor in this run, or NONE. */
void run_reset(void);
/* Bytes from the first to past the last element, UNKNOWN if a size is unknown. */
int64_t fake_extent(const struct fake *f);
int64_t item_next(uint64_t place);
/* The answer to give at a place. */
const struct asked *decided(uint64_t place);

/* A call of the program, in world->run. */
void call_begin(enum call_kind kind, const char *name);
void call_value(enum arg_role role, uint32_t value);
void call_arg(enum arg_role role, struct fake *f);
void call_end(void);

/* ---- binprobe_ops.c ---- */

/* cu*, cuda*, and the proxy executor. */
void *op_function(const char *name);

/* ---- binprobe_run.c ---- */

enum complaint_kind {
	SAID_NOTHING, /* the run finished */
	SAID_DTYPE,
	SAID_SIZE,
	SAID_SMALL,
	SAID_LARGE,
	SAID_STRIDE,
	SAID_DEVICE,
	SAID_TYPE, /* assert_size_stride, from torch 2.15 on */
	SAID_RANK,
	SAID_SHAPE, /* assert_size_stride: `text` starts at the first "expected size" */
	SAID_BOUND, /* Expected u0 <= 48 but received 97 */
	SAID_OTHER
};
struct complaint {
	enum complaint_kind kind;
	uint32_t input;
	int dim;
	int64_t expected, received;
	bool upper; /* SAID_BOUND: the limit is an upper one */
	char symbol[16];
	char text[1024];
};
int model_create(struct err *err);
void model_run(struct complaint *c);
bool model_specs(const char **in, const char **out);
const char *model_input_name(uint32_t i);
const char *model_output_name(uint32_t i);
FOR_TESTS void complaint_parse(struct slice text, struct complaint *c);
/* The next "expected size A==B, stride C==D at dim=i" of a SAID_SHAPE. */
bool complaint_next_dim(struct slice *rest, int *dim, int64_t *size, int64_t *stride);

/* ---- binprobe_walk.c ---- */

/* A number that we choose: the size of an input's dim, or a number from data. */
enum source_kind { SOURCE_INPUT, SOURCE_MADE, SOURCE_ITEM };
struct source {
	enum source_kind kind;
	uint32_t index;
	int dim;
	int64_t base;
	struct symsize symbol; /* binprobe_contract.c */
	bool named;
};
struct walk {
	int64_t *chosen; /* n_sources: k, for a size of the form step*k + rest */
	int64_t *number; /* n_numbers: see walk_numbers */
};
struct walk_way {
	uint64_t hash;
	const char **call;
	uint32_t n;
};
struct walks {
	struct source *source;
	uint32_t n_sources, cap_sources;
	struct walk *v;
	uint32_t n, cap;
	uint32_t n_numbers;
	uint64_t shape;       /* hash of everything that does not depend on sizes */
	struct walk_way *way; /* ways other than the one being walked */
	uint32_t n_ways, cap_ways, n_lost_ways;
	bool complete;
	char stopped[1024]; /* why not */
};
/* binprobe_ways.c: learns everything that can be learned. The last run uses the base values. */
int walk_model(struct walks *w, struct err *err);
void walks_release(struct walks *w);
/* For binprobe_ways.c: its steps before the ways (true: it settled) and after them. */
bool walk_sizes(struct walks *w);
int walk_formulas(struct walks *w, struct err *err);
/* And it runs until there is no complaint; a hash of the last run's calls; its sizes and strides (free them). */
bool walk_settles(struct walks *w);
uint64_t walk_hash_calls(void);
int64_t *walk_numbers(uint32_t *n);
/* Runs with consecutive values of source j, for formulas that round. */
void walk_row(struct walks *w, uint32_t j, int n);
/* The bounds of a source, as far as checks revealed them. */
struct bounds *source_bounds(const struct source *s);
/* The name in complaints for a source that is not the size of an input, "" if there was none yet; NULL if none is kept. */
char *source_data_name(const struct source *s);
/* The k of a value of the form step*k + rest, rounded down. */
int64_t bounds_index(const struct bounds *b, int64_t value);
/* The rank, or how many dims check_input mentions. */
int input_dims(uint32_t i);

/* ---- binprobe_fit.c ---- */

#define FIT_MAX_SYMBOLS 256
/* The values of the symbols when the numbers were observed. Point 0 is the base. */
struct fit_points {
	uint32_t n, n_symbols;
	const int64_t *const *at;     /* [point][symbol] */
	const struct symsize *symbol; /* their names */
	const bool *whole;            /* per symbol: all its possible values occur, with the others at their base */
};
/* A formula for numbers v[0..n-1]: a constant, k*s0^a*s1^b..., a polynomial of low degree with integer coefficients, or
 * k*((a*s0 + b)//d) + c. Only what the points prove: each family has fewer unknowns than there are points, or all values
 * were seen. False if none fits. */
bool fit_formula(struct symtab *tab, const struct fit_points *p, const int64_t *v, struct symsize *out);

/* ---- binprobe_contract.c ---- */

int binprobe_fill(struct contract *c, struct walks *w, struct err *err);

/* ---- binprobe_roles.c ---- */

/* Determines the roles of kernels' arguments (ARG_UNKNOWN before), as far as possible. sure: every use of a buffer is among the
 * calls. */
void roles_settle(struct contract *c, bool sure);

#endif
