/* interp.h - runs a graph: torch.fx.Interpreter over the operators of aten.h. No torch.
 *
 *     struct aten_value in[] = {aten_of(w), aten_of(x)}, out;            // one for each placeholder of the root, in order
 *     if (interp_run(&g, in, 2, NULL, &out, &err) < 0) ...              // EXIT_INPUT: which node, its operator, its line, and why
 *     out.item[0].tensor ...                                            // out is a list: what the graph's output names
 *     aten_value_release(&out);
 *
 * What runs
 *  - call_function of torch.ops.aten.*; of Python's and torch's functions over numbers (_operator.mul, torch.sym_max, math.ceil: sizes
 *    that are symbols are numbers here); getitem; the assertions that torch.export leaves in a graph: one that does not hold ends the run.
 *  - Higher-order operators: cond, while_loop, scan, associative_scan, map_impl, invoke_subgraph, wrap_with_set_grad_enabled; with_effects
 *    and what compiles code of its own (user's Triton kernels, flex_attention, autocast) is refused by name.
 *  - Operators that change an operand in place do so: a graph before functionalization is run as eager runs it, aliases and views
 *    included. Inputs are written to, then: interp_writes() tells beforehand. Who keeps values (.seen, interp_eval) functionalizes it first
 *    (functionalize.h; program_functionalize): in g->functional no operator changes a value, values are snapshots, and any node can be
 *    evaluated again, from other values, too. A graph without operators in place is functional as it is.
 *  - call_method and call_module (a graph before AOTAutograd) are refused by name.
 *
 * A value lives until its last use; with .seen somebody sees each of them before.
 * .as_double: every float is float64 and every complex complex128: inputs, dtypes among the arguments, torch's default dtype. What looks at
 * bits (view.dtype) or asserts dtypes means nothing then: the first is refused, the second passed over.
 *
 * Failure: -1, err; the graph may be hostile: operators check their operands, loops end by .max_steps (while_loop: 0 is a million).
 */
#ifndef PT2_INTERP_H
#define PT2_INTERP_H
#include "aten/aten.h"
#include "graph/graph.h"

struct interp_options {
	bool as_double;
	bool shapes;        /* no values: tensors have sizes, strides and types (aten_fake) */
	uint64_t max_steps; /* calls of subgraphs, all together */
	/* Of tensors that are made from interp_open() on, at a time: those that the caller keeps (.seen, value[]) count, inputs do not. What
	 * would take more fails: "node 'mm' (aten.mm.default): mm: 4096 bytes more, with ... alive, are over the limit". 0: no limit. */
	uint64_t max_bytes;
	/* Each node that has a value, in order of execution: of loops' bodies in each turn. The value is its own until this returns; false ends
	 * the run (as a failure, with err as it is left there). */
	bool (*seen)(void *user, uint32_t node, const struct aten_value *v, struct err *err);
	void *user;
};

/* g is finished (graph_finish). o NULL: as it stands. input: tensors are borrowed. */
int interp_run(const struct graph *g, const struct aten_value *input, size_t n, const struct interp_options *o, struct aten_value *out,
	       struct err *err);
/* The nodes of the root one by one, over values that are the caller's: value[i] is that of the i-th node. */
struct interp;
struct interp *interp_open(const struct graph *g, const struct interp_options *o); /* both must outlive it */
/* Computes value[node - first]; those of its operands are there. An output's is a list of what it names. */
int interp_eval(struct interp *run, uint32_t node, struct aten_value *value, struct err *err);
void interp_close(struct interp *run);
/* An input as it is with .as_double. mode NULL: none to keep to. */
int interp_to_double(const struct aten_value *in, const struct aten_mode *mode, struct aten_value *out, struct err *err);

/* Does a node write to one of its operands (add_, copy_, index_put_, out=)? */
bool interp_writes(const struct graph *g);
/* The operators of the graph that are not here, each once, with how often it is there: "aten.cdist.default" and 3. Returns how many;
 * v is of the caller, for n of them. */
struct interp_missing {
	struct slice op;
	uint32_t n;
};
size_t interp_missing(const struct graph *g, struct interp_missing *v, size_t n);

#endif
