/* cuda_graph.c - CUDA graphs: captured calls, and their replays by anyone (torch.cuda.CUDAGraph.replay, a server in C++).
 *
 * A replay is a call of cudaGraphLaunch or cuGraphLaunch from a library other than the model (libtorch_cuda.so, the program itself). Their
 * slots of these functions, and of those that make a graph, are changed to ours when the first GPU model is added, and again in newly
 * loaded libraries whenever something new is captured. Nothing is exported: a program without CUDA finds none of these names by dlsym().
 * Out of reach: users of dlsym() or cuGetProcAddress(), and a statically linked runtime.
 *
 * Which call went into which graph: a stream being captured has an id (cuStreamGetCaptureInfo) that no other capture gets. The end of the
 * capture yields the graph, cuGraphInstantiate* the executable graph, cuGraphClone a copy, cuGraphExecUpdate new contents, and a child
 * graph adds its own calls. */
#include "cuda.h"

#include "ops.h"

#include <errno.h>

#define GRAPHS 4096    /* captures; more are not reported */
#define HANDLES 16384  /* live graphs and executables */
#define CALLS 65536    /* of a graph, by name */
#define TOLD_CALLS 256 /* in an event */

struct graph {
	uint64_t id; /* of the capture; 0: none */
	uint32_t number, model, n, told;
	uint32_t *name; /* CALLS at most */
	uint64_t replays;
};

static struct graph *graphs[GRAPHS];
static uint32_t n_graphs;
static struct handle {
	void *at;
	struct graph *graph;
} * handles;
static size_t n_handles, cap_handles;
static uint64_t loaded; /* objects when slots were last changed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, changing = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool within; /* inside one of these functions: the runtime's own driver calls are not counted again */

void cuda_graph_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	pthread_mutex_init(&changing, NULL);
}

/* ---- tables; the lock is held ---- */

static struct graph *new_graph(uint64_t id, uint32_t model)
{
	struct graph *g = n_graphs < GRAPHS ? calloc(1, sizeof(*g)) : NULL;
	if (!g)
		return NULL;
	*g = (struct graph){.id = id, .model = model, .number = n_graphs + 1};
	return graphs[n_graphs++] = g;
}

static struct graph *of_capture(uint64_t id)
{
	for (uint32_t i = n_graphs; i-- > 0;)
		if (id && graphs[i]->id == id)
			return graphs[i];
	return NULL;
}

static void add_kernel_name(struct graph *g, uint32_t name)
{
	if ((g->n & (g->n - 1)) == 0 && g->n < CALLS) {
		uint32_t *more = realloc(g->name, (g->n ? 2 * (size_t)g->n : 1) * sizeof(*more));
		if (!more)
			return;
		g->name = more;
	}
	if (g->n < CALLS)
		g->name[g->n++] = name;
}

static void add_all(struct graph *to, const struct graph *from)
{
	for (uint32_t i = 0, n = from->n; i < n; i++)
		add_kernel_name(to, from->name[i]);
}

static struct handle *find_handle(const void *at)
{
	for (size_t i = 0; i < n_handles; i++)
		if (handles[i].at == at)
			return &handles[i];
	return NULL;
}

static struct graph *graph_of(const void *at)
{
	const struct handle *h = find_handle(at);
	return h ? h->graph : NULL;
}

/* g NULL: contains nothing known. An address may belong to one that was destroyed unseen. */
static void set_graph(void *at, struct graph *g)
{
	struct handle *h = find_handle(at);
	if (h && g)
		h->graph = g;
	else if (h)
		*h = handles[--n_handles];
	if (h || !g || n_handles == HANDLES)
		return;
	if (n_handles == cap_handles) {
		size_t cap = cap_handles ? 2 * cap_handles : 64;
		void *more = realloc(handles, cap * sizeof(*handles));
		if (!more)
			return;
		handles = more;
		cap_handles = cap;
	}
	handles[n_handles++] = (struct handle){at, g};
}

/* Reports the contents of a graph, if new. */
static void tell_graph(struct graph *g)
{
	struct buf b = {0};
	struct json_out o;
	if (!g || g->told == g->n)
		return;
	g->told = g->n;
	event_begin(&o, &b, LIVE_GRAPH, g->model);
	json_member_u64(&o, "graph", g->number);
	json_member_u64(&o, "captured", g->n);
	json_member_arr(&o, "kernels");
	for (uint32_t i = 0; i < g->n && i < TOLD_CALLS && b.len < LIVE_MAX_LINE / 2; i++)
		json_out_str(&o, slice_str(g->name[i] ? ops_text(g->name[i]) : ""));
	json_close(&o);
	event_end(&o, &b);
}

/* ---- captures ---- */

static uint64_t capture_of(void *stream)
{
	int status = 0;
	uint64_t id = 0;
	return cuda.capture_info && !cuda.capture_info(stream, &status, &id, NULL, NULL, NULL, NULL) && status == 1 ? id : 0;
}

uint32_t cuda_graph_take(uint32_t model, uint32_t name, void *stream)
{
	uint64_t id = capture_of(stream);
	uint32_t number = 0;
	bool fresh = false;
	if (!id)
		return 0;
	pthread_mutex_lock(&lock);
	struct graph *g = of_capture(id);
	if (!g) {
		fresh = true;
		g = new_graph(id, model);
	}
	if (g) {
		add_kernel_name(g, name);
		number = g->number;
	}
	pthread_mutex_unlock(&lock);
	if (fresh)
		cuda_graph_open();
	return number;
}

/* ---- functions that the slots point to ---- */

/* All of them take up to six numbers and addresses, which are passed on unchanged. */
#define FUNCTIONS(X) \
	X(cuStreamBeginCapture, begin_capture, 0) \
	X(cuStreamBeginCapture_ptsz, begin_capture, 1) \
	X(cuStreamBeginCapture_v2, begin_capture, 0) \
	X(cuStreamBeginCapture_v2_ptsz, begin_capture, 1) \
	X(cudaStreamBeginCapture, begin_capture, 0) \
	X(cudaStreamBeginCapture_ptsz, begin_capture, 1) \
	X(cuStreamBeginCaptureToGraph, begin_capture, 0) \
	X(cuStreamBeginCaptureToGraph_ptsz, begin_capture, 1) \
	X(cudaStreamBeginCaptureToGraph, begin_capture, 0) \
	X(cudaStreamBeginCaptureToGraph_ptsz, begin_capture, 1) \
	X(cuStreamEndCapture, end_capture, 0) \
	X(cuStreamEndCapture_ptsz, end_capture, 1) \
	X(cudaStreamEndCapture, end_capture, 0) \
	X(cudaStreamEndCapture_ptsz, end_capture, 1) \
	X(cuGraphInstantiate, instantiate, 0) \
	X(cuGraphInstantiate_v2, instantiate, 0) \
	X(cuGraphInstantiateWithFlags, instantiate, 0) \
	X(cudaGraphInstantiate, instantiate, 0) \
	X(cuGraphInstantiateWithParams, instantiate, 0) \
	X(cuGraphInstantiateWithParams_ptsz, instantiate, 1) \
	X(cudaGraphInstantiateWithFlags, instantiate, 0) \
	X(cudaGraphInstantiateWithParams, instantiate, 0) \
	X(cudaGraphInstantiateWithParams_ptsz, instantiate, 1) \
	X(cuGraphClone, instantiate, 0) \
	X(cudaGraphClone, instantiate, 0) \
	X(cuGraphExecUpdate, update, 0) \
	X(cuGraphExecUpdate_v2, update, 0) \
	X(cudaGraphExecUpdate, update, 0) \
	X(cuGraphAddChildGraphNode, add_child, 0) \
	X(cudaGraphAddChildGraphNode, add_child, 0) \
	X(cuGraphDestroy, destroy, 0) \
	X(cudaGraphDestroy, destroy, 0) \
	X(cuGraphExecDestroy, destroy, 0) \
	X(cudaGraphExecDestroy, destroy, 0) \
	X(cuGraphLaunch, launch, 0) \
	X(cuGraphLaunch_ptsz, launch, 1) \
	X(cudaGraphLaunch, launch, 0) \
	X(cudaGraphLaunch_ptsz, launch, 1)

typedef uintptr_t word;
typedef int real_fn(word, word, word, word, word, word);
struct call {
	real_fn *real;
	word arg[6];
	bool per_thread;
	int error; /* errno, as left by the real one */
};

static int go_on(struct call *c)
{
	within = true;
	int r = c->real(c->arg[0], c->arg[1], c->arg[2], c->arg[3], c->arg[4], c->arg[5]);
	c->error = errno;
	within = false;
	return r;
}

static void *stream_of(const struct call *c, word arg) { return !arg && c->per_thread ? CUDA_PER_THREAD : (void *)arg; }

/* (stream, ...) */
static int begin_capture(struct call *c)
{
	cuda_capture_begins();
	int r = go_on(c);
	cuda_capture_begun(!r);
	return r;
}

/* (stream, graph *); the capture may be invalid. */
static int end_capture(struct call *c)
{
	uint64_t id = capture_of(stream_of(c, c->arg[0]));
	const bool captured = cuda_capturing(stream_of(c, c->arg[0]));
	int r = go_on(c);
	if (captured)
		cuda_capture_ended();
	if (r || !c->arg[1])
		return r;
	pthread_mutex_lock(&lock);
	void *at = *(void **)c->arg[1];
	struct graph *g = of_capture(id), *there = graph_of(at);
	if (g)
		g->id = 0;
	/* cudaStreamBeginCaptureToGraph: continues a graph. An old one at this address would have been destroyed. */
	if (g && there)
		add_all(there, g);
	else if (g)
		set_graph(at, g);
	tell_graph(there ? there : g);
	pthread_mutex_unlock(&lock);
	return r;
}

/* (exec * or graph *, graph) */
static int instantiate(struct call *c)
{
	int r = go_on(c);
	if (r || !c->arg[0])
		return r;
	pthread_mutex_lock(&lock);
	struct graph *g = graph_of((void *)c->arg[1]);
	set_graph(*(void **)c->arg[0], g);
	tell_graph(g);
	pthread_mutex_unlock(&lock);
	return r;
}

/* (exec, graph) */
static int update(struct call *c)
{
	int r = go_on(c);
	if (r)
		return r;
	pthread_mutex_lock(&lock);
	set_graph((void *)c->arg[0], graph_of((void *)c->arg[1]));
	pthread_mutex_unlock(&lock);
	return r;
}

/* (node *, graph, dependencies, n, child) */
static int add_child(struct call *c)
{
	int r = go_on(c);
	pthread_mutex_lock(&lock);
	struct graph *child = r ? NULL : graph_of((void *)c->arg[4]), *g = child ? graph_of((void *)c->arg[1]) : NULL;
	if (child && !g && (g = new_graph(0, child->model)))
		set_graph((void *)c->arg[1], g);
	if (g)
		add_all(g, child);
	pthread_mutex_unlock(&lock);
	return r;
}

/* Before destroying it: afterwards the address may be reused. */
static int destroy(struct call *c)
{
	pthread_mutex_lock(&lock);
	struct graph *g = graph_of((void *)c->arg[0]);
	set_graph((void *)c->arg[0], NULL);
	pthread_mutex_unlock(&lock);
	int r = go_on(c);
	if (r) {
		pthread_mutex_lock(&lock);
		set_graph((void *)c->arg[0], g);
		pthread_mutex_unlock(&lock);
	}
	return r;
}

/* ---- a replay ---- */

/* Captured into another graph: its calls are captured once more. */
static void captured_again(const struct graph *g, void *stream)
{
	uint64_t id = capture_of(stream);
	pthread_mutex_lock(&lock);
	struct graph *to = of_capture(id);
	if (!to && id)
		to = new_graph(id, g->model);
	if (to && to != g)
		add_all(to, g);
	pthread_mutex_unlock(&lock);
}

static void fill_record(struct ops_thread *t, const struct cuda_replay *r, struct call_record *rec)
{
	memset(rec, 0, sizeof(*rec));
	rec->model = r->model;
	rec->run = CALLS_NO_RUN;
	rec->contract_call = CALLS_NO_CALL;
	rec->call = r->call;
	rec->name = r->name;
	rec->pid = t->pid;
	rec->tid = t->tid;
	rec->ticks = ops_ticks;
}

static uint32_t name_of(uint32_t number)
{
	char text[48];
	int n = snprintf(text, sizeof(text), "cuda_graph[%u]", number);
	return ops_name(slice_of(text, (size_t)n));
}

/* A call outside any run. */
static uint64_t begin_replay(struct ops_thread *t, struct cuda_replay *r)
{
	struct call_record rec;
	r->call = t->run[0].calls++;
	r->name = name_of(r->graph);
	fill_record(t, r, &rec);
	rec.what = CALL_BEGIN;
	rec.time = ops_now();
	uint64_t begun = rec.time;
	r->seq = calls_begin(ops_log(), &rec);
	rec.what = CALL_REPLAY;
	rec.replay = (struct call_replay){.graph = r->graph, .captured = r->captured, .times = r->times, .stream = (uintptr_t)r->stream};
	calls_append(ops_log(), &rec);
	return begun;
}

static void end_replay(struct ops_thread *t, const struct cuda_replay *r, uint64_t begun, int result)
{
	struct call_record rec;
	fill_record(t, r, &rec);
	rec.what = CALL_END;
	rec.time = ops_now();
	rec.seq = r->seq;
	rec.result = result;
	rec.took = rec.time - begun;
	calls_append(ops_log(), &rec);
}

/* Others may add to it in the meantime. */
static void tell_fault(const struct cuda_replay *r, const char *when, int error)
{
	uint32_t name[TOLD_CALLS], n = 0;
	pthread_mutex_lock(&lock);
	const struct graph *g = graphs[r->graph - 1];
	for (; n < g->n && n < TOLD_CALLS; n++)
		name[n] = g->name[n];
	pthread_mutex_unlock(&lock);
	cuda_tell_replay(r, name, n, when, error);
}

static int replay(struct call *c, struct ops_thread *t, struct cuda_replay *r)
{
	const bool waits = ops_want() & CALLS_SYNC && cuda.stream_synchronize;
	int before = waits && !cuda_broken ? cuda_wait_all(r->stream) : 0;
	uint64_t begun = begin_replay(t, r);
	const uint64_t timed = ops_want() & CALLS_TIMES ? cuda_time_begin_replay(r) : 0;
	if (before)
		tell_fault(r, "before", before);
	probe_leave();
	int result = go_on(c);
	probe_inside = true;
	end_replay(t, r, begun, result);
	cuda_time_end_replay(timed, r->stream, !result);
	if (ops_want() & CALLS_SCAN && !result && !t->depth)
		cuda_scan_replayed(r->stream);
	int after = waits && !result && !cuda_broken ? cuda_wait(r->stream) : 0;
	if (result || after)
		tell_fault(r, result ? "launch" : "after", result ? result : after);
	return result;
}

/* (exec, stream) */
static int launch(struct call *c)
{
	void *stream = stream_of(c, c->arg[1]);
	pthread_mutex_lock(&lock);
	struct graph *g = graph_of((void *)c->arg[0]);
	pthread_mutex_unlock(&lock);
	struct ops_thread *t = g ? ops_thread() : NULL;
	if (!t)
		return go_on(c);
	if (cuda_capturing(stream)) {
		int result = go_on(c);
		if (!result)
			captured_again(g, stream);
		return result;
	}
	pthread_mutex_lock(&lock);
	struct cuda_replay r = {.model = g->model, .graph = g->number, .captured = g->n, .times = ++g->replays, .stream = stream};
	pthread_mutex_unlock(&lock);
	return replay(c, t, &r);
}

/* ---- slots ---- */

enum function {
#define ID(name, kind, per_thread) ID_##name,
	FUNCTIONS(ID)
#undef ID
	    N_FUNCTIONS
};
static _Atomic(real_fn *) real[N_FUNCTIONS];

static int called(enum function i, int (*kind)(struct call *), bool per_thread, const word arg[6])
{
	struct call k = {.real = atomic_load_explicit(&real[i], memory_order_acquire),
			 .arg = {arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]},
			 .per_thread = per_thread};
	if (within || !probe_enter())
		return k.real(arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	int r = kind(&k);
	probe_leave();
	errno = k.error;
	return r;
}

#define DEFINE(name, kind, per_thread) \
	static int our_##name(word a, word b, word c, word d, word e, word f) \
	{ \
		return called(ID_##name, kind, per_thread, (const word[]){a, b, c, d, e, f}); \
	}
FUNCTIONS(DEFINE)

static const struct {
	const char *name;
	real_fn *ours;
} function[] = {
#define ROW(name, kind, per_thread) {#name, our_##name},
    FUNCTIONS(ROW)
#undef ROW
};

/* An object that defines one of them is the driver or a runtime: calls among these are ignored. */
struct search {
	const struct object *o;
	real_fn *found[N_FUNCTIONS];
	bool several[N_FUNCTIONS], left_alone;
};

static bool provides(const struct object *o) { return object_export(o, "cuGraphLaunch") || object_export(o, "cudaGraphLaunch"); }

static void look_for(void *user, const struct object *o)
{
	struct search *s = user;
	for (int i = 0; i < N_FUNCTIONS && provides(o); i++) {
		ElfW(Sym) *symbol = object_export(o, function[i].name);
		void *p = symbol ? object_address(o, symbol) : NULL;
		real_fn *fn;
		memcpy(&fn, &p, sizeof(p));
		s->several[i] |= fn && s->found[i] && s->found[i] != fn;
		s->found[i] = s->found[i] ? s->found[i] : fn;
	}
}

static bool is_loaded(real_fn *fn)
{
	void *p;
	struct object o;
	memcpy(&p, &fn, sizeof(p));
	return object_at(p, &o) && provides(&o);
}

static void change(void *user, uintptr_t *at, const ElfW(Sym) * symbol, const char *name)
{
	struct search *s = user;
	int i = 0;
	if (name[0] != 'c' || name[1] != 'u' || symbol->st_shndx != SHN_UNDEF)
		return;
	while (i < N_FUNCTIONS && strcmp(name, function[i].name))
		i++;
	if (i == N_FUNCTIONS || *at == (uintptr_t)function[i].ours)
		return;
	/* Not bound yet: it points into the object itself. */
	real_fn *now, *there = NULL;
	void *p = (void *)*at;
	memcpy(&now, &p, sizeof(p));
	if (!*at || (*at >= s->o->start && *at < s->o->end)) {
		if (s->several[i] || !s->found[i]) {
			s->left_alone |= s->several[i];
			return;
		}
		now = s->found[i];
	}
	bool mine = atomic_compare_exchange_strong(&real[i], &there, now) || there == now;
	if (!mine && !is_loaded(there)) {
		atomic_store_explicit(&real[i], now, memory_order_release);
		mine = true;
	}
	s->left_alone |= !mine || object_write(at, (uintptr_t)function[i].ours) < 0;
}

static void change_object(void *user, const struct object *o)
{
	struct search *s = user;
	s->o = o;
	if (!provides(o))
		object_slots(o, change, s);
}

void cuda_graph_open(void)
{
	static bool said;
	struct search s = {0};
	pthread_mutex_lock(&changing);
	uint64_t now = object_loaded();
	if (cuda.capture_info && now != loaded) {
		loaded = now;
		object_each(look_for, &s);
		object_each(change_object, &s);
	}
	if (s.left_alone && !said) {
		said = true;
		event_aside(LIVE_NO_MODEL, "this process has several CUDA runtimes: CUDA graph replays are only seen for one of them");
	}
	pthread_mutex_unlock(&changing);
}
