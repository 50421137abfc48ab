/* facts_records.c - facts that are taken from records as they are read: types, caches, graphs, workers. */
#include "base/jsonskim.h"
#include "run/trace/facts_part.h"

enum { WORKER_TAIL = 8 << 10 }; /* bytes kept of the last lines of a worker that died */

/* A guard on a type's id has only the old type. The resulting compilation guards the new type, under the same name (in
 * the guards of torch 2.13 with L['...'] around it), before its own recompile:
 *
 *     | | +- TYPE_MATCH: ___check_type_id(L['mode'], 94393191699040), type=<class '__main__.Slow'>  # if isinstance(...
 */
static void find_new_type(struct trace_reading *r, uint32_t compile, struct slice guards)
{
	if (r->f->n_recompile == r->t->from.recompile || r->f->recompile[r->f->n_recompile - 1].compile != compile)
		return;
	struct fact_recompile *last = &r->f->recompile[r->f->n_recompile - 1];
	struct slice guard = facts_text(r->f, last->guard);
	const char *from = slice_find(guard, "___check_type_id("), *comma;
	if (!from || !(comma = slice_find(slice_of(from, (size_t)(guard.p + guard.n - from)), ", ")))
		return;
	struct slice name = slice_of(from + 17, (size_t)(comma - from - 17)), line;
	size_t word = 0;
	while (word < name.n && name.p[word] != '.' && name.p[word] != '[' && name.p[word] != '(')
		word++;
	buf_reset(&r->tmp);
	buf_addf(&r->tmp, "___check_type_id(L['%.*s']%.*s, ", (int)word, name.p, (int)(name.n - word), name.p + word);
	const char *want = buf_str(&r->tmp);
	while (slice_line(&guards, &line)) {
		const char *type = slice_find(line, want) ? slice_find(line, "type=<class '") : NULL, *end;
		if (!type || !(end = memchr(type + 13, '\'', (size_t)(line.p + line.n - type - 13))))
			continue;
		last->type_new = facts_intern(r->f, slice_of(type + 13, (size_t)(end - type - 13)));
		return;
	}
}

/* A JSON string, newlines as spaces. */
static uint32_t quoted_line(struct trace_reading *r, struct slice quoted)
{
	uint32_t root;
	if (!quoted.p || quoted.p[0] != '"')
		return NONE;
	json_tape_text(&r->tape, quoted.p, quoted.n);
	if (json_parse(&r->tape, 0, quoted.n, &root) < 0)
		return NONE;
	buf_reset(&r->tmp);
	json_unescape(&r->tape, root, &r->tmp);
	for (size_t i = 0; i < r->tmp.len; i++)
		if (r->tmp.p[i] == '\n')
			r->tmp.p[i] = ' ';
	return facts_intern(r->f, slice_trim(buf_slice(&r->tmp)));
}

static struct fact_src artifact_src(const struct trace_reading *r, const struct trace_artifact *a)
{
	struct fact_src src = r->t->at;
	src.artifact = a->number;
	return src;
}

static void take_components(struct trace_reading *r, struct slice list, uint32_t parts[KEY_TEXTS])
{
	struct key_lines k = {.n = 0};
	uint32_t root;
	json_tape_text(&r->tape, list.p, list.n);
	if (json_parse(&r->tape, 0, list.n, &root) == 0)
		json_each(&r->tape, root, i)
			key_add(&k, json_text_at(&r->tape, i, &r->tmp));
	for (unsigned i = 0; i < KEY_TEXTS; i++)
		parts[i] = facts_intern(r->f, buf_slice(&k.text[i]));
	key_release(&k);
}

/* {"cache_state": "bypass", "cache_bypass_reason": "..."}; {"cache_status_detailed": "full_miss" or "guard_miss",
 * "cache_status_guard_expr": "...", "key": "fy2joo...", "components": ["[HASH] NAME: VALUE", ...]}, also for a hit. */
static void take_cache(struct trace_reading *r, uint32_t compile, const struct trace_artifact *a, struct slice payload)
{
	static const char *const keys[] = {"cache_bypass_reason", "cache_status_detailed", "key", "cache_status_guard_expr", "components"};
	struct slice name = intern_get(&r->f->names, a->name), value[ARRAY_LEN(keys)] = {{0}};
	struct json_skim skim;
	uint32_t reason = NONE, key = NONE, guards = NONE, parts[KEY_TEXTS] = {NONE, NONE};
	if (!(a->flags & (ART_HIT | ART_MISS | ART_BYPASS)))
		return;
	if (json_skim_members(&skim, payload, keys, value, ARRAY_LEN(keys)) == 0) {
		struct slice why = value[a->flags & ART_BYPASS ? 0 : 1];
		reason = a->flags & ART_HIT || slice_is(why, "\"full_miss\"") ? NONE : quoted_line(r, why);
		key = quoted_line(r, value[2]);
		guards = a->flags & ART_MISS ? quoted_line(r, value[3]) : NONE;
		if (r->o->keys && value[4].p)
			take_components(r, value[4], parts);
	}
	struct fact_cache *to = facts_new_cache(r->f, artifact_src(r, a));
	to->compile = compile;
	to->kind = slice_starts(name, "fx_graph_cache_")      ? FACT_CACHE_FX
		   : slice_starts(name, "aotautograd_cache_") ? FACT_CACHE_AOT
		   : slice_starts(name, "fx_graph_bundled_")  ? FACT_CACHE_BUNDLED
							      : FACT_CACHE_OTHER;
	to->what = a->flags & ART_HIT ? FACT_HIT : a->flags & ART_MISS ? FACT_MISS : FACT_BYPASS;
	to->name = a->name;
	to->reason = reason;
	to->key = key;
	to->guards = guards;
	memcpy(to->parts, parts, sizeof(parts));
}

static uint32_t member_text(struct trace_reading *r, uint32_t object, const char *key)
{
	uint32_t k = json_get(&r->tape, object, key);
	if (!json_is(&r->tape, k, JSON_STRING))
		return NONE;
	buf_reset(&r->tmp);
	json_unescape(&r->tape, k, &r->tmp);
	return facts_intern(r->f, buf_slice(&r->tmp));
}

static void take_native(struct trace_reading *r, uint32_t compile, const struct trace_artifact *a, struct slice payload)
{
	uint32_t root;
	json_tape_text(&r->tape, payload.p, payload.n);
	if (json_parse(&r->tape, 0, payload.n, &root) || !json_is(&r->tape, root, JSON_OBJECT))
		return;
	struct fact_native *to = facts_new_native(r->f, artifact_src(r, a));
	double ms = json_number(&r->tape, root, "wall_ms", -1);
	to->compile = compile;
	to->op = member_text(r, root, "op");
	to->dsl = member_text(r, root, "dsl");
	to->key = member_text(r, root, "key");
	to->outcome = member_text(r, root, "outcome");
	to->seconds = ms < 0 ? -1 : ms / 1e3;
	to->hits = json_count(&r->tape, root, "hits", 0);
	to->misses = json_count(&r->tape, root, "misses", 0);
}

/* "sidecar pid=4711 returncode=-9", then its last lines. */
static void take_worker_death(struct trace_reading *r, uint32_t compile, const struct trace_artifact *a, struct slice payload)
{
	struct slice rest = payload, line = {0};
	slice_line(&rest, &line);
	struct slice pid = slice_until(slice_behind(line, "pid="), " "), code = slice_behind(line, "returncode=");
	bool negative = slice_starts(code, "-");
	uint64_t v;
	struct fact_worker *to = facts_new_worker(r->f, artifact_src(r, a));
	to->compile = compile;
	to->what = WORKER_DIED;
	to->time = a->seconds;
	to->pid = slice_u64(pid, &v) && v <= INT32_MAX ? (int64_t)v : -1;
	if (slice_u64(negative ? slice_of(code.p + 1, code.n - 1) : code, &v) && v <= INT16_MAX) {
		to->signal = negative ? (int)v : 0;
		to->code = negative ? -1 : (int64_t)v;
	}
	rest = slice_trim(rest);
	to->tail = facts_intern(r->f, rest.n <= WORKER_TAIL ? rest : slice_of(rest.p + rest.n - WORKER_TAIL, WORKER_TAIL));
}

static void take_worker_status(struct trace_reading *r, uint32_t compile, const struct trace_artifact *a, struct slice payload)
{
	uint32_t root;
	json_tape_text(&r->tape, payload.p, payload.n);
	if (json_parse(&r->tape, 0, payload.n, &root) || !json_is(&r->tape, root, JSON_OBJECT))
		return;
	struct fact_worker *to = facts_new_worker(r->f, artifact_src(r, a));
	to->compile = compile;
	to->what = WORKER_STATUS;
	to->time = a->seconds;
	to->pid = json_int(&r->tape, root, "worker_pid", -1);
	to->job = json_int(&r->tape, root, "job_id", -1);
	to->seconds = json_number(&r->tape, root, "elapsed_s", -1);
	to->phase_seconds = json_number(&r->tape, root, "phase_elapsed_s", -1);
	to->phase = member_text(r, root, "phase");
}

static void take_graph(struct trace_reading *r, uint32_t compile, const struct trace_artifact *a, struct slice payload, bool keep)
{
	struct fact_graph *to = facts_new_graph(r->f, artifact_src(r, a));
	to->compile = compile;
	to->name = a->name;
	to->subgraph = a->subgraph;
	to->ops = a->nodes;
	to->bytes = a->size;
	if (keep)
		to->text = facts_intern(r->f, payload);
}

/* "cpp_fused_add_0 = async_compile.cpp_pybinding(...": a kernel that is compiled when the code is loaded. */
static uint32_t count_kernels(struct slice code)
{
	static const char mark[] = " = async_compile.";
	uint32_t n = 0;
	for (const char *at; (at = slice_find(code, mark)); n++)
		code = slice_of(at + sizeof(mark) - 1, (size_t)(code.p + code.n - at) - sizeof(mark) + 1);
	return n;
}

static void take_artifacts(struct trace_reading *r, uint32_t compile, const struct trace_scan *s, const struct trace_record *rec)
{
	struct slice payload = trace_payload(s, rec);
	for (uint32_t i = 0; i < rec->artifacts; i++) {
		const struct trace_artifact *a = &r->t->artifact[rec->first_artifact + i];
		if (a->kind == KIND_artifact) {
			struct slice name = intern_get(&r->f->names, a->name);
			take_cache(r, compile, a, payload);
			if (slice_is(name, "dynamo_error"))
				reading_error(r, compile, artifact_src(r, a), payload);
			else if (slice_is(name, "native_dsl_compile"))
				take_native(r, compile, a, payload);
			else if (slice_is(name, "compile_worker_sidecar_death"))
				take_worker_death(r, compile, a, payload);
			else if (slice_is(name, "compile_worker_status"))
				take_worker_status(r, compile, a, payload);
			else if (slice_starts(name, "vllm_") || slice_is(name, "before_post_grad_graph"))
				reading_vllm(r, compile, artifact_src(r, a), name, payload);
		} else if (a->kind == KIND_graph_dump) {
			reading_vllm(r, compile, artifact_src(r, a), intern_get(&r->f->names, a->name), payload);
		} else if (a->kind == KIND_inductor_output_code && compile != NONE) {
			r->f->compile[compile].kernels += count_kernels(payload);
		} else if (trace_kind[a->kind].flags & K_GRAPH) {
			if (!r->o->no_graphs)
				take_graph(r, compile, a, payload, r->o->keep_graphs);
		} else if (a->kind == KIND_dynamo_cpp_guards_str) {
			find_new_type(r, compile, payload);
			if (r->o->keep_guards)
				take_graph(r, compile, a, payload, true);
		}
	}
}

void reading_record(struct trace_reading *r, struct trace_scan *s, struct trace_record *rec)
{
	if (rec->attempt == NONE || rec->flags & (REC_MALFORMED | REC_LOOSE | REC_OTHER_RANK))
		return;
	uint64_t kinds = rec->kinds;
	uint32_t compile = r->f->attempt[rec->attempt].compile;
	if (r->o->ranks)
		reading_ranks(r, s, rec);
	if (kinds & ~(1ull << KIND_chromium_event))
		take_artifacts(r, compile, s, rec);
	if (kinds >> KIND_artifact & 1 && /* -e keeps no artifacts */
	    slice_is(json_slice(&s->tape, json_get(&s->tape, trace_value(s, rec, KIND_artifact), "name")), "make_fx_fail_partial"))
		reading_partial(r, compile, fact_src(r->t->input, s->first_line + rec->line), trace_payload(s, rec));
	if (compile != NONE && kinds >> KIND_dynamo_output_graph & 1) {
		int64_t *graphs = &r->f->compile[compile].graphs;
		*graphs = *graphs < 0 ? 1 : *graphs + 1;
	}
	if (compile != NONE && kinds >> KIND_dynamo_start & 1)
		r->f->compile[compile].started = true;
	static const enum trace_kind metrics[] = {KIND_compilation_metrics, KIND_bwd_compilation_metrics, KIND_compilation_metrics_runtime,
						  KIND_bwd_compilation_metrics_runtime, KIND_aot_autograd_backward_compilation_metrics};
	for (unsigned i = 0; i < ARRAY_LEN(metrics); i++)
		if (kinds >> metrics[i] & 1)
			reading_metrics(r, compile, &s->tape, trace_value(s, rec, metrics[i]), i == 1 || i >= 3, i == 2 || i == 3);
	static const enum trace_kind bounds[] = {KIND_guard_added_fast, KIND_propagate_real_tensors};
	for (unsigned i = 0; i < ARRAY_LEN(bounds); i++)
		if (kinds >> bounds[i] & 1)
			reading_bound(r, compile, &s->tape, trace_value(s, rec, bounds[i]), bounds[i]);
}
