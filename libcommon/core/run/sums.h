/* sums.h - a run in numbers: the counts of both tools, from the same rows. */
#ifndef PT2_SUMS_H
#define PT2_SUMS_H
#include "run/facts.h"

/* X(name, what is counted) */
#define FACTS_SUMS(X) \
	X(bytes, "of the inputs") \
	X(lines, "of the inputs") \
	X(records, "of the inputs") \
	X(processes, "that wrote the inputs") \
	X(resets, "how many times compile ids restarted within a process: torch._dynamo.reset()") \
	X(frames, "rows of frames that have an id") \
	X(compiles, "rows of compiles that have an id") \
	X(attempts, "of these") \
	X(recompiles, "rows of recompiles") \
	X(recompile_limits, "rows of recompile_limits") \
	X(restarts, "rows of failures that are restarts") \
	X(graph_breaks, "rows of graph_breaks that are not inferred") \
	X(inferred_graph_breaks, "rows of graph_breaks that are") \
	X(failures, "rows of failures that are not restarts") \
	X(graphs, "captured by Dynamo (dynamo_output_graph)") \
	X(graph_ops, "operations in them, where compiles has the number") \
	X(guards, "where compiles has the number") \
	X(symbols, "rows of symbols") \
	X(specializations, "rows of bounds that are specialized") \
	X(cudagraph_skips, "rows of cudagraph_skips") \
	X(artifacts, "files numbered in the directory report") \
	X(chromium_events, "records of them") \
	X(unknown_keys, "records whose key is unknown to this version") \
	X(damaged, "rows of damage; 0: the inputs were read completely")

struct facts_sums {
#define X(name, words) uint64_t name;
	FACTS_SUMS(X)
#undef X
	uint64_t cache[FACT_CACHES][FACT_CACHE_WHATS];
	double compile_seconds; /* < 0: unknown */
	uint32_t torch_version; /* name, or NONE */
};
/* The sums of one input, or (NONE) of all. */
void facts_sums(const struct facts *f, uint32_t input, struct facts_sums *s);
/* Adds the sums of another model; the version stays the first one's. */
void facts_sums_add(struct facts_sums *to, const struct facts_sums *s);
/* The ranks that wrote one input, or (NONE) all inputs, each once and in order; the caller frees *rank. Returns how many. */
uint32_t facts_ranks(const struct facts *f, uint32_t input, int64_t **rank);

#endif
