/* terminal.c - the explanation in the terminal: the verdict, findings worst first, where the time went; at most one screen. */
#include "explain/terminal_part.h"

#include "base/text.h"
#include "run/diagnose/bugs.h"
#include "run/diagnose/ignore.h"

enum {
	LINES = 46, /* without a terminal: a long page */
	BAR = 20,
	SMALL = 32,  /* rows of a terminal that has room for little */
	TITLE = 160, /* bytes of a title without a terminal */
	LISTED = 60, /* titles without --all */
	LEVEL = 7,   /* columns of "error", "warn", "note" */
};

/* A command to type: "python app.py" is replaced by the command of `run`. */
static void advice_lines(struct page *p, const char *label, struct slice text, unsigned max)
{
	enum { LONG = 200 }; /* a longer command would hide the text around it */
	LOCAL_BUF command = {0};
	LOCAL_BUF b = {0};
	const struct slice name = SLICE("python app.py");
	const char *at;
	if (p->opt->command)
		buf_add_command(&command, p->opt->command);
	while (command.len && command.len < LONG && (at = slice_find(text, name.p))) {
		buf_add(&b, text.p, (size_t)(at - text.p));
		buf_add_slice(&b, buf_slice(&command));
		text = slice_of(at + name.n, (size_t)(text.p + text.n - at) - name.n);
	}
	buf_add_slice(&b, text);
	terminal_lines(p, label, buf_slice(&b), max);
}

static struct slice where(struct page *p, const struct finding *g)
{
	LOCAL_BUF b = {0};
	explain_add_where(&b, p->x, g);
	return b.len ? arena_slice(&p->arena, buf_slice(&b)) : slice_of(NULL, 0);
}

static int count_lines(const struct buf *b, size_t from)
{
	int n = 0;
	for (size_t i = from; i < b->len; i++)
		n += b->p[i] == '\n';
	return n;
}

/* ---- the head ---- */

/* Text logs do not list graphs. */
static bool knows_graphs(const struct facts *f)
{
	for (uint32_t i = 0; i < f->n_input; i++)
		if (f->input[i].kind != FACT_TEXTLOG)
			return true;
	return f->n_graph > 0;
}

/* "dynamo was reset 5 times; 2 processes wrote here". A text log has only what was enabled, so its counts are lower bounds. */
static void put_identity(struct buf *b, const struct explanation *x)
{
	const char *least = "";
	for (uint32_t i = 0; i < x->facts->n_input; i++)
		if (x->facts->input[i].kind == FACT_TEXTLOG && x->facts->input[i].resets)
			least = "at least ";
	if (x->sum.resets == 1)
		buf_addf(b, "dynamo was reset %sonce: compile ids restart", least);
	else if (x->sum.resets)
		buf_addf(b, "dynamo was reset %s%llu times: compile ids restart each time", least, (unsigned long long)x->sum.resets);
	if (x->sum.processes > x->facts->n_input)
		buf_addf(b, "%s%llu processes wrote here", x->sum.resets ? "; " : "", (unsigned long long)x->sum.processes);
}

/* "trace.log: a trace of torch 2.15.0, rank 0"; on one line if the terminal is small. */
static void input_line(struct page *p, const struct fact_input *in, uint32_t more)
{
	const struct facts *f = p->x->facts;
	struct slice path = facts_text(f, in->path), version = facts_text(f, in->torch_version);
	struct buf *b = &p->s->b, what = {0};
	size_t line = b->len, width = (size_t)p->s->width;
	buf_adds(&what, in->kind == FACT_TRACE ? ": a trace" : in->kind == FACT_DEBUGDIR ? ": a debug folder" : ": a text");
	if (version.n)
		buf_addf(&what, " of torch %.*s", SL(version));
	if (in->rank >= 0)
		buf_addf(&what, ", rank %lld", (long long)in->rank);
	if (more)
		buf_addf(&what, ", and %u more", more);
	if (p->small && width > what.len + 8 && path.n + what.len > width) {
		size_t n = width - what.len - 3;
		buf_adds(b, "...");
		path = slice_of(path.p + path.n - n, n);
	}
	put_text(p->s, path);
	put_text(p->s, buf_slice(&what));
	buf_addc(b, '\n');
	put_wraps(p->s, line, 2);
	buf_release(&what);
}

/* The inputs, and the headline before all details. */
static void inputs(struct page *p)
{
	const struct facts *f = p->x->facts;
	uint32_t named = p->small ? 1 : 4;
	for (uint32_t i = 0; i < f->n_input && i < named; i++)
		input_line(p, &f->input[i], p->small ? f->n_input - 1 : 0);
	if (!p->small && f->n_input > named)
		buf_addf(&p->s->b, "and %u more\n", f->n_input - named);
	if (!p->x->headline.n)
		return;
	size_t from = p->s->b.len;
	FREED char *text = xstrndup(p->x->headline.p, p->x->headline.n);
	clean_text(text, p->x->headline.n);
	put_bold(p->s, text);
	buf_addc(&p->s->b, '\n');
	put_wraps(p->s, from, 2);
}

static void head(struct page *p)
{
	const struct explanation *x = p->x;
	const struct facts *f = x->facts;
	struct buf *b = &p->s->b;
	size_t from = b->len;
	if (!x->sum.graphs && explain_aot_compiled(f)) {
		buf_adds(b, "compiled by AOTInductor");
		if (x->n_time) {
			buf_adds(b, " in ");
			put_seconds(b, x->time[0].seconds);
		}
		buf_addf(b, "; torch.compile was not used: %llu failure%s\n", (unsigned long long)x->sum.failures, plural(x->sum.failures));
		return;
	}
	if (explain_exports(x))
		return; /* already in the headline */
	/* A text log has only those that are mentioned. */
	buf_addf(b, "%u compilation%s%s", f->n_compile, plural(f->n_compile), knows_graphs(f) ? "" : " mentioned");
	if (x->sum.compile_seconds >= 0) {
		buf_adds(b, " in ");
		put_seconds(b, x->sum.compile_seconds);
	}
	if (x->n_ranks > 1) {
		const struct fact_input *slowest = &f->input[x->slowest];
		buf_addf(b, " on %u ranks in total", x->n_ranks);
		if (slowest->seconds >= 0) {
			buf_addf(b, " (longest: rank %lld, ", (long long)slowest->rank);
			put_seconds(b, slowest->seconds);
			buf_addc(b, ')');
		}
	}
	buf_adds(b, ": ");
	if (knows_graphs(f))
		buf_addf(b, "%llu graph%s, ", (unsigned long long)x->sum.graphs, plural(x->sum.graphs));
	buf_addf(b, "%llu graph break%s", (unsigned long long)x->sum.graph_breaks, plural(x->sum.graph_breaks));
	if (x->sum.inferred_graph_breaks)
		buf_addf(b, " (and %llu without a record)", (unsigned long long)x->sum.inferred_graph_breaks);
	buf_addf(b, ", %llu recompile%s, %llu failure%s", (unsigned long long)x->sum.recompiles, plural(x->sum.recompiles),
		 (unsigned long long)x->sum.failures, plural(x->sum.failures));
	uint64_t cache[FACT_CACHE_WHATS] = {0};
	for (unsigned i = 0; i < FACT_CACHES; i++)
		for (unsigned k = 0; k < FACT_CACHE_WHATS; k++)
			cache[k] += x->sum.cache[i][k];
	if (cache[FACT_HIT] + cache[FACT_MISS] + cache[FACT_BYPASS])
		buf_addf(b, ", caches %llu hit, %llu missed, %llu bypassed", (unsigned long long)cache[FACT_HIT],
			 (unsigned long long)cache[FACT_MISS], (unsigned long long)cache[FACT_BYPASS]);
	buf_addc(b, '\n');
	if (x->sum.processes > f->n_input || x->sum.resets) {
		put_identity(b, x);
		buf_addc(b, '\n');
	}
	put_wraps(p->s, from, 2);
}

static void put_verdict(struct page *p, unsigned because, unsigned prove)
{
	const struct component_view *v = &p->x->component[0];
	LOCAL_BUF title = {0};
	buf_addc(&p->s->b, '\n');
	put_bold(p->s, explain_verdict_label(v));
	buf_add_slice(&title, explain_verdict_title(v));
	put_error(p->s, buf_str(&title));
	buf_addf(&p->s->b, "%s\n", v->fell_back && v->sure != SURE_PROVEN ? " (torch fell back to eager)" : "");
	terminal_lines(p, "because", v->evidence, because);
	if (prove)
		advice_lines(p, "to check", v->experiment, prove);
	if (v->failure != NONE && prove > 1 && v->experiment.n && v->component != COMPONENT_EXPORT)
		advice_lines(p, "", SLICE("fxexplain run --bisect -- python app.py    # runs them in turn"), 1);
	advice_lines(p, "next", v->next.n ? v->next : v->minify, 2);
}

/* As much of it as fits above the titles, which need `below` lines. */
static void verdict(struct page *p, int room, int below)
{
	static const unsigned because[] = {20, 7, 3, 2, 1}, prove[] = {3, 3, 3, 1, 0};
	const size_t from = p->s->b.len;
	if (!p->x->n_component || !explain_verdict_title(&p->x->component[0]).n)
		return;
	for (unsigned i = !p->opt->all; i < ARRAY_LEN(because); i++) {
		buf_cut(&p->s->b, from);
		put_verdict(p, because[i], prove[i]);
		if (!p->s->height || p->opt->all || count_lines(&p->s->b, from) + below <= room)
			return;
	}
}

/* ---- findings ---- */

static const char *level_word(const struct finding *g)
{
	return g->level == FINDING_ERROR ? "error" : g->level == FINDING_WARNING ? "warn" : "note";
}

static void put_level(struct page *p, const struct finding *g)
{
	static const enum style style[] = {[FINDING_ERROR] = STYLE_ERROR, [FINDING_WARNING] = STYLE_WARNING, [FINDING_NOTE] = STYLE_FAINT};
	put_style(p->s, style[g->level], level_word(g));
	buf_addf(&p->s->b, "%*s", LEVEL - (int)strlen(level_word(g)), "");
}

static void finding_head(struct page *p, const struct finding *g, double worst)
{
	struct buf *b = &p->s->b;
	struct slice at = where(p, g);
	size_t from = b->len;
	put_level(p, g);
	if (at.n) {
		put_style_text(p->s, STYLE_LINE, at);
		buf_adds(b, ": ");
	}
	put_text(p->s, g->title);
	if (g->count > 1 && g->kind != FINDING_RECOMPILE && g->kind != FINDING_LIMIT)
		buf_addf(b, " (%llu times)", (unsigned long long)g->count);
	if (g->id.n && g->id.p[0] == 'G' && g->kind == FINDING_BREAK) {
		buf_adds(b, "  [");
		put_text(p->s, g->id);
		buf_addc(b, ']');
	}
	buf_addc(b, '\n');
	put_wraps(p->s, from, 8);
	if (g->seconds > 0 && worst > 0) {
		buf_addf(b, "  %-*s", LABEL - 2, "time");
		/* What is counted twice (a break's restart and the frame that it restarts), or ran beside, is not more than all of it. */
		put_bar(p->s, g->seconds < worst ? g->seconds / worst : 1, p->bar);
		buf_addc(b, ' ');
		put_seconds(b, g->seconds);
		if (p->x->n_time)
			buf_addf(b, ", %.0f %% of the compile time", g->seconds < worst ? g->seconds / worst * 100 : 100);
		buf_addc(b, '\n');
	}
}

/* One line, truncated at the terminal's width. */
static void title_line(struct page *p, const struct finding *g)
{
	struct buf *b = &p->s->b;
	LOCAL_BUF at = {0};
	LOCAL_BUF text = {0};
	size_t most = (p->s->width ? (size_t)p->s->width : TITLE) - LEVEL;
	struct slice file = slice_base(srcloc_short_file(explain_text(p->x, g->loc.file)));
	if (file.n) {
		buf_add_slice(&at, file);
		if (g->loc.line)
			buf_addf(&at, ":%u", g->loc.line);
		buf_adds(&text, ": ");
	}
	if (g->n_ranks && g->n_ranks < p->x->n_ranks) {
		buf_addf(&text, "rank%s ", plural(g->n_ranks));
		explain_put_ranks(&text, p->x, g);
		buf_adds(&text, ": ");
	}
	const size_t used = at.len + text.len;
	explain_add_title(&text, g, most > used ? most - used : 0);
	put_level(p, g);
	put_style_text(p->s, STYLE_LINE, buf_slice(&at));
	put_text(p->s, buf_slice(&text));
	buf_addc(b, '\n');
}

/* How many lines each part of a finding has at each level of detail: only the best fix, a little more, a page, everything. */
enum detail { FIX, LEAST, SOME, MANY, ALL, DETAILS };
struct lines {
	unsigned why, log, fix, hint, next, ids;
};
static const struct lines lines_of[DETAILS] = {[FIX] = {0, 0, 1, 1, 0, 0},
					       [LEAST] = {1, 1, 1, 1, 0, 0},
					       [SOME] = {2, 3, 2, 1, 1, 0},
					       [MANY] = {4, 6, 8, 4, 1, 0},
					       [ALL] = {8, 12, 8, 8, 4, 1}};

/* An earlier finding with the same advice, which is printed only once; NULL: none. */
static const struct finding *same_advice(const struct explanation *x, const struct finding *g)
{
	enum { BEFORE = 256 };
	const struct finding *f = x->finding;
	for (int n = 0; n < BEFORE && f < g && g->fix.n + g->hint.n; n++, f++)
		if (f->into == NONE && slice_eq(f->fix, g->fix) && slice_eq(f->hint, g->hint))
			return f;
	return NULL;
}

static void put_advice(struct page *p, const struct finding *g, enum detail detail, bool hints)
{
	const struct lines *n = &lines_of[detail];
	const struct finding *before = same_advice(p->x, g);
	if (before) {
		struct slice at = where(p, before);
		LOCAL_BUF b = {0};
		buf_addf(&b, "as above%s%.*s", at.n ? ", for " : "", SL(at));
		terminal_lines(p, g->fix.n ? "fix" : "hint", buf_slice(&b), 1);
		return;
	}
	advice_lines(p, "fix", detail == FIX ? slice_first_line(g->fix) : g->fix, n->fix);
	if (hints || !g->fix.n)
		advice_lines(p, "hint", detail == FIX ? slice_first_line(g->hint) : g->hint, n->hint);
}

static void put_finding(struct page *p, const struct finding *g, double worst, enum detail detail)
{
	bool all = detail == ALL;
	const struct lines *n = &lines_of[detail];
	if (detail <= LEAST && p->x->n_finding > 1)
		title_line(p, g);
	else
		finding_head(p, g, worst);
	/* Already said by the verdict above. */
	bool failure = g->kind == FINDING_FAILURE, frame = g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT,
	     said = failure && p->x->n_component && slice_eq(g->evidence, p->x->component[0].evidence);
	if (g->n_ranks) {
		LOCAL_BUF ranks = {0};
		explain_put_ranks(&ranks, p->x, g);
		terminal_lines(p, "ranks", buf_slice(&ranks), 1);
	}
	terminal_lines(p, "cost", g->cost, 2);
	if (n->why)
		terminal_lines(p, "why", g->why, n->why);
	if (n->fix && g->n_bug) {
		LOCAL_BUF bugs = {0};
		explain_bug_lines(p->x, g, &bugs);
		terminal_lines(p, "known", buf_slice(&bugs), n->fix < BUGS_SHOWN ? 1 : BUGS_SHOWN);
	}
	if (!said && n->log && (all || failure || frame || g->kind == FINDING_KNOWN))
		terminal_lines(p, frame ? "changed" : "log", g->evidence, n->log);
	put_advice(p, g, detail, all);
	if (all || !(g->fix.n + g->hint.n))
		terminal_lines(p, "torch", g->torch_hint, n->hint);
	if (!said && n->next && (all || failure))
		advice_lines(p, "next", g->next, n->next);
	if (n->ids) {
		terminal_lines(p, "ids", g->compiles, 1);
		terminal_lines(p, "see", g->url, 1);
	}
}

/* With as many lines as fit; false: not even the fewest fit. Without a terminal the first finding is always shown. */
static bool finding(struct page *p, const struct finding *g, double worst, int *room)
{
	struct buf *b = &p->s->b;
	size_t from = b->len;
	bool first = g == p->x->finding, alone = p->x->n_finding == 1;
	for (int detail = p->opt->all ? ALL : alone ? MANY : SOME; detail >= FIX; detail--) {
		if (!alone)
			buf_addc(b, '\n');
		put_finding(p, g, worst, detail);
		int used = count_lines(b, from);
		if (used <= *room || p->opt->all || (first && !p->s->height)) {
			*room -= used;
			return true;
		}
		buf_cut(b, from);
	}
	return false;
}

/* All titles, one per line, then the first few in full: as many as fit. */
static void findings(struct page *p, int room)
{
	const struct explanation *x = p->x;
	struct buf *b = &p->s->b;
	double worst = 0;
	uint32_t shown = 0, listed = x->n_finding < LISTED || p->opt->all ? x->n_finding : LISTED;
	if (!x->n_finding)
		return;
	/* Bars are shares of the compile time, or of the most expensive finding. */
	for (uint32_t i = 0; !x->n_time && i < x->n_finding; i++)
		worst = x->finding[i].seconds > worst ? x->finding[i].seconds : worst;
	if (x->n_time)
		worst = x->time[0].seconds;
	buf_addc(b, '\n');
	put_bold(p->s, "What to look at, worst first");
	buf_addf(b, " (%u)\n", x->n_finding);
	for (uint32_t i = 0; x->n_finding > 1 && i < listed; i++)
		title_line(p, &x->finding[i]);
	room -= x->n_finding > 1 ? (int)listed : 0;
	if (listed < x->n_finding)
		buf_addf(b, "... and %u more  (--all)\n", x->n_finding - listed);
	for (; shown < x->n_finding && finding(p, &x->finding[shown], worst, &room); shown++)
		;
	if (shown < x->n_finding && shown < listed)
		buf_addf(b, "%s--all shows the other %u in full\n", p->small ? "" : "\n", x->n_finding - shown);
}

static void ignored(struct page *p)
{
	enum { NAMED = 3 };
	LOCAL_BUF text = {0};
	const size_t from = p->s->b.len + 1;
	ignore_text(&text, p->x, p->opt->all ? NONE : NAMED);
	if (!text.len)
		return;
	buf_addc(&p->s->b, '\n');
	put_text(p->s, buf_slice(&text));
	buf_addc(&p->s->b, '\n');
	put_wraps(p->s, from, 2);
}

/* ---- time ---- */

static void time_bars(struct page *p, const struct time_view *v, uint32_t max)
{
	struct buf *b = &p->s->b;
	uint32_t n = v->n < max ? v->n : max;
	for (uint32_t i = 0; i < n; i++) {
		const struct time_part *t = &p->x->part[v->first + i];
		buf_addf(b, "  %-24.*s ", SL(t->name));
		put_bar(p->s, v->seconds > 0 ? t->seconds / v->seconds : 0, p->bar);
		buf_addf(b, " %3.0f %%  ", v->seconds > 0 ? t->seconds / v->seconds * 100 : 0);
		put_seconds(b, t->seconds);
		if (t->calls)
			buf_addf(b, "  %llu call%s", (unsigned long long)t->calls, plural(t->calls));
		if (t->threads > t->seconds * 1.01) {
			buf_adds(b, ", ");
			put_seconds(b, t->threads);
			buf_adds(b, " over all threads");
		}
		buf_addc(b, '\n');
	}
}

/* ": Dynamo tracing 52 %; AOTAutograd 25 %": the parts worth mentioning, on one line. */
static void time_line(const struct page *p, size_t from)
{
	const struct explanation *x = p->x;
	const struct time_view *v = &x->time[0];
	struct buf *b = &p->s->b;
	for (uint32_t i = 0; i < v->n && i < 3 && v->seconds > 0; i++) {
		const struct time_part *t = &x->part[v->first + i];
		const size_t had = b->len;
		buf_addf(b, "%s%.*s %.0f %%", i ? "; " : ": ", SL(t->name), t->seconds / v->seconds * 100);
		if (t->seconds / v->seconds < 0.005 || (p->s->width && b->len - from > (size_t)p->s->width)) {
			buf_cut(b, had);
			break;
		}
	}
	buf_addc(b, '\n');
}

static void times(struct page *p, bool whole)
{
	const struct explanation *x = p->x;
	struct buf *b = &p->s->b;
	if (!x->n_time)
		return;
	buf_addc(b, '\n');
	size_t from = b->len;
	put_bold(p->s, "Compile time");
	buf_adds(b, "  ");
	put_seconds(b, x->time[0].seconds);
	if (p->small && !whole) {
		time_line(p, from);
		return;
	}
	if (x->n_ranks > 1)
		buf_addf(b, " of %u ranks in total", x->n_ranks);
	/* Metrics cover only the frames; torch's events also include caches, garbage collection and the backward around them. */
	buf_adds(b, x->sum.compile_seconds >= 0 && x->time[0].seconds > x->sum.compile_seconds * 1.01
			? ", including work around the frames\n"
			: "\n");
	time_bars(p, &x->time[0], whole ? NONE : 5);
	if (!whole)
		return;
	LOCAL_BUF t = {0};
	buf_adds(&t, "compile id\tseconds\twhere\tof which\n");
	for (uint32_t i = 1; i < x->n_time && i <= 200; i++) {
		const struct time_view *v = &x->time[i];
		const struct fact_compile *c = &x->facts->compile[v->compile];
		struct slice id = facts_text(x->facts, c->label), at = terminal_place(p, &c->loc);
		buf_addf_clean(&t, "%.*s\t", SL(id));
		buf_addf(&t, "%.3f\t", v->seconds);
		buf_addf_clean(&t, "%.*s\t", SL(at));
		for (uint32_t k = 0; k < v->n && k < 4; k++)
			buf_addf_clean(&t, "%s%.*s %.3f", k ? ", " : "", SL(x->part[v->first + k].name), x->part[v->first + k].seconds);
		buf_addc(&t, '\n');
	}
	if (x->n_time > 1) {
		buf_addc(b, '\n');
		put_table(p->s, buf_slice(&t));
	}
}

void emit_terminal(struct screen *s, const struct explanation *x, const struct explain_options *opt)
{
	struct page p = {.s = s, .x = x, .opt = opt, .small = s->height && s->height < SMALL && !opt->all, .bar = BAR};
	if (s->width && s->width < BAR + 52)
		p.bar = s->width > 58 ? s->width - 52 : 6;
	int height = s->height ? s->height - 1 : LINES;
	size_t from = s->b.len;
	bool whole_times = terminal_wants(&p, PART_TIMES, true);
	if (!opt->show) {
		inputs(&p);
		head(&p);
		/* Below this: two headings with a blank line each, every title, and where to find the rest. */
		int time_lines = x->n_time ? p.small ? 2 : 7 : 0, titles = x->n_finding ? 3 + (int)x->n_finding : 2,
		    used = count_lines(&s->b, from);
		verdict(&p, height - used, titles + time_lines);
		used = count_lines(&s->b, from);
		findings(&p, height - used - time_lines - (p.small ? 3 : 4) - (x->n_ignored ? 3 : 0));
		if (!x->n_finding && !x->n_component && !x->n_time && !x->facts->n_compile)
			buf_adds(&s->b, "\nNothing known found: no compilation, no known message.\n");
		else if (!x->n_finding)
			buf_adds(&s->b, "\nNo known problem found.\n");
		ignored(&p);
		if (!whole_times)
			times(&p, false);
	}
	if (whole_times)
		times(&p, true);
	terminal_parts(&p);
	if (opt->show && s->b.len == from)
		buf_adds(&s->b, "Nothing of this kind in the input.\n");
	arena_release(&p.arena);
}
