/* breaks.c - graph breaks by the user's line: what they cost and what to change. */
#include "run/diagnose/breaks.h"
#include "run/diagnose/cause.h"
#include "run/diagnose/order.h"
#include "run/diagnose/wrapper.h"

#include "base/chain.h"
#include "base/html/html.h"
#include "base/text.h"

/* ---- fixes ---- */

static bool has_number(struct slice list, int gb)
{
	while (list.n) {
		const char *blank = slice_chr(list, ' ');
		struct slice one = slice_of(list.p, blank ? (size_t)(blank - list.p) : list.n);
		uint64_t number;
		if (gb >= 0 && slice_u64(one, &number) && number == (uint64_t)gb)
			return true;
		list = blank ? slice_of(blank + 1, list.n - one.n - 1) : slice_of(NULL, 0);
	}
	return false;
}

static bool stands_in(struct slice text, struct slice what) { return text.n && what.n && memmem(text.p, text.n, what.p, what.n); }

struct entry {
	bool numbers, number, text, without; /* without: a required text is missing */
	bool here;                           /* has fixes that change this very line */
};

static void add_line(struct buf *b, struct slice line)
{
	if (b->len)
		buf_addc(b, '\n');
	buf_add_slice(b, line);
}

bool break_fix_find(struct slice table, int gb, struct slice text, bool foreign, struct buf *fix, struct buf *hint)
{
	struct entry e = {0};
	struct slice line;
	bool more = true;
	buf_reset(fix);
	buf_reset(hint);
	while (more) {
		more = slice_line(&table, &line);
		if (more && line.n && line.p[0] == '#')
			continue;
		if (!more || !line.n) {
			bool fits = e.number || (e.text && (gb < 0 || !e.numbers));
			if (fits && !e.without && (fix->len + hint->len || e.here))
				return true;
			buf_reset(fix);
			buf_reset(hint);
			e = (struct entry){0};
			continue;
		}
		const char *colon = slice_chr(line, ':');
		struct slice key = slice_of(line.p, colon ? (size_t)(colon - line.p) : 0);
		struct slice value = colon ? slice_trim(slice_of(colon + 1, line.n - key.n - 1)) : line;
		if (slice_is(key, "gb")) {
			e.numbers = true;
			e.number |= has_number(value, gb);
		} else if (slice_is(key, "text")) {
			e.text |= stands_in(text, value);
		} else if (slice_is(key, "with")) {
			e.without |= !stands_in(text, value);
		} else if (slice_is(key, "not")) {
			e.without |= stands_in(text, value);
		} else if (slice_is(key, "here")) {
			e.here = true;
			if (!foreign)
				add_line(fix, value);
		} else if (slice_is(key, "fix") || slice_is(key, "hint")) {
			add_line(slice_is(key, "fix") ? fix : hint, value);
		}
	}
	return false;
}

bool break_is_foreign(struct slice file)
{
	enum srcloc_origin origin = file.n ? srcloc_origin(file) : SRCLOC_USER;
	return origin == SRCLOC_TORCH || origin == SRCLOC_PACKAGE || origin == SRCLOC_STDLIB;
}

void break_fix(struct explanation *x, int gb, const struct slice *text, unsigned n, struct slice file, struct slice *fix,
	       struct slice *hint)
{
	LOCAL_BUF all = {0}, fixes = {0}, hints = {0};
	bool foreign = break_is_foreign(file);
	for (unsigned i = 0; i < n; i++)
		add_line(&all, text[i]);
	if (break_fix_find(share_file("breaks/fixes.txt"), gb, buf_slice(&all), foreign, &fixes, &hints))
		*fix = explain_keep(x, buf_slice(&fixes));
	/* The user cannot change that line. */
	struct slice in = srcloc_short_file(file);
	if (foreign && !fixes.len)
		*hint = explain_textf(
		    x, "The break is in %.*s: call it outside the compiled function, or in a function with @torch.compiler.disable.%s%.*s",
		    SLN(in, 200), hints.len ? "\n" : "", SLN(buf_slice(&hints), 400));
	else
		*hint = explain_keep(x, buf_slice(&hints));
}

/* Generic hints that torch gives for many different breaks. */
static bool says_little(struct slice hint)
{
	static const char *const little[] = {"It may be possible to write Dynamo tracing rules", "Please report an issue to PyTorch",
					     "Your code may result in an error when running in eager", "This is likely to be a Dynamo bug",
					     "This graph break is fundamental"};
	return slice_any(hint, little, slice_starts);
}

static struct slice break_hints_sorted(struct explanation *x, struct slice hints)
{
	LOCAL_BUF b = {0};
	for (int little = 0; little < 2; little++) {
		struct slice rest = hints, line;
		while (slice_line(&rest, &line))
			if (slice_trim(line).n && says_little(line) == little)
				add_line(&b, slice_trim(line));
	}
	return explain_keep(x, buf_slice(&b));
}

static struct slice without_line(struct explanation *x, struct slice lines, const char *word)
{
	LOCAL_BUF b = {0};
	struct slice line;
	while (slice_line(&lines, &line))
		if (!slice_find(line, word))
			add_line(&b, line);
	return explain_keep(x, buf_slice(&b));
}

struct slice break_hints(struct explanation *x, const struct break_text *text)
{
	LOCAL_BUF b = {0};
	for (unsigned i = 0; i < text->hints; i++) {
		size_t from = b.len + (b.len > 0);
		add_line(&b, text->hint[i]);
		for (size_t k = from; k < b.len; k++)
			b.p[k] = b.p[k] == '\n' ? ' ' : b.p[k];
	}
	return break_hints_sorted(x, buf_slice(&b));
}

/* ---- groups ---- */

/* The function of a compile id without the resume prefix. */
static uint32_t function_of(const struct fact_compile *c) { return c->resume_of == NONE ? c->loc.function : c->resume_of; }

/* Resume functions, indexed by the function that they continue, and by its line. */
struct joining {
	struct explanation *x;
	struct chain line;
	bool *claimed;           /* by row of compile: already assigned to a break */
	struct intern functions; /* keys of rest[] */
	struct rest {
		uint32_t function, compile;
		uint32_t free; /* where to look for the next unclaimed one */
	} * rest;              /* by function, then in log order */
	uint32_t n_rest;
};

static int by_function(const void *a, const void *b)
{
	const struct rest *p = a, *q = b;
	if (p->function != q->function)
		return p->function < q->function ? -1 : 1;
	return p->compile < q->compile ? -1 : p->compile > q->compile;
}

static void add_rests(struct joining *j)
{
	const struct facts *f = j->x->facts;
	j->rest = xreallocarray(NULL, f->n_compile + 1, sizeof(*j->rest));
	for (uint32_t i = 0; i < f->n_compile; i++) {
		const struct fact_compile *c = &f->compile[i];
		if (c->resume_of == NONE)
			continue;
		uint32_t function = intern_add(&j->functions, CHAIN_KEY(c->src.input, c->loc.file, c->resume_of));
		j->rest[j->n_rest++] = (struct rest){.function = function, .compile = i};
		chain_add(&j->line, i, CHAIN_KEY(c->src.input, c->loc.file, c->resume_of, c->resume_line));
	}
	if (j->n_rest)
		qsort(j->rest, j->n_rest, sizeof(*j->rest), by_function);
	for (uint32_t i = 0; i < j->n_rest; i++)
		j->rest[i].free = i;
}

/* The first unclaimed one from here on (a union-find with path halving). */
static uint32_t unclaimed(struct joining *j, uint32_t i)
{
	uint32_t end = i;
	while (end < j->n_rest && j->claimed[j->rest[end].compile])
		end = j->rest[end].free > end ? j->rest[end].free : end + 1;
	while (i < end) {
		uint32_t next = j->rest[i].free > i ? j->rest[i].free : i + 1;
		j->rest[i].free = end;
		i = next;
	}
	return end;
}

/* A compile id ends at its first break, so its continuation is the next resume function of the same function that no other break has
 * claimed. Where the break is in the compiled function itself, its line identifies it. */
static uint32_t rest_line(struct joining *j, const struct fact_break *b)
{
	const struct facts *f = j->x->facts;
	const struct fact_compile *c = &f->compile[b->compile];
	if (b->loc.function != NONE && b->loc.function == function_of(c))
		return b->loc.line;
	uint32_t function = intern_find(&j->functions, CHAIN_KEY(c->src.input, c->loc.file, function_of(c)));
	uint32_t low = 0, high = function == NONE ? 0 : j->n_rest;
	while (low < high) { /* the first after this compilation */
		uint32_t mid = low + (high - low) / 2;
		const struct rest *r = &j->rest[mid];
		if (r->function < function || (r->function == function && r->compile <= b->compile))
			low = mid + 1;
		else
			high = mid;
	}
	if (function == NONE || (low = unclaimed(j, low)) == j->n_rest || j->rest[low].function != function)
		return 0;
	return f->compile[j->rest[low].compile].resume_line;
}

enum { GB_BACKEND = 219 }; /* "Backend compiler exception" */

static void claim(struct joining *j, struct break_group *g, const struct fact_break *b)
{
	const struct facts *f = j->x->facts;
	if (b->compile == NONE)
		return;
	const struct fact_compile *c = &f->compile[b->compile];
	if (c->restarts > 0)
		g->seconds = (g->seconds < 0 ? 0 : g->seconds) + c->restarts;
	g->eager += b->kind == BREAK_SKIPPED;
	if (b->gb == GB_BACKEND)
		return; /* the frame is skipped: nothing continues it */
	uint32_t line = b->inferred ? b->loc.line : rest_line(j, b);
	uint32_t i = line ? chain_first(&j->line, CHAIN_KEY(c->src.input, c->loc.file, function_of(c), line)) : NONE;
	/* All of them at once: the next break of this line finds the first one claimed and has nothing left to do. */
	for (; i != NONE && !j->claimed[i]; i = j->line.next[i]) {
		const struct fact_compile *r = &f->compile[i];
		j->claimed[i] = true;
		g->graphs += r->ops > 0;
		g->ops_after += r->ops > 0 ? r->ops : 0;
		if (r->ops > 0 && r->compile == 0 && guards_call_us(j->x, i) > 0) /* its variants take its place */
			g->call_us += guards_call_us(j->x, i);
		if (r->seconds >= 0)
			g->seconds = (g->seconds < 0 ? 0 : g->seconds) + r->seconds;
	}
}

static struct slice group_cost(struct explanation *x, const struct break_group *g)
{
	LOCAL_BUF b = {0};
	if (g->graphs)
		buf_addf(&b, "%u more graph%s (%lld op%s)", g->graphs, plural(g->graphs), (long long)g->ops_after, plural(g->ops_after));
	if (g->eager)
		buf_addf(&b, "%sthe whole function runs in Python", b.len ? ", " : "");
	else
		buf_addf(&b, "%sthis line runs in Python on every call", b.len ? ", " : "");
	if (g->seconds >= 0)
		buf_addf(&b, ", %.2f s of compile time", g->seconds);
	return explain_keep(x, buf_slice(&b));
}

enum { IDS_SHOWN = 12, GB_ITEM = 124, GB_IN_LOOP = 7000, GB_DELAYED = 148 /* the explanation is the reason */ };

/* "log.warning" of "log.warning("mean %s", x)" in the user's frames, the innermost first, or in the line itself. */
static struct slice logging_call(struct slice frames, struct slice code)
{
	static const char *const method[] = {".debug(",     ".info(",      ".warning(",   ".error(", ".critical(",
					     ".exception(", ".warn_once(", ".info_once(", ".log(",   ".warning_once("};
	struct slice found = slice_of(NULL, 0), line, rest[] = {frames, code};
	for (unsigned k = 0; k < ARRAY_LEN(rest); k++)
		while (slice_line(&rest[k], &line))
			for (unsigned i = 0; i < ARRAY_LEN(method); i++) {
				const char *dot = slice_find(line, method[i]), *from = dot;
				while (from && from > line.p &&
				       (from[-1] == '_' || from[-1] == '.' || is_digit(from[-1]) ||
					((from[-1] | 32) >= 'a' && (from[-1] | 32) <= 'z')))
					from--;
				if (dot && from < dot && !slice_starts(slice_of(from, (size_t)(line.p + line.n - from)), "self.log("))
					found = slice_of(from, (size_t)(dot - from) + strlen(method[i]) - 1);
			}
	return found;
}

/* What kind of statement breaks, for the table (breaks/fixes.txt): the log has only its first line. */
static const char *statement(struct slice code)
{
	static const char *const branch[] = {"if ", "elif ", "while "};
	static const char *const effect[] = {"print(", ".append(", ".add(", ".update(", ".info(", ".warning(", ".debug(", ".log(", " += "};
	code = slice_trim(code);
	if (slice_starts(code, "assert ") || slice_find(code, ": raise "))
		return "[check]";
	if (slice_any(code, branch, slice_starts))
		return "[branch]";
	return slice_any(code, effect, slice_has) && !slice_starts(code, "return ") ? "[effect]" : "";
}

/* The table's "logger.info" is the method that the program calls. */
static struct slice with_method(struct explanation *x, struct slice advice, struct slice call)
{
	static const char name[] = "logger.info";
	LOCAL_BUF b = {0};
	if (!call.n || !slice_find(advice, name))
		return advice;
	for (const char *p; (p = slice_find(advice, name));) {
		buf_add(&b, advice.p, (size_t)(p - advice.p));
		buf_addf(&b, "%.*s", SLN(call, 200));
		advice = slice_of(p + strlen(name), (size_t)(advice.p + advice.n - p) - strlen(name));
	}
	buf_add_slice(&b, advice);
	return explain_keep(x, buf_slice(&b));
}

static struct slice group_compiles(struct explanation *x, const struct chain *of, uint32_t k)
{
	const struct facts *f = x->facts;
	LOCAL_BUF b = {0};
	unsigned n = 0;
	for (uint32_t i = chain_first(of, CHAIN_KEY(k)); i != NONE && n < IDS_SHOWN; i = of->next[i])
		if (f->brk[i].compile != NONE) {
			buf_addf(&b, "%s", n++ ? " " : "");
			buf_add_slice(&b, facts_text(f, f->compile[f->brk[i].compile].id));
		}
	return explain_keep(x, buf_slice(&b));
}

static void describe(struct explanation *x, struct break_group *g, struct slice compiles)
{
	const struct facts *f = x->facts;
	const struct fact_break *b = &f->brk[g->first];
	struct finding *r = explain_finding(x, FINDING_BREAK, FINDING_WARNING);
	g->finding = x->n_finding - 1;
	r->loc = g->loc;
	r->src = b->src;
	r->count = g->count + g->inferred;
	r->seconds = g->seconds;
	r->call_us = g->call_us;
	r->in_python = g->eager > 0;
	r->compiles = compiles;
	r->id = g->gb >= 0 ? explain_textf(x, "GB%04d", g->gb) : SLICE("graph-break");
	r->title = slice_first_line(explain_text(x, b->reason)); /* in older torch, reason and explanation may be one text */
	if (!r->title.n)
		r->title = SLICE("Graph break, no reason logged (old torch logs none for a branch on data)");
	/* "Graph break from `Tensor.item()`, consider setting: ... Graph break: from user code at:" (torch/_dynamo/variables/tensor.py) */
	bool item = slice_starts(r->title, "from user code") && slice_find(explain_text(x, b->loc.code), ".item(");
	if (item) {
		r->id = SLICE("GB0124");
		r->title = SLICE("Tensor.item()");
	}
	r->why = explain_text(x, b->explanation);
	r->url = explain_text(x, b->url);
	r->cost = group_cost(x, g);
	r->evidence = explain_text(x, b->loc.code);
	r->compile = b->compile;
	r->frames = explain_text(x, b->stack);
	/* Not the explanation: it names examples other than this one. */
	const struct slice text[] = {explain_text(x, b->reason), explain_text(x, b->context), explain_text(x, b->loc.code),
				     b->gb == GB_DELAYED ? r->why : slice_of(NULL, 0), slice_str(statement(explain_text(x, b->loc.code)))};
	struct cause cause;
	cause_find(x, text[0], r->why, text[1], &cause);
	r->title = cause.kind ? cause.title : r->title;
	if (!cause.kind)
		r->cause = explain_break_cause(x, r->title, text[1], text[2]);
	r->torch_hint = b->gb == GB_BACKEND ? slice_of(NULL, 0) /* "Set fullgraph=False": it is */
					    : break_hints_sorted(x, explain_text(x, b->hints));
	if (text[4].n &&
	    slice_find(text[2], ".item(")) /* "Set torch._dynamo.config.capture_scalar_outputs": a branch needs the value still */
		r->torch_hint = without_line(x, r->torch_hint, "capture_scalar_outputs");
	if (cause.kind == CAUSE_NO_FAKE && (r->fix = cause_fake_kernel(x, cause.op)).n)
		return;
	bool loop = b->gb == GB_IN_LOOP; /* caused by another break inside a loop: what fixes that one fixes this one */
	break_fix(x, loop ? -1 : item ? GB_ITEM : b->gb, text, ARRAY_LEN(text), explain_text(x, b->loc.file), &r->fix, &r->hint);
	if (loop && !r->fix.n)
		break_fix(x, b->gb, text, ARRAY_LEN(text), explain_text(x, b->loc.file), &r->fix, &r->hint);
	struct slice call = logging_call(r->frames, text[2]);
	r->fix = with_method(x, r->fix, call);
	r->hint = with_method(x, r->hint, call);
}

static uint32_t new_group(struct explanation *x, uint32_t first)
{
	const struct fact_break *b = &x->facts->brk[first];
	GROW(x->group, x->n_group, x->cap_group, 1);
	x->group[x->n_group] = (struct break_group){
	    .first = first, .loc = b->loc, .kind = b->kind, .gb = b->gb, .seconds = -1, .call_us = BREAK_US, .finding = NONE};
	return x->n_group++;
}

/* The keys by which breaks are grouped. */
struct grouping {
	struct chain place, number, reason;
};

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* One group: the same line of the program (or, where the line is unknown, the same words) and the same reason, compared by number where
 * both have one. Breaks that were only inferred (the last rows) join whatever group their line has. */
static uint32_t group_of(struct explanation *x, struct grouping *g, uint32_t row)
{
	const struct fact_break *b = &x->facts->brk[row];
	bool placed = b->loc.file != NONE, numbered = b->gb >= 0;
	uint32_t file = b->loc.file, line = b->loc.line, gb = (uint32_t)b->gb, k;
	if (!placed || b->inferred) {
		struct slice key = placed ? CHAIN_KEY(file, line, 0) : CHAIN_KEY(NONE, b->reason, b->context);
		k = chain_first(&g->place, key);
	} else {
		k = chain_first(&g->reason, CHAIN_KEY(file, line, b->reason, 0));
		uint32_t other = numbered ? chain_first(&g->number, CHAIN_KEY(file, line, gb))
					  : chain_first(&g->reason, CHAIN_KEY(file, line, b->reason, 1));
		k = smaller(k, other);
	}
	if (k != NONE)
		return k;
	k = new_group(x, row);
	chain_add(&g->place, k, placed ? CHAIN_KEY(file, line, 0) : CHAIN_KEY(NONE, b->reason, b->context));
	if (placed && numbered)
		chain_add(&g->number, k, CHAIN_KEY(file, line, gb));
	if (placed && !b->inferred)
		chain_add(&g->reason, k, CHAIN_KEY(file, line, b->reason, numbered));
	return k;
}

/* All breaks of one of torch's wrappers become one note: there is no call to move. */
static void wrappers(struct explanation *x, uint32_t from)
{
	struct {
		const struct wrapper *w;
		uint32_t finding;
	} told[4];
	uint32_t n = 0, end = x->n_finding;
	for (uint32_t i = from, k; i < end; i++) {
		struct finding *g = &x->finding[i];
		const struct wrapper *w = wrapper_of(g->frames, explain_text(x, g->loc.file), g->why);
		for (k = 0; w && k < n && told[k].w != w; k++)
			;
		if (!w || k == ARRAY_LEN(told))
			continue;
		if (k < n) {
			x->finding[told[k].finding].count += g->count;
			g->into = told[k].finding;
			continue;
		}
		told[n].w = w;
		told[n++].finding = i;
		g->evidence = g->title;
		g->title = explain_textf(x, "%s runs in Python: graph breaks inside torch", w->name);
		g->cause = slice_of(NULL, 0);
		g->level = *w->fix && !x->sum.graphs ? FINDING_WARNING : FINDING_NOTE; /* nothing is compiled because of it */
		g->id = slice_str(w->id);
		g->why = slice_str(w->why);
		g->fix = slice_of(NULL, 0);
		g->hint = slice_str(w->fix);
		g->torch_hint = slice_of(NULL, 0);
	}
}

void explain_breaks(struct explanation *x)
{
	const struct facts *f = x->facts;
	struct joining j = {.x = x, .claimed = xcalloc(f->n_compile + 1, sizeof(bool))};
	struct grouping g = {0};
	struct chain of = {0}; /* breaks by group */
	FREED uint32_t *group = xreallocarray(NULL, f->n_brk + 1, sizeof(*group));
	add_rests(&j);
	for (uint32_t i = 0; i < f->n_brk; i++) {
		group[i] = group_of(x, &g, i);
		chain_add(&of, i, CHAIN_KEY(group[i]));
		f->brk[i].inferred ? x->group[group[i]].inferred++ : x->group[group[i]].count++;
	}
	for (uint32_t i = 0; i < f->n_brk; i++)
		claim(&j, &x->group[group[i]], &f->brk[i]);
	uint32_t from = x->n_finding;
	for (uint32_t k = 0; k < x->n_group; k++)
		describe(x, &x->group[k], group_compiles(x, &of, k));
	for (uint32_t i = 0; i < f->n_brk; i++)
		explain_on_input(x, &x->finding[x->group[group[i]].finding], f->brk[i].src.input);
	wrappers(x, from);
	chain_release(&g.place);
	chain_release(&g.number);
	chain_release(&g.reason);
	chain_release(&of);
	chain_release(&j.line);
	intern_release(&j.functions);
	free(j.rest);
	free(j.claimed);
}
