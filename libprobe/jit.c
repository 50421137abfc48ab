#include "jit.h"

#include "base/text.h"
#include "guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <unistd.h>

#define MAX_GRAPHS (1u << 20)
#define MAX_SITES (1u << 24)
#define MAX_LEAVES OPS_VALUES
#define MAX_DEPTH 4   /* of lists in lists */
#define MAX_TYPES 512 /* types remembered; further ones are unknown */
#define MAX_WORDS 16  /* words of an object searched for a tensor's */

/* ---- CPython ---- */

typedef PyObject *fast_fn(PyObject *self, PyObject *const *args, intptr_t n, PyObject *names);
struct method { /* PyMethodDef */
	const char *name;
	fast_fn *function;
	int flags;
	const char *doc;
};
#define FASTCALL_KEYWORDS (0x0080 | 0x0002)

/* The header of every CPython object, except in builds without the GIL (Include/object.h). */
struct _object {
	intptr_t references;
	PyObject *type;
};

static struct {
	PyObject *(*PyObject_Vectorcall)(PyObject *callee, PyObject *const *args, size_t n, PyObject *names);
	PyObject *(*PyObject_GetAttrString)(PyObject *o, const char *name);
	PyObject *(*PyObject_CallFunctionObjArgs)(PyObject *callee, ...);
	PyObject *(*PyCFunction_NewEx)(struct method *m, PyObject *self, PyObject *module);
	PyObject *(*PyLong_FromLong)(long v);
	long (*PyLong_AsLong)(PyObject *o);
	PyObject *(*PyErr_Occurred)(void);
	intptr_t (*PyTuple_Size)(PyObject *o);
	PyObject *(*PyTuple_GetItem)(PyObject *o, intptr_t i);
	intptr_t (*PyList_Size)(PyObject *o);
	PyObject *(*PyList_GetItem)(PyObject *o, intptr_t i);
	void (*Py_IncRef)(PyObject *o);
	void (*Py_DecRef)(PyObject *o);
	void (*PyErr_SetString)(PyObject *type, const char *text);
	void (*PyErr_Clear)(void);
	PyObject **PyExc_RuntimeError;
	char *(*PyBytes_AsString)(PyObject *o);
	void (*PyErr_Fetch)(PyObject **type, PyObject **value, PyObject **trace);
	void (*PyErr_Restore)(PyObject *type, PyObject *value, PyObject *trace);
} py;

static bool find_python(void)
{
	static bool done;
	/* clang-format off */
#define FIND(f) {#f, &py.f}
	const struct {
		const char *name;
		void *to;
	} want[] = {FIND(PyObject_Vectorcall), FIND(PyObject_GetAttrString), FIND(PyObject_CallFunctionObjArgs), FIND(PyCFunction_NewEx),
		    FIND(PyLong_FromLong), FIND(PyLong_AsLong), FIND(PyTuple_Size), FIND(PyTuple_GetItem), FIND(PyList_Size),
		    FIND(PyList_GetItem), FIND(Py_IncRef), FIND(Py_DecRef), FIND(PyErr_SetString), FIND(PyErr_Clear), FIND(PyErr_Occurred),
		    FIND(PyExc_RuntimeError), FIND(PyBytes_AsString), FIND(PyErr_Fetch), FIND(PyErr_Restore)};
#undef FIND
	/* clang-format on */
	for (size_t i = 0; i < ARRAY_LEN(want) && !done; i++) {
		void *p = dlsym(RTLD_DEFAULT, want[i].name);
		if (!p) {
			dlerror();
			return false;
		}
		memcpy(want[i].to, &p, sizeof(p));
	}
	return done = true;
}

/* ---- tensors in objects ---- */

static PyObject *classify;
static size_t tensor_word; /* which word of a tensor's object is its TensorImpl's address; 0: unknown */
static struct {
	PyObject *type;
	enum jit_type what;
} types[MAX_TYPES];
static size_t n_types;

/* Asks rewrite.py once per type: subclasses may differ. */
static enum jit_type ask_type(PyObject *type)
{
	PyObject *answer = n_types < MAX_TYPES ? py.PyObject_CallFunctionObjArgs(classify, type, NULL) : NULL;
	long what = answer ? py.PyLong_AsLong(answer) : JIT_OTHER;
	if (!answer)
		py.PyErr_Clear();
	else
		py.Py_DecRef(answer);
	if (n_types < MAX_TYPES) {
		py.Py_IncRef(type); /* so that its address is never reused */
		types[n_types].type = type;
		types[n_types++].what = (enum jit_type)what;
	}
	return (enum jit_type)what;
}

static enum jit_type type_of(const PyObject *o)
{
	for (size_t i = 0; i < n_types; i++)
		if (types[i].type == o->type)
			return types[i].what;
	return ask_type(o->type);
}

static void *handle_of(PyObject *o) { return (uint64_t *)(void *)o + tensor_word; }

static size_t find_word(uintptr_t object, uint64_t cdata)
{
	size_t word = 2;
	while (word < MAX_WORDS && ((const uint64_t *)object)[word] != cdata)
		word++;
	return word;
}

uint32_t pt2_jit_wants(void)
{
	if (!talk_on())
		return 0;
	if (!ops_log_open())
		return JIT_ON;
	const struct calls_config *c = ops_config();
	return JIT_ON | JIT_CALLS | (c->first_run || c->last_run < UINT32_MAX ? JIT_STEPS : 0) | ops_want();
}

/* Completed steps of the program's optimizers; NONE: no optimizer known. */
static _Atomic uint32_t steps = NONE;

void pt2_jit_step(int ended)
{
	uint32_t none = NONE;
	atomic_compare_exchange_strong(&steps, &none, 0);
	if (ended)
		atomic_fetch_add(&steps, 1);
}

uint32_t jit_step(uint32_t run)
{
	uint32_t n = atomic_load_explicit(&steps, memory_order_relaxed);
	return n == NONE ? run : n;
}

static const struct object libtorch = {.name = "libtorch_cpu.so"};
static struct torch_functions torch_functions;

const char *pt2_jit_start(uintptr_t tensor, uint64_t cdata, uintptr_t other, uint64_t other_cdata, PyObject *types_function)
{
	if (!find_python())
		return "CPython's functions not found in the process";
	if (!torch_find(&libtorch, &torch_functions))
		return "libtorch's tensor functions not found";
	const size_t word = find_word(tensor, cdata);
	if (word == MAX_WORDS || word != find_word(other, other_cdata))
		return "cannot locate the tensor in its Python object";
	tensor_word = word;
	py.Py_IncRef(types_function);
	classify = types_function;
	ops_threads_init();
	return NULL;
}

/* ---- launches ---- */

static PyObject *launches;

void pt2_jit_launches(PyObject *launch)
{
	if (find_python() && !launches) {
		py.Py_IncRef(launch);
		launches = launch;
	}
}

static void read_launch(const char *text, struct jit_launch *l)
{
	int at = 0;
	*l = (struct jit_launch){0};
	if (sscanf(text, "%u %u %u %u %u%n", &l->grid[0], &l->grid[1], &l->grid[2], &l->block, &l->shared, &at) != 5)
		return;
	while (text[at] == '\n' && l->n < JIT_NUMBERS) {
		struct jit_number *k = &l->number[l->n];
		unsigned long long value;
		int more = 0;
		if (sscanf(text + at, "\n%63s %llu%n", k->name, &value, &more) != 2)
			return;
		k->value = value;
		at += more;
		l->n++;
	}
}

static bool launch_of(const struct jit_given *g, struct jit_launch *l)
{
	PyObject *type, *value, *trace;
	if (!launches)
		return false;
	py.PyErr_Fetch(&type, &value, &trace); /* the call may have raised one */
	PyObject *answer = py.PyObject_Vectorcall(launches, g->args, g->n, g->names);
	const char *text = answer ? py.PyBytes_AsString(answer) : NULL;
	l->block = 0;
	if (text)
		read_launch(text, l);
	else
		py.PyErr_Clear();
	if (answer)
		py.Py_DecRef(answer);
	py.PyErr_Restore(type, value, trace);
	return text && l->block;
}

static PyObject *precision;

void pt2_jit_precision(PyObject *callable)
{
	if (find_python() && !precision) {
		py.Py_IncRef(callable);
		precision = callable;
	}
}

/* A name of the log; 0: unknown. */
static uint32_t precision_now(void)
{
	PyObject *answer = precision ? py.PyObject_Vectorcall(precision, NULL, 0, NULL) : NULL;
	const char *text = answer ? py.PyBytes_AsString(answer) : NULL;
	const uint32_t name = text ? ops_name(slice_str(text)) : 0;
	if (!text && precision)
		py.PyErr_Clear();
	if (answer)
		py.Py_DecRef(answer);
	return name;
}

/* ---- graphs ---- */

struct graph {
	struct model model;
	PyObject *callable;
	struct ops_site *site; /* NULL: not watched (yet) */
	const uint32_t *given;
	uint64_t before; /* calls before it was armed */
};
static struct graph **graphs;
static uint32_t n_graphs;
static struct place {
	struct graph *graph;
	uint32_t call;
} * places;
static uint32_t n_places;

static bool grow_array(void *array, uint32_t *n, uint32_t to, size_t size)
{
	void *old, *new;
	if (to <= *n)
		return true;
	uint32_t room = to < 64 ? 64 : to + to / 2;
	memcpy(&old, array, sizeof(old));
	if (!(new = realloc(old, room * size)))
		return false;
	memset((char *)new + *n *size, 0, (room - *n) * size);
	memcpy(array, &new, sizeof(new));
	*n = room;
	return true;
}

static struct graph *graph_at(uint32_t i)
{
	if (i >= MAX_GRAPHS || !grow_array(&graphs, &n_graphs, i + 1, sizeof(struct graph *)))
		return NULL;
	if (!graphs[i])
		graphs[i] = calloc(1, sizeof(struct graph));
	return graphs[i];
}

static void tell_seen(uint32_t id, const char *graph, const char *path, const char *table)
{
	struct buf b = {0};
	struct json_out o;
	event_begin(&o, &b, LIVE_MODEL_SEEN, id);
	json_member_str(&o, "path", slice_str(path));
	json_member_str(&o, "graph", slice_str(graph));
	json_member_some(&o, "table", slice_str(table));
	event_end(&o, &b);
}

void pt2_jit_seen(const char *graph, const char *path) { tell_seen(LIVE_NO_MODEL, graph, path, ""); }

void pt2_jit_aside(const char *text) { event_aside(LIVE_NO_MODEL, text); }

void pt2_jit_end(void) { cuda_scan_end(); }

/* The contract, for the tool. */
static bool write_table(uint32_t id, const struct jit_table *t, char *path, size_t room)
{
	char name[64];
	snprintf(name, sizeof(name), LIVE_FILE_TABLE, (unsigned)getpid(), id);
	if (!talk_path(path, room, name))
		return false;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	bool done = !talk_write(fd, t->text, t->size);
	return !close(fd) && done;
}

static bool take_sites(struct graph *g, const struct jit_table *t)
{
	struct ops_site *site = calloc(t->n + 1, sizeof(*site));
	uint32_t *given = calloc(t->n + 1, sizeof(*given));
	const struct contract *c = &g->model.contract;
	if (!site || !given || !grow_array(&places, &n_places, t->first + t->n, sizeof(*places))) {
		free(site);
		free(given);
		return false;
	}
	memcpy(given, t->given, t->n * sizeof(*given));
	for (uint32_t i = 0; i < t->n; i++) {
		site[i] = (struct ops_site){
		    .target = g,
		    .model = &g->model,
		    .name = ops_text(g->model.ops->call_name[i]),
		    .kind = c->call[i].kind == CALL_KERNEL ? SITE_KERNEL : SITE_OP,
		    .name_id = g->model.ops->call_name[i],
		};
		places[t->first + i] = (struct place){g, i};
	}
	g->given = given;
	g->site = site;
	return true;
}

static const char *take_on(struct graph *g, const struct jit_table *t)
{
	struct model *m = &g->model;
	struct err err = {0};
	char table[300];
	void *room = malloc(4 * t->size + (1 << 20)); /* xmalloc would exit the process */
	free(room);
	if (!room)
		return "out of memory";
	*m = (struct model){.object = libtorch, .count = &m->own_count, .lock = PTHREAD_MUTEX_INITIALIZER, .torch = torch_functions};
	if (contract_from_json(&m->contract, slice_of(t->text, t->size), &err) < 0)
		return "cannot read its contract";
	m->has_contract = true;
	if (m->contract.n_calls != t->n)
		return "its contract has different calls";
	m->path = strdup(t->path);
	m->ops = calloc(1, sizeof(*m->ops));
	if (!m->path || !m->ops)
		return "out of memory";
	m->text = path_base(m->path);
	if (t->program && !(m->program = strdup(t->program)))
		return "out of memory";
	pthread_mutex_init(&m->ops->lock, NULL);
	void *p = torch_import(&m->object, probe_torch_name[TORCH_is_defined]);
	memcpy(&m->ops->is_defined, &p, sizeof(p));
	struct live_count *count = talk_slot(&m->id);
	if (count)
		m->count = count;
	m->ops->launched = OPS_SITES; /* a launch is a Python call, handled like an op (cuda_op) */
	if ((m->ops->cuda = m->contract.device > DEVICE_CPU))
		ops_open_device(m);
	if (!ops_take_contract(m))
		return "out of memory";
	if (!write_table(m->id, t, table, sizeof(table)))
		return "cannot write to the tool's folder";
	if (ops_want() & CALLS_RECORD)
		m->table = strdup(table);
	tell_seen(m->id, t->graph, t->path, table);
	return take_sites(g, t) ? NULL : "out of memory";
}

const char *pt2_jit_arm(uint32_t graph, const struct jit_table *t)
{
	struct graph *g = graph_at(graph);
	const char *why = NULL;
	int saved = errno;
	if (!g || g->site || !tensor_word || t->first + t->n > MAX_SITES || t->first + t->n < t->first || !probe_enter())
		return g && g->site ? NULL : "too many graphs loaded";
	struct calls_log *log = ops_log_open();
	const bool wanted = log && (!log->config.graph[0] ||
				    (memchr(log->config.graph, 0, sizeof(log->config.graph)) && !fnmatch(log->config.graph, t->graph, 0)));
	if (wanted)
		why = take_on(g, t);
	probe_leave();
	errno = saved;
	return why;
}

/* ---- the addresses of tensors ---- */

static void *(*address_of)(PyObject *o);

static void *our_address_of(PyObject *o) { return guard_address(ops_thread_if_any(), handle_of(o), address_of(o)); }

uintptr_t pt2_jit_address(uintptr_t theirs)
{
	if (!theirs || theirs == (uintptr_t)our_address_of || !(ops_want() & CALLS_BOUNDS))
		return 0;
	memcpy(&address_of, &theirs, sizeof(theirs));
	return (uintptr_t)our_address_of;
}

/* ---- calls ---- */

struct leaves {
	struct ops_thread *t;
	const struct ops_run *run;
	const struct ops_open *o;
	uint32_t at;   /* how many so far, tensors or not */
	uint32_t from; /* contract argument of the first one; NONE: unknown */
	enum call_role role;
};

static void add_leaves(struct leaves *l, PyObject *o, int depth)
{
	const enum jit_type what = type_of(o);
	if (what == JIT_TENSOR) {
		ops_add_handle(l->t, l->run, l->o, l->from == NONE ? NONE : l->from + l->at, l->role, handle_of(o));
	} else if (what != JIT_OTHER && depth < MAX_DEPTH) {
		const bool list = what == JIT_LIST;
		const intptr_t n = list ? py.PyList_Size(o) : py.PyTuple_Size(o);
		for (intptr_t i = 0; i < n && l->at < MAX_LEAVES; i++)
			add_leaves(l, list ? py.PyList_GetItem(o, i) : py.PyTuple_GetItem(o, i), depth + 1);
		return;
	}
	l->at++;
}

/* Their number. */
static uint32_t count_leaves(PyObject *o, int depth)
{
	const enum jit_type what = type_of(o);
	uint32_t n = 0;
	if (what <= JIT_TENSOR || depth >= MAX_DEPTH)
		return 1;
	const bool list = what == JIT_LIST;
	const intptr_t size = list ? py.PyList_Size(o) : py.PyTuple_Size(o);
	for (intptr_t i = 0; i < size && n < MAX_LEAVES; i++)
		n += count_leaves(list ? py.PyList_GetItem(o, i) : py.PyTuple_GetItem(o, i), depth + 1);
	return n;
}

struct given {
	PyObject *callee, *const *args;
	uint32_t n; /* including named ones */
	uint32_t expected;
	struct jit_given all;
};

/* If a list has a different length than in the text, its items cannot be matched: any may have been written. */
static void read_given(struct ops_thread *t, const struct ops_run *run, const struct ops_open *o, const struct given *g)
{
	struct leaves l = {.t = t, .run = run, .o = o, .role = CALL_ROLE_IN};
	const bool self = g->expected & JIT_SELF;
	uint32_t n = self;
	for (uint32_t i = 0; i < g->n; i++)
		n += count_leaves(g->args[i], 0);
	if (n != (g->expected & ~JIT_SELF)) {
		l.from = NONE;
		l.role = CALL_ROLE_INOUT;
	}
	ops_begin_values(t, o);
	PyObject *of = self ? py.PyObject_GetAttrString(g->callee, "__self__") : NULL;
	if (of) {
		add_leaves(&l, of, 0);
		py.Py_DecRef(of); /* the callee holds a reference, too */
	} else if (self) {
		py.PyErr_Clear();
		l.at++;
	}
	for (uint32_t i = 0; i < g->n; i++)
		add_leaves(&l, g->args[i], 0);
}

static void read_result(struct ops_thread *t, const struct ops_run *run, const struct ops_open *o, const struct given *g, PyObject *result)
{
	struct leaves l = {.t = t, .run = run, .o = o, .from = g->expected & ~JIT_SELF, .role = CALL_ROLE_OUT};
	/* A kernel returns nothing, and mm(out=) returns its out again. */
	uint32_t more = run->model->contract.call[o->contract_call].n_args;
	if (more > l.from)
		add_leaves(&l, result, 0);
}

static struct ops_open *begin_call(struct ops_thread *t, struct ops_run *run, const struct graph *graph, uint32_t call,
				   const struct given *g, uintptr_t sp)
{
	struct ops_open *o = ops_enter(t, run, &graph->site[call], call, sp);
	if (!o)
		return o;
	if (UNLIKELY(run->model->ops->cuda) && !ops_on_cpu(o->site)) {
		o->given = &g->all;
		cuda_op(run->model, &o->launch);
		o->looked &= !o->launch.captured || ops_want() & CALLS_SCAN;
	}
	if (o->looked)
		read_given(t, run, o, g);
	if (UNLIKELY(o->launch.gpu)) {
		if (o->looked)
			cuda_check(t, run, o);
		ops_device_before(t, run, o);
	} else if (o->looked) {
		ops_values_before(t, run, o);
		if (UNLIKELY(guard_wants(ops_on_cpu(o->site))))
			guard_before(t, run, o, NULL, NULL);
		o->begun = ops_now();
	}
	return o;
}

static void end_call(struct ops_thread *t, struct ops_run *run, struct ops_open *o, const struct given *g, PyObject *result)
{
	if (UNLIKELY(guard_on()) && o->looked)
		guard_after(t, run, o, NULL);
	ops_leave(t, run, o, result != NULL);
	if (o->looked && UNLIKELY(t->values_of != o->seq)) /* a run inside it used the same buffers */
		read_given(t, run, o, g);
	if (o->looked && result)
		read_result(t, run, o, g, result);
	if (UNLIKELY(guard_on()) && o->looked && result && !ops_on_cpu(o->site))
		guard_op(t, run);
	if (UNLIKELY(o->launch.gpu))
		ops_device_after(t, run, o, !result);
	else if (o->looked && result)
		ops_values_after(t, run, o);
}

void jit_raise(const char *text)
{
	if (find_python())
		py.PyErr_SetString(*py.PyExc_RuntimeError, text ? text : "a kernel wrote NaN");
}

static PyObject *raise_failure(struct ops_run *run, PyObject *result)
{
	const char *text = model_refusal(run->model);
	run->failed = false;
	atomic_fetch_add_explicit(&run->model->count->failed, 1, memory_order_relaxed);
	py.Py_DecRef(result);
	jit_raise(text);
	return NULL;
}

/* _pt2_call(number, callee, *args, **names) */
static PyObject *call_site(PyObject *self, PyObject *const *args, intptr_t n, PyObject *names)
{
	(void)self;
	const uint32_t number = (uint32_t)py.PyLong_AsLong(args[0]);
	const struct place *p = number < n_places && places[number].graph ? &places[number] : NULL;
	struct ops_thread *t = p ? ops_thread() : NULL;
	if (!t || !t->depth || !probe_enter())
		return py.PyObject_Vectorcall(args[1], args + 2, (size_t)n - 2, names);
	const int saved = errno;
	const struct graph *graph = p->graph;
	const uint32_t call = p->call;
	const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	const struct given g = {args[1],
				args + 2,
				(uint32_t)(n - 2 + (names ? py.PyTuple_Size(names) : 0)),
				graph->given[call],
				{args + 1, (size_t)n - 1, names, launch_of}};
	struct ops_run *run = ops_run_at(t, sp);
	const bool watched = t->depth && run->model == &graph->model && run->watched;
	struct ops_open *o = watched ? begin_call(t, run, graph, call, &g, sp) : NULL;
	probe_leave();
	errno = saved;
	PyObject *result = py.PyObject_Vectorcall(args[1], args + 2, (size_t)n - 2, names);
	if (!o || !probe_enter())
		return result;
	const int after = errno;
	if (LIKELY(o->used))
		end_call(t, run, o, &g, result);
	probe_leave();
	if (UNLIKELY(run->failed && result))
		result = raise_failure(run, result);
	errno = after;
	return result;
}

#define MAX_HANDLES 4096

/* The tensors of a list or tuple, by position; NULL for other items. */
static size_t handles_of(PyObject *o, void **handle)
{
	const enum jit_type what = type_of(o);
	const bool list = what == JIT_LIST;
	if (what == JIT_TENSOR) {
		handle[0] = handle_of(o);
		return 1;
	}
	const intptr_t n = list ? py.PyList_Size(o) : what == JIT_TUPLE ? py.PyTuple_Size(o) : 0;
	intptr_t i = 0;
	for (; i < n && i < MAX_HANDLES; i++) {
		PyObject *item = list ? py.PyList_GetItem(o, i) : py.PyTuple_GetItem(o, i);
		handle[i] = type_of(item) == JIT_TENSOR ? handle_of(item) : NULL;
	}
	return (size_t)i;
}

/* Reads the sizes in such a list (items other than tensors), as numbers. */
static void numbers_of(PyObject *o, void *const *handle, size_t n, int64_t *number)
{
	const enum jit_type what = type_of(o);
	for (size_t i = 0; i < n; i++) {
		number[i] = OPS_NO_NUMBER;
		if (handle[i] || what <= JIT_TENSOR)
			continue;
		const long v = py.PyLong_AsLong(what == JIT_LIST ? py.PyList_GetItem(o, (intptr_t)i) : py.PyTuple_GetItem(o, (intptr_t)i));
		if (v == -1 && py.PyErr_Occurred())
			py.PyErr_Clear();
		else
			number[i] = v;
	}
}

/* Where a graph's inputs and outputs may be read; NULL if that is not requested. */
static void *stream_now(const struct model *m, const void *wanted)
{
	struct cuda_launch l = {0};
	if (wanted && UNLIKELY(m->ops->cuda))
		cuda_op(m, &l);
	return l.stream;
}

/* call(args) of a graph */
static PyObject *call_graph(PyObject *self, PyObject *const *args, intptr_t n, PyObject *names)
{
	struct graph *g = graphs[(uint32_t)py.PyLong_AsLong(self)];
	if (UNLIKELY(!g->site)) {
		g->before++;
		return py.PyObject_Vectorcall(g->callable, args, (size_t)n, names);
	}
	struct model *m = &g->model;
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const bool looked = ops_want() & (CALLS_INPUTS | CALLS_RECORD);
	void **handle = looked ? malloc(MAX_HANDLES * sizeof(*handle)) : NULL;
	size_t n_handles = handle && n ? handles_of(args[0], handle) : 0;
	int64_t *numbers = handle && ops_want() & CALLS_RECORD ? malloc((n_handles + 1) * sizeof(*numbers)) : NULL;
	struct ops_thread *t = numbers ? ops_thread() : NULL;
	if (t) {
		numbers_of(args[0], handle, n_handles, numbers);
		t->number = numbers;
	}
	if (ops_want() & CALLS_SAVE && (t = ops_thread()))
		t->precision = precision_now();
	uint64_t number = atomic_fetch_add_explicit(&m->count->calls, 1, memory_order_relaxed);
	ops_run_begin(m, here, (uint32_t)number, jit_step((uint32_t)number), handle, n_handles, stream_now(m, handle));
	if (t)
		t->number = NULL, t->precision = 0;
	free(numbers);
	PyObject *result = py.PyObject_Vectorcall(g->callable, args, (size_t)n, names);
	n_handles = handle && result ? handles_of(result, handle) : 0;
	ops_run_end(m, here, result ? 0 : CALLS_NOT_RETURNED, handle, n_handles, stream_now(m, handle));
	free(handle);
	return result;
}

PyObject *pt2_jit_call(void)
{
	static struct method m = {"_pt2_call", call_site, FASTCALL_KEYWORDS, "a call of a kernel or operator, watched by pt2utils"};
	return find_python() ? py.PyCFunction_NewEx(&m, NULL, NULL) : NULL;
}

PyObject *pt2_jit_graph(uint32_t graph, PyObject *callable)
{
	static struct method m = {"call", call_graph, FASTCALL_KEYWORDS, "a graph of torch.compile, watched by pt2utils"};
	struct graph *g = find_python() ? graph_at(graph) : NULL;
	PyObject *number = g ? py.PyLong_FromLong((long)graph) : NULL;
	if (!number) {
		py.Py_IncRef(callable);
		return callable;
	}
	py.Py_IncRef(callable);
	g->callable = callable;
	PyObject *f = py.PyCFunction_NewEx(&m, number, NULL);
	py.Py_DecRef(number);
	return f;
}
