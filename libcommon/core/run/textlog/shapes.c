/* Symbols, guards and violated constraints: torch/fx/experimental/symbolic_shapes.py. */
#include "run/textlog/textlog_part.h"

enum { GUARDS_BACK = 4 };

/* The location after a symbol or guard: "return x * 2  # app.py:5 in f (_dynamo/x.py:9 in g), for more info run with ..." (2.5 and newer),
 * "at app.py:5 in f (...)" (2.1 to 2.4). */
static struct fact_loc shape_place(struct textlog *t, struct slice s)
{
	const char *more = slice_find(s, ", for more info run with"), *last = NULL;
	s = slice_upto(s, more);
	struct slice code = slice_of("", 0), rest = s;
	const char *p;
	while ((p = slice_find(rest, "  # "))) {
		last = p;
		rest = slice_from(rest, p + 4);
	}
	struct srcloc at;
	if (last)
		code = slice_trim(slice_upto(s, last));
	rest = slice_unindent(rest);
	slice_take(&rest, "at ");
	const char *frame = slice_find(rest, " (_"); /* torch's own line */
	if (!srcloc_parse(slice_upto(rest, frame), &at) || !at.line)
		return facts_no_loc();
	at.code = code;
	return log_loc(t, &at);
}

/* "[2, int_oo]" at s, with its end */
static struct slice range_at(struct slice s)
{
	const char *end = slice_starts(s, "[") ? memchr(s.p, ']', s.n < 80 ? s.n : 80) : NULL;
	return end && slice_find(slice_upto(s, end), ", ") ? slice_of(s.p, (size_t)(end + 1 - s.p)) : slice_of("", 0);
}

/* create_symbol s77 = 3 for L['x'].size()[0] [2, int_oo] return x * 2  # app.py:5 in f (...) */
uint32_t parse_symbol(struct block *b, uint32_t i)
{
	struct slice line = slice_unindent(block_line(b, i));
	slice_take(&line, "create_symbol ");
	const char *eq = slice_find(line, " = "), *of = eq ? slice_find(slice_from(line, eq), " for ") : NULL;
	if (!of || memchr(line.p, ' ', (size_t)(eq - line.p)))
		return 0;
	struct slice source = slice_from(line, of + 5), rest = slice_of("", 0), range = rest;
	for (struct slice s = source; s.n;) {
		const char *open = slice_find(s, " [");
		if (!open)
			break;
		range = range_at(slice_from(source, open + 1));
		if (range.n) {
			rest = slice_from(source, range.p + range.n);
			source = slice_upto(source, open);
			break;
		}
		s = slice_from(s, open + 2);
	}
	if (!range.n) { /* 2.1 */
		const char *at = slice_find(source, " at ");
		rest = at ? slice_from(source, at) : rest;
		source = slice_upto(source, at);
	}
	struct fact_symbol *row = LOG_ADD(b, i, symbol);
	if (row) {
		struct textlog *t = b->t;
		row->symbol = log_text(t, slice_upto(line, eq));
		row->value = log_text(t, slice_of(eq + 3, (size_t)(of - eq - 3)));
		row->source = log_text(t, slice_trim(source));
		row->range = log_text(t, range);
		row->loc = shape_place(t, rest);
	}
	return 1;
}

/* create_unbacked_symint u0 [-int_oo, int_oo] n = x.item()  # app.py:5 in f (...); before 2.2 create_unbacked_symbol */
uint32_t parse_unbacked(struct block *b, uint32_t i)
{
	struct slice line = slice_unindent(block_line(b, i));
	const char *blank = slice_find(line, " "), *open = slice_find(line, " [");
	if (!blank || !open || open <= blank)
		return 0;
	struct slice range = range_at(slice_from(line, open + 1));
	if (!range.n)
		return 0;
	struct fact_symbol *row = LOG_ADD(b, i, symbol);
	if (row) {
		row->symbol = log_text(b->t, slice_of(blank + 1, (size_t)(open - blank - 1)));
		row->unbacked = true;
		row->range = log_text(b->t, range);
		row->loc = shape_place(b->t, slice_from(line, range.p + range.n));
	}
	return 1;
}

static struct fact_bound *bound_row(struct block *b, uint32_t i, enum fact_bound_kind kind, struct slice expr)
{
	struct fact_bound *row = LOG_ADD(b, i, bound);
	if (row) {
		row->kind = kind;
		row->expr = log_text(b->t, slice_trim(expr));
	}
	return row;
}

/* eval Eq(s77, 3) [guard added] code  # app.py:5 in f (...), for more info ...; runtime_assert u0 >= 2 [guard added] ...; before the
 * expression: "(forcing_spec)" */
uint32_t parse_guard(struct block *b, uint32_t i)
{
	struct slice line = slice_unindent(block_line(b, i));
	const char *added = slice_find(line, " [guard added]");
	bool eval = slice_take(&line, "eval ");
	if (!added || (!eval && !slice_take(&line, "runtime_assert ")))
		return 0;
	struct slice expr = slice_upto(line, added > line.p ? added : line.p), spec = expr;
	bool forced = slice_take(&spec, "(forcing_spec) ");
	struct fact_bound *row = bound_row(b, i, eval ? BOUND_GUARD : BOUND_ASSERT, spec);
	if (row) {
		row->reason = forced ? log_text(b->t, SLICE("forcing_spec")) : NONE;
		row->loc = shape_place(b->t, slice_from(line, added + strlen(" [guard added]")));
	}
	return 1;
}

static bool is_number(struct slice s)
{
	uint64_t v;
	return slice_u64(slice_starts(s, "-") ? slice_skip(s, 1) : s, &v);
}

/* Not in a replacement's own line: the guard that causes it, which precedes it in the same compilation, and its symbol. */
static void explain_replacement(struct textlog *t, struct fact_bound *row)
{
	const struct facts *f = t->f;
	bool renamed = slice_is(log_get(t, row->reason), "rename_unbacked_to"); /* a symbol created twice: without a guard */
	for (const struct fact_bound *x = row; !renamed && x-- > f->bound + t->from.bound && row - x < GUARDS_BACK;)
		if (x->compile != row->compile || x->loc.line) {
			row->loc = x->compile == row->compile ? x->loc : row->loc;
			break;
		}
	for (uint32_t k = f->n_symbol; row->sources == NONE && k-- > t->from.symbol && f->n_symbol - k < 4096;)
		if (f->symbol[k].symbol == row->symbol && f->symbol[k].compile == row->compile)
			row->sources = f->symbol[k].source;
}

/* set_replacement s77 = 6 (range_refined_to_singleton) VR[6, 6] */
uint32_t parse_replacement(struct block *b, uint32_t i)
{
	struct textlog *t = b->t;
	struct slice rest = slice_trim(block_line(b, i));
	slice_take(&rest, "set_replacement ");
	const char *eq = slice_find(rest, " = ");
	if (!eq)
		return 0;
	struct slice value = slice_from(rest, eq + 3);
	const char *vr = slice_find(value, " VR["), *open = value.n ? memrchr(value.p, '(', vr ? (size_t)(vr - value.p) : value.n) : NULL;
	struct slice head = slice_upto(rest, open ? open : vr);
	value = slice_trim(slice_upto(value, open ? open : vr));
	/* "Specializing L['x'].size()[0] to 6" comes before "set_replacement s77 = 6", and does not get its own row. */
	struct fact_bound *last = t->f->n_bound > t->from.bound ? &t->f->bound[t->f->n_bound - 1] : NULL;
	uint32_t sources = NONE, number = log_text(t, value);
	if (last && last->kind == BOUND_SPECIALIZED && last->symbol == NONE && last->value == number) {
		sources = last->sources;
		t->f->n_bound--;
	}
	struct fact_bound *row = bound_row(b, i, is_number(value) ? BOUND_SPECIALIZED : BOUND_REPLACED, head);
	if (!row)
		return 1;
	row->symbol = log_text(t, slice_upto(rest, eq));
	row->value = number;
	row->sources = sources;
	const char *close = open ? slice_find(slice_from(rest, open), ")") : NULL;
	if (close)
		row->reason = log_text(t, slice_of(open + 1, (size_t)(close - open - 1)));
	explain_replacement(t, row);
	return 1;
}

/* Specializing L['x'].size()[0] to 6 */
uint32_t parse_specializing(struct block *b, uint32_t i)
{
	struct slice rest = slice_trim(block_line(b, i));
	slice_take(&rest, "Specializing ");
	const char *to = slice_find(rest, " to ");
	if (!to)
		return 0;
	struct fact_bound *row = bound_row(b, i, BOUND_SPECIALIZED, rest);
	if (row) {
		row->sources = log_text(b->t, slice_upto(rest, to));
		row->value = log_text(b->t, slice_from(rest, to + 4));
	}
	return 1;
}

/* ---- violated constraints ---- */

/* "batch = L['x'].size()[0] in the specified range ..." after a word that announces it; older: "Constraint(L['x'].size()[0]) are valid" */
static void dim_of(struct slice what, struct slice *dim, struct slice *source)
{
	static const char *const words[] = {"Not all values of ", "The values of ", "guards generated for ", "You marked "};
	static const char *const ends[] = {" in the specified", " are valid",   " and ",      " must always",
					   " satisf",           " resulted in", " as dynamic"};
	struct slice s = slice_of("", 0);
	for (unsigned i = 0; i < ARRAY_LEN(words) && !s.n; i++) {
		const char *at = slice_find(what, words[i]);
		if (at)
			s = slice_from(what, at + strlen(words[i]));
	}
	const char *end = NULL;
	for (unsigned i = 0; i < ARRAY_LEN(ends); i++) {
		const char *e = slice_find(s, ends[i]);
		if (e && (!end || e < end))
			end = e;
	}
	s = end ? slice_upto(s, end) : slice_of("", 0);
	const char *eq = slice_find(s, " = "), *open = slice_find(s, "Constraint(");
	*dim = eq ? slice_upto(s, eq) : open ? slice_of("", 0) : s;
	*source = eq ? slice_from(s, eq + 3) : slice_of("", 0);
	if (!eq && open) {
		*source = slice_from(s, open + strlen("Constraint("));
		if (slice_ends(*source, ")"))
			source->n--;
	} else if (!eq && slice_find(s, "[")) {
		*source = s;
		*dim = slice_of("", 0);
	}
}

static void violation(struct block *b, uint32_t i, struct slice what, struct slice fixes)
{
	struct textlog *t = b->t;
	uint32_t what_text = log_text(t, what), n = t->f->n_bound;
	/* ConstraintViolationError is raised again as a UserError: its lines are in the chain twice. */
	for (uint32_t k = n; k-- > t->from.bound && n - k < 256;)
		if (t->f->bound[k].kind == BOUND_CONSTRAINT && t->f->bound[k].expr == what_text)
			return;
	struct fact_bound *row = bound_row(b, i, BOUND_CONSTRAINT, what);
	if (!row)
		return;
	struct slice dim, source;
	dim_of(what, &dim, &source);
	row->symbol = log_text(t, dim);
	row->sources = log_text(t, source);
	row->reason = log_text(t, fixes);
}

/* "- text" or "1. text" */
static bool item(struct slice line, struct slice *text)
{
	line = slice_trim(line);
	size_t n = 0;
	while (n < line.n && is_digit(line.p[n]))
		n++;
	if (n && slice_starts(slice_skip(line, n), ". "))
		n += 2;
	else if (slice_starts(line, "- "))
		n = 2;
	else
		return false;
	*text = slice_skip(line, n);
	return true;
}

static uint32_t violations_end(const struct block *b, uint32_t i)
{
	uint32_t k = i + 1;
	for (; k < b->n; k++) {
		struct slice line = block_line(b, k);
		if (slice_starts(line, "Traceback (most"))
			break;
		if (!slice_blank(line) && line.p[0] != ' ' && !slice_starts(line, "Suggested fixes:") &&
		    !slice_starts(line, "Specializations unexpectedly") && !slice_starts(line, "User stack"))
			break;
	}
	return k;
}

uint32_t parse_violations(struct block *b, uint32_t i)
{
	uint32_t end = violations_end(b, i);
	if (end == b->n && !b->final)
		return BLOCK_MORE;
	LOCAL_BUF fixes = {0};
	bool in = false;
	for (uint32_t k = i + 1; k < end; k++) {
		struct slice line = block_line(b, k), t = slice_trim(line);
		if (slice_starts(t, "Suggested fixes:"))
			in = true;
		else if (in && !t.n && fixes.len)
			in = false;
		else if (in && t.n) {
			if (fixes.len)
				buf_addc(&fixes, '\n');
			buf_add_slice(&fixes, t);
		}
	}
	struct slice what;
	for (uint32_t k = i; k < end && !slice_starts(slice_trim(block_line(b, k)), "Suggested fixes:"); k++)
		if (item(block_line(b, k), &what))
			violation(b, k, what, buf_slice(&fixes));
	return end - i;
}
