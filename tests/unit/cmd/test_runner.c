/* reduce/runner: questions to an oracle that only pretends: answers in any order, ones that cannot be had, ones that come and go. */
#include "../../lib/test.h"

#include "reduce/oracle_part.h"
#include "reduce/runner.h"

#define MAX_RUNNING 16

struct fake {
	struct oracle oracle;
	unsigned jobs;
	enum { FIRST_FIRST, LAST_FIRST, ANY } order;
	uint64_t seed, last_id;
	struct {
		uint64_t id;
		uint32_t ops; /* bit k: node n<k> is there */
	} running[MAX_RUNNING];
	size_t n, started, cancelled, most;
	size_t asked[1 << 16]; /* per set */
	enum outcome_kind (*answer)(struct fake *f, uint32_t ops, size_t nth);
	bool broken;
};

static uint32_t ops_of(const struct graph *g)
{
	uint32_t ops = 0;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].op == GRAPH_CALL_FUNCTION)
			ops |= 1u << strtoul(graph_name(g, i).p + 1, NULL, 10);
	return ops;
}

static unsigned fake_jobs(const struct oracle *o) { return ((const struct fake *)o)->jobs; }

static uint64_t fake_start(struct oracle *o, const struct test *t, struct err *err)
{
	struct fake *f = (struct fake *)o;
	struct graph g = *t->graph;
	assert_true(f->n < f->jobs && f->jobs <= MAX_RUNNING);
	assert_non_null(t->repro);
	if (f->broken)
		return (uint64_t)(err_set(err, EXIT_ENVIRON, "the oracle is gone"), 0);
	f->running[f->n].id = ++f->last_id;
	f->running[f->n++].ops = ops_of(&g);
	f->started++;
	f->most = f->n > f->most ? f->n : f->most;
	return f->last_id;
}

static void forget(struct fake *f, size_t k)
{
	memmove(&f->running[k], &f->running[k + 1], (f->n - k - 1) * sizeof(f->running[0]));
	f->n--;
}

static int fake_wait(struct oracle *o, int timeout_ms, struct outcome *out, struct err *err)
{
	struct fake *f = (struct fake *)o;
	(void)timeout_ms;
	(void)err;
	*out = (struct outcome){0};
	if (!f->n)
		return 0;
	size_t k = f->order == FIRST_FIRST ? 0 : f->order == LAST_FIRST ? f->n - 1 : pick(&f->seed, (uint32_t)f->n);
	uint32_t ops = f->running[k].ops;
	*out = (struct outcome){
	    .id = f->running[k].id, .kind = f->answer(f, ops, f->asked[ops]++), .seconds = 0.5, .detail = SLICE("said so")};
	out->signature = (struct signature){
	    .kind = out->kind, .type = SLICE("Error"), .message = out->kind == OUTCOME_CRASHED ? SLICE("other") : SLICE("same")};
	forget(f, k);
	return 1;
}

static void fake_cancel(struct oracle *o, uint64_t id)
{
	struct fake *f = (struct fake *)o;
	for (size_t k = 0; k < f->n; k++)
		if (f->running[k].id == id) {
			forget(f, k);
			f->cancelled++;
			return;
		}
	fail_msg("what is not running is cancelled");
}

static void fake_close(struct oracle *o) { (void)o; }

static const struct oracle_ops fake_ops = {fake_jobs, fake_start, fake_wait, fake_cancel, fake_close};

/* ---- a world: 12 operations in a chain ---- */

#define OPS 12
static struct fake fake;
static struct repro original;
static struct units units;
static struct runner r;
static size_t n_improved;

static int count_improved(void *user, const struct candidate *c, struct err *err)
{
	(void)user;
	(void)err;
	assert_true(c->ops == r.best.ops);
	n_improved++;
	return 0;
}

static struct buf text;
static void world_open(enum outcome_kind (*answer)(struct fake *, uint32_t, size_t), unsigned jobs)
{
	struct err err;
	buf_reset(&text);
	buf_adds(&text, "class G(torch.nn.Module):\n    def forward(self, x: \"f32[8, 8]\"):\n");
	for (int i = 0; i < OPS; i++)
		buf_addf(&text, "        n%d: \"f32[8, 8]\" = torch.ops.aten.relu.default(%c%.0d%s)\n", i, i ? 'n' : 'x', i > 1 ? i - 1 : 0,
			 i == 1 ? "0" : "");
	buf_addf(&text, "        return (n%d,)\n", OPS - 1);
	original = (struct repro){0};
	assert_int_equal(repro_read(&original, buf_slice(&text), "g.py", &err), 0);
	units_find(&original.graph, &units);
	assert_int_equal(units.n, OPS);
	fake = (struct fake){.oracle.ops = &fake_ops, .jobs = jobs, .answer = answer, .seed = 7};
	r = (struct runner){.oracle = &fake.oracle, .original = &original, .repeat = 1, .improved = count_improved};
	n_improved = 0;
}

static void world_close(void)
{
	runner_release(&r);
	units_release(&units);
	repro_release(&original);
	buf_release(&text);
	assert_int_equal(fake.n, 0);
}

static int begin(struct outcome *out)
{
	struct candidate whole;
	struct err err = {0};
	candidate_whole(&whole, &original);
	int status = runner_baseline(&r, &whole, out, &err);
	candidate_release(&whole);
	return status;
}

static int make_set(void *ctx, size_t i, struct candidate *c, struct err *err)
{
	uint64_t keep = ((const uint32_t *)ctx)[i];
	if (!keep)
		return 0;
	assert_int_equal(candidate_cut(c, &original, &units, &keep, NULL, err), 0);
	return 1;
}

static uint64_t set_key(void *ctx, size_t i) { return ((const uint32_t *)ctx)[i] + 1000u; }

static bool fewer(void *ctx, const struct candidate *c, const struct candidate *best)
{
	(void)ctx;
	return c->ops < best->ops;
}

static bool likely; /* of the next question */

static int ask(const uint32_t *sets, size_t n, size_t *winner, struct err *err)
{
	struct proposals p = {.n = n, .make = make_set, .key = set_key, .better = fewer, .ctx = (void *)(uintptr_t)sets, .likely = likely};
	*err = (struct err){0};
	return runner_ask(&r, &p, winner, err);
}

/* ---- tests ---- */

/* n3 and n7. */
static enum outcome_kind pair(struct fake *f, uint32_t ops, size_t nth)
{
	(void)f;
	(void)nth;
	return (ops & 0x88) == 0x88 ? OUTCOME_RAISED : OUTCOME_PASSES;
}

static void test_answers(void **state)
{
	(void)state;
	struct outcome out;
	struct err err;
	size_t winner;
	world_open(pair, 1);
	assert_int_equal(begin(&out), 1);
	assert_text(r.want.message, "same");
	static const uint32_t sets[] = {0x0ff - 0x80, 0xff0, 0, 0x0ff, 0x088};
	assert_int_equal(ask(sets, 5, &winner, &err), 0);
	assert_int_equal(winner, 3);
	assert_int_equal(r.best.ops, 8);
	assert_int_equal(n_improved, 1);
	assert_int_equal(r.count.tests, 4);
	/* Again: everything is known; the last one is new. */
	assert_int_equal(ask(sets, 2, &winner, &err), 0);
	assert_int_equal(winner, RUNNER_NONE);
	assert_int_equal(r.count.tests, 4);
	assert_int_equal(r.count.remembered, 2);
	assert_int_equal(ask(sets + 4, 1, &winner, &err), 0);
	assert_int_equal(winner, 0);
	assert_int_equal(r.best.ops, 2);
	/* What fails but is no improvement wins, and is not taken. */
	static const uint32_t larger[] = {0x18c};
	assert_int_equal(ask(larger, 1, &winner, &err), 0);
	assert_int_equal(winner, 0);
	assert_int_equal(r.best.ops, 2);
	world_close();
}

/* Whatever the order of answers, and however many at a time: the first set that fails; nothing is asked twice; the rest is cancelled. */
static void test_orders(void **state)
{
	(void)state;
	struct outcome out;
	struct err err;
	for (int order = FIRST_FIRST; order <= ANY; order++)
		for (unsigned jobs = 1; jobs <= 8; jobs++)
			for (uint64_t seed = 1; seed < 20; seed++) {
				uint32_t sets[14];
				size_t first = 14, winner;
				world_open(pair, jobs);
				fake.order = order;
				assert_int_equal(begin(&out), 1);
				fake.seed = seed;
				uint64_t mine = seed;
				for (size_t i = 14; i-- > 0;) {
					sets[i] = (pick(&mine, 0xffe) + 1) | (pick(&mine, 3) == 0 ? 0x88 : 0);
					if ((sets[i] & 0x88) == 0x88)
						first = i;
				}
				assert_int_equal(ask(sets, 14, &winner, &err), 0);
				assert_int_equal(winner, first == 14 ? RUNNER_NONE : first);
				assert_int_equal(fake.n, 0);
				assert_true(fake.most <= jobs);
				for (size_t i = 0; i < 0x1000; i++)
					assert_true(fake.asked[i] <= 1);
				assert_int_equal(ask(sets, 14, &winner, &err), 0); /* from memory */
				assert_int_equal(winner, first == 14 ? RUNNER_NONE : first);
				world_close();
			}
}

/* Later ones are cancelled by an earlier one that fails; not even started if it probably does. */
static void test_cancel(void **state)
{
	(void)state;
	struct outcome out;
	struct err err;
	size_t winner;
	world_open(pair, 4);
	assert_int_equal(begin(&out), 1);
	static const uint32_t sets[] = {0x0ff, 0x1ff, 0x3ff, 0x7ff, 0x88};
	assert_int_equal(ask(sets, 5, &winner, &err), 0);
	assert_int_equal(winner, 0);
	assert_int_equal(fake.cancelled, 3);
	assert_int_equal(r.count.tests, 2);
	/* What was cancelled is not known: it may be asked about later. */
	assert_int_equal(ask(sets + 1, 1, &winner, &err), 0);
	assert_int_equal(r.count.tests, 3);
	world_close();
	world_open(pair, 4);
	assert_int_equal(begin(&out), 1);
	likely = true;
	assert_int_equal(ask(sets, 5, &winner, &err), 0);
	assert_int_equal(winner, 0);
	assert_int_equal(fake.cancelled, 0);
	static const uint32_t passing[] = {0x08, 0x80, 0x0c, 0x18, 0x8f};
	assert_int_equal(ask(passing, 5, &winner, &err), 0);
	assert_int_equal(winner, 4);
	assert_true(fake.most > 1); /* since one has passed */
	assert_true(runner_passed(&r, 0x08 + 1000u) && !runner_passed(&r, 0x8f + 1000u) && !runner_passed(&r, 0x7ff + 1000u));
	likely = false;
	world_close();
}

static enum outcome_kind no_answer_at_first(struct fake *f, uint32_t ops, size_t nth)
{
	return ops != 0xfff && nth < 2 ? OUTCOME_INFRA : pair(f, ops, nth);
}
static enum outcome_kind never_an_answer(struct fake *f, uint32_t ops, size_t nth)
{
	return ops != 0xfff ? OUTCOME_INFRA : pair(f, ops, nth);
}

static void test_infrastructure(void **state)
{
	(void)state;
	struct outcome out;
	struct err err;
	size_t winner;
	static const uint32_t sets[] = {0x0f, 0x8f};
	/* Asked again, never a failure of the candidate. */
	world_open(no_answer_at_first, 2);
	assert_int_equal(begin(&out), 1);
	assert_int_equal(ask(sets, 2, &winner, &err), 0);
	assert_int_equal(winner, 1);
	assert_int_equal(fake.asked[0x0f], 3);
	assert_int_equal(r.count.by_verdict[VERDICT_INFRA], 4);
	world_close();
	/* Several in a row: the oracle is no good. */
	world_open(never_an_answer, 1);
	assert_int_equal(begin(&out), 1);
	assert_int_equal(ask(sets, 2, &winner, &err), -1);
	assert_int_equal(err.status, EXIT_ENVIRON);
	assert_string_equal(err.text, "5 tests in a row could not be run: said so");
	assert_null(r.stopped);
	assert_int_equal(r.best.ops, OPS);
	world_close();
	/* The original cannot be tested. */
	world_open(never_an_answer, 1);
	fake.answer = NULL;
	fake.broken = true;
	assert_int_equal(begin(&out), -1);
	world_close();
}

static enum outcome_kind now_and_then(struct fake *f, uint32_t ops, size_t nth)
{
	return nth % 3 == 2 ? pair(f, ops, nth) : OUTCOME_PASSES;
}

static void test_flaky(void **state)
{
	(void)state;
	struct outcome out;
	struct err err;
	size_t winner;
	static const uint32_t sets[] = {0x0f, 0x8f};
	world_open(now_and_then, 2);
	assert_int_equal(begin(&out), 0);
	assert_int_equal(out.kind, OUTCOME_PASSES);
	world_close();
	world_open(now_and_then, 2);
	r.repeat = 3;
	assert_int_equal(begin(&out), 1);
	assert_int_equal(ask(sets, 2, &winner, &err), 0);
	assert_int_equal(winner, 1);
	assert_int_equal(r.count.by_verdict[VERDICT_FLAKY], 1);
	assert_int_equal(fake.asked[0x0f], 3);
	world_close();
}

/* n3 alone fails otherwise. */
static enum outcome_kind slides(struct fake *f, uint32_t ops, size_t nth)
{
	enum outcome_kind k = pair(f, ops, nth);
	return k == OUTCOME_PASSES && ops & 8 ? OUTCOME_CRASHED : k;
}

static void test_otherwise(void **state)
{
	(void)state;
	struct outcome out;
	struct err err;
	size_t winner;
	static const uint32_t sets[] = {0x08, 0x0c, 0x80};
	world_open(slides, 1);
	assert_int_equal(begin(&out), 1);
	assert_int_equal(ask(sets, 3, &winner, &err), 0);
	assert_int_equal(winner, RUNNER_NONE);
	assert_int_equal(r.count.by_verdict[VERDICT_OTHERWISE], 2);
	assert_int_equal(r.n_others, 1);
	assert_text(r.other[0].message, "other");
	world_close();
}

static int stops;
static int stop_soon(void *user)
{
	(void)user;
	return stops-- <= 0;
}

static void test_budgets(void **state)
{
	(void)state;
	struct outcome out;
	struct err err;
	size_t winner;
	uint32_t sets[40];
	for (uint32_t i = 0; i < 40; i++)
		sets[i] = i + 1;
	for (unsigned jobs = 1; jobs < 5; jobs++) {
		world_open(pair, jobs);
		r.max_tests = 10;
		assert_int_equal(begin(&out), 1);
		assert_int_equal(ask(sets, 40, &winner, &err), -1);
		assert_string_equal(r.stopped, "out of tests");
		assert_true(r.count.tests <= 10 && r.count.tests + fake.cancelled == 10);
		/* Answers that are known are still to be had. */
		assert_int_equal(ask(sets, 1, &winner, &err), 0);
		world_close();
	}
	world_open(pair, 2);
	r.max_seconds = 1e-9;
	assert_int_equal(begin(&out), 1);
	assert_int_equal(ask(sets, 40, &winner, &err), -1);
	assert_string_equal(r.stopped, "out of time");
	world_close();
	world_open(pair, 3);
	assert_int_equal(begin(&out), 1);
	stops = 9;
	r.stop = stop_soon;
	assert_int_equal(ask(sets, 40, &winner, &err), -1);
	assert_string_equal(r.stopped, "interrupted");
	assert_int_equal(fake.n, 0);
	world_close();
}

/* What a journal knows is not asked, the original neither. */
static void test_resumed(void **state)
{
	(void)state;
	struct outcome out;
	struct err err;
	size_t winner;
	static const uint32_t sets[] = {0x0f, 0x8f};
	struct journal_test known[3] = {{.phase = SLICE("Original"),
					 .verdict = VERDICT_SAME,
					 .outcome = OUTCOME_RAISED,
					 .signature = {.kind = OUTCOME_RAISED, .type = SLICE("Error"), .message = SLICE("same")}}};
	struct candidate c;
	world_open(pair, 2);
	candidate_whole(&c, &original);
	known[0].key = candidate_hash(&c);
	candidate_release(&c);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(make_set((void *)(uintptr_t)sets, i, &c, &err), 1);
		known[i + 1] = (struct journal_test){.key = candidate_hash(&c), .verdict = i ? VERDICT_INFRA : VERDICT_PASSES};
		candidate_release(&c);
	}
	runner_remember(&r, &(struct journal_record){.test = known, .n_tests = 3});
	assert_int_equal(begin(&out), 1);
	assert_text(r.want.message, "same");
	assert_int_equal(fake.started, 0);
	assert_int_equal(ask(sets, 2, &winner, &err), 0);
	assert_int_equal(winner, 1);
	assert_int_equal(fake.asked[0x0f], 0);
	assert_int_equal(fake.asked[0x8f], 1);
	world_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_answers),        cmocka_unit_test(test_orders),  cmocka_unit_test(test_cancel),
	    cmocka_unit_test(test_infrastructure), cmocka_unit_test(test_flaky),   cmocka_unit_test(test_otherwise),
	    cmocka_unit_test(test_budgets),        cmocka_unit_test(test_resumed),
	};
	return RUN(tests);
}
