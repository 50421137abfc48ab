/* ranks_of.c - which ranks of a run a finding is on. */
#include "run/diagnose/finding.h"

enum { RANKS_NAMED = 64 };

static void add_rank(struct explanation *x, struct finding *g, int64_t rank)
{
	uint32_t at = 0;
	while (at < g->n_ranks && g->ranks[at] < rank)
		at++;
	if (rank < 0 || x->n_ranks < 2 || g->n_ranks == RANKS_NAMED || (at < g->n_ranks && g->ranks[at] == rank))
		return;
	if (!g->ranks)
		g->ranks = arena_alloc(&x->arena, RANKS_NAMED * sizeof(*g->ranks));
	memmove(g->ranks + at + 1, g->ranks + at, (g->n_ranks++ - at) * sizeof(*g->ranks));
	g->ranks[at] = rank;
}

void explain_on_input(struct explanation *x, struct finding *g, uint32_t input) { add_rank(x, g, x->facts->input[input].rank); }

void explain_on_ranks_of(struct explanation *x, struct finding *g, const struct finding *other)
{
	for (uint32_t i = 0; i < other->n_ranks; i++)
		add_rank(x, g, other->ranks[i]);
}

void explain_put_ranks(struct buf *b, const struct finding *g)
{
	for (uint32_t i = 0; i < g->n_ranks; i++)
		buf_addf(b, "%s%lld", i ? ", " : "", (long long)g->ranks[i]);
}

void explain_count_ranks(struct explanation *x)
{
	const struct facts *f = x->facts;
	int64_t *rank;
	x->n_ranks = facts_ranks(f, NONE, &rank);
	free(rank);
	x->slowest = NONE;
	for (uint32_t i = 0; i < f->n_input; i++)
		if (f->input[i].rank >= 0 && (x->slowest == NONE || f->input[i].seconds > f->input[x->slowest].seconds))
			x->slowest = i;
}

/* Findings about the whole run (caches, times) are on all ranks. */
void explain_ranks(struct explanation *x)
{
	for (uint32_t i = 0; i < x->n_finding; i++)
		if (x->finding[i].loc.file != NONE || x->finding[i].kind == FINDING_FAILURE)
			explain_on_input(x, &x->finding[i], x->finding[i].src.input);
	for (uint32_t i = 0; i < x->n_frame; i++)
		if (x->frame[i].finding != NONE)
			explain_on_input(x, &x->finding[x->frame[i].finding], x->facts->frame[x->frame[i].row].input);
}
