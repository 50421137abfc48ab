/* shrink.c - runs the passes in turn (shrink.h). */
#include "reduce/shrink.h"

#define ROUNDS_MAX 20

static const struct shrinker *const passes[SHRINK_N] = {
    [SHRINK_OUTPUTS] = &shrink_outputs,     [SHRINK_MEMORY] = &shrink_memory,       [SHRINK_LEAVES] = &shrink_leaves,
    [SHRINK_STRIDES] = &shrink_strides,     [SHRINK_VALUES] = &shrink_values,       [SHRINK_INPUTS] = &shrink_inputs,
    [SHRINK_SUBGRAPHS] = &shrink_subgraphs, [SHRINK_SYMBOLS] = &shrink_symbols,     [SHRINK_SIZES] = &shrink_sizes,
    [SHRINK_DTYPES] = &shrink_dtypes,       [SHRINK_ARGUMENTS] = &shrink_arguments, [SHRINK_CONSTANTS] = &shrink_constants,
    [SHRINK_HEAD] = &shrink_head,
};

const char *shrink_name(enum shrink_pass p) { return (unsigned)p < SHRINK_N ? passes[p]->name : ""; }

void edits_add(struct edits *e, struct edit edit) { PUSH_TO(e->v, e->n, e->cap) = edit; }

void edits_add_blocks(struct edits *e, uint32_t kind, uint32_t n)
{
	for (uint32_t size = n; size; size = size == 1 ? 0 : (size + 1) / 2)
		for (uint32_t at = 0; at < n; at += size)
			edits_add(e, (struct edit){.kind = kind, .a = at, .b = at + size < n ? at + size : n});
}

struct shrinking {
	const struct shrinker *pass;
	struct runner *r;
	struct candidate base; /* a copy of the best: copies of a copy have the same layout, so that indices in an edit stay valid */
	struct edits edits;
};

static int make_edit(void *ctx, size_t i, struct candidate *c, struct err *err)
{
	struct shrinking *s = ctx;
	(void)err;
	candidate_copy(c, &s->base);
	if (s->pass->apply(c, s->r->original, &s->edits.v[i])) {
		c->ops = graph_n_ops(&c->graph);
		return 1;
	}
	candidate_release(c);
	return 0;
}

/* Tests a list of edits, and adopts the first that still fails. */
static int run_edits(struct reduction *red, struct shrinking *s, size_t *winner, struct err *err)
{
	struct proposals p = {.n = s->edits.n, .make = make_edit, .ctx = s};
	size_t before = s->r->best.ops;
	s->r->phase = s->pass->strategy;
	if (red->strategy)
		red->strategy(red->user, s->pass->strategy, s->edits.n, &s->r->best);
	int status = runner_ask(s->r, &p, winner, err);
	if (*winner != RUNNER_NONE && red->success)
		red->success(red->user, s->pass->strategy, before, s->r->best.ops);
	return status;
}

static void tell_pass(struct reduction *red, const struct shrinker *pass, bool ended, size_t done)
{
	if (red->pass)
		red->pass(red->user,
			  &(struct pass_note){.name = pass->name, .did = pass->did ? pass->did : "changed", .ended = ended, .done = done});
}

/* Runs a pass until it makes no more progress. */
static int run_pass(struct reduction *red, const struct shrinker *pass, bool *any, struct err *err)
{
	struct shrinking s = {.pass = pass, .r = red->runner};
	int status = 0;
	size_t winner = 0, before = pass->count ? pass->count(&s.r->best) : 0, done = 0;
	bool told = false;
	while (status == 0 && winner != RUNNER_NONE) {
		winner = RUNNER_NONE;
		s.edits.n = 0;
		candidate_copy(&s.base, &s.r->best);
		pass->list(&s.base, s.r->original, &s.edits);
		if (s.edits.n && !told)
			tell_pass(red, pass, false, 0), told = true;
		if (s.edits.n)
			status = run_edits(red, &s, &winner, err);
		*any |= winner != RUNNER_NONE;
		done += winner != RUNNER_NONE;
		candidate_release(&s.base);
	}
	free(s.edits.v);
	if (told)
		tell_pass(red, pass, true, pass->count ? before - pass->count(&s.r->best) : done);
	return status;
}

int reduce_rest(struct reduction *red, unsigned which, struct err *err)
{
	bool any = true;
	for (int round = 0; any && round < ROUNDS_MAX; round++) {
		any = false;
		for (int i = 0; i < SHRINK_N; i++) {
			int p = (i + SHRINK_HEAD) % SHRINK_N;
			if (round && p == SHRINK_HEAD) /* no other pass changes which lines are needed: run once, first */
				continue;
			if (which >> p & 1 && run_pass(red, passes[p], &any, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* ---- changing candidates ---- */

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
