/* fxcode.h - graphs as the Python text that torch.fx writes: reading and writing it.
 *
 *     struct graph g = {0};
 *     if (fxcode_read(&g, text, "fx_graph_readable.py", &err) < 0) ...
 *     fxcode_write(&g, FXCODE_RUNNABLE, &b);
 *
 * What is read (torch 2.13, torch/fx/graph.py, PythonCode; torch/_dynamo/debug_utils.py, NNModuleToString; 1.13 on alike):
 *
 *     class Repro(torch.nn.Module):                       |  class <lambda>(torch.nn.Module):
 *         def __init__(self) -> None:                     |      def forward(self, arg0_1: "f32[s77, 8][8, 1]cpu", arg1_1: "Sym(s77)"):
 *             super().__init__()                          |           # File: model.py:3 in forward, code: return x.relu()
 *             self.register_buffer('_tensor_constant0', tensor(1)) |  relu: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None
 *         def forward(self, arg0_1):                      |          return (relu,)
 *             relu = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None
 *             return (relu,)                              |      class true_graph_0(torch.nn.Module): ...
 *
 * and a bare `def forward(self, ...)`; what stands before and after the class (imports, load_args, ...) is passed over
 * here (repro.h reads it). Nested calls, as a person writes them, become nodes of their own.
 *
 * What is written is accepted by torch and read back as the same graph: graph_same(a, read(write(a))).
 */
#ifndef PT2_GRAPH_FXCODE_H
#define PT2_GRAPH_FXCODE_H
#include "graph/graph.h"

enum fxcode_form {
	FXCODE_RUNNABLE, /* class Repro with __init__, no annotations, `; x = None` tails; runs as it stands after repro.h's header */
	FXCODE_READABLE, /* with annotations and "# File:" comments, as fx_graph_readable.py */
};

/* `name` names the text in errors. Reads the class with a forward() that is the outermost (the first of several). */
int fxcode_read(struct graph *g, struct slice text, const char *name, struct err *err);
void fxcode_write(const struct graph *g, enum fxcode_form form, struct buf *b);
/* One operand as Python text: "[1, 2]", "torch.float32", "float('nan')". */
void fxcode_value(const struct graph *g, struct gvalue v, struct buf *b);
/* "f32[s77, 8][8, 1]cpu", "Sym(s77)", "" when nothing is known. */
void fxcode_meta(const struct graph *g, uint32_t meta, struct buf *b);

#endif
