/* facts_trace.c - a structured trace into facts: compile ids, breaks, recompiles, limits, graphs, caches, the input itself. */
#include "base/jsonskim.h"
#include "diagnose/facts_part.h"
#include "trace/text.h"

/* ---- names and places ---- */

uint32_t reading_text(struct trace_reading *r, uint32_t name)
{
	return name == NONE ? NONE : facts_intern(r->f, intern_get(&r->t.names, name));
}

struct fact_loc reading_loc(struct trace_reading *r, const struct trace_loc *loc)
{
	return (struct fact_loc){reading_text(r, loc->file), loc->line, reading_text(r, loc->function), reading_text(r, loc->code)};
}

uint32_t reading_compile(struct trace_reading *r, uint32_t compile, uint64_t line)
{
	char text[COMPILE_ID_TEXT];
	if (compile == NONE)
		return NONE;
	while (r->n_row <= compile) {
		const struct compile_id *id = &r->t.compile[r->n_row].id;
		GROW(r->row, r->n_row, r->cap_row, 1);
		r->row[r->n_row] = NONE;
		if (id->frame >= 0 && id->compile >= 0 && !id->bad_line) {
			uint32_t before = r->f->n_compile;
			uint32_t row = facts_compile(r->f, r->input, slice_str(compile_id_text(id, text)), line);
			if (row < before)
				r->f->compile[row].attempts++;
			r->row[r->n_row] = row;
		}
		r->n_row++;
	}
	return r->row[compile];
}

/* ---- compile ids ---- */

/* "app/m.py:7 in f: code", outermost first; torch's own frames say nothing of the program. */
static uint32_t stack_text(struct trace_reading *r, uint32_t node)
{
	const struct trace *t = &r->t;
	uint32_t path[64], n = 0;
	for (; node != NONE && n < ARRAY_LEN(path); node = t->starts.node[node].parent)
		path[n++] = node;
	buf_reset(&r->tmp);
	while (n--) {
		const struct trace_frame *f = &t->frame[t->starts.node[path[n]].frame];
		struct srcloc at = {
		    .file = intern_get(&t->names, f->file),
		    .func = intern_get(&t->names, f->name),
		    .code = intern_get(&t->names, f->code),
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

/* Without metrics only the stack tells which frame it was. */
static struct fact_loc loc_of_start(struct trace_reading *r, uint32_t node)
{
	if (node == NONE)
		return facts_no_loc();
	const struct trace_frame *f = &r->t.frame[r->t.starts.node[node].frame];
	return (struct fact_loc){reading_text(r, f->file), f->line > 0 ? (uint32_t)f->line : 0, reading_text(r, f->name), NONE};
}

static enum fact_status status_of(const struct trace_compile *c)
{
	switch (c->status) {
	case STATUS_OK: return COMPILE_OK;
	case STATUS_EMPTY: return COMPILE_EMPTY;
	case STATUS_BREAK: return COMPILE_BREAK;
	case STATUS_ERROR: return COMPILE_FAILED;
	default: return COMPILE_UNKNOWN;
	}
}

/* One attempt into the row of its compile id: what has metrics is the last. */
static void join_attempt(struct trace_reading *r, const struct trace_compile *c, struct fact_compile *to)
{
	struct slice function;
	to->breaks += c->breaks;
	uint32_t stack = c->stack == NONE ? NONE : stack_text(r, c->stack);
	if (stack != NONE)
		to->stack = stack; /* with the code; metrics have only places */
	enum fact_status status = status_of(c);
	if (status != COMPILE_UNKNOWN)
		to->status = status;
	if (c->loc.file != NONE)
		to->loc = reading_loc(r, &c->loc);
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
		to->fail_type = reading_text(r, c->fail_type);
		to->fail_reason = reading_text(r, c->fail_reason);
	}
	if (to->seconds < 0)
		to->seconds = c->seconds;
}

/* What was refused (the limit is reached) has neither metrics with a place nor a start: the frame's first compilation has. */
static void place_by_frame(struct trace_reading *r, uint32_t from)
{
	struct intern frames = {0};
	uint32_t *first = xcalloc(r->f->n_compile - from + 1, sizeof(*first));
	for (uint32_t i = from; i < r->f->n_compile; i++) {
		struct fact_compile *c = &r->f->compile[i];
		int64_t key[2] = {c->autograd, c->frame};
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
	for (uint32_t i = 0; i < r->t.n_compile; i++) {
		const struct trace_compile *c = &r->t.compile[i];
		uint32_t row = reading_compile(r, i, c->line);
		if (row == NONE)
			continue;
		join_attempt(r, c, &r->f->compile[row]);
	}
	place_by_frame(r, r->first_compile);
	uint32_t n = r->f->n_compile - r->first_compile + 1;
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

/* A frame that was given up because of a break in it (a loop, a with block) has that break's text as its failure, too. */
static bool gave_up_frame(const struct facts *f, const struct fact_break *b)
{
	if (b->compile == NONE || f->compile[b->compile].status != COMPILE_FAILED)
		return false;
	struct slice reason = facts_text(f, b->reason), fail = facts_text(f, f->compile[b->compile].fail_reason);
	return reason.n && fail.n >= reason.n && !memcmp(reason.p, fail.p, reason.n);
}

static void take_breaks(struct trace_reading *r)
{
	for (uint32_t i = 0; i < r->t.n_brk; i++) {
		const struct trace_break *b = &r->t.brk[i];
		struct fact_break *to = facts_new_brk(r->f, reading_src(r, b->line));
		to->compile = reading_compile(r, b->compile, b->line);
		to->loc = reading_loc(r, &b->loc);
		to->reason = reading_text(r, b->reason);
		to->explanation = reading_text(r, b->explanation);
		to->hints = reading_text(r, b->hints);
		to->context = reading_text(r, b->context);
		to->url = reading_text(r, b->url);
		to->gb = b->gb;
		to->kind = gave_up_frame(r->f, to) ? BREAK_SKIPPED : break_kind(facts_text(r->f, to->reason));
		reading_note(r, to->compile)->skipped |= to->kind == BREAK_SKIPPED;
	}
}

/* ---- recompiles ---- */

/* "HINT: type Fast)" behind a guard on a type's id: the guard's own words are numbers. */
static struct slice hint_type(struct slice reason)
{
	const char *p = slice_find(reason, "(HINT: type "), *end;
	if (!p)
		return slice_of(NULL, 0);
	p += 12;
	end = memchr(p, ')', (size_t)(reason.p + reason.n - p));
	return slice_of(p, end ? (size_t)(end - p) : 0);
}

/* A guard on a type's id names only the type that was. The compilation that it led to guards the type that is, under the same name
 * (in the guards of torch 2.13 with L['...'] around it), before its own recompile is due:
 *
 *     | | +- TYPE_MATCH: ___check_type_id(L['mode'], 94393191699040), type=<class '__main__.Slow'>  # if isinstance(...
 */
static void find_new_type(struct trace_reading *r, uint32_t compile, struct slice guards)
{
	uint32_t last = r->t.n_recompile - 1;
	if (!r->t.n_recompile || r->t.recompile[last].compile != compile)
		return;
	struct slice guard = intern_get(&r->t.names, r->t.recompile[last].guard);
	const char *from = slice_find(guard, "___check_type_id("), *comma;
	if (r->t.recompile[last].guard == NONE || !from || !(comma = slice_find(slice_of(from, (size_t)(guard.p + guard.n - from)), ", ")))
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
		GROW(r->new_type, r->n_new_type, r->cap_new_type, last + 1 > r->n_new_type ? last + 1 - r->n_new_type : 0);
		while (r->n_new_type <= last)
			r->new_type[r->n_new_type++] = NONE;
		r->new_type[last] = facts_intern(r->f, slice_of(type + 13, (size_t)(end - type - 13)));
		return;
	}
}

static void take_recompiles(struct trace_reading *r)
{
	for (uint32_t i = 0; i < r->t.n_recompile; i++) {
		const struct trace_recompile *x = &r->t.recompile[i];
		struct recompile_text text;
		struct slice reason = intern_get(&r->t.names, x->reason);
		struct fact_recompile *to = facts_new_recompile(r->f, reading_src(r, x->line));
		recompile_text_parse(reason, &text);
		to->compile = reading_compile(r, x->compile, x->line);
		to->against = facts_intern(r->f, text.rejected_by);
		to->loc = reading_loc(r, &x->loc);
		if (to->loc.file == NONE && to->compile != NONE)
			to->loc = r->f->compile[to->compile].loc;
		to->guard = reading_text(r, x->guard);
		to->old = reading_text(r, x->old);
		to->new = reading_text(r, x->new);
		to->all = reading_text(r, x->all);
		if (slice_find(text.guard, "___check_type_id(")) {
			struct slice hint = hint_type(reason);
			to->type_old = x->old != NONE ? to->old : facts_intern(r->f, hint);
			to->type_new = i < r->n_new_type ? r->new_type[i] : NONE;
		}
		reading_note(r, to->compile)->recompile = (uint32_t)(to - r->f->recompile);
	}
}

/* ---- the input ---- */

static void take_input(struct trace_reading *r)
{
	struct fact_input *in = &r->f->input[r->input];
	in->torch_version = reading_text(r, r->t.torch_version);
	in->bytes = r->t.bytes;
	in->lines = r->t.lines;
	in->records = r->t.records;
	in->rank = r->t.rank;
	in->unread = r->t.unread;
	if (r->t.compile_seconds > 0)
		in->seconds = r->t.compile_seconds;
	for (unsigned i = 0; i < DAMAGE_COUNT; i++) {
		if (!r->t.damage[i].count)
			continue;
		GROW(r->f->damage, r->f->n_damage, r->f->cap_damage, 1);
		r->f->damage[r->f->n_damage++] = (struct fact_damage){
		    r->input,
		    facts_intern(r->f, slice_str(trace_damage_text[i])),
		    r->t.damage[i].count,
		    r->t.damage[i].line,
		};
	}
}

/* ---- caches, graphs ---- */

/* {"cache_state": "bypass", "cache_bypass_reason": "..."}; a miss: "cache_status_detailed": "full_miss". */
static uint32_t cache_reason(struct trace_reading *r, struct slice payload, unsigned flags)
{
	static const char *const keys[] = {"cache_bypass_reason", "cache_status_detailed"};
	struct slice value[ARRAY_LEN(keys)];
	struct json_skim skim;
	uint32_t root;
	if (flags & ART_HIT || json_skim_members(&skim, payload, keys, value, ARRAY_LEN(keys)) < 0)
		return NONE;
	struct slice reason = value[flags & ART_BYPASS ? 0 : 1];
	if (!reason.p || reason.p[0] != '"' || slice_is(reason, "\"full_miss\""))
		return NONE;
	json_tape_text(&r->tape, reason.p, reason.n);
	if (json_parse(&r->tape, 0, reason.n, &root) < 0)
		return NONE;
	buf_reset(&r->tmp);
	json_unescape(&r->tape, root, &r->tmp);
	for (size_t i = 0; i < r->tmp.len; i++)
		if (r->tmp.p[i] == '\n')
			r->tmp.p[i] = ' ';
	return facts_intern(r->f, slice_trim(buf_slice(&r->tmp)));
}

static void take_cache(struct trace_reading *r, uint32_t compile, const struct trace_artifact *a, struct slice payload)
{
	struct slice name = intern_get(&r->t.names, a->name);
	if (!(a->flags & (ART_HIT | ART_MISS | ART_BYPASS)))
		return;
	uint32_t reason = cache_reason(r, payload, a->flags);
	struct fact_cache *to = facts_new_cache(r->f, reading_src(r, a->line));
	to->compile = compile;
	to->kind = slice_starts(name, "fx_graph_cache_")      ? FACT_CACHE_FX
		   : slice_starts(name, "aotautograd_cache_") ? FACT_CACHE_AOT
		   : slice_starts(name, "fx_graph_bundled_")  ? FACT_CACHE_BUNDLED
							      : FACT_CACHE_OTHER;
	to->what = a->flags & ART_HIT ? FACT_HIT : a->flags & ART_MISS ? FACT_MISS : FACT_BYPASS;
	to->name = reading_text(r, a->name);
	to->reason = reason;
}

static void take_graph(struct trace_reading *r, uint32_t compile, const struct trace_artifact *a, struct slice payload, bool keep)
{
	struct fact_graph *to = facts_new_graph(r->f, reading_src(r, a->line));
	to->compile = compile;
	to->name = reading_text(r, a->name);
	to->ops = a->nodes;
	to->bytes = a->size;
	if (keep)
		to->text = facts_intern(r->f, payload);
}

static void take_skips(struct trace_reading *r)
{
	for (uint32_t i = 0; i < r->t.n_skip; i++) {
		const struct trace_skip *x = &r->t.skip[i];
		struct slice reason = intern_get(&r->t.names, x->reason), rest = reason;
		struct srcloc at;
		struct fact_cudagraph *to = facts_new_cudagraph(r->f, reading_src(r, r->t.compile[x->compile].line));
		to->compile = reading_compile(r, x->compile, r->t.compile[x->compile].line);
		to->reason = reading_text(r, x->reason);
		if (to->compile != NONE)
			to->loc = r->f->compile[to->compile].loc;
		/* "... due to mutated inputs (1 instances). Found from : \n   File "app/m.py", line 5, in f" */
		while (srcloc_next(&rest, &at))
			if (srcloc_is_user(at.file) && at.line)
				to->loc = facts_loc(r->f, &at);
	}
}

/* A compilation that began and of which no metrics tell: the job ended in it. */
static void take_unfinished(struct trace_reading *r)
{
	for (uint32_t i = r->first_compile; i < r->f->n_compile; i++) {
		const struct fact_compile *c = &r->f->compile[i];
		if (c->status != COMPILE_UNKNOWN || !c->started)
			continue;
		struct fact_marker *m = facts_new_marker(r->f, c->src);
		m->component = COMPONENT_DYNAMO;
		m->compile = i;
		m->what = facts_intern(r->f, SLICE("dynamo_start"));
	}
}

/* ---- records as they pass ---- */

static void take_artifacts(struct trace_reading *r, uint32_t compile, const struct trace_scan *s, const struct trace_record *rec)
{
	struct slice payload = trace_payload(s, rec);
	for (uint32_t i = 0; i < rec->artifacts; i++) {
		const struct trace_artifact *a = &r->t.artifact[rec->first_artifact + i];
		if (a->kind == KIND_artifact) {
			struct slice name = intern_get(&r->t.names, a->name);
			take_cache(r, compile, a, payload);
			if (slice_is(name, "dynamo_error"))
				reading_error(r, compile, a->line, payload);
		} else if (trace_kind[a->kind].flags & K_GRAPH) {
			take_graph(r, compile, a, payload, r->o->keep_graphs);
		} else if (a->kind == KIND_dynamo_cpp_guards_str) {
			find_new_type(r, a->compile, payload);
			if (r->o->keep_guards)
				take_graph(r, compile, a, payload, true);
		}
	}
}

/* Seconds since the log's first record; a log over midnight of several days is not measured. */
static double since_start(const struct trace *t, const struct trace_record *rec)
{
	double us = (double)rec->usec - (double)t->first_usec;
	return us < 0 ? us / 1e6 + 86400 : us / 1e6;
}

static int on_record(void *ctx, struct trace_scan *s, struct trace_record *rec)
{
	struct trace_reading *r = ctx;
	if (rec->compile == NONE || rec->flags & (REC_MALFORMED | REC_LOOSE | REC_OTHER_RANK))
		return 0;
	uint64_t line = s->first_line + rec->line, kinds = rec->kinds;
	uint32_t known = r->f->n_compile, compile = reading_compile(r, rec->compile, line);
	if (r->f->n_compile > known)
		r->f->compile[compile].start = since_start(&r->t, rec);
	if (kinds & ~(1ull << KIND_chromium_event))
		take_artifacts(r, compile, s, rec);
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
			reading_bound(r, compile, line, &s->tape, trace_value(s, rec, bounds[i]), bounds[i]);
	return 0;
}

int facts_add_trace(struct facts *f, const char *path, const struct facts_options *o, struct err *err)
{
	struct trace_reading r = {.f = f, .o = o, .first_compile = f->n_compile, .first_bound = f->n_bound};
	const struct trace_hooks hooks = {
	    .ctx = &r,
	    .record = on_record,
	    .emit = phases_emit,
	    .commit = phases_commit,
	    .free_slot = phases_free_slot,
	    .in_part = true,
	};
	r.input = facts_input(f, FACT_TRACE, path);
	trace_init(&r.t, path);
	int status = trace_read(&r.t, &hooks, err);
	if (status == 0) {
		take_compiles(&r);
		take_breaks(&r);
		take_recompiles(&r);
		reading_failures(&r);
		reading_shapes(&r);
		take_skips(&r);
		take_unfinished(&r);
		reading_metrics_end(&r);
		take_input(&r);
	} else {
		f->n_input--; /* nothing of it was taken: not one record */
	}
	phases_end(&r);
	trace_release(&r.t);
	json_tape_release(&r.tape);
	free(r.row);
	free(r.error);
	free(r.note);
	free(r.metric);
	free(r.new_type);
	buf_release(&r.tmp);
	return status;
}
