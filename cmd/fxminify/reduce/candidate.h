/* candidate.h - a graph that might be the answer, with the values of its inputs and the head of the program around it.
 *
 *     struct candidate c;
 *     candidate_cut(&c, original, &units, keep, NULL, &err);        // a part of the original (slice.h)
 *     candidate_hash(&c);                                            // the same for the same question
 *     struct repro_given *given = candidate_given(&c, original);     // as a program: repro_text, repro_save
 *     candidate_release(&c);
 *
 * Texts of feeds and lines belong to the original repro, which must outlive every candidate.
 */
#ifndef PT2_REDUCE_CANDIDATE_H
#define PT2_REDUCE_CANDIDATE_H
#include "reduce/oracle.h"

struct candidate {
	struct graph graph;
	struct feed *feed; /* for each placeholder, in order */
	size_t n_feeds;
	/* The head of the program: the original's lines, without those found irrelevant. Own array, borrowed texts. */
	struct repro_line *line;
	size_t n_lines;
	struct arena arena; /* texts of changed lines */
	size_t ops;         /* graph_n_ops */
	size_t cost;        /* minimised after the ops: see candidate_cost */
};

/* The whole original, fed with the values of load_args. */
void candidate_whole(struct candidate *c, const struct repro *original);
/* A part of it. Inputs are recorded values. */
int candidate_cut(struct candidate *c, const struct repro *original, const struct units *u, const uint64_t *keep, const uint32_t *replace,
		  struct err *err);
/* A copy to change. */
void candidate_copy(struct candidate *to, const struct candidate *from);
void candidate_release(struct candidate *c);
/* Hash of the question, equal for equal ones: the graph (graph_hash), its inputs' metadata, the origin of their values, the head. Never
 * 0. */
uint64_t candidate_hash(const struct candidate *c);
struct test candidate_test(const struct candidate *c, const struct repro *head);

/* The original's values of symbols, for the candidate's own table. */
void candidate_bind(const struct candidate *c, const struct repro *original, struct symbind *env);
/* The value of each placeholder in a program made from the candidate (repro.h): an input of the original, a number, or random values with
 * its metadata, or with a guess if there is none. The caller frees. */
struct repro_given *candidate_given(const struct candidate *c, const struct repro *original);
/* The same as a document: the original with the candidate's graph, inputs and lines. Borrows from both. */
void candidate_repro(const struct candidate *c, const struct repro *original, struct repro *out);
void candidate_repro_release(struct repro *out);

#endif
