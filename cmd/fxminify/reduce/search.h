/* search.h - finds the smallest set that still fails: minimises a subset of n elements with as few questions as possible.
 *
 *     struct search s = {.n = units.n, .jobs = 4, .qx_limit = 64, .ask = ask, .user = &runner};
 *     search_start(&s);                            // keep = everything, known to fail
 *     search_suspects(&s, set_of, &guesses, n);    // small sets suggested by the caller
 *     search_halve(&s), search_probdd(&s, search_until(&s)), search_quickxplain(&s), search_one_minimal(&s);   // any, in this order
 *     s.keep                                       // the result, a bit set (slice.h): no single element can be dropped
 *     search_release(&s);
 *
 * It knows nothing about graphs. Questions go through ask(), several at a time, best first; ask() decides how many run in parallel, and
 * remembers answers: asking about the same set again costs nothing. Answers need not be monotone (a superset of a failing set may pass);
 * then the result still fails and is 1-minimal, if not the smallest.
 *
 * If some elements cannot exist without others, close() returns the set that is actually asked about. That set is what counts: it is
 * adopted if it fails, and one that is no smaller than what remains is not asked at all.
 *
 * How many questions (tests/unit/cmd/test_search.c checks this): a single culprit in 5,000 about 20,
 * two far apart about 40, three about 55; O(k log(n/k)).
 *
 * Sources: QuickXplain (Junker, 2004); ProbDD (Wang et al., 2021) with p0 = 4/n, which suits large n better than the paper's 0.1.
 *
 * Failure: ask() returns -1 to stop (a signal, the oracle died, the budget is used up); the functions then return -1 at once and keep holds
 * the best set so far, always one that failed.
 */
#ifndef PT2_REDUCE_SEARCH_H
#define PT2_REDUCE_SEARCH_H
#include "graph/slice.h"

#define SEARCH_NONE SIZE_MAX

/* Writes the i-th set to ask about into an empty set. */
typedef void search_set_fn(void *ctx, size_t i, uint64_t *set);

struct search {
	size_t n;
	unsigned jobs;    /* how far to look ahead */
	size_t qx_limit;  /* above this many elements ProbDD, which asks about smaller sets, runs before QuickXplain */
	size_t max_block; /* drop at most this many at once (--max-granularity); 0: no limit */
	/* Adds to a set what it requires; NULL: any set is valid. The result is closed, and the closure of a subset of a closed set
	 * stays inside it. */
	void (*close)(void *user, uint64_t *set);
	/* Which is the first of n sets that still fails? An empty one is not asked: it passes. *winner is SEARCH_NONE if none fails.
	 * -1: stop. */
	int (*ask)(void *user, size_t n, search_set_fn *set, void *ctx, size_t *winner);
	/* Called with the name of each phase, for a log: "Truncate suffix", "Delta debugging"; may be NULL. */
	void (*phase)(void *user, const char *name, size_t granularity, size_t left);
	void *user;
	uint64_t *keep;
	size_t left; /* elements in keep */
};

void search_start(struct search *s);
void search_release(struct search *s);
/* Adopts the first of n guesses (sets; empty ones are skipped) that fails. Finding none is not a failure. */
int search_suspects(struct search *s, search_set_fn *set, void *ctx, size_t n);
/* The steps, and all of them in turn. */
int search_halve(struct search *s);
size_t search_until(const struct search *s); /* when QuickXplain takes over from ProbDD */
int search_probdd(struct search *s, size_t until);
int search_quickxplain(struct search *s);
int search_one_minimal(struct search *s);

#endif
