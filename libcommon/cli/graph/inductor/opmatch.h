/* opmatch.h - matches operations of a kernel or of the IR (opseq.h) with the FX graph, and with each other, by data flow.
 *
 *     struct fxindex x;
 *     fxindex_init(&x, &graph);
 *     fxindex_bind(&x, SLICE("buf0"), node);             // a buffer's known content
 *     struct opmatch *m = xcalloc(s.n_op, sizeof(*m));
 *     opmatch_fx(m, &s, &x, allowed);                    // allowed: bit per node of the graph, or NULL
 *     m[i].fx, m[i].how
 *     fxindex_release(&x);
 *
 * The text of IR and kernels does not say which FX node an operation comes from. It is found as follows:
 *  - a load of an input is its placeholder (nodes that only permute, reshape or cast a tensor count as it); a load of a buffer is what was
 *    found to be stored there.
 *  - an operation whose operands are known, whose name is that of an ATen operator (op_canonical), and whose numbers agree, is the node
 *    with these operands: MATCH_SAME.
 *  - any other operation that is computed only from operands of one node, not otherwise accounted for, is a
 *    step of that node (mean, var_mean, index and anything else lowered to several operations): MATCH_PART. Which value is
 *    the node's result is known once a user of it is found, or from what the wrapper returns.
 *  - if several nodes match (two that differ only in how they permute their operands), the first unused one is
 *    MATCH_GUESS, and so is whatever depends on it alone.
 *  - otherwise there is no match: MATCH_NONE.
 *
 * opmatch_ir matches each operation of a kernel with the operation of the IR that computes the same from the same buffers.
 */
#ifndef PT2_INDUCTOR_OPMATCH_H
#define PT2_INDUCTOR_OPMATCH_H
#include "graph/graph.h"
#include "graph/inductor/opseq.h"

enum match_how { MATCH_NONE, MATCH_SAME, MATCH_PART, MATCH_GUESS };

struct opmatch {
	uint32_t fx; /* node, NONE */
	uint8_t how; /* enum match_how */
	uint32_t ir; /* operation of the IR's opseq, NONE */
};

struct fxindex {
	const struct graph *g;
	uint32_t n;
	uint32_t *rep;          /* per node: the node whose values it has */
	uint32_t *use_of, *use; /* per node: users of its values: use[use_of[i] .. use_of[i + 1]) */
	struct intern buffers;
	uint32_t *bound, cap_bound;
	uint32_t *used, round; /* opmatch_fx: nodes used in this call of it */
};

void fxindex_init(struct fxindex *x, const struct graph *g);
void fxindex_release(struct fxindex *x);
void fxindex_bind(struct fxindex *x, struct slice buffer, uint32_t node);
uint32_t fxindex_bound(const struct fxindex *x, struct slice buffer); /* NONE */
/* Does the node only change the form of its operand: permute, view, clone, convert_element_type, ...? */
bool fx_is_view(const struct graph *g, uint32_t node);
/* "add" of torch.ops.aten.add.Tensor. */
struct slice fx_op_name(const struct graph *g, uint32_t node);

/* Stores bind their buffers in x. */
void opmatch_fx(struct opmatch *m, const struct opseq *s, struct fxindex *x, const uint8_t *allowed);
/* m is the kernel's; storage: names of the kernel's buffers -> of the IR's (NULL: the same). */
void opmatch_ir(struct opmatch *m, const struct opseq *kernel, const struct opseq *ir, const struct outcode *storage);

#endif
