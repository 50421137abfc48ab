/* unroll.h - unrolls a graph for given inputs: taken branches, loop iterations and steps of recurrent layers become nodes of the root.
 *
 *     struct unrolled u;
 *     if (unroll(&g, value, n, max_bytes, NULL, &u) == 0)       // value: of the root's placeholders
 *         u.graph, u.now[i]                               // the node in it for node i of g's root; NONE: there is none
 *     unrolled_release(&u);                               // g must outlive it
 *
 * g is run once to see which path it takes. Nodes of the root keep their names; those of a subgraph are named by operator, iteration and
 * node: "while_loop.2.add" (FX names have no dots); a branch has no iteration: "cond.add". They keep their Python line. Scanned inputs are
 * selected row by row, the results of the iterations are stacked. gru.input and lstm.input become the steps that torch decomposes them into
 * (torch 2.13, torch/_decomp/decompositions.py: gru_cell, lstm_cell; the input's product of all steps is one): "gru.3.tanh". Projections
 * and dropout in training are left unchanged. A region of torch.autocast is its body, with the casts of its operators: "linear.cast0".
 *
 * g must be functional (functionalize.h). -1: there is nothing to unroll, or it is not possible (more than UNROLL_NODES nodes, an
 * unsupported operator, two users of one subgraph); u is then empty, and the graph should be used as is.
 */
#ifndef PT2_UNROLL_H
#define PT2_UNROLL_H
#include "aten/aten.h"
#include "aten/interp/interp.h"

enum { UNROLL_NODES = 6000 };

struct unrolled {
	struct graph graph;
	uint32_t *now; /* by index in g's root */
};
/* more: NULL, or who computes operators that are not here (interp.h). */
int unroll(const struct graph *g, const struct aten_value *value, uint32_t n, uint64_t max_bytes, const struct interp_more *more,
	   struct unrolled *u);
void unrolled_release(struct unrolled *u);

#endif
