/* contract.h - what a compiled model expects and gives, and what it does in between: the model of all AOTI tools.
 *
 * Two readers fill it: wrapper_read() from the generated C++ text (wrapper.h), ask_contract() from the binary alone
 * (probe.h). Everything after them works on this and does not know which it was:
 *
 *     struct contract c = {0};
 *     if (wrapper_read(&c, wrapper_text, &err) < 0) ...
 *     contract_finish(&c, &err);                         // once, by the reader: symbols, paths, sums
 *     c.input[0].dim[1].size ...
 *     contract_release(&c);
 *
 * Sizes and strides are `struct symsize` of c.tab: integers, or expressions over symbols (s77, 2*s0). What is not known
 * is opaque: symsize_opaque(&c.tab, SLICE("?")), for which contract_known() is false.
 *
 * AOTI itself checks (torch 2.13, torch/_inductor/codegen/cpp_wrapper_cpu.py, generate_input_output_runtime_checks,
 * and torch/csrc/inductor/aoti_runtime/utils.h, assert_size_stride; both only under AOTI_RUNTIME_CHECK_INPUTS):
 *  1. check_input_N for every input in order: dtype; per dim either an exact size or lower and upper bounds; every
 *     stride that is a number (also of dims of size 1); device type.
 *  2. assert_size_stride before an input's first use, in order of use: rank, then (unless it has no elements) sizes and
 *     strides, all of them in one message; strides of dims of size 1 do not count.
 * `size_checked`, `stride_checked`, `range` and `asserted` say which of these a fact comes from.
 *
 * Everything a contract holds lives in its arena and its symtab. The parts are plain arrays; indices, not pointers.
 */
#ifndef PT2_CONTRACT_H
#define PT2_CONTRACT_H
#include "base/arena.h"
#include "base/json.h"
#include "base/sym/symsize.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"

#define CONTRACT_MAX_INPUTS 65536
#define CONTRACT_MAX_WAYS 64

enum contract_source { CONTRACT_FROM_TEXT, CONTRACT_FROM_PROBE, CONTRACT_FROM_EXPORT };

struct contract_dim {
	struct symsize size; /* an integer, an expression, or "?" */
	struct symsize stride;
	struct symrange range; /* what check_input lets pass; SYMRANGE_ALL when it does not look */
	bool size_checked;     /* check_input compares the size with an integer */
	bool stride_checked;   /* check_input compares the stride with an integer */
};

struct contract_input {
	struct slice name; /* the graph's own: "arg4_1" */
	struct slice path; /* where it stands in the call: args[0]["x"], kwargs["mask"]; empty when not known */
	int dtype;         /* enum dtype, DTYPE_NONE when not checked */
	int device;        /* DeviceType, DEVICE_NONE when not checked */
	bool rank_known;   /* n_dim is the rank; else only the highest dim that is mentioned */
	int n_dim;
	struct contract_dim *dim;
	uint32_t asserted; /* assert_size_stride comes as the N-th of all inputs, from 1; 0: never (an unused input) */
	int alignment;     /* bytes; a less aligned input is copied with a warning (GPU code); 0: not looked at */
	bool used;         /* some call takes it, or it is an output */
};

struct contract_output {
	struct slice name, path;
	int dtype, device, n_dim;
	struct contract_dim *dim; /* size and stride only */
	uint32_t value;           /* index into values, NONE */
	bool none;                /* Python's None: the model leaves its handle empty; the rest is not known then */
};

/* Numbers as in torch/csrc/inductor/aoti_runtime/constant_type.h. */
enum constant_type { CONSTANT_UNKNOWN, CONSTANT_PARAMETER, CONSTANT_BUFFER, CONSTANT_TENSOR, CONSTANT_FOLDED };

struct contract_constant {
	struct slice name; /* "up_weight" */
	struct slice fqn;  /* module path: "up.weight"; empty for what the compiler made */
	int dtype, device, n_dim;
	struct contract_dim *dim; /* integers */
	uint64_t bytes, offset;
	enum constant_type type;
	bool from_folded;
	struct slice becomes; /* of an exported program: the node whose value it has after a call; empty: none, or in place */
};

/* A symbol: where its value comes from, and its bounds (of the dims it stands for alone, or of the text's own checks). */
struct contract_symbol {
	uint32_t symbol; /* id in tab */
	struct symrange range;
	uint32_t input, dim; /* the size that gives it; NONE: from data (u0) */
};

/* A tensor in the program: an input, a constant, or a buffer. Values that share memory have the same storage. */
enum value_kind { VALUE_INPUT, VALUE_CONSTANT, VALUE_BUFFER };
struct contract_value {
	struct slice name; /* "buf3" */
	enum value_kind kind;
	uint32_t index;   /* of the input or constant */
	uint32_t storage; /* of a buffer: index into storages; NONE else */
	int dtype, device, n_dim;
	struct contract_dim *dim; /* sizes and strides; n_dim -1: not known */
	/* assert_alignment (torch 2.15): its offset in its storage is a multiple of so many bytes. 0: not asserted. */
	int alignment;
};

/* Memory of intermediate buffers: lives from before call `born` until after call `dies` (n_calls: to the end). */
struct contract_storage {
	struct symsize bytes; /* "?" when not known */
	uint32_t born, dies;
};

enum call_kind {
	CALL_KERNEL, /* generated: cpp_fused_relu_0, triton_poi_fused_0 */
	CALL_OP,     /* from torch: aoti_torch_cpu_addmm_out */
	CALL_PROXY,  /* through the proxy executor: pt2fix::add_ */
};
/* ARG_UNKNOWN: a tensor that the call reads, writes, or both; of a library without its text only. */
enum arg_role { ARG_IN, ARG_OUT, ARG_INOUT, ARG_SCALAR, ARG_UNKNOWN };
struct contract_arg {
	enum arg_role role;
	uint32_t value;    /* index into values, NONE for scalars */
	struct slice text; /* as it stands in the call */
};
struct contract_call {
	enum call_kind kind;
	struct slice name;
	/* A kernel of a GPU: what it is called in its own module, where that is not `name` (a user's kernel far_copy is far_copy_0 in the
	 * text, and far_copy for the driver); else empty. */
	struct slice function;
	uint32_t line;   /* of wrapper.cpp, 0 when not known */
	uint32_t stream; /* of a GPU: 0 is the caller's; else which of the model's own (torch 2.15: streams of the program) */
	/* An earlier call + 1, on another stream, that this one waits for in no way, though both use the memory of a value and one
	 * writes it. Of the text only. 0: none. */
	uint32_t race, race_value;
	struct slice nodes; /* Topologically Sorted Source Nodes: "linear, relu"; empty when the text has none */
	struct slice aten;  /* Original ATen: "aten.t, aten.addmm" */
	uint32_t arg, n_args;
};

/* Another way through a program that branches on data than the one whose calls the contract holds: the names of its calls, in order. */
struct contract_way {
	struct slice *call;
	uint32_t n;
};

struct contract {
	enum contract_source source;
	struct slice model;
	int device; /* that it was compiled for, DEVICE_NONE */
	struct symtab tab;
	struct arena arena;
	struct contract_input *input;
	struct contract_output *output;
	struct contract_constant *constant;
	struct contract_symbol *symbol;
	struct contract_value *value;
	struct contract_storage *storage;
	struct contract_call *call;
	struct contract_arg *arg;
	uint32_t n_inputs, n_outputs, n_constants, n_symbols, n_values, n_storages, n_calls, n_args;
	uint32_t cap_values, cap_storages, cap_calls, cap_args;
	struct slice in_spec, out_spec; /* pytree JSON, empty when the model has none */
	uint64_t weight_bytes;          /* sum of the constants */
	/* How far a program that the probe ran could be followed. */
	/* Why not to its end: what it said there. Then `call` holds what it did until then, and no size of a buffer is known; empty: to
	 * its end. */
	struct slice stopped;
	bool rigid; /* a size that may vary could be run with one value only: what follows from it looks fixed */
	struct contract_way *way;
	uint32_t n_ways, n_lost_ways; /* lost: other ways that could not be followed to their end, or were too many */
	/* Notes of what a reader could not make out, a line each; a contract with notes is not complete. */
	struct slice *note;
	uint32_t n_notes, cap_notes;
	/* The number of places of a text that were not understood, and so may ask for something that is not here (those behind the last
	 * note too), and how many of them stand where inputs are checked. No verdict of "fits" is whole while there are any. */
	uint32_t n_unread, n_unread_checks;
};

void contract_release(struct contract *c);
/* Which of the program's calls of this kernel is it? From 0. */
uint32_t contract_nth(const struct contract *c, const struct contract_call *call);
void contract_note(struct contract *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* A note about something that was not understood: it counts. */
void contract_unread(struct contract *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* "5 checks" or "2 statements", or of both: for "as far as understood: ... were not". */
void contract_unread_text(const struct contract *c, struct buf *b);
bool contract_known(const struct contract *c, struct symsize s);
bool contract_streams(const struct contract *c); /* is there a call on a stream of the model's own? */
struct symsize contract_unknown(struct contract *c);
struct contract_dim *contract_dims(struct contract *c, int n); /* all unknown */

/* The last step of a reader: paths of inputs and outputs from the specs, symbols and where they come from, weight_bytes,
 * `used`. May be called once. -1 when the parts contradict one another (an index out of range). */
int contract_finish(struct contract *c, struct err *err);

/* Values of the symbols from actual inputs (each from the first dim that gives it). False when an input lacks the dim or
 * a derived size does not divide. */
bool contract_bind(const struct contract *c, const struct tensor_meta *in, size_t n, struct symbind *env);
/* Is this memory there while a call runs? How many bytes are during each call, and behind the last (n_calls + 1 numbers, for free()), where
 * the storages have so many? */
static inline bool contract_is_alive(const struct contract_storage *s, uint32_t call) { return s->born <= call && call <= s->dies; }
uint64_t *contract_alive_bytes(const struct contract *c, const uint64_t *bytes);
/* Most bytes of buffers alive at once, at these values; unbound data-dependent symbols count with their upper bound.
 * False when a size is not known; *unknown (may be NULL) then counts the storages left out. */
bool contract_peak(const struct contract *c, const struct symbind *env, uint64_t *bytes, uint32_t *unknown);
/* All symbols at their upper bounds; false when one has none. */
bool contract_bind_max(const struct contract *c, struct symbind *env);

/* The documented JSON form (docs/formats/CONTRACT.md). Reading gives the same contract back; it is how a probe's child, the
 * live library and other programs get one. */
void contract_to_json(const struct contract *c, struct json_out *o);
void contract_members(const struct contract *c, struct json_out *o); /* into an object that is open: more may follow */
int contract_from_json(struct contract *c, struct slice text, struct err *err);

/* Two contracts of one binary, that of its text and that of the probe, held against each other.
 *
 * What differs ("input 0 (arg4_1), dim 1: size 8 in the text, 9 in the binary") was seen in what both know: the text is not what the
 * binary was built from. What is open could not be compared, and why: the program could not be followed to its end, a branch was not
 * taken, the text was not understood everywhere. With neither they agree in inputs, outputs, constants, and the calls with their order
 * and tensors; never in what a kernel computes, for the probe runs none. */
struct comparison {
	struct buf differs, open; /* a line each */
	size_t n_differs, n_open;
	uint32_t n_calls; /* of the text's, those that the binary was seen to make */
	bool branches;    /* on data: then names and order of calls were compared on each way, not their tensors */
};
void contract_compare(const struct contract *text, const struct contract *binary, struct comparison *c);
void comparison_release(struct comparison *c);

#endif
