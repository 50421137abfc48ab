/* facts_error.c - failures of a structured trace: from metrics, with the traceback of dynamo_error. */
#include "run/trace/facts_part.h"

#include "run/traceback.h"
#include "run/text.h"

enum { STACK_MAX = 256 << 10, COMPILER_ERRORS = 16 };

/* ---- tracebacks ---- */

/* torch/_inductor/exc.py CppCompileError, and Triton's: "Command:\ng++ ...\n\nOutput:\n/tmp/k.cpp:17:57: error: no matching ..." and
 * below it the line as the compiler quotes it, "   17 |     auto x = f(y);". */
static void take_compiler_errors(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice text)
{
	const char *output = slice_find(text, "\nOutput:\n"), *command = slice_find(text, "\nCommand:\n");
	struct slice rest = output ? slice_of(output + 9, (size_t)(text.p + text.n - output - 9)) : slice_of(NULL, 0), one;
	uint32_t ran = NONE, n = 0;
	if (command && output > command) {
		struct slice s = slice_of(command + 10, (size_t)(output - command - 10));
		if (slice_line(&s, &one))
			ran = facts_intern(r->f, one);
	}
	while (n < COMPILER_ERRORS && slice_line(&rest, &one)) {
		struct srcloc at;
		struct slice next = rest, quoted;
		if (!srcloc_parse(one, &at) || at.form != SRCLOC_COMPILER || !slice_find(at.severity, "error"))
			continue;
		struct fact_compiler_error *to = facts_new_compiler_error(r->f, src);
		n++;
		to->compile = compile;
		to->at = facts_loc(r->f, &at);
		to->column = at.col;
		to->severity = facts_intern(r->f, at.severity);
		to->message = facts_intern(r->f, at.message);
		to->command = ran;
		const char *bar = slice_line(&next, &quoted) ? slice_chr(quoted, '|') : NULL;
		if (bar)
			to->at.code = facts_intern(r->f, slice_trim(slice_of(bar + 1, (size_t)(quoted.p + quoted.n - bar - 1))));
	}
}

void reading_error(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice text)
{
	struct traceback tb;
	struct trace_error e = {compile, src, NONE, NONE, NONE, NONE, facts_no_loc(), facts_no_loc(), NONE, false};
	e.stack = facts_intern(r->f, slice_of(text.p, text.n < STACK_MAX ? text.n : STACK_MAX));
	if (traceback_last(text, &tb)) {
		e.type = facts_intern(r->f, tb.type);
		e.message = facts_intern(r->f, tb.message);
		traceback_frames(traceback_head(&tb), FAILURE_FRAMES, &r->tmp);
		e.frames = facts_intern(r->f, buf_slice(&r->tmp));
		const struct srcloc *user = tb.from_user.line ? &tb.from_user : &tb.user;
		if (user->line)
			e.user = facts_loc(r->f, user);
		if (tb.torch.line)
			e.torch = facts_loc(r->f, &tb.torch);
	}
	GROW(r->error, r->n_error, r->cap_error, 1);
	r->error[r->n_error++] = e;
	take_compiler_errors(r, compile, src, text);
	facts_add_known(r->f, r->o, src, compile, text);
}

/* "gt: "Sym(zuf0 > 2.0)" = item > 2.0;  item = gt = None": gt = item > 2.0 */
static uint32_t operation_of(struct trace_reading *r, struct slice line)
{
	const char *type = slice_find(line, ": \""), *is = slice_find(line, type ? "\" = " : " = "), *end = slice_find(line, ";  ");
	if (!is || (type && type > is))
		return NONE;
	is += type != NULL; /* from the space on */
	const char *stop = end && end > is ? end : line.p + line.n, *name = type ? type : is;
	buf_reset(&r->tmp);
	buf_add(&r->tmp, line.p, (size_t)(name - line.p));
	buf_add(&r->tmp, is, (size_t)(stop - is));
	return facts_intern(r->f, buf_slice(&r->tmp));
}

void reading_partial(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice text)
{
	struct slice line;
	r->partial.src = src;
	r->partial.compile = compile;
	r->partial.operation = NONE;
	r->partial.loc = facts_no_loc();
	while (slice_line(&text, &line)) {
		struct slice at = slice_trim(line);
		struct srcloc loc;
		uint32_t op;
		if (slice_starts(at, "# File: ")) { /* "# File: /app/m.py:6 in forward, code: if n > 2:" */
			if (srcloc_parse(at, &loc) && loc.line)
				r->partial.loc = facts_loc(r->f, &loc);
		} else if (at.n && at.p[0] != '#' && (op = operation_of(r, at)) != NONE) {
			r->partial.operation = op;
		}
	}
}

/* Under torch.compile, metrics report the failure; an export that continued (draft_export) has its program in the log. */
void reading_partial_end(struct trace_reading *r)
{
	struct facts *f = r->f;
	uint32_t compile = r->partial.compile;
	if (!r->partial.src.line || r->t->exported_line > r->partial.src.line || (compile != NONE && f->compile[compile].graphs > 0))
		return;
	for (uint32_t i = r->t->from.failure; i < f->n_failure; i++) {
		const struct fact_failure *x = &f->failure[i];
		bool here = x->user.line && x->user.line == r->partial.loc.line && x->user.file == r->partial.loc.file;
		if (x->compile == compile || (x->compile == NONE && here))
			return;
	}
	for (uint32_t i = 0; i < r->t->n_export; i++)
		if (r->t->export[i].kind == EXPORT_DATA_DEPENDENT)
			return; /* it has the cause */
	f->input[r->t->input].exports = true;
	buf_reset(&r->tmp);
	buf_adds(&r->tmp, FACT_EXPORT_STOPPED);
	if (r->partial.operation != NONE) {
		buf_adds(&r->tmp, " at or behind ");
		buf_add_slice(&r->tmp, facts_text(f, r->partial.operation));
	}
	struct fact_failure *to = facts_new_failure(f, r->partial.src);
	to->compile = compile;
	to->reason = facts_intern(f, buf_slice(&r->tmp));
	to->user = r->partial.loc;
	to->inferred = true;
}

/* ---- failures ---- */

/* The last dynamo_error of this compile id before the metrics that report its failure. */
static struct trace_error *error_of(struct trace_reading *r, uint32_t compile, uint64_t line)
{
	for (uint32_t i = reading_note(r, compile)->error, n = 0; i != NONE && n < 64; i = r->error[i].before, n++)
		if (r->error[i].src.line < line && !r->error[i].used)
			return &r->error[i];
	return NULL;
}

/* "InductorError" of metrics is "torch._inductor.exc.InductorError" in the traceback. */
static bool same_type(struct slice whole, struct slice name)
{
	return whole.n >= name.n && !memcmp(whole.p + whole.n - name.n, name.p, name.n) &&
	       (whole.n == name.n || whole.p[whole.n - name.n - 1] == '.');
}

static void take_error(struct trace_reading *r, struct fact_failure *to, struct trace_error *e)
{
	if (!e)
		return;
	e->used = true;
	if (to->type == NONE || same_type(facts_text(r->f, e->type), facts_text(r->f, to->type)))
		to->type = e->type;
	if (to->reason == NONE)
		to->reason = e->message;
	if (!to->user.line)
		to->user = e->user;
	else if (to->user.line == e->user.line && to->user.file == e->user.file)
		to->user = e->user; /* it has the function and the code, too */
	to->torch = e->torch;
	to->frames = e->frames;
	to->stack = e->stack;
}

/* "(currently set to 8)", "hit config.recompile_limit (8)" */
static uint64_t limit_of(struct slice reason)
{
	static const char *const before[] = {"currently set to ", "recompile_limit (", "cache_size_limit ("};
	for (unsigned i = 0; i < ARRAY_LEN(before); i++) {
		const char *p = slice_find(reason, before[i]);
		uint64_t limit;
		size_t n = 0;
		if (!p)
			continue;
		p += strlen(before[i]);
		while (p + n < reason.p + reason.n && is_digit(p[n]))
			n++;
		if (slice_u64(slice_of(p, n), &limit))
			return limit;
	}
	return 0;
}

/* torch 2.13: gb0039 "Dynamo recompile limit exceeded" (torch/_dynamo/convert_frame.py); older: "recompile_limit reached",
 * "cache_size_limit reached". */
static bool is_limit(struct slice reason)
{
	return slice_starts(reason, "Dynamo recompile limit exceeded") || slice_find(reason, "recompile_limit reached") ||
	       slice_find(reason, "cache_size_limit reached");
}

static void take_limit(struct trace_reading *r, const struct fact_failure *x)
{
	struct slice reason = facts_text(r->f, x->reason);
	uint32_t compile = x->compile, last = reading_note(r, compile)->recompile;
	struct fact_limit *to = facts_new_limit(r->f, x->src);
	to->compile = compile;
	if (compile != NONE)
		to->loc = r->f->compile[compile].loc;
	to->limit = limit_of(reason);
	to->accumulated = slice_find(reason, "accumulated_recompile_limit") || slice_find(reason, "accumulated_cache_size_limit");
	to->reason = last == NONE ? NONE : r->f->recompile[last].guard;
}

static void take_failure(struct trace_reading *r, uint32_t row)
{
	struct facts *f = r->f;
	struct fact_failure *to = &f->failure[row];
	if (to->restart) {
		struct break_text b;
		break_text_parse(facts_text(f, to->reason), &b);
		to->caught = true;
		if (b.at.file.n)
			to->user = facts_loc(f, &b.at);
		return;
	}
	struct trace_error *error = error_of(r, to->compile, to->src.line);
	take_error(r, to, error);
	if (!error) /* else the message was searched with its traceback */
		facts_add_known(f, r->o, to->src, to->compile, facts_text(f, to->reason));
	struct slice reason = facts_text(f, to->reason);
	struct srcloc user;
	if (!to->user.line && traceback_user(reason, &user))
		to->user = facts_loc(f, &user);
	if (to->compile != NONE) {
		struct fact_compile *c = &f->compile[to->compile];
		if (!to->user.line)
			to->user = c->loc;
		if (is_limit(reason) || reading_note(r, to->compile)->skipped) {
			to->caught = true; /* the frame falls back to eager */
			c->status = COMPILE_SKIPPED;
		}
		if (slice_starts(reason, "backend='")) {
			struct slice name = slice_of(reason.p + 9, reason.n - 9);
			const char *q = slice_chr(name, '\'');
			c->backend = facts_intern(f, slice_of(name.p, q ? (size_t)(q - name.p) : 0));
		}
	}
	if (is_limit(reason))
		take_limit(r, to);
}

void reading_failures(struct trace_reading *r)
{
	for (uint32_t i = 0; i < r->n_error; i++) {
		uint32_t *last = &reading_note(r, r->error[i].compile)->error;
		r->error[i].before = *last;
		*last = i;
	}
	for (uint32_t i = r->t->from.failure, n = r->f->n_failure; i < n; i++)
		take_failure(r, i);
	/* Failures without metrics: the job ended before they were written. */
	for (uint32_t i = 0; i < r->n_error; i++) {
		if (r->error[i].used)
			continue;
		struct fact_failure *to = facts_new_failure(r->f, r->error[i].src);
		to->compile = r->error[i].compile;
		to->inferred = true;
		take_error(r, to, &r->error[i]);
	}
	for (uint32_t i = r->t->from.failure; i < r->f->n_failure; i++) {
		const struct fact_failure *x = &r->f->failure[i];
		if (x->restart && x->compile != NONE)
			r->f->compile[x->compile].restarted++;
	}
}
