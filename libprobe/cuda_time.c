/* cuda_time.c - how long calls take on a GPU (CALLS_TIMES): an event before each call and one after it, on its stream. They are read
 * later, when both have passed; only the rest is waited for, at the end of the process. What is read becomes an additional call in the
 * log, whose CALL_BEGIN has the result CALLS_TIMED and the nanoseconds. Calls that are captured have no time of their own; a replay has.
 *
 * If the first event has passed before the call was even issued, the GPU had nothing else to do: the time between the events then includes
 * the host's. Such times are marked (CALLS_TIMED_WAITED). */
#include "cuda.h"

#include "ops.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define CONTEXTS 16
#define PENDING 4096      /* more than a GPU's queue holds; further calls are not timed */
#define PATIENCE_MS 10000 /* at the end of the process */

enum { NOT_READY = 600 };

struct timed {
	enum { FREE, OPEN, ISSUED } state;
	bool waited;
	void *from, *to; /* events; they stay */
	uint32_t model, run, call, contract_call, name;
};
/* A ring: from tail to head. */
struct timer {
	void *handle; /* a driver context; NULL: free */
	uint64_t head, tail;
	struct timed *pending;
};
static struct timer timers[CONTEXTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void cuda_time_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	memset(timers, 0, sizeof(timers));
}

static bool has_driver(void)
{
	return cuda.ctx_get_current && cuda.event_create && cuda.event_record && cuda.event_query && cuda.event_elapsed && !cuda_broken;
}

static void at_end(void);

/* The lock is held from here on. NULL: none is left. */
static struct timer *current(void)
{
	static bool registered;
	void *handle = NULL;
	if (cuda.ctx_get_current(&handle) || !handle)
		return NULL;
	size_t i = 0;
	while (i < CONTEXTS && timers[i].handle && timers[i].handle != handle)
		i++;
	if (i == CONTEXTS)
		return NULL;
	timers[i].handle = handle;
	if (!timers[i].pending)
		timers[i].pending = calloc(PENDING, sizeof(*timers[i].pending));
	if (!registered)
		registered = !atexit(at_end);
	return timers[i].pending ? &timers[i] : NULL;
}

/* In one go, and of no thread: it must not be mistaken for the end of the calls that are open in one. */
static void tell(const struct timed *p, float ms)
{
	struct call_record r;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	memset(&r, 0, sizeof(r));
	r.what = CALL_BEGIN;
	r.time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	r.model = p->model;
	r.run = p->run;
	r.call = p->call;
	r.contract_call = p->contract_call;
	r.name = p->name;
	r.pid = ops_process;
	r.result = CALLS_TIMED;
	r.took = (uint64_t)((double)ms * 1e6) | (p->waited ? CALLS_TIMED_WAITED : 0);
	calls_begin(ops_log(), &r);
	r.what = CALL_END;
	r.result = 0;
	r.took = 0;
	calls_append(ops_log(), &r);
}

/* Reads those that have passed, at most n. The driver's answer to the last question. */
static int read_passed(struct timer *t, uint32_t n)
{
	int r = 0;
	for (uint32_t i = 0; i < n && t->tail < t->head && !r; i++) {
		struct timed *p = &t->pending[t->tail % PENDING];
		float ms = 0;
		if (p->state == OPEN)
			return 0;
		if (p->state == ISSUED && (r = cuda.event_query(p->to)))
			return r;
		if (p->state == ISSUED && !cuda.event_elapsed(&ms, p->from, p->to) && ms >= 0)
			tell(p, ms);
		p->state = FREE;
		t->tail++;
	}
	return r;
}

/* Its number, from 1. */
static uint64_t begin(struct timer *t, const struct timed *what, void *stream)
{
	if (t->head - t->tail >= PENDING)
		return 0;
	struct timed *p = &t->pending[t->head % PENDING];
	void *from = p->from, *to = p->to;
	if ((!from && cuda.event_create(&from, 0)) || (!to && cuda.event_create(&to, 0)) || cuda.event_record(from, stream)) {
		p->from = from;
		p->to = to;
		return 0;
	}
	*p = *what;
	p->from = from;
	p->to = to;
	p->state = OPEN;
	return ++t->head;
}

static uint64_t begin_on(const struct timed *what, void *stream)
{
	uint64_t number = 0;
	if (!has_driver())
		return 0;
	pthread_mutex_lock(&lock);
	struct timer *t = current();
	if (t) {
		read_passed(t, 4);
		number = begin(t, what, stream);
	}
	pthread_mutex_unlock(&lock);
	return number;
}

static void end_on(uint64_t number, void *stream, bool issued)
{
	if (!number)
		return;
	pthread_mutex_lock(&lock);
	struct timer *t = current();
	struct timed *p = t && number > t->tail && number <= t->head ? &t->pending[(number - 1) % PENDING] : NULL;
	if (p && p->state == OPEN) {
		p->waited = issued && !cuda.event_query(p->from);
		p->state = issued && !cuda.event_record(p->to, stream) ? ISSUED : FREE;
	}
	pthread_mutex_unlock(&lock);
}

void cuda_time_begin(const struct ops_run *run, struct ops_open *o)
{
	const struct timed what = {
	    .model = run->model->id, .run = run->run, .call = o->call, .contract_call = o->contract_call, .name = o->name};
	o->timed = o->launch.captured ? 0 : begin_on(&what, o->launch.stream);
}

void cuda_time_end(const struct ops_open *o, bool issued) { end_on(o->timed, o->launch.stream, issued); }

uint64_t cuda_time_begin_replay(const struct cuda_replay *r)
{
	const struct timed what = {
	    .model = r->model, .run = CALLS_NO_RUN, .call = r->call, .contract_call = CALLS_NO_CALL, .name = r->name};
	return begin_on(&what, r->stream);
}

void cuda_time_end_replay(uint64_t number, void *stream, bool issued) { end_on(number, stream, issued); }

static void at_end(void)
{
	if (!probe_enter())
		return;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < CONTEXTS && timers[i].handle && !cuda_broken; i++) {
		if (cuda.ctx_set_current && cuda.ctx_set_current(timers[i].handle))
			continue;
		for (int ms = 0; ms < PATIENCE_MS && read_passed(&timers[i], PENDING) == NOT_READY; ms++)
			usleep(1000);
	}
	pthread_mutex_unlock(&lock);
	probe_leave();
}
