/* runner.c - asks an oracle about candidates (runner.h). */
#include "reduce/runner.h"
#include "base/clock.h"

#define INFRA_MAX 5 /* tests in a row that could not be run: the oracle is unusable */
#define OTHERS_MAX 8
#define TICK_MS 100
#define PHASE_ORIGINAL "Original"

struct answer {
	enum verdict verdict;
	bool known, from_journal;
};

/* A running test. */
struct flight {
	uint64_t id, key, pass_key;
	size_t index;
	struct candidate c;
	unsigned tries, passed;
};

static double now(void) { return 1e-9 * (double)clock_ns(); }

double runner_clock(const struct runner *r) { return r->start > 0 ? now() - r->start : 0; }

/* ---- memory ---- */

static struct answer *answer_of(struct runner *r, uint64_t key)
{
	uint32_t id = intern_add(&r->keys, slice_of((const char *)&key, sizeof(key)));
	size_t before = r->cap_answers;
	if (id >= r->cap_answers) {
		GROW(r->answer, id, r->cap_answers, 1);
		memset(r->answer + before, 0, (r->cap_answers - before) * sizeof(*r->answer));
	}
	return &r->answer[id];
}

static void remember(struct runner *r, uint64_t key, enum verdict v)
{
	/* A question that could not be answered may be asked again. */
	if (key && v != VERDICT_INFRA)
		*answer_of(r, key) = (struct answer){v, true, false};
}

void runner_remember(struct runner *r, const struct journal_record *record)
{
	for (size_t i = 0; i < record->n_tests; i++) {
		const struct journal_test *t = &record->test[i];
		if (t->verdict == VERDICT_INFRA)
			continue;
		*answer_of(r, t->key) = (struct answer){t->verdict, true, true};
		if (t->verdict == VERDICT_SAME && slice_is(t->phase, PHASE_ORIGINAL)) {
			r->known = signature_copy(&r->arena, &t->signature);
			r->known.kind = t->outcome;
			r->known_key = t->key;
		}
	}
}

/* The same graph as a plain program is another question. */
#define PLAIN_KEY 0x9e3779b97f4a7c15ull

static uint64_t key_for(const struct runner *r, uint64_t key) { return r->plain && key ? (key ^ PLAIN_KEY ? key ^ PLAIN_KEY : 1) : key; }
static uint64_t key_of(const struct runner *r, const struct candidate *c) { return key_for(r, candidate_hash(c)); }

static bool still_fails(enum verdict v) { return v == VERDICT_SAME || v == VERDICT_FLAKY; }

/* ---- flights ---- */

static void drop(struct runner *r, size_t at)
{
	candidate_release(&r->flight[at].c);
	r->flight[at] = r->flight[--r->n_flights];
	r->in_flight = r->n_flights;
}

static void cancel_after(struct runner *r, size_t index)
{
	for (size_t i = r->n_flights; i-- > 0;)
		if (index == RUNNER_NONE || r->flight[i].index > index) {
			oracle_cancel(r->oracle, r->flight[i].id);
			drop(r, i);
		}
}

static int launch(struct runner *r, struct flight *f, struct err *err)
{
	struct repro head = *r->original;
	head.line = f->c.line;
	head.n_lines = f->c.n_lines;
	struct test t = candidate_test(&f->c, &head);
	t.want_where = r->want_where && !r->has_best;
	t.plain = r->plain;
	f->id = oracle_start(r->oracle, &t, err);
	if (!f->id)
		return -1;
	f->tries++;
	return 0;
}

static int take_off(struct runner *r, struct flight *f, struct err *err)
{
	if (launch(r, f, err) < 0) {
		candidate_release(&f->c);
		return -1;
	}
	PUSH_TO(r->flight, r->n_flights, r->cap_flights) = *f;
	r->in_flight = r->n_flights;
	return 0;
}

static struct flight *flight_of(struct runner *r, uint64_t id, size_t *at)
{
	for (size_t i = 0; i < r->n_flights; i++)
		if (r->flight[i].id == id) {
			*at = i;
			return &r->flight[i];
		}
	return NULL;
}

/* ---- outcomes ---- */

static void note_other(struct runner *r, const struct signature *s)
{
	for (size_t i = 0; i < r->n_others; i++)
		if (signature_same(&r->other[i], s, SLICE("")))
			return;
	if (r->n_others == OTHERS_MAX)
		return;
	if (!r->other)
		r->other = xcalloc(OTHERS_MAX, sizeof(*r->other));
	r->other[r->n_others++] = signature_copy(&r->arena, s);
}

/* Outcomes whose cause may only be in the test's output. */
static bool died(enum outcome_kind k) { return k == OUTCOME_CRASHED || k == OUTCOME_TIMEOUT || k == OUTCOME_MEMORY || k == OUTCOME_INFRA; }

static void write_down(struct runner *r, const struct flight *f, const struct outcome *out, enum verdict v)
{
	r->count.tests++;
	r->count.by_verdict[v]++;
	r->count.seconds += out->seconds;
	struct signature s = out->signature;
	s.kind = out->kind;
	if (v == VERDICT_OTHERWISE)
		note_other(r, &s);
	if (r->journal)
		journal_test(r->journal, &(struct journal_test){.key = f->key,
								.verdict = v,
								.outcome = out->kind,
								.signature = s,
								.test = r->count.tests,
								.ops = f->c.ops,
								.seconds = out->seconds,
								.at = runner_clock(r),
								.phase = slice_str(r->phase ? r->phase : ""),
								.printed = died(out->kind) ? out->output : SLICE("")});
}

/* Turns the outcome of a flight into a verdict. 0: it is run again. */
static int judge_flight(struct runner *r, size_t at, const struct outcome *out, enum verdict *v, struct err *err)
{
	struct flight *f = &r->flight[at];
	*v = verdict_of(out, r->has_best ? &r->want : NULL, r->check);
	f->passed += *v == VERDICT_PASSES;
	if (*v == VERDICT_SAME && f->passed) /* not if the earlier test could not be run */
		*v = VERDICT_FLAKY;
	r->infra_in_a_row = *v == VERDICT_INFRA ? r->infra_in_a_row + 1 : 0;
	if (r->infra_in_a_row >= INFRA_MAX)
		return err_set(err, EXIT_ENVIRON, "%d tests in a row could not be run: %.*s", INFRA_MAX, SLN(out->detail, 600));
	write_down(r, f, out, *v);
	bool again = *v == VERDICT_INFRA ? f->tries < 3 : *v == VERDICT_PASSES && f->passed < r->repeat;
	if (again)
		return launch(r, f, err) < 0 ? -1 : 0;
	remember(r, f->key, *v);
	remember(r, f->pass_key, *v);
	return 1;
}

static int adopt(struct runner *r, const struct proposals *p, struct candidate *c, struct err *err)
{
	if (r->has_best && p->better && !p->better(p->ctx, c, &r->best))
		return 0;
	if (r->has_best)
		candidate_release(&r->best);
	r->best = *c;
	r->has_best = true;
	*c = (struct candidate){0};
	return r->improved ? r->improved(r->user, &r->best, err) : 0;
}

/* ---- a question ---- */

struct asking {
	struct runner *r;
	const struct proposals *p;
	size_t next; /* proposals before it are running or answered */
	size_t winner;
	struct candidate won; /* the winner's, unless it was answered from memory */
	bool has_won, passed; /* passed: one of them did */
};

static int must_stop(struct runner *r)
{
	if (r->stop && r->stop(r->user))
		r->stopped = "interrupted";
	else if (r->max_tests && r->count.tests + r->n_flights >= r->max_tests)
		r->stopped = "out of tests";
	else if (r->max_seconds > 0 && runner_clock(r) >= r->max_seconds)
		r->stopped = "out of time";
	else
		return 0;
	return -1;
}

/* A proposal fails. Later ones are no longer needed; earlier ones that are running may still win. */
static void won(struct asking *a, size_t index, struct candidate *c)
{
	a->winner = index;
	cancel_after(a->r, index);
	if (a->has_won)
		candidate_release(&a->won);
	a->has_won = c != NULL;
	if (c) {
		a->won = *c;
		*c = (struct candidate){0};
	}
}

/* The next proposal: answered from memory, or started. */
static int propose(struct asking *a, struct err *err)
{
	struct runner *r = a->r;
	size_t i = a->next++;
	struct flight f = {.index = i, .pass_key = key_for(r, a->p->key ? a->p->key(a->p->ctx, i) : 0)};
	if (f.pass_key) {
		const struct answer *known = answer_of(r, f.pass_key);
		if (known->known) {
			r->count.remembered++;
			if (still_fails(known->verdict))
				won(a, i, NULL);
			return 0;
		}
	}
	int made = a->p->make(a->p->ctx, i, &f.c, err);
	if (made <= 0)
		return made;
	f.key = key_of(r, &f.c);
	struct answer known = *answer_of(r, f.key);
	if (known.known) {
		r->count.remembered++;
		remember(r, f.pass_key, known.verdict);
		if (still_fails(known.verdict))
			won(a, i, &f.c);
		candidate_release(&f.c);
		return 0;
	}
	if (must_stop(r)) {
		candidate_release(&f.c);
		return -1;
	}
	return take_off(r, &f, err);
}

/* Waits for an event. */
static int land(struct asking *a, struct err *err)
{
	struct runner *r = a->r;
	struct outcome out;
	size_t at;
	enum verdict v;
	if (r->stop && r->stop(r->user)) {
		r->stopped = "interrupted";
		return -1;
	}
	int got = oracle_wait(r->oracle, TICK_MS, &out, err);
	if (r->progress)
		r->progress(r->user);
	if (got <= 0)
		return got;
	if (!flight_of(r, out.id, &at))
		return 0;
	int done = judge_flight(r, at, &out, &v, err);
	if (done < 0)
		drop(r, at); /* it has ended: nothing to cancel */
	if (done <= 0)
		return done;
	struct flight f = r->flight[at];
	r->flight[at].c = (struct candidate){0};
	drop(r, at);
	a->passed |= v == VERDICT_PASSES;
	if (still_fails(v))
		won(a, f.index, &f.c);
	candidate_release(&f.c);
	return 0;
}

int runner_ask(struct runner *r, const struct proposals *p, size_t *winner, struct err *err)
{
	struct asking a = {.r = r, .p = p, .winner = RUNNER_NONE};
	int status = 0;
	r->stopped = NULL;
	if (r->start <= 0)
		r->start = now();
	while (status == 0) {
		/* Nothing before the winner is still open: it is the answer. */
		bool more = a.next < p->n && a.winner == RUNNER_NONE;
		if (more && r->n_flights < (p->likely && !a.passed ? 1 : oracle_jobs(r->oracle)))
			status = propose(&a, err);
		else if (r->n_flights)
			status = land(&a, err);
		else
			break;
	}
	cancel_after(r, RUNNER_NONE);
	*winner = a.winner;
	/* Also if it was stopped: what fails is a result. */
	struct err ignored;
	if (a.has_won && adopt(r, p, &a.won, status < 0 ? &ignored : err) < 0)
		status = -1;
	if (a.has_won)
		candidate_release(&a.won);
	return status;
}

/* ---- the original ---- */

static int make_original(void *ctx, size_t i, struct candidate *c, struct err *err)
{
	(void)i;
	(void)err;
	candidate_copy(c, ctx);
	return 1;
}

/* Runs a test and waits for it. 1: out is filled. */
static int one_test(struct runner *r, struct candidate *c, struct outcome *out, struct err *err)
{
	struct flight f = {0};
	make_original(c, 0, &f.c, err);
	f.key = key_of(r, &f.c);
	if (take_off(r, &f, err) < 0)
		return -1;
	for (;;) {
		if (r->stop && r->stop(r->user)) {
			r->stopped = "interrupted";
			cancel_after(r, RUNNER_NONE);
			return -1;
		}
		int got = oracle_wait(r->oracle, TICK_MS, out, err);
		if (r->progress)
			r->progress(r->user);
		if (got < 0)
			return -1;
		if (got == 1)
			return 1;
	}
}

/* This is the failure to look for from now on. */
static void found(struct runner *r, const struct candidate *c, const struct outcome *out)
{
	r->want = signature_copy(&r->arena, &out->signature);
	r->want.kind = out->kind;
	candidate_copy(&r->best, c);
	r->has_best = true;
}

int runner_baseline(struct runner *r, struct candidate *c, struct outcome *out, struct err *err)
{
	if (r->start <= 0)
		r->start = now();
	r->phase = PHASE_ORIGINAL;
	if (r->has_best)
		candidate_release(&r->best);
	r->has_best = false;
	/* The values that locating needs are not in a journal. */
	if (r->known_key && r->known_key == key_of(r, c) && !r->want_where) {
		*out = (struct outcome){.kind = r->known.kind, .signature = r->known};
		r->count.remembered++;
		found(r, c, out);
		return 1;
	}
	for (unsigned try = 0; try < (r->repeat ? r->repeat : 1); try++) {
		if (one_test(r, c, out, err) < 0)
			return -1;
		struct flight f = r->flight[0];
		enum verdict v = out->kind == OUTCOME_TIMEOUT ? VERDICT_SAME : verdict_of(out, NULL, r->check);
		write_down(r, &f, out, v);
		r->original_seconds = out->seconds;
		if (v == VERDICT_INFRA) {
			drop(r, 0);
			return err_set(err, EXIT_ENVIRON, "cannot test the original: %.*s", SLN(out->detail, 800));
		}
		if (v == VERDICT_SAME) {
			remember(r, f.key, v);
			found(r, c, out);
			drop(r, 0);
			return 1;
		}
		drop(r, 0);
	}
	return 0;
}

bool runner_passed(struct runner *r, uint64_t key)
{
	const struct answer *known = answer_of(r, key_for(r, key));
	return known->known && known->verdict == VERDICT_PASSES;
}

int runner_try(struct runner *r, struct candidate *c, enum verdict *v, struct err *err)
{
	const uint64_t key = key_of(r, c);
	struct answer known = *answer_of(r, key);
	struct outcome out;
	r->stopped = NULL;
	if (known.known) {
		r->count.remembered++;
		*v = known.verdict;
		return 0;
	}
	if (must_stop(r) || one_test(r, c, &out, err) < 0)
		return -1;
	*v = verdict_of(&out, &r->want, r->check);
	write_down(r, &r->flight[0], &out, *v);
	if (*v != VERDICT_INFRA)
		remember(r, key, *v);
	drop(r, 0);
	return 0;
}

void runner_release(struct runner *r)
{
	cancel_after(r, RUNNER_NONE);
	if (r->has_best)
		candidate_release(&r->best);
	arena_release(&r->arena);
	intern_release(&r->keys);
	free(r->answer);
	free(r->flight);
	free(r->other);
}
