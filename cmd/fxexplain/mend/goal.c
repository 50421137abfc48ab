/* goal.c - the loop of search.c with another oracle: the clock (--slow), or eager in float64 (--wrong); see search.h. */
#include "mend/search_part.h"

#include "base/text.h"

enum { ROUNDS = 4, STEPS = 1000 };

static const double better = 0.92; /* of the time before: less is noise */

/* Seconds until all is compiled, and of a thousand steps. */
static double trial_time(const struct mend_trial *t) { return t->compile_seconds + STEPS * t->step_seconds; }

static struct mend_trial *as_it_is(struct mend_search *s, struct slice texts, bool whole, bool region, struct err *err)
{
	return mend_search_trial(s,
				 (struct trial_spec){.texts = texts,
						     .backend = "as-is",
						     .whole = whole,
						     .region = region,
						     .tolerance = 2e-3,
						     .cold = s->goal == MEND_SLOW,
						     .rounds = s->goal == MEND_WRONG},
				 err);
}

/* Operations in graphs times calls: only our backend counts them. */
static int counted(struct mend_search *s, struct slice texts, bool region, uint64_t *ops, struct err *err)
{
	struct mend_trial *t = mend_search_trial(s, (struct trial_spec){.texts = texts, .backend = "eager", .region = region}, err);
	if (!t)
		return -1;
	*ops = t->n.ops;
	trial_free(t);
	return 0;
}

/* What is not compiled takes no time to compile: that is not what was asked. */
static int covers(struct mend_search *s, struct slice texts, struct slice kind, bool region, struct slice *why, struct err *err)
{
	uint64_t ops;
	if (counted(s, texts, region, &ops, err) < 0)
		return -1;
	if ((double)ops < (slice_is(kind, "region") ? 0.5 : 0.85) * (double)s->ops)
		*why = arena_textf(&s->arena, "less is compiled: %llu of %llu operations in graphs", (unsigned long long)ops,
				   (unsigned long long)s->ops);
	return 0;
}

/* Both once more, one after the other: 1 it is faster again, 0 not, -1 failed. */
static int again(struct mend_search *s, struct mend_trial *now, struct mend_trial *new, bool region, struct err *err)
{
	struct mend_trial *both[] = {now, new};
	for (int i = 0; i < 2; i++) {
		struct mend_trial *r = as_it_is(s, both[i]->texts, false, region, err);
		if (!r)
			return -1;
		if (r->equal && trial_time(r) < trial_time(both[i])) {
			both[i]->compile_seconds = r->compile_seconds;
			both[i]->step_seconds = r->step_seconds;
		}
		trial_free(r);
	}
	return trial_time(new) <= better * trial_time(now);
}

static struct slice verdict(struct mend_search *s, const struct mend_trial *now, const struct mend_trial *r)
{
	if (!r->equal)
		return arena_slice(&s->arena, r->differs);
	if (s->goal == MEND_SLOW && trial_time(r) > better * trial_time(now))
		return SLICE("not faster");
	return slice_of(NULL, 0);
}

static int try_one(struct mend_search *s, struct mend_trial *now, const struct json_tape *t, uint32_t c, struct err *err)
{
	bool region = json_flag(t, c, "region") || (s->n_step && s->step[s->n_step - 1].region);
	struct slice texts = arena_slice(&s->arena, json_raw(t, json_get(t, c, "texts")));
	struct search_try row = {.finding = s->goal == MEND_SLOW ? SLICE("time") : SLICE("wrong numbers"),
				 .kind = json_dup(t, c, "kind", &s->arena),
				 .title = json_dup(t, c, "title", &s->arena)};
	struct mend_trial *r = as_it_is(s, texts, false, region, err);
	if (!r)
		return -1;
	row.verdict = verdict(s, now, r);
	if (!row.verdict.n && s->goal == MEND_SLOW && covers(s, texts, row.kind, region, &row.verdict, err) < 0) {
		trial_free(r);
		return -1;
	}
	if (!row.verdict.n && s->goal == MEND_SLOW) {
		int faster = again(s, now, r, region, err);
		if (faster < 0) {
			trial_free(r);
			return -1;
		}
		row.verdict = faster ? row.verdict : SLICE("not faster the second time");
	}
	row.n = r->n;
	row.seconds = r->seconds;
	row.compile_seconds = r->compile_seconds;
	row.step_seconds = r->step_seconds;
	row.accepted = !row.verdict.n;
	PUSH_TO(s->tried, s->n_tried, s->cap_tried) = row;
	mend_search_tell(s, SEARCH_TRY, &row);
	if (!row.accepted) {
		trial_free(r);
		return 0;
	}
	PUSH_TO(s->step, s->n_step, s->cap_step) = (struct search_step){.kind = row.kind,
									.title = row.title,
									.price = json_dup(t, c, "price", &s->arena),
									.finding = row.finding,
									.trial = r,
									.region = region};
	s->best = s->n_step;
	mend_search_tell(s, SEARCH_ACCEPTED, &row);
	return 1;
}

/* What did not help the program as it was is not tried again after another edit: each try is a compilation. */
static bool refused_before(const struct mend_search *s, struct slice kind, struct slice title)
{
	for (uint32_t i = 0; i < s->n_tried; i++)
		if (!s->tried[i].accepted && slice_eq(s->tried[i].title, title) && slice_eq(s->tried[i].kind, kind))
			return true;
	return false;
}

static int one_round(struct mend_search *s, struct err *err)
{
	LOCAL_BUF b = {0};
	LOCAL_BUF answer = {0};
	OWNED(json_tape_release) struct json_tape t = {0};
	uint32_t root;
	struct mend_trial *now = s->n_step ? s->step[s->n_step - 1].trial : s->base;
	struct search_try head = {.finding = s->goal == MEND_SLOW ? SLICE("what makes it faster") : SLICE("what makes the numbers right")};
	buf_addf(&b,
		 "{\"op\": \"candidates\", \"id\": 0, \"texts\": %.*s, \"finding\": {\"kind\": \"%s\", \"compiling\": %s, \"recompiles\": "
		 "%llu%s%.*s}}",
		 SL(now->texts), s->goal == MEND_SLOW ? "slow" : "wrong",
		 now->compile_seconds > STEPS * now->step_seconds ? "true" : "false", (unsigned long long)now->n.recompiles,
		 s->accused.n ? ", " : "", SL(s->accused));
	mend_search_tell(s, SEARCH_FINDING, &head);
	if (mend_search_candidates(s, buf_slice(&b), &t, &answer, &root, err) < 0)
		return -1;
	int done = 0;
	json_each(&t, json_get(&t, root, "candidates"), c) {
		if (done || mend_search_spent(s))
			break;
		if (refused_before(s, json_dup(&t, c, "kind", &s->arena), json_dup(&t, c, "title", &s->arena)))
			continue;
		done = try_one(s, now, &t, c, err);
	}
	if (!done)
		mend_search_tell(s, SEARCH_NONE, NULL);
	return done;
}

int mend_goal_run(struct mend_search *s, struct err *err)
{
	int go = mend_search_start(s, err);
	if (go <= 0)
		return go;
	if (s->goal == MEND_SLOW) { /* the first one makes what all share: precompiled headers, files in memory */
		struct mend_trial *first = as_it_is(s, SLICE("{}"), false, false, err);
		if (!first)
			return -1;
		trial_free(first);
	}
	if (!(s->base = as_it_is(s, SLICE("{}"), false, false, err)))
		return -1;
	mend_search_base(s);
	if (s->goal == MEND_WRONG && s->base->equal)
		return 0;
	if (s->goal == MEND_SLOW && counted(s, SLICE("{}"), false, &s->ops, err) < 0)
		return -1;
	int done = 1;
	for (int n = 0; done > 0 && n < (s->goal == MEND_WRONG ? 1 : ROUNDS) && !mend_search_spent(s); n++)
		done = one_round(s, err);
	if (done < 0)
		return -1;
	if (!s->best)
		return 0;
	const struct search_step *last = &s->step[s->best - 1];
	mend_search_tell(s, SEARCH_PROVING, NULL);
	if (mend_search_eager(s, true, &s->whole_eager, err) < 0 || !(s->as_is = as_it_is(s, last->trial->texts, true, last->region, err)))
		return -1;
	s->as_is_verdict = arena_slice(&s->arena, s->as_is->differs);
	return 0;
}
