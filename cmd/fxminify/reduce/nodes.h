/* nodes.h - the fewest operations of the original that still fail: search.h over the units of its graph (slice.h).
 *
 *     struct reduction red = {.runner = &r, .qx_limit = 64, .log = log, .user = ...};
 *     if (reduce_nodes(&red, suspects, n_suspects, &err) < 0) ...      // -1: stopped (runner.stopped) or err; runner.best stays
 *     if (reduce_rest(&red, &err) < 0) ...                            // shrink.h
 *
 * First the suspects (from locating), each with what connects them; then halving and ProbDD; then QuickXplain, where what is left out is
 * bypassed if there is a way round it: its users take one of its operands of the same dtype and sizes, so that what it connects stays
 * connected (a bug on a path of 12 takes 32 questions in 5,000 nodes, not 98). At last no single operation can be left out, and none
 * be bypassed by any way. An operand that cannot be an input (nothing is known of its value, or it is no
 * tensor and no number) brings with it what computes it; what was tested then is what counts as left.
 */
#ifndef PT2_REDUCE_NODES_H
#define PT2_REDUCE_NODES_H
#include "reduce/runner.h"
#include "reduce/search.h"

/* A pass reports what it did: "arguments", 74, "dropped". Told when it begins and when it ended; one that found nothing to try is not
 * told of. */
struct pass_note {
	const char *name, *did;
	bool ended;
	size_t done; /* of what the name names */
};

struct reduction {
	struct runner *runner;
	size_t qx_limit, max_block; /* see search.h */
	bool guess;                 /* see slice_close: for an oracle that does not run the candidate's inputs */
	void (*pass)(void *user, const struct pass_note *note);
	/* torch's lines: what is tried, and how it went. */
	void (*strategy)(void *user, const char *name, size_t granularity, const struct candidate *best);
	void (*success)(void *user, const char *name, size_t before, size_t after);
	void *user;
};

/* Nodes of the original, by name, that somebody believes to be at fault; the likeliest first. */
struct suspects {
	struct slice *name;
	size_t n;
};

int reduce_nodes(struct reduction *red, const struct suspects *suspects, struct err *err);

#endif
