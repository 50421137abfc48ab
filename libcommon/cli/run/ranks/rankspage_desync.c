/* rankspage_desync.c - who keeps others waiting in a collective, from the Flight Recorders' dumps. */
#include "run/ranks/rankspage_part.h"

static int by_number(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void put_waiting(struct page *g, const struct rank_desync *d)
{
	FREED int64_t *rank = xcalloc(d->n_waiter + 1u, sizeof(*rank));
	for (uint32_t i = 0; i < d->n_waiter; i++)
		rank[i] = g->all->flight[d->waiter[i]].rank;
	qsort(rank, d->n_waiter, sizeof(*rank), by_number);
	buf_addf(g->b, "waiting: rank%s ", plural(d->n_waiter));
	ranks_put_numbers(g, rank, d->n_waiter);
}

static void put_desync(struct page *g, const struct rank_desync *d)
{
	const struct flight *f = &g->all->flight[d->flight];
	const struct flight_op *op = &f->op[d->op];
	const struct flight_group *group = &f->group[op->group];
	LOCAL_BUF b = {0};
	raw(g, "<li class=\"bad\">");
	for (uint32_t i = 0; i < d->n_culprit || !i; i++) {
		if (i == CULPRITS_SHOWN) {
			buf_addf(g->b, "and %u more ranks<br>", d->n_culprit - i);
			break;
		}
		buf_reset(&b);
		rank_desync_text(&b, g->all, d, d->n_culprit ? i : NONE);
		put(g, "<b>{}</b><br>\n", buf_slice(&b));
		const struct rank_culprit *c = d->n_culprit ? &d->culprit[i] : NULL;
		if (c && c->process != NONE && g->p->folder && g->p->folder[c->process])
			buf_addf(g->b, "<a href=\"%s/index.html\">what it compiled</a> · ", g->all->process[c->process].name);
	}
	put(g, "<small>group <code>{}</code> {} · ", flight_text(f, group->name), flight_text(f, group->desc));
	put_waiting(g, d);
	if (d->n_absent) {
		raw(g, " · no dump: ");
		ranks_put_numbers(g, d->absent, d->n_absent);
	}
	put(g, " · <code>{}</code> {}", flight_text(f, op->sizes), flight_text(f, op->dtypes));
	if (op->place != NONE)
		put(g, " · entered at <code>{}</code>", flight_text(f, op->place));
	raw(g, "</small></li>\n");
}

void ranks_put_desyncs(struct page *g)
{
	const struct ranks *all = g->all;
	uint32_t roots = 0;
	if (!all->n_flight)
		return;
	raw(g, "<section id=\"desyncs\"><h2>Collectives that did not finish</h2>\n");
	buf_addf(g->b, "<p class=\"dim\">From %u Flight Recorder dump%s", all->n_flight, plural(all->n_flight));
	raw(g, all->n_desync ? ".</p>\n" : ": all members of every group entered the same collectives.</p>\n");
	raw(g, "<ul class=\"notes\">\n");
	for (uint32_t i = 0; i < all->n_desync; i++)
		if (all->desync[i].cause == NONE) {
			put_desync(g, &all->desync[i]);
			roots++;
		}
	raw(g, "</ul>\n");
	if (roots < all->n_desync || all->desyncs_left_out) {
		const uint64_t more = all->n_desync - roots + all->desyncs_left_out;
		buf_addf(g->b, "<details><summary>%" PRIu64 " more group%s wait%s for ranks blocked by these</summary><ul>\n", more,
			 plural(more), verb_s(more));
		for (uint32_t i = 0, n = 0; i < all->n_desync && n < SLOW_ROWS; i++) {
			const struct rank_desync *d = &all->desync[i];
			if (d->cause == NONE)
				continue;
			LOCAL_BUF b = {0};
			rank_desync_text(&b, all, d, d->n_culprit ? 0 : NONE);
			put(g, "<li>{}", buf_slice(&b));
			if (d->n_culprit > 1)
				buf_addf(g->b, ", and %u more", d->n_culprit - 1);
			raw(g, "; ");
			put_waiting(g, d);
			raw(g, "</li>\n");
			n++;
		}
		raw(g, "</ul></details>\n");
	}
	raw(g, "</section>\n");
}
