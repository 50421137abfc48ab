/* edits.c - what the passes share (shrink.h): lists of edits, and candidates whose graph is rewired. */
#include "reduce/shrink.h"

void edits_add(struct edits *e, struct edit edit) { PUSH_TO(e->v, e->n, e->cap) = edit; }

void edits_add_blocks(struct edits *e, uint32_t kind, uint32_t n)
{
	for (uint32_t size = n; size; size = size == 1 ? 0 : (size + 1) / 2)
		for (uint32_t at = 0; at < n; at += size)
			edits_add(e, (struct edit){.kind = kind, .a = at, .b = at + size < n ? at + size : n});
}

/* A dropped node is not requested. */
static uint32_t resolved(const uint32_t *replace, uint32_t node)
{
	while (replace[node] < REWIRE_DROP)
		node = replace[node];
	return node;
}

static void drop_feed(struct candidate *c, size_t at)
{
	memmove(&c->feed[at], &c->feed[at + 1], (c->n_feeds - at - 1) * sizeof(*c->feed));
	c->n_feeds--;
}

/* Copies a module into `to`, mapping its nodes by replace; map: node of from -> node of to. */
static void copy_rewired(struct graph *to, const struct graph *from, uint32_t module, uint32_t parent, const uint32_t *replace,
			 uint32_t *map)
{
	const struct gmodule *m = &from->module[module];
	uint32_t t = graph_add_module(to, parent, graph_text(from, m->name), graph_text(from, m->class_name));
	graph_copy_attrs(to, t, from, module);
	for (uint32_t i = m->first; i < m->first + m->n; i++)
		map[i] = replace[i] == NONE ? graph_copy_node(to, t, from, i, map) : map[resolved(replace, i)];
	for (uint32_t k = 0; k < from->n_modules; k++)
		if (from->module[k].parent == module)
			copy_rewired(to, from, k, t, replace, map);
}

bool candidate_rewire(struct candidate *c, const uint32_t *replace)
{
	const struct graph *from = &c->graph;
	const struct gmodule *root = &from->module[0];
	for (uint32_t i = 0; i < from->n_nodes; i++)
		if (replace[i] < REWIRE_DROP && (replace[i] >= i || from->node[i].module != from->node[replace[i]].module))
			return false;
	size_t feed = 0;
	for (uint32_t i = root->first; i < root->first + root->n && feed < c->n_feeds; i++)
		if (from->node[i].op == GRAPH_PLACEHOLDER) {
			if (replace[i] != NONE)
				drop_feed(c, feed);
			else
				feed++;
		}
	struct graph to = {0};
	FREED uint32_t *map = xcalloc(from->n_nodes ? from->n_nodes : 1, sizeof(*map));
	copy_rewired(&to, from, 0, NONE, replace, map);
	struct err err;
	graph_release(&c->graph);
	c->graph = to;
	if (graph_finish(&c->graph, &err) < 0)
		return false;
	feed = 0;
	root = &c->graph.module[0];
	for (uint32_t i = root->first; i < root->first + root->n && feed < c->n_feeds; i++)
		if (c->graph.node[i].op == GRAPH_PLACEHOLDER)
			c->feed[feed++].meta = c->graph.node[i].meta;
	return true;
}

void candidate_forget_meta(struct candidate *c)
{
	for (size_t i = 0; i < c->graph.n_nodes; i++)
		if (c->graph.node[i].op != GRAPH_PLACEHOLDER || c->graph.node[i].module != 0)
			c->graph.node[i].meta = NONE;
}
