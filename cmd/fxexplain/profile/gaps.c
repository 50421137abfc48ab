/* gaps.c - when nothing ran: between ops of all threads, inside steps. */
#include "profile/profile_part.h"

static void keep(struct profile *p, struct profile_gap g)
{
	p->gaps += g.dur;
	p->n_gaps++;
	if (p->n_gap == PROFILE_GAPS && p->gap[PROFILE_GAPS - 1].dur >= g.dur)
		return;
	uint32_t i = p->n_gap < PROFILE_GAPS ? p->n_gap++ : PROFILE_GAPS - 1;
	for (; i && p->gap[i - 1].dur < g.dur; i--)
		p->gap[i] = p->gap[i - 1];
	p->gap[i] = g;
}

/* A gap [from, to) in which nothing runs, clipped to the steps. */
static void gap(struct profile *p, uint64_t from, uint64_t to, uint32_t before, uint32_t after, uint32_t *at)
{
	if (!p->n_step && to > from)
		keep(p, (struct profile_gap){from, to - from, before, after, NONE, NONE});
	while (*at < p->n_step && p->step[*at].ts + p->step[*at].dur <= from)
		++*at;
	for (uint32_t i = *at; i < p->n_step && p->step[i].ts < to; i++) {
		const uint64_t end = p->step[i].ts + p->step[i].dur;
		const uint64_t a = from > p->step[i].ts ? from : p->step[i].ts, b = to < end ? to : end;
		if (b > a)
			keep(p, (struct profile_gap){a, b - a, before, after, i, NONE});
	}
}

void profile_gaps(struct profile *p, struct lane *busy)
{
	uint64_t end = p->n_step ? 0 : p->first;
	uint32_t last = NONE, at = 0;
	for (size_t i = 0; i < busy->n; i++) {
		const struct mark *m = &busy->v[i];
		if (m->ts > end)
			gap(p, end, m->ts, last, mark_row(m), &at);
		if (mark_end(m) >= end) {
			end = mark_end(m);
			last = mark_row(m);
		}
	}
	gap(p, end, p->n_step ? UINT64_MAX : p->last, last, NONE, &at);
}

void profile_gap_python(struct profile *p, const struct lane *python)
{
	for (size_t i = 0; i < python->n; i++) {
		const struct mark *m = &python->v[i];
		for (uint32_t k = 0; k < p->n_gap; k++) {
			const uint64_t mid = p->gap[k].ts + p->gap[k].dur / 2;
			if (m->ts <= mid && mid < mark_end(m))
				p->gap[k].python = mark_row(m); /* inner ones come later */
		}
	}
}
