/* facts_vllm.c - vLLM's records: calls of its backend, pieces of the graph by range of sizes, changes by each pass (facts.h). */
#include "base/linediff.h"
#include "base/unified.h"
#include "run/trace/facts_part.h"

static uint32_t member(struct trace_reading *r, uint32_t object, const char *key)
{
	buf_reset(&r->tmp);
	json_add_text(&r->tape, object, key, &r->tmp);
	return facts_intern(r->f, buf_slice(&r->tmp));
}

/* A payload that is a JSON object, or NONE. */
static uint32_t parse_object(struct trace_reading *r, struct slice payload)
{
	uint32_t root;
	json_tape_text(&r->tape, payload.p, payload.n);
	return !json_parse(&r->tape, 0, payload.n, &root) && json_is(&r->tape, root, JSON_OBJECT) ? root : NONE;
}

static struct vllm_process *current(struct trace_reading *r)
{
	struct vllm_reading *v = &r->vllm;
	while (v->n_process <= r->t->now)
		PUSH(v, process) = (struct vllm_process){.row = NONE, .artifact = NONE};
	return &v->process[r->t->now];
}

/* The row that an event began is completed by the configuration, if one follows: a model out of the cache may have none. */
static struct fact_vllm_call *call_row(struct trace_reading *r, uint32_t compile, struct fact_src src)
{
	struct vllm_process *v = current(r);
	struct fact_vllm_call *to = v->row == NONE ? facts_new_vllm_call(r->f, src) : &r->f->vllm_call[v->row];
	v->row = NONE;
	v->call = src.line;
	v->piece = 0;
	to->src = src;
	to->compile = compile;
	return to;
}

static void take_event(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice payload)
{
	uint32_t root = parse_object(r, payload);
	if (root == NONE)
		return;
	current(r)->row = NONE;
	struct fact_vllm_call *to = call_row(r, compile, src);
	to->event = member(r, root, "type");
	current(r)->row = (uint32_t)(to - r->f->vllm_call);
}

static void take_call(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice payload)
{
	uint32_t root = parse_object(r, payload);
	if (root == NONE)
		return;
	struct fact_vllm_call *to = call_row(r, compile, src);
	to->model = member(r, root, "model");
	to->prefix = member(r, root, "prefix");
	to->mode = member(r, root, "mode");
	to->backend = member(r, root, "backend");
	to->custom_ops = member(r, root, "custom_ops");
	to->splitting_ops = member(r, root, "splitting_ops");
	to->cudagraph_mode = member(r, root, "cudagraph_mode");
	to->sizes = member(r, root, "compile_sizes");
	to->ranges = member(r, root, "compile_ranges_endpoints");
	if (to->ranges == NONE) /* under its first name */
		to->ranges = member(r, root, "compile_ranges_split_points");
	to->enabled_passes = member(r, root, "enabled_passes");
	to->inductor_passes = member(r, root, "inductor_passes");
	to->shapes = member(r, root, "dynamic_shapes_type");
}

static void take_piece(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice payload)
{
	uint32_t root = parse_object(r, payload);
	if (root == NONE)
		return;
	struct fact_vllm_piece *to = facts_new_vllm_piece(r->f, src);
	struct vllm_process *v = current(r);
	v->piece = src.line;
	v->there = false;
	to->compile = compile;
	to->call = v->call;
	to->name = member(r, root, "submod_name");
	to->index = json_int(&r->tape, root, "piecewise_index", -1);
	to->total = json_int(&r->tape, root, "total_piecewise_compiles", -1);
	to->start = json_int(&r->tape, root, "compile_range_start", -1);
	to->end = json_int(&r->tape, root, "compile_range_end", -1);
	to->single = json_flag(&r->tape, root, "is_single_size");
	to->cudagraph = json_flag(&r->tape, root, "is_cudagraph_capture_size");
}

static void take_text(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice what)
{
	struct fact_vllm_text *to = facts_new_vllm_text(r->f, src);
	to->compile = compile;
	to->call = current(r)->call;
	to->name = facts_intern(r->f, what);
}

static void keep_graph(struct trace_reading *r, uint32_t artifact, struct slice payload)
{
	struct vllm_process *v = current(r);
	r->vllm.texts -= v->graph.len;
	buf_reset(&v->graph);
	v->artifact = artifact;
	v->there = payload.n <= VLLM_TEXT && r->vllm.texts + payload.n <= VLLM_TEXTS;
	if (v->there)
		buf_add_slice(&v->graph, payload);
	r->vllm.texts += v->graph.len;
}

/* Passes over similar pieces are similar: most texts already exist. */
static uint32_t keep_diff(struct trace_reading *r, struct slice payload)
{
	buf_reset(&r->tmp);
	unified_hunks(&r->tmp, buf_slice(&current(r)->graph), payload);
	if (r->tmp.len > VLLM_DIFF || r->vllm.diffs + r->tmp.len > VLLM_DIFFS)
		return NONE;
	const uint32_t before = r->f->names.n, diff = facts_intern(r->f, buf_slice(&r->tmp));
	r->vllm.diffs += diff >= before ? r->tmp.len : 0;
	return diff;
}

/* vllm_post_grad.3.RMSNormQuantFusionPass */
static void take_pass(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice name, struct slice payload)
{
	struct slice rest = slice_behind(name, "vllm_post_grad."), number = slice_until(rest, ".");
	uint64_t index;
	struct fact_vllm_pass *to = facts_new_vllm_pass(r->f, src);
	to->compile = compile;
	const struct vllm_process *v = current(r);
	to->piece = v->piece;
	to->index = slice_u64(number, &index) && index < INT32_MAX ? (int64_t)index : -1;
	to->name = facts_intern(r->f, to->index < 0 ? rest : slice_of(number.p + number.n + 1, rest.n - number.n - (rest.n > number.n)));
	if (v->there && payload.n <= VLLM_TEXT) {
		struct linediff d = {0};
		linediff_run(&d, buf_slice(&v->graph), payload, NULL, NULL);
		to->removed = (int64_t)d.removed + d.changed;
		to->added = (int64_t)d.added + d.changed;
		to->before = v->artifact;
		linediff_release(&d);
		if (to->added || to->removed)
			to->diff = keep_diff(r, payload);
	}
	keep_graph(r, src.artifact, payload);
}

void reading_vllm(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice name, struct slice payload)
{
	if (slice_is(name, "vllm_compilation_config")) {
		take_call(r, compile, src, payload);
	} else if (slice_is(name, "vllm_compile_event")) {
		take_event(r, compile, src, payload);
	} else if (slice_is(name, "vllm_piecewise_compile_start")) {
		take_piece(r, compile, src, payload);
	} else if (slice_is(name, "before_post_grad_graph")) {
		/* All logs have it. A worker that compiles a range (vLLM's process pool) writes of vLLM only passes and patterns. */
		if (r->t->now < r->vllm.n_process)
			keep_graph(r, src.artifact, payload);
	} else if (slice_starts(name, "vllm_post_grad.")) {
		take_pass(r, compile, src, name, payload);
	} else if (slice_is(name, "vllm_piecewise_split_graph")) {
		take_text(r, compile, src, SLICE("split graph"));
	} else if (slice_is(name, "vllm_execution_code")) {
		take_text(r, compile, src, SLICE("execution code"));
	} else if (slice_starts(name, "vllm_patterns.")) {
		LOCAL_BUF what = {0};
		buf_adds(&what, "patterns of ");
		buf_add_slice(&what, slice_behind(name, "vllm_patterns."));
		take_text(r, compile, src, buf_slice(&what));
	}
}

void reading_vllm_release(struct vllm_reading *v)
{
	for (uint32_t i = 0; i < v->n_process; i++)
		buf_release(&v->process[i].graph);
	free(v->process);
}
