/* facts.c - derives facts from the rows that reduce fills: whole compilations, kinds of breaks, types, caches, graphs, the input itself. */
#include "base/jsonskim.h"
#include "run/trace/facts_part.h"
#include "run/text.h"

/* ---- compile ids ---- */

/* "app/m.py:7 in f: code", outermost first; torch's own frames are irrelevant to the program. */
static uint32_t stack_text(struct trace_reading *r, uint32_t node)
{
	const struct trace *t = r->t;
	uint32_t path[64], n = 0;
	for (; node != NONE && n < ARRAY_LEN(path); node = t->starts.node[node].parent)
		path[n++] = node;
	buf_reset(&r->tmp);
	while (n--) {
		const struct trace_frame *f = &t->frame[t->starts.node[path[n]].frame];
		struct srcloc at = {
		    .file = intern_get(&t->f->names, f->file),
		    .func = intern_get(&t->f->names, f->name),
		    .code = intern_get(&t->f->names, f->code),
		    .line = f->line > 0 ? (uint32_t)f->line : 0,
		};
		enum srcloc_origin origin = srcloc_origin(at.file);
		if (origin == SRCLOC_TORCH || origin == SRCLOC_STDLIB)
			continue;
		if (r->tmp.len)
			buf_addc(&r->tmp, '\n');
		srcloc_format(&r->tmp, &at, SRCLOC_AT, false);
		if (at.code.n) {
			buf_adds(&r->tmp, ": ");
			buf_add_slice(&r->tmp, at.code);
		}
	}
	return facts_intern(r->f, buf_slice(&r->tmp));
}

/* Without metrics, only the stack shows which frame it was. */
static struct fact_loc loc_of_start(struct trace_reading *r, uint32_t node)
{
	if (node == NONE)
		return facts_no_loc();
	const struct trace_frame *f = &r->t->frame[r->t->starts.node[node].frame];
	return (struct fact_loc){f->file, f->line > 0 ? (uint32_t)f->line : 0, f->name, NONE};
}

/* Merges one attempt into the row of its compile id: the one with metrics is the last. */
static void join_attempt(struct trace_reading *r, const struct fact_attempt *c, struct fact_compile *to)
{
	struct slice function;
	to->breaks += c->breaks;
	uint32_t stack = c->stack == NONE ? NONE : stack_text(r, c->stack);
	if (stack != NONE)
		to->stack = stack; /* with the code; metrics have only locations */
	if (c->status != COMPILE_UNKNOWN)
		to->status = c->status;
	if (c->loc.file != NONE)
		to->loc = c->loc;
	else if (to->loc.file == NONE)
		to->loc = loc_of_start(r, c->stack);
	if (to->resume_of == NONE && facts_resume_name(facts_text(r->f, to->loc.function), &function, &to->resume_line))
		to->resume_of = facts_intern(r->f, function);
	if (c->ops >= 0)
		to->ops = c->ops;
	if (c->nodes >= 0)
		to->nodes = c->nodes;
	if (c->inputs >= 0)
		to->inputs = c->inputs;
	if (c->guards >= 0)
		to->guards = c->guards;
	if (c->cache_size >= 0)
		to->cache_size = c->cache_size;
	if (c->fail_type != NONE) {
		to->fail_type = c->fail_type;
		to->fail_reason = c->fail_reason;
	}
	if (to->seconds < 0)
		to->seconds = c->seconds;
}

/* A refused compilation (limit reached) has neither metrics with a location nor a start: the frame's first compilation has. */
static void place_by_frame(struct trace_reading *r, uint32_t from)
{
	struct intern frames = {0};
	uint32_t *first = xcalloc(r->f->n_compile - from + 1, sizeof(*first));
	for (uint32_t i = from; i < r->f->n_compile; i++) {
		struct fact_compile *c = &r->f->compile[i];
		int64_t key[4] = {c->process, c->generation, c->autograd, c->frame};
		uint32_t before = frames.n, k = intern_add(&frames, slice_of((const char *)key, sizeof(key)));
		if (k == before)
			first[k] = i;
		if (c->loc.file == NONE) {
			const struct fact_compile *known = &r->f->compile[first[k]];
			c->loc = known->loc;
			c->resume_of = known->resume_of;
			c->resume_line = known->resume_line;
		}
	}
	intern_release(&frames);
	free(first);
}

static void take_compiles(struct trace_reading *r)
{
	for (uint32_t i = r->t->from.attempt; i < r->f->n_attempt; i++) {
		const struct fact_attempt *c = &r->f->attempt[i];
		if (c->compile != NONE)
			join_attempt(r, c, &r->f->compile[c->compile]);
	}
	place_by_frame(r, r->t->from.compile);
	uint32_t n = r->f->n_compile - r->t->from.compile + 1;
	r->note = xcalloc(n, sizeof(*r->note));
	for (uint32_t i = 0; i < n; i++)
		r->note[i].error = r->note[i].recompile = NONE;
}

/* ---- breaks ---- */

/* The registry's names of torch 2.13 (torch/_dynamo/graph_break_registry.json) and the reasons of 2.0 to 2.6. */
static enum fact_break_kind break_kind(struct slice reason)
{
	static const char *const jump[] = {"Data-dependent branching", "Data-dependent jump", "generic_jump",
					   "data-dependent control flow"};
	static const char *const asked[] = {"graph_break()`", "torch.compiler.disable()`", "call torch._dynamo.disable", "`skip_frame`"};
	for (unsigned i = 0; i < ARRAY_LEN(jump); i++)
		if (slice_find(reason, jump[i]))
			return BREAK_JUMP;
	for (unsigned i = 0; i < ARRAY_LEN(asked); i++)
		if (slice_find(reason, asked[i]))
			return BREAK_ASKED;
	return BREAK_CALL;
}

/* A frame abandoned because of a break in it (a loop, a with block) also has that break's text as its failure. */
static bool gave_up_frame(const struct facts *f, const struct fact_break *b)
{
	if (b->compile == NONE || f->compile[b->compile].status != COMPILE_FAILED)
		return false;
	struct slice reason = facts_text(f, b->reason), fail = facts_text(f, f->compile[b->compile].fail_reason);
	return reason.n && fail.n >= reason.n && !memcmp(reason.p, fail.p, reason.n);
}

static void take_breaks(struct trace_reading *r)
{
	for (uint32_t i = r->t->from.brk; i < r->f->n_brk; i++) {
		struct fact_break *b = &r->f->brk[i];
		b->kind = gave_up_frame(r->f, b) ? BREAK_SKIPPED : break_kind(facts_text(r->f, b->reason));
		reading_note(r, b->compile)->skipped |= b->kind == BREAK_SKIPPED;
	}
}

/* ---- recompiles ---- */

/* "HINT: type Fast)" behind a guard on a type's id: the guard itself has only numbers. */
static struct slice hint_type(struct slice reason)
{
	const char *p = slice_find(reason, "(HINT: type "), *end;
	if (!p)
		return slice_of(NULL, 0);
	p += 12;
	end = memchr(p, ')', (size_t)(reason.p + reason.n - p));
	return slice_of(p, end ? (size_t)(end - p) : 0);
}

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

static void take_recompiles(struct trace_reading *r)
{
	for (uint32_t i = r->t->from.recompile; i < r->f->n_recompile; i++) {
		struct fact_recompile *x = &r->f->recompile[i];
		if (x->loc.file == NONE && x->compile != NONE)
			x->loc = r->f->compile[x->compile].loc;
		if (slice_find(facts_text(r->f, x->guard), "___check_type_id("))
			x->type_old = x->old != NONE ? x->old : facts_intern(r->f, hint_type(facts_text(r->f, x->reason)));
		else
			x->type_new = NONE;
		reading_note(r, x->compile)->recompile = i;
	}
}

/* ---- the input ---- */

static void take_input(struct trace_reading *r)
{
	const struct trace *t = r->t;
	struct fact_input *in = &r->f->input[t->input];
	unsigned s = (unsigned)(t->first_usec / 1000000 % 86400), us = (unsigned)(t->first_usec % 1000000);
	buf_reset(&r->tmp);
	buf_addf(&r->tmp, "%02u-%02uT%02u:%02u:%02u.%06u", t->first_day / 100u, t->first_day % 100u, s / 3600, s / 60 % 60, s % 60, us);
	in->start = facts_intern(r->f, buf_slice(&r->tmp));
	in->span = (double)(t->last_usec - t->first_usec) / 1e6;
	in->torch_version = t->torch_version;
	in->bytes = t->bytes;
	in->lines = t->lines;
	in->records = t->records;
	in->rank = t->rank;
	in->pid = (int64_t)t->pid;
	in->processes = t->n_process;
	for (uint32_t i = 0; i < t->n_process; i++)
		in->resets += t->process[i].generation.number;
	in->graphs = (int64_t)t->graphs;
	in->program = t->exported_line > 0;
	in->exports |= t->exports || t->exported_line || t->n_export;
	in->events = t->events;
	for (uint32_t i = 0; i < t->n_artifact; i++)
		in->artifacts += !(t->artifact[i].flags & ART_UNLISTED);
	in->unread = t->unread;
	if (t->compile_seconds > 0)
		in->seconds = t->compile_seconds;
	for (uint32_t i = 0; i < t->n_unknown; i++) {
		const struct trace_unknown *k = &t->unknown[i];
		in->unknown += k->count;
		GROW(r->f->unknown, r->f->n_unknown, r->f->cap_unknown, 1);
		r->f->unknown[r->f->n_unknown++] =
		    (struct fact_unknown){.input = t->input, .key = k->key, .count = k->count, .line = k->line};
	}
	for (unsigned i = 0; i < DAMAGE_COUNT; i++) {
		if (!t->damage[i].count)
			continue;
		uint32_t kind = facts_intern(r->f, slice_str(trace_damage_name[i])),
			 what = facts_intern(r->f, slice_str(trace_damage_text[i]));
		GROW(r->f->damage, r->f->n_damage, r->f->cap_damage, 1);
		r->f->damage[r->f->n_damage++] = (struct fact_damage){
		    .input = t->input, .kind = kind, .what = what, .count = t->damage[i].count, .line = t->damage[i].line};
	}
}

enum { WORKER_TAIL = 8 << 10 }; /* bytes kept of the last lines of a worker that died */

/* ---- caches, graphs ---- */

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
	to->ops = a->nodes;
	to->bytes = a->size;
	if (keep)
		to->text = facts_intern(r->f, payload);
}

static void take_skips(struct trace_reading *r)
{
	for (uint32_t i = r->t->from.cudagraph; i < r->f->n_cudagraph; i++) {
		struct fact_cudagraph *x = &r->f->cudagraph[i];
		struct slice rest = facts_text(r->f, x->reason);
		struct srcloc at;
		if (x->compile != NONE)
			x->loc = r->f->compile[x->compile].loc;
		/* "... due to mutated inputs (1 instances). Found from : \n   File "app/m.py", line 5, in f" */
		while (srcloc_next(&rest, &at))
			if (srcloc_is_user(at.file) && at.line)
				x->loc = facts_loc(r->f, &at);
	}
}

/* A compilation that started without any metrics: the job ended in it. */
static void take_unfinished(struct trace_reading *r)
{
	for (uint32_t i = r->t->from.compile; i < r->f->n_compile; i++) {
		const struct fact_compile *c = &r->f->compile[i];
		if (c->status != COMPILE_UNKNOWN || !c->started)
			continue;
		struct fact_marker *m = facts_new_marker(r->f, c->src);
		m->component = COMPONENT_DYNAMO;
		m->compile = i;
		m->what = facts_intern(r->f, SLICE("dynamo_start"));
	}
}

/* ---- records as they are read ---- */

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
		} else if (trace_kind[a->kind].flags & K_GRAPH) {
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

int trace_read_facts(struct trace *t, const struct facts_options *o, const struct trace_hooks *outer, struct err *err)
{
	static const struct facts_options plain;
	struct trace_reading r = {.f = t->f, .t = t, .o = o ? o : &plain};
	struct trace_hooks hooks = outer ? *outer : (struct trace_hooks){.in_part = true};
	hooks.rows = &r;
	reading_vllm_begin(&r.vllm);
	int status = trace_read(t, &hooks, err);
	if (status == 0) {
		take_compiles(&r);
		take_breaks(&r);
		take_recompiles(&r);
		reading_failures(&r);
		reading_partial_end(&r);
		reading_shapes(&r);
		take_skips(&r);
		take_unfinished(&r);
		reading_metrics_end(&r);
		reading_ranks_end(&r);
		take_input(&r);
		trace_keep_strings(t);
	}
	phases_end(&r);
	reading_ranks_release(&r.ranks);
	reading_vllm_release(&r.vllm);
	json_tape_release(&r.tape);
	free(r.error);
	free(r.note);
	free(r.metric);
	buf_release(&r.tmp);
	return status;
}

int facts_add_trace(struct facts *f, const char *path, const struct facts_options *o, struct err *err)
{
	struct trace t;
	trace_init(&t, path, f);
	int status = trace_read_facts(&t, o, NULL, err);
	trace_release(&t);
	return status;
}
