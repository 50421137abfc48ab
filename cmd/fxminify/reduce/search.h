/* search.h - the smallest set that still fails: minimising a subset of n elements by asking as little as possible.
 *
 *     struct search s = {.n = units.n, .jobs = 4, .qx_limit = 64, .ask = ask, .user = &runner};
 *     search_start(&s);                            // keep = everything, known to fail
 *     search_suspects(&s, set_of, &guesses, n);    // small sets that somebody believes in
 *     search_halve(&s), search_probdd(&s, search_until(&s)), search_quickxplain(&s), search_one_minimal(&s);   // any, in this order
 *     s.keep                                       // the result, a bit set (slice.h): no single element can be left out
 *     search_release(&s);
 *
 * It knows nothing of graphs. Questions go through ask(), several at a time, best first; ask() decides how many run side by side, and
 * remembers answers: the same set asked again costs nothing. Answers need not be monotone (a superset of a failing set may pass);
 * then the result is still failing and 1-minimal, if not the least.
 *
 * Where some elements cannot stand without others, close() says which set is really asked about. That set is what counts: it is what
 * is adopted when it fails, and one that is no smaller than what is left is no question at all.
 *
 * How many questions (facts: minifier, section 5; tests/unit/cmd/test_search.c holds us to it): a single culprit in 5,000 about 20,
 * two far apart about 40, three about 55; O(k log(n/k)).
 *
 * Sources: QuickXplain (Junker, 2004); ProbDD (Wang et al., 2021) with p0 = 4/n, which serves large n better than the paper's 0.1.
 *
 * Failure: ask() returns -1 to stop (a signal, the oracle gone, a budget used up); the functions then return -1 at once and keep holds the
 * best set so far, always one that failed.
 */
#ifndef PT2_REDUCE_SEARCH_H
#define PT2_REDUCE_SEARCH_H
#include "graph/slice.h"

#define SEARCH_NONE SIZE_MAX

/* The i-th set that is asked about, written into an empty set. */
typedef void search_set_fn(void *ctx, size_t i, uint64_t *set);

struct search {
	size_t n;
	unsigned jobs;    /* how far it may look ahead */
	size_t qx_limit;  /* above so many elements ProbDD, which asks about smaller sets, comes before QuickXplain */
	size_t max_block; /* drop at most so many at once (--max-granularity); 0: no limit */
	/* Adds to a set what it cannot be without; NULL: any set can stand. What it gives is closed, and a subset of a closed set stays in it. */
	void (*close)(void *user, uint64_t *set);
	/* Which of n sets still fails? An empty one is no question: it passes. ordered: the first of them that does (all before it pass).
	 * Otherwise any that does, the earlier the better.
	 * *winner is SEARCH_NONE when none fails. -1: stop. */
	int (*ask)(void *user, size_t n, search_set_fn *set, void *ctx, bool ordered, size_t *winner);
	/* Is called with the name of each phase, for a log: "Truncate suffix", "Delta debugging"; may be NULL. */
	void (*phase)(void *user, const char *name, size_t granularity, size_t left);
	void *user;
	uint64_t *keep;
	size_t left; /* elements in keep */
};

void search_start(struct search *s);
void search_release(struct search *s);
/* Adopt the best of n guesses (sets; empty ones are passed over). Not finding any is no failure. */
int search_suspects(struct search *s, search_set_fn *set, void *ctx, size_t n);
/* The steps, and all of them in turn. */
int search_halve(struct search *s);
size_t search_until(const struct search *s); /* where QuickXplain takes over from ProbDD */
int search_probdd(struct search *s, size_t until);
int search_quickxplain(struct search *s);
int search_one_minimal(struct search *s);

#endif
