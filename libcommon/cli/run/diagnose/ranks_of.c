/* ranks_of.c - which ranks of a run a finding is on. */
#include "run/diagnose/finding.h"

enum { RANKS_FIRST = 8 }; /* room for them; it doubles */

static void add_rank(struct explanation *x, struct finding *g, int64_t rank)
{
	uint32_t at = 0, end = g->n_ranks;
	while (at < end) {
		uint32_t mid = at + (end - at) / 2;
		if (g->ranks[mid] < rank)
			at = mid + 1;
		else
			end = mid;
	}
	if (rank < 0 || x->n_ranks < 2 || (at < g->n_ranks && g->ranks[at] == rank))
		return;
	if (!g->n_ranks || (g->n_ranks >= RANKS_FIRST && !(g->n_ranks & (g->n_ranks - 1)))) {
		uint32_t room = g->n_ranks ? 2 * g->n_ranks : RANKS_FIRST;
		int64_t *more = arena_alloc(&x->arena, room * sizeof(*more));
		if (g->n_ranks)
			memcpy(more, g->ranks, g->n_ranks * sizeof(*more));
		g->ranks = more;
	}
	memmove(g->ranks + at + 1, g->ranks + at, (g->n_ranks++ - at) * sizeof(*g->ranks));
	g->ranks[at] = rank;
}

void explain_on_input(struct explanation *x, struct finding *g, uint32_t input) { add_rank(x, g, x->facts->input[input].rank); }

void explain_on_ranks_of(struct explanation *x, struct finding *g, const struct finding *other)
{
	for (uint32_t i = 0; i < other->n_ranks; i++)
		add_rank(x, g, other->ranks[i]);
}

/* "0, 3-7, 9" */
static void put_ranges(struct buf *b, const int64_t *rank, uint32_t n)
{
	for (uint32_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && rank[k] == rank[k - 1] + 1; k++)
			;
		if (k - i == 2) /* two are listed */
			k = i + 1;
		buf_addf(b, "%s%lld", i ? ", " : "", (long long)rank[i]);
		if (k - i > 1)
			buf_addf(b, "-%lld", (long long)rank[k - 1]);
	}
}

enum { FEW_MISSING = 3, MANY = 8 };

void explain_put_ranks(struct buf *b, const struct explanation *x, const struct finding *g)
{
	int64_t *all, missing[FEW_MISSING] = {0};
	uint32_t n = facts_ranks(x->facts, NONE, &all), left = 0;
	if (g->n_ranks >= n) {
		buf_adds(b, "all");
	} else if (g->n_ranks >= MANY && n - g->n_ranks <= FEW_MISSING) {
		for (uint32_t i = 0, k = 0; i < n && left < FEW_MISSING; i++) {
			while (k < g->n_ranks && g->ranks[k] < all[i])
				k++;
			if (k == g->n_ranks || g->ranks[k] != all[i])
				missing[left++] = all[i];
		}
		buf_addf(b, "%u of %u, not ", g->n_ranks, n);
		put_ranges(b, missing, left);
	} else {
		put_ranges(b, g->ranks, g->n_ranks);
	}
	free(all);
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
