/* verify.h - which call of a compiled model computes something else than its graph.
 *
 *     struct verify v;
 *     verify_run(&v, &observed, &reference);               // both must outlive it
 *     v.row[c].what, v.row[c].why                          // for each call
 *     v.finding[0].call, .node, .got, .want ...            // what is wrong, one after the other
 *     verify_release(&v);
 *
 * Values are matched by value: no provenance and no name is trusted (they choose between equals, and go into texts).
 *  1. Each tensor that was written or read is looked for among the nodes (numbers.h).
 *  2. A call with a written tensor that is no node, which the model returns or of which a reader's are none either, is questioned: which
 *     tensor b, of its own or of those that it reads, held for which node n, makes more of the others right? The nodes below n are computed
 *     again from b. Looking upstream is essential: a kernel that drops its relu yields another node's value, so that it looks right and its
 *     reader wrong. The best is accused, b is the node's value from then on, and it goes on: what follows is judged by what it was given.
 *  3. A kernel whose tensors are all nodes is held against them once more, computed from the tensors that it read, in the node's own types
 *     and in float64: what is wrong by less than step 1 sees, and what rounding explains.
 * What is inside of a branch or of a loop's body is a node of the turn that ran (aten/interp/unroll.h), but never questioned by itself: its
 * buffers also hold what no node has (rows that are not written yet, a compiler's own counter). If a result is wrong, the call that wrote
 * it is accused, or the kernel that first wrote what is no node of what are; where that cannot be told, or one of those of the body before
 * it (.others).
 * Operators (aoti_torch_*) are taken as given: they are torch's, not compiled. One that seems wrong was given something wrong.
 *
 * Thresholds of 3 are those that 679 outputs of clean models never reached (docs/user/VERIFY.md): float32 and float64 are wrong beyond 4
 * times eager's greatest error (and 4 ulp), or 8 times its root mean square; 16 bits beyond 1.25 times.
 */
#ifndef PT2_VERIFY_H
#define PT2_VERIFY_H
#include "aten/verify/observed.h"
#include "aten/verify/reference.h"

enum verify_what {
	VERIFY_EQUAL,    /* as eager, bit by bit */
	VERIFY_ROUNDING, /* what rounding explains */
	VERIFY_EFFECT,   /* what it writes is no node, and all that is computed of it is right */
	VERIFY_WRONG,
	VERIFY_OPEN,     /* not verified: .why */
	VERIFY_OPERATOR, /* not compiled */
};
struct verify_match {
	uint32_t node;
	double off; /* greatest difference: nodes that are nearly the same (a batch norm of ones and zeros) are told apart by it */
	struct layout l;
};
struct verify_tensor {
	struct verify_match *m; /* the nodes that it is */
	uint32_t n, cap;
	uint32_t derived; /* no node, but the sum, the mean, the greatest ... of this one over some dims (derived.c); NONE */
	uint32_t expect;  /* the node that it has to be, as the model returns it; NONE */
	bool empty;       /* no elements, or no numbers: nothing is said */
	bool accused;     /* it is no node, and stands for the one in m */
};
struct verify_row {
	enum verify_what what;
	uint32_t node;                  /* NONE: more than one, or none */
	double compiled_ulp, eager_ulp; /* greatest errors against float64, of the tensor's greatest number; of EQUAL and ROUNDING */
	uint32_t together;              /* with the calls from this one on, whose tensors are no nodes; NONE */
	char *why;                      /* OPEN */
};
struct verify_finding {
	uint32_t call, node;            /* call: a kernel, or the operator that was given something wrong (.given) */
	uint32_t write;                 /* the tensor */
	bool given, subtle;             /* subtle: of the size of rounding, found by step 3 */
	uint32_t others;                /* calls one of which it is, when it cannot be told: from this one on to .call; NONE */
	uint32_t right;                 /* later tensors and outputs that are right with it */
	uint64_t n, wrong;              /* elements */
	int64_t at;                     /* the worst: its linear place in the node */
	double got, want;               /* in float64; of complex numbers the real part */
	double compiled_ulp, eager_ulp; /* subtle */
};
struct verify {
	struct observed *o;
	struct reference *ref;
	struct verify_tensor *read, *write;
	struct verify_row *row; /* by call */
	struct verify_finding *finding;
	uint32_t n_findings, cap_findings;
	uint64_t hypotheses, evaluated; /* what it took */
	uint32_t n_outputs_wrong;       /* outputs that are not their node, before anything was accused */
	/* private */
	uint32_t *by_numel; /* nodes with a tensor, by its number of elements */
	uint32_t n_by_numel;
	uint64_t *down; /* bit d of row c: call d comes from call c */
	size_t words;
	bool *questioned;
	uint8_t *effect; /* by write, local.c's: 1: right by effect; 2: not */
};

void verify_run(struct verify *v, struct observed *o, struct reference *ref);
void verify_release(struct verify *v);

/* The node that a write is: among several the nearest that the call has not read, else the nearest. NULL: none. */
const struct verify_match *verify_written_as(const struct verify *v, uint32_t write);

/* ---- between the files of this folder ---- */

/* The nodes that may be b, in v->by_numel: *n of them. */
const uint32_t *verify_nodes(const struct verify *v, int64_t numel, uint32_t *n);
/* Is this tensor the node, as it is in w (NULL: in the reference)? */
bool verify_is(struct verify *v, const struct numbers *b, uint32_t node, struct what_if *w, struct layout *l);
void verify_classify(struct verify *v);
void verify_derive(struct verify *v);
/* It is not what it should be: no node, or not the one that the model returns. Not of what nobody reads. */
bool verify_bad(const struct verify *v, uint32_t write);
/* A tensor of a branch or a loop's body (torch 2.13, torch/_inductor/codegen/wrapper.py, SubgraphPythonWrapperCodegen: names begin with the
 * graph's): its nodes are not those of the root. */
bool verify_inside(const struct observed_tensor *w);
bool verify_output_right(const struct verify *v, uint32_t read);
static inline bool verify_down(const struct verify *v, uint32_t call, uint32_t from)
{
	return v->down[from * v->words + call / 64] >> call % 64 & 1;
}
bool verify_holds(const struct verify_tensor *t, uint32_t node);
bool verify_reads(const struct verify *v, uint32_t call, uint32_t node);
/* Step 2; step 3. */
void verify_blame(struct verify *v);
void verify_local(struct verify *v);
/* How b differs from what the node should be: fills n, wrong, at, got, want. */
void verify_compare(struct verify_finding *f, const double *got, const struct numbers *want, double error);
struct verify_finding *verify_add(struct verify *v, uint32_t call, uint32_t write, uint32_t node);

#endif
