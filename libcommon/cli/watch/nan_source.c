/* Where a kernel comes from: graph nodes and lines of Python, from the compiler's own records. */
#include "watch/nan.h"

#include "base/io/mapfile.h"
#include "run/trace/trace.h"
#include "watch/watch.h"

#define MAX_KERNELS 16384 /* searched linearly */
#define MAX_LINES 64      /* per kernel */
#define MAX_NODES 4096

/* "cpp_fused_relu_0:2". False without a number. */
static bool split_key(struct slice key, struct slice *name, uint64_t *handle)
{
	for (size_t i = key.n; i-- > 0;)
		if (key.p[i] == ':') {
			*name = slice_of(key.p, i);
			return i && slice_u64(slice_of(key.p + i + 1, key.n - i - 1), handle);
		}
	return false;
}

static struct nan_kernel *kernel_of(struct nan_sources *s, struct slice key)
{
	struct slice name;
	uint64_t handle;
	if (!split_key(key, &name, &handle))
		return NULL;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->kernel[i].handle == handle && slice_eq(s->kernel[i].name, name))
			return &s->kernel[i];
	if (s->n == MAX_KERNELS)
		return NULL;
	GROW(s->kernel, s->n, s->cap, 1);
	s->kernel[s->n] = (struct nan_kernel){.name = arena_slice(&s->arena, name), .handle = handle};
	return &s->kernel[s->n++];
}

static void add_frames(struct nan_sources *s, struct nan_kernel *k, struct slice stack, struct buf *b)
{
	struct slice rest = stack;
	struct srcloc at;
	while (k->n_lines < MAX_LINES && srcloc_next(&rest, &at)) {
		if (!srcloc_is_user(at.file))
			continue;
		buf_reset(b);
		srcloc_format(b, &at, SRCLOC_AT, true);
		if (at.code.n)
			buf_addf(b, ": %.*s", SLN(at.code, 400));
		bool had = false;
		for (uint32_t i = 0; i < k->n_lines; i++)
			had |= slice_eq(k->line[i], buf_slice(b));
		if (!had)
			k->line[k->n_lines++] = arena_slice(&s->arena, buf_slice(b));
	}
}

static void take_stacks(struct nan_sources *s, struct nan_kernel *k, const struct json_tape *t, uint32_t list)
{
	struct buf text = {0}, b = {0};
	if (!json_is(t, list, JSON_ARRAY) || k->line)
		return;
	k->line = arena_alloc(&s->arena, MAX_LINES * sizeof(*k->line));
	json_each(t, list, i)
		add_frames(s, k, json_text_at(t, i, &text), &b);
	buf_release(&text);
	buf_release(&b);
}

static void take_kernel(struct nan_sources *s, const struct json_tape *t, uint32_t key, uint32_t value)
{
	struct nan_kernel *k = kernel_of(s, json_slice(t, key));
	if (!k)
		return;
	take_stacks(s, k, t, json_get(t, value, "stack_traces"));
	if (!k->node)
		k->node = json_dup_list(t, json_get(t, value, "post_grad_nodes"), MAX_NODES, &k->n_nodes, &s->arena);
	if (!k->pre)
		k->pre = json_dup_list(t, json_get(t, value, "pre_grad_nodes"), MAX_NODES, &k->n_pre, &s->arena);
}

int nan_sources_json(struct nan_sources *s, struct slice text, const char *what, struct err *err)
{
	struct json_tape t = {0};
	uint32_t root;
	json_tape_text(&t, text.p, text.n);
	int r = json_parse(&t, 0, text.n, &root);
	if (r < 0 || !json_is(&t, root, JSON_OBJECT))
		r = err_set(err, EXIT_INPUT,
			    "'%s': not a JSON object of kernels: pass a package's kernel_information.json or a trace log (TORCH_TRACE)",
			    what);
	else
		json_each_pair(&t, root, k)
			if (json_is(&t, k + 1, JSON_OBJECT))
				take_kernel(s, &t, k, k + 1);
	json_tape_release(&t);
	return r;
}

/* ---- traces ---- */

struct reading {
	struct nan_sources *s;
	struct json_tape tape;
};

/* {KERNEL: [Python stack...]} */
static void take_stack_map(struct reading *r, uint32_t root)
{
	const struct json_tape *t = &r->tape;
	json_each_pair(t, root, k) {
		struct nan_kernel *to = kernel_of(r->s, json_slice(t, k));
		if (to)
			take_stacks(r->s, to, t, k + 1);
	}
}

/* The nodes before the passes that these nodes came from. */
static void take_pre(struct reading *r, struct nan_kernel *k, uint32_t post_to_pre)
{
	struct slice list[MAX_LINES];
	uint32_t n = 0;
	for (uint32_t i = 0; i < k->n_nodes && !k->pre; i++) {
		uint32_t count, from = json_find(&r->tape, post_to_pre, k->node[i]);
		const struct slice *v = json_dup_list(&r->tape, from, MAX_NODES, &count, &r->s->arena);
		for (uint32_t j = 0; j < count && n < MAX_LINES; j++) {
			bool had = false;
			for (uint32_t m = 0; m < n; m++)
				had |= slice_eq(list[m], v[j]);
			if (!had)
				list[n++] = v[j];
		}
	}
	if (!n)
		return;
	k->pre = arena_alloc(&r->s->arena, n * sizeof(*k->pre));
	memcpy(k->pre, list, n * sizeof(*list));
	k->n_pre = n;
}

static void take_node_map(struct reading *r, uint32_t root)
{
	const struct json_tape *t = &r->tape;
	uint32_t kernels = json_get(t, root, "cppCodeToPost"), back = json_get(t, root, "postToPre");
	json_each_pair(t, kernels, k) {
		struct nan_kernel *to = kernel_of(r->s, json_slice(t, k));
		if (!to || to->node)
			continue;
		to->node = json_dup_list(t, k + 1, MAX_NODES, &to->n_nodes, &r->s->arena);
		take_pre(r, to, back);
	}
}

static int on_record(void *ctx, struct trace_scan *scan, struct trace_record *rec)
{
	struct reading *r = ctx;
	uint32_t value = trace_value(scan, rec, KIND_artifact), root;
	struct slice text = trace_payload(scan, rec), called = json_word(&scan->tape, value, "name");
	bool nodes = slice_starts(called, "inductor_provenance_tracking_node_mappings");
	bool stacks = slice_starts(called, "inductor_provenance_tracking_kernel_stack_traces");
	if (!nodes && !stacks)
		return 0;
	json_tape_text(&r->tape, text.p, text.n);
	if (json_parse(&r->tape, 0, text.n, &root) < 0 || !json_is(&r->tape, root, JSON_OBJECT))
		return 0;
	if (nodes)
		take_node_map(r, root);
	else
		take_stack_map(r, root);
	return 0;
}

static int read_trace(struct nan_sources *s, const char *path, struct err *err)
{
	struct reading r = {.s = s};
	struct trace_hooks hooks = {.ctx = &r, .record = on_record, .threads = 1};
	struct trace t;
	trace_init(&t, path, NULL);
	int rc = trace_read(&t, &hooks, err);
	trace_release(&t);
	json_tape_release(&r.tape);
	if (!rc && !s->n)
		rc = err_set(
		    err, EXIT_INPUT,
		    "'%s': the trace does not record where kernels come from: compile with INDUCTOR_PROVENANCE=1 (torch 2.8 or later)",
		    path);
	return rc;
}

int nan_sources_file(struct nan_sources *s, const char *path, struct err *err)
{
	struct mapfile f;
	if (trace_is_log(path))
		return read_trace(s, path, err);
	if (mapfile_open(&f, path, err) < 0)
		return -1;
	int r = f.bytes.n > UINT32_MAX / 2 ? err_set(err, EXIT_INPUT, "'%s': too long", path) : nan_sources_json(s, f.bytes, path, err);
	mapfile_close(&f);
	return r;
}

const struct nan_sources *watch_sources(const struct watch_model *m)
{
	if (m->kernels.n && !m->sources->asked) {
		m->sources->asked = true;
		(void)nan_sources_json(m->sources, m->kernels, m->path, NULL);
	}
	return m->sources;
}

/* ---- use ---- */

/* The nth call (from 0) of a kernel. */
static const struct nan_kernel *find_kernel(const struct nan_sources *s, struct slice name, uint32_t nth)
{
	const struct nan_kernel *best = NULL;
	uint32_t same = 0;
	for (uint32_t i = 0; i < s->n; i++)
		same += slice_eq(s->kernel[i].name, name);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct nan_kernel *k = &s->kernel[i];
		uint32_t before = 0;
		if (!slice_eq(k->name, name))
			continue;
		for (uint32_t j = 0; j < s->n; j++)
			before += slice_eq(s->kernel[j].name, k->name) && s->kernel[j].handle < k->handle;
		if (before == nth || same == 1)
			best = k;
	}
	return best;
}

const struct nan_kernel *nan_sources_of(const struct nan_sources *s, const struct contract *c, uint32_t call)
{
	return find_kernel(s, c->call[call].name, contract_nth(c, &c->call[call]));
}

void nan_sources_apply(const struct nan_sources *s, struct nan_finding *f)
{
	const struct nan_kernel *best = find_kernel(s, f->call.c.name, f->call.nth);
	if (!best)
		return;
	f->pre = best->pre;
	f->n_pre = best->n_pre;
	f->node = best->node;
	f->n_nodes = best->n_nodes;
	f->line = best->line;
	f->n_lines = best->n_lines;
}

void nan_sources_release(struct nan_sources *s)
{
	free(s->kernel);
	arena_release(&s->arena);
	*s = (struct nan_sources){0};
}
