/* compare_graphs.c - texts that are FX graphs, compared as graphs. */
#include "compare/compare_part.h"
#include "base/srcloc.h"
#include "graph/fxcode.h"

static bool read_graph(struct graph *g, struct slice text)
{
	struct err err;
	return slice_starts(text, "class ") && slice_find(text, "def forward(") && fxcode_read(g, text, "graph", &err) == 0;
}

void compare_graphs_make(struct compare_graphs *x, struct slice a, struct slice b)
{
	*x = (struct compare_graphs){.both = false};
	if (!read_graph(&x->g[0], a))
		return;
	x->both = read_graph(&x->g[1], b);
	if (x->both)
		graphdiff_run(&x->d, &x->g[0], &x->g[1]);
}

void compare_graphs_release(struct compare_graphs *x)
{
	graphdiff_release(&x->d);
	graph_release(&x->g[0]);
	graph_release(&x->g[1]);
	x->both = false;
}

static struct slice keep(struct compare *c, struct slice s) { return s.n ? arena_slice(&c->arena, s) : slice_of("", 0); }

void compare_graphs_keep(struct compare *c, const struct compare_graphs *x, uint32_t text)
{
	const struct graphdiff *d = &x->d;
	struct compare_graph row = {.text = text,
				    .nodes = {(uint32_t)x->g[0].n_nodes, (uint32_t)x->g[1].n_nodes},
				    .first = c->n_node,
				    .own = d->own,
				    .renamed = d->renamed,
				    .reordered = d->reordered};
	for (uint32_t i = 0; i < d->n_row && row.n < COMPARE_GRAPH_ROWS; i++, row.n++) {
		const struct graphdiff_row *r = &d->row[i];
		bool after = r->b != NONE;
		const struct graph *g = &x->g[after];
		uint32_t node = after ? r->b : r->a;
		struct compare_node *n = &PUSH(c, node);
		*n = (struct compare_node){.kind = r->kind, .cause = r->cause, .before = keep(c, r->before), .after = keep(c, r->after)};
		n->node[0] = keep(c, r->a == NONE ? slice_of("", 0) : graph_name(d->a, r->a));
		n->node[1] = keep(c, r->b == NONE ? slice_of("", 0) : graph_name(d->b, r->b));
		n->op = keep(c, graph_computes(&g->node[node]) ? graph_op_text(g, node) : slice_str(graph_op_name(g->node[node].op)));
		struct srcloc at;
		if (g->node[node].stack != NONE && srcloc_parse(graph_text(g, g->node[node].stack), &at))
			n->at = srcloc_copy(&c->arena, &at);
	}
	row.more = d->n_row - row.n + d->more;
	row.drawing = compare_draw(c, d, NULL);
	PUSH(c, graph) = row;
}
