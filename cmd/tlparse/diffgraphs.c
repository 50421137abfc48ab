/* diffgraphs.c - graphs and kernels that differ, in words: the summary of --diff on a terminal. */
#include "diff.h"

enum { CHANGES = 6, NAMES = 8, VALUE = 70 };

static void add_cut(struct buf *b, struct slice s, size_t max)
{
	buf_add_clean(b, slice_of(s.p, s.n < max ? s.n : max));
	if (s.n > max)
		buf_adds(b, "...");
}

/* "1 added, 2 another dtype" of changes that follow from no other. */
static void add_counts(struct buf *b, const struct compare *c, const struct compare_graph *g)
{
	uint32_t count[GRAPHDIFF_KIND_COUNT] = {0}, follow = 0, n = 0;
	for (uint32_t i = 0; i < g->n; i++)
		*(c->node[g->first + i].cause == NONE ? &count[c->node[g->first + i].kind] : &follow) += 1;
	for (unsigned k = 0; k < GRAPHDIFF_KIND_COUNT; k++)
		if (count[k])
			buf_addf(b, "%s%u %s%s", n++ ? ", " : "", count[k], k > GRAPHDIFF_ADDED ? "with " : "", graphdiff_kind_words[k]);
	if (follow)
		buf_addf(b, "; %u follow%s", follow, follow == 1 ? "s" : "");
	if (g->more)
		buf_addf(b, "; %u more", g->more);
}

static bool alike(const struct compare_node *x, const struct compare_node *y)
{
	return x->kind == y->kind && x->kind > GRAPHDIFF_INPUTS && slice_eq(x->before, y->before) && slice_eq(x->after, y->after);
}

static void add_node(struct buf *b, const struct compare_node *n, uint32_t like)
{
	bool gone = n->kind == GRAPHDIFF_REMOVED, added = n->kind == GRAPHDIFF_ADDED;
	buf_addf(b, "        %c ", added ? '+' : gone ? '-' : '~');
	add_cut(b, n->node[!gone], VALUE);
	if (gone || added) {
		buf_adds(b, " = ");
		add_cut(b, gone ? n->before : n->after, VALUE);
	} else {
		if (n->kind != GRAPHDIFF_TARGET)
			buf_addf(b, " (%.*s)", SLN(n->op, VALUE));
		if (like)
			buf_addf(b, " and %u more", like);
		buf_addf(b, ": %s: ", graphdiff_kind_words[n->kind]);
		add_cut(b, n->before.n ? n->before : SLICE("none"), VALUE);
		buf_adds(b, " -> ");
		add_cut(b, n->after.n ? n->after : SLICE("none"), VALUE);
	}
	if (n->at.file.n)
		buf_addf(b, "  [%.*s:%u]", SLN(srcloc_short_file(n->at.file), VALUE), n->at.line);
	buf_addc(b, '\n');
}

/* The changes of their own; those of the same kind and values are one line. */
static void add_nodes(struct buf *b, const struct compare *c, const struct compare_graph *g)
{
	uint32_t shown = 0, left = 0;
	const struct compare_node *row = &c->node[g->first];
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t like = 0;
		bool told = row[i].cause != NONE;
		for (uint32_t k = 0; k < i && !told; k++)
			told = row[k].cause == NONE && alike(&row[k], &row[i]);
		if (told)
			continue;
		for (uint32_t k = i + 1; k < g->n; k++)
			like += row[k].cause == NONE && alike(&row[k], &row[i]);
		if (shown == CHANGES) {
			left++;
			continue;
		}
		add_node(b, &row[i], like);
		shown++;
	}
	if (left)
		buf_addf(b, "          and %u more\n", left);
}

static void add_graphs(struct buf *b, const struct compare *c)
{
	char text[COMPILE_ID_TEXT];
	uint32_t shown = 0, last = NONE;
	if (!c->n_graph)
		return;
	buf_addf(b, "\nGraphs, node by node (%u)\n", c->n_graph);
	for (uint32_t i = 0; i < c->n_graph && shown < 2 * CHANGES; i++, shown++) {
		const struct compare_graph *g = &c->graph[i];
		const struct compare_text *t = &c->text[g->text];
		buf_addf(b, "    ~ [%s] ", diff_unit(c->b, c->pair[t->pair].b, text));
		add_cut(b, intern_get(&c->b->t.f->names, c->b->t.artifact[t->b].name), VALUE);
		buf_addf(b, ": %u -> %u nodes: ", g->nodes[0], g->nodes[1]);
		add_counts(b, c, g);
		buf_addc(b, '\n');
		/* The later graphs of a compilation have the same changes, lowered. */
		if (t->pair != last)
			add_nodes(b, c, g);
		last = t->pair;
	}
	if (c->n_graph > shown)
		buf_addf(b, "      and %u more\n", c->n_graph - shown);
}

static void add_kernel(struct buf *b, const struct compare_kernel *k, char sign)
{
	struct slice rest = k->nodes, line;
	uint32_t n = 0;
	buf_addf(b, "          %c ", sign);
	add_cut(b, k->name, VALUE);
	while (slice_line(&rest, &line)) {
		if (n < NAMES) {
			buf_adds(b, n ? ", " : ": ");
			add_cut(b, line, VALUE);
		}
		n++;
	}
	if (n > NAMES)
		buf_addf(b, " and %u more", n - NAMES);
	buf_addc(b, '\n');
}

static void add_fusions(struct buf *b, const struct compare *c)
{
	char text[COMPILE_ID_TEXT];
	uint32_t codes = 0, shown = 0;
	for (uint32_t i = 0; i < c->n_code; i++)
		codes += c->code[i].n > 0;
	if (!codes)
		return;
	buf_addf(b, "\nKernels and fusion (%u)\n", codes);
	for (uint32_t i = 0; i < c->n_code && shown < CHANGES; i++) {
		const struct compare_code *x = &c->code[i];
		if (!x->n)
			continue;
		shown++;
		buf_addf(b, "    ~ [%s] %u -> %u kernels, %u -> %u calls of operators\n",
			 diff_unit(c->b, c->pair[c->text[x->text].pair].b, text), x->kernels[0], x->kernels[1], x->externs[0],
			 x->externs[1]);
		for (uint32_t k = 0; k < x->n && k < CHANGES; k++) {
			const struct compare_fusion *f = &c->fusion[x->first + k];
			buf_addf(b, "        %s", compare_fused_name[f->how]);
			if (f->why.n) {
				buf_adds(b, f->logged ? ": " : ", likely: ");
				add_cut(b, f->why, 240);
			}
			buf_addc(b, '\n');
			for (uint32_t n = 0; n < f->n[0] + f->n[1]; n++)
				add_kernel(b, &c->kernel[f->first + n], n < f->n[0] ? '-' : '+');
		}
		if (x->n + x->more > CHANGES)
			buf_addf(b, "          and %u more\n", x->n + x->more - CHANGES);
	}
	if (codes > shown)
		buf_addf(b, "      and %u more\n", codes - shown);
}

void diff_graphs_text(struct buf *b, const struct compare *c)
{
	add_graphs(b, c);
	add_fusions(b, c);
}
