/* terminal.c - the explanation for a person: the verdict, the findings worst first, where the time went; at most a screen. */
#include "fxexplain.h"

#include "diagnose/metrics.h"
#include "base/text.h"

enum {
	LINES = 46, /* without a terminal: a long page */
	LABEL = 12, /* columns of "  cost      " */
	BAR = 20,
	SMALL = 32, /* rows of a terminal that has room for little */
};

struct page {
	struct screen *s;
	const struct explanation *x;
	const struct explain_options *opt;
	struct arena arena;
	bool small; /* the terminal has few rows */
	int bar;    /* columns of a bar */
};

static void heading(struct page *p, const char *text)
{
	if (p->s->b.len)
		buf_addc(&p->s->b, '\n');
	put_bold(p->s, text);
	buf_addc(&p->s->b, '\n');
}

/* "  fix       one line" and further lines below, each wrapped. At most max lines of the text. */
static void labelled(struct page *p, const char *label, struct slice text, unsigned max)
{
	struct slice line;
	unsigned n = 0, left = 0;
	while (slice_line(&text, &line)) {
		if (!slice_trim(line).n)
			continue;
		if (n++ >= max) {
			left++;
			continue;
		}
		size_t from = p->s->b.len;
		buf_addf(&p->s->b, "  %-*s", LABEL - 2, n == 1 ? label : "");
		put_text(p->s, line);
		buf_addc(&p->s->b, '\n');
		put_wraps(p->s, from, LABEL + 1);
	}
	if (left)
		buf_addf(&p->s->b, "  %-*s(%u more line%s)\n", LABEL - 2, "", left, plural(left));
}

static struct slice place(struct page *p, const struct fact_loc *loc)
{
	struct buf b = {0};
	explain_add_place(&b, p->x, loc);
	struct slice s = b.len ? arena_slice(&p->arena, buf_slice(&b)) : slice_of(NULL, 0);
	buf_release(&b);
	return s;
}

/* ---- the head ---- */

/* Texts do not tell of graphs. */
static bool knows_graphs(const struct facts *f)
{
	for (uint32_t i = 0; i < f->n_input; i++)
		if (f->input[i].kind != FACT_TEXTLOG)
			return true;
	return f->n_graph > 0;
}

static void head(struct page *p)
{
	const struct explanation *x = p->x;
	const struct facts *f = x->facts;
	struct buf *b = &p->s->b;
	for (uint32_t i = 0; i < f->n_input && i < 4; i++) {
		const struct fact_input *in = &f->input[i];
		size_t line = b->len;
		put_text(p->s, facts_text(f, in->path));
		buf_adds(b, in->kind == FACT_TRACE ? ": a trace" : in->kind == FACT_DEBUGDIR ? ": a debug folder" : ": a text");
		if (in->torch_version != NONE) {
			buf_adds(b, " of torch ");
			put_text(p->s, facts_text(f, in->torch_version));
		}
		if (in->rank >= 0)
			buf_addf(b, ", rank %lld", (long long)in->rank);
		buf_addc(b, '\n');
		put_wraps(p->s, line, 2);
	}
	if (f->n_input > 4)
		buf_addf(b, "and %u more\n", f->n_input - 4);
	size_t from = b->len;
	if (!f->n_compile && explain_aot_compiled(f)) {
		buf_addf(b, "compiled by AOTInductor; nothing by torch.compile: %llu failure%s\n", (unsigned long long)x->failures,
			 plural(x->failures));
		return;
	}
	buf_addf(b, "%u compilation%s", f->n_compile, plural(f->n_compile));
	if (x->seconds >= 0) {
		buf_adds(b, " in ");
		put_seconds(b, x->seconds);
	}
	buf_adds(b, ": ");
	if (knows_graphs(f))
		buf_addf(b, "%llu graph%s, ", (unsigned long long)x->graphs, plural(x->graphs));
	buf_addf(b, "%llu graph break%s", (unsigned long long)x->breaks, plural(x->breaks));
	if (x->inferred_breaks)
		buf_addf(b, " (and %llu without a record)", (unsigned long long)x->inferred_breaks);
	buf_addf(b, ", %llu recompile%s, %llu failure%s", (unsigned long long)x->recompiles, plural(x->recompiles),
		 (unsigned long long)x->failures, plural(x->failures));
	if (x->hits + x->misses + x->bypasses)
		buf_addf(b, ", caches %llu hit, %llu missed, %llu bypassed", (unsigned long long)x->hits, (unsigned long long)x->misses,
			 (unsigned long long)x->bypasses);
	buf_addc(b, '\n');
	put_wraps(p->s, from, 2);
}

static void verdict(struct page *p)
{
	static const char *const sure[] = {"", "probably ", ""};
	const struct explanation *x = p->x;
	if (!x->n_component || x->component[0].component == COMPONENT_NONE)
		return;
	const struct component_view *v = &x->component[0];
	bool caught = v->failure != NONE && x->facts->failure[v->failure].caught;
	buf_addc(&p->s->b, '\n');
	put_bold(p->s, "Failed: ");
	if (p->s->color)
		put_red(p->s, component_title[v->component]);
	else
		buf_adds(&p->s->b, component_title[v->component]);
	buf_addf(&p->s->b, "%s%s%s\n", v->sure == SURE_LIKELY ? ", " : "", v->sure == SURE_LIKELY ? sure[v->sure] : "",
		 caught ? " (torch went on in eager)" : "");
	labelled(p, "because", v->evidence, p->opt->all ? 20 : p->small ? 6 : 7);
	labelled(p, "to prove", v->experiment, p->small ? 1 : 3);
	if (v->failure != NONE && !p->small)
		labelled(p, "", SLICE("fxexplain run --bisect -- python app.py    # runs them in turn"), 1);
	labelled(p, "next", v->minify, 2);
}

/* ---- findings ---- */

static const char *level_word(const struct finding *g)
{
	return g->level == FINDING_ERROR ? "error" : g->level == FINDING_WARNING ? "warn" : "note";
}

static void finding_head(struct page *p, const struct finding *g, double worst)
{
	struct buf *b = &p->s->b;
	struct slice at = place(p, &g->loc);
	size_t from = b->len;
	if (g->level == FINDING_ERROR)
		put_red(p->s, level_word(g));
	else if (g->level == FINDING_NOTE)
		put_dim(p->s, level_word(g));
	else
		buf_adds(b, level_word(g));
	buf_addf(b, "%*s", 7 - (int)strlen(level_word(g)), "");
	if (at.n) {
		put_text(p->s, at);
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
		put_bar(p->s, g->seconds / worst, p->bar);
		buf_addc(b, ' ');
		put_seconds(b, g->seconds);
		if (p->x->n_time)
			buf_addf(b, ", %.0f %% of the compile time", g->seconds / worst * 100);
		buf_addc(b, '\n');
	}
}

static void finding(struct page *p, const struct finding *g, double worst)
{
	bool all = p->opt->all;
	finding_head(p, g, worst);
	/* What the verdict has said above. */
	bool failure = g->kind == FINDING_FAILURE,
	     said = failure && p->x->n_component && slice_eq(g->evidence, p->x->component[0].evidence);
	labelled(p, "cost", g->cost, 2);
	labelled(p, "why", g->why, all ? 8 : p->small ? 1 : 2);
	if (!said && (all || failure || g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT || g->kind == FINDING_KNOWN))
		labelled(p, g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT ? "changed" : "log", g->evidence,
			 all        ? 12
			 : p->small ? 1
				    : 3);
	labelled(p, "fix", g->fix, all ? 8 : p->small ? 1 : 2);
	if (!said && (all || failure))
		labelled(p, "next", g->next, all ? 4 : 1);
	if (all) {
		labelled(p, "ids", g->compiles, 1);
		labelled(p, "see", g->url, 1);
	}
}

static int count_lines(const struct buf *b, size_t from)
{
	int n = 0;
	for (size_t i = from; i < b->len; i++)
		n += b->p[i] == '\n';
	return n;
}

static void findings(struct page *p, int room)
{
	const struct explanation *x = p->x;
	struct buf *b = &p->s->b;
	double worst = 0;
	uint32_t shown = 0;
	if (!x->n_finding)
		return;
	/* Bars are shares of the compile time, or of the costliest. */
	for (uint32_t i = 0; !x->n_time && i < x->n_finding; i++)
		worst = x->finding[i].seconds > worst ? x->finding[i].seconds : worst;
	if (x->n_time)
		worst = x->time[0].seconds;
	buf_addc(b, '\n');
	put_bold(p->s, "What to look at, worst first");
	buf_addf(b, " (%u)\n", x->n_finding);
	for (; shown < x->n_finding; shown++) {
		size_t from = b->len;
		finding(p, &x->finding[shown], worst);
		int used = count_lines(b, from);
		if (!p->opt->all && shown && used > room) {
			b->len = from;
			break;
		}
		room -= used;
	}
	if (shown < x->n_finding) {
		buf_addf(b, "... and %u more:", x->n_finding - shown);
		uint32_t kinds[FINDING_KINDS] = {0};
		for (uint32_t i = shown; i < x->n_finding; i++)
			kinds[x->finding[i].kind]++;
		for (unsigned k = 0, n = 0; k < FINDING_KINDS; k++)
			if (kinds[k])
				buf_addf(b, "%s %u %s", n++ ? "," : "", kinds[k], finding_kind_name[k]);
		buf_adds(b, "  (--all)\n");
	}
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
		buf_addc(b, '\n');
	}
}

static void times(struct page *p, bool whole)
{
	const struct explanation *x = p->x;
	struct buf *b = &p->s->b;
	if (!x->n_time)
		return;
	buf_addc(b, '\n');
	put_bold(p->s, "Compile time");
	buf_adds(b, "  ");
	put_seconds(b, x->time[0].seconds);
	/* Metrics count the frames alone; torch's events have the caches, the collector and the backward around them, too. */
	buf_adds(b, x->seconds >= 0 && x->time[0].seconds > x->seconds * 1.01 ? ", what is around the frames included\n" : "\n");
	time_bars(p, &x->time[0], whole ? NONE : p->small ? 2 : 5);
	if (!whole)
		return;
	struct buf t = {0};
	buf_adds(&t, "compile id\tseconds\twhere\tof which\n");
	for (uint32_t i = 1; i < x->n_time && i <= 200; i++) {
		const struct time_view *v = &x->time[i];
		const struct fact_compile *c = &x->facts->compile[v->compile];
		struct slice id = facts_text(x->facts, c->id), at = place(p, &c->loc);
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
	buf_release(&t);
}

/* ---- parts that are asked for ---- */

/* A cell of a table: no tabs, no line ends. */
static void cell(struct buf *b, struct slice s, bool last)
{
	size_t n = s.n > 500 ? 500 : s.n;
	for (size_t i = 0; i < n; i++)
		buf_addc(b, s.p[i] == '\t' || s.p[i] == '\n' ? ' ' : s.p[i]);
	if (s.n > n)
		buf_adds(b, "...");
	buf_addc(b, last ? '\n' : '\t');
}

static struct slice compile_text(const struct page *p, uint32_t compile)
{
	return compile == NONE ? SLICE("-") : facts_text(p->x->facts, p->x->facts->compile[compile].id);
}

static void table(struct page *p, const char *title, struct buf *t, uint32_t rows)
{
	if (rows) {
		heading(p, title);
		put_table(p->s, buf_slice(t));
	}
	buf_release(t);
}

static void show_breaks(struct page *p)
{
	const struct facts *f = p->x->facts;
	struct buf t = {0};
	buf_adds(&t, "compile id\tline\tGB\treason\n");
	for (uint32_t i = 0; i < f->n_brk; i++) {
		const struct fact_break *r = &f->brk[i];
		struct slice reason = facts_text(f, r->reason), line = {0};
		slice_line(&reason, &line);
		cell(&t, compile_text(p, r->compile), false);
		cell(&t, place(p, &r->loc), false);
		buf_addf(&t, r->gb >= 0 ? "%04d" : "-", r->gb);
		buf_addc(&t, '\t');
		cell(&t, r->inferred ? SLICE("(no record: told by the function that goes on behind it)") : line, true);
	}
	table(p, "Graph breaks", &t, f->n_brk);
}

static void show_recompiles(struct page *p)
{
	const struct explanation *x = p->x;
	bool any = false;
	for (uint32_t i = 0; i < x->n_frame; i++) {
		const struct frame_view *v = &x->frame[i];
		if (!v->recompiles)
			continue;
		if (!any)
			heading(p, "Recompiles, frame by frame");
		any = true;
		put_text(p->s, place(p, &v->loc));
		buf_addf(&p->s->b, "  compiled %u times%s\n", v->compiles, v->limited ? ", then the limit was reached" : "");
		for (uint32_t k = v->first; k < v->first + v->n; k++) {
			const struct frame_step *s = &x->step[k];
			size_t from = p->s->b.len;
			buf_addf(&p->s->b, "  %-*.*s", LABEL - 2, SL(compile_text(p, s->compile)));
			if (s->compile != NONE && x->facts->compile[s->compile].seconds >= 0) {
				put_seconds(&p->s->b, x->facts->compile[s->compile].seconds);
				buf_adds(&p->s->b, "  ");
			}
			put_text(p->s, s->change.n ? s->change : SLICE("first"));
			buf_addc(&p->s->b, '\n');
			put_wraps(p->s, from, LABEL + 1);
		}
	}
}

static void show_shapes(struct page *p)
{
	const struct explanation *x = p->x;
	const struct facts *f = x->facts;
	struct buf t = {0};
	buf_adds(&t, "compile id\tsymbol\tsource\tvalue\trange\tline\twhat became of it\n");
	for (uint32_t i = 0; i < x->n_symbol; i++) {
		const struct symbol_view *v = &x->symbol[i];
		const struct fact_symbol *r = v->row == NONE ? NULL : &f->symbol[v->row];
		uint32_t compile = r ? r->compile : v->n_bound ? f->bound[x->bound_row[v->first_bound]].compile : NONE;
		cell(&t, compile_text(p, compile), false);
		cell(&t, v->name, false);
		cell(&t, r ? facts_text(f, r->source) : SLICE("-"), false);
		cell(&t, r ? facts_text(f, r->value) : SLICE("-"), false);
		cell(&t, v->range.n ? v->range : r ? facts_text(f, r->range) : SLICE("-"), false);
		cell(&t, r ? place(p, &r->loc) : SLICE("-"), false);
		struct buf b = {0};
		for (uint32_t k = 0; k < v->n_bound; k++) {
			const struct fact_bound *q = &f->bound[x->bound_row[v->first_bound + k]];
			struct slice expr = facts_text(f, q->expr), at = place(p, &q->loc);
			buf_addf(&b, "%s%.*s", k ? "; " : "", SL(expr));
			if (at.n)
				buf_addf(&b, " at %.*s", SL(at));
		}
		cell(&t, buf_slice(&b), true);
		buf_release(&b);
	}
	table(p, "Symbols of sizes", &t, x->n_symbol);
}

static void show_caches(struct page *p)
{
	static const char *const what[] = {"hit", "miss", "bypass"};
	const struct facts *f = p->x->facts;
	struct buf t = {0};
	buf_adds(&t, "compile id\tcache\tresult\twhy\n");
	for (uint32_t i = 0; i < f->n_cache; i++) {
		cell(&t, compile_text(p, f->cache[i].compile), false);
		cell(&t, facts_text(f, f->cache[i].name), false);
		cell(&t, slice_str(what[f->cache[i].what]), false);
		cell(&t, facts_text(f, f->cache[i].reason), true);
	}
	table(p, "Caches", &t, f->n_cache);
}

static void show_cudagraphs(struct page *p)
{
	const struct facts *f = p->x->facts;
	struct buf t = {0};
	buf_adds(&t, "compile id\tline\twhy there is no CUDA graph\n");
	for (uint32_t i = 0; i < f->n_cudagraph; i++) {
		cell(&t, compile_text(p, f->cudagraph[i].compile), false);
		cell(&t, place(p, &f->cudagraph[i].loc), false);
		cell(&t, facts_text(f, f->cudagraph[i].reason), true);
	}
	table(p, "CUDA graphs that were skipped", &t, f->n_cudagraph);
}

static void show_errors(struct page *p)
{
	const struct facts *f = p->x->facts;
	bool any = false;
	for (uint32_t i = 0; i < f->n_failure; i++) {
		const struct fact_failure *r = &f->failure[i];
		if (!any)
			heading(p, "Errors and restarts");
		any = true;
		size_t from = p->s->b.len;
		put_text(p->s, facts_text(f, f->input[r->src.input].path));
		buf_addf(&p->s->b, ":%llu  ", (unsigned long long)r->src.line);
		put_text(p->s, compile_text(p, r->compile));
		buf_adds(&p->s->b, "  ");
		put_text(p->s, r->restart ? SLICE("restart") : facts_text(f, r->type));
		buf_addc(&p->s->b, '\n');
		put_wraps(p->s, from, 3);
		labelled(p, "", facts_text(f, r->reason), 20);
		labelled(p, "frames", facts_text(f, r->frames), 16);
	}
}

/* Graphs in numbers; their text, and that of guards, where it was kept. */
static void show_graphs(struct page *p, bool guards)
{
	const struct facts *f = p->x->facts;
	struct buf t = {0};
	uint32_t n = 0;
	buf_adds(&t, "compile id\tline\tgraph\tops\tbytes\n");
	for (uint32_t i = 0; i < f->n_graph; i++) {
		const struct fact_graph *g = &f->graph[i];
		if (slice_is(facts_text(f, g->name), "guards") != guards)
			continue;
		n++;
		cell(&t, compile_text(p, g->compile), false);
		cell(&t, g->compile == NONE ? SLICE("-") : place(p, &f->compile[g->compile].loc), false);
		cell(&t, facts_text(f, g->name), false);
		buf_addf(&t, g->ops >= 0 ? "%lld" : "-", (long long)g->ops);
		buf_addf(&t, "\t%llu\n", (unsigned long long)g->bytes);
	}
	table(p, guards ? "Guards" : "Graphs", &t, n);
	for (uint32_t i = 0; i < f->n_graph; i++) {
		const struct fact_graph *g = &f->graph[i];
		struct slice text = facts_text(f, g->text), line;
		if (slice_is(facts_text(f, g->name), "guards") != guards || !text.n)
			continue;
		buf_addc(&p->s->b, '\n');
		put_text(p->s, compile_text(p, g->compile));
		buf_addc(&p->s->b, ' ');
		put_text(p->s, facts_text(f, g->name));
		buf_addc(&p->s->b, '\n');
		while (slice_line(&text, &line)) {
			buf_adds(&p->s->b, "    ");
			put_text(p->s, line);
			buf_addc(&p->s->b, '\n');
		}
	}
}

static void show_metrics(struct page *p)
{
	const struct facts *f = p->x->facts;
	for (uint32_t i = 0; i < f->n_compile; i++) {
		const struct fact_compile *c = &f->compile[i];
		struct buf t = {0};
		char title[128];
		if (!c->n_metric)
			continue;
		snprintf(title, sizeof(title), "Metrics of %.*s", SL(facts_text(f, c->id)));
		buf_adds(&t, "metric\tvalue\twhat it is\n");
		for (uint32_t k = c->first_metric; k < c->first_metric + c->n_metric; k++) {
			const struct fact_metric *m = &f->metric[k];
			cell(&t, facts_text(f, m->name), false);
			cell(&t, facts_text(f, m->value), false);
			cell(&t, m->known == METRIC_UNKNOWN ? SLICE("-") : slice_str(metric_info[m->known].text), true);
		}
		table(p, title, &t, c->n_metric);
	}
}

static bool wanted(const struct page *p, enum explain_part part, bool in_all)
{
	return p->opt->show >> part & 1 || (p->opt->all && in_all);
}

void emit_terminal(struct screen *s, const struct explanation *x, const struct explain_options *opt)
{
	struct page p = {.s = s, .x = x, .opt = opt, .small = s->height && s->height < SMALL && !opt->all, .bar = BAR};
	if (s->width && s->width < BAR + 52)
		p.bar = s->width > 58 ? s->width - 52 : 6;
	int height = s->height ? s->height - 1 : LINES;
	size_t from = s->b.len;
	bool whole_times = wanted(&p, PART_TIMES, true);
	if (!opt->show) {
		head(&p);
		verdict(&p);
		int time_lines = x->n_time ? p.small ? 4 : 7 : 0, used = count_lines(&s->b, from);
		findings(&p, height - used - time_lines - 4);
		if (!x->n_finding && !x->n_component && !x->n_time && !x->facts->n_compile)
			buf_adds(&s->b, "\nNothing that I know is in here.\n");
		else if (!x->n_finding)
			buf_adds(&s->b, "\nNothing is wrong that I know of.\n");
		if (!whole_times)
			times(&p, false);
	}
	if (whole_times)
		times(&p, true);
	if (wanted(&p, PART_BREAKS, true))
		show_breaks(&p);
	if (wanted(&p, PART_RECOMPILES, true))
		show_recompiles(&p);
	if (wanted(&p, PART_SHAPES, true))
		show_shapes(&p);
	if (wanted(&p, PART_CACHES, true))
		show_caches(&p);
	if (wanted(&p, PART_CUDAGRAPHS, true))
		show_cudagraphs(&p);
	if (wanted(&p, PART_ERRORS, false))
		show_errors(&p);
	if (wanted(&p, PART_GRAPHS, false))
		show_graphs(&p, false);
	if (wanted(&p, PART_GUARDS, false))
		show_graphs(&p, true);
	if (wanted(&p, PART_METRICS, false))
		show_metrics(&p);
	if (opt->show && s->b.len == from)
		buf_adds(&s->b, "The input has nothing of the kind.\n");
	arena_release(&p.arena);
}
