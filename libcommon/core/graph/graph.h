/* graph.h - an FX graph (torch.fx) as tables of modules, nodes, values and metadata. The one type for graphs in all tools.
 *
 *     struct graph g = {0};
 *     if (fxcode_read(&g, text, "repro.py", &err) < 0) ...             // or graph_json_read, graph_exported_read
 *     const struct gmodule *root = &g.module[0];
 *     for (uint32_t i = root->first; i < root->first + root->n; i++)
 *         g.node[i].op, graph_text(&g, g.node[i].target)              // GRAPH_CALL_FUNCTION, "torch.ops.aten.relu.default"
 *     graph_release(&g);
 *
 * Building one (readers, and graphs made from graphs):
 *
 *     uint32_t m = graph_add_module(&g, NONE, SLICE(""), SLICE("Repro"));
 *     uint32_t x = graph_add_node(&g, m, GRAPH_PLACEHOLDER, SLICE("x"), SLICE("x"));
 *     uint32_t y = graph_add_node(&g, m, GRAPH_CALL_FUNCTION, SLICE("relu"), SLICE("torch.ops.aten.relu.default"));
 *     graph_set_args(&g, y, (struct gvalue[]){graph_node_value(x)}, 1);
 *     uint32_t o = graph_add_node(&g, m, GRAPH_OUTPUT, SLICE("output"), SLICE("output"));
 *     struct gvalue tuple = graph_sequence(&g, GV_TUPLE, (struct gvalue[]){graph_node_value(y)}, 1);
 *     graph_set_args(&g, o, &tuple, 1);
 *     if (graph_finish(&g, &err) < 0) ...                              // users, checks
 *
 * Shape
 *  - All references are indices: a node's id is its index in node[], texts are ids in `text` (each stored once).
 *  - The nodes of a module are contiguous, in the order of execution (a module is built completely before the next begins; its submodules
 *    come after it). module[0] is the root. Every module has one GRAPH_OUTPUT, its last node.
 *  - A subgraph of a higher-order operator (cond, while_loop, flex_attention, ...) is a child module, and the operand a
 *    GRAPH_GET_ATTR node of the parent whose target is the child's name, as in torch.fx.
 *  - Operands are trees of struct gvalue. A list's children are contiguous in value[]; a tree is built bottom-up.
 *  - The meaning of op, target, args and kwargs is torch.fx.Node's (torch 2.13, torch/fx/node.py):
 *      placeholder     target is the parameter's name; args[0] its default if it has one
 *      call_function   target is the qualified name as in torch's generated code: "torch.ops.aten.add.Tensor",
 *                      "torch.ops.higher_order.cond", "torch._C._nn.linear", "torch.nn.functional.relu", "torch.sym_sum";
 *                      Python's operators are "_operator.add", "_operator.getitem", in place "_operator.iadd"; "getattr"
 *      call_method     target is the method; args[0] is self
 *      call_module     target is the attribute path under the module ("layers.0"): gattr or child module
 *      get_attr        the same, as a value
 *      output          args[0] is the returned value: nearly always a tuple or list
 *  - Metadata is what was written with the node; any node may lack it.
 *
 * Invariants after graph_finish: operands precede their users within the module; a placeholder and a get_attr use none;
 * names of nodes are unique within a module, those of child modules within their parent; every id is in range. Before it, none of this is
 * guaranteed, and analyses must not be called.
 *
 * Failure: -1 and err (EXIT_INPUT) if a graph is malformed ("node 'add' uses 'mul', which comes after it"). The add functions can fail only
 * by running out of memory (base.h). Readers bound sizes by their input; GRAPH_MAX_* bound ids.
 */
#ifndef PT2_GRAPH_H
#define PT2_GRAPH_H
#include "base/buf.h"
#include "base/hash.h"
#include "base/sym/symsize.h"
#include "tensor/dtype.h"

#define GRAPH_MAX_NODES (1u << 26)
#define GRAPH_MAX_DEPTH 256 /* of operand trees and of modules */
#define GRAPH_MAX_DIMS 64   /* of a tensor: torch's own limit */

enum graph_op {
	GRAPH_PLACEHOLDER,
	GRAPH_CALL_FUNCTION,
	GRAPH_CALL_METHOD,
	GRAPH_CALL_MODULE,
	GRAPH_GET_ATTR,
	GRAPH_OUTPUT,
};
const char *graph_op_name(enum graph_op op); /* torch's: "call_function" */

enum gvalue_kind {
	GV_NONE,     /* None */
	GV_BOOL,     /* i */
	GV_INT,      /* i; beyond int64: GV_TEXT */
	GV_FLOAT,    /* f; including inf, -inf and nan */
	GV_COMPLEX,  /* text: "(1+2j)", "1j" */
	GV_STR,      /* text: the characters themselves */
	GV_NODE,     /* node */
	GV_LIST,     /* children */
	GV_TUPLE,    /* children */
	GV_DICT,     /* children: key, value, key, value; n counts both */
	GV_SLICE,    /* 3 children: start, stop, step */
	GV_ELLIPSIS, /* ... */
	GV_NAME,     /* text: a dotted name that is a constant: torch.float32, torch.strided, torch.contiguous_format, not inf */
	GV_DEVICE,   /* text: "cpu", "cuda:0"; device(type='cuda', index=0) and torch.device("cuda:0") */
	GV_TEXT,     /* text: any other Python expression, unchanged; uses no node */
};

struct gvalue {
	uint8_t kind; /* enum gvalue_kind */
	uint32_t n;   /* children */
	union {
		int64_t i;
		double f;
		uint32_t node;
		uint32_t text;  /* id in graph.text */
		uint32_t first; /* child: index in graph.value */
	};
};

/* The kinds of metadata of a node's value ("val" of its meta). */
enum gmeta_kind {
	GMETA_NONE,
	GMETA_TENSOR, /* dtype, dims, device ... */
	GMETA_SYM,    /* SymInt, SymFloat, SymBool: expr */
	GMETA_TUPLE,  /* several values: first .. first + n_parts in meta[], in order (split, topk, a HOP); elements may be NONE */
};
struct gmeta {
	uint8_t kind;                 /* enum gmeta_kind */
	bool has_stride;              /* stride was written */
	bool requires_grad, is_param; /* torch.nn.parameter.Parameter */
	int8_t dtype;                 /* enum dtype */
	uint8_t n_dim;
	uint32_t dim;        /* first of n_dim sizes, then n_dim strides if has_stride, in graph.dim */
	uint32_t device;     /* text: "cpu", "cuda:0"; NONE if not written (usually treated as cpu) */
	uint32_t subclass;   /* text: "Parameter", "DTensor(...)" as written around the tensor, else NONE */
	struct symsize expr; /* GMETA_SYM */
	uint32_t first, n_parts;
};

struct gnode {
	uint32_t name;   /* text */
	uint32_t target; /* text */
	uint8_t op;      /* enum graph_op */
	uint32_t module;
	uint32_t args, n_args;     /* value[args ..] */
	uint32_t kwargs, n_kwargs; /* value[kwargs ..]: name (GV_STR), value, name, value; n_kwargs counts pairs */
	uint32_t meta;             /* NONE: unknown */
	uint32_t type;  /* text of its annotation if not a tensor or Sym: torch.SymInt, torch.nn.parameter.Parameter; else NONE */
	uint32_t stack; /* text of its source location: "model.py:12 in forward, code: x = self.a(x)"; or NONE */
	uint32_t line;  /* in the file it was read from, from 1; 0: none */
};

/* The kinds of attributes that a module holds besides nodes. */
enum gattr_kind {
	GATTR_BUFFER,    /* register_buffer('x', EXPR) */
	GATTR_PARAMETER, /* self.x = torch.nn.Parameter(EXPR) */
	GATTR_MODULE,    /* self.x = Linear(...): a constructor's text */
	GATTR_OTHER,     /* self.x = EXPR */
};
struct gattr {
	uint32_t name; /* text; with dots for "layers.0" */
	uint8_t kind;  /* enum gattr_kind */
	uint32_t expr; /* text, a Python expression: "tensor([1, 2, 3])"; NONE: the value is elsewhere (weights of a package) */
	uint32_t meta;
	uint32_t module;
};

struct gmodule {
	uint32_t name;       /* text: the attribute in its parent; "" for the root */
	uint32_t class_name; /* text: "Repro", "GraphModule", "<lambda>" */
	uint32_t parent;     /* NONE for the root */
	uint32_t first, n;   /* nodes */
	uint32_t output;     /* node; NONE until there is one */
	uint32_t first_attr, n_attr;
};

struct graph {
	struct intern text;
	struct symtab tab; /* of sizes and expressions */
	struct gmodule *module;
	struct gnode *node;
	struct gvalue *value;
	struct gmeta *meta;
	struct gattr *attr;
	struct symsize *dim;
	size_t n_modules, n_nodes, n_values, n_meta, n_attrs, n_dims;
	size_t cap_modules, cap_nodes, cap_values, cap_meta, cap_attrs, cap_dims;
	/* After graph_finish: the users of each node, in order, each once: user[user_of[i] .. user_of[i + 1]). */
	uint32_t *user_of, *user;
	uint32_t *by_name, n_by_name; /* hash of (module, name) -> node + 1, then modules and attributes; see graph_find */
	/* graph_borrow: texts and expressions up to these counts are lender's, under the same ids. */
	const struct graph *lender;
	uint32_t lent_texts, lent_exprs;
	bool functional; /* in-place operators do not change their operand: created by aten/interp/functionalize.h */
};

void graph_release(struct graph *g);

/* Turns *g (empty, or a graph no longer needed, whose memory is reused) into an empty graph that starts with from's texts and symbols under
 * the same ids, so that copying from it needs no hashing. The bytes stay in `from`, which must outlive g (it may grow). */
void graph_borrow(struct graph *g, const struct graph *from);

/* ---- build ---- */
uint32_t graph_intern(struct graph *g, struct slice text);
uint32_t graph_add_module(struct graph *g, uint32_t parent, struct slice name, struct slice class_name);
/* Into the module added last, or the one whose nodes were added last; in order. */
uint32_t graph_add_node(struct graph *g, uint32_t module, enum graph_op op, struct slice name, struct slice target);
/* The same with interned texts; for copies. */
uint32_t graph_add_node_ids(struct graph *g, uint32_t module, enum graph_op op, uint32_t name, uint32_t target);
void graph_set_args(struct graph *g, uint32_t node, const struct gvalue *args, size_t n);
/* name_value: name (GV_STR) and value in turn; n pairs. */
void graph_set_kwargs(struct graph *g, uint32_t node, const struct gvalue *name_value, size_t n);
uint32_t graph_add_attr(struct graph *g, uint32_t module, enum gattr_kind kind, struct slice name, struct slice expr);
/* Values. The children of a sequence are copied. */
struct gvalue graph_none_value(void);
struct gvalue graph_bool_value(bool v);
struct gvalue graph_int_value(int64_t v);
struct gvalue graph_float_value(double v);
struct gvalue graph_node_value(uint32_t node);
struct gvalue graph_text_value(struct graph *g, enum gvalue_kind kind, struct slice text); /* STR, NAME, DEVICE, COMPLEX, TEXT */
struct gvalue graph_sequence(struct graph *g, enum gvalue_kind kind, const struct gvalue *child, size_t n); /* LIST, TUPLE, DICT, SLICE */
/* Metadata; each returns an index in meta[]. size and stride have n_dim entries (GRAPH_MAX_DIMS at most); stride NULL: not
 * written; device empty: not written. The elements of a tuple are copied; one that is itself a tuple becomes GMETA_NONE. */
uint32_t graph_add_tensor(struct graph *g, int dtype, size_t n_dim, const struct symsize *size, const struct symsize *stride,
			  struct slice device);
uint32_t graph_add_sym(struct graph *g, struct symsize expr);
uint32_t graph_add_tuple_meta(struct graph *g, const struct gmeta *part, size_t n);
/* Builds the users and the name table, and checks all the invariants above. May be called again after building more. */
int graph_finish(struct graph *g, struct err *err);

/* Copies a node of `from` into module m of g, with its operands mapped (from's node -> g's node; NONE must not occur among those it uses).
 * Copies metadata and texts. Keeps the name. */
uint32_t graph_copy_node(struct graph *g, uint32_t m, const struct graph *from, uint32_t node, const uint32_t *map);
/* The same for one operand, a text, a size, a meta (returns its index; NONE stays NONE), a module's attributes, and a child module with
 * everything below it (parent NONE: as the root of g). */
uint32_t graph_copy_text(struct graph *g, const struct graph *from, uint32_t text);
void graph_copy_attrs(struct graph *g, uint32_t m, const struct graph *from, uint32_t module);
struct gvalue graph_copy_value(struct graph *g, const struct graph *from, struct gvalue v, const uint32_t *map);
uint32_t graph_copy_meta(struct graph *g, const struct graph *from, uint32_t meta);
uint32_t graph_copy_module(struct graph *g, uint32_t parent, const struct graph *from, uint32_t module);

/* ---- look ---- */
static inline struct slice graph_text(const struct graph *g, uint32_t id) { return intern_get(&g->text, id); }
static inline struct slice graph_name(const struct graph *g, uint32_t node) { return graph_text(g, g->node[node].name); }
/* A node of a module by name, or NONE. After graph_finish. */
uint32_t graph_find(const struct graph *g, uint32_t module, struct slice name);
uint32_t graph_child(const struct graph *g, uint32_t module, struct slice name);           /* a child module, by name */
const struct gattr *graph_attr(const struct graph *g, uint32_t module, struct slice name); /* NULL */
/* The value of a keyword argument; NULL if absent. */
const struct gvalue *graph_kwarg(const struct graph *g, uint32_t node, const char *name);
/* "aten.add.Tensor" for torch.ops.aten.add.Tensor; other names unchanged ("torch.nn.functional.relu"). */
struct slice graph_op_text(const struct graph *g, uint32_t node);
/* The number of nodes that compute something in the root and its subgraphs: all but placeholders, outputs, get_attr and getitem. */
size_t graph_n_ops(const struct graph *g);
/* A call: not a placeholder, an attribute or the output. */
static inline bool graph_computes(const struct gnode *n)
{
	return n->op == GRAPH_CALL_FUNCTION || n->op == GRAPH_CALL_METHOD || n->op == GRAPH_CALL_MODULE;
}
/* The same kind of value; for tensors the same dtype and sizes, too. */
bool graph_same_meta(const struct graph *g, const struct gmeta *x, const struct gmeta *y);
bool graph_is_getitem(const struct graph *g, uint32_t node);

static inline bool gvalue_has_children(struct gvalue v) { return v.kind >= GV_LIST && v.kind <= GV_SLICE; }
static inline bool gvalue_has_text(struct gvalue v)
{
	return v.kind == GV_STR || v.kind == GV_COMPLEX || v.kind == GV_NAME || v.kind == GV_DEVICE || v.kind == GV_TEXT;
}
/* Calls fn for each node used by a node's operands, once per use, in the order written. Stops if fn returns false. */
bool graph_operands(const struct graph *g, uint32_t node, bool (*fn)(void *user, uint32_t operand), void *user);
/* The same for one value. */
bool graph_value_nodes(const struct graph *g, struct gvalue v, bool (*fn)(void *user, uint32_t operand), void *user);

#endif
