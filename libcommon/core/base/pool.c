#include "base/pool.h"

#include <pthread.h>
#include <sched.h>

struct run {
	const struct pipeline *p;
	pthread_mutex_t lock;
	pthread_cond_t turn;
	pthread_mutex_t read_lock;
	uint64_t read, reduced, committed; /* items so far: item k may be reduced when reduced == k */
	bool ended;                        /* under read_lock */
	_Atomic bool failed;
};

struct worker {
	struct run *run;
	void *slot;
	pthread_t thread;
};

unsigned cpu_count(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	int n = CPU_COUNT(&set);
	return n > 0 ? (unsigned)n : 1;
}

static void pool_fail(struct run *r)
{
	pthread_mutex_lock(&r->lock);
	r->failed = true;
	pthread_cond_broadcast(&r->turn);
	pthread_mutex_unlock(&r->lock);
}

/* Run one in-order stage for item k. */
static int in_order(struct run *r, uint64_t *done, uint64_t k, int (*stage)(void *, void *), void *slot)
{
	pthread_mutex_lock(&r->lock);
	while (*done != k && !r->failed)
		pthread_cond_wait(&r->turn, &r->lock);
	bool go = !r->failed;
	pthread_mutex_unlock(&r->lock);
	if (!go || (stage && stage(r->p->ctx, slot) < 0))
		return -1;
	pthread_mutex_lock(&r->lock);
	++*done;
	pthread_cond_broadcast(&r->turn);
	pthread_mutex_unlock(&r->lock);
	return 0;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct run *r = w->run;
	const struct pipeline *p = r->p;
	for (;;) {
		pthread_mutex_lock(&r->read_lock);
		int got = r->ended || r->failed ? 0 : p->read(p->ctx, w->slot);
		uint64_t k = r->read;
		if (got > 0)
			r->read++;
		else
			r->ended = true;
		pthread_mutex_unlock(&r->read_lock);
		if (got < 0)
			pool_fail(r);
		if (got <= 0)
			return NULL;
		if ((p->scan && p->scan(p->ctx, w->slot) < 0) || in_order(r, &r->reduced, k, p->reduce, w->slot) < 0 ||
		    (p->emit && p->emit(p->ctx, w->slot) < 0) || in_order(r, &r->committed, k, p->commit, w->slot) < 0) {
			pool_fail(r);
			return NULL;
		}
	}
}

int pipeline_run(const struct pipeline *p, void **slots, unsigned n)
{
	struct run r = {.p = p};
	pthread_mutex_init(&r.lock, NULL);
	pthread_mutex_init(&r.read_lock, NULL);
	pthread_cond_init(&r.turn, NULL);
	struct worker *w = xcalloc(n, sizeof(*w));
	unsigned started = 0;
	for (unsigned i = 0; i < n; i++) {
		w[i] = (struct worker){.run = &r, .slot = slots[i]};
		/* Where no more threads can be had, fewer do the work. */
		if (i > 0 && pthread_create(&w[i].thread, NULL, work, &w[i]))
			break;
		started = i + 1;
	}
	work(&w[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(w[i].thread, NULL);
	free(w);
	pthread_cond_destroy(&r.turn);
	pthread_mutex_destroy(&r.lock);
	pthread_mutex_destroy(&r.read_lock);
	return r.failed ? -1 : 0;
}
