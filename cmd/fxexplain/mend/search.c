/* search.c - see search.h. */
#include "mend/search_part.h"
#include "mend/journal.h"

#include "base/clock.h"
#include "base/text.h"

enum { MOST_STEPS = 16, MOST_CANDIDATES = 14 };

bool mend_search_spent(struct mend_search *s)
{
	if (fair_time(&s->time) > s->budget)
		s->ended = "the time of --budget is used up";
	else if (s->used >= (uint64_t)s->runs)
		s->ended = "the runs of --runs are used up";
	return s->ended != NULL;
}

/* Of one try: eight times as long as the compiled program took, or two minutes; never beyond the budget. */
static int patience(struct mend_search *s)
{
	double own = s->base ? 8 * s->base->seconds : 600, left = s->budget - fair_time(&s->time) + 10;
	double t = own < 120 ? 120 : own;
	return (int)(t < left ? t : left < 10 ? 10 : left);
}

void mend_search_tell(struct mend_search *s, enum search_event e, const struct search_try *t)
{
	if (s->show)
		s->show(s->arg, s, e, t);
}

const struct mend_trial *mend_search_best(const struct mend_search *s) { return s->best ? s->step[s->best - 1].trial : s->base; }

/* ---- the reference ---- */

int mend_search_eager(struct mend_search *s, bool whole, struct mend_trial **out, struct err *err)
{
	LOCAL_BUF b = {0};
	OWNED(json_tape_release) struct json_tape t = {0};
	uint32_t root;
	buf_addf(&b, "{\"op\": \"eager\", \"id\": 0, \"timeout\": %d, \"whole\": %s, \"wide\": %s}", patience(s), whole ? "true" : "false",
		 s->goal == MEND_WRONG ? "true" : "false");
	if (mend_server_ask(s->server, buf_slice(&b), &t, &root, err) < 0)
		return -1;
	*out = trial_of(&t, root, SLICE("{}"));
	s->used = json_count(&t, root, "runs", s->used);
	if (!whole) {
		LOCAL_BUF names = {0};
		json_each(&t, json_get(&t, root, "volatile"), k) {
			buf_adds(&names, names.len ? ", " : "");
			json_unescape(&t, k, &names);
		}
		s->volatile_names = arena_slice(&s->arena, buf_slice(&names));
	}
	return 0;
}

/* The main file and those that belong to it are needed as texts to follow lines: the server sends what a candidate changed with all
 * others. */
struct mend_trial *mend_search_trial(struct mend_search *s, struct trial_spec spec, struct err *err)
{
	spec.timeout = slice_is(slice_str(spec.backend), "as-is") ? 1800 : patience(s); /* a compiler for C++ or Triton at work */
	s->used++;
	return trial_run(s->server, &spec, err);
}

/* ---- a finding ---- */

static struct slice place_of(struct mend_search *s, const struct mend_trial *t, const struct finding *g)
{
	LOCAL_BUF b = {0};
	explain_add_where(&b, &t->x, g);
	return arena_slice(&s->arena, buf_slice(&b));
}

/* What it is called when it was given up: its lines move. */
static struct slice key_of(struct arena *a, const struct mend_trial *t, const struct finding *g)
{
	struct slice code = slice_trim(facts_text(&t->facts, g->loc.code));
	return arena_textf(a, "%s|%.*s|%.*s|%.*s", finding_kind_name[g->kind], SL(g->cause), SL(code),
			   SL(facts_text(&t->facts, g->loc.function)));
}

static const struct search_left *given_up(const struct mend_search *s, struct slice key)
{
	for (uint32_t i = 0; i < s->n_left; i++)
		if (slice_eq(s->left[i].key, key))
			return &s->left[i];
	return NULL;
}

struct slice mend_search_why(const struct mend_search *s, const struct mend_trial *t, const struct finding *g)
{
	OWNED(arena_release) struct arena a = {0};
	const struct search_left *left = given_up(s, key_of(&a, t, g));
	return left ? left->why : SLICE("");
}

/* What became of the edits from `first` on, and what the server says. */
static struct slice why_left(struct mend_search *s, uint32_t first, struct slice said)
{
	LOCAL_BUF b = {0};
	uint64_t leave = 0, less = 0, n = s->n_tried - first;
	for (uint32_t i = first; i < s->n_tried; i++) {
		leave += slice_has(s->tried[i].verdict, " stays");
		less += slice_starts(s->tried[i].verdict, "less is compiled");
	}
	const uint64_t change = n - leave - less;
	const char *sep = "";
	put_count(&b, n, "edit");
	buf_adds(&b, n == 1 ? " was tried" : n ? " were tried" : " fit");
	if (n)
		buf_adds(&b, ": ");
	if (leave)
		buf_addf(&b, "%llu %s it", (unsigned long long)leave, leave == 1 ? "leaves" : "leave"), sep = ", ";
	if (change)
		buf_addf(&b, "%s%llu %s results", sep, (unsigned long long)change, change == 1 ? "changes" : "change"), sep = ", ";
	if (less)
		buf_addf(&b, "%s%llu %s less", sep, (unsigned long long)less, less == 1 ? "compiles" : "compile");
	buf_addf(&b, "%s%.*s", said.n ? "; " : "", SL(said));
	return arena_slice(&s->arena, buf_slice(&b));
}

/* Findings that were there before and are not now, but for the one that the edit is for: its consequences. */
static struct slice went_with(struct mend_search *s, const struct mend_trial *old, const struct finding *g, const struct mend_trial *new)
{
	LOCAL_BUF b = {0};
	if (g && new->n.recompiles < old->n.recompiles)
		buf_add_slice(&b, g->follows);
	for (uint32_t i = 0; i < old->x.n_finding; i++) {
		const struct finding *h = &old->x.finding[i];
		if (h != g && trial_counts(h) && trial_gone(old, h, new)) {
			LOCAL_BUF line = {0};
			put_flat(&line, h->title, 100);
			buf_addf(&b, "%s%.*s", b.len ? "\n" : "", SL(buf_slice(&line)));
		}
	}
	return arena_slice(&s->arena, buf_slice(&b));
}

/* What coverage is measured by: the program as it was, or as its last region left it. */
static uint64_t ops_before(const struct mend_search *s)
{
	for (uint32_t i = s->n_step; i-- > 0;)
		if (slice_is(s->step[i].kind, "region"))
			return s->step[i].trial->n.ops;
	return s->base->n.ops;
}

/* given: what the candidate itself says; 0: nothing. now: what it is an edit of; 97 % of that is enough, too, down to half of the
 * program as it was: duplicated graphs count twice there. */
static const char *covers(const struct mend_search *s, struct slice kind, double given, const struct mend_trial *now,
			  const struct mend_trial *t)
{
	double least = slice_is(kind, "region")                                                               ? 0.5
		       : slice_is(kind, "operator") || slice_is(kind, "branchless") || slice_is(kind, "move") ? 0.6
													      : 0.85;
	if (given > 0)
		least = given;
	if (!s->base->as_eager_ends)
		return NULL; /* what it compiled before it crashed cannot be compared */
	if ((double)t->n.ops >= 0.97 * (double)now->n.ops && t->n.ops * 2 >= ops_before(s))
		return NULL;
	return (double)t->n.ops < least * (double)ops_before(s) ? "less is compiled" : NULL;
}

static void keep(struct mend_search *s, struct search_step step)
{
	PUSH_TO(s->step, s->n_step, s->cap_step) = step;
	const struct mend_trial *best = mend_search_best(s);
	bool worse_before = !s->base->as_eager_ends && !s->best;
	if (worse_before || trial_cost(step.trial) <= trial_cost(best))
		s->best = s->n_step;
}

/* Tries one candidate: 1 accepted, 0 not, -1 failed. */
static int try_one(struct mend_search *s, const struct mend_trial *now, const struct finding *g, const struct json_tape *t, uint32_t c,
		   const struct search_try *head, struct err *err)
{
	struct search_try row = *head;
	row.kind = json_dup(t, c, "kind", &s->arena);
	row.title = json_dup(t, c, "title", &s->arena);
	struct slice texts = arena_slice(&s->arena, json_raw(t, json_get(t, c, "texts")));
	/* Once other calls are the compiled ones, they stay it. */
	bool region = json_flag(t, c, "region") || (s->n_step && s->step[s->n_step - 1].region);
	const char *known = mend_journal_refused(s->journal, texts);
	if (known) {
		row.verdict = arena_textf(&s->arena, "%s (from the journal)", known);
		PUSH_TO(s->tried, s->n_tried, s->cap_tried) = row;
		mend_search_tell(s, SEARCH_TRY, &row);
		return 0;
	}
	struct mend_trial *r = mend_search_trial(s, (struct trial_spec){.texts = texts, .backend = "eager", .region = region}, err);
	if (!r)
		return -1;
	row.n = r->n;
	row.seconds = r->seconds;
	row.compile_seconds = r->compile_seconds;
	row.step_seconds = r->step_seconds;
	const char *less = covers(s, row.kind, json_number(t, c, "least", 0), now, r);
	bool gone = g ? trial_gone(now, g, r) : r->as_eager_ends;
	if (!r->equal)
		row.verdict = r->differs;
	else if (!gone)
		row.verdict = g && (g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT) ? SLICE("the recompile stays")
											      : SLICE("the break stays");
	else if (less)
		row.verdict = arena_textf(&s->arena, "%s: %llu of %llu operations in graphs", less, (unsigned long long)r->n.ops,
					  (unsigned long long)ops_before(s));
	else {
		struct mend_trial *q = mend_search_trial(
		    s, (struct trial_spec){.texts = texts, .backend = "aot_eager", .region = region, .tolerance = 1e-4}, err);
		if (!q) {
			trial_free(r);
			return -1;
		}
		if (!q->equal)
			row.verdict = arena_textf(&s->arena, "with aot_eager: %.*s", SL(q->differs));
		trial_free(q);
	}
	row.verdict = arena_slice(&s->arena, row.verdict);
	row.accepted = !row.verdict.n;
	mend_journal_add(s->journal, texts, row.verdict, &row);
	PUSH_TO(s->tried, s->n_tried, s->cap_tried) = row;
	mend_search_tell(s, SEARCH_TRY, &row);
	if (!row.accepted) {
		trial_free(r);
		return 0;
	}
	struct search_step step = {.kind = row.kind,
				   .title = row.title,
				   .price = json_dup(t, c, "price", &s->arena),
				   .finding = row.finding,
				   .place = row.place,
				   .with = went_with(s, now, g, r),
				   .trial = r,
				   .region = region};
	keep(s, step);
	mend_search_tell(s, SEARCH_ACCEPTED, &row);
	return 1;
}

/* answer holds the text of the tape: the server's own lives until the next question. */
int mend_search_candidates(struct mend_search *s, struct slice question, struct json_tape *own, struct buf *answer, uint32_t *root,
			   struct err *err)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	if (mend_server_ask(s->server, question, &t, root, err) < 0)
		return -1;
	buf_add_slice(answer, slice_of(t.text, t.len));
	json_tape_text(own, buf_str(answer), answer->len);
	if (json_parse(own, 0, answer->len, root) < 0)
		return err_set(err, EXIT_PARTIAL, "the candidates cannot be read");
	s->used = json_count(own, *root, "runs", s->used);
	return 0;
}

/* Its candidates, in their order; 1: one was accepted. g NULL: the crash that only the compiled program has. */
static int solve(struct mend_search *s, const struct mend_trial *now, const struct finding *g, struct slice *why, struct err *err)
{
	LOCAL_BUF b = {0};
	LOCAL_BUF title = {0};
	LOCAL_BUF answer = {0};
	OWNED(json_tape_release) struct json_tape own = {0};
	uint32_t root;
	put_flat(&title, g ? g->title : s->crash.n ? s->crash : now->status, 160);
	struct slice finding = arena_slice(&s->arena, buf_slice(&title));
	struct slice place = g ? place_of(s, now, g) : SLICE("");
	buf_addf(&b, "{\"op\": \"candidates\", \"id\": 0, \"texts\": %.*s, \"finding\": ", SL(now->texts));
	trial_finding(&b, now, g);
	buf_adds(&b, "}");
	struct search_try head = {.finding = finding, .place = place};
	if (g)
		head.advice = arena_textf(&s->arena, "%.*s%s%.*s", SL(g->fix), g->fix.n && g->hint.n ? "\n" : "", SL(g->hint));
	mend_search_tell(s, SEARCH_FINDING, &head);
	if (mend_search_candidates(s, buf_slice(&b), &own, &answer, &root, err) < 0)
		return -1;
	int done = 0, n = 0;
	const uint32_t first = s->n_tried;
	json_each(&own, json_get(&own, root, "candidates"), c) {
		if (done || n++ >= MOST_CANDIDATES || mend_search_spent(s))
			break;
		done = try_one(s, now, g, &own, c, &head, err);
	}
	if (!done)
		*why = why_left(s, first, json_dup(&own, root, "why", &s->arena));
	return done;
}

static int go_on(struct mend_search *s, struct err *err)
{
	while (!mend_search_spent(s) && s->n_step < MOST_STEPS) {
		const struct mend_trial *now = s->n_step ? s->step[s->n_step - 1].trial : s->base;
		const struct finding *g = NULL;
		bool any = !now->as_eager_ends && !s->n_step && !given_up(s, SLICE("crash"));
		struct slice key = SLICE("crash");
		/* Breaks before recompiles, each worst first: what recompiles after a break is often its consequence, never the other way round. */
		for (int pass = 0; pass < 2; pass++)
			for (uint32_t i = 0; i < now->x.n_finding && !g && !any; i++) {
				const struct finding *h = &now->x.finding[i];
				if (!trial_counts(h) || (h->kind == FINDING_RECOMPILE || h->kind == FINDING_LIMIT) != (pass == 1))
					continue;
				key = key_of(&s->arena, now, h);
				if (!given_up(s, key))
					g = h;
			}
		if (!g && !any)
			return 0;
		struct search_left left = {.key = key};
		int done = solve(s, now, g, &left.why, err);
		if (done < 0)
			return -1;
		if (!done) {
			PUSH_TO(s->left, s->n_left, s->cap_left) = left;
			mend_search_tell(s, SEARCH_NONE, NULL);
		}
	}
	return 0;
}

/* ---- at the end ---- */

/* Takes out again each edit that the result does not need. */
static int prune(struct mend_search *s, struct err *err)
{
	for (uint32_t k = 0; k + 1 < s->best && !mend_search_spent(s); k++) {
		LOCAL_BUF b = {0};
		OWNED(json_tape_release) struct json_tape t = {0};
		uint32_t root;
		const struct mend_trial *before = k ? s->step[k - 1].trial : s->base, *best = mend_search_best(s);
		buf_addf(&b, "{\"op\": \"without\", \"id\": 0, \"before\": %.*s, \"after\": %.*s, \"texts\": %.*s}", SL(before->texts),
			 SL(s->step[k].trial->texts), SL(best->texts));
		if (mend_server_ask(s->server, buf_slice(&b), &t, &root, err) < 0)
			return -1;
		uint32_t texts = json_get(&t, root, "texts");
		if (!json_is(&t, texts, JSON_OBJECT))
			continue;
		struct slice raw = arena_slice(&s->arena, json_raw(&t, texts));
		bool region = s->step[s->best - 1].region;
		struct mend_trial *r = mend_search_trial(
		    s, (struct trial_spec){.texts = raw, .backend = "aot_eager", .region = region, .tolerance = 1e-4}, err);
		if (!r)
			return -1;
		if (r->equal && trial_cost(r) <= trial_cost(best) && r->n.ops * 100 >= best->n.ops * 95) {
			trial_free(s->step[s->best - 1].trial);
			s->step[s->best - 1].trial = r;
			s->step[k].dropped = 1;
		} else {
			trial_free(r);
		}
	}
	return 0;
}

/* The whole program, with its own backend and its own limits; what the compiler itself changes shows in the unedited program, too. */
static int prove(struct mend_search *s, struct err *err)
{
	struct mend_trial *last = s->step[s->best - 1].trial;
	bool region = s->step[s->best - 1].region;
	mend_search_tell(s, SEARCH_PROVING, NULL);
	s->budget += 600; /* the proof is not what the budget is for */
	const char *ended = s->ended;
	s->ended = NULL;
	int status = mend_search_eager(s, true, &s->whole_eager, err);
	if (status == 0 && !s->no_as_is &&
	    !(s->as_is = mend_search_trial(
		  s, (struct trial_spec){.texts = last->texts, .backend = "as-is", .whole = true, .region = region, .tolerance = 2e-3},
		  err)))
		status = -1;
	if (status == 0 && s->as_is && !s->as_is->equal) {
		struct mend_trial *q = mend_search_trial(
		    s, (struct trial_spec){.texts = SLICE("{}"), .backend = "as-is", .whole = true, .tolerance = 2e-3}, err);
		s->base_as_is_differs = q && !q->equal;
		s->as_is_verdict = arena_slice(&s->arena, s->as_is->differs);
		if (!q)
			status = -1;
		trial_free(q);
	}
	if (status == 0 &&
	    !(s->whole_base = mend_search_trial(s, (struct trial_spec){.texts = SLICE("{}"), .backend = "eager", .whole = true}, err)))
		status = -1;
	if (status == 0 && !(s->whole_best = mend_search_trial(
				 s, (struct trial_spec){.texts = last->texts, .backend = "eager", .whole = true, .region = region}, err)))
		status = -1;
	s->budget -= 600;
	s->ended = ended;
	return status;
}

/* "TypeError: only 0-dimensional ...": the line after the frames of a traceback; a message may have lines below it. */
static struct slice error_line(struct slice traceback)
{
	struct slice rest = traceback, line, found = {0};
	bool frames = false;
	while (slice_line(&rest, &line)) {
		if (frames && line.n && line.p[0] != ' ')
			found = slice_trim(line);
		frames = line.n && line.p[0] == ' ' && (frames || slice_starts(line, "  File "));
	}
	return found;
}

/* One that takes long, or that works where eager fails, does not crash. */
void mend_search_base(struct mend_search *s)
{
	static const char *const how[] = {"raised", "killed", "died", "exit"};
	const struct mend_trial *t = s->base;
	s->crashes = !t->as_eager_ends && slice_any(t->status, how, slice_starts) && !slice_is(t->status, "exit 0");
	if (s->crashes) {
		LOCAL_BUF b = {0};
		struct slice line = error_line(t->error);
		put_flat(&b, line.n ? line : t->status, 200);
		s->crash = arena_slice(&s->arena, buf_slice(&b));
	}
	mend_search_tell(s, SEARCH_BASE, NULL);
}

/* The texts of the files that edits may touch, as the base of what is compared. */
int mend_search_start(struct mend_search *s, struct err *err)
{
	s->began = clock_ns();
	fair_time_start(&s->time);
	mend_search_tell(s, SEARCH_READY, NULL);
	if (mend_search_eager(s, false, &s->eager, err) < 0)
		return -1;
	mend_search_tell(s, SEARCH_EAGER, NULL);
	static const char *const failed[] = {"raised", "killed", "took", "died"};
	return !slice_any(s->eager->status, failed, slice_starts);
}

int mend_search_run(struct mend_search *s, struct err *err)
{
	int go = mend_search_start(s, err);
	if (go <= 0)
		return go;
	if (!(s->base = mend_search_trial(s, (struct trial_spec){.texts = SLICE("{}"), .backend = "eager"}, err)))
		return -1;
	mend_search_base(s);
	if (go_on(s, err) < 0)
		return -1;
	if (s->best && prune(s, err) < 0)
		return -1;
	return s->best ? prove(s, err) : 0;
}

void mend_search_release(struct mend_search *s)
{
	for (uint32_t i = 0; i < s->n_step; i++)
		trial_free(s->step[i].trial);
	trial_free(s->eager);
	trial_free(s->base);
	trial_free(s->whole_eager);
	trial_free(s->whole_base);
	trial_free(s->whole_best);
	trial_free(s->as_is);
	free(s->step);
	free(s->tried);
	free(s->left);
	arena_release(&s->arena);
}
