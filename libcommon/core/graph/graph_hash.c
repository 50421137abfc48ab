#include "graph/graph_forms.h"

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t word[2] = {a, b};
	return hash_bytes(word, sizeof(word));
}

static uint64_t text_hash(struct slice s) { return hash_bytes(s.p, s.n); }

static uint64_t hash_value(const struct graph *g, struct gvalue v)
{
	uint64_t h = v.kind;
	if (v.kind == GV_NODE)
		return mix(h, v.node - g->module[g->node[v.node].module].first);
	if (gvalue_has_text(v))
		return mix(h, text_hash(graph_text(g, v.text)));
	if (v.kind == GV_FLOAT && v.f != v.f)
		return mix(h, 1);
	if (v.kind == GV_FLOAT) {
		uint64_t bits;
		memcpy(&bits, &v.f, sizeof(bits));
		return mix(h, bits);
	}
	if (!gvalue_has_children(v))
		return v.kind == GV_NONE || v.kind == GV_ELLIPSIS ? h : mix(h, (uint64_t)v.i);
	h = mix(h, v.n);
	for (uint32_t i = 0; i < v.n; i++)
		h = mix(h, hash_value(g, g->value[v.first + i]));
	return h;
}

/* Sums if the order does not matter. */
static uint64_t hash_node(const struct graph *g, uint32_t node)
{
	const struct gnode *n = &g->node[node];
	uint64_t h = mix(n->op, n->n_args), kwargs = n->n_kwargs;
	if (n->op != GRAPH_PLACEHOLDER && n->op != GRAPH_OUTPUT)
		h = mix(h, text_hash(graph_text(g, n->target)));
	for (uint32_t i = 0; i < n->n_args; i++)
		h = mix(h, hash_value(g, g->value[n->args + i]));
	for (uint32_t i = 0; i < n->n_kwargs; i++) {
		const struct gvalue *kw = &g->value[n->kwargs + 2 * i];
		kwargs += mix(text_hash(graph_text(g, kw->text)), hash_value(g, kw[1]));
	}
	return mix(h, kwargs);
}

static uint64_t hash_module(const struct graph *g, uint32_t module)
{
	const struct gmodule *m = &g->module[module];
	uint64_t h = mix(m->n, m->n_attr), attrs = 0;
	for (uint32_t i = m->first; i < m->first + m->n; i++)
		h = mix(h, hash_node(g, i));
	for (uint32_t i = m->first_attr; i < m->first_attr + m->n_attr; i++) {
		/* The attribute that counts represents all with its name. */
		const struct gattr *a = graph_attr(g, module, graph_text(g, g->attr[i].name));
		uint64_t expr = a->expr == NONE ? 0 : text_hash(graph_text(g, a->expr));
		attrs += mix(text_hash(graph_text(g, a->name)), mix(a->kind, expr));
	}
	return mix(h, attrs);
}

uint64_t graph_hash(const struct graph *g)
{
	uint64_t sum = g->n_modules, *path = xcalloc(g->n_modules + 1, sizeof(*path));
	for (uint32_t i = 0; i < g->n_modules; i++) {
		if (i)
			path[i] = mix(path[g->module[i].parent], text_hash(graph_text(g, g->module[i].name)));
		sum += mix(path[i], hash_module(g, i));
	}
	free(path);
	return sum;
}
