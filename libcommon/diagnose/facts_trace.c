/* facts_trace.c - a structured trace into facts: compile ids, breaks, recompiles, limits, graphs, caches, the input itself. */
#include "diagnose/facts_part.h"

#include "trace/text.h"

/* ---- names and places ---- */

uint32_t reading_text(struct trace_reading *r, uint32_t name)
{
	return name == INTERN_NONE ? INTERN_NONE : facts_intern(r->f, intern_get(&r->t.names, name));
}

struct fact_loc reading_loc(struct trace_reading *r, const struct trace_loc *loc)
{
	return (struct fact_loc){reading_text(r, loc->file), loc->line, reading_text(r, loc->function), reading_text(r, loc->code)};
}

uint32_t reading_compile(struct trace_reading *r, uint32_t compile, uint64_t line)
{
	char text[COMPILE_ID_TEXT];
	if (compile == FACT_NONE)
		return FACT_NONE;
	while (r->n_row <= compile) {
		const struct compile_id *id = &r->t.compile[r->n_row].id;
		GROW(r->row, r->n_row, r->cap_row, 1);
		r->row[r->n_row] = FACT_NONE;
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
	for (; node != UINT32_MAX && n < ARRAY_LEN(path); node = t->starts.node[node].parent)
		path[n++] = node;
	buf_reset(&r->tmp);
	while (n--) {
		const struct trace_frame *f = &t->frame[t->starts.node[path[n]].frame];
		struct srcloc at = {
			.file = intern_get(&t->names, f->file), .func = intern_get(&t->names, f->name),
			.code = intern_get(&t->names, f->code), .line = f->line > 0 ? (uint32_t)f->line : 0,
		};
		enum srcloc_origin origin = srcloc_origin(at.file);
		if (n && (origin == SRCLOC_TORCH || origin == SRCLOC_STDLIB))
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
	if (node == UINT32_MAX)
		return facts_no_loc();
	const struct trace_frame *f = &r->t.frame[r->t.starts.node[node].frame];
	return (struct fact_loc){reading_text(r, f->file), f->line > 0 ? (uint32_t)f->line : 0, reading_text(r, f->name), INTERN_NONE};
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
	if (c->stack != UINT32_MAX && to->stack == INTERN_NONE)
		to->stack = stack_text(r, c->stack);
	enum fact_status status = status_of(c);
	if (status != COMPILE_UNKNOWN)
		to->status = status;
	if (c->loc.file != INTERN_NONE)
		to->loc = reading_loc(r, &c->loc);
	else if (to->loc.file == INTERN_NONE)
		to->loc = loc_of_start(r, c->stack);
	if (to->resume_of == INTERN_NONE && facts_resume_name(facts_text(r->f, to->loc.function), &function, &to->resume_line))
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
	if (c->fail_type != INTERN_NONE) {
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
		if (c->loc.file == INTERN_NONE) {
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
		if (row == FACT_NONE)
			continue;
		join_attempt(r, c, &r->f->compile[row]);
	}
	place_by_frame(r, r->first_compile);
}

/* ---- breaks ---- */

/* The registry's names of torch 2.13 (torch/_dynamo/graph_break_registry.json) and the reasons of 2.0 to 2.6. */
static enum fact_break_kind break_kind(struct slice reason)
{
	static const char *const jump[] = {"Data-dependent branching", "Data-dependent jump", "generic_jump", "data-dependent control flow"};
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
	if (b->compile == FACT_NONE || f->compile[b->compile].status != COMPILE_FAILED)
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
		if (to->loc.file == INTERN_NONE && to->compile != FACT_NONE)
			to->loc = r->f->compile[to->compile].loc;
		to->guard = reading_text(r, x->guard);
		to->old = reading_text(r, x->old);
		to->new = reading_text(r, x->new);
		to->all = reading_text(r, x->all);
		if (slice_find(text.guard, "___check_type_id(")) {
			struct slice hint = hint_type(reason);
			to->type_old = x->old != INTERN_NONE ? to->old : facts_intern(r->f, hint);
		}
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
	if (r->t.compile_seconds > 0)
		in->seconds = r->t.compile_seconds;
	for (unsigned i = 0; i < DAMAGE_COUNT; i++) {
		if (!r->t.damage[i].count)
			continue;
		GROW(r->f->damage, r->f->n_damage, r->f->cap_damage, 1);
		r->f->damage[r->f->n_damage++] = (struct fact_damage){
			r->input, facts_intern(r->f, slice_str(trace_damage_text[i])), r->t.damage[i].count, r->t.damage[i].line,
		};
	}
}

/* ---- records as they pass ---- */

static bool artifact_is(const struct trace_scan *s, const struct trace_record *rec, const char *name)
{
	uint32_t k = json_get(&s->tape, trace_value(s, rec, KIND_artifact), "name");
	return k != JSON_NONE && slice_is(json_slice(&s->tape, k), name);
}

static int on_record(void *ctx, struct trace_scan *s, struct trace_record *rec)
{
	struct trace_reading *r = ctx;
	if (rec->compile == UINT32_MAX || rec->flags & (REC_MALFORMED | REC_LOOSE | REC_OTHER_RANK))
		return 0;
	uint64_t line = s->first_line + rec->line;
	uint32_t compile = reading_compile(r, rec->compile, line);
	if (rec->kinds >> KIND_dynamo_output_graph & 1 && compile != FACT_NONE) {
		int64_t *graphs = &r->f->compile[compile].graphs;
		*graphs = *graphs < 0 ? 1 : *graphs + 1;
	}
	if (rec->kinds >> KIND_artifact & 1 && artifact_is(s, rec, "dynamo_error"))
		reading_error(r, compile, line, trace_payload(s, rec));
	return 0;
}

int facts_add_trace(struct facts *f, const char *path, const struct facts_options *o, struct err *err)
{
	struct trace_reading r = {.f = f, .o = o, .first_compile = f->n_compile};
	const struct trace_hooks hooks = {.ctx = &r, .record = on_record};
	r.input = facts_input(f, FACT_TRACE, path);
	trace_init(&r.t, path);
	int status = trace_read(&r.t, &hooks, err);
	if (status == 0) {
		take_compiles(&r);
		take_breaks(&r);
		take_recompiles(&r);
		reading_failures(&r);
		take_input(&r);
	} else {
		f->n_input--; /* nothing of it was taken: not one record */
	}
	trace_release(&r.t);
	free(r.row);
	free(r.error);
	buf_release(&r.tmp);
	return status;
}
