/* jit.h - torch.compile graphs (not AOTInductor's): the functions that share/jit/sitecustomize.py calls in the target process.
 *
 * Such a graph is a generated Python module. Between the text on disk and the interpreter, share/jit/rewrite.py sends each of its kernel
 * and operator calls through one more function:
 *
 *     cpp_fused_log_0(buf1, buf4)            ->  _pt2_call(17, cpp_fused_log_0, buf1, buf4)
 *     extern_kernels.mm(a, b, out=buf0)      ->  _pt2_call(18, extern_kernels.mm, a, b, out=buf0)
 *     call = runner.call                     ->  call = _pt2_graph(3, runner.call)
 *
 * and makes a contract (model/contract/contract.h) of the text: calls with lines, roles, buffers, nodes. Here, a graph with its contract is
 * a `struct model`, a call of `call` is a run, and the rest (records, statistics, --fail) is the same as for packages (ops.h).
 *
 *     pt2_jit_wants()                          0: leave the process alone; else the tool's wishes, with JIT_ON
 *     pt2_jit_start(id(a), a._cdata, ...)      once: learns how to find tensors in objects. NULL, or why it is impossible
 *     pt2_jit_call(), pt2_jit_graph(n, call)   the two functions; they return new references
 *     pt2_jit_arm(n, ...)                      graph n is run by the program (autotuning runs modules, too): watch it from now on
 *
 * Everything is called with the GIL held, which is also the lock of the data kept here. CPython is found in the process, through its stable
 * ABI (3.9 and newer); nothing of it is needed to build this. rewrite.py refuses builds without the GIL.
 *
 * How a tensor is found: an object of type torch.Tensor has a word with the address of its TensorImpl, and the address of such a word is an
 * AtenTensorHandle (torch/csrc/inductor/aoti_torch/utils.h). The word is located by comparison with Tensor._cdata (offset 16 in torch 2.13
 * and 2.15, torch/csrc/autograd/python_variable.h). rewrite.py says which types have one, once per type.
 */
#ifndef PT2_PROBE_JIT_H
#define PT2_PROBE_JIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_ON (1u << 31)    /* a tool is watching */
#define JIT_CALLS (1u << 30) /* it needs calls; the rest is enum calls_want */
#define JIT_STEPS (1u << 29) /* only of some steps: pt2_jit_step() must be called */

/* The kinds of types returned by pt2_jit_start's classify. */
enum jit_type { JIT_OTHER, JIT_TENSOR, JIT_LIST, JIT_TUPLE };

/* A table gives for each call the number of contract arguments passed (lists flattened, keywords last); returned values follow. JIT_SELF:
 * the callee's __self__ is the first. */
#define JIT_SELF 0x80000000u

typedef struct _object PyObject; /* CPython's own name */

struct jit_table {
	const char *graph; /* "3_backward" */
	const char *path;  /* of the generated text */
	const char *text;  /* the contract as JSON, with "kernels" as in kernel_information.json */
	size_t size;
	const uint32_t *given;
	uint32_t first, n; /* its calls' numbers */
	/* With CALLS_RECORD: torch's fx_graph_runnable (CompiledFxGraph.runnable_graph_str, 2.7 and newer), whose placeholders are the
		 * graph's inputs in order; NULL: unknown. */
	const char *program;
};

#define JIT_EXPORT __attribute__((visibility("default")))
JIT_EXPORT uint32_t pt2_jit_wants(void);
JIT_EXPORT const char *pt2_jit_start(uintptr_t tensor, uint64_t cdata, uintptr_t other, uint64_t other_cdata, PyObject *classify);
/* How a kernel is launched: launch(callee, *args, **names) gives bytes (rewrite.py, _launch) or None. */
JIT_EXPORT void pt2_jit_launches(PyObject *launch);
/* torch's settings of precision: precision() gives bytes, "NAME=VALUE ...". Asked when a graph begins whose tensors are saved. */
JIT_EXPORT void pt2_jit_precision(PyObject *precision);
JIT_EXPORT PyObject *pt2_jit_call(void);
JIT_EXPORT PyObject *pt2_jit_graph(uint32_t graph, PyObject *callable);
JIT_EXPORT const char *pt2_jit_arm(uint32_t graph, const struct jit_table *t);
JIT_EXPORT void pt2_jit_seen(const char *graph, const char *path); /* if no calls are recorded */
JIT_EXPORT void pt2_jit_aside(const char *text);
JIT_EXPORT void pt2_jit_end(void); /* before os._exit() */
/* The program has an optimizer; with `ended`, a step of it ended: --step then counts these, not the runs of a graph. */
JIT_EXPORT void pt2_jit_step(int ended);
/* torch.amp.GradScaler (share/jit/scaler.py): one was made, has scaled a loss, has updated its scale. They become "scaler" events. */
JIT_EXPORT void pt2_jit_scaler_made(void);
JIT_EXPORT void pt2_jit_scaler_scaled(void);
JIT_EXPORT void pt2_jit_scaler_updated(double scale, int skipped); /* the scale before */
/* The step that the run-th run of a graph belongs to. */
uint32_t jit_step(uint32_t run);

/* With --bounds: the function that kernels called by Python ask for a tensor's address (torch/_inductor/codecache.py,
 * _torchinductor_pyobject_tensor_data_ptr: torch passes its own to each kernel's module, as a number),
 * instead of this one; 0: not needed. */
JIT_EXPORT uintptr_t pt2_jit_address(uintptr_t theirs);

#define JIT_NUMBERS 32
struct jit_launch {
	uint32_t grid[3], block, shared, n;
	struct jit_number {
		char name[64];
		uint64_t value;
	} number[JIT_NUMBERS];
};
/* A call in progress: what Python gave, from the callee on. */
struct jit_given {
	PyObject *const *args;
	size_t n; /* positional ones */
	PyObject *names;
	/* Asks Python how it is launched; the GIL is held. False: unknown. */
	bool (*launch_of)(const struct jit_given *g, struct jit_launch *l);
};

/* A RuntimeError in the interpreter; the GIL is held. */
void jit_raise(const char *text);

#endif
