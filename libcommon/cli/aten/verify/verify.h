/* verify.h - which call of a compiled model computes something different from its graph.
 *
 *     struct verify v;
 *     verify_run(&v, &observed, &reference);               // both must outlive it
 *     v.row[c].what, v.row[c].why                          // for each call
 *     v.finding[0].call, .node, .got, .want ...            // what is wrong, in order
 *     verify_release(&v);
 *
 * Values are matched by value: neither provenance nor names are trusted (they only break ties and appear in texts).
 *  1. Each tensor that was written or read is looked up among the nodes (numbers.h).
 *  2. A call is suspect if it wrote a tensor that is not a node, and the model returns it or a reader's tensors are not nodes either: which
 *     tensor b, its own or one it reads, treated as which node n, makes more of the others match? The nodes that depend on n are computed
 *     again from b. Looking upstream is essential: a kernel that drops its relu yields another node's value, so it looks right and its
 *     reader wrong. The best pair is reported, b becomes the node's value, and the search continues: later calls are judged by their actual
 *     inputs.
 *  3. A kernel whose tensors are all nodes is compared with them once more, computed from the tensors that it read, in the node's own types
 *     and in float64: this finds errors too small for step 1, and what rounding explains.
 * Tensors inside a branch or a loop's body are nodes of the iteration that ran (aten/interp/unroll.h), but never suspect on their own: such
 * buffers also hold what no node has (rows not written yet, the compiler's own counter). If a result is wrong, the call that wrote
 * it is reported, or the kernel that first computed something that is not a node from nodes; if that is undecided, the range of calls of
 * the body before it (.others). Operators (aoti_torch_*) are trusted: they are torch's, not compiled. One that seems wrong had a wrong
 * input.
 *
 * Before all that, matrix products and convolutions that a GPU computed in TF32 are recognised (tf32.c): their values become the nodes'.
 *
 * Thresholds of 3 are those that 679 outputs of clean models never reached (docs/user/VERIFY.md): float32 and float64 are wrong beyond 4
 * times eager's maximum error (and 4 ulp), or 8 times its root mean square; 16 bits beyond 1.25 times.
 */
#ifndef PT2_VERIFY_H
#define PT2_VERIFY_H
#include "aten/verify/observed.h"
#include "aten/verify/reference.h"

enum verify_what {
	VERIFY_EQUAL,    /* bitwise equal to eager */
	VERIFY_ROUNDING, /* differs by rounding */
	VERIFY_EFFECT,   /* indirectly verified: what it writes is not a node, but everything computed from it is right */
	VERIFY_WRONG,
	VERIFY_OPEN,     /* not verified: .why */
	VERIFY_OPERATOR, /* not compiled */
};
enum verify_reduced { REDUCED_NO, REDUCED_TF32, REDUCED_BF16, REDUCED_FP16 };
struct verify_match {
	uint32_t node;
	double off; /* maximum difference: distinguishes nodes that are nearly the same (a batch norm of ones and zeros) */
	struct layout l;
};
struct verify_tensor {
	struct verify_match *m; /* its nodes */
	uint32_t n, cap;
	uint32_t derived;      /* not a node, but the sum, the mean, the maximum ... of this one over some dims (derived.c); NONE */
	uint32_t expect;       /* the node that it must be, because the model returns it; NONE */
	bool empty;            /* no elements, or no numbers: not judged */
	bool accused;          /* it is not a node, and is treated as the one in m */
	bool adopted;          /* its numbers are taken for those of a node that cannot be computed (unknown.c) */
	bool counter;          /* a loop's counter or its condition, which need not be in the graph, as it should be (turns.c) */
	bool unknown;          /* the model leaves it in a buffer, and what that should be could not be computed */
	enum verify_what what; /* of a kernel's write, for verify_row.what of its call, unless that is WRONG */
};
struct verify_row {
	enum verify_what what;
	uint32_t node;                  /* NONE: more than one, or none */
	double compiled_ulp, eager_ulp; /* maximum errors against float64, relative to the tensor's maximum; for EQUAL and ROUNDING */
	uint32_t together;              /* verified together with the calls from this one on, whose tensors are not nodes; NONE */
	char *why;                      /* OPEN */
	enum verify_reduced reduced;    /* a product computed in less than its type (tf32.c) */
};
struct verify_finding {
	uint32_t call, node; /* call: a kernel, or the operator with a wrong input (.given) */
	uint32_t write;      /* the tensor; NONE: it is not the call's own */
	uint32_t tensor;     /* the tensor that is treated as the node, whoever wrote it */
	bool given, subtle;  /* subtle: of the size of rounding, found by step 3 */
	bool less_exact;     /* subtle, and not wrong: right for inputs that differ by rounding, where eager is closer */
	bool ends;           /* it is the condition of a loop, and ended it before the graph's last turn; or (.got) went on after it */
	uint32_t others;     /* if undecided, it is one of the calls from this one to .call; else NONE */
	uint32_t right;      /* later tensors and outputs that match with it */
	uint64_t n, wrong;   /* elements; those that are off by more than rounding, which may be none by itself */
	int64_t at;          /* the worst element: its linear index in the node */
	double got, want;    /* in float64; the real part of complex numbers */
	double compiled_ulp, eager_ulp; /* subtle */
	uint32_t suspect, n_suspects;   /* in verify.suspect: it may be one of these calls, whose results it read and the graph lacks */
	uint32_t narrowed, n_narrowed;  /* likewise: it was a choice of these calls until they were run again (narrow.h); 0: it was not */
	uint32_t kept, n_kept;          /* likewise: then of these */
};

/* What the model returns or leaves in a buffer or an input, end to end: compared with the graph before any kernel is accused. */
enum verify_agrees { VERIFY_AGREES, VERIFY_DIFFERS, VERIFY_UNKNOWN };
struct verify_output {
	uint32_t read, write; /* an output; what a call left in a buffer or an input. The other one is NONE; both: it was not written */
	uint32_t input;       /* the graph's placeholder of that buffer or input; NONE: an output */
	uint32_t node;        /* what it should be; NONE: not a node */
	enum verify_agrees what;
	bool explained;  /* DIFFERS: because of the kernels that are accused */
	const char *why; /* UNKNOWN */
	struct verify_finding
	    at; /* DIFFERS: .n, .wrong, .at, .got, .want; .suspect, .n_suspects: it is one of these calls. at NONE: sizes */
};
struct verify {
	struct observed *o;
	struct reference *ref;
	struct verify_tensor *read, *write;
	struct verify_row *row; /* by call */
	struct verify_finding *finding;
	uint32_t n_findings, cap_findings;
	uint64_t hypotheses, evaluated; /* effort */
	struct verify_output *output;
	uint32_t n_outputs, cap_outputs, n_differ, n_unknown; /* n_differ: DIFFERS; n_unknown: UNKNOWN */
	uint32_t *suspect;                                    /* calls, for findings and outputs */
	uint32_t n_suspects, cap_suspects;
	/* private */
	uint32_t *by_numel; /* nodes with a tensor, by its number of elements */
	uint32_t n_by_numel;
	struct verify_group {
		int64_t numel;
		uint32_t first, n; /* in by_numel */
	} * group;
	uint32_t n_groups, cap_groups;
	uint64_t *down; /* bit d of row c: call d depends on call c */
	size_t words;
	bool *questioned;
	struct cut *room; /* tables by node, for cut.c */
	bool *taken;      /* by node: its value is what a GPU computed in TF32 */
	bool *replaced;   /* by node: its value is that of a kernel that is accused */
	uint8_t *effect;  /* by write, for local.c */
};

void verify_run(struct verify *v, struct observed *o, struct reference *ref);
void verify_release(struct verify *v);
/* Only rows, all open, and no findings: filled in by alone.c. */
void verify_borrow(struct verify *v, struct observed *o, struct reference *ref);

/* With what another Run of the model proved: a tensor that was a node there, and is none here, is that node of what its call read, or
 * wrong. */
void verify_proved(struct verify *v, const struct verify *other);

/* The node of a write: among several the closest one that the call has not read, else the closest. NULL: none. */
const struct verify_match *verify_written_as(const struct verify *v, uint32_t write);

/* ---- shared by the files of this folder ---- */

/* Sorts the nodes by their number of elements. */
void verify_index(struct verify *v);
/* The candidate nodes for b, in v->by_numel: *n of them. */
const uint32_t *verify_nodes(const struct verify *v, int64_t numel, uint32_t *n);
/* Does this tensor equal the node's value in w (NULL: in the reference)? */
bool verify_is(struct verify *v, const struct numbers *b, uint32_t node, struct what_if *w, struct layout *l);
void verify_classify(struct verify *v);
void verify_derive(struct verify *v);
/* It is not what it should be: not a node, or not the one that the model returns. False for what nobody reads. */
bool verify_bad(const struct verify *v, uint32_t write);
/* A tensor of a branch or a loop's body (torch 2.13, torch/_inductor/codegen/wrapper.py, SubgraphPythonWrapperCodegen: names begin with the
 * graph's): its nodes are not those of the root. */
bool verify_inside(const struct observed_tensor *w);
/* Does the call write such tensors? The first compiled call of the same branches and loops, which may be this one. */
bool verify_is_inside(const struct verify *v, uint32_t call);
uint32_t verify_inside_from(const struct verify *v, uint32_t call);
/* In which turn of its loop, and in which one a node is; NONE: in none. */
uint32_t verify_turn(const struct verify *v, uint32_t call);
bool verify_same_loop(const struct verify *v, uint32_t a, uint32_t b); /* both are in the body or the condition of one loop */
uint32_t verify_turn_of(const struct verify *v, uint32_t node);
/* Finds the tensors that are a loop's counter or its condition, and as they should be in this turn. */
void verify_counters(struct verify *v);
bool verify_output_right(const struct verify *v, uint32_t read);
static inline bool verify_down(const struct verify *v, uint32_t call, uint32_t from)
{
	return v->down[from * v->words + call / 64] >> call % 64 & 1;
}
/* Has it two different numbers? One, or the same throughout, equals too many nodes to prove anything. */
bool verify_varies(const struct numbers *x);
bool verify_holds(const struct verify_tensor *t, uint32_t node);
bool verify_reads(const struct verify *v, uint32_t call, uint32_t node);
/* Do the model's outputs agree with the graph? Before step 2. After step 3: is that explained, and which calls can be it? */
void verify_outputs(struct verify *v);
void verify_suspects(struct verify *v);
/* Does the run say whether TF32 was on? */
bool verify_tf32_known(const struct observed *o);
/* Before them (drawn.c, unknown.c, tf32.c). */
void verify_drawn(struct verify *v);
void verify_unknown(struct verify *v);
void verify_tf32(struct verify *v);
/* Step 2; step 3. */
void verify_blame(struct verify *v);
void verify_local(struct verify *v);
/* A while_loop that has another number of turns because of its condition. */
void verify_conditions(struct verify *v);
/* How b differs from what the node should be: fills n, wrong (elements that are off by more than that: none, if only all of them together
 * are), at, got, want. */
struct numbers_slack verify_slack(struct numbers *want, double error);
void verify_compare(struct verify_finding *f, const double *got, const struct numbers *want, struct numbers_slack slack);
/* "7 of 8 elements differ" */
void verify_add_count(struct buf *b, const struct verify_finding *f);
struct verify_finding *verify_add(struct verify *v, uint32_t call, uint32_t write, uint32_t node);

#endif
