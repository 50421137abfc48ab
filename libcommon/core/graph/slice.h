/* slice.h - analyses of a graph, and graphs made from part of another: a reducer's candidates.
 *
 *     struct units u;
 *     units_find(&g, &u);                                  // what may be kept or dropped as a whole
 *     uint64_t *keep = xcalloc(u.n / 64 + 1, sizeof(*keep)); // a set of units
 *     bit_add(keep, u.of[node]);
 *     struct graph small = {0};
 *     struct cut cut = {0};
 *     if (slice_build(&g, &u, keep, NULL, &small, &cut, &err) < 0) ...
 *     cut.input[i]                                         // the node of g whose recorded value the i-th placeholder takes
 *     cut_release(&cut); graph_release(&small); units_release(&u);
 *
 * A candidate is a set K of units of the root module. Every operand of K that is not in K becomes a placeholder, with
 * the name and metadata of the node it replaces, to be fed with the value recorded when the whole graph ran. It returns the whole graph's
 * outputs that are in K, in their order: also values that others use, inputs, duplicates, None (dropping those is a separate pass:
 * reduce/shrink.h); then every unit of K whose value no other unit of K uses. So every subset is a valid graph, and reduction is
 * minimisation of a set.
 *
 * A unit is an operation with the nodes that are inseparable from it:
 *  - a node that returns several values and the getitems on it (a tuple cannot be a placeholder);
 *  - a context and the node that ends it (_enter_autocast and _exit_autocast; its value cannot be a placeholder either);
 *  - get_attr nodes accompany each of their users (they are copied into a candidate when used; they are not units);
 *  - subgraphs come with the higher-order operator that uses them;
 * Nodes whose value is a symint (sym_size, arithmetic on it) are ordinary units: an int can be an input. Placeholders and the output are
 * not units. A unit with an effect (a mutation: copy_, names ending in "_" of aten, setitem, auto_functionalized; asserts, prints, random
 * numbers) that is in K is kept, with no output if it has none. Dead code is a unit that has no path to the output and no effect:
 * slice_dead finds them. Values also reach a user through memory: earlier writes to an operand, or to anything that may share its memory
 * (views, by the names of torch's operators), count as needed.
 */
#ifndef PT2_GRAPH_SLICE_H
#define PT2_GRAPH_SLICE_H
#include "graph/graph.h"

/* Bit sets of n units are arrays of (n + 63) / 64 words. */
static inline bool bit_in(const uint64_t *set, size_t i) { return set[i / 64] >> (i % 64) & 1; }
static inline void bit_add(uint64_t *set, size_t i) { set[i / 64] |= 1ull << (i % 64); }
static inline void bit_del(uint64_t *set, size_t i) { set[i / 64] &= ~(1ull << (i % 64)); }
static inline size_t bits_words(size_t n) { return n ? (n + 63) / 64 : 1; } /* words in an array; at least one */
size_t bits_count(const uint64_t *set, size_t n);

/* Flags of a node of the root, computed once for all candidates. */
enum {
	NODE_TUPLE = 1,      /* its value is several values: known from its metadata, its name, or from getitems with an int on it */
	NODE_EFFECT = 2,     /* node_has_effect */
	NODE_NO_VALUE = 4,   /* its result cannot be an output: None, or a context (asserts, setitem, _enter_autocast) */
	NODE_GETITEM = 8,    /* takes an element of a NODE_TUPLE of its unit */
	NODE_NO_TENSOR = 16, /* its value is unknown except that, by its name, it is a number or a shape */
};

struct units {
	size_t n;
	uint32_t *of;    /* node -> unit; NONE: placeholder, output, get_attr, a node of a submodule */
	uint32_t *first; /* unit u's nodes are node[first[u] .. first[u + 1]), in order */
	uint32_t *node;
	size_t n_nodes;  /* of all units */
	uint8_t *is;     /* node -> NODE_ bits */
	uint32_t *alias; /* node -> the first node whose memory it may share (views, in-place results); itself if none */
	/* The nodes that write to an operand, by alias of what they write to, then by position. */
	uint32_t *writer, *written; /* written[i]: the alias */
	size_t n_writers;
};
/* Finds the units of the root module, in the order of their first nodes. */
void units_find(const struct graph *g, struct units *u);
void units_release(struct units *u);

/* Does it have a side effect (writes to an operand, asserts, draws random numbers; or its subgraph does)? *mutates (may be NULL): the
 * operand it writes to: the first one for names ending in "_", setitem and inplace=True, or out=; NONE if none. The names are those of
 * torch 2.13 (torch/fx/node.py, _side_effectful_functions; native_functions.yaml). */
bool node_has_effect(const struct graph *g, uint32_t node, uint32_t *mutates);

struct cut {
	uint32_t *input;  /* for each placeholder of the new graph, in order: the node of g */
	uint32_t *output; /* for each output: the node of g; NONE: None, or another constant of the original's return */
	uint32_t *from;   /* for each node of the new graph's root: the node of g, NONE for the output node */
	size_t n_inputs, n_outputs, n_nodes;
};
/* keep: bit set of units. replace: NULL, or for each node of g another one to use instead wherever it is an operand (NONE: itself); chains
 * are followed; it must precede the users. Placeholders of g that K uses, or g returns, keep their order and come first, then the other
 * inputs in the order of g. Getitems unused in K are left out, except those of a unit that is an output. *out borrows from g
 * (graph_borrow). Failure: -1 and err (EXIT_INPUT) if a tuple or a context would have to be an input ("node 'sum' needs 'split', whose
 * value is a tuple"): *out and *cut are then empty. *out and *cut are initially empty, or an earlier candidate and its cut, whose memory is
 * reused (no page faults: half the time). */
int slice_build(const struct graph *g, const struct units *u, const uint64_t *keep, const uint32_t *replace, struct graph *out,
		struct cut *cut, struct err *err);
void cut_release(struct cut *cut);

/* Adds to keep the units of missing operands that metadata alone cannot supply (it can supply a tensor with dtype and sizes, and a symint),
 * and likewise for their operands, until every missing operand can be supplied. replace: as in slice_build. guess: values without metadata
 * can be supplied as well, as a tensor of any shape, unless they are NODE_NO_TENSOR. */
void slice_close(const struct graph *g, const struct units *u, const uint32_t *replace, bool guess, uint64_t *keep);
/* Puts units whose results are unused into dead (a set). Returns how many. */
size_t slice_dead(const struct graph *g, const struct units *u, uint64_t *dead);

#endif
