/* Recompilations, limits, and the steps of compiling a frame. */
#include "run/textlog/textlog_part.h"
#include "run/text.h"

/* A function's name at s: up to a space, or text in <>, which may contain spaces ("<graph break in f>"). */
static struct slice function_name(struct slice s)
{
	size_t i = 0;
	unsigned depth = 0;
	for (; i < s.n && (depth || s.p[i] != ' '); i++) {
		depth += s.p[i] == '<';
		depth -= depth && s.p[i] == '>';
	}
	return slice_of(s.p, i);
}

/* ---- recompilations ---- */

/* "Recompiling function f in app.py:5" */
static void recompiled(struct slice line, struct slice *name, struct srcloc *at)
{
	slice_take(&line, "Recompiling function ");
	*name = function_name(line);
	*at = (struct srcloc){0};
	line = slice_skip(line, name->n);
	if (!slice_take(&line, " in "))
		return;
	line = slice_trim(line);
	if (!place_parse(line, at))
		at->file = line;
	at->func = *name;
}

/* A line of the reasons: without its indentation and dash. False: a heading, or not part of it. */
static bool reason_line(struct slice line, struct slice *text)
{
	line = slice_unindent(line);
	if (!slice_starts(line, "-") || (line.n > 1 && line.p[1] != ' '))
		return false;
	*text = slice_skip(line, 2);
	return true;
}

static bool continues(struct slice reason) { return !reason.n || reason.p[0] == ' ' || slice_starts(reason, "User stack trace:"); }

/* Finds where the record about one recompilation ends. */
static uint32_t recompile_end(const struct block *b, uint32_t i)
{
	uint32_t k = i + 1;
	for (; k < b->n; k++) {
		struct slice line = block_line(b, k), t = slice_unindent(line);
		if (slice_starts(t, "Recompiling function "))
			break;
		if (b->record || !t.n || line.p[0] == ' ')
			continue;
		if (!slice_starts(t, "- ") && !slice_starts(t, "triggered by") && !slice_starts(t, "guard "))
			break;
	}
	return k;
}

/* The frame of a compilation, from whichever line names it first. */
static void log_frame(struct textlog *t, uint32_t compile, struct slice function, const struct fact_loc *loc)
{
	struct fact_compile *c = compile == NONE ? NULL : &t->f->compile[compile];
	struct slice of;
	if (!c || c->loc.line || loc->file == NONE || !loc->line)
		return; /* the first frame of an id keeps it */
	c->loc = *loc;
	if (facts_resume_name(function, &of, &c->resume_line))
		c->resume_of = log_text(t, of);
}

static void add_recompile(struct block *b, uint32_t i, struct slice name, const struct srcloc *at, struct slice first, struct slice all)
{
	struct textlog *t = b->t;
	struct recompile_text text;
	recompile_text_parse(first, &text);
	block_begins(b, true);
	struct fact_recompile *row = LOG_ADD(b, i, recompile);
	if (!row)
		return;
	struct fact_loc frame = log_loc(t, at);
	row->loc = text.at.line ? log_loc(t, &text.at) : frame;
	facts_whole_file(t->f, &row->loc, &frame);
	row->against = log_text(t, text.rejected_by);
	row->guard = log_text(t, text.guard);
	row->old = log_text(t, text.old);
	row->new = log_text(t, text.new);
	row->all = log_text(t, all);
	log_frame(t, row->compile, name, &frame);
}

uint32_t parse_recompile(struct block *b, uint32_t i)
{
	static const char same[] = "triggered by the following guard failure: "; /* 2.0, 2.1 */
	uint32_t end = recompile_end(b, i), n = 0;
	if (end == b->n && !b->final)
		return BLOCK_MORE;
	LOCAL_BUF first = {0}, all = {0};
	struct slice name, text;
	struct srcloc at;
	recompiled(slice_unindent(block_line(b, i)), &name, &at);
	for (uint32_t k = i + 1; k < end; k++) {
		struct slice line = slice_unindent(block_line(b, k));
		if (slice_take(&line, same))
			text = line;
		else if (!reason_line(line, &text))
			continue;
		if (!continues(text)) {
			n++;
			if (all.len)
				buf_addc(&all, '\n');
			buf_add_slice(&all, slice_trim(text));
		}
		if (n == 1) {
			if (first.len)
				buf_addc(&first, '\n');
			buf_add_slice(&first, text);
		}
	}
	add_recompile(b, i, name, &at, buf_slice(&first), buf_slice(&all));
	return end - i;
}

/* 2.0: ('Recompiling function step in /home/user/a.py', "triggered by the following guard failure: L['t'] == 0") */
uint32_t parse_recompile_tuple(struct block *b, uint32_t i)
{
	struct slice line = slice_trim(block_line(b, i)), name;
	const char *comma = slice_find(line, "', "), *why = slice_find(line, "guard failure: ");
	if (!comma || !why || why < comma)
		return 0;
	struct srcloc at;
	recompiled(slice_of(line.p + 2, (size_t)(comma - line.p - 2)), &name, &at);
	struct slice reason = slice_from(line, why + strlen("guard failure: "));
	if (slice_ends(reason, ")"))
		reason.n--;
	if (reason.n && (reason.p[reason.n - 1] == '"' || reason.p[reason.n - 1] == '\''))
		reason.n--;
	add_recompile(b, i, name, &at, reason, reason);
	return 1;
}

/* ---- limits ---- */

/* "'f' (app.py:152)" */
static void quoted_function(struct slice s, struct slice *name, struct srcloc *at)
{
	s = slice_trim(s);
	*at = (struct srcloc){0};
	*name = slice_of("", 0);
	const char *open = slice_find(s, "' (");
	if (!slice_starts(s, "'") || !open)
		return;
	*name = slice_of(s.p + 1, (size_t)(open - s.p) - 1);
	struct slice place = slice_from(s, open + 3);
	const char *close = slice_rchr(place, ')');
	if (place_parse(slice_upto(place, close), at))
		at->func = *name;
}

/* torch._dynamo hit config.cache_size_limit (64)                2.0 to 2.6; recompile_limit from 2.7; accumulated_...
 *    function: 'f' (app.py:5)
 *    last reason: tensor 'L['x']' size mismatch at index 0. expected 3, actual 5         2.0: "reasons:"
 * torchdynamo hit recompilation cache limit (64) for function 'f' (app.py:5), due to the following guard failures: [...]
 */
uint32_t parse_limit(struct block *b, uint32_t i)
{
	struct slice line = slice_unindent(block_line(b, i)), name = slice_of("", 0), reason = slice_of("", 0);
	struct srcloc at = {0};
	uint32_t k = i + 1;
	bool accumulated = false;
	if (!b->final && i + 3 > b->n)
		return BLOCK_MORE;
	const char *dot = slice_find(line, "hit config."), *open = slice_find(line, " (");
	const char *close = open ? slice_find(slice_from(line, open), ")") : NULL;
	if (!close)
		return 0;
	if (dot && dot < open) {
		accumulated = slice_starts(slice_from(line, dot + 11), "accumulated");
	} else {
		const char *f = slice_find(line, "for function "), *due = slice_find(line, ", due to the following guard failures: ");
		if (f)
			quoted_function(slice_upto(slice_from(line, f + 13), due > f ? due : NULL), &name, &at);
		if (due)
			reason = slice_trim(slice_from(line, due + strlen(", due to the following guard failures: ")));
	}
	for (; k < b->n && k < i + 8; k++) {
		struct slice s = slice_trim(block_line(b, k));
		if (slice_take(&s, "function: "))
			quoted_function(s, &name, &at);
		else if (slice_take(&s, "last reason:") || slice_take(&s, "reasons:"))
			reason = slice_trim(s);
		else
			break;
	}
	struct fact_limit *row = LOG_ADD(b, i, limit);
	if (!row)
		return k - i;
	int64_t limit = slice_int(slice_of(open + 2, (size_t)(close - open - 2)));
	row->limit = limit < 0 ? 0 : (uint64_t)limit;
	row->accumulated = accumulated;
	row->reason = log_text(b->t, reason);
	row->loc = at.line ? log_loc(b->t, &at) : facts_no_loc();
	log_frame(b->t, row->compile, name, &row->loc);
	return k - i;
}

/* ---- steps ---- */

static void phase_row(struct block *b, uint32_t i, enum textlog_component component, enum textlog_step step, struct slice name,
		      const struct srcloc *at)
{
	struct textlog *t = b->t;
	if (t->n_phase >= TEXTLOG_ROWS_MAX) {
		t->rows_left++;
		return;
	}
	if (component == TEXTLOG_DYNAMO && step == STEP_BEGIN)
		block_begins(b, false);
	uint32_t compile = block_compile(b, i), text = log_text(t, name);
	PUSH(t, phase) = (struct textlog_phase){b->line[i].no, b->pid, compile, component, step, text};
	if (compile == NONE)
		return;
	struct fact_compile *c = &t->f->compile[compile];
	struct fact_loc loc = at->line ? log_loc(t, at) : facts_no_loc();
	if (component == TEXTLOG_DYNAMO && step == STEP_BEGIN)
		log_frame(t, compile, name, &loc);
	if (component == TEXTLOG_BACKEND)
		c->backend = text;
	if (step == STEP_FAIL || (component == TEXTLOG_BACKEND && step == STEP_END))
		c->status = step == STEP_FAIL ? COMPILE_FAILED : COMPILE_OK;
}

uint32_t parse_step(struct block *b, uint32_t i)
{
	static const struct {
		const char *words;
		enum textlog_component component;
		enum textlog_step step;
	} steps[] = {
	    {"torchdynamo start tracing ", TEXTLOG_DYNAMO, STEP_BEGIN},  {"torchdynamo done tracing ", TEXTLOG_DYNAMO, STEP_END},
	    {"calling compiler function ", TEXTLOG_BACKEND, STEP_BEGIN}, {"done compiler function ", TEXTLOG_BACKEND, STEP_END},
	    {"torchinductor compiling ", TEXTLOG_INDUCTOR, STEP_BEGIN},  {"torchinductor done compiling ", TEXTLOG_INDUCTOR, STEP_END},
	};
	struct slice line = slice_trim(block_line(b, i));
	const char *colon = slice_find(line, ": ");
	if (!colon || colon == line.p + 5)
		return 0;
	line = slice_from(line, colon + 2);
	for (unsigned k = 0; k < ARRAY_LEN(steps); k++) {
		struct slice name = line;
		struct srcloc at = {0};
		if (!slice_take(&name, steps[k].words))
			continue;
		if (steps[k].component == TEXTLOG_DYNAMO) {
			struct slice rest = name;
			name = function_name(name);
			if (place_parse(slice_trim(slice_skip(rest, name.n)), &at))
				at.func = name;
		}
		phase_row(b, i, steps[k].component, steps[k].step, name, &at);
		return 1;
	}
	return 0;
}

/* "f app.py line 26": file and line after a function's name */
static struct slice name_file_line(struct slice s, struct srcloc *at)
{
	struct slice name = function_name(s);
	uint64_t line;
	s = slice_trim(slice_skip(s, name.n));
	*at = (struct srcloc){.func = name};
	const char *word = slice_find(s, " line ");
	size_t n = 0;
	while (word && word + 6 + n < s.p + s.n && is_digit(word[6 + n]))
		n++;
	if (word && slice_u64(slice_of(word + 6, n), &line) && line <= UINT32_MAX) {
		at->file = slice_upto(s, word);
		at->line = (uint32_t)line;
	}
	return name;
}

/* "WON'T CONVERT f app.py line 26", above the exception */
uint32_t parse_wont_convert(struct block *b, uint32_t i)
{
	struct slice line = slice_trim(block_line(b, i));
	struct srcloc at;
	slice_take(&line, "WON'T CONVERT ");
	struct slice name = name_file_line(line, &at);
	phase_row(b, i, TEXTLOG_DYNAMO, STEP_FAIL, name, &at);
	return 1;
}

/* A frame that breaks is restarted after its break is logged, and that tracing ends silently at the break: a break of the same frame
 * between the previous start and the log's end. */
static bool ended_in_break(const struct textlog *t, uint32_t row)
{
	const struct textlog_phase *p = &t->phase[row];
	const struct facts *f = t->f;
	uint64_t from = 0;
	for (uint32_t i = row; i-- > 0 && !from;)
		if (t->phase[i].step == STEP_BEGIN && t->phase[i].component == TEXTLOG_DYNAMO && t->phase[i].pid == p->pid)
			from = t->phase[i].line;
	for (uint32_t i = f->n_brk; i-- > t->from.brk && f->brk[i].src.line > from;)
		if (t->said[i - t->from.brk].said & (SAID_LOG | SAID_COMPILING) && (p->compile == NONE || f->brk[i].compile == p->compile))
			return true;
	return false;
}

uint32_t textlog_open_phase(const struct textlog *t)
{
	uint32_t open[8], n = 0;
	for (uint32_t i = 0; i < t->n_phase; i++) {
		const struct textlog_phase *p = &t->phase[i];
		if (p->step == STEP_BEGIN) {
			if (p->component == TEXTLOG_DYNAMO)
				n = 0; /* another frame, or this one restarted: the previous one is over */
			if (n == ARRAY_LEN(open))
				memmove(open, open + 1, sizeof(open[0]) * --n);
			open[n++] = i;
		} else if (p->step == STEP_END) {
			while (n && t->phase[open[--n]].component != p->component)
				;
			/* A tracing that ended in a break has no end in the log; its graph was compiled. */
			if (p->component == TEXTLOG_BACKEND)
				n = 0;
		}
	}
	if (!n || (t->phase[open[n - 1]].component == TEXTLOG_DYNAMO && ended_in_break(t, open[n - 1])))
		return NONE;
	return open[n - 1];
}
