#include "graph/graph.h"

/* Ids that mean the same in both graphs need no look-up: those that g has borrowed. */
uint32_t graph_copy_text(struct graph *g, const struct graph *from, uint32_t text)
{
	if (text == GRAPH_NONE || (g->lender == from && text < g->lent_texts))
		return text;
	return graph_intern(g, graph_text(from, text));
}

struct symsize graph_copy_size(struct graph *g, const struct graph *from, struct symsize size)
{
	if (symsize_is_int(size) || (g->lender == from && size.expr <= g->lent_exprs))
		return size;
	struct buf b = {0};
	symsize_print(&from->tab, size, &b);
	size = symsize_parse_any(&g->tab, buf_slice(&b));
	buf_release(&b);
	return size;
}

/* Depth is bounded by graph_finish. */
struct gvalue graph_copy_value(struct graph *g, const struct graph *from, struct gvalue v, const uint32_t *map)
{
	struct gvalue few[8] = {0}, *child = few;
	if (v.kind == GV_NODE)
		v.node = map[v.node];
	else if (gvalue_has_text(v))
		v.text = graph_copy_text(g, from, v.text);
	if (!gvalue_has_children(v))
		return v;
	if (v.n > ARRAY_LEN(few))
		child = xreallocarray(NULL, v.n, sizeof(*child));
	for (uint32_t i = 0; i < v.n; i++)
		child[i] = graph_copy_value(g, from, from->value[v.first + i], map);
	v = graph_sequence(g, v.kind, child, v.n);
	if (child != few)
		free(child);
	return v;
}

static struct gmeta copy_one(struct graph *g, const struct graph *from, struct gmeta m)
{
	m.expr = graph_copy_size(g, from, m.expr);
	m.device = graph_copy_text(g, from, m.device);
	m.subclass = graph_copy_text(g, from, m.subclass);
	if (m.kind == GMETA_TENSOR) {
		size_t n = (size_t)m.n_dim << m.has_stride;
		GROW(g->dim, g->n_dims, g->cap_dims, n);
		for (size_t i = 0; i < n; i++)
			g->dim[g->n_dims + i] = graph_copy_size(g, from, from->dim[m.dim + i]);
		m.dim = (uint32_t)g->n_dims;
		g->n_dims += n;
	}
	return m;
}

uint32_t graph_copy_meta(struct graph *g, const struct graph *from, uint32_t meta)
{
	if (meta == GRAPH_NONE)
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
	struct gvalue few[8] = {0}, *v = few;
	uint32_t most = n->n_args > 2 * n->n_kwargs ? n->n_args : 2 * n->n_kwargs;
	if (most > ARRAY_LEN(few))
		v = xreallocarray(NULL, most, sizeof(*v));
	for (uint32_t i = 0; i < n->n_args; i++)
		v[i] = graph_copy_value(g, from, from->value[n->args + i], map);
	graph_set_args(g, id, v, n->n_args);
	for (uint32_t i = 0; i < 2 * n->n_kwargs; i++)
		v[i] = graph_copy_value(g, from, from->value[n->kwargs + i], map);
	graph_set_kwargs(g, id, v, n->n_kwargs);
	if (v != few)
		free(v);
}

uint32_t graph_copy_node(struct graph *g, uint32_t m, const struct graph *from, uint32_t node, const uint32_t *map)
{
	const struct gnode *n = &from->node[node];
	uint32_t id = graph_add_node_ids(g, m, n->op, graph_copy_text(g, from, n->name),
					 graph_copy_text(g, from, n->target));
	copy_operands(g, id, from, node, map);
	g->node[id].meta = graph_copy_meta(g, from, n->meta);
	g->node[id].type = graph_copy_text(g, from, n->type);
	g->node[id].stack = graph_copy_text(g, from, n->stack);
	g->node[id].line = n->line;
	return id;
}

void graph_copy_attrs(struct graph *g, uint32_t m, const struct graph *from, uint32_t module)
{
	const struct gmodule *o = &from->module[module];
	for (uint32_t i = o->first_attr; i < o->first_attr + o->n_attr; i++) {
		const struct gattr *a = &from->attr[i];
		struct slice none = {0};
		uint32_t id = graph_add_attr(g, m, a->kind, graph_text(from, a->name),
					     a->expr == GRAPH_NONE ? none : graph_text(from, a->expr));
		g->attr[id].meta = graph_copy_meta(g, from, a->meta);
	}
}

static uint32_t copy_one_module(struct graph *g, uint32_t parent, const struct graph *from, uint32_t module, uint32_t *map)
{
	const struct gmodule *o = &from->module[module];
	uint32_t m = graph_add_module(g, parent, parent == GRAPH_NONE ? SLICE("") : graph_text(from, o->name),
				      graph_text(from, o->class_name));
	graph_copy_attrs(g, m, from, module);
	for (uint32_t i = o->first; i < o->first + o->n; i++)
		map[i] = graph_copy_node(g, m, from, i, map);
	return m;
}

/* A child comes after its parent, so one pass finds all that is below. */
uint32_t graph_copy_module(struct graph *g, uint32_t parent, const struct graph *from, uint32_t module)
{
	uint32_t *copy = xreallocarray(NULL, from->n_modules, sizeof(*copy));
	uint32_t *map = xreallocarray(NULL, from->n_nodes, sizeof(*map));
	copy[module] = copy_one_module(g, parent, from, module, map);
	for (uint32_t i = module + 1; i < from->n_modules; i++) {
		uint32_t up = from->module[i].parent;
		bool below = up >= module && up < i && copy[up] != GRAPH_NONE;
		copy[i] = below ? copy_one_module(g, copy[up], from, i, map) : GRAPH_NONE;
	}
	uint32_t id = copy[module];
	free(copy);
	free(map);
	return id;
}
