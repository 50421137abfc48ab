/* guard_omp.c - runs the chunks of a kernel's parallel loops one after the other, in a chosen order.
 *
 * Compiled by GCC, a parallel region is a function that GOMP_parallel() calls in each thread of a team; which iterations are its own it
 * computes from omp_get_thread_num() and omp_get_num_threads(), and GOMP_barrier() is between its loops (gcc/omp-expand.cc;
 * libgomp/parallel.c). These four are replaced in a model. While a kernel is called again, the team is played by one thread: each member
 * is a context with its own stack, which runs up to the next barrier; so no two run at a time, and results that depend on their order are
 * a race. Forward and backward are enough to have each pair of members in both orders.
 *
 * A model that uses more of OpenMP's runtime (dynamic schedules, tasks; Clang's libomp) keeps it as it is. */
#include "guard_call.h"

#include <sys/mman.h>
#include <ucontext.h>

enum { MEMBERS = 64, STACK = 8 << 20 };

static struct {
	void (*parallel)(void (*fn)(void *), void *data, unsigned n, unsigned flags);
	void (*barrier)(void);
	int (*number)(void);
	int (*size)(void);
	int (*most)(void);
} real;

struct member {
	ucontext_t at;
	void *stack;
	bool ended;
};

struct team {
	struct member *member;
	ucontext_t outside;
	void (*fn)(void *);
	void *data;
	int n, now;
};

static _Thread_local enum guard_order order;
static _Thread_local bool entered; /* a parallel region was */
static _Thread_local struct team *team;

static void start_member(void)
{
	struct team *t = team;
	t->fn(t->data);
	t->member[t->now].ended = true;
	swapcontext(&t->member[t->now].at, &t->outside);
}

static bool make_member(struct team *t, struct member *m)
{
	m->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (m->stack == MAP_FAILED || getcontext(&m->at))
		return false;
	m->at.uc_stack.ss_sp = m->stack;
	m->at.uc_stack.ss_size = STACK;
	m->at.uc_link = &t->outside;
	makecontext(&m->at, start_member, 0);
	return true;
}

/* All members up to their next barrier. False: all have ended. */
static bool play_round(struct team *t)
{
	bool more = false;
	for (int i = 0; i < t->n; i++) {
		t->now = order == GUARD_BACKWARD ? t->n - 1 - i : i;
		struct member *m = &t->member[t->now];
		if (!m->ended)
			swapcontext(&t->outside, &m->at);
		more |= !m->ended;
	}
	return more;
}

static bool play(void (*fn)(void *), void *data, int n)
{
	struct team t = {.fn = fn, .data = data, .n = n, .member = calloc((size_t)n, sizeof(struct member))};
	bool made = t.member != NULL;
	for (int i = 0; i < n && made; i++)
		made = make_member(&t, &t.member[i]);
	if (made) {
		team = &t;
		while (play_round(&t))
			;
		team = NULL;
	}
	for (int i = 0; i < n && t.member && t.member[i].stack; i++)
		if (t.member[i].stack != MAP_FAILED)
			munmap(t.member[i].stack, STACK);
	free(t.member);
	return made;
}

/* ---- for the model ---- */

static void our_parallel(void (*fn)(void *), void *data, unsigned n, unsigned flags)
{
	if (team) { /* in a region already: a team of one, as without OMP_MAX_ACTIVE_LEVELS */
		struct team *outer = team, one = {.n = 1};
		team = &one;
		fn(data);
		team = outer;
		return;
	}
	entered = true;
	const int size = n ? (int)n : real.most();
	if (order < GUARD_FORWARD || size > MEMBERS || !play(fn, data, size))
		real.parallel(fn, data, order == GUARD_ONE_THREAD ? 1 : n, flags);
}

static void our_barrier(void)
{
	if (!team)
		real.barrier();
	else if (team->member)
		swapcontext(&team->member[team->now].at, &team->outside);
}

static int our_number(void) { return team ? team->now : real.number(); }
static int our_size(void) { return team ? team->n : real.size(); }

/* ---- for the guard ---- */

/* The same runtime for all models, or this one's stays as it is. */
static bool take_function(struct ops *ops, void *own, uintptr_t ours, void *target, uintptr_t *at)
{
	void *known;
	if (*at == ours || !target)
		return true;
	memcpy(&known, own, sizeof(known));
	if (known && known != target) {
		ops->other_omp = true;
		return true;
	}
	memcpy(own, &target, sizeof(target));
	if (object_write(at, ours) < 0)
		ops->other_omp = true;
	return true;
}

bool guard_omp_is(const char *name) { return !strncmp(name, "__kmpc_", 7) || !strncmp(name, "GOMP_", 5) || !strncmp(name, "omp_", 4); }

void guard_omp_take(struct model *m, uintptr_t *at, const char *name, void *target)
{
	void *most;
	if (!real.most) {
		most = torch_import(&m->object, "omp_get_max_threads");
		memcpy(&real.most, &most, sizeof(most));
	}
	if (!guard_again_works || !real.most)
		m->ops->other_omp = true;
	else if (!strcmp(name, "GOMP_parallel"))
		m->ops->omp = take_function(m->ops, &real.parallel, (uintptr_t)our_parallel, target, at);
	else if (!strcmp(name, "GOMP_barrier"))
		take_function(m->ops, &real.barrier, (uintptr_t)our_barrier, target, at);
	else if (!strcmp(name, "omp_get_thread_num"))
		take_function(m->ops, &real.number, (uintptr_t)our_number, target, at);
	else if (!strcmp(name, "omp_get_num_threads"))
		take_function(m->ops, &real.size, (uintptr_t)our_size, target, at);
	else if (strcmp(name, "omp_get_max_threads") != 0 && strncmp(name, "GOMP_critical", 13) != 0 &&
		 strncmp(name, "GOMP_atomic", 11) != 0)
		m->ops->other_omp = true;
}

void guard_omp_order(enum guard_order now) { order = now; }

bool guard_omp_entered(bool forget)
{
	const bool was = entered;
	if (forget)
		entered = false;
	return was;
}

bool guard_omp_orders(const struct model *m) { return m->ops->omp && !m->ops->other_omp; }
