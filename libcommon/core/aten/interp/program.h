/* program.h - what torch.export.save wrote, as a thing that runs: its graph, its weights, its inputs by name.
 *
 *     struct program p;
 *     struct program_result r;
 *     if (program_open(&p, "exported.pt2", NULL, &err) < 0) ...
 *     p.contract.input[0].name ...                                   // what it is to be called with (model/contract/exported.h)
 *     if (program_run(&p, in, n, NULL, &r, &err) < 0) ...            // in: one for each input of the contract
 *     r.v[0].name, r.v[0].meta, r.v[0].data ...                      // "out0"; as pt2-run has them of a compiled model
 *     program_result_release(&r);
 *     program_close(&p);
 *
 * Inputs and weights are not written to: where the graph changes some in place, it works on copies. Who keeps values of nodes calls
 * program_functionalize() first. Whether inputs are
 * those that the program was exported for is for the caller to check (model/check/check.h, by .contract); a graph checks what its nodes
 * assert. Outputs are those of the call; of buffers that the program changes, which a functional graph returns before them, nothing is
 * kept.
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
	struct weights other;   /* of another file */
	struct weights_fit fit;
	/* The source of the value of each placeholder of the root. */
	struct program_input {
		enum program_from {
			PROGRAM_WEIGHT,
			PROGRAM_INPUT,
			PROGRAM_CONSTANT, /* part of the graph; nothing reads it */
			PROGRAM_SIZE,     /* a symbol, or an expression, that sizes of inputs tell */
		} from;
		uint32_t index;      /* in fit.v, in contract.input */
		struct symsize size; /* of PROGRAM_SIZE, in contract.tab */
	} * input;
	uint32_t n_inputs, n_outputs;
	bool strided;                     /* inputs come to the graph with the strides that it says; else as they are given */
	struct functionalized functional; /* program_functionalize(): its graph is `graph` then, and it has none; else empty */
};

/* weights: a file to take them from; NULL: the program's own. */
int program_open(struct program *p, const char *path, const char *weights, struct err *err);
/* A graph that came without a package: of a trace (aot_inference_graph, aot_forward_graph, ...), of a launcher, graph.json. Its inputs are
 * the tensors among its placeholders, parameters too, in order, and integers that no size of these tells. Its sizes are symbols, or those
 * that it was traced with. On whatever device it ran: here all is computed on the CPU. g becomes p's; `name` is for errors.
 * A graph for AOTInductor has its parameters as attributes instead (before_joint_graph in a trace: "fc_weight = self.fc.weight"): they are
 * its constants, placeholders behind the others, and lack their values until they are given. */
int program_of_graph(struct program *p, struct graph *g, const char *name, struct err *err);
static inline bool program_lacks_weights(const struct program *p) { return p->contract.n_constants && !p->fit.n; }
int program_take_weights(struct program *p, const struct weights *w, struct err *err); /* w must outlive p */
int program_weights(struct program *p, const char *path, struct err *err);             /* of a file */
void program_close(struct program *p);
/* Where the graph has operators in place, it becomes one that has none (functionalize.h): placeholders stay what they were, one for one. */
int program_functionalize(struct program *p, struct err *err);

struct program_result {
	struct tensor_view *v; /* contiguous or not, as eager has them; tensor_is_none() of a None. Numbers are tensors of no dimensions */
	size_t n;
	struct aten_value out; /* what holds them */
	struct arena arena;
};
int program_run(const struct program *p, const struct tensor_view *in, size_t n, const struct interp_options *o, struct program_result *r,
		struct err *err);
void program_result_release(struct program_result *r);
/* The values of the graph's placeholders, p->n_inputs of them, for interp_eval(): v is released by the caller. */
int program_inputs(const struct program *p, const struct tensor_view *in, size_t n, struct aten_value *v, struct err *err);

/* For the readers. */
void program_count_outputs(struct program *p);
void program_hold_sizes(struct program *p);

#endif
