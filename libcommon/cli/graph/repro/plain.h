/* plain.h - a graph as a person would have written it: torch.relu(x) for torch.ops.aten.relu.default(arg0_1).
 *
 *     struct graph plain = {0};
 *     if (graph_plain(&g, &(struct plain_how){.table = share_file("fxminify/spellings.txt")}, &plain, &err) < 0) ...
 *     fxcode_write(&plain, FXCODE_PLAIN, &b);             // def f(x): ...
 *
 * An operator gets another name only if that is the same operation:
 *  - by the table: share/fxminify/spellings.txt, whose rows list spellings that were observed to run the same operators with the same
 *    arguments (scripts/gen-spellings, torch 2.13 and 2.15; tests/live/spellings.t checks it against the installed torch);
 *  - slice.Tensor and index.Tensor as x[:, 1:3] and x[i]; sym_size.int as x.size(0); _softmax(x, d, False) as torch.softmax(x, d), the
 *    log_softmax in the same way; prims.convert_element_type and _to_copy with nothing but a dtype as x.to(dtype), where x is known to have
 *    another (with the same one .to gives x itself); tests/live/spellings.t has these, too. (Inductor makes prims.convert_element_type of
 *    _to_copy: torch 2.13, torch/_inductor/decomposition.py);
 *  - torch.full and the like lose layout=torch.strided, pin_memory=False and device=cpu, which are their defaults.
 * Everything else stays torch.ops.aten.X.default(...). Inputs are x, y, z, or x0, x1, ...; "relu_3" becomes "relu" if there is
 * no other.
 */
#ifndef PT2_GRAPH_PLAIN_H
#define PT2_GRAPH_PLAIN_H
#include "graph/graph.h"

/* An input that is the size of another: "x.size(1)" takes its place in the function. */
struct plain_size {
	uint32_t of; /* index of the other among the placeholders; NONE: it stays an input */
	uint32_t dim;
};
struct plain_how {
	struct slice table;            /* text of spellings.txt, rows sorted */
	const struct plain_size *size; /* for each placeholder of the root; NULL: all stay */
};
/* *out must be empty. Failure: -1 and err as from graph_finish. */
int graph_plain(const struct graph *g, const struct plain_how *how, struct graph *out, struct err *err);
/* The row of the table for "relu.default": "torch.relu"; infix: a spelling as an operator ("+", "u-"), else one as a call. "": none. */
FOR_TESTS struct slice plain_spelling(struct slice table, struct slice op, bool infix);

#endif
