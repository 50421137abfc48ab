#include "graph/graph.h"

/* Ids that mean the same in both graphs need no lookup: those borrowed by g. */
uint32_t graph_copy_text(struct graph *g, const struct graph *from, uint32_t text)
{
	if (text == NONE || (g->lender == from && text < g->lent_texts))
		return text;
	return graph_intern(g, graph_text(from, text));
}

static struct symsize graph_copy_size(struct graph *g, const struct graph *from, struct symsize size)
{
	if (symsize_is_int(size) || (g->lender == from && size.expr <= g->lent_exprs))
		return size;
	LOCAL_BUF b = {0};
	symsize_print(&from->tab, size, &b);
	return symsize_parse_any(&g->tab, buf_slice(&b));
}

static inline struct gvalue copy_leaf(struct graph *g, const struct graph *from, struct gvalue v, const uint32_t *map)
{
	if (v.kind == GV_NODE)
		v.node = map[v.node];
	else if (gvalue_has_text(v))
		v.text = graph_copy_text(g, from, v.text);
	return v;
}

/* n contiguous values at the end of g's. Their children come before them, so if one is a sequence they are collected elsewhere first. */
static uint32_t copy_values(struct graph *g, const struct graph *from, uint32_t first, size_t n, const uint32_t *map)
{
	size_t i = 0;
	GROW(g->value, g->n_values, g->cap_values, n + 1);
	for (struct gvalue *to = g->value + g->n_values; i < n && !gvalue_has_children(from->value[first + i]); i++)
		to[i] = copy_leaf(g, from, from->value[first + i], map);
	if (i == n) {
		g->n_values += n;
		return (uint32_t)(g->n_values - n);
	}
	struct gvalue few[16], *all = n > ARRAY_LEN(few) ? xreallocarray(NULL, n, sizeof(*all)) : few;
	for (i = 0; i < n; i++)
		all[i] = graph_copy_value(g, from, from->value[first + i], map);
	GROW(g->value, g->n_values, g->cap_values, n);
	memcpy(g->value + g->n_values, all, n * sizeof(*all));
	g->n_values += n;
	if (all != few)
		free(all);
	return (uint32_t)(g->n_values - n);
}

/* Depth is bounded by graph_finish. */
struct gvalue graph_copy_value(struct graph *g, const struct graph *from, struct gvalue v, const uint32_t *map)
{
	if (gvalue_has_children(v))
		v.first = copy_values(g, from, v.first, v.n, map);
	else
		v = copy_leaf(g, from, v, map);
	return v;
}

/* Everything in `from` has the same ids in g. */
static inline bool same_ids(const struct graph *g, const struct graph *from)
{
	return g->lender == from && g->lent_texts == from->text.n && g->lent_exprs == from->tab.nodes.n;
}

static struct gmeta copy_one(struct graph *g, const struct graph *from, struct gmeta m)
{
	bool same = same_ids(g, from);
	if (!same) {
		m.expr = graph_copy_size(g, from, m.expr);
		m.device = graph_copy_text(g, from, m.device);
		m.subclass = graph_copy_text(g, from, m.subclass);
	}
	if (m.kind == GMETA_TENSOR) {
		size_t n = (size_t)m.n_dim << m.has_stride;
		GROW(g->dim, g->n_dims, g->cap_dims, n + 1);
		if (same && n)
			memcpy(g->dim + g->n_dims, from->dim + m.dim, n * sizeof(*g->dim));
		for (size_t i = 0; !same && i < n; i++)
			g->dim[g->n_dims + i] = graph_copy_size(g, from, from->dim[m.dim + i]);
		m.dim = (uint32_t)g->n_dims;
		g->n_dims += n;
	}
	return m;
}

uint32_t graph_copy_meta(struct graph *g, const struct graph *from, uint32_t meta)
{
	if (meta == NONE)
		return meta;
	struct gmeta m = from->meta[meta];
	uint32_t first = (uint32_t)g->n_meta;
	if (m.kind != GMETA_TUPLE)
		m = copy_one(g, from, m);
	GROW(g->meta, g->n_meta, g->cap_meta, (size_t)m.n_parts + 1);
	for (uint32_t i = 0; m.kind == GMETA_TUPLE && i < m.n_parts; i++) {
		struct gmeta part = copy_one(g, from, from->meta[m.first + i]);
		g->meta[g->n_meta++] = part;
	}
	m.first = first;
	g->meta[g->n_meta] = m;
	return (uint32_t)g->n_meta++;
}

static void copy_operands(struct graph *g, uint32_t id, const struct graph *from, uint32_t node, const uint32_t *map)
{
	const struct gnode *n = &from->node[node];
	if (n->n_args)
		g->node[id].args = copy_values(g, from, n->args, n->n_args, map);
	if (n->n_kwargs)
		g->node[id].kwargs = copy_values(g, from, n->kwargs, 2 * n->n_kwargs, map);
	g->node[id].n_args = n->n_args;
	g->node[id].n_kwargs = n->n_kwargs;
}

uint32_t graph_copy_node(struct graph *g, uint32_t m, const struct graph *from, uint32_t node, const uint32_t *map)
{
	const struct gnode n = from->node[node]; /* g may be from */
	uint32_t name = graph_copy_text(g, from, n.name);
	uint32_t id = graph_add_node_ids(g, m, n.op, name, graph_copy_text(g, from, n.target));
	copy_operands(g, id, from, node, map);
	g->node[id].meta = graph_copy_meta(g, from, n.meta);
	g->node[id].type = graph_copy_text(g, from, n.type);
	g->node[id].stack = graph_copy_text(g, from, n.stack);
	g->node[id].line = n.line;
	return id;
}

void graph_copy_attrs(struct graph *g, uint32_t m, const struct graph *from, uint32_t module)
{
	const struct gmodule *o = &from->module[module];
	for (uint32_t i = o->first_attr; i < o->first_attr + o->n_attr; i++) {
		const struct gattr *a = &from->attr[i];
		struct slice none = {0};
		uint32_t id = graph_add_attr(g, m, a->kind, graph_text(from, a->name), a->expr == NONE ? none : graph_text(from, a->expr));
		g->attr[id].meta = graph_copy_meta(g, from, a->meta);
	}
}

static uint32_t copy_one_module(struct graph *g, uint32_t parent, const struct graph *from, uint32_t module, uint32_t *map)
{
	const struct gmodule *o = &from->module[module];
	uint32_t m = graph_add_module(g, parent, parent == NONE ? SLICE("") : graph_text(from, o->name), graph_text(from, o->class_name));
	graph_copy_attrs(g, m, from, module);
	for (uint32_t i = o->first; i < o->first + o->n; i++)
		map[i] = graph_copy_node(g, m, from, i, map);
	return m;
}

/* A child comes after its parent, so one pass finds all that is below. */
uint32_t graph_copy_module(struct graph *g, uint32_t parent, const struct graph *from, uint32_t module)
{
	FREED uint32_t *copy = xreallocarray(NULL, from->n_modules, sizeof(*copy));
	FREED uint32_t *map = xreallocarray(NULL, from->n_nodes, sizeof(*map));
	copy[module] = copy_one_module(g, parent, from, module, map);
	for (uint32_t i = module + 1; i < from->n_modules; i++) {
		uint32_t up = from->module[i].parent;
		bool below = up >= module && up < i && copy[up] != NONE;
		copy[i] = below ? copy_one_module(g, copy[up], from, i, map) : NONE;
	}
	return copy[module];
}
