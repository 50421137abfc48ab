/* reference.h - what a graph's nodes are, computed by the interpreter (aten/interp/interp.h): the values that kernels are held against.
 *
 *     struct reference ref;
 *     if (reference_open(&ref, &program, in, n, &err) < 0) ...
 *     reference_numbers(&ref, node)            // its value; NULL: it has none that is a tensor, or could not be computed
 *     reference_error(&ref, node, value)       // how far it is from the same in float64
 *     reference_close(&ref);
 *
 * Nodes are those of the graph's root, counted from its first; where it has loops, branches or recurrent layers, of the graph as it runs
 * with these inputs (aten/interp/unroll.h). A node of which an operand is not known, whose operator is not here, or
 * that draws random numbers is not known, and what follows from it is not: nothing is held against those (.unknown says why).
 *
 * To see what would follow if a node were something else:
 *     struct what_if w;
 *     what_if_begin(&w, &ref, node, tensor);   // takes the tensor
 *     what_if_numbers(&w, other)               // computed when it is asked for: only what lies between the two
 *     what_if_keep(&w);                        // from now on it is; or
 *     what_if_end(&w);
 */
#ifndef PT2_VERIFY_REFERENCE_H
#define PT2_VERIFY_REFERENCE_H
#include "aten/interp/program.h"
#include "aten/interp/unroll.h"
#include "aten/verify/numbers.h"

struct reference {
	const struct program *program;
	const struct graph *g; /* the program's, or .unrolled's */
	struct unrolled unrolled;
	uint32_t first, n;           /* nodes of the root */
	struct aten_value *v, *wide; /* by node; wide: in float64, computed when an error is first asked for */
	bool *known, has_wide;
	struct numbers *x;        /* computed when asked for; n -1: has none */
	double *error, *error_of; /* by node, and the greatest number that it is the error of */
	uint64_t *below;          /* bit j of row i: node i comes from node j */
	size_t words;
	struct interp *run, *run_wide;
	struct interp_options o, o_wide;
	struct buf unknown; /* the nodes at which not knowing begins, a line each: "rand: aten.rand.default: random" */
	size_t n_unknown;
};

/* p: functional (program_functionalize). in: as program_run() takes it; it must outlive ref. before (may be NULL): the call before this
 * one, which has left its buffers. max_bytes: of all values together (0: no limit); what would go beyond is not known. */
int reference_open(struct reference *ref, const struct program *p, const struct tensor_view *in, size_t n, const struct reference *before,
		   uint64_t max_bytes, struct err *err);
/* Does a call leave something for the next? */
bool reference_keeps_state(const struct program *p);
void reference_close(struct reference *ref);
struct numbers *reference_numbers(struct reference *ref, uint32_t node);
/* The greatest difference of the node's value from the same in float64, for a value x of the node: less where x has smaller numbers (it
 * stands for another one, as in what_if). */
double reference_error(struct reference *ref, uint32_t node, const struct numbers *x);
void reference_errors(struct reference *ref); /* they are computed then */
/* Its value with every float as float64; -1: not known. x is the caller's. */
int reference_double(struct reference *ref, uint32_t node, struct numbers *x);
/* .run_wide is there then. */
void reference_wide(struct reference *ref);
static inline bool reference_below(const struct reference *ref, uint32_t node, uint32_t from)
{
	return ref->below[node * ref->words + from / 64] >> from % 64 & 1;
}
static inline bool reference_is_tensor(const struct reference *ref, uint32_t node)
{
	return ref->known[node] && ref->v[node].kind == ATEN_TENSOR;
}
/* The node that output k of the call is; NONE: it is none (a constant, None). */
uint32_t reference_output(const struct reference *ref, uint32_t k);
/* The node that the weight of this module path is after the call; NONE: what it was, or none is called so. */
uint32_t reference_left(const struct reference *ref, struct slice fqn);
/* A tensor like that node's, with these numbers. */
struct aten_tensor *reference_tensor(const struct reference *ref, uint32_t node, const double *v, struct err *err);

/* Is the node's value a parameter or a buffer? */
bool reference_is_weight(const struct reference *ref, uint32_t node);

struct what_if {
	struct reference *ref;
	uint32_t node;
	struct aten_value *v; /* of nodes below .node their new ones, where they were asked for; of others the reference's */
	uint8_t *done;        /* 1: computed; 2: failed */
	struct numbers *x;
	uint64_t evaluated;
};
void what_if_begin(struct what_if *w, struct reference *ref, uint32_t node, struct aten_tensor *t);
struct numbers *what_if_numbers(struct what_if *w, uint32_t node);
void what_if_keep(struct what_if *w);
void what_if_end(struct what_if *w);

#endif
