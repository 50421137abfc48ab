/* json.c - `fxexplain mend --json`: all tries and the result (docs/formats/MEND.md). */
#include "mend/mend_part.h"

#include "base/clock.h"

static void figures(struct json_out *o, const char *key, const struct mend_trial *t)
{
	if (!json_member_obj_if(o, key, t != NULL))
		return;
	json_member_u64(o, "graph_breaks", t->n.breaks);
	json_member_u64(o, "recompiles", t->n.recompiles);
	json_member_u64(o, "recompile_limits", t->n.limits);
	json_member_u64(o, "skipped", t->n.skipped);
	json_member_u64(o, "compiles", t->n.compiles);
	json_member_u64(o, "graph_calls", t->n.calls);
	json_member_u64(o, "ops", t->n.ops);
	json_member_u64(o, "steps", t->n.steps);
	json_member_double(o, "compile_seconds", t->compile_seconds, 4);
	json_member_double(o, "step_seconds", t->step_seconds, 7);
	json_member_str(o, "status", t->status);
	json_member_bool(o, "equal", t->equal);
	json_member_str(o, "differs", t->differs);
	json_close(o);
}

void mend_json(struct buf *b, const struct mend_search *s, const struct mend_about *about, struct slice patch)
{
	struct json_out o = {.b = b};
	const struct mend_trial *best = s->base ? mend_search_best(s) : NULL;
	json_obj(&o);
	json_member_str(&o, "schema", SLICE("pt2utils.mend/1"));
	json_member_str(&o, "tool", SLICE("fxexplain mend"));
	json_member_str(&o, "version", SLICE(PT2_VERSION));
	static const char *const goal[] = {"breaks", "slow", "wrong"};
	json_member_str(&o, "goal", slice_str(goal[s->goal]));
	json_member_str(&o, "torch", about->torch);
	json_member_str(&o, "python", about->python);
	json_member_bool(&o, "confined", about->confined);
	json_member_u64(&o, "runs", s->used);
	json_member_double(&o, "seconds", (double)(clock_ns() - s->began) / 1e9 + about->start_seconds, 3);
	json_member_str(&o, "ended", slice_str(s->ended ? s->ended : ""));
	json_member_str(&o, "eager", s->eager ? s->eager->status : SLICE(""));
	json_member_str(&o, "volatile", s->volatile_names);
	json_member_bool(&o, "compiled_crashes", s->crashes);
	json_member_str(&o, "crash", s->crash);
	const struct finding *worst = NULL;
	for (uint32_t i = 0; s->base && i < s->base->x.n_finding && !worst; i++)
		worst = trial_counts(&s->base->x.finding[i]) ? &s->base->x.finding[i] : NULL;
	json_member_str(&o, "worst", worst ? worst->title : SLICE(""));
	json_member_bool(&o, "worst_gone", !worst || trial_gone(s->base, worst, best));
	figures(&o, "before", s->whole_base ? s->whole_base : s->base);
	figures(&o, "after", s->whole_best ? s->whole_best : best);
	figures(&o, "as_is", s->as_is);
	json_member_bool(&o, "as_is_differs_without_edits", s->base_as_is_differs);
	json_rows(&o, "edits", i, s->best) {
		const struct search_step *p = &s->step[i];
		json_member_str(&o, "finding", p->finding);
		json_member_str(&o, "place", p->place);
		json_member_str(&o, "kind", p->kind);
		json_member_str(&o, "title", p->title);
		json_member_str(&o, "price", p->price);
		json_member_str(&o, "with", p->with);
		json_member_bool(&o, "needed", !p->dropped);
	}
	json_rows(&o, "tries", i, s->n_tried) {
		const struct search_try *t = &s->tried[i];
		json_member_str(&o, "finding", t->finding);
		json_member_str(&o, "place", t->place);
		json_member_str(&o, "kind", t->kind);
		json_member_str(&o, "title", t->title);
		json_member_str(&o, "advice", t->advice);
		json_member_bool(&o, "accepted", t->accepted);
		json_member_str(&o, "verdict", t->verdict);
		json_member_u64(&o, "graph_breaks", t->n.breaks);
		json_member_u64(&o, "recompiles", t->n.recompiles);
		json_member_u64(&o, "graph_calls", t->n.calls);
		json_member_u64(&o, "ops", t->n.ops);
		json_member_double(&o, "seconds", t->seconds, 3);
		json_member_double(&o, "compile_seconds", t->compile_seconds, 4);
		json_member_double(&o, "step_seconds", t->step_seconds, 7);
	}
	json_rows(&o, "left", i, best ? best->x.n_finding : 0) {
		const struct finding *g = &best->x.finding[i];
		LOCAL_BUF place = {0};
		explain_add_where(&place, &best->x, g);
		json_member_str(&o, "kind", slice_str(finding_kind_name[g->kind]));
		json_member_bool(&o, "counts", trial_counts(g));
		json_member_str(&o, "place", buf_slice(&place));
		json_member_str(&o, "title", g->title);
		json_member_str(&o, "why", mend_search_why(s, best, g));
	}
	json_member_str(&o, "patch", patch);
	json_close(&o);
	buf_addc(b, '\n');
}
