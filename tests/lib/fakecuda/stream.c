/* Streams, launches, events, graphs. A device has one queue; what the default stream and all that wait for it have is done in the order of
 * issue, each other stream's by itself. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { CU_STREAM_NON_BLOCKING = 1, MAX_WAITING = 4096, CAPTURE_GLOBAL = 0, CAPTURE_THREAD_LOCAL = 1, CAPTURE_RELAXED = 2 };

static struct event *events;
static struct graph *graphs;
static uint64_t launches, captures, orders;
static _Thread_local int capture_mode; /* what cuThreadExchangeStreamCaptureMode sets */

static void free_work(struct work *w)
{
	free(w->name);
	free(w->data);
	free(w);
}

/* ---- kernels ---- */

struct inner {
	struct device *d;
	struct range *last;
	jmp_buf out;
};

void *fakecuda_at(const struct fakecuda_kernel *k, uint64_t address, size_t bytes)
{
	struct inner *in = k->inner;
	struct range *r = in->last;
	if (!r || address - r->at >= r->room || bytes > r->room - (address - r->at))
		r = in->last = fake_range(in->d, address, bytes);
	if (!r)
		longjmp(in->out, 1);
	return r->data + (address - r->at);
}

static int run_kernel(struct device *d, struct work *w)
{
	void *arg[MAX_PARAMS];
	struct inner in = {.d = d};
	struct fakecuda_kernel k = {.name = w->name, .shared = w->shared, .arg = arg, .inner = &in};
	memcpy(k.grid, w->grid, sizeof(k.grid));
	memcpy(k.block, w->block, sizeof(k.block));
	for (uint32_t i = 0; i < w->n_params; i++)
		arg[i] = w->data + w->offset[i];
	if (w->text && !w->illegal)
		return fake_text_run(d, w);
	if (w->illegal || setjmp(in.out)) {
		fake_log("run %s: illegal access", w->name);
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	}
	w->fn(&k);
	fake_log("run %s", w->name);
	return CUDA_SUCCESS;
}

/* ---- the queue ---- */

static int nothing(struct device *d, struct work *w) { return (void)d, (void)w, CUDA_SUCCESS; }

/* It is the next of its order. What it waits for was issued before it. */
static void do_work(struct device *d, struct work **at)
{
	struct work *w = *at;
	*at = w->next;
	if (d->end == &w->next)
		d->end = at;
	d->n_works--;
	if (w->after)
		fake_wait(d, w->after_order, w->after);
	if (!d->sticky)
		d->sticky = w->run(d, w);
	free_work(w);
}

int fake_wait(struct device *d, uint64_t order, uint64_t seq)
{
	struct work **at = &d->first;
	while (*at && (*at)->seq <= seq) {
		if (order != EVERY && (*at)->order != order) {
			at = &(*at)->next;
			continue;
		}
		do_work(d, at);
		at = &d->first; /* events may have taken others from the queue */
	}
	return d->sticky;
}

/* While somebody waited for one stream the others went on: the next work of one of them is done. */
static void go_on(struct device *d, uint64_t order)
{
	struct work **at = &d->first;
	while (*at && (*at)->order == order)
		at = &(*at)->next;
	if (*at)
		do_work(d, at);
}

static struct stream *stream_of(struct device *d, void *handle)
{
	if ((uintptr_t)handle <= 2) /* none, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD */
		return &d->legacy;
	for (struct stream *s = d->streams; s; s = s->next)
		if (s == handle)
			return s;
	return NULL;
}

static uint64_t thread_id(void) { return (uint64_t)pthread_self(); }

/* Somebody captures, in a mode that forbids this thread what would wait. */
static struct graph *forbids(struct device *d)
{
	for (struct stream *s = capture_mode == CAPTURE_RELAXED ? NULL : d->streams; s; s = s->next)
		if (s->capture &&
		    (s->capture->mode == CAPTURE_GLOBAL || (s->capture->mode == CAPTURE_THREAD_LOCAL && s->thread == thread_id())))
			return s->capture;
	return NULL;
}

/* The legacy stream waits for blocking streams, and therefore for their captures; the others (torch's) do not concern it. */
static struct graph *forbids_legacy(struct device *d)
{
	for (struct stream *s = forbids(d) ? d->streams : NULL; s; s = s->next)
		if (s->capture && !s->order)
			return s->capture;
	return NULL;
}

int fake_unsafe(struct device *d)
{
	struct graph *g = forbids(d);
	if (!g)
		return CUDA_SUCCESS;
	g->invalid = true;
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

int fake_captured(struct device *d)
{
	int rc = CUDA_SUCCESS;
	for (struct stream *s = d->streams; s; s = s->next)
		if (s->capture) {
			s->capture->invalid = true;
			rc = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
		}
	return rc;
}

static void append(struct graph *g, struct work *w)
{
	*g->end = w;
	g->end = &w->next;
}

static void enqueue(struct device *d, struct stream *s, struct work *w)
{
	w->seq = s->last = ++d->seq;
	w->order = s->order;
	w->next = NULL;
	*d->end = w;
	d->end = &w->next;
	if (w->is_kernel) {
		uint64_t at = 0;
		launches++;
		w->illegal = fake_fails("illegal", &at) && at == launches;
	}
	if (++d->n_works > MAX_WAITING || blocking)
		fake_wait(d, EVERY, d->seq);
}

int fake_issue(struct device *d, void *handle, struct work *w)
{
	struct stream *s = stream_of(d, handle);
	int rc = !s ? CUDA_ERROR_INVALID_HANDLE : s->capture && s->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
	if (!rc && s == &d->legacy && forbids_legacy(d)) {
		forbids_legacy(d)->invalid = true;
		rc = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	if (rc) {
		free_work(w);
		return rc;
	}
	if (s->capture)
		append(s->capture, w);
	else
		enqueue(d, s, w);
	return blocking ? d->sticky : CUDA_SUCCESS;
}

/* ---- launches ---- */

enum { END, BUFFER_POINTER, BUFFER_SIZE }; /* CU_LAUNCH_PARAM_ */

static int take_params(const struct function *f, struct work *w, void **params, void **extra)
{
	const char *buffer = NULL;
	size_t room = 0;
	w->n_params = f->n_params;
	for (uint32_t i = 0; i < f->n_params; i++)
		w->data_bytes = f->offset[i] + f->size[i] > w->data_bytes ? f->offset[i] + f->size[i] : w->data_bytes;
	memcpy(w->offset, f->offset, sizeof(w->offset));
	w->data = fake_alloc(w->data_bytes);
	for (size_t i = 0; extra && extra[i] != (void *)END; i += 2)
		if (extra[i] == (void *)BUFFER_POINTER)
			buffer = extra[i + 1];
		else if (extra[i] == (void *)BUFFER_SIZE)
			room = *(size_t *)extra[i + 1];
	if ((params != NULL) == (buffer != NULL) && f->n_params)
		return CUDA_ERROR_INVALID_VALUE;
	if (buffer)
		memcpy(w->data, buffer, room < w->data_bytes ? room : w->data_bytes);
	for (uint32_t i = 0; params && i < f->n_params; i++)
		memcpy(w->data + f->offset[i], params[i], f->size[i]);
	return CUDA_SUCCESS;
}

static int launch(struct device *d, struct function *f, const uint32_t size[7], void *stream, void **params, void **extra)
{
	uint64_t at = 0;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	for (int i = 0; i < 6; i++)
		if (!size[i])
			return CUDA_ERROR_INVALID_VALUE;
	if ((uint64_t)size[3] * size[4] * size[5] > 1024 || size[6] > (uint32_t)f->attribute[8])
		return CUDA_ERROR_INVALID_VALUE;
	if (fake_fails("launch", &at) && at == launches + 1)
		return d->sticky = CUDA_ERROR_LAUNCH_FAILED;
	struct work *w = fake_alloc(sizeof(*w));
	*w = (struct work){.run = run_kernel,
			   .name = strdup(f->name),
			   .fn = f->fn,
			   .text = f->text,
			   .data_at = f->data_at,
			   .shared = size[6],
			   .is_kernel = true};
	memcpy(w->grid, size, sizeof(w->grid));
	memcpy(w->block, size + 3, sizeof(w->block));
	int rc = take_params(f, w, params, extra);
	if (rc) {
		free_work(w);
		return rc;
	}
	return fake_issue(d, stream, w);
}

static int launch_call(const char *name, void *handle, const uint32_t size[7], void *stream, void **params, void **extra)
{
	struct device *d;
	int rc = fake_enter(&d);
	struct function *f = rc ? NULL : fake_function_of(d, handle);
	const char *kernel = f ? f->name : "?";
	rc = rc ? rc : launch(d, f, size, stream, params, extra);
	return fake_leave(rc, "%s %s grid %u,%u,%u block %u,%u,%u shared %u stream %p", name, kernel, size[0], size[1], size[2], size[3],
			  size[4], size[5], size[6], stream);
}

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
		   void **params, void **extra)
{
	return launch_call("cuLaunchKernel", f, (uint32_t[]){gx, gy, gz, bx, by, bz, shared}, stream, params, extra);
}

struct launch_config { /* CUlaunchConfig */
	uint32_t size[7];
	void *stream, *attribute;
	uint32_t n_attributes;
};

int cuLaunchKernelEx(const struct launch_config *c, void *f, void **params, void **extra)
{
	return launch_call("cuLaunchKernelEx", f, c->size, c->stream, params, extra);
}

int cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
			      void *stream, void **params)
{
	return launch_call("cuLaunchCooperativeKernel", f, (uint32_t[]){gx, gy, gz, bx, by, bz, shared}, stream, params, NULL);
}

/* Without a stream they are the thread's own. */
static void *own(void *stream) { return stream ? stream : (void *)2; }

int cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
			void *stream, void **params, void **extra)
{
	return launch_call("cuLaunchKernel_ptsz", f, (uint32_t[]){gx, gy, gz, bx, by, bz, shared}, own(stream), params, extra);
}

int cuLaunchKernelEx_ptsz(const struct launch_config *c, void *f, void **params, void **extra)
{
	return launch_call("cuLaunchKernelEx_ptsz", f, c->size, own(c->stream), params, extra);
}

int fakecuda_enqueue(void *stream, const char *name, fakecuda_fn *fn, const uint64_t *arg, size_t n)
{
	struct device *d;
	int rc = fake_enter(&d);
	if (!rc) {
		struct work *w = fake_alloc(sizeof(*w));
		*w = (struct work){.run = run_kernel, .name = strdup(name), .fn = fn, .grid = {1, 1, 1}, .block = {1, 1, 1}};
		w->n_params = (uint32_t)n;
		w->data = memcpy(fake_alloc(n * 8), arg, n * 8);
		for (uint32_t i = 0; i < n; i++)
			w->offset[i] = 8 * i;
		w->data_bytes = n * 8;
		rc = fake_issue(d, stream, w);
	}
	return fake_leave(rc, "fakecuda_enqueue %s %p", name, stream);
}

/* ---- streams ---- */

int cuStreamCreate(struct stream **out, unsigned flags)
{
	struct device *d;
	int rc = fake_enter(&d);
	if (!rc) {
		*out = fake_alloc(sizeof(**out));
		**out = (struct stream){.next = d->streams, .d = d, .order = flags & CU_STREAM_NON_BLOCKING ? ++orders : 0};
		d->streams = *out;
	}
	return fake_leave(rc, "cuStreamCreate %u %p", flags, rc ? NULL : (void *)*out);
}

int cuStreamCreateWithPriority(struct stream **out, unsigned flags, int priority) { return (void)priority, cuStreamCreate(out, flags); }

/* Of any device: a stream is its own context's. */
static int stream_call(void *handle, struct stream **s)
{
	struct device *d;
	int rc = fake_enter(&d);
	*s = NULL;
	if (rc)
		return rc;
	*s = stream_of(d, handle);
	for (int i = 0; i < n_devices && !*s; i++)
		*s = stream_of(&devices[i], handle);
	return *s ? (*s)->d->sticky : CUDA_ERROR_INVALID_HANDLE;
}

int cuStreamDestroy_v2(void *handle)
{
	struct stream *s;
	int rc = stream_call(handle, &s);
	if (!rc && s != &s->d->legacy) {
		rc = fake_wait(s->d, s->order, s->last);
		struct stream **at = &s->d->streams;
		while (*at != s)
			at = &(*at)->next;
		*at = s->next;
		free(s);
	}
	return fake_leave(rc, "cuStreamDestroy_v2 %p", handle);
}

static int stream_wait(const char *name, void *handle)
{
	struct stream *s;
	int rc = stream_call(handle, &s);
	rc = rc ? rc : fake_unsafe(s->d);
	if (!rc && s->capture) {
		s->capture->invalid = true;
		rc = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	if (!rc) {
		rc = fake_wait(s->d, s->order, s == &s->d->legacy ? s->d->seq : s->last);
		go_on(s->d, s->order);
	}
	return fake_leave(rc, "%s %p", name, handle);
}

int cuStreamSynchronize(void *handle) { return stream_wait("cuStreamSynchronize", handle); }
int cuStreamQuery(void *handle) { return stream_wait("cuStreamQuery", handle); }

int cuStreamGetCtx(void *handle, void **context)
{
	struct stream *s;
	int rc = stream_call(handle, &s);
	if (!rc)
		*context = s->d;
	return fake_leave(rc, "cuStreamGetCtx %p", handle);
}

/* ---- events ---- */

static struct event *event_of(struct event *e)
{
	struct event *k = events;
	while (k && k != e)
		k = k->next;
	return k;
}

static int event_call(struct event *e)
{
	struct device *d;
	int rc = fake_enter(&d);
	return rc ? rc : event_of(e) ? e->d->sticky : CUDA_ERROR_INVALID_HANDLE;
}

int cuEventCreate(struct event **out, unsigned flags)
{
	struct device *d;
	int rc = fake_enter(&d);
	if (!rc) {
		*out = fake_alloc(sizeof(**out));
		**out = (struct event){.next = events, .d = d};
		events = *out;
	}
	return fake_leave(rc, "cuEventCreate %u", flags);
}

int cuEventRecord(struct event *e, void *handle)
{
	int rc = event_call(e);
	struct stream *s = rc ? NULL : stream_of(e->d, handle);
	rc = rc || s ? rc : CUDA_ERROR_INVALID_HANDLE;
	if (!rc && !s->capture)
		*e = (struct event){.next = e->next, .d = e->d, .seq = s == &e->d->legacy ? e->d->seq : s->last, .order = s->order};
	return fake_leave(rc, "cuEventRecord %p", handle);
}

/* Of the same device: work that does nothing but wait. An event that nobody has recorded is no matter. */
int cuStreamWaitEvent(void *handle, struct event *e, unsigned flags)
{
	struct stream *s;
	int rc = stream_call(handle, &s);
	rc = rc || event_of(e) ? rc : CUDA_ERROR_INVALID_HANDLE;
	if (!rc && e->seq && e->d == s->d && !s->capture) {
		struct work *w = fake_alloc(sizeof(*w));
		*w = (struct work){.run = nothing, .after = e->seq, .after_order = e->order};
		enqueue(s->d, s, w);
	}
	return fake_leave(rc, "cuStreamWaitEvent %p %p %u", handle, (void *)e, flags);
}

int cuEventSynchronize(struct event *e)
{
	int rc = event_call(e);
	rc = rc ? rc : fake_unsafe(e->d);
	rc = rc ? rc : fake_wait(e->d, e->order, e->seq);
	return fake_leave(rc, "cuEventSynchronize");
}

/* Asked often enough a GPU is ready; this one is at once. */
int cuEventQuery(struct event *e)
{
	int rc = event_call(e);
	rc = rc ? rc : fake_unsafe(e->d);
	rc = rc ? rc : fake_wait(e->d, e->order, e->seq);
	return fake_leave(rc, "cuEventQuery");
}

/* A microsecond for each work that was issued between them. */
int cuEventElapsedTime(float *ms, struct event *a, struct event *b)
{
	int rc = event_call(a);
	rc = rc || event_of(b) ? rc : CUDA_ERROR_INVALID_HANDLE;
	if (!rc)
		*ms = 0.001f * (float)(b->seq - a->seq);
	return fake_leave(rc, "cuEventElapsedTime");
}

int cuEventDestroy_v2(struct event *e)
{
	int rc = event_call(e);
	struct event **at = &events;
	while (*at && *at != e)
		at = &(*at)->next;
	if (*at) {
		*at = e->next;
		free(e);
	}
	return fake_leave(rc, "cuEventDestroy_v2");
}

/* ---- capture and graphs ---- */

int cuThreadExchangeStreamCaptureMode(int *mode)
{
	int rc = fake_begin(), old = capture_mode;
	if (!rc && (*mode < 0 || *mode > 2))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (!rc) {
		capture_mode = *mode;
		*mode = old;
	}
	return fake_leave(rc, "cuThreadExchangeStreamCaptureMode %d", capture_mode);
}

int cuStreamIsCapturing(void *handle, int *status)
{
	struct stream *s;
	int rc = stream_call(handle, &s);
	if (!rc && s == &s->d->legacy && forbids_legacy(s->d))
		rc = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	if (!rc)
		*status = !s->capture ? 0 : s->capture->invalid ? 2 : 1;
	return fake_leave(rc, "cuStreamIsCapturing %p", handle);
}

int cuStreamGetCaptureInfo_v2(void *handle, int *status, uint64_t *id, struct graph **g, const void ***dependencies, size_t *n)
{
	struct stream *s;
	int rc = stream_call(handle, &s);
	if (!rc) {
		*status = !s->capture ? 0 : s->capture->invalid ? 2 : 1;
		if (id)
			*id = s->capture_id;
		if (g)
			*g = s->capture;
		if (dependencies)
			*dependencies = NULL;
		if (n)
			*n = 0;
	}
	return fake_leave(rc, "cuStreamGetCaptureInfo_v2 %p", handle);
}

static struct graph *new_graph(struct device *d, int mode)
{
	struct graph *g = fake_alloc(sizeof(*g));
	*g = (struct graph){.d = d, .mode = mode, .next = graphs};
	g->end = &g->first;
	graphs = g;
	return g;
}

int cuStreamBeginCapture_v2(void *handle, int mode)
{
	struct stream *s;
	int rc = stream_call(handle, &s);
	if (!rc && (s == &s->d->legacy || s->capture || mode < 0 || mode > 2))
		rc = s == &s->d->legacy ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_ERROR_INVALID_VALUE;
	if (!rc) {
		s->capture = new_graph(s->d, mode);
		s->capture_id = ++captures;
		s->thread = thread_id();
	}
	return fake_leave(rc, "cuStreamBeginCapture_v2 %p %d", handle, mode);
}

int cuStreamBeginCapture(void *handle) { return cuStreamBeginCapture_v2(handle, CAPTURE_GLOBAL); }

static void free_graph(struct graph *g)
{
	struct graph **at = &graphs;
	while (*at && *at != g)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = g->next;
	for (struct work *w = g->first, *next; w; w = next) {
		next = w->next;
		free_work(w);
	}
	free(g);
}

int cuStreamEndCapture(void *handle, struct graph **out)
{
	struct stream *s;
	int rc = stream_call(handle, &s);
	rc = rc || s->capture ? rc : CUDA_ERROR_INVALID_VALUE;
	*out = NULL;
	if (!rc) {
		struct graph *g = s->capture;
		s->capture = NULL;
		rc = g->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
		if (rc)
			free_graph(g);
		else
			*out = g;
	}
	return fake_leave(rc, "cuStreamEndCapture %p", handle);
}

static struct work *copy_of(const struct work *w)
{
	struct work *k = fake_alloc(sizeof(*k));
	*k = *w;
	k->next = NULL;
	k->name = w->name ? strdup(w->name) : NULL;
	k->data = w->data ? memcpy(fake_alloc(w->data_bytes), w->data, w->data_bytes) : NULL;
	return k;
}

static bool is_graph(const struct graph *g)
{
	const struct graph *k = graphs;
	while (k && k != g)
		k = k->next;
	return k != NULL;
}

int cuGraphInstantiateWithFlags(struct graph **out, struct graph *g, unsigned long long flags)
{
	struct device *d;
	int rc = fake_enter(&d);
	rc = rc || is_graph(g) ? rc : CUDA_ERROR_INVALID_VALUE;
	if (!rc) {
		*out = new_graph(g->d, 0);
		(*out)->executable = true;
		for (struct work *w = g->first; w; w = w->next)
			append(*out, copy_of(w));
	}
	return fake_leave(rc, "cuGraphInstantiateWithFlags %llu", flags);
}

struct instantiate_params { /* CUDA_GRAPH_INSTANTIATE_PARAMS */
	uint64_t flags;
	void *stream, *error_node;
	int result;
};

int cuGraphInstantiateWithParams(struct graph **out, struct graph *g, struct instantiate_params *p)
{
	return cuGraphInstantiateWithFlags(out, g, p->flags);
}

int cuGraphClone(struct graph **out, struct graph *g)
{
	int rc = cuGraphInstantiateWithFlags(out, g, 0);
	if (!rc)
		(*out)->executable = false;
	return rc;
}

int cuGraphCreate(struct graph **out, unsigned flags)
{
	struct device *d;
	int rc = fake_enter(&d);
	if (!rc)
		*out = new_graph(d, 0);
	return fake_leave(rc, "cuGraphCreate %u", flags);
}

int cuGraphAddChildGraphNode(void **node, struct graph *g, const void *after, size_t n, struct graph *child)
{
	struct device *d;
	int rc = fake_enter(&d);
	rc = rc || (is_graph(g) && is_graph(child) && !g->executable && !child->executable) ? rc : CUDA_ERROR_INVALID_VALUE;
	for (struct work *w = rc ? NULL : child->first; w; w = w->next)
		append(g, copy_of(w));
	*node = NULL;
	(void)after;
	return fake_leave(rc, "cuGraphAddChildGraphNode %zu", n);
}

/* The real one refuses a graph of another form. */
int cuGraphExecUpdate_v2(struct graph *exec, struct graph *g, void *result)
{
	struct device *d;
	int rc = fake_enter(&d);
	(void)result;
	rc = rc || (is_graph(g) && is_graph(exec) && exec->executable) ? rc : CUDA_ERROR_INVALID_VALUE;
	if (!rc) {
		for (struct work *w = exec->first, *next; w; w = next) {
			next = w->next;
			free_work(w);
		}
		exec->first = NULL;
		exec->end = &exec->first;
		for (struct work *w = g->first; w; w = w->next)
			append(exec, copy_of(w));
	}
	return fake_leave(rc, "cuGraphExecUpdate_v2");
}

int cuGraphInstantiate_v2(struct graph **out, struct graph *g, void *node, char *log, size_t n)
{
	(void)node, (void)log, (void)n;
	return cuGraphInstantiateWithFlags(out, g, 0);
}

int cuGraphInstantiate(struct graph **out, struct graph *g, void *node, char *log, size_t n)
{
	return cuGraphInstantiate_v2(out, g, node, log, n);
}

int cuGraphLaunch(struct graph *g, void *handle)
{
	struct stream *s;
	int rc = stream_call(handle, &s);
	rc = rc || (is_graph(g) && g->executable) ? rc : CUDA_ERROR_INVALID_VALUE;
	for (struct work *w = rc ? NULL : g->first; w && !rc; w = w->next)
		rc = fake_issue(g->d, s == &s->d->legacy ? NULL : handle, copy_of(w));
	return fake_leave(rc, "cuGraphLaunch %p", handle);
}

int cuGraphLaunch_ptsz(struct graph *g, void *handle) { return cuGraphLaunch(g, own(handle)); }
int cuStreamEndCapture_ptsz(void *handle, struct graph **out) { return cuStreamEndCapture(own(handle), out); }

static int destroy_graph(const char *name, struct graph *g)
{
	struct device *d;
	int rc = fake_enter(&d);
	rc = rc || is_graph(g) ? rc : CUDA_ERROR_INVALID_VALUE;
	if (!rc)
		free_graph(g);
	return fake_leave(rc, "%s", name);
}

int cuGraphDestroy(struct graph *g) { return destroy_graph("cuGraphDestroy", g); }
int cuGraphExecDestroy(struct graph *g) { return destroy_graph("cuGraphExecDestroy", g); }

int cuGraphGetNodes(struct graph *g, void **nodes, size_t *n)
{
	struct device *d;
	int rc = fake_enter(&d);
	rc = rc || is_graph(g) ? rc : CUDA_ERROR_INVALID_VALUE;
	size_t k = 0;
	for (struct work *w = rc ? NULL : g->first; w; w = w->next, k++)
		if (nodes && k < *n)
			nodes[k] = w;
	if (!rc)
		*n = k;
	return fake_leave(rc, "cuGraphGetNodes");
}
