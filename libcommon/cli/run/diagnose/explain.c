/* explain.c - the analyses in their order. */
#include "run/diagnose/order.h"

const char *const finding_kind_name[FINDING_KINDS] = {
    [FINDING_FAILURE] = "failure",     [FINDING_KNOWN] = "known",       [FINDING_LIMIT] = "recompile-limit",
    [FINDING_RECOMPILE] = "recompile", [FINDING_BREAK] = "graph-break", [FINDING_SHAPE] = "dynamic-shape",
    [FINDING_TIME] = "compile-time",   [FINDING_CACHE] = "cache",       [FINDING_CUDAGRAPH] = "cudagraph",
    [FINDING_DAMAGE] = "damage",
};

struct finding *explain_finding(struct explanation *x, enum finding_kind kind, enum finding_level level)
{
	GROW(x->finding, x->n_finding, x->cap_finding, 1);
	x->finding[x->n_finding] = (struct finding){.kind = kind,
						    .level = level,
						    .loc = facts_no_loc(),
						    .through = facts_no_loc(),
						    .call = facts_no_loc(),
						    .seconds = -1,
						    .call_us = -1,
						    .rank = x->n_finding,
						    .compile = NONE,
						    .into = NONE};
	return &x->finding[x->n_finding++];
}

struct slice explain_keep(struct explanation *x, struct slice s) { return s.n ? arena_slice(&x->arena, s) : s; }

struct slice explain_textf(struct explanation *x, const char *fmt, ...)
{
	va_list ap;
	buf_reset(&x->tmp);
	va_start(ap, fmt);
	buf_addvf(&x->tmp, fmt, ap);
	va_end(ap);
	return explain_keep(x, buf_slice(&x->tmp));
}

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
	explain_own_lines(x);
	explain_same_call(x);
	explain_release(x);
	explain_foreign_breaks(x);
	explain_titles(x);
	explain_headline(x);
	explain_order(x);
}

void explanation_release(struct explanation *x)
{
	arena_release(&x->arena);
	free(x->finding);
	free(x->component);
	free(x->group);
	free(x->frame);
	free(x->step);
	free(x->symbol);
	free(x->bound_row);
	free(x->time);
	free(x->part);
	buf_release(&x->tmp);
	*x = (struct explanation){0};
}
