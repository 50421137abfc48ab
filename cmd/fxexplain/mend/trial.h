/* trial.h - one run of the program with one set of texts: what it did, what torch.compile logged, and whether a finding is gone from it.
 *
 *     struct mend_trial *t = trial_run(&ask, &(struct trial_spec){.texts = texts, .backend = "eager"}, &err);
 *     if (t->equal && trial_gone(before, &before->x.finding[0], t)) ...
 *     trial_free(t);
 *
 * The texts are a JSON object, path -> text, of the files that differ from what is on disk; "{}" is the program as it is. A finding is
 * followed through the edit by lines: its line in the old text is looked up in the new one (base/linediff.h), since an edit moves it,
 * and its words alone are fooled: ".item() > 100" that became ".detach() > 100" is the same break.
 */
#ifndef MEND_TRIAL_H
#define MEND_TRIAL_H
#include "mend/server.h"
#include "explain/explain.h"

struct trial_figures {
	uint64_t breaks, recompiles, limits, skipped, failures, compiles, graphs; /* of the log */
	uint64_t calls, ops, outer, steps; /* counted by the backend: graph calls, operations in them; calls
										     * of what is compiled, steps */
};
struct mend_trial {
	struct slice texts, status, differs, error;
	bool equal; /* to the eager run */
	bool as_eager_ends;
	double seconds, cpu;
	double compile_seconds, step_seconds; /* processor time; with a GPU the clock's. Until all is compiled, and of a step after that */
	struct trial_figures n;
	struct facts facts;
	struct explanation x; /* n_finding 0: nothing was logged */
	bool explained;
	struct arena arena;
};
struct trial_spec {
	struct slice texts;
	const char *backend; /* "eager", "aot_eager", "as-is" */
	bool whole, region;  /* to its end, with its own recompile limit; are other calls the compiled ones? */
	double tolerance;    /* relative; 0: 1e-5 */
	bool cold;           /* with empty caches: the time to compile is measured */
	bool rounds;         /* instead: what eager itself rounds (search.h, MEND_WRONG) */
	int timeout;         /* seconds */
};
struct mend_trial *trial_run(struct mend_server *s, const struct trial_spec *spec, struct err *err);
/* From an answer of the server to `run` or `eager`. */
struct mend_trial *trial_of(const struct json_tape *t, uint32_t root, struct slice texts);
void trial_free(struct mend_trial *t);

/* Does the new run no longer have this finding of the old one? */
bool trial_gone(const struct mend_trial *old, const struct finding *g, const struct mend_trial *new);
/* What the search lowers from prefix to prefix: breaks count most, then functions left in Python, recompiles, graph calls a step. */
double trial_cost(const struct mend_trial *t);
/* "5 breaks, 7 recompiles, 1 function in Python, 72 graph calls" */
void trial_figures(struct buf *b, const struct trial_figures *n);
/* The finding as the server's candidates need it: a JSON object. g NULL: the error that only the compiled program has. */
void trial_finding(struct buf *b, const struct mend_trial *t, const struct finding *g);
/* Should a person act on it, and is it about breaks, recompiles or failures? */
bool trial_counts(const struct finding *g);
#endif
