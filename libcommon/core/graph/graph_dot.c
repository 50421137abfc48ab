#include "graph/graph_forms.h"

/* Placeholders grey, operators white, subgraphs as clusters that their operator points to. */
static void dot_text(struct buf *b, struct slice s, size_t most)
{
	size_t n = s.n < most ? s.n : most;
	for (size_t i = 0; i < n; i++) {
		if (s.p[i] == '"' || s.p[i] == '\\')
			buf_addc(b, '\\');
		buf_addc(b, (unsigned char)s.p[i] < ' ' ? ' ' : s.p[i]);
	}
	if (n < s.n)
		buf_adds(b, "...");
}

static void dot_meta(const struct graph *g, const struct gmeta *m, struct buf *b)
{
	LOCAL_BUF size = {0};
	if (m->kind == GMETA_SYM)
		symsize_print(&g->tab, m->expr, &size);
	if (m->kind == GMETA_TENSOR) {
		const struct dtype_info *info = dtype_info(m->dtype);
		buf_addf(&size, "%s[", info ? info->brief : "");
		for (unsigned i = 0; i < m->n_dim; i++) {
			buf_adds(&size, i ? ", " : "");
			symsize_print(&g->tab, g->dim[m->dim + i], &size);
		}
		buf_addc(&size, ']');
	}
	for (uint32_t i = 0; m->kind == GMETA_TUPLE && i < m->n_parts && i < 8; i++) {
		buf_adds(&size, i ? " " : "");
		dot_meta(g, &g->meta[m->first + i], &size);
	}
	dot_text(b, buf_slice(&size), 80);
}

static void dot_node(const struct graph *g, uint32_t i, struct buf *b)
{
	const struct gnode *n = &g->node[i];
	bool plain = n->op == GRAPH_PLACEHOLDER || n->op == GRAPH_GET_ATTR || n->op == GRAPH_OUTPUT;
	buf_addf(b, "n%u [label=\"", i);
	dot_text(b, graph_name(g, i), 60);
	if (n->op != GRAPH_PLACEHOLDER && n->op != GRAPH_OUTPUT) {
		buf_adds(b, "\\n");
		dot_text(b, graph_op_text(g, i), 60);
	}
	if (n->meta != NONE) {
		buf_adds(b, "\\n");
		dot_meta(g, &g->meta[n->meta], b);
	}
	buf_adds(b, plain ? "\", style=filled, fillcolor=gray90];\n" : "\"];\n");
}

struct edge {
	const struct graph *g;
	struct buf *b;
	uint32_t to;
};

static bool dot_edge(void *user, uint32_t from)
{
	struct edge *e = user;
	const struct gnode *n = &e->g->node[from];
	uint32_t child = n->op == GRAPH_GET_ATTR ? graph_child(e->g, n->module, graph_text(e->g, n->target)) : NONE;
	buf_addf(e->b, "n%u -> n%u;\n", from, e->to);
	if (child != NONE)
		buf_addf(e->b, "n%u -> n%u [style=dashed, lhead=cluster%u];\n", from, e->g->module[child].first, child);
	return true;
}

/* Clusters are side by side; the dashed edges show the nesting. */
static void dot_module(const struct graph *g, uint32_t m, struct buf *b)
{
	const struct gmodule *mod = &g->module[m];
	if (m) {
		buf_addf(b, "subgraph cluster%u {\nlabel=\"", m);
		dot_text(b, graph_text(g, mod->name), 60);
		buf_adds(b, "\";\n");
	}
	for (uint32_t i = mod->first; i < mod->first + mod->n; i++)
		dot_node(g, i, b);
	if (m)
		buf_adds(b, "}\n");
}

void graph_dot(const struct graph *g, struct buf *b)
{
	buf_adds(b, "digraph fx {\ncompound=true;\nnode [shape=box, fontname=\"monospace\", fontsize=10];\n");
	for (uint32_t m = 0; m < g->n_modules; m++)
		dot_module(g, m, b);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct edge e = {g, b, i};
		graph_operands(g, i, dot_edge, &e);
	}
	buf_adds(b, "}\n");
}
