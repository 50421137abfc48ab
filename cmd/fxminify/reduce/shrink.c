/* shrink.c - runs the passes in turn (shrink.h). */
#include "reduce/shrink.h"

#define ROUNDS_MAX 20

static const struct shrinker *const passes[SHRINK_N] = {
    [SHRINK_OUTPUTS] = &shrink_outputs,     [SHRINK_MEMORY] = &shrink_memory,       [SHRINK_LEAVES] = &shrink_leaves,
    [SHRINK_STRIDES] = &shrink_strides,     [SHRINK_VALUES] = &shrink_values,       [SHRINK_INPUTS] = &shrink_inputs,
    [SHRINK_SUBGRAPHS] = &shrink_subgraphs, [SHRINK_SYMBOLS] = &shrink_symbols,     [SHRINK_SIZES] = &shrink_sizes,
    [SHRINK_DTYPES] = &shrink_dtypes,       [SHRINK_ARGUMENTS] = &shrink_arguments, [SHRINK_CONSTANTS] = &shrink_constants,
    [SHRINK_HEAD] = &shrink_head,
};

const char *shrink_name(enum shrink_pass p) { return (unsigned)p < SHRINK_N ? passes[p]->name : ""; }

struct shrinking {
	const struct shrinker *pass;
	struct runner *r;
	struct candidate base; /* a copy of the best: copies of a copy have the same layout, so that indices in an edit stay valid */
	struct edits edits;
};

static int make_edit(void *ctx, size_t i, struct candidate *c, struct err *err)
{
	struct shrinking *s = ctx;
	(void)err;
	candidate_copy(c, &s->base);
	if (s->pass->apply(c, s->r->original, &s->edits.v[i])) {
		c->ops = graph_n_ops(&c->graph);
		return 1;
	}
	candidate_release(c);
	return 0;
}

/* Tests a list of edits, and adopts the first that still fails. */
static int run_edits(struct reduction *red, struct shrinking *s, size_t *winner, struct err *err)
{
	struct proposals p = {.n = s->edits.n, .make = make_edit, .ctx = s, .likely = true};
	size_t before = s->r->best.ops;
	s->r->phase = s->pass->strategy;
	if (red->strategy)
		red->strategy(red->user, s->pass->strategy, s->edits.n, &s->r->best);
	int status = runner_ask(s->r, &p, winner, err);
	if (*winner != RUNNER_NONE && red->success)
		red->success(red->user, s->pass->strategy, before, s->r->best.ops);
	return status;
}

static void tell_pass(struct reduction *red, const struct shrinker *pass, bool ended, size_t done)
{
	if (red->pass)
		red->pass(red->user,
			  &(struct pass_note){.name = pass->name, .did = pass->did ? pass->did : "changed", .ended = ended, .done = done});
}

/* Runs a pass until it makes no more progress. */
static int run_pass(struct reduction *red, const struct shrinker *pass, bool *any, struct err *err)
{
	struct shrinking s = {.pass = pass, .r = red->runner};
	int status = 0;
	size_t winner = 0, before = pass->count ? pass->count(&s.r->best) : 0, done = 0;
	bool told = false;
	while (status == 0 && winner != RUNNER_NONE) {
		winner = RUNNER_NONE;
		s.edits.n = 0;
		candidate_copy(&s.base, &s.r->best);
		pass->list(&s.base, s.r->original, &s.edits);
		if (s.edits.n && !told)
			tell_pass(red, pass, false, 0), told = true;
		if (s.edits.n)
			status = run_edits(red, &s, &winner, err);
		*any |= winner != RUNNER_NONE;
		done += winner != RUNNER_NONE;
		candidate_release(&s.base);
	}
	free(s.edits.v);
	if (told)
		tell_pass(red, pass, true, pass->count ? before - pass->count(&s.r->best) : done);
	return status;
}

/* ---- all of them at once ---- */

#define EDITS_AT_ONCE 32

/* What most failures do not need: values, sizes, dtypes, ... The second time without what changes the computation. */
static const unsigned together[] = {
    1u << SHRINK_MEMORY | 1u << SHRINK_LEAVES | 1u << SHRINK_STRIDES | 1u << SHRINK_VALUES | 1u << SHRINK_INPUTS | 1u << SHRINK_SYMBOLS |
	1u << SHRINK_SIZES | 1u << SHRINK_DTYPES,
    1u << SHRINK_MEMORY | 1u << SHRINK_LEAVES | 1u << SHRINK_STRIDES | 1u << SHRINK_VALUES | 1u << SHRINK_INPUTS | 1u << SHRINK_SYMBOLS,
};

struct at_once {
	struct runner *r;
	unsigned which;
	size_t n[ARRAY_LEN(together)]; /* passes that changed something */
};

/* The first edit of a pass, its boldest, until it lists none. False: it lists none at first. */
static bool edit_once(struct candidate *c, const struct shrinker *pass, const struct repro *original)
{
	struct edits edits = {0};
	bool any = false;
	for (int i = 0; i < EDITS_AT_ONCE; i++) {
		struct candidate next;
		edits.n = 0;
		pass->list(c, original, &edits);
		if (!edits.n)
			break;
		candidate_copy(&next, c);
		if (!pass->apply(&next, original, &edits.v[0])) {
			candidate_release(&next);
			break;
		}
		candidate_release(c);
		*c = next;
		any = true;
	}
	free(edits.v);
	return any;
}

static int make_at_once(void *ctx, size_t i, struct candidate *c, struct err *err)
{
	struct at_once *a = ctx;
	size_t n = 0;
	(void)err;
	candidate_copy(c, &a->r->best);
	for (int p = 0; p < SHRINK_N; p++)
		n += (a->which & together[i]) >> p & 1 && edit_once(c, passes[p], a->r->original);
	a->n[i] = n;
	if (n > 1) {
		c->ops = graph_n_ops(&c->graph);
		return 1;
	}
	candidate_release(c); /* one pass alone asks the same */
	return 0;
}

/* Usually one test in place of one for each pass. What it leaves, or if it passes, the passes try one by one. */
static int shrink_at_once(struct reduction *red, unsigned which, struct err *err)
{
	struct at_once a = {red->runner, which, {0}};
	struct pass_note note = {.name = "at once", .did = "kept"};
	struct proposals p = {.n = ARRAY_LEN(together), .make = make_at_once, .ctx = &a, .likely = true};
	size_t winner;
	red->runner->phase = "Simplify inputs";
	if (red->strategy)
		red->strategy(red->user, red->runner->phase, p.n, &red->runner->best);
	if (red->pass)
		red->pass(red->user, &note);
	const size_t before = red->runner->best.ops;
	int status = runner_ask(red->runner, &p, &winner, err);
	note.ended = true;
	note.done = winner == RUNNER_NONE ? 0 : a.n[winner];
	if (red->pass)
		red->pass(red->user, &note);
	if (winner != RUNNER_NONE && red->success)
		red->success(red->user, red->runner->phase, before, red->runner->best.ops);
	return status;
}

int reduce_rest(struct reduction *red, unsigned which, struct err *err)
{
	bool any = true;
	for (int round = 0; any && round < ROUNDS_MAX; round++) {
		any = false;
		for (int i = 0; i < SHRINK_N; i++) {
			int p = (i + SHRINK_HEAD) % SHRINK_N;
			if (round && p == SHRINK_HEAD) /* no other pass changes which lines are needed: run once, first */
				continue;
			if (!round && p == SHRINK_MEMORY && which & together[0] && shrink_at_once(red, which, err) < 0)
				return -1;
			if (which >> p & 1 && run_pass(red, passes[p], &any, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* ---- changing candidates ---- */
