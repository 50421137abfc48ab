/* externnodes.h - a package's list of calls through the proxy executor: operators without a C function.
 *
 *     struct extern_nodes x;
 *     if (extern_nodes_read(&x, json, &err) < 0) ...
 *     x.node[k].op, x.node[k].overload      // "aten::median", "dim": called by the generated code by its number k
 *     extern_nodes_release(&x);
 *
 * The generated code passes the number of the node, integers and tensors (torch 2.13, torch/_inductor/ir.py, export_extern_kernel_node;
 * unpacked by aoti_torch/oss_proxy_executor.cpp):
 *
 *     aoti_torch_proxy_executor_call_function(proxy_executor, k, n_ints, ints, n_tensors, tensors)
 *
 * The rest is in the file HASH.wrapper.json (extern_nodes.json before 2.6), in the order of the operator's parameters:
 *
 *     {"nodes": [{"name": "buf1", "node": {"target": "pt2fix::soft_clip",
 *         "inputs": [{"name": "x", "arg": {"as_tensor": {"name": "buf0"}}}, {"name": "limit", "arg": {"as_float": 0.5}},
 *                    {"name": "sizes", "arg": {"as_sym_ints": [{"as_int": 1}, {"as_name": "s17"}]}}],
 *         "outputs": [{"as_tensor": {"name": "buf2"}}], "metadata": {"torch_library_custom_op": "1"}}}]}
 *
 * Tensors and integers are the call's, taken in this order; all other values are constant. Outputs follow the inputs: tensors that the call
 * fills, and integers whose values were known at compile time.
 *
 * Nothing in the file is trusted: anything else has the kind EXTERN_OTHER, or an empty target.
 */
#ifndef PT2_EXTERNNODES_H
#define PT2_EXTERNNODES_H
#include "base/arena.h"

enum extern_kind {
	EXTERN_NONE,
	EXTERN_TENSOR,  /* also a list's item: given, or None */
	EXTERN_INT,     /* i: its value if known at compile time */
	EXTERN_FLOAT,   /* f */
	EXTERN_BOOL,    /* i */
	EXTERN_COMPLEX, /* f, imag */
	EXTERN_STRING,  /* text */
	EXTERN_DTYPE,   /* i: torch's number (tensor/dtype.h) */
	EXTERN_LAYOUT,  /* i: c10::Layout */
	EXTERN_FORMAT,  /* i: c10::MemoryFormat */
	EXTERN_DEVICE,  /* text: "cuda"; i: its index or -1 */
	EXTERN_OTHER,   /* a custom object, ...: see as_name */
};

struct extern_item {
	bool given; /* tensors: not None */
	int64_t i;
	double f, imag;
	struct slice text;
};

struct extern_value {
	struct slice name;    /* the parameter's; empty for outputs */
	struct slice as_name; /* "as_tensor" */
	enum extern_kind kind;
	bool list;
	uint32_t item, n; /* x->item[item], n of them: n is 1 unless it is a list or None */
};

struct extern_node {
	const char *target;            /* "aten::median.dim"; "" if there is none */
	const char *op, *overload;     /* "aten::median", "dim" or "" */
	bool python;                   /* defined by torch.library.custom_op: needs its Python program */
	uint32_t in, n_in, out, n_out; /* x->value[in] ... */
};

struct extern_nodes {
	struct extern_node *node;
	uint32_t n, cap;
	struct extern_value *value;
	uint32_t n_value, cap_value;
	struct extern_item *item;
	uint32_t n_item, cap_item;
	struct arena arena;
};

/* Texts are copied. On failure there is nothing to release. */
int extern_nodes_read(struct extern_nodes *x, struct slice json, struct err *err);
void extern_nodes_release(struct extern_nodes *x);
/* A value of the node's inputs by name, or NULL. */
const struct extern_value *extern_input(const struct extern_nodes *x, const struct extern_node *node, const char *name);
/* "pt2fix::soft_clip, pt2fix::add_": each once, in the arena of x; NULL if there are none. */
enum extern_which { EXTERN_ALL, EXTERN_PYTHON /* those that need Python */, EXTERN_FOREIGN /* not torch's own */ };
const char *extern_targets(struct extern_nodes *x, enum extern_which which);

#endif
