/* program.h - runs an exported program saved by torch.export.save: its graph, its weights, its inputs by name.
 *
 *     struct program p;
 *     struct program_result r;
 *     if (program_open(&p, "exported.pt2", NULL, &err) < 0) ...
 *     p.contract.input[0].name ...                                   // its inputs (model/contract/exported.h)
 *     if (program_run(&p, in, n, NULL, &r, &err) < 0) ...            // in: one for each input of the contract
 *     r.v[0].name, r.v[0].meta, r.v[0].data ...                      // "out0"; as pt2-run shows those of a compiled model
 *     program_result_release(&r);
 *     program_close(&p);
 *
 * Inputs and weights are never written to: if the graph changes some in place, it works on copies. To keep values of nodes, call
 * program_functionalize() first. The caller must check that the inputs match the exported program (model/check/check.h, with .contract); a
 * graph checks only what its nodes assert. Outputs are those of the call; changed buffers, which a functional graph returns before them,
 * are dropped.
 */
#ifndef PT2_PROGRAM_H
#define PT2_PROGRAM_H
#include "aten/interp/functionalize.h"
#include "aten/interp/interp.h"
#include "tensor/weights/weights.h"

struct program {
	struct graph graph;
	struct contract contract;
	struct weights weights; /* weights.own is the package */
	struct weights other;   /* from another file */
	struct weights_fit fit;
	/* Where the value of each placeholder of the root comes from. */
	struct program_input {
		enum program_from {
			PROGRAM_WEIGHT,
			PROGRAM_INPUT,
			PROGRAM_PARTS,    /* a tensor subclass: .n_parts of fit.v from index on; a list of names and tensors */
			PROGRAM_CONSTANT, /* part of the graph; not read */
			PROGRAM_SIZE,     /* a symbol or expression, computed from the sizes of inputs */
		} from;
		uint32_t index; /* in fit.v or contract.input */
		uint32_t n_parts;
		struct symsize size; /* of PROGRAM_SIZE, in contract.tab */
	} * input;
	uint32_t n_inputs, n_outputs;
	const struct interp_more *more;   /* of a run whose options have none; the caller's */
	bool strided;                     /* inputs are passed to the graph with its recorded strides; else unchanged */
	struct functionalized functional; /* program_functionalize(): `graph` is then its graph, and it has none itself; else empty */
};

/* weights: a file to load them from; NULL: the program's own. */
int program_open(struct program *p, const char *path, const char *weights, struct err *err);
/* A graph without a package: from a trace (aot_inference_graph, aot_forward_graph, ...), a launcher, or graph.json. Its inputs are the
 * tensors among its placeholders, including parameters, in order, and integers that none of their sizes determine. Its sizes are symbols,
 * or those it was traced with. Whatever device it ran on, everything is computed on the CPU here. p takes ownership of g; `name` is for
 * errors. A graph for AOTInductor has its parameters as attributes instead (before_joint_graph in a trace: "fc_weight = self.fc.weight"):
 * they are its constants, placeholders after the others, and have no values until they are supplied. */
int program_of_graph(struct program *p, struct graph *g, const char *name, struct err *err);
static inline bool program_lacks_weights(const struct program *p) { return p->contract.n_constants && !p->fit.n; }
int program_take_weights(struct program *p, const struct weights *w, struct err *err); /* w must outlive p */
int program_weights(struct program *p, const char *path, struct err *err);             /* of a file */
void program_close(struct program *p);
/* If the graph has in-place operators, replaces it by one without (functionalize.h): placeholders stay the same, one for one. */
int program_functionalize(struct program *p, struct err *err);

struct program_result {
	struct tensor_view *v; /* contiguous or not, as in eager; tensor_is_none() for a None or a str. Numbers are 0-d tensors */
	size_t n;
	struct aten_value out; /* owns them */
	struct arena arena;
};
int program_run(const struct program *p, const struct tensor_view *in, size_t n, const struct interp_options *o, struct program_result *r,
		struct err *err);
void program_result_release(struct program_result *r);
/* The same, going on from call to call as the module does: buffers that one call has changed are those of the next. state: zeros at
 * first. */
struct program_state {
	struct aten_value *v; /* of the graph's placeholders: those that are buffers and have changed */
	uint32_t n;
};
int program_run_on(const struct program *p, const struct tensor_view *in, size_t n, const struct interp_options *o,
		   struct program_state *state, struct program_result *r, struct err *err);
void program_state_release(struct program_state *s);
/* The values of the graph's placeholders, p->n_inputs of them, for interp_eval(): the caller releases v. */
int program_inputs(const struct program *p, const struct tensor_view *in, size_t n, struct aten_value *v, struct err *err);

/* For the readers. */
void program_count_outputs(struct program *p);
void program_hold_sizes(struct program *p);

#endif
