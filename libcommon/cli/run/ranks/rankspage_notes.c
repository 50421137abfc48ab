/* rankspage_notes.c - what to know before trusting the rest: missing, damaged and mixed logs. */
#include "run/ranks/rankspage_part.h"

static void note(struct page *g, const char *class) { buf_addf(g->b, "<li class=\"%s\">", class); }

static void note_lost(struct page *g, const struct rank_missing *lost)
{
	note(g, "bad");
	if (lost->rank >= 0)
		buf_addf(g->b, "<b>Rank %lld could not be read.</b> ", (long long)lost->rank);
	else
		raw(g, "<b>A log could not be read.</b> ");
	ranks_put_file(g, lost->path);
	put(g, ": {}</li>\n", slice_str(lost->why));
}

void ranks_put_numbers(struct page *g, const int64_t *rank, uint32_t n)
{
	uint32_t shown = 0;
	for (uint32_t i = 0; i < n; shown++) {
		uint32_t k = i + 1;
		while (k < n && rank[k] == rank[k - 1] + 1)
			k++;
		if (shown == RANGES) {
			raw(g, ", …");
			return;
		}
		buf_addf(g->b, k - i > 1 ? "%s%lld–%lld" : "%s%lld", shown ? ", " : "", (long long)rank[i], (long long)rank[k - 1]);
		i = k;
	}
}

static void note_absent(struct page *g)
{
	const struct ranks *all = g->all;
	note(g, "bad");
	buf_addf(g->b, "<b>No readable log of %" PRIu64 " rank%s</b> below the highest: ", all->absents, plural(all->absents));
	ranks_put_numbers(g, all->absent, all->n_absent);
	if (all->absents > all->n_absent)
		raw(g, ", …");
	raw(g, ". They are not compared.</li>\n");
}

static void note_versions(struct page *g, const struct rank_verdict *v)
{
	note(g, "bad");
	raw(g, "<b>Different versions of torch:</b> ");
	for (uint32_t i = 0; i < v->n_group; i++) {
		const struct rank_process *f = &g->all->process[v->group[i].member[0]];
		raw(g, i ? "; <code>" : "<code>");
		put(g, "{}</code> ", f->torch_version == NONE ? SLICE("not recorded") : name(g, f->torch_version));
		ranks_put_members(g, v->group[i].member, v->group[i].n_member);
	}
	raw(g, ". Their graphs may differ for that reason alone.</li>\n");
}

/* A kind of damage, and the logs that have it. */
static void note_damage(struct page *g, unsigned k)
{
	const struct ranks *all = g->all;
	uint32_t *m = NULL;
	size_t n = 0, cap = 0;
	for (uint32_t i = 0; i < all->n_process; i++)
		if (all->process[i].damage[k].count)
			PUSH_TO(m, n, cap) = i;
	if (n) {
		const struct trace_damage *d = &all->process[m[0]].damage[k];
		note(g, "warn");
		raw(g, "<b>Damaged: ");
		ranks_put_members(g, m, (uint32_t)n);
		put(g, ".</b> {}", slice_str(trace_damage_text[k]));
		buf_addf(g->b,
			 n == 1 ? " (%" PRIu64 ", line %" PRIu64 ")</li>\n"
				: " (in the first of them %" PRIu64 ", line %" PRIu64 ")</li>\n",
			 d->count, d->line);
	}
	free(m);
}

/* From process i on: the logs of one rank. */
static void note_again(struct page *g, uint32_t i)
{
	const struct ranks *all = g->all;
	const struct rank_process *f = &all->process[i];
	uint32_t n = 1;
	while (i + n < all->n_process && all->process[i + n].rank == f->rank)
		n++;
	note(g, "warn");
	buf_addf(g->b,
		 "<b>Rank %lld has %u logs</b> (a restart, or a process it forked). They are shown separately, in the order "
		 "they started: ",
		 (long long)f->rank, n);
	for (uint32_t k = 0; k < n; k++) {
		raw(g, k ? ", " : "");
		str(g, all->process[i + k].name);
		buf_addf(g->b, " (pid %" PRIu64 ")", all->process[i + k].pid);
	}
	raw(g, ".</li>\n");
}

static void note_process(struct page *g, uint32_t i)
{
	const struct ranks *all = g->all;
	const struct rank_process *f = &all->process[i];
	if (f->rank >= 0 && f->nth == 1 && i + 1 < all->n_process && all->process[i + 1].rank == f->rank)
		note_again(g, i);
	if (f->record_rank >= 0 && f->rank >= 0 && f->record_rank != f->rank) {
		note(g, "warn");
		ranks_put_file(g, f->path);
		buf_addf(g->b, ": rank %lld by the file's name, rank %lld by its records; counted as rank %lld.</li>\n", (long long)f->rank,
			 (long long)f->record_rank, (long long)f->rank);
	}
	if (f->cut_events || f->cut_ops) {
		note(g, "warn");
		str(g, f->name);
		buf_addf(g->b, ": %" PRIu64 " events and %" PRIu64 " lists of operators are not compared (too many, or unreadable).</li>\n",
			 f->cut_events, f->cut_ops);
	}
}

void ranks_put_notes(struct page *g)
{
	const struct ranks *all = g->all;
	size_t start = g->b->len;
	raw(g, "<ul class=\"notes\">\n");
	size_t head = g->b->len;
	for (uint32_t i = 0; i < all->n_lost; i++)
		note_lost(g, &all->lost[i]);
	if (all->absents)
		note_absent(g);
	if (!all->check[RANK_CHECK_VERSION].agree)
		note_versions(g, &all->check[RANK_CHECK_VERSION]);
	for (unsigned k = 0; k < DAMAGE_COUNT; k++)
		note_damage(g, k);
	for (uint32_t i = 0; i < all->n_process; i++)
		note_process(g, i);
	uint32_t unranked = 0;
	for (uint32_t i = 0; i < all->n_process; i++)
		unranked += all->process[i].rank < 0;
	if (unranked) {
		note(g, "info");
		buf_addf(g->b, "%u log%s without a rank: processes, named by their pid (proc_PID).</li>\n", unranked, plural(unranked));
	}
	if (g->b->len == head)
		buf_cut(g->b, start);
	else
		raw(g, "</ul>\n");
}
