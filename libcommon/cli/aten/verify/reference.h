/* reference.h - the values of a graph's nodes, computed by the interpreter (aten/interp/interp.h), to compare kernels with.
 *
 *     struct reference ref;
 *     if (reference_open(&ref, &program, in, n, &err) < 0) ...
 *     reference_numbers(&ref, node)            // its value; NULL: not a tensor, or could not be computed
 *     reference_error(&ref, node, value)       // how far it is from its float64 value
 *     reference_close(&ref);
 *
 * Nodes are those of the graph's root, counted from its first; if it has loops, branches or recurrent layers, those of the graph as it runs
 * with these inputs (aten/interp/unroll.h). A node with an unknown operand, an operator that we lack, or
 * random numbers is unknown, and so is everything that depends on it: nothing is compared with those (.unknown says why).
 *
 * To see what would follow if a node were something else:
 *     struct what_if w;
 *     what_if_begin(&w, &ref, node, tensor);   // takes the tensor
 *     what_if_numbers(&w, other)               // computed on demand: only what is between the two
 *     what_if_keep(&w);                        // makes it permanent; or
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
	struct aten_value *v, *wide; /* by node; wide: in float64, computed when an error is first needed */
	bool *known, has_wide;
	struct aten_tensor **drop; /* by node: the mask of a dropout, whose value is computed with it (interp.h); NULL: none has one */
	bool *adopted;             /* by node: its value is a recorded one; NULL: none is */
	struct numbers *x;         /* computed on demand; n -1: has none */
	double *error, *error_of;  /* by node, and the maximum that it is the error of */
	uint64_t *below;           /* bit j of row i: node i depends on node j */
	size_t words;
	struct interp *run, *run_wide;
	struct interp_options o, o_wide;
	struct buf unknown; /* the first unknown nodes, one per line: "rand: aten.rand.default: random" */
	size_t n_unknown;
};

/* p: functional (program_functionalize). in: as for program_run(); it must outlive ref. before (may be NULL): the previous
 * call, which left its buffers. max_bytes: limit for all values together (0: none); nodes beyond it are unknown. */
int reference_open(struct reference *ref, const struct program *p, const struct tensor_view *in, size_t n, const struct reference *before,
		   uint64_t max_bytes, struct err *err);
/* Does a call leave state for the next one? */
bool reference_keeps_state(const struct program *p);
void reference_close(struct reference *ref);
/* An unknown node takes this value (of its sizes and dtype), and what depends on it is computed, as far as possible. newly: room for all
 * nodes; it gets those that are known now, the node first; returns how many. Takes t. reference_abandon undoes it. */
uint32_t reference_adopt(struct reference *ref, uint32_t node, struct aten_tensor *t, uint32_t *newly);
void reference_abandon(struct reference *ref, const uint32_t *newly, uint32_t n);
/* The same for a dropout in training that multiplies by this mask (taken). 0: it cannot be computed. */
uint32_t reference_drop(struct reference *ref, uint32_t node, struct aten_tensor *mask, uint32_t *newly);
void reference_relist(struct reference *ref); /* .unknown, after some that were unknown are known */
struct numbers *reference_numbers(struct reference *ref, uint32_t node);
/* At least the signature of these: most nodes are inside of a kernel and match nothing. */
struct numbers *reference_signature(struct reference *ref, uint32_t node);
/* The maximum difference of the node's value from its float64 value, for a value x of the node: less if x has smaller numbers (it
 * replaces the node's value, as in what_if). */
double reference_error(struct reference *ref, uint32_t node, const struct numbers *x);
void reference_errors(struct reference *ref); /* computes them now */
/* Its value with every float as float64; -1: unknown. The caller releases x. */
int reference_double(struct reference *ref, uint32_t node, struct numbers *x);
/* .run_wide exists afterwards. */
void reference_wide(struct reference *ref);
static inline bool reference_below(const struct reference *ref, uint32_t node, uint32_t from)
{
	return ref->below[node * ref->words + from / 64] >> from % 64 & 1;
}
static inline bool reference_is_tensor(const struct reference *ref, uint32_t node)
{
	return ref->known[node] && ref->v[node].kind == ATEN_TENSOR;
}
/* The node of output k of the call; NONE: not a node (a constant, None). */
uint32_t reference_output(const struct reference *ref, uint32_t k);
/* Is it a number that the graph holds? */
bool reference_output_number(const struct reference *ref, uint32_t k, double *number);
/* The node with the value that a call leaves in a placeholder, a buffer or an input; NONE: it stays. */
uint32_t reference_after(const struct reference *ref, uint32_t i);
/* A tensor like that node's, with these numbers. */
struct aten_tensor *reference_tensor(const struct reference *ref, uint32_t node, const double *v, struct err *err);

/* Is the node's value a parameter or a buffer? */
bool reference_is_weight(const struct reference *ref, uint32_t node);

struct what_if {
	struct reference *ref;
	uint32_t node;
	struct aten_value *v; /* new values of nodes that depend on .node, once computed; the reference's for others */
	uint8_t *done;        /* 1: computed; 2: failed */
	struct numbers *x;
	uint64_t evaluated;
};
void what_if_begin(struct what_if *w, struct reference *ref, uint32_t node, struct aten_tensor *t);
struct numbers *what_if_numbers(struct what_if *w, uint32_t node);
void what_if_keep(struct what_if *w);
void what_if_end(struct what_if *w);

#endif
