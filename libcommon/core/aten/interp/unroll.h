/* unroll.h - a graph as it runs with given inputs: branches that were taken, turns of loops, steps of recurrent layers as the root's nodes.
 *
 *     struct unrolled u;
 *     if (unroll(&g, value, n, max_bytes, &u) == 0)       // value: of the root's placeholders
 *         u.graph, u.now[i]                               // g's node i of the root is this node of it; NONE: it is none
 *     unrolled_release(&u);                               // g must outlive it
 *
 * g is run once to see which way it goes. Nodes of the root keep their names; those of a subgraph are called by the operator, the turn and
 * the node: "while_loop.2.add" (a name of FX has no dot), a branch has no turn: "cond.add". They keep their line of Python. What is scanned
 * is selected row by row, what the turns give is stacked.
 * gru.input and lstm.input become the steps that torch decomposes them into (torch 2.13, torch/_decomp/decompositions.py: gru_cell,
 * lstm_cell; the input's product of all steps is one): "gru.3.tanh". Projections and dropout in training stay what they are.
 *
 * g must be functional (functionalize.h). -1: there is nothing of the sort, or it cannot be told (more than UNROLL_NODES nodes, an operator
 * that is not here, two users of one subgraph); then u is empty, and the graph is to be taken as it is.
 */
#ifndef PT2_UNROLL_H
#define PT2_UNROLL_H
#include "aten/aten.h"
#include "graph/graph.h"

enum { UNROLL_NODES = 6000 };

struct unrolled {
	struct graph graph;
	uint32_t *now; /* by place in g's root */
};
int unroll(const struct graph *g, const struct aten_value *value, uint32_t n, uint64_t max_bytes, struct unrolled *u);
void unrolled_release(struct unrolled *u);

#endif
