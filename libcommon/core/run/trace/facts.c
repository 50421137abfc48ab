/* facts.c - derives facts from the rows that reduce fills: whole compilations, kinds of breaks, the input itself. */
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
	OWNED(intern_release) struct intern frames = {0};
	FREED uint32_t *first = xcalloc(r->f->n_compile - from + 1, sizeof(*first));
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

static void take_recompiles(struct trace_reading *r)
{
	for (uint32_t i = r->t->from.recompile; i < r->f->n_recompile; i++) {
		struct fact_recompile *x = &r->f->recompile[i];
		if (x->loc.file == NONE && x->compile != NONE)
			x->loc = r->f->compile[x->compile].loc;
		else if (x->compile != NONE)
			facts_whole_file(r->f, &x->loc, &r->f->compile[x->compile].loc);
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

/* ---- caches, graphs ---- */

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

/* ---- reading ---- */

int trace_read_facts(struct trace *t, const struct facts_options *o, const struct trace_hooks *outer, struct err *err)
{
	static const struct facts_options plain;
	struct trace_reading r = {.f = t->f, .t = t, .o = o ? o : &plain};
	struct trace_hooks hooks = outer ? *outer : (struct trace_hooks){.in_part = true};
	hooks.rows = &r;
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
