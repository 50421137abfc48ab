/* ahead.c - the graph runs while the package does, on another processor. */
#include "base/clock.h"
#include "base/pool.h"
#include "verifier.h"

bool verifier_one_thread(const struct verifier *v)
{
	/* Custom operators are computed by one process, a call at a time; a library without text is probed before each run, by a process that this
	 * one shares memory with. */
	return v->o->custom || !v->pair.has_package || !v->pair.package_of.read || cpu_count() < 2;
}

/* A graph that takes longer is also checked for longer: that is when the other processor is free. */
enum { SHORT_NS = 10000000 };

static void *compute(void *of)
{
	struct ahead *a = of;
	const int64_t start = clock_ns();
	held_ahead(&a->trial->h, &a->v->pair, a->v->o->max_bytes);
	if (clock_ns() - start < SHORT_NS)
		gate_open(&a->v->gate);
	return NULL;
}

void ahead_start(void *of, const struct tensor_view *in, size_t n)
{
	struct ahead *a = of;
	if (verifier_one_thread(a->v))
		return;
	a->trial = xcalloc(1, sizeof(*a->trial)); /* its members point to each other */
	a->runs = held_expect(&a->trial->h, &a->v->pair, in, n) && pthread_create(&a->thread, NULL, compute, a) == 0;
}

void ahead_end(struct ahead *a)
{
	if (a->runs)
		pthread_join(a->thread, NULL);
	a->runs = false;
	gate_open(&a->v->gate);
}

/* ---- memory errors are looked for in a process that starts when there is a processor for it ---- */

void gate_open(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->open = true;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

void gate_pass(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	while (!g->open)
		pthread_cond_wait(&g->changed, &g->lock);
	pthread_mutex_unlock(&g->lock);
}
