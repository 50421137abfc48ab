/* Recompilations, limits, and the steps of compiling a frame. */
#include "torchlog/torchlog_part.h"
#include "trace/text.h"

/* A function's name at s: up to a blank, or what stands in <>, which may hold blanks ("<graph break in f>"). */
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

/* Where the record about one recompilation ends. */
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

static void add_recompile(struct block *b, uint32_t i, struct slice name, const struct srcloc *at, struct slice first, struct slice all,
			  uint32_t n)
{
	struct textlog *t = b->t;
	struct recompile_text text;
	recompile_text_parse(first, &text);
	struct textlog_recompile *row = LOG_ADD(t, recompile);
	if (!row)
		return;
	row->at = block_at(b, i);
	row->function = log_text(t, name);
	row->loc = log_loc(t, at);
	row->rejected_by = log_text(t, text.rejected_by);
	row->guard = log_text(t, text.guard);
	row->old = log_text(t, text.old);
	row->new = log_text(t, text.new);
	row->guard_loc = text.at.line ? log_loc(t, &text.at) : LOG_NO_LOC;
	row->all = log_text(t, all);
	row->reasons = n;
}

uint32_t parse_recompile(struct block *b, uint32_t i)
{
	static const char same[] = "triggered by the following guard failure: "; /* 2.0, 2.1 */
	uint32_t end = recompile_end(b, i), n = 0;
	if (end == b->n && !b->final)
		return BLOCK_MORE;
	struct buf first = {0}, all = {0};
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
	add_recompile(b, i, name, &at, buf_slice(&first), buf_slice(&all), n);
	buf_release(&first);
	buf_release(&all);
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
	add_recompile(b, i, name, &at, reason, reason, 1);
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
	struct textlog *t = b->t;
	struct slice line = slice_unindent(block_line(b, i)), config = SLICE("cache_size_limit"), name = slice_of("", 0),
		     reason = slice_of("", 0);
	struct srcloc at = {0};
	uint32_t k = i + 1;
	if (!b->final && i + 3 > b->n)
		return BLOCK_MORE;
	const char *dot = slice_find(line, "hit config."), *open = slice_find(line, " (");
	const char *close = open ? slice_find(slice_from(line, open), ")") : NULL;
	if (!close)
		return 0;
	if (dot && dot < open) {
		config = slice_of(dot + 11, (size_t)(open - dot - 11));
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
	struct textlog_limit *row = LOG_ADD(t, limit);
	if (!row)
		return k - i;
	row->at = block_at(b, i);
	row->config = log_text(t, config);
	row->limit = slice_int(slice_of(open + 2, (size_t)(close - open - 2)));
	row->function = log_text(t, name);
	row->reason = log_text(t, reason);
	row->loc = at.line ? log_loc(t, &at) : LOG_NO_LOC;
	return k - i;
}

/* ---- steps ---- */

static struct textlog_phase *phase_row(struct block *b, uint32_t i, enum textlog_component component, enum textlog_step step,
				       struct slice name, const struct srcloc *at)
{
	struct textlog_phase *row = LOG_ADD(b->t, phase);
	if (!row)
		return NULL;
	row->at = block_at(b, i);
	row->component = component;
	row->step = step;
	row->name = log_text(b->t, name);
	row->loc = at && at->line ? log_loc(b->t, at) : LOG_NO_LOC;
	row->reason = NONE;
	return row;
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

/* "f app.py line 26": file and line behind a function's name */
static struct slice name_file_line(struct slice s, struct srcloc *at)
{
	struct slice name = function_name(s);
	uint64_t line;
	s = slice_trim(slice_skip(s, name.n));
	*at = (struct srcloc){.func = name};
	const char *word = slice_find(s, " line ");
	size_t n = 0;
	while (word && word + 6 + n < s.p + s.n && word[6 + n] >= '0' && word[6 + n] <= '9')
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

/* skipping: f (reason: in skipfiles, file: x.py)                                      2.1 to 2.13
 * skipping because no torch.* normcase             <frozen posixpath> 52              2.0 to 2.2
 * torch.compile intentionally decided to skip the frame f (x.py line 5) and fall back to eager.      2.9; below: "Reason: ..." */
uint32_t parse_skip_frame(struct block *b, uint32_t i)
{
	struct slice line = slice_trim(block_line(b, i)), name = slice_of("", 0), reason = slice_of("", 0);
	struct srcloc at = {0};
	uint32_t n = 1;
	if (slice_take(&line, "skipping: ")) {
		const char *open = slice_find(line, " (reason: ");
		if (!open)
			return 0;
		name = slice_upto(line, open);
		reason = slice_from(line, open + strlen(" (reason: "));
		const char *file = slice_find(reason, ", file: ");
		if (file) {
			at = (struct srcloc){.file = slice_trim(slice_from(reason, file + 8)), .func = name};
			if (slice_ends(at.file, ")"))
				at.file.n--;
		}
		reason = slice_upto(reason, file ? file : reason.n && reason.p[reason.n - 1] == ')' ? reason.p + reason.n - 1 : NULL);
	} else if (slice_take(&line, "skipping because no torch.* ")) {
		reason = SLICE("no torch.*");
		name = function_name(line);
		struct slice rest = slice_trim(slice_skip(line, name.n));
		const char *blank = slice_rchr(rest, ' ');
		uint64_t no;
		if (blank && slice_u64(slice_from(rest, blank + 1), &no) && no <= UINT32_MAX)
			at = (struct srcloc){.file = slice_trim(slice_upto(rest, blank)), .func = name, .line = (uint32_t)no};
	} else if (slice_take(&line, "torch.compile intentionally decided to skip the frame ")) {
		if (!b->final && i + 2 > b->n)
			return BLOCK_MORE;
		const char *open = slice_find(line, " (");
		struct buf words = {0};
		if (open) { /* as the others write it: "f x.py line 5" */
			buf_add_slice(&words, slice_upto(line, open));
			buf_addc(&words, ' ');
			buf_add_slice(&words, slice_from(line, open + 2));
			name_file_line(buf_slice(&words), &at);
			struct textlog_phase *row = phase_row(b, i, TEXTLOG_DYNAMO, STEP_SKIP, at.func, &at);
			struct slice why = slice_trim(block_line(b, i + 1));
			if (row && slice_take(&why, "Reason: ")) {
				row->reason = log_text(b->t, why);
				n = 2;
			}
		}
		buf_release(&words);
		return n;
	} else {
		return 0;
	}
	struct textlog_phase *row = phase_row(b, i, TEXTLOG_DYNAMO, STEP_SKIP, name, NULL);
	if (row) {
		row->reason = log_text(b->t, slice_trim(reason));
		row->loc = at.file.n ? log_loc(b->t, &at) : LOG_NO_LOC;
	}
	return n;
}

/* A frame that breaks is begun anew after its break is logged, and that tracing ends at the break with no word: a break between the
 * begin before this one and the log's end, of the same frame. */
static bool ended_in_break(const struct textlog *t, uint32_t row)
{
	const struct textlog_phase *p = &t->phase.row[row];
	uint64_t from = 0;
	for (uint32_t i = row; i-- > 0 && !from;)
		if (t->phase.row[i].step == STEP_BEGIN && t->phase.row[i].component == TEXTLOG_DYNAMO &&
		    t->phase.row[i].at.pid == p->at.pid)
			from = t->phase.row[i].at.line;
	struct slice id = textlog_text(t, p->at.compile);
	const char *attempt = slice_chr(id, '_');
	id = slice_upto(id, attempt);
	for (uint32_t i = t->brk.n; i-- > 0 && t->brk.row[i].at.line > from;) {
		struct slice of = textlog_text(t, t->brk.row[i].at.compile);
		if (t->brk.row[i].said & (SAID_LOG | SAID_COMPILING) && of.n >= id.n && (!id.n || !memcmp(of.p, id.p, id.n)))
			return true;
	}
	return false;
}

uint32_t textlog_open_phase(const struct textlog *t, uint32_t pid)
{
	uint32_t open[8], n = 0;
	for (uint32_t i = 0; i < t->phase.n; i++) {
		const struct textlog_phase *p = &t->phase.row[i];
		if (pid && p->at.pid != pid)
			continue;
		if (p->step == STEP_BEGIN) {
			if (p->component == TEXTLOG_DYNAMO)
				n = 0; /* another frame, or this one anew: what came before is over */
			if (n == ARRAY_LEN(open))
				memmove(open, open + 1, sizeof(open[0]) * --n);
			open[n++] = i;
		} else if (p->step == STEP_END) {
			while (n) {
				enum textlog_component c = t->phase.row[open[--n]].component;
				if (c == p->component)
					break;
			}
			/* A tracing that ended in a break is not said to be done; its graph was compiled. */
			if (p->component == TEXTLOG_BACKEND)
				n = 0;
		}
	}
	if (!n || (t->phase.row[open[n - 1]].component == TEXTLOG_DYNAMO && ended_in_break(t, open[n - 1])))
		return NONE;
	return open[n - 1];
}
