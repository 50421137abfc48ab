/* interp.h - runs a graph: torch.fx.Interpreter over the operators of aten.h. No torch.
 *
 *     struct aten_value in[] = {aten_of(w), aten_of(x)}, out;            // one for each placeholder of the root, in order
 *     if (interp_run(&g, in, 2, NULL, &out, &err) < 0) ...              // EXIT_INPUT: the node, its operator, its line, and why
 *     out.item[0].tensor ...                                            // out is a list: the graph's outputs
 *     aten_value_release(&out);
 *
 * What runs
 *  - call_function of torch.ops.aten.*; of Python's and torch's functions over numbers (_operator.mul, torch.sym_max, math.ceil: sizes
 *    that are symbols are numbers here); getitem; the assertions that torch.export leaves in a graph: a failing one ends the run.
 *  - Higher-order operators, and the calls of torch.vmap: docs/user/GRAPHS.md has them all. Triton kernels of the user's own and parts
 *    that executorch lowered are refused by name.
 *  - In-place operators change their operand: a graph before functionalization runs as in eager, including aliases and views. Inputs may
 *    then be written to: check with interp_writes(). To keep values (.seen, interp_eval), functionalize the graph first (functionalize.h;
 *    program_functionalize): in g->functional no operator changes a value, values are snapshots, and any node can be evaluated again, also
 *    from other values. A graph without in-place operators is already functional.
 *  - call_method and call_module (a graph before AOTAutograd) are refused by name.
 *
 * A value lives until its last use; .seen is called for each before that.
 * .as_double: every float is float64 and every complex complex128: inputs, dtypes among the arguments, torch's default dtype. Operators
 * that reinterpret bits (view.dtype) are then refused, and dtype assertions ignored.
 *
 * Failure: -1, err; the graph may be hostile: operators check their operands, loops are limited by .max_steps (while_loop: 0 means a
 * million).
 */
#ifndef PT2_INTERP_H
#define PT2_INTERP_H
#include "aten/aten.h"
#include "graph/graph.h"

/* Who computes operators that are not here, the user's own (cli/aten/ops/customops.h). op: "mylib.op.default". */
struct interp_more {
	bool (*has)(void *user, struct slice op);
	/* Several results are a list. as_double: floats are float64. On failure *out is unchanged. */
	int (*call)(void *user, struct slice op, bool as_double, const struct aten_value *arg, size_t n, const struct aten_named *named,
		    size_t n_named, struct aten_value *out, struct err *err);
	void *user;
};

struct interp_options {
	const struct interp_more *more;  /* NULL: nobody does; not with .shapes */
	struct aten_tensor *const *drop; /* by node of the root: what dropout multiplies by instead of drawing; NULL: it draws */
	bool as_double;
	bool shapes;        /* no values: tensors have sizes, strides and types (aten_fake) */
	uint64_t max_steps; /* calls of subgraphs, in total */
	/* Limit on tensors alive at a time, among those created since interp_open(): those that the caller keeps (.seen, value[]) count,
	 * inputs do not. Exceeding it fails: "node 'mm' (aten.mm.default): mm: 4096 bytes more, with ... alive, are over the limit". 0: no
	 * limit. */
	uint64_t max_bytes;
	/* Called for each node with a value, in order of execution; in loop bodies, for each iteration. The value is valid until it
	 * returns; false ends the run (as a failure, with the err set there). */
	bool (*seen)(void *user, uint32_t node, const struct aten_value *v, struct err *err);
	void *user;
};

/* g is finished (graph_finish). o NULL: defaults. input: tensors are borrowed. */
int interp_run(const struct graph *g, const struct aten_value *input, size_t n, const struct interp_options *o, struct aten_value *out,
	       struct err *err);
/* Runs the nodes of the root one by one, with values owned by the caller: value[i] belongs to the i-th node. */
struct interp;
struct interp *interp_open(const struct graph *g, const struct interp_options *o); /* both must outlive it */
/* Computes value[node - first]; its operands' values must be present. An output's value is a list of the outputs. */
int interp_eval(struct interp *run, uint32_t node, struct aten_value *value, struct err *err);
void interp_close(struct interp *run);
/* Converts an input as .as_double does. mode NULL: no mode to follow. */
int interp_to_double(const struct aten_value *in, const struct aten_mode *mode, struct aten_value *out, struct err *err);

/* Does a node write to one of its operands (add_, copy_, index_put_, out=)? */
bool interp_writes(const struct graph *g);
/* The unsupported operators of the graph, each once, with the number of uses: "aten.cdist.default" and 3. Returns how many; the caller's v
 * has room for n. more: NULL, or who computes some of them. */
struct interp_missing {
	struct slice op;
	uint32_t n;
};
size_t interp_missing(const struct graph *g, const struct interp_more *more, struct interp_missing *v, size_t n);
/* "a Triton kernel of your own, which only Triton runs": why an operator cannot be run here at all; NULL: another operator. */
const char *interp_why_missing(struct slice op);

#endif
