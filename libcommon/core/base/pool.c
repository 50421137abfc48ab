#include "base/pool.h"

#include <pthread.h>
#include <sched.h>

/* Item k is in slot k % n. An item waits to be reduced or to be committed; else a thread has it. */
enum place { BUSY, SCANNED, EMITTED };

struct run {
	const struct pipeline *p;
	void **slots;
	unsigned n;
	enum place *place;    /* of each slot's item */
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	uint64_t read, reduced, committed; /* items so far */
	bool reading, reducing, committing;
	bool ended, failed;
	unsigned waiting;
};

unsigned cpu_count(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	int n = CPU_COUNT(&set);
	return n > 0 ? (unsigned)n : 1;
}

/* Runs a stage outside the lock; a started stage continues when another has failed. */
static int run_stage(struct run *r, int (*stage)(void *, void *), void *slot)
{
	pthread_mutex_unlock(&r->lock);
	int status = stage ? stage(r->p->ctx, slot) : 0;
	pthread_mutex_lock(&r->lock);
	return status;
}

static void say_changed(struct run *r)
{
	if (r->waiting)
		pthread_cond_broadcast(&r->changed);
}

static void reduce_and_emit(struct run *r)
{
	const uint64_t k = r->reduced;
	void *slot = r->slots[k % r->n];
	r->reducing = true;
	r->place[k % r->n] = BUSY;
	int status = run_stage(r, r->p->reduce, slot);
	r->reducing = false;
	if (status < 0) {
		r->failed = true;
		return;
	}
	r->reduced++;
	say_changed(r);
	if (!r->failed && run_stage(r, r->p->emit, slot) < 0)
		r->failed = true;
	r->place[k % r->n] = EMITTED;
}

static void commit(struct run *r)
{
	r->committing = true;
	if (run_stage(r, r->p->commit, r->slots[r->committed % r->n]) < 0)
		r->failed = true;
	else
		r->committed++;
	r->committing = false;
}

static void read_and_scan(struct run *r)
{
	const uint64_t k = r->read;
	void *slot = r->slots[k % r->n];
	r->reading = true;
	int got = run_stage(r, r->p->read, slot);
	r->reading = false;
	r->ended |= got <= 0;
	r->failed |= got < 0;
	if (got <= 0)
		return;
	r->place[k % r->n] = BUSY;
	r->read++;
	say_changed(r);
	if (!r->failed && run_stage(r, r->p->scan, slot) < 0)
		r->failed = true;
	r->place[k % r->n] = SCANNED;
}

/* Each thread takes available work, oldest items first, and waits only if there is none. */
static void *work(void *arg)
{
	struct run *r = arg;
	pthread_mutex_lock(&r->lock);
	while (!r->failed && !(r->ended && r->committed == r->read)) {
		if (!r->committing && r->committed < r->reduced && r->place[r->committed % r->n] == EMITTED) {
			commit(r);
		} else if (!r->reducing && r->reduced < r->read && r->place[r->reduced % r->n] == SCANNED) {
			reduce_and_emit(r);
		} else if (!r->reading && !r->ended && r->read - r->committed < r->n) {
			read_and_scan(r);
		} else {
			r->waiting++;
			pthread_cond_wait(&r->changed, &r->lock);
			r->waiting--;
			continue;
		}
		say_changed(r);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

int pipeline_run(const struct pipeline *p, void **slots, unsigned n, unsigned threads)
{
	struct run r = {.p = p, .slots = slots, .n = n, .place = xcalloc(n, sizeof(*r.place))};
	pthread_mutex_init(&r.lock, NULL);
	pthread_cond_init(&r.changed, NULL);
	pthread_t *thread = xcalloc(threads, sizeof(*thread));
	unsigned started = 1; /* this one */
	/* If no more threads can be created, fewer do the work. */
	while (started < threads && !pthread_create(&thread[started], NULL, work, &r))
		started++;
	work(&r);
	for (unsigned i = 1; i < started; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	free(r.place);
	pthread_cond_destroy(&r.changed);
	pthread_mutex_destroy(&r.lock);
	return r.failed ? -1 : 0;
}
