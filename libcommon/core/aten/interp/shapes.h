/* shapes.h - infers the shapes of a graph's values by the operators' shape rules alone: nothing is computed, torch is not used.
 *
 *     size_t known = interp_shapes(&g, &env, &unknown);            // g's nodes then have metadata where it can be inferred
 *
 * The root's placeholders have metadata; symbolic sizes have a value in env (it is for one set of sizes: the results are numbers). Existing
 * metadata is kept. Not inferred: results of unsupported operators, results that depend on values (nonzero, item), everything computed from
 * these, and results of higher-order operators that loop.
 */
#ifndef PT2_INTERP_SHAPES_H
#define PT2_INTERP_SHAPES_H
#include "graph/graph.h"

/* Returns the number of nodes of the root that got metadata. why (may be NULL): the name of the first that did not, and the reason. */
size_t interp_shapes(struct graph *g, const struct symbind *env, struct err *why);

#endif
