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

static void take_call(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice payload)
{
	uint32_t root = parse_object(r, payload);
	if (root == NONE)
		return;
	struct fact_vllm_call *to = facts_new_vllm_call(r->f, src);
	r->vllm.call = src.line;
	r->vllm.piece = 0;
	to->compile = compile;
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
	r->vllm.piece = src.line;
	r->vllm.there = false;
	to->compile = compile;
	to->call = r->vllm.call;
	to->name = member(r, root, "submod_name");
	to->index = json_int(&r->tape, root, "piecewise_index", -1);
	to->total = json_int(&r->tape, root, "total_piecewise_compiles", -1);
	to->start = json_int(&r->tape, root, "compile_range_start", -1);
	to->end = json_int(&r->tape, root, "compile_range_end", -1);
	to->single = json_flag(&r->tape, root, "is_single_size");
	to->cudagraph = json_flag(&r->tape, root, "is_cudagraph_capture_size");
}

static void keep_graph(struct vllm_reading *v, uint32_t artifact, struct slice payload)
{
	buf_reset(&v->graph);
	v->artifact = artifact;
	v->there = payload.n <= VLLM_TEXT;
	if (v->there)
		buf_add_slice(&v->graph, payload);
}

/* Passes over similar pieces are similar: most texts already exist. */
static uint32_t keep_diff(struct trace_reading *r, struct slice payload)
{
	buf_reset(&r->tmp);
	unified_hunks(&r->tmp, buf_slice(&r->vllm.graph), payload);
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
	to->piece = r->vllm.piece;
	to->index = slice_u64(number, &index) && index < INT32_MAX ? (int64_t)index : -1;
	to->name = facts_intern(r->f, to->index < 0 ? rest : slice_of(number.p + number.n + 1, rest.n - number.n - (rest.n > number.n)));
	if (r->vllm.there && payload.n <= VLLM_TEXT) {
		struct linediff d = {0};
		linediff_run(&d, buf_slice(&r->vllm.graph), payload, NULL, NULL);
		to->removed = (int64_t)d.removed + d.changed;
		to->added = (int64_t)d.added + d.changed;
		to->before = r->vllm.artifact;
		linediff_release(&d);
		if (to->added || to->removed)
			to->diff = keep_diff(r, payload);
	}
	keep_graph(&r->vllm, src.artifact, payload);
}

void reading_vllm(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice name, struct slice payload)
{
	if (slice_is(name, "vllm_compilation_config"))
		take_call(r, compile, src, payload);
	else if (slice_is(name, "vllm_piecewise_compile_start"))
		take_piece(r, compile, src, payload);
	else if (slice_is(name, "before_post_grad_graph") && r->vllm.call)
		keep_graph(&r->vllm, src.artifact, payload);
	else if (slice_starts(name, "vllm_post_grad."))
		take_pass(r, compile, src, name, payload);
}

void reading_vllm_begin(struct vllm_reading *v) { *v = (struct vllm_reading){.artifact = NONE}; }
void reading_vllm_release(struct vllm_reading *v) { buf_release(&v->graph); }
