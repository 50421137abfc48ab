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
	struct proposals p = {.n = s->edits.n, .make = make_edit, .ctx = s};
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

int reduce_rest(struct reduction *red, unsigned which, struct err *err)
{
	bool any = true;
	for (int round = 0; any && round < ROUNDS_MAX; round++) {
		any = false;
		for (int i = 0; i < SHRINK_N; i++) {
			int p = (i + SHRINK_HEAD) % SHRINK_N;
			if (round && p == SHRINK_HEAD) /* no other pass changes which lines are needed: run once, first */
				continue;
			if (which >> p & 1 && run_pass(red, passes[p], &any, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* ---- changing candidates ---- */
