/* shapes.h - what the values of a graph are, by the operators' shape rules alone: nothing is computed, no torch is asked.
 *
 *     size_t known = interp_shapes(&g, &env, &unknown);            // g's nodes have metadata then, as far as can be told
 *
 * The root's placeholders have metadata; sizes that are symbols have a value in env (it is for one set of sizes: what is written are
 * numbers). What was there is left as it is. Not told: what an operator that is not here gives, what depends on values (nonzero, item),
 * and all that is computed of such; results of higher-order operators that loop.
 */
#ifndef PT2_INTERP_SHAPES_H
#define PT2_INTERP_SHAPES_H
#include "graph/graph.h"

/* The number of nodes of the root that have been given metadata. why (may be NULL): of the first that could not, its name and why. */
size_t interp_shapes(struct graph *g, const struct symbind *env, struct err *why);

#endif
