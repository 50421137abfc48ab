/* pytree.h - torch's pytree specs (torch/utils/_pytree.py, treespec_dumps, protocol 1), as in AOTI's in_spec_.
 *
 *     [1, {"type": "builtins.tuple", "context": "null", "children_spec": [
 *            {"type": "builtins.tuple", ... the positional arguments},
 *            {"type": "builtins.dict", "context": "[\"mask\"]", ... the keyword arguments}]}]
 *
 * pytree_paths gives a path for each leaf in order: args[0], args[0]["pair"][1], kwargs["mask"] for the in_spec of a
 * call; for an out_spec (call false) "" for a single leaf, [0], ["sum"]. Leaves of objects of unknown types are named by position ([0]).
 * Paths live in the arena.
 */
#ifndef PT2_PYTREE_H
#define PT2_PYTREE_H
#include "base/arena.h"

#define PYTREE_MAX_LEAVES 65536

int pytree_paths(struct arena *a, struct slice spec, bool call, struct slice **paths, uint32_t *n, struct err *err);

/* Does the user's text mean this path? Exact; or with dots and bare keys: args[0].x, kwargs.mask, x, mask. */
bool pytree_path_matches(struct slice path, struct slice asked);

#endif
