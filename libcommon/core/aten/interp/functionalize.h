/* functionalize.h - a graph in which no operator changes another one's value (torch: functionalization).
 *
 *     struct functionalized f;
 *     if (functionalize(&g, &f, &err) == 0 && f.graph.functional) ...     // else g has no in-place operators: f is empty
 *     interp_eval(run, node, value, &err)                                  // over f.graph: never alters value[] of other nodes
 *     functionalized_release(&f);
 *
 * Graphs from torch.export may have operators that change an operand in place, and with it all values that share its memory: values kept
 * from such a run are overwritten, and evaluating part of it again applies changes twice. f.graph has g's nodes, with their names and
 * order, with these differences (interp.h runs it: graph.functional):
 *  - An in-place operator works on a copy of its operand: its value is new, its operands' values stay unchanged.
 *  - If other values that may share the operand's memory are used later, nodes after it give their new values: "cache_after_copy_"
 *    (FUNCTIONAL_AFTER, of g's node `cache`). Later users use those.
 *  - They need the memory layout of a view even if its value has been replaced: "view_layout" is computed like `view`, from the base of the
 *    view (FUNCTIONAL_PART).
 * Whether values do share memory is decided at run time: a reshape may or may not be a view. The schemas say which values may share.
 *
 * So each value is a snapshot, all users are in the graph, and a node can be evaluated again from other values: a replacement for a view
 * that is then written to also reaches the base of the view.
 *
 * Placeholders of the root that are changed: f.after[i] is the node that has the i-th one's value after the graph has run. A subgraph's
 * values are snapshots, too. A subgraph that changes its inputs (torch.cond and the loops forbid it) is refused at that point.
 */
#ifndef PT2_FUNCTIONALIZE_H
#define PT2_FUNCTIONALIZE_H
#include "graph/graph.h"

struct functionalized {
	struct graph graph;
	/* For each of its nodes. */
	struct functional_node {
		uint32_t of; /* the node of g that it is, or whose value it has */
		enum functional_kind { FUNCTIONAL_NODE, FUNCTIONAL_AFTER, FUNCTIONAL_PART } kind;
	} * node;
	uint32_t *after, n_placeholders; /* nodes of graph: the placeholder itself if unchanged */
};

/* f is empty (f->node NULL) if no node of g writes to an operand. */
int functionalize(const struct graph *g, struct functionalized *f, struct err *err);
void functionalized_release(struct functionalized *f);

/* The operands (indices into args) that a node writes to; returns how many: 0 to 2. */
enum { FUNCTIONAL_WRITTEN = 2 };
uint32_t functional_written(const struct graph *g, uint32_t node, uint32_t *operand);

#endif
