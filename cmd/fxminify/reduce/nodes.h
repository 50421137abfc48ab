/* nodes.h - finds the fewest operations of the original that still fail: search.h over the units of its graph (slice.h).
 *
 *     struct reduction red = {.runner = &r, .qx_limit = 64, .log = log, .user = ...};
 *     if (reduce_nodes(&red, suspects, n_suspects, &err) < 0) ...      // -1: stopped (runner.stopped) or err; runner.best stays
 *     if (reduce_rest(&red, &err) < 0) ...                            // shrink.h
 *
 * First the suspects (from locating): the most likely one, then several with what connects them; what is part of a set that passed is
 * not asked; then halving and ProbDD; then QuickXplain, where dropped operations
 * are bypassed if possible: their users take one of their operands with the same dtype and sizes, so that what they connect stays
 * connected (a bug on a path of 12 takes 32 questions in 5,000 nodes, not 98). In the end no single operation can be dropped or
 * bypassed. An operand that cannot be an input (nothing is known about its value, or it is neither a tensor nor a number)
 * pulls in what computes it; the set actually tested is what counts.
 */
#ifndef PT2_REDUCE_NODES_H
#define PT2_REDUCE_NODES_H
#include "reduce/runner.h"
#include "reduce/search.h"

/* A pass reports what it did: "arguments", 74, "dropped". Called when it starts and when it ended; not for a pass that found nothing to
 * try. */
struct pass_note {
	const char *name, *did;
	bool ended;
	size_t done; /* in units of the name */
};

struct reduction {
	struct runner *runner;
	size_t qx_limit, max_block; /* see search.h */
	bool guess;                 /* see slice_close: for an oracle that does not run the candidate's inputs */
	void (*pass)(void *user, const struct pass_note *note);
	/* torch's lines: what is tried, and the result. */
	void (*strategy)(void *user, const char *name, size_t granularity, const struct candidate *best);
	void (*success)(void *user, const char *name, size_t before, size_t after);
	void *user;
};

/* Nodes of the original, by name, suspected to be at fault; most likely first. */
struct suspects {
	struct slice *name;
	size_t n, n_likely; /* the first n_likely are more than bystanders; 0: unknown */
};

int reduce_nodes(struct reduction *red, const struct suspects *suspects, struct err *err);

#endif
