/* graphdiff.h - compares two FX graphs as graphs: which node is which, and what changed, whatever the names and the order.
 *
 *     struct graphdiff d;
 *     graphdiff_run(&d, &before, &after);                  // finished graphs; they must outlive d
 *     for (uint32_t i = 0; i < d.n_row; i++)
 *         if (d.row[i].cause == NONE)                      // a change of its own; the others follow from an earlier row
 *             d.row[i].kind, d.row[i].a, d.row[i].b        // nodes of before and after; NONE: added, removed
 *     graphdiff_release(&d);
 *
 * How nodes are matched. Each node has a colour from its inputs (what computes it, down to the placeholders) and one from its users
 * (what becomes of it, up to the outputs): Weisfeiler-Lehman refinement, in one pass each because the graph has no cycles. Operands
 * are ordered, so in graphs that are equal the second colour alone tells all live nodes apart: a renamed or reordered copy is matched
 * without a guess. In graphs that differ, nodes that agree in one colour whole and in the other nearby are matched first, then those
 * that agree nearby in both, where a matched node counts as one colour of its own; then the rest by how many of their neighbours are
 * matched with each other; last nodes of different operators in the same place: those were retargeted. Names of
 * placeholders that torch did not number and source lines decide between nodes that are otherwise alike; nothing else depends on them.
 * Symbols are matched by the sizes that they stand for: s77 may be s0.
 *
 * What is one change. A node that reads the input of a removed node instead of the node itself, or an added node instead of its
 * input, did not change by itself: its row has that one as its cause. So has a shape, stride, dtype or device that differs because an
 * input's does, or because the node itself is another operator now.
 *
 * The work is O(nodes log nodes) for each of a fixed number of passes; rows are bounded by GRAPHDIFF_ROWS, the rest is counted in more.
 */
#ifndef PT2_GRAPHDIFF_H
#define PT2_GRAPHDIFF_H
#include "base/rows.h"
#include "graph/graph.h"

#define GRAPHDIFF_ROWS 20000

/* X(id, name in JSON, words) */
#define GRAPHDIFF_KINDS(X) \
	X(REMOVED, "removed", "removed") \
	X(ADDED, "added", "added") \
	X(TARGET, "target", "another operator") \
	X(INPUTS, "inputs", "other inputs") \
	X(CONSTANTS, "constants", "other arguments") \
	X(SHAPE, "shape", "another shape") \
	X(STRIDE, "stride", "other strides") \
	X(DTYPE, "dtype", "another dtype") \
	X(DEVICE, "device", "another device") \
	X(TYPE, "type", "another type")

enum graphdiff_kind {
#define X(id, name, words) GRAPHDIFF_##id,
	GRAPHDIFF_KINDS(X)
#undef X
	    GRAPHDIFF_KIND_COUNT
};
extern const char *const graphdiff_kind_name[GRAPHDIFF_KIND_COUNT], *const graphdiff_kind_words[GRAPHDIFF_KIND_COUNT];

struct graphdiff_row {
	enum graphdiff_kind kind;
	uint32_t a, b;              /* nodes, NONE */
	uint32_t cause;             /* an earlier row, NONE */
	struct slice before, after; /* operators, operands, sizes ...; empty: none */
};

struct graphdiff {
	const struct graph *a, *b;
	uint32_t *match[2]; /* of each node of a in b, of b in a; NONE */
	ROWS(struct graphdiff_row, row);
	uint32_t own, more; /* rows without a cause; rows beyond GRAPHDIFF_ROWS */
	bool reordered;     /* matched nodes are in another order */
	uint32_t renamed;   /* matched nodes with another name */
	struct arena arena;
};

void graphdiff_run(struct graphdiff *d, const struct graph *a, const struct graph *b);
void graphdiff_release(struct graphdiff *d);

#endif
