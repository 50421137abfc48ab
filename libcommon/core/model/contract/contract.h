/* contract.h - the contract of a compiled model: its inputs, its outputs, and the calls in between. Shared by all AOTI tools.
 *
 * Two readers fill it: wrapper_read() from the generated C++ text (wrapper.h), binprobe_contract() from the binary alone
 * (probe.h). Everything after them works on the contract and does not know which reader filled it:
 *
 *     struct contract c = {0};
 *     if (wrapper_read(&c, wrapper_text, &err) < 0) ...
 *     contract_finish(&c, &err);                         // once, by the reader: symbols, paths, sums
 *     c.input[0].dim[1].size ...
 *     contract_release(&c);
 *
 * Sizes and strides are `struct symsize` of c.tab: integers, or expressions over symbols (s77, 2*s0). Unknown ones are opaque:
 * symsize_opaque(&c.tab, SLICE("?")), for which contract_known() is false.
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
	struct symrange range; /* accepted by check_input; SYMRANGE_ALL if it does not check */
	bool size_checked;     /* check_input compares the size with an integer */
	bool stride_checked;   /* check_input compares the stride with an integer */
};

struct contract_input {
	struct slice name; /* the graph's own: "arg4_1" */
	struct slice path; /* its place in the call: args[0]["x"], kwargs["mask"]; empty if unknown */
	/* What forward() calls it, x or batch["pair"][0], where an exported program lent that (watch/names.h); else empty. */
	struct slice alias;
	int dtype;       /* enum dtype, DTYPE_NONE when not checked */
	int device;      /* DeviceType, DEVICE_NONE when not checked */
	bool rank_known; /* n_dim is the rank; else only the highest dim mentioned */
	int n_dim;
	struct contract_dim *dim;
	uint32_t asserted; /* N: its assert_size_stride is the N-th of all inputs, from 1; 0: never (an unused input) */
	int alignment;     /* bytes; a less aligned input is copied with a warning (GPU code); 0: not checked */
	bool used;         /* some call takes it, or it is an output */
};

struct contract_output {
	struct slice name, path;
	int dtype, device, n_dim;
	struct contract_dim *dim; /* size and stride only */
	uint32_t value;           /* index into values, NONE */
	bool none;                /* Python's None: the model leaves its handle empty; the other members are then unknown */
};

/* Numbers as in torch/csrc/inductor/aoti_runtime/constant_type.h. */
enum constant_type { CONSTANT_UNKNOWN, CONSTANT_PARAMETER, CONSTANT_BUFFER, CONSTANT_TENSOR, CONSTANT_FOLDED };

struct contract_constant {
	struct slice name; /* "up_weight" */
	struct slice fqn;  /* module path: "up.weight"; empty if created by the compiler */
	int dtype, device, n_dim;
	struct contract_dim *dim; /* integers */
	uint64_t bytes, offset;
	enum constant_type type;
	bool from_folded;
	struct slice becomes; /* in an exported program: the node whose value it has after a call; empty: none, or in place */
};

/* A symbol: where its value comes from, and its bounds (from dims that are just this symbol, or from the text's own checks). */
struct contract_symbol {
	uint32_t symbol; /* id in tab */
	struct symrange range;
	uint32_t input, dim; /* the size that it is read from; NONE: from data (u0) */
};

/* A tensor in the program: an input, a constant, or a buffer. Values that share memory have the same storage. */
enum value_kind { VALUE_INPUT, VALUE_CONSTANT, VALUE_BUFFER };
struct contract_value {
	struct slice name; /* "buf3" */
	enum value_kind kind;
	uint32_t index;   /* of the input or constant */
	uint32_t storage; /* of a buffer: index into storages; NONE else */
	int dtype, device, n_dim;
	struct contract_dim *dim; /* sizes and strides; n_dim -1: unknown */
	/* assert_alignment (torch 2.15): its offset in its storage is a multiple of this many bytes. 0: not asserted. */
	int alignment;
};

/* Memory of intermediate buffers: lives from before call `born` until after call `dies` (n_calls: to the end). */
struct contract_storage {
	struct symsize bytes; /* "?" if unknown */
	uint32_t born, dies;
};

enum call_kind {
	CALL_KERNEL, /* generated: cpp_fused_relu_0, triton_poi_fused_0 */
	CALL_OP,     /* from torch: aoti_torch_cpu_addmm_out */
	CALL_PROXY,  /* through the proxy executor: pt2fix::add_ */
};
/* ARG_UNKNOWN: a tensor that the call reads, writes, or both; only for a library without its text. */
enum arg_role { ARG_IN, ARG_OUT, ARG_INOUT, ARG_SCALAR, ARG_UNKNOWN };
struct contract_arg {
	enum arg_role role;
	uint32_t value;    /* index into values, NONE for scalars */
	struct slice text; /* as written in the call */
};
struct contract_call {
	enum call_kind kind;
	struct slice name;
	/* For a GPU kernel: its name in its own module, if that is not `name` (a user's kernel far_copy is far_copy_0 in the text, and
	 * far_copy for the driver); else empty. */
	struct slice function;
	uint32_t line;   /* of wrapper.cpp, 0 if unknown */
	uint32_t stream; /* on a GPU: 0 is the caller's stream; else one of the model's own (torch 2.15: streams of the program) */
	/* An earlier call + 1, on another stream, that this one does not wait for, though both use the memory of the same value and one
	 * writes it. From the text only. 0: none. */
	uint32_t race, race_value;
	struct slice nodes; /* Topologically Sorted Source Nodes: "linear, relu"; empty if the text has none */
	struct slice aten;  /* Original ATen: "aten.t, aten.addmm" */
	uint32_t arg, n_args;
};

/* Another path through a program that branches on data, beside the one whose calls the contract holds: the names of its calls, in order. */
struct contract_way {
	struct slice *call;
	uint32_t n;
};

struct contract {
	enum contract_source source;
	struct slice model;
	int device; /* that it was compiled for, or DEVICE_NONE */
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
	struct slice in_spec, out_spec; /* pytree JSON, empty if the model has none */
	uint64_t weight_bytes;          /* sum of the constants */
	/* How far the probe could follow the program that it ran. */
	/* Why it stopped before the end: the program's message there. `call` then holds the calls so far, and buffer sizes are unknown;
	 * empty: it reached the end. */
	struct slice stopped;
	bool rigid; /* a dynamic size could be run with one value only: everything derived from it looks fixed */
	struct contract_way *way;
	uint32_t n_ways, n_lost_ways; /* lost: other paths that could not be followed to their end, or were too many */
	/* Notes on what a reader did not recognize, one line each; a contract with notes is incomplete. */
	struct slice *note;
	uint32_t n_notes, cap_notes;
	/* The number of places in a text that were not recognized, and so may require something that the contract lacks (including those
	 * after the last note), and how many of them are in the checks of inputs. While there are any, a verdict of "fits" is incomplete. */
	uint32_t n_unread, n_unread_checks;
};

void contract_release(struct contract *c);
/* The ordinal of this call among the program's calls of its kernel, from 0. */
uint32_t contract_nth(const struct contract *c, const struct contract_call *call);
void contract_note(struct contract *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Adds a note on something that was not recognized, and counts it. */
void contract_unread(struct contract *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* "5 checks" or "2 statements", or both: for "... were not understood". */
void contract_unread_text(const struct contract *c, struct buf *b);
bool contract_known(const struct contract *c, struct symsize s);
bool contract_streams(const struct contract *c); /* does any call run on one of the model's own streams? */
struct symsize contract_unknown(struct contract *c);
struct contract_dim *contract_dims(struct contract *c, int n); /* all unknown */

/* The last step of a reader: paths of inputs and outputs from the specs, symbols and their sources, weight_bytes, `used`. May be called
 * once. -1 if the parts contradict each other (an index out of range). */
int contract_finish(struct contract *c, struct err *err);

/* Values of the symbols from actual inputs (each from the first dim that gives it). False if an input lacks the dim or a derived size does
 * not divide evenly. */
bool contract_bind(const struct contract *c, const struct tensor_meta *in, size_t n, struct symbind *env);
/* Is this memory alive while a call runs? How many bytes are alive during each call, and after the last (n_calls + 1 numbers, to be freed),
 * given the sizes of the storages? */
static inline bool contract_is_alive(const struct contract_storage *s, uint32_t call) { return s->born <= call && call <= s->dies; }
uint64_t *contract_alive_bytes(const struct contract *c, const uint64_t *bytes);
/* Most bytes of buffers alive at once, at these values; unbound data-dependent symbols count with their upper bound.
 * False if a size is unknown; *unknown (may be NULL) is then the number of storages left out. */
bool contract_peak(const struct contract *c, const struct symbind *env, uint64_t *bytes, uint32_t *unknown);
/* All symbols at their upper bounds; false if one has none. */
bool contract_bind_max(const struct contract *c, struct symbind *env);

/* The documented JSON form (docs/formats/CONTRACT.md). Reading it gives the same contract; a probe's child, the live library and other
 * programs receive contracts this way. */
void contract_to_json(const struct contract *c, struct json_out *o);
void contract_members(const struct contract *c, struct json_out *o); /* into an open object: more may follow */
int contract_from_json(struct contract *c, struct slice text, struct err *err);

/* Compares two contracts of one binary: from its text and from the probe.
 *
 * What differs ("input 0 (arg4_1), dim 1: size 8 in the text, 9 in the binary") is known to both: the binary was not built from this text.
 * What is open could not be compared, with the reason: the program could not be followed to its end, a branch was not taken, part of the
 * text was not recognized. With neither, they agree on inputs, outputs, constants, and the calls with their order and tensors; never on
 * what a kernel computes, since the probe does not run kernels. */
struct comparison {
	struct buf differs, open; /* one line each */
	size_t n_differs, n_open;
	uint32_t n_calls; /* calls in the text that the binary was seen to make */
	bool branches;    /* on data: then names and order of calls were compared on each path, not their tensors */
};
void contract_compare(const struct contract *text, const struct contract *binary, struct comparison *c);
void comparison_release(struct comparison *c);

#endif
