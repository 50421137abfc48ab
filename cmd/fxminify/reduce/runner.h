/* runner.h - asks an oracle about candidates: several at a time, none twice; keeps the best, and records what happened.
 *
 *     struct runner r = {.oracle = o, .original = &repro, .head = ..., .journal = j, .repeat = 1, .improved = write_it, .user = ...};
 *     if (runner_baseline(&r, &first, &outcome, &err) < 0) ...     // the original itself: r.want is the failure to look for
 *     struct proposals p = {.n = 3, .make = make, .ctx = ...};
 *     if (runner_ask(&r, &p, &winner, &err) < 0) ...               // -1: stop
 *     r.best                                                       // the best candidate so far
 *     runner_release(&r);
 *
 * Every pass of a reduction (nodes.h, shrink.h) is a list of proposals. The first that fails the same way, if it is an improvement,
 * becomes `best`, improved() is called, and the journal records it: whenever the process ends, the best so far is on disk.
 *
 * Not asked again: what was asked before (candidate_hash), in this process or in the journal being resumed; only the original is asked
 * again if locating needs what a journal does not have (want_where). The answers decide what is asked next, not the order in which they
 * come: the result is the same for any number of jobs and on a busy machine, except for flaky failures.
 */
#ifndef PT2_REDUCE_RUNNER_H
#define PT2_REDUCE_RUNNER_H
#include "reduce/candidate.h"
#include "reduce/journal.h"

#define RUNNER_NONE SIZE_MAX

struct proposals {
	size_t n;
	/* 1: *c is the i-th candidate, owned by the runner from now on; 0: there is none (counts as passing); -1: stop. */
	int (*make)(void *ctx, size_t i, struct candidate *c, struct err *err);
	/* A hash that distinguishes the i-th question from all others of its pass, cheaper than building the candidate; NULL, or 0: build
		 * it. */
	uint64_t (*key)(void *ctx, size_t i);
	/* Is c (which fails) better than the best so far? NULL: every one is. */
	bool (*better)(void *ctx, const struct candidate *c, const struct candidate *best);
	void *ctx;
	bool likely; /* the first one probably fails: the others wait until one has passed */
};

struct runner_counts {
	uint64_t tests, remembered, by_verdict[VERDICT_FLAKY + 1];
	double seconds; /* of oracle time, summed over all jobs */
};

struct runner {
	/* Set by the caller, before the first question. */
	struct oracle *oracle;
	const struct repro *original;
	struct journal *journal; /* may be NULL */
	struct slice check;      /* --check-str */
	unsigned repeat;         /* a passing candidate is tested up to this many times in total */
	bool want_where;         /* for the original: gather what locating needs */
	bool plain;              /* from now on candidates are tested as plain programs (struct test) */
	uint64_t max_tests;      /* 0: no limit */
	double max_seconds;      /* 0: no limit */
	int (*stop)(void *user); /* nonzero: stop now (a signal arrived) */
	int (*improved)(void *user, const struct candidate *c, struct err *err);
	void (*progress)(void *user); /* after every outcome, and at least every 100 ms */
	void *user;
	/* Private to the runner. */
	struct candidate best;
	bool has_best;
	struct signature want;
	struct arena arena;     /* of want */
	struct signature known; /* of the original, from the journal being resumed, and its key; 0: unknown */
	uint64_t known_key;
	struct runner_counts count;
	size_t in_flight;
	const char *phase;       /* for the journal: the current phase */
	double start;            /* clock, seconds */
	double original_seconds; /* duration of the original's test */
	const char *stopped;     /* why runner_ask returned -1: "interrupted", "out of tests", "out of time"; NULL: an error */
	struct flight *flight;
	size_t n_flights, cap_flights;
	struct intern keys; /* 8 bytes each -> answer[] */
	struct answer *answer;
	size_t cap_answers;
	unsigned infra_in_a_row;
	struct signature *other; /* distinct other failures: the first few, for the report */
	size_t n_others;
};

/* Takes over the answers of a journal, before the first question. */
void runner_remember(struct runner *r, const struct journal_record *record);
/* Tests the original. 1: it fails, and `want` says how; 0: it does not (out says what it did); -1: err. It becomes best. Again: what was
 * found before is forgotten. */
int runner_baseline(struct runner *r, struct candidate *c, struct outcome *out, struct err *err);
/* Finds the first of n that fails; RUNNER_NONE. However many run at a time, it is the same one. -1: stop, see stopped. */
int runner_ask(struct runner *r, const struct proposals *p, size_t *winner, struct err *err);
/* Tests one candidate without changing the best. VERDICT_INFRA: could not tell. -1: stop. */
int runner_try(struct runner *r, struct candidate *c, enum verdict *v, struct err *err);
/* Was the question with this key (struct proposals) asked, and did it pass? */
bool runner_passed(struct runner *r, uint64_t key);
double runner_clock(const struct runner *r); /* seconds since the start */
void runner_release(struct runner *r);

#endif
