#include "watch/ima.h"

#include "base/json.h"
#include "base/tool/diag.h"
#include "watch/live.h"

#include <inttypes.h>

#define MAX_EVENTS 4096
#define MAX_PARAMS 1024

/* ---- reading ---- */

struct reader {
	struct json_tape t;
	struct arena *a;
};

static int index_of(const struct reader *r, uint32_t k, const char *key)
{
	uint64_t n = json_count(&r->t, k, key, UINT64_MAX);
	return n < 4096 ? (int)n : -1;
}

/* "0x7f00" */
static uint64_t hex_of(struct reader *r, uint32_t k, const char *key)
{
	uint64_t n = 0;
	struct slice s = json_word(&r->t, k, key);
	if (s.n < 3 || s.n > 18 || s.p[0] != '0' || s.p[1] != 'x')
		return IMA_NONE;
	for (size_t i = 2; i < s.n; i++) {
		char c = s.p[i];
		int d = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
		if (d < 0)
			return IMA_NONE;
		n = n << 4 | (unsigned)d;
	}
	return n;
}

static void three_of(const struct reader *r, uint32_t k, const char *key, uint64_t to[3])
{
	int64_t v[3];
	if (json_ints(&r->t, k, key, v, 3) == 3)
		for (int i = 0; i < 3; i++)
			to[i] = v[i] > 0 ? (uint64_t)v[i] : 0;
}

static void read_param(struct reader *r, uint32_t k, struct ima_param *p)
{
	int64_t strides[IMA_DIMS];
	*p = (struct ima_param){.arg = NONE, .n_dim = -1};
	uint64_t size = json_count(&r->t, k, "size", 0);
	p->size = size < 4096 ? (uint32_t)size : 0;
	p->value = hex_of(r, k, "value");
	p->text = json_dup(&r->t, k, "name", r->a);
	p->role = json_dup(&r->t, k, "role", r->a);
	p->tensor = p->role.n != 0;
	p->buffer = json_dup(&r->t, k, "buffer", r->a);
	p->arg = json_index(&r->t, k, "arg", NONE);
	p->dtype = json_dup(&r->t, k, "dtype", r->a);
	p->on = json_dup(&r->t, k, "on", r->a);
	p->on_index = index_of(r, k, "on_index");
	int n = json_ints(&r->t, k, "sizes", p->dim, IMA_DIMS);
	if (n >= 0 && json_ints(&r->t, k, "strides", strides, IMA_DIMS) == n) {
		p->n_dim = n;
		memcpy(p->stride, strides, sizeof(p->stride[0]) * (size_t)n);
	}
	p->address = hex_of(r, k, "address");
	p->extent = json_count(&r->t, k, "extent", IMA_NONE);
	p->storage = json_count(&r->t, k, "storage", IMA_NONE);
	p->base = hex_of(r, k, "base");
	p->allocation = p->base == IMA_NONE ? 0 : json_count(&r->t, k, "allocation", 0);
	if (!p->tensor && p->address == IMA_NONE)
		p->address = p->value;
}

static void read_params(struct reader *r, uint32_t root, struct ima_event *e)
{
	uint32_t list = json_get(&r->t, root, "params"), n = json_length(&r->t, list);
	n = n < MAX_PARAMS ? n : MAX_PARAMS;
	e->p = arena_alloc(r->a, (n + 1) * sizeof(*e->p));
	for (uint32_t k = json_first(&r->t, list); e->n < n; k = json_next(&r->t, k))
		read_param(r, k, &e->p[e->n++]);
}

static void read_event(struct ima *to, struct reader *r, const struct live_event *ev)
{
	struct ima_event *e = &PUSH_TO(to->v, to->n, to->cap);
	const uint32_t root = ev->root;
	*e = (struct ima_event){.fault = ev->kind == LIVE_DEVICE_FAULT,
				.model = ev->model,
				.pid = (uint32_t)ev->pid,
				.tid = (uint32_t)ev->tid,
				.rank = ev->rank};
	e->when = json_dup(&r->t, root, "when", r->a);
	e->error = json_dup(&r->t, root, "error", r->a);
	e->text = json_dup(&r->t, root, "text", r->a);
	e->kernel = json_dup(&r->t, root, "kernel", r->a);
	e->what = json_dup(&r->t, root, "what", r->a);
	e->code = json_count(&r->t, root, "code", 0);
	e->seq = json_count(&r->t, root, "seq", 0);
	e->stream = hex_of(r, root, "stream");
	e->run = json_index(&r->t, root, "run", NONE);
	e->call = json_index(&r->t, root, "call", NONE);
	e->contract_call = json_index(&r->t, root, "contract_call", NONE);
	e->param = json_index(&r->t, root, "param", NONE);
	e->device = index_of(r, root, "device");
	e->launch = json_get(&r->t, root, "grid") != NONE;
	three_of(r, root, "grid", e->grid);
	three_of(r, root, "block", e->block);
	e->shared = json_count(&r->t, root, "shared", 0);
	e->function = json_dup(&r->t, root, "function", r->a);
	e->graph = json_count(&r->t, root, "graph", 0);
	e->replay = json_count(&r->t, root, "replay", 0);
	e->captured = json_count(&r->t, root, "captured", 0);
	if (e->graph)
		e->in_graph = json_dup_list(&r->t, json_get(&r->t, root, "kernels"), MAX_PARAMS, &e->n_in_graph, r->a);
	if (e->fault) {
		read_params(r, root, e);
	} else {
		e->p = arena_alloc(r->a, sizeof(*e->p));
		read_param(r, root, e->p);
		e->n = 1;
	}
}

void ima_read(struct ima *to, struct slice lines)
{
	struct reader r = {.a = &to->arena};
	struct slice line;
	struct live_event ev;
	while (slice_line(&lines, &line) && to->n < MAX_EVENTS)
		if (live_event_parse(&ev, &r.t, line) && (ev.kind == LIVE_DEVICE_FAULT || ev.kind == LIVE_DEVICE_FINDING))
			read_event(to, &r, &ev);
	json_tape_release(&r.t);
}

void ima_release(struct ima *r)
{
	free(r->v);
	arena_release(&r->arena);
	*r = (struct ima){0};
}

/* ---- numbers ---- */

static const struct contract_call *call_of(const struct ima_event *e, const struct contract *c)
{
	return c && e->contract_call < c->n_calls ? &c->call[e->contract_call] : NULL;
}

/* Between two tensors, the program's call has as many numbers as the launch, except those that Triton specializes (1). After
 * the last one there are up to two scratch pointers. */
static void name_between(struct ima_event *e, const struct contract *c, const struct contract_call *k, uint32_t from, uint32_t to,
			 uint32_t arg, uint32_t args)
{
	uint32_t n = to - from, more = to == e->n ? 2 : 0;
	if (args > k->n_args || arg > args || n < args - arg || n > args - arg + more)
		return;
	for (uint32_t i = 0; i < args - arg; i++) {
		struct slice text = c->arg[k->arg + arg + i].text;
		/* triton_poi_fused_add_0_xnumel */
		if (text.n > e->kernel.n + 1 && e->kernel.n && !memcmp(text.p, e->kernel.p, e->kernel.n) && text.p[e->kernel.n] == '_')
			text = slice_of(text.p + e->kernel.n + 1, text.n - e->kernel.n - 1);
		e->p[from + i].text = text;
	}
}

void ima_name_numbers(struct ima_event *e, const struct contract *c)
{
	const struct contract_call *k = call_of(e, c);
	uint32_t from = 0, arg = 0;
	if (!k || !e->launch)
		return;
	for (uint32_t i = 0; i < e->n; i++)
		if (e->p[i].text.n) /* Python's own names */
			return;
	for (uint32_t i = 0; i < e->n; i++) {
		if (!e->p[i].tensor || e->p[i].arg >= k->n_args)
			continue;
		name_between(e, c, k, from, i, arg, e->p[i].arg);
		from = i + 1;
		arg = e->p[i].arg + 1;
	}
	name_between(e, c, k, from, e->n, arg, k->n_args);
}

/* The product of xnumel, ynumel and znumel; 0 if there are none. */
static uint64_t told_elements(const struct ima_event *e, struct buf *how)
{
	static const char *const names[] = {"xnumel", "ynumel", "znumel"};
	uint64_t n = 0;
	for (uint32_t i = 0; i < e->n; i++)
		for (size_t k = 0; k < ARRAY_LEN(names) && !e->p[i].tensor; k++) {
			uint64_t v = e->p[i].value;
			if (!slice_ends(e->p[i].text, names[k]) || v == IMA_NONE || v > UINT32_MAX)
				continue;
			n = (n ? n : 1) * v;
			buf_addf(how, "%s%s %" PRIu64, how->len ? ", " : "", names[k], v);
		}
	return n;
}

/* ---- judging ---- */

uint64_t ima_room(const struct ima_param *p)
{
	if (!p->allocation || p->address == IMA_NONE || p->address < p->base || p->address - p->base > p->allocation)
		return IMA_NONE;
	const uint64_t room = p->allocation - (p->address - p->base);
	return p->storage != IMA_NONE && p->storage > room ? IMA_NONE : room;
}

void ima_param_name(const struct ima_event *e, uint32_t i, struct buf *b)
{
	const struct ima_param *p = &e->p[i];
	if (p->buffer.n)
		buf_add_slice(b, p->buffer);
	else if (p->text.n)
		buf_add_slice(b, p->text);
	else
		buf_addf(b, "parameter %u", e->fault ? i : e->param);
}

const char *ima_what(struct slice what)
{
	if (slice_is(what, "host-pointer"))
		return "is in host memory that this GPU cannot access";
	if (slice_is(what, "other-device"))
		return "is on a different GPU than the kernel";
	if (slice_is(what, "walks-outside"))
		return "has sizes and strides that reach past its storage";
	return "";
}

static bool written(const struct ima_param *p) { return slice_is(p->role, "out") || slice_is(p->role, "inout"); }

static bool integers(const struct ima_param *p)
{
	int d = (int)dtype_by_name(p->dtype);
	return d == DTYPE_I64 || d == DTYPE_I32;
}

static uint64_t bytes_of(const struct ima_param *p)
{
	const struct dtype_info *d = dtype_info((int)dtype_by_name(p->dtype));
	return d && d->bytes > 0 ? (uint64_t)d->bytes : 0;
}

static bool numel_of(const struct ima_param *p, uint64_t *n)
{
	*n = 1;
	for (int d = 0; d < p->n_dim; d++)
		if (p->dim[d] < 0 || __builtin_mul_overflow(*n, (uint64_t)p->dim[d], n))
			return false;
	return p->n_dim >= 0;
}

/* More elements are written than it has. A kernel with indices (a scatter into a small tensor) may write more often than there are
 * elements: it modifies the tensor. */
static enum ima_why judge_number(const struct ima_event *e, uint32_t i, uint64_t told, const char *how, struct buf *b, bool *certain)
{
	const struct ima_param *p = &e->p[i];
	const uint64_t room = ima_room(p), each = bytes_of(p), most = p->storage != IMA_NONE ? p->storage : room;
	uint64_t numel, reach;
	if (!told || !each || !written(p) || !numel_of(p, &numel) || told <= numel || __builtin_mul_overflow(told, each, &reach))
		return IMA_WHY_N;
	const bool beyond = most != IMA_NONE && reach > most;
	buf_addf(b, " has %" PRIu64 " elements, the kernel was asked to write %" PRIu64 " (%s)%s%s", numel, told, how,
		 beyond ? ": past the end of its " : "",
		 !beyond                  ? ""
		 : p->storage != IMA_NONE ? "storage"
					  : "allocation");
	*certain = slice_is(p->role, "out") && p->storage != IMA_NONE && beyond;
	return IMA_TOO_MANY;
}

/* Does the driver know allocations at all? It may not know those of a pool (cudaMallocAsync). */
static bool answered(const struct ima_event *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (e->p[i].allocation)
			return true;
	return false;
}

/* IMA_WHY_N: nothing wrong with it is known. */
static enum ima_why judge_tensor(const struct ima_event *e, uint32_t i, uint64_t told, const char *how, struct buf *b, bool *certain)
{
	const struct ima_param *p = &e->p[i];
	const uint64_t room = ima_room(p);
	ima_param_name(e, i, b);
	*certain = true;
	/* The driver knows pinned memory, which a kernel may use. */
	if (slice_is(p->on, "cpu") && p->allocation)
		return IMA_WHY_N;
	if (slice_is(p->on, "cpu")) {
		buf_addf(b, " is in host memory, at 0x%" PRIx64, p->address);
		return IMA_ON_HOST;
	}
	if (slice_is(p->on, "cuda") && p->on_index >= 0 && e->device >= 0 && p->on_index != e->device) {
		buf_addf(b, " is on cuda:%d, the kernel runs on cuda:%d", p->on_index, e->device);
		return IMA_OTHER_DEVICE;
	}
	if (p->extent != IMA_NONE && p->storage != IMA_NONE && p->extent > p->storage) {
		buf_addf(b, " reaches %" PRIu64 " bytes past its storage: sizes and strides need %" PRIu64 " bytes, it has %" PRIu64,
			 p->extent - p->storage, p->extent, p->storage);
		return IMA_BEYOND_STORAGE;
	}
	*certain = false;
	if (p->extent != IMA_NONE && p->storage == IMA_NONE && room != IMA_NONE && p->extent > room) {
		buf_addf(b, " reaches %" PRIu64 " bytes past its allocation: sizes and strides need %" PRIu64 " bytes, it has %" PRIu64,
			 p->extent - room, p->extent, room);
		return IMA_BEYOND_ALLOCATION;
	}
	if (p->extent && p->extent != IMA_NONE && !p->allocation && slice_is(p->on, "cuda") && answered(e)) {
		buf_addf(b, " is in no allocation known to the driver (0x%" PRIx64 "): freed?", p->address);
		return IMA_NO_ALLOCATION;
	}
	return judge_number(e, i, told, how, b, certain);
}

static void suspect(struct ima *r, struct ima_event *e, uint32_t param, enum ima_why why, bool certain, const struct buf *text)
{
	e->suspect[e->n_suspects++] = (struct ima_suspect){param, why, certain, arena_slice(&r->arena, buf_slice(text))};
}

static bool is_suspect(const struct ima_event *e, uint32_t param)
{
	for (uint32_t i = 0; i < e->n_suspects; i++)
		if (e->suspect[i].param == param)
			return true;
	return false;
}

void ima_judge(struct ima *r, struct ima_event *e)
{
	struct buf how = {0}, b = {0};
	const uint64_t told = told_elements(e, &how);
	bool certain, any = false;
	e->suspect = arena_alloc(&r->arena, (e->n + 1) * sizeof(*e->suspect));
	e->n_suspects = 0;
	for (uint32_t i = 0; i < e->n; i++) {
		buf_reset(&b);
		enum ima_why why = e->p[i].tensor ? judge_tensor(e, i, told, buf_str(&how), &b, &certain) : IMA_WHY_N;
		if (why == IMA_WHY_N)
			continue;
		suspect(r, e, i, why, certain, &b);
		any |= certain;
	}
	for (uint32_t i = 0; i < e->n && !any; i++)
		if (e->p[i].tensor && !slice_is(e->p[i].role, "out") && integers(&e->p[i]) && !is_suspect(e, i)) {
			buf_reset(&b);
			ima_param_name(e, i, &b);
			buf_adds(&b, " holds integers: an index read from it may be out of bounds");
			suspect(r, e, i, IMA_INDEX, false, &b);
		}
	buf_release(&how);
	buf_release(&b);
}

const char *ima_why_name(enum ima_why why)
{
#define IMA_TEXT(id, name) name,
	static const char *const names[] = {IMA_WHYS(IMA_TEXT)};
#undef IMA_TEXT
	return why < IMA_WHY_N ? names[why] : "";
}

static void add_fault(struct buf *b, const struct ima_event *e)
{
	const bool refused = slice_is(e->when, "launch");
	buf_adds(b, "a GPU error stopped the run: ");
	buf_add_clean(b, e->text.n ? e->text : SLICE("unknown error"));
	if (e->error.n) {
		buf_adds(b, " (");
		buf_add_clean(b, e->error);
		buf_adds(b, ")");
	}
	if (e->kernel.n) {
		buf_adds(b, refused ? ", when " : ", seen at ");
		buf_add_clean(b, e->kernel);
		if (e->call != NONE)
			buf_addf(b, " (call %u)", e->call);
		buf_adds(b, refused ? " was launched" : "; caused by that kernel or an earlier one");
	}
	buf_adds(b, "; nothing after it was checked. To find the kernel and the reason, run: aoti-printer --ima -- COMMAND (or --ima "
		    "--torch MODEL.pt2 "
		    "INPUT...)");
}

static void add_finding(struct buf *b, const struct ima_event *e)
{
	struct buf name = {0};
	buf_add_clean(b, e->kernel);
	if (e->call != NONE)
		buf_addf(b, " (call %u)", e->call);
	buf_adds(b, ": ");
	ima_param_name(e, 0, &name);
	buf_add_clean(b, buf_slice(&name));
	buf_addf(b, " %s", ima_what(e->what));
	buf_release(&name);
}

void ima_sentences(struct slice events, struct buf *b)
{
	struct ima r = {0};
	ima_read(&r, events);
	for (size_t i = 0; i < r.n; i++) {
		r.v[i].fault ? add_fault(b, &r.v[i]) : add_finding(b, &r.v[i]);
		buf_addc(b, '\n');
	}
	ima_release(&r);
}

void ima_warn(struct slice events)
{
	struct buf b = {0};
	ima_sentences(events, &b);
	warn_lines(buf_slice(&b));
	buf_release(&b);
}

bool ima_failure(struct slice events, struct buf *b)
{
	struct ima r = {0};
	bool any = false;
	ima_read(&r, events);
	for (size_t i = 0; i < r.n && !any; i++)
		if ((any = r.v[i].fault))
			add_fault(b, &r.v[i]);
	ima_release(&r);
	return any;
}

int ima_status(struct slice events, int status)
{
	struct buf b = {0};
	bool failed = ima_failure(events, &b);
	buf_release(&b);
	return failed && status == EXIT_FINE ? EXIT_INPUT : status;
}
