/* Graph breaks, from the log and from torch._dynamo.explain. */
#include "run/textlog/textlog_part.h"
#include "run/text.h"

/* ---- rows ---- */

static enum fact_break_kind kind_of(const struct break_text *b)
{
	struct slice r = b->reason;
	if (slice_starts(r, "generic_jump") || slice_starts(r, "Data-dependent branching") || slice_find(b->context, "attempted to jump"))
		return BREAK_JUMP;
	if (slice_find(r, "_dynamo.graph_break()") || slice_find(r, "graph_break in user code") || b->gb == 25)
		return BREAK_ASKED;
	return BREAK_CALL;
}

static bool same_place(const struct textlog *t, const struct fact_loc *a, const struct fact_loc *b)
{
	return a->line == b->line && a->line &&
	       (a->file == b->file || slice_eq(srcloc_short_file(log_get(t, a->file)), srcloc_short_file(log_get(t, b->file))));
}

/* The row of t->f->brk for the same break from another source, or NONE. Two logs of one source are two breaks. */
static uint32_t find_break(const struct block *b, uint32_t compile, const struct fact_loc *loc, unsigned said)
{
	const struct textlog *t = b->t;
	for (uint32_t n = t->n_said; n > 0 && t->n_said - n < 4096; n--) {
		uint32_t row = t->from.brk + n - 1, of = t->f->brk[row].compile;
		if (t->said[n - 1].said & said || t->said[n - 1].rank != b->rank || !same_place(t, &t->f->brk[row].loc, loc))
			continue;
		/* explain and exceptions do not say which compilation it was */
		if (of == compile || compile == NONE || of == NONE)
			return row;
	}
	return NONE;
}

static uint32_t hints_text(struct textlog *t, const struct break_text *b)
{
	LOCAL_BUF all = {0};
	for (unsigned i = 0; i < b->hints; i++) {
		if (i)
			buf_addc(&all, '\n');
		for (size_t k = 0; k < b->hint[i].n; k++) /* one per line */
			buf_addc(&all, b->hint[i].p[k] == '\n' ? ' ' : b->hint[i].p[k]);
	}
	return log_text(t, buf_slice(&all));
}

static void fill_break(struct textlog *t, struct fact_break *row, const struct break_text *b)
{
	if (row->reason == NONE)
		row->reason = log_text(t, b->reason);
	if (row->explanation == NONE)
		row->explanation = log_text(t, b->explanation);
	if (row->hints == NONE)
		row->hints = hints_text(t, b);
	if (row->context == NONE)
		row->context = log_text(t, b->context);
	if (row->url == NONE)
		row->url = log_text(t, b->url);
	if (row->stack == NONE && b->stack.n) {
		LOCAL_BUF frames = {0};
		traceback_frames(b->stack, BREAK_FRAMES, &frames);
		row->stack = log_text(t, buf_slice(&frames));
	}
	if (row->gb < 0)
		row->gb = b->gb;
	if (row->kind == BREAK_CALL) /* also: unknown */
		row->kind = kind_of(b);
	if (row->loc.file != NONE && row->loc.function == NONE)
		row->loc.function = log_text(t, b->at.func);
	if (row->loc.file != NONE && row->loc.code == NONE)
		row->loc.code = log_text(t, b->at.code);
}

struct fact_break *log_break(struct block *b, uint32_t i, const struct break_text *text, unsigned said)
{
	struct textlog *t = b->t;
	struct fact_loc loc = text->at.line ? log_loc(t, &text->at) : facts_no_loc();
	uint32_t at = find_break(b, block_compile(b, i), &loc, said);
	struct fact_break *row = at == NONE ? LOG_ADD(b, i, brk) : &t->f->brk[at];
	if (!row)
		return NULL;
	if (at == NONE) {
		row->loc = loc;
		PUSH(t, said) = (struct textlog_break){0, b->rank};
	}
	t->said[row - t->f->brk - t->from.brk].said |= said;
	fill_break(t, row, text);
	return row;
}

/* ---- the log ---- */

/* Ends of a break's text if no record ends it: a line that is neither empty, indented nor one of its labels. */
static bool goes_on(struct slice line, bool traceback)
{
	static const char *const labels[] = {"Graph Break Reason:",
					     "Reason:",
					     "User code traceback:",
					     "Explanation:",
					     "Hint:",
					     "Developer debug context:",
					     "For more details",
					     "Stack variable source",
					     "Most recent bytecode",
					     "NOTE: the most recent",
					     "==========",
					     "TRACE "};
	if (slice_blank(line) || line.p[0] == ' ')
		return true;
	return slice_any(line, labels, slice_starts) || !traceback;
}

/* Lines of the break that starts at i. In bare text (debug.log) a traceback with blank lines around it comes next, then other text. */
static uint32_t break_end(const struct block *b, uint32_t i)
{
	bool traceback = false, frames = false, suppressed = slice_find(block_line(b, i), "suppressed") != NULL, url = false;
	uint32_t k = i + 1;
	if (b->record)
		while (k < b->n && !slice_starts(block_line(b, k), "Graph break"))
			k++;
	for (; !b->record && k < b->n; k++) {
		struct slice line = block_line(b, k);
		if (slice_starts(line, "Graph break") || slice_starts(line, "Step ") || slice_starts(line, "Traceback (most"))
			break;
		if (frames && slice_blank(line))
			break;
		if (!goes_on(line, traceback) || (suppressed && url))
			break;
		traceback |= slice_starts(line, "User code traceback:") || slice_starts(line, "User Stack");
		frames |= traceback && slice_find(line, "File \"");
		url |= slice_find(line, "please visit: ") != NULL;
		if (k - i > 400)
			break;
	}
	return k;
}

/* The innermost frame of the lines, as the location of a break that has no other. */
static void innermost(const struct block *b, uint32_t i, uint32_t end, struct srcloc *out)
{
	struct slice rest = block_lines(b, i, end);
	struct srcloc at;
	while (srcloc_next(&rest, &at))
		if (at.form == SRCLOC_PYTHON && srcloc_origin(at.file) != SRCLOC_TORCH) {
			/* # File "app/m.py", line 26, in f, code: if x.sum() > 0:      (of an explanation) */
			const char *code = slice_find(at.func, ", code: ");
			if (code)
				at.code = slice_trim(slice_from(at.func, code + strlen(", code: ")));
			at.func = slice_upto(at.func, code);
			*out = at;
		}
}

/* torch/_dynamo/variables/tensor.py warns about .item() once, whatever is logged:
 *     Graph break from `Tensor.item()`, consider setting:
 *         torch._dynamo.config.capture_scalar_outputs = True
 *     ...
 *     Graph break: from user code at:
 * The same break's own record, if logged, comes after it. */
static bool of_warning(const struct block *b, uint32_t i, struct break_text *text)
{
	for (uint32_t k = i; b->record && k-- > 0 && i - k < 10;)
		if (slice_starts(slice_unindent(block_line(b, k)), "Graph break from `Tensor.item()`")) {
			text->reason = SLICE("Unsupported Tensor.item() call with capture_scalar_outputs=False");
			text->gb = 124;
			return true;
		}
	return false;
}

/* Today's first lines:
 *     Graph break in user code at app/m.py:5                                               2.1 to 2.13
 *     Graph break (user stack suppressed due to duplicate graph break) in user code at app/m.py:5     2.7
 *     Graph break: torch.compile cannot properly resume from this graph break, which results in a skip.
 *     Graph break: skip: from user code at:        2.4 to 2.6: the whole frame stays in eager
 *     Graph break: from user code at:              2.1 to 2.6
 *     Graph break: call_function partial in skip_files x.py from user code at:              2.0, 2.1
 *     Graph break: call_function BuiltinVariable(print) [...] {} from user code at app/m.py:16        2.0
 * and for the last four the frames below it. */
uint32_t parse_break(struct block *b, uint32_t i)
{
	struct slice first = slice_unindent(block_line(b, i));
	const char *place = slice_find(first, " in user code at ");
	if (!place && !slice_starts(first, "Graph break: "))
		return 0;
	if (slice_starts(first, "Graph Break"))
		return 0;
	uint32_t end = break_end(b, i);
	if (end == b->n && !b->final)
		return BLOCK_MORE;
	struct break_text text;
	struct srcloc at = {0};
	if (place) {
		break_text_parse(block_lines(b, i + 1, end), &text);
		struct slice where = slice_trim(slice_from(first, place + strlen(" in user code at ")));
		place_parse(where, &at);
		/* The traceback has the function and the code of the same line. */
		if (text.at.line != at.line || !slice_eq(text.at.file, at.file)) {
			struct srcloc deep = {0};
			innermost(b, i + 1, end, &deep);
			text.at = deep.line == at.line && slice_eq(deep.file, at.file) ? deep : at;
		}
		slice_take(&text.reason, "Unsupported: ");
		log_break(b, i, &text, SAID_LOG);
		return end - i;
	}
	struct slice rest = slice_skip(first, strlen("Graph break: "));
	const char *from = slice_find(rest, "from user code at");
	bool skip = slice_starts(rest, "skip: ") || slice_find(rest, "results in a skip");
	break_text_parse(block_lines(b, i + 1, end), &text);
	if (text.reason.n && !break_text_is_break(&text) && !slice_starts(slice_trim(block_line(b, i + 1)), "Reason"))
		text.reason.n = 0; /* the first line of something else */
	innermost(b, i + 1, end, &text.at);
	if (from) {
		if (!text.reason.n)
			text.reason = slice_trim(slice_upto(rest, from));
		if (!text.at.line)
			place_parse(slice_trim(slice_from(rest, from + strlen("from user code at"))), &text.at);
	}
	/* 2.4 to 2.6 end with the exception: "torch._dynamo.exc.Unsupported: reason" */
	for (uint32_t k = i + 1; k < end && (!text.reason.n || skip); k++) {
		struct slice line = block_line(b, k);
		const char *colon = slice_find(line, "exc.Unsupported: ");
		if (colon && slice_starts(line, "torch.")) {
			struct break_text whole;
			break_text_parse(slice_from(block_lines(b, k, end), colon + strlen("exc.Unsupported: ")), &whole);
			whole.at = text.at;
			text = whole;
			break;
		}
	}
	if (!text.reason.n)
		text.reason = slice_trim(rest);
	uint32_t rows = b->t->n_said;
	unsigned said = of_warning(b, i, &text) ? SAID_WARNING : SAID_LOG;
	struct fact_break *row = log_break(b, i, &text, said);
	if (skip && b->t->n_said > rows)
		row->kind = BREAK_SKIPPED;
	return end - i;
}

/* A Python string literal at s ('...' or "..."), unescaped into *out; returns the bytes used. */
static size_t unquote(struct slice s, struct buf *out)
{
	char q = s.n ? s.p[0] : 0;
	size_t i = 1;
	if (q != '\'' && q != '"')
		return 0;
	for (; i < s.n && s.p[i] != q; i++) {
		char c = s.p[i];
		if (c == '\\' && i + 1 < s.n) {
			c = s.p[++i];
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
		}
		buf_addc(out, c);
	}
	return i < s.n ? i + 1 : i;
}

/* "<FrameSummary file app/m.py, line 5 in f>", the last one of the text */
static bool frame_summary(struct slice s, struct srcloc *at)
{
	bool found = false;
	const char *p;
	while ((p = slice_find(s, "<FrameSummary file "))) {
		s = slice_from(s, p + strlen("<FrameSummary file "));
		const char *comma = slice_find(s, ", line "), *in = comma ? slice_find(slice_from(s, comma), " in ") : NULL;
		uint64_t line;
		if (!in || !slice_u64(slice_of(comma + 7, (size_t)(in - comma - 7)), &line) || line > UINT32_MAX)
			continue;
		*at = (struct srcloc){.file = slice_upto(s, comma), .line = (uint32_t)line};
		/* The name ends with the last > of its bracket; names have brackets themselves: <lambda>, <module>. */
		struct slice name = slice_from(s, in + 4);
		const char *close = slice_find(name, ">, <FrameSummary");
		if (!close)
			close = slice_find(name, ">]");
		if (!close)
			close = slice_find(name, ">\n");
		if (!close && name.n && name.p[name.n - 1] == '>')
			close = name.p + name.n - 1;
		at->func = slice_upto(name, close);
		found = true;
	}
	return found;
}

/* "COMPILING GRAPH due to GraphCompileReason(reason='generic_jump ...', user_stack=[<FrameSummary ...>], graph_break=True)": in 2.0
 * to 2.6 the only line about a jump. */
uint32_t parse_compiling(struct block *b, uint32_t i)
{
	struct slice line = block_line(b, i);
	const char *reason = slice_find(line, "(reason=");
	LOCAL_BUF text = {0};
	struct break_text brk;
	if (!reason || slice_find(line, "graph_break=False") || slice_find(line, "reason='return_value'"))
		return 0;
	size_t used = unquote(slice_from(line, reason + strlen("(reason=")), &text);
	struct slice rest = slice_from(line, reason + strlen("(reason=") + used);
	break_text_parse(buf_slice(&text), &brk);
	if (!brk.reason.n)
		brk.reason = slice_trim(buf_slice(&text));
	if (used && frame_summary(rest, &brk.at))
		log_break(b, i, &brk, SAID_COMPILING);
	return 1;
}

/* ---- explain ---- */

/* 2.1 and newer: "  Break Reason 1:", "    Reason: ...", "    User Stack:", "      <FrameSummary file F, line 5 in f>". The further lines
 * of a reason have their own indentation. */
static uint32_t new_list(struct block *b, uint32_t i)
{
	while (i < b->n && slice_starts(slice_unindent(block_line(b, i)), "Break Reason ")) {
		uint32_t stack = i + 1;
		while (stack < b->n && !slice_starts(slice_unindent(block_line(b, stack)), "User Stack:"))
			stack++;
		uint32_t end = stack + 1;
		while (end < b->n && slice_find(block_line(b, end), "<FrameSummary file "))
			end++;
		if (end > b->n)
			end = b->n;
		struct break_text text;
		break_text_parse(block_lines(b, i + 1, stack), &text);
		slice_take(&text.reason, "Unsupported: ");
		text.at = (struct srcloc){0};
		frame_summary(block_lines(b, stack + 1, end), &text.at);
		log_break(b, i, &text, SAID_EXPLAIN);
		i = end;
	}
	return i;
}

/* 2.0: "1. call_function BuiltinVariable(print) [ConstantVariable(str)] {}", and below it "   File "t2.py", line 16, in f" */
static uint32_t old_list(struct block *b, uint32_t i)
{
	for (;;) {
		uint32_t k = i;
		while (k < b->n && slice_blank(block_line(b, k)))
			k++;
		struct slice line = slice_unindent(block_line(b, k));
		size_t d = 0;
		while (d < line.n && is_digit(line.p[d]))
			d++;
		if (!d || d > 6 || !slice_starts(slice_skip(line, d), ". "))
			return i;
		uint32_t end = k + 1;
		while (end < b->n && !slice_blank(block_line(b, end)) &&
		       (block_line(b, end).p[0] == ' ' || block_line(b, end).p[0] == '\t'))
			end++;
		struct break_text text = {.gb = -1, .reason = slice_trim(slice_skip(line, d + 2))};
		innermost(b, k + 1, end, &text.at);
		log_break(b, k, &text, SAID_EXPLAIN);
		i = end;
	}
}

static bool list_follows(const struct block *b, uint32_t i)
{
	struct slice line = slice_unindent(block_line(b, i));
	return slice_starts(line, "Break Reasons:") || slice_starts(line, "Break reasons:");
}

/* The end of an explanation's list of breaks, to check that it is complete. */
static bool list_whole(const struct block *b, uint32_t i)
{
	for (; i < b->n; i++) {
		struct slice line = block_line(b, i);
		if (slice_starts(line, "Ops per Graph:") || slice_starts(line, "Out Guards:") || slice_starts(line, "Compile Times:"))
			return true;
	}
	return b->final;
}

uint32_t parse_explain(struct block *b, uint32_t i)
{
	uint32_t from = i;
	struct slice line = slice_unindent(block_line(b, i));
	if (slice_starts(line, "Graph Break Count") && i > 0 && slice_starts(slice_unindent(block_line(b, i - 1)), "Graph Count"))
		return 0; /* consumed with the line before it */
	if (!list_whole(b, i))
		return BLOCK_MORE;
	if (list_follows(b, i) && !slice_starts(slice_unindent(block_line(b, i + 1)), "Break Reason ") &&
	    !slice_starts(slice_unindent(block_line(b, i + 1)), "1. "))
		return 0;
	while (slice_starts(line, "Graph Count: ") || slice_starts(line, "Graph Break Count: ") || slice_starts(line, "Op Count: "))
		line = slice_trim(block_line(b, ++i));
	if (!list_follows(b, i))
		return i - from;
	uint32_t end = new_list(b, i + 1);
	return (end == i + 1 ? old_list(b, end) : end) - from;
}

/* 2.0: "Dynamo produced 3 graphs, with 2 graph breaks and 6 ops.", then the list */
uint32_t parse_dynamo_produced(struct block *b, uint32_t i)
{
	struct slice line = slice_unindent(block_line(b, i));
	if (!slice_find(line, " graphs") || !slice_find(line, " graph break") || !slice_find(line, " ops"))
		return 0;
	if (!b->final && i + 400 > b->n)
		return BLOCK_MORE;
	uint32_t k = i + 1;
	while (k < b->n && k < i + 3 && slice_blank(block_line(b, k)))
		k++;
	return (list_follows(b, k) ? old_list(b, k + 1) : i + 1) - i;
}
