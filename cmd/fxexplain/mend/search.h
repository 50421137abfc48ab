/* search.h - the loop: the worst finding (breaks first), its candidates, each tried in the program; what makes that finding go with equal
 * results is kept.
 *
 *     struct mend_search s = {.server = server, .runs = 60, .budget = 300, .show = show_event, .arg = &screen};
 *     if (mend_search_run(&s, &err) < 0) die_err(&err);
 *     ... s.step[0 .. s.best): the edits that are kept, s.step[s.best - 1].trial is the program with them, s.base as it was ...
 *     mend_search_release(&s);
 *
 * The rule: not the total decides but the finding. With a break gone, what was behind it is compiled for the first time, and may
 * recompile more than all before; that is still the way to none. So it goes on from there and returns the prefix with the lowest cost
 * (trial_cost).
 *
 * What is accepted: equal results with the backend eager (share/mend/values.py: parameters by step, results of the outermost compiled
 * calls, module state, both streams with their order, end, files); operations in graphs times calls not below 85 % (operators 60 %: what
 * feeds a print leaves the graph; regions 50 %); the finding is gone; equal with aot_eager, since functionalized writes come after
 * the graph.
 *
 * The same loop for two other questions (goal.c), with the program's own backend: MEND_SLOW keeps what takes less time with equal
 * results and compiles as much, MEND_WRONG the first change with which the numbers are those of eager in float64, as close as eager
 * itself is to them.
 */
#ifndef MEND_SEARCH_H
#define MEND_SEARCH_H
#include "mend/trial.h"

#include "base/process/fairtime.h"

enum mend_goal { MEND_BREAKS, MEND_SLOW, MEND_WRONG };
struct search_step {                                           /* an accepted edit */
	struct slice kind, title, price, finding, place, with; /* with: what went with it, one per line */
	struct mend_trial *trial;
	bool region;
	uint32_t dropped; /* by pruning */
};
struct search_try { /* any candidate that was tried */
	struct slice finding, place, kind, title, verdict;
	struct slice advice; /* what fxexplain says of that finding: its fixes and hints, one per line */
	struct trial_figures n;
	bool accepted;
	double seconds, compile_seconds, step_seconds;
};
struct search_left { /* a finding for which nothing was found */
	struct slice key;
	struct slice why; /* "5 edits were tried: 4 leave it, 1 changes results", and what stands against it; may be empty */
};
enum search_event { SEARCH_READY, SEARCH_EAGER, SEARCH_BASE, SEARCH_FINDING, SEARCH_TRY, SEARCH_ACCEPTED, SEARCH_NONE, SEARCH_PROVING };
struct mend_search {
	struct mend_server *server;
	enum mend_goal goal;
	struct slice accused;         /* MEND_WRONG: members of the finding, from the document of run --wrong; empty */
	int runs, budget;             /* at most; seconds */
	bool no_as_is;                /* prove with aot_eager only */
	struct mend_journal *journal; /* NULL */
	void (*show)(void *arg, const struct mend_search *s, enum search_event e, const struct search_try *t);
	void *arg;

	struct mend_trial *eager, *base;
	uint64_t ops;       /* MEND_SLOW: operations in graphs times calls of the program as it is */
	bool crashes;       /* the compiled program ends by an error that eager does not have */
	struct slice crash; /* how: the error's last line, or "killed by SIGSEGV" */
	struct search_step *step;
	uint32_t n_step, cap_step, best;
	struct search_try *tried;
	uint32_t n_tried, cap_tried;
	struct search_left *left;
	uint32_t n_left, cap_left;
	uint64_t used; /* runs */
	int64_t began;
	struct fair_time time;                                            /* what the budget is of */
	const char *ended;                                                /* why it stopped early; NULL */
	struct mend_trial *whole_eager, *whole_base, *whole_best, *as_is; /* the proof at the end; NULL: not done */
	struct slice as_is_verdict;
	bool base_as_is_differs;
	struct slice volatile_names;
	struct arena arena;
};
int mend_search_run(struct mend_search *s, struct err *err);
/* The same for MEND_SLOW and MEND_WRONG. goal.c */
int mend_goal_run(struct mend_search *s, struct err *err);
/* The program with the edits that are kept; base if there are none. */
const struct mend_trial *mend_search_best(const struct mend_search *s);
/* Of a finding of t that is left: why. Empty: it was not tried, or nothing is known. */
struct slice mend_search_why(const struct mend_search *s, const struct mend_trial *t, const struct finding *g);
void mend_search_release(struct mend_search *s);
#endif
