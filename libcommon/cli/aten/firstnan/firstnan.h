/* firstnan.h - which node of a graph turns NaN first, and from which numbers: the reason for a NaN, by evaluation.
 *
 *     struct firstnan f;
 *     firstnan_open(&f, &graph, NAN_NAN);                               // the graph must outlive it
 *     firstnan_know(&f, node, &meta, data);                             // what a kernel read: the values of some nodes
 *     if (firstnan_find(&f, &target, 1, &node) > 0)                     // the node whose value it wrote
 *         firstnan_explain(&f, node, &text, &reason);                   // "mul(0, log(0) = -inf) = nan at [3, 1]", "0 * -inf"
 *     firstnan_close(&f);
 *
 * Only what lies between the known values and the target is computed, by the interpreter (aten/interp/interp.h), node by node. The first
 * node, in the graph's order, that holds a NaN although none of its operands does is the one. In sums, products of matrices and the like,
 * the elements that brought it in are named. Memory: all values in between are kept until the end, up to FIRSTNAN_MOST bytes.
 *
 * Sizes that are symbols are known from the tensors that have them. What is random, what the interpreter lacks, and what depends on it is
 * unknown; .why says so.
 */
#ifndef PT2_FIRSTNAN_H
#define PT2_FIRSTNAN_H
#include "aten/interp/interp.h"
#include "base/buf.h"
#include "base/srcloc.h"
#include "tensor/tensor.h"

#define FIRSTNAN_MOST (UINT64_C(4) << 30)

struct firstnan {
	const struct graph *g;
	struct interp_options options;
	struct interp *run;
	uint32_t first, n; /* the nodes of the root */
	struct aten_value *value;
	uint8_t *state; /* enum firstnan_state */
	struct symbind env;
	bool inf;       /* infinities count, too */
	struct buf why; /* why something is unknown: the first reason */
	/* Python stacks, by node of the root; NULL: only those of the graph. Texts are the caller's. */
	const struct slice *stack;
};

void firstnan_open(struct firstnan *f, const struct graph *g, bool inf);
void firstnan_close(struct firstnan *f);
/* A node of the root has this value: data in the order of elements, m with the strides that it had in memory. False: it cannot be the
 * node's. */
bool firstnan_know(struct firstnan *f, uint32_t node, const struct tensor_meta *m, const void *data);
/* The same with a value of the interpreter, to which the caller keeps its handle. */
void firstnan_know_value(struct firstnan *f, uint32_t node, const struct aten_value *v);
/* A node has these sizes: for symbols that no known value has. */
void firstnan_sizes(struct firstnan *f, uint32_t node, const struct tensor_meta *m);
/* 1: *node turns bad first on the way to one of the targets; 0: the targets were computed, and are clean; -1: unknown (.why). */
int firstnan_find(struct firstnan *f, const uint32_t *target, size_t n, uint32_t *node);
/* The expression with its numbers, and the reason in a few words (may stay empty), for a node that firstnan_find gave. */
void firstnan_explain(const struct firstnan *f, uint32_t node, struct buf *text, struct buf *reason);
/* The same for the first infinity of a node that firstnan_infinity gave. */
void firstnan_explain_infinity(const struct firstnan *f, uint32_t node, struct buf *text);
/* Where the infinities that it met began: the first node, in the graph's order, that holds one although no operand of it does; NONE: there
 * was none, or they were read. */
uint32_t firstnan_infinity(const struct firstnan *f, uint32_t node);
/* Is the infinity of a node that firstnan_infinity gave a pole, as log(0) or 1 / 0? Else it is an overflow. */
bool firstnan_pole(const struct firstnan *f, uint32_t node);
/* The innermost line of the user's program that a node comes from; if it has none, that of its nearest operand, or user. */
bool firstnan_line(const struct firstnan *f, uint32_t node, struct srcloc *at);
/* A second line of the same node: where the user's own program called the package that the first is in, or what an optimizer of torch
 * computes there. */
bool firstnan_other_line(const struct firstnan *f, uint32_t node, const struct srcloc *shown, struct srcloc *at);

/* ---- shared by firstnan.c and explain.c ---- */

enum firstnan_state { FIRSTNAN_UNKNOWN, FIRSTNAN_KNOWN, FIRSTNAN_COMPUTED, FIRSTNAN_FAILED };
/* The tensor of a node; NULL: it has none, or none that is known. */
static inline const struct aten_tensor *firstnan_tensor(const struct firstnan *f, uint32_t node)
{
	const struct aten_value *v = &f->value[node - f->first];
	const bool there = f->state[node - f->first] == FIRSTNAN_KNOWN || f->state[node - f->first] == FIRSTNAN_COMPUTED;
	return there && v->kind == ATEN_TENSOR && v->tensor->storage && aten_data(v->tensor) ? v->tensor : NULL;
}
void firstnan_meta(const struct aten_tensor *t, struct tensor_meta *m);

#endif
