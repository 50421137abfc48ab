/* functionalize.h - a graph in which no operator changes a value that another one gave (torch: functionalization).
 *
 *     struct functionalized f;
 *     if (functionalize(&g, &f, &err) == 0 && f.graph.functional) ...     // else g had nothing of the sort: f is empty
 *     interp_eval(run, node, value, &err)                                  // over f.graph: never alters value[] of other nodes
 *     functionalized_release(&f);
 *
 * As torch.export leaves them, graphs have operators that change an operand in place, with it all values that share its memory: whoever
 * keeps values of such a run has overwritten ones, and to evaluate a part of it again counts things twice. f.graph has g's nodes under
 * their names in g's order, with these differences (interp.h runs it: graph.functional):
 *  - An operator in place works on a copy of its operand: its value is new, those of its operands stay what they were.
 *  - Where others that may share the operand's memory are used later, nodes behind it give what they are from there on: "cache_after_copy_"
 *    (FUNCTIONAL_AFTER, of g's node `cache`). Later users use those.
 *  - They need to know where in memory a view lies, whatever value somebody has put in its place: "view_layout" is computed as `view` is,
 *    over what it was a view of (FUNCTIONAL_PART).
 * Whether values do share memory is seen when they are there: a reshape may be a view or not. What may share is told by the schemas.
 *
 * So each value is a snapshot, users are all in the graph, and a node can be evaluated again from other values: what is put in place of a
 * view that is then written to reaches what it is a view of.
 *
 * Placeholders of the root that are changed: f.after[i] is the node that has the i-th one's value when the graph has run.
 * A subgraph's values are snapshots, too. One that changes its inputs (torch.cond and the loops forbid it) is refused when it does so.
 */
#ifndef PT2_FUNCTIONALIZE_H
#define PT2_FUNCTIONALIZE_H
#include "graph/graph.h"

struct functionalized {
	struct graph graph;
	/* For each of its nodes. */
	struct functional_node {
		uint32_t of; /* g's node that it is, or whose value it has */
		enum functional_kind { FUNCTIONAL_NODE, FUNCTIONAL_AFTER, FUNCTIONAL_PART } kind;
	} * node;
	uint32_t *after, n_placeholders; /* nodes of graph: the placeholder itself when nothing changes it */
};

/* f is empty, f->node NULL, when no node of g writes to an operand. */
int functionalize(const struct graph *g, struct functionalized *f, struct err *err);
void functionalized_release(struct functionalized *f);

/* The operands (places among args) that a node writes to; how many: 0 to 2. */
enum { FUNCTIONAL_WRITTEN = 2 };
uint32_t functional_written(const struct graph *g, uint32_t node, uint32_t *operand);

#endif
