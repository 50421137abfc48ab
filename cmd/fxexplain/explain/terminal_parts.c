/* terminal_parts.c - --show and --all: tables of the facts, in full. */
#include "explain/terminal_part.h"

#include "base/text.h"
#include "run/metrics.h"

static void heading(struct page *p, const char *text)
{
	if (p->s->b.len)
		buf_addc(&p->s->b, '\n');
	put_bold(p->s, text);
	buf_addc(&p->s->b, '\n');
}

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
	return compile == NONE ? SLICE("-") : facts_text(p->x->facts, p->x->facts->compile[compile].label);
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
		struct slice line = slice_first_line(facts_text(f, r->reason));
		cell(&t, compile_text(p, r->compile), false);
		cell(&t, terminal_place(p, &r->loc), false);
		buf_addf(&t, r->gb >= 0 ? "%04d" : "-", r->gb);
		buf_addc(&t, '\t');
		cell(&t, r->inferred ? SLICE("(no record: inferred from the resume function)") : line, true);
	}
	table(p, "Graph breaks", &t, f->n_brk);
}

static void show_recompiles(struct page *p)
{
	const struct explanation *x = p->x;
	bool any = false;
	for (uint32_t i = 0; i < x->n_frame; i++) {
		const struct frame_view *v = &x->frame[i];
		const struct fact_frame *row = &x->facts->frame[v->row];
		if (!row->recompiles)
			continue;
		if (!any)
			heading(p, "Recompiles, frame by frame");
		any = true;
		put_text(p->s, terminal_place(p, &row->loc));
		buf_addf(&p->s->b, "  compiled %u time%s%s\n", row->compiles, plural(row->compiles),
			 row->limited ? ", then the limit was reached" : "");
		for (uint32_t k = v->first; k < v->first + v->n; k++) {
			const struct frame_step *s = &x->step[k];
			size_t from = p->s->b.len;
			buf_addf(&p->s->b, "  %-*.*s", LABEL - 2, SL(compile_text(p, s->compile)));
			if (s->compile != NONE && x->facts->compile[s->compile].seconds >= 0) {
				put_seconds(&p->s->b, x->facts->compile[s->compile].seconds);
				buf_adds(&p->s->b, "  ");
			}
			put_text_line(p->s, "", s->change.n ? s->change : SLICE("first"));
			put_wraps(p->s, from, LABEL + 1);
		}
	}
}

static void show_shapes(struct page *p)
{
	const struct explanation *x = p->x;
	const struct facts *f = x->facts;
	struct buf t = {0};
	buf_adds(&t, "compile id\tsymbol\tsource\tvalue\trange\tline\tresult\n");
	for (uint32_t i = 0; i < x->n_symbol; i++) {
		const struct symbol_view *v = &x->symbol[i];
		const struct fact_symbol *r = v->row == NONE ? NULL : &f->symbol[v->row];
		uint32_t compile = r ? r->compile : v->n_bound ? f->bound[x->bound_row[v->first_bound]].compile : NONE;
		cell(&t, compile_text(p, compile), false);
		cell(&t, v->name, false);
		cell(&t, r ? facts_text(f, r->source) : SLICE("-"), false);
		cell(&t, r ? facts_text(f, r->value) : SLICE("-"), false);
		cell(&t, v->range.n ? v->range : r ? facts_text(f, r->range) : SLICE("-"), false);
		cell(&t, r ? terminal_place(p, &r->loc) : SLICE("-"), false);
		LOCAL_BUF b = {0};
		for (uint32_t k = 0; k < v->n_bound; k++) {
			const struct fact_bound *q = &f->bound[x->bound_row[v->first_bound + k]];
			struct slice expr = facts_text(f, q->expr), at = terminal_place(p, &q->loc);
			buf_addf(&b, "%s%.*s", k ? "; " : "", SL(expr));
			if (at.n)
				buf_addf(&b, " at %.*s", SL(at));
		}
		cell(&t, buf_slice(&b), true);
	}
	table(p, "Size symbols", &t, x->n_symbol);
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
	buf_adds(&t, "compile id\tline\twhy no CUDA graph\n");
	for (uint32_t i = 0; i < f->n_cudagraph; i++) {
		cell(&t, compile_text(p, f->cudagraph[i].compile), false);
		cell(&t, terminal_place(p, &f->cudagraph[i].loc), false);
		cell(&t, facts_text(f, f->cudagraph[i].reason), true);
	}
	table(p, "Skipped CUDA graphs", &t, f->n_cudagraph);
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
		put_text_line(p->s, "  ", r->restart ? SLICE("restart") : facts_text(f, r->type));
		put_wraps(p->s, from, 3);
		terminal_lines(p, "", facts_text(f, r->reason), 20);
		terminal_lines(p, "frames", facts_text(f, r->frames), 16);
	}
}

/* Graphs in numbers; their text and that of guards, if kept. */
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
		cell(&t, g->compile == NONE ? SLICE("-") : terminal_place(p, &f->compile[g->compile].loc), false);
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
		put_text_line(p->s, "", facts_text(f, g->name));
		while (slice_line(&text, &line)) {
			put_text_line(p->s, "    ", line);
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
		snprintf(title, sizeof(title), "Metrics of %.*s", SL(facts_text(f, c->label)));
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

bool terminal_wants(const struct page *p, enum explain_part part, bool in_all)
{
	return p->opt->show >> part & 1 || (p->opt->all && in_all);
}

void terminal_parts(struct page *p)
{
	if (terminal_wants(p, PART_BREAKS, true))
		show_breaks(p);
	if (terminal_wants(p, PART_RECOMPILES, true))
		show_recompiles(p);
	if (terminal_wants(p, PART_SHAPES, true))
		show_shapes(p);
	if (terminal_wants(p, PART_CACHES, true))
		show_caches(p);
	if (terminal_wants(p, PART_CUDAGRAPHS, true))
		show_cudagraphs(p);
	if (terminal_wants(p, PART_ERRORS, false))
		show_errors(p);
	if (terminal_wants(p, PART_GRAPHS, false))
		show_graphs(p, false);
	if (terminal_wants(p, PART_GUARDS, false))
		show_graphs(p, true);
	if (terminal_wants(p, PART_METRICS, false))
		show_metrics(p);
}

static unsigned lines_in(struct slice text)
{
	struct slice line;
	unsigned n = 0;
	while (slice_line(&text, &line))
		n += slice_trim(line).n > 0;
	return n;
}

/* A fix is in its colour, all else in none. */
void terminal_lines(struct page *p, const char *label, struct slice text, unsigned max)
{
	const bool fix = !strcmp(label, "fix");
	struct slice line;
	unsigned n = 0, all = lines_in(text);
	max = all == max + 1 ? all : max;
	while (n < max && slice_line(&text, &line)) {
		if (!slice_trim(line).n)
			continue;
		size_t from = p->s->b.len;
		buf_addf(&p->s->b, "  %-*s", LABEL - 2, n++ ? "" : label);
		fix ? put_style_text(p->s, STYLE_FIX, line) : put_text(p->s, line);
		buf_addc(&p->s->b, '\n');
		put_wraps(p->s, from, LABEL + 1);
	}
	if (all > max)
		buf_addf(&p->s->b, "  %-*s(%u more lines)\n", LABEL - 2, "", all - max);
}

struct slice terminal_place(struct page *p, const struct fact_loc *loc)
{
	LOCAL_BUF b = {0};
	explain_add_place(&b, p->x, loc);
	return b.len ? arena_slice(&p->arena, buf_slice(&b)) : slice_of(NULL, 0);
}
