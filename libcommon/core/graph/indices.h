/* indices.h - which values may an integer tensor hold, from the operators that use it as an index?
 *
 *     struct index_bound b = graph_index_bound(&g, graph_find(&g, 0, SLICE("tokens")));
 *     if (b.all && (max >= b.all || min < (b.wraps ? -b.all : 0))) ...   // the graph fails with these values
 *     if (b.n > 0) ...                                                   // any values below b.n are good everywhere
 *
 * The node is followed through operators that only move or copy its values. A size must be a number; an operator that is not known here, or
 * a symbol, makes .n unknown; .all is what is certain nevertheless.
 */
#ifndef PT2_INDICES_H
#define PT2_INDICES_H
#include "graph/graph.h"

struct index_bound {
	int64_t n;   /* one past the largest value that every use takes; 0: nothing uses it as an index; -1: unknown */
	int64_t all; /* the same, of the known uses of all its values (not of a slice of them); 0: there is none */
	bool wraps;  /* they take -all .. -1, too, as x[i] does */
};
/* g is finished. Of a node of the root. */
struct index_bound graph_index_bound(const struct graph *g, uint32_t node);

#endif
