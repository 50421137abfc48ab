/* order.c - findings by what they cost (order.h). */
#include "run/diagnose/order.h"

#define GUARD_US_MOST 20.0 /* a slower guard was measured while something else ran */

/* ---- guards at run time ---- */

double guards_one_us(const struct facts *f)
{
	double least = -1;
	for (uint32_t i = 0; i < f->n_compile; i++) {
		const struct fact_compile *c = &f->compile[i];
		double us = c->guards > 0 ? c->guard_eval * 1e6 / (double)c->guards : -1;
		least = us >= 0 && (least < 0 || us < least) ? us : least;
	}
	return least < GUARD_US_MOST ? least : GUARD_US_MOST;
}

double guards_call_us(const struct explanation *x, uint32_t compile)
{
	const struct fact_compile *c = &x->facts->compile[compile];
	double us = c->guard_eval * 1e6, least = c->guards > 0 ? x->guard_us * (double)c->guards : us;
	return us < least ? us : least;
}

/* ---- the order ---- */

/* Seconds of compile time and of ORDER_CALLS calls. */
static double weight(const struct finding *g)
{
	return (g->seconds > 0 ? g->seconds : 0) + (g->call_us > 0 ? g->call_us : 0) * 1e-6 * ORDER_CALLS;
}

static int worst_first(const void *a, const void *b)
{
	const struct finding *p = a, *q = b;
	bool p_failure = p->kind == FINDING_FAILURE, q_failure = q->kind == FINDING_FAILURE;
	double p_weight = weight(p), q_weight = weight(q);
	if (p_failure != q_failure)
		return p_failure ? -1 : 1;
	if (p->ended != q->ended)
		return p->ended ? -1 : 1;
	if (p->level != q->level)
		return p->level > q->level ? -1 : 1;
	if (p->in_python != q->in_python)
		return p->in_python ? -1 : 1;
	if (p_weight != q_weight)
		return p_weight > q_weight ? -1 : 1;
	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	if (p->count != q->count)
		return p->count > q->count ? -1 : 1;
	return p->rank < q->rank ? -1 : p->rank > q->rank;
}

/* Views name findings by their row before the sorting. */
void explain_order(struct explanation *x)
{
	uint32_t n = x->n_finding, kept = 0, *row = xreallocarray(NULL, n + 1, sizeof(*row)),
		 *into = xreallocarray(NULL, n + 1, sizeof(*into));
	for (uint32_t i = 0; i < n; i++)
		into[i] = explain_told_by(x, i);
	for (uint32_t i = 0; i < n; i++) {
		row[i] = NONE;
		if (into[i] != i)
			continue;
		if (x->finding[i].ignored.n)
			PUSH_TO(x->ignored, x->n_ignored, x->cap_ignored) = x->finding[i];
		else
			x->finding[kept++] = x->finding[i];
	}
	x->n_finding = kept;
	if (kept)
		qsort(x->finding, kept, sizeof(*x->finding), worst_first);
	if (x->n_ignored)
		qsort(x->ignored, x->n_ignored, sizeof(*x->ignored), worst_first);
	for (uint32_t i = 0; i < kept; i++) {
		row[x->finding[i].rank] = i;
		x->finding[i].rank = i;
	}
	for (uint32_t i = 0; i < n; i++)
		row[i] = row[into[i]];
	free(into);
	for (uint32_t i = 0; i < x->n_group; i++)
		x->group[i].finding = x->group[i].finding == NONE ? NONE : row[x->group[i].finding];
	for (uint32_t i = 0; i < x->n_frame; i++)
		x->frame[i].finding = x->frame[i].finding == NONE ? NONE : row[x->frame[i].finding];
	for (uint32_t i = 0; i < x->n_symbol; i++)
		x->symbol[i].finding = x->symbol[i].finding == NONE ? NONE : row[x->symbol[i].finding];
	free(row);
}
