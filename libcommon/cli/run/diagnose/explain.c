/* explain.c - the analyses in their order. */
#include "run/diagnose/ignore.h"
#include "run/diagnose/order.h"

static void explain_damage(struct explanation *x)
{
	const struct facts *f = x->facts;
	for (uint32_t i = 0; i < f->n_damage; i++) {
		struct finding *g = explain_finding(x, FINDING_DAMAGE, FINDING_NOTE);
		g->id = SLICE("damage");
		g->src = fact_src(f->damage[i].input, f->damage[i].line);
		g->count = f->damage[i].count;
		g->title = facts_text(f, f->damage[i].what);
	}
}

void explain(struct explanation *x, struct facts *f)
{
	*x = (struct explanation){.facts = f};
	facts_frames(f);
	facts_sums(f, NONE, &x->sum);
	x->guard_us = guards_one_us(f);
	explain_count_ranks(x);
	explain_component(x);
	explain_breaks(x);
	explain_recompiles(x);
	explain_shapes(x);
	explain_times(x);
	explain_workers(x);
	explain_known(x);
	explain_damage(x);
	explain_ranks(x);
	explain_events(x);
	explain_consequences(x);
	explain_bugs(x);
	explain_own_lines(x);
	explain_same_call(x);
	explain_release(x);
	explain_foreign_breaks(x);
	explain_tried(x);
	explain_titles(x);
	explain_headline(x);
	explain_ignore(x);
	explain_order(x);
}

void explanation_release(struct explanation *x)
{
	arena_release(&x->arena);
	free(x->finding);
	free(x->ignored);
	free(x->component);
	free(x->group);
	free(x->frame);
	free(x->step);
	free(x->symbol);
	free(x->bound_row);
	free(x->time);
	free(x->part);
	free(x->bug);
	buf_release(&x->tmp);
	*x = (struct explanation){0};
}
