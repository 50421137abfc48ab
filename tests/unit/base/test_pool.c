/* base/pool: the order of the stages, and failures in each of them. */
#include "../../lib/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/pool.h"

enum stage { READ, SCAN, REDUCE, EMIT, COMMIT, STAGES };

struct slot {
	int item;
	enum stage done;
};

struct work {
	int items, read;
	int reduced, committed;
	_Atomic int scanned, emitted, inside, inside_max;
	int fail_stage, fail_item;
	bool wrong, slow;
	pthread_mutex_t only[STAGES]; /* of the in-order stages: taken when another is inside */
};

static int step(struct work *w, struct slot *s, enum stage stage)
{
	if (s->done != stage - 1)
		w->wrong = true;
	s->done = stage;
	if (w->slow && s->item % 3 == 0)
		for (int i = 0; i < 20; i++)
			sched_yield();
	return w->fail_stage == (int)stage && w->fail_item == s->item ? -1 : 0;
}

static int in_turn(struct work *w, struct slot *s, enum stage stage, int *counter)
{
	if (pthread_mutex_trylock(&w->only[stage])) {
		w->wrong = true;
		return -1;
	}
	if (s->item != (*counter)++)
		w->wrong = true;
	int r = step(w, s, stage);
	pthread_mutex_unlock(&w->only[stage]);
	return r;
}

static int do_read(void *ctx, void *slot)
{
	struct work *w = ctx;
	struct slot *s = slot;
	if (w->read == w->items)
		return 0;
	s->item = w->read++;
	s->done = READ;
	return w->fail_stage == READ && w->fail_item == s->item ? -1 : 1;
}

static int do_scan(void *ctx, void *slot)
{
	struct work *w = ctx;
	int n = ++w->inside, max = w->inside_max;
	while (n > max && !atomic_compare_exchange_weak(&w->inside_max, &max, n))
		;
	w->scanned++;
	int r = step(w, slot, SCAN);
	w->inside--;
	return r;
}

static int do_reduce(void *ctx, void *slot)
{
	struct work *w = ctx;
	return in_turn(w, slot, REDUCE, &w->reduced);
}

static int do_emit(void *ctx, void *slot)
{
	struct work *w = ctx;
	w->emitted++;
	return step(w, slot, EMIT);
}

static int do_commit(void *ctx, void *slot)
{
	struct work *w = ctx;
	return in_turn(w, slot, COMMIT, &w->committed);
}

static int run(struct work *w, unsigned threads)
{
	struct slot slot[16];
	void *slots[16];
	for (unsigned i = 0; i < threads; i++) {
		slot[i] = (struct slot){-1, COMMIT};
		slots[i] = &slot[i];
	}
	for (int i = 0; i < STAGES; i++)
		pthread_mutex_init(&w->only[i], NULL);
	const struct pipeline p = {w, do_read, do_scan, do_reduce, do_emit, do_commit};
	return pipeline_run(&p, slots, threads, threads);
}

static void order(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 8; threads++) {
		struct work w = {.items = 2000, .fail_stage = -1, .slow = true};
		assert_int_equal(run(&w, threads), 0);
		assert_false(w.wrong);
		assert_int_equal(w.scanned, 2000);
		assert_int_equal(w.reduced, 2000);
		assert_int_equal(w.emitted, 2000);
		assert_int_equal(w.committed, 2000);
		assert_true(w.inside_max <= (int)threads);
	}
}

static void few_items(void **state)
{
	(void)state;
	for (int items = 0; items < 10; items++)
		for (unsigned threads = 1; threads <= 8; threads++) {
			struct work w = {.items = items, .fail_stage = -1};
			assert_int_equal(run(&w, threads), 0);
			assert_false(w.wrong);
			assert_int_equal(w.committed, items);
		}
}

static void failures(void **state)
{
	(void)state;
	static const int at[] = {0, 1, 7, 99};
	for (unsigned threads = 1; threads <= 8; threads += threads > 2 ? 2 : 1)
		for (int stage = READ; stage < STAGES; stage++)
			for (size_t i = 0; i < ARRAY_LEN(at); i++) {
				struct work w = {.items = 100, .fail_stage = stage, .fail_item = at[i], .slow = true};
				assert_int_equal(run(&w, threads), -1);
				assert_false(w.wrong);
				/* Nothing after the failed item is put into the output. */
				assert_true(w.committed <= at[i] + (stage == COMMIT));
				if (stage > REDUCE)
					assert_true(w.reduced > at[i]);
			}
}

/* One thread, so all is known: what came before the failure is done, what comes after is not begun. */
static void failure_alone(void **state)
{
	(void)state;
	struct work w = {.items = 100, .fail_stage = EMIT, .fail_item = 10};
	assert_int_equal(run(&w, 1), -1);
	assert_int_equal(w.read, 11);
	assert_int_equal(w.reduced, 11);
	assert_int_equal(w.committed, 10);
}

static void stages_left_out(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 4; threads++) {
		struct work w = {.items = 50, .fail_stage = -1};
		struct slot slot[4];
		void *slots[4] = {&slot[0], &slot[1], &slot[2], &slot[3]};
		const struct pipeline p = {.ctx = &w, .read = do_read};
		assert_int_equal(pipeline_run(&p, slots, threads, threads), 0);
		assert_int_equal(w.read, 50);
	}
}

static void cpus(void **state)
{
	(void)state;
	assert_true(cpu_count() >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(order),         cmocka_unit_test(few_items),       cmocka_unit_test(failures),
	    cmocka_unit_test(failure_alone), cmocka_unit_test(stages_left_out), cmocka_unit_test(cpus),
	};
	return RUN(tests);
}
