/* jit.h - graphs of torch.compile (not AOTInductor's): what share/jit/sitecustomize.py calls in the process that it was put into.
 *
 * Such a graph is a generated Python module. share/jit/rewrite.py has each of its calls of a kernel or operator go through one
 * function more, between the text on disk and the interpreter:
 *
 *     cpp_fused_log_0(buf1, buf4)            ->  _pt2_call(17, cpp_fused_log_0, buf1, buf4)
 *     extern_kernels.mm(a, b, out=buf0)      ->  _pt2_call(18, extern_kernels.mm, a, b, out=buf0)
 *     call = runner.call                     ->  call = _pt2_graph(3, runner.call)
 *
 * and makes a contract (model/contract/contract.h) of the text: calls with lines, roles, buffers, nodes. Here a graph with its contract is
 * a `struct model`, a call of `call` is a Run, and what follows (records, statistics, --fail) is what there is for packages (ops.h).
 *
 *     pt2_jit_wants()                          0: leave the process alone; else what the tool wants, with JIT_ON
 *     pt2_jit_start(id(a), a._cdata, ...)      once: how tensors are found in objects. NULL, or why it cannot be done
 *     pt2_jit_call(), pt2_jit_graph(n, call)   the two functions; what they return is Python's
 *     pt2_jit_arm(n, ...)                      graph n runs for the program (autotuning runs modules, too): from now on it is watched
 *
 * All is called with the interpreter's lock held, and that is the lock of what is kept here. CPython is found in the process, by its
 * stable ABI (3.9 and newer); nothing of it is needed to build this. Builds without that lock are refused by rewrite.py.
 *
 * How a tensor is reached: an object of type torch.Tensor holds a word with the address of its TensorImpl, and the address of such a word
 * is an AtenTensorHandle (torch/csrc/inductor/aoti_torch/utils.h). Where the word is, is found by comparing with Tensor._cdata (offset 16
 * in torch 2.13 and 2.15, torch/csrc/autograd/python_variable.h). Which types hold one, rewrite.py says, once for each type.
 */
#ifndef PT2_PROBE_JIT_H
#define PT2_PROBE_JIT_H
#include <stddef.h>
#include <stdint.h>

#define JIT_ON (1u << 31)    /* a tool is there */
#define JIT_CALLS (1u << 30) /* and it wants calls; the rest is enum calls_want */
#define JIT_STEPS (1u << 29) /* of some steps only: pt2_jit_step() is to be called */

/* The kinds of types that pt2_jit_start's classify tells apart. */
enum jit_type { JIT_OTHER, JIT_TENSOR, JIT_LIST, JIT_TUPLE };

/* A table has for each call how many arguments of the contract are given (lists flattened, keywords behind); what it returns comes after
 * them. JIT_SELF: the callee's __self__ is the first. */
#define JIT_SELF 0x80000000u

typedef struct _object PyObject; /* CPython's own name */

struct jit_table {
	const char *graph; /* "3_backward" */
	const char *path;  /* of the generated text */
	const char *text;  /* the contract as JSON, with "kernels" as in kernel_information.json */
	size_t size;
	const uint32_t *given;
	uint32_t first, n; /* its calls' numbers */
	/* With CALLS_RECORD: torch's fx_graph_runnable (CompiledFxGraph.runnable_graph_str, 2.7 and newer), whose placeholders are
	 * the graph's inputs in order; NULL: not known. */
	const char *program;
};

#define JIT_EXPORT __attribute__((visibility("default")))
JIT_EXPORT uint32_t pt2_jit_wants(void);
JIT_EXPORT const char *pt2_jit_start(uintptr_t tensor, uint64_t cdata, uintptr_t other, uint64_t other_cdata, PyObject *classify);
JIT_EXPORT PyObject *pt2_jit_call(void);
JIT_EXPORT PyObject *pt2_jit_graph(uint32_t graph, PyObject *callable);
JIT_EXPORT const char *pt2_jit_arm(uint32_t graph, const struct jit_table *t);
JIT_EXPORT void pt2_jit_seen(const char *graph, const char *path); /* where calls are not wanted */
JIT_EXPORT void pt2_jit_aside(const char *text);
/* The program has an optimizer, and, with `ended`, a step of it has ended: --step counts these from then on, not the runs of a graph. */
JIT_EXPORT void pt2_jit_step(int ended);
/* The step that the run-th run of a graph belongs to. */
uint32_t jit_step(uint32_t run);

/* A RuntimeError in the interpreter; its lock is held. */
void jit_raise(const char *text);

#endif
