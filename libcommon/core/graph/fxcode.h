/* fxcode.h - graphs as the Python text that torch.fx writes: reading and writing it.
 *
 *     struct graph g = {0};
 *     if (fxcode_read(&g, text, "fx_graph_readable.py", &err) < 0) ...
 *     fxcode_write(&g, FXCODE_RUNNABLE, &b);
 *
 * The input (torch 2.13, torch/fx/graph.py, PythonCode; torch/_dynamo/debug_utils.py, NNModuleToString; the same since 1.13):
 *
 *     class Repro(torch.nn.Module):
 *         def __init__(self) -> None:
 *             super().__init__()
 *             self.register_buffer('_tensor_constant0', tensor(1))
 *         def forward(self, arg0_1):
 *             relu = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None
 *             return (relu,)
 *
 *     class <lambda>(torch.nn.Module):
 *         def forward(self, arg0_1: "f32[s77, 8][8, 1]cpu", arg1_1: "Sym(s77)"):
 *             # File: model.py:3 in forward, code: return x.relu()
 *             relu: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None
 *             return (relu,)
 *
 *         class true_graph_0(torch.nn.Module): ...
 *
 * a bare `def forward(self, ...)`, and any of it in the text of TORCH_LOGS, coloured or not. Text before and after the class (imports,
 * load_args, ...) is skipped here (repro.h reads it).
 *
 *  - Placeholders: "l_x_ = L_x_" gives the placeholder L_x_ the name l_x_. The code that torch.export and AOTAutograd put before the nodes
 *    (fx_pytree.tree_flatten_spec, self._in_shuffle_graph, next(args_iter)) and around the output (pytree.tree_unflatten) is removed: the
 *    placeholders are the flat ones, the output is the flat list.
 *  - One call, operator, attribute or index of a tensor is one node. Nested ones, as in hand-written code, become separate nodes, named
 *    after their function. A name assigned again becomes a node with another name ("x_1").
 *  - "x += y;  z = x" and "x[i] = y;  z = x" are _operator.iadd and _operator.setitem named z.
 *  - "x = None" frees x: using it later is an error, as is using a name too early ("'mul' is used before its definition in line 9").
 *  - Constant expressions other than literals stay text (GV_TEXT): torch.finfo(torch.float32).min, (2 * s0), {1, 2}, b'x', and
 *    repr() of objects that have none: <function f at 0x7f00>. Python cannot parse the last kind when it is written again.
 *  - Metadata come from the annotations; a tuple's come from its getitems. Annotations other than tensors and Sym are the node's type.
 *  - "# File: a.py:3 in f, code: x" is the stack of the nodes below it, without "File: "; with "Annotation: ..." before it, all of it.
 *  - __init__: register_buffer, register_parameter, add_module, setattr and assignments become attributes, each with its text;
 *    "self.true_graph_0 = true_graph_0()" of a class in the same class makes that the child module of this name; so does a class defined
 *    before it: torch 2.14 writes subgraphs of cond, flex_attention, while_loop this way (NNModuleToString.convert). A class instantiated
 *    several times becomes several modules.
 *  - A function without return returns None. Statements after the return are ignored.
 *
 * The output is accepted by torch and reads back as the same graph: same(a, read(write(a))). A node keeps its name unless that is not an
 * identifier, or is a keyword or one of Python's functions; then it gets a number. The text uses the names torch, device, inf, nan; tensor
 * and torch.nn's if attributes do; _operator and math if nodes call them: the program around it imports them. Attributes whose values are
 * elsewhere (expr NONE) get random values or zeros of their shape.
 *
 * Failure: -1 and err (EXIT_INPUT), "NAME:LINE:COLUMN: a lambda is not allowed in a graph"; g is then empty. Bounds: brackets and operators
 * nest GRAPH_MAX_DEPTH deep, classes twice that (modules as in graph.h), a constant expression has up to 65,536 characters. Time and memory
 * are linear in the text: nested lists built from names may grow to four times its size.
 */
#ifndef PT2_GRAPH_FXCODE_H
#define PT2_GRAPH_FXCODE_H
#include "graph/graph.h"

enum fxcode_form {
	FXCODE_RUNNABLE, /* class Repro with __init__, no annotations, `; x = None` tails; runs as is after repro.h's header */
	FXCODE_READABLE, /* with annotations and "# File:" comments, like fx_graph_readable.py */
	FXCODE_PLAIN,    /* as a person writes: "def f(x):" where fxcode_is_function, else as RUNNABLE; no tails, the last call behind
			  * "return", one value returned alone (not as a tuple of one), x[:, 1:3] */
};
/* Can it do without self: no attributes, no modules? */
bool fxcode_is_function(const struct graph *g);

/* `name` names the text in errors. Reads the outermost class with a forward() (of several, the first that no other class instantiates). */
int fxcode_read(struct graph *g, struct slice text, const char *name, struct err *err);
void fxcode_write(const struct graph *g, enum fxcode_form form, struct buf *b);
/* Adds an operand as Python text: "[1, 2]", "torch.float32", "float('nan')". */
void fxcode_value(const struct graph *g, struct gvalue v, struct buf *b);
/* "f32[s77, 8][8, 1]cpu", "Sym(s77)", "" if nothing is known. */
void fxcode_meta(const struct graph *g, uint32_t meta, struct buf *b);

#endif
