/* guard_omp.c - runs the chunks of a kernel's parallel loops one after the other, in a chosen order.
 *
 * Compiled by GCC, a parallel region is a function that GOMP_parallel() calls in each thread of a team; which iterations are its own it
 * computes from omp_get_thread_num() and omp_get_num_threads(), and GOMP_barrier() is between its loops (gcc/omp-expand.cc;
 * libgomp/parallel.c). These four are replaced in a model. While a kernel is called again, the team is played by one thread: each member
 * is a context with its own stack, which runs up to the next barrier; so no two run at a time, and results that depend on their order are
 * a race. Forward and backward are enough to have each pair of members in both orders.
 *
 * With a dynamic or guided schedule a member asks for chunks instead (GOMP_loop_dynamic_start(), _next(); libgomp/loop.c): each gets its
 * share of them, in the order in which members run.
 *
 * A model that uses more of OpenMP's runtime (tasks, schedules chosen at run time; Clang's libomp) keeps it as it is, which is
 * reported: its kernels are compared with one thread alone. */
#include "guard_call.h"

#include <sys/mman.h>
#include <ucontext.h>

enum { MEMBERS = 64, STACK = 8 << 20, LOOPS = 64 };

#define LOOP_KINDS(X) \
	X(dynamic) \
	X(nonmonotonic_dynamic) \
	X(guided) \
	X(nonmonotonic_guided)
/* clang-format off */
#define LOOP_ID(kind) LOOP_##kind,
enum { LOOP_KINDS(LOOP_ID) LOOP_KIND_N };
/* clang-format on */

typedef bool loop_start_fn(long from, long to, long step, long chunk, long *first, long *end);
typedef bool loop_next_fn(long *first, long *end);

static struct {
	void (*parallel)(void (*fn)(void *), void *data, unsigned n, unsigned flags);
	void (*barrier)(void);
	int (*number)(void);
	int (*size)(void);
	int (*most)(void);
	void (*push)(void *where, int thread, int n);
	void (*loop_end)(void), (*loop_end_nowait)(void);
	loop_start_fn *start[LOOP_KIND_N];
	loop_next_fn *next[LOOP_KIND_N];
} real;

struct member {
	ucontext_t at;
	void *stack;
	bool ended;
	uint32_t loops; /* that it has entered */
	uint64_t taken; /* chunks of the last one */
};

/* A loop whose members ask for chunks: those that are left. */
struct loop {
	bool entered;
	long from, to, step, chunk;
	uint64_t share; /* of each member */
};

struct team {
	struct member *member;
	ucontext_t outside;
	void (*fn)(void *);
	void *data;
	int n, now;
	struct loop loop[LOOPS];
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

/* ---- chunks on demand ---- */

static uint64_t chunks_left(const struct loop *l)
{
	const long span = l->step > 0 ? l->to - l->from : l->from - l->to, step = l->step > 0 ? l->step : -l->step;
	const uint64_t iterations = span > 0 ? ((uint64_t)span + (uint64_t)step - 1) / (uint64_t)step : 0;
	return (iterations + (uint64_t)l->chunk - 1) / (uint64_t)l->chunk;
}

/* The last member to run gets the rest. */
static bool take_chunk(struct team *t, long *first, long *end)
{
	struct member *m = &t->member[t->now];
	struct loop *l = &t->loop[m->loops - 1];
	const uint64_t left = chunks_left(l);
	const bool last = t->now == (order == GUARD_BACKWARD ? 0 : t->n - 1);
	if (!left || (m->taken == l->share && !last))
		return false;
	m->taken++;
	if (order == GUARD_BACKWARD) {
		*first = l->from + (long)(left - 1) * l->chunk * l->step;
		*end = l->to;
		l->to = *first;
	} else {
		*first = l->from;
		*end = left == 1 ? l->to : l->from + l->chunk * l->step;
		l->from = *end;
	}
	return true;
}

static bool enter_loop(struct team *t, long from, long to, long step, long chunk, long *first, long *end)
{
	struct member *m = &t->member[t->now];
	struct loop *l = &t->loop[m->loops++];
	if (!l->entered) {
		*l = (struct loop){.entered = true, .from = from, .to = to, .step = step, .chunk = chunk > 0 ? chunk : 1};
		l->share = (chunks_left(l) + (uint64_t)t->n - 1) / (uint64_t)t->n;
	}
	m->taken = 0;
	return take_chunk(t, first, end);
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

/* More loops than there is room for: the first member takes all of it. Of a team of one (within another region), too. */
static bool whole_loop(long from, long to, long *first, long *end)
{
	if (team->member)
		team->member[team->now].loops = LOOPS + 1;
	*first = from;
	*end = to;
	return from != to && (!team->member || !team->now);
}

static bool start_loop(int kind, long from, long to, long step, long chunk, long *first, long *end)
{
	if (!team)
		return real.start[kind](from, to, step, chunk, first, end);
	if (!team->member || team->member[team->now].loops >= LOOPS)
		return whole_loop(from, to, first, end);
	return enter_loop(team, from, to, step, chunk, first, end);
}

static bool next_chunk(int kind, long *first, long *end)
{
	if (!team)
		return real.next[kind](first, end);
	return team->member && team->member[team->now].loops <= LOOPS && take_chunk(team, first, end);
}

#define LOOP_FUNCTIONS(kind) \
	static bool start_##kind(long from, long to, long step, long chunk, long *first, long *end) \
	{ \
		return start_loop(LOOP_##kind, from, to, step, chunk, first, end); \
	} \
	static bool next_##kind(long *first, long *end) { return next_chunk(LOOP_##kind, first, end); }
LOOP_KINDS(LOOP_FUNCTIONS)

static void our_loop_end(void)
{
	if (team)
		our_barrier();
	else
		real.loop_end();
}

static void our_loop_end_nowait(void)
{
	if (!team)
		real.loop_end_nowait();
}

/* Clang's: before each region with a number of threads. */
static void our_push(void *where, int thread, int n)
{
	entered = true;
	real.push(where, thread, order == GUARD_ONE_THREAD ? 1 : n);
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
		ops->other_omp = "two OpenMP runtimes";
		return true;
	}
	memcpy(own, &target, sizeof(target));
	if (object_write(at, ours) < 0)
		ops->other_omp = "functions that cannot be replaced";
	return true;
}

bool guard_omp_is(const char *name) { return !strncmp(name, "__kmpc_", 7) || !strncmp(name, "GOMP_", 5) || !strncmp(name, "omp_", 4); }

static bool take_loop(struct ops *ops, uintptr_t *at, const char *name, void *target)
{
	static const struct {
		const char *start, *next;
		loop_start_fn *our_start;
		loop_next_fn *our_next;
	} kinds[] = {
#define LOOP_ROW(kind) {"GOMP_loop_" #kind "_start", "GOMP_loop_" #kind "_next", start_##kind, next_##kind},
	    LOOP_KINDS(LOOP_ROW)};
	for (int i = 0; i < LOOP_KIND_N; i++) {
		if (!strcmp(name, kinds[i].start))
			return take_function(ops, &real.start[i], (uintptr_t)kinds[i].our_start, target, at);
		if (!strcmp(name, kinds[i].next))
			return take_function(ops, &real.next[i], (uintptr_t)kinds[i].our_next, target, at);
	}
	return false;
}

void guard_omp_take(struct model *m, uintptr_t *at, const char *name, void *target)
{
	void *most;
	if (!real.most) {
		most = torch_import(&m->object, "omp_get_max_threads");
		memcpy(&real.most, &most, sizeof(most));
	}
	if (!guard_again_works || !real.most)
		m->ops->other_omp = name;
	else if (!strcmp(name, "GOMP_parallel"))
		m->ops->omp = take_function(m->ops, &real.parallel, (uintptr_t)our_parallel, target, at);
	else if (!strcmp(name, "GOMP_barrier"))
		take_function(m->ops, &real.barrier, (uintptr_t)our_barrier, target, at);
	else if (!strcmp(name, "omp_get_thread_num"))
		take_function(m->ops, &real.number, (uintptr_t)our_number, target, at);
	else if (!strcmp(name, "omp_get_num_threads"))
		take_function(m->ops, &real.size, (uintptr_t)our_size, target, at);
	else if (!strcmp(name, "GOMP_loop_end"))
		take_function(m->ops, &real.loop_end, (uintptr_t)our_loop_end, target, at);
	else if (!strcmp(name, "GOMP_loop_end_nowait"))
		take_function(m->ops, &real.loop_end_nowait, (uintptr_t)our_loop_end_nowait, target, at);
	else if (!strcmp(name, "__kmpc_push_num_threads"))
		m->ops->omp = take_function(m->ops, &real.push, (uintptr_t)our_push, target, at);
	else if (take_loop(m->ops, at, name, target))
		return;
	else if (strcmp(name, "omp_get_max_threads") != 0 && strncmp(name, "GOMP_critical", 13) != 0 &&
		 strncmp(name, "GOMP_atomic", 11) != 0 && !m->ops->other_omp)
		m->ops->other_omp = name;
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
